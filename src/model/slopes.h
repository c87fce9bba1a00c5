/* slopes.h - how a formula moves with each of its parts, as features of the parts' tokens.
 *
 * In 2 - 3*sin(x0) the sign with which sin(x0) counts comes from a subtraction and a constant; in
 * longer formulas it is the parity of many such things, and its weight the product of many
 * constants. A network hardly learns either from examples; the chain rule gives both. The values of
 * the part itself at the same points tell what it is apart from its surroundings. Its profile, the
 * values at further points without unit and zero, is what a table's surface has, too (surface.h).
 */
#ifndef MODEL_SLOPES_H
#define MODEL_SLOPES_H

#include "data/gen.h"
#include "expr/expr.h"

enum {
    MODEL_SLOPE_POINTS = 7, /* the inputs' means, and around them */
    MODEL_SLOPE_FEATURES = 12 * MODEL_SLOPE_POINTS,
    MODEL_PROFILE_POINTS = 32,   /* spread over the box where inputs mostly are */
    MODEL_PROFILE_CONSTANTS = 3, /* the numbers that free constants are set to in turn */
    MODEL_PROFILES = (1 + MODEL_PROFILE_CONSTANTS) * MODEL_PROFILE_POINTS,
    MODEL_PROFILE_FEATURES = MODEL_PROFILES + MODEL_PROFILE_POINTS
};

/* The points, by input. */
void model_slope_points(double at[DATA_DIMS_MAX][MODEL_SLOPE_POINTS]);
void model_profile_points(double at[DATA_DIMS_MAX][MODEL_PROFILE_POINTS]);

/* A slope beside the steepest input's, with its sign: from 0 for what is below a thirtieth of it to
 * 1, and up to 2 for a part that is steeper. */
double model_slope_weight(double v, double most);

/* A number's size: from -2 for 1e-8 or less to 2 for 1e8 or more. */
double model_slope_size(double v);

/* The values at the points relative to one another: what is left of them without their unit and
 * their zero. Values that are not finite give 0, and so do all that differ by rounding only. */
void model_profile(float out[MODEL_PROFILE_POINTS], const double v[MODEL_PROFILE_POINTS]);

/* The features of each node of e, a row of MODEL_SLOPE_FEATURES in `out` and, unless `profile` is
 * NULL, one of MODEL_PROFILE_FEATURES there: its profile, its profiles with each of a few numbers
 * for its free constants, and which of its values are finite. A part of a form has the first if it
 * has no free constants, the others if it has some. For all else free constants count as 1,
 * whatever their value. Returns 0 when memory is out; `tmp` is left as found. */
int model_slopes(float *out, float *profile, expr e, int form, arena *tmp);

#endif
