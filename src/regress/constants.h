/* constants.h - the constants of a formula that suit a table best.
 *
 *     regress_fit r;
 *     expr fitted;
 *     if (regress_fit_constants(&fitted, &r, e, x, y, rows, 8, seed, a, &st) == SNIP_OK)
 *         printf("%g, was %g\n", r.loss, r.loss_before);
 *
 * Levenberg-Marquardt with exact derivatives finds the nearest minimum; starts elsewhere find
 * others. Where there are very many constants and rows, fewer starts and steps are taken: a fit is
 * a matter of seconds, not of minutes. One thread, so the result is a function of the arguments
 * alone. */
#ifndef REGRESS_CONSTANTS_H
#define REGRESS_CONSTANTS_H

#include "expr/expr.h"

enum {
    REGRESS_FIT_CONSTANTS_MAX = 500,           /* a step costs their square times the rows */
    REGRESS_FIT_JACOBIAN_MAX = 1000 * 1000,    /* rows times constants */
    REGRESS_FIT_NUMBERS_MAX = 20 * 1000 * 1000 /* the same for one formula, regress_fit_values */
};

/* How much work a fit is worth. Rows must be in random order for all but the first. */
typedef enum regress_fit_pace {
    REGRESS_FIT_THOROUGH, /* every start to its end, and constants to the last digit */
    REGRESS_FIT_QUICK,    /* for formulas that are many: starts race on a part of the rows, the
                           * first two go on with all of them, and the number of evaluations is
                           * bounded, so that a fit takes some hundredths of a second */
    REGRESS_FIT_ROUGH     /* the same, and only the loss is of interest */
} regress_fit_pace;

typedef struct regress_fit {
    size_t constants;   /* that could vary */
    double loss;        /* mean square error of the result; +inf where a value is not finite */
    double loss_before; /* and of the formula as it was given */
    int evaluations;    /* of the formula or its derivatives on all rows */
    int starts;         /* tried */
    int reached;        /* of these, that ended at this loss */
    int from;           /* the one that was kept, from 0 */
} regress_fit;

/* What of a formula is fitted: constants, each of which stands at one or more of its numbers. */
typedef struct regress_fit_free {
    const size_t *node;  /* the numbers, constant by constant */
    const size_t *first; /* of count + 1: constant j is at node[first[j]] .. [first[j + 1] - 1] */
    size_t count;
    const double *low, *high; /* bounds, infinite where there is none; NULL: no constant has any */
    const double *spread;     /* of the drawn starts: exp(spread * normal); NULL: 1 for all */
    int evaluations;          /* of each descent, at most; 0: as many as it takes, within reason */
    double margin; /* another start must be better by this, relatively, to replace the first */
    regress_fit_pace pace;
    int wide; /* as in regress_fit_how; then each constant stands at one number */
} regress_fit_free;

/* A copy of e in `a` whose constants, as `free` tells them, suit y best by least squares, with a
 * weight for each row (NULL: 1). The loss is sum(weight * error^2) / rows. Starts, results and
 * failures are those of regress_fit_constants below, but more rows are taken, and the signs of
 * terms stay as they are. Bounds hold throughout (box.h); e's own values must lie within them.
 * Many parameters: arrays and their sizes one by one, as MINPACK takes them. */
snip_code regress_fit_values(expr *out, regress_fit *result, expr e, const regress_fit_free *free,
                             const double *weight, const double *const *x, const double *y,
                             size_t rows, int starts, uint64_t seed, arena *a, snip_status *st);

typedef struct regress_fit_how {
    int starts;
    uint64_t seed;
    regress_fit_pace pace;
    int evaluations; /* as in regress_fit_free */
    int wide; /* the constants come from a person, perhaps for other units: one more start, at the
               * sizes that the columns ask for, and the base of a varying power keeps its sign */
} regress_fit_how;

/* regress_fit_constants with a weight for each row (NULL: 1), as above. Where it is to be quick,
 * the rows must be in random order. Many parameters: those of regress_fit_values. */
snip_code regress_fit_weighted(expr *out, regress_fit *result, expr e, const double *weight,
                               const double *const *x, const double *y, size_t rows,
                               const regress_fit_how *how, arena *a, snip_status *st);

/* A copy of e in `a` with its constants (expr_constants) refitted to y by least squares, from the
 * given constants, from the same with their signs turned, and from `starts` - 2 points drawn from
 * the seed: each constant times exp(normal), its sign turned now and then, 0 replaced by a normal
 * deviate. From all but the first, the constants that act linearly are set to their best before the
 * descent; where all do, the first is enough. The best is kept, and
 * e's own constants if nothing is better: loss <= loss_before always. A term whose leading constant
 * comes out negative changes its sign (a - -2*b is a + 2*b). Points where a value is not
 * finite are not started from, and never returned unless e was such and nothing better was found.
 *
 * With more constants than rows all of them vary and the steps are short: one of the many
 * solutions near the start. Without rows or constants there is nothing to do but to evaluate. x has
 * expr_inputs(e) columns; y is finite, or every loss is +inf. SNIP_UNSUPPORTED beyond the limits
 * above, SNIP_NOMEM when memory is out; then out->node is NULL and `a` is as it was.
 * Many parameters: as in regress_fit_values. */
snip_code regress_fit_constants(expr *out, regress_fit *result, expr e, const double *const *x,
                                const double *y, size_t rows, int starts, uint64_t seed, arena *a,
                                snip_status *st);

/* Where the second term of a sum or difference at node i begins: at the first factor of it. e.count
 * where node i is neither. */
size_t regress_lead(expr e, size_t i);

#endif
