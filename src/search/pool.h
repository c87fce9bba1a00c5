/* pool.h - small formulas with their values at hand, and which of them suits a wish best. */
#ifndef SEARCH_POOL_H
#define SEARCH_POOL_H

#include "search/head.h"

enum { POOL_MAX = 4096, POOL_NODES = 12, POOL_SKETCH = 16, POOL_POWERS = 16 };

typedef struct pool_part {
    expr e;
    double mean, length; /* of its values: those of (v - mean) / length have length 1 */
    const double *value;
} pool_part;

typedef struct pool {
    pool_part *at;
    size_t count;
    float (*sketch)[POOL_SKETCH]; /* the first rows, centred, of length 1: for a first look */
    const head_rows *rows;
    /* Columns without zeros: the logarithms of their sizes, centred, and the factor L of their
     * moments, LL'; a column that others tell has 0 on the diagonal. */
    size_t powers, power_of[POOL_POWERS];
    double (*log)[SEARCH_FEW];
    double factor[POOL_POWERS][POOL_POWERS];
    uint64_t *known; /* hashes of values, to keep out what behaves like another part */
    arena *a;
} pool;

/* The operators that formulas are varied with. */
typedef struct pool_ops {
    expr_op unary[EXPR_OP_COUNT], binary[EXPR_OP_COUNT];
    size_t unaries, binaries;
} pool_ops;

pool_ops search_pool_ops_of(const search *s);

/* Small formulas of the view's columns, shortest first, all in `a`. Returns 0 when memory is out.
 */
int search_pool_make(pool *out, const search *s, const head_rows *r, arena *a);

/* Adds a part, unless it is not finite, constant, behaves like one that is there, or there is no
 * room. Returns whether it was added. */
int search_pool_add(pool *p, expr e);

/* A part that is best, or nearly so, for `wanted` = a + b * part; +infinity and NaN among the
 * wishes are nobody's. Fills a, b and what the part leaves unexplained, 1 - r^2. NULL if there is
 * none. `random` chooses among the best few. */
const pool_part *search_pool_match(const pool *p, const double *wanted, rng *random, double *a,
                                   double *b, double *rest);

/* The product of powers of columns, exponents in halves, that is nearest to `wanted` in size, in
 * `a`. Fills the best factor of it, and what b times the product leaves unexplained, 1 - r^2. node
 * is NULL if there is none, or if it is a power of one column, which are parts themselves. */
expr search_pool_power(const pool *p, const double *wanted, double *b, double *rest, arena *a);

#endif
