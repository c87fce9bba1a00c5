/* safetensors.h - files of named arrays, readable by everybody else's tools.
 *
 *     8 bytes length of the header, little endian; the header, JSON: name -> dtype, shape,
 *     data_offsets, and __metadata__, a map of strings; then the data without gaps. */
#ifndef BASE_SAFETENSORS_H
#define BASE_SAFETENSORS_H

#include <jansson.h>

#include "base/arena.h"
#include "base/status.h"

enum { SAFETENSORS_RANK_MAX = 8 };

typedef struct safetensors_entry {
    const char *name;
    const char *dtype; /* "F32", ... */
    size_t rank, shape[SAFETENSORS_RANK_MAX];
    const void *data; /* not aligned: copy it */
    size_t bytes;
} safetensors_entry;

typedef struct safetensors_file {
    safetensors_entry *entry;
    size_t count;
    json_t *metadata; /* an object of strings, never NULL; release with safetensors_close */
} safetensors_file;

/* Reads and checks a whole file: the header's length, JSON without duplicate keys, known types,
 * shapes that fit their bytes, and data without holes or overlaps. Arrays live in `a`. */
snip_code safetensors_read(safetensors_file *out, const char *path, arena *a, snip_status *st);

/* The same from memory. */
snip_code safetensors_parse(safetensors_file *out, const char *path, const char *bytes, size_t size,
                            arena *a, snip_status *st);

void safetensors_close(safetensors_file *f);

/* The entry of that name, or NULL. */
const safetensors_entry *safetensors_find(const safetensors_file *f, const char *name);

/* Writes a file under a temporary name, flushes it to the disk, then renames it: a kill at any
 * moment leaves the old file or the new one. `metadata` is an object of strings; it stays the
 * caller's. */
snip_code safetensors_write(const char *path, const safetensors_entry *entry, size_t count,
                            const json_t *metadata, snip_status *st);

#endif
