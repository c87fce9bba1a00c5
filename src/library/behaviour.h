/* behaviour.h - formulas told apart by what they compute.
 *
 *     library_points points;
 *     library_points_draw(&points);
 *     if (library_behaviour(&b, e, &points, tmp, &st) == SNIP_OK) ...
 *
 * x0 + x1 and x1 + x0 have the same behaviour, x0 and 1.001*x0 have not. */
#ifndef LIBRARY_BEHAVIOUR_H
#define LIBRARY_BEHAVIOUR_H

#include <stdint.h>

#include "data/gen.h"

enum { LIBRARY_POINTS = 32, LIBRARY_BEHAVIOUR = 16 };

/* How behaviours are told apart, in words: libraries with other words are not mixed. */
#define LIBRARY_BEHAVIOUR_HOW                                                                      \
    "xxh3-128 of values at 32 normal points of 10 inputs, 20 bits of mantissa"

/* The same for a library of forms. */
#define LIBRARY_FORMS_HOW "canonical structure with all constants free"

/* The standard points, the same for every library: normal deviates of three widths, so that a
 * formula which is undefined near 0 or far from it has values at some of them. */
typedef struct library_points {
    double x[DATA_DIMS_MAX][LIBRARY_POINTS];
} library_points;

void library_points_draw(library_points *out);

/* A formula's values at these points, rounded to 20 bits of mantissa, so that another order of
 * operations does not matter, and hashed. */
typedef struct library_behaviour_hash {
    uint8_t byte[LIBRARY_BEHAVIOUR];
} library_behaviour_hash;

/* A form's hash in the place of a behaviour. */
void library_behaviour_of_form(library_behaviour_hash *out, uint64_t hash);

/* Fails with SNIP_UNSUPPORTED for more than DATA_DIMS_MAX inputs and for a formula that is finite
 * at none of the points, else only for want of memory. `tmp` is left as found. */
snip_code library_behaviour(library_behaviour_hash *out, expr e, const library_points *points,
                            arena *tmp, snip_status *st);

#endif
