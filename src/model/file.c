/* file.c - see file.h. */
#include "model/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "base/text.h"

safetensors_entry *model_entries(const model *m, const float *w, const char *suffix, arena *a)
{
    safetensors_entry *e = arena_zero(a, m->tensors * sizeof *e);
    for (size_t k = 0; k < m->tensors && e; k++) {
        const model_tensor *t = &m->tensor[k];
        text name = { .a = a };
        text_add(&name, "%s%s", t->name, suffix);
        e[k] = (safetensors_entry){ .name = text_end(&name),
                                    .dtype = "F32",
                                    .rank = t->cols ? 2 : 1,
                                    .shape = { t->rows, t->cols },
                                    .data = w + t->offset,
                                    .bytes = model_tensor_size(t) * sizeof *w };
        if (!e[k].name)
            return NULL;
    }
    return e;
}

/* The numbers of a tensor as floats in `to`. */
static void copy_numbers(float *to, const safetensors_entry *e, size_t n)
{
    if (strcmp(e->dtype, "F32") == 0) {
        memcpy(to, e->data, n * sizeof *to);
        return;
    }
    const unsigned char *from = e->data;
    for (size_t i = 0; i < n; i++)
        to[i] = half_value((uint16_t)(from[2 * i] | from[2 * i + 1] << 8));
}

snip_code model_take(const model *m, float *w, const safetensors_file *f, const char *suffix,
                     const char *path, snip_status *st)
{
    for (size_t k = 0; k < m->tensors; k++) {
        const model_tensor *t = &m->tensor[k];
        char name[96];
        snprintf(name, sizeof name, "%s%s", t->name, suffix);
        const safetensors_entry *e = safetensors_find(f, name);
        if (!e)
            return status_fail(st, SNIP_FORMAT, 0, "%s: tensor '%s' is missing", path, name);
        size_t rank = t->cols ? 2 : 1;
        int known = strcmp(e->dtype, "F32") == 0 || strcmp(e->dtype, "F16") == 0;
        if (!known || e->rank != rank || e->shape[0] != t->rows ||
            (rank == 2 && e->shape[1] != t->cols))
            return status_fail(st, SNIP_FORMAT, 0,
                               "%s: tensor '%s' is not F32 or F16 of shape %zu x %zu", path, name,
                               t->rows, t->cols ? t->cols : 1);
        float *to = w + t->offset;
        copy_numbers(to, e, model_tensor_size(t));
        for (size_t i = 0; i < model_tensor_size(t); i++)
            if (!isfinite(to[i]))
                return status_fail(st, SNIP_FORMAT, 0,
                                   "%s: tensor '%s' holds a number that is not finite", path, name);
    }
    return SNIP_OK;
}

/* Turns entries of floats into halves, in `a`. Returns 0 when memory is out. */
static int halve(safetensors_entry *e, size_t count, arena *a)
{
    for (size_t k = 0; k < count; k++) {
        const float *from = e[k].data;
        size_t n = e[k].bytes / sizeof *from;
        unsigned char *to = arena_array(a, n, 2);
        if (!to)
            return 0;
        for (size_t i = 0; i < n; i++) {
            uint16_t h = half_of(from[i]);
            to[2 * i] = (unsigned char)(h & 255);
            to[2 * i + 1] = (unsigned char)(h >> 8);
        }
        e[k].dtype = "F16";
        e[k].data = to;
        e[k].bytes = 2 * n;
    }
    return 1;
}

static snip_code save(const model *m, const char *path, int half, const model_promise *promise,
                      const json_t *history, snip_status *st)
{
    arena *a = arena_new(0);
    size_t more = promise ? MODEL_PROMISE_NETWORKS : 0;
    safetensors_entry *own = a ? model_entries(m, m->w, "", a) : NULL;
    safetensors_entry *e = own ? arena_array(a, m->tensors + more, sizeof *e) : NULL;
    if (e && half && !halve(own, m->tensors, a))
        e = NULL;
    if (e)
        memcpy(e, own, m->tensors * sizeof *e);
    if (e && promise)
        model_promise_entries(e + m->tensors, promise);
    json_t *config = model_config_json(&m->config), *metadata = json_object();
    char *text = config ? json_dumps(config, JSON_COMPACT) : NULL;
    snip_code code = SNIP_NOMEM;
    if (e && text && metadata) {
        json_object_set_new(metadata, "format", json_string("snip"));
        json_object_set_new(metadata, "config", json_string(text));
        if (history)
            json_object_update(metadata, (json_t *)history);
        code = safetensors_write(path, e, m->tensors + more, metadata, st);
    } else {
        status_nomem(st);
    }
    free(text);
    json_decref(config);
    json_decref(metadata);
    arena_free(a);
    return code;
}

snip_code model_save(const model *m, const char *path, const json_t *history, snip_status *st)
{
    return save(m, path, 0, NULL, history, st);
}

snip_code model_save_half(const model *m, const char *path, const json_t *history,
                          const model_promise *promise, snip_status *st)
{
    return save(m, path, 1, promise, history, st);
}

/* The configuration in a file's metadata. */
static snip_code read_config(model_config *out, const safetensors_file *f, const char *path,
                             snip_status *st)
{
    const char *text = json_string_value(json_object_get(f->metadata, "config"));
    json_error_t error;
    if (!text)
        return status_fail(st, SNIP_FORMAT, 0,
                           "%s: not a snip model: its metadata have no configuration", path);
    json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    snip_status why = { 0 };
    snip_code code = model_config_read(out, o, &why);
    json_decref(o);
    return code == SNIP_OK ? code : status_fail(st, code, 0, "%s: %.160s", path, why.msg);
}

snip_code model_read(model **out, const safetensors_file *f, const char *path, arena *a,
                     snip_status *st)
{
    model_config config;
    model *m = NULL;
    snip_code code = read_config(&config, f, path, st);
    if (code == SNIP_OK)
        code = model_new(&m, &config, a, st);
    if (code == SNIP_OK)
        code = model_take(m, m->w, f, "", path, st);
    size_t own = f->count;
    for (size_t k = 0; k < f->count; k++)
        own -= (size_t)model_promise_owns(f->entry[k].name);
    if (code == SNIP_OK && own != m->tensors)
        code = status_fail(st, SNIP_FORMAT, 0, "%s: holds %zu tensors, the model has %zu", path,
                           own, m->tensors);
    if (code == SNIP_OK)
        *out = m;
    return code;
}

snip_code model_load(model **out, const char *path, json_t **metadata, arena *a, snip_status *st)
{
    safetensors_file f;
    snip_code code = safetensors_read(&f, path, a, st);
    if (code != SNIP_OK)
        return code;
    code = model_read(out, &f, path, a, st);
    if (code == SNIP_OK && metadata)
        *metadata = json_incref(f.metadata);
    safetensors_close(&f);
    return code;
}

/* The names of stages are the trainer's; files outlive its table. */
int model_has_tree(const json_t *metadata)
{
    const char *stage = json_string_value(json_object_get(metadata, "stage"));
    return stage && strcmp(stage, "S0") != 0;
}
