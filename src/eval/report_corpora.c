/* report_corpora.c - the page: formulas of the three corpora. */
#include "data/corpora.h"
#include "eval/measures.h"
#include "eval/report_parts.h"

/* The paper averages over directions and corpora; so do we, over the three and not their union. */
#define CORPUS_MEAN "corpora.feynman|classic|strogatz.%s.%s.f2y|y2f"

#define CORPUS(name, label) { #name, label },
static const eval_named corpora[] = { DATA_CORPUS_LIST(CORPUS){ "pooled", "all pooled" } };
static const eval_named views[] = { { "paper", "paper's protocol" },
                                    { "consistent", "consistent view" } };
static const eval_named protocols[] = {
    { "global", "Whole formulas within the corpus" },
    { "edits", "Whole formulas among their edits" },
    { "subtree_global", "Subtrees within the corpus" },
    { "subtrees", "Subtrees among their edits" },
};

/* Rows of a protocol and direction: a heading, then each corpus in both views. */
enum { CORPUS_ROWS = 2 * COUNT(corpora) + 1, CORPUS_PANELS = 2 * COUNT(protocols) };

static void corpus_rows(eval_page *g, const eval_named *protocol, const eval_named *d,
                        eval_row *out)
{
    *out++ = (eval_row){ .label = eval_say(g, "%s, %s", protocol->label, d->label) };
    for (size_t c = 0; c < COUNT(corpora); c++)
        for (size_t v = 0; v < COUNT(views); v++)
            *out++ = (eval_row){ v ? "· consistent view" : corpora[c].label,
                                 eval_say(g, "corpora.%s.%s.%s.%s", corpora[c].name, views[v].name,
                                          protocol->name, d->name),
                                 NULL, PAGE_SHARE, v == 1 };
}

void eval_corpora_part(eval_page *g)
{
    eval_row rows[CORPUS_PANELS][CORPUS_ROWS], means[2 * (COUNT(protocols) + 1)], *mean = means;
    double low = .4;
    for (size_t i = 0; i < CORPUS_PANELS; i++) {
        corpus_rows(g, &protocols[i / 2], &eval_directions[i % 2], rows[i]);
        low = eval_low_end(g, rows[i] + 1, CORPUS_ROWS - 1, low);
    }
    for (size_t v = 0; v < COUNT(views); v++) {
        *mean++ = (eval_row){ .label = eval_say(g, "Mean of corpora and directions, %s",
                                                views[v].label) };
        for (size_t i = 0; i < COUNT(protocols); i++)
            *mean++ = (eval_row){ protocols[i].label,
                                  eval_say(g, CORPUS_MEAN, views[v].name, protocols[i].name),
                                  v ? NULL : eval_say(g, "corpora.average.%s", protocols[i].name),
                                  PAGE_SHARE, 0 };
    }
    eval_table(g, means, COUNT(means));
    eval_legend(g, 0);
    eval_put(g, "<div class='panels'>");
    for (size_t i = 0; i < CORPUS_PANELS; i++)
        eval_dots(g, &(eval_panel){ rows[i][0].label, RANK, low, 1, .5 }, rows[i] + 1,
                  CORPUS_ROWS - 1);
    eval_put(g, "</div>\n<h3>The corpora</h3>\n");
    static const eval_named columns[] = { { "expressions", "formulas" },
                                          { "subtree_parents", "with subtrees" } };
    static const char *const keys[] = { "expressions", "subtree_parents" };
    eval_counts(g, "corpora", "corpora", corpora, COUNT(corpora), columns, keys, COUNT(columns));
    eval_put(g, "<details><summary>All numbers</summary>\n");
    eval_table(g, rows[0], CORPUS_PANELS * CORPUS_ROWS);
    eval_put(g, "</details>\n");
}
