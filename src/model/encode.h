/* encode.h - chunks of formulas and tables through the encoders, forward and backward.
 *
 *     model_pass *p = model_formulas_forward(m, &chunk, z, keep);    // z(rows, latent)
 *     ... the objective turns z into dz ...
 *     model_formulas_backward(m, &chunk, p, dz, grad, tmp);          // grad is laid out as m->w
 *
 * A pass holds what the backward half needs and lives in the arena it was given. To save memory a
 * chunk is simply run forward again later: results are the same bit for bit. */
#ifndef MODEL_ENCODE_H
#define MODEL_ENCODE_H

#include "data/tokens.h"
#include "model/model.h"
#include "model/summary.h"
#include "nn/nn.h"

/* Formulas, one after the other, and the parts of them to be embedded. */
typedef struct model_formulas {
    size_t count;          /* sequences */
    const size_t *offsets; /* count + 1 */
    const uint16_t *token; /* equation ids */
    const double
        *value; /* per token: of a constant that is shown, else NaN; NULL: there are none */
    const nn_path *path;  /* per token; NULL: no tree positions (S0) */
    const float *slope;   /* MODEL_SLOPE_FEATURES per token; NULL if the model does not read them */
    const float *profile; /* the same, MODEL_PROFILE_FEATURES; of a formula's <EOS>, its root's */
    size_t rows;          /* parts to embed; each gives a row */
    const nn_span *span;
} model_formulas;

/* Tables that share their inputs: one X, several y. What the model reads of them depends on its
 * configuration: points as tokens or as features, a summary, or both. */
typedef struct model_table_group {
    size_t points;
    int dim;                      /* inputs present */
    int form;                     /* the form view: y is standardised, its unit is not seen */
    size_t count;                 /* tables */
    const uint16_t *x, *y;        /* tokens: float ids [points][3 * dim], [count][points][3] */
    const float *x_value;         /* features: [points][dim][MODEL_VALUE_FEATURES] */
    const float *y_value;         /* [count][points][MODEL_VALUE_FEATURES] */
    const model_summary *summary; /* [count], or NULL */
} model_table_group;

/* Fills what model m reads of tables that share X: g->points, dim and count are set; x has dim
 * columns, y g->count columns, all of at least `rows` values. The summary is of `rows` rows, the
 * points are the first. SNIP_UNSUPPORTED if a value has no token. */
snip_code model_group_fill(model_table_group *g, const model *m, const double *const *x,
                           size_t rows, const double *const *y, arena *a);

/* Tokens that table v of the group gives. */
size_t model_table_tokens(const model_table_group *g, size_t v);

typedef struct model_tables {
    size_t groups;
    const model_table_group *group;
} model_tables;

typedef struct model_pass model_pass;

/* Each returns NULL when memory is out. z has a row per span, or per table. */
model_pass *model_formulas_forward(const model *m, const model_formulas *f, float *z, arena *a);
model_pass *model_tables_forward(const model *m, const model_tables *t, float *z, arena *a);

/* The same without a way back: layers share their memory, which stays near the core. Returns 0 when
 * memory is out; `tmp` is left as found. */
int model_formulas_embed(const model *m, const model_formulas *f, float *z, arena *tmp);
int model_tables_embed(const model *m, const model_tables *t, float *z, arena *tmp);

/* Adds to grad, which has m->size numbers. Returns 0 when memory is out. `tmp` is left as found. */
int model_formulas_backward(const model *m, const model_formulas *f, const model_pass *p,
                            const float *dz, float *grad, arena *tmp);
int model_tables_backward(const model *m, const model_tables *t, const model_pass *p,
                          const float *dz, float *grad, arena *tmp);

/* What the encoder made of its input after `layer` layers (0: after the embedding's norm), a row
 * per token. For tests: with post-norm these are SNIP's hidden states. */
const float *model_pass_hidden(const model_pass *p, int layer);

/* How long it took to turn the input into rows, before the layers. */
double model_pass_embed_seconds(const model_pass *p);

/* The pooling weights, one number per token of each span in order. For tests. */
const float *model_pass_weights(const model_pass *p);

/* Bytes that a pass over n tokens takes at most. */
size_t model_pass_bytes(const model *m, size_t tokens, int numeric);

/* The path of every token of a formula for tree positions; <EOS> has none. */
void model_paths(nn_path *out, const data_tokens *t);

#endif
