/* tidy.c - constants gathered: every part as shift + factor * core.
 *
 * Substituting a + b*x for a variable leaves products of sums of constants behind. Written as
 * shift + factor * core, such parts join into one pair of constants; that is also the form of the
 * training expressions. */
#include <math.h>

#include "expr/expr_int.h"

enum { CONSTANT = -1, FAILED = -2 };

typedef struct part {
    double shift, factor;
    int core; /* place in the pool; CONSTANT: the part is the number `shift`; FAILED: no memory */
    int free[2]; /* whether shift and factor are made of free numbers */
} part;

static part core_of(double shift, double factor, int at, int shift_free, int factor_free)
{
    return (part){ shift, factor, at < 0 ? FAILED : at, { shift != 0 && shift_free, factor_free } };
}

/* A number that may take the place of what it was computed from. */
static int usable(double v)
{
    return isfinite(v) && (v == 0 || fabs(v) > 1e-300);
}

static int number(expr_pool *p, double v, int is_free)
{
    return expr_pool_add(p, (expr_node){ .op = EXPR_NUMBER, .fixed = !is_free, .value = v }, -1,
                         -1);
}

static int join(expr_pool *p, expr_op op, int a, int b)
{
    return a < 0 || b < 0 ? -1 : expr_pool_add(p, (expr_node){ .op = (uint8_t)op }, a, b);
}

/* The part as nodes; with or without its shift. -1 when memory is out. */
static int written(expr_pool *p, const part *s, int with_shift)
{
    if (s->core < 0)
        return s->core == FAILED ? -1 : number(p, s->shift, s->free[0]);
    int at =
        s->factor == 1 ? s->core : join(p, EXPR_MUL, number(p, s->factor, s->free[1]), s->core);
    return with_shift && s->shift != 0 ? join(p, EXPR_ADD, number(p, s->shift, s->free[0]), at)
                                       : at;
}

/* sign is 1 for a sum, -1 for a difference. */
static part sum(expr_pool *p, const part *a, const part *b, int sign)
{
    double shift = a->shift + sign * b->shift;
    int is_free = a->free[0] || b->free[0];
    if (usable(shift) && b->core == CONSTANT)
        return (part){ shift, a->factor, a->core, { is_free, a->free[1] } };
    if (usable(shift) && a->core == CONSTANT)
        return (part){ shift, sign * b->factor, b->core, { is_free, b->free[1] } };
    int all = !usable(shift); /* the shifts stay where they are */
    int at = join(p, sign > 0 ? EXPR_ADD : EXPR_SUB, written(p, a, all), written(p, b, all));
    return core_of(all ? 0 : shift, 1, at, is_free, 0);
}

static part scaled(const part *a, double by, int is_free)
{
    int shift_free = a->free[0] || (is_free && (a->core == CONSTANT || a->shift != 0));
    return (part){ a->shift * by, a->factor * by, a->core, { shift_free, a->free[1] || is_free } };
}

/* Whether v * by may take the place of both; it is 0 only if one of them is. */
static int can_multiply(double v, double by)
{
    return usable(v * by) && (v * by != 0 || v == 0 || by == 0);
}

static int can_scale(const part *a, double by)
{
    return by != 0 && can_multiply(a->shift, by) &&
           (a->core == CONSTANT || can_multiply(a->factor, by));
}

static part product(expr_pool *p, const part *a, const part *b)
{
    if (a->core == CONSTANT && can_scale(b, a->shift))
        return scaled(b, a->shift, a->free[0]);
    if (b->core == CONSTANT && can_scale(a, b->shift))
        return scaled(a, b->shift, b->free[0]);
    /* Factors of parts without shift come to the front. */
    part left = *a, right = *b;
    double factor = 1;
    int is_free = 0;
    if (left.core >= 0 && left.shift == 0 && can_multiply(factor, left.factor)) {
        factor *= left.factor;
        is_free |= left.free[1];
        left.factor = 1;
    }
    if (right.core >= 0 && right.shift == 0 && can_multiply(factor, right.factor)) {
        factor *= right.factor;
        is_free |= right.free[1];
        right.factor = 1;
    }
    int at = join(p, EXPR_MUL, written(p, &left, 1), written(p, &right, 1));
    return core_of(0, factor, at, 0, is_free);
}

/* The node at i, given the parts of its operands. */
static part part_of(expr_pool *p, expr e, size_t i, const part *parts)
{
    const expr_node *n = &e.node[i];
    int arity = expr_ops[n->op].arity, kids[2] = { -1, -1 };
    size_t at[2] = { i, i };
    for (int k = 0; k < arity && k < 2; k++) {
        at[k] = expr_child(e, i, k);
        if (parts[at[k]].core == FAILED)
            return core_of(0, 1, -1, 0, 0);
    }
    const part *a = &parts[at[0]], *b = &parts[at[1]];
    switch (n->op) {
    case EXPR_NUMBER:
        return (part){ n->value, 0, CONSTANT, { !n->fixed, 0 } };
    case EXPR_ADD:
        return sum(p, a, b, 1);
    case EXPR_SUB:
        return sum(p, a, b, -1);
    case EXPR_MUL:
        return product(p, a, b);
    case EXPR_NEG:
        return scaled(a, -1, 0);
    case EXPR_DIV:
        if (b->core == CONSTANT && b->shift != 0 && can_scale(a, 1 / b->shift))
            return scaled(a, 1 / b->shift, b->free[0]);
        break;
    default:
        break;
    }
    for (int k = 0; k < arity && k < 2; k++) {
        const expr_node *kid = &e.node[at[k]]; /* a number stays as it was spelled: x^2 */
        kids[k] =
            kid->op == EXPR_NUMBER ? expr_pool_add(p, *kid, -1, -1) : written(p, &parts[at[k]], 1);
        if (kids[k] < 0)
            return core_of(0, 1, -1, 0, 0);
    }
    return core_of(0, 1, expr_pool_add(p, *n, kids[0], kids[1]), 0, 0);
}

snip_code expr_tidy(expr *out, expr e, arena *a, snip_status *st)
{
    *out = (expr){ 0 };
    expr_pool p = { .a = a };
    part *parts = arena_array(a, e.count, sizeof *parts);
    if (!parts)
        return status_nomem(st);
    for (size_t i = e.count; i-- > 0;) /* operands come after their operator */
        parts[i] = part_of(&p, e, i, parts);
    int root = written(&p, &parts[0], 1);
    return root < 0 ? status_nomem(st) : expr_pool_flatten(out, &p, root, a, st);
}
