/* fit_eval.c - candidates per second in the inner loop of `snip fit`: trees of 12 nodes on 64 rows,
 * and what a line through them leaves of y; beside the same work by expr_eval. */
#include "bench.h"

#include <math.h>

#include "base/clock.h"
#include "base/isa.h"
#include "base/numbers.h"
#include "search/values.h"

enum { TREES = 2000, NODES = 12, INPUTS = 3 };

/* Writes a random tree of n nodes to `node`: operators as a search draws them. */
static void grow(expr_node *node, size_t n, rng *r)
{
    static const expr_op unary[] = { EXPR_POW2, EXPR_SQRT, EXPR_INV, EXPR_EXP,
                                     EXPR_LOG,  EXPR_SIN,  EXPR_COS, EXPR_NEG };
    static const expr_op binary[] = { EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_MUL, EXPR_DIV };
    *node = (expr_node){ .len = (uint32_t)n };
    if (n == 1) {
        int number = rng_u64(r) % 5 == 0;
        node->op = number ? EXPR_NUMBER : EXPR_VARIABLE;
        node->var = (uint16_t)(number ? 0 : rng_u64(r) % INPUTS);
        node->value = number ? 0.5 + 2 * rng_uniform(r) : 0;
    } else if (n == 2 || rng_u64(r) % 4 == 0) {
        node->op = (uint8_t)unary[rng_u64(r) % (sizeof unary / sizeof *unary)];
        grow(node + 1, n - 1, r);
    } else {
        size_t left = 1 + rng_u64(r) % (n - 2);
        node->op = (uint8_t)binary[rng_u64(r) % (sizeof binary / sizeof *binary)];
        grow(node + 1, left, r);
        grow(node + 1 + left, n - 1 - left, r);
    }
}

/* The same loss by the evaluator for whole tables and a plain loop. */
static double plainly(const search_sample *p, expr e, double *value, arena *a)
{
    double vv = 0, vy = 0;
    if (expr_eval(e, p->x, p->rows, value, a) != p->rows)
        return INFINITY;
    double mean = numbers_mean(value, p->rows);
    for (size_t i = 0; i < p->rows; i++) {
        vv += (value[i] - mean) * (value[i] - mean);
        vy += (value[i] - mean) * p->y[i];
    }
    if (!(vv > 1e-12 * mean * mean)) /* nearly constant: all rounding */
        return INFINITY;
    return 1 - vy * vy / vv;
}

json_t *bench_fit_eval(double seconds)
{
    arena *a = arena_new(0);
    expr *e = a ? arena_array(a, TREES, sizeof *e) : NULL;
    double *x[INPUTS] = { 0 }, y[SEARCH_FEW], value[SEARCH_FEW], apart = 0;
    search_sample p;
    rng r;
    int good = e != NULL;
    rng_init(&r, 1, RNG_BENCH, 0);
    for (size_t j = 0; j < INPUTS && good; j++) {
        x[j] = arena_array(a, SEARCH_FEW, sizeof *x[j]);
        good = x[j] != NULL;
        for (size_t i = 0; i < SEARCH_FEW && good; i++)
            x[j][i] = 1 + 4 * rng_uniform(&r);
    }
    for (size_t k = 0; k < TREES && good; k++) {
        e[k] = (expr){ arena_array(a, NODES, sizeof *e->node), NODES };
        good = e[k].node != NULL;
        if (good)
            grow(e[k].node, NODES, &r);
    }
    for (size_t i = 0; i < SEARCH_FEW && good; i++)
        y[i] = x[0][i] * sin(x[1][i]) / x[2][i];
    if (!good || !search_sample_make(&p, (const double *const *)x, y, SEARCH_FEW)) {
        arena_free(a);
        return NULL;
    }
    /* Interleaved, the best of each: noise only adds. */
    double ours = INFINITY, theirs = INFINITY, start = clock_now(), sink = 0;
    do {
        double t0 = clock_now();
        for (size_t k = 0; k < TREES; k++)
            sink += search_sample_loss(&p, e[k]) < 0.5;
        double t1 = clock_now();
        for (size_t k = 0; k < TREES; k++)
            sink -= plainly(&p, e[k], value, a) < 0.5;
        double t2 = clock_now();
        ours = fmin(ours, t1 - t0);
        theirs = fmin(theirs, t2 - t1);
    } while (clock_now() - start < seconds);
    for (size_t k = 0; k < TREES; k++) {
        double one = search_sample_loss(&p, e[k]), other = plainly(&p, e[k], value, a);
        if (isfinite(one) && isfinite(other))
            apart = fmax(apart, fabs(one - other));
    }
    json_t *o = json_pack("{s:s,s:s,s:i,s:i,s:i,s:f,s:f,s:f,s:f,s:b}", "bench", "fit-eval", "isa",
                          isa_name(isa_best()), "trees", TREES, "nodes", NODES, "rows", SEARCH_FEW,
                          "candidates_per_second", TREES / ours, "by_expr_eval_per_second",
                          TREES / theirs, "ratio_to_expr_eval", theirs / ours, "largest_difference",
                          apart, "same_choice", sink == 0);
    arena_free(a);
    return o;
}
