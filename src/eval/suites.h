/* suites.h - the parts of the paper's evaluation. Each turns a model's space into a JSON object of
 * results.json (docs/formats.md), and fails with one line that says why it cannot.
 *
 * All draw from held-out streams under how->seed; which samples they use depends on nothing else,
 * so models are compared on the same ones. */
#ifndef EVAL_SUITES_H
#define EVAL_SUITES_H

#include "base/progress.h"
#include "base/ranks.h"
#include "data/corpora.h"
#include "data/edits.h"
#include "eval/metrics.h"
#include "model/promise.h"
#include "model/space.h"

typedef struct eval_how {
    uint64_t seed;
    size_t pairs;   /* of global retrieval */
    size_t targets; /* of the controlled edits */
    size_t
        subtree_variants; /* most edits of a family per subtree; 0: as many as of whole formulas */
    double noise;         /* of retrieval: added to y, relative to its deviation */
    size_t rows;          /* of retrieval: rows of a table; 0: all 200 */
    size_t problems;   /* laws of the suite `forms`; up to twice as many formulas of the corpora */
    size_t library;    /* forms in its library */
    double quantities; /* share of its laws whose constants are inputs, too */
    const data_corpus *corpus; /* its formulas in place of the corpora's, or NULL */
    const progress_show *show; /* is told how far it is, or NULL */
    ranks *ranks;              /* split the global suite between them, or NULL */
    const model_promise
        *promise; /* of the model; NULL, or none in it: the suite `forms` makes one */
} eval_how;

enum { EVAL_DIRECTIONS = 2, EVAL_SUBTREES_MAX = 8, EVAL_PLANE_PAIRS = 800, EVAL_READINGS_MAX = 2 };
extern const char *const eval_direction_names[EVAL_DIRECTIONS]; /* f2y, y2f */

/* Percentile ranks of targets under controlled edits: pr[direction][family * units + target], NaN
 * where a target has no edit of the family. */
typedef struct eval_scores {
    size_t units;
    double *pr[EVAL_DIRECTIONS];
    double *variants;        /* [family * units + target], of the original or of all its parts */
    size_t usable;           /* targets that were scored */
    size_t parts;            /* subtrees scored, or targets */
    float *symbols, *values; /* rows of the originals, `parts` of them */
    size_t *owner;           /* their targets */
} eval_scores;

/* How the symbolic encoder reads an expression: `inputs` stand in place of the variables (NULL: the
 * variables themselves). */
typedef struct eval_reading {
    const expr *inputs;
    const char *label;        /* for dumps: a JSON string's inside */
    const model_words *words; /* of the whole expression so read, or NULL: not made */
} eval_reading;

/* An expression to edit: its values y on x; `view`, the inputs as the numeric encoder sees them (x
 * itself in training); the ways in which it is read, each scored by itself. */
typedef struct eval_target {
    expr e;
    const double *const *x, *const *view;
    eval_reading reading[EVAL_READINGS_MAX];
    int readings;
    int dim;
    size_t rows;
    const double *y;
    uint64_t id;   /* chooses its random numbers, */
    int of_corpus; /* and so does where it is from */
} eval_target;

/* Scores of whole expressions, or of up to EVAL_SUBTREES_MAX subtrees each, in context: out[r] of
 * reading r, of which all targets have the same number. Edits that are too long for the model in
 * one reading are left out of all. Everything lives in `a`. */
snip_code eval_local(eval_scores *out, model_space *s, const eval_target *t, size_t n, int subtrees,
                     const eval_how *how, arena *a, snip_status *st);

/* The held-out targets of the edit suites. */
snip_code eval_targets(eval_target **out, const eval_how *how, arena *a, snip_status *st);

/* The pool of edits of these targets, before a model finds some too long: how many targets there
 * are, how many are used, and of each family how many have variants, with their mean and median.
 * NULL when memory is out. */
json_t *eval_pool_json(const eval_how *how);

/* {"r1":…,"r10":…,"ndcg10":…,"mrr":…,"median_rank":…} */
json_t *eval_retrieval_json(const eval_retrieval *r);

/* "families", "seen", "held_out", "average", ... of scores. */
json_t *eval_scores_json(const eval_scores *s, uint64_t seed);

/* {"a":…,"settings":[…],"better":…}: where a is better than b, by family and direction. Scores may
 * be NULL where a suite was not run. */
json_t *eval_compare(const eval_scores *a_edits, const eval_scores *b_edits,
                     const eval_scores *a_subtrees, const eval_scores *b_subtrees, uint64_t seed);

/* The suites. Fills *out, which is NULL on failure. */
snip_code eval_global(json_t **out, model_space *s, const eval_how *how, snip_status *st);
snip_code eval_geometry(json_t **out, model_space *s, const eval_how *how, snip_status *st);
snip_code eval_corpora(json_t **out, model_space *s, const eval_how *how, snip_status *st);
snip_code eval_forms(json_t **out, model_space *s, const eval_how *how, snip_status *st);
snip_code eval_probes(json_t **out, model_space *s, const eval_how *how, snip_status *st);
snip_code eval_explain(json_t **out, model_space *s, const eval_how *how, snip_status *st);
snip_code eval_candidates(json_t **out, model_space *s, const eval_how *how, snip_status *st);

#endif
