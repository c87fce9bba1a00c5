/* test_print.c - formulas: writing them, and reading what was written. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/gen.h"
#include "expr/expr.h"

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

/* ---- C ---- */

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

/* A fitted exponent never looks like one that is part of the form. */
static void fitted_exponents_never_look_whole(void **state)
{
    static const struct {
        const char *text, *infix;
    } cases[] = {
        { "2.0801*x0^(1/1.9966418)", "2.08*x0^(1/1.997)" },
        { "x0^1.9966", "x0^1.997" },
        { "x0^(-1.9966)", "x0^(-1.997)" },
        { "x0^1.999998", "x0^2.0" },
        { "x0^2.0000000001", "x0^2.0" },
        { "1.9966*x0^2.25", "2*x0^2.25" },
        { "x0^2.0 + x0^5.0", "x0^2 + x0^5" },
        { "x0^0.33333", "x0^0.333" },
        { "x0^2.5 + 2.0001*x1", "x0^2.5 + 2*x1" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expr e = parsed(cases[i].text, NULL, *state);
        assert_string_equal(expr_print(e, SNIP_INFIX, NULL, 3, *state), cases[i].infix);
    }
    expr e = parsed("x0^1.9966 + 1.9966", NULL, *state);
    assert_string_equal(expr_print(e, SNIP_PREFIX, NULL, 3, *state), "add,pow,x_0,1.997,2");
    assert_string_equal(expr_print(e, SNIP_LATEX, NULL, 3, *state), "x_{0}^{1.997} + 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(function_forms_read_back),
        ARENA_TEST(prints_read_back_to_the_same_tree),
        ARENA_TEST(fitted_exponents_never_look_whole),
        ARENA_TEST(c_text_is_c),
        ARENA_TEST(c_text_has_the_same_values),
        cmocka_unit_test(numbers_print_shortest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
