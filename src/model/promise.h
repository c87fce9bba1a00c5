/* promise.h - what may be expected of a formula before its constants are fitted.
 *
 *     const model_promise_facts f = { .similarity = s, .correlation = r, .nodes = core.count,
 *                                     .constants = n, .form = u, .table = v };
 *     double promise = model_promise_value(&model->promise, &f);
 *
 * is the value of a small network. With the similarity s = u.v of form and table, r the size of the
 * correlation of the formula's values, as given, with y, and d the length of the vectors, it reads
 *
 *     f = [3r; log nodes; 3r^4; 3r^16; constants; 3s; sqrt(d) u*v; 0.3 sqrt(d) u]
 *
 * (u*v number by number: some directions of the space tell more than others; u alone: some forms
 * fit anything) and answers l.f + o.g with
 *
 *     g = max(0, V max(0, W f + b) + c)
 *
 * It learns to order the candidates of a table by their digits after a fit, on generated laws only
 * (eval_promise); its value orders the candidates of one table and means nothing else. A second
 * network reads the first five numbers only: what can be said without the space. Both lie in the
 * file of the model that they were made for, whose hash stands beside them: they are ignored if the
 * model's weights differ, or if their length is not that of two such layers. */
#ifndef MODEL_PROMISE_H
#define MODEL_PROMISE_H

#include <stddef.h>

#include "base/safetensors.h"

enum {
    MODEL_PROMISE_HIDDEN = 256, /* units of a layer that are trained now; a file may have others */
    MODEL_PROMISE_PLAIN = 5,
    MODEL_PROMISE_NETWORKS = 2
};

/* Of a candidate and a table. */
typedef struct model_promise_facts {
    double similarity, correlation;
    size_t nodes, constants;   /* of the canonical core */
    const float *form, *table; /* vectors; NULL where the model cannot read the formula */
} model_promise_facts;

typedef struct model_promise {
    size_t latent;        /* length of the model's vectors */
    size_t hidden;        /* rows of W, and of V */
    const float *with;    /* the parts of model_promise_parts; NULL: there is none */
    const float *without; /* the same without the space */
} model_promise;

/* Numbers that a network reads, with vectors of that length (0: without the space), and how many
 * weights it has with that many hidden units in each of its two layers. */
size_t model_promise_inputs(size_t latent);
size_t model_promise_weights(size_t latent, size_t hidden);

/* Where the parts of a network's weights begin. l is first; matrices lie by rows. */
typedef struct model_promise_parts {
    size_t W, b, V, c, o;
} model_promise_parts;
model_promise_parts model_promise_layout(size_t inputs, size_t hidden);

/* What a network reads. The space's share is 0 for a formula that has no vector. */
void model_promise_read(float *to, const model_promise_facts *f, size_t latent);

/* Whether there is one. */
int model_promise_known(const model_promise *p);

/* NaN where there is none. */
double model_promise_value(const model_promise *p, const model_promise_facts *f);
double model_promise_without_space(const model_promise *p, const model_promise_facts *f);

/* The networks in a model file, in `a`, if they are for the model of this hash with vectors of this
 * length; else none. Returns 0 when memory is out. */
int model_promise_take(model_promise *out, const safetensors_file *file, const char *hash,
                       size_t latent, arena *a);

/* Their tensors for a model file. */
void model_promise_entries(safetensors_entry to[MODEL_PROMISE_NETWORKS], const model_promise *p);

/* Whether a tensor of a model file is one of theirs. */
int model_promise_owns(const char *tensor);

#endif
