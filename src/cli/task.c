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

int cli_task_table(const cli_command *self, cli_task *task, const char *path)
{
    snip_status st;
    table t;
    const char **names;
    const double **x;
    task->table.need_target = 1;
    task->table.hints = &cli_table_hints;
    if (table_read(&t, path, &task->table, task->a, &st) != SNIP_OK)
        return cli_fail(self, 0, "%s", st.msg);
    if (t.inputs == 0)
        return cli_fail(self, 0, "%s: has %s; inputs and a target are needed", path,
                        t.columns == 1 ? "one column" : "target and weights only");
    if (!table_inputs(&t, &names, &x, task->a))
        return cli_fail(self, 0, "out of memory");
    if (task->t && t.inputs > (size_t)task->t->m->config.dims)
        return cli_fail(self, 0, "%s: has %zu inputs, the model reads %d; choose with --columns",
                        path, t.inputs, task->t->m->config.dims);
    if (!task->quiet)
        cli_table_notes(self, &t, &task->table, task->a);
    const regress_table data = { t.inputs, t.rows, names, x, t.column[t.target] };
    const double *weight = t.weights == TABLE_NO_TARGET ? NULL : t.column[t.weights];
    snip_code code =
        weight ? regress_problem_weighted(&task->p, &data, weight, task->seed, task->a, &st)
               : regress_problem_make(&task->p, &data, task->seed, task->a, &st);
    if (code != SNIP_OK)
        return cli_fail(self, 0, "%s: %s", path, st.msg);
    const char *note;
    for (size_t k = 0; !task->quiet && (note = regress_problem_note(&task->p, k, task->a)); k++)
        fprintf(stderr, "snip %s: %s\n", self->name, note);
    for (size_t k = 0;
         task->t && !task->quiet && (note = regress_problem_uneven(&task->p, k, task->a)); k++)
        fprintf(stderr, "snip %s: %s\n", self->name, note);
    return 1;
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
