/* forms_library.c - forms looked up in a library for a table, then refitted; see forms.h.
 *
 * A form of the library is a function of standardised inputs x0, x1, ..., those that go with y most
 * closely first, as `snip find` reads tables. Only forms with as many inputs as the table compete.
 */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "eval/forms.h"

enum {
    BATCH = 512,
    POINTS = 64,   /* of the samples that forms come from */
    PROBLEMS = 40, /* tables that forms are looked up for; each in one of the conditions */
    STARTS = 2,
    CONSTANTS = 10, /* of a form: with more of them it fits any thirty rows, and takes seconds */
    CUTS = 3,
    MOST = 50
};
static const size_t cuts[CUTS] = { 5, 20, MOST };

/* The ways to choose: the scores, and similarities of other forms' vectors. */
enum { SHUFFLED = FORMS_CONSTANTS, WAYS = FORMS_SCORES }; /* most constants first is no way */

static const char *way_name(int way)
{
    return way == SHUFFLED ? "shuffled" : forms_score_names[way];
}

typedef struct library {
    const char *part; /* in a dump */
    size_t n;
    expr *core;
    int *dim;
    float *symbols;
} library;

/* A table and what is chosen for it. */
typedef struct lookup {
    forms_problem p;
    regress_problem table;
    const double **x,
        **judge;         /* standardised inputs in the problem's order: of the table, of all */
    const float *values; /* its vector; among forms two */
    double best[WAYS][CUTS], mean[WAYS][CUTS];
    size_t chosen[WAYS][MOST], count; /* count: of each way */
    double digits[WAYS][MOST];
} lookup;

/* The library -------------------------------------------------------------------------------- */

static snip_code embed_batch(library *l, const forms_sample *f, size_t n, forms_context *c,
                             snip_status *st)
{
    model_item *item = arena_array(c->keep[0], n, sizeof *item);
    if (!item)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++) {
        text label = { .a = c->keep[0] };
        expr core = f[i].form.core;
        text_add(&label, "\"part\":\"%s\",\"form\":%zu,\"dim\":%d", l->part, l->n + i, f[i].s.dim);
        item[i] = (model_item){ .node = MODEL_WHOLE, .label = text_end(&label) };
        snip_code code = forms_words(&item[i].words, &f[i], c, st);
        if (code != SNIP_OK)
            return code;
        l->dim[l->n + i] = f[i].s.dim;
        l->core[l->n + i] =
            (expr){ arena_copy(c->a, core.node, core.count * sizeof *core.node), core.count };
        if (!l->core[l->n + i].node)
            return status_nomem(st);
    }
    snip_code code = model_space_embed(c->s, item, n, l->symbols + l->n * c->s->latent, NULL, st);
    l->n += n;
    return code;
}

static snip_code build(library *l, const char *part, rng_stream stream, size_t want,
                       forms_context *c, snip_status *st)
{
    size_t n = 1;
    forms_stream s;
    *l = (library){ .part = part,
                    .core = arena_array(c->a, want, sizeof *l->core),
                    .dim = arena_array(c->a, want, sizeof *l->dim),
                    .symbols = arena_array(c->a, want * c->s->latent, sizeof *l->symbols) };
    if (!l->core || !l->dim || !l->symbols)
        return status_nomem(st);
    snip_code code = forms_stream_open(&s, stream, POINTS, 1, CONSTANTS, want, st);
    progress bar;
    progress_start(&bar, "library", want, c->how->show);
    while (code == SNIP_OK && n > 0) {
        forms_sample *f;
        forms_batch(c);
        code = forms_stream_next(&f, &n, &s, BATCH, c, st);
        if (code == SNIP_OK && n > 0)
            code = embed_batch(l, f, n, c, st);
        progress_at(&bar, l->n);
    }
    progress_end(&bar);
    forms_stream_close(&s);
    return code;
}

/* Tables -------------------------------------------------------------------------------------- */

/* The columns of a problem as the library's forms see them. Returns 0 when memory is out. */
static int standardise(lookup *u, arena *a)
{
    size_t dim = u->table.dim;
    u->x = arena_array(a, dim, sizeof *u->x);
    u->judge = arena_array(a, dim, sizeof *u->judge);
    for (size_t k = 0; k < dim; k++) {
        size_t j = u->table.order[k];
        double *v = arena_array(a, FORMS_POINTS, sizeof *v);
        if (!u->x || !u->judge || !v)
            return 0;
        for (size_t i = 0; i < FORMS_POINTS; i++)
            v[i] = (u->p.x[j][i] - u->table.mean[j]) / u->table.deviation[j];
        u->x[k] = u->table.standard[j];
        u->judge[k] = v;
    }
    return 1;
}

/* Draws problems [first, first + n) and embeds their tables. */
static snip_code prepare(lookup *u, size_t first, size_t n, const forms_set *laws, const library *l,
                         forms_context *c, snip_status *st)
{
    size_t views = c->form ? 2 : 1, width = c->s->latent, tables = 0;
    arena *a = c->keep[0];
    model_item *item = arena_array(a, views * n, sizeof *item);
    float *values = arena_array(a, views * n * width, sizeof *values);
    if (!item || !values)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++) {
        text label = { .a = a };
        if (forms_problem_draw(&u[i].p, laws, first + i, c->how, a, c->tmp[0]) != SNIP_OK)
            return status_nomem(st);
        if (u[i].p.n == 0)
            continue;
        if (forms_table(&u[i].table, &u[i].p, (int)((first + i) % FORMS_CONDITIONS), c->how, a) !=
                SNIP_OK ||
            !standardise(&u[i], a))
            return status_nomem(st);
        double *turned = arena_array(a, u[i].table.train, sizeof *turned);
        if (!turned)
            return status_nomem(st);
        for (size_t k = 0; k < u[i].table.train; k++)
            turned[k] = -u[i].table.y[k];
        text_add(&label, "\"part\":\"%s\",\"problem\":%zu,\"dim\":%d", l->part, first + i,
                 u[i].p.dim);
        u[i].values = values + tables * width;
        for (size_t k = 0; k < views; k++)
            item[tables++] = (model_item){ .e = u[i].p.truth,
                                           .node = MODEL_WHOLE,
                                           .x = u[i].x,
                                           .dim = u[i].p.dim,
                                           .rows = u[i].table.train,
                                           .y = k ? turned : u[i].table.y,
                                           .form = c->form,
                                           .label = text_end(&label) };
    }
    return tables ? model_space_embed(c->s, item, tables, NULL, values, st) : SNIP_OK;
}

/* Choosing ------------------------------------------------------------------------------------ */

typedef struct ordered {
    double score;
    size_t at;
} ordered;

static int by_score(const void *left, const void *right)
{
    const ordered *a = left, *b = right;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* The best of n forms by each way; form[k] is the library's number of the k-th. Returns 0 when
 * memory is out. */
static int choose(lookup *u, double *const score[WAYS], const size_t *form, size_t n, arena *tmp)
{
    ordered *o = arena_array(tmp, n + 1, sizeof *o);
    u->count = n < MOST ? n : MOST;
    for (int way = 0; way < WAYS && o; way++) {
        for (size_t k = 0; k < n; k++)
            o[k] = (ordered){ score[way][k], k };
        qsort(o, n, sizeof *o, by_score);
        for (size_t k = 0; k < u->count; k++)
            u->chosen[way][k] = form[o[k].at];
    }
    return o != NULL;
}

/* Nodes of the largest form. */
static size_t longest(const library *l)
{
    size_t most = 1;
    for (size_t i = 0; i < l->n; i++)
        most = l->core[i].count > most ? l->core[i].count : most;
    return most;
}

/* What is known of a form and a table before any fit. `node` has room for the largest form. The
 * correlation is -1 when memory is out. */
static model_promise_facts facts_of(const lookup *u, const library *l, size_t form, size_t *node,
                                    const forms_context *c, arena *tmp)
{
    size_t width = c->s->latent;
    expr core = l->core[form];
    const float *z = l->symbols + form * width;
    const float *table = u->values;
    double similarity = model_nearer(z, &table, c->form, width);
    return (model_promise_facts){
        .similarity = similarity,
        .correlation = forms_correlation(core, u->x, u->table.y, u->table.train, tmp),
        .nodes = core.count,
        .constants = expr_constants(core, node),
        .form = z,
        .table = table,
    };
}

/* Scores of the library's forms for a table. Returns 0 when memory is out. */
static int score_forms(lookup *u, const library *l, const model_promise *w, size_t index,
                       const forms_context *c, arena *tmp)
{
    size_t n = 0;
    size_t *form = arena_array(tmp, l->n + 1, sizeof *form);
    int *order = arena_array(tmp, l->n + 1, sizeof *order);
    size_t *node = arena_array(tmp, longest(l), sizeof *node);
    double *score[WAYS];
    for (size_t i = 0; i < l->n && form; i++)
        if (l->dim[i] == u->p.dim)
            form[n++] = i;
    for (int way = 0; way < WAYS; way++)
        if (!(score[way] = arena_array(tmp, n + 1, sizeof *score[way])))
            return 0;
    if (!form || !order || !node)
        return 0;
    for (size_t k = 0; k < n; k++) {
        const model_promise_facts f = facts_of(u, l, form[k], node, c, tmp);
        score[FORMS_SIMILARITY][k] = f.similarity;
        score[FORMS_CORRELATION][k] = f.correlation;
        score[FORMS_SIZE][k] = -(double)f.nodes;
        /* Without a promise all are equal: NaN has no place in an order. */
        score[FORMS_WITH][k] = model_promise_known(w) ? model_promise_value(w, &f) : 0;
        score[FORMS_WITHOUT][k] = model_promise_known(w) ? model_promise_without_space(w, &f) : 0;
        order[k] = (int)k;
        if (score[FORMS_CORRELATION][k] < 0)
            return 0;
    }
    rng r;
    forms_rng(&r, c->how, FORMS_DRAW_LIBRARY, index);
    rng_shuffle(&r, order, (int)n);
    for (size_t k = 0; k < n; k++)
        score[SHUFFLED][k] = score[FORMS_SIMILARITY][order[k]];
    return choose(u, score, form, n, tmp);
}

/* Digits of a form for the table. Less than the mean of y is no worse than that. NaN when memory is
 * out. */
static double digits_of(const lookup *u, expr core, arena *a, arena *tmp)
{
    regress_problem table = u->table;
    forms_problem p = u->p;
    expr fitted;
    table.x = u->x;
    p.x = u->judge;
    if (forms_fit(&fitted, core, p.set, &table, STARTS, a, tmp) != SNIP_OK)
        return NAN;
    double d = forms_digits(fitted, &p, tmp);
    return isnan(d) ? d : fmax(d, 0);
}

/* Those of the form that is `which` by a way: known if it was chosen by an earlier one. */
static double digits_by(const lookup *u, const library *l, int way, size_t which, arena *a,
                        arena *tmp)
{
    for (int before = 0; before < way; before++)
        for (size_t k = 0; k < u->count; k++)
            if (u->chosen[before][k] == u->chosen[way][which])
                return u->digits[before][k];
    return digits_of(u, l->core[u->chosen[way][which]], a, tmp);
}

static int look_up(lookup *u, const library *l, const model_promise *w, size_t index,
                   const forms_context *c, arena *a, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    if (!score_forms(u, l, w, index, c, tmp))
        return 0;
    arena_reset(tmp, mark);
    for (int way = 0; way < WAYS; way++) {
        double best = 0, sum = 0;
        size_t k = 0;
        for (size_t cut = 0; cut < CUTS; cut++) {
            for (; k < u->count && k < cuts[cut]; k++) {
                double d = u->digits[way][k] = digits_by(u, l, way, k, a, tmp);
                if (isnan(d))
                    return 0;
                best = fmax(best, d);
                sum += d;
            }
            u->best[way][cut] = best;
            u->mean[way][cut] = k ? sum / (double)k : 0;
        }
    }
    return 1;
}

/* Tasks for the promise ----------------------------------------------------------------------- */

/* The forms of a task: those nearest, those that go with y most closely, and a few of the rest. */
enum { NEAREST = 15, CLOSEST = 15, ANY = FORMS_CANDIDATES - NEAREST - CLOSEST };

/* Adds the form, unless it is there. */
static void add_form(size_t *chosen, size_t *n, size_t form)
{
    for (size_t k = 0; k < *n; k++)
        if (chosen[k] == form)
            return;
    chosen[(*n)++] = form;
}

/* Returns 0 when memory is out. */
static int make_task(forms_task *t, lookup *u, const library *l, size_t index,
                     const forms_context *c, arena *a, arena *tmp)
{
    static const model_promise none = { 0 };
    size_t chosen[FORMS_CANDIDATES], n = 0, *node = arena_array(tmp, longest(l), sizeof *node);
    if (!node || !score_forms(u, l, &none, index, c, tmp))
        return 0;
    for (size_t k = 0; k < u->count && k < NEAREST; k++)
        add_form(chosen, &n, u->chosen[FORMS_SIMILARITY][k]);
    for (size_t k = 0; k < u->count && k < CLOSEST; k++)
        add_form(chosen, &n, u->chosen[FORMS_CORRELATION][k]);
    for (size_t k = 0; k < u->count && k < ANY; k++)
        add_form(chosen, &n, u->chosen[SHUFFLED][k]);
    for (size_t k = 0; k < n; k++) {
        t->facts[k] = facts_of(u, l, chosen[k], node, c, tmp);
        t->digits[k] = digits_of(u, l->core[chosen[k]], a, tmp);
        if (t->facts[k].correlation < 0 || isnan(t->digits[k]))
            return 0;
    }
    t->n = n;
    t->looked_up = 1;
    return 1;
}

/* A batch of them; the vectors of its tables live on in c->a. */
static snip_code make_tasks(forms_task *t, size_t first, size_t n, const forms_set *set,
                            const library *l, forms_context *c, snip_status *st)
{
    size_t width = (size_t)(1 + c->form) * c->s->latent;
    lookup *u = arena_zero(c->keep[0], n * sizeof *u);
    snip_code code = u ? prepare(u, first, n, set, l, c, st) : status_nomem(st);
    int failed = 0;
    for (size_t i = 0; i < n && code == SNIP_OK; i++)
        if (u[i].p.n && !(u[i].values = arena_copy(c->a, u[i].values, width * sizeof(float))))
            code = status_nomem(st);
    if (code != SNIP_OK)
        return code;
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->s->threads)
    for (size_t i = 0; i < n; i++) {
        int k = omp_get_thread_num();
        arena_pos mark = arena_mark(c->tmp[k]);
        if (u[i].p.n && !make_task(&t[i], &u[i], l, first + i, c, c->keep[k], c->tmp[k]))
#pragma omp atomic write
            failed = 1;
        arena_reset(c->tmp[k], mark);
    }
    return failed ? status_nomem(st) : SNIP_OK;
}

snip_code forms_library_tasks(forms_task *out, const forms_set *set, forms_context *c,
                              snip_status *st)
{
    enum { LEAST = 400, PER_LAW = 16, MOST_FORMS = 40000, AT_A_TIME = 24 };
    size_t forms = LEAST + PER_LAW * set->count;
    library l;
    snip_code code =
        build(&l, "tasks", RNG_VALIDATION, forms < MOST_FORMS ? forms : MOST_FORMS, c, st);
    progress bar;
    progress_start(&bar, "look-ups", set->count, c->how->show);
    for (size_t first = 0; first < set->count && code == SNIP_OK; first += AT_A_TIME) {
        size_t n = set->count - first < AT_A_TIME ? set->count - first : AT_A_TIME;
        forms_batch(c);
        code = make_tasks(out + first, first, n, set, &l, c, st);
        progress_at(&bar, first + n);
    }
    progress_end(&bar);
    return code;
}

/* Results ------------------------------------------------------------------------------------- */

static json_t *way_figures(const lookup *u, size_t n, size_t cut, int best, double *value,
                           const eval_how *how)
{
    json_t *o = json_object();
    for (int way = 0; way < WAYS; way++) {
        double *v = value + (size_t)way * n;
        for (size_t i = 0; i < n; i++)
            v[i] = u[i].count == 0 ? NAN : best ? u[i].best[way][cut] : u[i].mean[way][cut];
        json_object_set_new(o, way_name(way), eval_figure_json(eval_mean(v, n, how->seed)));
    }
    json_object_set_new(o, "gain",
                        eval_figure_json(eval_difference(
                            value + FORMS_WITH * n, value + FORMS_WITHOUT * n, 1, n, how->seed)));
    return o;
}

/* The best of all forms that were chosen in any way: how far a choice among them could get. */
static json_t *best_of_any(const lookup *u, size_t n, double *value, const eval_how *how)
{
    for (size_t i = 0; i < n; i++) {
        value[i] = u[i].count == 0 ? NAN : 0;
        for (int way = 0; way < WAYS && u[i].count > 0; way++)
            value[i] = fmax(value[i], u[i].best[way][CUTS - 1]);
    }
    return eval_figure_json(eval_mean(value, n, how->seed));
}

/* Tells the dump which forms were chosen, and what became of them. */
static void show(const lookup *u, size_t index, const library *l, const forms_context *c)
{
    for (int way = 0; way < WAYS && c->s->seen; way++)
        for (size_t k = 0; k < u->count; k++) {
            char label[256];
            snprintf(
                label, sizeof label,
                "\"part\":\"chosen\",\"problem\":%zu,\"way\":\"%s\",\"place\":%zu,\"form\":%zu,"
                "\"digits\":%.17g",
                index, way_name(way), k + 1, u->chosen[way][k], u->digits[way][k]);
            const model_item item = { .e = l->core[u->chosen[way][k]],
                                      .node = MODEL_WHOLE,
                                      .label = label };
            c->s->seen(c->s->seen_context, &item, 1, NULL, NULL);
        }
}

snip_code forms_library(json_t **out, const forms_set *laws, const model_promise *w,
                        forms_context *c, snip_status *st)
{
    size_t n = laws->count < PROBLEMS ? laws->count : PROBLEMS, usable = 0;
    library l;
    lookup *u = arena_zero(c->a, (n + 1) * sizeof *u);
    double *value = arena_array(c->a, WAYS * n + 1, sizeof *value);
    snip_code code =
        u && value ? build(&l, "library", RNG_LIBRARY, c->how->library, c, st) : status_nomem(st);
    forms_batch(c);
    if (code == SNIP_OK)
        code = prepare(u, 0, n, laws, &l, c, st);
    if (code != SNIP_OK)
        return code;
    int failed = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->s->threads)
    for (size_t i = 0; i < n; i++) {
        int t = omp_get_thread_num();
        if (u[i].p.n && !look_up(&u[i], &l, w, i, c, c->keep[t], c->tmp[t]))
#pragma omp atomic write
            failed = 1;
    }
    if (failed)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++) {
        usable += u[i].count > 0;
        show(&u[i], i, &l, c);
    }
    *out = json_pack("{s:I,s:I,s:o}", "forms", (json_int_t)l.n, "problems", (json_int_t)usable,
                     "any", best_of_any(u, n, value, c->how));
    for (size_t cut = 0; cut < CUTS; cut++) {
        char name[8];
        snprintf(name, sizeof name, "k%zu", cuts[cut]);
        json_object_set_new(*out, name,
                            json_pack("{s:o,s:o}", "best", way_figures(u, n, cut, 1, value, c->how),
                                      "mean", way_figures(u, n, cut, 0, value, c->how)));
    }
    return SNIP_OK;
}
