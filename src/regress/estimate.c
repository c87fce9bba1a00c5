/* estimate.c - see estimate.h. */
#include "regress/estimate.h"

#include <math.h>
#include <string.h>

#include "base/streams.h"
#include "base/text.h"
#include "regress/estimate_int.h"

static const double AS_GOOD = 1e-3; /* of rss: with fewer parameters it may be more by this */

/* ---- parameters that the others can stand in for ---- */

/* A point and what it is worth. */
typedef struct outcome {
    double *at, rss; /* rss: +inf where there is none */
    regress_fit fit;
} outcome;

static void take_values(double *at, const regress_job *j, expr fitted)
{
    for (size_t k = 0; k < j->free.count; k++)
        at[k] = fitted.node[j->free.node[j->free.first[k]]].value;
}

/* The sum of squares at a point, or -1 when memory is out. */
static double rss_at(const regress_job *j, const double *at)
{
    arena_pos mark = arena_mark(j->a);
    double *value = arena_array(j->a, j->d.rows, sizeof *value), rss = -1;
    regress_job_set(j, at);
    size_t finite = value ? expr_eval(j->e, j->d.x, j->d.rows, value, j->a) : (size_t)-1;
    if (finite != (size_t)-1)
        rss = finite == j->d.rows ? regress_job_squares(j, value) : INFINITY;
    arena_reset(j->a, mark);
    return rss;
}

/* Fits with the parameters that are dependent in `l` held: at their starts, or at their bounds. */
static snip_code fit_held(outcome *out, const regress_job *j, const regress_linear *l,
                          snip_status *st)
{
    regress_law law = *j->law;
    law.param = arena_copy(j->a, law.param, law.params * sizeof *law.param);
    if (!law.param)
        return status_nomem(st);
    out->rss = INFINITY;
    for (size_t k = l->rank; k < l->n; k++) {
        size_t place = (size_t)l->pivot[k] - 1;
        regress_parameter *p = &law.param[j->which[place]];
        p->start = l->active[place] ? regress_first_start(p) : out->at[place];
        p->fixed = 1;
    }
    regress_job held = { .law = &law, .d = j->d, .starts = j->starts, .seed = j->seed, .a = j->a };
    held.weight = j->weight;
    held.root = j->root;
    expr fitted;
    snip_code code = l->rank ? regress_job_prepare_law(&held, st) : SNIP_FORMAT;
    if (code == SNIP_OK)
        code = regress_job_fit(&held, &fitted, &out->fit, st);
    if (code != SNIP_OK)
        return code == SNIP_NOMEM ? code : SNIP_OK;
    take_values(out->at, j, fitted);
    out->rss = rss_at(j, out->at);
    return out->rss < 0 ? status_nomem(st) : SNIP_OK;
}

/* Whether some parameters are superfluous in the formula itself, not just at one point: at the
 * start and beside it. Leaves `l` at the start. -1 when memory is out. */
static int redundant(regress_linear *l, const regress_job *j, const double *start)
{
    static const double beside[] = { .07, -.11, 0 };
    int always = 1;
    double *at = arena_array(j->a, l->n, sizeof *at);
    if (!at)
        return -1;
    for (size_t turn = 0; turn < sizeof beside / sizeof *beside; turn++) {
        for (size_t k = 0; k < l->n; k++)
            at[k] = start[k] + beside[turn] * (1 + (double)(k * 7 % 5)) * fmax(fabs(start[k]), .01);
        if (!regress_linear_at(l, j, at))
            return -1;
        always &= l->rss < INFINITY && l->bad_row == l->m && l->rank < l->n && l->rank > 0;
    }
    return always;
}

/* Whether the sum of squares there hangs on the last digits of the values: huge ones that cancel.
 */
static int hangs_on_rounding(const regress_job *j, const double *at, double rss, double size)
{
    double *moved = arena_array(j->a, j->free.count, sizeof *moved), most = 0;
    for (int sign = -1; sign <= 1 && moved; sign += 2) {
        for (size_t k = 0; k < j->free.count; k++)
            moved[k] = at[k] * (1 + 1e-14 * (k % 2 ? sign : 1));
        most = fmax(most, fabs(rss_at(j, moved) - rss));
    }
    return !(most <= AS_GOOD * rss + 1e-20 * size * size);
}

/* The best point that the fits find. In a formula with superfluous parameters a fit may leave these
 * anywhere: huge values that cancel, and with them the digits. So there it is first done with some
 * of them held, and the free fit must be better, and not by rounding, to be taken instead. */
static snip_code find_best(outcome *out, regress_linear *l, const regress_job *j, snip_status *st)
{
    expr fitted;
    outcome full = { .at = arena_array(j->a, l->n, sizeof(double)), .rss = INFINITY };
    if (!full.at)
        return status_nomem(st);
    take_values(full.at, j, j->e);
    memcpy(out->at, full.at, l->n * sizeof *out->at);
    int superfluous = redundant(l, j, full.at);
    regress_job_set(j, out->at); /* the start again */
    if (superfluous < 0)
        return status_nomem(st);
    out->rss = INFINITY;
    snip_code code = superfluous ? fit_held(out, j, l, st) : SNIP_OK;
    if (code != SNIP_OK)
        return code;
    regress_job_set(j, full.at);
    code = regress_job_fit(j, &fitted, &full.fit, st);
    if (code == SNIP_NOMEM || (code != SNIP_OK && !(out->rss < INFINITY)))
        return code;
    if (code != SNIP_OK)
        return SNIP_OK;
    take_values(full.at, j, fitted);
    full.rss = rss_at(j, full.at);
    if (full.rss < 0)
        return status_nomem(st);
    if (!superfluous || !(out->rss < INFINITY) ||
        (full.rss < out->rss * (1 - 1e-6) && !hangs_on_rounding(j, full.at, full.rss, l->size)))
        *out = full;
    return SNIP_OK;
}

snip_code regress_estimate_law(regress_estimate *out, const regress_law *law,
                               const regress_estimate_data *d, const regress_estimate_how *how,
                               arena *a, snip_status *st)
{
    regress_job j = { .law = law, .d = *d, .starts = how->starts, .seed = how->seed, .a = a };
    regress_linear l;
    *out = (regress_estimate){ .params = law->params };
    snip_code code = regress_check_rows(d, st);
    if (code == SNIP_OK)
        code = regress_job_prepare(&j, st);
    if (code != SNIP_OK)
        return code;
    outcome best = { .at = arena_array(a, j.free.count, sizeof(double)) };
    char *active = arena_alloc(a, j.free.count);
    if (!best.at || !active || !regress_linear_make(&l, &j))
        return status_nomem(st);
    memset(active, 1, j.free.count);
    l.active = active;
    code = find_best(&best, &l, &j, st);
    if (code != SNIP_OK)
        return code;
    size_t varied = 0;
    regress_linear_mark(active, &j, best.at);
    for (size_t k = 0; k < l.n; k++)
        varied += active[k];
    if (!regress_linear_at(&l, &j, best.at))
        return status_nomem(st);
    if (l.rank < varied) { /* at this point, if not everywhere */
        outcome held = { .at = arena_copy(a, best.at, l.n * sizeof(double)) };
        if (!held.at)
            return status_nomem(st);
        code = fit_held(&held, &j, &l, st);
        if (code != SNIP_OK)
            return code;
        if (held.rss <= best.rss * (1 + AS_GOOD))
            memcpy(best.at, held.at, l.n * sizeof(double));
        regress_linear_mark(active, &j, best.at);
    }
    if (!regress_linear_polish(best.at, &l, &j))
        return status_nomem(st);
    if (!(l.rss < INFINITY))
        return status_fail(st, SNIP_FORMAT, 0, "the sum of squares is too large: take other units");
    out->starts = best.fit.starts;
    out->reached = best.fit.reached;
    out->from = best.fit.from;
    return regress_judge(out, &j, &l, best.at, d, how->level, st);
}

/* ---- judged by rows that were not fitted ---- */

/* Fits the law to the rows at[0..fit) and adds the squares on the others, by weight, to sum[0], and
 * their weights to sum[1]. */
static snip_code judge_part(double sum[2], const regress_law *law, const regress_estimate_data *d,
                            const regress_estimate_how *how, const int *at, size_t fit, arena *a,
                            snip_status *st)
{
    regress_job j = { .law = law, .starts = how->starts, .seed = how->seed, .a = a };
    regress_fit result;
    expr fitted;
    if (!regress_choose_rows(&j.d, d, law->inputs, at, fit, a))
        return status_nomem(st);
    snip_code code = regress_job_prepare(&j, st);
    if (code == SNIP_OK)
        code = regress_job_fit(&j, &fitted, &result, st);
    if (code != SNIP_OK)
        return code;
    regress_estimate_data held;
    size_t n = d->rows - fit;
    double *value = arena_array(a, n, sizeof *value);
    if (!value || !regress_choose_rows(&held, d, law->inputs, at + fit, n, a) ||
        expr_eval(fitted, held.x, n, value, a) == (size_t)-1)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++) {
        double w = held.sigma    ? 1 / held.sigma[i] / held.sigma[i]
                   : held.weight ? held.weight[i]
                                 : 1;
        if (w > 0) {
            sum[0] += w * (value[i] - held.y[i]) * (value[i] - held.y[i]);
            sum[1] += w;
        }
    }
    return SNIP_OK;
}

/* The spread of y around its mean over the rows at[0..n), by weight. */
static double spread_of(const regress_estimate_data *d, const int *at, size_t n)
{
    double mean = 0, weights = 0, sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < n; k++) {
            size_t i = (size_t)at[k];
            double w = d->sigma ? 1 / d->sigma[i] / d->sigma[i] : d->weight ? d->weight[i] : 1;
            if (pass == 0) {
                weights += w;
                mean += w > 0 ? (d->y[i] - mean) * (w / weights) : 0;
            } else {
                sum += w * (d->y[i] - mean) * (d->y[i] - mean);
            }
        }
    return sum;
}

snip_code regress_validate_law(regress_validation *out, const regress_law *law,
                               const regress_estimate_data *d, const regress_estimate_how *how,
                               double share, size_t folds, arena *a, snip_status *st)
{
    snip_code code = regress_check_rows(d, st);
    if (code != SNIP_OK)
        return code;
    int *order = arena_array(a, d->rows, sizeof *order);
    int *turned = arena_array(a, d->rows, sizeof *turned);
    if (!order || !turned)
        return status_nomem(st);
    for (size_t i = 0; i < d->rows; i++)
        order[i] = (int)i;
    rng r;
    streams_rng(&r, how->seed, STREAMS_ROWS_HELD_OUT, 0);
    rng_shuffle(&r, order, (int)d->rows);
    size_t held = (size_t)(share * (double)d->rows + .5), parts = share > 0 ? 1 : folds;
    if (share > 0 && (held == 0 || held == d->rows))
        return status_fail(st, SNIP_FORMAT, 0, "a share of %g holds out %zu of %zu row%s", share,
                           held, d->rows, text_plural(d->rows));
    if (share <= 0 && folds > d->rows)
        return status_fail(st, SNIP_FORMAT, 0, "%zu row%s cannot be divided into %zu parts",
                           d->rows, text_plural(d->rows), folds);
    double sum[2] = { 0, 0 };
    for (size_t p = 0; p < parts; p++) {
        size_t from = share > 0 ? 0 : p * d->rows / parts;
        size_t to = share > 0 ? held : (p + 1) * d->rows / parts;
        size_t fit = d->rows - (to - from);
        memcpy(turned, order, from * sizeof *order);
        memcpy(turned + from, order + to, (d->rows - to) * sizeof *order);
        memcpy(turned + fit, order + from, (to - from) * sizeof *order);
        arena_pos mark = arena_mark(a);
        code = judge_part(sum, law, d, how, turned, fit, a, st);
        arena_reset(a, mark);
        if (code != SNIP_OK)
            return code;
    }
    out->rows = share > 0 ? held : d->rows;
    double spread = spread_of(d, order, out->rows);
    out->error = isfinite(sum[0]) ? sqrt(sum[0] / sum[1]) : NAN;
    out->r2 = isfinite(sum[0]) && spread > 0 ? 1 - sum[0] / spread : NAN;
    return SNIP_OK;
}
