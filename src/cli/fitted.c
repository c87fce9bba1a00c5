/* fitted.c - see fitted.h. */
#include "cli/fitted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* A name as it stands in a formula of that format; the others may make it longer in C. */
static const char *name_in(const regress_fitted *f, const expr_names *names, size_t i,
                           snip_format format)
{
    expr_node leaf = { .op = EXPR_VARIABLE, .var = (uint16_t)i, .len = 1 };
    const char *s = expr_print((expr){ &leaf, 1 }, format, names, 0, f->a);
    return s ? s : "";
}

/* Characters of UTF-8 text. */
static int width_of(const char *s)
{
    int n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

/* ---- for people ---- */

/* A table of texts, columns of equal width. */
enum { CELL = 64, COLUMNS = 8 };
typedef struct grid {
    char (*cell)[COLUMNS][CELL];
    size_t rows;
    int columns;
} grid;

static void put_grid(const grid *g)
{
    int width[COLUMNS] = { 0 };
    for (size_t i = 0; i < g->rows; i++)
        for (int c = 0; c < g->columns; c++) {
            int w = width_of(g->cell[i][c]);
            width[c] = w > width[c] ? w : width[c];
        }
    for (size_t i = 0; i < g->rows; i++) {
        size_t used = 0; /* nothing behind the last cell that holds something */
        for (int c = 0; c < g->columns; c++)
            used = *g->cell[i][c] ? (size_t)c + 1 : used;
        for (size_t c = 0; c < used; c++) {
            int pad = width[c] - width_of(g->cell[i][c]), left = c == 0 || c + 1 == COLUMNS;
            printf("%s%*s", c ? "  " : "", left ? 0 : pad, "");
            fputs(text_clean(g->cell[i][c]), stdout);
            printf("%*s", left && c + 1 < used ? pad : 0, "");
        }
        putchar('\n');
    }
}

static const char *number(char *buf, int digits, double v)
{
    if (isnan(v))
        return "-";
    snprintf(buf, 32, "%.*g", digits, v);
    return buf;
}

static void put_parameters(const regress_fitted *f)
{
    size_t n = f->r->params;
    grid g = { arena_zero(f->a, (n + 1) * sizeof *g.cell), n + 1, COLUMNS };
    if (!g.cell)
        return;
    char b[6][32];
    static const char *const heads[COLUMNS] = { "parameter", "estimate", "std. error", NULL,
                                                NULL,        "t",        "start",      "" };
    for (int c = 0; c < COLUMNS; c++)
        if (heads[c])
            snprintf(g.cell[0][c], CELL, "%s", heads[c]);
    snprintf(g.cell[0][3], CELL, "%.10g %% from", 100 * f->level);
    snprintf(g.cell[0][4], CELL, "to");
    for (size_t k = 0; k < n; k++) {
        const regress_estimated *e = &f->r->param[k];
        const regress_parameter *p = &f->law->param[k];
        char(*row)[CELL] = g.cell[k + 1];
        snprintf(row[0], CELL, "%.48s", p->name);
        snprintf(row[1], CELL, "%s", number(b[0], 8, e->value));
        snprintf(row[2], CELL, "%s", number(b[1], 5, e->error));
        snprintf(row[3], CELL, "%s", number(b[2], 6, e->low));
        snprintf(row[4], CELL, "%s", number(b[3], 6, e->high));
        snprintf(row[5], CELL, "%s", number(b[4], 4, e->t));
        snprintf(row[6], CELL, "%s", e->state == REGRESS_FIXED ? "" : number(b[5], 6, e->start));
        if (e->state != REGRESS_FITTED)
            snprintf(row[7], CELL, "%s", regress_state_names[e->state]);
    }
    put_grid(&g);
}

/* The lower triangle, where there are two or more to correlate. */
static void put_correlations(const regress_fitted *f)
{
    enum { MOST = 12 };
    size_t n = f->r->params, count = 0;
    size_t *at = arena_array(f->a, n + 1, sizeof *at);
    for (size_t k = 0; k < n && at; k++)
        if (f->r->param[k].state == REGRESS_FITTED && !isnan(f->r->correlation[k * n + k]))
            at[count++] = k;
    if (count < 2)
        return;
    if (count > MOST) {
        printf("\ncorrelations of %zu parameters: --json has them\n", count);
        return;
    }
    int wide = 12;
    for (size_t k = 0; k < count; k++) {
        int w = width_of(f->law->param[at[k]].name);
        wide = w > wide ? w : wide;
    }
    printf("\n%-*s", wide, "correlations");
    for (size_t c = 0; c + 1 < count; c++) {
        int pad = 8 - width_of(f->law->param[at[c]].name);
        printf("  %*s", pad > 0 ? pad : 0, "");
        fputs(text_shown(f->law->param[at[c]].name, f->a), stdout);
    }
    putchar('\n');
    for (size_t k = 1; k < count; k++) {
        const char *name = f->law->param[at[k]].name;
        fputs(text_shown(name, f->a), stdout);
        printf("%*s", wide - width_of(name), "");
        for (size_t c = 0; c < k; c++) {
            int w = width_of(f->law->param[at[c]].name);
            printf("  %*.5f", w > 8 ? w : 8, f->r->correlation[at[k] * n + at[c]]);
        }
        putchar('\n');
    }
}

static void put_validation(const regress_fitted *f)
{
    char b[2][32], how[64];
    const regress_validation *v = f->validation;
    if (!v)
        return;
    if (f->share > 0)
        snprintf(how, sizeof how, "%zu row%s held out", v->rows, text_plural(v->rows));
    else
        snprintf(how, sizeof how, "%zu-fold validation", f->folds);
    printf("%-28s RMS error %s, R2 %s\n", how, number(b[0], 5, v->error), number(b[1], 5, v->r2));
}

static void put_quality(const regress_fitted *f)
{
    char b[4][32];
    const regress_estimate *r = f->r;
    if (f->d->sigma) {
        printf("%-28s %s, probability %s\n", "chi-square", number(b[0], 8, r->rss),
               number(b[1], 4, r->chance));
        printf("%-28s %s\n", "root of chi-square/freedom", number(b[0], 8, r->deviation));
    } else {
        printf("%-28s %s\n", f->d->weight ? "weighted sum of squares" : "residual sum of squares",
               number(b[0], 8, r->rss));
        printf("%-28s %s\n", "residual standard deviation", number(b[0], 8, r->deviation));
    }
    printf("%-28s %zu (%zu row%s)\n", "degrees of freedom", r->freedom, r->rows,
           text_plural(r->rows));
    printf("%-28s %s\n", "R2", number(b[0], 6, r->r2));
    printf("%-28s %s, %s\n", "AIC, BIC", number(b[0], 6, r->aic), number(b[1], 6, r->bic));
    put_validation(f);
}

static void as_table(const regress_fitted *f)
{
    printf("formula  %s\n", text_shown(f->given, f->a));
    printf("fitted   %s\n\n", text_shown(regress_fitted_formula(f, SNIP_INFIX, 1), f->a));
    put_parameters(f);
    put_correlations(f);
    putchar('\n');
    put_quality(f);
    printf("%-28s %d tried, %d led here\n", "starts", f->r->starts, f->r->reached);
    const char *s;
    for (int k = 0; (s = regress_fitted_note(f, k)); k++)
        printf("note: %s\n", text_shown(s, f->a));
}

/* ---- for programs ---- */

/* A text cell of CSV: between quotes where it must be. */
static void put_quoted(FILE *to, const char *s)
{
    int quote = !*s || strpbrk(s, ",\"\n\r; \t#") != NULL;
    if (quote)
        fputc('"', to);
    for (; *s; s++) {
        if (*s == '"')
            fputc('"', to);
        fputc(*s, to);
    }
    if (quote)
        fputc('"', to);
}

static void as_csv(const regress_fitted *f)
{
    puts("parameter,estimate,std_error,low,high,t,start,state");
    for (size_t k = 0; k < f->r->params; k++) {
        const regress_estimated *e = &f->r->param[k];
        char b[6][32];
        put_quoted(stdout, f->law->param[k].name);
        printf(",%s,%s,%s,%s,%s,%s,%s\n", cli_cell(b[0], e->value), cli_cell(b[1], e->error),
               cli_cell(b[2], e->low), cli_cell(b[3], e->high), cli_cell(b[4], e->t),
               cli_cell(b[5], e->start), regress_state_names[e->state]);
    }
}

static void as_latex(const regress_fitted *f)
{
    const expr_names target = { &f->target, 1 };
    printf("\\[ %s = %s \\]\n", name_in(f, &target, 0, SNIP_LATEX),
           regress_fitted_formula(f, SNIP_LATEX, 1));
    fputs("\\begin{tabular}{lrrrr}\n\\hline\nparameter & estimate & standard error & ", stdout);
    printf("\\multicolumn{2}{c}{%.10g \\%% interval} \\\\\n\\hline\n", 100 * f->level);
    for (size_t k = 0; k < f->r->params; k++) {
        const regress_estimated *e = &f->r->param[k];
        char b[4][32];
        printf(
            "$%s$ & %s & %s & %s & %s \\\\\n",
            name_in(f, &f->law->names, f->law->inputs + k, SNIP_LATEX), number(b[0], 8, e->value),
            e->state == REGRESS_FITTED ? number(b[1], 5, e->error) : regress_state_names[e->state],
            number(b[2], 6, e->low), number(b[3], 6, e->high));
    }
    fputs("\\hline\n\\end{tabular}\n", stdout);
}

static void as_c(const regress_fitted *f)
{
    fputs("#include <math.h>\n\ndouble formula(", stdout);
    const expr_names inputs = { f->law->names.name, f->law->inputs };
    for (size_t j = 0; j < f->law->inputs; j++)
        printf("%sdouble %s", j ? ", " : "", name_in(f, &inputs, j, SNIP_C));
    printf("%s)\n{\n    return %s;\n}\n", f->law->inputs ? "" : "void",
           regress_fitted_formula(f, SNIP_C, 0));
}

int cli_fitted_print(const cli_command *self, const regress_fitted *f, cli_fitted_format format,
                     int quiet)
{
    const char *s;
    switch (format) {
    case CLI_FITTED_JSON:
        return cli_print_json(self, regress_fitted_json(f));
    case CLI_FITTED_CSV:
        as_csv(f);
        break;
    case CLI_FITTED_LATEX:
        as_latex(f);
        break;
    case CLI_FITTED_SYMPY:
        puts(regress_fitted_formula(f, SNIP_SYMPY, 0));
        break;
    case CLI_FITTED_C:
        as_c(f);
        break;
    default:
        as_table(f);
    }
    for (int k = 0; format != CLI_FITTED_TABLE && !quiet && (s = regress_fitted_note(f, k)); k++)
        cli_fail(self, 0, "%s", s);
    return cli_finish(self);
}

/* The same with no more digits than it takes: the table's own numbers stay as they were. */
static const char *shortest(char *buf, double v)
{
    if (!isfinite(v))
        return cli_cell(buf, v);
    expr_print_number(buf, v);
    return buf;
}

void cli_fitted_rows(FILE *to, const regress_fitted *f)
{
    for (size_t j = 0; j < f->law->inputs; j++) {
        put_quoted(to, f->law->names.name[j]);
        fputc(',', to);
    }
    put_quoted(to, f->target);
    fputs(",fitted,residual,low,high,prediction_low,prediction_high\n", to);
    for (size_t i = 0; i < f->d->rows; i++) {
        char b[32];
        double v = f->r->fitted[i], band = f->r->band[i], wide = f->r->prediction[i];
        const double rest[] = { f->d->y[i], v,        f->r->residual[i], v - band,
                                v + band,   v - wide, v + wide };
        for (size_t j = 0; j < f->law->inputs; j++)
            fprintf(to, "%s,", shortest(b, f->d->x[j][i]));
        for (size_t k = 0; k < sizeof rest / sizeof *rest; k++)
            fprintf(to, "%s%s", k ? "," : "", shortest(b, rest[k]));
        fputc('\n', to);
    }
}
