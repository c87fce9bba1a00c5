/* tiles.c - bf16 products in tiles, on the matrix unit of x86 processors (AMX) or with the vector
 * instructions of those that have bf16 but no such unit (AVX-512 BF16); see bf16.h.
 *
 * A tile is a register of the matrix unit, 16 rows of 64 bytes. One instruction (tdpbf16ps) adds to
 * a tile of 16 x 16 floats the product of two tiles of bf16:
 *
 *     left   16 rows of 32 numbers:          row i holds A(i, 0..31)
 *     right  16 rows of 16 pairs of numbers: row l holds B(2l, j), B(2l+1, j) for j = 0..15
 *
 * Seen as 16 x 16 words of 32 bits (a word is a pair of neighbours along the sum), a right tile of
 * B is the transpose of a left tile of B'. So two ways to load rows and one transposition serve all
 * four products of BLAS. Both factors are rounded into tiles first; what is beyond their edges is
 * zero and adds nothing.
 *
 * The vector instruction (vdpbf16ps) adds to 16 floats the products of 16 pairs and 16 pairs: a row
 * of a right tile and one word of a left tile, 16 times. So the same tiles suit both, and only the
 * product of a block (below) knows which of them does the work.
 *
 * The matrix unit takes 16 cycles an instruction and waits for memory most of the time. So tiles
 * are made shortly before they are used, and no more of them than the second-level cache holds:
 *
 *     for each stretch of the sum               (one, or 256 terms each if it is long)
 *         the right factor becomes tiles
 *         for each block of 32 rows             (its left tiles lie in the first-level one)
 *             for each block of 32 columns      four tiles of floats
 *
 * Terms are added in their order whatever the stretches are: the result is the same to the bit. */
#include "nn/bf16.h"

#include <cpuid.h>
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SIDE = 16,        /* rows of a tile, columns of a tile of floats */
    DEPTH = 32,       /* numbers of the sum that a tile holds */
    TILE = SIDE * 16, /* words of a tile */
    BLOCK = 2 * SIDE, /* four tiles of floats are summed at a time, from two and two tiles */
    LONG = 768,       /* a sum of more terms than these ... */
    STRETCH = 256,    /* ... is taken in stretches of so many: whole tiles */
};

static size_t tiles(size_t n, size_t side)
{
    return (n + side - 1) / side;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static __mmask16 first(size_t n)
{
    return (__mmask16)(n >= 16 ? 0xffff : (1u << n) - 1);
}

/* The words of 32 neighbours of a row, of which `count` exist. */
static __m512i along(const float *x, size_t count)
{
    __m512 low = _mm512_maskz_loadu_ps(first(count), x);
    __m512 high = _mm512_maskz_loadu_ps(first(count > 16 ? count - 16 : 0), x + 16);
    return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

/* The words of 16 columns of two rows; the second may be missing (NULL). */
static __m512i across(const float *x, const float *y, __mmask16 columns)
{
    const __m512i in_turn =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    __m512 low = _mm512_maskz_loadu_ps(columns, x);
    __m512 high = y ? _mm512_maskz_loadu_ps(columns, y) : _mm512_setzero_ps();
    return _mm512_permutexvar_epi16(in_turn, (__m512i)_mm512_cvtne2ps_pbh(high, low));
}

/* The next three are inlined so that a tile stays in registers until it is whole. */
#define INLINED static inline __attribute__((always_inline))

/* Rows of 16 words become columns: within pairs, within quarters, then the quarters themselves. */
INLINED void transpose(__m512i r[SIDE])
{
    __m512i t[SIDE];
#pragma GCC unroll 8
    for (int i = 0; i < SIDE; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < SIDE; i += 4) {
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    /* The next two steps move quarters as the first two moved words: alike, but for the places. */
    /* r[4i + c] holds, in quarter q, word 4q + c of rows 4i .. 4i+3. */
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) {
        t[c] = _mm512_shuffle_i32x4(r[c], r[4 + c], 0x88);
        t[4 + c] = _mm512_shuffle_i32x4(r[c], r[4 + c], 0xdd);
        t[8 + c] = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0x88);
        t[12 + c] = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0xdd);
    }
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) {
        r[c] = _mm512_shuffle_i32x4(t[c], t[8 + c], 0x88);
        r[8 + c] = _mm512_shuffle_i32x4(t[c], t[8 + c], 0xdd);
        r[4 + c] = _mm512_shuffle_i32x4(t[4 + c], t[12 + c], 0x88);
        r[12 + c] = _mm512_shuffle_i32x4(t[4 + c], t[12 + c], 0xdd);
    }
}

/* A tile of numbers that are neighbours along the sum within a row: x has rows `ld` apart, of which
 * `rows` exist, with `sums` numbers. */
INLINED void load_along(__m512i word[SIDE], const float *x, size_t ld, size_t rows, size_t sums)
{
    if (rows >= SIDE && sums >= DEPTH) { /* a whole tile: no masks to be made */
#pragma GCC unroll 16
        for (size_t k = 0; k < SIDE; k++)
            word[k] = along(x + k * ld, DEPTH);
        return;
    }
    for (size_t k = 0; k < SIDE; k++)
        word[k] = k < rows ? along(x + k * ld, sums) : _mm512_setzero_si512();
}

/* A tile of numbers that are neighbours along the sum from row to row: x has `sums` rows, `ld`
 * apart, with `columns` numbers. */
INLINED void load_across(__m512i word[SIDE], const float *x, size_t ld, size_t columns, size_t sums)
{
    if (columns >= SIDE && sums >= DEPTH) {
#pragma GCC unroll 16
        for (size_t k = 0; k < SIDE; k++)
            word[k] = across(x + 2 * k * ld, x + (2 * k + 1) * ld, 0xffff);
        return;
    }
    __mmask16 some = first(columns);
    for (size_t k = 0; k < SIDE; k++, x += 2 * ld)
        word[k] = 2 * k >= sums ? _mm512_setzero_si512()
                                : across(x, 2 * k + 1 < sums ? x + ld : NULL, some);
}

/* One factor as tiles, those of a row of tiles one after the other. `outer` counts the rows or
 * columns of the result, `inner` the numbers of a sum. x is (outer, inner), `by_rows`, or (inner,
 * outer), its rows `ld` apart, and is read in the order in which it lies there; `left` says on
 * which side of the product the tiles will stand. */
static void load_tiles(__m512i *to, const float *x, size_t ld, size_t outer, size_t inner,
                       int by_rows, int left)
{
    const size_t strips = 2 * tiles(outer, BLOCK), depth = tiles(inner, DEPTH);
    for (size_t t = 0; t < strips * depth; t++) {
        size_t strip = by_rows ? t / depth : t % strips, step = by_rows ? t % depth : t / strips;
        size_t o = strip * SIDE, i = step * DEPTH;
        __m512i word[SIDE];
        if (o >= outer)
            memset(word, 0, sizeof word);
        else if (by_rows)
            load_along(word, x + o * ld + i, ld, outer - o, inner - i);
        else
            load_across(word, x + i * ld + o, ld, outer - o, inner - i);
        if (by_rows != left)
            transpose(word);
        memcpy(to + (strip * depth + step) * SIDE, word, sizeof word);
    }
}

/* What the sums of a block begin with: nothing (NULL), or numbers whose rows are `ld` apart; 0
 * apart where all rows are the same. */
typedef struct sums_from {
    const float *from;
    size_t ld;
} sums_from;

/* A block: c(32, 32), rows `ld` apart, becomes what it starts from plus the product of two rows of
 * left tiles and two rows of right ones, `depth` tiles each. */
typedef void block_product(float *c, size_t ld, sums_from s, const __m512i *left,
                           const __m512i *right, size_t depth);

/* On the matrix unit: four tiles of floats. */
static void block_on_unit(float *c, size_t ld, sums_from s, const __m512i *left,
                          const __m512i *right, size_t depth)
{
    const __m512i *left2 = left + depth * SIDE, *right2 = right + depth * SIDE;
    const size_t row = ld * sizeof *c;
    if (s.from) {
        _tile_loadd(0, s.from, s.ld * sizeof *c);
        _tile_loadd(1, s.from + SIDE, s.ld * sizeof *c);
        _tile_loadd(2, s.from + SIDE * s.ld, s.ld * sizeof *c);
        _tile_loadd(3, s.from + SIDE * s.ld + SIDE, s.ld * sizeof *c);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (size_t i = 0; i < depth * SIDE; i += SIDE) {
        _tile_loadd(4, left + i, 64);
        _tile_loadd(6, right + i, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, right2 + i, 64);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, left2 + i, 64);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, row);
    _tile_stored(1, c + SIDE, row);
    _tile_stored(2, c + SIDE * ld, row);
    _tile_stored(3, c + SIDE * ld + SIDE, row);
}

/* With vectors: eight rows at a time, whose sums are 16 registers. */
static void block_in_vectors(float *c, size_t ld, sums_from s, const __m512i *left,
                             const __m512i *right, size_t depth)
{
    enum { ROWS = 8 };
    const __m512i *right2 = right + depth * SIDE;
    for (size_t r = 0; r < BLOCK; r += ROWS, c += ROWS * ld) {
        const int *word = (const int *)(left + r / SIDE * depth * SIDE + r % SIDE);
        __m512 low[ROWS], high[ROWS];
#pragma GCC unroll 8
        for (size_t i = 0; i < ROWS; i++) {
            const float *from = s.from + (r + i) * s.ld;
            low[i] = s.from ? _mm512_loadu_ps(from) : _mm512_setzero_ps();
            high[i] = s.from ? _mm512_loadu_ps(from + SIDE) : _mm512_setzero_ps();
        }
        for (size_t t = 0; t < depth * SIDE; t += SIDE, word += TILE) {
#pragma GCC unroll 2
            for (size_t l = 0; l < SIDE; l++) {
                __m512bh b = (__m512bh)right[t + l], b2 = (__m512bh)right2[t + l];
#pragma GCC unroll 8
                for (size_t i = 0; i < ROWS; i++) {
                    __m512bh a = (__m512bh)_mm512_set1_epi32(word[i * SIDE + l]);
                    low[i] = _mm512_dpbf16_ps(low[i], a, b);
                    high[i] = _mm512_dpbf16_ps(high[i], a, b2);
                }
            }
        }
#pragma GCC unroll 8
        for (size_t i = 0; i < ROWS; i++) {
            _mm512_storeu_ps(c + i * ld, low[i]);
            _mm512_storeu_ps(c + i * ld + SIDE, high[i]);
        }
    }
}

/* Copies up to 32 rows of up to 32 floats. */
static void copy_block(float *to, size_t to_ld, const float *from, size_t from_ld, size_t rows,
                       size_t columns)
{
    __mmask16 low = first(columns), high = first(columns > 16 ? columns - 16 : 0);
    for (size_t i = 0; i < rows; i++, to += to_ld, from += from_ld) {
        _mm512_mask_storeu_ps(to, low, _mm512_maskz_loadu_ps(low, from));
        _mm512_mask_storeu_ps(to + 16, high, _mm512_maskz_loadu_ps(high, from + 16));
    }
}

/* A block at the edge, rows x columns of it: by way of a whole one. Many parameters: those of a
 * block_product and the edge. */
static void multiply_edge(block_product *multiply, float *c, size_t ld, sums_from s, size_t rows,
                          size_t columns, const __m512i *left, const __m512i *right, size_t depth)
{
    float whole[BLOCK * BLOCK] __attribute__((aligned(64)));
    sums_from own = { s.from ? whole : NULL, BLOCK };
    if (s.from) { /* tiles are read whole; what is beyond the edge is not kept */
        memset(whole, 0, sizeof whole);
        copy_block(whole, BLOCK, s.from, s.ld, rows, columns);
    }
    multiply(whole, BLOCK, own, left, right, depth);
    copy_block(c, ld, whole, BLOCK, rows, columns);
}

/* Before the first product of a block: the one for these products. The matrix unit's eight tiles
 * get 16 rows of 64 bytes. */
static block_product *product_begin(nn_products how)
{
    if (how != NN_BF16_AMX)
        return block_in_vectors;
    struct {
        uint8_t palette, start, zero[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shape = { .palette = 1 };
    for (int t = 0; t < 8; t++) {
        shape.bytes[t] = 64;
        shape.rows[t] = SIDE;
    }
    _tile_loadconfig(&shape);
    return block_on_unit;
}

/* After the last one: a thread without tiles is cheaper to switch. */
static void end(nn_products how)
{
    if (how == NN_BF16_AMX)
        _tile_release();
}

/* Up to 32 rows of the result, s->n columns, from one row of blocks of left tiles and all right
 * ones. */
static void multiply_rows(block_product *multiply, float *c, const nn_shape *s, sums_from begin,
                          size_t rows, const __m512i *left, const __m512i *right, size_t depth)
{
    for (size_t j = 0; j < s->n; j += BLOCK, right += 2 * depth * SIDE) {
        size_t columns = least(s->n - j, BLOCK);
        sums_from at = { begin.from ? begin.from + j : NULL, begin.ld };
        if (rows == BLOCK && columns == BLOCK)
            multiply(c + j, s->ldc, at, left, right, depth);
        else
            multiply_edge(multiply, c + j, s->ldc, at, rows, columns, left, right, depth);
    }
}

int nn_tiles_product(nn_products how, const nn_shape *s, const float *a, const float *b,
                     const float *from, float *c)
{
    const size_t most = s->k > LONG ? STRETCH : s->k, from_ld = from == c ? s->ldc : 0;
    /* A transposed factor lies in memory term by term: all of its tiles are made in one go. */
    const size_t made = s->trans_a ? tiles(s->m, BLOCK) * BLOCK : BLOCK;
    const size_t rows = made + tiles(s->n, BLOCK) * BLOCK;
    __m512i *left = aligned_alloc(64, rows * tiles(most, DEPTH) * sizeof *left);
    if (!left)
        return 0;
    __m512i *right = left + made * tiles(most, DEPTH);
    block_product *multiply = product_begin(how);
    for (size_t at = 0; at < s->k; at += most) {
        const size_t k = least(s->k - at, most), depth = tiles(k, DEPTH);
        load_tiles(right, b + (s->trans_b ? at : at * s->ldb), s->ldb, s->n, k, s->trans_b, 0);
        for (size_t i = 0; i < s->m; i += BLOCK) {
            float *to = c + i * s->ldc;
            sums_from begin = { from ? from + i * from_ld : NULL, from_ld };
            if (at > 0)
                begin = (sums_from){ to, s->ldc };
            if (i % made == 0)
                load_tiles(left, a + (s->trans_a ? at * s->lda : i * s->lda + at), s->lda,
                           least(s->m - i, made), k, !s->trans_a, 1);
            multiply_rows(multiply, to, s, begin, least(s->m - i, BLOCK), left + i % made * depth,
                          right, depth);
        }
    }
    end(how);
    free(left);
    return 1;
}

/* The feed-forward half of a layer: h = relu(x w1' + b1), y = h w2' + b2.
 *
 * h is wanted by products only, which round it. So each block of 32 x 32 sums is finished while it
 * is near: relu, rounded, two left tiles. The next product takes them as they are. No floats of h
 * go through memory, and the result is that of the single steps to the bit. */

int nn_tiles_feeds(size_t d, size_t ff)
{
    return d % BLOCK == 0 && ff % BLOCK == 0;
}

/* Words of the left tiles of so many rows and numbers. */
static size_t left_words(size_t rows, size_t numbers)
{
    return tiles(rows, BLOCK) * BLOCK * tiles(numbers, DEPTH);
}

size_t nn_tiles_feed_room(const nn_feed *w, size_t n)
{
    return left_words(n, w->ff) * sizeof(__m512i) / sizeof(float);
}

/* Two left tiles, one below the other, of 32 x 32 floats; below zero they become 0. */
static void keep_positive(__m512i *upper, __m512i *lower, const float *block)
{
    const __m512 zero = _mm512_setzero_ps();
    for (size_t r = 0; r < BLOCK; r++, block += BLOCK) {
        __m512 low = _mm512_load_ps(block), high = _mm512_load_ps(block + SIDE);
        /* As in nn/kernels.c: NaN stays. */
        low = _mm512_mask_mov_ps(low, _mm512_cmp_ps_mask(low, zero, _CMP_LT_OQ), zero);
        high = _mm512_mask_mov_ps(high, _mm512_cmp_ps_mask(high, zero, _CMP_LT_OQ), zero);
        (r < SIDE ? upper + r : lower + r - SIDE)[0] = (__m512i)_mm512_cvtne2ps_pbh(high, low);
    }
}

/* The same for the gradient of h: 0 where h is. Its sum over the rows is added to db. */
static void keep_where(__m512i *upper, __m512i *lower, float *db, const float *block,
                       const __m512i *h_upper, const __m512i *h_lower)
{
    __m512 low_sum = _mm512_loadu_ps(db), high_sum = _mm512_loadu_ps(db + SIDE);
    for (size_t r = 0; r < BLOCK; r++, block += BLOCK) {
        __m512i h = r < SIDE ? h_upper[r] : h_lower[r - SIDE];
        /* As integers of 16 bits, numbers above 0 are above 0, and -0 is not. */
        __mmask32 some = _mm512_cmpgt_epi16_mask(h, _mm512_setzero_si512());
        __m512 low = _mm512_maskz_load_ps((__mmask16)some, block);
        __m512 high = _mm512_maskz_load_ps((__mmask16)(some >> 16), block + SIDE);
        low_sum = _mm512_add_ps(low_sum, low);
        high_sum = _mm512_add_ps(high_sum, high);
        (r < SIDE ? upper + r : lower + r - SIDE)[0] = (__m512i)_mm512_cvtne2ps_pbh(high, low);
    }
    _mm512_storeu_ps(db, low_sum);
    _mm512_storeu_ps(db + SIDE, high_sum);
}

int nn_tiles_feed_forward(nn_products how, float *y, float *hidden, const float *x,
                          const nn_feed *w, size_t n)
{
    const size_t d = w->d, ff = w->ff, in = d / DEPTH, out = ff / DEPTH;
    const nn_shape second = { .n = d, .ldc = d };
    float block[BLOCK * BLOCK] __attribute__((aligned(64)));
    __m512i *left = aligned_alloc(64, (left_words(BLOCK, d) + 2 * left_words(ff, d)) * 64);
    if (!left)
        return 0;
    __m512i *w1 = left + left_words(BLOCK, d), *w2 = w1 + left_words(ff, d), *h = (void *)hidden;
    load_tiles(w1, w->w1, d, ff, d, 1, 0);
    load_tiles(w2, w->w2, ff, d, ff, 1, 0);
    block_product *multiply = product_begin(how);
    for (size_t i = 0; i < n; i += BLOCK, h += left_words(BLOCK, ff)) {
        load_tiles(left, x + i * d, d, least(n - i, BLOCK), d, 1, 1);
        for (size_t j = 0; j < out; j++) {
            multiply(block, BLOCK, (sums_from){ w->b1 + j * BLOCK, 0 }, left,
                     w1 + j * left_words(BLOCK, d), in);
            keep_positive(h + j * SIDE, h + (out + j) * SIDE, block);
        }
        multiply_rows(multiply, y + i * d, &second, (sums_from){ w->b2, 0 }, least(n - i, BLOCK), h,
                      w2, out);
    }
    end(how);
    free(left);
    return 1;
}

/* Tiles with the sum along the rows of h: of 32 hidden values (place j of `out`) the words of
 * `steps` blocks of 32 rows, as two rows of right tiles, or of left ones. */
static void turn(__m512i *to, const __m512i *h, size_t j, size_t out, size_t steps, int left)
{
    const __m512i low = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40,
                                         8, 39, 7, 38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(16));
    for (size_t s = 0; s < steps; s++, h += 2 * out * SIDE) {
        const __m512i *row[2] = { h + j * SIDE, h + (out + j) * SIDE };
        __m512i one[SIDE], two[SIDE];
#pragma GCC unroll 16
        for (size_t k = 0; k < SIDE; k++) {
            __m512i a = row[k / 8][2 * k % SIDE], b = row[k / 8][2 * k % SIDE + 1];
            one[k] = _mm512_permutex2var_epi16(a, low, b);
            two[k] = _mm512_permutex2var_epi16(a, high, b);
        }
        if (left) {
            transpose(one);
            transpose(two);
        }
        memcpy(to + s * SIDE, one, sizeof one);
        memcpy(to + (steps + s) * SIDE, two, sizeof two);
    }
}

/* Where the tiles of a stretch of rows lie on the way back. */
typedef struct feed_tiles {
    __m512i *w1, *w2; /* right, sums along ff and d */
    __m512i *left;    /* 32 rows of dy */
    __m512i *dh;      /* left, of the stretch */
    __m512i *rows;    /* of dy (left) or x (right), sums along the rows */
    __m512i *turned;  /* 32 of h or dh, sums along the rows */
} feed_tiles;

static int feed_tiles_new(feed_tiles *t, size_t d, size_t ff)
{
    size_t words[] = {
        left_words(ff, d),       left_words(ff, d),      left_words(BLOCK, d),
        left_words(STRETCH, ff), left_words(STRETCH, d), left_words(BLOCK, STRETCH)
    };
    __m512i **part[] = { &t->w1, &t->w2, &t->left, &t->dh, &t->rows, &t->turned };
    enum { PARTS = sizeof part / sizeof *part };
    size_t all = 0;
    for (int i = 0; i < PARTS; i++)
        all += words[i];
    __m512i *at = aligned_alloc(64, all * sizeof *at);
    if (!at)
        return 0;
    for (int i = 0; i < PARTS; at += words[i++])
        *part[i] = at;
    return 1;
}

int nn_tiles_feed_backward(nn_products how, float *dx, const nn_feed_gradient *g, const float *dy,
                           const float *x, const float *hidden, const nn_feed *w, size_t n)
{
    const size_t d = w->d, ff = w->ff, in = d / DEPTH, out = ff / DEPTH;
    const nn_shape inputs = { .n = d, .ldc = d };
    float block[BLOCK * BLOCK] __attribute__((aligned(64)));
    feed_tiles t;
    if (!feed_tiles_new(&t, d, ff))
        return 0;
    load_tiles(t.w2, w->w2, ff, ff, d, 0, 0);
    load_tiles(t.w1, w->w1, d, d, ff, 0, 0);
    block_product *multiply = product_begin(how);
    for (size_t at = 0; at < n;
         at += STRETCH, dy += STRETCH * d, x += STRETCH * d, dx += STRETCH * d) {
        const size_t rows = least(n - at, STRETCH), steps = tiles(rows, BLOCK);
        const __m512i *h = (const __m512i *)(const void *)hidden + left_words(at, ff);
        for (size_t i = 0; i < rows; i += BLOCK) { /* dh = dy w2 where h > 0, dx = dh w1 */
            const __m512i *of_h = h + left_words(i, ff);
            __m512i *to = t.dh + left_words(i, ff);
            load_tiles(t.left, dy + i * d, d, least(rows - i, BLOCK), d, 1, 1);
            for (size_t j = 0; j < out; j++) {
                multiply(block, BLOCK, (sums_from){ NULL, 0 }, t.left,
                         t.w2 + j * left_words(BLOCK, d), in);
                keep_where(to + j * SIDE, to + (out + j) * SIDE, g->b1 + j * BLOCK, block,
                           of_h + j * SIDE, of_h + (out + j) * SIDE);
            }
            multiply_rows(multiply, dx + i * d, &inputs, (sums_from){ NULL, 0 },
                          least(rows - i, BLOCK), to, t.w1, out);
        }
        load_tiles(t.rows, dy, d, d, rows, 0, 1);
        for (size_t j = 0; j < out; j++) { /* dw2 += dy' h */
            turn(t.turned, h, j, out, steps, 0);
            for (size_t i = 0; i < in; i++) {
                float *to = g->w2 + i * BLOCK * ff + j * BLOCK;
                multiply(to, ff, (sums_from){ to, ff }, t.rows + i * 2 * steps * SIDE, t.turned,
                         steps);
            }
        }
        load_tiles(t.rows, x, d, d, rows, 0, 0);
        for (size_t j = 0; j < out; j++) { /* dw1 += dh' x */
            turn(t.turned, t.dh, j, out, steps, 1);
            for (size_t i = 0; i < in; i++) {
                float *to = g->w1 + j * BLOCK * d + i * BLOCK;
                multiply(to, d, (sums_from){ to, d }, t.turned, t.rows + i * 2 * steps * SIDE,
                         steps);
            }
        }
    }
    end(how);
    free(t.w1);
    return 1;
}

int nn_tiles_have(nn_products how)
{
    enum { REQUEST = 0x1023, TILE_DATA = 18 }; /* ARCH_REQ_XCOMP_PERM, of the matrix unit's state */
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 1, &a, &b, &c, &d) || !(a >> 5 & 1) || /* AVX-512 BF16 */
        !__builtin_cpu_supports("avx512bw"))
        return 0;
    if (how != NN_BF16_AMX)
        return 1;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return 0;
    unsigned tiles_and_bf16 = d >> 24 & d >> 22 & 1;
    /* Linux gives a process the unit's 8 KB a thread on request only; without, SIGILL. */
    return tiles_and_bf16 && syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
}
