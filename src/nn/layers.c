/* layers.c - linear maps, pooling, tree positions and Adam; see nn.h. */
#include <math.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>
#include <string.h>

#include "base/isa.h"
#include "nn/nn.h"
#include "base/arena.h"

extern const nn_kernels nn_kernels_generic, nn_kernels_avx2, nn_kernels_avx512;

const nn_kernels *nn_kernels_for(isa which)
{
    static const nn_kernels *const tables[ISA_COUNT] = ISA_VARIANTS(&nn_kernels);
    return tables[which];
}

const nn_kernels *nn_kernels_best(void)
{
    return nn_kernels_for(isa_best());
}

int nn_room(int threads)
{
    const size_t code = (size_t)24 << 20, each = (size_t)16 << 20;
    return arena_room(code + (size_t)threads * each);
}

void nn_quiet_begin(nn_quiet *q)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &q->mask);
    q->threads = omp_get_max_threads();
    omp_set_num_threads(1); /* oneDNN's own threads would not be quiet */
}

void nn_quiet_end(const nn_quiet *q)
{
    omp_set_num_threads(q->threads);
    pthread_sigmask(SIG_SETMASK, &q->mask, NULL);
}

int nn_product(int trans_a, int trans_b, size_t m, size_t n, size_t k, float alpha, const float *a,
               size_t lda, const float *b, size_t ldb, float beta, float *c, size_t ldc)
{
    return m == 0 || n == 0 ||
           dnnl_sgemm(trans_a ? 'T' : 'N', trans_b ? 'T' : 'N', (dnnl_dim_t)m, (dnnl_dim_t)n,
                      (dnnl_dim_t)k, alpha, a, (dnnl_dim_t)lda, b, (dnnl_dim_t)ldb, beta, c,
                      (dnnl_dim_t)ldc) == dnnl_success;
}

int nn_gemm(int trans_a, int trans_b, size_t m, size_t n, size_t k, float alpha, const float *a,
            size_t lda, const float *b, size_t ldb, float beta, float *c, size_t ldc)
{
    nn_quiet q;
    nn_quiet_begin(&q);
    int good = nn_product(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    nn_quiet_end(&q);
    return good;
}

int nn_linear_forward(float *y, const float *x, const float *w, const float *b, size_t n, size_t in,
                      size_t out, nn_products how)
{
    return nn_multiply(how, &(nn_shape){ 0, 1, n, out, in, in, in, out }, x, w, b, y);
}

int nn_linear_backward(float *dx, float *dw, float *db, const float *dy, const float *x,
                       const float *w, size_t n, size_t in, size_t out, nn_products how)
{
    const nn_shape inputs = { 0, 0, n, in, out, out, in, in };  /* dx = dy w */
    const nn_shape weights = { 1, 0, out, in, n, out, in, in }; /* dw += dy' x */
    if ((dx && !nn_multiply(how, &inputs, dy, w, NULL, dx)) ||
        !nn_multiply(how, &weights, dy, x, dw, dw))
        return 0;
    if (db)
        nn_kernels_best()->sum_rows(db, dy, n, out);
    return 1;
}

void nn_pool_forward(float *pooled, float *weight, const float *x, const float *w, float b,
                     const nn_span *spans, size_t count, size_t d)
{
    const nn_kernels *k = nn_kernels_best();
    for (size_t s = 0; s < count; s++) {
        size_t n = spans[s].end - spans[s].first;
        const float *rows = x + spans[s].first * d;
        float top = b, sum = 0;
        for (size_t t = 0; t < n; t++) {
            weight[t] = k->dot(rows + t * d, w, d) + b;
            top = weight[t] > top ? weight[t] : top;
        }
        for (size_t t = 0; t < n; t++)
            weight[t] -= top;
        k->exp(weight, weight, n);
        for (size_t t = 0; t < n; t++)
            sum += weight[t];
        if (spans[s].pads)
            sum += (float)spans[s].pads * expf(b - top);
        float *out = pooled + s * d;
        memset(out, 0, d * sizeof *out);
        for (size_t t = 0; t < n; t++) {
            weight[t] /= sum;
            k->axpy(out, weight[t], rows + t * d, d);
        }
        weight += n;
    }
}

/* With p the softmax's weights, pooled = sum_t p_t x_t and u its gradient,
 *
 *     dx_t = p_t u + g_t w,    dw = sum_t g_t x_t,    g_t = p_t (x_t.u - sum_s p_s x_s.u),
 *
 * g_t being the gradient of the score x_t.w + b. The g_t of all rows, padding included, add up to
 * 0: so b has no gradient. */
void nn_pool_backward(float *dx, float *dw, const float *dpooled, const float *weight,
                      const float *x, const float *w, const nn_span *spans, size_t count, size_t d)
{
    const nn_kernels *k = nn_kernels_best();
    for (size_t s = 0; s < count; s++) {
        size_t n = spans[s].end - spans[s].first;
        const float *rows = x + spans[s].first * d, *up = dpooled + s * d;
        float *to = dx + spans[s].first * d, mean = 0;
        /* Padding rows are zero, so they have no part in the mean. */
        for (size_t t = 0; t < n; t++)
            mean += weight[t] * k->dot(rows + t * d, up, d);
        for (size_t t = 0; t < n; t++) {
            float score = weight[t] * (k->dot(rows + t * d, up, d) - mean);
            k->axpy(to + t * d, weight[t], up, d);
            k->axpy(to + t * d, score, w, d);
            k->axpy(dw, score, rows + t * d, d);
        }
        weight += n;
    }
}

void nn_tree_forward(float *x, const nn_path *paths, const float *theta, size_t n, size_t channels,
                     size_t levels)
{
    size_t d = 2 * channels * levels;
    for (size_t c = 0; c < channels; c++) {
        float rho = tanhf(theta[c]), power[NN_LEVELS_MAX] = { 0 }; /* power[l] = rho^l (8, 10) */
        power[0] = 1;
        for (size_t l = 1; l < levels; l++)
            power[l] = power[l - 1] * rho;
        for (size_t t = 0; t < n; t++) {
            float *at = x + t * d + c * 2 * levels;
            size_t depth = paths[t].depth < levels ? paths[t].depth : levels;
            for (size_t l = 0; l < depth; l++)
                at[2 * l + (paths[t].slots >> l & 1)] += power[l];
        }
    }
}

void nn_tree_backward(float *dtheta, const float *dx, const nn_path *paths, const float *theta,
                      size_t n, size_t channels, size_t levels)
{
    size_t d = 2 * channels * levels;
    for (size_t c = 0; c < channels; c++) {
        /* d(rho^l)/d(theta) = l rho^(l-1) (1 - rho^2) */
        double rho = tanh((double)theta[c]), power = 1, slope[NN_LEVELS_MAX] = { 0 }, sum = 0;
        slope[0] = 0;
        for (size_t l = 1; l < levels; l++, power *= rho)
            slope[l] = (double)l * power * (1 - rho * rho);
        for (size_t t = 0; t < n; t++) {
            const float *at = dx + t * d + c * 2 * levels;
            size_t depth = paths[t].depth < levels ? paths[t].depth : levels;
            for (size_t l = 1; l < depth; l++)
                sum += slope[l] * (double)at[2 * l + (paths[t].slots >> l & 1)];
        }
        dtheta[c] += (float)sum;
    }
}

/* Parameters that a thread takes at a time. */
enum { SHARE = 1 << 16 };

double nn_clip_scale(double clip, double norm)
{
    return clip > 0 ? fmin(1, clip / (norm + 1e-6)) : 1;
}

void nn_adam_update(float *w, float *m, float *v, const float *g, size_t n, const nn_adam *how,
                    double lr, uint64_t t, double norm, int threads)
{
    double b1 = (double)how->beta1, b2 = (double)how->beta2;
    nn_adam_step step = { .beta1 = how->beta1, .beta2 = how->beta2, .eps = how->eps };
    step.lr = (float)(lr * sqrt(1 - pow(b2, (double)t)) / (1 - pow(b1, (double)t)));
    step.scale = (float)nn_clip_scale((double)how->clip, norm);
    const nn_kernels *k = nn_kernels_best();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t at = 0; at < n; at += SHARE) {
        size_t count = n - at < SHARE ? n - at : SHARE;
        k->adam(w + at, m + at, v + at, g + at, &step, count);
    }
}

void nn_average(float *mean, const float *w, size_t n, double rate, int threads)
{
    float share = (float)rate;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t at = 0; at < n; at += SHARE) {
        size_t end = n - at < SHARE ? n : at + SHARE;
#pragma omp simd
        for (size_t i = at; i < end; i++)
            mean[i] += share * (w[i] - mean[i]);
    }
}

double nn_length(const float *g, size_t n, int threads)
{
    enum { PARTS = 64 }; /* added up in their order, whoever did them */
    double part[PARTS], sum = 0;
    const nn_kernels *k = nn_kernels_best();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t i = 0; i < PARTS; i++)
        part[i] = k->square_sum(g + n * i / PARTS, n * (i + 1) / PARTS - n * i / PARTS);
    for (size_t i = 0; i < PARTS; i++)
        sum += part[i];
    return sqrt(sum);
}
