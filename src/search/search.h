/* search.h - from a table to formulas: `snip fit`.
 *
 *     search_result r;
 *     const search_how how = { .seconds = 10, .threads = 2 };
 *     if (search_run(&r, &table, &how, a, &st) == SNIP_OK)
 *         puts(expr_print(r.front[r.selected].e, SNIP_INFIX, &names, 6, a));
 *
 * Stages propose formulas, one archive judges them: constants by least squares, errors on rows that
 * had no part in the fit, description length for the choice. With a limit of evaluations in place
 * of seconds the answer is a function of table, options and seed alone, with any number of
 * threads. */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include <signal.h>

#include "regress/problem.h"

/* The stages, in the order in which they begin. */
#define SEARCH_STAGES(X)                                                                           \
    X(GUESS, "guess")         /* the user's own formulas */                                        \
    X(CLOSED, "closed")       /* constant, line, power law, exponential, polynomials */            \
    X(RELATIONS, "relations") /* polynomials in inputs and target that are 0 */                    \
    X(PRODUCTS, "products")   /* sums of few products, under transforms of the target */           \
    X(TEXTBOOK, "textbook")   /* the named laws, fitted to the table */                            \
    X(ENUMERATE, "enumerate") /* all small formulas that behave differently */                     \
    X(REDUCE, "reduce")       /* symmetries and separable parts make smaller problems */           \
    X(SPACE, "space")         /* forms whose vectors are near to the table's */                    \
    X(EVOLVE, "evolve")       /* variation and selection for the rest of the time */

typedef enum search_stage {
#define X(constant, name) SEARCH_##constant,
    SEARCH_STAGES(X)
#undef X
        SEARCH_STAGE_COUNT
} search_stage;
extern const char *const search_stage_names[SEARCH_STAGE_COUNT + 1];

enum {
    SEARCH_ROWS_MIN = 8,     /* fewer rows do not tell formulas apart */
    SEARCH_ROWS_MAX = 10000, /* rows that formulas are fitted and judged on, at most */
    SEARCH_INPUTS_MAX = 64,
    SEARCH_SIZE_MAX = 100 /* nodes of a formula */
};

/* How formulas of a library are chosen to begin with. */
#define SEARCH_SEEDS(X)                                                                            \
    X(NEAREST, "nearest") /* by their vectors, as a model with forms sees them */                  \
    X(VALUES, "values")   /* by their values on a few rows */                                      \
    X(RANDOM, "random")   /* any: to compare with */

typedef enum search_seeds {
#define X(constant, name) SEARCH_SEEDS_##constant,
    SEARCH_SEEDS(X)
#undef X
        SEARCH_SEEDS_COUNT
} search_seeds;
extern const char *const search_seeds_names[SEARCH_SEEDS_COUNT + 1];

/* What the nearest forms of a library are used for. */
#define SEARCH_USES(X)                                                                             \
    X(SEEDS, "seeds")     /* formulas to begin with */                                             \
    X(PARTS, "parts")     /* what a place in a formula wants, on formulas without progress */      \
    X(PRIOR, "prior")     /* operators and pairs of inputs to expect */                            \
    X(PROMISE, "promise") /* which of many forms are fitted */

typedef enum search_use {
#define X(constant, name) SEARCH_USE_##constant,
    SEARCH_USES(X)
#undef X
        SEARCH_USE_COUNT
} search_use;
extern const char *const search_use_names[SEARCH_USE_COUNT + 1];

/* One formula of the answer, in the user's inputs and units. */
typedef struct search_formula {
    expr e;             /* constants fitted to all rows, clean values where the data allow them */
    size_t size;        /* nodes */
    size_t constants;   /* numbers that were fitted and not snapped */
    double *error;      /* their standard errors, in the order of the formula */
    double loss[2];     /* mean square error of e: on the training rows, on those held out */
    double r2[2];       /* the same as a share of y's variance */
    double bits;        /* description length: of the formula, and of the residuals by it */
    double similarity;  /* to the table in the shared space; NaN without a model */
    search_stage stage; /* that found it */
} search_formula;

/* How far a search is, for people who wait. */
typedef struct search_progress {
    double seconds;            /* since the start */
    double spent;              /* share of the budget, 0 .. 1 */
    uint64_t evaluations;      /* formulas evaluated */
    search_stage stage;        /* at work */
    const search_formula *now; /* the front so far, simplest first; valid during the call */
    size_t count, selected;
    int changed; /* the front is another one than at the last call */
} search_progress;

typedef struct search_how {
    double seconds;       /* 0: 60, or no limit where there is one of evaluations */
    int processor;        /* seconds are those of the processor, per thread, not of the clock */
    uint64_t evaluations; /* 0: no limit */
    uint64_t seed;
    int threads;
    size_t max_size;      /* nodes of a formula; 0: 30 */
    size_t memory;        /* bytes that the search may take beside the table; 0: 1 GB */
    uint64_t operators;   /* bit i: expr_op i may be used; 0: search_operators_default() */
    unsigned without;     /* bit i: leave search_stage i out */
    size_t per_size;      /* formulas of a size on the front; 0: 1 */
    const double *weight; /* of the rows, 0 or more, of which only the ratios count; NULL: alike.
                             Fits, errors and the choice go by them; rows of weight 0 are left out.
                             What stages look at to propose formulas are the other rows alike. */
    const expr *guess;    /* formulas to begin with, in the user's inputs */
    size_t guesses;
    const model_opened *model;           /* for similarities and the stage `space`; may be NULL */
    const char *library;                 /* formulas for the stage `space`; NULL: it has none */
    search_seeds seeds;                  /* how they are chosen */
    unsigned unused;                     /* bit i: leave search_use i out */
    const expr *except;                  /* forms that the space must not offer, in the */
    size_t excepts;                      /* user's inputs: to measure without them */
    const volatile sig_atomic_t *cancel; /* not 0: end with the front so far; may be NULL */
    void (*report)(void *context,
                   const search_progress *now); /* some ten times a second, or NULL */
    void *context;
} search_how;

typedef struct search_result {
    search_formula *front; /* simplest first; each is better than all simpler ones */
    size_t count;          /* at least 1: the mean */
    size_t selected;       /* the one of least description length */
    double seconds;
    uint64_t evaluations;
    uint64_t seed;
    size_t rows[2];  /* used: for fitting, held out */
    size_t outliers; /* rows that the selected formula misses by more than six deviations */
    size_t telling;  /* rows that its errors come from, if they grow with y (regress_errors_grow) */
    size_t *far;     /* rows of the table that lie far off and were left out */
    size_t far_count;
    int cancelled;    /* by how->cancel */
    const char *note; /* a sentence for the user: "no formula beats the mean", ... ; or NULL */
} search_result;

/* The operators that are used unless others are asked for. */
uint64_t search_operators_default(void);

/* Reads a list such as "+,-,*,/,sin,exp". SNIP_FORMAT where a name means none, st->pos being its
 * byte, and for an empty list. */
snip_code search_operators_read(uint64_t *out, const char *text, snip_status *st);

/* The least bytes of memory that a search can do with. */
size_t search_memory_least(int threads);

/* Everything in *out lives in `a`. SNIP_FORMAT for a table that cannot be searched, with a line
 * that says why. */
snip_code search_run(search_result *out, const regress_table *t, const search_how *how, arena *a,
                     snip_status *st);

#endif
