/* special.c - see special.h. Both incomplete functions are continued fractions on one side of the
 * distribution's bulk and their complement on the other. */
#include "base/special.h"

#include <float.h>
#include <math.h>

/* log |gamma(a)|. lgamma tells the sign in a global, which two threads would write at once. */
static double log_gamma(double a)
{
    int sign;
    return lgamma_r(a, &sign);
}

enum { TERMS_MAX = 100000 }; /* about the root of the parameters are needed */

static const double NORMAL_FROM = 1e8; /* degrees of freedom: the quantiles differ by 1e-8 */

/* log of the gamma function's ratio G(a + b)/(G(a) G(b)). Where a is huge, G(a + b)/G(a) comes from
 * Stirling's series: the difference of two huge logarithms would have lost its digits. */
static double log_beta_factor(double a, double b)
{
    if (a < b)
        return log_beta_factor(b, a);
    if (a < 100)
        return log_gamma(a + b) - log_gamma(a) - log_gamma(b);
    double s = a + b;
    double growth = (a - .5) * log1p(b / a) + b * log(s) - b;
    double series = (1 / s - 1 / a) / 12 - (1 / (s * s * s) - 1 / (a * a * a)) / 360 +
                    (1 / pow(s, 5) - 1 / pow(a, 5)) / 1260;
    return growth + series - log_gamma(b);
}

/* The continued fraction of I_x(a, b) (DLMF 8.17.22), from the front by Lentz's method. It
 * converges quickly for x < (a + 1)/(a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m <= TERMS_MAX; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double change = 1;
        for (int k = 0; k < 2; k++) {
            double term = k ? odd : even;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            change *= c * d;
        }
        value *= change;
        if (fabs(change - 1) < DBL_EPSILON)
            break;
    }
    return value;
}

/* The same with 1 - x given as well, which may be known to more digits than x tells. */
static double beta_of(double x, double rest, double a, double b)
{
    if (!(x > 0))
        return x == 0 ? 0 : NAN;
    if (!(rest > 0))
        return rest == 0 ? 1 : NAN;
    double front = exp(log_beta_factor(a, b) + a * log(x) + b * log(rest));
    if (x < (a + 1) / (a + b + 2))
        return front / a * beta_fraction(x, a, b);
    return 1 - front / b * beta_fraction(rest, b, a);
}

double special_beta(double x, double a, double b)
{
    return beta_of(x, 1 - x, a, b);
}

/* x^a e^-x / G(a + 1), with Stirling's formula for large a: there the three factors are huge and
 * their product is not. */
static double gamma_front(double a, double x)
{
    if (a < 100)
        return exp(a * log(x) - x - log_gamma(a + 1));
    double u = (x - a) / a, series = 1 / (12 * a) - 1 / (360 * a * a * a) + 1 / (1260 * pow(a, 5));
    double exponent = fabs(u) < .1 ? a * (log1p(u) - u) : a * log(x / a) - (x - a);
    return exp(exponent - series) / sqrt(2 * M_PI * a);
}

double special_gamma_above(double a, double x)
{
    const double tiny = 1e-300;
    if (!(x > 0))
        return x == 0 ? 1 : NAN;
    if (isinf(x))
        return 0;
    double front = gamma_front(a, x);
    if (x < a + 1) { /* the series of the share below */
        double term = 1, sum = 1;
        for (int n = 1; n <= TERMS_MAX && term > sum * DBL_EPSILON; n++)
            sum += term *= x / (a + n);
        return 1 - front * sum;
    }
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, value = d; /* DLMF 8.9.2 */
    for (int n = 1; n <= TERMS_MAX; n++) {
        double term = -n * (n - a);
        b += 2;
        d = term * d + b;
        c = b + term / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        value *= d * c;
        if (fabs(d * c - 1) < DBL_EPSILON)
            break;
    }
    return front * a * value;
}

double special_t_beyond(double t, double freedom)
{
    t = fabs(t);
    if (freedom >= NORMAL_FROM)
        return erfc(t / M_SQRT2);
    if (isinf(t))
        return 0;
    double square = t * t;
    if (isinf(square)) /* the first term of the tail is all there is */
        return exp(log_beta_factor(freedom / 2, .5) - freedom * log(t / sqrt(freedom))) /
               (freedom / 2);
    return beta_of(freedom / (freedom + square), square / (freedom + square), freedom / 2, .5);
}

double special_t_quantile(double level, double freedom)
{
    if (!(level > 0 && level < 1 && freedom > 0))
        return NAN;
    double tail = 1 - level, low = 0, high = 1;
    while (special_t_beyond(high, freedom) > tail && high < 1e150)
        high *= 2;
    for (int k = 0; k < 200; k++) { /* halves the interval down to neighbours */
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (special_t_beyond(middle, freedom) > tail)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double special_chi_square_above(double x, double freedom)
{
    return freedom > 0 ? special_gamma_above(freedom / 2, x / 2) : NAN;
}
