/* bench.c - `snip bench`: runs the benchmarks of bench/. */
#include <string.h>

#include "bench.h"
#include "cli/cli.h"

static const struct {
    const char *name;
    json_t *(*run)(double seconds);
} benches[] = { { "gen", bench_gen }, { "eval", bench_eval } };
enum { BENCHES = sizeof benches / sizeof *benches };

static void print_figures(json_t *figures)
{
    for (void *at = json_object_iter(figures); at; at = json_object_iter_next(figures, at)) {
        json_t *value = json_object_iter_value(at);
        if (json_is_string(value))
            printf("%-40s %s\n", json_object_iter_key(at), json_string_value(value));
        else if (json_is_number(value))
            printf("%-40s %.6g\n", json_object_iter_key(at), json_number_value(value));
    }
    printf("\n");
}

int cli_bench(const cli_command *self, int argc, char **argv)
{
    uint64_t seconds = 3;
    int json = 0, code, found = 0;
    const cli_option options[] = {
        { .name = "seconds",
          .kind = CLI_COUNT,
          .to = &seconds,
          .value = "S",
          .low = 1,
          .high = 3600,
          .help = "how long to measure" },
        { .name = "json", .kind = CLI_FLAG, .to = &json, .help = "a JSON object a line" },
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n > 1)
        return cli_fail(self, CLI_MISUSED, "wants one benchmark; see snip bench --help");
    for (int i = 0; i < BENCHES; i++) {
        if (n == 1 && strcmp(argv[0], benches[i].name) != 0)
            continue;
        found = 1;
        json_t *figures = benches[i].run((double)seconds);
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
        return cli_fail(self, CLI_MISUSED, "there is no benchmark '%.40s' (gen, eval)", argv[0]);
    return cli_finish(self);
}
