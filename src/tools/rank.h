/* rank.h - candidate formulas for a table: agreement in the shared space beside the real errors.
 *
 *     tools_candidate c[2] = { { .e = first }, { .e = second } };
 *     tools_rank(c, 2, &problem, model, &(tools_rank_how){ .refit = 1, .threads = 2 }, a, &st);
 *     // c is sorted, best first
 *
 * The same answer on every run and with any number of threads. */
#ifndef TOOLS_RANK_H
#define TOOLS_RANK_H

#include "tools/problem.h"

typedef enum tools_order {
    TOOLS_BY_SIMILARITY, /* agreement in the shared space */
    TOOLS_BY_LOSS,       /* the mean square error that tools_judged tells */
    TOOLS_BY_BALANCE, /* the same, with every node charged as BIC charges a parameter; formulas with
                       * no fewer constants than rows come last */
    TOOLS_ORDERS
} tools_order;
extern const char *const tools_order_names[TOOLS_ORDERS + 1];

typedef struct tools_candidate {
    expr e;              /* as given, in the user's inputs */
    const char *text;    /* the caller's own, for messages and output; may be NULL */
    size_t place;        /* the caller's own: where it stood */
    const char *name;    /* of the law that it is; NULL: it is none of the list */
    const char *field;   /* where that law belongs; NULL with the name */
    expr fitted;         /* with the constants that suit the training rows best; where e has more
                          * constants than it needs, in its canonical structure (expr_canonical) */
    size_t constants;    /* that can be fitted */
    size_t fitted_rows;  /* that they were fitted on; 0: they were not */
    double similarity;   /* of the fitted formula and the table, -1 .. 1; NaN if it has none */
    const char *why;     /* it has none, or NULL */
    tools_errors given;  /* errors of e */
    tools_errors errors; /* of the fitted formula */
    size_t complexity;   /* nodes of the fitted formula */
    size_t size;         /* the same as SRBench counts: sympy's nodes */
    int front;           /* nothing simpler is better on the rows held out */
    double score;        /* on the front: how much log(loss) falls per node, from the one before */
} tools_candidate;

typedef struct tools_rank_how {
    int refit;  /* constants, else formulas are judged as given */
    int starts; /* of the fit; 0: 4 */
    int parts;  /* starts of the fits to the parts of a cross-validation; 0: as many */
    int order;  /* a tools_order */
    int threads;
} tools_rank_how;

/* Fills and sorts c[0..n). Trees and reasons live in `a`. `t` may be NULL: no similarities, order
 * by loss. Formulas that are not finite on the training rows come last. */
snip_code tools_rank(tools_candidate *c, size_t n, const tools_problem *p, const tools_model *t,
                     const tools_rank_how *how, arena *a, snip_status *st);

/* Whether as many constants were fitted as there were rows, or more: its errors say nothing. */
int tools_saturated(const tools_candidate *c);

/* The fitted formula as text with the fewest digits, three at least, with which it is the formula
 * that was judged: read back, its losses differ by at most 1 % (differences below 1e-16 of y's
 * variance do not count). *digits is their number; where it is beyond TOOLS_DIGITS_MANY, the
 * formula lives on the cancellation of large terms. In `a`; NULL when memory is out. */
enum { TOOLS_DIGITS_MANY = 12 };
char *tools_shown(const tools_candidate *c, snip_format format, const tools_problem *p, int *digits,
                  arena *a);

/* Cosines of formulas, in the user's inputs, with the table of their inputs; NaN, with the reason
 * in why[i], where the model has no words for one. */
snip_code tools_similarities(double *out, const char **why, const expr *e, size_t n,
                             const tools_problem *p, const tools_model *t, int threads, arena *a,
                             snip_status *st);

/* What tools_similarities is made of, for those who embed many formulas and tables at once. A
 * formula in the model's words, in `a`, or why it has none: as it is, or the core of its form.
 * `tmp`, another arena, is left as found. */
snip_code tools_words(expr *out, expr e, tools_inputs inputs, const tools_problem *p,
                      const tools_model *t, arena *a, arena *tmp, snip_status *st);

/* The inputs of the table that e is held against: those it uses and `matter`, which are
 * tools_inputs_that_matter, as long as the model reads so many. */
tools_inputs tools_inputs_held(expr e, const tools_problem *p, tools_inputs matter,
                               const tools_model *t);

/* The loss that a formula is judged by: the cross-validated one where it is known, which is after a
 * refit to fewer than TOOLS_FEW_ROWS rows, else that on the rows held out where there are some;
 * +infinity if it is not finite. Differences below rounding do not count. */
double tools_judged(const tools_errors *e, const tools_problem *p);

#endif
