/* model.h - a model as the tools use it: opened once, then only read.
 *
 *     tools_model *t;
 *     if (tools_model_open(&t, "models/default.safetensors", &st) != SNIP_OK)
 *         return fprintf(stderr, "%s\n", st.msg), 1;
 *     model_space *s = model_space_new(t->m, t->tree, threads);
 *     ...
 *     tools_model_close(t);
 *
 * Several threads may use one opened model at once, each with a model_space of its own. */
#ifndef TOOLS_MODEL_H
#define TOOLS_MODEL_H

#include "model/space.h"

enum { TOOLS_HASH = 33 }; /* characters of a hash, the end included */

typedef struct tools_model {
    arena *a;
    const model *m;
    int tree;              /* whether its stage has tree positions */
    char hash[TOOLS_HASH]; /* of weights and configuration, in hexadecimal: who made a vector */
} tools_model;

/* What a library's model reads of a formula in its own operators, in `a`: the formula as it is or,
 * if the model reads forms, the core of its form with all constants free. *hash is that of the
 * form, 0 for a formula. SNIP_UNSUPPORTED says why the model cannot read it. */
snip_code tools_model_entry(expr *out, uint64_t *hash, expr e, const tools_model *t, arena *a,
                            snip_status *st);

/* The form of a formula in standardised inputs and any operators, in `a`, ready to be embedded. */
snip_code tools_model_form(expr_form *out, expr e, const tools_model *t, arena *a, snip_status *st);

snip_code tools_model_open(tools_model **out, const char *path, snip_status *st);
void tools_model_close(tools_model *t);

#endif
