/* fitted_svg.c - the picture of a fit: two fields, one above the other, over the same axis. Above
 * the data and the curve with its band, below the residuals. With several inputs there is no curve;
 * then the axis is the fitted value, and the field above has the measured ones. */
#include <math.h>
#include <string.h>

#include "cli/fitted.h"

enum {
    WIDTH = 720,
    LEFT = 84,
    RIGHT = 18,
    TOP = 52,
    MAIN = 320, /* heights of the two fields */
    REST = 150,
    GAP = 26, /* between them */
    BOTTOM = 48,
    CURVE = 400,  /* points of the curve */
    POINTS = 4000 /* of the data, at most */
};

/* A field and the values at its edges. */
typedef struct field {
    FILE *to;
    double top, height, x0, x1, y0, y1;
} field;

/* Where v lies between two values, 0 .. 1; kept near these: what is far outside is cut off there
 * anyhow. */
static double share(double v, double low, double high)
{
    return fmin(3, fmax(-2, (v - low) / (high - low)));
}

static double at_x(const field *p, double v)
{
    return LEFT + share(v, p->x0, p->x1) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const field *p, double v)
{
    return p->top + p->height * (1 - share(v, p->y0, p->y1));
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

/* A round step that gives four to eight marks. */
static double step_of(double low, double high)
{
    double power = pow(10, floor(log10(high - low))), parts = (high - low) / power;
    return power * (parts < 1.6 ? .2 : parts < 4 ? .5 : parts < 8 ? 1 : 2);
}

/* The mark's number, without what rounding left behind its digits. */
static const char *mark(char *buf, double v, double step)
{
    snprintf(buf, 32, "%.12g", fabs(v) < step / 1e6 ? 0 : v);
    return buf;
}

static void put_text(FILE *to, double x, double y, const char *more, const char *s)
{
    fprintf(to, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, more);
    cli_put_escaped(to, s);
    fputs("</text>\n", to);
}

/* Lines at round values, their numbers, and the frame. Numbers below only where asked. */
static void put_axes(const field *p, const char *name, int numbers)
{
    char b[32];
    double low = p->top + p->height, right = WIDTH - RIGHT;
    double dx = step_of(p->x0, p->x1), dy = step_of(p->y0, p->y1);
    for (double k = ceil(p->x0 / dx); k * dx <= p->x1; k++) {
        double x = at_x(p, k * dx);
        fprintf(p->to, "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/>\n", x, p->top, low);
        if (numbers)
            put_text(p->to, x, low + 16, " text-anchor=\"middle\"", mark(b, k * dx, dx));
    }
    for (double k = ceil(p->y0 / dy); k * dy <= p->y1; k++) {
        double y = at_y(p, k * dy);
        fprintf(p->to, "<path class=\"g\" d=\"M%d %.1fH%.1f\"/>\n", LEFT, y, right);
        put_text(p->to, LEFT - 6, y + 4, " text-anchor=\"end\"", mark(b, k * dy, dy));
    }
    fprintf(p->to,
            "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
            "stroke=\"#888\"/>\n",
            LEFT, p->top, right - LEFT, p->height);
    fprintf(p->to, "<text transform=\"translate(16 %.1f) rotate(-90)\" text-anchor=\"middle\">",
            p->top + p->height / 2);
    cli_put_escaped(p->to, name);
    fputs("</text>\n", p->to);
}

/* The data: a point each, with a bar of one sigma on both sides where it is known. */
static void put_points(const field *p, const cli_fitted *f, const double *x, const double *y)
{
    size_t n = f->d->rows, stride = (n + POINTS - 1) / POINTS;
    for (size_t i = 0; i < n && f->d->sigma; i += stride)
        fprintf(p->to, "<path class=\"e\" d=\"M%.1f %.1fV%.1f\"/>\n", at_x(p, x[i]),
                at_y(p, y[i] - f->d->sigma[i]), at_y(p, y[i] + f->d->sigma[i]));
    for (size_t i = 0; i < n; i += stride)
        if (isfinite(x[i]) && isfinite(y[i]))
            fprintf(p->to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>\n", at_x(p, x[i]),
                    at_y(p, y[i]), n > 300 ? "2" : "3.2");
}

/* A line through the finite ones of n points; it breaks where others lie between. */
static void put_line(const field *p, const double *x, const double *y, size_t n)
{
    int pen = 0;
    fputs("<path class=\"c\" d=\"", p->to);
    for (size_t i = 0; i < n; i++) {
        int good = isfinite(y[i]);
        if (good)
            fprintf(p->to, "%c%.1f %.1f", pen ? 'L' : 'M', at_x(p, x[i]), at_y(p, y[i]));
        pen = good;
    }
    fputs("\"/>\n", p->to);
}

/* The band, piece by piece: there once along the upper side and back along the lower. */
static void put_band(const field *p, const double *x, const double *y, const double *band, size_t n)
{
    for (size_t from = 0, to; from < n; from = to + 1) {
        for (to = from; to < n && isfinite(y[to]) && isfinite(band[to]); to++)
            ;
        if (to < from + 2)
            continue;
        fputs("<path class=\"b\" d=\"", p->to);
        for (size_t i = from; i < to; i++)
            fprintf(p->to, "%c%.1f %.1f", i > from ? 'L' : 'M', at_x(p, x[i]),
                    at_y(p, y[i] + band[i]));
        for (size_t i = to; i-- > from;)
            fprintf(p->to, "L%.1f %.1f", at_x(p, x[i]), at_y(p, y[i] - band[i]));
        fputs("Z\"/>\n", p->to);
    }
}

static void open_clip(const field *p, const char *id)
{
    fprintf(p->to,
            "<clipPath id=\"%s\"><rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>"
            "</clipPath>\n<g clip-path=\"url(#%s)\">\n",
            id, LEFT, p->top, WIDTH - LEFT - RIGHT, p->height, id);
}

/* The values of the curve over the range of the one input. Returns 0 when memory is out. */
static int trace(const cli_fitted *f, double low, double high, double **x, double **y,
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

static void put_head(FILE *to, const cli_fitted *f)
{
    enum { LONGEST = 84 }; /* letters that fit */
    int high = TOP + MAIN + GAP + REST + BOTTOM;
    text t = { .a = f->a };
    text_add(&t, "%s = %s", f->target, cli_fitted_formula(f, SNIP_INFIX, 1));
    const char *formula = text_end(&t);
    if (!formula)
        formula = "";
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n<title>",
            WIDTH, high, WIDTH, high);
    cli_put_escaped(to, formula);
    fputs("</title>\n<style>.g{stroke:#ddd}.c{fill:none;stroke:#d55e00;stroke-width:1.8}"
          ".b{fill:#d55e00;fill-opacity:.18}.e{stroke:#0072b2;stroke-opacity:.6}"
          "circle{fill:#0072b2;fill-opacity:.75}.z{stroke:#888;stroke-dasharray:5 3}</style>\n"
          "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
          to);
    char line[160];
    size_t n = strlen(formula), cut = n;
    if (n > LONGEST) /* at the start of a character */
        for (cut = LONGEST - 3; ((unsigned char)formula[cut] & 0xC0) == 0x80;)
            cut--;
    snprintf(line, sizeof line, "%.*s%s", (int)cut, formula, cut < n ? "..." : "");
    put_text(to, LEFT, 20, " font-size=\"13\"", line);
}

int cli_fitted_draw(FILE *to, const cli_fitted *f)
{
    const regress_estimate *r = f->r;
    size_t n = f->d->rows;
    int curve = f->law->inputs == 1;
    const double *across = curve ? f->d->x[0] : r->fitted;
    field up = { to, TOP, MAIN, INFINITY, -INFINITY, INFINITY, -INFINITY };
    for (size_t i = 0; i < n; i++) {
        double sigma = f->d->sigma ? f->d->sigma[i] : 0;
        cover(&up.x0, &up.x1, across[i]);
        cover(&up.y0, &up.y1, f->d->y[i] - sigma);
        cover(&up.y0, &up.y1, f->d->y[i] + sigma);
        if (curve)
            cover(&up.y0, &up.y1, r->fitted[i]);
    }
    double *x = NULL, *y = NULL, *band = NULL, room = .5 * (up.y1 - up.y0);
    double least = up.y0 - room, most = up.y1 + room;
    for (size_t i = 0; i < n && curve; i++) { /* of a wide band only the part near the data */
        cover(&up.y0, &up.y1, fmax(least, r->fitted[i] - r->band[i]));
        cover(&up.y0, &up.y1, fmin(most, r->fitted[i] + r->band[i]));
    }
    if (curve && !trace(f, up.x0, up.x1, &x, &y, &band))
        return 0;
    pad(&up.x0, &up.x1);
    pad(&up.y0, &up.y1);
    field low = { to, TOP + MAIN + GAP, REST, up.x0, up.x1, INFINITY, -INFINITY };
    for (size_t i = 0; i < n; i++) {
        double sigma = f->d->sigma ? f->d->sigma[i] : 0;
        cover(&low.y0, &low.y1, r->residual[i] - sigma);
        cover(&low.y0, &low.y1, r->residual[i] + sigma);
    }
    cover(&low.y0, &low.y1, 0);
    pad(&low.y0, &low.y1);

    char line[160];
    put_head(to, f);
    if (curve)
        snprintf(line, sizeof line, "line: the fit, with the %.10g %% band of its mean",
                 100 * f->level);
    else
        snprintf(line, sizeof line, "line: measured = fitted");
    if (n > POINTS)
        snprintf(line + strlen(line), sizeof line - strlen(line), "; one of %zu points is drawn",
                 (n + POINTS - 1) / POINTS);
    put_text(to, LEFT, 40, " fill=\"#555\"", line);
    put_axes(&up, f->target, 0);
    open_clip(&up, "up");
    if (curve) {
        put_band(&up, x, y, band, CURVE);
        put_line(&up, x, y, CURVE);
    } else {
        const double ends[] = { up.x0, up.x1 };
        put_line(&up, ends, ends, 2);
    }
    put_points(&up, f, across, f->d->y);
    fputs("</g>\n", to);
    put_axes(&low, "residual", 1);
    open_clip(&low, "low");
    fprintf(to, "<path class=\"z\" d=\"M%d %.1fH%d\"/>\n", LEFT, at_y(&low, 0), WIDTH - RIGHT);
    put_points(&low, f, across, r->residual);
    fputs("</g>\n", to);
    put_text(to, (LEFT + WIDTH - RIGHT) / 2., TOP + MAIN + GAP + REST + 36,
             " text-anchor=\"middle\"", curve ? f->law->names.name[0] : "fitted");
    fputs("</svg>\n", to);
    return 1;
}
