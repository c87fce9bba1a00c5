/* serve_int.h - what the parts of the server share. */
#ifndef SERVE_INT_H
#define SERVE_INT_H

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/table.h"
#include "regress/problem.h"
#include "search/search.h"
#include "serve/serve.h"

enum {
    SERVE_TABLES_MAX = 16,   /* kept; the one that was not used for longest goes */
    SERVE_SEARCHES_MAX = 16, /* kept, running ones included */
    SERVE_RUNNING_MAX = 2,   /* searches at a time */
    SERVE_ID = 33,           /* characters of an id, the end included */
    SERVE_FORMULAS_MAX = 1000,
    SERVE_FORMULA_BYTES = 20000
};

/* ---- tables ---- */

/* A table as it was sent, and as it is used now: which column is explained by which. */
typedef struct serve_table {
    char id[SERVE_ID];
    char name[120];
    char *text; /* as it was sent */
    size_t size;
    arena *a; /* of what follows */
    table t;
    regress_problem p;
    const char *error; /* it cannot be used so: why; NULL: it can */
    table_options how; /* target and columns, in `a` */
    int users;         /* requests and searches that look at it */
    int gone;          /* not in the list any more: the last user frees it */
    uint64_t used;     /* when: a running number */
} serve_table;

/* ---- searches ---- */

typedef struct serve_search {
    char id[SERVE_ID];
    serve *server;
    serve_table *table;
    search_how how;
    pthread_t thread;
    volatile sig_atomic_t cancel;
    /* Guarded by `lock`. */
    pthread_mutex_t lock;
    char *state; /* the newest state as JSON text */
    uint64_t version;
    int done;
    struct serve_stream *waiting; /* event streams that want a newer version */
    int users;                    /* streams and requests */
    uint64_t used;
    int joined;
} serve_search;

/* ---- requests ---- */

typedef struct serve_request {
    const char *method, *path;
    char *target; /* copy of the path */
    char *query[8][2];
    size_t queries;
    char *body;
    size_t size, room;
    int csv;         /* the body is a table, not JSON */
    unsigned status; /* of the reply, 0: not ready */
    char *reply;     /* malloc'ed */
    size_t reply_size;
    const char *type;
    serve_search *stream; /* the reply is its events */
} serve_request;

struct serve {
    serve_options o;
    struct MHD_Daemon *daemon;
    char address[300];
    int port;
    pthread_mutex_t lock; /* of the lists */
    serve_table *table[SERVE_TABLES_MAX];
    serve_search *search[SERVE_SEARCHES_MAX];
    uint64_t clock;
    char first[SERVE_ID]; /* the table to begin with; "": none */
    atomic_size_t held;   /* bytes of bodies that are being received */
    struct serve_queue *queue;
    struct serve_map *map;
    pthread_mutex_t map_lock;
    atomic_int stopping;
};

/* Answers an /api request on a worker thread: fills status and reply. */
void serve_answer(serve *s, serve_request *q);

/* A reply of JSON, which is released; an error as {"error": ...}. */
void serve_reply(serve_request *q, unsigned status, json_t *value);
__attribute__((format(printf, 3, 4))) void serve_refuse(serve_request *q, unsigned status,
                                                        const char *format, ...);

/* ---- store.c ---- */

/* A new id, hard to guess. Returns 0 if there is no randomness. */
int serve_new_id(char id[SERVE_ID]);

/* Takes a table, which may push out the one that was not used for longest. NULL with a status if it
 * cannot even be read as a table's head, or when memory is out. The caller has to release it. */
serve_table *serve_table_add(serve *s, const char *name, const char *text, size_t size,
                             const char *target, const char *columns, snip_status *st);

/* The same table with another choice of columns, as a new one with a new id. */
serve_table *serve_table_choose(serve *s, serve_table *from, const char *target,
                                const char *columns, snip_status *st);

/* The table of an id, or NULL. serve_table_release says that it is not looked at any more. */
serve_table *serve_table_find(serve *s, const char *id);
void serve_table_release(serve *s, serve_table *t);

/* Starts a search; NULL with a status, SNIP_UNSUPPORTED where too many are running. */
serve_search *serve_search_start(serve *s, serve_table *t, const search_how *how, snip_status *st);
serve_search *serve_search_find(serve *s, const char *id);
void serve_search_release(serve *s, serve_search *x);

/* Ends and frees everything. */
void serve_store_free(serve *s);

/* ---- map.c: the space as a picture ---- */

/* Points of formulas in two dimensions, with the table and the given formulas among them. */
snip_code serve_map_json(json_t **out, serve *s, const serve_table *t, const expr *e,
                         const char *const *text, size_t n, arena *a, snip_status *st);
/* Vectors of formulas in x0, x1, ...; null where the model cannot read one. */
snip_code serve_embed_json(json_t **out, serve *s, const expr *e, size_t n, arena *a,
                           snip_status *st);
void serve_map_free(struct serve_map *m);

/* ---- http.c ---- */

/* Tells the streams of a search that there is news; its lock is held. */
void serve_streams_wake(serve_search *x);

#endif
