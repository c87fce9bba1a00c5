/* test_eval.c - values against the reference and between instruction sets. */
#include "support.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "data/gen.h"
#include "expr/expr.h"
#include "expr/vec.h"

/* Row r of array x[r][points][columns] as columns. */
static const double **columns_of(golden_array x, size_t r, arena *a)
{
    size_t points = x.shape[1], n = x.shape[2];
    double **c = arena_array(a, n, sizeof *c);
    for (size_t j = 0; j < n; j++) {
        c[j] = arena_array(a, points, sizeof **c);
        for (size_t i = 0; i < points; i++)
            c[j][i] = x.value[(r * points + i) * n + j];
    }
    return (const double **)c;
}

/* The plain-loop twin: the tree at row i with the C library's functions, each cube moved by `ulps`.
 */
static double twin(expr e, size_t at, const double *const *x, size_t i, int ulps)
{
    const expr_node *n = &e.node[at];
    int arity = expr_ops[n->op].arity;
    double a = arity > 0 ? twin(e, at + 1, x, i, ulps) : 0;
    double b = arity > 1 ? twin(e, expr_child(e, at, 1), x, i, ulps) : 0;
    switch (n->op) {
    case EXPR_NUMBER:
        return n->value;
    case EXPR_VARIABLE:
        return x[n->var][i];
    case EXPR_ADD:
        return a + b;
    case EXPR_SUB:
        return a - b;
    case EXPR_MUL:
        return a * b;
    case EXPR_DIV:
        return b == 0 ? NAN : a / b;
    case EXPR_ABS:
        return fabs(a);
    case EXPR_INV:
        return a == 0 ? NAN : 1 / a;
    case EXPR_SQRT:
        return sqrt(a);
    case EXPR_LOG:
        return a > 0 ? log(a) : NAN;
    case EXPR_EXP:
        return exp(a);
    case EXPR_SIN:
        return sin(a);
    case EXPR_ARCSIN:
        return asin(a);
    case EXPR_COS:
        return cos(a);
    case EXPR_ARCCOS:
        return acos(a);
    case EXPR_TAN:
        return tan(a);
    case EXPR_ARCTAN:
        return atan(a);
    case EXPR_POW2:
        return a * a;
    case EXPR_POW3:
        b = a * a * a;
        return ulps ? nextafter(b, ulps * INFINITY) : b;
    default:
        fail_msg("operator %s is not in the golden data", expr_ops[n->op].name);
        return NAN;
    }
}

static int close_to(double got, double want, double tolerance)
{
    return fabs(got - want) <= tolerance * fabs(want);
}

/* Compares one value. The reference's cubes come from a power function that is up to 0.6 ulp off:
 * where one ulp of a cube decides (cosine of 10^187), no comparison is possible. Returns whether it
 * was. */
static int check_value(const char *prefix, expr e, const double *const *x, size_t i, double got,
                       double want, double reldiff)
{
    double tolerance = fmax(1e-12, 100 * reldiff);
    if (close_to(got, want, tolerance))
        return 1;
    double plain = twin(e, 0, x, i, 0);
    if (!close_to(twin(e, 0, x, i, 1), plain, tolerance) ||
        !close_to(twin(e, 0, x, i, -1), plain, tolerance))
        return 0;
    fail_msg("%s: %.17g, expected %.17g (tolerance %g)", prefix, got, want, tolerance);
    return 0;
}

static void golden_expressions_have_their_values(void **state)
{
    arena *a = *state;
    golden_array x = golden_npy("expressions-x.npy", a), y = golden_npy("expressions-y.npy", a);
    golden_array reldiff = golden_npy("expressions-y-libm-reldiff.npy", a);
    json_t *list = golden_lines("expressions.jsonl");
    assert_int_equal(json_array_size(list), x.shape[0]);
    size_t points = y.shape[1], compared = 0;
    for (size_t r = 0; r < x.shape[0]; r++) {
        const char *prefix = json_string_value(json_object_get(json_array_get(list, r), "prefix"));
        expr e;
        double *got = arena_array(a, points, sizeof *got);
        assert_int_equal(expr_parse(&e, prefix, NULL, a, NULL), SNIP_OK);
        const double **columns = columns_of(x, r, a);
        assert_int_equal(expr_eval_strict(e, columns, points, got, a), 1);
        assert_int_equal(expr_eval(e, columns, points, got, a), points);
        for (size_t i = 0; i < points; i++)
            compared += (size_t)check_value(prefix, e, columns, i, got[i], y.value[r * points + i],
                                            reldiff.value[2 * r + 1]);
    }
    assert_true(compared > 99 * x.shape[0] * points / 100);
    json_decref(list);
}

static void golden_edge_cases_have_their_patterns(void **state)
{
    arena *a = *state;
    golden_array x = golden_npy("eval-edge-x.npy", a), y = golden_npy("eval-edge-y.npy", a);
    golden_array reldiff = golden_npy("eval-edge-libm-reldiff.npy", a);
    json_t *list = golden_lines("eval-edge.jsonl");
    assert_int_equal(json_array_size(list), x.shape[0]);
    size_t points = y.shape[1], strict_agrees = 0, incomparable = 0;
    for (size_t r = 0; r < x.shape[0]; r++) {
        json_t *o = json_array_get(list, r);
        const char *prefix = json_string_value(json_object_get(o, "prefix"));
        expr e;
        double *got = arena_array(a, points, sizeof *got);
        assert_int_equal(expr_parse(&e, prefix, NULL, a, NULL), SNIP_OK);
        const double **columns = columns_of(x, r, a);
        size_t finite = expr_eval(e, columns, points, got, a), bad = 0;
        for (size_t i = 0; i < points; i++) {
            double want = y.value[r * points + i];
            bad += !isfinite(want);
            if (isnan(want) != isnan(got[i]) || (isinf(want) && want != got[i]))
                fail_msg("%s, point %zu: %g, expected %g", prefix, i, got[i], want);
            else if (isfinite(want))
                incomparable += !check_value(prefix, e, columns, i, got[i], want,
                                             reldiff.value[r * points + i]);
        }
        assert_int_equal(finite, points - bad);
        /* Under raised errors the reference keeps NaN from a domain error but gives up on all else;
         * strict evaluation refuses both. */
        int strict = expr_eval_strict(e, columns, points, got, a);
        const char *raised = json_string_value(json_object_get(o, "with_errors_raised"));
        int reference_accepts = strcmp(raised, "same") == 0 && bad == 0;
        strict_agrees += strict == reference_accepts;
        if (strict && !reference_accepts)
            fail_msg("%s: accepted, the reference does not", prefix);
    }
    assert_true(incomparable <= x.shape[0] * points / 100);
    assert_true(strict_agrees >= 98 * x.shape[0] / 100);
    json_decref(list);
}

static void domain_rules(void **state)
{
    static const struct {
        const char *text;
        double x, y;
    } cases[] = {
        { "log(x0)", 0, NAN },
        { "log(x0)", -0.0, NAN },
        { "log(x0)", -1, NAN },
        { "log(x0)", INFINITY, INFINITY },
        { "log(x0)", DBL_TRUE_MIN, -744.4400719213812 },
        { "inv(x0)", 0, NAN },
        { "inv(x0)", -0.0, NAN },
        { "inv(x0)", INFINITY, 0 },
        { "2/x0", -0.0, NAN },
        { "x0/x0", 0, NAN },
        { "sqrt(x0)", -1e-300, NAN },
        { "sqrt(x0)", -0.0, -0.0 },
        { "exp(x0)", 710, INFINITY },
        { "exp(x0)", -800, 0 },
        { "x0^2", 1e200, INFINITY },
        { "x0^3", -1e200, -INFINITY },
        { "x0^3", -0.0, -0.0 },
        { "arcsin(x0)", 1.5, NAN },
        { "sin(x0)", INFINITY, NAN },
        { "x0^0.5", -1, NAN },
        { "x0^-1", -2, -0.5 },
        { "log10(x0)", 0, NAN },
        { "log1p(x0)", -1, NAN },
        { "sign(x0)", -3, -1 },
        { "sign(x0)", 0, 0 },
        { "min(x0, 2)", NAN, NAN },
        { "max(2, x0)", NAN, NAN },
        { "floor(x0)", -1.5, -2 },
        { "cbrt(x0)", -8, -2 },
        { "pi", 0, M_PI },
        { "tanh(x0)", 1000, 1 },
        { "euler_gamma", 0, 0.5772156649015329 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expr e;
        double y;
        const double *x[] = { &cases[i].x };
        assert_int_equal(expr_parse(&e, cases[i].text, NULL, *state, NULL), SNIP_OK);
        expr_eval(e, x, 1, &y, *state);
        if (isnan(cases[i].y) ? !isnan(y)
                              : !((y == cases[i].y && signbit(y) == signbit(cases[i].y)) ||
                                  fabs(y - cases[i].y) < 1e-12 * fabs(y)))
            fail_msg("%s at %g: %g, expected %g", cases[i].text, cases[i].x, y, cases[i].y);
    }
}

/* Every function against the C library, over its range: SLEEF promises 1 ulp, glibc up to 4. */
static void functions_are_accurate(void **state)
{
    (void)state;
    static const struct {
        expr_op op;
        double (*exact)(double);
        double low, high;
    } cases[] = {
        { EXPR_SIN, sin, -1e6, 1e6 },
        { EXPR_COS, cos, -1e6, 1e6 },
        { EXPR_TAN, tan, -1e3, 1e3 },
        { EXPR_EXP, exp, -700, 700 },
        { EXPR_LOG, log, 1e-300, 1e300 },
        { EXPR_ARCSIN, asin, -1, 1 },
        { EXPR_ARCCOS, acos, -1, 1 },
        { EXPR_ARCTAN, atan, -1e3, 1e3 },
        { EXPR_SINH, sinh, -20, 20 },
        { EXPR_COSH, cosh, -20, 20 },
        { EXPR_TANH, tanh, -5, 5 },
        { EXPR_ARCSINH, asinh, -50, 50 },
        { EXPR_ARCSINH, asinh, -1e200, 1e200 },
        { EXPR_ARCCOSH, acosh, 1, 1e300 },
        { EXPR_SINH, sinh, 700, 710.4 },
        { EXPR_COSH, cosh, -710.4, -700 },
        { EXPR_LOG1P, log1p, 1, 1e308 },
        { EXPR_ARCCOSH, acosh, 1, 50 },
        { EXPR_ARCTANH, atanh, -0.999, 0.999 },
        { EXPR_LOG2, log2, 1e-10, 1e10 },
        { EXPR_LOG10, log10, 1e-10, 1e10 },
        { EXPR_LOG1P, log1p, -0.99, 10 },
        { EXPR_EXPM1, expm1, -5, 5 },
        { EXPR_EXP2, exp2, -100, 100 },
        { EXPR_CBRT, cbrt, -1e9, 1e9 },
        { EXPR_ERF, erf, -6, 6 },
        { EXPR_ERF, erf, -1e-9, 1e-9 },
        { EXPR_SQRT, sqrt, 0, 1e9 },
        { EXPR_ABS, fabs, -5, 5 },
    };
    enum { N = 1003 }; /* not a multiple of any vector width */
    double x[N], y[N];
    rng r;
    rng_init(&r, 2, RNG_BENCH, 0);
    for (int which = 0; which < ISA_COUNT; which++) {
        if (!isa_has((isa)which))
            continue;
        const expr_vec *vec = expr_vec_for((isa)which);
        for (size_t c = 0; c < COUNT(cases); c++) {
            rng_fill_uniform(&r, x, N);
            for (int i = 0; i < N; i++)
                x[i] = cases[c].low + (cases[c].high - cases[c].low) * x[i];
            vec->unary[cases[c].op](y, x, N);
            for (int i = 0; i < N; i++) {
                double want = cases[c].exact(x[i]);
                if (!(fabs(y[i] - want) <= 4 * DBL_EPSILON * fabs(want)))
                    fail_msg("%s %s(%.17g): %.17g, expected %.17g", isa_name((isa)which),
                             expr_ops[cases[c].op].name, x[i], y[i], want);
            }
        }
    }
}

/* In all four quadrants, on the axes and at their crossing, with signs of zeros as in C. */
static void angles_are_those_of_the_c_library(void **state)
{
    (void)state;
    static const double at[] = { 0, -0.0, 1, -1, 2.5, -3e-300, 1e300, -1e-5, INFINITY, -INFINITY };
    enum { N = COUNT(at) * COUNT(at) };
    double y[N], x[N], got[N];
    for (size_t i = 0; i < N; i++) {
        y[i] = at[i / COUNT(at)];
        x[i] = at[i % COUNT(at)];
    }
    for (int which = 0; which < ISA_COUNT; which++) {
        if (!isa_has((isa)which))
            continue;
        expr_vec_for((isa)which)->binary[EXPR_ATAN2](got, y, x, N);
        for (size_t i = 0; i < N; i++) {
            double want = atan2(y[i], x[i]);
            if (!(fabs(got[i] - want) <= 4 * DBL_EPSILON * fabs(want)) ||
                signbit(got[i]) != signbit(want))
                fail_msg("%s atan2(%g, %g): %.17g, expected %.17g", isa_name((isa)which), y[i],
                         x[i], got[i], want);
        }
    }
}

static void instruction_sets_agree_bit_for_bit(void **state)
{
    (void)state;
    if (!isa_has(ISA_AVX2) || !isa_has(ISA_AVX512))
        skip();
    const expr_vec *p = expr_vec_for(ISA_AVX2), *q = expr_vec_for(ISA_AVX512);
    enum { N = 517 };
    double x[N], z[N], a[N], b[N];
    rng r;
    rng_init(&r, 3, RNG_BENCH, 0);
    rng_fill_uniform(&r, x, N);
    rng_fill_uniform(&r, z, N);
    for (int i = 0; i < N; i++) {
        x[i] = (x[i] - 0.3) * (i % 5 ? 3 : 1e5);
        z[i] = (z[i] - 0.5) * 7;
    }
    x[0] = INFINITY, x[1] = -INFINITY, x[2] = NAN, x[3] = 0, x[4] = -0.0, x[5] = 1e-310;
    for (int op = 0; op < EXPR_OP_COUNT; op++) {
        assert_int_equal(p->unary[op] != NULL, expr_ops[op].arity == 1);
        assert_int_equal(p->binary[op] != NULL, expr_ops[op].arity == 2);
        if (p->unary[op]) {
            p->unary[op](a, x, N);
            q->unary[op](b, x, N);
        } else if (p->binary[op]) {
            p->binary[op](a, x, z, N);
            q->binary[op](b, x, z, N);
        } else {
            continue;
        }
        for (int i = 0; i < N; i++)
            if (!(isnan(a[i]) && isnan(b[i])) && memcmp(&a[i], &b[i], sizeof *a) != 0)
                fail_msg("%s(%g): %.17g and %.17g", expr_ops[op].name, x[i], a[i], b[i]);
    }
    double u[101 * 2], v[101 * 2];
    rng_fill_uniform(&r, u, 202);
    memcpy(v, u, sizeof u);
    p->gauss(u, 101);
    q->gauss(v, 101);
    assert_memory_equal(u, v, sizeof u);
}

static void normal_deviates_are_normal(void **state)
{
    (void)state;
    enum { N = 20000 };
    static double z[N], exact[N];
    rng r;
    rng_init(&r, 4, RNG_BENCH, 0);
    rng_fill_uniform(&r, z, N);
    expr_vec_best()->gauss(z, N / 2);
    double lag = 0;
    for (int i = 0; i < N / 2; i++)
        lag += z[i] * z[i + N / 2] / (N / 2);
    assert_true(fabs(lag) < 0.05);
    for (int i = 0; i < N; i++) { /* quantiles of the normal distribution, by bisection on erfc */
        double low = -10, high = 10, q = (i + 0.5) / N;
        for (int k = 0; k < 50; k++) {
            double mid = (low + high) / 2;
            if (0.5 * erfc(-mid / sqrt(2)) < q)
                low = mid;
            else
                high = mid;
        }
        exact[i] = low;
    }
    assert_true(kolmogorov_test(z, N, exact, N) > 0.001);
}

static void row_counts_do_not_matter(void **state)
{
    arena *a = *state;
    enum { N = 1000 };
    double *x = arena_array(a, N, sizeof *x), *y = arena_array(a, N, sizeof *y), one;
    rng r;
    rng_init(&r, 5, RNG_BENCH, 0);
    rng_fill_uniform(&r, x, N);
    expr e;
    expr_parse(&e, "sin(3*x0)/(x0 - 0.5) + x0^2.5*log(x0)", NULL, a, NULL);
    const double *columns[] = { x };
    assert_int_equal(expr_eval(e, columns, N, y, a), N);
    for (size_t i = 0; i < N; i++) {
        const double *at[] = { x + i };
        expr_eval(e, at, 1, &one, a);
        assert_memory_equal(&one, &y[i], sizeof one);
    }
    assert_int_equal(expr_eval(e, columns, 0, y, a), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(golden_expressions_have_their_values),
        ARENA_TEST(golden_edge_cases_have_their_patterns),
        ARENA_TEST(domain_rules),
        cmocka_unit_test(functions_are_accurate),
        cmocka_unit_test(angles_are_those_of_the_c_library),
        cmocka_unit_test(instruction_sets_agree_bit_for_bit),
        cmocka_unit_test(normal_deviates_are_normal),
        ARENA_TEST(row_counts_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
