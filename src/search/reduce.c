/* reduce.c - smaller problems in a large one.
 *
 * A surrogate (surrogate.h) tells derivatives of y, and these tell how inputs act together. With
 * g_j the derivative of log|y| by log x_j, or of y by x_j where signs do not allow logarithms:
 *
 *   g_j constant = p in logarithms       y = x_j^p * f(others)
 *   g_j = 0                              y does not depend on x_j
 *   g_i = -g_j, g_i = g_j                y depends on x_i - x_j or x_i + x_j; in logarithms, on
 *                                        x_i/x_j or x_i*x_j
 *
 * Each hypothesis is a view with fewer columns, to which the other stages are applied, this one
 * included. A wrong hypothesis costs time and nothing else: what is found is judged on the user's
 * own table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/build.h"
#include "search/search_int.h"
#include "search/surrogate.h"

enum { PROBES = 200, TRIED = 5, DEPTH_MAX = 5, PAIRS_MAX = 200 };

#define GOOD_SURROGATE 0.2  /* 1 - r^2 above which derivatives mean nothing */
#define SPREAD_MAX     0.15 /* deviation of a power that still looks constant */
#define SCORE_MAX      0.1  /* of pairs: mean square of g_i -+ g_j, relative to their own */
#define SHARE          0.35 /* of the budget for all reductions */

typedef enum kind { FACTORS, DIFFERENCE, SUM, RATIO, PRODUCT } kind;

typedef struct hypothesis {
    kind kind;
    size_t i, j;  /* of a pair */
    double score; /* small: likely */
} hypothesis;

/* What the derivatives of a view tell. */
typedef struct sight {
    int logs;         /* y has one sign: there is a surrogate of log|y| */
    char *positive;   /* per column */
    double *power;    /* per column: mean of d log y / d log x, NaN if there is none */
    double *spread;   /* its deviation */
    hypothesis *pair; /* likely first */
    size_t pairs;
} sight;

/* Columns and target in logarithms where they allow it. Returns whether y does. */
static int in_logs(const double **lx, double **ly, const search_view *v, size_t rows,
                   char *positive, arena *a)
{
    for (size_t j = 0; j < v->dim; j++) {
        positive[j] = 1;
        for (size_t i = 0; i < rows && positive[j]; i++)
            positive[j] = v->x[j][i] > 0;
        double *to = positive[j] ? arena_array(a, rows, sizeof *to) : NULL;
        for (size_t i = 0; i < rows && to; i++)
            to[i] = log(v->x[j][i]);
        lx[j] = to ? to : v->x[j];
        positive[j] = to != NULL;
    }
    *ly = arena_array(a, rows, sizeof **ly);
    for (size_t i = 0; i < rows && *ly; i++) {
        if (!(v->y[i] * v->y[0] > 0))
            return 0;
        (*ly)[i] = log(fabs(v->y[i]));
    }
    return *ly != NULL;
}

/* mean (a + sign*b)^2 / mean (a^2 + b^2) */
static double pair_score(const double *a, const double *b, size_t n, int sign)
{
    double rest = 0, whole = 0;
    for (size_t i = 0; i < n; i++) {
        rest += (a[i] + sign * b[i]) * (a[i] + sign * b[i]);
        whole += a[i] * a[i] + b[i] * b[i];
    }
    return whole > 0 ? rest / whole : INFINITY;
}

/* Whether column j of g is alive: its derivatives are not all but nothing beside the others'. */
static int alive(const double *g, size_t dim, size_t n, size_t j)
{
    double own = 0, most = 0;
    for (size_t k = 0; k < dim; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += g[k * n + i] * g[k * n + i];
        most = fmax(most, sum);
        if (k == j)
            own = sum;
    }
    return own > 1e-4 * most;
}

static void add_pairs(sight *out, const double *g, const search_view *v, size_t n, int logs)
{
    for (size_t i = 0; i < v->dim; i++)
        for (size_t j = i + 1; j < v->dim; j++) {
            if (logs && (!out->positive[i] || !out->positive[j]))
                continue;
            if (!alive(g, v->dim, n, i) || !alive(g, v->dim, n, j))
                continue;
            for (int sign = -1; sign <= 1; sign += 2) {
                double score = pair_score(g + i * n, g + j * n, n, sign);
                if (score > SCORE_MAX || out->pairs == PAIRS_MAX)
                    continue;
                out->pair[out->pairs++] = (hypothesis){ logs ? (sign > 0 ? RATIO : PRODUCT)
                                                             : (sign > 0 ? DIFFERENCE : SUM),
                                                        i, j, score };
            }
        }
}

static int by_score(const void *a, const void *b)
{
    const hypothesis *p = a, *q = b;
    if (p->score != q->score)
        return p->score < q->score ? -1 : 1;
    return p->kind != q->kind ? (int)p->kind - (int)q->kind
                              : (int)(p->i * 256 + p->j) - (int)(q->i * 256 + q->j);
}

/* Looks at the derivatives of a view. Returns 0 when memory is out. */
static int look(sight *out, search *s, const search_view *v, arena *a)
{
    size_t rows = v->rows < SEARCH_MANY ? v->rows : SEARCH_MANY;
    size_t n = rows < PROBES ? rows : PROBES;
    const double **lx = arena_array(a, v->dim, sizeof *lx);
    double *ly, *g = arena_array(a, v->dim * n, sizeof *g);
    search_surrogate sur;
    *out = (sight){ .positive = arena_zero(a, v->dim),
                    .power = arena_array(a, v->dim, sizeof *out->power),
                    .spread = arena_array(a, v->dim, sizeof *out->spread),
                    .pair = arena_array(a, PAIRS_MAX, sizeof *out->pair) };
    if (!lx || !g || !out->positive || !out->power || !out->spread || !out->pair)
        return 0;
    for (size_t j = 0; j < v->dim; j++)
        out->power[j] = out->spread[j] = NAN;
    s->evaluations += 2 * rows; /* what it costs, roughly */
    out->logs = in_logs(lx, &ly, v, rows, out->positive, a);
    if (out->logs && search_surrogate_fit(&sur, lx, v->dim, ly, rows, a) &&
        sur.error < GOOD_SURROGATE) {
        if (!search_surrogate_gradient(&sur, lx, n, g, a))
            return 0;
        for (size_t j = 0; j < v->dim; j++) {
            double mean = 0, square = 0;
            for (size_t i = 0; i < n; i++)
                mean += g[j * n + i] / (double)n;
            for (size_t i = 0; i < n; i++)
                square += (g[j * n + i] - mean) * (g[j * n + i] - mean) / (double)n;
            out->power[j] = out->positive[j] ? mean : NAN;
            out->spread[j] = sqrt(square);
        }
        add_pairs(out, g, v, n, 1);
    }
    if (search_surrogate_fit(&sur, v->x, v->dim, v->y, rows, a) && sur.error < GOOD_SURROGATE) {
        if (!search_surrogate_gradient(&sur, v->x, n, g, a))
            return 0;
        add_pairs(out, g, v, n, 0);
    }
    qsort(out->pair, out->pairs, sizeof *out->pair, by_score);
    return 1;
}

/* ---- children ---- */

/* The view without the columns that are mere powers: y / prod x_j^p_j by the others. Returns 1, 0
 * if there is no such column or nothing would be left, -1 when memory is out. */
static int without_factors(search_view *out, const search *s, const search_view *v,
                           const sight *seen, arena *a)
{
    expr *by = arena_array(a, v->dim, sizeof *by);
    const double **x = arena_array(a, v->dim, sizeof *x);
    double *y = arena_array(a, v->rows, sizeof *y);
    if (!by || !x || !y)
        return -1;
    memcpy(y, v->y, v->rows * sizeof *y);
    expr outer = search_variable(v->dim, a);
    size_t left = 0;
    for (size_t j = 0; j < v->dim; j++) {
        double p = round(2 * seen->power[j]) / 2;
        if (!(seen->spread[j] < SPREAD_MAX) || !(fabs(seen->power[j] - p) < SPREAD_MAX) ||
            fabs(p) > 4) {
            x[left] = v->x[j];
            by[left++] = search_variable(j, a);
            continue;
        }
        for (size_t i = 0; i < v->rows; i++)
            y[i] /= pow(v->x[j][i], p);
        if (p != 0)
            outer = search_binary(EXPR_MUL, outer, search_power(search_variable(j, a), p, a), a);
    }
    if (left == v->dim || left == 0)
        return 0;
    for (size_t i = 0; i < v->rows; i++)
        if (!isfinite(y[i]))
            return 0;
    return outer.node && search_view_derive(out, s, v, outer, by, left, x, y, v->rows, a) ? 1 : -1;
}

/* The view with x_i and x_j replaced by one column made of both. */
static int with_pair(search_view *out, const search *s, const search_view *v, const hypothesis *h,
                     arena *a)
{
    static const expr_op ops[] = {
        [DIFFERENCE] = EXPR_SUB, [SUM] = EXPR_ADD, [RATIO] = EXPR_DIV, [PRODUCT] = EXPR_MUL
    };
    expr *by = arena_array(a, v->dim, sizeof *by);
    const double **x = arena_array(a, v->dim, sizeof *x);
    double *new = arena_array(a, v->rows, sizeof *new);
    size_t left = 1;
    if (!by || !x || !new)
        return -1;
    for (size_t i = 0; i < v->rows; i++) {
        double p = v->x[h->i][i], q = v->x[h->j][i];
        new[i] = h->kind == DIFFERENCE ? p - q
                 : h->kind == SUM      ? p + q
                 : h->kind == RATIO    ? p / q
                                       : p *q;
        if (!isfinite(new[i]))
            return 0;
    }
    x[0] = new;
    by[0] = search_binary(ops[h->kind], search_variable(h->i, a), search_variable(h->j, a), a);
    for (size_t k = 0; k < v->dim; k++)
        if (k != h->i && k != h->j) {
            x[left] = v->x[k];
            by[left++] = search_variable(k, a);
        }
    expr outer = search_variable(v->dim, a);
    return outer.node && search_view_derive(out, s, v, outer, by, left, x, v->y, v->rows, a) ? 1
                                                                                             : -1;
}

/* What is done with a smaller problem. */
static snip_code explore(search *s, const search_view *v, double until, snip_status *st);

static snip_code apply_stages(search *s, const search_view *v, double until, snip_status *st)
{
    static search_stage_run *const stages[] = { search_closed, search_products, search_enumerate };
    snip_code code = SNIP_OK;
    for (size_t k = 0; k < sizeof stages / sizeof *stages && code == SNIP_OK && !search_over(s);
         k++)
        code = stages[k](s, v, st);
    if (code == SNIP_OK && !search_over(s) && search_spent(s) < until)
        code = explore(s, v, until, st);
    return code;
}

static snip_code explore(search *s, const search_view *v, double until, snip_status *st)
{
    arena_pos mark = arena_mark(s->a);
    sight seen;
    search_view child;
    snip_code code = SNIP_OK;
    if (v->dim < 2 || v->depth >= DEPTH_MAX)
        return SNIP_OK;
    if (!look(&seen, s, v, s->a))
        return status_nomem(st);
    int made = without_factors(&child, s, v, &seen, s->a);
    if (made < 0)
        code = status_nomem(st);
    else if (made > 0)
        code = apply_stages(s, &child, until, st);
    size_t tried = seen.pairs < TRIED ? seen.pairs : TRIED;
    if (v->depth > 1 && tried > 2)
        tried = 2;
    for (size_t k = 0; k < tried && code == SNIP_OK && !search_over(s) && search_spent(s) < until;
         k++) {
        arena_pos before = arena_mark(s->a);
        made = with_pair(&child, s, v, &seen.pair[k], s->a);
        if (made < 0)
            code = status_nomem(st);
        else if (made > 0)
            code = apply_stages(s, &child, until, st);
        arena_reset(s->a, before);
    }
    arena_reset(s->a, mark);
    return code;
}

snip_code search_reduce(search *s, const search_view *v, snip_status *st)
{
    return explore(s, v, fmin(1, search_spent(s) + SHARE), st);
}
