/* embed.c - formulas and tables per second through the encoders, as `snip embed` runs them. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "data/gen.h"
#include "model/opened.h"
#include "rig.h"

enum { SAMPLES = 256 };

/* Best seconds for all samples on one side, formulas from the tree on. */
static double measure(model_space *s, model_item *item, size_t n, float *symbols, float *values,
                      double seconds, arena *a)
{
    double best = INFINITY;
    for (double start = clock_now(); isinf(best) || clock_now() - start < seconds;) {
        arena_pos mark = arena_mark(a);
        double t0 = clock_now();
        for (size_t i = 0; i < n && symbols; i++)
            if (model_space_words(&item[i].words, s, item[i].e, MODEL_EXACT, a, NULL) != SNIP_OK)
                return NAN;
        if (model_space_embed(s, item, n, symbols, values, NULL) != SNIP_OK)
            return NAN;
        best = fmin(best, clock_now() - t0);
        arena_reset(a, mark);
    }
    return best;
}

/* Items of the benchmark's stream, their tables cut to `rows` rows. Returns 0 when memory is out.
 */
static int draw(model_item *item, size_t n, const model *m, size_t rows, arena *a)
{
    const data_gen gen = { .dims = m->vocab->dims, .points = DATA_POINTS };
    for (size_t i = 0; i < n; i++) {
        data_sample s;
        if (data_sample_draw(&s, &gen, 1, RNG_BENCH, n + i, a) != SNIP_OK)
            return 0;
        item[i] = (model_item){
            .e = s.e, .node = MODEL_WHOLE, .x = s.x, .dim = s.dim, .rows = rows, .y = s.y
        };
    }
    return 1;
}

/* Figures of one model; NULL when memory is out. */
static json_t *figures(const model *m, int tree, size_t n, size_t rows, int threads, double seconds)
{
    arena *a = arena_new(0);
    model_space *s = model_space_new(m, tree, threads);
    model_item *item = a ? arena_array(a, n, sizeof *item) : NULL;
    float *z = a ? arena_array(a, n * (size_t)m->config.latent, sizeof *z) : NULL;
    json_t *o = NULL;
    if (s && item && z && draw(item, n, m, rows, a)) {
        double formulas = measure(s, item, n, z, NULL, seconds / 2, a);
        double tables = measure(s, item, n, NULL, z, seconds / 2, a);
        if (!isnan(formulas) && !isnan(tables))
            o = json_pack("{s:I,s:I,s:f,s:f}", "samples", (json_int_t)n, "rows", (json_int_t)rows,
                          "formulas_per_second", (double)n / formulas, "tables_per_second",
                          (double)n / tables);
    }
    model_space_free(s);
    arena_free(a);
    return o;
}

json_t *bench_embed(const char *preset, const char *stage, size_t batch, int threads,
                    double seconds, const char *path, snip_status *st)
{
    bench_rig r;
    json_t *o = NULL;
    size_t n = batch ? batch : SAMPLES;
    if (bench_rig_make(&r, preset, stage, n, 1, st) == SNIP_OK) {
        int tree = train_stage_of[r.what.stage].tree;
        json_t *own = figures(r.m, tree, n, r.what.points, threads, seconds);
        if (own)
            o = json_pack("{s:s,s:s,s:i,s:o}", "bench", "embed", "preset", preset, "threads",
                          threads, "figures", own);
    }
    bench_rig_free(&r);
    if (!o || !path)
        return o;
    model_opened *t;
    if (model_open(&t, path, st) != SNIP_OK) {
        json_decref(o);
        return NULL;
    }
    json_t *given = figures(t->m, t->tree, n, DATA_POINTS, threads, seconds);
    if (given)
        json_object_set_new(o, "model", given);
    model_close(t);
    return o;
}
