/* estimate_int.h - what the files of the estimate share: the fit at hand, and the linear problem at
 * a point. */
#ifndef REGRESS_ESTIMATE_INT_H
#define REGRESS_ESTIMATE_INT_H

#include "regress/estimate.h"
#include "regress/constants.h"

/* The fit at hand: a law with numbers in place of its parameters. */
typedef struct regress_job {
    const regress_law *law;
    regress_estimate_data d; /* the rows of a weight above 0 */
    expr e;
    regress_fit_free free; /* the parameters that vary */
    size_t *which;         /* and which of the law's each is */
    const double *weight;  /* with mean 1, for the fit, or NULL */
    const double *root;    /* of the real weights, or NULL */
    int starts;
    uint64_t seed;
    arena *a;
} regress_job;

/* Where the first search begins: the start, or 1, or what lies within the bounds. */
double regress_first_start(const regress_parameter *p);

/* Whether the target and what weighs it can be squared. */
snip_code regress_check_rows(const regress_estimate_data *d, snip_status *st);

/* The data of the rows at[0..n). Returns 0 when memory is out. */
int regress_choose_rows(regress_estimate_data *out, const regress_estimate_data *d, size_t inputs,
                        const int *at, size_t n, arena *a);

/* Sets what is not given of a job with law, data, starts, seed and memory. */
snip_code regress_job_prepare(regress_job *j, snip_status *st);

/* The same but for the rows and their weights, which are set. */
snip_code regress_job_prepare_law(regress_job *j, snip_status *st);

/* The fit: the formula with the best values. SNIP_FORMAT where it is finite at no start. */
snip_code regress_job_fit(const regress_job *j, expr *fitted, regress_fit *result, snip_status *st);

/* Puts values of the parameters that vary into the formula. */
void regress_job_set(const regress_job *j, const double *at);

/* sum(weight * (value - y)^2); +inf where not finite. */
double regress_job_squares(const regress_job *j, const double *value);

/* J by columns, of length 1 each, factorised; and the step to the minimum of the linear problem. */
typedef struct regress_linear {
    size_t m, n, rank;
    double *q;             /* m x n: in the end R in its upper triangle */
    double *length;        /* of the columns of J, 0 where one is 0 */
    double *value;         /* of the formula */
    double *slopes;        /* by the numbers */
    double *left;          /* Q'residual, m */
    double *step;          /* n */
    double *diagonal, *wa; /* n */
    int *pivot;
    const char *active; /* per parameter: whether it varies here; others have columns of 0 */
    double rss;
    double size;    /* of the values, weighted: a length as the residuals' */
    double offset;  /* |Q1'r| against |Q2'r|, each by its degrees of freedom */
    size_t bad_row; /* where a derivative is not finite, and by which parameter; else m */
    size_t bad_param;
} regress_linear;

/* Returns 0 when memory is out, as the next two do. `active` is not set. */
int regress_linear_make(regress_linear *l, const regress_job *j);

/* The linear problem at `at`. */
int regress_linear_at(regress_linear *l, const regress_job *j, const double *at);

/* Gauss-Newton from `at`, which is replaced by the end; `l` is there then. */
int regress_linear_polish(double *at, regress_linear *l, const regress_job *j);

/* R, of column k in the order of the pivots. */
double regress_linear_r(const regress_linear *l, size_t row, size_t k);

/* Marks what lies at a bound as not active. */
void regress_linear_mark(char *active, const regress_job *j, const double *at);

/* Fills all of *r but what the fit tells, from the linear problem at the estimates `at`. `d` has
 * all rows, those of weight 0 as well. */
snip_code regress_judge(regress_estimate *r, const regress_job *j, const regress_linear *l,
                        const double *at, const regress_estimate_data *d, double level,
                        snip_status *st);

#endif
