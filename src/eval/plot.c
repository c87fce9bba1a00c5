/* plot.c - see plot.h. */
#include "eval/plot.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/paper.h"

enum { LABELS = 136, MOST_LABEL = 21 };

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

const char *eval_colour(int i)
{
    return look_of(i)->fill;
}

/* Groups of three digits, from the right. */
static void count_text(char *out, double v)
{
    char digits[EVAL_NUMBER];
    int n = snprintf(digits, sizeof digits, "%.0f", v), used = 0;
    for (int i = 0; i < n && used < EVAL_NUMBER - 2; i++) {
        out[used++] = digits[i];
        if ((n - i) % 3 == 1 && i + 1 < n)
            out[used++] = ',';
    }
    out[used] = 0;
}

/* "0.73" loses its zero. */
static void share_text(char *out, double v)
{
    char digits[EVAL_NUMBER];
    snprintf(digits, sizeof digits, "%.2f", v);
    strcpy(out, digits + (digits[0] == '0'));
}

const char *eval_number(char out[EVAL_NUMBER], double v, eval_format f)
{
    if (!isfinite(v) || fabs(v) >= 1e15) /* beyond this it is no result of ours */
        return strcpy(out, "–");
    char *s = out;
    double size = fabs(v), least = f == EVAL_PERCENT ? .0005 : f == EVAL_COUNT ? .05 : .005;
    if (f == EVAL_SIGNED && v >= least)
        s += sprintf(s, "+");
    else if (f != EVAL_MIRROR && v <= -least)
        s += sprintf(s, "−");
    if (f == EVAL_PERCENT || f == EVAL_MIRROR)
        sprintf(s, f == EVAL_PERCENT ? "%.1f %%" : "%g %%", 100 * size);
    else if (f == EVAL_PLAIN)
        sprintf(s, "%.2f", size);
    else if (f == EVAL_COUNT && fabs(size - round(size)) >= .05)
        sprintf(s, "%.1f", size);
    else if (f == EVAL_COUNT)
        count_text(s, size);
    else
        share_text(s, size);
    return out;
}

void eval_escape(text *t, const char *s)
{
    for (; s && *s; s++) {
        static const char special[] = "<>&\"'";
        static const char *const entity[] = { "&lt;", "&gt;", "&amp;", "&quot;", "&#39;" };
        const char *found = strchr(special, *s);
        if (found)
            text_put(t, entity[found - special], strlen(entity[found - special]));
        else
            text_put(t, s, 1);
    }
}

void eval_mark(text *t, double x, double y, int i, const char *title)
{
    const look *s = look_of(i);
    text_add(t, "<path class='m' transform='translate(%.1f %.1f)' d='%s' fill='%s' stroke='%s'>", x,
             y, s->shape, s->fill, s->edge);
    if (title) {
        text_add(t, "<title>");
        eval_escape(t, title);
        text_add(t, "</title>");
    }
    text_add(t, "</path>\n");
}

static double place(double v, double v0, double v1, double from, double to)
{
    double share = v1 > v0 ? (v - v0) / (v1 - v0) : .5;
    return from + (to - from) * fmin(1, fmax(0, share));
}

double eval_plot_x(const eval_plot *p, double v)
{
    return place(v, p->x0, p->x1, p->left, p->width - p->right);
}

double eval_plot_y(const eval_plot *p, double v)
{
    return place(v, p->y0, p->y1, p->height - p->bottom, p->top);
}

eval_plot eval_plot_new(text *t, double left, double height)
{
    return (eval_plot){ .t = t,
                        .width = EVAL_WIDTH,
                        .height = height,
                        .left = left,
                        .right = EVAL_RIGHT,
                        .top = EVAL_TOP,
                        .bottom = EVAL_BOTTOM };
}

void eval_plot_open(const eval_plot *p, const char *name)
{
    text_add(p->t, "<svg viewBox='0 0 %.0f %.0f' role='img' aria-label='", p->width, p->height);
    eval_escape(p->t, name);
    text_add(p->t, "'>\n");
}

void eval_plot_close(const eval_plot *p)
{
    text_add(p->t, "</svg>\n");
}

/* A round step that gives four to eight marks over [lo, hi]. */
static double mark_step(double lo, double hi)
{
    double width = hi > lo ? hi - lo : 1, step = pow(10, floor(log10(width)));
    double parts = width / step;
    return parts < 1.6 ? step / 5 : parts < 4 ? step / 2 : parts < 8 ? step : 2 * step;
}

static const char *tick_text(char out[EVAL_NUMBER], double v, eval_format f)
{
    if (fabs(v) < 1e-9)
        return strcpy(out, f == EVAL_PERCENT || f == EVAL_MIRROR ? "0 %" : "0");
    if (f == EVAL_PERCENT)
        f = EVAL_MIRROR;
    return eval_number(out, v, f == EVAL_PLAIN ? EVAL_SHARE : f);
}

/* The k-th mark of an axis, counted from its low end; 0 after the last. */
static int mark_of(double lo, double hi, int k, double *v)
{
    double step = mark_step(lo, hi);
    *v = step * (ceil(lo / step - 1e-6) + k);
    return k < 20 && *v <= hi + 1e-6 * step;
}

void eval_plot_axis_x(const eval_plot *p, const char *label, eval_format f)
{
    double v, low = p->height - p->bottom;
    char number[EVAL_NUMBER];
    for (int k = 0; mark_of(p->x0, p->x1, k, &v); k++) {
        double x = eval_plot_x(p, v);
        text_add(p->t, "<path class='g' d='M%.1f %.1fV%.1f'/>", x, p->top, low);
        eval_plot_text(p, x, low + 14, "middle", tick_text(number, v, f), 20);
    }
    eval_plot_text(p, (p->left + p->width - p->right) / 2, low + 31, "middle", label, 80);
}

void eval_plot_axis_y(const eval_plot *p, const char *label, eval_format f)
{
    double v;
    char number[EVAL_NUMBER];
    for (int k = 0; mark_of(p->y0, p->y1, k, &v); k++) {
        double y = eval_plot_y(p, v);
        text_add(p->t, "<path class='g' d='M%.1f %.1fH%.1f'/>", p->left, y, p->width - p->right);
        eval_plot_text(p, p->left - 5, y + 4, "end", tick_text(number, v, f), 20);
    }
    text_add(p->t, "<text transform='translate(12 %.1f) rotate(-90)' text-anchor='middle'>",
             (p->top + p->height - p->bottom) / 2);
    eval_escape(p->t, label);
    text_add(p->t, "</text>\n");
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

void eval_plot_text(const eval_plot *p, double x, double y, const char *anchor, const char *s,
                    size_t most)
{
    int longer = s[cut(s, most)] != 0;
    size_t bytes = cut(s, longer ? most - 1 : most);
    text_add(p->t, "<text x='%.1f' y='%.1f' text-anchor='%s'>", x, y, anchor);
    char *kept = arena_text(p->t->a, s, bytes);
    if (!kept)
        p->t->failed = 1;
    eval_escape(p->t, kept);
    if (longer) {
        text_add(p->t, "…<title>");
        eval_escape(p->t, s);
        text_add(p->t, "</title>");
    }
    text_add(p->t, "</text>\n");
}

void eval_plot_interval(const eval_plot *p, double lo, double hi, double y, int i)
{
    if (isfinite(lo) && isfinite(hi))
        text_add(p->t, "<path class='i' stroke='%s' d='M%.1f %.1fH%.1f'/>\n", look_of(i)->fill,
                 eval_plot_x(p, lo), y, eval_plot_x(p, hi));
}

void eval_plot_line(const eval_plot *p, const double *x, const double *y, size_t n, int i)
{
    const look *s = look_of(i);
    text_add(p->t, "<polyline class='l' stroke='%s' stroke-dasharray='%s' points='", s->fill,
             *s->dash ? s->dash : "none");
    for (size_t k = 0; k < n; k++)
        if (isfinite(x[k]) && isfinite(y[k]))
            text_add(p->t, "%.1f,%.1f ", eval_plot_x(p, x[k]), eval_plot_y(p, y[k]));
    text_add(p->t, "'/>\n");
}

/* ---- the page ---- */

static const json_t *step(const json_t *o, const char *name, size_t length)
{
    if (json_is_array(o))
        return json_array_get(o, *name == 'l' ? json_array_size(o) - 1 : strtoul(name, NULL, 10));
    return json_object_getn(o, name, length);
}

const json_t *eval_json_at(const json_t *o, const char *path)
{
    while (o && *path) {
        size_t length = strcspn(path, ".");
        o = step(o, path, length);
        path += length + (path[length] == '.');
    }
    return o;
}

double eval_json_number(const json_t *o, const char *path)
{
    const json_t *v = eval_json_at(o, path);
    double x = json_number_value(v);
    return json_is_number(v) && fabs(x) < 1e15 ? x : NAN;
}

const char *eval_json_string(const json_t *o, const char *path)
{
    const char *s = json_string_value(eval_json_at(o, path));
    return s ? s : "";
}

eval_figure eval_figure_read(const json_t *o, const char *path)
{
    const json_t *v = eval_json_at(o, path);
    if (!json_is_object(v))
        return (eval_figure){ eval_json_number(v, ""), NAN, NAN };
    return (eval_figure){ eval_json_number(v, "value"), eval_json_number(v, "lo"),
                          eval_json_number(v, "hi") };
}

const json_t *eval_model_at(const eval_page *g, size_t m)
{
    return json_array_get(g->models, m);
}

const json_t *eval_model_suites(const eval_page *g, size_t m)
{
    return eval_json_at(eval_model_at(g, m), "suites");
}

const char *eval_model_name(const eval_page *g, size_t m)
{
    const char *name = eval_json_string(eval_model_at(g, m), "name");
    return *name ? name : "(no name)";
}

const char *eval_say(eval_page *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *s = n < 0 ? NULL : arena_alloc(g->a, (size_t)n + 1);
    if (!s) {
        g->t.failed = 1;
        return "";
    }
    va_start(args, format);
    vsnprintf(s, (size_t)n + 1, format, args);
    va_end(args);
    return s;
}

/* Sums the values at the ends of all ways along a path with alternatives. */
static void gather(const json_t *o, const char *path, double *sum, double *count)
{
    if (!*path) {
        double v = eval_figure_read(o, "").value;
        if (isfinite(v))
            *sum += v, *count += 1;
        return;
    }
    size_t length = strcspn(path, ".");
    const char *rest = path + length + (path[length] == '.');
    for (size_t i = 0; i < length; i++) {
        size_t name = strcspn(path + i, ".|");
        gather(step(o, path + i, name), rest, sum, count);
        i += name;
    }
}

eval_figure eval_figure_at(const eval_page *g, size_t m, const char *path)
{
    double sum = 0, count = 0;
    if (!strchr(path, '|'))
        return eval_figure_read(eval_model_suites(g, m), path);
    gather(eval_model_suites(g, m), path, &sum, &count);
    return (eval_figure){ count > 0 ? sum / count : NAN, NAN, NAN };
}

static const eval_paper *paper_of(const eval_measure *r)
{
    return eval_paper_find(r->key ? r->key : r->path);
}

static int any_paper(const eval_measure *r, size_t n)
{
    int any = 0;
    for (size_t i = 0; i < n; i++)
        any |= paper_of(&r[i]) != NULL;
    return any;
}

size_t eval_page_show(eval_page *g, const char *path)
{
    g->n = 0;
    for (size_t m = 0; m < json_array_size(g->models); m++)
        if (json_is_object(eval_json_at(eval_model_suites(g, m), path)) || !*path)
            g->shown[g->n++] = m;
    return g->n;
}

const json_t *eval_page_common(const eval_page *g, const char *path)
{
    return g->n > 0 ? eval_json_at(eval_model_suites(g, g->shown[0]), path) : NULL;
}

double *eval_page_column(eval_page *g, size_t n)
{
    double *x = arena_array(g->a, n + 1, sizeof *x);
    g->t.failed |= !x;
    return x;
}

void eval_put(eval_page *g, const char *s)
{
    text_put(&g->t, s, strlen(s));
}

void eval_element(eval_page *g, const char *open, const char *s, const char *close)
{
    eval_put(g, open);
    eval_escape(&g->t, s);
    eval_put(g, close);
}

const char *eval_print(eval_page *g, double v, eval_format f)
{
    char out[EVAL_NUMBER];
    return eval_say(g, "%s", eval_number(out, v, f));
}

const char *eval_hover(eval_page *g, const char *who, const char *what, eval_figure e,
                       eval_format f)
{
    const char *value = eval_print(g, e.value, f);
    if (!isfinite(e.lo) || !isfinite(e.hi))
        return eval_say(g, "%s, %s: %s", who, what, value);
    return eval_say(g, "%s, %s: %s (95 %% interval %s to %s)", who, what, value,
                    eval_print(g, e.lo, f), eval_print(g, e.hi, f));
}

/* "81.0 – 83.1 %": the unit once. */
static const char *interval(eval_page *g, eval_figure e, eval_format f)
{
    const char *lo = eval_print(g, e.lo, f);
    return eval_say(g, "%.*s – %s", (int)strcspn(lo, " "), lo, eval_print(g, e.hi, f));
}

void eval_cell(eval_page *g, eval_figure e, eval_format f)
{
    text_add(&g->t, "<td>%s", eval_print(g, e.value, f));
    if (isfinite(e.lo) && isfinite(e.hi))
        text_add(&g->t, "<small>%s</small>", interval(g, e, f));
    eval_put(g, "</td>");
}

void eval_table(eval_page *g, const eval_measure *r, size_t n)
{
    int paper = any_paper(r, n);
    eval_put(g, "<div class='scroll'><table><thead><tr><th></th>");
    for (size_t k = 0; k < g->n; k++)
        eval_element(g, "<th>", eval_model_name(g, g->shown[k]), "</th>");
    eval_put(g, paper ? "<th class='p'>SNIP<br>paper</th><th class='p'>SNIP++<br>paper</th>" : "");
    eval_put(g, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < n; i++) {
        if (!r[i].path) {
            text_add(&g->t, "<tr class='h'><th colspan='%zu'>", g->n + 1 + (paper ? 2 : 0));
            eval_element(g, "", r[i].label, "</th></tr>\n");
            continue;
        }
        eval_element(g, r[i].average ? "<tr class='s'><th>" : "<tr><th>", r[i].label, "</th>");
        for (size_t k = 0; k < g->n; k++)
            eval_cell(g, eval_figure_at(g, g->shown[k], r[i].path), r[i].format);
        const eval_paper *p = paper_of(&r[i]);
        if (paper)
            text_add(&g->t, "<td class='p'>%s</td><td class='p'>%s</td>",
                     eval_print(g, p ? p->snip : NAN, r[i].format),
                     eval_print(g, p ? p->snippp : NAN, r[i].format));
        eval_put(g, "</tr>\n");
    }
    eval_put(g, "</tbody></table></div>\n");
}

void eval_legend_entry(eval_page *g, int style, const char *name)
{
    eval_put(g, "<span><svg viewBox='-7 -7 14 14'>");
    eval_mark(&g->t, 0, 0, style, NULL);
    eval_element(g, "</svg>", name, "</span>\n");
}

int eval_style(size_t m)
{
    return (int)(m % EVAL_STYLES);
}

void eval_legend(eval_page *g, int paper)
{
    eval_put(g, "<p class='legend'>");
    for (size_t k = 0; k < g->n; k++)
        eval_legend_entry(g, eval_style(g->shown[k]), eval_model_name(g, g->shown[k]));
    if (paper) {
        eval_legend_entry(g, EVAL_SNIP, "SNIP, paper");
        eval_legend_entry(g, EVAL_SNIPPP, "SNIP++, paper");
    }
    eval_put(g, "</p>\n");
}

void eval_panel_open(eval_page *g, const char *title)
{
    eval_element(g, "<figure><figcaption>", title, "</figcaption>");
}

void eval_panel_close(eval_page *g, const eval_plot *p)
{
    eval_plot_close(p);
    eval_put(g, "</figure>\n");
}

static void guide(eval_page *g, const eval_plot *p, double v)
{
    text_add(&g->t, "<path class='c' d='M%.1f %.1fV%.1f'><title>chance</title></path>\n",
             eval_plot_x(p, v), p->top, p->height - p->bottom);
}

static void dot(eval_page *g, const eval_plot *p, double y, int style, eval_figure e,
                const char *title)
{
    if (!isfinite(e.value))
        return;
    eval_plot_interval(p, e.lo, e.hi, y, style);
    eval_mark(&g->t, eval_plot_x(p, e.value), y, style, title);
}

void eval_dots(eval_page *g, const eval_panel *f, const eval_measure *r, size_t n)
{
    int paper = any_paper(r, n);
    double high = fmax(9.0 * (double)(g->n + (paper ? 1 : 0)) + 8, 22);
    eval_plot p = eval_plot_new(&g->t, LABELS, EVAL_TOP + EVAL_BOTTOM + high * (double)n);
    p.x0 = f->lo, p.x1 = f->hi;
    eval_panel_open(g, f->title);
    eval_plot_open(&p, f->title);
    for (size_t i = 0; i < n; i++) {
        double top = EVAL_TOP + high * (double)i;
        text_add(&g->t, "<rect class='%s' x='0' y='%.1f' width='%d' height='%.1f'/>",
                 r[i].average ? "s" : "r", top, EVAL_WIDTH - EVAL_RIGHT, high - 1);
        eval_plot_text(&p, p.left - 8, top + high / 2 + 4, "end", r[i].label, MOST_LABEL);
    }
    eval_plot_axis_x(&p, f->unit, r[0].format);
    if (isfinite(f->chance))
        guide(g, &p, f->chance);
    for (size_t i = 0; i < n; i++) {
        const eval_paper *q = paper_of(&r[i]);
        double slots = (double)g->n + (q ? 1 : 0);
        double y = EVAL_TOP + high * ((double)i + .5) - 9 * (slots - 1) / 2;
        for (size_t k = 0; k < g->n; k++, y += 9) {
            eval_figure e = eval_figure_at(g, g->shown[k], r[i].path);
            dot(g, &p, y, eval_style(g->shown[k]), e,
                eval_hover(g, eval_model_name(g, g->shown[k]), r[i].label, e, r[i].format));
        }
        for (int s = 0; q && s < 2; s++) {
            eval_figure e = { s ? q->snippp : q->snip, NAN, NAN };
            dot(g, &p, y, s ? EVAL_SNIPPP : EVAL_SNIP, e,
                eval_hover(g, s ? "SNIP++, paper" : "SNIP, paper", r[i].label, e, r[i].format));
        }
    }
    eval_panel_close(g, &p);
}

double eval_low_end(eval_page *g, const eval_measure *r, size_t n, double low)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < g->n; k++) {
            eval_figure e = eval_figure_at(g, g->shown[k], r[i].path);
            low = fmin(low, fmin(e.value, e.lo)); /* fmin passes over NaN */
        }
    return fmax(-1, floor(low * 10 + 1e-9) / 10);
}
