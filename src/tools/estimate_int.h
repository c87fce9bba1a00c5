/* estimate_int.h - what the files of the estimate share: the fit at hand, and the linear problem at
 * a point. */
#ifndef TOOLS_ESTIMATE_INT_H
#define TOOLS_ESTIMATE_INT_H

#include "tools/estimate.h"
#include "tools/fit.h"

/* The fit at hand: a law with numbers in place of its parameters. */
typedef struct tools_job {
    const tools_law *law;
    tools_estimate_data d; /* the rows of a weight above 0 */
    expr e;
    tools_fit_free free;  /* the parameters that vary */
    size_t *which;        /* and which of the law's each is */
    const double *weight; /* with mean 1, for the fit, or NULL */
    const double *root;   /* of the real weights, or NULL */
    int starts;
    uint64_t seed;
    arena *a;
} tools_job;

/* Where the first search begins: the start, or 1, or what lies within the bounds. */
double tools_first_start(const tools_parameter *p);

/* Whether the target and what weighs it can be squared. */
snip_code tools_check_rows(const tools_estimate_data *d, snip_status *st);

/* The data of the rows at[0..n). Returns 0 when memory is out. */
int tools_choose_rows(tools_estimate_data *out, const tools_estimate_data *d, size_t inputs,
                      const int *at, size_t n, arena *a);

/* Sets what is not given of a job with law, data, starts, seed and memory. */
snip_code tools_job_prepare(tools_job *j, snip_status *st);

/* The same but for the rows and their weights, which are set. */
snip_code tools_job_prepare_law(tools_job *j, snip_status *st);

/* The fit: the formula with the best values. SNIP_FORMAT where it is finite at no start. */
snip_code tools_job_fit(const tools_job *j, expr *fitted, tools_fit *result, snip_status *st);

/* Puts values of the parameters that vary into the formula. */
void tools_job_set(const tools_job *j, const double *at);

/* sum(weight * (value - y)^2); +inf where not finite. */
double tools_job_squares(const tools_job *j, const double *value);

/* J by columns, of length 1 each, factorised; and the step to the minimum of the linear problem. */
typedef struct tools_linear {
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
} tools_linear;

/* Returns 0 when memory is out, as the next two do. `active` is not set. */
int tools_linear_make(tools_linear *l, const tools_job *j);

/* The linear problem at `at`. */
int tools_linear_at(tools_linear *l, const tools_job *j, const double *at);

/* Gauss-Newton from `at`, which is replaced by the end; `l` is there then. */
int tools_linear_polish(double *at, tools_linear *l, const tools_job *j);

/* R, of column k in the order of the pivots. */
double tools_linear_r(const tools_linear *l, size_t row, size_t k);

/* Marks what lies at a bound as not active. */
void tools_linear_mark(char *active, const tools_job *j, const double *at);

/* Fills all of *r but what the fit tells, from the linear problem at the estimates `at`. `d` has
 * all rows, those of weight 0 as well. */
snip_code tools_judge(tools_estimate *r, const tools_job *j, const tools_linear *l,
                      const double *at, const tools_estimate_data *d, double level,
                      snip_status *st);

#endif
