/* eigen.c - eigenvalues and eigenvectors of a symmetric matrix; see metrics.h.
 *
 * The usual two steps (Golub and Van Loan, Matrix Computations, chapter 8): reflections bring the
 * matrix to tridiagonal form, rotations with Wilkinson's shift make that diagonal. Vectors are kept
 * as rows, so that every inner loop runs along memory. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "eval/metrics.h"

/* In the order of the numbers and in double precision; those of nn/kernels.c are float32, and their
 * sums differ from machine to machine. */
static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add(double *to, double factor, const double *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += factor * from[i];
}

/* The reflection that leaves only the first of x[0..n): x becomes v, of length sqrt(2), so that it
 * is 1 - v v'. Returns what is left of x, and leaves v zero where there is nothing to do. */
static double reflection(double *x, size_t n)
{
    double largest = 0, rest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(x[i]));
        rest = i ? fmax(rest, fabs(x[i])) : 0;
    }
    if (rest == 0) {
        double first = x[0];
        x[0] = 0;
        return first;
    }
    for (size_t i = 0; i < n; i++)
        x[i] /= largest; /* no square over- or underflows */
    double left = -copysign(sqrt(dot(x, x, n)), x[0]);
    x[0] -= left;
    double scale = sqrt(2 / dot(x, x, n));
    for (size_t i = 0; i < n; i++)
        x[i] *= scale;
    return left * largest;
}

/* Brings a to tridiagonal form with diagonal d and e beside it: a = q' t q. Row k of a holds the
 * reflection of column k from there on. `w` is scratch of n. */
static void tridiagonal(double *a, double *q, double *d, double *e, double *w, size_t n)
{
    for (size_t k = 0; k + 1 < n; k++) {
        size_t m = n - k - 1;
        double *v = a + k * n + k + 1, *rest = a + (k + 1) * n + k + 1;
        d[k] = a[k * n + k];
        e[k] = reflection(v, m);
        /* (1 - v v') a (1 - v v') = a - v w' - w v' with w = a v - v (v' a v)/2 */
        for (size_t i = 0; i < m; i++)
            w[i] = dot(rest + i * n, v, m);
        add(w, -dot(w, v, m) / 2, v, m);
        for (size_t i = 0; i < m; i++) {
            add(rest + i * n, -v[i], w, m);
            add(rest + i * n, -w[i], v, m);
        }
    }
    d[n - 1] = a[n * n - 1];
    for (size_t i = 0; i < n * n; i++)
        q[i] = i % (n + 1) == 0;
    /* The product of all reflections, from the last on: each touches only what is there by then. */
    for (size_t k = n - 1; k-- > 0;) {
        size_t m = n - k - 1;
        const double *v = a + k * n + k + 1;
        for (size_t i = 0; i < m; i++) {
            double *row = q + (k + 1 + i) * n + k + 1;
            add(row, -dot(row, v, m), v, m);
        }
    }
}

/* One sweep of rotations over the part lo .. hi of the tridiagonal matrix. */
static void sweep(double *d, double *e, double *q, size_t lo, size_t hi, size_t n)
{
    double half = (d[hi - 1] - d[hi]) / 2, off = e[hi - 1];
    double shift = d[hi] - off * (off / (half + copysign(hypot(half, off), half)));
    double x = d[lo] - shift, z = e[lo];
    for (size_t k = lo; k < hi; k++) {
        double r = hypot(x, z), c = r > 0 ? x / r : 1, s = r > 0 ? z / r : 0;
        double a = d[k], b = e[k], g = d[k + 1];
        if (k > lo)
            e[k - 1] = r;
        d[k] = c * c * a + 2 * c * s * b + s * s * g;
        d[k + 1] = s * s * a - 2 * c * s * b + c * c * g;
        e[k] = c * s * (g - a) + (c * c - s * s) * b;
        x = e[k];
        if (k + 1 < hi) {
            z = s * e[k + 1];
            e[k + 1] *= c;
        }
        double *one = q + k * n, *two = one + n;
        for (size_t i = 0; i < n; i++) {
            double u = one[i], v = two[i];
            one[i] = c * u + s * v;
            two[i] = c * v - s * u;
        }
    }
}

/* Makes the tridiagonal matrix diagonal. Returns 0 if it does not get there. */
static int diagonal(double *d, double *e, double *q, size_t n)
{
    enum { SWEEPS = 60 }; /* for each eigenvalue; two or three are usual */
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fmax(fabs(d[i]), i + 1 < n ? fabs(e[i]) : 0));
    size_t hi = n - 1, left = SWEEPS * n;
    while (hi > 0) {
        for (size_t i = 0; i < hi; i++)
            if (fabs(e[i]) <= DBL_EPSILON * (fabs(d[i]) + fabs(d[i + 1])) ||
                fabs(e[i]) <= DBL_EPSILON * DBL_EPSILON * largest)
                e[i] = 0;
        if (e[hi - 1] == 0) {
            hi--;
            continue;
        }
        size_t lo = hi - 1;
        while (lo > 0 && e[lo - 1] != 0)
            lo--;
        if (left-- == 0)
            return 0;
        sweep(d, e, q, lo, hi, n);
    }
    return 1;
}

int eval_eigen(double *value, double *vector, double *a, size_t n)
{
    double *q = calloc(n * n, sizeof *q), *d = calloc(3 * n, sizeof *d);
    size_t *order = calloc(n, sizeof *order);
    int good = q && d && order && n > 0;
    for (size_t i = 0; good && i < n * n; i++)
        good = isfinite(a[i]);
    if (good) {
        tridiagonal(a, q, d, d + n, d + 2 * n, n);
        good = diagonal(d, d + n, q, n);
    }
    for (size_t i = 0; good && i < n; i++) { /* by insertion, largest first */
        size_t at = i;
        while (at > 0 && d[order[at - 1]] < d[i]) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    for (size_t i = 0; good && i < n; i++) {
        const double *row = q + order[i] * n;
        size_t big = 0;
        for (size_t j = 1; j < n; j++)
            big = fabs(row[j]) > fabs(row[big]) ? j : big;
        value[i] = d[order[i]];
        for (size_t j = 0; j < n; j++) /* a vector and its opposite are as good: choose one */
            vector[i * n + j] = copysign(1, row[big]) * row[j];
    }
    free(q);
    free(d);
    free(order);
    return good;
}
