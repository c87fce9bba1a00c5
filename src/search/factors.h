/* factors.h - inputs that are a factor of the target, found by trial.
 *
 * If y = h(x_i)^p * f(others), then y / h(x_i)^p is told by the other inputs alone, and a rough
 * surrogate (surrogate.h) of it by them misses less than one of y by all inputs. This needs no
 * derivatives, so it also sees cos(x) over a whole turn, which bends too much for any surrogate. */
#ifndef SEARCH_FACTORS_H
#define SEARCH_FACTORS_H

#include "search/search_int.h"

typedef struct search_factor {
    size_t i;     /* the input */
    expr_op h;    /* EXPR_SIN, EXPR_COS, EXPR_LOG; EXPR_VARIABLE for a power of the input itself */
    double p;     /* the exponent */
    double score; /* what a surrogate without the input misses, relative to one with it */
} search_factor;

/* The value of h at x. */
double search_factor_value(expr_op h, double x);

/* Fills `out` with those that hold, at most `most`, and returns how many. power[i] is a guess of
 * the exponent of input i as a power, NaN where there is none. s->evaluations counts what it costs.
 */
size_t search_factors_find(search_factor *out, size_t most, search *s, const search_view *v,
                           const double *power, arena *a);

#endif
