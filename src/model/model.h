/* model.h - the parameters of the two encoders, their names, and their place in one array.
 *
 * All parameters are one array of floats, so that gradients, Adam's moments, clipping and reduction
 * between ranks are loops over arrays of the same layout. Names are those of SNIP's own
 * implementation with the module in front. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdint.h>

#include "data/vocab.h"
#include "model/config.h"
#include "nn/nn.h"

/* How a tensor starts. */
typedef enum model_init {
    MODEL_ZERO,
    MODEL_ONE,
    MODEL_NORMAL,
    MODEL_UNIFORM,
    MODEL_DIAGONAL,
    MODEL_VALUE
} model_init;

typedef struct model_tensor {
    char name[64];
    size_t offset, rows, cols; /* cols is 0 for a vector */
    model_init init;
    float scale;   /* standard deviation, bound, or value (on the diagonal) */
    long zero_row; /* row that starts as zero, or -1 */
    int in_layer;  /* a matrix of an encoder's layer: what optimizer = muon is for */
} model_tensor;

/* Where the parameters of one layer start. Queries, keys and values are one (3d,d) matrix. */
typedef struct model_layer {
    size_t qkv_w, qkv_b, out_w, out_b, norm1_g, norm1_b;
    size_t ff1_w, ff1_b, ff2_w, ff2_b, norm2_g, norm2_b;
} model_layer;

/* Tokens of a table's summary, each kind with an embedder of its own. */
typedef enum model_summary_kind {
    MODEL_KIND_Y,
    MODEL_KIND_INPUT,
    MODEL_KIND_ATOM,
    MODEL_SUMMARY_KINDS
} model_summary_kind;

/* Two layers with relu between them. */
typedef struct model_perceptron {
    size_t in; /* numbers it reads */
    size_t hidden_w, hidden_b, out_w, out_b;
} model_perceptron;

typedef struct model_encoder {
    size_t table;    /* token embeddings, of the symbolic encoder */
    size_t constant; /* (d, MODEL_CONSTANT_FEATURES): added for a constant's value */
    size_t slope;    /* (d, MODEL_SLOPE_FEATURES): added for what is known of its part */
    size_t profile;  /* (d, MODEL_PROFILE_FEATURES): the same, with surface = yes */
    size_t position;
    size_t norm_g, norm_b; /* of the embedding */
    model_layer *layer;
    size_t last_g, last_b; /* of the output, with pre-norm */
    size_t pool_w, pool_b;
    size_t bottleneck_w, bottleneck_b;
    size_t shortcut; /* (latent, profiles), with surface = yes: past the layers */
    size_t gate_w, gate_b;
} model_encoder;

typedef struct model {
    model_config config;
    const data_vocab *vocab;
    size_t size; /* parameters */
    float *w;
    model_tensor *tensor;
    size_t tensors;
    /* The embedder of points: their float tokens' table (values = tokens), then two layers. */
    size_t point_table, point_hidden_w, point_hidden_b, point_out_w, point_out_b;
    model_perceptron summary[MODEL_SUMMARY_KINDS]; /* the embedders of statistics */
    size_t surface[MODEL_SUMMARY_KINDS]; /* (d, features): added to y's token and to the inputs' */
    model_encoder numeric, symbolic;
    size_t theta; /* decays of the tree positions */
    size_t scale_global,
        scale_local;      /* logarithms of the learned temperatures' inverses (cosine) */
    nn_products products; /* of the layers; training may choose others than float32 */
} model;

/* A model of this configuration in `a`, its parameters not yet set. Fails where the configuration
 * does not fit together or memory is out. */
snip_code model_new(model **out, const model_config *config, arena *a, snip_status *st);

/* Sets all parameters as SNIP does, from the seed. */
void model_start(model *m, uint64_t seed);

/* The point embedder's sizes: numbers per value, per point, and of its hidden layer. */
typedef struct model_point_shape {
    size_t value, in, hidden;
} model_point_shape;
model_point_shape model_point_shape_of(const model_config *c);

/* Numbers in a tensor. */
size_t model_tensor_size(const model_tensor *t);

#endif
