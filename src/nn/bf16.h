/* bf16.h - how nn_dense multiplies numbers rounded to bf16; see nn.h. */
#ifndef NN_BF16_H
#define NN_BF16_H

#include <stddef.h>
#include <stdint.h>

/* Whether the processor has the matrix unit and Linux lets this process use it. */
int nn_has_amx(void);

/* nn_dense with NN_BF16, where nn_has_amx was asked and said so. Returns 0 when memory is out. Many
 * parameters: those of BLAS. */
int nn_amx_product(int trans_a, int trans_b, size_t m, size_t n, size_t k, const float *a,
                   const float *b, int add, float *c);

#endif
