/* bf16.h - products in tiles, the processor's own behind nn_multiply and nn_feed; see nn.h. All
 * take NN_BF16_AMX or NN_BF16_VECTORS. */
#ifndef NN_BF16_H
#define NN_BF16_H

#include "nn/nn.h"

/* Whether these are products in tiles. */
static inline int nn_in_tiles(nn_products how)
{
    return how == NN_BF16_AMX || how == NN_BF16_VECTORS;
}

/* Whether the processor has these products and Linux lets this process use them. */
int nn_tiles_have(nn_products how);

/* nn_multiply with k > 0, where nn_tiles_have was asked and said so. */
NN_CHECKED int nn_tiles_product(nn_products how, const nn_shape *s, const float *a, const float *b,
                                const float *from, float *c);

/* The feed-forward half in tiles, for whole blocks of 32 inputs and 32 hidden values: nn_feed_room,
 * nn_feed_forward and nn_feed_backward without the gradient of b2. */
int nn_tiles_feeds(size_t d, size_t ff);
size_t nn_tiles_feed_room(const nn_feed *w, size_t n);
NN_CHECKED int nn_tiles_feed_forward(nn_products how, float *y, float *hidden, const float *x,
                                     const nn_feed *w, size_t n);
NN_CHECKED int nn_tiles_feed_backward(nn_products how, float *dx, const nn_feed_gradient *g,
                                      const float *dy, const float *x, const float *hidden,
                                      const nn_feed *w, size_t n);

#endif
