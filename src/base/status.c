/* status.c - see status.h. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

void status_set(snip_status *st, snip_code code, size_t pos, const char *format, ...)
{
    if (st) {
        va_list args;
        va_start(args, format);
        st->code = code;
        st->pos = pos;
        vsnprintf(st->msg, sizeof st->msg, format, args);
        va_end(args);
        for (char *c = st->msg; *c; c++) /* one line, whatever the input held */
            if ((unsigned char)*c < ' ' || *c == 127)
                *c = '?';
    }
}
