/* numbers.h - what is asked of a column of numbers everywhere: mean, variance, ranks, rows.
 *
 *     double v[] = { 3, 1, 2 };
 *     double mean = numbers_mean(v, 3), middle = numbers_median(v, 3);   // v is sorted now
 *
 * Values are divided before they are summed, so that no sum overflows where the mean does not, and
 * summed in their order: results are the same bits everywhere. Loops over every generated sample
 * (data/points.c, data/laws.c) and the search's (search/solve.c) have several running sums instead,
 * which is quicker; their order is part of what a seed gives. */
#ifndef BASE_NUMBERS_H
#define BASE_NUMBERS_H

#include <stddef.h>

#include "base/arena.h"

double numbers_mean(const double *v, size_t n);

/* The mean, and the mean of the squared distances from it. */
void numbers_moments(const double *v, size_t n, double *mean, double *variance);
double numbers_variance(const double *v, size_t n);
double numbers_deviation(const double *v, size_t n);

/* The same for a user's column, whose values may be as large or small as numbers get: nothing over-
 * or underflows, and the variance is 0 only where all values are the same, which are then the mean.
 */
double numbers_safe_mean(const double *v, size_t n);
double numbers_safe_variance(const double *v, size_t n);
double numbers_safe_deviation(const double *v, size_t n);

/* The correlation of a and b; 0 where one does not vary or is not finite. */
double numbers_correlation(const double *a, const double *b, size_t n);

/* Sorts from the smallest to the largest; NaN has no place in it. */
void numbers_sort(double *v, size_t n);

/* Ranks 1 .. n of numbers that are not NaN, the lowest first; equal ones share their mean rank.
 * Returns 0 when memory is out. */
int numbers_mean_ranks(double *rank, const double *v, size_t n);

/* The correlation of the ranks of a and b, which hold no NaN: 0 if all of one are equal, NaN for
 * fewer than two or when memory is out. */
double numbers_spearman(const double *a, const double *b, size_t n);

/* The value below which a share of the sorted ones lies, between two of them in proportion; n > 0.
 */
double numbers_quantile(const double *sorted, size_t n, double share);

/* The one in the middle, or between both in the middle; sorts v. */
double numbers_median(double *v, size_t n);

/* The mean square error that rounding alone has left in values of a table, by the first 1,000 of
 * them, with these weights unless NULL: they have so many digits at most, and what is beyond them
 * nobody measured. What is as near as this has nothing left to explain. */
double numbers_rounding(const double *v, const double *weight, size_t n);

/* Keeps the `most` largest values seen, the largest first and of equal ones the first one first,
 * with what each belongs to. *n counts those that are kept. */
void numbers_keep(double *value, size_t *which, size_t *n, size_t most, double v, size_t of);

/* v at n chosen rows, in `a`; NULL when memory is out. */
double *numbers_at(const double *v, const int *row, size_t n, arena *a);

#endif
