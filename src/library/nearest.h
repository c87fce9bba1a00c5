/* nearest.h - the rows of a large table of vectors that are nearest to a query, exactly.
 *
 *     library_matrix rows = { .half = vectors, .dimension = dimension, .count = n, .latent = 128 };
 *     library_hit hit[20];
 *     library_nearest(&rows, query, 20, 3, threads, hit, &found, &st);
 *
 * Every row is looked at: an index that skips some would be quicker, and now and then wrong. */
#ifndef LIBRARY_NEAREST_H
#define LIBRARY_NEAREST_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Vectors of length 1, as halves (base/half.h). */
typedef struct library_matrix {
    const uint16_t *half;     /* (count, latent) */
    const uint8_t *dimension; /* a byte a row that a search may ask to be small; NULL: none does */
    size_t count, latent;
} library_matrix;

typedef struct library_hit {
    uint64_t id;  /* of the row, from 1 */
    double score; /* inner product with the query */
} library_hit;

/* The k rows with the largest inner product with `query` among those of at most `max_dimension`,
 * best first in out[0..*found). Of equal ones the lower id comes first, so the answer depends
 * neither on the threads nor on the instruction set. Fails when memory is out, or with SNIP_FORMAT
 * for a query that is not finite. */
snip_code library_nearest(const library_matrix *rows, const float *query, size_t k,
                          int max_dimension, int threads, library_hit *out, size_t *found,
                          snip_status *st);

#endif
