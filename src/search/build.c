/* build.c - see build.h. */
#include "search/build.h"

#include <math.h>
#include <string.h>

static expr leaf(expr_node node, arena *a)
{
    node.len = 1;
    return (expr){ arena_copy(a, &node, sizeof node), 1 };
}

expr search_variable(size_t j, arena *a)
{
    return leaf((expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)j }, a);
}

expr search_number(double v, arena *a)
{
    return leaf((expr_node){ .op = EXPR_NUMBER, .value = v }, a);
}

expr search_fixed(double v, arena *a)
{
    int whole = v == floor(v) && fabs(v) < 1e6;
    return leaf((expr_node){ .op = EXPR_NUMBER, .value = v, .fixed = 1, .integer = whole & 1 }, a);
}

static expr join(expr_op op, expr u, expr w, arena *a)
{
    expr e = { NULL, 1 + u.count + w.count };
    if (!u.node || (expr_ops[op].arity == 2 && !w.node))
        return e;
    e.node = arena_array(a, e.count, sizeof *e.node);
    if (!e.node)
        return e;
    e.node[0] = (expr_node){ .op = (uint8_t)op, .len = (uint32_t)e.count };
    memcpy(e.node + 1, u.node, u.count * sizeof *e.node);
    if (w.count)
        memcpy(e.node + 1 + u.count, w.node, w.count * sizeof *e.node);
    return e;
}

expr search_unary(expr_op op, expr u, arena *a)
{
    return join(op, u, (expr){ NULL, 0 }, a);
}

expr search_binary(expr_op op, expr u, expr w, arena *a)
{
    return join(op, u, w, a);
}

expr search_power(expr u, double p, arena *a)
{
    if (p == 1)
        return u;
    if (p < 0 && p != -0.5)
        return search_unary(EXPR_INV, search_power(u, -p, a), a);
    if (p == -0.5)
        return search_unary(EXPR_INV, search_unary(EXPR_SQRT, u, a), a);
    if (p == 0.5)
        return search_unary(EXPR_SQRT, u, a);
    if (p == 2)
        return search_unary(EXPR_POW2, u, a);
    if (p == 3)
        return search_unary(EXPR_POW3, u, a);
    return search_binary(EXPR_POW, u, search_fixed(p, a), a);
}
