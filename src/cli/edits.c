/* edits.c - `snip edits`: controlled edits of a formula, or the paper's pool of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/streams.h"
#include "cli/cli.h"
#include "data/edits.h"
#include "data/gen.h"
#include "data/points.h"
#include "eval/measures.h"

/* The formula's points and values. */
typedef struct setting {
    expr e;
    expr_names names;
    const double **x;
    double *y;
    size_t rows;
} setting;

/* Root mean square of a - b over the standard deviation of a. */
static double distance(const double *a, const double *b, size_t n)
{
    double mean, variance, square = 0;
    numbers_moments(a, n, &mean, &variance);
    for (size_t i = 0; i < n; i++)
        square += (a[i] - b[i]) * (a[i] - b[i]) / (double)n;
    /* a constant varies by rounding only */
    return sqrt(square) / (sqrt(variance) > 1e-12 * fabs(mean) ? sqrt(variance) : 1);
}

/* Points from the table, else from the generator. Returns 0 after a message. */
static int load_setting(const cli_command *self, setting *s, const char *formula, const char *file,
                        const table_options *how, uint64_t points, uint64_t seed, arena *a)
{
    snip_status st;
    *s = (setting){ .rows = points };
    if (file) {
        table t;
        const char **names;
        if (table_read(&t, file, how, a, &st) != SNIP_OK)
            return cli_fail_status(self, &st), 0;
        if (!table_inputs(&t, &names, &s->x, a))
            return cli_fail(self, CLI_FAILED, "out of memory"), 0;
        if (t.inputs == 0)
            return cli_fail(self, CLI_FAILED, "%s: has no input columns", file), 0;
        cli_table_notes(self, &t, how, a);
        s->names = (expr_names){ names, t.inputs };
        s->rows = t.rows;
    }
    if (!cli_formula(self, &s->e, formula, file ? &s->names : NULL, a))
        return 0;
    if (!file) {
        size_t inputs = expr_inputs(s->e), dim = inputs ? inputs : 1;
        if (dim > DATA_DIMS_MAX)
            return cli_fail(self, CLI_FAILED,
                            "the formula has %zu inputs: give their values with --table", inputs),
                   0;
        int clusters = 0, uniform = 0;
        rng r;
        streams_rng(&r, seed, STREAMS_SHOWN_POINTS, 0);
        double *values = arena_array(a, dim * points, sizeof *values);
        s->x = arena_array(a, dim, sizeof *s->x);
        if (!values || !s->x ||
            !data_points_draw(&r, (int)dim, points, values, points, &clusters, &uniform, a))
            return cli_fail(self, CLI_FAILED, "out of memory"), 0;
        for (size_t j = 0; j < dim; j++)
            s->x[j] = values + j * points;
    }
    s->y = arena_array(a, s->rows, sizeof *s->y);
    size_t finite = s->y ? expr_eval(s->e, s->x, s->rows, s->y, a) : (size_t)-1;
    if (finite == (size_t)-1)
        return cli_fail(self, CLI_FAILED, "out of memory"), 0;
    if (finite < s->rows)
        return cli_fail(self, CLI_FAILED, "the formula is not finite at %zu of %zu point%s%s",
                        s->rows - finite, s->rows, text_plural(s->rows),
                        file ? "" : "; give others with --table"),
               0;
    if (!data_values_fit(s->y, s->rows))
        return cli_fail(self, CLI_FAILED,
                        "the formula's values reach 1e103, beyond the model's tokens"),
               0;
    return 1;
}

/* One variant as text and as JSON. Returns 0 when memory is out. */
static int show_variant(const setting *s, const data_variant *v, json_t *list, int json, arena *a)
{
    double d = distance(s->y, v->y, s->rows);
    const char *what = data_edit_describe(s->e, &v->edit, &s->names, a);
    const char *infix = expr_print(v->e, SNIP_INFIX, &s->names, json ? 0 : 5, a);
    const char *prefix = expr_print(v->e, SNIP_PREFIX, NULL, 0, a);
    if (!what || !infix || !prefix)
        return 0;
    if (json)
        json_array_append_new(list, json_pack("{s:o,s:s,s:o,s:o}", "edit", text_json(what),
                                              "prefix", prefix, "infix", text_json(infix),
                                              "distance", text_json_real(d)));
    else
        printf("%-22s %10.4g  %s\n", data_families[v->edit.family].name, d, infix);
    return 1;
}

static int list_edits(const cli_command *self, const setting *s, int family, uint64_t most,
                      uint64_t seed, int json, arena *a)
{
    json_t *families = json_object();
    data_variant *kept = arena_array(a, most, sizeof *kept);
    if (!json)
        printf("%-22s %10s  %s\n", "family", "distance", "variant");
    for (int f = 0; f < DATA_FAMILIES && kept; f++) {
        if (family != DATA_FAMILIES && family != f)
            continue;
        rng r;
        streams_rng(&r, seed, STREAMS_SHOWN_EDITS, (uint64_t)f);
        json_t *list = json_array();
        size_t n =
            data_edits_evaluation(kept, s->e, (data_family)f, most, s->x, s->rows, s->y, &r, a);
        int good = n != (size_t)-1;
        for (size_t k = 0; good && k < n; k++)
            good = show_variant(s, &kept[k], list, json, a);
        json_object_set_new(families, data_families[f].name, list);
        if (!good)
            kept = NULL;
    }
    if (!kept) {
        json_decref(families);
        return cli_fail(self, CLI_FAILED, "out of memory");
    }
    if (!json) {
        json_decref(families);
        return cli_finish(self);
    }
    return cli_print_json(self, json_pack("{s:s,s:I,s:o}", "prefix",
                                          expr_print(s->e, SNIP_PREFIX, NULL, 0, a), "points",
                                          (json_int_t)s->rows, "families", families));
}

/* The paper's count of a family's pool. */
static double paper_count(const char *family, const char *what)
{
    char key[80];
    snprintf(key, sizeof key, "pool.%s.%s", family, what);
    const eval_measure *m = eval_measure_printed(key);
    return m ? m->paper[EVAL_PAPER_SNIPPP] : NAN;
}

/* The pool that `snip evaluate --suite edits` scores, beside the paper's. */
static int show_pool(const cli_command *self, uint64_t targets, uint64_t seed, int json)
{
    json_t *o = eval_pool_json(&(eval_how){ .seed = seed, .targets = targets });
    if (!o)
        return cli_fail(self, CLI_FAILED, "out of memory");
    if (!json)
        printf("%lld of %llu targets are used\n\n%-22s %24s %24s\n%-22s %8s %7s %7s %8s %7s %7s\n",
               (long long)json_integer_value(json_object_get(o, "used")),
               (unsigned long long)targets, "", "here", "paper", "family", "targets", "mean",
               "median", "targets", "mean", "median");
    for (int f = 0; f < DATA_FAMILIES; f++) {
        const char *name = data_families[f].name;
        json_t *one = json_object_get(json_object_get(o, "families"), name);
        double all = paper_count(name, "targets"), mean = paper_count(name, "mean"),
               median = paper_count(name, "median");
        if (json)
            json_object_set_new(
                one, "paper",
                json_pack("{s:f,s:f,s:f}", "targets", all, "mean", mean, "median", median));
        else
            printf("%-22s %8lld %7.1f %7.1f %8.0f %7.1f %7.1f\n", name,
                   (long long)json_integer_value(json_object_get(one, "targets")),
                   json_number_value(json_object_get(one, "mean")),
                   json_number_value(json_object_get(one, "median")), all, mean, median);
    }
    if (json)
        return cli_print_json(self, o);
    json_decref(o);
    return cli_finish(self);
}

static int command(const cli_command *self, int argc, char **argv)
{
    const char *families[DATA_FAMILIES + 2];
    for (int f = 0; f < DATA_FAMILIES; f++)
        families[f] = data_families[f].name;
    families[DATA_FAMILIES] = "all";
    families[DATA_FAMILIES + 1] = NULL;
    int family = DATA_FAMILIES, json = 0, pool = 0, code;
    const char *file = NULL;
    table_options how = { .hints = &cli_table_hints };
    uint64_t most = DATA_VARIANTS_MAX, seed = 0, points = DATA_POINTS, targets = 128;
    const cli_option options[] = {
        CLI_OPTION(CHOICE, "family", &family, "NAME",
                   "unary_swap, variable_substitution, binary_swap, tree_reshaping, "
                   "operand_reordering, subtree_rewriting or all",
                   .choices = families),
        CLI_OPTION(TEXT, "table", &file, "FILE", "points to compare behaviours on"),
        CLI_OPTION(TEXT, "target", &how.target, "NAME", "column of the table that is not an input"),
        CLI_TABLE_COLUMNS(&how),
        CLI_SWITCH("drop-nan", &how.drop_invalid,
                   "leave out rows with missing or non-finite cells"),
        CLI_OPTION(COUNT, "points", &points, "P", "generated points, without --table", .low = 2,
                   .high = DATA_POINTS_MAX),
        CLI_OPTION(COUNT, "max", &most, "N", "candidates per family", .low = 1, .high = 10000),
        CLI_OPTION(COUNT, "seed", &seed, "K", "seed of points and choices", .high = INT64_MAX),
        CLI_SWITCH("pool", &pool, "counts of the controlled-edit pool instead"),
        CLI_OPTION(COUNT, "targets", &targets, "N", "with --pool: held-out targets", .low = 1,
                   .high = 1000000),
        CLI_SWITCH("json", &json, "one JSON object"),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n != (pool ? 0 : 1))
        return cli_wants(self, "%s", pool ? "no formula with --pool" : "one formula");
    if (pool)
        return show_pool(self, targets, seed, json);
    arena *a = arena_new(0);
    setting s;
    if (!a)
        return cli_fail(self, CLI_FAILED, "out of memory");
    code = load_setting(self, &s, argv[0], file, &how, points, seed, a)
               ? list_edits(self, &s, family, most, seed, json, a)
               : CLI_FAILED;
    arena_free(a);
    return code;
}

const cli_command cli_edits_command = {
    .name = "edits",
    .summary = "list controlled edits of a formula that change its behaviour",
    .arguments = "FORMULA [options] | --pool [options]",
    .about = "Lists the variants of a formula that the evaluation keeps: finite on the points, "
             "different from the original and from each other. `distance` is the root mean square "
             "change of the values in units of the original's standard deviation. Candidates are "
             "those of the paper's evaluation: swaps at one place of each operator, 64 draws of a "
             "substitution and of a rewriting, all rotations and exchanges. Points come from "
             "--table, else from the generator. With --pool it builds the paper's controlled-edit "
             "pool from held-out samples and prints its counts beside the paper's.",
    .examples = "snip edits 'sin(x0) - 0.5*x1' --family unary_swap\n"
                "snip edits 'a*b - c' --family all --table data.csv --json\n"
                "snip edits --pool --targets 128\n",
    .run = command,
};
