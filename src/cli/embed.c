/* embed.c - `snip embed`: the vectors of formulas or tables, for other programs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/npy.h"
#include "cli/task.h"
#include "data/tokens.h"

enum { BATCH = 2048 }; /* vectors held at a time */

/* Where rows go: the matrix, and a line for each on standard output, when all are there. */
typedef struct sink {
    file_out to;
    FILE *lines; /* holds them until then */
    size_t rows, latent;
    int json, error; /* error: errno of the first row that could not be written, or 0 */
} sink;

static void put_rows(sink *s, const float *z, size_t n)
{
    if (fwrite(z, s->latent * sizeof *z, n, s->to.f) != n && !s->error)
        s->error = errno;
    s->rows += n;
}

/* One line that says what row `row` is. */
static void put_line(const sink *s, size_t row, const char *source, size_t number, const char *name,
                     long long node, const char *text)
{
    if (!s->json) {
        fprintf(s->lines, "%zu\t%s\t%zu\t%s\t%lld\t%s\n", row, source, number, name ? name : "",
                node, text);
        return;
    }
    json_t *o =
        json_pack("{s:I,s:o,s:I,s:I,s:o}", "row", (json_int_t)row, "source", text_json(source),
                  "line", (json_int_t)number, "node", (json_int_t)node, "text", text_json(text));
    if (name)
        json_object_set_new(o, "name", text_json(name));
    char *line = o ? json_dumps(o, JSON_COMPACT) : NULL;
    fprintf(s->lines, "%s\n", line ? line : "");
    free(line);
    json_decref(o);
}

/* Prints the lines. Returns 0, with errno set, if they could not be kept. */
static int print_lines(const sink *s)
{
    char part[1 << 14];
    size_t n;
    if (fflush(s->lines) != 0 || fseek(s->lines, 0, SEEK_SET) != 0)
        return 0;
    while ((n = fread(part, 1, sizeof part, s->lines)) > 0)
        fwrite(part, 1, n, stdout);
    return !ferror(s->lines);
}

/* The words of a line's formula; NULL if the model cannot read it, after saying so. */
static const model_words *readable(const cli_command *self, const cli_task *task,
                                   const regress_formula *line, const char *path, int form,
                                   int skip)
{
    snip_status st;
    const expr_domain domain = { .assume_positive = 1 };
    const model_words_how how = model_reads(task->t, form ? MODEL_FORM : MODEL_EXACT, &domain);
    model_words *out = arena_alloc(task->a, sizeof *out);
    snip_code code =
        out ? model_words_make(out, line->e, &how, task->a, NULL, &st) : status_nomem(&st);
    if (code != SNIP_OK && !(skip && task->quiet))
        cli_fail(self, CLI_FAILED, "%s, line %zu: %s%s", path, line->number, st.msg,
                 skip ? "; skipped" : "");
    return code == SNIP_OK ? out : NULL;
}

/* Embeds `n` formulas of the file at `path`. Returns 0 after a message. */
static int embed_formulas(const cli_command *self, cli_task *task, model_space *space, sink *out,
                          const char *path, int form, int subtrees, int skip)
{
    regress_formula *line;
    size_t n = cli_lines(self, &line, path, NULL, skip, task->quiet, task->a);
    if (n == (size_t)-1)
        return 0;
    model_item *item = malloc((BATCH + 256) * sizeof *item);
    float *z = malloc((BATCH + 256) * out->latent * sizeof *z);
    size_t held = 0;
    int good = item && z;
    arena_pos mark = arena_mark(task->a);
    for (size_t i = 0; i <= n && good; i++) {
        if (i == n || held >= BATCH) {
            snip_status st;
            if (held && model_space_embed(space, item, held, z, NULL, &st) != SNIP_OK) {
                cli_fail_status(self, &st);
                good = 0;
                break;
            }
            put_rows(out, z, held);
            held = 0;
            arena_reset(task->a, mark);
            if (i == n)
                break;
        }
        const model_words *words = readable(self, task, &line[i], path, form, skip);
        if (!words) {
            good = skip;
            continue;
        }
        put_line(out, out->rows + held, path, line[i].number, line[i].name, -1, line[i].text);
        item[held++] = (model_item){ .words = words, .node = MODEL_WHOLE };
        for (size_t k = 0; k < words->e.count && subtrees; k++) {
            const char *part = expr_print(expr_subtree(words->e, k), SNIP_INFIX, NULL, 0, task->a);
            put_line(out, out->rows + held, path, line[i].number, line[i].name, (long long)k,
                     part ? part : "");
            item[held++] = (model_item){ .words = words, .node = k };
        }
    }
    if (!item || !z)
        cli_fail(self, CLI_FAILED, "out of memory");
    if (good && out->rows == 0)
        good = cli_fail(self, 0, "%s: holds no formula that the model reads", path);
    free(item);
    free(z);
    return good;
}

/* Embeds the table at `path`, standardised. */
static int embed_table(const cli_command *self, cli_task *task, model_space *space, sink *out,
                       const char *path, int form, float *z)
{
    snip_status st;
    arena_pos mark = arena_mark(task->a);
    if (!cli_task_table(self, task, path))
        return 0;
    regress_problem_keep_order(&task->p);
    for (regress_view v = form ? REGRESS_FORM : REGRESS_EXACT;
         v <= (form ? REGRESS_FORM_TURNED : REGRESS_EXACT); v++) {
        if (regress_problem_embed(&task->p, ~(regress_inputs)0, v, space, z, &st) != SNIP_OK)
            return cli_fail(self, 0, "%s: %s", path, st.msg);
        put_line(out, out->rows, path, 0, NULL, -1, v == REGRESS_FORM_TURNED ? "-y" : "");
        put_rows(out, z, 1);
    }
    arena_reset(task->a, mark);
    return 1;
}

static int command(const cli_command *self, int argc, char **argv)
{
    static const char *const views[] = { "exact", "form", NULL };
    int form = 0;
    int code, subtrees = 0, skip = 0, good = 1;
    const char *formulas = NULL, *path = NULL;
    cli_list tables = { 0 };
    cli_task task = { 0 };
    sink out = { 0 };
    const cli_option options[] = {
        CLI_OPTION(TEXT, "formulas", &formulas, "FILE",
                   "formulas, one a line; - is standard input"),
        CLI_OPTION(LIST, "table", &tables, "FILE",
                   "a table; may be given many times, or further ones as arguments"),
        CLI_OPTION(TEXT, "out", &path, "FILE", "the vectors, as .npy", .short_name = 'o'),
        CLI_OPTION(CHOICE, "view", &form, "V",
                   "exact, or form: constants and y's unit do not count", .choices = views),
        CLI_SWITCH("subtrees", &subtrees, "each part of a formula as well, seen in context"),
        CLI_SWITCH("skip-bad", &skip, "leave out formulas that cannot be read"),
        CLI_SWITCH("json", &out.json, "a JSON object a row"),
        CLI_TASK_TABLE(&task),
        CLI_TASK_MODEL(&task),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (!path || !formulas == !tables.count || (formulas && n))
        return cli_wants(self, "--out FILE and either --formulas FILE or --table FILE ...");
    if (strcmp(path, "-") == 0)
        return cli_fail(self, CLI_MISUSED,
                        "the vectors need a file; standard output lists their rows");
    code = CLI_FAILED;
    if (!cli_task_start(self, &task)) {
        cli_task_close(&task);
        return code;
    }
    out.latent = (size_t)task.t->m->config.latent;
    model_space *space = model_space_new(task.t->m, task.t->tree, task.cores);
    float *z = malloc(out.latent * sizeof *z);
    int opened = file_out_open(&out.to, path);
    if (!opened)
        good = cli_fail(self, 0, "%s: cannot write: %s", path, strerror(errno));
    else if (!(out.lines = tmpfile()))
        good = cli_fail(self, 0, "cannot make a temporary file: %s", strerror(errno));
    else if (!space || !z)
        good = cli_fail(self, 0, "out of memory");
    else if (!npy_head(out.to.f, 0, out.latent))
        out.error = errno;
    if (good && formulas)
        good = embed_formulas(self, &task, space, &out, formulas, form, subtrees, skip);
    for (size_t i = 0; i < tables.count && good; i++)
        good = embed_table(self, &task, space, &out, tables.value[i], form, z);
    for (int i = 0; i < n && good; i++)
        good = embed_table(self, &task, space, &out, argv[i], form, z);
    if (good && fflush(out.to.f) != 0 && !out.error)
        out.error = errno;
    if (good && !out.error && !print_lines(&out))
        good = cli_fail(self, 0, "cannot keep a temporary file: %s", strerror(errno));
    good = good && cli_finish(self) == CLI_DONE;
    if (opened) {
        /* The number of rows is known only now. */
        if (good && !out.error &&
            (fseek(out.to.f, 0, SEEK_SET) != 0 || !npy_head(out.to.f, out.rows, out.latent)))
            out.error = errno;
        if (!file_out_close(&out.to, good && !out.error) && good)
            good = cli_fail(self, 0, "%s: cannot write: %s", path,
                            strerror(out.error ? out.error : errno));
    }
    if (good)
        code = CLI_DONE;
    if (out.lines)
        fclose(out.lines);
    model_space_free(space);
    free(z);
    cli_task_close(&task);
    return code;
}

const cli_command cli_embed_command = {
    .name = "embed",
    .summary = "turn formulas or tables into vectors of the shared space",
    .arguments = "(--formulas FILE | --table FILE ...) --out FILE.npy [options]",
    .about = "Writes a matrix of floats that NumPy reads, each row of length 1, and prints a line "
             "for every row: row, file, line, name, node (-1: the whole), formula. Formulas are "
             "taken as functions of inputs of mean 0 and deviation 1, as in training; tables are "
             "standardised. The inner product of a formula's row and a table's row says how well "
             "they agree. With --view form a table has two rows, for y and for -y; the larger "
             "product counts.",
    .examples = "snip embed --formulas formulas.txt -o formulas.npy\n"
                "echo 'sin(x0) + 2.5*x1' | snip embed --formulas - --subtrees -o parts.npy\n"
                "snip embed --table a.csv b.csv c.csv -o tables.npy\n"
                "snip embed --table a.csv --view form -o forms.npy\n",
    .run = command,
};
