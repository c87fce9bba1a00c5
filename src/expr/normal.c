/* normal.c - ordinary formulas in the model's operators.
 *
 * One pass over the nodes from the last to the first. Each node is made by a constructor that
 * folds constants and puts them first, and every node carries the range of its values, so that
 * positivity is at hand where a power needs it. Training expressions come out unchanged. The rules:
 *
 *     a^n          = pow2, pow3, inv and products, for whole n up to INTEGER_POWER_MAX
 *     a^(n/2^r)    = (sqrt of a, r times)^n, for r up to 3
 *     a^b          = exp(b log a)    only where a > 0 is known, by its range or by assumption
 *     sinh a       = (exp a - exp(-a)) / 2, and so on for what has no word of its own
 *
 * Invariant: a node's [low, high] holds all its values wherever the variables are in their ranges,
 * so a rule that is allowed by a range changes no value there but by rounding. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "expr/expr_int.h"
#include "expr/vec.h"

enum { INTEGER_POWER_MAX = 64 };

typedef struct rewriter {
    expr_pool pool;
    const expr_domain *domain;
    snip_status *st;
    snip_code code; /* of the first failure */
} rewriter;

/* All constructors return a place in the pool, or -1 after a failure. */

__attribute__((format(printf, 2, 3))) static int refuse(rewriter *w, const char *format, ...)
{
    if (w->code == SNIP_OK) {
        char msg[LIMITS_MESSAGE];
        va_list args;
        va_start(args, format);
        vsnprintf(msg, sizeof msg, format, args);
        va_end(args);
        w->code = status_fail(w->st, SNIP_UNSUPPORTED, 0, "%s", msg);
    }
    return -1;
}

static const expr_pool_node *at(const rewriter *w, int i)
{
    return &w->pool.at[i];
}

static int is(const rewriter *w, int i, expr_op op)
{
    return at(w, i)->node.op == op;
}

static int is_number(const rewriter *w, int i)
{
    return is(w, i, EXPR_NUMBER);
}

static double value(const rewriter *w, int i)
{
    return at(w, i)->node.value;
}

static int add(rewriter *w, expr_node node, int kid1, int kid2, double low, double high)
{
    if (w->code != SNIP_OK)
        return -1;
    /* The pool may be larger than the result: rewriting leaves unused nodes behind. */
    if (w->pool.count >= 40 * EXPR_NODES_MAX)
        return refuse(w, "the rewritten formula is too large");
    int i = expr_pool_add(&w->pool, node, kid1, kid2);
    if (i < 0) {
        w->code = status_nomem(w->st);
        return -1;
    }
    /* NaN bounds (inf - inf) mean that nothing is known. */
    w->pool.at[i].low = isnan(low) ? -INFINITY : low;
    w->pool.at[i].high = isnan(high) ? INFINITY : high;
    return i;
}

static int number_as(rewriter *w, double v, int fixed)
{
    return add(w, (expr_node){ .op = EXPR_NUMBER, .fixed = fixed != 0, .value = v }, -1, -1, v, v);
}

/* A number of our own. */
static int number(rewriter *w, double v)
{
    return number_as(w, v, 1);
}

static int is_fixed(const rewriter *w, int i)
{
    return at(w, i)->node.fixed;
}

/* A constant that can stand for what it was computed from: neither overflowed nor underflowed. Zero
 * is fine where it is exact. */
static int usable(double v, int zero_is_exact)
{
    return isfinite(v) && (fabs(v) >= DBL_MIN || (v == 0 && zero_is_exact));
}

/* The range of op over [low, high]. What is not listed is unbounded. */
static void unary_range(expr_op op, double low, double high, double *out_low, double *out_high)
{
    double l = -INFINITY, h = INFINITY;
    switch (op) {
    case EXPR_ABS:
        l = low > 0 ? low : high < 0 ? -high : 0;
        h = fmax(fabs(low), fabs(high));
        break;
    case EXPR_POW2:
        unary_range(EXPR_ABS, low, high, &l, &h);
        l *= l;
        h *= h;
        break;
    case EXPR_INV:
        if (low > 0 || high < 0) {
            l = 1 / high;
            h = 1 / low;
        }
        break;
    case EXPR_SQRT:
        l = sqrt(fmax(low, 0));
        h = sqrt(fmax(high, 0));
        break;
    case EXPR_LOG:
        l = log(fmax(low, 0));
        h = log(fmax(high, 0));
        break;
    case EXPR_EXP: /* greater than 0 even where the bound has underflowed */
        l = fmax(exp(low), DBL_TRUE_MIN);
        h = exp(high);
        break;
    case EXPR_SIN:
    case EXPR_COS:
        l = -1;
        h = 1;
        break;
    case EXPR_ARCSIN:
    case EXPR_ARCTAN:
        l = -M_PI / 2;
        h = M_PI / 2;
        break;
    case EXPR_ARCCOS:
        l = 0;
        h = M_PI;
        break;
    case EXPR_POW3:
        l = low * low * low;
        h = high * high * high;
        break;
    default:
        break;
    }
    *out_low = l;
    *out_high = h;
}

static int unary(rewriter *w, expr_op op, int a)
{
    if (a < 0)
        return -1;
    if (is_number(w, a)) {
        double x = value(w, a), v;
        expr_vec_best()->unary[op](&v, &x, 1);
        if (!usable(v, x == 0 || !expr_ops[op].vanishes))
            return refuse(w, "the constant part %s(%g) is not a usable number", expr_ops[op].name,
                          x);
        return number_as(w, v, is_fixed(w, a));
    }
    double low, high;
    unary_range(op, at(w, a)->low, at(w, a)->high, &low, &high);
    return add(w, (expr_node){ .op = (uint8_t)op }, a, -1, low, high);
}

static int binary(rewriter *w, expr_op op, int a, int b)
{
    double al = at(w, a)->low, ah = at(w, a)->high, bl = at(w, b)->low, bh = at(w, b)->high;
    double low = -INFINITY, high = INFINITY;
    if (op == EXPR_ADD) {
        low = al + bl;
        high = ah + bh;
    } else if (op == EXPR_SUB) {
        low = al - bh;
        high = ah - bl;
    } else { /* a product of bounds, where 0 times infinity is 0 */
        double corner[4] = { al * bl, al * bh, ah * bl, ah * bh };
        low = INFINITY;
        high = -INFINITY;
        for (int k = 0; k < 4; k++) {
            double c = isnan(corner[k]) ? 0 : corner[k];
            low = fmin(low, c);
            high = fmax(high, c);
        }
    }
    return add(w, (expr_node){ .op = (uint8_t)op }, a, b, low, high);
}

/* A sum or product: constants are folded, put first, and drawn out of a nested one. */
static int commutative(rewriter *w, expr_op op, int a, int b)
{
    if (a < 0 || b < 0)
        return -1;
    if (is_number(w, b) && !is_number(w, a)) {
        int t = a;
        a = b;
        b = t;
    }
    if (is_number(w, a)) {
        int inner = is_number(w, b)                                  ? b
                    : is(w, b, op) && is_number(w, at(w, b)->kid[0]) ? at(w, b)->kid[0]
                                                                     : -1;
        if (inner >= 0) {
            double x = value(w, a), y = value(w, inner), v = op == EXPR_ADD ? x + y : x * y;
            int fixed = is_fixed(w, a) && is_fixed(w, inner);
            if (usable(v, op == EXPR_ADD || x == 0 || y == 0)) {
                if (inner == b)
                    return number_as(w, v, fixed);
                int rest = at(w, b)->kid[1];
                if (v == (op == EXPR_ADD ? 0 : 1)) /* the constants have cancelled */
                    return rest;
                return commutative(w, op, number_as(w, v, fixed), rest);
            }
            if (inner == b)
                return refuse(w, "a constant part is not a usable number");
        }
    }
    return binary(w, op, a, b);
}

static int sum(rewriter *w, int a, int b)
{
    return commutative(w, EXPR_ADD, a, b);
}

static int product(rewriter *w, int a, int b)
{
    return commutative(w, EXPR_MUL, a, b);
}

static int difference(rewriter *w, int a, int b)
{
    if (a < 0 || b < 0)
        return -1;
    if (is_number(w, b))
        return sum(w, number_as(w, -value(w, b), is_fixed(w, b)), a);
    return binary(w, EXPR_SUB, a, b);
}

static int negative(rewriter *w, int a)
{
    if (a < 0)
        return -1;
    if (is(w, a, EXPR_SUB))
        return difference(w, at(w, a)->kid[1], at(w, a)->kid[0]);
    return product(w, number(w, -1), a);
}

static int quotient(rewriter *w, int a, int b)
{
    if (a < 0 || b < 0)
        return -1;
    if (is_number(w, b) && value(w, b) == 0)
        return refuse(w, "division by the constant 0");
    if (is_number(w, a) && value(w, a) == 1)
        return unary(w, EXPR_INV, b);
    if (is_number(w, a) && is_number(w, b)) { /* 2/3 rounded once, not twice */
        double v = value(w, a) / value(w, b);
        if (usable(v, value(w, a) == 0))
            return number_as(w, v, is_fixed(w, a) && is_fixed(w, b));
    }
    return product(w, a, unary(w, EXPR_INV, b));
}

/* a^n for n >= 1 by squares, cubes and products. */
static int integer_power(rewriter *w, int a, int n)
{
    if (a < 0 || n == 1)
        return a;
    if (n % 2 == 0)
        return unary(w, EXPR_POW2, integer_power(w, a, n / 2));
    if (n % 3 == 0)
        return unary(w, EXPR_POW3, integer_power(w, a, n / 3));
    return product(w, a, integer_power(w, a, n - 1));
}

/* Whether a > 0 may be used. */
static int positive(const rewriter *w, int a)
{
    return at(w, a)->low > 0 || (w->domain && w->domain->assume_positive && at(w, a)->high > 0);
}

static int power_of_positive(rewriter *w, int a, int b)
{
    return unary(w, EXPR_EXP, product(w, b, unary(w, EXPR_LOG, a)));
}

static int power(rewriter *w, int a, int b)
{
    if (a < 0 || b < 0)
        return -1;
    if (!is_number(w, b)) {
        if (positive(w, a))
            return power_of_positive(w, a, b);
        return refuse(w, "no exact rewriting of 'pow' with a variable exponent: its base is not "
                         "known to be positive");
    }
    double n = value(w, b);
    if (is_number(w, a)) {
        double v = pow(value(w, a), n);
        int fixed = is_fixed(w, a) && (is_fixed(w, b) || n == floor(n));
        return usable(v, value(w, a) == 0)
                   ? number_as(w, v, fixed)
                   : refuse(w, "the constant part pow(%g, %g) is not a usable number", value(w, a),
                            n);
    }
    if (n == 0)
        return number(w, 1);
    /* Halves, quarters and eighths are roots of roots; they have the domain of the power. */
    double m = fabs(n);
    int roots = 0;
    while (roots < 3 && m != floor(m)) {
        m *= 2;
        roots++;
    }
    if (m == floor(m) && m <= INTEGER_POWER_MAX) {
        for (int k = 0; k < roots; k++)
            a = unary(w, EXPR_SQRT, a);
        a = integer_power(w, a, (int)m);
        return n < 0 ? unary(w, EXPR_INV, a) : a;
    }
    if (positive(w, a))
        return power_of_positive(w, a, b);
    if (m == floor(m))
        return refuse(
            w, "no rewriting of 'pow' with exponent %g: beyond %d only a positive base has one", n,
            INTEGER_POWER_MAX);
    return refuse(w,
                  "no exact rewriting of 'pow' with exponent %g: its base is not known to be "
                  "positive",
                  n);
}

/* (exp(a) + s*exp(-a)) / 2 */
static int hyperbolic(rewriter *w, int a, int s)
{
    int up = unary(w, EXPR_EXP, a), down = unary(w, EXPR_EXP, negative(w, a));
    return product(w, number(w, 0.5), s > 0 ? sum(w, up, down) : difference(w, up, down));
}

/* log(a + sqrt(a^2 + s)) */
static int area(rewriter *w, int a, double s)
{
    int root = unary(w, EXPR_SQRT, sum(w, number(w, s), unary(w, EXPR_POW2, a)));
    return unary(w, EXPR_LOG, sum(w, a, root));
}

/* (a + b + s*|a - b|) / 2 */
static int extreme(rewriter *w, int a, int b, int s)
{
    int both = sum(w, a, b), gap = unary(w, EXPR_ABS, difference(w, a, b));
    return product(w, number(w, 0.5), s > 0 ? sum(w, both, gap) : difference(w, both, gap));
}

static int rewrite_unary(rewriter *w, expr_op op, int a)
{
    if (a < 0)
        return -1;
    if ((int)op < EXPR_VOCABULARY_END || is_number(w, a))
        return unary(w, op, a);
    switch (op) {
    case EXPR_NEG:
        return negative(w, a);
    case EXPR_SINH:
        return hyperbolic(w, a, -1);
    case EXPR_COSH:
        return hyperbolic(w, a, 1);
    case EXPR_TANH: { /* 1 - 2/(exp(2a) + 1): right at both ends */
        int e = unary(w, EXPR_EXP, product(w, number(w, 2), a));
        int fraction = unary(w, EXPR_INV, sum(w, number(w, 1), e));
        return sum(w, number(w, 1), product(w, number(w, -2), fraction));
    }
    case EXPR_ARCSINH:
        return area(w, a, 1);
    case EXPR_ARCCOSH: /* real for a >= 1 only, where sqrt(a^2 - 1) would also allow a <= -1 */
        if (at(w, a)->low > -1)
            return area(w, a, -1);
        return refuse(w, "no exact rewriting of 'arccosh': its argument is not known to be "
                         "greater than -1");
    case EXPR_ARCTANH: {
        int up = sum(w, number(w, 1), a), down = difference(w, number(w, 1), a);
        return product(w, number(w, 0.5), unary(w, EXPR_LOG, quotient(w, up, down)));
    }
    case EXPR_LOG2:
        return product(w, number(w, 1 / M_LN2), unary(w, EXPR_LOG, a));
    case EXPR_LOG10:
        return product(w, number(w, 1 / M_LN10), unary(w, EXPR_LOG, a));
    case EXPR_LOG1P:
        return unary(w, EXPR_LOG, sum(w, number(w, 1), a));
    case EXPR_EXPM1:
        return sum(w, number(w, -1), unary(w, EXPR_EXP, a));
    case EXPR_EXP2:
        return unary(w, EXPR_EXP, product(w, number(w, M_LN2), a));
    case EXPR_CBRT: /* a * (a^2)^(-1/3) where a may be negative */
        if (at(w, a)->low > 0)
            return power_of_positive(w, a, number(w, 1.0 / 3));
        return product(w, a, power_of_positive(w, unary(w, EXPR_POW2, a), number(w, -1.0 / 3)));
    case EXPR_SIGN:
        if (at(w, a)->low > 0 || at(w, a)->high < 0)
            return number(w, at(w, a)->low > 0 ? 1 : -1);
        return refuse(w, "no exact rewriting of 'sign': the sign of its argument is not known");
    default:
        return refuse(w, "no exact rewriting of '%s' in the model's operators", expr_ops[op].name);
    }
}

static int rewrite_binary(rewriter *w, expr_op op, int a, int b)
{
    switch (op) {
    case EXPR_ADD:
        return sum(w, a, b);
    case EXPR_SUB:
        return difference(w, a, b);
    case EXPR_MUL:
        return product(w, a, b);
    case EXPR_DIV:
        return quotient(w, a, b);
    case EXPR_POW:
        return power(w, a, b);
    case EXPR_ATAN2:
        if (a >= 0 && b >= 0 && is_number(w, a) && is_number(w, b)) {
            double y = at(w, a)->node.value, x = at(w, b)->node.value, v;
            expr_vec_best()->binary[EXPR_ATAN2](&v, &y, &x, 1);
            return number_as(w, v, at(w, a)->node.fixed && at(w, b)->node.fixed);
        }
        if (a >= 0 && b >= 0 && at(w, b)->low > 0) /* then it is arctan(a/b) */
            return unary(w, EXPR_ARCTAN, quotient(w, a, b));
        return refuse(w, "no exact rewriting of 'atan2': its second argument is not known to be "
                         "greater than 0");
    case EXPR_MIN:
    case EXPR_MAX:
        return a < 0 || b < 0 ? -1 : extreme(w, a, b, op == EXPR_MAX ? 1 : -1);
    default:
        return refuse(w, "no exact rewriting of '%s' in the model's operators", expr_ops[op].name);
    }
}

static int rewrite_leaf(rewriter *w, const expr_node *n)
{
    switch (n->op) {
    case EXPR_VARIABLE: {
        const expr_domain *d = w->domain;
        int known = d && n->var < d->count;
        return add(w, *n, -1, -1, known && d->low ? d->low[n->var] : -INFINITY,
                   known && d->high ? d->high[n->var] : INFINITY);
    }
    case EXPR_PI:
        return number(w, M_PI);
    case EXPR_E:
        return number(w, M_E);
    case EXPR_GAMMA:
        return number(w, EXPR_EULER_GAMMA);
    default:
        return number_as(w, n->value, n->fixed);
    }
}

snip_code expr_normal(expr *out, expr e, const expr_domain *domain, arena *a, snip_status *st)
{
    rewriter w = { .pool = { .a = a }, .domain = domain, .st = st };
    *out = (expr){ NULL, 0 };
    int *stack = arena_array(a, e.count, sizeof *stack);
    if (!stack)
        return status_nomem(st);
    size_t top = 0;
    for (size_t i = e.count; i-- > 0;) {
        const expr_node *n = &e.node[i];
        int arity = expr_ops[n->op].arity, made;
        if (arity == 0)
            made = rewrite_leaf(&w, n);
        else if (arity == 1)
            made = rewrite_unary(&w, (expr_op)n->op, stack[--top]);
        else {
            int first = stack[--top];
            made = rewrite_binary(&w, (expr_op)n->op, first, stack[--top]);
        }
        if (w.code != SNIP_OK)
            return w.code;
        stack[top++] = made;
    }
    return expr_pool_flatten(out, &w.pool, stack[0], a, st);
}
