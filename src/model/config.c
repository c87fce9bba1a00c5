/* config.c - see config.h. One table of keys; everything else walks over it. */
#include "model/config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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

/* A key: a whole number within [low, high], or one of `choices`. */
static const struct key {
    const char *name;
    size_t offset;
    int low, high;
    const char *const *choices;
    const char *help;
} keys[] = {
#define NUMBER(name, low, high, help)                                                              \
    {                                                                                              \
#name, offsetof(model_config, name), low, high, NULL, help                                 \
    }
#define CHOICE(name, choices, help)                                                                \
    {                                                                                              \
#name, offsetof(model_config, name), 0, 0, choices, help                                   \
    }
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
    CHOICE(values, values, "how a number is read: as SNIP's tokens, or by its features"),
    CHOICE(statistics, no_yes, "statistics of the table as tokens"),
    NUMBER(atoms, 0, MODEL_ATOMS_MAX, "statistics: most terms of the sparse fit"),
    NUMBER(hidden, 1, 8192, "features, statistics: width of the embedder's hidden layer"),
    CHOICE(constants, constants, "a formula's constant: SNIP's three tokens, or one of its value"),
    CHOICE(forms, no_yes, "a second view: forms, whose constants are free"),
};
/* Keys from NEWER on came later: files without them have the paper's values. */
enum { KEYS = sizeof keys / sizeof *keys, NEWER = 15 };

static const struct {
    const char *name;
    model_config config;
} presets[] = {
    { "paper",
      { .dims = 10,
        .points = 200,
        .d = 512,
        .layers = 8,
        .heads = 16,
        .ff = 2048,
        .latent = 512,
        .embed = 64,
        .channels = 4,
        .levels = 64,
        .positions = 4096,
        .point_positions = 1,
        .similarity = MODEL_DOT,
        .pooling = MODEL_POOL_PADS,
        .norm = MODEL_POST_NORM,
        .atoms = 12,
        .hidden = 128 } },
    { "base",
      { .dims = 10,
        .points = 200,
        .d = 256,
        .layers = 4,
        .heads = 8,
        .ff = 1024,
        .latent = 256,
        .embed = 32,
        .channels = 4,
        .levels = 32,
        .positions = 200,
        .point_positions = 0,
        .similarity = MODEL_COSINE,
        .pooling = MODEL_POOL_MASKED,
        .norm = MODEL_PRE_NORM,
        .atoms = 12,
        .hidden = 128 } },
    { "small",
      { .dims = 10,
        .points = 200,
        .d = 128,
        .layers = 4,
        .heads = 4,
        .ff = 512,
        .latent = 128,
        .embed = 16,
        .channels = 4,
        .levels = 16,
        .positions = 200,
        .point_positions = 0,
        .similarity = MODEL_COSINE,
        .pooling = MODEL_POOL_MASKED,
        .norm = MODEL_PRE_NORM,
        .atoms = 12,
        .hidden = 128 } },
    { "tiny",
      { .dims = 10,
        .points = 200,
        .d = 64,
        .layers = 2,
        .heads = 2,
        .ff = 256,
        .latent = 64,
        .embed = 8,
        .channels = 2,
        .levels = 16,
        .positions = 200,
        .point_positions = 0,
        .similarity = MODEL_COSINE,
        .pooling = MODEL_POOL_MASKED,
        .norm = MODEL_PRE_NORM,
        .atoms = 12,
        .hidden = 128 } },
};

snip_code model_config_preset(model_config *out, const char *name, snip_status *st)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(presets[i].name, name) == 0) {
            *out = presets[i].config;
            return SNIP_OK;
        }
    return status_fail(st, SNIP_FORMAT, 0, "there is no preset '%.40s' (paper, base, small, tiny)",
                       name);
}

static int *field(const model_config *c, const struct key *k)
{
    return (int *)((char *)c + k->offset);
}

static snip_code set(model_config *c, const struct key *k, const char *value, snip_status *st)
{
    if (k->choices) {
        char list[64] = "";
        for (int i = 0; k->choices[i]; i++) {
            if (strcmp(k->choices[i], value) == 0) {
                *field(c, k) = i;
                return SNIP_OK;
            }
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? " or " : "",
                     k->choices[i]);
        }
        return status_fail(st, SNIP_FORMAT, 0, "%s is %s, not '%.40s'", k->name, list, value);
    }
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (end == value || *end || errno || n < k->low || n > k->high)
        return status_fail(st, SNIP_FORMAT, 0, "%s is a whole number from %d to %d, not '%.40s'",
                           k->name, k->low, k->high, value);
    *field(c, k) = (int)n;
    return SNIP_OK;
}

snip_code model_config_set(model_config *c, const char *key, const char *value, snip_status *st)
{
    for (int i = 0; i < KEYS; i++)
        if (strcmp(keys[i].name, key) == 0)
            return set(c, &keys[i], value, st);
    return status_fail(st, SNIP_FORMAT, 0, "there is no configuration key '%.40s'", key);
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
    if (c->statistics && c->point_positions)
        return status_fail(st, SNIP_FORMAT, 0,
                           "statistics = yes goes with point_positions = no: points then follow "
                           "tokens that have no position");
    return SNIP_OK;
}

static void value_text(const model_config *c, const struct key *k, char *buf, size_t room)
{
    if (k->choices)
        snprintf(buf, room, "%s", k->choices[*field(c, k)]);
    else
        snprintf(buf, room, "%d", *field(c, k));
}

json_t *model_config_json(const model_config *c)
{
    json_t *o = json_object();
    for (int i = 0; i < KEYS; i++)
        json_object_set_new(o, keys[i].name,
                            keys[i].choices ? json_string(keys[i].choices[*field(c, &keys[i])])
                                            : json_integer(*field(c, &keys[i])));
    return o;
}

snip_code model_config_read(model_config *c, const json_t *o, snip_status *st)
{
    size_t known = 0;
    model_config_preset(c, "paper", NULL);
    for (int i = 0; i < KEYS; i++) {
        const json_t *v = json_object_get(o, keys[i].name);
        char text[32];
        if (!v && i >= NEWER)
            continue;
        known++;
        if (json_is_integer(v))
            snprintf(text, sizeof text, "%lld", (long long)json_integer_value(v));
        else if (!json_is_string(v))
            return status_fail(st, SNIP_FORMAT, 0, "the configuration has no usable '%s'",
                               keys[i].name);
        snip_code code = set(c, &keys[i], json_is_string(v) ? json_string_value(v) : text, st);
        if (code != SNIP_OK)
            return code;
    }
    if (json_object_size(o) != known)
        return status_fail(st, SNIP_FORMAT, 0, "the configuration has a key not known here");
    return model_config_check(c, st);
}

void model_config_list(const model_config *c,
                       void (*each)(void *context, const char *key, const char *value,
                                    const char *help),
                       void *context)
{
    for (int i = 0; i < KEYS; i++) {
        char text[32];
        value_text(c, &keys[i], text, sizeof text);
        each(context, keys[i].name, text, keys[i].help);
    }
}
