/* test_search_weights.c - rows that count more than others, or not at all. */
#include "support.h"

#include <math.h>

#include "search/search.h"

enum { ROWS = 60, FEW = 10 };

/* A line with errors that grow with x, and weights that fall; the last rows are off. */
typedef struct bench {
    double x[ROWS], y[ROWS], weight[ROWS];
    const double *column[1];
    const char *name[1];
    regress_table t;
} bench;

static void make(bench *b, size_t rows)
{
    rng r;
    rng_init(&r, 11, RNG_BENCH, 0);
    for (size_t i = 0; i < rows; i++) {
        b->x[i] = 1 + (double)i / (double)rows;
        b->y[i] = (b->x[i] > 1.8 ? 0.6 : 0) + 3.217 * b->x[i] + 0.61 +
                  0.4 * (b->x[i] - 0.8) * (2 * rng_uniform(&r) - 1);
        b->weight[i] = 1 / ((b->x[i] - 0.8) * (b->x[i] - 0.8));
    }
    b->column[0] = b->x;
    b->name[0] = "x";
    b->t = (regress_table){ 1, rows, b->name, b->column, b->y };
}

static search_result fit(const regress_table *t, const double *weight, arena *a)
{
    search_result r;
    snip_status st = { 0 };
    const search_how how = { .evaluations = 20000,
                             .threads = 1,
                             .max_size = 5,
                             .weight = weight,
                             .without = ~(1u << SEARCH_CLOSED) };
    if (search_run(&r, t, &how, a, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return r;
}

/* With few rows none is held out: the loss is the weighted mean square error of the formula. */
static void losses_are_weighted(void **state)
{
    bench b;
    make(&b, FEW);
    search_result r = fit(&b.t, b.weight, *state);
    for (size_t k = 0; k < r.count; k++) {
        double value[FEW], sum = 0, all = 0;
        expr_eval(r.front[k].e, b.column, FEW, value, *state);
        for (size_t i = 0; i < FEW; i++) {
            sum += b.weight[i] * (value[i] - b.y[i]) * (value[i] - b.y[i]);
            all += b.weight[i];
        }
        assert_true(fabs(r.front[k].loss[0] - sum / all) <= 1e-9 * sum / all);
    }
}

/* The line of weighted least squares, by the normal equations. */
static void constants_are_weighted(void **state)
{
    bench b;
    make(&b, ROWS);
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
    for (size_t i = 0; i < ROWS; i++) {
        w += b.weight[i];
        wx += b.weight[i] * b.x[i];
        wy += b.weight[i] * b.y[i];
        wxx += b.weight[i] * b.x[i] * b.x[i];
        wxy += b.weight[i] * b.x[i] * b.y[i];
    }
    double slope = (w * wxy - wx * wy) / (w * wxx - wx * wx), at[2], ends[] = { 1, 2 };
    const double *column[] = { ends };
    search_result weighted = fit(&b.t, b.weight, *state), plain = fit(&b.t, NULL, *state);
    const search_formula *f = &weighted.front[weighted.count - 1];
    expr_eval(f->e, column, 2, at, *state);
    assert_true(fabs(at[1] - at[0] - slope) < 0.02 * slope); /* digits that do not matter are cut */
    assert_false(expr_same(f->e, plain.front[plain.count - 1].e));
}

/* Weight 0 is the same as no row. */
static void rows_of_no_weight_are_left_out(void **state)
{
    bench b, whole;
    make(&b, ROWS / 2);
    make(&whole, ROWS / 2);
    for (size_t i = ROWS / 2; i < ROWS; i++) {
        whole.x[i] = 50 + (double)i;
        whole.y[i] = -1000;
        whole.weight[i] = 0;
    }
    whole.t.rows = ROWS;
    search_result r = fit(&b.t, b.weight, *state), s = fit(&whole.t, whole.weight, *state);
    assert_int_equal(r.count, s.count);
    for (size_t k = 0; k < r.count; k++)
        assert_true(expr_same(r.front[k].e, s.front[k].e));
}

/* Only ratios count. */
static void scale_of_weights_is_nothing(void **state)
{
    bench b;
    make(&b, ROWS);
    search_result r = fit(&b.t, b.weight, *state);
    for (size_t i = 0; i < ROWS; i++)
        b.weight[i] *= 1024;
    search_result s = fit(&b.t, b.weight, *state);
    assert_int_equal(r.count, s.count);
    for (size_t k = 0; k < r.count; k++)
        assert_true(expr_same(r.front[k].e, s.front[k].e));
}

static void a_negative_weight_is_refused(void **state)
{
    bench b;
    search_result r;
    snip_status st = { 0 };
    make(&b, ROWS);
    b.weight[6] = -1;
    const search_how how = { .evaluations = 100, .threads = 1, .weight = b.weight };
    assert_int_equal(search_run(&r, &b.t, &how, *state, &st), SNIP_FORMAT);
    assert_string_equal(st.msg, "the weight of row 7 is -1; it must be 0 or more");
}

static int setup(void **state)
{
    *state = arena_new(0);
    return *state == NULL;
}

static int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_are_weighted),
        cmocka_unit_test(constants_are_weighted),
        cmocka_unit_test(rows_of_no_weight_are_left_out),
        cmocka_unit_test(scale_of_weights_is_nothing),
        cmocka_unit_test(a_negative_weight_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
