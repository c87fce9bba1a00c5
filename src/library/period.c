/* period.c - see period.h. A periodogram for rows at any places (Lomb's): at each frequency w the
 * share of r, what the line leaves, that a*cos(wx) + b*sin(wx) explains,
 *
 *     (C^2 SS - 2 C S CS + S^2 CC) / (CC SS - CS^2),   C = sum r cos, S = sum r sin,
 *
 * with CC, SS and CS the sums of cos^2, sin^2 and cos sin, and the best a and b. */
#include "library/period.h"

#include <math.h>

#include "base/numbers.h"

/* A straight line through the points, in x less its mean. */
typedef struct line {
    double place, level, slope;
} line;

static line line_of(const double *x, const double *y, size_t n)
{
    line l = { numbers_mean(x, n), numbers_mean(y, n), 0 };
    double xx = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - l.place) * (x[i] - l.place);
        xy += (x[i] - l.place) * (y[i] - l.level);
    }
    l.slope = xx > 0 ? xy / xx : 0;
    return l;
}

static double explained(const double *x, const double *y, size_t n, const line *l, double w)
{
    double c = 0, s = 0, cc = 0, ss = 0, cs = 0;
    for (size_t i = 0; i < n; i++) {
        double at = x[i] - l->place, r = y[i] - l->level - l->slope * at;
        double cosine = cos(w * at), sine = sin(w * at);
        c += r * cosine;
        s += r * sine;
        cc += cosine * cosine;
        ss += sine * sine;
        cs += cosine * sine;
    }
    double both = cc * ss - cs * cs;
    return both > 1e-9 * cc * ss ? (c * c * ss - 2 * c * s * cs + s * s * cc) / both : 0;
}

double library_half_periods(const double *x, const double *y, size_t n)
{
    const double step = 0.5;
    double low = INFINITY, high = -INFINITY, best = 1, most = 0;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    if (!(high > low))
        return 1;
    const line l = line_of(x, y, n);
    for (double halves = 1; halves <= (double)n / 2; halves += step) {
        double now = explained(x, y, n, &l, M_PI * halves / (high - low));
        if (now > most) {
            most = now;
            best = halves;
        }
    }
    return best;
}
