/* space.c - the public face of models: embeddings, ranking, libraries, explanations. */
#include <locale.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/tokens.h"
#include "api/api_int.h"
#include "regress/explain.h"
#include "library/find.h"

struct snip_index {
    library_file *ix;
};

struct snip_ranking {
    arena *a;
    size_t count;
    snip_ranked *ranked;
};

struct snip_explanation {
    arena *a;
    const snip_expr *formula;
    double similarity;
    double *gain;
    size_t nodes, count;
    snip_edit *edit;
};

int api_cores(int asked)
{
    return limits_threads(asked, omp_get_max_threads());
}

snip_code snip_model_open(snip_model **out, const char *path, snip_status *st)
{
    snip_code code = API_MAKE(out, st, { !path, "the path" });
    if (code != SNIP_OK)
        return code;
    snip_model *m = calloc(1, sizeof *m);
    code = m ? model_open(&m->t, path, st) : status_nomem(st);
    if (code == SNIP_OK)
        *out = m;
    else
        free(m);
    return code;
}

void snip_model_close(snip_model *m)
{
    if (m) {
        model_close(m->t);
        free(m);
    }
}

size_t snip_model_width(const snip_model *m)
{
    return m ? (size_t)m->t->m->config.latent : 0;
}

size_t snip_model_inputs(const snip_model *m)
{
    return m ? (size_t)m->t->m->config.dims : 0;
}

const char *snip_model_hash(const snip_model *m)
{
    return m ? m->t->hash : NULL;
}

/* Embeds items that are already in the model's words. */
static snip_code embed(const snip_model *m, const model_item *item, size_t n, int threads,
                       float *out, snip_status *st)
{
    model_space *s = model_space_new(m->t->m, m->t->tree, api_cores(threads));
    snip_code code = s ? model_space_embed(s, item, n, out, NULL, st) : status_nomem(st);
    model_space_free(s);
    return code;
}

int snip_model_forms(const snip_model *m)
{
    return m ? m->t->m->config.forms : 0;
}

/* Formulas in one of the two views. */
static snip_code embed_view(const snip_model *m, const snip_expr *const *e, size_t n, int form,
                            int threads, float *out, snip_status *st)
{
    snip_code code = API_BEGIN(st, { !m, "the model" }, { n && !e, "the list of formulas" },
                               { n && !out, "out" });
    if (code != SNIP_OK)
        return code;
    arena *a = arena_new(0);
    model_item *item = a ? arena_array(a, n, sizeof *item) : NULL;
    model_words *words = a ? arena_array(a, n, sizeof *words) : NULL;
    code = item && words ? SNIP_OK : status_nomem(st);
    const expr_domain domain = { .assume_positive = 1 };
    const model_words_how how = model_reads(m->t, form ? MODEL_FORM : MODEL_EXACT, &domain);
    for (size_t i = 0; i < n && code == SNIP_OK; i++) {
        item[i] = (model_item){ .words = &words[i], .node = MODEL_WHOLE };
        code = e[i] ? model_words_make(&words[i], e[i]->e, &how, a, NULL, st)
                    : status_fail(st, SNIP_FORMAT, i, "formula %zu is NULL", i);
        if (code != SNIP_OK && st)
            st->pos = i;
    }
    if (code == SNIP_OK && n)
        code = embed(m, item, n, threads, out, st);
    arena_free(a);
    return code;
}

snip_code snip_embed_formulas(const snip_model *m, const snip_expr *const *e, size_t n, int threads,
                              float *out, snip_status *st)
{
    return embed_view(m, e, n, 0, threads, out, st);
}

snip_code snip_embed_forms(const snip_model *m, const snip_expr *const *e, size_t n, int threads,
                           float *out, snip_status *st)
{
    return embed_view(m, e, n, 1, threads, out, st);
}

snip_code snip_embed_parts(const snip_model *m, const snip_expr *e, int threads, float *out,
                           snip_status *st)
{
    snip_code code = API_BEGIN(st, { !m, "the model" }, { !e, "the formula" }, { !out, "out" });
    if (code != SNIP_OK)
        return code;
    arena *a = arena_new(0);
    model_item *item = a ? arena_array(a, e->e.count, sizeof *item) : NULL;
    const model_words_how how = model_reads(m->t, MODEL_EXACT, NULL);
    model_words words;
    code = item ? model_words_make(&words, e->e, &how, a, NULL, st) : status_nomem(st);
    for (size_t i = 0; i < e->e.count && code == SNIP_OK; i++)
        item[i] = (model_item){ .words = &words, .node = i };
    if (code == SNIP_OK)
        code = embed(m, item, e->e.count, threads, out, st);
    arena_free(a);
    return code;
}

snip_code api_table(regress_table *out, const snip_table *t, arena *a, snip_status *st)
{
    snip_code checked = api_check_table(t, st);
    if (checked != SNIP_OK)
        return checked;
    const char **names = arena_array(a, t->inputs, sizeof *names);
    char *usual = arena_array(a, t->inputs, 8);
    if (!names || !usual)
        return status_nomem(st);
    for (size_t j = 0; j < t->inputs; j++) {
        snprintf(usual + 8 * j, 8, "x%d", (int)j);
        names[j] = t->names ? t->names[j] : usual + 8 * j;
    }
    *out = (regress_table){ t->inputs, t->rows, names, t->x, t->y };
    return SNIP_OK;
}

/* The task that a user's table is. */
static snip_code problem_of(regress_problem *out, const snip_table *t, const double *weight,
                            const snip_model *m, arena *a, snip_status *st)
{
    size_t most = snip_model_inputs(m);
    if (t->inputs == 0 || t->inputs > most)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "the table has %zu inputs, the model reads 1 to %zu", t->inputs, most);
    regress_table table;
    snip_code code = api_table(&table, t, a, st);
    if (code != SNIP_OK)
        return code;
    return weight ? regress_problem_weighted(out, &table, weight, t->seed, a, st)
                  : regress_problem_make(out, &table, t->seed, a, st);
}

/* Options that are not snip_rank's must have no weights. */
static snip_code refuse_weights(const snip_rank_options *o, snip_status *st)
{
    return o && o->weight ? status_fail(st, SNIP_UNSUPPORTED, 0, "only a ranking knows weights")
                          : SNIP_OK;
}

/* The table in the views [first, last], a row each. */
static snip_code embed_table(const snip_model *m, const snip_table *t, regress_view first,
                             regress_view last, int threads, float *out, snip_status *st)
{
    snip_code code = API_BEGIN(st, { !m, "the model" }, { !t, "the table" }, { !out, "out" });
    if (code != SNIP_OK)
        return code;
    arena *a = arena_new(0);
    regress_problem p;
    code = a ? problem_of(&p, t, NULL, m, a, st) : status_nomem(st);
    model_space *s =
        code == SNIP_OK ? model_space_new(m->t->m, m->t->tree, api_cores(threads)) : NULL;
    if (code == SNIP_OK && !s)
        code = status_nomem(st);
    if (code == SNIP_OK)
        regress_problem_keep_order(&p);
    for (regress_view v = first; v <= last && code == SNIP_OK; v++, out += snip_model_width(m))
        code = regress_problem_embed(&p, ~(regress_inputs)0, v, s, out, st);
    model_space_free(s);
    arena_free(a);
    return code;
}

snip_code snip_embed_table(const snip_model *m, const snip_table *t, int threads, float *out,
                           snip_status *st)
{
    return embed_table(m, t, REGRESS_EXACT, REGRESS_EXACT, threads, out, st);
}

snip_code snip_embed_table_form(const snip_model *m, const snip_table *t, int threads, float *out,
                                snip_status *st)
{
    return embed_table(m, t, REGRESS_FORM, REGRESS_FORM_TURNED, threads, out, st);
}

const snip_expr *api_expr_copy(expr e, const expr_names *names)
{
    snip_expr *h = api_expr_new(names->name, names->count);
    if (!h)
        return NULL;
    h->e = (expr){ arena_copy(h->a, e.node, e.count * sizeof *e.node), e.count };
    if (!h->e.node) {
        snip_expr_free(h);
        return NULL;
    }
    return h;
}

void api_expr_free(const snip_expr *e)
{
    snip_expr_free((snip_expr *)(uintptr_t)e);
}

/* The candidates, judged, as the caller sees them: copies, since the table goes away. */
static snip_code ranking_of(snip_ranking **out, const regress_candidate *c, size_t n,
                            const regress_problem *p, snip_status *st)
{
    arena *a = arena_new(0);
    snip_ranking *r = calloc(1, sizeof *r);
    snip_ranked *ranked = a ? arena_zero(a, (n + 1) * sizeof *ranked) : NULL;
    if (!r || !ranked) {
        free(r);
        arena_free(a);
        return status_nomem(st);
    }
    *r = (snip_ranking){ a, n, ranked };
    for (size_t i = 0; i < n; i++) {
        const char *why = c[i].why ? arena_text(a, c[i].why, strlen(c[i].why)) : NULL;
        ranked[i] = (snip_ranked){ .formula = api_expr_copy(c[i].fitted, &p->names),
                                   .place = c[i].place,
                                   .similarity = c[i].similarity,
                                   .no_similarity = why,
                                   .loss_train = c[i].errors.loss[0],
                                   .loss_val = c[i].errors.loss[1],
                                   .loss_cross = c[i].errors.cross,
                                   .r2_train = c[i].errors.r2[0],
                                   .r2_val = c[i].errors.r2[1],
                                   .complexity = c[i].complexity,
                                   .model_size = c[i].size,
                                   .pareto = c[i].front,
                                   .score = c[i].score,
                                   .promise = c[i].promise };
        if (!ranked[i].formula || (c[i].why && !why)) {
            snip_ranking_free(r);
            return status_nomem(st);
        }
    }
    *out = r;
    return SNIP_OK;
}

static regress_rank_how rank_how(const snip_rank_options *o)
{
    static const snip_rank_options usual = { 0 };
    if (!o)
        o = &usual;
    int order = o->order == SNIP_BY_LOSS         ? REGRESS_BY_LOSS
                : o->order == SNIP_BY_SIMILARITY ? REGRESS_BY_SIMILARITY
                                                 : REGRESS_BY_BALANCE;
    return (regress_rank_how){ .spell = 1,
                               .refit = !o->keep_constants,
                               .starts = o->starts,
                               .order = order,
                               .threads = api_cores(o->threads) };
}

/* Whether the formula can be evaluated on the table. */
static snip_code fits(const snip_expr *e, size_t i, const snip_table *t, snip_status *st)
{
    if (!e)
        return status_fail(st, SNIP_FORMAT, i, "formula %zu is NULL", i);
    size_t needed = expr_inputs(e->e);
    if (needed <= t->inputs)
        return SNIP_OK;
    return status_fail(st, SNIP_FORMAT, i, "formula %zu needs %zu input%s, the table has %zu", i,
                       needed, text_plural(needed), t->inputs);
}

snip_code snip_rank(snip_ranking **out, const snip_model *m, const snip_table *t,
                    const snip_expr *const *candidates, size_t n, const snip_rank_options *options,
                    snip_status *st)
{
    snip_code code = API_MAKE(out, st, { !m, "the model" }, { !t, "the table" },
                              { n && !candidates, "the list of formulas" });
    if (code != SNIP_OK)
        return code;
    arena *a = arena_new(0);
    regress_problem p;
    regress_candidate *c = a ? arena_zero(a, (n + 1) * sizeof *c) : NULL;
    const double *weight = options ? options->weight : NULL;
    code = c ? problem_of(&p, t, weight, m, a, st) : status_nomem(st);
    for (size_t i = 0; i < n && code == SNIP_OK; i++) {
        code = fits(candidates[i], i, t, st);
        c[i].e = code == SNIP_OK ? candidates[i]->e : (expr){ 0 };
        c[i].place = i;
    }
    const regress_rank_how how = rank_how(options);
    if (code == SNIP_OK)
        code = regress_rank(c, n, &p, m->t, &how, a, st);
    if (code == SNIP_OK)
        code = ranking_of(out, c, n, &p, st);
    arena_free(a);
    return code;
}

size_t snip_ranking_count(const snip_ranking *r)
{
    return r ? r->count : 0;
}

const snip_ranked *snip_ranking_at(const snip_ranking *r, size_t i)
{
    return r && i < r->count ? &r->ranked[i] : NULL;
}

void snip_ranking_free(snip_ranking *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->count; i++)
        api_expr_free(r->ranked[i].formula);
    arena_free(r->a);
    free(r);
}

snip_code snip_index_open(snip_index **out, const char *path, const snip_model *m, snip_status *st)
{
    snip_code code = API_MAKE(out, st, { !path, "the path" }, { !m, "the model" });
    if (code != SNIP_OK)
        return code;
    snip_index *ix = calloc(1, sizeof *ix);
    code = ix ? library_open(&ix->ix, path, m->t, st) : status_nomem(st);
    if (code == SNIP_OK)
        *out = ix;
    else
        free(ix);
    return code;
}

uint64_t snip_index_count(const snip_index *ix)
{
    return ix ? library_about(ix->ix)->count : 0;
}

void snip_index_close(snip_index *ix)
{
    if (ix) {
        library_close(ix->ix);
        free(ix);
    }
}

snip_code snip_find(snip_ranking **out, const snip_model *m, snip_index *ix, const snip_table *t,
                    size_t k, const snip_rank_options *options, snip_status *st)
{
    snip_code code =
        API_MAKE(out, st, { !m, "the model" }, { !ix, "the library" }, { !t, "the table" });
    if (code != SNIP_OK)
        return code;
    arena *a = arena_new(0);
    regress_problem p;
    regress_candidate *c;
    size_t found;
    const library_find_how how = { k, rank_how(options) };
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); /* libraries hold text */
    code = a && plain ? refuse_weights(options, st) : status_nomem(st);
    if (code == SNIP_OK)
        code = problem_of(&p, t, NULL, m, a, st);
    if (code == SNIP_OK && strcmp(library_about(ix->ix)->model, m->t->hash) != 0)
        code = status_fail(st, SNIP_FORMAT, 0, "the library holds vectors of another model");
    if (code == SNIP_OK) {
        locale_t before = uselocale(plain);
        code = library_find(&c, &found, &p, m->t, ix->ix, &how, a, st);
        uselocale(before);
    }
    if (plain)
        freelocale(plain);
    if (code == SNIP_OK)
        code = ranking_of(out, c, found, &p, st);
    arena_free(a);
    return code;
}

/* What was found, as the caller sees it: copies. Returns 0 when memory is out. */
static int fill_explanation(snip_explanation *x, const regress_explanation *from,
                            const regress_problem *p, size_t edits)
{
    size_t most = from->listed < edits ? from->listed : edits;
    x->formula = api_expr_copy(from->shown, &p->names);
    x->similarity = from->similarity;
    x->gain = arena_copy(x->a, from->gain, from->e.count * sizeof *x->gain);
    x->nodes = from->e.count;
    x->edit = arena_zero(x->a, (most + 1) * sizeof *x->edit);
    if (!x->formula || !x->gain || !x->edit)
        return 0;
    for (; x->count < most; x->count++) {
        const regress_edit *e = &from->edit[x->count];
        snip_edit *to = &x->edit[x->count];
        *to = (snip_edit){ .node = e->node,
                           .text = regress_edit_text(e, from->shown, &p->names, x->a),
                           .formula = api_expr_copy(e->fitted, &p->names),
                           .gain = e->gain,
                           .r2_train = e->errors.r2[0],
                           .r2_val = e->errors.r2[1],
                           .refitted_r2_train = e->refitted.r2[0],
                           .refitted_r2_val = e->refitted.r2[1] };
        if (!to->text || !to->formula) {
            api_expr_free(to->formula);
            return 0;
        }
    }
    return 1;
}

snip_code snip_explain(snip_explanation **out, const snip_model *m, const snip_table *t,
                       const snip_expr *e, size_t edits, const snip_rank_options *options,
                       snip_status *st)
{
    snip_code code =
        API_MAKE(out, st, { !m, "the model" }, { !t, "the table" }, { !e, "the formula" });
    if (code != SNIP_OK)
        return code;
    snip_explanation *x = calloc(1, sizeof *x);
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); /* edits are described in text */
    regress_problem p;
    regress_explanation found;
    const regress_rank_how rank = rank_how(options);
    const regress_explain_how how = {
        .refit = rank.refit, .list = edits, .all = 1, .threads = rank.threads, .starts = rank.starts
    };
    arena *a = arena_new(0);
    if (!x || !c || !a || !(x->a = arena_new(0)))
        code = status_nomem(st);
    else
        code = refuse_weights(options, st);
    if (code == SNIP_OK)
        code = fits(e, 0, t, st);
    if (code == SNIP_OK)
        code = problem_of(&p, t, NULL, m, a, st);
    if (code == SNIP_OK)
        code = regress_explain(&found, e->e, &p, m->t, &how, a, st);
    if (code == SNIP_OK) {
        locale_t before = uselocale(c);
        if (!fill_explanation(x, &found, &p, edits))
            code = status_nomem(st);
        uselocale(before);
    }
    if (c)
        freelocale(c);
    arena_free(a);
    if (code == SNIP_OK)
        *out = x;
    else
        snip_explanation_free(x);
    return code;
}

const snip_expr *snip_explanation_formula(const snip_explanation *x)
{
    return x ? x->formula : NULL;
}

double snip_explanation_similarity(const snip_explanation *x)
{
    return x ? x->similarity : NAN;
}

double snip_explanation_gain(const snip_explanation *x, size_t node)
{
    return x && node < x->nodes ? x->gain[node] : NAN;
}

/* Read as rankings are: a count, an item, an end. */
size_t snip_explanation_count(const snip_explanation *x)
{
    return x ? x->count : 0;
}

const snip_edit *snip_explanation_at(const snip_explanation *x, size_t i)
{
    return x && i < x->count ? &x->edit[i] : NULL;
}

void snip_explanation_free(snip_explanation *x)
{
    if (!x)
        return;
    api_expr_free(x->formula);
    for (size_t i = 0; i < x->count; i++)
        api_expr_free(x->edit[i].formula);
    arena_free(x->a);
    free(x);
}
