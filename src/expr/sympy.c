/* sympy.c - the size of a formula as sympy counts it.
 *
 * sympy has sums and products of any length, no difference, quotient or negation: what is one tree
 * here is another there. The walk follows a chain of sums or of products to its ends and keeps the
 * coefficient, or whether it is below the line, on the way. */
#include "expr/expr.h"

/* What number stands before a product: none, -1, or any other; all numbers of it are joined. */
typedef enum coefficient { ONE, MINUS, OTHER } coefficient;

typedef struct factors {
    size_t count, nodes; /* without the coefficient */
    coefficient k;
    uint64_t once, again; /* the first 64 variables: those that are a factor, and twice or more */
} factors;

typedef struct terms {
    size_t count, nodes; /* without numbers, which are joined */
    int number;
} terms;

static size_t measure(expr e, size_t i, coefficient k);

static coefficient times(coefficient a, coefficient b)
{
    return a == OTHER || b == OTHER ? OTHER : a == b ? ONE : MINUS;
}

/* The node below the minus signs at i; *k changes with each. */
static size_t unsign(expr e, size_t i, coefficient *k)
{
    for (; e.node[i].op == EXPR_NEG; i++)
        *k = times(*k, MINUS);
    return i;
}

static int is_number(expr e, size_t i)
{
    coefficient any = ONE;
    return e.node[unsign(e, i, &any)].op == EXPR_NUMBER;
}

/* Whether the node at *i is a sum, or one times a number, which sympy multiplies out: 2*(a + b) is
 * 2*a + 2*b. Then *i becomes the sum's node and *k takes up the number. */
static int find_sum(expr e, size_t *i, coefficient *k)
{
    coefficient found = *k;
    for (size_t j = *i;;) {
        j = unsign(e, j, &found);
        int op = e.node[j].op;
        if (op == EXPR_ADD || op == EXPR_SUB || op == EXPR_EXPM1) { /* exp(a) - 1 */
            *i = j;
            *k = found;
            return 1;
        }
        if (op == EXPR_MUL && is_number(e, j + 1))
            j = expr_child(e, j, 1);
        else if ((op == EXPR_MUL || op == EXPR_DIV) && is_number(e, expr_child(e, j, 1)))
            j++;
        else
            return 0;
        found = OTHER;
    }
}

/* The terms of k times the node at i. */
static void add_terms(terms *t, expr e, size_t i, coefficient k)
{
    if (is_number(e, i)) {
        t->number = 1;
    } else if (!find_sum(e, &i, &k)) {
        t->count++;
        t->nodes += measure(e, i, k);
    } else if (e.node[i].op == EXPR_EXPM1) {
        t->count++;
        t->nodes += 1 + measure(e, i + 1, ONE) + (k == ONE ? 0 : 2);
        t->number = 1;
    } else {
        add_terms(t, e, i + 1, k);
        add_terms(t, e, expr_child(e, i, 1), e.node[i].op == EXPR_SUB ? times(k, MINUS) : k);
    }
}

/* k times the sum at i, with `more` further numbers as terms. */
static size_t whole_sum(expr e, size_t i, coefficient k, int more)
{
    terms t = { .number = more };
    add_terms(&t, e, i, k);
    size_t count = t.count + (size_t)t.number;
    return t.nodes + (size_t)t.number + (count > 1 ? 1 : 0);
}

/* Nodes of all operands of nested Min or Max. */
static size_t operands(expr e, size_t i, int op)
{
    if (e.node[i].op != op)
        return measure(e, i, ONE);
    return operands(e, i + 1, op) + operands(e, expr_child(e, i, 1), op);
}

/* What is neither a sum nor a product nor a sign. */
static size_t single(expr e, size_t i)
{
    int op = e.node[i].op;
    switch (op) {
    case EXPR_POW:
    case EXPR_ATAN2:
        return 1 + measure(e, i + 1, ONE) + measure(e, expr_child(e, i, 1), ONE);
    case EXPR_POW2: /* Pow(a, 2), Pow(a, 1/2), Pow(2, a) */
    case EXPR_POW3:
    case EXPR_SQRT:
    case EXPR_CBRT:
    case EXPR_EXP2:
        return 2 + measure(e, i + 1, ONE);
    case EXPR_LOG1P: /* log(1 + a), where a may be a sum itself */
        return 1 + whole_sum(e, i + 1, ONE, 1);
    case EXPR_MIN:
    case EXPR_MAX:
        return 1 + operands(e, i, op);
    default:
        return 1 + (expr_ops[op].arity ? measure(e, i + 1, ONE) : 0);
    }
}

/* Whether a power of that with a number needs no further nodes: 1/x^2 is Pow(x, -2). */
static int has_exponent(expr e, size_t i)
{
    switch (e.node[i].op) {
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

static int is_product(expr e, size_t i)
{
    coefficient any = ONE;
    size_t at = i;
    int op = e.node[unsign(e, i, &any)].op;
    return (op == EXPR_MUL || op == EXPR_DIV || op == EXPR_INV) && !find_sum(e, &at, &any);
}

/* x*x is Pow(x, 2). Returns whether the variable is a factor already. */
static int joins(factors *f, unsigned var)
{
    if (var >= 64)
        return 0;
    uint64_t bit = (uint64_t)1 << var;
    int there = (f->once & bit) != 0;
    if (there && !(f->again & bit))
        f->nodes += 2;
    f->again |= f->once & bit;
    f->once |= bit;
    return there;
}

/* The factors of the node at i, or of its power with some number: 2, 3, -1. */
static void collect(factors *f, expr e, size_t i, int power)
{
    coefficient own = ONE;
    size_t sum = i;
    if (find_sum(e, &sum, &own)) { /* it takes its coefficient itself */
        f->count++;
        f->nodes += whole_sum(e, sum, own, 0) + (power != 1 ? 2 : 0);
        return;
    }
    i = unsign(e, i, &own);
    if (power % 2)
        f->k = times(f->k, own);
    switch (e.node[i].op) {
    case EXPR_NUMBER:
        if (!(e.node[i].integer && e.node[i].value == 1))
            f->k = OTHER;
        break;
    case EXPR_MUL:
        collect(f, e, i + 1, power);
        collect(f, e, expr_child(e, i, 1), power);
        break;
    case EXPR_DIV:
        collect(f, e, i + 1, power);
        collect(f, e, expr_child(e, i, 1), -power);
        break;
    case EXPR_INV:
        collect(f, e, i + 1, -power);
        break;
    case EXPR_VARIABLE:
        if (power != 1 || !joins(f, e.node[i].var)) {
            f->count++;
            f->nodes += power == 1 ? 1 : 3;
        }
        break;
    case EXPR_LOG2: /* log(a)/log(2): the Pow and its -1 are with the one or the other */
    case EXPR_LOG10:
        f->count += 2;
        f->nodes += 5 + measure(e, i + 1, ONE) + (power == 1 || power == -1 ? 0 : 2);
        break;
    case EXPR_POW2: /* (a*b)^2 is a^2*b^2 */
    case EXPR_POW3:
        if (is_product(e, i + 1)) {
            collect(f, e, i + 1, power * (e.node[i].op == EXPR_POW2 ? 2 : 3));
            break;
        }
        /* fall through */
    default:
        f->count++;
        f->nodes += single(e, i) + (power != 1 && !has_exponent(e, i) ? 2 : 0);
    }
}

/* The nodes of k times the subtree at i. */
static size_t measure(expr e, size_t i, coefficient k)
{
    if (is_number(e, i))
        return 1;
    if (find_sum(e, &i, &k))
        return whole_sum(e, i, k, 0);
    factors f = { .k = k };
    collect(&f, e, i, 1);
    size_t number = f.k == ONE && f.count > 0 ? 0 : 1;
    return f.nodes + number + (f.count + number > 1 ? 1 : 0);
}

size_t expr_sympy_size(expr e)
{
    return measure(e, 0, ONE);
}
