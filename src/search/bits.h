/* bits.h - description length of a formula and of what it leaves unexplained. */
#ifndef SEARCH_BITS_H
#define SEARCH_BITS_H

#include "expr/expr.h"

/* Of a formula in `dim` inputs that was fitted to `rows` rows, and of y given the formula: loss is
 * 1 - r^2. Relative to y by its mean, so often negative; the less the better. */
double search_bits(expr e, double loss, size_t dim, size_t rows);

#endif
