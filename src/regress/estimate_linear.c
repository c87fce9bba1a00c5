/* estimate_linear.c - see estimate_int.h: the derivatives at a point, factorised, and the steps
 * that they lead to. */
#include <cminpack.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "regress/estimate_int.h"

static const double RANK = 1e-11; /* columns nearer to the others' span than this lie in it */
enum { POLISH = 200 };            /* Gauss-Newton steps at the end, at most */

int regress_linear_make(regress_linear *l, const regress_job *j)
{
    size_t m = j->d.rows, n = j->free.count, nodes = j->free.first[n];
    *l = (regress_linear){ .m = m, .n = n };
    l->q = arena_array(j->a, m * n, sizeof *l->q);
    l->slopes = arena_array(j->a, m * nodes, sizeof *l->slopes);
    l->value = arena_array(j->a, m, sizeof *l->value);
    l->left = arena_array(j->a, m, sizeof *l->left);
    double *vectors = arena_array(j->a, 4 * n, sizeof *vectors);
    l->pivot = arena_array(j->a, n, sizeof *l->pivot);
    if (!l->q || !l->slopes || !l->value || !l->left || !vectors || !l->pivot)
        return 0;
    l->length = vectors;
    l->step = vectors + n;
    l->diagonal = vectors + 2 * n;
    l->wa = vectors + 3 * n;
    return 1;
}

/* Derivatives by the parameters in the columns of l->q, times the rows' roots of weights. Returns 0
 * when memory is out. */
static int derive(regress_linear *l, const regress_job *j)
{
    const regress_fit_free *f = &j->free;
    if (!expr_gradient(j->e, j->d.x, l->m, f->node, f->first[l->n], l->value, l->slopes, j->a))
        return 0;
    l->bad_row = l->m;
    for (size_t k = 0; k < l->n; k++) {
        double *column = l->q + k * l->m;
        memset(column, 0, l->m * sizeof *column);
        for (size_t s = f->first[k]; s < f->first[k + 1] && l->active[k]; s++)
            for (size_t i = 0; i < l->m; i++)
                column[i] += l->slopes[s * l->m + i];
        for (size_t i = 0; i < l->m; i++) {
            column[i] *= j->root ? j->root[i] : 1;
            if (isfinite(column[i]))
                continue;
            column[i] = 0;
            if (i < l->bad_row) {
                l->bad_row = i;
                l->bad_param = j->which[k];
            }
        }
    }
    return 1;
}

/* Columns to length 1, with their lengths kept. */
static void scale_columns(regress_linear *l)
{
    for (size_t k = 0; k < l->n; k++) {
        double *column = l->q + k * l->m;
        l->length[k] = enorm((int)l->m, column);
        for (size_t i = 0; i < l->m && l->length[k] > 0; i++)
            column[i] /= l->length[k];
    }
}

/* R, of column k in the order of the pivots. */
double regress_linear_r(const regress_linear *l, size_t row, size_t k)
{
    return l->q[k * l->m + row];
}

/* The linear problem at `at`. Returns 0 when memory is out. */
int regress_linear_at(regress_linear *l, const regress_job *j, const double *at)
{
    regress_job_set(j, at);
    if (!derive(l, j))
        return 0;
    l->rss = regress_job_squares(j, l->value);
    scale_columns(l);
    for (size_t i = 0; i < l->m; i++)
        l->left[i] = l->value[i] * (j->root ? j->root[i] : 1);
    l->size = enorm((int)l->m, l->left);
    for (size_t i = 0; i < l->m; i++)
        l->left[i] = (l->value[i] - j->d.y[i]) * (j->root ? j->root[i] : 1);
    qrfac((int)l->m, (int)l->n, l->q, (int)l->m, 1, l->pivot, (int)l->n, l->diagonal, l->step,
          l->wa);
    l->rank = 0;
    for (size_t k = 0; k < l->n; k++) { /* the reflections, one after the other */
        double *column = l->q + k * l->m, sum = 0;
        for (size_t i = k; i < l->m; i++)
            sum += column[i] * l->left[i];
        for (size_t i = k; i < l->m && column[k] != 0; i++)
            l->left[i] -= column[i] * (sum / column[k]);
        column[k] = l->diagonal[k];
        l->rank += l->rank == k && fabs(column[k]) > RANK;
    }
    memset(l->step, 0, l->n * sizeof *l->step);
    for (size_t k = l->rank; k-- > 0;) { /* R step = -left, in the pivots' order */
        double v = -l->left[k];
        for (size_t c = k + 1; c < l->rank; c++)
            v -= regress_linear_r(l, k, c) * l->wa[c];
        l->wa[k] = v / regress_linear_r(l, k, k);
        size_t place = (size_t)l->pivot[k] - 1;
        l->step[place] = l->wa[k] / l->length[place];
    }
    /* What rounding leaves of the values is no distance to go. */
    double noise = 8 * DBL_EPSILON * l->size, inside = enorm((int)l->rank, l->left) - noise;
    double outside = l->m > l->rank ? enorm((int)(l->m - l->rank), l->left + l->rank) : 0;
    double freedom = fmax(1, (double)l->m - (double)l->rank);
    l->offset = inside > 0 ? inside / sqrt((double)l->rank) / (outside / sqrt(freedom)) : 0;
    return 1;
}

/* Marks what lies at a bound as not active. */
void regress_linear_mark(char *active, const regress_job *j, const double *at)
{
    for (size_t k = 0; k < j->free.count; k++)
        active[k] = !j->free.low || (at[k] > j->free.low[k] && at[k] < j->free.high[k]);
}

/* Gauss-Newton from the fit's result. Near a minimum the sum of squares hardly changes, so that a
 * fit which looks at it alone knows half of the digits; the linear problem's solution has them all.
 * Where residuals are large the way there is long, but each step is shorter than the one before.
 * Stops when that is over. Leaves `l` at the last point. Returns 0 when memory is out. */
int regress_linear_polish(double *at, regress_linear *l, const regress_job *j)
{
    double last = INFINITY, *trial = arena_array(j->a, l->n, sizeof *trial);
    double *value = arena_array(j->a, l->m, sizeof *value);
    if (!trial || !value || !regress_linear_at(l, j, at))
        return 0;
    for (int turn = 0; turn < POLISH; turn++) {
        double size = 0;
        int inside = 1;
        for (size_t k = 0; k < l->n; k++) {
            trial[k] = at[k] + l->step[k];
            inside &= isfinite(trial[k]);
            if (j->free.low)
                inside &=
                    !l->active[k] || (trial[k] > j->free.low[k] && trial[k] < j->free.high[k]);
            if (l->step[k] != 0)
                size = fmax(size, fabs(l->step[k]) / fmax(fabs(at[k]), fabs(trial[k])));
        }
        if (!inside || size < DBL_EPSILON || size > 0.9 * last)
            break;
        last = size;
        regress_job_set(j, trial);
        size_t finite = expr_eval(j->e, j->d.x, l->m, value, j->a);
        if (finite == (size_t)-1)
            return 0;
        if (finite < l->m || !(regress_job_squares(j, value) <= l->rss * (1 + 1e-10)))
            break;
        memcpy(at, trial, l->n * sizeof *at);
        if (!regress_linear_at(l, j, at))
            return 0;
    }
    return regress_linear_at(l, j, at);
}
