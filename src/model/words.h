/* words.h - from a formula to what the symbolic encoder reads of it, once.
 *
 *     model_words w;
 *     const expr_domain domain = { .assume_positive = 1 };
 *     const model_words_how how = { .m = m, .tree = tree, .rewrite = &domain };
 *     if (model_words_make(&w, e, &how, a, NULL, &st) != SNIP_OK)
 *         puts(st.msg);                                  // why the model cannot read it
 *     const model_item item = { .words = &w, .node = MODEL_WHOLE };    // see space.h
 *
 * This is the only way from a formula to the encoder: whoever asks whether the model can read one
 * has, when the answer is yes, what the encoder takes. */
#ifndef MODEL_WORDS_H
#define MODEL_WORDS_H

#include "data/tokens.h"
#include "model/model.h"
#include "nn/nn.h"

/* What is read of a formula. */
typedef enum model_reading {
    MODEL_EXACT, /* the formula with its constants */
    MODEL_CORE,  /* the same of a formula that is the core of a form already (expr_canonical) */
    MODEL_FORM,  /* the core of its form */
    MODEL_ENTRY  /* what a library keeps: the formula or, if the model reads forms, the core of its
                    form with all constants free */
} model_reading;

typedef struct model_words_how {
    const model *m;
    int tree; /* with tree positions (not in stage S0) */
    model_reading reading;
    /* For a formula in any operators: what is known of its inputs when it is rewritten. NULL: it is
     * in the model's operators. */
    const expr_domain *rewrite;
} model_words_how;

typedef struct model_words {
    expr e;        /* the formula as it is read, in the model's operators */
    int form;      /* e is the core of a form */
    uint64_t hash; /* of the form, where it was looked for; else 0 */
    data_tokens tokens;
    nn_path *path;  /* per token; NULL without tree positions */
    float *slope;   /* MODEL_SLOPE_FEATURES per token; NULL if the model does not read them */
    float *profile; /* the same, MODEL_PROFILE_FEATURES; the first <EOS> has the root's */
} model_words;

/* Everything lives in `a`, but for e's nodes where they are those that were given. What is made on
 * the way goes to `tmp`, another arena, which is left as found; NULL: it stays in `a`.
 * SNIP_UNSUPPORTED says why the model cannot read the formula. */
snip_code model_words_make(model_words *out, expr e, const model_words_how *how, arena *a,
                           arena *tmp, snip_status *st);

#endif
