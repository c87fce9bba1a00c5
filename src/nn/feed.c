/* feed.c - the feed-forward half of a layer; see nn.h. Products in tiles have a way of their
 * own, which gives the same numbers (nn/tiles.c): there the hidden values are rounded once, where
 * they are made, and never lie in memory as floats. */
#include "nn/bf16.h"
#include "nn/nn.h"

#ifdef SNIP_TILES
static int in_tiles(nn_products how, const nn_feed *w)
{
    return nn_in_tiles(how) && nn_tiles_feeds(w->d, w->ff);
}
#endif

size_t nn_feed_room(nn_products how, const nn_feed *w, size_t n)
{
#ifdef SNIP_TILES
    if (in_tiles(how, w))
        return nn_tiles_feed_room(w, n);
#endif
    (void)how;
    return n * w->ff;
}

int nn_feed_forward(float *y, float *hidden, const float *x, const nn_feed *w, size_t n,
                    nn_products how)
{
#ifdef SNIP_TILES
    if (in_tiles(how, w))
        return nn_tiles_feed_forward(how, y, hidden, x, w, n);
#endif
    if (!nn_linear_forward(hidden, x, w->w1, w->b1, n, w->d, w->ff, how))
        return 0;
    nn_kernels_best()->relu(hidden, n * w->ff);
    return nn_linear_forward(y, hidden, w->w2, w->b2, n, w->ff, w->d, how);
}

/* With h = relu(x w1' + b1): dh = dy w2 where h > 0, and each linear map as always. */
int nn_feed_backward(float *dx, const nn_feed_gradient *g, const float *dy, const float *x,
                     const float *hidden, const nn_feed *w, size_t n, nn_products how, arena *tmp)
{
#ifdef SNIP_TILES
    if (in_tiles(how, w)) {
        nn_kernels_best()->sum_rows(g->b2, dy, n, w->d);
        return nn_tiles_feed_backward(how, dx, g, dy, x, hidden, w, n);
    }
#endif
    arena_pos mark = arena_mark(tmp);
    float *dh = arena_array(tmp, n * w->ff, sizeof *dh);
    int good = dh && nn_linear_backward(dh, g->w2, g->b2, dy, hidden, w->w2, n, w->ff, w->d, how);
    if (good)
        nn_kernels_best()->relu_back(dh, hidden, n * w->ff);
    good = good && nn_linear_backward(dx, g->w1, g->b1, dh, x, w->w1, n, w->d, w->ff, how);
    arena_reset(tmp, mark);
    return good;
}
