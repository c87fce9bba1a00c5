/* model.c - see model.h. */
#include "model/model.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/streams.h"
#include "expr/vec.h"
#include "model/slopes.h"
#include "model/summary.h"
#include "model/surface.h"
#include "nn/nn.h"

enum { TENSORS_MAX = 64 + 64 * 40 }; /* at most 64 layers (config.c) with 40 in both encoders */

/* Adds a tensor and returns where it starts. A tensor is a line where it is used, so what it has
 * stands there: size, start, and a name in printf's way. */
__attribute__((format(printf, 7, 8))) static size_t add(model *m, size_t rows, size_t cols,
                                                        model_init init, float scale, long zero_row,
                                                        const char *format, ...)
{
    assert(m->tensors < TENSORS_MAX);
    model_tensor *t = &m->tensor[m->tensors++];
    va_list args;
    *t = (model_tensor){ .offset = m->size,
                         .rows = rows,
                         .cols = cols,
                         .init = init,
                         .scale = scale,
                         .zero_row = zero_row };
    va_start(args, format);
    vsnprintf(t->name, sizeof t->name, format, args);
    va_end(args);
    m->size += model_tensor_size(t);
    return t->offset;
}

size_t model_tensor_size(const model_tensor *t)
{
    return t->rows * (t->cols ? t->cols : 1);
}

/* A linear map's weight and bias: uniform within 1/sqrt(inputs). */
static void add_linear(model *m, size_t *w, size_t *b, size_t in, size_t out, const char *name)
{
    float bound = 1 / sqrtf((float)in);
    *w = add(m, out, in, MODEL_UNIFORM, bound, -1, "%s.weight", name);
    *b = add(m, out, 0, MODEL_UNIFORM, bound, -1, "%s.bias", name);
}

static void add_norm(model *m, size_t *g, size_t *b, const char *name)
{
    *g = add(m, (size_t)m->config.d, 0, MODEL_ONE, 0, -1, "%s.weight", name);
    *b = add(m, (size_t)m->config.d, 0, MODEL_ZERO, 0, -1, "%s.bias", name);
}

static void add_layer(model *m, model_layer *l, const char *encoder, int i)
{
    static const char *const parts[3] = { "q_lin", "k_lin", "v_lin" };
    size_t d = (size_t)m->config.d, w[3], b[3], first = m->tensors;
    float bound = 1 / sqrtf((float)d);
    char name[64];
    for (int k = 0; k < 3; k++)
        w[k] = add(m, d, d, MODEL_UNIFORM, bound, -1, "%s.attentions.%d.%s.weight", encoder, i,
                   parts[k]);
    for (int k = 0; k < 3; k++)
        b[k] = add(m, d, 0, MODEL_UNIFORM, bound, -1, "%s.attentions.%d.%s.bias", encoder, i,
                   parts[k]);
    l->qkv_w = w[0];
    l->qkv_b = b[0];
    snprintf(name, sizeof name, "%s.attentions.%d.out_lin", encoder, i);
    add_linear(m, &l->out_w, &l->out_b, d, d, name);
    snprintf(name, sizeof name, "%s.layer_norm1.%d", encoder, i);
    add_norm(m, &l->norm1_g, &l->norm1_b, name);
    snprintf(name, sizeof name, "%s.ffns.%d.lin1", encoder, i);
    add_linear(m, &l->ff1_w, &l->ff1_b, d, (size_t)m->config.ff, name);
    snprintf(name, sizeof name, "%s.ffns.%d.lin2", encoder, i);
    add_linear(m, &l->ff2_w, &l->ff2_b, (size_t)m->config.ff, d, name);
    snprintf(name, sizeof name, "%s.layer_norm2.%d", encoder, i);
    add_norm(m, &l->norm2_g, &l->norm2_b, name);
    for (size_t k = first; k < m->tensors; k++)
        m->tensor[k].in_layer = m->tensor[k].cols > 0;
}

static void add_encoder(model *m, model_encoder *e, const char *encoder, int has_positions)
{
    const model_config *c = &m->config;
    size_t d = (size_t)c->d, unused_w, unused_b;
    char name[64];
    if (has_positions)
        e->position = add(m, (size_t)c->positions, d, MODEL_NORMAL, 1 / sqrtf((float)d), -1,
                          "%s.position_embeddings.weight", encoder);
    snprintf(name, sizeof name, "%s.layer_norm_emb", encoder);
    add_norm(m, &e->norm_g, &e->norm_b, name);
    for (int i = 0; i < c->layers; i++)
        add_layer(m, &e->layer[i], encoder, i);
    if (c->norm == MODEL_PRE_NORM) {
        snprintf(name, sizeof name, "%s.layer_norm_last", encoder);
        add_norm(m, &e->last_g, &e->last_b, name);
    }
    snprintf(name, sizeof name, "%s.glob_attn_module.0", encoder);
    add_linear(m, &e->pool_w, &e->pool_b, d, 1, name);
    snprintf(name, sizeof name, "%s.bottleneck_module.fc1", encoder);
    add_linear(m, &e->bottleneck_w, &e->bottleneck_b, d, (size_t)c->latent, name);
    /* SNIP has it, counts it and never uses it. */
    snprintf(name, sizeof name, "%s.z_projection", encoder);
    add_linear(m, &unused_w, &unused_b, (size_t)c->latent, d, name);
}

static void add_perceptron(model *m, model_perceptron *p, int kind)
{
    static const char *const names[] = { "y", "input", "atom" };
    static const size_t widths[] = { MODEL_SUMMARY_Y, MODEL_SUMMARY_INPUT, MODEL_SUMMARY_ATOM };
    size_t hidden = (size_t)m->config.hidden;
    char name[64];
    p->in = widths[kind];
    snprintf(name, sizeof name, "summary.%s.hidden", names[kind]);
    add_linear(m, &p->hidden_w, &p->hidden_b, p->in, hidden, name);
    snprintf(name, sizeof name, "summary.%s.out", names[kind]);
    add_linear(m, &p->out_w, &p->out_b, hidden, (size_t)m->config.d, name);
}

model_point_shape model_point_shape_of(const model_config *c)
{
    int tokens = c->values == MODEL_TOKENS;
    model_point_shape s = { .value = tokens ? 3 * (size_t)c->embed : MODEL_VALUE_FEATURES };
    s.in = s.value * ((size_t)c->dims + 1);
    s.hidden = tokens ? s.in : (size_t)c->hidden;
    return s;
}

/* Both encoders begin with the same directions for their profiles, so that a formula and its table
 * agree there from the first step on where it has no free constants. */
static void add_shortcut(model *m, model_encoder *e, const char *encoder, size_t profiles)
{
    enum { START = 6 };
    e->shortcut = add(m, (size_t)m->config.latent, profiles, MODEL_DIAGONAL, START, -1,
                      "%s.shortcut.weight", encoder);
    e->gate_w =
        add(m, (size_t)m->config.d, 0, MODEL_ZERO, 0, -1, "%s.shortcut.gate.weight", encoder);
    e->gate_b = add(m, 1, 0, MODEL_ZERO, 0, -1, "%s.shortcut.gate.bias", encoder);
}

snip_code model_new(model **out, const model_config *config, arena *a, snip_status *st)
{
    snip_code code = model_config_check(config, st);
    if (code != SNIP_OK)
        return code;
    model *m = arena_zero(a, sizeof *m);
    if (!m)
        return status_nomem(st);
    m->config = *config;
    int values = config->constants == MODEL_CONSTANT_VALUE;
    m->vocab = values ? data_vocab_new_values(config->dims, a) : data_vocab_new(config->dims, a);
    m->tensor = arena_array(a, TENSORS_MAX, sizeof *m->tensor);
    m->numeric.layer = arena_array(a, (size_t)config->layers, sizeof *m->numeric.layer);
    m->symbolic.layer = arena_array(a, (size_t)config->layers, sizeof *m->symbolic.layer);
    if (!m->vocab || !m->tensor || !m->numeric.layer || !m->symbolic.layer)
        return status_nomem(st);
    size_t e = (size_t)config->embed, d = (size_t)config->d;
    if (config->points) {
        model_point_shape s = model_point_shape_of(config);
        if (config->values == MODEL_TOKENS)
            m->point_table = add(m, (size_t)m->vocab->float_words, e, MODEL_NORMAL,
                                 1 / sqrtf((float)e), DATA_PAD, "embedder.embeddings.weight");
        add_linear(m, &m->point_hidden_w, &m->point_hidden_b, s.in, s.hidden,
                   "embedder.hidden_layers.0");
        add_linear(m, &m->point_out_w, &m->point_out_b, s.hidden, d, "embedder.fc");
    }
    for (int k = 0; config->statistics && k < MODEL_SUMMARY_KINDS; k++)
        add_perceptron(m, &m->summary[k], k);
    if (config->surface) {
        m->surface[MODEL_KIND_Y] =
            add(m, d, MODEL_SURFACE_Y, MODEL_ZERO, 0, -1, "summary.y.surface.weight");
        m->surface[MODEL_KIND_INPUT] =
            add(m, d, MODEL_SURFACE_INPUT, MODEL_ZERO, 0, -1, "summary.input.surface.weight");
    }
    add_encoder(m, &m->numeric, "encoder_y", config->point_positions);
    m->symbolic.table = add(m, (size_t)m->vocab->equation_words, d, MODEL_NORMAL,
                            1 / sqrtf((float)d), m->vocab->zero_row, "encoder_f.embeddings.weight");
    if (values)
        m->symbolic.constant =
            add(m, d, MODEL_CONSTANT_FEATURES, MODEL_UNIFORM,
                1 / sqrtf((float)MODEL_CONSTANT_FEATURES), -1, "encoder_f.constants.weight");
    if (config->slopes)
        m->symbolic.slope =
            add(m, d, MODEL_SLOPE_FEATURES, MODEL_ZERO, 0, -1, "encoder_f.slopes.weight");
    if (config->surface) {
        m->symbolic.profile =
            add(m, d, MODEL_PROFILE_FEATURES, MODEL_ZERO, 0, -1, "encoder_f.profiles.weight");
        add_shortcut(m, &m->symbolic, "encoder_f", MODEL_PROFILES);
        add_shortcut(m, &m->numeric, "encoder_y", MODEL_PROFILE_POINTS);
    }
    add_encoder(m, &m->symbolic, "encoder_f", 1);
    m->theta = add(m, (size_t)config->channels, 0, MODEL_VALUE, atanhf(0.5f), -1, "theta");
    if (config->similarity == MODEL_COSINE) {
        float start = logf(1 / 0.07f);
        m->scale_global = add(m, 1, 0, MODEL_VALUE, start, -1, "logit_scale_global");
        m->scale_local = add(m, 1, 0, MODEL_VALUE, start, -1, "logit_scale_local");
    }
    m->w = arena_array(a, m->size, sizeof *m->w);
    if (!m->w)
        return status_nomem(st);
    *out = m;
    return SNIP_OK;
}

/* n numbers of a tensor: normal or uniform, scaled. */
static void draw(float *w, size_t n, rng *r, model_init init, double scale)
{
    enum { BLOCK = 512 };
    double u[BLOCK];
    for (size_t done = 0; done < n; done += BLOCK) {
        size_t now = n - done < BLOCK ? n - done : BLOCK;
        rng_fill_uniform(r, u, BLOCK);
        if (init == MODEL_NORMAL)
            expr_vec_best()->gauss(u, BLOCK / 2);
        for (size_t i = 0; i < now; i++)
            w[done + i] = (float)(scale * (init == MODEL_NORMAL ? u[i] : 2 * u[i] - 1));
    }
}

void model_start(model *m, uint64_t seed)
{
    for (size_t k = 0; k < m->tensors; k++) {
        const model_tensor *t = &m->tensor[k];
        float *w = m->w + t->offset;
        size_t n = model_tensor_size(t);
        rng r;
        streams_rng(&r, seed, STREAMS_TENSORS, k);
        switch (t->init) {
        case MODEL_NORMAL:
        case MODEL_UNIFORM:
            draw(w, n, &r, t->init, (double)t->scale);
            break;
        case MODEL_DIAGONAL: /* of the first profile */
            memset(w, 0, n * sizeof *w);
            for (size_t p = 0; p < MODEL_PROFILE_POINTS && p < t->rows; p++)
                w[p * t->cols + p] = t->scale;
            break;
        default:
            for (size_t i = 0; i < n; i++)
                w[i] = t->init == MODEL_ONE ? 1 : t->init == MODEL_VALUE ? t->scale : 0;
        }
        if (t->zero_row >= 0)
            memset(w + (size_t)t->zero_row * t->cols, 0, t->cols * sizeof *w);
    }
}
