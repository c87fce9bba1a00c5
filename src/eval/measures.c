/* measures.c - see measures.h. */
#include "eval/measures.h"

#include <string.h>

#include "eval/report_parts.h"

const eval_suite eval_suites[EVAL_SUITES] = {
    { .name = "global",
      .shared = 1,
      .run = eval_global,
      .draw = eval_global_part,
      .title = "Global retrieval",
      .what = "Each held-out formula looks for its own data among the data of all, and each data "
              "set for its own formula, by cosine similarity. R@10 is how often the right one is "
              "among the first ten; nDCG@10 also counts how early it comes, and is 100 % if it is "
              "always the first." },
    { .name = "geometry",
      .run = eval_geometry,
      .draw = eval_geometry_part,
      .title = "Geometry of the shared space",
      .what = "Where formulas and data lie. The gap is the distance between the centroids of the "
              "normalised embeddings: near 0 both kinds share one region, near 2 they are apart. "
              "Each picture shows the first two principal components; all have one scale." },
    { .name = "edits",
      .draw = eval_edits_part,
      .title = "Edits of whole formulas",
      .what = "Each target formula is edited in six ways, and the right pair of formula and data "
              "competes against the edited ones on the same input points. The percentile rank is "
              "the share of alternatives that score lower: 1 is perfect, .5 is chance. Three kinds "
              "of edits occur in training, three are held out." },
    { .name = "subtrees",
      .subtrees = 1,
      .draw = eval_subtrees_part,
      .title = "Edits of subtrees",
      .what =
          "The same for a part of a formula: the subtree, read inside its formula, and the data of "
          "the subtree alone. Scores are averaged within a formula first, so each counts once." },
    { .name = "corpora",
      .also = "ood",
      .run = eval_corpora,
      .draw = eval_corpora_part,
      .title = "Corpora",
      .what = "Formulas from three collections that the generator never made. The percentile rank "
              "of the right pair, among all pairs of the corpus or among edits. The paper "
              "standardises the inputs before it encodes the data and leaves the formula as it is; "
              "in the consistent view formula and data speak of the same inputs." },
    { .name = "forms",
      .run = eval_forms,
      .draw = eval_forms_part,
      .title = "Forms",
      .what = "Which form of a law suits a table, before its constants are fitted. The true law "
              "competes with other laws of as many inputs and with single edits of itself; all are "
              "refitted, and judged by R² on clean rows that the table does not have. Beside the "
              "space stand scores that cost nothing. A model without forms reads formulas with "
              "their fitted constants (exact view)." },
    { .name = "probes",
      .run = eval_probes,
      .draw = eval_probes_part,
      .title = "Probes",
      .what =
          "Four small experiments that ask whether nearness in the space means like behaviour." },
    { .name = "explain",
      .asked = 1,
      .run = eval_explain,
      .draw = eval_explain_part,
      .title = "Planted mistakes",
      .what =
          "One operator or variable of a true formula is exchanged, and the nodes of the wrong one "
          "are ordered by what an edit of each would gain, as snip explain does. How often the "
          "planted node comes first, and how often the edit that restores the formula does." },
    { .name = "candidates",
      .asked = 1,
      .run = eval_candidates,
      .draw = eval_candidates_part,
      .title = "True formulas among candidates",
      .what = "Whether a true formula is nearer to its table than wrong ones, as snip rank orders "
              "them: its own controlled edits, and random formulas of the same inputs. Constants "
              "are as given, so that only the space decides." },
};

/* Headings name where the paper prints its numbers. */
const eval_measure eval_measures[] = {
    /* table "Global symbolic-numerical alignment" */
    { "global.f2y.r1", PAGE_PERCENT, .line = "retrieval  formula -> data  R@1", .row = "R@1" },
    { "global.f2y.r10", PAGE_PERCENT, .paper = { .702, .972 },
      .line = "                           R@10", .summary = "R@10, formula → data", .row = "R@10" },
    { "global.f2y.ndcg10", PAGE_PERCENT, .paper = { .478, .873 },
      .line = "                           nDCG@10", .summary = "nDCG@10, formula → data",
      .row = "nDCG@10" },
    { "global.f2y.mrr", PAGE_PERCENT, .line = "                           MRR",
      .row = "mean reciprocal rank" },
    { "global.f2y.median_rank", PAGE_COUNT, .line = "                           median rank",
      .row = "median rank" },
    { "global.y2f.r1", PAGE_PERCENT, .line = "           data -> formula  R@1", .row = "R@1" },
    { "global.y2f.r10", PAGE_PERCENT, .paper = { .532, .940 },
      .line = "                           R@10", .summary = "R@10, data → formula", .row = "R@10" },
    { "global.y2f.ndcg10", PAGE_PERCENT, .paper = { .313, .826 },
      .line = "                           nDCG@10", .summary = "nDCG@10, data → formula",
      .row = "nDCG@10" },
    { "global.y2f.mrr", PAGE_PERCENT, .line = "                           MRR",
      .row = "mean reciprocal rank" },
    { "global.y2f.median_rank", PAGE_COUNT, .line = "                           median rank",
      .row = "median rank" },
    { "global.pairs", PAGE_COUNT, .paper = { 100000, 100000 } },
    /* appendix "PCA Geometry and Variance Spectrum" */
    { "geometry.gap", PAGE_PLAIN, .paper = { 1.18, .31 }, .line = "modality gap",
      .summary = "Gap (lower is better)", .row = "gap between the centroids" },
    { "geometry.explained.0", PAGE_PERCENT, .paper = { .350, .065 }, .row = "component 1",
      .key = "geometry.explained1" },
    { "geometry.explained.1", PAGE_PERCENT, .paper = { .066, .059 }, .row = "component 2",
      .key = "geometry.explained2" },
    { "geometry.dims.50", PAGE_COUNT, .paper = { 4, 11 }, .row = "components for 50 %",
      .key = "geometry.dims50" },
    { "geometry.dims.90", PAGE_COUNT, .paper = { 26, 30 }, .row = "for 90 %",
      .key = "geometry.dims90" },
    { "geometry.dims.95", PAGE_COUNT, .paper = { 35, 37 }, .row = "for 95 %",
      .key = "geometry.dims95" },
    { "geometry.dims.99", PAGE_COUNT, .paper = { 91, 48 }, .row = "for 99 %",
      .key = "geometry.dims99" },
    { "geometry.pairs", PAGE_COUNT, .paper = { 800, 800 }, .row = "pairs" },
    /* "Fine-Grained Symbolic Discrimination" */
    { "edits.average.f2y", PAGE_SHARE, .paper = { .48, .73 }, .line = "edits      formula -> data",
      .summary = "Edits, formula → data" },
    { "edits.average.y2f", PAGE_SHARE, .paper = { .69, .79 }, .line = "           data -> formula",
      .summary = "Edits, data → formula" },
    { "edits.seen.f2y", PAGE_SHARE, .line = "  seen     formula -> data" },
    { "edits.seen.y2f", PAGE_SHARE, .line = "           data -> formula" },
    { "edits.held_out.f2y", PAGE_SHARE, .line = "  held out formula -> data" },
    { "edits.held_out.y2f", PAGE_SHARE, .line = "           data -> formula" },
    { "edits.targets", PAGE_COUNT, .paper = { 127, 127 } },
    /* table "Complete-expression controlled-edit pool"; of no path of ours, but of their own names
     */
    { "pool.unary_swap.targets", PAGE_COUNT, .paper = { 81, 81 } },
    { "pool.unary_swap.mean", PAGE_COUNT, .paper = { 2.1, 2.1 } },
    { "pool.unary_swap.median", PAGE_COUNT, .paper = { 2, 2 } },
    { "pool.variable_substitution.targets", PAGE_COUNT, .paper = { 119, 119 } },
    { "pool.variable_substitution.mean", PAGE_COUNT, .paper = { 26.5, 26.5 } },
    { "pool.variable_substitution.median", PAGE_COUNT, .paper = { 27, 27 } },
    { "pool.binary_swap.targets", PAGE_COUNT, .paper = { 127, 127 } },
    { "pool.binary_swap.mean", PAGE_COUNT, .paper = { 8.5, 8.5 } },
    { "pool.binary_swap.median", PAGE_COUNT, .paper = { 9, 9 } },
    { "pool.tree_reshaping.targets", PAGE_COUNT, .paper = { 127, 127 } },
    { "pool.tree_reshaping.mean", PAGE_COUNT, .paper = { 10.7, 10.7 } },
    { "pool.tree_reshaping.median", PAGE_COUNT, .paper = { 11, 11 } },
    { "pool.operand_reordering.targets", PAGE_COUNT, .paper = { 90, 90 } },
    { "pool.operand_reordering.mean", PAGE_COUNT, .paper = { 1.8, 1.8 } },
    { "pool.operand_reordering.median", PAGE_COUNT, .paper = { 2, 2 } },
    { "pool.subtree_rewriting.targets", PAGE_COUNT, .paper = { 127, 127 } },
    { "pool.subtree_rewriting.mean", PAGE_COUNT, .paper = { 57.6, 57.6 } },
    { "pool.subtree_rewriting.median", PAGE_COUNT, .paper = { 59, 59 } },
    /* appendix "Contextual-Subtree Discrimination" */
    { "subtrees.average.f2y", PAGE_SHARE, .paper = { .47, .87 },
      .line = "subtrees   formula -> data", .summary = "Subtrees, formula → data" },
    { "subtrees.average.y2f", PAGE_SHARE, .paper = { .61, .92 },
      .line = "           data -> formula", .summary = "Subtrees, data → formula" },
    /* "Out-of-Domain Generalization" and its appendix */
    { "corpora.pooled.paper.global.f2y", PAGE_SHARE,
      .line = "corpora    retrieval, formula -> data" },
    { "corpora.pooled.paper.global.y2f", PAGE_SHARE,
      .line = "           retrieval, data -> formula" },
    { "corpora.pooled.paper.edits.f2y", PAGE_SHARE, .line = "           edits, formula -> data" },
    { "corpora.pooled.paper.edits.y2f", PAGE_SHARE, .line = "           edits, data -> formula" },
    { "corpora.pooled.consistent.global.f2y", PAGE_SHARE,
      .line = "  consistent retrieval, f -> data" },
    { "corpora.pooled.consistent.global.y2f", PAGE_SHARE,
      .line = "           retrieval, data -> f" },
    { "corpora.pooled.consistent.edits.f2y", PAGE_SHARE,
      .line = "           edits, formula -> data" },
    { "corpora.pooled.consistent.edits.y2f", PAGE_SHARE,
      .line = "           edits, data -> formula" },
    { "corpora.feynman|classic|strogatz.paper.global.f2y|y2f", PAGE_SHARE, .paper = { .47, .79 },
      .summary = "Corpora, whole formulas", .key = "corpora.average.global" },
    { "corpora.feynman|classic|strogatz.paper.edits.f2y|y2f", PAGE_SHARE, .paper = { .48, .69 },
      .summary = "Corpora, among edits", .key = "corpora.average.edits" },
    { "corpora.feynman|classic|strogatz.paper.subtree_global.f2y|y2f", PAGE_SHARE,
      .paper = { .48, .78 }, .summary = "Corpora, subtrees",
      .key = "corpora.average.subtree_global" },
    { "corpora.feynman|classic|strogatz.paper.subtrees.f2y|y2f", PAGE_SHARE, .paper = { .47, .68 },
      .summary = "Corpora, subtrees among edits", .key = "corpora.average.subtrees" },
    { "corpora.feynman.expressions", PAGE_COUNT, .paper = { 81, 81 } },
    { "corpora.feynman.subtree_parents", PAGE_COUNT, .paper = { 79, 79 } },
    { "corpora.classic.expressions", PAGE_COUNT, .paper = { 35, 35 } },
    { "corpora.classic.subtree_parents", PAGE_COUNT, .paper = { 30, 30 } },
    { "corpora.strogatz.expressions", PAGE_COUNT, .paper = { 13, 13 } },
    { "corpora.strogatz.subtree_parents", PAGE_COUNT, .paper = { 12, 12 } },
    { "corpora.pooled.expressions", PAGE_COUNT, .paper = { 129, 129 } },
    { "corpora.pooled.subtree_parents", PAGE_COUNT, .paper = { 121, 121 } },
    { "corpora.pooled.paper.subtrees.f2y", .format = PAGE_SHARE },
    { "corpora.pooled.paper.subtrees.y2f", .format = PAGE_SHARE },
    { "corpora.pooled.consistent.subtrees.f2y", .format = PAGE_SHARE },
    { "corpora.pooled.consistent.subtrees.y2f", .format = PAGE_SHARE },
    /* ours */
    { "forms.retrieval.all.f2y.ndcg10", PAGE_PERCENT, .line = "forms      form -> data     nDCG@10",
      .summary = "Forms, nDCG@10, form → data" },
    { "forms.retrieval.all.f2y.r10", PAGE_PERCENT, .line = "                           R@10" },
    { "forms.retrieval.all.y2f.ndcg10", PAGE_PERCENT, .line = "           data -> form     nDCG@10",
      .summary = "Forms, nDCG@10, data → form" },
    { "forms.retrieval.all.y2f.r10", PAGE_PERCENT, .line = "                           R@10" },
    { "forms.problems.laws.rows200.place.similarity", PAGE_SHARE,
      .line = "laws       place of 7, by similarity",
      .summary = "True law's place among seven (lower is better)" },
    { "forms.problems.laws.rows200.place.correlation", PAGE_SHARE,
      .line = "           by correlation, not fitted" },
    { "forms.problems.laws.rows200.place.size", PAGE_SHARE, .line = "           by size" },
    { "forms.problems.laws.rows200.percentile.similarity", PAGE_SHARE,
      .line = "           among its edits" },
    { "forms.problems.laws.rows200.percentile.correlation", PAGE_SHARE,
      .line = "           by correlation" },
    { "forms.problems.laws.rows200.spearman.similarity", PAGE_SHARE,
      .line = "  Spearman similarity and R2",
      .summary = "Spearman of similarity and R² after the refit, laws" },
    { "forms.problems.laws.rows200.spearman.correlation", PAGE_SHARE,
      .line = "           correlation" },
    { "forms.problems.laws.rows200.spearman.size", PAGE_SHARE, .line = "           size" },
    { "forms.problems.laws.rows200.spearman.constants", PAGE_SHARE,
      .line = "           constants" },
    { "forms.problems.laws.rows200.spearman.without", PAGE_SHARE,
      .line = "           promise without the space" },
    { "forms.problems.laws.rows200.spearman.with", PAGE_SHARE, .line = "           promise" },
    { "forms.problems.laws.rows200.spearman_same_size.similarity", PAGE_SHARE,
      .line = "  same size similarity" },
    { "forms.problems.laws.rows200.spearman_same_size.correlation", PAGE_SHARE,
      .line = "           correlation" },
    { "forms.problems.laws.rows30_noise5.place.similarity", PAGE_SHARE,
      .line = "30 rows, 5 % noise: place of 7" },
    { "forms.problems.laws.rows30_noise5.spearman.similarity", PAGE_SHARE,
      .line = "           Spearman" },
    { "forms.problems.laws.rows30_noise5.spearman.correlation", PAGE_SHARE,
      .line = "           correlation" },
    { "forms.problems.corpora.rows200.place.similarity", PAGE_SHARE,
      .line = "corpora    place of 7, by similarity" },
    { "forms.problems.corpora.rows200.place.correlation", PAGE_SHARE,
      .line = "           by correlation" },
    { "forms.problems.corpora.rows200.percentile.similarity", PAGE_SHARE,
      .line = "           among its edits" },
    { "forms.problems.corpora.rows200.spearman.similarity", PAGE_SHARE,
      .line = "  Spearman similarity and R2", .summary = "the same, corpora" },
    { "forms.problems.corpora.rows200.spearman.correlation", PAGE_SHARE,
      .line = "           correlation" },
    { "forms.problems.corpora.rows200.spearman.without", PAGE_SHARE,
      .line = "           promise without the space" },
    { "forms.problems.corpora.rows200.spearman.with", PAGE_SHARE, .line = "           promise" },
    { "forms.problems.corpora.rows200.spearman_constants.similarity", PAGE_SHARE,
      .line = "  constants to fit similarity" },
    { "forms.problems.corpora.rows200.spearman_constants.correlation", PAGE_SHARE,
      .line = "           correlation" },
    { "forms.library.k20.best.similarity", PAGE_SHARE,
      .line = "library    digits of 20, by similarity" },
    { "forms.library.k20.best.correlation", PAGE_SHARE,
      .line = "           by correlation, not fitted" },
    { "forms.library.k20.best.size", PAGE_SHARE, .line = "           by size" },
    { "forms.library.k20.best.shuffled", PAGE_SHARE, .line = "           by shuffled vectors" },
    { "forms.library.k20.best.without", PAGE_SHARE,
      .line = "           promise without the space" },
    { "forms.library.k20.best.with", PAGE_SHARE, .line = "           promise" },
    { "forms.library.any", PAGE_SHARE, .line = "           best of all that were fitted" },
    { "forms.invariance.y_factor.mean", PAGE_SHARE, .line = "invariance |change| with y*1e4" },
    { "forms.invariance.y_offset.mean", PAGE_SHARE, .line = "           y*1e-6 + 3" },
    { "forms.invariance.x_large.mean", PAGE_SHARE, .line = "           x*1000" },
    { "forms.invariance.columns.mean", PAGE_SHARE, .line = "           columns reversed" },
    { "forms.invariance.reordered.mean", PAGE_SHARE, .line = "           sums reordered" },
    { "forms.copies.snip.f2y", PAGE_SHARE, .line = "copies     SNIP, formula -> data" },
    { "forms.copies.snip.y2f", PAGE_SHARE, .line = "           data -> formula" },
    { "forms.copies.laws.f2y", PAGE_SHARE, .line = "           laws, formula -> data" },
    { "forms.copies.laws.y2f", PAGE_SHARE, .line = "           data -> formula" },
    /* "Functional Structure in the Learned Space" */
    { "probes.consequences.auc", PAGE_SHARE, .line = "preserving against changing edits (AUC)",
      .summary = "Consequences of edits, AUC" },
    { "probes.rewritings.average", PAGE_SHARE, .paper = { .72, .90 },
      .line = "equivalent rewritings", .summary = "Equivalent rewritings" },
    { "probes.taylor.average", PAGE_SHARE, .paper = { .24, .45 },
      .line = "Taylor approximations (similarity)", .summary = "Taylor series" },
    { "probes.variation.similarity.last", PAGE_SHARE, .paper = { .94, .06 },
      .summary = "sin(5x) and sin(0.5x) (lower is better)", .key = "probes.variation.last" },
    { "probes.taylor.unrelated", .format = PAGE_SHARE },
    /* ours */
    { "explain.all.first", PAGE_PERCENT, .line = "explain    planted node first",
      .summary = "Planted node found first" },
    { "explain.all.chance_first", PAGE_PERCENT, .line = "           the same by chance" },
    { "explain.all.first_3", PAGE_PERCENT, .line = "           among the first 3" },
    { "explain.all.first_5", PAGE_PERCENT, .line = "           among the first 5" },
    { "explain.all.mean_percentile", PAGE_SHARE, .line = "           percentile" },
    { "explain.all.cure_first", PAGE_PERCENT, .line = "           the cure is first" },
    { "explain.all.cure_first_3", PAGE_PERCENT, .line = "           among the first 3" },
    { "explain.all.cure_first_10", PAGE_PERCENT, .line = "           among the first 10" },
    /* ours */
    { "candidates.all.edits.mean_percentile", PAGE_SHARE,
      .line = "candidates truth among its edits", .summary = "True formula among its edits" },
    { "candidates.all.edits.first", PAGE_PERCENT, .line = "           it is first" },
    { "candidates.all.random.mean_percentile", PAGE_SHARE,
      .line = "           among random formulas", .summary = "True formula among random ones" },
    { "candidates.all.random.first", PAGE_PERCENT, .line = "           it is first" },
    { .path = NULL },
};

const eval_measure *eval_measure_find(const char *key)
{
    for (const eval_measure *m = eval_measures; key && m->path; m++)
        if (strcmp(m->path, key) == 0 || (m->key && strcmp(m->key, key) == 0))
            return m;
    return NULL;
}

static int is_printed(const eval_measure *m)
{
    return m->paper[EVAL_PAPER_SNIP] != 0 || m->paper[EVAL_PAPER_SNIPPP] != 0;
}

const eval_measure *eval_measure_printed(const char *key)
{
    const eval_measure *m = eval_measure_find(key);
    return m && is_printed(m) ? m : NULL;
}

json_t *eval_paper_json(void)
{
    json_t *o = json_object();
    for (const eval_measure *m = eval_measures; o && m->path; m++)
        if (is_printed(m))
            json_object_set_new(
                o, m->key ? m->key : m->path,
                json_pack("[f,f]", m->paper[EVAL_PAPER_SNIP], m->paper[EVAL_PAPER_SNIPPP]));
    return o;
}
