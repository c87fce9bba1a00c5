/* columns.h - the loops over rows of the minimiser's factorisation (levenberg.c).
 *
 * One table per instruction set. Sums go in the order of the rows, so all of them, and MINPACK,
 * give the same results bit for bit. */
#ifndef REGRESS_COLUMNS_H
#define REGRESS_COLUMNS_H

#include <stddef.h>

#include "base/isa.h"

typedef struct regress_columns {
    /* The lengths of `count` columns of n rows each, as MINPACK's enorm has them. */
    void (*lengths)(double *out, double *const *column, size_t count, size_t n);
    /* Makes of v, whose length is given, the vector of a Householder reflection I - v v'/v[0] that
     * leaves nothing below v[0], and takes it to the columns. `length` has the sign of v[0]. */
    void (*reflect)(double *const *column, size_t count, double *v, double length, size_t n);
} regress_columns;

/* The table for `which`, which must be one that isa_has. */
const regress_columns *regress_columns_for(isa which);

#endif
