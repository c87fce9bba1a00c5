/* special.h - the distributions that estimates are judged by: Student's t and chi-square.
 *
 *     double t = special_t_quantile(0.95, 12);   // 2.178813: 95 % of |t| lie below
 *     double p = special_chi_square_above(18.3, 10);
 *
 * Relative errors are below 1e-10, also far out in the tails, for up to a million degrees of
 * freedom. From a hundred million on, Student's t is taken for normal: its quantiles differ by
 * 1e-8. */
#ifndef BASE_SPECIAL_H
#define BASE_SPECIAL_H

/* The regularised incomplete beta function I_x(a, b), the share of Beta(a, b) below x; a, b > 0. */
double special_beta(double x, double a, double b);

/* The regularised incomplete gamma function Q(a, x), the share of Gamma(a) above x; a > 0. */
double special_gamma_above(double a, double x);

/* The chance that |t| with so many degrees of freedom (> 0; INFINITY: the normal distribution) is
 * above `t`. */
double special_t_beyond(double t, double freedom);

/* The t below which |t| lies with probability `level`, 0 < level < 1. */
double special_t_quantile(double level, double freedom);

/* The chance that a chi-square with so many degrees of freedom is above x. */
double special_chi_square_above(double x, double freedom);

#endif
