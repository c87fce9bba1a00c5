/* rig.c - see rig.h. */
#include "rig.h"

#include "model/file.h"

/* What is left where m and tc are set. */
static snip_code finish(bench_rig *r, size_t batch, snip_status *st)
{
    for (int t = 0; t < r->threads; t++)
        if (!(r->draw[t] = arena_new(0)))
            return status_nomem(st);
    r->mc = r->m->config;
    r->tc.batch = batch ? batch : r->tc.batch;
    r->tc.seed = 1;
    r->tc.first = r->tc.last = 0; /* the main phase, from the first step on */
    r->what = train_batch_of(&r->tc, 0, RNG_BENCH);
    return SNIP_OK;
}

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
    model_start(r->m, 1);
    return finish(r, batch, st);
}

snip_code bench_rig_load(bench_rig *r, const char *path, size_t batch, int threads, snip_status *st)
{
    json_t *metadata = NULL;
    *r = (bench_rig){ .threads = threads, .a = arena_new(0) };
    snip_code code = r->a ? model_load(&r->m, path, &metadata, r->a, st) : status_nomem(st);
    if (code == SNIP_OK)
        code = train_settings_of(&r->tc, metadata, path, st);
    json_decref(metadata);
    return code == SNIP_OK ? finish(r, batch, st) : code;
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
