/* expr.c - what all of this folder needs of a tree. */
#include "expr/expr.h"

#include <string.h>

_Static_assert(sizeof(expr_node) == 16, "trees are kept by the million");

expr expr_subtree(expr e, size_t i)
{
    return (expr){ e.node + i, e.node[i].len };
}

size_t expr_child(expr e, size_t i, int slot)
{
    return slot == 0 ? i + 1 : i + 1 + e.node[i + 1].len;
}

size_t expr_inputs(expr e)
{
    size_t inputs = 0;
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_VARIABLE && e.node[i].var >= inputs)
            inputs = (size_t)e.node[i].var + 1;
    return inputs;
}

int expr_uses(expr e, size_t var)
{
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_VARIABLE && e.node[i].var == var)
            return 1;
    return 0;
}

int expr_depth(expr e)
{
    int deepest = 0;
    for (size_t i = 0; i < e.count; i++) {
        if (expr_ops[e.node[i].op].arity != 0)
            continue;
        int depth = 0; /* of leaf i: the steps from the root, into the child that holds it */
        for (size_t at = 0; at != i; depth++) {
            size_t second = at + 1 + e.node[at + 1].len;
            at = i < second ? at + 1 : second;
        }
        if (depth > deepest)
            deepest = depth;
    }
    return deepest;
}

int expr_same(expr a, expr b)
{
    if (a.count != b.count)
        return 0;
    for (size_t i = 0; i < a.count; i++) {
        const expr_node *p = &a.node[i], *q = &b.node[i];
        if (p->op != q->op)
            return 0;
        if (p->op == EXPR_VARIABLE && p->var != q->var)
            return 0;
        if (p->op == EXPR_NUMBER &&
            (p->integer != q->integer || memcmp(&p->value, &q->value, sizeof p->value) != 0))
            return 0;
    }
    return 1;
}

int expr_measure(expr e)
{
    if (e.count == 0)
        return 0;
    for (size_t i = e.count; i-- > 0;) {
        size_t end = i + 1;
        for (int k = 0; k < expr_ops[e.node[i].op].arity; k++) {
            if (end >= e.count)
                return 0;
            end += e.node[end].len;
        }
        e.node[i].len = (uint32_t)(end - i);
    }
    return e.node[0].len == e.count;
}

expr expr_splice(expr e, size_t i, expr s, arena *a)
{
    size_t cut = e.node[i].len, tail = e.count - i - cut;
    expr out = { arena_array(a, e.count - cut + s.count, sizeof *out.node),
                 e.count - cut + s.count };
    if (!out.node)
        return out;
    memcpy(out.node, e.node, i * sizeof *e.node);
    memcpy(out.node + i, s.node, s.count * sizeof *e.node);
    memcpy(out.node + i + s.count, e.node + i + cut, tail * sizeof *e.node);
    /* Only the ancestors of i change their length. */
    for (size_t at = 0; at != i;) {
        out.node[at].len += (uint32_t)s.count - (uint32_t)cut;
        size_t second = at + 1 + e.node[at + 1].len;
        at = i < second ? at + 1 : second;
    }
    return out;
}

expr expr_affine(double shift, double factor, size_t j, arena *a)
{
    expr e = { arena_zero(a, 5 * sizeof *e.node), 5 };
    if (!e.node)
        return e;
    e.node[0].op = EXPR_ADD;
    e.node[1] = (expr_node){ .op = EXPR_NUMBER, .fixed = 1, .value = shift };
    e.node[2].op = EXPR_MUL;
    e.node[3] = (expr_node){ .op = EXPR_NUMBER, .fixed = 1, .value = factor };
    e.node[4] = (expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)j };
    expr_measure(e);
    return e;
}

void expr_set_fixed(expr e, int fixed)
{
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_NUMBER)
            e.node[i].fixed = fixed != 0;
}

expr expr_substitute(expr e, const expr *by, size_t n, arena *a)
{
    expr out = { NULL, 0 };
    for (size_t i = 0; i < e.count; i++) {
        int replaced = e.node[i].op == EXPR_VARIABLE && e.node[i].var < n;
        out.count += replaced ? by[e.node[i].var].count : 1;
    }
    out.node = arena_array(a, out.count, sizeof *out.node);
    for (size_t i = 0, at = 0; i < e.count && out.node; i++)
        if (e.node[i].op == EXPR_VARIABLE && e.node[i].var < n) {
            const expr *s = &by[e.node[i].var];
            memcpy(out.node + at, s->node, s->count * sizeof *s->node);
            at += s->count;
        } else {
            out.node[at++] = e.node[i];
        }
    if (out.node)
        expr_measure(out);
    return out;
}
