/* test_words.c - from formulas to what the symbolic encoder reads: reasons, tokens made once, and
 * chunks of them. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "model/encode.h"
#include "model/pack.h"
#include "model/slopes.h"
#include "model/space.h"
#include "model/surface.h"

static const expr_domain positive = { .assume_positive = 1 };

/* x0 + x0 + ... with more tokens than the model reads. */
static const char *long_sum(arena *a)
{
    enum { TERMS = 150 };
    char *text = arena_zero(a, 3 * TERMS + 1);
    for (size_t i = 0; i < TERMS; i++)
        memcpy(text + 3 * i, i + 1 < TERMS ? "x0+" : "x0", i + 1 < TERMS ? 3 : 2);
    return text;
}

static void reasons_are_told(void **state)
{
    arena *a = *state;
    const model *plain = untrained_model(1, a), *forms = untrained_forms_model(1, a);
    const struct {
        const char *text;
        const model *m;
        model_reading reading;
        const expr_domain *rewrite;
        const char *why; /* NULL: there is no reason */
    } cases[] = {
        { "sin(x0) + 2.5*x1", plain, MODEL_EXACT, NULL, NULL },
        { "sinh(x0)", plain, MODEL_EXACT, NULL, "operator 'sinh'" },
        { "sinh(x0)", plain, MODEL_EXACT, &positive, NULL },
        { "floor(x0)", plain, MODEL_EXACT, &positive, "floor" },
        { "x11 + 1.5", plain, MODEL_EXACT, &positive, "variable x11" },
        { "1e300*x0", plain, MODEL_EXACT, NULL, "too large" },
        { long_sum(a), plain, MODEL_EXACT, NULL, "tokens" },
        { "x0*x1", plain, MODEL_CORE, NULL, "no form view" },
        { "x0*x1", plain, MODEL_FORM, &positive, "not trained to read forms" },
        { "x0*x1", plain, MODEL_ENTRY, NULL, NULL },
        { "2.5*x0*x1 + 3.5", forms, MODEL_FORM, &positive, NULL },
        { "3.5", forms, MODEL_FORM, &positive, "a constant has no form" },
        { "3.5", forms, MODEL_ENTRY, &positive, "is a constant" },
        { "3.5", forms, MODEL_EXACT, NULL, NULL },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        model_words w;
        snip_status st = { 0 };
        const model_words_how how = { .m = cases[i].m,
                                      .reading = cases[i].reading,
                                      .rewrite = cases[i].rewrite };
        snip_code code = model_words_make(&w, parsed(cases[i].text, NULL, a), &how, a, NULL, &st);
        if (code != (cases[i].why ? SNIP_UNSUPPORTED : SNIP_OK))
            fail_msg("%s: %d, %s", cases[i].text, code, st.msg);
        if (cases[i].why && !strstr(st.msg, cases[i].why))
            fail_msg("%s: %s", cases[i].text, st.msg);
    }
}

static void words_are_tokens_and_paths(void **state)
{
    arena *a = *state;
    const model *m = untrained_model(1, a);
    expr e = parsed("x0*(2.5 + sin(x1))", NULL, a);
    model_words w;
    data_tokens t;
    nn_path path[64];
    assert_int_equal(data_tokens_make(&t, e, m->vocab, a, NULL), SNIP_OK);
    model_paths(path, &t);
    for (int tree = 0; tree < 2; tree++) {
        const model_words_how how = { .m = m, .tree = tree };
        assert_int_equal(model_words_make(&w, e, &how, a, NULL, NULL), SNIP_OK);
        assert_ptr_equal(w.e.node, e.node);
        assert_true(!w.form && w.hash == 0 && w.tokens.count == t.count);
        assert_memory_equal(w.tokens.id, t.id, t.count * sizeof *t.id);
        assert_int_equal(w.path != NULL, tree);
    }
    for (size_t i = 0; i < t.count; i++)
        assert_true(w.path[i].slots == path[i].slots && w.path[i].depth == path[i].depth);
}

/* What differs in constants only is one entry of a library, and nothing of it lies in the scratch
 * arena. */
static void entries_have_the_form_of_their_kind(void **state)
{
    static const char *const texts[] = { "2.5*x0*sin(x1) + 1.5", "-7.25*sin(x1)*x0", "x0*cos(x1)" };
    arena *a = *state, *tmp = arena_new(0);
    const model_words_how how = { .m = untrained_forms_model(1, a),
                                  .reading = MODEL_ENTRY,
                                  .rewrite = &positive };
    model_words w[COUNT(texts)];
    for (size_t i = 0; i < COUNT(texts); i++) {
        arena_pos mark = arena_mark(tmp);
        assert_int_equal(model_words_make(&w[i], parsed(texts[i], NULL, a), &how, a, tmp, NULL),
                         SNIP_OK);
        assert_true(arena_mark(tmp) == mark && w[i].form && w[i].hash);
    }
    arena_free(tmp);
    assert_true(w[0].hash == w[1].hash && expr_same(w[0].e, w[1].e));
    assert_true(w[0].hash != w[2].hash);
}

static void words_without_memory_fail(void **state)
{
    arena *a = *state;
    const model_words_how how = {
        .m = untrained_forms_model(1, a), .tree = 1, .reading = MODEL_FORM, .rewrite = &positive
    };
    expr e = parsed("2.5*x0*sin(x1) + x1^2.5", NULL, a);
    int failed = 0, made = 0;
    for (size_t limit = 1; !made; limit *= 2) {
        arena *small = arena_new(limit);
        model_words w;
        snip_code code = small ? model_words_make(&w, e, &how, small, NULL, NULL) : SNIP_NOMEM;
        made = code == SNIP_OK;
        failed += code == SNIP_NOMEM;
        assert_true(made || code == SNIP_NOMEM);
        arena_free(small);
    }
    assert_true(failed > 0);
}

/* The encoder reads the tokens that were made, and makes none of its own. */
static void rows_are_of_the_given_tokens(void **state)
{
    arena *a = *state;
    model_space *s = model_space_new(untrained_model(1, a), 1, 1);
    const model_words *one, *other;
    float *z = arena_array(a, 3 * s->latent, sizeof *z);
    assert_int_equal(
        model_space_words(&one, s, parsed("sin(x0) + 2.5", NULL, a), MODEL_EXACT, a, NULL),
        SNIP_OK);
    assert_int_equal(model_space_words(&other, s, parsed("x1*x2", NULL, a), MODEL_EXACT, a, NULL),
                     SNIP_OK);
    model_words mixed = *other;
    mixed.e = one->e;
    const model_words *const all[3] = { one, other, &mixed };
    for (size_t i = 0; i < 3; i++) {
        const model_item item = { .words = all[i], .node = MODEL_WHOLE };
        assert_int_equal(model_space_embed(s, &item, 1, z + i * s->latent, NULL, NULL), SNIP_OK);
    }
    assert_memory_equal(z + s->latent, z + 2 * s->latent, s->latent * sizeof *z);
    assert_true(memcmp(z, z + s->latent, s->latent * sizeof *z) != 0);
    model_space_free(s);
}

/* Tables on a few shared X, of which some cannot be read: the first of them is told. */
static void the_table_that_failed_is_named(void **state)
{
    enum { N = 40, ROWS = 20, EACH = 8 };
    arena *a = *state;
    model_config c;
    model *m;
    assert_int_equal(model_config_preset(&c, "tiny", NULL), SNIP_OK);
    c.layers = 1;
    assert_int_equal(model_new(&m, &c, a, NULL), SNIP_OK);
    model_start(m, 1);
    float *z = arena_array(a, N * (size_t)m->config.latent, sizeof *z);
    double x[N / EACH][ROWS], y[N][ROWS];
    const double *column[N / EACH];
    model_item item[N];
    for (size_t i = 0; i < N; i++) {
        for (size_t r = 0; r < ROWS; r++) {
            x[i / EACH][r] = (double)r / 10 - 1;
            y[i][r] = x[i / EACH][r] * (double)(i + 1);
        }
        column[i / EACH] = x[i / EACH];
        item[i] = (model_item){ .x = &column[i / EACH], .dim = 1, .rows = ROWS, .y = y[i] };
    }
    y[13][5] = y[14][0] = y[37][2] = 1e200;
    for (int threads = 1; threads <= 2; threads++) {
        snip_status st = { 0 };
        model_space *s = model_space_new(m, 1, threads);
        assert_int_equal(model_space_embed(s, item, N, NULL, z, &st), SNIP_UNSUPPORTED);
        assert_int_equal(st.pos, 13);
        assert_non_null(strstr(st.msg, "table 14"));
        assert_int_equal(model_space_embed(s, item + 15, 20, NULL, z, &st), SNIP_OK);
        model_space_free(s);
    }
}

/* Sequences lie one after the other; whole formulas are padded where the model pools so, parts
 * never. */
static void chunks_pad_whole_formulas(void **state)
{
    arena *a = *state;
    model *m = untrained_model(1, a);
    for (int pads = 0; pads < 2; pads++) {
        model_pack p;
        const model_words_how how = { .m = m, .tree = 1 };
        model_words w[2];
        m->config.pooling = pads ? MODEL_POOL_PADS : MODEL_POOL_MASKED;
        assert_int_equal(model_words_make(&w[0], parsed("sin(x0)", NULL, a), &how, a, NULL, NULL),
                         0);
        assert_int_equal(model_words_make(&w[1], parsed("x0*x1", NULL, a), &how, a, NULL, NULL), 0);
        size_t n = w[0].tokens.count, k = w[1].tokens.count;
        assert_true(model_pack_new(&p, m, 2, n + k, 3, a));
        model_pack_formula(&p, &w[0]);
        model_pack_row(&p, 0, n);
        model_pack_formula(&p, &w[1]);
        model_pack_row(&p, 0, k);
        model_pack_row(&p, 2, 3);
        assert_true(p.f.count == 2 && p.f.rows == 3 && p.f.path);
        assert_true(p.f.offsets[1] == n && p.f.offsets[2] == n + k);
        assert_memory_equal(p.f.token + n, w[1].tokens.id, k * sizeof *p.f.token);
        const nn_span expected[3] = { { 0, n, pads ? DATA_SEQUENCE_MAX - n : 0 },
                                      { n, n + k, pads ? DATA_SEQUENCE_MAX - k : 0 },
                                      { n + 2, n + 3, 0 } };
        for (size_t i = 0; i < 3; i++)
            assert_true(p.f.span[i].first == expected[i].first &&
                        p.f.span[i].end == expected[i].end && p.f.span[i].pads == expected[i].pads);
    }
}

/* With a surface each row takes the profile of its own part past the layers to the vector, a whole
 * formula that of its root; a table takes its surface there. Gates begin half open. */
static void shortcuts_reach_the_vector(void **state)
{
    enum { ROWS = 30, FEATURE = 3, TO = 2, Z = 3 };
    arena *a = *state;
    model_config c;
    model *m;
    assert_int_equal(model_config_preset(&c, "tiny", NULL), SNIP_OK);
    c.constants = MODEL_CONSTANT_VALUE;
    c.points = 0;
    c.statistics = c.slopes = c.surface = 1;
    assert_int_equal(model_new(&m, &c, a, NULL), SNIP_OK);
    model_start(m, 1);
    const size_t latent = (size_t)c.latent;

    model_words w;
    const model_words_how how = { .m = m, .tree = 1 };
    const char *text = "sin(x0) + 2.5*x1^3", *part = "sin(x0)"; /* the tokens 2 and 3 */
    assert_int_equal(model_words_make(&w, parsed(text, NULL, a), &how, a, NULL, NULL), SNIP_OK);
    model_pack p;
    assert_true(model_pack_new(&p, m, 1, w.tokens.count, 2, a));
    model_pack_formula(&p, &w);
    model_pack_row(&p, 0, w.tokens.count);
    model_pack_row(&p, 2, 4);

    double x[2][ROWS], y[ROWS];
    for (int r = 0; r < ROWS; r++) {
        x[0][r] = 1.5 * sin(r);
        x[1][r] = 1.5 * cos(2 * r);
        y[r] = exp(x[0][r]);
    }
    const double *columns[2] = { x[0], x[1] }, *ys[1] = { y };
    model_table_group g = { .dim = 2, .count = 1 };
    assert_int_equal(model_group_fill(&g, m, columns, ROWS, ys, a), SNIP_OK);
    const model_tables t = { 1, &g };

    float *z[2];
    for (int with = 0; with <= 1; with++) {
        m->w[m->symbolic.shortcut + TO * MODEL_PROFILES + FEATURE] = 2 * (float)with;
        m->w[m->numeric.shortcut + TO * MODEL_PROFILE_POINTS + FEATURE] = 2 * (float)with;
        z[with] = arena_array(a, Z * latent, sizeof(float));
        assert_true(z[with] && model_formulas_embed(m, &p.f, z[with], a));
        assert_true(model_tables_embed(m, &t, z[with] + 2 * latent, a));
    }
    float slope[8 * MODEL_SLOPE_FEATURES], profile[2][8 * MODEL_PROFILE_FEATURES];
    assert_true(model_slopes(slope, profile[0], parsed(text, NULL, a), 0, a));
    assert_true(model_slopes(slope, profile[1], parsed(part, NULL, a), 0, a));
    const float want[Z] = { profile[0][FEATURE], profile[1][FEATURE],
                            g.summary[0].surface_y[FEATURE] };
    for (size_t i = 0; i < Z; i++) {
        assert_true(fabsf(want[i]) > 0.01F);
        for (size_t k = 0; k < latent; k++)
            assert_float_equal(z[1][i * latent + k] - z[0][i * latent + k], k == TO ? want[i] : 0,
                               1e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(reasons_are_told),
        ARENA_TEST(words_are_tokens_and_paths),
        ARENA_TEST(entries_have_the_form_of_their_kind),
        ARENA_TEST(words_without_memory_fail),
        ARENA_TEST(rows_are_of_the_given_tokens),
        ARENA_TEST(the_table_that_failed_is_named),
        ARENA_TEST(chunks_pad_whole_formulas),
        ARENA_TEST(shortcuts_reach_the_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
