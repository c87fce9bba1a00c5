/* words.c - see words.h. */
#include "model/words.h"

#include <string.h>

#include "model/encode.h"
#include "model/slopes.h"

/* The core of e's form, in place of e. */
static snip_code take_core(model_words *w, arena *a, snip_status *st, const char *no_form)
{
    expr_form form;
    snip_code code = expr_canonical(&form, w->e, a, st);
    if (code != SNIP_OK)
        return code;
    if (form.core.count == 0)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "%s", no_form);
    w->e = form.core;
    w->hash = form.hash;
    return SNIP_OK;
}

/* The same with all constants free. Twice: the core alone is what a library keeps, and what its
 * hash is computed from again when the library is read. */
static snip_code take_entry(model_words *w, arena *a, snip_status *st)
{
    snip_code code = SNIP_OK;
    for (int k = 0; k < 2 && code == SNIP_OK; k++) {
        w->e.node = arena_copy(a, w->e.node, w->e.count * sizeof *w->e.node);
        if (!w->e.node)
            return status_nomem(st);
        expr_set_fixed(w->e, 0);
        code = take_core(w, a, st, "is a constant: it has no form");
    }
    return code;
}

/* The formula as it is read; scratch and result live in `a`. */
static snip_code read_as(model_words *w, const model_words_how *how, arena *a, snip_status *st)
{
    int forms = how->m->config.forms;
    if (how->reading == MODEL_FORM && !forms)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "the model was not trained to read forms");
    snip_code code = how->rewrite ? expr_normal(&w->e, w->e, how->rewrite, a, st) : SNIP_OK;
    w->form = how->reading == MODEL_CORE || how->reading == MODEL_FORM ||
              (how->reading == MODEL_ENTRY && forms);
    if (code != SNIP_OK || how->reading == MODEL_CORE || !w->form)
        return code;
    return how->reading == MODEL_ENTRY ? take_entry(w, a, st)
                                       : take_core(w, a, st, "a constant has no form");
}

/* Each token's row is that of its node in `of_node`, of `width` numbers; 0 for <EOS>. */
static void spread_rows(float *row, const float *of_node, const data_tokens *t, size_t width)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->node[i] >= 0)
            memcpy(row + i * width, of_node + (size_t)t->node[i] * width, width * sizeof *row);
}

/* What is known of each token's node. Returns 0 when memory is out. */
static int add_slopes(model_words *w, int profiles, arena *a)
{
    enum { F = MODEL_SLOPE_FEATURES, P = MODEL_PROFILE_FEATURES };
    w->slope = arena_zero(a, w->tokens.count * F * sizeof *w->slope);
    w->profile = profiles ? arena_zero(a, w->tokens.count * P * sizeof *w->profile) : NULL;
    arena_pos mark = arena_mark(a);
    float *slope = arena_array(a, w->e.count * F, sizeof *slope);
    float *profile = profiles ? arena_array(a, w->e.count * P, sizeof *profile) : NULL;
    int good = w->slope && slope && (!profiles || (w->profile && profile)) &&
               model_slopes(slope, profile, w->e, w->form, a);
    if (good)
        spread_rows(w->slope, slope, &w->tokens, F);
    if (good && profiles) {
        spread_rows(w->profile, profile, &w->tokens, P);
        memcpy(w->profile, w->profile + P, P * sizeof *profile); /* the first <EOS> is the whole */
    }
    arena_reset(a, mark);
    return good;
}

snip_code model_words_make(model_words *out, expr e, const model_words_how *how, arena *a,
                           arena *tmp, snip_status *st)
{
    arena *scratch = tmp ? tmp : a;
    arena_pos mark = arena_mark(scratch);
    model_words w = { .e = e };
    snip_code code = read_as(&w, how, scratch, st);
    if (code == SNIP_OK)
        code = w.form ? data_tokens_form(&w.tokens, w.e, how->m->vocab, a, st)
                      : data_tokens_make(&w.tokens, w.e, how->m->vocab, a, st);
    if (code == SNIP_OK && tmp && w.e.node != e.node &&
        !(w.e.node = arena_copy(a, w.e.node, w.e.count * sizeof *w.e.node)))
        code = status_nomem(st);
    if (code == SNIP_OK && how->tree) {
        w.path = arena_array(a, w.tokens.count, sizeof *w.path);
        if (w.path)
            model_paths(w.path, &w.tokens);
        else
            code = status_nomem(st);
    }
    if (code == SNIP_OK && how->m->config.slopes && !add_slopes(&w, how->m->config.surface, a))
        code = status_nomem(st);
    if (tmp)
        arena_reset(tmp, mark);
    *out = w;
    return code;
}
