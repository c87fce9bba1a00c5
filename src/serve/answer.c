/* answer.c - the JSON API: one function a route, one table of routes. Tables, formulas and
 * explanations have files of their own.
 *
 * Errors are {"error": sentence}, with the sentence that the command line prints: status 422 where
 * the data or a formula are at fault, 404 for what is not there, 400 for a request that is none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve_int.h"

enum { SECONDS_MAX = 3600 };

const char *serve_query(const serve_request *q, const char *name)
{
    for (size_t k = 0; k < q->queries; k++)
        if (q->query[k][0] && strcmp(q->query[k][0], name) == 0)
            return q->query[k][1];
    return NULL;
}

/* ---- searches ---- */

static void post_fit(serve_call *c)
{
    snip_status st;
    if (!serve_usable(c))
        return;
    const serve *s = c->s;
    double seconds = json_number_value(json_object_get(c->body, "seconds"));
    json_int_t evaluations = json_integer_value(json_object_get(c->body, "evals"));
    json_int_t size = json_integer_value(json_object_get(c->body, "max_size"));
    json_int_t seed = json_integer_value(json_object_get(c->body, "seed"));
    search_how how = { .seconds = seconds > 0       ? fmin(seconds, SECONDS_MAX)
                                  : evaluations > 0 ? SECONDS_MAX
                                                    : 60,
                       .evaluations = evaluations > 0 ? (uint64_t)evaluations : 0,
                       .threads = s->o.threads,
                       .seed = (uint64_t)seed,
                       .max_size = size > 0 && size <= SEARCH_SIZE_MAX ? (size_t)size : 0,
                       .memory = (size_t)512 << 20,
                       .model = serve_model_for(c) };
    how.library = how.model ? s->o.library : NULL;
    serve_search *x = serve_search_start(c->s, c->table, &how, &st);
    if (!x) {
        serve_refuse(c->q, st.code == SNIP_UNSUPPORTED ? 429 : 503, "%s", st.msg);
        return;
    }
    serve_reply(c->q, 200, json_pack("{s:s,s:s}", "fit", x->id, "table", c->table->id));
    serve_search_release(c->s, x);
}

static serve_search *search_of(serve_call *c)
{
    serve_search *x = serve_search_find(c->s, c->id);
    if (!x)
        serve_refuse(c->q, 404, "there is no such search any more");
    return x;
}

static void get_fit(serve_call *c)
{
    serve_search *x = search_of(c);
    if (!x)
        return;
    pthread_mutex_lock(&x->lock);
    char *text = serve_search_state(x);
    pthread_mutex_unlock(&x->lock);
    json_t *state = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    if (state)
        json_object_set_new(state, "table", json_string(x->table->id));
    serve_search_release(c->s, x);
    serve_reply(c->q, 200, state);
}

static void get_events(serve_call *c)
{
    c->q->stream = search_of(c); /* given back when the stream ends */
}

static void post_stop(serve_call *c)
{
    serve_search *x = search_of(c);
    if (!x)
        return;
    x->cancel = 1;
    serve_search_release(c->s, x);
    serve_reply(c->q, 200, json_pack("{s:b}", "stopped", 1));
}

static void get_info(serve_call *c)
{
    json_t *ops = json_object();
    for (int op = 0; op < EXPR_OP_COUNT; op++)
        if (expr_ops[op].name[0])
            json_object_set_new(ops, expr_ops[op].name, json_integer(expr_ops[op].arity));
    const serve *s = c->s;
    const model_opened *m = s->o.model;
    json_t *library =
        s->library ? json_integer((json_int_t)library_about(s->library)->count) : json_null();
    serve_reply(c->q, 200,
                json_pack("{s:s,s:s?,s:o,s:s?,s:b,s:I,s:o,s:o}", "version", SNIP_VERSION, "model",
                          m ? m->hash : NULL, "library", library, "table",
                          *s->first ? s->first : NULL, "map", m != NULL, "max_upload",
                          (json_int_t)s->o.max_upload, "examples", serve_examples_json(),
                          "operators", ops));
}

/* ---- routes ---- */

static const struct {
    const char *method, *path; /* * stands for an id */
    void (*run)(serve_call *);
} routes[] = {
    { "GET", "/api/info", get_info },
    { "POST", "/api/table", serve_post_table },
    { "GET", "/api/table/*", serve_get_table },
    { "POST", "/api/fit", post_fit },
    { "GET", "/api/fit/*", get_fit },
    { "GET", "/api/fit/*/events", get_events },
    { "POST", "/api/fit/*/stop", post_stop },
    { "POST", "/api/rank", serve_post_rank },
    { "POST", "/api/explain", serve_post_explain },
    { "POST", "/api/formula", serve_post_formula },
    { "POST", "/api/find", serve_post_find },
    { "POST", "/api/embed", serve_post_embed },
    { "POST", "/api/map", serve_post_map },
    { "POST", "/api/take", serve_post_take },
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
    serve_call c = { .s = s, .q = q, .id = id, .a = arena_new(0) };
    json_error_t error;
    int is_table = routes[route].run == serve_post_table && q->csv;
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
