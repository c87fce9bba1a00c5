/* bits.c - description length: what a formula costs to write down, and then y by the formula.
 *
 *     bits = nodes * log2(symbols) + sum over numbers + (t/2) log2(loss),   loss = 1 - r^2
 *
 * A simple number (a rational, a multiple of pi, a root) costs the digits of its numerator and
 * denominator. Any other one costs the digits that the data tell of it: its standard error is about
 * sqrt(loss/n) of its size, so log2(n)/2 - log2(loss)/2. t is the number of rows that errors come
 * from: all, unless few of them make up the sum of squares.
 *
 * Errors below the rounding of constants are all the same: among exact formulas the shortest wins.
 * Errors below the rounding of y in the table count a twentieth. What explains them explains
 * nothing that was measured, but where y is not rounded, whole numbers for instance, the exact
 * formula is still the better one. */
#include "search/bits.h"

#include <math.h>

#define LOSS_FLOOR 1e-20 /* of y's variance: what rounding constants leaves of an exact formula */

#define BELOW 0.05 /* what a bit of error counts that is below the rounding of y */

enum { DENOMINATOR_MAX = 6 };

/* What a rational p/q costs if v is one to `tolerance`, else +infinity. */
static double rational_bits(double v, double tolerance)
{
    for (int q = 1; q <= DENOMINATOR_MAX; q++) {
        double p = round(v * q);
        if (p != 0 && fabs(p) < 1e4 && fabs(v * q - p) <= tolerance * fabs(p))
            return log2(1 + fabs(p)) + log2(q);
    }
    return INFINITY;
}

/* Of a number in a formula of this loss. */
static double number_bits(double v, double loss, size_t rows)
{
    static const struct {
        double unit, bits;
    } units[] = { { 1, 0 }, { M_PI, 2 }, { 1 / M_PI, 2 }, { M_SQRT2, 3 }, { M_PI * M_PI, 4 } };
    const double tolerance = 1e-9;
    double best = 3 + fmax(0, log2((double)rows) - log2(loss)) / 2;
    if (v == 0)
        return 1;
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        best = fmin(best, units[k].bits + rational_bits(v / units[k].unit, tolerance));
    return best;
}

double search_bits(expr e, double loss, const search_scale *of)
{
    loss = fmax(loss, LOSS_FLOOR);
    double rounding = fmax(of->rounding, LOSS_FLOOR), symbols = log2((double)of->dim + 12);
    double error = log2(fmax(loss, rounding)) + BELOW * log2(fmin(loss / rounding, 1));
    double sum = of->telling / 2 * error;
    for (size_t i = 0; i < e.count; i++) {
        sum += symbols;
        if (e.node[i].op == EXPR_NUMBER)
            sum += number_bits(e.node[i].value, loss, of->rows);
    }
    return sum;
}
