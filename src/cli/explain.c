/* explain.c - `snip explain`: which part of a formula the data disagree with. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/numbers.h"
#include "cli/task.h"
#include "regress/results.h"

/* The terminal's colour for a share: from none over yellow to red. */
static const char *colour(double s)
{
    return s > .8 ? "\033[1;31m" : s > .5 ? "\033[33m" : s > .25 ? "\033[2;33m" : "";
}

enum { BAR = 10, LABELS = 34 };

/* The bytes of UTF-8 text that take no place of their own. */
static int continued(const char *s)
{
    int n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xC0) == 0x80;
    return n;
}

static void print_node(const regress_explanation *x, const regress_problem *p, size_t i,
                       char *indent, int last, int coloured, arena *a)
{
    char buf[48];
    const expr_node *n = &x->shown.node[i];
    size_t depth = strlen(indent);
    const char *name = regress_node_label(x, i, &p->names, buf);
    const char *branch = i == 0 ? "" : last ? "`- " : "|- ";
    int width = LABELS - (int)(depth + strlen(branch)) + continued(name);
    double s = regress_gain_share(x, i);
    printf("  %s%s%s%-*s%s", indent, branch, coloured ? colour(s) : "", width > 8 ? width : 8, name,
           coloured && *colour(s) ? "\033[0m" : "");
    if (!isnan(x->gain[i])) {
        char bar[BAR + 1];
        int full = (int)lround(s * BAR);
        memset(bar, '#', (size_t)full);
        memset(bar + full, ' ', (size_t)(BAR - full));
        bar[BAR] = 0;
        printf(" %+.4f %s", x->gain[i], bar);
        if (s > .5) {
            const char *what = regress_edit_text(&x->edit[x->best[i]], x->shown, &p->names, a);
            printf(" %s", what ? what : "");
        }
    }
    putchar('\n');
    if (depth + 4 > 2 * 200)
        return; /* deeper than anyone reads */
    if (i)
        strcat(indent, last ? "   " : "|  ");
    for (int k = 0; k < expr_ops[n->op].arity; k++)
        print_node(x, p, expr_child(x->e, i, k), indent, k + 1 == expr_ops[n->op].arity, coloured,
                   a);
    indent[depth] = 0;
}

/* The share of y's variance that a cross-validated error leaves explained. */
static double r2_cross(double cross, const regress_problem *p)
{
    return 1 - cross / numbers_safe_variance(p->y, p->rows);
}

static const char *judged_on(const regress_problem *p)
{
    return p->rows > p->train ? "the rows held out" : "all rows";
}

static void print_edit(const regress_explanation *x, const regress_edit *e, const cli_task *task)
{
    char b[2][32];
    const regress_problem *p = &task->p;
    int part = p->rows > p->train;
    const char *what = regress_edit_text(e, x->shown, &p->names, task->a);
    printf("%+9.4f %9s %9s  %s\n", isnan(e->gain) ? 0 : e->gain,
           cli_short_number(b[0], e->errors.r2[part]),
           cli_short_number(b[1], isnan(e->refitted.cross) ? e->refitted.r2[part]
                                                           : r2_cross(e->refitted.cross, p)),
           what ? what : "");
}

/* Two digits; but 99.97 % is not 100. */
static const char *percent(char buf[32], double v)
{
    if (v > 99.995)
        snprintf(buf, 32, "more than 99.99");
    else
        snprintf(buf, 32, v > 99 ? "%.2f" : "%.0f", v);
    return buf;
}

/* A probability, with its sign. */
static const char *chance(char buf[32], double p)
{
    if (p < 1e-6)
        snprintf(buf, 32, "< 1e-6");
    else if (p >= 1)
        snprintf(buf, 32, "= 1");
    else
        snprintf(buf, 32, "= %.1g", p);
    return buf;
}

/* The verdict with its evidence, in plain words. */
static void print_verdict(const regress_explanation *x, const cli_task *task)
{
    const regress_evidence *v = &x->evidence;
    if (v->best == (size_t)-1)
        return;
    char b[2][32];
    const char *what = regress_edit_text(x->verdict, x->shown, &task->p.names, task->a);
    double less = 100 * (1 - v->cross[1] / v->cross[0]);
    if (v->supported)
        printf(
            "verdict     %s\n            lowers the cross-validated error by %s %% (p %s for the "
            "best of %zu %s)\n",
            what ? what : "an edit", percent(b[0], less), chance(b[1], v->p), v->tried,
            x->verdict->two ? "edits, single and in pairs" : "edits");
    else if (less > 0)
        printf("verdict     no edit is supported by the data: the best of %zu lowers the "
               "cross-validated\n            error by %s %% (p %s): %s\n",
               v->tried, percent(b[0], less), chance(b[1], v->p), what ? what : "");
    else
        printf("verdict     no edit is supported by the data: none of the best of %zu lowers the "
               "cross-validated error\n",
               v->tried);
}

static void print_explanation(const regress_explanation *x, const cli_task *task, size_t top,
                              int coloured)
{
    char b[2][32], indent[512] = "";
    const regress_problem *p = &task->p;
    const char *text = expr_print(x->shown, SNIP_INFIX, &p->names, 5, task->a);
    printf("formula     %s\n", text ? text : "");
    printf("similarity  %.4f\nR2          %s on %zu rows, %s on %zu held out\n", x->similarity,
           cli_short_number(b[0], x->errors.r2[0]), p->train,
           cli_short_number(b[1], x->errors.r2[1]), p->rows - p->train);
    print_verdict(x, task);
    putchar('\n');
    printf("  %-*s   gain of the best edit there\n", LABELS, "");
    print_node(x, p, 0, indent, 1, coloured, task->a);
    if (x->listed == 0)
        return;
    printf("\nSingle edits with the least error of %zu; R2 on %s%s:\n", x->listed, judged_on(p),
           p->rows < REGRESS_FEW_ROWS ? " before, cross-validated after a refit"
                                      : ", before and after a refit");
    printf("%9s %9s %9s  %s\n", "gain", "R2", "R2 refit", "edit");
    for (size_t k = 0; k < x->listed && k < top; k++)
        print_edit(x, &x->edit[k], task);
    if (x->pairs)
        printf("\nTwo edits at once with the least error of %zu:\n", x->pairs_tried);
    for (size_t k = 0; k < x->pairs && k < top; k++)
        print_edit(x, &x->pair[k], task);
    if (!x->evidence.supported)
        return;
    text = expr_print(x->evidence.fitted, SNIP_INFIX, &p->names, 5, task->a);
    printf("\nThe verdict's formula, its constants fitted to all rows:\n  %s\n", text ? text : "");
}

static int write_svg(const cli_command *self, const char *path, const regress_explanation *x,
                     const cli_task *task)
{
    text t = { .a = task->a };
    regress_explanation_svg(&t, x, &task->p);
    const char *svg = text_end(&t);
    if (!svg)
        return cli_fail(self, CLI_FAILED, "out of memory");
    file_out o;
    int good = file_out_open(&o, path);
    if (good) {
        fputs(svg, o.f);
        good = file_out_close(&o, 1);
    }
    return good ? CLI_DONE
                : cli_fail(self, CLI_FAILED, "%s: cannot write: %s", path, strerror(errno));
}

/* Opens the model, reads table and formula, and makes the problem. Prints what is wrong and returns
 * 0 on failure. */
static int open_task(const cli_command *self, cli_task *task, expr *e, char **argv)
{
    if (!cli_task_start(self, task) || !cli_task_read(self, task, argv[0]))
        return 0;
    const expr_names names = cli_task_names(task);
    if (!cli_formula(self, e, argv[1], &names, task->a))
        return 0;
    if (expr_inputs(*e) > names.count)
        return cli_fail(self, 0, "the formula uses x%zu, the table has %zu input%s",
                        expr_inputs(*e) - 1, names.count, text_plural(names.count));
    if (!cli_task_narrow(self, task, e, 1))
        return 0;
    if (!cli_task_fits(task))
        return cli_fail(self, 0, "the formula uses %zu inputs, the model reads %d", task->data.dim,
                        task->t->m->config.dims);
    return cli_task_problem(self, task);
}

static int command(const cli_command *self, int argc, char **argv)
{
    int code, json = 0, as_given = 0, colours = 0;
    uint64_t top = 10, tried = 0;
    const char *svg = NULL;
    static const char *const when[] = { "auto", "always", "never", NULL };
    cli_task task = { 0 };
    const cli_option options[] = {
        CLI_OPTION(COUNT, "top", &top, "N", "edits to list; 0: all that are refitted",
                   .high = 1000),
        CLI_OPTION(COUNT, "try", &tried, "N",
                   "edits to refit, largest gain first; default: all, or 40 if slow", .low = 1,
                   .high = 100000),
        CLI_SWITCH("as-given", &as_given,
                   "explain with the given constants instead of refitted ones"),
        CLI_OPTION(TEXT, "svg", &svg, "FILE", "draw the tree as well"),
        CLI_OPTION(CHOICE, "color", &colours, "WHEN", "colours in the tree: auto, always, never",
                   .choices = when),
        CLI_OPTION(TEXT, "weights", &task.table.weights, "NAME",
                   "column of the rows' weights, of which only the ratios count"),
        CLI_SWITCH("json", &json, "one JSON object"),
        CLI_TASK_TABLE(&task),
        CLI_TASK_MODEL(&task),
    };
    if (!cli_parse_two(self, options, sizeof options / sizeof *options, argc, argv, "table",
                       "formula", &code))
        return code;
    if (svg && !cli_can_write(self, svg))
        return CLI_FAILED;

    expr e;
    snip_status st;
    regress_explanation x;
    code = CLI_FAILED;
    if (!open_task(self, &task, &e, argv))
        goto done;
    const uint64_t some = tried ? tried : 40;
    const regress_explain_how how = { .refit = !as_given,
                                      .list = (size_t)(some > top ? some : top),
                                      .all = tried == 0,
                                      .threads = task.cores };
    if (regress_explain(&x, e, &task.p, task.t, &how, task.a, &st) != SNIP_OK) {
        cli_fail_status(self, &st);
        goto done;
    }
    if (top == 0)
        top = x.listed;
    e = x.evidence.supported ? x.evidence.fitted : x.whole.fitted;
    cli_task_note_errors(self, &task, regress_errors_grow(e, &task.p, task.a), task.p.rows);
    int drawn = svg ? write_svg(self, svg, &x, &task) : CLI_DONE; /* the rest is told in any case */
    if (json) {
        code = cli_print_json(
            self, regress_explanation_json(&x, &task.p, (size_t)top, task.t->hash, task.a));
    } else {
        print_explanation(&x, &task, (size_t)top,
                          colours == 1 || (colours == 0 && isatty(STDOUT_FILENO)));
        code = cli_finish(self);
    }
    code = code == CLI_DONE ? drawn : code;
done:
    cli_task_close(&task);
    return code;
}

const cli_command cli_explain_command = {
    .name = "explain",
    .summary = "show which part of a formula the data disagree with",
    .arguments = "TABLE FORMULA [options]",
    .about = "Edits every part of the formula in turn (another operator, operands swapped or "
             "dropped, a function around it, another variable) and shows how much the agreement "
             "with the table in the shared space would gain: a tree with the gain of each part's "
             "best edit, then the best edits with their real errors before and after a "
             "refit. Exponents that become constants, and constants added to an input or to the "
             "whole, are tried, too; they have no gain. In short formulas, pairs of parts are "
             "edited too if no single edit explains the table. Constants printed come from all "
             "rows; rows held out only judge. With --weights every error is weighted; rows of "
             "weight 0 are left out. If a table has more inputs than the model reads, only those "
             "that the formula uses are taken.",
    .examples = "snip explain data.csv 'a*cos(b) + 1.5'\n"
                "snip explain data.csv @formula.txt --svg formula.svg\n"
                "snip explain data.csv '2.5*a/b^2' --weights w\n",
    .run = command,
};
