/* api_int.h - what the files behind snip.h share. */
#ifndef TOOLS_API_INT_H
#define TOOLS_API_INT_H

#include "expr/expr.h"

struct snip_expr {
    arena *a;
    expr e;
    expr_names names;
};

/* An empty handle that knows its variables' names. NULL when memory is out. */
snip_expr *api_expr_new(const char *const *names, size_t n);

#endif
