/* space.h - formulas, parts of formulas and tables as unit vectors of a model's shared space.
 *
 *     model_space *s = model_space_new(m, tree, threads);
 *     const model_words_how how = model_space_reads(s, MODEL_EXACT);
 *     model_words w;
 *     if (model_words_make(&w, e, &how, a, NULL, &st) == SNIP_OK) {    // or st.msg says why not
 *         model_item item = {
 *             .words = &w, .node = MODEL_WHOLE, .x = x, .dim = 2, .rows = 200, .y = y
 *         };
 *         model_space_embed(s, &item, 1, symbols, values, &st);    // a row of `latent` floats each
 *     }
 *     model_space_free(s);
 *
 * Rows have length 1, so an inner product is a cosine. */
#ifndef MODEL_SPACE_H
#define MODEL_SPACE_H

#include "expr/expr.h"
#include "model/words.h"

#define MODEL_WHOLE ((size_t)-1)

/* So many formulas, one after the other, go through the encoder together; the last bit of a row
 * depends on its neighbours. */
enum { MODEL_SPACE_FORMULAS = 16 };

/* A formula or a part of it, and the values that it is held against. Neighbours that share `words`
 * or `x` share the work. */
typedef struct model_item {
    const model_words *words; /* may be NULL where only values are asked for */
    size_t node; /* MODEL_WHOLE, or the part of words->e that is meant, seen in context */
    const double *const *x; /* dim columns */
    int dim;
    size_t rows;
    const double *y;
    int form;          /* y is seen without its unit, as beside the words of a form */
    expr e;            /* for the dump: the formula, where there are no words */
    const char *label; /* for the dump: a JSON object's inside, or NULL */
} model_item;

typedef struct model_space {
    const model *m;
    size_t latent;
    int tree; /* whether formulas have tree positions (not in stage S0) */
    int threads;
    arena **tmp; /* per thread */
    /* Told of all rows that are made, or NULL; what it writes into them is what the caller gets. */
    void (*seen)(void *context, const model_item *item, size_t n, float *symbols, float *values);
    void *seen_context;
} model_space;

/* NULL when memory is out. */
model_space *model_space_new(const model *m, int tree, int threads);
void model_space_free(model_space *s);

/* How a formula in the model's operators becomes words for this space. */
model_words_how model_space_reads(const model_space *s, model_reading reading);

/* The words of such a formula, in `a`, for an item. */
snip_code model_space_words(const model_words **out, const model_space *s, expr e,
                            model_reading reading, arena *a, snip_status *st);

/* Rows of n items; `symbols` or `values` may be NULL. Fails with SNIP_UNSUPPORTED if a table holds
 * a value that the model has no token for; st->pos is the first such item. */
snip_code model_space_embed(model_space *s, const model_item *item, size_t n, float *symbols,
                            float *values, snip_status *st);

/* The symbols' rows of items whose values' rows are known already. */
snip_code model_space_reread(model_space *s, const model_item *item, size_t n, float *symbols,
                             float *values, snip_status *st);

/* Scales each row to length 1; a row of zeros stays. */
void model_unit_rows(float *z, size_t rows, size_t latent);

/* Inner product in double. */
double model_dot(const float *a, const float *b, size_t n);

/* The similarity of a form and the nearer of two tables: *values and, with `turned`, the row behind
 * it, which is of the table upside down. *values becomes the nearer row. */
double model_nearer(const float *symbols, const float **values, int turned, size_t latent);

#endif
