/* estimate_json.c - a fitted law as text and JSON. See results.h. */
#include <math.h>

#include "regress/results.h"

const char *regress_fitted_formula(const regress_fitted *f, snip_format format, int rounded)
{
    double *value = arena_array(f->a, f->law->params + 1, sizeof *value);
    for (size_t k = 0; k < f->law->params && value; k++)
        value[k] = f->r->param[k].value;
    expr e = { 0 };
    if (value)
        e = regress_law_with(f->law, value, rounded ? f->r->digits : 0, f->a);
    const expr_names inputs = { f->law->names.name, f->law->inputs };
    const char *s = e.node ? expr_print(e, format, &inputs, 0, f->a) : NULL;
    return s ? s : "";
}

const char *regress_fitted_note(const regress_fitted *f, int k)
{
    const regress_estimate *r = f->r;
    text t = { .a = f->a };
    size_t unknown = 0;
    for (size_t j = 0; j < r->params; j++)
        if (r->param[j].state != REGRESS_FIXED && isnan(f->law->param[j].start))
            text_add(&t, "%s%s", unknown++ ? ", " : "", f->law->param[j].name);
    text_add(&t,
             ": no starting value was given, so the search began as shown and at %d drawn points",
             r->starts - 1);
    const char *names = text_end(&t);
    const char *const all[] = {
        r->note,
        unknown && r->starts > 1 ? names : NULL, /* a linear law needs one start, any */
        !r->settled ? "the search ended before a minimum was reached: try other starting values"
                    : NULL,
        r->from > 0 && !unknown
            ? "the first start leads to a worse minimum, another one led to this"
            : NULL,
        r->freedom == 0 ? "as many parameters as rows: the fit says nothing about their errors"
                        : NULL,
        f->law->inputs == 0 ? "the formula uses no column of the table" : NULL,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && k-- == 0)
            return all[i];
    return NULL;
}

static json_t *parameter_json(const regress_fitted *f, size_t k)
{
    const regress_estimated *e = &f->r->param[k];
    const regress_parameter *p = &f->law->param[k];
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:s}", "name", text_json(p->name),
                     "estimate", text_json_real(e->value), "std_error", text_json_real(e->error),
                     "low", text_json_real(e->low), "high", text_json_real(e->high), "t",
                     text_json_real(e->t), "start", text_json_real(e->start), "start_given",
                     !isnan(p->start), "lower_bound", text_json_real(p->low), "upper_bound",
                     text_json_real(p->high), "state", regress_state_names[e->state]);
}

static json_t *validation_json(const regress_fitted *f)
{
    const regress_validation *v = f->validation;
    if (!v)
        return json_null();
    return json_pack("{s:s,s:I,s:I,s:o,s:o}", "kind", f->share > 0 ? "holdout" : "folds", "folds",
                     (json_int_t)(f->share > 0 ? 1 : f->folds), "rows", (json_int_t)v->rows,
                     "rms_error", text_json_real(v->error), "r2", text_json_real(v->r2));
}

json_t *regress_fitted_json(const regress_fitted *f)
{
    const regress_estimate *r = f->r;
    size_t n = r->params;
    json_t *params = json_array(), *matrix = json_array(), *notes = json_array();
    for (size_t k = 0; k < n; k++) {
        json_t *row = json_array();
        for (size_t c = 0; c < n; c++)
            json_array_append_new(row, text_json_real(r->correlation[k * n + c]));
        json_array_append_new(matrix, row);
        json_array_append_new(params, parameter_json(f, k));
    }
    const char *s;
    for (int k = 0; (s = regress_fitted_note(f, k)); k++)
        json_array_append_new(notes, text_json(s));
    s = expr_print(f->law->e, SNIP_INFIX, &f->law->names, 0, f->a);
    json_t *o = json_pack(
        "{s:o,s:o,s:o,s:o,s:o}", "given", text_json(f->given), "formula", text_json(s ? s : ""),
        "equation", text_json(regress_fitted_formula(f, SNIP_SYMPY, 0)), "rounded",
        text_json(regress_fitted_formula(f, SNIP_INFIX, 1)), "target", text_json(f->target));
    json_t *rest = json_pack(
        "{s:I,s:I,s:o,s:f,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:i,s:i,s:i,s:b,s:o}", "rows",
        (json_int_t)r->rows, "degrees_of_freedom", (json_int_t)r->freedom, "parameters", params,
        "level", f->level, "correlations", matrix, f->d->sigma ? "chi_square" : "rss",
        text_json_real(r->rss), "deviation", text_json_real(r->deviation), "probability",
        text_json_real(r->chance), "r2", text_json_real(r->r2), "aic", text_json_real(r->aic),
        "bic", text_json_real(r->bic), "validation", validation_json(f), "starts", r->starts,
        "starts_reached", r->reached, "start_used", r->from, "settled", r->settled, "notes", notes);
    if (o && rest)
        json_object_update(o, rest);
    json_decref(rest);
    return o;
}
