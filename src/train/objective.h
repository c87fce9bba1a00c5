/* objective.h - the contrastive objectives S0 .. S5: a pure function from embedded rows to a loss
 * and its gradients on those rows (paper, appendix on detailed contrastive objectives).
 *
 * Rows belong to variants (i,k): item i of the batch, k = 0 the original. The encoders never learn
 * which stage they are in; a stage decides which rows it reads:
 *     S0, S1: gs, gv of originals      S2: + c of originals, all p      S3: + o of originals
 *     S4: all c, o, p; gs, gv of originals                              S5: all */
#ifndef TRAIN_OBJECTIVE_H
#define TRAIN_OBJECTIVE_H

#include <stddef.h>

#include "base/arena.h"

typedef enum train_stage {
    TRAIN_S0,
    TRAIN_S1,
    TRAIN_S2,
    TRAIN_S3,
    TRAIN_S4,
    TRAIN_S5,
    TRAIN_STAGES
} train_stage;

/* Five matrices (variants, latent), in the order of the paper's letters. */
typedef enum train_view { TRAIN_GS, TRAIN_GV, TRAIN_C, TRAIN_O, TRAIN_P, TRAIN_VIEWS } train_view;

/* Whether a stage reads the row of view v for variant k. */
int train_reads(train_stage stage, train_view v, int k);

/* A variant: item i of the batch, k = 0 for the original, and which views have a row of it. In the
 * form view `whole` and `part` are hashes of the forms of parent and subtree: one form fits many
 * tables, so rows of equal forms are no negatives of each other. Rows of the exact view and of the
 * form view never meet. All ints: ranks send them as such. */
typedef struct train_variant {
    int item, k, views; /* bit v of views is for train_view v */
    int form;           /* whether it is in the form view */
    int whole, part;
} train_variant;

typedef struct train_how {
    train_stage stage;
    int cosine;                       /* normalise rows; else inner products */
    double tau_global, tau_local;     /* temperatures, without cosine */
    double scale_global, scale_local; /* with cosine: factors on the similarities, learned */
    double lambda;                    /* weight of the local terms */
    double centre;                    /* weight of the gap's square */
    int threads;                      /* 0: 1; the result is the same for any number */
} train_how;

/* Each term with its two directions: symbols to values and back. Unused ones are 0. */
typedef struct train_terms {
    double total;
    double global, global_sv, global_vs;
    double context, context_sv, context_vs;
    double standalone, standalone_sv, standalone_vs;
    double gap;                         /* distance between the centroids of the rows gs and gv */
    double dscale_global, dscale_local; /* gradients of the loss for the scales */
} train_terms;

/* Computes the terms and adds the gradients to grad[v], matrices of the same shape. An item's
 * original comes before its edits, and a variant with symbols in a view has values there too. Only
 * the gradients of variants [own_first, own_end) are computed: with several ranks each sees all
 * rows and works out its own; the gradients for the scales are then those of the own symbols, to be
 * added up. Returns 0 when memory is out. `tmp` is left as found. */
int train_objective(train_terms *out, float *const grad[TRAIN_VIEWS], float *const row[TRAIN_VIEWS],
                    const train_variant *variant, size_t variants, size_t own_first, size_t own_end,
                    size_t latent, const train_how *how, arena *tmp);

#endif
