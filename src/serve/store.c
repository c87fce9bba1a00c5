/* store.c - tables and searches that the server keeps, each until it is pushed out.
 *
 * A reload of the page finds its table and its search again by their ids. Lists are short and
 * bounded; whoever looks at an entry counts as its user, and an entry that was pushed out is freed
 * by its last user. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "search/search_json.h"
#include "serve/serve_int.h"

int serve_new_id(char id[SERVE_ID])
{
    unsigned char bytes[(SERVE_ID - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return 0;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    return 1;
}

/* ---- tables ---- */

static void table_free(serve_table *t)
{
    arena_free(t->a);
    free(t->text);
    free(t);
}

/* Reads t->text with the choice of columns. What is wrong goes to t->error: the table stays, and
 * the user may choose otherwise. Returns 0 if not even its head can be read. */
static int read_table(serve_table *t, const char *target, const char *columns, snip_status *st)
{
    const char **names;
    const double **x;
    t->how = (table_options){ .need_target = 1, .drop_invalid = 1 };
    if (target)
        t->how.target = arena_text(t->a, target, strlen(target));
    if (columns)
        t->how.columns = arena_text(t->a, columns, strlen(columns));
    if ((target && !t->how.target) || (columns && !t->how.columns)) {
        status_nomem(st);
        return 0;
    }
    snip_code code = table_parse(&t->t, t->name, t->text, t->size, &t->how, t->a, st);
    if (code == SNIP_OK && t->t.columns < 2)
        code = status_fail(st, SNIP_FORMAT, 0, "%s: has one column; inputs and a target are needed",
                           t->name);
    if (code == SNIP_OK && !table_inputs(&t->t, &names, &x, t->a))
        code = status_nomem(st);
    if (code == SNIP_OK) {
        const regress_table data = { t->t.inputs, t->t.rows, names, x, t->t.column[t->t.target] };
        code = regress_problem_make(&t->p, &data, 0, t->a, st);
    }
    if (code == SNIP_OK)
        return 1;
    if (code == SNIP_NOMEM)
        return 0;
    snip_status other;
    const table_options head = { .names_only = 1 };
    t->error = arena_text(t->a, st->msg, strlen(st->msg));
    return t->error &&
           table_parse(&t->t, t->name, t->text, t->size, &head, t->a, &other) == SNIP_OK;
}

/* Puts t into the list; whoever was not used for longest makes room. The lock is held. */
static int list_table(serve *s, serve_table *t)
{
    size_t place = 0;
    for (size_t k = 0; k < SERVE_TABLES_MAX; k++) {
        if (!s->table[k]) {
            place = k;
            break;
        }
        if (s->table[k]->used < s->table[place]->used)
            place = k;
    }
    serve_table *old = s->table[place];
    if (old) {
        old->gone = 1;
        if (old->users == 0)
            table_free(old);
    }
    s->table[place] = t;
    return 1;
}

static serve_table *add(serve *s, const char *name, const char *text, size_t size,
                        const char *target, const char *columns, snip_status *st)
{
    serve_table *t = calloc(1, sizeof *t);
    if (!t || !(t->a = arena_new(0)) || !(t->text = malloc(size + 1)) || !serve_new_id(t->id)) {
        status_nomem(st);
        if (t)
            table_free(t);
        return NULL;
    }
    snprintf(t->name, sizeof t->name, "%.100s", name);
    memcpy(t->text, text, size);
    t->text[size] = 0;
    t->size = size;
    if (!read_table(t, target, columns, st)) {
        table_free(t);
        return NULL;
    }
    t->users = 1;
    pthread_mutex_lock(&s->lock);
    t->used = ++s->clock;
    list_table(s, t);
    pthread_mutex_unlock(&s->lock);
    return t;
}

serve_table *serve_table_add(serve *s, const char *name, const char *text, size_t size,
                             const char *target, const char *columns, snip_status *st)
{
    return add(s, name, text, size, target, columns, st);
}

serve_table *serve_table_choose(serve *s, serve_table *from, const char *target,
                                const char *columns, snip_status *st)
{
    return add(s, from->name, from->text, from->size, target, columns, st);
}

serve_table *serve_table_find(serve *s, const char *id)
{
    serve_table *found = NULL;
    pthread_mutex_lock(&s->lock);
    for (size_t k = 0; k < SERVE_TABLES_MAX && !found; k++)
        if (s->table[k] && strcmp(s->table[k]->id, id) == 0)
            found = s->table[k];
    if (found) {
        found->users++;
        found->used = ++s->clock;
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

void serve_table_release(serve *s, serve_table *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&s->lock);
    int last = --t->users == 0 && t->gone;
    pthread_mutex_unlock(&s->lock);
    if (last)
        table_free(t);
}

/* ---- searches ---- */

static void search_free(serve *s, serve_search *x)
{
    if (!x->joined)
        pthread_join(x->thread, NULL);
    serve_table_release(s, x->table);
    pthread_mutex_destroy(&x->lock);
    free(x->state);
    free(x);
}

/* A new state for everybody who listens. Takes the JSON. */
static void publish(serve_search *x, json_t *state, int done)
{
    char *text = state ? json_dumps(state, JSON_COMPACT) : NULL;
    json_decref(state);
    pthread_mutex_lock(&x->lock);
    if (text || done) {
        free(x->state);
        x->state = text;
        x->version++;
    }
    x->done |= done;
    serve_streams_wake(x);
    pthread_mutex_unlock(&x->lock);
}

static void on_progress(void *context, const search_progress *now)
{
    serve_search *x = context;
    arena *a = arena_new(0);
    if (!a)
        return;
    json_t *front = json_array();
    for (size_t k = 0; k < now->count; k++)
        json_array_append_new(front, search_formula_json(&now->now[k], &x->table->p.names, a));
    publish(x,
            json_pack("{s:b, s:f, s:f, s:I, s:s, s:I, s:o}", "done", 0, "seconds", now->seconds,
                      "spent", now->spent, "evaluations", (json_int_t)now->evaluations, "stage",
                      search_stage_names[now->stage], "selected", (json_int_t)now->selected,
                      "front", front),
            0);
    arena_free(a);
}

static void *search_thread(void *context)
{
    serve_search *x = context;
    arena *a = arena_new(0);
    snip_status st = { .code = SNIP_NOMEM, .msg = "out of memory" };
    search_result r;
    json_t *out = NULL;
    const table *t = &x->table->t;
    const char **names = NULL;
    const double **columns = NULL;
    if (a && table_inputs(t, &names, &columns, a)) {
        const regress_table data = { t->inputs, t->rows, names, columns, t->column[t->target] };
        if (search_run(&r, &data, &x->how, a, &st) == SNIP_OK)
            out = search_result_json(&r, &x->table->p.names, a);
    }
    if (!out)
        out = json_pack("{s:s}", "error", st.msg);
    json_object_set_new(out, "done", json_true());
    publish(x, out, 1);
    arena_free(a);
    return NULL;
}

serve_search *serve_search_start(serve *s, serve_table *t, const search_how *how, snip_status *st)
{
    serve_search *x = calloc(1, sizeof *x);
    if (!x || !serve_new_id(x->id)) {
        free(x);
        status_nomem(st);
        return NULL;
    }
    pthread_mutex_lock(&s->lock);
    if (atomic_load(&s->stopping)) {
        pthread_mutex_unlock(&s->lock);
        free(x);
        status_set(st, SNIP_IO, 0, "the server is stopping");
        return NULL;
    }
    size_t place = SERVE_SEARCHES_MAX, running = 0;
    for (size_t k = 0; k < SERVE_SEARCHES_MAX; k++) {
        serve_search *other = s->search[k];
        int busy = 0;
        if (other) {
            pthread_mutex_lock(&other->lock);
            busy = !other->done;
            pthread_mutex_unlock(&other->lock);
        }
        running += (size_t)busy;
        if (other && (busy || other->users > 0))
            continue;
        if (place == SERVE_SEARCHES_MAX || !other ||
            (s->search[place] && other->used < s->search[place]->used))
            place = k;
    }
    if (running >= SERVE_RUNNING_MAX || place == SERVE_SEARCHES_MAX) {
        pthread_mutex_unlock(&s->lock);
        free(x);
        status_set(st, SNIP_UNSUPPORTED, 0, "%d searches are running; stop one of them first",
                   SERVE_RUNNING_MAX);
        return NULL;
    }
    serve_search *old = s->search[place];
    x->server = s;
    x->table = t;
    t->users++;
    x->how = *how;
    x->how.cancel = &x->cancel;
    x->how.report = on_progress;
    x->how.context = x;
    x->users = 1;
    x->used = ++s->clock;
    pthread_mutex_init(&x->lock, NULL);
    s->search[place] = x;
    if (pthread_create(&x->thread, NULL, search_thread, x) != 0) {
        s->search[place] = old;
        t->users--;
        pthread_mutex_unlock(&s->lock);
        pthread_mutex_destroy(&x->lock);
        free(x);
        status_set(st, SNIP_NOMEM, 0, "no thread can be started");
        return NULL;
    }
    pthread_mutex_unlock(&s->lock);
    if (old)
        search_free(s, old);
    return x;
}

serve_search *serve_search_find(serve *s, const char *id)
{
    serve_search *found = NULL;
    pthread_mutex_lock(&s->lock);
    for (size_t k = 0; k < SERVE_SEARCHES_MAX && !found; k++)
        if (s->search[k] && strcmp(s->search[k]->id, id) == 0)
            found = s->search[k];
    if (found) {
        found->users++;
        found->used = ++s->clock;
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

void serve_search_release(serve *s, serve_search *x)
{
    if (!x)
        return;
    pthread_mutex_lock(&s->lock);
    x->users--;
    pthread_mutex_unlock(&s->lock);
}

void serve_store_free(serve *s)
{
    for (size_t k = 0; k < SERVE_SEARCHES_MAX; k++)
        if (s->search[k])
            search_free(s, s->search[k]);
    for (size_t k = 0; k < SERVE_TABLES_MAX; k++)
        if (s->table[k])
            table_free(s->table[k]);
}
