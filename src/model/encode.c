/* encode.c - see encode.h. Numbers in brackets are the paper's equations.
 *
 * A formula's token i enters as h_i = e_i + q_i + r_v(i) (2): its word, its place in the sequence
 * and its node's place in the tree; linear maps of what is known of its node are added (constants =
 * value, slopes, surface). Of what the last layer makes of the tokens, y_i, a row z is pooled over
 * a span of them and brought to the shared space by one linear map:
 *
 *     pooled = sum_i softmax_i(w.y_i + b) y_i,    z = W pooled + c
 *
 * and with surface = yes
 *
 *     z = W pooled + c + g U s,    g = 1 / (1 + exp(-v.pooled - a))
 *
 * where s are the profiles of the formula or part, or that of the table's surface. Through the
 * layers they reach z mixed with all else. By U the cosine of a formula and a table holds the
 * products of what both are at the same points, which is what the correlation of two functions is
 * made of. The gate g can close where that says little: a form's values are those for some
 * constants only.
 *
 * The span is the whole sequence for g^S and o, with SNIP's padding in the softmax's denominator
 * (pack.c), and the tokens of a subtree within its parent for c (16, 17).
 *
 * post-norm (SNIP): x = norm(x + attention(x)); x = norm(x + ff(x))
 * pre-norm:         x = x + attention(norm(x)); x = x + ff(norm(x)); at the end one more norm */
#include "model/encode.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "data/tokens.h"
#include "model/rows.h"
#include "model/slopes.h"
#include "model/surface.h"

/* What one layer keeps. `in` is its input, `mid` the value between its halves. */
typedef struct layer_pass {
    float *in, *normed1, *stats1, *qkv, *o, *mid, *normed2, *stats2, *hidden;
    float *sum2; /* post-norm: what the second norm takes */
} layer_pass;

struct model_pass {
    size_t n;   /* tokens */
    int forget; /* layers share their memory: there will be no backward pass */
    size_t sequences;
    size_t *offsets;
    size_t rows;
    nn_span *span;
    float *sum, *stats; /* the embedding before its norm */
    layer_pass *layer;
    int layers;
    float *top;             /* the last layer's output */
    float *out, *out_stats; /* what is pooled: top, or its norm with pre-norm */
    float *weight, *pooled;
    float *profiles, *gate; /* surface = yes: s and g of each row */
    size_t width;           /* numbers in s */
    double embed_seconds;
    model_rows_kept embedded; /* numeric: what the embedder keeps */
};

static float *floats(arena *a, size_t rows, size_t cols)
{
    return arena_array(a, rows * cols, sizeof(float));
}

static nn_feed feed_of(const model *m, const model_layer *l)
{
    return (nn_feed){ .w1 = m->w + l->ff1_w,
                      .b1 = m->w + l->ff1_b,
                      .w2 = m->w + l->ff2_w,
                      .b2 = m->w + l->ff2_b,
                      .d = (size_t)m->config.d,
                      .ff = (size_t)m->config.ff };
}

/* Room for what one layer keeps, and for its output. Returns 0 when memory is out. */
static int layer_room(layer_pass *y, float **out, size_t n, const model *m, const model_layer *l,
                      arena *a)
{
    const model_config *c = &m->config;
    const nn_feed parts = feed_of(m, l);
    size_t d = (size_t)c->d;
    int pre = c->norm == MODEL_PRE_NORM;
    y->stats1 = floats(a, n, 2);
    y->stats2 = floats(a, n, 2);
    y->normed1 = floats(a, n, d);
    y->qkv = floats(a, n, 3 * d);
    y->o = floats(a, n, d);
    y->mid = floats(a, n, d);
    y->normed2 = pre ? floats(a, n, d) : NULL;
    y->hidden = floats(a, nn_feed_room(m->products, &parts, n), 1);
    *out = floats(a, n, d);
    return y->stats1 && y->stats2 && y->normed1 && y->qkv && y->o && y->mid && y->hidden && *out &&
           (!pre || y->normed2);
}

/* sum(n, d) += features(n, width) w', of features that have no parameters. Returns 0 when memory is
 * out. */
static int features_forward(float *sum, const float *features, const float *w, size_t n,
                            size_t width, size_t d)
{
    return nn_gemm(0, 1, n, d, width, 1, features, width, w, width, 1, sum, d);
}

/* dw(d, width) += dsum' features. Returns 0 when memory is out. */
static int features_backward(float *dw, const float *features, const float *dsum, size_t n,
                             size_t width, size_t d)
{
    return nn_gemm(1, 0, d, width, n, 1, dsum, d, features, width, 1, dw, width);
}

/* The gated features g s of each row. NULL when memory is out. */
static float *gated(const model_pass *p, arena *a)
{
    float *out = floats(a, p->rows, p->width);
    for (size_t r = 0; r < p->rows && out; r++)
        for (size_t i = 0; i < p->width; i++)
            out[r * p->width + i] = p->gate[r] * p->profiles[r * p->width + i];
    return out;
}

/* z(rows, latent) += g s U'. Returns 0 when memory is out. */
static int shortcut_forward(const model *m, const model_encoder *e, model_pass *p, float *z,
                            arena *a)
{
    const nn_kernels *k = nn_kernels_best();
    size_t d = (size_t)m->config.d;
    p->gate = floats(a, p->rows, 1);
    if (!p->gate)
        return 0;
    for (size_t r = 0; r < p->rows; r++) {
        float open = k->dot(m->w + e->gate_w, p->pooled + r * d, d) + m->w[e->gate_b];
        p->gate[r] = 1 / (1 + expf(-open));
    }
    arena_pos mark = arena_mark(a);
    const float *s = gated(p, a);
    int good = s && features_forward(z, s, m->w + e->shortcut, p->rows, p->width,
                                     (size_t)m->config.latent);
    arena_reset(a, mark);
    return good;
}

/* Adds to dpooled and g. Returns 0 when memory is out. */
static int shortcut_backward(const model *m, const model_encoder *e, const model_pass *p,
                             const float *dz, float *dpooled, float *g, arena *tmp)
{
    const nn_kernels *k = nn_kernels_best();
    size_t d = (size_t)m->config.d, latent = (size_t)m->config.latent;
    arena_pos mark = arena_mark(tmp);
    const float *s = gated(p, tmp);
    float *ds = floats(tmp, p->rows, p->width);
    int good = s && ds && features_backward(g + e->shortcut, s, dz, p->rows, p->width, latent) &&
               nn_gemm(0, 0, p->rows, p->width, latent, 1, dz, latent, m->w + e->shortcut, p->width,
                       0, ds, p->width);
    for (size_t r = 0; r < p->rows && good; r++) {
        float dgate = k->dot(ds + r * p->width, p->profiles + r * p->width, p->width);
        float dopen = dgate * p->gate[r] * (1 - p->gate[r]);
        g[e->gate_b] += dopen;
        k->axpy(g + e->gate_w, dopen, p->pooled + r * d, d);
        k->axpy(dpooled + r * d, dopen, m->w + e->gate_w, d);
    }
    arena_reset(tmp, mark);
    return good;
}

/* The encoder's end: pooled tokens of each span, then the bottleneck. Returns 0 when memory is out.
 */
static int pool_forward(const model *m, const model_encoder *e, model_pass *p, float *z, arena *a)
{
    const float *w = m->w;
    size_t d = (size_t)m->config.d, total = 0;
    for (size_t s = 0; s < p->rows; s++) /* one weight per token of each span */
        total += p->span[s].end - p->span[s].first;
    p->weight = floats(a, total, 1);
    p->pooled = floats(a, p->rows, d);
    if (!p->weight || !p->pooled)
        return 0;
    nn_pool_forward(p->pooled, p->weight, p->out, w + e->pool_w, w[e->pool_b], p->span, p->rows, d);
    return nn_linear_forward(z, p->pooled, w + e->bottleneck_w, w + e->bottleneck_b, p->rows, d,
                             (size_t)m->config.latent, NN_FLOAT32) &&
           (!p->profiles || shortcut_forward(m, e, p, z, a));
}

/* The encoder proper: from p->sum to z. Returns 0 when memory is out. */
static int encoder_forward(const model *m, const model_encoder *e, model_pass *p, float *z,
                           arena *a)
{
    const model_config *c = &m->config;
    const nn_kernels *k = nn_kernels_best();
    const float *w = m->w;
    size_t n = p->n, d = (size_t)c->d;
    int pre = c->norm == MODEL_PRE_NORM;
    p->layers = c->layers;
    p->layer = arena_zero(a, (size_t)c->layers * sizeof *p->layer);
    p->stats = floats(a, n, 2);
    float *x = floats(a, n, d);
    if (!p->layer || !p->stats || !x)
        return 0;
    k->norm(x, p->stats, p->sum, w + e->norm_g, w + e->norm_b, n, d);
    for (int i = 0; i < c->layers; i++) {
        const model_layer *l = &e->layer[i];
        layer_pass *y = &p->layer[i];
        y->in = x;
        if (i > 0 && p->forget) { /* the layer before is done with; its input becomes our output */
            *y = p->layer[i - 1];
            y->in = x;
            x = p->layer[i - 1].in;
        } else if (!layer_room(y, &x, n, m, l, a)) {
            return 0;
        }
        const float *attend = y->in, *feed;
        if (pre) {
            k->norm(y->normed1, y->stats1, y->in, w + l->norm1_g, w + l->norm1_b, n, d);
            attend = y->normed1;
        }
        if (!nn_linear_forward(y->qkv, attend, w + l->qkv_w, w + l->qkv_b, n, d, 3 * d,
                               m->products))
            return 0;
        if (!nn_attention_forward(y->o, y->qkv, p->offsets, p->sequences, d, (size_t)c->heads, a))
            return 0;
        if (!nn_linear_forward(y->mid, y->o, w + l->out_w, w + l->out_b, n, d, d, m->products))
            return 0;
        k->add(y->mid, y->in, n * d);
        if (pre) {
            k->norm(y->normed2, y->stats2, y->mid, w + l->norm2_g, w + l->norm2_b, n, d);
            feed = y->normed2;
        } else {
            k->norm(y->normed1, y->stats1, y->mid, w + l->norm1_g, w + l->norm1_b, n, d);
            feed = y->normed1;
        }
        const nn_feed parts = feed_of(m, l);
        if (!nn_feed_forward(x, y->hidden, feed, &parts, n, m->products))
            return 0;
        if (pre) {
            k->add(x, y->mid, n * d);
        } else {
            k->add(x, y->normed1, n * d);
            float *out = p->forget && i > 0 ? y->sum2 : floats(a, n, d);
            y->sum2 = x;
            x = out;
            if (!x)
                return 0;
            k->norm(x, y->stats2, y->sum2, w + l->norm2_g, w + l->norm2_b, n, d);
        }
    }
    p->top = p->out = x;
    if (pre) {
        p->out = floats(a, n, d);
        p->out_stats = floats(a, n, 2);
        if (!p->out || !p->out_stats)
            return 0;
        k->norm(p->out, p->out_stats, p->top, w + e->last_g, w + e->last_b, n, d);
    }
    return pool_forward(m, e, p, z, a);
}

/* One layer: dx holds the gradient of its output and receives that of its input. */
static int layer_backward(const model *m, const model_layer *l, const model_pass *p,
                          const layer_pass *y, float *dx, float *g, arena *tmp)
{
    const model_config *c = &m->config;
    const nn_kernels *k = nn_kernels_best();
    const float *w = m->w;
    size_t n = p->n, d = (size_t)c->d;
    int pre = c->norm == MODEL_PRE_NORM;
    arena_pos mark = arena_mark(tmp);
    float *dmid = floats(tmp, n, d), *d_o = floats(tmp, n, d), *dqkv = floats(tmp, n, 3 * d);
    float *dattend = floats(tmp, n, d);
    int good = dmid && d_o && dqkv && dattend;
    if (good) {
        /* The feed-forward half. */
        if (!pre) /* dx becomes the gradient of normed1 + ff(normed1) */
            k->norm_back(dx, g + l->norm2_g, g + l->norm2_b, dx, y->sum2, y->stats2, w + l->norm2_g,
                         n, d);
        const nn_feed parts = feed_of(m, l);
        const nn_feed_gradient to = { g + l->ff1_w, g + l->ff1_b, g + l->ff2_w, g + l->ff2_b };
        good &= nn_feed_backward(dmid, &to, dx, pre ? y->normed2 : y->normed1, y->hidden, &parts, n,
                                 m->products, tmp);
        if (pre) { /* through the second norm, then beside the residual */
            k->norm_back(dmid, g + l->norm2_g, g + l->norm2_b, dmid, y->mid, y->stats2,
                         w + l->norm2_g, n, d);
            k->add(dmid, dx, n * d);
        } else { /* beside the residual, then through the first norm */
            k->add(dmid, dx, n * d);
            k->norm_back(dmid, g + l->norm1_g, g + l->norm1_b, dmid, y->mid, y->stats1,
                         w + l->norm1_g, n, d);
        }
        /* The attention half: dmid is the gradient of in + attention. */
        const float *attend = pre ? y->normed1 : y->in;
        good &= nn_linear_backward(d_o, g + l->out_w, g + l->out_b, dmid, y->o, w + l->out_w, n, d,
                                   d, m->products);
        good &= nn_attention_backward(dqkv, d_o, y->qkv, p->offsets, p->sequences, d,
                                      (size_t)c->heads, tmp);
        good &= nn_linear_backward(dattend, g + l->qkv_w, g + l->qkv_b, dqkv, attend, w + l->qkv_w,
                                   n, d, 3 * d, m->products);
        if (pre)
            k->norm_back(dattend, g + l->norm1_g, g + l->norm1_b, dattend, y->in, y->stats1,
                         w + l->norm1_g, n, d);
        for (size_t i = 0; i < n * d; i++)
            dx[i] = dmid[i] + dattend[i];
    }
    arena_reset(tmp, mark);
    return good;
}

/* From dz to the gradient of p->sum, in dsum(n,d). Returns 0 when memory is out. */
static int encoder_backward(const model *m, const model_encoder *e, const model_pass *p,
                            const float *dz, float *dsum, float *g, arena *tmp)
{
    const model_config *c = &m->config;
    const nn_kernels *k = nn_kernels_best();
    const float *w = m->w;
    size_t n = p->n, d = (size_t)c->d;
    float *dpooled = floats(tmp, p->rows, d);
    if (!dpooled)
        return 0;
    memset(dsum, 0, n * d * sizeof *dsum);
    if (!nn_linear_backward(dpooled, g + e->bottleneck_w, g + e->bottleneck_b, dz, p->pooled,
                            w + e->bottleneck_w, p->rows, d, (size_t)c->latent, NN_FLOAT32) ||
        (p->profiles && !shortcut_backward(m, e, p, dz, dpooled, g, tmp)))
        return 0;
    nn_pool_backward(dsum, g + e->pool_w, dpooled, p->weight, p->out, w + e->pool_w, p->span,
                     p->rows, d);
    if (c->norm == MODEL_PRE_NORM)
        k->norm_back(dsum, g + e->last_g, g + e->last_b, dsum, p->top, p->out_stats, w + e->last_g,
                     n, d);
    for (int i = c->layers; i-- > 0;)
        if (!layer_backward(m, &e->layer[i], p, &p->layer[i], dsum, g, tmp))
            return 0;
    k->norm_back(dsum, g + e->norm_g, g + e->norm_b, dsum, p->sum, p->stats, w + e->norm_g, n, d);
    return 1;
}

/* Formulas ------------------------------------------------------------------------------------ */

/* r_v of (5-7): the child slots from a node up to the root, the nearest first, as bits: 0 for b(1)
 * = (1,0), 1 for b(2) = (0,1), `depth` how many there are before b(0) = (0,0) begins. Beyond
 * NN_LEVELS_MAX relations are left out, as the paper's L does. All tokens of a node have its path,
 * <EOS> has none. nn_tree_forward weighs them by tanh(theta_c)^k in each channel (8, 10, 11). */
void model_paths(nn_path *out, const data_tokens *t)
{
    for (size_t i = 0; i < t->count; i++) {
        out[i] = (nn_path){ 0, 0 };
        if (t->node[i] < 0)
            continue;
        for (int32_t v = t->node[i]; t->parent[v] >= 0 && out[i].depth < NN_LEVELS_MAX;
             v = t->parent[v]) {
            out[i].slots |= (uint64_t)(t->slot[v] - 1) << out[i].depth;
            out[i].depth++;
        }
    }
}

/* The features of the constants that are shown, (count, MODEL_CONSTANT_FEATURES), and the tokens
 * they belong to. Returns 0 when memory is out. */
static int constant_features(const model_formulas *f, float **features, size_t **token,
                             size_t *count, arena *a)
{
    size_t n = f->offsets[f->count];
    *count = 0;
    *token = arena_array(a, n, sizeof **token);
    if (!*token)
        return 0;
    for (size_t t = 0; t < n; t++)
        if (!isnan(f->value[t]))
            (*token)[(*count)++] = t;
    *features = floats(a, *count, MODEL_CONSTANT_FEATURES);
    for (size_t i = 0; i < *count && *features; i++)
        model_constant_features(*features + i * MODEL_CONSTANT_FEATURES, f->value[(*token)[i]]);
    return *features != NULL;
}

/* sum(t) += W features(value of t) for each constant that is shown. Returns 0 when memory is out.
 */
static int constants_forward(const model *m, const model_formulas *f, float *sum, arena *a)
{
    const nn_kernels *k = nn_kernels_best();
    size_t d = (size_t)m->config.d, count, *token;
    arena_pos mark = arena_mark(a);
    float *features, *rows;
    int good = 0;
    if (constant_features(f, &features, &token, &count, a) && (rows = floats(a, count, d))) {
        good =
            nn_gemm(0, 1, count, d, MODEL_CONSTANT_FEATURES, 1, features, MODEL_CONSTANT_FEATURES,
                    m->w + m->symbolic.constant, MODEL_CONSTANT_FEATURES, 0, rows, d);
        for (size_t i = 0; i < count; i++)
            k->add(sum + token[i] * d, rows + i * d, d);
    }
    arena_reset(a, mark);
    return good;
}

/* dW += dsum' features over the constants that are shown. Returns 0 when memory is out. */
static int constants_backward(const model *m, const model_formulas *f, const float *dsum,
                              float *grad, arena *tmp)
{
    size_t d = (size_t)m->config.d, count, *token;
    arena_pos mark = arena_mark(tmp);
    float *features, *rows;
    int good = 0;
    if (constant_features(f, &features, &token, &count, tmp) && (rows = floats(tmp, count, d))) {
        for (size_t i = 0; i < count; i++)
            memcpy(rows + i * d, dsum + token[i] * d, d * sizeof *rows);
        good = nn_gemm(1, 0, d, MODEL_CONSTANT_FEATURES, count, 1, rows, d, features,
                       MODEL_CONSTANT_FEATURES, 1, grad + m->symbolic.constant,
                       MODEL_CONSTANT_FEATURES);
    }
    arena_reset(tmp, mark);
    return good;
}

/* The profiles of the parts that f's rows stand for: those of a span's first token, the root of the
 * part, or the <EOS> that stands for the whole. NULL when memory is out. */
static float *row_profiles(const model_formulas *f, arena *a)
{
    float *out = floats(a, f->rows, MODEL_PROFILES);
    for (size_t r = 0; r < f->rows && out; r++)
        memcpy(out + r * MODEL_PROFILES, f->profile + f->span[r].first * MODEL_PROFILE_FEATURES,
               MODEL_PROFILES * sizeof *out);
    return out;
}

static model_pass *formulas_forward(const model *m, const model_formulas *f, float *z, int forget,
                                    arena *a)
{
    const nn_kernels *k = nn_kernels_best();
    size_t n = f->offsets[f->count], d = (size_t)m->config.d;
    double start = clock_now();
    model_pass *p = arena_zero(a, sizeof *p);
    if (!p)
        return NULL;
    p->n = n;
    p->forget = forget;
    p->sequences = f->count;
    p->offsets = (size_t *)f->offsets;
    p->rows = f->rows;
    p->span = (nn_span *)f->span;
    p->sum = floats(a, n, d);
    if (!p->sum)
        return NULL;
    for (size_t s = 0; s < f->count; s++)
        for (size_t t = f->offsets[s]; t < f->offsets[s + 1]; t++) {
            memcpy(p->sum + t * d, m->w + m->symbolic.table + f->token[t] * d, d * sizeof *p->sum);
            k->add(p->sum + t * d, m->w + m->symbolic.position + (t - f->offsets[s]) * d, d);
        }
    if (f->slope &&
        !features_forward(p->sum, f->slope, m->w + m->symbolic.slope, n, MODEL_SLOPE_FEATURES, d))
        return NULL;
    if (f->profile && !features_forward(p->sum, f->profile, m->w + m->symbolic.profile, n,
                                        MODEL_PROFILE_FEATURES, d))
        return NULL;
    if (f->value && !constants_forward(m, f, p->sum, a))
        return NULL;
    if (f->path)
        nn_tree_forward(p->sum, f->path, m->w + m->theta, n, (size_t)m->config.channels,
                        (size_t)m->config.levels);
    if (f->profile) {
        p->width = MODEL_PROFILES;
        p->profiles = row_profiles(f, a);
        if (!p->profiles)
            return NULL;
    }
    p->embed_seconds = clock_now() - start;
    return encoder_forward(m, &m->symbolic, p, z, a) ? p : NULL;
}

model_pass *model_formulas_forward(const model *m, const model_formulas *f, float *z, arena *a)
{
    return formulas_forward(m, f, z, 0, a);
}

int model_formulas_embed(const model *m, const model_formulas *f, float *z, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    int good = formulas_forward(m, f, z, 1, tmp) != NULL;
    arena_reset(tmp, mark);
    return good;
}

int model_formulas_backward(const model *m, const model_formulas *f, const model_pass *p,
                            const float *dz, float *grad, arena *tmp)
{
    const nn_kernels *k = nn_kernels_best();
    size_t d = (size_t)m->config.d;
    arena_pos mark = arena_mark(tmp);
    float *dsum = floats(tmp, p->n, d);
    int good = dsum && encoder_backward(m, &m->symbolic, p, dz, dsum, grad, tmp);
    if (good) {
        for (size_t s = 0; s < f->count; s++)
            for (size_t t = f->offsets[s]; t < f->offsets[s + 1]; t++) {
                k->add(grad + m->symbolic.table + f->token[t] * d, dsum + t * d, d);
                k->add(grad + m->symbolic.position + (t - f->offsets[s]) * d, dsum + t * d, d);
            }
        if (f->slope)
            good = features_backward(grad + m->symbolic.slope, f->slope, dsum, p->n,
                                     MODEL_SLOPE_FEATURES, d);
        if (good && f->profile)
            good = features_backward(grad + m->symbolic.profile, f->profile, dsum, p->n,
                                     MODEL_PROFILE_FEATURES, d);
        if (good && f->value)
            good = constants_backward(m, f, dsum, grad, tmp);
        if (f->path)
            nn_tree_backward(grad + m->theta, dsum, f->path, m->w + m->theta, p->n,
                             (size_t)m->config.channels, (size_t)m->config.levels);
    }
    arena_reset(tmp, mark);
    return good;
}

/* Tables -------------------------------------------------------------------------------------- */

static model_pass *tables_forward(const model *m, const model_tables *t, float *z, int forget,
                                  arena *a)
{
    const nn_kernels *k = nn_kernels_best();
    size_t d = (size_t)m->config.d;
    double start = clock_now();
    model_pass *p = arena_zero(a, sizeof *p);
    if (!p)
        return NULL;
    p->forget = forget;
    for (size_t g = 0; g < t->groups; g++)
        p->sequences += t->group[g].count;
    p->rows = p->sequences;
    p->offsets = arena_array(a, p->sequences + 1, sizeof *p->offsets);
    p->span = arena_array(a, p->sequences, sizeof *p->span);
    if (!p->offsets || !p->span)
        return NULL;
    p->offsets[0] = 0;
    for (size_t g = 0, s = 0; g < t->groups; g++)
        for (size_t v = 0; v < t->group[g].count; v++, s++) {
            p->offsets[s + 1] = p->offsets[s] + model_table_tokens(&t->group[g], v);
            p->span[s] = (nn_span){ p->offsets[s], p->offsets[s + 1], 0 };
        }
    p->n = p->offsets[p->sequences];
    p->sum = floats(a, p->n, d);
    if (!p->sum || !model_rows_forward(m, t, p->offsets, p->sum, &p->embedded, a))
        return NULL;
    for (size_t s = 0; m->config.point_positions && s < p->sequences; s++)
        k->add(p->sum + p->offsets[s] * d, m->w + m->numeric.position,
               (p->offsets[s + 1] - p->offsets[s]) * d);
    if (m->config.surface) {
        p->width = MODEL_PROFILE_POINTS;
        p->profiles = model_rows_profiles(t, p->rows, a);
        if (!p->profiles)
            return NULL;
    }
    p->embed_seconds = clock_now() - start;
    return encoder_forward(m, &m->numeric, p, z, a) ? p : NULL;
}

/* Three doors as for formulas, line by line. A table of functions for two kinds of chunks would
 * hide what is the same. */
model_pass *model_tables_forward(const model *m, const model_tables *t, float *z, arena *a)
{
    return tables_forward(m, t, z, 0, a);
}

int model_tables_embed(const model *m, const model_tables *t, float *z, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    int good = tables_forward(m, t, z, 1, tmp) != NULL;
    arena_reset(tmp, mark);
    return good;
}

int model_tables_backward(const model *m, const model_tables *t, const model_pass *p,
                          const float *dz, float *grad, arena *tmp)
{
    const nn_kernels *k = nn_kernels_best();
    size_t d = (size_t)m->config.d;
    arena_pos mark = arena_mark(tmp);
    float *dsum = floats(tmp, p->n, d);
    int good = dsum && encoder_backward(m, &m->numeric, p, dz, dsum, grad, tmp);
    for (size_t s = 0; good && m->config.point_positions && s < p->sequences; s++)
        k->add(grad + m->numeric.position, dsum + p->offsets[s] * d,
               (p->offsets[s + 1] - p->offsets[s]) * d);
    good = good && model_rows_backward(m, t, p->offsets, &p->embedded, dsum, grad, tmp);
    arena_reset(tmp, mark);
    return good;
}

const float *model_pass_hidden(const model_pass *p, int layer)
{
    return layer < p->layers ? p->layer[layer].in : p->top;
}

double model_pass_embed_seconds(const model_pass *p)
{
    return p->embed_seconds;
}

const float *model_pass_weights(const model_pass *p)
{
    return p->weight;
}

size_t model_pass_bytes(const model *m, size_t tokens, int numeric)
{
    const model_config *c = &m->config;
    size_t d = (size_t)c->d, layer = 9 * d + (size_t)c->ff + 4,
           all = (size_t)c->layers * layer + 4 * d;
    if (numeric) { /* the embedder's hidden layer, and its inputs while it runs */
        model_point_shape s = model_point_shape_of(c);
        size_t points = s.hidden + s.in, summary = (size_t)c->hidden + MODEL_SUMMARY_Y + d;
        all += c->statistics && (!c->points || summary > points) ? summary : points;
    }
    return tokens * all * sizeof(float);
}
