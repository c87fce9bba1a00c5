/* opened.h - a model as its users need it: opened once, then only read.
 *
 *     model_opened *t;
 *     if (model_open(&t, "models/default.safetensors", &st) != SNIP_OK)
 *         return fprintf(stderr, "%s\n", st.msg), 1;
 *     model_space *s = model_space_new(t->m, t->tree, threads);
 *     ...
 *     model_close(t);
 *
 * Several threads may use one opened model at once, each with a model_space of its own. */
#ifndef MODEL_OPENED_H
#define MODEL_OPENED_H

#include "model/promise.h"
#include "model/space.h"

enum { MODEL_HASH = 33 }; /* characters of a hash, the end included */

typedef struct model_opened {
    arena *a;
    const model *m;
    int tree;              /* whether its stage has tree positions */
    model_promise promise; /* none in a model without forms */
    json_t *metadata;      /* of its file */
    char hash[MODEL_HASH]; /* of weights and configuration, in hexadecimal: who made a vector */
} model_opened;

/* How a formula becomes words for this model: `rewrite` as in model_words_how. */
model_words_how model_reads(const model_opened *t, model_reading reading,
                            const expr_domain *rewrite);

snip_code model_open(model_opened **out, const char *path, snip_status *st);
void model_close(model_opened *t);

#endif
