/* forms_problems.c - problems of the suite `forms` and their candidates; see forms.h. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/streams.h"
#include "base/text.h"
#include "data/corpora.h"
#include "data/laws.h"
#include "eval/forms.h"
#include "regress/explain.h"
#include "regress/constants.h"

enum {
    POOL = 600,       /* laws to take rivals from */
    POOL_POINTS = 64, /* their rows: only the inputs' sizes are looked at */
    DISTURBANCES = 6, /* attempts to disturb the constants, each half as far as the one before */
    FLIPS = 4,        /* one sign in so many turns where constants are drawn */
    NODES_MAX = 150   /* of a core: what is longer has no place in the model's 200 words */
};

const forms_condition forms_conditions[FORMS_CONDITIONS] = {
    { "rows200", FORMS_TABLE, 0 },
    { "rows200_noise5", FORMS_TABLE, FORMS_NOISE },
    { "rows30", FORMS_FEW, 0 },
    { "rows30_noise5", FORMS_FEW, FORMS_NOISE },
};

void forms_batch(const forms_context *c)
{
    for (int t = 0; t < c->s->threads; t++)
        arena_reset(c->keep[t], 0);
}

static uint64_t place_of(forms_draws what, uint64_t index)
{
    return ((uint64_t)what << 32) + index;
}

void forms_rng(rng *r, const eval_how *how, forms_draws what, uint64_t index)
{
    streams_rng(r, how->seed, STREAMS_FORMS, place_of(what, index));
}

/* Rivals -------------------------------------------------------------------------------------- */

static snip_code add_rival(forms_set *set, expr e, int dim, const double *const *x, size_t rows,
                           arena *a)
{
    double *size = data_law_sizes(x, dim, rows, a);
    if (!size)
        return SNIP_NOMEM;
    set->rival[set->rivals++] = (forms_rival){ e, dim, size };
    return SNIP_OK;
}

/* Who draws: the user of held-out laws, or the other one where this is for a choice between
 * methods. */
static streams_user user_of(forms_draws what, streams_user held_out, streams_user validation)
{
    return what == FORMS_DRAW_VALIDATION ? validation : held_out;
}

/* Draws law i for a user. */
static snip_code draw_law(data_sample *s, data_law *law, const data_gen *gen, streams_user user,
                          uint64_t i, uint64_t seed, arena *a)
{
    return data_law_draw(s, law, gen, seed, streams_map[user].stream, streams_index(user, i), a);
}

static snip_code add_laws(forms_set *set, const eval_how *how, arena *a)
{
    const data_gen gen = { .dims = DATA_LAW_DIMS,
                           .points = POOL_POINTS,
                           .quantities = how->quantities };
    snip_code code = SNIP_OK;
    for (uint64_t i = 0; i < POOL && code == SNIP_OK; i++) {
        data_sample s;
        data_law law;
        code = draw_law(&s, &law, &gen, user_of(set->what, STREAMS_RIVALS, STREAMS_CHECK_RIVALS), i,
                        how->seed, a);
        if (code == SNIP_OK)
            code = add_rival(set, law.e, law.dim, law.x, law.points, a);
    }
    return code;
}

/* Whether a formula of the same function was met before. */
static int is_listed(const forms_set *set, const char *function)
{
    for (size_t i = 0; i < set->count; i++) {
        const data_corpus *corpus = &set->corpus[set->of[i]];
        if (strcmp(data_formula_function(&corpus->formula[set->at[i]]), function) == 0)
            return 1;
    }
    return 0;
}

/* Lists formula i of corpus k as a problem and as a rival, if it is new and the model can use it.
 */
static snip_code add_formula(forms_set *set, size_t k, size_t i, const data_vocab *v,
                             const eval_how *how, arena *a, snip_status *st)
{
    const data_formula *f = &set->corpus[k].formula[i];
    const data_design design = { DATA_SAMPLE_RANGE, FORMS_POINTS, how->seed };
    const double **x;
    double *y;
    size_t rows;
    expr normal;
    if (is_listed(set, data_formula_function(f)))
        return SNIP_OK;
    snip_code code = data_formula_sample(&x, &y, &rows, &set->corpus[k], i, &design, a, st);
    if (code != SNIP_OK)
        return code;
    code = data_formula_usable(&normal, f, y, rows, v, a, NULL);
    if (code == SNIP_NOMEM)
        return status_nomem(st);
    if (code != SNIP_OK || rows != FORMS_POINTS) /* no failure: the formula is left out */
        return SNIP_OK;
    set->of[set->count] = k;
    set->at[set->count++] = i;
    code = add_rival(set, f->e, (int)f->names.count, x, rows, a);
    return code == SNIP_OK ? code : status_nomem(st);
}

/* The corpora to take formulas from; *formulas counts those that they have. */
static snip_code read_corpora(data_corpus *corpus, size_t *corpora, size_t *formulas,
                              const eval_how *how, arena *a, snip_status *st)
{
    *corpora = how->corpus ? 1 : DATA_CORPORA;
    *formulas = 0;
    snip_code code = SNIP_OK;
    for (size_t k = 0; k < *corpora && code == SNIP_OK; k++) {
        if (how->corpus)
            corpus[k] = *how->corpus;
        else
            code = data_corpus_builtin(&corpus[k], data_corpus_names[k], a, st);
        *formulas += code == SNIP_OK ? corpus[k].count : 0;
    }
    return code;
}

/* The usable formulas of the corpora: all are rivals, at most `most` of them, evenly spread, are
 * problems. */
static snip_code add_corpora(forms_set *set, size_t most, const data_vocab *v, const eval_how *how,
                             arena *a, snip_status *st)
{
    data_corpus *corpus = arena_array(a, DATA_CORPORA, sizeof *corpus);
    size_t corpora, all;
    snip_code code = corpus ? read_corpora(corpus, &corpora, &all, how, a, st) : status_nomem(st);
    if (code != SNIP_OK)
        return code;
    size_t *of = arena_array(a, 2 * all + 1, sizeof *of);
    forms_rival *rival = arena_array(a, all + POOL, sizeof *rival);
    if (!of || !rival)
        return status_nomem(st);
    *set = (forms_set){
        .what = set->what, .rival = rival, .corpus = corpus, .of = of, .at = of + all
    };
    for (size_t k = 0; k < corpora; k++)
        for (size_t i = 0; i < corpus[k].count && code == SNIP_OK; i++)
            code = add_formula(set, k, i, v, how, a, st);
    size_t found = set->count;
    set->own = set->rivals;
    set->count = found < most ? found : most;
    for (size_t i = 0; i < set->count; i++) { /* never from a place behind */
        set->of[i] = set->of[i * found / set->count];
        set->at[i] = set->at[i * found / set->count];
    }
    return code;
}

snip_code forms_set_make(forms_set *out, forms_context *c, forms_draws what, size_t count,
                         snip_status *st)
{
    *out = (forms_set){ .what = what, .count = count };
    snip_code code = SNIP_OK;
    if (what == FORMS_DRAW_CORPORA)
        code = add_corpora(out, count, c->s->m->vocab, c->how, c->a, st);
    else if (!(out->rival = arena_array(c->a, POOL, sizeof *out->rival)))
        code = status_nomem(st);
    if (code == SNIP_OK && add_laws(out, c->how, c->a) != SNIP_OK)
        code = status_nomem(st);
    return code;
}

/* Candidates ---------------------------------------------------------------------------------- */

/* e with each constant times 10^u, u within +-reach, and its sign turned now and then if asked; in
 * `a`. node is NULL when memory is out. */
static expr disturbed(expr e, double reach, int turn, rng *r, arena *a)
{
    expr out = { arena_copy(a, e.node, e.count * sizeof *e.node), e.count };
    size_t *node = arena_array(a, e.count, sizeof *node);
    if (!out.node || !node)
        return (expr){ 0 };
    expr_set_fixed(out, 0);
    size_t n = expr_constants(out, node);
    for (size_t i = 0; i < n; i++) {
        expr_node *c = &out.node[node[i]];
        c->value *= pow(10, reach * (2 * rng_uniform(r) - 1));
        if (turn && rng_below(r, FLIPS) == 0)
            c->value = -c->value;
        c->integer = 0;
    }
    return out;
}

/* Whether e is finite at all points and varies. -1 when memory is out. */
static int shows(expr e, const forms_problem *p, arena *tmp)
{
    double y[FORMS_POINTS];
    size_t finite = expr_eval(e, p->x, FORMS_POINTS, y, tmp);
    int varies = 0;
    if (finite == (size_t)-1)
        return -1;
    for (size_t i = 1; i < FORMS_FEW; i++)
        varies |= y[i] != y[0];
    return finite == FORMS_POINTS && data_values_fit(y, FORMS_POINTS) && varies;
}

/* The core with drawn constants that show something; as it is where none are found. */
static expr draw_constants(const forms_candidate *c, const forms_problem *p, rng *r, arena *a,
                           arena *tmp)
{
    for (int k = 0; k < DISTURBANCES && c->constants; k++) {
        expr e = disturbed(c->core, 1, 1, r, a);
        int good = e.node ? shows(e, p, tmp) : -1;
        if (good < 0)
            return (expr){ 0 };
        if (good)
            return e;
    }
    return c->core;
}

/* Adds e, whose constants are all free, if its form is new and its core is finite and varies at all
 * points. Returns 1 if it was added, 0 if not, -1 when memory is out. */
static int add_candidate(forms_problem *p, expr e, int role, rng *r, arena *a, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    expr_form form;
    int added = 0;
    expr_set_fixed(e, 0);
    snip_code code = expr_canonical(&form, e, tmp, NULL);
    if (code == SNIP_OK && form.core.count > 0 && form.core.count <= NODES_MAX) {
        added = 1;
        for (size_t i = 0; i < p->n; i++)
            added &= p->c[i].hash != form.hash;
        added = added ? shows(form.core, p, tmp) : 0;
    }
    if (added > 0) {
        forms_candidate *c = &p->c[p->n];
        size_t *node = arena_array(tmp, form.core.count, sizeof *node);
        *c = (forms_candidate){ .hash = form.hash, .role = role };
        c->core.count = form.core.count;
        c->core.node = arena_copy(a, form.core.node, form.core.count * sizeof(expr_node));
        if (node && c->core.node) {
            c->constants = expr_constants(c->core, node);
            c->drawn = draw_constants(c, p, r, a, tmp);
        }
        added = c->drawn.node ? 1 : -1;
        p->n++;
    }
    arena_reset(tmp, mark);
    return code == SNIP_NOMEM ? -1 : added;
}

/* How well a rival suits: 0 best, -1 not at all. Those of the corpora with as many inputs come
 * first, then laws with as many, then laws with fewer. */
static int suits(const forms_set *set, size_t k, int dim)
{
    int own = k < set->own, d = set->rival[k].dim;
    if (own)
        return d == dim ? 0 : -1;
    return d <= dim ? 1 + dim - d : -1;
}

static int add_rivals(forms_problem *p, const forms_set *set, rng *r, arena *a, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    int *order = arena_array(tmp, set->rivals, sizeof *order), failed = !order;
    size_t before = p->n;
    for (size_t i = 0; i < set->rivals && order; i++)
        order[i] = (int)i;
    if (order)
        rng_shuffle(r, order, (int)set->rivals);
    for (int class = 0; class <= p->dim && !failed; class ++)
        for (size_t i = 0; i < set->rivals && !failed && p->n < before + FORMS_LAWS; i++) {
            if (suits(set, (size_t)order[i], p->dim) != class)
                continue;
            const forms_rival *f = &set->rival[order[i]];
            expr e = data_law_on(f->e, f->size, f->dim, p->x, FORMS_TABLE, p->dim, r, tmp);
            failed = !e.node || add_candidate(p, e, FORMS_LAW, r, a, tmp) < 0;
        }
    arena_reset(tmp, mark);
    return !failed;
}

static int add_edits(forms_problem *p, expr truth, rng *r, arena *a, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    regress_edit *edit;
    size_t n = regress_edits_list(&edit, truth, (size_t)p->dim, tmp), before = p->n;
    int *order = n != (size_t)-1 ? arena_array(tmp, n + 1, sizeof *order) : NULL, failed = !order;
    for (size_t i = 0; order && i < n; i++)
        order[i] = (int)i;
    if (order)
        rng_shuffle(r, order, (int)n);
    for (size_t i = 0; !failed && i < n && p->n < before + FORMS_EDITS; i++)
        failed = add_candidate(p, edit[order[i]].e, FORMS_EDIT, r, a, tmp) < 0;
    arena_reset(tmp, mark);
    return !failed;
}

/* The rows of a sample in random order. Returns 0 when memory is out. */
static int take_rows(forms_problem *p, const double *const *x, const double *y, rng *r, arena *a)
{
    int order[FORMS_POINTS];
    for (int i = 0; i < FORMS_POINTS; i++)
        order[i] = i;
    rng_shuffle(r, order, FORMS_POINTS);
    p->x = arena_array(a, (size_t)p->dim, sizeof *p->x);
    for (int j = 0; j < p->dim && p->x; j++)
        if (!(p->x[j] = numbers_at(x[j], order, FORMS_POINTS, a)))
            return 0;
    p->y = numbers_at(y, order, FORMS_POINTS, a);
    return p->x && p->y;
}

static snip_code draw_truth(forms_problem *p, const forms_set *set, const eval_how *how, rng *r,
                            arena *a)
{
    data_sample s;
    data_law law;
    const double **x;
    double *y;
    snip_code code;
    if (set->what == FORMS_DRAW_CORPORA) {
        const data_corpus *corpus = &set->corpus[set->of[p->index]];
        const data_formula *f = &corpus->formula[set->at[p->index]];
        size_t rows;
        code = data_formula_sample(&x, &y, &rows, corpus, set->at[p->index],
                                   &(data_design){ DATA_SAMPLE_RANGE, FORMS_POINTS, how->seed }, a,
                                   NULL);
        p->truth = f->e;
        p->dim = (int)f->names.count;
    } else {
        const data_gen gen = { .dims = DATA_LAW_DIMS,
                               .points = FORMS_POINTS,
                               .quantities = how->quantities };
        code =
            draw_law(&s, &law, &gen, user_of(set->what, STREAMS_PROBLEMS, STREAMS_CHECK_PROBLEMS),
                     p->index, how->seed, a);
        if (code == SNIP_OK) {
            p->truth = law.e;
            p->dim = law.dim;
            x = law.x;
            y = law.y;
        }
    }
    return code != SNIP_OK ? code : take_rows(p, x, y, r, a) ? SNIP_OK : SNIP_NOMEM;
}

snip_code forms_problem_draw(forms_problem *out, const forms_set *set, size_t index,
                             const eval_how *how, arena *a, arena *tmp)
{
    enum { EDITS_MIN = 4 };
    rng r;
    forms_rng(&r, how, set->what, index);
    *out = (forms_problem){ .set = set->what, .index = index };
    snip_code code = draw_truth(out, set, how, &r, a);
    if (code != SNIP_OK)
        return code;
    expr truth = { 0 };
    double reach = 0.5;
    int added = 0;
    for (int k = 0; k < DISTURBANCES && added == 0; k++, reach /= 2) {
        truth = disturbed(out->truth, k + 1 < DISTURBANCES ? reach : 0, 0, &r, a);
        added = truth.node ? add_candidate(out, truth, FORMS_TRUTH, &r, a, tmp) : -1;
    }
    if (added < 0 ||
        (added && (!add_rivals(out, set, &r, a, tmp) || !add_edits(out, truth, &r, a, tmp))))
        return SNIP_NOMEM;
    if (out->n < 1 + FORMS_LAWS + EDITS_MIN)
        out->n = 0;
    for (int k = 0; k < FORMS_CONDITIONS && out->n; k++) {
        arena_pos mark = arena_mark(tmp);
        regress_problem t;
        code = forms_table(&t, out, k, how, tmp);
        arena_reset(tmp, mark);
        if (code == SNIP_NOMEM)
            return code;
        if (code != SNIP_OK)
            out->n = 0;
    }
    return SNIP_OK;
}

/* Tables, fits -------------------------------------------------------------------------------- */

snip_code forms_table(regress_problem *out, const forms_problem *p, int condition,
                      const eval_how *how, arena *a)
{
    static const char *const names[DATA_DIMS_MAX] = { "x0", "x1", "x2", "x3", "x4",
                                                      "x5", "x6", "x7", "x8", "x9" };
    const forms_condition *c = &forms_conditions[condition];
    rng r;
    streams_rng(&r, how->seed, STREAMS_FORMS_NOISE, place_of(p->set, p->index));
    const double *y = data_noisy(p->y, FORMS_TABLE, c->noise, &r, a);
    if (!y)
        return SNIP_NOMEM;
    const regress_table t = { (size_t)p->dim, c->rows, names, p->x, y };
    return regress_problem_whole(out, &t, how->seed, a, NULL);
}

snip_code forms_fit(expr *out, expr core, forms_draws set, const regress_problem *p, int starts,
                    arena *a, arena *tmp)
{
    enum { EVALUATIONS = 40 }; /* of each descent */
    const regress_fit_how thorough = { .starts = starts, .seed = p->seed };
    const regress_fit_how rough = {
        .starts = starts, .seed = p->seed, .pace = REGRESS_FIT_ROUGH, .evaluations = EVALUATIONS
    };
    return regress_fit_line(out, core, (const double *const *)p->x, p->y, p->fit,
                            set == FORMS_DRAW_VALIDATION ? &rough : &thorough, a, tmp);
}

double forms_digits(expr e, const forms_problem *p, arena *tmp)
{
    const double *x[DATA_DIMS_MAX];
    for (int j = 0; j < p->dim; j++)
        x[j] = p->x[j] + FORMS_TABLE;
    return regress_digits(e, x, p->y + FORMS_TABLE, FORMS_JUDGE, tmp);
}

double forms_correlation(expr e, const double *const *x, const double *y, size_t rows, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    double *v = arena_array(tmp, rows, sizeof *v);
    size_t finite = v ? expr_eval(e, x, rows, v, tmp) : (size_t)-1;
    if (finite == (size_t)-1)
        return -1;
    double r = fabs(numbers_correlation(v, y, rows));
    arena_reset(tmp, mark);
    return r;
}

/* Similarities -------------------------------------------------------------------------------- */

/* A match on its way. */
typedef struct half {
    model_words words;
    regress_inputs inputs;
    size_t table;   /* of the first of its tables' rows */
    snip_code code; /* SNIP_OK where there are words */
} half;

/* For the dump: a match's label with its inputs, and which way up its table is (-1: a formula). */
static const char *labelled(const char *label, regress_inputs inputs, int turned, arena *a)
{
    text t = { .a = a };
    if (!label)
        return NULL;
    text_add(&t, "%s,\"inputs\":%u", label, (unsigned)inputs);
    if (turned >= 0)
        text_add(&t, ",\"turned\":%d", turned);
    return text_end(&t);
}

/* The table that a match is held against, as it is and, among forms, upside down. */
static snip_code add_tables(model_item *item, const forms_match *m, regress_inputs inputs, int form,
                            arena *a)
{
    const regress_problem *p = m->p;
    const double **x = arena_array(a, p->dim, sizeof *x);
    double *turned = form ? arena_array(a, p->train, sizeof *turned) : NULL;
    int dim = 0;
    if (!x || (form && !turned))
        return SNIP_NOMEM;
    for (size_t k = 0; k < p->dim; k++)
        if (inputs >> p->order[k] & 1)
            x[dim++] = p->standard[p->order[k]];
    for (size_t i = 0; i < p->train && form; i++)
        turned[i] = -p->y[i];
    for (int k = 0; k < 1 + form; k++)
        item[k] = (model_item){ .e = m->e,
                                .node = MODEL_WHOLE,
                                .x = x,
                                .dim = dim,
                                .rows = p->train,
                                .y = k ? turned : p->y,
                                .form = form,
                                .label = labelled(m->table_label, inputs, k, a) };
    return SNIP_OK;
}

/* Lists the formulas that have words, and the tables of all; *count are how many. */
static snip_code list_items(model_item *formula, size_t *formulas, model_item *table,
                            size_t *tables, const forms_match *m, half *h, size_t n,
                            const forms_context *c)
{
    size_t first = 0; /* of the matches with the same table */
    *formulas = *tables = 0;
    for (size_t i = 0; i < n; i++) {
        if (h[i].code == SNIP_NOMEM)
            return SNIP_NOMEM;
        if (m[i].p != m[first].p)
            first = i;
        if (h[i].code != SNIP_OK)
            continue;
        size_t k = first;
        while (k < i && !(h[k].code == SNIP_OK && h[k].inputs == h[i].inputs))
            k++;
        h[i].table = k < i ? h[k].table : *tables;
        if (k == i) {
            snip_code code = add_tables(table + *tables, &m[i], h[i].inputs, c->form, c->keep[0]);
            if (code != SNIP_OK)
                return code;
            *tables += (size_t)(1 + c->form);
        }
        formula[(*formulas)++] =
            (model_item){ .words = &h[i].words,
                          .node = MODEL_WHOLE,
                          .label = labelled(m[i].label, h[i].inputs, -1, c->keep[0]) };
    }
    return SNIP_OK;
}

snip_code forms_compare(forms_match *m, size_t n, forms_context *c, snip_status *st)
{
    size_t latent = c->s->latent, formulas = 0, tables = 0;
    half *h = calloc(n + 1, sizeof *h);
    model_item *formula = malloc((n + 1) * sizeof *formula);
    model_item *table = malloc((2 * n + 1) * sizeof *table);
    float *symbols = malloc((n + 1) * latent * sizeof *symbols), *values = NULL;
    snip_code code = h && formula && table && symbols ? SNIP_OK : SNIP_NOMEM;
    if (code == SNIP_OK) {
#pragma omp parallel for schedule(dynamic, 8) num_threads(c->s->threads)
        for (size_t i = 0; i < n; i++) {
            int t = omp_get_thread_num();
            h[i].inputs = regress_inputs_held(m[i].e, m[i].p, m[i].matter, &c->model);
            h[i].code = regress_words(&h[i].words, m[i].e, h[i].inputs, m[i].p, &c->model,
                                      c->keep[t], c->tmp[t], NULL);
        }
        code = list_items(formula, &formulas, table, &tables, m, h, n, c);
    }
    if (code == SNIP_OK && !(values = malloc((tables + 1) * latent * sizeof *values)))
        code = SNIP_NOMEM;
    if (code == SNIP_NOMEM)
        status_nomem(st);
    if (code == SNIP_OK && formulas)
        code = model_space_embed(c->s, formula, formulas, symbols, NULL, st);
    if (code == SNIP_OK && tables)
        code = model_space_embed(c->s, table, tables, NULL, values, st);
    for (size_t i = 0, k = 0; i < n && code == SNIP_OK; i++) {
        m[i].similarity = NAN;
        m[i].form = m[i].table = NULL;
        if (h[i].code != SNIP_OK)
            continue;
        const float *row = symbols + k++ * latent, *to = values + h[i].table * latent;
        m[i].similarity = model_nearer(row, &to, c->form, latent);
        m[i].form = arena_copy(c->a, row, latent * sizeof *row);
        m[i].table = arena_copy(c->a, to, latent * sizeof *to);
        if (!m[i].form || !m[i].table)
            code = status_nomem(st);
    }
    free(h);
    free(formula);
    free(table);
    free(symbols);
    free(values);
    return code;
}
