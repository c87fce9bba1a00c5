/* vec.c - see vec.h. Compiled once per instruction set with LANES and ISA_SUFFIX set.
 *
 * Plain loops are left to the compiler; functions go through SLEEF, LANES doubles at a time. */
#include "expr/vec.h"

#include <float.h>
#include <math.h>
#include <sleef.h>
#include <stdint.h>
#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)

#if LANES == 8
typedef __m512d vd;
typedef Sleef___m512d_2 vd2;
#define SLEEF(name, ulp) Sleef_finz_##name##d8_##ulp##avx512f
#elif LANES == 4
typedef __m256d vd;
typedef Sleef___m256d_2 vd2;
#define SLEEF(name, ulp) Sleef_finz_##name##d4_##ulp##avx2
#else
typedef double vd;
typedef Sleef_double_2 vd2;
#ifdef FP_FAST_FMA
#define SLEEF(name, ulp) Sleef_finz_##name##d1_##ulp##purecfma
#else
#define SLEEF(name, ulp) Sleef_cinz_##name##d1_##ulp##purec
#endif
#endif

static vd load(const double *p)
{
    vd v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void store(double *p, vd v)
{
    memcpy(p, &v, sizeof v);
}

/* y = f(x) by SLEEF; the last few go through a padded copy. */
#define SLEEF_UNARY(name, function)                                                                \
    static void name(double *y, const double *x, size_t n)                                         \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + LANES <= n; i += LANES)                                                         \
            store(y + i, function(load(x + i)));                                                   \
        if (i < n) {                                                                               \
            double pad[LANES] = { 0 };                                                             \
            memcpy(pad, x + i, (n - i) * sizeof *x);                                               \
            store(pad, function(load(pad)));                                                       \
            memcpy(y + i, pad, (n - i) * sizeof *x);                                               \
        }                                                                                          \
    }

#define LOOP_UNARY(name, expression)                                                               \
    static void name(double *y, const double *x, size_t n)                                         \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            double a = x[i];                                                                       \
            y[i] = expression;                                                                     \
        }                                                                                          \
    }

#define LOOP_BINARY(name, expression)                                                              \
    static void name(double *y, const double *p, const double *q, size_t n)                        \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            double a = p[i], b = q[i];                                                             \
            y[i] = expression;                                                                     \
        }                                                                                          \
    }

SLEEF_UNARY(do_EXP, SLEEF(exp, u10))
SLEEF_UNARY(do_SIN, SLEEF(sin, u10))
SLEEF_UNARY(do_COS, SLEEF(cos, u10))
SLEEF_UNARY(do_TAN, SLEEF(tan, u10))
SLEEF_UNARY(do_ARCSIN, SLEEF(asin, u10))
SLEEF_UNARY(do_ARCCOS, SLEEF(acos, u10))
SLEEF_UNARY(do_ARCTAN, SLEEF(atan, u10))
SLEEF_UNARY(do_TANH, SLEEF(tanh, u10))
SLEEF_UNARY(do_ARCTANH, SLEEF(atanh, u10))
SLEEF_UNARY(do_EXPM1, SLEEF(expm1, u10))
SLEEF_UNARY(do_EXP2, SLEEF(exp2, u10))
SLEEF_UNARY(do_CBRT, SLEEF(cbrt, u10))
SLEEF_UNARY(do_ERF, SLEEF(erf, u10))
SLEEF_UNARY(log_ieee, SLEEF(log, u10))
SLEEF_UNARY(log2_ieee, SLEEF(log2, u10))
SLEEF_UNARY(log10_ieee, SLEEF(log10, u10))

/* SLEEF overflows inside these for large arguments; there the C library takes over. */
#define SLEEF_BELOW(name, function, limit, beyond)                                                 \
    static void name(double *y, const double *x, size_t n)                                         \
    {                                                                                              \
        for (size_t i = 0; i < n; i += LANES) {                                                    \
            double in[LANES] = { 0 }, out[LANES];                                                  \
            size_t now = n - i < LANES ? n - i : LANES;                                            \
            memcpy(in, x + i, now * sizeof *x);                                                    \
            store(out, function(load(in)));                                                        \
            for (size_t l = 0; l < now; l++)                                                       \
                y[i + l] = fabs(in[l]) > limit ? beyond(in[l]) : out[l];                           \
        }                                                                                          \
    }

SLEEF_BELOW(do_SINH, SLEEF(sinh, u10), 700, sinh)
SLEEF_BELOW(do_COSH, SLEEF(cosh, u10), 700, cosh)
SLEEF_BELOW(do_ARCSINH, SLEEF(asinh, u10), 1e150, asinh)
SLEEF_BELOW(do_ARCCOSH, SLEEF(acosh, u10), 1e150, acosh)
SLEEF_BELOW(log1p_ieee, SLEEF(log1p, u10), 1e300, log1p)

/* A logarithm is -inf at its pole only, and NaN is what the reference gives there. */
#define POLE_IS_NAN(name, ieee)                                                                    \
    static void name(double *y, const double *x, size_t n)                                         \
    {                                                                                              \
        ieee(y, x, n);                                                                             \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = y[i] == -INFINITY ? NAN : y[i];                                                 \
    }

POLE_IS_NAN(do_LOG, log_ieee)
POLE_IS_NAN(do_LOG2, log2_ieee)
POLE_IS_NAN(do_LOG10, log10_ieee)
POLE_IS_NAN(do_LOG1P, log1p_ieee)

LOOP_UNARY(do_ABS, fabs(a))
LOOP_UNARY(do_INV, a == 0 ? NAN : 1 / a)
LOOP_UNARY(do_SQRT, __builtin_sqrt(a))
LOOP_UNARY(do_POW2, a *a)
LOOP_UNARY(do_NEG, -a)
LOOP_UNARY(do_SIGN, a > 0 ? 1 : a < 0 ? -1 : a)
LOOP_UNARY(do_FLOOR, floor(a))
LOOP_UNARY(do_CEIL, ceil(a))

/* The cube rounded once, as a good pow(a, 3) gives it: a cosine of something huge would show the
 * difference. The products' rounding errors are exact by fused multiply-add. */
static double cube(double a)
{
    double p = a * a, q = p * a;
    double low = __builtin_fma(p, a, -q) + __builtin_fma(a, a, -p) * a;
    return fabs(q) <= DBL_MAX && low != 0 ? q + low : q; /* -0.0 keeps its sign */
}
LOOP_UNARY(do_POW3, cube(a))

LOOP_BINARY(do_ADD, a + b)
LOOP_BINARY(do_SUB, a - b)
LOOP_BINARY(do_MUL, a *b)
LOOP_BINARY(do_DIV, b == 0 ? NAN : a / b)
LOOP_BINARY(do_MIN, a < b || a != a ? a : b)
LOOP_BINARY(do_MAX, a > b || a != a ? a : b)

#define SLEEF_BINARY(name, function)                                                               \
    static void name(double *y, const double *a, const double *b, size_t n)                        \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + LANES <= n; i += LANES)                                                         \
            store(y + i, function(load(a + i), load(b + i)));                                      \
        if (i < n) {                                                                               \
            double p[LANES] = { 0 }, q[LANES] = { 0 };                                             \
            memcpy(p, a + i, (n - i) * sizeof *a);                                                 \
            memcpy(q, b + i, (n - i) * sizeof *b);                                                 \
            store(p, function(load(p), load(q)));                                                  \
            memcpy(y + i, p, (n - i) * sizeof *y);                                                 \
        }                                                                                          \
    }

SLEEF_BINARY(do_POW, SLEEF(pow, u10))
SLEEF_BINARY(do_ATAN2, SLEEF(atan2, u10))

static size_t count_finite(const double *x, size_t n)
{
    size_t good = 0;
    for (size_t i = 0; i < n; i++)
        good += fabs(x[i]) <= DBL_MAX;
    return good;
}

static int all_finite(const double *x, size_t n)
{
    int64_t bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= -(int64_t) !(fabs(x[i]) <= DBL_MAX);
    return bad == 0;
}

static int all_normal(const double *x, size_t n)
{
    int64_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        double a = fabs(x[i]);
        bad |= -(int64_t) !(a <= DBL_MAX) | -(int64_t) !(a >= DBL_MIN);
    }
    return bad == 0;
}

/* Sums run in as many partial sums as the widest instruction set has lanes, whatever it is here. */
enum { SUMS = 8 };

static double total(const double *s)
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* Adds `expression` of row i to partial sum l, for all rows. */
#define SUM_OVER_ROWS(expression)                                                                  \
    do {                                                                                           \
        size_t whole = n - n % SUMS;                                                               \
        for (size_t row = 0; row < whole; row += SUMS)                                             \
            for (size_t l = 0; l < SUMS; l++) {                                                    \
                size_t i = row + l;                                                                \
                expression;                                                                        \
            }                                                                                      \
        for (size_t i = whole; i < n; i++) {                                                       \
            size_t l = i - whole;                                                                  \
            expression;                                                                            \
        }                                                                                          \
    } while (0)

static double unexplained(const double *v, const double *y, size_t n)
{
    double sum[SUMS] = { 0 }, vv[SUMS] = { 0 }, vy[SUMS] = { 0 }, rest[SUMS] = { 0 };
    SUM_OVER_ROWS(sum[l] += v[i]);
    double mean = total(sum) / (double)n;
    SUM_OVER_ROWS({
        double d = v[i] - mean;
        vv[l] += d * d;
        vy[l] += d * y[i];
    });
    double size = total(vv), with = total(vy), loss = 1 - with * with / size;
    if (!(size <= DBL_MAX))
        return INFINITY;
    if (size <= (double)n * 1e-26 * mean * mean || size < DBL_MIN)
        return 1; /* constant but for rounding */
    if (loss > 1e-3)
        return loss;
    /* The difference above has lost its digits: the residuals have them. */
    double slope = with / size;
    SUM_OVER_ROWS({
        double d = y[i] - slope * (v[i] - mean);
        rest[l] += d * d;
    });
    return total(rest);
}

/* One pair of deviates from the two uniform numbers u and v, LANES pairs at a time. */
static void gauss_lanes(double *u, double *v)
{
    double r[LANES], t[LANES];
    for (int l = 0; l < LANES; l++) {
        r[l] = 1 - u[l]; /* in (0, 1]: its logarithm is finite */
        t[l] = 2 * v[l];
    }
    store(r, SLEEF(log, u10)(load(r)));
    vd2 sc = SLEEF(sincospi, u35)(load(t));
    double s[LANES], c[LANES];
    store(s, sc.x);
    store(c, sc.y);
    for (int l = 0; l < LANES; l++) {
        r[l] = __builtin_sqrt(-2 * r[l]);
        u[l] = r[l] * c[l];
        v[l] = r[l] * s[l];
    }
}

static void gauss(double *u, size_t pairs)
{
    double *v = u + pairs;
    size_t i = 0;
    for (; i + LANES <= pairs; i += LANES)
        gauss_lanes(u + i, v + i);
    if (i < pairs) {
        double p[LANES] = { 0 }, q[LANES] = { 0 };
        memcpy(p, u + i, (pairs - i) * sizeof *u);
        memcpy(q, v + i, (pairs - i) * sizeof *v);
        gauss_lanes(p, q);
        memcpy(u + i, p, (pairs - i) * sizeof *u);
        memcpy(v + i, q, (pairs - i) * sizeof *v);
    }
}

/* The loop of an operator is do_NAME; one that is missing does not compile. */
#define UNARY_0(constant)                  NULL,
#define UNARY_1(constant)                  do_##constant,
#define UNARY_2(constant)                  NULL,
#define UNARY(constant, name, arity, ...)  UNARY_##arity(constant)
#define BINARY_0(constant)                 NULL,
#define BINARY_1(constant)                 NULL,
#define BINARY_2(constant)                 do_##constant,
#define BINARY(constant, name, arity, ...) BINARY_##arity(constant)

extern const expr_vec PASTE(expr_vec_, ISA_SUFFIX);
const expr_vec PASTE(expr_vec_, ISA_SUFFIX) = {
    .unary = { EXPR_OPS(UNARY) },
    .binary = { EXPR_OPS(BINARY) },
    .finite = count_finite,
    .all_finite = all_finite,
    .all_normal = all_normal,
    .unexplained = unexplained,
    .gauss = gauss,
};
