/* plot.h - what the report is drawn with: small figures as inline SVG, and tables and dot plots of
 * measures.
 *
 *     eval_plot p = eval_plot_new(t, 56, 280);
 *     p.x1 = 5, p.y1 = 1;
 *     eval_plot_open(&p, "similarity against c");
 *     eval_plot_axis_x(&p, "c", EVAL_PLAIN);
 *     eval_plot_axis_y(&p, "cosine similarity", EVAL_SHARE);
 *     eval_plot_line(&p, x, y, n, 0);
 *     eval_plot_close(&p);
 *
 * A picture is 400 units wide, so that its letters stay readable on a phone; wide screens show two
 * side by side. Values outside the ranges are drawn at the edge. */
#ifndef EVAL_PLOT_H
#define EVAL_PLOT_H

#include <jansson.h>

#include "base/text.h"
#include "eval/metrics.h"

typedef enum eval_format {
    EVAL_SHARE,   /* .73 */
    EVAL_PERCENT, /* 87.3 % */
    EVAL_PLAIN,   /* 1.18 */
    EVAL_COUNT,   /* 10,000 or 26.5 */
    EVAL_SIGNED,  /* +.12 */
    EVAL_MIRROR   /* per cent without its sign, for an axis that goes up and down from 0 */
} eval_format;

enum { EVAL_NUMBER = 48 };

/* Styles of marks and lines: 0 to 7 differ in colour (Okabe and Ito's) and in shape; the paper's
 * two models are bars in grey; EVAL_HOLLOW + 0, 1, 2 are the first three, not filled. */
enum { EVAL_STYLES = 8, EVAL_SNIP = 8, EVAL_SNIPPP = 9, EVAL_HOLLOW = 10 };

typedef struct eval_plot {
    text *t;
    double width, height;
    double left, right, top, bottom; /* margins around the field */
    double x0, x1, y0, y1;           /* the values at the field's edges */
} eval_plot;

/* Every picture's width and margins; the left one depends on the labels. */
enum { EVAL_WIDTH = 400, EVAL_RIGHT = 22, EVAL_TOP = 8, EVAL_BOTTOM = 40 };

/* A picture with nothing in it and all ranges 0. */
eval_plot eval_plot_new(text *t, double left, double height);

/* Writes the number and returns `out`; a dash where it is not finite. */
const char *eval_number(char out[EVAL_NUMBER], double v, eval_format f);

/* Adds text that may hold anything, for use in elements and quoted attributes. */
void eval_escape(text *t, const char *s);

const char *eval_colour(int style);

/* A mark at a place of the picture, with the text that appears under the pointer (NULL: none). */
void eval_mark(text *t, double x, double y, int style, const char *title);

/* Values to places of the picture. */
double eval_plot_x(const eval_plot *p, double v);
double eval_plot_y(const eval_plot *p, double v);

/* `name` is what a screen reader says. */
void eval_plot_open(const eval_plot *p, const char *name);
void eval_plot_close(const eval_plot *p);

/* Axes with lines at round values; the label names the unit. */
void eval_plot_axis_x(const eval_plot *p, const char *label, eval_format f);
void eval_plot_axis_y(const eval_plot *p, const char *label, eval_format f);

/* Text at a place of the picture; `anchor` is start, middle or end. What is longer than `most`
 * characters is cut, and shown whole under the pointer. */
void eval_plot_text(const eval_plot *p, double x, double y, const char *anchor, const char *s,
                    size_t most);

/* A horizontal interval from value lo to hi, at a place y of the picture. */
void eval_plot_interval(const eval_plot *p, double lo, double hi, double y, int style);

/* A line through values; points that are not finite are left out. */
void eval_plot_line(const eval_plot *p, const double *x, const double *y, size_t n, int style);

/* ---- the page: results.json as tables and figures ---- */

typedef struct eval_page {
    text t;
    arena *a;
    const json_t *results, *models;
    size_t *shown, n; /* the models that the current part has results of */
} eval_page;

/* A measure is a path below a model's suites, with a label and a format. */
typedef struct eval_measure {
    const char *label, *path; /* without a path it is a heading */
    const char *key;          /* the paper's, where it is not the path */
    eval_format format;
    int average; /* drawn shaded */
} eval_measure;

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
const char *eval_print(eval_page *g, double v, eval_format f);
double *eval_page_column(eval_page *g, size_t n);

/* Adds markup as it is, and an element around text that may hold anything. */
void eval_put(eval_page *g, const char *s);
void eval_element(eval_page *g, const char *open, const char *s, const char *close);

/* A cell of a table, with the interval below the value. */
void eval_cell(eval_page *g, eval_figure e, eval_format f);

/* Measures down, the models shown across, then the paper's where it has any of them. */
void eval_table(eval_page *g, const eval_measure *r, size_t n);

/* A model keeps its style on the whole page. */
int eval_style(size_t m);
void eval_legend_entry(eval_page *g, int style, const char *name);
void eval_legend(eval_page *g, int paper);

/* "default, unary swap: .73 (95 % interval .70 to .76)" */
const char *eval_hover(eval_page *g, const char *who, const char *what, eval_figure e,
                       eval_format f);

void eval_panel_open(eval_page *g, const char *title);
void eval_panel_close(eval_page *g, const eval_plot *p);

/* A field of dots with intervals: measures down, and within each a line for every model. */
typedef struct eval_panel {
    const char *title, *unit;
    double lo, hi, chance; /* chance: NAN where there is none */
} eval_panel;
void eval_dots(eval_page *g, const eval_panel *f, const eval_measure *r, size_t n);

/* A round low end for such a panel, at most `low` and below every dot and interval. */
double eval_low_end(eval_page *g, const eval_measure *r, size_t n, double low);

#endif
