/* promise.c - see promise.h. */
#include "model/promise.h"

#include <math.h>
#include <string.h>

int model_promise_known(const model_promise *w)
{
    return w->similarity != 0 || w->correlation != 0 || w->size != 0;
}

double model_promise_value(const model_promise *w, double similarity, double correlation,
                           size_t nodes)
{
    if (!model_promise_known(w))
        return NAN;
    return w->similarity * (isnan(similarity) ? -1 : similarity) + w->correlation * correlation -
           w->size * log((double)nodes);
}

model_promise model_promise_read(const json_t *metadata, const char *hash)
{
    model_promise w = { 0 };
    const char *text = json_string_value(json_object_get(metadata, "promise"));
    json_t *o = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const char *of = json_string_value(json_object_get(o, "model"));
    if (of && strcmp(of, hash) == 0) {
        w.similarity = json_number_value(json_object_get(o, "similarity"));
        w.correlation = json_number_value(json_object_get(o, "correlation"));
        w.size = json_number_value(json_object_get(o, "size"));
    }
    json_decref(o);
    return w;
}
