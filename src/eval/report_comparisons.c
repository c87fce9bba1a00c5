/* report_comparisons.c - the page: two models on the same targets. */
#include <string.h>

#include "eval/report_parts.h"

int eval_has_comparisons(const eval_page *g)
{
    return json_array_size(eval_json_at(g->results, "comparisons")) > 0;
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
        eval_element(g, "", label_of(eval_families, DATA_FAMILIES, eval_json_string(s, "family")),
                     ", ");
        eval_element(g, "", label_of(eval_directions, 2, direction), "</th>");
        eval_element(g, "<td>", label_of(verdicts, COUNT(verdicts), eval_json_string(s, "verdict")),
                     "</td>");
        eval_cell(g, eval_figure_read(s, "a"), PAGE_SHARE);
        eval_cell(g, eval_figure_read(s, "b"), PAGE_SHARE);
        eval_cell(g, eval_figure_read(s, "difference"), PAGE_SIGNED);
        eval_put(g, "</tr>\n");
    }
    eval_put(g, "</tbody></table></div>\n");
}

void eval_comparisons_part(eval_page *g)
{
    const json_t *all = eval_json_at(g->results, "comparisons");
    for (size_t i = 0; i < json_array_size(all); i++)
        comparison(g, json_array_get(all, i));
}
