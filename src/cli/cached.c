/* cached.c - see cached.h. */
#include "cli/cached.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "library/file.h"

enum { FORMULAS = 6000 };

/* A text made of parts, in `a`; NULL when memory is out. */
static char *joined(arena *a, const char *first, const char *second, const char *third)
{
    size_t n = strlen(first) + strlen(second) + strlen(third) + 1;
    char *out = arena_alloc(a, n);
    if (out)
        snprintf(out, n, "%s%s%s", first, second, third);
    return out;
}

/* The folder; NULL where the user has none. */
static char *cache_folder(arena *a)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/') /* a relative one is to be ignored, by the convention */
        return joined(a, cache, "/snip", "");
    return home && *home ? joined(a, home, "/.cache/snip", "") : NULL;
}

/* Whether a whole library for the model is there. */
static int is_there(const char *path, const model_opened *m)
{
    library_file *ix = NULL;
    int good = library_open(&ix, path, m, NULL) == SNIP_OK && library_about(ix)->count >= FORMULAS;
    library_close(ix);
    return good;
}

/* Removes both files of a library. */
static void discard(const char *path, const char *vectors)
{
    unlink(path);
    unlink(vectors);
}

/* Makes it under another name and then gives it its own: the vectors first, which a library needs
 * to be opened. Every process makes the same, so it does not matter who is last. */
static int build(const char *path, const model_opened *m, int threads, int quiet, arena *a,
                 snip_status *st)
{
    char id[32];
    snprintf(id, sizeof id, ".%ld", (long)getpid());
    const char *part = joined(a, path, id, ""), *vectors = joined(a, path, ".vectors", "");
    const char *part_vectors = joined(a, path, id, ".vectors");
    const library_how how = { .count = FORMULAS,
                              .gen = { m->m->config.dims, DATA_POINTS },
                              .threads = threads,
                              .show = cli_progress(quiet),
                              .stop = cli_stop_on_signals() };
    library_built built;
    if (!part || !vectors || !part_vectors)
        return status_nomem(st), 0;
    int good = library_build(&built, part, m, &how, st) == SNIP_OK;
    if (good && built.count < FORMULAS) {
        status_set(st, SNIP_UNSUPPORTED, 0, "it was interrupted");
        good = 0;
    }
    if (good && (rename(part_vectors, vectors) != 0 || rename(part, path) != 0)) {
        status_set(st, SNIP_IO, 0, "%s", strerror(errno));
        good = 0;
    }
    if (!good)
        discard(part, part_vectors);
    return good;
}

const char *cli_cached_library(const cli_command *self, const model_opened *m, int threads,
                               int quiet, arena *a)
{
    snip_status st = { .code = SNIP_OK };
    const char *folder = cache_folder(a);
    const char *path = folder ? joined(a, folder, "/formulas-", m->hash) : NULL;
    path = path ? joined(a, path, ".db", "") : NULL;
    if (!path) {
        fprintf(stderr,
                "snip %s: no library: neither XDG_CACHE_HOME nor HOME is set; searching "
                "without it\n",
                self->name);
        return NULL;
    }
    if (is_there(path, m))
        return path;
    if (!file_make_folders(folder)) {
        status_set(&st, SNIP_IO, 0, "%s", strerror(errno));
    } else {
        if (!quiet)
            fprintf(stderr, "snip %s: making %s, a library of %d formulas, once\n", self->name,
                    path, FORMULAS);
        if (build(path, m, threads, quiet, a, &st))
            return path;
    }
    fprintf(stderr, "snip %s: no library in %s (%s); searching without it\n", self->name, folder,
            st.msg);
    return NULL;
}
