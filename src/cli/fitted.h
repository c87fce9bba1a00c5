/* fitted.h - a fitted law for people, files and programs. */
#ifndef CLI_FITTED_H
#define CLI_FITTED_H

#include "cli/cli.h"
#include "regress/estimate.h"

typedef enum cli_fitted_format {
    CLI_FITTED_TABLE,
    CLI_FITTED_CSV, /* a parameter a line */
    CLI_FITTED_JSON,
    CLI_FITTED_LATEX,
    CLI_FITTED_SYMPY, /* the formula with the estimates, all digits */
    CLI_FITTED_C      /* the same as a function */
} cli_fitted_format;

typedef struct cli_fitted {
    const char *given;  /* the formula's text */
    const char *target; /* its column's name */
    const regress_law *law;
    const regress_estimate_data *d;
    const regress_estimate *r;
    double level;
    const regress_validation *validation; /* or NULL */
    double share;                         /* of the rows held out for it, or 0 */
    size_t folds;                         /* or parts that it was done by */
    arena *a;
} cli_fitted;

/* Prints to standard output; with `quiet` no notes to standard error where the format has no room
 * for them. Returns an exit code. */
int cli_fitted_print(const cli_command *self, const cli_fitted *f, cli_fitted_format format,
                     int quiet);

/* Every row as CSV: inputs, target, fitted value, residual and both intervals. */
void cli_fitted_rows(FILE *to, const cli_fitted *f);

/* Data, curve with its band and residuals as SVG; with several inputs the measured values against
 * the fitted ones in place of the curve. Returns 0 when memory is out. */
int cli_fitted_draw(FILE *to, const cli_fitted *f);

/* The formula with the estimates, in as many digits as it needs (`rounded`) or all, in `a`. */
const char *cli_fitted_formula(const cli_fitted *f, snip_format format, int rounded);

#endif
