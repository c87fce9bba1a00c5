/* test_train.c - batches, objectives, chunked gradients, settings. */
#include "training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Loss and gradient of one batch of 8 samples. */
static train_terms gradient(model *m, int stage, int cosine, int threads, size_t memory,
                            float *grad, int *kept)
{
    arena *draw[2] = { arena_new(0), arena_new(0) };
    train_step *s = train_step_new(m, threads, memory, NULL);
    const train_batch_how what = { .stage = (train_stage)stage,
                                   .size = 8,
                                   .subtrees = m->config.statistics ? 3 : 1,
                                   .edits = 2,
                                   .constants = m->config.statistics ? 0.4 : 0,
                                   .points = m->config.points ? 24 : 0,
                                   .rows = m->config.statistics ? 60 : 0,
                                   .noise = m->config.statistics ? 0.1 : 0,
                                   .laws = m->config.forms ? 0.5 : 0,
                                   .forms = m->config.forms ? 0.6 : 0,
                                   .refits = m->config.forms,
                                   .seed = 3,
                                   .stream = RNG_TRAIN };
    const train_how how = { .stage = (train_stage)stage,
                            .cosine = cosine,
                            .tau_global = 1,
                            .tau_local = 0.1,
                            .scale_global = cosine ? exp((double)m->w[m->scale_global]) : 0,
                            .scale_local = cosine ? exp((double)m->w[m->scale_local]) : 0,
                            .scale_exact = m->config.forms ? 5 : 0,
                            .lambda = 0.7,
                            .centre = 0.3,
                            .refits = 0.8 };
    train_batch b;
    train_terms terms = { 0 };
    train_times times = { 0 };
    snip_status st;
    if (train_batch_draw(&b, &what, 40, m, draw, threads, &st) != SNIP_OK ||
        train_step_gradient(s, m, &b, &how, grad, &terms, &times, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    if (kept)
        *kept = times.kept;
    train_step_free(s);
    arena_free(draw[0]);
    arena_free(draw[1]);
    return terms;
}

/* Models that differ in all that a configuration can choose. */
static const char *const kinds[] = {
    "post-norm, dot",          "pre-norm, cosine",           "features",      "statistics",
    "statistics and features", "constants by value, slopes", "forms, slopes", "forms, surface"
};

/* Weights that begin as 0 or on a diagonal let little through: others show more of the gradient. */
static void scatter_starts(model *m)
{
    rng r;
    rng_init(&r, 6, RNG_BENCH, 0);
    for (size_t k = 0; k < m->tensors; k++) {
        const model_tensor *t = &m->tensor[k];
        for (size_t i = 0; i < model_tensor_size(t); i++)
            if (strstr(t->name, "shortcut") || t->init == MODEL_ZERO)
                m->w[t->offset + i] += (float)(0.2 * rng_uniform(&r) - 0.1);
    }
}

/* The loss along the gradient: its slope must be the gradient's length, in every stage and for all
 * kinds of models. The step is so small because a list's loss has an edge where a form is as far
 * from the table as from the table turned over. */
static void the_gradient_is_the_slope_of_the_loss(void **state)
{
    arena *a = *state;
    for (int kind = 0; kind < (int)(sizeof kinds / sizeof *kinds); kind++)
        for (int stage = 0; stage < TRAIN_STAGES; stage++) {
            model_config c = kind_of_model(kind);
            model *m;
            assert_int_equal(model_new(&m, &c, a, NULL), SNIP_OK);
            model_start(m, 6);
            scatter_starts(m);
            float *g = arena_array(a, m->size, sizeof *g),
                  *other = arena_array(a, m->size, sizeof *g);
            float *w = arena_copy(a, m->w, m->size * sizeof *w);
            train_terms terms = gradient(m, stage, kind > 0, 2, (size_t)1 << 30, g, NULL);
            assert_int_equal(terms.refits > 0, c.forms);
            double length = sqrt(nn_kernels_best()->square_sum(g, m->size)), h = 2e-4, loss[2];
            for (int side = 0; side < 2; side++) {
                for (size_t i = 0; i < m->size; i++)
                    m->w[i] = w[i] + (float)((side ? h : -h) * (double)g[i] / length);
                loss[side] = gradient(m, stage, kind > 0, 2, (size_t)1 << 30, other, NULL).total;
            }
            double slope = (loss[1] - loss[0]) / (2 * h);
            print_message("S%d %s: slope %.5f, gradient %.5f\n", stage, kinds[kind], slope, length);
            assert_true(fabs(slope - length) < 0.01 * length);
        }
}

/* Losses, gradients of the rows and of the scale for six whole expressions, all of one view. */
enum { PAIRS = 6, WIDE = 5 };
static train_terms contest_of(int form, double scale, double exact, float grad[2][PAIRS * WIDE],
                              arena *a)
{
    train_variant variant[PAIRS];
    float values[2][PAIRS * WIDE], *row[TRAIN_VIEWS] = { NULL }, *to[TRAIN_VIEWS] = { NULL };
    rng r;
    rng_init(&r, 4, RNG_BENCH, 0);
    for (int k = 0; k < PAIRS; k++)
        variant[k] =
            (train_variant){ .item = k, .views = TRAIN_WHOLE, .form = form, .whole = k + 1 };
    for (int side = 0; side < 2; side++) {
        row[side ? TRAIN_GV : TRAIN_GS] = values[side];
        to[side ? TRAIN_GV : TRAIN_GS] = grad[side];
        memset(grad[side], 0, sizeof grad[side]);
        for (int i = 0; i < PAIRS * WIDE; i++)
            values[side][i] = (float)(rng_uniform(&r) - 0.5);
    }
    const train_rows rows = { .variant = variant,
                              .variants = PAIRS,
                              .own_end = PAIRS,
                              .latent = WIDE,
                              .row = row,
                              .grad = to };
    const train_how how = {
        .cosine = 1, .scale_global = scale, .scale_local = 1, .scale_exact = exact
    };
    train_terms terms;
    assert_true(train_objective(&terms, &rows, &how, a));
    return terms;
}

/* A bound on the factor of the exact view: there it is as if the factor were the bound and no
 * number that is learned, and forms do not notice. */
static void the_exact_view_may_have_a_smaller_scale(void **state)
{
    float bound[2][PAIRS * WIDE], small[2][PAIRS * WIDE];
    train_terms with = contest_of(0, 30, 4, bound, *state), as = contest_of(0, 4, 0, small, *state);
    assert_true(fabs(with.global - as.global) < 1e-12 && with.dscale_global == 0);
    assert_true(fabs(as.dscale_global) > 1e-3);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < PAIRS * WIDE; i++)
            assert_true(fabsf(bound[side][i] - small[side][i]) < 1e-6f);
    with = contest_of(1, 30, 4, bound, *state), as = contest_of(1, 30, 0, small, *state);
    assert_true(with.global == as.global && with.dscale_global == as.dscale_global);
    assert_memory_equal(bound, small, sizeof bound);
    with = contest_of(0, 3, 4, bound, *state), as = contest_of(0, 3, 0, small, *state);
    assert_true(with.global == as.global && with.dscale_global == as.dscale_global);
    assert_memory_equal(bound, small, sizeof bound);
}

static void recomputed_chunks_give_the_same_gradient(void **state)
{
    arena *a = *state;
    model_config c = small_model();
    model *m;
    assert_int_equal(model_new(&m, &c, a, NULL), SNIP_OK);
    model_start(m, 5);
    float *kept = arena_array(a, m->size, sizeof *kept),
          *again = arena_array(a, m->size, sizeof *again);
    int was_kept;
    train_terms t = gradient(m, TRAIN_S5, 1, 2, (size_t)1 << 30, kept, &was_kept), u;
    assert_true(was_kept);
    u = gradient(m, TRAIN_S5, 1, 2, 1, again, &was_kept);
    assert_false(was_kept);
    assert_memory_equal(&t, &u, sizeof t);
    assert_memory_equal(kept, again, m->size * sizeof *kept);
    /* Another number of threads adds up in another order. */
    gradient(m, TRAIN_S5, 1, 1, 1, again, NULL);
    double length = sqrt(nn_kernels_best()->square_sum(kept, m->size)), worst = 0;
    for (size_t i = 0; i < m->size; i++)
        worst = fmax(worst, fabs((double)kept[i] - (double)again[i]));
    assert_true(worst < 1e-5 * length);
}

/* bf16 rounds the factors of the layers' products by up to 1 in 512; loss and gradient move little,
 * and they do move. */
static void rounded_products_give_nearly_the_same_gradient(void **state)
{
    arena *a = *state;
    model_config c = kind_of_model(6);
    model *m;
    assert_int_equal(model_new(&m, &c, a, NULL), SNIP_OK);
    assert_int_equal(m->products, NN_FLOAT32);
    model_start(m, 5);
    float *plain = arena_array(a, m->size, sizeof *plain),
          *rounded = arena_array(a, m->size, sizeof *rounded);
    double loss = gradient(m, TRAIN_S5, 1, 2, (size_t)1 << 30, plain, NULL).total;
    m->products = NN_BF16_ROUNDED;
    double other = gradient(m, TRAIN_S5, 1, 2, (size_t)1 << 30, rounded, NULL).total;
    const nn_kernels *k = nn_kernels_best();
    double p = sqrt(k->square_sum(plain, m->size)), q = sqrt(k->square_sum(rounded, m->size)),
           along = 0;
    for (size_t i = 0; i < m->size; i++)
        along += (double)plain[i] * (double)rounded[i];
    print_message("loss %.6f, rounded %.6f; cosine of the gradients %.6f, lengths %.4f and %.4f\n",
                  loss, other, along / (p * q), p, q);
    assert_true(other != loss && fabs(other - loss) < 3e-3 * loss);
    assert_true(along / (p * q) > 0.999 && along / (p * q) < 0.9999999 && fabs(q - p) < 0.02 * p);
}

static void products_are_chosen_by_the_processor(void **state)
{
    (void)state;
    static const struct {
        int asked;
        nn_products has, want;
    } cases[] = { { TRAIN_FLOAT32, NN_FLOAT32, NN_FLOAT32 },
                  { TRAIN_FLOAT32, NN_BF16_AMX, NN_FLOAT32 },
                  { TRAIN_BF16, NN_BF16_AMX, NN_BF16_AMX },
                  { TRAIN_BF16, NN_BF16_VECTORS, NN_BF16_VECTORS },
                  { TRAIN_AUTO, NN_BF16_VECTORS, NN_BF16_VECTORS },
                  { TRAIN_AUTO, NN_FLOAT32, NN_FLOAT32 } };
    nn_products got;
    snip_status st;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(train_choose_products(&got, cases[i].asked, cases[i].has, &st), SNIP_OK);
        assert_int_equal(got, cases[i].want);
    }
    assert_int_equal(train_choose_products(&got, TRAIN_BF16, NN_FLOAT32, &st), SNIP_UNSUPPORTED);
    assert_non_null(strstr(st.msg, "needs a processor with AMX"));
}

static void stages_read_what_they_say(void **state)
{
    arena *draw[1] = { arena_new(0) };
    model_config c = small_model();
    model *m;
    assert_int_equal(model_new(&m, &c, *state, NULL), SNIP_OK);
    for (int stage = 0; stage < TRAIN_STAGES; stage++) {
        const train_batch_how what = { .stage = (train_stage)stage,
                                       .size = 12,
                                       .edits = 2,
                                       .points = 16,
                                       .seed = 1,
                                       .stream = RNG_TRAIN };
        train_batch b;
        assert_int_equal(train_batch_draw(&b, &what, 0, m, draw, 1, NULL), SNIP_OK);
        size_t rows[TRAIN_VIEWS] = { 0 }, want[TRAIN_VIEWS] = { 0 };
        for (size_t i = 0; i < b.formulas; i++) {
            const train_formula *f = &b.formula[i];
            assert_int_equal(f->words.path != NULL, stage >= TRAIN_S1);
            for (size_t r = 0; r < f->rows; r++) {
                const train_row *w = &f->row[r];
                rows[w->view]++;
                assert_true(w->view == TRAIN_C ? w->first > 0 && w->first < w->end &&
                                                     w->end < f->words.tokens.count
                                               : w->first == 0 && w->end == f->words.tokens.count);
            }
        }
        for (size_t i = 0; i < b.tables; i++)
            for (size_t k = 0; k < b.table[i].group.count; k++)
                rows[b.table[i].row[k].view]++;
        for (int view = 0; view < TRAIN_VIEWS; view++) {
            for (size_t i = 0; i < b.variants; i++)
                want[view] +=
                    (size_t)train_reads((train_stage)stage, (train_view)view, b.variant[i].k);
            assert_int_equal(rows[view], want[view]);
        }
        assert_true(stage < TRAIN_S2 ? b.variants == 12 : b.variants > 15);
    }
    arena_free(draw[0]);
}

/* Changed constants give negatives in the exact view, and nothing in the form view: there the batch
 * is the same with and without them. */
static void changed_constants_are_for_the_exact_view(void **state)
{
    arena *draw[2] = { arena_new(0), arena_new(0) };
    model_config c = kind_of_model(6);
    model *m;
    assert_int_equal(model_new(&m, &c, *state, NULL), SNIP_OK);
    for (int form = 0; form < 2; form++) {
        train_batch b[2];
        for (int k = 0; k < 2; k++) {
            const train_batch_how what = { .stage = TRAIN_S5,
                                           .size = 24,
                                           .edits = 2,
                                           .constants = k,
                                           .laws = 0.5,
                                           .forms = form,
                                           .seed = 1,
                                           .stream = RNG_TRAIN };
            assert_int_equal(train_batch_draw(&b[k], &what, 0, m, &draw[k], 1, NULL), SNIP_OK);
        }
        size_t same = 0, edited = 0;
        for (size_t i = 0; i < b[0].formulas && i < b[1].formulas; i++) {
            const data_tokens *one = &b[0].formula[i].words.tokens,
                              *other = &b[1].formula[i].words.tokens;
            same += one->count == other->count &&
                    memcmp(one->id, other->id, one->count * sizeof *one->id) == 0;
        }
        for (size_t i = 0; i < b[1].variants; i++) {
            const train_variant *v = &b[1].variant[i];
            edited += v->k > 0;
            assert_true(form == v->form && (!form || v->k == 0 || v->views == 0 ||
                                            v->whole != b[1].variant[i - (size_t)v->k].whole));
        }
        assert_true(edited > 10);
        if (form)
            assert_true(b[0].variants == b[1].variants && b[0].formulas == b[1].formulas &&
                        same == b[0].formulas);
        else
            assert_true(same < b[0].formulas);
    }
    arena_free(draw[0]);
    arena_free(draw[1]);
}

static void the_rate_follows_its_schedule(void **state)
{
    (void)state;
    train_config c;
    assert_int_equal(train_config_preset(&c, "paper", NULL), SNIP_OK);
    json_t *golden = golden_json("model-s0/steps.json"), *steps = json_object_get(golden, "f32");
    for (size_t i = 0; i < json_array_size(steps); i++)
        assert_true(fabs(train_rate(&c, i + 1) - json_number_value(json_object_get(
                                                     json_array_get(steps, i), "lr"))) < 1e-15);
    json_decref(golden);
    assert_true(fabs(train_rate(&c, 10001) - 4e-5) < 1e-15);
    assert_true(fabs(train_rate(&c, 40001) - 2e-5) < 1e-15);
    c.schedule = TRAIN_LINEAR;
    assert_true(fabs(train_rate(&c, 55001) - 2e-5) < 1e-12);
    assert_true(train_rate(&c, 100001) == 0);
    c.schedule = TRAIN_CONSTANT;
    c.last = 20000;
    c.last_lr = 1e-5;
    c.last_batch = 256;
    assert_true(train_rate(&c, 20000) == 4e-5 && train_rate(&c, 20001) == 1e-5);
    c.decay = 60000; /* the rate falls from where it is by then */
    assert_true(fabs(train_rate(&c, 80001) - 5e-6) < 1e-15);
    assert_int_equal(train_batch_size(&c, 19999), 64);
    assert_int_equal(train_batch_size(&c, 20000), 256);
    assert_int_equal(train_samples(&c, 20000), 20000 * 64);
    assert_int_equal(train_samples(&c, 20003), 20000 * 64 + 3 * 256);
    c.last_batch = 0;
    assert_int_equal(train_samples(&c, 20003), 20003 * 64);
}

/* By fields: what lies between them is anything. */
static int same_phase(const train_phase *p, const train_phase *q)
{
    return p->stage == q->stage && p->points == q->points && p->subtrees == q->subtrees &&
           p->edits == q->edits && p->zoom == q->zoom;
}

/* Settings as files of version 0.1.0 have them, before there were phases in the code: each key
 * finds its phase, and one that is missing has the paper's value. */
static void settings_of_older_files_are_read(void **state)
{
    (void)state;
    static const char text[] =
        "{\"stage\":\"S4\",\"steps\":12,\"seed\":3,\"batch\":6,\"train_points\":32,\"subtrees\":2,"
        "\"edits\":1,\"zoom\":0.25,\"first\":8,\"first_stage\":\"S2\",\"first_subtrees\":3,"
        "\"first_edits\":0,\"first_points\":16,\"first_zoom\":0.5,\"schedule\":\"constant\"}";
    const train_phase first = { TRAIN_S2, 16, 3, 0, 0.5 },
                      main_phase = { TRAIN_S4, 32, 2, 1, 0.25 };
    train_config c, paper;
    snip_status st;
    json_t *o = json_loads(text, 0, NULL);
    assert_int_equal(train_config_preset(&paper, "paper", NULL), SNIP_OK);
    c = paper;
    assert_int_equal(settings_read(&train_settings, &c, o, NULL, &st), SNIP_OK);
    assert_true(same_phase(&c.phase[TRAIN_FIRST], &first));
    assert_true(same_phase(&c.phase[TRAIN_MAIN], &main_phase));
    assert_true(c.first == 8 && c.steps == 12 && c.schedule == TRAIN_CONSTANT);
    assert_true(c.lr == paper.lr && c.warmup == paper.warmup && c.rows == 0);
    json_t *again = train_config_json(&c), *value;
    const char *key;
    json_object_foreach (o, key, value)
        assert_true(json_equal(value, json_object_get(again, key)));
    json_decref(again);
    json_decref(o);
}

/* What the paper's stages read (its appendix): rows of originals, then of edits, by view. */
static void stages_read_what_the_paper_says(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int tree, everyone;
        const char *originals, *edits; /* gs, gv, c, o, p; lists are of no stage */
    } want[] = {
        { "S0", 0, 0, "1100000", "0000000" }, { "S1", 1, 0, "1100000", "0000000" },
        { "S2", 1, 0, "1110100", "0000100" }, { "S3", 1, 0, "1111100", "0000100" },
        { "S4", 1, 1, "1111100", "0011100" }, { "S5", 1, 1, "1111100", "1111100" },
    };
    assert_int_equal(TRAIN_STAGES, COUNT(want));
    assert_null(train_stage_names[TRAIN_STAGES]);
    for (int s = 0; s < TRAIN_STAGES; s++) {
        assert_string_equal(train_stage_names[s], want[s].name);
        assert_int_equal(train_stage_of[s].tree, want[s].tree);
        assert_int_equal(train_stage_of[s].everyone, want[s].everyone);
        for (int v = 0; v < TRAIN_VIEWS; v++) {
            assert_int_equal(train_reads((train_stage)s, (train_view)v, 0),
                             want[s].originals[v] == '1');
            assert_int_equal(train_reads((train_stage)s, (train_view)v, 2),
                             want[s].edits[v] == '1');
        }
    }
}

/* Each further subtree adds its rows; the whole formula and its values are still one row each. */
static void samples_may_have_several_subtrees(void **state)
{
    arena *draw[1] = { arena_new(0) };
    model_config c = small_model();
    model *m;
    assert_int_equal(model_new(&m, &c, *state, NULL), SNIP_OK);
    for (size_t subtrees = 1; subtrees <= 4; subtrees++) {
        const train_batch_how what = { .stage = TRAIN_S2,
                                       .size = 20,
                                       .subtrees = subtrees,
                                       .points = 16,
                                       .seed = 1,
                                       .stream = RNG_TRAIN };
        train_batch b;
        assert_int_equal(train_batch_draw(&b, &what, 0, m, draw, 1, NULL), SNIP_OK);
        assert_int_equal(b.formulas, 20); /* without edits the parents are all there is */
        size_t rows[TRAIN_VIEWS] = { 0 };
        for (size_t i = 0; i < b.formulas; i++)
            for (size_t r = 0; r < b.formula[i].rows; r++)
                rows[b.formula[i].row[r].view]++;
        assert_int_equal(rows[TRAIN_GS], 20);
        assert_int_equal(rows[TRAIN_C], b.variants);
        assert_true(subtrees == 1
                        ? b.variants == 20
                        : b.variants > 20 + 10 * (subtrees - 1) && b.variants <= 20 * subtrees);
        for (size_t i = 1; i < b.variants; i++)
            assert_true(b.variant[i].item > b.variant[i - 1].item);
    }
    arena_free(draw[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(the_gradient_is_the_slope_of_the_loss),
        ARENA_TEST(the_exact_view_may_have_a_smaller_scale),
        ARENA_TEST(recomputed_chunks_give_the_same_gradient),
        ARENA_TEST(rounded_products_give_nearly_the_same_gradient),
        cmocka_unit_test(products_are_chosen_by_the_processor),
        ARENA_TEST(stages_read_what_they_say),
        ARENA_TEST(changed_constants_are_for_the_exact_view),
        cmocka_unit_test(the_rate_follows_its_schedule),
        cmocka_unit_test(settings_of_older_files_are_read),
        cmocka_unit_test(stages_read_what_the_paper_says),
        ARENA_TEST(samples_may_have_several_subtrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
