/* sparse.h - which few columns of a dictionary add up to a target.
 *
 *     sparse s;
 *     if (search_sparse_begin(&s, column, bits, n, target, rows, job, a))
 *         found = search_sparse_search(&s, model, room, 4, job);
 *
 * Everything after search_sparse_begin works on the matrix of inner products: all pairs exactly,
 * larger sets by a beam whose members are improved by exchanging one column at a time. */
#ifndef SEARCH_SPARSE_H
#define SEARCH_SPARSE_H

#include "search/search_int.h"

enum { SPARSE_TERMS_MAX = 6 };

/* A set of columns. */
typedef struct sparse_model {
    size_t count;
    uint16_t term[SPARSE_TERMS_MAX]; /* ascending */
    double coef[SPARSE_TERMS_MAX];   /* of the columns as they were given */
    double rest;                     /* share of the target's square that is left */
} sparse_model;

typedef struct sparse {
    size_t columns;
    uint16_t *at;   /* which of the given columns: those that are finite and not 0 */
    double *length; /* of these */
    double *g;      /* columns x columns: inner products of columns of length 1 */
    double *b;      /* with the target of length 1 */
    double *weight; /* by which a column multiplies what its sets leave: at least 1 */
    double target;  /* its length */
} sparse;

/* Takes n columns of `rows` values each, one after the other, and spoils them. bits[k] is what
 * column k costs to write: among sets that leave about the same, as they do under noise, the
 * shorter ones go first. Returns 0 when memory is out, the target is 0 or not finite, or the job is
 * over. */
int search_sparse_begin(sparse *s, double *column, const double *bits, size_t n,
                        const double *target, size_t rows, search_job *j, arena *a);

/* The best sets of 1, 2, .. `most` columns, up to `each` of every number, in `out` (room for
 * most * each). Returns how many. */
size_t search_sparse_search(const sparse *s, sparse_model *out, size_t each, size_t most,
                            search_job *j);

/* Least squares of the target on n columns, without a constant term, by an orthogonal
 * factorisation. Columns that depend on those before them get 0. Returns the mean square that is
 * left, or +infinity. */
double search_sparse_solve(double *coef, const double *const *column, size_t n,
                           const double *target, size_t rows, arena *tmp);

#endif
