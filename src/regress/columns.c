/* columns.c - see columns.h. Compiled once per instruction set with ISA_SUFFIX set.
 *
 * A sum in a given order waits for its own last addition at every row. So four columns go side by
 * side, and whatever else there is to do is done in that time. */
#include "regress/columns.h"

#include <cminpack.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)

/* GCC would make one vector of the four sums and spend its time on moving numbers into place. */
#ifdef __clang__
#define SIDE_BY_SIDE
#else
#define SIDE_BY_SIDE __attribute__((optimize("no-tree-slp-vectorize")))
#endif

enum { SIDE = 4, ROWS = 16 }; /* columns side by side; rows that are divided at a time */

/* side = the next SIDE columns; the first one stands in for those that are not there. */
static size_t next(double *side[SIDE], double *const *column, size_t count)
{
    for (size_t c = 0; c < SIDE; c++)
        side[c] = column[c < count ? c : 0];
    return count < SIDE ? count : SIDE;
}

/* Whether enorm scales v, which it does with numbers much larger or smaller than usual. Bits and no
 * branches, so that compilers take several rows at once. */
static int is_unusual(const double *v, size_t n, double squares)
{
    const uint64_t small = 0x3c32725dd1d243ac; /* 1e-18 */
    const double large = 1e24;
    uint64_t tiny = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        bits &= UINT64_MAX >> 1;
        tiny |= (bits - 1 < small - 1); /* 0 becomes the largest */
    }
    return tiny || !(squares <= large);
}

/* sum[c] = |side[c]|^2; of the first one only, if `one`. */
SIDE_BY_SIDE static void squares(double sum[SIDE], double *const side[SIDE], int one, size_t n)
{
    const double *a = side[0], *b = side[1], *c = side[2], *d = side[3];
    double s = 0, t = 0, u = 0, w = 0;
    for (size_t i = 0; i < n && one; i++)
        s += a[i] * a[i];
    for (size_t i = 0; i < n && !one; i++) {
        s += a[i] * a[i];
        t += b[i] * b[i];
        u += c[i] * c[i];
        w += d[i] * d[i];
    }
    sum[0] = s, sum[1] = t, sum[2] = u, sum[3] = w;
}

static void lengths(double *out, double *const *column, size_t count, size_t n)
{
    for (size_t first = 0; first < count; first += SIDE) {
        double *side[SIDE], sum[SIDE];
        size_t here = next(side, column + first, count - first);
        squares(sum, side, here == 1, n);
        for (size_t k = 0; k < here; k++)
            out[first + k] = is_unusual(side[k], n, sum[k]) ? enorm((int)n, side[k]) : sqrt(sum[k]);
    }
}

/* Where `length` is not 0, divides v by it and adds 1 to v[0]; sets sum[c] = v . side[c]. */
SIDE_BY_SIDE static void inner(double sum[SIDE], double *v, double length, double *const side[SIDE],
                               size_t n)
{
    const double *a = side[0], *b = side[1], *c = side[2], *d = side[3];
    double s = 0, t = 0, u = 0, w = 0;
    for (size_t first = 0; first < n; first += ROWS) {
        size_t end = n - first < ROWS ? n : first + ROWS;
        for (size_t i = first; i < end && length != 0; i++)
            v[i] /= length;
        if (first == 0 && length != 0)
            v[0] += 1;
        for (size_t i = first; i < end; i++) {
            s += v[i] * a[i];
            t += v[i] * b[i];
            u += v[i] * c[i];
            w += v[i] * d[i];
        }
    }
    sum[0] = s, sum[1] = t, sum[2] = u, sum[3] = w;
}

static void reflect(double *const *column, size_t count, double *v, double length, size_t n)
{
    for (size_t first = 0; first < count; first += SIDE) {
        double *side[SIDE], sum[SIDE];
        size_t here = next(side, column + first, count - first);
        inner(sum, v, first == 0 ? length : 0, side, n);
        for (size_t c = 0; c < here; c++) {
            double part = sum[c] / v[0], *restrict to = side[c];
            const double *restrict from = v;
            for (size_t i = 0; i < n; i++)
                to[i] -= part * from[i];
        }
    }
}

extern const regress_columns PASTE(regress_columns_, ISA_SUFFIX);
const regress_columns PASTE(regress_columns_, ISA_SUFFIX) = { lengths, reflect };
