/* graft.c - see graft.h. */
#include "search/graft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "regress/rank.h"

enum { PLACES = 4, COMPARED_COST = 500, CHILD_COST = 100 };

/* A formula with a new part, before it is fitted. */
typedef struct child {
    expr e;
    double correlation; /* with y, outer coefficients fitted */
    double similarity;  /* of the new part and what its place wants */
    double score;
    size_t place; /* among those found: equal ones keep their order */
} child;

static snip_code problem_of(regress_problem *out, const graft_from *f, const double *y, arena *a,
                            snip_status *st)
{
    const search *s = f->near->s;
    const regress_table t = { f->v->dim, f->t->rows.rows, s->problem->names.name, f->t->rows.x, y };
    return regress_problem_whole(out, &t, s->how->seed, a, st);
}

/* Chooses a place and fills `wanted` with its values and *p with the table of them. *node is
 * e.count where there is none. */
static snip_code choose_place(size_t *node, regress_problem *p, double *wanted, const graft_from *f,
                              const vary_parent *parent, rng *random, arena *a, snip_status *st)
{
    search *s = f->near->s;
    double least = INFINITY, values[SEARCH_FEW];
    *node = f->e.count;
    for (int turn = 0; turn < PLACES; turn++) {
        size_t at = rng_below(random, (uint32_t)f->e.count);
        regress_problem now;
        int scale;
        regress_nearness near = { .similarity = NAN };
        if (f->e.node[at].op == EXPR_NUMBER ||
            !search_vary_wish(values, &scale, parent, at, 0, &f->t->rows))
            continue;
        snip_code code = problem_of(&now, f, values, a, st);
        if (code == SNIP_FORMAT) /* the wanted values do not vary */
            continue;
        expr part = expr_subtree(f->e, at);
        s->evaluations += COMPARED_COST;
        if (code == SNIP_OK)
            code =
                regress_similarities(&near, &part, 1, &now, s->how->model, s->how->threads, a, st);
        if (code != SNIP_OK && code != SNIP_UNSUPPORTED)
            return code;
        /* The model has no words for the part: likely a wrong one. */
        double similarity = isnan(near.similarity) ? -1 : near.similarity;
        if (similarity < least) {
            least = similarity;
            *node = at;
            *p = now;
            memcpy(wanted, values, f->t->rows.rows * sizeof *wanted);
        }
    }
    return SNIP_OK;
}

static int by_score(const void *a, const void *b)
{
    const child *p = a, *q = b;
    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    return p->place < q->place ? -1 : p->place > q->place;
}

/* Orders children by promise, or by the similarity of the new part where the model has no weights
 * for a promise. */
static snip_code order(child *c, size_t n, const graft_from *f, arena *a, snip_status *st)
{
    search *s = f->near->s;
    const model_promise *w = &s->how->model->promise;
    int promise = model_promise_known(w) && !(s->how->unused >> SEARCH_USE_PROMISE & 1);
    regress_nearness *near = arena_array(a, n + 1, sizeof *near);
    expr *e = arena_array(a, n + 1, sizeof *e);
    regress_problem p;
    if (!near || !e)
        return status_nomem(st);
    snip_code code = promise ? problem_of(&p, f, f->t->rows.y, a, st) : SNIP_OK;
    for (size_t k = 0; k < n; k++)
        e[k] = c[k].e;
    if (promise && code == SNIP_OK) {
        s->evaluations += CHILD_COST * n;
        code = regress_similarities(near, e, n, &p, s->how->model, s->how->threads, a, st);
    }
    for (size_t k = 0; k < n && code == SNIP_OK; k++)
        c[k].score =
            promise ? search_promise(w, &near[k], c[k].correlation, c[k].e, a) : c[k].similarity;
    if (code == SNIP_OK)
        qsort(c, n, sizeof *c, by_score);
    return code;
}

/* Means and deviations of the view's columns on its few rows. */
static void measure(double *mean, double *deviation, const graft_from *f)
{
    const head_rows *r = &f->t->rows;
    for (size_t j = 0; j < f->v->dim && j < NEAR_INPUTS; j++) {
        double square = 0;
        mean[j] = 0;
        for (size_t i = 0; i < r->rows; i++)
            mean[j] += r->x[j][i] / (double)r->rows;
        for (size_t i = 0; i < r->rows; i++)
            square += (r->x[j][i] - mean[j]) * (r->x[j][i] - mean[j]) / (double)r->rows;
        deviation[j] = square > 0 ? sqrt(square) : 1;
    }
}

snip_code search_graft(expr *out, size_t *count, const graft_from *f, rng *random, arena *a,
                       snip_status *st)
{
    search *s = f->near->s;
    double begun = search_spent(s), mean[NEAR_INPUTS], deviation[NEAR_INPUTS];
    double *wanted = arena_array(a, SEARCH_FEW, sizeof *wanted);
    head_values *v = arena_alloc(a, sizeof *v);
    vary_parent parent = { .e = f->e, .v = v };
    near_form form[NEAR_FORMS];
    child c[NEAR_FORMS];
    regress_problem p;
    size_t node = f->e.count, found = 0, n = 0;
    *count = 0;
    if (!wanted || !v)
        return status_nomem(st);
    search_head_evaluate(v, f->e, &f->t->rows);
    if (!search_head_solve(&parent.h, f->e, v, &f->t->rows))
        return SNIP_OK;
    snip_code code = choose_place(&node, &p, wanted, f, &parent, random, a, st);
    if (code == SNIP_OK && node < f->e.count)
        code = search_near_find(f->near, &p, regress_inputs_that_matter(&p), form, &found, a, st);
    measure(mean, deviation, f);
    for (size_t k = 0; k < found && code == SNIP_OK; k++) {
        head h;
        expr part = search_near_place(&form[k], f->near->forms, mean, deviation, a);
        expr e = part.node ? expr_splice(f->e, node, part, a) : part;
        e = e.node ? search_head_strip(e, a) : e;
        if (!e.node)
            continue;
        search_head_evaluate(v, e, &f->t->rows);
        s->evaluations++;
        c[n] = (child){ .e = e, .similarity = form[k].near.similarity, .place = n };
        if (search_head_solve(&h, e, v, &f->t->rows))
            c[n++].correlation = sqrt(fmax(0, 1 - h.loss));
    }
    if (code == SNIP_OK && n)
        code = order(c, n, f, a, st);
    for (size_t k = 0; k < n && k < GRAFTS_MAX && code == SNIP_OK; k++)
        out[(*count)++] = c[k].e;
    f->near->spent += search_spent(s) - begun;
    return code;
}
