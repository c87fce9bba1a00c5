/* edits.h - controlled edits of a formula: the six families of the evaluation, three of which are
 * used in training.
 *
 * An edit is a small value that says what to change; applying it makes a new tree. Which edits are
 * kept is decided by behaviour: finite values that differ, as float32, from the original's and
 * from those of earlier variants. */
#ifndef DATA_EDITS_H
#define DATA_EDITS_H

#include "base/rng.h"
#include "expr/expr.h"

typedef enum data_family {
    DATA_UNARY_SWAP,            /* sin(a) -> cos(a), within a group */
    DATA_VARIABLE_SUBSTITUTION, /* every x_0 -> x_1 */
    DATA_BINARY_SWAP,           /* a + b -> a * b */
    DATA_TREE_RESHAPING,        /* (a - b) - c -> a - (b - c); held out from training */
    DATA_OPERAND_REORDERING,    /* a - b -> b - a; held out */
    DATA_SUBTREE_REWRITING,     /* a subtree -> a new one; held out */
    DATA_FAMILIES,
    DATA_CONSTANT_CHANGE = DATA_FAMILIES /* 2.5 -> -2.5, or times a factor: for training only, no
                                            family of the evaluation */
} data_family;

/* What families are called, whether training uses them, whether their edits can be listed: else
 * they are drawn. The order of the enum means nothing. */
typedef struct data_family_row {
    const char *name; /* unary_swap, variable_substitution, ... */
    int trained, listed;
} data_family_row;
extern const data_family_row data_families[DATA_FAMILIES];

enum { DATA_VARIANTS_MAX = 64 }; /* candidates per target and family in the evaluation */

typedef struct data_edit {
    data_family family;
    size_t node; /* where; for variable substitution the variable replaced */
    int to;      /* the new operator or variable; for reshaping the child that moves up */
    expr tree;   /* for rewriting: the new subtree */
} data_edit;

/* All edits of a family (none of one that is not listed) in `a`, those of one place next to each
 * other. Returns their number, or (size_t)-1 when memory is out. */
size_t data_edits_list(data_edit **out, expr e, data_family family, arena *a);

/* A rewriting drawn at random: any node, replaced by an expression of the training grammar with
 * at most two binary operators and one unary, over the variables of e (x_0 where e has none). */
data_edit data_edit_rewriting(expr e, rng *r, arena *a);

/* e with one of its n numbers at `constant` changed: its sign, or up to ten times more or less. In
 * `a`; node is NULL when memory is out. */
expr data_constant_changed(expr e, const size_t *constant, size_t n, rng *r, arena *a);

/* The edited tree in `a`; node is NULL when memory is out. */
expr data_edit_apply(expr e, const data_edit *edit, arena *a);

/* One line that says what the edit does, in `a`. NULL when memory is out. */
const char *data_edit_describe(expr e, const data_edit *edit, const expr_names *names, arena *a);

/* Behaviours seen so far, told apart as float32. */
typedef struct data_behaviours {
    size_t rows, count, room;
    uint64_t *hash;
    float **value;
    arena *a;
} data_behaviours;

/* Adds y[0..rows) unless the same is there already. Returns 1 if it was new, 0 if not, -1 when
 * memory is out. */
int data_behaviours_add(data_behaviours *b, const double *y);

/* An edited expression that passed all checks. */
typedef struct data_variant {
    data_edit edit;
    expr e;
    double *y;
} data_variant;

/* The evaluation's candidates for target e on `rows` points: at most `most` of the family, those
 * kept in out (room for `most`), all in `a`. y are e's own values. Returns how many were kept, or
 * (size_t)-1 when memory is out. Many parameters: what to edit and how, and the target's table, of
 * which nothing is shared with data_perturb. */
size_t data_edits_evaluation(data_variant *out, expr e, data_family family, size_t most,
                             const double *const *x, size_t rows, const double *y, rng *r,
                             arena *a);

/* Nodes that are neither the root nor a leaf, in out[0..e.count). Returns their number. */
size_t data_subtrees(expr e, int *out);

enum { DATA_ATTEMPTS = 2 }; /* perturbations tried per training sample */

/* A training sample's subtree and its variants; 0 is the original. */
typedef struct data_perturbed {
    size_t node;  /* of the subtree in the original */
    size_t count; /* 1 + variants kept */
    struct {
        expr subtree, parent;
        const double *subtree_y, *parent_y;
        int family; /* -1 for the original */
    } v[1 + DATA_ATTEMPTS];
} data_perturbed;

typedef struct data_perturb_how {
    size_t subtrees;  /* at most */
    int edits;        /* tried of each, at most DATA_ATTEMPTS */
    double constants; /* share of the edits that change a constant, where there is one */
} data_perturb_how;

/* Draws subtrees of e and tries edits of each (paper, appendix on training-time perturbations,
 * where it is one subtree with two attempts). A variant is kept if subtree and parent are finite
 * and fit the tokens, and the subtree's behaviour is new. The original's own subtree must be finite
 * too: where it is not, another one is drawn. *count is how many are in out[], which has room for
 * how->subtrees. Returns SNIP_UNSUPPORTED if e has no usable subtree. Many parameters: the sample's
 * parts one by one, since a training batch and a test hold them in different structs. */
snip_code data_perturb(data_perturbed *out, size_t *count, const data_perturb_how *how, expr e,
                       const double *const *x, size_t rows, const double *y, rng *r, arena *a);

#endif
