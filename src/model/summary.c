/* summary.c - see summary.h. */
#include "model/summary.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "expr/vec.h"
#include "model/surface.h"
#include "nn/kernels.h"

enum { FEATURE_MOST = 8 }; /* bound on features that grow with their number */

static double clamp(double v, double most)
{
    return v > most ? most : v < -most ? -most : v;
}

/* The position within the decade as a point on `hands` circles, like a clock with hands: the first
 * turns `turns` times in a decade, each further one twice as fast. */
static void clock_hands(float *out, int hands, double turns, double digits)
{
    double turn = 2 * M_PI * turns * (digits - floor(digits)), s = sin(turn), c = cos(turn);
    for (int i = 0; i < hands; i++) {
        out[2 * i] = (float)s;
        out[2 * i + 1] = (float)c;
        double twice = 2 * s * c;
        c = c * c - s * s;
        s = twice;
    }
}

void model_value_features(float out[MODEL_VALUE_FEATURES], double v)
{
    static const double scales[5] = { 3, 1, 1 / 3.0, 0.1, 0.01 };
    double size = fabs(v), sign = (v > 0) - (v < 0);
    out[0] = (float)(sign * fmin(asinh(size) / 2, FEATURE_MOST));
    for (int i = 0; i < 5; i++)
        out[1 + i] = (float)(sign * tanh(size * scales[i]));
    out[6] = (float)sign;
    double digits = size > 0 ? log10(size) : -16;
    out[7] = (float)clamp(digits / 4, FEATURE_MOST);
    out[MODEL_VALUE_ABSENT] = 0;
    clock_hands(out + 9, 3, 1, digits);
}

void model_constant_features(float out[MODEL_CONSTANT_FEATURES], double v)
{
    double size = fabs(v), digits = size > 0 ? log10(size) : -16;
    model_value_features(out, v);
    out += MODEL_VALUE_FEATURES;
    for (int i = 0; i < MODEL_CONSTANT_STEPS; i++) /* centres at 10^-3.5 .. 10^3.5 */
        *out++ = (float)tanh(2 * (digits + 3.5 - i));
    clock_hands(out, 2, 8, digits);
}

/* A candidate term: a product of powers of inputs, or a function of one. */
typedef struct atom {
    unsigned char shape; /* enum model_shape; MODEL_X for products */
    unsigned char power[DATA_DIMS_MAX];
} atom;

struct model_columns {
    int dim;
    size_t rows, stride; /* floats per column, the last of them zero */
    size_t atoms; /* the first dim * MODEL_SHAPES_COUNT are functions of one input, in order */
    atom *atom;
    float *value, *square; /* (atoms, stride) */
    unsigned char *bin;    /* (dim, rows): which eighth of its input's values a row is in */
    float *ones;
    model_surface *surface; /* NULL if not asked for */
};

/* Adds the product of two columns with the powers of both. */
static void add_product(model_columns *c, size_t i, size_t j)
{
    atom *to = &c->atom[c->atoms];
    *to = (atom){ .shape = MODEL_X };
    for (int k = 0; k < c->dim; k++)
        to->power[k] = (unsigned char)(c->atom[i].power[k] + c->atom[j].power[k]);
    const float *a = c->value + i * c->stride, *b = c->value + j * c->stride;
    float *v = c->value + c->atoms++ * c->stride;
    for (size_t r = 0; r < c->stride; r++)
        v[r] = a[r] * b[r];
}

/* Functions of one input, one column each. */
static void add_shapes(model_columns *c, const double *x, int input, double *tmp)
{
    const expr_vec *vec = expr_vec_best();
    size_t n = c->rows, first = c->atoms;
    float *v = c->value + first * c->stride;
#define COLUMN(shape) (v + (shape)*c->stride)
    for (int s = 0; s < MODEL_SHAPES_COUNT; s++) {
        atom *to = &c->atom[c->atoms++];
        *to = (atom){ .shape = (unsigned char)s };
        to->power[input] = s == MODEL_CUBE ? 3 : s == MODEL_SQUARE ? 2 : 1;
        if (s <= MODEL_CUBE)
            to->shape = MODEL_X;
    }
    for (size_t r = 0; r < n; r++) {
        double t = clamp(x[r], 1e4); /* standardised columns are small; others stay harmless */
        COLUMN(MODEL_X)[r] = (float)t;
        COLUMN(MODEL_SQUARE)[r] = (float)(t * t);
        COLUMN(MODEL_CUBE)[r] = (float)(t * t * t);
        COLUMN(MODEL_ABS)[r] = (float)fabs(t);
        tmp[r] = fabs(t) + 1e-3;
    }
    vec->unary[EXPR_LOG](tmp, tmp, n);
    for (size_t r = 0; r < n; r++) {
        COLUMN(MODEL_LOG)[r] = (float)tmp[r];
        tmp[r] = clamp(x[r], 8);
    }
    vec->unary[EXPR_EXP](tmp, tmp, n);
    for (size_t r = 0; r < n; r++) {
        COLUMN(MODEL_EXP)[r] = (float)tmp[r];
        COLUMN(MODEL_EXP_MINUS)[r] = (float)(1 / tmp[r]);
    }
    vec->unary[EXPR_SIN](tmp, x, n);
    for (size_t r = 0; r < n; r++)
        COLUMN(MODEL_SIN)[r] = (float)tmp[r];
    vec->unary[EXPR_COS](tmp, x, n);
    for (size_t r = 0; r < n; r++) {
        float s = COLUMN(MODEL_SIN)[r], k = (float)tmp[r], s2 = 2 * s * k, k2 = 1 - 2 * s * s;
        COLUMN(MODEL_COS)[r] = k;
        COLUMN(MODEL_SIN2)[r] = s2;
        COLUMN(MODEL_COS2)[r] = k2;
        COLUMN(MODEL_SIN4)[r] = 2 * s2 * k2;
        COLUMN(MODEL_COS4)[r] = 1 - 2 * s2 * s2;
    }
#undef COLUMN
}

static void make_bins(model_columns *c, const double *x, int input, double *sorted)
{
    double edge[MODEL_BINS - 1];
    memcpy(sorted, x, c->rows * sizeof *sorted);
    numbers_sort(sorted, c->rows);
    for (int b = 0; b < MODEL_BINS - 1; b++)
        edge[b] = numbers_quantile(sorted, c->rows, (b + 1.0) / MODEL_BINS);
    for (size_t r = 0; r < c->rows; r++) {
        int b = 0;
        while (b < MODEL_BINS - 1 && x[r] > edge[b])
            b++;
        c->bin[(size_t)input * c->rows + r] = (unsigned char)b;
    }
}

model_columns *model_columns_new(const double *const *x, int dim, size_t rows, int surface,
                                 arena *a)
{
    size_t d = (size_t)dim;
    size_t most = d * MODEL_SHAPES_COUNT + d * (d - 1) / 2 + d * (d - 1) +
                  d * (d - 1) * (d > 2 ? d - 2 : 0) / 6;
    model_columns *c = arena_zero(a, sizeof *c);
    if (!c)
        return NULL;
    c->dim = dim;
    c->rows = rows;
    c->stride = (rows + 15) / 16 * 16;
    c->atom = arena_array(a, most, sizeof *c->atom);
    c->value = arena_zero(a, most * c->stride * sizeof *c->value);
    c->square = arena_array(a, most * c->stride, sizeof *c->square);
    c->bin = arena_array(a, d * rows, 1);
    c->ones = arena_zero(a, c->stride * sizeof *c->ones);
    double *tmp = arena_array(a, rows, sizeof *tmp);
    c->surface = surface ? model_surface_new(x, dim, rows, a) : NULL;
    if (!c->atom || !c->value || !c->square || !c->bin || !c->ones || !tmp ||
        (surface && !c->surface))
        return NULL;
    for (size_t r = 0; r < rows; r++)
        c->ones[r] = 1;
    for (int i = 0; i < dim; i++) {
        add_shapes(c, x[i], i, tmp);
        make_bins(c, x[i], i, tmp);
    }
    size_t step = MODEL_SHAPES_COUNT;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++) {
            size_t pair = c->atoms;
            add_product(c, i * step + MODEL_X, j * step + MODEL_X);
            add_product(c, i * step + MODEL_SQUARE, j * step + MODEL_X);
            add_product(c, i * step + MODEL_X, j * step + MODEL_SQUARE);
            for (size_t k = j + 1; k < d; k++)
                add_product(c, pair, k * step + MODEL_X);
        }
    for (size_t i = 0; i < c->atoms * c->stride; i++)
        c->square[i] = c->value[i] * c->value[i];
    return c;
}

/* Numbers about y that the rest is made of. */
typedef struct shape_of_y {
    double mean, deviation, least, most, median, spread; /* spread: the scale for r, never 0 */
    double mad;                                          /* median absolute deviation */
    double quantile[MODEL_QUANTILES];                    /* of y */
    double q5, q25, q75, q95, positive;
    double skewness, kurtosis; /* of r */
} shape_of_y;

/* Below this a number of a standardised table is rounding. */
static const double rounding = 1e-8;

void model_standardise(double *out, const double *y, size_t n)
{
    double most = 0, mean, variance;
    for (size_t r = 0; r < n; r++)
        most = fmax(most, fabs(y[r]));
    int exponent; /* a power of two: squares can neither over- nor underflow, and no digit changes
                   */
    frexp(most, &exponent);
    for (size_t r = 0; r < n; r++)
        out[r] = ldexp(y[r], -exponent);
    numbers_moments(out, n, &mean, &variance);
    double deviation = sqrt(variance);
    for (size_t r = 0; r < n; r++)
        out[r] = deviation > 1e-13 ? (out[r] - mean) / deviation : 0;
}

static void describe_y(shape_of_y *s, const double *y, size_t n, int form, double *sorted)
{
    double mean, variance, positive = 0;
    memcpy(sorted, y, n * sizeof *sorted);
    numbers_sort(sorted, n);
    numbers_moments(y, n, &mean, &variance);
    for (size_t r = 0; r < n; r++)
        positive += y[r] > (form ? rounding : 0);
    s->mean = form ? 0 : mean;
    s->deviation = form ? variance > 0.5 : sqrt(variance);
    s->least = sorted[0];
    s->most = sorted[n - 1];
    s->median = numbers_quantile(sorted, n, 0.5);
    s->positive = positive / (double)n;
    s->q5 = numbers_quantile(sorted, n, 0.05);
    s->q25 = numbers_quantile(sorted, n, 0.25);
    s->q75 = numbers_quantile(sorted, n, 0.75);
    s->q95 = numbers_quantile(sorted, n, 0.95);
    for (int q = 0; q < MODEL_QUANTILES; q++)
        s->quantile[q] = numbers_quantile(sorted, n, (q + 0.5) / MODEL_QUANTILES);
    /* Distances from the median grow from the middle of the sorted values to both ends: walk
     * outwards until half of them are behind us. */
    size_t right = n / 2, left = right;
    double last = 0;
    for (size_t seen = 0; seen <= n / 2 && (left > 0 || right < n); seen++) {
        double l = left > 0 ? s->median - sorted[left - 1] : INFINITY;
        double h = right < n ? sorted[right] - s->median : INFINITY;
        last = l < h ? l : h;
        if (l < h)
            left--;
        else
            right++;
    }
    s->mad = form && last < rounding ? 0 : last;
    s->spread = s->mad > 0 ? s->mad : s->deviation > 0 ? s->deviation : 1;
}

/* The targets that functions of the inputs are held against, (MODEL_TARGETS, stride), and `near`,
 * which is 1 for rows where y is near its median. */
static void make_targets(float *t, float *near, shape_of_y *s, const double *y,
                         const model_columns *c, double *tmp)
{
    const expr_vec *vec = expr_vec_best();
    size_t n = c->rows, w = c->stride;
    double sum2 = 0, sum3 = 0, sum4 = 0, mean = 0;
    for (size_t r = 0; r < n; r++) {
        double scaled = (y[r] - s->median) / s->spread, size = fabs(scaled);
        near[r] = size < 8;
        t[r] = size < 8 ? (float)scaled : 0;
        tmp[r] = size > 1e100 ? size : size + sqrt(size * size + 1);
    }
    vec->unary[EXPR_LOG](tmp, tmp, n); /* asinh of |scaled| */
    for (size_t r = 0; r < n; r++) {
        double v = y[r] < s->median ? -tmp[r] : tmp[r];
        t[w + r] = (float)v;
        mean += v / (double)n;
        tmp[r] = fabs(y[r]) + 1e-9 * s->spread;
    }
    vec->unary[EXPR_LOG](tmp, tmp, n);
    for (size_t r = 0; r < n; r++) {
        t[2 * w + r] = (float)clamp(tmp[r], 300);
        tmp[r] = fabs(y[r] - s->median) + 1e-6 * s->spread;
        double v = (double)t[w + r] - mean;
        sum2 += v * v / (double)n;
        sum3 += v * v * v / (double)n;
        sum4 += v * v * v * v / (double)n;
    }
    vec->unary[EXPR_LOG](tmp, tmp, n);
    for (size_t r = 0; r < n; r++)
        t[3 * w + r] = (float)clamp(tmp[r], 300);
    s->skewness = sum2 > 1e-12 ? sum3 / pow(sum2, 1.5) : 0;
    s->kurtosis = sum2 > 1e-12 ? sum4 / (sum2 * sum2) : 0;
}

/* A statistic of the table: its features, where rounding errors in the form view count as 0. */
static void statistic_features(float *out, double v, int form)
{
    model_value_features(out, form && fabs(v) < rounding ? 0 : v);
}

/* y's own token; what the fits add comes last. */
static void fill_y(float *out, const shape_of_y *s, int dim, int form, double intercept,
                   const double left[4])
{
    const float *end = out + MODEL_SUMMARY_Y;
    const double values[11] = { s->mean, s->deviation, s->least, s->most, s->median, s->mad,
                                s->q5,   s->q25,       s->q75,   s->q95,  intercept };
    for (int i = 0; i < 11; i++, out += MODEL_VALUE_FEATURES)
        statistic_features(out, values[i], form);
    for (int q = 0; q < MODEL_QUANTILES; q++)
        *out++ = (float)clamp(asinh((s->quantile[q] - s->median) / s->spread), FEATURE_MOST);
    for (int d = 0; d < DATA_DIMS_MAX; d++)
        *out++ = d + 1 == dim;
    *out++ = (float)clamp(s->skewness, FEATURE_MOST);
    *out++ = (float)clamp(log(s->kurtosis + 1e-3), FEATURE_MOST);
    *out++ = (float)s->positive;
    *out++ = (float)clamp(log(s->deviation / s->spread + 1e-9), FEATURE_MOST);
    *out++ = s->mad == 0;
    for (int i = 0; i < 4; i++)
        *out++ = (float)left[i];
    assert(out == end);
}

/* A sparse least-squares fit, one term after the other: each time the one that takes most away of
 * what is left, seen at right angles to those before it. */
typedef struct pursuit {
    int count;
    size_t chosen[MODEL_ATOMS_MAX];
    double gain[MODEL_ATOMS_MAX], left[MODEL_ATOMS_MAX]; /* shares of the variance */
    double factor[MODEL_ATOMS_MAX], intercept;           /* of scaled y */
} pursuit;

/* Least sizes at which float32 sums still mean something. */
static const float energy_least = 1e-3f;
static const double left_least = 1e-6;

/* The fit on its way: orthogonal least squares. Scaled y is t, a candidate column v_j, both 0 where
 * y is far from its median; q_0, q_1, ... are orthonormal, q_0 the constant:
 *
 *     q_0 = near / |near|                    r = t - (q_0.t) q_0
 *
 * Term s = 1, 2, ... is the candidate whose part at right angles to q_0 .. q_{s-1} takes most off
 * |r|^2. That part has the square length e_j, and takes off the square of r's share along it:
 *
 *     j_s = argmax_j (v_j.r)^2 / e_j         e_j = |v_j|^2 - sum_{i<s} (v_j.q_i)^2
 *     q_s = (v - sum_{i<s} (v.q_i) q_i) / |...|,  v = v_{j_s}
 *     a_s = q_s.r                            r <- r - a_s q_s
 *
 * and for all candidates, which need not be touched themselves:
 *
 *     v_j.r <- v_j.r - a_s (v_j.q_s)         e_j <- e_j - (v_j.q_s)^2
 *
 * The fit is sum_s a_s q_s. Since v_{j_s} = sum_{i<=s} R_is q_i with R_is = v_{j_s}.q_i, the
 * factors f of the terms solve the triangular system R f = a. */
typedef struct orthogonal {
    const model_columns *c;
    const float *near;                  /* 1 for rows near the median, else 0 */
    float *r;                           /* what is left of t */
    float *q;                           /* (1 + terms, stride) */
    float *cross;                       /* (1 + terms, atoms): v_j.q_s */
    float *along;                       /* v_j.r */
    float *energy;                      /* e_j */
    float *whole;                       /* |v_j|^2 */
    double amount[MODEL_ATOMS_MAX + 1]; /* a_s */
    double total, left;                 /* |r|^2 after q_0, and now */
    float count;                        /* rows near the median */
} orthogonal;

/* Direction 0. Returns 0 when memory is out. */
static int start_pursuit(orthogonal *o, const float *target, int most, arena *a)
{
    const nn_kernels *k = nn_kernels_best();
    const model_columns *c = o->c;
    size_t n = c->atoms, w = c->stride;
    o->energy = arena_array(a, n, sizeof *o->energy);
    o->whole = arena_array(a, n, sizeof *o->whole);
    o->along = arena_array(a, n, sizeof *o->along);
    o->r = arena_copy(a, target, w * sizeof *o->r);
    o->q = arena_array(a, (size_t)(most + 1) * w, sizeof *o->q);
    o->cross = arena_array(a, (size_t)(most + 1) * n, sizeof *o->cross);
    if (!o->energy || !o->whole || !o->along || !o->r || !o->q || !o->cross)
        return 0;
    o->count = k->dot(o->near, o->near, w);
    float length = 1 / sqrtf(o->count);
    for (size_t i = 0; i < w; i++)
        o->q[i] = o->near[i] * length;
    o->amount[0] = (double)k->dot(o->q, o->r, w);
    k->axpy(o->r, (float)-o->amount[0], o->q, w);
    o->total = o->left = k->square_sum(o->r, w);
    for (size_t j = 0; j < n; j++) {
        const float *v = c->value + j * w;
        o->cross[j] = k->dot(v, o->q, w);
        o->whole[j] = k->dot(c->square + j * w, o->near, w);
        o->energy[j] = o->whole[j] - o->cross[j] * o->cross[j];
        o->along[j] = k->dot(v, o->r, w);
    }
    return 1;
}

/* The candidate that takes most away, or c->atoms if none is far enough from those before it. */
static size_t best_term(const orthogonal *o)
{
    size_t best = o->c->atoms;
    float most = 0;
    for (size_t j = 0; j < o->c->atoms; j++)
        if (o->energy[j] > energy_least * o->whole[j] &&
            o->along[j] * o->along[j] > most * o->energy[j]) {
            most = o->along[j] * o->along[j] / o->energy[j];
            best = j;
        }
    return best;
}

/* Takes candidate `best` as term `s`, counted from 1. */
static void add_term(orthogonal *o, size_t best, int s)
{
    const nn_kernels *k = nn_kernels_best();
    const model_columns *c = o->c;
    size_t n = c->atoms, w = c->stride;
    float *q = o->q + (size_t)s * w, *cross = o->cross + (size_t)s * n;
    for (size_t i = 0; i < w; i++)
        q[i] = c->value[best * w + i] * o->near[i];
    for (int i = 0; i < s; i++)
        k->axpy(q, -o->cross[(size_t)i * n + best], o->q + (size_t)i * w, w);
    float length = 1 / sqrtf((float)k->square_sum(q, w) + 1e-30f);
    for (size_t i = 0; i < w; i++)
        q[i] *= length;
    o->amount[s] = (double)k->dot(q, o->r, w);
    k->axpy(o->r, (float)-o->amount[s], q, w);
    for (size_t j = 0; j < n; j++) {
        cross[j] = k->dot(c->value + j * w, q, w);
        o->along[j] -= (float)o->amount[s] * cross[j];
        o->energy[j] -= cross[j] * cross[j];
    }
    o->energy[best] = 0;
}

/* From directions back to terms: R f = a, from the last term to the constant, which is row 0. */
static void solve_factors(pursuit *p, const orthogonal *o)
{
    size_t n = o->c->atoms;
    for (int i = p->count; i-- > 0;) {
        const float *row = o->cross + (size_t)(i + 1) * n;
        double v = o->amount[i + 1], own = (double)row[p->chosen[i]];
        for (int j = i + 1; j < p->count; j++)
            v -= (double)row[p->chosen[j]] * p->factor[j];
        p->factor[i] = fabs(own) > 1e-30 ? v / own : 0;
    }
    double v = o->amount[0];
    for (int j = 0; j < p->count; j++)
        v -= (double)o->cross[p->chosen[j]] * p->factor[j];
    p->intercept = v / sqrt((double)o->count);
}

/* Fits at most `most` terms. first_c and first_e are v_j.r and e_j after q_0, for all atoms: what
 * correlations with t are made of. Returns 0 when memory is out. */
static int pursue(pursuit *p, float *first_c, float *first_e, orthogonal *o, const float *target,
                  int most, arena *a)
{
    size_t n = o->c->atoms;
    *p = (pursuit){ 0 };
    if (!start_pursuit(o, target, most, a))
        return 0;
    memcpy(first_c, o->along, n * sizeof *o->along);
    memcpy(first_e, o->energy, n * sizeof *o->energy);
    while (p->count < most && o->total > 0 && o->left > left_least * o->total) {
        size_t best = best_term(o);
        if (best == n)
            break;
        add_term(o, best, p->count + 1);
        double now = nn_kernels_best()->square_sum(o->r, o->c->stride);
        p->chosen[p->count] = best;
        p->gain[p->count] = fmax(0, (o->left - now) / o->total);
        p->left[p->count++] = now / o->total;
        o->left = now;
    }
    solve_factors(p, o);
    return 1;
}

/* A token for each term, in the order of their choice. */
static void fill_atoms(float *out, const pursuit *p, const model_columns *c, double spread,
                       int form)
{
    const float *end = out + (size_t)p->count * MODEL_SUMMARY_ATOM;
    for (int i = 0; i < p->count; i++) {
        const atom *b = &c->atom[p->chosen[i]];
        statistic_features(out, p->factor[i] * spread, form);
        out += MODEL_VALUE_FEATURES;
        *out++ = (float)sqrt(p->gain[i]);
        *out++ = (float)(log10(p->gain[i] + 1e-8) / 4);
        *out++ = (float)(log10(p->left[i] + 1e-8) / 4);
        *out++ = (float)i / 8;
        for (int s = 0; s < MODEL_SHAPES_COUNT; s++)
            *out++ = s == b->shape;
        for (int d = 0; d < DATA_DIMS_MAX; d++)
            *out++ = d < c->dim ? b->power[d] : 0;
    }
    assert(out == end);
}

/* Factors of the plain linear fit near the median: (A'A + ridge) f = A't by Gauss, where A's
 * columns are 1, x_0, x_1, ... on the rows near the median and the ridge, 1e-3 per row, keeps equal
 * inputs apart. Functions of one input come first among the atoms, x itself first of them. */
static void linear_fit(double *factor, const model_columns *c, const float *target,
                       const float *near)
{
    const nn_kernels *k = nn_kernels_best();
    enum { MOST = DATA_DIMS_MAX + 1 };
    double m[MOST][MOST + 1] = { { 0 } };
    int n = c->dim + 1;
    size_t w = c->stride;
    for (int i = 0; i < n; i++) {
        const float *a = i ? c->value + (size_t)(i - 1) * MODEL_SHAPES_COUNT * w : c->ones;
        for (int j = 0; j <= i; j++) {
            const float *b = j ? c->value + (size_t)(j - 1) * MODEL_SHAPES_COUNT * w : c->ones;
            double sum = 0;
            for (size_t r = 0; r < c->rows; r++)
                sum += (double)(a[r] * b[r] * near[r]);
            m[i][j] = m[j][i] = sum;
        }
        m[i][n] = (double)k->dot(a, target, w);
        m[i][i] += 1e-3 * (double)c->rows;
    }
    for (int i = 0; i < n; i++) /* positive definite: no pivoting needed */
        for (int row = i + 1; row < n; row++) {
            double f = m[row][i] / m[i][i];
            for (int col = i; col <= n; col++)
                m[row][col] -= f * m[i][col];
        }
    for (int i = n; i-- > 0;) {
        double v = m[i][n];
        for (int j = i + 1; j < n; j++)
            v -= m[i][j] * m[j][n];
        m[i][n] = v / m[i][i];
        if (i)
            factor[i - 1] = m[i][n];
    }
}

/* What the inputs' tokens are made of, beside the columns. */
typedef struct about_inputs {
    const float *target;            /* (MODEL_TARGETS, stride) */
    const float *first_c, *first_e; /* of the atoms with the first target, see pursue */
    double first_square;            /* sum of squares of the first target about its mean */
    const float *whole_e;           /* sums of squares of the atoms over all rows */
    double mean[MODEL_TARGETS];     /* of the other targets */
    double square[MODEL_TARGETS];   /* their sums of squares about it */
    double spread;                  /* y's scale */
    double factor[DATA_DIMS_MAX];   /* of the linear fit, in that scale */
    int form;
} about_inputs;

/* corr(v_j, t) for every function v_j of input i and every target t: over the rows near the median
 * for the first, which the pursuit knows already, over all rows for the others, as
 *
 *     (v.t - n mean(v) mean(t)) / sqrt((v.v - n mean(v)^2) (t.t - n mean(t)^2))
 *
 * and 0 where one of them hardly varies. Returns the end of what it wrote. */
static float *fill_correlations(float *out, const model_columns *c, const about_inputs *b, int i)
{
    const nn_kernels *k = nn_kernels_best();
    size_t w = c->stride, n = c->rows;
    const double least = 1e-9;
    for (int s = 0; s < MODEL_SHAPES_COUNT; s++) {
        size_t j = (size_t)i * MODEL_SHAPES_COUNT + (size_t)s;
        const float *v = c->value + j * w;
        double e = (double)b->first_e[j] * b->first_square;
        *out++ = e > least ? (float)clamp((double)b->first_c[j] / sqrt(e), 1) : 0;
        double sum = (double)k->dot(v, c->ones, w) / (double)n;
        for (int t = 1; t < MODEL_TARGETS; t++) {
            double both =
                (double)k->dot(v, b->target + (size_t)t * w, w) - (double)n * sum * b->mean[t];
            double size = ((double)b->whole_e[j] - (double)n * sum * sum) * b->square[t];
            *out++ = size > least ? (float)clamp(both / sqrt(size), 1) : 0;
        }
    }
    return out;
}

/* Mean and deviation of asinh-scaled y, the second target, in each eighth of input i's values: y's
 * course along the input. Returns the end of what it wrote. */
static float *fill_course(float *out, const model_columns *c, const about_inputs *b, int i)
{
    double total[MODEL_BINS] = { 0 }, squares[MODEL_BINS] = { 0 };
    int count[MODEL_BINS] = { 0 };
    size_t n = c->rows;
    const unsigned char *bin = c->bin + (size_t)i * n;
    const float *r = b->target + c->stride;
    for (size_t q = 0; q < n; q++) {
        total[bin[q]] += (double)r[q];
        squares[bin[q]] += (double)r[q] * (double)r[q];
        count[bin[q]]++;
    }
    for (int k = 0; k < MODEL_BINS; k++) {
        double m = count[k] ? total[k] / count[k] : 0;
        double v = count[k] ? squares[k] / count[k] - m * m : 0;
        *out++ = (float)clamp(m, FEATURE_MOST);
        *out++ = (float)clamp(sqrt(fmax(0, v)), FEATURE_MOST);
    }
    return out;
}

/* A token for each input: correlations, y's course, its factor in the linear fit, its number. */
static void fill_inputs(float *out, const model_columns *c, const about_inputs *b)
{
    for (int i = 0; i < c->dim; i++) {
        const float *end = out + MODEL_SUMMARY_INPUT;
        out = fill_correlations(out, c, b, i);
        out = fill_course(out, c, b, i);
        statistic_features(out, b->factor[i] * b->spread, b->form);
        out += MODEL_VALUE_FEATURES;
        for (int d = 0; d < DATA_DIMS_MAX; d++)
            *out++ = d == i;
        assert(out == end);
    }
}

int model_summary_new(model_summary *out, int dim, int most, int surface, arena *a)
{
    *out = (model_summary){ .dim = dim, .most = most };
    out->y = arena_array(a, MODEL_SUMMARY_Y, sizeof *out->y);
    out->input = arena_array(a, (size_t)dim * MODEL_SUMMARY_INPUT, sizeof *out->input);
    out->atom = arena_array(a, (size_t)most * MODEL_SUMMARY_ATOM, sizeof *out->atom);
    if (surface) {
        out->surface_y = arena_array(a, MODEL_SURFACE_Y, sizeof *out->surface_y);
        out->surface_input =
            arena_array(a, (size_t)dim * MODEL_SURFACE_INPUT, sizeof *out->surface_input);
    }
    return out->y && out->input && out->atom &&
           (!surface || (out->surface_y && out->surface_input));
}

/* What fill_inputs needs to know. `whole_e` has room for a number per function of one input. */
static void describe_inputs(about_inputs *b, float *whole_e, const model_columns *c,
                            const float *near)
{
    const nn_kernels *k = nn_kernels_best();
    size_t w = c->stride;
    double n = (double)c->rows;
    for (size_t j = 0; j < (size_t)c->dim * MODEL_SHAPES_COUNT; j++)
        whole_e[j] = k->dot(c->square + j * w, c->ones, w);
    b->whole_e = whole_e;
    double count = (double)k->dot(near, near, w), sum = (double)k->dot(b->target, near, w);
    b->first_square = k->square_sum(b->target, w) - sum * sum / count;
    for (int t = 1; t < MODEL_TARGETS; t++) {
        b->mean[t] = (double)k->dot(b->target + (size_t)t * w, c->ones, w) / n;
        b->square[t] = k->square_sum(b->target + (size_t)t * w, w) - b->mean[t] * b->mean[t] * n;
    }
    linear_fit(b->factor, c, b->target, near);
}

int model_summary_make(model_summary *out, const model_columns *c, const double *y, int form,
                       arena *a)
{
    size_t w = c->stride;
    arena_pos mark = arena_mark(a);
    double *tmp = arena_array(a, c->rows, sizeof *tmp);
    float *target = arena_zero(a, MODEL_TARGETS * w * sizeof *target);
    float *near = arena_zero(a, w * sizeof *near);
    float *first_c = arena_array(a, c->atoms, sizeof *first_c);
    float *first_e = arena_array(a, c->atoms, sizeof *first_e);
    float *whole_e = arena_array(a, c->atoms, sizeof *whole_e);
    int good = tmp && target && near && first_c && first_e && whole_e;
    shape_of_y s;
    pursuit p;
    orthogonal o = { .c = c, .near = near };
    if (good) {
        describe_y(&s, y, c->rows, form, tmp);
        make_targets(target, near, &s, y, c, tmp);
        good = pursue(&p, first_c, first_e, &o, target, out->most, a);
    }
    if (good && out->surface_y) {
        const model_surface_scale scale = { s.median, s.spread };
        model_surface_samples seen;
        good = model_surface_sample(&seen, c->surface, target + w, a);
        if (good)
            model_surface_features(out->surface_y, out->surface_input, &seen, c->dim, &scale);
    }
    if (good) {
        about_inputs b = { .target = target,
                           .first_c = first_c,
                           .first_e = first_e,
                           .spread = s.spread,
                           .form = form };
        double left[4];
        describe_inputs(&b, whole_e, c, near);
        fill_inputs(out->input, c, &b);
        for (int i = 0; i < 4; i++) { /* what is left after 1, 3, 6 and all terms */
            static const int after[4] = { 1, 3, 6, MODEL_ATOMS_MAX };
            int t = after[i] < p.count ? after[i] : p.count;
            left[i] = log10((t ? p.left[t - 1] : 1) + 1e-8) / 4;
        }
        fill_y(out->y, &s, c->dim, form, p.intercept * s.spread + s.median, left);
        fill_atoms(out->atom, &p, c, s.spread, form);
        out->atoms = p.count;
    }
    arena_reset(a, mark);
    return good;
}
