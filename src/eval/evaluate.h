/* evaluate.h - all suites for one model. */
#ifndef EVAL_EVALUATE_H
#define EVAL_EVALUATE_H

#include "eval/measures.h"
#include "model/opened.h"

/* A model's results: an object of results.json, and the scores that comparisons need. */
typedef struct eval_result {
    model_opened *t;
    json_t *o;
    eval_scores *edits, *subtrees; /* NULL where not run */
    int failed;                    /* suites that could not be done; o's "errors" say why */
    arena *a;                      /* of the scores */
} eval_result;

/* Loads the model. Fails, with nothing to free, if it cannot be evaluated. */
snip_code eval_open(eval_result *out, const char *path, snip_status *st);

/* Runs the suites in `mask` (bit k for eval_suites[k]). `dump` is a folder for all embeddings, or
 * NULL. Fails only for want of memory. */
snip_code eval_run(eval_result *r, unsigned mask, const char *dump, int threads,
                   const eval_how *how, snip_status *st);
void eval_result_free(eval_result *r);

/* Trains the model's promise (model/promise.h), in `a`, on the candidates of `laws` generated
 * validation laws. *about is what the model file's metadata hold as "promise". Fails for a model
 * that reads no forms. */
snip_code eval_promise(model_promise *out, json_t **about, const model_opened *t, size_t laws,
                       int threads, const eval_how *how, arena *a, snip_status *st);

#endif
