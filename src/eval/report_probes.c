/* report_probes.c - the page's section of the four probes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval/measures.h"
#include "eval/report_parts.h"

enum { BINS = 24 };

static void variation(eval_page *g)
{
    page_plot p = page_plot_new(&g->t, LEFT, HEIGHT);
    p.x1 = 5, p.y1 = 1;
    for (size_t k = 0; k < g->n; k++) {
        const json_t *o = eval_json_at(eval_model_suites(g, g->shown[k]), "probes.variation");
        for (size_t i = 0; i < json_array_size(eval_json_at(o, "c")); i++) {
            p.x1 = fmax(p.x1, eval_json_number(json_array_get(eval_json_at(o, "c"), i), ""));
            p.y0 =
                fmin(p.y0, eval_json_number(json_array_get(eval_json_at(o, "similarity"), i), ""));
        }
    }
    p.y0 = fmax(-1, floor(p.y0 * 5) / 5);
    eval_put(
        g,
        "<h3>Continuous variation</h3><p>How the embedding of sin(<i>c x</i>) moves away from "
        "sin(0.5 <i>x</i>) as <i>c</i> grows. A model that reads behaviour falls; one that reads "
        "symbols stays near 1.</p>\n");
    eval_legend(g, 1);
    eval_put(g, "<div class='panels'>");
    eval_panel_open(g, "Similarity of sin(c x) and sin(0.5 x)");
    page_svg_open(&g->t, p.width, p.height, "similarity against c");
    page_plot_axis_x(&p, "c", PAGE_COUNT);
    page_plot_axis_y(&p, "cosine similarity", PAGE_SHARE);
    for (size_t k = 0; k < g->n; k++) {
        const json_t *o = eval_json_at(eval_model_suites(g, g->shown[k]), "probes.variation");
        size_t n = json_array_size(eval_json_at(o, "c"));
        double *x = eval_page_column(g, n), *y = eval_page_column(g, n);
        if (!x || !y)
            return;
        for (size_t i = 0; i < n; i++) {
            x[i] = eval_json_number(json_array_get(eval_json_at(o, "c"), i), "");
            y[i] = eval_json_number(json_array_get(eval_json_at(o, "similarity"), i), "");
        }
        int style = eval_style(g->shown[k]);
        page_plot_line(&p, x, y, n, style);
        for (size_t i = 0, step = 1 + n / 12; i < n; i += step)
            if (isfinite(x[i]) && isfinite(y[i]))
                page_mark(&g->t, page_plot_x(&p, x[i]), page_plot_y(&p, y[i]), style,
                          eval_say(g, "%s, c = %.3g: %s", eval_model_name(g, g->shown[k]), x[i],
                                   eval_print(g, y[i], PAGE_SHARE)));
    }
    const eval_measure *q = eval_measure_printed("probes.variation.last");
    for (int s = 0; s < 2; s++)
        page_mark(
            &g->t, page_plot_x(&p, 5),
            page_plot_y(&p, s ? q->paper[EVAL_PAPER_SNIPPP] : q->paper[EVAL_PAPER_SNIP]),
            s ? EVAL_SNIPPP : EVAL_SNIP,
            eval_say(g, "%s, paper, c = 5: %s", s ? "SNIP++" : "SNIP",
                     eval_print(g, s ? q->paper[EVAL_PAPER_SNIPPP] : q->paper[EVAL_PAPER_SNIP],
                                PAGE_SHARE)));
    eval_panel_close(g, &p);
    eval_put(g, "</div>\n");
}

static const char *const consequence[] = { "preserving", "changing" };

/* Shares of the similarities in BINS bins over [-1, 1]; returns how many there are. */
static size_t histogram(const json_t *list, double *bin)
{
    size_t n = 0;
    memset(bin, 0, BINS * sizeof *bin);
    for (size_t i = 0; i < json_array_size(list); i++) {
        double v = eval_json_number(json_array_get(list, i), "");
        if (isfinite(v))
            bin[(int)fmin(BINS - 1, fmax(0, (v + 1) / 2 * BINS))]++, n++;
    }
    for (int b = 0; b < BINS; b++)
        bin[b] /= n ? (double)n : 1;
    return n;
}

/* Edits that keep the behaviour grow upwards, those that change it downwards. */
static void consequences_of(eval_page *g, size_t m)
{
    const json_t *o = eval_json_at(eval_model_suites(g, m), "probes.consequences");
    double bin[2][BINS], most = .1;
    size_t n[2];
    for (int s = 0; s < 2; s++) {
        n[s] = histogram(eval_json_at(eval_json_at(o, consequence[s]), "similarities"), bin[s]);
        for (int b = 0; b < BINS; b++)
            most = fmax(most, bin[s][b]);
    }
    page_plot p = page_plot_new(&g->t, LEFT, HEIGHT);
    p.x0 = -1, p.x1 = 1, p.y0 = -1.05 * most, p.y1 = 1.05 * most;
    eval_figure auc = eval_figure_read(o, "auc");
    eval_panel_open(
        g, eval_say(g, "%s: AUC %s", eval_model_name(g, m), eval_print(g, auc.value, PAGE_SHARE)));
    page_svg_open(&g->t, p.width, p.height, "similarities after edits");
    page_plot_axis_x(&p, "cosine similarity of a formula and its edited form", PAGE_PLAIN);
    page_plot_axis_y(&p, "share of the edits", PAGE_MIRROR);
    for (int s = 0; s < 2; s++) {
        double zero = page_plot_y(&p, 0);
        for (int b = 0; b < BINS; b++) {
            double from = 2.0 * b / BINS - 1, to = 2.0 * (b + 1) / BINS - 1;
            double y = page_plot_y(&p, s ? -bin[s][b] : bin[s][b]), x = page_plot_x(&p, from);
            if (bin[s][b] > 0)
                text_add(
                    &g->t,
                    "<rect fill='%s' x='%.1f' y='%.1f' width='%.1f' height='%.1f'><title>%s to "
                    "%s: %s of %zu %s edits</title></rect>\n",
                    page_colour(s), x + .5, fmin(y, zero), page_plot_x(&p, to) - x - 1,
                    fabs(y - zero), eval_print(g, from, PAGE_PLAIN), eval_print(g, to, PAGE_PLAIN),
                    eval_print(g, bin[s][b], PAGE_PERCENT), n[s], consequence[s]);
        }
    }
    eval_panel_close(g, &p);
}

static void consequences(eval_page *g)
{
    static const eval_row rows[] = {
        { "AUC", "probes.consequences.auc", NULL, PAGE_SHARE, 0 },
        { "behaviour kept, mean", "probes.consequences.preserving.mean", NULL, PAGE_SHARE, 0 },
        { "behaviour changed, mean", "probes.consequences.changing.mean", NULL, PAGE_SHARE, 0 },
        { "edits that keep it", "probes.consequences.preserving.count", NULL, PAGE_COUNT, 0 },
        { "edits that change it", "probes.consequences.changing.count", NULL, PAGE_COUNT, 0 },
    };
    eval_put(
        g,
        "<h3>Consequences of edits</h3><p>Similarity of a formula and its edited form. Upwards: "
        "edits that keep the behaviour, as a + b to b + a. Downwards: edits that change it, as "
        "a − b to b − a. The AUC is the chance that an edit of the first kind scores higher than "
        "one of the second: 1 is perfect, .5 is chance.</p>\n<div class='panels'>");
    for (size_t k = 0; k < g->n; k++)
        consequences_of(g, g->shown[k]);
    eval_put(g, "</div>\n");
    eval_table(g, rows, COUNT(rows));
}

static void identities(eval_page *g, const eval_row *rows, size_t n)
{
    eval_put(
        g, "<div class='scroll'><table class='words'><thead><tr><th>Identity</th><th></th><th>Cases"
           "</th><th>Wrong ones each</th></tr></thead><tbody>\n");
    for (size_t k = 0; k < n; k++) {
        const json_t *one = eval_page_common(g, rows[k].path);
        eval_element(g, "<tr><th>", rows[k].label, "</th><td><code>");
        eval_element(g, "", eval_json_string(one, "identity"), "</code></td>");
        eval_cell(g, eval_figure_read(one, "cases"), PAGE_COUNT);
        eval_cell(g, eval_figure_read(one, "alternatives"), PAGE_COUNT);
        eval_put(g, "</tr>\n");
    }
    eval_put(g, "</tbody></table></div>\n");
}

static void examples(eval_page *g)
{
    const json_t *all = eval_page_common(g, "probes.rewritings.examples");
    eval_put(g, json_array_size(all) ? "<details><summary>Examples</summary><ul>\n" : "");
    for (size_t k = 0; k < json_array_size(all); k++) {
        const json_t *one = json_array_get(all, k);
        eval_element(g, "<li><code>", eval_json_string(one, "formula"), "</code> as <code>");
        eval_element(g, "", eval_json_string(one, "rewriting"), "</code>; wrong: ");
        for (size_t w = 0; w < json_array_size(eval_json_at(one, "wrong")); w++) {
            const char *wrong = json_string_value(json_array_get(eval_json_at(one, "wrong"), w));
            eval_element(g, w ? ", <code>" : "<code>", wrong, "</code>");
        }
        eval_put(g, "</li>\n");
    }
    eval_put(g, json_array_size(all) ? "</ul></details>\n" : "");
}

static void rewritings(eval_page *g)
{
    const json_t *all = eval_page_common(g, "probes.rewritings.families");
    size_t n = json_object_size(all), i = 0;
    eval_row *rows = arena_array(g->a, n + 1, sizeof *rows);
    if (!rows) {
        g->t.failed = 1;
        return;
    }
    eval_put(
        g, "<h3>Equivalent rewritings</h3><p>A correct rewriting against wrong ones, each a single "
           "small edit of it: up to 35, or as many as it has. Percentile rank: the share of the "
           "wrong ones that score lower. The identities are ours; the paper does not list its "
           "own.</p>\n");
    for (void *it = json_object_iter((json_t *)all); it && i < n;
         it = json_object_iter_next((json_t *)all, it), i++) {
        const char *name = json_object_iter_key(it);
        char *label = arena_text(g->a, name, strlen(name));
        for (char *s = label; s && *s; s++)
            *s = *s == '_' ? ' ' : *s;
        rows[i] =
            (eval_row){ label ? label : name, eval_say(g, "probes.rewritings.families.%s", name),
                        NULL, PAGE_SHARE, 0 };
    }
    rows[i] = (eval_row){ "mean", "probes.rewritings.average", NULL, PAGE_SHARE, 1 };
    eval_legend(g, 1);
    eval_put(g, "<div class='panels'>");
    eval_dots(
        g, &(eval_panel){ "Equivalent rewritings", RANK, eval_low_end(g, rows, n + 1, .4), 1, .5 },
        rows, n + 1);
    eval_put(g, "</div>\n");
    eval_table(g, rows, n + 1);
    identities(g, rows, n);
    examples(g);
}

static void taylor(eval_page *g)
{
    static const char *const orders[] = { "2", "3", "4" };
    static const eval_row mean[] = {
        { "mean of all", "probes.taylor.average", NULL, PAGE_SHARE, 0 },
        { "data of a function, series of the others", "probes.taylor.unrelated", NULL, PAGE_SHARE,
          0 },
    };
    const json_t *all = eval_page_common(g, "probes.taylor.functions");
    size_t n = json_array_size(all);
    eval_row *rows = arena_array(g->a, COUNT(orders) * n + 1, sizeof *rows);
    if (!rows) {
        g->t.failed = 1;
        return;
    }
    eval_put(g,
             "<h3>Taylor series</h3><p>Similarity of the data of a function and the formula of its "
             "Taylor series, its first <i>K</i> terms. Higher means that the space knows an "
             "approximation when it sees one, as far as it is higher than with the series of the "
             "other functions. The functions are ours; the paper does not list its own.</p>\n");
    eval_legend(g, 0);
    eval_put(g, "<div class='panels'>");
    double low = 0;
    for (size_t k = 0; k < COUNT(orders); k++) {
        for (size_t i = 0; i < n; i++)
            rows[k * n + i] =
                (eval_row){ eval_json_string(json_array_get(all, i), "name"),
                            eval_say(g, "probes.taylor.functions.%zu.similarity.%s", i, orders[k]),
                            NULL, PAGE_SHARE, 0 };
        low = eval_low_end(g, rows + k * n, n, low);
    }
    for (size_t k = 0; n && k < COUNT(orders); k++)
        eval_dots(
            g, &(eval_panel){ eval_say(g, "K = %s", orders[k]), "cosine similarity", low, 1, NAN },
            rows + k * n, n);
    eval_put(g, "</div>\n");
    eval_table(g, mean, COUNT(mean));
    eval_put(
        g,
        "<div class='scroll'><table class='words'><thead><tr><th>Function</th><th>K = 2</th><th>K "
        "= 3</th><th>K = 4</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_array_get(all, i);
        eval_element(g, "<tr><th><code>", eval_json_string(one, "name"), "</code></th>");
        for (size_t k = 0; k < COUNT(orders); k++)
            eval_element(g, "<td><code>", eval_json_string(eval_json_at(one, "series"), orders[k]),
                         "</code></td>");
        eval_put(g, "</tr>\n");
    }
    eval_put(g, "</tbody></table></div>\n");
}

void eval_probes_part(eval_page *g)
{
    static const struct {
        const char *path;
        void (*draw)(eval_page *g);
    } probes[] = {
        { "probes.variation", variation },
        { "probes.consequences", consequences },
        { "probes.rewritings", rewritings },
        { "probes.taylor", taylor },
    };
    for (size_t i = 0; i < COUNT(probes); i++)
        if (eval_page_show(g, probes[i].path))
            probes[i].draw(g);
}
