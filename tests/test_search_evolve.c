/* test_search_evolve.c - the stages guess and evolve, and what evolve is made of. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "search/vary.h"

enum { ROWS = 240, COLUMNS = 3 };

static const unsigned only_guess = ~(1u << SEARCH_GUESS), only_evolve = ~(1u << SEARCH_EVOLVE);

/* A table of a formula in x0, x1, x2, each between 1 and 3. */
static regress_table table_of(const char *truth, arena *a)
{
    static const char *const names[COLUMNS] = { "x0", "x1", "x2" };
    const double **x = arena_array(a, COLUMNS, sizeof *x);
    double *y = arena_array(a, ROWS, sizeof *y);
    rng r;
    rng_init(&r, 7, RNG_BENCH, 0);
    for (int j = 0; j < COLUMNS; j++) {
        double *column = arena_array(a, ROWS, sizeof *column);
        rng_fill_uniform(&r, column, ROWS);
        for (int i = 0; i < ROWS; i++)
            column[i] = 1 + 2 * column[i];
        x[j] = column;
    }
    assert_int_equal(expr_eval(parsed(truth, NULL, a), x, ROWS, y, a), ROWS);
    return (regress_table){ COLUMNS, ROWS, names, x, y };
}

static search_result searched(const char *truth, const search_how *how, arena *a)
{
    search_result r;
    snip_status st = { 0 };
    regress_table t = table_of(truth, a);
    if (search_run(&r, &t, how, a, &st) != SNIP_OK)
        fail_msg("%s: %s", truth, st.msg);
    return r;
}

static const char *text(expr e, arena *a)
{
    return expr_print(e, SNIP_INFIX, NULL, 0, a);
}

/* ---- heads ---- */

static void outer_numbers_are_stripped(void **state)
{
    static const struct {
        const char *from, *to; /* to NULL: nothing is left */
    } cases[] = {
        { "2*(x0 - sin(x1)) + 3", "x0 + sin(x1)" },
        { "-x0/4", "x0" },
        { "x0*x1 + 2*x0*x1", "x0*x1 + 2*x0*x1" }, /* the inner 2 is no outer one in (2*x0)*x1 */
        { "x0 + x1 + 3*x0", "x0 + x1" },
        { "exp(2*x0)", "exp(2*x0)" },
        { "3.5", NULL },
    };
    for (size_t k = 0; k < COUNT(cases); k++) {
        expr e = search_head_strip(parsed(cases[k].from, NULL, *state), *state);
        if (!cases[k].to)
            assert_null(e.node);
        else
            assert_string_equal(text(e, *state), cases[k].to);
    }
}

static void coefficients_are_least_squares(void **state)
{
    arena *a = *state;
    regress_table t = table_of("4 + 3*x0*x1 - 1.5*sin(x2)", a);
    const search_view v = { .dim = COLUMNS, .rows = ROWS, .x = t.x, .y = t.y };
    head_rows r = search_head_rows_of(&v);
    head_values *values = arena_alloc(a, sizeof *values);
    head h;
    expr e = parsed("x0*x1 + sin(x2)", NULL, a);
    search_head_evaluate(values, e, &r);
    assert_true(search_head_solve(&h, e, values, &r));
    assert_true(h.loss < 1e-25);
    assert_true(fabs(h.shift - (4)) < 1e-10);
    assert_true(fabs(h.factor[0] - (3)) < 1e-10);
    assert_true(fabs(h.factor[1] - (-1.5)) < 1e-10);
    /* Clean multiples of the first coefficient are written as such. */
    expr plain = search_head_write(&h, e, 1, a);
    assert_string_equal(text(plain, a), "x0*x1 + -0.5*sin(x2)");
    /* A term that says nothing new is refused. */
    e = parsed("x0 + (x1 + (x0 + x1))", NULL, a);
    search_head_evaluate(values, e, &r);
    assert_false(search_head_solve(&h, e, values, &r));
}

static void inner_numbers_are_fitted(void **state)
{
    arena *a = *state;
    regress_table t = table_of("2 - 3*exp(-1.3*x0) + x1", a);
    const search_view v = { .dim = COLUMNS, .rows = ROWS, .x = t.x, .y = t.y };
    head_rows r = search_head_rows_of(&v);
    head_values *values = arena_alloc(a, sizeof *values);
    head h;
    expr e = parsed("exp(-1.0*x0) + x1", NULL, a);
    search_head_evaluate(values, e, &r);
    assert_true(search_head_solve(&h, e, values, &r));
    double before = h.loss;
    assert_true(search_head_fit(e, &h, &r, 40, 1, a) > 0);
    search_head_evaluate(values, e, &r);
    assert_true(search_head_solve(&h, e, values, &r));
    assert_true(before > 1e-6 && h.loss < 1e-20);
}

static void hashes_ignore_order_and_numbers(void **state)
{
    arena *a = *state;
    uint64_t h = search_head_hash(parsed("x0*exp(2.5*x1) + x2", NULL, a));
    assert_true(h == search_head_hash(parsed("x2 + exp(x1*7.25)*x0", NULL, a)));
    assert_true(h != search_head_hash(parsed("x2 + exp(x0*7.25)*x1", NULL, a)));
    assert_true(search_head_hash(parsed("x0/x1", NULL, a)) !=
                search_head_hash(parsed("x1/x0", NULL, a)));
}

/* ---- wishes ---- */

/* In a formula that is right but for one part, the wish at its place is what the part was. */
static void a_wish_is_what_was_there(void **state)
{
    static const struct {
        const char *truth, *wrong;
        size_t node; /* of `wrong` */
        const char *part;
        int bare, scale;
    } cases[] = {
        { "sqrt(x0^2 + x1*x2)", "sqrt(x0^2 + x1)", 4, "x1*x2", 1, 0 },
        { "x0*exp(x1/x2)", "x0*exp(x1)", 3, "x1/x2", 1, 0 },
        { "x0/(x1 + sin(x2))", "x0/(x1 + x2)", 4, "sin(x2)", 1, 0 },
        { "x0*sqrt(x1 + x2)", "x0*sqrt(x1)", 3, "x1 + x2", 1, 1 },
        { "sin(0.1*x0*x1)", "sin(0.2*x0)", 1, "0.1*x0*x1", 1, 0 },
        { "log(x0 - 0.1*x1)", "log(x0)", 1, "x0 - 0.1*x1", 1, 0 },
        { "tanh(x0 - x1)^3", "tanh(x0)^3", 2, "x0 - x1", 1, 0 },
    };
    arena *a = *state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        regress_table t = table_of(cases[k].truth, a);
        const search_view v = { .dim = COLUMNS, .rows = ROWS, .x = t.x, .y = t.y };
        head_rows r = search_head_rows_of(&v);
        head_values *values = arena_alloc(a, sizeof *values);
        double wish[SEARCH_FEW], part[ROWS];
        int scale;
        vary_parent p = { .e = parsed(cases[k].wrong, NULL, a), .v = values };
        search_head_evaluate(values, p.e, &r);
        p.h = (head){ .terms = 1, .factor = { 1 } };
        if (!search_vary_wish(wish, &scale, &p, cases[k].node, cases[k].bare, &r))
            fail_msg("%s: no wish", cases[k].truth);
        assert_int_equal(scale, cases[k].scale);
        expr_eval(parsed(cases[k].part, NULL, a), t.x, ROWS, part, a);
        for (size_t i = 0; i < r.rows; i++)
            if (fabs(wish[i] - part[i]) > 1e-9)
                fail_msg("%s: %g at row %zu, not %g", cases[k].truth, wish[i], i, part[i]);
    }
    /* exp has no value below 0: no wish. */
    regress_table t = table_of("-x0", a);
    const search_view v = { .dim = COLUMNS, .rows = ROWS, .x = t.x, .y = t.y };
    head_rows r = search_head_rows_of(&v);
    head_values *values = arena_alloc(a, sizeof *values);
    vary_parent p = { .e = parsed("exp(x1)", NULL, a), .v = values };
    double wish[SEARCH_FEW];
    int scale;
    search_head_evaluate(values, p.e, &r);
    p.h = (head){ .terms = 1, .factor = { 1 } };
    assert_false(search_vary_wish(wish, &scale, &p, 1, 1, &r));
}

static void parts_answer_wishes(void **state)
{
    arena *a = *state;
    regress_table t = table_of("2 - 5*x0/x2", a);
    const search_view v = { .dim = COLUMNS, .rows = ROWS, .x = t.x, .y = t.y };
    head_rows r = search_head_rows_of(&v);
    search s = { .operators = search_operators_default(), .dim = COLUMNS };
    pool p;
    rng random;
    double shift, factor, rest;
    rng_init(&random, 1, RNG_BENCH, 0);
    assert_true(search_pool_make(&p, &s, &r, a));
    assert_true(p.count > 500);
    const pool_part *found = search_pool_match(&p, t.y, &random, &shift, &factor, &rest);
    assert_non_null(found);
    assert_string_equal(text(found->e, a), "x0/x2");
    assert_true(fabs(shift - (2)) < 1e-9);
    assert_true(fabs(factor - (-5)) < 1e-9);
    assert_true(rest < 1e-12);
    /* What behaves like a part that is there is not taken again. */
    size_t before = p.count;
    assert_false(search_pool_add(&p, parsed("3 + 2*x0/x2", NULL, a)));
    assert_int_equal(p.count, before);
}

static void products_of_powers_are_read_off(void **state)
{
    arena *a = *state;
    regress_table t = table_of("-2.5*x0^2*sqrt(x1)/x2", a);
    const search_view v = { .dim = COLUMNS, .rows = ROWS, .x = t.x, .y = t.y };
    head_rows r = search_head_rows_of(&v);
    search s = { .operators = search_operators_default(), .dim = COLUMNS };
    pool p;
    double factor, rest;
    assert_true(search_pool_make(&p, &s, &r, a));
    expr e = search_pool_power(&p, t.y, &factor, &rest, a);
    assert_non_null(e.node);
    assert_string_equal(text(e, a), "x0^2*sqrt(x1)/x2");
    assert_true(fabs(factor + 2.5) < 1e-9 && rest < 1e-20);
}

/* ---- the stages ---- */

static void evolve_finds_nested_formulas(void **state)
{
    static const char *const truths[] = {
        "x0*sin(x1*x2) + sqrt(x0^2 + x1^2)",
        "exp(-x0*x1)/(1 + x2^2)",
        "sqrt(x0^2 + x1^2 - 2*x0*x1*cos(x2))",
        "x0/(exp(x1/x2) - 1)",
    };
    const search_how how = { .evaluations = 3000000, .threads = 1, .without = only_evolve };
    for (size_t k = 0; k < COUNT(truths); k++) {
        search_result r = searched(truths[k], &how, *state);
        const search_formula *f = &r.front[r.selected];
        if (!(f->r2[1] > 1 - 1e-12))
            fail_msg("%s: %s", truths[k], text(f->e, *state));
        assert_int_equal(f->stage, SEARCH_EVOLVE);
        assert_true(f->size <= 30);
    }
}

/* However long the stages before it took without a better formula, evolve has time of its own. */
static void evolve_has_its_own_patience(void **state)
{
    const search_how how = { .evaluations = 1500000, .threads = 1 };
    search_result r = searched("x0*sin(3*x1*x2) + sqrt(x0^2 + x1^2)", &how, *state);
    const search_formula *f = &r.front[r.selected];
    if (f->stage != SEARCH_EVOLVE || !(f->r2[1] > 0.999))
        fail_msg("%s by %s", text(f->e, *state), search_stage_names[f->stage]);
}

static void threads_do_not_matter(void **state)
{
    const char *truth = "x0*exp(-x1) + 0.3*sin(3*x2)*x1 + tanh(x0*x2)/x1";
    search_result r[2];
    for (int k = 0; k < 2; k++) {
        const search_how how = { .evaluations = 200000, .threads = k + 1, .seed = 5 };
        r[k] = searched(truth, &how, *state);
    }
    assert_int_equal(r[0].count, r[1].count);
    assert_int_equal(r[0].evaluations, r[1].evaluations);
    assert_int_equal(r[0].selected, r[1].selected);
    for (size_t k = 0; k < r[0].count; k++)
        assert_true(expr_same(r[0].front[k].e, r[1].front[k].e));
}

static void operators_and_size_hold(void **state)
{
    const search_how how = { .evaluations = 150000,
                             .threads = 1,
                             .max_size = 12,
                             .without = only_evolve,
                             .operators = 1ull << EXPR_ADD | 1ull << EXPR_MUL | 1ull << EXPR_SIN };
    search_result r = searched("x0*exp(-x1)/(x2 + cos(x0*x1))", &how, *state);
    assert_true(r.count >= 2);
    for (size_t k = 0; k < r.count; k++) {
        assert_true(r.front[k].size <= 12);
        for (size_t i = 0; i < r.front[k].e.count; i++) {
            int op = r.front[k].e.node[i].op;
            assert_true(op != EXPR_DIV && op != EXPR_EXP && op != EXPR_COS && op != EXPR_SQRT);
        }
    }
}

static void guesses_are_fitted(void **state)
{
    arena *a = *state;
    const expr guess[] = { parsed("x0 + x1", NULL, a),
                           parsed("1.5*exp(-0.5*x0) + x1*x2", NULL, a) };
    const search_how how = {
        .evaluations = 100000, .threads = 1, .without = only_guess, .guess = guess, .guesses = 2
    };
    search_result r = searched("7.5*exp(-2.25*x0) + x1*x2", &how, a);
    const search_formula *f = &r.front[r.selected];
    assert_int_equal(f->stage, SEARCH_GUESS);
    assert_true(f->r2[1] > 1 - 1e-12);
    assert_null(r.note);
}

static void long_guesses_are_named(void **state)
{
    arena *a = *state;
    const expr guess[] = { parsed("x0", NULL, a),
                           parsed("x0*sin(x1) + x1*sin(x2) + x2*sin(x0)", NULL, a),
                           parsed("x0*cosh(x1)", NULL, a) };
    search_how how = { .evaluations = 100000,
                       .threads = 1,
                       .max_size = 7,
                       .without = only_guess,
                       .guess = guess,
                       .guesses = 2 };
    search_result r = searched("2*x0", &how, a);
    assert_non_null(r.note);
    assert_non_null(strstr(r.note, "guess 2"));
    assert_non_null(strstr(r.note, "7 nodes"));
    how.max_size = 30;
    how.guesses = 3;
    r = searched("2*x0", &how, a);
    assert_non_null(r.note);
    assert_non_null(strstr(r.note, "guess 3"));
    assert_null(strstr(r.note, "guess 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(outer_numbers_are_stripped),      ARENA_TEST(coefficients_are_least_squares),
        ARENA_TEST(inner_numbers_are_fitted),        ARENA_TEST(hashes_ignore_order_and_numbers),
        ARENA_TEST(a_wish_is_what_was_there),        ARENA_TEST(parts_answer_wishes),
        ARENA_TEST(products_of_powers_are_read_off), ARENA_TEST(evolve_finds_nested_formulas),
        ARENA_TEST(evolve_has_its_own_patience),     ARENA_TEST(threads_do_not_matter),
        ARENA_TEST(operators_and_size_hold),         ARENA_TEST(guesses_are_fitted),
        ARENA_TEST(long_guesses_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
