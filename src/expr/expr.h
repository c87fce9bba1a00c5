/* expr.h - formulas as text, tree and values.
 *
 *     arena *a = arena_new(0);
 *     expr e;
 *     if (expr_parse(&e, "sin(x0) + 2.5*x1", NULL, a, &st) == SNIP_OK)
 *         good = expr_eval(e, x, rows, y, a);
 *     arena_free(a);                      // e goes with it
 *
 * A tree is one array in prefix order, the order of its tokens. The subtree at i is the slice
 * [i, i + len): cut and replaced without a pointer. */
#ifndef EXPR_EXPR_H
#define EXPR_EXPR_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "expr/op.h"

enum {
    EXPR_NODES_MAX = 10000,   /* nodes of a formula read from text */
    EXPR_NESTING_MAX = 500,   /* brackets, functions and powers inside each other */
    EXPR_VARIABLES_MAX = 4096 /* x0 .. x4095 */
};

typedef struct expr_node {
    uint8_t op; /* an expr_op */
    uint8_t
        integer : 1;   /* a number written without point or exponent: SNIP has a token for these */
    uint8_t fixed : 1; /* a number that no refit moves; the others are free */
    uint16_t var;      /* of a variable */
    uint32_t len;      /* nodes of the subtree that starts here, itself included */
    double value;      /* of a number */
} expr_node;

/* A view of `count` nodes; who owns them is said where it was made. */
typedef struct expr {
    expr_node *node;
    size_t count;
} expr;

/* Names of the variables 0, 1, ...; NULL stands for x0, x1, ... */
typedef struct expr_names {
    const char *const *name;
    size_t count;
} expr_names;

/* The subtree at node i, a view into e. */
expr expr_subtree(expr e, size_t i);

/* The start of child `slot` (0 or 1) of the node at i. */
size_t expr_child(expr e, size_t i, int slot);

/* One more than the largest variable index, 0 if there are no variables. */
size_t expr_inputs(expr e);

/* Whether variable `var` occurs in e. */
int expr_uses(expr e, size_t var);

/* Edges on the longest path from the root. */
int expr_depth(expr e);

/* The nodes that sympy's preorder_traversal counts for e, where nothing is simplified but what
 * sympy's constructors do to the shape of every formula:
 *   a + b + c, a - b      one Add; a - b is Add(a, Mul(-1, b)), and -(a + b) is -a - b
 *   a*b, a/b, -a, 1/a     one Mul; a/b is Mul(a, Pow(b, -1)), a/(b*c) has two such powers, -1 joins
 *                         the Mul that there is; 1/b alone is Pow(b, -1), 1/b^2 is Pow(b, -2)
 *   2*(a + b), (a*b)^2    2*a + 2*b, a^2*b^2
 *   -2.5, 1/2.5, 2*3      a number
 *   sqrt, cbrt, ^2, 2^a   Pow of two
 *   log2, log10           log(a)*Pow(log(2), -1); log1p and expm1 are spelled out as well
 *   min, max              one node for nested ones
 * Terms and factors that are alike are not joined, but for x*x, and numbers stay under roots and in
 * exponents, so sympy may count otherwise where they could be moved. */
size_t expr_sympy_size(expr e);

/* Whether the two trees are the same node for node, numbers bit for bit. */
int expr_same(expr a, expr b);

/* Sets every node's len from the operators' arities. Returns 0 if the nodes are not one tree. */
int expr_measure(expr e);

/* A new tree in `a`: e with the subtree at i replaced by s. node is NULL when memory is out. */
expr expr_splice(expr e, size_t i, expr s, arena *a);

/* A new tree in `a`: e with every variable i < n replaced by by[i]. node is NULL when memory is
 * out.
 */
expr expr_substitute(expr e, const expr *by, size_t n, arena *a);

/* shift + factor * x_j in `a`, the form in which training expressions scale their inputs, with
 * fixed numbers: they tell units, and are no constants of a formula. node is NULL when memory is
 * out. */
expr expr_affine(double shift, double factor, size_t j, arena *a);

/* Marks all numbers of e as fixed, or as free. */
void expr_set_fixed(expr e, int fixed);

/* Marks as fixed the numbers of exponents that are quotients of whole numbers, written without a
 * point: who writes x^(1/3) or x^(-2/3) means just that root, as with sqrt(x). */
void expr_fix_quotients(expr e);

/* A new tree in `a`: e with its constants gathered, every part as shift + factor * core. The same
 * function up to rounding. A number made of several is free if one of them was. */
snip_code expr_tidy(expr *out, expr e, arena *a, snip_status *st);

/* A copy of e in `a` as people write it: quotients A/(c + exp(u)) with constants A and c > 0 as
 * A'/(1 + exp(u')). The same function up to rounding, with as many constants. node is NULL when
 * memory is out. */
expr expr_spell(expr e, arena *a);

/* The index of a variable spelled x0, x_0 or X0 in text[0..length), or -1. */
int expr_variable_index(const char *text, size_t length);

/* Parses infix, prefix or LaTeX text into a tree living in `a`. `names` may be NULL. On failure
 * out->node is NULL and st->pos is the byte that could not be read. */
snip_code expr_parse(expr *out, const char *text, const expr_names *names, arena *a,
                     snip_status *st);

/* The same where any name may be a variable: columns and parameters. Variables are numbered by the
 * order in which their names appear, and `met` lists these, in `a`. Names that are `known` (NULL:
 * none) go before operators and constants, and only they may stand in quotes; x0 is a name like any
 * other. */
snip_code expr_parse_open(expr *out, expr_names *met, const char *text, const expr_names *known,
                          arena *a, snip_status *st);

/* Whether `name` can stand in a formula without quotes. */
int expr_is_identifier(const char *name);

/* Writes e as text in `a`; it reads back to the same tree, but for SNIP_C: that is for a compiler,
 * and its values are those of expr_eval wherever these are finite, but for rounding. `names` may be
 * NULL. `digits` is the number of significant digits of constants, 0 for as many as it takes to
 * read back; numbers of exponents get more where they would look whole and are not. NULL when
 * memory is out. */
char *expr_print(expr e, snip_format format, const expr_names *names, int digits, arena *a);

/* Writes the shortest of 15 to 17 digits that reads back to v, with a point or an exponent (`8.0`,
 * `1e-07`); buf holds 32 bytes. */
void expr_print_number(char *buf, double v);

/* Fills y, a value per row of the columns x[0], x[1], ...; returns how many are finite, or
 * (size_t)-1 when memory is out. NaN and infinities are results: log(x0) may meet x0 < 0. `tmp` is
 * left as found. */
size_t expr_eval(expr e, const double *const *x, size_t rows, double *y, arena *tmp);

/* The same under raised floating-point errors, as SNIP's generator evaluates: returns 1 if no
 * node over- or underflowed or left its domain at any row, else 0 with y undefined; -1 when memory
 * is out. */
int expr_eval_strict(expr e, const double *const *x, size_t rows, double *y, arena *tmp);

/* The indexes of the numbers that may be fitted, in order; returns how many. These are the free
 * ones but for integral exponents: x^2.0 and x^(-3) are shapes, and near them a negative x has no
 * power. `node` has room for e.count. */
size_t expr_constants(expr e, size_t *node);

/* Fills y as expr_eval does, to the bit, and dy[j*rows + i] with the derivative of y[i] by the
 * number at node[j], for the n numbers of `node`. Where an operator has a kink or a step the
 * derivative is that of one side, or 0 in the middle of abs; where y is not finite it means
 * nothing. Returns 0 when memory is out, else 1. `tmp` is left as found. */
int expr_gradient(expr e, const double *const *x, size_t rows, const size_t *node, size_t n,
                  double *y, double *dy, arena *tmp);

/* The same for one formula at many points: the numbers of `node` change between calls (in e.node,
 * which is not copied), nothing else does. Derivatives at the point of the last values then cost
 * half. Lives in `a`, which is scratch as well; NULL when memory is out. */
typedef struct expr_sweep expr_sweep;

expr_sweep *expr_sweep_new(expr e, const double *const *x, size_t rows, const size_t *node,
                           size_t n, arena *a);

/* Fills y and returns what expr_eval returns. */
size_t expr_sweep_values(expr_sweep *s, double *y);

/* Fills y and dy as expr_gradient does. */
void expr_sweep_slopes(expr_sweep *s, double *y, double *dy);

/* The values of all nodes, and the derivatives of the whole by them: value[i * rows + row],
 * slope[i * rows + row] (NULL: values only). Returns 0 when memory is out. `tmp` is left as found.
 */
int expr_sensitivities(expr e, const double *const *x, size_t rows, double *value, double *slope,
                       arena *tmp);

/* What expr_normal may take for granted. */
typedef struct expr_domain {
    const double *low, *high; /* ranges of the variables, NULL where nothing is known */
    size_t count;
    int assume_positive; /* take a > 0 in a^b wherever the contrary is not certain */
} expr_domain;

/* Rewrites e with SNIP's operators and float constants only, constants folded and put first, as in
 * training expressions (those are left as they are). Exact in exact arithmetic; where it cannot be,
 * SNIP_UNSUPPORTED names the operator. Numbers that come with a rewriting (the 0.5 of sinh, pi,
 * 1/ln 10) are fixed, those of e stay what they were; one folded out of several is free if one of
 * them was. `domain` may be NULL. */
snip_code expr_normal(expr *out, expr e, const expr_domain *domain, arena *a, snip_status *st);

/* The canonical structure of a formula. Formulas that are the same function for some values of
 * their free constants mostly have the same one: terms and factors in a fixed order, constants
 * gathered, no free constant that another one could take the place of. */
typedef struct expr_form {
    expr e;               /* the formula in that structure: the same values, tidy to read */
    expr core;            /* e = shift + factor * core; empty if the formula is a constant */
    double shift, factor; /* factor has the scale and the sign, so that core is oriented */
    uint8_t shift_free, factor_free;

    /* For each node of the given formula: the node of `core` that holds the same function up to
     * shift and factor, or -1 where there is none: constants, and parts that were merged with
     * others or spread. */
    int32_t *where;
    /* given part = s + factor_of * (the part's own canonical core), 0 for constants. */
    double *factor_of;
    /* given part = s + slope * (the values at core node where). It has the sign of factor_of unless
     * a surrounding function needs the core with the other sign: sin(1 - 2*x - 3*y). */
    double *slope;

    uint64_t hash; /* of core with free constants hidden; fixed numbers to 9 digits */
} expr_form;

/* Writes the canonical structure of e, in `a`. Its values are those of e up to rounding, wherever
 * no part of e over- or underflows; it may be finite in more places (x*(1/x) is 1). If e has only
 * SNIP's operators, without div and pow, so has the result, else it is written as users do. Fails
 * with SNIP_UNSUPPORTED if the result would have more than EXPR_NODES_MAX nodes. Sums and products
 * of more than 64 terms keep some of their nesting.
 *
 *   numbers     One made of several is free if one of them was. Neither sign nor size of a free
 *               number shows in the structure (but sqrt(-x) and log(-x) are not sqrt(x) and
 *               log(x)); fixed ones belong to it.
 *   sums        f1*c1 + f2*c2 + ... with a factor pulled out, so that c1 has coefficient 1; where
 *               some f are fixed, the first term with a fixed one has. Cancelled terms disappear.
 *   products    Powers in halves of what is not a product; equal bases join. In (d + e*u)^n, e is
 *               pulled out; under a root and in a logarithm |e| is, and the sign stays as a number.
 *               If d alone is fixed it is d that becomes 1, unless there is a free factor.
 *   functions   exp(s + u), log(k*u), abs(k*u), sin(-u) and the like give up what they can;
 *               exp(u)*exp(v) is exp(u + v), log(u^p) is p*log(u) unless p is even, and u^b with a
 *               free b is exp(b*log(u)), which users read as a power. */
snip_code expr_canonical(expr_form *out, expr e, arena *a, snip_status *st);

#endif
