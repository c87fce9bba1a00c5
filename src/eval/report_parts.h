/* report_parts.h - what the files of the page share; for report*.c only. */
#ifndef EVAL_REPORT_PARTS_H
#define EVAL_REPORT_PARTS_H

#include "data/edits.h"
#include "eval/plot.h"

#define RANK        "percentile rank (dashed: chance)"
#define COUNT(list) (sizeof(list) / sizeof *(list))

enum { LEFT = 56, HEIGHT = 280, SQUARE = PAGE_WIDTH - LEFT - PAGE_RIGHT + PAGE_TOP + PAGE_BOTTOM };

/* Names of results.json with what the page calls them. */
extern const eval_named eval_families[DATA_FAMILIES], eval_directions[2];

/* Counts of a pool beside the paper's: things down, our columns and then the same of the paper. */
void eval_counts(eval_page *g, const char *ours, const char *theirs, const eval_named *thing,
                 size_t things, const eval_named *column, const char *const *key, size_t columns);

/* What draws the suites' parts of the page (measures.h), below their titles. */
void eval_global_part(eval_page *g);
void eval_geometry_part(eval_page *g);
void eval_edits_part(eval_page *g);
void eval_subtrees_part(eval_page *g);
void eval_corpora_part(eval_page *g);
void eval_forms_part(eval_page *g);
void eval_probes_part(eval_page *g);
void eval_explain_part(eval_page *g);
void eval_candidates_part(eval_page *g);

/* The parts that are no suites, and whether there is something to show. */
int eval_has_ladder(const eval_page *g);
void eval_ladder_part(eval_page *g);
int eval_has_comparisons(const eval_page *g);
void eval_comparisons_part(eval_page *g);

#endif
