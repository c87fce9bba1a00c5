/* space.h - formulas, parts of formulas and tables as unit vectors of a model's shared space.
 *
 *     eval_space *s = eval_space_new(m, stage_uses_tree, threads);
 *     eval_item item[] = { { .e = f, .node = EVAL_WHOLE, .x = x, .dim = 2, .rows = 200, .y = y } };
 *     eval_embed(s, item, 1, symbols, values, &st);       // a row of `latent` floats each
 *     eval_space_free(s);
 *
 * Rows have length 1, so an inner product is a cosine. */
#ifndef EVAL_SPACE_H
#define EVAL_SPACE_H

#include <stdio.h>

#include "expr/expr.h"
#include "model/model.h"

#define EVAL_WHOLE ((size_t)-1)

/* A formula or a part of it, and the values that it is held against. Neighbours that share `e` or
 * `x` share the work. */
typedef struct eval_item {
    expr e;
    size_t node;            /* EVAL_WHOLE, or the part of e that is meant, seen in context */
    const double *const *x; /* dim columns */
    int dim;
    size_t rows;
    const double *y;
    const char *label; /* for the dump: a JSON object's inside, or NULL */
} eval_item;

/* Where embeddings are written to as well, so that others can compute on them. */
typedef struct eval_dump eval_dump;

typedef struct eval_space {
    const model *m;
    size_t latent;
    int tree; /* whether formulas have tree positions (not in stage S0) */
    int threads;
    arena **tmp;     /* per thread */
    eval_dump *dump; /* or NULL */
    int echo;        /* for tests: values get the symbols' rows, as if the encoders agreed */
} eval_space;

/* NULL when memory is out. */
eval_space *eval_space_new(const model *m, int tree, int threads);
void eval_space_free(eval_space *s);

/* Rows of n items; `symbols` or `values` may be NULL. Fails with SNIP_UNSUPPORTED for a formula or
 * value that the model has no words for. */
snip_code eval_embed(eval_space *s, const eval_item *item, size_t n, float *symbols, float *values,
                     snip_status *st);

/* Whether the model has words for the formula. */
int eval_fits(const eval_space *s, expr e, arena *tmp);

/* Inner product in double. */
double eval_dot(const float *a, const float *b, size_t n);

/* Opens FOLDER/NAME.symbols.npy, .values.npy and .jsonl; what eval_embed makes from then on goes
 * there too, until the dump is closed. */
snip_code eval_dump_open(eval_space *s, const char *folder, const char *name, snip_status *st);
snip_code eval_dump_close(eval_space *s, snip_status *st);

#endif
