/* rig.c - see rig.h. */
#include "rig.h"

snip_code bench_rig_make(bench_rig *r, const char *preset, const char *stage, size_t batch,
                         int threads, snip_status *st)
{
    *r = (bench_rig){ .threads = threads, .a = arena_new(0) };
    snip_code code = r->a ? model_config_preset(&r->mc, preset, st) : status_nomem(st);
    if (code == SNIP_OK)
        code = train_config_preset(&r->tc, preset, st);
    if (code == SNIP_OK)
        code = train_config_set(&r->tc, "stage", stage, st);
    if (code == SNIP_OK)
        code = model_new(&r->m, &r->mc, r->a, st);
    if (code != SNIP_OK)
        return code;
    for (int t = 0; t < threads; t++)
        if (!(r->draw[t] = arena_new(0)))
            return status_nomem(st);
    model_start(r->m, 1);
    r->tc.batch = batch ? batch : r->tc.batch;
    const train_phase *phase = &r->tc.phase[TRAIN_MAIN];
    r->what = (train_batch_how){ .stage = (train_stage)phase->stage,
                                 .size = r->tc.batch,
                                 .edits = phase->edits,
                                 .points = phase->points,
                                 .seed = 1,
                                 .stream = RNG_BENCH };
    return SNIP_OK;
}

void bench_rig_free(bench_rig *r)
{
    for (int t = 0; t < r->threads; t++)
        arena_free(r->draw[t]);
    arena_free(r->a);
}

snip_code bench_rig_draw(train_batch *out, bench_rig *r, uint64_t first, snip_status *st)
{
    return train_batch_draw(out, &r->what, first, r->m, r->draw, r->threads, st);
}
