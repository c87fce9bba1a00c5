/* products_int.h - what the files of the stage `products` share; see products.c. */
#ifndef SEARCH_PRODUCTS_INT_H
#define SEARCH_PRODUCTS_INT_H

#include "search/dictionary.h"
#include "search/sparse.h"

#define NODE_BITS 4.0 /* what a node of a formula costs, about */

enum {
    EACH = 60,             /* sets of every number of terms that are measured in y */
    PRODUCTS_PER_ROUND = 2 /* tasks of a round */
};

/* The target of one product: h(y) is the product. */
typedef enum products_inverse { AS_IS, SINE, COSINE, INVERSES } products_inverse;

/* One thing to try. */
typedef struct products_task {
    enum { PRODUCT, SUM, CURVE } kind;
    products_inverse h; /* for one product */
    monomial m;         /* for a sum and for a curve: M */
    unsigned rest;      /* inputs that are not in M; columns are made of these */
    double q;           /* for a sum: of (y/M)^q */
    int deep;           /* for a sum: monomials with exponents 1 and 2 alone, but many */
} products_task;

typedef struct products_work {
    search *s;
    const search_view *v;     /* rows to find formulas with */
    const search_view *whole; /* rows to measure them on */
    dictionary d;
    size_t few, many; /* rows for finding, rows for measuring */
    int noisy;        /* many rows for finding */
    const products_task *task;
    size_t tasks;
} products_work;

/* How many columns of so many rows a task can have in the search's memory: `most`, or fewer. */
size_t search_products_columns(const products_work *w, size_t most, size_t rows);

/* ---- measuring in y ---- */

typedef struct products_candidate {
    expr e;
    double bits;
    size_t order; /* of finding: ties are broken by it */
} products_candidate;

typedef struct products_list {
    products_candidate *at;
    size_t count, room;
} products_list;

/* An empty list with room for so many formulas. Returns 0 when memory is out. */
int search_shortlist_make(products_list *list, size_t room, arena *a);

/* Takes a formula of the view into the list if it is finite. */
void search_shortlist_consider(search_job *j, const products_work *w, products_list *list, expr e);

/* Offers those of the least description length. */
void search_shortlist_offer(search_job *j, const products_work *w, products_list *list);

/* ---- exponents ---- */

/* Each value times its weight; 0 where there is none. */
void search_products_weigh(double *v, const double *weight, size_t rows);

/* The inputs' logarithms and 1, weighted. Returns how many. */
size_t search_products_logs(const products_work *w, const double *weight, size_t rows,
                            double **base, size_t *which, arena *a);

/* Exponents as people write them. */
double search_products_halves(double p);

/* How fitted exponents are written: snapped to halves, to whole numbers, or free where they are far
 * from halves. */
typedef enum products_snapping { TO_HALVES, TO_WHOLE, TO_NONE } products_snapping;

/* A product of powers from fitted exponents. Returns 0 if they are out of range, or if snapping to
 * halves gives the same. */
int search_products_powers(const products_work *w, const double *coef, const size_t *which,
                           size_t n, products_snapping to, monomial *m, expr *free, arena *a);

/* ---- the tasks ---- */

void search_products_product(search_job *j, const products_work *w, const products_task *t);
void search_products_sum(search_job *j, const products_work *w, const products_task *t);
void search_products_curves(search_job *j, const products_work *w, const products_task *t);

/* Offers the best formulas so far with one thing less. */
snip_code search_products_prune(search *s, snip_status *st);

#endif
