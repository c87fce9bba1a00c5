/* corpora.h - the formulas of Feynman, Classic and Strogatz, and points for them.
 *
 * The files in data/ are part of the program. A corpus of the user's own has the same form: one
 * formula a line, tab-separated id, group, formula, variables (`name=low:high ...`), sampling,
 * same_as. */
#ifndef DATA_CORPORA_H
#define DATA_CORPORA_H

#include "base/rng.h"
#include "data/vocab.h"
#include "expr/expr.h"

typedef struct data_formula {
    const char *id, *group, *text;
    const char *sampling; /* how the published points are drawn, see data_formula_sample */
    const char *same_as;  /* id of an earlier formula with the same function, or "-" */
    expr_names names;
    double *low, *high; /* the variables' published ranges */
    expr e;
} data_formula;

typedef struct data_corpus {
    const char *name;
    data_formula *formula;
    size_t count;
} data_corpus;

/* What tells functions apart: the id of f, or of the formula that it is the same as. Usually one
 * formula of a function is wanted, the first that can be used. */
const char *data_formula_function(const data_formula *f);

/* The corpora that are part of the program: the name, which is that of data/NAME.tsv, and what
 * people call it. */
#define DATA_CORPUS_LIST(ROW)                                                                      \
    ROW(feynman, "Feynman")                                                                        \
    ROW(classic, "Classic")                                                                        \
    ROW(strogatz, "Strogatz")

enum {
#define DATA_CORPUS_PLACE(name, label) DATA_CORPUS_##name,
    DATA_CORPUS_LIST(DATA_CORPUS_PLACE) DATA_CORPORA
#undef DATA_CORPUS_PLACE
};
extern const char *const data_corpus_names[DATA_CORPORA];

/* The built-in corpus of that name. */
snip_code data_corpus_builtin(data_corpus *out, const char *name, arena *a, snip_status *st);

/* A corpus from text of the form above; `name` is for messages. */
snip_code data_corpus_parse(data_corpus *out, const char *name, const char *text, arena *a,
                            snip_status *st);

/* The same from a file of the user's own; its name is the path. */
snip_code data_corpus_read(data_corpus *out, const char *path, arena *a, snip_status *st);

typedef enum data_sampling {
    DATA_SAMPLE_RANGE,    /* uniform within the variables' ranges */
    DATA_SAMPLE_PUBLISHED /* the published training design: U[low,high,n] random points,
                             E[low,high,step] and N[low,high,n] grids (their product with several
                             variables), ODE[step,n,(x,y)...] trajectories; more than `points`
                             of them are thinned at random */
} data_sampling;

typedef struct data_design {
    data_sampling sampling;
    size_t points; /* at most */
    uint64_t seed;
} data_design;

/* Points for a formula and its values there, in `a`; `index` is its place in the corpus `c`. *rows
 * is the number of points drawn, how->points unless the published design has fewer. */
snip_code data_formula_sample(const double ***x, double **y, size_t *rows, const data_corpus *c,
                              size_t index, const data_design *how, arena *a, snip_status *st);

/* Whether the model can use formula `f` on these points: at most v->dims inputs, finite values that
 * have tokens, a normal form (given the ranges) of at most DATA_SEQUENCE_MAX tokens. If so the
 * normal form is in *normal, else st says why not. */
snip_code data_formula_usable(expr *normal, const data_formula *f, const double *y, size_t rows,
                              const data_vocab *v, arena *a, snip_status *st);

#endif
