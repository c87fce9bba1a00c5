/* api.c - the public face of formulas: handles around the arena-based inside.
 *
 * Numbers in formulas have a decimal point whatever the program's locale is, so each call reads and
 * writes text under the C locale. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_int.h"
#include "base/text.h"

const char *snip_version(void)
{
    return SNIP_VERSION;
}

void snip_expr_free(snip_expr *e)
{
    if (e) {
        arena_free(e->a);
        free(e);
    }
}

snip_code api_begin(snip_status *st, const api_need *need)
{
    if (st)
        *st = (snip_status){ .code = SNIP_OK };
    for (; need->what; need++)
        if (need->missing)
            return status_fail(st, SNIP_FORMAT, 0, "%s is NULL", need->what);
    return SNIP_OK;
}

static int by_name(const void *a, const void *b)
{
    const char *const *left = *(const char *const *const *)a, *const *right =
                                                                  *(const char *const *const *)b;
    int order = strcmp(*left, *right);
    return order ? order : left < right ? -1 : left > right; /* the second of equals comes later */
}

snip_code api_check_names(const char *const *names, size_t n, snip_status *st)
{
    for (size_t i = 0; names && i < n; i++)
        if (!names[i] || !*names[i])
            return status_fail(st, SNIP_FORMAT, i, "name %zu is %s", i,
                               names[i] ? "empty" : "NULL");
    if (!names || n < 2)
        return SNIP_OK;
    const char *const **at = calloc(n, sizeof *at);
    if (!at)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++)
        at[i] = &names[i];
    qsort(at, n, sizeof *at, by_name);
    snip_code code = SNIP_OK;
    for (size_t i = 1; i < n && code == SNIP_OK; i++)
        if (strcmp(*at[i - 1], *at[i]) == 0)
            code = status_fail(st, SNIP_FORMAT, (size_t)(at[i] - names),
                               "names %zu and %zu are both '%.60s'", (size_t)(at[i - 1] - names),
                               (size_t)(at[i] - names), *at[i]);
    free(at);
    return code;
}

snip_code api_check_table(const snip_table *t, snip_status *st)
{
    snip_code named = api_check_names(t->names, t->inputs, st);
    if (named != SNIP_OK)
        return named;
    if ((t->inputs && !t->x) || !t->y)
        return status_fail(st, SNIP_FORMAT, 0, "the table has no %s", t->y ? "columns" : "target");
    for (size_t j = 0; j < t->inputs; j++)
        if (!t->x[j])
            return status_fail(st, SNIP_FORMAT, j, "column %zu is NULL", j);
    for (size_t j = 0; j <= t->inputs; j++)
        for (size_t i = 0; i < t->rows; i++)
            if (!isfinite(j < t->inputs ? t->x[j][i] : t->y[i]))
                return status_fail(st, SNIP_FORMAT, i, "row %zu holds a value that is not finite",
                                   i);
    return SNIP_OK;
}

snip_expr *api_expr_new(const char *const *names, size_t n)
{
    snip_expr *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->a = arena_new(0);
    const char **copy = h->a ? arena_array(h->a, n + 1, sizeof *copy) : NULL;
    int good = copy != NULL;
    for (size_t i = 0; good && i < n; i++)
        good = (copy[i] = arena_text(h->a, names[i], strlen(names[i]))) != NULL;
    if (!good) {
        snip_expr_free(h);
        return NULL;
    }
    h->names = (expr_names){ copy, n };
    return h;
}

snip_code snip_expr_parse(snip_expr **out, const char *text, const char *const *names,
                          size_t n_names, snip_status *st)
{
    snip_code code = API_MAKE(out, st, { !text, "the formula" });
    if (code == SNIP_OK)
        code = api_check_names(names, n_names, st);
    if (code != SNIP_OK)
        return code;
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    snip_expr *h = api_expr_new(names, names ? n_names : 0);
    if (!h || !c) {
        snip_expr_free(h);
        if (c)
            freelocale(c);
        return status_nomem(st);
    }
    locale_t before = uselocale(c);
    code = expr_parse(&h->e, text, names ? &h->names : NULL, h->a, st);
    uselocale(before);
    freelocale(c);
    if (code == SNIP_OK)
        *out = h;
    else
        snip_expr_free(h);
    return code;
}

/* The column that a variable of e means, or n. */
static size_t column_of(const snip_expr *e, size_t variable, const char *const *names, size_t n)
{
    size_t j = 0;
    const char *name = variable < e->names.count ? e->names.name[variable] : NULL;
    while (j < n && (name ? strcmp(names[j], name) != 0
                          : expr_variable_index(names[j], strlen(names[j])) != (int)variable))
        j++;
    return j;
}

snip_code snip_expr_bind(snip_expr **out, const snip_expr *e, const char *const *names,
                         size_t n_names, snip_status *st)
{
    snip_code code =
        API_MAKE(out, st, { !e, "the formula" }, { n_names && !names, "the list of names" });
    if (code == SNIP_OK)
        code = api_check_names(names, n_names, st);
    if (code != SNIP_OK)
        return code;
    snip_expr *h = api_expr_new(names, n_names);
    if (h)
        h->e = (expr){ arena_copy(h->a, e->e.node, e->e.count * sizeof *e->e.node), e->e.count };
    code = h && h->e.node ? SNIP_OK : status_nomem(st);
    for (size_t i = 0; code == SNIP_OK && i < h->e.count; i++) {
        expr_node *node = &h->e.node[i];
        size_t variable = node->var;
        if (node->op != EXPR_VARIABLE)
            continue;
        size_t j = column_of(e, variable, names, n_names);
        node->var = (uint16_t)j;
        if (j == n_names && variable < e->names.count)
            code = status_fail(st, SNIP_FORMAT, 0, "there is no column called '%.60s'",
                               e->names.name[variable]);
        else if (j == n_names)
            code = status_fail(st, SNIP_FORMAT, 0, "there is no column called 'x%zu'", variable);
        else if (j >= EXPR_VARIABLES_MAX)
            code = status_fail(st, SNIP_UNSUPPORTED, 0, "more than %d columns", EXPR_VARIABLES_MAX);
    }
    if (code == SNIP_OK)
        *out = h;
    else
        snip_expr_free(h);
    return code;
}

snip_code snip_expr_normal(snip_expr **out, const snip_expr *e, int assume_positive,
                           snip_status *st)
{
    snip_code code = API_MAKE(out, st, { !e, "the formula" });
    if (code != SNIP_OK)
        return code;
    snip_expr *h = api_expr_new(e->names.name, e->names.count);
    if (!h)
        return status_nomem(st);
    expr_domain domain = { .assume_positive = assume_positive };
    code = expr_normal(&h->e, e->e, &domain, h->a, st);
    if (code == SNIP_OK)
        *out = h;
    else
        snip_expr_free(h);
    return code;
}

snip_code snip_expr_eval(const snip_expr *e, const double *const *x, size_t columns, size_t rows,
                         double *y, size_t *finite, snip_status *st)
{
    snip_code code =
        API_BEGIN(st, { !e, "the formula" }, { columns && !x, "x" }, { rows && !y, "y" });
    if (code != SNIP_OK)
        return code;
    size_t needed = expr_inputs(e->e);
    if (needed > columns)
        return status_fail(st, SNIP_FORMAT, 0, "the formula needs %zu column%s, there %s %zu",
                           needed, text_plural(needed), columns == 1 ? "is" : "are", columns);
    for (size_t i = 0; i < e->e.count; i++)
        if (e->e.node[i].op == EXPR_VARIABLE && !x[e->e.node[i].var])
            return status_fail(st, SNIP_FORMAT, e->e.node[i].var, "column %d is NULL",
                               e->e.node[i].var);
    arena *tmp = arena_new(0);
    size_t good = tmp ? expr_eval(e->e, x, rows, y, tmp) : (size_t)-1;
    arena_free(tmp);
    if (good == (size_t)-1)
        return status_nomem(st);
    if (finite)
        *finite = good;
    return SNIP_OK;
}

size_t snip_expr_print(const snip_expr *e, snip_format format, char *buf, size_t size)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    arena *tmp = arena_new(0);
    size_t length = 0;
    if (!buf)
        size = 0;
    if (size)
        buf[0] = 0;
    if (e && c && tmp) {
        locale_t before = uselocale(c);
        const char *s = expr_print(e->e, format, &e->names, 0, tmp);
        uselocale(before);
        if (s)
            length = (size_t)snprintf(buf, size, "%s", s);
    }
    if (c)
        freelocale(c);
    arena_free(tmp);
    return length;
}

size_t snip_expr_nodes(const snip_expr *e)
{
    return e ? e->e.count : 0;
}

size_t snip_expr_inputs(const snip_expr *e)
{
    return e ? expr_inputs(e->e) : 0;
}
