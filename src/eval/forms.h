/* forms.h - what the files of the suite `forms` share; see eval_forms in suites.h.
 *
 * A problem is a formula with points: a law of the generator, or a formula of the corpora. It is
 * looked at in four conditions, each a table that candidates are refitted on; they are judged on
 * other rows, which are clean in all conditions.
 *
 * Everybody is fitted as a + b * core, where core is the canonical structure (expr_canonical) with
 * all its constants: units and redundant constants make no difference between candidates. */
#ifndef EVAL_FORMS_H
#define EVAL_FORMS_H

#include "eval/suites.h"
#include "regress/line.h"
#include "regress/rank.h"

enum {
    FORMS_TABLE = 200, /* rows of the larger tables */
    FORMS_FEW = 30,    /* and of the smaller ones */
    FORMS_JUDGE = 200, /* rows that judge */
    FORMS_POINTS = FORMS_TABLE + FORMS_JUDGE,
    FORMS_LAWS = 6,   /* other laws among the candidates */
    FORMS_EDITS = 30, /* edits of the truth among them, at most */
    FORMS_CANDIDATES = 1 + FORMS_LAWS + FORMS_EDITS
};
#define FORMS_NOISE 0.05

typedef struct forms_condition {
    const char *name; /* in results.json */
    size_t rows;
    double noise;
} forms_condition;
enum { FORMS_CONDITIONS = 4 };
extern const forms_condition forms_conditions[FORMS_CONDITIONS];

/* What the parts of the suite work with. */
typedef struct forms_context {
    model_space *s;
    const eval_how *how;
    model_opened model; /* a view of s->m */
    int form;           /* the view: forms, or exact */
    arena *a;           /* for results of the whole suite */
    arena **keep;       /* per thread: what lives as long as a batch */
    arena **tmp;        /* per thread: scratch */
} forms_context;

/* Forgets the batch. */
void forms_batch(const forms_context *c);

/* Where the random choices of a part come from: nobody else has these indexes of RNG_EDITS. */
typedef enum forms_draws {
    FORMS_DRAW_LAWS,
    FORMS_DRAW_CORPORA,
    FORMS_DRAW_VALIDATION,
    FORMS_DRAW_LIBRARY,
    FORMS_DRAW_COPIES,
    FORMS_DRAW_PROMISE
} forms_draws;
void forms_rng(rng *r, const eval_how *how, forms_draws what, uint64_t index);

/* Problems ------------------------------------------------------------------------------------ */

enum { FORMS_TRUTH, FORMS_LAW, FORMS_EDIT }; /* what a candidate is */

/* A candidate's core in the problem's raw inputs. The fit starts from constants that are not far
 * off for the truth and its edits; a score that looks at values before the fit must not profit from
 * that, so it sees others, which are drawn for each candidate. */
typedef struct forms_candidate {
    expr core, drawn;
    uint64_t hash;    /* of the form */
    size_t constants; /* free ones of the core */
    int role;
} forms_candidate;

/* The first FORMS_TABLE rows are for tables, the others judge. */
typedef struct forms_problem {
    forms_draws set;
    size_t index;
    int dim;
    expr truth;
    const double **x; /* FORMS_POINTS rows, in random order */
    const double *y;
    size_t n; /* 0 if it cannot be used */
    forms_candidate c[FORMS_CANDIDATES];
} forms_problem;

/* Other laws and formulas that compete with a truth. */
typedef struct forms_rival {
    expr e;
    int dim;
    const double *size; /* of its inputs: their root mean squares */
} forms_rival;

/* The problems of a set, drawn one by one: everything lives in c->a. */
typedef struct forms_set {
    forms_draws what;
    size_t count;
    forms_rival *rival; /* in the order in which they are preferred, by groups */
    size_t rivals;
    size_t own; /* the first so many are preferred to the rest: those of the corpora */
    const struct data_corpus *corpus;
    size_t *of, *at; /* of the corpora: which corpus, which formula */
} forms_set;

snip_code forms_set_make(forms_set *out, forms_context *c, forms_draws what, size_t count,
                         snip_status *st);

/* Problem `index` of the set, in `a`; out->n is 0 where it cannot be used. Fails only for want of
 * memory. */
snip_code forms_problem_draw(forms_problem *out, const forms_set *set, size_t index,
                             const eval_how *how, arena *a, arena *tmp);

/* The table of the problem in a condition. SNIP_FORMAT where it is none: y does not vary. */
snip_code forms_table(regress_problem *out, const forms_problem *p, int condition,
                      const eval_how *how, arena *a);

/* regress_fit_line on the table of a problem of that set. `starts` as in regress_fit_constants.
 * Fits of validation problems are rough: a promise learns from them, and many laws teach it more
 * than the last digits of few. */
snip_code forms_fit(expr *out, expr core, forms_draws set, const regress_problem *p, int starts,
                    arena *a, arena *tmp);

/* regress_digits on the problem's judging rows. */
double forms_digits(expr e, const forms_problem *p, arena *tmp);

/* |correlation| of e's values with y, 0 where they are not finite or do not vary. -1 when memory is
 * out. */
double forms_correlation(expr e, const double *const *x, const double *y, size_t rows, arena *tmp);

/* A formula and a table that it is held against. */
typedef struct forms_match {
    const regress_problem *p;
    regress_inputs matter;           /* regress_inputs_that_matter(p), 0 in the exact view */
    expr e;                          /* in p's raw inputs */
    const char *label, *table_label; /* for the dump */
    /* The result: NaN and NULL where the model has no words for e. Vectors live in c->a; of a
     * table and the same turned upside down it is the nearer one's. */
    double similarity;
    const float *form, *table;
} forms_match;

/* Similarities of n matches. Neighbours that share p share its tables. */
snip_code forms_compare(forms_match *m, size_t n, forms_context *c, snip_status *st);

/* Scores -------------------------------------------------------------------------------------- */

typedef enum forms_score {
    FORMS_SIMILARITY,
    FORMS_CORRELATION,
    FORMS_SIZE,      /* fewer nodes of the core are better */
    FORMS_CONSTANTS, /* more constants are better */
    FORMS_BASES,
    FORMS_WITHOUT = FORMS_BASES, /* the promise without the space */
    FORMS_WITH,                  /* the promise */
    FORMS_SCORES
} forms_score;
extern const char *const forms_score_names[FORMS_SCORES];

/* How well candidates are ordered, the mean over tasks; NaN where there were none. */
typedef struct forms_quality {
    double spearman; /* with the digits; tasks that are no look-ups */
    double digits;   /* of the best of the first five; look-ups */
} forms_quality;

/* A promise that was trained on so many tasks, and how well it orders those that were left out. */
typedef struct forms_promise {
    model_promise p;
    size_t tasks, left_out;
    forms_quality with, without; /* the space */
} forms_promise;

/* A problem in a condition, with what became of its candidates. */
typedef struct forms_task {
    size_t n;
    int looked_up; /* candidates are forms of a library: only the best of them count */
    int role[FORMS_CANDIDATES];
    double digits[FORMS_CANDIDATES];
    model_promise_facts facts[FORMS_CANDIDATES];
    double score[FORMS_SCORES][FORMS_CANDIDATES]; /* -infinity where there is none */
} forms_task;

/* task[i * conditions + k]: problem i of the set in the k-th of its conditions; n is 0 where it
 * could not be used. One condition: problem i has condition i modulo 4. */
snip_code forms_tasks(forms_task **out, const forms_set *set, int conditions, forms_context *c,
                      snip_status *st);

/* Trains both networks, which live in `a`, on n tasks whose vectors have `latent` numbers; task i
 * is of law i modulo `laws`. Tasks without candidates are passed over. */
snip_code forms_promise_learn(forms_promise *out, const forms_task *task, size_t n, size_t laws,
                              size_t latent, const eval_how *how, arena *a, snip_status *st);

/* The same on `laws` validation laws. */
snip_code forms_promise_train(forms_promise *out, size_t laws, forms_context *c, arena *a,
                              snip_status *st);
json_t *forms_promise_json(const forms_promise *p);

/* Places, percentiles and correlations of all conditions. NULL when memory is out. */
json_t *forms_tasks_json(forms_task *t, size_t problems, const model_promise *w,
                         const eval_how *how);

/* Pairs and forms ------------------------------------------------------------------------------ */

/* A sample and its form. Its core is what a model of forms reads. */
typedef struct forms_sample {
    data_sample s;
    expr_form form;
    int law;    /* else of the SNIP generator */
    int usable; /* the core is no constant and short enough to read */
} forms_sample;

/* Distinct forms of a stream: laws and expressions of the SNIP generator alternate. */
typedef struct forms_stream {
    rng_stream stream;
    size_t points;
    size_t constants; /* that a form may have; 0: any number */
    int all_free;     /* forms know nothing of the samples' means and deviations */
    size_t want;      /* samples in all */
    size_t got[2];    /* expressions, laws */
    uint64_t next;    /* index in both streams */
    uint64_t *seen;   /* hashes met so far */
    size_t room, used;
} forms_stream;

snip_code forms_stream_open(forms_stream *out, rng_stream stream, size_t points, int all_free,
                            size_t constants, size_t want, snip_status *st);
void forms_stream_close(forms_stream *s);

/* The next samples, up to `most`, which is even, in the batch's memory; *n is 0 at the end. The
 * result does not depend on the number of threads. */
snip_code forms_stream_next(forms_sample **out, size_t *n, forms_stream *s, size_t most,
                            forms_context *c, snip_status *st);

/* What the model reads of a sample, in c->keep[0]: its formula or, among forms, its core. */
snip_code forms_words(const model_words **out, const forms_sample *f, const forms_context *c,
                      snip_status *st);

/* The problems of a set with forms that a library has for them, refitted: out[i] is of problem i,
 * in condition i modulo 4; n is 0 where it could not be used. Only facts and digits are filled in.
 */
snip_code forms_library_tasks(forms_task *out, const forms_set *set, forms_context *c,
                              snip_status *st);

/* The other parts ----------------------------------------------------------------------------- */

snip_code forms_invariance(json_t **out, const forms_set *set, forms_context *c, snip_status *st);
snip_code forms_retrieval(json_t **out, forms_context *c, snip_status *st);
snip_code forms_library(json_t **out, const forms_set *laws, const model_promise *w,
                        forms_context *c, snip_status *st);
snip_code forms_copies(json_t **out, forms_context *c, snip_status *st);

#endif
