/* config.c - settings of a training run by name; see trainer.h. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "train/trainer.h"

static const char *const optimizers[] = { "adam", "muon", NULL };
static const char *const products[] = { "float32", "bf16", "auto", NULL };
static const char *const schedules[] = { "isqrt", "linear", "constant", NULL };

/* Every key came later: files that lack one had the paper's value. */
#define AT(key, field, kind, low, high, choices)                                                   \
    {                                                                                              \
        key, SETTINGS_##kind, offsetof(train_config, field), low, high, choices, NULL, 1           \
    }
#define NUMBER(name, kind, low, high) AT(#name, name, kind, low, high, NULL)
#define PICK(name, choices)           AT(#name, name, CHOICE, 0, 0, choices)
/* The keys of a phase; `prefix` is empty for the main one. */
#define PHASE(prefix, points_key, i)                                                               \
    AT(prefix "stage", phase[i].stage, CHOICE, 0, 0, train_stage_names),                           \
        AT(points_key, phase[i].points, SIZE, 0, DATA_POINTS, NULL),                               \
        AT(prefix "subtrees", phase[i].subtrees, SIZE, 1, 16, NULL),                               \
        AT(prefix "edits", phase[i].edits, INT, 0, DATA_ATTEMPTS, NULL),                           \
        AT(prefix "zoom", phase[i].zoom, REAL, 0, 1, NULL)

static const settings_key keys[] = {
    PHASE("", "train_points", TRAIN_MAIN),
    NUMBER(steps, WHOLE, 1, 1e12),
    NUMBER(seed, WHOLE, 0, 9e15),
    NUMBER(batch, SIZE, 2, 1e6),
    NUMBER(last, WHOLE, 0, 1e12),
    NUMBER(last_batch, SIZE, 0, 1e6),
    NUMBER(last_lr, REAL, 0, 10),
    NUMBER(rows, SIZE, 0, DATA_POINTS),
    NUMBER(noise, REAL, 0, 10),
    NUMBER(laws, REAL, 0, 1),
    NUMBER(quantities, REAL, 0, 1),
    NUMBER(forms_share, REAL, 0, 1),
    NUMBER(constant_edits, REAL, 0, 1),
    NUMBER(refits, REAL, 0, 1e4),
    NUMBER(formulas, WHOLE, 0, 9.1e15),
    NUMBER(formulas_share, REAL, 0, 1),
    NUMBER(first, WHOLE, 0, 1e12),
    PHASE("first_", "first_points", TRAIN_FIRST),
    PICK(schedule, schedules),
    NUMBER(lr, REAL, 1e-12, 10),
    NUMBER(lr_start, REAL, 0, 10),
    NUMBER(warmup, WHOLE, 1, 1e12),
    NUMBER(decay, WHOLE, 0, 1e12),
    NUMBER(clip, REAL, 0, 1e9),
    NUMBER(beta1, REAL, 0, 0.999999),
    NUMBER(beta2, REAL, 0, 0.999999),
    NUMBER(eps, REAL, 0, 1),
    PICK(optimizer, optimizers),
    NUMBER(muon_lr, REAL, 1e-12, 10),
    PICK(products, products),
    NUMBER(average, REAL, 0, 0.99999),
    NUMBER(tau_global, REAL, 1e-4, 1e4),
    NUMBER(tau_local, REAL, 1e-4, 1e4),
    NUMBER(scale_most, REAL, 1, 1e4),
    NUMBER(scale_exact, REAL, 0, 1e4),
    NUMBER(lambda, REAL, 0, 1e4),
    NUMBER(centre, REAL, 0, 1e4),
};
const settings train_settings = { keys, sizeof keys / sizeof *keys };

snip_code train_config_preset(train_config *out, const char *name, snip_status *st)
{
    const train_phase usual = {
        .stage = TRAIN_S5, .points = 200, .subtrees = 1, .edits = DATA_ATTEMPTS
    };
    const train_config paper = { .phase = { usual, usual },
                                 .steps = 100000,
                                 .batch = 64,
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
                                 .scale_most = 100,
                                 .lambda = 1 };
    model_config known;
    snip_code code = model_config_preset(&known, name, st);
    if (code != SNIP_OK)
        return code;
    *out = paper;
    out->phase[TRAIN_FIRST].stage = TRAIN_S1;
    if (strcmp(name, "paper") != 0) { /* what suits small models (docs/design.md, presets) */
        out->steps = 10000;
        out->batch = 48;
        for (int i = 0; i < TRAIN_PHASES; i++)
            out->phase[i].points = 32;
        out->schedule = TRAIN_LINEAR;
        out->lr = known.d <= 64 ? 2e-3 : known.d <= 128 ? 1.4e-3 : 1e-3;
        out->lr_start = 0;
        out->warmup = 150;
        out->clip = 1;
    }
    return SNIP_OK;
}

snip_code train_config_set(train_config *c, const char *key, const char *value, snip_status *st)
{
    return settings_set(&train_settings, c, key, value, st);
}

snip_code train_config_check(const train_config *c, const model_config *m, snip_status *st)
{
    if (c->schedule == TRAIN_LINEAR && c->steps <= c->warmup)
        return status_fail(st, SNIP_FORMAT, 0, "steps = %llu leave nothing after warmup = %llu",
                           (unsigned long long)c->steps, (unsigned long long)c->warmup);
    for (int i = c->first > 0 ? TRAIN_FIRST : TRAIN_MAIN; i < TRAIN_PHASES; i++) {
        const train_phase *p = &c->phase[i];
        if (p->points > (size_t)m->points)
            return status_fail(st, SNIP_FORMAT, 0, "%s = %zu exceed the model's points = %d",
                               i == TRAIN_FIRST ? "first_points" : "train_points", p->points,
                               m->points);
        if (!m->statistics && p->points == 0)
            return status_fail(st, SNIP_FORMAT, 0,
                               "with points = 0 the model needs statistics = yes");
    }
    if (c->formulas_share > 0 && !c->own)
        return status_fail(st, SNIP_FORMAT, 0,
                           "formulas_share is for runs with formulas of one's own");
    if ((c->forms_share > 0) != (m->forms != 0))
        return status_fail(st, SNIP_FORMAT, 0,
                           "a model with forms = yes needs forms_share above 0, and the contrary");
    if (c->quantities > 0 && !(c->laws > 0))
        return status_fail(st, SNIP_FORMAT, 0, "quantities is a share of the laws: set laws, too");
    if (c->refits > 0 && !(c->forms_share > 0 && c->laws > 0 && m->similarity == MODEL_COSINE))
        return status_fail(st, SNIP_FORMAT, 0,
                           "refits needs forms_share and laws above 0, and similarity = cosine");
    if (c->scale_exact > 0 && m->similarity != MODEL_COSINE)
        return status_fail(st, SNIP_FORMAT, 0, "scale_exact needs similarity = cosine");
    if ((c->last > 0) != (c->last_batch > 0 || c->last_lr > 0))
        return status_fail(st, SNIP_FORMAT, 0,
                           "last is the step from which on last_batch or last_lr are in force: "
                           "set it with one of them");
    if (c->last_batch == 1)
        return status_fail(st, SNIP_FORMAT, 0, "last_batch is 0 or at least 2, not 1");
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
    return settings_json(&train_settings, c);
}

snip_code train_choose_products(nn_products *out, int asked, nn_products has, snip_status *st)
{
    *out = asked == TRAIN_FLOAT32 ? NN_FLOAT32 : has;
    if (asked == TRAIN_BF16 && has == NN_FLOAT32)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "products = bf16 needs a processor with AMX or AVX-512 BF16, and this "
                           "one has none that we may use: products = auto takes what there is");
    return SNIP_OK;
}

void train_shorten_warmup(train_config *c)
{
    if (c->steps <= c->warmup)
        c->warmup = c->steps > 1 ? c->steps / 2 : 1;
}

static int is_last(const train_config *c, uint64_t made)
{
    return c->last && made >= c->last;
}

double train_rate(const train_config *c, uint64_t t)
{
    double n = (double)(t - 1), warmup = (double)c->warmup;
    double peak = is_last(c, t - 1) && c->last_lr > 0 ? c->last_lr : c->lr;
    if (n <= warmup)
        return c->lr_start + n * (peak - c->lr_start) / warmup;
    switch (c->schedule) {
    case TRAIN_ISQRT:
        return peak * sqrt(warmup / n);
    case TRAIN_LINEAR:
        return peak * fmax(0, 1 - (n - warmup) / ((double)c->steps - warmup));
    default:
        if (!c->decay || n < (double)c->decay)
            return peak;
        return peak * fmax(0, 1 - (n - (double)c->decay) / (double)(c->steps - c->decay));
    }
}

size_t train_batch_size(const train_config *c, uint64_t made)
{
    return is_last(c, made) && c->last_batch ? c->last_batch : c->batch;
}

uint64_t train_samples(const train_config *c, uint64_t made)
{
    uint64_t late = is_last(c, made) ? made - c->last : 0;
    return (made - late) * c->batch + late * train_batch_size(c, made);
}
