/* outliers.h - few rows that lie far off, as a slip of the pen does.
 *
 * Least squares bends to such rows, so a formula that is fitted to them cannot show them. Two steps
 * find them. A row is suspected if its y stands apart from all others and differs from those of the
 * neighbouring rows. Then a search without the suspects gives a formula, which they miss by far, or
 * not. Steep laws have suspects, too: the formula of such a law meets them. */
#ifndef SEARCH_OUTLIERS_H
#define SEARCH_OUTLIERS_H

#include "search/search.h"

/* Rows to search without at first, ascending; `row` has room for all. Returns how many: 0 unless a
 * few stand clearly apart, and also when memory is out. */
size_t search_outliers_suspect(size_t *row, const regress_table *t, arena *tmp);

/* Keeps those of n suspected rows, ascending, which the formula, found without them, misses by far.
 * Returns how many: 0 also when memory is out. */
size_t search_outliers_confirm(size_t *row, size_t n, const regress_table *t, expr e, arena *tmp);

#endif
