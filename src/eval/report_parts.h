/* report_parts.h - what the files of the page share; for report*.c only. */
#ifndef EVAL_REPORT_PARTS_H
#define EVAL_REPORT_PARTS_H

#include "eval/plot.h"

#define RANK        "percentile rank (dashed: chance)"
#define COUNT(list) (sizeof(list) / sizeof *(list))

enum { LEFT = 56, HEIGHT = 280, SQUARE = PAGE_WIDTH - LEFT - PAGE_RIGHT + PAGE_TOP + PAGE_BOTTOM };

/* The section about forms. */
void eval_forms_part(eval_page *g);

/* The section of the four probes. */
void eval_probes_part(eval_page *g);

#endif
