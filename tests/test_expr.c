/* test_expr.c - formulas: reading, writing, cutting. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/gen.h"
#include "expr/expr.h"

static const char *const names[] = { "v", "m_1", "theta", "e", "speed [m/s]" };
static const expr_names known = { names, COUNT(names) };

/* What a text is read as, in prefix. */
static const struct {
    const char *text, *prefix;
} readings[] = {
    { "1+2*3", "add,1,mul,2,3" },
    { "(1+2)*3", "mul,add,1,2,3" },
    { "1-2-3", "sub,sub,1,2,3" },
    { "x0/x1/x2", "div,div,x_0,x_1,x_2" },
    { "x0/x1*x2", "mul,div,x_0,x_1,x_2" },
    { "-x0^2", "neg,pow2,x_0" },
    { "-2^2", "neg,pow2,2" },
    { "(-2)^2", "pow2,-2" },
    { "2^-x0", "pow,2,neg,x_0" },
    { "x0^x1^x2", "pow,x_0,pow,x_1,x_2" },
    { "x0**3", "pow3,x_0" },
    { "x0 ** 2.0", "pow,x_0,2.0" },
    { "1/x0", "inv,x_0" },
    { "1.0/x0", "div,1.0,x_0" },
    { "e^x0", "exp,x_0" },
    { "E**(2*x_1)", "exp,mul,2,x_1" },
    { "--x0", "neg,neg,x_0" },
    { "+x0", "x_0" },
    { "- 3.5", "-3.5" },
    { "2.1*sin(x0) + x1^2", "add,mul,2.1,sin,x_0,pow2,x_1" },
    { "np.sin(x_0)+numpy.arctan(X1)", "add,sin,x_0,arctan,x_1" },
    { "Abs(x0)*asin(x1)-ln(x2)", "sub,mul,abs,x_0,arcsin,x_1,log,x_2" },
    { "math.sqrt(pi)*E", "mul,sqrt,pi,e" },
    { "power(x0, 2)", "pow,x_0,2" },
    { "Max(x0, min(x1,x2))", "max,x_0,min,x_1,x_2" },
    { "1e3*x0 + .5 + 2.e-2", "add,add,mul,1000.0,x_0,0.5,0.02" },
    { "add,1.5,mul,2.0,x_0", "add,1.5,mul,2.0,x_0" },
    { " sub , x_0 , -3 ", "sub,x_0,-3" },
    { "(44.5 add (x_0 mul (x_1)**2))", "add,44.5,mul,x_0,pow2,x_1" },
    { "\\frac{1}{x_{0}} \\cdot \\sin\\left(x_{1}\\right)", "mul,inv,x_0,sin,x_1" },
    { "\\left|x_{0}\\right|^{2} - \\sqrt{2}", "sub,pow2,abs,x_0,sqrt,2" },
    { "1.5 \\cdot 10^{-7} \\cdot x_{2}", "mul,1.5e-07,x_2" },
    { "Max(x0, x1, x2, 3)", "max,max,max,x_0,x_1,x_2,3" },
    { "x4095", "x_4095" },
};

static void reads_every_spelling(void **state)
{
    for (size_t i = 0; i < COUNT(readings); i++) {
        expr e;
        snip_status st = { 0 };
        if (expr_parse(&e, readings[i].text, NULL, *state, &st) != SNIP_OK)
            fail_msg("%s: %s at %zu", readings[i].text, st.msg, st.pos);
        assert_string_equal(expr_print(e, SNIP_PREFIX, NULL, 0, *state), readings[i].prefix);
    }
}

static const struct {
    const char *text;
    size_t pos;
    const char *message;
} errors[] = {
    { "", 0, "empty" },
    { "   ", 3, "ends too early" },
    { "x0 + foo(1)", 5, "unknown function 'foo'" },
    { "x0 + foo", 5, "unknown name 'foo'; there are x0, x1, ..." },
    { "2 * (x0 + 1", 11, "')' missing" },
    { "2 * x0)", 6, "')' closes nothing" },
    { "x0 +", 4, "ends too early" },
    { "* x0", 0, "unexpected '*'" },
    { "x0 x1", 3, "expected an operator" },
    { "x0 2", 3, "expected an operator" },
    { "2 3", 2, "expected an operator" },
    { "x0^2x1", 4, "expected an operator" },
    { "2x0 x1", 4, "expected an operator" },
    { "1/2x0", 3, "need brackets behind '/'" },
    { "x0/2(x1)", 4, "need brackets behind '/'" },
    { "0x10", 0, "hexadecimal" },
    { "0Xf + 1", 0, "hexadecimal" },
    { "sin^-1(x0)", 4, "sin^-1 has two meanings" },
    { "sin^{-1}(x0)", 4, "sin^-1 has two meanings" },
    { "sin^1.5(x0)", 4, "is a whole number" },
    { "sin^x0(x0)", 4, "is a whole number" },
    { "sin^2 x0", 6, "needs '('" },
    { "\\sin^{2(x0)", 7, "'}' missing" },
    { "sec", 0, "unknown name 'sec'" },
    { "sec(x0, x1)", 0, "takes 1 argument" },
    { "atan2(x0)", 0, "takes 2 arguments, not 1" },
    { "x0 \xE2\x88\x92 foo", 7, "unknown name 'foo'" }, /* the byte of the given text */
    { "\xE2\x88\x92", 3, "ends too early" },
    { "sin x0", 4, "needs '('" },
    { "sin()", 4, "unexpected ')'" },
    { "sin(x0, x1)", 0, "takes 1 argument, not 2" },
    { "pow(x0)", 0, "takes 2 arguments, not 1" },
    { "1e999", 0, "too large" },
    { "x4096", 0, "largest index is 4095" },
    { "x0 + \x01", 5, "unexpected byte 0x01" },
    { "x0 $ x1", 3, "expected an operator" },
    { "\\frac{x_{0}}x1", 12, "expected '{'" },
    { "\\foo{x}", 0, "unknown LaTeX command" },
    { "`abc", 0, "without its closing" },
    { "add,1", 5, "1 operand missing" },
    { "add,1,2,3", 8, "complete before this word" },
    { "add,,2", 4, "empty word" },
    { "add,1,foo", 6, "unknown operator or name 'foo'" },
    { "add,1,2,", 8, "complete before" },
};

static void says_where_it_cannot_read(void **state)
{
    for (size_t i = 0; i < COUNT(errors); i++) {
        snip_status st = { 0 };
        expr e;
        assert_int_equal(expr_parse(&e, errors[i].text, NULL, *state, &st), SNIP_SYNTAX);
        assert_null(e.node);
        if (st.pos != errors[i].pos || !strstr(st.msg, errors[i].message))
            fail_msg("%s: byte %zu: %s", errors[i].text, st.pos, st.msg);
        assert_int_equal(expr_parse(&e, errors[i].text, NULL, *state, NULL), SNIP_SYNTAX);
    }
}

/* Spellings that stand for others: each pair is one tree. */
static void what_people_write_is_read(void **state)
{
    static const char *const pairs[][2] = {
        { "2x0", "2*x0" },
        { "2 x0", "2*x0" },
        { "2.5(x0 + 1)", "2.5*(x0 + 1)" },
        { "-2x0^2", "-2*x0^2" },
        { "x1*3x0", "x1*(3*x0)" },
        { "2x0/x1 + 3e", "2*x0/x1 + 3*e" },
        { "2e3x0", "2e3*x0" },
        { "2e", "2*e" },
        { "2sin(x0) - 3 sqrt(x1)", "2*sin(x0) - 3*sqrt(x1)" },
        { "2\\frac{x_{0}}{x_{1}}", "2*(x0/x1)" },
        { "2 \\left(x_{0} + 1\\right)", "2*(x0 + 1)" },
        { "2 \\cdot x_{0}", "2*x0" },
        { "2{x_{0}}", "2*x0" },
        { "(x_0 mul 2) add (2 sub x_1)", "x0*2 + (2 - x1)" },
        { "2 mul x_0", "2*x0" },
        { "sin^2(x0)", "sin(x0)^2" },
        { "sin**3(x0)*x1", "sin(x0)^3*x1" },
        { "2cos^4(x0)", "2*pow(cos(x0), 4)" },
        { "\\sin^{2}\\left(x_{0}\\right)", "sin(x0)^2" },
        { "np.log^2(x0)", "log(x0)^2" },
        { "sec(x0) + csc(x1)*cot(x2)", "1/cos(x0) + (1/sin(x1))*(1/tan(x2))" },
        { "sec^2(x0)", "1/cos(x0)^2" },
        { "\\sec\\left(x_{0}\\right) \\cdot \\cot^{2}(x_{1})", "(1/cos(x0))*(1/tan(x1)^2)" },
        { "np.arctan2(x0, x1)", "atan2(x0, x1)" },
        { "math.erf(x0)", "erf(x0)" },
        { "x0 \xE2\x88\x92 1e\xE2\x88\x92"
          "3*x1",
          "x0 - 1e-3*x1" },
        { "\xE2\x88\x92x0\xE2\x88\x92\xE2\x88\x92"
          "2",
          "-x0--2" },
        { "add,x_0,\xE2\x88\x92"
          "2.5",
          "add,x_0,-2.5" },
    };
    for (size_t i = 0; i < COUNT(pairs); i++) {
        expr e, want;
        snip_status st = { 0 };
        if (expr_parse(&e, pairs[i][0], NULL, *state, &st) != SNIP_OK)
            fail_msg("%s: %s at %zu", pairs[i][0], st.msg, st.pos);
        assert_int_equal(expr_parse(&want, pairs[i][1], NULL, *state, &st), SNIP_OK);
        if (!expr_same(e, want))
            fail_msg("%s is %s", pairs[i][0], expr_print(e, SNIP_INFIX, NULL, 0, *state));
    }
    /* Names of columns go first, and one with a minus sign needs its quotes. */
    static const char *const own[] = { "sec",
                                       "a\xE2\x88\x92"
                                       "b",
                                       "a", "b", "erf" };
    const expr_names names = { own, 5 };
    expr e, back;
    assert_int_equal(expr_parse(&e,
                                "2sec^2 + `a\xE2\x88\x92"
                                "b` - a\xE2\x88\x92"
                                "b + erf",
                                &names, *state, NULL),
                     SNIP_OK);
    assert_string_equal(expr_print(e, SNIP_PREFIX, NULL, 0, *state),
                        "add,sub,sub,add,mul,2,pow2,x_0,x_1,x_2,x_3,x_4");
    for (int f = SNIP_INFIX; f <= SNIP_LATEX; f++) {
        const char *text = expr_print(e, (snip_format)f, &names, 0, *state);
        snip_status st = { 0 };
        if (expr_parse(&back, text, &names, *state, &st) != SNIP_OK || !expr_same(e, back))
            fail_msg("%s: %s", text, st.msg);
    }
}

/* Forms such as div(1, x) are printed where 1/x would be another tree. They read back also where
 * columns are called like operators, or like text that formulas are made of. */
static void function_forms_read_back(void **state)
{
    static const char *const columns[][3] = {
        { "x", "y", "z" },       { "div", "neg", "pow" },   { "pow2", "pow3", "inv" },
        { "sin", "exp", "log" }, { "sqrt", "Abs", "pi" },   { "1/x", "a b", "x^2" },
        { "-", "div(1", "`" },   { "frac", "left", "cdot" }
    };
    static const char *const forms[] = { "div(1,x0)",
                                         "x0*div(1,x1)",
                                         "div(1,div(1,x0))",
                                         "x2 - div(1,x1)",
                                         "div(1,x0)^2",
                                         "div(1,2)",
                                         "neg(2.0)",
                                         "neg(3)*x0",
                                         "pow(x0,2)",
                                         "pow(e,x1)",
                                         "pow2(e)",
                                         "x0 - -0.03*cos(x1)",
                                         "-(-2.0)*x0",
                                         "inv(inv(x0))",
                                         "pow(pow(x0,x1),x2)",
                                         "1e-7*x0/(2e8 - x1)",
                                         "2 - neg(x0)",
                                         "e^(2*x0)",
                                         "sin(x0)*exp(x1)/log(x2)",
                                         "inv(x0)^2" };
    for (size_t i = 0; i < COUNT(forms) * COUNT(columns); i++) {
        const expr_names names = { columns[i % COUNT(columns)], 3 };
        expr e, back;
        snip_status st = { 0 };
        assert_int_equal(expr_parse(&e, forms[i / COUNT(columns)], NULL, *state, &st), SNIP_OK);
        for (int f = SNIP_INFIX; f <= SNIP_LATEX; f++) {
            const char *text = expr_print(e, (snip_format)f, &names, 0, *state);
            if (expr_parse(&back, text, &names, *state, &st) != SNIP_OK ||
                (f != SNIP_SYMPY && !expr_same(e, back)))
                fail_msg("%s: %s", text, st.msg);
        }
    }
}

static void names_of_the_table_go_first(void **state)
{
    expr e;
    snip_status st;
    assert_int_equal(
        expr_parse(&e, "m_1*v^2 + theta - e + `speed [m/s]` + x4", &known, *state, &st), SNIP_OK);
    assert_string_equal(expr_print(e, SNIP_PREFIX, NULL, 0, *state),
                        "add,add,sub,add,mul,x_1,pow2,x_0,x_2,x_3,x_4,x_4");
    assert_int_equal(expr_parse(&e, "x5", &known, *state, &st), SNIP_SYNTAX);
    assert_non_null(strstr(st.msg, "there are only 5 inputs"));
    static const char *const unknown[] = { "q + 1", "`q`", "add,q,1", "`q`,", "\\mathrm{q}" };
    for (size_t i = 0; i < COUNT(unknown); i++) {
        assert_int_equal(expr_parse(&e, unknown[i], &known, *state, &st), SNIP_SYNTAX);
        if (!strstr(st.msg, "name 'q'; there are v, m_1, theta, e, speed [m/s]"))
            fail_msg("%s: %s", unknown[i], st.msg);
    }
    /* As many names as a line holds, of any length. */
    static const char *many[4096];
    static char endless[5000];
    memset(endless, 'z', sizeof endless - 1);
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = i ? "lengthy" : endless;
    const expr_names wide = { many, COUNT(many) };
    assert_int_equal(expr_parse(&e, "q", &wide, *state, &st), SNIP_SYNTAX);
    assert_non_null(strstr(st.msg, "zzz, ... (4096 in all)"));

    /* Columns called x1, x2: x0 would be the first of them by place, x1 by name. */
    const expr_names shifted = { (const char *const[]){ "x1", "x2" }, 2 }, none = { NULL, 0 };
    assert_int_equal(expr_parse(&e, "x1 + x2", &shifted, *state, &st), SNIP_OK);
    assert_string_equal(expr_print(e, SNIP_PREFIX, NULL, 0, *state), "add,x_0,x_1");
    assert_int_equal(expr_parse(&e, "x0 + x1", &shifted, *state, &st), SNIP_SYNTAX);
    assert_non_null(strstr(st.msg, "unknown name 'x0'"));
    assert_int_equal(expr_parse(&e, "x0", &none, *state, &st), SNIP_SYNTAX);
    assert_non_null(strstr(st.msg, "no inputs"));
    const expr_names odd = { (const char *const[]){ "c,d", "a\\b", "add" }, 3 };
    assert_int_equal(expr_parse(&e, "`c,d`*`a\\b` + add", &odd, *state, &st), SNIP_OK);
    assert_string_equal(expr_print(e, SNIP_PREFIX, NULL, 0, *state), "add,mul,x_0,x_1,x_2");
    assert_int_equal(expr_parse(&e, "add,x_0,x_1", &odd, *state, &st), SNIP_OK);
}

/* A formula in a file of its own would be this long. */
/* Where any name may be a variable: what it is called, in the order of appearance. */
static void open_names_are_numbered_as_they_appear(void **state)
{
    static const char *const columns[] = { "e", "speed [m/s]", "x1" };
    const expr_names known = { columns, 3 };
    static const struct {
        const char *text, *prefix, *met;
    } cases[] = {
        { "b1*(1 - exp(-b2*x))", "mul,x_0,sub,1,exp,mul,neg,x_1,x_2", "b1 b2 x" },
        { "A*x + A", "add,mul,x_0,x_1,x_0", "A x" },
        { "x1 + x7 + x0", "add,add,x_0,x_1,x_2", "x1 x7 x0" }, /* not counted */
        { "e*pi + E", "add,mul,x_0,pi,e", "e" },               /* columns before constants */
        { "`speed [m/s]`/q", "div,x_0,x_1", "speed [m/s] q" },
        { "add,b,mul,x1,b", "add,x_0,mul,x_1,x_0", "b x1" },
        { "b_{1} \\cdot b_{2}", "mul,x_0,x_1", "b1 b2" },
        { "1.5", "1.5", "" },
    };
    arena *a = *state;
    snip_status st = { 0 };
    expr_names met;
    expr e;
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (expr_parse_open(&e, &met, cases[i].text, &known, a, &st) != SNIP_OK)
            fail_msg("%s: %s", cases[i].text, st.msg);
        char names[200] = "";
        for (size_t k = 0; k < met.count; k++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k ? " " : "",
                     met.name[k]);
        assert_string_equal(names, cases[i].met);
        assert_string_equal(expr_print(e, SNIP_PREFIX, NULL, 0, a), cases[i].prefix);
    }
    static const char *const wrong[] = { "b(x)",      "`b` + 1", "sin*x", "b + ",
                                         "add,b$,x1", "add,b",   "b c",   "" };
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(expr_parse_open(&e, &met, wrong[i], &known, a, &st), SNIP_SYNTAX);
    assert_int_equal(expr_parse_open(&e, &met, "`b`", NULL, a, NULL), SNIP_SYNTAX);
}

static void deep_and_long_text_is_refused_politely(void **state)
{
    arena *a = *state;
    size_t big = 10u << 20;
    char *text = arena_alloc(a, big + 1);
    expr e;
    snip_status st;

    memset(text, '(', 1000);
    strcpy(text + 1000, "x0");
    memset(text + 1002, ')', 1000);
    text[2002] = 0;
    assert_int_equal(expr_parse(&e, text, NULL, a, &st), SNIP_SYNTAX);
    assert_non_null(strstr(st.msg, "nested more than"));

    memset(text, '-', 1000);
    strcpy(text + 1000, "x0");
    assert_int_equal(expr_parse(&e, text, NULL, a, &st), SNIP_SYNTAX);

    for (size_t i = 0; i < big; i += 2)
        memcpy(text + i, i % 4 ? "+1" : "+x", 2); /* +x+1+x+1... */
    text[big] = 0;
    for (size_t i = 1; i < big; i += 2)
        text[i] = '1';
    assert_int_equal(expr_parse(&e, text, NULL, a, &st), SNIP_SYNTAX);
    assert_non_null(strstr(st.msg, "more than 10000 nodes"));

    memset(text, '7', big); /* one number of ten million digits */
    assert_int_equal(expr_parse(&e, text, NULL, a, &st), SNIP_SYNTAX);
    assert_non_null(strstr(st.msg, "too large"));

    /* 5,000 terms are long but fine: sums do not nest. */
    strcpy(text, "x0");
    for (int i = 0; i < 4000; i++)
        memcpy(text + 2 + 3 * i, "+x1", 4);
    assert_int_equal(expr_parse(&e, text, NULL, a, &st), SNIP_OK);
    assert_int_equal(e.count, 8001);
    assert_non_null(expr_print(e, SNIP_INFIX, NULL, 0, a));
    assert_int_equal(expr_depth(e), 4000);
    assert_int_equal(expr_sympy_size(e), 4002);
}

/* A random tree over all operators, with numbers of every kind. */
static size_t random_tree(rng *r, expr_node *out, int budget)
{
    static const double numbers[] = { 1, 2, 3, 10, -1, 0.5, -2.25, 1e-7, 3.3e40, 0, -0.0, 1.0 };
    int op = budget <= 1 ? (int)rng_below(r, EXPR_GAMMA + 1)
                         : EXPR_ADD + (int)rng_below(r, EXPR_OP_COUNT - EXPR_ADD);
    *out = (expr_node){ .op = (uint8_t)op };
    if (op == EXPR_VARIABLE)
        out->var = (uint16_t)rng_below(r, 5);
    if (op == EXPR_NUMBER) {
        uint32_t k = rng_below(r, COUNT(numbers));
        out->value = numbers[k];
        out->integer = k < 5;
    }
    size_t n = 1;
    for (int k = 0; k < expr_ops[op].arity; k++)
        n += random_tree(r, out + n, (budget - 1) / expr_ops[op].arity);
    return n;
}

static void prints_read_back_to_the_same_tree(void **state)
{
    static const snip_format formats[] = { SNIP_INFIX, SNIP_PREFIX, SNIP_LATEX };
    arena *a = *state;
    rng r;
    rng_init(&r, 11, RNG_BENCH, 0);
    for (int i = 0; i < 3000; i++) {
        arena_pos mark = arena_mark(a);
        expr_node nodes[256];
        expr e = { nodes, random_tree(&r, nodes, 1 + (int)rng_below(&r, 40)) }, back;
        assert_true(expr_measure(e));
        for (size_t f = 0; f < COUNT(formats); f++)
            for (int named = 0; named < 3; named++) {
                static const char *const plain[] = { "v", "m_1", "theta", "q", "speed [m/s]" };
                static const char *const odd[] = { "e", "pi", "sin", "1", "mass, kg" };
                const expr_names names = { named == 1 ? plain : odd, 5 };
                const expr_names *n = named ? &names : NULL;
                /* Where a column is called e, LaTeX has exp(1) for the constant. */
                int hidden = 0;
                for (size_t k = 0; k < e.count; k++)
                    hidden |= nodes[k].op == EXPR_E;
                if (named == 2 && hidden && formats[f] == SNIP_LATEX)
                    continue;
                const char *text = expr_print(e, formats[f], n, 0, a);
                snip_status st = { 0 };
                if (expr_parse(&back, text, n, a, &st) != SNIP_OK)
                    fail_msg("%s: %s at %zu", text, st.msg, st.pos);
                if (!expr_same(e, back))
                    fail_msg("%s became %s", text, expr_print(back, SNIP_PREFIX, NULL, 0, a));
            }
        /* sympy's spelling may simplify (1/x for div(1, x)) but keeps values; expm1 and log1p are
         * spelled out and lose digits, so they are left out of the comparison */
        int compared = 1;
        for (size_t k = 0; k < e.count; k++)
            compared &= nodes[k].op != EXPR_EXPM1 && nodes[k].op != EXPR_LOG1P;
        double x[5][3], y[3], z[3];
        const double *columns[5];
        for (int j = 0; j < 5; j++) {
            rng_fill_uniform(&r, x[j], 3);
            columns[j] = x[j];
        }
        const char *sympy = expr_print(e, SNIP_SYMPY, NULL, 0, a);
        assert_int_equal(expr_parse(&back, sympy, NULL, a, NULL), SNIP_OK);
        expr_eval(e, columns, 3, y, a);
        expr_eval(back, columns, 3, z, a);
        for (int k = 0; k < 3; k++)
            if (compared && !(isnan(y[k]) && isnan(z[k])) && y[k] != z[k] &&
                !(fabs(y[k] - z[k]) <= 1e-9 * fabs(y[k])))
                fail_msg("%s: %g against %g", sympy, y[k], z[k]);
        arena_reset(a, mark);
    }
}

/* C ---------------------------------------------------------------------------------------------
 */

static const struct {
    const char *text, *c;
} c_texts[] = {
    { "2.1*sin(x0) + x1^2", "2.1*sin(x0) + x1*x1" },
    { "1/2", "1.0/2.0" },
    { "div(1, 2) - x0/3", "1.0/2.0 - x0/3.0" },
    { "x0/x1^3", "x0/(x1*x1*x1)" },
    { "sin(x0)^2 + (x0 + 1)^3", "pow(sin(x0), 2) + pow(x0 + 1.0, 3)" },
    { "(-2)^2", "(-2.0)*(-2.0)" },
    { "1/(x0*x1)", "1.0/(x0*x1)" },
    { "x0 - (x1 - -3)", "x0 - (x1 - -3.0)" },
    { "-(-x0)", "-(-x0)" },
    { "x0^x1^x2", "pow(x0, pow(x1, x2))" },
    { "abs(arcsin(x0))*pi*e^2", "fabs(asin(x0))*3.141592653589793*exp(2.0)" },
    { "sign(x0 - 1)", "((x0 - 1.0 > 0) - (double)(x0 - 1.0 < 0))" },
    { "max(x0, min(x1, 1e20))", "fmax(x0, fmin(x1, 1e+20))" },
    { "EulerGamma*123456789012345", "0.5772156649015329*123456789012345.0" },
};

static void c_text_is_c(void **state)
{
    arena *a = *state;
    expr e;
    for (size_t i = 0; i < COUNT(c_texts); i++) {
        assert_int_equal(expr_parse(&e, c_texts[i].text, NULL, a, NULL), SNIP_OK);
        assert_string_equal(expr_print(e, SNIP_C, NULL, 0, a), c_texts[i].c);
    }
    expr_parse(&e, "2.0*x0 + 0.123456789", NULL, a, NULL);
    assert_string_equal(expr_print(e, SNIP_C, NULL, 3, a), "2.0*x0 + 0.123");
    const expr_names odd = { (const char *const[]){ "speed [m/s]", "long", "3d", "m_1" }, 4 };
    expr_parse(&e, "`speed [m/s]`*long + `3d`/m_1", &odd, a, NULL);
    assert_string_equal(expr_print(e, SNIP_C, &odd, 0, a), "speed__m_s_*long_ + _3d/m_1");
    /* Names that C cannot tell apart are numbered; marks that mean something in LaTeX are not bare.
     */
    static const char *const macros[] = { "_Bool", "linux", "FP_NAN", "__LINE__", "unixy" };
    expr_parse(&e, "x0 + x1*x2 + x3 + x4", NULL, a, NULL);
    assert_string_equal(expr_print(e, SNIP_C, &(expr_names){ macros, 5 }, 0, a),
                        "_Bool_ + linux_*FP_NAN_ + __LINE___ + unixy");
    static const char *const bare[] = { "a{b", "}c", "a\\b", "`q`" };
    const expr_names braces = { bare, 4 };
    static const snip_format readable[] = { SNIP_INFIX, SNIP_LATEX, SNIP_SYMPY };
    expr back;
    expr_parse(&e, "max(x0, x1) + min(x2, x3)", NULL, a, NULL);
    for (size_t f = 0; f < COUNT(readable); f++) {
        const char *text = expr_print(e, readable[f], &braces, 0, a);
        snip_status st = { 0 };
        if (expr_parse(&back, text, &braces, a, &st) != SNIP_OK || !expr_same(e, back))
            fail_msg("%s: %s", text, st.msg);
    }
    static const char *const raised[] = { "a^b^c", "~x", "C:\\new\\", "sim \\sim ~", "\\wedge," };
    const expr_names signs = { raised, 5 };
    expr_parse(&e, "x0 + x1 + x2 + x3*x4", NULL, a, NULL);
    const char *bent = expr_print(e, SNIP_LATEX, &signs, 0, a);
    assert_string_equal(bent, "\\mathrm{a\\wedge b\\wedge c} + \\mathrm{\\sim x} + "
                              "\\mathrm{C:\\backslash new\\backslash } + "
                              "\\mathrm{sim \\backslash sim \\sim } \\cdot "
                              "\\mathrm{\\backslash wedge,}");
    assert_int_equal(expr_parse(&back, bent, &signs, a, NULL), SNIP_OK);
    assert_true(expr_same(e, back));
    static const char *const twins[] = { "a b", "a_b", "a_", "y%1 & #$" };
    const expr_names alike = { twins, 4 };
    expr_parse(&e, "x0 + x1*x2 + x3", NULL, a, NULL);
    assert_string_equal(expr_print(e, SNIP_C, &alike, 0, a), "a_b_0 + a_b_1*a_ + y_1_____");
    static const char *const clashes[] = { "1a",  "_1a", "long",  "long_",
                                           "a b", "a_b", "a_b_4", "M PI" };
    expr_parse(&back, "x0 - x1 + x2*x3 - x4 + x5 + x6*x7", NULL, a, NULL);
    assert_string_equal(expr_print(back, SNIP_C, &(expr_names){ clashes, 8 }, 0, a),
                        "_1a_0 - _1a_1 + long__2*long__3 - a_b_4_ + a_b_5 + a_b_4*M_PI_");
    const char *latex = expr_print(e, SNIP_LATEX, &alike, 0, a);
    assert_string_equal(latex, "\\mathrm{a b} + \\mathrm{a\\_b} \\cdot \\mathrm{a\\_} + "
                               "\\mathrm{y\\%1 \\& \\#\\$}");
    assert_int_equal(expr_parse(&back, latex, &alike, a, NULL), SNIP_OK);
    assert_true(expr_same(e, back));
    /* Names that sympy would take for its own, or could not read. */
    static const char *const taken[] = { "I",
                                         "gamma",
                                         "it's, (\\ so)",
                                         "lambda",
                                         "mass",
                                         "gam",
                                         "Sepal.Length",
                                         "\xC2\xB0"
                                         "C",
                                         "total_degree" };
    const expr_names own = { taken, 9 };
    expr_parse(&e, "x0*x1 + x2/x3 - max(x4, x5) + cbrt(x6*(x7 + x8))", NULL, a, NULL);
    const expr_names hiding = { (const char *const[]){ "E", "pi", "M_E", "e", "M_PI" }, 5 };
    expr hidden;
    assert_int_equal(expr_parse(&hidden, "x0*math.e + x1*np.pi", &(expr_names){ NULL, 0 }, a, NULL),
                     SNIP_SYNTAX);
    assert_int_equal(expr_parse(&hidden, "x0*math.e + x1*np.pi", NULL, a, NULL), SNIP_OK);
    assert_string_equal(expr_print(hidden, SNIP_SYMPY, &hiding, 0, a),
                        "Symbol('E')*exp(1) + Symbol('pi')*acos(-1)");
    assert_string_equal(expr_print(hidden, SNIP_PREFIX, &hiding, 0, a), "add,mul,E,np.e,mul,pi,PI");
    for (size_t f = 0; f < 2; f++) {
        const char *text = expr_print(hidden, f ? SNIP_PREFIX : SNIP_INFIX, &hiding, 0, a);
        assert_int_equal(expr_parse(&back, text, &hiding, a, NULL), SNIP_OK);
        assert_true(expr_same(hidden, back));
    }
    const expr_names modules = { (const char *const[]){ "np.sin", "math.x" }, 2 };
    expr_parse(&hidden, "x0 + x1", NULL, a, NULL);
    const char *prefix = expr_print(hidden, SNIP_PREFIX, &modules, 0, a);
    assert_string_equal(prefix, "add,`np.sin`,math.x");
    assert_int_equal(expr_parse(&back, prefix, &modules, a, NULL), SNIP_OK);
    assert_true(expr_same(hidden, back));
    const expr_names brackets = { (const char *const[]){ "a)", "b,c" }, 2 };
    expr_parse(&hidden, "x0 + x1", NULL, a, NULL);
    const char *marked = expr_print(hidden, SNIP_LATEX, &brackets, 0, a);
    assert_int_equal(expr_parse(&back, marked, &brackets, a, NULL), SNIP_OK);
    assert_true(expr_same(hidden, back));
    const char *sympy = expr_print(e, SNIP_SYMPY, &own, 0, a);
    assert_string_equal(sympy, "Symbol('I')*Symbol('gamma') + Symbol('it\\'s, (\\\\ so)')/"
                               "Symbol('lambda') - Max(mass, gam) + "
                               "real_root(Symbol('Sepal.Length')*(Symbol('\xC2\xB0"
                               "C') + Symbol('total_degree')), 3)");
    assert_int_equal(expr_parse(&back, sympy, &own, a, NULL), SNIP_OK);
    assert_true(expr_same(e, back));
    snip_status st;
    assert_int_equal(expr_parse(&back, "2*Symbol('mass", &own, a, &st), SNIP_SYNTAX);
    assert_int_equal(expr_parse(&back, "2*Symbol('mass' + 1", &own, a, &st), SNIP_SYNTAX);
    assert_int_equal(st.pos, 16);
    assert_int_equal(expr_parse(&back, "2*Symbol('weight')", &own, a, &st), SNIP_SYNTAX);
    assert_non_null(strstr(st.msg, "unknown name 'weight'"));
    /* Signs inside each other keep the text short. */
    char deep[2000] = "";
    for (int i = 0; i < 300; i++)
        strcat(deep, "sign(");
    strcat(deep, "x0");
    for (int i = 0; i < 300; i++)
        strcat(deep, ")");
    assert_int_equal(expr_parse(&e, deep, NULL, a, NULL), SNIP_OK);
    assert_true(strlen(expr_print(e, SNIP_C, NULL, 0, a)) < 10000);
}

/* Every operator, and the brackets between them. */
static const char *const compiled[] = {
    "1/2 + x0*(1/3)",
    "x0 - (x1 - x2) - (x0 + x1)",
    "x0/(x1/x2)/(x0*x1)",
    "-x0^2 - (-x1)^2*-x2",
    "(-1.5)^3*x0^3/x1^2",
    "(x0 + x1)^3/(x0 + x1)^2",
    "pow2(pow3(x2))",
    "(x0*x1)^(x2 + 1.5)^0.5",
    "2^-x0",
    "abs(x0 - x1)*sqrt(x2)",
    "log(x0) + exp(-x1) + log2(x1) + log10(x2)",
    "log1p(x0)*expm1(x1) + exp2(x2)",
    "sin(x0)*cos(x1) - tan(x2/2)",
    "arcsin(x0/10)*arccos(x1/10)/arctan(x2)",
    "sinh(x0) + cosh(x1)*tanh(x2)",
    "arcsinh(x0) - arccosh(1 + x1)*arctanh(x2/10)",
    "cbrt(x0 - x1)",
    "erf(x0 - x1) + atan2(x1 - x0, x2 - 1)*atan2(x0, x1)",
    "sec(x0)*csc(x1) - cot(x2)^2",
    "sign(x0 - x1)/sign(x1 - 100)",
    "sign(sign(x0 - x1) + x2) + sign(x0 - x0) + sign(sign(x1 - x0)*x1)",
    "floor(x0*3)/ceil(x1*3)",
    "max(min(x0, x1), x2) - min(x0, max(x1, 0.5))",
    "pi*e*euler_gamma + pi^2*e^3",
    "inv(inv(x0) + inv(x1*x2))",
    "-(-(x0 - 3))",
    "1e300*x0*1e-300 + 123456789012345*x1",
    "(x0 - -2)*(-3 - -x1)",
    "0.1*x0 + 1e-7/3 - 7/2",
};

/* Writes the program whose output is the values of all formulas at all rows. */
static void write_program(const char *path, const double x[3][3], arena *a)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#include <math.h>\n#include <stdio.h>\n");
    for (size_t i = 0; i < COUNT(compiled); i++) {
        expr e;
        snip_status st = { 0 };
        if (expr_parse(&e, compiled[i], NULL, a, &st) != SNIP_OK)
            fail_msg("%s: %s", compiled[i], st.msg);
        fprintf(f, "static double f%zu(double x0, double x1, double x2)\n{\n    return %s;\n}\n", i,
                expr_print(e, SNIP_C, NULL, 0, a));
    }
    fprintf(f, "int main(void)\n{\n");
    for (size_t i = 0; i < COUNT(compiled); i++)
        for (int r = 0; r < 3; r++)
            fprintf(f, "    printf(\"%%.17g\\n\", f%zu(%.17g, %.17g, %.17g));\n", i, x[0][r],
                    x[1][r], x[2][r]);
    fprintf(f, "    return 0;\n}\n");
    assert_int_equal(fclose(f), 0);
}

static void c_text_has_the_same_values(void **state)
{
    static const double x[3][3] = { { 0.5, 1.25, 3.1 }, { 1.5, 0.75, 0.3 }, { 0.7, 2.5, 1.9 } };
    const double *columns[] = { x[0], x[1], x[2] };
    arena *a = *state;
    char folder[] = "/tmp/snip-c-XXXXXX", source[64], program[64], command[256];
    assert_non_null(mkdtemp(folder));
    snprintf(source, sizeof source, "%s/f.c", folder);
    snprintf(program, sizeof program, "%s/f", folder);
    snprintf(command, sizeof command, "cc -o %s %s -lm && %s", program, source, program);
    write_program(source, x, a);
    FILE *values = popen(command, "r");
    assert_non_null(values);
    for (size_t i = 0; i < COUNT(compiled); i++) {
        expr e;
        double y[3], got;
        expr_parse(&e, compiled[i], NULL, a, NULL);
        assert_int_equal(expr_eval(e, columns, 3, y, a), 3);
        for (int r = 0; r < 3; r++)
            if (fscanf(values, "%lf", &got) != 1 || !(fabs(got - y[r]) <= 1e-12 * fabs(y[r])))
                fail_msg("%s at row %d: %.17g, expected %.17g", compiled[i], r, got, y[r]);
    }
    assert_int_equal(pclose(values), 0);
    unlink(source);
    unlink(program);
    rmdir(folder);
}

static void golden_expressions_read_as_recorded(void **state)
{
    arena *a = *state;
    json_t *list = golden_lines("expressions.jsonl"), *o;
    size_t i;
    json_array_foreach (list, i, o) {
        const char *prefix = json_string_value(json_object_get(o, "prefix"));
        const char *infix = json_string_value(json_object_get(o, "infix"));
        expr e, again;
        assert_int_equal(expr_parse(&e, prefix, NULL, a, NULL), SNIP_OK);
        assert_string_equal(expr_print(e, SNIP_PREFIX, NULL, 0, a), prefix);
        assert_int_equal(expr_parse(&again, infix, NULL, a, NULL), SNIP_OK);
        assert_true(expr_same(e, again));
        int unary = 0, binary = 0;
        for (size_t k = 0; k < e.count; k++) {
            unary += expr_ops[e.node[k].op].arity == 1;
            binary += expr_ops[e.node[k].op].arity == 2;
        }
        assert_int_equal(unary, json_integer_value(json_object_get(o, "n_unary")));
        assert_int_equal(binary, json_integer_value(json_object_get(o, "n_binary")));
        assert_int_equal(expr_depth(e), json_integer_value(json_object_get(o, "depth")));
        assert_int_equal(expr_inputs(e), json_integer_value(json_object_get(o, "input_dimension")));
    }
    json_decref(list);
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

static void numbers_print_shortest(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *text;
    } cases[] = { { 8, "8.0" },
                  { 0.1, "0.1" },
                  { 62.800000000000004, "62.800000000000004" },
                  { 1e-7, "1e-07" },
                  { -0.0, "-0.0" },
                  { 1.0 / 3, "0.3333333333333333" },
                  { 1e22, "1e+22" },
                  { 5e-324, "4.94065645841247e-324" } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char buf[32];
        expr_print_number(buf, cases[i].v);
        assert_string_equal(buf, cases[i].text);
        assert_true(strtod(buf, NULL) == cases[i].v);
    }
}

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
        ARENA_TEST(reads_every_spelling),
        ARENA_TEST(says_where_it_cannot_read),
        ARENA_TEST(what_people_write_is_read),
        ARENA_TEST(function_forms_read_back),
        ARENA_TEST(names_of_the_table_go_first),
        ARENA_TEST(open_names_are_numbered_as_they_appear),
        ARENA_TEST(deep_and_long_text_is_refused_politely),
        ARENA_TEST(prints_read_back_to_the_same_tree),
        ARENA_TEST(every_operator_is_written_and_read),
        ARENA_TEST(c_text_is_c),
        ARENA_TEST(c_text_has_the_same_values),
        ARENA_TEST(golden_expressions_read_as_recorded),
        ARENA_TEST(splices_keep_the_tree_whole),
        ARENA_TEST(sizes_are_those_of_sympy),
        cmocka_unit_test(numbers_print_shortest),
        cmocka_unit_test(memory_limits_are_failures_not_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
