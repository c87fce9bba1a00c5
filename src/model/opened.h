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

#include "model/space.h"

enum { MODEL_HASH = 33 }; /* characters of a hash, the end included */

typedef struct model_opened {
    arena *a;
    const model *m;
    int tree;              /* whether its stage has tree positions */
    char hash[MODEL_HASH]; /* of weights and configuration, in hexadecimal: who made a vector */
} model_opened;

/* What a library's model reads of a formula in its own operators, in `a`: the formula as it is or,
 * if the model reads forms, the core of its form with all constants free. *hash is that of the
 * form, 0 for a formula. SNIP_UNSUPPORTED says why the model cannot read it. */
snip_code model_entry(expr *out, uint64_t *hash, expr e, const model_opened *t, arena *a,
                      snip_status *st);

/* The form of a formula in standardised inputs and any operators, in `a`, ready to be embedded. */
snip_code model_form(expr_form *out, expr e, const model_opened *t, arena *a, snip_status *st);

snip_code model_open(model_opened **out, const char *path, snip_status *st);
void model_close(model_opened *t);

#endif
