/* corpora.c - formulas that the generator did not make: Feynman, Classic, Strogatz; see suites.h.
 *
 * Inputs are standardised for the numeric encoder. In the paper's protocol the formula stays in its
 * own units; in the consistent view the symbolic encoder reads it, and each edit of it, as a
 * function of the standardised inputs, as all formulas are in training. What is edited is the
 * formula itself, so both views have the same edits and values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/text.h"
#include "data/corpora.h"
#include "data/tokens.h"
#include "eval/suites.h"

enum { POINTS = 200, POOLED = DATA_CORPORA, POOLS };

typedef enum view { PAPER, CONSISTENT, VIEWS } view;
static const char *const view_names[VIEWS] = { "paper", "consistent" };

/* The usable formulas of all corpora, in their order. */
typedef struct collection {
    eval_target *target;   /* read in both views */
    const char **function; /* data_formula_function of each */
    size_t count;
    size_t first[DATA_CORPORA + 1];
} collection;

/* Columns of mean 0 and deviation 1, with what was taken away. Returns 0 when memory is out, -1 if
 * a column does not vary. */
static int standardise(double ***out, double *mean, double *deviation, const double *const *x,
                       size_t columns, size_t rows, arena *a)
{
    *out = arena_array(a, columns, sizeof **out);
    for (size_t j = 0; *out && j < columns; j++) {
        double *to = (*out)[j] = arena_array(a, rows, sizeof *to), variance;
        if (!to)
            return 0;
        numbers_moments(x[j], rows, &mean[j], &variance);
        deviation[j] = sqrt(variance);
        if (!(deviation[j] > 0))
            return -1;
        for (size_t i = 0; i < rows; i++)
            to[i] = (x[j][i] - mean[j]) / deviation[j];
    }
    return *out ? 1 : 0;
}

/* mean + deviation * x_j for each input. NULL when memory is out. */
static expr *raw_inputs(const double *mean, const double *deviation, size_t n, arena *a)
{
    expr *by = arena_array(a, n, sizeof *by);
    for (size_t j = 0; by && j < n; j++) {
        by[j] = expr_affine(mean[j], deviation[j], j, a);
        if (!by[j].node)
            return NULL;
    }
    return by;
}

/* Whether a formula of the same function is there: then its counterpart would not be the only right
 * one. Ids of different corpora differ. */
static int is_there(const collection *all, const char *function)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->function[i], function) == 0)
            return 1;
    return 0;
}

/* Adds formula i of the corpus if both views can use it. Returns SNIP_NOMEM, or SNIP_OK. */
static snip_code add_formula(collection *all, const data_corpus *c, size_t i, uint64_t seed,
                             const model_space *s, arena *a, snip_status *st)
{
    const data_formula *f = &c->formula[i];
    size_t n = f->names.count, rows;
    const double **x;
    double *y, *mean = arena_array(a, n, sizeof *mean), **view;
    double *deviation = arena_array(a, n, sizeof *deviation);
    const char *function = data_formula_function(f);
    expr e;
    if (is_there(all, function))
        return SNIP_OK;
    if (!mean || !deviation)
        return status_nomem(st);
    snip_status why;
    snip_code code = data_formula_sample(&x, &y, &rows, c, i,
                                         &(data_design){ DATA_SAMPLE_RANGE, POINTS, seed }, a, st);
    if (code != SNIP_OK)
        return code;
    code = data_formula_usable(&e, f, y, rows, s->m->vocab, a, &why);
    int varies = code == SNIP_OK ? standardise(&view, mean, deviation, x, n, rows, a) : -1;
    if (code == SNIP_NOMEM || varies == 0)
        return status_nomem(st);
    if (varies < 0)
        return SNIP_OK;
    const expr *inputs = raw_inputs(mean, deviation, n, a);
    expr read = inputs ? expr_substitute(e, inputs, n, a) : (expr){ 0 };
    if (!read.node)
        return status_nomem(st);
    const model_words *words[VIEWS];
    for (int k = 0; k < VIEWS && code == SNIP_OK; k++)
        code = model_space_words(&words[k], s, k == CONSISTENT ? read : e, MODEL_EXACT, a, &why);
    if (code != SNIP_OK)
        return code == SNIP_NOMEM ? status_nomem(st) : SNIP_OK;
    eval_target *t = &all->target[all->count];
    *t = (eval_target){ .e = e,
                        .x = x,
                        .view = (const double *const *)view,
                        .dim = (int)n,
                        .rows = rows,
                        .y = y,
                        .id = all->count,
                        .of_corpus = 1,
                        .readings = VIEWS };
    for (int k = 0; k < VIEWS; k++) {
        text label = { .a = a };
        text_add(&label, "%s/%s/%s", view_names[k], c->name, f->id);
        t->reading[k] =
            (eval_reading){ k == CONSISTENT ? inputs : NULL, text_end(&label), words[k] };
        if (!t->reading[k].label)
            return status_nomem(st);
    }
    all->function[all->count++] = function;
    return SNIP_OK;
}

static snip_code collect(collection *all, const model_space *s, uint64_t seed, arena *a,
                         snip_status *st)
{
    data_corpus corpus[DATA_CORPORA];
    size_t most = 0;
    for (int k = 0; k < DATA_CORPORA; k++) {
        snip_code code = data_corpus_builtin(&corpus[k], data_corpus_names[k], a, st);
        if (code != SNIP_OK)
            return code;
        most += corpus[k].count;
    }
    *all = (collection){ 0 };
    if (!(all->function = arena_array(a, most, sizeof *all->function)))
        return status_nomem(st);
    all->target = arena_array(a, most, sizeof *all->target);
    if (!all->target)
        return status_nomem(st);
    for (int k = 0; k < DATA_CORPORA; k++) {
        all->first[k] = all->count;
        for (size_t i = 0; i < corpus[k].count; i++) {
            snip_code code = add_formula(all, &corpus[k], i, seed, s, a, st);
            if (code != SNIP_OK)
                return code;
        }
    }
    all->first[DATA_CORPORA] = all->count;
    return SNIP_OK;
}

/* Rows of both sides with their owners: whole formulas, or subtrees. */
typedef struct rows {
    const float *symbols, *values;
    const size_t *owner;
    size_t count, width;
} rows;

/* Percentile ranks of partners among the rows whose owners are in [from, to), averaged by owner.
 * out[direction][to - from]. */
static void rank_within(double *out[EVAL_DIRECTIONS], const rows *r, size_t from, size_t to)
{
    size_t first = 0, end;
    while (first < r->count && r->owner[first] < from)
        first++;
    for (end = first; end < r->count && r->owner[end] < to; end++)
        ;
    double *others = malloc((end - first + 1) * sizeof *others);
    for (int d = 0; d < EVAL_DIRECTIONS; d++) {
        const float *query = d ? r->values : r->symbols, *answer = d ? r->symbols : r->values;
        for (size_t u = 0; u < to - from; u++)
            out[d][u] = NAN;
        for (size_t i = first, same = 0; i < end && others; i++) {
            size_t n = 0, u = r->owner[i] - from;
            double own = model_dot(query + i * r->width, answer + i * r->width, r->width);
            for (size_t j = first; j < end; j++)
                if (j != i)
                    others[n++] = model_dot(query + i * r->width, answer + j * r->width, r->width);
            double pr = eval_percentile(own, others, n);
            same = i > first && r->owner[i - 1] == r->owner[i] ? same + 1 : 1;
            out[d][u] = same == 1 ? pr : out[d][u] + (pr - out[d][u]) / (double)same;
        }
    }
    free(others);
}

static json_t *global_json(const rows *r, size_t from, size_t to, uint64_t seed)
{
    size_t n = to - from;
    double *buffer = malloc((2 * n + 1) * sizeof *buffer);
    double *out[EVAL_DIRECTIONS] = { buffer, buffer ? buffer + n : NULL };
    json_t *o = json_object();
    if (buffer)
        rank_within(out, r, from, to);
    for (int d = 0; d < EVAL_DIRECTIONS && buffer; d++)
        json_object_set_new(o, eval_direction_names[d],
                            eval_figure_json(eval_mean(out[d], n, seed)));
    free(buffer);
    return o;
}

/* Mean over families of the scores of units [from, to). */
static json_t *local_json(const eval_scores *s, size_t from, size_t to, uint64_t seed)
{
    size_t n = to - from;
    double *part = malloc((DATA_FAMILIES * n + 1) * sizeof *part);
    json_t *o = json_object();
    for (int d = 0; d < EVAL_DIRECTIONS && part; d++) {
        for (size_t f = 0; f < DATA_FAMILIES; f++)
            memcpy(part + f * n, s->pr[d] + f * s->units + from, n * sizeof *part);
        json_object_set_new(o, eval_direction_names[d],
                            eval_figure_json(eval_mean_of_families(part, DATA_FAMILIES, n, seed)));
    }
    free(part);
    return o;
}

/* The formulas themselves in one view; the values' rows are made in the first. */
static snip_code embed_wholes(float *symbols, float *values, view k, model_space *s,
                              const collection *all, arena *a, snip_status *st)
{
    model_item *item = arena_zero(a, all->count * sizeof *item);
    for (size_t i = 0; i < all->count && item; i++) {
        const eval_target *t = &all->target[i];
        text label = { .a = a };
        text_add(&label, "\"pool\":\"%s\",\"target\":%zu,\"family\":\"whole\"", t->reading[k].label,
                 i);
        item[i] = (model_item){ .words = t->reading[k].words,
                                .node = MODEL_WHOLE,
                                .x = t->view,
                                .dim = t->dim,
                                .rows = t->rows,
                                .y = t->y,
                                .label = text_end(&label) };
    }
    if (!item)
        return status_nomem(st);
    return k == 0 ? model_space_embed(s, item, all->count, symbols, values, st)
                  : model_space_reread(s, item, all->count, symbols, values, st);
}

/* The results of one view, added to the objects of the pools. */
static void add_view(json_t *pools[POOLS], view k, const rows *wholes, const eval_scores *whole,
                     const eval_scores *parts, const collection *all, const eval_how *how)
{
    const rows subtrees = { parts->symbols, parts->values, parts->owner, parts->parts,
                            wholes->width };
    for (int p = 0; p < POOLS; p++) {
        size_t from = p == POOLED ? 0 : all->first[p],
               to = p == POOLED ? all->count : all->first[p + 1], parents = 0;
        for (size_t i = 0; i < parts->parts; i++)
            parents += parts->owner[i] >= from && parts->owner[i] < to &&
                       (i == 0 || parts->owner[i] != parts->owner[i - 1]);
        json_object_set_new(pools[p], "expressions", json_integer((json_int_t)(to - from)));
        json_object_set_new(pools[p], "subtree_parents", json_integer((json_int_t)parents));
        json_object_set_new(pools[p], view_names[k],
                            json_pack("{s:o,s:o,s:o,s:o}", "global",
                                      global_json(wholes, from, to, how->seed), "edits",
                                      local_json(whole, from, to, how->seed), "subtrees",
                                      local_json(parts, from, to, how->seed), "subtree_global",
                                      global_json(&subtrees, from, to, how->seed)));
    }
}

static snip_code run_views(json_t *pools[POOLS], model_space *s, const collection *all,
                           const eval_how *how, arena *a, snip_status *st)
{
    size_t n = all->count;
    eval_scores whole[VIEWS], parts[VIEWS];
    float *symbols[VIEWS], *values = arena_array(a, n * s->latent, sizeof *values);
    size_t *owner = arena_array(a, n, sizeof *owner);
    snip_code code = values && owner ? SNIP_OK : status_nomem(st);
    for (size_t i = 0; i < n && code == SNIP_OK; i++)
        owner[i] = i;
    for (int k = 0; k < VIEWS && code == SNIP_OK; k++) {
        symbols[k] = arena_array(a, n * s->latent, sizeof **symbols);
        code = symbols[k] ? embed_wholes(symbols[k], values, (view)k, s, all, a, st)
                          : status_nomem(st);
    }
    if (code == SNIP_OK)
        code = eval_local(whole, s, all->target, n, 0, how, a, st);
    if (code == SNIP_OK)
        code = eval_local(parts, s, all->target, n, 1, how, a, st);
    for (int k = 0; k < VIEWS && code == SNIP_OK; k++) {
        const rows wholes = { symbols[k], values, owner, n, s->latent };
        add_view(pools, (view)k, &wholes, &whole[k], &parts[k], all, how);
    }
    return code;
}

snip_code eval_corpora(json_t **out, model_space *s, const eval_how *how, snip_status *st)
{
    arena *a = arena_new(0);
    collection all;
    json_t *pools[POOLS];
    *out = json_object();
    for (int p = 0; p < POOLS; p++) {
        pools[p] = json_object();
        json_object_set_new(*out, p == POOLED ? "pooled" : data_corpus_names[p], pools[p]);
    }
    snip_code code = a ? collect(&all, s, how->seed, a, st) : status_nomem(st);
    if (code == SNIP_OK && all.count == 0)
        code = status_fail(st, SNIP_UNSUPPORTED, 0, "no formula of the corpora can be used");
    if (code == SNIP_OK)
        code = run_views(pools, s, &all, how, a, st);
    if (code != SNIP_OK) {
        json_decref(*out);
        *out = NULL;
    }
    arena_free(a);
    return code;
}
