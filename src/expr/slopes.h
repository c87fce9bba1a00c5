/* slopes.h - the derivative of every operator by each of its operands, on arrays of doubles.
 *
 * One table per instruction set, as in vec.h, with the same results bit for bit. The sweep of
 * gradient.c is the only user. */
#ifndef EXPR_SLOPES_H
#define EXPR_SLOPES_H

#include <stddef.h>

#include "expr/vec.h"

/* An operator with the value v at a, or at (a, b), for n rows. */
typedef struct expr_slope_at {
    const expr_vec *vec; /* of the same instruction set */
    const double *a, *b, *v;
    int slot;        /* the operand that the derivative is by: 0 or 1 */
    const double *g; /* the adjoint of the operator */
    double *d;       /* room for n numbers */
    size_t n;
} expr_slope_at;

/* out = g * (dv / d operand), the adjoint of the operand; 0 where g is 0, whatever the derivative
 * is: the side that min() did not take may well have overflowed. */
typedef void expr_slope(double *restrict out, const expr_slope_at *p);

/* One function per operator; NULL for leaves. */
typedef struct expr_slopes {
    expr_slope *of[EXPR_OP_COUNT];
} expr_slopes;

/* The table for `which`, which must be one that isa_has. */
const expr_slopes *expr_slopes_for(isa which);

#endif
