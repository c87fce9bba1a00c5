/* solve.h - small least squares by a QR factorisation. */
#ifndef SEARCH_SOLVE_H
#define SEARCH_SOLVE_H

#include "base/arena.h"

/* The inner product, by four sums that run side by side. */
double search_dot(const double *a, const double *b, size_t rows);

/* Takes what the first k columns of q explain out of v; they are orthogonal and of length 1, one
 * after the other. Twice, so that what is left of v is right to rounding. The shares are added to
 * h[0], h[step], h[2*step], ... */
void search_project(double *v, double *h, size_t step, const double *q, size_t k, size_t rows);

/* y on [1, columns]: c[0..n) are the coefficients, c[n] the constant term. gain[k] is by how much
 * the mean square error would rise without column k. Columns that depend on others get 0. Returns 0
 * when memory is out or a value is not finite. `tmp` is left as found. */
int search_least_squares(double *c, double *gain, const double *const *column, size_t n,
                         const double *y, size_t rows, arena *tmp);

#endif
