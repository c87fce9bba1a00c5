/* index.h - a library of formulas with their vectors, on disk: built once, searched often.
 *
 *     tools_index_how how = { .count = 1000000, .gen = { 10, 200 }, .threads = 2 };
 *     tools_index_build("lib.db", model, &how, &built, &st);     // goes on where it was stopped
 *
 *     tools_index *ix;
 *     if (tools_index_open(&ix, "lib.db", model, &st) == SNIP_OK) {
 *         tools_index_search(ix, query, 20, dim, threads, hit, &found, &st);
 *         tools_index_formula(&row, ix, hit[0].id, a, &st);
 *     }
 *     tools_index_close(ix);
 *
 * A library is PATH, an SQLite database, and PATH.vectors, rows of `latent` halves in the order of
 * the formulas' ids (docs/formats.md). A formula is a function of standardised inputs, as the
 * generator's are; its vector is its symbolic embedding. No two have the same behaviour. With a
 * model that reads forms it holds their cores instead, no two with the same structure: constants
 * are to be fitted, and every second one is of a short law.
 *
 * Vectors reach the disk before the rows that need them are committed, so a kill at any moment
 * leaves a whole library. One process at a time writes; others may read. */
#ifndef TOOLS_INDEX_H
#define TOOLS_INDEX_H

#include <signal.h>

#include "base/progress.h"
#include "data/gen.h"
#include "tools/behaviour.h"
#include "tools/model.h"
#include "tools/nearest.h"

enum { TOOLS_INDEX_FORMAT = 1 };

/* What a library says of itself. */
typedef struct tools_index_facts {
    uint64_t count;      /* formulas */
    uint64_t seed, next; /* of the generator's samples, and the first not yet drawn */
    data_gen gen;
    size_t latent;
    int tree;               /* whether formulas were embedded with tree positions */
    int forms;              /* whether it holds forms, else formulas with their constants */
    char model[TOOLS_HASH]; /* the model's hash */
} tools_index_facts;

/* An opened library. One thread at a time may use it. */
typedef struct tools_index tools_index;

/* Opens a library for reading. It must have been made with `model`, NULL for any. Refuses files
 * that are no library, or of another format, damaged or cut off. */
snip_code tools_index_open(tools_index **out, const char *path, const tools_model *model,
                           snip_status *st);
void tools_index_close(tools_index *ix);

const tools_index_facts *tools_index_about(const tools_index *ix);

/* The vectors and dimensions themselves. */
const tools_rows *tools_index_rows(const tools_index *ix);

/* How many are the user's own. */
snip_code tools_index_own(uint64_t *out, tools_index *ix, snip_status *st);

/* Looks at all of it: the database's structure, every formula, that its behaviour is the one it had
 * when it was taken, and that every vector has length 1. */
snip_code tools_index_check(tools_index *ix, snip_status *st);

/* The k formulas nearest to `query` (`latent` floats) among those of at most `max_dimension`
 * inputs; see tools_nearest. */
snip_code tools_index_search(tools_index *ix, const float *query, size_t k, int max_dimension,
                             int threads, tools_hit *out, size_t *found, snip_status *st);

/* A formula of the library. */
typedef struct tools_index_row {
    uint64_t id;
    const char *formula;  /* in prefix form, with all digits */
    expr e;               /* the same, read: it has at most `dimension` inputs */
    const char *skeleton; /* the same with `c` for every number */
    int dimension, complexity;
    int64_t stream_index; /* the sample of the generator, -1 for the user's own */
    const char *name;     /* NULL if it has none */
    tools_behaviour_hash behaviour;
} tools_index_row;

/* Its text and tree live in `a`. */
snip_code tools_index_formula(tools_index_row *out, tools_index *ix, uint64_t id, arena *a,
                              snip_status *st);

/* How to build. Seed and generator must be the same each time. */
typedef struct tools_index_how {
    uint64_t count; /* formulas wanted in the library, the user's own included */
    uint64_t seed;
    data_gen gen;
    int threads, quiet;
    const volatile sig_atomic_t *stop; /* set from outside: finish the batch and return; or NULL */
} tools_index_how;

/* What a build did. */
typedef struct tools_index_built {
    uint64_t count; /* formulas now in the library */
    uint64_t added;
    uint64_t duplicates, unusable; /* samples left out */
} tools_index_built;

/* Makes the library, or goes on with it, until it has how->count formulas or *stop is set. The
 * result depends on neither the threads nor on where it was stopped. */
snip_code tools_index_build(tools_index_built *out, const char *path, const tools_model *m,
                            const tools_index_how *how, snip_status *st);

/* A formula of the user's own. */
typedef struct tools_index_own_formula {
    expr e;           /* in any operators; its normal form is what is kept */
    const char *name; /* or NULL */
} tools_index_own_formula;

typedef enum tools_index_fate {
    TOOLS_ADDED,
    TOOLS_DUPLICATE, /* `id` behaves the same */
    TOOLS_UNUSABLE   /* why.msg says why */
} tools_index_fate;

typedef struct tools_index_outcome {
    tools_index_fate fate;
    uint64_t id;
    snip_status why;
} tools_index_outcome;

/* Adds formulas to a library that exists; out[i] tells what became of f[i]. */
snip_code tools_index_add(tools_index_outcome *out, const char *path, const tools_model *m,
                          const tools_index_own_formula *f, size_t n, int threads, snip_status *st);

#endif
