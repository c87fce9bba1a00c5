/* train.c - a training step by part, beside the machine's own rate on the same matrix products. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/limits.h"
#include "train/update.h"

/* GFLOP/s of the products of one layer on chunks of the trainer's size, all cores at once: forward,
 * and backward for inputs and weights. */
static double product_rate(const model_config *c, nn_products how, int threads, double seconds)
{
    enum { ROWS = 1024 };
    const size_t d = (size_t)c->d, ff = (size_t)c->ff;
    const size_t shapes[][2] = { { d, 3 * d }, { d, d }, { d, ff }, { ff, d } }; /* in, out */
    double flops = 0, start = clock_now();
    int failed = 0;
#pragma omp parallel num_threads(threads) reduction(+ : flops)
    {
        arena *a = arena_new(0);
        size_t most = ff > 3 * d ? ff : 3 * d;
        float *x = a ? arena_zero(a, ROWS * most * sizeof *x) : NULL;
        float *w = a ? arena_zero(a, most * most * sizeof *w) : NULL;
        float *y = a ? arena_zero(a, ROWS * most * sizeof *y) : NULL;
        if (!x || !w || !y)
#pragma omp atomic write
            failed = 1;
        while (x && w && y && clock_now() - start < seconds)
            for (int s = 0; s < 4; s++) {
                size_t in = shapes[s][0], out = shapes[s][1];
                if (!nn_dense(how, 0, 1, ROWS, out, in, x, w, 0, y) ||
                    !nn_dense(how, 0, 0, ROWS, in, out, y, w, 0, x) ||
                    !nn_dense(how, 1, 0, out, in, ROWS, y, x, 0, w)) {
#pragma omp atomic write
                    failed = 1;
                }
                flops += 6.0 * ROWS * (double)in * (double)out;
            }
        arena_free(a);
    }
    return failed ? 0 : flops / (clock_now() - start) * 1e-9;
}

/* Seconds of an update by this optimizer: the best of a few, for all else only adds. */
static double update_seconds(const train_config *like, int optimizer, model *m, float *m1,
                             float *m2, const float *grad, int threads, double seconds, arena *a)
{
    train_config c = *like;
    c.optimizer = optimizer;
    const train_update *u = train_update_new(m, &c, threads, a);
    double best = INFINITY, start = clock_now();
    for (uint64_t t = 1; u && (t < 4 || clock_now() - start < seconds); t++) {
        double from = clock_now();
        train_update_apply(u, m, m1, m2, grad, 1, t);
        best = fmin(best, clock_now() - from);
    }
    return best;
}

/* What a step works with. */
typedef struct job {
    train_step *s;
    model *m;
    const train_batch_how *what;
    const train_how *how;
    const train_update *update;
    float *grad, *m1, *m2;
    arena **draw;
    int threads;
} job;

/* Step i, by parts: those of train_step_gradient, `draw` and `update`. Returns 0 when it fails. */
static int make_step(const job *j, uint64_t i, train_batch *b, train_times *times)
{
    train_terms terms;
    double t0 = clock_now();
    if (train_batch_draw(b, j->what, i * j->what->size, j->m, j->draw, j->threads, NULL) != SNIP_OK)
        return 0;
    double t1 = clock_now();
    if (train_step_gradient(j->s, j->m, b, j->how, j->grad, &terms, times, NULL) != SNIP_OK)
        return 0;
    double t2 = clock_now(), norm = nn_length(j->grad, j->m->size, j->threads);
    train_update_apply(j->update, j->m, j->m1, j->m2, j->grad, norm, i + 1);
    times->draw = t1 - t0;
    times->update = clock_now() - t2;
    return 1;
}

/* The same steps with bf16 products: samples per second, and GFLOP/s of the products alone. Or why
 * there are none. NULL when something fails. */
static json_t *bf16_figures(const job *j, const model_config *c, double seconds)
{
    if (!nn_has_bf16())
        return json_string("this processor has no bf16 products (AVX-512 BF16 or AMX)");
    double start = 0, total = 0;
    uint64_t steps = 0;
    j->m->products = NN_BF16;
    for (; steps < 2 || total < seconds; steps++) {
        train_batch b;
        train_times times;
        if (!make_step(j, steps, &b, &times))
            return NULL;
        start = steps == 0 ? clock_now() : start;
        total = clock_now() - start;
    }
    j->m->products = NN_FLOAT32;
    double samples = (double)((steps - 1) * j->what->size);
    return json_pack("{s:f,s:f}", "samples_per_second", samples / total, "gemm_gflops",
                     product_rate(c, NN_BF16, j->threads, fmin(seconds, 2)));
}

json_t *bench_train(const char *preset, const char *stage, size_t batch, int threads,
                    double seconds)
{
    model_config mc;
    train_config tc;
    if (model_config_preset(&mc, preset, NULL) != SNIP_OK ||
        train_config_preset(&tc, preset, NULL) != SNIP_OK ||
        train_config_set(&tc, "stage", stage, NULL) != SNIP_OK)
        return NULL;
    if (batch)
        tc.batch = batch;
    arena *a = arena_new(0), *draw[LIMITS_THREADS] = { NULL };
    model *m = NULL;
    for (int t = 0; t < threads; t++)
        draw[t] = arena_new(0);
    float *grad = NULL, *m1 = NULL, *m2 = NULL;
    if (a && model_new(&m, &mc, a, NULL) == SNIP_OK) {
        model_start(m, 1);
        grad = arena_zero(a, m->size * sizeof *grad);
        m1 = arena_zero(a, m->size * sizeof *m1);
        m2 = arena_zero(a, m->size * sizeof *m2);
    }
    train_step *s = m2 ? train_step_new(m, threads, (size_t)8 << 30, NULL) : NULL;
    const train_phase *phase = &tc.phase[TRAIN_MAIN];
    const train_batch_how what = { .stage = (train_stage)phase->stage,
                                   .size = tc.batch,
                                   .edits = phase->edits,
                                   .points = phase->points,
                                   .seed = 1,
                                   .stream = RNG_BENCH };
    const train_how how = { .stage = (train_stage)phase->stage,
                            .cosine = mc.similarity == MODEL_COSINE,
                            .tau_global = 1,
                            .tau_local = 0.1,
                            .scale_global = 14,
                            .scale_local = 14,
                            .lambda = 1,
                            .threads = threads };
    const train_update *update = m2 ? train_update_new(m, &tc, threads, a) : NULL;
    train_times sum = { 0 }, one;
    double start = 0, total = 0, best = INFINITY;
    size_t steps = 0, variants = 0;
    int good = s && update;
    double rate = good ? product_rate(&mc, NN_FLOAT32, threads, fmin(seconds, 2)) : 0;
    const job j = { s, m, &what, &how, update, grad, m1, m2, draw, threads };
    for (uint64_t i = 0; good && (i < 2 || total < seconds); i++) {
        train_batch b;
        double from = clock_now();
        good = make_step(&j, i, &b, &one);
        double now = clock_now();
        if (!good)
            break;
        if (i == 0) { /* the first step touches memory for the first time */
            start = now;
            continue;
        }
        sum.draw += one.draw;
        sum.embed += one.embed;
        sum.encode += one.encode;
        sum.objective += one.objective;
        sum.backward += one.backward;
        sum.update += one.update;
        sum.flops += one.flops;
        sum.tokens += one.tokens;
        variants += b.variants;
        best = fmin(best, now - from);
        total = now - start;
        steps++;
    }
    double n = (double)steps;
    if (good) /* the machine's speed wanders: as fast as it was before or after the steps */
        rate = fmax(rate, product_rate(&mc, NN_FLOAT32, threads, fmin(seconds, 2)));
    double updates[2] = { 0 };
    for (int k = 0; k < 2 && good; k++)
        updates[k] = update_seconds(&tc, k ? TRAIN_MUON : TRAIN_ADAM, m, m1, m2, grad, threads,
                                    fmin(seconds, 1), a);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double reached = sum.flops / (sum.embed + sum.encode + sum.backward) * 1e-9;
    json_t *o =
        good
            ? json_pack(
                  "{s:s,s:s,s:s,s:I,s:i,s:I,s:f,s:f,s:{s:f,s:f,s:f,s:f,s:f,s:f},s:f,s:f,s:f,s:f,"
                  "s:f,s:f,s:b,s:f}",
                  "bench", "train", "preset", preset, "stage", stage, "batch", (json_int_t)tc.batch,
                  "threads", threads, "steps", (json_int_t)steps, "seconds_per_step", total / n,
                  "best_seconds_per_step", best, "seconds", "generate", sum.draw / n, "embed",
                  sum.embed / n, "encode", sum.encode / n, "loss", sum.objective / n, "backward",
                  sum.backward / n, "optimizer", sum.update / n, "samples_per_second",
                  n * (double)tc.batch / total, "variants_per_step", (double)variants / n,
                  "tokens_per_step", (double)sum.tokens / n, "gflop_per_step", sum.flops / n * 1e-9,
                  "gflops", reached, "sgemm_gflops", rate, "activations_kept", one.kept,
                  "peak_memory_gb", (double)usage.ru_maxrss / (1 << 20))
            : NULL;
    if (o)
        json_object_set_new(o, "ratio_to_sgemm", json_real(reached / rate));
    if (o) {
        json_object_set_new(o, "adam_seconds_per_update", json_real(updates[0]));
        json_object_set_new(o, "muon_seconds_per_update", json_real(updates[1]));
        json_t *bf16 = bf16_figures(&j, &mc, seconds);
        json_object_set_new(o, "bf16", bf16 ? bf16 : json_null());
    }
    train_step_free(s);
    for (int t = 0; t < threads; t++)
        arena_free(draw[t]);
    arena_free(a);
    return o;
}
