/* streams.h - who draws which random numbers: one map, so that no two users draw the same.
 *
 *     rng r;
 *     streams_rng(&r, seed, STREAMS_ROW_DRAWS, k);     // draw k of a user's rows
 *
 * A number is a function of (seed, stream, index). Training never meets what evaluation draws,
 * because the streams are others; within a stream every user has a range of indexes of its own.
 * test_base.c holds that ranges do not meet; everything but the generators themselves, which are
 * told a stream and an index, draws through here. */
#ifndef BASE_STREAMS_H
#define BASE_STREAMS_H

#include <assert.h>

#include "base/rng.h"

/*  user, stream, part of an index's numbers (rng.h), first index, number of them */
#define STREAMS_MAP(ROW)                                                                           \
    /* Training: sample i of a run, an expression or a law; the laws that are its rivals. */       \
    ROW(TRAINING, RNG_TRAIN, RNG_FIRST, 0, STREAMS_BIT(63))                                        \
    ROW(TRAINING_LAWS, RNG_TRAIN, RNG_LAW, 0, STREAMS_BIT(63))                                     \
    ROW(REFIT_RIVALS, RNG_TRAIN, RNG_LAW, STREAMS_BIT(63), STREAMS_BIT(63))                        \
    /* The trainer's quick check, and whether a user's own formula can be drawn at all. */         \
    ROW(CHECKS, RNG_VALIDATION, RNG_FIRST, 0, STREAMS_BIT(40))                                     \
    ROW(CHECK_LAWS, RNG_VALIDATION, RNG_LAW, 0, STREAMS_BIT(40))                                   \
    ROW(CHECK_PROBLEMS, RNG_VALIDATION, RNG_LAW, STREAMS_BIT(40), STREAMS_BIT(30))                 \
    ROW(CHECK_RIVALS, RNG_VALIDATION, RNG_LAW, STREAMS_BIT(40) + STREAMS_BIT(30), STREAMS_BIT(30)) \
    ROW(OWN_FORMULAS, RNG_VALIDATION, RNG_OWN, STREAMS_BIT(41), STREAMS_BIT(40))                   \
    /* Evaluation: pairs of the retrieval; targets of edits and probes; families of copies; */     \
    /* problems of forms and the laws that are their rivals. */                                    \
    ROW(PAIRS, RNG_HELD_OUT, RNG_FIRST, 0, STREAMS_BIT(40))                                        \
    ROW(PAIR_LAWS, RNG_HELD_OUT, RNG_LAW, 0, STREAMS_BIT(40))                                      \
    ROW(TARGETS, RNG_HELD_OUT, RNG_FIRST, STREAMS_BIT(40), STREAMS_BIT(20))                        \
    ROW(COPIES, RNG_HELD_OUT, RNG_FIRST, STREAMS_BIT(40) + STREAMS_BIT(20), STREAMS_BIT(20))       \
    ROW(PROBLEMS, RNG_HELD_OUT, RNG_LAW, STREAMS_BIT(40), STREAMS_BIT(20))                         \
    ROW(COPIED_LAWS, RNG_HELD_OUT, RNG_LAW, STREAMS_BIT(40) + STREAMS_BIT(20), STREAMS_BIT(20))    \
    ROW(RIVALS, RNG_HELD_OUT, RNG_LAW, STREAMS_BIT(40) + STREAMS_BIT(30), STREAMS_BIT(30))         \
    /* Edits: two per target (of the whole, of its subtrees); of the corpora; of the probes; of */ \
    /* the forms, 2^32 for each of its parts; of the command `edits`. */                           \
    ROW(TARGET_EDITS, RNG_EDITS, RNG_FIRST, 0, STREAMS_BIT(33))                                    \
    ROW(CORPUS_EDITS, RNG_EDITS, RNG_FIRST, STREAMS_BIT(33), STREAMS_BIT(33))                      \
    ROW(IDENTITIES, RNG_EDITS, RNG_FIRST, STREAMS_BIT(34), STREAMS_BIT(32))                        \
    ROW(COMMUTED, RNG_EDITS, RNG_FIRST, STREAMS_BIT(34) + STREAMS_BIT(32), STREAMS_BIT(32))        \
    ROW(FORMS, RNG_EDITS, RNG_FIRST, STREAMS_BIT(36), STREAMS_BIT(35))                             \
    ROW(SHOWN_POINTS, RNG_EDITS, RNG_FIRST, STREAMS_BIT(37), 1)                                    \
    ROW(SHOWN_EDITS, RNG_EDITS, RNG_FIRST, STREAMS_BIT(37) + 1, STREAMS_BIT(10))                   \
    /* Points of the corpora, by a formula's place in its file. */                                 \
    ROW(CORPUS_POINTS, RNG_CORPUS, RNG_FIRST, 0, STREAMS_BIT(32))                                  \
    ROW(RESAMPLES, RNG_RESAMPLE, RNG_FIRST, 0, STREAMS_BIT(32))                                    \
    /* A user's rows: which are held out, which are shown; noise on the rows of an evaluation. */  \
    ROW(ROWS_HELD_OUT, RNG_ROWS, RNG_FIRST, 0, 1)                                                  \
    ROW(ROW_DRAWS, RNG_ROWS, RNG_FIRST, STREAMS_BIT(20), STREAMS_BIT(20))                          \
    ROW(FORMS_NOISE, RNG_ROWS, RNG_FIRST, STREAMS_BIT(36), STREAMS_BIT(35))                        \
    ROW(PAIRS_NOISE, RNG_ROWS, RNG_FIRST, STREAMS_BIT(40), STREAMS_BIT(40))                        \
    /* Libraries. The suite `forms` and the map of `serve` take formulas from here on purpose: */  \
    /* these are a library, too, of the same formulas as a user's. */                              \
    ROW(LIBRARY, RNG_LIBRARY, RNG_FIRST, 0, STREAMS_BIT(63))                                       \
    ROW(LIBRARY_LAWS, RNG_LIBRARY, RNG_LAW, 0, STREAMS_BIT(63))                                    \
    ROW(BEHAVIOUR_POINTS, RNG_LIBRARY, RNG_FIRST, UINT64_MAX, 1)                                   \
    /* A search: job k of a round, and the rows that it looks at first. */                         \
    ROW(SEARCH_JOBS, RNG_SEARCH, RNG_FIRST, 0, STREAMS_BIT(63))                                    \
    ROW(SEARCH_ROWS, RNG_SEARCH, RNG_FIRST, UINT64_MAX, 1)                                         \
    ROW(SEARCH_PARTS, RNG_SEARCH, RNG_FIRST, UINT64_MAX - 1, 1)                                    \
    /* Generated cases of the suites explain and candidates, what is planted there, and rivals. */ \
    ROW(CASES, RNG_BENCH, RNG_FIRST, 0, STREAMS_BIT(32))                                           \
    ROW(PLANTED, RNG_BENCH, RNG_ABOUT, 0, STREAMS_BIT(32))                                         \
    ROW(CANDIDATES, RNG_BENCH, RNG_FIRST, STREAMS_BIT(32), STREAMS_BIT(40))                        \
    ROW(CANDIDATE_EDITS, RNG_EDITS, RNG_FIRST, STREAMS_BIT(38), 1)                                 \
    ROW(TENSORS, RNG_INIT, RNG_FIRST, 0, STREAMS_BIT(32))                                          \
    ROW(FIT_STARTS, RNG_FIT, RNG_FIRST, 0, STREAMS_BIT(32))

#define STREAMS_BIT(n) ((uint64_t)1 << (n))

typedef enum streams_user {
#define STREAMS_USER(user, ...) STREAMS_##user,
    STREAMS_MAP(STREAMS_USER) STREAMS_USERS
#undef STREAMS_USER
} streams_user;

typedef struct streams_range {
    const char *name;
    rng_stream stream;
    rng_part part;
    uint64_t first, count;
} streams_range;

extern const streams_range streams_map[STREAMS_USERS];

/* Index i of a user's range. */
static inline uint64_t streams_index(streams_user user, uint64_t i)
{
    assert(i < streams_map[user].count);
    return streams_map[user].first + i;
}

/* Numbers i of a user's range. */
static inline void streams_rng(rng *r, uint64_t seed, streams_user user, uint64_t i)
{
    rng_init_part(r, seed, streams_map[user].stream, streams_index(user, i),
                  streams_map[user].part);
}

#endif
