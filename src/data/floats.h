/* floats.h - numbers as SNIP writes them: sign, four digits, exponent. */
#ifndef DATA_FLOATS_H
#define DATA_FLOATS_H

#include <stddef.h>
#include <stdint.h>

enum { DATA_EXPONENT_MAX = 100 }; /* E-100 .. E100 */

typedef struct data_float {
    int negative;
    int mantissa; /* 0 .. 9999 */
    int exponent; /* value = mantissa * 10^exponent */
} data_float;

/* The digits of printf("%.3e"), correctly rounded. 0 and -0.0 are + 0000 E-3, and a value too
 * small for E-100 keeps its sign and becomes 0000 E0. Returns 0 where there is none: the value
 * prints as 1.000e+104 or more, or is not finite. */
int data_float_split(double v, data_float *out);

#endif
