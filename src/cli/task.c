/* task.c - see task.h. */
#include "cli/task.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

enum { LINES_MAX = 10000000 }; /* of a file of formulas */

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
    if (table_read(&t, path, &task->table, task->a, &st) != SNIP_OK)
        return cli_fail(self, 0, "%s", st.msg);
    if (t.columns < 2)
        return cli_fail(self, 0, "%s: has one column; inputs and a target are needed", path);
    if (!table_inputs(&t, &names, &x, task->a))
        return cli_fail(self, 0, "out of memory");
    if (task->t && t.inputs > (size_t)task->t->m->config.dims)
        return cli_fail(self, 0, "%s: has %zu inputs, the model reads %d; choose with --columns",
                        path, t.inputs, task->t->m->config.dims);
    if (!task->quiet)
        cli_table_notes(self, &t, &task->table);
    const regress_table data = { t.inputs, t.rows, names, x, t.column[t.target] };
    if (regress_problem_make(&task->p, &data, task->seed, task->a, &st) != SNIP_OK)
        return cli_fail(self, 0, "%s: %s", path, st.msg);
    for (size_t j = 0; j < t.inputs && !task->quiet; j++)
        if (task->p.low[j] == task->p.high[j])
            fprintf(stderr, "snip %s: %s is the same in all rows that are not held out\n",
                    self->name, names[j]);
    if (task->p.fit < task->p.train && !task->quiet)
        fprintf(stderr, "snip %s: %zu of the rows are used to fit constants, all to judge\n",
                self->name, task->p.fit);
    return 1;
}

/* The next cell of a CSV line, unquoted in place; *s moves behind it. NULL if there is none or a
 * quote has no end. */
static char *next_cell(char **s)
{
    char *from = *s, *to = *s, *start = *s;
    if (!from)
        return NULL;
    if (*from == '"') {
        for (from++; *from && (*from != '"' || from[1] == '"'); *to++ = *from++)
            from += *from == '"';
        if (!*from)
            return NULL;
    } else {
        while (*from && *from != ',')
            *to++ = *from++;
    }
    from += strcspn(from, ",");
    *s = *from ? from + 1 : NULL;
    *to = 0;
    return start;
}

/* Which cell of a CSV head is called Equation, -1 if none. The line is spoilt. */
static int equation_column(char *line)
{
    if (!strchr(line, ','))
        return -1;
    const char *cell;
    for (int k = 0; (cell = next_cell(&line)); k++)
        if (strcasecmp(cell, "equation") == 0)
            return k;
    return -1;
}

static char *strip(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    size_t n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1]))
        s[--n] = 0;
    return s;
}

/* Whether the line is not blank and no comment; sets its text and name. The text is NULL where a
 * CSV file has no such cell. */
static int split(cli_line *l, char *line, int column)
{
    l->name = NULL;
    line = strip(line);
    if (!*line || (*line == '#' && column < 0))
        return 0;
    if (column >= 0) {
        char *cell = NULL;
        for (int k = 0; k <= column; k++)
            cell = next_cell(&line);
        l->text = cell ? strip(cell) : NULL;
        return 1;
    }
    char *tab = strchr(line, '\t');
    if (tab) {
        *tab = 0;
        l->name = text_clean(strip(line));
        line = strip(tab + 1);
    }
    l->text = line;
    return 1;
}

size_t cli_lines(const cli_command *self, cli_line **out, const char *path, const expr_names *names,
                 int skip, int quiet, arena *a)
{
    char *all;
    size_t size, room = 1, count = 0, number = 0;
    snip_status st;
    int column = -1;
    if (file_read_text(&all, &size, path, FILE_FORMULAS_MAX, a, &st) != SNIP_OK)
        return cli_fail(self, 0, "%s", st.msg), (size_t)-1;
    for (size_t i = 0; i < size; i++) {
        if (!all[i])
            return cli_fail(self, 0, "%s: holds a zero byte, so it is not text", path), (size_t)-1;
        room += all[i] == '\n';
    }
    if (room > LINES_MAX)
        return cli_fail(self, 0, "%s: has more than %d lines", path, LINES_MAX), (size_t)-1;
    cli_line *l = *out = arena_array(a, room, sizeof *l);
    if (!l)
        return cli_fail(self, 0, "out of memory"), (size_t)-1;
    for (char *line = all, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        number++;
        if (number == 1) {
            char *head = arena_text(a, line, strlen(line));
            column = head ? equation_column(strip(head)) : -1;
            if (column >= 0)
                continue;
        }
        l[count].number = number;
        if (!split(&l[count], line, column))
            continue;
        if (l[count].text && expr_parse(&l[count].e, l[count].text, names, a, &st) == SNIP_OK) {
            count++;
            continue;
        }
        if (skip && quiet)
            continue;
        const char *skipped = skip ? "; skipped" : "";
        if (!l[count].text)
            cli_fail(self, 0,
                     "%s, line %zu: no cell in the column Equation, or a quote without its "
                     "end%s",
                     path, number, skipped);
        else
            cli_fail(self, 0, "%s, line %zu, byte %zu of the formula: %s%s", path, number, st.pos,
                     st.msg, skipped);
        if (!skip)
            return (size_t)-1;
    }
    if (count == 0)
        return cli_fail(self, 0, "%s: holds no formula", path), (size_t)-1;
    return count;
}
