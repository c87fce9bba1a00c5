/* gen.h - the SNIP generator: expressions, input points and values.
 *
 *     data_gen g = { .dims = 10, .points = 200 };
 *     data_sample s;
 *     if (data_sample_draw(&s, &g, seed, RNG_TRAIN, i, a) == SNIP_OK)
 *         ... s.e, s.x[0..s.dim), s.y ...         // all in `a`
 *
 * Sample i of a stream under a seed is a pure function of the three, on every machine. */
#ifndef DATA_GEN_H
#define DATA_GEN_H

#include "base/rng.h"
#include "expr/expr.h"

enum {
    DATA_DIMS_MAX = 10,    /* inputs that the vocabulary has words for */
    DATA_UNARY_MAX = 4,    /* unary operators requested: 0 .. 4 */
    DATA_BINARY_EXTRA = 3, /* binary operators drawn: 0 .. dim + 3 */
    DATA_CLUSTERS_MAX = 9, /* clusters of input points: 1 .. 9 */
    DATA_POINTS = 200,     /* points of a sample, unless asked otherwise */
    DATA_POINTS_MAX = 100000
};

/* Values beyond this have no float token with room for rounding; SNIP rejects them. */
#define DATA_VALUE_MAX 1e103

/* Whether all values are finite and within that range. */
int data_values_fit(const double *y, size_t n);

typedef struct data_gen {
    int dims;          /* largest input dimension, 1 .. DATA_DIMS_MAX */
    size_t points;     /* points per sample, 2 .. DATA_POINTS_MAX */
    double quantities; /* share of laws whose constants are inputs, too (data/laws.h) */
} data_gen;

typedef struct data_sample {
    expr e;
    expr plain; /* the same before its constants were gathered, where free and fixed ones are still
                   apart; node is NULL where there was nothing to gather */
    int dim;    /* input columns; all occur in e */
    size_t points;
    const double **x; /* dim columns of `points` values, each of mean 0 and deviation 1 */
    double *y;
    int unary_requested; /* what was drawn on the way, for statistics */
    int binary_drawn;
    int clusters;
    int uniform; /* uniform clusters, else Gaussian ones */
} data_sample;

/* How one attempt ended. */
typedef enum data_outcome {
    DATA_ACCEPTED,
    DATA_BAD_DIMENSION, /* fewer leaves than inputs */
    DATA_BAD_VALUES,    /* a value or an intermediate result not finite, or too large */
    DATA_NO_MEMORY
} data_outcome;

/* A sample on its way: what is drawn once and kept while attempts are repeated. */
typedef struct data_draft {
    data_gen gen;
    rng r;
    int dim, unary;
} data_draft;

void data_draft_init(data_draft *d, const data_gen *gen, uint64_t seed, rng_stream stream,
                     uint64_t index);

/* One attempt. After DATA_BAD_VALUES the expression and the points are in `out`, y is not. */
data_outcome data_draft_try(data_draft *d, data_sample *out, arena *a);

/* Attempts until one is accepted. Fails only for want of memory; then `a` is as it was. */
snip_code data_sample_draw(data_sample *out, const data_gen *gen, uint64_t seed, rng_stream stream,
                           uint64_t index, arena *a);

/* Makes s what it looks like in a small part of its inputs' range: f(m + s x) in place of f(x),
 * where m is one of the points. Measured tables are often like that: smooth, and far from 0. s
 * stays as it is where the result could not be used in training. Fails only for want of memory. */
snip_code data_sample_zoom(data_sample *s, rng *r, arena *a);

/* y[0..n) with Gaussian noise of `level` times its deviation, in `a`; NULL when memory is out. As
 * many numbers are drawn for any level. */
const double *data_noisy(const double *y, size_t n, double level, rng *r, arena *a);

/* An expression of the same grammar with `binary` binary operators and at most `unary` unary ones,
 * whose leaves are drawn from variables[0..n). node is NULL when memory is out. */
expr data_grow_small(rng *r, int binary, int unary, const int *variables, int n, arena *a);

#endif
