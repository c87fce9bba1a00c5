/* surface.h - what a table tells of its function at the points where formulas tell theirs.
 *
 * A formula's tokens carry its values and derivatives at fixed points (slopes.h). A table has no
 * rows there, so a smooth surface is fitted to its rows: the values and slopes of both can then be
 * compared point by point, and profiles are the same features in both.
 *
 *     model_surface *s = model_surface_new(x, dim, rows, a); // once per X
 *     float target[200], of_y[MODEL_SURFACE_Y], of_inputs[10 * MODEL_SURFACE_INPUT];
 *     model_surface_scale scale = { .median = 0, .spread = 1 }; // by which y became the target
 *     model_surface_samples c;
 *     model_surface_sample(&c, s, target, tmp); // once per y
 *     model_surface_features(of_y, of_inputs, &c, dim, &scale); */
#ifndef MODEL_SURFACE_H
#define MODEL_SURFACE_H

#include "base/arena.h"
#include "model/slopes.h"

enum {
    MODEL_SURFACE_POINTS = MODEL_SLOPE_POINTS + MODEL_PROFILE_POINTS,
    MODEL_SURFACE_Y = 5 * MODEL_SLOPE_POINTS + 3 * MODEL_PROFILE_POINTS,
    MODEL_SURFACE_INPUT = 3 * MODEL_SLOPE_POINTS
};

/* The points of slopes, then those of profiles. */
void model_surface_points(double at[DATA_DIMS_MAX][MODEL_SURFACE_POINTS]);

typedef struct model_surface model_surface;

/* NULL when memory is out. x are `dim` columns of `rows` values, standardised. */
model_surface *model_surface_new(const double *const *x, int dim, size_t rows, arena *a);

/* The surface at the points. */
typedef struct model_surface_samples {
    double value[MODEL_SURFACE_POINTS];
    double slope[DATA_DIMS_MAX][MODEL_SLOPE_POINTS]; /* by the inputs that there are */
    double doubt[MODEL_SURFACE_POINTS]; /* the surface's variance: large where no rows are near */
} model_surface_samples;

/* Of the surface through `target`, a number per row of the table. Returns 0 when memory is out;
 * `tmp` is left as found. */
int model_surface_sample(model_surface_samples *out, const model_surface *s, const float *target,
                         arena *tmp);

/* How the target of a surface was made from y: asinh((y - median) / spread). */
typedef struct model_surface_scale {
    double median, spread;
} model_surface_scale;

/* The features of y, MODEL_SURFACE_Y of them, and of each input, dim rows of MODEL_SURFACE_INPUT.
 */
void model_surface_features(float *y, float *input, const model_surface_samples *c, int dim,
                            const model_surface_scale *scale);

#endif
