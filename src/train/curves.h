/* curves.h - the log of a run as a page: losses, retrieval and rates over the samples seen. */
#ifndef TRAIN_CURVES_H
#define TRAIN_CURVES_H

#include "base/status.h"

/* Reads FOLDER/log.jsonl and replaces FOLDER/curves.html: one page, readable without a network. */
snip_code train_curves(const char *folder, snip_status *st);

#endif
