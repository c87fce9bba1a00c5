/* text.c - see text.h. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_put(text *t, const char *s, size_t length)
{
    if (t->failed)
        return;
    if (t->length + length + 1 > t->room) {
        size_t room = 2 * (t->length + length + 1) + 64;
        char *more = arena_alloc(t->a, room);
        if (!more) {
            t->failed = 1;
            return;
        }
        if (t->length)
            memcpy(more, t->s, t->length);
        t->s = more;
        t->room = room;
    }
    memcpy(t->s + t->length, s, length);
    t->length += length;
    t->s[t->length] = 0;
}

void text_add(text *t, const char *format, ...)
{
    char small[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n < 0) {
        t->failed = 1;
    } else if ((size_t)n < sizeof small) {
        text_put(t, small, (size_t)n);
    } else { /* rare: a long name */
        char *big = arena_alloc(t->a, (size_t)n + 1);
        if (!big) {
            t->failed = 1;
            return;
        }
        va_start(args, format);
        vsnprintf(big, (size_t)n + 1, format, args);
        va_end(args);
        text_put(t, big, (size_t)n);
    }
}

char *text_end(text *t)
{
    text_put(t, "", 0);
    return t->failed ? NULL : t->s;
}

json_t *text_json(const char *s)
{
    json_t *o = json_string(s);
    if (o)
        return o;
    /* Not UTF-8: bytes beyond ASCII are shown as question marks. */
    char *copy = strdup(s);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    o = copy ? json_string(copy) : NULL;
    free(copy);
    return o ? o : json_null();
}
