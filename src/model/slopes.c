/* slopes.c - see slopes.h. At each point a node with value v has the derivative g of the whole by
 * it, and an effect: g for a variable, whose deviation is 1, and g*v, what the whole would lose to
 * first order without the part, for all else. An input has the sum of its occurrences' derivatives
 * as well. Sizes count beside the steepest input's. */
#include "model/slopes.h"

#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "expr/vec.h"

enum { POINT_FEATURES = MODEL_SLOPE_FEATURES / MODEL_SLOPE_POINTS };

/* The points: 0, and pairs to both sides of it, near and far, with inputs of equal and of different
 * signs; at distances that no two inputs share, so that their differences do not vanish. */
void model_slope_points(double at[DATA_DIMS_MAX][MODEL_SLOPE_POINTS])
{
    for (int j = 0; j < DATA_DIMS_MAX; j++) {
        double away = 0.6 + 0.8 * fmod(0.618 * j, 1);
        const double to[] = { away, j % 2 ? -1.6 * away : 1.6 * away,
                              j / 2 % 2 ? -0.4 * away : 0.4 * away };
        at[j][0] = 0;
        for (int p = 1; p < MODEL_SLOPE_POINTS; p++)
            at[j][p] = p % 2 ? to[p / 2] : -to[p / 2 - 1];
    }
}

static double sign_of(double v)
{
    return (v > 0) - (v < 0);
}

/* A number by its sign and decades, so that each logarithm is taken once. */
typedef struct sized {
    double sign, decades; /* -infinity for 0 */
} sized;

static sized size_up(double v)
{
    return (sized){ sign_of(v), v == 0 ? -INFINITY : log10(fabs(v)) };
}

/* From 0 for what is below a thirtieth of `most` to 1, and beyond for what is larger. */
static double weight(sized v, double most_decades)
{
    double w = 1 + (v.decades - most_decades) / 1.5;
    return w > 0 ? fmin(w, 2) : 0;
}

double model_slope_weight(double v, double most)
{
    sized s = size_up(v);
    return s.sign * weight(s, log10(most));
}

/* Multiples of a number whose square is a prime, modulo 1, leave no gaps, and those of two such
 * numbers fill the square evenly (Richtmyer). */
void model_profile_points(double at[DATA_DIMS_MAX][MODEL_PROFILE_POINTS])
{
    static const double prime[DATA_DIMS_MAX] = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29 };
    const double edge = 1.5; /* uniform columns end at 1.73 */
    for (int j = 0; j < DATA_DIMS_MAX; j++) {
        double step = sqrt(prime[j]);
        for (int p = 0; p < MODEL_PROFILE_POINTS; p++) {
            double along = 0.5 + p * step;
            at[j][p] = edge * (2 * (along - floor(along)) - 1);
        }
    }
}

void model_profile(float out[MODEL_PROFILE_POINTS], const double v[MODEL_PROFILE_POINTS])
{
    double sorted[MODEL_PROFILE_POINTS];
    size_t n = 0;
    for (int p = 0; p < MODEL_PROFILE_POINTS; p++)
        if (isfinite(v[p]))
            sorted[n++] = v[p];
    numbers_sort(sorted, n);
    if (n == 0) {
        memset(out, 0, MODEL_PROFILE_POINTS * sizeof *out);
        return;
    }
    const double rounding = 1e-12 * fmax(fabs(sorted[0]), fabs(sorted[n - 1]));
    double middle = numbers_quantile(sorted, n, 0.5), range = sorted[n - 1] / 2 - sorted[0] / 2,
           quarters = numbers_quantile(sorted, n, 0.75) / 2 - numbers_quantile(sorted, n, 0.25) / 2,
           unit = fmax(quarters, 1e-6 * range);
    double scaled[MODEL_PROFILE_POINTS];
    for (int p = 0; p < MODEL_PROFILE_POINTS; p++)
        scaled[p] = isfinite(v[p]) && unit > rounding && isfinite(range)
                        ? fmax(-1e6, fmin(1e6, (v[p] - middle) / unit))
                        : 0;
    expr_vec_best()->unary[EXPR_ARCSINH](scaled, scaled, MODEL_PROFILE_POINTS);
    for (int p = 0; p < MODEL_PROFILE_POINTS; p++)
        out[p] = (float)scaled[p] / 2;
}

static double size_of(sized v)
{
    return fmax(-2, fmin(2, v.decades / 4));
}

double model_slope_size(double v)
{
    return size_of(size_up(v));
}

/* What is known of a node at a point. */
typedef struct known {
    double value, slope;
    int input;    /* the node is a variable */
    double total; /* then the derivative by the input, else 0 */
    double most;  /* the decades of the largest derivative by an input */
} known;

/* The features at a point. Those of derivatives are 0 where the formula has none there. */
static void point_features(float out[POINT_FEATURES], const known *k)
{
    sized value = size_up(k->value), slope = size_up(k->slope);
    double product = k->input ? k->slope : k->slope * k->value; /* its logarithm is a sum */
    sized effect = { sign_of(product), slope.decades + (k->input ? 0 : value.decades) };
    if (isfinite(k->value)) {
        out[9] = (float)value.sign;
        out[10] = (float)size_of(value);
        out[11] = (float)tanh(k->value);
    }
    if (!isfinite(product) || !isfinite(k->slope) || !isfinite(k->total) || !isfinite(k->most))
        return;
    out[0] = 1;
    out[1] = (float)slope.sign;
    out[2] = (float)effect.sign;
    out[3] = (float)(slope.sign * weight(slope, k->most));
    out[5] = (float)weight(effect, k->most);
    out[4] = (float)effect.sign * out[5];
    out[6] = (float)size_of(effect);
    if (k->input) {
        sized total = size_up(k->total);
        out[7] = (float)total.sign;
        out[8] = (float)(total.sign * weight(total, k->most));
    }
}

/* The derivatives by the inputs at a point; returns the largest. */
static double input_slopes(double total[DATA_DIMS_MAX], expr e, const double *slope, int point)
{
    double most = 0;
    memset(total, 0, DATA_DIMS_MAX * sizeof *total);
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_VARIABLE)
            total[e.node[i].var] += slope[i * MODEL_SLOPE_POINTS + (size_t)point];
    for (int j = 0; j < DATA_DIMS_MAX; j++)
        most = fmax(most, fabs(total[j]));
    return most;
}

/* e with the constants that a form leaves free set to a number, in `a`. */
static expr with_constants(expr e, double number, arena *a)
{
    expr_node *node = arena_copy(a, e.node, e.count * sizeof *node);
    for (size_t i = 0; i < e.count && node; i++)
        if (node[i].op == EXPR_NUMBER && !node[i].fixed)
            node[i].value = number;
    return (expr){ node, e.count };
}

/* The values of e's nodes at the points of profiles, a row of value[] each. Returns 0 when memory
 * is out. */
static int profile_values(double *value, expr e, arena *tmp)
{
    double at[DATA_DIMS_MAX][MODEL_PROFILE_POINTS];
    const double *x[DATA_DIMS_MAX];
    model_profile_points(at);
    for (int j = 0; j < DATA_DIMS_MAX; j++)
        x[j] = at[j];
    return expr_sensitivities(e, x, MODEL_PROFILE_POINTS, value, NULL, tmp);
}

/* Whether e has a constant that a form leaves free. */
static int has_free(expr e)
{
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_NUMBER && !e.node[i].fixed)
            return 1;
    return 0;
}

/* Beside 1 one number that bends powers and one of the other sign. */
static const double constants[MODEL_PROFILE_CONSTANTS] = { 1, 2, -0.5 };

/* Returns 0 when memory is out. */
static int profile_features(float *out, expr e, int form, arena *tmp)
{
    enum { N = MODEL_PROFILE_POINTS, F = MODEL_PROFILE_FEATURES, WITH = N };
    double *value = arena_array(tmp, e.count * N, sizeof *value);
    memset(out, 0, e.count * F * sizeof *out);
    int tries = form && has_free(e) ? MODEL_PROFILE_CONSTANTS : 1;
    for (int k = 0; k < tries; k++) {
        expr read = form ? with_constants(e, constants[k], tmp) : e;
        if (!value || !read.node || !profile_values(value, read, tmp))
            return 0;
        for (size_t i = 0; i < e.count; i++) {
            float *to = out + i * F;
            const double *v = value + i * N;
            if (form && has_free(expr_subtree(e, i))) {
                model_profile(to + WITH + k * N, v);
            } else if (k == 0) {
                model_profile(to, v);
            }
            for (int p = 0; p < N && k == 0; p++)
                to[MODEL_PROFILES + p] = isfinite(v[p]) != 0;
        }
    }
    return 1;
}

int model_slopes(float *out, float *profile, expr e, int form, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    double at[DATA_DIMS_MAX][MODEL_SLOPE_POINTS], total[DATA_DIMS_MAX];
    const double *x[DATA_DIMS_MAX];
    size_t points = MODEL_SLOPE_POINTS;
    double *value = arena_array(tmp, e.count * points, sizeof *value);
    double *slope = arena_array(tmp, e.count * points, sizeof *slope);
    expr read = form ? with_constants(e, constants[0], tmp) : e;
    model_slope_points(at);
    for (int j = 0; j < DATA_DIMS_MAX; j++)
        x[j] = at[j];
    int good =
        value && slope && read.node && expr_sensitivities(read, x, points, value, slope, tmp);
    memset(out, 0, e.count * MODEL_SLOPE_FEATURES * sizeof *out);
    for (int p = 0; p < MODEL_SLOPE_POINTS && good; p++) {
        double most = log10(input_slopes(total, e, slope, p));
        for (size_t i = 0; i < e.count; i++) {
            int input = e.node[i].op == EXPR_VARIABLE;
            const known k = { .value = value[i * points + (size_t)p],
                              .slope = slope[i * points + (size_t)p],
                              .input = input,
                              .total = input ? total[e.node[i].var] : 0,
                              .most = most };
            point_features(out + i * MODEL_SLOPE_FEATURES + p * POINT_FEATURES, &k);
        }
    }
    good = good && (!profile || profile_features(profile, e, form, tmp));
    arena_reset(tmp, mark);
    return good;
}
