/* space.c - see space.h. */
#include "model/space.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "model/encode.h"

/* A few items that go through an encoder together. */
enum { CHUNK_FORMULAS = MODEL_SPACE_FORMULAS, CHUNK_TOKENS = 512, TOKENS_GUESS = 24 };

model_space *model_space_new(const model *m, int tree, int threads)
{
    model_space *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (model_space){ .m = m, .latent = (size_t)m->config.latent, .tree = tree };
    s->tmp = calloc((size_t)threads, sizeof *s->tmp);
    for (s->threads = 0; s->tmp && s->threads < threads; s->threads++)
        if (!(s->tmp[s->threads] = arena_new(0)))
            break;
    if (s->threads < threads) {
        model_space_free(s);
        return NULL;
    }
    return s;
}

void model_space_free(model_space *s)
{
    if (!s)
        return;
    for (int t = 0; t < s->threads; t++)
        arena_free(s->tmp[t]);
    free(s->tmp);
    free(s);
}

double model_dot(const float *a, const float *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

void model_unit_rows(float *z, size_t rows, size_t latent)
{
    for (size_t r = 0; r < rows; r++) {
        float *row = z + r * latent;
        double length = sqrt(model_dot(row, row, latent));
        for (size_t i = 0; i < latent; i++)
            row[i] = length > 0 ? (float)((double)row[i] / length) : 0;
    }
}

int model_space_fits(const model_space *s, expr e, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    data_tokens t;
    int good = data_tokens_make(&t, e, s->m->vocab, tmp, NULL) == SNIP_OK;
    arena_reset(tmp, mark);
    return good;
}

/* Symbols of a chunk of items; z has a row for each. */
static snip_code chunk_symbols(const model_space *s, const model_item *item, size_t n, float *z,
                               arena *a)
{
    size_t *offsets = arena_array(a, n + 1, sizeof *offsets), count = 0;
    data_tokens *tokens = arena_array(a, n, sizeof *tokens);
    nn_span *span = arena_array(a, n, sizeof *span);
    if (!offsets || !tokens || !span)
        return SNIP_NOMEM;
    offsets[0] = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || item[i].e.node != item[i - 1].e.node) {
            snip_code code =
                item[i].form ? data_tokens_form(&tokens[count], item[i].e, s->m->vocab, a, NULL)
                             : data_tokens_make(&tokens[count], item[i].e, s->m->vocab, a, NULL);
            if (code != SNIP_OK)
                return code;
            offsets[count + 1] = offsets[count] + tokens[count].count;
            count++;
        }
        const data_tokens *t = &tokens[count - 1];
        size_t at = offsets[count - 1], node = item[i].node;
        int pads = s->m->config.pooling == MODEL_POOL_PADS;
        span[i] = node == MODEL_WHOLE
                      ? (nn_span){ at, at + t->count, pads ? DATA_SEQUENCE_MAX - t->count : 0 }
                      : (nn_span){ at + (size_t)t->first[node], at + (size_t)t->end[node], 0 };
    }
    int values = s->m->vocab->values;
    uint16_t *id = arena_array(a, offsets[count], sizeof *id);
    double *value = values ? arena_array(a, offsets[count], sizeof *value) : NULL;
    nn_path *path = arena_array(a, offsets[count], sizeof *path);
    if (!id || !path || (values && !value))
        return SNIP_NOMEM;
    for (size_t k = 0; k < count; k++) {
        memcpy(id + offsets[k], tokens[k].id, tokens[k].count * sizeof *id);
        if (values)
            memcpy(value + offsets[k], tokens[k].value, tokens[k].count * sizeof *value);
        model_paths(path + offsets[k], &tokens[k]);
    }
    const model_formulas f = { .count = count,
                               .offsets = offsets,
                               .token = id,
                               .value = value,
                               .path = s->tree ? path : NULL,
                               .rows = n,
                               .span = span };
    return model_formulas_embed(s->m, &f, z, a) ? SNIP_OK : SNIP_NOMEM;
}

/* A copy of v[0..rows) that starts with `points` values, evenly spaced, and goes on with the rest.
 * Rows of a sample stand cluster by cluster, so its first ones would be no fair part of it. NULL
 * when memory is out. */
static const double *spread(const double *v, size_t rows, size_t points, arena *a)
{
    double *out = arena_array(a, rows, sizeof *out);
    size_t taken = 0, rest = points;
    for (size_t i = 0; i < rows && out; i++)
        if (taken < points && i == taken * rows / points)
            out[taken++] = v[i];
        else
            out[rest++] = v[i];
    return out;
}

/* Values of a chunk of items; z has a row for each. */
static snip_code chunk_values(const model_space *s, const model_item *item, size_t n, float *z,
                              arena *a)
{
    model_table_group *group = arena_array(a, n, sizeof *group);
    const double **y = arena_array(a, n, sizeof *y);
    size_t groups = 0, points = (size_t)s->m->config.points;
    if (!group || !y)
        return SNIP_NOMEM;
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first;
             end < n && item[end].x == item[first].x && item[end].form == item[first].form; end++)
            y[end] = item[end].y;
        model_table_group *g = &group[groups++];
        size_t rows = item[first].rows;
        *g = (model_table_group){ .points = points < rows ? points : rows,
                                  .dim = item[first].dim,
                                  .form = item[first].form,
                                  .count = end - first };
        const double *const *x = item[first].x;
        if (points && points < rows) {
            const double **some = arena_array(a, (size_t)g->dim, sizeof *some);
            int good = some != NULL;
            for (int j = 0; j < g->dim && good; j++)
                good = (some[j] = spread(x[j], rows, points, a)) != NULL;
            for (size_t k = first; k < end && good; k++)
                good = (y[k] = spread(y[k], rows, points, a)) != NULL;
            if (!good)
                return SNIP_NOMEM;
            x = some;
        }
        snip_code code = model_group_fill(g, s->m, x, rows, y + first, a);
        if (code != SNIP_OK)
            return code;
    }
    const model_tables t = { .groups = groups, .group = group };
    return model_tables_embed(s->m, &t, z, a) ? SNIP_OK : SNIP_NOMEM;
}

/* A span of items that one thread embeds. */
typedef struct chunk {
    size_t first, end;
    float *z; /* their rows */
    int numeric;
} chunk;

/* Cuts the items; returns the chunks' number, or (size_t)-1 when memory is out. */
static size_t cut(chunk **out, const model_space *s, const model_item *item, size_t n,
                  float *symbols, float *values)
{
    size_t each = (size_t)s->m->config.points + (s->m->config.statistics ? TOKENS_GUESS : 0);
    size_t most = each < CHUNK_TOKENS ? CHUNK_TOKENS / each : 1, count = 0;
    chunk *c = malloc((2 * n + 1) * sizeof *c);
    if (!c)
        return (size_t)-1;
    for (size_t first = 0, end; values && first < n; first = end) {
        end = first + most < n ? first + most : n;
        c[count++] = (chunk){ first, end, values + first * s->latent, 1 };
    }
    for (size_t first = 0, end; symbols && first < n; first = end) {
        size_t formulas = 0;
        for (end = first; end < n; end++) {
            formulas += end == first || item[end].e.node != item[end - 1].e.node;
            if (formulas > CHUNK_FORMULAS)
                break;
        }
        c[count++] = (chunk){ first, end, symbols + first * s->latent, 0 };
    }
    *out = c;
    return count;
}

static snip_code make_rows(model_space *s, const model_item *item, size_t n, float *symbols,
                           float *values, snip_status *st)
{
    chunk *c;
    /* oneDNN crashes where it finds no memory for its code or a thread no stack. */
    const size_t code = (size_t)24 << 20, each = (size_t)16 << 20;
    size_t count = arena_room(code + (size_t)s->threads * each)
                       ? cut(&c, s, item, n, symbols, values)
                       : (size_t)-1;
    if (count == (size_t)-1)
        return status_nomem(st);
    snip_code worst = SNIP_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads)
    for (size_t i = 0; i < count; i++) {
        arena *a = s->tmp[omp_get_thread_num()];
        arena_reset(a, 0);
        size_t size = c[i].end - c[i].first;
        snip_code code = c[i].numeric ? chunk_values(s, item + c[i].first, size, c[i].z, a)
                                      : chunk_symbols(s, item + c[i].first, size, c[i].z, a);
        model_unit_rows(c[i].z, size, s->latent);
        if (code != SNIP_OK)
#pragma omp atomic write
            worst = code;
    }
    free(c);
    if (worst == SNIP_NOMEM)
        return status_nomem(st);
    if (worst != SNIP_OK)
        return status_fail(st, worst, 0, "a formula or a value has no words in this model");
    return SNIP_OK;
}

/* Shows rows to whoever wants to see them, if they were made. */
static snip_code shown(snip_code code, model_space *s, const model_item *item, size_t n,
                       float *symbols, float *values)
{
    if (code == SNIP_OK && s->seen)
        s->seen(s->seen_context, item, n, symbols, values);
    return code;
}

snip_code model_space_embed(model_space *s, const model_item *item, size_t n, float *symbols,
                            float *values, snip_status *st)
{
    return shown(make_rows(s, item, n, symbols, values, st), s, item, n, symbols, values);
}

snip_code model_space_reread(model_space *s, const model_item *item, size_t n, float *symbols,
                             float *values, snip_status *st)
{
    return shown(make_rows(s, item, n, symbols, NULL, st), s, item, n, symbols, values);
}
