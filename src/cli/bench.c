/* bench.c - `snip bench`: runs the benchmarks of bench/. */
#include <string.h>

#include "bench.h"
#include "cli/task.h"
#include "train/trainer.h"

/* What the options choose. */
typedef struct request {
    double seconds;
    const char *preset, *stage;
    size_t batch, rows;
    int threads;
    const char *out, *model;
    const char *trained; /* the same, but NULL unless one was named */
} request;

static json_t *run_gen(const request *q, snip_status *st)
{
    (void)st;
    return bench_gen(q->seconds);
}

static json_t *run_eval(const request *q, snip_status *st)
{
    (void)st;
    return bench_eval(q->seconds);
}

static json_t *run_fit_eval(const request *q, snip_status *st)
{
    (void)st;
    return bench_fit_eval(q->seconds);
}

static json_t *run_train(const request *q, snip_status *st)
{
    return bench_train(q->preset, q->stage, q->batch, q->threads, q->seconds, q->trained, st);
}

static json_t *run_rank(const request *q, snip_status *st)
{
    (void)st;
    return bench_rank(q->seconds, q->threads);
}

static json_t *run_find(const request *q, snip_status *st)
{
    (void)st;
    return bench_find(q->seconds, q->rows, q->threads);
}

static json_t *run_batch(const request *q, snip_status *st)
{
    return bench_batch(q->preset, q->stage, q->batch, q->threads, q->out, st);
}

static json_t *run_embed(const request *q, snip_status *st)
{
    return bench_embed(q->preset, q->stage, q->batch, q->threads, q->seconds, q->model, st);
}

static json_t *run_cure(const request *q, snip_status *st)
{
    return bench_cure(q->model, q->threads, st);
}

static const struct {
    const char *name;
    json_t *(*run)(const request *q, snip_status *st);
    int only_by_name; /* not part of `snip bench` without a name */
} benches[] = { { "gen", run_gen, 0 },           { "eval", run_eval, 0 },
                { "train", run_train, 0 },       { "rank", run_rank, 0 },
                { "find", run_find, 0 },         { "embed", run_embed, 0 },
                { "fit-eval", run_fit_eval, 0 }, { "batch", run_batch, 1 },
                { "cure", run_cure, 1 } };
enum { BENCHES = sizeof benches / sizeof *benches };

/* Runs one benchmark and prints its figures. */
static int run(const cli_command *self, int i, const request *q, int json)
{
    if (benches[i].run == run_batch && !q->out)
        return cli_fail(self, CLI_MISUSED, "batch wants --out FILE");
    if (benches[i].run == run_cure && !q->model)
        return cli_fail(self, CLI_MISUSED, "cure wants --model FILE");
    snip_status st;
    status_nomem(&st);
    json_t *figures = benches[i].run(q, &st);
    if (!figures)
        return cli_fail_status(self, &st);
    if (json)
        return cli_print_json(self, figures);
    json_dumpf(figures, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(figures);
    return CLI_DONE;
}

static int command(const cli_command *self, int argc, char **argv)
{
    uint64_t seconds = 3, batch = 0, rows = 1000000, threads = 0;
    int json = 0, code, found = 0, preset = 2, stage = 5, named = 0;
    const char *out = NULL, *model = NULL;
    const cli_option options[] = {
        CLI_OPTION(COUNT, "seconds", &seconds, "S", "how long to measure", .low = 1, .high = 3600),
        CLI_OPTION(CHOICE, "preset", &preset, "NAME", "train, embed, batch: the model",
                   .choices = model_presets, .given = &named),
        CLI_OPTION(CHOICE, "stage", &stage, "S", "train, embed, batch: the objective",
                   .choices = train_stage_names, .given = &named),
        CLI_OPTION(COUNT, "batch-size", &batch, "B",
                   "train, embed, batch: samples per step; 0: the preset's", .high = 100000),
        CLI_OPTION(COUNT, "rows", &rows, "N", "find: vectors to search", .low = 1,
                   .high = 1000000000),
        CLI_OPTION(COUNT, "threads", &threads, "T", "train, rank, find, batch: cores; 0: all",
                   .high = LIMITS_THREADS),
        CLI_OPTION(TEXT, "out", &out, "FILE", "batch: the file to write"),
        CLI_OPTION(
            TEXT, "model", &model, "FILE",
            "train: a model, with the settings of its training, in place of a preset; embed: "
            "a model to measure as well; cure: the model; the last two have the default of "
            "snip rank"),
        CLI_SWITCH("json", &json, "each object on one line, with all digits"),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n > 1)
        return cli_wants(self, "one benchmark");
    if (n == 1 && (strcmp(argv[0], "explain") == 0 || strcmp(argv[0], "candidates") == 0))
        return cli_fail(self, CLI_MISUSED,
                        "%s measures quality, not speed: snip evaluate --suite %s --model FILE",
                        argv[0], argv[0]);
    if (n == 1 && strcmp(argv[0], "train") == 0 && model && named)
        return cli_fail(
            self, CLI_MISUSED,
            "train takes preset and stage from --model; give either the one or the other");
    arena *a = arena_new(0);
    if (!a)
        return cli_fail(self, CLI_FAILED, "out of memory");
    const request q = { .seconds = (double)seconds,
                        .preset = model_presets[preset],
                        .stage = train_stage_names[stage],
                        .batch = batch,
                        .rows = rows,
                        .threads = cli_threads(threads),
                        .out = out,
                        .model = cli_model_path(model, a),
                        .trained = model };
    code = CLI_DONE;
    for (int i = 0; i < BENCHES && code == CLI_DONE; i++) {
        if (n == 1 && strcmp(argv[0], benches[i].name) != 0)
            continue;
        found = 1;
        if (n == 1 || !benches[i].only_by_name)
            code = run(self, i, &q, json);
    }
    arena_free(a);
    if (code != CLI_DONE)
        return code;
    if (!found)
        return cli_fail(self, CLI_MISUSED, "there is no benchmark '%.40s'; see snip bench --help",
                        argv[0]);
    return cli_finish(self);
}

const cli_command cli_bench_command = {
    .name = "bench",
    .summary = "measure the speed of a part on this machine",
    .arguments = "[gen|eval|fit-eval|train|rank|find|embed|batch|cure] [options]",
    .about =
        "gen: accepted samples per second on one core, tokens included, by part. eval: nanoseconds "
        "per node and point, beside a plain loop over the C library's functions in the same run. "
        "fit-eval: formulas per second in the inner loop of snip fit, on one core. train: a "
        "training step by part, beside this machine's rate on the same matrix products. rank: all "
        "pairs ranked in both directions, beside the products alone. find: the 20 nearest of many "
        "vectors, beside reading the same bytes. embed: formulas and tables embedded per second. "
        "batch: writes a training batch, weights and their loss to a file, for other "
        "implementations of the step. cure: how often snip explain undoes a planted error.",
    .examples =
        "snip bench gen\n"
        "snip bench eval --json\n"
        "snip bench train --preset small --stage S5\n"
        "snip bench train --model models/default.safetensors --threads 1\n"
        "snip bench batch --preset tiny --stage S5 --batch-size 8 --out batch.safetensors\n",
    .run = command,
};
