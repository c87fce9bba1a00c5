/* cli.c - see cli.h. */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

const table_hints cli_table_hints = { .columns = "--columns",
                                      .target = "--target",
                                      .drop_invalid = "--drop-nan",
                                      .megabytes = "--max-table" };

int cli_fail(const cli_command *self, int exit_code, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "snip %s: %s\n", self->name, text_clean(line)); /* one line, in any case */
    return exit_code;
}

int cli_wants(const cli_command *self, const char *what, ...)
{
    char text[200];
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    return cli_fail(self, CLI_MISUSED, "wants %s; see snip %s --help", text, self->name);
}

int cli_takes_none(const cli_command *self, const char *argument)
{
    return cli_fail(self, CLI_MISUSED, "takes no argument '%.40s'", argument);
}

int cli_one_input(const cli_command *self, char **argv, const char *which)
{
    int both = strcmp(argv[0], "-") == 0 && strcmp(argv[1], "-") == 0;
    if (both)
        cli_fail(self, CLI_MISUSED, "%s cannot both come from standard input", which);
    return !both;
}

int cli_fail_status(const cli_command *self, const snip_status *st)
{
    return cli_fail(self, CLI_FAILED, "%s", st->msg);
}

/* The option that -x stands for, NULL if it is none. */
static const cli_option *find_short(const cli_option *options, size_t count, const char *s)
{
    for (size_t i = 0; i < count && s[0] == '-' && s[1] && !s[2]; i++)
        if (options[i].short_name == s[1])
            return &options[i];
    return NULL;
}

/* The option called s[0..length), NULL if there is none. */
static const cli_option *find_option(const cli_option *options, size_t count, const char *s,
                                     size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(options[i].name) == length && memcmp(options[i].name, s, length) == 0)
            return &options[i];
    return NULL;
}

static int set_count(const cli_command *self, const cli_option *o, const char *value)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || errno || n < o->low || n > o->high)
        return cli_fail(self, CLI_MISUSED,
                        "--%s wants a whole number from %llu to %llu, not '%.40s'", o->name,
                        (unsigned long long)o->low, (unsigned long long)o->high, value);
    *(uint64_t *)o->to = n;
    return CLI_DONE;
}

static int set_choice(const cli_command *self, const cli_option *o, const char *value)
{
    for (int i = 0; o->choices[i]; i++)
        if (strcmp(o->choices[i], value) == 0) {
            if (o->kind == CLI_CHOICES)
                *(unsigned *)o->to |= 1u << i;
            else
                *(int *)o->to = i;
            return CLI_DONE;
        }
    char list[256] = "";
    for (int i = 0; o->choices[i]; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
                 o->choices[i]);
    return cli_fail(self, CLI_MISUSED, "--%s wants one of %s, not '%.40s'", o->name, list, value);
}

static int add_value(const cli_command *self, const cli_option *o, const char *value)
{
    cli_list *list = o->to;
    if (list->count == CLI_LIST_MAX)
        return cli_fail(self, CLI_MISUSED, "--%s can be given at most %d times", o->name,
                        CLI_LIST_MAX);
    list->value[list->count++] = value;
    return CLI_DONE;
}

static int set_option(const cli_command *self, const cli_option *o, const char *value)
{
    if (o->given)
        *o->given = 1;
    switch (o->kind) {
    case CLI_FLAG:
        *(int *)o->to = o->low ? (int)o->low : 1;
        return CLI_DONE;
    case CLI_COUNT:
        return set_count(self, o, value);
    case CLI_CHOICE:
    case CLI_CHOICES:
        return set_choice(self, o, value);
    case CLI_LIST:
        return add_value(self, o, value);
    default:
        *(const char **)o->to = value;
        return CLI_DONE;
    }
}

/* Not getopt: there a formula such as -x0 would be taken for options. Here only two dashes, -h
 * and the short names that a command has start one. */
int cli_parse(const cli_command *self, const cli_option *options, size_t count, int argc,
              char **argv, int *exit_code)
{
    int kept = 0, only_arguments = 0;
    for (int i = 0; i < argc; i++) {
        const char *s = argv[i];
        if (!only_arguments && strcmp(s, "-h") == 0)
            s = "--help";
        const cli_option *o = only_arguments ? NULL : find_short(options, count, s);
        if (!o && (only_arguments || strncmp(s, "--", 2) != 0)) {
            argv[kept++] = argv[i];
            continue;
        }
        if (!o && s[2] == 0) {
            only_arguments = 1;
            continue;
        }
        size_t length = o ? 0 : strcspn(s + 2, "=");
        const char *value = !o && s[2 + length] == '=' ? s + 3 + length : NULL;
        if (!o)
            o = find_option(options, count, s + 2, length);
        /* After the command's own options: `snip help` has a --man that takes a command. */
        if (!o && cli_show(self, options, count, s)) {
            *exit_code = cli_finish(self);
            return -1;
        }
        *exit_code = CLI_MISUSED;
        if (!o)
            return cli_fail(self, -1, "unknown option --%.*s; see snip %s --help",
                            length > 40 ? 40 : (int)length, s + 2, self->name);
        if (o->kind == CLI_FLAG && value)
            return cli_fail(self, -1, "--%s takes no value", o->name);
        if (o->kind != CLI_FLAG && !value) {
            if (i + 1 == argc)
                return cli_fail(self, -1, "--%s needs a value: %s", o->name, o->value);
            value = argv[++i];
        }
        if (set_option(self, o, value) != CLI_DONE)
            return -1;
    }
    return kept;
}

int cli_parse_two(const cli_command *self, const cli_option *options, size_t count, int argc,
                  char **argv, const char *first, const char *second, int *exit_code)
{
    char which[80];
    int n = cli_parse(self, options, count, argc, argv, exit_code);
    if (n < 0)
        return 0;
    *exit_code = CLI_MISUSED;
    if (n != 2)
        cli_wants(self, "a %s and a %s", first, second);
    snprintf(which, sizeof which, "%s and %s", first, second);
    return n == 2 && cli_one_input(self, argv, which);
}

int cli_parse_none(const cli_command *self, const cli_option *options, size_t count, int argc,
                   char **argv, int *exit_code)
{
    int n = cli_parse(self, options, count, argc, argv, exit_code);
    if (n > 0)
        *exit_code = cli_takes_none(self, argv[0]);
    return n == 0;
}

snip_code cli_formula_text(const char **out, const char *argument, arena *a, snip_status *st)
{
    *out = argument;
    if (argument[0] != '@' && strcmp(argument, "-") != 0)
        return SNIP_OK;
    char *text;
    size_t size;
    snip_code code =
        file_read_text(&text, &size, argument + (argument[0] == '@'), FILE_FORMULA_MAX, a, st);
    if (code != SNIP_OK)
        return code;
    if (memchr(text, 0, size))
        return status_fail(st, SNIP_FORMAT, 0, "%s: holds a zero byte, so it is not a formula",
                           argument);
    while (size && isspace((unsigned char)text[size - 1]))
        text[--size] = 0;
    *out = text;
    return SNIP_OK;
}

/* Adds up to `most` bytes of s to `to`, control characters as blanks. */
static void add_excerpt(char *to, size_t room, const char *s, size_t most)
{
    size_t n = strlen(to);
    for (size_t i = 0; i < most && s[i] && n + 1 < room; i++)
        to[n++] = isprint((unsigned char)s[i]) || (unsigned char)s[i] >= 0x80 ? s[i] : ' ';
    to[n] = 0;
}

int cli_fail_formula(const cli_command *self, const char *text, const snip_status *st)
{
    enum { BEFORE = 30, AFTER = 20 };
    if (st->code != SNIP_SYNTAX)
        return cli_fail_status(self, st);
    /* One line: the message, and the place with a mark in front of it. */
    char shown[128] = "";
    size_t from = st->pos > BEFORE ? st->pos - BEFORE : 0;
    if (from)
        strcat(shown, "...");
    add_excerpt(shown, sizeof shown, text + from, st->pos - from);
    strcat(shown, " >>>");
    add_excerpt(shown, sizeof shown, text + st->pos, AFTER);
    if (strlen(text + st->pos) > AFTER)
        strcat(shown, "...");
    return cli_fail(self, CLI_FAILED, "formula, byte %zu: %s: %s", st->pos, st->msg, shown);
}

int cli_formula(const cli_command *self, expr *out, const char *argument, const expr_names *names,
                arena *a)
{
    snip_status st = { 0 };
    const char *text;
    if (cli_formula_text(&text, argument, a, &st) != SNIP_OK) {
        cli_fail_status(self, &st);
        return 0;
    }
    if (expr_parse(out, text, names, a, &st) == SNIP_OK)
        return 1;
    cli_fail_formula(self, text, &st);
    return 0;
}

int cli_finish(const cli_command *self)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_fail(self, CLI_FAILED, "cannot write: %s", strerror(errno));
    return CLI_DONE;
}

int cli_print_json(const cli_command *self, json_t *value)
{
    int bad = !value || json_dumpf(value, stdout, JSON_REAL_PRECISION(17) | JSON_COMPACT) != 0;
    json_decref(value);
    putchar('\n');
    if (bad && !ferror(stdout))
        return cli_fail(self, CLI_FAILED, "out of memory");
    return cli_finish(self);
}

int cli_can_write(const cli_command *self, const char *path)
{
    return file_out_possible(path) ||
           cli_fail(self, 0, "%s: cannot write: %s", path, strerror(errno));
}

size_t cli_address_space(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < SIZE_MAX ? limit.rlim_cur
                                                                          : SIZE_MAX;
}

/* What the program itself takes, and a thread with its stack of 8 MB and libraries' work space.
 * With less than this one thread does the work. */
#define SPACE      ((size_t)128 << 20)
#define SPACE_EACH ((size_t)32 << 20)

int cli_threads(uint64_t asked)
{
    int all = omp_get_max_threads(), most = limits_threads((int)asked, all);
    return cli_address_space() < SPACE + (size_t)most * SPACE_EACH ? 1 : most;
}

static volatile sig_atomic_t stop; /* what a signal can set: the one global of the program */

static void on_signal(int number)
{
    if (stop) /* asked twice: do not wait */
        _exit(128 + number);
    stop = 1;
}

const volatile sig_atomic_t *cli_stop_on_signals(void)
{
    struct sigaction act = { .sa_handler = on_signal };
    struct sigaction before;
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    /* A terminal that closes; nohup has it ignored, and so it stays. */
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &act, NULL);
    return &stop;
}

const char *cli_model_path(const char *asked, arena *a)
{
    static const char *const places[] = { "share/snip/default.safetensors",
                                          "models/default.safetensors" };
    const char *set = getenv("SNIP_MODEL");
    if (asked || (set && *set))
        return asked ? asked : arena_text(a, set, strlen(set));
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    char *name = strrchr(program, '/');
    for (size_t i = 0; name && i < sizeof places / sizeof *places; i++) {
        text t = { .a = a };
        text_add(&t, "%.*s/../%s", (int)(name - program), program, places[i]);
        const char *path = text_end(&t);
        if (path && access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

void cli_table_notes(const cli_command *self, const table *t, const table_options *how, arena *a)
{
    const char *note;
    for (size_t k = 0; (note = table_note(t, how, k, a)); k++)
        fprintf(stderr, "snip %s: %s\n", self->name, note);
}

static void draw_progress(void *context, const char *what, size_t done, size_t total,
                          double seconds)
{
    (void)context;
    double rate = (double)done / seconds;
    fprintf(stderr, "\r%zu of %zu %s, %.0f/s, %.0f s left \033[K", done, total, what, rate,
            (double)(total - done) / rate);
    fflush(stderr);
}

static void erase_progress(void *context)
{
    (void)context;
    fprintf(stderr, "\r\033[K");
}

const progress_show *cli_progress(int quiet)
{
    static const progress_show line = { .at = draw_progress, .end = erase_progress };
    return quiet || !isatty(STDERR_FILENO) ? NULL : &line;
}

const char *cli_full_number(char *buf, double v)
{
    if (isnan(v))
        return "NaN";
    if (isinf(v))
        return v > 0 ? "Infinity" : "-Infinity";
    snprintf(buf, 32, "%.17g", v);
    return buf;
}

const char *cli_cell(char *buf, double v)
{
    return isnan(v) ? "" : cli_full_number(buf, v);
}

void cli_put_quoted(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++) {
        if (*s == '"')
            fputc('"', f);
        fputc(*s, f);
    }
    fputc('"', f);
}

size_t cli_bytes(const char *s)
{
    char *end;
    double v = strtod(s, &end);
    v *= *end == 'k' || *end == 'K' ? 1 << 10 : *end == 'M' ? 1 << 20 : *end == 'G' ? 1 << 30 : 1;
    end += *end && strchr("kKMG", *end) ? 1 : 0;
    return *end || !(v >= 1) || !(v < 1e15) ? 0 : (size_t)v;
}
