/* textbook.c - the named laws of the textbooks, fitted to the table: Michaelis-Menten, a damped
 * oscillation, Planck's law. They are what people's tables follow most often, and their constants
 * sit inside of functions, where a search without them would have to be lucky. */
#include "library/textbook.h"
#include "search/search_int.h"

enum {
    FITS = 6,      /* of a job: laws times the ways to give them inputs */
    JOBS = 4,      /* of a round */
    BEST = 3,      /* laws of a slice that are offered */
    STARTS = 3,    /* of a fit */
    INPUTS_MAX = 4 /* of a table; laws of more roles are not in the book */
};

/* Shares of the budget, at most: a curve of one input is most often one of these laws. */
static const double shares[INPUTS_MAX + 1] = { 0, 0.3, 0.1, 0.05, 0.05 };

typedef struct work {
    const regress_problem *p;
    search_view user; /* the user's own columns: laws come in these */
    library_textbook book;
    size_t slice; /* laws of a job */
    size_t next;
} work;

static void fit(search_job *j, void *context)
{
    const work *w = context;
    size_t first = w->next + j->index * w->slice;
    if (first >= w->book.count)
        return;
    size_t left = w->book.count - first, found;
    library_textbook slice = { w->book.law + first, left < w->slice ? left : w->slice };
    const library_textbook_how how = { .k = BEST, .starts = STARTS, .threads = 1 };
    regress_candidate *c;
    if (search_job_over(j))
        return;
    snip_code code = library_textbook_find(&c, &found, w->p, &slice, NULL, &how, j->a, NULL);
    if (code != SNIP_OK) {
        j->no_memory |= code == SNIP_NOMEM;
        return;
    }
    for (size_t k = 0; k < slice.count; k++) { /* about as many as a fit makes */
        size_t ways = 1;
        for (size_t r = 0; r < slice.law[k].roles; r++)
            ways *= w->p->dim - r;
        search_count(j, 40 * STARTS * ways);
    }
    for (size_t k = 0; k < found && !search_job_over(j); k++)
        search_offer(j, &w->user, c[k].fitted);
}

/* The laws that may say something about a table of `dim` inputs: those in all of them first. */
static int choose_laws(library_textbook *out, const library_textbook *book, size_t dim, arena *a)
{
    *out = (library_textbook){ arena_array(a, book->count, sizeof *out->law), 0 };
    if (!out->law)
        return 0;
    for (size_t roles = dim; roles >= 1 && roles + 1 >= dim; roles--)
        for (size_t k = 0; k < book->count && (roles == dim || dim <= 2); k++)
            if (book->law[k].roles == roles)
                out->law[out->count++] = book->law[k];
    return 1;
}

snip_code search_textbook(search *s, const search_view *v, snip_status *st)
{
    work w = { .user = { .dim = s->dim } };
    library_textbook book;
    regress_problem p;
    if (v->depth > 0 || s->dim > INPUTS_MAX)
        return SNIP_OK;
    double until = search_spent(s) + shares[s->dim];
    arena *a = arena_new(0);
    if (!a)
        return status_nomem(st);
    const regress_table few = { .dim = s->dim,
                                .rows = s->rows[0] < SEARCH_SOME ? s->rows[0] : SEARCH_SOME,
                                .names = s->problem->names.name,
                                .x = (const double *const *)s->x,
                                .y = s->y };
    snip_code code = regress_problem_whole(&p, &few, s->how->seed, a, st);
    if (code == SNIP_FORMAT) { /* a target that does not vary on the first rows */
        arena_free(a);
        return SNIP_OK;
    }
    if (code == SNIP_OK)
        code = library_textbook_builtin(&book, a, st);
    if (code == SNIP_OK && !choose_laws(&w.book, &book, s->dim, a))
        code = status_nomem(st);
    w.p = &p;
    w.slice = s->dim == 1 ? FITS : s->dim == 2 ? FITS / 2 : 1;
    for (; code == SNIP_OK && w.next < w.book.count && !search_over(s) && search_spent(s) < until;
         w.next += JOBS * w.slice)
        code = search_round(s, JOBS, UINT64_MAX, fit, &w, st);
    arena_free(a);
    return code;
}
