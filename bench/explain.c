/* explain.c - how often `snip explain` finds a planted wrong node: one operator or variable of a
 * true formula is exchanged, and the nodes of the wrong one are ordered by their gain. */
#include "bench.h"

#include <math.h>

#include "base/rng.h"
#include "cases.h"
#include "regress/explain.h"

enum { SEED = 1, GENERATED = 200, NODES_MIN = 4, DEPTHS = 3 };

/* The sums: formulas, then for each depth how often the planted node stands within it, how often it
 * would by chance, and how often the edit that restores the formula does. */
enum { FORMULAS, PERCENTILE, WITHIN, CHANCE = WITHIN + DEPTHS, CURE = CHANCE + DEPTHS };

static const size_t depth[DEPTHS] = { 1, 3, 5 }, cure_depth[DEPTHS] = { 1, 3, 10 };

/* Whether the wrong formula is finite and differs by more than a twentieth of y's deviation. */
static int tells(expr e, const regress_problem *p, arena *a)
{
    regress_errors errors;
    return regress_problem_errors(&errors, e, p, a) && errors.loss[0] > p->variance[0] / 400;
}

/* A wrong version of the case's formula, drawn from its exchanges. Returns 1, 0 if there is none,
 * -1 when memory is out. */
static int plant(regress_edit *out, const bench_case *c, size_t index, arena *a)
{
    regress_edit *edit;
    size_t n = regress_edits_list(&edit, c->e, c->p.dim, a), kept = 0;
    rng r;
    if (n == (size_t)-1)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (edit[i].kind == REGRESS_EXCHANGE)
            edit[kept++] = edit[i];
    rng_init(&r, SEED, RNG_BENCH, index);
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

/* Counts where the planted node stands among those that could be edited. */
static void count(double *sum, const regress_explanation *x, size_t planted, expr truth)
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
    sum[FORMULAS]++;
    sum[PERCENTILE] += nodes > 1 ? ((double)nodes - rank) / ((double)nodes - 1) : 1;
    for (int k = 0; k < DEPTHS; k++) {
        sum[WITHIN + k] += rank <= (double)depth[k];
        sum[CHANCE + k] += fmin(1, (double)depth[k] / (double)nodes);
    }
    for (size_t i = 0; i < x->edits && i < cure_depth[DEPTHS - 1]; i++)
        if (expr_same(x->edit[i].e, truth)) {
            for (int k = 0; k < DEPTHS; k++)
                sum[CURE + k] += i < cure_depth[k];
            break;
        }
}

static int judge(double *sum, const bench_case *c, size_t index, const model_opened *m, int threads)
{
    arena *a = arena_new(0);
    regress_edit wrong;
    regress_explanation x;
    const regress_explain_how how = { .refit = 0, .list = 0, .threads = threads };
    int planted = a ? plant(&wrong, c, index, a) : -1;
    if (planted == 1) {
        snip_code code = regress_explain(&x, wrong.e, &c->p, m, &how, a, NULL);
        if (code == SNIP_NOMEM)
            planted = -1;
        else if (code == SNIP_OK && !isnan(x.gain[wrong.node]) && x.e.count >= NODES_MIN)
            count(sum, &x, wrong.node, c->e);
    }
    arena_free(a);
    return planted >= 0;
}

static json_t *figures(const double *sum)
{
    double n = sum[FORMULAS] > 0 ? sum[FORMULAS] : 1;
    return json_pack(
        "{s:I,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "formulas", (json_int_t)sum[FORMULAS],
        "first", sum[WITHIN] / n, "first_3", sum[WITHIN + 1] / n, "first_5", sum[WITHIN + 2] / n,
        "mean_percentile", sum[PERCENTILE] / n, "chance_first", sum[CHANCE] / n, "chance_first_3",
        sum[CHANCE + 1] / n, "chance_first_5", sum[CHANCE + 2] / n, "cure_first", sum[CURE] / n,
        "cure_first_3", sum[CURE + 1] / n, "cure_first_10", sum[CURE + 2] / n);
}

json_t *bench_explain(const char *model, int threads, snip_status *st)
{
    const bench_measure b = { "explain", GENERATED, judge, figures };
    return bench_over_cases(&b, model, threads, st);
}
