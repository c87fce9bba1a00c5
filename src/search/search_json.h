/* search_json.h - the answer of a search as JSON, for the command, the page and other programs. */
#ifndef SEARCH_SEARCH_JSON_H
#define SEARCH_SEARCH_JSON_H

#include <jansson.h>

#include "search/search.h"

/* One formula of a front, in the user's names. NULL when memory is out. */
json_t *search_formula_json(const search_formula *f, const expr_names *names, arena *a);

/* The whole answer: seconds, evaluations, seed, selected (a place in `front`), front, note. */
json_t *search_result_json(const search_result *r, const expr_names *names, arena *a);

#endif
