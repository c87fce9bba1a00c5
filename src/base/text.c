/* text.c - see text.h. */
#include "base/text.h"

#include <math.h>
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

/* Whether s is UTF-8: jansson knows. */
static int is_utf8(const char *s)
{
    json_t *o = json_string(s);
    json_decref(o);
    return o != NULL;
}

const char *text_utf8(const char *s, arena *a)
{
    static const unsigned windows[32] = {
        0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
        0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178
    }; /* what 0x80 to 0x9F stand for */
    if (is_utf8(s))
        return s;
    text t = { .a = a };
    for (; *s; s++) {
        unsigned c = (unsigned char)*s;
        if (c >= 0x80 && c < 0xA0)
            c = windows[c - 0x80];
        char bytes[3] = { (char)c };
        size_t n = 1;
        if (c >= 0x800) {
            bytes[0] = (char)(0xE0 | c >> 12);
            bytes[1] = (char)(0x80 | (c >> 6 & 0x3F));
            bytes[2] = (char)(0x80 | (c & 0x3F));
            n = 3;
        } else if (c >= 0x80) {
            bytes[0] = (char)(0xC0 | c >> 6);
            bytes[1] = (char)(0x80 | (c & 0x3F));
            n = 2;
        }
        text_put(&t, bytes, n);
    }
    return text_end(&t);
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

json_t *text_json_real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

const char *text_unreadable(const char *bytes, size_t size)
{
    static const struct {
        const char *mark, *why;
        size_t length;
    } marks[] = {
        { "\xFF\xFE\0", "is UTF-32; save it as UTF-8", 4 },
        { "\0\0\xFE\xFF", "is UTF-32; save it as UTF-8", 4 },
        { "\xFF\xFE", "is UTF-16; save it as UTF-8", 2 },
        { "\xFE\xFF", "is UTF-16; save it as UTF-8", 2 },
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (size >= marks[i].length && memcmp(bytes, marks[i].mark, marks[i].length) == 0)
            return marks[i].why;
    static const char blank[] = { ' ', '\t', '\r', '\n' };
    while (size && memchr(blank, bytes[size - 1], sizeof blank))
        size--;
    const char *end = size ? memchr(bytes, '\r', size) : NULL;
    return end && !memchr(bytes, '\n', size)
               ? "its lines end with CR alone; save it with LF or CRLF line ends"
               : NULL;
}

static size_t control_length(const char *s)
{
    unsigned char c = (unsigned char)s[0], next = c ? (unsigned char)s[1] : 0;
    if (c < ' ' || c == 127)
        return c != 0;
    return c == 0xC2 && next >= 0x80 && next < 0xA0 ? 2 : 0;
}

char *text_clean(char *s)
{
    for (char *c = s; c && *c; c++)
        memset(c, '?', control_length(c));
    return s;
}

const char *text_shown(const char *s, arena *a)
{
    for (const char *c = s; *c; c++)
        if (control_length(c)) {
            char *copy = arena_text(a, s, strlen(s));
            return copy ? text_clean(copy) : "";
        }
    return s;
}
