/* task.c - see task.h. */
#include "cli/task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

const char *cli_short_number(char *buf, double v)
{
    if (isnan(v))
        return "-";
    snprintf(buf, 32, fabs(v) >= 1e5 || (v != 0 && fabs(v) < 1e-4) ? "%.2e" : "%.5g", v);
    return buf;
}

int cli_task_start(const cli_command *self, cli_task *task)
{
    snip_status st;
    task->cores = cli_threads(task->threads);
    if (!(task->a = arena_new(0)))
        return cli_fail(self, 0, "out of memory");
    const char *path = cli_model_path(task->model, task->a);
    if (!path)
        return cli_fail(self, 0, "no model found; name one with --model FILE or $SNIP_MODEL");
    if (model_open(&task->t, path, &st) != SNIP_OK)
        return cli_fail(self, 0, "%s", st.msg);
    return 1;
}

void cli_task_close(cli_task *task)
{
    model_close(task->t);
    arena_free(task->a);
}

int cli_task_open(const cli_command *self, cli_task *task, const char *path)
{
    return cli_task_start(self, task) && cli_task_table(self, task, path);
}

int cli_task_read(const cli_command *self, cli_task *task, const char *path)
{
    snip_status st;
    table t;
    const char **names;
    const double **x;
    task->path = path;
    task->table.need_target = 1;
    task->table.hints = &cli_table_hints;
    if (table_read(&t, path, &task->table, task->a, &st) != SNIP_OK)
        return cli_fail(self, 0, "%s", st.msg);
    if (t.inputs == 0)
        return cli_fail(self, 0, "%s: has %s; inputs and a target are needed", path,
                        t.columns == 1 ? "one column" : "target and weights only");
    if (!table_inputs(&t, &names, &x, task->a))
        return cli_fail(self, 0, "out of memory");
    if (!task->quiet)
        cli_table_notes(self, &t, &task->table, task->a);
    task->data = (regress_table){ t.inputs, t.rows, names, x, t.column[t.target] };
    task->weight = t.weights == TABLE_NO_TARGET ? NULL : t.column[t.weights];
    return 1;
}

expr_names cli_task_names(const cli_task *task)
{
    return (expr_names){ task->data.names, task->data.dim };
}

int cli_task_fits(const cli_task *task)
{
    return !task->t || task->data.dim <= (size_t)task->t->m->config.dims;
}

/* Says which of `all` inputs are taken. */
static void note_taken(const cli_command *self, const cli_task *task, size_t all)
{
    text list = { .a = task->a };
    for (size_t j = 0; j < task->data.dim; j++)
        text_add(&list, "%s%s", j ? ", " : "", task->data.names[j]);
    const char *names = text_end(&list);
    fprintf(stderr, "snip %s: %s: has %zu inputs, the model reads %d; using %s\n", self->name,
            task->path, all, task->t->m->config.dims, names ? names : "");
}

int cli_task_narrow(const cli_command *self, cli_task *task, const expr *e, size_t n)
{
    const regress_table all = task->data;
    const char **names = arena_array(task->a, all.dim, sizeof *names);
    const double **x = arena_array(task->a, all.dim, sizeof *x);
    uint16_t *place = arena_array(task->a, all.dim, sizeof *place);
    size_t used = 0;
    if (cli_task_fits(task))
        return 1;
    if (!names || !x || !place)
        return cli_fail(self, 0, "out of memory");
    for (size_t j = 0; j < all.dim; j++) {
        int wanted = 0;
        for (size_t i = 0; i < n && !wanted; i++)
            wanted = expr_uses(e[i], j);
        if (!wanted)
            continue;
        place[j] = (uint16_t)used;
        names[used] = all.names[j];
        x[used++] = all.x[j];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < e[i].count; k++)
            if (e[i].node[k].op == EXPR_VARIABLE)
                e[i].node[k].var = place[e[i].node[k].var];
    if (used > 0) {
        task->data.names = names;
        task->data.x = x;
    }
    task->data.dim = used > 0 ? used : 1; /* there is no table without an input */
    if (!task->quiet && cli_task_fits(task))
        note_taken(self, task, all.dim);
    return 1;
}

int cli_task_problem(const cli_command *self, cli_task *task)
{
    snip_status st;
    if (!cli_task_fits(task))
        return cli_fail(self, 0, "%s: has %zu inputs, the model reads %d; choose with --columns",
                        task->path, task->data.dim, task->t->m->config.dims);
    snip_code code = task->weight
                         ? regress_problem_weighted(&task->p, &task->data, task->weight, task->seed,
                                                    task->a, &st)
                         : regress_problem_make(&task->p, &task->data, task->seed, task->a, &st);
    if (code != SNIP_OK)
        return cli_fail(self, 0, "%s: %s", task->path, st.msg);
    const char *note;
    for (size_t k = 0; !task->quiet && (note = regress_problem_note(&task->p, k, task->a)); k++)
        fprintf(stderr, "snip %s: %s\n", self->name, note);
    for (size_t k = 0;
         task->t && !task->quiet && (note = regress_problem_uneven(&task->p, k, task->a)); k++)
        fprintf(stderr, "snip %s: %s\n", self->name, note);
    return 1;
}

int cli_task_table(const cli_command *self, cli_task *task, const char *path)
{
    return cli_task_read(self, task, path) && cli_task_problem(self, task);
}

void cli_task_note_errors(const cli_command *self, const cli_task *task, size_t telling,
                          size_t rows)
{
    if (telling > 0 && !task->quiet)
        fprintf(stderr,
                "snip %s: errors grow with y, and %zu of %zu rows make up most of them; if they "
                "are a share of y, a column 1/y^2 for --weights lets all rows count\n",
                self->name, telling, rows);
}

/* Says on standard error which line is left out, and why. */
static void skipped(void *with, const char *message)
{
    cli_fail(with, 0, "%s; skipped", message);
}

static void skipped_quietly(void *with, const char *message)
{
    (void)with, (void)message;
}

size_t cli_lines(const cli_command *self, regress_formula **out, const char *path,
                 const expr_names *names, int skip, int quiet, arena *a)
{
    snip_status st;
    size_t count;
    regress_skipped *note = !skip ? NULL : quiet ? skipped_quietly : skipped;
    if (regress_formulas_read(out, &count, path, names, note, (void *)self, a, &st) != SNIP_OK)
        return cli_fail(self, 0, "%s", st.msg), (size_t)-1;
    return count;
}
