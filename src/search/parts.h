/* parts.h - small formulas with their values at hand, and which of them suits a wish best. */
#ifndef SEARCH_PARTS_H
#define SEARCH_PARTS_H

#include "search/head.h"

enum { PARTS_MAX = 4096, PARTS_NODES = 12, PARTS_SKETCH = 16 };

typedef struct part {
    expr e;
    double mean, length; /* of its values: those of (v - mean) / length have length 1 */
    const double *value;
} part;

typedef struct parts {
    part *at;
    size_t count;
    float (*sketch)[PARTS_SKETCH]; /* the first rows, centred, of length 1: for a first look */
    const head_rows *rows;
    uint64_t *known; /* hashes of values, to keep out what behaves like another part */
    arena *a;
} parts;

/* The operators that formulas are varied with. */
typedef struct parts_ops {
    expr_op unary[EXPR_OP_COUNT], binary[EXPR_OP_COUNT];
    size_t unaries, binaries;
} parts_ops;

parts_ops parts_ops_of(const search *s);

/* Small formulas of the view's columns, shortest first, all in `a`. Returns 0 when memory is out.
 */
int parts_make(parts *out, const search *s, const head_rows *r, arena *a);

/* Adds a part, unless it is not finite, constant, behaves like one that is there, or there is no
 * room. Returns whether it was added. */
int parts_add(parts *p, expr e);

/* A part that is best, or nearly so, for `wanted` = a + b * part; +infinity and NaN among the
 * wishes are nobody's. Fills a, b and what the part leaves unexplained, 1 - r^2. NULL if there is
 * none. `random` chooses among the best few. */
const part *parts_match(const parts *p, const double *wanted, rng *random, double *a, double *b,
                        double *rest);

#endif
