/* muon.c - orthogonalised momentum (Muon) for the matrices of the layers; see nn.h. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "nn/nn.h"

enum { STEPS = 5 };
static const float step_a = 3.4445f, step_b = -4.7750f, step_c = 2.0315f;
static const float momentum = 0.95f;
static const double size = 0.2; /* root mean square of an update with lr 1: that of Adam's */

struct nn_muon {
    nn_matrix *matrix; /* the most work first */
    size_t count;
    int threads;
    float **room; /* per thread: a matrix, and what nn_orthogonalise needs */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t nn_orthogonalise_room(size_t rows, size_t cols)
{
    size_t n = least(rows, cols);
    return rows * cols + 2 * n * n;
}

/* With X = U S V' each step turns the singular values s into a s + b s^3 + c s^5 and leaves U and V
 * as they are:
 *     wide  X <- (a I + b A + c A^2) X,  A = X X'
 *     tall  X <- X (a I + b A + c A^2),  A = X' X
 * so A is as small as it can be. The coefficients lift small s as fast as five steps can, at the
 * price of ending near 1 instead of at it: s from 0.0015 to 1 end within 0.68 and 1.21. */
int nn_orthogonalise(float *x, size_t rows, size_t cols, float *room)
{
    size_t n = least(rows, cols), all = rows * cols;
    int tall = rows > cols;
    float *from = x, *to = room, *a = room + all, *b = a + n * n;
    double norm = sqrt(nn_kernels_best()->square_sum(x, all));
    if (!(norm > 0)) /* no direction: none is made up */
        return 1;
    for (size_t i = 0; i < all; i++) /* in double: 1/norm may be beyond a float */
        x[i] = (float)((double)x[i] / norm);
    for (int step = 0; step < STEPS; step++) {
        if (!nn_gemm(tall, !tall, n, n, tall ? rows : cols, 1, from, cols, from, cols, 0, a, n))
            return 0;
        memcpy(b, a, n * n * sizeof *b);
        if (!nn_gemm(0, 0, n, n, n, step_c, a, n, a, n, step_b, b, n))
            return 0;
        for (size_t i = 0; i < n; i++)
            b[i * n + i] += step_a;
        if (!(tall ? nn_gemm(0, 0, rows, n, n, 1, from, n, b, n, 0, to, n)
                   : nn_gemm(0, 0, n, cols, n, 1, b, n, from, cols, 0, to, cols)))
            return 0;
        float *other = from;
        from = to;
        to = other;
    }
    if (from != x)
        memcpy(x, from, all * sizeof *x);
    return 1;
}

static double work(const nn_matrix *p)
{
    return (double)p->rows * (double)p->cols * (double)least(p->rows, p->cols);
}

static int by_work(const void *a, const void *b)
{
    const nn_matrix *p = a, *q = b;
    if (work(p) != work(q))
        return work(p) < work(q) ? 1 : -1;
    return p->offset < q->offset ? -1 : p->offset > q->offset;
}

nn_muon *nn_muon_new(const nn_matrix *matrix, size_t count, int threads, arena *a)
{
    nn_muon *p = arena_zero(a, sizeof *p);
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t need =
            matrix[i].rows * matrix[i].cols + nn_orthogonalise_room(matrix[i].rows, matrix[i].cols);
        most = need > most ? need : most;
    }
    if (!p || !(p->matrix = arena_array(a, count, sizeof *matrix)) ||
        !(p->room = arena_zero(a, (size_t)threads * sizeof *p->room)))
        return NULL;
    for (int t = 0; t < threads; t++)
        if (!(p->room[t] = arena_array(a, most, sizeof **p->room)))
            return NULL;
    memcpy(p->matrix, matrix, count * sizeof *matrix);
    qsort(p->matrix, count, sizeof *matrix, by_work);
    p->count = count;
    p->threads = threads;
    return p;
}

static int update(const nn_matrix *p, float *w, float *m, const float *g, float scale, double lr,
                  float *room)
{
    size_t n = p->rows * p->cols;
    float *u = room;
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        float grad = scale * g[i];
        m[i] = momentum * m[i] + grad;
        u[i] = momentum * m[i] + grad;
    }
    if (!nn_orthogonalise(u, p->rows, p->cols, room + n))
        return 0;
    double longer = (double)(p->rows > p->cols ? p->rows : p->cols);
    nn_kernels_best()->axpy(w, (float)(-lr * size * sqrt(longer)), u, n);
    return 1;
}

int nn_muon_update(const nn_muon *p, float *w, float *m, const float *g, double scale, double lr)
{
    int good = 1;
    /* Who does a matrix makes no difference to it, so threads take the next as they come. */
#pragma omp parallel for num_threads(p->threads) schedule(dynamic, 1)
    for (size_t i = 0; i < p->count; i++) {
        size_t at = p->matrix[i].offset;
        if (!update(&p->matrix[i], w + at, m + at, g + at, (float)scale, lr,
                    p->room[omp_get_thread_num()]))
#pragma omp atomic write
            good = 0;
    }
    return good;
}
