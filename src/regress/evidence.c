/* evidence.c - see evidence.h. */
#include "regress/evidence.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "base/special.h"
#include "regress/constants.h"

enum {
    REFITTED = 24, /* that are fitted once more, without a bound: those with the least error */
    FINALISTS = 8  /* per freedom. The same for those that are cross-validated. */
};

#define ROUNDING 1e-20 /* of y's variance: less is rounding */

static const double CHANCE = 0.05; /* of a false verdict */
static const double LESS = 0.95;   /* of an error: what is above is no better */

int regress_folds(size_t rows)
{
    int most = rows < REGRESS_FEW_ROWS ? 10 : 5;
    return rows < (size_t)most ? (int)rows : most;
}

/* The table without the rows of fold k, or those rows alone. Row i is in fold i % folds: the rows
 * are in random order. Returns how many. */
static size_t gather(double **x, double *y, double *w, const regress_problem *p, size_t rows,
                     size_t k, size_t folds, int inside)
{
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        if ((i % folds == k) != inside)
            continue;
        for (size_t j = 0; j < p->dim; j++)
            x[j][n] = p->x[j][i];
        if (w)
            w[n] = p->weight[i];
        y[n++] = p->y[i];
    }
    return n;
}

double regress_telling_rows(const double *square, size_t n)
{
    double most = 0, sum = 0, squared = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(square[i]));
    if (!(most > 0 && isfinite(most)))
        return (double)n;
    for (size_t i = 0; i < n; i++) { /* in units of the largest: squares stay in range */
        sum += square[i] / most;
        squared += (square[i] / most) * (square[i] / most);
    }
    return fmin((double)n, 3 * sum * sum / squared);
}

/* The squared errors of e on the table, each times its weight, if there are any, and their sum,
 * +infinity if it is not finite. NULL when memory is out. */
static double *squares(double *sum, expr e, const double *const *x, const double *y,
                       const double *w, size_t n, arena *a)
{
    double *v = arena_array(a, n + 1, sizeof *v), all = 0;
    if (!v || expr_eval(e, x, n, v, a) == (size_t)-1)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        v[i] = (w ? w[i] : 1) * (v[i] - y[i]) * (v[i] - y[i]);
        all += v[i];
    }
    *sum = isfinite(all) ? all : INFINITY;
    return v;
}

double regress_rows_behind(expr e, const regress_problem *p, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    double sum, telling = (double)p->rows;
    const double *const *x = (const double *const *)p->x;
    const double *square = squares(&sum, e, x, p->y, p->weight, p->rows, tmp);
    if (square && sum > ROUNDING * p->variance[0] * (double)p->rows)
        telling = regress_telling_rows(square, p->rows);
    arena_reset(tmp, mark);
    return fmax(telling, (double)p->rows / 10);
}

/* Whether the larger of n values, whose sizes these are, have the larger errors, beyond chance. */
static int grow_together(const double *square, const double *size, size_t n)
{
    const double alike = 0.3, deviations = 4;
    double rho = numbers_spearman(square, size, n);
    return rho > alike && rho * sqrt((double)(n - 1)) > deviations;
}

size_t regress_errors_grow(expr e, const regress_problem *p, arena *tmp)
{
    enum { LEAST_ROWS = 20 };
    const double computed = 1e-16; /* of y's variance: less is rounding, too */
    const double *const *x = (const double *const *)p->x;
    /* The largest square that rounding leaves is three times the mean one. */
    double least = fmax(computed * p->variance[0], 3 * numbers_rounding(p->y, NULL, p->rows));
    arena_pos mark = arena_mark(tmp);
    size_t n = p->rows, found = 0;
    double sum, *size = arena_array(tmp, n, sizeof *size);
    double *square = size ? squares(&sum, e, x, p->y, NULL, n, tmp) : NULL;
    int grow = square && !p->weight && n >= LEAST_ROWS && isfinite(sum) &&
               sum / (double)n > least && expr_eval(e, x, n, size, tmp) == n;
    for (size_t i = 0; i < n && grow; i++)
        size[i] = fabs(size[i]);
    if (grow && grow_together(square, size, n)) {
        double telling = regress_telling_rows(square, n);
        for (size_t i = 0; i < n; i++) {
            grow &= p->y[i] != 0; /* or it has no such weight */
            square[i] /= p->y[i] * p->y[i];
        }
        if (grow && telling < 0.5 * (double)n && telling < regress_telling_rows(square, n))
            found = (size_t)lround(telling);
    }
    arena_reset(tmp, mark);
    return found;
}

int regress_cross_validate(double *out, expr e, const regress_problem *p, size_t rows, int starts,
                           arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t folds = (size_t)regress_folds(rows);
    double **x = arena_array(tmp, p->dim, sizeof *x), *y = arena_array(tmp, rows, sizeof *y);
    double *w = p->weight ? arena_array(tmp, rows, sizeof *w) : NULL;
    int good = x && y && (w || !p->weight);
    for (size_t j = 0; j < p->dim && good; j++)
        good = (x[j] = arena_array(tmp, rows, sizeof *x[j])) != NULL;
    const double *const *columns = (const double *const *)x;
    const regress_fit_how how = {
        .starts = starts, .seed = p->seed, .pace = REGRESS_FIT_ROUGH, .wide = 1
    };
    double sum = 0;
    for (size_t k = 0; k < folds && good; k++) {
        arena_pos here = arena_mark(tmp);
        expr fitted;
        regress_fit fit;
        double part = 0;
        size_t n = gather(x, y, w, p, rows, k, folds, 0);
        snip_code code = regress_fit_weighted(&fitted, &fit, e, w, columns, y, n, &how, tmp, NULL);
        if (code == SNIP_UNSUPPORTED)
            fitted = e;
        n = gather(x, y, w, p, rows, k, folds, 1);
        good = code != SNIP_NOMEM && squares(&part, fitted, columns, y, w, n, tmp) != NULL;
        sum += part;
        arena_reset(tmp, here);
    }
    *out = sum / regress_weight(p, 0, rows);
    arena_reset(tmp, mark);
    return good;
}

/* A formula on its way through the judges. */
typedef struct contender {
    expr e;        /* fitted to all rows */
    double rss;    /* there */
    size_t free;   /* constants */
    double spread; /* the mean square per degree of freedom */
    size_t place;
    double cross;
    double p;      /* the chance that it is better by luck, given how many were tried */
    int supported; /* by both tests */
} contender;

static int by_spread(const void *left, const void *right)
{
    const contender *a = left, *b = right;
    if (a->spread != b->spread)
        return a->spread < b->spread ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* Sets what is counted of the formula as it is. Returns 0 when memory is out. */
static int count(contender *c, const regress_problem *p, size_t rows, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t *node = arena_array(tmp, c->e.count + 1, sizeof *node);
    const double *const *x = (const double *const *)p->x;
    int good = node && squares(&c->rss, c->e, x, p->y, p->weight, rows, tmp);
    c->free = node ? expr_constants(c->e, node) : 0;
    c->rss = fmax(c->rss, ROUNDING * p->variance[0] * (double)rows); /* less is rounding */
    c->spread = c->free < rows ? c->rss / (double)(rows - c->free) : INFINITY;
    arena_reset(tmp, mark);
    return good;
}

/* Fits e to the first `rows` rows, in `a`. */
static snip_code fit_all(contender *c, expr e, const regress_problem *p, size_t rows, int starts,
                         arena *a, snip_status *st)
{
    regress_fit fit = { 0 };
    const double *const *x = (const double *const *)p->x;
    const regress_fit_how how = { .starts = starts, .seed = p->seed };
    snip_code code = regress_fit_weighted(&c->e, &fit, e, p->weight, x, p->y, rows, &how, a, st);
    if (code == SNIP_UNSUPPORTED) { /* too much to fit: judged as it is */
        c->e = e;
        code = SNIP_OK;
    }
    return code != SNIP_OK || count(c, p, rows, a) ? code : status_nomem(st);
}

/* The chance that noise makes the second sum of squares so much smaller than the first. Where one
 * is not a special case of the other, all constants of the second are charged: what both explain
 * together lies in a space of as many more dimensions at most. (The survival function of F, written
 * with the ratio of the sums.) The test takes errors of one size for granted. Where they grow with
 * y, a few large rows make up both sums, and one more constant suits these by chance: so only as
 * many rows count as the gain comes from. */
static double chance(const contender *before, const contender *after, int nested, double rows)
{
    size_t more = nested || after->free == 0 ? 1 : after->free;
    double left = rows - (double)before->free - (double)more;
    if (!(after->rss < before->rss) || left <= 0)
        return 1;
    if (!isfinite(before->rss))
        return 0;
    return special_beta(after->rss / before->rss, left / 2, (double)more / 2);
}

/* From how many rows it comes that the second formula's errors are smaller; all, if nothing but
 * rounding is left of them: that is no chance. -1 when memory is out. */
static double gaining_rows(const contender *before, const contender *after,
                           const regress_problem *p, size_t rows, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    const double *const *x = (const double *const *)p->x;
    const double least = fmax(ROUNDING * p->variance[0], numbers_rounding(p->y, p->weight, rows));
    double sum, found = -1;
    if (after->rss <= least * regress_weight(p, 0, rows))
        return (double)rows;
    double *gain = squares(&sum, before->e, x, p->y, p->weight, rows, tmp);
    const double *left = gain ? squares(&sum, after->e, x, p->y, p->weight, rows, tmp) : NULL;
    for (size_t i = 0; i < rows && left; i++)
        gain[i] -= left[i];
    if (left)
        found = regress_telling_rows(gain, rows);
    arena_reset(tmp, mark);
    return found;
}

typedef struct work {
    const regress_problem *p;
    contender *c;
    size_t rows;
    int cross; /* what to do: cross-validate, else fit */
} work;

static snip_code step(const work *w, size_t i, arena *a, snip_status *st)
{
    if (!w->cross)
        return fit_all(&w->c[i], w->c[i].e, w->p, w->rows, 1, a, st);
    return regress_cross_validate(&w->c[i].cross, w->c[i].e, w->p, w->rows, 1, a)
               ? SNIP_OK
               : status_nomem(st);
}

/* The step for each of n, each by one thread; trees are copied into `a`. */
static snip_code all(const work *w, size_t n, int threads, arena *a, snip_status *st)
{
    threads = threads > 0 ? threads : 1;
    arena **own = calloc((size_t)threads, sizeof *own);
    snip_status failed = { 0 };
    for (int k = 0; k < threads && own; k++)
        if (!(own[k] = arena_new(0)))
            status_nomem(&failed);
    if (!own)
        status_nomem(&failed);
    if (failed.code == SNIP_OK) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (size_t i = 0; i < n; i++) {
            snip_status here;
            if (step(w, i, own[omp_get_thread_num()], &here) != SNIP_OK)
#pragma omp critical(regress_evidence_failed)
                failed = here;
        }
    }
    for (size_t i = 0; i < n && failed.code == SNIP_OK && !w->cross; i++) {
        expr *e = &w->c[i].e;
        if (!(e->node = arena_copy(a, e->node, e->count * sizeof *e->node)))
            status_nomem(&failed);
    }
    for (int k = 0; k < threads && own; k++)
        arena_free(own[k]);
    free(own);
    if (failed.code != SNIP_OK && st)
        *st = failed;
    return failed.code;
}

/* The rows that all fits are on. */
static size_t rows_of(expr e, const regress_tried *tried, size_t n, const regress_problem *p)
{
    size_t most = e.count;
    for (size_t i = 0; i < n; i++)
        most = tried[i].e.count > most ? tried[i].e.count : most;
    size_t rows = p->rows < REGRESS_FIT_ROWS ? p->rows : REGRESS_FIT_ROWS;
    size_t bearable = REGRESS_FIT_JACOBIAN_MAX / (most ? most : 1);
    return rows < bearable ? rows : bearable;
}

snip_code regress_evidence_weigh(regress_evidence *out, expr e, const regress_tried *tried,
                                 size_t n, size_t from, const regress_problem *p, int starts,
                                 int threads, arena *a, snip_status *st)
{
    size_t rows = rows_of(e, tried, n, p);
    contender first = { .place = 0 }, *c = arena_zero(a, (n + 1) * sizeof *c);
    from = from > n ? from : n;
    *out = (regress_evidence){
        .tried = from, .best = (size_t)-1, .p = 1, .folds = regress_folds(rows)
    };
    out->cross[0] = out->cross[1] = NAN;
    if (!c)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++) {
        c[i] = (contender){ .e = tried[i].e, .place = i };
        if (!count(&c[i], p, rows, a))
            return status_nomem(st);
    }
    qsort(c, n, sizeof *c, by_spread);
    work w = { .p = p, .c = c, .rows = rows };
    size_t refitted = n < REFITTED ? n : REFITTED, finalists = n < FINALISTS ? n : FINALISTS;
    snip_code code = fit_all(&first, e, p, rows, starts, a, st);
    if (code == SNIP_OK)
        code = all(&w, refitted, threads, a, st);
    if (code != SNIP_OK)
        return code;
    qsort(c, refitted, sizeof *c, by_spread);
    w.cross = 1;
    if (!regress_cross_validate(&out->cross[0], first.e, p, rows, 1, a))
        return status_nomem(st);
    if ((code = all(&w, finalists, threads, a, st)) != SNIP_OK)
        return code;
    /* Supported ones first, then by their error in rows not seen. Of errors that are not lower by
     * what the test asks for, that with fewer constants is the answer: cos(x + c) fits where sin(x)
     * does, and always a little better. */
    const double least = ROUNDING * p->variance[0];
    double lowest[2] = { INFINITY, INFINITY };
    out->cross[0] = fmax(out->cross[0], least);
    for (size_t i = 0; i < finalists; i++) {
        double gaining = gaining_rows(&first, &c[i], p, rows, a);
        if (gaining < 0)
            return status_nomem(st);
        c[i].p = fmin(1, (double)from * chance(&first, &c[i], tried[c[i].place].nested, gaining));
        c[i].cross = isfinite(c[i].rss) ? fmax(c[i].cross, least) : INFINITY;
        c[i].supported = c[i].p < CHANCE && c[i].cross < LESS * out->cross[0];
        lowest[c[i].supported] = fmin(lowest[c[i].supported], c[i].cross);
    }
    const int supported = isfinite(lowest[1]);
    const contender *best = NULL;
    for (size_t i = 0; i < finalists; i++) {
        const contender *k = &c[i];
        if (!isfinite(k->cross) || k->supported != supported || k->cross * LESS > lowest[supported])
            continue;
        if (!best || k->free < best->free ||
            (k->free == best->free && k->cross < best->cross * (1 - 1e-6)))
            best = k;
    }
    if (best) {
        out->best = best->place;
        out->supported = supported;
        out->p = best->p;
        out->cross[1] = best->cross;
        out->fitted = best->e;
    }
    return SNIP_OK;
}
