/* finish.h - from what a search found to what a user reads. */
#ifndef SEARCH_FINISH_H
#define SEARCH_FINISH_H

#include "search/search_int.h"

/* The front as it is reported: constants fitted to all rows, clean values where the data allow,
 * standard errors, errors of exactly the formula that is printed; one selected. Everything lives in
 * `a`. */
snip_code search_finish(search_result *out, search *s, arena *a, snip_status *st);

#endif
