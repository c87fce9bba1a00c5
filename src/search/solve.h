/* solve.h - small least squares by a QR factorisation. */
#ifndef SEARCH_SOLVE_H
#define SEARCH_SOLVE_H

#include "base/arena.h"

/* y on [1, columns]: c[0..n) are the coefficients, c[n] the constant term. gain[k] is by how much
 * the mean square error would rise without column k. Columns that depend on others get 0. Returns 0
 * when memory is out or a value is not finite. `tmp` is left as found. */
int search_least_squares(double *c, double *gain, const double *const *column, size_t n,
                         const double *y, size_t rows, arena *tmp);

#endif
