/* rig.h - what benchmarks of the training share: a model and its batches. */
#ifndef BENCH_RIG_H
#define BENCH_RIG_H

#include "base/limits.h"
#include "train/batch.h"
#include "train/trainer.h"

typedef struct bench_rig {
    model_config mc;
    train_config tc;
    model *m;
    train_batch_how what; /* how its training draws a batch */
    int threads;
    arena *a, *draw[LIMITS_THREADS];
} bench_rig;

/* A fresh model of a preset. batch 0: the preset's. On failure *st says why, and bench_rig_free is
 * due as well. */
snip_code bench_rig_make(bench_rig *r, const char *preset, const char *stage, size_t batch,
                         int threads, snip_status *st);

/* The model in a file, with the settings that it was trained with; batch 0: theirs. */
snip_code bench_rig_load(bench_rig *r, const char *path, size_t batch, int threads,
                         snip_status *st);
void bench_rig_free(bench_rig *r);

/* The batch of these samples, in the rig's memory until the next one is drawn. */
snip_code bench_rig_draw(train_batch *out, bench_rig *r, uint64_t first, snip_status *st);

#endif
