/* laws.h - samples like measured laws: short formulas over ranges in raw units.
 *
 *     data_gen g = { .dims = 6, .points = 200 };
 *     data_sample s;
 *     data_law law;
 *     if (data_law_draw(&s, &law, &g, seed, RNG_TRAIN, i, a) == SNIP_OK)
 *         ... s as from data_sample_draw, law as a person would write and measure it ...
 *
 * The SNIP generator's expressions are long and wild, over inputs of mean 0 and deviation 1. Tables
 * that people measure show short laws over positive ranges far from 0. A law is drawn in raw units,
 * then read as the tools read a user's formula: inputs standardised, operators SNIP's, constants
 * gathered (regress_problem_rewrite). Law i of a stream under a seed is a pure function of the
 * three, and shares no random numbers with sample i of the SNIP generator.
 *
 * A measured law has numbers in it, A*exp(-0.5*t) for a material at hand. A law of the books has
 * all its quantities as letters, A*exp(-E/(R*T)), and tables of it vary them all. g.quantities is
 * the share of laws of the second kind: free constants become inputs whose ranges lie around them.
 */
#ifndef DATA_LAWS_H
#define DATA_LAWS_H

#include <jansson.h>

#include "base/progress.h"
#include "data/gen.h"

enum {
    DATA_LAW_DIMS = 6,  /* most inputs of a law, constants that became inputs apart */
    DATA_LAW_CORE = 14, /* most nodes of a law, constants and such inputs apart (data_law_core) */
};

/* A law as it was drawn, in raw units. Everything lives in the arena of the draw. */
typedef struct data_law {
    expr e; /* of the raw inputs */
    int dim;
    size_t points;
    const double **x;               /* dim raw columns */
    double *y;                      /* e's values there */
    const double *mean, *deviation; /* of the raw columns */
    double linear;                  /* R^2 of the best linear function of the inputs */
    int attempts;                   /* how many were drawn, with this one */
} data_law;

/* Fills `out` as data_sample_draw does; the fields that tell how the SNIP generator drew are 0.
 * `law` may be NULL. It promises, beside what a sample promises:
 *   e has at most DATA_SEQUENCE_MAX tokens, no constant without a word, and an inner node, so that
 *   it can be perturbed;
 *   y is e's value at x, and within 1e-6 of y's deviation of the raw law's;
 *   y's deviation is more than a thousandth of its largest value: four digits show it;
 *   rows exchanged in any one column change y by more than a hundredth of its deviation;
 *   no single row makes more than half of y's variance.
 * gen->dims bounds all inputs. Fails only for want of memory; then `a` is as it was. */
snip_code data_law_draw(data_sample *out, data_law *law, const data_gen *gen, uint64_t seed,
                        rng_stream stream, uint64_t index, arena *a);

/* The root mean squares of `dim` columns, in `a`; NULL when memory is out. */
double *data_law_sizes(const double *const *x, int dim, size_t rows, arena *a);

/* A law of other inputs, dim <= columns of them, on the columns of x: each of its inputs becomes a
 * column drawn at random, times a free constant, so that it is as large as `size` says the input
 * was. In `a`; node is NULL when memory is out. */
expr data_law_on(expr e, const double *size, int dim, const double *const *x, size_t rows,
                 int columns, rng *r, arena *a);

/* R^2 of the best linear function of columns x[0..dim), each of mean 0, for y. */
double data_linear_fit(const double *const *x, int dim, const double *y, size_t n);

/* A law is nearly linear where that is above this. */
#define DATA_NEARLY_LINEAR 0.999

/* Nodes of e without its constants and what only joins them to the rest: 2*x + 3 counts 1, the
 * variable. */
size_t data_law_core(expr e);

/* Draws laws 0 .. count-1 of a stream and gathers how they are: histograms of inputs, core, nodes
 * and tokens, operators, ranges, the share of nearly linear ones. *out is owned by the caller; it
 * does not depend on the number of threads. `progress` may be NULL. */
snip_code data_law_stats(json_t **out, const data_gen *gen, uint64_t seed, rng_stream stream,
                         size_t count, progress *progress);

#endif
