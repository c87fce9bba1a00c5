/* fuzz_model.c - any bytes as a model file: refused with a message, or a model with finite weights.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "model/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = arena_new((size_t)256 << 20);
    safetensors_file f;
    snip_status st = { 0 };
    model *m;
    if (safetensors_parse(&f, "m", (const char *)data, size, a, &st) != SNIP_OK) {
        if (!st.msg[0])
            abort();
    } else {
        if (model_read(&m, &f, "m", a, &st) == SNIP_OK) {
            for (size_t i = 0; i < m->size; i++)
                if (!isfinite(m->w[i]))
                    abort();
        } else if (!st.msg[0]) {
            abort();
        }
        safetensors_close(&f);
    }
    arena_free(a);
    return 0;
}
