/* graft.h - parts of a formula replaced by forms that behave as their place wants.
 *
 * The path from the root is inverted row by row (search_vary_wish), which gives the values that a
 * part should have. These are a table like any other: the library's forms whose vectors are nearest
 * to it are put in the part's place. Of a few places the one is taken whose part is least similar,
 * in the shared space, to what is wanted there. */
#ifndef SEARCH_GRAFT_H
#define SEARCH_GRAFT_H

#include "search/near.h"
#include "search/target.h"
#include "search/vary.h"

enum { GRAFTS_MAX = 8 };

/* Where a formula comes from: the view it is of, and the transform of y it is for. */
typedef struct graft_from {
    search_near *near;
    const search_view *v; /* its columns are those of the search, in units of its own */
    const target *t;
    expr e; /* stripped (head.h) */
} graft_from;

/* New formulas from one, the most promising first, at most GRAFTS_MAX, in `a`; *count may be 0.
 * n->spent grows by what it cost. */
snip_code search_graft(expr *out, size_t *count, const graft_from *from, rng *random, arena *a,
                       snip_status *st);

#endif
