/* fuzz_http.c - any bytes on a connection to a server of its own: silence, or replies with a status
 * that the documentation knows, each with as many bytes as it says.
 *
 * HOST in the input stands for the server's own address, which has another port each time. The
 * page's files and errors are reached this way; the API's bodies are fuzz_serve's. */
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/serve_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REPLY = 1 << 20 };

static void check(int good)
{
    if (!good)
        abort();
}

/* Made once: a fuzzer that starts threads each time would do little else. */
static const serve *the_server(void)
{
    static serve *s;
    const serve_options o = { .max_upload = 1 << 16, .threads = 1 };
    if (!s)
        check(serve_start(&s, &o, NULL) == SNIP_OK);
    return s;
}

static int connection(int port)
{
    int c = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const struct timeval patience = { .tv_usec = 60000 };
    check(c >= 0 && connect(c, (struct sockaddr *)&to, sizeof to) == 0);
    setsockopt(c, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return c;
}

/* Sends the input with the server's address in it; what the server no longer wants is dropped. */
static void send_input(int c, const uint8_t *data, size_t size, int port)
{
    char host[32];
    int n = snprintf(host, sizeof host, "127.0.0.1:%d", port);
    while (size > 0) {
        const uint8_t *at = memmem(data, size, "HOST", 4);
        size_t before = at ? (size_t)(at - data) : size;
        if ((before > 0 && send(c, data, before, MSG_NOSIGNAL) < 0) ||
            (at && send(c, host, (size_t)n, MSG_NOSIGNAL) < 0))
            break;
        size -= before + (at ? 4 : 0);
        data += before + (at ? 4 : 0);
    }
    shutdown(c, SHUT_WR);
}

/* One reply at the beginning of `text`, which ends with a 0. Returns its length, 0 if it is cut. */
static size_t check_reply(const char *text, size_t size)
{
    static const int known[] = { 100, 200, 400, 401, 403, 404, 405, 411, 413, 414,
                                 415, 417, 422, 429, 431, 500, 501, 503, 505 };
    int status = 0;
    unsigned long long length = 0;
    check(sscanf(text, "HTTP/1.%*1[01] %d", &status) == 1);
    size_t k = 0;
    while (k < sizeof known / sizeof *known && known[k] != status)
        k++;
    check(k < sizeof known / sizeof *known);
    const char *body = strstr(text, "\r\n\r\n");
    if (!body)
        return 0;
    body += 4;
    if (status == 100)
        return (size_t)(body - text);
    const char *says = strcasestr(text, "\r\nContent-Length: ");
    check(says && says < body && sscanf(says + 18, "%llu", &length) == 1);
    return length <= size - (size_t)(body - text) ? (size_t)(body - text) + (size_t)length : 0;
}

/* Whole replies at the beginning of `text`. One that closes the connection is the last:
 * libmicrohttpd 0.9.75 sends the head of its own error twice for a bad Content-Length. */
static size_t check_replies(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t at = 0, n; at < size && (n = check_reply(text + at, size - at)) > 0; at += n) {
        count++;
        if (memmem(text + at, n, "\r\nConnection: close\r\n", 21))
            break;
    }
    return count;
}

/* The most requests that an input can have. */
static size_t requests(const uint8_t *data, size_t size)
{
    size_t count = 0;
    for (const uint8_t *at; (at = memmem(data, size, "\r\n\r\n", 4)); count++) {
        size -= (size_t)(at + 1 - data);
        data = at + 1;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char reply[REPLY + 1];
    const serve *s = the_server();
    /* A HEAD has the length of what it leaves out. */
    if (memmem(data, size, "HEAD", 4))
        return 0;
    int c = connection(s->port);
    send_input(c, data, size, s->port);
    size_t got = 0, wanted = requests(data, size);
    /* The server may keep a connection that asks nothing more, for its own time; so nobody waits
     * for the end. */
    for (ssize_t n; got < REPLY && (n = recv(c, reply + got, REPLY - got, 0)) > 0;) {
        got += (size_t)n;
        reply[got] = 0;
        if (check_replies(reply, got) >= wanted)
            break;
    }
    close(c);
    return 0;
}
