/* laws_int.h - a law while it is being written; for the files of laws only.
 *
 * Every term carries its values at a few rows (probes), so that constants can be chosen to suit:
 * the k of exp(-k*x) from the range of x, the coefficients of a sum so that all terms count. */
#ifndef DATA_LAWS_INT_H
#define DATA_LAWS_INT_H

#include "data/laws.h"
#include "expr/vec.h"

enum { LAW_PROBES = 16, LAW_TERMS = 256 };

/* How the rows of a table were chosen. */
typedef enum law_design {
    LAW_SCATTERED, /* each value drawn by itself */
    LAW_GRID,      /* evenly spaced; of one input only */
    LAW_LEVELS     /* a few distinct values per input, as in planned experiments */
} law_design;

/* What an input can be. */
typedef enum law_input {
    LAW_ANY,      /* mostly positive */
    LAW_POSITIVE, /* a length, a mass, a temperature */
    LAW_ANGLE,    /* in radians */
    LAW_FRACTION  /* between 0 and 1 */
} law_input;

typedef struct law_term {
    expr_node node;
    int kid[2];
    double v[LAW_PROBES];
} law_term;

typedef struct law_writer {
    rng r;
    const expr_vec *vec;
    arena *a;
    size_t n; /* rows */
    law_design design;
    int digits;  /* of free constants */
    int planned; /* inputs that the law will have, constants that become inputs apart */
    int most;    /* inputs that it may have with these; 0: constants stay what they are */
    int dim;     /* those so far */
    double low[DATA_DIMS_MAX], high[DATA_DIMS_MAX];
    double *column[DATA_DIMS_MAX];
    law_term term[LAW_TERMS];
    int terms;
    int full;  /* more terms than there is room for: the attempt is given up */
    int nomem; /* memory is out */
} law_writer;

/* Random numbers. Logarithm and exponential are the evaluator's, the same on every machine. */
int law_chance(law_writer *w, double p);
double law_between(law_writer *w, double low, double high);
double law_log_between(law_writer *w, double low, double high); /* 0 < low < high */
double law_log(const law_writer *w, double v);

/* v to so many significant digits, as people write it down. */
double law_rounded(double v, int digits);

/* A new input; its term. The second is of the kind of input j and compared with it: its range lies
 * below (-1), above (1) or where j's is (0). */
int law_fresh(law_writer *w, law_input kind);
int law_fresh_like(law_writer *w, int j, int side);

/* A leaf. `node.value` is taken as it is. */
int law_leaf(law_writer *w, expr_node node, const double *probes);

/* Terms (law_terms.c). Each function adds one and returns its place. A free constant, and a number
 * that belongs to the form: */
int law_number(law_writer *w, double v);
int law_whole(law_writer *w, int k);
int law_unary(law_writer *w, expr_op op, int a);

/* Algebra as people write it. Numerators are joined, factors stand in one row, numbers first:
 * a*(b/2) is a*b/2, a/(b/c) is a*c/b, (a/b)/c is a/(b*c), the square of a power is a power. */
int law_times(law_writer *w, int a, int b);
int law_over(law_writer *w, int a, int b);
int law_plus(law_writer *w, int a, int b);
int law_minus(law_writer *w, int a, int b);
int law_either(law_writer *w, int a, int b); /* plus or minus */
int law_square(law_writer *w, int t);
int law_raised(law_writer *w, int t, double p); /* t^p, p > 0 */
int law_power(law_writer *w, int t, double p);  /* any p */
int law_negative(law_writer *w, int t);         /* with the sign in front */

/* c*t, where c joins the constants that scale t or a part of it already; t/s, or k*t with k = 1/s;
 * t with a coefficient that makes it about as large as `to`. */
int law_factor(law_writer *w, double c, int t);
int law_per(law_writer *w, int t, double s);
int law_weighted(law_writer *w, int t, double to);

/* What a term is: its operator, or a kind of it. 1/t is an inverse, one operator in the end. */
int law_is(const law_writer *w, int t, expr_op op);
int law_is_sum(const law_writer *w, int t);
int law_is_power(const law_writer *w, int t);
int law_is_product(const law_writer *w, int t);
int law_is_inverse(const law_writer *w, int t);
int law_kid(const law_writer *w, int t, int slot);
int law_same(const law_writer *w, int a, int b); /* node for node */

/* Whether t holds one of the operators that `among` is true for. */
int law_holds(const law_writer *w, int t, int (*among)(int op));
int law_is_transcendental(int op);

/* Whether t has a free constant that scales it as a whole, so that one more would say nothing. */
int law_has_scale(const law_writer *w, int t);

/* Its values at the probes: least, greatest, the largest and the mean size; whether all are
 * positive. */
double law_low(const law_writer *w, int t);
double law_high(const law_writer *w, int t);
double law_top(const law_writer *w, int t);
double law_size(const law_writer *w, int t);
int law_positive(const law_writer *w, int t);

/* Numbers that suit: one of 0 .. n-1; the size of a target in its unit; a value within the range of
 * t; scales of its order; s such that t/s is of order 1 over t's range. */
int law_pick(law_writer *w, int n);
double law_some_size(law_writer *w);
double law_place(law_writer *w, int t);
double law_scale(law_writer *w, int t);
double law_width(law_writer *w, int t);
double law_decay(law_writer *w, int t);

/* A law of `dim` inputs, all new; its root, or -1 where it came out as nobody would write it. */
int law_write(law_writer *w, int dim);

/* The tree below `root` in prefix order, in w->a; node is NULL when memory is out. */
expr law_flatten(const law_writer *w, int root);

/* A table of formula e, of x0, x1, ..., over these ranges: constants as they are or disturbed.
 * SNIP_UNSUPPORTED if none of many tries is worth training on. */
snip_code law_of_formula(data_sample *out, expr e, int dim, const double *low, const double *high,
                         size_t points, rng *r, arena *a);

#endif
