/* metrics.c - see metrics.h. */
#include "eval/metrics.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/streams.h"
#include "model/space.h"
#include "nn/nn.h"

json_t *eval_figure_json(eval_figure f)
{
    const double all[3] = { f.value, f.lo, f.hi };
    static const char *const names[3] = { "value", "lo", "hi" };
    json_t *o = json_object();
    for (int i = 0; i < 3; i++)
        json_object_set_new(o, names[i], isfinite(all[i]) ? json_real(all[i]) : json_null());
    return o;
}

/* Ranks ---------------------------------------------------------------------------------------
 *
 * The rank of pair i, formula to data, is 1 + #{ j != i : s_ij >= s_ii }, and with s_ji in place of
 * s_ij the other way round: ties count against us. With N pairs these are N^2 products, which only
 * float32 does in reasonable time, and N^2 comparisons, which only double does right. So blocks of
 * similarities come from sgemm, and with `off` larger than its error
 *
 *     s_ij > s_ii + off    is above for sure,
 *     s_ij < s_ii - off    is below for sure,
 *
 * and only what lies between is computed again, in double and in one order. Ranks are those of
 * doubles, whatever the blocks, threads or machines. A block serves both directions: its rows are
 * held against the rows' own pairs, its columns against the columns'. */

enum { BLOCK = 512 };

/* More than a float32 product of unit vectors of this length can be off: the error of the sum grows
 * as the square root of its terms, and 1e-6 covers the rounding of the vectors' lengths. */
static float doubt(size_t width)
{
    return 2e-7f * sqrtf((float)width) + 1e-6f;
}

typedef struct contest {
    const eval_pairs *z;
    const double *own; /* similarity of each pair */
    const float *sure_above, *maybe;
    uint32_t *above_f, *above_y; /* above_y: this thread's */
} contest;

/* The similarity of symbols i and values j, in double. */
static double similarity(const eval_pairs *z, size_t i, size_t j)
{
    const float *symbol = z->symbols + i * z->width;
    double s = model_dot(symbol, z->values + j * z->width, z->width);
    return z->turned ? fmax(s, model_dot(symbol, z->turned + j * z->width, z->width)) : s;
}

/* Elements of row i that float32 cannot decide, again in double. */
static void decide(const contest *c, const float *s, size_t i, size_t first, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        size_t j = first + k;
        int row = s[k] >= c->maybe[i] && s[k] <= c->sure_above[i];
        int col = s[k] >= c->maybe[j] && s[k] <= c->sure_above[j];
        if (i == j || (!row && !col))
            continue;
        double exact = similarity(c->z, i, j);
        c->above_f[i] += row && exact >= c->own[i];
        c->above_y[j] += col && exact >= c->own[j];
    }
}

static void count_block(const contest *c, const float *s, size_t row, size_t rows, size_t col,
                        size_t cols)
{
    const nn_kernels *k = nn_kernels_best();
    for (size_t r = 0; r < rows; r++) {
        size_t i = row + r;
        if (k->count_above(&c->above_f[i], c->above_y + col, s + r * BLOCK, c->sure_above[i],
                           c->maybe[i], c->sure_above + col, c->maybe + col, cols))
            decide(c, s + r * BLOCK, i, col, cols);
    }
}

/* The products of a block, in s, whose rows are BLOCK apart; `other` is room for as many. Returns 0
 * when memory is out. */
static int multiply(float *s, float *other, const contest *c, size_t row, size_t rows, size_t col,
                    size_t cols)
{
    const eval_pairs *z = c->z;
    const float *symbols = z->symbols + row * z->width;
    int good = nn_gemm(0, 1, rows, cols, z->width, 1, symbols, z->width, z->values + col * z->width,
                       z->width, 0, s, BLOCK);
    if (!good || !z->turned)
        return good;
    good = nn_gemm(0, 1, rows, cols, z->width, 1, symbols, z->width, z->turned + col * z->width,
                   z->width, 0, other, BLOCK);
    for (size_t r = 0; r < rows; r++)
        for (size_t k = r * BLOCK; k < r * BLOCK + cols; k++)
            s[k] = s[k] > other[k] ? s[k] : other[k];
    return good;
}

int eval_places(uint32_t *above_f, uint32_t *above_y, const eval_pairs *pairs, size_t first,
                size_t end, int threads, progress *p)
{
    const size_t n = pairs->count;
    double *own = malloc((n + 1) * sizeof *own);
    float *limit = malloc((2 * n + 1) * sizeof *limit);
    int failed = !own || !limit;
    size_t blocks = (end - first + BLOCK - 1) / BLOCK, done = 0;
    float *above = limit, *maybe = limit ? limit + n : NULL;
    if (!failed) {
        float off = doubt(pairs->width);
#pragma omp parallel for num_threads(threads)
        for (size_t i = 0; i < n; i++) {
            own[i] = similarity(pairs, i, i);
            above[i] = (float)own[i] + off;
            maybe[i] = (float)own[i] - off;
        }
        memset(above_f + first, 0, (end - first) * sizeof *above_f);
        memset(above_y, 0, n * sizeof *above_y);
    }
#pragma omp parallel num_threads(threads)
    {
        float *s = malloc((size_t)(pairs->turned ? 2 : 1) * BLOCK * BLOCK * sizeof *s);
        uint32_t *mine = calloc(n + 1, sizeof *mine);
        if (!s || !mine)
#pragma omp atomic write
            failed = 1;
#pragma omp barrier
        const contest c = { pairs, own, above, maybe, above_f, mine };
        if (!failed) {
#pragma omp for schedule(dynamic, 1)
            for (size_t b = 0; b < blocks; b++) {
                size_t row = first + b * BLOCK, rows = end - row < BLOCK ? end - row : BLOCK;
                for (size_t col = 0; col < n; col += BLOCK) {
                    size_t cols = n - col < BLOCK ? n - col : BLOCK;
                    if (!multiply(s, pairs->turned ? s + (size_t)BLOCK * BLOCK : NULL, &c, row,
                                  rows, col, cols)) {
#pragma omp atomic write
                        failed = 1;
                    }
                    if (row < col + cols && col < row + rows) /* the pairs themselves */
                        for (size_t i = row; i < row + rows; i++)
                            if (i >= col && i < col + cols)
                                s[(i - row) * BLOCK + i - col] = -2;
                    count_block(&c, s, row, rows, col, cols);
                }
#pragma omp atomic
                done += rows;
                if (p && omp_get_thread_num() == 0)
                    progress_at(p, done);
            }
#pragma omp critical
            for (size_t i = 0; i < n; i++)
                above_y[i] += mine[i];
        }
        free(s);
        free(mine);
    }
    free(own);
    free(limit);
    return !failed;
}

/* Bootstrap ----------------------------------------------------------------------------------- */

/* The middle 95 % of resampled figures, of which some may be NaN. */
static void interval(eval_figure *f, double *sample, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(sample[i]))
            sample[kept++] = sample[i];
    f->lo = f->hi = NAN;
    if (kept < 2)
        return;
    numbers_sort(sample, kept);
    f->lo = sample[(size_t)(0.025 * (double)(kept - 1))];
    f->hi = sample[(size_t)ceil(0.975 * (double)(kept - 1))];
}

static int by_rank(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* What a rank adds to each figure. */
enum { R1, R10, NDCG10, MRR, RETRIEVAL_MEANS };

static void gain(double out[RETRIEVAL_MEANS], uint32_t rank)
{
    out[R1] = rank == 1;
    out[R10] = rank <= 10;
    out[NDCG10] = rank <= 10 ? 1 / log2(1 + (double)rank) : 0;
    out[MRR] = 1 / (double)rank;
}

int eval_retrieval_of(eval_retrieval *out, const uint32_t *rank, size_t n, uint64_t seed,
                      int threads)
{
    uint32_t *sorted = malloc((n + 1) * sizeof *sorted);
    double(*each)[RETRIEVAL_MEANS] = malloc((n + 1) * sizeof *each);
    double *sample = malloc((RETRIEVAL_MEANS + 1) * EVAL_RESAMPLES * sizeof *sample);
    int failed = !sorted || !each || !sample;
    double mean[RETRIEVAL_MEANS] = { 0 };
    if (!failed) {
        memcpy(sorted, rank, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, by_rank);
        for (size_t i = 0; i < n; i++) {
            gain(each[i], sorted[i]);
            for (int k = 0; k < RETRIEVAL_MEANS; k++)
                mean[k] += each[i][k];
        }
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8)
    for (int b = 0; b < EVAL_RESAMPLES; b++) {
        uint32_t *times = failed ? NULL : calloc(n + 1, sizeof *times);
        if (!times) {
#pragma omp atomic write
            failed = 1;
            continue;
        }
        rng r;
        streams_rng(&r, seed, STREAMS_RESAMPLES, (uint64_t)b);
        for (size_t i = 0; i < n; i++)
            times[rng_below(&r, (uint32_t)n)]++;
        double sum[RETRIEVAL_MEANS] = { 0 };
        size_t seen = 0, middle = n;
        for (size_t i = 0; i < n; i++) {
            for (int k = 0; k < RETRIEVAL_MEANS; k++)
                sum[k] += times[i] * each[i][k];
            seen += times[i];
            if (middle == n && 2 * seen >= n) /* where half of the queries are behind us */
                middle = i;
        }
        for (int k = 0; k < RETRIEVAL_MEANS; k++)
            sample[k * EVAL_RESAMPLES + b] = sum[k] / (double)n;
        sample[RETRIEVAL_MEANS * EVAL_RESAMPLES + b] = n ? sorted[middle] : NAN;
        free(times);
    }
    if (!failed && n) {
        eval_figure *const to[] = { &out->r1, &out->r10, &out->ndcg10, &out->mrr };
        for (int k = 0; k < RETRIEVAL_MEANS; k++) {
            to[k]->value = mean[k] / (double)n;
            interval(to[k], sample + k * EVAL_RESAMPLES, EVAL_RESAMPLES);
        }
        size_t low = (n - 1) / 2, high = n / 2;
        out->median_rank.value = 0.5 * ((double)sorted[low] + (double)sorted[high]);
        interval(&out->median_rank, sample + RETRIEVAL_MEANS * EVAL_RESAMPLES, EVAL_RESAMPLES);
    }
    free(sorted);
    free(each);
    free(sample);
    return !failed && n;
}

double eval_percentile(double own, const double *others, size_t n)
{
    size_t lower = 0;
    for (size_t i = 0; i < n; i++)
        lower += others[i] < own;
    return n ? (double)lower / (double)n : NAN;
}

eval_figure eval_bootstrap(eval_statistic *f, const void *context, size_t units, uint64_t seed)
{
    eval_figure out = { f(context, NULL), NAN, NAN };
    double *sample = malloc(EVAL_RESAMPLES * sizeof *sample);
    uint32_t *times = malloc((units + 1) * sizeof *times);
    for (int k = 0; k < EVAL_RESAMPLES && sample && times && units; k++) {
        rng r;
        streams_rng(&r, seed, STREAMS_RESAMPLES, (uint64_t)k);
        memset(times, 0, units * sizeof *times);
        for (size_t u = 0; u < units; u++)
            times[rng_below(&r, (uint32_t)units)]++;
        sample[k] = f(context, times);
    }
    if (sample && times && units)
        interval(&out, sample, EVAL_RESAMPLES);
    free(sample);
    free(times);
    return out;
}

/* Two sets of scores by family and unit; the second may be NULL. */
typedef struct scores {
    const double *a, *b;
    size_t families, units;
} scores;

/* Mean of family means. */
static double family_mean(const double *value, const scores *s, const uint32_t *times)
{
    double total = 0;
    size_t counted = 0;
    for (size_t f = 0; f < s->families; f++) {
        double sum = 0, weight = 0;
        for (size_t u = 0; u < s->units; u++) {
            double v = value[f * s->units + u], w = times ? times[u] : 1;
            if (isnan(v) || w == 0)
                continue;
            sum += w * v;
            weight += w;
        }
        if (weight > 0) {
            total += sum / weight;
            counted++;
        }
    }
    return counted ? total / (double)counted : NAN;
}

static double difference(const void *context, const uint32_t *times)
{
    const scores *s = context;
    return family_mean(s->a, s, times) - (s->b ? family_mean(s->b, s, times) : 0);
}

eval_figure eval_difference(const double *a, const double *b, size_t families, size_t units,
                            uint64_t seed)
{
    const scores s = { a, b, families, units };
    return eval_bootstrap(difference, &s, units, seed);
}

eval_figure eval_mean_of_families(const double *value, size_t families, size_t units, uint64_t seed)
{
    return eval_difference(value, NULL, families, units, seed);
}

eval_figure eval_mean(const double *value, size_t n, uint64_t seed)
{
    return eval_mean_of_families(value, 1, n, seed);
}

/* Share of pairs in which the high one (a) is higher than the low one (b). */
static double area(const void *context, const uint32_t *times)
{
    const scores *s = context;
    double won = 0, all = 0;
    for (size_t i = 0; i < s->units; i++)
        for (size_t j = 0; j < s->units; j++) {
            double w = times ? (double)times[i] * times[j] : 1;
            if (w == 0 || isnan(s->a[i]) || isnan(s->b[j]))
                continue;
            won += w * (s->a[i] > s->b[j] ? 1 : s->a[i] == s->b[j] ? 0.5 : 0);
            all += w;
        }
    return all > 0 ? won / all : NAN;
}

eval_figure eval_auc(const double *high, const double *low, size_t n, uint64_t seed)
{
    const scores s = { high, low, 1, n };
    return eval_bootstrap(area, &s, n, seed);
}

/* Principal components ------------------------------------------------------------------------ */

int eval_pca(double *share, double *plane, const float *rows, size_t n, size_t width)
{
    double *mean = calloc(width, sizeof *mean), *c = calloc(width * width, sizeof *c);
    double *value = malloc(width * sizeof *value), *vector = malloc(width * width * sizeof *vector);
    double total = 0;
    int good = mean && c && value && vector && n > 1;
    for (size_t i = 0; good && i < n; i++)
        for (size_t j = 0; j < width; j++)
            mean[j] += (double)rows[i * width + j] / (double)n;
    for (size_t i = 0; good && i < n; i++)
        for (size_t j = 0; j < width; j++) {
            double v = (double)rows[i * width + j] - mean[j];
            for (size_t k = 0; k <= j; k++)
                c[j * width + k] += v * ((double)rows[i * width + k] - mean[k]);
        }
    for (size_t j = 0; good && j < width; j++)
        for (size_t k = 0; k < j; k++)
            c[k * width + j] = c[j * width + k];
    good = good && eval_eigen(value, vector, c, width);
    for (size_t j = 0; good && j < width; j++)
        total += fmax(0, value[j]);
    for (size_t j = 0; good && j < width; j++)
        share[j] = total > 0 ? fmax(0, value[j]) / total : 0;
    for (size_t i = 0; good && i < n; i++)
        for (size_t p = 0; p < 2; p++) {
            plane[2 * i + p] = 0;
            for (size_t j = 0; j < width && p < width; j++)
                plane[2 * i + p] += ((double)rows[i * width + j] - mean[j]) * vector[p * width + j];
        }
    free(mean);
    free(c);
    free(value);
    free(vector);
    return good;
}
