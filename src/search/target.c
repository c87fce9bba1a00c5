/* target.c - see target.h. */
#include "search/target.h"

#include <math.h>

#include "search/build.h"

static double same(double y)
{
    return y;
}

static double reciprocal(double y)
{
    return 1 / y;
}

static double square(double y)
{
    return y * y;
}

static double square_below(double y)
{
    return 1 / (y * y);
}

/* The transforms, each with the operators that lead back. */
static const struct {
    double (*forward)(double);
    expr_op back[2];
    int one_sign;     /* the way back has one sign: y must, too */
    double low, high; /* where y must lie */
} transforms[TARGET_KINDS] = {
    [TARGET_SAME] = { same, { EXPR_NUMBER, EXPR_NUMBER }, 0, -INFINITY, INFINITY },
    [TARGET_INVERSE] = { reciprocal, { EXPR_INV, EXPR_NUMBER }, 0, -INFINITY, INFINITY },
    [TARGET_SQUARE] = { square, { EXPR_SQRT, EXPR_NUMBER }, 1, -INFINITY, INFINITY },
    [TARGET_LOG] = { log, { EXPR_EXP, EXPR_NUMBER }, 1, -INFINITY, INFINITY },
    [TARGET_ROOT] = { sqrt, { EXPR_POW2, EXPR_NUMBER }, 1, -INFINITY, INFINITY },
    [TARGET_INVERSE_SQUARE] = { square_below, { EXPR_SQRT, EXPR_INV }, 1, -INFINITY, INFINITY },
    [TARGET_EXP] = { exp, { EXPR_LOG, EXPR_NUMBER }, 0, -30, 30 },
    [TARGET_SIN] = { sin, { EXPR_ARCSIN, EXPR_NUMBER }, 0, -M_PI_2, M_PI_2 },
    [TARGET_COS] = { cos, { EXPR_ARCCOS, EXPR_NUMBER }, 0, 0, M_PI },
    [TARGET_TAN] = { tan, { EXPR_ARCTAN, EXPR_NUMBER }, 0, -1.57, 1.57 },
    [TARGET_ARCTANH] = { atanh, { EXPR_TANH, EXPR_NUMBER }, 0, -0.9999999, 0.9999999 },
};

static int may_go_back(const search *s, const expr_op *back)
{
    for (int k = 0; k < 2; k++) {
        expr_op op = back[k] == EXPR_INV ? EXPR_DIV : back[k] == EXPR_POW2 ? EXPR_MUL : back[k];
        if (op != EXPR_NUMBER && !search_may(s, op))
            return 0;
    }
    return 1;
}

/* y through transform k, for all rows of the view. Returns 0 if it is not defined there, -1 when
 * memory is out. */
static int make_target(target *out, const search *s, const search_view *v, size_t k, arena *a)
{
    double *y = arena_array(a, v->rows, sizeof *y);
    expr *by = arena_array(a, v->dim, sizeof *by);
    if (!y || !by)
        return -1;
    *out = (target){ .which = k, .sign = 1 };
    if (transforms[k].one_sign && v->y[0] < 0)
        out->sign = -1;
    for (size_t i = 0; i < v->rows; i++) {
        double from = out->sign * v->y[i];
        if (!(from >= transforms[k].low && from <= transforms[k].high) ||
            (transforms[k].one_sign && !(from > 0)))
            return 0;
        y[i] = transforms[k].forward(from);
        if (!isfinite(y[i]))
            return 0;
    }
    if (k == 0) {
        out->view = *v;
    } else {
        expr outer = search_variable(v->dim, a);
        out->back = search_variable(0, a);
        for (int i = 0; i < 2 && transforms[k].back[i] != EXPR_NUMBER; i++) {
            outer = search_unary(transforms[k].back[i], outer, a);
            out->back = search_unary(transforms[k].back[i], out->back, a);
        }
        for (size_t j = 0; j < v->dim; j++)
            if (!(by[j] = search_variable(j, a)).node)
                return -1;
        const search_view own = {
            .dim = v->dim, .rows = v->rows, .x = v->x, .y = y, .outer = outer, .by = by
        };
        if (!outer.node || !out->back.node || !search_view_derive(&out->view, s, v, &own, a))
            return -1;
    }
    out->rows = search_head_rows_of(&out->view);
    return out->rows.variance > 0;
}

int search_targets_make(target *out, size_t *count, const search *s, const search_view *v, arena *a)
{
    *count = 0;
    for (size_t k = 0; k < TARGET_KINDS; k++) {
        if (!may_go_back(s, transforms[k].back))
            continue;
        int made = make_target(&out[*count], s, v, k, a);
        if (made < 0)
            return 0;
        *count += (size_t)made;
    }
    return 1;
}
