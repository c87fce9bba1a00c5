/* bench.h - benchmarks behind `snip bench`: one file per hot path, each a ratio from one run. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <jansson.h>

#include "base/status.h"

/* Each measures for about `seconds` on one core and returns its figures, NULL when memory is out.
 */
json_t *bench_gen(double seconds);
json_t *bench_eval(double seconds);

/* Candidates per second: values on 64 rows and what they leave of a target, for trees of 12 nodes,
 * beside the same by expr_eval. */
json_t *bench_fit_eval(double seconds);

/* A step of `preset` at `stage`, on `threads` cores; or, if `path` is not NULL, of the model there
 * as it was trained. batch 0: the preset's, or that model's. */
json_t *bench_train(const char *preset, const char *stage, size_t batch, int threads,
                    double seconds, const char *path, snip_status *st);

/* Writes a batch of that kind to a file, with the weights it meets and the loss they give, for
 * other implementations of the step. NULL with *st set when that fails. */
json_t *bench_batch(const char *preset, const char *stage, size_t batch, int threads,
                    const char *path, snip_status *st);

/* Ranks of 16,384 pairs in both directions, beside the matrix products alone. */
json_t *bench_rank(double seconds, int threads);

/* Formulas and tables embedded per second, by a model of `preset` on as many points as in training
 * and, if `path` is not NULL, by the model there on 200 rows. */
json_t *bench_embed(const char *preset, const char *stage, size_t batch, int threads,
                    double seconds, const char *path, snip_status *st);

/* How often explain's list and verdict cure a formula with a planted error. */
json_t *bench_cure(const char *model, int threads, snip_status *st);

/* The 20 nearest of `rows` random vectors as wide as the small preset's, beside reading the same
 * bytes. */
json_t *bench_find(double seconds, size_t rows, int threads);

#endif
