/* test_rank.c - candidates for a table, ranked. */
#include "task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/rng.h"
#include "regress/constants.h"
#include "regress/evidence.h"
#include "regress/rank.h"

static const char *const candidates[] = {
    "1.5*sin(2*a) + x2",
    "a",
    "x2",
    "1*x2 + 1",
    "1*a + 1*x2 + 1",
    "1*sin(1.8*a) + 1",
    "log(-a)", /* not finite */
    "2*x2 + 1*sin(1.9*a) + 0*d",
    "3.5",
    "exp(800*a)", /* not finite, unless refitted */
    "x2^2",
    "x2 + x2",
    "a/d",
    "tanh(x2)",
    "floor(x2)", /* no words in the model */
    "x2 - 1 + 1",
    "sqrt(x2)", /* not finite in some rows */
    "2.5*x2 + 1*sin(2.1*a) + 0.5",
    "x2",
};

static regress_candidate *ranked(const regress_problem *p, const model_opened *t,
                                 const regress_rank_how *how, arena *a)
{
    regress_candidate *c = arena_zero(a, COUNT(candidates) * sizeof *c);
    snip_status st = { 0 };
    for (size_t i = 0; i < COUNT(candidates); i++) {
        c[i].e = parsed(candidates[i], &p->names, a);
        c[i].text = candidates[i];
        c[i].place = i;
    }
    if (regress_rank(c, COUNT(candidates), p, t, how, a, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return c;
}

static void the_truth_wins_with_wrong_constants(void **state)
{
    arena *a = *state;
    regress_problem p = ranked_problem(a);
    regress_candidate *c =
        ranked(&p, small_model(a), &(regress_rank_how){ .refit = 1, .order = REGRESS_BY_LOSS }, a);
    assert_string_equal(c[0].text, "2.5*x2 + 1*sin(2.1*a) + 0.5");
    assert_int_equal(c[0].constants, 4);
    assert_true(c[0].errors.loss[1] < 1e-20 && c[0].given.loss[1] > 0.1 && c[0].front);
    assert_true(fabs(c[0].errors.r2[1] - 1) < 1e-12);
    expr fitted = c[0].fitted; /* 2.5*x2 + 3*sin(2*a) + 0.5 */
    size_t node[32], n = expr_constants(fitted, node);
    static const double want[] = { 2.5, 3, 2, 0.5 };
    assert_int_equal(n, COUNT(want));
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(fitted.node[node[i]].value - want[i]) < 1e-9);
    c = ranked(&p, NULL, &(regress_rank_how){ .refit = 0, .order = REGRESS_BY_LOSS }, a);
    for (size_t i = 0; i < COUNT(candidates); i++)
        assert_true(expr_same(c[i].fitted, parsed(c[i].text, &p.names, a)));
}

/* Nothing is at once no worse and no larger; of twins the first counts. */
static int on_front(const regress_candidate *c, size_t i, const regress_problem *p)
{
    double loss = regress_judged(&c[i].errors, p);
    if (!isfinite(loss))
        return 0;
    for (size_t k = 0; k < COUNT(candidates); k++) {
        double other = regress_judged(&c[k].errors, p);
        int twin = other == loss && c[k].complexity == c[i].complexity;
        if (k != i && other <= loss && c[k].complexity <= c[i].complexity &&
            (!twin || c[k].place < c[i].place))
            return 0;
    }
    return 1;
}

/* log(loss) per node since the next simpler one of the front. */
static double score_of(const regress_candidate *c, size_t i, const regress_problem *p)
{
    const regress_candidate *before = NULL;
    for (size_t k = 0; k < COUNT(candidates); k++)
        if (c[k].front && c[k].complexity < c[i].complexity &&
            (!before || c[k].complexity > before->complexity))
            before = &c[k];
    return before ? log(regress_judged(&before->errors, p) / regress_judged(&c[i].errors, p)) /
                        (double)(c[i].complexity - before->complexity)
                  : 0;
}

static void the_front_is_that_of_brute_force(void **state)
{
    arena *a = *state;
    for (int k = 0; k < 2 * REGRESS_ORDERS; k++) {
        regress_problem p = k % 2 ? ranked_problem(a) : problem_of("x2 + x2", 11, a);
        size_t front = 0;
        regress_candidate *c =
            ranked(&p, small_model(a),
                   &(regress_rank_how){ .refit = k % 2, .order = k / 2, .threads = 2 }, a);
        for (size_t i = 0; i < COUNT(candidates); i++) {
            assert_int_equal(c[i].front, on_front(c, i, &p));
            front += (size_t)c[i].front;
            if (c[i].front)
                assert_true(fabs(c[i].score - score_of(c, i, &p)) <= 1e-12 * fabs(c[i].score));
            else
                assert_true(isnan(c[i].score));
        }
        assert_true(front >= 2);
    }
}

/* What each order sorts by; smaller is better. */
static double key_of(const regress_candidate *c, int order, const regress_problem *p)
{
    double loss = regress_judged(&c->errors, p);
    if (order == REGRESS_BY_SIMILARITY)
        return isnan(c->similarity) ? 2 : -c->similarity;
    return order == REGRESS_BY_LOSS ? loss
                                    : (double)p->train * log(loss / p->variance[0]) +
                                          (double)c->complexity * log((double)p->train);
}

static void every_order_is_kept(void **state)
{
    arena *a = *state;
    regress_problem p = ranked_problem(a);
    const model_opened *t = small_model(a);
    for (int order = 0; order < REGRESS_ORDERS; order++) {
        assert_non_null(regress_order_names[order]);
        regress_candidate *c =
            ranked(&p, t, &(regress_rank_how){ .refit = 1, .order = order, .threads = 2 }, a);
        size_t seen = 0;
        for (size_t i = 0; i < COUNT(candidates); i++) {
            const regress_candidate *last = i ? &c[i - 1] : NULL;
            double now = key_of(&c[i], order, &p), loss = regress_judged(&c[i].errors, &p);
            seen |= (size_t)1 << c[i].place;
            assert_true(!last || key_of(last, order, &p) <= now);
            if (last && key_of(last, order, &p) == now) /* then loss, size, place decide */
                assert_true(regress_judged(&last->errors, &p) < loss ||
                            (regress_judged(&last->errors, &p) == loss &&
                             (last->complexity < c[i].complexity ||
                              (last->complexity == c[i].complexity && last->place < c[i].place))));
            /* What is not finite comes after everything that is. */
            assert_true(!last || isfinite(regress_judged(&last->errors, &p)) || !isfinite(loss));
            assert_true(isnan(c[i].similarity) == (c[i].why != NULL));
            assert_true(isfinite(loss) || (!c[i].front && isnan(c[i].similarity)));
        }
        assert_int_equal(seen, ((size_t)1 << COUNT(candidates)) - 1);
        assert_true(isinf(regress_judged(&c[COUNT(candidates) - 1].errors, &p)));
    }
    /* Without a model there are no similarities to order by. */
    regress_candidate *c = ranked(&p, NULL, &(regress_rank_how){ .refit = 1 }, a);
    for (size_t i = 0; i < COUNT(candidates); i++) {
        assert_true(isnan(c[i].similarity));
        assert_true(i == 0 ||
                    regress_judged(&c[i - 1].errors, &p) <= regress_judged(&c[i].errors, &p));
    }
}

/* A network whose answer is 0.3 r - 0.2 log n + 0.5 s + 0.05 max(0, 1 + log n), for correlation r,
 * n nodes and similarity s. */
static model_promise simple_promise(size_t latent, arena *a)
{
    enum { HIDDEN = 3 }; /* a file may have any number */
    size_t inputs = model_promise_inputs(latent);
    float *w = arena_zero(a, model_promise_weights(latent, HIDDEN) * sizeof *w);
    assert_non_null(w);
    const model_promise_parts at = model_promise_layout(inputs, HIDDEN);
    w[0] = 0.1f;
    w[1] = -0.2f;
    w[MODEL_PROMISE_PLAIN] = 0.5f / 3;
    w[at.W + 1] = 1;
    w[at.b] = 1;
    w[at.V] = 2;
    w[at.V + 1] = 1e6f; /* of a unit that is 0 */
    w[at.c + 1] = -1;   /* so is this one */
    w[at.o] = 0.025f;
    w[at.o + 1] = 1e6f;
    return (model_promise){ .latent = latent, .hidden = HIDDEN, .with = w };
}

/* A file says by the length of its tensors how many hidden units its networks have; what no network
 * can have is none. */
static void a_promise_has_as_many_units_as_its_file_says(void **state)
{
    arena *a = *state;
    enum { LATENT = 4, TRIALS = 4 };
    static const struct {
        size_t hidden, more; /* numbers beyond those of the network */
        const char *of;
        int known;
    } trial[TRIALS] = { { 3, 0, "{\"model\":\"this\"}", 1 },
                        { 32, 0, "{\"model\":\"this\"}", 1 },
                        { 3, 1, "{\"model\":\"this\"}", 0 },
                        { 3, 0, "{\"model\":\"another\"}", 0 } };
    const float form[LATENT] = { 1, 0, 0, 0 }, table[LATENT] = { 0, 1, 0, 0 };
    const model_promise_facts facts = { .nodes = 1, .constants = 2, .form = form, .table = table };
    for (int i = 0; i < TRIALS; i++) {
        model_promise stored = { .latent = LATENT, .hidden = trial[i].hidden }, p;
        float *with = arena_zero(a, (model_promise_weights(LATENT, stored.hidden) + trial[i].more) *
                                        sizeof *with);
        float *without = arena_zero(a, model_promise_weights(0, stored.hidden) * sizeof *without);
        assert_true(with && without);
        /* The last unit counts the constants, the answer is seven times that. */
        size_t n = model_promise_inputs(LATENT), last = stored.hidden - 1;
        const model_promise_parts at = model_promise_layout(n, stored.hidden);
        with[at.W + last * n + MODEL_PROMISE_PLAIN - 1] = 1;
        with[at.V + last * stored.hidden + last] = 1;
        with[at.o + last] = 7;
        stored.with = with;
        stored.without = without;
        safetensors_entry entry[MODEL_PROMISE_NETWORKS];
        model_promise_entries(entry, &stored);
        entry[0].shape[0] += trial[i].more;
        safetensors_file f = { .entry = entry, .count = MODEL_PROMISE_NETWORKS };
        f.metadata = json_pack("{s:s}", "promise", trial[i].of);
        assert_true(model_promise_take(&p, &f, "this", LATENT, a));
        json_decref(f.metadata);
        assert_int_equal(model_promise_known(&p), trial[i].known);
        if (trial[i].known)
            assert_true(model_promise_value(&p, &facts) == 14 && p.hidden == trial[i].hidden);
        else
            assert_true(isnan(model_promise_value(&p, &facts)));
    }
}

/* The promise is of the formula as it was given, whatever a refit makes of it, and there is none
 * without weights. */
static void the_promise_is_of_the_formula_as_given(void **state)
{
    arena *a = *state;
    regress_problem p = ranked_problem(a);
    model_opened t = { .m = untrained_forms_model(1, a), .tree = 1 };
    for (int refit = 0; refit < 2; refit++) {
        const regress_rank_how how = { .refit = refit, .threads = 2 };
        t.promise = (model_promise){ 0 };
        regress_candidate *c = ranked(&p, &t, &how, a);
        for (size_t i = 0; i < COUNT(candidates); i++)
            assert_true(isnan(c[i].promise));
        t.promise = simple_promise((size_t)t.m->config.latent, a);
        c = ranked(&p, &t, &how, a);
        for (size_t i = 0; i < COUNT(candidates); i++) {
            expr_form form = { .hash = 0 };
            double *v = arena_array(a, p.rows, sizeof *v);
            size_t finite = expr_eval(c[i].e, (const double *const *)p.x, p.rows, v, a);
            int known = expr_canonical(&form, c[i].e, a, NULL) == SNIP_OK && form.core.count > 0;
            double nodes = (double)(known ? form.core.count : c[i].e.count),
                   r = finite == p.rows ? fabs(numbers_correlation(v, p.y, p.rows)) : 0;
            double want = 0.5 * (isnan(c[i].similarity) ? 0 : c[i].similarity) + 0.3 * r -
                          0.2 * log(nodes) + 0.05 * (1 + log(nodes));
            assert_true(fabs(c[i].promise - want) < 1e-6);
        }
    }
}

/* A formula with as many constants as rows fits anything. It is never first by balance, and below
 * that its error is cross-validated, since it is fitted to few rows. */
static void constants_are_charged(void **state)
{
    arena *a = *state;
    static const char *const texts[] = {
        "1.0*x2 + 1.0",
        "1.0 + 2.0*x2 + 3.0*a + 4.0*sin(5.0*a + 0.1)",
        "1.0 + 2.0*x2 + 3.0*x2^2 + 4.0*x2^3 + 0.5*sin(1.1*x2) + 1.0*a + 2.0*a^2",
        "2.0*x2 + 1.0*a^2 + 1.0 + 3.0*a + 1.0*sin(1.0*a) + 1.0*cos(1.0*x2)",
        "7.0",
    };
    static const size_t constants[] = { 2, 6, 8, 8, 1 };
    regress_problem p = problem_of("2.5*x2 + 3*sin(9*x2) + cos(50*d)", 8, a);
    assert_int_equal(p.train, p.rows);
    for (int refit = 0; refit < 2; refit++) {
        regress_candidate c[COUNT(texts)] = { 0 };
        snip_status st;
        for (size_t i = 0; i < COUNT(texts); i++)
            c[i] = (regress_candidate){ .e = parsed(texts[i], &p.names, a), .place = i };
        const regress_rank_how how = { .refit = refit, .order = REGRESS_BY_BALANCE, .threads = 1 };
        assert_int_equal(regress_rank(c, COUNT(texts), &p, NULL, &how, a, &st), SNIP_OK);
        double before = -INFINITY;
        for (size_t i = 0; i < COUNT(texts); i++) {
            size_t k = c[i].constants, free = refit ? k : 0;
            assert_int_equal(k, constants[c[i].place]);
            assert_int_equal(regress_saturated(&c[i]), free >= 8);
            assert_int_equal(regress_saturated(&c[i]), refit && i >= COUNT(texts) - 2);
            double key = free >= 8 ? INFINITY
                                   : 8 * log(regress_judged(&c[i].errors, &p) / p.variance[0]) +
                                         (double)c[i].complexity * log(8);
            assert_true(key >= before);
            before = key;
        }
    }
    /* Six constants explain more of eight rows than two do, but less of rows not seen. The cosine
     * is as good as noise. */
    p = problem_of("2.5*x2 + cos(70000*d)", 11, a);
    regress_candidate c[2] = { { .e = parsed(texts[0], &p.names, a) },
                               { .e = parsed(texts[1], &p.names, a), .place = 1 } };
    for (int order = REGRESS_BY_LOSS; order <= REGRESS_BY_BALANCE; order++) {
        const regress_rank_how how = { .refit = 1, .order = order, .threads = 1 };
        assert_int_equal(regress_rank(c, 2, &p, NULL, &how, a, NULL), SNIP_OK);
        assert_int_equal(c[0].place, 0);
        assert_true(c[0].errors.loss[0] > c[1].errors.loss[0]);
    }
}

/* A constant that is fitted to the other parts is their mean. */
static void cross_validation_is_that_of_brute_force(void **state)
{
    arena *a = *state;
    static const size_t sizes[] = { 4, 11, 60, 99, 100, 203 };
    for (size_t s = 0; s < COUNT(sizes); s++) {
        regress_problem p = problem_of("2.5*x2 + 3*sin(9*x2) + cos(50*d)", sizes[s], a);
        size_t rows = p.rows, folds = rows < 10 ? rows : rows < 100 ? 10 : 5;
        double want = 0, got;
        assert_int_equal(regress_folds(rows), folds);
        for (size_t k = 0; k < folds; k++) {
            double sum = 0, n = 0;
            for (size_t i = 0; i < rows; i++)
                if (i % folds != k) {
                    sum += p.y[i];
                    n++;
                }
            for (size_t i = k; i < rows; i += folds)
                want += pow(p.y[i] - sum / n, 2) / (double)rows;
        }
        assert_true(regress_cross_validate(&got, parsed("3.5", &p.names, a), &p, rows, 1, a));
        assert_true(fabs(got - want) <= 1e-9 * want);
        regress_candidate c = { .e = parsed("3.5", &p.names, a) };
        const regress_rank_how how = { .refit = 1, .threads = 1 };
        assert_int_equal(regress_rank(&c, 1, &p, NULL, &how, a, NULL), SNIP_OK);
        assert_true(rows < 100 ? fabs(regress_judged(&c.errors, &p) - want) <= 1e-9 * want
                               : regress_judged(&c.errors, &p) == c.errors.loss[1]);
    }
}

/* What is printed is what was fitted: read back, it has the same losses, and no digit is there for
 * nothing. */
static void printed_formulas_are_the_fitted_ones(void **state)
{
    arena *a = *state;
    regress_problem p = ranked_problem(a);
    static const char *const hard[] = {
        "(1e8*a + 1.123456789e8) - 1e8*a - 112345678.8 + 2.0*x2", /* large terms cancel */
        "(1e8*a + 1.123456789e14) - 1e8*a - 112345678900000.12 + 2.0*x2",
        "2.5*x2 + 3*sin(2*a) + 0.5", /* exact */
        "2.5000000001*x2 + 3.0000002*sin(2.0000001*a) + 0.5",
        "1.23456789*x2 + 7.654321",
    };
    static const int digits_of[] = { 10, 17, 3, 8, 3 };
    regress_candidate *c = ranked(&p, NULL, &(regress_rank_how){ .refit = 1, .threads = 2 }, a);
    for (size_t i = 0; i < COUNT(candidates) + COUNT(hard); i++) {
        regress_candidate own = { 0 };
        if (i >= COUNT(candidates))
            own.fitted = parsed(hard[i - COUNT(candidates)], &p.names, a);
        const regress_candidate *now = i < COUNT(candidates) ? &c[i] : &own;
        regress_errors fitted;
        assert_true(regress_problem_errors(&fitted, now->fitted, &p, a));
        for (int f = 0; f < 2; f++) {
            int digits;
            regress_errors errors, fewer;
            snip_format format = f ? SNIP_LATEX : SNIP_INFIX;
            const char *text = regress_shown(now, format, &p, &digits, a);
            assert_non_null(text);
            assert_true(regress_problem_errors(&errors, parsed(text, &p.names, a), &p, a));
            if (isnan(fitted.loss[0])) {
                assert_true(isnan(errors.loss[0]));
                continue;
            }
            double least = 1e-16 * p.variance[0], want[2], worst = 0;
            for (int k = 0; k < 2; k++) {
                want[k] = fmax(fitted.loss[k], least);
                if (fabs(fmax(errors.loss[k], least) - want[k]) > 0.01 * want[k])
                    fail_msg("%s: loss %g, was %g", text, errors.loss[k], fitted.loss[k]);
            }
            if (i >= COUNT(candidates) && digits != digits_of[i - COUNT(candidates)])
                fail_msg("%s: %d digits", text, digits);
            if (digits == 3)
                continue;
            text = expr_print(now->fitted, format, &p.names, digits - 1, a);
            assert_true(regress_problem_errors(&fewer, parsed(text, &p.names, a), &p, a));
            for (int k = 0; k < 2; k++)
                worst = fmax(worst, fabs(fmax(fewer.loss[k], least) / want[k] - 1));
            assert_true(worst > 0.01);
        }
    }
}

static void threads_change_nothing(void **state)
{
    arena *a = *state;
    const model_opened *t = small_model(a);
    for (size_t rows = ROWS; rows <= 1000; rows += 940) {
        regress_problem p = problem_of("2.5*x2 + 3*sin(2*a) + 0.5", rows, a);
        regress_candidate *one = ranked(&p, t, &(regress_rank_how){ .refit = 1, .threads = 1 }, a);
        for (int threads = 0; threads <= 3; threads++) { /* 0: as good as 1 */
            regress_candidate *c =
                ranked(&p, t, &(regress_rank_how){ .refit = 1, .threads = threads }, a);
            for (size_t i = 0; i < COUNT(candidates); i++) {
                assert_int_equal(one[i].place, c[i].place);
                assert_true(same_bits(one[i].similarity, c[i].similarity));
                assert_true(same_bits(one[i].score, c[i].score) && one[i].front == c[i].front);
                assert_true(expr_same(one[i].fitted, c[i].fitted));
                assert_memory_equal(&one[i].errors, &c[i].errors, sizeof c[i].errors);
                assert_memory_equal(&one[i].given, &c[i].given, sizeof c[i].given);
            }
        }
    }
}

/* Cosines step by step: the words of each formula, and the table of its inputs and of all that y
 * depends on. */
static void similarities_are_cosines_with_the_inputs_that_matter(void **state)
{
    arena *a = *state;
    regress_problem p = ranked_problem(a);
    const model_opened *t = small_model(a);
    static const char *const formulas[] = { "sin(a)", "x2^2", "a*x2", "7.5", "a + d", "x2" };
    enum { N = COUNT(formulas) };
    size_t latent = (size_t)t->m->config.latent;
    float *f = arena_array(a, latent, sizeof *f), *z = arena_array(a, latent, sizeof *z);
    expr e[N];
    regress_nearness got[N];
    for (size_t i = 0; i < N; i++)
        e[i] = parsed(formulas[i], &p.names, a);
    assert_int_equal(regress_similarities(got, e, N, &p, t, 2, a, NULL), SNIP_OK);
    model_space *s = model_space_new(t->m, t->tree, 1);
    for (size_t i = 0; i < N; i++) {
        regress_inputs inputs = regress_inputs_of(e[i], &p) | regress_inputs_that_matter(&p);
        model_item item = { .node = MODEL_WHOLE };
        expr read;
        assert_int_equal(regress_problem_rewrite(&read, e[i], inputs, &p, a, NULL), SNIP_OK);
        assert_int_equal(model_space_words(&item.words, s, read, MODEL_EXACT, a, NULL), SNIP_OK);
        assert_int_equal(model_space_embed(s, &item, 1, f, NULL, NULL), SNIP_OK);
        assert_int_equal(regress_problem_embed(&p, inputs, REGRESS_EXACT, s, z, NULL), SNIP_OK);
        assert_true(fabs(got[i].similarity - model_dot(f, z, latent)) < 1e-5 && !got[i].why);
        for (size_t k = 0; k < latent; k++)
            assert_true(fabsf(got[i].form[k] - f[k]) < 1e-5f &&
                        fabsf(got[i].table[k] - z[k]) < 1e-5f);
    }
    model_space_free(s);
}

static void small_and_large_lists_are_ranked(void **state)
{
    arena *a = *state;
    regress_problem p = ranked_problem(a);
    const model_opened *t = small_model(a);
    const regress_rank_how how = { .refit = 1, .order = REGRESS_BY_LOSS, .threads = 2 };
    assert_int_equal(regress_rank(NULL, 0, &p, t, &how, a, NULL), SNIP_OK);
    regress_candidate one = { .e = parsed("3.5", &p.names, a) };
    assert_int_equal(regress_rank(&one, 1, &p, t, &how, a, NULL), SNIP_OK);
    assert_true(one.front && one.score == 0 && one.complexity == 1 && one.constants == 1);
    assert_true(!isnan(one.similarity) && fabs(one.errors.r2[0]) < 1e-9); /* the mean */

    enum { MANY = 2500 }; /* more than one batch */
    regress_candidate *c = arena_zero(a, MANY * sizeof *c);
    for (size_t i = 0; i < MANY; i++) {
        c[i].e = parsed(i % 2 ? "a + x2" : "x2", &p.names, a);
        c[i].place = i;
    }
    assert_int_equal(regress_rank(c, MANY, &p, t, &how, a, NULL), SNIP_OK);
    for (size_t i = 1; i < MANY; i++) {
        assert_true(c[i].place > c[i - 1].place || i == MANY / 2);
        assert_true(i == MANY / 2 || fabs(c[i].similarity - c[i - 1].similarity) < 1e-5);
    }
}

static void what_the_model_cannot_read_has_errors_still(void **state)
{
    arena *a = *state;
    regress_problem p = ranked_problem(a);
    regress_candidate c[] = {
        { .e = long_sum("a", "a*x2", 100, &p.names, a) },
        { .e = long_sum("a", "sin(a + 1.5)", 600, &p.names, a), .place = 1 }, /* not fitted */
        { .e = parsed("floor(x2)", &p.names, a), .place = 2 },
    };
    assert_int_equal(regress_rank(c, COUNT(c), &p, small_model(a),
                                  &(regress_rank_how){ .refit = 1, .starts = 1 }, a, NULL),
                     SNIP_OK);
    for (size_t i = 0; i < COUNT(c); i++) {
        static const char *const says[] = { "reads at most 200", "reads at most 200", "'floor'" };
        const char *want = says[c[i].place];
        assert_true(isnan(c[i].similarity) && isfinite(c[i].errors.loss[0]));
        if (!strstr(c[i].why, want))
            fail_msg("says '%s', expected '%s'", c[i].why, want);
        if (c[i].place == 1)
            assert_true(c[i].constants == 600 && c[i].fitted_rows == 0);
    }
}

/* Many constants on many rows are fitted on some of the rows. */
static void many_constants_are_fitted_all_the_same(void **state)
{
    arena *a = *state;
    regress_problem p = problem_of("a + 2", 20000, a);
    regress_candidate c = { .e = long_sum("1.5*a+0.0*x2", "0.5", 120, &p.names, a) };
    assert_true(122 * p.fit > REGRESS_FIT_JACOBIAN_MAX);
    assert_int_equal(
        regress_rank(&c, 1, &p, NULL, &(regress_rank_how){ .refit = 1, .starts = 1 }, a, NULL),
        SNIP_OK);
    assert_int_equal(c.constants, 122);
    assert_true(c.errors.loss[1] < 1e-6 * c.given.loss[1]);
}

/* A constant that others could take the place of is no constant: it would run away. What has as
 * many as it needs keeps the structure that the user wrote. */
static void redundant_constants_are_merged(void **state)
{
    arena *a = *state;
    regress_problem p = problem_of("72/(1 + exp(2.6 - 0.9*a))", ROWS, a);
    static const struct {
        const char *formula;
        size_t constants;
        int kept;
    } cases[] = {
        { "7363.9/(101.62 + exp(7.2394 - 0.7*a))", 3, 0 },
        { "4.9*(a - 3.5)/1.28", 2, 0 },
        { "1.0 - 2.0*(a - 1950.0)", 2, 0 },
        { "2.0 - 1.5*a", 2, 1 },
        { "70.0/(1.5 + exp(-0.8*a))", 3, 1 },
        { "1.5*exp(-1.0*a) + 1.5*exp(-1.0*a)", 4, 1 }, /* equal only at the start; a valley here */
        { "2.0*a + 0.0*x2", 2, 1 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        regress_candidate c = { .e = parsed(cases[i].formula, &p.names, a) };
        const regress_rank_how how = { .refit = 1, .starts = 4, .threads = 1 };
        assert_int_equal(regress_rank(&c, 1, &p, NULL, &how, a, NULL), SNIP_OK);
        if (c.constants != cases[i].constants || (c.fitted.count == c.e.count) != cases[i].kept)
            fail_msg("%s: %zu constants, %zu nodes", cases[i].formula, c.constants, c.fitted.count);
        assert_true(c.errors.loss[0] <= c.given.loss[0] * (1 + 1e-9));
        for (size_t k = 0; k < c.fitted.count; k++)
            assert_true(fabs(c.fitted.node[k].value) < (i == 5 ? 1e5 : 1e4));
        if (i == 0)
            assert_true(c.errors.loss[0] < 1e-16);
    }
}

/* Without a model there may be more inputs than a regress_inputs holds. A structure that loses one
 * is not taken, however far behind the others it stands. */
static void many_inputs_need_no_model(void **state)
{
    enum { INPUTS = 40, LENGTH = 30 };
    arena *a = *state;
    double values[INPUTS][LENGTH];
    const double *x[INPUTS];
    const char *name[INPUTS];
    rng r;
    rng_init(&r, 4, RNG_BENCH, 0);
    for (size_t j = 0; j < INPUTS; j++) {
        char text[8];
        int length = snprintf(text, sizeof text, "x%zu", j);
        name[j] = arena_text(a, text, (size_t)length);
        x[j] = values[j];
        rng_fill_uniform(&r, values[j], LENGTH);
    }
    const regress_table t = { INPUTS, LENGTH, name, x, values[1] };
    regress_problem p;
    assert_int_equal(regress_problem_make(&p, &t, 0, a, NULL), SNIP_OK);
    regress_candidate c[] = { { .e = parsed("2.0*(1.5*x0) + x32 - x32", NULL, a) },
                              { .e = parsed("2.0*(1.5*x0) + x39", NULL, a), .place = 1 } };
    const regress_rank_how how = { .refit = 1, .starts = 1 };
    assert_int_equal(regress_rank(c, COUNT(c), &p, NULL, &how, a, NULL), SNIP_OK);
    for (size_t i = 0; i < COUNT(c); i++)
        assert_int_equal(c[i].constants, c[i].place == 0 ? 2 : 1);
}

/* A root that is written as such stays, and is the same as its function to the model. */
static void written_roots_stay(void **state)
{
    arena *a = *state;
    regress_problem p = problem_of("2.1*(a + 4)^0.51", ROWS, a);
    static const char *const texts[] = { "2.0*sqrt(a + 4.1)", "2.0*(a + 4.1)^(1/2)",
                                         "2.0*(a + 4.1)^0.5" };
    static const size_t constants[] = { 2, 2, 3 };
    double similarity[COUNT(texts)];
    for (size_t i = 0; i < COUNT(texts); i++) {
        regress_candidate c = { .e = parsed(texts[i], &p.names, a) };
        const regress_rank_how how = { .refit = 1, .starts = 1 };
        assert_int_equal(regress_rank(&c, 1, &p, small_model(a), &how, a, NULL), SNIP_OK);
        assert_int_equal(c.constants, constants[i]);
        similarity[i] = c.similarity;
    }
    assert_true(similarity[0] == similarity[1]);
}

/* Among many candidates some larger one suits a few noisy rows better than the law that made them;
 * by balance it must not come first. That is what `snip rank` and `snip find --refit` order by. */
static void noise_buys_no_terms(void **state)
{
    enum { DRAWS = 7 };
    (void)state;
    static const char *const texts[] = {
        "1.0*a + 1.0",
        "1.0*a/(1.0 + a)",
        "1.0*sin(1.6*a) + 0.5",
        "1.0*a^2 + 1.0*a + 1.0",
        "1.0*a^3 + 1.0*a^2 + 1.0*a + 1.0",
        "1.0*a^4 + 1.0*a^3 + 1.0*a^2 + 1.0*a + 1.0",
        "1.0*a + 1.0*sin(2.0*a) + 1.0",
        "1.0*a + 1.0*sin(5.0*a + 1.0) + 1.0",
        "1.0*exp(-1.0*a) + 1.0*a + 1.0",
        "1.0*sin(3.0*a + 0.5)*a + 1.0*a + 1.0",
        "1.0*a/(1.0 + a) + 1.0*sin(4.0*a) + 0.5",
        "1.0*cos(2.0*a) + 1.0*sin(7.0*a) + 1.0*a + 0.5",
        "2.0*exp(-2.0*(a - 2.0)^2) + 1.0*a + 1.0",
        "1.0*a/d^3", /* from here on d, whose cube makes a few large rows */
        "1.0*a^1.1/d^3",
        "1.0*a/d^3.1",
        "1.0*a/(0.0001 + d)^3",
        "1.0*(0.1 + a)/d^3",
        "1.0*a/d^3 + 1.0*a",
    };
    static const struct {
        const char *law;
        size_t truth;
        double noise, share;
    } cases[] = { { "2*a + 1", 0, 0.8, 0 },
                  { "4*a/(1.5 + a)", 1, 0.25, 0 },
                  { "2*sin(1.7*a) + 1", 2, 0.5, 0 },
                  { "3*a/d^3", 13, 0, 0.02 } };
    static const size_t sizes[] = { 20, 40, 100 };
    const regress_rank_how how = { .refit = 1, .order = REGRESS_BY_BALANCE, .threads = 2 };
    size_t larger[2] = { 0 }, all[2] = { 0 }; /* by whether errors grow with y */
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (uint64_t draw = 1; draw <= DRAWS; draw++) {
                arena *a = arena_new(0);
                regress_problem p =
                    noisy_in_part(cases[i].law, sizes[s], cases[i].noise, cases[i].share, draw, a);
                regress_candidate c[COUNT(texts)] = { 0 };
                for (size_t k = 0; k < COUNT(texts); k++)
                    c[k] = (regress_candidate){ .e = parsed(texts[k], &p.names, a), .place = k };
                size_t truth = c[cases[i].truth].e.count;
                assert_int_equal(regress_rank(c, COUNT(texts), &p, NULL, &how, a, NULL), SNIP_OK);
                int uneven = cases[i].share > 0;
                all[uneven]++;
                larger[uneven] += c[0].place != cases[i].truth && c[0].e.count > truth;
                arena_free(a);
            }
    if (20 * larger[0] > all[0] || 5 * larger[1] > all[1])
        fail_msg("a larger formula than the law came first %zu of %zu times, %zu of %zu where "
                 "errors grow with y",
                 larger[0], all[0], larger[1], all[1]);
}

/* What errors of one size or of rounding leave is no sign of errors that grow with y. */
static void errors_that_grow_are_told(void **state)
{
    (void)state;
    enum { DRAWS = 20 };
    static const struct {
        const char *law, *formula;
        double noise, share;
    } cases[] = {
        { "2*a + 1", "1.0*a + 1.0", 0.8, 0 },
        { "4*a/(1.5 + a)", "1.0*a/(1.0 + a)", 0.2, 0 },
        { "3*sin(1.7*a)*x2 + 1", "1.0*sin(1.6*a)*x2 + 0.5", 0.5, 0 },
        { "3*a/d^2", "1.0*a/d^2", 5000, 0 },
        { "2*exp(1.15*a)", "1.0*exp(1.0*a) + 1.0", 5, 0 },
        { "3*a/d^2", "1.0*a/d^2", 0, 0.01 },
        { "3*a/d^2", "1.0*a/d^2", 0, 0.05 },
        { "2*exp(1.15*a)", "1.0*exp(1.0*a)", 0, 0.01 },
        { "2*exp(1.15*a)", "1.0*exp(1.0*a) + 1.0", 0, 0.05 },
    };
    static const size_t sizes[] = { 40, 100, 300 };
    const regress_rank_how how = { .refit = 1, .threads = 1 };
    size_t told[2] = { 0 }, all[2] = { 0 }; /* by whether errors grow with y */
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t s = cases[i].share > 0; s < COUNT(sizes); s++)
            for (uint64_t draw = 1; draw <= DRAWS; draw++) {
                arena *a = arena_new(0);
                regress_problem p =
                    noisy_in_part(cases[i].law, sizes[s], cases[i].noise, cases[i].share, draw, a);
                regress_candidate c = { .e = parsed(cases[i].formula, &p.names, a) };
                assert_int_equal(regress_rank(&c, 1, &p, NULL, &how, a, NULL), SNIP_OK);
                size_t telling = regress_errors_grow(c.fitted, &p, a);
                assert_true(2 * telling < p.rows);
                told[cases[i].share > 0] += telling > 0;
                all[cases[i].share > 0]++;
                p.weight = p.y; /* whatever they are */
                assert_int_equal(regress_errors_grow(c.fitted, &p, a), 0);
                arena_free(a);
            }
    if (50 * told[0] > all[0] || 10 * told[1] < 9 * all[1])
        fail_msg("told of %zu of %zu tables with errors of one size, and of %zu of %zu where they "
                 "grow with y",
                 told[0], all[0], told[1], all[1]);
}

/* Errors of three digits are a share of y, but nobody can do better; and few rows say little. */
static void rounding_is_no_error_that_grows(void **state)
{
    for (uint64_t draw = 1; draw <= 20; draw++) {
        regress_problem few = noisy_in_part("3*a/d^2", 19, 0, 0.02, draw, *state);
        expr law = parsed("3*a/d^2", &few.names, *state);
        assert_int_equal(regress_errors_grow(law, &few, *state), 0);
        regress_problem p = noisy_in_part("3*a/d^2", 100, 0, 1e-7, draw, *state);
        assert_true(regress_errors_grow(law, &p, *state) > 0);
        double *y = arena_array(*state, p.rows, sizeof *y);
        for (size_t i = 0; i < p.rows; i++) {
            char buf[32];
            snprintf(buf, sizeof buf, "%.2e", p.y[i]);
            y[i] = strtod(buf, NULL);
        }
        p.y = y;
        assert_int_equal(regress_errors_grow(law, &p, *state), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(the_truth_wins_with_wrong_constants),
        ARENA_TEST(the_front_is_that_of_brute_force),
        ARENA_TEST(every_order_is_kept),
        ARENA_TEST(a_promise_has_as_many_units_as_its_file_says),
        ARENA_TEST(the_promise_is_of_the_formula_as_given),
        ARENA_TEST(constants_are_charged),
        ARENA_TEST(cross_validation_is_that_of_brute_force),
        ARENA_TEST(printed_formulas_are_the_fitted_ones),
        ARENA_TEST(threads_change_nothing),
        ARENA_TEST(similarities_are_cosines_with_the_inputs_that_matter),
        ARENA_TEST(small_and_large_lists_are_ranked),
        ARENA_TEST(what_the_model_cannot_read_has_errors_still),
        ARENA_TEST(many_constants_are_fitted_all_the_same),
        ARENA_TEST(redundant_constants_are_merged),
        ARENA_TEST(many_inputs_need_no_model),
        ARENA_TEST(written_roots_stay),
        ARENA_TEST(noise_buys_no_terms),
        ARENA_TEST(errors_that_grow_are_told),
        ARENA_TEST(rounding_is_no_error_that_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
