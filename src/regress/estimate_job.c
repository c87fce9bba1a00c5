/* estimate_job.c - see estimate_int.h: the law and the rows made ready, and fitted. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "regress/estimate_int.h"

static const double SPREAD = 3;      /* of the starts of a parameter of which nothing is known */
static const double MARGIN = 1e-9;   /* another minimum must be better by this: no mere rounding */
static const double LARGEST = 1e150; /* of the target: its square must be a number */

double regress_first_start(const regress_parameter *p)
{
    if (!isnan(p->start))
        return p->start;
    if (p->low <= 1 && p->high >= 1)
        return 1;
    if (isinf(p->high))
        return p->low + fmax(1, fabs(p->low));
    if (isinf(p->low))
        return p->high - fmax(1, fabs(p->high));
    return p->low + (p->high - p->low) / 2;
}

static snip_code check_parameter(const regress_parameter *p, snip_status *st)
{
    if (p->fixed && isnan(p->start))
        return status_fail(st, SNIP_FORMAT, 0, "%.60s is fixed, but at which value?", p->name);
    if (!isnan(p->start) && !isfinite(p->start))
        return status_fail(st, SNIP_FORMAT, 0, "%.60s does not start at a finite number", p->name);
    if (!(p->low < p->high))
        return status_fail(st, SNIP_FORMAT, 0,
                           "bounds of %.60s: the lower one, %g, is not below the upper one, %g",
                           p->name, p->low, p->high);
    if (p->start < p->low || p->start > p->high)
        return status_fail(st, SNIP_FORMAT, 0, "%.60s starts at %g, outside its bounds %g to %g",
                           p->name, p->start, p->low, p->high);
    return SNIP_OK;
}

/* Sets the job's formula and what of it varies. */
snip_code regress_job_prepare_law(regress_job *j, snip_status *st)
{
    const regress_law *law = j->law;
    size_t n = law->params, used = 0, known = 0;
    size_t *node = arena_array(j->a, law->e.count, sizeof *node);
    size_t *first = arena_array(j->a, n + 1, sizeof *first);
    double *numbers = arena_array(j->a, 3 * n + 1, sizeof *numbers);
    j->which = arena_array(j->a, n + 1, sizeof *j->which);
    j->e =
        (expr){ arena_copy(j->a, law->e.node, law->e.count * sizeof *law->e.node), law->e.count };
    if (!node || !first || !numbers || !j->which || !j->e.node)
        return status_nomem(st);
    double *low = numbers, *high = numbers + n, *spread = numbers + 2 * n;
    regress_fit_free *f = &j->free;
    *f = (regress_fit_free){ .node = node, .first = first, .spread = spread, .margin = MARGIN };
    for (size_t k = 0; k < n; k++) {
        const regress_parameter *p = &law->param[k];
        snip_code code = check_parameter(p, st);
        if (code != SNIP_OK)
            return code;
        for (size_t i = 0; i < law->e.count; i++)
            if (law->e.node[i].op == EXPR_VARIABLE && law->e.node[i].var == law->inputs + k) {
                j->e.node[i] =
                    (expr_node){ .op = EXPR_NUMBER, .len = 1, .value = regress_first_start(p) };
                if (!p->fixed)
                    node[used++] = i;
            }
        if (p->fixed)
            continue;
        first[f->count + 1] = used;
        j->which[f->count] = k;
        low[f->count] = p->low;
        high[f->count] = p->high;
        spread[f->count++] = isnan(p->start) ? SPREAD : 1;
        known += !isnan(p->start);
        if (isfinite(p->low) || isfinite(p->high)) {
            f->low = low;
            f->high = high;
        }
    }
    first[0] = 0;
    if (f->count == 0)
        return status_fail(st, SNIP_FORMAT, 0, "the formula has no parameters to fit%s",
                           n ? ": all are fixed" : "");
    if (j->starts <= 0)
        j->starts = known == f->count ? REGRESS_STARTS_GIVEN : REGRESS_STARTS_UNKNOWN;
    return SNIP_OK;
}

/* Whether the target and what weighs it can be squared. */
snip_code regress_check_rows(const regress_estimate_data *d, snip_status *st)
{
    const double *given = d->sigma ? d->sigma : d->weight;
    double big = 0, most = 0;
    for (size_t i = 0; i < d->rows; i++)
        big = fmax(big, fabs(d->y[i]));
    if (!(big <= LARGEST) || (big > 0 && big < 1 / LARGEST))
        return status_fail(st, SNIP_FORMAT, 0, "the target's squares are too %s: take another unit",
                           big < 1 ? "small" : "large");
    for (size_t i = 0; i < d->rows && given; i++) {
        if (!isfinite(given[i]) || given[i] < 0 || (d->sigma && given[i] == 0))
            return status_fail(st, SNIP_FORMAT, 0, "row %zu: a %s of %g; it must be %s", i + 1,
                               d->sigma ? "sigma" : "weight", given[i],
                               d->sigma ? "above 0" : "0 or more");
        most = fmax(most, given[i]);
        if (given[i] > 0 && !(given[i] <= LARGEST && given[i] >= 1 / LARGEST))
            return status_fail(
                st, SNIP_FORMAT, 0, "row %zu: a %s of %g is too %s: take another unit", i + 1,
                d->sigma ? "sigma" : "weight", given[i], given[i] > 1 ? "large" : "small");
    }
    if (given && most == 0)
        return status_fail(st, SNIP_FORMAT, 0, "all weights are 0");
    return SNIP_OK;
}

/* The rows at[0..n) of v. */
static const double *chosen(const double *v, const int *at, size_t n, arena *a)
{
    double *out = v ? arena_array(a, n, sizeof *out) : NULL;
    for (size_t i = 0; i < n && out; i++)
        out[i] = v[at[i]];
    return out;
}

/* The data of the rows at[0..n). Returns 0 when memory is out. */
int regress_choose_rows(regress_estimate_data *out, const regress_estimate_data *d, size_t inputs,
                        const int *at, size_t n, arena *a)
{
    const double **x = arena_array(a, inputs + 1, sizeof *x);
    if (!x)
        return 0;
    for (size_t k = 0; k < inputs; k++)
        if (!(x[k] = chosen(d->x[k], at, n, a)))
            return 0;
    *out = (regress_estimate_data){ .x = x, .rows = n };
    out->y = chosen(d->y, at, n, a);
    out->weight = chosen(d->weight, at, n, a);
    out->sigma = chosen(d->sigma, at, n, a);
    return out->y && (!d->weight || out->weight) && (!d->sigma || out->sigma);
}

/* Leaves out rows of weight 0 and sets the weights of the others. */
static snip_code prepare_rows(regress_job *j, snip_status *st)
{
    regress_estimate_data *d = &j->d;
    const double *given = d->sigma ? d->sigma : d->weight;
    if (!given)
        return SNIP_OK;
    const regress_estimate_data all = *d;
    int *at = arena_array(j->a, d->rows, sizeof *at);
    size_t kept = 0;
    for (size_t i = 0; i < d->rows && at; i++)
        if (given[i] > 0)
            at[kept++] = (int)i;
    if (!at || (kept < all.rows && !regress_choose_rows(d, &all, j->law->inputs, at, kept, j->a)))
        return status_nomem(st);
    given = d->sigma ? d->sigma : d->weight;
    double *weight = arena_array(j->a, d->rows, sizeof *weight), most = 0, sum = 0;
    double *root = arena_array(j->a, d->rows, sizeof *root);
    if (!weight || !root)
        return status_nomem(st);
    for (size_t i = 0; i < d->rows; i++) {
        root[i] = d->sigma ? 1 / given[i] : sqrt(given[i]);
        most = fmax(most, root[i]);
    }
    for (size_t i = 0; i < d->rows; i++)
        sum += weight[i] = (root[i] / most) * (root[i] / most);
    for (size_t i = 0; i < d->rows; i++)
        weight[i] *= (double)d->rows / sum;
    j->weight = weight;
    j->root = root;
    return SNIP_OK;
}

snip_code regress_job_prepare(regress_job *j, snip_status *st)
{
    snip_code code = regress_job_prepare_law(j, st);
    if (code == SNIP_OK)
        code = prepare_rows(j, st);
    if (code == SNIP_OK && j->d.rows < j->free.count)
        return status_fail(st, SNIP_FORMAT, 0, "%zu parameter%s cannot be fitted to %zu row%s",
                           j->free.count, text_plural(j->free.count), j->d.rows,
                           text_plural(j->d.rows));
    size_t places = code == SNIP_OK ? j->free.first[j->free.count] : 0;
    if (places &&
        (j->free.count > REGRESS_FIT_CONSTANTS_MAX || j->d.rows > REGRESS_FIT_NUMBERS_MAX / places))
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "%zu parameters at %zu places on %zu rows are too many to fit",
                           j->free.count, places, j->d.rows);
    return code;
}

/* Why there is no start: the rows where the formula is not finite. */
static snip_code not_finite(const regress_job *j, snip_status *st)
{
    double *value = arena_array(j->a, j->d.rows, sizeof *value);
    size_t finite = value ? expr_eval(j->e, j->d.x, j->d.rows, value, j->a) : (size_t)-1;
    if (finite == (size_t)-1)
        return status_nomem(st);
    if (finite == j->d.rows)
        return status_fail(st, SNIP_FORMAT, 0,
                           "the formula's values are too large at the starting values and at the "
                           "others tried");
    return status_fail(
        st, SNIP_FORMAT, 0,
        "the formula is not finite at the starting values in %zu of %zu row%s, nor at "
        "the others tried",
        j->d.rows - finite, j->d.rows, text_plural(j->d.rows));
}

snip_code regress_job_fit(const regress_job *j, expr *fitted, regress_fit *result, snip_status *st)
{
    snip_code code = regress_fit_values(fitted, result, j->e, &j->free, j->weight, j->d.x, j->d.y,
                                        j->d.rows, j->starts, j->seed, j->a, st);
    if (code == SNIP_OK && !(result->loss < INFINITY))
        return not_finite(j, st);
    return code;
}

void regress_job_set(const regress_job *j, const double *at)
{
    for (size_t k = 0; k < j->free.count; k++)
        for (size_t i = j->free.first[k]; i < j->free.first[k + 1]; i++)
            j->e.node[j->free.node[i]].value = at[k];
}

/* sum(weight * (value - y)^2); +inf where not finite. */
double regress_job_squares(const regress_job *j, const double *value)
{
    double sum = 0, rest = 0; /* with what rounding takes from each addition */
    for (size_t i = 0; i < j->d.rows; i++) {
        double r = (value[i] - j->d.y[i]) * (j->root ? j->root[i] : 1);
        double term = r * r - rest, next = sum + term;
        rest = (next - sum) - term;
        sum = next;
    }
    return sum < INFINITY ? sum : INFINITY;
}
