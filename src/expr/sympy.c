/* sympy.c - the size of a formula as sympy counts it.
 *
 * sympy has sums and products of any length, no difference, quotient or negation: what is one tree
 * here is another there. The walk follows a chain of sums or of products to its ends and keeps the
 * sign, or whether it is below the line, on the way. */
#include "expr/expr.h"

/* Ends of a product. */
typedef struct factors {
    size_t count, nodes;
    int negative;
} factors;

static size_t measure(expr e, size_t i, int negative);

/* The node below the minus signs at i; `negative` changes with each. */
static size_t unsign(expr e, size_t i, int *negative)
{
    for (; e.node[i].op == EXPR_NEG; i++)
        *negative = !*negative;
    return i;
}

static int is_sum(expr e, size_t i)
{
    int op = e.node[i].op;
    return op == EXPR_ADD || op == EXPR_SUB || op == EXPR_EXPM1; /* exp(a) - 1 */
}

/* Nodes of the terms of the sum at i, without the Add itself. A minus goes to every term. */
static size_t terms(expr e, size_t i, int negative)
{
    i = unsign(e, i, &negative);
    switch (e.node[i].op) {
    case EXPR_ADD:
        return terms(e, i + 1, negative) + terms(e, expr_child(e, i, 1), negative);
    case EXPR_SUB:
        return terms(e, i + 1, negative) + terms(e, expr_child(e, i, 1), !negative);
    case EXPR_EXPM1:
        return (negative ? 4 : 2) + measure(e, i + 1, 0);
    default:
        return measure(e, i, negative);
    }
}

/* Nodes of all operands of nested Min or Max. */
static size_t operands(expr e, size_t i, int op)
{
    if (e.node[i].op != op)
        return measure(e, i, 0);
    return operands(e, i + 1, op) + operands(e, expr_child(e, i, 1), op);
}

/* What is neither a product nor a sign. */
static size_t single(expr e, size_t i, int negative)
{
    int op = e.node[i].op, sign = 0;
    if (is_sum(e, i))
        return 1 + terms(e, i, negative);
    switch (op) {
    case EXPR_POW:
        return 1 + measure(e, i + 1, 0) + measure(e, expr_child(e, i, 1), 0);
    case EXPR_POW2: /* Pow(a, 2), Pow(a, 1/2), Pow(2, a) */
    case EXPR_POW3:
    case EXPR_SQRT:
    case EXPR_CBRT:
    case EXPR_EXP2:
        return 2 + measure(e, i + 1, 0);
    case EXPR_LOG1P: /* log(1 + a), where a may be a sum itself */
        return 3 + (is_sum(e, unsign(e, i + 1, &sign)) ? terms(e, i + 1, 0) : measure(e, i + 1, 0));
    case EXPR_MIN:
    case EXPR_MAX:
        return 1 + operands(e, i, op);
    default:
        return 1 + (expr_ops[op].arity ? measure(e, i + 1, 0) : 0);
    }
}

/* Whether 1/that needs no further nodes: 1/2 is a number, 1/x^2 is Pow(x, -2). */
static int inverts_freely(expr e, size_t i)
{
    switch (e.node[i].op) {
    case EXPR_NUMBER:
    case EXPR_POW2:
    case EXPR_POW3:
    case EXPR_SQRT:
    case EXPR_CBRT:
        return 1;
    case EXPR_POW:
        return e.node[expr_child(e, i, 1)].op == EXPR_NUMBER;
    default:
        return 0;
    }
}

static void collect(factors *f, expr e, size_t i, int inverse)
{
    int negative = 0;
    i = unsign(e, i, &negative);
    const expr_node *n = &e.node[i];
    if (!is_sum(e, i) && n->op != EXPR_NUMBER) { /* these take the minus themselves */
        f->negative ^= negative;
        negative = 0;
    }
    switch (n->op) {
    case EXPR_MUL:
        collect(f, e, i + 1, inverse);
        collect(f, e, expr_child(e, i, 1), inverse);
        break;
    case EXPR_DIV:
        if (!(n[1].op == EXPR_NUMBER && n[1].integer && n[1].value == 1)) /* 1/b is inv(b) */
            collect(f, e, i + 1, inverse);
        collect(f, e, expr_child(e, i, 1), !inverse);
        break;
    case EXPR_INV:
        collect(f, e, i + 1, !inverse);
        break;
    case EXPR_LOG2: /* log(a)/log(2): the Pow and its -1 are with the one or the other */
    case EXPR_LOG10:
        f->count += 2;
        f->nodes += 5 + measure(e, i + 1, 0);
        break;
    default:
        f->count++;
        f->nodes += single(e, i, negative) + (inverse && !inverts_freely(e, i) ? 2 : 0);
    }
}

/* The nodes of the subtree at i, or of its negative. */
static size_t measure(expr e, size_t i, int negative)
{
    i = unsign(e, i, &negative);
    if (is_sum(e, i) || e.node[i].op == EXPR_NUMBER)
        return single(e, i, negative);
    factors f = { .negative = negative };
    collect(&f, e, i, 0);
    return f.nodes + (f.negative ? 1 : 0) + (f.count + (size_t)f.negative > 1 ? 1 : 0);
}

size_t expr_sympy_size(expr e)
{
    return measure(e, 0, 0);
}
