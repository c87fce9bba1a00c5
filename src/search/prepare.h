/* prepare.h - from a table to the root view of a search. */
#ifndef SEARCH_PREPARE_H
#define SEARCH_PREPARE_H

#include "search/search_int.h"

/* Fills s->dim, rows, x, y, variance, problem and root; s->how and s->a are there. SNIP_FORMAT for
 * a table that cannot be searched. */
snip_code search_prepare(search *s, const regress_table *t, snip_status *st);

#endif
