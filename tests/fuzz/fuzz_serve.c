/* fuzz_serve.c - any bytes as requests of the page's API: each gets one JSON answer, an error with
 * a sentence if it is one, and none is the server's own fault.
 *
 * A request is a line "METHOD PATH", with " csv" behind it for a body that is a table, then the
 * body. A line "---" begins another one to the same server. There is a table with the id t. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve_int.h"
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* It outlives its servers: to make it takes seconds. */
static struct serve_map *map;

/* A server without connections, and its table. */
static void start(serve *s)
{
    static const char text[] = "x,y\n1,2.1\n2,3.9\n3,6.2\n4,8\n5,9.9\n6,12.1\n7,14\n8,15.8\n";
    snip_status st;
    s->o = (serve_options){ .max_upload = 1 << 20, .threads = 1, .model = the_model() };
    serve_store_init(s);
    serve_table *t = serve_table_add(s, "t.csv", text, sizeof text - 1, NULL, NULL, &st);
    check(t && !t->error);
    memcpy(t->id, "t", 2);
    serve_table_release(s, t);
    s->map = map;
}

static void end(serve *s)
{
    for (size_t k = 0; k < SERVE_SEARCHES_MAX; k++)
        if (s->search[k])
            s->search[k]->cancel = 1;
    map = s->map;
    s->map = NULL;
    serve_store_free(s);
}

static void check_answer(const serve_request *q)
{
    static const unsigned known[] = { 200, 400, 404, 405, 422 };
    size_t k = 0;
    while (k < sizeof known / sizeof *known && known[k] != q->status)
        k++;
    check(k < sizeof known / sizeof *known);
    json_t *answer = json_loadb(q->reply, q->reply_size, 0, NULL);
    check(json_is_object(answer));
    check(q->status == 200 || json_string_length(json_object_get(answer, "error")) > 0);
    json_decref(answer);
}

static void ask(serve *s, const uint8_t *data, size_t size)
{
    char method[8] = "", path[200] = "", kind[8] = "";
    const uint8_t *line = memchr(data, '\n', size);
    char first[220];
    size_t n = line ? (size_t)(line - data) : size;
    if (n >= sizeof first)
        return;
    memcpy(first, data, n);
    first[n] = 0;
    if (sscanf(first, "%7s %199s %7s", method, path, kind) < 2)
        return;
    size_t begin = line ? n + 1 : n;
    serve_request q = { .method = method, .path = path, .csv = strcmp(kind, "csv") == 0 };
    q.size = size - begin;
    q.body = malloc(q.size + 1);
    check(q.body != NULL);
    memcpy(q.body, data + begin, q.size);
    q.body[q.size] = 0;
    serve_answer(s, &q);
    check_answer(&q);
    free(q.body);
    free(q.reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char between[] = "\n---\n";
    const size_t gap = sizeof between - 1;
    serve s = { 0 };
    start(&s);
    for (int most = 8; size > 0 && most > 0; most--) {
        const uint8_t *next = memmem(data, size, between, gap);
        size_t n = next ? (size_t)(next - data) : size;
        ask(&s, data, n);
        n += next ? gap : 0;
        data += n;
        size -= n;
    }
    end(&s);
    return 0;
}

/* The map is made before the fuzzer looks at the clock. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char request[] = "POST /api/map\n{\"table\": \"t\"}";
    (void)argc, (void)argv;
    return LLVMFuzzerTestOneInput((const uint8_t *)request, sizeof request - 1);
}
