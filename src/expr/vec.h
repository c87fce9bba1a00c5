/* vec.h - the operators on arrays of doubles, by SLEEF and plain loops.
 *
 * One table per instruction set, compiled from the same file. SLEEF's `finz` functions and code
 * without contraction make them agree bit for bit, so a seed gives the same sample on every machine
 * with fused multiply-add; one without (x86 before 2013) may differ in the last digit. Outputs may
 * be the inputs themselves. */
#ifndef EXPR_VEC_H
#define EXPR_VEC_H

#include <stddef.h>

#include "base/isa.h"
#include "expr/op.h"

typedef struct expr_vec {
    /* Unary and binary operators; NULL for the others. */
    void (*unary[EXPR_OP_COUNT])(double *y, const double *x, size_t n);
    void (*binary[EXPR_OP_COUNT])(double *y, const double *a, const double *b, size_t n);
    size_t (*finite)(const double *x, size_t n); /* how many are finite */
    int (*all_finite)(const double *x, size_t n);
    int (*all_normal)(const double *x, size_t n); /* finite, and neither zero nor subnormal */
    /* 1 - r^2 of the line a + b*v, for y of mean 0 and length 1: what is left of y. It is good to
     * rounding near 0 as well. 1 for a constant v, +infinity where a value is not finite. The same
     * bits with every instruction set. */
    double (*unexplained)(const double *v, const double *y, size_t n);
    /* Normal deviates by Box and Muller, in place: u[0..2*pairs) are uniform on [0,1). */
    void (*gauss)(double *u, size_t pairs);
} expr_vec;

/* The table for `which`, which must be one that isa_has. */
const expr_vec *expr_vec_for(isa which);

/* The best one here. */
const expr_vec *expr_vec_best(void);

#endif
