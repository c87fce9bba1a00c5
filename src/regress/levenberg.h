/* levenberg.h - least squares by Levenberg and Marquardt's method, as MINPACK does it.
 *
 * Its steps are those of MINPACK's lmder to the last bit, with variables scaled by the largest
 * lengths that the derivatives' columns have had. Most of lmder's time goes into its factorisation,
 * column after column; here four columns are worked on at once, each in MINPACK's order. */
#ifndef REGRESS_LEVENBERG_H
#define REGRESS_LEVENBERG_H

#include <cminpack.h>

#include "base/arena.h"

typedef struct regress_descent {
    cminpack_funcder_mn f; /* m residuals (flag 1), or their derivatives by columns (flag 2) */
    void *context;
    int m, n;         /* m >= n */
    double tolerance; /* relative, of the sum of squares and of the parameters */
    int most;         /* evaluations of the residuals */
    double factor;    /* of the parameters' size: the longest first step */
} regress_descent;

/* Goes downhill from at[0..n), which is replaced by the end; f's refusal (< 0) ends it as well.
 * Returns 0 when memory is out. `tmp` is left as found. */
int regress_descend(const regress_descent *d, double *at, arena *tmp);

#endif
