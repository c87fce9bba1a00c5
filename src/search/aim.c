/* aim.c - see aim.h. */
#include "search/aim.h"

int aims_make(aim *out, size_t *count, const search *s, const search_view *v, arena *a)
{
    /* The likeliest first: not all have their turn in a short search. */
    static const search_target order[] = {
        SEARCH_TARGET_SAME, SEARCH_TARGET_INVERSE, SEARCH_TARGET_SQUARE,
        SEARCH_TARGET_LOG,  SEARCH_TARGET_ROOT,    SEARCH_TARGET_INVERSE_SQUARE,
        SEARCH_TARGET_EXP,  SEARCH_TARGET_SIN,     SEARCH_TARGET_COS,
        SEARCH_TARGET_TAN,
    };
    *count = 0;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        aim *to = &out[*count];
        double *y = arena_array(a, v->rows, sizeof *y);
        if (!y)
            return 0;
        *to = (aim){ .which = order[k], .sign = 1 };
        if (!search_target_values(y, order[k], s, v->y, v->rows))
            continue;
        if (!search_target_view(&to->view, order[k], s, v, y, a))
            return 0;
        if (order[k] != SEARCH_TARGET_SAME && !(to->back = search_target_back(order[k], 0, a)).node)
            return 0;
        if ((order[k] == SEARCH_TARGET_SQUARE || order[k] == SEARCH_TARGET_INVERSE_SQUARE) &&
            v->y[0] < 0)
            to->sign = -1;
        to->rows = head_rows_of(&to->view);
        *count += to->rows.variance > 0;
    }
    return 1;
}
