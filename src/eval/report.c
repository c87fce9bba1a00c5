/* report.c - see report.h. */
#include "eval/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "data/edits.h"
#include "eval/paper.h"
#include "eval/report_parts.h"

/* The paper averages over directions and corpora; so do we, over the three and not their union. */
#define OOD_MEAN(view, protocol) "ood.feynman|classic|strogatz." view "." protocol ".f2y|y2f"

static const eval_named families[] = {
    { "unary_swap", "unary swap" },
    { "variable_substitution", "variable substitution" },
    { "binary_swap", "binary swap" },
    { "tree_reshaping", "tree reshaping" },
    { "operand_reordering", "operand reordering" },
    { "subtree_rewriting", "subtree rewriting" },
};
static const eval_named directions[] = { { "f2y", "formula → data" }, { "y2f", "data → formula" } };
static const eval_named corpora[] = {
    { "feynman", "Feynman" },
    { "classic", "Classic" },
    { "strogatz", "Strogatz" },
    { "pooled", "all pooled" },
};
static const eval_named views[] = { { "paper", "paper's protocol" },
                                    { "consistent", "consistent view" } };
static const eval_named protocols[] = {
    { "global", "Whole formulas within the corpus" },
    { "edits", "Whole formulas among their edits" },
    { "subtree_global", "Subtrees within the corpus" },
    { "subtrees", "Subtrees among their edits" },
};

/* Counts of a pool beside the paper's: things down, our columns and then the same of the paper. */
static void counts(eval_page *g, const char *ours, const char *theirs, const eval_named *thing,
                   size_t things, const eval_named *column, const char *const *key, size_t columns)
{
    eval_put(g, "<div class='scroll'><table><thead><tr><th></th>");
    for (size_t c = 0; c < columns; c++)
        eval_element(g, "<th>", column[c].label, "</th>");
    for (size_t c = 0; theirs && c < columns; c++)
        eval_element(g, "<th class='p'>", column[c].label, "<br>paper</th>");
    eval_put(g, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < things; i++) {
        eval_element(g, "<tr><th>", thing[i].label, "</th>");
        for (size_t c = 0; c < columns; c++)
            eval_cell(g,
                      eval_figure_read(eval_page_common(g, ours),
                                       eval_say(g, "%s.%s", thing[i].name, column[c].name)),
                      PAGE_COUNT);
        for (size_t c = 0; theirs && c < columns; c++) {
            const eval_paper *p =
                eval_paper_find(eval_say(g, "%s.%s.%s", theirs, thing[i].name, key[c]));
            text_add(&g->t, "<td class='p'>%s</td>",
                     eval_print(g, p ? p->snippp : NAN, PAGE_COUNT));
        }
        eval_put(g, "</tr>\n");
    }
    eval_put(g, "</tbody></table></div>\n");
}

/* ---- the parts ---- */

static void global_part(eval_page *g)
{
    static const eval_measure rows[] = {
        { .label = "formula → data" },
        { "R@1", "global.f2y.r1", NULL, PAGE_PERCENT, 0 },
        { "R@10", "global.f2y.r10", NULL, PAGE_PERCENT, 0 },
        { "nDCG@10", "global.f2y.ndcg10", NULL, PAGE_PERCENT, 0 },
        { "mean reciprocal rank", "global.f2y.mrr", NULL, PAGE_SHARE, 0 },
        { "median rank", "global.f2y.median_rank", NULL, PAGE_COUNT, 0 },
        { .label = "data → formula" },
        { "R@1", "global.y2f.r1", NULL, PAGE_PERCENT, 0 },
        { "R@10", "global.y2f.r10", NULL, PAGE_PERCENT, 0 },
        { "nDCG@10", "global.y2f.ndcg10", NULL, PAGE_PERCENT, 0 },
        { "mean reciprocal rank", "global.y2f.mrr", NULL, PAGE_SHARE, 0 },
        { "median rank", "global.y2f.median_rank", NULL, PAGE_COUNT, 0 },
    };
    static const eval_measure ndcg[] = {
        { "formula → data", "global.f2y.ndcg10", NULL, PAGE_PERCENT, 0 },
        { "data → formula", "global.y2f.ndcg10", NULL, PAGE_PERCENT, 0 },
    };
    static const eval_measure recall[] = {
        { "formula → data", "global.f2y.r10", NULL, PAGE_PERCENT, 0 },
        { "data → formula", "global.y2f.r10", NULL, PAGE_PERCENT, 0 },
    };
    double pairs = eval_json_number(eval_page_common(g, "global.pairs"), "");
    if (pairs >= 1)
        text_add(&g->t,
                 "<p>%s pairs. Guessing would have the right one among the first ten in %.3g %% of "
                 "the cases. The paper searches among 100,000 pairs, which is harder than among "
                 "fewer.</p>\n",
                 eval_print(g, pairs, PAGE_COUNT), 100 * fmin(1, 10 / pairs));
    eval_legend(g, 1);
    eval_put(g, "<div class='panels'>");
    eval_dots(g, &(eval_panel){ "nDCG@10", "nDCG@10", 0, 1, NAN }, ndcg, COUNT(ndcg));
    eval_dots(g, &(eval_panel){ "R@10", "R@10", 0, 1, NAN }, recall, COUNT(recall));
    eval_put(g, "</div>\n");
    eval_table(g, rows, COUNT(rows));
}

/* The largest coordinate of all points of all models: their panels share one scale. */
static double widest(const eval_page *g)
{
    double most = 1e-6;
    for (size_t k = 0; k < g->n; k++)
        for (int kind = 0; kind < 2; kind++) {
            const json_t *points = eval_json_at(eval_model_suites(g, g->shown[k]),
                                                kind ? "geometry.points.y" : "geometry.points.f");
            for (size_t i = 0; i < json_array_size(points); i++)
                for (size_t j = 0; j < 2; j++)
                    most = fmax(most, fabs(eval_json_number(
                                          json_array_get(json_array_get(points, i), j), "")));
        }
    return most;
}

/* One path for all points keeps the page small. Returns their centroid. */
static void scatter_points(eval_page *g, const page_plot *p, const json_t *points, int style,
                           double *centroid)
{
    double n = 0;
    centroid[0] = centroid[1] = 0;
    text_add(&g->t, "<path class='%s' stroke='%s' d='", style ? "x" : "o", page_colour(style));
    for (size_t i = 0; i < json_array_size(points); i++) {
        double x = eval_json_number(json_array_get(points, i), "0");
        double y = eval_json_number(json_array_get(points, i), "1");
        if (!isfinite(x) || !isfinite(y))
            continue;
        text_add(&g->t, style ? "M%.1f %.1fm-2-2l4 4m0-4l-4 4" : "M%.1f %.1fh0", page_plot_x(p, x),
                 page_plot_y(p, y));
        centroid[0] += x, centroid[1] += y, n++;
    }
    eval_put(g, "'/>\n");
    centroid[0] /= n, centroid[1] /= n;
}

static void scatter(eval_page *g, size_t m, double most)
{
    const json_t *o = eval_json_at(eval_model_suites(g, m), "geometry");
    const char *kind[] = { "formulas", "data" };
    page_plot p = page_plot_new(&g->t, LEFT, SQUARE);
    p.x0 = -most, p.x1 = most, p.y0 = -most, p.y1 = most;
    double centre[2][2];
    eval_panel_open(g, eval_say(g, "%s: gap %s", eval_model_name(g, m),
                                eval_print(g, eval_figure_read(o, "gap").value, PAGE_PLAIN)));
    page_svg_open(&g->t, p.width, p.height, "first two principal components");
    page_plot_axis_x(&p,
                     eval_say(g, "component 1 (%s of the variance)",
                              eval_print(g, eval_json_number(o, "explained.0"), PAGE_PERCENT)),
                     PAGE_PLAIN);
    page_plot_axis_y(&p,
                     eval_say(g, "component 2 (%s)",
                              eval_print(g, eval_json_number(o, "explained.1"), PAGE_PERCENT)),
                     PAGE_PLAIN);
    scatter_points(g, &p, eval_json_at(o, "points.f"), 0, centre[0]);
    scatter_points(g, &p, eval_json_at(o, "points.y"), 1, centre[1]);
    for (int i = 0; i < 2; i++) {
        double x = page_plot_x(&p, centre[i][0]), y = page_plot_y(&p, centre[i][1]);
        if (isfinite(centre[i][0]))
            text_add(
                &g->t,
                "<circle class='k' cx='%.1f' cy='%.1f' r='8' stroke='%s'><title>centroid of the "
                "%s</title></circle>",
                x, y, page_colour(i), kind[i]);
    }
    eval_panel_close(g, &p);
}

/* Cumulative variance; the paper's are known at four heights only. */
static void spectrum(eval_page *g)
{
    static const double heights[] = { .5, .9, .95, .99 };
    static const char *const keys[] = { "geometry.dims50", "geometry.dims90", "geometry.dims95",
                                        "geometry.dims99" };
    double most = 100;
    for (size_t k = 0; k < g->n; k++)
        most = fmax(most, eval_json_number(eval_model_suites(g, g->shown[k]), "geometry.dims.99"));
    most = fmin(most, 512);
    page_plot p = page_plot_new(&g->t, LEFT, SQUARE);
    p.x1 = most, p.y1 = 1;
    eval_panel_open(g, "Cumulative variance");
    page_svg_open(&g->t, p.width, p.height, "cumulative variance");
    page_plot_axis_x(&p, "principal components", PAGE_COUNT);
    page_plot_axis_y(&p, "share of the variance", PAGE_PERCENT);
    for (size_t k = 0; k < g->n; k++) {
        const json_t *list = eval_json_at(eval_model_suites(g, g->shown[k]), "geometry.explained");
        size_t n = json_array_size(list), used = 0;
        double *x = eval_page_column(g, n), *y = eval_page_column(g, n);
        if (!x || !y)
            return;
        double sum = x[0] = y[0] = 0;
        for (size_t i = 0; i < n && (double)i < most; i++) {
            double v = eval_json_number(json_array_get(list, i), "");
            sum += isfinite(v) ? v : 0;
            x[++used] = (double)(i + 1), y[used] = sum;
        }
        int style = eval_style(g->shown[k]);
        page_plot_line(&p, x, y, used + 1, style);
        size_t next = 0;
        for (size_t i = 1; i <= used; i++)
            if (next < COUNT(heights) && y[i] >= heights[next]) {
                page_mark(&g->t, page_plot_x(&p, x[i]), page_plot_y(&p, y[i]), style,
                          eval_say(g, "%s: %zu components hold %s", eval_model_name(g, g->shown[k]),
                                   i, eval_print(g, y[i], PAGE_PERCENT)));
                while (next < COUNT(heights) && y[i] >= heights[next])
                    next++;
            }
    }
    for (size_t i = 0; i < COUNT(keys); i++)
        for (int s = 0; s < 2; s++) {
            const eval_paper *q = eval_paper_find(keys[i]);
            double v = s ? q->snippp : q->snip;
            page_mark(&g->t, page_plot_x(&p, v), page_plot_y(&p, heights[i]),
                      s ? EVAL_SNIPPP : EVAL_SNIP,
                      eval_say(g, "%s, paper: %.0f components hold %.0f %%", s ? "SNIP++" : "SNIP",
                               v, 100 * heights[i]));
        }
    eval_panel_close(g, &p);
}

static void geometry_part(eval_page *g)
{
    static const eval_measure rows[] = {
        { "gap between the centroids", "geometry.gap", NULL, PAGE_PLAIN, 0 },
        { "component 1", "geometry.explained.0", "geometry.explained1", PAGE_PERCENT, 0 },
        { "component 2", "geometry.explained.1", "geometry.explained2", PAGE_PERCENT, 0 },
        { "components for 50 %", "geometry.dims.50", "geometry.dims50", PAGE_COUNT, 0 },
        { "for 90 %", "geometry.dims.90", "geometry.dims90", PAGE_COUNT, 0 },
        { "for 95 %", "geometry.dims.95", "geometry.dims95", PAGE_COUNT, 0 },
        { "for 99 %", "geometry.dims.99", "geometry.dims99", PAGE_COUNT, 0 },
        { "pairs", "geometry.pairs", NULL, PAGE_COUNT, 0 },
    };
    text_add(
        &g->t,
        "<p class='legend'><span><svg viewBox='-7 -7 14 14'><path class='o' d='M0 0h0' "
        "stroke='%s'/></svg>a formula</span><span><svg viewBox='-7 -7 14 14'><path class='x' "
        "d='M-2-2l4 4m0-4l-4 4' stroke='%s'/></svg>its data</span><span><svg viewBox='-9 -9 18 "
        "18'><circle class='k' r='8' stroke='#555'/></svg>centroid</span></p>\n",
        page_colour(0), page_colour(1));
    eval_put(g, "<div class='panels'>");
    double most = widest(g);
    for (size_t k = 0; k < g->n; k++)
        if (json_is_object(eval_json_at(eval_model_suites(g, g->shown[k]), "geometry.points")))
            scatter(g, g->shown[k], most);
    eval_put(g, "</div>\n");
    eval_legend(g, 1);
    eval_put(g, "<div class='panels'>");
    spectrum(g);
    eval_put(g, "</div>\n");
    eval_table(g, rows, COUNT(rows));
}

enum { FAMILY_ROWS = DATA_FAMILIES + 3 };

static int is_trained(const char *family)
{
    for (int f = 0; f < DATA_FAMILIES; f++)
        if (strcmp(data_families[f].name, family) == 0)
            return data_families[f].trained;
    return 0;
}

/* Families with the averages where the paper has them: of those seen in training, of those held
 * out, and of all. */
static void family_rows(eval_page *g, const char *suite, const eval_named *d, eval_measure *out)
{
    static const eval_named mean[] = { { "held_out", "held out, mean" }, { "seen", "seen, mean" } };
    _Static_assert(COUNT(families) == DATA_FAMILIES, "each family has a label");
    for (int trained = 1; trained >= 0; trained--) {
        for (size_t i = 0; i < COUNT(families); i++)
            if (is_trained(families[i].name) == trained)
                *out++ = (eval_measure){ families[i].label,
                                         eval_say(g, "%s.families.%s.%s", suite, families[i].name,
                                                  d->name),
                                         NULL, PAGE_SHARE, 0 };
        *out++ = (eval_measure){ mean[trained].label,
                                 eval_say(g, "%s.%s.%s", suite, mean[trained].name, d->name), NULL,
                                 PAGE_SHARE, 1 };
    }
    *out = (eval_measure){ "all, mean", eval_say(g, "%s.average.%s", suite, d->name), NULL,
                           PAGE_SHARE, 1 };
}

static void edit_families(eval_page *g, const char *suite)
{
    eval_measure rows[2 * (FAMILY_ROWS + 1)];
    double low = 1;
    for (size_t d = 0; d < COUNT(directions); d++) {
        eval_measure *r = rows + d * (FAMILY_ROWS + 1);
        *r = (eval_measure){ .label = directions[d].label };
        family_rows(g, suite, &directions[d], r + 1);
        low = eval_low_end(g, r + 1, FAMILY_ROWS, fmin(low, .4));
    }
    eval_legend(g, 1);
    eval_put(g, "<div class='panels'>");
    for (size_t d = 0; d < COUNT(directions); d++)
        eval_dots(g, &(eval_panel){ directions[d].label, RANK, low, 1, .5 },
                  rows + d * (FAMILY_ROWS + 1) + 1, FAMILY_ROWS);
    eval_put(g, "</div>\n");
    eval_table(g, rows, COUNT(rows));
}

static const eval_named pool_columns[] = { { "f2y.targets", "targets" },
                                           { "variants.mean", "variants, mean" },
                                           { "variants.median", "variants, median" } };
static const char *const pool_keys[] = { "targets", "mean", "median" };

static void edits_part(eval_page *g)
{
    edit_families(g, "edits");
    text_add(&g->t, "<h3>The pool</h3><p>%s targets here, 127 in the paper.</p>\n",
             eval_print(g, eval_json_number(eval_page_common(g, "edits.targets"), ""), PAGE_COUNT));
    counts(g, "edits.families", "pool", families, COUNT(families), pool_columns, pool_keys,
           COUNT(pool_columns));
}

static void subtrees_part(eval_page *g)
{
    edit_families(g, "subtrees");
    text_add(
        &g->t,
        "<h3>The pool</h3><p>%s subtrees of %s formulas; a target is a formula with at least one "
        "variant. The paper prints no counts here.</p>\n",
        eval_print(g, eval_json_number(eval_page_common(g, "subtrees.subtrees"), ""), PAGE_COUNT),
        eval_print(g, eval_json_number(eval_page_common(g, "subtrees.targets"), ""), PAGE_COUNT));
    counts(g, "subtrees.families", NULL, families, COUNT(families), pool_columns, pool_keys,
           COUNT(pool_columns));
}

/* Rows of a protocol and direction: a heading, then each corpus in both views. */
enum { OOD_ROWS = 2 * COUNT(corpora) + 1, OOD_PANELS = 2 * COUNT(protocols) };

static void ood_rows(eval_page *g, const eval_named *protocol, const eval_named *d,
                     eval_measure *out)
{
    *out++ = (eval_measure){ .label = eval_say(g, "%s, %s", protocol->label, d->label) };
    for (size_t c = 0; c < COUNT(corpora); c++)
        for (size_t v = 0; v < COUNT(views); v++)
            *out++ = (eval_measure){ v ? "· consistent view" : corpora[c].label,
                                     eval_say(g, "ood.%s.%s.%s.%s", corpora[c].name, views[v].name,
                                              protocol->name, d->name),
                                     NULL, PAGE_SHARE, v == 1 };
}

static void ood_part(eval_page *g)
{
    eval_measure rows[OOD_PANELS][OOD_ROWS], means[2 * (COUNT(protocols) + 1)], *mean = means;
    double low = .4;
    for (size_t i = 0; i < OOD_PANELS; i++) {
        ood_rows(g, &protocols[i / 2], &directions[i % 2], rows[i]);
        low = eval_low_end(g, rows[i] + 1, OOD_ROWS - 1, low);
    }
    for (size_t v = 0; v < COUNT(views); v++) {
        *mean++ = (eval_measure){ .label = eval_say(g, "Mean of corpora and directions, %s",
                                                    views[v].label) };
        for (size_t i = 0; i < COUNT(protocols); i++)
            *mean++ =
                (eval_measure){ protocols[i].label,
                                eval_say(g, OOD_MEAN("%s", "%s"), views[v].name, protocols[i].name),
                                v ? NULL : eval_say(g, "ood.average.%s", protocols[i].name),
                                PAGE_SHARE, 0 };
    }
    eval_table(g, means, COUNT(means));
    eval_legend(g, 0);
    eval_put(g, "<div class='panels'>");
    for (size_t i = 0; i < OOD_PANELS; i++)
        eval_dots(g, &(eval_panel){ rows[i][0].label, RANK, low, 1, .5 }, rows[i] + 1,
                  OOD_ROWS - 1);
    eval_put(g, "</div>\n<h3>The corpora</h3>\n");
    static const eval_named columns[] = { { "expressions", "formulas" },
                                          { "subtree_parents", "with subtrees" } };
    static const char *const keys[] = { "expressions", "subtree_parents" };
    counts(g, "ood", "ood", corpora, COUNT(corpora), columns, keys, COUNT(columns));
    eval_put(g, "<details><summary>All numbers</summary>\n");
    eval_table(g, rows[0], OOD_PANELS * OOD_ROWS);
    eval_put(g, "</details>\n");
}

/* The stage's number, or -1. */
static int stage_of(const eval_page *g, size_t m)
{
    const char *s = eval_json_string(eval_model_at(g, m), "stage");
    return s[0] == 'S' && s[1] >= '0' && s[1] <= '5' && !s[2] ? s[1] - '0' : -1;
}

static int has_ladder(const eval_page *g, const char *name)
{
    int seen = 0, stages = 0;
    (void)name;
    for (size_t m = 0; m < json_array_size(g->models); m++)
        seen |= (1 << (stage_of(g, m) + 1)) >> 1; /* no stage: nothing */
    for (; seen; seen >>= 1)
        stages += seen & 1;
    return stages > 1;
}

typedef struct rung {
    const char *title, *unit;
    const char *f2y, *y2f; /* y2f: NULL for what has no direction */
    page_format format;
    double lo, hi;
} rung;

/* One line of a ladder: a dot for every model, the line through the first of each stage. */
static void climb(eval_page *g, const page_plot *p, const rung *r, const char *path, int style)
{
    double x[6], y[6];
    for (int s = 0; s < 6; s++)
        x[s] = s, y[s] = NAN;
    for (size_t k = g->n; k-- > 0;)
        if (stage_of(g, g->shown[k]) >= 0)
            y[stage_of(g, g->shown[k])] = eval_figure_at(g, g->shown[k], path).value;
    page_plot_line(p, x, y, 6, style);
    for (size_t k = 0; k < g->n; k++) {
        int s = stage_of(g, g->shown[k]);
        eval_figure e = eval_figure_at(g, g->shown[k], path);
        if (s < 0 || !isfinite(e.value))
            continue;
        if (isfinite(e.lo) && isfinite(e.hi))
            text_add(&g->t, "<path class='i' stroke='%s' d='M%.1f %.1fV%.1f'/>", page_colour(style),
                     page_plot_x(p, s), page_plot_y(p, e.lo), page_plot_y(p, e.hi));
        page_mark(&g->t, page_plot_x(p, s), page_plot_y(p, e.value), style,
                  eval_hover(g, eval_model_name(g, g->shown[k]), r->title, e, r->format));
    }
    const eval_paper *q = eval_paper_find(path);
    for (int s = 0; q && s < 2; s++)
        page_mark(&g->t, page_plot_x(p, s ? 5 : 0) + (s ? 9 : -9),
                  page_plot_y(p, s ? q->snippp : q->snip), PAGE_HOLLOW + style,
                  eval_say(g, "%s, paper: %s", s ? "SNIP++" : "SNIP",
                           eval_print(g, s ? q->snippp : q->snip, r->format)));
}

static void ladder_panel(eval_page *g, const rung *r)
{
    page_plot p = page_plot_new(&g->t, LEFT, HEIGHT);
    p.x0 = -.4, p.x1 = 5.4, p.y0 = r->lo, p.y1 = r->hi;
    for (size_t k = 0; k < g->n; k++)
        for (int d = 0; d < (r->y2f ? 2 : 1); d++) {
            double v = eval_figure_at(g, g->shown[k], d ? r->y2f : r->f2y).value;
            p.y0 = fmin(p.y0, floor(v * 10) / 10), p.y1 = fmax(p.y1, v);
        }
    eval_panel_open(g, r->title);
    page_svg_open(&g->t, p.width, p.height, r->title);
    page_plot_axis_y(&p, r->unit, r->format);
    for (int s = 0; s < 6; s++)
        page_svg_text(&g->t, page_plot_x(&p, s), p.height - p.bottom + 16,
                      " text-anchor=\"middle\"", eval_say(g, "S%d", s));
    page_svg_text(&g->t, (p.left + p.width - p.right) / 2, p.height - p.bottom + 33,
                  " text-anchor=\"middle\"", "stage");
    climb(g, &p, r, r->f2y, r->y2f ? 0 : 2);
    if (r->y2f)
        climb(g, &p, r, r->y2f, 1);
    eval_panel_close(g, &p);
}

static void ladder_part(eval_page *g)
{
    static const rung rungs[] = {
        { "Global retrieval", "nDCG@10", "global.f2y.ndcg10", "global.y2f.ndcg10", PAGE_PERCENT, 0,
          1 },
        { "Modality gap", "distance of the centroids", "geometry.gap", NULL, PAGE_PLAIN, 0, 1.4 },
        { "Edits of whole formulas", "percentile rank", "edits.average.f2y", "edits.average.y2f",
          PAGE_SHARE, .3, 1 },
        { "Edits of subtrees", "percentile rank", "subtrees.average.f2y", "subtrees.average.y2f",
          PAGE_SHARE, .3, 1 },
    };
    eval_page_show(g, "");
    eval_put(g, "<p class='legend'>");
    eval_legend_entry(g, 0, directions[0].label);
    eval_legend_entry(g, 1, directions[1].label);
    eval_legend_entry(g, 2, "gap");
    eval_legend_entry(g, PAGE_HOLLOW, "hollow: the paper's SNIP (S0) and SNIP++ (S5)");
    eval_put(g, "</p>\n<div class='panels'>");
    for (size_t i = 0; i < COUNT(rungs); i++)
        ladder_panel(g, &rungs[i]);
    eval_put(g, "</div>\n");
}

static int has_comparisons(const eval_page *g, const char *name)
{
    return json_array_size(eval_json_at(g->results, name)) > 0;
}

static const char *label_of(const eval_named *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].label;
    return name;
}

static const eval_named verdicts[] = { { "better", "▲ better" },
                                       { "worse", "▼ worse" },
                                       { "same", "≈ unclear" } };

/* "edits: better in 11 of 12 settings, worse in 0, unclear in 1." */
static void verdict_line(eval_page *g, const json_t *settings, const char *suite)
{
    int count[COUNT(verdicts)] = { 0 }, all = 0;
    for (size_t i = 0; i < json_array_size(settings); i++) {
        const json_t *s = json_array_get(settings, i);
        if (strcmp(eval_json_string(s, "suite"), suite) != 0)
            continue;
        all++;
        for (size_t v = 0; v < COUNT(verdicts); v++)
            count[v] += strcmp(eval_json_string(s, "verdict"), verdicts[v].name) == 0;
    }
    if (all > 0)
        text_add(&g->t, "<br>%s: better in %d of %d settings, worse in %d, unclear in %d\n", suite,
                 count[0], all, count[1], count[2]);
}

static void comparison(eval_page *g, const json_t *o)
{
    const json_t *settings = eval_json_at(o, "settings");
    const char *a = eval_json_string(o, "a"), *b = eval_json_string(o, "b");
    eval_element(g, "<p><b>", a, "</b> against <b>");
    eval_element(g, "", b, "</b>");
    verdict_line(g, settings, "edits");
    verdict_line(g, settings, "subtrees");
    eval_put(g, "</p>\n<div class='scroll'><table><thead><tr><th>Setting</th><th>Verdict</th>");
    eval_element(g, "<th>", a, "</th>");
    eval_element(g, "<th>", b, "</th><th>Difference</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(settings); i++) {
        const json_t *s = json_array_get(settings, i);
        const char *direction = eval_json_string(s, "direction");
        eval_element(g, "<tr><th>", eval_json_string(s, "suite"), ", ");
        eval_element(g, "", label_of(families, COUNT(families), eval_json_string(s, "family")),
                     ", ");
        eval_element(g, "", label_of(directions, COUNT(directions), direction), "</th>");
        eval_element(g, "<td>", label_of(verdicts, COUNT(verdicts), eval_json_string(s, "verdict")),
                     "</td>");
        eval_cell(g, eval_figure_read(s, "a"), PAGE_SHARE);
        eval_cell(g, eval_figure_read(s, "b"), PAGE_SHARE);
        eval_cell(g, eval_figure_read(s, "difference"), PAGE_SIGNED);
        eval_put(g, "</tr>\n");
    }
    eval_put(g, "</tbody></table></div>\n");
}

static void comparisons_part(eval_page *g)
{
    const json_t *all = eval_json_at(g->results, "comparisons");
    for (size_t i = 0; i < json_array_size(all); i++)
        comparison(g, json_array_get(all, i));
}

static const char *error_of(const eval_page *g, size_t m, const char *suite)
{
    return eval_json_string(eval_json_at(eval_model_at(g, m), "errors"), suite);
}

/* A suite is on the page if a model has results of it or failed at it; else nobody asked for it. */
static int was_run(const eval_page *g, const char *suite)
{
    int any = 0;
    for (size_t m = 0; m < json_array_size(g->models); m++)
        any |=
            json_is_object(eval_json_at(eval_model_suites(g, m), suite)) || *error_of(g, m, suite);
    return any;
}

static const struct {
    const char *name, *title, *what;
    int (*wanted)(const eval_page *g, const char *name);
    void (*draw)(eval_page *g);
} parts[] = {
    { "global", "Global retrieval",
      "Each held-out formula looks for its own data among the data of all, and each data set for "
      "its "
      "own formula, by cosine similarity. R@10 is how often the right one is among the first ten; "
      "nDCG@10 also counts how early it comes, and is 100 % if it is always the first.",
      was_run, global_part },
    { "geometry", "Geometry of the shared space",
      "Where formulas and data lie. The gap is the distance between the centroids of the "
      "normalised "
      "embeddings: near 0 both kinds share one region, near 2 they are apart. Each picture shows "
      "the first two principal components; all have one scale.",
      was_run, geometry_part },
    { "edits", "Edits of whole formulas",
      "Each target formula is edited in six ways, and the right pair of formula and data competes "
      "against the edited ones on the same input points. The percentile rank is the share of "
      "alternatives that score lower: 1 is perfect, .5 is chance. Three kinds of edits occur in "
      "training, three are held out.",
      was_run, edits_part },
    { "subtrees", "Edits of subtrees",
      "The same for a part of a formula: the subtree, read inside its formula, and the data of the "
      "subtree alone. Scores are averaged within a formula first, so each counts once.",
      was_run, subtrees_part },
    { "ood", "Formulas from elsewhere",
      "Formulas from three collections that the generator never made. The percentile rank of the "
      "right pair, among all pairs of the corpus or among edits. The paper standardises the inputs "
      "before it encodes the data and leaves the formula as it is; in the consistent view formula "
      "and data speak of the same inputs.",
      was_run, ood_part },
    { "forms", "Forms",
      "Which form of a law suits a table, before its constants are fitted. The true law competes "
      "with other laws of as many inputs and with single edits of itself; all are refitted, and "
      "judged by R² on clean rows that the table does not have. Beside the space stand scores that "
      "cost nothing. A model without forms reads formulas with their fitted constants (exact "
      "view).",
      was_run, eval_forms_part },
    { "probes", "Probes",
      "Four small experiments that ask whether nearness in the space means like behaviour.",
      was_run, eval_probes_part },
    { "ladder", "From SNIP to SNIP++",
      "The measures against the stage: S0 is SNIP, S1 adds positions in the tree, S2 subtrees in "
      "their formula, S3 subtrees alone, S4 edited subtrees, S5 edited whole formulas. The line "
      "joins "
      "the first model of each stage.",
      has_ladder, ladder_part },
    { "comparisons", "Comparisons",
      "Two models on the same targets, with the interval of the difference: better or worse where "
      "the "
      "interval leaves out 0, else unclear. In the paper SNIP++ has the higher value in 11 of 12 "
      "settings of "
      "whole "
      "formulas and is significantly better in all 12 of subtrees.",
      has_comparisons, comparisons_part },
};

/* One sentence for every model that has no results where others have. */
static void absent(eval_page *g, const char *suite)
{
    for (size_t m = 0; m < json_array_size(g->models); m++) {
        if (*error_of(g, m, suite)) {
            eval_element(g, "<p class='e'>", eval_model_name(g, m), ": this suite failed: ");
            eval_element(g, "", error_of(g, m, suite), ".</p>\n");
        } else if (!json_is_object(eval_json_at(eval_model_suites(g, m), suite))) {
            eval_element(g, "<p class='e'>", eval_model_name(g, m),
                         ": this suite was not run.</p>\n");
        }
    }
}

static void head(eval_page *g)
{
    page_open(
        &g->t, "snip: evaluation",
        ":root{color-scheme:light}\n"
        "body{font:16px/1.5 system-ui,sans-serif;color:#222;background:#fff;max-width:1100px;"
        "margin:1.5em auto;padding:0 1em}\n"
        "h1,h2,h3{line-height:1.2}h2{margin-top:2.2em;border-bottom:1px solid #ccc}\n"
        "p{max-width:44em}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f4f4;"
        "padding:.6em}\n"
        "nav a{margin-right:1em;display:inline-block}.e{border-left:4px solid #d55e00;"
        "padding-left:.6em;overflow-wrap:anywhere}\n"
        ".scroll{overflow-x:auto;margin:1em 0}table{border-collapse:collapse;font-size:14px;"
        "font-variant-numeric:tabular-nums}\n"
        "td{white-space:nowrap}th,td{padding:.25em .7em;text-align:right;border-bottom:1px solid "
        "#e5e5e5;vertical-align:top}\n"
        "th{font-weight:600;max-width:18em;overflow-wrap:break-word}"
        "th:first-child{text-align:left;font-weight:400;min-width:9em;position:sticky;left:0;"
        "background:#fff}\n"
        ".h th:first-child{font-weight:600;padding-top:.8em}tr.s th,tr.s td{background:#f1f1f1}"
        ".p{color:#666}td small{display:block;color:#666;white-space:nowrap}\n"
        ".words td,.words th{text-align:left}.words code{white-space:nowrap}code{font-size:.93em}\n"
        ".panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr));"
        "gap:1em}\n"
        "figure{margin:0;min-width:0;max-width:500px;break-inside:avoid}"
        "figcaption{font-weight:600;font-size:14px;overflow-wrap:anywhere}\n"
        "figure svg{width:100%;height:auto;display:block;font-size:12px}svg text{fill:#333}\n"
        ".legend{font-size:14px}.legend span{margin-right:1.2em;display:inline-block;"
        "overflow-wrap:anywhere}.legend svg{width:14px;height:14px;margin-right:.4em;"
        "vertical-align:-2px}\n"
        ".g{stroke:#ddd;fill:none}.c{stroke:#555;stroke-dasharray:4 3}.i{stroke-width:1.6}"
        ".m{stroke-width:.8}.l{fill:none;stroke-width:1.6}\n"
        ".r{fill:none}rect.s{fill:#f1f1f1}.o{stroke-width:3.4;stroke-linecap:round;opacity:.55}"
        ".x{stroke-width:1;fill:none;opacity:.6}.k{fill:#fff;fill-opacity:.7;stroke-width:3}\n"
        "@media(max-width:500px){th:first-child{min-width:7em}th,td{padding:.25em .4em}}\n"
        "@media print{body{font-size:11px;max-width:none;margin:0}table{font-size:9px}"
        ".scroll{overflow:visible}nav{display:none}tr,figure,.legend{break-inside:avoid}"
        "figcaption,.legend{font-size:11px}figcaption{break-after:avoid}.legend,h2+p{break-after:"
        "avoid}"
        "h2,h3{break-after:avoid}.panels{grid-template-columns:1fr 1fr}th,td{padding:.15em .35em}\n"
        "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n");
    eval_put(g, "<h1>Evaluation</h1>\n");
}

static const char *duration(eval_page *g, double seconds)
{
    if (!isfinite(seconds) || seconds < 0)
        return "–";
    if (seconds < 120)
        return eval_say(g, "%.0f s", seconds);
    if (seconds < 7200)
        return eval_say(g, "%.0f min", seconds / 60);
    return eval_say(g, "%.1f h", seconds / 3600);
}

static void models_table(eval_page *g)
{
    eval_put(g,
             "<div class='scroll'><table><thead><tr><th>Model</th><th>Stage</th><th>Parameters</th>"
             "<th>Samples seen</th><th>Training</th><th>File</th></tr></thead><tbody>\n");
    for (size_t m = 0; m < json_array_size(g->models); m++) {
        const json_t *o = eval_model_at(g, m);
        eval_element(g, "<tr><th>", eval_model_name(g, m), "</th>");
        eval_element(g, "<td>", eval_json_string(o, "stage"), "</td>");
        eval_cell(g, eval_figure_read(o, "parameters"), PAGE_COUNT);
        eval_cell(g, eval_figure_read(o, "samples"), PAGE_COUNT);
        text_add(&g->t, "<td>%s</td>", duration(g, eval_json_number(o, "train_seconds")));
        eval_element(g, "<td><code>", eval_json_string(o, "path"), "</code></td></tr>\n");
    }
    eval_put(g, "</tbody></table></div>\n");
}

/* Main figures; a row stays out where no model has it. */
static void summary(eval_page *g)
{
    static const eval_measure all[] = {
        { "nDCG@10, formula → data", "global.f2y.ndcg10", NULL, PAGE_PERCENT, 0 },
        { "nDCG@10, data → formula", "global.y2f.ndcg10", NULL, PAGE_PERCENT, 0 },
        { "R@10, formula → data", "global.f2y.r10", NULL, PAGE_PERCENT, 0 },
        { "R@10, data → formula", "global.y2f.r10", NULL, PAGE_PERCENT, 0 },
        { "Gap (lower is better)", "geometry.gap", NULL, PAGE_PLAIN, 0 },
        { "Edits, formula → data", "edits.average.f2y", NULL, PAGE_SHARE, 0 },
        { "Edits, data → formula", "edits.average.y2f", NULL, PAGE_SHARE, 0 },
        { "Subtrees, formula → data", "subtrees.average.f2y", NULL, PAGE_SHARE, 0 },
        { "Subtrees, data → formula", "subtrees.average.y2f", NULL, PAGE_SHARE, 0 },
        { "Elsewhere, whole formulas", OOD_MEAN("paper", "global"), "ood.average.global",
          PAGE_SHARE, 0 },
        { "Elsewhere, among edits", OOD_MEAN("paper", "edits"), "ood.average.edits", PAGE_SHARE,
          0 },
        { "Elsewhere, subtrees", OOD_MEAN("paper", "subtree_global"), "ood.average.subtree_global",
          PAGE_SHARE, 0 },
        { "Elsewhere, subtrees among edits", OOD_MEAN("paper", "subtrees"), "ood.average.subtrees",
          PAGE_SHARE, 0 },
        { "sin(5x) and sin(0.5x) (lower is better)", "probes.variation.similarity.last",
          "probes.variation.last", PAGE_SHARE, 0 },
        { "Consequences of edits, AUC", "probes.consequences.auc", NULL, PAGE_SHARE, 0 },
        { "Equivalent rewritings", "probes.rewritings.average", NULL, PAGE_SHARE, 0 },
        { "Taylor series", "probes.taylor.average", NULL, PAGE_SHARE, 0 },
    };
    eval_measure rows[COUNT(all)];
    size_t n = 0;
    for (size_t i = 0; i < COUNT(all); i++) {
        int any = 0;
        for (size_t k = 0; k < g->n; k++)
            any |= isfinite(eval_figure_at(g, g->shown[k], all[i].path).value);
        if (any)
            rows[n++] = all[i];
    }
    eval_put(g, "<h2 id='summary'>Summary</h2>\n");
    if (n == 0) {
        eval_put(g, "<p>There are no results.</p>\n");
        return;
    }
    eval_put(
        g,
        "<p>Higher is better unless said otherwise; small numbers are 95 % intervals. The paper's "
        "two columns are for reference: its authors' own models, ranked among 100,000 "
        "pairs.</p>\n");
    eval_table(g, rows, n);
}

static void page_of(eval_page *g)
{
    const json_t *o = g->results;
    const char *started = eval_json_string(o, "started");
    head(g);
    eval_put(g, "<p>");
    text_add(&g->t, "%zu model%s", json_array_size(g->models),
             json_array_size(g->models) == 1 ? "" : "s");
    if (json_is_number(eval_json_at(o, "pairs")) && was_run(g, "global"))
        text_add(&g->t, ", %s held-out pairs",
                 eval_print(g, eval_json_number(o, "pairs"), PAGE_COUNT));
    if (json_is_number(eval_json_at(o, "seed")))
        text_add(&g->t, ", seed %.0f", json_number_value(eval_json_at(o, "seed")));
    if (strlen(started) == 20 && started[10] == 'T') /* 2026-11-16T01:00:00Z */
        started = eval_say(g, "%.10s, %.5s UTC", started, started + 11);
    eval_element(g, *started ? ", started on " : "", started, "");
    if (json_is_number(eval_json_at(o, "seconds")))
        text_add(&g->t, ", took %s", duration(g, eval_json_number(o, "seconds")));
    eval_element(g, *eval_json_string(o, "version") ? ", snip " : "",
                 eval_json_string(o, "version"), ".</p>\n");
    if (*eval_json_string(o, "command"))
        eval_element(g, "<pre>", eval_json_string(o, "command"), "</pre>\n");
    eval_page_show(g, "");
    models_table(g);
    eval_put(g, "<nav>");
    for (size_t i = 0; i < COUNT(parts); i++)
        if (parts[i].wanted(g, parts[i].name))
            text_add(&g->t, "<a href='#%s'>%s</a>", parts[i].name, parts[i].title);
    eval_put(g, "</nav>\n");
    summary(g);
    for (size_t i = 0; i < COUNT(parts); i++) {
        if (!parts[i].wanted(g, parts[i].name))
            continue;
        text_add(&g->t, "<h2 id='%s'>%s</h2>\n<p>%s</p>\n", parts[i].name, parts[i].title,
                 parts[i].what);
        int suite = parts[i].wanted == was_run;
        if (suite)
            absent(g, parts[i].name);
        if (!suite || eval_page_show(g, parts[i].name))
            parts[i].draw(g);
    }
    eval_put(
        g,
        "<script>addEventListener('beforeprint',()=>document.querySelectorAll('details').forEach("
        "d=>d.open=true))</script>\n");
    page_close(&g->t);
}

snip_code eval_report(const json_t *results, const char *path, snip_status *st)
{
    arena *a = arena_new(0);
    if (!a)
        return status_nomem(st);
    eval_page g = {
        .t = { .a = a }, .a = a, .results = results, .models = eval_json_at(results, "models")
    };
    g.shown = arena_array(a, json_array_size(g.models) + 1, sizeof *g.shown);
    if (g.shown)
        page_of(&g);
    const char *content = g.shown ? text_end(&g.t) : NULL;
    snip_code code = content ? SNIP_OK : status_nomem(st);
    if (content && !file_replace(path, content))
        code = status_fail(st, SNIP_IO, 0, "%s: cannot write: %s", path, strerror(errno));
    arena_free(a);
    return code;
}
