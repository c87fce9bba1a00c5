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
#include "eval/paper.h"
#include "eval/report.h"

/* The rows of the table: a path into a model's suites, as in results.json. */
static const struct {
    const char *key, *shown;
    int percent;
} rows[] = {
    { "global.f2y.r1", "retrieval  formula -> data  R@1", 1 },
    { "global.f2y.r10", "                           R@10", 1 },
    { "global.f2y.ndcg10", "                           nDCG@10", 1 },
    { "global.f2y.mrr", "                           MRR", 1 },
    { "global.f2y.median_rank", "                           median rank", 0 },
    { "global.y2f.r1", "           data -> formula  R@1", 1 },
    { "global.y2f.r10", "                           R@10", 1 },
    { "global.y2f.ndcg10", "                           nDCG@10", 1 },
    { "global.y2f.mrr", "                           MRR", 1 },
    { "global.y2f.median_rank", "                           median rank", 0 },
    { "geometry.gap", "modality gap", 0 },
    { "edits.average.f2y", "edits      formula -> data", 0 },
    { "edits.average.y2f", "           data -> formula", 0 },
    { "edits.seen.f2y", "  seen     formula -> data", 0 },
    { "edits.seen.y2f", "           data -> formula", 0 },
    { "edits.held_out.f2y", "  held out formula -> data", 0 },
    { "edits.held_out.y2f", "           data -> formula", 0 },
    { "subtrees.average.f2y", "subtrees   formula -> data", 0 },
    { "subtrees.average.y2f", "           data -> formula", 0 },
    { "ood.pooled.paper.global.f2y", "corpora    retrieval, formula -> data", 0 },
    { "ood.pooled.paper.global.y2f", "           retrieval, data -> formula", 0 },
    { "ood.pooled.paper.edits.f2y", "           edits, formula -> data", 0 },
    { "ood.pooled.paper.edits.y2f", "           edits, data -> formula", 0 },
    { "ood.pooled.consistent.global.f2y", "  consistent retrieval, f -> data", 0 },
    { "ood.pooled.consistent.global.y2f", "           retrieval, data -> f", 0 },
    { "ood.pooled.consistent.edits.f2y", "           edits, formula -> data", 0 },
    { "ood.pooled.consistent.edits.y2f", "           edits, data -> formula", 0 },
    { "forms.retrieval.all.f2y.ndcg10", "forms      form -> data     nDCG@10", 1 },
    { "forms.retrieval.all.f2y.r10", "                           R@10", 1 },
    { "forms.retrieval.all.y2f.ndcg10", "           data -> form     nDCG@10", 1 },
    { "forms.retrieval.all.y2f.r10", "                           R@10", 1 },
    { "forms.problems.laws.rows200.place.similarity", "laws       place of 7, by similarity", 0 },
    { "forms.problems.laws.rows200.place.correlation", "           by correlation, not fitted", 0 },
    { "forms.problems.laws.rows200.place.size", "           by size", 0 },
    { "forms.problems.laws.rows200.percentile.similarity", "           among its edits", 0 },
    { "forms.problems.laws.rows200.percentile.correlation", "           by correlation", 0 },
    { "forms.problems.laws.rows200.spearman.similarity", "  Spearman similarity and R2", 0 },
    { "forms.problems.laws.rows200.spearman.correlation", "           correlation", 0 },
    { "forms.problems.laws.rows200.spearman.size", "           size", 0 },
    { "forms.problems.laws.rows200.spearman.constants", "           constants", 0 },
    { "forms.problems.laws.rows200.spearman.without", "           both without the space", 0 },
    { "forms.problems.laws.rows200.spearman.with", "           both with the space", 0 },
    { "forms.problems.laws.rows200.spearman_same_size.similarity", "  same size similarity", 0 },
    { "forms.problems.laws.rows200.spearman_same_size.correlation", "           correlation", 0 },
    { "forms.problems.laws.rows30_noise5.place.similarity", "30 rows, 5 % noise: place of 7", 0 },
    { "forms.problems.laws.rows30_noise5.spearman.similarity", "           Spearman", 0 },
    { "forms.problems.laws.rows30_noise5.spearman.correlation", "           correlation", 0 },
    { "forms.problems.corpora.rows200.place.similarity", "corpora    place of 7, by similarity",
      0 },
    { "forms.problems.corpora.rows200.place.correlation", "           by correlation", 0 },
    { "forms.problems.corpora.rows200.spearman.similarity", "  Spearman similarity and R2", 0 },
    { "forms.problems.corpora.rows200.spearman.correlation", "           correlation", 0 },
    { "forms.problems.corpora.rows200.spearman.without", "           both without the space", 0 },
    { "forms.problems.corpora.rows200.spearman.with", "           both with the space", 0 },
    { "forms.library.k20.best.similarity", "library    digits of 20, by similarity", 0 },
    { "forms.library.k20.best.correlation", "           by correlation, not fitted", 0 },
    { "forms.library.k20.best.size", "           by size", 0 },
    { "forms.library.k20.best.shuffled", "           by shuffled vectors", 0 },
    { "forms.library.k20.best.without", "           both without the space", 0 },
    { "forms.library.k20.best.with", "           both with the space", 0 },
    { "forms.invariance.y_factor.mean", "invariance |change| with y*1e4", 0 },
    { "forms.invariance.y_offset.mean", "           y*1e-6 + 3", 0 },
    { "forms.invariance.x_large.mean", "           x*1000", 0 },
    { "forms.invariance.columns.mean", "           columns reversed", 0 },
    { "forms.invariance.reordered.mean", "           sums reordered", 0 },
    { "forms.copies.snip.f2y", "copies     SNIP, formula -> data", 0 },
    { "forms.copies.snip.y2f", "           data -> formula", 0 },
    { "forms.copies.laws.f2y", "           laws, formula -> data", 0 },
    { "forms.copies.laws.y2f", "           data -> formula", 0 },
    { "probes.consequences.auc", "preserving against changing edits (AUC)", 0 },
    { "probes.rewritings.average", "equivalent rewritings", 0 },
    { "probes.taylor.average", "Taylor approximations (similarity)", 0 },
};

/* The object at a path of keys with dots between them. */
static json_t *at_path(json_t *o, const char *path)
{
    while (o && *path) {
        size_t n = strcspn(path, ".");
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        o = json_object_get(o, key);
        path += n + (path[n] == '.');
    }
    return o;
}

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
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        int any = 0;
        for (size_t k = 0; k < n; k++)
            any |=
                at_path(json_object_get(json_array_get(models, k), "suites"), rows[r].key) != NULL;
        if (!any)
            continue;
        printf("%-42s", rows[r].shown);
        for (size_t k = 0; k < n; k++) {
            json_t *o = at_path(json_object_get(json_array_get(models, k), "suites"), rows[r].key);
            char value[16], lo[16], hi[16], cell[64];
            show_number(json_object_get(o, "value"), rows[r].percent, value, sizeof value);
            show_number(json_object_get(o, "lo"), rows[r].percent, lo, sizeof lo);
            show_number(json_object_get(o, "hi"), rows[r].percent, hi, sizeof hi);
            snprintf(cell, sizeof cell, n > 2 ? "%s" : "%s [%s, %s]", value, lo, hi);
            printf(" %*s", width, cell);
        }
        const eval_paper *p = eval_paper_find(rows[r].key);
        for (int k = 0; k < 2; k++) {
            double v = !p ? NAN : k ? p->snippp : p->snip;
            char cell[16] = "";
            if (!isnan(v))
                snprintf(cell, sizeof cell, rows[r].percent ? "%.1f" : "%.2f",
                         rows[r].percent ? 100 * v : v);
            printf(" %8s", cell);
        }
        printf("\n");
    }
    printf("* the paper's, among 100,000 pairs. Retrieval in %%; edits and subtrees: percentile "
           "rank, chance .5.\n");
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
        good = json_dumpf(results, o.f, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0;
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
    return json_pack(
        "{s:o,s:s,s:I,s:s,s:I,s:f,s:I,s:I,s:I,s:I,s:I}", "command", text_json(line ? line : ""),
        "version", SNIP_VERSION, "seed", (json_int_t)how->seed, "started", when, "pairs",
        (json_int_t)how->pairs, "noise", how->noise, "rows", (json_int_t)how->rows, "targets",
        (json_int_t)how->targets, "subtree_variants", (json_int_t)how->subtree_variants, "problems",
        (json_int_t)how->problems, "library", (json_int_t)how->library);
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

int cli_evaluate(const cli_command *self, int argc, char **argv)
{
    cli_list models = { .count = 0 };
    const char *out = "evaluation", *dump = NULL;
    uint64_t pairs = 10000, targets = 128, variants = 16, seed = 0, threads = 0, noise = 0,
             rows = 0, problems = 150, library = 20000;
    unsigned suites = 0;
    int json = 0, quiet = 0, code;
    arena *a = arena_new(0);
    eval_how how = { 0 };
    /* What was asked, before parsing moves it about. */
    char **asked = a ? arena_copy(a, argv, (size_t)(argc + 1) * sizeof *argv) : NULL;
    int count = argc;
    if (!asked)
        return cli_fail(self, CLI_FAILED, "out of memory");
    const cli_option options[] = {
        { .name = "model",
          .kind = CLI_LIST,
          .to = &models,
          .value = "FILE",
          .help = "a model; give several to put them side by side" },
        { .name = "suite",
          .kind = CLI_CHOICES,
          .to = &suites,
          .value = "NAME",
          .choices = eval_suite_names,
          .help = "only these: global, geometry, edits, subtrees, ood, forms, probes" },
        { .name = "pairs",
          .kind = CLI_COUNT,
          .to = &pairs,
          .value = "N",
          .low = 2,
          .high = 10000000,
          .help = "held-out pairs of the retrieval; the paper has 100000" },
        { .name = "noise",
          .kind = CLI_COUNT,
          .to = &noise,
          .value = "PERCENT",
          .help = "retrieval: noise on y, in % of its deviation",
          .high = 1000 },
        { .name = "rows",
          .kind = CLI_COUNT,
          .to = &rows,
          .value = "N",
          .help = "retrieval: rows of a table; 0: all 200",
          .high = DATA_POINTS },
        { .name = "targets",
          .kind = CLI_COUNT,
          .to = &targets,
          .value = "N",
          .low = 1,
          .high = 100000,
          .help = "expressions that are edited; the paper has 128" },
        { .name = "subtree-variants",
          .kind = CLI_COUNT,
          .to = &variants,
          .value = "N",
          .low = 1,
          .high = DATA_VARIANTS_MAX,
          .help = "most edits of a family per subtree; the paper has 64" },
        { .name = "problems",
          .kind = CLI_COUNT,
          .to = &problems,
          .value = "N",
          .low = 1,
          .high = 100000,
          .help = "forms: laws to recognise; up to twice as many of the corpora" },
        { .name = "library",
          .kind = CLI_COUNT,
          .to = &library,
          .value = "N",
          .low = 100,
          .high = 10000000,
          .help = "forms: size of the library that they are looked for in" },
        { .name = "seed",
          .kind = CLI_COUNT,
          .to = &seed,
          .value = "K",
          .high = 9000000000000000,
          .help = "seed of the held-out samples" },
        { .name = "out",
          .kind = CLI_TEXT,
          .to = &out,
          .value = "DIR",
          .help = "folder for results.json and report.html" },
        { .name = "dump",
          .kind = CLI_TEXT,
          .to = &dump,
          .value = "DIR",
          .help = "write all embeddings there, as .npy with an index" },
        { .name = "threads",
          .kind = CLI_COUNT,
          .to = &threads,
          .value = "T",
          .high = LIMITS_THREADS,
          .help = "0: all cores" },
        { .name = "json", .kind = CLI_FLAG, .to = &json, .help = "print results.json, no table" },
        CLI_QUIET(&quiet),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0 || n > 0 || models.count == 0) {
        if (n > 0)
            code = cli_fail(self, CLI_MISUSED, "takes no argument '%.40s'", argv[0]);
        else if (n == 0)
            code = cli_fail(self, CLI_MISUSED, "needs --model FILE");
        arena_free(a);
        return code;
    }
    how = (eval_how){ .seed = seed,
                      .pairs = pairs,
                      .noise = (double)noise / 100,
                      .rows = rows,
                      .targets = targets,
                      .subtree_variants = variants,
                      .problems = problems,
                      .library = library,
                      .quiet = quiet };
    how.ranks = ranks_start();
    int me = ranks_me(how.ranks);
    double start = clock_now();
    json_t *results = start_results(count, asked, &how, a);
    how.quiet |= me != 0;
    /* Whatever can be found wrong before the work begins, and before anything is written. */
    eval_result opened[CLI_LIST_MAX];
    size_t open = open_models(self, opened, &models);
    code = open == models.count ? CLI_DONE : CLI_FAILED;
    if (code == CLI_DONE && dump && ranks_count(how.ranks) > 1)
        code = cli_fail(self, CLI_MISUSED, "--dump needs a single process, not mpirun");
    if (code == CLI_DONE && me == 0 && !prepare(self, out, dump, a))
        code = CLI_FAILED;
    if (ranks_max(how.ranks, code) == CLI_DONE) {
        unsigned all = (1u << EVAL_SUITES) - 1;
        code = run_models(self, results, opened, open, suites ? suites : all, me == 0 ? dump : NULL,
                          cli_threads(threads), &how);
        if (!json_object_get(results, "models"))
            ranks_abort(how.ranks, code); /* the others may be waiting for us */
    }
    while (open-- > 0)
        eval_result_free(&opened[open]);
    ranks_stop(how.ranks);
    json_t *list = json_object_get(results, "models");
    if (me == 0 && list) {
        int suites_failed = code;
        json_object_set_new(results, "seconds", json_real(clock_now() - start));
        code = write_results(self, results, out, a);
        if (json || code != CLI_DONE) { /* what is not on the disk is here */
            int printed = cli_print_json(self, json_incref(results));
            code = code == CLI_DONE ? printed : code;
        } else {
            print_table(list);
            printf("%s/results.json and %s/report.html written\n", out, out);
            code = cli_finish(self);
        }
        print_errors(self, list);
        code = code == CLI_DONE ? suites_failed : code;
    }
    json_decref(results);
    arena_free(a);
    return code;
}
