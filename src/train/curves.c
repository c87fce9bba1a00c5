/* curves.c - see curves.h. */
#include "train/curves.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "page/svg.h"

enum { WIDTH = 640, HEIGHT = 300, LEFT = 64, RIGHT = 150 }; /* the legend is on the right */

/* A number of a log line: a key, or key/index for a number of a list below "held_out". */
typedef struct curve {
    const char *name, *key;
    int index; /* of the list, -1: a plain number */
} curve;

typedef struct figure {
    const char *title;
    double factor;
    curve curve[4];
} figure;

static const figure figures[] = {
    { "Loss",
      1,
      { { "total", "loss", -1 },
        { "global", "global", -1 },
        { "context", "context", -1 },
        { "standalone", "standalone", -1 } } },
    { "Held-out retrieval: nDCG@10, in per cent",
      100,
      { { "formula to values", "ndcg10", 0 }, { "values to formula", "ndcg10", 1 } } },
    { "Gap between the centroids of formulas and values", 1, { { "gap", "gap", -1 } } },
    { "Speed: samples per second", 1, { { "samples per second", "samples_per_second", -1 } } },
};

static int value_of(const json_t *line, const curve *c, double *out)
{
    const json_t *v =
        c->index < 0 ? json_object_get(line, c->key)
                     : json_array_get(json_object_get(json_object_get(line, "held_out"), c->key),
                                      (size_t)c->index);
    *out = json_number_value(v);
    return json_is_number(v) && isfinite(*out);
}

/* Samples seen, in thousands. */
static double samples_of(const json_t *line)
{
    return json_number_value(json_object_get(line, "samples")) / 1000;
}

static void add_curve(const page_plot *p, const figure *f, int c, json_t *const *line, size_t n)
{
    size_t used = 0, stride = f->curve[c].index < 0 ? 1 + n / 1000 : 1; /* no more than pixels */
    double v, *x = arena_array(p->t->a, n, sizeof *x), *y = arena_array(p->t->a, n, sizeof *y);
    p->t->failed |= !x || !y;
    for (size_t i = 0; i < n && x && y; i += stride)
        if (value_of(line[i], &f->curve[c], &v)) {
            x[used] = samples_of(line[i]);
            y[used++] = f->factor * v;
        }
    page_plot_line(p, x, y, used, c);
    text_add(p->t, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", WIDTH - RIGHT + 8,
             PAGE_TOP + 14 + 18 * c, page_colour(c), f->curve[c].name);
}

static void add_figure(text *t, const figure *f, json_t *const *line, size_t n)
{
    page_plot p = page_plot_new(t, LEFT, HEIGHT);
    p.width = WIDTH, p.right = RIGHT;
    p.x1 = p.y1 = 1e-9;
    double v;
    int known = 0;
    for (size_t i = 0; i < n; i++) {
        p.x1 = fmax(p.x1, samples_of(line[i]));
        for (int c = 0; c < 4 && f->curve[c].name; c++)
            if (value_of(line[i], &f->curve[c], &v)) {
                p.y1 = fmax(p.y1, f->factor * v);
                known = 1;
            }
    }
    if (!known) /* the log of an older version */
        return;
    page_element(t, "<figure><figcaption>", f->title, "</figcaption>");
    page_svg_open(t, WIDTH, HEIGHT, f->title);
    page_plot_grid_y(&p, PAGE_NUMBER);
    page_plot_axis_x(&p, "thousand samples seen", PAGE_NUMBER);
    for (int c = 0; c < 4 && f->curve[c].name; c++)
        add_curve(&p, f, c, line, n);
    page_svg_close(t);
    page_put(t, "</figure>\n");
}

static void write_page(text *t, json_t *const *line, size_t n)
{
    const json_t *last = line[n - 1];
    page_open(
        t, "snip: training curves",
        "body{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2em auto;padding:0 1em}"
        "svg{width:100%;height:auto;font-size:12px}figure{margin:1.5em 0}"
        "figcaption{font-weight:600}.g{stroke:#ddd}.l{fill:none;stroke-width:1.6}\n");
    page_put(t, "<h1>Training curves</h1>\n");
    text_add(t, "<p>Step %lld, %lld samples, %.0f seconds of training, loss %.4f.</p>\n",
             (long long)json_integer_value(json_object_get(last, "step")),
             (long long)json_integer_value(json_object_get(last, "samples")),
             json_number_value(json_object_get(last, "seconds")),
             json_number_value(json_object_get(last, "loss")));
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        add_figure(t, &figures[i], line, n);
    page_close(t);
}

snip_code train_curves(const char *folder, snip_status *st)
{
    arena *a = arena_new(0);
    if (!a)
        return status_nomem(st);
    text log = { .a = a }, html = { .a = a }, t = { .a = a };
    text_add(&log, "%s/log.jsonl", folder);
    text_add(&html, "%s/curves.html", folder);
    char *content = NULL;
    size_t size = 0, n = 0, lines = 0;
    snip_code code = text_end(&log) && text_end(&html) ? file_read(&content, &size, log.s, a, st)
                                                       : status_nomem(st);
    for (size_t i = 0; code == SNIP_OK && i < size; i++)
        lines += content[i] == '\n';
    json_t **line = code == SNIP_OK ? arena_array(a, lines + 1, sizeof *line) : NULL;
    for (char *s = content; line && s && *s;) {
        size_t length = strcspn(s, "\n");
        json_t *o = json_loadb(s, length, 0, NULL);
        if (json_is_object(o) && n < lines + 1)
            line[n++] = o;
        else
            json_decref(o);
        s += length + (s[length] == '\n');
    }
    if (n > 0) {
        write_page(&t, line, n);
        const char *text = text_end(&t);
        if (!text)
            code = status_nomem(st);
        else if (!file_replace(html.s, text))
            code = status_fail(st, SNIP_IO, 0, "%s: cannot write: %s", html.s, strerror(errno));
    }
    for (size_t i = 0; i < n; i++)
        json_decref(line[i]);
    arena_free(a);
    return code;
}
