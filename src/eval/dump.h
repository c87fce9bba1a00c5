/* dump.h - all embeddings of a suite in files, so that others can compute on them. */
#ifndef EVAL_DUMP_H
#define EVAL_DUMP_H

#include "model/space.h"

typedef struct eval_dump eval_dump;

/* Opens FOLDER/NAME.symbols.npy, .values.npy and .jsonl; what is embedded in `s` from then on goes
 * there too, until the dump is closed. */
snip_code eval_dump_open(eval_dump **out, model_space *s, const char *folder, const char *name,
                         snip_status *st);

/* Completes the files and releases the dump; NULL is fine. */
snip_code eval_dump_close(eval_dump *d, snip_status *st);

#endif
