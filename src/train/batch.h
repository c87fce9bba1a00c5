/* batch.h - what one step learns from: samples, their subtrees and variants, as tokens.
 *
 * A batch is a pure function of the settings and the index of its first sample, so a run is resumed
 * by that index alone. */
#ifndef TRAIN_BATCH_H
#define TRAIN_BATCH_H

#include "data/edits.h"
#include "data/own_laws.h"
#include "model/encode.h"
#include "model/words.h"
#include "train/objective.h"

typedef struct train_batch_how {
    train_stage stage;
    size_t size;          /* samples */
    size_t every, offset; /* of which only offset, offset + every, ... are drawn; 0, 0: all */
    size_t subtrees;      /* subtrees drawn of each sample, as far as it has them; 0: 1 */
    int edits;            /* edits tried of each subtree */
    double constants;     /* share of these that change a constant; none do so in the form view */
    size_t points;        /* points kept of each sample's DATA_POINTS, drawn at random */
    size_t rows;  /* statistics of half of the samples are of so many rows or more; 0: all */
    double noise; /* most noise added to half of the tables, relative to y's deviation */
    double zoom;  /* share of samples f(x) that become f(m + s x): m one of the points, s small */
    double laws;  /* share of samples that are short laws (data/laws.h) */
    double quantities;        /* share of these whose constants are inputs, too */
    double forms;             /* share of samples in the form view */
    int refits;               /* laws in the form view come with a list (refits.h) */
    const data_own_laws *own; /* a user's formulas, or NULL */
    double own_share;         /* share of samples that are of these */
    uint64_t seed;
    rng_stream stream;
} train_batch_how;

/* Where an embedded row belongs, and of which of a formula's tokens it is. */
typedef struct train_row {
    train_view view;
    size_t variant;
    size_t first, end; /* formulas only */
} train_row;

/* A formula to encode, and the rows that it gives. */
typedef struct train_formula {
    model_words words;
    size_t rows;
    train_row *row;
} train_formula;

/* Values on one X, and the rows that they give, one per table. */
typedef struct train_table {
    model_table_group group;
    train_row *row;
} train_table;

typedef struct train_batch {
    size_t variants;
    train_variant *variant;
    train_formula *formula;
    size_t formulas;
    train_table *table; /* one per sample */
    size_t tables;
} train_batch;

/* Draws samples first .. first + size - 1. Everything lives in the arenas a[0..threads), which are
 * reset first. */
snip_code train_batch_draw(train_batch *out, const train_batch_how *how, uint64_t first,
                           const model *m, arena **a, int threads, snip_status *st);

#endif
