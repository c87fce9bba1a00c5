/* box.h - Levenberg-Marquardt within bounds.
 *
 * MINPACK's algorithm (trust region, its lmpar for the damping) with projected steps: a parameter
 * at a bound that the sum of squares pulls outward is held there for a step, the others take the
 * step of the problem without it, and what would leave the box stops at its side. */
#ifndef REGRESS_BOX_H
#define REGRESS_BOX_H

#include <cminpack.h>

#include "base/arena.h"

/* Least squares of the m residuals that `f` gives for n <= m parameters, from at[], which is
 * replaced by the end and lies in low[j] <= at[j] <= high[j] throughout (infinite where there is no
 * bound). `f` is called as lmder does. Ends when neither the sum of squares nor the parameters
 * change by more than `tolerance`, relatively, or after `most` evaluations. The first step is at
 * most `factor` times the parameters' size. Returns 0 when memory is out or `f` returns less than
 * 0. `tmp` is left as found. Many parameters: those of MINPACK's lmder. */
int regress_box_minimise(cminpack_funcder_mn f, void *context, int m, int n, double *at,
                         const double *low, const double *high, double tolerance, int most,
                         double factor, arena *tmp);

#endif
