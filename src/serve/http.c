/* http.c - connections, who may ask, the page's files, workers, streams of events.
 *
 * One thread of libmicrohttpd reads and writes all connections. A request for the API is put aside
 * (its connection suspended) until a worker has the answer; a stream of events is suspended while
 * there is no news. Nothing here touches the file system: the page's files are part of the
 * program. */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "serve/serve_int.h"

enum {
    WORKERS = 4,           /* so that quick answers do not wait for long ones */
    WAITING_MAX = 64,      /* requests that wait for a worker */
    CONNECTIONS_MAX = 600, /* open at a time */
    STOP_MS = 700,         /* the end waits so long for what computes */
    IDLE_SECONDS = 15,     /* a connection that says nothing is closed */
    REQUEST_SECONDS = 20,  /* so long a request may take to arrive, however it drips, */
    REQUEST_RATE = 65536,  /* and a second more for so many bytes of its body */
    BODIES_MAX = 4         /* times max_upload: all bodies that are being received */
};

extern const char data_embedded_index[], data_embedded_app[], data_embedded_style[],
    data_embedded_icon[];

/* ---- workers ---- */

typedef struct waiting {
    serve_request *q;
    struct MHD_Connection *connection;
} waiting;

struct serve_queue {
    pthread_mutex_t lock;
    pthread_cond_t news;
    waiting at[WAITING_MAX];
    size_t first, count;
    int closed;
    pthread_t thread[WORKERS];
    int threads;
};

static void *worker(void *context)
{
    serve *s = context;
    struct serve_queue *w = s->queue;
    for (;;) {
        pthread_mutex_lock(&w->lock);
        while (w->count == 0 && !w->closed)
            pthread_cond_wait(&w->news, &w->lock);
        if (w->count == 0) {
            pthread_mutex_unlock(&w->lock);
            return NULL;
        }
        waiting one = w->at[w->first];
        w->first = (w->first + 1) % WAITING_MAX;
        w->count--;
        pthread_mutex_unlock(&w->lock);
        if (atomic_load(&s->stopping))
            serve_refuse(one.q, 503, "the server is stopping");
        else
            serve_answer(s, one.q);
        MHD_resume_connection(one.connection);
    }
}

/* Returns 0 if too many wait. */
static int enqueue(serve *s, serve_request *q, struct MHD_Connection *connection)
{
    struct serve_queue *w = s->queue;
    pthread_mutex_lock(&w->lock);
    int room = w->count < WAITING_MAX && !w->closed;
    if (room) {
        MHD_suspend_connection(connection);
        w->at[(w->first + w->count++) % WAITING_MAX] = (waiting){ q, connection };
        pthread_cond_signal(&w->news);
    }
    pthread_mutex_unlock(&w->lock);
    return room;
}

static int start_workers(serve *s)
{
    struct serve_queue *w = s->queue = calloc(1, sizeof *w);
    if (!w)
        return 0;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->news, NULL);
    while (w->threads < WORKERS && pthread_create(&w->thread[w->threads], NULL, worker, s) == 0)
        w->threads++;
    return w->threads > 0;
}

/* Those answer what waits and end; what comes later is refused. The queue itself stays until no
 * connection can ask for it. Returns 0 if one still computes at `until`. */
static int stop_workers(serve *s, const struct timespec *until)
{
    struct serve_queue *w = s->queue;
    if (!w)
        return 1;
    pthread_mutex_lock(&w->lock);
    w->closed = 1;
    pthread_cond_broadcast(&w->news);
    pthread_mutex_unlock(&w->lock);
    for (; w->threads > 0; w->threads--)
        if (pthread_timedjoin_np(w->thread[w->threads - 1], NULL, until) != 0)
            return 0;
    return 1;
}

static void free_queue(struct serve_queue *w)
{
    if (!w)
        return;
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->news);
    free(w);
}

/* ---- replies ---- */

void serve_reply(serve_request *q, unsigned status, json_t *value)
{
    const char *wanted = serve_query(q, "status");
    if (value && status >= 404 && wanted && strcmp(wanted, "200") == 0) {
        json_object_set_new(value, "status", json_integer(status));
        status = 200;
    }
    q->reply = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    q->type = "application/json";
    q->status = q->reply ? status : 500;
    q->reply_size = q->reply ? strlen(q->reply) : 0;
}

void serve_refuse(serve_request *q, unsigned status, const char *format, ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    serve_reply(q, status, json_pack("{s:o}", "error", text_json(message)));
}

static void put_headers(struct MHD_Response *r, const char *type)
{
    MHD_add_response_header(r, "Content-Type", type);
    MHD_add_response_header(r, "Cache-Control", "no-store");
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(
        r, "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src "
        "'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'");
}

static enum MHD_Result send_bytes(struct MHD_Connection *c, unsigned status, const char *type,
                                  const char *bytes, size_t size, enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(size, (void *)bytes, mode);
    if (!r)
        return MHD_NO;
    put_headers(r, type);
    enum MHD_Result done = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return done;
}

/* ---- streams of events ---- */

typedef struct serve_stream {
    serve_search *x;
    struct MHD_Connection *connection;
    uint64_t sent; /* version */
    char *text;    /* the event that is being sent */
    size_t size, at;
    int last;
    struct serve_stream *next; /* in the list of those who wait */
} serve_stream;

void serve_streams_wake(serve_search *x)
{
    while (x->waiting) {
        serve_stream *e = x->waiting;
        x->waiting = e->next;
        MHD_resume_connection(e->connection);
    }
}

/* The newest state as an event, or nothing for now: then the connection sleeps until there is news.
 * The lock of the search is held. */
static ssize_t next_event(serve_stream *e)
{
    serve_search *x = e->x;
    if (x->version == e->sent) {
        if (x->done)
            return MHD_CONTENT_READER_END_OF_STREAM;
        MHD_suspend_connection(e->connection);
        e->next = x->waiting;
        x->waiting = e;
        return 0;
    }
    char *state = serve_search_state(x);
    free(e->text);
    e->size = state ? strlen(state) + 8 : 0;
    e->text = state ? malloc(e->size + 1) : NULL;
    if (e->text)
        snprintf(e->text, e->size + 1, "data: %s\n\n", state);
    free(state);
    if (!e->text)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    e->at = 0;
    e->sent = x->version;
    return 1;
}

static ssize_t read_stream(void *context, uint64_t position, char *to, size_t most)
{
    serve_stream *e = context;
    (void)position;
    if (e->at == e->size) {
        pthread_mutex_lock(&e->x->lock);
        ssize_t state = next_event(e);
        pthread_mutex_unlock(&e->x->lock);
        if (state <= 0)
            return state;
    }
    size_t n = e->size - e->at < most ? e->size - e->at : most;
    memcpy(to, e->text + e->at, n);
    e->at += n;
    return (ssize_t)n;
}

static void free_stream(void *context)
{
    serve_stream *e = context;
    serve_search_release(e->x->server, e->x);
    free(e->text);
    free(e);
}

/* Takes over the request's hold on the search. */
static enum MHD_Result send_stream(struct MHD_Connection *c, serve_request *q)
{
    serve_stream *e = calloc(1, sizeof *e);
    if (!e)
        return MHD_NO;
    *e = (serve_stream){ .x = q->stream, .connection = c };
    q->stream = NULL;
    struct MHD_Response *r =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1 << 15, read_stream, e, free_stream);
    if (!r) {
        free_stream(e);
        return MHD_NO;
    }
    put_headers(r, "text/event-stream");
    enum MHD_Result done = MHD_queue_response(c, 200, r);
    MHD_destroy_response(r);
    return done;
}

/* ---- slow connections ---- */

/* A connection, and since when it has been expected to send a request: infinity while it is being
 * answered. libmicrohttpd only closes those that are silent; one that sends a byte now and then
 * would hold its place for ever. */
struct serve_link {
    int socket;
    double since;
    struct serve_link *next, **before;
};

static void on_connection(void *context, struct MHD_Connection *c, void **own,
                          enum MHD_ConnectionNotificationCode what)
{
    serve *s = context;
    struct serve_link *l = *own;
    pthread_mutex_lock(&s->links_lock);
    if (what == MHD_CONNECTION_NOTIFY_STARTED && (l = malloc(sizeof *l))) {
        const union MHD_ConnectionInfo *fd =
            MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        *l = (struct serve_link){ fd->connect_fd, clock_now(), s->links, &s->links };
        if (l->next)
            l->next->before = &l->next;
        *own = s->links = l;
    } else if (what == MHD_CONNECTION_NOTIFY_CLOSED && l) { /* its socket is still open */
        *l->before = l->next;
        if (l->next)
            l->next->before = l->before;
        free(l);
    }
    pthread_mutex_unlock(&s->links_lock);
}

/* What is known of the connection, or NULL. */
static struct serve_link *link_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* From now on the connection is expected to send, or, with infinity, is not. */
static void expect_since(serve *s, struct MHD_Connection *c, double since)
{
    struct serve_link *l = link_of(c);
    pthread_mutex_lock(&s->links_lock);
    if (l)
        l->since = since;
    pthread_mutex_unlock(&s->links_lock);
}

/* Bytes of a body have come: that much more time for the rest. */
static void expect_more(serve *s, struct MHD_Connection *c, size_t bytes)
{
    struct serve_link *l = link_of(c);
    pthread_mutex_lock(&s->links_lock);
    if (l)
        l->since = fmin(l->since + (double)bytes / REQUEST_RATE, clock_now());
    pthread_mutex_unlock(&s->links_lock);
}

/* Ends connections whose requests take too long; libmicrohttpd notices and closes them. */
static void *watch_links(void *context)
{
    serve *s = context;
    pthread_mutex_lock(&s->links_lock);
    while (!atomic_load(&s->stopping)) {
        struct timespec until;
        double now = clock_now();
        for (struct serve_link *l = s->links; l; l = l->next)
            if (now - l->since > REQUEST_SECONDS)
                shutdown(l->socket, SHUT_RDWR);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        pthread_cond_timedwait(&s->links_end, &s->links_lock, &until);
    }
    pthread_mutex_unlock(&s->links_lock);
    return NULL;
}

static void stop_watching(serve *s)
{
    pthread_mutex_lock(&s->links_lock);
    atomic_store(&s->stopping, 1);
    pthread_cond_signal(&s->links_end);
    pthread_mutex_unlock(&s->links_lock);
    if (s->watching)
        pthread_join(s->watcher, NULL);
    s->watching = 0;
}

/* ---- who may ask ---- */

static const char *header(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* Whether a Host header names this server: a page of another name that resolves to this machine
 * (DNS rebinding) does not. */
static int is_own_host(const serve *s, const char *host)
{
    char own[300];
    const char *names[] = { "127.0.0.1", "localhost", "[::1]", s->o.host };
    if (!host)
        return 0;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (!names[k])
            continue;
        snprintf(own, sizeof own, "%s:%d", names[k], s->port);
        if (strcmp(host, own) == 0 || (s->port == 80 && strcmp(host, names[k]) == 0))
            return 1;
    }
    /* Listening everywhere, it has many addresses. Rebinding needs a name, so numbers will do. */
    struct in_addr any;
    char number[INET_ADDRSTRLEN] = "";
    size_t n = strcspn(host, ":");
    if (!s->o.host || strcmp(s->o.host, "0.0.0.0") != 0 || n >= sizeof number)
        return 0;
    memcpy(number, host, n);
    snprintf(own, sizeof own, ":%d", s->port);
    return inet_pton(AF_INET, number, &any) == 1 &&
           (strcmp(host + n, own) == 0 || (s->port == 80 && !host[n]));
}

/* Compares in a time that does not tell how much was right. */
static int same_secret(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    unsigned char differ = n != m;
    for (size_t i = 0; i < n; i++)
        differ |= (unsigned char)(a[i] ^ b[m ? i % m : 0]);
    return !differ;
}

static int has_token(const serve *s, struct MHD_Connection *c)
{
    const char *shown = header(c, "Authorization");
    if (shown && strncmp(shown, "Bearer ", 7) == 0)
        return same_secret(s->o.token, shown + 7);
    shown = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token");
    return shown && same_secret(s->o.token, shown);
}

/* Whether a Content-Type is this one, whatever parameters follow. */
static int is_type(const char *type, const char *wanted)
{
    size_t n = strlen(wanted);
    return type && strncasecmp(type, wanted, n) == 0 && (!type[n] || strchr("; \t", type[n]));
}

/* Refuses what no page of this server asks. Returns 0 after refusing. */
static int admit(const serve *s, struct MHD_Connection *c, serve_request *q)
{
    const char *host = header(c, "Host"), *origin = header(c, "Origin"), *type;
    char own[400];
    if (!is_own_host(s, host)) {
        serve_refuse(q, 403, "this server does not answer to that Host");
        return 0;
    }
    snprintf(own, sizeof own, "http://%s", host);
    if (origin && strcmp(origin, own) != 0) {
        serve_refuse(q, 403, "requests from other sites are refused");
        return 0;
    }
    int api = strncmp(q->path, "/api/", 5) == 0;
    if (s->o.token && (api || strcmp(q->path, "/") == 0) && !has_token(s, c)) {
        serve_refuse(q, 401, "a token is needed: ?token=... or Authorization: Bearer ...");
        return 0;
    }
    if (strcmp(q->method, "GET") != 0 && strcmp(q->method, "POST") != 0) {
        serve_refuse(q, 405, "only GET and POST are known");
        return 0;
    }
    /* A form of another site can only send types that need no leave; none of them is taken. */
    type = header(c, "Content-Type");
    q->csv = is_type(type, "text/csv");
    if (strcmp(q->method, "POST") == 0 && !q->csv && !is_type(type, "application/json")) {
        serve_refuse(q, 415, "a body is application/json or text/csv");
        return 0;
    }
    const char *length = header(c, "Content-Length");
    if (length && strtoull(length, NULL, 10) > s->o.max_upload) {
        serve_refuse(q, 413, "more than %zu MB", s->o.max_upload >> 20);
        return 0;
    }
    return 1;
}

/* ---- requests ---- */

static enum MHD_Result take_query(void *context, enum MHD_ValueKind kind, const char *key,
                                  const char *value)
{
    serve_request *q = context;
    (void)kind;
    if (q->queries < sizeof q->query / sizeof *q->query && key) {
        q->query[q->queries][0] = strdup(key);
        q->query[q->queries][1] = strdup(value ? value : "");
        q->queries++;
    }
    return MHD_YES;
}

static void free_request(serve *s, serve_request *q)
{
    for (size_t k = 0; k < q->queries; k++) {
        free(q->query[k][0]);
        free(q->query[k][1]);
    }
    atomic_fetch_sub(&s->held, q->room);
    serve_search_release(s, q->stream);
    free(q->target);
    free(q->body);
    free(q->reply);
    free(q);
}

/* Takes more of a body. Refuses what is too large; the rest of it is read and forgotten. */
static void take_body(serve *s, serve_request *q, const char *bytes, size_t n)
{
    if (q->status)
        return;
    if (n > s->o.max_upload - q->size) {
        serve_refuse(q, 413, "more than %zu MB", s->o.max_upload >> 20);
        return;
    }
    if (q->size + n > q->room) {
        size_t room = q->room ? q->room : 4096;
        while (room < q->size + n)
            room *= 2;
        size_t held = atomic_fetch_add(&s->held, room - q->room) + room - q->room;
        char *more =
            held <= BODIES_MAX * s->o.max_upload + (1 << 20) ? realloc(q->body, room + 1) : NULL;
        if (!more) {
            atomic_fetch_sub(&s->held, room - q->room);
            serve_refuse(q, 503, "too much is being sent at once");
            return;
        }
        q->body = more;
        q->room = room;
    }
    memcpy(q->body + q->size, bytes, n);
    q->size += n;
    q->body[q->size] = 0;
}

static const struct {
    const char *path, *type, *bytes;
} files[] = {
    { "/", "text/html; charset=utf-8", data_embedded_index },
    { "/app.js", "text/javascript; charset=utf-8", data_embedded_app },
    { "/style.css", "text/css; charset=utf-8", data_embedded_style },
    { "/icon.svg", "image/svg+xml", data_embedded_icon },
};

/* Sends what is ready. */
static enum MHD_Result send_ready(struct MHD_Connection *c, serve_request *q)
{
    if (q->stream)
        return send_stream(c, q);
    return send_bytes(c, q->status, q->type ? q->type : "application/json",
                      q->reply ? q->reply : "{\"error\":\"out of memory\"}",
                      q->reply ? q->reply_size : 25, MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *bytes,
                                  size_t *size, void **own)
{
    serve *s = context;
    serve_request *q = *own;
    (void)version;
    if (!q) {
        *own = q = calloc(1, sizeof *q);
        if (!q || !(q->target = strdup(url)))
            return MHD_NO;
        q->method = strcmp(method, "GET") == 0    ? "GET"
                    : strcmp(method, "POST") == 0 ? "POST"
                                                  : "other";
        q->path = q->target;
        MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, take_query, q);
        admit(s, c, q);
        return MHD_YES;
    }
    if (*size) {
        expect_more(s, c, *size);
        take_body(s, q, bytes, *size);
        *size = 0;
        return MHD_YES;
    }
    expect_since(s, c, INFINITY);
    if (q->status || q->stream)
        return send_ready(c, q);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        if (strcmp(q->path, files[k].path) == 0 && strcmp(q->method, "GET") == 0)
            return send_bytes(c, 200, files[k].type, files[k].bytes, strlen(files[k].bytes),
                              MHD_RESPMEM_PERSISTENT);
    if (strncmp(q->path, "/api/", 5) != 0)
        serve_refuse(q, 404, "there is no such page");
    else if (!enqueue(s, q, c))
        serve_refuse(q, 503, "too many requests are waiting");
    else
        return MHD_YES;
    return send_ready(c, q);
}

static void on_completed(void *context, struct MHD_Connection *c, void **own,
                         enum MHD_RequestTerminationCode why)
{
    (void)why;
    expect_since(context, c, clock_now());
    if (*own)
        free_request(context, *own);
    *own = NULL;
}

/* ---- the server ---- */

static void ignore(void *context, const char *format, va_list args)
{
    (void)context;
    (void)format;
    (void)args;
}

/* The address to listen at. Returns 0 for a host that is no address. */
static int address_of(struct sockaddr_in *out, const char *host, int port)
{
    *out = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    if (host && strcmp(host, "localhost") == 0)
        host = NULL;
    return inet_pton(AF_INET, host ? host : "127.0.0.1", &out->sin_addr) == 1;
}

static void free_server(serve *s)
{
    stop_watching(s);
    free_queue(s->queue);
    serve_store_free(s);
    pthread_mutex_destroy(&s->links_lock);
    pthread_cond_destroy(&s->links_end);
    free(s);
}

/* The time by which everything should have ended. */
static const struct timespec *stop_until(struct timespec *until)
{
    clock_gettime(CLOCK_REALTIME, until);
    until->tv_nsec += STOP_MS * 1000000L;
    until->tv_sec += until->tv_nsec / 1000000000;
    until->tv_nsec %= 1000000000;
    return until;
}

/* The library and the table to begin with. */
static snip_code open_first(serve *s, snip_status *st)
{
    const serve_options *o = &s->o;
    if (o->library && !o->model)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "a library needs the model it was made with");
    snip_code code = o->library ? library_open(&s->library, o->library, o->model, st) : SNIP_OK;
    if (code != SNIP_OK || !o->table)
        return code;
    serve_table *t = serve_table_add(s, o->table, o->table_text, o->table_size, NULL, NULL, st);
    if (!t)
        return st->code;
    memcpy(s->first, t->id, SERVE_ID);
    serve_table_release(s, t);
    return SNIP_OK;
}

snip_code serve_start(serve **out, const serve_options *o, snip_status *st)
{
    struct sockaddr_in at;
    *out = NULL;
    if (!address_of(&at, o->host, o->port))
        return status_fail(st, SNIP_FORMAT, 0, "'%.60s' is not an IPv4 address", o->host);
    if ((ntohl(at.sin_addr.s_addr) >> 24) != 127 && !o->token)
        return status_fail(st, SNIP_FORMAT, 0,
                           "an address that other machines reach needs a token");
    serve *s = calloc(1, sizeof *s);
    if (!s)
        return status_nomem(st);
    s->o = *o;
    serve_store_init(s);
    pthread_mutex_init(&s->links_lock, NULL);
    pthread_cond_init(&s->links_end, NULL);
    snip_code code = open_first(s, st);
    if (code != SNIP_OK) {
        free_server(s);
        return code;
    }
    s->watching = pthread_create(&s->watcher, NULL, watch_links, s) == 0;
    if (!s->watching || !start_workers(s)) {
        free_server(s); /* no worker was started */
        return status_nomem(st);
    }
    errno = 0;
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG,
        (uint16_t)o->port, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, ignore, NULL,
        MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)1 << 17, MHD_OPTION_END);
    if (!s->daemon) {
        int why = errno;
        stop_workers(s, stop_until(&(struct timespec){ 0 })); /* they wait for work */
        free_server(s);
        return status_fail(st, SNIP_IO, 0, "port %d: %s", o->port,
                           why ? strerror(why) : "cannot listen there");
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
    s->port = info && info->port ? info->port : o->port;
    snprintf(s->address, sizeof s->address, "http://%s:%d/%s%s", o->host ? o->host : "127.0.0.1",
             s->port, o->token ? "?token=" : "", o->token ? o->token : "");
    *out = s;
    return SNIP_OK;
}

const char *serve_address(const serve *s)
{
    return s->address;
}

int serve_stop(serve *s)
{
    struct timespec until;
    if (!s)
        return 1;
    stop_until(&until);
    int listening = MHD_quiesce_daemon(s->daemon); /* ours to close then */
    pthread_mutex_lock(&s->lock);                  /* from here on no search is added */
    atomic_store(&s->stopping, 1);
    for (size_t k = 0; k < SERVE_SEARCHES_MAX; k++)
        if (s->search[k])
            s->search[k]->cancel = 1;
    pthread_mutex_unlock(&s->lock);
    for (size_t k = 0; k < SERVE_SEARCHES_MAX; k++) /* each ends its streams */
        if (s->search[k] && !s->search[k]->joined) {
            if (pthread_timedjoin_np(s->search[k]->thread, NULL, &until) != 0)
                return 0;
            s->search[k]->joined = 1;
        }
    if (!stop_workers(s, &until)) /* after them nothing is suspended any more */
        return 0;
    MHD_stop_daemon(s->daemon);
    if (listening >= 0)
        close(listening);
    free_server(s);
    return 1;
}
