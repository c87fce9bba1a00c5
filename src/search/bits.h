/* bits.h - description length of a formula and of what it leaves unexplained. */
#ifndef SEARCH_BITS_H
#define SEARCH_BITS_H

#include "expr/expr.h"

/* Of a number in a formula that was fitted to so many rows. */
double search_number_bits(double v, size_t rows);

/* Of a formula in `dim` inputs. */
double search_formula_bits(expr e, size_t dim, size_t rows);

/* Of y given the formula: loss is 1 - r^2. Negative: relative to y by its mean. */
double search_residual_bits(double loss, size_t rows);

#endif
