/* pairs.c - see pairs.h. */
#include "regress/pairs.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "regress/constants.h"

enum {
    LOOK_ROWS = 120, /* rows that pairs are looked at and fitted on */
    FITTED = 250,    /* pairs that are fitted */
    STARTS = 3,      /* of each fit */
};

/* Node visits, pairs times rows times nodes, that a look at all of them may take. */
static const double LOOK_MAX = 8e7;

#define SINGLE ((size_t)-1)

/* A pair: edit `first` of the formula, then edit `second` of what that makes. */
typedef struct pair {
    size_t first, second; /* second SINGLE: there is none */
    int given;            /* with the constants as given */
    double loss;
    expr e;
} pair;

typedef struct look {
    const regress_problem *p;
    size_t rows;
    double *v;
    arena *tmp;
} look;

/* The mean square of what a + b*v leaves of y, or v itself if e has no constant to scale it by;
 * +infinity where a value is not finite. NaN when memory is out. */
static double left_open(expr e, const look *l)
{
    size_t finite = expr_eval(e, (const double *const *)l->p->x, l->rows, l->v, l->tmp);
    const double *w = l->p->weight, all = regress_weight(l->p, 0, l->rows);
    double mv = 0, my = 0, vv = 0, vy = 0, yy = 0, raw = 0;
    int scaled = 0;
    if (finite == (size_t)-1)
        return NAN;
    if (finite < l->rows)
        return INFINITY;
    for (size_t i = 0; i < e.count; i++)
        scaled |= e.node[i].op == EXPR_NUMBER;
    for (size_t i = 0; i < l->rows; i++) {
        double share = (w ? w[i] : 1) / all;
        mv += l->v[i] * share;
        my += l->p->y[i] * share;
    }
    for (size_t i = 0; i < l->rows; i++) {
        double v = l->v[i] - mv, y = l->p->y[i] - my, d = l->v[i] - l->p->y[i];
        double share = (w ? w[i] : 1) / all;
        vv += v * v * share;
        vy += v * y * share;
        yy += y * y * share;
        raw += d * d * share;
    }
    double open = !scaled ? raw : vv > 0 ? yy - vy * (vy / vv) : yy;
    return isfinite(open) ? fmax(open, 0) : INFINITY;
}

static int by_loss(const void *left, const void *right)
{
    const pair *a = left, *b = right;
    if (a->loss != b->loss)
        return a->loss < b->loss ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->second < b->second ? -1 : a->second > b->second;
}

/* Whether the second edit, of the formula that the first one makes, is one of the pair: at a node
 * before the first's, so that its place is the same in both formulas and no pair comes twice. An
 * exponent set free has no values to look at. */
static int joins(const regress_edit *first, const regress_edit *second)
{
    expr e = first->e;
    size_t i = second->node, at = first->node;
    if (i >= at || second->kind == REGRESS_FREE)
        return 0;
    if (second->kind != REGRESS_DROP || at >= i + e.node[i].len)
        return 1;
    size_t kept = expr_child(e, i, second->to); /* it must not take the first edit away */
    return kept <= at && at < kept + e.node[kept].len;
}

/* The edits of both spellings of a formula, side by side; other->node is NULL without a second. */
typedef struct edits {
    regress_edit *own, *other;
    size_t count;
} edits;

static int list_both(edits *out, expr e, expr given, size_t dim, arena *a)
{
    *out = (edits){ 0 };
    out->count = regress_edits_list(&out->own, e, dim, a);
    if (out->count == (size_t)-1)
        return 0;
    if (given.count != e.count)
        return 1;
    size_t n = regress_edits_list(&out->other, given, dim, a);
    if (n != out->count)
        out->other = NULL;
    return n != (size_t)-1;
}

/* Looks at all pairs with the k-th edit as the first; adds them to list[*n], which has room. */
static int look_at(pair *list, size_t *n, const edits *all, size_t k, size_t dim, const look *l,
                   arena *a)
{
    arena_pos mark = arena_mark(a);
    edits next;
    const expr none = { 0 };
    int good = list_both(&next, all->own[k].e, all->other ? all->other[k].e : none, dim, a);
    for (size_t i = 0; good && i < next.count; i++) {
        if (!joins(&all->own[k], &next.own[i]))
            continue;
        double loss = left_open(next.own[i].e, l), other = INFINITY;
        if (next.other)
            other = left_open(next.other[i].e, l);
        good = !isnan(loss) && !isnan(other);
        if (good && (isfinite(loss) || isfinite(other)))
            list[(*n)++] = (pair){ k, i, other < loss, fmin(loss, other), { 0 } };
    }
    arena_reset(a, mark);
    return good;
}

/* Looks at the k-th edit alone. Returns 0 when memory is out. */
static int look_at_one(pair *list, size_t *n, const edits *all, size_t k, const look *l)
{
    double loss = left_open(all->own[k].e, l);
    if (isfinite(loss))
        list[(*n)++] = (pair){ k, SINGLE, 0, loss, { 0 } };
    return !isnan(loss);
}

/* Makes the pair's formula again, in `a`. Returns 0 when memory is out. */
static int make(pair *q, const edits *all, size_t dim, arena *a)
{
    assert(!q->given || all->other); /* look_at sets it by what an edit of this list leaves open */
    regress_edit *next;
    const regress_edit *first = q->given ? &all->other[q->first] : &all->own[q->first];
    if (q->second == SINGLE) {
        q->e = first->e;
        return 1;
    }
    if (regress_edits_list(&next, first->e, dim, a) == (size_t)-1)
        return 0;
    q->e = next[q->second].e;
    return 1;
}

/* Fits the pairs to the rows of the look, each by one thread. Trees are copied into `a`. */
static snip_code fit(pair *q, size_t n, const regress_problem *p, size_t rows, int threads,
                     arena *a, snip_status *st)
{
    const regress_fit_how how = { .starts = STARTS, .seed = p->seed };
    snip_status failed = { 0 };
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads > 0 ? threads : 1)
    for (size_t i = 0; i < n; i++) {
        arena *own = arena_new(0);
        snip_status here = { 0 };
        regress_fit result;
        expr fitted = { 0 };
        snip_code code =
            own ? regress_fit_weighted(&fitted, &result, q[i].e, p->weight,
                                       (const double *const *)p->x, p->y, rows, &how, own, &here)
                : status_nomem(&here);
        if (code == SNIP_OK)
            q[i].loss = result.loss;
#pragma omp critical(regress_pairs_keep)
        {
            if (code == SNIP_OK &&
                !(q[i].e.node = arena_copy(a, fitted.node, fitted.count * sizeof *fitted.node)))
                code = status_nomem(&here);
            if (code == SNIP_NOMEM)
                failed = here;
        }
        arena_free(own);
    }
    if (failed.code != SNIP_OK && st)
        *st = failed;
    return failed.code;
}

/* Keeps, of sorted pairs with the same loss and as many nodes, the first. Returns how many. */
static size_t unlike(pair *q, size_t n, size_t most)
{
    size_t kept = 0;
    for (size_t i = 0; i < n && kept < most; i++) {
        const pair *last = kept ? &q[kept - 1] : NULL;
        if (!isfinite(q[i].loss) || (last && q[i].loss <= last->loss * (1 + 1e-9) &&
                                     (!last->e.node || last->e.count == q[i].e.count)))
            continue;
        q[kept++] = q[i];
    }
    return kept;
}

snip_code regress_pairs(regress_edit **out, size_t *found, size_t *tried, size_t most, expr e,
                        expr given, int singles, const regress_problem *p, int threads, arena *a,
                        snip_status *st)
{
    edits all;
    look l = { .p = p, .rows = p->fit < LOOK_ROWS ? p->fit : LOOK_ROWS, .tmp = a };
    *found = *tried = 0;
    *out = NULL;
    if (!list_both(&all, e, given, p->dim, a))
        return status_nomem(st);
    /* As many pairs as there are of two edits, at most, with two nodes more. */
    double room = (double)all.count * (double)(all.count + 40) / 2;
    if (room * (double)l.rows * (double)(e.count + 2) > LOOK_MAX)
        return SNIP_OK;
    /* The second edit's list may be a little longer than the first's, by what the first brought. */
    size_t most_pairs = all.count * (all.count + 80), n = 0;
    pair *list = arena_array(a, most_pairs + 1, sizeof *list);
    l.v = arena_array(a, l.rows, sizeof *l.v);
    if (!list || !l.v)
        return status_nomem(st);
    for (size_t k = 0; k < all.count; k++)
        if (all.own[k].kind != REGRESS_FREE && ((singles && !look_at_one(list, &n, &all, k, &l)) ||
                                                !look_at(list, &n, &all, k, p->dim, &l, a)))
            return status_nomem(st);
    *tried = n;
    qsort(list, n, sizeof *list, by_loss);
    n = unlike(list, n, FITTED);
    for (size_t i = 0; i < n; i++)
        if (!make(&list[i], &all, p->dim, a))
            return status_nomem(st);
    snip_code code = fit(list, n, p, l.rows, threads, a, st);
    if (code != SNIP_OK)
        return code;
    qsort(list, n, sizeof *list, by_loss);
    n = unlike(list, n, most);
    regress_edit *to = *out = arena_zero(a, (n + 1) * sizeof *to);
    if (!to)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++) {
        const regress_edit *first = &all.own[list[i].first];
        regress_edit *next;
        to[i] = *first;
        if (list[i].second != SINGLE) {
            if (regress_edits_list(&next, first->e, p->dim, a) == (size_t)-1)
                return status_nomem(st);
            to[i] = next[list[i].second];
            to[i].two = 1;
            to[i].second_node = first->node;
            to[i].second_kind = first->kind;
            to[i].second_to = first->to;
        }
        to[i].e = list[i].e;
    }
    *found = n;
    return SNIP_OK;
}
