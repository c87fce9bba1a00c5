/* guess.c - the user's own formulas, before everything else. */
#include <math.h>
#include <stdio.h>

#include "search/search_int.h"

enum { STARTS = 8, PER_JOB = 4, JOBS = 8 }; /* a fit from several starts is slow: few to a job */

/* What became of a guess. */
typedef enum fate { GOOD, TOO_LONG, NO_VALUE } fate;

typedef struct guesses {
    size_t from; /* the first of this round */
    fate *fate;
} guesses;

/* Nodes of a guess as it would be kept. */
static size_t size_of(expr e, arena *tmp)
{
    expr_form form;
    arena_pos mark = arena_mark(tmp);
    size_t size = expr_canonical(&form, e, tmp, NULL) == SNIP_OK ? form.e.count : e.count;
    arena_reset(tmp, mark);
    return size;
}

static void run(search_job *j, void *context)
{
    const guesses *g = context;
    const search_how *how = j->s->how;
    const search_view own = { .dim = j->s->dim }; /* a guess is in the user's inputs already */
    size_t first = g->from + j->index * PER_JOB;
    for (size_t k = first; k < first + PER_JOB && k < how->guesses && !search_job_over(j); k++) {
        double loss = search_offer_hard(j, &own, how->guess[k], STARTS);
        if (!(loss < INFINITY))
            g->fate[k] = size_of(how->guess[k], j->tmp) > j->s->max_size ? TOO_LONG : NO_VALUE;
    }
}

/* The sentence for the user, about guesses that were of no use. NULL if there are none. */
static const char *note_of(const search *s, const fate *f)
{
    enum { ROOM = 256 };
    size_t n[3] = { 0 }, first[3] = { 0 };
    for (size_t k = s->how->guesses; k-- > 0;) {
        n[f[k]]++;
        first[f[k]] = k + 1;
    }
    char *to = n[TOO_LONG] + n[NO_VALUE] ? arena_alloc(s->a, ROOM) : NULL;
    if (!to)
        return NULL;
    fate which = n[TOO_LONG] ? TOO_LONG : NO_VALUE;
    char others[64] = "";
    size_t more = n[TOO_LONG] + n[NO_VALUE] - 1;
    if (more)
        snprintf(others, sizeof others, " (and %zu more guess%s)", more, more == 1 ? "" : "es");
    if (which == TOO_LONG)
        snprintf(to, ROOM, "guess %zu%s was left out: longer than %zu nodes", first[which], others,
                 s->max_size);
    else
        snprintf(to, ROOM,
                 "guess %zu%s was left out: it is not finite on all rows, or has operators that "
                 "may not be used",
                 first[which], others);
    return to;
}

snip_code search_guess(search *s, const search_view *v, snip_status *st)
{
    snip_code code = SNIP_OK;
    (void)v;
    if (s->how->guesses == 0)
        return code;
    guesses g = { .fate = arena_zero(s->a, s->how->guesses * sizeof *g.fate) };
    if (!g.fate)
        return status_nomem(st);
    for (; g.from < s->how->guesses && code == SNIP_OK && !search_over(s); g.from += JOBS * PER_JOB)
        code = search_round(s, JOBS, UINT64_MAX, run, &g, st);
    s->note = note_of(s, g.fate);
    return code;
}
