/* trainer.c - see trainer.h. */
#include "train/trainer.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "model/file.h"
#include "train/curves.h"
#include "train/update.h"

enum { CHECK_PAIRS = 256 }; /* held-out pairs of the quick check, unless asked otherwise */

/* Metadata that tell where the first weights of a run are from. */
static const char *const origins[] = { "init", "init_samples", "init_seconds" };

typedef struct run {
    train_config own; /* the settings, with what the state file decides */
    const train_config *c;
    const train_watch *watch;
    const char *out;
    model *m;
    arena *a;     /* lives as long as the run */
    arena **draw; /* per thread: the batch */
    train_step *step;
    train_update *update;
    float *grad, *moment1, *moment2;
    float *average; /* of the weights, NULL: the settings have none */
    int given;      /* the first weights were given, not drawn */
    uint64_t t;     /* steps made */
    double seconds; /* of training, earlier sessions included */
    json_t *origin; /* where its first weights are from, as strings for the metadata */
    FILE *log;
    int log_failed; /* its last line was not written */
    int lock;       /* of the folder; -1: none */
} run;

/* PATH/NAME; the caller frees it. */
static char *join(const char *folder, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

__attribute__((format(printf, 2, 3))) static void warn(const run *r, const char *format, ...)
{
    char text[320];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (r->watch->warn)
        r->watch->warn(r->watch->context, text);
}

static const char *products_name(const run *r)
{
    return r->m->products == NN_FLOAT32 ? "float32" : "bf16";
}

static char *dump(json_t *o)
{
    char *text = o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(o);
    return text;
}

/* What a model file tells of its making. NULL when memory is out: without its settings a run could
 * not be resumed. */
static json_t *history(const run *r)
{
    json_t *o = json_object();
    char number[40], *settings = dump(train_config_json(r->c));
    snprintf(number, sizeof number, "%llu", (unsigned long long)r->t);
    json_object_set_new(o, "steps", json_string(number));
    snprintf(number, sizeof number, "%llu", (unsigned long long)train_samples(r->c, r->t));
    json_object_set_new(o, "samples", json_string(number));
    snprintf(number, sizeof number, "%.1f", r->seconds);
    json_object_set_new(o, "seconds", json_string(number));
    json_object_set_new(o, "stage", json_string(train_stage_names[r->c->phase[TRAIN_MAIN].stage]));
    snprintf(number, sizeof number, "%llu", (unsigned long long)r->c->seed);
    json_object_set_new(o, "seed", json_string(number));
    int complete = json_object_set_new(o, "train", json_string(settings)) == 0;
    json_object_set_new(o, "products", json_string(products_name(r)));
    json_object_set_new(o, "version", json_string(SNIP_VERSION));
    json_object_update(o, r->origin);
    free(settings);
    if (complete)
        return o;
    json_decref(o);
    return NULL;
}

/* What a state file and MPI ranks share: the weights and all that goes with them, each laid out as
 * the weights are. */
enum { PARTS = 4 };
typedef struct part {
    float *w;
    const char *suffix; /* of its tensors' names */
} part;

/* Fills `p` and returns how many there are. */
static size_t parts(const run *r, part p[PARTS])
{
    size_t n = 0;
    p[n++] = (part){ r->m->w, "" };
    p[n++] = (part){ r->moment1, ".adam_m" };
    p[n++] = (part){ r->moment2, ".adam_v" };
    if (r->average)
        p[n++] = (part){ r->average, ".average" };
    return n;
}

/* All parts in one file, so that a resumed run has all of one moment. */
static snip_code save_state(const run *r, const char *path, const json_t *metadata, snip_status *st)
{
    arena *a = arena_new(0);
    part p[PARTS];
    size_t n = r->m->tensors, count = parts(r, p);
    safetensors_entry *all = a ? arena_array(a, count * n, sizeof *all) : NULL;
    for (size_t k = 0; k < count && all; k++) {
        safetensors_entry *e = model_entries(r->m, p[k].w, p[k].suffix, a);
        if (!e)
            all = NULL;
        else
            memcpy(all + k * n, e, n * sizeof *e);
    }
    snip_code code = all ? safetensors_write(path, all, count * n, metadata, st) : status_nomem(st);
    arena_free(a);
    return code;
}

/* The model is the average where there is one: from here on m->w is that. Returns the weights, to
 * be put back when the model has been used. */
static float *show_average(run *r)
{
    float *w = r->m->w;
    if (r->average)
        r->m->w = r->average;
    return w;
}

static snip_code save(run *r, snip_status *st)
{
    if (ranks_me(r->watch->ranks) != 0) /* all ranks hold the same weights; one writes them */
        return SNIP_OK;
    char *state = join(r->out, "state.safetensors"), *weights = join(r->out, "model.safetensors");
    json_t *about = history(r);
    char *config = dump(model_config_json(&r->m->config));
    snip_code code = SNIP_NOMEM;
    if (state && weights && about && config) {
        json_object_set_new(about, "config", json_string(config));
        code = save_state(r, state, about, st);
        float *w = show_average(r);
        if (code == SNIP_OK)
            code = model_save(r->m, weights, about, st);
        r->m->w = w;
        if (code == SNIP_OK && r->log)
            code = train_curves(r->out, st);
    } else {
        status_nomem(st);
    }
    free(state);
    free(weights);
    free(config);
    json_decref(about);
    return code;
}

/* Whether step `at`, with which something new begins, has not been reached by a run of t steps. */
static int is_ahead(uint64_t at, uint64_t t)
{
    return at >= t;
}

/* A run may be made longer, and the ends of its phases chosen late, as long as what was done
 * already stays as it would have been. So what lies ahead of both settings at step t, theirs takes
 * from ours. (0 is never for the decay, and at once for the end of the first phase.) */
static void take_what_lies_ahead(train_config *theirs, const train_config *ours, uint64_t t)
{
    theirs->products = ours->products; /* a matter of the machine */
    if (is_ahead(theirs->first, t) && is_ahead(ours->first, t)) {
        theirs->first = ours->first;
        theirs->phase[TRAIN_MAIN] = ours->phase[TRAIN_MAIN];
    }
    if ((!theirs->decay || is_ahead(theirs->decay, t)) &&
        (!ours->decay || is_ahead(ours->decay, t))) {
        theirs->decay = ours->decay;
        theirs->centre = ours->centre;
        if (ours->schedule != TRAIN_LINEAR) /* a decay ends with the last step */
            theirs->steps = ours->steps;
    }
    if ((!theirs->last || is_ahead(theirs->last, t)) && (!ours->last || is_ahead(ours->last, t))) {
        theirs->last = ours->last;
        theirs->last_batch = ours->last_batch;
        theirs->last_lr = ours->last_lr;
    }
}

/* Whether two settings are the same run, of which t steps are made. More steps are always taken:
 * where the learning rate falls until the last one, *raised is the number that it was to fall
 * until. */
static snip_code same_run(train_config theirs, const train_config *ours, uint64_t t,
                          const char *path, uint64_t *raised, snip_status *st)
{
    uint64_t steps = theirs.steps;
    take_what_lies_ahead(&theirs, ours, t);
    if (theirs.steps < ours->steps) {
        *raised = theirs.steps;
        theirs.steps = ours->steps;
    }
    const settings_key *other = settings_difference(&train_settings, &theirs, ours);
    if (!other)
        return SNIP_OK;
    if (other->offset == offsetof(train_config, steps))
        return status_fail(st, SNIP_FORMAT, 0,
                           "%s: steps differs from the checkpoint (%llu, now %llu), and the "
                           "learning rates depend on it",
                           path, (unsigned long long)steps, (unsigned long long)ours->steps);
    char before[40], now[40];
    settings_text(other, &theirs, before, sizeof before);
    settings_text(other, ours, now, sizeof now);
    return status_fail(st, SNIP_FORMAT, 0, "%s: %s differs from the checkpoint (%s, now %s)", path,
                       other->name, before, now);
}

/* A setting that older files do not know was the paper's. */
snip_code train_settings_of(train_config *out, const json_t *metadata, const char *path,
                            snip_status *st)
{
    const char *settings = json_string_value(json_object_get(metadata, "train"));
    json_t *theirs = settings ? json_loads(settings, 0, NULL) : NULL;
    snip_status why;
    snip_code code = train_config_preset(out, "paper", st);
    if (code == SNIP_OK && !theirs)
        code = status_fail(st, SNIP_FORMAT, 0, "%s: does not tell how it was trained", path);
    if (code == SNIP_OK && settings_read(&train_settings, out, theirs, NULL, &why) != SNIP_OK)
        code = status_fail(st, SNIP_FORMAT, 0, "%s: %.150s", path, why.msg);
    json_decref(theirs);
    return code;
}

/* The settings that a state file tells. */
static snip_code read_settings(model_config *m, train_config *c, const safetensors_file *f,
                               const char *path, snip_status *st)
{
    const char *config = json_string_value(json_object_get(f->metadata, "config"));
    json_t *shape = config ? json_loads(config, 0, NULL) : NULL;
    snip_code code = SNIP_OK;
    if (!json_object_get(f->metadata, "train") || !shape ||
        model_config_read(m, shape, NULL) != SNIP_OK)
        code = status_fail(st, SNIP_FORMAT, 0, "%s: not the state of a training run", path);
    if (code == SNIP_OK)
        code = train_settings_of(c, f->metadata, path, st);
    json_decref(shape);
    return code;
}

/* Fails where folder `out` holds no run; its state would be at `state`. */
static snip_code check_resumable(const char *out, const char *state, snip_status *st)
{
    return access(state, F_OK) == 0
               ? SNIP_OK
               : status_fail(st, SNIP_IO, 0, "%s: holds no training run to resume", out);
}

snip_code train_run_settings(model_config *m, train_config *c, const char *out, snip_status *st)
{
    safetensors_file f;
    arena *a = arena_new(0);
    char *state = join(out, "state.safetensors");
    snip_code code = a && state ? check_resumable(out, state, st) : status_nomem(st);
    if (code == SNIP_OK)
        code = safetensors_read(&f, state, a, st);
    if (code == SNIP_OK) {
        code = read_settings(m, c, &f, state, st);
        safetensors_close(&f);
    }
    free(state);
    arena_free(a);
    return code;
}

/* Sets the run from its state file. */
static snip_code load_state(run *r, const char *path, int any_warmup, snip_status *st)
{
    safetensors_file f;
    arena *a = arena_new(0);
    if (!a)
        return status_nomem(st);
    snip_code code = safetensors_read(&f, path, a, st);
    if (code != SNIP_OK) {
        arena_free(a);
        return code;
    }
    const char *steps = json_string_value(json_object_get(f.metadata, "steps"));
    const char *seconds = json_string_value(json_object_get(f.metadata, "seconds"));
    const char *version = json_string_value(json_object_get(f.metadata, "version"));
    model_config built;
    train_config theirs;
    code = read_settings(&built, &theirs, &f, path, st);
    if (code == SNIP_OK && (!steps || !seconds))
        code = status_fail(st, SNIP_FORMAT, 0, "%s: not the state of a training run", path);
    else if (code == SNIP_OK && settings_difference(&model_settings, &built, &r->m->config))
        code = status_fail(st, SNIP_FORMAT, 0, "%s: is of another model configuration", path);
    if (code == SNIP_OK && any_warmup)
        r->own.warmup = theirs.warmup;
    uint64_t raised = 0;
    if (code == SNIP_OK)
        code = same_run(theirs, r->c, strtoull(steps, NULL, 10), path, &raised, st);
    part p[PARTS];
    size_t count = parts(r, p);
    for (size_t k = 0; k < count && code == SNIP_OK; k++)
        code = model_take(r->m, p[k].w, &f, p[k].suffix, path, st);
    if (code == SNIP_OK) {
        for (size_t k = 0; k < sizeof origins / sizeof *origins; k++)
            json_object_set(r->origin, origins[k], json_object_get(f.metadata, origins[k]));
        r->given = json_object_get(f.metadata, origins[0]) != NULL;
        if (!version || strcmp(version, SNIP_VERSION) != 0)
            warn(r, "%s: was written by snip %s, this is %s: it may not go on bit for bit", path,
                 version ? version : "(no version)", SNIP_VERSION);
        /* States that say nothing are from before there was a choice. */
        const char *used = json_string_value(json_object_get(f.metadata, "products"));
        used = used ? used : "float32";
        if (strcmp(used, products_name(r)) != 0)
            warn(r,
                 "%s: was trained with %.10s products so far, from here on with %s: it does not "
                 "go on bit for bit",
                 path, used, products_name(r));
        if (raised)
            warn(r,
                 "%s: steps raised from %llu to %llu: from here on the learning rate falls until "
                 "the new end",
                 path, (unsigned long long)raised, (unsigned long long)r->c->steps);
        r->t = strtoull(steps, NULL, 10);
        r->seconds = strtod(seconds, NULL);
    }
    safetensors_close(&f);
    arena_free(a);
    return code;
}

/* What rank 0 read goes to all: the others need not see its folder. */
static snip_code share_state(run *r, snip_status *st)
{
    enum { PIECE = 1 << 28 }; /* of what is sent at once */
    ranks *all = r->watch->ranks;
    size_t n = (size_t)ranks_count(all), *size = arena_zero(r->a, n * sizeof *size);
    part p[PARTS];
    size_t count = parts(r, p);
    if (!size)
        return status_nomem(st);
    if (n == 1)
        return SNIP_OK;
    ranks_share_size(all, (size_t)r->t, size);
    r->t = size[0];
    ranks_share_size(all, (size_t)r->own.warmup, size);
    r->own.warmup = size[0];
    r->given = ranks_first(all, r->given);
    memset(size, 0, n * sizeof *size);
    for (size_t k = 0; k < count; k++) {
        for (size_t from = 0; from < r->m->size; from += size[0]) {
            size[0] = r->m->size - from < PIECE ? r->m->size - from : PIECE;
            ranks_gather_floats(all, p[k].w + from, r->grad + from, size, 1);
        }
        memcpy(p[k].w, r->grad, r->m->size * sizeof *r->grad);
    }
    return SNIP_OK;
}

/* Opens the log for appending; lines beyond step r->t, from a run that was killed, are left out. */
static snip_code open_log(run *r, snip_status *st)
{
    char *path = join(r->out, "log.jsonl"), *fresh = join(r->out, "log.jsonl.tmp"), *line = NULL;
    size_t room = 0;
    int good = path && fresh;
    FILE *old = good ? fopen(path, "r") : NULL, *kept = good ? fopen(fresh, "w") : NULL;
    good = good && kept;
    while (good && old && getline(&line, &room, old) > 0) {
        json_t *o = json_loads(line, 0, NULL);
        if (o && (uint64_t)json_integer_value(json_object_get(o, "step")) <= r->t)
            good = fputs(line, kept) >= 0;
        json_decref(o);
    }
    if (old)
        fclose(old);
    if (kept && fclose(kept) != 0)
        good = 0;
    good = good && rename(fresh, path) == 0 && (r->log = fopen(path, "a")) != NULL;
    if (!good)
        status_set(st, SNIP_IO, 0, "%s/log.jsonl: cannot write: %s", r->out, strerror(errno));
    free(line);
    free(path);
    free(fresh);
    return good ? SNIP_OK : SNIP_IO;
}

/* The cosine of a and b, times the length of a. */
static double similarity(const nn_kernels *k, const float *a, const float *b, size_t latent)
{
    return (double)k->dot(a, b, latent) / sqrt(k->square_sum(b, latent) + 1e-30);
}

/* Mean of 1/log2(1 + rank) for ranks up to 10, and the share of them: queries in rows of a. */
static void retrieval(const float *a, const float *b, size_t n, size_t latent, double *ndcg,
                      double *recall)
{
    const nn_kernels *k = nn_kernels_best();
    *ndcg = *recall = 0;
    for (size_t i = 0; i < n; i++) {
        const float *query = a + i * latent;
        double own = similarity(k, query, b + i * latent, latent);
        size_t rank = 1;
        for (size_t j = 0; j < n; j++) /* ties count against us */
            rank += j != i && similarity(k, query, b + j * latent, latent) >= own;
        if (rank <= 10) {
            *ndcg += 1 / log2(1 + (double)rank) / (double)n;
            *recall += 1.0 / (double)n;
        }
    }
}

/* Retrieval among held-out pairs of a stream of their own, in the exact view or among forms. */
static snip_code check_view(run *r, int form, json_t *line, snip_status *st)
{
    size_t pairs = r->watch->check_pairs ? r->watch->check_pairs : CHECK_PAIRS;
    int tree = train_stage_of[r->c->phase[TRAIN_MAIN].stage].tree;
    const train_batch_how how = { .stage = tree ? TRAIN_S1 : TRAIN_S0,
                                  .size = pairs,
                                  .points = (size_t)r->m->config.points,
                                  .laws = form ? 0.5 : 0,
                                  .forms = form,
                                  .seed = r->c->seed,
                                  .stream = RNG_VALIDATION };
    train_batch b;
    float *row[TRAIN_VIEWS];
    double ndcg[2], recall[2];
    size_t latent = (size_t)r->m->config.latent;
    snip_code code = train_batch_draw(&b, &how, 0, r->m, r->draw, r->watch->threads, st);
    nn_products products = r->m->products;
    float *w = show_average(r);
    r->m->products = NN_FLOAT32; /* as for all who use the model */
    if (code == SNIP_OK)
        code = train_step_embed(r->step, r->m, &b, row, st);
    r->m->products = products;
    r->m->w = w;
    if (code != SNIP_OK)
        return code;
    size_t count = 0; /* of the pairs that have rows: a bare input is no form */
    for (size_t i = 0; i < b.variants; i++)
        if (b.variant[i].views >> TRAIN_GS & 1) {
            memmove(row[TRAIN_GS] + count * latent, row[TRAIN_GS] + i * latent,
                    latent * sizeof **row);
            memmove(row[TRAIN_GV] + count * latent, row[TRAIN_GV] + i * latent,
                    latent * sizeof **row);
            count++;
        }
    pairs = count;
    retrieval(row[TRAIN_GS], row[TRAIN_GV], pairs, latent, &ndcg[0], &recall[0]);
    retrieval(row[TRAIN_GV], row[TRAIN_GS], pairs, latent, &ndcg[1], &recall[1]);
    json_object_set_new(line, form ? "held_out_forms" : "held_out",
                        json_pack("{s:i,s:[f,f],s:[f,f]}", "pairs", (int)pairs, "ndcg10", ndcg[0],
                                  ndcg[1], "r10", recall[0], recall[1]));
    return SNIP_OK;
}

static snip_code check(run *r, json_t *line, snip_status *st)
{
    snip_code code = check_view(r, 0, line, st);
    return code == SNIP_OK && r->m->config.forms ? check_view(r, 1, line, st) : code;
}

static json_t *log_line(const run *r, const train_terms *terms, double norm, double rate,
                        double speed)
{
    json_t *o = json_pack("{s:I,s:I,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "step", (json_int_t)r->t,
                          "samples", (json_int_t)train_samples(r->c, r->t), "seconds", r->seconds,
                          "loss", terms->total, "global", terms->global, "context", terms->context,
                          "standalone", terms->standalone, "gap", terms->gap, "grad_norm", norm,
                          "lr", rate, "samples_per_second", speed);
    if (r->c->refits > 0)
        json_object_set_new(o, "refits", json_real(terms->refits));
    if (r->m->config.similarity == MODEL_COSINE) {
        json_object_set_new(o, "scale_global", json_real(exp((double)r->m->w[r->m->scale_global])));
        json_object_set_new(o, "scale_local", json_real(exp((double)r->m->w[r->m->scale_local])));
    }
    return o;
}

static void tell(const run *r, const train_terms *terms, double norm, double speed,
                 const json_t *line)
{
    char text[320];
    double left = (double)(train_samples(r->c, r->c->steps) - train_samples(r->c, r->t)) / speed;
    const json_t *held = json_object_get(line, "held_out");
    int n = snprintf(text, sizeof text,
                     "step %llu of %llu, loss %.4f (%.3f + %.3f + %.3f), gradient %.3g, %.0f "
                     "samples/s, %.0f s left",
                     (unsigned long long)r->t, (unsigned long long)r->c->steps, terms->total,
                     terms->global, terms->context, terms->standalone, norm, speed, left);
    const json_t *forms = json_object_get(json_object_get(line, "held_out_forms"), "ndcg10");
    const json_t *pairs = json_object_get(held, "ndcg10");
    if (held && n > 0 && (size_t)n < sizeof text)
        n += snprintf(text + n, sizeof text - (size_t)n, "; held out nDCG@10 %.1f / %.1f %%",
                      100 * json_number_value(json_array_get(pairs, 0)),
                      100 * json_number_value(json_array_get(pairs, 1)));
    if (forms && n > 0 && (size_t)n < sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, ", forms %.1f / %.1f %%",
                 100 * json_number_value(json_array_get(forms, 0)),
                 100 * json_number_value(json_array_get(forms, 1)));
    if (r->watch->line)
        r->watch->line(r->watch->context, text);
}

/* The moving average keeps the share min(average, (1+t)/(10+t)) of what it was: it starts as the
 * weights do and forgets them sooner than `average` alone would. Given weights are worth keeping:
 * there the share is `average` from the first step on. */
static void average(run *r)
{
    double t = (double)r->t, kept = r->c->average;
    if (!r->given)
        kept = fmin(kept, (1 + t) / (10 + t));
    if (r->average)
        nn_average(r->average, r->m->w, r->m->size, 1 - kept, r->watch->threads);
}

train_batch_how train_batch_of(const train_config *c, uint64_t made, rng_stream stream)
{
    const train_phase *phase = &c->phase[made < c->first ? TRAIN_FIRST : TRAIN_MAIN];
    return (train_batch_how){ .stage = (train_stage)phase->stage,
                              .size = train_batch_size(c, made),
                              .subtrees = phase->subtrees,
                              .edits = phase->edits,
                              .constants = c->constant_edits,
                              .points = phase->points,
                              .rows = c->rows,
                              .noise = c->noise,
                              .zoom = phase->zoom,
                              .laws = c->laws,
                              .quantities = c->quantities,
                              .forms = c->forms_share,
                              .refits = c->refits > 0,
                              .own = c->own,
                              .own_share = c->formulas_share,
                              .seed = c->seed,
                              .stream = stream };
}

train_how train_how_of(const train_config *c, const model *m, uint64_t made, int threads)
{
    const train_phase *phase = &c->phase[made < c->first ? TRAIN_FIRST : TRAIN_MAIN];
    int late = c->decay && made >= c->decay;
    train_how how = { .stage = (train_stage)phase->stage,
                      .cosine = m->config.similarity == MODEL_COSINE,
                      .tau_global = c->tau_global,
                      .tau_local = c->tau_local,
                      .scale_exact = c->scale_exact,
                      .lambda = c->lambda,
                      .threads = threads,
                      .centre = late ? c->centre : 0,
                      .refits = c->refits };
    if (how.cosine) {
        how.scale_global = exp((double)m->w[m->scale_global]);
        how.scale_local = exp((double)m->w[m->scale_local]);
    }
    return how;
}

static snip_code one_step(run *r, train_terms *terms, double *norm, double *rate, snip_status *st)
{
    train_batch_how what = train_batch_of(r->c, r->t, RNG_TRAIN);
    const train_how how = train_how_of(r->c, r->m, r->t, r->watch->threads);
    what.every = (size_t)ranks_count(r->watch->ranks);
    what.offset = (size_t)ranks_me(r->watch->ranks);
    train_batch b;
    train_times times;
    uint64_t first = train_samples(r->c, r->t);
    snip_code code = train_batch_draw(&b, &what, first, r->m, r->draw, r->watch->threads, st);
    if (code == SNIP_OK)
        code = train_step_gradient(r->step, r->m, &b, &how, r->grad, terms, &times, st);
    if (code != SNIP_OK)
        return code;
    *norm = nn_length(r->grad, r->m->size, r->watch->threads);
    if (!isfinite(terms->total) || !isfinite(*norm))
        return status_fail(st, SNIP_FORMAT, 0,
                           "the loss is not finite at step %llu (samples %llu to %llu); the last "
                           "good checkpoint is "
                           "%.60s/state.safetensors",
                           (unsigned long long)r->t + 1, (unsigned long long)first,
                           (unsigned long long)(first + what.size - 1), r->out);
    r->t++;
    *rate = train_update_apply(r->update, r->m, r->moment1, r->moment2, r->grad, *norm, r->t);
    if (isnan(*rate))
        return status_nomem(st);
    average(r);
    return SNIP_OK;
}

/* Whether any rank was told to stop; all of them then do, after the same step. */
static int asked_to_stop(const run *r)
{
    return ranks_max(r->watch->ranks, r->watch->stop && *r->watch->stop);
}

/* A log line, with the quick check before a checkpoint. Rank 0's business. */
static snip_code report(run *r, const train_terms *terms, double norm, double rate, double speed,
                        int checked, snip_status *st)
{
    json_t *line = log_line(r, terms, norm, rate, speed);
    snip_code code = checked ? check(r, line, st) : SNIP_OK;
    char *text = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    if (code == SNIP_OK && text) { /* a disk may be full for a while: no reason to stop */
        int good = fprintf(r->log, "%s\n", text) > 0 && fflush(r->log) == 0;
        if (!good && !r->log_failed)
            warn(r, "%s/log.jsonl: cannot write: %s", r->out, strerror(errno));
        clearerr(r->log);
        r->log_failed = !good;
    }
    tell(r, terms, norm, speed, line);
    free(text);
    json_decref(line);
    return code;
}

/* The loop: steps, a log line and a checkpoint now and then. */
static snip_code loop(run *r, snip_status *st)
{
    double start = clock_now(), earlier = r->seconds, logged = start, saved = start;
    uint64_t logged_at = r->t;
    snip_code code = SNIP_OK;
    int failed = 0;  /* checkpoints that could not be written, in a row */
    int unsaved = 1; /* a kill may have come after the state was saved and before the model was */
    while (r->t < r->c->steps && code == SNIP_OK && !asked_to_stop(r)) {
        train_terms terms;
        double norm = 0, rate = 0;
        code = one_step(r, &terms, &norm, &rate, st);
        if (code != SNIP_OK)
            return code;
        unsaved = 1;
        double now = clock_now();
        r->seconds = earlier + now - start;
        int last = r->t == r->c->steps,
            save_now = last || now - saved >= r->watch->save_seconds ||
                       (r->watch->save_steps && r->t % r->watch->save_steps == 0);
        save_now = ranks_first(r->watch->ranks, save_now); /* clocks differ: rank 0's decides */
        if (ranks_me(r->watch->ranks) == 0 && (save_now || now - logged >= r->watch->log_seconds)) {
            double drawn = (double)(train_samples(r->c, r->t) - train_samples(r->c, logged_at));
            double speed = drawn / (now - logged);
            code = report(r, &terms, norm, rate, speed, save_now, st);
            logged = clock_now();
            logged_at = r->t;
        }
        if (code == SNIP_OK && save_now) {
            snip_status why;
            code = save(r, &why);
            saved = clock_now();
            unsaved = code != SNIP_OK;
            failed = unsaved ? failed + 1 : 0;
            if (failed == 1 && !last) { /* the disk may have room again when the next is due */
                warn(r, "%s; trying again at the next checkpoint", why.msg);
                code = SNIP_OK;
            } else if (unsaved) {
                status_set(st, code, 0, "%s", why.msg);
            }
        }
    }
    return code == SNIP_OK && unsaved ? save(r, st) : code;
}

static int make_room(run *r, size_t memory)
{
    int threads = r->watch->threads;
    r->draw = arena_zero(r->a, (size_t)threads * sizeof *r->draw);
    for (int t = 0; r->draw && t < threads; t++)
        if (!(r->draw[t] = arena_new(0)))
            return 0;
    size_t bytes = r->m->size * sizeof(float);
    r->grad = arena_zero(r->a, bytes);
    r->moment1 = arena_zero(r->a, bytes);
    r->moment2 = arena_zero(r->a, bytes);
    if (r->c->average > 0 && !(r->average = arena_alloc(r->a, bytes)))
        return 0;
    r->update = train_update_new(r->m, r->c, threads, r->a);
    r->step = train_step_new(r->m, threads, memory, r->watch->ranks);
    return r->draw && r->grad && r->moment1 && r->moment2 && r->update && r->step;
}

/* The folder: made if it is not there, and locked. It holds a run if that is to be resumed, and
 * else none, and no model: work of hours should not go because of a word that was forgotten. */
static snip_code open_folder(run *r, const char *state, const train_start *how, snip_status *st)
{
    const char *out = r->out;
    snip_code code = how->resume ? check_resumable(out, state, st) : SNIP_OK;
    if (code != SNIP_OK) /* before a folder is made for nothing */
        return code;
    if (!file_make_folders(out))
        return status_fail(st, SNIP_IO, 0, "%s: cannot make this folder: %s", out, strerror(errno));
    if (access(out, W_OK) != 0)
        return status_fail(st, SNIP_IO, 0, "%s: cannot write here: %s", out, strerror(errno));
    char *lock = join(out, "lock"), *weights = join(out, "model.safetensors");
    code = lock && weights ? SNIP_OK : status_nomem(st);
    if (code == SNIP_OK && (r->lock = file_lock(lock)) < 0) {
        if (errno == EWOULDBLOCK)
            code = status_fail(st, SNIP_IO, 0, "%s: another run is training in this folder", out);
        else if (errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK)
            warn(r, "%s: no locks here (%s): see that no second run uses this folder", out,
                 strerror(errno));
        else
            code = status_fail(st, SNIP_IO, 0, "%s: cannot lock: %s", lock, strerror(errno));
    }
    int kept = how->resume || how->overwrite;
    if (code == SNIP_OK && !kept && access(state, F_OK) == 0)
        code = status_fail(st, SNIP_IO, 0, "%s: holds a training run already%s", out,
                           how->taken ? how->taken : "");
    else if (code == SNIP_OK && !kept && access(weights, F_OK) == 0)
        code = status_fail(st, SNIP_IO, 0,
                           "%s: holds a model already, without the state to go on from%s", out,
                           how->taken_model ? how->taken_model : "");
    free(lock);
    free(weights);
    return code;
}

/* The bf16 products of this machine, NN_FLOAT32 if it or another that takes part has none. Several
 * machines may have different ones: what they send each other is float32. */
static nn_products bf16_of_all(const train_config *c, const train_watch *watch)
{
    static const nn_products acted[] = {
        [TRAIN_WITH_BF16] = NN_BF16_ROUNDED, [TRAIN_WITHOUT_BF16] = NN_FLOAT32
    };
    nn_products own = c->products == TRAIN_FLOAT32         ? NN_FLOAT32
                      : watch->processor == TRAIN_AS_IT_IS ? nn_best_bf16()
                                                           : acted[watch->processor];
    return ranks_max(watch->ranks, own == NN_FLOAT32) ? NN_FLOAT32 : own;
}

/* All weights of `from`, whose tensors m has, too, in the same order and maybe among others. */
static void take_weights(model *m, const model *from)
{
    size_t j = 0;
    for (size_t k = 0; k < m->tensors && j < from->tensors; k++) {
        const model_tensor *t = &m->tensor[k], *u = &from->tensor[j];
        if (strcmp(t->name, u->name) != 0)
            continue; /* one that `from` lacks */
        assert(model_tensor_size(t) == model_tensor_size(u));
        memcpy(m->w + t->offset, from->w + u->offset, model_tensor_size(t) * sizeof *m->w);
        j++;
    }
    assert(j == from->tensors);
}

/* The weights of a new run. */
static void start(run *r, const train_start *how)
{
    model_start(r->m, r->c->seed);
    r->given = how->init != NULL;
    if (r->given)
        take_weights(r->m, how->init);
    const char *const values[] = { how->init_name, how->init_samples, how->init_seconds };
    for (size_t k = 0; k < sizeof origins / sizeof *origins; k++)
        if (values[k])
            json_object_set_new(r->origin, origins[k], text_json(values[k]));
    if (r->average)
        memcpy(r->average, r->m->w, r->m->size * sizeof *r->average);
}

snip_code train_run(const model_config *m, const train_config *c, const char *out,
                    const train_start *how, const train_watch *watch, uint64_t *done,
                    snip_status *st)
{
    run r = { .watch = watch, .out = out, .a = arena_new(0), .origin = json_object() };
    r.own = *c;
    r.c = &r.own;
    r.lock = -1;
    char *state = join(out, "state.safetensors"), *lock = join(out, "lock");
    int resume = how->resume;
    const nn_products bf16 = bf16_of_all(c, watch);
    snip_code code =
        r.a && r.origin && state && lock ? train_config_check(c, m, st) : status_nomem(st);
    if (code == SNIP_OK)
        code = model_new(&r.m, m, r.a, st);
    if (code == SNIP_OK && !make_room(&r, watch->memory))
        code = status_nomem(st);
    if (code == SNIP_OK)
        code = train_choose_products(&r.m->products, c->products, bf16, st);
    if (code == SNIP_OK && ranks_me(watch->ranks) == 0)
        code = open_folder(&r, state, how, st);
    size_t least = c->last_batch && c->last_batch < c->batch ? c->last_batch : c->batch;
    if (code == SNIP_OK && least < (size_t)ranks_count(watch->ranks))
        code = status_fail(st, SNIP_FORMAT, 0, "a batch of %zu samples is too small for %d ranks",
                           least, ranks_count(watch->ranks));
    if (code == SNIP_OK && resume && ranks_me(watch->ranks) == 0)
        code = load_state(&r, state, how->any_warmup, st);
    if (ranks_max(watch->ranks, code != SNIP_OK) && code == SNIP_OK)
        code = status_fail(st, SNIP_IO, 0, "another rank could not start");
    if (code == SNIP_OK && resume)
        code = share_state(&r, st);
    else if (code == SNIP_OK)
        start(&r, how);
    if (code == SNIP_OK && ranks_me(watch->ranks) == 0)
        code = open_log(&r, st);
    if (code == SNIP_OK && !resume)
        code = save(&r, st); /* a kill before the first checkpoint can be resumed too */
    if (code == SNIP_OK)
        code = loop(&r, st);
    *done = r.t;
    if (r.log)
        fclose(r.log);
    if (r.lock >= 0)
        file_unlock(r.lock, lock);
    train_step_free(r.step);
    for (int t = 0; r.draw && t < watch->threads; t++)
        arena_free(r.draw[t]);
    free(state);
    free(lock);
    json_decref(r.origin);
    arena_free(r.a);
    return code;
}
