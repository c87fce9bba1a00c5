/* test_laws.c - laws: pure, as promised, readable, and many. */
#include "task.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/edits.h"
#include "data/laws.h"
#include "data/tokens.h"
#include "regress/problem.h"

enum { LAWS = 5000, POINTS = 200 };
static const data_gen gen = { .dims = DATA_DIMS_MAX, .points = POINTS };

static void draw(data_sample *s, data_law *law, uint64_t i, arena *a)
{
    assert_int_equal(data_law_draw(s, law, &gen, 11, RNG_TRAIN, i, a), SNIP_OK);
}

static void assert_same_sample(const data_sample *s, const data_sample *t)
{
    assert_true(expr_same(s->e, t->e));
    assert_int_equal(s->dim, t->dim);
    for (int j = 0; j < s->dim; j++)
        assert_memory_equal(s->x[j], t->x[j], s->points * sizeof **s->x);
    assert_memory_equal(s->y, t->y, s->points * sizeof *s->y);
}

static void laws_are_pure(void **state)
{
    enum { SOME = 200 };
    arena *a = *state;
    static data_sample one[SOME], two[SOME];
    static data_law law[SOME];
    arena *own[SOME];
    for (int i = 0; i < SOME; i++)
        draw(&one[i], &law[i], (uint64_t)i, a);
    int bad = 0;
    /* In another order, on several threads, and without asking for the law. */
#pragma omp parallel for schedule(dynamic) num_threads(3) reduction(+ : bad)
    for (int k = 0; k < SOME; k++) {
        int i = SOME - 1 - k;
        own[i] = arena_new(0);
        bad += data_law_draw(&two[i], NULL, &gen, 11, RNG_TRAIN, (uint64_t)i, own[i]) != SNIP_OK;
    }
    assert_int_equal(bad, 0);
    int different = 0;
    for (int i = 0; i < SOME; i++) {
        data_sample other;
        assert_same_sample(&one[i], &two[i]);
        assert_int_equal(data_law_draw(&other, NULL, &gen, 11, RNG_HELD_OUT, (uint64_t)i, own[i]),
                         SNIP_OK);
        different += !expr_same(one[i].e, other.e);
        assert_int_equal(data_law_draw(&other, NULL, &gen, 12, RNG_TRAIN, (uint64_t)i, own[i]),
                         SNIP_OK);
        different += !expr_same(one[i].e, other.e);
        arena_free(own[i]);
    }
    assert_int_equal(different, 2 * SOME);
}

static double mean_of(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i] / (double)n;
    return sum;
}

static double deviation_of(const double *v, size_t n)
{
    double mean = mean_of(v, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (v[i] - mean) * (v[i] - mean) / (double)n;
    return sqrt(sum);
}

/* y again with column j in another order, as far from the old one as chance will have it. */
static double change_without(const data_sample *s, int j, rng *r, arena *a)
{
    int at[POINTS];
    double moved[POINTS], y[POINTS], sum = 0;
    const double *x[DATA_DIMS_MAX];
    for (int i = 0; i < POINTS; i++)
        at[i] = i;
    rng_shuffle(r, at, POINTS);
    for (int i = 0; i < POINTS; i++)
        moved[i] = s->x[j][at[i]];
    for (int k = 0; k < s->dim; k++)
        x[k] = k == j ? moved : s->x[k];
    expr_eval(s->e, x, POINTS, y, a);
    for (int i = 0; i < POINTS; i++)
        sum += (y[i] - s->y[i]) * (y[i] - s->y[i]) / POINTS;
    return sqrt(sum);
}

/* Inputs and core are bounded, and both by `more` inputs further where constants are inputs. */
static void check_law(const data_sample *s, const data_law *law, int more, rng *r, arena *a)
{
    double y[POINTS], deviation = deviation_of(s->y, POINTS), most = 0;
    assert_int_equal(s->points, POINTS);
    assert_int_equal(law->points, POINTS);
    assert_true(s->dim >= 1 && s->dim <= DATA_LAW_DIMS + more && law->dim == s->dim);
    /* The formulas: of the vocabulary, small, with every input. */
    unsigned seen = 0, raw = 0;
    for (size_t i = 0; i < s->e.count; i++) {
        assert_true(s->e.node[i].op < EXPR_VOCABULARY_END);
        assert_int_not_equal(s->e.node[i].op, EXPR_DIV);
        assert_int_not_equal(s->e.node[i].op, EXPR_POW);
        if (s->e.node[i].op == EXPR_VARIABLE)
            seen |= 1u << s->e.node[i].var;
    }
    for (size_t i = 0; i < law->e.count; i++)
        if (law->e.node[i].op == EXPR_VARIABLE)
            raw |= 1u << law->e.node[i].var;
    assert_int_equal(seen, (1u << s->dim) - 1);
    assert_int_equal(raw, (1u << s->dim) - 1);
    expr copy = { arena_copy(a, law->e.node, law->e.count * sizeof *law->e.node), law->e.count };
    assert_true(expr_measure(copy) && expr_same(copy, law->e));
    assert_in_range(law->e.count, 3, 50);
    assert_in_range(data_law_core(law->e), 1, DATA_LAW_CORE + (more ? s->dim - 1 : 0));
    assert_in_range(data_tokens_count(s->e), 5, DATA_SEQUENCE_MAX);
    /* The columns: standardised, and the raw ones behind them. */
    for (int j = 0; j < s->dim; j++) {
        assert_true(fabs(mean_of(s->x[j], POINTS)) < 1e-9);
        assert_true(fabs(deviation_of(s->x[j], POINTS) - 1) < 1e-9);
        assert_true(fabs(mean_of(law->x[j], POINTS) - law->mean[j]) <
                    1e-9 * law->deviation[j] + 1e-12 * fabs(law->mean[j]));
        for (int i = 0; i < POINTS; i++)
            assert_true(fabs(law->mean[j] + law->deviation[j] * s->x[j][i] - law->x[j][i]) <
                        1e-9 * law->deviation[j] + 1e-12 * fabs(law->mean[j]));
    }
    /* The values: those of both formulas, and they vary with every input. */
    assert_true(data_values_fit(s->y, POINTS) && data_values_fit(law->y, POINTS));
    assert_int_equal(expr_eval(s->e, s->x, POINTS, y, a), POINTS);
    assert_memory_equal(y, s->y, sizeof y);
    assert_int_equal(expr_eval(law->e, law->x, POINTS, y, a), POINTS);
    assert_memory_equal(y, law->y, sizeof y);
    for (int i = 0; i < POINTS; i++) {
        assert_true(fabs(y[i] - s->y[i]) <= 1e-6 * deviation);
        most = fmax(most, fabs(y[i]));
    }
    assert_true(deviation > 0.999e-3 * most);
    for (int j = 0; j < s->dim; j++)
        if (!(change_without(s, j, r, a) > 1e-3 * deviation))
            fail_msg("y does not depend on x%d in %s", j,
                     expr_print(law->e, SNIP_INFIX, NULL, 4, a));
}

static void laws_keep_their_promises(void **state)
{
    arena *a = *state;
    rng r;
    rng_init(&r, 3, RNG_BENCH, 0);
    for (uint64_t i = 0; i < LAWS; i++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        data_law law;
        draw(&s, &law, i, a);
        check_law(&s, &law, 0, &r, a);
        data_perturbed p[2]; /* what training does with a sample */
        size_t subtrees;
        const data_perturb_how how = { .subtrees = 2, .edits = DATA_ATTEMPTS };
        assert_int_equal(data_perturb(p, &subtrees, &how, s.e, s.x, POINTS, s.y, &r, a), SNIP_OK);
        assert_in_range(subtrees, 1, 2);
        arena_reset(a, mark);
    }
}

/* The free constants of e that are no exponents, negative ones apart. */
static size_t measurable(expr e)
{
    size_t n = 0;
    for (size_t i = 0; i < e.count; i++)
        n += e.node[i].op == EXPR_NUMBER && !e.node[i].integer && e.node[i].value > 0;
    for (size_t i = 0; i < e.count; i++) {
        const expr_node *p = e.node[i].op == EXPR_POW ? &e.node[expr_child(e, i, 1)] : NULL;
        n -= p && p->op == EXPR_NUMBER && !p->integer && p->value > 0;
    }
    return n;
}

/* With all quantities as inputs a law keeps its promises, and few constants are left. */
static void constants_become_inputs(void **state)
{
    enum { SOME = 1000 };
    arena *a = *state;
    rng r;
    size_t left[2] = { 0 };
    int inputs[2] = { 0 };
    rng_init(&r, 4, RNG_BENCH, 0);
    for (int all = 0; all < 2; all++)
        for (uint64_t i = 0; i < SOME; i++) {
            arena_pos mark = arena_mark(a);
            const data_gen how = { .dims = DATA_DIMS_MAX, .points = POINTS, .quantities = all };
            data_sample s;
            data_law law;
            assert_int_equal(data_law_draw(&s, &law, &how, 11, RNG_TRAIN, i, a), SNIP_OK);
            check_law(&s, &law, all ? DATA_DIMS_MAX - DATA_LAW_DIMS : 0, &r, a);
            left[all] += measurable(law.e);
            inputs[all] += law.dim;
            arena_reset(a, mark);
        }
    print_message("constants left of a law: %.2f, without %.2f; inputs %.2f, without %.2f\n",
                  (double)left[1] / SOME, (double)left[0] / SOME, (double)inputs[1] / SOME,
                  (double)inputs[0] / SOME);
    assert_true(left[1] < left[0] * 3 / 10); /* four in five become inputs */
    assert_true(inputs[1] > inputs[0] * 14 / 10);
}

/* Distinct values of a column, at most `most`. */
static int levels_of(const double *x, int most)
{
    double found[16];
    int n = 0;
    for (int i = 0; i < POINTS && n < most; i++) {
        int k = 0;
        while (k < n && found[k] != x[i])
            k++;
        if (k == n)
            found[n++] = x[i];
    }
    return n;
}

static int is_grid(const double *x)
{
    double step = x[1] - x[0];
    int even = 1;
    for (int i = 1; i < POINTS; i++)
        even &= fabs(x[i] - x[i - 1] - step) < 1e-6 * step;
    return even && step > 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The forms are many and the tables are like people's. Bounds are wide: they hold the intention,
 * not the sample. */
static void laws_are_like_people_s(void **state)
{
    arena *keep = *state, *a = arena_new(0);
    char **form = arena_array(keep, LAWS, sizeof *form);
    int inputs = 0, positive = 0, planned = 0, grids = 0, singles = 0, linear = 0, few = 0;
    int dims[DATA_LAW_DIMS + 1] = { 0 }, small = 0;
    for (uint64_t i = 0; i < LAWS; i++) {
        data_sample s;
        data_law law;
        draw(&s, &law, i, a);
        int all_levels = 1;
        for (int j = 0; j < law.dim; j++) {
            double low = INFINITY;
            for (int k = 0; k < POINTS; k++)
                low = fmin(low, law.x[j][k]);
            inputs++;
            positive += low > 0;
            int levels = levels_of(law.x[j], 9);
            assert_true(levels >= (law.dim == 1 ? 5 : 3));
            all_levels &= levels <= 8;
        }
        planned += all_levels;
        singles += law.dim == 1;
        grids += law.dim == 1 && is_grid(law.x[0]);
        dims[law.dim]++;
        few += law.dim <= 4;
        small += data_law_core(law.e) <= 8;
        double r2 = data_linear_fit(s.x, s.dim, s.y, POINTS);
        assert_true(fabs(r2 - law.linear) < 1e-12);
        linear += r2 > DATA_NEARLY_LINEAR;
        for (size_t k = 0; k < law.e.count; k++) /* constants become one symbol */
            if (law.e.node[k].op == EXPR_NUMBER)
                law.e.node[k] = (expr_node){ .op = EXPR_PI, .len = 1 };
        const char *text = expr_print(law.e, SNIP_PREFIX, NULL, 0, a);
        form[i] = arena_text(keep, text, strlen(text));
        assert_non_null(form[i]);
        arena_reset(a, 0);
    }
    arena_free(a);
    qsort(form, LAWS, sizeof *form, by_text);
    int distinct = 1;
    for (int i = 1; i < LAWS; i++)
        distinct += strcmp(form[i], form[i - 1]) != 0;
    print_message("%d forms; %.1f %% nearly linear, %.1f %% of inputs positive, %.1f %% planned, "
                  "%.1f %% of single inputs on a grid\n",
                  distinct, 100.0 * linear / LAWS, 100.0 * positive / inputs,
                  100.0 * planned / LAWS, 100.0 * grids / singles);
    assert_true(distinct >= 1000);
    assert_true(linear > 0 && linear < LAWS * 35 / 1000); /* one in twenty, if none were redrawn */
    assert_true(positive > inputs * 8 / 10 && positive < inputs * 95 / 100);
    assert_true(planned > LAWS * 5 / 100 && planned < LAWS * 15 / 100);
    assert_true(grids > singles * 15 / 100 && grids < singles * 35 / 100);
    for (int d = 1; d <= DATA_LAW_DIMS; d++)
        assert_true(dims[d] > LAWS / 100);
    assert_true(few > LAWS * 85 / 100);
    assert_true(small > LAWS * 6 / 10);
}

/* The sample is the law as the tools read a user's formula for the same table. */
static void laws_are_read_as_users_formulas(void **state)
{
    arena *a = *state;
    for (uint64_t i = 0; i < 500; i++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        data_law law;
        draw(&s, &law, i, a);
        double low[DATA_DIMS_MAX], high[DATA_DIMS_MAX], mean[DATA_DIMS_MAX];
        double deviation[DATA_DIMS_MAX];
        size_t order[DATA_DIMS_MAX]; /* as they are, for once */
        regress_problem p = { .dim = (size_t)s.dim,
                              .rows = POINTS,
                              .train = POINTS,
                              .x = law.x,
                              .y = law.y,
                              .mean = mean,
                              .deviation = deviation,
                              .standard = s.x,
                              .low = low,
                              .high = high,
                              .order = order };
        for (int j = 0; j < s.dim; j++) {
            order[j] = (size_t)j;
            mean[j] = law.mean[j];
            deviation[j] = law.deviation[j];
            low[j] = high[j] = s.x[j][0];
            for (int k = 1; k < POINTS; k++) {
                low[j] = fmin(low[j], s.x[j][k]);
                high[j] = fmax(high[j], s.x[j][k]);
            }
        }
        expr read;
        snip_status st = { 0 };
        if (regress_problem_rewrite(&read, law.e, regress_inputs_of(law.e, &p), &p, a, &st) !=
            SNIP_OK)
            fail_msg("%s: %s", expr_print(law.e, SNIP_INFIX, NULL, 4, a), st.msg);
        assert_true(expr_same(read, s.e));
        arena_reset(a, mark);
    }
}

/* Raw formulas are ordinary text: they read back to themselves. */
static void laws_can_be_written_down(void **state)
{
    arena *a = *state;
    for (uint64_t i = 0; i < 1000; i++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        data_law law;
        draw(&s, &law, i, a);
        const char *text = expr_print(law.e, SNIP_INFIX, NULL, 0, a);
        if (!expr_same(parsed(text, NULL, a), law.e))
            fail_msg("%s reads back to another tree", text);
        arena_reset(a, mark);
    }
}

static void sizes_asked_for_are_kept(void **state)
{
    arena *a = *state;
    static const data_gen asked[] = { { 1, 200, 0 }, { 1, 200, 1 }, { 2, 57, 0.5 },
                                      { 3, 2, 1 },   { 10, 3, 1 },  { 5, 1000, 0 } };
    for (size_t g = 0; g < COUNT(asked); g++)
        for (uint64_t i = 0; i < 100; i++) {
            arena_pos mark = arena_mark(a);
            data_sample s;
            assert_int_equal(data_law_draw(&s, NULL, &asked[g], 2, RNG_TRAIN, i, a), SNIP_OK);
            assert_true(s.dim <= asked[g].dims && s.points == asked[g].points);
            assert_true(data_values_fit(s.y, s.points));
            arena_reset(a, mark);
        }
}

static void memory_limits_are_failures_not_crashes(void **state)
{
    (void)state;
    int failed = 0, worked = 0;
    for (size_t limit = 500; limit < 150000; limit += 350) {
        arena *a = arena_new(limit);
        arena_pos mark = arena_mark(a);
        data_sample s;
        const data_gen how = { .dims = gen.dims, .points = POINTS, .quantities = limit / 350 % 2 };
        snip_code code = data_law_draw(&s, NULL, &how, 1, RNG_TRAIN, 3, a);
        failed += code == SNIP_NOMEM;
        worked += code == SNIP_OK;
        if (code == SNIP_NOMEM)
            assert_int_equal(arena_mark(a), mark);
        arena_free(a);
    }
    assert_true(failed > 0 && worked > 0);
}

static void linear_fits_are_least_squares(void **state)
{
    (void)state;
    enum { N = 101 };
    double x[2][N], y[N];
    const double *columns[3] = { x[0], x[1], x[0] };
    for (int i = 0; i < N; i++) {
        x[0][i] = i - 50;
        x[1][i] = (i * 37) % N - 50;
        y[i] = 7 + 0.5 * x[0][i] - 3 * x[1][i];
    }
    assert_true(fabs(data_linear_fit(columns, 2, y, N) - 1) < 1e-12);
    assert_true(fabs(data_linear_fit(columns, 3, y, N) - 1) < 1e-12); /* one column twice */
    for (int i = 0; i < N; i++)
        y[i] = 1000 + x[0][i] * x[0][i];
    assert_true(data_linear_fit(columns, 1, y, N) < 1e-12);
    /* t^3 on -1 .. 1: the slope is 3/5, and R^2 is 21/25 but for the grid. */
    for (int i = 0; i < N; i++)
        y[i] = x[0][i] * x[0][i] * x[0][i];
    assert_true(fabs(data_linear_fit(columns, 1, y, N) - 0.84) < 0.01);
}

static void the_core_leaves_constants_out(void **state)
{
    static const struct {
        const char *text;
        size_t core;
    } cases[] = {
        { "x0", 1 },
        { "3.1 + 2*x0", 1 },
        { "x0*x1", 3 },
        { "2.5*exp(-0.3*x0)", 2 },
        { "4*pi*x0^2", 2 },
        { "1/x0", 2 },
        { "7.1/(2.2 + x0)", 2 },
        { "x0/3.3", 1 },
        { "x0^1.7", 2 },
        { "sqrt(x0^2 + x1^2)", 6 },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(data_law_core(parsed(cases[i].text, NULL, *state)), cases[i].core);
}

static void statistics_do_not_depend_on_threads(void **state)
{
    (void)state;
    json_t *one, *three;
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    assert_int_equal(data_law_stats(&one, &gen, 5, RNG_TRAIN, 500, NULL), SNIP_OK);
    omp_set_num_threads(3);
    assert_int_equal(data_law_stats(&three, &gen, 5, RNG_TRAIN, 500, NULL), SNIP_OK);
    omp_set_num_threads(threads);
    assert_true(json_equal(one, three));
    assert_int_equal(json_integer_value(json_object_get(one, "accepted")), 500);
    assert_true(json_integer_value(json_object_get(one, "attempts")) > 500);
    json_decref(one);
    json_decref(three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(laws_are_pure),
        ARENA_TEST(laws_keep_their_promises),
        ARENA_TEST(constants_become_inputs),
        ARENA_TEST(laws_are_like_people_s),
        ARENA_TEST(laws_are_read_as_users_formulas),
        ARENA_TEST(laws_can_be_written_down),
        ARENA_TEST(sizes_asked_for_are_kept),
        cmocka_unit_test(memory_limits_are_failures_not_crashes),
        cmocka_unit_test(linear_fits_are_least_squares),
        ARENA_TEST(the_core_leaves_constants_out),
        cmocka_unit_test(statistics_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
