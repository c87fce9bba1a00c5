/* test_model.c - the encoders and objectives against SNIP's own implementation and the paper's
 * additions to it. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/safetensors.h"
#include "model/encode.h"
#include "train/objective.h"

/* The golden batch: a model with its weights, and all its variants as tokens. */
typedef struct golden {
    arena *a;
    model *m;
    size_t variants, items;
    int *item, *k;
    data_tokens *parent, *subtree;
    nn_span *part; /* the subtree within its parent */
    golden_array x, parent_y, subtree_y;
    int dim[16];
} golden;

static safetensors_file golden_tensors(const char *name, arena *a)
{
    const char *folder = getenv("SNIP_GOLDEN"), *tests = getenv("SNIP_TESTS");
    char path[1024];
    safetensors_file f;
    snip_status st;
    if (folder && *folder)
        snprintf(path, sizeof path, "%s/%s", folder, name);
    else
        snprintf(path, sizeof path, "%s/golden/%s", tests ? tests : "tests", name);
    if (safetensors_read(&f, path, a, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return f;
}

static float number_at(const safetensors_entry *e, size_t i)
{
    if (strcmp(e->dtype, "F64") == 0) {
        double v;
        memcpy(&v, (const char *)e->data + 8 * i, 8);
        return (float)v;
    }
    float v;
    memcpy(&v, (const char *)e->data + 4 * i, 4);
    return v;
}

/* Calls `each` for every number of a golden tensor with its place in the model's parameters. Some
 * tables hold only some rows, whose numbers are in `<name>.rows`. */
static void each_number(const golden *g, const safetensors_file *f, const safetensors_entry *e,
                        void (*each)(void *context, size_t at, float value), void *context)
{
    const model_tensor *t = find_tensor(g->m, e->name);
    if (!t)
        fail_msg("no tensor %s", e->name);
    char rows_name[128];
    snprintf(rows_name, sizeof rows_name, "%s.rows", e->name);
    const safetensors_entry *rows = safetensors_find(f, rows_name);
    size_t cols = e->rank > 1 ? e->shape[1] : 1;
    for (size_t r = 0; r < e->shape[0]; r++) {
        int32_t row = (int32_t)r;
        if (rows)
            memcpy(&row, (const char *)rows->data + 4 * r, 4);
        assert_true((size_t)row < t->rows && cols == (t->cols ? t->cols : 1));
        for (size_t c = 0; c < cols; c++)
            each(context, t->offset + (size_t)row * cols + c, number_at(e, r * cols + c));
    }
}

static int is_rows(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".rows") == 0;
}

static void set_weight(void *context, size_t at, float value)
{
    ((float *)context)[at] = value;
}

static int load(void **state)
{
    golden *g = calloc(1, sizeof *g);
    g->a = arena_new(0);
    json_t *c = golden_json("model-common/config.json");
    model_config config;
    model_config_preset(&config, "paper", NULL);
    config.d = (int)json_integer_value(json_object_get(c, "enc_emb_dim"));
    config.ff = (int)json_integer_value(json_object_get(c, "ffn_dim"));
    config.layers = (int)json_integer_value(json_object_get(c, "n_enc_layers"));
    config.heads = (int)json_integer_value(json_object_get(c, "n_enc_heads"));
    config.embed = (int)json_integer_value(json_object_get(c, "emb_emb_dim"));
    config.latent = (int)json_integer_value(json_object_get(c, "latent_dim"));
    config.dims = (int)json_integer_value(json_object_get(c, "max_input_dimension"));
    config.points = (int)json_integer_value(json_object_get(c, "points"));
    json_t *tree = json_object_get(c, "tree_pe");
    config.channels = (int)json_integer_value(json_object_get(tree, "channels"));
    config.levels = (int)json_integer_value(json_object_get(tree, "levels"));
    snip_status st;
    if (model_new(&g->m, &config, g->a, &st) != SNIP_OK)
        return -1;
    memset(g->m->w, 0, g->m->size * sizeof *g->m->w);
    safetensors_file f = golden_tensors("model-s0/weights.safetensors", g->a);
    for (size_t i = 0; i < f.count; i++)
        if (!is_rows(f.entry[i].name))
            each_number(g, &f, &f.entry[i], set_weight, g->m->w);
    safetensors_close(&f);
    for (int i = 0; i < config.channels; i++)
        g->m->w[g->m->theta + (size_t)i] =
            (float)json_number_value(json_array_get(json_object_get(tree, "theta"), (size_t)i));
    json_decref(c);

    json_t *list = golden_lines("model-common/variants.jsonl"), *o;
    g->variants = json_array_size(list);
    g->item = arena_array(g->a, g->variants, sizeof *g->item);
    g->k = arena_array(g->a, g->variants, sizeof *g->k);
    g->parent = arena_array(g->a, g->variants, sizeof *g->parent);
    g->subtree = arena_array(g->a, g->variants, sizeof *g->subtree);
    g->part = arena_array(g->a, g->variants, sizeof *g->part);
    size_t i;
    json_array_foreach (list, i, o) {
        expr p, s;
        expr_parse(&p, json_string_value(json_object_get(o, "parent_prefix")), NULL, g->a, NULL);
        expr_parse(&s, json_string_value(json_object_get(o, "subtree_prefix")), NULL, g->a, NULL);
        if (data_tokens_make(&g->parent[i], p, g->m->vocab, g->a, NULL) ||
            data_tokens_make(&g->subtree[i], s, g->m->vocab, g->a, NULL))
            return -1;
        g->item[i] = (int)json_integer_value(json_object_get(o, "item"));
        g->k[i] = (int)json_integer_value(json_object_get(o, "k"));
        json_t *span = json_object_get(o, "span");
        g->part[i] = (nn_span){ (size_t)json_integer_value(json_array_get(span, 0)),
                                (size_t)json_integer_value(json_array_get(span, 1)), 0 };
    }
    json_decref(list);
    json_t *expressions = golden_lines("model-s0/expressions.jsonl");
    g->items = json_array_size(expressions);
    json_array_foreach (expressions, i, o) {
        expr e;
        expr_parse(&e, json_string_value(json_object_get(o, "prefix")), NULL, g->a, NULL);
        g->dim[i] = (int)expr_inputs(e);
    }
    json_decref(expressions);
    g->x = golden_npy("model-s0/x.npy", g->a);
    g->parent_y = golden_npy("model-common/parent-y.npy", g->a);
    g->subtree_y = golden_npy("model-common/subtree-y.npy", g->a);
    *state = g;
    return 0;
}

static int unload(void **state)
{
    golden *g = *state;
    arena_free(g->a);
    free(g);
    return 0;
}

/* A chunk of the given token sequences, with whole and part spans as asked. */
static model_formulas formulas(const golden *g, const data_tokens *t, size_t count, int tree,
                               int whole, const nn_span *part)
{
    model_formulas f = { .count = count };
    size_t *offsets = arena_array(g->a, count + 1, sizeof *offsets), n = 0;
    for (size_t i = 0; i < count; i++) {
        offsets[i] = n;
        n += t[i].count;
    }
    offsets[count] = n;
    uint16_t *token = arena_array(g->a, n, sizeof *token);
    nn_path *path = arena_array(g->a, n, sizeof *path);
    nn_span *span = arena_array(g->a, 2 * count, sizeof *span);
    for (size_t i = 0; i < count; i++) {
        memcpy(token + offsets[i], t[i].id, t[i].count * sizeof *token);
        model_paths(path + offsets[i], &t[i]);
    }
    for (size_t i = 0; whole && i < count; i++)
        span[f.rows++] = (nn_span){ offsets[i], offsets[i + 1], DATA_SEQUENCE_MAX - t[i].count };
    for (size_t i = 0; part && i < count; i++)
        span[f.rows++] = (nn_span){ offsets[i] + part[i].first, offsets[i] + part[i].end, 0 };
    f.offsets = offsets;
    f.token = token;
    f.path = tree ? path : NULL;
    f.span = span;
    return f;
}

/* All variants' values as tables: parents first, then subtrees; each item shares its X. `parents`
 * and `subtrees` say which variants to take; order[] gives for each table its variant, or variants
 * + it. */
static model_tables tables(const golden *g, int subtrees, int originals, size_t *order)
{
    model_tables t = { .groups = g->items };
    size_t points = g->x.shape[1], columns = g->x.shape[2], next = 0;
    model_table_group *group = arena_zero(g->a, g->items * sizeof *group);
    for (size_t b = 0; b < g->items; b++) {
        model_table_group *q = &group[b];
        size_t dim = (size_t)g->dim[b];
        uint16_t *x = arena_array(g->a, points * 3 * dim, sizeof *x);
        uint16_t *y = arena_array(g->a, 2 * g->variants * points * 3, sizeof *y);
        for (size_t i = 0; i < points; i++)
            for (size_t j = 0; j < dim; j++)
                assert_true(data_vocab_float(g->m->vocab,
                                             g->x.value[(b * points + i) * columns + j],
                                             x + (i * dim + j) * 3));
        for (int side = 0; side <= subtrees; side++)
            for (size_t v = 0; v < g->variants; v++) {
                if (g->item[v] != (int)b || (originals && g->k[v] != 0))
                    continue;
                const double *values = (side ? g->subtree_y : g->parent_y).value + v * points;
                for (size_t i = 0; i < points; i++)
                    assert_true(
                        data_vocab_float(g->m->vocab, values[i], y + (q->count * points + i) * 3));
                q->count++;
                order[next++] = v + (side ? g->variants : 0);
            }
        q->points = points;
        q->dim = g->dim[b];
        q->x = x;
        q->y = y;
    }
    t.group = group;
    return t;
}

static double worst(const float *got, golden_array want, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)got[i] - want.value[i]));
    return most;
}

/* The originals' tokens. */
static size_t originals(const golden *g, data_tokens *out)
{
    size_t n = 0;
    for (size_t v = 0; v < g->variants; v++)
        if (g->k[v] == 0)
            out[n++] = g->parent[v];
    return n;
}

static void s0_forward_is_snip_s(void **state)
{
    golden *g = *state;
    size_t latent = (size_t)g->m->config.latent, d = (size_t)g->m->config.d, order[64];
    data_tokens *t = arena_array(g->a, g->items, sizeof *t);
    size_t n = originals(g, t);
    assert_int_equal(n, g->items);
    float *z = arena_array(g->a, n * latent, sizeof *z);
    model_formulas f = formulas(g, t, n, 0, 1, NULL);
    model_pass *p = model_formulas_forward(g->m, &f, z, g->a);
    assert_true(worst(z, golden_npy("model-s0/encoded_f-f64.npy", g->a), n * latent) < 1e-5);
    golden_array hidden = golden_npy("model-s0/hidden_f_item0.npy", g->a);
    for (int l = 0; l < (int)hidden.shape[0]; l++) {
        golden_array layer = hidden;
        layer.value += (size_t)l * hidden.shape[1] * d;
        assert_true(worst(model_pass_hidden(p, l), layer, t[0].count * d) < 1e-5);
    }
    golden_array weights = golden_npy("model-s0/pool_weights_f.npy", g->a);
    const float *got = model_pass_weights(p);
    for (size_t b = 0; b < n; b++)
        for (size_t i = 0; i < t[b].count; i++, got++)
            assert_true(fabs((double)*got - weights.value[b * weights.shape[1] + i]) < 1e-6);

    model_tables v = tables(g, 0, 1, order);
    p = model_tables_forward(g->m, &v, z, g->a);
    assert_true(worst(z, golden_npy("model-s0/encoded_y-f64.npy", g->a), n * latent) < 1e-5);
    hidden = golden_npy("model-s0/hidden_y_item0.npy", g->a);
    for (int l = 0; l < (int)hidden.shape[0]; l++) {
        golden_array layer = hidden;
        layer.value += (size_t)l * hidden.shape[1] * d;
        assert_true(worst(model_pass_hidden(p, l), layer, hidden.shape[1] * d) < 1e-5);
    }
}

static void tree_positions_are_the_reference_s(void **state)
{
    golden *g = *state;
    safetensors_file f = golden_tensors("model-common/tree-pe-example.safetensors", g->a);
    const safetensors_entry *theta = safetensors_find(&f, "theta_test");
    expr e;
    data_tokens t;
    nn_path path[16];
    expr_parse(&e, "sin(x0 + 2.1*x1)", NULL, g->a, NULL);
    data_tokens_make(&t, e, g->m->vocab, g->a, NULL);
    model_paths(path, &t);
    static const struct {
        const char *name;
        size_t channels, levels;
        int start; /* theta = artanh(0.5) */
    } cases[] = { { "r_test_theta", 4, 8, 0 },
                  { "r_init_theta", 4, 8, 1 },
                  { "r_init_theta_paper_width", 4, 64, 1 } };
    for (size_t c = 0; c < COUNT(cases); c++) {
        const safetensors_entry *want = safetensors_find(&f, cases[c].name);
        float values[8], *x = arena_zero(g->a, t.count * 512 * sizeof *x);
        for (size_t i = 0; i < cases[c].channels; i++)
            values[i] = cases[c].start ? atanhf(0.5f) : number_at(theta, i);
        nn_tree_forward(x, path, values, t.count, cases[c].channels, cases[c].levels);
        assert_int_equal(want->shape[0], t.count);
        for (size_t i = 0; i < t.count * want->shape[1]; i++)
            assert_true(fabsf(x[i] - number_at(want, i)) < 1e-6f);
    }
    safetensors_close(&f);
}

/* Embeds all five views and runs the objective of a stage; fills the gradient of all parameters. */
static train_terms run_stage(golden *g, train_stage stage, float *grad, float *rows[TRAIN_VIEWS])
{
    size_t m = g->variants, latent = (size_t)g->m->config.latent, order[128];
    float *drows[TRAIN_VIEWS];
    for (int v = 0; v < TRAIN_VIEWS; v++) {
        rows[v] = arena_zero(g->a, m * latent * sizeof **rows);
        drows[v] = arena_zero(g->a, m * latent * sizeof **drows);
    }
    model_formulas parents = formulas(g, g->parent, m, stage > TRAIN_S0, 1, g->part);
    model_formulas alone = formulas(g, g->subtree, m, stage > TRAIN_S0, 1, NULL);
    model_tables values = tables(g, 1, 0, order);
    float *z = arena_array(g->a, 2 * m * latent, sizeof *z),
          *dz = arena_zero(g->a, 2 * m * latent * sizeof *dz);
    float *zv = arena_array(g->a, 2 * m * latent, sizeof *zv),
          *dzv = arena_zero(g->a, 2 * m * latent * sizeof *dzv);
    model_pass *pp = model_formulas_forward(g->m, &parents, z, g->a);
    memcpy(rows[TRAIN_GS], z, m * latent * sizeof *z);
    memcpy(rows[TRAIN_C], z + m * latent, m * latent * sizeof *z);
    model_pass *pa = model_formulas_forward(g->m, &alone, rows[TRAIN_O], g->a);
    model_pass *pv = model_tables_forward(g->m, &values, zv, g->a);
    for (size_t i = 0; i < 2 * m; i++)
        memcpy(rows[order[i] < m ? TRAIN_GV : TRAIN_P] + order[i] % m * latent, zv + i * latent,
               latent * sizeof *zv);
    train_how how = { .stage = stage, .tau_global = 1, .tau_local = 0.1, .lambda = 1 };
    train_terms terms;
    train_variant *variant = arena_zero(g->a, m * sizeof *variant);
    for (size_t i = 0; i < m; i++) {
        variant[i] = (train_variant){ .item = g->item[i], .k = g->k[i] };
        for (int v = 0; v < TRAIN_VIEWS; v++)
            variant[i].views |= train_reads(stage, (train_view)v, g->k[i]) << v;
    }
    const train_rows all = { variant, m, 0, m, latent, rows, drows };
    assert_true(train_objective(&terms, &all, &how, g->a));
    memcpy(dz, drows[TRAIN_GS], m * latent * sizeof *dz);
    memcpy(dz + m * latent, drows[TRAIN_C], m * latent * sizeof *dz);
    for (size_t i = 0; i < 2 * m; i++)
        memcpy(dzv + i * latent, drows[order[i] < m ? TRAIN_GV : TRAIN_P] + order[i] % m * latent,
               latent * sizeof *dzv);
    memset(grad, 0, g->m->size * sizeof *grad);
    assert_true(model_formulas_backward(g->m, &parents, pp, dz, grad, g->a));
    assert_true(model_formulas_backward(g->m, &alone, pa, drows[TRAIN_O], grad, g->a));
    assert_true(model_tables_backward(g->m, &values, pv, dzv, grad, g->a));
    return terms;
}

static void embeddings_of_all_views_are_right(void **state)
{
    golden *g = *state;
    float *rows[TRAIN_VIEWS], *grad = arena_array(g->a, g->m->size, sizeof *grad);
    run_stage(g, TRAIN_S5, grad, rows);
    safetensors_file f = golden_tensors("model-common/embeddings-f64.safetensors", g->a);
    static const char *const names[] = { "gS", "gV", "c", "o", "p" };
    for (size_t v = 0; v < sizeof names / sizeof *names; v++) {
        const safetensors_entry *e = safetensors_find(&f, names[v]);
        assert_non_null(e);
        for (size_t i = 0; i < e->shape[0] * e->shape[1]; i++)
            if (!(fabsf(rows[v][i] - number_at(e, i)) < 1e-5f))
                fail_msg("%s[%zu]: %g, expected %g", names[v], i, (double)rows[v][i],
                         (double)number_at(e, i));
    }
    safetensors_close(&f);
}

static double term(json_t *losses, const char *name)
{
    json_t *v = json_object_get(json_object_get(losses, "terms_f64"), name);
    return v ? json_number_value(v) : 0;
}

typedef struct compare {
    const float *grad;
    double largest, worst;
} compare;

static void find_largest(void *context, size_t at, float value)
{
    compare *c = context;
    (void)at;
    c->largest = fmax(c->largest, fabs((double)value));
}

static void find_worst(void *context, size_t at, float value)
{
    compare *c = context;
    c->worst = fmax(c->worst, fabs((double)c->grad[at] - (double)value));
}

/* Losses of every stage, the norm of the gradient, and every gradient that the golden data hold. */
static void losses_and_gradients_of_every_stage(void **state)
{
    golden *g = *state;
    float *rows[TRAIN_VIEWS], *grad = arena_array(g->a, g->m->size, sizeof *grad);
    for (int stage = 0; stage < TRAIN_STAGES; stage++) {
        char name[64];
        train_terms t = run_stage(g, (train_stage)stage, grad, rows);
        snprintf(name, sizeof name, "model-s%d/losses.json", stage);
        json_t *losses = golden_json(name);
        const struct {
            const char *name, *other;
            double got;
        } terms[] = {
            { "total", "total", t.total },
            { "global_f_to_y", "global_f_to_y", t.global_sv },
            { "global_y_to_f", "global_y_to_f", t.global_vs },
            { "ctx_s_to_v", "local_ctx_s_to_v", t.context_sv },
            { "ctx_v_to_s", "local_ctx_v_to_s", t.context_vs },
            { "stand_s_to_v", "local_stand_s_to_v", t.standalone_sv },
            { "stand_v_to_s", "local_stand_v_to_s", t.standalone_vs },
        };
        double tolerance = stage < TRAIN_S2 ? 1e-5 : 1e-4;
        for (size_t i = 0; i < COUNT(terms); i++) {
            double want = term(losses, terms[i].name);
            if (want == 0)
                want = term(losses, terms[i].other);
            if (!(fabs(terms[i].got - want) < tolerance))
                fail_msg("S%d %s: %.8f, expected %.8f", stage, terms[i].name, terms[i].got, want);
        }
        double norm = sqrt(nn_kernels_best()->square_sum(grad, g->m->size));
        double want = json_number_value(json_object_get(losses, "grad_norm_f64"));
        print_message("S%d loss %.6f, gradient norm %.6f (reference %.6f)\n", stage, t.total, norm,
                      want);
        assert_true(fabs(norm - want) < 1e-4 * want);
        json_decref(losses);

        snprintf(name, sizeof name, "model-s%d/grads.safetensors", stage);
        safetensors_file f = golden_tensors(name, g->a);
        for (size_t i = 0; i < f.count; i++) {
            const char *tensor = f.entry[i].name;
            if (is_rows(tensor))
                continue;
            compare c = { .grad = grad };
            each_number(g, &f, &f.entry[i], find_largest, &c);
            each_number(g, &f, &f.entry[i], find_worst, &c);
            if (!(c.worst <= 1e-4 * c.largest + 1e-7 * want))
                fail_msg("S%d %s: off by %g, largest %g", stage, tensor, c.worst, c.largest);
        }
        safetensors_close(&f);
    }
}

typedef struct drift {
    const float *w;
    const float *before;
    size_t near, all;
    double worst;
} drift;

static void add_drift(void *context, size_t at, float value)
{
    drift *d = context;
    double off = fabs((double)d->w[at] - (double)d->before[at] - (double)value);
    d->all++;
    d->near += off < 3e-7;
    d->worst = fmax(d->worst, off);
}

/* Five updates on the golden batch: the weights move as the reference's do. Entries are about 5e-7
 * and floats near 1 are 1.2e-7 apart. */
static void five_updates_move_the_weights_alike(void **state)
{
    golden *g = *state;
    const nn_adam how = { .beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f, .clip = 0.5f };
    size_t n = g->m->size;
    float *rows[TRAIN_VIEWS], *grad = arena_array(g->a, n, sizeof *grad);
    float *before = arena_copy(g->a, g->m->w, n * sizeof *before);
    for (int stage = 0; stage <= TRAIN_S5; stage += TRAIN_S5) {
        char name[64];
        float *m1 = arena_zero(g->a, n * sizeof *m1), *m2 = arena_zero(g->a, n * sizeof *m2);
        snprintf(name, sizeof name, "model-s%d/steps.json", stage);
        json_t *o = golden_json(name), *steps = json_object_get(o, "f32"), *s;
        size_t t;
        json_array_foreach (steps, t, s) {
            train_terms terms = run_stage(g, (train_stage)stage, grad, rows);
            double loss = json_number_value(json_object_get(s, "loss_before"));
            double norm = sqrt(nn_kernels_best()->square_sum(grad, n));
            assert_true(fabs(terms.total - loss) < 2e-5 * loss);
            assert_true(fabs(norm - json_number_value(json_object_get(
                                        s, "grad_norm_before_clip"))) < 2e-4 * norm);
            nn_adam_update(g->m->w, m1, m2, grad, n, &how,
                           json_number_value(json_object_get(s, "lr")), t + 1, norm, 2);
        }
        json_decref(o);
        snprintf(name, sizeof name, "model-s%d/delta-5.safetensors", stage);
        safetensors_file f = golden_tensors(name, g->a);
        drift d = { .w = g->m->w, .before = before };
        for (size_t i = 0; i < f.count; i++)
            /* gradients that are zero but for rounding: Adam makes noise of them */
            if (!is_rows(f.entry[i].name) && !strstr(f.entry[i].name, "k_lin.bias") &&
                !strstr(f.entry[i].name, "glob_attn_module.0.bias"))
                each_number(g, &f, &f.entry[i], add_drift, &d);
        print_message("S%d: %.2f %% of %zu numbers within 3e-7, worst %.2g\n", stage,
                      100.0 * (double)d.near / (double)d.all, d.all, d.worst);
        assert_true((double)d.near > 0.99 * (double)d.all && d.worst < 1.2e-6);
        safetensors_close(&f);
        memcpy(g->m->w, before, n * sizeof *before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_positions_are_the_reference_s),
        cmocka_unit_test(s0_forward_is_snip_s),
        cmocka_unit_test(embeddings_of_all_views_are_right),
        cmocka_unit_test(losses_and_gradients_of_every_stage),
        cmocka_unit_test(five_updates_move_the_weights_alike),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
