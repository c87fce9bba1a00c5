/* law_forms.c - the forms of laws: textbook shapes of one argument, and ways to join them.
 *
 * Free constants are drawn to suit the values that they meet, so that over its range a function
 * shows its shape: exponents of order 1, a few radians or periods, half-saturation within reach.
 * They stand where people put them: an overall factor, a scale inside functions, coefficients of
 * sums. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "data/laws_int.h"

/* ---- shapes of one argument ---- */

static double free_exponent(law_writer *w)
{
    double p = law_rounded(law_between(w, 0.15, 3.4), 3);
    p = floor(100 * p + 0.5) / 100;
    return p == floor(p) ? p + 0.35 : p;
}

static int line(law_writer *w, int t)
{
    double s = law_some_size(w);
    return law_either(w, law_number(w, s * law_log_between(w, 0.2, 5)), law_weighted(w, t, s));
}

static int polynomial(law_writer *w, int t)
{
    double s = law_some_size(w);
    switch (law_pick(w, 9)) {
    case 0:
    case 1: {
        int start = law_either(w, law_number(w, s), law_weighted(w, t, s));
        return law_either(w, start, law_weighted(w, law_square(w, t), s));
    }
    case 2:
        return law_either(w, law_number(w, s), law_weighted(w, law_square(w, t), s));
    case 3:
        return law_either(w, law_weighted(w, t, s), law_weighted(w, law_square(w, t), s));
    case 4: {
        int away = law_square(w, law_minus(w, t, law_number(w, law_place(w, t))));
        return law_chance(w, 0.3) ? away
                                  : law_either(w, law_number(w, s), law_weighted(w, away, s));
    }
    case 5: {
        int start = law_either(w, law_number(w, s), law_weighted(w, t, s));
        start = law_either(w, start, law_weighted(w, law_square(w, t), s));
        return law_either(w, start, law_weighted(w, law_unary(w, EXPR_POW3, t), s));
    }
    case 6:
        return law_minus(w, law_weighted(w, t, s), law_weighted(w, law_unary(w, EXPR_POW3, t), s));
    case 7: {
        int room =
            law_minus(w, law_whole(w, 1),
                      law_over(w, t, law_number(w, law_high(w, t) * law_between(w, 0.6, 2))));
        return law_times(w, law_chance(w, 0.75) ? t : law_square(w, t), room);
    }
    default:
        return law_either(w, law_number(w, s), law_weighted(w, law_unary(w, EXPR_POW3, t), s));
    }
}

static int power_law(law_writer *w, int t)
{
    double s = law_some_size(w);
    if (law_is_power(w, t) || law_is_product(w, t)) /* their powers are written otherwise */
        return line(w, t);
    if (!law_positive(w, t))
        return law_chance(w, 0.6) ? law_square(w, t) : law_unary(w, EXPR_POW3, t);
    switch (law_pick(w, 8)) {
    case 0:
    case 1:
        return law_power(w, t, free_exponent(w));
    case 2:
        return law_power(w, t, -free_exponent(w));
    case 3:
        return law_either(w, law_number(w, s),
                          law_weighted(w, law_raised(w, t, free_exponent(w)), s));
    case 4:
        return law_either(w, law_number(w, s), law_weighted(w, law_power(w, t, -1), s));
    case 5:
        return law_either(w, law_number(w, s),
                          law_weighted(w, law_power(w, t, law_chance(w, 0.7) ? 0.5 : -2), s));
    case 6: {
        static const double known[] = { 0.5, 2, 3, -1, -2, -0.5, 1.5, 4, -3, 0.25, 0.75 };
        return law_power(w, t, known[law_pick(w, sizeof known / sizeof *known)]);
    }
    default:
        return law_raised(w, law_over(w, t, law_number(w, law_scale(w, t))), free_exponent(w));
    }
}

static int one_plus(law_writer *w, int t)
{
    return law_plus(w, law_whole(w, 1), t);
}

static int one_minus(law_writer *w, int t)
{
    return law_minus(w, law_whole(w, 1), t);
}

static int inverse(law_writer *w, int t)
{
    return law_over(w, law_whole(w, 1), t);
}

static int rational(law_writer *w, int t)
{
    double d = law_scale(w, t);
    if (!law_positive(w, t)) {
        int below = one_plus(w, law_square(w, law_per(w, t, d)));
        return law_over(w, law_chance(w, 0.5) ? law_whole(w, 1) : t, below);
    }
    switch (law_pick(w, 10)) {
    case 0:
    case 1:
        return law_over(w, t, law_plus(w, law_number(w, d), t));
    case 2:
        return inverse(w, law_plus(w, law_number(w, d), t));
    case 3:
        return inverse(w, one_plus(w, law_per(w, t, d)));
    case 4:
        return inverse(w, one_plus(w, law_raised(w, law_per(w, t, d), law_chance(w, 0.6) ? 2 : 3)));
    case 5: {
        double n = law_chance(w, 0.5) ? 2 : law_chance(w, 0.3) ? 4 : free_exponent(w);
        return inverse(w, one_plus(w, law_raised(w, law_over(w, law_number(w, d), t), n)));
    }
    case 6:
        return law_over(w, line(w, t), one_plus(w, law_per(w, t, d)));
    case 7: {
        double s = law_some_size(w);
        int below = law_plus(w, law_number(w, s), law_weighted(w, t, s));
        return law_over(w, law_chance(w, 0.5) ? law_whole(w, 1) : t, below);
    }
    case 8: {
        int more = law_over(w, law_square(w, t), law_number(w, law_scale(w, t)));
        return law_over(w, t, law_plus(w, law_plus(w, law_number(w, d), t), more));
    }
    default: {
        double s = law_some_size(w);
        int below = law_plus(w, law_number(w, s), law_weighted(w, law_square(w, t), s));
        return law_over(w, law_chance(w, 0.5) ? law_whole(w, 1) : t, below);
    }
    }
}

/* exp(-t/s) */
static int fading(law_writer *w, int t, double s)
{
    return law_unary(w, EXPR_EXP, law_negative(w, law_per(w, t, s)));
}

static int exponential(law_writer *w, int t)
{
    double s = law_decay(w, t);
    if (!law_positive(w, t))
        return law_chance(w, 0.6) ? fading(w, t, s) : law_unary(w, EXPR_EXP, law_per(w, t, s));
    switch (law_pick(w, 14)) {
    case 0:
    case 1:
        return fading(w, t, s);
    case 2:
        return law_unary(w, EXPR_EXP, law_per(w, t, s));
    case 3:
    case 4:
        return one_minus(w, fading(w, t, s));
    case 5:
        return law_times(w, t, fading(w, t, s));
    case 6: { /* an activation: a of the order of t */
        double a = law_size(w, t) * law_log_between(w, 0.5, 8);
        a = fmin(a, 15 * law_low(w, t));
        return law_unary(w, EXPR_EXP, law_negative(w, law_over(w, law_number(w, a), t)));
    }
    case 7: {
        double to = law_some_size(w);
        int quick = law_weighted(w, fading(w, t, s / law_between(w, 3, 8)), to);
        return law_plus(w, quick, law_weighted(w, fading(w, t, s), to));
    }
    case 8: {
        double b = law_rounded(law_between(w, 0.35, 2.5), 2);
        int stretched =
            law_raised(w, law_over(w, t, law_number(w, law_scale(w, t))), b == 1 ? 1.5 : b);
        int e = law_unary(w, EXPR_EXP, law_negative(w, stretched));
        return law_chance(w, 0.3) ? one_minus(w, e) : e;
    }
    case 9: {
        static const double orders[] = { 0.5, 2, 3 };
        return law_times(w, law_raised(w, t, orders[law_pick(w, 3)]), fading(w, t, s));
    }
    case 10:
        return inverse(w, law_minus(w, law_unary(w, EXPR_EXP, law_per(w, t, s)), law_whole(w, 1)));
    case 11: {
        int below = law_minus(w, law_unary(w, EXPR_EXP, law_per(w, t, s)), law_whole(w, 1));
        return law_over(w, law_raised(w, t, 1 + law_pick(w, 3)), below);
    }
    case 12: {
        double to = law_some_size(w);
        return law_either(w, law_number(w, to), law_weighted(w, fading(w, t, s), to));
    }
    default: /* rise and fall */
        return law_minus(w, fading(w, t, s), fading(w, t, s / law_between(w, 2, 8)));
    }
}

static int logarithm(law_writer *w, int t)
{
    double s = law_some_size(w);
    switch (law_pick(w, 8)) {
    case 0:
    case 1:
        return law_either(w, law_number(w, s), law_weighted(w, law_unary(w, EXPR_LOG, t), s));
    case 2:
        return law_times(w, t, law_unary(w, EXPR_LOG, t));
    case 3:
    case 4:
        return law_unary(w, EXPR_LOG, one_plus(w, law_per(w, t, law_scale(w, t))));
    case 5:
        return law_unary(w, EXPR_LOG, law_over(w, t, law_number(w, law_scale(w, t))));
    case 6:
        return law_unary(w, EXPR_LOG10,
                         law_chance(w, 0.5) ? t : law_over(w, t, law_number(w, law_scale(w, t))));
    default:
        return law_times(w, t,
                         law_unary(w, EXPR_LOG, law_over(w, t, law_number(w, law_scale(w, t)))));
    }
}

/* w*t + p with a few radians, up to a few periods, over the range. */
static int phase(law_writer *w, int t)
{
    double s = (law_high(w, t) - law_low(w, t)) / law_log_between(w, 1.2, 22);
    int turned = law_per(w, t, s);
    if (law_chance(w, 0.12)) { /* by its period */
        int circle = law_times(w, law_whole(w, 2), law_leaf(w, (expr_node){ .op = EXPR_PI }, NULL));
        turned = law_over(w, law_times(w, circle, t), law_number(w, 2 * M_PI * s));
    }
    return law_chance(w, 0.4) ? law_either(w, turned, law_number(w, law_between(w, 0.1, 3)))
                              : turned;
}

static int wave(law_writer *w, int t)
{
    return law_unary(w, law_chance(w, 0.6) ? EXPR_SIN : EXPR_COS, phase(w, t));
}

static int oscillation(law_writer *w, int t)
{
    double s = law_some_size(w);
    switch (law_pick(w, law_positive(w, t) ? 8 : 5)) {
    case 0:
    case 1:
        return wave(w, t);
    case 2:
        return law_plus(w, law_weighted(w, wave(w, t), s),
                        law_number(w, s * law_log_between(w, 0.3, 3)));
    case 3:
        return law_square(w, wave(w, t));
    case 4:
        return law_either(w, law_weighted(w, wave(w, t), s), law_weighted(w, wave(w, t), s));
    case 5:
    case 6:
        return law_times(w, fading(w, t, law_decay(w, t)), wave(w, t));
    default: {
        double k = law_log_between(w, 2, 20) / (law_high(w, t) - law_low(w, t));
        return law_over(w, law_unary(w, EXPR_SIN, law_factor(w, k, t)), t);
    }
    }
}

static int root(law_writer *w, int t)
{
    double s = law_scale(w, t);
    switch (law_pick(w, law_positive(w, t) ? 8 : 4)) {
    case 0:
        return law_unary(w, EXPR_SQRT, one_plus(w, law_square(w, law_per(w, t, s))));
    case 1:
        return inverse(w, law_unary(w, EXPR_SQRT, one_plus(w, law_square(w, law_per(w, t, s)))));
    case 2: {
        double c = law_top(w, t) * law_between(w, 1.02, 1.8);
        int inside =
            law_unary(w, EXPR_SQRT, one_minus(w, law_square(w, law_over(w, t, law_number(w, c)))));
        return law_chance(w, 0.5) ? inside : inverse(w, inside);
    }
    case 3:
        return law_unary(w, EXPR_SQRT, law_plus(w, law_number(w, s * s), law_square(w, t)));
    case 4:
        return law_unary(w, EXPR_SQRT, one_plus(w, law_per(w, t, s)));
    case 5: {
        double to = law_some_size(w);
        return law_unary(w, EXPR_SQRT, law_plus(w, law_number(w, to), law_weighted(w, t, to)));
    }
    case 6:
        return inverse(w, law_unary(w, EXPR_SQRT, one_plus(w, law_per(w, t, s))));
    default:
        return law_times(w, law_unary(w, EXPR_SQRT, t),
                         one_minus(w, law_over(w, t, law_number(w, 1.5 * law_top(w, t)))));
    }
}

static int bell(law_writer *w, int t)
{
    double m = law_place(w, t), s = law_width(w, t);
    int away = law_minus(w, t, law_number(w, m));
    switch (law_pick(w, law_positive(w, t) ? 7 : 5)) {
    case 0:
        return law_unary(w, EXPR_EXP,
                         law_negative(w, law_square(w, law_over(w, away, law_number(w, s)))));
    case 1: {
        int below = law_times(w, law_whole(w, 2), law_square(w, law_number(w, s)));
        return law_unary(w, EXPR_EXP, law_negative(w, law_over(w, law_square(w, away), below)));
    }
    case 2:
        return inverse(w, one_plus(w, law_square(w, law_over(w, away, law_number(w, s)))));
    case 3:
        return inverse(w, law_plus(w, law_square(w, away), law_number(w, s * s)));
    case 4:
        return inverse(w,
                       law_square(w, law_unary(w, EXPR_COSH, law_over(w, away, law_number(w, s)))));
    case 5: {
        int ratio = law_unary(w, EXPR_LOG, law_over(w, t, law_number(w, m)));
        int part = law_over(w, ratio, law_number(w, law_between(w, 0.2, 1.2)));
        return law_unary(w, EXPR_EXP, law_negative(w, law_square(w, part)));
    }
    default: {
        int e = law_unary(
            w, EXPR_EXP,
            law_negative(w, law_square(w, law_over(w, t, law_number(w, law_scale(w, t))))));
        return law_times(w, law_chance(w, 0.5) ? t : law_square(w, t), e);
    }
    }
}

static int sigmoid(law_writer *w, int t)
{
    double m = law_place(w, t), s = law_width(w, t);
    switch (law_pick(w, 7)) {
    case 0: {
        int away = law_over(w, law_minus(w, t, law_number(w, m)), law_number(w, s));
        return inverse(w, one_plus(w, law_unary(w, EXPR_EXP, law_negative(w, away))));
    }
    case 1: {
        double d = law_log_between(w, 1.5, 200), k = law_log(w, d) / m;
        k = isfinite(k) && k > 0 ? k : 1 / s;
        int e = law_unary(w, EXPR_EXP, law_negative(w, law_factor(w, k, t)));
        return inverse(w, one_plus(w, law_factor(w, d, e)));
    }
    case 2:
        return law_unary(w, EXPR_TANH, law_per(w, t, law_decay(w, t)));
    case 3:
        return law_unary(w, EXPR_TANH,
                         law_over(w, law_minus(w, t, law_number(w, m)), law_number(w, s)));
    case 4:
        return law_unary(w, EXPR_ARCTAN, law_per(w, t, law_scale(w, t)));
    case 5: {
        int away = law_over(w, law_minus(w, t, law_number(w, m)), law_number(w, s));
        return inverse(w, one_plus(w, law_unary(w, EXPR_EXP, away)));
    }
    default: {
        int e = law_unary(w, EXPR_EXP, law_negative(w, law_per(w, t, law_decay(w, t))));
        return law_unary(w, EXPR_EXP,
                         law_negative(w, law_factor(w, law_log_between(w, 0.5, 8), e)));
    }
    }
}

/* What pulls and pushes at a distance. */
static int potential(law_writer *w, int t)
{
    double s = law_some_size(w), m = law_low(w, t) * law_between(w, 0.6, 1.2);
    switch (law_pick(w, 6)) {
    case 0:
        return law_minus(w, law_weighted(w, law_power(w, t, -2), s),
                         law_weighted(w, law_power(w, t, -1), s));
    case 1: {
        int near = law_over(w, law_number(w, m), t);
        int six = law_raised(w, near, 6), twelve = law_raised(w, near, 12);
        return law_minus(w, twelve, six);
    }
    case 2: {
        int e = fading(w, law_minus(w, t, law_number(w, law_place(w, t))), law_width(w, t) * 3);
        return law_square(w, one_minus(w, e));
    }
    case 3:
        return law_over(w, fading(w, t, law_decay(w, t)), t);
    case 4: {
        double c = law_low(w, t) * law_between(w, 0.1, 0.8);
        return inverse(
            w, law_raised(w, law_minus(w, t, law_number(w, c)), law_chance(w, 0.5) ? 1 : 2));
    }
    default:
        return law_plus(w, law_weighted(w, t, s), law_weighted(w, law_power(w, t, -1), s));
    }
}

static int kink(law_writer *w, int t)
{
    return law_unary(w, EXPR_ABS, law_minus(w, t, law_number(w, law_place(w, t))));
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
    int n = law_is(w, t, EXPR_VARIABLE);
    for (int k = 0; k < expr_ops[w->term[t].node.op].arity; k++)
        n += leaves(w, law_kid(w, t, k));
    return n;
}

static int any_shape(law_writer *w, int t)
{
    double total = 0;
    int sign = law_positive(w, t);
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
    if (!law_is(w, t, EXPR_VARIABLE) && !law_chance(w, 0.25))
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
    return a < 0 ? t : law_times(w, a, t);
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
            t = law_unary(w, law_chance(w, 0.5) ? EXPR_SIN : EXPR_COS, law_fresh(w, LAW_ANGLE));
            p = law_chance(w, 0.2) ? 2 : 1;
        } else if (!simple && law_chance(w, 0.04)) {
            t = one_minus(w, law_fresh(w, LAW_FRACTION));
            p = law_chance(w, 0.3) ? -1 : 1;
        } else {
            t = law_fresh(w, LAW_ANY);
            p = exponent(w, law_positive(w, t));
            if (simple && law_chance(w, 0.8))
                p = p < 0 ? -1 : 1;
        }
        int rooted = fabs(p) == 0.5, *side = p < 0 ? &down[rooted] : &up[rooted];
        *side = and_times(w, *side, rooted ? t : law_raised(w, t, fabs(p)));
    }
    if (up[1] >= 0)
        up[0] = and_times(w, up[0], law_unary(w, EXPR_SQRT, up[1]));
    if (down[1] >= 0)
        down[0] = and_times(w, down[0], law_unary(w, EXPR_SQRT, down[1]));
    if (up[0] < 0)
        up[0] = law_whole(w, 1);
    return down[0] < 0 ? up[0] : law_over(w, up[0], down[0]);
}

/* Two inputs of one kind: they are compared, added, or balanced. */
static int pair(law_writer *w)
{
    int a = law_fresh(w, law_chance(w, 0.9) ? LAW_POSITIVE : LAW_ANY), j = w->dim - 1;
    int side = 0, which = law_pick(w, law_positive(w, a) ? 16 : 5);
    if (which == 12 || which == 13)
        side = -1;
    else if (which == 14 || which == 15)
        side = law_chance(w, 0.5) ? 1 : -1;
    int b = law_fresh_like(w, j, side);
    switch (which) {
    case 0:
    case 1:
        return law_minus(w, a, b);
    case 2:
        return law_unary(w, EXPR_SQRT, law_plus(w, law_square(w, a), law_square(w, b)));
    case 3:
        return law_square(w, law_minus(w, a, b));
    case 4:
        return law_plus(w, law_square(w, a), law_square(w, b));
    case 5:
        return law_plus(w, a, b);
    case 6:
        return law_over(w, law_times(w, a, b), law_plus(w, a, b));
    case 7:
        return law_over(w, law_minus(w, a, b), law_plus(w, a, b));
    case 8:
        return law_over(w, a, law_plus(w, a, b));
    case 9:
        return law_minus(w, inverse(w, a), inverse(w, b));
    case 10:
        return law_minus(w, law_square(w, a), law_square(w, b));
    case 11:
        return law_unary(w, EXPR_LOG, law_over(w, a, b));
    case 12:
        return law_unary(w, EXPR_SQRT, law_minus(w, law_square(w, a), law_square(w, b)));
    case 13:
        return law_unary(w, EXPR_SQRT, one_minus(w, law_square(w, law_over(w, b, a))));
    case 14:
        return inverse(w, law_square(w, law_minus(w, a, b)));
    default:
        return inverse(w, law_minus(w, a, b));
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
    return law_is_inverse(w, t) ? law_kid(w, t, 1) : t;
}

/* A shape of a quantity that n inputs make, with the others as factors: y*exp(-x/s)/z. */
static int shaped(law_writer *w, int dim, int inside)
{
    int others = dim - inside;
    int front = others > 0 ? monomial(w, -1, others, 0) : -1, s = group(w, inside);
    if (!law_holds(w, s, law_is_transcendental))
        s = shape(w, s);
    return front < 0 ? s : law_times(w, front, s);
}

/* A part of a sum. */
static int summand(law_writer *w, int n)
{
    if (n == 1) {
        int x = law_fresh(w, LAW_ANY);
        return law_chance(w, 0.35)  ? x
               : law_chance(w, 0.4) ? law_power(w, x, exponent(w, law_positive(w, x)))
                                    : shape(w, x);
    }
    return law_chance(w, 0.7) ? monomial(w, -1, n, 0) : shaped(w, n, 1);
}

static int sum(law_writer *w, int dim)
{
    int parts = dim > 2 && law_chance(w, 0.4) ? 3 : 2, t[3] = { 0 }, left = dim;
    double least = INFINITY, most = 0, s = law_some_size(w);
    for (int k = 0; k < parts; k++) {
        int n = k + 1 == parts ? left : 1 + law_pick(w, left - (parts - 1 - k));
        t[k] = summand(w, n);
        left -= n;
        least = fmin(least, law_size(w, t[k]));
        most = fmax(most, law_size(w, t[k]));
    }
    int plain = most < 30 * least && law_chance(w, 0.4);
    int total = plain ? t[0] : law_weighted(w, t[0], s);
    if (!plain && law_chance(w, 0.2))
        total = law_either(w, law_number(w, s * law_log_between(w, 0.2, 5)), total);
    for (int k = 1; k < parts; k++)
        total = law_either(w, total, plain ? t[k] : law_weighted(w, t[k], s));
    return total;
}

/* What is fitted to a planned experiment: lines with an interaction or squares. */
static int surface(law_writer *w, int dim)
{
    assert(dim >= 2 && dim <= DATA_LAW_DIMS);
    int x[DATA_LAW_DIMS];
    double s = law_some_size(w);
    int total = law_number(w, s * law_log_between(w, 0.2, 5));
    for (int k = 0; k < dim; k++) {
        x[k] = law_fresh(w, LAW_ANY);
        total = law_either(w, total, law_weighted(w, x[k], s));
    }
    if (law_chance(w, 0.6))
        total = law_either(w, total, law_weighted(w, law_times(w, x[0], x[1]), s));
    if (law_chance(w, 0.5))
        total = law_either(w, total, law_weighted(w, law_square(w, x[law_pick(w, dim)]), s));
    return total;
}

/* Any function of t, with a scale where it takes one. There are no functions of functions, and a
 * product is not squared as a whole. */
static int any_unary(law_writer *w, int t)
{
    int sign = law_positive(w, t);
    if (law_holds(w, t, law_is_transcendental))
        return t;
    switch (law_pick(w, sign ? 14 : 8)) {
    case 0:
    case 1:
        return law_is_product(w, t) || law_is_power(w, t)
                   ? t
                   : law_raised(w, t, law_chance(w, 0.75) ? 2 : 3);
    case 2:
        return fading(w, t, law_decay(w, t));
    case 3:
        return law_unary(w, EXPR_EXP, law_per(w, t, law_decay(w, t)));
    case 4:
    case 5:
        return law_is_sum(w, t) ? law_square(w, t) : wave(w, t);
    case 6:
        return law_unary(w, EXPR_TANH, law_per(w, t, law_decay(w, t)));
    case 7:
        if (law_chance(w, 0.15))
            return law_unary(w, EXPR_ABS, t);
        return law_is_sum(w, t)
                   ? t
                   : inverse(w, one_plus(w, law_square(w, law_per(w, t, law_scale(w, t)))));
    case 8:
    case 9:
        return law_is_power(w, t) ? t : law_unary(w, EXPR_SQRT, t);
    case 10:
        return inverse(w, t);
    case 11:
        return law_unary(w, EXPR_LOG, t);
    case 12:
        return law_unary(w, EXPR_LOG, one_plus(w, law_per(w, t, law_scale(w, t))));
    default:
        return inverse(w, law_plus(w, law_number(w, law_scale(w, t)), t));
    }
}

/* Two terms joined; in a sum both count. */
static int joined(law_writer *w, int a, int b)
{
    if (law_same(w, a, b))
        return law_square(w, a);
    double u = law_between(w, 0, 1), x = law_size(w, a), y = law_size(w, b);
    if (u < 0.4) {
        if (x > 20 * y || y > 20 * x || law_chance(w, 0.3))
            b = law_factor(w, x / y * law_log_between(w, 0.3, 3), b);
        return u < 0.27 ? law_plus(w, a, b) : law_minus(w, a, b);
    }
    int divisor = law_positive(w, b) && !law_holds(w, b, law_is_transcendental);
    return u < 0.72 || !divisor ? law_times(w, a, b) : law_over(w, a, b);
}

/* A small random tree: inputs are joined until one term is left, with functions on the way. */
static int grown(law_writer *w, int dim)
{
    assert(dim >= 1 && dim <= DATA_LAW_DIMS);
    int t[2 * DATA_LAW_DIMS + 2], n = 0;
    for (int k = 0; k < dim; k++)
        t[n++] = law_fresh(w, LAW_ANY);
    int again = dim == 1 ? 1 + law_pick(w, 2) : dim < 4 ? law_pick(w, 3) : law_pick(w, 2);
    for (int k = 0; k < again; k++) /* inputs that occur twice */
        t[n++] = t[law_pick(w, dim)];
    for (int k = 0; k < n; k++)
        if (law_chance(w, dim < 3 ? 0.3 : 0.15))
            t[k] = any_unary(w, t[k]);
    while (n > 1) {
        int i = law_pick(w, n), a = t[i];
        t[i] = t[--n];
        i = law_pick(w, n);
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
    double s = law_some_size(w);
    int a = slow[law_pick(w, 4)](w, x), b = quick[law_pick(w, 5)](w, x);
    return law_either(w, law_weighted(w, a, s), law_weighted(w, b, s));
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
        return law_times(w, law_power(w, x, exponent(w, law_positive(w, x))), shape(w, x));
    }
    if (u < 0.24)
        return monomial(w, -1, dim, 0);
    if (u < 0.44)
        return shaped(w, dim, 1);
    if (u < 0.58)
        return shaped(w, dim, 2 + law_pick(w, dim > 2 ? 2 : 1));
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
    double u = law_between(w, 0, 1), y = law_size(w, t);
    if (u < 0.2 || law_has_scale(w, t) || !isfinite(y) || y == 0)
        return t;
    if (u < 0.32 && !law_is_sum(w, t)) {
        int pi = law_leaf(w, (expr_node){ .op = EXPR_PI }, NULL);
        switch (law_pick(w, 6)) {
        case 0:
            return law_times(w, pi, t);
        case 1:
            return law_times(w, law_times(w, law_whole(w, law_chance(w, 0.5) ? 2 : 4), pi), t);
        case 2:
            return law_times(w, law_whole(w, 2 + law_pick(w, 3)), t);
        case 3:
            return law_over(w, t, law_whole(w, 2 + law_pick(w, 3)));
        default:
            return law_times(w, law_leaf(w, (expr_node){ .op = EXPR_NUMBER, .value = 0.5 }, NULL),
                             t);
        }
    }
    double c = u < 0.6 ? law_log_between(w, 1e-2, 1e2) : law_some_size(w) / y;
    return law_factor(w, law_chance(w, 0.05) ? -c : c, t);
}

/* ---- what nobody would write ---- */

enum { FACTORS_MAX = 32 };

/* The bases of the factors of a product, or the terms of a sum without their numbers. */
static int collect(const law_writer *w, int t, int sum, int *to, int n)
{
    int op = w->term[t].node.op;
    if (sum ? op == EXPR_ADD || op == EXPR_SUB : op == EXPR_MUL || op == EXPR_DIV)
        return collect(w, law_kid(w, t, 1), sum, to, collect(w, law_kid(w, t, 0), sum, to, n));
    while (sum ? (op == EXPR_MUL && law_is(w, law_kid(w, t, 0), EXPR_NUMBER))
               : op == EXPR_POW2 || op == EXPR_POW3 || op == EXPR_SQRT || op == EXPR_POW) {
        t = law_kid(w, t, sum);
        op = w->term[t].node.op;
    }
    if (n < FACTORS_MAX)
        to[n++] = t;
    return n;
}

/* Whether terms or factors could be joined: 2*x + 3*x, x^2/x, exp(x)*exp(2*x). */
static int untidy(const law_writer *w, int t)
{
    int sum = law_is_sum(w, t);
    if (sum || law_is_product(w, t)) {
        int found[FACTORS_MAX], n = collect(w, t, sum, found, 0);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                if (law_same(w, found[i], found[j]) ||
                    (w->term[found[i]].node.op == w->term[found[j]].node.op &&
                     law_is(w, found[i], sum ? EXPR_NUMBER : EXPR_EXP)))
                    return 1;
    }
    for (int k = 0; k < expr_ops[w->term[t].node.op].arity; k++)
        if (untidy(w, law_kid(w, t, k)))
            return 1;
    return 0;
}

int law_write(law_writer *w, int dim)
{
    int t = with_factor(w, form(w, dim));
    return w->full || untidy(w, t) ? -1 : t;
}
