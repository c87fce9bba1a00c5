/* bf16.h - the matrix unit behind nn_multiply; see nn.h. */
#ifndef NN_BF16_H
#define NN_BF16_H

#include "nn/nn.h"

/* Whether the processor has the matrix unit and Linux lets this process use it. */
int nn_has_amx(void);

/* nn_multiply with NN_BF16 and k > 0, where nn_has_amx was asked and said so. */
NN_CHECKED int nn_amx_product(const nn_shape *s, const float *a, const float *b, const float *from,
                              float *c);

/* The feed-forward half in tiles, for whole blocks of 32 inputs and 32 hidden values: nn_feed_room,
 * nn_feed_forward and nn_feed_backward without the gradient of b2. */
int nn_amx_feeds(size_t d, size_t ff);
size_t nn_amx_feed_room(const nn_feed *w, size_t n);
NN_CHECKED int nn_amx_feed_forward(float *y, float *hidden, const float *x, const nn_feed *w,
                                   size_t n);
NN_CHECKED int nn_amx_feed_backward(float *dx, const nn_feed_gradient *g, const float *dy,
                                    const float *x, const float *hidden, const nn_feed *w,
                                    size_t n);

#endif
