/* target.h - y seen through a transform: sqrt(u), exp(u) and 1/u are found as u. */
#ifndef SEARCH_TARGET_H
#define SEARCH_TARGET_H

#include "search/head.h"

enum { TARGETS_MAX = 12 }; /* the first are y, 1/y, y^2, log y: the usual ones */

/* The transforms, in their order. */
typedef enum target_kind {
    TARGET_SAME,
    TARGET_INVERSE,
    TARGET_SQUARE,
    TARGET_LOG,
    TARGET_ROOT,
    TARGET_INVERSE_SQUARE,
    TARGET_EXP,
    TARGET_SIN,
    TARGET_COS,
    TARGET_TAN,
    TARGET_ARCTANH,
    TARGET_KINDS
} target_kind;

typedef struct target {
    search_view view;
    head_rows rows;
    size_t which; /* a target_kind */
    expr back;    /* from its values to those of y, variable 0 for the former; none for y itself */
    double sign;  /* of y where the transform is one of |y| */
} target;

/* Those transforms of the view's y that are defined on all its rows and lead back by operators that
 * may be used, y itself first; out has room for TARGETS_MAX. Arrays live in `a`. Returns 0 when
 * memory is out. */
int search_targets_make(target *out, size_t *count, const search *s, const search_view *v,
                        arena *a);

#endif
