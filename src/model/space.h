/* space.h - formulas, parts of formulas and tables as unit vectors of a model's shared space.
 *
 *     model_space *s = model_space_new(m, tree, threads);
 *     model_item item = { .e = e, .node = MODEL_WHOLE, .x = x, .dim = 2, .rows = 200, .y = y };
 *     model_space_embed(s, &item, 1, symbols, values, &st);    // a row of `latent` floats each
 *     model_space_free(s);
 *
 * Rows have length 1, so an inner product is a cosine. */
#ifndef MODEL_SPACE_H
#define MODEL_SPACE_H

#include "expr/expr.h"
#include "model/model.h"

#define MODEL_WHOLE ((size_t)-1)

/* So many formulas, one after the other, go through the encoder together; the last bit of a row
 * depends on its neighbours. */
enum { MODEL_SPACE_FORMULAS = 16 };

/* A formula or a part of it, and the values that it is held against. Neighbours that share `e` or
 * `x` share the work. */
typedef struct model_item {
    expr e;
    size_t node;            /* MODEL_WHOLE, or the part of e that is meant, seen in context */
    const double *const *x; /* dim columns */
    int dim;
    size_t rows;
    const double *y;
    int form;          /* e is the core of a form (expr_canonical), y is seen without its unit */
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

/* Rows of n items; `symbols` or `values` may be NULL. Fails with SNIP_UNSUPPORTED for a formula or
 * value that the model has no words for. */
snip_code model_space_embed(model_space *s, const model_item *item, size_t n, float *symbols,
                            float *values, snip_status *st);

/* The symbols' rows of items whose values' rows are known already. */
snip_code model_space_reread(model_space *s, const model_item *item, size_t n, float *symbols,
                             float *values, snip_status *st);

/* Whether the model has words for the formula. */
int model_space_fits(const model_space *s, expr e, arena *tmp);

/* Scales each row to length 1; a row of zeros stays. */
void model_unit_rows(float *z, size_t rows, size_t latent);

/* Inner product in double. */
double model_dot(const float *a, const float *b, size_t n);

#endif
