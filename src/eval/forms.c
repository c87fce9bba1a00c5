/* forms.c - whether the space tells which form of a law suits a table before it is fitted; see
 * suites.h and forms.h.
 *
 * A model without forms goes through the same problems in the exact view: formulas with their
 * fitted constants, tables with y in its unit. */
#include "eval/forms.h"

#include <stdlib.h>

#include "base/clock.h"
#include "eval/evaluate.h"

enum { MOST_LAWS = 200 }; /* that choose weights: about a minute of one core */

static int make_arenas(arena **to, int n)
{
    for (int t = 0; t < n; t++)
        if (!(to[t] = arena_new(0)))
            return 0;
    return 1;
}

/* Problems of generated laws and of the corpora, with the weights of the combined scores. */
static snip_code problems(json_t *out, forms_weights *w, const forms_set *laws,
                          const forms_set *corpora, forms_context *c, snip_status *st)
{
    size_t n = c->how->problems;
    forms_task *task;
    json_t *both = json_object();
    double start = clock_now();
    snip_code code = forms_weights_choose(w, 4 * n < MOST_LAWS ? 4 * n : MOST_LAWS, c, st);
    if (code == SNIP_OK)
        json_object_set_new(out, "weights", forms_weights_json(w));
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
    forms_weights w;
    json_object_set_new(out, "view", json_string(c->form ? "form" : "exact"));
    snip_code code = forms_set_make(&laws, c, FORMS_DRAW_LAWS, c->how->problems, st);
    if (code == SNIP_OK)
        code = forms_set_make(&corpora, c, FORMS_DRAW_CORPORA, 2 * c->how->problems, st);
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

snip_code eval_promise(json_t **out, const model_opened *t, size_t laws, int threads,
                       const eval_how *how, snip_status *st)
{
    *out = NULL;
    if (!t->m->config.forms)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "the model was not trained to read forms");
    model_space *s = model_space_new(t->m, t->tree, threads);
    forms_weights w;
    forms_context c;
    if (!s)
        return status_nomem(st);
    snip_code code =
        open_context(&c, s, how) ? forms_weights_choose(&w, laws, &c, st) : status_nomem(st);
    close_context(&c);
    model_space_free(s);
    if (code != SNIP_OK)
        return code;
    *out = json_pack("{s:s,s:f,s:f,s:f,s:f,s:{s:f,s:f,s:f},s:I,s:I}", "model", t->hash,
                     "similarity", w.with.similarity, "correlation", w.with.correlation, "size",
                     w.with.size, "spearman", w.spearman_with, "without", "correlation",
                     w.without.correlation, "size", w.without.size, "spearman", w.spearman_without,
                     "laws", (json_int_t)w.problems, "seed", (json_int_t)how->seed);
    return *out ? SNIP_OK : status_nomem(st);
}
