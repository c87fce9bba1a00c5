/* rank.c - see rank.h. */
#include "regress/rank.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "regress/evidence.h"

enum { STARTS = 4, BATCH = 1024 }; /* of a fit; formulas that are in memory as words at a time */

const char *const regress_order_names[REGRESS_ORDERS + 1] = { "similarity", "loss", "balance",
                                                              NULL };

double regress_judged(const regress_errors *e, const regress_problem *p)
{
    int part = p->rows > p->train;
    double loss = e->loss[part], least = 1e-20 * p->variance[0];
    if (isnan(loss) || isnan(e->loss[0]))
        return INFINITY;
    return fmax(isnan(e->cross) ? loss : e->cross, least);
}

/* The tables that formulas are held against, one for each set of inputs met: as it is in the exact
 * view, and both ways up among forms. */
typedef struct table_vector {
    regress_inputs inputs;
    float *z; /* one row, or two */
    struct table_vector *next;
} table_vector;

static snip_code table_of(const float **out, table_vector **all, regress_inputs inputs,
                          const regress_problem *p, int given, model_space *space, arena *a,
                          snip_status *st)
{
    for (const table_vector *v = *all; v; v = v->next)
        if (v->inputs == inputs) {
            *out = v->z;
            return SNIP_OK;
        }
    table_vector *v = arena_alloc(a, sizeof *v);
    size_t latent = space->latent;
    float *z = arena_array(a, 2 * latent, sizeof *z);
    if (!v || !z)
        return status_nomem(st);
    *v = (table_vector){ inputs, z, *all };
    *all = v;
    *out = z;
    if (!space->m->config.forms || given)
        return regress_problem_embed(p, inputs, given ? REGRESS_SCALED : REGRESS_EXACT, space, z,
                                     st);
    snip_code code = regress_problem_embed(p, inputs, REGRESS_FORM, space, z, st);
    return code == SNIP_OK
               ? regress_problem_embed(p, inputs, REGRESS_FORM_TURNED, space, z + latent, st)
               : code;
}

/* `given`: with the constants that it has. Many parameters: those of regress_words, and that. */
static snip_code words_of(model_words *out, expr e, regress_inputs inputs, const regress_problem *p,
                          int given, const model_opened *t, arena *a, arena *tmp, snip_status *st)
{
    arena_pos mark = arena_mark(tmp);
    int forms = t->m->config.forms && !given;
    const model_words_how how = model_reads(t, forms ? MODEL_CORE : MODEL_EXACT, NULL);
    expr read = { 0 };
    snip_code code;
    if (forms) {
        expr_form form = { .hash = 0 };
        code = regress_problem_form(&form, e, inputs, p, tmp, st);
        if (code == SNIP_OK && form.core.count == 0)
            code = status_fail(st, SNIP_UNSUPPORTED, 0, "a constant has no form");
        read = form.core;
    } else {
        code = given ? regress_problem_scaled(&read, e, inputs, p, tmp, st)
                     : regress_problem_rewrite(&read, e, inputs, p, tmp, st);
    }
    if (code == SNIP_OK)
        code = model_words_make(out, read, &how, a, tmp, st);
    if (code == SNIP_OK &&
        !(out->e.node = arena_copy(a, read.node, read.count * sizeof *read.node)))
        code = status_nomem(st);
    arena_reset(tmp, mark);
    return code;
}

snip_code regress_words(model_words *out, expr e, regress_inputs inputs, const regress_problem *p,
                        const model_opened *t, arena *a, arena *tmp, snip_status *st)
{
    return words_of(out, e, inputs, p, 0, t, a, tmp, st);
}

regress_inputs regress_inputs_held(expr e, const regress_problem *p, regress_inputs matter,
                                   const model_opened *t)
{
    regress_inputs inputs = regress_inputs_of(e, p), more = inputs | matter;
    return __builtin_popcount(more) <= t->m->config.dims ? more : inputs;
}

/* A formula on its way to a cosine. */
typedef struct comparand {
    regress_inputs inputs;
    model_words words;
    snip_status why; /* SNIP_OK where there are words */
} comparand;

/* What regress_similarities works with. */
typedef struct comparison {
    const regress_problem *p;
    const model_opened *t;
    int threads;
    int given;          /* formulas have the constants that they have, whatever the model reads */
    model_space *space; /* for all formulas and tables */
    regress_inputs matter; /* inputs that every formula is held against, beside its own */
    table_vector *tables;
    arena *keep;          /* tables, and what a batch is listed in */
    arena **batch, **tmp; /* per thread: the words of a batch; scratch */
} comparison;

/* The words of n formulas. Each is one thread's, so they do not depend on the number of threads. */
static void read_all(comparand *k, const expr *e, size_t n, const comparison *c)
{
#pragma omp parallel for schedule(dynamic, 8) num_threads(c->threads)
    for (size_t i = 0; i < n; i++) {
        int t = omp_get_thread_num();
        k[i].inputs = regress_inputs_held(e[i], c->p, c->matter, c->t);
        k[i].why.code = words_of(&k[i].words, e[i], k[i].inputs, c->p, c->given, c->t, c->batch[t],
                                 c->tmp[t], &k[i].why);
    }
}

/* A few of the formulas. */
static snip_code compare_batch(regress_nearness *out, const expr *e, size_t n, comparison *c,
                               arena *a, snip_status *st)
{
    size_t latent = c->space->latent, count = 0;
    for (int t = 0; t < c->threads; t++)
        arena_reset(c->batch[t], 0);
    arena *list = c->batch[0];
    comparand *k = arena_array(list, n, sizeof *k);
    model_item *item = arena_array(list, n, sizeof *item);
    const float **table = arena_array(list, n, sizeof *table);
    float *rows = arena_array(list, n * latent, sizeof *rows);
    if (!k || !item || !table || !rows)
        return status_nomem(st);
    read_all(k, e, n, c);
    snip_code code = SNIP_OK;
    for (size_t i = 0; i < n && code == SNIP_OK; i++) {
        const char *reason = k[i].why.msg;
        out[i] = (regress_nearness){ .similarity = NAN };
        if (k[i].why.code == SNIP_OK) {
            item[count] = (model_item){ .words = &k[i].words, .node = MODEL_WHOLE };
            code = table_of(&table[count++], &c->tables, k[i].inputs, c->p, c->given, c->space,
                            c->keep, st);
        } else if (k[i].why.code == SNIP_NOMEM ||
                   !(out[i].why = arena_text(a, reason, strlen(reason)))) {
            code = status_nomem(st);
        }
    }
    if (code == SNIP_OK && count)
        code = model_space_embed(c->space, item, count, rows, NULL, st);
    for (size_t i = 0, r = 0; i < n && code == SNIP_OK; i++) {
        if (k[i].why.code != SNIP_OK)
            continue;
        const float *row = rows + r * latent, *to = table[r++];
        out[i].similarity = model_nearer(row, &to, c->t->m->config.forms && !c->given, latent);
        out[i].form = arena_copy(a, row, latent * sizeof *row);
        out[i].table = arena_copy(a, to, latent * sizeof *to);
        if (!out[i].form || !out[i].table)
            code = status_nomem(st);
    }
    return code;
}

static void arenas_free(arena **a, int n)
{
    for (int t = 0; t < n && a; t++)
        arena_free(a[t]);
    free(a);
}

/* An arena for each of n threads; NULL, after freeing what there was, when memory is out. */
static arena **arenas_new(int n)
{
    arena **a = calloc((size_t)n, sizeof *a);
    for (int t = 0; t < n && a; t++)
        if (!(a[t] = arena_new(0))) {
            arenas_free(a, n);
            return NULL;
        }
    return a;
}

/* Many parameters: those of regress_similarities. */
static snip_code similarities(regress_nearness *out, const expr *e, size_t n,
                              const regress_problem *p, int given, const model_opened *t,
                              int threads, arena *a, snip_status *st)
{
    comparison c = { .p = p, .t = t, .threads = threads > 0 ? threads : 1, .given = given };
    c.matter = regress_inputs_that_matter(p);
    c.space = model_space_new(t->m, t->tree, c.threads);
    c.keep = arena_new(0);
    c.batch = arenas_new(c.threads);
    c.tmp = arenas_new(c.threads);
    snip_code code = c.space && c.keep && c.batch && c.tmp ? SNIP_OK : status_nomem(st);
    for (size_t i = 0; i < n && code == SNIP_OK; i += BATCH)
        code = compare_batch(out + i, e + i, n - i < BATCH ? n - i : BATCH, &c, a, st);
    model_space_free(c.space);
    arena_free(c.keep);
    arenas_free(c.batch, c.threads);
    arenas_free(c.tmp, c.threads);
    return code;
}

snip_code regress_similarities(regress_nearness *out, const expr *e, size_t n,
                               const regress_problem *p, const model_opened *t, int threads,
                               arena *a, snip_status *st)
{
    return similarities(out, e, n, p, 0, t, threads, a, st);
}

snip_code regress_similarities_given(regress_nearness *out, const expr *e, size_t n,
                                     const regress_problem *p, const model_opened *t, int threads,
                                     arena *a, snip_status *st)
{
    return similarities(out, e, n, p, t->m->config.forms, t, threads, a, st);
}

/* How many constants of e can be fitted. Returns 0 when memory is out. */
static int count_constants(size_t *out, expr e, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t *node = arena_array(tmp, e.count, sizeof *node);
    *out = node ? expr_constants(e, node) : 0;
    arena_reset(tmp, mark);
    return node != NULL;
}

/* The rows to fit n constants on: fewer where there are very many, since rows are in random order.
 */
static size_t rows_to_fit(size_t n, const regress_problem *p)
{
    size_t most = REGRESS_FIT_JACOBIAN_MAX / (n ? n : 1);
    return p->fit < most ? p->fit : most;
}

/* Whether e may lose a term that is there to be fitted: 0*x is nothing until it is. */
static int has_zero(expr e)
{
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_NUMBER && e.node[i].value == 0)
            return 1;
    return 0;
}

/* A copy of e whose constants have values without any relation to each other. */
static expr generic(expr e, arena *a)
{
    const double golden = 0.6180339887498949;
    expr out = { arena_copy(a, e.node, e.count * sizeof *e.node), e.count };
    size_t *node = arena_array(a, e.count, sizeof *node);
    if (!out.node || !node)
        return (expr){ 0 };
    size_t n = expr_constants(e, node);
    for (size_t k = 0; k < n; k++)
        out.node[node[k]].value *= 1 + 0.1 * fmod((double)(k + 1) * golden, 1);
    return out;
}

snip_code regress_canonical(expr *out, size_t *constants, expr e, arena *a, snip_status *st)
{
    expr_form form;
    snip_code code = expr_canonical(&form, e, a, st);
    *out = code == SNIP_OK ? form.e : e;
    if (code == SNIP_NOMEM)
        return code;
    return count_constants(constants, *out, a) ? SNIP_OK : status_nomem(st);
}

/* Whether the form has all inputs that e has; it has no others. */
static int same_inputs(expr form, expr e)
{
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_VARIABLE && !expr_uses(form, e.node[i].var))
            return 0;
    return 1;
}

/* The structure to fit: e's own, or its canonical one if that has fewer constants. With one too
 * many the minimum is a valley, in which constants run away. Terms that are equal only as they were
 * given, like two decays that begin at the same rate, must not be joined: so the constants must be
 * as many for other values. */
static snip_code structure(expr *out, expr e, arena *a, snip_status *st)
{
    size_t own, fewer, others;
    expr form, other;
    *out = e;
    if (!count_constants(&own, e, a))
        return status_nomem(st);
    if (own < 2 || own > REGRESS_FIT_CONSTANTS_MAX || has_zero(e))
        return SNIP_OK;
    snip_code code = regress_canonical(&form, &fewer, e, a, st);
    if (code != SNIP_OK || fewer >= own || !same_inputs(form, e))
        return code;
    if (!(other = generic(e, a)).node)
        return status_nomem(st);
    code = regress_canonical(&other, &others, other, a, st);
    if (code == SNIP_OK && others == fewer)
        *out = form;
    return code;
}

/* The answer: the constants of all rows, from those of the training rows on. As many rows as the
 * fit takes; they are in random order. */
static snip_code finish(regress_candidate *c, const regress_problem *p, regress_fit_pace pace,
                        arena *keep, snip_status *st)
{
    size_t most = c->constants ? REGRESS_FIT_JACOBIAN_MAX / c->constants : 0;
    size_t rows = p->rows < most ? p->rows : most;
    regress_fit fit;
    c->fitted = c->trained;
    if (rows <= c->fitted_rows || !isfinite(regress_judged(&c->errors, p)))
        return SNIP_OK;
    const regress_fit_how how = { .starts = 1, .seed = p->seed, .pace = pace };
    return regress_fit_weighted(&c->fitted, &fit, c->trained, p->weight,
                                (const double *const *)p->x, p->y, rows, &how, keep, st);
}

/* Fits `e`, a structure of the candidate's formula, and judges it. */
static snip_code refit(regress_candidate *c, expr e, const regress_problem *p,
                       const regress_rank_how *how, arena *keep, snip_status *st)
{
    regress_fit fit = { 0 };
    int starts = how->starts ? how->starts : STARTS;
    size_t n;
    if (!count_constants(&n, e, keep))
        return status_nomem(st);
    size_t rows = rows_to_fit(n, p);
    c->trained = e;
    const regress_fit_how main = {
        .starts = starts, .seed = p->seed, .pace = how->pace, .wide = 1
    };
    snip_code code =
        n ? regress_fit_weighted(&c->trained, &fit, e, p->weight, (const double *const *)p->x, p->y,
                                 rows, &main, keep, st)
          : SNIP_OK;
    if (code == SNIP_UNSUPPORTED) { /* too much to fit: judged as given */
        c->trained = c->e;
        fit = (regress_fit){ 0 };
    } else if (code != SNIP_OK)
        return code;
    c->constants = fit.constants;
    c->fitted_rows = fit.constants ? rows : 0;
    c->errors = c->given; /* known where nothing was fitted */
    if (c->trained.node != c->e.node && !regress_problem_errors(&c->errors, c->trained, p, keep))
        return status_nomem(st);
    /* With few rows one split is a matter of luck. From the given constants: they know no row. */
    if (p->rows < REGRESS_FEW_ROWS &&
        !regress_cross_validate(&c->errors.cross, e, p, p->rows, how->parts ? how->parts : starts,
                                keep))
        return status_nomem(st);
    if (isinf(c->errors.cross))
        c->errors.cross = DBL_MAX; /* finite on the table, but not with the constants of a part */
    return SNIP_OK;
}

/* Fits and measures one candidate; what it makes lives in `keep`. */
static snip_code judge(regress_candidate *c, const regress_problem *p, const regress_rank_how *how,
                       arena *keep, snip_status *st)
{
    c->fitted = c->trained = c->e;
    c->similarity = c->promise = NAN;
    c->why = NULL;
    c->constants = c->fitted_rows = 0;
    if (!regress_problem_errors(&c->given, c->e, p, keep))
        return status_nomem(st);
    c->errors = c->given;
    if (how->refit) {
        expr e;
        snip_code code = structure(&e, c->e, keep, st);
        if (code == SNIP_OK)
            code = refit(c, e, p, how, keep, st);
        /* Where rounding made another function of it, the given structure stays. */
        const double slack = 1e-9, least = 1e-20 * p->variance[0];
        if (code == SNIP_OK && e.node != c->e.node && !isnan(c->given.loss[0]) &&
            !(c->errors.loss[0] <= c->given.loss[0] * (1 + slack) + least))
            code = refit(c, c->e, p, how, keep, st);
        if (code == SNIP_OK)
            code = finish(c, p, how->pace, keep, st);
        if (code != SNIP_OK)
            return code;
    }
    if (!c->fitted_rows && !count_constants(&c->constants, c->e, keep))
        return status_nomem(st);
    c->complexity = c->fitted.count;
    c->size = expr_sympy_size(c->fitted);
    return SNIP_OK;
}

/* All candidates, in parallel; each is fitted by one thread, so that the result is the same with
 * any number of them. Trees are copied into `a` in the end. */
static snip_code judge_all(regress_candidate *c, size_t n, const regress_problem *p,
                           const regress_rank_how *how, arena *a, snip_status *st)
{
    int threads = how->threads > 0 ? how->threads : 1;
    arena **keep = arenas_new(threads);
    snip_status failed = { 0 };
    if (!keep)
        status_nomem(&failed);
    else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (size_t i = 0; i < n; i++) {
            snip_status own;
            if (judge(&c[i], p, how, keep[omp_get_thread_num()], &own) != SNIP_OK)
#pragma omp critical(regress_rank_failed)
                failed = own;
        }
    }
    for (size_t i = 0; i < n && failed.code == SNIP_OK; i++) {
        expr *e[] = { &c[i].fitted, &c[i].trained };
        for (int k = 0; k < 2; k++)
            if (!(e[k]->node = arena_copy(a, e[k]->node, e[k]->count * sizeof(expr_node))))
                status_nomem(&failed);
    }
    arenas_free(keep, threads);
    if (failed.code != SNIP_OK && st)
        *st = failed;
    return failed.code;
}

/* What the candidate promises: its values as given, beside the vectors of its fitted structure,
 * whose constants a form hides. */
static snip_code promise_of(regress_candidate *c, const regress_nearness *near,
                            const regress_problem *p, const model_opened *t, arena *tmp,
                            snip_status *st)
{
    arena_pos mark = arena_mark(tmp);
    double *v = arena_array(tmp, p->rows, sizeof *v);
    expr_form form = { .core = c->e }; /* a formula without a form is as large as it is */
    if (!v || expr_canonical(&form, c->e, tmp, st) == SNIP_NOMEM ||
        expr_eval(c->e, (const double *const *)p->x, p->rows, v, tmp) == (size_t)-1)
        return status_nomem(st);
    expr core = form.core.count ? form.core : c->e;
    model_promise_facts f = { .similarity = near->similarity,
                              .correlation = fabs(numbers_correlation(v, p->y, p->rows)),
                              .nodes = core.count,
                              .form = near->form,
                              .table = near->table };
    if (!count_constants(&f.constants, core, tmp))
        return status_nomem(st);
    c->promise = model_promise_value(&t->promise, &f);
    arena_reset(tmp, mark);
    return SNIP_OK;
}

static snip_code compare(regress_candidate *c, size_t n, const regress_problem *p,
                         const model_opened *t, int threads, arena *a, snip_status *st)
{
    regress_nearness *near = arena_array(a, n, sizeof *near);
    expr *e = arena_array(a, n, sizeof *e);
    if (!near || !e)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++)
        e[i] = c[i].fitted;
    snip_code code = regress_similarities(near, e, n, p, t, threads, a, st);
    for (size_t i = 0; i < n && code == SNIP_OK; i++) {
        if (!isfinite(regress_judged(&c[i].errors, p)))
            near[i] = (regress_nearness){ .similarity = NAN,
                                          .why = "it has no finite value in some row" };
        c[i].similarity = near[i].similarity;
        c[i].why = near[i].why;
        if (model_promise_known(&t->promise))
            code = promise_of(&c[i], &near[i], p, t, a, st);
    }
    return code;
}

/* What qsort compares: smaller is better, place decides where all is equal. */
typedef struct sort_key {
    double key[3];
    regress_candidate c;
} sort_key;

static int by_key(const void *left, const void *right)
{
    const sort_key *a = left, *b = right;
    for (int k = 0; k < 3; k++)
        if (a->key[k] != b->key[k])
            return a->key[k] < b->key[k] ? -1 : 1;
    return a->c.place < b->c.place ? -1 : a->c.place > b->c.place;
}

int regress_saturated(const regress_candidate *c)
{
    return c->fitted_rows > 0 && c->constants >= c->fitted_rows;
}

/* The loss, unless it says nothing. */
static double adjusted(const regress_candidate *c, const regress_problem *p)
{
    return regress_saturated(c) ? INFINITY : regress_judged(&c->errors, p);
}

/* `share` of the rows is behind the errors (regress_rows_behind). */
static void set_key(sort_key *s, const regress_problem *p, double share, int order)
{
    const regress_candidate *c = &s->c;
    double loss = regress_judged(&c->errors, p);
    double balance = share * (double)p->train * log(adjusted(c, p) / p->variance[0]) +
                     (double)c->complexity * log((double)p->train);
    s->key[0] = order == REGRESS_BY_SIMILARITY ? (isnan(c->similarity) ? 2 : -c->similarity)
                : order == REGRESS_BY_LOSS     ? loss
                                               : balance;
    s->key[1] = loss;
    s->key[2] = (double)c->complexity;
}

static void sort(sort_key *s, size_t n, const regress_problem *p, int order, arena *tmp)
{
    double share = 1;
    if (n > 0 && order == REGRESS_BY_BALANCE) {
        size_t best = 0;
        for (size_t i = 1; i < n; i++)
            if (adjusted(&s[i].c, p) < adjusted(&s[best].c, p))
                best = i;
        share = regress_rows_behind(s[best].c.trained, p, tmp) / (double)p->rows;
    }
    for (size_t i = 0; i < n; i++)
        set_key(&s[i], p, share, order);
    qsort(s, n, sizeof *s, by_key);
}

/* Marks the front among s, sorted by loss, best first. */
static void mark_front(sort_key *s, size_t n, const regress_problem *p)
{
    size_t simplest = (size_t)-1;
    for (size_t i = 0; i < n; i++) {
        regress_candidate *c = &s[i].c;
        c->front = isfinite(regress_judged(&c->errors, p)) && c->complexity < simplest;
        c->score = NAN;
        if (c->front)
            simplest = c->complexity;
    }
    /* From the simplest one on: what each added node brought. */
    const regress_candidate *before = NULL;
    for (size_t i = n; i-- > 0;) {
        regress_candidate *c = &s[i].c;
        if (!c->front)
            continue;
        c->score = before
                       ? log(regress_judged(&before->errors, p) / regress_judged(&c->errors, p)) /
                             (double)(c->complexity - before->complexity)
                       : 0;
        before = c;
    }
}

/* Roots that are written as such are part of the formulas. Returns 0 when memory is out. */
static int fix_quotients(regress_candidate *c, size_t n, arena *a)
{
    for (size_t i = 0; i < n; i++) {
        expr *e = &c[i].e;
        if (!(e->node = arena_copy(a, e->node, e->count * sizeof *e->node)))
            return 0;
        expr_fix_quotients(*e);
    }
    return 1;
}

snip_code regress_rank(regress_candidate *c, size_t n, const regress_problem *p,
                       const model_opened *t, const regress_rank_how *how, arena *a,
                       snip_status *st)
{
    sort_key *s = arena_array(a, n, sizeof *s);
    snip_code code =
        s && fix_quotients(c, n, a) ? judge_all(c, n, p, how, a, st) : status_nomem(st);
    if (code == SNIP_OK && t)
        code = compare(c, n, p, t, how->threads, a, st);
    for (size_t i = 0; i < n && code == SNIP_OK && how->spell; i++)
        if (c[i].fitted_rows && !(c[i].fitted = expr_spell(c[i].fitted, a)).node)
            code = status_nomem(st);
    if (code != SNIP_OK)
        return code;
    for (size_t i = 0; i < n; i++)
        s[i].c = c[i];
    sort(s, n, p, REGRESS_BY_LOSS, a);
    mark_front(s, n, p);
    sort(s, n, p, t || how->order != REGRESS_BY_SIMILARITY ? how->order : REGRESS_BY_LOSS, a);
    for (size_t i = 0; i < n; i++)
        c[i] = s[i].c;
    return SNIP_OK;
}

/* Whether losses are the same to 1 %. */
static int same_losses(const regress_errors *a, const regress_errors *b, const regress_problem *p)
{
    const double part = 0.01, least = 1e-16 * p->variance[0];
    for (int k = 0; k < 2; k++) {
        if (isnan(a->loss[k]) != isnan(b->loss[k]))
            return 0;
        double one = fmax(a->loss[k], least), other = fmax(b->loss[k], least);
        if (fabs(one - other) > part * one)
            return 0;
    }
    return 1;
}

char *regress_shown(const regress_candidate *c, snip_format format, const regress_problem *p,
                    int *digits, arena *a)
{
    enum { FEWEST = 3, USUAL = 5, ALL = 17 };
    regress_errors own;
    if (!regress_problem_errors(&own, c->fitted, p, a))
        return NULL;
    if (!isfinite(own.loss[0])) { /* nothing to hold on to */
        *digits = USUAL;
        return expr_print(c->fitted, format, &p->names, USUAL, a);
    }
    for (*digits = FEWEST; *digits < ALL; ++*digits) {
        arena_pos mark = arena_mark(a);
        char *text = expr_print(c->fitted, format, &p->names, *digits, a);
        expr back;
        regress_errors errors;
        snip_code code = text ? expr_parse(&back, text, &p->names, a, NULL) : SNIP_NOMEM;
        if (code == SNIP_OK && !regress_problem_errors(&errors, back, p, a))
            code = SNIP_NOMEM;
        if (code == SNIP_NOMEM)
            return NULL;
        if (code == SNIP_OK && same_losses(&own, &errors, p))
            return text;
        arena_reset(a, mark);
    }
    return expr_print(c->fitted, format, &p->names, 0, a);
}
