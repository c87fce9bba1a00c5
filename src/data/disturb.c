/* disturb.c - samples made more like measured tables: noise, a small part of the range; see gen.h.
 */
#include <math.h>

#include "base/numbers.h"
#include "data/gen.h"
#include "data/tokens.h"
#include "expr/vec.h"

#define DECADES 1.5 /* the smallest part is 10^-1.5 of the range */

const double *data_noisy(const double *y, size_t n, double level, rng *r, arena *a)
{
    size_t pairs = (n + 1) / 2;
    double *g = arena_array(a, 2 * pairs, sizeof *g);
    if (!g)
        return NULL;
    rng_fill_uniform(r, g, 2 * pairs);
    expr_vec_best()->gauss(g, pairs);
    double deviation = numbers_deviation(y, n);
    for (size_t i = 0; i < n; i++)
        g[i] = y[i] + (level > 0 ? level * deviation * g[i] : 0);
    return data_values_fit(g, n) ? g : y; /* beyond the tokens: as it was */
}

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
static snip_code look_closer(expr *out, expr *plain, const data_sample *s, size_t row, rng *r,
                             arena *a)
{
    size_t dim = (size_t)s->dim;
    expr *by = arena_array(a, dim, sizeof *by);
    for (size_t j = 0; j < dim && by; j++) {
        by[j] = expr_affine(s->x[j][row], pow(10, -DECADES * rng_uniform(r)), j, a);
        if (!by[j].node)
            by = NULL;
    }
    if (!by)
        return SNIP_NOMEM;
    *plain = expr_substitute(s->e, by, dim, a);
    return plain->node ? expr_tidy(out, *plain, a, NULL) : SNIP_NOMEM;
}

snip_code data_sample_zoom(data_sample *s, rng *r, arena *a)
{
    size_t n = s->points;
    expr e, plain;
    double *y = arena_array(a, n, sizeof *y);
    if (!y)
        return SNIP_NOMEM;
    snip_code code = look_closer(&e, &plain, s, rng_below(r, (uint32_t)n), r, a);
    if (code == SNIP_NOMEM)
        return code;
    int good = code == SNIP_OK && data_tokens_count(e) <= DATA_SEQUENCE_MAX
                   ? expr_eval_strict(e, s->x, n, y, a)
                   : 0;
    if (good < 0)
        return SNIP_NOMEM;
    if (good && data_values_fit(y, n) && varies(y, n) && expr_inputs(e) == (size_t)s->dim) {
        s->e = e;
        s->plain = plain;
        s->y = y;
    }
    return SNIP_OK;
}
