/* textbook.h - named laws of the textbooks, fitted to a table: which of them is it?
 *
 *     library_textbook book;
 *     library_textbook_builtin(&book, a, &st);
 *     library_textbook_find(&c, &found, &problem, &book, NULL, &how, a, &st);
 *     // c[0].name, c[0].field, c[0].fitted: best first
 *
 * A law is fitted in units of the table's own size and then carried back to the user's, so metres
 * and nanometres give the same answer. No model is needed. */
#ifndef LIBRARY_TEXTBOOK_H
#define LIBRARY_TEXTBOOK_H

#include "regress/rank.h"

enum {
    LIBRARY_ROLES_MAX = 4,   /* x, y, z, w */
    LIBRARY_LAW_INPUTS = 30, /* that a table may have */
};

typedef struct library_textbook_law {
    const char *name, *field, *text;
    expr e;       /* variable k is role k; numbers written without a point are fixed */
    size_t roles; /* inputs it needs, 0 for a constant */
} library_textbook_law;

typedef struct library_textbook {
    library_textbook_law *law;
    size_t count;
} library_textbook;

/* Laws from text: a line each, tab-separated name, field and formula; # begins a comment. `name` is
 * for messages. Everything lives in `a`. */
snip_code library_textbook_parse(library_textbook *out, const char *name, const char *text,
                                 arena *a, snip_status *st);

/* Those that come with the program, data/laws.tsv. */
snip_code library_textbook_builtin(library_textbook *out, arena *a, snip_status *st);

/* Changes the free numbers of e in place so that its values at x are target * e(x[0]/unit[0],
 * x[1]/unit[1], ...) as it was, for units above 0. Returns 0, with e in no defined state, if its
 * numbers cannot do that: sin(x) + x has no other unit of x. */
int library_law_carry(expr e, const double *unit, double target);

typedef struct library_textbook_how {
    size_t k;
    int starts; /* of each fit; 0: 4 */
    int threads;
    void (*step)(void *context, size_t done, size_t of); /* after each law; may be NULL */
    void *context;
} library_textbook_how;

/* The k best laws for the table, in the user's names and units, judged as by regress_rank and
 * ordered by error and size together, like its balance, but by the error over all rows, fitted ones
 * per degree of freedom, and with constants charged beside nodes. Each law that needs no more
 * inputs than there are is fitted with its roles played by the inputs in every way, or where there
 * are more than three inputs, by the four that matter most; the way that fits best is kept. `t`
 * gives similarities if it reads forms and as many inputs; it may be NULL. place is the law's place
 * in the book, from 1. Laws without finite values are left out. The same answer with any number of
 * threads. */
snip_code library_textbook_find(regress_candidate **out, size_t *found, const regress_problem *p,
                                const library_textbook *book, const model_opened *t,
                                const library_textbook_how *how, arena *a, snip_status *st);

#endif
