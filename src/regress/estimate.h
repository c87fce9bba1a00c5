/* estimate.h - the parameters of a given law, with their standard errors.
 *
 *     regress_estimate r;
 *     const regress_estimate_data d = { .x = x, .y = y, .rows = rows };
 *     const regress_estimate_how how = { .level = .95 };
 *     if (regress_estimate_law(&r, &law, &d, &how, a, &st) == SNIP_OK)
 *         printf("%g +- %g\n", r.param[0].value, r.param[0].error);
 *
 * Least squares on all rows. The covariance of the parameters is s^2 (J'WJ)^-1 with the derivatives
 * J at the estimates, the rows' weights W and the residual variance s^2, by a QR factorisation of J
 * with columns of length 1. Where rows come with a sigma, W is 1/sigma^2 and s is 1. Parameters
 * that end at a bound count as fixed there; those that the data cannot tell apart have no error. */
#ifndef REGRESS_ESTIMATE_H
#define REGRESS_ESTIMATE_H

#include "regress/law.h"

enum { REGRESS_STARTS_GIVEN = 4, REGRESS_STARTS_UNKNOWN = 100 };

typedef struct regress_estimate_data {
    const double *const *x; /* the law's inputs */
    const double *y;
    const double *weight, *sigma; /* of the rows, at most one of the two; NULL: all alike */
    size_t rows;
} regress_estimate_data;

typedef struct regress_estimate_how {
    int starts; /* 0: the first number above where every parameter has a start, else the second */
    uint64_t seed;
    double level; /* of the intervals */
} regress_estimate_how;

typedef enum regress_state {
    REGRESS_FITTED,
    REGRESS_FIXED,
    REGRESS_AT_LOW,  /* at its lower bound */
    REGRESS_AT_HIGH, /* at its upper bound */
    REGRESS_UNKNOWN  /* cannot be told apart from others, or does not act at all */
} regress_state;
extern const char *const regress_state_names[];

/* NaN stands for what cannot be known. */
typedef struct regress_estimated {
    double value;
    double start;     /* where the first search began */
    double error;     /* standard error */
    double low, high; /* interval: value -+ quantile * error */
    double t;         /* value / error */
    regress_state state;
} regress_estimated;

typedef struct regress_estimate {
    size_t params;
    regress_estimated *param; /* as the law has them */
    double *correlation; /* params x params; NaN but between those in the state REGRESS_FITTED */
    size_t rows;         /* that count: of a weight above 0 */
    size_t freedom;      /* rows less the rank of J */
    double rss;          /* sum of weight * residual^2; with sigma it is chi-square */
    double deviation;    /* sqrt(rss / freedom) */
    double quantile;     /* of the intervals: Student's t, normal with sigma */
    double chance;       /* with sigma: that chi-square is above rss */
    double r2;           /* share of y's variance, by weight */
    double aic, bic; /* of the Gaussian likelihood; the variance counts as a parameter unless sigma
                        is given */
    double *fitted, *residual; /* per row; y - fitted */
    double *band, *prediction; /* half widths of the intervals of the mean and of a measurement */
    const char *note;          /* what the data do not determine, or NULL; in `a` */
    int starts, reached, from; /* of the fit, see regress_fit */
    int settled; /* whether this is a minimum, as far as the standard errors can tell */
    int digits;  /* that the values need for rss to hold to 1e-6, relatively */
    /* What regress_estimate_at needs: parameters whose derivatives span those of all, and the
     * matrix that turns these derivatives, s and the quantile included, into the band. */
    size_t rank, *basis;
    double *spread;
} regress_estimate;

/* Everything in *out lives in `a`. SNIP_FORMAT where the data or the parameters do not allow it,
 * with a line that says why. */
snip_code regress_estimate_law(regress_estimate *out, const regress_law *law,
                               const regress_estimate_data *d, const regress_estimate_how *how,
                               arena *a, snip_status *st);

/* The law with the estimates at other rows of its inputs: values, and the half width of the band.
 * Returns 0 when memory is out. `tmp` is left as found. */
int regress_estimate_at(const regress_estimate *r, const regress_law *law, const double *const *x,
                        size_t rows, double *value, double *band, arena *tmp);

/* How well laws fitted to some of the rows do on the others. */
typedef struct regress_validation {
    size_t rows;      /* judged */
    double error, r2; /* root mean square, by weight; NaN where a value is not finite */
} regress_validation;

/* Fits the law to all rows but a share of them, and judges it by these; or, with share 0, by each
 * of `folds` parts of the rows in turn, fitted to the others. The seed chooses the rows. */
snip_code regress_validate_law(regress_validation *out, const regress_law *law,
                               const regress_estimate_data *d, const regress_estimate_how *how,
                               double share, size_t folds, arena *a, snip_status *st);

#endif
