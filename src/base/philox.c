/* philox.c - see philox.h. Compiled once per instruction set with LANES and ISA_SUFFIX set.
 *
 * Each 64-bit lane carries a 32-bit word in its low half, as the vector multiplication wants it;
 * what is left in the high half is never read. */
#include "base/philox.h"

#include <string.h>

#if LANES > 1
#include <immintrin.h>
#endif

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)

#if LANES == 8
typedef uint64_t lanes __attribute__((vector_size(64)));
#define MULTIPLY(a, b) ((lanes)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#elif LANES == 4
typedef uint64_t lanes __attribute__((vector_size(32)));
#define MULTIPLY(a, b) ((lanes)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#else
typedef uint64_t lanes __attribute__((vector_size(8)));
#define MULTIPLY(a, b) (((a)&0xffffffffu) * (b))
#endif

enum { ROUNDS = 10, GROUPS = 2 }; /* two groups of lanes hide the latency of multiplications */

void PASTE(philox_fill_, ISA_SUFFIX)(uint64_t *out, size_t blocks, uint32_t first, uint32_t c1,
                                     uint32_t c2, uint32_t c3, uint32_t key0, uint32_t key1)
{
    const lanes zero = { 0 }, m0 = zero + 0xD2511F53u, m1 = zero + 0xCD9E8D57u;
    static const uint64_t counting[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    lanes ramp;
    memcpy(&ramp, counting, sizeof ramp);
    for (size_t done = 0; done < blocks; done += GROUPS * LANES) {
        lanes a[GROUPS], b[GROUPS], c[GROUPS], d[GROUPS];
        for (int g = 0; g < GROUPS; g++) {
            a[g] = ramp + (first + (uint32_t)done + (uint32_t)(g * LANES));
            b[g] = zero + c1;
            c[g] = zero + c2;
            d[g] = zero + c3;
        }
        uint32_t k0 = key0, k1 = key1;
        for (int round = 0; round < ROUNDS; round++) {
            for (int g = 0; g < GROUPS; g++) {
                lanes p = MULTIPLY(a[g], m0), q = MULTIPLY(c[g], m1);
                a[g] = (q >> 32) ^ b[g] ^ k0;
                b[g] = q;
                c[g] = (p >> 32) ^ d[g] ^ k1;
                d[g] = p;
            }
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        for (int g = 0; g < GROUPS; g++) {
            lanes low = (a[g] & 0xffffffffu) | b[g] << 32, high = (c[g] & 0xffffffffu) | d[g] << 32;
            for (size_t l = 0; l < LANES; l++) {
                size_t at = done + (size_t)g * LANES + l;
                if (at < blocks) {
                    out[2 * at] = low[l];
                    out[2 * at + 1] = high[l];
                }
            }
        }
    }
}
