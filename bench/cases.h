/* cases.h - formulas with tables of their own, for benchmarks of what the tools find. */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include <jansson.h>

#include "regress/problem.h"

typedef struct bench_case {
    const char *source;        /* the corpus, or "generated" */
    const char *id, *function; /* as in the corpus; the function is NULL for generated ones */
    expr e;                    /* in the table's inputs */
    regress_problem p;
} bench_case;

/* The formulas of the three corpora that the model can read, each with 200 rows from its published
 * ranges, then `generated` samples of the library stream with at most 5 inputs. Returns their
 * number, or (size_t)-1 when memory is out. */
size_t bench_cases(bench_case **out, const model_opened *t, size_t generated, arena *a);

enum { BENCH_SUMS = 16 };

/* A measure over cases: sums that `judge` adds to for each (it returns 0 when memory is out), and
 * what they amount to. */
typedef struct bench_measure {
    const char *name;
    size_t generated;
    int (*judge)(double *sum, const bench_case *c, size_t index, const model_opened *m,
                 int threads);
    json_t *(*figures)(const double *sum);
} bench_measure;

/* The measure's figures by source and over all, with the model in a file. NULL with *st set on
 * failure.
 */
json_t *bench_over_cases(const bench_measure *b, const char *model, int threads, snip_status *st);

#endif
