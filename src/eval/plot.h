/* plot.h - what the report is drawn with: tables and dot plots of measures, on what page/ offers.
 */
#ifndef EVAL_PLOT_H
#define EVAL_PLOT_H

#include <jansson.h>

#include "eval/metrics.h"
#include "page/svg.h"

/* The paper's two models are bars in grey. */
enum { EVAL_SNIP = PAGE_BAR_HOLLOW, EVAL_SNIPPP = PAGE_BAR };

/* ---- the page: results.json as tables and figures ---- */

typedef struct eval_page {
    text t;
    arena *a;
    const json_t *results, *models;
    size_t *shown, n; /* the models that the current part has results of */
} eval_page;

/* A measure is a path below a model's suites, with a label and a format. */
typedef struct eval_row {
    const char *label, *path; /* without a path it is a heading */
    const char *key;          /* the paper's, where it is not the path */
    page_format format;
    int average; /* drawn shaded */
} eval_row;

/* The row of a measure (measures.h), called as its part of the page calls it. The path must be one
 * of the table. */
eval_row eval_row_of(const char *path);

/* The rows of the n measures whose paths start so and that have a name there, in their order. */
void eval_rows_below(const char *path, eval_row *out, size_t n);

typedef struct eval_named {
    const char *name, *label;
} eval_named;

/* Follows a path such as "global.f2y.r10" from `o`; in a list a part is an index or "last". NULL
 * where it leads nowhere. */
const json_t *eval_json_at(const json_t *o, const char *path);

/* What is at the path ("" is `o`): NAN where it is no number, "" where it is no string. */
double eval_json_number(const json_t *o, const char *path);
const char *eval_json_string(const json_t *o, const char *path);

/* A figure, or a plain number as one without an interval. */
eval_figure eval_figure_read(const json_t *o, const char *path);

const json_t *eval_model_at(const eval_page *g, size_t m);
const json_t *eval_model_suites(const eval_page *g, size_t m);
const char *eval_model_name(const eval_page *g, size_t m);

/* A model's figure at a path below its suites. A part may list alternatives, a|b: then it is the
 * mean over all of them, without an interval. */
eval_figure eval_figure_at(const eval_page *g, size_t m, const char *path);

/* Chooses the models to show: those that have an object at the path below their suites, or all for
 * "". Returns how many. */
size_t eval_page_show(eval_page *g, const char *path);

/* What the first model shown says: pools and lists are the same for all. */
const json_t *eval_page_common(const eval_page *g, const char *path);

/* Text and lists of n numbers that live as long as the page. The list may be NULL. */
__attribute__((format(printf, 2, 3))) const char *eval_say(eval_page *g, const char *format, ...);
const char *eval_print(eval_page *g, double v, page_format f);
double *eval_page_column(eval_page *g, size_t n);

/* Adds markup as it is, and an element around text that may hold anything. */
void eval_put(eval_page *g, const char *s);
void eval_element(eval_page *g, const char *open, const char *s, const char *close);

/* A cell of a table, with the interval below the value. */
void eval_cell(eval_page *g, eval_figure e, page_format f);

/* Measures down, the models shown across, then the paper's where it has any of them. */
void eval_table(eval_page *g, const eval_row *r, size_t n);

/* A model keeps its style on the whole page. */
int eval_style(size_t m);
void eval_legend_entry(eval_page *g, int style, const char *name);
void eval_legend(eval_page *g, int paper);

/* "default, unary swap: .73 (95 % interval .70 to .76)" */
const char *eval_hover(eval_page *g, const char *who, const char *what, eval_figure e,
                       page_format f);

void eval_panel_open(eval_page *g, const char *title);
void eval_panel_close(eval_page *g, const page_plot *p);

/* A field of dots with intervals: measures down, and within each a line for every model. */
typedef struct eval_panel {
    const char *title, *unit;
    double lo, hi, chance; /* chance: NAN where there is none */
} eval_panel;
void eval_dots(eval_page *g, const eval_panel *f, const eval_row *r, size_t n);

/* A round low end for such a panel, at most `low` and below every dot and interval. */
double eval_low_end(eval_page *g, const eval_row *r, size_t n, double low);

#endif
