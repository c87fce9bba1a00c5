/* metrics.h - ranks, their summaries, and how sure we are of them. */
#ifndef EVAL_METRICS_H
#define EVAL_METRICS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/progress.h"
#include "base/status.h"

/* A figure with its 95 % interval. */
typedef struct eval_figure {
    double value, lo, hi;
} eval_figure;

/* {"value":…,"lo":…,"hi":…}; numbers that are not finite become null. */
json_t *eval_figure_json(eval_figure f);

enum { EVAL_RESAMPLES = 1000 };

/* Pairs of unit vectors, a row each. Where each row of values has a second one in `turned`, a
 * similarity is the larger of the two cosines. */
typedef struct eval_pairs {
    const float *symbols, *values;
    const float *turned; /* or NULL */
    size_t count, width;
} eval_pairs;

/* How many stand before the partner, in both directions by one pass: above_f[i] counts the values
 * that symbols i find at least as similar as their own, above_y[i] the symbols that values i do. So
 * ties count against us, and a rank is one more. Products are float32, and where that is too coarse
 * to decide they are done again in double: the counts are exact for the vectors given. Only symbols
 * [first, end) are looked at: other entries of above_f are left alone and above_y counts only
 * these, so that several processes can add up. Returns 0 when memory is out. `p` may be NULL. */
int eval_places(uint32_t *above_f, uint32_t *above_y, const eval_pairs *pairs, size_t first,
                size_t end, int threads, progress *p);

/* Summaries of ranks 1, 2, ...; intervals by bootstrapping the queries. */
typedef struct eval_retrieval {
    eval_figure r1, r10, ndcg10, mrr, median_rank;
} eval_retrieval;
int eval_retrieval_of(eval_retrieval *out, const uint32_t *rank, size_t n, uint64_t seed,
                      int threads);

/* The share of `others` that are lower than `own`, strictly. */
double eval_percentile(double own, const double *others, size_t n);

/* A figure of `units` resampled units: f gets how often each is counted, NULL for once each. */
typedef double eval_statistic(const void *context, const uint32_t *times);
eval_figure eval_bootstrap(eval_statistic *f, const void *context, size_t units, uint64_t seed);

/* Mean over the units that have a value (others are NaN), interval by bootstrapping units. */
eval_figure eval_mean(const double *value, size_t n, uint64_t seed);

/* Mean over families of the means over units: value[f * units + u], NaN where a unit has none;
 * families without any are left out. The same seed and units give the same resamples, so that two
 * models can be compared. */
eval_figure eval_mean_of_families(const double *value, size_t families, size_t units,
                                  uint64_t seed);

/* The difference a - b of such means, resampled together. */
eval_figure eval_difference(const double *a, const double *b, size_t families, size_t units,
                            uint64_t seed);

/* Area under the curve that tells high[] from low[] (ties count half), by bootstrapping both;
 * unit i gives high[i] and low[i], NaN where it has none. */
eval_figure eval_auc(const double *high, const double *low, size_t n, uint64_t seed);

/* Eigenvalues of the symmetric a(n,n), largest first, with vectors of length 1 as rows of
 * vector(n,n), their largest component positive. a is used up. Returns 0 when memory is out, a
 * number is not finite or it does not converge. */
int eval_eigen(double *value, double *vector, double *a, size_t n);

/* Variances along the principal components of n centred rows (largest first, as shares, `width` of
 * them) and the coordinates along the first two, plane[n][2]. Returns 0 when it cannot be done. */
int eval_pca(double *share, double *plane, const float *rows, size_t n, size_t width);

#endif
