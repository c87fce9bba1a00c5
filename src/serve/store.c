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
#include <time.h>

#include "base/clock.h"
#include "search/search_json.h"
#include "serve/serve_int.h"

/* A new id, hard to guess. Returns 0 if there is no randomness. */
static int new_id(char id[SERVE_ID])
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
    serve_explained_drop(t->explained);
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
static void list_table(serve *s, serve_table *t)
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
}

serve_table *serve_table_add(serve *s, const char *name, const char *text, size_t size,
                             const char *target, const char *columns, snip_status *st)
{
    serve_table *t = calloc(1, sizeof *t);
    if (!t || !(t->a = arena_new(0)) || !(t->text = malloc(size + 1)) || !new_id(t->id)) {
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

serve_table *serve_table_choose(serve *s, serve_table *from, const char *target,
                                const char *columns, snip_status *st)
{
    return serve_table_add(s, from->name, from->text, from->size, target, columns, st);
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

/* Between two rounds of a search there is no news but the time, and streams tell at least that. */
#define TICK 0.2 /* seconds */

/* The time since the search last told it is added to what it told. */
char *serve_search_state(const serve_search *x)
{
    if (x->done || !x->state)
        return strdup(x->state ? x->state : "{\"error\":\"out of memory\",\"done\":true}");
    double seconds = x->seconds + clock_now() - x->told;
    double spent = x->seconds > 0 ? x->spent * seconds / x->seconds : 0;
    size_t size = strlen(x->state) + 80;
    char *out = malloc(size);
    if (out) /* the state is an object that is not empty */
        snprintf(out, size, "{\"seconds\":%.3f,\"spent\":%.6f,%s", seconds, spent < 1 ? spent : 1,
                 x->state + 1);
    return out;
}

/* A version of a running search for everybody who listens, if the last one is older than a tick. */
static int tick_one(serve_search *x)
{
    pthread_mutex_lock(&x->lock);
    int running = !x->done;
    if (running && clock_now() - x->published >= TICK) {
        x->published = clock_now();
        x->version++;
        serve_streams_wake(x);
    }
    pthread_mutex_unlock(&x->lock);
    return running;
}

static void *ticker(void *context)
{
    serve *s = context;
    pthread_mutex_lock(&s->lock);
    while (!atomic_load(&s->stopping)) {
        int running = 0;
        for (size_t k = 0; k < SERVE_SEARCHES_MAX; k++)
            running += s->search[k] ? tick_one(s->search[k]) : 0;
        if (running) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += (long)(TICK * 1e9);
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&s->begun, &s->lock, &until);
        } else {
            pthread_cond_wait(&s->begun, &s->lock);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void search_free(serve *s, serve_search *x)
{
    if (!x->joined)
        pthread_join(x->thread, NULL);
    serve_table_release(s, x->table);
    pthread_mutex_destroy(&x->lock);
    free(x->state);
    free(x);
}

/* A new state for everybody who listens, with the time unless the search is done. Takes the JSON.
 */
static void publish(serve_search *x, json_t *state, double seconds, double spent)
{
    char *text = state ? json_dumps(state, JSON_COMPACT) : NULL;
    int done = json_is_true(json_object_get(state, "done"));
    json_decref(state);
    pthread_mutex_lock(&x->lock);
    if (text || done) {
        free(x->state);
        x->state = text;
        x->seconds = seconds;
        x->spent = spent;
        x->told = x->published = clock_now();
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
            json_pack("{s:b, s:I, s:s, s:I, s:o}", "done", 0, "evaluations",
                      (json_int_t)now->evaluations, "stage", search_stage_names[now->stage],
                      "selected", (json_int_t)now->selected, "front", front),
            now->seconds, now->spent);
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
    publish(x, out, 0, 1);
    arena_free(a);
    return NULL;
}

/* Where a new search goes: the place of one that nobody looks at, the oldest of these. Fails where
 * too many are running. The lock of the lists is held. */
static snip_code find_place(size_t *out, const serve *s, snip_status *st)
{
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
    *out = place;
    if (running >= SERVE_RUNNING_MAX || place == SERVE_SEARCHES_MAX)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "%d searches are running; stop one of them first", SERVE_RUNNING_MAX);
    return SNIP_OK;
}

/* Starts x at that place, and the thread that keeps streams alive with the first search. The lock
 * of the lists is held. */
static int start_threads(serve *s, serve_search *x)
{
    if (!s->ticking && pthread_create(&s->ticker, NULL, ticker, s) == 0)
        s->ticking = 1;
    pthread_cond_signal(&s->begun);
    return s->ticking && pthread_create(&x->thread, NULL, search_thread, x) == 0;
}

static serve_search *search_new(serve *s, serve_table *t, const search_how *how)
{
    serve_search *x = calloc(1, sizeof *x);
    json_t *first = json_pack("{s:b, s:i, s:s, s:i, s:[]}", "done", 0, "evaluations", 0, "stage",
                              search_stage_names[0], "selected", 0, "front");
    if (!x || !first || !new_id(x->id)) {
        json_decref(first);
        free(x);
        return NULL;
    }
    x->server = s;
    x->table = t;
    x->how = *how;
    x->how.cancel = &x->cancel;
    x->how.report = on_progress;
    x->how.context = x;
    x->users = 1;
    pthread_mutex_init(&x->lock, NULL);
    publish(x, first, 0, 0);
    return x;
}

serve_search *serve_search_start(serve *s, serve_table *t, const search_how *how, snip_status *st)
{
    size_t place = 0;
    serve_search *x = search_new(s, t, how), *old = NULL;
    snip_code code = x ? SNIP_OK : status_nomem(st);
    pthread_mutex_lock(&s->lock);
    if (code == SNIP_OK && atomic_load(&s->stopping))
        code = status_fail(st, SNIP_IO, 0, "the server is stopping");
    if (code == SNIP_OK)
        code = find_place(&place, s, st);
    if (code == SNIP_OK) {
        old = s->search[place];
        s->search[place] = x;
        x->used = ++s->clock;
        t->users++;
        if (!start_threads(s, x)) {
            code = status_fail(st, SNIP_NOMEM, 0, "no thread can be started");
            s->search[place] = old;
            t->users--;
        }
    }
    pthread_mutex_unlock(&s->lock);
    if (code == SNIP_OK) {
        if (old)
            search_free(s, old);
        return x;
    }
    if (x) {
        pthread_mutex_destroy(&x->lock);
        free(x->state);
        free(x);
    }
    return NULL;
}

/* As serve_table_find: tables and searches have the same life, but are told apart by the compiler.
 */
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

void serve_store_init(serve *s)
{
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->map_lock, NULL);
    pthread_mutex_init(&s->library_lock, NULL);
    pthread_cond_init(&s->begun, NULL);
}

void serve_store_free(serve *s)
{
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->stopping, 1);
    pthread_cond_signal(&s->begun);
    pthread_mutex_unlock(&s->lock);
    if (s->ticking)
        pthread_join(s->ticker, NULL);
    for (size_t k = 0; k < SERVE_SEARCHES_MAX; k++)
        if (s->search[k])
            search_free(s, s->search[k]);
    for (size_t k = 0; k < SERVE_TABLES_MAX; k++)
        if (s->table[k])
            table_free(s->table[k]);
    serve_map_free(s->map);
    library_close(s->library);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->map_lock);
    pthread_mutex_destroy(&s->library_lock);
    pthread_cond_destroy(&s->begun);
}
