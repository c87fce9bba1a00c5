/* report_global.c - the page: retrieval among all pairs, and the geometry of the space. */
#include <math.h>

#include "eval/measures.h"
#include "eval/report_parts.h"

void eval_global_part(eval_page *g)
{
    eval_row rows[12], ndcg[2], recall[2];
    for (size_t d = 0; d < 2; d++) {
        rows[6 * d] = (eval_row){ .label = eval_directions[d].label };
        eval_rows_below(eval_say(g, "global.%s.", eval_directions[d].name), rows + 6 * d + 1, 5);
        ndcg[d] = eval_row_of(eval_say(g, "global.%s.ndcg10", eval_directions[d].name));
        recall[d] = eval_row_of(eval_say(g, "global.%s.r10", eval_directions[d].name));
        ndcg[d].label = recall[d].label = eval_directions[d].label;
    }
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
            const eval_measure *q = eval_measure_printed(keys[i]);
            double v = s ? q->paper[EVAL_PAPER_SNIPPP] : q->paper[EVAL_PAPER_SNIP];
            page_mark(&g->t, page_plot_x(&p, v), page_plot_y(&p, heights[i]),
                      s ? EVAL_SNIPPP : EVAL_SNIP,
                      eval_say(g, "%s, paper: %.0f components hold %.0f %%", s ? "SNIP++" : "SNIP",
                               v, 100 * heights[i]));
        }
    eval_panel_close(g, &p);
}

void eval_geometry_part(eval_page *g)
{
    eval_row rows[8];
    eval_rows_below("geometry.", rows, COUNT(rows));
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
