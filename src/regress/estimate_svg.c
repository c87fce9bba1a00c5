/* estimate_svg.c - the picture of a fit: two fields, one above the other, over the same axis. Above
 * the data and the curve with its band, below the residuals. With several inputs there is no curve;
 * then the axis is the fitted value, and the field above has the measured ones. See results.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "regress/results.h"

enum {
    WIDTH = 720,
    LEFT = 84,
    RIGHT = 18,
    TOP = 52,
    MAIN = 320, /* heights of the two fields */
    REST = 150,
    GAP = 26, /* between them */
    BOTTOM = 48,
    HEIGHT = TOP + MAIN + GAP + REST + BOTTOM,
    CURVE = 400,  /* points of the curve */
    POINTS = 4000 /* of the data, at most */
};

/* A field of the picture whose ranges hold nothing yet. What lies far outside is cut off at the
 * edges, so two fields beyond are enough. */
static page_plot field_at(text *t, double top, double height)
{
    return (page_plot){ .t = t,
                        .width = WIDTH,
                        .height = HEIGHT,
                        .left = LEFT,
                        .right = RIGHT,
                        .top = top,
                        .bottom = HEIGHT - top - height,
                        .x0 = INFINITY,
                        .x1 = -INFINITY,
                        .y0 = INFINITY,
                        .y1 = -INFINITY,
                        .name_x = 16,
                        .beyond = 2 };
}

/* Widens [*low, *high] to hold v; the ends stay where their difference is a number. */
static void cover(double *low, double *high, double v)
{
    const double most = 1e307;
    if (isfinite(v)) {
        v = fmin(most, fmax(-most, v));
        *low = fmin(*low, v);
        *high = fmax(*high, v);
    }
}

/* A margin around a range, also where it is empty or a single value. */
static void pad(double *low, double *high)
{
    if (!(*low <= *high))
        *low = -1, *high = 1;
    double margin = .05 * (*high - *low);
    if (!(margin > 1e-12 * fmax(fabs(*low), fabs(*high))))
        margin = *low == 0 && *high == 0 ? 1 : .1 * fmax(fabs(*low), fabs(*high));
    *low -= margin;
    *high += margin;
}

/* Ranges that hold v and one sigma on both sides of it. */
static void cover_row(page_plot *p, const regress_fitted *f, size_t i, double v)
{
    double sigma = f->d->sigma ? f->d->sigma[i] : 0;
    cover(&p->y0, &p->y1, v - sigma);
    cover(&p->y0, &p->y1, v + sigma);
}

static void put_axes(const page_plot *p, const char *name, int numbers)
{
    page_plot_grid_x(p, PAGE_NUMBER, numbers);
    page_plot_grid_y(p, PAGE_NUMBER);
    page_plot_frame(p);
    page_plot_name_y(p, name);
}

/* The data: a point each, with a bar of one sigma on both sides where it is known. */
static void put_points(const page_plot *p, const regress_fitted *f, const double *x,
                       const double *y)
{
    size_t n = f->d->rows, stride = (n + POINTS - 1) / POINTS;
    for (size_t i = 0; i < n && f->d->sigma; i += stride)
        text_add(p->t, "<path class=\"e\" d=\"M%.1f %.1fV%.1f\"/>\n", page_plot_x(p, x[i]),
                 page_plot_y(p, y[i] - f->d->sigma[i]), page_plot_y(p, y[i] + f->d->sigma[i]));
    for (size_t i = 0; i < n; i += stride)
        if (isfinite(x[i]) && isfinite(y[i]))
            text_add(p->t, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>\n", page_plot_x(p, x[i]),
                     page_plot_y(p, y[i]), n > 300 ? "2" : "3.2");
}

/* The values of the curve over the range of the one input. Returns 0 when memory is out. */
static int trace(const regress_fitted *f, double low, double high, double **x, double **y,
                 double **band)
{
    *x = arena_array(f->a, CURVE, sizeof **x);
    *y = arena_array(f->a, CURVE, sizeof **y);
    *band = arena_array(f->a, CURVE, sizeof **band);
    if (!*x || !*y || !*band)
        return 0;
    for (int i = 0; i < CURVE; i++)
        (*x)[i] = low + (high - low) * i / (CURVE - 1);
    const double *columns[] = { *x };
    return regress_estimate_at(f->r, f->law, columns, CURVE, *y, *band, f->a);
}

/* The formula, as the picture's title and in its first line, and what the line below shows. */
static void put_head(text *t, const regress_fitted *f)
{
    enum { LONGEST = 84 }; /* letters that fit */
    text whole = { .a = f->a };
    text_add(&whole, "%s = %s", f->target, regress_fitted_formula(f, SNIP_INFIX, 1));
    const char *formula = text_end(&whole);
    if (!formula)
        formula = "";
    page_svg_file(t, WIDTH, HEIGHT, " font-size=\"12\"", formula,
                  ".g{stroke:#ddd}.c{fill:none;stroke:#d55e00;stroke-width:1.8}"
                  ".b{fill:#d55e00;fill-opacity:.18}.e{stroke:#0072b2;stroke-opacity:.6}"
                  "circle{fill:#0072b2;fill-opacity:.75}.z{stroke:#888;stroke-dasharray:5 3}");
    char line[160];
    size_t n = strlen(formula), cut = n, rows = f->d->rows;
    if (n > LONGEST) /* at the start of a character */
        for (cut = LONGEST - 3; ((unsigned char)formula[cut] & 0xC0) == 0x80;)
            cut--;
    snprintf(line, sizeof line, "%.*s%s", (int)cut, formula, cut < n ? "..." : "");
    page_svg_text(t, LEFT, 20, " font-size=\"13\"", line);
    if (f->law->inputs == 1)
        snprintf(line, sizeof line, "line: the fit, with the %.10g %% band of its mean",
                 100 * f->level);
    else
        snprintf(line, sizeof line, "line: measured = fitted");
    if (rows > POINTS)
        snprintf(line + strlen(line), sizeof line - strlen(line), "; one of %zu points is drawn",
                 (rows + POINTS - 1) / POINTS);
    page_svg_text(t, LEFT, 40, " fill=\"#555\"", line);
}

/* The upper field: the data, below them the curve or the diagonal. */
static void put_data(page_plot *p, const regress_fitted *f, const double *across)
{
    const regress_estimate *r = f->r;
    int curve = f->law->inputs == 1;
    for (size_t i = 0; i < f->d->rows; i++) {
        cover(&p->x0, &p->x1, across[i]);
        cover_row(p, f, i, f->d->y[i]);
        if (curve)
            cover(&p->y0, &p->y1, r->fitted[i]);
    }
    double *x = NULL, *y = NULL, *band = NULL, room = .5 * (p->y1 - p->y0);
    double least = p->y0 - room, most = p->y1 + room;
    for (size_t i = 0; i < f->d->rows && curve; i++) { /* a wide band: what is near the data */
        cover(&p->y0, &p->y1, fmax(least, r->fitted[i] - r->band[i]));
        cover(&p->y0, &p->y1, fmin(most, r->fitted[i] + r->band[i]));
    }
    if (curve && !trace(f, p->x0, p->x1, &x, &y, &band)) {
        p->t->failed = 1;
        return;
    }
    pad(&p->x0, &p->x1);
    pad(&p->y0, &p->y1);
    put_axes(p, f->target, 0);
    page_plot_clip(p, "up");
    if (curve) {
        page_plot_band(p, x, y, band, CURVE, " class=\"b\"");
        page_plot_curve(p, x, y, CURVE, " class=\"c\"");
    } else {
        const double ends[] = { p->x0, p->x1 };
        page_plot_curve(p, ends, ends, 2, " class=\"c\"");
    }
    put_points(p, f, across, f->d->y);
    page_put(p->t, "</g>\n");
}

/* The lower field: residuals around a line at 0, over the same axis. */
static void put_residuals(page_plot *p, const regress_fitted *f, const double *across)
{
    for (size_t i = 0; i < f->d->rows; i++)
        cover_row(p, f, i, f->r->residual[i]);
    cover(&p->y0, &p->y1, 0);
    pad(&p->y0, &p->y1);
    put_axes(p, "residual", 1);
    page_plot_clip(p, "low");
    text_add(p->t, "<path class=\"z\" d=\"M%d %.1fH%d\"/>\n", LEFT, page_plot_y(p, 0),
             WIDTH - RIGHT);
    put_points(p, f, across, f->r->residual);
    page_put(p->t, "</g>\n");
}

void regress_fitted_svg(text *t, const regress_fitted *f)
{
    int curve = f->law->inputs == 1;
    const double *across = curve ? f->d->x[0] : f->r->fitted;
    page_plot up = field_at(t, TOP, MAIN), low = field_at(t, TOP + MAIN + GAP, REST);
    put_head(t, f);
    put_data(&up, f, across);
    low.x0 = up.x0, low.x1 = up.x1;
    put_residuals(&low, f, across);
    page_svg_text(t, (LEFT + WIDTH - RIGHT) / 2., TOP + MAIN + GAP + REST + 36,
                  " text-anchor=\"middle\"", curve ? f->law->names.name[0] : "fitted");
    page_svg_close(t);
}
