/* build.h - small formulas from smaller ones, in an arena; node is NULL when memory is out, and
 * what is built from such a formula is one, too. */
#ifndef SEARCH_BUILD_H
#define SEARCH_BUILD_H

#include "expr/expr.h"

expr search_variable(size_t j, arena *a);

/* A free number, and a fixed one. */
expr search_number(double v, arena *a);
expr search_fixed(double v, arena *a);

expr search_unary(expr_op op, expr u, arena *a);
expr search_binary(expr_op op, expr u, expr w, arena *a);

/* u^p with a fixed p: as square, cube, root or reciprocal where it is one. */
expr search_power(expr u, double p, arena *a);

#endif
