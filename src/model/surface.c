/* surface.c - see surface.h. The surface is the mean of a Gaussian process with the covariance
 *
 *     k(a, b) = exp(-|a - b|^2 / (2 dim)) + a.b / dim
 *
 * and the variance `noise` of the rows' errors. With K its matrix over the rows and t the target
 * less its mean, U'U = K + noise I with U upper triangular and U'U w = t, at a point z
 *
 *     value  m(z) = mean + sum_r w_r k(z, x_r)
 *     slope  dm/dz_j = (sum_r w_r e_r (x_rj - z_j) + sum_r w_r x_rj) / dim,   e_r the first term
 *     doubt  v(z) = k(z, z) - |U'^-1 k(z, .)|^2
 *
 * U depends on X alone, so it serves all tables on it. */
#include "model/surface.h"

#include <math.h>
#include <string.h>

#include "data/gen.h"
#include "expr/vec.h"
#include "nn/kernels.h"

enum {
    ROWS_MOST = 256, /* of a table, evenly spread: the work grows with their cube */
    POINTS = MODEL_SURFACE_POINTS
};
static const float noise = 0.01F;
static const double x_most = 6; /* what lies further away than so many deviations counts as there */

struct model_surface {
    int dim;
    size_t rows, of, stride;          /* rows taken, of so many; floats in a row of U */
    float *x;                         /* (dim, stride), 0 behind the rows */
    float *factor;                    /* U: (rows, stride), 0 before the diagonal */
    float *bell;                      /* e_r: (POINTS, stride), 0 behind the rows */
    double at[DATA_DIMS_MAX][POINTS]; /* the points */
    double doubt[POINTS];
};

static size_t whole_lanes(size_t n)
{
    return (n + NN_LANES - 1) / NN_LANES * NN_LANES;
}

/* The row of the table that is the surface's row r. Stretches of equal length give a row each, not
 * always at the same place: of a column that repeats as often, that would show one level only. */
static size_t row_of(const model_surface *s, size_t r)
{
    const double golden = 0.6180339887498949;
    size_t first = r * s->of / s->rows, end = (r + 1) * s->of / s->rows;
    double along = (double)r * golden;
    return first + (size_t)((along - floor(along)) * (double)(end - first));
}

/* out = exp(-|x_r - z|^2 / (2 dim)) for n rows from `first` on; *product has room for as many
 * numbers and becomes x_r.z / dim. */
static void covariances(double *out, double *product, const model_surface *s, const double *z,
                        size_t first, size_t n)
{
    memset(out, 0, n * sizeof *out);
    memset(product, 0, n * sizeof *product);
    for (int j = 0; j < s->dim; j++) {
        const float *x = s->x + (size_t)j * s->stride + first;
        for (size_t r = 0; r < n; r++) {
            double away = (double)x[r] - z[j];
            out[r] -= away * away;
            product[r] += (double)x[r] * z[j];
        }
    }
    const double share = 1 / (double)s->dim;
    for (size_t r = 0; r < n; r++) {
        out[r] *= share / 2;
        product[r] *= share;
    }
    expr_vec_best()->unary[EXPR_EXP](out, out, n);
}

/* Row i of U from its diagonal on. */
static float *diagonal(const model_surface *s, size_t i)
{
    return s->factor + i * s->stride + i;
}

/* Solves U' v = u; v takes the place of u. What is known of v is taken off the rest at once. */
static void solve_forward(float *u, const model_surface *s)
{
    const nn_kernels *k = nn_kernels_best();
    for (size_t i = 0; i < s->rows; i++) {
        const float *row = diagonal(s, i);
        u[i] /= row[0];
        k->axpy(u + i + 1, -u[i], row + 1, s->rows - i - 1);
    }
}

/* Solves U v = u; v takes the place of u. */
static void solve_backward(float *u, const model_surface *s)
{
    const nn_kernels *k = nn_kernels_best();
    for (size_t i = s->rows; i-- > 0;) {
        const float *row = diagonal(s, i);
        u[i] = (u[i] - k->dot(row + 1, u + i + 1, s->rows - i - 1)) / row[0];
    }
}

/* Cholesky's method: row j is divided by the root of its diagonal and taken off the rows below,
 * U_i -= U_ji U_j. These steps wait for no sums, as those of the other order do, which are mostly
 * short here. */
static void factorise(model_surface *s, double *bell, double *product)
{
    const nn_kernels *k = nn_kernels_best();
    double z[DATA_DIMS_MAX];
    for (size_t i = 0; i < s->rows; i++) {
        float *row = diagonal(s, i);
        for (int j = 0; j < s->dim; j++)
            z[j] = (double)s->x[(size_t)j * s->stride + i];
        covariances(bell, product, s, z, i, s->rows - i);
        for (size_t r = 0; r < s->rows - i; r++)
            row[r] = (float)(bell[r] + product[r]);
        row[0] += noise;
    }
    for (size_t j = 0; j < s->rows; j++) {
        float *row = diagonal(s, j);
        float root = sqrtf(row[0] > noise / 2 ? row[0] : noise / 2); /* below, it is rounding */
        row[0] = root;
        for (size_t r = 1; r < s->rows - j; r++)
            row[r] *= 1 / root;
        for (size_t r = 1; r < s->rows - j; r++)
            k->axpy(diagonal(s, j + r), -row[r], row + r, s->rows - j - r);
    }
}

void model_surface_points(double at[DATA_DIMS_MAX][POINTS])
{
    double slope[DATA_DIMS_MAX][MODEL_SLOPE_POINTS], profile[DATA_DIMS_MAX][MODEL_PROFILE_POINTS];
    model_slope_points(slope);
    model_profile_points(profile);
    for (int j = 0; j < DATA_DIMS_MAX; j++) {
        memcpy(at[j], slope[j], sizeof slope[j]);
        memcpy(at[j] + MODEL_SLOPE_POINTS, profile[j], sizeof profile[j]);
    }
}

/* What the points have to do with the rows. Scratch as for covariances; u has a row of U. */
static void look_from_points(model_surface *s, double *bell, double *product, float *u)
{
    const nn_kernels *k = nn_kernels_best();
    model_surface_points(s->at);
    for (int p = 0; p < POINTS; p++) {
        double z[DATA_DIMS_MAX], own = 1;
        for (int j = 0; j < s->dim; j++) {
            z[j] = s->at[j][p];
            own += z[j] * z[j] / s->dim;
        }
        covariances(bell, product, s, z, 0, s->rows);
        for (size_t r = 0; r < s->rows; r++) {
            s->bell[(size_t)p * s->stride + r] = (float)bell[r];
            u[r] = (float)(bell[r] + product[r]);
        }
        solve_forward(u, s);
        s->doubt[p] = fmax(0, own - k->square_sum(u, s->rows));
    }
}

model_surface *model_surface_new(const double *const *x, int dim, size_t rows, arena *a)
{
    model_surface *s = arena_zero(a, sizeof *s);
    if (!s)
        return NULL;
    s->dim = dim;
    s->of = rows;
    s->rows = rows < ROWS_MOST ? rows : ROWS_MOST;
    s->stride = whole_lanes(s->rows);
    s->x = arena_zero(a, (size_t)dim * s->stride * sizeof *s->x);
    s->factor = arena_zero(a, s->rows * s->stride * sizeof *s->factor);
    s->bell = arena_zero(a, POINTS * s->stride * sizeof *s->bell);
    arena_pos mark = arena_mark(a);
    double *bell = arena_array(a, s->rows, sizeof *bell);
    double *product = arena_array(a, s->rows, sizeof *product);
    float *u = arena_array(a, s->rows, sizeof *u);
    int good = s->x && s->factor && s->bell && bell && product && u;
    for (int j = 0; j < dim && good; j++)
        for (size_t r = 0; r < s->rows; r++) {
            double v = x[j][row_of(s, r)];
            s->x[(size_t)j * s->stride + r] = (float)fmax(-x_most, fmin(x_most, v));
        }
    if (good) {
        factorise(s, bell, product);
        look_from_points(s, bell, product, u);
    }
    arena_reset(a, mark);
    return good ? s : NULL;
}

/* No feature may jump where a value is 0: which side of it rounding leaves is chance. */
static void y_features(float *out, const model_surface_samples *c, const model_surface_scale *scale)
{
    double y[POINTS];
    for (int p = 0; p < POINTS; p++)
        y[p] = sinh(c->value[p]);
    model_profile(out, y + MODEL_SLOPE_POINTS); /* it has neither unit nor zero */
    out += MODEL_PROFILE_POINTS;
    for (int p = 0; p < MODEL_SLOPE_POINTS; p++)
        y[p] = scale->median + scale->spread * y[p];
    for (int p = 0; p < MODEL_SLOPE_POINTS; p++) {
        *out++ = (float)c->value[p] / 4;
        *out++ = (float)tanh(y[p]);
        *out++ = (float)tanh(20 * y[p] / scale->spread);
        *out++ = (float)model_slope_size(fabs(y[p]) + 1e-3 * scale->spread);
        *out++ = (float)(log10(c->doubt[p] + 1e-4) / 2);
    }
    for (int p = 0; p < MODEL_PROFILE_POINTS; p++) {
        *out++ = (float)tanh(c->value[MODEL_SLOPE_POINTS + p]);
        *out++ = (float)(log10(c->doubt[MODEL_SLOPE_POINTS + p] + 1e-4) / 2);
    }
}

/* Slopes beside the steepest input's at the same point, and their sizes: of the target t, and of y,
 * where dy/dz = spread cosh(t) dt/dz. */
static void input_features(float *out, const model_surface_samples *c, int dim, double spread)
{
    double most[MODEL_SLOPE_POINTS];
    for (int p = 0; p < MODEL_SLOPE_POINTS; p++) {
        most[p] = 1e-6;
        for (int j = 0; j < dim; j++)
            most[p] = fmax(most[p], fabs(c->slope[j][p]));
    }
    for (int j = 0; j < dim; j++)
        for (int p = 0; p < MODEL_SLOPE_POINTS; p++) {
            double slope = c->slope[j][p];
            *out++ = (float)model_slope_weight(slope, most[p]);
            *out++ = (float)tanh(slope);
            *out++ = (float)model_slope_size(spread * cosh(c->value[p]) * (fabs(slope) + 1e-3));
        }
}

void model_surface_features(float *y, float *input, const model_surface_samples *c, int dim,
                            const model_surface_scale *scale)
{
    y_features(y, c, scale);
    input_features(input, c, dim, scale->spread);
}

/* The surface at point p, with the rows' weights w; along[j] is sum_r w_r x_rj / dim, t scratch. */
static void sample_to(model_surface_samples *out, int p, const model_surface *s, const float *w,
                      const double *along, float *t)
{
    const nn_kernels *k = nn_kernels_best();
    double sum = 0, value = 0;
    for (size_t r = 0; r < s->stride; r++) {
        t[r] = w[r] * s->bell[(size_t)p * s->stride + r];
        sum += (double)t[r];
    }
    for (int j = 0; j < s->dim; j++) {
        double at = s->at[j][p];
        value += at * along[j];
        if (p < MODEL_SLOPE_POINTS) {
            double near = (double)k->dot(t, s->x + (size_t)j * s->stride, s->stride);
            out->slope[j][p] = (near - at * sum) / s->dim + along[j];
        }
    }
    out->value[p] = value + sum;
    out->doubt[p] = s->doubt[p];
}

int model_surface_sample(model_surface_samples *out, const model_surface *s, const float *target,
                         arena *tmp)
{
    enum { VALUE_MOST = 20 };
    const nn_kernels *k = nn_kernels_best();
    arena_pos mark = arena_mark(tmp);
    float *t = arena_array(tmp, s->stride, sizeof *t);
    float *w = arena_zero(tmp, s->stride * sizeof *w);
    double mean = 0, along[DATA_DIMS_MAX];
    int good = t && w;
    for (size_t r = 0; r < s->rows; r++)
        mean += (double)target[row_of(s, r)] / (double)s->rows;
    for (size_t r = 0; r < s->rows && good; r++)
        w[r] = target[row_of(s, r)] - (float)mean;
    if (good) {
        solve_forward(w, s);
        solve_backward(w, s);
        for (int j = 0; j < s->dim; j++)
            along[j] = (double)k->dot(w, s->x + (size_t)j * s->stride, s->stride) / s->dim;
    }
    for (int p = 0; p < POINTS && good; p++) {
        sample_to(out, p, s, w, along, t);
        out->value[p] = fmax(-VALUE_MOST, fmin(VALUE_MOST, out->value[p] + mean));
    }
    arena_reset(tmp, mark);
    return good;
}
