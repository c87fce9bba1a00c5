/* report.h - the results of an evaluation as a page to read. */
#ifndef EVAL_REPORT_H
#define EVAL_REPORT_H

#include <jansson.h>

#include "base/status.h"

/* Writes the page for the results of `snip evaluate` (docs/formats.md, results.json) to `path`,
 * replaced whole: one HTML file with its figures inside, readable without a network and on paper.
 * What is missing in `results` is left out or said in a sentence; nothing in it is trusted. */
snip_code eval_report(const json_t *results, const char *path, snip_status *st);

#endif
