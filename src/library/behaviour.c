/* behaviour.c - see behaviour.h. */
#include "library/behaviour.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "base/streams.h"
#include "expr/vec.h"

enum { NO_NUMBER = 0x7ff80000 };

void library_points_draw(library_points *out)
{
    static const double widths[] = { 1, 1, 3, 0.3 };
    enum { ALL = DATA_DIMS_MAX * LIBRARY_POINTS };
    double normal[ALL];
    rng r;
    streams_rng(&r, 0, STREAMS_BEHAVIOUR_POINTS, 0);
    rng_fill_uniform(&r, normal, ALL);
    expr_vec_best()->gauss(normal, ALL / 2);
    for (int i = 0; i < DATA_DIMS_MAX; i++)
        for (int p = 0; p < LIBRARY_POINTS; p++)
            out->x[i][p] = widths[p % 4] * normal[i * LIBRARY_POINTS + p];
}

/* The upper half of v's bits, rounded: sign, exponent and 20 bits of mantissa. Not a float, which
 * would take all formulas that reach 1e39 for the same. All NaNs are one, and so are the zeros. */
static uint32_t rounded(double v)
{
    uint64_t bits;
    if (isnan(v))
        return NO_NUMBER;
    if (v == 0)
        return 0;
    memcpy(&bits, &v, sizeof bits);
    return (uint32_t)(isinf(v) ? bits >> 32 : (bits + 0x80000000) >> 32);
}

snip_code library_behaviour(library_behaviour_hash *out, expr e, const library_points *points,
                            arena *tmp, snip_status *st)
{
    const double *x[DATA_DIMS_MAX];
    double y[LIBRARY_POINTS];
    unsigned char value[4 * LIBRARY_POINTS];
    if (expr_inputs(e) > DATA_DIMS_MAX)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "has %zu inputs, more than %d", expr_inputs(e),
                           DATA_DIMS_MAX);
    for (int i = 0; i < DATA_DIMS_MAX; i++)
        x[i] = points->x[i];
    size_t finite = expr_eval(e, x, LIBRARY_POINTS, y, tmp);
    if (finite == (size_t)-1)
        return status_nomem(st);
    if (finite == 0)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "has no finite value for standardised inputs");
    for (int p = 0; p < LIBRARY_POINTS; p++)
        for (int k = 0; k < 4; k++) /* in a fixed order of bytes */
            value[4 * p + k] = (unsigned char)(rounded(y[p]) >> 8 * k);
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(value, sizeof value));
    memcpy(out->byte, hash.digest, sizeof out->byte);
    return SNIP_OK;
}

void library_behaviour_of_form(library_behaviour_hash *out, uint64_t hash)
{
    memset(out, 0, sizeof *out);
    for (int k = 0; k < 8; k++)
        out->byte[k] = (unsigned char)(hash >> 8 * k);
}
