/* fit.c - the public face of the search for formulas. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_int.h"
#include "search/search.h"

struct snip_front {
    arena *a;
    snip_fitted *formula;
    size_t count, selected;
    snip_front_about about;
};

/* What the search's reports need to become the user's. */
typedef struct listener {
    const snip_fit_options *o;
    const expr_names *names;
    locale_t users; /* the user's own function runs under it */
    arena *a;
    sig_atomic_t cancel;
} listener;

static void on_report(void *context, const search_progress *now)
{
    listener *l = context;
    arena_pos mark = arena_mark(l->a);
    const search_formula *best = &now->now[now->selected];
    const char *text = expr_print(best->e, SNIP_INFIX, l->names, 6, l->a);
    const snip_fit_progress p = { .seconds = now->seconds,
                                  .spent = now->spent,
                                  .evaluations = now->evaluations,
                                  .stage = search_stage_names[now->stage],
                                  .formula = text ? text : "",
                                  .size = best->size,
                                  .loss_train = best->loss[0],
                                  .loss_val = best->loss[1],
                                  .r2_train = best->r2[0],
                                  .r2_val = best->r2[1],
                                  .changed = now->changed };
    locale_t before = uselocale(l->users);
    if (l->o->progress(l->o->context, &p))
        l->cancel = 1;
    uselocale(before);
    arena_reset(l->a, mark);
}

/* The options for the inside; what they point to lives in `a`. */
static snip_code plan(search_how *how, const snip_fit_options *o, const snip_table *t, listener *l,
                      arena *a, snip_status *st)
{
    if (!(o->seconds >= 0) || !isfinite(o->seconds))
        return status_fail(st, SNIP_FORMAT, 0, "%g is not a number of seconds", o->seconds);
    *how = (search_how){ .seconds = o->seconds,
                         .evaluations = o->evaluations,
                         .seed = t->seed,
                         .threads = api_cores(o->threads),
                         .max_size = o->max_size,
                         .memory = o->memory,
                         .per_size = o->per_size,
                         .guesses = o->guess_count,
                         .weight = o->weight,
                         .model = o->model ? o->model->t : NULL,
                         .cancel = &l->cancel,
                         .report = o->progress ? on_report : NULL,
                         .context = l };
    if (o->operators) {
        snip_code code = search_operators_read(&how->operators, o->operators, st);
        if (code != SNIP_OK)
            return code;
    }
    expr *guess = arena_array(a, o->guess_count + 1, sizeof *guess);
    if (!guess)
        return status_nomem(st);
    for (size_t i = 0; i < o->guess_count; i++) {
        if (!o->guesses[i])
            return status_fail(st, SNIP_FORMAT, i, "formula %zu is NULL", i);
        guess[i] = o->guesses[i]->e;
        if (expr_inputs(guess[i]) > t->inputs)
            return status_fail(st, SNIP_FORMAT, i,
                               "formula %zu needs %zu inputs, the table has %zu", i,
                               expr_inputs(guess[i]), t->inputs);
    }
    how->guess = guess;
    return SNIP_OK;
}

/* One formula as the caller sees it: copies, since the search's memory goes away. */
static int fill_one(snip_fitted *to, const search_formula *f, const expr_names *names, arena *a)
{
    size_t *node = arena_array(a, f->e.count + 1, sizeof *node);
    double *value = arena_array(a, f->e.count + 1, sizeof *value);
    if (!node || !value)
        return 0;
    size_t n = f->error ? expr_constants(f->e, node) : 0;
    for (size_t k = 0; k < n; k++)
        value[k] = f->e.node[node[k]].value;
    *to = (snip_fitted){ .formula = api_expr_copy(f->e, names),
                         .size = f->size,
                         .constants = n,
                         .constant = value,
                         .error = arena_copy(a, f->error ? f->error : value, n * sizeof *value + 1),
                         .loss_train = f->loss[0],
                         .loss_val = f->loss[1],
                         .r2_train = f->r2[0],
                         .r2_val = f->r2[1],
                         .bits = f->bits,
                         .similarity = f->similarity,
                         .stage = search_stage_names[f->stage] };
    return to->formula && to->error;
}

static snip_code front_of(snip_front **out, const search_result *r, const expr_names *names,
                          snip_status *st)
{
    snip_front *f = calloc(1, sizeof *f);
    if (!f || !(f->a = arena_new(0)) ||
        !(f->formula = arena_zero(f->a, r->count * sizeof *f->formula))) {
        snip_front_free(f);
        return status_nomem(st);
    }
    f->selected = r->selected;
    f->about = (snip_front_about){ .seconds = r->seconds,
                                   .evaluations = r->evaluations,
                                   .rows_train = r->rows[0],
                                   .rows_val = r->rows[1],
                                   .outliers = r->outliers,
                                   .cancelled = r->cancelled };
    int good = 1;
    if (r->note)
        good = (f->about.note = arena_text(f->a, r->note, strlen(r->note))) != NULL;
    for (size_t i = 0; i < r->count && good; i++) {
        good = fill_one(&f->formula[i], &r->front[i], names, f->a);
        f->count = i + 1; /* a handle is freed even where the rest of its formula is missing */
    }
    if (!good) {
        snip_front_free(f);
        return status_nomem(st);
    }
    *out = f;
    return SNIP_OK;
}

snip_code snip_fit(snip_front **out, const snip_table *t, const snip_fit_options *options,
                   snip_status *st)
{
    static const snip_fit_options usual = { 0 };
    const snip_fit_options *o = options ? options : &usual;
    snip_code code = API_MAKE(out, st, { !t, "the table" },
                              { o->guess_count && !o->guesses, "the list of guesses" });
    if (code != SNIP_OK)
        return code;
    if (t->inputs == 0)
        return status_fail(st, SNIP_FORMAT, 0, "the table has no inputs");
    regress_table table;
    search_how how;
    search_result r;
    expr_names names;
    listener l = { .o = o, .names = &names, .users = uselocale((locale_t)0), .a = arena_new(0) };
    arena *a = arena_new(0);
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    code = a && l.a && c ? SNIP_OK : status_nomem(st);
    if (code == SNIP_OK)
        code = api_table(&table, t, a, st);
    if (code == SNIP_OK)
        code = plan(&how, o, t, &l, a, st);
    if (code == SNIP_OK) {
        names = (expr_names){ table.names, table.dim };
        uselocale(c);
        code = search_run(&r, &table, &how, a, st);
        uselocale(l.users);
    }
    if (code == SNIP_OK)
        code = front_of(out, &r, &names, st);
    if (c)
        freelocale(c);
    arena_free(l.a);
    arena_free(a);
    return code;
}

size_t snip_front_count(const snip_front *f)
{
    return f ? f->count : 0;
}

size_t snip_front_selected(const snip_front *f)
{
    return f ? f->selected : 0;
}

const snip_fitted *snip_front_at(const snip_front *f, size_t i)
{
    return f && i < f->count ? &f->formula[i] : NULL;
}

const snip_front_about *snip_front_of(const snip_front *f)
{
    return f ? &f->about : NULL;
}

void snip_front_free(snip_front *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++)
        api_expr_free(f->formula[i].formula);
    arena_free(f->a);
    free(f);
}
