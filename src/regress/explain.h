/* explain.h - which part of a formula is wrong: the agreement with the data that single edits of
 * each part would gain.
 *
 * Each node is edited alone: its operator exchanged, its operands swapped, one of them dropped, a
 * function put around it, its variable replaced, its exponent freed. Edited formulas that are not
 * finite in all rows that constants are fitted on, or have the same values there, are left out. The
 * gain of an edit is the rise of the cosine between formula and table; that of a node is the best
 * among its edits. A freed exponent has none, nor has a constant that is added to an input or to
 * the whole: their values are the same until they are fitted. What is a verdict on the formula is
 * weighed in evidence.h.
 *
 * Where the formula is short, and no edit is supported by the data or one that is leaves something
 * open, two edits at once are tried (pairs.h). They are weighed against the formula, or against the
 * supported edit, and charged with the number of all pairs that were looked at. */
#ifndef REGRESS_EXPLAIN_H
#define REGRESS_EXPLAIN_H

#include "regress/evidence.h"
#include "regress/rank.h"

enum { REGRESS_EXPLAIN_NODES_MAX = 500 }; /* edits are some thirty copies of the formula a node */

typedef enum regress_edit_kind {
    REGRESS_EXCHANGE, /* the operator or the variable */
    REGRESS_SWAP,     /* the operands */
    REGRESS_DROP,     /* the node: an operand takes its place */
    REGRESS_WRAP,     /* a function around the node */
    REGRESS_FREE,     /* an exponent, which becomes a constant to fit */
    REGRESS_ADD       /* a constant to fit, added to the node: a zero point, a background */
} regress_edit_kind;

typedef struct regress_edit {
    size_t node; /* of the explained formula */
    regress_edit_kind kind;
    int to;  /* the new operator or variable, the operand that stays */
    int two; /* there is a second edit, at a node further on, of the same formula: */
    size_t second_node;
    regress_edit_kind second_kind;
    int second_to;
    expr base; /* of pairs: the formula that the nodes are of, as it was given, where that has
                * another structure than the one explained; else empty */
    expr e;    /* the edited formula */
    expr
        given; /* the same edit of the formula as it was given; empty if it has another structure */
    double similarity, gain;
    expr fitted;                     /* of the listed edits: with constants refitted to all rows */
    expr trained;                    /* and to the training rows: the errors are of these */
    regress_errors errors, refitted; /* of the listed edits: errors before and after */
    double judged;                   /* of the listed edits: the error that they are ordered by */
    int tried;                       /* it was refitted */
} regress_edit;

typedef struct regress_explanation {
    expr e;     /* the formula explained: constants refitted to the training rows, unless told not
                 * to; what is edited and judged */
    expr shown; /* the same, node by node, with constants of all rows: what is printed */
    double similarity;
    regress_errors errors;
    double *gain; /* per node; NaN where there is nothing to edit */
    size_t *best; /* per node: its best edit's place in edit[], or (size_t)-1 */
    regress_edit
        *edit; /* those refitted, the least error first; the others, the largest gain first */
    size_t edits, listed; /* all; those at the front that were refitted */
    regress_edit *pair;   /* two edits at once, or one of `base`, refitted, the least error first */
    size_t pairs, pairs_tried;   /* those; all that were looked at */
    regress_evidence evidence;   /* on the edits refitted, or on the pairs where one is supported */
    const regress_edit *verdict; /* the edit or pair that `evidence` has as best; NULL: none */
    /* For those who explain step by step. */
    expr given;              /* the formula as it was asked for */
    regress_candidate whole; /* the same, fitted */
    size_t wanted;           /* edits at the front that are to be refitted before the end */
} regress_explanation;

typedef struct regress_explain_how {
    int refit;   /* the formula's constants first, and look at forms; else cosines are of formulas
                  * with the constants given */
    size_t list; /* edits to refit, those with the largest gain; 0: none, and no evidence */
    int all;     /* refit all of them where that takes no more than some seconds */
    int threads;
    int starts; /* of each refit; 0: 4 */
} regress_explain_how;

/* Fails with SNIP_UNSUPPORTED where the model has no words for the formula, it is not finite on the
 * table or it has more nodes than the above. */
snip_code regress_explain(regress_explanation *out, expr e, const regress_problem *p,
                          const model_opened *t, const regress_explain_how *how, arena *a,
                          snip_status *st);

/* The same step by step, for a page that does not let people wait. After the beginning the parts
 * have their gains and the edits stand in the order of these. regress_explain_refit fits those at
 * the places `which`, whichever are not yet, in any number of calls; no edit moves. When the first
 * out->wanted are tried, regress_explain_end sorts these and gives the verdict, which is then the
 * one of regress_explain. Table, model, `how` and the arena must be the same each time. */
snip_code regress_explain_begin(regress_explanation *out, expr e, const regress_problem *p,
                                const model_opened *t, const regress_explain_how *how, arena *a,
                                snip_status *st);
snip_code regress_explain_refit(regress_explanation *x, const size_t *which, size_t count,
                                const regress_problem *p, const regress_explain_how *what, arena *a,
                                snip_status *st);
snip_code regress_explain_end(regress_explanation *x, const regress_problem *p,
                              const model_opened *t, const regress_explain_how *how, arena *a,
                              snip_status *st);

/* What the edit does, as one line: `sin -> cos at sin(x0 + 1)`. NULL when memory is out. */
const char *regress_edit_text(const regress_edit *edit, expr e, const expr_names *names, arena *a);

/* All single edits of e's nodes but added constants, in `a`, and their number; (size_t)-1 when
 * memory is out. `inputs` is how many variables there are to choose from. None is e itself; edits
 * of different nodes may give the same formula. */
size_t regress_edits_list(regress_edit **out, expr e, size_t inputs, arena *a);

#endif
