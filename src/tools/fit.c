/* fit.c - see fit.h. The minimiser is MINPACK's lmder.
 *
 * Residuals are in units of y's deviation, so that nothing overflows where y is huge and the
 * minimiser's tolerances mean the same for every table. */
#include "tools/fit.h"

#include <cminpack.h>
#include <float.h>
#include <math.h>
#include <string.h>
#ifdef SNIP_X86
#include <xmmintrin.h>
#endif

#include "base/rng.h"
#include "expr/vec.h"

enum {
    EVALUATIONS = 100,    /* of each start, times one more than the constants */
    EVALUATIONS_MIN = 20, /* when each is very costly */
    DRAWS = 10,           /* attempts to find a start where all values are finite */
    FLIPS = 3             /* one sign in so many turns */
};

static const double WORK_MAX = 1e10; /* multiplications of all starts, roughly: some seconds */
static const double FAR = 1e100;     /* a residual that makes the minimiser step back */
static const double BOLD = 1e250; /* for lmder: the first step is the linear problem's solution */
static const double PERFECT = 1e-30; /* loss in units of y's variance that is rounding only */

/* One problem. lmder's rows `m` are the table's, or as many as there are constants: rows of zeros
 * fill up, since it takes no fewer. */
typedef struct problem {
    expr e;               /* the constants come and go here */
    const size_t *node;   /* the constants */
    const size_t *linear; /* those of them that the values are a linear function of */
    size_t n, linears, m, rows;
    const double *const *x;
    const double *y;
    double scale;
    double *value; /* of the formula, a row each */
    arena *tmp;
    int evaluations, no_memory;
} problem;

/* The arrays that lmder works in. */
typedef struct workspace {
    double *at, *before, *residual, *jacobian, *diag, *qtf, *wa1, *wa2, *wa3, *wa4;
    int *pivot;
} workspace;

/* The deviation of y, or its size where it is constant. */
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
    for (size_t j = 0; j < p->n; j++)
        p->e.node[p->node[j]].value = at[j];
}

/* Fills p->value. Returns how many are finite, 0 when memory is out. */
static size_t evaluate(problem *p)
{
    p->evaluations++;
    size_t finite = expr_eval(p->e, p->x, p->rows, p->value, p->tmp);
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
        sum += r * r;
    }
    return sum <= DBL_MAX ? sum / (double)(p->rows ? p->rows : 1) : INFINITY;
}

static void residuals(problem *p, double *out)
{
    evaluate(p);
    for (size_t i = 0; i < p->rows; i++) {
        double r = (p->value[i] - p->y[i]) / p->scale;
        out[i] = fabs(r) <= FAR ? r : FAR; /* NaN as well */
    }
    for (size_t i = p->rows; i < p->m; i++)
        out[i] = 0;
}

/* By columns, m numbers each. What is not finite pulls nowhere. */
static void derivatives(problem *p, double *out)
{
    p->evaluations++;
    if (!expr_gradient(p->e, p->x, p->rows, p->node, p->n, p->value, out, p->tmp)) {
        p->no_memory = 1;
        return;
    }
    for (size_t k = 0; k < p->n * p->rows; k++) {
        double d = out[k] / p->scale;
        out[k] = fabs(d) <= FAR ? d : 0;
    }
    for (size_t j = p->n; j-- > 0 && p->m > p->rows;) { /* apart, from the last on */
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

/* lmder's callback. */
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
    double each = (double)p->m * (double)p->n * (double)(p->n + p->e.count);
    return WORK_MAX / each - p->evaluations;
}

static int limit(const problem *p)
{
    double most = EVALUATIONS * ((double)p->n + 1);
    return (int)fmax(EVALUATIONS_MIN, fmin(most, left(p)));
}

/* MINPACK's search from w->at, whose first step is at most `factor` times the constants' size. */
static void minimise(problem *p, workspace *w, double factor)
{
    const double tolerance = 1e-15; /* on until nothing changes: clean data give exact constants */
    int m = (int)p->m, n = (int)p->n, calls, slopes;
    int flushed = flush(1);
    lmder(serve, p, m, n, w->at, w->residual, w->jacobian, m, tolerance, tolerance, 0, limit(p),
          w->diag, 1, factor, 0, &calls, &slopes, w->pivot, w->qtf, w->wa1, w->wa2, w->wa3, w->wa4);
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

/* Of the n constants at node[] those that the values are a linear function of, all together, in
 * linear[]. Returns how many, or (size_t)-1 when memory is out. */
static size_t linear_constants(expr e, const size_t *node, size_t n, size_t *linear, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t *count = arena_zero(tmp, e.count * sizeof *count), found = 0;
    char *open = arena_zero(tmp, e.count);
    if (!count || !open)
        return (size_t)-1;
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
    for (size_t k = 0; k < n; k++)
        if (open[node[k]])
            linear[found++] = node[k];
    arena_reset(tmp, mark);
    return found;
}

/* Sets the constants that act linearly to their best while the others stay as they are in w->at: a
 * bold step or two, since that problem has one minimum. */
static void settle(problem *p, workspace *w)
{
    problem part = *p;
    part.node = p->linear;
    part.n = p->linears;
    set(p, w->at);
    double before = loss(p);
    memcpy(w->before, w->at, p->n * sizeof *w->at);
    for (size_t j = 0; j < part.n; j++)
        w->at[j] = p->e.node[part.node[j]].value;
    part.evaluations = p->evaluations;
    minimise(&part, w, BOLD);
    set(&part, w->at);
    p->evaluations = part.evaluations;
    p->no_memory |= part.no_memory;
    int better = loss(p) < before;
    for (size_t j = 0; j < p->n; j++)
        w->at[j] = better ? p->e.node[p->node[j]].value : w->before[j];
}

/* Goes downhill from w->at, which is replaced by the end, and returns the loss there. A cautious
 * search gives up on constants that are many orders of magnitude away: nothing it may do changes
 * the loss. So a bold one follows, whose first step is the linear problem's solution; at a minimum
 * it has little to do. */
static double descend(problem *p, workspace *w)
{
    const double cautious = 100;
    minimise(p, w, cautious);
    if (!p->no_memory && left(p) > 0)
        minimise(p, w, BOLD);
    set(p, w->at);
    return loss(p);
}

/* Another point, from `around`. u has room for 2n + 2 numbers. */
static void draw(double *at, const double *around, size_t n, rng *r, double *u)
{
    const expr_vec *vec = expr_vec_best();
    size_t pairs = n / 2 + 1;
    rng_fill_uniform(r, u, 2 * pairs);
    vec->gauss(u, pairs);
    vec->unary[EXPR_EXP](at, u, n);
    for (size_t j = 0; j < n; j++) {
        at[j] = around[j] == 0 ? u[j] : around[j] * at[j];
        if (rng_below(r, FLIPS) == 0)
            at[j] = -at[j];
    }
}

static int is_linear(const problem *p, size_t node)
{
    for (size_t k = 0; k < p->linears; k++)
        if (p->linear[k] == node)
            return 1;
    return 0;
}

/* Puts the start of that index into w->at. Returns 0 if no values there are finite. */
static int start(problem *p, workspace *w, const double *given, int index, uint64_t seed)
{
    rng r;
    rng_init(&r, seed, RNG_FIT, (uint64_t)index);
    for (int k = 0; k < (index == 0 ? 1 : DRAWS) && !p->no_memory; k++) {
        int drawn = index > 1 || (index == 1 && k > 0);
        if (drawn)
            draw(w->at, given, p->n, &r, w->wa4);
        else
            for (size_t j = 0; j < p->n; j++) /* as given, and once with all signs turned */
                w->at[j] = index == 0 ? given[j] : -given[j];
        set(p, w->at);
        if (loss(p) < INFINITY)
            return 1;
    }
    /* Without the factors that made it too large, there may be a way to the right ones. */
    for (size_t j = 0; j < p->n && index == 0; j++)
        w->at[j] = is_linear(p, p->node[j]) ? 0 : given[j];
    set(p, w->at);
    return index == 0 && loss(p) < INFINITY;
}

/* Returns 0 when memory is out. */
static int make(workspace *w, const problem *p, arena *a)
{
    size_t n = p->n, m = p->m > 2 * n + 2 ? p->m : 2 * n + 2; /* wa4 holds the draws as well */
    double **const vectors[] = { &w->at, &w->before, &w->diag, &w->qtf, &w->wa1, &w->wa2, &w->wa3 };
    w->residual = arena_array(a, p->m, sizeof *w->residual);
    w->jacobian = arena_array(a, p->m * n, sizeof *w->jacobian);
    w->wa4 = arena_array(a, m, sizeof *w->wa4);
    w->pivot = arena_array(a, n, sizeof *w->pivot);
    int good = w->residual && w->jacobian && w->wa4 && w->pivot;
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        good &= (*vectors[k] = arena_array(a, n, sizeof(double))) != NULL;
    return good;
}

/* Tries all starts; p->e has the best constants in the end and the loss is returned. Memory may run
 * out on the way. */
static double search(problem *p, double before, int starts, uint64_t seed)
{
    workspace w;
    double *given = arena_array(p->tmp, p->n, sizeof *given), best = before;
    double *kept = arena_array(p->tmp, p->n, sizeof *kept);
    p->no_memory = !given || !kept || !make(&w, p, p->tmp);
    if (p->no_memory)
        return before;
    for (size_t j = 0; j < p->n; j++)
        given[j] = kept[j] = p->e.node[p->node[j]].value;
    if (p->linears == p->n) /* there is one minimum */
        starts = 1;
    for (int k = 0; k < (starts > 1 ? starts : 1) && best > PERFECT && !p->no_memory; k++) {
        if (k > 0 && left(p) <= 0)
            break;
        if (!start(p, &w, given, k, seed))
            continue;
        if (k > 0 && p->linears && p->rows >= p->n)
            settle(p, &w);
        double now = p->no_memory ? INFINITY : descend(p, &w);
        if (now < best) {
            best = now;
            memcpy(kept, w.at, p->n * sizeof *kept);
        }
    }
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

/* Terms whose leading constant was fitted and came out negative change their sign: a - -2.5*b is
 * a + 2.5*b, to the last bit. */
static void turn_signs(expr out, expr e)
{
    for (size_t i = 0; i < e.count; i++) {
        expr_node *n = &out.node[i];
        if (n->op != EXPR_ADD && n->op != EXPR_SUB)
            continue;
        size_t lead = expr_child(out, i, 1);
        while (out.node[lead].op == EXPR_MUL || out.node[lead].op == EXPR_DIV)
            lead++;
        expr_node *c = &out.node[lead];
        if (c->op == EXPR_NUMBER && c->value < 0 && c->value != e.node[lead].value) {
            c->value = -c->value;
            n->op = n->op == EXPR_ADD ? EXPR_SUB : EXPR_ADD;
        }
    }
}

/* Fits p->e, whose constants are still e's own. p->value and p->node are not there yet. */
static snip_code fit(problem *p, tools_fit *result, int starts, uint64_t seed, snip_status *st)
{
    size_t *node = arena_array(p->tmp, p->e.count, sizeof *node);
    p->value = arena_array(p->tmp, p->rows, sizeof *p->value);
    if (!node || !p->value)
        return status_nomem(st);
    p->node = node;
    p->n = expr_constants(p->e, node);
    size_t *linear = arena_array(p->tmp, p->n + 1, sizeof *linear);
    p->linear = linear;
    p->linears = linear ? linear_constants(p->e, node, p->n, linear, p->tmp) : (size_t)-1;
    if (p->linears == (size_t)-1)
        return status_nomem(st);
    p->m = p->rows > p->n ? p->rows : p->n;
    p->scale = deviation(p->y, p->rows);
    if (p->n > TOOLS_FIT_CONSTANTS_MAX)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "%zu constants to fit, the most are %d", p->n,
                           TOOLS_FIT_CONSTANTS_MAX);
    if (p->n > 0 && p->m > TOOLS_FIT_JACOBIAN_MAX / p->n)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "%zu constants on %zu rows are too many to fit: take fewer rows", p->n,
                           p->rows);
    double before = loss(p), after = before;
    if (p->n > 0 && p->rows > 0 && !p->no_memory)
        after = search(p, before, starts, seed);
    if (p->no_memory)
        return status_nomem(st);
    *result = (tools_fit){ p->n, after * p->scale * p->scale, before * p->scale * p->scale,
                           p->evaluations };
    return SNIP_OK;
}

snip_code tools_fit_constants(expr *out, tools_fit *result, expr e, const double *const *x,
                              const double *y, size_t rows, int starts, uint64_t seed, arena *a,
                              snip_status *st)
{
    arena_pos before = arena_mark(a);
    *out = (expr){ NULL, 0 };
    *result = (tools_fit){ .loss = INFINITY, .loss_before = INFINITY };
    expr copy = { arena_copy(a, e.node, e.count * sizeof *e.node), e.count };
    if (!copy.node)
        return status_nomem(st);
    arena_pos kept = arena_mark(a);
    problem p = { .e = copy, .x = x, .y = y, .rows = rows, .tmp = a };
    snip_code code = fit(&p, result, starts, seed, st);
    arena_reset(a, code == SNIP_OK ? kept : before);
    if (code == SNIP_OK) {
        mark_changed(copy, e);
        turn_signs(copy, e);
        *out = copy;
    }
    return code;
}
