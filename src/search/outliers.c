/* outliers.c - see outliers.h. */
#include "search/outliers.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "expr/expr.h"

enum {
    ROWS_MIN = 20,
    PART = 20,     /* one row of so many at most: more are no slips */
    NEIGHBOURS = 8 /* the rows whose inputs are nearest */
};

#define APART      3.0  /* distances of y from its median: times that of any row not suspected */
#define FENCE      3.0  /* and times the distance of the quartiles */
#define SPREADS    3.0  /* from the neighbours' median, in terms of how these differ */
#define MISSES     20.0 /* the deviation of the others from the formula */
#define OF_LARGEST 4.0  /* and the largest miss of these */
#define GOOD       0.02 /* 1 - r^2 of a formula that may say so */
#define WIDTHS     30.0 /* of the others' y: a miss that needs no good formula */
#define ROUNDING   1e-6

/* y in ascending order, in v. */
static const double *sorted(double *v, const double *y, size_t n)
{
    memcpy(v, y, n * sizeof *v);
    numbers_sort(v, n);
    return v;
}

/* The least distance of y from its median at which rows stand apart; +infinity: none do. */
static double fence(const double *y, size_t n, double *v)
{
    double least = INFINITY;
    sorted(v, y, n);
    double middle = v[n / 2], width = v[3 * n / 4] - v[n / 4];
    for (size_t i = 0; i < n; i++)
        v[i] = fabs(y[i] - middle);
    numbers_sort(v, n);
    for (size_t k = n - n / PART; k < n; k++) /* the longest tail that stands apart */
        if (v[k] > APART * v[k - 1] && v[k] > FENCE * width && width > 0) {
            least = v[k];
            break;
        }
    return least;
}

/* Whether y of row i differs from that of its neighbours by much more than they do. Rows which
 * stand apart themselves, `least` from the middle, are not asked. */
static int differs(const regress_table *t, size_t i, const double *scale, double middle,
                   double least)
{
    double near[NEIGHBOURS + 1], y[NEIGHBOURS + 1];
    size_t n = 0;
    for (size_t r = 0; r < t->rows; r++) {
        double d = 0;
        for (size_t j = 0; j < t->dim && (n < NEIGHBOURS || d < near[n - 1]); j++) {
            double u = (t->x[j][r] - t->x[j][i]) * scale[j];
            d += u * u;
        }
        if (fabs(t->y[r] - middle) >= least || (n == NEIGHBOURS && d >= near[n - 1]))
            continue;
        size_t at = n < NEIGHBOURS ? n++ : NEIGHBOURS - 1;
        for (; at > 0 && near[at - 1] > d; at--) {
            near[at] = near[at - 1];
            y[at] = y[at - 1];
        }
        near[at] = d;
        y[at] = t->y[r];
    }
    assert(n == NEIGHBOURS); /* of ROWS_MIN rows and more, few stand apart: see fence */
    numbers_sort(y, n);
    return fabs(t->y[i] - 0.5 * (y[n / 2 - 1] + y[n / 2])) > SPREADS * (y[n - 1] - y[0]);
}

size_t search_outliers_suspect(size_t *row, const regress_table *t, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t n = 0;
    double *v = arena_array(tmp, t->rows + 1, sizeof *v);
    double *scale = arena_array(tmp, t->dim + 1, sizeof *scale);
    int enough = t->rows >= ROWS_MIN && v && scale;
    double least = enough ? fence(t->y, t->rows, v) : INFINITY;
    if (enough && least < INFINITY) {
        double middle = sorted(v, t->y, t->rows)[t->rows / 2];
        for (size_t j = 0; j < t->dim; j++) {
            double low = INFINITY, high = -INFINITY;
            for (size_t i = 0; i < t->rows; i++) {
                low = fmin(low, t->x[j][i]);
                high = fmax(high, t->x[j][i]);
            }
            scale[j] = high > low ? 1 / (high - low) : 0;
        }
        for (size_t i = 0; i < t->rows; i++)
            if (fabs(t->y[i] - middle) >= least && differs(t, i, scale, middle, least))
                row[n++] = i;
    }
    arena_reset(tmp, mark);
    return n;
}

size_t search_outliers_confirm(size_t *row, size_t n, const regress_table *t, expr e, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    double *value = arena_array(tmp, t->rows, sizeof *value);
    double low = INFINITY, high = -INFINITY, sum = 0, largest = 0, mean = 0, square = 0;
    size_t k = 0, kept = 0;
    if (!value)
        return 0;
    double middle = sorted(value, t->y, t->rows)[t->rows / 2]; /* sums about it do not cancel */
    /* On rows left out the formula need not be finite. */
    if (expr_eval(e, t->x, t->rows, value, tmp) == (size_t)-1) {
        arena_reset(tmp, mark);
        return 0;
    }
    for (size_t i = 0; i < t->rows; i++) {
        if (k < n && row[k] == i) {
            k++;
            continue;
        }
        double miss = fabs(value[i] - t->y[i]);
        sum += miss * miss;
        mean += t->y[i] - middle;
        square += (t->y[i] - middle) * (t->y[i] - middle);
        largest = fmax(largest, miss);
        low = fmin(low, t->y[i]);
        high = fmax(high, t->y[i]);
    }
    double rows = (double)(t->rows - n), deviation = sqrt(sum / rows), width = high - low;
    int is_good = sum < GOOD * (square - mean * mean / rows);
    for (k = 0; k < n; k++) {
        double f = value[row[k]], miss = fabs(f - t->y[row[k]]);
        /* Where the formula leaves what it was found with far behind, it knows nothing. */
        if (f >= low - width / 2 && f <= high + width / 2 && miss > MISSES * deviation &&
            miss > OF_LARGEST * largest && miss > ROUNDING * fabs(t->y[row[k]]) &&
            (is_good || miss > WIDTHS * width))
            row[kept++] = row[k];
    }
    arena_reset(tmp, mark);
    return kept;
}
