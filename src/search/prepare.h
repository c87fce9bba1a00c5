/* prepare.h - from a table to the root view of a search. */
#ifndef SEARCH_PREPARE_H
#define SEARCH_PREPARE_H

#include "search/search_int.h"

/* Some rows of a table, and of their weights if *weight is not NULL. Returns 0 when memory is out.
 */
int search_take_rows(regress_table *out, const double **weight, const regress_table *t,
                     const size_t *row, size_t rows, arena *a);

/* Leaves out rows of weight 0, and how->weight is of the others then; (*place)[i] is the row of *t
 * that is row i of *out, NULL if these are the same. SNIP_FORMAT for a weight that is none. */
snip_code search_leave_out_rows(regress_table *out, const size_t **place, const regress_table *t,
                                search_how *how, arena *a, snip_status *st);

/* A sample of SEARCH_ROWS_MAX rows, drawn from how->seed, where there are more. *place, given for
 * *t, is that of *out then. */
snip_code search_sample_rows(regress_table *out, const size_t **place, const regress_table *t,
                             search_how *how, arena *a, snip_status *st);

/* Fills s->dim, rows, x, y, variance, problem and root; s->how and s->a are there. SNIP_FORMAT for
 * a table that cannot be searched. */
snip_code search_prepare(search *s, const regress_table *t, snip_status *st);

#endif
