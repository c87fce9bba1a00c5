/* rank.c - see rank.h. */
#include "tools/rank.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "data/tokens.h"
#include "tools/fit.h"

enum { STARTS = 3 };

const char *const tools_order_names[TOOLS_ORDERS + 1] = { "similarity", "loss", "balance", NULL };

double tools_judged(const tools_errors *e, const tools_problem *p)
{
    int part = p->rows > p->train;
    double loss = e->loss[part], least = 1e-20 * p->variance[0];
    return isnan(loss) || isnan(e->loss[0]) ? INFINITY : fmax(loss, least);
}

/* The tables that formulas are held against, one for each set of inputs met. */
typedef struct tables {
    tools_inputs *inputs;
    float *z; /* a row each */
    size_t count;
} tables;

static snip_code table_of(size_t *out, tables *all, tools_inputs inputs, const tools_problem *p,
                          const tools_model *t, int threads, snip_status *st)
{
    for (*out = 0; *out < all->count; ++*out)
        if (all->inputs[*out] == inputs)
            return SNIP_OK;
    all->inputs[all->count] = inputs;
    float *z = all->z + all->count++ * (size_t)t->m->config.latent;
    return tools_problem_embed(p, inputs, t, threads, z, st);
}

/* A formula in the model's words, or why it is none. */
static snip_code in_words(expr *out, expr e, tools_inputs inputs, const tools_problem *p,
                          const tools_model *t, arena *a, snip_status *st)
{
    data_tokens tokens;
    snip_code code = tools_problem_rewrite(out, e, inputs, p, a, st);
    return code == SNIP_OK ? data_tokens_make(&tokens, *out, t->m->vocab, a, st) : code;
}

snip_code tools_similarities(double *out, const char **why, const expr *e, size_t n,
                             const tools_problem *p, const tools_model *t, int threads, arena *a,
                             snip_status *st)
{
    size_t latent = (size_t)t->m->config.latent, count = 0;
    model_space *s = model_space_new(t->m, t->tree, threads);
    arena *own = arena_new(0);
    model_item *item = own ? arena_array(own, n, sizeof *item) : NULL;
    size_t *from = own ? arena_array(own, n, sizeof *from) : NULL;
    size_t *table = own ? arena_array(own, n, sizeof *table) : NULL;
    float *rows = own ? arena_array(own, n * latent, sizeof *rows) : NULL;
    tables all = { own ? arena_array(own, n, sizeof *all.inputs) : NULL,
                   own ? arena_array(own, n * latent, sizeof *all.z) : NULL, 0 };
    snip_code code =
        s && item && from && table && rows && all.inputs && all.z ? SNIP_OK : status_nomem(st);
    for (size_t i = 0; i < n && code == SNIP_OK; i++) {
        snip_status reason;
        expr words;
        tools_inputs inputs = tools_inputs_of(e[i], p);
        out[i] = NAN;
        snip_code fits = in_words(&words, e[i], inputs, p, t, own, &reason);
        if (fits == SNIP_OK) {
            from[count] = i;
            item[count] = (model_item){ .e = words, .node = MODEL_WHOLE };
            code = table_of(&table[count++], &all, inputs, p, t, threads, st);
        } else if (fits == SNIP_NOMEM ||
                   !(why[i] = arena_text(a, reason.msg, strlen(reason.msg)))) {
            code = status_nomem(st);
        }
    }
    if (code == SNIP_OK && count)
        code = model_space_embed(s, item, count, rows, NULL, st);
    for (size_t k = 0; k < count && code == SNIP_OK; k++)
        out[from[k]] = model_dot(rows + k * latent, all.z + table[k] * latent, latent);
    model_space_free(s);
    arena_free(own);
    return code;
}

/* Fits and measures one candidate; what it makes lives in `keep`. */
static snip_code judge(tools_candidate *c, const tools_problem *p, const tools_rank_how *how,
                       arena *keep, snip_status *st)
{
    tools_fit fit = { 0 };
    c->fitted = c->e;
    c->similarity = NAN;
    c->why = NULL;
    if (how->refit) {
        snip_code code =
            tools_fit_constants(&c->fitted, &fit, c->e, (const double *const *)p->x, p->y, p->fit,
                                how->starts ? how->starts : STARTS, p->seed, keep, st);
        if (code == SNIP_UNSUPPORTED) /* too much to fit: judged as given */
            c->fitted = c->e;
        else if (code != SNIP_OK)
            return code;
    }
    c->constants = fit.constants;
    c->complexity = c->fitted.count;
    c->size = expr_sympy_size(c->fitted);
    return tools_problem_errors(&c->given, c->e, p, keep) &&
                   tools_problem_errors(&c->errors, c->fitted, p, keep)
               ? SNIP_OK
               : status_nomem(st);
}

/* All candidates, in parallel; each is fitted by one thread, so that the result is the same with
 * any number of them. Trees are copied into `a` in the end. */
static snip_code judge_all(tools_candidate *c, size_t n, const tools_problem *p,
                           const tools_rank_how *how, arena *a, snip_status *st)
{
    int threads = how->threads > 0 ? how->threads : 1;
    arena **keep = calloc((size_t)threads, sizeof *keep);
    snip_code code = keep ? SNIP_OK : SNIP_NOMEM;
    for (int k = 0; k < threads && keep; k++)
        if (!(keep[k] = arena_new(0)))
            code = SNIP_NOMEM;
    snip_status failed = { 0 };
    if (code == SNIP_NOMEM)
        status_nomem(&failed);
    else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (size_t i = 0; i < n; i++) {
            snip_status own;
            if (judge(&c[i], p, how, keep[omp_get_thread_num()], &own) != SNIP_OK)
#pragma omp critical(tools_rank_failed)
                failed = own;
        }
    }
    for (size_t i = 0; i < n && failed.code == SNIP_OK; i++) {
        c[i].fitted.node = arena_copy(a, c[i].fitted.node, c[i].fitted.count * sizeof(expr_node));
        if (!c[i].fitted.node)
            status_nomem(&failed);
    }
    for (int k = 0; k < threads && keep; k++)
        arena_free(keep[k]);
    free(keep);
    if (failed.code != SNIP_OK && st)
        *st = failed;
    return failed.code;
}

static snip_code compare(tools_candidate *c, size_t n, const tools_problem *p, const tools_model *t,
                         int threads, arena *a, snip_status *st)
{
    double *similarity = arena_array(a, n, sizeof *similarity);
    const char **why = arena_zero(a, n * sizeof *why);
    expr *e = arena_array(a, n, sizeof *e);
    if (!similarity || !why || !e)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++)
        e[i] = c[i].fitted;
    snip_code code = tools_similarities(similarity, why, e, n, p, t, threads, a, st);
    for (size_t i = 0; i < n && code == SNIP_OK; i++) {
        int finite = isfinite(tools_judged(&c[i].errors, p));
        c[i].similarity = finite ? similarity[i] : NAN;
        c[i].why = finite ? why[i] : "it has no finite value in some row";
    }
    return code;
}

/* What qsort compares: smaller is better, place decides where all is equal. */
typedef struct sort_key {
    double key[3];
    tools_candidate c;
} sort_key;

static int by_key(const void *left, const void *right)
{
    const sort_key *a = left, *b = right;
    for (int k = 0; k < 3; k++)
        if (a->key[k] != b->key[k])
            return a->key[k] < b->key[k] ? -1 : 1;
    return a->c.place < b->c.place ? -1 : a->c.place > b->c.place;
}

static void set_key(sort_key *s, const tools_problem *p, int order)
{
    const tools_candidate *c = &s->c;
    double loss = tools_judged(&c->errors, p);
    double balance = (double)p->train * log(loss / p->variance[0]) +
                     (double)c->complexity * log((double)p->train);
    s->key[0] = order == TOOLS_BY_SIMILARITY ? (isnan(c->similarity) ? 2 : -c->similarity)
                : order == TOOLS_BY_LOSS     ? loss
                                             : balance;
    s->key[1] = loss;
    s->key[2] = (double)c->complexity;
}

static void sort(sort_key *s, size_t n, const tools_problem *p, int order)
{
    for (size_t i = 0; i < n; i++)
        set_key(&s[i], p, order);
    qsort(s, n, sizeof *s, by_key);
}

/* Marks the front among s, sorted by loss, best first. */
static void mark_front(sort_key *s, size_t n, const tools_problem *p)
{
    size_t simplest = (size_t)-1;
    for (size_t i = 0; i < n; i++) {
        tools_candidate *c = &s[i].c;
        c->front = isfinite(tools_judged(&c->errors, p)) && c->complexity < simplest;
        c->score = NAN;
        if (c->front)
            simplest = c->complexity;
    }
    /* From the simplest one on: what each added node brought. */
    const tools_candidate *before = NULL;
    for (size_t i = n; i-- > 0;) {
        tools_candidate *c = &s[i].c;
        if (!c->front)
            continue;
        c->score = before ? log(tools_judged(&before->errors, p) / tools_judged(&c->errors, p)) /
                                (double)(c->complexity - before->complexity)
                          : 0;
        before = c;
    }
}

snip_code tools_rank(tools_candidate *c, size_t n, const tools_problem *p, const tools_model *t,
                     const tools_rank_how *how, arena *a, snip_status *st)
{
    sort_key *s = arena_array(a, n, sizeof *s);
    snip_code code = s ? judge_all(c, n, p, how, a, st) : status_nomem(st);
    if (code == SNIP_OK && t)
        code = compare(c, n, p, t, how->threads, a, st);
    if (code != SNIP_OK)
        return code;
    for (size_t i = 0; i < n; i++)
        s[i].c = c[i];
    sort(s, n, p, TOOLS_BY_LOSS);
    mark_front(s, n, p);
    sort(s, n, p, t || how->order != TOOLS_BY_SIMILARITY ? how->order : TOOLS_BY_LOSS);
    for (size_t i = 0; i < n; i++)
        c[i] = s[i].c;
    return SNIP_OK;
}
