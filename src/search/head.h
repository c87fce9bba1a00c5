/* head.h - formulas as sums of terms whose coefficients are left to least squares.
 *
 * Where formulas vary by the million, the outermost numbers need no search: t1 + t2 stands for
 * every shift + c1*t1 + c2*t2. A formula is judged on SEARCH_FEW rows, and the values of all its
 * parts stay at hand, for moves that look at them. */
#ifndef SEARCH_HEAD_H
#define SEARCH_HEAD_H

#include "search/search_int.h"

enum { HEAD_TERMS_MAX = 6, HEAD_NODES_MAX = SEARCH_SIZE_MAX + 28 };

/* The few rows, and y there. */
typedef struct head_rows {
    size_t dim, rows; /* rows <= SEARCH_FEW */
    const double *const *x;
    const double *y;
    double mean, variance; /* of y, on these rows */
} head_rows;

/* Values of a formula's nodes on the rows; `at` points into `own` or at a column. */
typedef struct head_values {
    const double *at[HEAD_NODES_MAX];
    double own[HEAD_NODES_MAX][SEARCH_FEW];
} head_values;

typedef struct head {
    size_t terms;
    size_t at[HEAD_TERMS_MAX];     /* where the terms begin in the formula */
    double factor[HEAD_TERMS_MAX]; /* their coefficients */
    double share[HEAD_TERMS_MAX];  /* the term's deviation over y's */
    double shift;
    double loss; /* 1 - r^2 on the rows */
} head;

head_rows search_head_rows_of(const search_view *v);

/* The sum of e's terms without numbers around them, in `a`: 2*(u - v) + 3 is u + v. node is NULL
 * if nothing is left, there are too many terms or nodes, or memory is out. */
expr search_head_strip(expr e, arena *a);

/* The values of every node. */
void search_head_evaluate(head_values *out, expr e, const head_rows *r);

/* The best coefficients of a stripped formula. Returns 0 if a value is not finite, or a term adds
 * nothing to the others. */
int search_head_solve(head *out, expr e, const head_values *v, const head_rows *r);

/* The formula with its coefficients as free numbers, in `a`. Those which are clean multiples of the
 * first one are written so, and terms that make no difference are left out. `plain`: so are shift
 * and first coefficient. */
expr search_head_write(const head *h, expr e, int plain, arena *a);

/* Fits the numbers inside of the terms, in place, in a few steps. Returns the evaluations made. */
int search_head_fit(expr e, const head *h, const head_rows *r, int evaluations, uint64_t seed,
                    arena *tmp);

/* e without numbers that are added to something much larger: what rounding left of 0. In `a`, or e
 * itself where there are none. */
expr search_head_without_nothing(expr e, const head_values *v, const head_rows *r, arena *a);

/* A hash of the structure: numbers aside, operands of + and * in any order. */
uint64_t search_head_hash(expr e);

/* Whether a number stands in e that a fit may move. */
int search_head_has_numbers(expr e);

#endif
