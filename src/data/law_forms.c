/* law_forms.c - the forms of laws: textbook shapes of one argument, and ways to join them.
 *
 * Free constants are drawn to suit the values that they meet, so that over its range a function
 * shows its shape: exponents of order 1, a few radians or periods, half-saturation within reach.
 * They stand where people put them: an overall factor, a scale inside functions, coefficients of
 * sums. */
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

/* A free constant. */
static int number(law_writer *w, double v)
{
    return law_leaf(w, (expr_node){ .op = EXPR_NUMBER, .value = law_rounded(v, w->digits) }, NULL);
}

/* A number that belongs to the form. */
static int whole(law_writer *w, int k)
{
    return law_leaf(w, (expr_node){ .op = EXPR_NUMBER, .integer = 1, .value = k }, NULL);
}

static int unary(law_writer *w, expr_op op, int a)
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

static int is(const law_writer *w, int t, expr_op op)
{
    return w->term[t].node.op == op;
}

static int is_one(const law_writer *w, int t)
{
    return is(w, t, EXPR_NUMBER) && w->term[t].node.integer && w->term[t].node.value == 1;
}

static int is_sum(const law_writer *w, int t)
{
    return is(w, t, EXPR_ADD) || is(w, t, EXPR_SUB);
}

static int is_power(const law_writer *w, int t)
{
    return is(w, t, EXPR_POW) || is(w, t, EXPR_POW2) || is(w, t, EXPR_POW3) || is(w, t, EXPR_SQRT);
}

static int is_product(const law_writer *w, int t)
{
    return is(w, t, EXPR_MUL) || is(w, t, EXPR_DIV);
}

static int kid(const law_writer *w, int t, int slot)
{
    return w->term[t].kid[slot];
}

/* 1/t, which is one operator in the end. */
static int is_inverse(const law_writer *w, int t)
{
    return is(w, t, EXPR_DIV) && is_one(w, kid(w, t, 0));
}

/* Whether two terms are the same, node for node. */
static int same(const law_writer *w, int a, int b)
{
    const expr_node *m = &w->term[a].node, *n = &w->term[b].node;
    if (m->op != n->op || m->value != n->value || m->var != n->var)
        return 0;
    for (int k = 0; k < expr_ops[m->op].arity; k++)
        if (!same(w, kid(w, a, k), kid(w, b, k)))
            return 0;
    return 1;
}

static double low(const law_writer *w, int t)
{
    double v = INFINITY;
    for (int k = 0; k < LAW_PROBES; k++)
        v = w->term[t].v[k] < v ? w->term[t].v[k] : v;
    return v;
}

static double high(const law_writer *w, int t)
{
    double v = -INFINITY;
    for (int k = 0; k < LAW_PROBES; k++)
        v = w->term[t].v[k] > v ? w->term[t].v[k] : v;
    return v;
}

/* The largest and the mean size of t's values. */
static double top(const law_writer *w, int t)
{
    return fmax(fabs(low(w, t)), fabs(high(w, t)));
}

static double size(const law_writer *w, int t)
{
    double sum = 0;
    for (int k = 0; k < LAW_PROBES; k++)
        sum += fabs(w->term[t].v[k]) / LAW_PROBES;
    return sum;
}

static int positive(const law_writer *w, int t)
{
    return low(w, t) > 0;
}

static int pick(law_writer *w, int n)
{
    return (int)rng_below(&w->r, (uint32_t)n);
}

/* Whether t holds one of the operators that `among` is true for. */
static int holds(const law_writer *w, int t, int (*among)(int op))
{
    int op = w->term[t].node.op, found = among(op);
    for (int k = 0; k < expr_ops[op].arity && !found; k++)
        found = holds(w, kid(w, t, k), among);
    return found;
}

static int is_wave(int op)
{
    return op == EXPR_SIN || op == EXPR_COS;
}

static int is_transcendental(int op)
{
    return is_wave(op) || op == EXPR_EXP || op == EXPR_LOG || op == EXPR_LOG10 || op == EXPR_TANH ||
           op == EXPR_ARCTAN || op == EXPR_COSH;
}

/* Whether t has a free constant that scales it as a whole, so that one more would say nothing. */
static int has_scale(const law_writer *w, int t)
{
    switch (w->term[t].node.op) {
    case EXPR_NUMBER:
        return !w->term[t].node.integer;
    case EXPR_ADD:
    case EXPR_SUB:
        return has_scale(w, kid(w, t, 0)) && has_scale(w, kid(w, t, 1));
    case EXPR_MUL:
    case EXPR_DIV:
        return has_scale(w, kid(w, t, 0)) || has_scale(w, kid(w, t, 1));
    case EXPR_SQRT:
    case EXPR_POW2:
    case EXPR_POW3:
    case EXPR_POW:
    case EXPR_NEG:
        return has_scale(w, kid(w, t, 0));
    default:
        return 0;
    }
}

/* ---- algebra as people write it ---- */

static int over(law_writer *w, int a, int b);

/* t^2, where the square of a power is a power. */
static int square(law_writer *w, int t)
{
    if (is(w, t, EXPR_SQRT))
        return kid(w, t, 0);
    if (is(w, t, EXPR_POW2) || is(w, t, EXPR_POW3))
        return binary(w, EXPR_POW, kid(w, t, 0), whole(w, is(w, t, EXPR_POW2) ? 4 : 6));
    return unary(w, EXPR_POW2, t);
}

/* Numerators are joined, factors stand in one row, numbers first: a*(b/2) is a*b/2. */
static int times(law_writer *w, int a, int b)
{
    if (is_one(w, a))
        return b;
    if (is_one(w, b))
        return a;
    if (is(w, a, EXPR_DIV))
        return over(w, times(w, kid(w, a, 0), b), kid(w, a, 1));
    if (is(w, b, EXPR_DIV))
        return over(w, times(w, a, kid(w, b, 0)), kid(w, b, 1));
    if (is(w, b, EXPR_NUMBER) && !is(w, a, EXPR_NUMBER))
        return times(w, b, a);
    if (is(w, b, EXPR_MUL))
        return binary(w, EXPR_MUL, times(w, a, kid(w, b, 0)), kid(w, b, 1));
    return same(w, a, b) ? square(w, a) : binary(w, EXPR_MUL, a, b);
}

/* a/(b/c) is a*c/b, (a/b)/c is a/(b*c). */
static int over(law_writer *w, int a, int b)
{
    if (is(w, b, EXPR_DIV))
        return over(w, times(w, a, kid(w, b, 1)), kid(w, b, 0));
    if (is(w, a, EXPR_DIV))
        return binary(w, EXPR_DIV, kid(w, a, 0), times(w, kid(w, a, 1), b));
    return is_one(w, b) ? a : binary(w, EXPR_DIV, a, b);
}

/* a + sign*b without brackets; the sign of a number is the operator's. */
static int added(law_writer *w, int a, int b, int sign)
{
    if (is_sum(w, b))
        return added(w, added(w, a, kid(w, b, 0), sign), kid(w, b, 1),
                     is(w, b, EXPR_ADD) ? sign : -sign);
    if (is(w, b, EXPR_NUMBER) && w->term[b].node.value < 0) {
        expr_node opposite = w->term[b].node;
        opposite.value = -opposite.value;
        return added(w, a, law_leaf(w, opposite, NULL), -sign);
    }
    return binary(w, sign > 0 ? EXPR_ADD : EXPR_SUB, a, b);
}

static int plus(law_writer *w, int a, int b)
{
    return added(w, a, b, 1);
}

static int minus(law_writer *w, int a, int b)
{
    return added(w, a, b, -1);
}

static int either(law_writer *w, int a, int b)
{
    return law_chance(w, 0.35) ? minus(w, a, b) : plus(w, a, b);
}

/* t^p, p > 0. */
static int raised(law_writer *w, int t, double p)
{
    if (p == 1)
        return t;
    if (is_inverse(w, t))
        return over(w, kid(w, t, 0), raised(w, kid(w, t, 1), p));
    if (p == 2 || p == 3 || p == 0.5)
        return unary(w, p == 2 ? EXPR_POW2 : p == 3 ? EXPR_POW3 : EXPR_SQRT, t);
    return binary(w, EXPR_POW, t,
                  p == floor(p) ? whole(w, (int)p)
                                : law_leaf(w, (expr_node){ .op = EXPR_NUMBER, .value = p }, NULL));
}

static int power(law_writer *w, int t, double p)
{
    return p < 0 ? over(w, whole(w, 1), raised(w, t, -p)) : raised(w, t, p);
}

/* c*t, where c joins the constants that scale t or a part of it already. */
static int factor(law_writer *w, double c, int t)
{
    if (is(w, t, EXPR_NUMBER))
        return number(w, c * w->term[t].node.value);
    expr_op op = (expr_op)w->term[t].node.op;
    int a = kid(w, t, 0), b = kid(w, t, 1);
    if (is_sum(w, t) && !is_one(w, a) && !is_one(w, b) && (has_scale(w, a) || has_scale(w, b)))
        return binary(w, op, factor(w, c, a), factor(w, c, b));
    if (is_product(w, t) && (has_scale(w, a) || !has_scale(w, b)))
        return binary(w, op, factor(w, c, a), b);
    if (is_product(w, t))
        return binary(w, op, a, factor(w, op == EXPR_MUL ? c : 1 / c, b));
    return law_rounded(c, w->digits) == 1 ? t : binary(w, EXPR_MUL, number(w, c), t);
}

/* -t, with the sign in front. */
static int negative(law_writer *w, int t)
{
    if (is_product(w, t))
        return binary(w, (expr_op)w->term[t].node.op, negative(w, kid(w, t, 0)), kid(w, t, 1));
    if (is(w, t, EXPR_NUMBER)) {
        expr_node opposite = w->term[t].node;
        opposite.value = -opposite.value;
        return law_leaf(w, opposite, NULL);
    }
    return unary(w, EXPR_NEG, t);
}

/* t/s, or k*t with k = 1/s. */
static int per(law_writer *w, int t, double s)
{
    return law_chance(w, 0.5) ? over(w, t, number(w, s)) : factor(w, 1 / s, t);
}

/* t with a coefficient that makes it about as large as `to`. */
static int weighted(law_writer *w, int t, double to)
{
    return factor(w, to * law_log_between(w, 0.2, 5) / size(w, t), t);
}

/* The size of a target in the unit that it is given in. */
static double some_size(law_writer *w)
{
    return law_log_between(w, 1e-2, 1e4);
}

/* A value within the range of t, or a scale of its order. */
static double place(law_writer *w, int t)
{
    double l = low(w, t), h = high(w, t);
    return l + law_between(w, 0.1, 0.9) * (h - l);
}

static double scale(law_writer *w, int t)
{
    return size(w, t) * law_log_between(w, 0.25, 4);
}

static double width(law_writer *w, int t)
{
    return (high(w, t) - low(w, t)) * law_log_between(w, 0.08, 0.6);
}

/* s such that t/s is of order 1 over t's range. */
static double decay(law_writer *w, int t)
{
    double most = top(w, t), range = law_chance(w, 0.6) ? most : high(w, t) - low(w, t);
    double s = range / law_log_between(w, 0.5, 5);
    return fmax(s, most / 12);
}

/* ---- shapes of one argument ---- */

static double free_exponent(law_writer *w)
{
    double p = law_rounded(law_between(w, 0.15, 3.4), 3);
    p = floor(100 * p + 0.5) / 100;
    return p == floor(p) ? p + 0.35 : p;
}

static int line(law_writer *w, int t)
{
    double s = some_size(w);
    return either(w, number(w, s * law_log_between(w, 0.2, 5)), weighted(w, t, s));
}

static int polynomial(law_writer *w, int t)
{
    double s = some_size(w);
    switch (pick(w, 9)) {
    case 0:
    case 1: {
        int start = either(w, number(w, s), weighted(w, t, s));
        return either(w, start, weighted(w, square(w, t), s));
    }
    case 2:
        return either(w, number(w, s), weighted(w, square(w, t), s));
    case 3:
        return either(w, weighted(w, t, s), weighted(w, square(w, t), s));
    case 4: {
        int away = square(w, minus(w, t, number(w, place(w, t))));
        return law_chance(w, 0.3) ? away : either(w, number(w, s), weighted(w, away, s));
    }
    case 5: {
        int start = either(w, number(w, s), weighted(w, t, s));
        start = either(w, start, weighted(w, square(w, t), s));
        return either(w, start, weighted(w, unary(w, EXPR_POW3, t), s));
    }
    case 6:
        return minus(w, weighted(w, t, s), weighted(w, unary(w, EXPR_POW3, t), s));
    case 7: {
        int room =
            minus(w, whole(w, 1), over(w, t, number(w, high(w, t) * law_between(w, 0.6, 2))));
        return times(w, law_chance(w, 0.75) ? t : square(w, t), room);
    }
    default:
        return either(w, number(w, s), weighted(w, unary(w, EXPR_POW3, t), s));
    }
}

static int power_law(law_writer *w, int t)
{
    double s = some_size(w);
    if (is_power(w, t) || is_product(w, t)) /* their powers are written otherwise */
        return line(w, t);
    if (!positive(w, t))
        return law_chance(w, 0.6) ? square(w, t) : unary(w, EXPR_POW3, t);
    switch (pick(w, 8)) {
    case 0:
    case 1:
        return power(w, t, free_exponent(w));
    case 2:
        return power(w, t, -free_exponent(w));
    case 3:
        return either(w, number(w, s), weighted(w, raised(w, t, free_exponent(w)), s));
    case 4:
        return either(w, number(w, s), weighted(w, power(w, t, -1), s));
    case 5:
        return either(w, number(w, s), weighted(w, power(w, t, law_chance(w, 0.7) ? 0.5 : -2), s));
    case 6: {
        static const double known[] = { 0.5, 2, 3, -1, -2, -0.5, 1.5, 4, -3, 0.25, 0.75 };
        return power(w, t, known[pick(w, sizeof known / sizeof *known)]);
    }
    default:
        return raised(w, over(w, t, number(w, scale(w, t))), free_exponent(w));
    }
}

static int one_plus(law_writer *w, int t)
{
    return plus(w, whole(w, 1), t);
}

static int one_minus(law_writer *w, int t)
{
    return minus(w, whole(w, 1), t);
}

static int inverse(law_writer *w, int t)
{
    return over(w, whole(w, 1), t);
}

static int rational(law_writer *w, int t)
{
    double d = scale(w, t);
    if (!positive(w, t)) {
        int below = one_plus(w, square(w, per(w, t, d)));
        return over(w, law_chance(w, 0.5) ? whole(w, 1) : t, below);
    }
    switch (pick(w, 10)) {
    case 0:
    case 1:
        return over(w, t, plus(w, number(w, d), t));
    case 2:
        return inverse(w, plus(w, number(w, d), t));
    case 3:
        return inverse(w, one_plus(w, per(w, t, d)));
    case 4:
        return inverse(w, one_plus(w, raised(w, per(w, t, d), law_chance(w, 0.6) ? 2 : 3)));
    case 5: {
        double n = law_chance(w, 0.5) ? 2 : law_chance(w, 0.3) ? 4 : free_exponent(w);
        return inverse(w, one_plus(w, raised(w, over(w, number(w, d), t), n)));
    }
    case 6:
        return over(w, line(w, t), one_plus(w, per(w, t, d)));
    case 7: {
        double s = some_size(w);
        int below = plus(w, number(w, s), weighted(w, t, s));
        return over(w, law_chance(w, 0.5) ? whole(w, 1) : t, below);
    }
    case 8: {
        int more = over(w, square(w, t), number(w, scale(w, t)));
        return over(w, t, plus(w, plus(w, number(w, d), t), more));
    }
    default: {
        double s = some_size(w);
        int below = plus(w, number(w, s), weighted(w, square(w, t), s));
        return over(w, law_chance(w, 0.5) ? whole(w, 1) : t, below);
    }
    }
}

/* exp(-t/s) */
static int fading(law_writer *w, int t, double s)
{
    return unary(w, EXPR_EXP, negative(w, per(w, t, s)));
}

static int exponential(law_writer *w, int t)
{
    double s = decay(w, t);
    if (!positive(w, t))
        return law_chance(w, 0.6) ? fading(w, t, s) : unary(w, EXPR_EXP, per(w, t, s));
    switch (pick(w, 14)) {
    case 0:
    case 1:
        return fading(w, t, s);
    case 2:
        return unary(w, EXPR_EXP, per(w, t, s));
    case 3:
    case 4:
        return one_minus(w, fading(w, t, s));
    case 5:
        return times(w, t, fading(w, t, s));
    case 6: { /* an activation: a of the order of t */
        double a = size(w, t) * law_log_between(w, 0.5, 8);
        a = fmin(a, 15 * low(w, t));
        return unary(w, EXPR_EXP, negative(w, over(w, number(w, a), t)));
    }
    case 7: {
        double to = some_size(w);
        int quick = weighted(w, fading(w, t, s / law_between(w, 3, 8)), to);
        return plus(w, quick, weighted(w, fading(w, t, s), to));
    }
    case 8: {
        double b = law_rounded(law_between(w, 0.35, 2.5), 2);
        int stretched = raised(w, over(w, t, number(w, scale(w, t))), b == 1 ? 1.5 : b);
        int e = unary(w, EXPR_EXP, negative(w, stretched));
        return law_chance(w, 0.3) ? one_minus(w, e) : e;
    }
    case 9: {
        static const double orders[] = { 0.5, 2, 3 };
        return times(w, raised(w, t, orders[pick(w, 3)]), fading(w, t, s));
    }
    case 10:
        return inverse(w, minus(w, unary(w, EXPR_EXP, per(w, t, s)), whole(w, 1)));
    case 11: {
        int below = minus(w, unary(w, EXPR_EXP, per(w, t, s)), whole(w, 1));
        return over(w, raised(w, t, 1 + pick(w, 3)), below);
    }
    case 12: {
        double to = some_size(w);
        return either(w, number(w, to), weighted(w, fading(w, t, s), to));
    }
    default: /* rise and fall */
        return minus(w, fading(w, t, s), fading(w, t, s / law_between(w, 2, 8)));
    }
}

static int logarithm(law_writer *w, int t)
{
    double s = some_size(w);
    switch (pick(w, 8)) {
    case 0:
    case 1:
        return either(w, number(w, s), weighted(w, unary(w, EXPR_LOG, t), s));
    case 2:
        return times(w, t, unary(w, EXPR_LOG, t));
    case 3:
    case 4:
        return unary(w, EXPR_LOG, one_plus(w, per(w, t, scale(w, t))));
    case 5:
        return unary(w, EXPR_LOG, over(w, t, number(w, scale(w, t))));
    case 6:
        return unary(w, EXPR_LOG10, law_chance(w, 0.5) ? t : over(w, t, number(w, scale(w, t))));
    default:
        return times(w, t, unary(w, EXPR_LOG, over(w, t, number(w, scale(w, t)))));
    }
}

/* w*t + p with a few radians, up to a few periods, over the range. */
static int phase(law_writer *w, int t)
{
    double s = (high(w, t) - low(w, t)) / law_log_between(w, 1.2, 22);
    int turned = per(w, t, s);
    if (law_chance(w, 0.12)) { /* by its period */
        int circle = times(w, whole(w, 2), law_leaf(w, (expr_node){ .op = EXPR_PI }, NULL));
        turned = over(w, times(w, circle, t), number(w, 2 * M_PI * s));
    }
    return law_chance(w, 0.4) ? either(w, turned, number(w, law_between(w, 0.1, 3))) : turned;
}

static int wave(law_writer *w, int t)
{
    return unary(w, law_chance(w, 0.6) ? EXPR_SIN : EXPR_COS, phase(w, t));
}

static int oscillation(law_writer *w, int t)
{
    double s = some_size(w);
    switch (pick(w, positive(w, t) ? 8 : 5)) {
    case 0:
    case 1:
        return wave(w, t);
    case 2:
        return plus(w, weighted(w, wave(w, t), s), number(w, s * law_log_between(w, 0.3, 3)));
    case 3:
        return square(w, wave(w, t));
    case 4:
        return either(w, weighted(w, wave(w, t), s), weighted(w, wave(w, t), s));
    case 5:
    case 6:
        return times(w, fading(w, t, decay(w, t)), wave(w, t));
    default: {
        double k = law_log_between(w, 2, 20) / (high(w, t) - low(w, t));
        return over(w, unary(w, EXPR_SIN, factor(w, k, t)), t);
    }
    }
}

static int root(law_writer *w, int t)
{
    double s = scale(w, t);
    switch (pick(w, positive(w, t) ? 8 : 4)) {
    case 0:
        return unary(w, EXPR_SQRT, one_plus(w, square(w, per(w, t, s))));
    case 1:
        return inverse(w, unary(w, EXPR_SQRT, one_plus(w, square(w, per(w, t, s)))));
    case 2: {
        double c = top(w, t) * law_between(w, 1.02, 1.8);
        int inside = unary(w, EXPR_SQRT, one_minus(w, square(w, over(w, t, number(w, c)))));
        return law_chance(w, 0.5) ? inside : inverse(w, inside);
    }
    case 3:
        return unary(w, EXPR_SQRT, plus(w, number(w, s * s), square(w, t)));
    case 4:
        return unary(w, EXPR_SQRT, one_plus(w, per(w, t, s)));
    case 5: {
        double to = some_size(w);
        return unary(w, EXPR_SQRT, plus(w, number(w, to), weighted(w, t, to)));
    }
    case 6:
        return inverse(w, unary(w, EXPR_SQRT, one_plus(w, per(w, t, s))));
    default:
        return times(w, unary(w, EXPR_SQRT, t),
                     one_minus(w, over(w, t, number(w, 1.5 * top(w, t)))));
    }
}

static int bell(law_writer *w, int t)
{
    double m = place(w, t), s = width(w, t);
    int away = minus(w, t, number(w, m));
    switch (pick(w, positive(w, t) ? 7 : 5)) {
    case 0:
        return unary(w, EXPR_EXP, negative(w, square(w, over(w, away, number(w, s)))));
    case 1: {
        int below = times(w, whole(w, 2), square(w, number(w, s)));
        return unary(w, EXPR_EXP, negative(w, over(w, square(w, away), below)));
    }
    case 2:
        return inverse(w, one_plus(w, square(w, over(w, away, number(w, s)))));
    case 3:
        return inverse(w, plus(w, square(w, away), number(w, s * s)));
    case 4:
        return inverse(w, square(w, unary(w, EXPR_COSH, over(w, away, number(w, s)))));
    case 5: {
        int ratio = unary(w, EXPR_LOG, over(w, t, number(w, m)));
        int part = over(w, ratio, number(w, law_between(w, 0.2, 1.2)));
        return unary(w, EXPR_EXP, negative(w, square(w, part)));
    }
    default: {
        int e = unary(w, EXPR_EXP, negative(w, square(w, over(w, t, number(w, scale(w, t))))));
        return times(w, law_chance(w, 0.5) ? t : square(w, t), e);
    }
    }
}

static int sigmoid(law_writer *w, int t)
{
    double m = place(w, t), s = width(w, t);
    switch (pick(w, 7)) {
    case 0: {
        int away = over(w, minus(w, t, number(w, m)), number(w, s));
        return inverse(w, one_plus(w, unary(w, EXPR_EXP, negative(w, away))));
    }
    case 1: {
        double d = law_log_between(w, 1.5, 200), k = law_log(w, d) / m;
        k = isfinite(k) && k > 0 ? k : 1 / s;
        int e = unary(w, EXPR_EXP, negative(w, factor(w, k, t)));
        return inverse(w, one_plus(w, factor(w, d, e)));
    }
    case 2:
        return unary(w, EXPR_TANH, per(w, t, decay(w, t)));
    case 3:
        return unary(w, EXPR_TANH, over(w, minus(w, t, number(w, m)), number(w, s)));
    case 4:
        return unary(w, EXPR_ARCTAN, per(w, t, scale(w, t)));
    case 5: {
        int away = over(w, minus(w, t, number(w, m)), number(w, s));
        return inverse(w, one_plus(w, unary(w, EXPR_EXP, away)));
    }
    default: {
        int e = unary(w, EXPR_EXP, negative(w, per(w, t, decay(w, t))));
        return unary(w, EXPR_EXP, negative(w, factor(w, law_log_between(w, 0.5, 8), e)));
    }
    }
}

/* What pulls and pushes at a distance. */
static int potential(law_writer *w, int t)
{
    double s = some_size(w), m = low(w, t) * law_between(w, 0.6, 1.2);
    switch (pick(w, 6)) {
    case 0:
        return minus(w, weighted(w, power(w, t, -2), s), weighted(w, power(w, t, -1), s));
    case 1: {
        int near = over(w, number(w, m), t);
        int six = raised(w, near, 6), twelve = raised(w, near, 12);
        return minus(w, twelve, six);
    }
    case 2: {
        int e = fading(w, minus(w, t, number(w, place(w, t))), width(w, t) * 3);
        return square(w, one_minus(w, e));
    }
    case 3:
        return over(w, fading(w, t, decay(w, t)), t);
    case 4: {
        double c = low(w, t) * law_between(w, 0.1, 0.8);
        return inverse(w, raised(w, minus(w, t, number(w, c)), law_chance(w, 0.5) ? 1 : 2));
    }
    default:
        return plus(w, weighted(w, t, s), weighted(w, power(w, t, -1), s));
    }
}

static int kink(law_writer *w, int t)
{
    return unary(w, EXPR_ABS, minus(w, t, number(w, place(w, t))));
}

typedef int shape_function(law_writer *w, int t);

static const struct {
    shape_function *shape;
    double weight;
    int positive; /* of positive arguments only */
} shapes[] = {
    { line, 4, 0 },         { polynomial, 11, 0 }, { power_law, 12, 0 },  { rational, 14, 0 },
    { exponential, 20, 0 }, { logarithm, 9, 1 },   { oscillation, 9, 0 }, { root, 8, 0 },
    { bell, 6, 0 },         { sigmoid, 7, 0 },     { potential, 5, 1 },   { kink, 0.7, 0 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Variables in t, each as often as it occurs. */
static int leaves(const law_writer *w, int t)
{
    int n = is(w, t, EXPR_VARIABLE);
    for (int k = 0; k < expr_ops[w->term[t].node.op].arity; k++)
        n += leaves(w, kid(w, t, k));
    return n;
}

static int any_shape(law_writer *w, int t)
{
    double total = 0;
    int sign = positive(w, t);
    for (int i = 0; i < SHAPES; i++)
        total += sign || !shapes[i].positive ? shapes[i].weight : 0;
    double u = law_between(w, 0, total);
    int last = 0;
    for (int i = 0; i < SHAPES; i++) {
        if (!sign && shapes[i].positive)
            continue;
        last = i;
        u -= shapes[i].weight;
        if (u < 0)
            break;
    }
    return shapes[last].shape(w, t);
}

/* A shape of t. What takes many letters to write is mostly written once. */
static int shape(law_writer *w, int t)
{
    int s = any_shape(w, t);
    if (!is(w, t, EXPR_VARIABLE) && !law_chance(w, 0.25))
        for (int tries = 0; tries < 4 && leaves(w, s) > leaves(w, t); tries++)
            s = any_shape(w, t);
    return s;
}

/* ---- several inputs ---- */

static double exponent(law_writer *w, int positive)
{
    static const struct {
        double p, weight;
    } known[] = { { 1, 10 },  { 2, 4 },      { 3, 1 },     { -1, 6 },   { -2, 2.2 },
                  { 0.5, 2 }, { -0.5, 0.7 }, { 1.5, 0.6 }, { -3, 0.3 }, { 4, 0.3 } };
    enum { KNOWN = sizeof known / sizeof *known, WITH_ANY_SIGN = 3 };
    if (positive && law_chance(w, 0.05))
        return law_chance(w, 0.4) ? -free_exponent(w) : free_exponent(w);
    int n = positive ? KNOWN : WITH_ANY_SIGN;
    double total = 0;
    for (int i = 0; i < n; i++)
        total += known[i].weight;
    double u = law_between(w, 0, total);
    int i = 0;
    while (i + 1 < n && (u -= known[i].weight) >= 0)
        i++;
    return known[i].p;
}

/* a*t, where a may be -1 for nothing. */
static int and_times(law_writer *w, int a, int t)
{
    return a < 0 ? t : times(w, a, t);
}

/* a*b^2/c over `first` (or -1) and n new inputs. Now and then a factor is the sine of an angle or
 * what a fraction leaves. Simple ones are quantities inside of functions: mostly products and
 * ratios. Roots are gathered: sqrt(a*b). */
static int monomial(law_writer *w, int first, int n, int simple)
{
    int up[2] = { first, -1 }, down[2] = { -1, -1 }; /* as they are, and below a root */
    for (int k = 0; k < n; k++) {
        int t;
        double p = 1;
        if (!simple && law_chance(w, 0.06)) {
            t = unary(w, law_chance(w, 0.5) ? EXPR_SIN : EXPR_COS, law_fresh(w, LAW_ANGLE));
            p = law_chance(w, 0.2) ? 2 : 1;
        } else if (!simple && law_chance(w, 0.04)) {
            t = one_minus(w, law_fresh(w, LAW_FRACTION));
            p = law_chance(w, 0.3) ? -1 : 1;
        } else {
            t = law_fresh(w, LAW_ANY);
            p = exponent(w, positive(w, t));
            if (simple && law_chance(w, 0.8))
                p = p < 0 ? -1 : 1;
        }
        int rooted = fabs(p) == 0.5, *side = p < 0 ? &down[rooted] : &up[rooted];
        *side = and_times(w, *side, rooted ? t : raised(w, t, fabs(p)));
    }
    if (up[1] >= 0)
        up[0] = and_times(w, up[0], unary(w, EXPR_SQRT, up[1]));
    if (down[1] >= 0)
        down[0] = and_times(w, down[0], unary(w, EXPR_SQRT, down[1]));
    if (up[0] < 0)
        up[0] = whole(w, 1);
    return down[0] < 0 ? up[0] : over(w, up[0], down[0]);
}

/* Two inputs of one kind: they are compared, added, or balanced. */
static int pair(law_writer *w)
{
    int a = law_fresh(w, law_chance(w, 0.9) ? LAW_POSITIVE : LAW_ANY), j = w->dim - 1;
    int side = 0, which = pick(w, positive(w, a) ? 16 : 5);
    if (which == 12 || which == 13)
        side = -1;
    else if (which == 14 || which == 15)
        side = law_chance(w, 0.5) ? 1 : -1;
    int b = law_fresh_like(w, j, side);
    switch (which) {
    case 0:
    case 1:
        return minus(w, a, b);
    case 2:
        return unary(w, EXPR_SQRT, plus(w, square(w, a), square(w, b)));
    case 3:
        return square(w, minus(w, a, b));
    case 4:
        return plus(w, square(w, a), square(w, b));
    case 5:
        return plus(w, a, b);
    case 6:
        return over(w, times(w, a, b), plus(w, a, b));
    case 7:
        return over(w, minus(w, a, b), plus(w, a, b));
    case 8:
        return over(w, a, plus(w, a, b));
    case 9:
        return minus(w, inverse(w, a), inverse(w, b));
    case 10:
        return minus(w, square(w, a), square(w, b));
    case 11:
        return unary(w, EXPR_LOG, over(w, a, b));
    case 12:
        return unary(w, EXPR_SQRT, minus(w, square(w, a), square(w, b)));
    case 13:
        return unary(w, EXPR_SQRT, one_minus(w, square(w, over(w, b, a))));
    case 14:
        return inverse(w, square(w, minus(w, a, b)));
    default:
        return inverse(w, minus(w, a, b));
    }
}

/* n inputs as one quantity. */
static int group(law_writer *w, int n)
{
    if (n == 1)
        return law_fresh(w, law_chance(w, 0.7) ? LAW_POSITIVE : LAW_ANY);
    if (n == 2 && law_chance(w, 0.4))
        return pair(w);
    if (n > 2 && law_chance(w, 0.25))
        return monomial(w, pair(w), n - 2, 1);
    int t = monomial(w, -1, n, 1);
    return is_inverse(w, t) ? kid(w, t, 1) : t;
}

/* A shape of a quantity that n inputs make, with the others as factors: y*exp(-x/s)/z. */
static int shaped(law_writer *w, int dim, int inside)
{
    int others = dim - inside;
    int front = others > 0 ? monomial(w, -1, others, 0) : -1, s = group(w, inside);
    if (!holds(w, s, is_transcendental))
        s = shape(w, s);
    return front < 0 ? s : times(w, front, s);
}

/* A part of a sum. */
static int summand(law_writer *w, int n)
{
    if (n == 1) {
        int x = law_fresh(w, LAW_ANY);
        return law_chance(w, 0.35)  ? x
               : law_chance(w, 0.4) ? power(w, x, exponent(w, positive(w, x)))
                                    : shape(w, x);
    }
    return law_chance(w, 0.7) ? monomial(w, -1, n, 0) : shaped(w, n, 1);
}

static int sum(law_writer *w, int dim)
{
    int parts = dim > 2 && law_chance(w, 0.4) ? 3 : 2, t[3] = { 0 }, left = dim;
    double least = INFINITY, most = 0, s = some_size(w);
    for (int k = 0; k < parts; k++) {
        int n = k + 1 == parts ? left : 1 + pick(w, left - (parts - 1 - k));
        t[k] = summand(w, n);
        left -= n;
        least = fmin(least, size(w, t[k]));
        most = fmax(most, size(w, t[k]));
    }
    int plain = most < 30 * least && law_chance(w, 0.4);
    int total = plain ? t[0] : weighted(w, t[0], s);
    if (!plain && law_chance(w, 0.2))
        total = either(w, number(w, s * law_log_between(w, 0.2, 5)), total);
    for (int k = 1; k < parts; k++)
        total = either(w, total, plain ? t[k] : weighted(w, t[k], s));
    return total;
}

/* What is fitted to a planned experiment: lines with an interaction or squares. */
static int surface(law_writer *w, int dim)
{
    int x[DATA_LAW_DIMS];
    double s = some_size(w);
    int total = number(w, s * law_log_between(w, 0.2, 5));
    for (int k = 0; k < dim; k++) {
        x[k] = law_fresh(w, LAW_ANY);
        total = either(w, total, weighted(w, x[k], s));
    }
    if (law_chance(w, 0.6))
        total = either(w, total, weighted(w, times(w, x[0], x[1]), s));
    if (law_chance(w, 0.5))
        total = either(w, total, weighted(w, square(w, x[pick(w, dim)]), s));
    return total;
}

/* Any function of t, with a scale where it takes one. There are no functions of functions, and a
 * product is not squared as a whole. */
static int any_unary(law_writer *w, int t)
{
    int sign = positive(w, t);
    if (holds(w, t, is_transcendental))
        return t;
    switch (pick(w, sign ? 14 : 8)) {
    case 0:
    case 1:
        return is_product(w, t) || is_power(w, t) ? t : raised(w, t, law_chance(w, 0.75) ? 2 : 3);
    case 2:
        return fading(w, t, decay(w, t));
    case 3:
        return unary(w, EXPR_EXP, per(w, t, decay(w, t)));
    case 4:
    case 5:
        return is_sum(w, t) ? square(w, t) : wave(w, t);
    case 6:
        return unary(w, EXPR_TANH, per(w, t, decay(w, t)));
    case 7:
        if (law_chance(w, 0.15))
            return unary(w, EXPR_ABS, t);
        return is_sum(w, t) ? t : inverse(w, one_plus(w, square(w, per(w, t, scale(w, t)))));
    case 8:
    case 9:
        return is_power(w, t) ? t : unary(w, EXPR_SQRT, t);
    case 10:
        return inverse(w, t);
    case 11:
        return unary(w, EXPR_LOG, t);
    case 12:
        return unary(w, EXPR_LOG, one_plus(w, per(w, t, scale(w, t))));
    default:
        return inverse(w, plus(w, number(w, scale(w, t)), t));
    }
}

/* Two terms joined; in a sum both count. */
static int joined(law_writer *w, int a, int b)
{
    if (same(w, a, b))
        return square(w, a);
    double u = law_between(w, 0, 1), x = size(w, a), y = size(w, b);
    if (u < 0.4) {
        if (x > 20 * y || y > 20 * x || law_chance(w, 0.3))
            b = factor(w, x / y * law_log_between(w, 0.3, 3), b);
        return u < 0.27 ? plus(w, a, b) : minus(w, a, b);
    }
    int divisor = positive(w, b) && !holds(w, b, is_transcendental);
    return u < 0.72 || !divisor ? times(w, a, b) : over(w, a, b);
}

/* A small random tree: inputs are joined until one term is left, with functions on the way. */
static int grown(law_writer *w, int dim)
{
    int t[2 * DATA_LAW_DIMS + 2], n = 0;
    for (int k = 0; k < dim; k++)
        t[n++] = law_fresh(w, LAW_ANY);
    int again = dim == 1 ? 1 + pick(w, 2) : dim < 4 ? pick(w, 3) : pick(w, 2);
    for (int k = 0; k < again; k++) /* inputs that occur twice */
        t[n++] = t[pick(w, dim)];
    for (int k = 0; k < n; k++)
        if (law_chance(w, dim < 3 ? 0.3 : 0.15))
            t[k] = any_unary(w, t[k]);
    while (n > 1) {
        int i = pick(w, n), a = t[i];
        t[i] = t[--n];
        i = pick(w, n);
        int both = joined(w, a, t[i]);
        t[i] = law_chance(w, 0.2) ? any_unary(w, both) : both;
    }
    return t[0];
}

/* A background with something on it, or two processes at once. */
static int both_of_one(law_writer *w, int x)
{
    static shape_function *const slow[] = { line, power_law, polynomial, exponential };
    static shape_function *const quick[] = { exponential, oscillation, bell, sigmoid, rational };
    double s = some_size(w);
    int a = slow[pick(w, 4)](w, x), b = quick[pick(w, 5)](w, x);
    return either(w, weighted(w, a, s), weighted(w, b, s));
}

static int form(law_writer *w, int dim)
{
    double u = law_between(w, 0, 1);
    if (dim == 1) {
        if (u < 0.16)
            return grown(w, 1);
        int x = law_fresh(w, LAW_ANY);
        if (u < 0.82)
            return shape(w, x);
        if (u < 0.9)
            return both_of_one(w, x);
        return times(w, power(w, x, exponent(w, positive(w, x))), shape(w, x));
    }
    if (u < 0.24)
        return monomial(w, -1, dim, 0);
    if (u < 0.44)
        return shaped(w, dim, 1);
    if (u < 0.58)
        return shaped(w, dim, 2 + pick(w, dim > 2 ? 2 : 1));
    if (u < 0.75)
        return sum(w, dim);
    if (u < 0.86)
        return monomial(w, pair(w), dim - 2, 0);
    if (u < 0.89 && dim < 5)
        return surface(w, dim);
    return dim < 5 || u < 0.92 ? grown(w, dim) : monomial(w, -1, dim, 0);
}

/* The overall factor: none, one that belongs to the form, or free. */
static int with_factor(law_writer *w, int t)
{
    double u = law_between(w, 0, 1), y = size(w, t);
    if (u < 0.2 || has_scale(w, t) || !isfinite(y) || y == 0)
        return t;
    if (u < 0.32 && !is_sum(w, t)) {
        int pi = law_leaf(w, (expr_node){ .op = EXPR_PI }, NULL);
        switch (pick(w, 6)) {
        case 0:
            return times(w, pi, t);
        case 1:
            return times(w, times(w, whole(w, law_chance(w, 0.5) ? 2 : 4), pi), t);
        case 2:
            return times(w, whole(w, 2 + pick(w, 3)), t);
        case 3:
            return over(w, t, whole(w, 2 + pick(w, 3)));
        default:
            return times(w, law_leaf(w, (expr_node){ .op = EXPR_NUMBER, .value = 0.5 }, NULL), t);
        }
    }
    double c = u < 0.6 ? law_log_between(w, 1e-2, 1e2) : some_size(w) / y;
    return factor(w, law_chance(w, 0.05) ? -c : c, t);
}

/* ---- what nobody would write ---- */

enum { FACTORS_MAX = 32 };

/* The bases of the factors of a product, or the terms of a sum without their numbers. */
static int collect(const law_writer *w, int t, int sum, int *to, int n)
{
    int op = w->term[t].node.op;
    if (sum ? op == EXPR_ADD || op == EXPR_SUB : op == EXPR_MUL || op == EXPR_DIV)
        return collect(w, kid(w, t, 1), sum, to, collect(w, kid(w, t, 0), sum, to, n));
    while (sum ? (op == EXPR_MUL && is(w, kid(w, t, 0), EXPR_NUMBER))
               : op == EXPR_POW2 || op == EXPR_POW3 || op == EXPR_SQRT || op == EXPR_POW) {
        t = kid(w, t, sum);
        op = w->term[t].node.op;
    }
    if (n < FACTORS_MAX)
        to[n++] = t;
    return n;
}

/* Whether terms or factors could be joined: 2*x + 3*x, x^2/x, exp(x)*exp(2*x). */
static int untidy(const law_writer *w, int t)
{
    int sum = is_sum(w, t);
    if (sum || is_product(w, t)) {
        int found[FACTORS_MAX], n = collect(w, t, sum, found, 0);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                if (same(w, found[i], found[j]) ||
                    (w->term[found[i]].node.op == w->term[found[j]].node.op &&
                     is(w, found[i], sum ? EXPR_NUMBER : EXPR_EXP)))
                    return 1;
    }
    for (int k = 0; k < expr_ops[w->term[t].node.op].arity; k++)
        if (untidy(w, kid(w, t, k)))
            return 1;
    return 0;
}

int law_write(law_writer *w, int dim)
{
    int t = with_factor(w, form(w, dim));
    return w->full || untidy(w, t) ? -1 : t;
}

/* ---- the finished tree ---- */

static size_t count(const law_writer *w, int t)
{
    size_t n = 1;
    for (int k = is_inverse(w, t); k < expr_ops[w->term[t].node.op].arity; k++)
        n += count(w, kid(w, t, k));
    return n;
}

static expr_node *write_out(const law_writer *w, int t, expr_node *to)
{
    *to = w->term[t].node;
    if (is_inverse(w, t))
        to->op = EXPR_INV;
    to++;
    for (int k = is_inverse(w, t); k < expr_ops[w->term[t].node.op].arity; k++)
        to = write_out(w, kid(w, t, k), to);
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
