/* plot.c - see plot.h. */
#include "eval/plot.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/measures.h"

enum { LABELS = 136, MOST_LABEL = 21 };

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

eval_row eval_row_of(const char *path)
{
    const eval_measure *m = eval_measure_find(path);
    assert(m);
    return (eval_row){ m->row, m->path, m->key, m->format, 0 };
}

void eval_rows_below(const char *path, eval_row *out, size_t n)
{
    size_t used = 0;
    for (const eval_measure *m = eval_measures; m->path; m++)
        if (m->row && strncmp(m->path, path, strlen(path)) == 0) {
            assert(used < n);
            out[used++] = eval_row_of(m->path);
        }
    assert(used == n);
}

static const eval_measure *paper_of(const eval_row *r)
{
    return eval_measure_printed(r->key ? r->key : r->path);
}

static int any_paper(const eval_row *r, size_t n)
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
    page_put(&g->t, s);
}

void eval_element(eval_page *g, const char *open, const char *s, const char *close)
{
    page_element(&g->t, open, s, close);
}

const char *eval_print(eval_page *g, double v, page_format f)
{
    char out[PAGE_DIGITS];
    return eval_say(g, "%s", page_number(out, v, f));
}

const char *eval_hover(eval_page *g, const char *who, const char *what, eval_figure e,
                       page_format f)
{
    const char *value = eval_print(g, e.value, f);
    if (!isfinite(e.lo) || !isfinite(e.hi))
        return eval_say(g, "%s, %s: %s", who, what, value);
    return eval_say(g, "%s, %s: %s (95 %% interval %s to %s)", who, what, value,
                    eval_print(g, e.lo, f), eval_print(g, e.hi, f));
}

/* "81.0 – 83.1 %": the unit once. */
static const char *interval(eval_page *g, eval_figure e, page_format f)
{
    const char *lo = eval_print(g, e.lo, f);
    return eval_say(g, "%.*s – %s", (int)strcspn(lo, " "), lo, eval_print(g, e.hi, f));
}

void eval_cell(eval_page *g, eval_figure e, page_format f)
{
    text_add(&g->t, "<td>%s", eval_print(g, e.value, f));
    if (isfinite(e.lo) && isfinite(e.hi))
        text_add(&g->t, "<small>%s</small>", interval(g, e, f));
    eval_put(g, "</td>");
}

void eval_table(eval_page *g, const eval_row *r, size_t n)
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
        const eval_measure *p = paper_of(&r[i]);
        if (paper)
            text_add(&g->t, "<td class='p'>%s</td><td class='p'>%s</td>",
                     eval_print(g, p ? p->paper[EVAL_PAPER_SNIP] : NAN, r[i].format),
                     eval_print(g, p ? p->paper[EVAL_PAPER_SNIPPP] : NAN, r[i].format));
        eval_put(g, "</tr>\n");
    }
    eval_put(g, "</tbody></table></div>\n");
}

void eval_legend_entry(eval_page *g, int style, const char *name)
{
    eval_put(g, "<span><svg viewBox='-7 -7 14 14'>");
    page_mark(&g->t, 0, 0, style, NULL);
    eval_element(g, "</svg>", name, "</span>\n");
}

int eval_style(size_t m)
{
    return (int)(m % PAGE_STYLES);
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

void eval_panel_close(eval_page *g, const page_plot *p)
{
    page_svg_close(p->t);
    eval_put(g, "</figure>\n");
}

static void guide(eval_page *g, const page_plot *p, double v)
{
    text_add(&g->t, "<path class='c' d='M%.1f %.1fV%.1f'><title>chance</title></path>\n",
             page_plot_x(p, v), p->top, p->height - p->bottom);
}

static void dot(eval_page *g, const page_plot *p, double y, int style, eval_figure e,
                const char *title)
{
    if (!isfinite(e.value))
        return;
    page_plot_interval(p, e.lo, e.hi, y, style);
    page_mark(&g->t, page_plot_x(p, e.value), y, style, title);
}

void eval_dots(eval_page *g, const eval_panel *f, const eval_row *r, size_t n)
{
    int paper = any_paper(r, n);
    double high = fmax(9.0 * (double)(g->n + (paper ? 1 : 0)) + 8, 22);
    page_plot p = page_plot_new(&g->t, LABELS, PAGE_TOP + PAGE_BOTTOM + high * (double)n);
    p.x0 = f->lo, p.x1 = f->hi;
    eval_panel_open(g, f->title);
    page_svg_open(&g->t, p.width, p.height, f->title);
    for (size_t i = 0; i < n; i++) {
        double top = PAGE_TOP + high * (double)i;
        text_add(&g->t, "<rect class='%s' x='0' y='%.1f' width='%d' height='%.1f'/>",
                 r[i].average ? "s" : "r", top, PAGE_WIDTH - PAGE_RIGHT, high - 1);
        page_svg_text_cut(&g->t, p.left - 8, top + high / 2 + 4, " text-anchor=\"end\"", r[i].label,
                          MOST_LABEL);
    }
    page_plot_axis_x(&p, f->unit, r[0].format);
    if (isfinite(f->chance))
        guide(g, &p, f->chance);
    for (size_t i = 0; i < n; i++) {
        const eval_measure *q = paper_of(&r[i]);
        double slots = (double)g->n + (q ? 1 : 0);
        double y = PAGE_TOP + high * ((double)i + .5) - 9 * (slots - 1) / 2;
        for (size_t k = 0; k < g->n; k++, y += 9) {
            eval_figure e = eval_figure_at(g, g->shown[k], r[i].path);
            dot(g, &p, y, eval_style(g->shown[k]), e,
                eval_hover(g, eval_model_name(g, g->shown[k]), r[i].label, e, r[i].format));
        }
        for (int s = 0; q && s < 2; s++) {
            eval_figure e = { s ? q->paper[EVAL_PAPER_SNIPPP] : q->paper[EVAL_PAPER_SNIP], NAN,
                              NAN };
            dot(g, &p, y, s ? EVAL_SNIPPP : EVAL_SNIP, e,
                eval_hover(g, s ? "SNIP++, paper" : "SNIP, paper", r[i].label, e, r[i].format));
        }
    }
    eval_panel_close(g, &p);
}

double eval_low_end(eval_page *g, const eval_row *r, size_t n, double low)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < g->n; k++) {
            eval_figure e = eval_figure_at(g, g->shown[k], r[i].path);
            low = fmin(low, fmin(e.value, e.lo)); /* fmin passes over NaN */
        }
    return fmax(-1, floor(low * 10 + 1e-9) / 10);
}
