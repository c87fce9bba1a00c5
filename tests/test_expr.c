/* test_expr.c - formulas: the table of operators, trees cut and measured. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/expr.h"

/* Every row of the operator table, inside and outside of others: what each format writes has the
 * value of the formula when it is read again. A rule that print.c lacks for a new row fails here.
 */
static void every_operator_is_written_and_read(void **state)
{
    arena *a = *state;
    static const snip_format formats[] = { SNIP_INFIX, SNIP_PREFIX, SNIP_SYMPY, SNIP_LATEX };
    const double at[2] = { 0.7, 0.3 };
    const double *x[2] = { &at[0], &at[1] };
    for (int op = EXPR_ADD; op < EXPR_OP_COUNT; op++) {
        const expr_op_info *o = &expr_ops[op];
        assert_true(o->name[0] && (o->arity == 1 || o->arity == 2));
        assert_int_equal(expr_op_find(o->name, strlen(o->name)), op);
        if (o->sympy[0])
            assert_int_equal(expr_op_find(o->sympy, strlen(o->sympy)), op);
        assert_true(o->latex[0] || o->sign[0] || op == EXPR_ABS);
        assert_true(o->c[0] || o->sign[0] || op == EXPR_SIGN);
        assert_true(!o->spelled[0] || (o->arity == 1 && strchr(o->spelled, '@')));
        static const char *const around[] = { "%s(%s)",        "2.5 - %s(%s)", "1.5*%s(%s)",
                                              "x1/%s(%s)",     "(%s(%s))^2.5", "-%s(%s)",
                                              "sin(%s(%s))/3", "2^%s(%s)" };
        for (size_t k = 0; k < COUNT(around); k++) {
            /* An argument above 1 for arccosh, below it for all others. */
            const char *argument = o->arity == 2        ? "x0, x1 + 0.1"
                                   : op == EXPR_ARCCOSH ? "2 + x0"
                                                        : "x0 - 0.2";
            char text[120];
            expr e, again;
            snip_status st;
            double want, got;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(text, sizeof text, around[k], o->name, argument);
#pragma GCC diagnostic pop
            if (expr_parse(&e, text, NULL, a, &st) != SNIP_OK)
                fail_msg("%s: %s", text, st.msg);
            int there = 0;
            for (size_t i = 0; i < e.count; i++)
                there |= e.node[i].op == op;
            assert_true(there);
            expr_eval(e, x, 1, &want, a);
            for (size_t f = 0; f < COUNT(formats); f++) {
                const char *written = expr_print(e, formats[f], NULL, 0, a);
                if (expr_parse(&again, written, NULL, a, &st) != SNIP_OK)
                    fail_msg("%s, written %s: %s", text, written, st.msg);
                expr_eval(again, x, 1, &got, a);
                if (!(isnan(want) ? isnan(got) : fabs(got - want) <= 1e-12 * (1 + fabs(want))))
                    fail_msg("%s = %g, written %s = %g", text, want, written, got);
            }
        }
    }
}

static void splices_keep_the_tree_whole(void **state)
{
    arena *a = *state;
    expr e, s, out;
    expr_parse(&e, "add,1.5,mul,sin,x_0,exp,x_1", NULL, a, NULL);
    expr_parse(&s, "sub,x_2,x_3", NULL, a, NULL);
    static const char *const expected[] = {
        "sub,x_2,x_3",
        "add,sub,x_2,x_3,mul,sin,x_0,exp,x_1",
        "add,1.5,sub,x_2,x_3",
        "add,1.5,mul,sub,x_2,x_3,exp,x_1",
        "add,1.5,mul,sin,sub,x_2,x_3,exp,x_1",
        "add,1.5,mul,sin,x_0,sub,x_2,x_3",
        "add,1.5,mul,sin,x_0,exp,sub,x_2,x_3",
    };
    for (size_t i = 0; i < e.count; i++) {
        out = expr_splice(e, i, s, a);
        assert_string_equal(expr_print(out, SNIP_PREFIX, NULL, 0, a), expected[i]);
        expr check = { arena_copy(a, out.node, out.count * sizeof *out.node), out.count };
        assert_true(expr_measure(check));
        for (size_t k = 0; k < out.count; k++)
            assert_int_equal(out.node[k].len, check.node[k].len);
    }
}

/* Counted by hand; sympy 1.14 counts the same for all of them. */
static void sizes_are_those_of_sympy(void **state)
{
    static const struct {
        const char *text;
        size_t size;
    } cases[] = {
        { "x0", 1 },
        { "-2.5", 1 },
        { "neg,2.5", 1 },
        { "-x0", 3 },                          /* Mul(-1, x) */
        { "-pi", 3 },                          /* pi is a symbol */
        { "x0 + x1 + x2 + x3", 5 },            /* one Add */
        { "x0 + (x1 + (x2 + x3))", 5 },        /* however it is nested */
        { "x0 - x1", 5 },                      /* Add(x, Mul(-1, y)) */
        { "x0 - x1*x2", 6 },                   /* Add(x, Mul(-1, y, z)) */
        { "x0 - (x1 - x2)", 6 },               /* Add(x, Mul(-1, y), z) */
        { "-(x0 + x1)", 7 },                   /* Add(Mul(-1, x), Mul(-1, y)) */
        { "x0 - 2.5", 3 },                     /* Add(x, -2.5) */
        { "x0*x1*x2", 4 },                     /* one Mul */
        { "x0/x1", 5 },                        /* Mul(x, Pow(y, -1)) */
        { "x0/x1/x2", 8 },                     /* Mul(x, Pow(y, -1), Pow(z, -1)) */
        { "x0/(x1*x2)", 8 },                   /* the same */
        { "x0/(x1/x2)", 6 },                   /* Mul(x, Pow(y, -1), z) */
        { "x0/2.5", 3 },                       /* Mul(0.4, x) */
        { "1/x0", 3 },                         /* Pow(x, -1) */
        { "div(1, x0)", 3 },                   /* the same */
        { "-1/x0", 5 },                        /* Mul(-1, Pow(x, -1)) */
        { "1/x0^2", 3 },                       /* Pow(x, -2) */
        { "sqrt(x0)", 3 },                     /* Pow(x, 1/2) */
        { "x0^3 + x1^2", 7 },                  /* Add(Pow(x, 3), Pow(y, 2)) */
        { "x0^x1", 3 },                        /* Pow(x, y) */
        { "2.1*sin(x0) + x1^2", 8 },           /* Add(Mul(2.1, sin(x)), Pow(y, 2)) */
        { "x0*(x1 - x2)", 7 },                 /* Mul(x, Add(y, Mul(-1, z))) */
        { "x0/(1.5 + exp(-x1))", 10 },         /* Mul(x, Pow(Add(1.5, exp(Mul(-1, y))), -1)) */
        { "log2(x0)", 7 },                     /* Mul(log(x), Pow(log(2), -1)) */
        { "x1*log10(x0)", 8 },                 /* one Mul */
        { "log1p(x0 + x1)", 5 },               /* log(Add(1, x, y)) */
        { "0.5*x0 - 0.25*x1", 7 },             /* Add(Mul(0.5, x), Mul(-0.25, y)) */
        { "2.0*(x0 + x1)", 7 },                /* Add(Mul(2.0, x), Mul(2.0, y)) */
        { "(x0 + x1)/2", 7 },                  /* the same */
        { "x2*(2.5*(x0 + x1))", 9 },           /* Mul(z, Add(...)) */
        { "2.5*(x0 + x1)*x2", 9 },             /* from the left */
        { "x2*(x0 + x1)*2.5", 6 },             /* Mul(2.5, z, Add(x, y)) */
        { "-2.5*(x0 - 1)", 5 },                /* Add(Mul(-2.5, x), 2.5) */
        { "1.5 + x0 + 2.5", 3 },               /* Add(x, 4.0) */
        { "3.5*x0*2.5", 3 },                   /* Mul(8.75, x) */
        { "(x0*x1)^2", 7 },                    /* Mul(Pow(x, 2), Pow(y, 2)) */
        { "(2.5*x0/x1)^3", 8 },                /* Mul(15.6, Pow(x, 3), Pow(y, -3)) */
        { "(-x0*x1)^2", 7 },                   /* the sign is gone */
        { "x0*x0*x1*x0", 5 },                  /* Mul(Pow(x, 3), y) */
        { "expm1(x0) + x1", 5 },               /* Add(exp(x), -1, y) */
        { "2^(x0*x1)", 5 },                    /* Pow(2, Mul(x, y)) */
        { "max(x0, max(x1, min(x2, 3)))", 6 }, /* Max(x, y, Min(z, 3)) */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expr e;
        assert_int_equal(expr_parse(&e, cases[i].text, NULL, *state, NULL), SNIP_OK);
        size_t got = expr_sympy_size(e);
        if (got != cases[i].size)
            fail_msg("%s: %zu nodes, expected %zu", cases[i].text, got, cases[i].size);
    }
}

static void memory_limits_are_failures_not_crashes(void **state)
{
    (void)state;
    int failed = 0, worked = 0;
    for (size_t limit = 64; limit < 100000; limit += 64) {
        arena *a = arena_new(limit);
        expr e;
        snip_status st;
        snip_code code =
            expr_parse(&e, "sin(x0)^2 + \\frac{1}{x_{1}} - `x2` + tanh(x0)*x1^5", NULL, a, &st);
        assert_true(code == SNIP_OK || code == SNIP_NOMEM);
        if (code == SNIP_OK) {
            expr n;
            code = expr_normal(&n, e, NULL, a, &st);
            assert_true(code == SNIP_OK || code == SNIP_NOMEM);
        }
        if (code == SNIP_OK) {
            const char *text = expr_print(e, SNIP_LATEX, NULL, 0, a);
            worked += text != NULL;
            double x = 1, y;
            const double *columns[3] = { &x, &x, &x };
            size_t good = expr_eval(e, columns, 1, &y, a);
            assert_true(good == 1 || good == (size_t)-1);
        }
        failed += code != SNIP_OK;
        arena_free(a);
    }
    assert_true(failed > 0 && worked > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(every_operator_is_written_and_read),
        ARENA_TEST(splices_keep_the_tree_whole),
        ARENA_TEST(sizes_are_those_of_sympy),
        cmocka_unit_test(memory_limits_are_failures_not_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
