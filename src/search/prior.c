/* prior.c - see prior.h. */
#include "search/prior.h"

/* Bit j for input j of a part; those beyond PRIOR_INPUTS are nobody's. */
static unsigned inputs_of(expr e, size_t i)
{
    unsigned set = 0;
    for (size_t k = i; k < i + e.node[i].len; k++)
        if (e.node[k].op == EXPR_VARIABLE && e.node[k].var < PRIOR_INPUTS)
            set |= 1u << e.node[k].var;
    return set;
}

void search_prior_add(search_prior *p, expr e, double weight)
{
    for (size_t i = 0; i < e.count; i++) {
        int arity = expr_ops[e.node[i].op].arity;
        if (arity == 0)
            continue;
        p->op[e.node[i].op] += weight;
        if (arity < 2)
            continue;
        unsigned left = inputs_of(e, i + 1), right = inputs_of(e, expr_child(e, i, 1));
        for (size_t u = 0; u < PRIOR_INPUTS; u++)
            for (size_t v = 0; v < PRIOR_INPUTS; v++)
                if (u != v && left >> u & 1 && right >> v & 1) {
                    p->pair[u][v] += weight;
                    p->pair[v][u] += weight;
                }
    }
}

/* Draws a place by weights, of which half of the mass is spread evenly. */
static size_t draw(const double *weight, size_t n, rng *random)
{
    double sum = 0, u = rng_uniform(random);
    for (size_t k = 0; k < n; k++)
        sum += weight[k];
    for (size_t k = 0; k + 1 < n; k++) {
        u -= 0.5 / (double)n + (sum > 0 ? 0.5 * weight[k] / sum : 0.5 / (double)n);
        if (u < 0)
            return k;
    }
    return n - 1;
}

expr_op search_prior_op(const search_prior *p, const expr_op *of, size_t n, rng *random)
{
    double weight[EXPR_OP_COUNT];
    for (size_t k = 0; k < n; k++)
        weight[k] = p->op[of[k]];
    return of[draw(weight, n, random)];
}

size_t search_prior_partner(const search_prior *p, expr e, size_t dim, rng *random)
{
    double weight[SEARCH_INPUTS_MAX] = { 0 };
    unsigned set = inputs_of(e, 0);
    for (size_t v = 0; v < dim && v < PRIOR_INPUTS; v++)
        for (size_t u = 0; u < PRIOR_INPUTS; u++)
            weight[v] += set >> u & 1 ? p->pair[u][v] : 0;
    return draw(weight, dim, random);
}
