/* solve.c - see solve.h. Columns are centred and brought to length 1, and orthogonalised twice by
 * modified Gram-Schmidt, which is as accurate as Householder's reflections for a least-squares
 * solution and needs no pivots: a column that all but vanishes depends on those before it. */
#include "search/solve.h"

#include <math.h>
#include <string.h>

#define DEPENDENT 1e-11

/* data/laws.c adds the four sums up in another order; each order is part of what a seed gives. */
double search_dot(const double *a, const double *b, size_t rows)
{
    double sum[4] = { 0, 0, 0, 0 };
    size_t i = 0;
    for (; i + 4 <= rows; i += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < rows; i++)
        sum[0] += a[i] * b[i];
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

void search_project(double *v, double *h, size_t step, const double *q, size_t k, size_t rows)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t m = 0; m < k; m++) {
            double p = search_dot(q + m * rows, v, rows);
            h[m * step] += p;
            for (size_t i = 0; i < rows; i++)
                v[i] -= p * q[m * rows + i];
        }
}

/* v less its mean, over its length. Returns the length, 0 for a constant. */
static double standardise(double *to, const double *v, size_t rows, double *mean)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += v[i];
    *mean = sum / (double)rows;
    for (size_t i = 0; i < rows; i++)
        to[i] = v[i] - *mean;
    double length = sqrt(search_dot(to, to, rows));
    for (size_t i = 0; i < rows && length > 0; i++)
        to[i] /= length;
    return length;
}

int search_least_squares(double *c, double *gain, const double *const *column, size_t n,
                         const double *y, size_t rows, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    double *q = arena_array(tmp, n * rows, sizeof *q), *rest = arena_array(tmp, rows, sizeof *rest);
    double *r = arena_zero(tmp, n * n * sizeof *r + 1),
           *mean = arena_array(tmp, n + 1, sizeof *mean);
    double *length = arena_array(tmp, n + 1, sizeof *length);
    double *inverse = arena_zero(tmp, n * n * sizeof *inverse + 1);
    int good = q && rest && r && mean && length && inverse;
    double my = 0;
    if (good) {
        length[n] = standardise(rest, y, rows, &my);
        good = isfinite(length[n]);
    }
    for (size_t k = 0; good && k < n; k++) {
        double *v = q + k * rows;
        length[k] = standardise(v, column[k], rows, &mean[k]);
        good = isfinite(length[k]);
        search_project(v, r + k, n, q, k, rows);
        double left = sqrt(search_dot(v, v, rows));
        if (!(left > DEPENDENT) || length[k] == 0) {
            memset(v, 0, rows * sizeof *v);
            r[k * n + k] = 0;
            continue;
        }
        r[k * n + k] = left;
        for (size_t i = 0; i < rows; i++)
            v[i] /= left;
    }
    if (good) {
        double constant = my;
        for (size_t k = 0; k < n; k++) /* Q'y, one column after the other */
            c[k] = search_dot(q + k * rows, rest, rows);
        for (size_t k = n; k-- > 0;) {
            for (size_t m = k + 1; m < n; m++)
                c[k] -= r[k * n + m] * c[m];
            c[k] = r[k * n + k] > 0 ? c[k] / r[k * n + k] : 0;
        }
        /* Without column k the error rises by c[k]^2 / ((R'R)^-1)[k][k]; rows of R^-1 give that. */
        for (size_t k = n; k-- > 0;) {
            if (!(r[k * n + k] > 0))
                continue;
            for (size_t m = k; m < n; m++) {
                double sum = m == k ? 1 : 0;
                for (size_t p = k + 1; p <= m; p++)
                    sum -= r[k * n + p] * inverse[p * n + m];
                inverse[k * n + m] = sum / r[k * n + k];
            }
        }
        for (size_t k = 0; k < n; k++) {
            double own = search_dot(inverse + k * n, inverse + k * n, n);
            gain[k] = own > 0 ? c[k] * c[k] / own * length[n] * length[n] / (double)rows : 0;
            c[k] = length[k] > 0 ? c[k] * length[n] / length[k] : 0;
            constant -= c[k] * mean[k];
        }
        c[n] = constant;
    }
    arena_reset(tmp, mark);
    return good;
}
