/* report_ladder.c - the page: the measures against the stage of training. */
#include <math.h>

#include "eval/measures.h"
#include "eval/report_parts.h"

/* The stage's number, or -1. */
static int stage_of(const eval_page *g, size_t m)
{
    const char *s = eval_json_string(eval_model_at(g, m), "stage");
    return s[0] == 'S' && s[1] >= '0' && s[1] <= '5' && !s[2] ? s[1] - '0' : -1;
}

int eval_has_ladder(const eval_page *g)
{
    int seen = 0, stages = 0;
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
    const eval_measure *q = eval_measure_printed(path);
    for (int s = 0; q && s < 2; s++)
        page_mark(
            &g->t, page_plot_x(p, s ? 5 : 0) + (s ? 9 : -9),
            page_plot_y(p, s ? q->paper[EVAL_PAPER_SNIPPP] : q->paper[EVAL_PAPER_SNIP]),
            PAGE_HOLLOW + style,
            eval_say(g, "%s, paper: %s", s ? "SNIP++" : "SNIP",
                     eval_print(g, s ? q->paper[EVAL_PAPER_SNIPPP] : q->paper[EVAL_PAPER_SNIP],
                                r->format)));
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

void eval_ladder_part(eval_page *g)
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
    eval_legend_entry(g, 0, eval_directions[0].label);
    eval_legend_entry(g, 1, eval_directions[1].label);
    eval_legend_entry(g, 2, "gap");
    eval_legend_entry(g, PAGE_HOLLOW, "hollow: the paper's SNIP (S0) and SNIP++ (S5)");
    eval_put(g, "</p>\n<div class='panels'>");
    for (size_t i = 0; i < COUNT(rungs); i++)
        ladder_panel(g, &rungs[i]);
    eval_put(g, "</div>\n");
}
