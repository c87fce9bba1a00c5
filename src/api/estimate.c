/* estimate.c - the public face of fit-constants: the parameters of a given law, with errors. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_int.h"
#include "regress/estimate.h"

struct snip_estimate {
    arena *a;
    regress_law law;
    regress_estimate r;
    snip_estimated *param;
    snip_quality quality;
    snip_expr *formula;
};

/* The names of the table's columns: its own, or x0, x1, ... NULL when memory is out. */
static const char *const *columns_of(const snip_table *t, arena *a)
{
    enum { LONGEST = 24 };
    const char **names = arena_array(a, t->inputs + 1, sizeof *names);
    char *usual = arena_array(a, t->inputs + 1, LONGEST);
    for (size_t j = 0; j < t->inputs && names && usual; j++) {
        snprintf(usual + LONGEST * j, LONGEST, "x%zu", j);
        names[j] = t->names ? t->names[j] : usual + LONGEST * j;
    }
    return usual ? names : NULL;
}

/* What the user knows of the parameters. */
static snip_code set_parameters(regress_law *law, const snip_estimate_options *o, snip_status *st)
{
    for (size_t i = 0; i < o->params; i++) {
        const snip_parameter *from = &o->param[i];
        size_t k = regress_law_find(law, from->name);
        if (k == law->params)
            return status_fail(st, SNIP_FORMAT, i, "the formula has no parameter '%.60s'",
                               from->name);
        regress_parameter *to = &law->param[k];
        int bounded = from->low != 0 || from->high != 0;
        double low = bounded ? from->low : -INFINITY, high = bounded ? from->high : INFINITY;
        if (!(low <= high) || (!isnan(from->start) && !(low <= from->start && from->start <= high)))
            return status_fail(st, SNIP_FORMAT, i, "%.60s starts outside its bounds", from->name);
        if (from->fixed && !isfinite(from->start))
            return status_fail(st, SNIP_FORMAT, i, "%.60s is fixed, but has no value", from->name);
        if (isinf(from->start))
            return status_fail(st, SNIP_FORMAT, i, "%.60s starts at infinity", from->name);
        to->start = isnan(from->start) ? to->start : from->start;
        to->low = low;
        to->high = high;
        to->fixed = from->fixed != 0;
    }
    return SNIP_OK;
}

/* Reads the law and fits it. */
static snip_code estimate(snip_estimate *x, const snip_table *t, const char *formula,
                          const snip_estimate_options *o, snip_status *st)
{
    const char *const *names = columns_of(t, x->a);
    const char **given = arena_array(x->a, o->params + 1, sizeof *given);
    const double **column = arena_array(x->a, t->inputs + 1, sizeof *column);
    if (!names || !given || !column)
        return status_nomem(st);
    for (size_t i = 0; i < o->params; i++)
        given[i] = o->param[i].name;
    snip_code code = api_check_names(given, o->params, st);
    const expr_names columns = { names, t->inputs }, known = { given, o->params };
    const regress_numbers numbers = o->numbers == SNIP_NUMBERS_FIXED ? REGRESS_NUMBERS_FIXED
                                    : o->numbers == SNIP_NUMBERS_ALL ? REGRESS_NUMBERS_ALL
                                                                     : REGRESS_NUMBERS_DECIMAL;
    if (code == SNIP_OK)
        code = regress_law_parse(&x->law, formula, &columns, &known, numbers, x->a, st);
    if (code == SNIP_OK)
        code = set_parameters(&x->law, o, st);
    if (code != SNIP_OK)
        return code;
    for (size_t k = 0; k < x->law.inputs; k++)
        column[k] = t->x[x->law.column[k]];
    const regress_estimate_data d = {
        .x = column, .y = t->y, .weight = o->weight, .sigma = o->sigma, .rows = t->rows
    };
    const regress_estimate_how how = { .starts = o->starts,
                                       .seed = t->seed,
                                       .level = o->level > 0 ? o->level : 0.95 };
    return regress_estimate_law(&x->r, &x->law, &d, &how, x->a, st);
}

/* What the caller sees of it. Returns 0 when memory is out. */
static int fill(snip_estimate *x, const char *const *names, size_t inputs)
{
    const regress_estimate *r = &x->r;
    double *value = arena_array(x->a, r->params + 1, sizeof *value);
    x->param = arena_zero(x->a, (r->params + 1) * sizeof *x->param);
    x->formula = api_expr_new(names, inputs);
    if (!value || !x->param || !x->formula)
        return 0;
    for (size_t k = 0; k < r->params; k++) {
        const regress_estimated *e = &r->param[k];
        value[k] = e->value;
        x->param[k] = (snip_estimated){ .name = x->law.param[k].name,
                                        .value = e->value,
                                        .error = e->error,
                                        .low = e->low,
                                        .high = e->high,
                                        .state = regress_state_names[e->state] };
    }
    x->quality = (snip_quality){ .rows = r->rows,
                                 .freedom = r->freedom,
                                 .rss = r->rss,
                                 .deviation = r->deviation,
                                 .chance = r->chance,
                                 .r2 = r->r2,
                                 .aic = r->aic,
                                 .bic = r->bic,
                                 .settled = r->settled,
                                 .note = r->note };
    expr e = regress_law_with(&x->law, value, 0, x->a);
    x->formula->e =
        (expr){ e.node ? arena_copy(x->formula->a, e.node, e.count * sizeof *e.node) : NULL,
                e.count };
    for (size_t i = 0; i < e.count && x->formula->e.node; i++)
        if (e.node[i].op == EXPR_VARIABLE) /* the law counts the columns that it uses */
            x->formula->e.node[i].var = (uint16_t)x->law.column[e.node[i].var];
    return x->formula->e.node != NULL;
}

snip_code snip_estimate_law(snip_estimate **out, const snip_table *t, const char *formula,
                            const snip_estimate_options *options, snip_status *st)
{
    static const snip_estimate_options usual = { 0 };
    const snip_estimate_options *o = options ? options : &usual;
    snip_code code = API_MAKE(out, st, { !t, "the table" }, { !formula, "the formula" },
                              { o->params && !o->param, "the list of parameters" });
    if (code == SNIP_OK)
        code = api_check_table(t, st);
    if (code != SNIP_OK)
        return code;
    if (o->weight && o->sigma)
        return status_fail(st, SNIP_FORMAT, 0, "rows have weights or sigmas, not both");
    if (!(o->level >= 0 && o->level < 1))
        return status_fail(st, SNIP_FORMAT, 0, "the level of the intervals lies between 0 and 1");
    snip_estimate *x = calloc(1, sizeof *x);
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); /* formulas are text */
    if (!x || !plain || !(x->a = arena_new(0))) {
        code = status_nomem(st);
    } else {
        locale_t before = uselocale(plain);
        code = estimate(x, t, formula, o, st);
        const char *const *names = columns_of(t, x->a);
        if (code == SNIP_OK && (!names || !fill(x, names, t->inputs)))
            code = status_nomem(st);
        uselocale(before);
    }
    if (plain)
        freelocale(plain);
    if (code == SNIP_OK)
        *out = x;
    else
        snip_estimate_free(x);
    return code;
}

size_t snip_estimate_count(const snip_estimate *x)
{
    return x ? x->r.params : 0;
}

const snip_estimated *snip_estimate_at(const snip_estimate *x, size_t i)
{
    return x && i < x->r.params ? &x->param[i] : NULL;
}

double snip_estimate_correlation(const snip_estimate *x, size_t i, size_t j)
{
    size_t n = snip_estimate_count(x);
    return i < n && j < n ? x->r.correlation[i * n + j] : NAN;
}

const snip_quality *snip_estimate_quality(const snip_estimate *x)
{
    return x ? &x->quality : NULL;
}

const snip_expr *snip_estimate_formula(const snip_estimate *x)
{
    return x ? x->formula : NULL;
}

void snip_estimate_free(snip_estimate *x)
{
    if (!x)
        return;
    snip_expr_free(x->formula);
    arena_free(x->a);
    free(x);
}
