/* box.c - see box.h. Names follow MINPACK's guide: delta is the trust region's radius in units of
 * diag, which are the largest lengths that the derivatives' columns have had. */
#include "regress/box.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* One search. The columns of `work` are those of the free parameters, place[k] each. */
typedef struct search {
    cminpack_funcder_mn f;
    void *context;
    int m, n, free;
    const double *low, *high;
    double *at, *trial, *step;        /* of all parameters */
    double *residual, *there, *slope; /* at `at`, at `trial`, and the derivatives by columns */
    double *work, *target;            /* of the free ones: the factorisation, and Q'residual */
    double *diag, *part, *move, *wa1, *wa2, *wa3, *length;
    int *place, *pivot;
    char *held;
    double delta, damping;
} search;

static double clip(const search *s, int j, double v)
{
    return fmin(s->high[j], fmax(s->low[j], v));
}

/* Returns 0 when memory is out. */
static int make(search *s, arena *a)
{
    size_t m = (size_t)s->m, n = (size_t)s->n;
    double **const vectors[] = { &s->trial, &s->step, &s->diag, &s->part,  &s->move,
                                 &s->wa1,   &s->wa2,  &s->wa3,  &s->length };
    double **const rows[] = { &s->residual, &s->there, &s->target };
    s->slope = arena_array(a, m * n, sizeof(double));
    s->work = arena_array(a, m * n, sizeof(double));
    s->place = arena_array(a, n, sizeof *s->place);
    s->pivot = arena_array(a, n, sizeof *s->pivot);
    s->held = arena_alloc(a, n);
    int good = s->slope && s->work && s->place && s->pivot && s->held;
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        good &= (*vectors[k] = arena_array(a, n, sizeof(double))) != NULL;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        good &= (*rows[k] = arena_array(a, m, sizeof(double))) != NULL;
    return good;
}

/* Holds the parameters at a bound that the sum of squares pulls outward. */
static void hold(search *s)
{
    for (int j = 0; j < s->n; j++) {
        double pull = 0; /* half the derivative of the sum of squares */
        for (int i = 0; i < s->m; i++)
            pull += s->slope[(size_t)j * s->m + i] * s->residual[i];
        s->held[j] = (s->at[j] <= s->low[j] && pull >= 0) || (s->at[j] >= s->high[j] && pull <= 0);
    }
}

/* Factorises the columns of the parameters that are not held, and sets target to Q'residual. */
static void factorise(search *s)
{
    size_t m = (size_t)s->m;
    s->free = 0;
    for (int j = 0; j < s->n; j++) {
        if (s->held[j])
            continue;
        memcpy(s->work + (size_t)s->free * m, s->slope + (size_t)j * m, m * sizeof *s->work);
        s->place[s->free++] = j;
    }
    if (s->free == 0)
        return;
    qrfac(s->m, s->free, s->work, s->m, 1, s->pivot, s->free, s->wa1, s->length, s->wa2);
    memcpy(s->target, s->residual, m * sizeof *s->target);
    for (int k = 0; k < s->free; k++) { /* the reflections, one after the other */
        double *column = s->work + (size_t)k * m, sum = 0;
        if (column[k] != 0) {
            for (int i = k; i < s->m; i++)
                sum += column[i] * s->target[i];
            for (int i = k; i < s->m; i++)
                s->target[i] -= column[i] * (sum / column[k]);
        }
        column[k] = s->wa1[k];
    }
}

static double scaled_length(const search *s, const double *v)
{
    double big = 0;
    for (int j = 0; j < s->n; j++)
        big = hypot(big, s->diag[j] * v[j]);
    return big;
}

/* Sets trial to the end of the step, by the damping that keeps it within delta. A parameter at a
 * bound that would still go outward is held as well, and the step taken anew. */
static void propose(search *s)
{
    for (;;) {
        int again = 0;
        for (int k = 0; k < s->free; k++)
            s->part[k] = s->diag[s->place[k]];
        if (s->free)
            lmpar(s->free, s->work, s->m, s->pivot, s->part, s->target, s->delta, &s->damping,
                  s->move, s->wa1, s->wa2, s->wa3);
        memcpy(s->trial, s->at, (size_t)s->n * sizeof *s->at);
        for (int k = 0; k < s->free; k++) {
            int j = s->place[k];
            s->trial[j] = clip(s, j, s->at[j] - s->move[k]);
            if (s->trial[j] == s->at[j] && s->move[k] != 0 &&
                (s->at[j] == s->low[j] || s->at[j] == s->high[j]))
                s->held[j] = 1, again = 1;
        }
        for (int j = 0; j < s->n; j++)
            s->step[j] = s->trial[j] - s->at[j];
        if (!again)
            return;
        factorise(s);
    }
}

/* By how much the linear problem says that the sum of squares falls. */
static double promised(const search *s)
{
    double before = 0, after = 0;
    for (int k = 0; k < s->free; k++) {
        double v = s->target[k];
        for (int l = k; l < s->free; l++)
            v += s->work[(size_t)l * s->m + k] * s->step[s->place[s->pivot[l] - 1]];
        before += s->target[k] * s->target[k];
        after += v * v;
    }
    return before - after;
}

int regress_box_minimise(cminpack_funcder_mn f, void *context, int m, int n, double *at,
                         const double *low, const double *high, double tolerance, int most,
                         double factor, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    search s = { .f = f, .context = context, .m = m, .n = n, .low = low, .high = high, .at = at };
    int good = make(&s, tmp), calls = 1;
    for (int j = 0; j < n; j++)
        at[j] = clip(&s, j, at[j]);
    good = good && f(context, m, n, at, s.residual, s.slope, m, 1) >= 0;
    double norm = good ? enorm(m, s.residual) : 0;
    for (int turn = 0, moved = 1; good && moved && calls < most; turn++) {
        if (f(context, m, n, at, s.residual, s.slope, m, 2) < 0) {
            good = 0;
            break;
        }
        hold(&s);
        factorise(&s);
        for (int j = 0; j < n; j++) {
            double length = enorm(m, s.slope + (size_t)j * m);
            s.diag[j] = fmax(turn ? s.diag[j] : 0, length);
            if (s.diag[j] == 0)
                s.diag[j] = 1;
        }
        double size = scaled_length(&s, at);
        if (turn == 0)
            s.delta = size > 0 ? factor * size : factor;
        for (moved = 0; !moved && calls < most;) {
            propose(&s);
            double length = scaled_length(&s, s.step);
            if (turn == 0)
                s.delta = fmin(s.delta, length > 0 ? length : s.delta);
            if (!(length > tolerance * size))
                break;
            if (f(context, m, n, s.trial, s.there, s.slope, m, 1) < 0) {
                good = 0;
                break;
            }
            calls++;
            double now = enorm(m, s.there), promise = promised(&s);
            double fall = (norm - now) * (norm + now), least = tolerance * norm * norm;
            /* Cut off at a bound, a step may promise nothing; a shorter one will. */
            double ratio = promise > 0 ? fall / promise : fall > 0;
            if (!(ratio > .25)) {
                s.delta = (now < 10 * norm ? .5 : .1) * fmin(s.delta, 10 * length);
                s.damping *= 2;
            } else if (s.damping == 0 || ratio >= .75) {
                s.delta = fmax(s.delta, 2 * length);
                s.damping /= 2;
            }
            int slight = fabs(fall) <= least && fabs(promise) <= least;
            if (fall > 0) {
                moved = !slight;
                memcpy(at, s.trial, (size_t)n * sizeof *at);
                memcpy(s.residual, s.there, (size_t)m * sizeof *s.there);
                norm = now;
            }
            if (slight || !(s.delta > tolerance * size * .1))
                break;
        }
    }
    arena_reset(tmp, mark);
    return good;
}
