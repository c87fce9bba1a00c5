/* results_int.h - what the files behind results.h share. */
#ifndef REGRESS_RESULTS_INT_H
#define REGRESS_RESULTS_INT_H

#include "regress/results.h"

/* The formula as sympy reads it, with all digits. */
json_t *regress_formula_json(expr e, const expr_names *names, arena *a);

#endif
