/* attention.c - self-attention within each sequence of a chunk; see nn.h.
 *
 * A head's queries, keys and values are columns of qkv, so each product is one call on a strided
 * matrix. Probabilities are not kept for the backward pass: for sequences of up to a few hundred
 * tokens computing them again costs less than storing them. */
#include <math.h>

#include "nn/nn.h"

static size_t longest(const size_t *offsets, size_t count)
{
    size_t most = 0;
    for (size_t s = 0; s < count; s++)
        if (offsets[s + 1] - offsets[s] > most)
            most = offsets[s + 1] - offsets[s];
    return most;
}

/* p(n,n) = softmax(q k' / sqrt(head dimension)) */
static void probabilities(float *p, const float *q, const float *k, size_t n, size_t d,
                          size_t width)
{
    nn_product(0, 1, n, n, width, 1, q, 3 * d, k, 3 * d, 0, p, n);
    nn_kernels_best()->softmax(p, 1 / sqrtf((float)width), n, n);
}

int nn_attention_forward(float *o, const float *qkv, const size_t *offsets, size_t count, size_t d,
                         size_t heads, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t most = longest(offsets, count), width = d / heads;
    float *p = arena_array(tmp, most * most, sizeof *p);
    nn_quiet quiet;
    nn_quiet_begin(&quiet);
    for (size_t s = 0; s < count && p; s++) {
        size_t n = offsets[s + 1] - offsets[s];
        for (size_t h = 0; h < heads; h++) {
            const float *q = qkv + offsets[s] * 3 * d + h * width;
            probabilities(p, q, q + d, n, d, width);
            nn_product(0, 0, n, width, n, 1, p, n, q + 2 * d, 3 * d, 0,
                       o + offsets[s] * d + h * width, d);
        }
    }
    nn_quiet_end(&quiet);
    arena_reset(tmp, mark);
    return p != NULL;
}

int nn_attention_backward(float *dqkv, const float *d_o, const float *qkv, const size_t *offsets,
                          size_t count, size_t d, size_t heads, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t most = longest(offsets, count), width = d / heads;
    float *p = arena_array(tmp, most * most, sizeof *p);
    float *dp = arena_array(tmp, most * most, sizeof *dp);
    int good = p && dp;
    nn_quiet quiet;
    nn_quiet_begin(&quiet);
    for (size_t s = 0; s < count && good; s++) {
        size_t n = offsets[s + 1] - offsets[s], at = offsets[s];
        for (size_t h = 0; h < heads; h++) {
            const float *q = qkv + at * 3 * d + h * width, *k = q + d, *v = q + 2 * d;
            const float *up = d_o + at * d + h * width;
            float *dq = dqkv + at * 3 * d + h * width, *dk = dq + d, *dv = dq + 2 * d;
            probabilities(p, q, k, n, d, width);
            nn_product(1, 0, n, width, n, 1, p, n, up, d, 0, dv, 3 * d); /* dv = p' do */
            nn_product(0, 1, n, n, width, 1, up, d, v, 3 * d, 0, dp, n); /* dp = do v' */
            nn_kernels_best()->softmax_back(dp, p, 1 / sqrtf((float)width), n, n);
            nn_product(0, 0, n, width, n, 1, dp, n, k, 3 * d, 0, dq, 3 * d); /* dq = ds k */
            nn_product(1, 0, n, width, n, 1, dp, n, q, 3 * d, 0, dk, 3 * d); /* dk = ds' q */
        }
    }
    nn_quiet_end(&quiet);
    arena_reset(tmp, mark);
    return good;
}
