/* targets.c - see targets.h. */
#include "search/targets.h"

#include <math.h>

#include "search/build.h"

#define EXP_MAX 12.0 /* exp(y) of larger values is ruled by a few rows */

static int may_invert(search_target g, const search *s)
{
    switch (g) {
    case SEARCH_TARGET_INVERSE:
        return search_may(s, EXPR_DIV);
    case SEARCH_TARGET_SQUARE:
        return search_may(s, EXPR_SQRT);
    case SEARCH_TARGET_INVERSE_SQUARE:
        return search_may(s, EXPR_SQRT) && search_may(s, EXPR_DIV);
    case SEARCH_TARGET_LOG:
        return search_may(s, EXPR_EXP);
    case SEARCH_TARGET_EXP:
        return search_may(s, EXPR_LOG);
    case SEARCH_TARGET_ROOT:
        return search_may(s, EXPR_MUL) || search_may(s, EXPR_POW);
    case SEARCH_TARGET_SIN:
        return search_may(s, EXPR_ARCSIN);
    case SEARCH_TARGET_COS:
        return search_may(s, EXPR_ARCCOS);
    case SEARCH_TARGET_TAN:
        return search_may(s, EXPR_ARCTAN);
    default:
        return 1;
    }
}

int search_target_values(double *out, search_target g, const search *s, const double *y,
                         size_t rows)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < rows; i++) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    int one_sign = low > 0 || high < 0, good = may_invert(g, s);
    switch (g) {
    case SEARCH_TARGET_INVERSE:
    case SEARCH_TARGET_SQUARE:
    case SEARCH_TARGET_INVERSE_SQUARE:
        good = good && one_sign;
        break;
    case SEARCH_TARGET_LOG:
    case SEARCH_TARGET_ROOT:
        good = good && low > 0;
        break;
    case SEARCH_TARGET_EXP:
        good = good && high <= EXP_MAX && low >= -EXP_MAX;
        break;
    case SEARCH_TARGET_SIN:
    case SEARCH_TARGET_TAN:
        good = good && high < M_PI_2 && low > -M_PI_2;
        break;
    case SEARCH_TARGET_COS:
        good = good && high <= M_PI && low >= 0;
        break;
    default:
        break;
    }
    for (size_t i = 0; i < rows && good; i++) {
        double v = y[i];
        switch (g) {
        case SEARCH_TARGET_INVERSE:
            v = 1 / v;
            break;
        case SEARCH_TARGET_SQUARE:
            v = v * v;
            break;
        case SEARCH_TARGET_INVERSE_SQUARE:
            v = 1 / (v * v);
            break;
        case SEARCH_TARGET_LOG:
            v = log(v);
            break;
        case SEARCH_TARGET_EXP:
            v = exp(v);
            break;
        case SEARCH_TARGET_ROOT:
            v = sqrt(v);
            break;
        case SEARCH_TARGET_SIN:
            v = sin(v);
            break;
        case SEARCH_TARGET_COS:
            v = cos(v);
            break;
        case SEARCH_TARGET_TAN:
            v = tan(v);
            break;
        default:
            break;
        }
        out[i] = v;
        good = isfinite(v);
    }
    return good;
}

expr search_target_back(search_target g, size_t j, arena *a)
{
    expr v = search_variable(j, a);
    switch (g) {
    case SEARCH_TARGET_INVERSE:
        return search_unary(EXPR_INV, v, a);
    case SEARCH_TARGET_SQUARE:
        return search_unary(EXPR_SQRT, v, a);
    case SEARCH_TARGET_INVERSE_SQUARE:
        return search_unary(EXPR_INV, search_unary(EXPR_SQRT, v, a), a);
    case SEARCH_TARGET_LOG:
        return search_unary(EXPR_EXP, v, a);
    case SEARCH_TARGET_EXP:
        return search_unary(EXPR_LOG, v, a);
    case SEARCH_TARGET_ROOT:
        return search_unary(EXPR_POW2, v, a);
    case SEARCH_TARGET_SIN:
        return search_unary(EXPR_ARCSIN, v, a);
    case SEARCH_TARGET_COS:
        return search_unary(EXPR_ARCCOS, v, a);
    case SEARCH_TARGET_TAN:
        return search_unary(EXPR_ARCTAN, v, a);
    default:
        return v;
    }
}

int search_target_view(search_view *out, search_target g, const search *s, const search_view *v,
                       const double *y, arena *a)
{
    if (g == SEARCH_TARGET_SAME) {
        *out = *v;
        return 1;
    }
    expr outer = search_target_back(g, v->dim, a);
    expr *by = arena_array(a, v->dim, sizeof *by);
    int good = outer.node && by;
    for (size_t j = 0; j < v->dim && good; j++) {
        by[j] = search_variable(j, a);
        good = by[j].node != NULL;
    }
    return good && search_view_derive(out, s, v, outer, by, v->dim, v->x, y, v->rows, a);
}
