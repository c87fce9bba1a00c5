/* gen.c - `snip gen`: samples and statistics of the generator. */
#include <omp.h>
#include <stdlib.h>

#include "base/progress.h"
#include "cli/cli.h"
#include "data/gen.h"
#include "data/laws.h"
#include "data/gen_stats.h"

enum { CHUNK = 256 }; /* samples made in parallel before they are printed in order */

/* What is drawn. */
typedef struct request {
    data_gen gen;
    uint64_t seed, first, count;
    int stream, laws, json, quiet;
} request;

/* `law` is NULL for a sample of the SNIP generator. */
static json_t *sample_json(const data_sample *s, const data_law *law, arena *a)
{
    const char *prefix = expr_print(s->e, SNIP_PREFIX, NULL, 0, a);
    const char *infix = expr_print(s->e, SNIP_INFIX, NULL, 0, a);
    const char *raw = law ? expr_print(law->e, SNIP_INFIX, NULL, 0, a) : NULL;
    if (!prefix || !infix || (law && !raw))
        return NULL;
    json_t *x = json_array(), *y = json_array();
    for (size_t i = 0; i < s->points; i++) {
        json_t *point = json_array();
        for (int j = 0; j < s->dim; j++)
            json_array_append_new(point, json_real(s->x[j][i]));
        json_array_append_new(x, point);
        json_array_append_new(y, json_real(s->y[i]));
    }
    json_t *o = json_pack("{s:s,s:s,s:i,s:o,s:o}", "prefix", prefix, "infix", infix, "dim", s->dim,
                          "x", x, "y", y);
    if (o && law) {
        json_t *mean = json_array(), *deviation = json_array();
        for (int j = 0; j < law->dim; j++) {
            json_array_append_new(mean, json_real(law->mean[j]));
            json_array_append_new(deviation, json_real(law->deviation[j]));
        }
        json_object_set_new(o, "law", json_string(raw));
        json_object_set_new(o, "mean", mean);
        json_object_set_new(o, "deviation", deviation);
    }
    return o;
}

/* The line to print for one sample, allocated; NULL when memory is out. */
static char *sample_line(const data_sample *s, const data_law *law, uint64_t index, int json,
                         arena *a)
{
    char *line = NULL;
    if (json) {
        json_t *o = sample_json(s, law, a);
        line = o ? json_dumps(o, JSON_REAL_PRECISION(17) | JSON_COMPACT) : NULL;
        json_decref(o);
    } else {
        const char *infix = expr_print(law ? law->e : s->e, SNIP_INFIX, NULL, 5, a);
        if (infix && asprintf(&line, "%8llu %3d  %s", (unsigned long long)index, s->dim, infix) < 0)
            line = NULL;
    }
    return line;
}

/* Draws one sample or law and returns its line; NULL when memory is out. */
static char *draw_line(const request *q, uint64_t index)
{
    data_sample s;
    data_law law;
    char *line = NULL;
    arena *a = arena_new(0);
    snip_code code =
        !a        ? SNIP_NOMEM
        : q->laws ? data_law_draw(&s, &law, &q->gen, q->seed, (rng_stream)q->stream, index, a)
                  : data_sample_draw(&s, &q->gen, q->seed, (rng_stream)q->stream, index, a);
    if (code == SNIP_OK)
        line = sample_line(&s, q->laws ? &law : NULL, index, q->json, a);
    arena_free(a);
    return line;
}

static int print_samples(const cli_command *self, const request *q)
{
    progress p;
    progress_start(&p, q->laws ? "laws" : "samples", q->count, cli_progress(q->quiet));
    if (!q->json)
        printf("   index dim  formula\n");
    int code = CLI_DONE;
    /* Samples of many points are large as text; a few of them keep all cores busy, too. */
    const uint64_t most = q->gen.points > 10000 ? CHUNK / 16 : CHUNK;
    for (uint64_t done = 0; done < q->count && code == CLI_DONE; done += most) {
        char *lines[CHUNK] = { NULL };
        int n = (int)(q->count - done < most ? q->count - done : most);
#pragma omp parallel for schedule(dynamic)
        for (int k = 0; k < n; k++)
            lines[k] = draw_line(q, q->first + done + (uint64_t)k);
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

/* How the SNIP generator's samples are, or laws; NULL when memory is out. */
static json_t *gather(const request *q)
{
    progress p;
    json_t *o = NULL;
    progress_start(&p, q->laws ? "laws" : "samples", q->count, cli_progress(q->quiet));
    if (q->laws) {
        data_law_stats(&o, &q->gen, q->seed, (rng_stream)q->stream, q->count, &p);
    } else {
        arena *a = arena_new(0);
        data_gen_stats stats;
        if (a && data_gen_stats_gather(&stats, &q->gen, q->seed, (rng_stream)q->stream, q->count,
                                       &p, a) == SNIP_OK)
            o = stats.json;
        arena_free(a);
    }
    progress_end(&p);
    return o;
}

static int print_stats(const cli_command *self, const request *q)
{
    json_t *o = gather(q);
    if (!o)
        return cli_fail(self, CLI_FAILED, "out of memory");
    if (q->json)
        return cli_print_json(self, o);
    printf("%lld %s from %lld attempts (%.1f %% accepted)\n",
           (long long)json_integer_value(json_object_get(o, "accepted")),
           q->laws ? "laws" : "samples",
           (long long)json_integer_value(json_object_get(o, "attempts")),
           100 * json_real_value(json_object_get(o, "acceptance_rate")));
    if (q->laws)
        printf("%.1f %% nearly linear, %.1f %% of the inputs positive\n",
               100 * json_real_value(json_object_get(o, "nearly_linear")),
               100 * json_real_value(json_object_get(o, "positive_inputs")));
    printf("\n");
    json_t *all = json_object_get(o, "histograms");
    for (void *at = json_object_iter(all); at; at = json_object_iter_next(all, at))
        print_histogram(json_object_iter_key(at), json_object_iter_value(at));
    print_histogram("occurrences", json_object_get(o, q->laws ? "operator_counts"
                                                              : "operator_and_variable_counts"));
    print_histogram(q->laws ? "laws containing" : "expressions containing",
                    json_object_get(o, q->laws ? "laws_containing_operator"
                                               : "expressions_containing_operator"));
    json_decref(o);
    return cli_finish(self);
}

static int command(const cli_command *self, int argc, char **argv)
{
    static const char *const streams[] = { "train", "held-out", "validation", NULL };
    uint64_t dims = DATA_DIMS_MAX, points = DATA_POINTS, quantities = 0;
    request q = { .count = 10, .stream = RNG_TRAIN };
    int stats = 0, code;
    const cli_option options[] = {
        CLI_OPTION(COUNT, "seed", &q.seed, "K", "seed", .high = INT64_MAX),
        CLI_OPTION(CHOICE, "stream", &q.stream, "NAME",
                   "train, held-out or validation: they never meet", .choices = streams),
        CLI_OPTION(COUNT, "first", &q.first, "I", "index of the first sample",
                   .high = UINT64_MAX / 2),
        CLI_OPTION(COUNT, "count", &q.count, "N", "how many", .low = 1, .high = 1000000000000),
        CLI_OPTION(COUNT, "dims", &dims, "D", "largest input dimension", .low = 1,
                   .high = DATA_DIMS_MAX),
        CLI_OPTION(COUNT, "points", &points, "P", "points per sample", .low = 2,
                   .high = DATA_POINTS_MAX),
        CLI_SWITCH("laws", &q.laws, "short laws over raw ranges, of at most 6 inputs"),
        CLI_OPTION(COUNT, "quantities", &quantities, "PERCENT",
                   "laws: share whose constants are inputs, too", .high = 100),
        CLI_SWITCH("stats", &stats, "statistics instead of the samples"),
        CLI_SWITCH(
            "json", &q.json,
            "an object a line: prefix, infix, dim, x, y; for laws also law, mean, deviation"),
        CLI_QUIET(&q.quiet),
    };
    if (!cli_parse_none(self, options, sizeof options / sizeof *options, argc, argv, &code))
        return code;
    if (stats && q.first)
        return cli_fail(self, CLI_MISUSED, "--stats starts at sample 0, so --first has no use");
    if (stats && q.count > 100000000)
        return cli_fail(self, CLI_MISUSED, "--stats takes at most 100000000 samples");
    if (quantities && !q.laws)
        return cli_fail(self, CLI_MISUSED, "--quantities is for --laws");
    q.gen =
        (data_gen){ .dims = (int)dims, .points = points, .quantities = (double)quantities / 100 };
    return stats ? print_stats(self, &q) : print_samples(self, &q);
}

const cli_command cli_gen_command = {
    .name = "gen",
    .summary = "draw expressions and points from the SNIP generator, or laws",
    .arguments = "[options]",
    .about =
        "Draws samples as SNIP does: an expression, input points, and its values there. Sample "
        "i of a stream under a seed is always the same, on any machine and with any number of "
        "threads. --laws draws short laws instead, as people write and measure them: raw units, "
        "mostly positive ranges, 1 to 6 inputs. It shows the law itself; its sample (--json) is "
        "what the model reads of it, in inputs of mean 0 and deviation 1: x_raw = mean + "
        "deviation * x.",
    .examples = "snip gen --count 5\n"
                "snip gen --laws --count 20\n"
                "snip gen --seed 7 --count 1000 --dims 10 --points 200 --json > samples.jsonl\n"
                "snip gen --stats --count 100000 --seed 1 --json\n"
                "snip gen --stats --laws --count 10000\n",
    .run = command,
};
