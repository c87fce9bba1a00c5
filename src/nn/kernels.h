/* kernels.h - the loops of the network that are no matrix products, one table per instruction set.
 *
 * n counts rows, d columns; rows are contiguous. Unlike expr/vec.h these need not agree between
 * instruction sets to the last bit: matrix products do not either. */
#ifndef NN_KERNELS_H
#define NN_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/isa.h"

/* Row lengths that are a multiple of it fill whole vectors of any instruction set. */
enum { NN_LANES = 16 };

typedef struct nn_adam_step {
    float lr;    /* learning rate with the bias corrections: lr * sqrt(1-b2^t) / (1-b1^t) */
    float scale; /* of the gradient: clipping */
    float beta1, beta2, eps;
} nn_adam_step;

typedef struct nn_kernels {
    void (*add)(float *y, const float *x, size_t n);                 /* y += x */
    void (*fill_rows)(float *y, const float *b, size_t n, size_t d); /* each row of y = b */
    void (*sum_rows)(float *b, const float *y, size_t n, size_t d);  /* b += sum of the rows of y */
    void (*relu)(float *y, size_t n);
    void (*relu_back)(float *dy, const float *y, size_t n); /* dy = 0 where y is 0 */
    /* y = gain * (x - mean) * rstd + bias by rows; keeps mean and rstd, 2 floats a row. */
    void (*norm)(float *y, float *stats, const float *x, const float *gain, const float *bias,
                 size_t n, size_t d);
    /* dx = gradient for x (may be dy itself); adds to dgain and dbias. */
    void (*norm_back)(float *dx, float *dgain, float *dbias, const float *dy, const float *x,
                      const float *stats, const float *gain, size_t n, size_t d);
    /* Each row of s, `ld` apart, becomes softmax(scale * row) in its d columns, 0 in those beyond.
     * ld is a multiple of NN_LANES. */
    void (*softmax)(float *s, size_t ld, float scale, size_t n, size_t d);
    /* dp becomes scale * p * (dp - dp.p) by rows, `ld` apart; what fills them up is 0 in both. */
    void (*softmax_back)(float *dp, const float *p, size_t ld, float scale, size_t n);
    /* to(d, to_ld) = the transpose of from(n, d), whose rows are `ld` apart, and 0 in the columns
     * from n on. to_ld is a multiple of NN_LANES. */
    void (*transpose)(float *to, size_t to_ld, const float *from, size_t ld, size_t n, size_t d);
    /* c(m,n) = A B for matrices that stay near the core, row lengths ldc and ldb. A's element (i,l)
     * is a[i * a_row + l * a_col], so A may be a transpose. Every element is summed in the order of
     * l, wherever it stands. */
    void (*small_product)(float *c, size_t ldc, const float *a, size_t a_row, size_t a_col,
                          const float *b, size_t ldb, size_t m, size_t n, size_t k);
    float (*dot)(const float *a, const float *b, size_t n);
    void (*axpy)(float *y, float a, const float *x, size_t n); /* y += a x */
    void (*exp)(float *y, const float *x, size_t n);
    double (*square_sum)(const float *x, size_t n);
    /* Inner products of q(d) with each of n rows of halves (base/half.h). */
    void (*half_scores)(float *s, const uint16_t *rows, const float *q, size_t n, size_t d);
    /* How many of s[0..n) exceed row_above, added to *row; column[j] counts s[j] > column_above[j].
     * Returns whether any lies between its row's or its column's `maybe` and `above`. */
    int (*count_above)(uint32_t *row, uint32_t *column, const float *s, float row_above,
                       float row_maybe, const float *column_above, const float *column_maybe,
                       size_t n);
    void (*adam)(float *w, float *m, float *v, const float *g, const nn_adam_step *step, size_t n);
} nn_kernels;

/* The table for `which`, which must be one that isa_has. */
const nn_kernels *nn_kernels_for(isa which);

/* The best table here. */
const nn_kernels *nn_kernels_best(void);

#endif
