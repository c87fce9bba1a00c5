/* amx.c - bf16 products on the matrix unit of x86 processors (AMX); see bf16.h.
 *
 * A tile is a register of 16 rows of 64 bytes. One instruction (tdpbf16ps) adds to a tile of 16 x
 * 16 floats the product of two tiles of bf16: left   16 rows of 32 numbers:         row i holds
 * A(i, 0..31) right  16 rows of 16 pairs of numbers: row l holds B(2l, j), B(2l+1, j) for j = 0..15
 * Seen as 16 x 16 words of 32 bits (a word is a pair of neighbours along the sum), a right tile of
 * B is the transpose of a left tile of B'. So two ways to load rows and one transposition serve all
 * four products of BLAS. Both factors are rounded into tiles first; what is beyond their edges is
 * zero and adds nothing. */
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
};

static size_t tiles(size_t n, size_t side)
{
    return (n + side - 1) / side;
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
    __m512 low = _mm512_maskz_loadu_ps(columns, x);
    __m512 high = y ? _mm512_maskz_loadu_ps(columns, y) : _mm512_setzero_ps();
    __m512i first_words = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(low));
    __m512i second = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(high));
    return _mm512_or_si512(first_words, _mm512_slli_epi32(second, 16));
}

/* Rows of 16 words become columns: within pairs, within quarters, then the quarters themselves. */
static void transpose(__m512i r[SIDE])
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
static void load_along(__m512i word[SIDE], const float *x, size_t ld, size_t rows, size_t sums)
{
    for (size_t k = 0; k < SIDE; k++)
        word[k] = k < rows ? along(x + k * ld, sums) : _mm512_setzero_si512();
}

/* A tile of numbers that are neighbours along the sum from row to row: x has `sums` rows, `ld`
 * apart, with `columns` numbers. */
static void load_across(__m512i word[SIDE], const float *x, size_t ld, size_t columns, size_t sums)
{
    __mmask16 some = first(columns);
    for (size_t k = 0; k < SIDE; k++, x += 2 * ld)
        word[k] = 2 * k >= sums ? _mm512_setzero_si512()
                                : across(x, 2 * k + 1 < sums ? x + ld : NULL, some);
}

/* One factor as tiles, those of a row of tiles one after the other. `outer` counts the rows or
 * columns of the result, `inner` the numbers of a sum. x is (outer, inner), `by_rows`, or (inner,
 * outer); `left` says on which side of the product the tiles will stand. */
static void load_tiles(__m512i *to, const float *x, size_t outer, size_t inner, int by_rows,
                       int left)
{
    for (size_t o = 0; o < tiles(outer, BLOCK) * BLOCK; o += SIDE)
        for (size_t i = 0; i < inner; i += DEPTH, to += SIDE) {
            if (o >= outer)
                memset(to, 0, SIDE * sizeof *to);
            else if (by_rows)
                load_along(to, x + o * inner + i, inner, outer - o, inner - i);
            else
                load_across(to, x + i * outer + o, outer, outer - o, inner - i);
            if (by_rows != left)
                transpose(to);
        }
}

/* Four tiles of floats: c(32, 32), rows `ld` apart, += the product of two rows of left tiles and
 * two rows of right ones, `depth` tiles each. */
static void multiply_block(float *c, size_t ld, const __m512i *left, const __m512i *right,
                           size_t depth)
{
    const __m512i *left2 = left + depth * SIDE, *right2 = right + depth * SIDE;
    const size_t row = ld * sizeof *c;
    _tile_loadd(0, c, row);
    _tile_loadd(1, c + SIDE, row);
    _tile_loadd(2, c + SIDE * ld, row);
    _tile_loadd(3, c + SIDE * ld + SIDE, row);
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

/* A block at the edge, rows x columns of it: by way of a whole one. */
static void multiply_edge(float *c, size_t ld, size_t rows, size_t columns, const __m512i *left,
                          const __m512i *right, size_t depth)
{
    float whole[BLOCK * BLOCK] = { 0 };
    for (size_t i = 0; i < rows; i++)
        memcpy(whole + i * BLOCK, c + i * ld, columns * sizeof *c);
    multiply_block(whole, BLOCK, left, right, depth);
    for (size_t i = 0; i < rows; i++)
        memcpy(c + i * ld, whole + i * BLOCK, columns * sizeof *c);
}

/* All eight tiles have 16 rows of 64 bytes. */
static void configure(void)
{
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
}

/* Many parameters: those of BLAS. */
int nn_amx_product(int trans_a, int trans_b, size_t m, size_t n, size_t k, const float *a,
                   const float *b, int add, float *c)
{
    const size_t depth = tiles(k, DEPTH);
    const size_t rows = tiles(m, BLOCK), columns = tiles(n, BLOCK), band = 2 * depth * SIDE;
    __m512i *left = aligned_alloc(64, (rows + columns) * band * sizeof *left);
    if (!left)
        return 0;
    __m512i *right = left + rows * band;
    load_tiles(left, a, m, k, !trans_a, 1);
    load_tiles(right, b, n, k, trans_b, 0);
    if (!add)
        memset(c, 0, m * n * sizeof *c);
    configure();
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++) {
            size_t r = m - i * BLOCK, s = n - j * BLOCK;
            float *at = c + i * BLOCK * n + j * BLOCK;
            if (r >= BLOCK && s >= BLOCK)
                multiply_block(at, n, left + i * band, right + j * band, depth);
            else
                multiply_edge(at, n, r < BLOCK ? r : BLOCK, s < BLOCK ? s : BLOCK, left + i * band,
                              right + j * band, depth);
        }
    _tile_release(); /* a thread without tiles is cheaper to switch */
    free(left);
    return 1;
}

int nn_has_amx(void)
{
    enum { REQUEST = 0x1023, TILE_DATA = 18 }; /* ARCH_REQ_XCOMP_PERM, of the matrix unit's state */
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return 0;
    unsigned tiles_and_bf16 = d >> 24 & d >> 22 & 1;
    if (!__get_cpuid_count(7, 1, &a, &b, &c, &d) || !(a >> 5 & 1)) /* AVX-512 BF16: rounding */
        return 0;
    /* Linux gives a process the unit's 8 KB a thread on request only; without, SIGILL. */
    return tiles_and_bf16 && __builtin_cpu_supports("avx512bw") &&
           syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
}
