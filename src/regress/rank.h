/* rank.h - candidate formulas for a table: agreement in the shared space beside the real errors.
 *
 *     regress_candidate c[2] = { { .e = first }, { .e = second } };
 *     regress_rank(c, 2, &problem, model, &(regress_rank_how){ .refit = 1, .threads = 2 }, a, &st);
 *     // c is sorted, best first
 *
 * The same answer on every run and with any number of threads. */
#ifndef REGRESS_RANK_H
#define REGRESS_RANK_H

#include "regress/constants.h"
#include "regress/problem.h"

typedef enum regress_order {
    REGRESS_BY_SIMILARITY, /* agreement in the shared space */
    REGRESS_BY_LOSS,       /* the mean square error that regress_judged tells */
    REGRESS_BY_BALANCE, /* the same, by the rows behind it (evidence.h), with every node charged as
                         * BIC charges a parameter; formulas with no fewer constants than rows
                         * come last */
    REGRESS_ORDERS
} regress_order;
extern const char *const regress_order_names[REGRESS_ORDERS + 1];

typedef struct regress_candidate {
    expr e;                /* as given, in the user's inputs; regress_rank fixes its roots
                            * (expr_fix_quotients) */
    const char *text;      /* the caller's own, for messages and output; may be NULL */
    size_t place;          /* the caller's own: where it stood */
    const char *name;      /* of the law that it is; NULL: it is none of the list */
    const char *field;     /* where that law belongs; NULL with the name */
    expr fitted;           /* the answer: with the constants that suit all rows best; where e has
                            * more constants than it needs, in its canonical structure
                            * (expr_canonical) */
    expr trained;          /* what is judged: the same with constants of the training rows alone */
    size_t constants;      /* that can be fitted */
    size_t fitted_rows;    /* that those judged were fitted on; 0: they were not */
    double similarity;     /* of the fitted formula and the table, -1 .. 1; NaN if it has none */
    double promise;        /* of e before any fit (model/promise.h); NaN if the model has none */
    const char *why;       /* it has none, or NULL */
    regress_errors given;  /* errors of e */
    regress_errors errors; /* of `trained`, so that the rows held out had no part in it */
    size_t complexity;     /* nodes of the fitted formula */
    size_t size;           /* the same as SRBench counts: sympy's nodes */
    int front;             /* nothing simpler is better on the rows held out */
    double score; /* on the front: how much log(loss) falls per node, from the one before */
} regress_candidate;

typedef struct regress_rank_how {
    int refit;             /* constants, else formulas are judged as given */
    int starts;            /* of the fit; 0: 4 */
    int parts;             /* starts of the fits to the parts of a cross-validation; 0: as many */
    regress_fit_pace pace; /* of the fits */
    int order;             /* a regress_order */
    int threads;
    int spell; /* `fitted` is for people: as expr_spell writes it. Nodes are counted before. */
} regress_rank_how;

/* Fills and sorts c[0..n). Trees and reasons live in `a`. `t` may be NULL: no similarities, order
 * by loss. Formulas that are not finite on the training rows come last. */
snip_code regress_rank(regress_candidate *c, size_t n, const regress_problem *p,
                       const model_opened *t, const regress_rank_how *how, arena *a,
                       snip_status *st);

/* Whether as many constants were fitted as there were rows, or more: its errors say nothing. */
int regress_saturated(const regress_candidate *c);

/* The fitted formula as text with the fewest digits, three at least, with which it is the formula
 * that was fitted: read back, its losses differ by at most 1 % (differences below 1e-16 of y's
 * variance do not count). *digits is their number; where it is beyond REGRESS_DIGITS_MANY, the
 * formula lives on the cancellation of large terms. In `a`; NULL when memory is out. */
enum { REGRESS_DIGITS_MANY = 12 };
char *regress_shown(const regress_candidate *c, snip_format format, const regress_problem *p,
                    int *digits, arena *a);

/* The canonical structure of e, e itself where it has none, and its number of constants. */
snip_code regress_canonical(expr *out, size_t *constants, expr e, arena *a, snip_status *st);

/* How near a formula is to a table. */
typedef struct regress_nearness {
    double similarity;         /* cosine; NaN where the model has no words for the formula */
    const char *why;           /* then the reason, else NULL */
    const float *form, *table; /* the vectors, else NULL: of a table and the same turned upside down
                                  the nearer one's, in the form view */
} regress_nearness;

/* Of n formulas, in the user's inputs, and the table of their inputs. Reasons and vectors live in
 * `a`. */
snip_code regress_similarities(regress_nearness *out, const expr *e, size_t n,
                               const regress_problem *p, const model_opened *t, int threads,
                               arena *a, snip_status *st);

/* The same of formulas whose constants are part of what they say, also for a model that reads
 * forms: in its exact view, with y in units of its deviation, so that units do not count. A model
 * without forms sees what it always sees. */
snip_code regress_similarities_given(regress_nearness *out, const expr *e, size_t n,
                                     const regress_problem *p, const model_opened *t, int threads,
                                     arena *a, snip_status *st);

/* What regress_similarities is made of, for those who embed many formulas and tables at once. The
 * words of a formula in the user's inputs, in `a`, or why it has none: as it is, or the core of its
 * form. `tmp`, another arena, is left as found. */
snip_code regress_words(model_words *out, expr e, regress_inputs inputs, const regress_problem *p,
                        const model_opened *t, arena *a, arena *tmp, snip_status *st);

/* The inputs of the table that e is held against: those it uses and `matter`, which are
 * regress_inputs_that_matter, as long as the model reads so many. */
regress_inputs regress_inputs_held(expr e, const regress_problem *p, regress_inputs matter,
                                   const model_opened *t);

/* The loss that a formula is judged by: the cross-validated one where it is known, which is after a
 * refit to fewer than REGRESS_FEW_ROWS rows, else that on the rows held out where there are some;
 * +infinity if it is not finite. Differences below rounding do not count. */
double regress_judged(const regress_errors *e, const regress_problem *p);

#endif
