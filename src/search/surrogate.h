/* surrogate.h - a smooth stand-in for an unknown function, to ask for its derivatives.
 *
 * A polynomial in all columns: products of Legendre polynomials of total degree up to D, each
 * column mapped to [-1, 1], by regularised least squares. D is the one that does best on rows that
 * were left out. */
#ifndef SEARCH_SURROGATE_H
#define SEARCH_SURROGATE_H

#include "base/arena.h"

enum { SEARCH_SURROGATE_DEGREE_MAX = 6 };

typedef struct search_surrogate {
    size_t dim, terms;
    int degree;
    double *low, *high;      /* of the columns */
    unsigned char *exponent; /* terms x dim: degrees of the factors */
    double *c;               /* terms */
    double error;            /* 1 - r^2 on rows left out */
} search_surrogate;

/* Fits y by the columns on up to 2,000 rows, by polynomials up to `degree`. Returns 0 when memory
 * is out or there are too few rows for a polynomial of degree 2. Everything lives in `a`. */
int search_surrogate_fit(search_surrogate *out, const double *const *x, size_t dim, const double *y,
                         size_t rows, int degree, arena *a);

/* The derivatives by every column at the first `rows` rows: g[j * rows + i]. Returns 0 when memory
 * is out. */
int search_surrogate_gradient(const search_surrogate *s, const double *const *x, size_t rows,
                              double *g, arena *tmp);

#endif
