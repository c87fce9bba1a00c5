/* model.c - see model.h. */
#include "model/opened.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "data/tokens.h"
#include "model/file.h"

/* Tells models apart by what decides their vectors, however the file is stored. */
static int hash_model(model_opened *t)
{
    json_t *config = model_config_json(&t->m->config);
    char *text = config ? json_dumps(config, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(config);
    if (!text)
        return 0;
    XXH128_hash_t settings = XXH3_128bits(text, strlen(text));
    XXH128_hash_t all = XXH3_128bits_withSeed(t->m->w, t->m->size * sizeof *t->m->w,
                                              settings.low64 ^ (uint64_t)t->tree);
    snprintf(t->hash, sizeof t->hash, "%016llx%016llx", (unsigned long long)all.high64,
             (unsigned long long)all.low64);
    free(text);
    return 1;
}

snip_code model_open(model_opened **out, const char *path, snip_status *st)
{
    model_opened *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t || !(t->a = arena_new(0))) {
        free(t);
        return status_nomem(st);
    }
    json_t *metadata = NULL;
    model *m;
    snip_code code = model_load(&m, path, &metadata, t->a, st);
    if (code == SNIP_OK) {
        t->m = m;
        t->tree = model_has_tree(metadata);
        if (!hash_model(t))
            code = status_nomem(st);
    }
    json_decref(metadata);
    if (code == SNIP_OK)
        *out = t;
    else
        model_close(t);
    return code;
}

void model_close(model_opened *t)
{
    if (t) {
        arena_free(t->a);
        free(t);
    }
}

snip_code model_entry(expr *out, uint64_t *hash, expr e, const model_opened *t, arena *a,
                      snip_status *st)
{
    data_tokens tokens;
    *out = e;
    *hash = 0;
    if (!t->m->config.forms)
        return data_tokens_make(&tokens, e, t->m->vocab, a, st);
    /* Twice: the core alone is what a library keeps, and what its hash is computed from again. */
    for (int k = 0; k < 2; k++) {
        expr_form form;
        expr own = { arena_copy(a, out->node, out->count * sizeof *out->node), out->count };
        if (!own.node)
            return status_nomem(st);
        expr_set_fixed(own, 0);
        snip_code code = expr_canonical(&form, own, a, st);
        if (code != SNIP_OK)
            return code;
        if (form.core.count == 0)
            return status_fail(st, SNIP_UNSUPPORTED, 0, "is a constant: it has no form");
        *out = form.core;
        *hash = form.hash;
    }
    return data_tokens_form(&tokens, *out, t->m->vocab, a, st);
}

snip_code model_form(expr_form *out, expr e, const model_opened *t, arena *a, snip_status *st)
{
    expr normal;
    data_tokens tokens;
    const expr_domain domain = { .assume_positive = 1 };
    if (!t->m->config.forms)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "the model was not trained to read forms");
    snip_code code = expr_normal(&normal, e, &domain, a, st);
    if (code == SNIP_OK)
        code = expr_canonical(out, normal, a, st);
    if (code == SNIP_OK && out->core.count == 0)
        code = status_fail(st, SNIP_UNSUPPORTED, 0, "a constant has no form");
    return code == SNIP_OK ? data_tokens_form(&tokens, out->core, t->m->vocab, a, st) : code;
}
