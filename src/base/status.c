/* status.c - see status.h. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

void status_set(snip_status *st, snip_code code, size_t pos, const char *format, ...)
{
    if (st) {
        va_list args;
        va_start(args, format);
        st->code = code;
        st->pos = pos;
        vsnprintf(st->msg, sizeof st->msg, format, args);
        va_end(args);
        text_clean(st->msg); /* one line, whatever the input held */
    }
}
