/* law_terms.c - the terms of a law: numbers, algebra as people write it, sizes that suit.
 *
 * Terms are kept in law_writer, each with its values at the probes; the finished tree is written
 * out in the end. */
#include <math.h>
#include <string.h>

#include "data/laws_int.h"

/* ---- terms ---- */

static int put(law_writer *w, expr_node node, int a, int b)
{
    if (w->terms == LAW_TERMS) {
        w->full = 1;
        return 0;
    }
    law_term *t = &w->term[w->terms];
    t->node = node;
    t->kid[0] = a;
    t->kid[1] = b;
    return w->terms++;
}

int law_leaf(law_writer *w, expr_node node, const double *probes)
{
    int t = put(w, node, -1, -1);
    for (int k = 0; k < LAW_PROBES; k++)
        w->term[t].v[k] = probes ? probes[k] : node.op == EXPR_PI ? M_PI : node.value;
    return t;
}

int law_number(law_writer *w, double v)
{
    return law_leaf(w, (expr_node){ .op = EXPR_NUMBER, .value = law_rounded(v, w->digits) }, NULL);
}

int law_whole(law_writer *w, int k)
{
    return law_leaf(w, (expr_node){ .op = EXPR_NUMBER, .integer = 1, .value = k }, NULL);
}

int law_unary(law_writer *w, expr_op op, int a)
{
    int t = put(w, (expr_node){ .op = (uint8_t)op }, a, -1);
    w->vec->unary[op](w->term[t].v, w->term[a].v, LAW_PROBES);
    return t;
}

static int binary(law_writer *w, expr_op op, int a, int b)
{
    int t = put(w, (expr_node){ .op = (uint8_t)op }, a, b);
    w->vec->binary[op](w->term[t].v, w->term[a].v, w->term[b].v, LAW_PROBES);
    return t;
}

int law_is(const law_writer *w, int t, expr_op op)
{
    return w->term[t].node.op == op;
}

static int is_one(const law_writer *w, int t)
{
    return law_is(w, t, EXPR_NUMBER) && w->term[t].node.integer && w->term[t].node.value == 1;
}

int law_is_sum(const law_writer *w, int t)
{
    return law_is(w, t, EXPR_ADD) || law_is(w, t, EXPR_SUB);
}

int law_is_power(const law_writer *w, int t)
{
    return law_is(w, t, EXPR_POW) || law_is(w, t, EXPR_POW2) || law_is(w, t, EXPR_POW3) ||
           law_is(w, t, EXPR_SQRT);
}

int law_is_product(const law_writer *w, int t)
{
    return law_is(w, t, EXPR_MUL) || law_is(w, t, EXPR_DIV);
}

int law_kid(const law_writer *w, int t, int slot)
{
    return w->term[t].kid[slot];
}

int law_is_inverse(const law_writer *w, int t)
{
    return law_is(w, t, EXPR_DIV) && is_one(w, law_kid(w, t, 0));
}

int law_same(const law_writer *w, int a, int b)
{
    const expr_node *m = &w->term[a].node, *n = &w->term[b].node;
    if (m->op != n->op || m->value != n->value || m->var != n->var)
        return 0;
    for (int k = 0; k < expr_ops[m->op].arity; k++)
        if (!law_same(w, law_kid(w, a, k), law_kid(w, b, k)))
            return 0;
    return 1;
}

double law_low(const law_writer *w, int t)
{
    double v = INFINITY;
    for (int k = 0; k < LAW_PROBES; k++)
        v = w->term[t].v[k] < v ? w->term[t].v[k] : v;
    return v;
}

double law_high(const law_writer *w, int t)
{
    double v = -INFINITY;
    for (int k = 0; k < LAW_PROBES; k++)
        v = w->term[t].v[k] > v ? w->term[t].v[k] : v;
    return v;
}

double law_top(const law_writer *w, int t)
{
    return fmax(fabs(law_low(w, t)), fabs(law_high(w, t)));
}

double law_size(const law_writer *w, int t)
{
    double sum = 0;
    for (int k = 0; k < LAW_PROBES; k++)
        sum += fabs(w->term[t].v[k]) / LAW_PROBES;
    return sum;
}

int law_positive(const law_writer *w, int t)
{
    return law_low(w, t) > 0;
}

int law_pick(law_writer *w, int n)
{
    return (int)rng_below(&w->r, (uint32_t)n);
}

int law_holds(const law_writer *w, int t, int (*among)(int op))
{
    int op = w->term[t].node.op, found = among(op);
    for (int k = 0; k < expr_ops[op].arity && !found; k++)
        found = law_holds(w, law_kid(w, t, k), among);
    return found;
}

static int is_wave(int op)
{
    return op == EXPR_SIN || op == EXPR_COS;
}

int law_is_transcendental(int op)
{
    return is_wave(op) || op == EXPR_EXP || op == EXPR_LOG || op == EXPR_LOG10 || op == EXPR_TANH ||
           op == EXPR_ARCTAN || op == EXPR_COSH;
}

int law_has_scale(const law_writer *w, int t)
{
    switch (w->term[t].node.op) {
    case EXPR_NUMBER:
        return !w->term[t].node.integer;
    case EXPR_ADD:
    case EXPR_SUB:
        return law_has_scale(w, law_kid(w, t, 0)) && law_has_scale(w, law_kid(w, t, 1));
    case EXPR_MUL:
    case EXPR_DIV:
        return law_has_scale(w, law_kid(w, t, 0)) || law_has_scale(w, law_kid(w, t, 1));
    case EXPR_SQRT:
    case EXPR_POW2:
    case EXPR_POW3:
    case EXPR_POW:
    case EXPR_NEG:
        return law_has_scale(w, law_kid(w, t, 0));
    default:
        return 0;
    }
}

/* ---- algebra as people write it ---- */

int law_square(law_writer *w, int t)
{
    if (law_is(w, t, EXPR_SQRT))
        return law_kid(w, t, 0);
    if (law_is(w, t, EXPR_POW2) || law_is(w, t, EXPR_POW3))
        return binary(w, EXPR_POW, law_kid(w, t, 0), law_whole(w, law_is(w, t, EXPR_POW2) ? 4 : 6));
    return law_unary(w, EXPR_POW2, t);
}

int law_times(law_writer *w, int a, int b)
{
    if (is_one(w, a))
        return b;
    if (is_one(w, b))
        return a;
    if (law_is(w, a, EXPR_DIV))
        return law_over(w, law_times(w, law_kid(w, a, 0), b), law_kid(w, a, 1));
    if (law_is(w, b, EXPR_DIV))
        return law_over(w, law_times(w, a, law_kid(w, b, 0)), law_kid(w, b, 1));
    if (law_is(w, b, EXPR_NUMBER) && !law_is(w, a, EXPR_NUMBER))
        return law_times(w, b, a);
    if (law_is(w, b, EXPR_MUL))
        return binary(w, EXPR_MUL, law_times(w, a, law_kid(w, b, 0)), law_kid(w, b, 1));
    return law_same(w, a, b) ? law_square(w, a) : binary(w, EXPR_MUL, a, b);
}

int law_over(law_writer *w, int a, int b)
{
    if (law_is(w, b, EXPR_DIV))
        return law_over(w, law_times(w, a, law_kid(w, b, 1)), law_kid(w, b, 0));
    if (law_is(w, a, EXPR_DIV))
        return binary(w, EXPR_DIV, law_kid(w, a, 0), law_times(w, law_kid(w, a, 1), b));
    return is_one(w, b) ? a : binary(w, EXPR_DIV, a, b);
}

/* a + sign*b without brackets; the sign of a number is the operator's. */
static int added(law_writer *w, int a, int b, int sign)
{
    if (law_is_sum(w, b))
        return added(w, added(w, a, law_kid(w, b, 0), sign), law_kid(w, b, 1),
                     law_is(w, b, EXPR_ADD) ? sign : -sign);
    if (law_is(w, b, EXPR_NUMBER) && w->term[b].node.value < 0) {
        expr_node opposite = w->term[b].node;
        opposite.value = -opposite.value;
        return added(w, a, law_leaf(w, opposite, NULL), -sign);
    }
    return binary(w, sign > 0 ? EXPR_ADD : EXPR_SUB, a, b);
}

int law_plus(law_writer *w, int a, int b)
{
    return added(w, a, b, 1);
}

int law_minus(law_writer *w, int a, int b)
{
    return added(w, a, b, -1);
}

int law_either(law_writer *w, int a, int b)
{
    return law_chance(w, 0.35) ? law_minus(w, a, b) : law_plus(w, a, b);
}

int law_raised(law_writer *w, int t, double p)
{
    if (p == 1)
        return t;
    if (law_is_inverse(w, t))
        return law_over(w, law_kid(w, t, 0), law_raised(w, law_kid(w, t, 1), p));
    if (p == 2 || p == 3 || p == 0.5)
        return law_unary(w, p == 2 ? EXPR_POW2 : p == 3 ? EXPR_POW3 : EXPR_SQRT, t);
    return binary(w, EXPR_POW, t,
                  p == floor(p) ? law_whole(w, (int)p)
                                : law_leaf(w, (expr_node){ .op = EXPR_NUMBER, .value = p }, NULL));
}

int law_power(law_writer *w, int t, double p)
{
    return p < 0 ? law_over(w, law_whole(w, 1), law_raised(w, t, -p)) : law_raised(w, t, p);
}

int law_factor(law_writer *w, double c, int t)
{
    if (law_is(w, t, EXPR_NUMBER))
        return law_number(w, c * w->term[t].node.value);
    expr_op op = (expr_op)w->term[t].node.op;
    int a = law_kid(w, t, 0), b = law_kid(w, t, 1);
    if (law_is_sum(w, t) && !is_one(w, a) && !is_one(w, b) &&
        (law_has_scale(w, a) || law_has_scale(w, b)))
        return binary(w, op, law_factor(w, c, a), law_factor(w, c, b));
    if (law_is_product(w, t) && (law_has_scale(w, a) || !law_has_scale(w, b)))
        return binary(w, op, law_factor(w, c, a), b);
    if (law_is_product(w, t))
        return binary(w, op, a, law_factor(w, op == EXPR_MUL ? c : 1 / c, b));
    return law_rounded(c, w->digits) == 1 ? t : binary(w, EXPR_MUL, law_number(w, c), t);
}

int law_negative(law_writer *w, int t)
{
    if (law_is_product(w, t))
        return binary(w, (expr_op)w->term[t].node.op, law_negative(w, law_kid(w, t, 0)),
                      law_kid(w, t, 1));
    if (law_is(w, t, EXPR_NUMBER)) {
        expr_node opposite = w->term[t].node;
        opposite.value = -opposite.value;
        return law_leaf(w, opposite, NULL);
    }
    return law_unary(w, EXPR_NEG, t);
}

int law_per(law_writer *w, int t, double s)
{
    return law_chance(w, 0.5) ? law_over(w, t, law_number(w, s)) : law_factor(w, 1 / s, t);
}

int law_weighted(law_writer *w, int t, double to)
{
    return law_factor(w, to * law_log_between(w, 0.2, 5) / law_size(w, t), t);
}

double law_some_size(law_writer *w)
{
    return law_log_between(w, 1e-2, 1e4);
}

double law_place(law_writer *w, int t)
{
    double l = law_low(w, t), h = law_high(w, t);
    return l + law_between(w, 0.1, 0.9) * (h - l);
}

double law_scale(law_writer *w, int t)
{
    return law_size(w, t) * law_log_between(w, 0.25, 4);
}

double law_width(law_writer *w, int t)
{
    return (law_high(w, t) - law_low(w, t)) * law_log_between(w, 0.08, 0.6);
}

double law_decay(law_writer *w, int t)
{
    double most = law_top(w, t), range = law_chance(w, 0.6) ? most : law_high(w, t) - law_low(w, t);
    double s = range / law_log_between(w, 0.5, 5);
    return fmax(s, most / 12);
}

/* ---- the finished tree ---- */

static size_t count(const law_writer *w, int t)
{
    size_t n = 1;
    for (int k = law_is_inverse(w, t); k < expr_ops[w->term[t].node.op].arity; k++)
        n += count(w, law_kid(w, t, k));
    return n;
}

static expr_node *write_out(const law_writer *w, int t, expr_node *to)
{
    *to = w->term[t].node;
    if (law_is_inverse(w, t))
        to->op = EXPR_INV;
    to++;
    for (int k = law_is_inverse(w, t); k < expr_ops[w->term[t].node.op].arity; k++)
        to = write_out(w, law_kid(w, t, k), to);
    return to;
}

expr law_flatten(const law_writer *w, int root)
{
    expr e = { .count = count(w, root) };
    e.node = arena_array(w->a, e.count, sizeof *e.node);
    if (e.node) {
        write_out(w, root, e.node);
        expr_measure(e);
    }
    return e;
}
