/* reduce.c - smaller problems in a large one.
 *
 * Surrogates (surrogate.h) tell derivatives of y, and these tell how inputs act. With y_j the
 * derivative of y, or of log|y|, by the coordinate c(x_j) of input j:
 *
 *   y_j constant, of log|y| by log x_j   y = x_j^p * f(others); p = 0: without x_j. Where y has no
 *                                        logarithm: y_j = p*y, of y by log x_j
 *   y_j constant, of y by c(x_j)         y = b*c(x_j) + f(others)
 *   y_i = -+ y_j                         y depends on c(x_i) and c(x_j) by their difference or sum
 *   y_j = k*y_i in logarithms            y depends on them by x_i * x_j^k
 *   y_j = k*(y_i - p), of log|y|         y = x_i^p * f(x_i * x_j^k, others)
 *
 * with c(x) one of x, x^2, 1/x and log x: so x_1 - x_2, x^2 + y^2, 1/a + 1/b and m*r^2 are seen, in
 * whatever they are wrapped; the last line is what dimensional analysis does. Factors are also
 * looked for by trial (factors.h), functions among them. Each hypothesis is a
 * view with fewer columns, to which the other stages are applied, this one included. A wrong
 * hypothesis costs time and nothing else: what is found is judged on the user's own table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/build.h"
#include "search/factors.h"
#include "search/surrogate.h"

enum {
    PROBES = 200,
    TRIED = 6,
    TRIED_DEEP = 2,
    DEPTH_MAX = 5,
    FOUND_MAX = 400,
    DEGREE = SEARCH_SURROGATE_DEGREE_MAX
};

#define GOOD_SURROGATE 0.2  /* 1 - r^2 above which derivatives mean nothing */
#define SPREAD_MAX     0.15 /* deviation of a power that still looks constant */
#define SCORE_MAX      0.1  /* of what varies in a derivative that should not, relative to all */
#define SHARE          0.35 /* of the budget for all reductions */
#define SHARE_QUICK    0.08 /* and for those before them that linear algebra may solve */
#define EXPONENT_MAX   4.0
#define SCALED_VARIES  2e-3 /* share of a slope's square that is not that of a power, at least */
#define SCALED_COST    2.0  /* by which its score is worse than that of a plain pair */

/* Coordinates of an input. */
typedef enum coordinate { PLAIN, SQUARE, RECIPROCAL, LOGARITHM, COORDINATES } coordinate;

/* What an input, or two of them, may be to y. */
typedef enum kind { TERM, FACTOR, DIFFERENCE, SUM, POWERS, SCALED } kind;

typedef struct hypothesis {
    kind kind;
    coordinate c;
    size_t i, j;  /* of a pair; i alone for a term or a factor */
    double k, p;  /* of a term its factor k; of powers x_i * x_j^k, beside x_i^p; of h(x_i)^p p */
    expr_op h;    /* of a factor */
    double score; /* small: likely */
} hypothesis;

/* What the derivatives of a view tell. */
typedef struct sight {
    int logs;          /* y has one sign: there is a surrogate of log|y| */
    char *positive;    /* per column */
    double *power;     /* per column: mean of d log y / d log x, NaN if there is none */
    double *spread;    /* its deviation */
    hypothesis *found; /* likely first */
    size_t count;
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

/* mean (b - k*a)^2 / mean (k^2*a^2 + b^2) */
static double pair_score(const double *a, const double *b, size_t n, double k)
{
    double rest = 0, whole = 0;
    for (size_t i = 0; i < n; i++) {
        rest += (b[i] - k * a[i]) * (b[i] - k * a[i]);
        whole += k * k * a[i] * a[i] + b[i] * b[i];
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

/* Keeps a hypothesis, once: of two surrogates the one that likes it better counts. */
static void suppose(sight *out, hypothesis h)
{
    if (!(h.score < SCORE_MAX))
        return;
    for (size_t k = 0; k < out->count; k++) {
        hypothesis *o = &out->found[k];
        if (o->kind == h.kind && o->c == h.c && o->i == h.i && o->j == h.j && o->h == h.h &&
            (h.kind < POWERS || (o->k == h.k && o->p == h.p))) {
            if (h.score < o->score)
                *o = h;
            return;
        }
    }
    if (out->count < FOUND_MAX)
        out->found[out->count++] = h;
}

/* The derivative of coordinate c at x. */
static double slope(coordinate c, double x)
{
    return c == PLAIN ? 1 : c == SQUARE ? 2 * x : c == RECIPROCAL ? -1 / (x * x) : 1 / x;
}

static double coordinate_value(coordinate c, double x)
{
    return c == PLAIN ? x : c == SQUARE ? x * x : c == RECIPROCAL ? 1 / x : log(x);
}

static expr coordinate_formula(coordinate c, expr x, arena *a)
{
    return c == PLAIN       ? x
           : c == LOGARITHM ? search_unary(EXPR_LOG, x, a)
                            : search_power(x, c == SQUARE ? 2 : -1, a);
}

/* An exponent as people write them: a whole number or a half. */
static double exponent_near(double k)
{
    return round(2 * k) / 2;
}

static void suppose_pair(sight *out, coordinate c, size_t i, size_t j, const double *a,
                         const double *b, size_t n)
{
    if (c != LOGARITHM) {
        suppose(out, (hypothesis){ DIFFERENCE, c, i, j, -1, 0, 0, pair_score(a, b, n, -1) });
        suppose(out, (hypothesis){ SUM, c, i, j, 1, 0, 0, pair_score(a, b, n, 1) });
        return;
    }
    double ab = 0, aa = 0;
    for (size_t r = 0; r < n; r++) {
        ab += a[r] * b[r];
        aa += a[r] * a[r];
    }
    double k = exponent_near(ab / aa);
    if (k != 0 && fabs(k) <= EXPONENT_MAX)
        suppose(out, (hypothesis){ POWERS, c, i, j, k, 0, 0, pair_score(a, b, n, k) });
}

/* x_i^p * f(x_i * x_j^k): then b = k*(a - p*t) of the derivatives a, b by log x_i, log x_j, with t
 * = 1 for those of log|y| and t = y for those of y. Two numbers are fitted, so it has to be better
 * than what needs none; and where a hardly differs from a multiple of t, x_i is a mere power. */
static void suppose_scaled(sight *out, size_t i, size_t j, const double *a, const double *b,
                           const double *t, size_t n)
{
    double aa = 0, at = 0, tt = 0, ab = 0, bt = 0, bb = 0, rest = 0;
    for (size_t r = 0; r < n; r++) {
        aa += a[r] * a[r];
        at += a[r] * t[r];
        tt += t[r] * t[r];
        ab += a[r] * b[r];
        bt += b[r] * t[r];
        bb += b[r] * b[r];
    }
    double own = aa - at * at / tt, other = bb - bt * bt / tt; /* what is not along t */
    double k = exponent_near((ab - at * bt / tt) / own);
    double p = exponent_near((k * at - bt) / (k * tt));
    if (k == 0 || p == 0 || fabs(k) > EXPONENT_MAX || fabs(p) > EXPONENT_MAX ||
        !(own > SCALED_VARIES * aa) || !(other > SCALED_VARIES * bb))
        return;
    for (size_t r = 0; r < n; r++)
        rest += (b[r] - k * (a[r] - p * t[r])) * (b[r] - k * (a[r] - p * t[r]));
    suppose(out, (hypothesis){ SCALED, LOGARITHM, i, j, k, p, 0,
                               SCALED_COST * rest / (other + k * k * own) });
}

/* A term b*c(x_i): the share of the derivative that varies. */
static void suppose_term(sight *out, coordinate c, size_t i, const double *g, size_t n)
{
    double mean = 0, rest = 0, whole = 0;
    for (size_t r = 0; r < n; r++)
        mean += g[r] / (double)n;
    for (size_t r = 0; r < n; r++) {
        rest += (g[r] - mean) * (g[r] - mean);
        whole += g[r] * g[r];
    }
    double near = exponent_near(mean);
    if (near != 0 && fabs(near - mean) < 0.1 * fabs(mean))
        mean = near;
    suppose(out, (hypothesis){ TERM, c, i, i, mean, 0, 0, whole > 0 ? rest / whole : INFINITY });
}

/* The powers that inputs are in y, from the gradient of y where it has no logarithm:
 * x_j * dy/dx_j = p*y. */
static void see_powers(sight *out, const double *g, const search_view *v, size_t n)
{
    for (size_t j = 0; j < v->dim; j++) {
        double hy = 0, yy = 0, rest = 0;
        for (size_t r = 0; r < n; r++) {
            hy += v->x[j][r] * g[j * n + r] * v->y[r];
            yy += v->y[r] * v->y[r];
        }
        for (size_t r = 0; r < n; r++) {
            double d = v->x[j][r] * g[j * n + r] - hy / yy * v->y[r];
            rest += d * d;
        }
        out->power[j] = out->positive[j] ? hy / yy : NAN;
        out->spread[j] = sqrt(rest / yy);
    }
}

/* What the gradient g of a surrogate tells, as derivatives by the inputs themselves. `terms`: it is
 * that of y, not of log|y|. */
static int suppose_all(sight *out, const double *g, const search_view *v, size_t n, int terms,
                       arena *a)
{
    double *h = arena_array(a, v->dim * n, sizeof *h), *one = arena_array(a, n, sizeof *one);
    if (!h || !one)
        return 0;
    for (size_t r = 0; r < n; r++)
        one[r] = 1;
    for (coordinate c = 0; c < COORDINATES; c++) {
        for (size_t j = 0; j < v->dim; j++)
            for (size_t r = 0; r < n && (c == PLAIN || out->positive[j]); r++)
                h[j * n + r] = g[j * n + r] / slope(c, v->x[j][r]);
        for (size_t i = 0; i < v->dim; i++) {
            if ((c != PLAIN && !out->positive[i]) || !alive(g, v->dim, n, i))
                continue;
            if (terms)
                suppose_term(out, c, i, h + i * n, n);
            for (size_t j = i + 1; j < v->dim; j++)
                if ((c == PLAIN || out->positive[j]) && alive(g, v->dim, n, j)) {
                    suppose_pair(out, c, i, j, h + i * n, h + j * n, n);
                    if (c == LOGARITHM && !(terms && out->logs))
                        suppose_scaled(out, i, j, h + i * n, h + j * n, terms ? v->y : one, n);
                }
        }
    }
    return 1;
}

static int by_score(const void *a, const void *b)
{
    const hypothesis *p = a, *q = b;
    if (p->score != q->score)
        return p->score < q->score ? -1 : 1;
    if (p->h != q->h)
        return (int)p->h - (int)q->h;
    if (p->kind != q->kind || p->c != q->c)
        return p->kind != q->kind ? (int)p->kind - (int)q->kind : (int)p->c - (int)q->c;
    return (int)(p->i * 256 + p->j) - (int)(q->i * 256 + q->j);
}

/* Factors by trial: powers are as good as seen, functions are hypotheses. */
static void suppose_factors(sight *out, search *s, const search_view *v, arena *a)
{
    search_factor f[SEARCH_INPUTS_MAX];
    size_t n = search_factors_find(f, SEARCH_INPUTS_MAX, s, v, out->power, a);
    for (size_t k = 0; k < n; k++)
        if (f[k].h == EXPR_VARIABLE) {
            out->power[f[k].i] = f[k].p;
            out->spread[f[k].i] = 0;
        } else {
            suppose(out, (hypothesis){ .kind = FACTOR,
                                       .i = f[k].i,
                                       .j = f[k].i,
                                       .p = f[k].p,
                                       .h = f[k].h,
                                       .score = SCORE_MAX / 2 * f[k].score });
        }
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
                    .found = arena_array(a, FOUND_MAX, sizeof *out->found) };
    if (!lx || !g || !out->positive || !out->power || !out->spread || !out->found)
        return 0;
    for (size_t j = 0; j < v->dim; j++)
        out->power[j] = out->spread[j] = NAN;
    s->evaluations += 2 * rows; /* what it costs, roughly */
    out->logs = in_logs(lx, &ly, v, rows, out->positive, a);
    if (out->logs && search_surrogate_fit(&sur, lx, v->dim, ly, rows, DEGREE, a) &&
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
        for (size_t j = 0; j < v->dim; j++)
            for (size_t i = 0; i < n && out->positive[j]; i++)
                g[j * n + i] /= v->x[j][i];
        if (!suppose_all(out, g, v, n, 0, a))
            return 0;
    }
    if (search_surrogate_fit(&sur, v->x, v->dim, v->y, rows, DEGREE, a) &&
        sur.error < GOOD_SURROGATE) {
        if (!search_surrogate_gradient(&sur, v->x, n, g, a) || !suppose_all(out, g, v, n, 1, a))
            return 0;
        if (!out->logs)
            see_powers(out, g, v, n);
    }
    suppose_factors(out, s, v, a);
    qsort(out->found, out->count, sizeof *out->found, by_score);
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
    const search_view own = {
        .dim = left, .rows = v->rows, .x = x, .y = y, .outer = outer, .by = by
    };
    return outer.node && search_view_derive(out, s, v, &own, a) ? 1 : -1;
}

/* The column that stands for a pair, and as a formula. */
static double pair_value(const hypothesis *h, double p, double q)
{
    if (h->kind >= POWERS)
        return p * pow(q, h->k);
    return coordinate_value(h->c, p) + h->k * coordinate_value(h->c, q);
}

static expr pair_formula(const hypothesis *h, arena *a)
{
    expr p = search_variable(h->i, a), q = search_variable(h->j, a);
    if (h->kind >= POWERS)
        return search_binary(EXPR_MUL, p, search_power(q, h->k, a), a);
    return search_binary(h->kind == SUM ? EXPR_ADD : EXPR_SUB, coordinate_formula(h->c, p, a),
                         coordinate_formula(h->c, q, a), a);
}

/* What stands beside the rest of y by a hypothesis, as a factor: its value at a row, and as a
 * formula; 1 and none where there is no such factor. */
static double beside(const hypothesis *h, double x)
{
    return h->kind == SCALED   ? pow(x, h->p)
           : h->kind == FACTOR ? pow(search_factor_value(h->h, x), h->p)
                               : 1;
}

static expr beside_formula(const hypothesis *h, arena *a)
{
    expr x = search_variable(h->i, a);
    return search_power(h->kind == FACTOR ? search_unary(h->h, x, a) : x, h->p, a);
}

/* The view of a hypothesis: without the input of a term or factor, the target without it; or with
 * one column in place of two, the target without the power that is beside it. Returns 1, 0 if it
 * has no values, -1 when memory is out. */
static int supposed(search_view *out, const search *s, const search_view *v, const hypothesis *h,
                    arena *a)
{
    expr *by = arena_array(a, v->dim, sizeof *by), outer = search_variable(v->dim, a);
    const double **x = arena_array(a, v->dim, sizeof *x), *y;
    double *new = arena_array(a, v->rows, sizeof *new);
    double *less = arena_array(a, v->rows, sizeof *less);
    size_t left = 0;
    if (!by || !x || !new || !less)
        return -1;
    for (size_t r = 0; r < v->rows; r++) {
        new[r] = h->kind == TERM ? v->y[r] - h->k *coordinate_value(h->c, v->x[h->i][r])
                                 : pair_value(h, v->x[h->i][r], v->x[h->j][r]);
        less[r] = v->y[r] / beside(h, v->x[h->i][r]);
        if (!isfinite(new[r]) || !isfinite(less[r]))
            return 0;
    }
    if (h->kind == TERM) {
        expr c = coordinate_formula(h->c, search_variable(h->i, a), a);
        y = new;
        outer = search_binary(EXPR_ADD, outer,
                              search_binary(EXPR_MUL, search_number(h->k, a), c, a), a);
    } else {
        if (h->kind != FACTOR) {
            x[left] = new;
            by[left++] = pair_formula(h, a);
        }
        y = less;
        if (h->kind == SCALED || h->kind == FACTOR)
            outer = search_binary(EXPR_MUL, beside_formula(h, a), outer, a);
    }
    for (size_t k = 0; k < v->dim; k++)
        if (k != h->i && k != h->j) {
            x[left] = v->x[k];
            by[left++] = search_variable(k, a);
        }
    if (left == 0)
        return 0;
    const search_view own = {
        .dim = left, .rows = v->rows, .x = x, .y = y, .outer = outer, .by = by
    };
    return outer.node && search_view_derive(out, s, v, &own, a) ? 1 : -1;
}

/* ---- the stage ---- */

/* A walk through smaller problems and those in them. */
typedef struct walk {
    search_stage_run *const *stages; /* what is done with each */
    size_t count;
    int smallest_first; /* the smallest problems cost least, and are solved most often */
    double until;       /* share of the budget */
} walk;

static snip_code explore(search *s, const search_view *v, const walk *w, snip_status *st);

static snip_code apply_stages(search *s, const search_view *v, const walk *w, snip_status *st)
{
    snip_code code = SNIP_OK;
    if (w->smallest_first && search_spent(s) < w->until)
        code = explore(s, v, w, st);
    for (size_t k = 0; k < w->count && code == SNIP_OK && !search_over(s); k++)
        code = w->stages[k](s, v, st);
    if (!w->smallest_first && code == SNIP_OK && !search_over(s) && search_spent(s) < w->until)
        code = explore(s, v, w, st);
    return code;
}

static snip_code explore(search *s, const search_view *v, const walk *w, snip_status *st)
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
        code = apply_stages(s, &child, w, st);
    size_t most = v->depth > 1 ? TRIED_DEEP : TRIED, tried = seen.count < most ? seen.count : most;
    for (size_t k = 0;
         k < tried && code == SNIP_OK && !search_over(s) && search_spent(s) < w->until; k++) {
        arena_pos before = arena_mark(s->a);
        made = supposed(&child, s, v, &seen.found[k], s->a);
        if (made < 0)
            code = status_nomem(st);
        else if (made > 0)
            code = apply_stages(s, &child, w, st);
        arena_reset(s->a, before);
    }
    arena_reset(s->a, mark);
    return code;
}

/* What linear algebra finds, in many small problems: a look at each costs little. */
snip_code search_reduce_quickly(search *s, const search_view *v, snip_status *st)
{
    static search_stage_run *const stages[] = { search_closed, search_relations };
    return explore(s, v, &(walk){ stages, 2, 0, fmin(1, search_spent(s) + SHARE_QUICK) }, st);
}

snip_code search_reduce(search *s, const search_view *v, snip_status *st)
{
    static search_stage_run *const stages[] = { search_products, search_enumerate };
    return explore(s, v, &(walk){ stages, 2, 1, fmin(1, search_spent(s) + SHARE) }, st);
}
