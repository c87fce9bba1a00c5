/* promise.h - what may be expected of a formula before its constants are fitted.
 *
 *     double promise = model_promise_value(&model->promise, similarity, correlation, nodes);
 *
 * is w.similarity * similarity + w.correlation * correlation - w.size * log(nodes): of the
 * similarity of form and table, the size of the correlation of the formula's values, as given, with
 * y, and the nodes of its canonical core. The weights were chosen for one model, on generated laws
 * only (eval_promise), and lie in its file's metadata beside the model's hash: with other weights
 * of the network they are not in force. */
#ifndef MODEL_PROMISE_H
#define MODEL_PROMISE_H

#include <jansson.h>
#include <stddef.h>

typedef struct model_promise {
    double similarity, correlation, size; /* all 0: none were chosen */
} model_promise;

/* Whether some were chosen. */
int model_promise_known(const model_promise *w);

/* NaN without weights. A similarity of NaN, of a formula that the model cannot read, is the least.
 */
double model_promise_value(const model_promise *w, double similarity, double correlation,
                           size_t nodes);

/* The weights in a model file's metadata, if they are for the model of this hash, else none. */
model_promise model_promise_read(const json_t *metadata, const char *hash);

#endif
