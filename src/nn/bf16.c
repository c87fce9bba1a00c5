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

/* op(a) rounded, dense; rows x columns as they lie in memory. */
static void round_all(float *to, const float *a, size_t rows, size_t columns, size_t ld)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            *to++ = nn_bf16_value(nn_bf16_of(a[i * ld + j]));
}

/* The same sums of the same rounded numbers by float32 products, on any processor. */
static int multiply_rounded(const nn_shape *s, const float *a, const float *b, float beta, float *c)
{
    size_t rows_a = s->trans_a ? s->k : s->m, columns_a = s->trans_a ? s->m : s->k;
    size_t rows_b = s->trans_b ? s->n : s->k, columns_b = s->trans_b ? s->k : s->n;
    float *first = malloc((rows_a * columns_a + rows_b * columns_b) * sizeof *first);
    if (!first)
        return 0;
    float *second = first + rows_a * columns_a;
    round_all(first, a, rows_a, columns_a, s->lda);
    round_all(second, b, rows_b, columns_b, s->ldb);
    int good = nn_gemm(s->trans_a, s->trans_b, s->m, s->n, s->k, 1, first, columns_a, second,
                       columns_b, beta, c, s->ldc);
    free(first);
    return good;
}

int nn_multiply(nn_products how, const nn_shape *s, const float *a, const float *b,
                const float *from, float *c)
{
#ifdef SNIP_TILES
    if (nn_in_tiles(how) && s->k)
        return nn_tiles_product(how, s, a, b, from, c);
#endif
    for (size_t i = 0; i < s->m && from != c; i++)
        if (from)
            memcpy(c + i * s->ldc, from, s->n * sizeof *c);
        else if (s->k == 0)
            memset(c + i * s->ldc, 0, s->n * sizeof *c);
    if (s->k == 0)
        return 1; /* sums of nothing */
    if (how != NN_FLOAT32)
        return multiply_rounded(s, a, b, from ? 1 : 0, c);
    return nn_gemm(s->trans_a, s->trans_b, s->m, s->n, s->k, 1, a, s->lda, b, s->ldb, from ? 1 : 0,
                   c, s->ldc);
}

int nn_has_products(nn_products how)
{
    if (!nn_in_tiles(how))
        return 1;
#ifdef SNIP_TILES
    return nn_tiles_have(how);
#else
    return 0;
#endif
}

nn_products nn_best_bf16(void)
{
    return nn_has_products(NN_BF16_AMX)       ? NN_BF16_AMX
           : nn_has_products(NN_BF16_VECTORS) ? NN_BF16_VECTORS
                                              : NN_FLOAT32;
}
