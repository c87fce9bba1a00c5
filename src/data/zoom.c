/* zoom.c - samples in a small part of their inputs' range; see gen.h. */
#include <math.h>

#include "data/gen.h"
#include "data/tokens.h"

#define DECADES 1.5 /* the smallest part is 10^-1.5 of the range */

/* Whether y is more than a constant and rounding. */
static int varies(const double *y, size_t n)
{
    double low = y[0], high = y[0], most = 0;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
        most = fmax(most, fabs(y[i]));
    }
    return high - low > 1e-6 * most;
}

/* e with each input x_j replaced by centre_j + s_j x_j. */
static snip_code look_closer(expr *out, const data_sample *s, size_t row, rng *r, arena *a)
{
    size_t dim = (size_t)s->dim;
    expr *by = arena_array(a, dim, sizeof *by);
    expr_node *node = arena_zero(a, 5 * dim * sizeof *node);
    if (!by || !node)
        return SNIP_NOMEM;
    for (size_t j = 0; j < dim; j++, node += 5) {
        node[0].op = EXPR_ADD;
        node[1] = (expr_node){ .op = EXPR_NUMBER, .value = s->x[j][row] };
        node[2].op = EXPR_MUL;
        node[3] = (expr_node){ .op = EXPR_NUMBER, .value = pow(10, -DECADES * rng_uniform(r)) };
        node[4] = (expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)j };
        by[j] = (expr){ node, 5 };
        expr_measure(by[j]);
    }
    expr e = expr_substitute(s->e, by, dim, a);
    return e.node ? expr_tidy(out, e, a, NULL) : SNIP_NOMEM;
}

snip_code data_sample_zoom(data_sample *s, rng *r, arena *a)
{
    size_t n = s->points;
    expr e;
    double *y = arena_array(a, n, sizeof *y);
    if (!y)
        return SNIP_NOMEM;
    snip_code code = look_closer(&e, s, rng_below(r, (uint32_t)n), r, a);
    if (code == SNIP_NOMEM)
        return code;
    int good = code == SNIP_OK && data_tokens_count(e) <= DATA_SEQUENCE_MAX
                   ? expr_eval_strict(e, s->x, n, y, a)
                   : 0;
    if (good < 0)
        return SNIP_NOMEM;
    if (good && data_values_fit(y, n) && varies(y, n) && expr_inputs(e) == (size_t)s->dim) {
        s->e = e;
        s->y = y;
    }
    return SNIP_OK;
}
