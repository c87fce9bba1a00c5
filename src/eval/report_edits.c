/* report_edits.c - the page: controlled edits of whole formulas and of subtrees. */
#include <math.h>
#include <string.h>

#include "data/edits.h"
#include "eval/measures.h"
#include "eval/report_parts.h"

const eval_named eval_families[] = {
    { "unary_swap", "unary swap" },
    { "variable_substitution", "variable substitution" },
    { "binary_swap", "binary swap" },
    { "tree_reshaping", "tree reshaping" },
    { "operand_reordering", "operand reordering" },
    { "subtree_rewriting", "subtree rewriting" },
};
_Static_assert(sizeof eval_families / sizeof *eval_families == DATA_FAMILIES,
               "each family has a label");
const eval_named eval_directions[2] = { { "f2y", "formula → data" }, { "y2f", "data → formula" } };

void eval_counts(eval_page *g, const char *ours, const char *theirs, const eval_named *thing,
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
            const eval_measure *p =
                eval_measure_printed(eval_say(g, "%s.%s.%s", theirs, thing[i].name, key[c]));
            text_add(&g->t, "<td class='p'>%s</td>",
                     eval_print(g, p ? p->paper[EVAL_PAPER_SNIPPP] : NAN, PAGE_COUNT));
        }
        eval_put(g, "</tr>\n");
    }
    eval_put(g, "</tbody></table></div>\n");
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
static void family_rows(eval_page *g, const char *suite, const eval_named *d, eval_row *out)
{
    static const eval_named mean[] = { { "held_out", "held out, mean" }, { "seen", "seen, mean" } };
    for (int trained = 1; trained >= 0; trained--) {
        for (size_t i = 0; i < DATA_FAMILIES; i++)
            if (is_trained(eval_families[i].name) == trained)
                *out++ = (eval_row){ eval_families[i].label,
                                     eval_say(g, "%s.families.%s.%s", suite, eval_families[i].name,
                                              d->name),
                                     NULL, PAGE_SHARE, 0 };
        *out++ = (eval_row){ mean[trained].label,
                             eval_say(g, "%s.%s.%s", suite, mean[trained].name, d->name), NULL,
                             PAGE_SHARE, 1 };
    }
    *out = (eval_row){ "all, mean", eval_say(g, "%s.average.%s", suite, d->name), NULL, PAGE_SHARE,
                       1 };
}

static void edit_families(eval_page *g, const char *suite)
{
    eval_row rows[2 * (FAMILY_ROWS + 1)];
    double low = 1;
    for (size_t d = 0; d < 2; d++) {
        eval_row *r = rows + d * (FAMILY_ROWS + 1);
        *r = (eval_row){ .label = eval_directions[d].label };
        family_rows(g, suite, &eval_directions[d], r + 1);
        low = eval_low_end(g, r + 1, FAMILY_ROWS, fmin(low, .4));
    }
    eval_legend(g, 1);
    eval_put(g, "<div class='panels'>");
    for (size_t d = 0; d < 2; d++)
        eval_dots(g, &(eval_panel){ eval_directions[d].label, RANK, low, 1, .5 },
                  rows + d * (FAMILY_ROWS + 1) + 1, FAMILY_ROWS);
    eval_put(g, "</div>\n");
    eval_table(g, rows, COUNT(rows));
}

static const eval_named pool_columns[] = { { "f2y.targets", "targets" },
                                           { "variants.mean", "variants, mean" },
                                           { "variants.median", "variants, median" } };
static const char *const pool_keys[] = { "targets", "mean", "median" };

void eval_edits_part(eval_page *g)
{
    edit_families(g, "edits");
    text_add(&g->t, "<h3>The pool</h3><p>%s targets here, 127 in the paper.</p>\n",
             eval_print(g, eval_json_number(eval_page_common(g, "edits.targets"), ""), PAGE_COUNT));
    eval_counts(g, "edits.families", "pool", eval_families, DATA_FAMILIES, pool_columns, pool_keys,
                COUNT(pool_columns));
}

void eval_subtrees_part(eval_page *g)
{
    edit_families(g, "subtrees");
    text_add(
        &g->t,
        "<h3>The pool</h3><p>%s subtrees of %s formulas; a target is a formula with at least one "
        "variant. The paper prints no counts here.</p>\n",
        eval_print(g, eval_json_number(eval_page_common(g, "subtrees.subtrees"), ""), PAGE_COUNT),
        eval_print(g, eval_json_number(eval_page_common(g, "subtrees.targets"), ""), PAGE_COUNT));
    eval_counts(g, "subtrees.families", NULL, eval_families, DATA_FAMILIES, pool_columns, pool_keys,
                COUNT(pool_columns));
}
