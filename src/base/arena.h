/* arena.h - memory with few, named lifetimes.
 *
 *     arena *a = arena_new(0);
 *     arena_pos mark = arena_mark(a);
 *     double *tmp = arena_alloc(a, n * sizeof *tmp);   // NULL when the limit is reached
 *     arena_reset(a, mark);                            // tmp and all after it are gone
 *     arena_free(a);
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

typedef struct arena arena;

/* A position in an arena; only arena_reset looks inside. */
typedef size_t arena_pos;

/* `limit` bounds the bytes handed out (0: none). Returns NULL when memory is out. */
arena *arena_new(size_t limit);
void arena_free(arena *a);

/* `size` bytes aligned to 64, not cleared. NULL when memory is out or the limit is reached. */
void *arena_alloc(arena *a, size_t size);

/* The same, cleared. */
void *arena_zero(arena *a, size_t size);

/* `count` elements of `size` bytes; NULL also where the product overflows. */
void *arena_array(arena *a, size_t count, size_t size);

/* A copy of `size` bytes at `from`. */
void *arena_copy(arena *a, const void *from, size_t size);

/* A copy of `length` characters, terminated. */
char *arena_text(arena *a, const char *from, size_t length);

/* Whether `bytes` more of memory could be had now, without taking them. For work inside of
 * libraries that do not survive its end. */
int arena_room(size_t bytes);

/* Everything allocated after the mark is given back by the reset; memory is kept for reuse. */
arena_pos arena_mark(const arena *a);
void arena_reset(arena *a, arena_pos mark);

#endif
