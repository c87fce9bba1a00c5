/* targets.h - transforms of a target: y as g^-1 of something simpler.
 *
 * sqrt(1 - v^2/c^2) is long as a tree, and two terms as y^2. A stage looks for formulas of g(y) and
 * offers them in a view whose `outer` is g^-1. */
#ifndef SEARCH_TARGETS_H
#define SEARCH_TARGETS_H

#include "search/search_int.h"

typedef enum search_target {
    SEARCH_TARGET_SAME,
    SEARCH_TARGET_INVERSE, /* 1/y */
    SEARCH_TARGET_SQUARE,
    SEARCH_TARGET_INVERSE_SQUARE,
    SEARCH_TARGET_LOG,
    SEARCH_TARGET_EXP,
    SEARCH_TARGET_ROOT,
    SEARCH_TARGET_SIN,
    SEARCH_TARGET_COS,
    SEARCH_TARGET_TAN,
    SEARCH_TARGETS
} search_target;

/* Fills out[0..rows) with g(y). Returns 0 if g has no inverse on the values there are, or if the
 * inverse may not be used. */
int search_target_values(double *out, search_target g, const search *s, const double *y,
                         size_t rows);

/* g^-1 of variable j. */
expr search_target_back(search_target g, size_t j, arena *a);

/* The view of g(y) by the columns of v. `y` are its values there. Returns 0 when memory is out. */
int search_target_view(search_view *out, search_target g, const search *s, const search_view *v,
                       const double *y, arena *a);

#endif
