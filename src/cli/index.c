/* index.c - `snip index`: a library of formulas, built from the generator and from one's own. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "library/file.h"

/* What the options choose. */
typedef struct request {
    uint64_t count, seed;
    const char *out, *model;
    int threads, check, json, quiet;
} request;

/* Opens the model that is asked for or usual. Returns NULL after a message. */
static model_opened *open_model(const cli_command *self, const char *asked)
{
    model_opened *m = NULL;
    snip_status st;
    arena *a = arena_new(0);
    const char *path = a ? cli_model_path(asked, a) : NULL;
    if (!a)
        cli_fail(self, CLI_FAILED, "out of memory");
    else if (!path)
        cli_fail(self, CLI_FAILED, "there is no default model here: name one with --model FILE");
    else if (model_open(&m, path, &st) != SNIP_OK)
        cli_fail_status(self, &st);
    arena_free(a);
    return m;
}

static int show_built(const cli_command *self, const request *q, const library_built *b,
                      double seconds)
{
    int finished = b->count >= q->count;
    if (q->json)
        return cli_print_json(
            self, json_pack("{s:o,s:I,s:I,s:I,s:I,s:b,s:f,s:f}", "library", text_json(q->out),
                            "formulas", (json_int_t)b->count, "added", (json_int_t)b->added,
                            "duplicates", (json_int_t)b->duplicates, "unusable",
                            (json_int_t)b->unusable, "finished", finished, "seconds", seconds,
                            "formulas_per_second", (double)b->added / seconds));
    printf("%s: %llu formula%s in %s, %llu of them new (%llu duplicate%s, %llu unusable left out), "
           "%.0f/s\n",
           finished ? "done" : "stopped", (unsigned long long)b->count, text_plural(b->count),
           q->out, (unsigned long long)b->added, (unsigned long long)b->duplicates,
           text_plural(b->duplicates), (unsigned long long)b->unusable, (double)b->added / seconds);
    return cli_finish(self);
}

static int build(const cli_command *self, const request *q)
{
    model_opened *m = open_model(self, q->model);
    if (!m)
        return CLI_FAILED;
    const library_how how = { .count = q->count,
                              .seed = q->seed,
                              .gen = { m->m->config.dims, DATA_POINTS },
                              .threads = q->threads,
                              .show = cli_progress(q->quiet),
                              .stop = cli_stop_on_signals() };
    library_built built;
    snip_status st;
    double start = clock_now();
    snip_code code = library_build(&built, q->out, m, &how, &st);
    model_close(m);
    return code == SNIP_OK ? show_built(self, q, &built, clock_now() - start)
                           : cli_fail_status(self, &st);
}

/* A line of the user's file. */
typedef struct line {
    size_t number;
    const char *name; /* the formula as written if it has no other */
    size_t formula;   /* its place among the formulas that could be read */
    int readable;
    snip_status why; /* if not */
} line;

/* Cuts white space off both ends of s, in place. */
static char *trimmed(char *s)
{
    s += strspn(s, " \t\r");
    size_t n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1]))
        s[--n] = 0;
    return s;
}

/* Reads a line's formula; *count is how many there are so far. */
static void read_line(line *l, char *s, library_own_formula *own, size_t *count, arena *a)
{
    char *tab = strchr(s, '\t'), *formula = s;
    if (tab) {
        *tab = 0;
        formula = trimmed(tab + 1);
    }
    l->name = text_shown(trimmed(s), a); /* s may be the formula itself */
    l->readable = expr_parse(&own[*count].e, formula, NULL, a, &l->why) == SNIP_OK; /* else `why` */
    own[*count].name = l->name;
    l->formula = *count;
    *count += l->readable != 0;
}

enum { LINES_MAX = 1000000 }; /* to add at a time */

static size_t lines_of(const char *text)
{
    size_t n = 1;
    for (const char *c = text; *c; c++)
        n += *c == '\n';
    return n;
}

/* The lines of a text that are neither empty nor comments. Returns their number, or (size_t)-1 when
 * memory is out. */
static size_t read_lines(line **lines, library_own_formula **own, size_t *count, char *text,
                         arena *a)
{
    size_t room = lines_of(text), n = 0, number = 1;
    *lines = arena_array(a, room, sizeof **lines);
    *own = arena_array(a, room, sizeof **own);
    *count = 0;
    if (!*lines || !*own)
        return (size_t)-1;
    for (char *s = text, *next; s; s = next, number++) {
        next = strchr(s, '\n');
        if (next)
            *next++ = 0;
        s = trimmed(s);
        if (*s == 0 || *s == '#')
            continue;
        line *l = &(*lines)[n++];
        l->number = number;
        read_line(l, s, *own, count, a);
        if (!l->readable && l->why.code == SNIP_NOMEM)
            return (size_t)-1;
    }
    return n;
}

static json_t *outcome_json(const line *l, const library_outcome *o)
{
    static const char *const fates[] = { "added", "duplicate", "unusable" };
    json_t *out = json_pack("{s:I,s:o,s:s}", "line", (json_int_t)l->number, "name",
                            text_json(l->name), "fate", fates[o->fate]);
    if (o->fate == LIBRARY_UNUSABLE)
        json_object_set_new(out, "why", text_json(o->why.msg));
    else
        json_object_set_new(out, "id", json_integer((json_int_t)o->id));
    return out;
}

static void print_outcome(const line *l, const library_outcome *o)
{
    if (o->fate == LIBRARY_UNUSABLE)
        printf("line %zu: unusable: %s: %s\n", l->number, l->name, o->why.msg);
    else
        printf("line %zu: %s %llu: %s\n", l->number,
               o->fate == LIBRARY_ADDED ? "added as" : "the same as", (unsigned long long)o->id,
               l->name);
}

/* Tells what became of each line. Nothing usable at all is a failure. */
static int show_added(const cli_command *self, const request *q, const char *path,
                      const line *lines, size_t n, const library_outcome *outcome)
{
    size_t fates[3] = { 0, 0, 0 };
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        library_outcome o = { .fate = LIBRARY_UNUSABLE, .why = lines[i].why };
        if (lines[i].readable)
            o = outcome[lines[i].formula];
        fates[o.fate]++;
        if (q->json)
            json_array_append_new(list, outcome_json(&lines[i], &o));
        else
            print_outcome(&lines[i], &o);
    }
    int code;
    if (q->json) {
        code =
            cli_print_json(self, json_pack("{s:o,s:I,s:I,s:I,s:o}", "library", text_json(path),
                                           "added", (json_int_t)fates[LIBRARY_ADDED], "duplicates",
                                           (json_int_t)fates[LIBRARY_DUPLICATE], "unusable",
                                           (json_int_t)fates[LIBRARY_UNUSABLE], "formulas", list));
    } else {
        json_decref(list);
        printf("%zu added, %zu duplicate%s, %zu unusable\n", fates[LIBRARY_ADDED],
               fates[LIBRARY_DUPLICATE], text_plural(fates[LIBRARY_DUPLICATE]),
               fates[LIBRARY_UNUSABLE]);
        code = cli_finish(self);
    }
    return code == CLI_DONE && n && fates[LIBRARY_UNUSABLE] == n ? CLI_FAILED : code;
}

static int add_text(const cli_command *self, const request *q, const char *path, char *text,
                    arena *a)
{
    line *lines;
    library_own_formula *own;
    size_t count, n = read_lines(&lines, &own, &count, text, a);
    library_outcome *outcome = arena_array(a, count + 1, sizeof *outcome);
    if (n == (size_t)-1 || !outcome)
        return cli_fail(self, CLI_FAILED, "out of memory");
    snip_status st;
    model_opened *m = open_model(self, q->model);
    if (!m)
        return CLI_FAILED;
    snip_code code = library_add(outcome, path, m, own, count, q->threads, &st);
    model_close(m);
    return code == SNIP_OK ? show_added(self, q, path, lines, n, outcome)
                           : cli_fail_status(self, &st);
}

static int add(const cli_command *self, const request *q, const char *path, const char *formulas)
{
    arena *a = arena_new(0);
    char *text;
    size_t size;
    snip_status st;
    int code;
    if (!a)
        return cli_fail(self, CLI_FAILED, "out of memory");
    if (file_read_text(&text, &size, formulas, FILE_FORMULAS_MAX, a, &st) != SNIP_OK)
        code = cli_fail_status(self, &st);
    else if (memchr(text, 0, size))
        code = cli_fail(self, CLI_FAILED, "%s: holds a zero byte, so it is not a list of formulas",
                        formulas);
    else if (lines_of(text) > LINES_MAX)
        code = cli_fail(self, CLI_FAILED, "%s: has more than %d lines; add them in several files",
                        formulas, LINES_MAX);
    else
        code = add_text(self, q, path, text, a);
    arena_free(a);
    return code;
}

/* Formulas by dimension, as a JSON object. */
static json_t *dimensions_json(const library_matrix *rows)
{
    size_t count[UINT8_MAX + 1] = { 0 };
    json_t *o = json_object();
    for (size_t i = 0; i < rows->count; i++)
        count[rows->dimension[i]]++;
    for (int d = 0; d <= UINT8_MAX; d++)
        if (count[d]) {
            char key[16];
            snprintf(key, sizeof key, "%d", d);
            json_object_set_new(o, key, json_integer((json_int_t)count[d]));
        }
    return o;
}

static int show_info(const cli_command *self, const request *q, const library_file *ix,
                     uint64_t own)
{
    const library_facts *f = library_about(ix);
    json_t *dimensions = dimensions_json(library_rows(ix));
    if (q->json)
        return cli_print_json(
            self, json_pack("{s:I,s:I,s:o,s:i,s:s,s:I,s:b,s:I,s:I,s:i,s:I,s:b}", "formulas",
                            (json_int_t)f->count, "own", (json_int_t)own, "dimensions", dimensions,
                            "format", LIBRARY_FORMAT, "model", f->model, "latent",
                            (json_int_t)f->latent, "tree", f->tree, "seed", (json_int_t)f->seed,
                            "next", (json_int_t)f->next, "dims", f->gen.dims, "points",
                            (json_int_t)f->gen.points, "checked", q->check));
    printf("formulas   %llu, %llu of them your own\n", (unsigned long long)f->count,
           (unsigned long long)own);
    for (void *at = json_object_iter(dimensions); at; at = json_object_iter_next(dimensions, at)) {
        const char *inputs = json_object_iter_key(at);
        printf("  of %s input%s %lld\n", inputs, text_plural(strtoull(inputs, NULL, 10)),
               (long long)json_integer_value(json_object_iter_value(at)));
    }
    printf("model      %s\nlatent     %zu\nseed       %llu\nnext       %llu\n", f->model, f->latent,
           (unsigned long long)f->seed, (unsigned long long)f->next);
    printf("generator  up to %d input%s, %zu points\n", f->gen.dims,
           text_plural((uint64_t)f->gen.dims), f->gen.points);
    if (q->check)
        printf("check      database and vectors are whole\n");
    json_decref(dimensions);
    return cli_finish(self);
}

static int info(const cli_command *self, const request *q, const char *path)
{
    library_file *ix;
    uint64_t own = 0;
    snip_status st;
    snip_code code = library_open(&ix, path, NULL, &st);
    if (code == SNIP_OK)
        code = library_own(&own, ix, &st);
    if (code == SNIP_OK && q->check)
        code = library_check(ix, &st);
    int shown = code == SNIP_OK ? show_info(self, q, ix, own) : cli_fail_status(self, &st);
    library_close(ix);
    return shown;
}

static int command(const cli_command *self, int argc, char **argv)
{
    request q = { .count = 1000000 };
    uint64_t threads = 0;
    int code;
    const cli_option options[] = {
        CLI_OPTION(COUNT, "count", &q.count, "N", "build: formulas that the library should have",
                   .low = 1, .high = 1000000000),
        CLI_OPTION(TEXT, "out", &q.out, "LIBRARY", "build: the file to create or continue",
                   .short_name = 'o'),
        CLI_OPTION(TEXT, "model", &q.model, "FILE",
                   "build, add: the model; else $SNIP_MODEL, else the default one"),
        CLI_OPTION(COUNT, "seed", &q.seed, "K", "build: seed of the formulas", .high = INT64_MAX),
        CLI_OPTION(COUNT, "threads", &threads, "T", "build, add: 0: all cores",
                   .high = LIMITS_THREADS),
        CLI_SWITCH("check", &q.check, "info: read all of it and look for damage"),
        CLI_SWITCH("json", &q.json, "one JSON object"),
        CLI_QUIET(&q.quiet),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    q.threads = cli_threads(threads);
    const char *what = n > 0 ? argv[0] : "";
    if (strcmp(what, "build") == 0)
        return n > 1    ? cli_fail(self, CLI_MISUSED, "build takes no argument '%.40s'", argv[1])
               : !q.out ? cli_fail(self, CLI_MISUSED, "build needs -o LIBRARY, the file to make")
                        : build(self, &q);
    if (strcmp(what, "add") == 0)
        return n != 3 ? cli_fail(self, CLI_MISUSED, "add wants a library and a file of formulas")
                      : add(self, &q, argv[1], argv[2]);
    if (strcmp(what, "info") == 0)
        return n != 2 ? cli_fail(self, CLI_MISUSED, "info wants one library")
                      : info(self, &q, argv[1]);
    return cli_wants(self, "build, add or info");
}

const cli_command cli_index_command = {
    .name = "index",
    .summary = "make and keep a library of formulas to search",
    .arguments =
        "build -o LIBRARY [options] | add LIBRARY FORMULAS [options] | info LIBRARY [options]",
    .about =
        "build draws formulas from the generator until the library has --count of them, no two "
        "with the same behaviour, each with its vector in the model's space. After Ctrl-C, or "
        "anything else that stopped it, the same command continues where it was. add puts in "
        "your own formulas, a line each (lines that begin with # are comments, "
        "`name<TAB>formula` gives a name, - is standard input); their variables are x0, x1, "
        "..., inputs of mean 0 and deviation 1. info shows what a library holds. A library is "
        "two files, LIBRARY and LIBRARY.vectors; move them together.",
    .examples = "snip index build --count 1000000 -o lib.db\n"
                "snip index add lib.db mine.txt\n"
                "snip index info lib.db --check\n",
    .run = command,
};
