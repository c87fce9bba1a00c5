/* eval.c - values of a formula, a block of rows at a time.
 *
 * Nodes are visited from the last to the first, so operands are ready before their operator: a
 * stack machine without recursion. The stack holds pointers; variables are read where they are,
 * everything else lives in a slot of its own depth, written in place. */
#include <math.h>
#include <string.h>

#include "expr/expr_int.h"
#include "expr/vec.h"

enum { BLOCK = 256 }; /* rows at a time: slots of 2 KB stay in the first-level cache */

extern const expr_vec expr_vec_generic, expr_vec_avx2, expr_vec_avx512;

const expr_vec *expr_vec_for(isa which)
{
    static const expr_vec *const tables[ISA_COUNT] = ISA_VARIANTS(&expr_vec);
    return tables[which];
}

const expr_vec *expr_vec_best(void)
{
    return expr_vec_for(isa_best());
}

double expr_leaf_value(const expr_node *node)
{
    switch (node->op) {
    case EXPR_PI:
        return M_PI;
    case EXPR_E:
        return M_E;
    case EXPR_GAMMA:
        return EXPR_EULER_GAMMA;
    default:
        return node->value;
    }
}

/* The deepest the stack gets. */
static size_t stack_depth(expr e)
{
    size_t depth = 0, most = 0;
    for (size_t i = e.count; i-- > 0;) {
        int arity = expr_ops[e.node[i].op].arity;
        depth = depth + 1 - (size_t)arity;
        if (depth > most)
            most = depth;
    }
    return most;
}

/* The stack of columns that operators work on, and room for those of a block. */
typedef struct machine {
    const expr_vec *vec;
    const double **stack;
    double *slots;
    int strict;
} machine;

/* Evaluates rows [row, row + n) into y. If strict, stops with 0 at the first node that has an over-
 * or underflow or leaves its domain. */
static int eval_block(const machine *m, expr e, const double *const *x, size_t row, size_t n,
                      double *y)
{
    const expr_vec *vec = m->vec;
    const double **stack = m->stack;
    size_t top = 0;
    for (size_t i = e.count; i-- > 0;) {
        const expr_node *node = &e.node[i];
        int arity = expr_ops[node->op].arity;
        if (node->op == EXPR_VARIABLE) {
            stack[top++] = x[node->var] + row;
            continue;
        }
        size_t at = top - (size_t)arity;
        double *out = i == 0 ? y : m->slots + at * BLOCK;
        if (arity == 0) {
            double c = expr_leaf_value(node);
            for (size_t r = 0; r < n; r++)
                out[r] = c;
        } else if (arity == 1) {
            vec->unary[node->op](out, stack[at], n);
        } else {
            vec->binary[node->op](out, stack[at + 1], stack[at], n);
        }
        if (m->strict && arity > 0) {
            int vanishes = expr_ops[node->op].vanishes;
            if (!(vanishes ? vec->all_normal(out, n) : vec->all_finite(out, n)))
                return 0;
        }
        stack[at] = out;
        top = at + 1;
    }
    if (stack[0] != y)
        memcpy(y, stack[0], n * sizeof *y);
    return 1;
}

/* Returns 1, 0 if a strict evaluation stopped, or -1 when memory is out. */
static int eval(expr e, const double *const *x, size_t rows, double *y, arena *tmp, int strict)
{
    arena_pos mark = arena_mark(tmp);
    size_t depth = stack_depth(e);
    const machine m = { expr_vec_best(), arena_array(tmp, depth, sizeof *m.stack),
                        arena_array(tmp, depth, BLOCK * sizeof *m.slots), strict };
    int good = m.stack && m.slots ? 1 : -1;
    for (size_t row = 0; row < rows && good == 1; row += BLOCK) {
        size_t n = rows - row < BLOCK ? rows - row : BLOCK;
        good = eval_block(&m, e, x, row, n, y + row);
    }
    arena_reset(tmp, mark);
    return good;
}

size_t expr_eval(expr e, const double *const *x, size_t rows, double *y, arena *tmp)
{
    if (eval(e, x, rows, y, tmp, 0) < 0)
        return (size_t)-1;
    return expr_vec_best()->finite(y, rows);
}

int expr_eval_strict(expr e, const double *const *x, size_t rows, double *y, arena *tmp)
{
    return eval(e, x, rows, y, tmp, 1);
}
