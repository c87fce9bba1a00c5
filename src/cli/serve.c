/* serve.c - `snip serve`: the page on the user's own machine. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/task.h"
#include "serve/serve.h"

enum { PORT = 8017 };

/* 64M, 1G: a size in bytes. Returns 0 if it is none. */
static size_t bytes_of(const char *s)
{
    char *end;
    double v = strtod(s, &end);
    v *= *end == 'k' || *end == 'K' ? 1 << 10 : *end == 'M' ? 1 << 20 : *end == 'G' ? 1 << 30 : 1;
    end += *end && strchr("kKMG", *end) ? 1 : 0;
    return *end || !(v >= 1) || !(v < 1e12) ? 0 : (size_t)v;
}

/* Asks the desktop to show the page; what becomes of that is the desktop's affair. */
static void open_browser(const char *address)
{
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            execlp("xdg-open", "xdg-open", address, (char *)NULL);
            _exit(127);
        }
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* Serves until a signal comes. */
static int run(const cli_command *self, const serve_options *o, int open, int quiet)
{
    snip_status st;
    serve *s = NULL;
    const volatile sig_atomic_t *stop = cli_stop_on_signals();
    signal(SIGPIPE, SIG_IGN);
    if (serve_start(&s, o, &st) != SNIP_OK) {
        cli_fail_status(self, &st);
        return CLI_FAILED;
    }
    printf("%s\n", serve_address(s));
    fflush(stdout);
    if (!quiet)
        fprintf(stderr, "snip serve: Ctrl-C stops the server\n");
    if (open)
        open_browser(serve_address(s));
    while (!*stop) /* a signal cuts the nap short */
        nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
    if (!serve_stop(s)) /* something computes for nobody; it holds the model */
        _exit(CLI_DONE);
    return CLI_DONE;
}

static int command(const cli_command *self, int argc, char **argv)
{
    int code, open = 0;
    uint64_t port = PORT;
    const char *host = NULL, *token = NULL, *upload = "64M";
    const char *library = NULL;
    cli_task task = { 0 };
    const cli_option options[] = {
        CLI_OPTION(COUNT, "port", &port, "P", "where to listen; 0: any port that is free",
                   .high = 65535),
        CLI_OPTION(TEXT, "host", &host, "ADDRESS",
                   "where to listen, if not 127.0.0.1; an address that other machines reach needs "
                   "--token"),
        CLI_OPTION(TEXT, "token", &token, "SECRET", "what requests must send"),
        CLI_OPTION(TEXT, "max-upload", &upload, "SIZE",
                   "the largest table that is accepted, such as 64M"),
        CLI_OPTION(TEXT, "library", &library, "FILE",
                   "formulas (snip index) to search in and to draw the map of"),
        CLI_SWITCH("open", &open, "open the page in the browser"),
        CLI_TASK_MODEL(&task),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n > 1)
        return cli_wants(self, "at most one table");
    snip_status st;
    serve_options o = { .host = host, .port = (int)port, .token = token, .library = library };
    o.max_upload = bytes_of(upload);
    if (o.max_upload == 0)
        return cli_fail(self, CLI_MISUSED, "--max-upload: '%.40s' is not a size, as 64M", upload);
    if (token && (!*token || strlen(token) > 200 ||
                  token[strspn(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789-._~")]))
        return cli_fail(self, CLI_MISUSED, "--token: letters, digits and -._~, 200 at most");
    if (!(task.a = arena_new(0)))
        return cli_fail(self, CLI_FAILED, "out of memory");
    o.threads = cli_threads(task.threads);
    const char *path = cli_model_path(task.model, task.a);
    code = CLI_FAILED;
    if (path && model_open(&task.t, path, &st) != SNIP_OK) {
        cli_fail_status(self, &st);
        goto done;
    }
    o.model = task.t;
    char *text = NULL;
    if (n == 1) {
        const table_options any = { 0 };
        if (table_text(&text, &o.table_size, argv[0], &any, task.a, &st) != SNIP_OK) {
            cli_fail_status(self, &st);
            goto done;
        }
        const char *name = strrchr(argv[0], '/');
        o.table = name ? name + 1 : argv[0];
        o.table_text = text;
    }
    code = run(self, &o, open, task.quiet);
done:
    cli_task_close(&task);
    return code;
}

const cli_command cli_serve_command = {
    .name = "serve",
    .summary = "a page on your own machine: drop a table, watch a formula appear",
    .arguments = "[TABLE] [options]",
    .about =
        "Starts a local server and prints its address. The page needs no network; --open shows "
        "it in the browser. Ctrl-C stops it, running searches included. docs/serve.md "
        "describes the JSON API behind it.",
    .examples = "snip serve --open\n"
                "snip serve data.csv --port 8080\n"
                "snip serve data.csv --library lib.db\n",
    .run = command,
};
