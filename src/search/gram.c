/* gram.c - see gram.h. Compiled once per instruction set with LANES and ISA_SUFFIX set. */
#include "search/gram.h"

#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)

#if LANES > 1
typedef double lanes __attribute__((vector_size(8 * LANES)));
#else
typedef double lanes __attribute__((vector_size(16))); /* every machine has two */
#undef LANES
#define LANES 2
#endif

static inline lanes load(const double *from)
{
    lanes v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Eight sums at once hide the latency of additions and stay in registers. */
void PASTE(gram_block_, ISA_SUFFIX)(double *to, size_t stride, const double *a, const double *b,
                                    size_t rows)
{
    lanes sum[GRAM_LEFT][GRAM_RIGHT];
    memset(sum, 0, sizeof sum);
    size_t i = 0;
    for (; i + LANES <= rows; i += LANES) {
        lanes left[GRAM_LEFT], right[GRAM_RIGHT];
        for (size_t p = 0; p < GRAM_LEFT; p++)
            left[p] = load(a + p * rows + i);
        for (size_t q = 0; q < GRAM_RIGHT; q++)
            right[q] = load(b + q * rows + i);
        for (size_t p = 0; p < GRAM_LEFT; p++)
            for (size_t q = 0; q < GRAM_RIGHT; q++)
                sum[p][q] += left[p] * right[q];
    }
    for (size_t p = 0; p < GRAM_LEFT; p++)
        for (size_t q = 0; q < GRAM_RIGHT; q++) {
            double s = 0;
            for (size_t k = 0; k < LANES; k++)
                s += sum[p][q][k];
            for (size_t r = i; r < rows; r++)
                s += a[p * rows + r] * b[q * rows + r];
            to[p * stride + q] = s;
        }
}
