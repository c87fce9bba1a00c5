/* create.c - a library without formulas; see file.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "library/behaviour.h"
#include "library/file_int.h"

static const char schema[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE formulas(id INTEGER PRIMARY KEY, formula TEXT NOT NULL, skeleton TEXT NOT NULL,"
    " dimension INTEGER NOT NULL, complexity INTEGER NOT NULL, stream_index INTEGER, name TEXT,"
    " behaviour BLOB NOT NULL UNIQUE);"
    "CREATE INDEX formulas_dimension ON formulas(dimension);";

static snip_code put_facts(sqlite3 *db, const library_facts *f, snip_status *st)
{
    char *sql = sqlite3_mprintf(
        "INSERT INTO meta VALUES ('format', %d), ('model', %Q), ('latent', %lld), ('tree', %d),"
        " ('dims', %d), ('points', %lld), ('seed', %lld), ('next', 0), ('behaviour', %Q)",
        LIBRARY_FORMAT, f->model, (long long)f->latent, f->tree, f->gen.dims,
        (long long)f->gen.points, (long long)f->seed,
        f->forms ? LIBRARY_FORMS_HOW : LIBRARY_BEHAVIOUR_HOW);
    snip_code code = sql ? library_db_run(db, "", sql, st) : status_nomem(st);
    sqlite3_free(sql);
    return code;
}

/* The bytes of a library without formulas; release with sqlite3_free. */
static snip_code empty_library(unsigned char **out, size_t *size, const library_facts *f,
                               snip_status *st)
{
    sqlite3 *db = NULL;
    sqlite3_int64 bytes = 0;
    snip_code code = sqlite3_open(":memory:", &db) == SQLITE_OK ? SNIP_OK : status_nomem(st);
    if (code == SNIP_OK)
        code = library_db_run(db, "", schema, st);
    if (code == SNIP_OK)
        code = put_facts(db, f, st);
    *out = code == SNIP_OK ? sqlite3_serialize(db, "main", &bytes, 0) : NULL;
    *size = (size_t)bytes;
    if (code == SNIP_OK && !*out)
        code = status_nomem(st);
    sqlite3_close(db);
    return code;
}

/* What a library of this name left beside it when it was removed: SQLite would take the new one
 * for its own and roll it back. Returns 0 when memory is out. */
static int forget_journals(const char *path)
{
    static const char *const ends[] = { "journal", "wal", "shm" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *old;
        if (asprintf(&old, "%s-%s", path, ends[i]) < 0) {
            errno = ENOMEM;
            return 0;
        }
        unlink(old);
        free(old);
    }
    return 1;
}

/* Writes a new file whole: it is there after this, or it is not. */
static int write_new(const char *path, const void *bytes, size_t size)
{
    char *temporary;
    if (asprintf(&temporary, "%s.tmp", path) < 0) {
        errno = ENOMEM;
        return 0;
    }
    FILE *f = fopen(temporary, "wb");
    int good = f && fwrite(bytes, 1, size, f) == size && fflush(f) == 0 && fsync(fileno(f)) == 0;
    good = (f ? fclose(f) == 0 : 0) && good;
    if (good && access(path, F_OK) == 0) {
        errno = EEXIST;
        good = 0;
    }
    good = good && forget_journals(path);
    good = good && rename(temporary, path) == 0;
    int error = errno;
    if (good)
        file_sync_folder(path);
    else if (f)
        unlink(temporary);
    free(temporary);
    errno = error;
    return good;
}

snip_code library_create(const char *path, const library_facts *f, snip_status *st)
{
    unsigned char *bytes;
    size_t size;
    snip_code code = empty_library(&bytes, &size, f, st);
    if (code == SNIP_OK && !write_new(path, bytes, size))
        code = status_fail(st, SNIP_IO, 0, "%s: cannot write: %s", path, strerror(errno));
    sqlite3_free(bytes);
    return code;
}
