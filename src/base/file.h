/* file.h - whole files: read into memory, written whole or not at all. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"

/* Reads a file, plain or gzipped, or standard input for "-". *out is terminated by a 0 that *size
 * does not count, and lives in `a`. A truncated or damaged .gz is an error, and so is one that
 * holds something else behind its compressed data, or unpacks to far more than a file of its size
 * can mean. What is larger than 4 GB is refused, and so is what has no size of its own (a pipe, a
 * device) and does not end within 1 GB. */
snip_code file_read(char **out, size_t *size, const char *path, arena *a, snip_status *st);

/* The same for files of any size. */
snip_code file_read_large(char **out, size_t *size, const char *path, arena *a, snip_status *st);

/* The same for text of at most `most` bytes. Reading ends behind a zero byte, at the latest some
 * 64 kB later: it is no text, and an endless file of them is told from text at once. The caller
 * looks for it. `option` is what changes `most`, for the message; it may be NULL. */
snip_code file_read_most(char **out, size_t *size, const char *path, size_t most,
                         const char *option, arena *a, snip_status *st);

/* The same, without a byte order mark. */
snip_code file_read_text(char **out, size_t *size, const char *path, size_t most, arena *a,
                         snip_status *st);

/* Sizes for `most`: one formula, a file of formulas. */
#define FILE_FORMULA_MAX  ((size_t)16 << 20)
#define FILE_FORMULAS_MAX ((size_t)256 << 20)

/* Makes a folder and those above it where they are not there. Returns 0 with errno set on failure,
 * or where something else has the name. */
int file_make_folders(const char *path);

/* A file that appears under its name when it is complete, and not before:
 *
 *     file_out o;
 *     if (file_out_open(&o, path)) {
 *         fprintf(o.f, ...);
 *         good = file_out_close(&o, 1);
 *     }
 *
 * Until then it is called PATH.tmp. "-" is standard output. What is no plain file (a device, a
 * pipe, a link such as /dev/stdout) is written as it is. `path` must live as long. */
typedef struct file_out {
    FILE *f;
    const char *path;
    char *fresh; /* its name until it is complete; NULL: its own */
} file_out;

/* Returns 0 with errno set on failure. */
int file_out_open(file_out *o, const char *path);

/* Closes the file and gives it its name. Without `keep`, or if something could not be written,
 * nothing is left and what had the name before is as it was: returns 0, with errno set if it is the
 * writing that failed. */
int file_out_close(file_out *o, int keep);

/* Whether file_out_open would succeed, for work that is long and writes at its end: returns 0 with
 * errno set if not. It leaves nothing, and does not open what is no plain file: a pipe's reader
 * would take that for all there is. */
int file_out_possible(const char *path);

/* Writes a whole text file that way. Returns 0 with errno set on failure. */
int file_replace(const char *path, const char *content);

/* Locks a file against other processes, which it is made for and holds nothing. Returns a
 * descriptor for file_unlock, or -1 with errno set: EWOULDBLOCK if another process has it. A
 * process that ends in any way gives its lock back, so a file that is left behind locks nothing. */
int file_lock(const char *path);

/* Gives the lock back and removes the file. */
void file_unlock(int lock, const char *path);

/* Makes a new name last: flushes the folder that holds `path`. */
void file_sync_folder(const char *path);

#endif
