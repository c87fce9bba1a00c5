/* aim.h - what formulas are looked for: y or a transform of it, its few rows, and the way back. */
#ifndef SEARCH_AIM_H
#define SEARCH_AIM_H

#include "search/head.h"
#include "search/targets.h"

typedef struct aim {
    search_target which;
    search_view view;
    head_rows rows;
    expr back;   /* from its values to those of y, variable 0 for the former; none for y itself */
    double sign; /* of y where the way back has one sign */
} aim;

/* Those transforms of the view's y that can be undone, y itself first; out has room for
 * SEARCH_TARGETS. Arrays live in `a`. Returns 0 when memory is out. */
int aims_make(aim *out, size_t *count, const search *s, const search_view *v, arena *a);

#endif
