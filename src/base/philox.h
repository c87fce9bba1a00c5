/* philox.h - the counter-based generator Philox4x32-10 (Salmon et al. 2011), in bulk.
 *
 * A block of 128 random bits is a function of a 128-bit counter and a 64-bit key. Here word 0 of
 * the counter is the block number, so consecutive blocks fill an array, many at a time. */
#ifndef BASE_PHILOX_H
#define BASE_PHILOX_H

#include <stddef.h>
#include <stdint.h>

/* Fills out[0 .. 2*blocks) with the blocks first, first+1, ... of counter {block, c1, c2, c3}. Two
 * 64-bit words per block, the low half first. */
typedef void philox_fill(uint64_t *out, size_t blocks, uint32_t first, uint32_t c1, uint32_t c2,
                         uint32_t c3, uint32_t key0, uint32_t key1);

philox_fill philox_fill_generic, philox_fill_avx2, philox_fill_avx512;

#endif
