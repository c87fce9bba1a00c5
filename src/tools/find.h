/* find.h - formulas of a library for a table. */
#ifndef TOOLS_FIND_H
#define TOOLS_FIND_H

#include "tools/index.h"
#include "tools/rank.h"

typedef struct tools_find_how {
    size_t k;
    tools_rank_how rank; /* how what is found is judged and ordered */
} tools_find_how;

/* The k formulas of the library whose vectors are nearest to the table's, in the user's own inputs
 * and units, judged and sorted as tools_rank does; in `a`. Inputs may be irrelevant, so the table
 * is looked up with all of them and with those sets that tell hardly less of y: of up to four
 * inputs every set is tried, else all but one and each alone. place is the formula's id in the
 * library, text its own form there. *found may be less than k. */
snip_code tools_find(tools_candidate **out, size_t *found, const tools_problem *p,
                     const tools_model *t, tools_index *ix, const tools_find_how *how, arena *a,
                     snip_status *st);

#endif
