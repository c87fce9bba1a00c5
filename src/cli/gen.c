/* gen.c - `snip gen`: samples and statistics of the generator. */
#include <omp.h>
#include <stdlib.h>

#include "base/progress.h"
#include "cli/cli.h"
#include "data/gen.h"
#include "data/stats.h"

enum { CHUNK = 256 }; /* samples made in parallel before they are printed in order */

static json_t *sample_json(const data_sample *s, arena *a)
{
    const char *prefix = expr_print(s->e, SNIP_PREFIX, NULL, 0, a);
    const char *infix = expr_print(s->e, SNIP_INFIX, NULL, 0, a);
    if (!prefix || !infix)
        return NULL;
    json_t *x = json_array(), *y = json_array();
    for (size_t i = 0; i < s->points; i++) {
        json_t *point = json_array();
        for (int j = 0; j < s->dim; j++)
            json_array_append_new(point, json_real(s->x[j][i]));
        json_array_append_new(x, point);
        json_array_append_new(y, json_real(s->y[i]));
    }
    return json_pack("{s:s,s:s,s:i,s:o,s:o}", "prefix", prefix, "infix", infix, "dim", s->dim, "x",
                     x, "y", y);
}

/* The line to print for one sample, allocated; NULL when memory is out. */
static char *sample_line(const data_sample *s, uint64_t index, int json, arena *a)
{
    char *line = NULL;
    if (json) {
        json_t *o = sample_json(s, a);
        line = o ? json_dumps(o, JSON_REAL_PRECISION(17) | JSON_COMPACT) : NULL;
        json_decref(o);
    } else {
        const char *infix = expr_print(s->e, SNIP_INFIX, NULL, 5, a);
        if (infix && asprintf(&line, "%8llu %3d  %s", (unsigned long long)index, s->dim, infix) < 0)
            line = NULL;
    }
    return line;
}

static int print_samples(const cli_command *self, const data_gen *gen, uint64_t seed, int stream,
                         uint64_t first, uint64_t count, int json, int quiet)
{
    progress p;
    progress_start(&p, "samples", count, quiet);
    if (!json)
        printf("   index dim  formula\n");
    int code = CLI_DONE;
    /* Samples of many points are large as text; a few of them keep all cores busy, too. */
    const uint64_t most = gen->points > 10000 ? CHUNK / 16 : CHUNK;
    for (uint64_t done = 0; done < count && code == CLI_DONE; done += most) {
        char *lines[CHUNK] = { NULL };
        int n = (int)(count - done < most ? count - done : most);
#pragma omp parallel for schedule(dynamic)
        for (int k = 0; k < n; k++) {
            arena *a = arena_new(0);
            data_sample s;
            uint64_t index = first + done + (uint64_t)k;
            if (a && data_sample_draw(&s, gen, seed, (rng_stream)stream, index, a) == SNIP_OK)
                lines[k] = sample_line(&s, index, json, a);
            arena_free(a);
        }
        for (int k = 0; k < n; k++) {
            if (!lines[k] && code == CLI_DONE)
                code = cli_fail(self, CLI_FAILED, "out of memory");
            if (code == CLI_DONE && puts(lines[k]) == EOF)
                code = cli_finish(self);
            free(lines[k]);
        }
        progress_at(&p, done + (uint64_t)n);
    }
    progress_end(&p);
    return code == CLI_DONE ? cli_finish(self) : code;
}

/* A histogram as a row of counts. */
static void print_histogram(const char *name, json_t *histogram)
{
    printf("%s\n ", name);
    for (void *at = json_object_iter(histogram); at; at = json_object_iter_next(histogram, at))
        printf(" %s:%lld", json_object_iter_key(at),
               (long long)json_integer_value(json_object_iter_value(at)));
    printf("\n");
}

static int print_stats(const cli_command *self, const data_gen *gen, uint64_t seed, int stream,
                       uint64_t count, int json, int quiet)
{
    arena *a = arena_new(0);
    data_stats stats;
    progress p;
    progress_start(&p, "samples", count, quiet);
    snip_code made =
        a ? data_stats_gather(&stats, gen, seed, (rng_stream)stream, count, &p, a) : SNIP_NOMEM;
    progress_end(&p);
    arena_free(a);
    if (made != SNIP_OK)
        return cli_fail(self, CLI_FAILED, "out of memory");
    if (json)
        return cli_print_json(self, stats.json);
    printf("%lld samples from %lld attempts (%.1f %% accepted)\n\n",
           (long long)json_integer_value(json_object_get(stats.json, "accepted")),
           (long long)json_integer_value(json_object_get(stats.json, "attempts")),
           100 * json_real_value(json_object_get(stats.json, "acceptance_rate")));
    json_t *all = json_object_get(stats.json, "histograms");
    for (void *at = json_object_iter(all); at; at = json_object_iter_next(all, at))
        print_histogram(json_object_iter_key(at), json_object_iter_value(at));
    print_histogram("occurrences", json_object_get(stats.json, "operator_and_variable_counts"));
    print_histogram("expressions containing",
                    json_object_get(stats.json, "expressions_containing_operator"));
    json_decref(stats.json);
    return cli_finish(self);
}

int cli_gen(const cli_command *self, int argc, char **argv)
{
    static const char *const streams[] = { "train", "held-out", "validation", NULL };
    uint64_t seed = 0, count = 10, first = 0, dims = DATA_DIMS_MAX, points = DATA_POINTS;
    int stream = RNG_TRAIN, json = 0, stats = 0, quiet = 0, code;
    const cli_option options[] = {
        { .name = "seed",
          .kind = CLI_COUNT,
          .to = &seed,
          .value = "K",
          .high = INT64_MAX,
          .help = "seed" },
        { .name = "stream",
          .kind = CLI_CHOICE,
          .to = &stream,
          .value = "NAME",
          .choices = streams,
          .help = "train, held-out or validation: they never meet" },
        { .name = "first",
          .kind = CLI_COUNT,
          .to = &first,
          .value = "I",
          .high = UINT64_MAX / 2,
          .help = "index of the first sample" },
        { .name = "count",
          .kind = CLI_COUNT,
          .to = &count,
          .value = "N",
          .low = 1,
          .high = 1000000000000,
          .help = "how many" },
        { .name = "dims",
          .kind = CLI_COUNT,
          .to = &dims,
          .value = "D",
          .low = 1,
          .high = DATA_DIMS_MAX,
          .help = "largest input dimension" },
        { .name = "points",
          .kind = CLI_COUNT,
          .to = &points,
          .value = "P",
          .low = 2,
          .high = DATA_POINTS_MAX,
          .help = "points per sample" },
        { .name = "stats",
          .kind = CLI_FLAG,
          .to = &stats,
          .help = "statistics instead of the samples" },
        { .name = "json",
          .kind = CLI_FLAG,
          .to = &json,
          .help = "an object a line: prefix, infix, dim, x (a list per point), y" },
        CLI_QUIET(&quiet),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n > 0)
        return cli_fail(self, CLI_MISUSED, "takes no argument '%.40s'", argv[0]);
    if (stats && first)
        return cli_fail(self, CLI_MISUSED, "--stats starts at sample 0, so --first has no use");
    if (stats && count > 100000000)
        return cli_fail(self, CLI_MISUSED, "--stats takes at most 100000000 samples");
    data_gen gen = { .dims = (int)dims, .points = points };
    return stats ? print_stats(self, &gen, seed, stream, count, json, quiet)
                 : print_samples(self, &gen, seed, stream, first, count, json, quiet);
}
