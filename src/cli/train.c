/* train.c - `snip train`: train a model, or go on with a run. */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "model/file.h"
#include "train/trainer.h"

static void show_line(void *context, const char *text)
{
    const int *quiet = context;
    if (*quiet)
        return;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%s\033[K", text);
    else
        fprintf(stderr, "%s\n", text);
    fflush(stderr);
}

/* A warning on a line of its own, which no progress line follows on. */
static void show_warning(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "%ssnip train: %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", text);
}

/* key=value for the model or the training, whichever knows the key. */
static snip_code set_key(model_config *m, train_config *c, const char *setting, snip_status *st)
{
    const char *equals = strchr(setting, '=');
    char key[64];
    if (!equals || (size_t)(equals - setting) >= sizeof key)
        return status_fail(st, SNIP_FORMAT, 0, "--set wants key=value, not '%.40s'", setting);
    snprintf(key, sizeof key, "%.*s", (int)(equals - setting), setting);
    return settings_find(&model_settings, key) ? model_config_set(m, key, equals + 1, st)
                                               : train_config_set(c, key, equals + 1, st);
}

/* A --set that changes the configuration `given` weights have is an error, which names both. Only
 * slopes and surface may be added. */
static snip_code check_kept(const model_config *given, const model_config *m, const char *setting,
                            const char *path, snip_status *st)
{
    model_config with = *given;
    with.slopes |= m->slopes;
    with.surface |= m->surface;
    json_t *theirs = model_config_json(&with), *ours = model_config_json(m);
    snip_code code = SNIP_OK;
    for (void *at = json_object_iter(theirs); at && code == SNIP_OK;
         at = json_object_iter_next(theirs, at)) {
        const char *key = json_object_iter_key(at);
        const json_t *v = json_object_iter_value(at);
        char number[32];
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(v));
        if (!json_equal(v, json_object_get(ours, key)))
            code =
                status_fail(st, SNIP_FORMAT, 0, "--set %.40s: the model %.60s has %s=%s", setting,
                            path, key, json_is_string(v) ? json_string_value(v) : number);
    }
    json_decref(theirs);
    json_decref(ours);
    return code;
}

/* What all runs that led to these weights add up to, of "samples" or "seconds"; NULL where the file
 * does not say. */
static const char *so_far(const json_t *metadata, const char *key, const char *before, arena *a)
{
    const char *own = json_string_value(json_object_get(metadata, key));
    const char *earlier = json_string_value(json_object_get(metadata, before));
    text sum = { .a = a };
    if (!own)
        return NULL;
    text_add(&sum, "%.0f", strtod(own, NULL) + (earlier ? strtod(earlier, NULL) : 0));
    return text_end(&sum);
}

/* Reads the weights that a run starts from, into `a`, with what the file tells of them. */
static snip_code read_init(train_start *start, const char *path, arena *a, snip_status *st)
{
    model *m = NULL;
    json_t *metadata = NULL;
    char *copy = arena_text(a, path, strlen(path));
    snip_code code = copy ? model_load(&m, path, &metadata, a, st) : status_nomem(st);
    if (code == SNIP_OK) {
        start->init = m;
        start->init_name = basename(copy);
        start->init_samples = so_far(metadata, "samples", "init_samples", a);
        start->init_seconds = so_far(metadata, "seconds", "init_seconds", a);
    }
    json_decref(metadata);
    return code;
}

static snip_code read_formulas(data_own_laws *out, const char *path, arena *a, snip_status *st)
{
    char *text;
    size_t size;
    snip_status why = { 0 };
    snip_code code = file_read_text(&text, &size, path, FILE_FORMULAS_MAX, a, st);
    if (code != SNIP_OK)
        return code;
    code = data_own_laws_read(out, text, a, &why);
    return code == SNIP_OK ? code : status_fail(st, code, 0, "%.80s: %.150s", path, why.msg);
}

/* What the command was asked for. */
typedef struct request {
    const cli_command *self;
    const char *out, *memory, *rate, *clip, *init, *formulas;
    int preset, stage;
    cli_list sets;
    uint64_t steps, batch, seed, warmup, minutes, every, threads, pairs;
    int resume, overwrite, quiet, json;
    int preset_given, stage_given, seed_given;
    arena *a; /* for the weights of --init and the formulas */
} request;

/* What a run is made of. */
typedef struct plan {
    model_config m;
    train_config c;
    train_start start;
    data_own_laws own;
} plan;

/* The formulas of --formulas are part of the samples. */
static snip_code take_formulas(plan *p, const request *q, snip_status *st)
{
    snip_code code = read_formulas(&p->own, q->formulas, q->a, st);
    if (code != SNIP_OK)
        return code;
    p->c.own = &p->own;
    p->c.formulas = p->own.hash;
    if (p->c.formulas_share == 0)
        p->c.formulas_share = 0.3;
    return SNIP_OK;
}

/* Whether the run in the folder goes on with its own settings. With --preset they are those of the
 * command line: then only the rank that reads the state needs to see the folder. */
static int keeps_settings(const request *q)
{
    return q->resume && !q->preset_given;
}

/* Applies the options, then every --set in their order. */
static snip_code set_keys(plan *p, const request *q, snip_status *st)
{
    train_config *c = &p->c;
    if (!keeps_settings(q) || q->seed_given)
        c->seed = q->seed;
    if (!keeps_settings(q) || q->stage_given)
        c->phase[TRAIN_MAIN].stage = q->stage;
    c->steps = q->steps ? q->steps : c->steps;
    c->batch = q->batch ? q->batch : c->batch;
    c->warmup = q->warmup ? q->warmup : c->warmup;
    p->start.any_warmup = q->warmup == 0;
    snip_code code = SNIP_OK;
    if (q->rate)
        code = train_config_set(c, "lr", q->rate, st);
    if (code == SNIP_OK && q->clip)
        code = train_config_set(c, "clip", q->clip, st);
    for (size_t i = 0; i < q->sets.count && code == SNIP_OK; i++) {
        const char *set = q->sets.value[i];
        code = set_key(&p->m, c, set, st);
        p->start.any_warmup = p->start.any_warmup && strncmp(set, "warmup=", 7) != 0;
        if (code == SNIP_OK && q->init)
            code = check_kept(&p->start.init->config, &p->m, set, q->init, st);
    }
    return code;
}

/* What follows from the keys unless it was asked for; `usual_points` are the preset's. */
static void complete(plan *p, size_t usual_points)
{
    if (p->m.forms && p->c.forms_share == 0) /* a model of both views learns both */
        p->c.forms_share = 0.5;
    if (p->start.any_warmup)
        train_shorten_warmup(&p->c);
    /* Points per table in training are at most the model's. */
    for (int i = 0; i < TRAIN_PHASES; i++)
        if (p->c.phase[i].points == usual_points && usual_points > (size_t)p->m.points)
            p->c.phase[i].points = (size_t)p->m.points;
}

/* The plan that was asked for. Prints what is wrong. Returns an exit code. */
static int make_plan(plan *p, const request *q)
{
    snip_status st;
    p->start = (train_start){ .resume = q->resume,
                              .overwrite = q->overwrite,
                              .taken = "; --resume goes on with it, --overwrite starts anew",
                              .taken_model = "; --overwrite replaces it" };
    if (keeps_settings(q)) {
        if (train_run_settings(&p->m, &p->c, q->out, &st) != SNIP_OK)
            return cli_fail_status(q->self, &st);
        if (p->c.formulas && !q->formulas)
            return cli_fail(q->self, CLI_MISUSED,
                            "%s: was begun with --formulas: give the same file again", q->out);
    } else if (model_config_preset(&p->m, model_presets[q->preset], &st) != SNIP_OK ||
               train_config_preset(&p->c, model_presets[q->preset], &st) != SNIP_OK) {
        return cli_fail(q->self, CLI_MISUSED, "%s", st.msg);
    }
    if (q->init && read_init(&p->start, q->init, q->a, &st) != SNIP_OK)
        return cli_fail_status(q->self, &st);
    if (q->init)
        p->m = p->start.init->config;
    if (q->formulas && take_formulas(p, q, &st) != SNIP_OK)
        return cli_fail_status(q->self, &st);
    size_t usual_points = p->c.phase[TRAIN_MAIN].points;
    snip_code code = set_keys(p, q, &st);
    if (code == SNIP_OK) {
        complete(p, usual_points);
        code = model_config_check(&p->m, &st);
    }
    if (code == SNIP_OK)
        code = train_config_check(&p->c, &p->m, &st);
    return code == SNIP_OK ? CLI_DONE : cli_fail(q->self, CLI_MISUSED, "%s", st.msg);
}

/* The last word of a run of `done` steps. Returns an exit code. */
static int print_end(const request *q, const train_config *c, uint64_t done)
{
    int finished = done >= c->steps, code;
    if (q->json) {
        code = cli_print_json(q->self, json_pack("{s:I,s:I,s:b,s:o}", "steps", (json_int_t)done,
                                                 "samples", (json_int_t)train_samples(c, done),
                                                 "finished", finished, "out", text_json(q->out)));
    } else {
        printf("%s after %llu of %llu steps; the model is %s/model.safetensors\n",
               finished ? "done" : "stopped", (unsigned long long)done,
               (unsigned long long)c->steps, q->out);
        code = cli_finish(q->self);
    }
    return code;
}

/* Trains as one of the ranks, of which the first speaks. Returns an exit code. */
static int train(const request *q, const plan *p, size_t memory)
{
    snip_status st;
    const volatile sig_atomic_t *stop = cli_stop_on_signals();
    ranks *all = ranks_start();
    int me = ranks_me(all), quiet = q->quiet || me;
    const train_watch watch = { .line = show_line,
                                .warn = show_warning,
                                .context = &quiet,
                                .log_seconds = 5,
                                .save_seconds = 60 * (double)q->minutes,
                                .save_steps = q->every,
                                .check_pairs = q->pairs,
                                .memory = memory,
                                .threads = cli_threads(q->threads),
                                .stop = stop,
                                .ranks = all };
    uint64_t done = 0;
    int code = CLI_DONE;
    snip_code good = train_run(&p->m, &p->c, q->out, &p->start, &watch, &done, &st);
    if (!quiet && isatty(STDERR_FILENO))
        fputc('\n', stderr);
    if (good != SNIP_OK) {
        code = cli_fail_status(q->self, &st);
        ranks_abort(all, code); /* the others may be waiting for us */
    }
    ranks_stop(all);
    if (code == CLI_DONE && !me)
        code = print_end(q, &p->c, done);
    return code == CLI_DONE && done < p->c.steps ? CLI_STOPPED : code;
}

static int command(const cli_command *self, int argc, char **argv)
{
    int code;
    request q = {
        .self = self, .memory = "4G", .preset = 2, .stage = TRAIN_S5, .minutes = 5, .pairs = 256
    };
    const cli_option options[] = {
        CLI_OPTION(CHOICE, "preset", &q.preset, "NAME", "paper, base, small or tiny",
                   .choices = model_presets, .given = &q.preset_given),
        CLI_OPTION(CHOICE, "stage", &q.stage, "S", "S0 (plain SNIP) to S5 (full SNIP++)",
                   .choices = train_stage_names, .given = &q.stage_given),
        CLI_OPTION(COUNT, "steps", &q.steps, "N", "updates; 0: the preset's",
                   .high = 1000000000000),
        CLI_OPTION(COUNT, "batch-size", &q.batch, "B", "expressions per update; 0: the preset's",
                   .high = 1000000),
        CLI_OPTION(TEXT, "lr", &q.rate, "X", "peak learning rate"),
        CLI_OPTION(COUNT, "warmup", &q.warmup, "N",
                   "updates until the peak; 0: the preset's, at most half of the steps",
                   .high = 1000000000),
        CLI_OPTION(TEXT, "grad-clip-norm", &q.clip, "X", "bound on the gradient's norm"),
        CLI_OPTION(COUNT, "seed", &q.seed, "K", "seed of weights and data",
                   .high = 9000000000000000, .given = &q.seed_given),
        CLI_OPTION(TEXT, "out", &q.out, "DIR", "folder of the run"),
        CLI_SWITCH("resume", &q.resume, "continue the run in that folder with its own settings"),
        CLI_SWITCH("overwrite", &q.overwrite, "start anew in a folder that holds a run or a model"),
        CLI_OPTION(TEXT, "init", &q.init, "MODEL",
                   "start with the weights and configuration of this file"),
        CLI_OPTION(TEXT, "formulas", &q.formulas, "FILE",
                   "mix formulas of your own into the samples: formula, tab, x=1:5 y=0:2"),
        CLI_OPTION(COUNT, "save-frequency", &q.minutes, "M", "minutes between checkpoints",
                   .low = 1, .high = 10000),
        CLI_OPTION(COUNT, "save-steps", &q.every, "N", "and every N updates; 0: never",
                   .high = 1000000000000),
        CLI_OPTION(COUNT, "check-pairs", &q.pairs, "N",
                   "held-out pairs of the check at each checkpoint", .low = 2, .high = 20000),
        CLI_OPTION(TEXT, "memory", &q.memory, "SIZE",
                   "for activations; beyond it they are computed twice"),
        CLI_OPTION(COUNT, "threads", &q.threads, "T", "0: all cores", .high = LIMITS_THREADS),
        CLI_OPTION(LIST, "set", &q.sets, "KEY=VALUE",
                   "any key of model or training, any number of times"),
        CLI_SWITCH("json", &q.json, "the result as a JSON object"),
        CLI_QUIET(&q.quiet),
    };
    if (!cli_parse_none(self, options, sizeof options / sizeof *options, argc, argv, &code))
        return code;
    if (!q.out)
        return cli_fail(self, CLI_MISUSED, "needs --out DIR, the folder of the run");
    if (q.overwrite && q.resume)
        return cli_fail(self, CLI_MISUSED, "--overwrite starts anew, --resume goes on with a run");
    if (q.init && q.resume)
        return cli_fail(self, CLI_MISUSED, "--init starts a new run, --resume goes on with one");
    size_t memory = cli_bytes(q.memory);
    if (memory == 0)
        return cli_fail(self, CLI_MISUSED, "--memory wants a size such as 4G, not '%.40s'",
                        q.memory);
    if (!(q.a = arena_new(0)))
        return cli_fail(self, CLI_FAILED, "out of memory");
    plan p;
    code = make_plan(&p, &q);
    if (code == CLI_DONE)
        code = train(&q, &p, memory);
    arena_free(q.a);
    return code;
}

const cli_command cli_train_command = {
    .name = "train",
    .summary = "train a model",
    .arguments = "--out DIR [options]",
    .about =
        "Trains the two encoders on samples drawn on the fly, so data never repeat. Ctrl-C "
        "saves and stops (so do SIGTERM and SIGHUP; the exit status is then 3); --resume "
        "continues exactly the same run. It needs no other options, except --formulas if the run "
        "began with some. Options that are given must not change what was done already; with "
        "--preset, all the run's options must be given again. "
        "The folder holds model.safetensors (the weights), "
        "state.safetensors (what --resume needs) and log.jsonl. --init starts a new run from "
        "the weights of a model file; the preset then applies to the training alone.",
    .examples =
        "snip train --preset tiny --stage S5 --steps 2000 --out runs/tiny\n"
        "snip train --out runs/tiny --resume\n"
        "snip train --preset small --set d=96 --set channels=3 --set heads=3 --out runs/d96\n"
        "snip train --init runs/tiny/model.safetensors --preset tiny --lr 1e-4 --out runs/tuned\n"
        "snip train --init models/default.safetensors --formulas field.txt --out runs/field\n",
    .run = command,
};
