/* op.h - the operators of a formula, in one table.
 *
 * The first group is SNIP's vocabulary: what the model reads. The second is what people write as
 * well; it can be evaluated and printed, and expr_normal rewrites it with the first, or says that
 * it cannot. An operator is a line here, a loop in vec.c and its derivative in gradient.c;
 * normal.c, canonical.c, sympy.c and print.c have a rule for those that need one. */
#ifndef EXPR_OP_H
#define EXPR_OP_H

#include <stddef.h>

/*  constant   name           arity  sympy       LaTeX         C */
#define EXPR_OPS(X)                                                                                \
    X(NUMBER, "", 0, "", "", "")                                                                   \
    X(VARIABLE, "", 0, "", "", "")                                                                 \
    X(PI, "pi", 0, "pi", "\\pi", "")                                                               \
    X(E, "e", 0, "E", "e", "")                                                                     \
    X(GAMMA, "euler_gamma", 0, "EulerGamma", "\\gamma", "")                                        \
    X(ADD, "add", 2, "", "", "")                                                                   \
    X(SUB, "sub", 2, "", "", "")                                                                   \
    X(MUL, "mul", 2, "", "", "")                                                                   \
    X(DIV, "div", 2, "", "", "")                                                                   \
    X(POW, "pow", 2, "", "", "pow")                                                                \
    X(ABS, "abs", 1, "Abs", "", "fabs")                                                            \
    X(INV, "inv", 1, "", "", "")                                                                   \
    X(SQRT, "sqrt", 1, "sqrt", "\\sqrt", "sqrt")                                                   \
    X(LOG, "log", 1, "log", "\\log", "log")                                                        \
    X(EXP, "exp", 1, "exp", "\\exp", "exp")                                                        \
    X(SIN, "sin", 1, "sin", "\\sin", "sin")                                                        \
    X(ARCSIN, "arcsin", 1, "asin", "\\arcsin", "asin")                                             \
    X(COS, "cos", 1, "cos", "\\cos", "cos")                                                        \
    X(ARCCOS, "arccos", 1, "acos", "\\arccos", "acos")                                             \
    X(TAN, "tan", 1, "tan", "\\tan", "tan")                                                        \
    X(ARCTAN, "arctan", 1, "atan", "\\arctan", "atan")                                             \
    X(POW2, "pow2", 1, "", "", "")                                                                 \
    X(POW3, "pow3", 1, "", "", "")                                                                 \
    X(NEG, "neg", 1, "", "", "")                                                                   \
    X(SINH, "sinh", 1, "sinh", "\\sinh", "sinh")                                                   \
    X(COSH, "cosh", 1, "cosh", "\\cosh", "cosh")                                                   \
    X(TANH, "tanh", 1, "tanh", "\\tanh", "tanh")                                                   \
    X(ARCSINH, "arcsinh", 1, "asinh", "\\operatorname{arcsinh}", "asinh")                          \
    X(ARCCOSH, "arccosh", 1, "acosh", "\\operatorname{arccosh}", "acosh")                          \
    X(ARCTANH, "arctanh", 1, "atanh", "\\operatorname{arctanh}", "atanh")                          \
    X(LOG2, "log2", 1, "log2", "\\operatorname{log2}", "log2")                                     \
    X(LOG10, "log10", 1, "log10", "\\operatorname{log10}", "log10")                                \
    X(LOG1P, "log1p", 1, "log1p", "\\operatorname{log1p}", "log1p")                                \
    X(EXPM1, "expm1", 1, "expm1", "\\operatorname{expm1}", "expm1")                                \
    X(EXP2, "exp2", 1, "exp2", "\\operatorname{exp2}", "exp2")                                     \
    X(CBRT, "cbrt", 1, "cbrt", "\\operatorname{cbrt}", "cbrt")                                     \
    X(SIGN, "sign", 1, "sign", "\\operatorname{sign}", "")                                         \
    X(FLOOR, "floor", 1, "floor", "\\operatorname{floor}", "floor")                                \
    X(CEIL, "ceil", 1, "ceiling", "\\operatorname{ceil}", "ceil")                                  \
    X(MIN, "min", 2, "Min", "\\min", "fmin")                                                       \
    X(MAX, "max", 2, "Max", "\\max", "fmax")                                                       \
    X(ERF, "erf", 1, "erf", "\\operatorname{erf}", "erf")                                          \
    X(ATAN2, "atan2", 2, "atan2", "\\operatorname{atan2}", "atan2")

typedef enum expr_op {
#define X(constant, name, arity, sympy, latex, c) EXPR_##constant,
    EXPR_OPS(X)
#undef X
        EXPR_OP_COUNT
} expr_op;

#define EXPR_EULER_GAMMA 0.57721566490153286061

enum { EXPR_VOCABULARY_END = EXPR_POW3 + 1 }; /* operators before this are SNIP's */

typedef struct expr_op_info {
    const char *name; /* SNIP's, in prefix text and as function in infix text */
    int arity;
    const char *sympy, *latex, *c; /* "" where there is no such function */
} expr_op_info;

extern const expr_op_info expr_ops[EXPR_OP_COUNT];

/* The operator or named constant of that spelling (SNIP's, sympy's, numpy's or C's), of `length`
 * bytes, or -1. */
int expr_op_find(const char *name, size_t length);

#endif
