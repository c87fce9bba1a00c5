/* test_metrics.c - ranks, summaries of ranks, intervals, principal components. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "eval/metrics.h"
#include "model/space.h"

/* Unit rows at angles on a circle, in degrees. */
static void circle(float *z, const double *degrees, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        z[2 * i] = (float)cos(degrees[i] * M_PI / 180);
        z[2 * i + 1] = (float)sin(degrees[i] * M_PI / 180);
    }
}

static void ranks_are_those_of_the_angles(void **state)
{
    (void)state;
    /* Values 1 and 2 are the same vector: each sees the other as a tie, which counts against it. */
    const double symbols[4] = { 0, 90, 100, 205 }, values[4] = { 10, 100, 100, 30 };
    float f[8], y[8];
    uint32_t above_f[4], above_y[4];
    circle(f, symbols, 4);
    circle(y, values, 4);
    assert_true(eval_places(above_f, above_y, &(eval_pairs){ f, y, NULL, 4, 2 }, 0, 4, 2, NULL));
    /* Symbol 0 is nearest to value 0; 1 and 2 tie with each other; 3 is farthest from its own. */
    const uint32_t want_f[4] = { 0, 1, 1, 3 };
    /* Value 0: symbol 0. Value 1 at 100: symbol 2 is nearer. Value 2: symbol 2 first.
     * Value 3 at 30: symbols 0, 1 and 2 are nearer than 205. */
    const uint32_t want_y[4] = { 0, 1, 0, 3 };
    assert_memory_equal(above_f, want_f, sizeof want_f);
    assert_memory_equal(above_y, want_y, sizeof want_y);
}

static void fill_unit(float *z, size_t n, size_t d, double spread, rng *r)
{
    for (size_t i = 0; i < n; i++) {
        double length = 0;
        for (size_t j = 0; j < d; j++) {
            z[i * d + j] = (float)(1 + spread * (rng_uniform(r) - 0.5));
            length += (double)z[i * d + j] * (double)z[i * d + j];
        }
        for (size_t j = 0; j < d; j++)
            z[i * d + j] = (float)((double)z[i * d + j] / sqrt(length));
    }
}

/* Several blocks, copies of rows, and vectors so close that float32 products cannot tell them
 * apart: still the ranks that double gives, for any number of threads and shares of the rows. */
static void ranks_are_exact(void **state)
{
    arena *a = *state;
    enum { N = 1300, D = 37 };
    const double spreads[2] = { 2, 1e-3 };
    for (int k = 0; k < 2; k++) {
        rng r;
        rng_init(&r, 3, RNG_BENCH, (uint64_t)k);
        float *f = arena_array(a, N * D, sizeof *f), *y = arena_array(a, N * D, sizeof *y);
        uint32_t *got[2], *part[2], *want[2];
        for (int d = 0; d < 2; d++) {
            got[d] = arena_zero(a, N * sizeof **got);
            part[d] = arena_zero(a, N * sizeof **part);
            want[d] = arena_zero(a, N * sizeof **want);
        }
        const eval_pairs pairs = { f, y, NULL, N, D };
        fill_unit(f, N, D, spreads[k], &r);
        fill_unit(y, N, D, spreads[k], &r);
        for (int c = 0; c < 100; c++) /* copies */
            memcpy(y + (size_t)(c * 13) * D, y + (size_t)(c * 7 + 1) * D, D * sizeof *y);
        for (size_t i = 0; i < N; i++) {
            double own = model_dot(f + i * D, y + i * D, D);
            for (size_t j = 0; j < N; j++) {
                if (j == i)
                    continue;
                double s = model_dot(f + i * D, y + j * D, D);
                want[0][i] += s >= own;
                want[1][j] += s >= model_dot(f + j * D, y + j * D, D);
            }
        }
        for (int threads = 1; threads <= 2; threads++) {
            assert_true(eval_places(got[0], got[1], &pairs, 0, N, threads, NULL));
            assert_memory_equal(got[0], want[0], N * sizeof **got);
            assert_memory_equal(got[1], want[1], N * sizeof **got);
        }
        /* Two shares of the rows, added up. */
        assert_true(eval_places(got[0], got[1], &pairs, 0, 600, 2, NULL));
        assert_true(eval_places(got[0], part[1], &pairs, 600, N, 2, NULL));
        for (size_t i = 0; i < N; i++)
            got[1][i] += part[1][i];
        assert_memory_equal(got[0], want[0], N * sizeof **got);
        assert_memory_equal(got[1], want[1], N * sizeof **got);
    }
}

/* With a second row of values for each the larger cosine counts. */
static void ranks_take_the_better_of_two_values(void **state)
{
    arena *a = *state;
    enum { N = 700, D = 19 };
    rng r;
    float *z[3];
    uint32_t got[2][N], want[2][N] = { { 0 } };
    double(*s)[N] = arena_array(a, N, sizeof *s);
    rng_init(&r, 3, RNG_BENCH, 9);
    for (int k = 0; k < 3; k++) {
        z[k] = arena_array(a, N * D, sizeof **z);
        fill_unit(z[k], N, D, 2, &r);
    }
    memcpy(z[2] + 5 * D, z[1] + 8 * D, D * sizeof **z); /* a tie between different tables */
    size_t by_turned = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double one = model_dot(z[0] + i * D, z[1] + j * D, D);
            double two = model_dot(z[0] + i * D, z[2] + j * D, D);
            s[i][j] = fmax(one, two);
            by_turned += two > one;
        }
    assert_true(by_turned > N * N / 4 && by_turned < 3 * N * N / 4);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            if (i != j) {
                want[0][i] += s[i][j] >= s[i][i];
                want[1][j] += s[i][j] >= s[j][j];
            }
    for (int threads = 1; threads <= 2; threads++) {
        assert_true(eval_places(got[0], got[1], &(eval_pairs){ z[0], z[1], z[2], N, D }, 0, N,
                                threads, NULL));
        assert_memory_equal(got, want, sizeof want);
    }
}

static void summaries_of_known_ranks(void **state)
{
    (void)state;
    const uint32_t rank[6] = { 1, 1, 2, 10, 11, 100 };
    eval_retrieval r;
    assert_true(eval_retrieval_of(&r, rank, 6, 0, 2));
    assert_true(fabs(r.r1.value - 2 / 6.0) < 1e-12);
    assert_true(fabs(r.r10.value - 4 / 6.0) < 1e-12);
    assert_true(fabs(r.ndcg10.value - (2 + 1 / log2(3) + 1 / log2(11)) / 6) < 1e-12);
    assert_true(fabs(r.mrr.value - (2 + 0.5 + 0.1 + 1 / 11.0 + 0.01) / 6) < 1e-12);
    assert_true(r.median_rank.value == 6);
    assert_true(r.r1.lo >= 0 && r.r1.lo < r.r1.value && r.r1.hi > r.r1.value && r.r1.hi <= 1);
    assert_true(r.median_rank.lo >= 1 && r.median_rank.hi <= 100);
}

static void percentiles_are_strict(void **state)
{
    (void)state;
    const double others[4] = { 0.1, 0.5, 0.5, 0.9 };
    assert_true(eval_percentile(0.5, others, 4) == 0.25);
    assert_true(eval_percentile(1, others, 4) == 1);
    assert_true(eval_percentile(0, others, 4) == 0);
    assert_true(isnan(eval_percentile(0, others, 0)));
}

/* Families count alike, whatever the number of their targets; missing ones do not count. */
static void means_of_families(void **state)
{
    (void)state;
    const double v[6] = { 1, 1, 0, NAN, 0.5, NAN }, w[6] = { 0, 0, 0, NAN, 0, NAN };
    const double none[3] = { NAN, NAN, NAN };
    eval_figure f = eval_mean_of_families(v, 2, 3, 7);
    assert_true(fabs(f.value - (2 / 3.0 + 0.5) / 2) < 1e-12);
    assert_true(f.lo <= f.value && f.hi >= f.value && f.lo < f.hi);
    eval_figure d = eval_difference(v, v, 2, 3, 7), e = eval_difference(v, w, 2, 3, 7);
    assert_true(d.value == 0 && d.lo == 0 && d.hi == 0);
    assert_true(e.value == f.value && e.lo == f.lo);
    assert_true(isnan(eval_mean(none, 3, 7).value));
}

/* The interval covers the truth about as often as it says. */
static void intervals_cover(void **state)
{
    (void)state;
    int covered = 0;
    for (uint64_t k = 0; k < 200; k++) {
        double v[60];
        rng r;
        rng_init(&r, 5, RNG_BENCH, k);
        for (int i = 0; i < 60; i++)
            v[i] = rng_uniform(&r);
        eval_figure f = eval_mean(v, 60, k);
        covered += f.lo <= 0.5 && f.hi >= 0.5;
    }
    print_message("covered %d of 200\n", covered);
    assert_true(covered >= 178 && covered <= 199);
}

static void areas_under_curves(void **state)
{
    (void)state;
    const double high[3] = { 0.9, 0.8, 0.3 }, low[3] = { 0.1, NAN, 0.3 };
    /* 6 pairs: five won, one tie */
    assert_true(fabs(eval_auc(high, low, 3, 1).value - 5.5 / 6) < 1e-12);
    assert_true(eval_auc(high, high, 3, 1).value == 0.5);
}

/* a v = lambda v, and the vectors are orthonormal: for random matrices, and for those with equal,
 * zero or very different eigenvalues. */
static void eigenvectors_are_what_they_say(void **state)
{
    arena *a = *state;
    static const size_t sizes[] = { 1, 2, 3, 7, 40, 129 };
    for (size_t k = 0; k < COUNT(sizes); k++)
        for (int kind = 0; kind < 7; kind++) {
            size_t n = sizes[k];
            double *m = arena_array(a, n * n, sizeof *m), *v = arena_array(a, n * n, sizeof *v);
            double *value = arena_array(a, n, sizeof *value), trace = 0, sum = 0, size = 0;
            rng r;
            rng_init(&r, 3, RNG_BENCH, k);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j <= i; j++)
                    m[i * n + j] = m[j * n + i] =
                        kind == 0   ? rng_uniform(&r) - 0.5
                        : kind == 1 ? i == j
                        : kind == 2 ? 0
                        : kind == 3 ? 1                              /* of rank 1 */
                        : kind == 4 ? (i == j) * pow(10, -(double)i) /* diagonal already */
                        : kind == 5 ? (rng_uniform(&r) - 0.5) * pow(10, -(double)(i + j) / 4)
                                    : 1e200 * (i == j + 1 || i == j); /* tridiagonal, huge */
            for (size_t i = 0; i < n * n; i++)
                size = fmax(size, fabs(m[i]));
            double *used = arena_copy(a, m, n * n * sizeof *m);
            assert_true(eval_eigen(value, v, used, n));
            for (size_t i = 0; i < n; i++) {
                trace += m[i * n + i] / (size + (size == 0));
                sum += value[i] / (size + (size == 0));
                assert_true(i == 0 || value[i - 1] >= value[i]);
                for (size_t j = 0; j <= i; j++) {
                    double inner = 0;
                    for (size_t c = 0; c < n; c++)
                        inner += v[i * n + c] * v[j * n + c];
                    assert_true(fabs(inner - (i == j)) < 1e-12);
                }
                for (size_t j = 0; j < n; j++) {
                    double image = 0;
                    for (size_t c = 0; c < n; c++)
                        image += m[j * n + c] * v[i * n + c];
                    assert_true(fabs(image - value[i] * v[i * n + j]) <= 1e-12 * (double)n * size);
                }
            }
            assert_true(fabs(trace - sum) < 1e-12 * (double)n);
        }
    double bad[4] = { 1, NAN, NAN, 2 }, value[2], v[4];
    assert_false(eval_eigen(value, v, bad, 2));
}

static void components_of_a_known_cloud(void **state)
{
    arena *a = *state;
    enum { N = 400, D = 6 };
    float *z = arena_zero(a, N * D * sizeof *z);
    double share[D], *plane = arena_array(a, 2 * N, sizeof *plane);
    rng r;
    rng_init(&r, 9, RNG_BENCH, 0);
    double sum1 = 0, sum2 = 0;
    for (size_t i = 0; i < N; i++) { /* two directions with 9 times the variance in the first */
        double u = i % 2 ? 3 : -3, v = i / 2 % 2 ? 1 : -1;
        z[i * D] = 5 + (float)(u / sqrt(2));
        z[i * D + 3] = (float)(u / sqrt(2));
        z[i * D + 1] = (float)v;
    }
    assert_true(eval_pca(share, plane, z, N, D));
    assert_true(fabs(share[0] - 0.9) < 1e-6 && fabs(share[1] - 0.1) < 1e-6 && share[2] < 1e-9);
    for (size_t i = 0; i < N; i++) {
        sum1 += fabs(fabs(plane[2 * i]) - 3);
        sum2 += fabs(fabs(plane[2 * i + 1]) - 1);
    }
    assert_true(sum1 / N < 1e-5 && sum2 / N < 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_those_of_the_angles),
        ARENA_TEST(ranks_are_exact),
        ARENA_TEST(ranks_take_the_better_of_two_values),
        cmocka_unit_test(summaries_of_known_ranks),
        cmocka_unit_test(percentiles_are_strict),
        cmocka_unit_test(means_of_families),
        cmocka_unit_test(intervals_cover),
        cmocka_unit_test(areas_under_curves),
        ARENA_TEST(eigenvectors_are_what_they_say),
        ARENA_TEST(components_of_a_known_cloud),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
