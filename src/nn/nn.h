/* nn.h - layers as forward and backward pairs over packed sequences.
 *
 * A chunk of sequences is one matrix with a row per token and the offsets where each sequence
 * starts: nothing is padded. Outputs come first, inputs next, sizes last. Backward functions ADD to
 * parameter gradients; whether they add to or set the gradient of their input is said at each.
 * Layers are serial, threads work on different chunks; only the optimiser at the end takes threads.
 */
#ifndef NN_NN_H
#define NN_NN_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "nn/kernels.h"

/* oneDNN takes memory for a product of its own and may not get it. Then C is not what it should be,
 * so nobody may overlook it. */
#define NN_CHECKED __attribute__((warn_unused_result))

/* Many parameters: layers take their arrays and sizes one by one, outputs, inputs, sizes, as BLAS
 * does. A struct would only hide what a product reads and writes.
 *
 * C(m,n) = alpha * op(A) op(B) + beta * C, row major, `lda` ... the row lengths. On this thread
 * alone, whatever OpenMP would allow. Returns 0 when memory is out. */
NN_CHECKED int nn_gemm(int trans_a, int trans_b, size_t m, size_t n, size_t k, float alpha,
                       const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                       size_t ldc);

/* Whether products on so many threads have the memory that oneDNN takes behind our back: it crashes
 * where it finds none for its code, or a thread none for its stack. Ask before work begins. */
int nn_room(int threads);

/* While some of oneDNN's AVX-512 kernels run, the stack pointer stands at the start of a work space
 * on the heap (`mov rsp, ws` in its f32 gemm): a signal handler that runs then writes its frame
 * over what lies before it. So no signal is delivered to a thread during a product. nn_gemm sees to
 * that; code with many small products does it once for all of them and calls nn_product. */
typedef struct nn_quiet {
    sigset_t mask;
    int threads;
} nn_quiet;
void nn_quiet_begin(nn_quiet *q);
void nn_quiet_end(const nn_quiet *q);

/* Many parameters: those of nn_gemm. */
NN_CHECKED int nn_product(int trans_a, int trans_b, size_t m, size_t n, size_t k, float alpha,
                          const float *a, size_t lda, const float *b, size_t ldb, float beta,
                          float *c, size_t ldc);

/* How the products of the layers are computed: in float32, or of factors rounded to bf16 with
 * float32 sums. These are the work of a processor's matrix unit (AMX), of its vector instructions
 * (AVX-512 BF16), or (slowly, for tests) float32 products of rounded numbers. */
typedef enum nn_products { NN_FLOAT32, NN_BF16_AMX, NN_BF16_VECTORS, NN_BF16_ROUNDED } nn_products;

/* Whether these are to be had here: the processor has them and the system lets us use them. Ask
 * before the first product. */
int nn_has_products(nn_products how);

/* The processor's fastest bf16 products; NN_FLOAT32 where it has none. */
nn_products nn_best_bf16(void);

uint16_t nn_bf16_of(float v);
float nn_bf16_value(uint16_t h);

/* The sizes of c(m,n) = op(a) op(b), sums of k terms; lda ... are the row lengths in memory. */
typedef struct nn_shape {
    int trans_a, trans_b;
    size_t m, n, k, lda, ldb, ldc;
} nn_shape;

/* c = op(a) op(b) + what `from` says: nothing (NULL), c itself, or a row of n numbers for all rows.
 * Returns 0 when memory is out. */
NN_CHECKED int nn_multiply(nn_products how, const nn_shape *s, const float *a, const float *b,
                           const float *from, float *c);

/* y(n,out) = x(n,in) w' + b; w is (out,in). Returns 0 when memory is out. */
NN_CHECKED int nn_linear_forward(float *y, const float *x, const float *w, const float *b, size_t n,
                                 size_t in, size_t out, nn_products how);

/* Adds to dw and db (which may be NULL); sets dx unless that is NULL. Returns 0 when memory is out.
 * Many parameters: as in nn_gemm. */
NN_CHECKED int nn_linear_backward(float *dx, float *dw, float *db, const float *dy, const float *x,
                                  const float *w, size_t n, size_t in, size_t out, nn_products how);

/* The feed-forward half of a layer, y(n,d) = relu(x w1' + b1) w2' + b2, with w1 (ff,d) and w2
 * (d,ff). */
typedef struct nn_feed {
    const float *w1, *b1, *w2, *b2;
    size_t d, ff;
} nn_feed;
typedef struct nn_feed_gradient {
    float *w1, *b1, *w2, *b2;
} nn_feed_gradient;

/* What the backward pass has to know of the hidden values of n rows, in floats, at a multiple of 64
 * bytes (an arena's is). Only the functions below know how it is laid out, which depends on `how`.
 */
size_t nn_feed_room(nn_products how, const nn_feed *w, size_t n);

/* Returns 0 when memory is out. */
NN_CHECKED int nn_feed_forward(float *y, float *hidden, const float *x, const nn_feed *w, size_t n,
                               nn_products how);

/* Adds to the gradients of the parameters, sets dx. `tmp` is left as found. Returns 0 when memory
 * is out. Many parameters: as in nn_gemm. */
NN_CHECKED int nn_feed_backward(float *dx, const nn_feed_gradient *g, const float *dy,
                                const float *x, const float *hidden, const nn_feed *w, size_t n,
                                nn_products how, arena *tmp);

/* Multi-head self-attention within each sequence: o(n,d) from qkv(n,3d), whose rows hold query, key
 * and value. offsets[0..count] are the sequences' first rows. `tmp` is left as found. Returns 0
 * when memory is out. */
int nn_attention_forward(float *o, const float *qkv, const size_t *offsets, size_t count, size_t d,
                         size_t heads, arena *tmp);

/* Sets dqkv from do; the probabilities are computed again. */
int nn_attention_backward(float *dqkv, const float *d_o, const float *qkv, const size_t *offsets,
                          size_t count, size_t d, size_t heads, arena *tmp);

/* A part of a chunk to be pooled into one row. */
typedef struct nn_span {
    size_t first, end; /* rows of the chunk */
    size_t pads;       /* positions that hold zero vectors and take their share of the softmax */
} nn_span;

/* pooled(count,d) = sum of softmax(x w + b) x over each span. Zero rows of padding have the score
 * b, so `pads` of them add pads * exp(b) to the denominator. weight holds a number per token of all
 * the spans, one after the other. */
void nn_pool_forward(float *pooled, float *weight, const float *x, const float *w, float b,
                     const nn_span *spans, size_t count, size_t d);

/* Adds to dx and dw. All scores share b, so its gradient is zero and left alone. Many parameters:
 * as in nn_gemm. */
void nn_pool_backward(float *dx, float *dw, const float *dpooled, const float *weight,
                      const float *x, const float *w, const nn_span *spans, size_t count, size_t d);

/* A node's way to the root: bit k is 0 if the k-th relation above it is a first child, 1 for a
 * second; `depth` counts them, 0 for the root and for tokens without node. */
typedef struct nn_path {
    uint64_t slots;
    uint32_t depth;
} nn_path;

enum { NN_LEVELS_MAX = 64 };

/* x(n, 2*channels*levels) += tree-structural positions r_v, the paper's (5) to (11). With s_k(v)
 * the k-th relation above node v, (1,0) for a first child, (0,1) for a second, (0,0) above the
 * root,
 *
 *     r_v = [r_v^(1); ...; r_v^(C)],    r_v^(c) = [s_0; rho_c s_1; ...; rho_c^(L-1) s_(L-1)]
 *
 * for C channels, L levels and the learned decays rho_c = tanh(theta_c). The root's r_v is 0. */
void nn_tree_forward(float *x, const nn_path *paths, const float *theta, size_t n, size_t channels,
                     size_t levels);

/* Adds to dtheta. */
void nn_tree_backward(float *dtheta, const float *dx, const nn_path *paths, const float *theta,
                      size_t n, size_t channels, size_t levels);

typedef struct nn_adam {
    float beta1, beta2, eps, clip;
} nn_adam;

/* One update of all parameters (Kingma and Ba, with bias correction). `t` counts from 1; `norm` is
 * the gradient's, over all parameters, and `clip` bounds it (0: no bound). Many parameters: as in
 * nn_gemm. */
void nn_adam_update(float *w, float *m, float *v, const float *g, size_t n, const nn_adam *how,
                    double lr, uint64_t t, double norm, int threads);

/* What a gradient of length `norm` is multiplied with so that it is no longer than `clip`; 1 if
 * clip is 0. */
double nn_clip_scale(double clip, double norm);

/* A (rows,cols) matrix within the array of all parameters. */
typedef struct nn_matrix {
    size_t offset, rows, cols;
} nn_matrix;

/* Muon: an update of given matrices by their orthogonalised momentum,
 *     m = 0.95 m + g,  u = g + 0.95 m,  w -= lr * 0.2 sqrt(max(rows, cols)) * O(u),
 * where O(u) has the singular vectors of u, and singular values near 1 (nn_orthogonalise). All
 * directions that the momentum has are then followed alike, not only its strongest. The factor
 * gives updates the size of Adam's. */
typedef struct nn_muon nn_muon;

/* In `a`, with the room that `threads` need; NULL when memory is out. The matrices do not overlap.
 */
nn_muon *nn_muon_new(const nn_matrix *matrix, size_t count, int threads, arena *a);

/* One update; w, m (momentum) and g (gradient, which is multiplied by `scale` first) are the arrays
 * of all parameters. The result does not depend on the number of threads. Returns 0 when memory is
 * out; some matrices are then not updated. */
NN_CHECKED int nn_muon_update(const nn_muon *p, float *w, float *m, const float *g, double scale,
                              double lr);

/* x(rows,cols) becomes O(x), by five steps of Newton and Schulz on x / |x|. Singular values below
 * 0.0015 |x| end below 0.68, in proportion to what they were; zero stays zero, and so does a matrix
 * of zeros. `room` holds as many floats as nn_orthogonalise_room says. Returns 0 when memory is
 * out.
 */
NN_CHECKED int nn_orthogonalise(float *x, size_t rows, size_t cols, float *room);
size_t nn_orthogonalise_room(size_t rows, size_t cols);

/* The length of a vector, the same for any number of threads. */
double nn_length(const float *g, size_t n, int threads);

/* mean += rate * (w - mean): one step of an exponential moving average. */
void nn_average(float *mean, const float *w, size_t n, double rate, int threads);

#endif
