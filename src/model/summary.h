/* summary.h - a table as a short list of statistics: one vector for y, one for each input, and one
 * for each term of a sparse fit. The numeric encoder can read these beside or in place of points.
 *
 *     model_summary s;
 *     model_summary_new(&s, dim, 12, 0, a);
 *     model_columns *c = model_columns_new(x, dim, rows, 0, tmp); // once per X
 *     model_summary_make(&s, c, y, 0, tmp);                       // once per y
 *
 * Statistics are of all rows (a surface is of 256 at most), so the encoder's work does not grow
 * with them. All numbers are of the order of 1, whatever the units of y. */
#ifndef MODEL_SUMMARY_H
#define MODEL_SUMMARY_H

#include <stddef.h>

#include "base/arena.h"
#include "data/gen.h"

/* A number as a network can use it: its sign and size on several scales, and its digits. */
enum {
    MODEL_VALUE_FEATURES = 15,
    MODEL_VALUE_ABSENT = 8 /* the feature that is 1 if it is absent */
};
void model_value_features(float out[MODEL_VALUE_FEATURES], double v);

/* The same, finer, for the constants of a formula: steps over the decades, and more of its digits.
 */
enum { MODEL_CONSTANT_STEPS = 8, MODEL_CONSTANT_FEATURES = MODEL_VALUE_FEATURES + 12 };
void model_constant_features(float out[MODEL_CONSTANT_FEATURES], double v);

/* Functions of one input that are held against y; powers are for products of inputs. */
#define MODEL_SHAPES(X)                                                                            \
    X(CUBE) X(ABS) X(LOG) X(EXP) X(EXP_MINUS) X(SIN) X(COS) X(SIN2) X(COS2) X(SIN4) X(COS4)
enum model_shape {
    MODEL_X,
    MODEL_SQUARE,
#define X(name) MODEL_##name,
    MODEL_SHAPES(X)
#undef X
        MODEL_SHAPES_COUNT
};

enum {
    MODEL_QUANTILES = 16,
    MODEL_BINS = 8,
    MODEL_TARGETS = 4, /* y near its median, asinh of scaled y, log|y|, log|y - median| */
    MODEL_ATOMS_MAX = 32,
    MODEL_SUMMARY_Y =
        11 * MODEL_VALUE_FEATURES + MODEL_QUANTILES + DATA_DIMS_MAX + 5 /* shape */ + 4 /* fits */,
    MODEL_SUMMARY_INPUT =
        MODEL_SHAPES_COUNT * MODEL_TARGETS + 2 * MODEL_BINS + MODEL_VALUE_FEATURES + DATA_DIMS_MAX,
    MODEL_SUMMARY_ATOM = MODEL_VALUE_FEATURES + 4 + MODEL_SHAPES_COUNT + DATA_DIMS_MAX,
};

/* y in the form view: mean 0 and deviation 1, all 0 where it does not vary. Any finite y will do.
 */
void model_standardise(double *out, const double *y, size_t n);

typedef struct model_columns model_columns;

/* What all tables on the same X share, with a surface if asked. NULL when memory is out. x are
 * `dim` columns of `rows` values, standardised. */
model_columns *model_columns_new(const double *const *x, int dim, size_t rows, int surface,
                                 arena *a);

typedef struct model_summary {
    int dim, atoms; /* atoms: terms found, at most `most` */
    int most;
    float *y;     /* MODEL_SUMMARY_Y */
    float *input; /* dim rows of MODEL_SUMMARY_INPUT */
    float *atom;  /* `atoms` rows of MODEL_SUMMARY_ATOM, in the order of their choice */
    float *surface_y, *surface_input; /* see surface.h; NULL if not asked for */
} model_summary;

/* Room in `a` for a summary with at most `most` terms, and for a surface's features if asked.
 * Returns 0 when memory is out. */
int model_summary_new(model_summary *out, int dim, int most, int surface, arena *a);

/* Fills it from the table of c's columns and y. With `form` y is standardised: what is 0 or 1 but
 * for rounding is made so, since a rounding error's digits would tell the unit that y once had.
 * Returns 0 when memory is out; `tmp` is left as found. */
int model_summary_make(model_summary *out, const model_columns *c, const double *y, int form,
                       arena *tmp);

#endif
