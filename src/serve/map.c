/* map.c - the shared space as a picture: generated laws as a background, a table and its candidates
 * among them.
 *
 * The background is drawn and embedded once, on first use. Its two principal axes are the
 * picture's; they show a part of the space only, so the nearest formulas are listed by their
 * cosines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "data/laws.h"
#include "model/space.h"
#include "regress/rank.h"
#include "serve/serve_int.h"

enum { LAWS = 2000, AXES = 2, TURNS = 60, NEAREST = 12 };

struct serve_map {
    arena *a;
    size_t count, latent;
    const char **text; /* of the formulas, in x0, x1, ... */
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

snip_code serve_embed_json(json_t **out, serve *s, const expr *e, size_t n, arena *a,
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
        json_t *v = json_null();
        if (k < count && place[k] == i) {
            v = json_array();
            for (size_t j = 0; j < latent; j++)
                json_array_append_new(v, json_real(z[k * latent + j]));
            k++;
        }
        json_array_append_new(vectors, v);
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

/* Draws and embeds the background. NULL with a status on failure. */
static struct serve_map *make(const serve *s, snip_status *st)
{
    struct serve_map *m = calloc(1, sizeof *m);
    const model_opened *t = s->o.model;
    status_nomem(st);
    if (!m || !(m->a = arena_new(0)))
        goto failed;
    arena *a = m->a;
    m->latent = (size_t)t->m->config.latent;
    expr *e = arena_array(a, LAWS, sizeof *e);
    model_item *item = arena_array(a, LAWS, sizeof *item);
    size_t *place = arena_array(a, LAWS, sizeof *place);
    double *row = arena_array(a, m->latent, sizeof *row);
    m->text = arena_array(a, LAWS, sizeof *m->text);
    m->z = arena_array(a, LAWS * m->latent, sizeof *m->z);
    m->mean = arena_array(a, m->latent, sizeof *m->mean);
    for (int k = 0; k < AXES; k++)
        m->axis[k] = arena_array(a, m->latent, sizeof *m->axis[k]);
    if (!e || !item || !place || !row || !m->text || !m->z || !m->mean || !m->axis[0] ||
        !m->axis[1])
        goto failed;
    const data_gen gen = { .dims = t->m->config.dims, .points = 50 };
    for (size_t i = 0; i < LAWS; i++) {
        data_sample sample;
        if (data_law_draw(&sample, NULL, &gen, 0, RNG_LIBRARY, i, a) != SNIP_OK)
            goto failed;
        e[i] = sample.e;
    }
    m->count = make_items(item, place, e, LAWS, t, a);
    for (size_t k = 0; k < m->count; k++) {
        m->text[k] = expr_print(e[place[k]], SNIP_INFIX, NULL, 3, a);
        if (!m->text[k])
            goto failed;
    }
    if (m->count < 3 || embed(m->z, item, m->count, s, st) != SNIP_OK)
        goto failed;
    find_axes(m, row);
    return m;
failed:
    serve_map_free(m);
    return NULL;
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

/* The laws nearest to the table, by cosine. Laws of one form have one vector; the first stands for
 * all of them. */
static json_t *nearest_json(const struct serve_map *m, const float *z)
{
    size_t best[NEAREST], n = 0;
    double score[NEAREST];
    for (size_t i = 0; i < m->count; i++) {
        double dot = model_dot(z, m->z + i * m->latent, m->latent);
        size_t at = n, same = 0;
        while (same < n && !(fabs(score[same] - dot) < 1e-6))
            same++;
        if (same < n)
            continue;
        while (at > 0 && score[at - 1] < dot) {
            if (at < NEAREST) {
                score[at] = score[at - 1];
                best[at] = best[at - 1];
            }
            at--;
        }
        if (at < NEAREST) {
            score[at] = dot;
            best[at] = i;
            n += n < NEAREST;
        }
    }
    json_t *out = json_array();
    for (size_t k = 0; k < n; k++)
        json_array_append_new(out,
                              json_pack("{s:o,s:f,s:I}", "formula", text_json(m->text[best[k]]),
                                        "similarity", score[k], "point", (json_int_t)best[k]));
    return out;
}

snip_code serve_map_json(json_t **out, serve *s, const serve_table *t, const expr *e,
                         const char *const *text, size_t n, arena *a, snip_status *st)
{
    const model_opened *t_model = s->o.model;
    if (!t_model || t->p.dim > (size_t)t_model->m->config.dims)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           t_model ? "the model reads fewer inputs than the table has"
                                   : "there is no model");
    const struct serve_map *m = map_of(s, st);
    if (!m)
        return st->code;
    int forms = t_model->m->config.forms;
    regress_inputs all = (regress_inputs)((UINT64_C(1) << t->p.dim) - 1);
    float *z = arena_array(a, m->latent * (n + 1), sizeof *z);
    arena *tmp = arena_new(0);
    json_t *points = json_array(), *candidates = json_array();
    model_space *space = model_space_new(t_model->m, t_model->tree, s->o.threads);
    snip_code code =
        z && tmp && space
            ? regress_problem_embed(&t->p, all, forms ? REGRESS_FORM : REGRESS_EXACT, space, z, st)
            : status_nomem(st);
    for (size_t i = 0; i < m->count && code == SNIP_OK; i++)
        json_array_append_new(points, point_json(m, m->z + i * m->latent, m->text[i]));
    for (size_t i = 0; i < n && code == SNIP_OK; i++) {
        model_words words;
        const model_item item = { .words = &words, .node = MODEL_WHOLE };
        snip_status why;
        if (regress_words(&words, e[i], all, &t->p, t_model, a, tmp, &why) != SNIP_OK)
            continue; /* the model cannot read it: it is not on the map */
        code = model_space_embed(space, &item, 1, z + m->latent, NULL, st);
        if (code == SNIP_OK)
            json_array_append_new(candidates, point_json(m, z + m->latent, text[i]));
    }
    arena_free(tmp);
    model_space_free(space);
    if (code != SNIP_OK) {
        json_decref(points);
        json_decref(candidates);
        return code;
    }
    *out = json_pack("{s:o,s:o,s:o,s:o}", "points", points, "candidates", candidates, "table",
                     point_json(m, z, NULL), "nearest", nearest_json(m, z));
    return *out ? SNIP_OK : status_nomem(st);
}
