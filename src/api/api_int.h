/* api_int.h - what the files behind snip.h share. */
#ifndef API_INT_H
#define API_INT_H

#include "model/opened.h"
#include "regress/problem.h"

struct snip_expr {
    arena *a;
    expr e;
    expr_names names;
};

struct snip_model {
    model_opened *t;
};

/* Something that a call cannot do without. */
typedef struct api_need {
    int missing;
    const char *what;
} api_need;

/* What every function that can fail begins with: st is cleared, and what is missing is said. The
 * list ends where `what` is NULL; API_BEGIN(st, { !m, "the model" }, ...) writes it. */
snip_code api_begin(snip_status *st, const api_need *need);
#define API_BEGIN(st, ...) api_begin((st), (const api_need[]){ __VA_ARGS__, { 0, NULL } })

/* The same where something is made: *out is NULL until it is. */
#define API_MAKE(out, st, ...)                                                                     \
    ((out) ? (void)(*(out) = NULL) : (void)0, API_BEGIN(st, { !(out), "out" }, __VA_ARGS__))

/* Fails with SNIP_FORMAT, st->pos being the place, where a name is NULL, empty or there twice. NULL
 * for `names` is fine. */
snip_code api_check_names(const char *const *names, size_t n, snip_status *st);

/* Fails with SNIP_FORMAT, st->pos being the column or row, where the table's names are not good,
 * the target or a column is NULL or a value is not finite. */
snip_code api_check_table(const snip_table *t, snip_status *st);

/* An empty handle that knows its variables' names. NULL when memory is out. */
snip_expr *api_expr_new(const char *const *names, size_t n);

/* A handle around a copy of e; NULL when memory is out. */
const snip_expr *api_expr_copy(expr e, const expr_names *names);
void api_expr_free(const snip_expr *e);

/* The user's table for the inside: checks what table files are checked for when they are read, and
 * names inputs that have no names. */
snip_code api_table(regress_table *out, const snip_table *t, arena *a, snip_status *st);

/* The cores to use: 0 asks for all. */
int api_cores(int asked);

#endif
