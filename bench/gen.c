/* gen.c - samples per second, as training draws them: expression, points, values, and all that the
 * encoders read of them. */
#include "bench.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/isa.h"
#include "data/laws.h"
#include "data/points.h"
#include "rig.h"

/* Accepted samples per second of SNIP's own generator, one process on a quiet machine
 * (tests/golden/generator-stats.json, reference_rate). It makes no tokens. */
static const double reference_rate = 73.5;

enum { BATCH = 100 };

/* What is drawn: sample i, or -- to tell the parts apart -- its expression and values, its points,
 * or a law. */
typedef struct drawing {
    bench_rig *r;
    arena *a;
    double *x; /* room for one sample's points */
    long tokens;
} drawing;

static const data_gen gen = { .dims = DATA_DIMS_MAX, .points = DATA_POINTS };

static int draw_batch(drawing *d, uint64_t first)
{
    train_batch b;
    if (bench_rig_draw(&b, d->r, first, NULL) != SNIP_OK)
        return 0;
    for (size_t i = 0; i < b.formulas; i++)
        d->tokens += (long)b.formula[i].words.tokens.count;
    return 1;
}

static int draw_samples(drawing *d, uint64_t first)
{
    data_sample s;
    for (uint64_t i = first; i < first + BATCH; i++, arena_reset(d->a, 0))
        if (data_sample_draw(&s, &gen, 1, RNG_BENCH, i, d->a) != SNIP_OK)
            return 0;
    return 1;
}

static int draw_points(drawing *d, uint64_t first)
{
    rng r;
    rng_init(&r, 1, RNG_BENCH, first);
    for (int i = 0; i < BATCH; i++, arena_reset(d->a, 0)) {
        int clusters = 0, uniform = 0;
        if (!data_points_draw(&r, 1 + i % DATA_DIMS_MAX, DATA_POINTS, d->x, DATA_POINTS, &clusters,
                              &uniform, d->a))
            return 0;
    }
    return 1;
}

static int draw_laws(drawing *d, uint64_t first)
{
    data_sample s;
    for (uint64_t i = first; i < first + BATCH; i++, arena_reset(d->a, 0))
        if (data_law_draw(&s, NULL, &gen, 1, RNG_BENCH, i, d->a) != SNIP_OK)
            return 0;
    return 1;
}

json_t *bench_gen(double seconds)
{
    static int (*const part[])(drawing *, uint64_t) = { draw_batch, draw_samples, draw_points,
                                                        draw_laws };
    enum { PARTS = sizeof part / sizeof *part };
    double took[PARTS] = { 0 }, start = 0;
    bench_rig r;
    /* The paper's protocol reads all 200 points of a sample, as tokens. */
    int good = bench_rig_make(&r, "paper", "S0", BATCH, 1, NULL) == SNIP_OK;
    drawing d = { .r = &r,
                  .a = arena_new(0),
                  .x = malloc(sizeof(double[DATA_DIMS_MAX][DATA_POINTS])) };
    good = good && d.a && d.x;
    uint64_t n = 0;
    for (; good && (n < 2 * BATCH || clock_now() - start < seconds); n += BATCH)
        for (int k = 0; k < PARTS && good; k++) { /* in turns, so that all see the same machine */
            double t = clock_now();
            good = part[k](&d, n);
            if (n > 0) /* the first batch touches memory for the first time */
                took[k] += clock_now() - t;
            else
                start = clock_now();
        }
    n -= BATCH;
    json_t *o = NULL;
    if (good) {
        double each[PARTS], rate = (double)n / took[0];
        for (int k = 0; k < PARTS; k++)
            each[k] = 1e6 * took[k] / (double)n;
        o = json_pack("{s:s,s:s,s:I,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "bench", "gen", "isa",
                      isa_name(isa_best()), "samples", (json_int_t)n, "samples_per_second", rate,
                      "microseconds_per_sample", each[0], "draw_microseconds", each[1],
                      "points_microseconds_per_set", each[2], "tokens_microseconds",
                      each[0] - each[1], "symbolic_tokens_per_sample",
                      (double)d.tokens / (double)(n + BATCH), "ratio_to_reference",
                      rate / reference_rate, "laws_per_second", 1e6 / each[3],
                      "microseconds_per_law", each[3]);
    }
    free(d.x);
    arena_free(d.a);
    bench_rig_free(&r);
    return o;
}
