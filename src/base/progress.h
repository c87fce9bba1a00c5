/* progress.h - one line on standard error that tells how far long work is.
 *
 *     progress p;
 *     progress_start(&p, "samples", total, quiet);
 *     progress_at(&p, done);        // as often as you like; written a few times a second
 *     progress_end(&p);
 *
 * Nothing is written unless standard error is a terminal. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stddef.h>

typedef struct progress {
    const char *what;
    size_t total;
    double started, written;
    int shown;
} progress;

void progress_start(progress *p, const char *what, size_t total, int quiet);
void progress_at(progress *p, size_t done);
void progress_end(progress *p);

#endif
