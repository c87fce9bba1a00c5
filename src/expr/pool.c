/* pool.c - trees while they are being built; see expr_int.h. */
#include "expr/expr_int.h"

#include <string.h>

int expr_pool_add(expr_pool *p, expr_node node, int kid1, int kid2)
{
    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 64;
        expr_pool_node *more = arena_array(p->a, room, sizeof *more);
        if (!more)
            return -1;
        if (p->count)
            memcpy(more, p->at, p->count * sizeof *more);
        p->at = more;
        p->room = room;
    }
    p->at[p->count] = (expr_pool_node){ .node = node, .kid = { kid1, kid2 } };
    return (int)p->count++;
}

/* Writes the nodes below `root` in prefix order to `out`, or only counts them if that is NULL.
 * Stops counting beyond EXPR_NODES_MAX. */
static size_t walk(const expr_pool *p, int root, int *stack, expr_node *out)
{
    size_t top = 0, count = 0;
    stack[top++] = root;
    while (top > 0 && count <= EXPR_NODES_MAX) {
        const expr_pool_node *n = &p->at[stack[--top]];
        if (out)
            out[count] = n->node;
        count++;
        for (int slot = expr_ops[n->node.op].arity; slot-- > 0;)
            stack[top++] = n->kid[slot];
    }
    return count;
}

snip_code expr_pool_flatten(expr *out, const expr_pool *p, int root, arena *a, snip_status *st)
{
    *out = (expr){ NULL, 0 };
    /* Below a node wait at most the second operands of it and its ancestors. */
    int *stack = arena_array(a, p->count + 2, sizeof *stack);
    if (!stack)
        return status_nomem(st);
    expr e = { .count = walk(p, root, stack, NULL) };
    if (e.count > EXPR_NODES_MAX)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "formula has more than %d nodes",
                           EXPR_NODES_MAX);
    e.node = arena_array(a, e.count, sizeof *e.node);
    if (!e.node)
        return status_nomem(st);
    walk(p, root, stack, e.node);
    expr_measure(e);
    *out = e;
    return SNIP_OK;
}
