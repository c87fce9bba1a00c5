/* space.c - see space.h. */
#include "model/space.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "model/pack.h"

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

double model_nearer(const float *symbols, const float **values, int turned, size_t latent)
{
    double near = model_dot(symbols, *values, latent);
    double other = turned ? model_dot(symbols, *values + latent, latent) : near;
    if (other > near)
        *values += latent;
    return other > near ? other : near;
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

model_words_how model_space_reads(const model_space *s, model_reading reading)
{
    return (model_words_how){ .m = s->m, .tree = s->tree, .reading = reading };
}

snip_code model_space_words(const model_words **out, const model_space *s, expr e,
                            model_reading reading, arena *a, snip_status *st)
{
    const model_words_how how = model_space_reads(s, reading);
    model_words *words = arena_alloc(a, sizeof *words);
    *out = words;
    return words ? model_words_make(words, e, &how, a, NULL, st) : status_nomem(st);
}

/* Whether item i has the formula of the one before it; then they are parts of one sequence. */
static int goes_on(const model_item *item, size_t i)
{
    return i > 0 && item[i].words == item[i - 1].words;
}

/* Symbols of a chunk of items; z has a row for each. */
static snip_code chunk_symbols(const model_space *s, const model_item *item, size_t n, float *z,
                               arena *a)
{
    size_t formulas = 0, tokens = 0;
    for (size_t i = 0; i < n; i++) {
        assert(item[i].words);
        formulas += !goes_on(item, i);
        tokens += goes_on(item, i) ? 0 : item[i].words->tokens.count;
    }
    model_pack p;
    if (!model_pack_new(&p, s->m, formulas, tokens, n, a))
        return SNIP_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const data_tokens *t = &item[i].words->tokens;
        size_t node = item[i].node;
        if (!goes_on(item, i))
            model_pack_formula(&p, item[i].words);
        if (node == MODEL_WHOLE)
            model_pack_row(&p, 0, t->count);
        else
            model_pack_row(&p, (size_t)t->first[node], (size_t)t->end[node]);
    }
    return model_formulas_embed(s->m, &p.f, z, a) ? SNIP_OK : SNIP_NOMEM;
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

/* What the model reads of items that share x. */
static snip_code fill_group(model_table_group *g, const model_space *s, const model_item *item,
                            size_t n, arena *a)
{
    size_t points = (size_t)s->m->config.points, rows = item->rows;
    const double **y = arena_array(a, n, sizeof *y);
    if (!y)
        return SNIP_NOMEM;
    for (size_t k = 0; k < n; k++)
        y[k] = item[k].y;
    *g = (model_table_group){
        .points = points < rows ? points : rows, .dim = item->dim, .form = item->form, .count = n
    };
    const double *const *x = item->x;
    if (points && points < rows) {
        const double **some = arena_array(a, (size_t)g->dim, sizeof *some);
        int good = some != NULL;
        for (int j = 0; j < g->dim && good; j++)
            good = (some[j] = spread(x[j], rows, points, a)) != NULL;
        for (size_t k = 0; k < n && good; k++)
            good = (y[k] = spread(y[k], rows, points, a)) != NULL;
        if (!good)
            return SNIP_NOMEM;
        x = some;
    }
    return model_group_fill(g, s->m, x, rows, y, a);
}

/* Of the n items of a group that cannot be read, the first that cannot be read alone. */
static size_t find_unreadable(const model_space *s, const model_item *item, size_t n, arena *a)
{
    model_table_group alone;
    size_t k = 0;
    while (k + 1 < n && fill_group(&alone, s, item + k, 1, a) != SNIP_UNSUPPORTED)
        k++;
    return k;
}

/* Values of a chunk of items; z has a row for each. *failed is the item that has no tokens. */
static snip_code chunk_values(const model_space *s, const model_item *item, size_t n, float *z,
                              size_t *failed, arena *a)
{
    model_table_group *group = arena_array(a, n, sizeof *group);
    size_t groups = 0;
    if (!group)
        return SNIP_NOMEM;
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first;
             end < n && item[end].x == item[first].x && item[end].form == item[first].form; end++)
            ;
        snip_code code = fill_group(&group[groups++], s, item + first, end - first, a);
        if (code == SNIP_UNSUPPORTED)
            *failed = first + find_unreadable(s, item + first, end - first, a);
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
            formulas += end == first || !goes_on(item, end);
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
    size_t count = nn_room(s->threads) ? cut(&c, s, item, n, symbols, values) : (size_t)-1;
    if (count == (size_t)-1)
        return status_nomem(st);
    int no_memory = 0;
    size_t failed = n; /* the first item without tokens, whichever thread met it */
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads)
    for (size_t i = 0; i < count; i++) {
        arena *a = s->tmp[omp_get_thread_num()];
        arena_reset(a, 0);
        size_t size = c[i].end - c[i].first, which = 0;
        snip_code code = c[i].numeric ? chunk_values(s, item + c[i].first, size, c[i].z, &which, a)
                                      : chunk_symbols(s, item + c[i].first, size, c[i].z, a);
        if (code == SNIP_OK)
            model_unit_rows(c[i].z, size, s->latent);
        else
#pragma omp critical(model_space_failed)
        {
            no_memory |= code == SNIP_NOMEM;
            if (code != SNIP_NOMEM && c[i].first + which < failed)
                failed = c[i].first + which;
        }
    }
    free(c);
    if (no_memory)
        return status_nomem(st);
    if (failed < n)
        return status_fail(st, SNIP_UNSUPPORTED, failed,
                           "table %zu holds a value that the model cannot express", failed + 1);
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
