/* rng.h - random numbers that are a pure function of (seed, stream, index).
 *
 *     rng r;
 *     rng_init(&r, seed, RNG_TRAIN, i);      // sample i, whatever thread or machine draws it
 *     int d = 1 + (int)rng_below(&r, 10);
 *
 * Different streams, indices and seeds never share a block of numbers: they are different parts of
 * Philox's counter and key. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/* The streams. Training never meets what evaluation draws, by construction. base/streams.h says who
 * draws which indexes of them. */
typedef enum rng_stream {
    RNG_TRAIN,      /* training samples */
    RNG_HELD_OUT,   /* evaluation targets: retrieval, geometry, edits */
    RNG_VALIDATION, /* the trainer's own quick checks */
    RNG_EDITS,      /* choices made while editing held-out targets */
    RNG_CORPUS,     /* points for the formulas of the corpora */
    RNG_BENCH,      /* benchmarks and tests */
    RNG_LIBRARY,    /* expression libraries */
    RNG_INIT,       /* the parameters that a model starts with */
    RNG_FIT,        /* starting points of constants */
    RNG_ROWS,       /* the order of a user's rows, and noise on the rows of an evaluation */
    RNG_SEARCH,     /* choices of a search for formulas */
    RNG_RESAMPLE    /* resamples of an evaluation, for its intervals */
} rng_stream;

/* An index has 2^32 blocks of numbers, in four parts: what is drawn of one never meets another. */
typedef enum rng_part {
    RNG_FIRST, /* rng_init's: SNIP's expressions, and all that has the index for itself */
    RNG_LAW,   /* a short law (data/laws.h) */
    RNG_ABOUT, /* choices about a training sample: its rows, noise, edits (train/batch.h) */
    RNG_OWN,   /* one of a user's own formulas (data/own_laws.h) */
} rng_part;

enum { RNG_BUFFER = 32 };

typedef struct rng {
    uint32_t key0, key1, stream, index_lo, index_hi;
    uint32_t block; /* the next block of Philox */
    int left;       /* words left in `buffer`, taken from its end */
    uint64_t buffer[RNG_BUFFER];
} rng;

void rng_init(rng *r, uint64_t seed, rng_stream stream, uint64_t index);

/* The same for another part. */
void rng_init_part(rng *r, uint64_t seed, rng_stream stream, uint64_t index, rng_part part);

/* 64 random bits. */
uint64_t rng_u64(rng *r);

/* Uniform on 0 .. n-1, without bias; n > 0. */
uint32_t rng_below(rng *r, uint32_t n);

/* Uniform on [0, 1), a multiple of 2^-52. */
double rng_uniform(rng *r);

/* The same in bulk: out[0..n). */
void rng_fill_uniform(rng *r, double *out, size_t n);

/* Puts a[0..n) into random order. */
void rng_shuffle(rng *r, int *a, int n);

#endif
