/* file.c - reading a library; see file.h. */
#include "library/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/half.h"
#include "base/text.h"
#include "library/behaviour.h"
#include "library/file_int.h"

enum { LATENT_MAX = 1 << 16 };

struct library_file {
    char *path;
    sqlite3 *db;
    sqlite3_stmt *by_id;
    library_facts facts;
    library_matrix rows;
    uint8_t *dimension;
    void *map;
    size_t mapped;
};

char *library_vectors(const char *path)
{
    char *out;
    return asprintf(&out, "%s.vectors", path) < 0 ? NULL : out;
}

snip_code library_db_fail(sqlite3 *db, const char *path, snip_status *st)
{
    switch (sqlite3_errcode(db)) {
    case SQLITE_NOMEM:
        return status_nomem(st);
    case SQLITE_NOTADB:
        return status_fail(st, SNIP_FORMAT, 0, "%s: not a library of formulas", path);
    case SQLITE_CORRUPT:
        return status_fail(st, SNIP_FORMAT, 0, "%s: the library is damaged or cut off", path);
    case SQLITE_BUSY:
        return status_fail(st, SNIP_IO, 0, "%s: another process is writing to it", path);
    default:
        return status_fail(st, SNIP_IO, 0, "%s: %s", path, sqlite3_errmsg(db));
    }
}

snip_code library_db_run(sqlite3 *db, const char *path, const char *sql, snip_status *st)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? SNIP_OK
                                                                : library_db_fail(db, path, st);
}

snip_code library_db(sqlite3 **out, const char *path, snip_status *st)
{
    struct stat file;
    *out = NULL;
    if (stat(path, &file) != 0)
        return status_fail(st, SNIP_IO, 0, "%s: %s", path, strerror(errno));
    if (!S_ISREG(file.st_mode) || file.st_size == 0)
        return status_fail(st, SNIP_FORMAT, 0, "%s: not a library of formulas", path);
    /* Readers, too, open for writing where they may: after a kill, whoever comes first puts the
     * last whole state back. */
    snip_code code = SNIP_OK;
    if (sqlite3_open_v2(path, out, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        code = *out ? library_db_fail(*out, path, st) : status_nomem(st);
    if (code == SNIP_OK) {
        sqlite3_busy_timeout(*out, LIBRARY_WAIT);
        sqlite3_db_config(*out, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    } else {
        sqlite3_close(*out);
        *out = NULL;
    }
    return code;
}

/* A statement that gives one row, at that row. */
static snip_code first_row(sqlite3_stmt **out, sqlite3 *db, const char *path, const char *sql,
                           const char *key, snip_status *st)
{
    if (sqlite3_prepare_v2(db, sql, -1, out, NULL) != SQLITE_OK ||
        (key && sqlite3_bind_text(*out, 1, key, -1, SQLITE_STATIC) != SQLITE_OK))
        return sqlite3_errcode(db) == SQLITE_ERROR
                   ? status_fail(st, SNIP_FORMAT, 0, "%s: not a library of formulas", path)
                   : library_db_fail(db, path, st);
    int step = sqlite3_step(*out);
    if (step == SQLITE_DONE)
        return status_fail(st, SNIP_FORMAT, 0, "%s: not a library of formulas: no '%s'", path,
                           key ? key : "formulas");
    return step == SQLITE_ROW ? SNIP_OK : library_db_fail(db, path, st);
}

static snip_code read_number(uint64_t *out, sqlite3 *db, const char *path, const char *key,
                             uint64_t low, uint64_t high, snip_status *st)
{
    sqlite3_stmt *s = NULL;
    snip_code code = first_row(&s, db, path, "SELECT value FROM meta WHERE key = ?", key, st);
    if (code == SNIP_OK) {
        int64_t v = sqlite3_column_int64(s, 0);
        *out = (uint64_t)v;
        if (sqlite3_column_type(s, 0) != SQLITE_INTEGER || v < 0 || *out < low || *out > high)
            code = status_fail(st, SNIP_FORMAT, 0, "%s: the library is damaged: '%s'", path, key);
    }
    sqlite3_finalize(s);
    return code;
}

static snip_code read_text(char *out, size_t room, sqlite3 *db, const char *path, const char *key,
                           snip_status *st)
{
    sqlite3_stmt *s = NULL;
    snip_code code = first_row(&s, db, path, "SELECT value FROM meta WHERE key = ?", key, st);
    if (code == SNIP_OK) {
        const char *text = (const char *)sqlite3_column_text(s, 0);
        if (text && strlen(text) < room)
            text_clean(strcpy(out, text));
        else
            code = status_fail(st, SNIP_FORMAT, 0, "%s: the library is damaged: '%s'", path, key);
    }
    sqlite3_finalize(s);
    return code;
}

/* Whether this program knows the library's format. How a later one is stored, as a number or as
 * text such as 2.1, is its own choice and no damage. */
static snip_code check_format(sqlite3 *db, const char *path, snip_status *st)
{
    char format[40], own[16];
    snip_code code = read_text(format, sizeof format, db, path, "format", st);
    snprintf(own, sizeof own, "%d", LIBRARY_FORMAT);
    if (code != SNIP_OK || strcmp(format, own) == 0)
        return code;
    if (!(strtod(format, NULL) > LIBRARY_FORMAT))
        return status_fail(st, SNIP_FORMAT, 0, "%s: the library is damaged: 'format'", path);
    return status_fail(st, SNIP_FORMAT, 0,
                       "%s: a library of a newer format (%s); this program reads format %s", path,
                       format, own);
}

/* Formulas are numbered from 1 without gaps, as their vectors are. */
static snip_code read_count(uint64_t *out, sqlite3 *db, const char *path, snip_status *st)
{
    sqlite3_stmt *s = NULL;
    snip_code code =
        first_row(&s, db, path,
                  "SELECT (SELECT count(*) FROM formulas), (SELECT max(id) FROM formulas),"
                  " (SELECT min(id) FROM formulas)",
                  NULL, st);
    if (code == SNIP_OK) {
        int64_t count = sqlite3_column_int64(s, 0);
        *out = (uint64_t)count;
        if (count && (sqlite3_column_int64(s, 1) != count || sqlite3_column_int64(s, 2) != 1))
            code = status_fail(st, SNIP_FORMAT, 0, "%s: the library is damaged: its ids", path);
    }
    sqlite3_finalize(s);
    return code;
}

snip_code library_facts_read(library_facts *out, sqlite3 *db, const char *path,
                             const model_opened *model, snip_status *st)
{
    uint64_t latent, tree, dims, points;
    char how[sizeof LIBRARY_BEHAVIOUR_HOW + 80];
    snip_code code = check_format(db, path, st);
    if (code != SNIP_OK ||
        (code = read_text(out->model, sizeof out->model, db, path, "model", st)) != SNIP_OK ||
        (code = read_number(&latent, db, path, "latent", 1, LATENT_MAX, st)) != SNIP_OK ||
        (code = read_number(&tree, db, path, "tree", 0, 1, st)) != SNIP_OK ||
        (code = read_number(&dims, db, path, "dims", 1, DATA_DIMS_MAX, st)) != SNIP_OK ||
        (code = read_number(&points, db, path, "points", 2, DATA_POINTS_MAX, st)) != SNIP_OK ||
        (code = read_number(&out->seed, db, path, "seed", 0, INT64_MAX, st)) != SNIP_OK ||
        (code = read_number(&out->next, db, path, "next", 0, INT64_MAX, st)) != SNIP_OK ||
        (code = read_text(how, sizeof how, db, path, "behaviour", st)) != SNIP_OK ||
        (code = read_count(&out->count, db, path, st)) != SNIP_OK)
        return code;
    out->latent = latent;
    out->tree = (int)tree;
    out->gen = (data_gen){ .dims = (int)dims, .points = points };
    out->forms = strcmp(how, LIBRARY_FORMS_HOW) == 0;
    if (!out->forms && strcmp(how, LIBRARY_BEHAVIOUR_HOW) != 0)
        return status_fail(st, SNIP_FORMAT, 0,
                           "%s: was built with a different duplicate test; rebuild it", path);
    if (model && strcmp(model->hash, out->model) != 0)
        return status_fail(st, SNIP_FORMAT, 0,
                           "%s: made with another model (%.8s) than this one (%.8s)", path,
                           out->model, model->hash);
    if (model && (latent != (uint64_t)model->m->config.latent || out->tree != model->tree ||
                  out->forms != model->m->config.forms))
        return status_fail(st, SNIP_FORMAT, 0,
                           "%s: the library is damaged: 'latent', 'tree' or 'behaviour'", path);
    return SNIP_OK;
}

/* SQLite takes a last page that is cut off for one that ends with zeros. */
static snip_code check_size(sqlite3 *db, const char *path, snip_status *st)
{
    struct stat file;
    sqlite3_stmt *s = NULL;
    snip_code code = first_row(&s, db, path,
                               "SELECT page_count * page_size FROM pragma_page_count,"
                               " pragma_page_size",
                               NULL, st);
    if (code == SNIP_OK && (stat(path, &file) != 0 || file.st_size < sqlite3_column_int64(s, 0)))
        code = status_fail(st, SNIP_FORMAT, 0, "%s: the library is cut off", path);
    sqlite3_finalize(s);
    return code;
}

/* A byte per formula, from the index on dimensions: a hundredth of the formulas' own size. */
static snip_code load_dimensions(library_file *ix, snip_status *st)
{
    sqlite3_stmt *s = NULL;
    uint64_t count = ix->facts.count, seen = 0;
    ix->dimension = calloc(count + 1, 1);
    if (!ix->dimension)
        return status_nomem(st);
    if (sqlite3_prepare_v2(ix->db, "SELECT id, dimension FROM formulas ORDER BY dimension", -1, &s,
                           NULL) != SQLITE_OK)
        return library_db_fail(ix->db, ix->path, st);
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(s, 0), dimension = sqlite3_column_int64(s, 1);
        if (id < 1 || (uint64_t)id > count || dimension < 0 || dimension > UINT8_MAX)
            break;
        ix->dimension[id - 1] = (uint8_t)dimension;
        seen++;
    }
    snip_code code = SNIP_OK;
    if (step != SQLITE_DONE && step != SQLITE_ROW)
        code = library_db_fail(ix->db, ix->path, st);
    else if (step == SQLITE_ROW || seen != count)
        code =
            status_fail(st, SNIP_FORMAT, 0, "%s: the library is damaged: its dimensions", ix->path);
    sqlite3_finalize(s);
    return code;
}

static snip_code map_vectors(library_file *ix, snip_status *st)
{
    char *path = library_vectors(ix->path);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    struct stat file;
    size_t row = ix->facts.latent * sizeof(uint16_t);
    snip_code code = SNIP_OK;
    if (!path) {
        code = status_nomem(st);
    } else if (fd < 0 || fstat(fd, &file) != 0) {
        code = status_fail(st, SNIP_IO, 0, "%s: %s", path, strerror(errno));
    } else if ((uint64_t)file.st_size / row < ix->facts.count) {
        code = status_fail(st, SNIP_FORMAT, 0, "%s: cut off: holds %llu of %llu vectors", path,
                           (unsigned long long)((uint64_t)file.st_size / row),
                           (unsigned long long)ix->facts.count);
    } else if (ix->facts.count) {
        ix->mapped = ix->facts.count * row;
        ix->map = mmap(NULL, ix->mapped, PROT_READ, MAP_SHARED, fd, 0);
        if (ix->map == MAP_FAILED)
            code = status_fail(st, SNIP_IO, 0, "%s: %s", path, strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    free(path);
    ix->rows = (library_matrix){ .half = ix->map,
                                 .dimension = ix->dimension,
                                 .count = ix->facts.count,
                                 .latent = ix->facts.latent };
    return code;
}

/* All that is read at once, of one state of the database. */
static snip_code load(library_file *ix, const model_opened *model, snip_status *st)
{
    snip_code code = library_db_run(ix->db, ix->path, "BEGIN", st);
    if (code == SNIP_OK)
        code = library_facts_read(&ix->facts, ix->db, ix->path, model, st);
    if (code == SNIP_OK)
        code = check_size(ix->db, ix->path, st);
    if (code == SNIP_OK)
        code = load_dimensions(ix, st);
    if (code == SNIP_OK)
        code = library_db_run(ix->db, ix->path, "COMMIT", st);
    if (code == SNIP_OK &&
        sqlite3_prepare_v2(ix->db,
                           "SELECT formula, skeleton, dimension, complexity, stream_index, name, "
                           "behaviour FROM formulas WHERE id = ?",
                           -1, &ix->by_id, NULL) != SQLITE_OK)
        code = library_db_fail(ix->db, ix->path, st);
    return code == SNIP_OK ? map_vectors(ix, st) : code;
}

snip_code library_open(library_file **out, const char *path, const model_opened *model,
                       snip_status *st)
{
    library_file *ix = calloc(1, sizeof *ix);
    *out = NULL;
    if (!ix || !(ix->path = strdup(path))) {
        free(ix);
        return status_nomem(st);
    }
    snip_code code = library_db(&ix->db, path, st);
    if (code == SNIP_OK)
        code = load(ix, model, st);
    if (code == SNIP_OK)
        *out = ix;
    else
        library_close(ix);
    return code;
}

void library_close(library_file *ix)
{
    if (!ix)
        return;
    if (ix->map && ix->map != MAP_FAILED)
        munmap(ix->map, ix->mapped);
    sqlite3_finalize(ix->by_id);
    sqlite3_close(ix->db);
    free(ix->dimension);
    free(ix->path);
    free(ix);
}

const library_facts *library_about(const library_file *ix)
{
    return &ix->facts;
}

const library_matrix *library_rows(const library_file *ix)
{
    return &ix->rows;
}

void library_vector(float *to, const library_file *ix, uint64_t id)
{
    const uint16_t *from = ix->rows.half + (id - 1) * ix->rows.latent;
    for (size_t i = 0; i < ix->rows.latent; i++)
        to[i] = half_value(from[i]);
}

snip_code library_own(uint64_t *out, library_file *ix, snip_status *st)
{
    sqlite3_stmt *s = NULL;
    snip_code code = first_row(
        &s, ix->db, ix->path, "SELECT count(*) FROM formulas WHERE stream_index IS NULL", NULL, st);
    *out = code == SNIP_OK ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return code;
}

/* Whether a formula does what it did when it was taken: its text may have been replaced. */
static snip_code check_behaviour(const library_file *ix, const library_row *row,
                                 const library_points *points, arena *tmp, snip_status *st)
{
    library_behaviour_hash now = { { 0 } };
    expr_form form;
    snip_code code = ix->facts.forms ? expr_canonical(&form, row->e, tmp, NULL)
                                     : library_behaviour(&now, row->e, points, tmp, NULL);
    if (code == SNIP_OK && ix->facts.forms)
        library_behaviour_of_form(&now, form.hash);
    if (code == SNIP_NOMEM)
        return status_nomem(st);
    if (code != SNIP_OK || memcmp(&now, &row->behaviour, sizeof now) != 0)
        return status_fail(st, SNIP_FORMAT, 0, "%s: formula %llu is not the one it was", ix->path,
                           (unsigned long long)row->id);
    return SNIP_OK;
}

snip_code library_check(library_file *ix, snip_status *st)
{
    sqlite3_stmt *s = NULL;
    snip_code code = first_row(&s, ix->db, ix->path, "PRAGMA integrity_check(1)", NULL, st);
    const char *said = code == SNIP_OK ? (const char *)sqlite3_column_text(s, 0) : NULL;
    if (code == SNIP_OK && (!said || strcmp(said, "ok") != 0))
        code = status_fail(st, SNIP_FORMAT, 0, "%s: the library is damaged: %.80s", ix->path,
                           said ? said : "");
    sqlite3_finalize(s);
    for (size_t i = 0; i < ix->rows.count && code == SNIP_OK; i++) {
        const uint16_t *row = ix->rows.half + i * ix->rows.latent;
        double square = 0;
        for (size_t j = 0; j < ix->rows.latent; j++)
            square += (double)half_value(row[j]) * (double)half_value(row[j]);
        if (!(fabs(square - 1) < 0.01)) /* rounding to halves leaves less than a thousandth */
            code = status_fail(st, SNIP_FORMAT, 0, "%s: the vector of formula %zu is damaged",
                               ix->path, i + 1);
    }
    arena *a = arena_new(0);
    library_points points;
    library_points_draw(&points);
    if (!a && code == SNIP_OK)
        code = status_nomem(st);
    for (uint64_t id = 1; id <= ix->facts.count && code == SNIP_OK; id++) {
        library_row row;
        arena_reset(a, 0);
        code = library_formula(&row, ix, id, a, st);
        if (code == SNIP_OK)
            code = check_behaviour(ix, &row, &points, a, st);
    }
    arena_free(a);
    return code;
}

snip_code library_search(library_file *ix, const float *query, size_t k, int max_dimension,
                         int threads, library_hit *out, size_t *found, snip_status *st)
{
    return library_nearest(&ix->rows, query, k, max_dimension, threads, out, found, st);
}

static const char *text_at(sqlite3_stmt *s, int column, arena *a)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text ? text_clean(arena_text(a, text, strlen(text))) : NULL;
}

snip_code library_formula(library_row *out, library_file *ix, uint64_t id, arena *a,
                          snip_status *st)
{
    sqlite3_stmt *s = ix->by_id;
    snip_code code = SNIP_OK;
    sqlite3_bind_int64(s, 1, (int64_t)id);
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW) {
        *out = (library_row){ .id = id,
                              .formula = text_at(s, 0, a),
                              .skeleton = text_at(s, 1, a),
                              .dimension = sqlite3_column_int(s, 2),
                              .complexity = sqlite3_column_int(s, 3),
                              .stream_index = -1,
                              .name = text_at(s, 5, a) };
        if (sqlite3_column_bytes(s, 6) == LIBRARY_BEHAVIOUR)
            memcpy(out->behaviour.byte, sqlite3_column_blob(s, 6), LIBRARY_BEHAVIOUR);
        if (sqlite3_column_type(s, 4) == SQLITE_INTEGER)
            out->stream_index = sqlite3_column_int64(s, 4);
        code = out->formula ? expr_parse(&out->e, out->formula, NULL, a, NULL) : SNIP_FORMAT;
        if (code == SNIP_NOMEM)
            code = status_nomem(st);
        else if (code != SNIP_OK || !out->skeleton || out->dimension < 0 ||
                 expr_inputs(out->e) > (size_t)out->dimension)
            code = status_fail(st, SNIP_FORMAT, 0, "%s: formula %llu is damaged", ix->path,
                               (unsigned long long)id);
    } else if (step == SQLITE_DONE) {
        code = status_fail(st, SNIP_FORMAT, 0, "%s: there is no formula %llu", ix->path,
                           (unsigned long long)id);
    } else {
        code = library_db_fail(ix->db, ix->path, st);
    }
    sqlite3_reset(s);
    return code;
}
