/* snip.h - formulas and the numbers they produce, for C programs.
 *
 * Formulas: read, evaluate, print.
 *
 *     const char *names[] = { "v", "t" };
 *     snip_status st;
 *     snip_expr *e;
 *     if (snip_expr_parse(&e, "0.5*v^2 + sin(t)", names, 2, &st) != SNIP_OK)
 *         return fprintf(stderr, "%s\n", st.msg), 1;
 *     size_t finite;
 *     snip_expr_eval(e, columns, 2, rows, y, &finite, &st);   // columns[0] is v, columns[1] is t
 *     snip_expr_free(e);
 *
 * A model: formulas and tables in one space.
 *
 *     snip_model *m = NULL;
 *     snip_ranking *r = NULL;
 *     const snip_table t = { .inputs = 2, .rows = rows, .names = names, .x = columns, .y = y };
 *     if (snip_model_open(&m, "default.safetensors", &st) == SNIP_OK &&
 *         snip_rank(&r, m, &t, candidates, n, NULL, &st) == SNIP_OK)
 *         printf("%g\n", snip_ranking_at(r, 0)->similarity);            // the best comes first
 *     snip_ranking_free(r);
 *     snip_model_close(m);
 *
 * From a table to formulas, without a model if need be:
 *
 *     snip_front *f = NULL;
 *     const snip_fit_options how = { .seconds = 10 };
 *     if (snip_fit(&f, &t, &how, &st) == SNIP_OK)
 *         best = snip_front_at(f, snip_front_selected(f))->formula;
 *     snip_front_free(f);
 *
 * Every function that can fail returns a snip_code and fills `st` (which may be NULL). A NULL where
 * something is needed fails with SNIP_FORMAT; asked of a NULL, the others answer 0, NULL or NaN.
 * Nothing here prints, exits or keeps global state. Different handles may be used from different
 * threads; one snip_expr or one snip_model may be used by several threads at once, one snip_index
 * by one. Results do not depend on the number of threads. */
#ifndef SNIP_H
#define SNIP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SNIP_PUBLIC __attribute__((visibility("default")))
#else
#define SNIP_PUBLIC
#endif

typedef enum snip_code {
    SNIP_OK = 0,
    SNIP_NOMEM,      /* memory ran out */
    SNIP_IO,         /* a file could not be opened, read or written */
    SNIP_SYNTAX,     /* a formula could not be read; `pos` is the byte */
    SNIP_FORMAT,     /* a file's contents are not what they should be */
    SNIP_UNSUPPORTED /* well-formed, but outside what the model can express */
} snip_code;

typedef struct snip_status {
    snip_code code;
    size_t pos;    /* byte of the input where that makes sense, else 0 */
    char msg[240]; /* one line, printed as it is */
} snip_status;

/* A formula. Owned by the caller, released with snip_expr_free. */
typedef struct snip_expr snip_expr;

typedef enum snip_format {
    SNIP_INFIX,  /* 2.1*sin(x0) + x1^2 */
    SNIP_PREFIX, /* add,mul,2.1,sin,x_0,pow2,x_1 */
    SNIP_SYMPY,  /* 2.1*sin(x0) + x1**2, with Abs, asin, ... */
    SNIP_LATEX,  /* 2.1 \cdot \sin\left(x_{0}\right) + x_{1}^{2} */
    SNIP_C       /* 2.1*sin(x0) + x1*x1, for <math.h>; for compilers, it need not read back here */
} snip_format;

/* The library's version, "major.minor.patch". */
SNIP_PUBLIC const char *snip_version(void);

/* Reads a formula: infix (sympy and numpy spellings, `^` or `**`), prefix (`add,1.5,x_0`) or the
 * LaTeX that snip_expr_print writes. `names` are the names of variables 0, 1, ... and may be NULL;
 * x0 and x_0 always mean variable 0 unless a name says otherwise. Names that are NULL, empty or
 * there twice are refused with SNIP_FORMAT, st->pos being their place, here and in all other calls;
 * so are columns and formulas that are NULL in an array of them. */
SNIP_PUBLIC snip_code snip_expr_parse(snip_expr **out, const char *text, const char *const *names,
                                      size_t n_names, snip_status *st);

/* `e` for columns of other names or in another order: each variable becomes the column of its own
 * name (x0, x1, ... where it was read without names). Fails with SNIP_FORMAT, naming it, where a
 * variable has no column. */
SNIP_PUBLIC snip_code snip_expr_bind(snip_expr **out, const snip_expr *e, const char *const *names,
                                     size_t n_names, snip_status *st);

/* Rewrites `e` with the operators of the model only (a/b as a*inv(b), x^4 as (x^2)^2, constants
 * folded, ...). `assume_positive` allows a^b = exp(b*log(a)) where a > 0 cannot be proved. Fails
 * with SNIP_UNSUPPORTED, naming the operator, where no exact rewriting exists. */
SNIP_PUBLIC snip_code snip_expr_normal(snip_expr **out, const snip_expr *e, int assume_positive,
                                       snip_status *st);

/* Fills y[0..rows) from the columns x[0], x[1], ... and counts the finite values. Outside its
 * domain a function is NaN (log of x <= 0, division by 0); that is a result, not an error. It
 * is an error to pass fewer columns than the formula has variables. `finite` may be NULL. */
SNIP_PUBLIC snip_code snip_expr_eval(const snip_expr *e, const double *const *x, size_t columns,
                                     size_t rows, double *y, size_t *finite, snip_status *st);

/* Writes `e` as text into `buf` (always terminated when size > 0) and returns the length that the
 * whole text needs, without the terminator, as snprintf does. The text reads back to the same
 * formula, unless it is C. Variables print as the names given at parsing. Returns 0 if memory ran
 * out. */
SNIP_PUBLIC size_t snip_expr_print(const snip_expr *e, snip_format format, char *buf, size_t size);

/* Nodes of the tree: operators, variables and constants, each counted once. */
SNIP_PUBLIC size_t snip_expr_nodes(const snip_expr *e);

SNIP_PUBLIC void snip_expr_free(snip_expr *e);

/* One more than the largest variable's place: the columns that snip_expr_eval needs. */
SNIP_PUBLIC size_t snip_expr_inputs(const snip_expr *e);

/* A trained model. Read only, so threads may share it. */
typedef struct snip_model snip_model;

SNIP_PUBLIC snip_code snip_model_open(snip_model **out, const char *path, snip_status *st);
SNIP_PUBLIC void snip_model_close(snip_model *m);

/* Numbers in a vector; most inputs of a table; what tells the model from others. */
SNIP_PUBLIC size_t snip_model_width(const snip_model *m);
SNIP_PUBLIC size_t snip_model_inputs(const snip_model *m);
SNIP_PUBLIC const char *snip_model_hash(const snip_model *m);

/* Vectors of n formulas, rows of out(n, width) of length 1. Formulas are functions of inputs of
 * mean 0 and deviation 1, rewritten with the model's operators if need be. Fails with
 * SNIP_UNSUPPORTED, st->pos being the formula's place, where the model has no words for one.
 * threads 0: all cores. The formulas beside one change its row by rounding errors at most. */
SNIP_PUBLIC snip_code snip_embed_formulas(const snip_model *m, const snip_expr *const *e, size_t n,
                                          int threads, float *out, snip_status *st);

/* Whether the model reads forms: a formula whose constants may have any value, and a table in which
 * y has lost its unit. Ranking, searching and explaining then use this view. */
SNIP_PUBLIC int snip_model_forms(const snip_model *m);

/* The same in the form view: vectors of the formulas' forms. Fails as snip_embed_formulas does, and
 * where the model reads no forms or a formula is a constant. */
SNIP_PUBLIC snip_code snip_embed_forms(const snip_model *m, const snip_expr *const *e, size_t n,
                                       int threads, float *out, snip_status *st);

/* Vectors of all parts of one formula, seen in context: out(nodes, width), a row for the subtree at
 * each node in prefix order. e must be in normal form (snip_expr_normal), so that its nodes are
 * those that the model reads. Row 0 is the root as a part; it is near to the formula's row of
 * snip_embed_formulas, which takes in the marks at the formula's two ends, but not equal to it. */
SNIP_PUBLIC snip_code snip_embed_parts(const snip_model *m, const snip_expr *e, int threads,
                                       float *out, snip_status *st);

/* A table: columns of inputs and a target, in any units. Nothing is kept of it after a call. */
typedef struct snip_table {
    size_t inputs, rows;
    const char *const *names; /* of the inputs; NULL: x0, x1, ... */
    const double *const *x;   /* inputs columns of `rows` values, all finite */
    const double *y;
    uint64_t seed; /* chooses the rows that are held out */
} snip_table;

/* The table's vector: out[width], of length 1. */
SNIP_PUBLIC snip_code snip_embed_table(const snip_model *m, const snip_table *t, int threads,
                                       float *out, snip_status *st);

/* The table in the form view: out[2 * width], as it is and with -y in place of y. A form does not
 * know which way up the table is: the larger of the two cosines counts. */
SNIP_PUBLIC snip_code snip_embed_table_form(const snip_model *m, const snip_table *t, int threads,
                                            float *out, snip_status *st);

typedef enum snip_order {
    SNIP_BY_BALANCE,   /* the usual: loss, with every node charged as BIC charges a parameter */
    SNIP_BY_LOSS,      /* mean square error on the rows held out; cross-validated if known */
    SNIP_BY_SIMILARITY /* agreement in the shared space */
} snip_order;

typedef struct snip_rank_options {
    int keep_constants; /* judge formulas as given instead of refitting them */
    int starts;         /* of each refit; 0: 4 */
    snip_order order;
    int threads; /* 0: all cores */
    /* A number per row, 0 or more; NULL: all alike. Of snip_rank alone: losses and fits are
     * weighted, rows of weight 0 are left out, and similarities see the others alike. */
    const double *weight;
} snip_rank_options;

/* A formula of a ranking. Losses are mean square errors, r2 shares of the target's variance: on the
 * rows fitted (train) and on those held out (val), with constants of the former alone; loss_cross
 * is the cross-validated one of tables with fewer than 100 rows. NaN where there is none. The
 * formula itself has constants fitted to all rows. */
typedef struct snip_ranked {
    const snip_expr *formula;  /* constants refitted, in the table's inputs; the ranking's own */
    size_t place;              /* of the candidate among those given; of snip_find: its id */
    double similarity;         /* cosine with the table, -1 .. 1; NaN if it has none, and then */
    const char *no_similarity; /* why; else NULL */
    double loss_train, loss_val, loss_cross, r2_train, r2_val;
    size_t complexity, model_size; /* nodes; as SRBench counts them */
    int pareto;                    /* nothing simpler is better on the rows held out */
    double score;                  /* on the front: fall of log(loss) per node */
    double promise; /* what may be expected before any fit: orders the candidates of one table; NaN
                       where the model's file has none (snip pack --promise) */
} snip_ranked;

typedef struct snip_ranking snip_ranking;

/* Orders candidates for a table, best first. `options` may be NULL. */
SNIP_PUBLIC snip_code snip_rank(snip_ranking **out, const snip_model *m, const snip_table *t,
                                const snip_expr *const *candidates, size_t n,
                                const snip_rank_options *options, snip_status *st);
SNIP_PUBLIC size_t snip_ranking_count(const snip_ranking *r);
SNIP_PUBLIC const snip_ranked *snip_ranking_at(const snip_ranking *r, size_t i);
SNIP_PUBLIC void snip_ranking_free(snip_ranking *r);

/* How far a search is, for people who wait. Texts are valid during the call. */
typedef struct snip_fit_progress {
    double seconds;       /* since the start */
    double spent;         /* share of the time or of the evaluations, 0 .. 1 */
    uint64_t evaluations; /* formulas evaluated */
    const char *stage;    /* at work */
    const char *formula;  /* what would be selected now, infix with 6 digits */
    size_t size;          /* its nodes */
    double loss_train, loss_val, r2_train, r2_val;
    int changed; /* the front is another one than at the last call */
} snip_fit_progress;

typedef struct snip_fit_options {
    double seconds;                  /* 0: 60, or no limit where evaluations are limited */
    uint64_t evaluations;            /* 0: no limit */
    int threads;                     /* 0: all cores */
    size_t max_size;                 /* nodes of a formula; 0: 30; 100 is the most */
    size_t memory;                   /* bytes that it may take, at least 64 MB; 0: 1 GB */
    size_t per_size;                 /* formulas of a size on the front; 0: 1 */
    const char *operators;           /* "+,-,*,/,sin,exp"; NULL: the usual ones */
    const snip_expr *const *guesses; /* formulas to begin with, in the table's inputs */
    size_t guess_count;
    const snip_model *model; /* for similarities; may be NULL */
    /* Called some ten times a second, from the thread that called snip_fit. What it returns, if it
     * is not 0, ends the search with the front so far. May be NULL. */
    int (*progress)(void *context, const snip_fit_progress *now);
    void *context;
    /* One for each row, 0 or more, of which only the ratios count; NULL: all count alike. Fits,
     * errors and the choice are by weighted squares; rows of weight 0 are left out. */
    const double *weight;
} snip_fit_options;

/* A formula of a front. Its constants come from all rows; they are clean numbers (2, 1/3, pi/4)
 * where the data allow. Losses are mean square errors of exactly this formula, r2 shares of the
 * target's variance: on the rows that were fitted while searching (train) and the others (val). */
typedef struct snip_fitted {
    const snip_expr *formula; /* the front's own */
    size_t size;              /* nodes */
    size_t constants;         /* numbers that were fitted and are not clean, in order, */
    const double *constant;   /* their values, */
    const double *error;      /* and standard errors; NaN where the data do not tell */
    double loss_train, loss_val, r2_train, r2_val;
    double bits;       /* description length, of the formula and of the residuals by it */
    double similarity; /* cosine with the table in the model's space; NaN without */
    const char *stage; /* that found it */
} snip_fitted;

/* What there is to say of a search as a whole. */
typedef struct snip_front_about {
    double seconds;
    uint64_t evaluations;
    size_t rows_train, rows_val; /* used: 10,000 in all at most */
    size_t outliers;             /* rows that the selected formula misses by six deviations */
    int cancelled;               /* by the progress function */
    const char *note;            /* a sentence for the user, or NULL */
} snip_front_about;

/* Formulas that explain a table, simplest first, each better than all simpler ones. */
typedef struct snip_front snip_front;

/* Searches for formulas: `snip fit`. The table has 1 to 64 inputs and 8 rows or more; t->seed is
 * the seed of the search, too. With a limit of evaluations and none of seconds the front is a
 * function of table, options and seed alone, whatever the number of threads. `options` may be
 * NULL. */
SNIP_PUBLIC snip_code snip_fit(snip_front **out, const snip_table *t,
                               const snip_fit_options *options, snip_status *st);
/* At least 1; the place of the one of least description length; NULL behind the last. */
SNIP_PUBLIC size_t snip_front_count(const snip_front *f);
SNIP_PUBLIC size_t snip_front_selected(const snip_front *f);
SNIP_PUBLIC const snip_fitted *snip_front_at(const snip_front *f, size_t i);
SNIP_PUBLIC const snip_front_about *snip_front_of(const snip_front *f);
SNIP_PUBLIC void snip_front_free(snip_front *f);

/* A library of formulas, made by `snip index`. It must be of the same model. */
typedef struct snip_index snip_index;

SNIP_PUBLIC snip_code snip_index_open(snip_index **out, const char *path, const snip_model *m,
                                      snip_status *st);
SNIP_PUBLIC uint64_t snip_index_count(const snip_index *ix);
SNIP_PUBLIC void snip_index_close(snip_index *ix);

/* The k formulas of the library nearest to the table, in its own inputs and units, judged as
 * snip_rank does. Fails with SNIP_FORMAT if the library is of another model. */
SNIP_PUBLIC snip_code snip_find(snip_ranking **out, const snip_model *m, snip_index *ix,
                                const snip_table *t, size_t k, const snip_rank_options *options,
                                snip_status *st);

/* A single edit of a formula, and what it gains. */
typedef struct snip_edit {
    size_t node;              /* in prefix order, of the explained formula */
    const char *text;         /* one line that says what it does */
    const snip_expr *formula; /* edited, refitted to all rows; the explanation's own */
    double gain;              /* rise of the cosine with the table, before the refit */
    double r2_train, r2_val, refitted_r2_train, refitted_r2_val;
} snip_edit;

typedef struct snip_explanation snip_explanation;

/* Which part of a formula the table disagrees with. The `edits` best edits are kept. */
SNIP_PUBLIC snip_code snip_explain(snip_explanation **out, const snip_model *m, const snip_table *t,
                                   const snip_expr *e, size_t edits,
                                   const snip_rank_options *options, snip_status *st);
/* The formula explained, refitted to all rows unless told not to, and its cosine with the table. */
SNIP_PUBLIC const snip_expr *snip_explanation_formula(const snip_explanation *x);
SNIP_PUBLIC double snip_explanation_similarity(const snip_explanation *x);
/* The gain of the best edit at a node of that formula; NaN where there is nothing to edit. */
SNIP_PUBLIC double snip_explanation_gain(const snip_explanation *x, size_t node);
SNIP_PUBLIC size_t snip_explanation_count(const snip_explanation *x);
SNIP_PUBLIC const snip_edit *snip_explanation_at(const snip_explanation *x, size_t i);
SNIP_PUBLIC void snip_explanation_free(snip_explanation *x);

/* A parameter of a law, as far as it is known before the fit. */
typedef struct snip_parameter {
    const char *name;
    double start;     /* NaN: unknown */
    double low, high; /* bounds; both 0: none. One side may be infinite */
    int fixed;        /* stays at its start */
} snip_parameter;

/* Which of the numbers written in a formula are parameters, called c1, c2, ... in order. */
typedef enum snip_numbers {
    SNIP_NUMBERS_DECIMAL, /* those written with a point or an exponent: 1.0 and 2e3, not 2 */
    SNIP_NUMBERS_FIXED,   /* none */
    SNIP_NUMBERS_ALL      /* all but whole exponents */
} snip_numbers;

typedef struct snip_estimate_options {
    const snip_parameter *param; /* those of which something is known */
    size_t params;
    const double *weight, *sigma; /* a value per row, at most one of the two; NULL: all alike */
    snip_numbers numbers;
    int starts;   /* of the fit; 0: 4 where every parameter has a start, else 100 */
    double level; /* of the intervals; 0: 0.95 */
} snip_estimate_options;

/* An estimated parameter. NaN stands for what cannot be known. */
typedef struct snip_estimated {
    const char *name;
    double value, error; /* and its standard error */
    double low, high;    /* interval of the level asked for */
    const char *state;   /* "free", "fixed", "at lower bound", "at upper bound", "undetermined" */
} snip_estimated;

/* How well the law fits. */
typedef struct snip_quality {
    size_t rows;      /* that count: of a weight above 0 */
    size_t freedom;   /* degrees of freedom */
    double rss;       /* sum of weight * residual^2; with sigma it is chi-square */
    double deviation; /* of the residuals: sqrt(rss / freedom) */
    double chance;    /* with sigma: that chi-square is above rss */
    double r2, aic, bic;
    int settled;      /* whether it is a minimum, as far as can be told */
    const char *note; /* what the data do not determine, or NULL */
} snip_quality;

typedef struct snip_estimate snip_estimate;

/* Fits a law to all rows of a table by least squares, as `snip fit-constants` does: names in
 * `formula` that are no columns are parameters. No model is needed. `options` may be NULL. Fails
 * with SNIP_SYNTAX where the formula cannot be read, with SNIP_FORMAT where table or parameters do
 * not allow it. */
SNIP_PUBLIC snip_code snip_estimate_law(snip_estimate **out, const snip_table *t,
                                        const char *formula, const snip_estimate_options *options,
                                        snip_status *st);
/* Parameters: names in the order in which they appear, then numbers. What is returned belongs to
 * the estimate. */
SNIP_PUBLIC size_t snip_estimate_count(const snip_estimate *x);
SNIP_PUBLIC const snip_estimated *snip_estimate_at(const snip_estimate *x, size_t i);
/* NaN where one of the two is not free. */
SNIP_PUBLIC double snip_estimate_correlation(const snip_estimate *x, size_t i, size_t j);
SNIP_PUBLIC const snip_quality *snip_estimate_quality(const snip_estimate *x);
/* The law with the estimates, in the table's inputs. */
SNIP_PUBLIC const snip_expr *snip_estimate_formula(const snip_estimate *x);
SNIP_PUBLIC void snip_estimate_free(snip_estimate *x);

#ifdef __cplusplus
}
#endif
#endif
