/* values.c - see values.h. */
#include "search/values.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Rows at a time, and operands that wait at most: half of a formula's nodes are leaves. */
enum { BLOCK = 64, DEPTH = SEARCH_SIZE_MAX / 2 + 1 };

int search_sample_make(search_sample *out, const double *const *x, const double *y, size_t rows)
{
    rows = rows < SEARCH_SOME ? rows : SEARCH_SOME;
    double mean = 0, size = 0;
    out->rows = rows;
    out->x = x;
    out->vec = expr_vec_best();
    for (size_t i = 0; i < rows; i++)
        mean += y[i] / (double)rows;
    for (size_t i = 0; i < rows; i++) {
        out->y[i] = y[i] - mean;
        size += out->y[i] * out->y[i];
    }
    size = sqrt(size);
    if (!(size > 1e-13 * fabs(mean) && isfinite(size)))
        return 0;
    for (size_t i = 0; i < rows; i++)
        out->y[i] /= size;
    return 1;
}

static double leaf(const expr_node *node)
{
    return node->op == EXPR_NUMBER ? node->value
           : node->op == EXPR_PI   ? M_PI
           : node->op == EXPR_E    ? M_E
                                   : EXPR_EULER_GAMMA;
}

/* Rows [row, row + n) into value: nodes from the last to the first, so that operands are there
 * before their operator. */
static void block(double *value, const search_sample *p, expr e, size_t row, size_t n)
{
    double slot[DEPTH][BLOCK];
    const double *stack[DEPTH];
    size_t top = 0;
    for (size_t i = e.count; i-- > 0;) {
        const expr_node *node = &e.node[i];
        double *to = i == 0 ? value : NULL;
        switch (node->op) {
        case EXPR_VARIABLE:
            stack[top++] = p->x[node->var] + row;
            continue;
        case EXPR_NUMBER:
        case EXPR_PI:
        case EXPR_E:
        case EXPR_GAMMA: {
            double c = leaf(node);
            to = to ? to : slot[top];
            for (size_t r = 0; r < n; r++)
                to[r] = c;
            stack[top++] = to;
            continue;
        }
        default:
            break;
        }
        if (p->vec->unary[node->op]) {
            assert(top >= 1);
            to = to ? to : slot[top - 1];
            p->vec->unary[node->op](to, stack[top - 1], n);
        } else {
            assert(top >= 2);
            top--;
            to = to ? to : slot[top - 1];
            p->vec->binary[node->op](to, stack[top], stack[top - 1], n);
        }
        stack[top - 1] = to;
    }
    assert(top == 1); /* one tree, one value */
    if (stack[0] != value)
        memcpy(value, stack[0], n * sizeof *value);
}

int search_sample_values(double *value, const search_sample *p, expr e)
{
    if (e.count == 0 || e.count > SEARCH_SIZE_MAX)
        return 0;
    for (size_t row = 0; row < p->rows; row += BLOCK)
        block(value + row, p, e, row, p->rows - row < BLOCK ? p->rows - row : BLOCK);
    return 1;
}

double search_sample_loss(const search_sample *p, expr e)
{
    double value[SEARCH_SOME];
    if (!search_sample_values(value, p, e))
        return INFINITY;
    return p->vec->unexplained(value, p->y, p->rows);
}
