/* op.c - see op.h. */
#include "expr/op.h"

#include <string.h>

const expr_op_info expr_ops[EXPR_OP_COUNT] = {
#define X(constant, ...) { __VA_ARGS__ },
    EXPR_OPS(X)
#undef X
};

/* Spellings that neither SNIP nor sympy uses. */
static const struct {
    const char *name;
    expr_op op;
} others[] = {
    { "plus", EXPR_ADD },       { "subtract", EXPR_SUB },    { "minus", EXPR_SUB },
    { "multiply", EXPR_MUL },   { "mult", EXPR_MUL },        { "times", EXPR_MUL },
    { "divide", EXPR_DIV },     { "true_divide", EXPR_DIV }, { "power", EXPR_POW },
    { "Pow", EXPR_POW },        { "fabs", EXPR_ABS },        { "absolute", EXPR_ABS },
    { "reciprocal", EXPR_INV }, { "ln", EXPR_LOG },          { "square", EXPR_POW2 },
    { "cube", EXPR_POW3 },      { "negative", EXPR_NEG },    { "fmin", EXPR_MIN },
    { "minimum", EXPR_MIN },    { "fmax", EXPR_MAX },        { "maximum", EXPR_MAX },
    { "PI", EXPR_PI },          { "Pi", EXPR_PI },           { "M_PI", EXPR_PI },
    { "M_E", EXPR_E },          { "arctan2", EXPR_ATAN2 },   { EXPR_PI_LETTER, EXPR_PI },
};

static int same(const char *a, const char *text, size_t length)
{
    return strlen(a) == length && memcmp(a, text, length) == 0;
}

int expr_op_find(const char *name, size_t length)
{
    if (length == 0)
        return -1;
    for (int op = EXPR_PI; op < EXPR_OP_COUNT; op++)
        if (same(expr_ops[op].name, name, length) || same(expr_ops[op].sympy, name, length))
            return op;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (same(others[i].name, name, length))
            return (int)others[i].op;
    return -1;
}
