/* test_library.c - libraries: search against brute force, the same bytes however they are built,
 * and every kind of damage refused in one line. */
#include "support.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/half.h"
#include "model/file.h"
#include "library/behaviour.h"
#include "library/file.h"

enum { FORMULAS = 1500 }; /* more than a batch */

/* A folder of its own, and a small untrained model. */
typedef struct bench {
    arena *a;
    char folder[64];
    model_opened *m, *other;
} bench;

static model_opened *model_of_seed(bench *b, uint64_t seed)
{
    model *m = untrained_model(seed, b->a);
    char path[128];
    model_opened *out;
    json_t *history = json_pack("{s:s}", "stage", "S5");
    snprintf(path, sizeof path, "%s/model.safetensors", b->folder);
    assert_int_equal(model_save(m, path, history, NULL), SNIP_OK);
    json_decref(history);
    assert_int_equal(model_open(&out, path, NULL), SNIP_OK);
    return out;
}

static int setup(void **state)
{
    bench *b = calloc(1, sizeof *b);
    strcpy(b->folder, "/tmp/test_index.XXXXXX");
    if (!mkdtemp(b->folder))
        return -1;
    b->a = arena_new(0);
    b->m = model_of_seed(b, 4);
    b->other = model_of_seed(b, 5);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    bench *b = *state;
    char command[128];
    model_close(b->m);
    model_close(b->other);
    snprintf(command, sizeof command, "rm -rf %s", b->folder);
    arena_free(b->a);
    free(b);
    return system(command);
}

static char *path_of(bench *b, const char *name)
{
    char path[256];
    int n = snprintf(path, sizeof path, "%s/%s", b->folder, name);
    return arena_text(b->a, path, (size_t)n);
}

static const library_how usual = { .count = FORMULAS, .seed = 3, .gen = { 10, 50 }, .threads = 2 };

static char *build(bench *b, const char *name, const library_how *how)
{
    char *path = path_of(b, name);
    library_built built;
    snip_status st;
    if (library_build(&built, path, b->m, how, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    assert_int_equal(built.count, how->count);
    return path;
}

static library_file *opened(bench *b, const char *path)
{
    library_file *ix;
    snip_status st;
    if (library_open(&ix, path, b->m, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return ix;
}

/* All rows and facts of the database as text. */
static char *dump(bench *b, const char *path)
{
    static const char *const queries[] = {
        "SELECT key || '=' || value FROM meta ORDER BY key",
        "SELECT id || ' ' || formula || ' ' || skeleton || ' ' || dimension || ' ' || complexity ||"
        " ' ' || ifnull(stream_index, '-') || ' ' || ifnull(name, '-') || hex(behaviour)"
        " FROM formulas ORDER BY id",
    };
    sqlite3 *db;
    size_t size = 1, used = 0;
    char *out = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    for (size_t q = 0; q < COUNT(queries); q++) {
        sqlite3_stmt *s;
        assert_int_equal(sqlite3_prepare_v2(db, queries[q], -1, &s, NULL), SQLITE_OK);
        while (sqlite3_step(s) == SQLITE_ROW) {
            size_t n = (size_t)sqlite3_column_bytes(s, 0);
            if (used + n + 2 > size || !out)
                out = realloc(out, size = 2 * (used + n + 2));
            memcpy(out + used, sqlite3_column_text(s, 0), n);
            out[used + n] = '\n';
            used += n + 1;
        }
        sqlite3_finalize(s);
    }
    sqlite3_close(db);
    char *copy = arena_text(b->a, out, used);
    free(out);
    return copy;
}

static char *vectors_of(bench *b, const char *path, size_t *size)
{
    char *bytes, name[300];
    snprintf(name, sizeof name, "%s.vectors", path);
    assert_int_equal(file_read(&bytes, size, name, b->a, NULL), SNIP_OK);
    return bytes;
}

static void assert_same_library(bench *b, const char *one, const char *two)
{
    size_t n, m;
    char *v = vectors_of(b, one, &n), *w = vectors_of(b, two, &m);
    assert_int_equal(n, m);
    assert_memory_equal(v, w, n);
    assert_string_equal(dump(b, one), dump(b, two));
}

static void a_library_is_the_same_however_it_is_built(void **state)
{
    bench *b = *state;
    library_how how = usual;
    char *whole = build(b, "whole.db", &how);
    how.threads = 1;
    assert_same_library(b, whole, build(b, "one.db", &how));
    how.threads = 3;
    for (how.count = 7; how.count < FORMULAS; how.count += 500) /* in parts, within batches */
        build(b, "parts.db", &how);
    how.count = FORMULAS;
    assert_same_library(b, whole, build(b, "parts.db", &how));
    build(b, "parts.db", &how); /* nothing is left to do */
    assert_same_library(b, whole, path_of(b, "parts.db"));

    /* What a killed build left behind the last vector is overwritten and cut off. */
    how.count = 100;
    build(b, "rest.db", &how);
    FILE *f = fopen(path_of(b, "rest.db.vectors"), "ab");
    for (int i = 0; i < 300000; i++)
        fputs("rubbish", f);
    fclose(f);
    how.count = FORMULAS;
    assert_same_library(b, whole, build(b, "rest.db", &how));

    how.seed = 4;
    library_built built;
    snip_status st;
    assert_int_equal(library_build(&built, whole, b->m, &how, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "was begun with seed 3, not 4"));
    how.seed = 3;
    how.gen.points = 60;
    assert_int_equal(library_build(&built, whole, b->m, &how, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "10 inputs and 50 points"));
}

static void rows_are_what_they_say(void **state)
{
    bench *b = *state;
    library_file *ix = opened(b, build(b, "lib.db", &usual));
    const library_matrix *rows = library_rows(ix);
    model_space *space = model_space_new(b->m->m, b->m->tree, 1);
    float *z = malloc(rows->latent * sizeof *z);
    uint64_t own;
    assert_int_equal(library_check(ix, NULL), SNIP_OK);
    assert_int_equal(library_own(&own, ix, NULL), SNIP_OK);
    assert_int_equal(own, 0);
    for (uint64_t id = 1; id <= FORMULAS; id += 7) {
        library_row row;
        expr e;
        data_sample s;
        assert_int_equal(library_formula(&row, ix, id, b->a, NULL), SNIP_OK);
        assert_int_equal(expr_parse(&e, row.formula, NULL, b->a, NULL), SNIP_OK);
        assert_int_equal(data_sample_draw(&s, &usual.gen, usual.seed, RNG_LIBRARY,
                                          (uint64_t)row.stream_index, b->a),
                         SNIP_OK);
        assert_true(expr_same(e, s.e));
        assert_int_equal(row.dimension, s.dim);
        assert_int_equal(row.dimension, rows->dimension[id - 1]);
        assert_int_equal(row.complexity, e.count);
        assert_null(row.name);
        model_item item = { .node = MODEL_WHOLE };
        assert_int_equal(model_space_words(&item.words, space, e, MODEL_EXACT, b->a, NULL),
                         SNIP_OK);
        assert_int_equal(model_space_embed(space, &item, 1, z, NULL, NULL), SNIP_OK);
        for (size_t j = 0; j < rows->latent; j++)
            assert_true(fabsf(half_value(rows->half[(id - 1) * rows->latent + j]) - z[j]) < 1e-3f);
    }
    library_row row;
    snip_status st;
    assert_int_equal(library_formula(&row, ix, FORMULAS + 1, b->a, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "there is no formula 1501"));
    free(z);
    model_space_free(space);
    library_close(ix);
}

typedef struct scored {
    double score;
    uint64_t id;
} scored;

static int by_score(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score ? 1 : -1)
                                : (x->id > y->id) - (x->id < y->id);
}

/* The whole order in double over the decoded halves. */
static size_t brute_force(scored *out, const library_matrix *rows, const float *q, int dimension)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->count; i++) {
        double sum = 0;
        for (size_t j = 0; j < rows->latent; j++)
            sum += (double)half_value(rows->half[i * rows->latent + j]) * (double)q[j];
        if (!rows->dimension || rows->dimension[i] <= dimension)
            out[n++] = (scored){ sum, i + 1 };
    }
    qsort(out, n, sizeof *out, by_score);
    return n;
}

static void search_is_exact(void **state)
{
    static const size_t ks[] = { 0, 1, 20, 300, 5000 };
    bench *b = *state;
    library_file *ix = opened(b, build(b, "lib.db", &usual));
    const library_matrix *rows = library_rows(ix);
    scored *all = malloc(rows->count * sizeof *all);
    library_hit hit[5000];
    float *q = malloc(rows->latent * sizeof *q);
    for (size_t t = 0; t < 40; t++) {
        int dimension = (int)(t % 11), threads = 1 + (int)(t % 3);
        size_t k = ks[t % COUNT(ks)], found;
        for (size_t j = 0; j < rows->latent; j++)
            q[j] = t == 39 ? 0 : half_value(rows->half[t * 31 * rows->latent + j]);
        size_t n = brute_force(all, rows, q, dimension);
        assert_int_equal(library_search(ix, q, k, dimension, threads, hit, &found, NULL), SNIP_OK);
        assert_int_equal(found, k < n ? k : n);
        for (size_t i = 0; i < found; i++) {
            assert_int_equal(hit[i].id, all[i].id);
            assert_true(hit[i].score == all[i].score);
        }
    }
    size_t found;
    q[3] = NAN;
    assert_int_equal(library_search(ix, q, 5, 10, 2, hit, &found, NULL), SNIP_FORMAT);
    free(q);
    free(all);
    library_close(ix);
}

/* Ties come in the order of ids, and values that float cannot tell apart in that of double. */
static void search_orders_ties(void **state)
{
    enum { N = 5000, WIDTH = 19 };
    uint16_t *half = malloc(N * WIDTH * sizeof *half);
    scored *all = malloc(N * sizeof *all);
    library_hit hit[100];
    float q[WIDTH];
    rng r;
    (void)state;
    rng_init(&r, 1, RNG_BENCH, 0);
    for (size_t j = 0; j < WIDTH; j++)
        q[j] = (float)rng_uniform(&r) / 4;
    for (size_t i = 0; i < N; i++) /* the same numbers in few orders */
        for (size_t j = 0; j < WIDTH; j++)
            half[i * WIDTH + j] = half_of(j == i % 7 ? 0x1p-20f : 0.25f);
    const library_matrix rows = { .half = half, .count = N, .latent = WIDTH };
    brute_force(all, &rows, q, 0);
    for (int threads = 1; threads < 5; threads++) {
        size_t found;
        assert_int_equal(library_nearest(&rows, q, 100, 0, threads, hit, &found, NULL), SNIP_OK);
        assert_int_equal(found, 100);
        for (size_t i = 0; i < found; i++)
            assert_int_equal(hit[i].id, all[i].id);
    }
    free(half);
    free(all);
}

static const struct {
    const char *a, *b;
    int same;
} pairs[] = {
    { "x0 + x1", "x1 + x0", 1 },
    { "(x0 + x1) + x2", "x0 + (x1 + x2)", 1 },
    { "x0", "x0 + 0*x3", 1 },
    { "sqrt(x0)^2*2", "2*x0*sqrt(x0)/sqrt(x0)", 1 }, /* NaN at the same points */
    { "exp(x0)*exp(x1)", "exp(x0 + x1)", 1 },
    { "x0*0", "-(x0*0)", 1 },
    { "x0", "abs(x0)", 0 },
    { "x0", "1.001*x0", 0 },
    { "x0", "x1", 0 },
    { "sqrt(x0)", "sqrt(abs(x0))", 0 },
    { "exp(97 + x0/100)", "exp(98 + x1/100)", 0 }, /* beyond float, but not beyond double */
    { "exp(-120 + x0/100)", "exp(-121 + x1/100)", 0 },
};

static void behaviour_tells_functions_apart(void **state)
{
    bench *b = *state;
    library_points points;
    library_behaviour_hash h[2];
    snip_status st;
    expr e;
    library_points_draw(&points);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        for (int k = 0; k < 2; k++) {
            assert_int_equal(expr_parse(&e, k ? pairs[i].b : pairs[i].a, NULL, b->a, NULL),
                             SNIP_OK);
            assert_int_equal(library_behaviour(&h[k], e, &points, b->a, NULL), SNIP_OK);
        }
        if ((memcmp(&h[0], &h[1], sizeof *h) == 0) != pairs[i].same)
            fail_msg("%s and %s", pairs[i].a, pairs[i].b);
    }
    assert_int_equal(expr_parse(&e, "log(-x0^2 - 1)", NULL, b->a, NULL), SNIP_OK);
    assert_int_equal(library_behaviour(h, e, &points, b->a, &st), SNIP_UNSUPPORTED);
    assert_int_equal(expr_parse(&e, "x10", NULL, b->a, NULL), SNIP_OK);
    assert_int_equal(library_behaviour(h, e, &points, b->a, &st), SNIP_UNSUPPORTED);
}

static const struct {
    const char *text, *name;
    library_fate fate;
    uint64_t id;
    const char *why;
} own[] = {
    { "sin(x0)/x1", "wave", LIBRARY_ADDED, 41, NULL },
    { "x0 + x1", NULL, LIBRARY_ADDED, 42, NULL },
    { "x1 + x0", NULL, LIBRARY_DUPLICATE, 42, NULL },
    { "floor(x0)", NULL, LIBRARY_UNUSABLE, 0, "floor" },
    { "x0^x1", NULL, LIBRARY_UNUSABLE, 0, "pow" },
    { "x11", NULL, LIBRARY_UNUSABLE, 0, "12 inputs" },
    { "log(-x0^2)", NULL, LIBRARY_UNUSABLE, 0, "no finite value" },
    { "tanh(x0)", "gate", LIBRARY_ADDED, 43, NULL },
    { "sin(x0)*x1^-1", "again", LIBRARY_DUPLICATE, 41, NULL },
};

static void add_tells_what_became_of_each(void **state)
{
    bench *b = *state;
    library_how how = usual;
    how.count = 40;
    char *path = build(b, "lib.db", &how);
    library_own_formula f[COUNT(own) + 1];
    library_outcome out[COUNT(own) + 1];
    library_row row;
    snip_status st;
    for (size_t i = 0; i < COUNT(own); i++) {
        assert_int_equal(expr_parse(&f[i].e, own[i].text, NULL, b->a, NULL), SNIP_OK);
        f[i].name = own[i].name;
    }
    f[COUNT(own)].name = NULL;
    library_file *ix = opened(b, path); /* one of the generator's, too */
    assert_int_equal(library_formula(&row, ix, 17, b->a, NULL), SNIP_OK);
    assert_int_equal(expr_parse(&f[COUNT(own)].e, row.formula, NULL, b->a, NULL), SNIP_OK);
    library_close(ix);
    if (library_add(out, path, b->m, f, COUNT(f), 2, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    for (size_t i = 0; i < COUNT(own); i++) {
        assert_int_equal(out[i].fate, own[i].fate);
        assert_int_equal(out[i].id, own[i].id);
        if (own[i].why && !strstr(out[i].why.msg, own[i].why))
            fail_msg("%s: %s", own[i].text, out[i].why.msg);
    }
    assert_int_equal(out[COUNT(own)].fate, LIBRARY_DUPLICATE);
    assert_int_equal(out[COUNT(own)].id, 17);

    uint64_t mine;
    ix = opened(b, path);
    assert_int_equal(library_own(&mine, ix, NULL), SNIP_OK);
    assert_int_equal(mine, 3);
    assert_int_equal(library_formula(&row, ix, 41, b->a, NULL), SNIP_OK);
    assert_string_equal(row.formula, "mul,sin,x_0,inv,x_1");
    assert_string_equal(row.skeleton, "mul,sin,x_0,inv,x_1");
    assert_string_equal(row.name, "wave");
    assert_int_equal(row.dimension, 2);
    assert_int_equal(row.complexity, 5);
    assert_int_equal(row.stream_index, -1);
    assert_int_equal(library_check(ix, NULL), SNIP_OK);
    library_close(ix);

    /* The build goes on behind them, and passes over what is there already: sample 45, added. */
    data_sample s;
    library_built built;
    assert_int_equal(data_sample_draw(&s, &how.gen, how.seed, RNG_LIBRARY, 45, b->a), SNIP_OK);
    f[0] = (library_own_formula){ .e = s.e };
    assert_int_equal(library_add(out, path, b->m, f, 1, 1, NULL), SNIP_OK);
    assert_int_equal(out[0].id, 44);
    how.count = 60;
    assert_int_equal(library_build(&built, path, b->m, &how, NULL), SNIP_OK);
    assert_int_equal(built.duplicates, 1);
    assert_int_equal(built.added, 16);
    ix = opened(b, path);
    assert_int_equal(library_formula(&row, ix, 45, b->a, NULL), SNIP_OK);
    assert_int_equal(row.stream_index, 40);
    assert_int_equal(library_formula(&row, ix, 50, b->a, NULL), SNIP_OK);
    assert_int_equal(row.stream_index, 46);
    assert_int_equal(library_about(ix)->next, 57);
    library_close(ix);
    assert_int_equal(library_add(out, path_of(b, "none.db"), b->m, f, 1, 1, &st), SNIP_IO);
    assert_non_null(strstr(st.msg, "No such file"));
    assert_int_equal(library_add(out, path, b->other, f, 1, 1, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "made with another model"));
}

static void change(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void refuse(bench *b, const char *path, const char *why)
{
    library_file *ix;
    snip_status st = { 0 };
    assert_int_not_equal(library_open(&ix, path, b->m, &st), SNIP_OK);
    assert_null(ix);
    if (!strstr(st.msg, why))
        fail_msg("'%s' instead of '%s'", st.msg, why);
    if (strstr(why, "another model"))
        return;
    /* Nothing is built upon it either, and nothing is overwritten. */
    struct stat before, after;
    int there = stat(path, &before) == 0;
    library_built built;
    library_how how = usual;
    how.count = 100;
    if (there) {
        assert_int_not_equal(library_build(&built, path, b->m, &how, &st), SNIP_OK);
        assert_int_equal(stat(path, &after), 0);
        assert_int_equal(before.st_size, after.st_size);
    }
}

static void damage_is_refused(void **state)
{
    static const struct {
        const char *sql, *why;
    } changes[] = {
        { "UPDATE meta SET value = 99 WHERE key = 'format'", "newer format (99)" },
        { "UPDATE meta SET value = '2' WHERE key = 'format'", "newer format (2)" },
        { "UPDATE meta SET value = 1.5 WHERE key = 'format'", "newer format (1.5)" },
        { "UPDATE meta SET value = '2.1-beta' WHERE key = 'format'", "newer format (2.1-beta)" },
        { "UPDATE meta SET value = 0 WHERE key = 'format'", "damaged: 'format'" },
        { "UPDATE meta SET value = 'one' WHERE key = 'format'", "damaged: 'format'" },
        { "UPDATE meta SET value = -1 WHERE key = 'latent'", "damaged: 'latent'" },
        { "UPDATE meta SET value = 1 << 40 WHERE key = 'latent'", "damaged: 'latent'" },
        { "UPDATE meta SET value = 1 WHERE key = 'latent'", "damaged: 'latent'" },
        { "UPDATE meta SET value = 1 - value WHERE key = 'tree'",
          "damaged: 'latent', 'tree' or 'behaviour'" },
        { "UPDATE meta SET value = hex(zeroblob(99)) WHERE key = 'model'", "damaged: 'model'" },
        { "DELETE FROM meta WHERE key = 'seed'", "no 'seed'" },
        { "UPDATE meta SET value = 'by hand' WHERE key = 'behaviour'", "different duplicate test" },
        { "DELETE FROM formulas WHERE id = 5", "damaged: its ids" },
        { "UPDATE formulas SET id = 1000 WHERE id = 60", "damaged: its ids" },
        { "UPDATE formulas SET dimension = -3 WHERE id = 8", "damaged: its dimensions" },
        { "UPDATE formulas SET dimension = 300 WHERE id = 8", "damaged: its dimensions" },
        { "DROP TABLE meta", "not a library" },
        { "DROP TABLE formulas", "not a library" },
    };
    bench *b = *state;
    library_how how = usual;
    how.count = 60;
    library_file *ix;
    snip_status st;
    char *lib = build(b, "lib.db", &how), command[600], why[128];
    assert_int_equal(library_open(&ix, lib, b->other, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "made with another model"));
    snprintf(why, sizeof why, "(%.8s) than this one (%.8s)", b->m->hash, b->other->hash);
    assert_non_null(strstr(st.msg, why));
    refuse(b, path_of(b, "none.db"), "No such file");
    refuse(b, b->folder, "not a library");
    for (size_t i = 0; i < COUNT(changes); i++) {
        char *bad = path_of(b, "bad.db");
        snprintf(command, sizeof command, "cp %s %s && cp %s.vectors %s.vectors", lib, bad, lib,
                 bad);
        assert_int_equal(system(command), 0);
        change(bad, changes[i].sql);
        refuse(b, bad, changes[i].why);
    }
}

/* A formula with more inputs than it says, or none at all, is found out when it is read. */
static void damaged_formulas_are_refused(void **state)
{
    static const char *const wrong[] = { "mul,x_9,x_9", "mul,x_0", "" };
    bench *b = *state;
    library_how how = usual;
    how.count = 20;
    char *path = build(b, "wrong.db", &how), sql[128];
    for (size_t i = 0; i < COUNT(wrong); i++) {
        snprintf(sql, sizeof sql, "UPDATE formulas SET formula = '%s', dimension = 1 WHERE id = 7",
                 wrong[i]);
        change(path, sql);
        library_file *ix = opened(b, path);
        library_row row;
        snip_status st;
        assert_int_equal(library_formula(&row, ix, 6, b->a, &st), SNIP_OK);
        assert_int_equal(library_formula(&row, ix, 7, b->a, &st), SNIP_FORMAT);
        assert_non_null(strstr(st.msg, "formula 7 is damaged"));
        assert_int_equal(library_check(ix, &st), SNIP_FORMAT);
        library_close(ix);
    }
}

/* A formula that can be read, but is not the one that was taken. */
static void replaced_formulas_are_found(void **state)
{
    bench *b = *state;
    static const char *const replaced[] = {
        "UPDATE formulas SET formula = 'log,0.0' WHERE id = 7",
        "UPDATE formulas SET formula = '3.0' WHERE id = 7",
        "UPDATE formulas SET behaviour = zeroblob(16) WHERE id = 7",
        "UPDATE formulas SET behaviour = zeroblob(3) WHERE id = 7",
    };
    library_how how = usual;
    how.count = 20;
    for (size_t i = 0; i < COUNT(replaced); i++) {
        char name[32];
        snip_status st = { 0 };
        snprintf(name, sizeof name, "replaced_%zu.db", i);
        char *path = build(b, name, &how);
        change(path, replaced[i]);
        library_file *ix = opened(b, path);
        assert_int_equal(library_check(ix, &st), SNIP_FORMAT);
        if (!strstr(st.msg, "formula 7 is not the one it was"))
            fail_msg("%s: %s", replaced[i], st.msg);
        library_close(ix);
    }
}

/* A library that was killed and removed leaves a journal; the next of its name is not its
 * business. */
static void old_journals_are_forgotten(void **state)
{
    bench *b = *state;
    library_how how = usual;
    how.count = 20;
    char *path = path_of(b, "anew.db"), *journal = path_of(b, "anew.db-journal");
    char *other = build(b, "old.db", &how);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(other, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "PRAGMA cache_size = 1; BEGIN; DELETE FROM formulas;", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_db_cacheflush(db), SQLITE_OK);
    char *bytes;
    size_t size;
    assert_int_equal(file_read(&bytes, &size, path_of(b, "old.db-journal"), b->a, NULL), SNIP_OK);
    sqlite3_close(db);
    assert_true(size > 512);
    FILE *f = fopen(journal, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
    library_close(opened(b, build(b, "anew.db", &how)));
    assert_string_equal(dump(b, path), dump(b, other));
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

/* Files cut off anywhere, rubbish, and a database with random bytes changed: refused or right, and
 * never a crash. */
static void broken_files_are_refused(void **state)
{
    bench *b = *state;
    library_how how = usual;
    how.count = 60;
    char *lib = build(b, "lib.db", &how), *bytes, *copy, *bad = path_of(b, "bad.db");
    size_t size, n, row = (size_t)b->m->m->config.latent * 2;
    char *v = vectors_of(b, lib, &n);
    assert_int_equal(file_read(&bytes, &size, lib, b->a, NULL), SNIP_OK);
    write_file(path_of(b, "bad.db.vectors"), v, n);
    for (size_t cut = 0; cut < size; cut += cut < 200 ? 7 : 1531) {
        write_file(bad, bytes, cut);
        refuse(b, bad, bad);
    }
    for (size_t length = 1; length < 100000; length *= 7) {
        copy = arena_zero(b->a, length);
        memset(copy, 'x', length);
        write_file(bad, copy, length);
        refuse(b, bad, "not a library");
    }
    rng r;
    rng_init(&r, 1, RNG_BENCH, 0);
    copy = arena_copy(b->a, bytes, size);
    for (int trial = 0; trial < 300; trial++) {
        memcpy(copy, bytes, size);
        for (int k = 0; k < 20; k++)
            copy[rng_below(&r, (uint32_t)size)] = (char)rng_u64(&r);
        write_file(bad, copy, size);
        library_file *ix;
        library_row out;
        if (library_open(&ix, bad, NULL, NULL) != SNIP_OK)
            continue;
        (void)library_check(ix, NULL);
        for (uint64_t id = 1; id <= library_about(ix)->count; id++)
            (void)library_formula(&out, ix, id, b->a, NULL);
        library_close(ix);
    }
    write_file(bad, bytes, size);
    for (size_t cut = 0; cut < n; cut += row / 2 + 1) {
        write_file(path_of(b, "bad.db.vectors"), v, cut);
        refuse(b, bad, "cut off");
    }
    unlink(path_of(b, "bad.db.vectors"));
    refuse(b, bad, "bad.db.vectors: No such file");
    memset(v + 5 * row, 0, row); /* whole by size only */
    write_file(path_of(b, "bad.db.vectors"), v, n);
    library_file *ix = opened(b, bad);
    snip_status st;
    assert_int_equal(library_check(ix, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "vector of formula 6"));
    library_close(ix);
}

/* A file that can grow no more stands for a full disk. */
static void a_full_disk_loses_nothing(void **state)
{
    bench *b = *state;
    library_how how = usual;
    library_built built;
    char *path = path_of(b, "full.db");
    snip_status st;
    struct rlimit before, little;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 1000; limit < 700000; limit = limit * 5 / 3) {
        little = before;
        little.rlim_cur = limit;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        snip_code code = library_build(&built, path, b->m, &how, &st);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        if (code == SNIP_OK)
            break;
        assert_int_equal(code, SNIP_IO);
        if (access(path, F_OK) != 0) { /* not even begun: nothing is left */
            assert_int_not_equal(access(path_of(b, "full.db.vectors"), F_OK), 0);
            continue;
        }
        library_file *ix = opened(b, path);
        assert_int_equal(library_check(ix, NULL), SNIP_OK);
        library_close(ix);
    }
    signal(SIGXFSZ, SIG_DFL);
    build(b, "full.db", &usual);
    assert_same_library(b, path, build(b, "lib.db", &usual));
}

/* While one writes, another writer is turned away; readers see the last whole state. */
static void one_writes_at_a_time(void **state)
{
    bench *b = *state;
    library_how how = usual;
    how.count = 50;
    char *path = build(b, "lib.db", &how);
    int ready[2], done[2];
    assert_int_equal(pipe(ready) | pipe(done), 0);
    pid_t child = fork();
    if (child == 0) { /* holds the lock as a writer does, until told to go */
        char c;
        FILE *f = fopen(path_of(b, "lib.db.vectors"), "r+");
        int held = f && flock(fileno(f), LOCK_EX) == 0;
        if (!held || write(ready[1], "x", 1) != 1 || read(done[0], &c, 1) != 1)
            _exit(1);
        _exit(0);
    }
    char c;
    library_built built;
    snip_status st;
    assert_int_equal(read(ready[0], &c, 1), 1);
    how.count = 70;
    assert_int_equal(library_build(&built, path, b->m, &how, &st), SNIP_IO);
    assert_non_null(strstr(st.msg, "another process is writing"));
    library_file *ix = opened(b, path);
    assert_int_equal(library_about(ix)->count, 50);
    library_close(ix);
    assert_int_equal(write(done[1], "x", 1), 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    build(b, "lib.db", &how);
}

/* Sets the flag as soon as something is written. */
typedef struct watcher {
    const char *path;
    volatile sig_atomic_t *stop;
} watcher;

static void *watch(void *context)
{
    const watcher *w = context;
    struct stat file;
    while (stat(w->path, &file) != 0 || file.st_size == 0)
        usleep(500);
    *w->stop = 1;
    return NULL;
}

/* A stop is answered within a few formulas, and what was made until then is kept. */
static void a_stop_is_answered_soon(void **state)
{
    static volatile sig_atomic_t stop;
    bench *b = *state;
    library_how how = usual;
    library_built built;
    pthread_t thread;
    watcher w = { path_of(b, "soon.db.vectors"), &stop };
    how.count = 1000000;
    how.stop = &stop;
    stop = 0;
    assert_int_equal(pthread_create(&thread, NULL, watch, &w), 0);
    assert_int_equal(library_build(&built, path_of(b, "soon.db"), b->m, &how, NULL), SNIP_OK);
    pthread_join(thread, NULL);
    if (built.count == 0 || built.count > 500)
        fail_msg("%llu formulas", (unsigned long long)built.count);
    library_file *ix = opened(b, path_of(b, "soon.db"));
    assert_int_equal(library_about(ix)->count, built.count);
    assert_int_equal(library_check(ix, NULL), SNIP_OK);
    library_close(ix);
    /* Going on leads where an undisturbed build would have led, whatever the threads. */
    how = usual;
    how.count = 1200;
    how.threads = 3;
    build(b, "soon.db", &how);
    how.threads = 1;
    assert_same_library(b, path_of(b, "soon.db"), build(b, "calm.db", &how));
}

static void a_stop_ends_in_good_order(void **state)
{
    static volatile sig_atomic_t stop = 1;
    bench *b = *state;
    library_how how = usual;
    library_built built;
    how.stop = &stop;
    assert_int_equal(library_build(&built, path_of(b, "lib.db"), b->m, &how, NULL), SNIP_OK);
    assert_int_equal(built.count, 0);
    library_file *ix = opened(b, path_of(b, "lib.db")); /* empty, and whole */
    library_hit hit;
    size_t found;
    float q[4096] = { 1 };
    assert_int_equal(library_search(ix, q, 1, 10, 1, &hit, &found, NULL), SNIP_OK);
    assert_int_equal(found, 0);
    library_close(ix);
    snip_status st;
    assert_int_equal(library_build(&built, path_of(b, "no/such/lib.db"), b->m, &how, &st), SNIP_IO);
    assert_non_null(strstr(st.msg, "cannot write: No such file"));
    write_file(path_of(b, "lost.db.vectors"), "somebody's", 10);
    assert_int_equal(library_build(&built, path_of(b, "lost.db"), b->m, &how, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "is there already"));
}

#define BENCH_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(a_library_is_the_same_however_it_is_built),
        BENCH_TEST(rows_are_what_they_say),
        BENCH_TEST(search_is_exact),
        cmocka_unit_test(search_orders_ties),
        BENCH_TEST(behaviour_tells_functions_apart),
        BENCH_TEST(add_tells_what_became_of_each),
        BENCH_TEST(damage_is_refused),
        BENCH_TEST(damaged_formulas_are_refused),
        BENCH_TEST(replaced_formulas_are_found),
        BENCH_TEST(a_stop_is_answered_soon),
        BENCH_TEST(old_journals_are_forgotten),
        BENCH_TEST(broken_files_are_refused),
        BENCH_TEST(a_full_disk_loses_nothing),
        BENCH_TEST(one_writes_at_a_time),
        BENCH_TEST(a_stop_ends_in_good_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
