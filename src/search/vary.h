/* vary.h - new formulas from old ones: blind changes, and changes that look at values. */
#ifndef SEARCH_VARY_H
#define SEARCH_VARY_H

#include "search/prior.h"

/* A formula as the moves see it. */
typedef struct vary_parent {
    expr e; /* stripped */
    head h;
    const head_values *v;
} vary_parent;

typedef struct vary {
    const head_rows *rows;
    const pool *pool;
    const pool_ops *ops;
    const search_prior *prior; /* what to expect; NULL: everything alike */
    rng *random;
    arena *a;             /* where new formulas go */
    uint64_t evaluations; /* made by moves that look at values */
} vary;

/* Changes a node, adds one, takes one away, or puts another part in: nothing is evaluated. node is
 * NULL where nothing came of it. */
expr search_vary_blind(vary *q, expr e);

/* A part of `other` in place of one of e. */
expr search_vary_cross(vary *q, expr e, expr other);

/* Replaces a part by what its place wants: the path from the root is inverted row by row. */
expr search_vary_wanted(vary *q, const vary_parent *p);

/* Adds the term that suits best what the formula leaves unexplained. */
expr search_vary_residual(vary *q, const vary_parent *p);

/* A formula out of pool. */
expr search_vary_fresh(vary *q);

/* What the part at `node` should be for the formula to be right, its other pool as they are:
 * `bare` takes y itself for the formula's value, for formulas of one term, and not the fitted
 * shift + factor * value. Returns 0 where there is no such value at some row. *scale is set if a
 * factor at the node is one of the whole term. */
int search_vary_wish(double *wanted, int *scale, const vary_parent *p, size_t node, int bare,
                     const head_rows *r);

#endif
