/* op.h - the operators of a formula, in one table.
 *
 * The first group is SNIP's vocabulary: what the model reads. The second is what people write as
 * well; it can be evaluated and printed, and expr_normal rewrites it with the first, or says that
 * it cannot. An operator is a row here, a loop do_NAME in vec.c and its derivative slope_NAME in
 * slopes.c: without them nothing compiles. normal.c, canonical.c, sympy.c and print.c have a rule
 * for those that need one; test_expr.c and test_gradient.c go over all rows. */
#ifndef EXPR_OP_H
#define EXPR_OP_H

#include <stddef.h>

/*  constant, name, arity, sympy, LaTeX, C, sign, spelled, vanishes: see expr_op_info. */
#define EXPR_OPS(X)                                                                                \
    X(NUMBER, "", 0, "", "", "", "", "", 0)                                                        \
    X(VARIABLE, "", 0, "", "", "", "", "", 0)                                                      \
    X(PI, "pi", 0, "pi", "\\pi", "", "", "", 0)                                                    \
    X(E, "e", 0, "E", "e", "", "", "", 0)                                                          \
    X(GAMMA, "euler_gamma", 0, "EulerGamma", "\\gamma", "", "", "", 0)                             \
    X(ADD, "add", 2, "", "", "", "+", "", 0)                                                       \
    X(SUB, "sub", 2, "", "", "", "-", "", 0)                                                       \
    X(MUL, "mul", 2, "", "", "", "*", "", 1)                                                       \
    X(DIV, "div", 2, "", "", "", "/", "", 1)                                                       \
    X(POW, "pow", 2, "", "", "pow", "^", "", 0)                                                    \
    X(ABS, "abs", 1, "Abs", "", "fabs", "", "", 0)                                                 \
    X(INV, "inv", 1, "", "", "", "1/", "", 1)                                                      \
    X(SQRT, "sqrt", 1, "sqrt", "\\sqrt", "sqrt", "", "", 0)                                        \
    X(LOG, "log", 1, "log", "\\log", "log", "", "", 0)                                             \
    X(EXP, "exp", 1, "exp", "\\exp", "exp", "", "", 1)                                             \
    X(SIN, "sin", 1, "sin", "\\sin", "sin", "", "", 0)                                             \
    X(ARCSIN, "arcsin", 1, "asin", "\\arcsin", "asin", "", "", 0)                                  \
    X(COS, "cos", 1, "cos", "\\cos", "cos", "", "", 0)                                             \
    X(ARCCOS, "arccos", 1, "acos", "\\arccos", "acos", "", "", 0)                                  \
    X(TAN, "tan", 1, "tan", "\\tan", "tan", "", "", 0)                                             \
    X(ARCTAN, "arctan", 1, "atan", "\\arctan", "atan", "", "", 0)                                  \
    X(POW2, "pow2", 1, "", "", "", "^2", "", 1)                                                    \
    X(POW3, "pow3", 1, "", "", "", "^3", "", 1)                                                    \
    X(NEG, "neg", 1, "", "", "", "-", "", 0)                                                       \
    X(SINH, "sinh", 1, "sinh", "\\sinh", "sinh", "", "", 0)                                        \
    X(COSH, "cosh", 1, "cosh", "\\cosh", "cosh", "", "", 0)                                        \
    X(TANH, "tanh", 1, "tanh", "\\tanh", "tanh", "", "", 0)                                        \
    X(ARCSINH, "arcsinh", 1, "asinh", "\\operatorname{arcsinh}", "asinh", "", "", 0)               \
    X(ARCCOSH, "arccosh", 1, "acosh", "\\operatorname{arccosh}", "acosh", "", "", 0)               \
    X(ARCTANH, "arctanh", 1, "atanh", "\\operatorname{arctanh}", "atanh", "", "", 0)               \
    X(LOG2, "log2", 1, "log2", "\\operatorname{log2}", "log2", "", "log(@)/log(2)", 0)             \
    X(LOG10, "log10", 1, "log10", "\\operatorname{log10}", "log10", "", "log(@)/log(10)", 0)       \
    X(LOG1P, "log1p", 1, "log1p", "\\operatorname{log1p}", "log1p", "", "log(1 + @)", 0)           \
    X(EXPM1, "expm1", 1, "expm1", "\\operatorname{expm1}", "expm1", "", "exp(@) - 1", 0)           \
    X(EXP2, "exp2", 1, "exp2", "\\operatorname{exp2}", "exp2", "", "2**(@)", 1)                    \
    X(CBRT, "cbrt", 1, "cbrt", "\\operatorname{cbrt}", "cbrt", "", "real_root(@, 3)", 0)           \
    X(SIGN, "sign", 1, "sign", "\\operatorname{sign}", "", "", "", 0)                              \
    X(FLOOR, "floor", 1, "floor", "\\operatorname{floor}", "floor", "", "", 0)                     \
    X(CEIL, "ceil", 1, "ceiling", "\\operatorname{ceil}", "ceil", "", "", 0)                       \
    X(MIN, "min", 2, "Min", "\\min", "fmin", "", "", 0)                                            \
    X(MAX, "max", 2, "Max", "\\max", "fmax", "", "", 0)                                            \
    X(ERF, "erf", 1, "erf", "\\operatorname{erf}", "erf", "", "", 0)                               \
    X(ATAN2, "atan2", 2, "atan2", "\\operatorname{atan2}", "atan2", "", "", 0)

typedef enum expr_op {
#define X(constant, ...) EXPR_##constant,
    EXPR_OPS(X)
#undef X
        EXPR_OP_COUNT
} expr_op;

#define EXPR_PI_LETTER   "π"
#define EXPR_EULER_GAMMA 0.57721566490153286061

enum { EXPR_VOCABULARY_END = EXPR_POW3 + 1 }; /* operators before this are SNIP's */

typedef struct expr_op_info {
    const char *name; /* SNIP's, in prefix text and as function in infix text */
    int arity;
    const char *sympy, *latex, *c; /* "" where there is no such function */
    const char *sign;              /* in a drawing of the tree; "": its name */
    const char *spelled; /* what sympy's text has in its place, @ being the operand; "": itself */
    int vanishes; /* whether a result that rounds to 0, or to a subnormal number, is taken for an
                     underflow. Not for pow: the training samples were accepted without. */
} expr_op_info;

/* How many operators with one operand SNIP has words for. */
#define EXPR_IS_WORD(constant, name, arity, ...)                                                   \
    +((int)EXPR_##constant < EXPR_VOCABULARY_END && (arity) == 1)
enum { EXPR_UNARY_WORDS = 0 EXPR_OPS(EXPR_IS_WORD) };

extern const expr_op_info expr_ops[EXPR_OP_COUNT];

/* The operator or named constant of that spelling (SNIP's, sympy's, numpy's or C's), of `length`
 * bytes, or -1. */
int expr_op_find(const char *name, size_t length);

#endif
