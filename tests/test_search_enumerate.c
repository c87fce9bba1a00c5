/* test_search_enumerate.c - formulas that enumeration alone finds. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "search/search.h"

enum { INPUTS = 4 };

/* Everything but `stage` is left out. */
static unsigned only(search_stage stage)
{
    return ~(1u << stage);
}

/* A table of the formula, inputs uniform between 1 and 3, noise in shares of y's deviation. */
static regress_table table_of(const char *text, size_t rows, double noise, uint64_t seed, arena *a)
{
    static const char *const names[INPUTS] = { "x0", "x1", "x2", "x3" };
    expr e;
    rng r;
    double **x = arena_array(a, INPUTS, sizeof *x), *y = arena_array(a, rows, sizeof *y);
    assert_int_equal(expr_parse(&e, text, NULL, a, NULL), SNIP_OK);
    rng_init(&r, seed, RNG_BENCH, 0);
    for (size_t j = 0; j < INPUTS; j++) {
        x[j] = arena_array(a, rows, sizeof *x[j]);
        for (size_t i = 0; i < rows; i++)
            x[j][i] = 1 + 2 * rng_uniform(&r);
    }
    assert_int_equal(expr_eval(e, (const double *const *)x, rows, y, a), rows);
    double mean = 0, variance = 0;
    for (size_t i = 0; i < rows; i++)
        mean += y[i] / (double)rows;
    for (size_t i = 0; i < rows; i++)
        variance += (y[i] - mean) * (y[i] - mean) / (double)rows;
    for (size_t i = 0; i < rows; i++) {
        double z = 0;
        for (int k = 0; k < 12; k++)
            z += rng_uniform(&r) - 0.5;
        y[i] += noise * sqrt(variance) * z;
    }
    return (regress_table){ expr_inputs(e), rows, names, (const double *const *)x, y };
}

static search_formula best_of(const regress_table *t, search_how how, arena *a)
{
    search_result r;
    snip_status st;
    assert_int_equal(search_run(&r, t, &how, a, &st), SNIP_OK);
    return r.front[r.selected];
}

/* Transforms of y, meetings of two parts, numbers inside of functions. */
static void clean_formulas_are_found(void **state)
{
    static const char *const formula[] = {
        "x0*sin(x1)/x2",
        "sqrt((x0 - x1)^2 + (x2 - x3)^2)",
        "x0*x1/sqrt(1 + x1^2/x2^2)",
        "3*x0/(exp(x1/x2) - 1)",
        "exp(-x0*x1/x2)*x3",
        "1/(1/x0 + x2/x1)",
    };
    for (size_t k = 0; k < COUNT(formula); k++) {
        regress_table t = table_of(formula[k], 300, 0, 5, *state);
        search_formula f = best_of(&t,
                                   (search_how){ .evaluations = 10 * 1000 * 1000,
                                                 .threads = 1,
                                                 .without = only(SEARCH_ENUMERATE) },
                                   *state);
        if (!(f.r2[1] > 1 - 1e-12))
            print_message("%s: %.12g\n", formula[k], f.r2[1]);
        assert_true(f.r2[1] > 1 - 1e-12);
        assert_int_equal(f.stage, SEARCH_ENUMERATE);
        assert_true(f.size <= 22);
    }
}

/* With 1 % of noise the same structure is chosen: fitted to clean values it is exact. */
static void noisy_formulas_are_found(void **state)
{
    static const char *const formula[] = { "x0*sin(x1)/x2", "1/(1/x0 + x2/x1)", "exp(-x0/x1)*x2" };
    for (size_t k = 0; k < COUNT(formula); k++) {
        regress_table t = table_of(formula[k], 300, 0.01, 5, *state);
        regress_table clean = table_of(formula[k], 300, 0, 6, *state);
        search_formula f = best_of(&t,
                                   (search_how){ .evaluations = 8 * 1000 * 1000,
                                                 .threads = 1,
                                                 .without = only(SEARCH_ENUMERATE) },
                                   *state);
        double value[300], worst = 0, size = 0;
        assert_int_equal(expr_eval(f.e, clean.x, 300, value, *state), 300);
        for (size_t i = 0; i < 300; i++) {
            worst = fmax(worst, fabs(value[i] - clean.y[i]));
            size = fmax(size, fabs(clean.y[i]));
        }
        if (!(worst < 3e-3 * size))
            print_message("%s: %g of %g\n", formula[k], worst, size);
        assert_true(worst < 3e-3 * size);
    }
}

static void threads_do_not_matter(void **state)
{
    arena *a = *state;
    char *first = NULL;
    regress_table t = table_of("x0*x1/(x2 + x3*sin(x0))", 200, 0.02, 5, a);
    for (int threads = 1; threads <= 3; threads += 2) {
        search_formula f = best_of(&t,
                                   (search_how){ .evaluations = 3 * 1000 * 1000,
                                                 .threads = threads,
                                                 .without = only(SEARCH_ENUMERATE) },
                                   a);
        char *text = expr_print(f.e, SNIP_INFIX, NULL, 0, a);
        if (first)
            assert_string_equal(text, first);
        first = text;
    }
}

/* Only operators that may be used are used, and a small memory is kept to. */
static void limits_are_kept(void **state)
{
    regress_table t = table_of("x0*sin(x1)/x2", 200, 0, 5, *state);
    search_formula f =
        best_of(&t,
                (search_how){ .evaluations = 1000 * 1000,
                              .threads = 1,
                              .memory = search_memory_least(1),
                              .operators = UINT64_C(1) << EXPR_ADD | UINT64_C(1) << EXPR_SUB |
                                           UINT64_C(1) << EXPR_MUL,
                              .without = only(SEARCH_ENUMERATE) },
                *state);
    for (size_t i = 0; i < f.e.count; i++)
        assert_true(f.e.node[i].op != EXPR_SIN && f.e.node[i].op != EXPR_DIV);
    assert_true(f.r2[1] > 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(clean_formulas_are_found),
        ARENA_TEST(noisy_formulas_are_found),
        ARENA_TEST(threads_do_not_matter),
        ARENA_TEST(limits_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
