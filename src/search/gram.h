/* gram.h - inner products of many columns, where the stage `products` spends most of its time. */
#ifndef SEARCH_GRAM_H
#define SEARCH_GRAM_H

#include <stddef.h>

enum { GRAM_LEFT = 2, GRAM_RIGHT = 4 };

/* to[p*stride + q] = a_p' b_q for GRAM_LEFT columns a and GRAM_RIGHT columns b of `rows` values,
 * each set one column after the other. One function per instruction set; they agree to rounding. */
typedef void gram_block(double *to, size_t stride, const double *a, const double *b, size_t rows);
gram_block gram_block_generic, gram_block_avx2, gram_block_avx512;

#endif
