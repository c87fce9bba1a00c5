/* test_constants.c - constants found again, and what happens where they cannot be. */
#include "support.h"

#include <cminpack.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "expr/expr.h"
#include "expr/vec.h"
#include "regress/columns.h"
#include "regress/constants.h"
#include "regress/levenberg.h"

enum { ROWS = 200, COLUMNS = 3, STARTS = 6 };

typedef struct table {
    const double *x[COLUMNS];
    double y[ROWS];
} table;

/* The values of a formula at points of (low, high). */
static table *make_table(const char *truth, double low, double high, arena *a)
{
    table *t = arena_alloc(a, sizeof *t);
    rng r;
    rng_init(&r, 31, RNG_BENCH, 0);
    for (int j = 0; j < COLUMNS; j++) {
        double *x = arena_array(a, ROWS, sizeof *x);
        rng_fill_uniform(&r, x, ROWS);
        for (int i = 0; i < ROWS; i++)
            x[i] = low + (high - low) * x[i];
        t->x[j] = x;
    }
    assert_int_equal(expr_eval(parsed(truth, NULL, a), t->x, ROWS, t->y, a), ROWS);
    return t;
}

static expr fit(regress_fit *result, const char *start, const table *t, size_t rows, int starts,
                arena *a)
{
    expr out, e = parsed(start, NULL, a), again = parsed(start, NULL, a);
    snip_status st = { 0 };
    if (regress_fit_constants(&out, result, e, t->x, t->y, rows, starts, 7, a, &st) != SNIP_OK)
        fail_msg("%s: %s", start, st.msg);
    assert_true(expr_same(e, again)); /* the argument is left alone */
    if (result->loss > result->loss_before)
        fail_msg("%s: %g, worse than %g", start, result->loss, result->loss_before);
    return out;
}

/* The mean square error of e, +inf where it has none. */
static double error(expr e, const table *t, size_t rows, arena *a)
{
    double *y = arena_array(a, rows, sizeof *y), sum = 0;
    if (expr_eval(e, t->x, rows, y, a) < rows)
        return INFINITY;
    for (size_t i = 0; i < rows; i++)
        sum += (y[i] - t->y[i]) * (y[i] - t->y[i]);
    return sum / (double)rows;
}

/* The same formula with other constants. */
static const struct {
    const char *truth, *start;
    double low, high;
    double tolerance; /* of the constants; 0 where several choices give the same values */
} planted[] = {
    { "2.5*x0 - 1.25*x1 + 0.75", "1.0*x0 + 1.0*x1 + 1.0", -2, 2, 1e-9 },
    { "3.7e4*x0 + 2.2e-1*x1 + 4e3", "1*x0 + 1*x1 + 1", -2, 2, 1e-9 },
    { "1.5*x0^2 + 0.3*sin(x1) - 2.2*exp(x2)", "0*x0^2 + 0*sin(x1) - 0*exp(x2)", -2, 2, 1e-9 },
    { "4.2*exp(-1.3*x0) + 0.6", "1.0*exp(-1.0*x0) + 1.0", 0, 3, 1e-6 },
    { "1.7*sin(3.1*x0 + 0.4)", "1.0*sin(2.9*x0 + 0.1)", -2, 2, 1e-6 },
    { "5.5/(1.0 + exp(-2.4*(x0 - 0.7)))", "4.0/(1.0 + exp(-1.0*(x0 - 0.1)))", -2, 3, 0 },
    { "5.5/(1.8 + exp(-2.4*x0))", "4.0/(1.0 + exp(-1.0*x0))", -2, 3, 1e-6 },
    { "2.3*x0^1.7", "1.0*x0^1.1", 0.1, 5, 1e-6 },
    { "2.3*x0^(-0.6)*x1^2", "1.0*x0^(-0.2)*x1^2", 0.1, 5, 1e-6 },
    { "(x0 + 0.8)/(x1^2 + 1.9)", "(x0 + 0.1)/(x1^2 + 0.5)", -2, 2, 1e-6 },
    { "x0*tanh(0.9*x1) + log(x2 + 3.3)", "x0*tanh(0.3*x1) + log(x2 + 5.0)", -2, 2, 1e-6 },
    { "6.674e-11*x0*x1/x2^2", "1e-9*x0*x1/x2^2", 1, 5, 1e-9 },
    { "sqrt(x0^2 + 1.44)*cos(0.5*x1)", "sqrt(x0^2 + 3.0)*cos(0.8*x1)", -2, 2, 1e-6 },
};

static void planted_constants_are_found(void **state)
{
    arena *a = *state;
    for (size_t k = 0; k < COUNT(planted); k++) {
        table *t = make_table(planted[k].truth, planted[k].low, planted[k].high, a);
        expr truth = parsed(planted[k].truth, NULL, a);
        regress_fit r;
        expr got = fit(&r, planted[k].start, t, ROWS, STARTS, a);
        double size = 0;
        for (int i = 0; i < ROWS; i++)
            size += t->y[i] * t->y[i] / ROWS;
        if (!(r.loss <= 1e-18 * size))
            fail_msg("%s: loss %g", planted[k].truth, r.loss);
        for (size_t i = 0; i < got.count && planted[k].tolerance > 0; i++) {
            double want = truth.node[i].value;
            if (got.node[i].op == EXPR_NUMBER &&
                !(fabs(got.node[i].value - want) <= planted[k].tolerance * fabs(want)))
                fail_msg("%s: found %s", planted[k].truth, expr_print(got, SNIP_INFIX, NULL, 0, a));
        }
    }
}

static expr fit_at(regress_fit *result, const char *start, const table *t, regress_fit_pace pace,
                   int starts, arena *a)
{
    expr out;
    const regress_fit_how how = { .starts = starts, .seed = 7, .pace = pace };
    assert_int_equal(regress_fit_weighted(&out, result, parsed(start, NULL, a), NULL, t->x, t->y,
                                          ROWS, &how, a, NULL),
                     SNIP_OK);
    return out;
}

/* Where there is an exact solution, the quick and the rough fit end there as well. */
static void quick_fits_find_planted_constants(void **state)
{
    arena *a = *state;
    for (size_t k = 0; k < COUNT(planted); k++)
        for (int pace = REGRESS_FIT_QUICK; pace <= REGRESS_FIT_ROUGH; pace++) {
            table *t = make_table(planted[k].truth, planted[k].low, planted[k].high, a);
            regress_fit r;
            expr got = fit_at(&r, planted[k].start, t, (regress_fit_pace)pace, STARTS, a);
            double size = 0;
            for (int i = 0; i < ROWS; i++)
                size += t->y[i] * t->y[i] / ROWS;
            if (!(error(got, t, ROWS, a) <= 1e-12 * size))
                fail_msg("%s: loss %g at pace %d", planted[k].truth, r.loss, pace);
        }
}

/* Starts race on some of many rows; nothing of that is left in the fit to all of them. */
static void quick_fits_take_many_rows(void **state)
{
    enum { MANY = 3000 };
    arena *a = *state;
    double *x = arena_array(a, MANY, sizeof *x), *y = arena_array(a, MANY, sizeof *y);
    const double *columns[] = { x };
    assert_non_null(x);
    assert_non_null(y);
    for (int i = 0; i < MANY; i++) /* the last rows are of a wider range */
        x[i] = (i < MANY / 2 ? 1 : 3) * sin(1.7 * i);
    expr truth = parsed("1.7*sin(3.1*x0 + 0.4) + 0.2*exp(0.6*x0)", NULL, a);
    assert_int_equal(expr_eval(truth, columns, MANY, y, a), MANY);
    for (int pace = REGRESS_FIT_QUICK; pace <= REGRESS_FIT_ROUGH; pace++) {
        const regress_fit_how how = { .starts = STARTS, .seed = 7, .pace = (regress_fit_pace)pace };
        expr start = parsed("1.0*sin(2.9*x0 + 0.1) + 0.5*exp(0.3*x0)", NULL, a), out;
        regress_fit r;
        assert_int_equal(
            regress_fit_weighted(&out, &r, start, NULL, columns, y, MANY, &how, a, NULL), SNIP_OK);
        for (size_t i = 0; i < out.count; i++)
            if (out.node[i].op == EXPR_NUMBER)
                assert_true(fabs(out.node[i].value - truth.node[i].value) < 1e-4);
        assert_true(r.loss < 1e-8);
    }
}

/* A hopeless formula with many constants: the more costly an evaluation, the fewer are made. */
static void quick_fits_are_bounded(void **state)
{
    arena *a = *state;
    const char *hopeless = "1.5*x0*sqrt(x0 + 0.1)*exp(-0.3*cos(x1*x1)) + 1.2*cos(x1*x0 + 0.1)/(1.0 "
                           "+ 0.2*x0^2) + 0.3*sin(3.1*x1) + log(x0 + 1.1)*0.1 + tan(0.2*x2)";
    table *t = make_table("abs(sin(30*x0))*x1", 0, 3, a);
    regress_fit quick, thorough;
    fit_at(&quick, hopeless, t, REGRESS_FIT_QUICK, STARTS, a);
    fit_at(&thorough, hopeless, t, REGRESS_FIT_THOROUGH, STARTS, a);
    size_t nodes = parsed(hopeless, NULL, a).count;
    assert_true((double)quick.evaluations * (double)(ROWS * nodes) < 2e7);
    assert_true(quick.evaluations < thorough.evaluations / 2);
    assert_true(quick.loss < 1.2 * thorough.loss);
}

/* A second start has the signs turned; one is enough where all constants act linearly. */
static void few_starts_are_enough(void **state)
{
    arena *a = *state;
    table *t = make_table("3.0*exp(-0.3*x0) + 1.5", 0, 5, a);
    regress_fit r, once;
    fit(&r, "1.0*exp(1.0*x0) + 1.0", t, ROWS, 1, a);
    assert_true(r.loss > 1e-3);
    fit(&r, "1.0*exp(1.0*x0) + 1.0", t, ROWS, 2, a);
    assert_true(r.loss < 1e-20);
    fit(&once, "1.0*x0 - (2.0 + x1*0.5)/x1", t, ROWS, 1, a);
    fit(&r, "1.0*x0 - (2.0 + x1*0.5)/x1", t, ROWS, 9, a);
    assert_int_equal(r.evaluations, once.evaluations);
    fit(&r, "1.0*x0 - (2.0 + x1*0.5)/(x1 + 0.1)", t, ROWS, 9, a); /* one of them does not */
    assert_true(r.evaluations > once.evaluations);
}

static void the_loss_is_the_mean_square(void **state)
{
    arena *a = *state;
    table *t = make_table("2.5*x0 + x1^2", -2, 2, a);
    regress_fit r;
    expr start = parsed("1.5*x0 + 0.5", NULL, a), got = fit(&r, "1.5*x0 + 0.5", t, ROWS, 1, a);
    assert_int_equal(r.constants, 2);
    assert_true(r.evaluations > 2);
    assert_true(fabs(r.loss_before - error(start, t, ROWS, a)) <= 1e-12 * r.loss_before);
    assert_true(fabs(r.loss - error(got, t, ROWS, a)) <= 1e-12 * r.loss);
}

/* Least squares: the truth cannot be better than the best. */
static void noise_does_not_make_it_worse_than_the_truth(void **state)
{
    arena *a = *state;
    for (size_t k = 0; k < COUNT(planted); k++) {
        table *t = make_table(planted[k].truth, planted[k].low, planted[k].high, a);
        double noise[ROWS], size = 0;
        rng r;
        rng_init(&r, 32, RNG_BENCH, k);
        rng_fill_uniform(&r, noise, ROWS);
        expr_vec_best()->gauss(noise, ROWS / 2);
        for (int i = 0; i < ROWS; i++)
            size = fmax(size, fabs(t->y[i]));
        for (int i = 0; i < ROWS; i++)
            t->y[i] += 0.02 * size * noise[i];
        regress_fit f;
        fit(&f, planted[k].start, t, ROWS, STARTS, a);
        double truth = error(parsed(planted[k].truth, NULL, a), t, ROWS, a);
        if (!(f.loss <= truth * (1 + 1e-12)))
            fail_msg("%s: %g, the truth has %g", planted[k].truth, f.loss, truth);
    }
}

static void formulas_without_constants_are_evaluated(void **state)
{
    arena *a = *state;
    table *t = make_table("2.5*x0", -2, 2, a);
    regress_fit r;
    expr got = fit(&r, "x0 + pi*x1^2", t, ROWS, STARTS, a);
    assert_true(expr_same(got, parsed("x0 + pi*x1^2", NULL, a)));
    assert_int_equal(r.constants, 0);
    assert_int_equal(r.evaluations, 1);
    assert_true(r.loss == r.loss_before && r.loss > 0);
    got = fit(&r, "1.5*x0", t, 0, STARTS, a); /* no rows: nothing to fit to */
    assert_true(expr_same(got, parsed("1.5*x0", NULL, a)) && r.loss == 0);
}

static void more_constants_than_rows_fit_exactly(void **state)
{
    arena *a = *state;
    table *t = make_table("2.5*x0 + sin(x1)", -2, 2, a);
    for (size_t rows = 1; rows < 5; rows++) {
        regress_fit r;
        expr got = fit(&r, "1.5*x0 + 0.5*sin(1.5*x1 + 0.5) + 0.1", t, rows, 2, a);
        assert_int_equal(r.constants, 5);
        assert_true(r.loss < 1e-20 && error(got, t, rows, a) < 1e-20);
    }
}

static void starts_that_are_not_finite_are_left(void **state)
{
    arena *a = *state;
    table *t = make_table("2.5*log(x0 + 4.5)", -2, 2, a);
    regress_fit r;
    /* log of negative numbers as given: nothing can be done from here alone, */
    expr got = fit(&r, "2.0*log(x0 + 0.7)", t, ROWS, 1, a);
    assert_true(expr_same(got, parsed("2.0*log(x0 + 0.7)", NULL, a)));
    assert_true(r.loss == INFINITY && r.loss_before == INFINITY);
    /* but other starts may be better off. */
    got = fit(&r, "2.0*log(x0 + 0.7)", t, ROWS, 30, a);
    assert_true(r.loss < 1e-18 && r.loss_before == INFINITY);
    assert_true(fabs(got.node[got.count - 1].value - 4.5) < 1e-6);
    /* The first steps from here leave the domain; they are taken back. */
    fit(&r, "0.1*log(x0 + 2.05)", t, ROWS, 1, a);
    assert_true(r.loss < 1e-18);
    /* No constants make this finite. */
    got = fit(&r, "1.5*log(-1.5 - x0^2)", t, ROWS, 3, a);
    assert_true(r.loss == INFINITY || error(got, t, ROWS, a) == r.loss);
}

/* Awkward formulas and starts: whatever comes out is finite and no worse (see fit). */
static void results_are_never_worse(void **state)
{
    static const char *const starts[] = {
        "1e200*x0",
        "exp(300.0*x0)",
        "x0^0.5 + 1.5",
        "tan(9.5*x0)*1.1",
        "1.1/(x0 - 0.3)",
        "sign(x0 - 0.1)*2.2",
        "floor(1.3*x0)",
        "0.0*x0",
        "exp(exp(1.5*x0))",
        "1e-300/(x0*1e-20)",
        "arcsin(0.7*x0)*1.5",
        "1.5*2.5*3.5*x0 + 1.5 - 2.5",
        "abs(x0)^2.5*1e308",
        "max(0.5*x0, 1.5*x1)",
        "log(abs(x0))*0.1 + sqrt(2.5 - x1)",
        "sin(1e9*x0)",
        "(1.5*x0)^(2.5*x1 - 10)",
        "5.0",
    };
    arena *a = *state;
    table *t = make_table("1.5*x0^2 + sin(3*x1) - 0.7", -1.7, 1.7, a);
    for (size_t k = 0; k < COUNT(starts); k++)
        for (int n = 1; n <= 5; n += 4) {
            regress_fit r;
            expr got = fit(&r, starts[k], t, ROWS, n, a);
            double now = error(got, t, ROWS, a);
            if (r.loss < INFINITY && !(fabs(now - r.loss) <= 1e-9 * r.loss))
                fail_msg("%s: loss %g said, %g found", starts[k], r.loss, now);
        }
}

static void huge_and_constant_columns_are_fitted(void **state)
{
    arena *a = *state;
    regress_fit r;
    table *t = make_table("1e200*x0 + 3e200", -2, 2, a);
    expr got = fit(&r, "1.0*x0 + 1.0", t, ROWS, 1, a);
    assert_true(fabs(got.node[2].value - 1e200) < 1e191); /* add mul c x0 c */
    assert_true(fabs(got.node[4].value - 3e200) < 1e191);
    /* Factors whose squares are too large for a double are no reason to give up. */
    t = make_table("3*x0 + 1", -2, 2, a);
    fit(&r, "1e200*x0 + 1e180", t, ROWS, 1, a);
    assert_true(r.loss < 1e-18 && r.loss_before == INFINITY);
    for (int i = 0; i < ROWS; i++)
        t->y[i] = 42;
    got = fit(&r, "1.0 + 0.5*x0", t, ROWS, 1, a);
    assert_true(fabs(got.node[1].value - 42) < 1e-9 && fabs(got.node[3].value) < 1e-9);
    t->y[5] = NAN;
    got = fit(&r, "1.0 + 0.5*x0", t, ROWS, 3, a);
    assert_true(r.loss == INFINITY && expr_same(got, parsed("1.0 + 0.5*x0", NULL, a)));
}

/* An integer that was fitted is a float; what did not vary stays as written. */
static void fitted_integers_become_floats(void **state)
{
    arena *a = *state;
    table *t = make_table("2.5*x0^2 + 3.5", -2, 2, a);
    regress_fit r;
    expr got = fit(&r, "add,mul,2,pow,x_0,2,3", t, ROWS, 1, a);
    assert_int_equal(r.constants, 2);
    assert_int_equal(got.node[2].integer, 0);
    assert_int_equal(got.node[5].integer, 1);
    assert_int_equal(got.node[6].integer, 0);
}

/* a - -2.5*b reads as a + 2.5*b; a sign that was given and did not change stays. */
static void negative_terms_are_subtracted(void **state)
{
    static const struct {
        const char *truth, *start, *shape;
    } cases[] = {
        { "x0 - 2.5", "x0 + 1.0", "sub,x_0,2.5" },
        { "x0 + 2.5*x1", "x0 - 1.0*x1", "add,x_0,mul,2.5,x_1" },
        { "x0*0.5 - 1.5*x1/(x2 + 3.0)", "x0*0.1 + 0.3*x1/(x2 + 3.0)",
          "sub,mul,x_0,0.5,div,mul,1.5,x_1,add,x_2,3.0" },
        { "x0 + 2.5*x1", "x0 - -2.5*x1", "sub,x_0,mul,-2.5,x_1" },
    };
    arena *a = *state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        table *t = make_table(cases[k].truth, 1, 2, a);
        regress_fit r;
        expr got = fit(&r, cases[k].start, t, ROWS, STARTS, a),
             want = parsed(cases[k].shape, NULL, a);
        assert_int_equal(got.count, want.count);
        for (size_t i = 0; i < got.count; i++) {
            assert_int_equal(got.node[i].op, want.node[i].op);
            assert_true(fabs(got.node[i].value - want.node[i].value) < 1e-6);
        }
        double *y = arena_array(a, ROWS, sizeof *y);
        assert_int_equal(expr_eval(got, t->x, ROWS, y, a), ROWS);
        for (int i = 0; i < ROWS; i++)
            assert_true(fabs(y[i] - t->y[i]) < 1e-9);
    }
}

static void two_calls_give_the_same_bits(void **state)
{
    arena *a = *state;
    for (size_t k = 0; k < COUNT(planted); k++) {
        table *t = make_table(planted[k].truth, planted[k].low, planted[k].high, a);
        t->y[0] += 1; /* no perfect fit, so that all starts are tried */
        regress_fit r, s;
        expr p = fit(&r, planted[k].start, t, ROWS, 4, a);
        expr q = fit(&s, planted[k].start, t, ROWS, 4, a);
        assert_true(expr_same(p, q));
        assert_true(r.loss == s.loss && r.evaluations == s.evaluations);
    }
}

static void what_is_too_large_is_refused(void **state)
{
    arena *a = *state;
    table *t = make_table("x0", -2, 2, a);
    snip_status st = { 0 };
    regress_fit r;
    expr out, e = parsed("1.5*x0 + 2.5", NULL, a);
    /* The table is not looked into that far. */
    double *long_column = arena_zero(a, 8000001 * sizeof *long_column);
    const double *x[] = { long_column };
    assert_int_equal(regress_fit_constants(&out, &r, e, x, long_column, 8000001, 1, 0, a, &st),
                     SNIP_UNSUPPORTED);
    assert_null(out.node);
    assert_non_null(strstr(st.msg, "too many"));
    char *text = arena_alloc(a, 20000);
    size_t length = (size_t)sprintf(text, "x0");
    for (int i = 0; i <= REGRESS_FIT_CONSTANTS_MAX; i++)
        length += (size_t)sprintf(text + length, "+1.5*x0");
    e = parsed(text, NULL, a);
    assert_int_equal(regress_fit_constants(&out, &r, e, t->x, t->y, ROWS, 1, 0, a, &st),
                     SNIP_UNSUPPORTED);
    assert_int_equal(regress_fit_constants(&out, &r, e, t->x, t->y, ROWS, 1, 0, a, NULL),
                     SNIP_UNSUPPORTED);
}

/* The numbers of e as constants: those with the same value are one. */
static regress_fit_free shared(expr e, arena *a)
{
    size_t *node = arena_array(a, e.count, sizeof *node), used = 0, count = 0;
    size_t *first = arena_array(a, e.count + 1, sizeof *first);
    char *taken = arena_zero(a, e.count);
    for (size_t i = 0; i < e.count; i++) {
        if (e.node[i].op != EXPR_NUMBER || taken[i])
            continue;
        first[count++] = used;
        for (size_t k = i; k < e.count; k++)
            if (e.node[k].op == EXPR_NUMBER && e.node[k].value == e.node[i].value) {
                node[used++] = k;
                taken[k] = 1;
            }
    }
    first[count] = used;
    return (regress_fit_free){ .node = node, .first = first, .count = count };
}

static expr fit_values(regress_fit *r, const char *start, const regress_fit_free *bounds,
                       const double *weight, const table *t, int starts, arena *a)
{
    expr out, e = parsed(start, NULL, a);
    regress_fit_free f = shared(e, a);
    if (bounds) {
        f.low = bounds->low;
        f.high = bounds->high;
        f.spread = bounds->spread;
    }
    snip_status st = { 0 };
    if (regress_fit_values(&out, r, e, &f, weight, t->x, t->y, ROWS, starts, 7, a, &st) != SNIP_OK)
        fail_msg("%s: %s", start, st.msg);
    return out;
}

static void a_constant_at_two_places_is_one(void **state)
{
    arena *a = *state;
    table *t = make_table("2.5*exp(-0.7*x0) + 2.5*x1 + sin(0.7*x2)", -2, 2, a);
    regress_fit r;
    expr got = fit_values(&r, "1.5*exp(-0.4*x0) + 1.5*x1 + sin(0.4*x2)", NULL, NULL, t, 1, a);
    expr want = parsed("2.5*exp(-0.7*x0) + 2.5*x1 + sin(0.7*x2)", NULL, a);
    assert_int_equal(r.constants, 3); /* -0.4 is another number than 0.4 */
    assert_true(r.loss < 1e-25 && r.starts == 1 && r.reached == 1 && r.from == 0);
    for (size_t i = 0; i < got.count; i++)
        assert_true(fabs(got.node[i].value - want.node[i].value) < 1e-9);
    /* Where every one of its numbers acts linearly, so does the constant: one start is enough. */
    fit_values(&r, "1.5*x0 + 1.5*x1 + 0.5", NULL, NULL, t, 9, a);
    assert_int_equal(r.starts, 1);
    fit_values(&r, "1.5*x0 + 0.5*sin(1.5*x1)", NULL, NULL, t, 9, a);
    assert_int_equal(r.starts, 9);
}

/* The best of a line y = c*x + d with c <= 2 is at c = 2, with d the mean of what is left. */
static void bounds_hold_and_the_others_are_best(void **state)
{
    arena *a = *state;
    table *t = make_table("2.5*x0 + 0.75", -1, 3, a);
    const double low[] = { -INFINITY, -INFINITY }, high[] = { 2, INFINITY };
    const regress_fit_free bounds = { .low = low, .high = high };
    regress_fit r;
    expr got = fit_values(&r, "1.0*x0 + 0.5", &bounds, NULL, t, 4, a);
    double mean = 0;
    for (int i = 0; i < ROWS; i++)
        mean += (t->y[i] - 2 * t->x[0][i]) / ROWS;
    assert_true(got.node[2].value == 2);
    assert_true(fabs(got.node[4].value - mean) < 1e-9);
    /* Bounds that do not bind change nothing, wherever the start lies. */
    t = make_table("4.2*exp(-1.3*x0) + 0.6", 0, 3, a);
    const double wide_low[] = { 0, -5, 0 }, wide_high[] = { 10, 0, INFINITY };
    const regress_fit_free wide = { .low = wide_low, .high = wide_high };
    static const char *const starts[] = { "1.0*exp(-0.5*x0) + 2.0", "0.0*exp(-5.0*x0) + 3.0",
                                          "10.0*exp(-4.0*x0) + 0.1" };
    for (size_t k = 0; k < COUNT(starts); k++) {
        got = fit_values(&r, starts[k], &wide, NULL, t, 4, a);
        if (!(r.loss < 1e-20 && fabs(got.node[5].value + 1.3) < 1e-9))
            fail_msg("%s: %g, %s", starts[k], r.loss, expr_print(got, SNIP_INFIX, NULL, 0, a));
    }
    /* With the rate held above its best, it ends there, and the others are the linear best. */
    const double tight_low[] = { 0, -1, 0 }, tight_high[] = { 10, 0, INFINITY };
    const regress_fit_free tight = { .low = tight_low, .high = tight_high };
    regress_fit linear;
    fit(&linear, "1.0*exp(-x0) + 1.0", t, ROWS, 1, a);
    got = fit_values(&r, "1.0*exp(-0.5*x0) + 2.0", &tight, NULL, t, 4, a);
    if (got.node[5].value != -1)
        fail_msg("%g: %s, linear %g", r.loss, expr_print(got, SNIP_INFIX, NULL, 0, a), linear.loss);
    assert_true(fabs(r.loss - linear.loss) <= 1e-9 * linear.loss);
    /* Two that stop each other: a + c*x with both held below. */
    t = make_table("3.0*x0 + 2.0", 1, 3, a);
    const double both_high[] = { 1, 1 };
    const regress_fit_free both = { .low = low, .high = both_high };
    got = fit_values(&r, "0.5*x0 + 0.25", &both, NULL, t, 4, a);
    assert_true(got.node[2].value == 1 && got.node[4].value == 1);
}

/* Rows of weight 0 do not count, and weights are those of the squares. */
static void weights_are_those_of_the_rows(void **state)
{
    arena *a = *state;
    table *t = make_table("2.5*x0 + 0.75", -1, 3, a);
    double weight[ROWS], sum = 0, mean = 0;
    for (int i = 0; i < ROWS; i++) {
        weight[i] = i % 3;
        t->y[i] = i % 3 == 0 ? 1e6 : t->y[i];
    }
    regress_fit r;
    expr got = fit_values(&r, "1.0*x0 + 0.5", NULL, weight, t, 1, a);
    assert_true(fabs(got.node[2].value - 2.5) < 1e-9 && fabs(got.node[4].value - 0.75) < 1e-9);
    for (int i = 0; i < ROWS; i++) { /* the best constant is the weighted mean */
        weight[i] = 1 + i % 7;
        t->y[i] = sin(i);
        sum += weight[i];
        mean += weight[i] * t->y[i];
    }
    got = fit_values(&r, "0.5", NULL, weight, t, 1, a);
    assert_true(fabs(got.node[0].value - mean / sum) < 1e-12);
    double loss = 0;
    for (int i = 0; i < ROWS; i++)
        loss += weight[i] * pow(t->y[i] - mean / sum, 2) / ROWS;
    assert_true(fabs(r.loss - loss) <= 1e-12 * loss);
}

/* Constants that were given for minutes, of a table in milliseconds and the other way round; and
 * the base of a power stays positive, although only even powers are measured. */
static void constants_of_other_units_are_found(void **state)
{
    static const struct {
        const char *truth, *given;
        double high;
    } cases[] = {
        { "70 + 100*exp(-5e-5*x0)", "70.5 + 100.5*exp(-0.05*x0)", 6e4 },
        { "70 + 100*exp(-50*x0)", "70.5 + 100.5*exp(-0.05*x0)", 0.06 },
        { "3*tanh(2e-6*x0) + 1", "2.5*tanh(0.3*x0) + 1.5", 1e6 },
        { "2*sin(3e-4*x0 + 0.5)", "2.5*sin(0.3*x0 + 0.4)", 1e4 },
        { "5*x0/(4e7 + x0)", "5.5*x0/(0.4 + x0)", 1e8 },
    };
    arena *a = *state;
    const regress_fit_how how = { .starts = 4, .seed = 7, .wide = 1 };
    for (size_t i = 0; i < COUNT(cases); i++) {
        table *t = make_table(cases[i].truth, 0, cases[i].high, a);
        expr out, e = parsed(cases[i].given, NULL, a);
        regress_fit r;
        assert_int_equal(regress_fit_weighted(&out, &r, e, NULL, t->x, t->y, ROWS, &how, a, NULL),
                         SNIP_OK);
        if (!(r.loss < 1e-12))
            fail_msg("%s on %s: %g", cases[i].given, cases[i].truth, r.loss);
    }
    double x[16], y[16];
    for (int i = 0; i < 16; i++) {
        x[i] = 2 * i;
        y[i] = 70 + 100 * pow(0.93, x[i]);
    }
    for (uint64_t seed = 0; seed < 10; seed++) {
        const regress_fit_how even = { .starts = 4, .seed = seed, .wide = 1 };
        expr out, e = parsed("60.5 + 90.5*0.95^x0", NULL, a);
        regress_fit r;
        assert_int_equal(
            regress_fit_weighted(&out, &r, e, NULL, (const double *[]){ x }, y, 16, &even, a, NULL),
            SNIP_OK);
        assert_true(r.loss < 1e-9);
        for (size_t i = 0; i < out.count; i++)
            assert_true(out.node[i].op != EXPR_NUMBER || out.node[i].value > 0);
    }
}

static void memory_limits_are_failures_not_crashes(void **state)
{
    table *t = make_table("2.5*x0 + sin(1.5*x1)", -2, 2, *state);
    expr out, e = parsed("1.5*x0 + sin(1.2*x1)", NULL, *state);
    int failed = 0, worked = 0;
    for (size_t limit = 64; limit < 100000; limit += 512) {
        arena *a = arena_new(limit);
        regress_fit r;
        snip_status st = { 0 };
        snip_code code = regress_fit_constants(&out, &r, e, t->x, t->y, ROWS, 2, 0, a, &st);
        assert_true(code == SNIP_OK || (code == SNIP_NOMEM && !out.node && arena_mark(a) == 0));
        const double low[] = { 0, 0 }, high[] = { 9, 9 };
        regress_fit_free f = shared(e, *state);
        f.low = low;
        f.high = high;
        arena_reset(a, 0);
        code = regress_fit_values(&out, &r, e, &f, NULL, t->x, t->y, ROWS, 2, 0, a, &st);
        assert_true(code == SNIP_OK || (code == SNIP_NOMEM && !out.node && arena_mark(a) == 0));
        failed += code == SNIP_NOMEM;
        worked += code == SNIP_OK;
        arena_free(a);
    }
    assert_true(failed > 0 && worked > 0);
}

/* Residuals p0*exp(p1*t) + p2*exp(p3*t) + ... - y, with columns of very different lengths, two of
 * which may be the same. */
typedef struct decays {
    double y[64], unit;
    int same, calls;
} decays;

static int decays_at(void *context, int m, int n, const double *p, double *r, double *d, int stride,
                     int flag)
{
    decays *q = context;
    q->calls++;
    for (int i = 0; i < m; i++) {
        double t = (double)i / m, sum = -q->y[i];
        for (int j = 0; j + 1 < n; j += 2)
            sum += p[j] * exp(-fabs(p[j + 1]) * t);
        sum += n % 2 ? p[n - 1] * q->unit : 0;
        if (flag == 1)
            r[i] = sum;
        for (int j = 0; j < n && flag == 2; j++) {
            double e = exp(-fabs(p[j - j % 2 + (j + 1 < n || j % 2)]) * t);
            d[i + j * stride] = j == n - 1 && n % 2 ? q->unit
                                : j % 2             ? -p[j - 1] * t * e * (p[j] < 0 ? -1 : 1)
                                                    : e;
            if (q->same && j == 2)
                d[i + j * stride] = d[i];
        }
    }
    return 0;
}

/* The same steps as MINPACK's lmder takes, to the last bit. */
static void the_descent_is_minpacks(void **state)
{
    enum { M = 64, MOST = 9 };
    static const double units[] = { 1, 1e-30, 1e25, 0 };
    arena *a = *state;
    for (int n = 1; n <= MOST; n++)
        for (size_t u = 0; u < COUNT(units); u++)
            for (int k = 0; k < 4; k++) {
                decays q = { .unit = units[u], .same = k % 2 && n > 3 }, p;
                double one[MOST], two[MOST], r[M], jac[M * MOST], diag[MOST], qtf[MOST], w[3][MOST];
                double wide[M], factor = k < 2 ? 100 : 1e250;
                int pivot[MOST], evaluations, slopes, most = k == 3 ? 7 : 500;
                for (int i = 0; i < M; i++)
                    q.y[i] = 3 * exp(-2.5 * i / M) + cos(i * 7.0) / 50;
                p = q;
                for (int j = 0; j < n; j++)
                    one[j] = two[j] = 1 + 0.37 * j;
                lmder(decays_at, &q, M, n, one, r, jac, M, 1e-15, 1e-15, 0, most, diag, 1, factor,
                      0, &evaluations, &slopes, pivot, qtf, w[0], w[1], w[2], wide);
                const regress_descent d = { decays_at, &p, M, n, 1e-15, most, factor };
                arena_pos mark = arena_mark(a);
                assert_true(regress_descend(&d, two, a));
                assert_true(arena_mark(a) == mark);
                assert_int_equal(q.calls, p.calls);
                assert_memory_equal(one, two, (size_t)n * sizeof *one);
            }
}

/* Lengths are MINPACK's enorm to the bit, for numbers of any size, and every instruction set
 * reflects alike. */
static void columns_are_measured_and_reflected_alike(void **state)
{
    enum { N = 53, COUNT = 6 };
    static const double sizes[] = { 1, 1e-15, 1e-25, 0, 1e15, 1e200 };
    double want[COUNT + 1][N], got[COUNT + 1][N];
    (void)state;
    for (int which = 0; which < ISA_COUNT; which++) {
        if (!isa_has((isa)which))
            continue;
        double *column[COUNT], length[COUNT];
        rng r;
        rng_init(&r, 22, RNG_BENCH, 0);
        for (int c = 0; c <= COUNT; c++)
            for (int i = 0; i < N; i++)
                got[c][i] = (c < COUNT ? sizes[c] : 1) * (rng_uniform(&r) - 0.5);
        for (int c = 0; c < COUNT; c++)
            column[c] = got[c];
        const regress_columns *loops = regress_columns_for((isa)which);
        loops->lengths(length, column, COUNT, N);
        for (int c = 0; c < COUNT; c++)
            assert_true(length[c] == enorm(N, got[c]));
        double *v = got[COUNT], size = enorm(N, v);
        loops->reflect(column, COUNT, v, v[0] < 0 ? -size : size, N);
        if (which == ISA_GENERIC)
            memcpy(want, got, sizeof want);
        assert_memory_equal(got, want, sizeof want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(planted_constants_are_found),
        ARENA_TEST(quick_fits_find_planted_constants),
        ARENA_TEST(quick_fits_take_many_rows),
        ARENA_TEST(quick_fits_are_bounded),
        ARENA_TEST(few_starts_are_enough),
        ARENA_TEST(the_loss_is_the_mean_square),
        ARENA_TEST(noise_does_not_make_it_worse_than_the_truth),
        ARENA_TEST(formulas_without_constants_are_evaluated),
        ARENA_TEST(more_constants_than_rows_fit_exactly),
        ARENA_TEST(starts_that_are_not_finite_are_left),
        ARENA_TEST(results_are_never_worse),
        ARENA_TEST(huge_and_constant_columns_are_fitted),
        ARENA_TEST(fitted_integers_become_floats),
        ARENA_TEST(negative_terms_are_subtracted),
        ARENA_TEST(two_calls_give_the_same_bits),
        ARENA_TEST(what_is_too_large_is_refused),
        ARENA_TEST(a_constant_at_two_places_is_one),
        ARENA_TEST(bounds_hold_and_the_others_are_best),
        ARENA_TEST(weights_are_those_of_the_rows),
        ARENA_TEST(the_descent_is_minpacks),
        ARENA_TEST(columns_are_measured_and_reflected_alike),
        ARENA_TEST(constants_of_other_units_are_found),
        ARENA_TEST(memory_limits_are_failures_not_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
