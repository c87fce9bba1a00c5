/* safetensors.c - see safetensors.h. */
#include "base/safetensors.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define HEADER_MAX 100000000u /* the format's own bound */

static const struct {
    const char *name;
    size_t bytes;
} types[] = { { "F64", 8 }, { "F32", 4 }, { "F16", 2 }, { "BF16", 2 }, { "I64", 8 },
              { "I32", 4 }, { "I16", 2 }, { "I8", 1 },  { "U64", 8 },  { "U32", 4 },
              { "U16", 2 }, { "U8", 1 },  { "BOOL", 1 } };

/* Bytes of one number of that type, 0 if it is not known. */
static size_t type_bytes(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].bytes;
    return 0;
}

/* A non-negative whole number of the header. */
static int read_size(const json_t *v, size_t *out)
{
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return 0;
    *out = (size_t)json_integer_value(v);
    return 1;
}

/* One tensor's description; its data must lie within data[0..size). Returns what is wrong, or NULL.
 */
static const char *read_entry(safetensors_entry *e, const json_t *o, const char *data, size_t size)
{
    const json_t *shape = json_object_get(o, "shape"), *at = json_object_get(o, "data_offsets");
    size_t begin, end, each, want;
    e->dtype = json_string_value(json_object_get(o, "dtype"));
    if (!json_is_object(o) || json_object_size(o) != 3 || !e->dtype)
        return "is not described by dtype, shape and data_offsets";
    if (!(each = type_bytes(e->dtype)))
        return "has an unknown dtype";
    if (!json_is_array(shape) || json_array_size(shape) > SAFETENSORS_RANK_MAX)
        return "has no usable shape";
    want = each;
    e->rank = json_array_size(shape);
    for (size_t i = 0; i < e->rank; i++)
        if (!read_size(json_array_get(shape, i), &e->shape[i]) ||
            __builtin_mul_overflow(want, e->shape[i], &want))
            return "has no usable shape";
    if (!json_is_array(at) || json_array_size(at) != 2 ||
        !read_size(json_array_get(at, 0), &begin) || !read_size(json_array_get(at, 1), &end) ||
        begin > end || end > size)
        return "lies outside of the file";
    if (end - begin != want)
        return "has a shape that does not fit its bytes";
    e->data = data + begin;
    e->bytes = want;
    return NULL;
}

static int by_place(const void *a, const void *b)
{
    const safetensors_entry *x = a, *y = b;
    if (x->data != y->data)
        return (const char *)x->data < (const char *)y->data ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static snip_code read_metadata(json_t **out, json_t *m, const char *path, snip_status *st)
{
    if (!json_is_object(m))
        return status_fail(st, SNIP_FORMAT, 0, "%s: __metadata__ is not an object", path);
    for (void *at = json_object_iter(m); at; at = json_object_iter_next(m, at))
        if (!json_is_string(json_object_iter_value(at)))
            return status_fail(st, SNIP_FORMAT, 0,
                               "%s: __metadata__ holds something else than strings", path);
    *out = json_deep_copy(m);
    return *out ? SNIP_OK : status_nomem(st);
}

/* All tensors of the header, sorted by place. */
static snip_code read_entries(safetensors_file *f, json_t *header, const char *path,
                              const char *data, size_t size, arena *a, snip_status *st)
{
    f->entry = arena_zero(a, (json_object_size(header) + 1) * sizeof *f->entry);
    if (!f->entry)
        return status_nomem(st);
    for (void *at = json_object_iter(header); at; at = json_object_iter_next(header, at)) {
        const char *name = json_object_iter_key(at);
        json_t *o = json_object_iter_value(at);
        if (strcmp(name, "__metadata__") == 0) {
            json_decref(f->metadata);
            f->metadata = NULL;
            snip_code code = read_metadata(&f->metadata, o, path, st);
            if (code != SNIP_OK)
                return code;
            continue;
        }
        safetensors_entry *e = &f->entry[f->count++];
        const char *wrong = read_entry(e, o, data, size);
        if (wrong)
            return status_fail(st, SNIP_FORMAT, 0, "%s: tensor '%.60s' %s", path, name, wrong);
        e->name = arena_text(a, name, strlen(name));
        e->dtype = arena_text(a, e->dtype, strlen(e->dtype)); /* the header goes away */
        if (!e->name || !e->dtype)
            return status_nomem(st);
    }
    qsort(f->entry, f->count, sizeof *f->entry, by_place);
    const char *next = data;
    for (size_t i = 0; i < f->count; i++) {
        if ((const char *)f->entry[i].data != next)
            return status_fail(st, SNIP_FORMAT, 0, "%s: tensor '%.60s' %s", path, f->entry[i].name,
                               (const char *)f->entry[i].data < next ? "overlaps another"
                                                                     : "follows a hole");
        next += f->entry[i].bytes;
    }
    if (next != data + size)
        return status_fail(st, SNIP_FORMAT, 0, "%s: %zu bytes behind the last tensor", path,
                           (size_t)(data + size - next));
    return SNIP_OK;
}

snip_code safetensors_parse(safetensors_file *out, const char *path, const char *bytes, size_t size,
                            arena *a, snip_status *st)
{
    *out = (safetensors_file){ 0 };
    uint64_t length = 0;
    if (size < 8)
        return status_fail(st, SNIP_FORMAT, 0, "%s: too short for a safetensors file", path);
    for (int i = 0; i < 8; i++)
        length |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
    if (length > HEADER_MAX || length > size - 8)
        return status_fail(st, SNIP_FORMAT, 0,
                           "%s: not a safetensors file, or cut off: its header would "
                           "have %llu bytes",
                           path, (unsigned long long)length);
    json_error_t error;
    json_t *header = json_loadb(bytes + 8, length, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(header)) {
        json_decref(header);
        return status_fail(st, SNIP_FORMAT, 0, "%s: the header is not a JSON object: %.100s", path,
                           error.text);
    }
    out->metadata = json_object();
    snip_code code = out->metadata ? read_entries(out, header, path, bytes + 8 + length,
                                                  size - 8 - (size_t)length, a, st)
                                   : status_nomem(st);
    json_decref(header);
    if (code != SNIP_OK)
        safetensors_close(out);
    return code;
}

snip_code safetensors_read(safetensors_file *out, const char *path, arena *a, snip_status *st)
{
    char *bytes;
    size_t size;
    *out = (safetensors_file){ 0 };
    snip_code code = file_read_large(&bytes, &size, path, a, st);
    return code == SNIP_OK ? safetensors_parse(out, path, bytes, size, a, st) : code;
}

void safetensors_close(safetensors_file *f)
{
    json_decref(f->metadata);
    *f = (safetensors_file){ 0 };
}

const safetensors_entry *safetensors_find(const safetensors_file *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->entry[i].name, name) == 0)
            return &f->entry[i];
    return NULL;
}

/* The header as text, padded with blanks to a multiple of 8 bytes. NULL when memory is out. */
static char *header_text(const safetensors_entry *entry, size_t count, const json_t *metadata,
                         size_t *length)
{
    json_t *header = json_object();
    size_t at = 0;
    if (metadata && json_object_size(metadata))
        json_object_set(header, "__metadata__", (json_t *)metadata);
    for (size_t i = 0; i < count; i++) {
        json_t *shape = json_array();
        for (size_t k = 0; k < entry[i].rank; k++)
            json_array_append_new(shape, json_integer((json_int_t)entry[i].shape[k]));
        json_object_set_new(header, entry[i].name,
                            json_pack("{s:s,s:o,s:[I,I]}", "dtype", entry[i].dtype, "shape", shape,
                                      "data_offsets", (json_int_t)at,
                                      (json_int_t)(at + entry[i].bytes)));
        at += entry[i].bytes;
    }
    char *text = json_dumps(header, JSON_COMPACT), *padded = NULL;
    json_decref(header);
    if (text) {
        *length = (strlen(text) + 7) / 8 * 8;
        padded = malloc(*length + 1);
        if (padded)
            snprintf(padded, *length + 1, "%-*s", (int)*length, text);
    }
    free(text);
    return padded;
}

static int write_all(FILE *f, const safetensors_entry *entry, size_t count, const char *header,
                     size_t length)
{
    unsigned char size[8];
    for (int i = 0; i < 8; i++)
        size[i] = (unsigned char)((uint64_t)length >> 8 * i);
    int good = fwrite(size, 1, 8, f) == 8 && fwrite(header, 1, length, f) == length;
    for (size_t i = 0; i < count && good; i++)
        good = fwrite(entry[i].data, 1, entry[i].bytes, f) == entry[i].bytes;
    return good && fflush(f) == 0;
}

snip_code safetensors_write(const char *path, const safetensors_entry *entry, size_t count,
                            const json_t *metadata, snip_status *st)
{
    size_t length = 0;
    char *header = header_text(entry, count, metadata, &length);
    if (!header)
        return status_nomem(st);
    file_out o;
    int good = file_out_open(&o, path);
    if (good) {
        int plain = o.fresh != NULL; /* what else there is cannot always be synchronised */
        good = write_all(o.f, entry, count, header, length) && (!plain || fsync(fileno(o.f)) == 0);
        good = file_out_close(&o, good);
        if (good && plain)
            file_sync_folder(path);
    }
    int error = errno;
    free(header);
    return good ? SNIP_OK
                : status_fail(st, SNIP_IO, 0, "%s: cannot write: %s", path, strerror(error));
}
