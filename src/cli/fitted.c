/* fitted.c - see fitted.h. */
#include "cli/fitted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const char *cli_fitted_formula(const cli_fitted *f, snip_format format, int rounded)
{
    double *value = arena_array(f->a, f->law->params + 1, sizeof *value);
    for (size_t k = 0; k < f->law->params && value; k++)
        value[k] = f->r->param[k].value;
    expr e = { 0 };
    if (value)
        e = regress_law_with(f->law, value, rounded ? f->r->digits : 0, f->a);
    const expr_names inputs = { f->law->names.name, f->law->inputs };
    const char *s = e.node ? expr_print(e, format, &inputs, 0, f->a) : NULL;
    return s ? s : "";
}

/* A name as it stands in a formula of that format; the others may make it longer in C. */
static const char *name_in(const cli_fitted *f, const expr_names *names, size_t i,
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

static void put_parameters(const cli_fitted *f)
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
        if (e->state != REGRESS_FREE)
            snprintf(row[7], CELL, "%s", regress_state_names[e->state]);
    }
    put_grid(&g);
}

/* The lower triangle, where there are two or more to correlate. */
static void put_correlations(const cli_fitted *f)
{
    enum { MOST = 12 };
    size_t n = f->r->params, count = 0;
    size_t *at = arena_array(f->a, n + 1, sizeof *at);
    for (size_t k = 0; k < n && at; k++)
        if (f->r->param[k].state == REGRESS_FREE && !isnan(f->r->correlation[k * n + k]))
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

static void put_validation(const cli_fitted *f)
{
    char b[2][32], how[64];
    const regress_validation *v = f->validation;
    if (!v)
        return;
    if (f->share > 0)
        snprintf(how, sizeof how, "%zu rows held out", v->rows);
    else
        snprintf(how, sizeof how, "%zu-fold validation", f->folds);
    printf("%-28s RMS error %s, R2 %s\n", how, number(b[0], 5, v->error), number(b[1], 5, v->r2));
}

static void put_quality(const cli_fitted *f)
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
    printf("%-28s %zu (%zu rows)\n", "degrees of freedom", r->freedom, r->rows);
    printf("%-28s %s\n", "R2", number(b[0], 6, r->r2));
    printf("%-28s %s, %s\n", "AIC, BIC", number(b[0], 6, r->aic), number(b[1], 6, r->bic));
    put_validation(f);
}

/* The k-th thing that the numbers do not say of themselves, in `a`; NULL after the last. */
static const char *note(const cli_fitted *f, int k)
{
    const regress_estimate *r = f->r;
    text t = { .a = f->a };
    size_t unknown = 0;
    for (size_t j = 0; j < r->params; j++)
        if (r->param[j].state != REGRESS_FIXED && isnan(f->law->param[j].start))
            text_add(&t, "%s%s", unknown++ ? ", " : "", f->law->param[j].name);
    text_add(&t,
             ": no starting value was given, so the search began as shown and at %d drawn points",
             r->starts - 1);
    const char *names = text_end(&t);
    const char *const all[] = {
        r->note,
        unknown && r->starts > 1 ? names : NULL, /* a linear law needs one start, any */
        !r->settled ? "the search ended before a minimum was reached: try other starting values"
                    : NULL,
        r->from > 0 && !unknown
            ? "the first start leads to a worse minimum, another one led to this"
            : NULL,
        r->freedom == 0 ? "as many parameters as rows: the fit says nothing about their errors"
                        : NULL,
        f->law->inputs == 0 ? "the formula uses no column of the table" : NULL,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && k-- == 0)
            return all[i];
    return NULL;
}

static void as_table(const cli_fitted *f)
{
    printf("formula  %s\n", text_shown(f->given, f->a));
    printf("fitted   %s\n\n", text_shown(cli_fitted_formula(f, SNIP_INFIX, 1), f->a));
    put_parameters(f);
    put_correlations(f);
    putchar('\n');
    put_quality(f);
    printf("%-28s %d tried, %d of them lead here\n", "starts", f->r->starts, f->r->reached);
    const char *s;
    for (int k = 0; (s = note(f, k)); k++)
        printf("note: %s\n", text_shown(s, f->a));
}

/* ---- for programs ---- */

static const char *cell(char *buf, double v)
{
    return isnan(v) ? "" : cli_full_number(buf, v);
}

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

static void as_csv(const cli_fitted *f)
{
    puts("parameter,estimate,std_error,low,high,t,start,state");
    for (size_t k = 0; k < f->r->params; k++) {
        const regress_estimated *e = &f->r->param[k];
        char b[6][32];
        put_quoted(stdout, f->law->param[k].name);
        printf(",%s,%s,%s,%s,%s,%s,%s\n", cell(b[0], e->value), cell(b[1], e->error),
               cell(b[2], e->low), cell(b[3], e->high), cell(b[4], e->t), cell(b[5], e->start),
               regress_state_names[e->state]);
    }
}

static json_t *parameter_json(const cli_fitted *f, size_t k)
{
    const regress_estimated *e = &f->r->param[k];
    const regress_parameter *p = &f->law->param[k];
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:s}", "name", text_json(p->name),
                     "estimate", cli_real(e->value), "std_error", cli_real(e->error), "low",
                     cli_real(e->low), "high", cli_real(e->high), "t", cli_real(e->t), "start",
                     cli_real(e->start), "start_given", !isnan(p->start), "lower_bound",
                     cli_real(p->low), "upper_bound", cli_real(p->high), "state",
                     regress_state_names[e->state]);
}

static json_t *validation_json(const cli_fitted *f)
{
    const regress_validation *v = f->validation;
    if (!v)
        return json_null();
    return json_pack("{s:s,s:I,s:I,s:o,s:o}", "kind", f->share > 0 ? "holdout" : "folds", "folds",
                     (json_int_t)(f->share > 0 ? 1 : f->folds), "rows", (json_int_t)v->rows,
                     "rms_error", cli_real(v->error), "r2", cli_real(v->r2));
}

static int as_json(const cli_command *self, const cli_fitted *f)
{
    const regress_estimate *r = f->r;
    size_t n = r->params;
    json_t *params = json_array(), *matrix = json_array(), *notes = json_array();
    for (size_t k = 0; k < n; k++) {
        json_t *row = json_array();
        for (size_t c = 0; c < n; c++)
            json_array_append_new(row, cli_real(r->correlation[k * n + c]));
        json_array_append_new(matrix, row);
        json_array_append_new(params, parameter_json(f, k));
    }
    const char *s;
    for (int k = 0; (s = note(f, k)); k++)
        json_array_append_new(notes, text_json(s));
    s = expr_print(f->law->e, SNIP_INFIX, &f->law->names, 0, f->a);
    json_t *o = json_pack(
        "{s:o,s:o,s:o,s:o,s:o}", "given", text_json(f->given), "formula", text_json(s ? s : ""),
        "equation", text_json(cli_fitted_formula(f, SNIP_SYMPY, 0)), "rounded",
        text_json(cli_fitted_formula(f, SNIP_INFIX, 1)), "target", text_json(f->target));
    json_t *rest = json_pack(
        "{s:I,s:I,s:o,s:f,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:i,s:i,s:i,s:b,s:o}", "rows",
        (json_int_t)r->rows, "degrees_of_freedom", (json_int_t)r->freedom, "parameters", params,
        "level", f->level, "correlations", matrix, f->d->sigma ? "chi_square" : "rss",
        cli_real(r->rss), "deviation", cli_real(r->deviation), "probability", cli_real(r->chance),
        "r2", cli_real(r->r2), "aic", cli_real(r->aic), "bic", cli_real(r->bic), "validation",
        validation_json(f), "starts", r->starts, "starts_reached", r->reached, "start_used",
        r->from, "settled", r->settled, "notes", notes);
    if (o && rest)
        json_object_update(o, rest);
    json_decref(rest);
    return cli_print_json(self, o);
}

static void as_latex(const cli_fitted *f)
{
    const expr_names target = { &f->target, 1 };
    printf("\\[ %s = %s \\]\n", name_in(f, &target, 0, SNIP_LATEX),
           cli_fitted_formula(f, SNIP_LATEX, 1));
    fputs("\\begin{tabular}{lrrrr}\n\\hline\nparameter & estimate & standard error & ", stdout);
    printf("\\multicolumn{2}{c}{%.10g \\%% interval} \\\\\n\\hline\n", 100 * f->level);
    for (size_t k = 0; k < f->r->params; k++) {
        const regress_estimated *e = &f->r->param[k];
        char b[4][32];
        printf("$%s$ & %s & %s & %s & %s \\\\\n",
               name_in(f, &f->law->names, f->law->inputs + k, SNIP_LATEX),
               number(b[0], 8, e->value),
               e->state == REGRESS_FREE ? number(b[1], 5, e->error) : regress_state_names[e->state],
               number(b[2], 6, e->low), number(b[3], 6, e->high));
    }
    fputs("\\hline\n\\end{tabular}\n", stdout);
}

static void as_c(const cli_fitted *f)
{
    fputs("#include <math.h>\n\ndouble formula(", stdout);
    const expr_names inputs = { f->law->names.name, f->law->inputs };
    for (size_t j = 0; j < f->law->inputs; j++)
        printf("%sdouble %s", j ? ", " : "", name_in(f, &inputs, j, SNIP_C));
    printf("%s)\n{\n    return %s;\n}\n", f->law->inputs ? "" : "void",
           cli_fitted_formula(f, SNIP_C, 0));
}

int cli_fitted_print(const cli_command *self, const cli_fitted *f, cli_fitted_format format,
                     int quiet)
{
    const char *s;
    switch (format) {
    case CLI_FITTED_JSON:
        return as_json(self, f);
    case CLI_FITTED_CSV:
        as_csv(f);
        break;
    case CLI_FITTED_LATEX:
        as_latex(f);
        break;
    case CLI_FITTED_SYMPY:
        puts(cli_fitted_formula(f, SNIP_SYMPY, 0));
        break;
    case CLI_FITTED_C:
        as_c(f);
        break;
    default:
        as_table(f);
    }
    for (int k = 0; format != CLI_FITTED_TABLE && !quiet && (s = note(f, k)); k++)
        cli_fail(self, 0, "%s", s);
    return cli_finish(self);
}

/* The same with no more digits than it takes: the table's own numbers stay as they were. */
static const char *shortest(char *buf, double v)
{
    if (!isfinite(v))
        return cell(buf, v);
    expr_print_number(buf, v);
    return buf;
}

void cli_fitted_rows(FILE *to, const cli_fitted *f)
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
