/* test_gradient.c - derivatives by constants, against central differences of the values. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "expr/expr.h"
#include "expr/slopes.h"

enum { ROWS = 600 }; /* more than two blocks, and not a multiple of one */

/* Columns that lie in (low, high). */
static const double **draw(double low, double high, arena *a)
{
    const double **x = arena_array(a, 2, sizeof *x);
    rng r;
    rng_init(&r, 21, RNG_BENCH, 0);
    for (int j = 0; j < 2; j++) {
        double *column = arena_array(a, ROWS, sizeof *column);
        rng_fill_uniform(&r, column, ROWS);
        for (int i = 0; i < ROWS; i++)
            column[i] = low + (high - low) * column[i];
        x[j] = column;
    }
    return x;
}

/* The values of e with the number at `node` moved by `by`. */
static double *moved(expr e, size_t node, double by, const double *const *x, arena *a)
{
    double *y = arena_array(a, ROWS, sizeof *y), value = e.node[node].value;
    e.node[node].value += by;
    expr_eval(e, x, ROWS, y, a);
    e.node[node].value = value;
    return y;
}

/* Two central differences, extrapolated: the error is of the fourth order. */
static double *differences(expr e, size_t node, const double *const *x, arena *a)
{
    double h = 1e-3 * fmax(0.1, fabs(e.node[node].value));
    double *p = moved(e, node, h, x, a), *q = moved(e, node, -h, x, a);
    double *u = moved(e, node, 2 * h, x, a), *v = moved(e, node, -2 * h, x, a);
    for (int i = 0; i < ROWS; i++)
        p[i] = (8 * (p[i] - q[i]) - (u[i] - v[i])) / (12 * h);
    return p;
}

static void check(const char *text, double low, double high, size_t constants, arena *a)
{
    expr e = parsed(text, NULL, a);
    const double **x = draw(low, high, a);
    size_t *node = arena_array(a, e.count, sizeof *node), n = expr_constants(e, node);
    if (n != constants)
        fail_msg("%s: %zu constants, expected %zu", text, n, constants);
    double *y = arena_array(a, ROWS, sizeof *y), *want = arena_array(a, ROWS, sizeof *want);
    double *dy = arena_array(a, n * ROWS, sizeof *dy);
    arena_pos mark = arena_mark(a);
    assert_int_equal(expr_gradient(e, x, ROWS, node, n, y, dy, a), 1);
    assert_int_equal(arena_mark(a), mark);
    assert_int_equal(expr_eval(e, x, ROWS, want, a), ROWS);
    assert_memory_equal(y, want, ROWS * sizeof *y);
    for (size_t j = 0; j < n; j++) {
        const double *d = differences(e, node[j], x, a);
        double size = 1;
        for (int i = 0; i < ROWS; i++)
            size = fmax(size, fabs(d[i]));
        for (int i = 0; i < ROWS; i++)
            if (!(fabs(dy[j * ROWS + i] - d[i]) <= 1e-7 * size))
                fail_msg("%s by constant %zu at row %d: %.15g, expected %.15g", text, j, i,
                         dy[j * ROWS + i], d[i]);
    }
}

/* Each operator with a constant on every side; the ranges keep clear of kinks and poles. */
static const struct {
    const char *text;
    double low, high;
    size_t constants;
} operators[] = {
    { "x0 + 1.5", -2, 2, 1 },
    { "1.5 - x0", -2, 2, 1 },
    { "x0 - 1.5", -2, 2, 1 },
    { "2.5*x0", -2, 2, 1 },
    { "x0*2.5", -2, 2, 1 },
    { "2.5/x0", 0.5, 2, 1 },
    { "x0/2.5", -2, 2, 1 },
    { "x0^1.7", 0.1, 2, 1 },
    { "(x0 + 0.5)^1.7", 0, 2, 2 },
    { "1.7^x0", -2, 2, 1 },
    { "(x0 - 3.5)^3.0", -2, 2, 1 }, /* a negative base */
    { "abs(x0 - 1.5)", -1, 1, 1 },
    { "abs(x0 + 1.5)", -1, 1, 1 },
    { "inv(x0 + 1.5)", -0.5, 1, 1 },
    { "sqrt(x0 + 1.5)", -0.5, 1, 1 },
    { "log(x0 + 1.5)", -0.5, 1, 1 },
    { "exp(0.7*x0)", -3, 3, 1 },
    { "sin(1.7*x0)", -3, 3, 1 },
    { "arcsin(0.4*x0)", -2, 2, 1 },
    { "cos(1.7*x0)", -3, 3, 1 },
    { "arccos(0.4*x0)", -2, 2, 1 },
    { "tan(0.4*x0)", -2, 2, 1 },
    { "arctan(1.7*x0)", -3, 3, 1 },
    { "(1.7*x0)^2", -3, 3, 1 },
    { "(1.7*x0)^3", -3, 3, 1 },
    { "-(1.7*x0)", -3, 3, 1 },
    { "sinh(0.7*x0)", -3, 3, 1 },
    { "cosh(0.7*x0)", -3, 3, 1 },
    { "tanh(0.7*x0)", -3, 3, 1 },
    { "arcsinh(1.7*x0)", -3, 3, 1 },
    { "arccosh(1.7 + x0)", 0, 3, 1 },
    { "arctanh(0.4*x0)", -2, 2, 1 },
    { "log2(x0 + 1.5)", -0.5, 1, 1 },
    { "log10(x0 + 1.5)", -0.5, 1, 1 },
    { "log1p(0.4*x0)", -1, 3, 1 },
    { "expm1(0.7*x0)", -3, 3, 1 },
    { "exp2(0.7*x0)", -3, 3, 1 },
    { "cbrt(x0 + 1.5)", -0.5, 1, 1 },
    { "cbrt(x0 - 1.5)", -1, 0.5, 1 },
    { "sign(x0 - 2.5)*x0", -2, 2, 1 },
    { "erf(0.7*x0)", -3, 3, 1 },
    { "atan2(1.7*x0, x0 - 9.5)", 0.1, 3, 2 },
    { "atan2(x0 - 9.5, 1.7*x0)", -3, 3, 2 },
    { "floor(x0*0.01 + 2.5)", -2, 2, 2 },
    { "ceil(x0*0.01 + 2.5)", -2, 2, 2 },
    { "min(x0 - 9.5, 0.5*x0)", -2, 2, 2 },
    { "min(0.5*x0, x0 - 9.5)", -2, 2, 2 },
    { "max(x0 - 9.5, 0.5*x0)", -2, 2, 2 },
    { "max(0.5*x0, x0 - 9.5)", -2, 2, 2 },
};

static void every_operator_has_its_derivative(void **state)
{
    arena *a = *state;
    char seen[EXPR_OP_COUNT] = { 0 };
    for (size_t i = 0; i < COUNT(operators); i++) {
        check(operators[i].text, operators[i].low, operators[i].high, operators[i].constants, a);
        expr e = parsed(operators[i].text, NULL, a);
        for (size_t k = 0; k < e.count; k++)
            seen[e.node[k].op] = 1;
    }
    for (int op = EXPR_ADD; op < EXPR_OP_COUNT; op++)
        if (!seen[op])
            fail_msg("%s is not tested", expr_ops[op].name);
}

static void nested_formulas_have_theirs(void **state)
{
    static const struct {
        const char *text;
        size_t constants;
    } cases[] = {
        { "2.5", 1 },
        { "2*2*2*x0", 3 }, /* the same number three times is three constants */
        { "1.5*sin(2.5*x0 + 0.3)*exp(-0.4*x1) + 0.7", 5 },
        { "3.1/(1 + exp(-2.2*(x0 - 0.4)))", 4 }, /* 1 is a constant like any other */
        { "(0.3 + 1.2*x0)/(1.1 + 0.8*x1^2) - log(x0*0.9)^2", 5 },
        { "sqrt(x0^2 + 0.5)^1.3*tanh(x1/3.3) + pi*x0", 3 },
        { "(1.5*x0 + x1)^3.0 + (x0 + 0.1)^(-2)", 2 },
        { "0.2^(1.1^(0.6*x0))", 3 },
        { "x0*x1 + sin(x1)", 0 },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check(cases[i].text, 0.2, 1.8, cases[i].constants, *state);
}

static void integral_exponents_are_left_out(void **state)
{
    static const struct {
        const char *text;
        size_t n, node[4];
    } cases[] = {
        { "pow,x_0,2", 0, { 0 } },
        { "pow,x_0,2.0", 0, { 0 } },
        { "pow,x_0,neg,3.0", 0, { 0 } },
        { "pow,x_0,neg,neg,3", 0, { 0 } },
        { "pow,x_0,2.5", 1, { 2 } },
        { "pow,x_0,neg,0.5", 1, { 3 } },
        { "pow,2.0,x_0", 1, { 1 } },
        { "pow,x_0,add,2,1", 2, { 3, 4 } },
        { "pow,mul,2,x_0,4.0", 1, { 2 } },
        { "pow,pow,1.5,3,2", 1, { 2 } },
        { "add,pow,pow2,3,neg,2,4", 2, { 3, 6 } },
        { "mul,pi,neg,2", 1, { 3 } },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t node[16];
        expr e = parsed(cases[i].text, NULL, *state);
        assert_int_equal(expr_constants(e, node), cases[i].n);
        assert_memory_equal(node, cases[i].node, cases[i].n * sizeof *node);
    }
}

static void written_roots_are_fixed(void **state)
{
    static const struct {
        const char *text;
        size_t n;
    } cases[] = {
        { "x0^(1/3)", 0 },         { "x0^(-2/3)", 0 },        { "x0^(-(1/2))", 0 },
        { "2.5*x0^(3/4) + 1", 2 }, { "(x0 + 1)^(1/2)", 1 },   { "x0^(1/3.0)", 1 },
        { "x0^(1.5/3)", 2 },       { "x0^((1 + 1)/3)", 3 },   { "x0^(x1/3)", 1 },
        { "(1/3)^x0", 1 },         { "exp(x0/3)*x0^2.1", 2 }, { "(x0^(1/3))^(1/2)", 0 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t node[32];
        expr e = parsed(cases[i].text, NULL, *state);
        expr_fix_quotients(e);
        if (expr_constants(e, node) != cases[i].n)
            fail_msg("%s: %zu constants", cases[i].text, expr_constants(e, node));
    }
}

/* Any subset in any order, as the caller likes. */
static void numbers_are_chosen_by_the_caller(void **state)
{
    arena *a = *state;
    expr e = parsed("1.5*x0 + sin(2.5*x1)", NULL, a); /* add mul 1.5 x0 sin mul 2.5 x1 */
    const double **x = draw(-1, 1, a);
    double y[ROWS], dy[3 * ROWS];
    assert_int_equal(expr_gradient(e, x, ROWS, (size_t[]){ 6, 2, 6 }, 3, y, dy, a), 1);
    for (int i = 0; i < ROWS; i++) {
        assert_true(fabs(dy[i] - x[1][i] * cos(2.5 * x[1][i])) < 1e-14);
        assert_true(dy[ROWS + i] == x[0][i]);
    }
    assert_memory_equal(dy, dy + 2 * ROWS, ROWS * sizeof *dy);
    assert_int_equal(expr_gradient(e, x, 0, (size_t[]){ 2 }, 1, y, dy, a), 1);
}

/* What lies outside the domain stays in its row, and a side not taken adds nothing. */
static void bad_values_stay_where_they_are(void **state)
{
    arena *a = *state;
    double x[4] = { -1, 0, 1, 1000 }, y[4], dy[4];
    const double *columns[] = { x };
    expr e = parsed("2.5*log(x0)", NULL, a); /* mul 2.5 log x0 */
    assert_int_equal(expr_gradient(e, columns, 4, (size_t[]){ 1 }, 1, y, dy, a), 1);
    assert_true(isnan(dy[0]) && isnan(dy[1]) && dy[2] == 0 && dy[3] == log(1000));
    e = parsed("min(3, exp(1.5*x0))", NULL, a); /* min 3 exp mul 1.5 x0 */
    assert_int_equal(expr_gradient(e, columns, 4, (size_t[]){ 4 }, 1, y, dy, a), 1);
    assert_true(y[3] == 3 && dy[3] == 0 && fabs(dy[0] + exp(-1.5)) < 1e-15);
    e = parsed("x0^1.5", NULL, a); /* pow x0 1.5 */
    assert_int_equal(expr_gradient(e, columns, 4, (size_t[]){ 2 }, 1, y, dy, a), 1);
    assert_true(isnan(dy[0]) && dy[1] == 0 && dy[2] == 0);
}

/* The longest formula that can be read: narrower blocks, the same values. */
static void long_formulas_have_theirs(void **state)
{
    arena *a = *state;
    char *text = arena_alloc(a, 40000);
    size_t length = (size_t)sprintf(text, "0.5");
    for (int i = 0; i < 2400; i++)
        length += (size_t)sprintf(text + length, "+%d.5*x0", i % 7);
    expr e = parsed(text, NULL, a);
    const double **x = draw(-1, 1, a);
    size_t *node = arena_array(a, e.count, sizeof *node), n = expr_constants(e, node);
    assert_int_equal(n, 2401);
    double *y = arena_array(a, ROWS, sizeof *y), *want = arena_array(a, ROWS, sizeof *want);
    double *dy = arena_array(a, n * ROWS, sizeof *dy);
    assert_int_equal(expr_gradient(e, x, ROWS, node, n, y, dy, a), 1);
    expr_eval(e, x, ROWS, want, a);
    assert_memory_equal(y, want, ROWS * sizeof *y);
    for (size_t j = 0; j < n; j++)
        for (int i = 0; i < ROWS; i++)
            assert_true(dy[j * ROWS + i] == (j == 0 ? 1 : x[0][i]));
}

static void memory_limits_are_failures_not_crashes(void **state)
{
    expr e = parsed("1.5*x0 + sin(2.5*x1)", NULL, *state);
    const double **x = draw(-1, 1, *state);
    double y[ROWS], dy[ROWS];
    int failed = 0, worked = 0;
    for (size_t limit = 64; limit < 65536; limit += 256) {
        arena *a = arena_new(limit);
        int good = expr_gradient(e, x, ROWS, (size_t[]){ 2 }, 1, y, dy, a);
        failed += !good;
        worked += good;
        assert_int_equal(arena_mark(a), 0);
        arena_free(a);
    }
    assert_true(failed > 0 && worked > 0);
}

/* Values, derivatives, and both again with other constants, in one block and in several. */
static void a_sweep_gives_what_single_calls_give(void **state)
{
    arena *a = *state;
    expr e = parsed("1.5*sin(x0*x1) + exp(2.5*x1)/(x0^2 + 0.7)", NULL, a);
    const double **x = draw(-1, 1, a);
    size_t node[16], n = expr_constants(e, node);
    static const size_t rows[] = { 1, 100, 256, ROWS };
    assert_int_equal(n, 3);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double y[ROWS], dy[3 * ROWS], want[ROWS], slopes[3 * ROWS];
        expr_sweep *s = expr_sweep_new(e, x, rows[k], node, n, a);
        assert_non_null(s);
        for (int turn = 0; turn < 6; turn++) {
            size_t bytes = rows[k] * sizeof *y;
            e.node[node[turn % 3]].value *= turn < 4 ? 1.25 : 1; /* twice the same point */
            assert_int_equal(expr_gradient(e, x, rows[k], node, n, want, slopes, a), 1);
            if (turn % 2 == 0)
                assert_int_equal(expr_sweep_values(s, y), rows[k]);
            if (turn % 2 == 0)
                assert_memory_equal(y, want, bytes);
            expr_sweep_slopes(s, y, dy);
            assert_memory_equal(y, want, bytes);
            assert_memory_equal(dy, slopes, n * bytes);
        }
    }
}

/* With the same operators: those of a machine without fused multiply-add may differ (vec.h). */
static void instruction_sets_agree_to_the_bit(void **state)
{
    enum { N = 37 };
    const double **x = draw(0.1, 0.9, *state);
    int compared = 0;
    for (int which = ISA_GENERIC + 1; which < ISA_COUNT; which++)
        for (int op = 0; op < EXPR_OP_COUNT && isa_has((isa)which); op++) {
            double one[N], other[N], d[N], g[N];
            for (int i = 0; i < N; i++)
                g[i] = i % 5 ? x[1][i + N] : 0;
            for (int slot = 0; slot < expr_ops[op].arity; slot++, compared++) {
                expr_slope_at p = { expr_vec_for(ISA_GENERIC), x[0], x[1], x[1], slot, g, d, N };
                expr_slopes_for(ISA_GENERIC)->of[op](one, &p);
                expr_slopes_for((isa)which)->of[op](other, &p);
                if (memcmp(one, other, sizeof one) != 0)
                    fail_msg("%s by operand %d differs with %s", expr_ops[op].name, slot,
                             isa_name((isa)which));
            }
        }
    assert_true(compared > 0 || !isa_has(ISA_AVX2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(every_operator_has_its_derivative),
        ARENA_TEST(nested_formulas_have_theirs),
        ARENA_TEST(integral_exponents_are_left_out),
        ARENA_TEST(written_roots_are_fixed),
        ARENA_TEST(numbers_are_chosen_by_the_caller),
        ARENA_TEST(bad_values_stay_where_they_are),
        ARENA_TEST(long_formulas_have_theirs),
        ARENA_TEST(a_sweep_gives_what_single_calls_give),
        ARENA_TEST(instruction_sets_agree_to_the_bit),
        ARENA_TEST(memory_limits_are_failures_not_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
