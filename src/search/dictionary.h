/* dictionary.h - what sums of products are made of: monomials, and short functions of them.
 *
 * Exponents are counted in halves, so that roots are monomials, too: p = 3 is x^1.5. */
#ifndef SEARCH_DICTIONARY_H
#define SEARCH_DICTIONARY_H

#include "search/search_int.h"

enum {
    DICTIONARY_INPUTS = 10, /* inputs that take part at most */
    DICTIONARY_HALVES = 8   /* the largest exponent, in halves */
};

typedef struct monomial {
    int8_t p[DICTIONARY_INPUTS]; /* exponents of the inputs, in halves */
    uint8_t cost;                /* how much longer it is to write than 1 */
} monomial;

/* Which exponents there are. */
typedef enum exponents {
    EXPONENTS_ANY,   /* halves, up to 4 */
    EXPONENTS_WHOLE, /* up to 4 */
    EXPONENTS_TWO,   /* 1 and 2 */
    EXPONENTS_ONE
} exponents;

/* Where a part belongs. */
enum {
    PART_FACTOR = 1, /* the logarithm of it may stand beside logarithms of inputs */
    PART_TERM = 2    /* it may be multiplied by a monomial and added */
};

/* A short function of the inputs that is no monomial: sin(x0*x1), x0 - x1, 1 - x0^2. */
typedef struct part {
    expr e; /* in the view's columns */
    unsigned inputs;
    uint8_t use; /* PART_FACTOR | PART_TERM */
    uint8_t cost;
} part;

typedef struct dictionary {
    const search_view *v;
    size_t n, rows;
    uint16_t input[DICTIONARY_INPUTS]; /* columns of the view */
    int sign[DICTIONARY_INPUTS];       /* of all values: 1, -1, or 0 where they differ */
    double *power[DICTIONARY_INPUTS];  /* rows of x^(h/2) for h = -HALVES .. HALVES */
    part *part;
    size_t parts;
} dictionary;

/* Takes the inputs that matter most and the values on `rows` rows; `size` bounds the parts. All in
 * `a`. Returns 0 when memory is out. */
int search_dictionary_make(dictionary *d, const search *s, const search_view *v, size_t rows,
                           size_t size, arena *a);

/* Monomials of the inputs in `mask`, the shortest first, without 1; at most `room`, of at most
 * `inputs` inputs each. Returns how many. */
size_t search_dictionary_monomials(const dictionary *d, unsigned mask, size_t inputs,
                                   exponents which, monomial *out, size_t room);

/* The values on the first `rows` rows, multiplied to what is there. */
void search_dictionary_times(const dictionary *d, const monomial *m, double *value, size_t rows);

/* The product as a formula; empty for 1. */
expr search_dictionary_product(const dictionary *d, const monomial *m, arena *a);

/* u * w and u / w where either may be empty, for 1. */
expr search_dictionary_times_of(expr u, expr w, arena *a);

#endif
