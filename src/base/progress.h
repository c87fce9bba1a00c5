/* progress.h - how far long work is, told to whoever asked for it.
 *
 *     progress p;
 *     progress_start(&p, "samples", total, show);
 *     progress_at(&p, done);        // as often as you like; told a few times a second
 *     progress_end(&p);
 *
 * Work reports here and knows no terminal; the command line draws the line (cli/cli.h). */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stddef.h>

/* Who wants to know. */
typedef struct progress_show {
    void (*at)(void *context, const char *what, size_t done, size_t total, double seconds);
    void (*end)(void *context); /* the work is over, whatever came of it */
    void *context;
} progress_show;

typedef struct progress {
    const progress_show *show;
    const char *what;
    size_t total;
    double started, told;
} progress;

/* Begins `total` units of work called `what` (plural). `show` may be NULL: nobody is told. */
void progress_start(progress *p, const char *what, size_t total, const progress_show *show);
void progress_at(progress *p, size_t done);
void progress_end(progress *p);

#endif
