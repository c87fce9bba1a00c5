/* snip.h - formulas and the numbers they produce, for C programs.
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
 * Every function that can fail returns a snip_code and fills `st` (which may be NULL). Nothing here
 * prints, exits or keeps global state; different handles may be used from different threads, and
 * one snip_expr may be evaluated by several threads at once. */
#ifndef SNIP_H
#define SNIP_H

#include <stddef.h>

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
 * x0 and x_0 always mean variable 0 unless a name says otherwise. */
SNIP_PUBLIC snip_code snip_expr_parse(snip_expr **out, const char *text, const char *const *names,
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

#ifdef __cplusplus
}
#endif
#endif
