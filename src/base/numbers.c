/* numbers.c - see numbers.h. */
#include "base/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double numbers_mean(const double *v, size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += v[i] / (double)n;
    return mean;
}

void numbers_moments(const double *v, size_t n, double *mean, double *variance)
{
    *mean = numbers_mean(v, n);
    *variance = 0;
    for (size_t i = 0; i < n; i++)
        *variance += (v[i] - *mean) * (v[i] - *mean) / (double)n;
}

double numbers_variance(const double *v, size_t n)
{
    double mean, variance;
    numbers_moments(v, n, &mean, &variance);
    return variance;
}

double numbers_deviation(const double *v, size_t n)
{
    return sqrt(numbers_variance(v, n));
}

static int all_same(const double *v, size_t n)
{
    size_t i = 1;
    while (i < n && v[i] == v[0])
        i++;
    return i >= n;
}

double numbers_safe_mean(const double *v, size_t n)
{
    return n > 0 && all_same(v, n) ? v[0] : numbers_mean(v, n);
}

/* The variance in units of 4^*exponent: a power of two changes no digit, and no square over- or
 * underflows. */
static double scaled_variance(const double *v, size_t n, int *exponent)
{
    double big = 0, sum = 0;
    *exponent = 0;
    if (all_same(v, n))
        return 0;
    for (size_t i = 0; i < n; i++)
        big = fmax(big, fabs(v[i]));
    frexp(big, exponent);
    double mean = ldexp(numbers_mean(v, n), -*exponent);
    for (size_t i = 0; i < n; i++) {
        double d = ldexp(v[i], -*exponent) - mean;
        sum += d * (d / (double)n);
    }
    return sum;
}

double numbers_safe_variance(const double *v, size_t n)
{
    int exponent;
    double variance = scaled_variance(v, n, &exponent);
    return ldexp(variance, 2 * exponent);
}

double numbers_safe_deviation(const double *v, size_t n)
{
    int exponent;
    double variance = scaled_variance(v, n, &exponent);
    return ldexp(sqrt(variance), exponent);
}

double numbers_correlation(const double *a, const double *b, size_t n)
{
    double mean_a = numbers_mean(a, n), mean_b = numbers_mean(b, n), aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < n; i++) {
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
        ab += (a[i] - mean_a) * (b[i] - mean_b);
    }
    double r = ab / sqrt(aa * bb);
    return isfinite(r) ? r : 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A few numbers are in order by insertion before qsort has called by_value for all of them. */
void numbers_sort(double *v, size_t n)
{
    enum { FEW = 64 };
    if (n > FEW) {
        qsort(v, n, sizeof *v, by_value);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        double x = v[i];
        size_t to = i;
        for (; to > 0 && v[to - 1] > x; to--)
            v[to] = v[to - 1];
        v[to] = x;
    }
}

typedef struct ranked {
    double v;
    size_t i;
} ranked;

static int by_ranked(const void *a, const void *b)
{
    double x = ((const ranked *)a)->v, y = ((const ranked *)b)->v;
    return (x > y) - (x < y);
}

int numbers_mean_ranks(double *rank, const double *v, size_t n)
{
    ranked *r = malloc((n + 1) * sizeof *r);
    if (!r)
        return 0;
    for (size_t i = 0; i < n; i++)
        r[i] = (ranked){ v[i], i };
    qsort(r, n, sizeof *r, by_ranked);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && r[end].v == r[first].v; end++)
            ;
        for (size_t k = first; k < end; k++)
            rank[r[k].i] = 0.5 * (double)(first + 1 + end);
    }
    free(r);
    return 1;
}

double numbers_spearman(const double *a, const double *b, size_t n)
{
    double *rank = malloc((2 * n + 1) * sizeof *rank), out = NAN;
    if (rank && n > 1 && numbers_mean_ranks(rank, a, n) && numbers_mean_ranks(rank + n, b, n)) {
        double middle = 0.5 * (double)(n + 1), ab = 0, aa = 0, bb = 0;
        for (size_t i = 0; i < n; i++) {
            double p = rank[i] - middle, q = rank[n + i] - middle;
            ab += p * q;
            aa += p * p;
            bb += q * q;
        }
        out = aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
    }
    free(rank);
    return out;
}

double numbers_quantile(const double *sorted, size_t n, double share)
{
    double at = share * (double)(n - 1);
    size_t below = (size_t)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    double part = at - (double)below;
    return sorted[below] * (1 - part) + sorted[below + 1] * part;
}

double numbers_median(double *v, size_t n)
{
    numbers_sort(v, n);
    return numbers_quantile(v, n, 0.5);
}

void numbers_keep(double *value, size_t *which, size_t *n, size_t most, double v, size_t of)
{
    size_t at = *n;
    if (*n < most)
        ++*n;
    else if (most == 0 || !(value[--at] < v)) /* all stay */
        return;
    for (; at > 0 && value[at - 1] < v; at--) {
        value[at] = value[at - 1];
        which[at] = which[at - 1];
    }
    value[at] = v;
    which[at] = of;
}

double *numbers_at(const double *v, const int *row, size_t n, arena *a)
{
    double *out = arena_array(a, n, sizeof *out);
    for (size_t i = 0; i < n && out; i++)
        out[i] = v[row[i]];
    return out;
}

/* The digits of v as a shortest decimal number, 15 at most; *last is the place of the last one. */
static int digits_of(double v, int *last)
{
    char buf[40];
    snprintf(buf, sizeof buf, "%.14e", fabs(v));
    char *e = strchr(buf, 'e');
    int power = atoi(e + 1), n = 15;
    for (char *c = e - 1; n > 1 && (*c == '0' || *c == '.'); c--)
        n -= *c == '0';
    *last = power - (n - 1);
    return n;
}

double numbers_rounding(const double *v, const double *weight, size_t n)
{
    enum { LOOKED_AT = 1000 };
    int most = 1, last;
    double sum = 0, all = 0;
    n = n < LOOKED_AT ? n : LOOKED_AT;
    for (size_t i = 0; i < n; i++) {
        int digits = digits_of(v[i], &last);
        most = digits > most ? digits : most;
    }
    for (size_t i = 0; i < n; i++) {
        int digits = digits_of(v[i], &last);
        double unit =
            v[i] == 0 ? 0 : pow(10, last - (most - digits)); /* zeros at the end are lost */
        double w = weight ? weight[i] : 1;
        sum += w * (unit * unit / 12);
        all += w;
    }
    return all > 0 ? sum / all : 0;
}
