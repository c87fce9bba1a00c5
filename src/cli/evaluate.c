/* evaluate.c - `snip evaluate`: the paper's evaluation for one model or several. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "eval/evaluate.h"
#include "eval/measures.h"
#include "eval/plot.h"
#include "eval/report.h"

static void show_number(const json_t *v, int percent, char *buf, size_t room)
{
    double x = json_number_value(v);
    if (!json_is_number(v))
        snprintf(buf, room, "-");
    else if (percent)
        snprintf(buf, room, "%.1f", 100 * x);
    else
        snprintf(buf, room, fabs(x) >= 10 ? "%.0f" : "%.3f", x);
}

/* A model's figure with its interval where there is room for it. */
static void print_cell(const json_t *o, const eval_measure *m, int width, int interval)
{
    int percent = m->format == PAGE_PERCENT;
    char value[16], lo[16], hi[16], cell[64];
    show_number(json_object_get(o, "value"), percent, value, sizeof value);
    show_number(json_object_get(o, "lo"), percent, lo, sizeof lo);
    show_number(json_object_get(o, "hi"), percent, hi, sizeof hi);
    snprintf(cell, sizeof cell, interval ? "%s [%s, %s]" : "%s", value, lo, hi);
    printf(" %*s", width, cell);
}

static const json_t *figure_of(const json_t *models, size_t k, const eval_measure *m)
{
    return eval_json_at(json_object_get(json_array_get(models, k), "suites"), m->path);
}

/* One line per figure, one column per model, and the paper's two models. */
static void print_table(json_t *models)
{
    size_t n = json_array_size(models);
    int width = n > 2 ? 10 : 24;
    printf("%-42s", "");
    for (size_t k = 0; k < n; k++)
        printf(" %*.*s", width, width,
               json_string_value(json_object_get(json_array_get(models, k), "name")));
    printf(" %8s %8s\n", "SNIP*", "SNIP++*");
    for (const eval_measure *m = eval_measures; m->path; m++) {
        int any = 0;
        for (size_t k = 0; k < n && m->line; k++)
            any |= figure_of(models, k, m) != NULL;
        if (!any)
            continue;
        printf("%-42s", m->line);
        for (size_t k = 0; k < n; k++)
            print_cell(figure_of(models, k, m), m, width, n <= 2);
        for (int k = 0; k < EVAL_PAPERS; k++) {
            char cell[16] = "";
            if (m->paper[k] != 0)
                snprintf(cell, sizeof cell, m->format == PAGE_PERCENT ? "%.1f" : "%.2f",
                         m->format == PAGE_PERCENT ? 100 * m->paper[k] : m->paper[k]);
            printf(" %8s", cell);
        }
        printf("\n");
    }
    printf("* the paper's, among 100,000 pairs. Retrieval in %%; edits and subtrees: percentile "
           "rank, chance .5.\n");
}

/* The table of measures for scripts; docs/formats.md names its columns. */
static int list_measures(const cli_command *self)
{
    puts("path\tformat\tSNIP\tSNIP++\tkey\tname");
    static const char *const formats[] = { [PAGE_SHARE] = "share",
                                           [PAGE_PERCENT] = "percent",
                                           [PAGE_PLAIN] = "number",
                                           [PAGE_COUNT] = "count" };
    for (const eval_measure *m = eval_measures; m->path; m++) {
        printf("%s\t%s", m->path, formats[m->format]);
        for (int k = 0; k < EVAL_PAPERS; k++)
            m->paper[k] != 0 ? printf("\t%g", m->paper[k]) : printf("\t-");
        printf("\t%s\t%s\n", m->key ? m->key : m->path,
               m->summary ? m->summary
               : m->row   ? m->row
               : m->line  ? m->line + strspn(m->line, " ")
                          : "-");
    }
    return cli_finish(self);
}

static void print_errors(const cli_command *self, json_t *models)
{
    for (size_t k = 0; k < json_array_size(models); k++) {
        json_t *m = json_array_get(models, k), *errors = json_object_get(m, "errors");
        for (void *at = json_object_iter(errors); at; at = json_object_iter_next(errors, at))
            fprintf(stderr, "snip %s: %s: suite %s: %s\n", self->name,
                    json_string_value(json_object_get(m, "name")), json_object_iter_key(at),
                    json_string_value(json_object_iter_value(at)));
    }
}

/* Every model after the first is what the first is compared with. */
static json_t *compare_all(const eval_result *r, size_t n, uint64_t seed)
{
    json_t *list = json_array();
    for (size_t k = 1; k < n; k++) {
        json_t *o = eval_compare(r[0].edits, r[k].edits, r[0].subtrees, r[k].subtrees, seed);
        json_object_set(o, "a", json_object_get(r[0].o, "name"));
        json_object_set(o, "b", json_object_get(r[k].o, "name"));
        json_array_append_new(list, o);
    }
    return list;
}

static int make_folder(const cli_command *self, const char *path)
{
    if (!file_make_folders(path))
        return cli_fail(self, CLI_FAILED, "%s: cannot make this folder: %s", path, strerror(errno)),
               0;
    return 1;
}

static const char *file_in(const char *folder, const char *name, arena *a)
{
    text t = { .a = a };
    text_add(&t, "%s/%s", folder, name);
    return text_end(&t);
}

/* Makes the folders and looks whether the results can be written there, before half an hour of work
 * that would be lost. */
static int prepare(const cli_command *self, const char *out, const char *dump, arena *a)
{
    const char *json = file_in(out, "results.json", a), *page = file_in(out, "report.html", a);
    if (!json || !page)
        return cli_fail(self, 0, "out of memory");
    return make_folder(self, out) && (!dump || make_folder(self, dump)) &&
           cli_can_write(self, json) && cli_can_write(self, page);
}

/* results.json and report.html. */
static int write_results(const cli_command *self, json_t *results, const char *out, arena *a)
{
    const char *json = file_in(out, "results.json", a), *page = file_in(out, "report.html", a);
    snip_status st;
    if (!json || !page)
        return cli_fail(self, CLI_FAILED, "out of memory");
    file_out o;
    int good = file_out_open(&o, json);
    if (good) {
        good = json_dumpf(results, o.f, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0;
        good = file_out_close(&o, good);
    }
    if (!good)
        return cli_fail(self, CLI_FAILED, "%s: cannot write: %s; the results go to standard output",
                        json, strerror(errno));
    if (eval_report(results, page, &st) != SNIP_OK)
        return cli_fail_status(self, &st);
    return CLI_DONE;
}

static json_t *start_results(int argc, char **argv, const eval_how *how, arena *a)
{
    text command = { .a = a };
    text_add(&command, "snip evaluate");
    for (int i = 0; i < argc; i++)
        text_add(&command, " %s", argv[i]);
    const char *line = text_end(&command);
    char when[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return json_pack("{s:o,s:s,s:I,s:s,s:I,s:f,s:I,s:I,s:I,s:I,s:I,s:f,s:s?}", "command",
                     text_json(line ? line : ""), "version", SNIP_VERSION, "seed",
                     (json_int_t)how->seed, "started", when, "pairs", (json_int_t)how->pairs,
                     "noise", how->noise, "rows", (json_int_t)how->rows, "targets",
                     (json_int_t)how->targets, "subtree_variants",
                     (json_int_t)how->subtree_variants, "problems", (json_int_t)how->problems,
                     "library", (json_int_t)how->library, "quantities", how->quantities, "corpus",
                     how->corpus ? how->corpus->name : NULL);
}

/* Opens all models. Returns how many are open; fewer than asked after a message. */
static size_t open_models(const cli_command *self, eval_result *r, const cli_list *paths)
{
    snip_status st;
    for (size_t k = 0; k < paths->count; k++)
        if (eval_open(&r[k], paths->value[k], &st) != SNIP_OK) {
            cli_fail_status(self, &st);
            return k;
        }
    return paths->count;
}

/* Runs all models and adds them to the results. Returns an exit code. */
static int run_models(const cli_command *self, json_t *results, eval_result *r, size_t n,
                      unsigned mask, const char *dump, int threads, const eval_how *how)
{
    json_t *models = json_array();
    int failed = 0;
    snip_status st;
    for (size_t k = 0; k < n; k++) {
        if (eval_run(&r[k], mask, dump, threads, how, &st) != SNIP_OK) {
            json_decref(models);
            return cli_fail_status(self, &st);
        }
        json_array_append(models, r[k].o);
        failed |= r[k].failed;
    }
    json_object_set_new(results, "models", models);
    json_object_set_new(results, "comparisons", compare_all(r, n, how->seed));
    json_object_set_new(results, "paper", eval_paper_json());
    return failed ? CLI_FAILED : CLI_DONE;
}

/* What the command was asked for. */
typedef struct request {
    const cli_command *self;
    cli_list models;
    const char *out, *dump, *corpus;
    uint64_t pairs, targets, variants, seed, threads, noise, rows, problems, library, quantities;
    unsigned suites;
    int json, quiet, measures;
    arena *a;
} request;

/* Tells of finished results: files, then what is printed. Returns an exit code. */
static int finish(const request *q, json_t *results, int suites_failed)
{
    json_t *list = json_object_get(results, "models");
    int code = write_results(q->self, results, q->out, q->a);
    if (q->json || code != CLI_DONE) { /* what is not on the disk is here */
        int printed = cli_print_json(q->self, json_incref(results));
        code = code == CLI_DONE ? printed : code;
    } else {
        print_table(list);
        printf("%s/results.json and %s/report.html written\n", q->out, q->out);
        code = cli_finish(q->self);
    }
    print_errors(q->self, list);
    return code == CLI_DONE ? suites_failed : code;
}

/* Runs what was asked for; argv[0..argc) is the command line as it was. Returns an exit code. */
static int run(const request *q, int argc, char **argv)
{
    eval_how how = { .seed = q->seed,
                     .pairs = q->pairs,
                     .noise = (double)q->noise / 100,
                     .rows = q->rows,
                     .targets = q->targets,
                     .subtree_variants = q->variants,
                     .problems = q->problems,
                     .library = q->library,
                     .quantities = (double)q->quantities / 100,
                     .ranks = ranks_start() };
    data_corpus corpus;
    snip_status st;
    if (q->corpus && data_corpus_read(&corpus, q->corpus, q->a, &st) != SNIP_OK) {
        ranks_stop(how.ranks);
        return cli_fail_status(q->self, &st);
    }
    how.corpus = q->corpus ? &corpus : NULL;
    int me = ranks_me(how.ranks);
    double start = clock_now();
    json_t *results = start_results(argc, argv, &how, q->a);
    how.show = cli_progress(q->quiet || me != 0);
    /* Whatever can be found wrong before the work begins, and before anything is written. */
    eval_result opened[CLI_LIST_MAX];
    size_t open = open_models(q->self, opened, &q->models);
    int code = open == q->models.count ? CLI_DONE : CLI_FAILED;
    if (code == CLI_DONE && q->dump && ranks_count(how.ranks) > 1)
        code = cli_fail(q->self, CLI_MISUSED, "--dump needs a single process, not mpirun");
    if (code == CLI_DONE && me == 0 && !prepare(q->self, q->out, q->dump, q->a))
        code = CLI_FAILED;
    if (ranks_max(how.ranks, code) == CLI_DONE) {
        code = run_models(q->self, results, opened, open, q->suites, me == 0 ? q->dump : NULL,
                          cli_threads(q->threads), &how);
        if (!json_object_get(results, "models"))
            ranks_abort(how.ranks, code); /* the others may be waiting for us */
    }
    while (open-- > 0)
        eval_result_free(&opened[open]);
    ranks_stop(how.ranks);
    if (me == 0 && json_object_get(results, "models")) {
        json_object_set_new(results, "seconds", json_real(clock_now() - start));
        code = finish(q, results, code);
    }
    json_decref(results);
    return code;
}

/* The names that --suite takes: those of the table, then older ones; and what the help says. */
static const char *suite_choices(const char *names[2 * EVAL_SUITES + 1], arena *a)
{
    text all = { .a = a }, asked = { .a = a };
    size_t n = EVAL_SUITES;
    for (int k = 0; k < EVAL_SUITES; k++) {
        text_add(&all, "%s%s", k ? ", " : "", eval_suites[k].name);
        if (eval_suites[k].asked)
            text_add(&asked, "%s%s", asked.length ? " and " : "", eval_suites[k].name);
        names[k] = eval_suites[k].name;
        if (eval_suites[k].also)
            names[n++] = eval_suites[k].also;
    }
    names[n] = NULL;
    text_add(&all, "; unless named, %s are left out", text_end(&asked));
    text help = { .a = a };
    text_add(&help, "only these: %s", text_end(&all));
    return text_end(&help);
}

/* The suites behind a choice of those names; all that need not be named where none is. */
static unsigned suites_chosen(unsigned choice)
{
    unsigned mask = 0;
    int older = EVAL_SUITES;
    for (int k = 0; k < EVAL_SUITES; k++) {
        mask |= choice & 1u << k;
        if (eval_suites[k].also && choice >> older++ & 1)
            mask |= 1u << k;
        if (!choice && !eval_suites[k].asked)
            mask |= 1u << k;
    }
    return mask;
}

/* As long as its list of options. */
static int command(const cli_command *self, int argc, char **argv)
{
    request q = { .self = self,
                  .out = "evaluation",
                  .pairs = 10000,
                  .targets = 128,
                  .variants = 16,
                  .problems = 150,
                  .library = 20000,
                  .a = arena_new(0) };
    int code, count = argc;
    const char *names[2 * EVAL_SUITES + 1];
    const char *suites = q.a ? suite_choices(names, q.a) : NULL;
    /* What was asked, before parsing moves it about. */
    char **asked = suites ? arena_copy(q.a, argv, (size_t)(argc + 1) * sizeof *argv) : NULL;
    if (!asked) {
        arena_free(q.a);
        return cli_fail(self, CLI_FAILED, "out of memory");
    }
    const cli_option options[] = {
        CLI_OPTION(LIST, "model", &q.models, "FILE",
                   "a model; give several to put them side by side"),
        CLI_OPTION(CHOICES, "suite", &q.suites, "NAME", suites, .choices = names),
        CLI_OPTION(COUNT, "pairs", &q.pairs, "N",
                   "held-out pairs of the retrieval; the paper has 100000", .low = 2,
                   .high = 10000000),
        CLI_OPTION(COUNT, "noise", &q.noise, "PERCENT",
                   "retrieval: noise on y, in % of its deviation", .high = 1000),
        CLI_OPTION(COUNT, "rows", &q.rows, "N", "retrieval: rows of a table; 0: all 200",
                   .high = DATA_POINTS),
        CLI_OPTION(COUNT, "targets", &q.targets, "N",
                   "expressions that are edited; the paper has 128", .low = 1, .high = 100000),
        CLI_OPTION(COUNT, "subtree-variants", &q.variants, "N",
                   "most edits of a family per subtree; the paper has 64", .low = 1,
                   .high = DATA_VARIANTS_MAX),
        CLI_OPTION(COUNT, "problems", &q.problems, "N",
                   "forms: laws to recognise; up to twice as many of the corpora", .low = 1,
                   .high = 100000),
        CLI_OPTION(COUNT, "library", &q.library, "N",
                   "forms: size of the library that they are looked for in, at least 100",
                   .low = 100, .high = 10000000),
        CLI_OPTION(COUNT, "quantities", &q.quantities, "PERCENT",
                   "forms: share of the laws whose constants are inputs, too", .high = 100),
        CLI_OPTION(TEXT, "corpus", &q.corpus, "FILE",
                   "forms: formulas of this file in place of the corpora's (docs/formats.md)"),
        CLI_OPTION(COUNT, "seed", &q.seed, "K", "seed of the held-out samples",
                   .high = 9000000000000000),
        CLI_OPTION(TEXT, "out", &q.out, "DIR", "folder for results.json and report.html"),
        CLI_OPTION(TEXT, "dump", &q.dump, "DIR",
                   "write all embeddings there, as .npy with an index"),
        CLI_OPTION(COUNT, "threads", &q.threads, "T", "0: all cores", .high = LIMITS_THREADS),
        CLI_SWITCH("measures", &q.measures,
                   "list what is measured, with the paper's numbers, and exit"),
        CLI_SWITCH("json", &q.json, "print results.json, no table"),
        CLI_QUIET(&q.quiet),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    q.suites = suites_chosen(q.suites);
    if (n > 0)
        code = cli_takes_none(self, argv[0]);
    else if (n == 0 && q.measures)
        code = list_measures(self);
    else if (n == 0 && q.models.count == 0)
        code = cli_fail(self, CLI_MISUSED, "needs --model FILE");
    else if (n == 0)
        code = run(&q, count, asked);
    arena_free(q.a);
    return code;
}

const cli_command cli_evaluate_command = {
    .name = "evaluate",
    .summary = "measure how well a model's space fits formulas to data",
    .arguments = "--model FILE [--model FILE ...] [options] | --measures",
    .about =
        "Runs the paper's evaluation on held-out samples: retrieval among many pairs, geometry of "
        "the space, controlled edits of expressions and of subtrees, formulas of three published "
        "corpora, and four probes. The suite forms, which is ours, asks whether the space tells "
        "which form of a law suits a table before its constants are fitted; explain and "
        "candidates measure what snip explain and snip rank find. Prints a table and writes "
        "results.json and report.html, a page with all figures. "
        "With several models the first is compared with each of the others.",
    .examples =
        "snip evaluate --model runs/tiny/model.safetensors\n"
        "snip evaluate --model runs/tiny/model.safetensors --suite global --pairs 100000\n"
        "snip evaluate --model a.safetensors --model b.safetensors --out comparison\n"
        "snip evaluate --model runs/tiny/model.safetensors --suite edits --dump embeddings\n"
        "snip evaluate --model runs/tiny/model.safetensors --suite forms --problems 20\n"
        "snip evaluate --model models/default.safetensors --suite explain --suite candidates\n",
    .run = command,
};
