/* vary.c - see vary.h. */
#include "search/vary.h"

#include <math.h>
#include <string.h>

#include "search/build.h"

#define NOTHING 1e-7 /* a shift or factor that may be left out, relative to what it acts on */

enum { PAIR_TRIES = 5, SCAN_COST = 6 }; /* a look through all parts costs so many evaluations */

static const expr none = { NULL, 0 };

static size_t below(vary *q, size_t n)
{
    return rng_below(q->random, (uint32_t)n);
}

static const pool_part *any_part(vary *q)
{
    /* The shortest come first: the square makes them likelier. */
    double u = rng_uniform(q->random);
    return &q->pool->at[(size_t)(u * u * (double)q->pool->count)];
}

static expr any_number(vary *q)
{
    static const double usual[] = { 1, 2, 0.5, 3, -1, M_PI, 0.1, 10 };
    double v = usual[below(q, sizeof usual / sizeof *usual)];
    if (below(q, 2))
        v *= 0.5 + rng_uniform(q->random);
    return search_number(v, q->a);
}

static expr any_leaf(vary *q)
{
    return below(q, 8) ? search_variable(below(q, q->rows->dim), q->a) : any_number(q);
}

static expr_op any_binary(vary *q)
{
    if (!q->ops->binaries)
        return EXPR_ADD;
    return q->prior ? search_prior_op(q->prior, q->ops->binary, q->ops->binaries, q->random)
                    : q->ops->binary[below(q, q->ops->binaries)];
}

/* There is one. */
static expr_op any_unary(vary *q)
{
    return q->prior ? search_prior_op(q->prior, q->ops->unary, q->ops->unaries, q->random)
                    : q->ops->unary[below(q, q->ops->unaries)];
}

/* A leaf to stand beside a part. */
static expr any_leaf_beside(vary *q, expr part)
{
    if (!q->prior || below(q, 8) == 0)
        return any_leaf(q);
    return search_variable(search_prior_partner(q->prior, part, q->rows->dim, q->random), q->a);
}

/* Puts op over two operands in a random order; a power gets a number as its exponent, mostly. */
static expr joined(vary *q, expr_op op, expr u, expr w)
{
    if (op == EXPR_POW && below(q, 4)) {
        static const double usual[] = { 2, 3, 1.5, 0.5, 4, -1.5, -0.5, 1.0 / 3 };
        return below(q, 2)
                   ? search_binary(op, u, search_fixed(usual[below(q, 8)], q->a), q->a)
                   : search_binary(op, u, search_number(0.3 + 2 * rng_uniform(q->random), q->a),
                                   q->a);
    }
    return below(q, 2) ? search_binary(op, u, w, q->a) : search_binary(op, w, u, q->a);
}

/* ---- blind ---- */

static expr change_node(vary *q, expr e)
{
    size_t i = below(q, e.count);
    expr out = { arena_copy(q->a, e.node, e.count * sizeof *e.node), e.count };
    if (!out.node)
        return none;
    expr_node *n = &out.node[i];
    switch (expr_ops[n->op].arity) {
    case 0:
        if (n->op == EXPR_VARIABLE && (q->rows->dim > 1 || below(q, 2))) {
            n->var = (uint16_t)below(q, q->rows->dim);
        } else if (n->op == EXPR_NUMBER) {
            double f = rng_uniform(q->random) + rng_uniform(q->random) - 1;
            n->value *= exp(2 * f * f * f);
            n->value *= below(q, 8) ? 1 : -1;
            n->fixed = n->integer = 0;
        } else {
            return expr_splice(e, i, any_leaf(q), q->a);
        }
        break;
    case 1:
        if (q->ops->unaries == 0)
            return none;
        n->op = (uint8_t)any_unary(q);
        break;
    default:
        n->op = (uint8_t)any_binary(q);
    }
    return out;
}

static expr insert_node(vary *q, expr e)
{
    size_t i = below(q, e.count);
    expr sub = expr_subtree(e, i), new = none;
    size_t kind = below(q, 4);
    if (kind == 0 && q->ops->unaries)
        new = search_unary(any_unary(q), sub, q->a);
    else if (kind == 1) /* a number inside */
        new = search_binary(below(q, 2) ? EXPR_MUL : EXPR_ADD, any_number(q), sub, q->a);
    else
        new = joined(q, any_binary(q), sub, below(q, 2) ? any_leaf_beside(q, sub) : any_part(q)->e);
    return expr_splice(e, i, new, q->a);
}

static expr delete_node(vary *q, expr e)
{
    size_t i = below(q, e.count);
    int arity = expr_ops[e.node[i].op].arity;
    if (arity == 0)
        return none;
    size_t child = expr_child(e, i, arity == 2 ? (int)below(q, 2) : 0);
    return expr_splice(e, i, expr_subtree(e, child), q->a);
}

expr search_vary_fresh(vary *q)
{
    expr e = any_part(q)->e;
    if (below(q, 3) == 0)
        e = joined(q, any_binary(q), e, any_part(q)->e);
    if (below(q, 4) == 0 && q->ops->unaries)
        e = search_unary(any_unary(q), e, q->a);
    return e;
}

expr search_vary_blind(vary *q, expr e)
{
    switch (below(q, 8)) {
    case 0:
    case 1:
    case 2:
        return change_node(q, e);
    case 3:
    case 4:
        return insert_node(q, e);
    case 5:
    case 6:
        return delete_node(q, e);
    default:
        return expr_splice(e, below(q, e.count), search_vary_fresh(q), q->a);
    }
}

expr search_vary_cross(vary *q, expr e, expr other)
{
    return expr_splice(e, below(q, e.count), expr_subtree(other, below(q, other.count)), q->a);
}

/* ---- by values ---- */

/* The u nearest to `now` with f(u) = w, for an operator f of one operand. */
static double inverse(int op, double w, double now)
{
    double turn = 2 * M_PI, u, v;
    switch (op) {
    case EXPR_NEG:
        return -w;
    case EXPR_ABS:
        return now < 0 ? -w : w;
    case EXPR_INV:
        return 1 / w;
    case EXPR_SQRT:
        return w < 0 ? NAN : w * w;
    case EXPR_POW2:
        return now < 0 ? -sqrt(w) : sqrt(w);
    case EXPR_POW3:
        return cbrt(w);
    case EXPR_CBRT:
        return w * w * w;
    case EXPR_LOG:
        return exp(w);
    case EXPR_EXP:
        return log(w);
    case EXPR_SIN:
        u = asin(w);
        v = M_PI - u;
        u += turn * round((now - u) / turn);
        v += turn * round((now - v) / turn);
        return fabs(u - now) <= fabs(v - now) ? u : v;
    case EXPR_COS:
        u = acos(w);
        v = -u;
        u += turn * round((now - u) / turn);
        v += turn * round((now - v) / turn);
        return fabs(u - now) <= fabs(v - now) ? u : v;
    case EXPR_TAN:
        u = atan(w);
        return u + M_PI * round((now - u) / M_PI);
    case EXPR_ARCSIN:
        return fabs(w) <= M_PI_2 ? sin(w) : NAN;
    case EXPR_ARCCOS:
        return w >= 0 && w <= M_PI ? cos(w) : NAN;
    case EXPR_ARCTAN:
        return fabs(w) < M_PI_2 ? tan(w) : NAN;
    case EXPR_TANH:
        return atanh(w);
    case EXPR_SINH:
        return asinh(w);
    case EXPR_ARCSINH:
        return sinh(w);
    default:
        return NAN;
    }
}

/* The same for operand `slot` of an operator of two, with the other one given. */
static double inverse_of_two(int op, int slot, double w, double other)
{
    switch (op) {
    case EXPR_ADD:
        return w - other;
    case EXPR_SUB:
        return slot == 0 ? w + other : other - w;
    case EXPR_MUL:
        return w / other;
    case EXPR_DIV:
        return slot == 0 ? w * other : other / w;
    case EXPR_POW:
        return slot == 0 ? pow(w, 1 / other) : log(w) / log(other);
    default:
        return NAN;
    }
}

int search_vary_wish(double *wanted, int *scale, const vary_parent *p, size_t node, int bare,
                     const head_rows *r)
{
    size_t k = 0;
    while (k + 1 < p->h.terms && p->h.at[k + 1] <= node)
        k++;
    size_t at = p->h.at[k];
    if (node < at)
        return 0; /* one of the sums that join the terms */
    for (size_t i = 0; i < r->rows; i++) {
        double w = r->y[i];
        if (!bare) {
            w -= p->h.shift;
            for (size_t m = 0; m < p->h.terms; m++)
                w -= m == k ? 0 : p->h.factor[m] * p->v->at[p->h.at[m]][i];
            w /= p->h.factor[k];
        }
        wanted[i] = w;
    }
    *scale = 1;
    while (at != node) {
        int op = p->e.node[at].op, arity = expr_ops[op].arity;
        size_t left = at + 1, right = arity == 2 ? expr_child(p->e, at, 1) : at;
        int slot = arity == 2 && node >= right;
        size_t next = slot ? right : left;
        const double *now = p->v->at[next];
        const double *other = arity == 2 ? p->v->at[slot ? left : right] : NULL;
        for (size_t i = 0; i < r->rows; i++) {
            wanted[i] = arity == 2 ? inverse_of_two(op, slot, wanted[i], other[i])
                                   : inverse(op, wanted[i], now[i]);
            if (!isfinite(wanted[i]))
                return 0;
        }
        *scale &= op == EXPR_MUL || op == EXPR_DIV || op == EXPR_INV || op == EXPR_SQRT ||
                  op == EXPR_POW2 || op == EXPR_POW3 || op == EXPR_ABS || op == EXPR_NEG;
        at = next;
    }
    return 1;
}

/* shift + factor * e, without what is nothing. */
static expr placed(vary *q, expr e, double shift, double factor, double size, int scale)
{
    if (!scale && fabs(factor - 1) > NOTHING)
        e = search_binary(EXPR_MUL, search_number(factor, q->a), e, q->a);
    else if (scale)
        shift /= factor;
    if (fabs(shift) > NOTHING * size && isfinite(shift))
        e = search_binary(EXPR_ADD, search_number(shift, q->a), e, q->a);
    return e;
}

/* What is nearest to `wanted` = shift + factor * e: a part, or a product of powers. */
static expr nearest(vary *q, const double *wanted, double *shift, double *factor, double *rest)
{
    double b, left;
    const pool_part *p = search_pool_match(q->pool, wanted, q->random, shift, factor, rest);
    expr e = search_pool_power(q->pool, wanted, &b, &left, q->a);
    q->evaluations += SCAN_COST + 1;
    if (e.node && (!p || left < 0.5 * *rest)) {
        *shift = 0;
        *factor = b;
        *rest = left;
        return e;
    }
    return p ? p->e : none;
}

/* The best of a few ways to write `wanted` with two parts, or an operator over one. */
static expr match(vary *q, const double *wanted, int scale, int at_top)
{
    double best = INFINITY, a, b, rest, changed[SEARCH_FEW], size = 0;
    size_t rows = q->rows->rows;
    expr out = none;
    for (size_t i = 0; i < rows; i++)
        size = fmax(size, fabs(wanted[i]));
    expr near = nearest(q, wanted, &a, &b, &rest);
    if (near.node) {
        best = rest;
        out = placed(q, near, at_top ? 0 : a, b, scale ? size / fabs(b) : size, scale);
    }
    if (best < 1e-9 || below(q, 2))
        return out;
    for (int turn = 0; turn < PAIR_TRIES; turn++) {
        const pool_part *with = any_part(q);
        int op = q->ops->unaries ? (int)q->ops->unary[below(q, q->ops->unaries)] : EXPR_NEG;
        size_t kind = below(q, 5), good = 1;
        for (size_t i = 0; i < rows; i++) {
            double w = wanted[i], v = with->value[i];
            changed[i] = kind == 0   ? w / v
                         : kind == 1 ? w * v
                         : kind == 2 ? v / w
                         : kind == 3 ? w
                                     : inverse(op, w, 1);
            good &= isfinite(changed[i]) != 0;
        }
        if (kind == 3) { /* what the best multiple of `with` leaves */
            double mean = 0, dot = 0;
            for (size_t i = 0; i < rows; i++)
                mean += wanted[i] / (double)rows;
            for (size_t i = 0; i < rows; i++)
                dot += (with->value[i] - with->mean) * (wanted[i] - mean);
            dot /= with->length * with->length;
            for (size_t i = 0; i < rows; i++)
                changed[i] -= dot * with->value[i];
        }
        if (!good)
            continue;
        near = nearest(q, changed, &a, &b, &rest);
        if (!near.node || !(rest < best))
            continue;
        best = rest;
        double s = 0;
        for (size_t i = 0; i < rows; i++)
            s = fmax(s, fabs(changed[i]));
        int free = kind <= 1 && scale; /* the factor may go to the whole */
        expr u = placed(q, near, a, b, free ? s / fabs(b) : s, free);
        switch (kind) {
        case 0:
            out = search_binary(EXPR_MUL, u, with->e, q->a);
            break;
        case 1:
            out = search_binary(EXPR_DIV, u, with->e, q->a);
            break;
        case 2:
            out = search_binary(EXPR_DIV, with->e, u, q->a);
            break;
        case 3:
            out = search_binary(
                EXPR_ADD, u, search_binary(EXPR_MUL, search_number(1, q->a), with->e, q->a), q->a);
            break;
        default:
            out = search_unary((expr_op)op, u, q->a);
        }
    }
    return out;
}

expr search_vary_wanted(vary *q, const vary_parent *p)
{
    double wanted[SEARCH_FEW];
    int scale, bare = p->h.terms == 1 && below(q, 2);
    size_t node = below(q, p->e.count);
    if (!search_vary_wish(wanted, &scale, p, node, bare, q->rows))
        return none;
    int top = 0;
    for (size_t k = 0; k < p->h.terms; k++)
        top |= p->h.at[k] == node;
    expr new = match(q, wanted, scale, top);
    return new.node ? expr_splice(p->e, node, new, q->a) : none;
}

expr search_vary_residual(vary *q, const vary_parent *p)
{
    double rest[SEARCH_FEW];
    for (size_t i = 0; i < q->rows->rows; i++) {
        rest[i] = q->rows->y[i] - p->h.shift;
        for (size_t k = 0; k < p->h.terms; k++)
            rest[i] -= p->h.factor[k] * p->v->at[p->h.at[k]][i];
    }
    expr new = match(q, rest, 1, 1);
    return new.node ? search_binary(EXPR_ADD, p->e, new, q->a) : none;
}
