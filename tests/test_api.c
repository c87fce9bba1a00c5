/* test_api.c - the shared library as a user's program sees it: snip.h alone. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "snip.h"

static void a_formula_from_text_to_values(void **state)
{
    (void)state;
    const char *names[] = { "v", "t" };
    double v[] = { 1, 2, 3 }, t[] = { 0, 1, -1 }, y[3];
    const double *columns[] = { v, t };
    snip_status st;
    snip_expr *e;
    size_t finite;
    assert_int_equal(snip_expr_parse(&e, "0.5*v^2 + log(t)", names, 2, &st), SNIP_OK);
    assert_int_equal(snip_expr_eval(e, columns, 2, 3, y, &finite, &st), SNIP_OK);
    assert_int_equal(finite, 1);
    assert_true(y[1] == 2 && isnan(y[0]) && isnan(y[2]));
    assert_int_equal(snip_expr_eval(e, columns, 1, 3, y, NULL, &st), SNIP_FORMAT);
    assert_string_equal(st.msg, "the formula needs 2 columns, there is 1");
    assert_int_equal(snip_expr_nodes(e), 7);

    char text[64];
    assert_int_equal(snip_expr_print(e, SNIP_INFIX, text, sizeof text), strlen("0.5*v^2 + log(t)"));
    assert_string_equal(text, "0.5*v^2 + log(t)");
    assert_int_equal(snip_expr_print(e, SNIP_SYMPY, text, 8), strlen("0.5*v**2 + log(t)"));
    assert_string_equal(text, "0.5*v**"); /* cut, terminated */
    snip_expr_free(e);
    snip_expr_free(NULL);
}

static void failures_leave_nothing(void **state)
{
    (void)state;
    snip_status st;
    snip_expr *e = (snip_expr *)&st, *n;
    assert_int_equal(snip_expr_parse(&e, "x0 + foo(1)", NULL, 0, &st), SNIP_SYNTAX);
    assert_null(e);
    assert_int_equal(st.pos, 5);
    assert_int_equal(snip_expr_parse(&e, "x0 +", NULL, 0, NULL), SNIP_SYNTAX);
    assert_int_equal(snip_expr_parse(&e, "x0^x1", NULL, 0, NULL), SNIP_OK);
    assert_int_equal(snip_expr_normal(&n, e, 0, &st), SNIP_UNSUPPORTED);
    assert_null(n);
    assert_int_equal(snip_expr_normal(&n, e, 1, &st), SNIP_OK);
    char text[64];
    snip_expr_print(n, SNIP_PREFIX, text, sizeof text);
    assert_string_equal(text, "exp,mul,x_1,log,x_0");
    snip_expr_free(n);
    snip_expr_free(e);
}

/* Variables become the columns of their names, wherever those are. */
static void variables_are_bound_by_name(void **state)
{
    (void)state;
    snip_status st;
    snip_expr *e, *bound;
    const char *own[] = { "a", "e" }, *columns[] = { "e", "c", "a" }, *numbers[] = { "x_1", "x0" };
    char text[64];
    double y, b = 7, c = 0, a = 2;
    const double *x[] = { &b, &c, &a };
    assert_int_equal(snip_expr_parse(&e, "a - 2*e", own, 2, &st), SNIP_OK);
    assert_int_equal(snip_expr_bind(&bound, e, columns, 3, &st), SNIP_OK);
    assert_int_equal(snip_expr_eval(bound, x, 3, 1, &y, NULL, &st), SNIP_OK);
    assert_true(y == 2 - 2 * 7);
    snip_expr_print(bound, SNIP_INFIX, text, sizeof text);
    assert_string_equal(text, "a - 2*e");
    snip_expr_free(bound);
    assert_int_equal(snip_expr_bind(&bound, e, columns + 1, 2, &st), SNIP_FORMAT);
    assert_null(bound);
    assert_string_equal(st.msg, "there is no column called 'e'");
    snip_expr_free(e);
    assert_int_equal(snip_expr_parse(&e, "x0 - x1", NULL, 0, &st), SNIP_OK);
    assert_int_equal(snip_expr_bind(&bound, e, numbers, 2, &st), SNIP_OK);
    assert_int_equal(snip_expr_eval(bound, x, 2, 1, &y, NULL, &st), SNIP_OK);
    assert_true(y == 0 - 7);
    snip_expr_free(bound);
    assert_int_equal(snip_expr_bind(&bound, e, numbers, 1, &st), SNIP_FORMAT);
    assert_string_equal(st.msg, "there is no column called 'x0'");
    snip_expr_free(e);
}

/* What is wrong inside an array is an error that names its place. */
static void bad_names_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name[4];
        size_t n, pos;
        const char *says;
    } cases[] = {
        { { "a", NULL }, 2, 1, "name 1 is NULL" },
        { { "", "b" }, 2, 0, "name 0 is empty" },
        { { "a", "b", "c", "b" }, 4, 3, "names 1 and 3 are both 'b'" },
    };
    snip_status st;
    snip_expr *e, *bound = (snip_expr *)&st, *plain;
    assert_int_equal(snip_expr_parse(&plain, "2 + x0", NULL, 0, &st), SNIP_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        e = (snip_expr *)&st;
        assert_int_equal(snip_expr_parse(&e, "1.5", cases[i].name, cases[i].n, &st), SNIP_FORMAT);
        assert_null(e);
        assert_int_equal(st.pos, cases[i].pos);
        assert_string_equal(st.msg, cases[i].says);
        assert_int_equal(snip_expr_bind(&bound, plain, cases[i].name, cases[i].n, &st),
                         SNIP_FORMAT);
        assert_null(bound);
        assert_string_equal(st.msg, cases[i].says);
        assert_int_equal(snip_expr_parse(&e, "1.5", cases[i].name, cases[i].n, NULL), SNIP_FORMAT);
    }
    double y, value = 5;
    const double *none[] = { NULL, &value }, *unused[] = { &value, NULL };
    assert_int_equal(snip_expr_eval(plain, none, 2, 1, &y, NULL, &st), SNIP_FORMAT);
    assert_string_equal(st.msg, "column 0 is NULL");
    assert_int_equal(snip_expr_eval(plain, unused, 2, 1, &y, NULL, &st), SNIP_OK);
    assert_true(y == 7);
    snip_expr_free(plain);
}

/* A decimal comma in the caller's locale must not change formulas. */
static void locales_do_not_matter(void **state)
{
    (void)state;
    const char *commas[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
    for (size_t i = 0; i < 4 && strcmp(localeconv()->decimal_point, ",") != 0; i++)
        setlocale(LC_NUMERIC, commas[i]);
    int comma = strcmp(localeconv()->decimal_point, ",") == 0;
    snip_expr *e;
    char text[64];
    assert_int_equal(snip_expr_parse(&e, "1.5*x0", NULL, 0, NULL), SNIP_OK);
    snip_expr_print(e, SNIP_PREFIX, text, sizeof text);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "mul,1.5,x_0");
    snip_expr_free(e);
    if (!comma)
        skip(); /* no locale with a decimal comma is installed here */
}

static void the_version_is_known(void **state)
{
    (void)state;
    assert_string_equal(snip_version(), SNIP_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_formula_from_text_to_values),
        cmocka_unit_test(failures_leave_nothing),
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(variables_are_bound_by_name),
        cmocka_unit_test(locales_do_not_matter),
        cmocka_unit_test(the_version_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
