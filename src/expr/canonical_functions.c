/* canonical_functions.c - what a function of canonical parts is: its rules, operator by operator.
 */
#include "expr/canonical_int.h"
#include "expr/vec.h"

static int is_positive(const canon *c, const part *t)
{
    return t->power % 4 == 0 || t->power % 2 != 0 ||
           (t->shift.v == 0 && t->factor.v > 0 &&
            (canon_is(c, t->core, EXPR_EXP) || canon_is(c, t->core, EXPR_ABS)));
}

part canon_absolute(canon *c, part p)
{
    if (p.core < 0)
        return canon_constant(num_make(fabs(p.shift.v), p.shift.free, p.shift.integer));
    factors m;
    canon_factors_init(&m, num_one);
    num size = num_make(fabs(p.factor.v), p.factor.free, p.factor.integer);
    if (p.shift.v == 0 && (canon_is(c, p.core, EXPR_ABS) || canon_is(c, p.core, EXPR_EXP)))
        return (part){ num_zero, size, p.core, 2 };
    if (p.shift.v == 0 && canon_is(c, p.core, EXPR_MUL)) {
        const part *at = canon_parts_of(c, p.core);
        list rest;
        rest.n = 0;
        for (int i = 0, n = c->at[p.core].count; i < n; i++)
            if (is_positive(c, &at[i]))
                canon_factors_add(&m, at[i], at[i].power);
            else
                rest.at[rest.n++] = at[i];
        if (rest.n == 0)
            return (part){ num_zero, size, p.core, 2 };
        part inner = rest.at[0];
        int halves = 2;
        if (rest.n == 1) {
            halves = inner.power;
            inner.power = 2;
        } else {
            inner = canon_bare(canon_intern(c, EXPR_MUL, 0, rest.at, rest.n));
        }
        if (num_merge(&m.factor, size)) {
            canon_factors_add(&m, canon_bare(canon_intern(c, EXPR_ABS, 0, &inner, 1)), halves);
            return canon_product(c, &m);
        }
        canon_factors_init(&m, num_one);
    }
    num scale = canon_strip(c, &p, 1, 0);
    p.power = 2;
    scale.v = fabs(scale.v);
    return canon_scaled(c, canon_bare(canon_intern(c, EXPR_ABS, 0, &p, 1)), scale);
}

static part function(canon *c, int op, part p);

static part logarithm(canon *c, part p)
{
    num factor = num_one, shift = num_zero;
    list terms;
    terms.n = 0;
    /* log(k*u^p) is log(k) + p*log(u), but for even p, where u may be negative. */
    while (p.core >= 0 && p.shift.v == 0 && p.factor.v > 0) {
        num add = num_make(log(p.factor.v), p.factor.free, 0);
        if (canon_is(c, p.core, EXPR_EXP)) {
            canon_gather(c, &terms, &shift, canon_constant(add), factor, 0);
            canon_gather(c, &terms, &shift, *canon_parts_of(c, p.core), factor, 1);
            return canon_sum(c, &terms, shift);
        }
        if (!canon_is(c, p.core, EXPR_MUL))
            break;
        const part *at = canon_parts_of(c, p.core);
        int n = c->at[p.core].count, e = -1;
        for (int i = 0; i < n; i++)
            if (canon_is(c, at[i].core, EXPR_EXP) && at[i].power == 2 && at[i].shift.v == 0 &&
                num_is_one(at[i].factor))
                e = i;
        if (e >= 0 && n > 1 && terms.n == 0) {
            list rest;
            rest.n = 0;
            for (int i = 0; i < n; i++)
                if (i != e)
                    rest.at[rest.n++] = at[i];
            canon_gather(c, &terms, &shift, *canon_parts_of(c, at[e].core), factor, 2);
            num f = p.factor;
            p = rest.at[0];
            if (rest.n > 1 || p.power != 2)
                p = canon_bare(canon_intern(c, EXPR_MUL, 0, rest.at, rest.n));
            p = canon_scaled(c, p, f);
            continue;
        }
        int halves = at->power;
        if (n > 1 || halves == 4 || at->core < 0)
            break;
        canon_gather(c, &terms, &shift, canon_constant(add), factor, 2);
        p = *at;
        p.power = 2;
        if (halves % 4 == 0) {
            factor = num_times(factor, num_fixed(halves / 4.0));
            p.power = 4;
            p = canon_bare(canon_intern(c, EXPR_MUL, 0, &p, 1));
            break;
        }
        factor = num_times(factor, num_fixed(halves / 2.0));
    }
    part made;
    if (p.core < 0) {
        made = function(c, EXPR_LOG, p);
    } else {
        num scale = canon_strip(c, &p, 0, 0), add = num_make(log(scale.v), scale.free, 0);
        p.power = 2;
        canon_gather(c, &terms, &shift, canon_constant(add), factor, 1);
        made = canon_bare(canon_intern(c, EXPR_LOG, 0, &p, 1));
    }
    canon_gather(c, &terms, &shift, made, factor, 0);
    return canon_sum(c, &terms, shift);
}

static part exponential(canon *c, part p)
{
    factors m;
    canon_factors_init(&m, num_one);
    canon_gather(c, &m.exponent, &m.shift, p, num_one, 0);
    return canon_product(c, &m);
}

static int is_odd(int op)
{
    switch (op) {
    case EXPR_SIN:
    case EXPR_TAN:
    case EXPR_ARCSIN:
    case EXPR_ARCTAN:
    case EXPR_SINH:
    case EXPR_TANH:
    case EXPR_ARCSINH:
    case EXPR_ARCTANH:
    case EXPR_ERF:
        return 1;
    default:
        return 0;
    }
}

/* The function op of p, for what has no rule of its own as well. */
static part function(canon *c, int op, part p)
{
    if (p.core < 0) {
        double v;
        expr_vec_best()->unary[op](&v, &p.shift.v, 1);
        int vanished = v == 0 && p.shift.v != 0 && (op == EXPR_EXP || op == EXPR_EXP2);
        if (num_usable(v) && !vanished)
            return canon_constant(num_make(v, p.shift.free, p.shift.integer && v == floor(v)));
        p.power = 2;
        return canon_bare(canon_intern(c, op, 0, &p, 1));
    }
    num sign = num_one;
    p.power = 2;
    /* The factor has the sign of the first fixed term: that of a free one must not show. */
    if (p.shift.v == 0 && p.factor.v < 0 && (is_odd(op) || op == EXPR_COS || op == EXPR_COSH)) {
        p.factor = num_times(p.factor, num_minus);
        sign = is_odd(op) ? num_minus : num_one;
    }
    if (op == EXPR_CBRT || op == EXPR_SIGN) {
        num scale = canon_strip(c, &p, op == EXPR_CBRT || p.shift.v == 0, 0);
        double v = op == EXPR_CBRT ? cbrt(scale.v) : copysign(1, scale.v);
        sign = num_make(v, op == EXPR_CBRT && scale.free, op == EXPR_SIGN);
    }
    return canon_scaled(c, canon_bare(canon_intern(c, op, 0, &p, 1)), sign);
}

static part general_power(canon *c, part p, part q)
{
    double n = q.shift.v;
    if (q.core < 0 && n == floor(n) && fabs(2 * n) < HALVES_MAX)
        return n == 0 ? canon_constant(num_one) : canon_power(c, p, (int)(2 * n));
    if (q.core < 0 && !q.shift.free && 2 * n == floor(2 * n) && fabs(2 * n) < HALVES_MAX)
        return canon_power(c, p, (int)(2 * n));
    if (p.core < 0 && q.core < 0) {
        double v = pow(p.shift.v, n);
        if (num_usable(v) && (v != 0 || p.shift.v == 0))
            return canon_constant(num_make(v, p.shift.free | q.shift.free, 0));
    } else if (p.core < 0 && p.shift.v > 0) { /* 2^u = exp(log(2)*u) */
        return exponential(c, canon_scaled(c, q, num_make(log(p.shift.v), p.shift.free, 0)));
    } else if (q.core < 0 && n != floor(n)) { /* written as u^n again: exponential_nodes */
        return exponential(c, canon_scaled(c, logarithm(c, p), q.shift));
    }
    part at[2] = { p, q };
    at[0].power = at[1].power = 2;
    return canon_bare(canon_intern(c, EXPR_POW, 0, at, 2));
}

static part extreme(canon *c, int op, part p, part q)
{
    if (p.core < 0 && q.core < 0) {
        double v;
        expr_vec_best()->binary[op](&v, &p.shift.v, &q.shift.v, 1);
        return canon_constant(num_make(v, p.shift.free | q.shift.free,
                                       p.shift.integer & q.shift.integer & (v == floor(v))));
    }
    part at[2] = { p, q };
    at[0].power = at[1].power = 2;
    if (op != EXPR_ATAN2)
        canon_sort(c, at, 2);
    return canon_bare(canon_intern(c, op, 0, at, 2));
}

part canon_part_of(canon *c, const expr_node *n, part p, part q)
{
    switch (n->op) {
    case EXPR_NUMBER:
    case EXPR_PI:
    case EXPR_E:
    case EXPR_GAMMA: {
        num v = num_make(expr_leaf_value(n), n->op == EXPR_NUMBER && !n->fixed, n->integer);
        part t = canon_constant(v);
        return num_usable(v.v) ? t : canon_bare(canon_intern(c, EXPR_NUMBER, 0, &t, 1));
    }
    case EXPR_VARIABLE:
        return canon_bare(canon_intern(c, EXPR_VARIABLE, n->var, NULL, 0));
    case EXPR_ADD:
        return canon_sum_of(c, p, q, num_one);
    case EXPR_SUB:
        return canon_sum_of(c, p, q, num_minus);
    case EXPR_NEG:
        return canon_scaled(c, p, num_minus);
    case EXPR_MUL:
        return canon_product_of(c, p, 2, q, 2);
    case EXPR_DIV:
        return canon_product_of(c, p, 2, q, -2);
    case EXPR_POW:
        return general_power(c, p, q);
    case EXPR_INV:
        return canon_power(c, p, -2);
    case EXPR_SQRT:
        return canon_power(c, p, 1);
    case EXPR_POW2:
        return canon_power(c, p, 4);
    case EXPR_POW3:
        return canon_power(c, p, 6);
    case EXPR_ABS:
        return canon_absolute(c, p);
    case EXPR_LOG:
        return logarithm(c, p);
    case EXPR_LOG2:
        return canon_scaled(c, logarithm(c, p), num_fixed(1 / M_LN2));
    case EXPR_LOG10:
        return canon_scaled(c, logarithm(c, p), num_fixed(1 / M_LN10));
    case EXPR_EXP:
        return exponential(c, p);
    case EXPR_EXP2:
        return exponential(c, canon_scaled(c, p, num_fixed(M_LN2)));
    case EXPR_MIN:
    case EXPR_MAX:
    case EXPR_ATAN2:
        return extreme(c, n->op, p, q);
    default:
        return function(c, n->op, p);
    }
}
