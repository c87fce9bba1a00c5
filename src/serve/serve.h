/* serve.h - `snip serve`: a page on the user's own machine, and the JSON API behind it.
 *
 *     serve_options o = { .port = 8017, .max_upload = 64 << 20, .threads = 2 };
 *     serve *s;
 *     if (serve_start(&s, &o, &st) == SNIP_OK) {
 *         puts(serve_address(s));
 *         ...
 *         serve_stop(s);          // running searches included
 *     }
 *
 * One thread talks to all connections (libmicrohttpd with epoll); a few workers compute, and each
 * search has a thread of its own. What a request needs is suspended until a worker has it, so
 * connections that say nothing cost a descriptor and no more. docs/serve.md describes the API. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "model/opened.h"

typedef struct serve_options {
    const char *host;          /* NULL: 127.0.0.1; another one needs a token */
    int port;                  /* 0: any that is free */
    const char *token;         /* what requests must show; NULL: none */
    size_t max_upload;         /* bytes of a table */
    int threads;               /* of a search or a ranking */
    const model_opened *model; /* NULL: no similarities, no map */
    const char *library;       /* formulas for map, find and fit; NULL: none */
    const char *table;         /* name and text of a table to begin with; NULL: none */
    const char *table_text;
    size_t table_size;
} serve_options;

typedef struct serve serve;

snip_code serve_start(serve **out, const serve_options *o, snip_status *st);
const char *serve_address(const serve *s); /* http://127.0.0.1:8017/, with the token if any */

/* Ends running searches, answers what waits, closes all connections. Returns 0 if something still
 * computes after most of a second (a ranking on a large table cannot be cut short): then nothing is
 * freed, s is not to be used any more, and the program has to end by _exit. */
int serve_stop(serve *s);

#endif
