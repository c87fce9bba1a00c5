/* fit_constants.c - `snip fit-constants`: the parameters of a given law, with their errors. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "cli/fitted.h"

static const char *const formats[] = { "table", "csv", "json", "latex", "sympy", "c", NULL };
static const char *const numbers[] = { "decimals", "fixed", "all", NULL };

/* What the command was asked for, and what comes of it. */
typedef struct request {
    const cli_command *self;
    /* Set by options. */
    cli_list param, fix, bounds;
    const char *target, *weights, *sigma, *holdout_text, *level_text, *out, *svg;
    uint64_t folds, starts, seed;
    table_options table; /* what concerns its size and its gaps */
    int numbers, format, quiet;
    /* Set on the way. */
    arena *a;
    double holdout, level;
    const char *path, *formula;
    char *content;
    size_t size;
    table head;                         /* the table's names */
    size_t target_column, scale_column; /* scale: of weights or sigmas, or TABLE_NO_TARGET */
    regress_law law;
    regress_estimate_data d;
    file_out rows, picture; /* f is NULL where they are not wanted */
    int code;               /* how a failure ends: the call may have been wrong */
} request;

/* A finite number that is all of s[0..n). */
static int read_real(const char *s, size_t n, double *out)
{
    char buf[64], *end;
    if (n == 0 || n >= sizeof buf || isspace((unsigned char)*s))
        return 0;
    memcpy(buf, s, n);
    buf[n] = 0;
    *out = strtod(buf, &end);
    return !*end && isfinite(*out);
}

/* `result`, of a function that found the call wrong and not the table. */
static int misused(request *q, int result)
{
    q->code = CLI_MISUSED;
    return result;
}

/* One entry of a list such as A=500,b=1e-4. */
typedef struct entry {
    char name[80];
    const char *value; /* NULL: there is no = */
    size_t length;     /* of the value */
} entry;

/* Takes the next entry of *s, which moves on. Returns 1, 0 at the end, -1 after saying what is
 * wrong. */
static int next_entry(request *q, const char *option, const char **s, entry *out)
{
    if (!**s)
        return 0;
    size_t whole = strcspn(*s, ","), length = 0;
    const char *from = *s;
    *s += whole + ((*s)[whole] == ',');
    while (whole && isspace((unsigned char)*from))
        from++, whole--;
    while (whole && isspace((unsigned char)from[whole - 1]))
        whole--;
    while (length < whole && from[length] != '=')
        length++;
    out->value = length < whole ? from + length + 1 : NULL;
    out->length = out->value ? whole - length - 1 : 0;
    while (length && isspace((unsigned char)from[length - 1]))
        length--;
    if (length == 0 || length >= sizeof out->name)
        return cli_fail(q->self, misused(q, -1),
                        "--%s: '%.*s' does not begin with a parameter's name", option,
                        whole > 40 ? 40 : (int)whole, from);
    memcpy(out->name, from, length);
    out->name[length] = 0;
    return 1;
}

/* ---- the table's names and the law ---- */

static size_t column_called(const table *t, const char *name)
{
    for (size_t j = 0; j < t->columns; j++)
        if (strcmp(t->name[j], name) == 0)
            return j;
    return TABLE_NO_TARGET;
}

/* Reads the file and its header, and finds target and weights. Returns 0 after saying what is
 * wrong. */
static int read_head(request *q)
{
    snip_status st;
    const table_options how = { .names_only = 1,
                                .megabytes = q->table.megabytes,
                                .hints = &cli_table_hints };
    if (table_text(&q->content, &q->size, q->path, &how, q->a, &st) != SNIP_OK ||
        table_parse(&q->head, q->path, q->content, q->size, &how, q->a, &st) != SNIP_OK)
        return cli_fail(q->self, 0, "%s", st.msg);
    const char *scale = q->sigma ? q->sigma : q->weights;
    q->scale_column = scale ? column_called(&q->head, scale) : TABLE_NO_TARGET;
    if (scale && q->scale_column == TABLE_NO_TARGET)
        return cli_fail(q->self, 0, "%s: there is no column '%.60s' (--%s)", q->path, scale,
                        q->sigma ? "sigma" : "weights");
    q->target_column = column_called(&q->head, q->target ? q->target : "target");
    if (q->target && q->target_column == TABLE_NO_TARGET)
        return cli_fail(q->self, 0, "%s: there is no column '%.60s' (--target)", q->path,
                        q->target);
    if (q->target_column == TABLE_NO_TARGET) { /* the last that is nothing else */
        q->target_column = q->head.columns - 1;
        if (q->target_column == q->scale_column && q->head.columns > 1)
            q->target_column--;
    }
    if (q->target_column == q->scale_column)
        return cli_fail(q->self, 0, "%s: '%.60s' cannot be the target and its %s", q->path,
                        q->head.name[q->target_column], q->sigma ? "sigma" : "weight");
    return 1;
}

/* Whether a parameter can be called that; says why not. */
static int check_name(const request *q, const char *option, const char *name)
{
    if (!expr_is_identifier(name))
        return cli_fail(q->self, 0, "--%s: '%.60s' cannot be the name of a parameter", option,
                        name);
    if (column_called(&q->head, name) != TABLE_NO_TARGET)
        return cli_fail(q->self, 0, "--%s: '%.60s' is a column of the table, not a parameter",
                        option, name);
    if (expr_op_find(name, strlen(name)) >= 0)
        return cli_fail(q->self, 0,
                        "--%s: '%.60s' is an operator or a constant of formulas, so no parameter "
                        "can be called that",
                        option, name);
    return 1;
}

/* Adds the names in an option's lists to names[0..*count). Returns 0 after saying what is wrong. */
static int gather(request *q, const char *option, const cli_list *list, const char **names,
                  size_t *count)
{
    entry e;
    int more;
    for (size_t i = 0; i < list->count; i++)
        for (const char *s = list->value[i]; (more = next_entry(q, option, &s, &e));) {
            if (more < 0 || !check_name(q, option, e.name))
                return 0;
            if (!(names[(*count)++] = arena_text(q->a, e.name, strlen(e.name))))
                return cli_fail(q->self, 0, "out of memory");
        }
    return 1;
}

static size_t commas(const cli_list *list)
{
    size_t n = list->count;
    for (size_t i = 0; i < list->count; i++)
        for (const char *s = list->value[i]; *s; s++)
            n += *s == ',';
    return n;
}

/* Reads the formula. Returns 0 after saying what is wrong. */
static int read_law(request *q)
{
    snip_status st = { 0 };
    size_t count = 0, most = commas(&q->param) + commas(&q->fix) + commas(&q->bounds);
    const char **names = arena_array(q->a, most + 1, sizeof *names);
    if (!names)
        return cli_fail(q->self, 0, "out of memory");
    if (!gather(q, "param", &q->param, names, &count) ||
        !gather(q, "fix", &q->fix, names, &count) ||
        !gather(q, "bounds", &q->bounds, names, &count))
        return 0;
    const expr_names given = { names, count }, columns = { q->head.name, q->head.columns };
    const char *text;
    if (cli_formula_text(&text, q->formula, q->a, &st) != SNIP_OK)
        return cli_fail(q->self, 0, "%s", st.msg);
    q->formula = text;
    if (regress_law_parse(&q->law, text, &columns, &given, (regress_numbers)q->numbers, q->a,
                          &st) != SNIP_OK) {
        cli_fail_formula(q->self, text, &st);
        return 0;
    }
    for (size_t k = 0; k < q->law.inputs; k++)
        if (q->law.column[k] == q->target_column)
            return cli_fail(q->self, 0,
                            "'%.60s' is the target, so it cannot be in the formula (--target names "
                            "another)",
                            q->head.name[q->target_column]);
    return 1;
}

/* ---- starts, fixed values, bounds ---- */

/* The parameter that an entry is about, or NULL after saying that there is none. */
static regress_parameter *parameter(request *q, const char *option, const char *name)
{
    size_t k = regress_law_find(&q->law, name);
    if (k < q->law.params)
        return &q->law.param[k];
    text t = { .a = q->a };
    for (k = 0; k < q->law.params; k++)
        text_add(&t, "%s%s", k ? ", " : "", q->law.param[k].name);
    const char *all = q->law.params ? text_end(&t) : "none";
    cli_fail(q->self, 0, "--%s: the formula has no parameter '%.60s'; it has %.200s", option, name,
             all ? all : "others");
    return NULL;
}

static int is_start(request *q, const char *option, const entry *e, double *out)
{
    if (e->value && read_real(e->value, e->length, out))
        return 1;
    return cli_fail(q->self, misused(q, 0), "--%s %s: wants a finite number, not '%.*s'", option,
                    e->name, e->length > 40 ? 40 : (int)e->length, e->value ? e->value : "");
}

static int set_param(request *q, regress_parameter *p, const entry *e)
{
    return is_start(q, "param", e, &p->start);
}

static int set_fix(request *q, regress_parameter *p, const entry *e)
{
    p->fixed = 1;
    if (!e->value && isnan(p->start))
        return cli_fail(q->self, misused(q, 0), "--fix %s: at which value? (--fix %s=1)", e->name,
                        e->name);
    return !e->value || is_start(q, "fix", e, &p->start);
}

static int set_bounds(request *q, regress_parameter *p, const entry *e)
{
    const char *colon = e->value ? memchr(e->value, ':', e->length) : NULL;
    size_t before = colon ? (size_t)(colon - e->value) : 0;
    size_t after = colon ? e->length - before - 1 : 0;
    if (!colon || before + after == 0 || (before && !read_real(e->value, before, &p->low)) ||
        (after && !read_real(colon + 1, after, &p->high)))
        return cli_fail(q->self, misused(q, 0),
                        "--bounds %s: wants LOW:HIGH, either of which may be missing, not '%.*s'",
                        e->name, e->length > 40 ? 40 : (int)e->length, e->value ? e->value : "");
    if (!(p->low < p->high))
        return cli_fail(q->self, misused(q, 0), "--bounds %s: %g is not below %g", e->name, p->low,
                        p->high);
    if (p->fixed)
        return cli_fail(q->self, misused(q, 0), "--bounds %s: it is fixed", e->name);
    return 1;
}

/* Applies an option's lists, a parameter at most once. Returns 0 after saying what is wrong. */
static int apply(request *q, const char *option, const cli_list *list,
                 int (*set)(request *q, regress_parameter *p, const entry *e))
{
    char *seen = arena_zero(q->a, q->law.params + 1);
    if (!seen)
        return cli_fail(q->self, 0, "out of memory");
    entry e;
    for (size_t i = 0; i < list->count; i++)
        for (const char *s = list->value[i]; next_entry(q, option, &s, &e) > 0;) {
            regress_parameter *p = parameter(q, option, e.name);
            if (!p)
                return 0;
            if (seen[p - q->law.param]++)
                return cli_fail(q->self, misused(q, 0), "--%s: %s is given twice", option, e.name);
            if (!set(q, p, &e))
                return 0;
        }
    return 1;
}

/* Whether two names differ by the case of letters, or by one letter in a word of four or more. */
static int alike(const char *a, const char *b)
{
    if (strcasecmp(a, b) == 0)
        return 1;
    size_t n = strlen(a), m = strlen(b), front = 0, back = 0, most = n < m ? n : m;
    while (front < most && a[front] == b[front])
        front++;
    while (back < most - front && a[n - 1 - back] == b[m - 1 - back])
        back++;
    size_t longer = n > m ? n : m;
    return most >= 4 && longer - most <= 1 && front + back + 1 >= longer &&
           !isdigit((unsigned char)a[n - 1]);
}

/* Says which names may have been meant otherwise. */
static void warn(const request *q)
{
    if (q->law.inputs == 0 && !q->quiet)
        cli_fail(q->self, 0, "the formula uses no column of the table");
    for (size_t k = 0; k < q->law.params && !q->quiet; k++) {
        const regress_parameter *p = &q->law.param[k];
        for (size_t j = 0; j < q->head.columns && isnan(p->start); j++)
            if (alike(p->name, q->head.name[j])) {
                cli_fail(q->self, 0, "%s is taken for a parameter; the table has a column '%.60s'",
                         p->name, q->head.name[j]);
                break;
            }
    }
    for (size_t i = 0; i < q->law.e.count && !q->quiet; i++)
        if (q->law.e.node[i].op == EXPR_E) {
            cli_fail(q->self, 0, "e is 2.71828... in formulas; a parameter needs another name");
            break;
        }
}

/* ---- the rows ---- */

/* Reads the columns that are used. Returns 0 after saying what is wrong. */
static int read_rows(request *q)
{
    snip_status st;
    table t;
    size_t n = q->law.inputs;
    size_t *take = arena_array(q->a, n + 1, sizeof *take);
    const double **x = arena_array(q->a, n + 1, sizeof *x);
    if (!take || !x)
        return cli_fail(q->self, 0, "out of memory");
    memcpy(take, q->law.column, n * sizeof *take);
    int apart = q->scale_column != TABLE_NO_TARGET;
    if (apart)
        take[n] = q->scale_column;
    const table_options how = { .target = q->head.name[q->target_column],
                                .drop_invalid = q->table.drop_invalid,
                                .megabytes = q->table.megabytes,
                                .take = take,
                                .takes = n + (size_t)apart,
                                .hints = &cli_table_hints };
    if (table_parse(&t, q->path, q->content, q->size, &how, q->a, &st) != SNIP_OK)
        return cli_fail(q->self, 0, "%s", st.msg);
    if (!q->quiet)
        cli_table_notes(q->self, &t, &how, q->a);
    for (size_t k = 0; k < n; k++)
        x[k] = t.column[take[k]];
    q->d = (regress_estimate_data){ .x = x, .y = t.column[q->target_column], .rows = t.rows };
    if (apart && q->sigma)
        q->d.sigma = t.column[q->scale_column];
    else if (apart)
        q->d.weight = t.column[q->scale_column];
    return 1;
}

/* Opens the files that are asked for: better now than after the work. */
static int open_files(request *q)
{
    if (q->out && !file_out_open(&q->rows, q->out))
        return cli_fail(q->self, 0, "%s: cannot write: %s", q->out, strerror(errno));
    if (q->svg && !file_out_open(&q->picture, q->svg))
        return cli_fail(q->self, 0, "%s: cannot write: %s", q->svg, strerror(errno));
    return 1;
}

/* Closes a file; what could not be written is removed, and an older one is as it was. */
static int close_file(const request *q, file_out *o, const char *path, int keep)
{
    if (!o->f)
        return 1;
    int good = file_out_close(o, keep);
    o->f = NULL;
    return good || !keep || cli_fail(q->self, 0, "%s: cannot write: %s", path, strerror(errno));
}

static int draw(const request *q, const regress_fitted *f)
{
    text t = { .a = q->a };
    regress_fitted_svg(&t, f);
    const char *svg = text_end(&t);
    if (!svg)
        return cli_fail(q->self, 0, "out of memory");
    fputs(svg, q->picture.f);
    return 1;
}

/* Fits and prints. Returns an exit code. */
static int estimate(request *q)
{
    snip_status st;
    regress_estimate r;
    regress_validation v;
    const regress_estimate_how how = { .starts = (int)q->starts,
                                       .seed = q->seed,
                                       .level = q->level };
    int validate = q->holdout > 0 || q->folds > 0;
    if (regress_estimate_law(&r, &q->law, &q->d, &how, q->a, &st) != SNIP_OK ||
        (validate && regress_validate_law(&v, &q->law, &q->d, &how, q->holdout, (size_t)q->folds,
                                          q->a, &st) != SNIP_OK))
        return cli_fail_status(q->self, &st);
    const regress_fitted f = { .given = q->formula,
                               .target = q->head.name[q->target_column],
                               .law = &q->law,
                               .d = &q->d,
                               .r = &r,
                               .level = q->level,
                               .validation = validate ? &v : NULL,
                               .share = q->holdout,
                               .folds = (size_t)q->folds,
                               .a = q->a };
    if (q->rows.f)
        cli_fitted_rows(q->rows.f, &f);
    if (q->picture.f && !draw(q, &f))
        return CLI_FAILED;
    if (!close_file(q, &q->rows, q->out, 1) || !close_file(q, &q->picture, q->svg, 1))
        return CLI_FAILED;
    warn(q);
    return cli_fitted_print(q->self, &f, (cli_fitted_format)q->format, q->quiet);
}

/* The options' values that are no plain counts or choices. Returns 0 after saying what is wrong. */
static int check_options(request *q)
{
    if (!read_real(q->level_text, strlen(q->level_text), &q->level) ||
        !(q->level > 0 && q->level < 1))
        return cli_fail(q->self, 0, "--level wants a number between 0 and 1, not '%.40s'",
                        q->level_text);
    if (!read_real(q->holdout_text, strlen(q->holdout_text), &q->holdout) ||
        !(q->holdout >= 0 && q->holdout < 1))
        return cli_fail(q->self, 0, "--holdout wants a share from 0 to below 1, not '%.40s'",
                        q->holdout_text);
    if (q->folds == 1)
        return cli_fail(q->self, 0, "--folds wants 2 or more, or 0 for none");
    if (q->holdout > 0 && q->folds)
        return cli_fail(q->self, 0, "--holdout and --folds exclude each other");
    if (q->sigma && q->weights)
        return cli_fail(q->self, 0, "--sigma and --weights exclude each other");
    return 1;
}

static int command(const cli_command *self, int argc, char **argv)
{
    int code;
    request q = { .self = self, .holdout_text = "0", .level_text = "0.95" };
    const cli_option options[] = {
        CLI_OPTION(LIST, "param", &q.param, "NAME=VALUE,...",
                   "starting values; may be given many times"),
        CLI_OPTION(LIST, "fix", &q.fix, "NAME[=VALUE],...",
                   "parameters that are not fitted; may be given many times"),
        CLI_OPTION(LIST, "bounds", &q.bounds, "NAME=LOW:HIGH",
                   "bounds, either of which may be missing; may be given many times"),
        CLI_OPTION(CHOICE, "numbers", &q.numbers, "WHICH",
                   "which are fitted: decimals (1.0, not 1), fixed (none), all",
                   .choices = numbers),
        CLI_OPTION(COUNT, "starts", &q.starts, "N",
                   "starting points; 0: 4, or 100 if a starting value is missing", .high = 100000),
        CLI_OPTION(TEXT, "target", &q.target, "NAME",
                   "the column to explain; default: `target`, else the last one"),
        CLI_OPTION(TEXT, "sigma", &q.sigma, "NAME",
                   "column of the target's standard deviations, taken as they are"),
        CLI_OPTION(TEXT, "weights", &q.weights, "NAME",
                   "column of the rows' weights, of which only the ratios count"),
        CLI_OPTION(TEXT, "level", &q.level_text, "P", "probability of the intervals"),
        CLI_OPTION(TEXT, "holdout", &q.holdout_text, "SHARE",
                   "also fit without this share of the rows, and judge by these rows"),
        CLI_OPTION(COUNT, "folds", &q.folds, "K",
                   "also judge by each of K parts of the rows, fitted to the others",
                   .high = 1000000),
        CLI_OPTION(CHOICE, "format", &q.format, "F", "table, csv, json, latex, sympy or c",
                   .choices = formats),
        CLI_SWITCH("json", &q.format,
                   "same as --format json; if both are given, the last one counts",
                   .low = CLI_FITTED_JSON),
        CLI_OPTION(TEXT, "out", &q.out, "FILE",
                   "values, residuals and intervals of every row as CSV", .short_name = 'o'),
        CLI_OPTION(TEXT, "svg", &q.svg, "FILE", "draw data, curve and residuals"),
        CLI_SWITCH("drop-nan", &q.table.drop_invalid,
                   "leave out rows with missing or non-finite cells"),
        CLI_OPTION(COUNT, "max-table", &q.table.megabytes, "MB",
                   "refuse a table that takes more memory; 0: the default, 1024", .high = 1 << 24),
        CLI_OPTION(COUNT, "seed", &q.seed, "K",
                   "seed of all random choices: starting points, rows held out",
                   .high = UINT64_MAX),
        CLI_SWITCH("quiet", &q.quiet, "no notes on standard error", .short_name = 'q'),
    };
    if (!cli_parse_two(self, options, sizeof options / sizeof *options, argc, argv, "table",
                       "formula", &code))
        return code;
    if (!check_options(&q))
        return CLI_MISUSED;
    if (!(q.a = arena_new(0)))
        return cli_fail(self, CLI_FAILED, "out of memory");
    q.path = argv[0];
    q.formula = argv[1];
    q.code = CLI_FAILED;
    if (read_head(&q) && read_law(&q) && apply(&q, "param", &q.param, set_param) &&
        apply(&q, "fix", &q.fix, set_fix) && apply(&q, "bounds", &q.bounds, set_bounds) &&
        read_rows(&q) && open_files(&q))
        q.code = estimate(&q);
    close_file(&q, &q.rows, q.out, 0);
    close_file(&q, &q.picture, q.svg, 0);
    arena_free(q.a);
    return q.code;
}

const cli_command cli_fit_constants_command = {
    .name = "fit-constants",
    .summary = "fit the parameters of a given law, with their errors",
    .arguments = "TABLE FORMULA [options]",
    .about =
        "Fits a law to all rows of a table by least squares. Names in FORMULA that are not "
        "columns are parameters; numbers written with a point (1.0, not 1) are fitted as well, "
        "as c1, c2, ... in order. Prints estimates with standard errors, intervals and "
        "correlations, and how well the law fits; --out writes residual and intervals of every "
        "row, --svg draws them. If a parameter has no --param, the fit starts from 100 points, in "
        "the first of which it is 1; a linear law needs one. With --sigma the standard errors rest "
        "on the sigmas alone, and chi-square "
        "shows whether law and sigmas agree. Bounds are kept by projected steps; a parameter "
        "that ends at a bound counts as fixed there. Parameters that the data cannot tell apart "
        "have no standard error, and a note says so.",
    .examples = "snip fit-constants data.csv 'A*(1 - exp(-b*x))' --param A=500,b=1e-4\n"
                "snip fit-constants data.csv 'A*exp(-b*t) + C' --fix C=0 --bounds b=0: --sigma dy\n"
                "snip fit-constants data.csv '2.5*x^1.5' --json\n"
                "snip fit-constants data.csv @law.txt --folds 10 --out rows.csv --svg fit.svg\n",
    .run = command,
};
