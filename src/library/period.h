/* period.h - how often a column goes up and down over another.
 *
 *     double t[] = { 0, 1, 2, 3, 4, 5, 6, 7 }, y[] = { 0, 1, 0, -1, 0, 1, 0, -1 };
 *     double halves = library_half_periods(t, y, 8);   // 3.5: a period takes 4
 */
#ifndef LIBRARY_PERIOD_H
#define LIBRARY_PERIOD_H

#include <stddef.h>

/* The number of half periods over the range of x of the sine that explains most of what a straight
 * line in x leaves of y, by steps of a half; 1 where x or y does not vary. At most half as many as
 * there are rows: among more some sine always suits noise. */
double library_half_periods(const double *x, const double *y, size_t n);

#endif
