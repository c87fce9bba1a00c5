/* fit.c - `snip fit`: from a table to a formula. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/cached.h"
#include "cli/ranking.h"
#include "cli/task.h"
#include "search/search.h"
#include "search/search_json.h"

#define LEAST 0.1 /* of the time is the search's, however long reading took */

#define MEMORY_USUAL ((size_t)1 << 30)  /* 1G */
#define PROGRAM      ((size_t)16 << 20) /* bytes of the program and its libraries, rounded up */
enum { MODEL_TIMES = 4 };               /* a model takes so many times its file: by measurement */

/* What the command was asked for, and what its progress needs. */
typedef struct request {
    const cli_command *self;
    cli_task task;
    const char *time, *memory, *operators, *guess, *library, *except, *trace, *out;
    uint64_t evals, max_size, per_size;
    unsigned without, unused;
    int space, no_space, format, seeds, cpu;
    search_how how;
    double begun; /* when the command was: reading a long table takes a part of the time */
    FILE *trace_to;
    int shown;      /* a progress line is on the terminal */
    double written; /* when --out was written last */
    int failed;     /* it could not be */
} request;

/* ---- output ---- */

static const char *printed(const search_formula *f, snip_format format, const request *q)
{
    const char *s = expr_print(f->e, format, &q->task.p.names, 0, q->task.a);
    return s ? s : "";
}

static void as_table(FILE *to, const search_result *r, const request *q)
{
    fprintf(to, "  %5s %10s %10s %10s  %s\n", "nodes", "R2 train", "R2 held", "loss held",
            "formula");
    for (size_t k = 0; k < r->count; k++) {
        const search_formula *f = &r->front[k];
        char b[3][32];
        fprintf(to, "%s %5zu %10s %10s %10s  %s\n", k == r->selected ? ">" : " ", f->size,
                cli_short_number(b[0], f->r2[0]), cli_short_number(b[1], f->r2[1]),
                cli_short_number(b[2], f->loss[1]), printed(f, SNIP_INFIX, q));
    }
}

static void as_csv(FILE *to, const search_formula *front, size_t count, size_t selected,
                   const request *q)
{
    fputs("Complexity,Loss,Equation,Selected,r2_train,r2_val,loss_val,constants,bits,similarity,"
          "stage\n",
          to);
    for (size_t k = 0; k < count; k++) {
        const search_formula *f = &front[k];
        char b[6][32];
        fprintf(to, "%zu,%s,", f->size, cli_cell(b[0], f->loss[0]));
        cli_put_quoted(to, printed(f, SNIP_INFIX, q));
        fprintf(to, ",%d,%s,%s,%s,%zu,%s,%s,%s\n", k == selected, cli_cell(b[1], f->r2[0]),
                cli_cell(b[2], f->r2[1]), cli_cell(b[3], f->loss[1]), f->constants,
                cli_cell(b[4], f->bits), cli_cell(b[5], f->similarity),
                search_stage_names[f->stage]);
    }
}

static void as_lines(FILE *to, const search_result *r, snip_format format, const request *q)
{
    for (size_t k = 0; k < r->count; k++)
        fprintf(to, "%s\n", printed(&r->front[k], format, q));
}

/* A C function for each formula; the selected one is formula_N with N its place, as the comment
 * says. */
static void as_c(FILE *to, const search_result *r, const request *q)
{
    const expr_names *names = &q->task.p.names;
    fprintf(to, "#include <math.h>\n\n/* selected: formula_%zu */\n", r->selected + 1);
    for (size_t k = 0; k < r->count; k++) {
        fprintf(to, "double formula_%zu(", k + 1);
        for (size_t j = 0; j < names->count; j++)
            fprintf(
                to, "%sdouble %s", j ? ", " : "",
                expr_print(
                    (expr){ &(expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)j, .len = 1 }, 1 },
                    SNIP_C, names, 0, q->task.a));
        fprintf(to, ") { return %s; }\n", printed(&r->front[k], SNIP_C, q));
    }
}

static int print_to(FILE *to, const search_result *r, const request *q)
{
    switch (q->format) {
    case CLI_RANKING_TABLE:
        as_table(to, r, q);
        break;
    case CLI_RANKING_CSV:
        as_csv(to, r->front, r->count, r->selected, q);
        break;
    case CLI_RANKING_JSON: {
        json_t *json = search_result_json(r, &q->task.p.names, q->task.a);
        int good = json && json_dumpf(json, to, JSON_COMPACT) == 0;
        json_decref(json);
        putc('\n', to);
        return good;
    }
    case CLI_RANKING_LATEX:
        as_lines(to, r, SNIP_LATEX, q);
        break;
    case CLI_RANKING_SYMPY:
        as_lines(to, r, SNIP_SYMPY, q);
        break;
    default:
        as_c(to, r, q);
    }
    return !ferror(to);
}

/* ---- on the way ---- */

/* The front so far as CSV, whole or not at all. */
static void write_now(request *q, const search_formula *front, size_t count, size_t selected)
{
    file_out o;
    if (!file_out_open(&o, q->out)) {
        q->failed = errno;
        return;
    }
    as_csv(o.f, front, count, selected, q);
    if (!file_out_close(&o, 1))
        q->failed = errno;
}

static void on_progress(void *context, const search_progress *now)
{
    request *q = context;
    arena_pos mark = arena_mark(q->task.a);
    const search_formula *best = &now->now[now->selected];
    if (q->trace_to && now->changed)
        fprintf(q->trace_to,
                "{\"seconds\":%.3f,\"evaluations\":%llu,\"stage\":\"%s\",\"size\":%zu,"
                "\"loss\":%.6g}\n",
                now->seconds, (unsigned long long)now->evaluations, search_stage_names[now->stage],
                best->size, best->loss[0]);
    if (q->out && q->format == CLI_RANKING_CSV && now->changed && now->seconds - q->written > 1) {
        write_now(q, now->now, now->count, now->selected);
        q->written = now->seconds;
    }
    if (!q->task.quiet && isatty(STDERR_FILENO)) {
        char b[32];
        const char *text = expr_print(best->e, SNIP_INFIX, &q->task.p.names, 4, q->task.a);
        fprintf(stderr, "\r\033[K%s, %.0f s left, R2 %s: %.60s", search_stage_names[now->stage],
                fmax(0, now->spent > 0 ? now->seconds / now->spent - now->seconds : 0),
                cli_short_number(b, best->r2[1]), text ? text : "");
        fflush(stderr);
        q->shown = 1;
    }
    arena_reset(q->task.a, mark);
}

/* ---- options ---- */

/* A number of seconds above 0. */
static int read_seconds(const request *q, const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (*end || !(*out > 0) || !(*out < 1e7))
        return cli_fail(q->self, 0, "--time: '%.40s' is not a number of seconds", text);
    return 1;
}

/* 500M, 1G, 2e9. */
static int read_bytes(const request *q, const char *text, size_t *out)
{
    char *end;
    double v = strtod(text, &end);
    if (*end == 'k' || *end == 'K')
        v *= 1 << 10, end++;
    else if (*end == 'M')
        v *= 1 << 20, end++;
    else if (*end == 'G')
        v *= 1 << 30, end++;
    if (*end || !(v >= 1) || !(v < 1e15))
        return cli_fail(q->self, 0, "--memory: '%.40s' is not a size, as 500M or 1G", text);
    *out = (size_t)v;
    return 1;
}

/* What the program takes beside the search: itself and the libraries, and a model with what it
 * computes in. */
static size_t taken(const char *model)
{
    struct stat file;
    return PROGRAM + (model && stat(model, &file) == 0 ? MODEL_TIMES * (size_t)file.st_size : 0);
}

/* From the memory of the whole process to that of the search. */
static int share_memory(request *q, const char *model)
{
    size_t whole = q->how.memory ? q->how.memory : MEMORY_USUAL, other = taken(model);
    size_t least = other + search_memory_least(q->how.threads);
    if (whole < least)
        return cli_fail(q->self, 0, "--memory: %s is too little, the least is %zuM%s",
                        q->memory ? q->memory : "1G", /* a large model, or many threads */
                        (least + (1 << 20) - 1) >> 20, model ? ", less with --no-space" : "");
    q->how.memory = whole - other;
    return 1;
}

static int read_operators(const request *q, const char *text, uint64_t *out)
{
    snip_status st;
    if (search_operators_read(out, text, &st) != SNIP_OK)
        return cli_fail(q->self, 0, "--operators: %s", st.msg);
    return 1;
}

/* Fills q->how. Returns an exit code, CLI_DONE if all is well. */
static int plan(request *q)
{
    q->how = (search_how){ .evaluations = q->evals,
                           .processor = q->cpu,
                           .seed = q->task.seed,
                           .threads = cli_threads(q->task.threads),
                           .max_size = q->max_size,
                           .per_size = q->per_size,
                           .without = q->without | (q->no_space ? 1u << SEARCH_SPACE : 0),
                           .library = q->library,
                           .seeds = (search_seeds)q->seeds,
                           .unused = q->unused,
                           .report = on_progress,
                           .context = q };
    if ((q->time && !read_seconds(q, q->time, &q->how.seconds)) ||
        (q->memory && !read_bytes(q, q->memory, &q->how.memory)) ||
        (q->operators && !read_operators(q, q->operators, &q->how.operators)))
        return CLI_MISUSED;
    if (!q->time && q->evals == 0)
        q->how.seconds = 60;
    return CLI_DONE;
}

/* Reads the table; the model is opened unless the space is left out. */
static int read_table(request *q, const char *path, regress_table *out)
{
    snip_status st;
    table t;
    const char **names;
    const double **x;
    cli_task *task = &q->task;
    task->table.need_target = 1;
    task->table.hints = &cli_table_hints;
    if (!(task->a = arena_new(0)))
        return cli_fail(q->self, 0, "out of memory");
    if (table_read(&t, path, &task->table, task->a, &st) != SNIP_OK)
        return cli_fail(q->self, 0, "%s", st.msg);
    if (t.inputs == 0)
        return cli_fail(q->self, 0, "%s: has %s; inputs and a target are needed", path,
                        t.columns == 1 ? "one column" : "target and weights only");
    if (!table_inputs(&t, &names, &x, task->a))
        return cli_fail(q->self, 0, "out of memory");
    if (!task->quiet)
        cli_table_notes(q->self, &t, &task->table, task->a);
    task->p.names = (expr_names){ names, t.inputs };
    *out = (regress_table){ t.inputs, t.rows, names, x, t.column[t.target] };
    q->how.weight = t.weights == TABLE_NO_TARGET ? NULL : t.column[t.weights];
    return 1;
}

/* The formulas of a file, in the table's inputs. */
static int read_formulas(request *q, const char *path, const expr **out, size_t *count)
{
    regress_formula *line = NULL;
    size_t n = cli_lines(q->self, &line, path, &q->task.p.names, 0, q->task.quiet, q->task.a);
    if (n == (size_t)-1)
        return 0;
    expr *e = arena_array(q->task.a, n + 1, sizeof *e);
    if (!e)
        return cli_fail(q->self, 0, "out of memory");
    for (size_t i = 0; i < n; i++)
        e[i] = line[i].e;
    *out = e;
    *count = n;
    return 1;
}

/* Writes the answer to --out or to standard output. */
static int print_result(request *q, const search_result *r)
{
    file_out o;
    if (!q->out) {
        print_to(stdout, r, q);
        if (q->format == CLI_RANKING_TABLE && r->note)
            printf("%s\n", r->note);
        if (q->format == CLI_RANKING_TABLE && r->outliers)
            printf("%zu %s more than 6 standard deviations away from the selected formula\n",
                   r->outliers, r->outliers == 1 ? "row is" : "rows are");
        return cli_finish(q->self);
    }
    if (!file_out_open(&o, q->out))
        return cli_fail(q->self, CLI_FAILED, "%s: %s", q->out, strerror(errno));
    int good = print_to(o.f, r, q);
    if (!file_out_close(&o, good))
        return cli_fail(q->self, CLI_FAILED, "%s: %s", q->out, strerror(errno));
    return CLI_DONE;
}

static int search(request *q, const char *path)
{
    snip_status st;
    search_result r;
    regress_table t;
    if (!read_table(q, path, &t) ||
        (q->guess && !read_formulas(q, q->guess, &q->how.guess, &q->how.guesses)) ||
        (q->except && !read_formulas(q, q->except, &q->how.except, &q->how.excepts)))
        return CLI_FAILED;
    const char *model = q->no_space ? NULL : cli_model_path(q->task.model, q->task.a);
    if (!share_memory(q, model))
        return CLI_MISUSED;
    if (model && model_open(&q->task.t, model, &st) != SNIP_OK)
        return cli_fail_status(q->self, &st);
    q->how.model = q->task.t;
    q->how.cancel = cli_stop_on_signals();
    if (q->space && model && !q->library) { /* its time is not the search's */
        double before = clock_now();
        q->how.library =
            cli_cached_library(q->self, q->task.t, q->how.threads, q->task.quiet, q->task.a);
        q->begun += clock_now() - before;
    }
    if (q->how.seconds > 0)
        q->how.seconds =
            fmax(q->how.seconds - (q->cpu ? clock_processor() : clock_now() - q->begun),
                 LEAST * q->how.seconds);
    snip_code code = search_run(&r, &t, &q->how, q->task.a, &st);
    if (q->shown)
        fputs("\r\033[K", stderr);
    if (code == SNIP_FORMAT) /* the table is at fault */
        return cli_fail(q->self, CLI_FAILED, "%s: %s", path, st.msg);
    if (code != SNIP_OK)
        return cli_fail_status(q->self, &st);
    if (q->failed)
        fprintf(stderr, "snip fit: %s: %s\n", q->out, strerror(q->failed));
    cli_task_note_errors(q->self, &q->task, r.telling, r.rows[0] + r.rows[1]);
    return print_result(q, &r);
}

static int command(const cli_command *self, int argc, char **argv)
{
    int code;
    request q = { .self = self, .begun = clock_now(), .max_size = 30, .per_size = 1 };
    const cli_option options[] = {
        CLI_OPTION(TEXT, "time", &q.time, "SECONDS",
                   "stop after this long; default: 60, or no limit with --evals"),
        CLI_SWITCH("cpu", &q.cpu,
                   "--time counts processor seconds per thread, not seconds by the clock"),
        CLI_OPTION(
            COUNT, "evals", &q.evals, "N",
            "stop after N evaluations: the same answer on every run, with any number of threads; "
            "0: no limit",
            .high = UINT64_MAX),
        CLI_OPTION(COUNT, "max-size", &q.max_size, "N", "the most nodes a formula may have",
                   .low = 1, .high = SEARCH_SIZE_MAX),
        CLI_OPTION(COUNT, "per-size", &q.per_size, "N", "how many formulas of each size to show",
                   .low = 1, .high = 10),
        CLI_OPTION(TEXT, "operators", &q.operators, "LIST",
                   "operators that formulas may use, such as +,-,*,/,sin,exp"),
        CLI_OPTION(TEXT, "guess", &q.guess, "FILE", "formulas to start from, one per line"),
        CLI_OPTION(TEXT, "memory", &q.memory, "SIZE",
                   "memory for everything but the table, such as 500M; default: 1G"),
        CLI_OPTION(CHOICES, "without", &q.without, "STAGE",
                   "leave out a stage; may be given many times", .choices = search_stage_names),
        CLI_SWITCH(
            "space", &q.space,
            "start from library formulas that lie near the table; the library is built in your "
            "cache folder on first use"),
        CLI_SWITCH("no-space", &q.no_space,
                   "load no model: no similarities, and the stage `space` is left out"),
        CLI_OPTION(TEXT, "library", &q.library, "FILE",
                   "the library for the stage `space` (see snip index)"),
        CLI_OPTION(CHOICE, "seeds", &q.seeds, "HOW",
                   "how its formulas are chosen: nearest (by vectors), values (by errors), random",
                   .choices = search_seeds_names),
        CLI_OPTION(CHOICES, "unused", &q.unused, "USE",
                   "a use of the library to leave out: seeds, parts, prior, promise; may be given "
                   "many times",
                   .choices = search_use_names),
        CLI_OPTION(TEXT, "except", &q.except, "FILE",
                   "forms not to take from the library, one per line: to measure without them"),
        CLI_OPTION(TEXT, "weights", &q.task.table.weights, "NAME",
                   "the column with the weights of the rows; only their ratios count"),
        CLI_OPTION(TEXT, "trace", &q.trace, "FILE",
                   "write a line of JSON whenever the front changes"),
        CLI_SWITCH("json", &q.format,
                   "same as --format json; if both are given, the last one counts",
                   .low = CLI_RANKING_JSON),
        CLI_OPTION(CHOICE, "format", &q.format, "F", "table, csv, json, latex, sympy or c",
                   .choices = cli_ranking_formats),
        CLI_OPTION(TEXT, "out", &q.out, "FILE",
                   "write to a file; with --format csv it always holds the best so far",
                   .short_name = 'o'),
        CLI_TASK_TABLE(&q.task),
        CLI_TASK_MODEL(&q.task),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n != 1)
        return cli_wants(self, "a table");
    if (q.out && strlen(q.out) > 4 && strcmp(q.out + strlen(q.out) - 4, ".csv") == 0 &&
        q.format == CLI_RANKING_TABLE)
        q.format = CLI_RANKING_CSV;
    if ((code = plan(&q)) != CLI_DONE)
        return code;
    if (q.out && !cli_can_write(self, q.out))
        return CLI_FAILED;
    if (q.trace && !(q.trace_to = fopen(q.trace, "w")))
        return cli_fail(self, CLI_FAILED, "%s: %s", q.trace, strerror(errno));
    code = search(&q, argv[0]);
    if (q.trace_to && fclose(q.trace_to) != 0)
        code = cli_fail(self, CLI_FAILED, "%s: %s", q.trace, strerror(errno));
    cli_task_close(&q.task);
    return code;
}

const cli_command cli_fit_command = {
    .name = "fit",
    .summary = "find a formula for a table",
    .arguments = "TABLE [options]",
    .about = "Searches for formulas that explain the target column by the others, and prints a "
             "Pareto front: each formula has a lower error than all simpler ones. > marks the "
             "selected formula, the one with the least description length. A quarter of the rows "
             "is held out during the search; at the end the constants are fitted to all rows. "
             "Errors are those of the formula as printed. Ctrl-C ends the search with the front "
             "so far.",
    .examples = "snip fit data.csv\n"
                "snip fit data.csv --target y --time 10 --json\n"
                "snip fit data.csv --operators +,-,*,/,sqrt --max-size 20 --out front.csv\n",
    .run = command,
};
