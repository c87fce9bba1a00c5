/* file.h - a library of formulas with their vectors, on disk: built once, searched often.
 *
 *     library_how how = { .count = 1000000, .gen = { 10, 200 }, .threads = 2 };
 *     library_build(&built, "lib.db", model, &how, &st);     // goes on where it was stopped
 *
 *     library_file *ix;
 *     if (library_open(&ix, "lib.db", model, &st) == SNIP_OK) {
 *         library_search(ix, query, 20, dim, threads, hit, &found, &st);
 *         library_formula(&row, ix, hit[0].id, a, &st);
 *     }
 *     library_close(ix);
 *
 * A library is PATH, an SQLite database, and PATH.vectors, rows of `latent` halves in the order of
 * the formulas' ids (docs/formats.md). A formula is a function of standardised inputs, as the
 * generator's are; its vector is its symbolic embedding. No two have the same behaviour. With a
 * model that reads forms it holds their cores instead, no two with the same structure: constants
 * are to be fitted, and every second one is of a short law.
 *
 * Vectors reach the disk before the rows that need them are committed, so a kill at any moment
 * leaves a whole library. One process at a time writes; others may read. */
#ifndef LIBRARY_FILE_H
#define LIBRARY_FILE_H

#include <signal.h>

#include "base/progress.h"
#include "data/gen.h"
#include "library/behaviour.h"
#include "model/opened.h"
#include "library/nearest.h"

enum { LIBRARY_FORMAT = 1 };

/* What a library says of itself. */
typedef struct library_facts {
    uint64_t count;      /* formulas */
    uint64_t seed, next; /* of the generator's samples, and the first not yet drawn */
    data_gen gen;
    size_t latent;
    int tree;               /* whether formulas were embedded with tree positions */
    int forms;              /* whether it holds forms, else formulas with their constants */
    char model[MODEL_HASH]; /* the model's hash */
} library_facts;

/* An opened library. One thread at a time may use it. */
typedef struct library_file library_file;

/* Opens a library for reading. It must have been made with `model`, NULL for any. Refuses files
 * that are no library, or of another format, damaged or cut off. */
snip_code library_open(library_file **out, const char *path, const model_opened *model,
                       snip_status *st);
void library_close(library_file *ix);

const library_facts *library_about(const library_file *ix);

/* The vectors and dimensions themselves. */
const library_matrix *library_rows(const library_file *ix);

/* The vector of a formula, `latent` floats. */
void library_vector(float *to, const library_file *ix, uint64_t id);

/* How many are the user's own. */
snip_code library_own(uint64_t *out, library_file *ix, snip_status *st);

/* Looks at all of it: the database's structure, every formula, that its behaviour is the one it had
 * when it was taken, and that every vector has length 1. */
snip_code library_check(library_file *ix, snip_status *st);

/* The k formulas nearest to `query` (`latent` floats) among those of at most `max_dimension`
 * inputs; see library_nearest. */
snip_code library_search(library_file *ix, const float *query, size_t k, int max_dimension,
                         int threads, library_hit *out, size_t *found, snip_status *st);

/* A formula of the library. */
typedef struct library_row {
    uint64_t id;
    const char *formula;  /* in prefix form, with all digits */
    expr e;               /* the same, read: it has at most `dimension` inputs */
    const char *skeleton; /* the same with `c` for every number */
    int dimension, complexity;
    int64_t stream_index; /* the sample of the generator, -1 for the user's own */
    const char *name;     /* NULL if it has none */
    library_behaviour_hash behaviour;
} library_row;

/* Its text and tree live in `a`. */
snip_code library_formula(library_row *out, library_file *ix, uint64_t id, arena *a,
                          snip_status *st);

/* How to build. Seed and generator must be the same each time. */
typedef struct library_how {
    uint64_t count; /* formulas wanted in the library, the user's own included */
    uint64_t seed;
    data_gen gen;
    int threads;
    const progress_show *show;         /* is told how far it is; or NULL */
    const volatile sig_atomic_t *stop; /* set from outside: finish the batch and return; or NULL */
} library_how;

/* What a build did. */
typedef struct library_built {
    uint64_t count; /* formulas now in the library */
    uint64_t added;
    uint64_t duplicates, unusable; /* samples left out */
} library_built;

/* Makes the library, or goes on with it, until it has how->count formulas or *stop is set. The
 * result depends on neither the threads nor on where it was stopped. */
snip_code library_build(library_built *out, const char *path, const model_opened *m,
                        const library_how *how, snip_status *st);

/* A formula of the user's own. */
typedef struct library_own_formula {
    expr e;           /* in any operators; its normal form is what is kept */
    const char *name; /* or NULL */
} library_own_formula;

typedef enum library_fate {
    LIBRARY_ADDED,
    LIBRARY_DUPLICATE, /* `id` behaves the same */
    LIBRARY_UNUSABLE   /* why.msg says why */
} library_fate;

typedef struct library_outcome {
    library_fate fate;
    uint64_t id;
    snip_status why;
} library_outcome;

/* Adds formulas to a library that exists; out[i] tells what became of f[i]. */
snip_code library_add(library_outcome *out, const char *path, const model_opened *m,
                      const library_own_formula *f, size_t n, int threads, snip_status *st);

#endif
