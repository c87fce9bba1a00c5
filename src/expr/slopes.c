/* slopes.c - see slopes.h. Compiled once per instruction set with ISA_SUFFIX set. */
#include "expr/slopes.h"

#include <math.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)

/* slope_NAME by a formula for each row; the second one by a loop first, whose result is in d. */
#define SLOPE(name, expression) SLOPE_AFTER(name, (void)0, expression)
#define SLOPE_AFTER(name, loop, expression)                                                        \
    static void slope_##name(double *restrict out, const expr_slope_at *p)                         \
    {                                                                                              \
        const double *a = p->a, *b = p->b, *v = p->v, *g = p->g;                                   \
        double *d = p->d;                                                                          \
        int slot = p->slot;                                                                        \
        (void)a, (void)b, (void)v, (void)d, (void)slot;                                            \
        loop;                                                                                      \
        for (size_t r = 0; r < p->n; r++) {                                                        \
            double slope = expression;                                                             \
            out[r] = g[r] == 0 ? 0 : g[r] * slope;                                                 \
        }                                                                                          \
    }
#define LOOP(op) p->vec->unary[EXPR_##op](d, a, p->n)

SLOPE(ABS, a[r] > 0 ? 1 : a[r] < 0 ? -1 : a[r])
SLOPE(INV, -v[r] * v[r])
SLOPE(SQRT, 0.5 / v[r])
SLOPE(LOG, 1 / a[r])
SLOPE(LOG2, M_LOG2E / a[r])
SLOPE(LOG10, M_LOG10E / a[r])
SLOPE(LOG1P, 1 / (1 + a[r]))
SLOPE(EXP, v[r])
SLOPE(EXP2, M_LN2 *v[r])
SLOPE_AFTER(EXPM1, LOOP(EXP), d[r]) /* v + 1 would have lost its digits below zero */
SLOPE_AFTER(SIN, LOOP(COS), d[r])
SLOPE_AFTER(COS, LOOP(SIN), -d[r])
SLOPE(TAN, 1 + v[r] * v[r])
SLOPE(ARCSIN, 1 / sqrt((1 - a[r]) * (1 + a[r])))
SLOPE(ARCCOS, -1 / sqrt((1 - a[r]) * (1 + a[r])))
SLOPE(ARCTAN, 1 / (1 + a[r] * a[r]))
SLOPE_AFTER(SINH, LOOP(COSH), d[r])
SLOPE_AFTER(COSH, LOOP(SINH), d[r])
SLOPE(TANH, (1 - v[r]) * (1 + v[r]))
SLOPE(ARCSINH, 1 / sqrt(1 + a[r] * a[r]))
SLOPE(ARCCOSH, 1 / (sqrt(a[r] - 1) * sqrt(a[r] + 1)))
SLOPE(ARCTANH, 1 / ((1 - a[r]) * (1 + a[r])))
SLOPE(POW2, 2 * a[r])
SLOPE(POW3, 3 * a[r] * a[r])
SLOPE(CBRT, 1 / (3 * v[r] * v[r]))
SLOPE(NEG, -1)
SLOPE(SIGN, 0) /* flat almost everywhere */
SLOPE(FLOOR, 0)
SLOPE(CEIL, 0)

/* d = exp(-a^2) */
static void bell(double *d, const double *a, const expr_slope_at *p)
{
    for (size_t r = 0; r < p->n; r++)
        d[r] = -a[r] * a[r];
    p->vec->unary[EXPR_EXP](d, d, p->n);
}

SLOPE_AFTER(ERF, bell(d, a, p), M_2_SQRTPI *d[r])

SLOPE(ADD, 1)
SLOPE(SUB, slot == 0 ? 1 : -1)
SLOPE(MUL, slot == 0 ? b[r] : a[r])
SLOPE(DIV, slot == 0 ? 1 / b[r] : -v[r] / b[r])
SLOPE(MIN, (a[r] < b[r] || a[r] != a[r]) == (slot == 0))
SLOPE(MAX, (a[r] > b[r] || a[r] != a[r]) == (slot == 0))
/* of a/b, so to speak: b/(a^2 + b^2) and -a/(a^2 + b^2) */
SLOPE(ATAN2, (slot == 0 ? b[r] : -a[r]) / hypot(a[r], b[r]) / hypot(a[r], b[r]))

/* d = a^(b-1), or log(a) */
static void power_parts(double *d, const expr_slope_at *p)
{
    if (p->slot == 1) {
        p->vec->unary[EXPR_LOG](d, p->a, p->n);
        return;
    }
    for (size_t r = 0; r < p->n; r++)
        d[r] = p->b[r] - 1;
    p->vec->binary[EXPR_POW](d, p->a, d, p->n);
}

/* Of a^b by a: b a^(b-1); by b: v log(a), and its limit 0 for a = 0. */
SLOPE_AFTER(POW, power_parts(d, p),
            slot == 0               ? (b[r] == 0 ? 0 : b[r] * d[r])
            : a[r] == 0 && b[r] > 0 ? 0
                                    : v[r] * d[r])

/* One that is missing does not compile. */
#define SLOPE_0(constant)                 NULL,
#define SLOPE_1(constant)                 slope_##constant,
#define SLOPE_2(constant)                 slope_##constant,
#define ENTRY(constant, name, arity, ...) SLOPE_##arity(constant)

extern const expr_slopes PASTE(expr_slopes_, ISA_SUFFIX);
const expr_slopes PASTE(expr_slopes_, ISA_SUFFIX) = { .of = { EXPR_OPS(ENTRY) } };
