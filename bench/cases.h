/* cases.h - formulas with tables of their own, for benchmarks of what the tools find. */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include "tools/problem.h"

typedef struct bench_case {
    const char *source; /* the corpus, or "generated" */
    const char *id;
    expr e; /* in the table's inputs */
    tools_problem p;
} bench_case;

/* The formulas of the three corpora that the model can read, each with 200 rows from its published
 * ranges, then `generated` samples of the library stream with at most 5 inputs. Returns their
 * number, or (size_t)-1 when memory is out. */
size_t bench_cases(bench_case **out, const tools_model *t, size_t generated, arena *a);

#endif
