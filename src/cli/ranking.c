/* ranking.c - see ranking.h. */
#include "cli/ranking.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "regress/results.h"

const char *const cli_ranking_formats[] = { "table", "csv", "json", "latex", "sympy", "c", NULL };

static char *formula(const regress_candidate *c, snip_format format, const expr_names *names,
                     int digits, arena *a)
{
    char *s = expr_print(c->fitted, format, names, digits, a);
    return s ? s : "";
}

/* The same for people: no more digits than it takes. */
static const char *shown_formula(const regress_candidate *c, snip_format format,
                                 const cli_task *task)
{
    int digits;
    const char *s = regress_shown(c, format, &task->p, &digits, task->a);
    return s ? s : "";
}

/* Whether some formula was cross-validated: the table has few rows. */
static int is_crossed(const regress_candidate *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isnan(c[i].errors.cross))
            return 1;
    return 0;
}

/* Whether the formulas are named laws: all or none are. */
static int named(const regress_candidate *c, size_t n)
{
    return n > 0 && c[0].name;
}

/* The error that formulas are judged by has one column, whichever it is. */
static const char *loss_title(int few)
{
    return few ? "loss cross" : "loss held";
}

static double loss_of(const regress_candidate *c, const cli_task *task, int few)
{
    return few ? regress_judged(&c->errors, &task->p) : c->errors.loss[1];
}

/* Laws with their names and fields; similarities only if a model gave some. */
static void as_law_table(FILE *f, const regress_candidate *c, size_t n, const cli_task *task,
                         int few)
{
    int name = 3, field = 5;
    for (size_t i = 0; i < n; i++) {
        name = (int)strlen(c[i].name) > name ? (int)strlen(c[i].name) : name;
        field = (int)strlen(c[i].field) > field ? (int)strlen(c[i].field) : field;
    }
    fprintf(f, "%4s ", "");
    if (task->t)
        fprintf(f, "%10s ", "similarity");
    fprintf(f, "%9s %9s %10s %5s %6s %5s  %-*s  %-*s  %s\n", "R2 train", "R2 held", loss_title(few),
            "nodes", "consts", "front", name, "law", field, "field", "formula");
    for (size_t i = 0; i < n; i++) {
        char b[4][32];
        fprintf(f, "%4zu ", i + 1);
        if (task->t)
            fprintf(f, "%10s ", cli_short_number(b[0], c[i].similarity));
        fprintf(f, "%9s %9s %10s %5zu %6zu %5s  %-*s  %-*s  %s\n",
                cli_short_number(b[1], c[i].errors.r2[0]),
                cli_short_number(b[2], c[i].errors.r2[1]),
                cli_short_number(b[3], loss_of(&c[i], task, few)), c[i].complexity, c[i].constants,
                c[i].front ? "*" : "", name, c[i].name, field, c[i].field,
                shown_formula(&c[i], SNIP_INFIX, task));
    }
}

static void as_table(FILE *f, const regress_candidate *c, size_t n, const cli_task *task)
{
    int few = task->p.rows < REGRESS_FEW_ROWS && is_crossed(c, n);
    if (named(c, n)) {
        as_law_table(f, c, n, task, few);
        return;
    }
    int promise = task->t && model_promise_known(&task->t->promise);
    fprintf(f, "%4s %10s", "", "similarity");
    if (promise)
        fprintf(f, " %8s", "promise");
    fprintf(f, " %9s %9s %10s %5s %6s %5s  %s\n", "R2 train", "R2 held", loss_title(few), "nodes",
            "consts", "front", "formula");
    for (size_t i = 0; i < n; i++) {
        char b[4][32];
        fprintf(f, "%4zu %10s", i + 1, cli_short_number(b[0], c[i].similarity));
        if (promise)
            fprintf(f, " %8s", cli_short_number(b[0], c[i].promise));
        fprintf(f, " %9s %9s %10s %5zu %6zu %5s  %s\n", cli_short_number(b[1], c[i].errors.r2[0]),
                cli_short_number(b[2], c[i].errors.r2[1]),
                cli_short_number(b[3], loss_of(&c[i], task, few)), c[i].complexity, c[i].constants,
                c[i].front ? "*" : "", shown_formula(&c[i], SNIP_INFIX, task));
    }
}

/* What the table does not say of itself: `shown` of n candidates are in it. */
static void put_notes(FILE *f, const regress_candidate *c, size_t shown, size_t n,
                      const cli_task *task)
{
    char b[32];
    size_t first = 0, without = 0, least = 0;
    for (size_t i = 1; i < n; i++)
        if (regress_judged(&c[i].errors, &task->p) < regress_judged(&c[least].errors, &task->p))
            least = i;
    if (least >= shown && least < n)
        fprintf(f, "not shown: number %zu, with the least loss (%s): %s\n", least + 1,
                cli_short_number(b, regress_judged(&c[least].errors, &task->p)),
                shown_formula(&c[least], SNIP_INFIX, task));
    for (size_t i = shown; i-- > 0;)
        if (c[i].why) {
            first = i;
            without++;
        }
    if (without)
        fprintf(f, "no similarity for %zu of them; number %zu: %s\n", without, first + 1,
                c[first].why);
    size_t long_ones = 0;
    int most = 0;
    for (size_t i = shown; i-- > 0;) {
        arena_pos mark = arena_mark(task->a);
        int digits;
        if (regress_shown(&c[i], SNIP_INFIX, &task->p, &digits, task->a) &&
            digits > REGRESS_DIGITS_MANY) {
            first = i;
            most = digits;
            long_ones++;
        }
        arena_reset(task->a, mark);
    }
    if (long_ones)
        fprintf(
            f,
            "%zu of them %s more than %d digits to be the same; number %zu: %d. Large terms cancel "
            "there\n",
            long_ones, long_ones == 1 ? "needs" : "need", REGRESS_DIGITS_MANY, first + 1, most);
    size_t full = 0;
    for (size_t i = shown; i-- > 0;)
        if (regress_saturated(&c[i])) {
            first = i;
            full++;
        }
    if (full)
        fprintf(
            f,
            "%zu of them %s no fewer constants than rows to fit them on; number %zu: %zu on %zu "
            "rows. Such errors say nothing\n",
            full, full == 1 ? "has" : "have", first + 1, c[first].constants, c[first].fitted_rows);
    if (is_crossed(c, shown))
        fprintf(f, "few rows: loss and front are judged by %d-fold cross-validation\n",
                regress_folds(task->p.rows));
    if (task->p.train == task->p.rows)
        fprintf(f, "no rows held out: the table has fewer than %d\n", REGRESS_HOLD_OUT_MIN);
}

static void as_csv(FILE *f, const regress_candidate *c, size_t n, const cli_task *task)
{
    fprintf(f,
            "Complexity,Loss,Equation,Score,similarity,r2_train,r2_val,loss_val,loss_cross,"
            "model_size,constants,pareto,promise,given%s\n",
            named(c, n) ? ",name,field" : "");
    for (size_t i = 0; i < n; i++) {
        char b[8][32];
        fprintf(f, "%zu,%s,", c[i].complexity, cli_cell(b[0], c[i].errors.loss[0]));
        cli_put_quoted(f, formula(&c[i], SNIP_SYMPY, &task->p.names, 0, task->a));
        fprintf(f, ",%s,%s,%s,%s,%s,%s,%zu,%zu,%d,%s,", cli_cell(b[1], c[i].score),
                cli_cell(b[2], c[i].similarity), cli_cell(b[3], c[i].errors.r2[0]),
                cli_cell(b[4], c[i].errors.r2[1]), cli_cell(b[5], c[i].errors.loss[1]),
                cli_cell(b[6], c[i].errors.cross), c[i].size, c[i].constants, c[i].front,
                cli_cell(b[7], c[i].promise));
        cli_put_quoted(f, c[i].text ? c[i].text : "");
        if (c[i].name) {
            fputc(',', f);
            cli_put_quoted(f, c[i].name);
            fputc(',', f);
            cli_put_quoted(f, c[i].field);
        }
        fputc('\n', f);
    }
}

static void as_json(FILE *f, const regress_candidate *c, size_t n, const cli_task *task)
{
    json_t *o = regress_ranking_json(c, n, &task->p, task->t ? task->t->hash : NULL, task->a);
    if (o)
        json_dumpf(o, f, JSON_REAL_PRECISION(17) | JSON_COMPACT);
    fputc('\n', f);
    json_decref(o);
}

static void as_latex(FILE *f, const regress_candidate *c, size_t n, const cli_task *task)
{
    int laws = named(c, n);
    fprintf(f,
            "\\begin{tabular}{%srrrl}\n\\hline\n%ssimilarity & $R^2$ held out & nodes & formula "
            "\\\\\n\\hline\n",
            laws ? "l" : "", laws ? "law & " : "");
    for (size_t i = 0; i < n; i++) {
        char b[2][32];
        if (laws)
            fprintf(f, "%s & ", c[i].name);
        fprintf(f, "%s & %s & %zu & $%s$ \\\\\n", cli_short_number(b[0], c[i].similarity),
                cli_short_number(b[1], c[i].errors.r2[1]), c[i].complexity,
                shown_formula(&c[i], SNIP_LATEX, task));
    }
    fputs("\\hline\n\\end{tabular}\n", f);
}

/* Column j's name as C takes it. */
static const char *c_name(const regress_problem *p, size_t j, arena *a)
{
    expr_node leaf = { .op = EXPR_VARIABLE, .var = (uint16_t)j, .len = 1 };
    const char *s = expr_print((expr){ &leaf, 1 }, SNIP_C, &p->names, 0, a);
    return s ? s : "";
}

static void as_c(FILE *f, const regress_candidate *c, size_t n, const cli_task *task)
{
    fputs("#include <math.h>\n", f);
    for (size_t i = 0; i < n; i++) {
        fputc('\n', f);
        if (c[i].name)
            fprintf(f, "/* %s (%s) */\n", c[i].name, c[i].field);
        fprintf(f, "double formula_%zu(", i + 1);
        for (size_t j = 0; j < task->p.dim; j++)
            fprintf(f, "%sdouble %s", j ? ", " : "", c_name(&task->p, j, task->a));
        fputs(")\n{\n", f);
        for (size_t j = 0; j < task->p.dim; j++)
            if (!expr_uses(c[i].fitted, j))
                fprintf(f, "    (void)%s;\n", c_name(&task->p, j, task->a));
        fprintf(f, "    return %s;\n}\n", formula(&c[i], SNIP_C, &task->p.names, 0, task->a));
    }
}

static void as_sympy(FILE *f, const regress_candidate *c, size_t n, const cli_task *task)
{
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s\n", formula(&c[i], SNIP_SYMPY, &task->p.names, 0, task->a));
}

static void put_ranking(FILE *f, const cli_ranking *how, const regress_candidate *c, size_t n,
                        const cli_task *task)
{
    static void (*const print[])(FILE * f, const regress_candidate *c, size_t n,
                                 const cli_task *task) = { as_table, as_csv,   as_json,
                                                           as_latex, as_sympy, as_c };
    size_t shown = how->top && how->top < n ? (size_t)how->top : n;
    print[how->format](f, c, shown, task);
    if (how->format != CLI_RANKING_TABLE)
        return;
    put_notes(f, c, shown, n, task);
    if (how->note)
        fprintf(f, "%s\n", how->note);
}

int cli_ranking_print(const cli_command *self, const cli_ranking *how, const regress_candidate *c,
                      size_t n, const cli_task *task)
{
    if (!how->out) {
        put_ranking(stdout, how, c, n, task);
        return cli_finish(self);
    }
    file_out o;
    int good = file_out_open(&o, how->out);
    if (good) {
        put_ranking(o.f, how, c, n, task);
        good = file_out_close(&o, 1);
    }
    if (good)
        return CLI_DONE;
    /* It could be written before the work began; the work is not lost with the file. */
    cli_fail(self, CLI_FAILED, "%s: cannot write: %s; the results go to standard output", how->out,
             strerror(errno));
    put_ranking(stdout, how, c, n, task);
    cli_finish(self);
    return CLI_FAILED;
}
