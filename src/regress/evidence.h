/* evidence.h - whether an edit of a formula is better than the formula, or only the luckiest of the
 * many that were tried.
 *
 * Two judges must agree. Cross-validation: the mean square error in rows that had no part in the
 * fit of the constants, each row once, is lower by a twentieth or more. And an F test: formula and
 * edit are fitted to all rows; the chance that noise alone lowers the sum of squares as much, times
 * the number of edits tried (Bonferroni), is below a twentieth. Only the rows that the gain comes
 * from count. */
#ifndef REGRESS_EVIDENCE_H
#define REGRESS_EVIDENCE_H

#include "regress/problem.h"

enum { REGRESS_FEW_ROWS = 100 }; /* below, tables are cross-validated in ten parts, else in five */

/* One formula that was tried, with its constants fitted to all rows, if roughly. */
typedef struct regress_tried {
    expr e;
    int nested; /* the formula with one more constant: the test knows its degrees of freedom */
} regress_tried;

typedef struct regress_evidence {
    size_t tried;    /* formulas compared with the first one, or that those were chosen from */
    size_t best;     /* the one with the best evidence; (size_t)-1: none is finite */
    int supported;   /* both judges are for it */
    int folds;       /* of the cross-validation */
    double cross[2]; /* cross-validated mean square errors: before, and of the best */
    double p;        /* of the F test, times `tried`; at most 1 */
    expr fitted;     /* the best one, its constants fitted to all rows */
} regress_evidence;

/* Judges tried[0..n) against e. They are the best of `from`, which the test counts; 0: of n. Fits
 * begin at the constants as they are; e's takes `starts` more, so that no edit is praised for a
 * better search. Where there are more than REGRESS_FIT_ROWS rows, the first of their order are
 * taken. The same with any number of threads. Many parameters: a formula, its rivals and how to
 * judge, each asked for by every caller in its own way. */
snip_code regress_evidence_weigh(regress_evidence *out, expr e, const regress_tried *tried,
                                 size_t n, size_t from, const regress_problem *p, int starts,
                                 int threads, arena *a, snip_status *st);

/* How many of n rows the sum of these squared errors, or of differences of such, comes from:
 * 3 (sum)^2 / (sum of squares), at most n. For normal errors of one size it is about n; where a few
 * are large and the rest small, it is small. */
double regress_telling_rows(const double *square, size_t n);

/* How many rows the errors of a formula come from, but a tenth of all at least: even then a much
 * better fit is a better fit. All, if they are rounding. Where errors grow with y, a few large rows
 * make up the loss, and a formula that suits these few by chance must not win by what would be
 * telling if all rows were behind it. */
double regress_rows_behind(expr e, const regress_problem *p, arena *tmp);

/* The same for the errors of e on the table, if they grow with y, so that weights of 1/y^2 let more
 * rows count. 0 if that is not evident: for fewer than 20 rows or errors that may be rounding;
 * where half of the rows are telling; where the ranks of errors and values do not go together
 * beyond chance; where relative errors come from fewer rows still. 0, too, if the table has
 * weights. */
size_t regress_errors_grow(expr e, const regress_problem *p, arena *tmp);

/* The parts that a table of so many rows is cross-validated in. */
int regress_folds(size_t rows);

/* The cross-validated mean square error of e on the first `rows` rows of p: in each part with the
 * constants fitted to the others, from e's own on and with so many starts; +infinity where a value
 * is not finite. If e's constants know all rows, a frequency that suits them by chance is kept in
 * every part. Returns 0 when memory is out. */
int regress_cross_validate(double *out, expr e, const regress_problem *p, size_t rows, int starts,
                           arena *tmp);

#endif
