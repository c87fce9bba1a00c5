/* map.c - the shared space as a picture: formulas of the library as a background, generated laws
 * where there is none, a table and its candidates among them.
 *
 * The background is made once, on first use. Its two principal axes are the
 * picture's; they show a part of the space only, so the nearest formulas are listed by their
 * cosines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "base/numbers.h"
#include "base/text.h"
#include "data/laws.h"
#include "model/space.h"
#include "regress/rank.h"
#include "serve/serve_int.h"

enum { LAWS = 2000, OF_LIBRARY = 3000, AXES = 2, TURNS = 60, NEAREST = 12 };

struct serve_map {
    arena *a;
    size_t count, latent;
    const char **text; /* of the formulas, in x0, x1, ... */
    size_t *inputs;    /* that they have */
    float *z;          /* their vectors */
    double *mean;      /* of these */
    double *axis[AXES];
};

void serve_map_free(struct serve_map *m)
{
    if (m)
        arena_free(m->a);
    free(m);
}

/* What the model reads of formulas in its own inputs; those it cannot read are left out. Returns
 * how many items were made, each with the place of its formula. */
static size_t make_items(model_item *item, size_t *place, const expr *e, size_t n,
                         const model_opened *t, arena *a)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const model_words_how how = model_reads(t, MODEL_ENTRY, NULL);
        model_words *words = arena_alloc(a, sizeof *words);
        if (!words || model_words_make(words, e[i], &how, a, NULL, NULL) != SNIP_OK)
            continue;
        place[count] = i;
        item[count++] = (model_item){ .words = words, .node = MODEL_WHOLE };
    }
    return count;
}

static snip_code embed(float *z, const model_item *item, size_t n, const serve *s, snip_status *st)
{
    const model_opened *t = s->o.model;
    model_space *space = model_space_new(t->m, t->tree, s->o.threads);
    if (!space)
        return status_nomem(st);
    snip_code code = model_space_embed(space, item, n, z, NULL, st);
    model_space_free(space);
    return code;
}

regress_inputs serve_all_inputs(const regress_problem *p)
{
    return (regress_inputs)((UINT64_C(1) << p->dim) - 1);
}

static json_t *vector_json(const float *z, size_t latent)
{
    json_t *v = json_array();
    for (size_t k = 0; k < latent; k++)
        json_array_append_new(v, json_real(z[k]));
    return v;
}

/* The table's own vector, by a space that is made for it. */
static snip_code embed_table(float *z, const serve *s, const regress_problem *p, snip_status *st)
{
    const model_opened *m = s->o.model;
    regress_view view = m->m->config.forms ? REGRESS_FORM : REGRESS_EXACT;
    model_space *space = model_space_new(m->m, m->tree, s->o.threads);
    snip_code code = space ? regress_problem_embed(p, serve_all_inputs(p), view, space, z, st)
                           : status_nomem(st);
    model_space_free(space);
    return code;
}

snip_code serve_embed_table(json_t **out, serve *s, const serve_table *t, arena *a, snip_status *st)
{
    size_t latent = (size_t)s->o.model->m->config.latent;
    float *z = arena_array(a, latent, sizeof *z);
    snip_code code = z ? embed_table(z, s, &t->p, st) : status_nomem(st);
    if (code == SNIP_OK)
        *out =
            json_pack("{s:[o],s:s}", "vectors", vector_json(z, latent), "model", s->o.model->hash);
    return code;
}

snip_code serve_embed_formulas(json_t **out, serve *s, const expr *e, size_t n, arena *a,
                               snip_status *st)
{
    size_t latent = (size_t)s->o.model->m->config.latent;
    model_item *item = arena_array(a, n, sizeof *item);
    size_t *place = arena_array(a, n, sizeof *place);
    float *z = arena_array(a, n * latent, sizeof *z);
    if (!item || !place || !z)
        return status_nomem(st);
    size_t count = make_items(item, place, e, n, s->o.model, a);
    snip_code code = count ? embed(z, item, count, s, st) : SNIP_OK;
    if (code != SNIP_OK)
        return code;
    json_t *vectors = json_array();
    for (size_t i = 0, k = 0; i < n; i++) {
        int known = k < count && place[k] == i;
        json_array_append_new(vectors, known ? vector_json(z + k * latent, latent) : json_null());
        k += (size_t)known;
    }
    *out = json_pack("{s:o,s:s}", "vectors", vectors, "model", s->o.model->hash);
    return *out ? SNIP_OK : status_nomem(st);
}

/* The two directions of largest variance, by power iteration; what was found is taken out. */
static void find_axes(struct serve_map *m, double *row)
{
    for (size_t k = 0; k < m->latent; k++)
        m->mean[k] = 0;
    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 0; k < m->latent; k++)
            m->mean[k] += m->z[i * m->latent + k] / (double)m->count;
    for (int axis = 0; axis < AXES; axis++) {
        double *v = m->axis[axis];
        for (size_t k = 0; k < m->latent; k++)
            v[k] = k % (size_t)(axis + 2) == 0 ? 1 : -0.5;
        for (int turn = 0; turn < TURNS; turn++) {
            memset(row, 0, m->latent * sizeof *row);
            for (size_t i = 0; i < m->count; i++) {
                double dot = 0;
                for (size_t k = 0; k < m->latent; k++)
                    dot += (m->z[i * m->latent + k] - m->mean[k]) * v[k];
                for (size_t k = 0; k < m->latent; k++)
                    row[k] += dot * (m->z[i * m->latent + k] - m->mean[k]);
            }
            for (int before = 0; before < axis; before++) {
                double dot = 0;
                for (size_t k = 0; k < m->latent; k++)
                    dot += row[k] * m->axis[before][k];
                for (size_t k = 0; k < m->latent; k++)
                    row[k] -= dot * m->axis[before][k];
            }
            double length = 0;
            for (size_t k = 0; k < m->latent; k++)
                length += row[k] * row[k];
            for (size_t k = 0; k < m->latent; k++)
                v[k] = row[k] / sqrt(length > 0 ? length : 1);
        }
    }
}

/* Room for n formulas. Returns 0 when memory is out. */
static int allocate(struct serve_map *m, size_t n)
{
    m->text = arena_array(m->a, n, sizeof *m->text);
    m->inputs = arena_array(m->a, n, sizeof *m->inputs);
    m->z = arena_array(m->a, n * m->latent, sizeof *m->z);
    m->mean = arena_array(m->a, m->latent, sizeof *m->mean);
    for (int k = 0; k < AXES; k++)
        if (!(m->axis[k] = arena_array(m->a, m->latent, sizeof *m->axis[k])))
            return 0;
    return m->text && m->inputs && m->z && m->mean;
}

static int put_formula(struct serve_map *m, size_t k, expr e)
{
    m->text[k] = expr_print(e, SNIP_INFIX, NULL, 3, m->a);
    m->inputs[k] = expr_inputs(e);
    return m->text[k] != NULL;
}

/* Laws as the model learned them. */
static snip_code from_generator(struct serve_map *m, const serve *s, snip_status *st)
{
    const model_opened *t = s->o.model;
    expr *e = arena_array(m->a, LAWS, sizeof *e);
    model_item *item = arena_array(m->a, LAWS, sizeof *item);
    size_t *place = arena_array(m->a, LAWS, sizeof *place);
    const data_gen gen = { .dims = t->m->config.dims, .points = 50 };
    if (!e || !item || !place || !allocate(m, LAWS))
        return status_nomem(st);
    for (size_t i = 0; i < LAWS; i++) {
        data_sample sample;
        if (data_law_draw(&sample, NULL, &gen, 0, RNG_LIBRARY, i, m->a) != SNIP_OK)
            return status_nomem(st);
        e[i] = sample.e;
    }
    m->count = make_items(item, place, e, LAWS, t, m->a);
    for (size_t k = 0; k < m->count; k++)
        if (!put_formula(m, k, e[place[k]]))
            return status_nomem(st);
    return embed(m->z, item, m->count, s, st);
}

/* Formulas of the library, evenly taken; it has their vectors. */
static snip_code from_library(struct serve_map *m, const serve *s, snip_status *st)
{
    const library_matrix *rows = library_rows(s->library);
    size_t n = rows->count < OF_LIBRARY ? rows->count : OF_LIBRARY;
    if (!allocate(m, n))
        return status_nomem(st);
    for (size_t k = 0; k < n; k++) {
        library_row row;
        size_t at = k * rows->count / n;
        snip_code code = library_formula(&row, s->library, at + 1, m->a, st);
        if (code != SNIP_OK)
            return code;
        if (!put_formula(m, k, row.e))
            return status_nomem(st);
        for (size_t j = 0; j < m->latent; j++)
            m->z[k * m->latent + j] = half_value(rows->half[at * m->latent + j]);
    }
    m->count = n;
    return SNIP_OK;
}

/* Makes the background. NULL with a status on failure. */
static struct serve_map *make(serve *s, snip_status *st)
{
    enum { LEAST = 3 }; /* fewer have no two directions */
    struct serve_map *m = calloc(1, sizeof *m);
    if (!m || !(m->a = arena_new(0))) {
        status_nomem(st);
        free(m);
        return NULL;
    }
    m->latent = (size_t)s->o.model->m->config.latent;
    double *row = arena_array(m->a, m->latent, sizeof *row);
    pthread_mutex_lock(&s->library_lock);
    snip_code code = !row         ? status_nomem(st)
                     : s->library ? from_library(m, s, st)
                                  : from_generator(m, s, st);
    pthread_mutex_unlock(&s->library_lock);
    if (code == SNIP_OK && m->count < LEAST)
        code = status_fail(st, SNIP_UNSUPPORTED, 0, "a map needs %d formulas, there %s %zu", LEAST,
                           m->count == 1 ? "is" : "are", m->count);
    if (code != SNIP_OK) {
        serve_map_free(m);
        return NULL;
    }
    find_axes(m, row);
    return m;
}

/* The map, made on first use by whoever comes first. */
static const struct serve_map *map_of(serve *s, snip_status *st)
{
    pthread_mutex_lock(&s->map_lock);
    if (!s->map)
        s->map = make(s, st);
    const struct serve_map *m = s->map;
    pthread_mutex_unlock(&s->map_lock);
    return m;
}

static json_t *point_json(const struct serve_map *m, const float *z, const char *text)
{
    double at[AXES] = { 0, 0 };
    for (int axis = 0; axis < AXES; axis++)
        for (size_t k = 0; k < m->latent; k++)
            at[axis] += (z[k] - m->mean[k]) * m->axis[axis][k];
    return json_pack("{s:o,s:f,s:f}", "formula", text ? text_json(text) : json_null(), "x", at[0],
                     "y", at[1]);
}

static json_t *near_json(const struct serve_map *m, const float *z, const char *text, double score)
{
    json_t *out = point_json(m, z, text);
    json_object_set_new(out, "similarity", json_real(score));
    return out;
}

/* The points nearest to the table by cosine, of those with no more inputs than it has. Laws of one
 * form have one vector; the first stands for all of them. */
static json_t *nearest_points(const struct serve_map *m, const float *z, size_t inputs)
{
    size_t best[NEAREST], n = 0;
    double score[NEAREST];
    for (size_t i = 0; i < m->count; i++) {
        double dot = model_dot(z, m->z + i * m->latent, m->latent);
        size_t same = 0;
        while (same < n && !(fabs(score[same] - dot) < 1e-6))
            same++;
        if (same < n || m->inputs[i] > inputs)
            continue;
        numbers_keep(score, best, &n, NEAREST, dot, i);
    }
    json_t *out = json_array();
    for (size_t k = 0; k < n; k++)
        json_array_append_new(out,
                              near_json(m, m->z + best[k] * m->latent, m->text[best[k]], score[k]));
    return out;
}

/* The same of the whole library, most of which is not on the map. */
static snip_code nearest_in_library(json_t *out, const struct serve_map *m, serve *s,
                                    const float *z, size_t inputs, arena *a, snip_status *st)
{
    library_hit hit[NEAREST];
    size_t found = 0;
    float *row = arena_array(a, m->latent, sizeof *row);
    if (!row)
        return status_nomem(st);
    pthread_mutex_lock(&s->library_lock);
    const library_matrix *rows = library_rows(s->library);
    snip_code code =
        library_search(s->library, z, NEAREST, (int)inputs, s->o.threads, hit, &found, st);
    for (size_t k = 0; k < found && code == SNIP_OK; k++) {
        library_row formula;
        code = library_formula(&formula, s->library, hit[k].id, a, st);
        if (code != SNIP_OK)
            break;
        for (size_t j = 0; j < m->latent; j++)
            row[j] = half_value(rows->half[(hit[k].id - 1) * m->latent + j]);
        const char *text = expr_print(formula.e, SNIP_INFIX, NULL, 3, a);
        json_array_append_new(out, near_json(m, row, text ? text : "", hit[k].score));
    }
    pthread_mutex_unlock(&s->library_lock);
    return code;
}

/* The given formulas as points; those that the model cannot read are left out. */
static snip_code place_candidates(json_t *out, const struct serve_map *m, const serve *s,
                                  const serve_table *t, const serve_candidates *c, arena *a,
                                  snip_status *st)
{
    const model_opened *model = s->o.model;
    float *z = arena_array(a, m->latent, sizeof *z);
    arena *tmp = arena_new(0);
    model_space *space = model_space_new(model->m, model->tree, s->o.threads);
    snip_code code = z && tmp && space ? SNIP_OK : status_nomem(st);
    for (size_t i = 0; i < c->count && code == SNIP_OK; i++) {
        model_words words;
        const model_item item = { .words = &words, .node = MODEL_WHOLE };
        snip_status why;
        if (regress_words(&words, c->e[i], serve_all_inputs(&t->p), &t->p, model, a, tmp, &why) !=
            SNIP_OK)
            continue;
        code = model_space_embed(space, &item, 1, z, NULL, st);
        if (code == SNIP_OK)
            json_array_append_new(out, point_json(m, z, c->text[i]));
    }
    arena_free(tmp);
    model_space_free(space);
    return code;
}

snip_code serve_map_json(json_t **out, serve *s, const serve_table *t, const serve_candidates *c,
                         arena *a, snip_status *st)
{
    const struct serve_map *m = map_of(s, st);
    if (!m)
        return st->code;
    float *z = arena_array(a, m->latent, sizeof *z);
    json_t *points = json_array(), *candidates = json_array(), *nearest = json_array();
    snip_code code = z ? embed_table(z, s, &t->p, st) : status_nomem(st);
    if (code == SNIP_OK)
        code = place_candidates(candidates, m, s, t, c, a, st);
    for (size_t i = 0; i < m->count && code == SNIP_OK; i++)
        json_array_append_new(points, point_json(m, m->z + i * m->latent, m->text[i]));
    if (code == SNIP_OK && s->library) {
        code = nearest_in_library(nearest, m, s, z, t->p.dim, a, st);
    } else if (code == SNIP_OK) {
        json_decref(nearest);
        nearest = nearest_points(m, z, t->p.dim);
    }
    if (code == SNIP_OK)
        *out = json_pack("{s:O,s:O,s:o,s:O}", "points", points, "candidates", candidates, "table",
                         point_json(m, z, NULL), "nearest", nearest);
    json_decref(points);
    json_decref(candidates);
    json_decref(nearest);
    return code;
}
