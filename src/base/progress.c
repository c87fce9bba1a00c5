/* progress.c - see progress.h. */
#include "base/progress.h"

#include "base/clock.h"

void progress_start(progress *p, const char *what, size_t total, const progress_show *show)
{
    *p = (progress){ .show = show, .what = what, .total = total, .started = clock_now() };
    p->told = p->started;
}

void progress_at(progress *p, size_t done)
{
    double now = clock_now();
    if (!p->show || done == 0 || now - p->told < 0.2)
        return;
    p->told = now;
    p->show->at(p->show->context, p->what, done, p->total, now - p->started);
}

void progress_end(progress *p)
{
    if (p->show)
        p->show->end(p->show->context);
}
