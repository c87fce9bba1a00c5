/* parts.h - small functions of the columns that behave differently, each kept once.
 *
 * A part is an operator over parts before it, and its values on a few rows. Two parts that differ
 * by a factor are one: the whole is fitted with a factor, and products take it along. Shifts do
 * matter inside of functions and products, so x and 1 + x are two.
 *
 * Whether a part is new is told by six numbers: its values as a vector of length 1, projected on
 * six fixed random directions. A hash table over small cells of the first three finds equal ones,
 * and an index over larger cells finds near ones: what a target over a part looks like, say. Noise
 * hardly moves a projection: its own share of y over the root of the rows. */
#ifndef SEARCH_PARTS_H
#define SEARCH_PARTS_H

#include "expr/vec.h"
#include "search/search_int.h"

enum { PARTS_KEYS = 6, PARTS_CELL = 3, PARTS_FACTORS = 4 };

/* Factors that an argument of a function may have. */
extern const double search_parts_factor[PARTS_FACTORS];

enum { PART_FUNCTION = 1, PART_SHIFTED = 2, PART_ROOT = 4, PART_CONSTANT = 8 };

typedef struct part {
    uint32_t a, b;         /* its operands; the column of a variable */
    uint8_t op;            /* an expr_op: EXPR_NUMBER is the number 1 */
    uint8_t factor;        /* of a function's argument, a place in search_parts_factor */
    uint8_t weight;        /* parts are made in the order of their weights */
    uint8_t flags;         /* PART_...: what is inside */
    uint16_t used, twice;  /* bit j: column j is inside, and more than once */
    float key[PARTS_KEYS]; /* projections of the values, brought to length 1 */
    float length;          /* of the values as they are; negative: the keys are those of -values */
} part;

typedef struct parts {
    size_t rows; /* at most SEARCH_FEW */
    size_t count, max;
    part *at;
    float *value;    /* rows of each */
    uint32_t *slot;  /* the hash table: place + 1, 0 is empty */
    size_t slots;    /* a power of two */
    double *project; /* [PARTS_KEYS][rows] */
    const expr_vec *vec;
} parts;

/* Room for up to `max` parts on so many rows, less if memory is short; all in `a`. Returns 0 when
 * not even a few can be had. */
int search_parts_make(parts *p, size_t rows, size_t max, arena *a);

/* Sets key and length of *q from its values. Returns 0 if these are not finite, too large or small
 * for arithmetic, or constant. */
int search_parts_measure(part *q, const parts *p, const double *value);

/* The place of a part with the same key, or -1. */
ptrdiff_t search_parts_find(const parts *p, const part *q);

/* Adds a part that was measured unless an equal one is there. Returns 1 if it was added. */
int search_parts_add(parts *p, const part *q, const float *value);

/* The values of part i as doubles. */
void search_parts_load(double *to, const parts *p, size_t i);

/* The values of op applied to operands that were loaded. */
void search_parts_apply(double *to, const parts *p, const part *q, const double *a,
                        const double *b);

/* The formula of a part, in `a`: in the columns that `column` gives the numbers of (NULL: as they
 * are). With `open`, numbers that people would measure are free ones: factors in arguments of
 * functions, and between the terms of sums. node is NULL when memory is out or it is too long. */
expr search_parts_formula(const parts *p, const part *q, const size_t *column, int open, arena *a);

/* ---- near ones ---- */

/* An index of the parts by cells of a given width. */
typedef struct parts_index {
    const parts *p;
    double tolerance, width;
    uint32_t *start; /* of each bucket, in `place` */
    uint32_t *place;
    float (*key)[PARTS_KEYS]; /* in the order of `place` */
    size_t buckets;
} parts_index;

int search_parts_index_make(parts_index *out, const parts *p, double tolerance, arena *a);

/* Up to `max` parts whose keys are within the tolerance of q's; equal ones are always among them.
 */
size_t search_parts_near(uint32_t *out, size_t max, const parts_index *x, const part *q);

#endif
