/* prior.h - what forms near to a table are made of: operators, and inputs that meet.
 *
 * Filled from the nearest forms of a library, it weighs the choices of blind variation (vary.h).
 * A choice that no form makes keeps half of the weight that it would have without. */
#ifndef SEARCH_PRIOR_H
#define SEARCH_PRIOR_H

#include "search/pool.h"

enum { PRIOR_INPUTS = 10 }; /* of the tables that forms are looked up for, at most */

typedef struct search_prior {
    double op[EXPR_OP_COUNT];                /* how often an operator stands in the forms */
    double pair[PRIOR_INPUTS][PRIOR_INPUTS]; /* how often two inputs stand under one operator */
} search_prior;

/* Counts a form, in the table's columns, with this weight. */
void search_prior_add(search_prior *p, expr e, double weight);

/* One of n operators. */
expr_op search_prior_op(const search_prior *p, const expr_op *of, size_t n, rng *random);

/* An input to stand beside the part e: one of `dim`. */
size_t search_prior_partner(const search_prior *p, expr e, size_t dim, rng *random);

#endif
