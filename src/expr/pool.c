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

snip_code expr_pool_flatten(expr *out, const expr_pool *p, int root, arena *a, snip_status *st)
{
    *out = (expr){ NULL, 0 };
    /* Every step of the walk takes one place from the stack and adds at most two. */
    expr_node *nodes = arena_array(a, EXPR_NODES_MAX, sizeof *nodes);
    int *stack = arena_array(a, EXPR_NODES_MAX + 2, sizeof *stack);
    if (!nodes || !stack)
        return status_nomem(st);
    size_t top = 0, count = 0;
    stack[top++] = root;
    while (top > 0) {
        const expr_pool_node *n = &p->at[stack[--top]];
        if (count == EXPR_NODES_MAX)
            return status_fail(st, SNIP_UNSUPPORTED, 0, "formula has more than %d nodes",
                               EXPR_NODES_MAX);
        nodes[count++] = n->node;
        for (int slot = expr_ops[n->node.op].arity; slot-- > 0;)
            stack[top++] = n->kid[slot];
    }
    expr e = { nodes, count };
    expr_measure(e);
    *out = e;
    return SNIP_OK;
}
