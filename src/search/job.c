/* job.c - rounds of jobs, and how a proposal is judged.
 *
 * A proposal g stands for the family a + b*g: its canonical core is what counts, shift and factor
 * are fitted with the other constants and dropped again where the data can do without them. So a
 * stage need not care for scale, and c*x and 2 - x are one proposal. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/clock.h"
#include "base/streams.h"
#include "expr/vec.h"
#include "regress/constants.h"
#include "search/archive.h"

/* A formula that is worse than this many times the best of its size on a few rows is not fitted to
 * more of them. */
#define WORTH_MORE_ROWS 3.0

#define STARTS_BETTER 0.8   /* of the loss known for a form: another start that is worth a fit */
#define NEGLIGIBLE    1e-10 /* a shift or a factor's distance from 1, relative to y or to 1 */

double search_now(const search *s)
{
    return s->how->processor ? clock_processor() / s->how->threads : clock_now();
}

double search_spent(const search *s)
{
    const search_how *how = s->how;
    if (how->evaluations > 0 && how->seconds <= 0)
        return fmin(1, (double)s->evaluations / (double)how->evaluations);
    double time = (search_now(s) - s->begun) / (how->seconds > 0 ? how->seconds : 60);
    double work = how->evaluations > 0 ? (double)s->evaluations / (double)how->evaluations : 0;
    return fmin(1, fmax(time, work));
}

static int out_of_time(const search *s)
{
    const search_how *how = s->how;
    if (how->cancel && *how->cancel)
        return 1;
    if (how->evaluations > 0 && how->seconds <= 0)
        return 0;
    return search_now(s) - s->begun >= (how->seconds > 0 ? how->seconds : 60);
}

int search_over(const search *s)
{
    return s->solved || out_of_time(s) ||
           (s->how->evaluations > 0 && s->evaluations >= s->how->evaluations);
}

int search_job_over(search_job *j)
{
    return j->no_memory || j->evaluations >= j->quota || out_of_time(j->s);
}

/* ---- rounds ---- */

static snip_code take_in(search *s, search_job *job, size_t jobs, snip_status *st)
{
    for (size_t k = 0; k < jobs; k++) {
        s->evaluations += job[k].evaluations;
        if (job[k].no_memory)
            return status_nomem(st);
        for (size_t i = 0; i < job[k].count; i++) {
            int changed = search_archive_add(s->archive, &job[k].found[i]);
            if (changed < 0)
                return status_nomem(st);
            s->changed |= changed;
        }
    }
    return SNIP_OK;
}

snip_code search_round(search *s, size_t jobs, uint64_t quota, void (*run)(search_job *, void *),
                       void *context, snip_status *st)
{
    arena_pos mark = arena_mark(s->a);
    search_job *job = arena_zero(s->a, jobs * sizeof *job);
    if (!job)
        return status_nomem(st);
    if (s->how->evaluations > 0) {
        uint64_t left =
            s->how->evaluations > s->evaluations ? s->how->evaluations - s->evaluations : 0;
        uint64_t each = left / jobs + 1;
        quota = each < quota ? each : quota;
    }
    int good = 1;
    for (size_t k = 0; k < jobs; k++) {
        job[k] = (search_job){ .s = s, .index = k, .quota = quota };
        streams_rng(&job[k].random, s->how->seed, STREAMS_SEARCH_JOBS, s->rounds << 16 | k);
        good &= (job[k].a = arena_new(0)) != NULL;
        good &= (job[k].tmp = arena_new(0)) != NULL;
    }
    s->rounds++;
    if (good) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->how->threads)
        for (size_t k = 0; k < jobs; k++) {
            run(&job[k], context);
            arena_free(job[k].tmp); /* what the job computed with: much, and of no more use */
            job[k].tmp = NULL;
        }
    }
    snip_code code = good ? take_in(s, job, jobs, st) : status_nomem(st);
    for (size_t k = 0; k < jobs; k++) {
        arena_free(job[k].a);
        arena_free(job[k].tmp);
    }
    arena_reset(s->a, mark);
    if (code == SNIP_OK)
        search_tell(s);
    return code;
}

/* ---- judging ---- */

/* Keeps what was judged until the round is over. */
static void keep(search_job *j, const search_entry *e)
{
    if (j->count == j->room) {
        size_t room = j->room ? 2 * j->room : 32;
        search_entry *more = arena_array(j->a, room, sizeof *more);
        if (!more) {
            j->no_memory = 1;
            return;
        }
        if (j->count)
            memcpy(more, j->found, j->count * sizeof *more);
        j->found = more;
        j->room = room;
    }
    j->found[j->count] = *e;
    if (e->e.count) {
        expr *to = &j->found[j->count].e;
        to->node = arena_copy(j->a, e->e.node, e->e.count * sizeof *e->e.node);
        if (!to->node) {
            j->no_memory = 1;
            return;
        }
    }
    j->count++;
}

static expr_node number(double v)
{
    return (expr_node){ .op = EXPR_NUMBER, .value = v, .len = 1 };
}

/* shift + factor * core over 1, without the parts that are 0 and 1. The division is gone in the
 * canonical structure; it asks for one as people write it, with divisions and powers. */
static expr affine(double shift, double factor, expr core, arena *a)
{
    expr out = { arena_array(a, core.count + 6, sizeof *out.node), 0 };
    if (!out.node)
        return out;
    out.node[out.count++] = (expr_node){ .op = EXPR_DIV };
    if (shift != 0) {
        out.node[out.count++] = (expr_node){ .op = EXPR_ADD };
        out.node[out.count++] = number(shift);
    }
    if (factor != 1) {
        out.node[out.count++] = (expr_node){ .op = EXPR_MUL };
        out.node[out.count++] = number(factor);
    }
    memcpy(out.node + out.count, core.node, core.count * sizeof *core.node);
    out.count += core.count;
    out.node[out.count] = number(1);
    out.node[out.count].fixed = 1;
    out.node[out.count++].integer = 1;
    expr_measure(out);
    return out;
}

/* The view's formula in the user's inputs. */
static expr lift(const search *s, const search_view *v, expr e, arena *a)
{
    expr inner = v->by ? expr_substitute(e, v->by, v->dim, a) : e;
    if (!v->outer.node || !inner.node)
        return inner;
    expr *by = arena_array(a, s->dim + 1, sizeof *by);
    expr_node *name = arena_array(a, s->dim, sizeof *name);
    if (!by || !name)
        return (expr){ NULL, 0 };
    for (size_t k = 0; k < s->dim; k++) {
        name[k] = (expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)k, .len = 1 };
        by[k] = (expr){ &name[k], 1 };
    }
    by[s->dim] = inner;
    return expr_substitute(v->outer, by, s->dim + 1, a);
}

/* Whether a formula has only operators that may be used. Negation, reciprocals and whole powers
 * come with the arithmetic that they are short for. */
static int may_use(const search *s, expr e)
{
    for (size_t i = 0; i < e.count; i++) {
        int op = e.node[i].op, good = 1;
        switch (op) {
        case EXPR_NUMBER:
        case EXPR_VARIABLE:
        case EXPR_PI:
        case EXPR_E:
            break;
        case EXPR_ADD:
        case EXPR_SUB:
        case EXPR_NEG:
            good = search_may(s, EXPR_ADD) || search_may(s, EXPR_SUB);
            break;
        case EXPR_MUL:
        case EXPR_POW2:
        case EXPR_POW3:
            good = search_may(s, EXPR_MUL) || search_may(s, EXPR_POW);
            break;
        case EXPR_DIV:
        case EXPR_INV:
            good = search_may(s, EXPR_DIV);
            break;
        default:
            good = search_may(s, (expr_op)op);
        }
        if (!good)
            return 0;
    }
    return 1;
}

/* 1 - r^2 of the values against y over rows [from, to), with the mean square about their mean
 * given. */
static double relative_loss(const search *s, const double *value, size_t from, size_t to,
                            double variance)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += search_weight(s, i) * (value[i] - s->y[i]) * (value[i] - s->y[i]);
    sum /= search_weights(s, from, to) * variance;
    return isfinite(sum) ? sum : INFINITY;
}

/* Least squares of y on [1, g] over the first rows; or on g alone. Returns the residual's mean
 * square. */
static double scale(const search *s, const double *g, size_t rows, double *shift, double *factor)
{
    const double *y = s->y;
    double mg = 0, my = 0, gg = 0, gy = 0, rest = 0, all = search_weights(s, 0, rows);
    for (size_t i = 0; i < rows; i++) {
        mg += search_weight(s, i) * g[i];
        my += search_weight(s, i) * y[i];
    }
    mg /= all;
    my /= all;
    for (size_t i = 0; i < rows; i++) {
        gg += search_weight(s, i) * (g[i] - mg) * (g[i] - mg);
        gy += search_weight(s, i) * (g[i] - mg) * (y[i] - my);
    }
    *factor = gg > 0 ? gy / gg : 0;
    *shift = my - *factor * mg;
    for (size_t i = 0; i < rows; i++) {
        double d = y[i] - *shift - *factor * g[i];
        rest += search_weight(s, i) * d * d;
    }
    return rest / all;
}

/* What is being judged. */
typedef struct judged {
    search_job *j;
    expr core;
    size_t inner;         /* free constants in the core */
    double shift, factor; /* a + b*core so far; `core` has its own constants so far */
    int with_shift;
    int starts;
} judged;

/* Fits all constants to the first `rows` training rows. Returns the loss there. */
static double fit(judged *q, size_t rows)
{
    search_job *j = q->j;
    const search *s = j->s;
    arena *a = j->tmp;
    search_count(j, 1 + rows / SEARCH_SOME);
    if (q->inner == 0) {
        double *g = arena_array(a, rows, sizeof *g);
        if (!g || expr_eval(q->core, (const double *const *)s->x, rows, g, a) != rows)
            return INFINITY;
        if (q->with_shift)
            return scale(s, g, rows, &q->shift, &q->factor) / s->variance[0];
        double gg = 0, gy = 0, rest = 0;
        for (size_t i = 0; i < rows; i++) {
            gg += search_weight(s, i) * g[i] * g[i];
            gy += search_weight(s, i) * g[i] * s->y[i];
        }
        q->factor = gg > 0 ? gy / gg : 0;
        q->shift = 0;
        for (size_t i = 0; i < rows; i++)
            rest +=
                search_weight(s, i) * (s->y[i] - q->factor * g[i]) * (s->y[i] - q->factor * g[i]);
        return rest / search_weights(s, 0, rows) / s->variance[0];
    }
    /* shift + factor * core as nodes, so that the fit knows both as numbers. */
    expr e = { arena_array(a, q->core.count + 4, sizeof *e.node), 0 }, fitted;
    if (!e.node)
        return INFINITY;
    if (q->with_shift) {
        e.node[e.count++] = (expr_node){ .op = EXPR_ADD };
        e.node[e.count++] = number(q->shift);
    }
    e.node[e.count++] = (expr_node){ .op = EXPR_MUL };
    e.node[e.count++] = number(q->factor);
    size_t before = e.count;
    memcpy(e.node + e.count, q->core.node, q->core.count * sizeof *e.node);
    e.count += q->core.count;
    expr_measure(e);
    size_t *node = arena_array(a, e.count, sizeof *node);
    size_t *first = arena_array(a, e.count + 1, sizeof *first);
    if (!node || !first)
        return INFINITY;
    const regress_fit_free all = {
        .node = node, .first = first, .count = expr_constants(e, node), .evaluations = 60
    };
    for (size_t k = 0; k <= all.count; k++)
        first[k] = k;
    regress_fit r;
    if (all.count >= rows ||
        regress_fit_values(&fitted, &r, e, &all, s->weight, (const double *const *)s->x, s->y, rows,
                           q->starts, s->how->seed, a, NULL) != SNIP_OK)
        return INFINITY;
    search_count(j, (uint64_t)r.evaluations * (1 + rows / SEARCH_SOME));
    if (q->with_shift)
        q->shift = fitted.node[1].value;
    q->factor = fitted.node[before - 1].value;
    q->core = (expr){ fitted.node + before, q->core.count };
    r.loss *= (double)rows / search_weights(s, 0, rows);
    return isfinite(r.loss) ? r.loss / s->variance[0] : INFINITY;
}

/* The judged family as an entry: canonical formula, losses, bits. Returns 0 if it is none. */
static int enter(judged *q, search_entry *out)
{
    search_job *j = q->j;
    const search *s = j->s;
    arena *a = j->tmp;
    size_t rows = s->rows[0] + s->rows[1];
    double size = sqrt(s->variance[0]), shift = q->with_shift ? q->shift : 0, factor = q->factor;
    if (fabs(shift) <= NEGLIGIBLE * size)
        shift = 0;
    if (fabs(factor - 1) <= NEGLIGIBLE)
        factor = 1;
    expr_form form;
    expr whole = affine(shift, factor, q->core, a);
    if (!whole.node || expr_canonical(&form, whole, a, NULL) != SNIP_OK ||
        form.e.count > s->max_size || !may_use(s, form.e))
        return 0;
    double *value = arena_array(a, rows, sizeof *value);
    search_count(j, 1 + rows / SEARCH_SOME);
    if (!value || expr_eval(form.e, (const double *const *)s->x, rows, value, a) != rows)
        return 0;
    out->e = form.e;
    out->size = form.e.count;
    size_t *node = arena_array(a, form.e.count, sizeof *node);
    out->constants = node ? expr_constants(form.e, node) : 0;
    out->loss[0] = relative_loss(s, value, 0, s->rows[0], s->variance[0]);
    out->loss[1] =
        s->rows[1] ? relative_loss(s, value, s->rows[0], rows, s->variance[1]) : out->loss[0];
    out->bits = search_length(s, form.e, out->loss[0], s->rows[0]);
    return out->loss[0] < INFINITY;
}

/* Whether the constants of a form that was judged before are better as they are than what the fit
 * of that time came to: it began elsewhere and may have ended in a worse place. */
static int starts_better(search_job *j, expr core, double known)
{
    const search *s = j->s;
    size_t rows = s->rows[0] < SEARCH_SOME ? s->rows[0] : SEARCH_SOME;
    double *g = arena_array(j->tmp, rows, sizeof *g), shift, factor;
    search_count(j, 1);
    return g && expr_eval(core, (const double *const *)s->x, rows, g, j->tmp) == rows &&
           scale(s, g, rows, &shift, &factor) / s->variance[0] < STARTS_BETTER * known;
}

/* The canonical form of a family a + b*e, e in the user's inputs. Returns 0 if there is none. */
static int family(expr_form *out, expr e, arena *a)
{
    if (!e.node || e.count > 4 * SEARCH_SIZE_MAX)
        return 0;
    e = affine(0.5, 2, e, a); /* any numbers: both are free */
    return e.node && expr_canonical(out, e, a, NULL) == SNIP_OK && out->core.count;
}

/* Copies the part of e at i without numbers that are factors, and without signs. */
static size_t copy_bare(expr_node *out, size_t n, expr e, size_t i)
{
    int op = e.node[i].op, arity = expr_ops[op].arity;
    size_t right = arity == 2 ? expr_child(e, i, 1) : i;
    if (op == EXPR_NEG || (op == EXPR_MUL && e.node[right].op == EXPR_NUMBER) ||
        (op == EXPR_DIV && e.node[right].op == EXPR_NUMBER))
        return copy_bare(out, n, e, i + 1);
    if (op == EXPR_MUL && e.node[i + 1].op == EXPR_NUMBER)
        return copy_bare(out, n, e, right);
    out[n++] = e.node[i];
    for (int k = 0; k < arity; k++)
        n = copy_bare(out, n, e, expr_child(e, i, k));
    return n;
}

/* The form of e with factors aside: cos(x) and 3*cos(-x/2) are one. */
static int bare_form(expr_form *out, expr e, arena *a)
{
    expr bare = { e.node ? arena_array(a, e.count, sizeof *bare.node) : NULL, 0 };
    if (!bare.node)
        return 0;
    bare.count = copy_bare(bare.node, 0, e, 0);
    expr_measure(bare);
    return family(out, bare, a);
}

int search_is_excepted(search_job *j, const search_view *v, expr e)
{
    const search_how *how = j->s->how;
    arena_pos mark = arena_mark(j->tmp);
    expr_form own, other;
    int same = 0;
    if (how->excepts && bare_form(&own, lift(j->s, v, e, j->tmp), j->tmp))
        for (size_t k = 0; k < how->excepts && !same; k++)
            same = bare_form(&other, how->except[k], j->tmp) && other.hash == own.hash;
    arena_reset(j->tmp, mark);
    return same;
}

/* See search_offer; everything but the result goes into j->tmp. */
static double judge(search_job *j, const search_view *v, expr e, int starts)
{
    const search *s = j->s;
    expr_form form;
    double known;
    if (!family(&form, lift(s, v, e, j->tmp), j->tmp))
        return INFINITY;
    size_t *node = arena_array(j->tmp, form.core.count, sizeof *node);
    if (!node)
        return INFINITY;
    if (search_archive_knows(s->archive, form.hash, &known) &&
        (expr_constants(form.core, node) == 0 || !starts_better(j, form.core, known)))
        return known;
    judged q = { .j = j,
                 .core = form.core,
                 .inner = expr_constants(form.core, node),
                 .with_shift = 1,
                 .starts = starts,
                 .factor = 1 };
    search_entry best = { .hash = form.hash, .stage = s->stage, .loss = { INFINITY, INFINITY } };
    size_t few = s->rows[0] < SEARCH_SOME ? s->rows[0] : SEARCH_SOME;
    size_t many = s->rows[0] < SEARCH_MANY ? s->rows[0] : SEARCH_MANY;
    double loss = form.core.count <= s->max_size ? fit(&q, few) : INFINITY;
    if (loss > WORTH_MORE_ROWS * search_archive_best(s->archive, form.core.count + 4)) {
        best.loss[0] = loss; /* remembered as judged; not kept, for it has no formula */
        best.size = SEARCH_SIZE_MAX + 1;
        keep(j, &best);
        return loss;
    }
    q.starts = 1;
    if (loss < INFINITY && (many > few || q.inner > 0))
        loss = fit(&q, many);
    search_entry entry = best, plain = best;
    int good = loss < INFINITY && enter(&q, &entry);
    judged without = q; /* the same without a shift */
    without.with_shift = 0;
    if (loss < INFINITY && fit(&without, many) < INFINITY && enter(&without, &plain)) {
        keep(j, &plain);
        if (!good || plain.bits <= entry.bits)
            return plain.loss[0];
    }
    if (!good) {
        best.size = SEARCH_SIZE_MAX + 1;
        keep(j, &best);
        return INFINITY;
    }
    keep(j, &entry);
    return entry.loss[0];
}

double search_offer_hard(search_job *j, const search_view *v, expr e, int starts)
{
    arena_pos mark = arena_mark(j->tmp);
    double loss = judge(j, v, e, starts);
    arena_reset(j->tmp, mark);
    return loss;
}

double search_offer(search_job *j, const search_view *v, expr e)
{
    return search_offer_hard(j, v, e, 2);
}

const search_entry *search_front(const search *s, size_t *count)
{
    return search_archive_front(s->archive, count);
}

const search_entry *search_kept(const search *s, size_t *count)
{
    return search_archive_kept(s->archive, count);
}

double search_best_loss(const search *s, size_t size)
{
    return search_archive_best(s->archive, size);
}
