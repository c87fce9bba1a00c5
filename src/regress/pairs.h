/* pairs.h - two edits of a short formula at once, at two different nodes.
 *
 * There are thousands, so most are only looked at: their values on a few rows, scaled and shifted
 * as a fit would, beside y. The best few hundred are fitted to these rows, and the best of those
 * are the answer. Whoever weighs them must charge all that were looked at. */
#ifndef REGRESS_PAIRS_H
#define REGRESS_PAIRS_H

#include "regress/explain.h"

/* The best pairs of edits of e, fitted to some of the training rows, best first, in `a`; with
 * `singles` also single edits. `given` is e with the constants that the user wrote, which are tried
 * as well; empty: none. *found is at most `most`, *tried how many were looked at: 0 where the
 * formula is too long for this. The same with any number of threads. Many parameters: three
 * results, a formula in two spellings, and the limits of the search for it. */
snip_code regress_pairs(regress_edit **out, size_t *found, size_t *tried, size_t most, expr e,
                        expr given, int singles, const regress_problem *p, int threads, arena *a,
                        snip_status *st);

#endif
