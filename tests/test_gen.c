/* test_gen.c - the generator's distributions against the reference's, and its purity. */
#include "support.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/gen_stats.h"

enum { SAMPLES = 30000 };
static const double least_p = 0.001;

/* Ours and the reference's, gathered once. */
typedef struct both {
    arena *a;
    data_gen_stats ours;
    json_t *theirs;
} both;

static int gather(void **state)
{
    both *b = calloc(1, sizeof *b);
    const data_gen gen = { .dims = DATA_DIMS_MAX, .points = DATA_POINTS };
    b->a = arena_new(0);
    if (data_gen_stats_gather(&b->ours, &gen, 1, RNG_TRAIN, SAMPLES, NULL, b->a) != SNIP_OK)
        return -1;
    b->theirs = golden_json("generator-stats.json");
    *state = b;
    return 0;
}

static int release(void **state)
{
    both *b = *state;
    json_decref(b->ours.json);
    json_decref(b->theirs);
    arena_free(b->a);
    free(b);
    return 0;
}

/* A value below a path of keys separated by '/'. */
static json_t *find(json_t *o, const char *path)
{
    char key[128];
    for (const char *s = path; *s;) {
        size_t n = strcspn(s, "/");
        snprintf(key, sizeof key, "%.*s", (int)n, s);
        o = json_object_get(o, key);
        s += n + (s[n] == '/');
    }
    if (!o)
        fail_msg("no %s", path);
    return o;
}

/* Counts of both under the same keys, sorted by key as a number. Returns how many. */
typedef struct pair {
    double key, ours, theirs;
} pair;

static int by_key(const void *a, const void *b)
{
    double x = ((const pair *)a)->key, y = ((const pair *)b)->key;
    return (x > y) - (x < y);
}

static size_t align(json_t *ours, json_t *theirs, double *a, double *b)
{
    enum { MOST = 1000 };
    static pair pairs[MOST];
    size_t n = 0;
    const char *key;
    json_t *value;
    json_object_foreach (theirs, key, value) {
        assert_true(n < MOST);
        pairs[n++] = (pair){ atof(key), (double)json_integer_value(json_object_get(ours, key)),
                             (double)json_integer_value(value) };
    }
    json_object_foreach (ours, key, value)
        if (!json_object_get(theirs, key)) {
            assert_true(n < MOST);
            pairs[n++] = (pair){ atof(key), (double)json_integer_value(value), 0 };
        }
    qsort(pairs, n, sizeof *pairs, by_key);
    for (size_t i = 0; i < n; i++) {
        a[i] = pairs[i].ours;
        b[i] = pairs[i].theirs;
    }
    return n;
}

static void check_histogram(const both *b, const char *path)
{
    double ours[1000], theirs[1000];
    size_t n = align(find(b->ours.json, path), find(b->theirs, path), ours, theirs);
    double p = chi_square_test(ours, theirs, n);
    print_message("%-55s p = %.4f\n", path, p);
    if (!(p > least_p))
        fail_msg("%s: p = %g", path, p);
}

static void histograms_are_the_reference_s(void **state)
{
    const both *b = *state;
    static const char *const paths[] = {
        "histograms/input_dimension",
        "histograms/unary_count",
        "histograms/unary_requested",
        "histograms/binary_count",
        "histograms/binary_drawn",
        "histograms/token_length",
        "histograms/node_count",
        "histograms/tree_depth",
        "histograms/constant_count",
        "histograms/centroid_count",
        "histograms/input_distribution_type",
        "accepted_by_binary_drawn",
        "accepted_by_dimension_and_binary_drawn",
        "second_child_of_root_kind",
        "constants/sign",
        "constants/log10_abs_counts",
    };
    for (size_t i = 0; i < COUNT(paths); i++)
        check_histogram(b, paths[i]);
    /* All histograms of the reference are among them. */
    const char *key;
    json_t *value;
    json_object_foreach (find(b->theirs, "histograms"), key, value) {
        int listed = 0;
        for (size_t i = 0; i < COUNT(paths); i++)
            listed |= strncmp(paths[i], "histograms/", 11) == 0 && strcmp(paths[i] + 11, key) == 0;
        assert_true(listed);
    }
}

/* Yes or no per expression, so a test of two proportions. */
static void operators_occur_as_often(void **state)
{
    const both *b = *state;
    double n = SAMPLES, m = (double)json_integer_value(find(b->theirs, "accepted"));
    const char *key;
    json_t *value;
    json_object_foreach (find(b->theirs, "expressions_containing_operator"), key, value) {
        double k = (double)json_integer_value(value);
        double o = (double)json_integer_value(
            json_object_get(find(b->ours.json, "expressions_containing_operator"), key));
        double ours[] = { o, n - o }, theirs[] = { k, m - k };
        double p = chi_square_test(ours, theirs, 2);
        print_message("containing %-10s p = %.4f\n", key, p);
        if (!(p > least_p))
            fail_msg("%s: %g of %g, reference %g of %g", key, o, n, k, m);
    }
}

/* Given the dimension, attempts fail for want of leaves independently of each other. */
static void attempts_fail_as_often(void **state)
{
    const both *b = *state;
    double rate = json_number_value(find(b->theirs, "acceptance_rate"));
    assert_true(fabs(json_number_value(find(b->ours.json, "acceptance_rate")) - rate) < 0.01);
    for (int d = 2; d <= 10; d++) {
        double counts[2][2];
        json_t *const sides[] = { b->ours.json, b->theirs };
        for (int k = 0; k < 2; k++) {
            char path[64];
            snprintf(path, sizeof path, "by_requested_dimension/%d/attempts", d);
            double all = (double)json_integer_value(find(sides[k], path));
            snprintf(path, sizeof path, "by_requested_dimension/%d/rejected/bad input dimension",
                     d);
            counts[k][0] = (double)json_integer_value(find(sides[k], path));
            counts[k][1] = all - counts[k][0];
        }
        assert_true(chi_square_test(counts[0], counts[1], 2) > least_p);
    }
    const char *key;
    json_t *value;
    double n = (double)json_integer_value(find(b->ours.json, "attempts"));
    double m = (double)json_integer_value(find(b->theirs, "attempts"));
    json_object_foreach (find(b->theirs, "rejected_by_cause_detail"), key, value) {
        double theirs = (double)json_integer_value(value) / m,
               ours = (double)json_integer_value(
                          json_object_get(find(b->ours.json, "rejected_by_cause_detail"), key)) /
                      n;
        /* attempts of one sample share its dimension and unary count: twice the binomial spread */
        double spread = 2 * sqrt(theirs * (1 - theirs) * (1 / n + 1 / m));
        if (!(fabs(ours - theirs) < 3.3 * spread))
            fail_msg("%s: %g, reference %g", key, ours, theirs);
    }
}

/* Columns of generator-rows.npy that are continuous: KS on samples. */
static void values_and_points_are_distributed_alike(void **state)
{
    const both *b = *state;
    golden_array rows = golden_npy("generator-rows.npy", b->a);
    assert_int_equal(rows.shape[1], DATA_GEN_STATS_ROW);
    double *ours = arena_array(b->a, SAMPLES, sizeof *ours);
    double *theirs = arena_array(b->a, rows.shape[0], sizeof *theirs);
    static const struct {
        const char *name;
        int column, kind; /* -1: both kinds of clusters */
    } cases[] = { { "log10 median |y|", 11, -1 },
                  { "log10 max |y|", 12, -1 },
                  { "kurtosis, gaussian", 13, 0 },
                  { "kurtosis, uniform", 13, 1 } };
    for (size_t c = 0; c < COUNT(cases); c++) {
        size_t n = 0, m = 0;
        for (size_t i = 0; i < SAMPLES; i++)
            if (cases[c].kind < 0 || (int)b->ours.rows[i][10] == cases[c].kind)
                ours[n++] = (double)b->ours.rows[i][cases[c].column];
        for (size_t i = 0; i < rows.shape[0]; i++)
            if (cases[c].kind < 0 || (int)rows.value[i * DATA_GEN_STATS_ROW + 10] == cases[c].kind)
                theirs[m++] = rows.value[i * DATA_GEN_STATS_ROW + (size_t)cases[c].column];
        double p = kolmogorov_test(ours, n, theirs, m);
        print_message("%-55s p = %.4f\n", cases[c].name, p);
        if (!(p > least_p))
            fail_msg("%s: p = %g", cases[c].name, p);
    }
}

/* Distance of two distributions given by their quantiles at the same levels: at each of our
 * quantiles, the level that it has among theirs. */
static double quantile_distance(json_t *ours, json_t *theirs)
{
    size_t n = json_array_size(theirs);
    assert_int_equal(json_array_size(ours), n);
    double worst = 0;
    for (size_t i = 1; i + 1 < n; i++) {
        double v = json_number_value(json_array_get(ours, i));
        size_t j = 0;
        while (j + 1 < n && json_number_value(json_array_get(theirs, j + 1)) < v)
            j++;
        double low = json_number_value(json_array_get(theirs, j));
        double high = j + 1 < n ? json_number_value(json_array_get(theirs, j + 1)) : low;
        double level = ((double)j + (high > low ? fmin(1, fmax(0, (v - low) / (high - low))) : 0)) /
                       (double)(n - 1);
        worst = fmax(worst, fabs(level - (double)i / (double)(n - 1)));
    }
    return worst;
}

/* Values of one expression hang together, so the expressions are what is counted. */
static void quantiles_are_the_reference_s(void **state)
{
    const both *b = *state;
    static const char *const paths[] = {
        "y/log10_abs_quantiles_two_points_per_expression",
        "y/per_expression_log10_median_abs_quantiles",
        "y/per_expression_log10_max_abs_quantiles",
        "x/kurtosis/gaussian/quantiles",
        "x/kurtosis/uniform/quantiles",
        "x/column_min_quantiles",
        "x/column_max_quantiles",
    };
    double m = (double)json_integer_value(find(b->theirs, "accepted"));
    for (size_t i = 0; i < COUNT(paths); i++) {
        double d = quantile_distance(find(b->ours.json, paths[i]), find(b->theirs, paths[i]));
        double half = strstr(paths[i], "kurtosis") ? 2 : 1;
        double p = kolmogorov_p(d, SAMPLES / half, m / half);
        print_message("%-55s p = %.4f\n", paths[i], p);
        if (!(p > least_p))
            fail_msg("%s: distance %g, p = %g", paths[i], d, p);
    }
}

/* Means by kind and number of clusters, or by kind and dimension. */
static void check_means(const both *b, const char *path, const char *count, double per_expression)
{
    const char *key;
    json_t *theirs;
    json_object_foreach (find(b->theirs, path), key, theirs) {
        json_t *ours = json_object_get(find(b->ours.json, path), key);
        assert_non_null(ours);
        double n = json_number_value(json_object_get(ours, count)) / per_expression;
        double m = json_number_value(json_object_get(theirs, count)) / per_expression;
        double s = json_number_value(json_object_get(theirs, "std"));
        double difference = json_number_value(json_object_get(ours, "mean")) -
                            json_number_value(json_object_get(theirs, "mean"));
        if (!(fabs(difference) < 4 * s * sqrt(1 / n + 1 / m)))
            fail_msg("%s %s: means differ by %g", path, key, difference);
    }
}

static void clusters_and_rotations_are_right(void **state)
{
    const both *b = *state;
    check_means(b, "x/kurtosis_by_centroids", "columns", 5.5);
    check_means(b, "x/mean_abs_correlation", "expressions", 1);
    assert_true(json_number_value(find(b->ours.json, "x/max_abs_of_per_dimension_mean")) < 1e-13);
    assert_true(json_number_value(find(b->ours.json, "x/max_abs_of_per_dimension_std_minus_1")) <
                1e-13);
}

/* Statistics and samples do not depend on threads; samples do not depend on their neighbours. */
static void samples_are_pure(void **state)
{
    (void)state;
    arena *a = arena_new(0);
    const data_gen gen = { .dims = 10, .points = 200 };
    data_gen_stats one, two;
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    assert_int_equal(data_gen_stats_gather(&one, &gen, 5, RNG_HELD_OUT, 500, NULL, a), SNIP_OK);
    omp_set_num_threads(2);
    assert_int_equal(data_gen_stats_gather(&two, &gen, 5, RNG_HELD_OUT, 500, NULL, a), SNIP_OK);
    omp_set_num_threads(threads);
    assert_true(json_equal(one.json, two.json));
    assert_memory_equal(one.rows, two.rows, 500 * sizeof *one.rows);
    json_decref(one.json);
    json_decref(two.json);

    data_sample s, t, other;
    for (uint64_t i = 0; i < 50; i++) {
        assert_int_equal(data_sample_draw(&s, &gen, 5, RNG_TRAIN, i, a), SNIP_OK);
        assert_int_equal(data_sample_draw(&other, &gen, 5, RNG_HELD_OUT, i, a), SNIP_OK);
        assert_int_equal(data_sample_draw(&t, &gen, 5, RNG_TRAIN, i, a), SNIP_OK);
        assert_true(expr_same(s.e, t.e));
        assert_memory_equal(s.y, t.y, s.points * sizeof *s.y);
        assert_true(!expr_same(s.e, other.e) || memcmp(s.y, other.y, s.points * sizeof *s.y) != 0);
    }
    arena_free(a);
}

static void samples_keep_their_promises(void **state)
{
    (void)state;
    arena *a = arena_new(0);
    for (int dims = 1; dims <= 10; dims += 3) {
        const data_gen gen = { .dims = dims, .points = 57 };
        for (uint64_t i = 0; i < 200; i++) {
            arena_pos mark = arena_mark(a);
            data_sample s;
            assert_int_equal(data_sample_draw(&s, &gen, 9, RNG_TRAIN, i, a), SNIP_OK);
            assert_true(s.dim >= 1 && s.dim <= dims && s.points == 57);
            int seen = 0;
            for (size_t k = 0; k < s.e.count; k++) {
                assert_int_not_equal(s.e.node[k].op, EXPR_DIV);
                if (s.e.node[k].op == EXPR_VARIABLE)
                    seen |= 1 << s.e.node[k].var;
            }
            assert_int_equal(seen, (1 << s.dim) - 1);
            expr check = { arena_copy(a, s.e.node, s.e.count * sizeof *s.e.node), s.e.count };
            assert_true(expr_measure(check));
            double *y = arena_array(a, s.points, sizeof *y);
            assert_int_equal(expr_eval(s.e, s.x, s.points, y, a), s.points);
            assert_memory_equal(y, s.y, s.points * sizeof *y);
            assert_true(data_values_fit(s.y, s.points));
            arena_reset(a, mark);
        }
    }
    arena_free(a);
}

static void memory_limits_are_failures_not_crashes(void **state)
{
    (void)state;
    const data_gen gen = { .dims = 10, .points = 200 };
    int failed = 0, worked = 0;
    for (size_t limit = 1000; limit < 150000; limit += 1000) {
        arena *a = arena_new(limit);
        data_sample s;
        snip_code code = data_sample_draw(&s, &gen, 1, RNG_TRAIN, 3, a);
        failed += code == SNIP_NOMEM;
        worked += code == SNIP_OK;
        arena_free(a);
    }
    assert_true(failed > 0 && worked > 0);
}

/* A zoomed sample is the same function near one of its points: smoother, still of the grammar. */
static void zooming_looks_at_a_part(void **state)
{
    enum { SAMPLES = 300 };
    arena *a = *state;
    const data_gen gen = { .dims = 10, .points = 200 };
    size_t zoomed = 0, smoother = 0;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        data_sample s, before;
        rng r;
        assert_int_equal(data_sample_draw(&s, &gen, 5, RNG_BENCH, i, a), SNIP_OK);
        before = s;
        rng_init(&r, 5, RNG_EDITS, i);
        assert_int_equal(data_sample_zoom(&s, &r, a), SNIP_OK);
        if (s.y == before.y) {
            assert_true(expr_same(s.e, before.e));
            continue;
        }
        zoomed++;
        double y[200], low = s.y[0], high = s.y[0], old_low = before.y[0], old_high = before.y[0];
        assert_int_equal(expr_eval(s.e, s.x, 200, y, a), 200);
        assert_memory_equal(y, s.y, sizeof y);
        for (int k = 0; k < 200; k++) {
            low = fmin(low, s.y[k]);
            high = fmax(high, s.y[k]);
            old_low = fmin(old_low, before.y[k]);
            old_high = fmax(old_high, before.y[k]);
        }
        smoother += high - low < old_high - old_low;
        for (size_t k = 0; k < s.e.count; k++)
            assert_true(s.e.node[k].op < EXPR_VOCABULARY_END);
        assert_int_equal(expr_inputs(s.e), s.dim);
    }
    print_message("%zu of %d zoomed, %zu of them smoother\n", zoomed, SAMPLES, smoother);
    assert_true(zoomed > SAMPLES * 9 / 10);
    assert_true(smoother > zoomed * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histograms_are_the_reference_s),
        cmocka_unit_test(operators_occur_as_often),
        cmocka_unit_test(attempts_fail_as_often),
        cmocka_unit_test(values_and_points_are_distributed_alike),
        cmocka_unit_test(quantiles_are_the_reference_s),
        cmocka_unit_test(clusters_and_rotations_are_right),
        cmocka_unit_test(samples_are_pure),
        cmocka_unit_test(samples_keep_their_promises),
        cmocka_unit_test(memory_limits_are_failures_not_crashes),
        ARENA_TEST(zooming_looks_at_a_part),
    };
    return cmocka_run_group_tests(tests, gather, release);
}
