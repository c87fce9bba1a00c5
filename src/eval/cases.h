/* cases.h - formulas with tables of their own, for the suites that measure what rank and explain
 * find: `candidates` and `explain`. */
#ifndef EVAL_CASES_H
#define EVAL_CASES_H

#include "eval/suites.h"
#include "regress/problem.h"

typedef struct eval_case {
    const char *source;   /* the corpus, or "generated" */
    const char *function; /* as in the corpus; NULL for generated ones */
    expr e;               /* in the table's inputs */
    regress_problem p;
} eval_case;

/* One number of a case; its figure is the mean over the cases that have one. */
typedef struct eval_case_value {
    const char *group; /* the object that holds it, NULL: that of the source */
    const char *name;
} eval_case_value;

enum { EVAL_CASE_VALUES = 16 };

/* What a suite measures of every case. `judge` fills a value each, NaN where there is none, and
 * returns 0 when memory is out. */
typedef struct eval_case_suite {
    const char *what; /* for the progress line */
    size_t generated; /* cases beside those of the corpora */
    const eval_case_value *value;
    size_t values;
    int (*judge)(double *out, const eval_case *c, size_t index, const model_opened *m,
                 const eval_how *how, int threads);
} eval_case_suite;

/* The suite's figures by source and over all: {"feynman":{...},...,"all":{...}}. The cases are the
 * formulas of the three corpora that the model can read, each with 200 rows from its published
 * ranges, then generated samples with at most 5 inputs. Beside its figures an object has
 * "formulas": how many cases have a number of the first of them. */
snip_code eval_over_cases(json_t **out, const eval_case_suite *suite, model_space *s,
                          const eval_how *how, snip_status *st);

#endif
