/* rng.c - see rng.h. */
#include "base/rng.h"

#include <string.h>

#include "base/isa.h"
#include "base/philox.h"

static void fill(rng *r, uint64_t *out, size_t blocks)
{
    static philox_fill *const fills[ISA_COUNT] = ISA_VARIANTS(philox_fill);
    fills[isa_best()](out, blocks, r->block, r->stream, r->index_lo, r->index_hi, r->key0, r->key1);
    r->block += (uint32_t)blocks;
}

void rng_init(rng *r, uint64_t seed, rng_stream stream, uint64_t index)
{
    rng_init_part(r, seed, stream, index, RNG_FIRST);
}

void rng_init_part(rng *r, uint64_t seed, rng_stream stream, uint64_t index, rng_part part)
{
    r->key0 = (uint32_t)seed;
    r->key1 = (uint32_t)(seed >> 32);
    r->stream = (uint32_t)stream;
    r->index_lo = (uint32_t)index;
    r->index_hi = (uint32_t)(index >> 32);
    r->block = (uint32_t)part << 30;
    r->left = 0;
}

uint64_t rng_u64(rng *r)
{
    if (r->left == 0) {
        fill(r, r->buffer, RNG_BUFFER / 2);
        r->left = RNG_BUFFER;
    }
    return r->buffer[--r->left];
}

uint32_t rng_below(rng *r, uint32_t n)
{
    /* Lemire 2019: the high half of a product is uniform once the few low halves that would be
     * over-represented are drawn again. */
    uint32_t threshold = -n % n;
    for (;;) {
        uint64_t product = (rng_u64(r) >> 32) * n;
        if ((uint32_t)product >= threshold)
            return (uint32_t)(product >> 32);
    }
}

/* 52 bits as the fraction of a double in [1, 2), less one. */
static double to_unit(uint64_t bits)
{
    bits = bits >> 12 | 0x3ff0000000000000u;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v - 1;
}

double rng_uniform(rng *r)
{
    return to_unit(rng_u64(r));
}

void rng_fill_uniform(rng *r, double *out, size_t n)
{
    uint64_t words[256];
    for (size_t done = 0; done < n;) {
        size_t now = n - done < 256 ? n - done : 256;
        fill(r, words, (now + 1) / 2);
        for (size_t i = 0; i < now; i++)
            out[done + i] = to_unit(words[i]);
        done += now;
    }
}

void rng_shuffle(rng *r, int *a, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)rng_below(r, (uint32_t)i + 1), t = a[i];
        a[i] = a[j];
        a[j] = t;
    }
}
