/* factors.c - see factors.h. */
#include "search/factors.h"

#include <math.h>

#include "search/surrogate.h"

enum { ROWS = 800, DEGREE = 4, TRIAL_COST = 100 };

#define BETTER     0.7  /* of what the surrogate with the input misses */
#define POWER_NEAR 0.25 /* of a guessed exponent to a half or a whole number */
#define POWER_MOST 4.0

/* The first rows of a view, as they are looked at. */
typedef struct trial {
    const search_view *v;
    size_t rows;
    int logs;         /* y has one sign: its logarithm is what is told */
    const double **x; /* the other columns */
    double *y;
    double whole; /* what the surrogate with all inputs misses */
    arena *a;
} trial;

double search_factor_value(expr_op h, double x)
{
    return h == EXPR_SIN ? sin(x) : h == EXPR_COS ? cos(x) : h == EXPR_LOG ? log(x) : x;
}

/* What a surrogate of t->y by the columns misses: of a logarithm the mean square itself, for taking
 * a factor away changes its variance. +infinity where there is no surrogate. */
static double missed(const trial *t, size_t dim)
{
    arena_pos mark = arena_mark(t->a);
    search_surrogate s;
    double mean = 0, variance = 0;
    int good = search_surrogate_fit(&s, t->x, dim, t->y, t->rows, DEGREE, t->a);
    arena_reset(t->a, mark);
    for (size_t r = 0; r < t->rows; r++)
        mean += t->y[r] / (double)t->rows;
    for (size_t r = 0; r < t->rows; r++)
        variance += (t->y[r] - mean) * (t->y[r] - mean) / (double)t->rows;
    return !good ? INFINITY : t->logs ? s.error * variance : s.error;
}

/* The same of y / h(x_i)^p by the other columns. */
static double missed_without(const trial *t, size_t i, expr_op h, double p)
{
    const search_view *v = t->v;
    size_t n = 0;
    int positive = 0, negative = 0;
    for (size_t j = 0; j < v->dim; j++)
        if (j != i)
            t->x[n++] = v->x[j];
    for (size_t r = 0; r < t->rows; r++) {
        double value = search_factor_value(h, v->x[i][r]), by = pow(value, p);
        positive |= value > 0;
        negative |= value < 0;
        t->y[r] = t->logs ? log(fabs(v->y[r])) - log(fabs(by)) : v->y[r] / by;
        if (!isfinite(t->y[r]))
            return INFINITY;
    }
    if (positive && negative && (p != round(p) || (t->logs && fmod(p, 2) != 0)))
        return INFINITY;
    return missed(t, n);
}

size_t search_factors_find(search_factor *out, size_t most, search *s, const search_view *v,
                           const double *power, arena *a)
{
    static const expr_op function[] = { EXPR_SIN, EXPR_COS, EXPR_LOG };
    static const double exponent[] = { 1, -1, 2, -2 };
    arena_pos mark = arena_mark(a);
    trial t = { .v = v, .rows = v->rows < ROWS ? v->rows : ROWS, .logs = 1, .a = a };
    size_t found = 0, trials = 0;
    t.x = arena_array(a, v->dim, sizeof *t.x);
    t.y = arena_array(a, t.rows, sizeof *t.y);
    if (!t.x || !t.y || v->dim < 2)
        return 0;
    for (size_t r = 0; r < t.rows; r++)
        t.logs &= v->y[r] * v->y[0] > 0;
    for (size_t j = 0; j < v->dim; j++)
        t.x[j] = v->x[j];
    for (size_t r = 0; r < t.rows; r++)
        t.y[r] = t.logs ? log(fabs(v->y[r])) : v->y[r];
    t.whole = missed(&t, v->dim);
    for (size_t i = 0; i < v->dim; i++) {
        search_factor best = { .i = i, .score = BETTER };
        double near = round(2 * power[i]) / 2;
        if (near != 0 && fabs(power[i] - near) < POWER_NEAR && fabs(near) <= POWER_MOST) {
            double score = missed_without(&t, i, EXPR_VARIABLE, near) / t.whole;
            trials++;
            if (score < best.score)
                best = (search_factor){ i, EXPR_VARIABLE, near, score };
        }
        for (size_t k = 0; k < sizeof function / sizeof *function; k++)
            for (size_t m = 0; m < sizeof exponent / sizeof *exponent; m++) {
                if (!search_may(s, function[k]))
                    continue;
                double score = missed_without(&t, i, function[k], exponent[m]) / t.whole;
                trials++;
                if (score < best.score)
                    best = (search_factor){ i, function[k], exponent[m], score };
            }
        if (best.score < BETTER && found < most)
            out[found++] = best;
    }
    s->evaluations += TRIAL_COST * trials;
    arena_reset(a, mark);
    return found;
}
