/* estimate_judge.c - see estimate.h: standard errors, intervals, what is not determined, and how
 * well the law fits. */
#include <cminpack.h>
#include <math.h>
#include <string.h>

#include "base/special.h"
#include "base/text.h"
#include "regress/estimate_int.h"

const char *const regress_state_names[] = { "free", "fixed", "at lower bound", "at upper bound",
                                            "undetermined" };

static const double PART = 1e-7;    /* of a dependence: what is less is rounding */
static const double SETTLED = 1e-4; /* distance to the minimum in standard errors */

/* inverse[row * n + k]: R^-1 of the leading columns. */
static void invert(double *inverse, const regress_linear *l)
{
    size_t n = l->rank;
    memset(inverse, 0, n * n * sizeof *inverse);
    for (size_t k = 0; k < n; k++)
        for (size_t row = k + 1; row-- > 0;) {
            double v = row == k;
            for (size_t c = row + 1; c <= k; c++)
                v -= regress_linear_r(l, row, c) * inverse[c * n + k];
            inverse[row * n + k] = v / regress_linear_r(l, row, row);
        }
}

static void add_names(text *t, const regress_job *j, const int *group, int which)
{
    size_t count = 0, seen = 0;
    for (size_t k = 0; k < j->free.count; k++)
        count += group[k] == which;
    for (size_t k = 0; k < j->free.count; k++)
        if (group[k] == which) {
            text_add(t, "%s%.60s",
                     seen == 0           ? ""
                     : seen + 1 == count ? " and "
                                         : ", ",
                     j->law->param[j->which[k]].name);
            seen++;
        }
}

/* Finds the parameters that the data cannot tell apart: those in the dependences between the
 * columns of J. group[k] is the number of the group that parameter k belongs to, 0 for none.
 * Returns how many groups there are. */
static int find_dependences(int *group, const regress_linear *l)
{
    int groups = 0;
    memset(group, 0, l->n * sizeof *group);
    for (size_t d = l->rank; d < l->n; d++) {
        size_t place = (size_t)l->pivot[d] - 1;
        if (!l->active[place])
            continue;
        int now = ++groups;
        group[place] = now;
        for (size_t k = l->rank; k-- > 0;) { /* the column as a sum of those before */
            double v = regress_linear_r(l, k, d);
            for (size_t c = k + 1; c < l->rank; c++)
                v -= regress_linear_r(l, k, c) * l->wa[c];
            l->wa[k] = v / regress_linear_r(l, k, k);
        }
        for (size_t k = 0; k < l->rank; k++) {
            int old = group[l->pivot[k] - 1];
            if (fabs(l->wa[k]) <= PART || old == now)
                continue;
            for (size_t i = 0; i < l->n && old; i++) /* two groups that meet are one */
                if (group[i] == old)
                    group[i] = now;
            group[l->pivot[k] - 1] = now;
        }
    }
    return groups;
}

/* The line on what is not determined; *out is NULL if all is. Returns 0 when memory is out. */
static int explain_dependences(const char **out, const regress_job *j, const regress_linear *l,
                               const int *group, int groups)
{
    text t = { .a = j->a };
    for (int g = 1; g <= groups; g++) {
        size_t members = 0;
        for (size_t k = 0; k < l->n; k++)
            members += group[k] == g;
        if (members == 0)
            continue; /* joined with another */
        text_add(&t, "%s", t.length ? "; " : "");
        add_names(&t, j, group, g);
        text_add(&t, members == 1 ? " does not change the formula's values on these data"
                                  : " cannot be told apart from these data");
    }
    if (l->bad_row < l->m)
        text_add(&t, "%sno standard errors: the derivative by %.60s is not finite in some row",
                 t.length ? "; " : "", j->law->param[l->bad_param].name);
    *out = t.length ? text_end(&t) : NULL;
    return !t.failed;
}

/* Values, states, errors, intervals and correlations. */
static void judge_parameters(regress_estimate *r, const regress_job *j, const regress_linear *l,
                             const double *at, const int *group, const double *inverse)
{
    size_t n = r->params, rank = l->rank;
    double s = j->d.sigma ? 1 : r->deviation;
    for (size_t k = 0; k < n; k++) {
        const regress_parameter *p = &j->law->param[k];
        r->param[k] = (regress_estimated){ .value = p->start,
                                           .start = regress_first_start(p),
                                           .error = NAN,
                                           .low = NAN,
                                           .high = NAN,
                                           .t = NAN,
                                           .state = REGRESS_FIXED };
    }
    for (size_t k = 0; k < n * n; k++)
        r->correlation[k] = NAN;
    for (size_t k = 0; k < l->n; k++) {
        regress_estimated *e = &r->param[j->which[k]];
        e->value = at[k];
        e->state = l->active[k]              ? group[k] ? REGRESS_UNKNOWN : REGRESS_FITTED
                   : at[k] <= j->free.low[k] ? REGRESS_AT_LOW
                                             : REGRESS_AT_HIGH;
    }
    if (l->bad_row < l->m)
        return;
    for (size_t k = 0; k < rank; k++) {
        size_t place = (size_t)l->pivot[k] - 1;
        regress_estimated *e = &r->param[j->which[place]];
        if (e->state != REGRESS_FITTED)
            continue;
        e->error = s * enorm((int)(rank - k), inverse + k * rank + k) / l->length[place];
        e->low = e->value - r->quantile * e->error;
        e->high = e->value + r->quantile * e->error;
        e->t = e->value / e->error;
        for (size_t c = 0; c <= k; c++) {
            size_t other = (size_t)l->pivot[c] - 1;
            if (r->param[j->which[other]].state != REGRESS_FITTED)
                continue;
            const double *a = inverse + k * rank, *b = inverse + c * rank;
            double product = 0;
            for (size_t i = k; i < rank; i++)
                product += a[i] * b[i];
            product /= enorm((int)rank, a) * enorm((int)rank, b);
            product = c == k ? 1 : fmin(1, fmax(-1, product));
            r->correlation[j->which[place] * n + j->which[other]] = product;
            r->correlation[j->which[other] * n + j->which[place]] = product;
        }
    }
}

/* The sums over the rows: R^2, likelihood and what comes of it. */
static void judge_fit(regress_estimate *r, const regress_job *j, size_t fitted)
{
    const regress_estimate_data *d = &j->d;
    double sum = 0, weights = 0, spread = 0, logs = 0, n = (double)j->d.rows, k = (double)fitted;
    for (size_t i = 0; i < d->rows; i++) {
        double w = j->weight ? j->weight[i] : 1;
        weights += w;
        sum += w * d->y[i];
        if (j->root)
            logs += 2 * log(j->root[i]);
    }
    for (size_t i = 0; i < d->rows; i++) {
        double off = (d->y[i] - sum / weights) * (j->root ? j->root[i] : 1);
        spread += off * off;
    }
    r->r2 = spread > 0 ? 1 - r->rss / spread : NAN;
    double variance = d->sigma ? 1 : r->rss / n;
    double twice = r->rss / variance + n * log(2 * M_PI * variance) - logs; /* -2 log likelihood */
    if (!d->sigma)
        k++;
    r->aic = variance > 0 ? twice + 2 * k : NAN;
    r->bic = variance > 0 ? twice + k * log(n) : NAN;
}

/* Half widths of the intervals of the mean, from derivatives by columns of `stride` rows. */
static void widths(double *band, const regress_estimate *r, const double *slope, size_t stride,
                   size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t k = 0; k < r->rank; k++) {
            double v = 0;
            for (size_t c = 0; c <= k; c++)
                v += slope[c * stride + i] * r->spread[c * r->rank + k];
            sum = hypot(sum, v);
        }
        band[i] = r->rank && !isnan(r->spread[0]) ? sum : NAN;
    }
}

/* The derivatives of the law by the parameters of r's basis, by columns of `rows`. Returns 0 when
 * memory is out. */
static int basis_slopes(double *out, double *value, expr e, const regress_law *law,
                        const regress_estimate *r, const double *const *x, size_t rows, arena *tmp)
{
    size_t *node = arena_array(tmp, e.count, sizeof *node);
    if (!node)
        return 0;
    for (size_t k = 0; k < r->rank; k++) {
        size_t used = 0;
        for (size_t i = 0; i < e.count; i++)
            if (law->e.node[i].op == EXPR_VARIABLE &&
                law->e.node[i].var == law->inputs + r->basis[k])
                node[used++] = i;
        double *slopes = arena_array(tmp, used * rows, sizeof *slopes);
        if (!slopes || !expr_gradient(e, x, rows, node, used, value, slopes, tmp))
            return 0;
        memcpy(out + k * rows, slopes, rows * sizeof *out);
        for (size_t s = 1; s < used; s++)
            for (size_t i = 0; i < rows; i++)
                out[k * rows + i] += slopes[s * rows + i];
    }
    return 1;
}

int regress_estimate_at(const regress_estimate *r, const regress_law *law, const double *const *x,
                        size_t rows, double *value, double *band, arena *tmp)
{
    enum { BLOCK = 4096 };
    arena_pos mark = arena_mark(tmp);
    expr e = { arena_copy(tmp, law->e.node, law->e.count * sizeof *law->e.node), law->e.count };
    const double **part = arena_array(tmp, law->inputs + 1, sizeof *part);
    size_t most = rows < BLOCK ? rows : BLOCK;
    double *slope = arena_array(tmp, (r->rank + 1) * most, sizeof *slope);
    int good = e.node && part && slope;
    for (size_t i = 0; i < e.count && good; i++)
        if (e.node[i].op == EXPR_VARIABLE && e.node[i].var >= law->inputs) {
            double v = r->param[e.node[i].var - law->inputs].value;
            e.node[i] = (expr_node){ .op = EXPR_NUMBER, .len = 1, .value = v };
        }
    for (size_t from = 0; from < rows && good; from += BLOCK) {
        arena_pos inner = arena_mark(tmp);
        size_t n = rows - from < BLOCK ? rows - from : BLOCK;
        for (size_t k = 0; k < law->inputs; k++)
            part[k] = x[k] + from;
        good = expr_eval(e, part, n, value + from, tmp) != (size_t)-1 &&
               basis_slopes(slope, value + from, e, law, r, part, n, tmp);
        if (good)
            widths(band + from, r, slope, n, n);
        arena_reset(tmp, inner);
    }
    arena_reset(tmp, mark);
    return good;
}

/* Fewest digits that keep the sum of squares, or 17. -1 when memory is out. */
static int digits_needed(const regress_estimate *r, const regress_job *j)
{
    double *value = arena_array(j->a, j->law->params + 1, sizeof *value);
    double *y = arena_array(j->a, j->d.rows, sizeof *y);
    if (!value || !y)
        return -1;
    for (size_t k = 0; k < r->params; k++)
        value[k] = r->param[k].value;
    for (int digits = 3; digits < 17; digits++) {
        arena_pos mark = arena_mark(j->a);
        expr e = regress_law_with(j->law, value, digits, j->a);
        size_t finite = e.node ? expr_eval(e, j->d.x, j->d.rows, y, j->a) : (size_t)-1;
        arena_reset(j->a, mark);
        if (finite == (size_t)-1)
            return -1;
        if (finite == j->d.rows && regress_job_squares(j, y) <= r->rss * (1 + 1e-6))
            return digits;
    }
    return 17;
}

/* Values, residuals and intervals of all rows, those of weight 0 as well. Returns 0 when memory is
 * out. */
static int judge_rows(regress_estimate *r, const regress_job *j, const regress_estimate_data *d)
{
    size_t m = d->rows;
    double *numbers = arena_array(j->a, 4 * m, sizeof *numbers);
    if (!numbers)
        return 0;
    r->fitted = numbers;
    r->residual = numbers + m;
    r->band = numbers + 2 * m;
    r->prediction = numbers + 3 * m;
    if (!regress_estimate_at(r, j->law, d->x, m, r->fitted, r->band, j->a))
        return 0;
    for (size_t i = 0; i < m; i++) {
        double s = d->sigma ? d->sigma[i] : r->deviation / (d->weight ? sqrt(d->weight[i]) : 1);
        r->residual[i] = d->y[i] - r->fitted[i];
        r->prediction[i] = hypot(r->band[i], r->quantile * s);
        if (!isfinite(r->prediction[i]))
            r->prediction[i] = NAN;
    }
    return 1;
}

snip_code regress_judge(regress_estimate *r, const regress_job *j, const regress_linear *l,
                        const double *at, const regress_estimate_data *d, double level,
                        snip_status *st)
{
    size_t n = r->params, rank = l->rank;
    int *group = arena_array(j->a, l->n, sizeof *group);
    r->param = arena_array(j->a, n, sizeof *r->param);
    r->correlation = arena_array(j->a, n * n, sizeof *r->correlation);
    r->basis = arena_array(j->a, rank + 1, sizeof *r->basis);
    r->spread = arena_array(j->a, rank * rank + 1, sizeof *r->spread);
    if (!group || !r->param || !r->correlation || !r->basis || !r->spread)
        return status_nomem(st);
    r->rank = rank;
    r->rows = j->d.rows;
    r->freedom = j->d.rows - rank;
    r->rss = l->rss;
    r->deviation = r->freedom ? sqrt(r->rss / (double)r->freedom) : NAN;
    r->quantile = j->d.sigma   ? special_t_quantile(level, INFINITY)
                  : r->freedom ? special_t_quantile(level, (double)r->freedom)
                               : NAN;
    r->chance = j->d.sigma ? special_chi_square_above(r->rss, (double)r->freedom) : NAN;
    invert(r->spread, l);
    int groups = find_dependences(group, l);
    judge_parameters(r, j, l, at, group, r->spread);
    double s = l->bad_row < l->m ? NAN : j->d.sigma ? 1 : r->deviation;
    for (size_t k = 0; k < rank;
         k++) { /* R^-1 in the parameters' own units, times s and quantile */
        size_t place = (size_t)l->pivot[k] - 1;
        r->basis[k] = j->which[place];
        for (size_t c = k; c < rank; c++)
            r->spread[k * rank + c] *= s * r->quantile / l->length[place];
    }
    judge_fit(r, j, rank);
    r->settled = l->offset <= SETTLED || !(r->rss > 0) || r->freedom == 0;
    if (!explain_dependences(&r->note, j, l, group, groups) || !judge_rows(r, j, d))
        return status_nomem(st);
    r->digits = digits_needed(r, j);
    return r->digits < 0 ? status_nomem(st) : SNIP_OK;
}
