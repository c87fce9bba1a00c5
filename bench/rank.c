/* rank.c - ranking of all pairs in both directions, beside the matrix products alone. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/rng.h"
#include "eval/metrics.h"
#include "nn/nn.h"

enum { PAIRS = 16384, WIDTH = 128, BLOCK = 512 };

/* Unit rows; those of y lean towards those of f, as in a trained space. */
static void fill(float *f, float *y)
{
    rng r;
    rng_init(&r, 1, RNG_BENCH, 0);
    for (size_t i = 0; i < PAIRS; i++) {
        double length[2] = { 0, 0 };
        for (size_t j = i * WIDTH; j < (i + 1) * WIDTH; j++) {
            f[j] = (float)(rng_uniform(&r) - 0.5);
            y[j] = f[j] + (float)(rng_uniform(&r) - 0.5);
            length[0] += (double)f[j] * (double)f[j];
            length[1] += (double)y[j] * (double)y[j];
        }
        for (size_t j = i * WIDTH; j < (i + 1) * WIDTH; j++) {
            f[j] /= (float)sqrt(length[0]);
            y[j] /= (float)sqrt(length[1]);
        }
    }
}

/* Seconds of the same blocks' products without counting. */
static double products_alone(const float *f, const float *y, int threads)
{
    double start = clock_now();
#pragma omp parallel num_threads(threads)
    {
        float *s = malloc((size_t)BLOCK * BLOCK * sizeof *s);
#pragma omp for schedule(dynamic, 1)
        for (size_t row = 0; row < PAIRS; row += BLOCK)
            for (size_t col = 0; s && col < PAIRS; col += BLOCK)
                if (!nn_gemm(0, 1, BLOCK, BLOCK, WIDTH, 1, f + row * WIDTH, WIDTH, y + col * WIDTH,
                             WIDTH, 0, s, BLOCK))
                    abort();
        free(s);
    }
    return clock_now() - start;
}

json_t *bench_rank(double seconds, int threads)
{
    const size_t size = (size_t)PAIRS * WIDTH;
    float *f = malloc(size * sizeof *f), *y = malloc(size * sizeof *y);
    uint32_t *above_f = malloc(PAIRS * sizeof *above_f), *above_y = malloc(PAIRS * sizeof *above_y);
    const eval_pairs pairs = { f, y, NULL, PAIRS, WIDTH };
    int good = f && y && above_f && above_y;
    double best = INFINITY, alone = INFINITY, flops = 2.0 * PAIRS * PAIRS * WIDTH;
    if (good)
        fill(f, y);
    for (double start = clock_now(); good && (isinf(best) || clock_now() - start < seconds);) {
        double t0 = clock_now();
        good = eval_places(above_f, above_y, &pairs, 0, PAIRS, threads, NULL);
        best = fmin(best, clock_now() - t0);
        alone = fmin(alone, products_alone(f, y, threads));
    }
    free(f);
    free(y);
    free(above_f);
    free(above_y);
    return good ? json_pack("{s:s,s:i,s:i,s:i,s:f,s:f,s:f,s:f}", "bench", "rank", "pairs", PAIRS,
                            "width", WIDTH, "threads", threads, "seconds", best, "gflops",
                            flops / best * 1e-9, "sgemm_gflops", flops / alone * 1e-9,
                            "ratio_to_sgemm", alone / best)
                : NULL;
}
