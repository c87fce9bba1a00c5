/* train.c - a training step by part, beside the machine's own rate on the same matrix products. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/text.h"
#include "rig.h"
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
                const nn_shape forward = { 0, 1, ROWS, out, in, in, in, out };
                const nn_shape inputs = { 0, 0, ROWS, in, out, out, in, in };
                const nn_shape weights = { 1, 0, out, in, ROWS, out, in, in };
                if (!nn_multiply(how, &forward, x, w, NULL, y) ||
                    !nn_multiply(how, &inputs, y, w, NULL, x) ||
                    !nn_multiply(how, &weights, y, x, NULL, w)) {
#pragma omp atomic write
                    failed = 1;
                }
                flops += 6.0 * ROWS * (double)in * (double)out;
            }
        arena_free(a);
    }
    return failed ? 0 : flops / (clock_now() - start) * 1e-9;
}

/* All that a step needs. */
typedef struct rig {
    bench_rig of;
    float *grad, *m1, *m2; /* gradient and moments */
    train_step *step;
    const train_update *update;
    train_how how;
} rig;

/* What was measured of the steps after the first. */
typedef struct measured {
    train_times sum;
    double total, best; /* seconds: of all steps, of the fastest */
    size_t steps, variants;
    int kept; /* whether the last step kept its activations */
} measured;

/* On failure rig_free is due, too. */
static snip_code rig_make(rig *r, const char *preset, const char *stage, size_t batch, int threads,
                          const char *path, snip_status *st)
{
    *r = (rig){ .grad = NULL };
    snip_code code = path ? bench_rig_load(&r->of, path, batch, threads, st)
                          : bench_rig_make(&r->of, preset, stage, batch, threads, st);
    if (code != SNIP_OK)
        return code;
    model *m = r->of.m;
    r->grad = arena_zero(r->of.a, m->size * sizeof *r->grad);
    r->m1 = arena_zero(r->of.a, m->size * sizeof *r->m1);
    r->m2 = arena_zero(r->of.a, m->size * sizeof *r->m2);
    r->step = train_step_new(m, threads, (size_t)8 << 30, NULL);
    r->update = train_update_new(m, &r->of.tc, threads, r->of.a);
    r->how = train_how_of(&r->of.tc, m, 0, threads);
    return r->grad && r->m1 && r->m2 && r->step && r->update ? SNIP_OK : status_nomem(st);
}

static void rig_free(rig *r)
{
    train_step_free(r->step);
    bench_rig_free(&r->of);
}

/* Steps for so many seconds, two at least. Returns 0 when memory is out. */
static int run_steps(measured *out, rig *r, double seconds)
{
    double start = 0;
    int good = 1;
    *out = (measured){ .best = INFINITY };
    for (uint64_t i = 0; good && (i < 2 || out->total < seconds); i++) {
        train_batch b;
        train_terms terms;
        train_times one;
        double t0 = clock_now();
        good = bench_rig_draw(&b, &r->of, i * r->of.tc.batch, NULL) == SNIP_OK;
        double t1 = clock_now();
        good = good && train_step_gradient(r->step, r->of.m, &b, &r->how, r->grad, &terms, &one,
                                           NULL) == SNIP_OK;
        double t2 = clock_now();
        double norm = nn_length(r->grad, r->of.m->size, r->of.threads);
        train_update_apply(r->update, r->of.m, r->m1, r->m2, r->grad, norm, i + 1);
        double t3 = clock_now();
        if (i == 0 || !good) { /* the first step touches memory for the first time */
            start = t3;
            continue;
        }
        out->sum.draw += t1 - t0;
        out->sum.embed += one.embed;
        out->sum.encode += one.encode;
        out->sum.objective += one.objective;
        out->sum.backward += one.backward;
        out->sum.update += t3 - t2;
        out->sum.flops += one.flops;
        out->sum.tokens += one.tokens;
        out->variants += b.variants;
        out->best = fmin(out->best, t3 - t0);
        out->total = t3 - start;
        out->kept = one.kept;
        out->steps++;
    }
    return good;
}

/* Seconds of an update by this optimizer: the best of a few, for all else only adds. */
static double update_seconds(rig *r, int optimizer, double seconds)
{
    train_config c = r->of.tc;
    c.optimizer = optimizer;
    const train_update *u = train_update_new(r->of.m, &c, r->of.threads, r->of.a);
    double best = INFINITY, start = clock_now();
    for (uint64_t t = 1; u && (t < 4 || clock_now() - start < seconds); t++) {
        double from = clock_now();
        train_update_apply(u, r->of.m, r->m1, r->m2, r->grad, 1, t);
        best = fmin(best, clock_now() - from);
    }
    return best;
}

/* The same steps with bf16 products: samples per second, and GFLOP/s of the products alone. Or why
 * there are none. NULL when something fails. */
static json_t *bf16_figures(rig *r, double seconds)
{
    const nn_products bf16 = nn_best_bf16();
    if (bf16 == NN_FLOAT32)
        return json_string("this processor has no bf16 products (AMX or AVX-512 BF16)");
    measured q;
    r->of.m->products = bf16;
    int good = run_steps(&q, r, seconds);
    r->of.m->products = NN_FLOAT32;
    if (!good)
        return NULL;
    double samples = (double)(q.steps * r->of.tc.batch);
    return json_pack("{s:s,s:f,s:f}", "by", bf16 == NN_BF16_AMX ? "AMX" : "AVX-512 BF16",
                     "samples_per_second", samples / q.total, "gemm_gflops",
                     product_rate(&r->of.mc, bf16, r->of.threads, fmin(seconds, 2)));
}

json_t *bench_train(const char *preset, const char *stage, size_t batch, int threads,
                    double seconds, const char *path, snip_status *st)
{
    rig r;
    measured q;
    double rate = 0, updates[2] = { 0 };
    int good = rig_make(&r, preset, stage, batch, threads, path, st) == SNIP_OK;
    if (good) {
        status_nomem(st); /* unless something else is wrong */
        rate = product_rate(&r.of.mc, NN_FLOAT32, threads, fmin(seconds, 2));
        good = run_steps(&q, &r, seconds);
    }
    if (good) /* the machine's speed wanders: as fast as it was before or after the steps */
        rate = fmax(rate, product_rate(&r.of.mc, NN_FLOAT32, threads, fmin(seconds, 2)));
    for (int k = 0; k < 2 && good; k++)
        updates[k] = update_seconds(&r, k ? TRAIN_MUON : TRAIN_ADAM, fmin(seconds, 1));
    json_t *o = NULL;
    if (good) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        const train_times *sum = &q.sum;
        double n = (double)q.steps;
        double reached = sum->flops / (sum->embed + sum->encode + sum->backward) * 1e-9;
        o = json_pack(
            "{s:s,s:o,s:s,s:I,s:i,s:I,s:f,s:f,s:{s:f,s:f,s:f,s:f,s:f,s:f},s:f,s:f,s:f,s:f,"
            "s:f,s:f,s:b,s:f,s:f,s:f,s:f}",
            "bench", "train", path ? "model" : "preset", text_json(path ? path : preset), "stage",
            train_stage_names[r.of.what.stage], "batch", (json_int_t)r.of.tc.batch, "threads",
            threads, "steps", (json_int_t)q.steps, "seconds_per_step", q.total / n,
            "best_seconds_per_step", q.best, "seconds", "generate", sum->draw / n, "embed",
            sum->embed / n, "encode", sum->encode / n, "loss", sum->objective / n, "backward",
            sum->backward / n, "optimizer", sum->update / n, "samples_per_second",
            n * (double)r.of.tc.batch / q.total, "variants_per_step", (double)q.variants / n,
            "tokens_per_step", (double)sum->tokens / n, "gflop_per_step", sum->flops / n * 1e-9,
            "gflops", reached, "sgemm_gflops", rate, "activations_kept", q.kept, "peak_memory_gb",
            (double)usage.ru_maxrss / (1 << 20), "ratio_to_sgemm", reached / rate,
            "adam_seconds_per_update", updates[0], "muon_seconds_per_update", updates[1]);
        json_t *bf16 = o ? bf16_figures(&r, seconds) : NULL;
        if (o)
            json_object_set_new(o, "bf16", bf16 ? bf16 : json_null());
    }
    rig_free(&r);
    return o;
}
