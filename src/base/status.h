/* status.h - how a function says that it failed: a code to branch on, a sentence to print. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include "snip.h"

/* Fills `st` (NULL is fine) and returns `code`. */
__attribute__((format(printf, 4, 5))) snip_code status_fail(snip_status *st, snip_code code,
                                                            size_t pos, const char *format, ...);

/* The usual "out of memory". */
snip_code status_nomem(snip_status *st);

#endif
