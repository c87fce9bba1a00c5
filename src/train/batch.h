/* batch.h - what one step learns from: samples, their subtrees and variants, as tokens.
 *
 * A batch is a pure function of the settings and the index of its first sample, so a run is resumed
 * by that index alone. */
#ifndef TRAIN_BATCH_H
#define TRAIN_BATCH_H

#include "data/edits.h"
#include "model/encode.h"
#include "train/objective.h"

typedef struct train_batch_how {
    train_stage stage;
    size_t size;          /* samples */
    size_t every, offset; /* of which only offset, offset + every, ... are drawn; 0, 0: all */
    size_t points;        /* points kept of each sample's DATA_POINTS, drawn at random */
    uint64_t seed;
    rng_stream stream;
} train_batch_how;

/* A formula to encode, and the rows that it gives. */
typedef struct train_formula {
    data_tokens tokens;
    nn_path *path;
    size_t variant;
    int alone;         /* a subtree on its own (gives o), else a parent (gives gs and c) */
    int whole, part;   /* which rows of a parent are wanted */
    size_t first, end; /* the subtree's tokens within the parent */
} train_formula;

/* Values on one X, and the rows that they give. */
typedef struct train_table {
    model_table_group group;
    size_t *variant; /* per table */
    int *is_subtree; /* per table: gives p, else gv */
} train_table;

typedef struct train_batch {
    size_t variants;
    int *item, *k;
    train_formula *formula;
    size_t formulas;
    train_table *table; /* one per sample */
    size_t tables;
} train_batch;

/* Draws samples first .. first + size - 1. Everything lives in the arenas a[0..threads), which are
 * reset first. */
snip_code train_batch_draw(train_batch *out, const train_batch_how *how, uint64_t first,
                           const data_vocab *v, arena **a, int threads, snip_status *st);

#endif
