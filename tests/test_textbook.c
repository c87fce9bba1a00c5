/* test_textbook.c - the laws of the textbooks: the list itself, their units, and which one a table
 * gets. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "library/period.h"
#include "library/textbook.h"

enum { ROWS = 40 };

static library_textbook builtin(arena *a)
{
    library_textbook book;
    snip_status st;
    if (library_textbook_builtin(&book, a, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return book;
}

/* What tells laws apart: the form but for its free numbers, and how many of these there are. */
typedef struct signature {
    uint64_t hash;
    int shifted;
    size_t constants;
} signature;

static signature sign(const library_textbook_law *law, arena *a)
{
    expr_form form;
    snip_status st;
    size_t *node = arena_array(a, law->e.count, sizeof *node);
    if (expr_canonical(&form, law->e, a, &st) != SNIP_OK)
        fail_msg("%s: %s", law->name, st.msg);
    return (signature){ form.hash, form.shift != 0, expr_constants(law->e, node) };
}

static void no_law_is_listed_twice(void **state)
{
    (void)state;
    arena *a = arena_new(0);
    library_textbook book = builtin(a);
    signature *s = arena_array(a, book.count, sizeof *s);
    assert_true(book.count >= 200);
    for (size_t i = 0; i < book.count; i++) {
        s[i] = sign(&book.law[i], a);
        for (size_t j = 0; j < i; j++) {
            if (strcmp(book.law[i].name, book.law[j].name) == 0)
                fail_msg("two laws are called %s", book.law[i].name);
            if (s[i].hash == s[j].hash && s[i].shifted == s[j].shifted &&
                s[i].constants == s[j].constants && book.law[i].roles == book.law[j].roles)
                fail_msg("%s is %s", book.law[i].name, book.law[j].name);
        }
    }
    arena_free(a);
}

/* Points in (0.2, 1.8), where a table in units of its own size is. */
static const double **points(size_t roles, arena *a)
{
    rng r;
    rng_init(&r, 7, RNG_FIT, 0);
    const double **x = arena_array(a, LIBRARY_ROLES_MAX, sizeof *x);
    for (size_t j = 0; j < roles; j++) {
        double *column = arena_array(a, ROWS, sizeof *column);
        for (size_t i = 0; i < ROWS; i++)
            column[i] = 0.2 + 1.6 * rng_uniform(&r);
        x[j] = column;
    }
    return x;
}

static void every_law_has_values_and_every_unit(void **state)
{
    (void)state;
    static const double unit[LIBRARY_ROLES_MAX] = { 1e-9, 1e6, 3e4, 0.7 };
    const double target = 4e7;
    arena *a = arena_new(0);
    library_textbook book = builtin(a);
    for (size_t k = 0; k < book.count; k++) {
        const library_textbook_law *law = &book.law[k];
        const double **x = points(law->roles, a), *wide[LIBRARY_ROLES_MAX] = { 0 };
        double y[ROWS], there[ROWS];
        unsigned used = 0;
        for (size_t i = 0; i < law->e.count; i++)
            if (law->e.node[i].op == EXPR_VARIABLE)
                used |= 1u << law->e.node[i].var;
        size_t *node = arena_array(a, law->e.count, sizeof *node), numbers = 0;
        for (size_t i = 0; i < law->e.count; i++)
            numbers += law->e.node[i].op == EXPR_NUMBER && !law->e.node[i].fixed;
        if (numbers != expr_constants(law->e, node))
            fail_msg("%s has a free exponent that starts at a whole number", law->name);
        if (numbers == 0)
            fail_msg("%s has nothing to fit", law->name);
        if (used != (1u << law->roles) - 1)
            fail_msg("%s leaves out a role", law->name);
        if (expr_eval(law->e, x, ROWS, y, a) != ROWS)
            fail_msg("%s is not finite", law->name);
        for (size_t j = 0; j < law->roles; j++) {
            double *column = arena_array(a, ROWS, sizeof *column);
            for (size_t i = 0; i < ROWS; i++)
                column[i] = x[j][i] * unit[j];
            wide[j] = column;
        }
        expr e = { arena_copy(a, law->e.node, law->e.count * sizeof *law->e.node), law->e.count };
        if (!library_law_carry(e, unit, target))
            fail_msg("%s has no other units", law->name);
        assert_int_equal(expr_eval(e, wide, ROWS, there, a), ROWS);
        for (size_t i = 0; i < ROWS; i++)
            if (fabs(there[i] - target * y[i]) > 1e-9 * target * (fabs(y[i]) + 1))
                fail_msg("%s: %g in other units, not %g", law->name, there[i], target * y[i]);
    }
    arena_free(a);
}

static void what_has_no_other_unit_says_so(void **state)
{
    (void)state;
    static const char *const text[] = { "sin(x)", "x + 1", "1.0*x + 2.0*exp(x)", "x*y", "3.0*x^y" };
    const char *const name[] = { "x", "y" };
    const expr_names names = { name, 2 };
    arena *a = arena_new(0);
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        expr e;
        assert_int_equal(expr_parse(&e, text[k], &names, a, NULL), SNIP_OK);
        for (size_t i = 0; i < e.count; i++)
            e.node[i].fixed = e.node[i].integer;
        assert_false(library_law_carry(e, (double[]){ 3, 5 }, 7));
    }
    arena_free(a);
}

static void bad_lists_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } bad[] = { { "", "no laws" },
                { "# only words\n", "no laws" },
                { "a\tb\n", "line 1 is not name, field and formula" },
                { "a\tb\t1.0*x\nc\t\tx\n", "line 2 is not name, field and formula" },
                { "a\tb\t1.0*x\tmore\n", "line 1 is not name, field and formula" },
                { "a\tb\t1.0*x +\n", "line 1, byte" },
                { "a\tb\t1.0*x4\n", "line 1" } };
    arena *a = arena_new(0);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        library_textbook book;
        snip_status st;
        assert_int_not_equal(library_textbook_parse(&book, "list", bad[k].text, a, &st), SNIP_OK);
        if (!strstr(st.msg, bad[k].why))
            fail_msg("says '%s', not '%s'", st.msg, bad[k].why);
    }
    arena_free(a);
}

/* y = f of one input in these units, without noise. */
static void the_answer_is_the_same_in_all_units_and_with_all_threads(void **state)
{
    (void)state;
    static const double units[][2] = { { 1, 1 }, { 1e-9, 1e6 }, { 1e6, 1e-12 } };
    static const char *const names[] = { "p" };
    arena *a = arena_new(0);
    library_textbook book = builtin(a);
    const double **x = points(1, a);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        for (int threads = 1; threads <= 2; threads++) {
            double in[ROWS], y[ROWS];
            const double *columns[] = { in };
            for (size_t i = 0; i < ROWS; i++) {
                in[i] = x[0][i] * units[u][0];
                y[i] = units[u][1] * 2.5 * x[0][i] / (0.6 + x[0][i]);
            }
            const regress_table table = { 1, ROWS, names, columns, y };
            regress_problem p;
            regress_candidate *c;
            size_t found;
            snip_status st;
            assert_int_equal(regress_problem_make(&p, &table, 0, a, &st), SNIP_OK);
            const library_textbook_how how = { .k = 3, .threads = threads };
            assert_int_equal(library_textbook_find(&c, &found, &p, &book, NULL, &how, a, &st),
                             SNIP_OK);
            assert_int_equal(found, 3);
            assert_string_equal(c[0].name, "Michaelis-Menten, Langmuir, Monod");
            assert_string_equal(c[0].field, "chemistry");
            assert_true(c[0].errors.r2[1] > 1 - 1e-12);
            /* 2.5*x/(0.6 + x), spelled as the list spells it. */
            assert_int_equal(c[0].fitted.count, 7);
            for (size_t i = 0, k = 0; i < c[0].fitted.count; i++)
                if (c[0].fitted.node[i].op == EXPR_NUMBER) {
                    double want = k++ == 0 ? 2.5 * units[u][1] : 0.6 * units[u][0];
                    assert_true(fabs(c[0].fitted.node[i].value / want - 1) < 1e-6);
                }
        }
    arena_free(a);
}

/* Also where rows lie anywhere, on a slope, and far from 0. */
static void periods_are_counted(void **state)
{
    enum { MOST = 200 };
    static const double halves[] = { 2, 7, 20, 41 };
    double x[MOST], y[MOST];
    (void)state;
    for (size_t k = 0; k < sizeof halves / sizeof *halves; k++) {
        rng r;
        rng_init(&r, k, RNG_BENCH, 0);
        rng_fill_uniform(&r, x, MOST);
        x[0] = 0;
        x[1] = 1;
        for (size_t i = 0; i < MOST; i++) {
            y[i] = 0.3 * sin(M_PI * halves[k] * x[i] + 2) + 5 * x[i] + 0.1 * rng_uniform(&r);
            x[i] = 1990 + 20 * x[i];
        }
        double found = library_half_periods(x, y, MOST);
        if (fabs(found - halves[k]) > 0.75)
            fail_msg("%g half periods are taken for %g", halves[k], found);
    }
    memset(y, 0, sizeof y);
    assert_true(library_half_periods(x, y, MOST) == 1);
    assert_true(library_half_periods(y, x, MOST) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_law_is_listed_twice),
        cmocka_unit_test(every_law_has_values_and_every_unit),
        cmocka_unit_test(what_has_no_other_unit_says_so),
        cmocka_unit_test(bad_lists_are_refused),
        cmocka_unit_test(periods_are_counted),
        cmocka_unit_test(the_answer_is_the_same_in_all_units_and_with_all_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
