/* file.c - see file.h. */
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

#include "base/text.h"

#define SIZE_LIMIT ((size_t)4 << 30)
#define PIPE_LIMIT ((size_t)1 << 30) /* of what has no size of its own and may never end */

/* No table or text is packed more tightly than this; deflate itself reaches 1032. Small files may
 * be: their memory is no matter. */
enum { PACKED_RATIO = 250, PACKED_FREE = 64 << 20 };

/* An open file whose content is unpacked where it is gzipped. */
typedef struct source {
    int fd, packed;
    int inside;   /* a compressed block has begun and not ended */
    int over;     /* the file has ended */
    size_t taken; /* bytes read from the file */
    z_stream z;   /* next_in, avail_in: what was read and not used, packed or not */
    const char *why;
    unsigned char in[1 << 16];
} source;

/* Reads on until there are `least` unused bytes, or the file has ended. Returns 0 on failure. */
static int source_fill(source *s, size_t least)
{
    if (s->z.avail_in && s->z.next_in != s->in)
        memmove(s->in, s->z.next_in, s->z.avail_in);
    s->z.next_in = s->in;
    while (!s->over && s->z.avail_in < least) {
        ssize_t n = read(s->fd, s->in + s->z.avail_in, sizeof s->in - s->z.avail_in);
        if (n < 0) {
            s->why = strerror(errno);
            return 0;
        }
        s->over = n == 0;
        s->taken += (size_t)n;
        s->z.avail_in += (unsigned)n;
    }
    return 1;
}

static int begins_packed(const source *s)
{
    return s->z.avail_in >= 2 && s->z.next_in[0] == 0x1f && s->z.next_in[1] == 0x8b;
}

static int source_open(source *s, int fd)
{
    *s = (source){ .fd = fd };
    if (!source_fill(s, 2))
        return 0;
    s->packed = s->inside = begins_packed(s);
    if (s->packed && inflateInit2(&s->z, 15 + 16) != Z_OK) {
        s->packed = 0;
        s->why = "out of memory";
        return 0;
    }
    return 1;
}

/* After a compressed block: another one, nothing, or zeros that fill a tape's record. */
static int next_block(source *s)
{
    s->inside = 0;
    if (!source_fill(s, 2))
        return 0;
    if (begins_packed(s)) {
        s->inside = inflateReset(&s->z) == Z_OK;
        return s->inside;
    }
    while (s->z.avail_in) {
        for (unsigned i = 0; i < s->z.avail_in; i++)
            if (s->z.next_in[i]) {
                s->why = "holds something else behind its compressed data";
                return 0;
            }
        s->z.avail_in = 0;
        if (!source_fill(s, 1))
            return 0;
    }
    return 1;
}

/* Up to `want` bytes, more than 0, of the content. Returns their number, 0 at the end, -1 with the
 * reason in s->why on failure. */
static ssize_t source_read(source *s, char *to, size_t want)
{
    if (want > sizeof s->in)
        want = sizeof s->in;
    if (!s->packed) {
        if (!s->z.avail_in && !source_fill(s, 1))
            return -1;
        size_t n = want < s->z.avail_in ? want : s->z.avail_in;
        memcpy(to, s->z.next_in, n);
        s->z.next_in += n;
        s->z.avail_in -= (unsigned)n;
        return (ssize_t)n;
    }
    s->z.next_out = (unsigned char *)to;
    s->z.avail_out = (unsigned)want;
    while (s->inside && s->z.avail_out == want) {
        if (!s->z.avail_in && !source_fill(s, 1))
            return -1;
        if (!s->z.avail_in) {
            s->why = "compressed file is cut off";
            return -1;
        }
        int code = inflate(&s->z, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END) {
            s->why = code == Z_MEM_ERROR ? "out of memory" : "compressed file is damaged";
            return -1;
        }
        if (code == Z_STREAM_END && !next_block(s))
            return -1;
    }
    return (ssize_t)(want - s->z.avail_out);
}

/* What is to be read, and how much of it. */
typedef struct request {
    const char *path;
    size_t room; /* a guess of its size */
    size_t most;
    int text; /* stop behind a zero byte: it is no text, which callers say in their own words */
    const char *option; /* of the program, that changes `most`; may be NULL */
} request;

static void too_large(const request *q, snip_status *st)
{
    int small = q->most < (size_t)1 << 30;
    status_set(st, SNIP_IO, 0, "%s: larger than %zu %s%s%s%s", q->path,
               q->most >> (small ? 20 : 30), small ? "MB" : "GB", q->option ? " (" : "",
               q->option ? q->option : "", q->option ? ")" : "");
}

/* Reads all of s. A buffer that turns out too small is continued outside of the arena, where it can
 * grow without its old self staying behind, and copied in the end. */
static snip_code read_all(char **out, size_t *size, source *s, const request *q, arena *a,
                          snip_status *st)
{
    size_t used = 0, room = q->room;
    char *buffer = arena_alloc(a, room), *heap = NULL;
    snip_code code = buffer ? SNIP_OK : status_nomem(st);
    while (code == SNIP_OK) {
        ssize_t n = source_read(s, buffer + used, room - used - 1);
        if (n < 0)
            code = status_fail(st, SNIP_IO, 0, "%s: %s", q->path, s->why);
        if (n <= 0)
            break;
        int zero = q->text && memchr(buffer + used, 0, (size_t)n);
        used += (size_t)n;
        if (zero)
            break;
        if (used > q->most) {
            too_large(q, st);
            code = SNIP_IO;
        } else if (s->packed && used > PACKED_FREE && used / PACKED_RATIO > s->taken) {
            code = status_fail(st, SNIP_IO, 0,
                               "%s: unpacks to more than %d times its size; if that is meant, "
                               "unpack it first",
                               q->path, PACKED_RATIO);
        } else if (room - used < 2) {
            char *more = realloc(heap, 2 * room);
            if (more && !heap)
                memcpy(more, buffer, used);
            if (!more)
                code = status_nomem(st);
            else
                buffer = heap = more;
            room *= 2;
        }
    }
    if (code == SNIP_OK && heap && !(buffer = arena_alloc(a, used + 1)))
        code = status_nomem(st);
    if (code == SNIP_OK && heap)
        memcpy(buffer, heap, used);
    free(heap);
    if (code == SNIP_OK) {
        buffer[used] = 0;
        *out = buffer;
        *size = used;
    }
    return code;
}

static snip_code read_file(char **out, size_t *size, request q, arena *a, snip_status *st)
{
    const char *path = q.path;
    struct stat info;
    int fd = strcmp(path, "-") == 0 ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        status_set(st, SNIP_IO, 0, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return SNIP_IO;
    }
    if (S_ISDIR(info.st_mode)) {
        close(fd);
        return status_fail(st, SNIP_IO, 0, "%s: is a directory", path);
    }
    snip_code code = SNIP_OK;
    q.room = 1 << 16;
    if (!S_ISREG(info.st_mode) && q.most > PIPE_LIMIT) {
        q.most = PIPE_LIMIT;
    } else if (S_ISREG(info.st_mode) && (size_t)info.st_size > q.most) {
        too_large(&q, st);
        code = SNIP_IO;
    } else if (S_ISREG(info.st_mode)) {
        q.room += (size_t)info.st_size;
    }
    source *s = malloc(sizeof *s);
    if (code == SNIP_OK && !s)
        code = status_nomem(st);
    if (code == SNIP_OK && !source_open(s, fd))
        code = status_fail(st, SNIP_IO, 0, "%s: %s", path, s->why);
    if (code == SNIP_OK) {
        code = read_all(out, size, s, &q, a, st);
        if (s->packed)
            inflateEnd(&s->z);
    }
    free(s);
    close(fd);
    return code;
}

snip_code file_read(char **out, size_t *size, const char *path, arena *a, snip_status *st)
{
    return read_file(out, size, (request){ .path = path, .most = SIZE_LIMIT }, a, st);
}

snip_code file_read_large(char **out, size_t *size, const char *path, arena *a, snip_status *st)
{
    return read_file(out, size, (request){ .path = path, .most = SIZE_MAX / 4 }, a, st);
}

snip_code file_read_most(char **out, size_t *size, const char *path, size_t most,
                         const char *option, arena *a, snip_status *st)
{
    return read_file(out, size,
                     (request){ .path = path, .most = most, .text = 1, .option = option }, a, st);
}

snip_code file_read_text(char **out, size_t *size, const char *path, size_t most, arena *a,
                         snip_status *st)
{
    snip_code code = file_read_most(out, size, path, most, NULL, a, st);
    const char *why = code == SNIP_OK ? text_unreadable(*out, *size) : NULL;
    if (why)
        return status_fail(st, SNIP_FORMAT, 0, "%s: %s", path, why);
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
    struct stat info;
    if (good && stat(path, &info) == 0 && !S_ISDIR(info.st_mode)) {
        good = 0;
        errno = ENOTDIR;
    }
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

int file_out_possible(const char *path)
{
    struct stat info;
    file_out o;
    if (strcmp(path, "-") == 0)
        return 1;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        errno = EISDIR;
        return !S_ISDIR(info.st_mode) && access(path, W_OK) == 0;
    }
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode)) /* a link: written through */
        return access(path, W_OK) == 0 || errno == ENOENT;
    if (!file_out_open(&o, path))
        return 0;
    file_out_close(&o, 0);
    return 1;
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
