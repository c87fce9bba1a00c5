/* task.h - a table and a model as the tools take them, for their tests. */
#ifndef TASK_H
#define TASK_H

#include "support.h"

#include <math.h>
#include <string.h>

#include "regress/problem.h"

enum { ROWS = 60, COLUMNS = 4 };

static const char *const names[COLUMNS] = { "a", "speed [m/s]", "x2", "d" };

static inline int same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Whether two values agree to 1e-9 of the size given, or are both not finite. */
static inline int agree(double a, double b, double size)
{
    return isfinite(a) && isfinite(b) ? fabs(a - b) <= 1e-9 * size : isfinite(a) == isfinite(b);
}

/* Inputs of different size and place, none of mean 0 or deviation 1; the values of `truth`. */
static inline regress_table table_of(const char *truth, size_t rows, arena *a)
{
    static const double low[COLUMNS] = { 1, 20, -3, 0.001 }, high[COLUMNS] = { 5, 90, 4, 0.009 };
    const double **x = arena_array(a, COLUMNS, sizeof *x);
    double *y = arena_array(a, rows, sizeof *y);
    rng r;
    rng_init(&r, 5, RNG_BENCH, 0);
    for (int j = 0; j < COLUMNS; j++) {
        double *v = arena_array(a, rows, sizeof *v);
        rng_fill_uniform(&r, v, rows);
        for (size_t i = 0; i < rows; i++)
            v[i] = low[j] + (high[j] - low[j]) * v[i];
        x[j] = v;
    }
    const expr_names known = { names, COLUMNS };
    assert_int_equal(expr_eval(parsed(truth, &known, a), x, rows, y, a), rows);
    return (regress_table){ COLUMNS, rows, names, x, y };
}

static inline regress_problem problem_of(const char *truth, size_t rows, arena *a)
{
    regress_table t = table_of(truth, rows, a);
    regress_problem p;
    snip_status st = { 0 };
    if (regress_problem_make(&p, &t, 1, a, &st) != SNIP_OK)
        fail_msg("%s: %s", truth, st.msg);
    return p;
}

/* The problem that candidates are ranked for and formulas explained by. */
static inline regress_problem ranked_problem(arena *a)
{
    return problem_of("2.5*x2 + 3*sin(2*a) + 0.5", ROWS, a);
}

/* A table of a law with normal noise, whose deviation is `size` and that share of y. */
static inline regress_problem noisy_in_part(const char *law, size_t rows, double size, double share,
                                            uint64_t draw, arena *a)
{
    regress_table t = table_of(law, rows, a);
    double *y = arena_copy(a, t.y, rows * sizeof *y);
    rng r;
    rng_init(&r, draw, RNG_BENCH, rows);
    for (size_t i = 0; i < rows; i++)
        y[i] += (size + share * fabs(y[i])) * sqrt(-2 * log(1 - rng_uniform(&r))) *
                cos(6.283185307 * rng_uniform(&r));
    t.y = y;
    regress_problem p;
    assert_int_equal(regress_problem_make(&p, &t, draw, a, NULL), SNIP_OK);
    return p;
}

static inline regress_problem noisy(const char *law, size_t rows, double size, uint64_t draw,
                                    arena *a)
{
    return noisy_in_part(law, rows, size, 0, draw, a);
}

/* A sum of n + 1 terms. */
static inline expr long_sum(const char *first, const char *term, size_t n, const expr_names *known,
                            arena *a)
{
    char *text = arena_alloc(a, strlen(first) + n * (strlen(term) + 1) + 1), *end = text;
    end += sprintf(end, "%s", first);
    for (size_t i = 0; i < n; i++)
        end += sprintf(end, "+%s", term);
    return parsed(text, known, a);
}

/* A small model as the tools use it; it lives in `a`, so it is not closed. */
static inline model_opened *small_model(arena *a)
{
    model_opened *t = arena_zero(a, sizeof *t);
    t->m = untrained_model(4, a);
    t->tree = 1;
    return t;
}

#endif
