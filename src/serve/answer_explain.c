/* answer_explain.c - a formula explained in steps, so that nobody waits: first the tree with the
 * gains of its parts, then refitted edits, a fraction of a second of them a request, those of the
 * part that was asked for before all others, at last the verdict.
 *
 * The explanation under way is kept with its table until another formula is explained. Whoever
 * looks at it counts as its user; the last one frees it. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "regress/results.h"
#include "serve/serve_int.h"

enum {
    EDITS = 40, /* refitted where all would take long, as `snip explain` does */
    EDITS_MAX = 1000,
    NODES_MAX = 100, /* of a formula: an explanation holds some thirty copies of it a node */
    AT_ONCE = 256,   /* refits between two looks at the clock, at most */
    WHOLE_MAX = 2    /* formulas that are explained in one answer each: workers that this takes */
};

struct serve_explained {
    /* Set once. */
    char *formula;
    size_t tries; /* 0: as many as `snip explain` makes by itself */
    arena *a;
    pthread_mutex_t lock; /* of what follows */
    int begun, ended;
    snip_code code; /* of the beginning */
    snip_status why;
    regress_explanation x;
    /* Guarded by the lock of the lists. */
    int users;
};

static void explained_free(struct serve_explained *x)
{
    arena_free(x->a);
    free(x->formula);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

void serve_explained_drop(struct serve_explained *x)
{
    if (x && --x->users == 0)
        explained_free(x);
}

static void release(serve *s, struct serve_explained *x)
{
    pthread_mutex_lock(&s->lock);
    serve_explained_drop(x);
    pthread_mutex_unlock(&s->lock);
}

static struct serve_explained *explained_new(const char *formula, size_t tries)
{
    struct serve_explained *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    pthread_mutex_init(&x->lock, NULL);
    x->formula = strdup(formula);
    x->tries = tries;
    x->a = arena_new(0);
    if (x->formula && x->a)
        return x;
    explained_free(x);
    return NULL;
}

/* The table's explanation of this formula, perhaps a new one. NULL when memory is out. */
static struct serve_explained *explained_of(serve *s, serve_table *t, const char *formula,
                                            size_t tries)
{
    pthread_mutex_lock(&s->lock);
    struct serve_explained *x = t->explained;
    if (!x || strcmp(x->formula, formula) != 0 || x->tries != tries) {
        x = explained_new(formula, tries);
        if (x) {
            x->users = 1; /* the table */
            serve_explained_drop(t->explained);
            t->explained = x;
        }
    }
    if (x)
        x->users++;
    pthread_mutex_unlock(&s->lock);
    return x;
}

/* The settings of `snip explain`, so that page and command agree. */
static regress_explain_how how_of(const serve_call *c, size_t tries)
{
    return (regress_explain_how){
        .refit = 1, .list = tries ? tries : EDITS, .all = tries == 0, .threads = c->s->o.threads
    };
}

static snip_code begin(struct serve_explained *x, const serve_call *c, const model_opened *m)
{
    expr e;
    const regress_problem *p = &c->table->p;
    const regress_explain_how how = how_of(c, x->tries);
    if (x->begun)
        return x->code;
    x->begun = 1;
    x->code = expr_parse(&e, x->formula, &p->names, x->a, &x->why);
    if (x->code == SNIP_OK && e.count > NODES_MAX)
        x->code = status_fail(&x->why, SNIP_UNSUPPORTED, 0,
                              "the formula has %zu nodes, at most %d can be explained here",
                              e.count, (int)NODES_MAX);
    if (x->code == SNIP_OK)
        x->code = regress_explain_begin(&x->x, e, p, m, &how, x->a, &x->why);
    return x->code;
}

/* Edits still to be refitted: those of `node`, then the others that the verdict needs. */
static size_t choose(size_t *which, size_t most, const regress_explanation *x, json_int_t node)
{
    size_t n = 0;
    for (size_t k = 0; k < x->edits && n < most; k++)
        if (!x->edit[k].tried && (json_int_t)x->edit[k].node == node)
            which[n++] = k;
    for (size_t k = 0; k < x->wanted && n < most; k++)
        if (!x->edit[k].tried && (json_int_t)x->edit[k].node != node)
            which[n++] = k;
    return n;
}

/* Goes on for so many seconds, 0: not at all. Edits refitted by it are added to `list`. */
static snip_code go_on(struct serve_explained *x, const serve_call *c, const model_opened *m,
                       double seconds, json_int_t node, json_t *list, snip_status *st)
{
    const regress_problem *p = &c->table->p;
    const regress_explain_how how = how_of(c, x->tries);
    size_t most = (size_t)how.threads, n = 0;
    size_t *which = arena_array(c->a, AT_ONCE, sizeof *which);
    double until = clock_now() + seconds, pace = seconds / 4;
    snip_code code = which ? SNIP_OK : status_nomem(st);
    int worked = 0; /* at least one round, however short the time */
    while (code == SNIP_OK && seconds > 0 && (!worked || clock_now() < until) &&
           (n = choose(which, most, &x->x, node)) > 0) {
        double before = clock_now();
        code = regress_explain_refit(&x->x, which, n, p, &how, x->a, st);
        for (size_t k = 0; k < n && code == SNIP_OK; k++)
            json_array_append_new(list, regress_edit_json(&x->x, &x->x.edit[which[k]], p, c->a));
        worked = 1;
        if (code == SNIP_OK && atomic_load(&c->s->stopping))
            code = status_fail(st, SNIP_IO, 0, "the server is stopping");
        if (clock_now() - before < pace && 2 * most <= AT_ONCE)
            most *= 2; /* threads that begin and end cost more than such refits */
    }
    /* The verdict takes longer, so it does not keep refits waiting. */
    if (code == SNIP_OK && !x->ended && seconds > 0 && !worked) {
        code = regress_explain_end(&x->x, p, m, &how, x->a, st);
        x->ended = code == SNIP_OK;
    }
    return code;
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

/* How far it is: the whole when it is done, else what is known, with the edits of `list`. */
static json_t *explained_json(const struct serve_explained *x, const serve_call *c,
                              const model_opened *m, json_t *list)
{
    size_t tried = 0;
    for (size_t k = 0; k < x->x.wanted; k++)
        tried += (size_t)x->x.edit[k].tried;
    json_t *out = regress_explanation_json(&x->x, &c->table->p, x->x.listed, m->hash, c->a);
    if (!out)
        return NULL;
    if (x->ended) { /* those of a part that the verdict did without */
        json_t *all = json_object_get(out, "edits");
        for (size_t k = x->x.listed; k < x->x.edits; k++)
            if (x->x.edit[k].tried)
                json_array_append_new(all,
                                      regress_edit_json(&x->x, &x->x.edit[k], &c->table->p, c->a));
    } else {
        json_object_set(out, "edits", list);
    }
    json_object_set_new(out, "tree", tree_json(&x->x, &c->table->p.names));
    json_object_set_new(out, "tried", json_integer((json_int_t)tried));
    json_object_set_new(out, "wanted", json_integer((json_int_t)x->x.wanted));
    json_object_set_new(out, "done", json_boolean(x->ended));
    return out;
}

/* What a request asks for. */
typedef struct steps {
    double seconds; /* of work, about */
    json_int_t node;
    int whole; /* step after step, to the end */
} steps;

static steps steps_of(const serve_call *c)
{
    json_t *seconds = json_object_get(c->body, "seconds"), *part = json_object_get(c->body, "node");
    double asked = json_is_number(seconds) ? json_number_value(seconds) : -1;
    return (steps){ .seconds = asked < 0 ? 1 : asked,
                    .node = json_is_integer(part) ? json_integer_value(part) : -1,
                    .whole = asked < 0 };
}

/* One step under the explanation's lock. If there is no other to make, *last is set and *out has it
 * as JSON. */
static snip_code one_step(json_t **out, int *last, struct serve_explained *x, const serve_call *c,
                          const model_opened *m, const steps *how, json_t *list, snip_status *st)
{
    pthread_mutex_lock(&x->lock);
    snip_code code = begin(x, c, m);
    if (code != SNIP_OK)
        *st = x->why;
    /* Who begins gets what another one may have tried. */
    for (size_t k = 0; code == SNIP_OK && k < x->x.edits && how->seconds <= 0; k++)
        if (x->x.edit[k].tried)
            json_array_append_new(list,
                                  regress_edit_json(&x->x, &x->x.edit[k], &c->table->p, c->a));
    if (code == SNIP_OK)
        code = go_on(x, c, m, how->seconds, how->node, list, st);
    *last = code != SNIP_OK || x->ended || !how->whole;
    if (code == SNIP_OK && *last)
        *out = explained_json(x, c, m, list);
    pthread_mutex_unlock(&x->lock);
    return code;
}

/* Explains and answers. A whole explanation gives way to others of the same one between its steps.
 */
static void explain(serve_call *c, struct serve_explained *x, const model_opened *m,
                    const steps *how)
{
    json_t *list = json_array(), *out = NULL;
    snip_status st;
    snip_code code = SNIP_OK;
    for (int last = 0; !last; sched_yield()) {
        json_array_clear(list);
        code = one_step(&out, &last, x, c, m, how, list, &st);
    }
    json_decref(list);
    if (code != SNIP_OK)
        serve_failed(c, &st);
    else
        serve_reply(c->q, 200, out);
}

/* POST /api/explain with {"table", "formula"}, perhaps "try"; "seconds" and "node" for a step. */
void serve_post_explain(serve_call *c)
{
    expr *e;
    const char **source;
    if (!serve_usable(c) || serve_read_formulas(c, &e, &source, &c->table->p.names) == 0)
        return;
    const model_opened *m = serve_model_for(c);
    if (!m) {
        serve_no_model(c);
        return;
    }
    const steps how = steps_of(c);
    if (how.whole && atomic_fetch_add(&c->s->explaining, 1) >= WHOLE_MAX) {
        atomic_fetch_sub(&c->s->explaining, 1);
        serve_refuse(c->q, 429, "%d formulas are being explained: wait, or ask for a few seconds",
                     (int)WHOLE_MAX);
        return;
    }
    json_int_t tries = json_integer_value(json_object_get(c->body, "try"));
    struct serve_explained *x = explained_of(c->s, c->table, source[0],
                                             tries > 0 && tries <= EDITS_MAX ? (size_t)tries : 0);
    if (x) {
        explain(c, x, m, &how);
        release(c->s, x);
    } else {
        serve_refuse(c->q, 503, "out of memory");
    }
    if (how.whole)
        atomic_fetch_sub(&c->s->explaining, 1);
}
