/* half.h - IEEE half precision (float16), in bits.
 *
 * Eleven significant bits: enough for the coordinates of unit vectors, at half of their size.
 * Functions in a header because both are used inside loops of other files. */
#ifndef BASE_HALF_H
#define BASE_HALF_H

#include <stdint.h>
#include <string.h>

/* The half nearest to f, ties to the even one. Beyond 65519 it is infinity; NaN stays NaN. */
static inline uint16_t half_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    bits &= 0x7fffffff;
    if (bits > 0x7f800000) /* NaN, made quiet as the processor does */
        return (uint16_t)(sign | 0x7e00 | (bits >> 13 & 0x3ff));
    if (bits >= 0x477ff000) /* rounds beyond the largest half */
        return (uint16_t)(sign | 0x7c00);
    if (bits < 0x38800000) { /* below 2^-14: the half is a multiple of 2^-24 */
        /* 0.5 has an ulp of 2^-24, so this addition does the rounding. */
        float magnitude;
        memcpy(&magnitude, &bits, sizeof magnitude);
        magnitude += 0.5f;
        memcpy(&bits, &magnitude, sizeof bits);
        return (uint16_t)(sign | (bits - 0x3f000000));
    }
    bits += 0xfff + (bits >> 13 & 1); /* a carry into the exponent is right, too */
    return (uint16_t)(sign | ((bits - 0x38000000) >> 13));
}

/* The value of a half, exactly. */
static inline float half_value(uint16_t h)
{
    uint32_t bits = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    f *= 0x1p112f; /* the exponents' offsets differ by 112; subnormal halves come out right */
    memcpy(&bits, &f, sizeof bits);
    bits |= sign | ((h & 0x7c00) == 0x7c00 ? 0x7f800000 : 0);
    memcpy(&f, &bits, sizeof f);
    return f;
}

#endif
