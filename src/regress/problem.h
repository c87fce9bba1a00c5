/* problem.h - a user's table as a task: inputs, target, rows to fit and rows held out, and its
 * place in the shared space.
 *
 *     regress_problem p;
 *     regress_problem_make(&p, &table, seed, a, &st);
 *     regress_problem_embed(&p, regress_inputs_that_matter(&p), REGRESS_EXACT, space, z, &st);
 *     // z(latent), of length 1
 *
 * The model knows inputs of mean 0 and deviation 1 only, so it sees the table standardised, and
 * formulas rewritten to match (regress_problem_rewrite). What users read and write stays in their
 * own units. */
#ifndef REGRESS_PROBLEM_H
#define REGRESS_PROBLEM_H

#include "model/opened.h"
#include "model/summary.h"

enum {
    REGRESS_ROWS_MIN = 4,      /* fewer rows say nothing about a formula */
    REGRESS_HOLD_OUT_MIN = 12, /* from so many rows on a quarter is held out */
    REGRESS_FIT_ROWS = 10000   /* rows that constants are fitted on, at most */
};

typedef struct regress_table {
    size_t dim, rows;
    const char *const *names; /* of the inputs */
    const double *const *x;   /* dim columns */
    const double *y;
} regress_table;

typedef struct regress_problem {
    size_t dim;
    expr_names names;
    /* Rows in an order drawn from the seed: the first `train` are for fitting, the others judge. */
    size_t rows, train;
    const double **x, *y;
    const double *weight; /* of the rows, of mean 1 and above 0; NULL: all count alike */
    size_t fit;           /* of the training rows, those that constants are fitted on */
    /* What the model sees of the table is of all rows: its vectors judge nobody, and must not
     * change with the rows that happen to be held out. */
    double *mean, *deviation; /* of the inputs */
    const double **standard;  /* the inputs, standardised */
    double *low, *high;       /* their ranges */
    size_t *order;            /* the inputs, those that go with y most closely first: what the model
                                 calls x0, x1, ... must not depend on the columns' order */
    double variance[2];       /* of y: over the training rows, over those held out */
    uint64_t seed;
} regress_problem;

/* Fails if there are too few rows or the target does not vary. Everything is copied into `a`. */
snip_code regress_problem_make(regress_problem *out, const regress_table *t, uint64_t seed,
                               arena *a, snip_status *st);

/* The same with a weight for each row, of which only the ratios count. Constants are fitted and
 * formulas judged by weighted squares; rows of weight 0 are left out. The model knows no weights: a
 * similarity sees the other rows alike. */
snip_code regress_problem_weighted(regress_problem *out, const regress_table *t,
                                   const double *weight, uint64_t seed, arena *a, snip_status *st);

/* The weights' sum over rows [from, to); their number where all count alike. */
double regress_weight(const regress_problem *p, size_t from, size_t to);

/* The same with all rows for fitting, for those who judge by rows of their own. */
snip_code regress_problem_whole(regress_problem *out, const regress_table *t, uint64_t seed,
                                arena *a, snip_status *st);

/* Lets x0, x1, ... be the columns in the order of the table: for vectors that leave the program,
 * beside those of formulas in x0, x1, ... */
void regress_problem_keep_order(regress_problem *p);

/* A set of inputs: bit j for input j. The model calls the inputs of a set x0, x1, ... in the
 * problem's order. */
typedef uint32_t regress_inputs;

/* The inputs that y depends on, by the delta test: as long as leaving one out makes y no harder to
 * tell from its nearest neighbours, it is left out. */
regress_inputs regress_inputs_that_matter(const regress_problem *p);

/* How much of y's variance the inputs of a set leave open: half the mean square difference between
 * each row and its nearest neighbour. A set without an input that matters makes y look like noise,
 * and noise is near to wild formulas. */
double regress_inputs_left_open(const regress_problem *p, regress_inputs set);

/* The inputs that e uses; all of them where it uses none. */
regress_inputs regress_inputs_of(expr e, const regress_problem *p);

/* How a table is looked at. The form view knows y but for its unit and its direction, so a form is
 * held against the table and against the table turned upside down. */
typedef enum regress_view {
    REGRESS_EXACT,
    REGRESS_SCALED, /* exact, of y in units of its deviation: any unit is the same */
    REGRESS_FORM,
    REGRESS_FORM_TURNED
} regress_view;

/* The vector of the table with these inputs: several draws of as many rows as the model takes,
 * averaged. Fails if the model reads fewer inputs than the set has, or has no such view. */
snip_code regress_problem_embed(const regress_problem *p, regress_inputs inputs, regress_view view,
                                model_space *s, float *z, snip_status *st);

/* e, a formula in the user's inputs, as one in the standardised inputs and the model's operators.
 * a^b becomes exp(b*log(a)) where a may be negative as far as the inputs' ranges tell; whether that
 * is the same on the table is looked at then, and SNIP_UNSUPPORTED if it is not. */
snip_code regress_problem_rewrite(expr *out, expr e, regress_inputs inputs,
                                  const regress_problem *p, arena *a, snip_status *st);

/* The same for e in units of y's deviation and in its canonical structure: what goes with
 * REGRESS_SCALED. */
snip_code regress_problem_scaled(expr *out, expr e, regress_inputs inputs, const regress_problem *p,
                                 arena *a, snip_status *st);

/* The form of e on this table: its canonical structure in standardised inputs. What standardising
 * brings in is fixed, the numbers of e that a refit may move are free. */
snip_code regress_problem_form(expr_form *out, expr e, regress_inputs inputs,
                               const regress_problem *p, arena *a, snip_status *st);

/* e, a formula in those of the standardised inputs that are in `inputs`, in the user's own. */
snip_code regress_problem_restore(expr *out, expr e, regress_inputs inputs,
                                  const regress_problem *p, arena *a, snip_status *st);

/* Mean square error and share of y's variance explained, weighted where rows have weights: over the
 * training rows [0], over those held out [1]; NaN where the formula is not finite or there are
 * none. Returns 0 when memory is out. */
typedef struct regress_errors {
    double loss[2], r2[2];
    double cross; /* of a formula that was refitted to few rows: the cross-validated mean square
                   * error (evidence.h); NaN from regress_problem_errors */
} regress_errors;
int regress_problem_errors(regress_errors *out, expr e, const regress_problem *p, arena *tmp);

/* The k-th thing that a user should know of the table, as a sentence in `a`; NULL after the last.
 */
const char *regress_problem_note(const regress_problem *p, size_t k, arena *a);

/* The same for those who are shown similarities: inputs that are unlike what the model knows. */
const char *regress_problem_uneven(const regress_problem *p, size_t k, arena *a);

#endif
