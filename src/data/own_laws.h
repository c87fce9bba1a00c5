/* own_laws.h - a user's formulas with the ranges of their inputs, as samples to train on.
 *
 *     data_own_laws own;
 *     if (data_own_laws_read(&own, text, a, &st) == SNIP_OK)
 *         data_own_law_draw(&s, &own, &gen, seed, RNG_TRAIN, i, a);
 *
 * The text has a formula a line, a tab, and a range for each input; # begins a comment:
 *
 *     A*exp(-b*t)     t=0:10 A=1:5 b=0.1:2
 *
 * Numbers in the formula are free constants: a sample multiplies them by factors between a half and
 * two now and then, so that what is learned is the law and not one table of it. */
#ifndef DATA_OWN_LAWS_H
#define DATA_OWN_LAWS_H

#include "data/gen.h"

typedef struct data_own_law {
    expr e; /* of x0, x1, ..., in the order of the ranges */
    int dim;
    double low[DATA_DIMS_MAX], high[DATA_DIMS_MAX];
} data_own_law;

typedef struct data_own_laws {
    size_t count;
    data_own_law *law;
    uint64_t hash; /* of the text, in 53 bits: two runs with other formulas are other runs */
} data_own_laws;

/* Reads the text, which is changed on the way, into `a`. SNIP_FORMAT, with the line in the message,
 * for what cannot be read, for inputs without a range, and for a formula of which no usable sample
 * can be drawn. */
snip_code data_own_laws_read(data_own_laws *out, char *text, arena *a, snip_status *st);

/* Fills `out` as data_law_draw does, from one of the formulas. Pure in (seed, stream, index). */
snip_code data_own_law_draw(data_sample *out, const data_own_laws *own, const data_gen *gen,
                            uint64_t seed, rng_stream stream, uint64_t index, arena *a);

#endif
