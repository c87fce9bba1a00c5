/* file.h - models as safetensors files, with their configuration and history in the metadata. */
#ifndef MODEL_FILE_H
#define MODEL_FILE_H

#include "base/safetensors.h"
#include "model/model.h"
#include "model/promise.h"

/* Entries for the parameters `w` (laid out as m->w) of all tensors; `suffix` is added to their
 * names. The names live in `a`. NULL when memory is out. */
safetensors_entry *model_entries(const model *m, const float *w, const char *suffix, arena *a);

/* Copies tensors named with `suffix` from a file into w. Wrong shapes, missing tensors and numbers
 * that are not finite fail. */
snip_code model_take(const model *m, float *w, const safetensors_file *f, const char *suffix,
                     const char *path, snip_status *st);

/* Writes a model. `history` is an object of strings for the metadata (stage, steps, ...). */
snip_code model_save(const model *m, const char *path, const json_t *history, snip_status *st);

/* The same with float16 numbers: half the size, for models that are no longer trained. With the
 * networks of its promise, as floats, unless that is NULL. */
snip_code model_save_half(const model *m, const char *path, const json_t *history,
                          const model_promise *promise, snip_status *st);

/* Whether a model with these metadata was trained with tree positions: all stages but S0. Files
 * that tell no stage are SNIP's own: plain. */
int model_has_tree(const json_t *metadata);

/* The model in a file that has been read, in `a`; `path` is for messages. All tensors must be the
 * model's or its promise's, which is not read here. */
snip_code model_read(model **out, const safetensors_file *f, const char *path, arena *a,
                     snip_status *st);

/* Reads a model into `a`. *metadata (if not NULL) receives the metadata; the caller releases it. */
snip_code model_load(model **out, const char *path, json_t **metadata, arena *a, snip_status *st);

#endif
