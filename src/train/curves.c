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
#include "base/text.h"

enum { WIDTH = 640, HEIGHT = 300, LEFT = 64, BOTTOM = 44, TOP = 16, RIGHT = 150 };

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

/* Colours that stay apart for colour-blind readers (Okabe and Ito). */
static const char *const colours[4] = { "#000000", "#0072b2", "#d55e00", "#009e73" };

static int value_of(const json_t *line, const curve *c, double *out)
{
    const json_t *v =
        c->index < 0 ? json_object_get(line, c->key)
                     : json_array_get(json_object_get(json_object_get(line, "held_out"), c->key),
                                      (size_t)c->index);
    *out = json_number_value(v);
    return json_is_number(v) && isfinite(*out);
}

/* A round step that gives four to nine marks over [0, high]. */
static double mark_step(double high)
{
    double step = pow(10, floor(log10(high > 0 ? high : 1)));
    return high / step < 2 ? step / 5 : high / step < 5 ? step / 2 : step;
}

static void axes(text *t, const figure *f, double most_x, double most_y)
{
    double x_step = mark_step(most_x), y_step = mark_step(most_y);
    text_add(t, "<figure><figcaption>%s</figcaption><svg viewBox='0 0 %d %d' role='img'>\n",
             f->title, WIDTH, HEIGHT);
    for (double v = 0; v <= most_y * 1.0001; v += y_step) {
        double y = HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * v / most_y;
        text_add(t,
                 "<line class='g' x1='%d' x2='%d' y1='%.1f' y2='%.1f'/><text x='%d' y='%.1f' "
                 "text-anchor='end'>%g</text>\n",
                 LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4, v);
    }
    for (double v = 0; v <= most_x * 1.0001; v += x_step) {
        double x = LEFT + (WIDTH - LEFT - RIGHT) * v / most_x;
        text_add(t, "<text x='%.1f' y='%d' text-anchor='middle'>%g</text>\n", x,
                 HEIGHT - BOTTOM + 16, v);
    }
    text_add(t, "<text x='%d' y='%d' text-anchor='middle'>thousand samples seen</text>\n",
             (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8);
}

static void add_figure(text *t, const figure *f, json_t *const *line, size_t n)
{
    double most_x = 1e-9, most_y = 1e-9, v;
    int known = 0;
    for (size_t i = 0; i < n; i++) {
        most_x = fmax(most_x, json_number_value(json_object_get(line[i], "samples")) / 1000);
        for (int c = 0; c < 4 && f->curve[c].name; c++)
            if (value_of(line[i], &f->curve[c], &v)) {
                most_y = fmax(most_y, f->factor * v);
                known = 1;
            }
    }
    if (!known) /* the log of an older version */
        return;
    axes(t, f, most_x, most_y);
    size_t stride = 1 + n / 1000; /* more points than pixels help nobody */
    for (int c = 0; c < 4 && f->curve[c].name; c++) {
        text_add(t, "<polyline stroke='%s' points='", colours[c]);
        for (size_t i = 0; i < n; i += f->curve[c].index < 0 ? stride : 1)
            if (value_of(line[i], &f->curve[c], &v)) {
                double x = json_number_value(json_object_get(line[i], "samples")) / 1000;
                text_add(t, "%.1f,%.1f ", LEFT + (WIDTH - LEFT - RIGHT) * x / most_x,
                         HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * f->factor * v / most_y);
            }
        text_add(t, "'/><text x='%d' y='%d' fill='%s'>%s</text>\n", WIDTH - RIGHT + 8,
                 TOP + 14 + 18 * c, colours[c], f->curve[c].name);
    }
    text_add(t, "</svg></figure>\n");
}

static void page(text *t, json_t *const *line, size_t n)
{
    const json_t *last = line[n - 1];
    text_add(
        t,
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>snip: training curves</title>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2em auto;padding:0 "
        "1em}"
        "svg{width:100%%;height:auto;font-size:12px}figure{margin:1.5em 0}"
        "figcaption{font-weight:600}.g{stroke:#ddd}polyline{fill:none;stroke-width:1.6}</style>\n"
        "<h1>Training curves</h1>\n");
    text_add(t, "<p>Step %lld, %lld samples, %.0f seconds of training, loss %.4f.</p>\n",
             (long long)json_integer_value(json_object_get(last, "step")),
             (long long)json_integer_value(json_object_get(last, "samples")),
             json_number_value(json_object_get(last, "seconds")),
             json_number_value(json_object_get(last, "loss")));
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        add_figure(t, &figures[i], line, n);
    text_add(t, "</html>\n");
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
        page(&t, line, n);
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
