/* rows.c - see rows.h.
 *
 * Points: hidden = relu(x part + y part), where the x part is computed once per X and absent inputs
 * add one vector per dimension. A value is three token embeddings, or its features. */
#include "model/rows.h"

#include <string.h>

#include "model/surface.h"

size_t model_table_tokens(const model_table_group *g, size_t v)
{
    const model_summary *s = g->summary ? &g->summary[v] : NULL;
    return g->points + (s ? 1 + (size_t)s->dim + (size_t)s->atoms : 0);
}

static float *floats(arena *a, size_t rows, size_t cols)
{
    return arena_array(a, rows * cols, sizeof(float));
}

/* Float tokens of one column, `stride` apart. Returns 0 if a value has none. */
static int column_tokens(uint16_t *to, size_t stride, const data_vocab *v, const double *x,
                         size_t points)
{
    int good = 1;
    for (size_t i = 0; i < points; i++)
        good &= data_vocab_float(v, x[i], to + i * stride);
    return good;
}

static snip_code fill_tokens(model_table_group *g, const model *m, const double *const *x,
                             const double *const *y, arena *a)
{
    size_t n = g->points, dim = (size_t)g->dim;
    uint16_t *tx = arena_array(a, n * 3 * dim, sizeof *tx);
    uint16_t *ty = arena_array(a, g->count * n * 3, sizeof *ty);
    int good = 1;
    if (!tx || !ty)
        return SNIP_NOMEM;
    for (size_t j = 0; j < dim; j++)
        good &= column_tokens(tx + 3 * j, 3 * dim, m->vocab, x[j], n);
    for (size_t t = 0; t < g->count; t++)
        good &= column_tokens(ty + t * n * 3, 3, m->vocab, y[t], n);
    g->x = tx;
    g->y = ty;
    return good ? SNIP_OK : SNIP_UNSUPPORTED;
}

static snip_code fill_features(model_table_group *g, const double *const *x, const double *const *y,
                               arena *a)
{
    enum { F = MODEL_VALUE_FEATURES };
    size_t n = g->points, dim = (size_t)g->dim;
    float *fx = floats(a, n * dim, F), *fy = floats(a, g->count * n, F);
    if (!fx || !fy)
        return SNIP_NOMEM;
    for (size_t j = 0; j < dim; j++)
        for (size_t i = 0; i < n; i++)
            model_value_features(fx + (i * dim + j) * F, x[j][i]);
    for (size_t t = 0; t < g->count; t++)
        for (size_t i = 0; i < n; i++)
            model_value_features(fy + (t * n + i) * F, y[t][i]);
    g->x_value = fx;
    g->y_value = fy;
    return SNIP_OK;
}

snip_code model_group_fill(model_table_group *g, const model *m, const double *const *x,
                           size_t rows, const double *const *y, arena *a)
{
    snip_code code = SNIP_OK;
    const double **standard = g->form ? arena_array(a, g->count, sizeof *standard) : NULL;
    if (g->form && !standard)
        return SNIP_NOMEM;
    for (size_t t = 0; t < g->count && g->form; t++) {
        double *column = arena_array(a, rows, sizeof *column);
        if (!column)
            return SNIP_NOMEM;
        model_standardise(column, y[t], rows);
        standard[t] = column;
    }
    y = g->form ? standard : y;
    if (g->points)
        code = m->config.values == MODEL_FEATURES ? fill_features(g, x, y, a)
                                                  : fill_tokens(g, m, x, y, a);
    if (code != SNIP_OK || !m->config.statistics)
        return code;
    model_summary *s = arena_array(a, g->count, sizeof *s);
    int good = s != NULL, surface = m->config.surface;
    for (size_t t = 0; t < g->count && good; t++)
        good = model_summary_new(&s[t], g->dim, m->config.atoms, surface, a);
    arena_pos mark = arena_mark(a);
    model_columns *c = good ? model_columns_new(x, g->dim, rows, surface, a) : NULL;
    good = c != NULL;
    for (size_t t = 0; t < g->count && good; t++)
        good = model_summary_make(&s[t], c, y[t], g->form, a);
    arena_reset(a, mark);
    g->summary = s;
    return good ? SNIP_OK : SNIP_NOMEM;
}

/* Points -------------------------------------------------------------------------------------- */

/* Numbers of `count` values, one after the other: from token ids, or as they are. */
static void gather(const model *m, float *out, const uint16_t *id, const float *value, size_t count)
{
    size_t e = (size_t)m->config.embed;
    if (m->config.values == MODEL_FEATURES)
        memcpy(out, value, count * MODEL_VALUE_FEATURES * sizeof *out);
    else
        for (size_t i = 0; i < 3 * count; i++)
            memcpy(out + i * e, m->w + m->point_table + id[i] * e, e * sizeof *out);
}

/* The gradient of those numbers goes to the tokens' embeddings; features have no parameters. */
static void scatter(const model *m, float *grad, const float *d_out, const uint16_t *id,
                    size_t count)
{
    const nn_kernels *k = nn_kernels_best();
    size_t e = (size_t)m->config.embed;
    if (m->config.values == MODEL_TOKENS)
        for (size_t i = 0; i < 3 * count; i++)
            k->add(grad + m->point_table + id[i] * e, d_out + i * e, e);
}

/* What stands for an absent input, in `pad`: <INPUT_PAD> three times, or the flag. */
static void absent_value(const model *m, float *pad)
{
    size_t e = (size_t)m->config.embed;
    if (m->config.values == MODEL_FEATURES) {
        memset(pad, 0, MODEL_VALUE_FEATURES * sizeof *pad);
        pad[MODEL_VALUE_ABSENT] = 1;
    } else {
        for (size_t part = 0; part < 3; part++)
            memcpy(pad + part * e, m->w + m->point_table + DATA_INPUT_PAD * e, e * sizeof *pad);
    }
}

/* What absent inputs add to the hidden layer: inputs `dim` and above are absent, the same for every
 * point, so it is one vector per dim. all(dims + 1, hidden): row j is for j inputs present. */
static void absent_part(const model *m, float *all, const float *pad, const model_point_shape *s)
{
    const float *w = m->w + m->point_hidden_w;
    const nn_kernels *k = nn_kernels_best();
    size_t dims = (size_t)m->config.dims;
    memcpy(all + dims * s->hidden, m->w + m->point_hidden_b, s->hidden * sizeof *all);
    for (size_t j = dims; j-- > 0;) {
        memcpy(all + j * s->hidden, all + (j + 1) * s->hidden, s->hidden * sizeof *all);
        for (size_t h = 0; h < s->hidden; h++)
            all[j * s->hidden + h] += k->dot(w + h * s->in + j * s->value, pad, s->value);
    }
}

/* Points of all tables, and the most that share an X. */
static size_t count_points(const model_tables *t, size_t *most)
{
    size_t sum = 0;
    *most = 0;
    for (size_t g = 0; g < t->groups; g++) {
        sum += t->group[g].points * t->group[g].count;
        *most = t->group[g].points > *most ? t->group[g].points : *most;
    }
    return sum;
}

/* out(points, d): the points of all tables, one after the other. */
static int points_forward(const model *m, const model_tables *t, float *out, float **hidden,
                          arena *a)
{
    const nn_kernels *k = nn_kernels_best();
    const float *w = m->w;
    size_t d = (size_t)m->config.d, dims = (size_t)m->config.dims, most, row = 0;
    size_t n = count_points(t, &most);
    model_point_shape s = model_point_shape_of(&m->config);
    *hidden = floats(a, n, s.hidden);
    arena_pos mark = arena_mark(a);
    float *absent = floats(a, dims + 1, s.hidden), *shared = floats(a, most, s.hidden);
    float *inputs = floats(a, most, s.in), *outputs = floats(a, n, s.value);
    float *pad = floats(a, 1, s.value);
    if (!*hidden || !absent || !shared || !inputs || !outputs || !pad)
        return 0;
    absent_value(m, pad);
    absent_part(m, absent, pad, &s);
    for (size_t g = 0; g < t->groups; g++) {
        const model_table_group *q = &t->group[g];
        size_t present = (size_t)q->dim * s.value;
        gather(m, inputs, q->x, q->x_value, q->points * (size_t)q->dim);
        k->fill_rows(shared, absent + (size_t)q->dim * s.hidden, q->points, s.hidden);
        if (!nn_gemm(0, 1, q->points, s.hidden, present, 1, inputs, present, w + m->point_hidden_w,
                     s.in, 1, shared, s.hidden))
            return 0;
        gather(m, outputs + row * s.value, q->y, q->y_value, q->count * q->points);
        for (size_t v = 0; v < q->count; v++, row += q->points)
            memcpy(*hidden + row * s.hidden, shared, q->points * s.hidden * sizeof *shared);
    }
    if (!nn_gemm(0, 1, n, s.hidden, s.value, 1, outputs, s.value,
                 w + m->point_hidden_w + dims * s.value, s.in, 1, *hidden, s.hidden))
        return 0;
    k->relu(*hidden, n * s.hidden);
    int good = nn_linear_forward(out, *hidden, w + m->point_out_w, w + m->point_out_b, n, s.hidden,
                                 d, NN_FLOAT32);
    arena_reset(a, mark);
    return good;
}

/* Backward of absent_part for tables with `dim` inputs: `up` is the summed gradient of their x
 * part. */
static void absent_backward(const model *m, float *grad, const float *up, size_t dim,
                            const float *pad, float *dpad, const model_point_shape *s)
{
    const float *w = m->w + m->point_hidden_w;
    float *dw = grad + m->point_hidden_w;
    const nn_kernels *k = nn_kernels_best();
    for (size_t h = 0; h < s->hidden; h++) {
        grad[m->point_hidden_b + h] += up[h];
        for (size_t j = dim; j < (size_t)m->config.dims; j++) {
            k->axpy(dw + h * s->in + j * s->value, up[h], pad, s->value);
            k->axpy(dpad, up[h], w + h * s->in + j * s->value, s->value);
        }
    }
}

static int points_backward(const model *m, const model_tables *t, const float *hidden,
                           const float *d_out, float *grad, arena *tmp)
{
    const nn_kernels *k = nn_kernels_best();
    const float *w = m->w;
    size_t d = (size_t)m->config.d, e = (size_t)m->config.embed, dims = (size_t)m->config.dims;
    size_t most, row = 0, n = count_points(t, &most);
    model_point_shape s = model_point_shape_of(&m->config);
    float *dhidden = floats(tmp, n, s.hidden);
    float *outputs = floats(tmp, n, s.value), *doutputs = floats(tmp, n, s.value);
    float *dshared = floats(tmp, most, s.hidden), *inputs = floats(tmp, most, s.in);
    float *up = arena_zero(tmp, (dims + 1) * s.hidden * sizeof *up);
    float *pad = floats(tmp, 1, s.value), *dpad = arena_zero(tmp, s.value * sizeof *dpad);
    if (!dhidden || !outputs || !doutputs || !dshared || !inputs || !up || !pad || !dpad)
        return 0;
    if (!nn_linear_backward(dhidden, grad + m->point_out_w, grad + m->point_out_b, d_out, hidden,
                            w + m->point_out_w, n, s.hidden, d, NN_FLOAT32))
        return 0;
    k->relu_back(dhidden, hidden, n * s.hidden);
    for (size_t g = 0; g < t->groups; g++) {
        const model_table_group *q = &t->group[g];
        size_t present = (size_t)q->dim * s.value, count = q->points * (size_t)q->dim;
        gather(m, outputs + row * s.value, q->y, q->y_value, q->count * q->points);
        memset(dshared, 0, q->points * s.hidden * sizeof *dshared);
        for (size_t v = 0; v < q->count; v++, row += q->points)
            k->add(dshared, dhidden + row * s.hidden, q->points * s.hidden);
        k->sum_rows(up + (size_t)q->dim * s.hidden, dshared, q->points, s.hidden);
        gather(m, inputs, q->x, q->x_value, count);
        if (!nn_gemm(1, 0, s.hidden, present, q->points, 1, dshared, s.hidden, inputs, present, 1,
                     grad + m->point_hidden_w, s.in))
            return 0;
        if (m->config.values == MODEL_FEATURES)
            continue;
        /* The gradient takes the place of what it is the gradient of. */
        if (!nn_gemm(0, 0, q->points, present, s.hidden, 1, dshared, s.hidden,
                     w + m->point_hidden_w, s.in, 0, inputs, present))
            return 0;
        scatter(m, grad, inputs, q->x, count);
    }
    absent_value(m, pad);
    for (size_t j = 0; j <= dims; j++)
        absent_backward(m, grad, up + j * s.hidden, j, pad, dpad, &s);
    for (size_t part = 0; part < 3 && m->config.values == MODEL_TOKENS; part++)
        k->add(grad + m->point_table + DATA_INPUT_PAD * e, dpad + part * e, e);
    if (!nn_gemm(1, 0, s.hidden, s.value, n, 1, dhidden, s.hidden, outputs, s.value, 1,
                 grad + m->point_hidden_w + dims * s.value, s.in))
        return 0;
    if (m->config.values == MODEL_FEATURES)
        return 1;
    if (!nn_gemm(0, 0, n, s.value, s.hidden, 1, dhidden, s.hidden,
                 w + m->point_hidden_w + dims * s.value, s.in, 0, doutputs, s.value))
        return 0;
    row = 0;
    for (size_t g = 0; g < t->groups; g++) {
        size_t rows = t->group[g].count * t->group[g].points;
        scatter(m, grad, doutputs + row * s.value, t->group[g].y, rows);
        row += rows;
    }
    return 1;
}

/* Statistics ---------------------------------------------------------------------------------- */

/* The tokens of a kind in a summary. */
static size_t kind_rows(const model_summary *s, int kind)
{
    return kind == MODEL_KIND_Y ? 1 : kind == MODEL_KIND_INPUT ? (size_t)s->dim : (size_t)s->atoms;
}

static const float *kind_data(const model_summary *s, int kind)
{
    return kind == MODEL_KIND_Y ? s->y : kind == MODEL_KIND_INPUT ? s->input : s->atom;
}

/* What its surface adds to a token of a kind: nothing to those of terms. */
static size_t surface_width(const model *m, int kind)
{
    return !m->config.surface         ? 0
           : kind == MODEL_KIND_Y     ? MODEL_SURFACE_Y
           : kind == MODEL_KIND_INPUT ? MODEL_SURFACE_INPUT
                                      : 0;
}

static const float *surface_data(const model_summary *s, int kind)
{
    return kind == MODEL_KIND_Y ? s->surface_y : s->surface_input;
}

/* Tokens of a kind in a summary come after those of the kinds before it. */
static size_t kind_first(const model_summary *s, int kind)
{
    return kind == MODEL_KIND_Y ? 0 : kind == MODEL_KIND_INPUT ? 1 : 1 + (size_t)s->dim;
}

/* All tokens of one kind, whose rows in the sequences are scattered. `in` may be NULL: count only.
 */
static size_t collect_kind(const model_tables *t, int kind,
                           const float *(*data)(const model_summary *, int), float *in,
                           size_t width)
{
    size_t n = 0;
    for (size_t g = 0; g < t->groups; g++)
        for (size_t v = 0; v < t->group[g].count; v++) {
            const model_summary *s = &t->group[g].summary[v];
            size_t rows = kind_rows(s, kind);
            if (in)
                memcpy(in + n * width, data(s, kind), rows * width * sizeof *in);
            n += rows;
        }
    return n;
}

/* Copies rows of one kind between their own matrix and the sequences. */
static void move_kind(const model_tables *t, int kind, const size_t *offsets, float *sum,
                      float *own, size_t d, int to_own)
{
    size_t table = 0;
    for (size_t g = 0; g < t->groups; g++)
        for (size_t v = 0; v < t->group[g].count; v++, table++) {
            const model_summary *s = &t->group[g].summary[v];
            size_t size = kind_rows(s, kind) * d;
            float *there = sum + (offsets[table] + kind_first(s, kind)) * d;
            memcpy(to_own ? own : there, to_own ? there : own, size * sizeof *own);
            own += size;
        }
}

static int summary_forward(const model *m, const model_tables *t, int kind, const size_t *offsets,
                           float *sum, float **hidden, arena *a)
{
    const model_perceptron *p = &m->summary[kind];
    size_t n = collect_kind(t, kind, NULL, NULL, 0), h = (size_t)m->config.hidden;
    size_t d = (size_t)m->config.d, extra = surface_width(m, kind);
    *hidden = floats(a, n, h);
    arena_pos mark = arena_mark(a);
    float *in = floats(a, n, p->in), *out = floats(a, n, d), *surface = floats(a, n, extra);
    if (!*hidden || !in || !out || !surface)
        return 0;
    collect_kind(t, kind, kind_data, in, p->in);
    if (!nn_linear_forward(*hidden, in, m->w + p->hidden_w, m->w + p->hidden_b, n, p->in, h,
                           NN_FLOAT32))
        return 0;
    nn_kernels_best()->relu(*hidden, n * h);
    if (!nn_linear_forward(out, *hidden, m->w + p->out_w, m->w + p->out_b, n, h, d, NN_FLOAT32))
        return 0;
    if (extra) {
        collect_kind(t, kind, surface_data, surface, extra);
        if (!nn_gemm(0, 1, n, d, extra, 1, surface, extra, m->w + m->surface[kind], extra, 1, out,
                     d))
            return 0;
    }
    move_kind(t, kind, offsets, sum, out, d, 0);
    arena_reset(a, mark);
    return 1;
}

static int summary_backward(const model *m, const model_tables *t, int kind, const size_t *offsets,
                            const float *hidden, const float *dsum, float *grad, arena *tmp)
{
    const model_perceptron *p = &m->summary[kind];
    size_t n = collect_kind(t, kind, NULL, NULL, 0), h = (size_t)m->config.hidden;
    size_t d = (size_t)m->config.d, extra = surface_width(m, kind);
    float *in = floats(tmp, n, p->in), *d_out = floats(tmp, n, d), *dhidden = floats(tmp, n, h);
    float *surface = floats(tmp, n, extra);
    if (!in || !d_out || !dhidden || !surface)
        return 0;
    collect_kind(t, kind, kind_data, in, p->in);
    move_kind(t, kind, offsets, (float *)dsum, d_out, d, 1);
    if (extra) {
        collect_kind(t, kind, surface_data, surface, extra);
        if (!nn_gemm(1, 0, d, extra, n, 1, d_out, d, surface, extra, 1, grad + m->surface[kind],
                     extra))
            return 0;
    }
    if (!nn_linear_backward(dhidden, grad + p->out_w, grad + p->out_b, d_out, hidden,
                            m->w + p->out_w, n, h, d, NN_FLOAT32))
        return 0;
    nn_kernels_best()->relu_back(dhidden, hidden, n * h);
    return nn_linear_backward(NULL, grad + p->hidden_w, grad + p->hidden_b, dhidden, in,
                              m->w + p->hidden_w, n, p->in, h, NN_FLOAT32);
}

float *model_rows_profiles(const model_tables *t, size_t tables, arena *a)
{
    enum { N = MODEL_PROFILE_POINTS };
    /* A table has one token of y, and its surface's features begin with the profile. */
    float *out = floats(a, tables, N);
    if (out)
        collect_kind(t, MODEL_KIND_Y, surface_data, out, N);
    return out;
}

/* Both ---------------------------------------------------------------------------------------- */

/* Copies points between their own matrix and the ends of the sequences. */
static void move_points(const model_tables *t, const size_t *offsets, float *sum, float *own,
                        size_t d, int to_own)
{
    size_t table = 0;
    for (size_t g = 0; g < t->groups; g++)
        for (size_t v = 0; v < t->group[g].count; v++, table++) {
            size_t size = t->group[g].points * d;
            float *there = sum + offsets[table + 1] * d - size;
            memcpy(to_own ? own : there, to_own ? there : own, size * sizeof *own);
            own += size;
        }
}

int model_rows_forward(const model *m, const model_tables *t, const size_t *offsets, float *sum,
                       model_rows_kept *keep, arena *a)
{
    size_t most, n = count_points(t, &most), d = (size_t)m->config.d;
    if (!m->config.statistics) /* the sequences are just the points */
        return points_forward(m, t, sum, &keep->point_hidden, a);
    for (int kind = 0; kind < MODEL_SUMMARY_KINDS; kind++)
        if (!summary_forward(m, t, kind, offsets, sum, &keep->summary_hidden[kind], a))
            return 0;
    if (n) {
        float *own = floats(a, n, d);
        if (!own || !points_forward(m, t, own, &keep->point_hidden, a))
            return 0;
        move_points(t, offsets, sum, own, d, 0);
    }
    return 1;
}

int model_rows_backward(const model *m, const model_tables *t, const size_t *offsets,
                        const model_rows_kept *keep, const float *dsum, float *grad, arena *tmp)
{
    size_t most, n = count_points(t, &most), d = (size_t)m->config.d;
    if (!m->config.statistics)
        return points_backward(m, t, keep->point_hidden, dsum, grad, tmp);
    for (int kind = 0; kind < MODEL_SUMMARY_KINDS; kind++)
        if (!summary_backward(m, t, kind, offsets, keep->summary_hidden[kind], dsum, grad, tmp))
            return 0;
    if (n) {
        float *own = floats(tmp, n, d);
        if (!own)
            return 0;
        move_points(t, offsets, (float *)dsum, own, d, 1);
        return points_backward(m, t, keep->point_hidden, own, grad, tmp);
    }
    return 1;
}
