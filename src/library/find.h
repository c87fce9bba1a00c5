/* find.h - formulas of a library for a table. */
#ifndef LIBRARY_FIND_H
#define LIBRARY_FIND_H

#include "library/file.h"
#include "regress/rank.h"

typedef struct library_find_how {
    size_t k;
    regress_rank_how rank; /* how what is found is judged and ordered */
} library_find_how;

/* The k formulas of the library whose vectors are nearest to the table's, in the user's own inputs
 * and units, judged and sorted as regress_rank does; in `a`. Inputs may be irrelevant, so the table
 * is looked up with all of them and with those sets that tell hardly less of y: of up to four
 * inputs every set is tried, else all but one and each alone. place is the formula's id in the
 * library, text its own form there. *found may be less than k. */
snip_code library_find(regress_candidate **out, size_t *found, const regress_problem *p,
                       const model_opened *t, library_file *ix, const library_find_how *how,
                       arena *a, snip_status *st);

/* e, a formula of those standardised inputs, as a candidate in the user's own. A form has constants
 * of its own only inside; it gets a factor and a shift to be fitted. */
snip_code library_candidate(expr *out, expr e, regress_inputs inputs, const regress_problem *p,
                            int form, arena *a, snip_status *st);

/* Puts order[0..n) into the next permutation, by the places of its entries (NULL: by themselves).
 * Returns 0 after the last one. */
int library_next_order(size_t *order, const size_t *place, size_t n);

#endif
