/* svg.c - see svg.h. */
#include "page/svg.h"

#include <math.h>
#include <string.h>

typedef struct look {
    const char *fill, *edge, *shape, *dash;
} look;

#define CIRCLE   "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"
#define SQUARE   "M-3.5-3.5h7v7h-7z"
#define TRIANGLE "M0-4.6L4.4 3.3H-4.4z"
#define BAR      "M-1.6-5h3.2v10h-3.2z"

static const look looks[] = {
    { "#0072b2", "#fff", CIRCLE, "" },
    { "#d55e00", "#fff", SQUARE, "7 3" },
    { "#009e73", "#fff", TRIANGLE, "2 3" },
    { "#cc79a7", "#fff", "M0-5L4.4 0 0 5-4.4 0z", "10 3 2 3" },
    { "#e69f00", "#fff", "M0 4.6L4.4-3.3H-4.4z", "5 5" },
    { "#56b4e9", "#fff", "M-1.5-4.4h3v2.9h2.9v3h-2.9v2.9h-3v-2.9h-2.9v-3h2.9z", "12 4" },
    { "#000000", "#fff",
      "M-4.2-2L-2-4.2 0-2.2 2-4.2 4.2-2 2.2 0 4.2 2 2 4.2 0 2.2-2 4.2-4.2 2-2.2 0z", "1 3" },
    { "#f0e442", "#555", "M0-5L1.4-1.6 4.8-1.5 2.2.7 3 4 0 2.2-3 4-2.2.7-4.8-1.5-1.4-1.6z",
      "8 2 2 2 2 2" },
    { "#fff", "#555", BAR, "" },
    { "#555", "#555", BAR, "" },
    { "#fff", "#0072b2", CIRCLE, "" },
    { "#fff", "#d55e00", SQUARE, "" },
    { "#fff", "#009e73", TRIANGLE, "" },
};

static const look *look_of(int i)
{
    return &looks[i < 0 || i >= (int)(sizeof looks / sizeof *looks) ? 0 : i];
}

const char *page_colour(int i)
{
    return look_of(i)->fill;
}

void page_mark(text *t, double x, double y, int i, const char *title)
{
    const look *s = look_of(i);
    text_add(t,
             "<path class=\"m\" transform=\"translate(%.1f %.1f)\" d=\"%s\" fill=\"%s\" "
             "stroke=\"%s\">",
             x, y, s->shape, s->fill, s->edge);
    if (title)
        page_element(t, "<title>", title, "</title>");
    page_put(t, "</path>\n");
}

/* Where v lies between two values, 0 .. 1, or up to `beyond` outside. */
static double share(double v, double v0, double v1, double beyond)
{
    return v1 > v0 ? fmin(1 + beyond, fmax(-beyond, (v - v0) / (v1 - v0))) : .5;
}

double page_plot_x(const page_plot *p, double v)
{
    return p->left + share(v, p->x0, p->x1, p->beyond) * (p->width - p->left - p->right);
}

double page_plot_y(const page_plot *p, double v)
{
    return p->top + (p->height - p->top - p->bottom) * (1 - share(v, p->y0, p->y1, p->beyond));
}

page_plot page_plot_new(text *t, double left, double height)
{
    return (page_plot){ .t = t,
                        .width = PAGE_WIDTH,
                        .height = height,
                        .left = left,
                        .right = PAGE_RIGHT,
                        .top = PAGE_TOP,
                        .bottom = PAGE_BOTTOM,
                        .name_x = 12 };
}

void page_svg_open(text *t, double width, double height, const char *name)
{
    text_add(t, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\"", width, height);
    page_element(t, " aria-label=\"", name, "\">\n");
}

void page_svg_file(text *t, int width, int height, const char *more, const char *title,
                   const char *style)
{
    text_add(t,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
             "height=\"%d\" font-family=\"sans-serif\"%s>\n",
             width, height, width, height, more);
    page_element(t, "<title>", title, "</title>\n");
    if (style)
        text_add(t, "<style>%s</style>\n", style);
    page_put(t, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
}

void page_svg_close(text *t)
{
    page_put(t, "</svg>\n");
}

void page_svg_text(text *t, double x, double y, const char *more, const char *s)
{
    text_add(t, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, more);
    page_element(t, "", s, "</text>\n");
}

/* Bytes of the first `most` characters of UTF-8. */
static size_t cut(const char *s, size_t most)
{
    size_t i = 0, seen = 0;
    for (; s[i]; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80 && seen++ == most)
            break;
    return i;
}

void page_svg_text_cut(text *t, double x, double y, const char *more, const char *s, size_t most)
{
    if (!s[cut(s, most)]) {
        page_svg_text(t, x, y, more, s);
        return;
    }
    const char *kept = arena_text(t->a, s, cut(s, most - 1));
    t->failed |= !kept;
    text_add(t, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, more);
    page_element(t, "", kept, "…");
    page_element(t, "<title>", s, "</title></text>\n");
}

/* A round step that gives four to eight marks over [lo, hi]. */
static double mark_step(double lo, double hi)
{
    double width = hi > lo ? hi - lo : 1, step = pow(10, floor(log10(width)));
    double parts = width / step;
    return parts < 1.6 ? step / 5 : parts < 4 ? step / 2 : parts < 8 ? step : 2 * step;
}

/* The number of a mark: 0 without what rounding left there, and no zeros behind the point. */
static const char *mark_text(char out[PAGE_DIGITS], double v, double step, page_format f)
{
    if (fabs(v) < step / 1e6)
        return strcpy(out, f == PAGE_PERCENT || f == PAGE_MIRROR ? "0 %" : "0");
    if (f == PAGE_PERCENT)
        f = PAGE_MIRROR;
    return page_number(out, v, f == PAGE_PLAIN ? PAGE_SHARE : f);
}

/* The k-th mark of an axis, counted from its low end; 0 after the last. */
static int mark_of(double lo, double hi, int k, double *v)
{
    double step = mark_step(lo, hi);
    *v = step * (ceil(lo / step - 1e-6) + k);
    return k < 20 && *v <= hi + 1e-6 * step;
}

void page_plot_grid_x(const page_plot *p, page_format f, int numbers)
{
    double v, low = p->height - p->bottom;
    char number[PAGE_DIGITS];
    for (int k = 0; mark_of(p->x0, p->x1, k, &v); k++) {
        double x = page_plot_x(p, v);
        text_add(p->t, "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/>\n", x, p->top, low);
        if (numbers)
            page_svg_text(p->t, x, low + 16, " text-anchor=\"middle\"",
                          mark_text(number, v, mark_step(p->x0, p->x1), f));
    }
}

void page_plot_grid_y(const page_plot *p, page_format f)
{
    double v;
    char number[PAGE_DIGITS];
    for (int k = 0; mark_of(p->y0, p->y1, k, &v); k++) {
        double y = page_plot_y(p, v);
        text_add(p->t, "<path class=\"g\" d=\"M%g %.1fH%.1f\"/>\n", p->left, y,
                 p->width - p->right);
        page_svg_text(p->t, p->left - 6, y + 4, " text-anchor=\"end\"",
                      mark_text(number, v, mark_step(p->y0, p->y1), f));
    }
}

void page_plot_frame(const page_plot *p)
{
    text_add(p->t,
             "<rect x=\"%g\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
             "stroke=\"#888\"/>\n",
             p->left, p->top, p->width - p->left - p->right, p->height - p->top - p->bottom);
}

void page_plot_name_y(const page_plot *p, const char *name)
{
    text_add(p->t, "<text transform=\"translate(%g %.1f) rotate(-90)\" text-anchor=\"middle\">",
             p->name_x, (p->top + p->height - p->bottom) / 2);
    page_element(p->t, "", name, "</text>\n");
}

void page_plot_axis_x(const page_plot *p, const char *name, page_format f)
{
    page_plot_grid_x(p, f, 1);
    page_svg_text_cut(p->t, (p->left + p->width - p->right) / 2, p->height - p->bottom + 33,
                      " text-anchor=\"middle\"", name, 80);
}

void page_plot_axis_y(const page_plot *p, const char *name, page_format f)
{
    page_plot_grid_y(p, f);
    page_plot_name_y(p, name);
}

void page_plot_clip(const page_plot *p, const char *id)
{
    text_add(p->t,
             "<clipPath id=\"%s\"><rect x=\"%g\" y=\"%.1f\" width=\"%g\" height=\"%.1f\"/>"
             "</clipPath>\n<g clip-path=\"url(#%s)\">\n",
             id, p->left, p->top, p->width - p->left - p->right, p->height - p->top - p->bottom,
             id);
}

void page_plot_interval(const page_plot *p, double lo, double hi, double y, int i)
{
    if (isfinite(lo) && isfinite(hi))
        text_add(p->t, "<path class=\"i\" stroke=\"%s\" d=\"M%.1f %.1fH%.1f\"/>\n",
                 look_of(i)->fill, page_plot_x(p, lo), y, page_plot_x(p, hi));
}

void page_plot_line(const page_plot *p, const double *x, const double *y, size_t n, int i)
{
    const look *s = look_of(i);
    text_add(p->t, "<polyline class=\"l\" stroke=\"%s\" stroke-dasharray=\"%s\" points=\"", s->fill,
             *s->dash ? s->dash : "none");
    for (size_t k = 0; k < n; k++)
        if (isfinite(x[k]) && isfinite(y[k]))
            text_add(p->t, "%.1f,%.1f ", page_plot_x(p, x[k]), page_plot_y(p, y[k]));
    page_put(p->t, "\"/>\n");
}

/* M or L: the pen moves to the first point of a piece, and draws to the others. */
static void pen(const page_plot *p, int draws, double x, double y)
{
    text_add(p->t, "%c%.1f %.1f", draws ? 'L' : 'M', page_plot_x(p, x), page_plot_y(p, y));
}

void page_plot_curve(const page_plot *p, const double *x, const double *y, size_t n,
                     const char *more)
{
    int down = 0;
    text_add(p->t, "<path%s d=\"", more);
    for (size_t i = 0; i < n; i++) {
        int good = isfinite(y[i]);
        if (good)
            pen(p, down, x[i], y[i]);
        down = good;
    }
    page_put(p->t, "\"/>\n");
}

void page_plot_band(const page_plot *p, const double *x, const double *y, const double *half,
                    size_t n, const char *more)
{
    for (size_t from = 0, to; from < n; from = to + 1) {
        for (to = from; to < n && isfinite(y[to]) && isfinite(half[to]); to++)
            ;
        if (to < from + 2)
            continue;
        text_add(p->t, "<path%s d=\"", more); /* there along the upper side, back along the lower */
        for (size_t i = from; i < to; i++)
            pen(p, i > from, x[i], y[i] + half[i]);
        for (size_t i = to; i-- > from;)
            pen(p, 1, x[i], y[i] - half[i]);
        page_put(p->t, "Z\"/>\n");
    }
}
