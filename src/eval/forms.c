/* forms.c - whether the space tells which form of a law suits a table before it is fitted; see
 * suites.h and forms.h.
 *
 * A model without forms goes through the same problems in the exact view: formulas with their
 * fitted constants, tables with y in its unit. */
#include "eval/forms.h"

#include <stdlib.h>

#include "base/clock.h"
#include "eval/evaluate.h"

/* Laws for a promise that is trained here because the model has none: half a minute of a core. */
enum { MOST_LAWS = 200 };

static int make_arenas(arena **to, int n)
{
    for (int t = 0; t < n; t++)
        if (!(to[t] = arena_new(0)))
            return 0;
    return 1;
}

/* The promise in the model's file, which is what users get, or one that is trained here. */
static snip_code promise(json_t *out, model_promise *p, forms_context *c, snip_status *st)
{
    size_t laws = 4 * c->how->problems;
    forms_promise trained;
    int own = c->how->promise && model_promise_known(c->how->promise);
    if (own) {
        *p = *c->how->promise;
        json_object_set_new(out, "promise", json_pack("{s:b}", "own", 1));
        return SNIP_OK;
    }
    snip_code code =
        forms_promise_train(&trained, laws < MOST_LAWS ? laws : MOST_LAWS, c, c->a, st);
    if (code == SNIP_OK) {
        *p = trained.p;
        json_object_set_new(out, "promise", forms_promise_json(&trained));
    }
    return code;
}

/* Problems of generated laws and of the corpora. */
static snip_code problems(json_t *out, const model_promise *w, const forms_set *laws,
                          const forms_set *corpora, forms_context *c, snip_status *st)
{
    forms_task *task;
    json_t *both = json_object();
    double start = clock_now();
    snip_code code = SNIP_OK;
    for (int k = 0; k < 2 && code == SNIP_OK; k++) {
        const forms_set *set = k ? corpora : laws;
        code = forms_tasks(&task, set, FORMS_CONDITIONS, c, st);
        json_t *o = code == SNIP_OK ? forms_tasks_json(task, set->count, w, c->how) : NULL;
        if (code == SNIP_OK && !o)
            code = status_nomem(st);
        if (o)
            json_object_set_new(both, k ? "corpora" : "laws", o);
    }
    json_object_set_new(both, "seconds", json_real(clock_now() - start));
    json_object_set_new(out, "problems", both);
    return code;
}

static snip_code run(json_t *out, forms_context *c, snip_status *st)
{
    forms_set laws, corpora;
    model_promise w;
    json_object_set_new(out, "view", json_string(c->form ? "form" : "exact"));
    snip_code code = forms_set_make(&laws, c, FORMS_DRAW_LAWS, c->how->problems, st);
    if (code == SNIP_OK)
        code = forms_set_make(&corpora, c, FORMS_DRAW_CORPORA, 2 * c->how->problems, st);
    if (code == SNIP_OK)
        code = promise(out, &w, c, st);
    if (code == SNIP_OK)
        code = problems(out, &w, &laws, &corpora, c, st);
    static const char *const names[] = { "retrieval", "library", "invariance", "invariance_corpora",
                                         "copies" };
    for (int k = 0; k < 5 && code == SNIP_OK; k++) {
        json_t *part = NULL;
        double start = clock_now();
        code = k == 0   ? forms_retrieval(&part, c, st)
               : k == 1 ? forms_library(&part, &laws, &w, c, st)
               : k < 4  ? forms_invariance(&part, k == 2 ? &laws : &corpora, c, st)
                        : forms_copies(&part, c, st);
        if (part) {
            json_object_set_new(part, "seconds", json_real(clock_now() - start));
            json_object_set_new(out, names[k], part);
        }
    }
    return code;
}

/* What the suite works with, for space s; close it in any case. Returns 0 when memory is out. */
static int open_context(forms_context *c, model_space *s, const eval_how *how)
{
    size_t threads = (size_t)s->threads;
    arena **arenas = calloc(2 * threads + 1, sizeof *arenas);
    *c = (forms_context){ .s = s,
                          .how = how,
                          .model = { .m = s->m, .tree = s->tree },
                          .form = s->m->config.forms,
                          .keep = arenas,
                          .tmp = arenas ? arenas + threads : NULL };
    if (!arenas || !make_arenas(arenas, (int)(2 * threads + 1)))
        return 0;
    c->a = arenas[2 * threads];
    return 1;
}

static void close_context(forms_context *c)
{
    for (int t = 0; c->keep && t <= 2 * c->s->threads; t++)
        arena_free(c->keep[t]);
    free(c->keep);
}

snip_code eval_forms(json_t **out, model_space *s, const eval_how *how, snip_status *st)
{
    forms_context c;
    *out = json_object();
    snip_code code = open_context(&c, s, how) && *out ? run(*out, &c, st) : status_nomem(st);
    close_context(&c);
    if (code != SNIP_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return code;
}

snip_code eval_promise(model_promise *out, json_t **about, const model_opened *t, size_t laws,
                       int threads, const eval_how *how, arena *a, snip_status *st)
{
    *about = NULL;
    if (!t->m->config.forms)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "the model was not trained to read forms");
    model_space *s = model_space_new(t->m, t->tree, threads);
    forms_promise trained;
    forms_context c;
    if (!s)
        return status_nomem(st);
    snip_code code = open_context(&c, s, how) ? forms_promise_train(&trained, laws, &c, a, st)
                                              : status_nomem(st);
    close_context(&c);
    model_space_free(s);
    if (code != SNIP_OK)
        return code;
    *out = trained.p;
    *about = forms_promise_json(&trained);
    if (!*about || json_object_set_new(*about, "model", json_string(t->hash)) ||
        json_object_set_new(*about, "seed", json_integer((json_int_t)how->seed)))
        return status_nomem(st);
    return SNIP_OK;
}
