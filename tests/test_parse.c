/* test_parse.c - formulas: reading them. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "expr/expr.h"

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
    { "x0²x1", 4, "expected an operator" },
    { "x0·", 4, "ends too early" },
    { "2πr", 3, "expected an operator" },
    { "x0*²", 3, "unexpected '²'" },
    { "x0⁻", 2, "a raised power is a whole number" },
    { "x0²⁻¹", 2, "a raised power is a whole number" },
    { "x0¹²³⁴⁵⁶⁷⁸⁹⁰¹²³⁴⁵⁶", 2, "at most 15 digits" },
    { "sin⁻¹(x0)", 3, "sin^-1 has two meanings" },
    { "x0 − 2·foo", 10, "unknown name 'foo'" },
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
        { "x0·x1×x2⋅3÷x3", "x0*x1*x2*3/x3" },
        { "2·x0", "2*x0" },
        { "x0²·x1³ - 2²", "x0^2*x1^3 - 2^2" },
        { "-x0² + (x0 + 1)⁴⁵", "-(x0^2) + (x0 + 1)^45" },
        { "1.5×10⁻¹²·x0⁰", "1.5*10^-12*x0^0" },
        { "x_{1}³ + x0 ² + e²", "x1^3 + x0^2 + e^2" },
        { "sin²(x0) + sec⁶(x0) + sin(x0)⁷", "sin(x0)^2 + sec^6(x0) + sin(x0)^7" },
        { "\\sin⁸\\left(x_{0}⁹\\right)", "sin^8(x0^9)" },
        { "2π·x0 + cos(π)", "2*pi*x0 + cos(pi)" },
        { "mul,π,x_0", "mul,pi,x_0" },
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

/* A column may be called with the signs that stand for operators, powers and pi. */
static void signs_of_columns_go_first(void **state)
{
    static const char *const own[] = { "x", "x²", "a·b", "b", "π", "µ", "Δt", "πr" };
    const expr_names names = { own, COUNT(own) };
    expr e, back;
    snip_status st = { 0 };
    if (expr_parse(&e, "2x²·x³·a·b·b - a·b² + 2π×Δt÷µ + πr·M_PI", &names, *state, &st) != SNIP_OK)
        fail_msg("%s at %zu", st.msg, st.pos);
    assert_string_equal(expr_print(e, SNIP_PREFIX, NULL, 0, *state),
                        "add,add,sub,mul,mul,mul,mul,2,x_1,pow3,x_0,x_2,x_3,pow2,x_2,div,mul,mul,"
                        "2,x_4,x_6,x_5,mul,x_7,pi");
    for (int f = SNIP_INFIX; f <= SNIP_LATEX; f++) {
        const char *text = expr_print(e, (snip_format)f, &names, 0, *state);
        if (expr_parse(&back, text, &names, *state, &st) != SNIP_OK || !expr_same(e, back))
            fail_msg("%s: %s", text, st.msg);
    }
    assert_true(expr_is_identifier("Δt"));
    assert_false(expr_is_identifier("x²"));
    assert_false(expr_is_identifier("a·b"));
}

static const char *const names[] = { "v", "m_1", "theta", "e", "speed [m/s]" };
static const expr_names known = { names, COUNT(names) };

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
    assert_int_equal(expr_parse(&e, "x1", &(expr_names){ names, 1 }, *state, &st), SNIP_SYNTAX);
    assert_string_equal(st.msg, "variable x1: there is only one input (x0)");
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
        { "H·x1² + 2π·Δt", "add,mul,x_0,pow2,x_1,mul,mul,2,pi,x_2", "H x1 Δt" },
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
    static const char *const wrong[] = { "b(x)",  "`b` + 1", "sin*x", "b + ",      "add,b$,x1",
                                         "add,b", "b c",     "",      "add,b²,x1", "πr" };
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(expr_parse_open(&e, &met, wrong[i], &known, a, &st), SNIP_SYNTAX);
    assert_int_equal(expr_parse_open(&e, &met, "`b`", NULL, a, NULL), SNIP_SYNTAX);
}

/* A formula in a file of its own would be this long. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(reads_every_spelling),
        ARENA_TEST(says_where_it_cannot_read),
        ARENA_TEST(what_people_write_is_read),
        ARENA_TEST(signs_of_columns_go_first),
        ARENA_TEST(names_of_the_table_go_first),
        ARENA_TEST(open_names_are_numbered_as_they_appear),
        ARENA_TEST(deep_and_long_text_is_refused_politely),
        ARENA_TEST(golden_expressions_read_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
