/* bf16.h - the matrix unit behind nn_multiply; see nn.h. */
#ifndef NN_BF16_H
#define NN_BF16_H

#include "nn/nn.h"

/* Whether the processor has the matrix unit and Linux lets this process use it. */
int nn_has_amx(void);

/* nn_multiply with NN_BF16 and k > 0, where nn_has_amx was asked and said so. */
NN_CHECKED int nn_amx_product(const nn_shape *s, const float *a, const float *b, const float *from,
                              float *c);

#endif
