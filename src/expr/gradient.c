/* gradient.c - derivatives of a formula by its numbers, in reverse mode.
 *
 * A block of rows goes forward once, from the last node to the first, keeping the values v_i of
 * every node, and backward once, from the first node to the last. The adjoint of node i is the
 * derivative of the root by it,
 *
 *     g_0 = 1,    g_k = g_i dv_i/dv_k    for each operand k of node i,
 *
 * and that of a number is what is asked for. A node has one parent, so adjoints are set, never
 * summed, and what holds none of the wanted numbers is stepped over. One sweep costs about two
 * evaluations, however many numbers there are (the derivatives themselves are in slopes.c).
 *
 * A search for constants asks for the values at a point, and, if they are good, for the derivatives
 * at the same point. So where all rows are one block, its values stay: derivatives go backward
 * only, and what holds none of the numbers is evaluated once for the whole search. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "expr/expr_int.h"
#include "expr/slopes.h"
#include "expr/vec.h"

enum {
    BLOCK = 256,             /* rows at a time for formulas of usual size */
    BLOCK_MIN = 16,          /* and at least, for the longest */
    NUMBERS_MAX = 128 * 1024 /* values of a block, 1 MB: they stay in the second-level cache */
};

/* A block on its way. The arrays have `width` numbers per node. */
struct expr_sweep {
    expr e;
    const double *const *x;
    size_t rows;
    const size_t *node; /* the wanted numbers */
    size_t n;
    const expr_vec *vec;
    const expr_slopes *slopes;
    const double **value; /* of each node; those of a variable are the caller's column */
    double *own;          /* the values of the other nodes */
    double *adjoint;      /* of nodes that hold a wanted number */
    double *slope;        /* one row of numbers, for the derivative of an operator */
    char *active;         /* whether the subtree holds a wanted number */
    size_t width;
    double *last; /* the wanted numbers that the values of the one block belong to */
    int kept;     /* whether there are such values */
    arena *tmp;
};

extern const expr_slopes expr_slopes_generic, expr_slopes_avx2, expr_slopes_avx512;

const expr_slopes *expr_slopes_for(isa which)
{
    static const expr_slopes *const tables[ISA_COUNT] = ISA_VARIANTS(&expr_slopes);
    return tables[which];
}

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

void expr_fix_quotients(expr e)
{
    for (size_t i = 0; i < e.count; i++) {
        if (e.node[i].op != EXPR_POW)
            continue;
        expr power = expr_subtree(e, expr_child(e, i, 1));
        int whole = 1, quotient = 0;
        for (size_t k = 0; k < power.count; k++) {
            const expr_node *n = &power.node[k];
            int divides = n->op == EXPR_DIV || n->op == EXPR_INV;
            quotient |= divides;
            whole &= divides || n->op == EXPR_NEG || (n->op == EXPR_NUMBER && n->integer);
        }
        if (whole && quotient)
            expr_set_fixed(power, 1);
    }
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

/* Rows [row, row + n). If `again`, only what holds a wanted number: the rest is there. */
static void forward(expr_sweep *s, size_t row, size_t n, int again)
{
    for (size_t i = s->e.count; i-- > 0;) {
        const expr_node *node = &s->e.node[i];
        int arity = expr_ops[node->op].arity;
        double *out = s->own + i * s->width;
        if (again && !s->active[i])
            continue;
        s->value[i] = node->op == EXPR_VARIABLE ? s->x[node->var] + row : out;
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

static void backward(expr_sweep *s, size_t n)
{
    for (size_t r = 0; r < n; r++)
        s->adjoint[r] = 1;
    for (size_t i = 0; i < s->e.count;) {
        if (!s->active[i]) {
            i += s->e.node[i].len;
            continue;
        }
        int op = s->e.node[i].op, arity = expr_ops[op].arity;
        for (int k = 0; k < arity; k++) {
            size_t child = expr_child(s->e, i, k);
            if (!s->active[child])
                continue;
            const expr_slope_at here = { .vec = s->vec,
                                         .a = s->value[i + 1],
                                         .b = arity == 2 ? s->value[expr_child(s->e, i, 1)] : NULL,
                                         .v = s->value[i],
                                         .slot = k,
                                         .g = s->adjoint + i * s->width,
                                         .d = s->slope,
                                         .n = n };
            s->slopes->of[op](s->adjoint + child * s->width, &here);
        }
        i++;
    }
}

/* Numbers per node, no more than the rows need: those of few rows lie close together. */
static size_t width_for(size_t count, size_t rows)
{
    size_t width = NUMBERS_MAX / count / BLOCK_MIN * BLOCK_MIN;
    size_t needed = (rows + BLOCK_MIN - 1) / BLOCK_MIN * BLOCK_MIN;
    width = width > needed ? needed : width;
    return width > BLOCK ? BLOCK : width < BLOCK_MIN ? BLOCK_MIN : width;
}

expr_sweep *expr_sweep_new(expr e, const double *const *x, size_t rows, const size_t *node,
                           size_t n, arena *a)
{
    expr_sweep *s = arena_alloc(a, sizeof *s);
    if (!s)
        return NULL;
    isa which = isa_best();
    *s = (expr_sweep){ .e = e,
                       .x = x,
                       .rows = rows,
                       .node = node,
                       .n = n,
                       .vec = expr_vec_for(which),
                       .slopes = expr_slopes_for(which),
                       .width = width_for(e.count, rows),
                       .tmp = a };
    s->value = arena_array(a, e.count, sizeof *s->value);
    s->own = arena_array(a, e.count, s->width * sizeof *s->own);
    s->adjoint = arena_array(a, e.count, s->width * sizeof *s->adjoint);
    s->slope = arena_array(a, s->width, sizeof *s->slope);
    s->active = arena_array(a, e.count, 1);
    s->last = arena_array(a, n, sizeof *s->last);
    if (!s->value || !s->own || !s->adjoint || !s->slope || !s->active || !s->last)
        return NULL;
    mark(s->active, e, node, n);
    return s;
}

/* Brings the values of the one block up to date with the wanted numbers. */
static void refresh(expr_sweep *s)
{
    int same = s->kept;
    for (size_t j = 0; j < s->n; j++) {
        double now = s->e.node[s->node[j]].value;
        same &= memcmp(&now, &s->last[j], sizeof now) == 0;
        s->last[j] = now;
    }
    if (!same)
        forward(s, 0, s->rows, s->kept);
    s->kept = 1;
}

size_t expr_sweep_values(expr_sweep *s, double *y)
{
    if (s->rows > s->width) /* nothing would stay: eval.c needs less memory at a time */
        return expr_eval(s->e, s->x, s->rows, y, s->tmp);
    refresh(s);
    memcpy(y, s->value[0], s->rows * sizeof *y);
    return s->vec->finite(y, s->rows);
}

void expr_sweep_slopes(expr_sweep *s, double *y, double *dy)
{
    for (size_t row = 0; row < s->rows; row += s->width) {
        size_t now = s->rows - row < s->width ? s->rows - row : s->width;
        if (s->rows <= s->width)
            refresh(s);
        else
            forward(s, row, now, 0);
        memcpy(y + row, s->value[0], now * sizeof *y);
        backward(s, now);
        for (size_t j = 0; j < s->n; j++)
            memcpy(dy + j * s->rows + row, s->adjoint + s->node[j] * s->width, now * sizeof *dy);
    }
}

int expr_gradient(expr e, const double *const *x, size_t rows, const size_t *node, size_t n,
                  double *y, double *dy, arena *tmp)
{
    arena_pos before = arena_mark(tmp);
    expr_sweep *s = expr_sweep_new(e, x, rows, node, n, tmp);
    if (s)
        expr_sweep_slopes(s, y, dy);
    arena_reset(tmp, before);
    return s != NULL;
}

int expr_sensitivities(expr e, const double *const *x, size_t rows, double *value, double *slope,
                       arena *tmp)
{
    assert(e.count > 0);
    arena_pos before = arena_mark(tmp);
    size_t *all = arena_array(tmp, e.count, sizeof *all);
    for (size_t i = 0; i < e.count && all; i++)
        all[i] = i;
    expr_sweep *s = all ? expr_sweep_new(e, x, rows, all, e.count, tmp) : NULL;
    for (size_t row = 0; s && row < rows; row += s->width) {
        size_t now = rows - row < s->width ? rows - row : s->width;
        forward(s, row, now, 0);
        if (slope)
            backward(s, now);
        for (size_t i = 0; i < e.count; i++) {
            memcpy(value + i * rows + row, s->value[i], now * sizeof *value);
            if (slope)
                memcpy(slope + i * rows + row, s->adjoint + i * s->width, now * sizeof *slope);
        }
    }
    arena_reset(tmp, before);
    return s != NULL;
}
