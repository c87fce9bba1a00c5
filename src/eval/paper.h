/* paper.h - the numbers that the SNIP++ paper prints, to stand beside ours. */
#ifndef EVAL_PAPER_H
#define EVAL_PAPER_H

#include <jansson.h>

/* One printed number of both models; NAN where the paper gives none. Percentages are fractions,
 * counts that do not depend on the model are in both columns. */
typedef struct eval_paper {
    const char *key; /* "global.f2y.r10": a path of results.json wherever there is one */
    double snip, snippp;
} eval_paper;

/* The number, or NULL: most values by family are only drawn in the paper's figures. */
const eval_paper *eval_paper_find(const char *key);

/* All of them: key -> [SNIP, SNIP++]. NULL when memory is out. */
json_t *eval_paper_json(void);

#endif
