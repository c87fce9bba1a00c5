/* write.c - building and adding to a library; see file.h.
 *
 * A batch is drawn and embedded by all threads, then taken over in its order by one. Batches are
 * small, for a stop to be answered soon, and go into one transaction for about two seconds, since a
 * commit waits for the disk. Vectors are flushed to the disk before the transaction with their rows
 * and the next sample's index is committed; what a kill leaves behind the last committed vector is
 * overwritten later. */
#include "library/file.h"

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/half.h"
#include "base/text.h"
#include "data/laws.h"
#include "library/behaviour.h"
#include "library/file_int.h"

/* A batch starts at a multiple of MODEL_SPACE_FORMULAS, so that a formula is always embedded among
 * the same neighbours, whose number shows in the last bit of a matrix product. It has a few of such
 * chunks for each thread, BATCH formulas at most. */
enum { CHUNK = MODEL_SPACE_FORMULAS, CHUNKS = 4, BATCH = 1024 };

#define COMMIT_SECONDS 2.0

/* A formula on its way into the library. Its tree and texts live in an arena of the batch. */
typedef struct candidate {
    model_words words; /* something to embed even if it is unusable: the writer's `nothing` */
    char *formula, *skeleton;
    const char *name;
    int64_t stream_index; /* -1: the user's own */
    library_behaviour_hash behaviour;
    library_outcome outcome; /* LIBRARY_ADDED until something else is known */
} candidate;

typedef struct writer {
    const char *path;
    char *vectors_path;
    int vectors;
    sqlite3 *db;
    sqlite3_stmt *insert, *find, *advance;
    library_facts facts;
    const model_opened *m;
    model_space *space;
    library_points points;
    model_words nothing; /* x0: in the place of what is unusable */
    int threads;
    size_t batch;            /* formulas of one */
    int open;                /* a transaction is: facts are ahead of the disk */
    double started, written; /* when building began, and the last commit */
    arena *own;              /* what `nothing` is made of */
    arena **keep, **tmp;     /* per thread: for the batch, for one formula */
    candidate *c;            /* BATCH of each */
    model_item *item;
    float *z;
    uint16_t *half;
} writer;

static snip_code fail_vectors(const writer *w, const char *what, snip_status *st)
{
    return status_fail(st, SNIP_IO, 0, "%s: %s%s", w->vectors_path, what, strerror(errno));
}

/* Opens and locks the vectors; the lock is what keeps a second writer out. */
static snip_code open_vectors(writer *w, int flags, struct stat *file, snip_status *st)
{
    w->vectors = open(w->vectors_path, O_RDWR | O_CLOEXEC | flags, 0666);
    if (w->vectors < 0)
        return fail_vectors(w, flags ? "cannot write: " : "", st);
    if (flock(w->vectors, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK
                   ? status_fail(st, SNIP_IO, 0, "%s: another process is writing to it", w->path)
                   : fail_vectors(w, "cannot lock: ", st);
    return fstat(w->vectors, file) == 0 ? SNIP_OK : fail_vectors(w, "", st);
}

/* The vectors come first, empty: a library never lacks them. */
static snip_code create(writer *w, const library_how *how, snip_status *st)
{
    library_facts f = { .seed = how->seed,
                        .gen = how->gen,
                        .latent = w->space->latent,
                        .tree = w->m->tree,
                        .forms = w->m->m->config.forms };
    struct stat file;
    memcpy(f.model, w->m->hash, sizeof f.model);
    snip_code code = open_vectors(w, O_CREAT, &file, st);
    if (code != SNIP_OK)
        return code;
    if (file.st_size > 0)
        return status_fail(st, SNIP_FORMAT, 0, "%s: is there already, but not %s", w->vectors_path,
                           w->path);
    code = library_create(w->path, &f, st);
    if (code != SNIP_OK && S_ISREG(file.st_mode))
        unlink(w->vectors_path);
    return code;
}

/* Opens a library that exists and is sound: what a reader would refuse is not added to. */
static snip_code join(writer *w, snip_status *st)
{
    struct stat file;
    library_file *ix;
    snip_code code = library_open(&ix, w->path, w->m, st);
    library_close(ix);
    if (code == SNIP_OK && w->vectors < 0)
        code = open_vectors(w, 0, &file, st);
    if (code == SNIP_OK)
        code = library_db(&w->db, w->path, st);
    if (code == SNIP_OK) /* now that nobody else writes */
        code = library_facts_read(&w->facts, w->db, w->path, w->m, st);
    return code;
}

static snip_code prepare(writer *w, snip_status *st)
{
    static const char insert[] = "INSERT INTO formulas(id, formula, skeleton, dimension,"
                                 " complexity, stream_index, name, behaviour)"
                                 " VALUES(?,?,?,?,?,?,?,?) ON CONFLICT(behaviour) DO NOTHING";
    static const char find[] = "SELECT id FROM formulas WHERE behaviour = ?";
    static const char advance[] = "UPDATE meta SET value = ? WHERE key = 'next'";
    /* The pages of a million behaviours stay in memory. */
    snip_code code =
        library_db_run(w->db, w->path, "PRAGMA synchronous = FULL; PRAGMA cache_size = -65536", st);
    if (code == SNIP_OK && (sqlite3_prepare_v2(w->db, insert, -1, &w->insert, NULL) != SQLITE_OK ||
                            sqlite3_prepare_v2(w->db, find, -1, &w->find, NULL) != SQLITE_OK ||
                            sqlite3_prepare_v2(w->db, advance, -1, &w->advance, NULL) != SQLITE_OK))
        code = library_db_fail(w->db, w->path, st);
    return code;
}

/* Returns 0 when memory is out. */
static int make_nothing(writer *w)
{
    static expr_node x0 = { .op = EXPR_VARIABLE, .len = 1 };
    const model_words_how how =
        model_reads(w->m, w->m->m->config.forms ? MODEL_CORE : MODEL_EXACT, NULL);
    return model_words_make(&w->nothing, (expr){ &x0, 1 }, &how, w->own, NULL, NULL) == SNIP_OK;
}

static int allocate(writer *w)
{
    size_t size = (size_t)BATCH * (size_t)w->m->m->config.latent;
    w->vectors_path = library_vectors(w->path);
    w->space = model_space_new(w->m->m, w->m->tree, w->threads);
    w->own = arena_new(0);
    w->keep = calloc((size_t)w->threads, sizeof *w->keep);
    w->tmp = calloc((size_t)w->threads, sizeof *w->tmp);
    w->c = calloc(BATCH, sizeof *w->c);
    w->item = calloc(BATCH, sizeof *w->item);
    w->z = calloc(size, sizeof *w->z);
    w->half = calloc(size, sizeof *w->half);
    int good = w->vectors_path && w->space && w->own && make_nothing(w) && w->keep && w->tmp &&
               w->c && w->item && w->z && w->half;
    for (int t = 0; t < w->threads && good; t++) {
        w->keep[t] = arena_new(0);
        w->tmp[t] = arena_new(0);
        good = w->keep[t] && w->tmp[t];
    }
    return good;
}

/* `how` is NULL for a library that must exist. */
static snip_code open_writer(writer *w, const char *path, const model_opened *m, int threads,
                             const library_how *how, snip_status *st)
{
    *w = (writer){ .path = path, .m = m, .threads = threads, .vectors = -1 };
    size_t batch = (size_t)threads * CHUNKS * CHUNK;
    w->batch = batch < BATCH ? batch : BATCH;
    library_points_draw(&w->points);
    if (!allocate(w))
        return status_nomem(st);
    snip_code code = SNIP_OK;
    if (how && access(path, F_OK) != 0 && errno == ENOENT)
        code = create(w, how, st);
    if (code == SNIP_OK)
        code = join(w, st);
    return code == SNIP_OK ? prepare(w, st) : code;
}

static void close_writer(writer *w)
{
    sqlite3_finalize(w->insert);
    sqlite3_finalize(w->find);
    sqlite3_finalize(w->advance);
    if (w->open) /* something failed */
        sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(w->db);
    if (w->vectors >= 0)
        close(w->vectors);
    for (int t = 0; t < w->threads; t++) {
        arena_free(w->keep ? w->keep[t] : NULL);
        arena_free(w->tmp ? w->tmp[t] : NULL);
    }
    arena_free(w->own);
    model_space_free(w->space);
    free(w->vectors_path);
    free(w->keep);
    free(w->tmp);
    free(w->c);
    free(w->item);
    free(w->z);
    free(w->half);
}

/* e in prefix form with `c` for every number: formulas that differ in constants share it. */
static char *skeleton_of(expr e, arena *a)
{
    text t = { .a = a };
    for (size_t i = 0; i < e.count; i++) {
        const expr_node *n = &e.node[i];
        if (i)
            text_put(&t, ",", 1);
        if (n->op == EXPR_VARIABLE)
            text_add(&t, "x_%d", n->var);
        else
            text_add(&t, "%s", n->op == EXPR_NUMBER ? "c" : expr_ops[n->op].name);
    }
    return text_end(&t);
}

/* Fills in what the library keeps of e, or says why it cannot. */
static snip_code describe(candidate *c, expr e, const writer *w, arena *keep, arena *tmp,
                          snip_status *st)
{
    model_words words;
    const model_words_how how = model_reads(w->m, MODEL_ENTRY, NULL);
    int dims = w->m->m->config.dims;
    if (expr_inputs(e) > (size_t)dims)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "has %zu inputs, the model reads at most %d",
                           expr_inputs(e), dims);
    snip_code code = model_words_make(&words, e, &how, keep, tmp, st);
    if (code == SNIP_OK && w->facts.forms)
        library_behaviour_of_form(&c->behaviour, words.hash);
    else if (code == SNIP_OK)
        code = library_behaviour(&c->behaviour, e, &w->points, tmp, st);
    if (code != SNIP_OK)
        return code;
    if (words.e.node == e.node) /* the caller's, who forgets it */
        words.e.node = arena_copy(keep, e.node, e.count * sizeof *e.node);
    if (!words.e.node)
        return status_nomem(st);
    c->words = words;
    c->formula = expr_print(words.e, SNIP_PREFIX, NULL, 0, keep);
    c->skeleton = skeleton_of(words.e, keep);
    return c->formula && c->skeleton ? SNIP_OK : status_nomem(st);
}

static void start_candidate(candidate *c, const writer *w, int64_t stream_index)
{
    *c = (candidate){ .words = w->nothing, .stream_index = stream_index };
}

/* Sample `index` of the library's stream. Returns SNIP_NOMEM or SNIP_OK. */
static snip_code draw(candidate *c, const writer *w, uint64_t index, arena *keep, arena *tmp)
{
    data_sample s;
    start_candidate(c, w, (int64_t)index);
    snip_code code =
        w->facts.forms && index % 2
            ? data_law_draw(&s, NULL, &w->facts.gen, w->facts.seed, RNG_LIBRARY, index, tmp)
            : data_sample_draw(&s, &w->facts.gen, w->facts.seed, RNG_LIBRARY, index, tmp);
    if (code == SNIP_OK)
        code = describe(c, s.e, w, keep, tmp, &c->outcome.why);
    if (code != SNIP_OK)
        c->outcome.fate = LIBRARY_UNUSABLE;
    return code == SNIP_NOMEM ? code : SNIP_OK;
}

/* The user's formula in the model's operators. Returns SNIP_NOMEM or SNIP_OK. */
static snip_code take_own(candidate *c, const writer *w, const library_own_formula *f, arena *keep,
                          arena *tmp)
{
    expr e;
    start_candidate(c, w, -1);
    c->name = f->name;
    snip_code code = expr_normal(&e, f->e, NULL, tmp, &c->outcome.why);
    if (code == SNIP_OK)
        code = describe(c, e, w, keep, tmp, &c->outcome.why);
    if (code != SNIP_OK)
        c->outcome.fate = LIBRARY_UNUSABLE;
    return code == SNIP_NOMEM ? code : SNIP_OK;
}

/* Fills the batch: n samples from `first` on, or n of the user's formulas. */
static snip_code fill(writer *w, uint64_t first, const library_own_formula *own, size_t n,
                      snip_status *st)
{
    int failed = 0;
    for (int t = 0; t < w->threads; t++)
        arena_reset(w->keep[t], 0);
#pragma omp parallel for schedule(dynamic, 16) num_threads(w->threads)
    for (size_t i = 0; i < n; i++) {
        arena *keep = w->keep[omp_get_thread_num()], *tmp = w->tmp[omp_get_thread_num()];
        arena_reset(tmp, 0);
        snip_code code = own ? take_own(&w->c[i], w, &own[i], keep, tmp)
                             : draw(&w->c[i], w, first + i, keep, tmp);
        if (code != SNIP_OK)
#pragma omp atomic write
            failed = 1;
    }
    if (failed)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++)
        w->item[i] = (model_item){ .words = &w->c[i].words, .node = MODEL_WHOLE };
    return model_space_embed(w->space, w->item, n, w->z, NULL, st);
}

/* Puts a row in unless its behaviour is there already. */
static snip_code insert_row(writer *w, candidate *c, uint64_t id, snip_status *st)
{
    sqlite3_stmt *s = w->insert;
    sqlite3_bind_int64(s, 1, (int64_t)id);
    sqlite3_bind_text(s, 2, c->formula, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, c->skeleton, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 4, (int64_t)expr_inputs(c->words.e));
    sqlite3_bind_int64(s, 5, (int64_t)c->words.e.count);
    if (c->stream_index >= 0)
        sqlite3_bind_int64(s, 6, c->stream_index);
    else
        sqlite3_bind_null(s, 6);
    sqlite3_bind_text(s, 7, c->name, -1, SQLITE_STATIC); /* NULL stays NULL */
    sqlite3_bind_blob(s, 8, c->behaviour.byte, sizeof c->behaviour.byte, SQLITE_STATIC);
    int step = sqlite3_step(s);
    sqlite3_reset(s);
    if (step != SQLITE_DONE)
        return library_db_fail(w->db, w->path, st);
    c->outcome.fate = sqlite3_changes(w->db) ? LIBRARY_ADDED : LIBRARY_DUPLICATE;
    c->outcome.id = id;
    return SNIP_OK;
}

static snip_code find_twin(writer *w, candidate *c, snip_status *st)
{
    sqlite3_bind_blob(w->find, 1, c->behaviour.byte, sizeof c->behaviour.byte, SQLITE_STATIC);
    int step = sqlite3_step(w->find);
    if (step == SQLITE_ROW)
        c->outcome.id = (uint64_t)sqlite3_column_int64(w->find, 0);
    sqlite3_reset(w->find);
    return step == SQLITE_ROW ? SNIP_OK : library_db_fail(w->db, w->path, st);
}

/* Puts candidates [first, n) in, until there are `most` formulas. *end is one past the last that
 * was looked at, *added how many are new; their vectors are in w->half. */
static snip_code insert_all(writer *w, size_t first, size_t n, uint64_t most, size_t *end,
                            size_t *added, snip_status *st)
{
    snip_code code = SNIP_OK;
    size_t latent = w->space->latent, i = first;
    *added = 0;
    for (; i < n && code == SNIP_OK && w->facts.count + *added < most; i++) {
        candidate *c = &w->c[i];
        if (c->outcome.fate == LIBRARY_UNUSABLE)
            continue;
        code = insert_row(w, c, w->facts.count + *added + 1, st);
        if (code == SNIP_OK && c->outcome.fate == LIBRARY_DUPLICATE) {
            code = find_twin(w, c, st);
        } else if (code == SNIP_OK) {
            for (size_t j = 0; j < latent; j++)
                w->half[*added * latent + j] = half_of(w->z[i * latent + j]);
            ++*added;
        }
    }
    *end = i;
    return code;
}

static snip_code write_vectors(writer *w, size_t rows, snip_status *st)
{
    size_t row = w->space->latent * sizeof *w->half, size = rows * row;
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(w->vectors, (const char *)w->half + done, size - done,
                           (off_t)(w->facts.count * row + done));
        if (n < 0 && errno != EINTR)
            return fail_vectors(w, "cannot write: ", st);
        done += n > 0 ? (size_t)n : 0;
    }
    return SNIP_OK;
}

static snip_code set_next(writer *w, uint64_t next, snip_status *st)
{
    sqlite3_bind_int64(w->advance, 1, (int64_t)next);
    int step = sqlite3_step(w->advance);
    sqlite3_reset(w->advance);
    return step == SQLITE_DONE ? SNIP_OK : library_db_fail(w->db, w->path, st);
}

/* Takes candidates [first, n) into the transaction, which is opened if need be. `base` is the index
 * of the batch's first sample, UINT64_MAX for the user's own. */
static snip_code take(writer *w, uint64_t base, size_t first, size_t n, uint64_t most, size_t *end,
                      snip_status *st)
{
    size_t added = 0;
    snip_code code = w->open ? SNIP_OK : library_db_run(w->db, w->path, "BEGIN IMMEDIATE", st);
    w->open |= code == SNIP_OK;
    if (code == SNIP_OK)
        code = insert_all(w, first, n, most, end, &added, st);
    if (code == SNIP_OK)
        code = write_vectors(w, added, st);
    if (code != SNIP_OK)
        return code;
    w->facts.count += added;
    if (base != UINT64_MAX)
        w->facts.next = base + *end;
    return SNIP_OK;
}

/* Makes what was taken last. */
static snip_code commit(writer *w, snip_status *st)
{
    if (!w->open)
        return SNIP_OK;
    snip_code code = fdatasync(w->vectors) == 0 ? SNIP_OK : fail_vectors(w, "cannot write: ", st);
    if (code == SNIP_OK)
        code = set_next(w, w->facts.next, st);
    if (code == SNIP_OK)
        code = library_db_run(w->db, w->path, "COMMIT", st);
    w->open = code != SNIP_OK;
    w->written = clock_now();
    return code;
}

/* Soon after the beginning, so that a build that is killed early again and again gets on, then less
 * and less often: what a kill can cost is as long as the work that it leaves, two seconds at most.
 */
static int time_to_commit(const writer *w)
{
    double before = w->written - w->started;
    return clock_now() - w->written >= (before < COMMIT_SECONDS ? before : COMMIT_SECONDS);
}

/* One batch of samples. */
static snip_code build_batch(writer *w, uint64_t most, library_built *out, snip_status *st)
{
    size_t first = w->facts.next % CHUNK, end;
    uint64_t base = w->facts.next - first;
    snip_code code = fill(w, base, NULL, w->batch, st);
    if (code == SNIP_OK)
        code = take(w, base, first, w->batch, most, &end, st);
    for (size_t i = first; code == SNIP_OK && i < end; i++) {
        out->added += w->c[i].outcome.fate == LIBRARY_ADDED;
        out->duplicates += w->c[i].outcome.fate == LIBRARY_DUPLICATE;
        out->unusable += w->c[i].outcome.fate == LIBRARY_UNUSABLE;
    }
    return code == SNIP_OK && time_to_commit(w) ? commit(w, st) : code;
}

/* A library goes on only as it was begun. */
static snip_code check_settings(const writer *w, const library_how *how, snip_status *st)
{
    const library_facts *f = &w->facts;
    if (f->seed != how->seed)
        return status_fail(st, SNIP_FORMAT, 0, "%s: was begun with seed %llu, not %llu", w->path,
                           (unsigned long long)f->seed, (unsigned long long)how->seed);
    if (f->gen.dims != how->gen.dims || f->gen.points != how->gen.points)
        return status_fail(st, SNIP_FORMAT, 0,
                           "%s: was begun with %d inputs and %zu points, not %d and %zu", w->path,
                           f->gen.dims, f->gen.points, how->gen.dims, how->gen.points);
    return SNIP_OK;
}

/* Cuts off what an earlier kill left behind the last vector. */
static snip_code trim(const writer *w, snip_status *st)
{
    off_t size = (off_t)(w->facts.count * w->space->latent * sizeof *w->half);
    struct stat file;
    if (fstat(w->vectors, &file) != 0 || (file.st_size > size && ftruncate(w->vectors, size) != 0))
        return fail_vectors(w, "cannot write: ", st);
    return SNIP_OK;
}

snip_code library_build(library_built *out, const char *path, const model_opened *m,
                        const library_how *how, snip_status *st)
{
    writer w;
    *out = (library_built){ 0 };
    snip_code code = open_writer(&w, path, m, how->threads, how, st);
    if (code == SNIP_OK)
        code = check_settings(&w, how, st);
    uint64_t before = w.facts.count;
    progress p;
    w.started = w.written = clock_now();
    progress_start(&p, "formulas", how->count > before ? how->count - before : 0, how->show);
    while (code == SNIP_OK && w.facts.count < how->count && !(how->stop && *how->stop)) {
        code = build_batch(&w, how->count, out, st);
        progress_at(&p, w.facts.count - before);
    }
    progress_end(&p);
    if (code == SNIP_OK)
        code = commit(&w, st);
    if (code == SNIP_OK)
        code = trim(&w, st);
    out->count = w.facts.count;
    close_writer(&w);
    return code;
}

snip_code library_add(library_outcome *out, const char *path, const model_opened *m,
                      const library_own_formula *f, size_t n, int threads, snip_status *st)
{
    writer w;
    snip_code code = open_writer(&w, path, m, threads, NULL, st);
    w.started = w.written = clock_now();
    for (size_t first = 0; first < n && code == SNIP_OK; first += w.batch) {
        size_t size = n - first < w.batch ? n - first : w.batch, end;
        code = fill(&w, 0, f + first, size, st);
        if (code == SNIP_OK)
            code = take(&w, UINT64_MAX, 0, size, UINT64_MAX, &end, st);
        for (size_t i = 0; i < size && code == SNIP_OK; i++)
            out[first + i] = w.c[i].outcome;
        if (code == SNIP_OK && time_to_commit(&w))
            code = commit(&w, st);
    }
    if (code == SNIP_OK)
        code = commit(&w, st);
    if (code == SNIP_OK)
        code = trim(&w, st);
    close_writer(&w);
    return code;
}
