/* arena.c - see arena.h. A list of blocks, each starting where the previous one ended in one
 * running count of bytes, so that a mark is a single number. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Under the address sanitizer what is not handed out is poisoned, with a gap behind every piece. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
enum { GAP = 64 };
#else
enum { GAP = 0 };
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum { ALIGN = 64, BLOCK_MIN = 1 << 16, HUGE_PAGE = 1 << 21 };

typedef struct block {
    struct block *before;
    size_t start; /* count of bytes at this block's first byte */
    size_t used, size;
    unsigned char *bytes;
} block;

struct arena {
    block *last;
    block *spare; /* blocks given back, kept for reuse; linked by `before` */
    size_t limit;
};

static void block_free(block *b)
{
    if (b) {
        ASAN_UNPOISON_MEMORY_REGION(b->bytes, b->size);
        free(b->bytes);
        free(b);
    }
}

arena *arena_new(size_t limit)
{
    arena *a = calloc(1, sizeof *a);
    if (a)
        a->limit = limit;
    return a;
}

void arena_free(arena *a)
{
    if (!a)
        return;
    while (a->last) {
        block *b = a->last;
        a->last = b->before;
        block_free(b);
    }
    while (a->spare) {
        block *b = a->spare;
        a->spare = b->before;
        block_free(b);
    }
    free(a);
}

/* Memory of *size bytes or a little more. Large blocks are made of huge pages where the system has
 * them: matrix products walk through them with fewer misses. */
static unsigned char *take(size_t *size)
{
    if (*size < HUGE_PAGE)
        return aligned_alloc(ALIGN, *size);
    *size = (*size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    unsigned char *bytes = aligned_alloc(HUGE_PAGE, *size);
#ifdef MADV_HUGEPAGE
    if (bytes)
        (void)madvise(bytes, *size, MADV_HUGEPAGE); /* advice: nothing is lost if it is not taken */
#endif
    return bytes;
}

static block *block_add(arena *a, size_t size)
{
    block **at = &a->spare, *b;
    while (*at && (*at)->size < size)
        at = &(*at)->before;
    b = *at;
    if (b) {
        *at = b->before;
    } else {
        /* Each block doubles the total, so that a growing arena stays a short list. */
        size_t want = a->last ? 2 * a->last->size : BLOCK_MIN;
        if (want < size)
            want = size;
        b = malloc(sizeof *b);
        if (!b)
            return NULL;
        b->bytes = take(&want);
        b->size = want;
        if (!b->bytes) {
            free(b);
            return NULL;
        }
    }
    b->before = a->last;
    b->start = a->last ? a->last->start + a->last->used : 0;
    b->used = 0;
    a->last = b;
    ASAN_POISON_MEMORY_REGION(b->bytes, b->size);
    return b;
}

void *arena_alloc(arena *a, size_t size)
{
    if (size > SIZE_MAX / 4)
        return NULL;
    size_t exact = size;
    size = (size + GAP + ALIGN - 1) / ALIGN * ALIGN;
    if (size == 0)
        size = ALIGN;
    if (a->limit && arena_mark(a) + size > a->limit)
        return NULL;
    block *b = a->last;
    if (!b || b->size - b->used < size)
        b = block_add(a, size);
    if (!b)
        return NULL;
    void *p = b->bytes + b->used;
    b->used += size;
    ASAN_UNPOISON_MEMORY_REGION(p, exact);
    return p;
}

void *arena_zero(arena *a, size_t size)
{
    void *p = arena_alloc(a, size);
    if (p)
        memset(p, 0, size);
    return p;
}

void *arena_array(arena *a, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return arena_alloc(a, bytes);
}

void *arena_copy(arena *a, const void *from, size_t size)
{
    void *p = arena_alloc(a, size);
    if (p && size)
        memcpy(p, from, size);
    return p;
}

char *arena_text(arena *a, const char *from, size_t length)
{
    char *p = arena_alloc(a, length + 1);
    if (p) {
        memcpy(p, from, length);
        p[length] = 0;
    }
    return p;
}

arena_pos arena_mark(const arena *a)
{
    return a->last ? a->last->start + a->last->used : 0;
}

void arena_reset(arena *a, arena_pos mark)
{
    while (a->last && a->last->start >= mark && a->last->before) {
        block *b = a->last;
        a->last = b->before;
        b->before = a->spare;
        a->spare = b;
    }
    if (a->last) {
        size_t kept = mark - a->last->start; /* what was not handed out is poisoned already */
        ASAN_POISON_MEMORY_REGION(a->last->bytes + kept, a->last->used - kept);
        a->last->used = kept;
    }
}

int arena_room(size_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED && munmap(room, bytes) == 0;
}
