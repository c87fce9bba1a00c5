/* serve_int.h - what the parts of the server share. */
#ifndef SERVE_INT_H
#define SERVE_INT_H

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/table.h"
#include "library/file.h"
#include "regress/problem.h"
#include "search/search.h"
#include "serve/serve.h"

enum {
    SERVE_TABLES_MAX = 16,   /* kept; the one that was not used for longest goes */
    SERVE_SEARCHES_MAX = 16, /* kept, running ones included */
    SERVE_RUNNING_MAX = 2,   /* searches at a time */
    SERVE_ID = 33,           /* characters of an id, the end included */
    SERVE_FORMULAS_MAX = 1000,
    SERVE_FORMULA_BYTES = 20000,
    SERVE_POINTS = 400 /* rows of a scatter plot */
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
    const char *error;                 /* it cannot be used so: why; NULL: it can */
    table_options how;                 /* target and columns, in `a` */
    int users;                         /* requests and searches that look at it */
    int gone;                          /* not in the list any more: the last user frees it */
    struct serve_explained *explained; /* the newest explanation; NULL: none */
    uint64_t used;                     /* when: a running number */
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
    char *state; /* the newest state as JSON text; while it runs, without seconds and spent: */
    double seconds, spent, told; /* as the search told them, and when on the clock */
    double published;            /* when a version was made */
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
    pthread_cond_t begun; /* a search, or the end: for the thread that keeps streams alive */
    pthread_t ticker;
    int ticking;
    pthread_mutex_t links_lock; /* of all connections, and the thread that ends slow ones */
    pthread_cond_t links_end;
    struct serve_link *links;
    pthread_t watcher;
    int watching;
    library_file *library; /* NULL: none */
    pthread_mutex_t library_lock;
    atomic_size_t held; /* bytes of bodies that are being received */
    struct serve_queue *queue;
    struct serve_map *map;
    pthread_mutex_t map_lock;
    atomic_int explaining; /* formulas as a whole, in one answer */
    atomic_int stopping;
};

/* Answers an /api request on a worker thread: fills status and reply. */
void serve_answer(serve *s, serve_request *q);

/* A value of the address's query, NULL if it has none of this name. */
const char *serve_query(const serve_request *q, const char *name);

/* A reply of JSON, which is released; an error as {"error": ...}. With ?status=200 an error that no
 * page can avoid (404 and above) has that status, and its own in the body. */
void serve_reply(serve_request *q, unsigned status, json_t *value);
__attribute__((format(printf, 3, 4))) void serve_refuse(serve_request *q, unsigned status,
                                                        const char *format, ...);

/* ---- answer*.c: one function a route ---- */

/* What a route works with. */
typedef struct serve_call {
    serve *s;
    serve_request *q;
    json_t *body; /* NULL: the request had none */
    arena *a;
    serve_table *table; /* that body.table names; NULL: none */
    const char *id;     /* what stands in the path for * */
} serve_call;

void serve_post_table(serve_call *c);
void serve_get_table(serve_call *c);
void serve_post_rank(serve_call *c);
void serve_post_find(serve_call *c);
void serve_post_take(serve_call *c);
void serve_post_formula(serve_call *c);
void serve_post_explain(serve_call *c);
void serve_post_embed(serve_call *c);
void serve_post_map(serve_call *c);

json_t *serve_examples_json(void);

/* Values for a picture: all of them, or SERVE_POINTS evenly taken. */
json_t *serve_numbers(const double *v, size_t n);

/* Whether there is a table that can be used; refuses if not. */
int serve_usable(serve_call *c);

/* The formulas of body.formulas or body.formula; returns how many, 0 after refusing. */
size_t serve_read_formulas(serve_call *c, expr **out, const char ***source,
                           const expr_names *names);

/* The model if it can be asked about this table, else NULL. */
const model_opened *serve_model_for(const serve_call *c);

/* Refuses with why there is none. */
void serve_no_model(serve_call *c);

/* Refuses with what a status says. */
void serve_failed(serve_call *c, const snip_status *st);

/* Says that a table does not need its explanation any more. The lock of the lists is held. */
void serve_explained_drop(struct serve_explained *x);

/* ---- store.c ---- */

/* Prepares the locks and lists of *s, which is 0 otherwise. */
void serve_store_init(serve *s);

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

/* The state as JSON text, with the time as it is now. NULL when memory is out. x->lock is held. */
char *serve_search_state(const serve_search *x);

/* Ends and frees everything that *s holds. */
void serve_store_free(serve *s);

/* ---- map.c: the space as a picture ---- */

/* Formulas in the table's inputs. */
typedef struct serve_candidates {
    const expr *e;
    const char *const *text;
    size_t count;
} serve_candidates;

/* Points of formulas in two dimensions, with the table and the given formulas among them. There is
 * a model, and it reads as many inputs as the table has; so for the next one. */
snip_code serve_map_json(json_t **out, serve *s, const serve_table *t, const serve_candidates *c,
                         arena *a, snip_status *st);
/* The table's vector, and those of formulas in x0, x1, ...; null where the model cannot read one.
 */
snip_code serve_embed_table(json_t **out, serve *s, const serve_table *t, arena *a,
                            snip_status *st);
snip_code serve_embed_formulas(json_t **out, serve *s, const expr *e, size_t n, arena *a,
                               snip_status *st);
/* The set of all inputs, of a table that the model can read. */
regress_inputs serve_all_inputs(const regress_problem *p);
void serve_map_free(struct serve_map *m);

/* ---- http.c ---- */

/* Tells the streams of a search that there is news; its lock is held. */
void serve_streams_wake(serve_search *x);

#endif
