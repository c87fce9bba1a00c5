/* prepare.c - the user's table as a search sees it: a sample of rows, some of them held out,
 * columns of moderate size, and how much of y is noise at most. */
#include "search/prepare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/streams.h"
#include "base/text.h"
#include "search/bits.h"

#define SHARED_UNIT                                                                                \
    2.0 /* columns whose sizes differ by less, in powers of ten, are scaled alike                  \
         */

#define ROUNDING_MOST 1e-3 /* of y's variance */

int search_take_rows(regress_table *out, const double **weight, const regress_table *t,
                     const size_t *row, size_t rows, arena *a)
{
    double **x = arena_array(a, t->dim + 1, sizeof *x), *y = arena_array(a, rows + 1, sizeof *y);
    double *w = arena_array(a, rows + 1, sizeof *w);
    *out = *t;
    if (!x || !y || !w)
        return 0;
    for (size_t j = 0; j < t->dim; j++) {
        x[j] = arena_array(a, rows + 1, sizeof *x[j]);
        if (!x[j])
            return 0;
        for (size_t i = 0; i < rows; i++)
            x[j][i] = t->x[j][row[i]];
    }
    for (size_t i = 0; i < rows; i++) {
        y[i] = t->y[row[i]];
        w[i] = *weight ? (*weight)[row[i]] : 1;
    }
    *weight = *weight ? w : NULL;
    out->x = (const double *const *)x;
    out->y = y;
    out->rows = rows;
    return 1;
}

snip_code search_leave_out_rows(regress_table *out, const size_t **place, const regress_table *t,
                                search_how *how, arena *a, snip_status *st)
{
    size_t *row = how->weight ? arena_array(a, t->rows + 1, sizeof *row) : NULL, n = 0;
    *out = *t;
    *place = row;
    if (!how->weight)
        return SNIP_OK;
    for (size_t i = 0; i < t->rows && row; i++) {
        if (!isfinite(how->weight[i]) || how->weight[i] < 0)
            return status_fail(st, SNIP_FORMAT, i,
                               "the weight of row %zu is %g; it must be 0 or more", i + 1,
                               how->weight[i]);
        if (how->weight[i] > 0)
            row[n++] = i;
    }
    return row && search_take_rows(out, &how->weight, t, row, n, a) ? SNIP_OK : status_nomem(st);
}

snip_code search_sample_rows(regress_table *out, const size_t **place, const regress_table *t,
                             search_how *how, arena *a, snip_status *st)
{
    rng r;
    size_t rows = t->rows < SEARCH_ROWS_MAX ? t->rows : SEARCH_ROWS_MAX;
    *out = *t;
    if (rows == t->rows)
        return SNIP_OK;
    size_t *row = arena_array(a, t->rows, sizeof *row);
    if (!row)
        return status_nomem(st);
    for (size_t i = 0; i < t->rows; i++)
        row[i] = i;
    streams_rng(&r, how->seed, STREAMS_SEARCH_ROWS, 0);
    for (size_t i = 0; i < rows; i++) { /* the first `rows` steps of a shuffle */
        size_t k = i + rng_u64(&r) % (t->rows - i), other = row[k];
        row[k] = row[i];
        row[i] = other;
    }
    if (!search_take_rows(out, &how->weight, t, row, rows, a))
        return status_nomem(st);
    for (size_t i = 0; i < rows && *place; i++)
        row[i] = (*place)[row[i]];
    *place = row;
    return SNIP_OK;
}

/* The median size of v as a power of ten; 0 if there is none. */
static double magnitude(const double *v, size_t rows, double *tmp)
{
    for (size_t i = 0; i < rows; i++)
        tmp[i] = fabs(v[i]);
    numbers_sort(tmp, rows);
    double middle = tmp[rows / 2] > 0 ? tmp[rows / 2] : tmp[rows - 1];
    return middle > 0 ? log10(middle) : 0;
}

/* The power of ten by which column k is scaled, 0 where it is near enough to 1. Columns that are
 * within two powers of ten share theirs: they may be of one unit, and have a difference. */
static int power_of_ten(const double *size, size_t n, size_t k)
{
    double low = size[k], high = size[k];
    for (size_t turn = 0; turn < n; turn++)
        for (size_t m = 0; m < n; m++) {
            int near = size[m] > high - SHARED_UNIT && size[m] < low + SHARED_UNIT;
            low = near ? fmin(low, size[m]) : low;
            high = near ? fmax(high, size[m]) : high;
        }
    return low >= -3 && high <= 3 ? 0 : (int)round((low + high) / 2);
}

/* 10^power * variable. The number is free: the unit says nothing about the law. */
static expr scaled(int power, size_t variable, arena *a)
{
    expr e = { arena_zero(a, 3 * sizeof *e.node), 3 };
    if (e.node) {
        e.node[0].op = EXPR_MUL;
        e.node[1] = (expr_node){ .op = EXPR_NUMBER, .value = pow(10, power) };
        e.node[2] = (expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)variable };
        expr_measure(e);
    }
    return e;
}

static int variable(expr *out, size_t j, arena *a)
{
    expr_node *node = arena_zero(a, sizeof *node);
    if (node)
        *node = (expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)j, .len = 1 };
    *out = (expr){ node, 1 };
    return node != NULL;
}

/* The root view. Where nothing has to be scaled its columns are the user's own. */
static int make_root(search *s, arena *a)
{
    size_t rows = s->rows[0];
    search_view *v = &s->root;
    double *tmp = arena_array(a, rows, sizeof *tmp);
    const double **x = arena_array(a, s->dim, sizeof *x);
    expr *by = arena_array(a, s->dim, sizeof *by);
    double *size = arena_array(a, s->dim, sizeof *size);
    int any = 0;
    if (!tmp || !x || !by || !size)
        return 0;
    for (size_t j = 0; j < s->dim; j++)
        size[j] = magnitude(s->x[j], rows, tmp);
    *v = (search_view){ .dim = s->dim, .rows = rows, .y = s->y };
    for (size_t j = 0; j <= s->dim; j++) {
        const double *from = j < s->dim ? s->x[j] : s->y;
        double own = j < s->dim ? 0 : magnitude(from, rows, tmp);
        int power = j < s->dim ? power_of_ten(size, s->dim, j) : power_of_ten(&own, 1, 0);
        double *to = power ? arena_array(a, rows, sizeof *to) : NULL;
        if (power && !to)
            return 0;
        for (size_t i = 0; i < rows && power; i++)
            to[i] = from[i] / pow(10, power);
        any |= power;
        if (j < s->dim) {
            x[j] = power ? to : from;
            by[j] = power ? scaled(-power, j, a) : (expr){ NULL, 0 };
            if (!power && !variable(&by[j], j, a))
                return 0;
            if (!by[j].node)
                return 0;
        } else if (power) {
            v->y = to;
            v->outer = scaled(power, s->dim, a);
            if (!v->outer.node)
                return 0;
        }
    }
    v->x = x;
    v->by = any ? by : NULL;
    return 1;
}

int search_view_derive(search_view *out, const search *s, const search_view *v,
                       const search_view *own, arena *a)
{
    expr *of = arena_array(a, v->dim + 1, sizeof *of); /* v's columns and value, for the user */
    expr *new = arena_array(a, own->dim, sizeof *new);
    if (!of || !new)
        return 0;
    for (size_t j = 0; j < v->dim; j++)
        if (v->by)
            of[j] = v->by[j];
        else if (!variable(&of[j], j, a))
            return 0;
    if (!variable(&of[v->dim], s->dim, a))
        return 0;
    for (size_t j = 0; j < own->dim; j++) {
        new[j] = expr_substitute(own->by[j], of, v->dim, a);
        if (!new[j].node)
            return 0;
    }
    expr whole = expr_substitute(own->outer, of, v->dim + 1, a);
    if (whole.node && v->outer.node) {
        expr *into = arena_array(a, s->dim + 1, sizeof *into);
        if (!into)
            return 0;
        for (size_t j = 0; j < s->dim; j++)
            if (!variable(&into[j], j, a))
                return 0;
        into[s->dim] = whole;
        whole = expr_substitute(v->outer, into, s->dim + 1, a);
    }
    *out = *own;
    out->outer = whole;
    out->by = new;
    out->depth = v->depth + 1;
    return whole.node != NULL;
}

/* Whether column j says nothing, given those before it; *like is the one that it equals, or j. */
static int says_nothing(const regress_table *t, size_t j, size_t *like)
{
    size_t i = 1;
    while (i < t->rows && t->x[j][i] == t->x[j][0])
        i++;
    *like = j;
    if (i >= t->rows)
        return 1;
    for (size_t k = 0; k < j; k++)
        if (memcmp(t->x[k], t->x[j], t->rows * sizeof *t->x[j]) == 0) {
            *like = k;
            return 1;
        }
    return 0;
}

/* Replaces formulas in the user's inputs by the same in what is left of them. */
static snip_code in_useful(const expr **list, size_t n, const expr *by, size_t dim, arena *a,
                           snip_status *st)
{
    expr *out = arena_array(a, n + 1, sizeof *out);
    if (!out)
        return status_nomem(st);
    for (size_t k = 0; k < n; k++) {
        out[k] = expr_substitute((*list)[k], by, dim, a);
        if (!out[k].node)
            return status_nomem(st);
    }
    *list = out;
    return SNIP_OK;
}

snip_code search_leave_out(search *s, regress_table *out, const regress_table *t, search_how *how,
                           snip_status *st)
{
    *out = *t;
    if (t->rows < SEARCH_ROWS_MIN) /* refused soon after */
        return SNIP_OK;
    size_t *place = arena_array(s->a, t->dim + 1, sizeof *place), n = 0;
    const double **x = arena_array(s->a, t->dim + 1, sizeof *x);
    const char **name = arena_array(s->a, t->dim + 1, sizeof *name);
    expr *by = arena_zero(s->a, (t->dim + 1) * sizeof *by);
    if (!place || !x || !name || !by)
        return status_nomem(st);
    for (size_t j = 0; j < t->dim; j++) {
        size_t like;
        if (says_nothing(t, j, &like) && (n > 0 || j + 1 < t->dim)) {
            by[j] = like == j ? (expr){ arena_zero(s->a, sizeof *by[j].node), 1 } : by[like];
            if (!by[j].node)
                return status_nomem(st);
            if (like == j)
                *by[j].node = (expr_node){ .op = EXPR_NUMBER, .value = t->x[j][0], .len = 1 };
            continue;
        }
        if (!variable(&by[j], n, s->a))
            return status_nomem(st);
        place[n] = j;
        x[n] = t->x[j];
        name[n++] = t->names ? t->names[j] : NULL;
    }
    if (n == t->dim)
        return SNIP_OK;
    s->place = place;
    out->dim = n;
    out->x = x;
    out->names = t->names ? name : NULL;
    return in_useful(&how->guess, how->guesses, by, t->dim, s->a, st) == SNIP_OK
               ? in_useful(&how->except, how->excepts, by, t->dim, s->a, st)
               : SNIP_NOMEM;
}

double search_length(const search *s, expr e, double loss, size_t rows)
{
    const search_scale of = {
        .dim = s->dim, .rows = rows, .telling = s->telling * (double)rows, .rounding = s->rounding
    };
    return search_bits(e, loss, &of);
}

expr search_for_user(const search *s, expr e, arena *a)
{
    expr out = { arena_copy(a, e.node, e.count * sizeof *e.node), e.count };
    for (size_t i = 0; s->place && out.node && i < out.count; i++)
        if (out.node[i].op == EXPR_VARIABLE)
            out.node[i].var = (uint16_t)s->place[out.node[i].var];
    return out;
}

snip_code search_prepare(search *s, const regress_table *t, snip_status *st)
{
    regress_problem p;
    if (t->rows < SEARCH_ROWS_MIN)
        return status_fail(st, SNIP_FORMAT, 0,
                           "the table has %zu row%s; at least %d are needed to search", t->rows,
                           text_plural(t->rows), SEARCH_ROWS_MIN);
    if (t->dim > SEARCH_INPUTS_MAX)
        return status_fail(st, SNIP_FORMAT, 0, "%zu inputs, the most are %d: choose some of them",
                           t->dim, SEARCH_INPUTS_MAX);
    const double *weight = s->how->weight;
    snip_code code = weight ? regress_problem_weighted(&p, t, weight, s->how->seed, s->a, st)
                            : regress_problem_make(&p, t, s->how->seed, s->a, st);
    if (code != SNIP_OK)
        return code;
    s->dim = p.dim;
    s->rows[0] = p.train;
    s->rows[1] = p.rows - p.train;
    s->x = p.x;
    s->y = p.y;
    s->weight = p.weight;
    s->variance[0] = p.variance[0];
    s->variance[1] = s->rows[1] ? p.variance[1] : p.variance[0];
    if (!(s->variance[1] > 0)) /* the rows held out are all alike */
        s->variance[1] = s->variance[0];
    /* Numbers of so few digits that rounding would be a large part of them may be counts. */
    s->rounding = fmin(numbers_rounding(p.y, p.weight, p.rows) / s->variance[0], ROUNDING_MOST);
    s->telling = 1;
    s->problem = arena_copy(s->a, &p, sizeof p);
    if (!s->problem || !make_root(s, s->a))
        return status_nomem(st);
    return SNIP_OK;
}
