/* bf16.c - matrix products of numbers rounded to bf16, with float32 sums; see nn.h. */
#include "nn/bf16.h"

#include <stdlib.h>
#include <string.h>

#include "nn/nn.h"

uint16_t nn_bf16_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000) /* rounding up would make an infinity of some NaN */
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16); /* to nearest, ties to even */
}

float nn_bf16_value(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The same sums of the same rounded numbers by float32 products, on any processor. Many parameters:
 * those of BLAS. */
static int multiply_rounded(int trans_a, int trans_b, size_t m, size_t n, size_t k, const float *a,
                            const float *b, int add, float *c)
{
    float *rounded = malloc((m * k + k * n) * sizeof *rounded);
    if (!rounded)
        return 0;
    float *second = rounded + m * k;
    for (size_t i = 0; i < m * k; i++)
        rounded[i] = nn_bf16_value(nn_bf16_of(a[i]));
    for (size_t i = 0; i < k * n; i++)
        second[i] = nn_bf16_value(nn_bf16_of(b[i]));
    int good = nn_gemm(trans_a, trans_b, m, n, k, 1, rounded, trans_a ? m : k, second,
                       trans_b ? k : n, (float)(add != 0), c, n);
    free(rounded);
    return good;
}

/* Many parameters: those of BLAS. */
int nn_dense(nn_products how, int trans_a, int trans_b, size_t m, size_t n, size_t k,
             const float *a, const float *b, int add, float *c)
{
    if (how == NN_FLOAT32)
        return nn_gemm(trans_a, trans_b, m, n, k, 1, a, trans_a ? m : k, b, trans_b ? k : n,
                       (float)(add != 0), c, n);
    if (m == 0 || n == 0 || k == 0)
        return 1; /* of no rows; nothing is added */
#ifdef SNIP_AMX
    if (how == NN_BF16)
        return nn_amx_product(trans_a, trans_b, m, n, k, a, b, add, c);
#endif
    return multiply_rounded(trans_a, trans_b, m, n, k, a, b, add, c);
}

int nn_has_bf16(void)
{
#ifdef SNIP_AMX
    return nn_has_amx();
#else
    return 0;
#endif
}
