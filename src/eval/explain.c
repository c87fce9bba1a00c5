/* explain.c - how often `snip explain` finds a planted wrong node: one operator or variable of a
 * true formula is exchanged, and the nodes of the wrong one are ordered by their gain. See
 * suites.h.
 */
#include <math.h>

#include "base/streams.h"
#include "eval/cases.h"
#include "regress/explain.h"

enum { GENERATED = 200, NODES_MIN = 4, DEPTHS = 3 };

/* The values of a case: where the planted node stands, then for each depth whether that is within
 * it, whether it would be by chance, and whether the edit that restores the formula is. */
enum {
    PERCENTILE,
    WITHIN,
    CHANCE = WITHIN + DEPTHS,
    CURE = CHANCE + DEPTHS,
    VALUES = CURE + DEPTHS
};

static const eval_case_value values[VALUES] = {
    { NULL, "mean_percentile" }, { NULL, "first" },        { NULL, "first_3" },
    { NULL, "first_5" },         { NULL, "chance_first" }, { NULL, "chance_first_3" },
    { NULL, "chance_first_5" },  { NULL, "cure_first" },   { NULL, "cure_first_3" },
    { NULL, "cure_first_10" },
};

static const size_t depth[DEPTHS] = { 1, 3, 5 }, cure_depth[DEPTHS] = { 1, 3, 10 };

/* Whether the wrong formula is finite and differs by more than a twentieth of y's deviation. */
static int tells(expr e, const regress_problem *p, arena *a)
{
    regress_errors errors;
    return regress_problem_errors(&errors, e, p, a) && errors.loss[0] > p->variance[0] / 400;
}

/* A wrong version of the case's formula, drawn from its exchanges. Returns 1, 0 if there is none,
 * -1 when memory is out. */
static int plant(regress_edit *out, const eval_case *c, uint64_t seed, size_t index, arena *a)
{
    regress_edit *edit;
    size_t n = regress_edits_list(&edit, c->e, c->p.dim, a), kept = 0;
    rng r;
    if (n == (size_t)-1)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (edit[i].kind == REGRESS_EXCHANGE)
            edit[kept++] = edit[i];
    streams_rng(&r, seed, STREAMS_PLANTED, index);
    while (kept) {
        size_t k = rng_below(&r, (uint32_t)kept);
        if (tells(edit[k].e, &c->p, a)) {
            *out = edit[k];
            return 1;
        }
        edit[k] = edit[--kept];
    }
    return 0;
}

/* Where the planted node stands among those that could be edited. */
static void place(double *out, const regress_explanation *x, size_t planted, expr truth)
{
    size_t better = 0, equal = 0, nodes = 0;
    for (size_t i = 0; i < x->e.count; i++) {
        if (isnan(x->gain[i]))
            continue;
        nodes++;
        better += x->gain[i] > x->gain[planted];
        equal += i != planted && x->gain[i] == x->gain[planted];
    }
    double rank = 1 + (double)better + (double)equal / 2;
    out[PERCENTILE] = nodes > 1 ? ((double)nodes - rank) / ((double)nodes - 1) : 1;
    size_t cure = 0;
    while (cure < x->edits && !expr_same(x->edit[cure].e, truth))
        cure++;
    for (int k = 0; k < DEPTHS; k++) {
        out[WITHIN + k] = rank <= (double)depth[k];
        out[CHANCE + k] = fmin(1, (double)depth[k] / (double)nodes);
        out[CURE + k] = cure < x->edits && cure < cure_depth[k];
    }
}

static int judge(double *out, const eval_case *c, size_t index, const model_opened *m,
                 const eval_how *how, int threads)
{
    arena *a = arena_new(0);
    regress_edit wrong;
    regress_explanation x;
    const regress_explain_how options = { .refit = 0, .list = 0, .threads = threads };
    for (int v = 0; v < VALUES; v++)
        out[v] = NAN;
    int planted = a ? plant(&wrong, c, how->seed, index, a) : -1;
    if (planted == 1) {
        snip_code code = regress_explain(&x, wrong.e, &c->p, m, &options, a, NULL);
        if (code == SNIP_NOMEM)
            planted = -1;
        else if (code == SNIP_OK && !isnan(x.gain[wrong.node]) && x.e.count >= NODES_MIN)
            place(out, &x, wrong.node, c->e);
    }
    arena_free(a);
    return planted >= 0;
}

snip_code eval_explain(json_t **out, model_space *s, const eval_how *how, snip_status *st)
{
    const eval_case_suite suite = { "wrong formulas", GENERATED, values, VALUES, judge };
    return eval_over_cases(out, &suite, s, how, st);
}
