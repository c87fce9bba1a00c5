/* behaviour.h - formulas told apart by what they compute.
 *
 *     tools_points points;
 *     tools_points_draw(&points);
 *     if (tools_behaviour(&b, e, &points, tmp, &st) == SNIP_OK) ...
 *
 * x0 + x1 and x1 + x0 have the same behaviour, x0 and 1.001*x0 have not. */
#ifndef TOOLS_BEHAVIOUR_H
#define TOOLS_BEHAVIOUR_H

#include <stdint.h>

#include "data/gen.h"

enum { TOOLS_POINTS = 32, TOOLS_BEHAVIOUR = 16 };

/* How behaviours are told apart, in words: libraries with other words are not mixed. */
#define TOOLS_BEHAVIOUR_HOW                                                                        \
    "xxh3-128 of values at 32 normal points of 10 inputs, 20 bits of mantissa"

/* The same for a library of forms. */
#define TOOLS_FORMS_HOW "canonical structure with all constants free"

/* The standard points, the same for every library: normal deviates of three widths, so that a
 * formula which is undefined near 0 or far from it has values at some of them. */
typedef struct tools_points {
    double x[DATA_DIMS_MAX][TOOLS_POINTS];
} tools_points;

void tools_points_draw(tools_points *out);

/* A formula's values at these points, rounded to 20 bits of mantissa, so that another order of
 * operations does not matter, and hashed. */
typedef struct tools_behaviour_hash {
    uint8_t byte[TOOLS_BEHAVIOUR];
} tools_behaviour_hash;

/* A form's hash in the place of a behaviour. */
void tools_behaviour_of_form(tools_behaviour_hash *out, uint64_t hash);

/* Fails with SNIP_UNSUPPORTED for more than DATA_DIMS_MAX inputs and for a formula that is finite
 * at none of the points, else only for want of memory. `tmp` is left as found. */
snip_code tools_behaviour(tools_behaviour_hash *out, expr e, const tools_points *points, arena *tmp,
                          snip_status *st);

#endif
