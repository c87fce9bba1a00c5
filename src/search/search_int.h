/* search_int.h - what the stages of a search share.
 *
 * A stage gets a view (a regression problem: the user's own, or one derived from it) and runs
 * rounds of jobs. A job proposes formulas of the view; a proposal is lifted to the user's inputs,
 * fitted and judged in the job's own thread, and enters the archive after the round, in the order
 * of the jobs. So nothing depends on which thread was faster.
 *
 *     static void run(search_job *j, void *context)
 *     {
 *         while (!search_job_over(j))
 *             search_offer(j, view, next formula);
 *     }
 *     search_round(s, SEARCH_PRODUCTS, jobs, run, &context, st);
 */
#ifndef SEARCH_INT_H
#define SEARCH_INT_H

#include "base/rng.h"
#include "search/search.h"

/* Samples of the rows: any first k rows of a view are a fair sample of them. */
enum { SEARCH_FEW = 64, SEARCH_SOME = 256, SEARCH_MANY = 2048 };

/* A regression problem: y as a function of columns.
 *
 * The root view has the user's columns, scaled by powers of ten where they are very large or very
 * small. A formula f of a view means, in the user's inputs,
 *     outer(x, f(by[0](x), by[1](x), ...)),
 * where variable `search->dim` of `outer` stands for the value of f: so 1/y as a target, x0/x1 as a
 * column, or a factor that was taken out, need nothing but a view. */
typedef struct search_view {
    size_t dim, rows;
    const double *const *x;
    const double *y;
    expr outer;
    const expr *by; /* dim of them, in the user's inputs */
    int depth;      /* 0 for the root, 1 for what was derived from it, ... */
} search_view;

/* A formula that was judged. */
typedef struct search_entry {
    expr e;           /* in the user's inputs, canonical, constants fitted to training rows */
    uint64_t hash;    /* of its form: constants aside */
    size_t size;      /* nodes */
    size_t constants; /* that were fitted */
    double loss[2];   /* relative to y's variance: 1 - r^2 on training and held-out rows */
    double bits;      /* description length on the training rows */
    search_stage stage;
} search_entry;

typedef struct search search;
typedef struct search_job search_job;

/* ---- the search as a whole ---- */

struct search {
    const search_how *how;
    size_t dim;           /* the user's inputs, less those that say nothing */
    const size_t *place;  /* of each among all that the user has; NULL: they are the same */
    size_t rows[2];       /* training rows, rows held out */
    const double **x;     /* all rows used, training first, in the user's units */
    const double *y;      /* the same */
    const double *weight; /* of the rows, of mean 1; NULL: all count alike */
    double variance[2]; /* of y over training rows, and over those held out about their own mean */
    double rounding;    /* of y over all rows, relative to the first variance */
    double telling;     /* the share of the rows that errors come from */
    const regress_problem *problem; /* the same rows for rank, find and the shared space */
    search_view root;
    uint64_t operators; /* bit i: expr_op i may be used */
    size_t max_size;
    size_t room; /* bytes for those tables of a stage that can be smaller, all together */
    struct search_archive *archive;
    arena *a; /* what lives as long as the search */
    double begun;
    double finish_by; /* when the front has to be ready: the stages leave a part of the time */
    uint64_t evaluations;
    uint64_t rounds; /* so far: part of every job's random numbers */
    search_stage stage;
    int solved; /* nothing is left to do: an exact formula, or no better one for a long time */
    double best_bits;                 /* of the formula that would be selected now */
    double best_since;                /* the share of the budget at which it was found */
    int last_stage;                   /* the stage for the rest of the time is at work */
    double reported;                  /* when how->report was called last */
    int changed;                      /* the front since then */
    const char *note;                 /* a sentence for the user, from a stage, in s->a; or NULL */
    struct search_near *near;         /* look-ups in the library; NULL: there are none */
    const struct search_prior *prior; /* what forms near to the table are made of; or NULL */
};

/* Leaves out inputs that say nothing: those that never change, and those that equal an earlier one.
 * *out is the rest of *t (at least one input), s->place says which they are, and *how gets guesses
 * in them. Everything lives in s->a. */
snip_code search_leave_out(search *s, regress_table *out, const regress_table *t, search_how *how,
                           snip_status *st);

/* How long a formula is that was fitted to so many of the rows. */
double search_length(const search *s, expr e, double loss, size_t rows);

/* A copy of e, which is in the search's inputs, in those of the user. */
expr search_for_user(const search *s, expr e, arena *a);

/* The time by which the budget counts. */
double search_now(const search *s);

/* Share of the budget that is used, 0 .. 1: of the evaluations if they are limited, else of the
 * time. Stages plan by this alone. */
double search_spent(const search *s);

/* Whether to end: the budget is used, the user asked for it, or an exact formula was found. */
int search_over(const search *s);

/* Whether an operator may be used. */
static inline int search_may(const search *s, expr_op op)
{
    return s->operators >> op & 1;
}

/* The weight of a row, and of rows [from, to) together. */
static inline double search_weight(const search *s, size_t i)
{
    return s->weight ? s->weight[i] : 1;
}

static inline double search_weights(const search *s, size_t from, size_t to)
{
    return regress_weight(s->problem, from, to);
}

/* Called between rounds: sees whether the search is at its end, and tells how->report. */
void search_tell(search *s);

/* Runs `jobs` jobs on the threads there are and takes what they offered into the archive, in their
 * order. Each job may make up to `quota` evaluations, less where the limit is near. A round is what
 * the program does between two looks at the clock by the user: a tenth of a second at most, so jobs
 * ask search_job_over often. Fails when memory is out. */
snip_code search_round(search *s, size_t jobs, uint64_t quota, void (*run)(search_job *, void *),
                       void *context, snip_status *st);

/* ---- inside a job ---- */

struct search_job {
    search *s;
    size_t index;
    rng random;     /* a function of seed, round and index */
    arena *a, *tmp; /* `a` lasts until the round is over, `tmp` is the stage's own */
    uint64_t evaluations, quota;
    search_entry *found; /* what was offered and judged, in order */
    size_t count, room;
    int no_memory;
};

/* Whether the job has to end: its quota is used, the time is, or the user asked for it. */
int search_job_over(search_job *j);

/* Counts evaluations of formulas that the stage made itself (one formula on up to SEARCH_SOME rows
 * is one). */
static inline void search_count(search_job *j, uint64_t evaluations)
{
    j->evaluations += evaluations;
}

/* Judges a formula of the view: lifted to the user's inputs, put into canonical structure, its free
 * numbers fitted (to SEARCH_SOME rows first; to more only if that looks as good as what the archive
 * has at its size), and measured on all rows. Numbers with the bit `fixed`, and whole exponents,
 * stay as they are. Returns 1 - r^2 on the training rows (0 is perfect), +infinity if it is not
 * finite there, too long, or uses what it may not. What was judged before is not judged again: then
 * the loss of that time is returned. */
double search_offer(search_job *j, const search_view *v, expr e);

/* The same with `starts` starting points of the fit, for formulas with constants inside of
 * functions. */
double search_offer_hard(search_job *j, const search_view *v, expr e, int starts);

/* Whether a formula of the view is equal in form to one of how->except, factors aside: cos(x) and
 * 3*cos(-x/2) are one form here. */
int search_is_excepted(search_job *j, const search_view *v, expr e);

/* ---- the archive: read by stages between and during rounds, written between them only ---- */

/* The best formulas so far, simplest first, each better on the training rows than all simpler ones.
 */
const search_entry *search_front(const search *s, size_t *count);

/* All that are kept: several per size, the best of each size first. */
const search_entry *search_kept(const search *s, size_t *count);

/* The least loss of any formula of at most so many nodes. */
double search_best_loss(const search *s, size_t size);

/* ---- views ---- */

/* A view derived from v: other columns, or another target. `own` has its columns, rows and target,
 * which are the caller's, in an arena that lasts; its `outer` is a formula in the columns of v with
 * variable v->dim for the new view's value, by[j] are formulas in the columns of v. The result's
 * own outer and by are in the user's inputs, in `a`. Returns 0 when memory is out. */
int search_view_derive(search_view *out, const search *s, const search_view *v,
                       const search_view *own, arena *a);

/* Opens the library that was asked for, for look-ups (s->near) if it is chosen from by vectors.
 * Fails with the reason where it cannot be used with this model or so many inputs: before the
 * search begins, for what a user asked for is never left out in silence. */
snip_code search_space_open(search *s, snip_status *st);

/* ---- the stages, one file each ---- */

typedef snip_code search_stage_run(search *s, const search_view *v, snip_status *st);
search_stage_run search_guess, search_closed, search_relations, search_products, search_textbook,
    search_enumerate, search_reduce_quickly, search_reduce, search_space, search_evolve;

#endif
