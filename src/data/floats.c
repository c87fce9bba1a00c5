/* floats.c - see floats.h. One multiplication decides, except where the product is so close to
 * a tie that its rounding error could matter: there printf does, which is exact. */
#include "data/floats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POWER_MIN = -104, POWER_MAX = 104 };

/* Powers of ten from 10^-104 to 10^104, correctly rounded. */
#define TEN(s)    1e##s
#define ROW(d)                                                                                     \
    TEN(d##0), TEN(d##1), TEN(d##2), TEN(d##3), TEN(d##4), TEN(d##5), TEN(d##6), TEN(d##7),         \
        TEN(d##8), TEN(d##9)
#define ROW_DOWN(d)                                                                                \
    TEN(-d##9), TEN(-d##8), TEN(-d##7), TEN(-d##6), TEN(-d##5), TEN(-d##4), TEN(-d##3),             \
        TEN(-d##2), TEN(-d##1), TEN(-d##0)
static const double tens[] = {
    1e-104, 1e-103, 1e-102, 1e-101, 1e-100, ROW_DOWN(9), ROW_DOWN(8), ROW_DOWN(7), ROW_DOWN(6),
    ROW_DOWN(5), ROW_DOWN(4), ROW_DOWN(3), ROW_DOWN(2), ROW_DOWN(1),
    1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1,
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
    ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7), ROW(8), ROW(9),
    1e100, 1e101, 1e102, 1e103, 1e104,
};
_Static_assert(sizeof tens / sizeof *tens == POWER_MAX - POWER_MIN + 1, "one entry per power");

static double ten(int power)
{
    return tens[power - POWER_MIN];
}

/* Mantissa and decimal exponent of a > 0 by printf. */
static int split_exact(double a, int *power)
{
    char text[32]; /* d.ddde+xx */
    snprintf(text, sizeof text, "%.3e", a);
    *power = atoi(text + 6);
    return (text[0] - '0') * 1000 + (text[2] - '0') * 100 + (text[3] - '0') * 10 + (text[4] - '0');
}

int data_float_split(double v, data_float *out)
{
    double a = fabs(v);
    *out = (data_float){ .exponent = -3 };
    if (a == 0)
        return 1;
    out->negative = v < 0;
    if (!(a < 1e104))
        return 0;
    if (a < 9e-98) {
        out->exponent = 0;
        return 1;
    }
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    int binary = (int)(bits >> 52) - 1023;
    int power = (binary * 78913) >> 18; /* floor(log10(2^binary)), at most one too small for a */
    if (a >= ten(power + 1))
        power++;
    double scaled = a * ten(3 - power); /* about 1000 .. 9999.99 */
    double floor_part = (double)(int)scaled, rest = scaled - floor_part;
    int mantissa;
    if (fabs(rest - 0.5) < 1e-9) {
        mantissa = split_exact(a, &power);
    } else {
        mantissa = (int)floor_part + (rest > 0.5);
        if (mantissa == 10000) {
            mantissa = 1000;
            power++;
        }
    }
    if (power - 3 > DATA_EXPONENT_MAX)
        return 0;
    if (power - 3 < -DATA_EXPONENT_MAX) {
        out->exponent = 0;
        return 1;
    }
    out->mantissa = mantissa;
    out->exponent = power - 3;
    return 1;
}
