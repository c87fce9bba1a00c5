/* products_prune.c - shorter neighbours of the best formulas so far. */
#include "search/build.h"
#include "search/products_int.h"

#include <math.h>

enum { PRUNED = 16 }; /* formulas that are looked at */

/* The formulas that are worth a look: the best by description length so far. */
static size_t best_kept(const search *s, const search_entry **out, size_t room)
{
    size_t count, n = 0;
    const search_entry *kept = search_kept(s, &count);
    for (size_t k = 0; k < count; k++) {
        size_t p = n < room ? n++ : room;
        for (; p > 0 && out[p - 1]->bits > kept[k].bits; p--)
            if (p < room)
                out[p] = out[p - 1];
        if (p < room)
            out[p] = &kept[k];
    }
    return n;
}

typedef struct pruning {
    const search_entry *of[PRUNED];
    search_view own; /* the user's inputs as they are */
} pruning;

/* Offers a formula with one thing less: a term of a sum, a factor, or an exponent that is nearly a
 * half or nothing. */
static void prune(search_job *j, void *context)
{
    const pruning *p = context;
    expr e = p->of[j->index]->e;
    arena *a = j->tmp;
    for (size_t i = 0; i < e.count && !search_job_over(j); i++) {
        int op = e.node[i].op;
        arena_pos mark = arena_mark(a);
        if (op == EXPR_ADD || op == EXPR_SUB || op == EXPR_MUL || op == EXPR_DIV) {
            for (int slot = 0; slot < 2; slot++) {
                expr one = expr_subtree(e, expr_child(e, i, slot));
                if (op == EXPR_DIV && slot == 1)
                    one = search_unary(EXPR_INV, one, a);
                if (one.node)
                    search_offer_hard(j, &p->own, expr_splice(e, i, one, a), 1);
            }
        } else if (op == EXPR_POW) {
            const expr_node *n = &e.node[expr_child(e, i, 1)];
            expr base = expr_subtree(e, expr_child(e, i, 0));
            double half = search_products_halves(n->value);
            if (n->op != EXPR_NUMBER || n->fixed || fabs(n->value - half) > 0.25)
                continue;
            expr one = half == 0 ? search_fixed(1, a) : search_power(base, half, a);
            if (one.node)
                search_offer_hard(j, &p->own, expr_splice(e, i, one, a), 1);
        }
        arena_reset(a, mark);
    }
}

snip_code search_products_prune(search *s, snip_status *st)
{
    snip_code code = SNIP_OK;
    for (int turn = 0; turn < 2 && code == SNIP_OK && !search_over(s); turn++) {
        pruning p = { .own = { .dim = s->dim,
                               .rows = s->rows[0],
                               .x = (const double *const *)s->x,
                               .y = s->y } };
        size_t n = best_kept(s, p.of, PRUNED);
        code = search_round(s, n, UINT64_MAX, prune, &p, st);
    }
    return code;
}
