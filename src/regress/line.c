/* line.c - see line.h. */
#include "regress/line.h"

#include <math.h>
#include <string.h>

#include "base/numbers.h"

/* a + b * v for the best a and b; 0 and 1 where there are none. */
static void best_line(double *a, double *b, const double *v, const double *y, size_t n)
{
    double mean = numbers_mean(v, n), mean_y = numbers_mean(y, n), vv = 0, vy = 0;
    for (size_t i = 0; i < n; i++) {
        vv += (v[i] - mean) * (v[i] - mean);
        vy += (v[i] - mean) * (y[i] - mean_y);
    }
    int good = isfinite(vv) && vv > 0 && isfinite(vy / vv);
    *b = good ? vy / vv : 1;
    *a = good ? mean_y - *b * mean : 0;
}

expr regress_line(expr core, double a, double b, arena *to)
{
    enum { MORE = 4 };
    expr e = { arena_zero(to, (core.count + MORE) * sizeof(expr_node)), core.count + MORE };
    if (e.node) {
        e.node[0].op = EXPR_ADD;
        e.node[1].op = e.node[3].op = EXPR_NUMBER;
        e.node[1].value = a;
        e.node[2].op = EXPR_MUL;
        e.node[3].value = b;
        memcpy(e.node + MORE, core.node, core.count * sizeof *core.node);
        expr_measure(e);
    }
    return e;
}

snip_code regress_fit_line(expr *out, expr core, const double *const *x, const double *y,
                           size_t rows, const regress_fit_how *how, arena *a, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    double *v = arena_array(tmp, rows, sizeof *v), from = 0, slope = 1;
    size_t *node = arena_array(tmp, core.count, sizeof *node);
    size_t finite = v && node ? expr_eval(core, x, rows, v, tmp) : (size_t)-1;
    regress_fit fit;
    if (finite == (size_t)-1)
        return SNIP_NOMEM;
    if (finite == rows)
        best_line(&from, &slope, v, y, rows);
    size_t constants = expr_constants(core, node);
    arena_reset(tmp, mark);
    expr e = regress_line(core, from, slope, a);
    if (!e.node)
        return SNIP_NOMEM;
    *out = e;
    if (constants == 0)
        return SNIP_OK;
    snip_code code = regress_fit_weighted(out, &fit, e, NULL, x, y, rows, how, a, NULL);
    if (code == SNIP_UNSUPPORTED)
        *out = e;
    return code == SNIP_NOMEM ? code : SNIP_OK;
}

double regress_digits(expr e, const double *const *x, const double *y, size_t rows, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    double *v = arena_array(tmp, rows, sizeof *v), mean = numbers_mean(y, rows), all = 0, left = 0;
    if (!v || expr_eval(e, x, rows, v, tmp) == (size_t)-1)
        return NAN;
    for (size_t i = 0; i < rows; i++) {
        all += (y[i] - mean) * (y[i] - mean);
        left += (v[i] - y[i]) * (v[i] - y[i]);
    }
    double share = left / all;
    arena_reset(tmp, mark);
    return isfinite(share) ? -log10(fmax(share, pow(10, -REGRESS_DIGITS))) : -INFINITY;
}
