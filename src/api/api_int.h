/* api_int.h - what the files behind snip.h share. */
#ifndef API_INT_H
#define API_INT_H

#include "expr/expr.h"

struct snip_expr {
    arena *a;
    expr e;
    expr_names names;
};

/* Fails with SNIP_FORMAT, st->pos being the place, where a name is NULL, empty or there twice. NULL
 * for `names` is fine. */
snip_code api_check_names(const char *const *names, size_t n, snip_status *st);

/* Fails with SNIP_FORMAT, st->pos being the column or row, where the table's names are not good, a
 * column is NULL or a value is not finite. */
snip_code api_check_table(const snip_table *t, snip_status *st);

/* An empty handle that knows its variables' names. NULL when memory is out. */
snip_expr *api_expr_new(const char *const *names, size_t n);

#endif
