/* test_explain.c - formulas explained: every edit, its gain, and whether the verdict is right. */
#include "task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regress/explain.h"

/* The place of e among n edits, from `first` on. */
static size_t find_edit(const regress_edit *edit, size_t n, expr e)
{
    for (size_t i = 0; i < n; i++)
        if (expr_same(edit[i].e, e))
            return i;
    return (size_t)-1;
}

static void edits_are_single_and_undone(void **state)
{
    arena *a = *state;
    static const char *const formulas[] = {
        "2.5*sin(a) - x2/d",   "a - a",      "a/a", "pow(a, 1.5)", "-a",
        "tanh(a) + floor(x2)", "min(a, x2)", "x2",  "3.5",         "sqrt(abs(a - x2)^3)",
        "1/(a + a^2)",         "pi*a",
    };
    const expr_names known = { names, COLUMNS };
    for (size_t k = 0; k < COUNT(formulas); k++) {
        expr e = parsed(formulas[k], &known, a);
        regress_edit *edit, *back;
        size_t n = regress_edits_list(&edit, e, COLUMNS, a);
        assert_true(n != (size_t)-1 && (n > 0 || k == 8));
        for (size_t i = 0; i < n; i++) {
            expr got = edit[i].e;
            size_t lengths = 0;
            for (size_t j = 0; j < got.count; j++)
                lengths += got.node[j].len;
            assert_true(expr_measure(got)); /* one tree, */
            for (size_t j = 0; j < got.count; j++)
                lengths -= got.node[j].len;
            assert_true(lengths == 0); /* whose lengths were right, */
            assert_false(expr_same(got, e));
            assert_true(edit[i].node < e.count);
            for (size_t j = 0; j < i; j++) /* and no edit twice at one node */
                assert_true(edit[j].node != edit[i].node || !expr_same(edit[j].e, got));
            size_t m = regress_edits_list(&back, got, COLUMNS, a);
            int foreign = edit[i].kind == REGRESS_EXCHANGE && /* an operator that nothing becomes */
                          (e.node[edit[i].node].op >= EXPR_VOCABULARY_END ||
                           e.node[edit[i].node].op == EXPR_POW);
            int order = edit[i].kind == REGRESS_SWAP || edit[i].kind == REGRESS_EXCHANGE;
            if ((order || edit[i].kind == REGRESS_WRAP) && !foreign)
                assert_true(find_edit(back, m, e) != (size_t)-1);
            assert_non_null(regress_edit_text(&edit[i], e, &known, a));
        }
    }
}

static void edits_without_memory_fail(void **state)
{
    expr e = parsed("2.5*sin(x0) - x1/x0", NULL, *state);
    size_t n = (size_t)-1, failures = 0;
    for (size_t limit = 64; n == (size_t)-1; limit += 1024, failures++) {
        arena *a = arena_new(limit);
        regress_edit *edit;
        n = regress_edits_list(&edit, e, 2, a);
        arena_free(a);
        assert_true(limit < 1 << 24);
    }
    assert_true(failures > 10);
}

static void edits_are_told_in_words(void **state)
{
    arena *a = *state;
    static const char *const long_names[] = { "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc",
                                              "b" };
    const expr_names known = { long_names, 2 };
    static const struct {
        const char *formula;
        regress_edit edit;
        const char *says;
    } cases[] = {
        { "sin(x1)", { .kind = REGRESS_EXCHANGE, .to = EXPR_COS }, "sin -> cos at sin(b)" },
        { "sin(x1)",
          { .node = 1, .kind = REGRESS_EXCHANGE, .to = 0 },
          "b -> \xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc" },
        { "x1/2", { .kind = REGRESS_SWAP }, "operands swapped at b/2" },
        { "x1/2", { .kind = REGRESS_DROP, .to = 1 }, "b/2 -> 2" },
        { "x1/2", { .node = 1, .kind = REGRESS_WRAP, .to = EXPR_EXP }, "b -> exp(b)" },
        { "3*x1^2", { .node = 2, .kind = REGRESS_FREE }, "exponent fitted at b^2" },
        { "3*x1^2", { .node = 3, .kind = REGRESS_ADD }, "constant added to b" },
        /* Cut in front of a letter, not within it. */
        { "x0*x0*x0*x0*x0",
          { .kind = REGRESS_SWAP },
          "operands swapped at \xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc*"
          "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc*\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3"
          "\xb6..." },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *text =
            regress_edit_text(&cases[i].edit, parsed(cases[i].formula, NULL, a), &known, a);
        assert_string_equal(text, cases[i].says);
    }
}

static void check_explanation(const regress_explanation *x, const regress_problem *p, arena *a)
{
    for (size_t i = 0; i < x->edits; i++) {
        const regress_edit *e = &x->edit[i];
        assert_true(same_bits(e->gain, e->similarity - x->similarity));
        if (i >= x->listed) { /* by their gain, and none of it larger than of those tried */
            for (size_t k = 0; k < i; k++)
                assert_true(e->kind >= REGRESS_FREE || e->gain <= x->edit[k].gain);
            continue;
        }
        assert_true(i == 0 ||
                    regress_judged(&x->edit[i - 1].refitted, p) <= regress_judged(&e->refitted, p));
        regress_errors errors;
        assert_true(regress_problem_errors(&errors, e->e, p, a));
        assert_memory_equal(&errors, &e->errors, sizeof errors);
        assert_true(regress_problem_errors(&errors, e->trained, p, a));
        assert_true(isnan(e->refitted.cross) == (p->rows >= REGRESS_FEW_ROWS));
        errors.cross = e->refitted.cross; /* of other constants */
        assert_memory_equal(&errors, &e->refitted, sizeof errors);
        assert_true(e->refitted.loss[0] <= e->errors.loss[0] * (1 + 1e-9) + 1e-20);
    }
    for (size_t i = 0; i < x->e.count; i++) {
        double most = NAN;
        for (size_t k = 0; k < x->edits; k++)
            if (x->edit[k].node == i && x->edit[k].kind < REGRESS_FREE)
                most = isnan(most) ? x->edit[k].gain : fmax(most, x->edit[k].gain);
        assert_true(same_bits(most, x->gain[i]) || (isnan(most) && isnan(x->gain[i])));
        assert_int_equal(x->best[i] == (size_t)-1, isnan(most));
        if (!isnan(most))
            assert_true(x->edit[x->best[i]].node == i && x->edit[x->best[i]].gain == most);
    }
}

static void gains_are_those_of_the_best_edits(void **state)
{
    arena *a = *state;
    regress_problem p = ranked_problem(a);
    const model_opened *t = small_model(a);
    static const char *const formulas[] = { "x2 + 1.5*cos(2*a)", "log(a) - x2", "x2", "3.5",
                                            "a - a + x2*`speed [m/s]`" };
    for (size_t k = 0; k < COUNT(formulas); k++) {
        expr e = parsed(formulas[k], &p.names, a);
        regress_explanation x, y;
        const regress_explain_how how = { .refit = (int)k % 2, .list = 5, .threads = 1 };
        const regress_explain_how more = { .refit = (int)k % 2, .list = 5, .threads = 3 };
        assert_int_equal(regress_explain(&x, e, &p, t, &how, a, NULL), SNIP_OK);
        assert_int_equal(x.listed, k == 3 ? 0 : 5); /* a constant has no edits */
        check_explanation(&x, &p, a);
        assert_int_equal(regress_explain(&y, e, &p, t, &more, a, NULL), SNIP_OK);
        assert_int_equal(x.edits, y.edits);
        for (size_t i = 0; i < x.edits; i++)
            assert_true(same_bits(x.edit[i].gain, y.edit[i].gain) &&
                        expr_same(x.edit[i].e, y.edit[i].e));
    }
}

/* Slope and intercept of y over the first rows of input 0. */
/* With constants as given, a model of forms looks at them, and at no unit of y. */
static void given_constants_count_and_units_do_not(void **state)
{
    arena *a = *state;
    model_opened t = { .m = untrained_forms_model(1, a), .tree = 1 };
    const regress_explain_how how = { .refit = 0, .list = 0, .threads = 1 };
    static const char *const formulas[] = { "2.5*sin(a) + x2", "2500*sin(a) + 1000*x2",
                                            "7.5*sin(a) + x2" };
    regress_explanation x[COUNT(formulas)];
    for (size_t i = 0; i < COUNT(formulas); i++) {
        regress_table table = table_of("2*sin(a) + x2", 60, a);
        double *y = arena_copy(a, table.y, 60 * sizeof *y);
        for (int k = 0; k < 60; k++)
            y[k] *= i == 1 ? 1000 : 1;
        table.y = y;
        regress_problem p;
        assert_int_equal(regress_problem_make(&p, &table, 1, a, NULL), SNIP_OK);
        expr e = parsed(formulas[i], &p.names, a);
        assert_int_equal(regress_explain(&x[i], e, &p, &t, &how, a, NULL), SNIP_OK);
    }
    assert_true(fabs(x[0].similarity - x[1].similarity) < 1e-5);
    assert_true(fabs(x[0].similarity - x[2].similarity) > 1e-4);
    for (size_t i = 0; i < x[0].e.count; i++)
        if (x[0].e.node[i].op == EXPR_SIN)
            assert_true(fabs(x[0].gain[i] - x[1].gain[i]) < 1e-5);
}

static void line_of(double *slope, double *intercept, const regress_problem *p, size_t rows)
{
    double mx = 0, my = 0, xx = 0, xy = 0, n = (double)rows;
    for (size_t i = 0; i < rows; i++) {
        mx += p->x[0][i] / n;
        my += p->y[i] / n;
    }
    for (size_t i = 0; i < rows; i++) {
        xx += (p->x[0][i] - mx) * (p->x[0][i] - mx);
        xy += (p->x[0][i] - mx) * (p->y[i] - my);
    }
    *slope = xy / xx;
    *intercept = my - *slope * mx;
}

static void assert_line(expr e, const regress_problem *p, size_t rows)
{
    double slope, intercept;
    size_t node[32];
    line_of(&slope, &intercept, p, rows);
    assert_int_equal(expr_constants(e, node), 2);
    assert_true(fabs(e.node[node[0]].value - slope) < 1e-9);
    assert_true(fabs(e.node[node[1]].value - intercept) < 1e-9);
}

/* Rows held out judge, but the answer's constants come from all rows. */
static void answers_have_constants_of_all_rows(void **state)
{
    arena *a = *state;
    regress_problem p = noisy("2*a + 1", 120, 0.8, 1, a);
    assert_true(p.train < p.rows);
    regress_candidate c = { .e = parsed("1.5*a + 0.5", &p.names, a) };
    const regress_rank_how how = { .refit = 1, .threads = 1 };
    assert_int_equal(regress_rank(&c, 1, &p, NULL, &how, a, NULL), SNIP_OK);
    assert_line(c.trained, &p, p.train);
    assert_line(c.fitted, &p, p.rows);
    regress_errors errors;
    assert_true(regress_problem_errors(&errors, c.trained, &p, a));
    assert_memory_equal(&errors, &c.errors, sizeof errors);
    int digits; /* and so does what is printed, with the digits that it needs itself */
    expr back = parsed(regress_shown(&c, SNIP_INFIX, &p, &digits, a), &p.names, a);
    double slope, intercept;
    line_of(&slope, &intercept, &p, p.rows);
    size_t node[32];
    assert_int_equal(expr_constants(back, node), 2);
    assert_true(fabs(back.node[node[0]].value - slope) <= 0.5 * pow(10, 1 - digits));

    regress_explanation x;
    const regress_explain_how what = { .refit = 1, .list = 1, .all = 1, .threads = 1 };
    expr e = parsed("1.5*sin(a) + 0.5", &p.names, a);
    assert_int_equal(regress_explain(&x, c.e, &p, small_model(a), &what, a, NULL), SNIP_OK);
    assert_line(x.e, &p, p.train);
    assert_line(x.shown, &p, p.rows);
    assert_int_equal(regress_explain(&x, e, &p, small_model(a), &what, a, NULL), SNIP_OK);
    size_t lines = 0;
    for (size_t i = 0; i < x.listed; i++)
        if (x.edit[i].kind == REGRESS_DROP && x.edit[i].trained.count == 5) { /* sin(a) -> a */
            assert_line(x.edit[i].trained, &p, p.train);
            assert_line(x.edit[i].fitted, &p, p.rows);
            lines++;
        }
    assert_true(lines > 0);
}

/* The formula is the law that made the table: at most one verdict in 20 may say otherwise. */
static void true_laws_are_seldom_found_wrong(void **state)
{
    enum { DRAWS = 5 };
    const model_opened *t = small_model(*state);
    static const struct {
        const char *law, *formula;
        double noise, share;
    } cases[] = {
        { "2*a + 1", "1.0*a + 1.0", 0.8, 0 },
        { "4*a/(1.5 + a)", "1.0*a/(1.0 + a)", 0.2, 0 },
        { "2*sin(1.7*a) + 1", "1.0*sin(1.6*a) + 0.5", 0.5, 0 },
        { "3*x2/a^3", "1.0*x2/a^3", 0, 0.02 }, /* a few large rows make up the error */
        { "3*a/d^2", "1.0*a/d^2", 0, 0.02 },
        { "3*a/d^3", "1.0*a/d^3", 0, 0.02 },
    };
    static const size_t sizes[] = { 20, 40, 100 };
    const regress_explain_how how = { .refit = 1, .list = 1, .all = 1, .threads = 2 };
    size_t false_ones = 0, all = 0;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (uint64_t draw = 1; draw <= DRAWS; draw++, all++) {
                arena *a = arena_new(0);
                regress_problem p =
                    noisy_in_part(cases[i].law, sizes[s], cases[i].noise, cases[i].share, draw, a);
                regress_explanation x;
                expr e = parsed(cases[i].formula, &p.names, a);
                assert_int_equal(regress_explain(&x, e, &p, t, &how, a, NULL), SNIP_OK);
                assert_true(x.listed == x.edits && x.pairs_tried > 100); /* pairs count, too */
                assert_true(x.evidence.p >= 0 && x.evidence.p <= 1);
                false_ones += (size_t)x.evidence.supported;
                arena_free(a);
            }
    if (20 * false_ones > all)
        fail_msg("%zu false verdicts of %zu", false_ones, all);
}

/* What is wrong is found, and named, in clean tables and with little noise. */
static void planted_errors_are_found(void **state)
{
    const model_opened *t = small_model(*state);
    static const struct {
        const char *law, *formula;
        int added; /* what is missing is a constant */
    } cases[] = {
        { "0.3*a + 1.1", "0.5*a", 1 },
        { "1.2*exp(-0.8*a) + 0.7", "1.0*exp(-0.5*a)", 1 },
        { "3*sqrt(a + 0.8)", "2.0*sqrt(a)", 1 },
        { "2*sin(a) + 0.5*x2", "1.5*cos(a) + 1.0*x2", 0 },
        { "3*sqrt(a)*(1 + 0.2*x2^2)", "3.0*log(a)*(1.0 + 0.2*x2^2)", 0 },
        { "2*exp(-0.8*a) + 0.3*x2", "1.0*exp(-1.0*a) + 1.0*d", 0 },
        { "0.5*a^1.37 + 1", "1.0*a^2 + 1.0", 0 }, /* an exponent to be fitted */
        { "0.5*a^1.37 + 1", "1.0*a^(2/3) + 1.0", 0 },
        { "x2*a + 3", "x2/a + 3.0", 0 },
    };
    static const size_t sizes[] = { 20, 120 };
    const regress_explain_how how = { .refit = 1, .list = 1, .all = 1, .threads = 2 };
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (int noise = 0; noise < 2; noise++) {
                arena *a = arena_new(0);
                regress_problem p = noisy(cases[i].law, sizes[s], 0.01 * noise, 1, a);
                regress_explanation x;
                expr e = parsed(cases[i].formula, &p.names, a);
                assert_int_equal(regress_explain(&x, e, &p, t, &how, a, NULL), SNIP_OK);
                if (!x.evidence.supported || x.evidence.cross[1] > 0.0003)
                    fail_msg("%s of %s, %zu rows: p %g, error %g, was %g", cases[i].formula,
                             cases[i].law, sizes[s], x.evidence.p, x.evidence.cross[1],
                             x.evidence.cross[0]);
                if (cases[i].added && !noise && (!x.verdict || x.verdict->kind != REGRESS_ADD))
                    fail_msg("%s of %s, %zu rows: %s", cases[i].formula, cases[i].law, sizes[s],
                             x.verdict ? regress_edit_text(x.verdict, x.shown, &p.names, a) : "-");
                arena_free(a);
            }
}

/* Two faults at once: pairs of edits are tried, and weighed with the number of all of them. */
static void double_faults_are_found(void **state)
{
    const model_opened *t = small_model(*state);
    static const struct {
        const char *law, *formula;
    } cases[] = {
        { "2.5*sin(a) + 1.7", "2.0*cos(a)*1.5" }, /* one constant too many, at a place of its own */
        { "2.5*sin(a) + 1.7*x2", "2.0*cos(a)*(1.0*x2)" },
        { "3*exp(-0.7*a) + 0.5*x2", "3.0*sin(-0.7*a) + 0.5*d" },
        { "1.5*sqrt(a)*x2", "1.5*log(a) + x2" },
        { "2*a^2 - 3*x2", "2.0*sqrt(a) - 3.0/x2" },
        { "4*a/(1.5 + x2^2)", "4.0*log(a)/(1.5 + exp(x2))" },
        { "0.8*exp(a)*x2", "0.8*a - x2" },
        { "2*cos(a*x2) + 1", "2.0*sin(a + x2) + 1.0" },
        { "3*log(a) + 2*x2^2", "3.0*exp(a) + 2.0*cos(x2)" },
        { "arctan(2*a) - x2", "2.0*sin(2.0*a)*x2" },
    };
    const regress_explain_how how = { .refit = 1, .list = 1, .all = 1, .threads = 2 };
    for (size_t i = 0; i < COUNT(cases); i++) {
        arena *a = arena_new(0);
        regress_problem p = noisy(cases[i].law, 200, 0, 1, a);
        regress_explanation x;
        regress_errors errors;
        expr e = parsed(cases[i].formula, &p.names, a);
        assert_int_equal(regress_explain(&x, e, &p, t, &how, a, NULL), SNIP_OK);
        assert_true(regress_problem_errors(&errors, x.evidence.fitted, &p, a));
        const char *what =
            x.verdict ? regress_edit_text(x.verdict, x.shown, &p.names, a) : "nothing";
        if (!x.evidence.supported || !(errors.r2[0] > 1 - 1e-9 && errors.r2[1] > 1 - 1e-9))
            fail_msg("%s of %s: %s, R2 %g", cases[i].formula, cases[i].law, what, errors.r2[1]);
        assert_true(x.verdict == &x.pair[x.evidence.best] && x.verdict->two);
        assert_true(x.evidence.tried == x.pairs_tried + x.edits);
        assert_non_null(strstr(what, "; "));
        arena_free(a);
    }
}

static void formulas_that_cannot_be_explained_are_refused(void **state)
{
    arena *a = *state;
    regress_problem p = ranked_problem(a);
    const model_opened *t = small_model(a);
    const struct {
        expr e;
        const char *says;
    } cases[] = {
        { parsed("floor(x2)", &p.names, a), "'floor'" },
        { parsed("log(x2)", &p.names, a), "no finite value in some row" },
        { long_sum("a", "x2", 149, &p.names, a), "reads at most 200" }, /* 299 nodes */
        { long_sum("a", "x2", 250, &p.names, a), "501 nodes, at most 500" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        regress_explanation x;
        snip_status st = { 0 };
        const regress_explain_how how = { .list = 1, .threads = 1 };
        assert_int_equal(regress_explain(&x, cases[i].e, &p, t, &how, a, &st), SNIP_UNSUPPORTED);
        if (!strstr(st.msg, cases[i].says))
            fail_msg("says '%s', expected '%s'", st.msg, cases[i].says);
    }
    /* 301 nodes that are few words, as their constants join. */
    regress_explanation x;
    expr e = long_sum("a", "0.5", 150, &p.names, a);
    const regress_explain_how how = { .list = 0, .threads = 1 };
    assert_int_equal(regress_explain(&x, e, &p, t, &how, a, NULL), SNIP_OK);
    assert_true(x.e.count == 301 && x.edits > 2000 && x.listed == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(edits_are_single_and_undone),
        ARENA_TEST(edits_without_memory_fail),
        ARENA_TEST(edits_are_told_in_words),
        ARENA_TEST(gains_are_those_of_the_best_edits),
        ARENA_TEST(given_constants_count_and_units_do_not),
        ARENA_TEST(answers_have_constants_of_all_rows),
        ARENA_TEST(true_laws_are_seldom_found_wrong),
        ARENA_TEST(planted_errors_are_found),
        ARENA_TEST(double_faults_are_found),
        ARENA_TEST(formulas_that_cannot_be_explained_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
