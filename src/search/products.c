/* products.c - sums of few products, under transforms of the target.
 *
 * Most laws that people write are, after y -> g(y), a sum of few terms, each a product of powers
 * and perhaps one short function. Then they are found by linear algebra, in two ways:
 *
 *   one product   log|y| = c + sum p_j log|x_j| + sum q_k log|f_k| + sum a_m * m. Exponents p are
 *                 unknowns of least squares, so any product of powers is in reach at once, times
 *                 one to three of thousands of factors f (1 - x0^2/x1^2, sin(x0*x1), exp(m) - 1)
 *                 and exponentials of monomials m.
 *   a sum         (y/M)^q = sum c_k t_k with terms t of a dictionary. M is the product of powers of
 *                 those inputs that have no other part in y; a quadratic model of log|y| in the
 *                 logarithms of the inputs tells which.
 *
 * Rows are weighted by dy/dg, so that a residual of g(y) counts as what it is in y. What fits best
 * is measured in y itself, and the best by description length are offered.
 *
 * Here is what is tried, and on which rows; products_log.c, products_sum.c and products_curve.c try
 * it, products_list.c measures, products_prune.c shortens. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/products_int.h"

#define STRONG 2.0 /* deviations of the noise from which on a logarithm of y means something */

enum {
    ROWS_FEW = SEARCH_SOME,
    ROWS_NOISY = 1024,
    NOISY_SUMS = 6,  /* sums of a second pass */
    DEEP_INPUTS = 4, /* with as many inputs or more there are deep sums */
    STRONG_ROWS_MIN = 40
};

size_t search_products_columns(const products_work *w, size_t most, size_t rows)
{
    enum { BESIDES = 512 }; /* bytes of a column beside its values and inner products, about */
    size_t n = most, room = w->s->room / PRODUCTS_PER_ROUND;
    while (n > 1 && n * (BESIDES + (rows + n) * sizeof(double)) > room)
        n -= n / 16 + 1;
    return n;
}

/* ---- which inputs are powers and nothing else ---- */

/* Residual of log|y| by a quadratic model in the logarithms of the inputs in `mask`, with the
 * others as given powers. The exponents at the middle of the table go to p. */
static double quadratic(const products_work *w, unsigned mask, const double *given, double *p,
                        arena *a)
{
    arena_pos mark = arena_mark(a);
    const dictionary *d = &w->d;
    size_t rows = w->many, n = 0, places[DICTIONARY_INPUTS], count = 0;
    const double *column[1 + 2 * DICTIONARY_INPUTS + DICTIONARY_INPUTS * DICTIONARY_INPUTS];
    double coef[sizeof column / sizeof *column], left = INFINITY;
    double *log_x[DICTIONARY_INPUTS], *t = arena_array(a, rows, sizeof *t);
    double *one = arena_array(a, rows, sizeof *one);
    int good = t && one;
    for (size_t i = 0; i < rows && good; i++) {
        t[i] = log(fmax(fabs(w->v->y[i]), 1e-290));
        one[i] = 1;
    }
    column[n++] = one;
    for (size_t k = 0; k < d->n && good; k++) {
        double *v = arena_array(a, rows, sizeof *v), mean = 0;
        const double *x = w->v->x[d->input[k]];
        if (!v) {
            good = 0;
            break;
        }
        for (size_t i = 0; i < rows; i++) {
            v[i] = d->sign[k] ? log(fabs(x[i])) : x[i];
            mean += v[i] / (double)rows;
        }
        if (!(mask >> k & 1)) {
            for (size_t i = 0; i < rows; i++)
                t[i] -= given[k] * v[i];
            continue;
        }
        for (size_t i = 0; i < rows; i++)
            v[i] -= mean;
        log_x[count] = v;
        places[count++] = k;
        column[n++] = v;
    }
    for (size_t k = 0; k < count && good; k++)
        for (size_t m = 0; m <= k; m++) {
            double *v = arena_array(a, rows, sizeof *v);
            if (!v) {
                good = 0;
                break;
            }
            for (size_t i = 0; i < rows; i++)
                v[i] = log_x[k][i] * log_x[m][i];
            column[n++] = v;
        }
    if (good && n < rows) {
        left = search_sparse_solve(coef, column, n, t, rows, a);
        for (size_t k = 0; k < count && p && left < INFINITY; k++)
            p[places[k]] = coef[1 + k];
    }
    arena_reset(a, mark);
    return left;
}

/* Inputs in the order in which they can be taken out as powers, with these; cost[k] is by which
 * factor the residual grows when the first k + 1 are out. Returns how many. */
static size_t take_out(const products_work *w, size_t *order, double *given, double *cost, arena *a)
{
    const dictionary *d = &w->d;
    unsigned mask = (1u << d->n) - 1;
    double p[DICTIONARY_INPUTS] = { 0 }, full = quadratic(w, mask, given, p, a);
    size_t n = 0;
    while (n < d->n && full < INFINITY) {
        double best = INFINITY, best_power = 0;
        size_t which = d->n;
        for (size_t k = 0; k < d->n; k++) {
            if (!(mask >> k & 1) || d->sign[k] == 0 || fabs(p[k]) > DICTIONARY_HALVES / 2.0)
                continue;
            given[k] = search_products_halves(p[k]);
            double rest = quadratic(w, mask & ~(1u << k), given, NULL, a);
            if (rest < best) {
                best = rest;
                best_power = given[k];
                which = k;
            }
        }
        if (which == d->n)
            break;
        mask &= ~(1u << which);
        given[which] = best_power;
        order[n] = which;
        cost[n++] = best / full;
        quadratic(w, mask, given, p, a);
    }
    return n;
}

/* ---- the stage ---- */

enum { TASKS_MAX = 48 };

static size_t plan(const products_work *w, products_task *out, arena *a)
{
    static const double powers[] = { 1, -1, 2, -2 };
    const dictionary *d = &w->d;
    size_t n = 0, order[DICTIONARY_INPUTS] = { 0 }, out_of[3], sets = 0;
    double given[DICTIONARY_INPUTS] = { 0 }, cost[DICTIONARY_INPUTS];
    unsigned all = (1u << d->n) - 1;
    out[n++] = (products_task){ .h = AS_IS, .rest = all };
    size_t taken = take_out(w, order, given, cost, a), clear = 0;
    while (clear < taken && cost[clear] < 1.5)
        clear++;
    /* What the model says, one more, and none. */
    out_of[sets++] = clear;
    if (clear < taken)
        out_of[sets++] = clear + 1;
    if (clear > 0)
        out_of[sets++] = 0;
    for (size_t k = 0; k < sets; k++) {
        products_task t = { .kind = SUM, .rest = all };
        assert(out_of[k] <= taken);
        for (size_t i = 0; i < out_of[k]; i++) {
            t.m.p[order[i]] = (int8_t)(2 * given[order[i]]);
            t.rest &= ~(1u << order[i]);
        }
        if (!t.rest)
            continue;
        products_task curve = { .kind = CURVE, .m = t.m, .rest = t.rest };
        out[n++] = curve;
        if (t.rest != all)
            out[n++] = (products_task){ .kind = PRODUCT, .rest = t.rest };
        for (size_t q = 0; q < sizeof powers / sizeof *powers; q++) {
            t.q = powers[q];
            t.deep = 0;
            out[n++] = t;
            t.deep = 1;
            if (k < 2 && d->n - out_of[k] >= DEEP_INPUTS)
                out[n++] = t;
        }
    }
    if (search_may(w->s, EXPR_ARCSIN))
        out[n++] = (products_task){ .h = SINE, .rest = all };
    if (search_may(w->s, EXPR_ARCCOS))
        out[n++] = (products_task){ .h = COSINE, .rest = all };
    assert(n <= TASKS_MAX);
    return n;
}

static void run(search_job *j, void *context)
{
    const products_work *w = context;
    const products_task *t = &w->task[j->index];
    if (t->kind == SUM)
        search_products_sum(j, w, t);
    else if (t->kind == CURVE)
        search_products_curves(j, w, t);
    else
        search_products_product(j, w, t);
}

/* The rows where y stands out of what the best formula so far leaves: the others' logarithms are
 * noise. Returns 0 when memory is out; out->rows is 0 if that are nearly all rows, or too few. */
static int strong_rows(search_view *out, const search *s, const search_view *v, arena *a)
{
    double mean = 0, variance = 0;
    size_t rows = v->rows, n = 0;
    *out = *v;
    for (size_t i = 0; i < rows; i++)
        mean += v->y[i] / (double)rows;
    for (size_t i = 0; i < rows; i++)
        variance += (v->y[i] - mean) * (v->y[i] - mean) / (double)rows;
    double least = STRONG * sqrt(variance * search_best_loss(s, s->max_size));
    size_t *row = arena_array(a, rows, sizeof *row);
    double **x = arena_array(a, v->dim, sizeof *x), *y = arena_array(a, rows, sizeof *y);
    if (!row || !x || !y)
        return 0;
    for (size_t i = 0; i < rows; i++)
        if (fabs(v->y[i]) > least) {
            row[n] = i;
            y[n++] = v->y[i];
        }
    out->rows = n >= STRONG_ROWS_MIN && 50 * n < 49 * rows ? n : 0;
    for (size_t k = 0; k < v->dim && out->rows; k++) {
        x[k] = arena_array(a, n, sizeof *x[k]);
        if (!x[k])
            return 0;
        for (size_t i = 0; i < n; i++)
            x[k][i] = v->x[k][row[i]];
    }
    out->x = (const double *const *)x;
    out->y = y;
    return 1;
}

/* All tasks on the rows of one view, or those alone that bend y, or plain sums on more rows. */
typedef enum which { ALL, BENT, SUMS } which;

/* Whether a products_task is one of a second pass. Sums are tried for the likeliest M alone: they
 * come first. */
static int belongs(const products_task *t, which part, int more_sums)
{
    if (t->kind == SUM)
        return more_sums && (t->q == 1) == (part == SUMS);
    return part == BENT && t->h == AS_IS;
}

static snip_code pass(search *s, const search_view *v, const search_view *whole, which part,
                      snip_status *st)
{
    products_work w = { .s = s, .v = v, .whole = whole };
    w.few = part == SUMS ? ROWS_NOISY : part == BENT ? 2 * ROWS_FEW : ROWS_FEW;
    w.few = v->rows < w.few ? v->rows : w.few;
    w.noisy = part == SUMS;
    w.many = v->rows < SEARCH_MANY ? v->rows : SEARCH_MANY;
    products_task *t = arena_array(s->a, TASKS_MAX, sizeof *t);
    if (!t || !search_dictionary_make(&w.d, s, v, w.many, v->depth ? 1000 : 2000, s->a))
        return status_nomem(st);
    snip_code code = SNIP_OK;
    size_t tasks = w.d.n ? plan(&w, t, s->a) : 0, n = 0, sums = 0;
    for (size_t k = 0; k < tasks; k++)
        if (part == ALL || belongs(&t[k], part, sums < NOISY_SUMS)) {
            sums += t[k].kind == SUM;
            t[n++] = t[k];
        }
    for (size_t k = 0; k < n && code == SNIP_OK && !search_over(s); k += PRODUCTS_PER_ROUND) {
        w.task = t + k;
        w.tasks = n - k < PRODUCTS_PER_ROUND ? n - k : PRODUCTS_PER_ROUND;
        code = search_round(s, w.tasks, UINT64_MAX, run, &w, st);
    }
    return code;
}

snip_code search_products(search *s, const search_view *v, snip_status *st)
{
    arena_pos mark = arena_mark(s->a);
    snip_code code = pass(s, v, v, ALL, st);
    if (code == SNIP_OK && !search_over(s) && v->depth == 0) {
        search_view strong;
        if (!strong_rows(&strong, s, v, s->a))
            code = status_nomem(st);
        else if (strong.rows > 0)
            code = pass(s, &strong, v, BENT, st);
    }
    if (code == SNIP_OK && !search_over(s) && v->depth == 0 && v->rows > ROWS_FEW)
        code = pass(s, v, v, SUMS, st);
    if (code == SNIP_OK && !search_over(s) && v->depth == 0)
        code = search_products_prune(s, st);
    arena_reset(s->a, mark);
    return code;
}
