/* report_forms.c - the page's section about forms; see report_parts.h. */
#include <assert.h>

#include "eval/report_parts.h"

enum { ROWS_MAX = 64 };

static const eval_named scores[] = { { "similarity", "similarity in the space" },
                                     { "correlation", "correlation, not fitted" },
                                     { "size", "size (small first)" },
                                     { "constants", "free constants (many first)" },
                                     { "without", "promise without the space" },
                                     { "with", "promise" },
                                     { "gain", "difference of the last two" } };
static const eval_named ways[] = { { "similarity", "similarity in the space" },
                                   { "correlation", "correlation, not fitted" },
                                   { "size", "size (small first)" },
                                   { "shuffled", "shuffled vectors" },
                                   { "without", "promise without the space" },
                                   { "with", "promise" },
                                   { "gain", "difference of the last two" } };
static const eval_named conditions[] = { { "rows200", "200 rows" },
                                         { "rows200_noise5", "200 rows, 5 % noise" },
                                         { "rows30", "30 rows" },
                                         { "rows30_noise5", "30 rows, 5 % noise" } };

/* A table on its way. */
typedef struct sheet {
    eval_page *g;
    eval_row row[ROWS_MAX];
    size_t n;
} sheet;

static void add(sheet *s, const char *label, const char *path, page_format format)
{
    assert(s->n < ROWS_MAX);
    s->row[s->n++] = (eval_row){ label, path, NULL, format, 0 };
}

/* A heading and a row for each name below the path. */
static void add_all(sheet *s, const char *heading, const char *path, const eval_named *list,
                    size_t n, page_format format)
{
    add(s, heading, NULL, format);
    for (size_t i = 0; i < n; i++)
        add(s, list[i].label, eval_say(s->g, "%s.%s", path, list[i].name), format);
}

static void draw(sheet *s, const char *title)
{
    text_add(&s->g->t, "<h3>%s</h3>\n", title);
    eval_table(s->g, s->row, s->n);
    s->n = 0;
}

static void views(eval_page *g)
{
    for (size_t k = 0; k < g->n; k++) {
        const json_t *o = eval_json_at(eval_model_suites(g, g->shown[k]), "forms");
        const json_t *p = eval_json_at(o, "promise");
        eval_element(g, "<p>", eval_model_name(g, g->shown[k]), ": ");
        eval_element(g, "", eval_json_string(o, "view"), " view; ");
        if (json_is_true(json_object_get(p, "own")))
            text_add(&g->t, "the promise is the one in the model's file.</p>\n");
        else
            text_add(&g->t, "the promise was trained for this page on %.0f tables.</p>\n",
                     eval_json_number(p, "tasks"));
    }
}

/* One measure of the problems in all conditions. */
static void problem_table(sheet *s, const char *set, const char *measure, const char *title,
                          page_format format)
{
    for (size_t c = 0; c < COUNT(conditions); c++)
        add_all(s, conditions[c].label,
                eval_say(s->g, "forms.problems.%s.%s.%s", set, conditions[c].name, measure), scores,
                COUNT(scores), format);
    draw(s, title);
}

static void retrieval_table(sheet *s)
{
    static const eval_named kinds[] = { { "all", "All forms" },
                                        { "laws", "Laws" },
                                        { "snip", "Expressions of the SNIP generator" } };
    for (size_t k = 0; k < COUNT(kinds); k++) {
        add(s, kinds[k].label, NULL, PAGE_PERCENT);
        for (int d = 0; d < 2; d++) {
            const char *way = d ? "y2f" : "f2y", *words = d ? "data → form" : "form → data";
            add(s, eval_say(s->g, "nDCG@10, %s", words),
                eval_say(s->g, "forms.retrieval.%s.%s.ndcg10", kinds[k].name, way), PAGE_PERCENT);
            add(s, eval_say(s->g, "R@10, %s", words),
                eval_say(s->g, "forms.retrieval.%s.%s.r10", kinds[k].name, way), PAGE_PERCENT);
        }
    }
    add(s, "R@10 by chance", "forms.retrieval.chance_r10", PAGE_PERCENT);
    draw(s, "Retrieval among distinct forms");
}

static void library_table(sheet *s)
{
    static const eval_named cuts[] = { { "k5", "5 forms" },
                                       { "k20", "20 forms" },
                                       { "k50", "50 forms" } };
    for (int mean = 0; mean < 2; mean++) {
        for (size_t k = 0; k < COUNT(cuts); k++)
            add_all(s, cuts[k].label,
                    eval_say(s->g, "forms.library.%s.%s", cuts[k].name, mean ? "mean" : "best"),
                    ways, COUNT(ways), PAGE_PLAIN);
        draw(s, mean ? "Library: mean of the chosen forms, digits"
                     : "Library: best of the chosen forms, digits");
    }
}

static void invariance_table(sheet *s)
{
    static const eval_named changes[] = { { "y_factor", "y times 10,000" },
                                          { "y_offset", "y times 1e-6, plus 3" },
                                          { "x_large", "every x times 1,000" },
                                          { "x_small", "every x divided by 7" },
                                          { "columns", "columns reversed" },
                                          { "fractions", "k/(c*x) as (k/c)/x" },
                                          { "distributed", "a*(b + x) as a*b + a*x" },
                                          { "squares", "x^2 as x*x" },
                                          { "reordered", "sums and products reordered" } };
    for (int part = 0; part < 4; part++) {
        const char *of = part / 2 ? "invariance_corpora" : "invariance";
        add(s,
            eval_say(s->g, "%s, %s", part / 2 ? "Corpora" : "Laws", part % 2 ? "largest" : "mean"),
            NULL, PAGE_PLAIN);
        for (size_t k = 0; k < COUNT(changes); k++)
            add(s, changes[k].label,
                eval_say(s->g, "forms.%s.%s.%s", of, changes[k].name,
                         part % 2 ? "largest" : "mean"),
                PAGE_PLAIN);
    }
    draw(s, "Invariance: change of the similarity of a formula with its table");
}

static void copies_table(sheet *s)
{
    add(s, "SNIP expressions, formula → data", "forms.copies.snip.f2y", PAGE_SHARE);
    add(s, "SNIP expressions, data → formula", "forms.copies.snip.y2f", PAGE_SHARE);
    add(s, "laws, formula → data", "forms.copies.laws.f2y", PAGE_SHARE);
    add(s, "laws, data → formula", "forms.copies.laws.y2f", PAGE_SHARE);
    draw(s, "Exact view: a formula among copies with another constant, percentile rank");
}

void eval_forms_part(eval_page *g)
{
    sheet s = { .g = g };
    views(g);
    retrieval_table(&s);
    for (int k = 0; k < 2; k++) {
        const char *set = k ? "corpora" : "laws", *name = k ? "Corpora" : "Laws";
        problem_table(&s, set, "place", eval_say(g, "%s: place of the truth among seven", name),
                      PAGE_PLAIN);
        problem_table(&s, set, "percentile",
                      eval_say(g, "%s: percentile rank of the truth among its edits", name),
                      PAGE_SHARE);
        problem_table(
            &s, set, "spearman",
            eval_say(g, "%s: Spearman correlation with the digits after the refit, -log10(1 - R²)",
                     name),
            PAGE_SHARE);
        problem_table(&s, set, "spearman_same_size",
                      eval_say(g, "%s: the same among candidates of equal size", name), PAGE_SHARE);
        problem_table(&s, set, "spearman_constants",
                      eval_say(g, "%s: the same among candidates with constants to fit", name),
                      PAGE_SHARE);
    }
    library_table(&s);
    invariance_table(&s);
    copies_table(&s);
}
