/* results.h - what was found, for programs and pages: a ranking, an explanation and a fitted law as
 * JSON, the last two as pictures, too.
 *
 *     json_t *o = regress_ranking_json(c, n, &problem, model->hash, a);
 *     text t = { .a = a };
 *     regress_explanation_svg(&t, &x, &problem);
 *     const char *svg = text_end(&t);      // NULL when memory ran out
 *
 * Nothing here prints. JSON belongs to the caller and is NULL when memory is out; docs/formats.md
 * tells its keys. Texts on the way are made in `a`. */
#ifndef REGRESS_RESULTS_H
#define REGRESS_RESULTS_H

#include <jansson.h>

#include "page/svg.h"
#include "regress/estimate.h"
#include "regress/explain.h"

/* ---- rank ---- */

json_t *regress_candidate_json(const regress_candidate *c, const expr_names *names, arena *a);

/* The first n candidates with what they were judged by; `model` is its hash, NULL: none. */
json_t *regress_ranking_json(const regress_candidate *c, size_t n, const regress_problem *p,
                             const char *model, arena *a);

/* ---- explain ---- */

/* The explanation with its `top` first edits. */
json_t *regress_explanation_json(const regress_explanation *x, const regress_problem *p, size_t top,
                                 const char *model, arena *a);

/* One edit, or pair, that was refitted. */
json_t *regress_edit_json(const regress_explanation *x, const regress_edit *e,
                          const regress_problem *p, arena *a);

/* Adds the formula's tree as a picture: the more an edit of a part would gain, the darker it is. */
void regress_explanation_svg(text *t, const regress_explanation *x, const regress_problem *p);

/* What node i of the formula is called in the tree; may be in buf. */
const char *regress_node_label(const regress_explanation *x, size_t i, const expr_names *names,
                               char buf[48]);

/* How much of the largest gain node i has, 0 .. 1. */
double regress_gain_share(const regress_explanation *x, size_t i);

/* ---- fit-constants ---- */

/* A fitted law with what it was fitted to. */
typedef struct regress_fitted {
    const char *given;  /* the formula's text */
    const char *target; /* its column's name */
    const regress_law *law;
    const regress_estimate_data *d;
    const regress_estimate *r;
    double level;
    const regress_validation *validation; /* or NULL */
    double share;                         /* of the rows held out for it, or 0 */
    size_t folds;                         /* or parts that it was done by */
    arena *a;
} regress_fitted;

/* The formula with the estimates, in as many digits as it needs (`rounded`) or all. "" when memory
 * is out. */
const char *regress_fitted_formula(const regress_fitted *f, snip_format format, int rounded);

/* The k-th thing that the numbers do not say of themselves; NULL after the last. */
const char *regress_fitted_note(const regress_fitted *f, int k);

json_t *regress_fitted_json(const regress_fitted *f);

/* Adds a picture of data, curve with its band and residuals; with several inputs it has the
 * measured values against the fitted ones in place of the curve. */
void regress_fitted_svg(text *t, const regress_fitted *f);

#endif
