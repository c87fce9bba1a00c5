/* constants.c - see constants.h. The minimiser is MINPACK's (levenberg.h), or box.h's where there
 * are bounds.
 *
 * Residuals are in units of y's deviation, so that nothing overflows where y is huge and the
 * minimiser's tolerances mean the same for every table. */
#include "regress/constants.h"

#include <float.h>
#include <math.h>
#include <string.h>
#ifdef SNIP_X86
#include <xmmintrin.h>
#endif

#include "base/streams.h"
#include "expr/vec.h"
#include "regress/box.h"
#include "regress/levenberg.h"

enum {
    EVALUATIONS = 100,     /* of each start, times one more than the constants */
    EVALUATIONS_MIN = 20,  /* when each is very costly */
    DRAWS = 10,            /* attempts to find a start where all values are finite */
    FLIPS = 3,             /* one sign in so many turns */
    RACE_ROWS = 150,       /* that the starts of a quick fit are compared on, or RACE_EACH */
    RACE_EACH = 10,        /* for every constant */
    RACE_EVALUATIONS = 10, /* of a start there, times one more than the constants */
    RACE_WINNERS = 2       /* starts that go on with all rows */
};

static const double WORK_MAX = 1e10; /* multiplications of all starts, roughly: some seconds */
static const double QUICK_MAX = 1e7; /* of a quick fit: nodes times rows, roughly 2 ns each */
static const double EXACT = 1e-15;   /* on until nothing changes: clean data give exact constants */
static const double ROUGH = 1e-8;    /* where losses are only compared */
static const double FAR = 1e100;     /* a residual that makes the minimiser step back */
static const double BOLD =
    1e250; /* for the minimiser: the first step is the linear problem's solution */
static const double PERFECT = 1e-30; /* loss in units of y's variance that is rounding only */
static const double SAME = 1e-6;     /* losses so near to each other are one minimum */

/* One problem. The minimiser's rows `m` are the table's, or as many as there are constants: rows of
 * zeros fill up, since it takes no fewer. */
typedef struct problem {
    expr e;                  /* the constants come and go here */
    regress_fit_free free;   /* the constants; `low` is NULL where none has bounds */
    regress_fit_free linear; /* those of them that the values are a linear function of */
    const size_t *place;     /* and which of the constants these are */
    double *sized;           /* a start of the columns' sizes, NULL without free.wide */
    const char *upright;     /* constants whose sign stays, NULL without free.wide */
    size_t m, rows;
    const double *const *x;
    const double *y, *root; /* root: of the rows' weights, or NULL */
    double scale;
    double *value;  /* of the formula, a row each */
    double *slopes; /* by the numbers, where they are more than the constants */
    expr_sweep *sweep;
    arena *tmp;
    double tolerance;
    int race; /* starts are compared only */
    int evaluations, no_memory;
} problem;

/* Where a search is, where it was before a part of it, and room for draws. */
typedef struct workspace {
    double *at, *before, *drawn;
} workspace;

/* The deviation of y, or its size where it is constant, up to rounding: unlike
 * numbers_safe_deviation it is never small beside y. */
static double deviation(const double *y, size_t rows)
{
    double big = 0, mean = 0, sum = 0;
    for (size_t i = 0; i < rows; i++)
        big = fmax(big, fabs(y[i]));
    if (!(big > 0 && big <= DBL_MAX))
        return 1;
    for (size_t i = 0; i < rows; i++)
        mean += y[i] / big / (double)rows;
    for (size_t i = 0; i < rows; i++)
        sum += (y[i] / big - mean) * (y[i] / big - mean);
    double relative = sqrt(sum / (double)rows);
    return relative > 1e-14 ? relative * big : big;
}

static void set(problem *p, const double *at)
{
    for (size_t j = 0; j < p->free.count; j++)
        for (size_t k = p->free.first[j]; k < p->free.first[j + 1]; k++)
            p->e.node[p->free.node[k]].value = at[j];
}

/* The value of constant j as it is set. */
static double get(const problem *p, size_t j)
{
    return p->e.node[p->free.node[p->free.first[j]]].value;
}

/* Sets p->sweep for p->free. Returns 0 when memory is out. */
static int sweep(problem *p)
{
    p->sweep =
        expr_sweep_new(p->e, p->x, p->rows, p->free.node, p->free.first[p->free.count], p->tmp);
    return p->sweep != NULL;
}

/* Fills p->value. Returns how many are finite, 0 when memory is out. */
static size_t evaluate(problem *p)
{
    p->evaluations++;
    size_t finite = expr_sweep_values(p->sweep, p->value);
    if (finite != (size_t)-1)
        return finite;
    p->no_memory = 1;
    return 0;
}

/* The mean square in units of scale^2 with the constants as set; +inf where not finite. */
static double loss(problem *p)
{
    if (evaluate(p) < p->rows)
        return INFINITY;
    double sum = 0;
    for (size_t i = 0; i < p->rows; i++) {
        double r = (p->value[i] - p->y[i]) / p->scale;
        if (p->root)
            r *= p->root[i];
        sum += r * r;
    }
    return sum <= DBL_MAX ? sum / (double)(p->rows ? p->rows : 1) : INFINITY;
}

static void residuals(problem *p, double *out)
{
    evaluate(p);
    for (size_t i = 0; i < p->rows; i++) {
        double r = (p->value[i] - p->y[i]) / p->scale;
        if (p->root)
            r *= p->root[i];
        out[i] = fabs(r) <= FAR ? r : FAR; /* NaN as well */
    }
    for (size_t i = p->rows; i < p->m; i++)
        out[i] = 0;
}

/* What stands at several places has the sum of the derivatives there. */
static void join(const problem *p, double *out)
{
    for (size_t j = 0; j < p->free.count; j++) {
        double *column = out + j * p->rows;
        memcpy(column, p->slopes + p->free.first[j] * p->rows, p->rows * sizeof *column);
        for (size_t k = p->free.first[j] + 1; k < p->free.first[j + 1]; k++)
            for (size_t i = 0; i < p->rows; i++)
                column[i] += p->slopes[k * p->rows + i];
    }
}

/* By columns, m numbers each. What is not finite pulls nowhere. */
static void derivatives(problem *p, double *out)
{
    size_t n = p->free.count, nodes = p->free.first[n];
    p->evaluations++;
    expr_sweep_slopes(p->sweep, p->value, nodes > n ? p->slopes : out);
    if (nodes > n)
        join(p, out);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < p->rows; i++) {
            double d = out[j * p->rows + i] / p->scale;
            if (p->root)
                d *= p->root[i];
            out[j * p->rows + i] = fabs(d) <= FAR ? d : 0;
        }
    for (size_t j = n; j-- > 0 && p->m > p->rows;) { /* apart, from the last on */
        memmove(out + j * p->m, out + j * p->rows, p->rows * sizeof *out);
        memset(out + j * p->m + p->rows, 0, (p->m - p->rows) * sizeof *out);
    }
}

/* Sets whether subnormal numbers are taken for 0 and returns whether they were. Where constants
 * depend on each other, the minimiser is left with remainders of remainders, and with subnormal
 * ones each step takes a hundred times longer. Formulas have them as ever. */
static int flush(int on)
{
#ifdef SNIP_X86
    enum { FLUSH = 0x8040 }; /* results, and operands */
    unsigned control = _mm_getcsr();
    _mm_setcsr(on ? control | FLUSH : control & ~(unsigned)FLUSH);
    return (control & FLUSH) == FLUSH;
#else
    return on;
#endif
}

/* the minimisers' callback. */
static int serve(void *context, int m, int n, const double *at, double *residual, double *jacobian,
                 int stride, int flag)
{
    problem *p = context;
    (void)m, (void)n, (void)stride;
    flush(0);
    set(p, at);
    if (flag == 1)
        residuals(p, residual);
    else
        derivatives(p, jacobian);
    flush(1);
    return p->no_memory ? -1 : 0;
}

/* The evaluations that are still bearable. */
static double left(const problem *p)
{
    double m = (double)p->m, n = (double)p->free.count, nodes = (double)p->e.count;
    double most =
        p->free.pace ? QUICK_MAX / (m * (nodes + n * n / 4)) : WORK_MAX / (m * n * (n + nodes));
    return most - p->evaluations;
}

static int limit(const problem *p)
{
    double most = (p->race ? RACE_EVALUATIONS : EVALUATIONS) * ((double)p->free.count + 1);
    if (p->free.evaluations > 0)
        return p->free.evaluations;
    return (int)fmax(EVALUATIONS_MIN, fmin(most, left(p)));
}

/* MINPACK's search from w->at, whose first step is at most `factor` times the constants' size. */
static void minimise(problem *p, workspace *w, double factor)
{
    int m = (int)p->m, n = (int)p->free.count;
    const regress_descent d = { serve, p, m, n, p->tolerance, limit(p), factor };
    int flushed = flush(1);
    if (p->free.low)
        p->no_memory |= !regress_box_minimise(serve, p, m, n, w->at, p->free.low, p->free.high,
                                              p->tolerance, limit(p), factor, p->tmp);
    else
        p->no_memory |= !regress_descend(&d, w->at, p->tmp);
    flush(flushed);
}

enum { NONE, LEFT, RIGHT, BOTH };

/* The operands of an operator through which constants stay factors of the whole: of a product only
 * one, that with more of them. */
static int open_sides(expr e, size_t i, const size_t *count)
{
    switch (e.node[i].op) {
    case EXPR_ADD:
    case EXPR_SUB:
        return BOTH;
    case EXPR_NEG:
    case EXPR_DIV:
        return LEFT;
    case EXPR_MUL:
        return count[i + 1] >= count[expr_child(e, i, 1)] ? LEFT : RIGHT;
    default:
        return NONE;
    }
}

/* open[i]: whether the values are a linear function of the numbers among the n at node[] that are
 * open, all together. Returns 0 when memory is out. */
static int open_numbers(char *open, expr e, const size_t *node, size_t n, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t *count = arena_zero(tmp, e.count * sizeof *count);
    if (!count)
        return 0;
    memset(open, 0, e.count);
    for (size_t k = 0; k < n; k++)
        count[node[k]] = 1;
    for (size_t i = e.count; i-- > 0;) { /* operands before their operator */
        int sides = open_sides(e, i, count);
        if (sides != NONE)
            count[i] = (sides & LEFT ? count[i + 1] : 0) +
                       (sides & RIGHT ? count[expr_child(e, i, 1)] : 0);
    }
    open[0] = 1;
    for (size_t i = 0; i < e.count; i++) {
        int sides = open[i] ? open_sides(e, i, count) : NONE;
        if (sides & LEFT)
            open[i + 1] = 1;
        if (sides & RIGHT)
            open[expr_child(e, i, 1)] = 1;
    }
    arena_reset(tmp, mark);
    return 1;
}

/* Sets p->linear: the constants of which every number is open. Returns 0 when memory is out. */
static int find_linear(problem *p)
{
    const regress_fit_free *f = &p->free;
    size_t nodes = f->first[f->count];
    size_t *node = arena_array(p->tmp, nodes + 1, sizeof *node), *first, *place;
    double *low = arena_array(p->tmp, f->count + 1, sizeof *low), *high;
    char *open = arena_alloc(p->tmp, p->e.count);
    first = arena_array(p->tmp, f->count + 1, sizeof *first);
    place = arena_array(p->tmp, f->count + 1, sizeof *place);
    high = arena_array(p->tmp, f->count + 1, sizeof *high);
    if (!node || !low || !open || !first || !place || !high ||
        !open_numbers(open, p->e, f->node, nodes, p->tmp))
        return 0;
    size_t found = 0, used = 0;
    for (size_t j = 0; j < f->count; j++) {
        int all = 1;
        for (size_t k = f->first[j]; k < f->first[j + 1]; k++)
            all &= open[f->node[k]];
        if (!all)
            continue;
        first[found] = used;
        place[found] = j;
        low[found] = f->low ? f->low[j] : -INFINITY;
        high[found] = f->low ? f->high[j] : INFINITY;
        for (size_t k = f->first[j]; k < f->first[j + 1]; k++)
            node[used++] = f->node[k];
        found++;
    }
    first[found] = used;
    p->linear = (regress_fit_free){ .node = node, .first = first, .count = found };
    if (f->low) {
        p->linear.low = low;
        p->linear.high = high;
    }
    p->place = place;
    return 1;
}

/* Sets the constants that act linearly to their best while the others stay as they are in w->at: a
 * bold step or two, since that problem has one minimum. */
static void settle(problem *p, workspace *w)
{
    problem part = *p;
    part.free = p->linear;
    set(p, w->at);
    double before = loss(p);
    arena_pos mark = arena_mark(p->tmp);
    if (!sweep(&part)) {
        p->no_memory = 1;
        return;
    }
    memcpy(w->before, w->at, p->free.count * sizeof *w->at);
    for (size_t j = 0; j < part.free.count; j++)
        w->at[j] = get(&part, j);
    part.evaluations = p->evaluations;
    minimise(&part, w, BOLD);
    set(&part, w->at);
    p->evaluations = part.evaluations;
    p->no_memory |= part.no_memory;
    arena_reset(p->tmp, mark);
    int better = loss(p) < before;
    for (size_t j = 0; j < p->free.count; j++)
        w->at[j] = better ? get(p, j) : w->before[j];
}

/* Goes downhill from w->at, which is replaced by the end, and returns the loss there. A cautious
 * search gives up on constants that are many orders of magnitude away: nothing it may do changes
 * the loss. So a bold one follows, whose first step is the linear problem's solution; at a minimum
 * it has little to do. */
static double descend(problem *p, workspace *w)
{
    const double cautious = 100;
    minimise(p, w, cautious);
    if (!p->no_memory && !p->race && left(p) > 0)
        minimise(p, w, BOLD);
    set(p, w->at);
    return loss(p);
}

/* Another point, from `around`. u has room for 2n + 2 numbers. */
static void draw(double *at, const double *around, const double *spread, size_t n, rng *r,
                 double *u)
{
    const expr_vec *vec = expr_vec_best();
    size_t pairs = n / 2 + 1;
    rng_fill_uniform(r, u, 2 * pairs);
    vec->gauss(u, pairs);
    for (size_t j = 0; j < n && spread; j++)
        u[j] *= spread[j];
    vec->unary[EXPR_EXP](at, u, n);
    for (size_t j = 0; j < n; j++) {
        at[j] = around[j] == 0 ? u[j] : around[j] * at[j];
        if (rng_below(r, FLIPS) == 0)
            at[j] = -at[j];
    }
}

/* v, or a point within the bounds in its place: as far inside as it was outside, if there is room,
 * else anywhere between them. */
static double within(double v, double low, double high, rng *r)
{
    if (v >= low && v <= high)
        return v;
    double mirrored = v < low ? low + (low - v) : high - (v - high);
    return mirrored >= low && mirrored <= high ? mirrored : low + (high - low) * rng_uniform(r);
}

static int is_linear(const problem *p, size_t j)
{
    for (size_t k = 0; k < p->linear.count; k++)
        if (p->place[k] == j)
            return 1;
    return 0;
}

/* The root mean square of a part's values, over the finite ones of some rows; 0 where there are
 * none or memory is out. */
static double size_of(problem *p, size_t part)
{
    arena_pos mark = arena_mark(p->tmp);
    size_t rows = p->rows < RACE_ROWS ? p->rows : RACE_ROWS, finite = 0;
    double *v = arena_array(p->tmp, rows, sizeof *v), sum = 0;
    p->no_memory |= !v || expr_eval(expr_subtree(p->e, part), p->x, rows, v, p->tmp) == (size_t)-1;
    for (size_t i = 0; i < rows && !p->no_memory; i++)
        if (fabs(v[i]) < sqrt(DBL_MAX)) {
            sum += v[i] * v[i];
            finite++;
        }
    arena_reset(p->tmp, mark);
    return finite ? sqrt(sum / (double)finite) : 0;
}

/* The size that constant i should have for its operator to make something of order 1 of the other
 * operand: 1/u in c*u, as large as u in u/c, c/u and c + u. 0 where that says nothing. */
static double size_for(problem *p, size_t parent, size_t other)
{
    expr u = expr_subtree(p->e, other);
    int varies = 0;
    for (size_t k = 0; k < u.count; k++)
        varies |= u.node[k].op == EXPR_VARIABLE;
    double size = varies ? size_of(p, other) : 0;
    switch (p->e.node[parent].op) {
    case EXPR_MUL:
        return size > 0 ? 1 / size : 0;
    case EXPR_DIV:
    case EXPR_ADD:
    case EXPR_SUB:
        return size;
    default:
        return 0;
    }
}

/* Sets p->sized and p->upright. What a person gave for seconds says little of a table in
 * milliseconds: exp(-0.05*t) is 0 in all rows and no slope leads anywhere. Constants further inside
 * come first, so that those outside see parts of a reasonable size. Returns 0 when memory is out.
 */
static int size_up(problem *p)
{
    size_t n = p->free.count;
    char *upright = arena_zero(p->tmp, n + 1);
    double *given = arena_array(p->tmp, 2 * n + 1, sizeof *given);
    if (!upright || !given)
        return 0;
    p->upright = upright;
    p->sized = given + n;
    for (size_t j = 0; j < n; j++)
        given[j] = get(p, j);
    for (size_t j = n; j-- > 0;) {
        const size_t node = p->free.node[j];
        for (size_t i = 0; i < node; i++) {
            if (expr_ops[p->e.node[i].op].arity != 2)
                continue;
            size_t left = expr_child(p->e, i, 0), right = expr_child(p->e, i, 1);
            if (left != node && right != node)
                continue;
            double size = size_for(p, i, left == node ? right : left);
            upright[j] = p->e.node[i].op == EXPR_POW && left == node;
            if (size > 0 && isfinite(size))
                p->e.node[node].value = copysign(size, given[j]);
        }
    }
    for (size_t j = 0; j < n; j++)
        p->sized[j] = get(p, j);
    set(p, given);
    return !p->no_memory;
}

/* Puts the start of that index into w->at; the last one is that of p->sized, if there is one.
 * Returns 0 if no values there are finite. */
static int start(problem *p, workspace *w, const double *given, int index, int last, uint64_t seed)
{
    rng r;
    size_t n = p->free.count;
    int sized = p->sized && index == last && index > 0;
    const double *around = sized ? p->sized : given;
    streams_rng(&r, seed, STREAMS_FIT_STARTS, (uint64_t)index);
    for (int k = 0; k < (index == 0 ? 1 : DRAWS) && !p->no_memory; k++) {
        int drawn = k > 0 || (index > 1 && !sized);
        double turn = index == 1 && !sized ? -1 : 1;
        if (drawn)
            draw(w->at, around, p->free.spread, n, &r, w->drawn);
        else
            for (size_t j = 0; j < n; j++) /* as given, and once with all signs turned */
                w->at[j] = turn * around[j];
        for (size_t j = 0; j < n && p->upright; j++)
            if (p->upright[j])
                w->at[j] = copysign(w->at[j], given[j]);
        for (size_t j = 0; j < n && p->free.low; j++)
            w->at[j] = within(w->at[j], p->free.low[j], p->free.high[j], &r);
        set(p, w->at);
        if (loss(p) < INFINITY)
            return 1;
    }
    /* Without the factors that made it too large, there may be a way to the right ones. */
    for (size_t j = 0; j < n && index == 0; j++)
        w->at[j] = is_linear(p, j) && !(p->free.low && (p->free.low[j] > 0 || p->free.high[j] < 0))
                       ? 0
                       : given[j];
    set(p, w->at);
    return index == 0 && loss(p) < INFINITY;
}

/* Returns 0 when memory is out. */
static int make(workspace *w, problem *p, arena *a)
{
    size_t n = p->free.count, nodes = p->free.first[n];
    w->at = arena_array(a, n, sizeof *w->at);
    w->before = arena_array(a, n, sizeof *w->before);
    w->drawn = arena_array(a, 2 * n + 2, sizeof *w->drawn);
    p->slopes = nodes > n ? arena_array(a, nodes * p->rows, sizeof *p->slopes) : NULL;
    return w->at && w->before && w->drawn && (p->slopes || nodes == n);
}

/* The difference of losses that is no reason to prefer another start: the caller's margin, and what
 * rounding of the values does to a loss as small as this. */
static double slight(const problem *p, double loss)
{
    double big = 0;
    if (p->free.margin <= 0)
        return 0;
    for (size_t i = 0; i < p->rows; i++)
        big = fmax(big, fabs(p->y[i] / p->scale));
    double noise = 2 * DBL_EPSILON * big;
    return p->free.margin * loss + noise * (2 * sqrt(loss) + noise);
}

/* What search and race keep of the starts. */
typedef struct runners {
    workspace w;
    double *given; /* the constants as they were */
    double *end;   /* the loss that each start came to */
    double *place; /* and where, a row each: of a race only */
    int last;      /* the last start */
} runners;

/* Goes downhill from start k. Returns the loss that it ends with, in r->w.at. */
static double run(problem *p, runners *r, int k, uint64_t seed)
{
    if (!start(p, &r->w, r->given, k, r->last, seed))
        return INFINITY;
    if (k > 0 && p->linear.count && p->rows >= p->free.count)
        settle(p, &r->w);
    return p->no_memory ? INFINITY : descend(p, &r->w);
}

/* Sets the rows that residuals are of: the first so many. p->sweep has to be of as many. */
static void take_rows(problem *p, size_t rows)
{
    p->rows = rows;
    p->m = rows > p->free.count ? rows : p->free.count;
}

/* Lets all starts run for a while on a part of the rows, so that r->end and r->place have their
 * ends. Returns how many ran. */
static int race(problem *p, runners *r, int starts, uint64_t seed)
{
    size_t n = p->free.count, all = p->rows, some = n * RACE_EACH;
    int ran = 0;
    some = some > RACE_ROWS ? some : RACE_ROWS;
    double tolerance = p->tolerance;
    int evaluations = p->evaluations;
    expr_sweep *whole = p->sweep; /* of all rows */
    arena_pos mark = arena_mark(p->tmp);
    take_rows(p, some < all ? some : all);
    p->no_memory |= p->rows < all && !sweep(p);
    p->race = 1;
    p->tolerance = ROUGH;
    for (int k = 0; k < starts && !p->no_memory; k++) {
        if (k > 0 && (left(p) <= 0 || r->end[k - 1] <= PERFECT))
            break;
        r->end[k] = run(p, r, k, seed);
        memcpy(r->place + (size_t)k * n, r->w.at, n * sizeof *r->place);
        ran++;
    }
    /* Counted as if they had been on all rows. */
    double share = all ? (double)p->rows / (double)all : 1;
    p->evaluations = evaluations + (int)ceil(share * (p->evaluations - evaluations));
    take_rows(p, all);
    p->sweep = whole;
    arena_reset(p->tmp, mark);
    p->race = 0;
    p->tolerance = tolerance;
    return ran;
}

/* The start with the least loss that has not gone on yet, or -1. */
static int leader(const double *end, const char *gone, int starts)
{
    int best = -1;
    for (int k = 0; k < starts; k++)
        if (!gone[k] && end[k] < INFINITY && (best < 0 || end[k] < end[best]))
            best = k;
    return best;
}

/* search for a quick fit: a race, whose winners go on. */
static double search_quick(problem *p, runners *r, double *kept, double before, int starts,
                           uint64_t seed, regress_fit *result)
{
    size_t n = p->free.count;
    double best = before;
    char *gone = arena_zero(p->tmp, (size_t)starts);
    r->place = arena_array(p->tmp, n * (size_t)starts, sizeof *r->place);
    p->no_memory = !gone || !r->place;
    if (p->no_memory)
        return before;
    result->starts = race(p, r, starts, seed);
    for (int went = 0, k; went < RACE_WINNERS && best > PERFECT && !p->no_memory;) {
        if ((k = leader(r->end, gone, result->starts)) < 0)
            break;
        gone[k] = 1;
        went++;
        memcpy(r->w.at, r->place + (size_t)k * n, n * sizeof *r->w.at);
        set(p, r->w.at);
        r->end[k] = loss(p) < INFINITY ? descend(p, &r->w) : INFINITY;
        if (r->end[k] < best - (k > 0 ? slight(p, best) : 0)) {
            best = r->end[k];
            result->from = k;
            memcpy(kept, r->w.at, n * sizeof *kept);
        }
    }
    return best;
}

/* Tries all starts; p->e has the best constants in the end and the loss is returned. Memory may run
 * out on the way. */
static double search(problem *p, double before, int starts, uint64_t seed, regress_fit *result)
{
    runners r = { .end = NULL };
    size_t n = p->free.count;
    double *kept = arena_array(p->tmp, n, sizeof *kept), best = before;
    r.given = arena_array(p->tmp, n, sizeof *r.given);
    if (p->linear.count == n || starts < 1) /* there is one minimum */
        starts = 1;
    else if (p->free.wide)
        starts++;
    r.last = starts - 1;
    r.end = arena_array(p->tmp, (size_t)starts, sizeof *r.end);
    p->no_memory = !r.given || !kept || !r.end || !make(&r.w, p, p->tmp);
    if (p->no_memory)
        return before;
    for (size_t j = 0; j < n; j++)
        r.given[j] = kept[j] = get(p, j);
    if (p->free.pace != REGRESS_FIT_THOROUGH && starts > 1) {
        best = search_quick(p, &r, kept, before, starts, seed, result);
        starts = 0;
    }
    for (int k = 0; k < starts && best > PERFECT && !p->no_memory; k++) {
        if (k > 0 && left(p) <= 0)
            break;
        result->starts++;
        r.end[k] = run(p, &r, k, seed);
        if (r.end[k] < best - (k > 0 ? slight(p, best) : 0)) {
            best = r.end[k];
            result->from = k;
            memcpy(kept, r.w.at, n * sizeof *kept);
        }
    }
    for (int k = 0; k < result->starts; k++)
        result->reached += r.end[k] <= best * (1 + SAME) + slight(p, best);
    set(p, kept);
    return best;
}

/* What was fitted is no integer of the text any more. */
static void mark_changed(expr out, expr e)
{
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_NUMBER && out.node[i].value != e.node[i].value)
            out.node[i].integer = 0;
}

size_t regress_lead(expr e, size_t i)
{
    if (e.node[i].op != EXPR_ADD && e.node[i].op != EXPR_SUB)
        return e.count;
    size_t lead = expr_child(e, i, 1);
    while (e.node[lead].op == EXPR_MUL || e.node[lead].op == EXPR_DIV)
        lead++;
    return lead;
}

/* Terms whose leading constant was fitted and came out negative change their sign: a - -2.5*b is
 * a + 2.5*b, to the last bit. */
static void turn_signs(expr out, expr e)
{
    for (size_t i = 0; i < e.count; i++) {
        size_t lead = regress_lead(out, i);
        if (lead == out.count)
            continue;
        expr_node *n = &out.node[i], *c = &out.node[lead];
        if (c->op == EXPR_NUMBER && c->value < 0 && c->value != e.node[lead].value) {
            c->value = -c->value;
            n->op = n->op == EXPR_ADD ? EXPR_SUB : EXPR_ADD;
        }
    }
}

static snip_code too_many(size_t constants, size_t rows, snip_status *st)
{
    return status_fail(st, SNIP_UNSUPPORTED, 0,
                       "%zu constants on %zu rows are too many to fit: take fewer rows", constants,
                       rows);
}

/* Fits p->e, whose constants are still the given ones. p->value and p->linear are not there yet. */
static snip_code fit(problem *p, regress_fit *result, const double *weight, int starts,
                     uint64_t seed, snip_status *st)
{
    size_t n = p->free.count, nodes = p->free.first[n];
    p->value = arena_array(p->tmp, p->rows, sizeof *p->value);
    double *root = weight ? arena_array(p->tmp, p->rows, sizeof *root) : NULL;
    if (!p->value || (weight && !root) || !find_linear(p) || !sweep(p))
        return status_nomem(st);
    for (size_t i = 0; i < p->rows && weight; i++)
        root[i] = sqrt(weight[i]);
    p->root = root;
    take_rows(p, p->rows);
    p->tolerance = p->free.pace == REGRESS_FIT_ROUGH ? ROUGH : EXACT;
    p->scale = deviation(p->y, p->rows);
    if (n > REGRESS_FIT_CONSTANTS_MAX)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "%zu constants to fit, the most are %d", n,
                           REGRESS_FIT_CONSTANTS_MAX);
    if (nodes > 0 && p->m > REGRESS_FIT_NUMBERS_MAX / nodes)
        return too_many(n, p->rows, st);
    double before = loss(p), after = before;
    regress_fit r = { .constants = n };
    if (p->free.wide && p->linear.count < n && !size_up(p))
        return status_nomem(st);
    if (n > 0 && p->rows > 0 && !p->no_memory)
        after = search(p, before, starts, seed, &r);
    if (p->no_memory)
        return status_nomem(st);
    r.loss = after * p->scale * p->scale;
    r.loss_before = before * p->scale * p->scale;
    r.evaluations = p->evaluations;
    *result = r;
    return SNIP_OK;
}

snip_code regress_fit_values(expr *out, regress_fit *result, expr e, const regress_fit_free *free,
                             const double *weight, const double *const *x, const double *y,
                             size_t rows, int starts, uint64_t seed, arena *a, snip_status *st)
{
    arena_pos before = arena_mark(a);
    *out = (expr){ NULL, 0 };
    *result = (regress_fit){ .loss = INFINITY, .loss_before = INFINITY };
    expr copy = { arena_copy(a, e.node, e.count * sizeof *e.node), e.count };
    if (!copy.node)
        return status_nomem(st);
    arena_pos kept = arena_mark(a);
    problem p = { .e = copy, .free = *free, .x = x, .y = y, .rows = rows, .tmp = a };
    snip_code code = fit(&p, result, weight, starts, seed, st);
    arena_reset(a, code == SNIP_OK ? kept : before);
    if (code == SNIP_OK)
        *out = copy;
    return code;
}

snip_code regress_fit_weighted(expr *out, regress_fit *result, expr e, const double *weight,
                               const double *const *x, const double *y, size_t rows,
                               const regress_fit_how *how, arena *a, snip_status *st)
{
    arena_pos before = arena_mark(a);
    *out = (expr){ NULL, 0 };
    *result = (regress_fit){ .loss = INFINITY, .loss_before = INFINITY };
    size_t *node = arena_array(a, e.count, sizeof *node);
    size_t *first = arena_array(a, e.count + 1, sizeof *first);
    if (!node || !first) {
        arena_reset(a, before);
        return status_nomem(st);
    }
    const regress_fit_free all = { .node = node,
                                   .first = first,
                                   .count = expr_constants(e, node),
                                   .evaluations = how->evaluations,
                                   .pace = how->pace,
                                   .wide = how->wide };
    for (size_t j = 0; j <= all.count; j++)
        first[j] = j;
    snip_code code = SNIP_OK;
    if (all.count > 0 && rows > REGRESS_FIT_JACOBIAN_MAX / all.count)
        code = too_many(all.count, rows, st);
    if (code == SNIP_OK)
        code = regress_fit_values(out, result, e, &all, weight, x, y, rows, how->starts, how->seed,
                                  a, st);
    if (code != SNIP_OK) {
        arena_reset(a, before);
        return code;
    }
    mark_changed(*out, e);
    turn_signs(*out, e);
    return SNIP_OK;
}

snip_code regress_fit_constants(expr *out, regress_fit *result, expr e, const double *const *x,
                                const double *y, size_t rows, int starts, uint64_t seed, arena *a,
                                snip_status *st)
{
    const regress_fit_how how = { .starts = starts, .seed = seed };
    return regress_fit_weighted(out, result, e, NULL, x, y, rows, &how, a, st);
}
