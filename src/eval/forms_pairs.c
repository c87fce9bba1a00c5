/* forms_pairs.c - distinct forms from a stream, retrieval among them, and copies of formulas with
 * another constant; see forms.h. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/streams.h"
#include "base/text.h"
#include "data/laws.h"
#include "data/tokens.h"
#include "eval/forms.h"

enum { BATCH = 512 };

/* Distinct forms ------------------------------------------------------------------------------ */

snip_code forms_stream_open(forms_stream *out, rng_stream stream, size_t points, int all_free,
                            size_t constants, size_t want, snip_status *st)
{
    *out = (forms_stream){ .stream = stream,
                           .points = points,
                           .all_free = all_free,
                           .constants = constants,
                           .want = want,
                           .room = 64 };
    while (out->room < 2 * want)
        out->room *= 2;
    out->seen = calloc(out->room, sizeof *out->seen);
    return out->seen ? SNIP_OK : status_nomem(st);
}

void forms_stream_close(forms_stream *s)
{
    free(s->seen);
    s->seen = NULL;
}

/* Whether the hash is new; it is not from now on. */
static int is_new(forms_stream *s, uint64_t hash)
{
    hash += hash == 0; /* 0 marks an empty place */
    size_t at = (size_t)hash & (s->room - 1);
    while (s->seen[at] && s->seen[at] != hash)
        at = (at + 1) & (s->room - 1);
    int fresh = !s->seen[at];
    s->seen[at] = hash;
    return fresh;
}

static snip_code draw(forms_sample *out, const forms_stream *s, uint64_t index, int law,
                      const forms_context *c, arena *a)
{
    const data_gen gen = { .dims = DATA_DIMS_MAX, .points = s->points };
    *out = (forms_sample){ .law = law };
    snip_code code = law ? data_law_draw(&out->s, NULL, &gen, c->how->seed, s->stream, index, a)
                         : data_sample_draw(&out->s, &gen, c->how->seed, s->stream, index, a);
    if (code != SNIP_OK)
        return code;
    expr e = out->s.plain.node ? out->s.plain : out->s.e;
    if (s->all_free) {
        if (!(e.node = arena_copy(a, e.node, e.count * sizeof *e.node)))
            return SNIP_NOMEM;
        expr_set_fixed(e, 0);
    }
    code = expr_canonical(&out->form, e, a, NULL);
    /* One word each, a beginning and an end. */
    out->usable = code == SNIP_OK && out->form.core.count > 0 &&
                  out->form.core.count + 2 <= DATA_SEQUENCE_MAX;
    if (out->usable && s->constants) {
        size_t *node = arena_array(a, out->form.core.count, sizeof *node);
        if (!node)
            return SNIP_NOMEM;
        out->usable = expr_constants(out->form.core, node) <= s->constants;
    }
    return code == SNIP_NOMEM ? code : SNIP_OK;
}

snip_code forms_stream_next(forms_sample **out, size_t *n, forms_stream *s, size_t most,
                            forms_context *c, snip_status *st)
{
    size_t kept = 0;
    forms_sample *all = arena_array(c->keep[0], most, sizeof *all);
    int failed = !all;
    *out = all;
    *n = 0;
    while (!failed && kept == 0 && s->got[0] + s->got[1] < s->want) {
#pragma omp parallel for schedule(dynamic, 4) num_threads(c->s->threads)
        for (size_t i = 0; i < most; i++)
            if (draw(&all[i], s, s->next + i / 2, i % 2 == 1, c, c->keep[omp_get_thread_num()]) !=
                SNIP_OK)
#pragma omp atomic write
                failed = 1;
        s->next += most / 2;
        for (size_t i = 0; i < most && !failed; i++) {
            int law = all[i].law;
            size_t quota = law ? s->want / 2 : s->want - s->want / 2;
            if (s->got[law] < quota && all[i].usable && is_new(s, all[i].form.hash)) {
                s->got[law]++;
                all[kept++] = all[i];
            }
        }
    }
    *n = kept;
    return failed ? status_nomem(st) : SNIP_OK;
}

snip_code forms_words(const model_words **out, const forms_sample *f, const forms_context *c,
                      snip_status *st)
{
    return c->form ? model_space_words(out, c->s, f->form.core, MODEL_CORE, c->keep[0], st)
                   : model_space_words(out, c->s, f->s.e, MODEL_EXACT, c->keep[0], st);
}

/* Retrieval ----------------------------------------------------------------------------------- */

static const char *pair_label(const forms_sample *f, int turned, const forms_context *c)
{
    text label = { .a = c->keep[0] };
    if (!c->s->seen)
        return NULL;
    text_add(&label, "\"part\":\"retrieval\",\"kind\":\"%s\",\"turned\":%d",
             f->law ? "law" : "snip", turned);
    return text_end(&label);
}

/* The rows of a few pairs. `turned` is NULL in the exact view. */
static snip_code embed_batch(float *symbols, float *values, float *turned, const forms_sample *f,
                             size_t n, forms_context *c, snip_status *st)
{
    arena *a = c->keep[0];
    model_item *item = arena_array(a, n, sizeof *item);
    if (!item)
        return status_nomem(st);
    snip_code code = SNIP_OK;
    for (size_t i = 0; i < n && code == SNIP_OK; i++) {
        item[i] = (model_item){ .node = MODEL_WHOLE,
                                .x = f[i].s.x,
                                .dim = f[i].s.dim,
                                .rows = f[i].s.points,
                                .y = f[i].s.y,
                                .form = c->form,
                                .label = pair_label(&f[i], 0, c) };
        code = forms_words(&item[i].words, &f[i], c, st);
    }
    if (code == SNIP_OK)
        code = model_space_embed(c->s, item, n, symbols, values, st);
    if (code != SNIP_OK || !turned)
        return code;
    for (size_t i = 0; i < n; i++) {
        double *y = arena_array(a, f[i].s.points, sizeof *y);
        if (!y)
            return status_nomem(st);
        for (size_t k = 0; k < f[i].s.points; k++)
            y[k] = -f[i].s.y[k];
        item[i].y = y;
        item[i].label = pair_label(&f[i], 1, c);
    }
    return model_space_embed(c->s, item, n, NULL, turned, st);
}

/* Figures of all queries, and of those that are laws or expressions of the SNIP generator. */
static snip_code retrieval_json(json_t *out, const uint32_t *above, const char *law, size_t n,
                                uint32_t *rank, const char *way, const forms_context *c,
                                snip_status *st)
{
    static const char *const kinds[3] = { "snip", "laws", "all" };
    for (int kind = 0; kind < 3; kind++) {
        eval_retrieval figures;
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            if (kind == 2 || law[i] == kind)
                rank[count++] = above[i] + 1;
        if (count == 0)
            continue;
        if (!eval_retrieval_of(&figures, rank, count, c->how->seed, c->s->threads))
            return status_nomem(st);
        json_t *of = json_object_get(out, kinds[kind]);
        if (!of)
            json_object_set_new(out, kinds[kind], of = json_object());
        json_object_set_new(of, way, eval_retrieval_json(&figures));
    }
    return SNIP_OK;
}

/* Everything that the retrieval holds. */
typedef struct pool {
    size_t n;
    float *symbols, *values, *turned;
    uint32_t *above[EVAL_DIRECTIONS], *rank;
    char *law;
} pool;

static int pool_make(pool *p, size_t n, size_t latent, int turned)
{
    *p = (pool){ .n = n,
                 .symbols = malloc(n * latent * sizeof(float)),
                 .values = malloc(n * latent * sizeof(float)),
                 .turned = turned ? malloc(n * latent * sizeof(float)) : NULL,
                 .above = { calloc(n, sizeof(uint32_t)), calloc(n, sizeof(uint32_t)) },
                 .rank = calloc(n, sizeof(uint32_t)),
                 .law = calloc(n, 1) };
    return p->symbols && p->values && (p->turned || !turned) && p->above[0] && p->above[1] &&
           p->rank && p->law;
}

static void pool_free(pool *p)
{
    free(p->symbols);
    free(p->values);
    free(p->turned);
    free(p->above[0]);
    free(p->above[1]);
    free(p->rank);
    free(p->law);
}

static snip_code pool_fill(pool *p, forms_context *c, snip_status *st)
{
    forms_stream s;
    snip_code code = forms_stream_open(&s, RNG_HELD_OUT, DATA_POINTS, 0, 0, p->n, st);
    size_t at = 0, n = 1, latent = c->s->latent;
    progress bar;
    progress_start(&bar, "forms embedded", p->n, c->how->show);
    while (code == SNIP_OK && n > 0) {
        forms_sample *f;
        forms_batch(c);
        code = forms_stream_next(&f, &n, &s, BATCH, c, st);
        if (code == SNIP_OK && n > 0)
            code = embed_batch(p->symbols + at * latent, p->values + at * latent,
                               p->turned ? p->turned + at * latent : NULL, f, n, c, st);
        for (size_t i = 0; i < n && code == SNIP_OK; i++)
            p->law[at + i] = (char)f[i].law;
        at += n;
        progress_at(&bar, at);
    }
    progress_end(&bar);
    forms_stream_close(&s);
    return code;
}

snip_code forms_retrieval(json_t **out, forms_context *c, snip_status *st)
{
    size_t n = c->how->pairs;
    pool p;
    progress bar;
    snip_code code = pool_make(&p, n, c->s->latent, c->form) ? SNIP_OK : status_nomem(st);
    if (code == SNIP_OK)
        code = pool_fill(&p, c, st);
    *out = json_pack("{s:I,s:f}", "forms", (json_int_t)n, "chance_r10", fmin(1, 10 / (double)n));
    if (code == SNIP_OK) {
        progress_start(&bar, "forms ranked", n, c->how->show);
        const eval_pairs pairs = { p.symbols, p.values, p.turned, n, c->s->latent };
        if (!eval_places(p.above[0], p.above[1], &pairs, 0, n, c->s->threads, &bar))
            code = status_nomem(st);
        progress_end(&bar);
    }
    for (int d = 0; d < EVAL_DIRECTIONS && code == SNIP_OK; d++)
        code = retrieval_json(*out, p.above[d], p.law, n, p.rank, eval_direction_names[d], c, st);
    pool_free(&p);
    return code;
}

/* Copies -------------------------------------------------------------------------------------- */

enum { COPIES = 16, TARGETS = 16 }; /* of a formula, at most; formulas embedded at a time */

/* A formula, then its copies. */
typedef struct family {
    data_sample s;
    expr e[1 + COPIES];
    const double *y[1 + COPIES];
    size_t n;
} family;

static snip_code draw_family(family *f, int law, size_t index, const forms_context *c, arena *a)
{
    const data_gen gen = { .dims = DATA_DIMS_MAX, .points = DATA_POINTS };
    uint64_t from = streams_index(law ? STREAMS_COPIED_LAWS : STREAMS_COPIES, index);
    snip_code code = law ? data_law_draw(&f->s, NULL, &gen, c->how->seed, RNG_HELD_OUT, from, a)
                         : data_sample_draw(&f->s, &gen, c->how->seed, RNG_HELD_OUT, from, a);
    if (code != SNIP_OK)
        return code;
    data_behaviours seen = { .rows = f->s.points, .a = a };
    size_t *constant = arena_array(a, f->s.e.count, sizeof *constant);
    rng r;
    forms_rng(&r, c->how, FORMS_DRAW_COPIES, 2 * index + (uint64_t)law);
    if (!constant || data_behaviours_add(&seen, f->s.y) < 0)
        return SNIP_NOMEM;
    f->e[0] = f->s.e;
    f->y[0] = f->s.y;
    f->n = 1;
    size_t constants = expr_constants(f->s.e, constant);
    for (int k = 0; k < 2 * COPIES && constants && f->n <= COPIES; k++) {
        double *y = arena_array(a, f->s.points, sizeof *y);
        expr e = data_constant_changed(f->s.e, constant, constants, &r, a);
        if (!y || !e.node || expr_eval(e, f->s.x, f->s.points, y, a) == (size_t)-1)
            return SNIP_NOMEM;
        int fresh = data_values_fit(y, f->s.points) ? data_behaviours_add(&seen, y) : 0;
        if (fresh < 0)
            return SNIP_NOMEM;
        f->e[f->n] = e;
        f->y[f->n] = y;
        f->n += (size_t)fresh;
    }
    return SNIP_OK;
}

/* Percentile ranks of a few originals, in pr[direction]. */
static snip_code rank_families(double *pr[EVAL_DIRECTIONS], const family *f, size_t n, size_t first,
                               int law, forms_context *c, snip_status *st)
{
    size_t most = n * (1 + COPIES), count = 0, width = c->s->latent;
    arena *a = c->keep[0];
    model_item *item = arena_array(a, most, sizeof *item);
    float *symbols = arena_array(a, most * width, sizeof *symbols);
    float *values = arena_array(a, most * width, sizeof *values);
    if (!item || !symbols || !values)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < f[i].n; k++) {
            text label = { .a = a };
            text_add(&label, "\"part\":\"copies\",\"kind\":\"%s\",\"target\":%zu,\"copy\":%zu",
                     law ? "law" : "snip", first + i, k);
            const model_words *words;
            snip_code code = model_space_words(&words, c->s, f[i].e[k], MODEL_EXACT, a, st);
            if (code != SNIP_OK)
                return code;
            item[count++] = (model_item){ .words = words,
                                          .node = MODEL_WHOLE,
                                          .x = f[i].s.x,
                                          .dim = f[i].s.dim,
                                          .rows = f[i].s.points,
                                          .y = f[i].y[k],
                                          .label = text_end(&label) };
        }
    snip_code code = model_space_embed(c->s, item, count, symbols, values, st);
    for (size_t i = 0, at = 0; i < n && code == SNIP_OK; at += f[i++].n)
        for (int d = 0; d < EVAL_DIRECTIONS; d++) {
            const float *query = (d ? values : symbols) + at * width;
            const float *answer = (d ? symbols : values) + at * width;
            double other[COPIES];
            for (size_t k = 1; k < f[i].n; k++)
                other[k - 1] = model_dot(query, answer + k * width, width);
            pr[d][first + i] = eval_percentile(model_dot(query, answer, width), other, f[i].n - 1);
        }
    return code;
}

snip_code forms_copies(json_t **out, forms_context *c, snip_status *st)
{
    size_t n = c->how->targets;
    double *buffer = malloc((2 * n + 1) * sizeof *buffer);
    double *pr[EVAL_DIRECTIONS] = { buffer, buffer ? buffer + n : NULL };
    family *f = malloc(TARGETS * sizeof *f);
    snip_code code = buffer && f ? SNIP_OK : status_nomem(st);
    *out = json_object();
    for (int law = 0; law < 2 && code == SNIP_OK; law++) {
        size_t copies = 0, with = 0;
        for (size_t first = 0; first < n && code == SNIP_OK; first += TARGETS) {
            size_t count = n - first < TARGETS ? n - first : TARGETS;
            forms_batch(c);
            for (size_t i = 0; i < count && code == SNIP_OK; i++) {
                if (draw_family(&f[i], law, first + i, c, c->keep[0]) != SNIP_OK)
                    code = status_nomem(st);
                copies += code == SNIP_OK ? f[i].n - 1 : 0;
                with += code == SNIP_OK && f[i].n > 1;
            }
            if (code == SNIP_OK)
                code = rank_families(pr, f, count, first, law, c, st);
        }
        json_t *o =
            json_pack("{s:I,s:I}", "formulas", (json_int_t)with, "copies", (json_int_t)copies);
        for (int d = 0; d < EVAL_DIRECTIONS && code == SNIP_OK; d++)
            json_object_set_new(o, eval_direction_names[d],
                                eval_figure_json(eval_mean(pr[d], n, c->how->seed)));
        json_object_set_new(*out, law ? "laws" : "snip", o);
    }
    free(buffer);
    free(f);
    return code;
}
