/* fuzz.h - what the fuzz targets share that use a model. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/opened.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void check(int good)
{
    if (!good)
        abort();
}

/* A small untrained model, made once: it would take most of the time. */
static inline const model_opened *the_model(void)
{
    static model_opened t;
    model_config c;
    model *m;
    if (t.m)
        return &t;
    t.a = arena_new(0);
    check(model_config_preset(&c, "tiny", NULL) == SNIP_OK);
    c.statistics = 1;
    c.points = 0;
    c.layers = 1;
    c.hidden = 16;
    check(model_new(&m, &c, t.a, NULL) == SNIP_OK);
    model_start(m, 4);
    memcpy(t.hash, "0", 2);
    t.m = m;
    t.tree = 1;
    return &t;
}

#endif
