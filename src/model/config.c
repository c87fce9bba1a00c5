/* config.c - see config.h. One table of keys; everything else walks over it. */
#include "model/config.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "data/gen.h"
#include "model/summary.h"
#include "nn/nn.h"

static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const similarities[] = { "dot", "cosine", NULL };
static const char *const poolings[] = { "pads", "masked", NULL };
static const char *const norms[] = { "post", "pre", NULL };
static const char *const values[] = { "tokens", "features", NULL };
static const char *const constants[] = { "tokens", "value", NULL };

#define NUMBER(name, low, high, help)                                                              \
    {                                                                                              \
#name, SETTINGS_INT, offsetof(model_config, name), low, high, NULL, help, 0                \
    }
#define CHOICE(name, choices, help)                                                                \
    {                                                                                              \
#name, SETTINGS_CHOICE, offsetof(model_config, name), 0, 0, choices, help, 0               \
    }
/* A key that came later: files without it have the paper's value. */
#define LATER_NUMBER(name, low, high, help)                                                        \
    {                                                                                              \
#name, SETTINGS_INT, offsetof(model_config, name), low, high, NULL, help, 1                \
    }
#define LATER_CHOICE(name, choices, help)                                                          \
    {                                                                                              \
#name, SETTINGS_CHOICE, offsetof(model_config, name), 0, 0, choices, help, 1               \
    }
static const settings_key keys[] = {
    NUMBER(dims, 1, DATA_DIMS_MAX, "largest input dimension"),
    NUMBER(points, 0, 4096, "points of a table; 0: statistics alone"),
    NUMBER(d, 2, 8192, "width of both encoders"),
    NUMBER(layers, 1, 64, "layers of each encoder"),
    NUMBER(heads, 1, 256, "attention heads"),
    NUMBER(ff, 1, 65536, "width of the feed-forward layers"),
    NUMBER(latent, 1, 8192, "width of the shared space"),
    NUMBER(embed, 1, 1024, "width of a float token's embedding"),
    NUMBER(channels, 1, 1024, "channels of the tree positions"),
    NUMBER(levels, 1, NN_LEVELS_MAX, "levels of the tree positions"),
    NUMBER(positions, 200, 65536, "rows of the position tables"),
    CHOICE(point_positions, no_yes, "sequential positions for points"),
    CHOICE(similarity, similarities, "inner product, or cosine with learned temperature"),
    CHOICE(pooling, poolings, "whether padding shares the pooling softmax, as in SNIP"),
    CHOICE(norm, norms, "layer norm after or before each sublayer"),
    LATER_CHOICE(values, values, "how a number is read: as SNIP's tokens, or by its features"),
    LATER_CHOICE(statistics, no_yes, "statistics of the table as tokens"),
    LATER_NUMBER(atoms, 0, MODEL_ATOMS_MAX, "statistics: most terms of the sparse fit"),
    LATER_NUMBER(hidden, 1, 8192, "features, statistics: width of the embedder's hidden layer"),
    LATER_CHOICE(constants, constants,
                 "a formula's constant: SNIP's three tokens, or one of its value"),
    LATER_CHOICE(slopes, no_yes, "slopes and values of all parts of a formula at seven points"),
    LATER_CHOICE(surface, no_yes,
                 "the same of a table, by a surface through its rows; profiles of both"),
    LATER_CHOICE(forms, no_yes, "a second view: forms, whose constants are free"),
};
const settings model_settings = { keys, sizeof keys / sizeof *keys };

/* A preset is one row: its name, and its values by key. */
#define PRESETS(ROW)                                                                               \
    ROW("paper", .dims = 10, .points = 200, .d = 512, .layers = 8, .heads = 16, .ff = 2048,        \
        .latent = 512, .embed = 64, .channels = 4, .levels = 64, .positions = 4096,                \
        .point_positions = 1, .similarity = MODEL_DOT, .pooling = MODEL_POOL_PADS,                 \
        .norm = MODEL_POST_NORM, .atoms = 12, .hidden = 128)                                       \
    ROW("base", .dims = 10, .points = 200, .d = 256, .layers = 4, .heads = 8, .ff = 1024,          \
        .latent = 256, .embed = 32, .channels = 4, .levels = 32, .positions = 200,                 \
        .point_positions = 0, .similarity = MODEL_COSINE, .pooling = MODEL_POOL_MASKED,            \
        .norm = MODEL_PRE_NORM, .atoms = 12, .hidden = 128)                                        \
    ROW("small", .dims = 10, .points = 200, .d = 128, .layers = 4, .heads = 4, .ff = 512,          \
        .latent = 128, .embed = 16, .channels = 4, .levels = 16, .positions = 200,                 \
        .point_positions = 0, .similarity = MODEL_COSINE, .pooling = MODEL_POOL_MASKED,            \
        .norm = MODEL_PRE_NORM, .atoms = 12, .hidden = 128)                                        \
    ROW("tiny", .dims = 10, .points = 200, .d = 64, .layers = 2, .heads = 2, .ff = 256,            \
        .latent = 64, .embed = 8, .channels = 2, .levels = 16, .positions = 200,                   \
        .point_positions = 0, .similarity = MODEL_COSINE, .pooling = MODEL_POOL_MASKED,            \
        .norm = MODEL_PRE_NORM, .atoms = 12, .hidden = 128)

#define NAME(name, ...)   name,
#define CONFIG(name, ...) { __VA_ARGS__ },
const char *const model_presets[] = { PRESETS(NAME) NULL };
static const model_config presets[] = { PRESETS(CONFIG) };

snip_code model_config_preset(model_config *out, const char *name, snip_status *st)
{
    char known[80] = "";
    for (size_t i = 0; model_presets[i]; i++) {
        if (strcmp(model_presets[i], name) == 0) {
            *out = presets[i];
            return SNIP_OK;
        }
        size_t at = strlen(known);
        snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", model_presets[i]);
    }
    return status_fail(st, SNIP_FORMAT, 0, "there is no preset '%.40s' (%s)", name, known);
}

snip_code model_config_set(model_config *c, const char *key, const char *value, snip_status *st)
{
    return settings_set(&model_settings, c, key, value, st);
}

snip_code model_config_check(const model_config *c, snip_status *st)
{
    if (c->d % c->heads)
        return status_fail(st, SNIP_FORMAT, 0, "d = %d is not a multiple of heads = %d", c->d,
                           c->heads);
    if (2 * c->channels * c->levels != c->d)
        return status_fail(st, SNIP_FORMAT, 0, "2 * channels * levels = %d, but d = %d",
                           2 * c->channels * c->levels, c->d);
    if (c->point_positions && c->points > c->positions)
        return status_fail(st, SNIP_FORMAT, 0, "points = %d exceed positions = %d", c->points,
                           c->positions);
    if (c->points == 0 && !c->statistics)
        return status_fail(st, SNIP_FORMAT, 0, "with points = 0 the model needs statistics = yes");
    if (c->points == 1)
        return status_fail(st, SNIP_FORMAT, 0, "points is 0 or at least 2, not 1");
    if (c->forms && c->constants != MODEL_CONSTANT_VALUE)
        return status_fail(st, SNIP_FORMAT, 0, "forms = yes goes with constants = value");
    if (c->surface && !(c->slopes && c->statistics))
        return status_fail(st, SNIP_FORMAT, 0,
                           "surface = yes goes with slopes = yes and statistics = yes");
    if (c->statistics && c->point_positions)
        return status_fail(st, SNIP_FORMAT, 0,
                           "statistics = yes goes with point_positions = no: points then follow "
                           "tokens that have no position");
    return SNIP_OK;
}

json_t *model_config_json(const model_config *c)
{
    return settings_json(&model_settings, c);
}

json_t *model_config_identity(const model_config *c)
{
    json_t *o = model_config_json(c);
    if (!c->surface)
        json_object_del(o, "surface");
    return o;
}

snip_code model_config_read(model_config *c, const json_t *o, snip_status *st)
{
    size_t known;
    model_config_preset(c, "paper", NULL);
    snip_code code = settings_read(&model_settings, c, o, &known, st);
    if (code != SNIP_OK)
        return code;
    if (json_object_size(o) != known)
        return status_fail(st, SNIP_FORMAT, 0, "the configuration has a key not known here");
    return model_config_check(c, st);
}
