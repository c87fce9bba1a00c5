/* gradient.c - derivatives of a formula by its numbers, in reverse mode.
 *
 * A block of rows goes forward once, from the last node to the first, keeping the values of every
 * node, and backward once, from the first node to the last: each node hands its adjoint (the
 * derivative of the root by that node) to its operands. A node has one parent, so adjoints are
 * set, never summed, and what holds none of the wanted numbers is stepped over. */
#include <math.h>
#include <string.h>

#include "expr/expr_int.h"
#include "expr/vec.h"

enum {
    BLOCK = 256,             /* rows at a time for formulas of usual size */
    BLOCK_MIN = 16,          /* and at least, for the longest */
    NUMBERS_MAX = 128 * 1024 /* values of a block, 1 MB: they stay in the second-level cache */
};

/* A block on its way. The arrays have `width` numbers per node. */
typedef struct sweep {
    expr e;
    const expr_vec *vec;
    const double **value; /* of each node; those of a variable are the caller's column */
    double *own;          /* the values of the other nodes */
    double *adjoint;      /* of nodes that hold a wanted number */
    double *slope;        /* one row of numbers, for the derivative of an operator */
    char *active;         /* whether the subtree holds a wanted number */
    size_t width;
} sweep;

/* The number that node i of a power's exponent is, maybe behind minus signs, or e.count. */
static size_t bare_number(expr e, size_t i)
{
    while (e.node[i].op == EXPR_NEG)
        i++;
    return e.node[i].op == EXPR_NUMBER ? i : e.count;
}

size_t expr_constants(expr e, size_t *node)
{
    for (size_t i = 0; i < e.count; i++) /* first whether each node is one, then the list of them */
        node[i] = e.node[i].op == EXPR_NUMBER && !e.node[i].fixed;
    for (size_t i = 0; i < e.count; i++) {
        if (e.node[i].op != EXPR_POW)
            continue;
        size_t k = bare_number(e, expr_child(e, i, 1));
        if (k < e.count && e.node[k].value == floor(e.node[k].value))
            node[k] = 0;
    }
    size_t count = 0;
    for (size_t i = 0; i < e.count; i++)
        if (node[i])
            node[count++] = i;
    return count;
}

static void mark(char *active, expr e, const size_t *node, size_t n)
{
    memset(active, 0, e.count);
    for (size_t j = 0; j < n; j++)
        active[node[j]] = 1;
    for (size_t i = e.count; i-- > 0;)
        for (int k = 0; k < expr_ops[e.node[i].op].arity; k++)
            active[i] |= active[expr_child(e, i, k)];
}

static void forward(sweep *s, const double *const *x, size_t row, size_t n)
{
    for (size_t i = s->e.count; i-- > 0;) {
        const expr_node *node = &s->e.node[i];
        int arity = expr_ops[node->op].arity;
        double *out = s->own + i * s->width;
        s->value[i] = node->op == EXPR_VARIABLE ? x[node->var] + row : out;
        if (arity == 1) {
            s->vec->unary[node->op](out, s->value[i + 1], n);
        } else if (arity == 2) {
            s->vec->binary[node->op](out, s->value[i + 1], s->value[expr_child(s->e, i, 1)], n);
        } else if (node->op != EXPR_VARIABLE) {
            double c = expr_leaf_value(node);
            for (size_t r = 0; r < n; r++)
                out[r] = c;
        }
    }
}

/* Derivatives ----------------------------------------------------------------------------------
 *
 * Of an operator whose value is v at a, or at (a, b) by its operand `slot`, for n rows, into d. */
typedef struct at {
    const expr_vec *vec;
    const double *a, *b, *v;
    int slot;
    size_t n;
} at;

typedef void slope(double *d, const at *p);

/* slope_NAME by a formula for each row; the second one by a loop first, whose result is in d. */
#define SLOPE(name, expression) SLOPE_AFTER(name, (void)0, expression)
#define SLOPE_AFTER(name, loop, expression)                                                        \
    static void slope_##name(double *d, const at *p)                                               \
    {                                                                                              \
        const double *a = p->a, *b = p->b, *v = p->v;                                              \
        (void)a, (void)b, (void)v;                                                                 \
        loop;                                                                                      \
        for (size_t r = 0; r < p->n; r++)                                                          \
            d[r] = expression;                                                                     \
    }
#define LOOP(op) p->vec->unary[EXPR_##op](d, a, p->n)

SLOPE(ABS, a[r] > 0 ? 1 : a[r] < 0 ? -1 : a[r])
SLOPE(INV, -v[r] * v[r])
SLOPE(SQRT, 0.5 / v[r])
SLOPE(LOG, 1 / a[r])
SLOPE(LOG2, M_LOG2E / a[r])
SLOPE(LOG10, M_LOG10E / a[r])
SLOPE(LOG1P, 1 / (1 + a[r]))
SLOPE(EXP, v[r])
SLOPE(EXP2, M_LN2 *v[r])
SLOPE_AFTER(EXPM1, LOOP(EXP), d[r]) /* v + 1 would have lost its digits below zero */
SLOPE_AFTER(SIN, LOOP(COS), d[r])
SLOPE_AFTER(COS, LOOP(SIN), -d[r])
SLOPE(TAN, 1 + v[r] * v[r])
SLOPE(ARCSIN, 1 / sqrt((1 - a[r]) * (1 + a[r])))
SLOPE(ARCCOS, -1 / sqrt((1 - a[r]) * (1 + a[r])))
SLOPE(ARCTAN, 1 / (1 + a[r] * a[r]))
SLOPE_AFTER(SINH, LOOP(COSH), d[r])
SLOPE_AFTER(COSH, LOOP(SINH), d[r])
SLOPE(TANH, (1 - v[r]) * (1 + v[r]))
SLOPE(ARCSINH, 1 / sqrt(1 + a[r] * a[r]))
SLOPE(ARCCOSH, 1 / (sqrt(a[r] - 1) * sqrt(a[r] + 1)))
SLOPE(ARCTANH, 1 / ((1 - a[r]) * (1 + a[r])))
SLOPE(POW2, 2 * a[r])
SLOPE(POW3, 3 * a[r] * a[r])
SLOPE(CBRT, 1 / (3 * v[r] * v[r]))
SLOPE(NEG, -1)
SLOPE(SIGN, 0) /* flat almost everywhere */
SLOPE(FLOOR, 0)
SLOPE(CEIL, 0)

/* 2/sqrt(pi) exp(-a^2) */
static void slope_ERF(double *d, const at *p)
{
    for (size_t r = 0; r < p->n; r++)
        d[r] = -p->a[r] * p->a[r];
    p->vec->unary[EXPR_EXP](d, d, p->n);
    for (size_t r = 0; r < p->n; r++)
        d[r] = M_2_SQRTPI * d[r];
}

SLOPE(ADD, 1)
SLOPE(SUB, p->slot == 0 ? 1 : -1)
SLOPE(MUL, p->slot == 0 ? b[r] : a[r])
SLOPE(DIV, p->slot == 0 ? 1 / b[r] : -v[r] / b[r])
SLOPE(MIN, (a[r] < b[r] || a[r] != a[r]) == (p->slot == 0))
SLOPE(MAX, (a[r] > b[r] || a[r] != a[r]) == (p->slot == 0))
/* of a/b, so to speak: b/(a^2 + b^2) and -a/(a^2 + b^2) */
SLOPE(ATAN2, (p->slot == 0 ? b[r] : -a[r]) / hypot(a[r], b[r]) / hypot(a[r], b[r]))

/* Of a^b by a: b a^(b-1); by b: v log(a), and its limit 0 for a = 0. */
static void slope_POW(double *d, const at *p)
{
    const double *a = p->a, *b = p->b, *v = p->v;
    if (p->slot == 0) {
        for (size_t r = 0; r < p->n; r++)
            d[r] = b[r] - 1;
        p->vec->binary[EXPR_POW](d, a, d, p->n);
        for (size_t r = 0; r < p->n; r++)
            d[r] = b[r] == 0 ? 0 : b[r] * d[r];
    } else {
        p->vec->unary[EXPR_LOG](d, a, p->n);
        for (size_t r = 0; r < p->n; r++)
            d[r] = a[r] == 0 && b[r] > 0 ? 0 : v[r] * d[r];
    }
}

/* One that is missing does not compile. */
#define SLOPE_0(constant)                 NULL,
#define SLOPE_1(constant)                 slope_##constant,
#define SLOPE_2(constant)                 slope_##constant,
#define ENTRY(constant, name, arity, ...) SLOPE_##arity(constant)
static slope *const slopes[EXPR_OP_COUNT] = { EXPR_OPS(ENTRY) };

static void backward(sweep *s, size_t n)
{
    for (size_t r = 0; r < n; r++)
        s->adjoint[r] = 1;
    for (size_t i = 0; i < s->e.count;) {
        if (!s->active[i]) {
            i += s->e.node[i].len;
            continue;
        }
        int op = s->e.node[i].op, arity = expr_ops[op].arity;
        const double *g = s->adjoint + i * s->width;
        for (int k = 0; k < arity; k++) {
            size_t child = expr_child(s->e, i, k);
            if (!s->active[child])
                continue;
            const at here = { .vec = s->vec,
                              .a = s->value[i + 1],
                              .b = arity == 2 ? s->value[expr_child(s->e, i, 1)] : NULL,
                              .v = s->value[i],
                              .slot = k,
                              .n = n };
            slopes[op](s->slope, &here);
            /* Zero stays zero: the side that min() did not take may well have overflowed. */
            double *out = s->adjoint + child * s->width;
            for (size_t r = 0; r < n; r++)
                out[r] = g[r] == 0 ? 0 : g[r] * s->slope[r];
        }
        i++;
    }
}

static size_t width_for(size_t count)
{
    size_t width = NUMBERS_MAX / count / BLOCK_MIN * BLOCK_MIN;
    return width > BLOCK ? BLOCK : width < BLOCK_MIN ? BLOCK_MIN : width;
}

/* Returns 0 when memory is out. */
static int prepare(sweep *s, expr e, const size_t *node, size_t n, arena *tmp)
{
    s->e = e;
    s->vec = expr_vec_best();
    s->width = width_for(e.count);
    s->value = arena_array(tmp, e.count, sizeof *s->value);
    s->own = arena_array(tmp, e.count, s->width * sizeof *s->own);
    s->adjoint = arena_array(tmp, e.count, s->width * sizeof *s->adjoint);
    s->slope = arena_array(tmp, s->width, sizeof *s->slope);
    s->active = arena_array(tmp, e.count, 1);
    if (!s->value || !s->own || !s->adjoint || !s->slope || !s->active)
        return 0;
    mark(s->active, e, node, n);
    return 1;
}

int expr_gradient(expr e, const double *const *x, size_t rows, const size_t *node, size_t n,
                  double *y, double *dy, arena *tmp)
{
    arena_pos before = arena_mark(tmp);
    sweep s;
    int good = prepare(&s, e, node, n, tmp);
    for (size_t row = 0; row < rows && good; row += s.width) {
        size_t now = rows - row < s.width ? rows - row : s.width;
        forward(&s, x, row, now);
        memcpy(y + row, s.value[0], now * sizeof *y);
        backward(&s, now);
        for (size_t j = 0; j < n; j++)
            memcpy(dy + j * rows + row, s.adjoint + node[j] * s.width, now * sizeof *dy);
    }
    arena_reset(tmp, before);
    return good;
}
