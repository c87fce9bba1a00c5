/* step.h - loss and gradient of a batch, in bounded memory, on all cores.
 *
 * The batch is cut into chunks that each go through an encoder on one core. Contrastive gradients
 * need all rows at once but activations do not: where those of all chunks fit the memory, they are
 * kept; otherwise each chunk is embedded, forgotten, and run forward again before its backward
 * half. Both give the same gradient bit for bit. */
#ifndef TRAIN_STEP_H
#define TRAIN_STEP_H

#include "base/ranks.h"
#include "train/batch.h"

typedef struct train_step train_step; /* workspace, reused from step to step */

/* Seconds by part. */
typedef struct train_times {
    double draw, embed, encode, objective, backward, update;
    double flops; /* of the matrix products that the step needs (recomputation not counted) */
    size_t tokens;
    int kept; /* whether activations were kept */
} train_times;

/* `memory` bounds the bytes of kept activations. With several ranks each has its own samples;
 * negatives are global and the gradient is that of all of them. NULL when memory is out. */
train_step *train_step_new(const model *m, int threads, size_t memory, ranks *r);
void train_step_free(train_step *s);

/* Loss terms of the batch and the gradient of all parameters, in grad[0..m->size). Deterministic
 * for a number of threads. */
snip_code train_step_gradient(train_step *s, const model *m, const train_batch *b,
                              const train_how *how, float *grad, train_terms *terms,
                              train_times *times, snip_status *st);

/* Only embeds: row[v] are matrices (variants, latent), good until the next call. */
snip_code train_step_embed(train_step *s, const model *m, const train_batch *b,
                           float *row[TRAIN_VIEWS], snip_status *st);

#endif
