/* corpora.c - `snip corpora`: the formulas people test on, and points for them. */
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "data/corpora.h"
#include "data/tokens.h"

/* The corpora's names, each with what goes between it and the next; a macro, since a command's
 * arguments are a constant. */
#define FOLLOWED_BAR(name, label)   #name "|"
#define FOLLOWED_COMMA(name, label) #name ", "

/* What the command was asked for. */
typedef struct request {
    int sampling, json;
    uint64_t points, seed;
    const char *sample; /* id of the one formula to print points of */
    const data_vocab *v;
} request;

static int print_sample(const cli_command *self, const data_corpus *c, size_t i, const request *q,
                        arena *a)
{
    const data_formula *f = &c->formula[i];
    const double **x;
    double *y;
    size_t rows;
    snip_status st;
    if (data_formula_sample(&x, &y, &rows, c, i,
                            &(data_design){ (data_sampling)q->sampling, q->points, q->seed }, a,
                            &st) != SNIP_OK)
        return cli_fail_status(self, &st);
    for (size_t j = 0; j < f->names.count; j++)
        printf("%s,", text_shown(f->names.name[j], a));
    printf("target\n");
    for (size_t r = 0; r < rows; r++) {
        char buf[32];
        for (size_t j = 0; j < f->names.count; j++)
            printf("%s,", cli_full_number(buf, x[j][r]));
        printf("%s\n", cli_full_number(buf, y[r]));
    }
    return cli_finish(self);
}

/* One formula's line. Counts it in *usable. */
static snip_code show_formula(const data_corpus *c, size_t i, const request *q, json_t *list,
                              size_t *usable, arena *a, snip_status *st)
{
    const data_formula *f = &c->formula[i];
    const double **x;
    double *y;
    size_t rows;
    snip_code code = data_formula_sample(
        &x, &y, &rows, c, i, &(data_design){ (data_sampling)q->sampling, q->points, q->seed }, a,
        st);
    if (code != SNIP_OK)
        return code;
    expr normal;
    snip_status why = { 0 };
    code = data_formula_usable(&normal, f, y, rows, q->v, a, &why);
    if (code == SNIP_NOMEM)
        return status_nomem(st);
    int good = code == SNIP_OK;
    size_t tokens = good ? data_tokens_count(normal) : 0;
    *usable += (size_t)good;
    if (q->json) {
        const char *prefix = good ? expr_print(normal, SNIP_PREFIX, NULL, 0, a) : NULL;
        json_t *o = json_pack("{s:o,s:o,s:o,s:o,s:I,s:I,s:b}", "corpus", text_json(c->name), "id",
                              text_json(f->id), "group", text_json(f->group), "formula",
                              text_json(f->text), "inputs", (json_int_t)f->names.count, "points",
                              (json_int_t)rows, "usable", good);
        json_object_set_new(o, "same_as",
                            strcmp(f->same_as, "-") ? text_json(f->same_as) : json_null());
        if (good) {
            json_object_set_new(o, "normal", json_string(prefix));
            json_object_set_new(o, "tokens", json_integer((json_int_t)tokens));
        } else {
            json_object_set_new(o, "why", text_json(why.msg));
        }
        json_array_append_new(list, o);
    } else {
        char note[16] = "";
        if (good)
            snprintf(note, sizeof note, "%zu", tokens);
        printf("%-9s %-16s %6zu %6zu %6s  %s%s\n", c->name, text_shown(f->id, a), f->names.count,
               rows, note, good ? text_shown(f->text, a) : "not usable: ", good ? "" : why.msg);
    }
    return SNIP_OK;
}

static int show_corpora(const cli_command *self, const data_corpus *corpora, int count,
                        const request *q, arena *a)
{
    json_t *list = json_array(), *summary = json_object();
    if (!q->json)
        printf("%-9s %-16s %6s %6s %6s  %s\n", "corpus", "id", "inputs", "points", "tokens",
               "formula");
    size_t usable[DATA_CORPORA] = { 0 };
    snip_status st;
    for (int k = 0; k < count; k++) {
        for (size_t i = 0; i < corpora[k].count; i++) {
            arena_pos mark = arena_mark(a);
            snip_code code = show_formula(&corpora[k], i, q, list, &usable[k], a, &st);
            arena_reset(a, mark);
            if (code != SNIP_OK) {
                json_decref(list);
                json_decref(summary);
                return cli_fail_status(self, &st);
            }
        }
        json_object_set_new(summary, corpora[k].name,
                            json_pack("{s:I,s:I}", "formulas", (json_int_t)corpora[k].count,
                                      "usable", (json_int_t)usable[k]));
    }
    if (q->json)
        return cli_print_json(self, json_pack("{s:o,s:o}", "summary", summary, "formulas", list));
    json_decref(list);
    json_decref(summary);
    printf("\n");
    for (int k = 0; k < count; k++)
        printf("%s: %zu of %zu usable\n", corpora[k].name, usable[k], corpora[k].count);
    return cli_finish(self);
}

static int show_one(const cli_command *self, const data_corpus *corpora, int count,
                    const request *q, arena *a)
{
    for (int k = 0; k < count; k++)
        for (size_t i = 0; i < corpora[k].count; i++)
            if (strcmp(corpora[k].formula[i].id, q->sample) == 0)
                return print_sample(self, &corpora[k], i, q, a);
    return cli_fail(self, CLI_FAILED, "there is no formula '%.40s'", q->sample);
}

static int command(const cli_command *self, int argc, char **argv)
{
    static const char *const samplings[] = { "range", "published", NULL };
    request q = { .points = DATA_POINTS };
    const char *file = NULL;
    int code;
    const cli_option options[] = {
        CLI_OPTION(CHOICE, "sampling", &q.sampling, "HOW",
                   "range: uniform in the ranges; published: as published", .choices = samplings),
        CLI_OPTION(COUNT, "points", &q.points, "P", "points per formula (at most, if published)",
                   .low = 2, .high = DATA_POINTS_MAX),
        CLI_OPTION(COUNT, "seed", &q.seed, "K", "seed of the points", .high = INT64_MAX),
        CLI_OPTION(TEXT, "sample", &q.sample, "ID",
                   "print this formula's points and values as CSV"),
        CLI_OPTION(TEXT, "file", &file, "FILE", "a corpus of your own instead (docs/formats.md)"),
        CLI_SWITCH("json", &q.json, "one JSON object: summary and formulas"),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n > (file ? 0 : 1))
        return cli_wants(self, "at most one corpus");
    if (q.sample && q.json)
        return cli_fail(self, CLI_MISUSED, "--sample prints CSV; it takes no --json");
    const char *name = n ? argv[0] : "all";
    int all = strcmp(name, "all") == 0, count = 0;
    arena *a = arena_new(0);
    q.v = a ? data_vocab_new(DATA_DIMS_MAX, a) : NULL;
    if (!q.v)
        return cli_fail(self, CLI_FAILED, "out of memory");
    snip_status st;
    data_corpus corpora[DATA_CORPORA];
    snip_code loaded = SNIP_OK;
    if (file) {
        loaded = data_corpus_read(&corpora[count++], file, a, &st);
    } else {
        for (int k = 0; k < DATA_CORPORA && loaded == SNIP_OK; k++)
            if (all || strcmp(name, data_corpus_names[k]) == 0)
                loaded = data_corpus_builtin(&corpora[count++], data_corpus_names[k], a, &st);
    }
    if (loaded != SNIP_OK)
        code = cli_fail_status(self, &st);
    else if (count == 0)
        code =
            cli_fail(self, CLI_MISUSED,
                     "there is no corpus '%.40s' (" DATA_CORPUS_LIST(FOLLOWED_COMMA) "all)", name);
    else
        code = q.sample ? show_one(self, corpora, count, &q, a)
                        : show_corpora(self, corpora, count, &q, a);
    arena_free(a);
    return code;
}

const cli_command cli_corpora_command = {
    .name = "corpora",
    .summary = "the formulas of Feynman, Classic and Strogatz",
    .arguments = "[" DATA_CORPUS_LIST(FOLLOWED_BAR) "all] [options]",
    .about = "Samples points for each formula and says whether the model can use it, and if not "
             "why. With --sample ID it prints that formula's points and values as a CSV table.",
    .examples = "snip corpora\n"
                "snip corpora classic --sampling published --json\n"
                "snip corpora feynman --sample I.6.2 --points 50 > gauss.csv\n",
    .run = command,
};
