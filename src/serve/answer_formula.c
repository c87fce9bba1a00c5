/* answer_formula.c - the API's requests about formulas for a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "library/find.h"
#include "library/textbook.h"
#include "regress/results.h"
#include "serve/serve_int.h"

enum { FOUND_MAX = 50 };

static json_t *bad_formula(const char *message, size_t index, size_t pos)
{
    return json_pack("{s:o,s:I,s:I}", "error", text_json(message), "formula", (json_int_t)index,
                     "pos", (json_int_t)pos);
}

int serve_usable(serve_call *c)
{
    if (!c->table)
        serve_refuse(c->q, 404, "there is no such table any more; send it again");
    else if (c->table->error)
        serve_refuse(c->q, 422, "%s", c->table->error);
    else
        return 1;
    return 0;
}

static int read_formula(serve_call *c, expr *out, const char *s, size_t index,
                        const expr_names *names)
{
    snip_status st;
    if (!s || strlen(s) > SERVE_FORMULA_BYTES) {
        serve_reply(c->q, 422,
                    bad_formula(s ? "the formula is too long" : "a formula is missing", index, 0));
        return 0;
    }
    if (expr_parse(out, s, names, c->a, &st) != SNIP_OK) {
        serve_reply(c->q, 422, bad_formula(st.msg, index, st.pos));
        return 0;
    }
    return 1;
}

size_t serve_read_formulas(serve_call *c, expr **out, const char ***source, const expr_names *names)
{
    json_t *list = json_object_get(c->body, "formulas"), *one = json_object_get(c->body, "formula");
    size_t n = json_is_array(list) ? json_array_size(list) : one ? 1 : 0;
    if (n == 0 || n > SERVE_FORMULAS_MAX) {
        serve_refuse(c->q, 422, n ? "more than %d formulas" : "formulas are missing (at most %d)",
                     SERVE_FORMULAS_MAX);
        return 0;
    }
    *out = arena_array(c->a, n, sizeof **out);
    *source = arena_array(c->a, n, sizeof **source);
    if (!*out || !*source) {
        serve_refuse(c->q, 503, "out of memory");
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        (*source)[i] = json_string_value(json_is_array(list) ? json_array_get(list, i) : one);
        if (!read_formula(c, &(*out)[i], (*source)[i], i, names))
            return 0;
    }
    return n;
}

const model_opened *serve_model_for(const serve_call *c)
{
    const model_opened *m = c->s->o.model;
    return m && c->table->p.dim <= (size_t)m->m->config.dims ? m : NULL;
}

void serve_no_model(serve_call *c)
{
    serve_refuse(c->q, 422,
                 c->s->o.model ? "the model reads fewer inputs than the table has"
                               : "there is no model");
}

void serve_failed(serve_call *c, const snip_status *st)
{
    int own = st->code == SNIP_NOMEM || st->code == SNIP_IO; /* nothing that was sent is at fault */
    serve_refuse(c->q, own ? 503 : 422, "%s", st->msg);
}

void serve_post_rank(serve_call *c)
{
    expr *e;
    const char **source;
    snip_status st;
    if (!serve_usable(c))
        return;
    size_t n = serve_read_formulas(c, &e, &source, &c->table->p.names);
    if (n == 0)
        return;
    regress_candidate *k = arena_zero(c->a, n * sizeof *k);
    for (size_t i = 0; i < n && k; i++) {
        k[i].e = e[i];
        k[i].text = source[i];
        k[i].place = i + 1;
    }
    const json_t *refit = json_object_get(c->body, "refit");
    const regress_rank_how how = { .spell = 1,
                                   .refit = !json_is_false(refit),
                                   .order = REGRESS_BY_BALANCE,
                                   .threads = c->s->o.threads };
    const model_opened *m = serve_model_for(c);
    if (!k)
        serve_refuse(c->q, 503, "out of memory");
    else if (regress_rank(k, n, &c->table->p, m, &how, c->a, &st) != SNIP_OK)
        serve_failed(c, &st);
    else
        serve_reply(c->q, 200, regress_ranking_json(k, n, &c->table->p, m ? m->hash : NULL, c->a));
}

/* Formulas of the library, as `snip find --index`: forms have no constants before a refit. */
static snip_code find_in_library(regress_candidate **out, size_t *found, serve_call *c,
                                 const model_opened *m, size_t wanted, snip_status *st)
{
    int refit = m->m->config.forms || !json_is_false(json_object_get(c->body, "refit"));
    const library_find_how how = { wanted,
                                   { .refit = refit,
                                     .order = refit ? REGRESS_BY_BALANCE : REGRESS_BY_SIMILARITY,
                                     .threads = c->s->o.threads } };
    pthread_mutex_lock(&c->s->library_lock);
    snip_code code = library_find(out, found, &c->table->p, m, c->s->library, &how, c->a, st);
    pthread_mutex_unlock(&c->s->library_lock);
    return code;
}

/* Laws of the textbooks, as `snip find` without a library. */
static snip_code find_in_textbook(regress_candidate **out, size_t *found, serve_call *c,
                                  const model_opened *m, size_t wanted, snip_status *st)
{
    library_textbook book;
    const library_textbook_how how = { .k = wanted, .threads = c->s->o.threads };
    snip_code code = library_textbook_builtin(&book, c->a, st);
    return code != SNIP_OK
               ? code
               : library_textbook_find(out, found, &c->table->p, &book,
                                       m && m->m->config.forms ? m : NULL, &how, c->a, st);
}

void serve_post_find(serve_call *c)
{
    regress_candidate *k;
    size_t found;
    snip_status st;
    json_int_t asked = json_integer_value(json_object_get(c->body, "count"));
    size_t wanted = asked > 0 && asked <= FOUND_MAX ? (size_t)asked : 10;
    if (!serve_usable(c))
        return;
    const model_opened *m = serve_model_for(c);
    snip_code code;
    if (!c->s->library)
        code = find_in_textbook(&k, &found, c, m, wanted, &st);
    else if (m)
        code = find_in_library(&k, &found, c, m, wanted, &st);
    else {
        serve_no_model(c);
        return;
    }
    if (code != SNIP_OK)
        serve_failed(c, &st);
    else
        serve_reply(c->q, 200,
                    regress_ranking_json(k, found, &c->table->p, m ? m->hash : NULL, c->a));
}

/* A law of the map as a candidate: a formula in x0, x1, ... of standardised inputs becomes one in
 * the table's own, with constants fitted to it. */
void serve_post_take(serve_call *c)
{
    expr *e;
    const char **source;
    snip_status st;
    if (!serve_usable(c) || serve_read_formulas(c, &e, &source, NULL) == 0)
        return;
    const model_opened *m = serve_model_for(c);
    const regress_problem *p = &c->table->p;
    if (!m) {
        serve_no_model(c);
        return;
    }
    if (expr_inputs(e[0]) > p->dim) {
        serve_refuse(c->q, 422, "that law has %zu inputs, the table %zu", expr_inputs(e[0]),
                     p->dim);
        return;
    }
    regress_candidate one = { .text = source[0], .place = 1 };
    const regress_rank_how how = { .spell = 1, .refit = 1, .threads = c->s->o.threads };
    if (library_candidate(&one.e, e[0], serve_all_inputs(p), p, m->m->config.forms, c->a, &st) !=
            SNIP_OK ||
        regress_rank(&one, 1, p, m, &how, c->a, &st) != SNIP_OK)
        serve_failed(c, &st);
    else
        serve_reply(c->q, 200, regress_candidate_json(&one, &p->names, c->a));
}

/* The formula's values beside the measured ones. Returns 0 when memory is out. */
static int add_values(serve_call *c, json_t *out, expr e)
{
    const table *t = &c->table->t;
    const char **names;
    const double **x;
    double *value = arena_array(c->a, t->rows, sizeof *value);
    if (!value || !table_inputs(t, &names, &x, c->a) ||
        expr_eval(e, x, t->rows, value, c->a) == (size_t)-1)
        return 0;
    json_object_set_new(out, "predicted", serve_numbers(value, t->rows));
    json_object_set_new(out, "measured", serve_numbers(t->column[t->target], t->rows));
    return 1;
}

/* A formula in every notation, and its values beside the measured ones. */
void serve_post_formula(serve_call *c)
{
    static const struct {
        const char *name;
        snip_format format;
    } formats[] = { { "text", SNIP_INFIX },
                    { "prefix", SNIP_PREFIX },
                    { "latex", SNIP_LATEX },
                    { "sympy", SNIP_SYMPY },
                    { "c", SNIP_C } };
    expr *e;
    const char **source;
    if (c->table && !serve_usable(c))
        return;
    const expr_names *names = c->table ? &c->table->p.names : NULL;
    if (serve_read_formulas(c, &e, &source, names) == 0)
        return;
    json_t *out = json_object();
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        /* Prefix is what a program reads: x_0, x_1, ... there, for a name may hold a comma. */
        const expr_names *called = formats[k].format == SNIP_PREFIX ? NULL : names;
        const char *s = expr_print(e[0], formats[k].format, called, 0, c->a);
        json_object_set_new(out, formats[k].name, text_json(s ? s : ""));
    }
    json_object_set_new(out, "nodes", json_integer((json_int_t)e[0].count));
    if (c->table && !add_values(c, out, e[0])) {
        json_decref(out);
        serve_refuse(c->q, 503, "out of memory");
        return;
    }
    serve_reply(c->q, 200, out);
}

void serve_post_embed(serve_call *c)
{
    expr *e = NULL;
    const char **source;
    snip_status st;
    json_t *out = NULL;
    if (c->table && !serve_usable(c))
        return;
    if (!c->s->o.model || (c->table && !serve_model_for(c))) {
        serve_no_model(c);
        return;
    }
    size_t n = c->table ? 0 : serve_read_formulas(c, &e, &source, NULL);
    if (!c->table && n == 0)
        return;
    snip_code code = c->table ? serve_embed_table(&out, c->s, c->table, c->a, &st)
                              : serve_embed_formulas(&out, c->s, e, n, c->a, &st);
    if (code != SNIP_OK)
        serve_failed(c, &st);
    else
        serve_reply(c->q, 200, out);
}

void serve_post_map(serve_call *c)
{
    expr *e = NULL;
    const char **source = NULL;
    size_t n = 0;
    snip_status st;
    json_t *out = NULL;
    if (!serve_usable(c))
        return;
    if (!serve_model_for(c)) {
        serve_no_model(c);
        return;
    }
    json_t *list = json_object_get(c->body, "formulas");
    if (json_array_size(list) > 0 &&
        (n = serve_read_formulas(c, &e, &source, &c->table->p.names)) == 0)
        return;
    const serve_candidates candidates = { e, source, n };
    if (serve_map_json(&out, c->s, c->table, &candidates, c->a, &st) != SNIP_OK)
        serve_failed(c, &st);
    else
        serve_reply(c->q, 200, out);
}
