/* config.c - settings of a training run by name; see trainer.h. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/trainer.h"

static const char *const stages[] = { "S0", "S1", "S2", "S3", "S4", "S5", NULL };
static const char *const optimizers[] = { "adam", "muon", NULL };
static const char *const schedules[] = { "isqrt", "linear", "constant", NULL };

typedef enum kind { CHOICE, COUNT, WHOLE, SIZE, REAL } kind;

static const struct key {
    const char *name;
    kind kind;
    size_t offset;
    double low, high;
    const char *const *choices;
} keys[] = {
#define KEY(name, kind, low, high, choices)                                                        \
    {                                                                                              \
#name, kind, offsetof(train_config, name), low, high, choices                              \
    }
    KEY(stage, CHOICE, 0, 0, stages),
    KEY(steps, WHOLE, 1, 1e12, NULL),
    KEY(seed, WHOLE, 0, 9e15, NULL),
    KEY(batch, SIZE, 2, 1e6, NULL),
    KEY(train_points, SIZE, 0, DATA_POINTS, NULL),
    KEY(subtrees, SIZE, 1, 16, NULL),
    KEY(edits, COUNT, 0, DATA_ATTEMPTS, NULL),
    KEY(rows, SIZE, 0, DATA_POINTS, NULL),
    KEY(noise, REAL, 0, 10, NULL),
    KEY(zoom, REAL, 0, 1, NULL),
    KEY(laws, REAL, 0, 1, NULL),
    KEY(forms_share, REAL, 0, 1, NULL),
    KEY(formulas, WHOLE, 0, 9.1e15, NULL),
    KEY(formulas_share, REAL, 0, 1, NULL),
    KEY(first, WHOLE, 0, 1e12, NULL),
    KEY(first_stage, CHOICE, 0, 0, stages),
    KEY(first_subtrees, SIZE, 1, 16, NULL),
    KEY(first_edits, COUNT, 0, DATA_ATTEMPTS, NULL),
    KEY(first_points, SIZE, 0, DATA_POINTS, NULL),
    KEY(first_zoom, REAL, 0, 1, NULL),
    KEY(schedule, CHOICE, 0, 0, schedules),
    KEY(lr, REAL, 1e-12, 10, NULL),
    KEY(lr_start, REAL, 0, 10, NULL),
    KEY(warmup, WHOLE, 1, 1e12, NULL),
    KEY(decay, WHOLE, 0, 1e12, NULL),
    KEY(clip, REAL, 0, 1e9, NULL),
    KEY(beta1, REAL, 0, 0.999999, NULL),
    KEY(beta2, REAL, 0, 0.999999, NULL),
    KEY(eps, REAL, 0, 1, NULL),
    KEY(optimizer, CHOICE, 0, 0, optimizers),
    KEY(muon_lr, REAL, 1e-12, 10, NULL),
    KEY(average, REAL, 0, 0.99999, NULL),
    KEY(tau_global, REAL, 1e-4, 1e4, NULL),
    KEY(tau_local, REAL, 1e-4, 1e4, NULL),
    KEY(lambda, REAL, 0, 1e4, NULL),
    KEY(centre, REAL, 0, 1e4, NULL),
};
enum { KEYS = sizeof keys / sizeof *keys };

snip_code train_config_preset(train_config *out, const char *name, snip_status *st)
{
    const train_config paper = { .stage = TRAIN_S5,
                                 .steps = 100000,
                                 .batch = 64,
                                 .train_points = 200,
                                 .subtrees = 1,
                                 .edits = DATA_ATTEMPTS,
                                 .first_stage = TRAIN_S1,
                                 .first_subtrees = 1,
                                 .first_edits = DATA_ATTEMPTS,
                                 .first_points = 200,
                                 .schedule = TRAIN_ISQRT,
                                 .lr = 4e-5,
                                 .lr_start = 1e-7,
                                 .warmup = 10000,
                                 .clip = 0.5,
                                 .beta1 = 0.9,
                                 .beta2 = 0.999,
                                 .eps = 1e-8,
                                 .optimizer = TRAIN_ADAM,
                                 .muon_lr = 4.5e-3,
                                 .tau_global = 1,
                                 .tau_local = 0.1,
                                 .lambda = 1 };
    model_config known;
    snip_code code = model_config_preset(&known, name, st);
    if (code != SNIP_OK)
        return code;
    *out = paper;
    if (strcmp(name, "paper") != 0) { /* what suits small models (docs/design.md, presets) */
        out->steps = 10000;
        out->batch = 48;
        out->train_points = out->first_points = 32;
        out->schedule = TRAIN_LINEAR;
        out->lr = known.d <= 64 ? 2e-3 : known.d <= 128 ? 1.4e-3 : 1e-3;
        out->lr_start = 0;
        out->warmup = 150;
        out->clip = 1;
    }
    return SNIP_OK;
}

static void *field(const train_config *c, const struct key *k)
{
    return (char *)c + k->offset;
}

static double number(const train_config *c, const struct key *k)
{
    switch (k->kind) {
    case WHOLE:
        return (double)*(uint64_t *)field(c, k);
    case SIZE:
        return (double)*(size_t *)field(c, k);
    case REAL:
        return *(double *)field(c, k);
    default:
        return *(int *)field(c, k);
    }
}

static snip_code set(train_config *c, const struct key *k, const char *value, snip_status *st)
{
    if (k->kind == CHOICE) {
        for (int i = 0; k->choices[i]; i++)
            if (strcmp(k->choices[i], value) == 0) {
                *(int *)field(c, k) = i;
                return SNIP_OK;
            }
        return status_fail(st, SNIP_FORMAT, 0, "there is no %s '%.40s'", k->name, value);
    }
    char *end;
    double v = strtod(value, &end);
    int whole = k->kind != REAL;
    if (end == value || *end || !(v >= k->low && v <= k->high) || (whole && v != floor(v)))
        return status_fail(st, SNIP_FORMAT, 0, "%s is a%s number from %g to %g, not '%.40s'",
                           k->name, whole ? " whole" : "", k->low, k->high, value);
    if (k->kind == WHOLE)
        *(uint64_t *)field(c, k) = (uint64_t)v;
    else if (k->kind == SIZE)
        *(size_t *)field(c, k) = (size_t)v;
    else if (k->kind == COUNT)
        *(int *)field(c, k) = (int)v;
    else
        *(double *)field(c, k) = v;
    return SNIP_OK;
}

snip_code train_config_set(train_config *c, const char *key, const char *value, snip_status *st)
{
    for (int i = 0; i < KEYS; i++)
        if (strcmp(keys[i].name, key) == 0)
            return set(c, &keys[i], value, st);
    return status_fail(st, SNIP_FORMAT, 0, "there is no configuration key '%.40s'", key);
}

snip_code train_config_check(const train_config *c, const model_config *m, snip_status *st)
{
    if (c->train_points > (size_t)m->points)
        return status_fail(st, SNIP_FORMAT, 0, "train_points = %zu exceed the model's points = %d",
                           c->train_points, m->points);
    if (c->schedule == TRAIN_LINEAR && c->steps <= c->warmup)
        return status_fail(st, SNIP_FORMAT, 0, "steps = %llu leave nothing after warmup = %llu",
                           (unsigned long long)c->steps, (unsigned long long)c->warmup);
    if (!m->statistics && (c->train_points == 0 || (c->first > 0 && c->first_points == 0)))
        return status_fail(st, SNIP_FORMAT, 0, "with points = 0 the model needs statistics = yes");
    if (c->first > 0 && c->first_points > (size_t)m->points)
        return status_fail(st, SNIP_FORMAT, 0, "first_points = %zu exceed the model's points = %d",
                           c->first_points, m->points);
    if (c->formulas_share > 0 && !c->own)
        return status_fail(st, SNIP_FORMAT, 0,
                           "formulas_share is for runs with formulas of one's own");
    if ((c->forms_share > 0) != (m->forms != 0))
        return status_fail(st, SNIP_FORMAT, 0,
                           "a model with forms = yes needs forms_share above 0, and the contrary");
    if (c->rows == 1)
        return status_fail(st, SNIP_FORMAT, 0, "rows is 0 or at least 2, not 1");
    if (c->decay && (c->schedule != TRAIN_CONSTANT || c->decay >= c->steps))
        return status_fail(st, SNIP_FORMAT, 0,
                           "decay goes with schedule = constant and lies before the last step");
    if (c->centre > 0 && !c->decay)
        return status_fail(st, SNIP_FORMAT, 0, "centre acts during the decay: set decay, too");
    return SNIP_OK;
}

json_t *train_config_json(const train_config *c)
{
    json_t *o = json_object();
    for (int i = 0; i < KEYS; i++) {
        const struct key *k = &keys[i];
        double v = number(c, k);
        json_object_set_new(o, k->name,
                            k->kind == CHOICE ? json_string(k->choices[(int)v])
                            : k->kind == REAL ? json_real(v)
                                              : json_integer((json_int_t)v));
    }
    return o;
}

void train_shorten_warmup(train_config *c)
{
    if (c->steps <= c->warmup)
        c->warmup = c->steps > 1 ? c->steps / 2 : 1;
}

double train_rate(const train_config *c, uint64_t t)
{
    double n = (double)(t - 1), warmup = (double)c->warmup;
    if (n <= warmup)
        return c->lr_start + n * (c->lr - c->lr_start) / warmup;
    switch (c->schedule) {
    case TRAIN_ISQRT:
        return c->lr * sqrt(warmup / n);
    case TRAIN_LINEAR:
        return c->lr * fmax(0, 1 - (n - warmup) / ((double)c->steps - warmup));
    default:
        if (!c->decay || n < (double)c->decay)
            return c->lr;
        return c->lr * fmax(0, 1 - (n - (double)c->decay) / (double)(c->steps - c->decay));
    }
}
