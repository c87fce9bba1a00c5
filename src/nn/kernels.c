/* kernels.c - see kernels.h. Compiled once per instruction set with LANES (doubles) and ISA_SUFFIX
 * set; sums are declared as reductions so that the compiler may reorder them, nothing else may be.
 */
#include "nn/kernels.h"

#include <math.h>
#include <sleef.h>
#include <string.h>

#include "base/half.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)

#if LANES == 8
typedef __m512 vf;
enum { WIDTH = 16 };
#define EXPF           Sleef_expf16_u10avx512f
#define LOAD(p)        _mm512_loadu_ps(p)
#define LOAD_HALVES(p) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(p)))
#define FMA(a, b, c)   _mm512_fmadd_ps(a, b, c)
#define ALL(x)         _mm512_set1_ps(x)
#define STORE(p, v)    _mm512_storeu_ps(p, v)
#define MOST(a, b)     _mm512_max_ps(a, b)
#define LOW_PAIRS(a, b)                                                                            \
    _mm512_permutex2var_ps(                                                                        \
        a, _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), b)
#define HIGH_PAIRS(a, b)                                                                           \
    _mm512_permutex2var_ps(                                                                        \
        a, _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), b)
#elif LANES == 4
typedef __m256 vf;
enum { WIDTH = 8 };
#define EXPF           Sleef_expf8_u10avx2
#define LOAD(p)        _mm256_loadu_ps(p)
#define LOAD_HALVES(p) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p)))
#define FMA(a, b, c)   _mm256_fmadd_ps(a, b, c)
#define ALL(x)         _mm256_set1_ps(x)
#define STORE(p, v)    _mm256_storeu_ps(p, v)
#define MOST(a, b)     _mm256_max_ps(a, b)
#define LOW_PAIRS(a, b)                                                                            \
    _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x20)
#define HIGH_PAIRS(a, b)                                                                           \
    _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x31)
#else
typedef float vf;
enum { WIDTH = 1 };
#define EXPF             Sleef_expf1_u10purec
#define LOAD(p)          (*(p))
#define LOAD_HALVES(p)   half_value(*(p))
#define FMA(a, b, c)     ((a) * (b) + (c))
#define ALL(x)           (x)
#define STORE(p, v)      (*(p) = (v))
#define MOST(a, b)       ((a) > (b) ? (a) : (b))
#define LOW_PAIRS(a, b)  (a) /* never asked for: one lane is its own transpose */
#define HIGH_PAIRS(a, b) (b)
#endif

static void add(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

static void fill_rows(float *y, const float *b, size_t n, size_t d)
{
    for (size_t r = 0; r < n; r++)
        memcpy(y + r * d, b, d * sizeof *b);
}

static void sum_rows(float *b, const float *y, size_t n, size_t d)
{
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < d; i++)
            b[i] += y[r * d + i];
}

static void relu(float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = y[i] < 0 ? 0 : y[i]; /* NaN stays */
}

static void relu_back(float *dy, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dy[i] = y[i] > 0 ? dy[i] : 0;
}

static const float norm_eps = 1e-12f;

static void norm(float *y, float *stats, const float *x, const float *gain, const float *bias,
                 size_t n, size_t d)
{
    for (size_t r = 0; r < n; r++) {
        const float *row = x + r * d;
        float sum = 0, square = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < d; i++)
            sum += row[i];
        float mean = sum / (float)d;
#pragma omp simd reduction(+ : square)
        for (size_t i = 0; i < d; i++)
            square += (row[i] - mean) * (row[i] - mean);
        float rstd = 1 / sqrtf(square / (float)d + norm_eps);
        stats[2 * r] = mean;
        stats[2 * r + 1] = rstd;
        for (size_t i = 0; i < d; i++)
            y[r * d + i] = (row[i] - mean) * rstd * gain[i] + bias[i];
    }
}

/* With hat = (x - mean) rstd and g = gain dy: dx = rstd (g - mean(g) - hat mean(g hat)), dgain +=
 * dy hat, dbias += dy. Many parameters: as in nn.h. */
static void norm_back(float *dx, float *dgain, float *dbias, const float *dy, const float *x,
                      const float *stats, const float *gain, size_t n, size_t d)
{
    for (size_t r = 0; r < n; r++) {
        const float *row = x + r * d, *up = dy + r * d;
        float mean = stats[2 * r], rstd = stats[2 * r + 1], sum = 0, dot = 0;
#pragma omp simd reduction(+ : sum, dot)
        for (size_t i = 0; i < d; i++) {
            float hat = (row[i] - mean) * rstd, g = up[i] * gain[i];
            sum += g;
            dot += g * hat;
        }
        sum /= (float)d;
        dot /= (float)d;
        float *to = dx + r * d;
#pragma omp simd
        for (size_t i = 0; i < d; i++) {
            float hat = (row[i] - mean) * rstd, u = up[i];
            dgain[i] += u * hat;
            dbias[i] += u;
            to[i] = rstd * (u * gain[i] - sum - hat * dot);
        }
    }
}

static void exp_array(float *y, const float *x, size_t n)
{
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        vf v;
        memcpy(&v, x + i, sizeof v);
        v = EXPF(v);
        memcpy(y + i, &v, sizeof v);
    }
    if (i < n) {
        float pad[WIDTH] = { 0 };
        vf v;
        memcpy(pad, x + i, (n - i) * sizeof *x);
        memcpy(&v, pad, sizeof v);
        v = EXPF(v);
        memcpy(pad, &v, sizeof v);
        memcpy(y + i, pad, (n - i) * sizeof *x);
    }
}

/* Lanes are folded by halves, so that no sum waits for a long chain of others. */
static inline float add_lanes(vf v)
{
#if LANES == 8
    return _mm512_reduce_add_ps(v);
#else
    float lane[WIDTH], sum = 0;
    memcpy(lane, &v, sizeof v);
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < WIDTH; i++)
        sum += lane[i];
    return sum;
#endif
}

static inline float most_lane(vf v)
{
#if LANES == 8
    return _mm512_reduce_max_ps(v);
#else
    float lane[WIDTH], most = -INFINITY;
    memcpy(lane, &v, sizeof v);
#pragma omp simd reduction(max : most)
    for (int i = 0; i < WIDTH; i++)
        most = lane[i] > most ? lane[i] : most;
    return most;
#endif
}

static void softmax(float *s, size_t ld, float scale, size_t n, size_t d)
{
    vf factor = ALL(scale);
    for (float *row = s; row < s + n * ld; row += ld) {
        for (size_t i = d; i < ld; i++)
            row[i] = -INFINITY; /* whose exponential is 0: only whole vectors from here on */
        vf top = LOAD(row), sum = ALL(0);
        for (size_t i = WIDTH; i < ld; i += WIDTH)
            top = MOST(LOAD(row + i), top);
        top = ALL(most_lane(top));
        for (size_t i = 0; i < ld; i += WIDTH) {
            vf v = EXPF((LOAD(row + i) - top) * factor);
            STORE(row + i, v);
            sum += v;
        }
        vf inverse = ALL(1 / add_lanes(sum));
        for (size_t i = 0; i < ld; i += WIDTH)
            STORE(row + i, LOAD(row + i) * inverse);
    }
}

static void softmax_back(float *dp, const float *p, size_t ld, float scale, size_t n)
{
    vf factor = ALL(scale);
    for (size_t r = 0; r < n; r++, dp += ld, p += ld) {
        vf sum = ALL(0);
        for (size_t i = 0; i < ld; i += WIDTH)
            sum = FMA(LOAD(dp + i), LOAD(p + i), sum);
        vf dot = ALL(add_lanes(sum));
        for (size_t i = 0; i < ld; i += WIDTH)
            STORE(dp + i, factor * LOAD(p + i) * (LOAD(dp + i) - dot));
    }
}

/* WIDTH rows of WIDTH numbers, of which `rows` exist, the others being 0. Each step writes the
 * halves of the matrix alternately, number by number, as two packs of cards are shuffled: of a
 * number's row and column, read as bits, each loses its first bit to the end of the other. After as
 * many steps as there are bits row and column have changed places. */
static void transpose_tile(float *to, size_t to_ld, const float *from, size_t ld, size_t rows)
{
    vf a[WIDTH], b[WIDTH];
#pragma GCC unroll 16
    for (size_t r = 0; r < WIDTH; r++)
        a[r] = r < rows ? LOAD(from + r * ld) : ALL(0);
#pragma GCC unroll 4
    for (int step = 1; step < WIDTH; step *= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < WIDTH / 2; i++) {
            b[2 * i] = LOW_PAIRS(a[i], a[i + WIDTH / 2]);
            b[2 * i + 1] = HIGH_PAIRS(a[i], a[i + WIDTH / 2]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < WIDTH; i++)
            a[i] = b[i];
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < WIDTH; r++)
        STORE(to + r * to_ld, a[r]);
}

static void transpose(float *to, size_t to_ld, const float *from, size_t ld, size_t n, size_t d)
{
    for (size_t j = 0; j < to_ld; j += WIDTH) {
        size_t rows = j < n ? n - j : 0, i = 0;
        for (; i + WIDTH <= d; i += WIDTH)
            transpose_tile(to + i * to_ld + j, to_ld, from + j * ld + i, ld, rows);
        for (; i < d; i++) /* columns that fill no vector */
            for (size_t r = 0; r < WIDTH; r++)
                to[i * to_ld + j + r] = r < rows ? from[(j + r) * ld + i] : 0;
    }
}

/* ROWS x COLUMNS vectors of c at once: each piece of B is loaded once for all rows, each element of
 * A once for all columns, and there are enough sums to keep the multipliers busy. */
#define TILE(name, ROWS, COLUMNS)                                                                  \
    static void name(float *c, size_t ldc, const float *a, size_t a_row, size_t a_col,             \
                     const float *b, size_t ldb, size_t k)                                         \
    {                                                                                              \
        vf sum[ROWS][COLUMNS];                                                                     \
        for (size_t r = 0; r < ROWS; r++)                                                          \
            for (size_t v = 0; v < COLUMNS; v++)                                                   \
                sum[r][v] = ALL(0);                                                                \
        for (size_t l = 0; l < k; l++) {                                                           \
            vf piece[COLUMNS];                                                                     \
            for (size_t v = 0; v < COLUMNS; v++)                                                   \
                piece[v] = LOAD(b + l * ldb + v * WIDTH);                                          \
            for (size_t r = 0; r < ROWS; r++) {                                                    \
                vf x = ALL(a[r * a_row + l * a_col]);                                              \
                for (size_t v = 0; v < COLUMNS; v++)                                               \
                    sum[r][v] = FMA(x, piece[v], sum[r][v]);                                       \
            }                                                                                      \
        }                                                                                          \
        for (size_t r = 0; r < ROWS; r++)                                                          \
            for (size_t v = 0; v < COLUMNS; v++)                                                   \
                STORE(c + r * ldc + v * WIDTH, sum[r][v]);                                         \
    }
TILE(tile_4x2, 4, 2)
TILE(tile_4x1, 4, 1)
TILE(tile_1x2, 1, 2)
TILE(tile_1x1, 1, 1)

/* Many parameters: strides one by one, as BLAS has them; see nn.h. */
static void small_product(float *c, size_t ldc, const float *a, size_t a_row, size_t a_col,
                          const float *b, size_t ldb, size_t m, size_t n, size_t k)
{
    size_t j = 0;
    for (size_t step; j + WIDTH <= n; j += step) {
        int two = j + 2 * WIDTH <= n;
        step = two ? 2 * WIDTH : WIDTH;
        for (size_t i = 0; i + 4 <= m; i += 4)
            (two ? tile_4x2 : tile_4x1)(c + i * ldc + j, ldc, a + i * a_row, a_row, a_col, b + j,
                                        ldb, k);
        if (m >= 4 && m % 4) /* the last four once more: as fast as one row alone */
            (two ? tile_4x2 : tile_4x1)(c + (m - 4) * ldc + j, ldc, a + (m - 4) * a_row, a_row,
                                        a_col, b + j, ldb, k);
        for (size_t i = 0; i < m && m < 4; i++)
            (two ? tile_1x2 : tile_1x1)(c + i * ldc + j, ldc, a + i * a_row, a_row, a_col, b + j,
                                        ldb, k);
    }
    for (; j < n; j++) /* columns that fill no vector */
        for (size_t i = 0; i < m; i++) {
            float sum = 0;
            for (size_t l = 0; l < k; l++)
                sum += a[i * a_row + l * a_col] * b[l * ldb + j];
            c[i * ldc + j] = sum;
        }
}

static float dot(const float *a, const float *b, size_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void axpy(float *y, float a, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

static double square_sum(const float *x, size_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

/* Four rows at a time: each piece of q is loaded once for all of them, and their sums do not wait
 * for each other. */
static void half_scores(float *s, const uint16_t *rows, const float *q, size_t n, size_t d)
{
    enum { ROWS = 4 };
    size_t whole = d / WIDTH * WIDTH;
    for (size_t r = 0; r < n; r += ROWS) {
        const uint16_t *row[ROWS];
        vf sum[ROWS];
        for (size_t k = 0; k < ROWS; k++) { /* past the end: the last row again */
            row[k] = rows + (r + k < n ? r + k : n - 1) * d;
            sum[k] = (vf){ 0 };
        }
        for (size_t i = 0; i < whole; i += WIDTH) {
            vf piece = LOAD(q + i);
            for (size_t k = 0; k < ROWS; k++)
                sum[k] = FMA(LOAD_HALVES(row[k] + i), piece, sum[k]);
        }
        for (size_t k = 0; k < ROWS && r + k < n; k++) {
            float rest = 0;
            for (size_t i = whole; i < d; i++)
                rest += half_value(row[k][i]) * q[i];
            s[r + k] = add_lanes(sum[k]) + rest;
        }
    }
}

static int count_above(uint32_t *row, uint32_t *column, const float *s, float row_above,
                       float row_maybe, const float *column_above, const float *column_maybe,
                       size_t n)
{
    uint32_t higher = 0, open = 0;
#pragma omp simd reduction(+ : higher, open)
    for (size_t j = 0; j < n; j++) {
        uint32_t r = s[j] > row_above, c = s[j] > column_above[j];
        higher += r;
        column[j] += c;
        open += (uint32_t)(s[j] >= row_maybe) - r;
        open += (uint32_t)(s[j] >= column_maybe[j]) - c;
    }
    *row += higher;
    return open != 0;
}

static void adam(float *w, float *m, float *v, const float *g, const nn_adam_step *step, size_t n)
{
    float lr = step->lr, scale = step->scale, b1 = step->beta1, b2 = step->beta2, eps = step->eps;
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        float grad = g[i] * scale;
        m[i] = b1 * m[i] + (1 - b1) * grad;
        v[i] = b2 * v[i] + (1 - b2) * grad * grad;
        w[i] -= lr * m[i] / (sqrtf(v[i]) + eps);
    }
}

extern const nn_kernels PASTE(nn_kernels_, ISA_SUFFIX);
const nn_kernels PASTE(nn_kernels_, ISA_SUFFIX) = {
    .add = add,
    .fill_rows = fill_rows,
    .sum_rows = sum_rows,
    .relu = relu,
    .relu_back = relu_back,
    .norm = norm,
    .norm_back = norm_back,
    .softmax = softmax,
    .softmax_back = softmax_back,
    .dot = dot,
    .axpy = axpy,
    .exp = exp_array,
    .square_sum = square_sum,
    .transpose = transpose,
    .small_product = small_product,
    .half_scores = half_scores,
    .count_above = count_above,
    .adam = adam,
};
