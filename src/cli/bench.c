/* bench.c - `snip bench`: runs the benchmarks of bench/. */
#include <omp.h>
#include <string.h>

#include "bench.h"
#include "cli/cli.h"

/* What the options choose. */
typedef struct request {
    double seconds;
    const char *preset, *stage;
    size_t batch;
    int threads;
} request;

static json_t *run_gen(const request *q)
{
    return bench_gen(q->seconds);
}

static json_t *run_eval(const request *q)
{
    return bench_eval(q->seconds);
}

static json_t *run_train(const request *q)
{
    return bench_train(q->preset, q->stage, q->batch, q->threads, q->seconds);
}

static const struct {
    const char *name;
    json_t *(*run)(const request *q);
} benches[] = { { "gen", run_gen }, { "eval", run_eval }, { "train", run_train } };
enum { BENCHES = sizeof benches / sizeof *benches };

static void print_figures(json_t *figures)
{
    for (void *at = json_object_iter(figures); at; at = json_object_iter_next(figures, at)) {
        json_t *value = json_object_iter_value(at);
        if (json_is_string(value))
            printf("%-40s %s\n", json_object_iter_key(at), json_string_value(value));
        else if (json_is_number(value))
            printf("%-40s %.6g\n", json_object_iter_key(at), json_number_value(value));
        else if (json_is_object(value))
            for (void *in = json_object_iter(value); in; in = json_object_iter_next(value, in))
                printf("  %-38s %.6g\n", json_object_iter_key(in),
                       json_number_value(json_object_iter_value(in)));
    }
    printf("\n");
}

int cli_bench(const cli_command *self, int argc, char **argv)
{
    static const char *const presets[] = { "paper", "base", "small", "tiny", NULL };
    static const char *const stages[] = { "S0", "S1", "S2", "S3", "S4", "S5", NULL };
    uint64_t seconds = 3, batch = 0, threads = 0;
    int json = 0, code, found = 0, preset = 2, stage = 5;
    const cli_option options[] = {
        { .name = "seconds",
          .kind = CLI_COUNT,
          .to = &seconds,
          .value = "S",
          .low = 1,
          .high = 3600,
          .help = "how long to measure" },
        { .name = "preset",
          .kind = CLI_CHOICE,
          .to = &preset,
          .value = "NAME",
          .choices = presets,
          .help = "train: the model" },
        { .name = "stage",
          .kind = CLI_CHOICE,
          .to = &stage,
          .value = "S",
          .choices = stages,
          .help = "train: the objective" },
        { .name = "batch-size",
          .kind = CLI_COUNT,
          .to = &batch,
          .value = "B",
          .high = 100000,
          .help = "train: samples per step; 0: the preset's" },
        { .name = "threads",
          .kind = CLI_COUNT,
          .to = &threads,
          .value = "T",
          .high = 256,
          .help = "train: cores; 0: all" },
        { .name = "json", .kind = CLI_FLAG, .to = &json, .help = "a JSON object a line" },
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n > 1)
        return cli_fail(self, CLI_MISUSED, "wants one benchmark; see snip bench --help");
    const request q = { .seconds = (double)seconds,
                        .preset = presets[preset],
                        .stage = stages[stage],
                        .batch = batch,
                        .threads = threads ? (int)threads : omp_get_max_threads() };
    for (int i = 0; i < BENCHES; i++) {
        if (n == 1 && strcmp(argv[0], benches[i].name) != 0)
            continue;
        found = 1;
        json_t *figures = benches[i].run(&q);
        if (!figures)
            return cli_fail(self, CLI_FAILED, "out of memory");
        if (json) {
            code = cli_print_json(self, figures);
            if (code != CLI_DONE)
                return code;
        } else {
            print_figures(figures);
            json_decref(figures);
        }
    }
    if (!found)
        return cli_fail(self, CLI_MISUSED, "there is no benchmark '%.40s' (gen, eval, train)",
                        argv[0]);
    return cli_finish(self);
}
