/* train.c - `snip train`: train a model, or go on with a run. */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
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

/* A size such as 4G or 500M. Returns 0 if it is none. */
static size_t read_bytes(const char *text)
{
    char *end;
    double n = strtod(text, &end);
    double unit = *end == 'K' ? 1 << 10 : *end == 'M' ? 1 << 20 : *end == 'G' ? 1 << 30 : 1;
    end += unit > 1;
    return end == text || *end || !(n * unit >= 1) || n * unit > 1e15 ? 0 : (size_t)(n * unit);
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

/* A --set that changes the configuration `given` weights have is an error, which names both. */
static snip_code check_kept(const model_config *given, const model_config *m, const char *setting,
                            const char *path, snip_status *st)
{
    json_t *theirs = model_config_json(given), *ours = model_config_json(m);
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

/* Reads the weights that a run starts from, into `a`, with what the file tells of them. */
static snip_code read_init(train_start *start, const char *path, arena *a, snip_status *st)
{
    model *m = NULL;
    json_t *metadata = NULL;
    char *copy = arena_text(a, path, strlen(path));
    snip_code code = copy ? model_load(&m, path, &metadata, a, st) : status_nomem(st);
    const char *samples = json_string_value(json_object_get(metadata, "samples"));
    if (code == SNIP_OK) {
        start->init = m;
        start->init_name = basename(copy);
        start->init_samples = samples ? arena_text(a, samples, strlen(samples)) : NULL;
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

static int run(const cli_command *self, int argc, char **argv, arena *a)
{
    const char *out = NULL, *memory = "4G", *rate = NULL, *clip = NULL, *init = NULL,
               *formulas = NULL;
    int preset = 2, stage = TRAIN_S5;
    cli_list sets = { .count = 0 };
    uint64_t steps = 0, batch = 0, seed = 0, warmup = 0, minutes = 5, every = 0, threads = 0,
             pairs = 256;
    int resume = 0, overwrite = 0, quiet = 0, json = 0, code;

    const cli_option options[] = {
        { .name = "preset",
          .kind = CLI_CHOICE,
          .to = &preset,
          .value = "NAME",
          .choices = model_presets,
          .help = "paper, base, small or tiny" },
        { .name = "stage",
          .kind = CLI_CHOICE,
          .to = &stage,
          .value = "S",
          .choices = train_stage_names,
          .help = "S0 (plain SNIP) to S5 (full SNIP++)" },
        { .name = "steps",
          .kind = CLI_COUNT,
          .to = &steps,
          .value = "N",
          .high = 1000000000000,
          .help = "updates; 0: the preset's" },
        { .name = "batch-size",
          .kind = CLI_COUNT,
          .to = &batch,
          .value = "B",
          .high = 1000000,
          .help = "expressions per update; 0: the preset's" },
        { .name = "lr", .kind = CLI_TEXT, .to = &rate, .value = "X", .help = "peak learning rate" },
        { .name = "warmup",
          .kind = CLI_COUNT,
          .to = &warmup,
          .value = "N",
          .high = 1000000000,
          .help = "updates until the peak; 0: the preset's, at most half of the steps" },
        { .name = "grad-clip-norm",
          .kind = CLI_TEXT,
          .to = &clip,
          .value = "X",
          .help = "bound on the gradient's norm" },
        { .name = "seed",
          .kind = CLI_COUNT,
          .to = &seed,
          .value = "K",
          .high = 9000000000000000,
          .help = "seed of weights and data" },
        { .name = "out",
          .kind = CLI_TEXT,
          .to = &out,
          .value = "DIR",
          .help = "folder of the run" },
        { .name = "resume",
          .kind = CLI_FLAG,
          .to = &resume,
          .help = "go on with the run in that folder" },
        { .name = "overwrite",
          .kind = CLI_FLAG,
          .to = &overwrite,
          .help = "start anew in a folder that holds a run or a model" },
        { .name = "init",
          .kind = CLI_TEXT,
          .to = &init,
          .value = "MODEL",
          .help = "start with the weights and configuration of this file" },
        { .name = "formulas",
          .kind = CLI_TEXT,
          .to = &formulas,
          .value = "FILE",
          .help = "mix formulas of your own into the samples: formula, tab, x=1:5 y=0:2" },
        { .name = "save-frequency",
          .kind = CLI_COUNT,
          .to = &minutes,
          .value = "M",
          .low = 1,
          .high = 10000,
          .help = "minutes between checkpoints" },
        { .name = "save-steps",
          .kind = CLI_COUNT,
          .to = &every,
          .value = "N",
          .high = 1000000000000,
          .help = "and every N updates; 0: never" },
        { .name = "check-pairs",
          .kind = CLI_COUNT,
          .to = &pairs,
          .value = "N",
          .low = 2,
          .high = 20000,
          .help = "held-out pairs of the check at each checkpoint" },
        { .name = "memory",
          .kind = CLI_TEXT,
          .to = &memory,
          .value = "SIZE",
          .help = "for activations; beyond it they are computed twice" },
        { .name = "threads",
          .kind = CLI_COUNT,
          .to = &threads,
          .value = "T",
          .high = LIMITS_THREADS,
          .help = "0: all cores" },
        { .name = "set",
          .kind = CLI_LIST,
          .to = &sets,
          .value = "KEY=VALUE",
          .help = "any key of model or training, any number of times" },
        { .name = "json", .kind = CLI_FLAG, .to = &json, .help = "the result as a JSON object" },
        CLI_QUIET(&quiet),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n > 0)
        return cli_fail(self, CLI_MISUSED, "takes no argument '%.40s'", argv[0]);
    if (!out)
        return cli_fail(self, CLI_MISUSED, "needs --out DIR, the folder of the run");

    snip_status st;
    model_config m;
    train_config c;
    train_watch watch = { .line = show_line,
                          .warn = show_warning,
                          .context = &quiet,
                          .log_seconds = 5,
                          .save_seconds = 60 * (double)minutes,
                          .save_steps = every,
                          .check_pairs = pairs,
                          .memory = read_bytes(memory),
                          .threads = cli_threads(threads) };
    train_start start = { .resume = resume,
                          .overwrite = overwrite,
                          .taken = "; --resume goes on with it, --overwrite starts anew",
                          .taken_model = "; --overwrite replaces it" };
    if (overwrite && resume)
        return cli_fail(self, CLI_MISUSED, "--overwrite starts anew, --resume goes on with a run");
    start.any_warmup = warmup == 0;
    if (init && resume)
        return cli_fail(self, CLI_MISUSED, "--init starts a new run, --resume goes on with one");
    if (watch.memory == 0)
        return cli_fail(self, CLI_MISUSED, "--memory wants a size such as 4G, not '%.40s'", memory);
    if (model_config_preset(&m, model_presets[preset], &st) != SNIP_OK ||
        train_config_preset(&c, model_presets[preset], &st) != SNIP_OK)
        return cli_fail(self, CLI_MISUSED, "%s", st.msg);
    if (init && read_init(&start, init, a, &st) != SNIP_OK)
        return cli_fail_status(self, &st);
    if (init)
        m = start.init->config;
    data_own_laws own;
    if (formulas) {
        snip_code read = read_formulas(&own, formulas, a, &st);
        if (read != SNIP_OK)
            return cli_fail_status(self, &st);
        c.own = &own;
        c.formulas = own.hash;
        c.formulas_share = 0.3;
    }
    size_t usual_points = c.phase[TRAIN_MAIN].points;
    c.seed = seed;
    c.steps = steps ? steps : c.steps;
    c.batch = batch ? batch : c.batch;
    c.warmup = warmup ? warmup : c.warmup;
    c.phase[TRAIN_MAIN].stage = stage;
    snip_code good = SNIP_OK;
    if (rate)
        good = train_config_set(&c, "lr", rate, &st);
    if (good == SNIP_OK && clip)
        good = train_config_set(&c, "clip", clip, &st);
    for (size_t i = 0; i < sets.count && good == SNIP_OK; i++) {
        good = set_key(&m, &c, sets.value[i], &st);
        start.any_warmup = start.any_warmup && strncmp(sets.value[i], "warmup=", 7) != 0;
        if (good == SNIP_OK && init)
            good = check_kept(&start.init->config, &m, sets.value[i], init, &st);
    }
    if (m.forms && c.forms_share == 0) /* a model of both views learns both, unless told a share */
        c.forms_share = 0.5;
    if (start.any_warmup)
        train_shorten_warmup(&c);
    /* Points per table in training are at most the model's, unless asked for. */
    for (int i = 0; i < TRAIN_PHASES; i++)
        if (c.phase[i].points == usual_points && usual_points > (size_t)m.points)
            c.phase[i].points = (size_t)m.points;
    if (good == SNIP_OK)
        good = model_config_check(&m, &st);
    if (good == SNIP_OK)
        good = train_config_check(&c, &m, &st);
    if (good != SNIP_OK)
        return cli_fail(self, CLI_MISUSED, "%s", st.msg);

    watch.stop = cli_stop_on_signals();
    uint64_t done = 0;
    watch.ranks = ranks_start();
    int me = ranks_me(watch.ranks);
    if (me)
        quiet = 1;
    good = train_run(&m, &c, out, &start, &watch, &done, &st);
    if (!quiet && isatty(STDERR_FILENO))
        fputc('\n', stderr);
    if (good != SNIP_OK) {
        code = cli_fail_status(self, &st);
        ranks_abort(watch.ranks, code); /* the others may be waiting for us */
        ranks_stop(watch.ranks);
        return code;
    }
    ranks_stop(watch.ranks);
    int finished = done >= c.steps;
    code = CLI_DONE;
    if (!me && json) {
        code = cli_print_json(self, json_pack("{s:I,s:I,s:b,s:o}", "steps", (json_int_t)done,
                                              "samples", (json_int_t)train_samples(&c, done),
                                              "finished", finished, "out", text_json(out)));
    } else if (!me) {
        printf("%s after %llu of %llu steps; the model is %s/model.safetensors\n",
               finished ? "done" : "stopped", (unsigned long long)done, (unsigned long long)c.steps,
               out);
        code = cli_finish(self);
    }
    return code == CLI_DONE && !finished ? CLI_STOPPED : code;
}

static int command(const cli_command *self, int argc, char **argv)
{
    arena *a = arena_new(0); /* for the weights of --init */
    int code = a ? run(self, argc, argv, a) : cli_fail(self, CLI_FAILED, "out of memory");
    arena_free(a);
    return code;
}

const cli_command cli_train_command = {
    .name = "train",
    .summary = "train a model",
    .arguments = "--out DIR [options]",
    .about = "Trains the two encoders on samples drawn as it goes, so data never repeat. Ctrl-C "
             "saves and stops (so do SIGTERM and SIGHUP; the exit status is then 3); --resume goes "
             "on with exactly the same run. The folder holds model.safetensors (the weights), "
             "state.safetensors (what --resume needs) and log.jsonl. --init starts a new run from "
             "the weights of a model file; the preset is then for the training alone.",
    .examples =
        "snip train --preset tiny --stage S5 --steps 2000 --out runs/tiny\n"
        "snip train --preset tiny --stage S5 --steps 2000 --out runs/tiny --resume\n"
        "snip train --preset small --set d=96 --set channels=3 --set heads=3 --out runs/d96\n"
        "snip train --init runs/tiny/model.safetensors --preset tiny --lr 1e-4 --out runs/tuned\n"
        "snip train --init models/default.safetensors --formulas field.txt --out runs/field\n",
    .run = command,
};
