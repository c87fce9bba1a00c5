/* report_cases.c - the page: what explain and rank find, by where the formulas come from. */
#include "data/corpora.h"
#include "eval/report_parts.h"

#define CORPUS(name, label) { #name, label },
static const eval_named sources[] = { { "all", "all" },
                                      DATA_CORPUS_LIST(CORPUS){ "generated", "generated" } };

/* Named values down, each by source. */
static void by_source(eval_page *g, const char *suite, const eval_named *value,
                      const page_format *format, size_t n)
{
    size_t used = 0;
    eval_row *rows = arena_array(g->a, n * (COUNT(sources) + 1), sizeof *rows);
    if (!rows) {
        g->t.failed = 1;
        return;
    }
    for (size_t v = 0; v < n; v++) {
        rows[used++] = (eval_row){ .label = value[v].label };
        for (size_t i = 0; i < COUNT(sources); i++) {
            const char *path = eval_say(g, "%s.%s.%s", suite, sources[i].name, value[v].name);
            if (eval_page_common(g, path))
                rows[used++] = (eval_row){ sources[i].label, path, NULL, format[v], i == 0 };
        }
    }
    eval_legend(g, 0);
    eval_table(g, rows, used);
}

void eval_explain_part(eval_page *g)
{
    static const eval_named values[] = {
        { "first", "The planted node is first" },
        { "chance_first", "The same by chance" },
        { "first_3", "It is among the first three" },
        { "first_5", "It is among the first five" },
        { "mean_percentile", "Its percentile rank" },
        { "cure_first", "The edit that restores the formula is first" },
        { "cure_first_3", "It is among the first three" },
        { "cure_first_10", "It is among the first ten" },
        { "formulas", "Formulas" },
    };
    static const page_format formats[] = { PAGE_PERCENT, PAGE_PERCENT, PAGE_PERCENT,
                                           PAGE_PERCENT, PAGE_SHARE,   PAGE_PERCENT,
                                           PAGE_PERCENT, PAGE_PERCENT, PAGE_COUNT };
    by_source(g, "explain", values, formats, COUNT(values));
}

void eval_candidates_part(eval_page *g)
{
    static const eval_named values[] = {
        { "edits.mean_percentile", "Share of its edits that the true formula beats" },
        { "edits.first", "It beats all of them" },
        { "edits.mean_others", "Edits" },
        { "random.mean_percentile", "Share of random formulas that it beats" },
        { "random.first", "It beats all of them" },
        { "random.mean_others", "Random formulas" },
    };
    static const page_format formats[] = { PAGE_SHARE, PAGE_PERCENT, PAGE_COUNT,
                                           PAGE_SHARE, PAGE_PERCENT, PAGE_COUNT };
    by_source(g, "candidates", values, formats, COUNT(values));
}
