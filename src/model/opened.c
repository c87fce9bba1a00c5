/* opened.c - see opened.h. */
#include "model/opened.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "model/file.h"

/* Tells models apart by what decides their vectors, however the file is stored. */
static int hash_model(model_opened *t)
{
    json_t *config = model_config_identity(&t->m->config);
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
    safetensors_file f;
    model *m;
    snip_code code = safetensors_read(&f, path, t->a, st);
    if (code != SNIP_OK) {
        model_close(t);
        return code;
    }
    code = model_read(&m, &f, path, t->a, st);
    if (code == SNIP_OK) {
        t->m = m;
        t->metadata = json_incref(f.metadata);
        t->tree = model_has_tree(f.metadata);
        if (!hash_model(t) ||
            (m->config.forms &&
             !model_promise_take(&t->promise, &f, t->hash, (size_t)m->config.latent, t->a)))
            code = status_nomem(st);
    }
    safetensors_close(&f);
    if (code == SNIP_OK)
        *out = t;
    else
        model_close(t);
    return code;
}

void model_close(model_opened *t)
{
    if (t) {
        json_decref(t->metadata);
        arena_free(t->a);
        free(t);
    }
}

model_words_how model_reads(const model_opened *t, model_reading reading,
                            const expr_domain *rewrite)
{
    return (model_words_how){ .m = t->m, .tree = t->tree, .reading = reading, .rewrite = rewrite };
}
