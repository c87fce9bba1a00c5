/* answer.c - the JSON API: one function a route, one table of routes.
 *
 * Errors are {"error": sentence}, with the sentence that the command line prints: status 422 where
 * the data or a formula are at fault, 404 for what is not there, 400 for a request that is none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "library/textbook.h"
#include "model/space.h"
#include "regress/explain.h"
#include "regress/results.h"
#include "serve/serve_int.h"

enum {
    PREVIEW = 8,  /* rows of a table that are shown */
    BINS = 24,    /* of a histogram */
    POINTS = 400, /* rows of a scatter plot */
    FOUND_MAX = 50,
    EDITS = 24, /* refitted when a formula is explained */
    EDITS_MAX = 1000,
    EXPLAIN_ALL = 1000, /* nodes times rows up to which all edits are */
    SECONDS_MAX = 3600
};

extern const char data_embedded_pendulum[], data_embedded_misra1a[], data_embedded_kepler[],
    data_embedded_boyle[], data_embedded_puromycin[];

static const struct {
    const char *name, *text, *about;
} examples[] = {
    { "kepler.csv", data_embedded_kepler, "orbits of the planets: axis and period" },
    { "boyle.csv", data_embedded_boyle,
      "Boyle's measurements of 1662: volume and pressure of air" },
    { "puromycin.csv", data_embedded_puromycin, "rate of an enzyme reaction by concentration" },
    { "pendulum.csv", data_embedded_pendulum, "period of a pendulum, with noise" },
    { "misra1a.csv", data_embedded_misra1a, "NIST's Misra1a: volume adsorbed by pressure" },
};

/* What a route works with. */
typedef struct call {
    serve *s;
    serve_request *q;
    json_t *body; /* NULL: the request had none */
    arena *a;
    serve_table *table; /* that body.table names; NULL: none */
    const char *id;     /* what stands in the path for * */
} call;

static json_t *bad_formula(const char *message, size_t index, size_t pos)
{
    return json_pack("{s:o,s:I,s:I}", "error", text_json(message), "formula", (json_int_t)index,
                     "pos", (json_int_t)pos);
}

static const char *query(const call *c, const char *name)
{
    for (size_t k = 0; k < c->q->queries; k++)
        if (c->q->query[k][0] && strcmp(c->q->query[k][0], name) == 0)
            return c->q->query[k][1];
    return NULL;
}

/* ---- tables ---- */

static json_t *numbers(const double *v, size_t n, size_t step)
{
    json_t *out = json_array();
    for (size_t i = 0; i < n; i += step)
        json_array_append_new(out, text_json_real(v[i]));
    return out;
}

static json_t *column_json(const table *t, size_t j, const char *role)
{
    const double *v = t->column[j];
    double low = INFINITY, high = -INFINITY, sum = 0;
    json_int_t bin[BINS] = { 0 };
    for (size_t i = 0; i < t->rows; i++) {
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
        sum += v[i] / (double)t->rows;
    }
    for (size_t i = 0; i < t->rows && high > low; i++) {
        size_t k = (size_t)((v[i] - low) / (high - low) * BINS);
        bin[k < BINS ? k : BINS - 1]++;
    }
    json_t *bins = json_array();
    for (size_t k = 0; k < BINS; k++)
        json_array_append_new(bins, json_integer(bin[k]));
    size_t step = t->rows / POINTS + 1;
    return json_pack("{s:o,s:s,s:o,s:o,s:o,s:o,s:o}", "name", text_json(t->name[j]), "role", role,
                     "min", text_json_real(low), "max", text_json_real(high), "mean",
                     text_json_real(sum), "histogram", bins, "points", numbers(v, t->rows, step));
}

static const char *role_of(const table *t, size_t j)
{
    if (j == t->target)
        return "target";
    for (size_t k = 0; k < t->inputs; k++)
        if (t->input[k] == j)
            return "input";
    return "unused";
}

/* What was read, and what was wrong with it. */
static json_t *table_json(const serve_table *x, arena *a)
{
    const table *t = &x->t;
    json_t *columns = json_array(), *notes = json_array(), *preview = json_array();
    for (size_t j = 0; j < t->columns; j++) {
        const char *role = x->error ? "unused" : role_of(t, j);
        json_array_append_new(
            columns, strcmp(role, "unused") == 0
                         ? json_pack("{s:o,s:s}", "name", text_json(t->name[j]), "role", role)
                         : column_json(t, j, role));
    }
    for (size_t i = 0; !x->error && i < t->rows && i < PREVIEW; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < t->columns; j++)
            json_array_append_new(row, text_json_real(t->column[j][i]));
        json_array_append_new(preview, row);
    }
    const char *note;
    for (size_t k = 0; !x->error && (note = table_note(t, &x->how, k, a)); k++)
        json_array_append_new(notes, text_json(note));
    for (size_t k = 0; !x->error && (note = regress_problem_note(&x->p, k, a)); k++)
        json_array_append_new(notes, text_json(note));
    return json_pack("{s:s,s:o,s:I,s:o,s:o,s:o,s:o}", "table", x->id, "name", text_json(x->name),
                     "rows", (json_int_t)(x->error ? 0 : t->rows), "columns", columns, "preview",
                     preview, "notes", notes, "error",
                     x->error ? text_json(x->error) : json_null());
}

static void reply_table(call *c, serve_table *t, const snip_status *st)
{
    if (!t) {
        serve_refuse(c->q, st->code == SNIP_NOMEM ? 503 : 422, "%s", st->msg);
        return;
    }
    serve_reply(c->q, 200, table_json(t, c->a));
    serve_table_release(c->s, t);
}

/* POST /api/table with CSV, or {"example": name}, or {"table": id, "target": ..., "columns":
 * [...]}.
 */
static void post_table(call *c)
{
    snip_status st = { .code = SNIP_NOMEM, .msg = "out of memory" };
    if (!c->body) {
        const char *name = query(c, "name");
        if (c->q->size == 0) {
            serve_refuse(c->q, 422, "the file is empty");
            return;
        }
        reply_table(c,
                    serve_table_add(c->s, name && *name ? name : "table.csv", c->q->body,
                                    c->q->size, query(c, "target"), query(c, "columns"), &st),
                    &st);
        return;
    }
    const char *example = json_string_value(json_object_get(c->body, "example"));
    for (size_t k = 0; example && k < sizeof examples / sizeof *examples; k++)
        if (strcmp(example, examples[k].name) == 0) {
            reply_table(c,
                        serve_table_add(c->s, examples[k].name, examples[k].text,
                                        strlen(examples[k].text), NULL, NULL, &st),
                        &st);
            return;
        }
    if (example || !c->table) {
        serve_refuse(c->q, 404, example ? "there is no such example" : "there is no such table");
        return;
    }
    /* Names as a line of CSV, which is what the reader of tables takes. */
    json_t *list = json_object_get(c->body, "columns");
    const char *target = json_string_value(json_object_get(c->body, "target"));
    text line = { .a = c->a };
    for (size_t k = 0; json_is_array(list) && k < json_array_size(list); k++) {
        const char *name = json_string_value(json_array_get(list, k));
        text_add(&line, k ? ",\"" : "\"");
        for (; name && *name; name++)
            text_add(&line, *name == '"' ? "\"\"" : "%c", *name);
        text_add(&line, "\"");
    }
    const char *columns = json_is_array(list) ? text_end(&line) : NULL;
    reply_table(c, serve_table_choose(c->s, c->table, target, columns, &st), &st);
}

static void get_table(call *c)
{
    serve_table *t = serve_table_find(c->s, c->id);
    if (!t) {
        serve_refuse(c->q, 404, "there is no such table any more; send it again");
        return;
    }
    serve_reply(c->q, 200, table_json(t, c->a));
    serve_table_release(c->s, t);
}

/* ---- formulas ---- */

/* Whether there is a table that can be used; refuses if not. */
static int usable(call *c)
{
    if (!c->table)
        serve_refuse(c->q, 404, "there is no such table any more; send it again");
    else if (c->table->error)
        serve_refuse(c->q, 422, "%s", c->table->error);
    else
        return 1;
    return 0;
}

static int read_formula(call *c, expr *out, const char *s, size_t index, const expr_names *names)
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

/* The formulas of body.formulas or body.formula; returns how many, 0 after refusing. */
static size_t read_formulas(call *c, expr **out, const char ***source, const expr_names *names)
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

/* Whether the model can be asked about this table. */
static const model_opened *model_for(const call *c)
{
    const model_opened *m = c->s->o.model;
    return m && c->table->p.dim <= (size_t)m->m->config.dims ? m : NULL;
}

static void failed(call *c, const snip_status *st)
{
    serve_refuse(c->q, st->code == SNIP_NOMEM ? 503 : 422, "%s", st->msg);
}

static void post_rank(call *c)
{
    expr *e;
    const char **source;
    snip_status st;
    if (!usable(c))
        return;
    size_t n = read_formulas(c, &e, &source, &c->table->p.names);
    if (n == 0)
        return;
    regress_candidate *k = arena_zero(c->a, n * sizeof *k);
    for (size_t i = 0; i < n && k; i++) {
        k[i].e = e[i];
        k[i].text = source[i];
        k[i].place = i + 1;
    }
    const json_t *refit = json_object_get(c->body, "refit");
    const regress_rank_how how = { .refit = !json_is_false(refit),
                                   .order = REGRESS_BY_BALANCE,
                                   .threads = c->s->o.threads };
    const model_opened *m = model_for(c);
    if (!k)
        serve_refuse(c->q, 503, "out of memory");
    else if (regress_rank(k, n, &c->table->p, m, &how, c->a, &st) != SNIP_OK)
        failed(c, &st);
    else
        serve_reply(c->q, 200, regress_ranking_json(k, n, &c->table->p, m ? m->hash : NULL, c->a));
}

static void post_find(call *c)
{
    library_textbook book;
    regress_candidate *k;
    size_t found;
    snip_status st;
    json_int_t wanted = json_integer_value(json_object_get(c->body, "count"));
    if (!usable(c))
        return;
    const model_opened *m = model_for(c);
    const library_textbook_how how = { .k = wanted > 0 && wanted < FOUND_MAX ? (size_t)wanted : 10,
                                       .threads = c->s->o.threads };
    if (library_textbook_builtin(&book, c->a, &st) != SNIP_OK ||
        library_textbook_find(&k, &found, &c->table->p, &book, m && m->m->config.forms ? m : NULL,
                              &how, c->a, &st) != SNIP_OK)
        failed(c, &st);
    else
        serve_reply(c->q, 200,
                    regress_ranking_json(k, found, &c->table->p, m ? m->hash : NULL, c->a));
}

/* The tree of an explained formula: what a drawing needs. */
static json_t *tree_json(const regress_explanation *x, const expr_names *names)
{
    json_t *out = json_array();
    for (size_t i = 0; i < x->e.count; i++) {
        char buf[48];
        json_array_append_new(out, json_pack("{s:o,s:i,s:f}", "label",
                                             text_json(regress_node_label(x, i, names, buf)),
                                             "arity", expr_ops[x->e.node[i].op].arity, "share",
                                             regress_gain_share(x, i)));
    }
    return out;
}

static void post_explain(call *c)
{
    expr *e;
    const char **source;
    snip_status st;
    regress_explanation x;
    if (!usable(c) || read_formulas(c, &e, &source, &c->table->p.names) == 0)
        return;
    const model_opened *m = model_for(c);
    if (!m) {
        serve_refuse(c->q, 422,
                     c->s->o.model ? "the model reads fewer inputs than the table has"
                                   : "there is no model");
        return;
    }
    /* Somebody waits. Refits of all edits take a minute for 16 nodes on 1,000 rows, so all are made
     * only for little; a refit begins at fitted constants anyway, which one start is enough for. */
    json_int_t wanted = json_integer_value(json_object_get(c->body, "try"));
    const regress_explain_how how = {
        .refit = 1,
        .list = wanted > 0 && wanted <= EDITS_MAX ? (size_t)wanted : EDITS,
        .all = wanted == 0 && e[0].count * c->table->p.fit <= EXPLAIN_ALL,
        .starts = 1,
        .threads = c->s->o.threads
    };
    if (regress_explain(&x, e[0], &c->table->p, m, &how, c->a, &st) != SNIP_OK) {
        failed(c, &st);
        return;
    }
    json_t *out = regress_explanation_json(&x, &c->table->p, x.listed, m->hash, c->a);
    if (out)
        json_object_set_new(out, "tree", tree_json(&x, &c->table->p.names));
    serve_reply(c->q, 200, out);
}

/* A formula in every notation, and its values beside the measured ones. */
static void post_formula(call *c)
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
    if (c->table && !usable(c))
        return;
    const expr_names *names = c->table ? &c->table->p.names : NULL;
    if (read_formulas(c, &e, &source, names) == 0)
        return;
    json_t *out = json_object();
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        /* Prefix is what a program reads: x_0, x_1, ... there, for a name may hold a comma. */
        const expr_names *called = formats[k].format == SNIP_PREFIX ? NULL : names;
        const char *s = expr_print(e[0], formats[k].format, called, 0, c->a);
        json_object_set_new(out, formats[k].name, text_json(s ? s : ""));
    }
    json_object_set_new(out, "nodes", json_integer((json_int_t)e[0].count));
    if (c->table) {
        const table *t = &c->table->t;
        const char **column_names;
        const double **x;
        size_t step = t->rows / POINTS + 1;
        double *value = arena_array(c->a, t->rows, sizeof *value);
        if (!value || !table_inputs(t, &column_names, &x, c->a) ||
            expr_eval(e[0], (const double *const *)x, t->rows, value, c->a) == (size_t)-1) {
            json_decref(out);
            serve_refuse(c->q, 503, "out of memory");
            return;
        }
        json_object_set_new(out, "predicted", numbers(value, t->rows, step));
        json_object_set_new(out, "measured", numbers(t->column[t->target], t->rows, step));
    }
    serve_reply(c->q, 200, out);
}

static void post_embed(call *c)
{
    expr *e;
    const char **source;
    snip_status st;
    const model_opened *m = c->s->o.model;
    if (!m) {
        serve_refuse(c->q, 422, "there is no model");
        return;
    }
    size_t latent = (size_t)m->m->config.latent;
    json_t *vectors = json_array();
    if (c->table) {
        float *z = arena_array(c->a, latent, sizeof *z);
        if (!usable(c) || !z || !model_for(c)) {
            json_decref(vectors);
            if (!c->q->status)
                serve_refuse(c->q, 422, "the model reads fewer inputs than the table has");
            return;
        }
        regress_inputs all = c->table->p.dim >= 32 ? ~0u : (1u << c->table->p.dim) - 1;
        regress_view view = m->m->config.forms ? REGRESS_FORM : REGRESS_EXACT;
        model_space *space = model_space_new(m->m, m->tree, c->s->o.threads);
        snip_code code = space ? regress_problem_embed(&c->table->p, all, view, space, z, &st)
                               : status_nomem(&st);
        model_space_free(space);
        if (code != SNIP_OK) {
            json_decref(vectors);
            failed(c, &st);
            return;
        }
        json_t *v = json_array();
        for (size_t k = 0; k < latent; k++)
            json_array_append_new(v, json_real(z[k]));
        json_array_append_new(vectors, v);
        serve_reply(c->q, 200, json_pack("{s:o,s:s}", "vectors", vectors, "model", m->hash));
        return;
    }
    size_t n = read_formulas(c, &e, &source, NULL);
    if (n == 0) {
        json_decref(vectors);
        return;
    }
    json_decref(vectors);
    json_t *out = NULL;
    if (serve_embed_json(&out, c->s, e, n, c->a, &st) != SNIP_OK)
        failed(c, &st);
    else
        serve_reply(c->q, 200, out);
}

static void post_map(call *c)
{
    expr *e = NULL;
    const char **source = NULL;
    size_t n = 0;
    snip_status st;
    json_t *out = NULL;
    if (!usable(c))
        return;
    json_t *list = json_object_get(c->body, "formulas");
    if (json_array_size(list) > 0 && (n = read_formulas(c, &e, &source, &c->table->p.names)) == 0)
        return;
    if (serve_map_json(&out, c->s, c->table, e, source, n, c->a, &st) != SNIP_OK)
        failed(c, &st);
    else
        serve_reply(c->q, 200, out);
}

/* ---- searches ---- */

static void post_fit(call *c)
{
    snip_status st;
    if (!usable(c))
        return;
    double seconds = json_number_value(json_object_get(c->body, "seconds"));
    json_int_t size = json_integer_value(json_object_get(c->body, "max_size"));
    json_int_t seed = json_integer_value(json_object_get(c->body, "seed"));
    search_how how = { .seconds = seconds > 0 ? fmin(seconds, SECONDS_MAX) : 60,
                       .threads = c->s->o.threads,
                       .seed = (uint64_t)seed,
                       .max_size = size > 0 && size <= SEARCH_SIZE_MAX ? (size_t)size : 0,
                       .memory = (size_t)512 << 20,
                       .model = model_for(c) };
    serve_search *x = serve_search_start(c->s, c->table, &how, &st);
    if (!x) {
        serve_refuse(c->q, st.code == SNIP_UNSUPPORTED ? 429 : 503, "%s", st.msg);
        return;
    }
    serve_reply(c->q, 200, json_pack("{s:s,s:s}", "fit", x->id, "table", c->table->id));
    serve_search_release(c->s, x);
}

static serve_search *search_of(call *c)
{
    serve_search *x = serve_search_find(c->s, c->id);
    if (!x)
        serve_refuse(c->q, 404, "there is no such search any more");
    return x;
}

static void get_fit(call *c)
{
    serve_search *x = search_of(c);
    if (!x)
        return;
    pthread_mutex_lock(&x->lock);
    json_t *state = x->state ? json_loads(x->state, 0, NULL) : json_pack("{s:b}", "done", x->done);
    pthread_mutex_unlock(&x->lock);
    if (state)
        json_object_set_new(state, "table", json_string(x->table->id));
    serve_search_release(c->s, x);
    serve_reply(c->q, 200, state);
}

static void get_events(call *c)
{
    c->q->stream = search_of(c); /* given back when the stream ends */
}

static void post_stop(call *c)
{
    serve_search *x = search_of(c);
    if (!x)
        return;
    x->cancel = 1;
    serve_search_release(c->s, x);
    serve_reply(c->q, 200, json_pack("{s:b}", "stopped", 1));
}

static void get_info(call *c)
{
    json_t *list = json_array(), *ops = json_object();
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++)
        json_array_append_new(
            list, json_pack("{s:s,s:s}", "name", examples[k].name, "about", examples[k].about));
    for (int op = 0; op < EXPR_OP_COUNT; op++)
        if (expr_ops[op].name[0])
            json_object_set_new(ops, expr_ops[op].name, json_integer(expr_ops[op].arity));
    const model_opened *m = c->s->o.model;
    serve_reply(c->q, 200,
                json_pack("{s:s,s:s?,s:s?,s:b,s:o,s:o}", "version", SNIP_VERSION, "model",
                          m ? m->hash : NULL, "table", *c->s->first ? c->s->first : NULL, "map",
                          m != NULL, "examples", list, "operators", ops));
}

/* ---- routes ---- */

static const struct {
    const char *method, *path; /* * stands for an id */
    void (*run)(call *);
} routes[] = {
    { "GET", "/api/info", get_info },         { "POST", "/api/table", post_table },
    { "GET", "/api/table/*", get_table },     { "POST", "/api/fit", post_fit },
    { "GET", "/api/fit/*", get_fit },         { "GET", "/api/fit/*/events", get_events },
    { "POST", "/api/fit/*/stop", post_stop }, { "POST", "/api/rank", post_rank },
    { "POST", "/api/explain", post_explain }, { "POST", "/api/formula", post_formula },
    { "POST", "/api/find", post_find },       { "POST", "/api/embed", post_embed },
    { "POST", "/api/map", post_map },
};

/* Whether a path fits a pattern; what stands for the * goes to `id`. */
static int matches(const char *path, const char *pattern, char id[64])
{
    const char *star = strchr(pattern, '*');
    if (!star)
        return strcmp(path, pattern) == 0;
    size_t before = (size_t)(star - pattern);
    if (strncmp(path, pattern, before) != 0)
        return 0;
    size_t n = strcspn(path + before, "/");
    if (n == 0 || n >= 64 || strcmp(path + before + n, star + 1) != 0)
        return 0;
    memcpy(id, path + before, n);
    id[n] = 0;
    return 1;
}

void serve_answer(serve *s, serve_request *q)
{
    char id[64] = "";
    size_t route = 0, count = sizeof routes / sizeof *routes, other = count;
    for (; route < count; route++)
        if (matches(q->path, routes[route].path, id)) {
            if (strcmp(q->method, routes[route].method) == 0)
                break;
            other = route;
        }
    if (route == count) {
        serve_refuse(q, other < count ? 405 : 404,
                     other < count ? "this address wants %s" : "there is no such address",
                     other < count ? routes[other].method : "");
        return;
    }
    call c = { .s = s, .q = q, .id = id, .a = arena_new(0) };
    json_error_t error;
    int is_table = routes[route].run == post_table && q->csv;
    if (strcmp(q->method, "POST") == 0 && !is_table && routes[route].run != post_stop) {
        c.body = json_loadb(q->body ? q->body : "", q->size, 0, &error);
        if (!json_is_object(c.body)) {
            json_decref(c.body);
            arena_free(c.a);
            serve_refuse(q, 400, "the body is not a JSON object");
            return;
        }
    }
    const char *table = json_string_value(json_object_get(c.body, "table"));
    c.table = table ? serve_table_find(s, table) : NULL;
    if (!c.a)
        serve_refuse(q, 503, "out of memory");
    else
        routes[route].run(&c);
    serve_table_release(s, c.table);
    json_decref(c.body);
    arena_free(c.a);
}
