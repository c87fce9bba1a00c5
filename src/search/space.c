/* space.c - formulas of a library as beginnings: those whose vectors are near to the table's, or
 * those that fit best, or any.
 *
 * The table is looked up as it is and by transforms of y, with its inputs in all orders if they are
 * few (near.h). Of what is near, the most promising are offered: the promise (model/promise.h)
 * weighs similarity, correlation as given and length. All that is near tells the search's later
 * stages which operators and pairs of inputs to expect (prior.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "library/find.h"
#include "search/near.h"
#include "search/prior.h"
#include "search/target.h"

enum {
    SEEDS = 64,       /* formulas that are offered, at most */
    CANDIDATES = 256, /* of the nearest, those of which they are chosen */
    ORDERS_MAX = 24,  /* of the inputs of a formula that are tried */
    PERMUTED = 3,     /* inputs that are looked up in every order */
    JOBS = 8,
    ROWS_PER_JOB = 100, /* of the library, between two looks at the clock */
    STARTS = 4
};

#define SHARE  0.07 /* of the budget; evolution has the rest of the space's tenth */
#define LENGTH 0.05 /* what a node counts in the logarithm of a loss */

/* A formula of the library for the table. */
typedef struct seed {
    near_form form;
    size_t aim;
    double score; /* the larger the better */
} seed;

typedef struct space {
    search *s;
    const search_view *v;
    target aim[TARGETS_MAX];
    size_t aims;
    int forms;             /* the library holds forms */
    seed best[CANDIDATES]; /* best first */
    size_t count;
    seed (*of_job)[SEEDS];
    size_t counts[JOBS];
    const expr *row; /* the library's formulas, where all of them are looked at */
    size_t rows, next;
    double until;             /* share of the budget at which looking up ends: offers get as much */
    double *mean, *deviation; /* of the view's columns */
    arena *a;
} space;

/* The transforms that laws are looked up under. */
static int is_plain(target_kind g)
{
    return g == TARGET_SAME || g == TARGET_INVERSE || g == TARGET_SQUARE || g == TARGET_LOG;
}

static expr placed(const space *q, const near_form *f, arena *a)
{
    return search_near_place(f, q->forms, q->mean, q->deviation, a);
}

/* Puts a formula into a list of the best, of at most `most`. */
static size_t enlist(seed *list, size_t n, size_t most, const seed *new)
{
    if (n == most && !(new->score > list[n - 1].score))
        return n;
    size_t place = n < most ? n++ : most - 1;
    for (; place > 0 && list[place - 1].score < new->score; place--)
        list[place] = list[place - 1];
    list[place] = *new;
    return n;
}

/* ---- by vectors ---- */

/* Looks a problem up with its inputs in the orders that are tried. */
static snip_code look_up(space *q, regress_problem *p, size_t t, snip_status *st)
{
    const search *s = q->s;
    regress_inputs set = regress_inputs_that_matter(p);
    size_t n = 0, rest = 0, *order = arena_array(q->a, s->dim, sizeof *order);
    snip_code code = order ? SNIP_OK : status_nomem(st);
    for (size_t k = 0; k < s->dim && order; k++)
        if (set >> p->order[k] & 1)
            order[n++] = p->order[k];
    rest = n;
    for (size_t k = 0; k < s->dim && order; k++)
        if (!(set >> p->order[k] & 1))
            order[rest++] = p->order[k];
    for (size_t i = 1; i < n && n <= PERMUTED; i++) /* from the first order on */
        for (size_t k = i; k > 0 && order[k - 1] > order[k]; k--) {
            size_t swap = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swap;
        }
    p->order = order;
    do {
        near_form form[NEAR_FORMS];
        size_t found = 0;
        if (code != SNIP_OK || search_over(s) || search_spent(s) >= q->until)
            return code;
        code = search_near_find(s->near, p, set, form, &found, q->a, st);
        for (size_t i = 0; i < found; i++)
            q->count =
                enlist(q->best, q->count, CANDIDATES,
                       &(seed){ .form = form[i], .aim = t, .score = form[i].near.similarity });
    } while (n <= PERMUTED && library_next_order(order, NULL, n));
    return code;
}

/* What the nearest forms are made of, for the stages to come. */
static void tell_prior(space *q)
{
    search_prior *p = arena_zero(q->s->a, sizeof *p);
    for (size_t k = 0; k < q->count && p; k++) {
        arena_pos mark = arena_mark(q->a);
        expr e = placed(q, &q->best[k].form, q->a);
        if (e.node && q->aim[q->best[k].aim].which == TARGET_SAME)
            search_prior_add(p, e, fmax(0, q->best[k].score));
        arena_reset(q->a, mark);
    }
    q->s->prior = p;
}

static int by_score(const void *a, const void *b)
{
    const seed *p = a, *q = b;
    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    return memcmp(p->form.order, q->form.order, sizeof p->form.order);
}

/* Orders the candidates by their promise before any fit. */
static int order_by_promise(space *q)
{
    const model_promise *w = &q->s->how->model->promise;
    head_values *v = arena_alloc(q->a, sizeof *v);
    if (!v)
        return 0;
    for (size_t k = 0; k < q->count && model_promise_known(w); k++) {
        arena_pos mark = arena_mark(q->a);
        seed *one = &q->best[k];
        const head_rows *r = &q->aim[one->aim].rows;
        head h = { .loss = 1 };
        expr e = placed(q, &one->form, q->a);
        e = e.node ? search_head_strip(e, q->a) : e;
        if (e.node) {
            search_head_evaluate(v, e, r);
            if (!search_head_solve(&h, e, v, r))
                h.loss = 1;
        }
        one->score =
            search_promise(w, &one->form.near, sqrt(fmax(0, 1 - h.loss)), one->form.row, q->a);
        q->s->evaluations++;
        arena_reset(q->a, mark);
    }
    qsort(q->best, q->count, sizeof *q->best, by_score);
    return 1;
}

/* All look-ups, as long as there is time. */
static snip_code nearest(space *q, snip_status *st)
{
    const search *s = q->s;
    unsigned unused = s->how->unused;
    snip_code code = SNIP_OK;
    q->forms = s->near->forms;
    for (size_t t = 0; t < q->aims && code == SNIP_OK; t++) {
        if (!is_plain(q->aim[t].which) || search_over(s) || search_spent(s) >= q->until)
            continue;
        regress_problem p;
        const regress_table table = { s->dim, s->rows[0], s->problem->names.name,
                                      (const double *const *)s->x, q->aim[t].view.y };
        code = regress_problem_whole(&p, &table, s->how->seed, q->a, st);
        if (code == SNIP_OK)
            code = look_up(q, &p, t, st);
    }
    if (code == SNIP_OK && !(unused >> SEARCH_USE_PRIOR & 1))
        tell_prior(q);
    if (code == SNIP_OK && !(unused >> SEARCH_USE_PROMISE & 1) && !order_by_promise(q))
        code = status_nomem(st);
    if (unused >> SEARCH_USE_SEEDS & 1)
        q->count = 0;
    q->count = q->count < SEEDS ? q->count : SEEDS;
    return code;
}

/* ---- by values, or any ---- */

/* Some of the table's columns, in any order, for the n inputs of a formula. */
static void draw_order(size_t *order, size_t n, size_t dim, rng *random)
{
    size_t all[SEARCH_INPUTS_MAX];
    for (size_t k = 0; k < dim; k++)
        all[k] = k;
    for (size_t k = 0; k < n; k++) {
        size_t other = k + rng_below(random, (uint32_t)(dim - k));
        order[k] = all[other];
        all[other] = all[k];
    }
}

/* Measures some of the library's formulas on a few rows, under all transforms of y. */
static void measure(search_job *j, void *context)
{
    space *q = context;
    head_values *v = arena_alloc(j->tmp, sizeof *v);
    size_t first = q->next + j->index * ROWS_PER_JOB, n = 0;
    seed *list = q->of_job[j->index];
    int any = j->s->how->seeds == SEARCH_SEEDS_RANDOM;
    q->counts[j->index] = 0;
    if (!v) {
        j->no_memory = 1;
        return;
    }
    for (size_t k = first; k < first + ROWS_PER_JOB && k < q->rows; k++) {
        seed new = { .form = { .row = q->row[k] } };
        size_t inputs = expr_inputs(new.form.row), orders = 1;
        if (inputs > q->v->dim || inputs > NEAR_INPUTS || search_job_over(j))
            continue;
        for (size_t i = 0; i < inputs && orders < ORDERS_MAX; i++)
            orders *= q->v->dim - i;
        for (size_t i = 0; i < (any ? 1 : orders) && i < ORDERS_MAX; i++) {
            arena_pos mark = arena_mark(j->tmp);
            draw_order(new.form.order, inputs, q->v->dim, &j->random);
            if (any) {
                new.score = rng_uniform(&j->random);
                n = enlist(list, n, SEEDS, &new);
                continue;
            }
            expr e = placed(q, &new.form, j->tmp);
            e = e.node ? search_head_strip(e, j->tmp) : e;
            if (e.node)
                search_head_evaluate(v, e, &q->aim[0].rows);
            for (size_t t = 0; t < q->aims && e.node; t++) {
                head h;
                search_count(j, 1);
                if (!is_plain(q->aim[t].which) || !search_head_solve(&h, e, v, &q->aim[t].rows))
                    continue;
                new.aim = t;
                new.score = -log(h.loss + 1e-28) - LENGTH *(double)e.count;
                n = enlist(list, n, SEEDS, &new);
            }
            arena_reset(j->tmp, mark);
        }
    }
    q->counts[j->index] = n;
}

/* The best of the whole library by their values, or some of it. */
static snip_code look_through(space *q, library_file *ix, snip_status *st)
{
    search *s = q->s;
    size_t n = library_about(ix)->count;
    q->forms = library_about(ix)->forms;
    expr *row = arena_array(q->a, n + 1, sizeof *row);
    snip_code code = row ? SNIP_OK : status_nomem(st);
    q->of_job = arena_array(q->a, JOBS, sizeof *q->of_job);
    if (!q->of_job)
        code = status_nomem(st);
    for (size_t k = 0; k < n && code == SNIP_OK; k++) {
        library_row one;
        code = library_formula(&one, ix, k + 1, q->a, st);
        row[k] = one.e;
        q->rows++;
        if (k % JOBS == 0 && (search_over(s) || search_spent(s) >= q->until))
            break;
    }
    q->row = row;
    while (code == SNIP_OK && q->next < q->rows && !search_over(s) && search_spent(s) < q->until) {
        code = search_round(s, JOBS, UINT64_MAX, measure, q, st);
        for (size_t k = 0; k < JOBS && code == SNIP_OK; k++)
            for (size_t i = 0; i < q->counts[k]; i++)
                q->count = enlist(q->best, q->count, SEEDS, &q->of_job[k][i]);
        q->next += JOBS * ROWS_PER_JOB;
    }
    return code;
}

/* ---- the stage ---- */

static void offer(search_job *j, void *context)
{
    const space *q = context;
    size_t k = q->next + j->index;
    if (k >= q->count || search_job_over(j))
        return;
    const seed *one = &q->best[k];
    expr e = placed(q, &one->form, j->tmp);
    if (!e.node)
        j->no_memory = 1;
    else if (!search_is_excepted(j, &q->aim[one->aim].view, e))
        search_offer_hard(j, &q->aim[one->aim].view, e, STARTS);
}

static int measure_columns(space *q)
{
    const search_view *v = q->v;
    q->mean = arena_array(q->a, v->dim, sizeof *q->mean);
    q->deviation = arena_array(q->a, v->dim, sizeof *q->deviation);
    for (size_t j = 0; j < v->dim && q->mean && q->deviation; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < v->rows; i++)
            mean += v->x[j][i] / (double)v->rows;
        for (size_t i = 0; i < v->rows; i++)
            square += (v->x[j][i] - mean) * (v->x[j][i] - mean) / (double)v->rows;
        q->mean[j] = mean;
        q->deviation[j] = square > 0 ? sqrt(square) : 1;
    }
    return q->mean && q->deviation;
}

snip_code search_space_open(search *s, snip_status *st)
{
    const search_how *how = s->how;
    const model_opened *t = how->model;
    library_file *ix = NULL;
    if (how->seeds != SEARCH_SEEDS_NEAREST) {
        snip_code code = library_open(&ix, how->library, NULL, st);
        library_close(ix);
        return code;
    }
    if (!t)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "the nearest formulas of a library need a model");
    size_t most = t->m->config.dims < NEAR_INPUTS ? (size_t)t->m->config.dims : NEAR_INPUTS;
    if (s->dim > most)
        return status_fail(
            st, SNIP_UNSUPPORTED, 0,
            "the nearest formulas of a library can be found for %zu input%s at most, "
            "not for %zu",
            most, text_plural(most), s->dim);
    return search_near_open(&s->near, s, st);
}

snip_code search_space(search *s, const search_view *v, snip_status *st)
{
    library_file *ix = NULL;
    if (!s->how->library)
        return SNIP_OK;
    arena *a = arena_new(0);
    space *q = a ? arena_zero(a, sizeof *q) : NULL;
    snip_code code = SNIP_OK;
    if (q)
        *q = (space){ .s = s, .v = v, .a = a, .until = search_spent(s) + SHARE / 2 };
    if (!q || !measure_columns(q) || !search_targets_make(q->aim, &q->aims, s, v, a))
        code = status_nomem(st);
    if (code == SNIP_OK && !s->near)
        code = library_open(&ix, s->how->library, NULL, st);
    if (code == SNIP_OK)
        code = s->near ? nearest(q, st) : look_through(q, ix, st);
    double until = q ? q->until + SHARE / 2 : 0;
    for (size_t k = 0; code == SNIP_OK && k < q->count && !search_over(s); k += JOBS) {
        if (search_spent(s) >= until)
            break;
        q->next = k;
        code = search_round(s, JOBS, UINT64_MAX, offer, q, st);
    }
    library_close(ix);
    arena_free(a);
    return code;
}
