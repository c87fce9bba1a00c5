/* points.c - input points: rotated clusters, standardised per coordinate. Compiled once per
 * instruction set with ISA_SUFFIX set. */
#include "data/points.h"

#include <math.h>
#include <string.h>

#include "data/gen.h"
#include "expr/vec.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)

/* n normal deviates; out has room for n + 1. */
static void fill_normal(rng *r, double *out, size_t n)
{
    size_t pairs = (n + 1) / 2;
    rng_fill_uniform(r, out, 2 * pairs);
    expr_vec_best()->gauss(out, pairs);
}

/* Turns rows [from, to) by a rotation drawn uniformly (Haar) from SO(dim), given by
 * dim(dim+1)/2 - 1 normal deviates g.
 *
 * The subgroup algorithm: a reflection that takes the first axis to a uniform direction, then the
 * same one dimension lower. Each of the dim-1 reflections flips the orientation; the sign of the
 * last coordinate sets it right. Reflections are applied to the points at once, no matrix. */
static void rotate(double *x, size_t stride, int dim, size_t from, size_t to, const double *g,
                   double *dot)
{
    size_t rows = to - from;
    int orientation = 1;
    for (int n = dim; n >= 2; n--) {
        double u[DATA_DIMS_MAX], norm = 0;
        for (int j = 0; j < n; j++)
            norm += g[j] * g[j];
        norm = sqrt(norm);
        for (int j = 0; j < n; j++) /* u = first axis - direction */
            u[j] = (j == 0) - g[j] / norm;
        g += n;
        double uu = 0;
        for (int j = 0; j < n; j++)
            uu += u[j] * u[j];
        if (!(uu > 1e-24)) /* the direction is the axis itself: nothing to turn */
            continue;
        orientation = -orientation;
        double *first = x + (size_t)(dim - n) * stride + from;
        memset(dot, 0, rows * sizeof *dot);
        for (int j = 0; j < n; j++)
            for (size_t i = 0; i < rows; i++)
                dot[i] += u[j] * first[(size_t)j * stride + i];
        for (int j = 0; j < n; j++) {
            double c = 2 * u[j] / uu;
            for (size_t i = 0; i < rows; i++)
                first[(size_t)j * stride + i] -= c * dot[i];
        }
    }
    if (orientation < 0) {
        double *last = x + (size_t)(dim - 1) * stride;
        for (size_t i = from; i < to; i++)
            last[i] = -last[i];
    }
}

/* Eight running sums in a fixed order: quick, and the same on every machine (numbers.h). */
static double sum8(const double s[8])
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

static double mean_of(const double *x, size_t n)
{
    double s[8] = { 0 };
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            s[l] += x[i + (size_t)l];
    for (; i < n; i++)
        s[0] += x[i];
    return sum8(s) / (double)n;
}

static double mean_square(const double *x, size_t n)
{
    double s[8] = { 0 };
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            s[l] += x[i + (size_t)l] * x[i + (size_t)l];
    for (; i < n; i++)
        s[0] += x[i] * x[i];
    return sum8(s) / (double)n;
}

static void standardise(double *x, size_t n)
{
    double mean = mean_of(x, n);
    for (size_t i = 0; i < n; i++)
        x[i] -= mean;
    double deviation = sqrt(mean_square(x, n));
    double scale = deviation > 0 ? 1 / deviation : 1;
    for (size_t i = 0; i < n; i++)
        x[i] *= scale;
}

int PASTE(data_points_draw_, ISA_SUFFIX)(rng *r, int dim, size_t n, double *x, size_t stride,
                                         int *clusters, int *uniform, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t d = (size_t)dim, k = 1 + rng_below(r, DATA_CLUSTERS_MAX);
    int is_uniform = (int)rng_below(r, 2);
    size_t turns = d * (d + 1) / 2 - 1; /* deviates of one rotation */
    size_t normals = k * (d + turns), uniforms = k * (d + 1) + n, values = n * d;
    double *normal = arena_array(tmp, normals + 1, sizeof *normal);
    double *unit = arena_array(tmp, uniforms, sizeof *unit);
    double *noise = arena_array(tmp, values + 1, sizeof *noise);
    double *dot = arena_array(tmp, n, sizeof *dot);
    if (!normal || !unit || !noise || !dot) {
        arena_reset(tmp, mark);
        return 0;
    }
    fill_normal(r, normal, normals);
    rng_fill_uniform(r, unit, uniforms);
    if (is_uniform)
        rng_fill_uniform(r, noise, values);
    else
        fill_normal(r, noise, values);
    const double *means = normal, *turn = normal + k * d;
    const double *variances = unit, *weights = unit + k * d, *choices = unit + k * (d + 1);

    /* Multinomial counts: each point chooses a cluster, then points are grouped. */
    double total = 0, below = 0;
    for (size_t c = 0; c < k; c++)
        total += weights[c];
    size_t from = 0;
    for (size_t c = 0; c < k; c++) {
        below += weights[c];
        double bound = below / total;
        size_t to = n;
        if (c + 1 < k) {
            to = 0;
            for (size_t i = 0; i < n; i++)
                to += choices[i] < bound;
        }
        for (size_t j = 0; j < d; j++) {
            double mean = means[c * d + j], scale = sqrt(variances[c * d + j]);
            const double *z = noise + j * n;
            double *column = x + j * stride;
            if (is_uniform)
                for (size_t i = from; i < to; i++)
                    column[i] = mean + (2 * z[i] - 1) * scale;
            else
                for (size_t i = from; i < to; i++)
                    column[i] = mean + z[i] * scale;
        }
        if (dim > 1)
            rotate(x, stride, dim, from, to, turn + c * turns, dot);
        from = to;
    }
    for (size_t j = 0; j < d; j++)
        standardise(x + j * stride, n);
    *clusters = (int)k;
    *uniform = is_uniform;
    arena_reset(tmp, mark);
    return 1;
}
