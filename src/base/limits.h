/* limits.h - limits that several files must agree on. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include "snip.h"

/* The most threads of one process. Arrays of one entry per thread have this many; the program's
 * options and the library's API ask for no more. */
enum { LIMITS_THREADS = 256 };

/* A line as long as the message of a status. */
enum { LIMITS_MESSAGE = sizeof((snip_status){ 0 }.msg) };

/* `asked` threads as far as the limit allows; all that there are for 0 and for less. */
static inline int limits_threads(int asked, int all)
{
    int most = asked > 0 ? asked : all;
    return most > LIMITS_THREADS ? LIMITS_THREADS : most;
}

#endif
