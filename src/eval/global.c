/* global.c - retrieval among many pairs, and the geometry of the space; see suites.h. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/streams.h"
#include "data/gen.h"
#include "eval/suites.h"

enum { BATCH = 512 };

/* The sample with noise on y and with some of its rows only, if asked. Returns 0 when memory is
 * out. */
static int disturb(data_sample *s, const eval_how *how, uint64_t index, arena *a)
{
    size_t n = s->points, rows = how->rows && how->rows < n ? how->rows : n;
    if (!(how->noise > 0) && rows == n)
        return 1;
    int *chosen = arena_array(a, n, sizeof *chosen);
    const double **x = arena_array(a, (size_t)s->dim, sizeof *x);
    rng r;
    streams_rng(&r, how->seed, STREAMS_PAIRS_NOISE, index);
    const double *y = data_noisy(s->y, n, how->noise, &r, a);
    if (!chosen || !x || !y)
        return 0;
    for (size_t i = 0; i < n; i++)
        chosen[i] = (int)i;
    rng_shuffle(&r, chosen, (int)n);
    for (int j = 0; j < s->dim; j++)
        if (!(x[j] = numbers_at(s->x[j], chosen, rows, a)))
            return 0;
    s->x = x;
    s->y = numbers_at(y, chosen, rows, a);
    s->points = rows;
    return s->y != NULL;
}

/* Draws held-out pairs [first, end) and embeds them: symbols and values start at pair `first`. */
static snip_code embed_pairs(model_space *s, float *symbols, float *values, size_t first,
                             size_t end, const eval_how *how, snip_status *st)
{
    const data_gen gen = { .dims = s->m->vocab->dims, .points = DATA_POINTS };
    int threads = s->threads, failed = 0;
    arena **a = calloc((size_t)threads, sizeof *a);
    data_sample *sample = malloc(BATCH * sizeof *sample);
    model_item *item = malloc(BATCH * sizeof *item);
    model_words *words = malloc(BATCH * sizeof *words);
    const model_words_how reads = model_space_reads(s, MODEL_EXACT);
    for (int t = 0; a && t < threads; t++)
        failed |= !(a[t] = arena_new(0));
    snip_code code = !a || !sample || !item || !words || failed ? status_nomem(st) : SNIP_OK;
    progress bar;
    progress_start(&bar, "pairs embedded", end - first, how->show);
    for (size_t at = first; at < end && code == SNIP_OK; at += BATCH) {
        size_t n = end - at < BATCH ? end - at : BATCH;
        for (int t = 0; t < threads; t++)
            arena_reset(a[t], 0);
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
        for (size_t i = 0; i < n; i++)
            if (data_sample_draw(&sample[i], &gen, how->seed, RNG_HELD_OUT, at + i,
                                 a[omp_get_thread_num()]) != SNIP_OK ||
                !disturb(&sample[i], how, at + i, a[omp_get_thread_num()]) ||
                model_words_make(&words[i], sample[i].e, &reads, a[omp_get_thread_num()], NULL,
                                 NULL) != SNIP_OK) /* the generator's formulas all have words */
#pragma omp atomic write
                failed = 1;
        if (failed) {
            code = status_nomem(st);
            break;
        }
        for (size_t i = 0; i < n; i++)
            item[i] = (model_item){ .words = &words[i],
                                    .node = MODEL_WHOLE,
                                    .x = sample[i].x,
                                    .dim = sample[i].dim,
                                    .rows = sample[i].points,
                                    .y = sample[i].y };
        size_t from = (at - first) * s->latent;
        code = model_space_embed(s, item, n, symbols + from, values + from, st);
        progress_at(&bar, at + n - first);
    }
    progress_end(&bar);
    for (int t = 0; a && t < threads; t++)
        arena_free(a[t]);
    free(a);
    free(sample);
    free(item);
    free(words);
    return code;
}

/* Both matrices of all pairs: each rank embeds its share, then everybody has all rows. */
static snip_code embed_shares(model_space *s, float *symbols, float *values, size_t n,
                              const eval_how *how, snip_status *st)
{
    size_t count = (size_t)ranks_count(how->ranks), me = (size_t)ranks_me(how->ranks);
    size_t first = n * me / count, end = n * (me + 1) / count, latent = s->latent;
    if (count == 1)
        return embed_pairs(s, symbols, values, 0, n, how, st);
    float *own = malloc((2 * (end - first) + 1) * latent * sizeof *own);
    size_t *sizes = malloc(count * sizeof *sizes);
    snip_code code = own && sizes ? SNIP_OK : status_nomem(st);
    float *own_values = own ? own + (end - first) * latent : NULL;
    if (code == SNIP_OK)
        code = embed_pairs(s, own, own_values, first, end, how, st);
    if (ranks_max(how->ranks, code != SNIP_OK) || code != SNIP_OK) {
        free(own);
        free(sizes);
        return code != SNIP_OK ? code : status_fail(st, SNIP_IO, 0, "another rank failed");
    }
    for (size_t r = 0; r < count; r++)
        sizes[r] = n * (r + 1) / count - n * r / count;
    ranks_gather_floats(how->ranks, own, symbols, sizes, latent);
    ranks_gather_floats(how->ranks, own_values, values, sizes, latent);
    free(own);
    free(sizes);
    return SNIP_OK;
}

/* Adds up counts of all ranks; they are small enough for float32 to hold exactly. */
static void add_counts(uint32_t *count, size_t n, float *tmp, ranks *r)
{
    for (size_t i = 0; i < n; i++)
        tmp[i] = (float)count[i];
    ranks_sum_begin(r, tmp, n);
    ranks_wait(r);
    for (size_t i = 0; i < n; i++)
        count[i] = (uint32_t)tmp[i];
}

json_t *eval_retrieval_json(const eval_retrieval *r)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "r1", eval_figure_json(r->r1), "r10",
                     eval_figure_json(r->r10), "ndcg10", eval_figure_json(r->ndcg10), "mrr",
                     eval_figure_json(r->mrr), "median_rank", eval_figure_json(r->median_rank));
}

snip_code eval_global(json_t **out, model_space *s, const eval_how *how, snip_status *st)
{
    size_t n = how->pairs, count = (size_t)ranks_count(how->ranks);
    size_t me = (size_t)ranks_me(how->ranks), first = n * me / count, end = n * (me + 1) / count;
    float *symbols = malloc((n + 1) * s->latent * sizeof *symbols);
    float *values = malloc((n + 1) * s->latent * sizeof *values);
    uint32_t *above[EVAL_DIRECTIONS] = { calloc(n + 1, sizeof **above),
                                         calloc(n + 1, sizeof **above) };
    snip_code code = symbols && values && above[0] && above[1] ? SNIP_OK : status_nomem(st);
    double start = clock_now();
    *out = NULL;
    if (ranks_max(how->ranks, code != SNIP_OK) && code == SNIP_OK)
        code = status_nomem(st); /* of another rank */
    if (code == SNIP_OK)
        code = embed_shares(s, symbols, values, n, how, st);
    double embedded = clock_now(), ranked = embedded;
    if (code == SNIP_OK) {
        progress bar;
        progress_start(&bar, "pairs ranked", end - first, how->show);
        const eval_pairs pairs = { symbols, values, NULL, n, s->latent };
        if (!eval_places(above[0], above[1], &pairs, first, end, s->threads, &bar))
            code = status_nomem(st);
        progress_end(&bar);
        ranked = clock_now();
        if (ranks_max(how->ranks, code != SNIP_OK) && code == SNIP_OK)
            code = status_nomem(st);
    }
    eval_retrieval figures[EVAL_DIRECTIONS];
    for (int d = 0; d < EVAL_DIRECTIONS && code == SNIP_OK && count > 1; d++)
        add_counts(above[d], n, symbols, how->ranks);
    for (int d = 0; d < EVAL_DIRECTIONS && code == SNIP_OK; d++) {
        for (size_t i = 0; i < n; i++)
            above[d][i]++; /* from how many are above to a rank */
        if (!eval_retrieval_of(&figures[d], above[d], n, how->seed, s->threads))
            code = status_nomem(st);
    }
    if (code == SNIP_OK)
        *out = json_pack("{s:I,s:f,s:{s:f,s:f},s:f,s:o,s:o}", "pairs", (json_int_t)n, "seconds",
                         clock_now() - start, "time", "embed", embedded - start, "rank",
                         ranked - embedded, "rank_gflops",
                         2.0 * (double)n * (double)(end - first) * (double)s->latent * 1e-9 /
                             fmax(ranked - embedded, 1e-9),
                         "f2y", eval_retrieval_json(&figures[0]), "y2f",
                         eval_retrieval_json(&figures[1]));
    free(symbols);
    free(values);
    free(above[0]);
    free(above[1]);
    return code;
}

/* Rows of both sides, and room for one. */
typedef struct clouds {
    const float *symbols, *values;
    size_t n, width;
    double *tmp;
} clouds;

/* Distance between the centroids. */
static double gap(const void *context, const uint32_t *times)
{
    const clouds *c = context;
    double square = 0, weight = 0;
    memset(c->tmp, 0, c->width * sizeof *c->tmp);
    for (size_t i = 0; i < c->n; i++) {
        double w = times ? times[i] : 1;
        weight += w;
        for (size_t j = i * c->width; j < (i + 1) * c->width && w > 0; j++)
            c->tmp[j - i * c->width] += w * ((double)c->symbols[j] - (double)c->values[j]);
    }
    for (size_t j = 0; j < c->width; j++)
        square += c->tmp[j] * c->tmp[j] / (weight * weight);
    return sqrt(square);
}

static json_t *plane_json(const double *plane, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("[f,f]", plane[2 * i], plane[2 * i + 1]));
    return list;
}

/* Components needed for each share of the variance. */
static json_t *dims_json(const double *share, size_t width)
{
    static const int percents[] = { 50, 90, 95, 99 };
    json_t *o = json_object();
    for (size_t k = 0; k < sizeof percents / sizeof *percents; k++) {
        char name[8];
        double sum = 0;
        size_t dims = 0;
        while (dims < width && sum < percents[k] / 100.0 - 1e-12)
            sum += share[dims++];
        snprintf(name, sizeof name, "%d", percents[k]);
        json_object_set_new(o, name, json_integer((json_int_t)dims));
    }
    return o;
}

snip_code eval_geometry(json_t **out, model_space *s, const eval_how *how, snip_status *st)
{
    size_t n = EVAL_PLANE_PAIRS, width = s->latent;
    float *rows = malloc(2 * n * width * sizeof *rows);
    double *share = malloc(width * sizeof *share), *plane = malloc(4 * n * sizeof *plane);
    double *tmp = malloc(width * sizeof *tmp);
    snip_code code = rows && share && plane && tmp ? SNIP_OK : status_nomem(st);
    *out = NULL;
    if (code == SNIP_OK)
        code = embed_pairs(s, rows, rows + n * width, 0, n, how, st);
    if (code == SNIP_OK && !eval_pca(share, plane, rows, 2 * n, width))
        code = status_fail(st, SNIP_UNSUPPORTED, 0, "the principal components cannot be computed");
    if (code == SNIP_OK) {
        const clouds both = { rows, rows + n * width, n, width, tmp };
        json_t *explained = json_array();
        for (size_t j = 0; j < width; j++)
            json_array_append_new(explained, json_real(share[j]));
        *out = json_pack("{s:I,s:o,s:o,s:o,s:{s:o,s:o}}", "pairs", (json_int_t)n, "gap",
                         eval_figure_json(eval_bootstrap(gap, &both, n, how->seed)), "explained",
                         explained, "dims", dims_json(share, width), "points", "f",
                         plane_json(plane, n), "y", plane_json(plane + 2 * n, n));
    }
    free(rows);
    free(share);
    free(plane);
    free(tmp);
    return code;
}
