/* fitted.h - a fitted law for people, files and programs. */
#ifndef CLI_FITTED_H
#define CLI_FITTED_H

#include "cli/cli.h"
#include "regress/results.h"

typedef enum cli_fitted_format {
    CLI_FITTED_TABLE,
    CLI_FITTED_CSV, /* a parameter a line */
    CLI_FITTED_JSON,
    CLI_FITTED_LATEX,
    CLI_FITTED_SYMPY, /* the formula with the estimates, all digits */
    CLI_FITTED_C      /* the same as a function */
} cli_fitted_format;

/* Prints to standard output; with `quiet` no notes to standard error where the format has no room
 * for them. Returns an exit code. */
int cli_fitted_print(const cli_command *self, const regress_fitted *f, cli_fitted_format format,
                     int quiet);

/* Every row as CSV: inputs, target, fitted value, residual and both intervals. */
void cli_fitted_rows(FILE *to, const regress_fitted *f);

#endif
