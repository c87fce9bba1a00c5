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

/* Matrices (variants, latent): five in the order of the paper's letters, then the forms of lists
 * and the tables that these were fitted to (refits.h), which no stage of the paper has. */
typedef enum train_view {
    TRAIN_GS,
    TRAIN_GV,
    TRAIN_C,
    TRAIN_O,
    TRAIN_P,
    TRAIN_REFIT_S,
    TRAIN_REFIT_V,
    TRAIN_VIEWS
} train_view;

/* Sets of views, one bit each. */
enum {
    TRAIN_WHOLE = 1 << TRAIN_GS | 1 << TRAIN_GV,          /* formulas and tables as a whole */
    TRAIN_INSIDE = 1 << TRAIN_C | 1 << TRAIN_P,           /* parts in their context */
    TRAIN_ALL = TRAIN_WHOLE | TRAIN_INSIDE | 1 << TRAIN_O /* and parts alone */
};

/* The stages, one row each: its name; whether formulas have tree positions; the views it reads of
 * originals, and of edits; whether a part's values are held against those of all variants, or of
 * the originals and its own item's edits. */
#define TRAIN_STAGE_LIST(ROW)                                                                      \
    ROW(S0, 0, TRAIN_WHOLE, 0, 0)                                                                  \
    ROW(S1, 1, TRAIN_WHOLE, 0, 0)                                                                  \
    ROW(S2, 1, TRAIN_WHOLE | TRAIN_INSIDE, 1 << TRAIN_P, 0)                                        \
    ROW(S3, 1, TRAIN_ALL, 1 << TRAIN_P, 0)                                                         \
    ROW(S4, 1, TRAIN_ALL, TRAIN_INSIDE | 1 << TRAIN_O, 1)                                          \
    ROW(S5, 1, TRAIN_ALL, TRAIN_ALL, 1)

#define TRAIN_STAGE_ENUM(name, tree, originals, edits, everyone) TRAIN_##name,
typedef enum train_stage { TRAIN_STAGE_LIST(TRAIN_STAGE_ENUM) TRAIN_STAGES } train_stage;

typedef struct train_stage_row {
    int tree;             /* formulas have tree positions */
    int originals, edits; /* views that are read of them */
    int everyone;         /* all variants take part in the contest of parts */
} train_stage_row;

/* By train_stage; the names end with NULL. */
extern const train_stage_row train_stage_of[TRAIN_STAGES];
extern const char *const train_stage_names[TRAIN_STAGES + 1];

/* Whether the stage reads a view at all. */
static inline int train_uses(train_stage stage, train_view v)
{
    return train_stage_of[stage].originals >> v & 1;
}

/* Whether a stage reads the row of view v for variant k. */
int train_reads(train_stage stage, train_view v, int k);

/* A variant: item i of the batch, k = 0 for the original, and which views have a row of it. In the
 * form view `whole` and `part` are hashes of the forms of parent and subtree: one form fits many
 * tables, so rows of equal forms are no negatives of each other. Rows of the exact view and of the
 * form view never meet. The forms and tables of a list are variants of one item, next to each
 * other, without rows of the other views. All ints: ranks send them as such. */
typedef struct train_variant {
    int item, k, views; /* bit v of views is for train_view v */
    int form;           /* whether it is in the form view */
    int whole, part;
    int digits; /* of a list's form after its fit, in thousandths */
} train_variant;

typedef struct train_how {
    train_stage stage;
    int cosine;                       /* normalise rows; else inner products */
    double tau_global, tau_local;     /* temperatures, without cosine */
    double scale_global, scale_local; /* with cosine: factors on the similarities, learned */
    double scale_exact;               /* most that these are in the exact view; 0: as in forms */
    double lambda;                    /* weight of the local terms */
    double centre;                    /* weight of the gap's square */
    double refits;                    /* weight of the order of refitted forms */
    int threads;                      /* 0: 1; the result is the same for any number */
} train_how;

/* Each term with its two directions: symbols to values and back. Unused ones are 0. */
typedef struct train_terms {
    double total;
    double global, global_sv, global_vs;
    double context, context_sv, context_vs;
    double standalone, standalone_sv, standalone_vs;
    double refits;                      /* of the lists */
    double gap;                         /* distance between the centroids of the rows gs and gv */
    double dscale_global, dscale_local; /* gradients of the loss for the scales */
} train_terms;

/* The rows of a batch. With several ranks each sees all rows and works out the gradients of its own
 * variants; those for the scales are then of the own symbols, to be added up. */
typedef struct train_rows {
    const train_variant *variant; /* an item's original comes before its edits */
    size_t variants;
    size_t own_first, own_end; /* variants whose gradients are asked for */
    size_t latent;
    /* By train_view: matrices (variants, latent). A variant with symbols in a view has values there
     * too. */
    float *const *row, *const *grad;
} train_rows;

/* Computes the terms and adds the gradients to r->grad. Returns 0 when memory is out. `tmp` is left
 * as found. */
int train_objective(train_terms *out, const train_rows *r, const train_how *how, arena *tmp);

#endif
