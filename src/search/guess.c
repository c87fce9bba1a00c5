/* guess.c - the user's own formulas, before everything else. */
#include <stdio.h>

#include "search/search_int.h"

enum { STARTS = 8, PER_JOB = 4 }; /* fits of a guess from several starts are slow: few to a job */

static void run(search_job *j, void *context)
{
    const search_how *how = j->s->how;
    const size_t *from = context;
    size_t first = *from + j->index * PER_JOB;
    /* A guess is in the user's inputs, so in those of no view. */
    const search_view own = { .dim = j->s->dim };
    for (size_t k = first; k < first + PER_JOB && k < how->guesses && !search_job_over(j); k++)
        search_offer_hard(j, &own, how->guess[k], STARTS);
}

snip_code search_guess(search *s, const search_view *v, snip_status *st)
{
    enum { JOBS = 8 };
    snip_code code = SNIP_OK;
    (void)v;
    for (size_t k = 0; k < s->how->guesses && code == SNIP_OK && !search_over(s);
         k += JOBS * PER_JOB)
        code = search_round(s, JOBS, UINT64_MAX, run, &k, st);
    return code;
}
