/* slopes.c - see slopes.h. At each point a node with value v has the derivative g of the whole by
 * it, and an effect: g for a variable, whose deviation is 1, and g*v, what the whole would lose to
 * first order without the part, for all else. An input has the sum of its occurrences' derivatives
 * as well. Sizes count beside the steepest input's. */
#include "model/slopes.h"

#include <math.h>
#include <string.h>

#include "data/gen.h"

enum { POINT_FEATURES = MODEL_SLOPE_FEATURES / MODEL_SLOPE_POINTS };

/* The points: 0, and pairs to both sides of it, near and far, with inputs of equal and of different
 * signs; at distances that no two inputs share, so that their differences do not vanish. */
static void place_inputs(double at[DATA_DIMS_MAX][MODEL_SLOPE_POINTS])
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

/* From 0 for what is below a thirtieth of `most` to 1, and beyond for what is larger. */
static double weight(double v, double most)
{
    double w = 1 + log10(fabs(v) / most) / 1.5;
    return v == 0 || !(w > 0) ? 0 : fmin(w, 2);
}

/* The number of decades, from -2 for 1e-8 to 2 for 1e8. */
static double size_of(double v)
{
    return v == 0 ? -2 : fmax(-2, fmin(2, log10(fabs(v)) / 4));
}

/* What is known of a node at a point. */
typedef struct known {
    double value, slope;
    double effect; /* see above */
    double total;  /* for a variable: the derivative by the input; else 0 */
    double most;   /* the largest derivative by an input */
} known;

/* The features at a point. Those of derivatives are 0 where the formula has none there. */
static void point_features(float out[POINT_FEATURES], const known *k)
{
    if (isfinite(k->value)) {
        out[9] = (float)sign_of(k->value);
        out[10] = (float)size_of(k->value);
        out[11] = (float)tanh(k->value);
    }
    if (!isfinite(k->slope) || !isfinite(k->effect) || !isfinite(k->total) || !(k->most > 0) ||
        isinf(k->most))
        return;
    out[0] = 1;
    out[1] = (float)sign_of(k->slope);
    out[2] = (float)sign_of(k->effect);
    out[3] = (float)(sign_of(k->slope) * weight(k->slope, k->most));
    out[4] = (float)(sign_of(k->effect) * weight(k->effect, k->most));
    out[5] = (float)weight(k->effect, k->most);
    out[6] = (float)size_of(k->effect);
    out[7] = (float)sign_of(k->total);
    out[8] = (float)(sign_of(k->total) * weight(k->total, k->most));
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

/* e with the constants that a form leaves free set to 1, in `a`. */
static expr without_constants(expr e, arena *a)
{
    expr_node *node = arena_copy(a, e.node, e.count * sizeof *node);
    for (size_t i = 0; i < e.count && node; i++)
        if (node[i].op == EXPR_NUMBER && !node[i].fixed)
            node[i].value = 1;
    return (expr){ node, e.count };
}

int model_slopes(float *out, expr e, int form, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    double at[DATA_DIMS_MAX][MODEL_SLOPE_POINTS], total[DATA_DIMS_MAX];
    const double *x[DATA_DIMS_MAX];
    size_t points = MODEL_SLOPE_POINTS;
    double *value = arena_array(tmp, e.count * points, sizeof *value);
    double *slope = arena_array(tmp, e.count * points, sizeof *slope);
    expr read = form ? without_constants(e, tmp) : e;
    place_inputs(at);
    for (int j = 0; j < DATA_DIMS_MAX; j++)
        x[j] = at[j];
    int good =
        value && slope && read.node && expr_sensitivities(read, x, points, value, slope, tmp);
    memset(out, 0, e.count * MODEL_SLOPE_FEATURES * sizeof *out);
    for (int p = 0; p < MODEL_SLOPE_POINTS && good; p++) {
        double most = input_slopes(total, e, slope, p);
        for (size_t i = 0; i < e.count; i++) {
            int input = e.node[i].op == EXPR_VARIABLE;
            known k = { .value = value[i * points + (size_t)p],
                        .slope = slope[i * points + (size_t)p],
                        .total = input ? total[e.node[i].var] : 0,
                        .most = most };
            k.effect = input ? k.slope : k.slope * k.value;
            point_features(out + i * MODEL_SLOPE_FEATURES + p * POINT_FEATURES, &k);
        }
    }
    arena_reset(tmp, mark);
    return good;
}
