/* formulas.h - formulas that other programs or people wrote into a file. */
#ifndef REGRESS_FORMULAS_H
#define REGRESS_FORMULAS_H

#include "expr/expr.h"

/* A formula of a file. */
typedef struct regress_formula {
    const char *text, *name; /* name: what stood before a tab, or NULL */
    size_t number;           /* the line's, from 1 */
    expr e;
} regress_formula;

/* Told of a line that cannot be read, in one sentence without its end. */
typedef void regress_skipped(void *with, const char *message);

/* Reads formulas from the file at `path` (- for standard input): one a line, blank lines and lines
 * that start with # skipped, a name and a tab allowed in front; or a CSV file with a column
 * Equation, which is what PySR's hall of fame is. Where a line cannot be read, `skipped` is told
 * and the others count; NULL: it is an error. No formula at all is one, too. Everything lives in
 * `a`. */
snip_code regress_formulas_read(regress_formula **out, size_t *count, const char *path,
                                const expr_names *names, regress_skipped *skipped, void *with,
                                arena *a, snip_status *st);

#endif
