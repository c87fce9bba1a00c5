/* paper.c - see paper.h. */
#include "eval/paper.h"

#include <stddef.h>
#include <string.h>

static const eval_paper numbers[] = {
    /* table "Global symbolic-numerical alignment" */
    { "global.pairs", 100000, 100000 },
    { "global.f2y.r10", .702, .972 },
    { "global.f2y.ndcg10", .478, .873 },
    { "global.y2f.r10", .532, .940 },
    { "global.y2f.ndcg10", .313, .826 },
    /* appendix "PCA Geometry and Variance Spectrum" */
    { "geometry.pairs", 800, 800 },
    { "geometry.gap", 1.18, .31 },
    { "geometry.explained1", .350, .065 },
    { "geometry.explained2", .066, .059 },
    { "geometry.dims50", 4, 11 },
    { "geometry.dims90", 26, 30 },
    { "geometry.dims95", 35, 37 },
    { "geometry.dims99", 91, 48 },
    /* "Fine-Grained Symbolic Discrimination", appendix "Contextual-Subtree Discrimination" */
    { "edits.targets", 127, 127 },
    { "edits.average.f2y", .48, .73 },
    { "edits.average.y2f", .69, .79 },
    { "subtrees.average.f2y", .47, .87 },
    { "subtrees.average.y2f", .61, .92 },
    /* table "Complete-expression controlled-edit pool" */
    { "pool.unary_swap.targets", 81, 81 },
    { "pool.unary_swap.mean", 2.1, 2.1 },
    { "pool.unary_swap.median", 2, 2 },
    { "pool.variable_substitution.targets", 119, 119 },
    { "pool.variable_substitution.mean", 26.5, 26.5 },
    { "pool.variable_substitution.median", 27, 27 },
    { "pool.binary_swap.targets", 127, 127 },
    { "pool.binary_swap.mean", 8.5, 8.5 },
    { "pool.binary_swap.median", 9, 9 },
    { "pool.tree_reshaping.targets", 127, 127 },
    { "pool.tree_reshaping.mean", 10.7, 10.7 },
    { "pool.tree_reshaping.median", 11, 11 },
    { "pool.operand_reordering.targets", 90, 90 },
    { "pool.operand_reordering.mean", 1.8, 1.8 },
    { "pool.operand_reordering.median", 2, 2 },
    { "pool.subtree_rewriting.targets", 127, 127 },
    { "pool.subtree_rewriting.mean", 57.6, 57.6 },
    { "pool.subtree_rewriting.median", 59, 59 },
    /* "Out-of-Domain Generalization" and its appendix */
    { "ood.average.global", .47, .79 },
    { "ood.average.edits", .48, .69 },
    { "ood.average.subtrees", .47, .68 },
    { "ood.average.subtree_global", .48, .78 },
    { "ood.feynman.expressions", 81, 81 },
    { "ood.feynman.subtree_parents", 79, 79 },
    { "ood.classic.expressions", 35, 35 },
    { "ood.classic.subtree_parents", 30, 30 },
    { "ood.strogatz.expressions", 13, 13 },
    { "ood.strogatz.subtree_parents", 12, 12 },
    { "ood.pooled.expressions", 129, 129 },
    { "ood.pooled.subtree_parents", 121, 121 },
    /* "Functional Structure in the Learned Space" */
    { "probes.variation.last", .94, .06 },
    { "probes.rewritings.average", .72, .90 },
    { "probes.taylor.average", .24, .45 },
};

const eval_paper *eval_paper_find(const char *key)
{
    for (size_t i = 0; key && i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].key, key) == 0)
            return &numbers[i];
    return NULL;
}

json_t *eval_paper_json(void)
{
    json_t *o = json_object();
    for (size_t i = 0; o && i < sizeof numbers / sizeof *numbers; i++)
        json_object_set_new(o, numbers[i].key,
                            json_pack("[f,f]", numbers[i].snip, numbers[i].snippp));
    return o;
}
