/* test_normal.c - ordinary formulas in the model's operators. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "expr/expr.h"

static const struct {
    const char *text, *prefix;
} rewritings[] = {
    { "x0/x1", "mul,x_0,inv,x_1" },
    { "1/x1", "inv,x_1" },
    { "x0/2", "mul,0.5,x_0" },
    { "3/x0", "mul,3.0,inv,x_0" },
    { "x0 - 2", "add,-2.0,x_0" },
    { "x0*2 + 1", "add,1.0,mul,2.0,x_0" },
    { "2*(3*x0)", "mul,6.0,x_0" },
    { "-x0", "mul,-1.0,x_0" },
    { "-(x0 - x1)", "sub,x_1,x_0" },
    { "x0^4", "pow2,pow2,x_0" },
    { "x0^5", "mul,x_0,pow2,pow2,x_0" },
    { "x0^6", "pow2,pow3,x_0" },
    { "x0^9", "pow3,pow3,x_0" },
    { "x0^-2", "inv,pow2,x_0" },
    { "x0^1", "x_0" },
    { "x0^0", "1.0" },
    { "x0^0.5", "sqrt,x_0" },
    { "x0^(3/2)", "pow3,sqrt,x_0" },
    { "x0^-0.25", "inv,sqrt,sqrt,x_0" },
    { "2^x0", "exp,mul,0.6931471805599453,x_0" },
    { "exp(x0)^x1", "exp,mul,x_1,log,exp,x_0" },
    { "(x0^2 + 1)^0.3", "exp,mul,0.3,log,add,1.0,pow2,x_0" },
    { "sqrt(2*pi)*x0", "mul,2.5066282746310002,x_0" },
    { "tanh(x0)", "add,1.0,mul,-2.0,inv,add,1.0,exp,mul,2.0,x_0" },
    { "log10(x0)", "mul,0.43429448190325176,log,x_0" },
    { "max(x0, x1)", "mul,0.5,add,add,x_0,x_1,abs,sub,x_0,x_1" },
    { "sign(exp(x0))", "1.0" },
    { "cbrt(exp(x0))", "exp,mul,0.3333333333333333,log,exp,x_0" },
    { "atan2(x0, exp(x1))", "arctan,mul,x_0,inv,exp,x_1" },
    { "atan2(1, -1)*x0", "mul,2.356194490192345,x_0" },
    { "erf(0.5)*x0", "mul,0.5204998778130465,x_0" },
    { "sec(x0)", "inv,cos,x_0" },
    { "cbrt(x0)", "mul,x_0,exp,mul,-0.3333333333333333,log,pow2,x_0" },
    { "-(1 - x0)", "add,-1.0,x_0" },
    { "--x0", "x_0" },
    { "2*(0.5*x0)", "x_0" },
    { "1e-200*(1e-200*x0)", "mul,1e-200,mul,1e-200,x_0" },
    { "div,x_0,x_1", "mul,x_0,inv,x_1" },
    { "3", "3.0" },
};

static void rewrites_as_written_here(void **state)
{
    for (size_t i = 0; i < COUNT(rewritings); i++) {
        expr e, n, twice;
        snip_status st = { 0 };
        assert_int_equal(expr_parse(&e, rewritings[i].text, NULL, *state, NULL), SNIP_OK);
        if (expr_normal(&n, e, NULL, *state, &st) != SNIP_OK)
            fail_msg("%s: %s", rewritings[i].text, st.msg);
        assert_string_equal(expr_print(n, SNIP_PREFIX, NULL, 0, *state), rewritings[i].prefix);
        assert_int_equal(expr_normal(&twice, n, NULL, *state, NULL), SNIP_OK);
        assert_true(expr_same(n, twice));
    }
}

static const struct {
    const char *text, *message;
} refusals[] = {
    { "x0^x1", "'pow' with a variable exponent" },
    { "x0^0.426", "'pow' with exponent 0.426" },
    { "x0^65", "beyond 64 only a positive base" },
    { "x0 + exp(-1000)", "exp(-1000) is not a usable number" },
    { "sign(x0)", "'sign'" },
    { "floor(x0)", "'floor'" },
    { "erf(x0)", "no exact rewriting of 'erf'" },
    { "atan2(x0, x1)", "no exact rewriting of 'atan2': its second argument" },
    { "atan2(1, x1)", "'atan2'" },
    { "ceil(x0)", "'ceil'" },
    { "arccosh(x0)", "'arccosh'" },
    { "x0/(1-1)", "division by the constant 0" },
    { "log(1-1)*x0", "log(0) is not a usable number" },
    { "exp(1000)+x0", "exp(1000) is not a usable number" },
};

static void refuses_by_name(void **state)
{
    for (size_t i = 0; i < COUNT(refusals); i++) {
        expr e, n;
        snip_status st = { 0 };
        assert_int_equal(expr_parse(&e, refusals[i].text, NULL, *state, NULL), SNIP_OK);
        assert_int_equal(expr_normal(&n, e, NULL, *state, &st), SNIP_UNSUPPORTED);
        assert_null(n.node);
        if (!strstr(st.msg, refusals[i].message))
            fail_msg("%s: %s", refusals[i].text, st.msg);
    }
}

static void ranges_and_requests_allow_more(void **state)
{
    expr e, n;
    double low[] = { 0.5, -1 }, high[] = { 2, 1 };
    expr_domain ranges = { .low = low, .high = high, .count = 2 };
    expr_domain asked = { .assume_positive = 1 };
    expr_parse(&e, "x0^x1 + cbrt(x0)", NULL, *state, NULL);
    assert_int_equal(expr_normal(&n, e, &ranges, *state, NULL), SNIP_OK);
    assert_int_equal(expr_normal(&n, e, &asked, *state, NULL), SNIP_OK);
    expr_parse(&e, "x1^x0", NULL, *state, NULL);
    assert_int_equal(expr_normal(&n, e, &ranges, *state, NULL), SNIP_UNSUPPORTED);
    expr_parse(&e, "(-exp(x0))^x1", NULL, *state, NULL); /* certainly negative */
    assert_int_equal(expr_normal(&n, e, &asked, *state, NULL), SNIP_UNSUPPORTED);
    low[0] = 0; /* zero is not positive: 0^y is 0 but exp(y*log(0)) is not */
    expr_parse(&e, "x0^x1", NULL, *state, NULL);
    assert_int_equal(expr_normal(&n, e, &ranges, *state, NULL), SNIP_UNSUPPORTED);
}

/* Where both are finite, a normal form has the values of what it came from. */
static void values_are_kept(void **state)
{
    static const char *const texts[] = {
        "sinh(x0) - cosh(x1)*tanh(x2)",
        "arcsinh(x0)/(1 + x1^2)",
        "cbrt(x0 - x1)",
        "arctanh(x0/4)",
        "arccosh(1 + x0^2)",
        "log2(x0) + log10(x1)",
        "log1p(x0)*expm1(x1) - exp2(x2)",
        "min(x0, x1) - max(x1, x2)",
        "atan2(x0 - 1, 1 + x1^2) - sec(x2)*csc^2(x1) + erf(1)*cot(x0)",
        "x0^7 - x1^-3 + x2^2.5",
        "(1 + abs(x0))^x1",
        "-x0/x1/3 - (-x2)",
        "2/3*pi*x0^3",
        "cbrt(1 + x0^2)*sign(1 + exp(x1))",
        "(x0 - 1)/(2*(x1 - 3))",
        "exp(-(x0/x1)^2/2)/(sqrt(2*pi)*x1)",
    };
    enum { N = 200 };
    arena *a = *state;
    rng r;
    rng_init(&r, 6, RNG_BENCH, 0);
    double x[3][N], y[N], z[N];
    const double *columns[] = { x[0], x[1], x[2] };
    for (int j = 0; j < 3; j++) {
        rng_fill_uniform(&r, x[j], N);
        for (int i = 0; i < N; i++)
            x[j][i] = 6 * x[j][i] - 3;
    }
    for (size_t k = 0; k < COUNT(texts); k++) {
        expr e, n;
        assert_int_equal(expr_parse(&e, texts[k], NULL, a, NULL), SNIP_OK);
        assert_int_equal(expr_normal(&n, e, NULL, a, NULL), SNIP_OK);
        for (size_t i = 0; i < n.count; i++)
            assert_true(n.node[i].op < EXPR_VOCABULARY_END && n.node[i].op != EXPR_DIV &&
                        n.node[i].op != EXPR_POW && !n.node[i].integer);
        size_t finite = expr_eval(e, columns, N, y, a);
        assert_true(finite > N / 10);
        assert_int_equal(expr_eval(n, columns, N, z, a), finite);
        for (int i = 0; i < N; i++)
            if (isfinite(y[i]) && fabs(y[i] - z[i]) > 1e-11 * (1 + fabs(y[i])))
                fail_msg("%s: %.17g became %.17g", texts[k], y[i], z[i]);
    }
}

static void training_expressions_stay_as_they_are(void **state)
{
    json_t *list = golden_lines("expressions.jsonl"), *o;
    size_t i;
    json_array_foreach (list, i, o) {
        expr e, n;
        expr_parse(&e, json_string_value(json_object_get(o, "prefix")), NULL, *state, NULL);
        assert_int_equal(expr_normal(&n, e, NULL, *state, NULL), SNIP_OK);
        assert_true(expr_same(e, n));
    }
    json_decref(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(rewrites_as_written_here),
        ARENA_TEST(refuses_by_name),
        ARENA_TEST(ranges_and_requests_allow_more),
        ARENA_TEST(values_are_kept),
        ARENA_TEST(training_expressions_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
