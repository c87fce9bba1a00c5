/* config.h - everything about a model that is a number or a choice, by name.
 *
 * A preset is a named set of values; `paper` is exactly the paper's model. Keys are set one by one
 * from text (`--set d=96`) and stored in model files under the same names. */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include <jansson.h>

#include "base/settings.h"
#include "base/status.h"

typedef enum model_similarity { MODEL_DOT, MODEL_COSINE } model_similarity;
typedef enum model_pooling { MODEL_POOL_PADS, MODEL_POOL_MASKED } model_pooling;
typedef enum model_norm { MODEL_POST_NORM, MODEL_PRE_NORM } model_norm;
typedef enum model_values { MODEL_TOKENS, MODEL_FEATURES } model_values;
typedef enum model_constants { MODEL_CONSTANT_TOKENS, MODEL_CONSTANT_VALUE } model_constants;

typedef struct model_config {
    int dims;   /* largest input dimension */
    int points; /* points of a table; 0: none */
    int d;      /* width of both encoders */
    int layers; /* of each encoder */
    int heads;
    int ff;       /* width of the feed-forward layers */
    int latent;   /* width of the shared space */
    int embed;    /* width of a float token's embedding */
    int channels; /* of the tree positions; 2 * channels * levels = d */
    int levels;
    int positions;       /* rows of the tables of sequential positions */
    int point_positions; /* whether points have sequential positions too */
    int similarity;      /* model_similarity */
    int pooling;         /* model_pooling: SNIP's pads share the softmax, or not */
    int norm;            /* model_norm */
    int values;          /* model_values: how the embedder reads a number */
    int statistics;      /* whether the encoder reads statistics of the table (model/summary.h) */
    int atoms;           /* most terms of the sparse fit among them */
    int hidden;          /* width of the embedder's hidden layer, for features and statistics */
    int constants;       /* model_constants: how a formula's constants are read */
    int slopes;          /* whether tokens tell how the formula moves with them (model/slopes.h) */
    int surface;         /* whether tables tell the same of a surface (model/surface.h) */
    int forms;           /* whether it was trained to read forms as well (expr_canonical) */
} model_config;

/* Its keys: what `--set` and model files know it by. */
extern const settings model_settings;

/* The names of the presets; NULL ends them. */
extern const char *const model_presets[];

/* The preset of that name. */
snip_code model_config_preset(model_config *out, const char *name, snip_status *st);

/* Sets one key from text. */
snip_code model_config_set(model_config *c, const char *key, const char *value, snip_status *st);

/* Whether the values fit together; st names what does not. */
snip_code model_config_check(const model_config *c, snip_status *st);

/* The configuration as a JSON object of all keys, and back; unknown keys and missing ones fail,
 * except those that came later: files without them have the paper's values. */
json_t *model_config_json(const model_config *c);
snip_code model_config_read(model_config *c, const json_t *o, snip_status *st);

/* The same as a part of what tells models apart. Libraries and promises name the hash of their
 * model, so a key that came after these leaves no trace where it is off. */
json_t *model_config_identity(const model_config *c);

#endif
