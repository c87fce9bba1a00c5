/* forms.c - whether the space tells which form of a law suits a table before it is fitted; see
 * suites.h and forms.h.
 *
 * A model without forms goes through the same problems in the exact view: formulas with their
 * fitted constants, tables with y in its unit. */
#include "eval/forms.h"

#include <stdlib.h>

#include "base/clock.h"

static int make_arenas(arena **to, int n)
{
    for (int t = 0; t < n; t++)
        if (!(to[t] = arena_new(0)))
            return 0;
    return 1;
}

/* Problems of generated laws and of the corpora, with the weights of the combined scores. */
static snip_code problems(json_t *out, forms_weights *w, const forms_set *laws, forms_context *c,
                          snip_status *st)
{
    size_t n = c->how->problems;
    forms_set validation, corpora;
    forms_task *task;
    json_t *both = json_object();
    double start = clock_now();
    snip_code code = forms_set_make(&validation, c, FORMS_DRAW_VALIDATION, (n + 1) / 2, st);
    if (code == SNIP_OK)
        code = forms_tasks(&task, &validation, 1, c, st);
    if (code == SNIP_OK)
        code = forms_weights_choose(w, task, validation.count);
    if (code == SNIP_OK)
        json_object_set_new(out, "weights", forms_weights_json(w));
    if (code == SNIP_OK)
        code = forms_set_make(&corpora, c, FORMS_DRAW_CORPORA, 2 * n, st);
    for (int k = 0; k < 2 && code == SNIP_OK; k++) {
        const forms_set *set = k ? &corpora : laws;
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
    forms_set laws;
    forms_weights w;
    json_object_set_new(out, "view", json_string(c->form ? "form" : "exact"));
    snip_code code = forms_set_make(&laws, c, FORMS_DRAW_LAWS, c->how->problems, st);
    if (code == SNIP_OK)
        code = problems(out, &w, &laws, c, st);
    static const char *const names[] = { "retrieval", "library", "invariance", "copies" };
    for (int k = 0; k < 4 && code == SNIP_OK; k++) {
        json_t *part = NULL;
        double start = clock_now();
        code = k == 0   ? forms_retrieval(&part, c, st)
               : k == 1 ? forms_library(&part, &laws, &w, c, st)
               : k == 2 ? forms_invariance(&part, &laws, c, st)
                        : forms_copies(&part, c, st);
        if (part) {
            json_object_set_new(part, "seconds", json_real(clock_now() - start));
            json_object_set_new(out, names[k], part);
        }
    }
    return code;
}

snip_code eval_forms(json_t **out, model_space *s, const eval_how *how, snip_status *st)
{
    size_t threads = (size_t)s->threads;
    arena **arenas = calloc(2 * threads + 1, sizeof *arenas);
    forms_context c = { .s = s,
                        .how = how,
                        .model = { .m = s->m, .tree = s->tree },
                        .form = s->m->config.forms,
                        .keep = arenas,
                        .tmp = arenas ? arenas + threads : NULL };
    snip_code code = SNIP_OK;
    *out = json_object();
    if (!arenas || !*out || !make_arenas(arenas, (int)(2 * threads + 1)))
        code = status_nomem(st);
    if (code == SNIP_OK) {
        c.a = arenas[2 * threads];
        code = run(*out, &c, st);
    }
    for (size_t t = 0; arenas && t <= 2 * threads; t++)
        arena_free(arenas[t]);
    free(arenas);
    if (code != SNIP_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return code;
}
