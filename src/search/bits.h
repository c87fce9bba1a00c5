/* bits.h - description length of a formula and of what it leaves unexplained. */
#ifndef SEARCH_BITS_H
#define SEARCH_BITS_H

#include "expr/expr.h"

/* What a table asks of a formula. */
typedef struct search_scale {
    size_t dim, rows; /* inputs, and rows that constants are fitted to */
    double telling;   /* the rows that errors come from; as a rule all (regress_telling_rows) */
    double rounding;  /* the loss that rounding alone has left in y (numbers_rounding) */
} search_scale;

/* Of a formula, and of y given the formula: loss is 1 - r^2. Relative to y by its mean, so often
 * negative; the less the better. */
double search_bits(expr e, double loss, const search_scale *of);

#endif
