/* gen_stats.h - what the generator produces, in numbers: the histograms and quantiles by which it
 * is compared with the reference. */
#ifndef DATA_GEN_STATS_H
#define DATA_GEN_STATS_H

#include <jansson.h>

#include "base/progress.h"
#include "data/gen.h"

enum { DATA_GEN_STATS_ROW = 14 }; /* numbers in a row of data_gen_stats.rows */

typedef struct data_gen_stats {
    json_t *json; /* keys as in the reference's generator-stats.json; owned by the caller */
    /* One row per sample: dimension, unary requested, unary count, binary drawn, binary count,
     * tokens, nodes, depth, constants, clusters, uniform, log10 of median and maximum of |y|, mean
     * kurtosis of the columns. In the arena given. */
    float (*rows)[DATA_GEN_STATS_ROW];
} data_gen_stats;

/* Draws samples 0 .. count-1 of a stream and gathers their statistics; the result does not depend
 * on the number of threads. `progress` may be NULL. */
snip_code data_gen_stats_gather(data_gen_stats *out, const data_gen *gen, uint64_t seed,
                                rng_stream stream, size_t count, progress *progress, arena *a);

#endif
