/* text.h - a string that grows in an arena.
 *
 *     text t = { .a = a };
 *     text_add(&t, "x%d", i);
 *     char *s = text_end(&t);      // NULL if memory ran out anywhere on the way
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct text {
    arena *a;
    char *s;
    size_t length, room;
    int failed;
} text;

__attribute__((format(printf, 2, 3))) void text_add(text *t, const char *format, ...);

/* Adds `length` bytes as they are. */
void text_put(text *t, const char *s, size_t length);

/* The string, terminated, or NULL when memory ran out. */
char *text_end(text *t);

/* How a noun ends behind a number: "%zu row%s". */
static inline const char *text_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* s itself if it is UTF-8, else what it is if it came from Windows (code page 1252, which contains
 * Latin-1), in `a`. NULL when memory is out. */
const char *text_utf8(const char *s, arena *a);

/* A JSON string, whatever bytes s holds. */
json_t *text_json(const char *s);

/* A JSON number; NaN and infinities, which JSON has not, become null. */
json_t *text_json_real(double v);

/* Puts ? in the place of characters that steer a terminal, which would let a name colour or rewrite
 * what is around it: the control characters of ASCII and those of Unicode (U+0080 to U+009F, two
 * bytes each). Returns s; NULL is fine. */
char *text_clean(char *s);

/* A copy of s that is clean, in `a`; s itself where it is. "" when memory is out. */
const char *text_shown(const char *s, arena *a);

/* Why bytes[0..size) are no lines of text as everything here reads them (UTF-16, UTF-32, lines that
 * end with CR alone), as the end of a sentence about a file; NULL if nothing speaks against it. */
const char *text_unreadable(const char *bytes, size_t size);

#endif
