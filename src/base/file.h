/* file.h - whole files in memory. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"

/* Reads a file, plain or gzipped, or standard input for "-". *out is terminated by a 0 that *size
 * does not count, and lives in `a`. A truncated or damaged .gz is an error. */
snip_code file_read(char **out, size_t *size, const char *path, arena *a, snip_status *st);

/* Makes a folder and those above it. Returns 0 with errno set on failure. */
int file_make_folders(const char *path);

/* Makes a new name last: flushes the folder that holds `path`. */
void file_sync_folder(const char *path);

#endif
