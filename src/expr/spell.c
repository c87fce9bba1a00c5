/* spell.c - saturation curves as textbooks write them: A/(1 + exp(d - k*x)), not B/(c + exp(-k*x)).
 *
 * Both have three constants and are the same function. The canonical structure is the second, since
 * it is shorter; people know the first, whose A is the value that the curve tends to. */
#include <math.h>
#include <string.h>

#include "expr/expr_int.h"

/* Whether node i is a number that was fitted or may be. */
static int is_constant(expr e, size_t i)
{
    return e.node[i].op == EXPR_NUMBER && !e.node[i].fixed && !e.node[i].integer;
}

/* The leading constant of the numerator at i, or e.count. */
static size_t leading(expr e, size_t i)
{
    while (e.node[i].op == EXPR_MUL)
        i++;
    return is_constant(e, i) ? i : e.count;
}

/* The quotient at i as A/(c + exp(u)) or A/(exp(u) + c): where A, c and exp(u) stand. */
typedef struct quotient {
    size_t factor, shift, exp;
} quotient;

static int matches(quotient *q, expr e, size_t i)
{
    if (e.node[i].op != EXPR_DIV)
        return 0;
    size_t sum = expr_child(e, i, 1);
    if (e.node[sum].op != EXPR_ADD)
        return 0;
    size_t one = sum + 1, other = expr_child(e, sum, 1);
    q->factor = leading(e, i + 1);
    q->shift = e.node[one].op == EXPR_NUMBER ? one : other;
    q->exp = e.node[one].op == EXPR_NUMBER ? other : one;
    return q->factor < e.count && is_constant(e, q->shift) && e.node[q->exp].op == EXPR_EXP &&
           e.node[q->shift].value > 0 && isfinite(e.node[q->shift].value);
}

/* The number that u = d + w or d - w or w + d adds, or e.count. */
static size_t offset(expr e, size_t u)
{
    int op = e.node[u].op;
    if (op != EXPR_ADD && op != EXPR_SUB)
        return e.count;
    if (is_constant(e, u + 1))
        return u + 1;
    size_t second = expr_child(e, u, 1);
    return op == EXPR_ADD && is_constant(e, second) ? second : e.count;
}

/* d + u, or d - k*v where u is -k*v. node is NULL when memory is out. */
static expr shifted(double d, expr u, arena *a)
{
    int minus = u.node[0].op == EXPR_NEG,
        turned = u.node[0].op == EXPR_MUL && u.node[1].op == EXPR_NUMBER && u.node[1].value < 0;
    expr rest = minus ? expr_subtree(u, 1) : u, out = { NULL, rest.count + 2 };
    if (!(out.node = arena_zero(a, out.count * sizeof *out.node)))
        return out;
    out.node[0].op = minus || turned ? EXPR_SUB : EXPR_ADD;
    out.node[1] = (expr_node){ .op = EXPR_NUMBER, .value = d };
    memcpy(out.node + 2, rest.node, rest.count * sizeof *rest.node);
    if (turned)
        out.node[3].value = -out.node[3].value;
    expr_measure(out);
    return out;
}

expr expr_spell(expr e, arena *a)
{
    expr out = { arena_copy(a, e.node, e.count * sizeof *e.node), e.count };
    for (size_t i = 0; out.node && i < out.count; i++) {
        quotient q;
        if (!matches(&q, out, i))
            continue;
        double c = out.node[q.shift].value, value = out.node[q.factor].value / c;
        size_t at = offset(out, q.exp + 1);
        if (!isfinite(value) || value == 0)
            continue;
        out.node[q.factor].value = value;
        out.node[q.shift] =
            (expr_node){ .op = EXPR_NUMBER, .integer = 1, .fixed = 1, .value = 1, .len = 1 };
        if (at < out.count) {
            out.node[at].value -= log(c);
            continue;
        }
        expr u = shifted(-log(c), expr_subtree(out, q.exp + 1), a);
        out = u.node ? expr_splice(out, q.exp + 1, u, a) : u;
    }
    return out;
}
