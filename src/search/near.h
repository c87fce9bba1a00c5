/* near.h - forms of a library whose vectors are near to a table's.
 *
 * A library holds forms in inputs of mean 0 and deviation 1: x0*x1 is (c + x0)*(c + x1) there. For
 * a search, what is added to a single input goes, and inputs stand for the table's own, each over
 * its deviation; constants are fitted later. A model that reads formulas with their constants only
 * has a library of these, which keep them. */
#ifndef SEARCH_NEAR_H
#define SEARCH_NEAR_H

#include "library/file.h"
#include "regress/rank.h"
#include "search/search_int.h"

enum { NEAR_INPUTS = 10, NEAR_FORMS = 24 }; /* inputs of a table; forms of one look-up */

/* The look-ups of a search: library and model, opened once. */
typedef struct search_near {
    search *s;
    library_file *library;
    model_space *vectors;
    int forms;    /* the model reads forms, and the library holds them */
    double spent; /* share of the budget that grafts (graft.h) took, all together */
} search_near;

/* A form of the library. */
typedef struct near_form {
    expr row;                  /* as the library has it */
    size_t order[NEAR_INPUTS]; /* its input i is column order[i] of the table */
    regress_nearness near;     /* vectors are NULL where nothing was looked up */
} near_form;

/* Opens both; *out lives in s->a. The library must have been made with the model. */
snip_code search_near_open(search_near **out, search *s, snip_status *st);
void search_near_close(search_near *n);

/* The nearest forms of a table, best first, as it is and turned upside down, with its inputs as p
 * has them in order; rows live in `a`. Counts as 500 evaluations for each of both. Fails only when
 * memory is out or the library is damaged: a table that the model cannot read has no forms. */
snip_code search_near_find(search_near *n, const regress_problem *p, regress_inputs set,
                           near_form *out, size_t *count, arena *a, snip_status *st);

/* What form e, whose values go with y as closely as told, promises before a fit. NaN also when
 * memory is out; `tmp` is left as found. */
double search_promise(const model_promise *w, const regress_nearness *near, double correlation,
                      expr e, arena *tmp);

/* A library's form in columns of these means and deviations. node is NULL when memory is out. */
expr search_near_place(const near_form *f, int forms, const double *mean, const double *deviation,
                       arena *a);

#endif
