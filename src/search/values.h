/* values.h - what many small formulas leave of a target on few rows: the inner loop of a search.
 *
 *     search_sample p;
 *     search_sample_make(&p, view->x, view->y, rows);
 *     double loss = search_sample_loss(&p, e);          // 1 - r^2 of a + b*e
 *
 * No memory is taken: a formula is evaluated in blocks of rows that stay in the first-level cache.
 */
#ifndef SEARCH_VALUES_H
#define SEARCH_VALUES_H

#include "expr/vec.h"
#include "search/search_int.h"

typedef struct search_sample {
    size_t rows; /* at most SEARCH_SOME */
    const double *const *x;
    double y[SEARCH_SOME]; /* the target, brought to mean 0 and length 1 */
    const expr_vec *vec;
} search_sample;

/* The first `rows` rows of columns and target; the columns stay where they are. Returns 0 if the
 * target does not vary there or is not finite. */
int search_sample_make(search_sample *out, const double *const *x, const double *y, size_t rows);

/* Fills `value` with the formula's values, as expr_eval does, to the bit. Returns 0 for a formula
 * of more than SEARCH_SIZE_MAX nodes. */
int search_sample_values(double *value, const search_sample *p, expr e);

/* 1 - r^2 of a + b*e: 0 is perfect, 1 is no better than the mean; +infinity where a value is not
 * finite or the formula too long. */
double search_sample_loss(const search_sample *p, expr e);

#endif
