/* gen.c - samples per second: expression, points, values, tokens of both kinds. */
#include "bench.h"

#include "base/clock.h"
#include "base/isa.h"
#include "data/laws.h"
#include "data/points.h"
#include "data/tokens.h"

/* Accepted samples per second of SNIP's own generator, one process on a quiet machine
 * (tests/golden/generator-stats.json, reference_rate). It makes no tokens. */
static const double reference_rate = 73.5;

/* Seconds that `sets` sets of input points alone take. */
static double points_alone(rng *r, long sets, arena *a)
{
    double *x = arena_array(a, DATA_DIMS_MAX * DATA_POINTS, sizeof *x);
    if (!x)
        return 0;
    double start = clock_now();
    for (long i = 0; i < sets; i++) {
        int clusters = 0, uniform = 0;
        data_points_draw(r, 1 + (int)(i % DATA_DIMS_MAX), DATA_POINTS, x, DATA_POINTS, &clusters,
                         &uniform, a);
    }
    return clock_now() - start;
}

/* Microseconds per law with 200 points, without tokens, over about `seconds`. */
static double laws_alone(double seconds, arena *a)
{
    const data_gen gen = { .dims = DATA_DIMS_MAX, .points = DATA_POINTS };
    double start = clock_now(), passed;
    long laws = 0;
    do {
        for (int k = 0; k < 100; k++, laws++) {
            arena_pos mark = arena_mark(a);
            data_sample s;
            if (data_law_draw(&s, NULL, &gen, 1, RNG_BENCH, (uint64_t)laws, a) != SNIP_OK)
                return 0;
            arena_reset(a, mark);
        }
        passed = clock_now() - start;
    } while (passed < seconds);
    return 1e6 * passed / (double)laws;
}

json_t *bench_gen(double seconds)
{
    arena *a = arena_new(0);
    const data_vocab *v = a ? data_vocab_new(DATA_DIMS_MAX, a) : NULL;
    uint16_t *numeric = v ? arena_array(a, DATA_POINTS * 3 * (DATA_DIMS_MAX + 1), 2) : NULL;
    if (!numeric) {
        arena_free(a);
        return NULL;
    }
    const data_gen gen = { .dims = DATA_DIMS_MAX, .points = DATA_POINTS };
    double draw = 0, tokens = 0, start = clock_now();
    long samples = 0, words = 0, values = 0;
    while (clock_now() - start < seconds) {
        for (int k = 0; k < 100; k++, samples++) {
            arena_pos mark = arena_mark(a);
            data_sample s;
            data_tokens t;
            double t0 = clock_now();
            if (data_sample_draw(&s, &gen, 1, RNG_BENCH, (uint64_t)samples, a) != SNIP_OK)
                break;
            double t1 = clock_now();
            data_tokens_make(&t, s.e, v, a, NULL);
            data_points_tokens(numeric, v, s.x, s.dim, s.y, s.points);
            double t2 = clock_now();
            draw += t1 - t0;
            tokens += t2 - t1;
            words += (long)t.count;
            values += (long)s.points * (s.dim + 1);
            arena_reset(a, mark);
        }
    }
    double total = clock_now() - start, rate = (double)samples / total;
    rng r;
    rng_init(&r, 1, RNG_BENCH, 0);
    double points = points_alone(&r, samples, a), law = laws_alone(seconds / 4, a);
    arena_free(a);
    return json_pack("{s:s,s:s,s:I,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "bench", "gen", "isa",
                     isa_name(isa_best()), "samples", (json_int_t)samples, "samples_per_second",
                     rate, "microseconds_per_sample", 1e6 / rate, "draw_microseconds",
                     1e6 * draw / (double)samples, "points_microseconds_per_set",
                     1e6 * points / (double)samples, "tokens_microseconds",
                     1e6 * tokens / (double)samples, "nanoseconds_per_float_token_triple",
                     1e9 * tokens / (double)(values ? values : 1), "symbolic_tokens_per_sample",
                     (double)words / (double)samples, "ratio_to_reference", rate / reference_rate,
                     "laws_per_second", law > 0 ? 1e6 / law : 0, "microseconds_per_law", law);
}
