/* test_suites.c - the evaluation as a whole: chance for a random model, 1 for a perfect one. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/numbers.h"
#include "data/gen.h"
#include "eval/forms.h"

static const eval_how how = { .pairs = 600, .targets = 32, .subtree_variants = 8 };

/* As if the encoders agreed: values get the symbols' rows. */
static void echo_symbols(void *context, const model_item *item, size_t n, float *symbols,
                         float *values)
{
    const model_space *s = context;
    (void)item;
    if (symbols && values)
        memcpy(values, symbols, n * s->latent * sizeof *values);
}

static model_space *space_of_seed(int echo, uint64_t seed, arena *a)
{
    model_space *s = model_space_new(untrained_model(seed, a), 1, 2);
    assert_non_null(s);
    s->seen = echo ? echo_symbols : NULL;
    s->seen_context = s;
    return s;
}

static model_space *space(int echo, arena *a)
{
    return space_of_seed(echo, 4, a);
}

static eval_figure figure(const json_t *o, const char *one, const char *two, const char *three)
{
    const char *const keys[3] = { one, two, three };
    for (int i = 0; i < 3 && keys[i]; i++)
        o = json_object_get(o, keys[i]);
    if (!json_is_number(json_object_get(o, "value")))
        fail_msg("%s %s: no figure", one, two ? two : "");
    return (eval_figure){ json_number_value(json_object_get(o, "value")),
                          json_number_value(json_object_get(o, "lo")),
                          json_number_value(json_object_get(o, "hi")) };
}

/* 1 for a perfect model; for a random one chance within the interval, which is a 95 % one: give it
 * half of its width on either side. */
static void expect(eval_figure f, double chance, int perfect, const char *what)
{
    double slack = (f.hi - f.lo) / 2;
    int good = perfect ? f.value == 1 && f.lo == 1 && f.hi == 1
                       : chance >= f.lo - slack && chance <= f.hi + slack;
    if (!good)
        fail_msg("%s: %.4f [%.4f, %.4f], expected %g", what, f.value, f.lo, f.hi,
                 perfect ? 1.0 : chance);
}

static void retrieval_is_chance_or_perfect(void **state)
{
    for (int perfect = 0; perfect < 2; perfect++) {
        model_space *s = space(perfect, *state);
        json_t *o;
        snip_status st;
        if (eval_global(&o, s, &how, &st) != SNIP_OK)
            fail_msg("%s", st.msg);
        for (int d = 0; d < EVAL_DIRECTIONS; d++) {
            const char *way = eval_direction_names[d];
            double n = (double)how.pairs;
            if (perfect) /* by chance there is one hit, or none: no interval tells */
                expect(figure(o, way, "r1", NULL), 1, 1, "R@1");
            expect(figure(o, way, "r10", NULL), 10 / n, perfect, "R@10");
            expect(figure(o, way, "ndcg10", NULL), 4.5436 / n, perfect, "nDCG@10");
            expect(figure(o, way, "median_rank", NULL), n / 2, perfect, "median rank");
        }
        json_decref(o);
        model_space_free(s);
    }
}

static void geometry_of_a_perfect_model_has_no_gap(void **state)
{
    model_space *s = space(1, *state);
    json_t *o;
    assert_int_equal(eval_geometry(&o, s, &how, NULL), SNIP_OK);
    assert_true(figure(o, "gap", NULL, NULL).value < 1e-12);
    assert_int_equal(json_array_size(json_object_get(json_object_get(o, "points"), "f")), 800);
    double sum = 0, last = 1;
    for (size_t i = 0; i < json_array_size(json_object_get(o, "explained")); i++) {
        double v = json_number_value(json_array_get(json_object_get(o, "explained"), i));
        assert_true(v <= last + 1e-12);
        last = v;
        sum += v;
    }
    assert_true(fabs(sum - 1) < 1e-9);
    json_decref(o);
    model_space_free(s);
}

static void edits_are_chance_or_perfect(void **state)
{
    arena *a = *state;
    for (int perfect = 0; perfect < 2; perfect++)
        for (int subtrees = 0; subtrees < 2; subtrees++) {
            model_space *s = space(perfect, a);
            eval_target *t;
            eval_scores scores;
            snip_status st;
            assert_int_equal(eval_targets(&t, &how, a, &st), SNIP_OK);
            if (eval_local(&scores, s, t, how.targets, subtrees, &how, a, &st) != SNIP_OK)
                fail_msg("%s", st.msg);
            json_t *o = eval_scores_json(&scores, 0);
            for (int d = 0; d < EVAL_DIRECTIONS; d++)
                expect(figure(o, "average", eval_direction_names[d], NULL), 0.5, perfect,
                       subtrees ? "subtrees" : "edits");
            assert_true(scores.usable > 28 && scores.usable <= 32);
            assert_true(!subtrees || (scores.parts > 3 * 32 && scores.parts <= 8 * 32));
            json_t *same = eval_compare(&scores, &scores, NULL, NULL, 0);
            assert_int_equal(json_integer_value(json_object_get(same, "same")), 12);
            assert_int_equal(json_integer_value(json_object_get(same, "better")), 0);
            json_decref(same);
            json_decref(o);
            model_space_free(s);
        }
}

/* Formulas of the corpora are alike in what edits do to their values, so one random model may lean
 * one way in all of them: chance is what several random models have between them. */
static void corpora_are_chance_or_perfect(void **state)
{
    enum { SEEDS = 6, PARTS = 3 };
    static const char *const parts[PARTS] = { "global", "edits", "subtrees" };
    const eval_how quick = { .subtree_variants = 2 };
    double value[PARTS][EVAL_DIRECTIONS][SEEDS];
    for (uint64_t seed = 0; seed <= SEEDS; seed++) {
        int perfect = seed == SEEDS;
        model_space *s = space_of_seed(perfect, seed, *state);
        json_t *o;
        snip_status st;
        if (eval_corpora(&o, s, &quick, &st) != SNIP_OK)
            fail_msg("%s", st.msg);
        for (int k = 0; k < PARTS; k++)
            for (int d = 0; d < EVAL_DIRECTIONS; d++) {
                const json_t *view = json_object_get(json_object_get(o, "pooled"), "consistent");
                eval_figure f = figure(view, parts[k], eval_direction_names[d], NULL);
                if (perfect) /* two formulas may round to the same vector */
                    assert_true(f.value > 0.999);
                else
                    value[k][d][seed] = f.value;
            }
        json_decref(o);
        model_space_free(s);
    }
    for (int k = 0; k < PARTS; k++)
        for (int d = 0; d < EVAL_DIRECTIONS; d++) {
            double mean = 0, square = 0;
            for (int i = 0; i < SEEDS; i++)
                mean += value[k][d][i] / SEEDS;
            for (int i = 0; i < SEEDS; i++)
                square += (value[k][d][i] - mean) * (value[k][d][i] - mean) / (SEEDS - 1);
            double error = sqrt(square / SEEDS);
            print_message("%s %s: %.3f +- %.3f\n", parts[k], eval_direction_names[d], mean, error);
            assert_true(fabs(mean - 0.5) < 3 * error + 0.01);
        }
}

static void probes_have_their_parts(void **state)
{
    model_space *s = space(1, *state);
    json_t *o;
    snip_status st;
    if (eval_probes(&o, s, &how, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    json_t *c = json_object_get(json_object_get(o, "variation"), "similarity");
    assert_int_equal(json_array_size(c), 46);
    assert_true(fabs(json_number_value(json_array_get(c, 0)) - 1) < 1e-6);
    assert_int_equal(
        json_object_size(json_object_get(json_object_get(o, "rewritings"), "families")), 7);
    assert_int_equal(json_array_size(json_object_get(json_object_get(o, "taylor"), "functions")),
                     9);
    json_decref(o);
    model_space_free(s);
}

/* Without what depends on the clock. */
static void forget_seconds(json_t *o)
{
    json_object_del(o, "seconds");
    for (void *at = json_object_iter(o); at; at = json_object_iter_next(o, at))
        if (json_is_object(json_object_iter_value(at)))
            forget_seconds(json_object_iter_value(at));
}

static json_t *forms_of(const model *m, int threads)
{
    static const eval_how small = { .pairs = 301, .targets = 4, .problems = 1, .library = 301 };
    model_space *s = model_space_new(m, 1, threads);
    json_t *o;
    snip_status st;
    assert_non_null(s);
    if (eval_forms(&o, s, &small, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    forget_seconds(o);
    model_space_free(s);
    return o;
}

/* All figures lie within the bounds of what they measure; gains are differences. */
static void check_problems(const json_t *set)
{
    static const char *const conditions[] = { "rows200", "rows200_noise5", "rows30",
                                              "rows30_noise5" };
    static const char *const scores[] = { "similarity", "correlation", "size",
                                          "constants",  "without",     "with" };
    for (size_t c = 0; c < COUNT(conditions); c++)
        for (size_t k = 0; k < COUNT(scores); k++) {
            const json_t *o = json_object_get(set, conditions[c]);
            double place = figure(o, "place", scores[k], NULL).value;
            double percentile = figure(o, "percentile", scores[k], NULL).value;
            assert_true(place >= 1 && place <= 7);
            assert_true(percentile >= 0 && percentile <= 1);
            assert_true(fabs(figure(o, "spearman", scores[k], NULL).value) <= 1);
            assert_true(figure(o, "spearman_same_size", "size", NULL).value == 0);
            assert_true(fabs(figure(o, "spearman_constants", scores[k], NULL).value) <= 1);
            double gain = figure(o, "spearman", "with", NULL).value -
                          figure(o, "spearman", "without", NULL).value;
            assert_true(fabs(figure(o, "spearman", "gain", NULL).value - gain) < 1e-12);
        }
}

/* Units, order and spelling change nothing in the form view; in the exact view those of y do. */
static void check_invariance(const json_t *o, int form)
{
    static const char *const changes[] = { "y_factor",    "y_offset", "x_large",
                                           "x_small",     "columns",  "fractions",
                                           "distributed", "squares",  "reordered" };
    size_t measured = 0;
    for (size_t k = 0; k < COUNT(changes); k++) {
        const json_t *c = json_object_get(o, changes[k]);
        double largest = json_number_value(json_object_get(c, "largest"));
        if (json_integer_value(json_object_get(c, "problems")) == 0)
            continue;
        measured++;
        if (form)
            assert_true(largest < 1e-5);
        else if (k < 2)
            assert_true(largest > 1e-4);
        assert_true(figure(c, "mean", NULL, NULL).value <= largest);
    }
    assert_true(measured >= 5);
}

static void forms_in_both_views_on_any_number_of_threads(void **state)
{
    for (int form = 0; form < 2; form++) {
        const model *m = form ? untrained_forms_model(4, *state) : untrained_model(4, *state);
        json_t *o = forms_of(m, 1), *again = forms_of(m, 3);
        assert_true(json_equal(o, again));
        assert_string_equal(json_string_value(json_object_get(o, "view")), form ? "form" : "exact");
        check_problems(json_object_get(json_object_get(o, "problems"), "laws"));
        check_problems(json_object_get(json_object_get(o, "problems"), "corpora"));
        check_invariance(json_object_get(o, "invariance"), form);
        json_t *l = json_object_get(o, "library");
        assert_int_equal(json_integer_value(json_object_get(l, "forms")), 301);
        double few = figure(l, "k5", "best", "similarity").value;
        assert_true(few >= figure(l, "k5", "mean", "similarity").value);
        assert_true(few <= figure(l, "k50", "best", "similarity").value);
        assert_int_equal(
            json_integer_value(json_object_get(json_object_get(o, "retrieval"), "forms")), 301);
        json_decref(o);
        json_decref(again);
    }
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Formula, points and values of 100,000 training samples and as many held-out ones: no two alike.
 */
static void held_out_samples_are_not_training_samples(void **state)
{
    (void)state;
    enum { N = 100000 };
    const data_gen gen = { .dims = 10, .points = 8 };
    uint64_t *hash = malloc(2 * N * sizeof *hash);
    arena *a = arena_new(0);
    assert_non_null(hash);
    for (uint64_t i = 0; i < 2 * N; i++) {
        data_sample s;
        arena_reset(a, 0);
        assert_int_equal(data_sample_draw(&s, &gen, 0, i < N ? RNG_TRAIN : RNG_HELD_OUT, i % N, a),
                         SNIP_OK);
        hash[i] = XXH3_64bits(s.y, s.points * sizeof *s.y);
        for (int j = 0; j < s.dim; j++)
            hash[i] ^= XXH3_64bits_withSeed(s.x[j], s.points * sizeof *s.y, (XXH64_hash_t)j + 1);
    }
    qsort(hash, 2 * N, sizeof *hash, by_hash);
    for (size_t i = 1; i < 2 * N; i++)
        assert_true(hash[i] != hash[i - 1]);
    arena_free(a);
    free(hash);
}

/* Candidates whose digits follow from one direction of the space, in which form and table agree or
 * not, and a little from their correlation. The plain similarity, which adds up all directions,
 * tells less than the network that learns which one counts; without the space little is left. */
static void a_promise_learns_which_directions_tell(void **state)
{
    enum { TASKS = 300, LATENT = 8, N = 20, TELLS = 3 };
    arena *a = *state;
    forms_task *task = arena_zero(a, TASKS * sizeof *task);
    double plain = 0;
    rng r;
    rng_init(&r, 5, RNG_BENCH, 0);
    assert_non_null(task);
    for (size_t i = 0; i < TASKS; i++) {
        float *v = arena_array(a, LATENT * (N + 1), sizeof *v), *table = v + LATENT * N;
        double similarity[N];
        task[i].n = i == 7 ? 0 : N; /* one that could not be used */
        for (size_t k = 0; k < LATENT * (N + 1); k++)
            v[k] = (float)(2 * rng_uniform(&r) - 1);
        for (size_t k = 0; k < task[i].n; k++) {
            float *form = v + k * LATENT;
            task[i].facts[k] = (model_promise_facts){ .similarity = model_dot(form, table, LATENT),
                                                      .correlation = rng_uniform(&r),
                                                      .nodes = 3 + k % 4,
                                                      .constants = 1,
                                                      .form = form,
                                                      .table = table };
            task[i].digits[k] =
                exp(4 * (double)(form[TELLS] * table[TELLS])) + task[i].facts[k].correlation / 4;
            similarity[k] = task[i].facts[k].similarity;
        }
        plain += task[i].n ? numbers_spearman(similarity, task[i].digits, N) / TASKS : 0;
    }
    forms_promise learnt, again;
    assert_int_equal(forms_promise_learn(&learnt, task, TASKS, TASKS, LATENT, &how, a, NULL),
                     SNIP_OK);
    assert_int_equal(forms_promise_learn(&again, task, TASKS, TASKS, LATENT, &how, a, NULL),
                     SNIP_OK);
    assert_int_equal(learnt.tasks, TASKS * 4 / 5 - 1);
    assert_int_equal(learnt.left_out, TASKS / 5);
    assert_true(learnt.with.spearman > 0.9 && plain < 0.5);
    assert_true(learnt.without.spearman > 0.02 && learnt.without.spearman < 0.5);
    assert_memory_equal(learnt.p.with, again.p.with,
                        model_promise_weights(LATENT, MODEL_PROMISE_HIDDEN) * sizeof(float));

    /* As look-ups, which are judged by the best of the first five: nearly the best of all. */
    double most = 0;
    assert_true(isnan(learnt.with.digits));
    for (size_t i = 0; i < TASKS; i++) {
        double best = 0;
        for (size_t k = 0; k < task[i].n; k++)
            best = fmax(best, task[i].digits[k]);
        most += i % 5 == 4 ? best / (TASKS / 5) : 0;
        task[i].looked_up = 1;
    }
    assert_int_equal(forms_promise_learn(&learnt, task, TASKS, TASKS, LATENT, &how, a, NULL),
                     SNIP_OK);
    assert_true(isnan(learnt.with.spearman));
    assert_true(learnt.with.digits > 0.95 * most && learnt.with.digits <= most * (1 + 1e-12));
    assert_true(learnt.without.digits < 0.9 * learnt.with.digits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(retrieval_is_chance_or_perfect),
        ARENA_TEST(geometry_of_a_perfect_model_has_no_gap),
        ARENA_TEST(edits_are_chance_or_perfect),
        ARENA_TEST(corpora_are_chance_or_perfect),
        ARENA_TEST(probes_have_their_parts),
        ARENA_TEST(forms_in_both_views_on_any_number_of_threads),
        ARENA_TEST(a_promise_learns_which_directions_tell),
        cmocka_unit_test(held_out_samples_are_not_training_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
