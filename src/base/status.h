/* status.h - how a function says that it failed: a code to branch on, a sentence to print. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include "snip.h"

/* Fills `st`; NULL is fine. */
__attribute__((format(printf, 4, 5))) void status_set(snip_status *st, snip_code code, size_t pos,
                                                      const char *format, ...);

/* Fills `st` and is `code`. A macro so that analysers know its value. */
#define status_fail(st, code, pos, ...) (status_set(st, code, pos, __VA_ARGS__), (code))

/* The usual "out of memory". */
static inline snip_code status_nomem(snip_status *st)
{
    return status_fail(st, SNIP_NOMEM, 0, "out of memory");
}

#endif
