/* refits.h - forms in the order of their error: what a fit would say of a law's rivals and edits.
 *
 * The contrastive loss holds a table against its own form and pushes all others away alike. A list
 * tells how far each deserves it: other laws and edits of the law, each with the digits
 * -log10(1 - R^2) that it reaches once its constants are fitted to the law's table. */
#ifndef TRAIN_REFITS_H
#define TRAIN_REFITS_H

#include "data/laws.h"

enum {
    TRAIN_REFITS = 12,         /* forms of a list, the law's own among them */
    TRAIN_REFITS_UNIT = 1000,  /* digits are counted in thousandths */
    TRAIN_REFITS_LEAST = -300, /* the least: of forms that are not finite, or worse than this */
    TRAIN_REFITS_MOST = 6000   /* more would be the luck of a short fit */
};

typedef struct train_refit {
    expr core;  /* in standardised inputs, a canonical core (expr_canonical) */
    int digits; /* after the fit, in thousandths */
} train_refit;

/* The law whose forms are listed: as a person measured it, and its standardised table. */
typedef struct train_refits_of {
    const data_law *law;
    const data_sample *s;
    int all_free;         /* even what standardising brings in is free */
    double quantities;    /* share of rival laws whose constants are inputs, too */
    uint64_t seed, index; /* of the law */
} train_refits_of;

/* Draws a list into out[0..TRAIN_REFITS), in `a`; *n is its length, 0 where fewer than three forms
 * were found. The held-out families of edits are not used as such: operands are not swapped, trees
 * not reshaped, subtrees not replaced by new ones; 1/(a/b), a function put around a part, is b/a
 * all the same. Fails only for want of memory. */
snip_code train_refits_draw(train_refit *out, size_t *n, const train_refits_of *of, rng *r,
                            arena *a);

#endif
