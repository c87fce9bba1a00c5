/* find.c - the nearest of a library's vectors, beside reading the same bytes. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/half.h"
#include "base/numbers.h"
#include "base/rng.h"
#include "model/config.h"
#include "library/nearest.h"

enum { NEAREST = 20, TIMES_MAX = 10000, WIDTH_MAX = 4096, PIECE = 2048 };

/* Row i of a random library: length 1, in any direction. */
static void draw_row(float *row, size_t width, uint64_t i)
{
    rng r;
    double square = 0;
    rng_init(&r, 1, RNG_BENCH, i);
    for (size_t j = 0; j < width; j++) {
        row[j] = (float)(rng_uniform(&r) - 0.5);
        square += (double)row[j] * (double)row[j];
    }
    for (size_t j = 0; j < width; j++)
        row[j] = (float)((double)row[j] / sqrt(square));
}

static void fill(uint16_t *half, size_t rows, size_t width, int threads)
{
#pragma omp parallel for num_threads(threads)
    for (size_t i = 0; i < rows; i++) {
        float row[WIDTH_MAX];
        draw_row(row, width, i);
        for (size_t j = 0; j < width; j++)
            half[i * width + j] = half_of(row[j]);
    }
}

/* Seconds to read all bytes once and do nothing with them but a sum. */
static double read_all(const uint16_t *half, size_t size, int threads, volatile uint64_t *out)
{
    uint64_t sum = 0;
    double start = clock_now();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 16) reduction(+ : sum)
    for (size_t first = 0; first < size; first += PIECE) {
        uint64_t word[PIECE / 4];
        size_t n = size - first < PIECE ? size - first : PIECE;
        memcpy(word, half + first, n * sizeof *half);
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < n / 4; i++)
            sum += word[i];
    }
    *out = sum;
    return clock_now() - start;
}

static json_t *figures(double *times, size_t n, double reading, size_t rows, size_t width,
                       int threads)
{
    double best = INFINITY, bytes = (double)(rows * width * sizeof(uint16_t));
    for (size_t i = 0; i < n; i++)
        best = fmin(best, times[i]);
    return json_pack("{s:s,s:I,s:I,s:i,s:i,s:I,s:f,s:f,s:f,s:f,s:f}", "bench", "find", "rows",
                     (json_int_t)rows, "width", (json_int_t)width, "nearest", NEAREST, "threads",
                     threads, "queries", (json_int_t)n, "seconds", best, "median_seconds",
                     numbers_median(times, n), "gb_per_second", bytes / best * 1e-9,
                     "read_gb_per_second", bytes / reading * 1e-9, "ratio_to_read", reading / best);
}

json_t *bench_find(double seconds, size_t rows, int threads)
{
    model_config c;
    if (model_config_preset(&c, "small", NULL) != SNIP_OK || c.latent > WIDTH_MAX)
        return NULL;
    size_t width = (size_t)c.latent, n = 0, found;
    uint16_t *half = malloc(rows * width * sizeof *half);
    double *times = malloc(TIMES_MAX * sizeof *times), reading = INFINITY;
    const library_matrix all = { .half = half, .count = rows, .latent = width };
    int good = half && times;
    if (good)
        fill(half, rows, width, threads);
    for (double start = clock_now();
         good && n < TIMES_MAX && (n == 0 || clock_now() - start < seconds); n++) {
        float query[WIDTH_MAX];
        library_hit hit[NEAREST];
        volatile uint64_t sum;
        draw_row(query, width, rows + n);
        reading = fmin(reading, read_all(half, rows * width, threads, &sum));
        double t0 = clock_now();
        good = library_nearest(&all, query, NEAREST, 0, threads, hit, &found, NULL) == SNIP_OK;
        times[n] = clock_now() - t0;
    }
    json_t *o = good ? figures(times, n, reading, rows, width, threads) : NULL;
    free(half);
    free(times);
    return o;
}
