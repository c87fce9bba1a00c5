/* find.c - see find.h. */
#include "tools/find.h"

#include <math.h>
#include <stdlib.h>

enum { EVERY_SET = 4, SETS_MAX = 2 * DATA_DIMS_MAX + 1 };
#define SLACK 0.05 /* of y's variance */

/* A formula met for one of the sets of inputs. */
typedef struct match {
    tools_hit hit;
    tools_inputs inputs;
} match;

/* Sets that may matter, in out, which has room for SETS_MAX; all inputs come first. */
static size_t list_sets(tools_inputs *out, size_t dim)
{
    tools_inputs all = ((tools_inputs)1 << dim) - 1;
    size_t n = 0;
    if (dim <= EVERY_SET) {
        for (tools_inputs s = all; s; s--)
            out[n++] = s;
        return n;
    }
    out[n++] = all;
    for (size_t j = 0; j < dim; j++)
        out[n++] = all & ~((tools_inputs)1 << j);
    for (size_t j = 0; j < dim; j++)
        out[n++] = (tools_inputs)1 << j;
    return n;
}

/* The sets to look up: all inputs, and those that leave hardly more open than the best. */
static size_t choose_sets(tools_inputs *out, const tools_problem *p)
{
    size_t n = list_sets(out, p->dim), kept = 1;
    double open[SETS_MAX], least = INFINITY;
    for (size_t s = 0; s < n; s++)
        least = fmin(least, open[s] = tools_inputs_left_open(p, out[s]));
    for (size_t s = 1; s < n; s++)
        if (open[s] <= least + SLACK)
            out[kept++] = out[s];
    return kept;
}

static int set_size(tools_inputs s)
{
    return __builtin_popcount(s);
}

/* Nearest first, then the library's order, then the set's. */
static int by_similarity(const void *left, const void *right)
{
    const match *a = left, *b = right;
    if (a->hit.score != b->hit.score)
        return a->hit.score > b->hit.score ? -1 : 1;
    if (a->hit.id != b->hit.id)
        return a->hit.id < b->hit.id ? -1 : 1;
    return a->inputs < b->inputs ? -1 : a->inputs > b->inputs;
}

/* The matches of all sets, best first, k of each, in m, which has room for SETS_MAX * k. */
static snip_code collect(match *m, size_t *count, const tools_problem *p, const tools_model *t,
                         tools_index *ix, size_t k, int threads, arena *a, snip_status *st)
{
    tools_inputs set[SETS_MAX] = { 0 };
    size_t sets = choose_sets(set, p), n = 0;
    float *z = arena_array(a, (size_t)t->m->config.latent, sizeof *z);
    tools_hit *hit = arena_array(a, k, sizeof *hit);
    if (!z || !hit)
        return status_nomem(st);
    for (size_t s = 0; s < sets; s++) {
        size_t found;
        snip_code code = tools_problem_embed(p, set[s], TOOLS_EXACT, t, threads, z, st);
        if (code == SNIP_OK)
            code = tools_index_search(ix, z, k, set_size(set[s]), threads, hit, &found, st);
        if (code != SNIP_OK)
            return code;
        for (size_t i = 0; i < found; i++)
            m[n++] = (match){ hit[i], set[s] };
    }
    qsort(m, n, sizeof *m, by_similarity);
    *count = n;
    return SNIP_OK;
}

/* The match as a formula in the user's inputs. */
static snip_code restore(tools_candidate *c, const match *m, const tools_problem *p,
                         tools_index *ix, arena *a, snip_status *st)
{
    tools_index_row row;
    snip_code code = tools_index_formula(&row, ix, m->hit.id, a, st);
    if (code == SNIP_OK)
        code = tools_problem_restore(&c->e, row.e, m->inputs, p, a, st);
    if (code == SNIP_OK) {
        c->text = row.formula;
        c->place = (size_t)m->hit.id;
    }
    return code;
}

/* Whether c[n] is among those before it: a formula that uses some inputs only is met in several
 * sets. */
static int is_listed(const tools_candidate *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c[i].place == c[n].place && expr_same(c[i].e, c[n].e))
            return 1;
    return 0;
}

snip_code tools_find(tools_candidate **out, size_t *found, const tools_problem *p,
                     const tools_model *t, tools_index *ix, const tools_find_how *how, arena *a,
                     snip_status *st)
{
    size_t k = how->k, count = tools_index_about(ix)->count;
    *found = 0;
    k = k < count ? k : count;
    match *m = arena_array(a, SETS_MAX * k + 1, sizeof *m);
    tools_candidate *c = *out = arena_zero(a, (k + 1) * sizeof *c);
    size_t matches = 0, n = 0;
    if (!m || !c)
        return status_nomem(st);
    snip_code code = collect(m, &matches, p, t, ix, k, how->rank.threads, a, st);
    for (size_t i = 0; i < matches && n < k && code == SNIP_OK; i++) {
        code = restore(&c[n], &m[i], p, ix, a, st);
        n += code == SNIP_OK && !is_listed(c, n);
    }
    if (code == SNIP_OK)
        code = tools_rank(c, n, p, t, &how->rank, a, st);
    if (code == SNIP_OK)
        *found = n;
    return code;
}
