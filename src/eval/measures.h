/* measures.h - what the evaluation measures: one table of the suites, and one of their figures with
 * the SNIP++ paper's. The terminal's table, the page and scripts/results.py read these; a new suite
 * is a row here, its figures are rows there.
 *
 *     const eval_measure *m = eval_measure_printed("global.f2y.r10");
 *     if (m)
 *         printf("%g %g\n", m->paper[EVAL_PAPER_SNIP], m->paper[EVAL_PAPER_SNIPPP]);
 */
#ifndef EVAL_MEASURES_H
#define EVAL_MEASURES_H

#include <jansson.h>

#include "eval/suites.h"
#include "page/html.h"

struct eval_page;

/* A suite. Its results are an object of its name in results.json. */
typedef struct eval_suite {
    const char *name; /* on the command line and in results.json */
    const char *also; /* an older name that the command line takes, too, or NULL */
    int asked;        /* runs only if it is asked for by name */
    int shared;       /* MPI's processes share its work; of the others the first does all */
    /* The suite itself. NULL: controlled edits of whole expressions, or of `subtrees`, whose scores
     * are kept to compare models. */
    snip_code (*run)(json_t **out, model_space *s, const eval_how *how, snip_status *st);
    int subtrees;
    /* Its part of the page: a title, a paragraph, and what draws the rest. */
    const char *title, *what;
    void (*draw)(struct eval_page *g);
} eval_suite;

enum { EVAL_SUITES = 9 };
extern const eval_suite eval_suites[EVAL_SUITES];

enum { EVAL_PAPER_SNIP, EVAL_PAPER_SNIPPP, EVAL_PAPERS };

/* A figure of a suite. */
typedef struct eval_measure {
    const char *path; /* below a model's suites in results.json; a|b: the mean over a and b */
    page_format format;
    double paper[EVAL_PAPERS]; /* of the paper's two models, shares as fractions; counts that do not
                                * depend on the model are in both. 0, 0: the paper prints none */
    const char *line;          /* in the terminal's table; NULL: not there */
    const char *summary;       /* in the page's summary; NULL: not there */
    const char *row;           /* in the table of its part of the page; NULL: made there */
    const char *key;           /* of the paper's numbers in results.json; NULL: the path */
} eval_measure;

/* All of them, in the order of the suites; the last has no path. */
extern const eval_measure eval_measures[];

/* The figure with that path or key, NULL if there is none. */
const eval_measure *eval_measure_find(const char *key);

/* The same if the paper prints it, else NULL: most values by family are only drawn in its figures.
 */
const eval_measure *eval_measure_printed(const char *key);

/* The paper's numbers as results.json has them: key -> [SNIP, SNIP++]. NULL when memory is out. */
json_t *eval_paper_json(void);

#endif
