/* attention.c - self-attention within each sequence of a chunk; see nn.h.
 *
 * With q, k, v the columns of one head, all (n, width):
 *     p = softmax(q k' / sqrt(width)),  o = p v
 * and backward, with s the argument of the softmax:
 *     dv = p' do,  dp = do v',  ds = p * (dp - rowsum(dp * p)) / sqrt(width)
 *     dq = ds k,  dk = ds' q
 *
 * Products of a few dozen rows are too small for the library's, and for the matrix unit's tiles
 * (nn/tiles.c; tried, no gain): they go through small_product, on keys or values transposed
 * once per head. Probabilities are not kept for the backward pass: for sequences of up to a few
 * hundred tokens computing them again costs less than storing them. */
#include <math.h>

#include "nn/nn.h"

/* What one head needs while it runs. */
typedef struct scratch {
    float *p, *dp;     /* (n, stride) */
    float *transposed; /* (width, stride) */
} scratch;

static size_t stride_of(size_t n)
{
    return (n + NN_LANES - 1) / NN_LANES * NN_LANES;
}

static int scratch_new(scratch *s, const size_t *offsets, size_t count, size_t width, arena *a)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        if (offsets[i + 1] - offsets[i] > most)
            most = offsets[i + 1] - offsets[i];
    size_t stride = stride_of(most);
    s->p = arena_array(a, most * stride, sizeof *s->p);
    s->dp = arena_array(a, most * stride, sizeof *s->dp);
    s->transposed = arena_array(a, width * stride, sizeof *s->transposed);
    return s->p && s->dp && s->transposed;
}

/* c(n, stride) = a(n, width) b(n, width)', both with rows `ld_a` and `ld_b` apart. */
static void inner_products(float *c, const float *a, size_t ld_a, const float *b, size_t ld_b,
                           size_t n, size_t width, float *transposed)
{
    const nn_kernels *kernel = nn_kernels_best();
    size_t stride = stride_of(n);
    kernel->transpose(transposed, stride, b, ld_b, n, width);
    kernel->small_product(c, stride, a, ld_a, 1, transposed, stride, n, stride, width);
}

/* p = softmax(q k' / sqrt(width)) */
static void probabilities(const scratch *s, const float *q, const float *k, size_t n, size_t d,
                          size_t width)
{
    inner_products(s->p, q, 3 * d, k, 3 * d, n, width, s->transposed);
    nn_kernels_best()->softmax(s->p, stride_of(n), 1 / sqrtf((float)width), n, n);
}

int nn_attention_forward(float *o, const float *qkv, const size_t *offsets, size_t count, size_t d,
                         size_t heads, arena *tmp)
{
    const nn_kernels *kernel = nn_kernels_best();
    arena_pos mark = arena_mark(tmp);
    size_t width = d / heads;
    scratch s;
    int good = scratch_new(&s, offsets, count, width, tmp);
    for (size_t i = 0; i < count && good; i++) {
        size_t n = offsets[i + 1] - offsets[i], stride = stride_of(n);
        for (size_t h = 0; h < heads; h++) {
            const float *q = qkv + offsets[i] * 3 * d + h * width;
            probabilities(&s, q, q + d, n, d, width);
            kernel->small_product(o + offsets[i] * d + h * width, d, s.p, stride, 1, q + 2 * d,
                                  3 * d, n, width, n);
        }
    }
    arena_reset(tmp, mark);
    return good;
}

/* Set out as the forward half is, line by line, so that the two can be read side by side. */
int nn_attention_backward(float *dqkv, const float *d_o, const float *qkv, const size_t *offsets,
                          size_t count, size_t d, size_t heads, arena *tmp)
{
    const nn_kernels *kernel = nn_kernels_best();
    arena_pos mark = arena_mark(tmp);
    size_t width = d / heads;
    scratch s;
    int good = scratch_new(&s, offsets, count, width, tmp);
    for (size_t i = 0; i < count && good; i++) {
        size_t n = offsets[i + 1] - offsets[i], at = offsets[i], stride = stride_of(n);
        for (size_t h = 0; h < heads; h++) {
            const float *q = qkv + at * 3 * d + h * width, *k = q + d, *v = q + 2 * d;
            const float *up = d_o + at * d + h * width;
            float *dq = dqkv + at * 3 * d + h * width, *dk = dq + d, *dv = dq + 2 * d;
            probabilities(&s, q, k, n, d, width);
            kernel->small_product(dv, 3 * d, s.p, 1, stride, up, d, n, width, n);
            inner_products(s.dp, up, d, v, 3 * d, n, width, s.transposed);
            kernel->softmax_back(s.dp, s.p, stride, 1 / sqrtf((float)width), n);
            kernel->small_product(dq, 3 * d, s.dp, stride, 1, k, 3 * d, n, width, n);
            kernel->small_product(dk, 3 * d, s.dp, 1, stride, q, 3 * d, n, width, n);
        }
    }
    arena_reset(tmp, mark);
    return good;
}
