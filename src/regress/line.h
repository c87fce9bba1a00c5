/* line.h - a form fitted to a table, a + b * core, and how well it does.
 *
 * Every form is fitted with a and b: units and redundant constants make no difference between forms.
 */
#ifndef REGRESS_LINE_H
#define REGRESS_LINE_H

#include "regress/constants.h"

#define REGRESS_DIGITS 10.0 /* more than so many are rounding */

/* a + b * core, in `to`. node is NULL when memory is out. */
expr regress_line(expr core, double a, double b, arena *to);

/* Fits a, b and the core's constants from the values that these have, in `a`. NaN constants never
 * come out: where nothing is finite, *out is 0 + 1 * core. Fails only for want of memory.
 * `tmp` may be `a`. */
snip_code regress_fit_line(expr *out, expr core, const double *const *x, const double *y,
                           size_t rows, const regress_fit_how *how, arena *a, arena *tmp);

/* -log10(1 - R^2) of e on these rows, at most REGRESS_DIGITS; -infinity where e is not finite. NaN
 * when memory is out. */
double regress_digits(expr e, const double *const *x, const double *y, size_t rows, arena *tmp);

#endif
