/* test_search_textbook.c - curves of one input with constants inside, from few noisy rows. */
#include "support.h"

#include <math.h>

#include "search/search.h"

enum { ROWS = 100 };

/* The table of a formula in x0, with noise of 2 % of y's deviation. */
static regress_table table_of(const char *text, arena *a)
{
    static const char *const names[] = { "x0" };
    const double **x = arena_array(a, 1, sizeof *x);
    double *column = arena_array(a, ROWS, sizeof *column), *y = arena_array(a, ROWS, sizeof *y);
    double mean = 0, variance = 0;
    expr e;
    rng r;
    rng_init(&r, 11, RNG_BENCH, 0);
    for (size_t i = 0; i < ROWS; i++)
        column[i] = 0.2 + 4.3 * (double)i / ROWS;
    x[0] = column;
    assert_int_equal(expr_parse(&e, text, NULL, a, NULL), SNIP_OK);
    assert_int_equal(expr_eval(e, x, ROWS, y, a), ROWS);
    for (size_t i = 0; i < ROWS; i++)
        mean += y[i] / ROWS;
    for (size_t i = 0; i < ROWS; i++)
        variance += (y[i] - mean) * (y[i] - mean) / ROWS;
    for (size_t i = 0; i < ROWS; i++)
        for (int k = 0; k < 12; k++)
            y[i] += 0.02 * sqrt(variance) * (rng_uniform(&r) - 0.5);
    return (regress_table){ 1, ROWS, names, x, y };
}

static void laws_with_constants_inside(void **state)
{
    static const struct {
        const char *text;
        size_t size; /* that the formula may have */
    } laws[] = {
        { "3.1*x0/(0.7 + x0)", 7 },                  /* Michaelis and Menten */
        { "5/(1 + exp(-1.7*(x0 - 2)))", 10 },        /* logistic growth */
        { "2*exp(-0.4*x0)*cos(3.3*x0 + 0.5)", 14 },  /* a damped oscillation */
        { "0.3 + 1.5*exp(-(x0 - 2.2)^2/0.72)", 12 }, /* Gauss */
        { "0.1 + 2/((x0 - 2)^2 + 0.25)", 11 },       /* Lorentz */
        { "30*exp(-4.2/x0)", 6 },                    /* Arrhenius */
        { "4*x0^3/(exp(1.9*x0) - 1)", 12 },          /* Planck */
        { "2*exp(-0.5*x0) + 3*exp(-3*x0)", 13 },     /* two decays */
    };
    for (size_t k = 0; k < COUNT(laws); k++) {
        arena_pos mark = arena_mark(*state);
        regress_table t = table_of(laws[k].text, *state);
        const search_how how = { .evaluations = 500 * 1000,
                                 .threads = 1,
                                 .without = ~(1u << SEARCH_TEXTBOOK) };
        search_result r;
        snip_status st;
        assert_int_equal(search_run(&r, &t, &how, *state, &st), SNIP_OK);
        const search_formula *f = &r.front[r.selected];
        if (!(f->r2[0] > 0.999 && f->size <= laws[k].size))
            print_message("%s: %s\n", laws[k].text, expr_print(f->e, SNIP_INFIX, NULL, 4, *state));
        assert_true(f->r2[0] > 0.999);
        assert_true(f->size <= laws[k].size);
        assert_int_equal(f->stage, SEARCH_TEXTBOOK);
        arena_reset(*state, mark);
    }
}

/* A table of many inputs is none of its business. */
static void many_inputs_are_left_alone(void **state)
{
    enum { N = 40, INPUTS = 6 };
    static const char *const names[INPUTS] = { "a", "b", "c", "d", "e", "f" };
    double *x[INPUTS], y[N];
    rng r;
    rng_init(&r, 1, RNG_BENCH, 0);
    for (size_t j = 0; j < INPUTS; j++) {
        x[j] = arena_array(*state, N, sizeof *x[j]);
        for (size_t i = 0; i < N; i++)
            x[j][i] = rng_uniform(&r);
    }
    for (size_t i = 0; i < N; i++)
        y[i] = x[0][i] + x[5][i];
    const regress_table t = { INPUTS, N, names, (const double *const *)x, y };
    const search_how how = { .evaluations = 500 * 1000,
                             .threads = 1,
                             .without = ~(1u << SEARCH_TEXTBOOK) };
    search_result found;
    snip_status st;
    assert_int_equal(search_run(&found, &t, &how, *state, &st), SNIP_OK);
    assert_int_equal(found.evaluations, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(laws_with_constants_inside),
        ARENA_TEST(many_inputs_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
