/* progress.c - see progress.h. */
#include "base/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

void progress_start(progress *p, const char *what, size_t total, int quiet)
{
    *p = (progress){ .what = what, .total = total, .started = clock_now() };
    p->written = p->started;
    p->shown = !quiet && isatty(STDERR_FILENO);
}

void progress_at(progress *p, size_t done)
{
    double now = clock_now();
    if (!p->shown || done == 0 || now - p->written < 0.2)
        return;
    p->written = now;
    double rate = (double)done / (now - p->started);
    fprintf(stderr, "\r%zu of %zu %s, %.0f/s, %.0f s left \033[K", done, p->total, p->what, rate,
            (double)(p->total - done) / rate);
    fflush(stderr);
}

void progress_end(progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r\033[K");
}
