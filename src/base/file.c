/* file.c - see file.h. zlib reads plain files as they are. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { READ_MAX = 1 << 30 }; /* zlib counts in ints */

#define SIZE_LIMIT ((size_t)4 << 30)

/* `room` is a guess of the size. */
static snip_code read_all(char **out, size_t *size, gzFile f, const char *path, size_t room,
                          size_t most, arena *a, snip_status *st)
{
    size_t used = 0;
    char *buffer = arena_alloc(a, room);
    for (;;) {
        if (!buffer)
            return status_nomem(st);
        size_t want = room - used - 1;
        int n = gzread(f, buffer + used, want > READ_MAX ? READ_MAX : (unsigned)want);
        if (n < 0) {
            int error;
            const char *why = gzerror(f, &error);
            return status_fail(st, SNIP_IO, 0, "%s: %s", path,
                               error == Z_ERRNO        ? strerror(errno)
                               : error == Z_BUF_ERROR  ? "compressed file is cut off"
                               : error == Z_DATA_ERROR ? "compressed file is damaged"
                                                       : why);
        }
        if (n == 0)
            break;
        used += (size_t)n;
        if (used > most)
            return status_fail(st, SNIP_IO, 0, "%s: larger than 4 GB", path);
        if (room - used < 2) {
            char *more = arena_alloc(a, 2 * room);
            if (more)
                memcpy(more, buffer, used);
            buffer = more;
            room *= 2;
        }
    }
    buffer[used] = 0;
    *out = buffer;
    *size = used;
    return SNIP_OK;
}

static snip_code read_file(char **out, size_t *size, const char *path, size_t most, arena *a,
                           snip_status *st)
{
    int standard_input = strcmp(path, "-") == 0;
    struct stat info;
    size_t room = 1 << 16;
    if (!standard_input && stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return status_fail(st, SNIP_IO, 0, "%s: is a directory", path);
        if (S_ISREG(info.st_mode) && (size_t)info.st_size < most)
            room += (size_t)info.st_size;
    }
    errno = 0;
    gzFile f = standard_input ? gzdopen(dup(0), "rb") : gzopen(path, "rb");
    if (!f)
        return status_fail(st, SNIP_IO, 0, "%s: %s", path,
                           errno ? strerror(errno) : "out of memory");
    snip_code code = read_all(out, size, f, path, room, most, a, st);
    int closed = gzclose(f);
    if (code == SNIP_OK && closed == Z_BUF_ERROR) /* the stream ended inside a compressed block */
        return status_fail(st, SNIP_IO, 0, "%s: compressed file is cut off", path);
    return code;
}

snip_code file_read(char **out, size_t *size, const char *path, arena *a, snip_status *st)
{
    return read_file(out, size, path, SIZE_LIMIT, a, st);
}

snip_code file_read_large(char **out, size_t *size, const char *path, arena *a, snip_status *st)
{
    return read_file(out, size, path, SIZE_MAX / 4, a, st);
}

snip_code file_read_text(char **out, size_t *size, const char *path, arena *a, snip_status *st)
{
    snip_code code = file_read(out, size, path, a, st);
    if (code == SNIP_OK && strncmp(*out, "\xEF\xBB\xBF", 3) == 0) {
        *out += 3;
        *size -= 3;
    }
    return code;
}

int file_make_folders(const char *path)
{
    char *copy = strdup(path);
    int good = copy != NULL;
    for (char *c = copy; good && *c; c++)
        if (*c == '/' && c > copy) {
            *c = 0;
            good = mkdir(copy, 0777) == 0 || errno == EEXIST;
            *c = '/';
        }
    good = good && (mkdir(path, 0777) == 0 || errno == EEXIST);
    int error = errno;
    free(copy);
    errno = error;
    return good;
}

int file_out_open(file_out *o, const char *path)
{
    struct stat info;
    *o = (file_out){ .path = path };
    if (strcmp(path, "-") == 0) {
        int copy = dup(STDOUT_FILENO);
        o->f = copy >= 0 ? fdopen(copy, "w") : NULL;
        return o->f != NULL;
    }
    /* Not through links: /dev/stdout is one, and a new file must not take its place. */
    int plain = lstat(path, &info) != 0 || S_ISREG(info.st_mode);
    if (plain && asprintf(&o->fresh, "%s.tmp", path) < 0) {
        o->fresh = NULL;
        return 0;
    }
    o->f = fopen(plain ? o->fresh : path, "w");
    if (o->f)
        return 1;
    int error = errno;
    free(o->fresh);
    errno = error;
    return 0;
}

int file_out_close(file_out *o, int keep)
{
    int good = keep && fflush(o->f) == 0 && !ferror(o->f), error = errno;
    if (fclose(o->f) != 0 && good) {
        good = 0;
        error = errno;
    }
    if (good && o->fresh && rename(o->fresh, o->path) != 0) {
        good = 0;
        error = errno;
    }
    if (!good && o->fresh)
        unlink(o->fresh);
    free(o->fresh);
    errno = error;
    return good;
}

int file_replace(const char *path, const char *content)
{
    file_out o;
    return file_out_open(&o, path) && file_out_close(&o, fputs(content, o.f) >= 0);
}

int file_lock(const char *path)
{
    for (;;) {
        struct stat info;
        int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), error;
        if (lock < 0)
            return -1;
        int held = flock(lock, LOCK_EX | LOCK_NB) == 0 && fstat(lock, &info) == 0;
        if (held && info.st_nlink > 0)
            return lock;
        error = errno;
        close(lock);
        errno = error;
        if (!held) /* else its last holder removed it after we had opened it: once more */
            return -1;
    }
}

void file_unlock(int lock, const char *path)
{
    unlink(path); /* first: who opens it from now on makes another */
    close(lock);
}

void file_sync_folder(const char *path)
{
    char *copy = strdup(path);
    int folder = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY) : -1;
    if (folder >= 0) {
        fsync(folder);
        close(folder);
    }
    free(copy);
}
