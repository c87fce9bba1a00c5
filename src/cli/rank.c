/* rank.c - `snip rank`: candidate formulas for a table, best first. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ranking.h"
#include "cli/task.h"
#include "regress/evidence.h"

/* The candidates: formulas given by --formula, then those of the file. */
static regress_candidate *candidates(const cli_command *self, size_t *count, cli_task *task,
                                     const char *path, const cli_list *given, int skip)
{
    const expr_names names = cli_task_names(task);
    regress_formula *line = NULL;
    size_t n = 0;
    if (path) {
        n = cli_lines(self, &line, path, &names, skip, task->quiet, task->a);
        if (n == (size_t)-1)
            return NULL;
    }
    regress_candidate *c = arena_zero(task->a, (n + given->count) * sizeof *c);
    if (!c) {
        cli_fail(self, CLI_FAILED, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < given->count; i++) {
        if (!cli_formula(self, &c[i].e, given->value[i], &names, task->a))
            return NULL;
        c[i].text = given->value[i];
    }
    for (size_t i = 0; i < n; i++) {
        c[given->count + i].e = line[i].e;
        c[given->count + i].text = line[i].text;
    }
    *count = n + given->count;
    for (size_t i = 0; i < *count; i++) {
        c[i].place = i + 1;
        if (expr_inputs(c[i].e) > names.count) {
            cli_fail(self, CLI_FAILED, "formula %zu uses x%zu, the table has %zu input%s", i + 1,
                     expr_inputs(c[i].e) - 1, names.count, text_plural(names.count));
            return NULL;
        }
    }
    return c;
}

/* The problem, of the inputs that the candidates use where there are more than the model reads. If
 * they use too many themselves, it is judged without the model. */
static int make_problem(const cli_command *self, cli_task *task, const regress_candidate *c,
                        size_t n)
{
    expr *e = arena_array(task->a, n + 1, sizeof *e);
    if (!e)
        return cli_fail(self, 0, "out of memory");
    for (size_t i = 0; i < n; i++)
        e[i] = c[i].e;
    if (!cli_task_narrow(self, task, e, n))
        return 0;
    if (!cli_task_fits(task)) {
        if (!task->quiet)
            fprintf(stderr,
                    "snip %s: the formulas use %zu inputs, the model reads %d: no similarities\n",
                    self->name, task->data.dim, task->t->m->config.dims);
        model_close(task->t);
        task->t = NULL;
    }
    return cli_task_problem(self, task);
}

static int command(const cli_command *self, int argc, char **argv)
{
    int code, as_given = 0, skip = 0;
    cli_task task = { 0 };
    cli_list given = { 0 };
    cli_ranking show = { .starts = 4 };
    regress_rank_how how = { .order = REGRESS_BY_BALANCE, .spell = 1 };
    const cli_option options[] = {
        CLI_OPTION(LIST, "formula", &given, "F", "a candidate; may be given many times"),
        CLI_SWITCH("as-given", &as_given, "keep the formulas' constants instead of refitting them"),
        CLI_OPTION(CHOICE, "by", &how.order, "ORDER",
                   "balance (error and size together), loss or similarity",
                   .choices = regress_order_names),
        CLI_SWITCH("skip-bad", &skip, "leave out formulas that cannot be read"),
        CLI_OPTION(TEXT, "weights", &task.table.weights, "NAME",
                   "column of the rows' weights, of which only the ratios count"),
        CLI_RANKING_OPTIONS(&show),
        CLI_TASK_TABLE(&task),
        CLI_TASK_MODEL(&task),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n < 1 || n > 2 || (n == 1 && given.count == 0))
        return cli_wants(self, "a table and a file of formulas, or --formula");
    if (n == 2 && !cli_one_input(self, argv, "table and formulas"))
        return CLI_MISUSED;
    if (show.out && !cli_can_write(self, show.out))
        return CLI_FAILED;

    snip_status st;
    size_t count = 0;
    code = CLI_FAILED;
    regress_candidate *c = NULL;
    if (cli_task_start(self, &task) && cli_task_read(self, &task, argv[0]))
        c = candidates(self, &count, &task, n == 2 ? argv[1] : NULL, &given, skip);
    if (c && make_problem(self, &task, c, count)) {
        how.refit = !as_given;
        how.starts = (int)show.starts;
        how.threads = task.cores;
        if (regress_rank(c, count, &task.p, task.t, &how, task.a, &st) != SNIP_OK)
            cli_fail_status(self, &st);
        else {
            if (count > 0 && c[0].fitted_rows > 0)
                cli_task_note_errors(self, &task, regress_errors_grow(c[0].fitted, &task.p, task.a),
                                     task.p.rows);
            code = cli_ranking_print(self, &show, c, count, &task);
        }
    }
    cli_task_close(&task);
    return code;
}

const cli_command cli_rank_command = {
    .name = "rank",
    .summary = "order candidate formulas for a table",
    .arguments = "TABLE [FORMULAS] [options]",
    .about =
        "Refits the constants of every candidate on three quarters of the rows, judges them "
        "by the rest, and orders the candidates by error and size together (--by similarity: "
        "by the agreement with the table in the shared space). The constants printed are then "
        "fitted to all rows; rows held out only judge. FORMULAS is a file with a formula a line, "
        "or a hall of fame as PySR writes it; - is standard input. Variables are the table's "
        "column names, or x0, x1, ... in order. `promise`, if the model has one, is a small "
        "network's guess, before any fit, at how a candidate will rank; only the order counts, and "
        "other given constants give another promise. `front` marks the Pareto front: no simpler "
        "formula has a lower held-out error. Whole exponents (x^2, x^3.0) and quotients of whole "
        "numbers (x^(1/3)) are part of the form and not refitted; x^2.1 is. No constant is added: "
        "sqrt(x) keeps its scale, 1.0*sqrt(x) is fitted. Tables of fewer than 100 rows are judged "
        "by cross-validation. Formulas with as many constants as rows, or more, come last by "
        "balance. With --weights every error is weighted; rows of weight 0 are left out. If a "
        "table has more inputs than the model reads, only those that the formulas use are taken; "
        "if these are still too many, there are no similarities.",
    .examples = "snip rank data.csv formulas.txt\n"
                "snip rank data.csv --formula 'a*sin(b)' --formula 'a*b + 1.5'\n"
                "snip rank data.csv hall_of_fame.csv --format csv --out ranked.csv\n"
                "snip rank data.csv formulas.txt --format c --top 1 > best.c\n",
    .run = command,
};
