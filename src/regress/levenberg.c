/* levenberg.c - see levenberg.h.
 *
 * At the parameters x with residuals r and derivatives J a step p solves
 *
 *     min |J p + r|^2   with   |D p| <= delta,        that is   (J'J + par D^2) p = -J'r
 *
 * for the par >= 0 that MINPACK's lmpar finds from J's factorisation J P = Q R. The radius delta
 * grows or shrinks by how much of the promised fall there is (Moré, "The Levenberg-Marquardt
 * algorithm: implementation and theory", 1978). */
#include "regress/levenberg.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "regress/columns.h"

extern const regress_columns regress_columns_generic, regress_columns_avx2, regress_columns_avx512;

const regress_columns *regress_columns_for(isa which)
{
    static const regress_columns *const tables[ISA_COUNT] = ISA_VARIANTS(&regress_columns);
    return tables[which];
}

static const regress_columns *columns_best(void)
{
    return regress_columns_for(isa_best());
}

typedef struct state {
    const regress_columns *loops;
    size_t m, n;
    double *at, *residual,
        *slope;            /* slope(m,n) by columns: derivatives, then their factorisation */
    double *trial, *there; /* the end of a step, and the residuals there */
    double *length;        /* of the derivatives' columns */
    double *diag;          /* D */
    double *rdiag, *rest;  /* of R; the lengths of what is left of the columns */
    double *target;        /* Q'residual */
    double *step, *wa, *wb, *wc;
    int *pivot; /* column pivot[k] - 1 of J is column k of R */
    double size, norm, delta, par;
} state;

/* Returns 0 when memory is out. */
static int make(state *s, arena *a)
{
    double **const rows[] = { &s->residual, &s->there, &s->target };
    double **const vectors[] = { &s->trial, &s->length, &s->diag, &s->rdiag, &s->rest,
                                 &s->step,  &s->wa,     &s->wb,   &s->wc };
    s->slope = arena_array(a, s->m * s->n, sizeof *s->slope);
    s->pivot = arena_array(a, s->n, sizeof *s->pivot);
    int good = s->slope && s->pivot;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        good &= (*rows[k] = arena_array(a, s->m, sizeof(double))) != NULL;
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        good &= (*vectors[k] = arena_array(a, s->n, sizeof(double))) != NULL;
    return good;
}

static double length_of(const state *s, double *v, size_t n)
{
    double length;
    s->loops->lengths(&length, &v, 1, n);
    return length;
}

/* Measures all columns. `columns` has room for n pointers. */
static void measure(state *s, double **columns)
{
    for (size_t j = 0; j < s->n; j++)
        columns[j] = s->slope + j * s->m;
    s->loops->lengths(s->length, columns, s->n, s->m);
}

/* Brings the column with the longest rest to place j. */
static void choose(state *s, size_t j)
{
    size_t best = j;
    for (size_t k = j; k < s->n; k++)
        if (s->rdiag[k] > s->rdiag[best])
            best = k;
    if (best == j)
        return;
    double *one = s->slope + j * s->m, *other = s->slope + best * s->m;
    for (size_t i = 0; i < s->m; i++) {
        double v = one[i];
        one[i] = other[i];
        other[i] = v;
    }
    int p = s->pivot[j];
    s->rdiag[best] = s->rdiag[j];
    s->rest[best] = s->rest[j];
    s->pivot[j] = s->pivot[best];
    s->pivot[best] = p;
}

/* What is left of column k's length below row j: by Pythagoras, and measured anew where that has
 * lost its digits. */
static void shorten(state *s, size_t j, size_t k)
{
    double *column = s->slope + k * s->m;
    if (s->rdiag[k] == 0)
        return;
    double share = column[j] / s->rdiag[k], lost;
    s->rdiag[k] *= sqrt(fmax(0, 1 - share * share));
    lost = s->rdiag[k] / s->rest[k];
    if (.05 * (lost * lost) <= DBL_EPSILON) {
        s->rdiag[k] = length_of(s, column + j + 1, s->m - j - 1);
        s->rest[k] = s->rdiag[k];
    }
}

/* J P = Q R by Householder's reflections, which go to the residuals as well: target = Q'residual. R
 * ends above the diagonal of slope and on it. `columns` has room for n pointers. */
static void factorise(state *s, double **columns)
{
    size_t m = s->m, n = s->n;
    measure(s, columns);
    memcpy(s->rdiag, s->length, n * sizeof *s->rdiag);
    memcpy(s->rest, s->length, n * sizeof *s->rest);
    memcpy(s->target, s->residual, m * sizeof *s->target);
    for (size_t j = 0; j < n; j++)
        s->pivot[j] = (int)j + 1;
    for (size_t j = 0; j < n; j++) {
        choose(s, j);
        double *v = s->slope + j * m + j;
        /* The first one is measured already. */
        double length = j == 0 ? s->length[s->pivot[0] - 1] : length_of(s, v, m - j);
        if (length != 0) {
            size_t count = 0;
            length = v[0] < 0 ? -length : length;
            for (size_t k = j + 1; k < n; k++)
                columns[count++] = s->slope + k * m + j;
            columns[count++] = s->target + j;
            s->loops->reflect(columns, count, v, length, m - j);
            for (size_t k = j + 1; k < n; k++)
                shorten(s, j, k);
        }
        s->rdiag[j] = -length;
    }
    for (size_t j = 0; j < n; j++)
        s->slope[j * m + j] = s->rdiag[j];
}

static double scaled_length(state *s, const double *v)
{
    for (size_t j = 0; j < s->n; j++)
        s->wa[j] = s->diag[j] * v[j];
    return enorm((int)s->n, s->wa);
}

/* The largest cosine between the residuals and a column of the derivatives: 0 at a minimum. */
static double slope_left(const state *s)
{
    double most = 0;
    for (size_t j = 0; j < s->n && s->norm != 0; j++) {
        double length = s->length[s->pivot[j] - 1], sum = 0;
        if (length == 0)
            continue;
        for (size_t i = 0; i <= j; i++)
            sum += s->slope[j * s->m + i] * (s->target[i] / s->norm);
        most = fmax(most, fabs(sum / length));
    }
    return most;
}

/* |J step|, by R. */
static double linear_length(state *s)
{
    for (size_t j = 0; j < s->n; j++) {
        double part = s->step[s->pivot[j] - 1];
        s->wa[j] = 0;
        for (size_t i = 0; i <= j; i++)
            s->wa[i] += s->slope[j * s->m + i] * part;
    }
    return enorm((int)s->n, s->wa);
}

/* The radius for the next step, `length` being that of this one. fall and promise are shares of the
 * sum of squares, `along` is half its derivative along the step. */
static void adjust(state *s, double fall, double promise, double along, double now, double length)
{
    double ratio = promise != 0 ? fall / promise : 0;
    if (ratio <= .25) {
        double shrink = fall >= 0 ? .5 : .5 * along / (along + .5 * fall);
        if (.1 * now >= s->norm || shrink < .1)
            shrink = .1;
        s->delta = shrink * fmin(s->delta, length / .1);
        s->par /= shrink;
    } else if (s->par == 0 || ratio >= .75) {
        s->delta = length / .5;
        s->par = .5 * s->par;
    }
}

/* Steps from the factorised point until one is taken. Returns 1 if one was, 0 where the search
 * ends. *calls counts the evaluations of the residuals, `first` is for the very first point. */
static int take_step(state *s, const regress_descent *d, double steepest, int first, int *calls)
{
    const double taken = 1e-4;
    for (;;) {
        lmpar(d->n, s->slope, d->m, s->pivot, s->diag, s->target, s->delta, &s->par, s->step, s->wa,
              s->wb, s->wc);
        for (size_t j = 0; j < s->n; j++) {
            s->step[j] = -s->step[j];
            s->trial[j] = s->at[j] + s->step[j];
        }
        double length = scaled_length(s, s->step);
        if (first)
            s->delta = fmin(s->delta, length);
        if (d->f(d->context, d->m, d->n, s->trial, s->there, s->slope, d->m, 1) < 0)
            return 0;
        ++*calls;
        double now = length_of(s, s->there, s->m), part = now / s->norm;
        double fall = .1 * now < s->norm ? 1 - part * part : -1;
        double one = linear_length(s) / s->norm, two = sqrt(s->par) * length / s->norm;
        double promise = one * one + two * two / .5, along = -(one * one + two * two);
        double ratio = promise != 0 ? fall / promise : 0;
        adjust(s, fall, promise, along, now, length);
        if (ratio >= taken) {
            memcpy(s->at, s->trial, s->n * sizeof *s->at);
            memcpy(s->residual, s->there, s->m * sizeof *s->there);
            s->size = scaled_length(s, s->at);
            s->norm = now;
        }
        double least = fmax(d->tolerance, DBL_EPSILON);
        if ((fabs(fall) <= least && promise <= least && .5 * ratio <= 1) ||
            s->delta <= least * s->size || *calls >= d->most || steepest <= DBL_EPSILON)
            return 0;
        if (ratio >= taken)
            return 1;
    }
}

int regress_descend(const regress_descent *d, double *at, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    state s = { .loops = columns_best(), .m = (size_t)d->m, .n = (size_t)d->n, .at = at };
    double **columns = arena_array(tmp, s.n + 1, sizeof *columns);
    int good = make(&s, tmp) && columns, calls = 1;
    int go = good && d->f(d->context, d->m, d->n, at, s.residual, s.slope, d->m, 1) >= 0;
    s.norm = go ? length_of(&s, s.residual, s.m) : 0;
    for (int turn = 0; go; turn++) {
        if (d->f(d->context, d->m, d->n, at, s.residual, s.slope, d->m, 2) < 0)
            break;
        factorise(&s, columns);
        for (size_t j = 0; j < s.n; j++)
            s.diag[j] = turn ? fmax(s.diag[j], s.length[j]) : s.length[j] ? s.length[j] : 1;
        if (turn == 0) {
            s.size = scaled_length(&s, at);
            s.delta = d->factor * s.size;
            if (s.delta == 0)
                s.delta = d->factor;
        }
        double steepest = slope_left(&s);
        go = steepest > 0 && take_step(&s, d, steepest, turn == 0, &calls);
    }
    arena_reset(tmp, mark);
    return good;
}
