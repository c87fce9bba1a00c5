/* test_corpora.c - the built-in formulas and the points drawn for them. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "data/corpora.h"
#include "data/tokens.h"

static const size_t sizes[DATA_CORPORA] = { 120, 90, 14 };

static void corpora_are_whole(void **state)
{
    for (int k = 0; k < DATA_CORPORA; k++) {
        data_corpus c;
        snip_status st;
        if (data_corpus_builtin(&c, data_corpus_names[k], *state, &st) != SNIP_OK)
            fail_msg("%s", st.msg);
        assert_int_equal(c.count, sizes[k]);
        for (size_t i = 0; i < c.count; i++) {
            const data_formula *f = &c.formula[i];
            assert_true(expr_inputs(f->e) <= f->names.count && f->names.count <= 10);
            for (size_t j = 0; j < i; j++) /* ids are unique, and `same_as` points back */
                assert_string_not_equal(f->id, c.formula[j].id);
            int known = strcmp(f->same_as, "-") == 0;
            for (size_t j = 0; j < c.count; j++)
                known |= j != i && strcmp(f->same_as, c.formula[j].id) == 0;
            if (!known)
                fail_msg("%s is the same as %s, which is not there", f->id, f->same_as);
        }
    }
    data_corpus c;
    snip_status st;
    assert_int_equal(data_corpus_builtin(&c, "nobody", *state, &st), SNIP_FORMAT);
}

/* What is usable, and the reason where it is not. */
static void usable_ones_are_told_from_others(void **state)
{
    arena *a = *state;
    const data_vocab *v = data_vocab_new(10, a);
    static const struct {
        const char *id, *why;
    } expected[] = {
        { "Nguyen-11", "'pow'" },        { "Keijzer-10", "'pow'" },
        { "Constant-4", "'pow'" },       { "Constant-6", "'pow'" },
        { "Korns-5", "not finite at" },  { "Korns-6", "not finite at" },
        { "Korns-8", "not finite at" },  { "Korns-9", "not finite at" },
        { "Korns-15", "not finite at" },
    };
    size_t usable[DATA_CORPORA] = { 0 }, explained = 0;
    for (int k = 0; k < DATA_CORPORA; k++) {
        data_corpus c;
        data_corpus_builtin(&c, data_corpus_names[k], a, NULL);
        for (size_t i = 0; i < c.count; i++) {
            const double **x;
            double *y;
            size_t rows;
            expr normal;
            snip_status st;
            assert_int_equal(data_formula_sample(&x, &y, &rows, &c, i,
                                                 &(data_design){ DATA_SAMPLE_RANGE, 200, 0 }, a,
                                                 &st),
                             SNIP_OK);
            assert_int_equal(rows, 200);
            for (size_t j = 0; j < c.formula[i].names.count; j++)
                for (size_t r = 0; r < rows; r++)
                    assert_true(x[j][r] >= c.formula[i].low[j] && x[j][r] <= c.formula[i].high[j]);
            if (data_formula_usable(&normal, &c.formula[i], y, rows, v, a, &st) == SNIP_OK) {
                usable[k]++;
                double *z = arena_array(a, rows, sizeof *z); /* the normal form has its values */
                expr_eval(normal, x, rows, z, a);
                for (size_t r = 0; r < rows; r++)
                    if (!(fabs(z[r] - y[r]) <= 1e-8 * fmax(1, fabs(y[r]))))
                        fail_msg("%s: %.17g became %.17g", c.formula[i].id, y[r], z[r]);
            } else {
                for (size_t e = 0; e < COUNT(expected); e++)
                    explained += strcmp(expected[e].id, c.formula[i].id) == 0 &&
                                 strstr(st.msg, expected[e].why) != NULL;
            }
        }
    }
    assert_int_equal(usable[0], 120);
    assert_int_equal(usable[1], 81);
    assert_int_equal(usable[2], 14);
    assert_int_equal(explained, COUNT(expected));
}

/* The published ranges of the Strogatz states are those of its trajectories; ours, from starts that
 * are known to four digits, must stay inside and nearly fill them (van der Pol jumps too fast for
 * the published steps to agree better). */
static void trajectories_fill_the_published_ranges(void **state)
{
    arena *a = *state;
    data_corpus c;
    data_corpus_builtin(&c, "strogatz", a, NULL);
    for (size_t i = 0; i < c.count; i++) {
        const double **x;
        double *y;
        size_t rows;
        assert_int_equal(data_formula_sample(&x, &y, &rows, &c, i,
                                             &(data_design){ DATA_SAMPLE_PUBLISHED, 1000, 0 }, a,
                                             NULL),
                         SNIP_OK);
        assert_int_equal(rows, 400);
        for (int j = 0; j < 2; j++) {
            double low = INFINITY, high = -INFINITY;
            for (size_t r = 0; r < rows; r++) {
                low = fmin(low, x[j][r]);
                high = fmax(high, x[j][r]);
            }
            double width = c.formula[i].high[j] - c.formula[i].low[j];
            if (!(low > c.formula[i].low[j] - 0.02 * width) ||
                !(high < c.formula[i].high[j] + 0.02 * width) || !(high - low > 0.88 * width))
                fail_msg("%s: state %d runs from %g to %g, published %g to %g", c.formula[i].id, j,
                         low, high, c.formula[i].low[j], c.formula[i].high[j]);
        }
    }
}

static void published_designs_have_their_points(void **state)
{
    arena *a = *state;
    static const struct {
        const char *id;
        size_t rows;
        double first, last; /* of the first variable */
    } cases[] = {
        { "Koza-1", 20, NAN, NAN },      { "Keijzer-1", 21, -1, 1 },
        { "Keijzer-4", 201, 0, 10 },     { "Pagie-1", 676, -5, 5 },
        { "Nonic", 20, -1, 1 },          { "Vladislavleva-3", 600, 0.05, 9.95 },
        { "Keijzer-5", 1000, NAN, NAN },
    };
    data_corpus c;
    data_corpus_builtin(&c, "classic", a, NULL);
    size_t found = 0;
    for (size_t i = 0; i < c.count; i++) {
        const double **x;
        double *y;
        size_t rows;
        snip_status st;
        if (data_formula_sample(&x, &y, &rows, &c, i,
                                &(data_design){ DATA_SAMPLE_PUBLISHED, 100000, 0 }, a,
                                &st) != SNIP_OK)
            fail_msg("%s", st.msg);
        for (size_t k = 0; k < COUNT(cases); k++) {
            if (strcmp(cases[k].id, c.formula[i].id) != 0)
                continue;
            found++;
            assert_int_equal(rows, cases[k].rows);
            if (!isnan(cases[k].first)) {
                assert_true(fabs(x[0][0] - cases[k].first) < 1e-9);
                assert_true(fabs(x[0][rows - 1] - cases[k].last) < 1e-9);
            }
        }
        size_t few;
        assert_int_equal(data_formula_sample(&x, &y, &few, &c, i,
                                             &(data_design){ DATA_SAMPLE_PUBLISHED, 10, 0 }, a,
                                             NULL),
                         SNIP_OK);
        assert_true(few <= 10 && few == (rows < 10 ? rows : 10));
    }
    assert_int_equal(found, COUNT(cases));
}

static void broken_corpora_are_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "no formulas" },
        { "# nothing\n", "no formulas" },
        { "a\tb\tx\tx=0:1\trange\n", "line 1 does not have 6" },
        { "a\tb\tx\tx=0:1\trange\t-\textra\n", "line 1 does not have 6" },
        { "a\tb\tx\tx=0\trange\t-\n", "line 1: variables" },
        { "a\tb\tx\tx=1:0\trange\t-\n", "line 1: variables" },
        { "a\tb\tx\tx=nan:1\trange\t-\n", "line 1: variables" },
        { "a\tb\tx\tx=-1e308:1e308\trange\t-\n", "line 1: variables" },
        { "a\tb\tx\tx=0:1 x=0:1\trange\t-\n", "line 1: variables" },
        { "a\tb\tx\t\trange\t-\n", "line 1: variables" },
        { "# c\na\tb\tx+\tx=0:1\trange\t-\n", "line 2, byte 2" },
        { "a\tb\tz\tx=0:1\trange\t-\n", "unknown name 'z'" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        data_corpus c;
        snip_status st;
        assert_int_not_equal(data_corpus_parse(&c, "mine", cases[i].text, *state, &st), SNIP_OK);
        if (!strstr(st.msg, cases[i].message))
            fail_msg("case %zu: %s", i, st.msg);
    }
    static const char *const samplings[] = { "Q[0,1,3]",
                                             "U[0,1]",
                                             "U[0,1,0]",
                                             "E[0,1,0]",
                                             "y:U[0,1,3]",
                                             "ODE[0.1,5,(1,2)]",
                                             "E[0,1,1e-9]",
                                             "E[0,1e300,1e-300]",
                                             "U[0,1,1e300]",
                                             "U[0,1,0.5]",
                                             "x:U[0,1,5] x:U[0,1,5]",
                                             "U[0,1,3]x",
                                             "" };
    for (size_t i = 0; i < COUNT(samplings); i++) {
        char text[128] = "a\tb\tx\tx=0:1\t";
        strcat(text, samplings[i]);
        strcat(text, "\t-\n");
        data_corpus c;
        const double **x;
        double *y;
        size_t rows;
        snip_status st;
        assert_int_equal(data_corpus_parse(&c, "mine", text, *state, &st), SNIP_OK);
        if (data_formula_sample(&x, &y, &rows, &c, 0,
                                &(data_design){ DATA_SAMPLE_PUBLISHED, 100, 0 }, *state,
                                &st) == SNIP_OK)
            fail_msg("the sampling '%s' was accepted", samplings[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(corpora_are_whole),
        ARENA_TEST(usable_ones_are_told_from_others),
        ARENA_TEST(trajectories_fill_the_published_ranges),
        ARENA_TEST(published_designs_have_their_points),
        ARENA_TEST(broken_corpora_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
