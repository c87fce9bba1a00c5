/* svg.h - pictures as SVG, inside a page or as files of their own.
 *
 *     page_plot p = page_plot_new(t, 56, 280);
 *     p.x1 = 5, p.y1 = 1;
 *     page_svg_open(t, p.width, p.height, "similarity against c");
 *     page_plot_axis_x(&p, "c", PAGE_PLAIN);
 *     page_plot_axis_y(&p, "cosine similarity", PAGE_SHARE);
 *     page_plot_line(&p, x, y, n, 0);
 *     page_svg_close(t);
 *
 * A place is in units of the picture, from its upper left corner; a value is what the axes show.
 * Shapes that only one picture has are written by that picture, with page_escape around its texts.
 * `more`, where a function takes it, is attributes as they are written, each after a blank. */
#ifndef PAGE_SVG_H
#define PAGE_SVG_H

#include "page/html.h"

/* Styles of marks and lines: 0 to 7 differ in colour (Okabe and Ito's, which colour-blind readers
 * can tell apart) and in shape; two bars in grey; PAGE_HOLLOW + 0, 1, 2 are the first three, not
 * filled. */
enum { PAGE_STYLES = 8, PAGE_BAR_HOLLOW = 8, PAGE_BAR = 9, PAGE_HOLLOW = 10 };

/* A field with axes, in a picture that may hold several. */
typedef struct page_plot {
    text *t;
    double width, height;            /* of the picture */
    double left, right, top, bottom; /* from the picture's edges to the field's */
    double x0, x1, y0, y1;           /* the values at the field's edges */
    double name_x;                   /* where the name of the y axis stands */
    double beyond; /* how far outside the field a value may be drawn, in fields: for lines that are
                    * cut off at its edge. 0: at the edge */
} page_plot;

/* The usual width, so that letters stay readable on a phone (wide screens show two pictures side by
 * side), and the usual margins; the left one depends on the labels. */
enum { PAGE_WIDTH = 400, PAGE_RIGHT = 22, PAGE_TOP = 8, PAGE_BOTTOM = 40 };

/* A field with these and all ranges 0. */
page_plot page_plot_new(text *t, double left, double height);

/* A picture in a page; `name` is what a screen reader says. */
void page_svg_open(text *t, double width, double height, const char *name);

/* A picture that is a file: white behind everything, `style` its own rules (NULL: none). */
void page_svg_file(text *t, int width, int height, const char *more, const char *title,
                   const char *style);
void page_svg_close(text *t);

/* Text at a place. */
void page_svg_text(text *t, double x, double y, const char *more, const char *s);

/* The same where more than `most` characters are cut, and shown whole under the pointer. */
void page_svg_text_cut(text *t, double x, double y, const char *more, const char *s, size_t most);

const char *page_colour(int style);

/* A mark at a place, with the text that appears under the pointer (NULL: none). */
void page_mark(text *t, double x, double y, int style, const char *title);

/* Values to places. */
double page_plot_x(const page_plot *p, double v);
double page_plot_y(const page_plot *p, double v);

/* Lines at round values, with their numbers unless `numbers` is 0. */
void page_plot_grid_x(const page_plot *p, page_format f, int numbers);
void page_plot_grid_y(const page_plot *p, page_format f);

/* A frame around the field, and the name beside the y axis. */
void page_plot_frame(const page_plot *p);
void page_plot_name_y(const page_plot *p, const char *name);

/* Grids with their numbers and the name of the axis, which tells the unit. */
void page_plot_axis_x(const page_plot *p, const char *name, page_format f);
void page_plot_axis_y(const page_plot *p, const char *name, page_format f);

/* Starts a group that is cut off at the field's edges; `id` is unique in the page. It ends with
 * </g>. */
void page_plot_clip(const page_plot *p, const char *id);

/* A horizontal interval from value lo to hi, at a place y of the picture. */
void page_plot_interval(const page_plot *p, double lo, double hi, double y, int style);

/* A line through values; points that are not finite are left out. */
void page_plot_line(const page_plot *p, const double *x, const double *y, size_t n, int style);

/* The same, but it breaks where a y is not finite. */
void page_plot_curve(const page_plot *p, const double *x, const double *y, size_t n,
                     const char *more);

/* The area between y - half and y + half, piece by piece where these are finite. */
void page_plot_band(const page_plot *p, const double *x, const double *y, const double *half,
                    size_t n, const char *more);

#endif
