/* space.c - formulas of a library as beginnings: those whose vectors are near to the table's, or
 * those that fit best, or any.
 *
 * A library holds forms in inputs of mean 0 and deviation 1: x0*x1 is (c + x0)*(c + x1) there. As a
 * beginning, what is added to a single input goes, and inputs stand for the table's own, each over
 * its deviation; constants are fitted when the formula is offered. The table is looked up as it is
 * and by transforms of y, with its inputs in all orders if they are few. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "library/file.h"
#include "library/find.h"
#include "search/build.h"
#include "search/target.h"

enum {
    SEEDS = 64,        /* formulas that are offered, at most */
    NEAREST = 24,      /* of one look-up */
    INPUTS_MAX = 10,   /* of a table that is looked up */
    ORDERS_MAX = 24,   /* of the inputs of a formula that are tried */
    PERMUTED = 3,      /* inputs that are looked up in every order */
    LOOKUP_COST = 500, /* evaluations that an embedding of the table takes the time of */
    JOBS = 8,
    ROWS_PER_JOB = 100, /* of the library, between two looks at the clock */
    STARTS = 4
};

#define SHARE  0.1  /* of the budget */
#define LENGTH 0.05 /* what a node counts in the logarithm of a loss */

/* A formula of the library for the table. */
typedef struct seed {
    expr row;                 /* as the library has it */
    size_t order[INPUTS_MAX]; /* its input i is column order[i] of the view */
    size_t aim;
    double score; /* the larger the better */
} seed;

typedef struct space {
    search *s;
    const search_view *v;
    target aim[TARGETS_MAX];
    size_t aims;
    seed best[SEEDS]; /* best first */
    size_t count;
    seed (*of_job)[SEEDS];
    size_t counts[JOBS];
    const expr *row; /* the library's formulas, where all of them are looked at */
    size_t rows, next;
    double until;      /* share of the budget at which looking up ends: offers get as much */
    double *deviation; /* of the view's columns */
    arena *a;
} space;

/* The transforms that laws are looked up under. */
static int is_plain(target_kind g)
{
    return g == TARGET_SAME || g == TARGET_INVERSE || g == TARGET_SQUARE || g == TARGET_LOG;
}

/* ---- formulas of a library in the table's inputs ---- */

/* Whether the part at i is an input, or a multiple of one. */
static int is_input(expr e, size_t i)
{
    if (e.node[i].op == EXPR_MUL && e.node[i + 1].op == EXPR_NUMBER)
        i += 2;
    return e.node[i].op == EXPR_VARIABLE;
}

/* Copies the part at i without what is added to single inputs. */
static size_t strip(expr_node *out, size_t n, expr e, size_t i)
{
    if (e.node[i].op == EXPR_ADD && e.node[i + 1].op == EXPR_NUMBER && is_input(e, i + 2))
        return strip(out, n, e, i + 2);
    out[n] = e.node[i];
    out[n++].fixed = 0;
    for (int k = 0; k < expr_ops[e.node[i].op].arity; k++)
        n = strip(out, n, e, expr_child(e, i, k));
    return n;
}

/* The formula with its input i as column order[i] of the view. node is NULL when memory is out. */
static expr placed(const space *q, expr e, const size_t *order, arena *a)
{
    expr out = { arena_array(a, e.count, sizeof *out.node), 0 };
    expr by[INPUTS_MAX];
    if (!out.node)
        return out;
    out.count = strip(out.node, 0, e, 0);
    expr_measure(out);
    size_t n = expr_inputs(out);
    for (size_t i = 0; i < n; i++)
        by[i] = search_binary(EXPR_DIV, search_variable(order[i], a),
                              search_number(q->deviation[order[i]], a), a);
    for (size_t i = 0; i < n; i++)
        if (!by[i].node)
            return (expr){ NULL, 0 };
    return expr_substitute(out, by, n, a);
}

/* Puts a formula into a list of the best. */
static size_t enlist(seed *list, size_t n, const seed *new)
{
    if (n == SEEDS && !(new->score > list[n - 1].score))
        return n;
    size_t place = n < SEEDS ? n++ : SEEDS - 1;
    for (; place > 0 && list[place - 1].score < new->score; place--)
        list[place] = list[place - 1];
    list[place] = *new;
    return n;
}

/* ---- by vectors ---- */

/* The nearest of one look-up. */
static snip_code look_up(space *q, const regress_problem *p, regress_inputs set, size_t inputs,
                         size_t t, regress_view view, library_file *ix, snip_status *st)
{
    const search_how *how = q->s->how;
    float *z = arena_array(q->a, (size_t)how->model->m->config.latent, sizeof *z);
    library_hit hit[NEAREST];
    size_t found = 0;
    q->s->evaluations += LOOKUP_COST;
    if (!z)
        return status_nomem(st);
    model_space *vectors = model_space_new(how->model->m, how->model->tree, how->threads);
    snip_code code =
        vectors ? regress_problem_embed(p, set, view, vectors, z, st) : status_nomem(st);
    model_space_free(vectors);
    if (code == SNIP_OK)
        code = library_search(ix, z, NEAREST, (int)inputs, how->threads, hit, &found, st);
    for (size_t i = 0; i < found && code == SNIP_OK; i++) {
        library_row row;
        size_t order[INPUTS_MAX], n = 0;
        for (size_t k = 0; k < p->dim && n < INPUTS_MAX; k++)
            if (set >> p->order[k] & 1)
                order[n++] = p->order[k];
        code = library_formula(&row, ix, hit[i].id, q->a, st);
        if (code != SNIP_OK || expr_inputs(row.e) > n)
            continue;
        seed new = { .row = row.e, .aim = t, .score = hit[i].score };
        memcpy(new.order, order, n * sizeof *order);
        q->count = enlist(q->best, q->count, &new);
    }
    return code;
}

/* All look-ups, as long as there is time. */
static snip_code nearest(space *q, library_file *ix, snip_status *st)
{
    const search *s = q->s;
    snip_code code = SNIP_OK;
    for (size_t t = 0; t < q->aims; t++) {
        if (!is_plain(q->aim[t].which))
            continue;
        regress_problem p;
        const regress_table table = { s->dim, s->rows[0], s->problem->names.name,
                                      (const double *const *)s->x, q->aim[t].view.y };
        code = regress_problem_whole(&p, &table, s->how->seed, q->a, st);
        if (code != SNIP_OK)
            return code;
        regress_inputs set = regress_inputs_that_matter(&p);
        size_t inputs = (size_t)__builtin_popcount(set), n = 0, rest = 0;
        size_t *order = arena_array(q->a, s->dim, sizeof *order);
        if (!order)
            return status_nomem(st);
        for (size_t k = 0; k < s->dim; k++)
            if (set >> p.order[k] & 1)
                order[n++] = p.order[k];
        rest = n;
        for (size_t k = 0; k < s->dim; k++)
            if (!(set >> p.order[k] & 1))
                order[rest++] = p.order[k];
        if (n <= PERMUTED) { /* from the first order on */
            for (size_t i = 1; i < n; i++)
                for (size_t k = i; k > 0 && order[k - 1] > order[k]; k--) {
                    size_t swap = order[k];
                    order[k] = order[k - 1];
                    order[k - 1] = swap;
                }
        }
        do {
            p.order = order;
            for (regress_view view = REGRESS_FORM; view <= REGRESS_FORM_TURNED; view++) {
                if (search_over(s) || search_spent(s) >= q->until)
                    return code;
                code = look_up(q, &p, set, inputs, t, view, ix, st);
                if (code != SNIP_OK)
                    return code;
            }
        } while (n <= PERMUTED && library_next_order(order, NULL, n));
    }
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
        seed new = { .row = q->row[k] };
        size_t inputs = expr_inputs(new.row), orders = 1;
        if (inputs > q->v->dim || inputs > INPUTS_MAX || search_job_over(j))
            continue;
        for (size_t i = 0; i < inputs && orders < ORDERS_MAX; i++)
            orders *= q->v->dim - i;
        for (size_t i = 0; i < (any ? 1 : orders) && i < ORDERS_MAX; i++) {
            arena_pos mark = arena_mark(j->tmp);
            draw_order(new.order, inputs, q->v->dim, &j->random);
            if (any) {
                new.score = rng_uniform(&j->random);
                n = enlist(list, n, &new);
                continue;
            }
            expr e = placed(q, new.row, new.order, j->tmp);
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
                n = enlist(list, n, &new);
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
                q->count = enlist(q->best, q->count, &q->of_job[k][i]);
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
    expr e = placed(q, one->row, one->order, j->tmp);
    if (!e.node)
        j->no_memory = 1;
    else
        search_offer_hard(j, &q->aim[one->aim].view, e, STARTS);
}

static int measure_columns(space *q)
{
    const search_view *v = q->v;
    q->deviation = arena_array(q->a, v->dim, sizeof *q->deviation);
    for (size_t j = 0; j < v->dim && q->deviation; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < v->rows; i++)
            mean += v->x[j][i] / (double)v->rows;
        for (size_t i = 0; i < v->rows; i++)
            square += (v->x[j][i] - mean) * (v->x[j][i] - mean) / (double)v->rows;
        q->deviation[j] = square > 0 ? sqrt(square) : 1;
    }
    return q->deviation != NULL;
}

snip_code search_space_check(const search_how *how, size_t dim, snip_status *st)
{
    library_file *ix = NULL;
    int near = how->seeds == SEARCH_SEEDS_NEAREST;
    const model_opened *t = how->model;
    if (near && (!t || !t->m->config.forms))
        return status_fail(st, SNIP_UNSUPPORTED, 0, "the nearest formulas of a library need %s",
                           t ? "a model that reads forms" : "a model");
    size_t most = near && t->m->config.dims < INPUTS_MAX ? (size_t)t->m->config.dims : INPUTS_MAX;
    if (near && dim > most)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "the nearest formulas of a library can be found for %zu inputs at most, "
                           "not for %zu",
                           most, dim);
    snip_code code = library_open(&ix, how->library, near ? t : NULL, st);
    library_close(ix);
    return code;
}

snip_code search_space(search *s, const search_view *v, snip_status *st)
{
    library_file *ix = NULL;
    int near = s->how->seeds == SEARCH_SEEDS_NEAREST;
    if (!s->how->library)
        return SNIP_OK;
    arena *a = arena_new(0);
    space *q = a ? arena_zero(a, sizeof *q) : NULL;
    snip_code code = SNIP_OK;
    if (q)
        *q = (space){ .s = s, .v = v, .a = a, .until = search_spent(s) + SHARE / 2 };
    if (!q || !measure_columns(q) || !search_targets_make(q->aim, &q->aims, s, v, a))
        code = status_nomem(st);
    if (code == SNIP_OK)
        code = library_open(&ix, s->how->library, near ? s->how->model : NULL, st);
    if (code == SNIP_OK)
        code = near ? nearest(q, ix, st) : look_through(q, ix, st);
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
