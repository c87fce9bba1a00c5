/* cached.h - a small library of formulas in the user's cache, made on first use. */
#ifndef CLI_CACHED_H
#define CLI_CACHED_H

#include "cli/cli.h"
#include "model/opened.h"

/* The path, in `a`, of the library for this model: below $XDG_CACHE_HOME/snip, else ~/.cache/snip.
 * Where it is not there it is made, which takes some seconds and is said on standard error unless
 * `quiet`. Another process sees it whole or not at all. NULL, after one line that says why, where
 * it cannot be made. */
const char *cli_cached_library(const cli_command *self, const model_opened *m, int threads,
                               int quiet, arena *a);

#endif
