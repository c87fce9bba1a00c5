/* directions.c - see directions.h. Operators beyond SNIP's vocabulary, which no model reads, have
 * no known direction. */
#include "expr/directions.h"

#include <math.h>

#define INPUT_RANGE 2.0

/* Where the values of a node lie. The bounds are never NaN. */
typedef struct interval {
    double lo, hi;
} interval;

static const interval anywhere = { -INFINITY, INFINITY };

/* The bounds in order; anywhere if one is NaN. */
static interval between(double a, double b)
{
    if (isnan(a) || isnan(b))
        return anywhere;
    return a < b ? (interval){ a, b } : (interval){ b, a };
}

/* 1 where all values are at least 0, -1 where they are at most 0, else 0. */
static int sign_of(interval u)
{
    return u.lo >= 0 ? 1 : u.hi <= 0 ? -1 : 0;
}

static double times(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b; /* 0 * infinity is a bound that is never reached */
}

static interval product(interval a, interval b)
{
    double p = times(a.lo, b.lo), q = times(a.lo, b.hi), r = times(a.hi, b.lo),
           s = times(a.hi, b.hi);
    return (interval){ fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s)) };
}

static interval inverse(interval u)
{
    if (u.lo < 0 && u.hi > 0)
        return anywhere;
    double lo = u.hi == 0 ? -INFINITY : 1 / u.hi, hi = u.lo == 0 ? INFINITY : 1 / u.lo;
    return between(lo, hi);
}

/* Which of the branches between odd multiples of pi/2, where sin turns and tan has its poles, u
 * shifted by `phase` lies in; NaN where it is not one of them. */
static double branch_of(interval u, double phase)
{
    double from = floor((u.lo + phase) / M_PI + 0.5), to = floor((u.hi + phase) / M_PI + 0.5);
    return isfinite(from) && from == to ? from : NAN;
}

/* The sign of the slope of sin over u shifted by `phase`: 0 where it turns. */
static int sine_slope(interval u, double phase)
{
    double branch = branch_of(u, phase);
    return isnan(branch) ? 0 : fmod(branch, 2) == 0 ? 1 : -1;
}

static interval sine(interval u, double phase)
{
    return sine_slope(u, phase) ? between(sin(u.lo + phase), sin(u.hi + phase))
                                : (interval){ -1, 1 };
}

/* The square of u, whose larger bound is at least 0. */
static interval square(interval u)
{
    double a = u.lo * u.lo, b = u.hi * u.hi;
    return sign_of(u) ? between(a, b) : (interval){ 0, fmax(a, b) };
}

/* An operator's values where its operands lie in u and v. */
static interval values_of(const expr_node *n, interval u, interval v, int free)
{
    switch (n->op) {
    case EXPR_NUMBER:
        return free && !n->fixed ? anywhere : between(n->value, n->value);
    case EXPR_VARIABLE:
        return (interval){ -INPUT_RANGE, INPUT_RANGE };
    case EXPR_PI:
        return (interval){ M_PI, M_PI };
    case EXPR_E:
        return (interval){ M_E, M_E };
    case EXPR_GAMMA:
        return (interval){ EXPR_EULER_GAMMA, EXPR_EULER_GAMMA };
    case EXPR_ADD:
        return (interval){ u.lo + v.lo, u.hi + v.hi };
    case EXPR_SUB:
        return (interval){ u.lo - v.hi, u.hi - v.lo };
    case EXPR_MUL:
        return product(u, v);
    case EXPR_DIV:
        return product(u, inverse(v));
    case EXPR_ABS:
        return sign_of(u) ? between(fabs(u.lo), fabs(u.hi)) : (interval){ 0, fmax(-u.lo, u.hi) };
    case EXPR_INV:
        return inverse(u);
    case EXPR_SQRT:
        return (interval){ sqrt(fmax(u.lo, 0)), sqrt(fmax(u.hi, 0)) };
    case EXPR_LOG:
        return (interval){ log(fmax(u.lo, 0)), log(fmax(u.hi, 0)) };
    case EXPR_EXP:
        return (interval){ exp(u.lo), exp(u.hi) };
    case EXPR_SIN:
        return sine(u, 0);
    case EXPR_COS:
        return sine(u, M_PI_2);
    case EXPR_ARCSIN:
        return (interval){ -M_PI_2, M_PI_2 };
    case EXPR_ARCCOS:
        return (interval){ 0, M_PI };
    case EXPR_ARCTAN:
        return (interval){ atan(u.lo), atan(u.hi) };
    case EXPR_POW2:
        return square(u);
    case EXPR_POW3:
        return (interval){ u.lo * u.lo * u.lo, u.hi * u.hi * u.hi };
    default:
        return anywhere;
    }
}

/* The sign of an operator's derivative by the operand `slot`, 0 where it is not known. */
static int slope_of(expr_op op, int slot, interval u, interval v)
{
    switch (op) {
    case EXPR_ADD:
    case EXPR_SQRT:
    case EXPR_LOG:
    case EXPR_EXP:
    case EXPR_ARCSIN:
    case EXPR_ARCTAN:
    case EXPR_POW3:
        return 1;
    case EXPR_SUB:
        return slot ? -1 : 1;
    case EXPR_MUL:
        return sign_of(slot ? u : v);
    case EXPR_DIV:
        return slot ? (sign_of(v) ? -sign_of(u) : 0) : sign_of(v);
    case EXPR_INV: /* falls on either side of 0, but not across it */
        return sign_of(u) ? -1 : 0;
    case EXPR_ARCCOS:
        return -1;
    case EXPR_TAN:
        return !isnan(branch_of(u, 0));
    case EXPR_ABS:
    case EXPR_POW2:
        return sign_of(u);
    case EXPR_SIN:
        return sine_slope(u, 0);
    case EXPR_COS:
        return sine_slope(u, M_PI_2);
    default:
        return 0;
    }
}

int expr_directions(uint8_t *out, expr e, int free, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    interval *at = arena_array(tmp, e.count, sizeof *at);
    if (!at)
        return 0;
    for (size_t i = e.count; i-- > 0;) { /* operands stand after their operator */
        interval operand[2] = { anywhere, anywhere };
        for (int slot = 0; slot < expr_ops[e.node[i].op].arity; slot++)
            operand[slot] = at[expr_child(e, i, slot)];
        at[i] = values_of(&e.node[i], operand[0], operand[1], free);
        if (isnan(at[i].lo) || isnan(at[i].hi))
            at[i] = anywhere;
    }
    out[0] = EXPR_OF_THE_WHOLE;
    for (size_t i = 0; i < e.count; i++) {
        int arity = expr_ops[e.node[i].op].arity;
        interval operand[2] = { anywhere, anywhere };
        for (int slot = 0; slot < arity; slot++)
            operand[slot] = at[expr_child(e, i, slot)];
        for (int slot = 0; slot < arity; slot++) {
            int slope = slope_of(e.node[i].op, slot, operand[0], operand[1]);
            int own = slope < 0 ? EXPR_PARENT_FALLS | EXPR_FALLS : 0;
            int above = out[i] & (EXPR_OF_THE_WHOLE | EXPR_FALLS);
            out[expr_child(e, i, slot)] = (uint8_t)(slope ? above ^ own : 0);
        }
    }
    arena_reset(tmp, mark);
    return 1;
}
