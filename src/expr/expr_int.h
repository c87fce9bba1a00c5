/* expr_int.h - what this folder keeps to itself: mostly trees while they are being built.
 *
 * A finished tree is an array in prefix order. While reading or rewriting, operands exist before
 * their operator, so nodes are collected in a pool with links to their operands, and flattened in
 * the end. */
#ifndef EXPR_EXPR_INT_H
#define EXPR_EXPR_INT_H

#include "expr/expr.h"

typedef struct expr_pool_node {
    expr_node node;
    int kid[2];
    double low, high; /* range of its values, kept by expr_normal */
} expr_pool_node;

typedef struct expr_pool {
    expr_pool_node *at;
    size_t count, room;
    arena *a;
} expr_pool;

/* Adds a node and returns its place, or -1 when memory is out. kid1 and kid2 are places or -1. */
int expr_pool_add(expr_pool *p, expr_node node, int kid1, int kid2);

/* The tree below `root` in prefix order, in `a`. A node used twice is written twice. Fails where
 * the result would have more than EXPR_NODES_MAX nodes. */
snip_code expr_pool_flatten(expr *out, const expr_pool *p, int root, arena *a, snip_status *st);

/* The value of a number or of a named constant. */
double expr_leaf_value(const expr_node *node);

/* What LaTeX writes for a character of a name that no backslash escapes there: \, ^ and ~, which
 * would end a row, raise or part. It ends with the blank that ends a command. NULL for others. */
const char *expr_latex_sign(char c);

/* Whether a variable cannot have this name in C, where the language (C23) or what formulas use of
 * its library has it; and in text for sympy.sympify, where it is something of sympy's or Python's,
 * or no name at all. */
int expr_taken_in_c(const char *name);
int expr_taken_in_sympy(const char *name);

/* np.sin, math.sqrt, sympy.Abs: the module says nothing new. Returns its length with the dot. */
size_t expr_module_length(const char *name, size_t length);

#endif
