/* directions.h - which way a formula goes with each of its parts: whether it rises or falls when
 * the part alone does.
 *
 * In 2 - 3*sin(x0) the sign of sin(x0) comes from a subtraction and a constant; in longer formulas
 * it is the parity of many such things, which a network hardly learns from examples. Here it is
 * worked out from the tree, by the chain rule: the sign of an operator's derivative is known, or
 * follows from the intervals in which its operands lie while the inputs, which are standardised,
 * lie within [-2, 2]. */
#ifndef EXPR_DIRECTIONS_H
#define EXPR_DIRECTIONS_H

#include <stdint.h>

#include "expr/expr.h"

/* Bits. Where the direction is lost, as within the argument of a sine that turns, the part there
 * starts anew: directions below are those of this part, not of the whole formula. */
enum {
    EXPR_FALLS = 1,        /* when the node rises */
    EXPR_OF_THE_WHOLE = 2, /* the formula; else a part around the node, or the node itself */
    EXPR_PARENT_FALLS = 4, /* what its own parent does when the node rises */
    EXPR_DIRECTIONS = 8    /* how many combinations there are */
};

/* For each node of e. Constants that are not fixed may have any value if `free` is set. Returns 0
 * when memory is out; `tmp` is left as found. */
int expr_directions(uint8_t *out, expr e, int free, arena *tmp);

#endif
