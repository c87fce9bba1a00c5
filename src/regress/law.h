/* law.h - a formula with inputs and parameters: b1*(1 - exp(-b2*x)), where x is a column.
 *
 *     regress_law law;
 *     const char *formula = "b1*(1 - exp(-b2*x))";
 *     regress_numbers decimal = REGRESS_NUMBERS_DECIMAL;
 *     if (regress_law_parse(&law, formula, &columns, NULL, decimal, a, &st) == SNIP_OK)
 *         law.param[regress_law_find(&law, "b2")].start = 1e-4;
 */
#ifndef REGRESS_LAW_H
#define REGRESS_LAW_H

#include "expr/expr.h"

/* Which of the numbers written in a formula are parameters, called c1, c2, ... in order. */
typedef enum regress_numbers {
    REGRESS_NUMBERS_DECIMAL, /* those written with a point or an exponent: 1.0 and 2e3, not 2 */
    REGRESS_NUMBERS_FIXED,   /* none */
    REGRESS_NUMBERS_ALL      /* all but whole exponents (expr_constants) */
} regress_numbers;

typedef struct regress_parameter {
    const char *name;
    double start;     /* NaN: none is known */
    double low, high; /* bounds, infinite where there is none */
    int fixed;        /* stays at its start, which is known */
    int written;      /* a number of the formula, not a name */
} regress_parameter;

/* A formula whose variables are inputs, 0 .. inputs - 1, then parameters. */
typedef struct regress_law {
    expr e;
    size_t inputs;
    size_t *column; /* which of the columns each input is */
    size_t params;
    regress_parameter *param; /* names in the order in which they appear, then written numbers */
    expr_names names;         /* of inputs and parameters */
} regress_law;

/* Reads a law. Names of `columns` are inputs, other names are parameters; a name such as x3 is one
 * only where no column is called like that, or where it is in `given` (NULL: none), the names that
 * are parameters for certain. Parameters have no bounds and, but for written numbers, no start.
 * Everything lives in `a`. SNIP_SYNTAX with st->pos as expr_parse has it; SNIP_FORMAT where a name
 * is refused. */
snip_code regress_law_parse(regress_law *out, const char *text, const expr_names *columns,
                            const expr_names *given, regress_numbers numbers, arena *a,
                            snip_status *st);

/* The parameter of that name, or law->params. */
size_t regress_law_find(const regress_law *law, const char *name);

/* The law with value[j] in place of parameter j, in `a`; node is NULL when memory is out. With
 * `digits` > 0 the values of parameters that are not fixed are rounded to so many. Signs are
 * joined: a - -2*b is a + 2*b, and neg(-2) is 2. */
expr regress_law_with(const regress_law *law, const double *value, int digits, arena *a);

#endif
