/* closed.c - the formulas that everybody would try first, by linear algebra alone: a line, a power
 * law, an exponential, polynomials of one input. If one of them explains the table as well as
 * anything longer, it is the answer. */
#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "search/build.h"
#include "search/search_int.h"
#include "search/solve.h"

enum { DEGREE_MAX = 3, POWERS_MAX = 24 };

/* y by a sum of columns: sum of c[j] * x[j] for the columns with c[j] != 0. */
static expr sum_of_columns(const double *c, size_t dim, arena *a)
{
    expr e = { NULL, 0 };
    for (size_t j = 0; j < dim; j++) {
        if (c[j] == 0)
            continue;
        expr term = search_binary(EXPR_MUL, search_number(c[j], a), search_variable(j, a), a);
        e = e.node ? search_binary(EXPR_ADD, e, term, a) : term;
    }
    return e;
}

/* The columns that go with y best, taken alone: places in `which`, best first; returns how many. */
static size_t best_columns(size_t *which, size_t most, const search_view *v, size_t rows)
{
    double kept[POWERS_MAX];
    size_t n = 0;
    double my = 0;
    for (size_t i = 0; i < rows; i++)
        my += v->y[i] / (double)rows;
    for (size_t k = 0; k < v->dim; k++) {
        double mx = 0, xx = 0, xy = 0;
        for (size_t i = 0; i < rows; i++)
            mx += v->x[k][i] / (double)rows;
        for (size_t i = 0; i < rows; i++) {
            xx += (v->x[k][i] - mx) * (v->x[k][i] - mx);
            xy += (v->x[k][i] - mx) * (v->y[i] - my);
        }
        double part = xx > 0 ? xy * (xy / xx) : 0;
        numbers_keep(kept, which, &n, most, part, k);
    }
    return n;
}

/* y on all columns, and on the few that matter most: the line, then without the column whose
 * absence costs least, and so on down to one. */
static void lines(search_job *j, const search_view *v)
{
    size_t rows = v->rows < SEARCH_MANY ? v->rows : SEARCH_MANY;
    double c[POWERS_MAX + 1], gain[POWERS_MAX + 1];
    const double *column[POWERS_MAX];
    size_t which[POWERS_MAX];
    size_t n = best_columns(which, POWERS_MAX, v, rows);
    while (n > 0 && n + 1 < rows && !search_job_over(j)) {
        for (size_t k = 0; k < n; k++)
            column[k] = v->x[which[k]];
        search_count(j, 1);
        if (!search_least_squares(c, gain, column, n, v->y, rows, j->tmp))
            return;
        double *full = arena_zero(j->tmp, v->dim * sizeof *full);
        if (!full)
            return;
        size_t least = 0;
        for (size_t k = 0; k < n; k++) {
            full[which[k]] = c[k];
            if (gain[k] < gain[least])
                least = k;
        }
        expr e = sum_of_columns(full, v->dim, j->tmp);
        if (e.node && e.count <= SEARCH_SIZE_MAX)
            search_offer(j, v, e);
        memmove(which + least, which + least + 1, (n - least - 1) * sizeof *which);
        n--;
    }
}

/* An exponent as people write it: the nearest multiple of a half or a third. */
static double tidy_exponent(double p)
{
    double half = round(2 * p) / 2, third = round(3 * p) / 3;
    return fabs(p - half) <= fabs(p - third) ? half : third;
}

/* c * product of x[j]^p[j], with exponents that are fixed. */
static expr power_law(const double *p, size_t dim, arena *a)
{
    expr e = search_number(1, a);
    for (size_t j = 0; j < dim; j++)
        if (p[j] != 0)
            e = search_binary(EXPR_MUL, e, search_power(search_variable(j, a), p[j], a), a);
    return e;
}

/* log|y| on the logarithms of the columns: exponents snapped, then as they are. */
static void powers(search_job *j, const search_view *v)
{
    size_t rows = v->rows < SEARCH_MANY ? v->rows : SEARCH_MANY, n = 0;
    const double *column[POWERS_MAX];
    size_t which[POWERS_MAX];
    double c[POWERS_MAX + 1], gain[POWERS_MAX + 1];
    double *y = arena_array(j->tmp, rows, sizeof *y);
    if (!y)
        return;
    int sign = v->y[0] > 0 ? 1 : -1;
    for (size_t i = 0; i < rows; i++) {
        if (!(sign * v->y[i] > 0))
            return;
        y[i] = log(fabs(v->y[i]));
    }
    for (size_t k = 0; k < v->dim && n < POWERS_MAX; k++) {
        double *x = arena_array(j->tmp, rows, sizeof *x);
        size_t i = 0;
        for (; x && i < rows && v->x[k][i] > 0; i++)
            x[i] = log(v->x[k][i]);
        if (!x || i < rows)
            continue;
        which[n] = k;
        column[n++] = x;
    }
    if (n == 0 || n + 1 >= rows || !search_least_squares(c, gain, column, n, y, rows, j->tmp))
        return;
    search_count(j, 1);
    double *tidy = arena_zero(j->tmp, v->dim * sizeof *tidy);
    double *whole = arena_zero(j->tmp, v->dim * sizeof *whole);
    if (!tidy || !whole)
        return;
    for (size_t k = 0; k < n; k++) {
        tidy[which[k]] = tidy_exponent(c[k]);
        whole[which[k]] = round(c[k]);
    }
    search_offer(j, v, power_law(tidy, v->dim, j->tmp));
    search_offer(j, v, power_law(whole, v->dim, j->tmp));
    /* Free exponents where the data ask for them: each x^p with p to be fitted. */
    expr e = search_number(1, j->tmp);
    for (size_t k = 0; k < n; k++)
        if (fabs(c[k]) > 1e-3) {
            expr p = search_number(c[k], j->tmp);
            e = search_binary(EXPR_MUL, e,
                              search_binary(EXPR_POW, search_variable(which[k], j->tmp), p, j->tmp),
                              j->tmp);
        }
    if (e.count > 1 && e.count <= SEARCH_SIZE_MAX && search_may(j->s, EXPR_POW))
        search_offer(j, v, e);
}

/* Functions of one input: polynomials, exponential, logarithm, root, reciprocal, a wave. */
static void curves(search_job *j, const search_view *v, size_t k)
{
    arena *a = j->tmp;
    static const struct {
        expr_op op;
        double inner[2]; /* starts of c in op(c*x); 0: none */
    } shapes[] = {
        { EXPR_EXP, { 1, -1 } }, { EXPR_LOG, { 0, 0 } },    { EXPR_SQRT, { 0, 0 } },
        { EXPR_INV, { 0, 0 } },  { EXPR_SIN, { 1, 0 } },    { EXPR_COS, { 1, 0 } },
        { EXPR_TANH, { 1, 0 } }, { EXPR_ARCTAN, { 1, 0 } }, { EXPR_POW2, { 0, 0 } },
        { EXPR_POW3, { 0, 0 } },
    };
    for (int degree = 2; degree <= DEGREE_MAX; degree++) {
        expr e = search_variable(k, a);
        for (int p = 2; p <= degree; p++) {
            expr term = search_power(search_variable(k, a), p, a);
            e = search_binary(EXPR_ADD, e, search_binary(EXPR_MUL, search_number(1, a), term, a),
                              a);
        }
        search_offer(j, v, e);
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !search_job_over(j); i++)
        for (int n = 0; n < 2; n++) {
            double c = shapes[i].inner[n];
            expr x = search_variable(k, a);
            if (n > 0 && c == 0)
                break;
            if (c != 0)
                x = search_binary(EXPR_MUL, search_number(c, a), x, a);
            search_offer_hard(j, v, search_unary(shapes[i].op, x, a), c != 0 ? 6 : 1);
        }
}

static void run(search_job *j, void *context)
{
    const search_view *v = context;
    if (j->index == 0)
        lines(j, v);
    else if (j->index == 1)
        powers(j, v);
    else
        curves(j, v, j->index - 2);
}

snip_code search_closed(search *s, const search_view *v, snip_status *st)
{
    return search_round(s, v->dim + 2, UINT64_MAX, run, (void *)v, st);
}
