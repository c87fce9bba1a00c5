/* laws.c - tables of laws: ranges, rows, values, and what is kept; see laws.h. The forms are in
 * law_forms.c. */
#include "data/laws.h"

#include <math.h>
#include <string.h>

#include "data/floats.h"
#include "data/laws_int.h"
#include "data/tokens.h"

enum { COLUMN_ROUND = 8 }; /* columns are multiples of so many values apart */

/* ---- random numbers ---- */

int law_chance(law_writer *w, double p)
{
    return rng_uniform(&w->r) < p;
}

double law_between(law_writer *w, double low, double high)
{
    return low + rng_uniform(&w->r) * (high - low);
}

double law_log(const law_writer *w, double v)
{
    double out;
    w->vec->unary[EXPR_LOG](&out, &v, 1);
    return out;
}

static double law_exp(const law_writer *w, double v)
{
    double out;
    w->vec->unary[EXPR_EXP](&out, &v, 1);
    return out;
}

double law_log_between(law_writer *w, double low, double high)
{
    return low * law_exp(w, rng_uniform(&w->r) * law_log(w, high / low));
}

double law_rounded(double v, int digits)
{
    enum { EXACT = 22 }; /* powers of ten up to here are doubles */
    static const double tens[EXACT + 1] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    data_float f; /* four digits */
    if (!data_float_split(v, &f) || f.mantissa == 0)
        return v;
    int mantissa = f.mantissa, power = f.exponent, unit = 1;
    for (int k = digits; k < 4; k++)
        unit *= 10;
    mantissa = (mantissa + unit / 2) / unit * unit;
    if (power < -EXACT || power > EXACT)
        return v;
    double a = power < 0 ? mantissa / tens[-power] : mantissa * tens[power];
    return f.negative ? -a : a;
}

/* ---- inputs ---- */

/* The k-th of n levels of an input. */
static double level(const law_writer *w, int j, int k, int n, int logarithmic)
{
    double low = w->low[j], high = w->high[j], part = (double)k / (n - 1);
    double v =
        logarithmic ? low * law_exp(w, part * law_log(w, high / low)) : low + part * (high - low);
    return law_rounded(v, 3);
}

/* Values of input j in its range. */
static void fill_column(law_writer *w, int j, double *x)
{
    size_t n = w->n;
    double low = w->low[j], high = w->high[j];
    int logarithmic = low > 0 && high > 5 * low && law_chance(w, 0.3);
    if (w->design == LAW_GRID) {
        for (size_t i = 0; i < n; i++)
            x[i] = low + (high - low) * ((double)i / (double)(n - 1));
        return;
    }
    rng_fill_uniform(&w->r, x, n);
    if (w->design == LAW_LEVELS) {
        double levels[8] = { 0 };
        int least = w->planned == 1 ? 5 : 3; /* three values of one input show no shape */
        int count = least + (int)rng_below(&w->r, (uint32_t)(9 - least));
        for (int k = 0; k < count; k++)
            levels[k] = level(w, j, k, count, logarithmic);
        for (size_t i = 0; i < n; i++)
            x[i] = levels[(int)(x[i] * count)];
    } else if (logarithmic) {
        double ratio = law_log(w, high / low);
        for (size_t i = 0; i < n; i++)
            x[i] *= ratio;
        w->vec->unary[EXPR_EXP](x, x, n);
        for (size_t i = 0; i < n; i++)
            x[i] *= low;
    } else {
        for (size_t i = 0; i < n; i++)
            x[i] = low + x[i] * (high - low);
    }
}

/* A new input with the range given. */
static int new_input(law_writer *w, double low, double high)
{
    int j = w->dim++;
    size_t room = (w->n + COLUMN_ROUND - 1) / COLUMN_ROUND * COLUMN_ROUND;
    w->low[j] = law_rounded(low, 2);
    w->high[j] = law_rounded(high, 2);
    if (!(w->low[j] < w->high[j])) /* rounded away */
        w->high[j] = w->low[j] + (high - low);
    w->column[j] = arena_array(w->a, room, sizeof **w->column);
    double probes[LAW_PROBES];
    if (w->column[j]) {
        fill_column(w, j, w->column[j]);
        /* Both ends, and rows from all over the table. */
        probes[0] = w->low[j];
        probes[1] = w->high[j];
        for (size_t k = 2; k < LAW_PROBES; k++)
            probes[k] = w->column[j][k * w->n / LAW_PROBES];
    } else {
        w->nomem = 1;
        memset(probes, 0, sizeof probes);
    }
    return law_leaf(w, (expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)j }, probes);
}

int law_fresh(law_writer *w, law_input kind)
{
    if (kind == LAW_ANGLE) {
        static const double ends[][2] = { { 0, M_PI / 2 }, { 0, M_PI },  { 0, 2 * M_PI },
                                          { -M_PI, M_PI }, { 0.1, 1.5 }, { 0.2, 1.2 } };
        const double *e = ends[rng_below(&w->r, sizeof ends / sizeof *ends)];
        return new_input(w, e[0], e[1]);
    }
    if (kind == LAW_FRACTION)
        return new_input(w, law_between(w, 0.01, 0.3), law_between(w, 0.5, 0.95));
    double a = law_log_between(w, 1e-3, 1e4);
    if (kind == LAW_POSITIVE || law_chance(w, 0.85))
        return new_input(w, a, a * law_log_between(w, 1.5, 1000));
    double u = law_between(w, 0, 1);
    if (u < 0.5)
        return new_input(w, -a, a);
    return u < 0.75 ? new_input(w, 0, a) : new_input(w, -a, a * law_log_between(w, 0.2, 5));
}

int law_fresh_like(law_writer *w, int j, int side)
{
    double low = w->low[j], high = w->high[j];
    if (side < 0)
        return new_input(w, low * law_between(w, 0.05, 0.4), low * law_between(w, 0.5, 0.95));
    if (side > 0)
        return new_input(w, high * law_between(w, 1.05, 1.5), high * law_between(w, 2, 10));
    if (law_chance(w, 0.6))
        return new_input(w, low, high);
    double by = law_log_between(w, 0.5, 2);
    return new_input(w, low * by, high * by);
}

/* ---- values ---- */

/* Four running sums in a fixed order: quick, and the same on every machine (numbers.h). */
static double dot(const double *a, const double *b, size_t n)
{
    double s[4] = { 0 };
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t l = 0; l < 4; l++)
            s[l] += a[i + l] * b[i + l];
    for (; i < n; i++)
        s[0] += a[i] * b[i];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

static double mean_of(const double *v, size_t n)
{
    double s[4] = { 0 };
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t l = 0; l < 4; l++)
            s[l] += v[i + l];
    for (; i < n; i++)
        s[0] += v[i];
    return ((s[0] + s[2]) + (s[1] + s[3])) / (double)n;
}

/* out = (v - mean) * scale */
static void centre(double *out, const double *v, size_t n, double mean, double scale)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (v[i] - mean) * scale;
}

/* Solves the normal equations, from which dependent columns (a pivot near 0) drop out. */
double data_linear_fit(const double *const *x, int dim, const double *y, size_t n)
{
    double g[DATA_DIMS_MAX][DATA_DIMS_MAX], b[DATA_DIMS_MAX], mean = mean_of(y, n);
    double variance = 0, explained = 0;
    for (size_t i = 0; i < n; i++)
        variance += (y[i] - mean) * (y[i] - mean);
    for (int j = 0; j < dim; j++) {
        b[j] = dot(x[j], y, n) - mean * mean_of(x[j], n) * (double)n;
        for (int k = 0; k <= j; k++)
            g[j][k] = dot(x[j], x[k], n);
    }
    /* Cholesky's factor L takes the place of g, and L^-1 b that of b; |L^-1 b|^2 is explained. */
    for (int j = 0; j < dim; j++) {
        double pivot = g[j][j], whole = pivot;
        for (int k = 0; k < j; k++)
            pivot -= g[j][k] * g[j][k];
        if (!(pivot > 1e-10 * whole)) {
            for (int i = j; i < dim; i++)
                g[i][j] = 0;
            b[j] = 0;
            continue;
        }
        g[j][j] = sqrt(pivot);
        for (int i = j + 1; i < dim; i++) {
            for (int k = 0; k < j; k++)
                g[i][j] -= g[i][k] * g[j][k];
            g[i][j] /= g[j][j];
        }
        for (int k = 0; k < j; k++)
            b[j] -= g[j][k] * b[k];
        b[j] /= g[j][j];
        explained += b[j] * b[j];
    }
    return variance > 0 ? fmin(explained / variance, 1) : 0;
}

size_t data_law_core(expr e)
{
    size_t core = 0;
    for (size_t i = 0; i < e.count; i++) {
        const expr_node *n = &e.node[i];
        int arity = expr_ops[n->op].arity, inside[2] = { 0 };
        for (int slot = 0; slot < arity; slot++)
            inside[slot] = expr_inputs(expr_subtree(e, expr_child(e, i, slot))) > 0;
        core += n->op == EXPR_VARIABLE || (arity == 1 && inside[0] && n->op != EXPR_NEG) ||
                (inside[0] && inside[1]) || (n->op == EXPR_DIV && inside[1]) ||
                (n->op == EXPR_POW && inside[0]);
    }
    return core;
}

/* ---- what is kept ---- */

/* y is finite, has words, and its four digits show that it varies, in more than one row. */
static int worth_measuring(const double *y, size_t n, double *deviation)
{
    double most = 0, far = 0, square = 0, mean;
    if (!data_values_fit(y, n))
        return 0;
    mean = mean_of(y, n);
    for (size_t i = 0; i < n; i++) {
        double d = y[i] - mean;
        most = fmax(most, fabs(y[i]));
        far = fmax(far, d * d);
        square += d * d;
    }
    *deviation = sqrt(square / (double)n);
    return isfinite(square) && *deviation > 1e-3 * most && *deviation > 1e-90 &&
           (n < 8 || far < 0.5 * square);
}

/* Every input occurs, every constant has words that tell it from 0, and there is a part that is
 * neither the whole nor a leaf: training edits such parts, and any tree of 4 nodes has one. */
static int readable(expr e, int dim)
{
    unsigned seen = 0;
    for (size_t i = 0; i < e.count; i++) {
        const expr_node *n = &e.node[i];
        if (n->op == EXPR_VARIABLE)
            seen |= 1u << n->var;
        double v = fabs(n->value);
        if (n->op == EXPR_NUMBER && !(v == 0 || (v > 1e-90 && v < 1e90)))
            return 0;
    }
    return e.count >= 4 && seen == (1u << dim) - 1 && data_tokens_count(e) <= DATA_SEQUENCE_MAX;
}

/* A sample under way. */
typedef struct attempt {
    law_writer w;
    data_sample s;
    data_law law;
    double *mean, *deviation;
    double low[DATA_DIMS_MAX], high[DATA_DIMS_MAX]; /* of the standardised columns */
} attempt;

typedef enum verdict { KEEP, REDRAW, NOMEM } verdict;

/* Raw columns and their standardised twins. */
static verdict standardise(attempt *t)
{
    law_writer *w = &t->w;
    size_t n = w->n, dim = (size_t)w->dim;
    t->law.x = arena_array(w->a, dim, sizeof *t->law.x);
    t->s.x = arena_array(w->a, dim, sizeof *t->s.x);
    t->mean = arena_array(w->a, 2 * dim, sizeof *t->mean);
    if (!t->law.x || !t->s.x || !t->mean)
        return NOMEM;
    t->deviation = t->mean + dim;
    t->law.mean = t->mean;
    t->law.deviation = t->deviation;
    for (size_t j = 0; j < dim; j++) {
        double *x = arena_array(w->a, n, sizeof *x);
        if (!x)
            return NOMEM;
        t->law.x[j] = w->column[j];
        t->s.x[j] = x;
        t->mean[j] = mean_of(w->column[j], n);
        centre(x, w->column[j], n, t->mean[j], 1);
        t->deviation[j] = sqrt(dot(x, x, n) / (double)n);
        if (!(t->deviation[j] > 0))
            return REDRAW;
        centre(x, w->column[j], n, t->mean[j], 1 / t->deviation[j]);
        t->low[j] = INFINITY;
        t->high[j] = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            t->low[j] = x[i] < t->low[j] ? x[i] : t->low[j];
            t->high[j] = x[i] > t->high[j] ? x[i] : t->high[j];
        }
    }
    return KEEP;
}

/* The law in standardised inputs and SNIP's operators, as regress_problem_rewrite makes it of a
 * user's formula; whether it is the same function is seen by its values. */
static verdict rewrite(attempt *t)
{
    arena *a = t->w.a;
    size_t dim = (size_t)t->w.dim;
    expr by[DATA_DIMS_MAX], tidy, *normal = &t->s.plain;
    for (size_t j = 0; j < dim; j++)
        if (!(by[j] = expr_affine(t->mean[j], t->deviation[j], j, a)).node)
            return NOMEM;
    expr replaced = expr_substitute(t->law.e, by, dim, a);
    if (!replaced.node)
        return NOMEM;
    expr_domain domain = { t->low, t->high, dim, 0 };
    snip_code code = expr_tidy(&tidy, replaced, a, NULL);
    if (code == SNIP_OK) {
        expr gathered;
        code = expr_normal(&gathered, tidy, &domain, a, NULL);
        domain.assume_positive = code == SNIP_UNSUPPORTED;
        if (domain.assume_positive)
            code = expr_normal(&gathered, tidy, &domain, a, NULL);
        if (code == SNIP_OK)
            code = expr_tidy(&t->s.e, gathered, a, NULL);
    }
    if (code == SNIP_OK)
        code = expr_normal(normal, replaced, &domain, a, NULL);
    return code == SNIP_OK ? KEEP : code == SNIP_NOMEM ? NOMEM : REDRAW;
}

/* Whether y depends on every input: shifting the rows of one column must change y. */
static verdict depends_on_all(const attempt *t, double deviation)
{
    size_t n = t->w.n, dim = (size_t)t->w.dim, turn = n / 3 + 1;
    arena *a = t->w.a;
    arena_pos mark = arena_mark(a);
    const double *x[DATA_DIMS_MAX];
    double *moved = arena_array(a, n, sizeof *moved), *y = arena_array(a, n, sizeof *y);
    if (!moved || !y)
        return NOMEM;
    for (size_t j = 0; j < dim; j++)
        x[j] = t->s.x[j];
    for (size_t j = 0; j < dim; j++) {
        double square = 0;
        size_t lost = 0;
        memcpy(moved, x[j] + turn % n, (n - turn % n) * sizeof *moved);
        memcpy(moved + (n - turn % n), x[j], turn % n * sizeof *moved);
        x[j] = moved;
        if (expr_eval(t->s.e, x, n, y, a) == (size_t)-1)
            return NOMEM;
        x[j] = t->s.x[j];
        for (size_t i = 0; i < n; i++) {
            double d = y[i] - t->s.y[i];
            lost += !isfinite(d);
            square += d * d;
        }
        if (lost || !(sqrt(square / (double)n) > 1e-2 * deviation))
            return REDRAW;
    }
    arena_reset(a, mark);
    return KEEP;
}

/* Evaluates the law raw and rewritten, and checks what laws.h promises. */
static verdict measure(attempt *t)
{
    law_writer *w = &t->w;
    size_t n = w->n;
    double deviation, worst = 0;
    t->law.y = arena_array(w->a, n, sizeof *t->law.y);
    t->s.y = arena_array(w->a, n, sizeof *t->s.y);
    if (!t->law.y || !t->s.y || expr_eval(t->law.e, t->law.x, n, t->law.y, w->a) == (size_t)-1)
        return NOMEM;
    if (!worth_measuring(t->law.y, n, &deviation))
        return REDRAW;
    verdict v = rewrite(t);
    if (v != KEEP)
        return v;
    if (!readable(t->s.e, w->dim))
        return REDRAW;
    if (expr_eval(t->s.e, t->s.x, n, t->s.y, w->a) == (size_t)-1)
        return NOMEM;
    if (!worth_measuring(t->s.y, n, &deviation))
        return REDRAW;
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(t->s.y[i] - t->law.y[i]));
    if (worst > 1e-6 * deviation)
        return REDRAW;
    t->law.linear = data_linear_fit(t->s.x, w->dim, t->s.y, n);
    if (t->law.linear > DATA_NEARLY_LINEAR && law_chance(w, 0.7))
        return REDRAW;
    return depends_on_all(t, deviation);
}

/* How many inputs: mostly one to four. */
static int draw_dim(law_writer *w, int most)
{
    static const double up_to[DATA_LAW_DIMS] = { 0.30, 0.58, 0.80, 0.92, 0.97, 1 };
    if (most > DATA_LAW_DIMS)
        most = DATA_LAW_DIMS;
    double u = law_between(w, 0, up_to[most - 1]);
    int d = 1;
    while (d < most && u >= up_to[d - 1])
        d++;
    return d;
}

/* Numbers the inputs at random: what an input does must not be told by its number. */
static void shuffle_inputs(law_writer *w)
{
    int to[DATA_DIMS_MAX];
    double *column[DATA_DIMS_MAX];
    for (int j = 0; j < w->dim; j++)
        to[j] = j;
    rng_shuffle(&w->r, to, w->dim);
    memcpy(column, w->column, sizeof column);
    for (int j = 0; j < w->dim; j++)
        w->column[to[j]] = column[j];
    for (int t = 0; t < w->terms; t++)
        if (w->term[t].node.op == EXPR_VARIABLE)
            w->term[t].node.var = (uint16_t)to[w->term[t].node.var];
}

/* Most free constants below t become inputs whose ranges lie around them. Exponents and negative
 * ones stay. */
static void measure_constants(law_writer *w, int t)
{
    const double share = 0.8, least = 1.5, most = 10; /* the latter: ratio of a range's ends */
    expr_node *node = &w->term[t].node;
    if (node->op == EXPR_NUMBER && !node->integer && node->value > 0 && w->dim < w->most &&
        law_chance(w, share)) {
        double half = sqrt(law_log_between(w, least, most));
        int input = new_input(w, node->value / half, node->value * half);
        *node = w->term[input].node;
    }
    int arity = node->op == EXPR_POW ? 1 : expr_ops[node->op].arity;
    for (int slot = 0; slot < arity && !w->full; slot++)
        measure_constants(w, w->term[t].kid[slot]);
}

static verdict try_one(attempt *t, int dim)
{
    law_writer *w = &t->w;
    w->dim = w->terms = w->full = w->nomem = 0;
    w->planned = dim;
    double u = law_between(w, 0, 1);
    w->design = u < 0.1 ? LAW_LEVELS : u < 0.35 && dim == 1 ? LAW_GRID : LAW_SCATTERED;
    u = law_between(w, 0, 1);
    w->digits = u < 0.3 ? 2 : u < 0.8 ? 3 : 4;
    int root = law_write(w, dim);
    if (root >= 0 && w->most)
        measure_constants(w, root);
    if (w->nomem)
        return NOMEM;
    if (root < 0 || w->full)
        return REDRAW;
    shuffle_inputs(w);
    for (int k = 0; k < LAW_PROBES; k++)
        if (!isfinite(w->term[root].v[k]))
            return REDRAW;
    t->law.e = law_flatten(w, root);
    if (!t->law.e.node)
        return NOMEM;
    if (t->law.e.count < 3 || data_law_core(t->law.e) > (size_t)(DATA_LAW_CORE + w->dim - dim))
        return REDRAW;
    verdict v = standardise(t);
    return v == KEEP ? measure(t) : v;
}

/* Before the first try; the random numbers are for the caller to begin. */
static void prepare(attempt *t, size_t points, arena *a)
{
    memset(&t->s, 0, sizeof t->s);
    memset(&t->law, 0, sizeof t->law);
    t->w.vec = expr_vec_best();
    t->w.a = a;
    t->w.n = points;
}

snip_code data_law_draw(data_sample *out, data_law *law, const data_gen *gen, uint64_t seed,
                        rng_stream stream, uint64_t index, arena *a)
{
    attempt t;
    prepare(&t, gen->points, a);
    rng_init_part(&t.w.r, seed, stream, index, RNG_LAW);
    /* The number of inputs is kept while attempts are repeated, so that it is as drawn. */
    int dim = draw_dim(&t.w, gen->dims);
    t.w.most = gen->quantities > 0 && law_chance(&t.w, gen->quantities) ? gen->dims : 0;
    arena_pos mark = arena_mark(a);
    for (int attempts = 1;; attempts++) {
        verdict v = try_one(&t, dim);
        if (v == KEEP) {
            t.s.dim = t.law.dim = t.w.dim;
            t.s.points = t.law.points = t.w.n;
            t.law.attempts = attempts;
            *out = t.s;
            if (law)
                *law = t.law;
            return SNIP_OK;
        }
        arena_reset(a, mark);
        if (v == NOMEM)
            return SNIP_NOMEM;
    }
}

/* e with its free constants multiplied by factors between a half and two. */
static expr disturbed(law_writer *w, expr e)
{
    expr out = { arena_copy(w->a, e.node, e.count * sizeof *e.node), e.count };
    size_t *node = arena_array(w->a, e.count, sizeof *node);
    size_t n = out.node && node ? expr_constants(e, node) : 0;
    for (size_t k = 0; k < n; k++)
        out.node[node[k]].value *= law_log_between(w, 0.5, 2);
    return node ? out : (expr){ 0 };
}

snip_code law_of_formula(data_sample *out, expr e, int dim, const double *low, const double *high,
                         size_t points, rng *r, arena *a)
{
    enum { TRIES = 100 };
    attempt t;
    prepare(&t, points, a);
    t.w.r = *r;
    arena_pos mark = arena_mark(a);
    for (int k = 0; k < TRIES; k++) {
        t.w.dim = t.w.terms = t.w.full = t.w.nomem = 0;
        t.w.planned = dim;
        t.w.design = dim == 1 && law_chance(&t.w, 0.3) ? LAW_GRID : LAW_SCATTERED;
        for (int j = 0; j < dim; j++)
            new_input(&t.w, low[j], high[j]);
        t.law.e = k < TRIES / 2 && law_chance(&t.w, 0.5) ? disturbed(&t.w, e) : e;
        if (t.w.nomem || !t.law.e.node)
            return SNIP_NOMEM;
        verdict v = standardise(&t);
        if (v == KEEP)
            v = measure(&t);
        if (v == KEEP) {
            t.s.dim = dim;
            t.s.points = points;
            *out = t.s;
            return SNIP_OK;
        }
        arena_reset(a, mark);
        if (v == NOMEM)
            return SNIP_NOMEM;
    }
    return SNIP_UNSUPPORTED;
}

/* On another's inputs ------------------------------------------------------------------------- */

static double root_mean_square(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i] * v[i] / (double)n;
    return sqrt(sum);
}

double *data_law_sizes(const double *const *x, int dim, size_t rows, arena *a)
{
    double *size = arena_array(a, (size_t)dim, sizeof *size);
    for (int j = 0; j < dim && size; j++)
        size[j] = root_mean_square(x[j], rows);
    return size;
}

/* factor * x_j, in `a`. */
static expr scaled_input(double factor, size_t j, arena *a)
{
    expr e = { arena_zero(a, 3 * sizeof(expr_node)), 3 };
    if (e.node) {
        e.node[0].op = EXPR_MUL;
        e.node[1].op = EXPR_NUMBER;
        e.node[1].value = factor;
        e.node[2].op = EXPR_VARIABLE;
        e.node[2].var = (uint16_t)j;
        expr_measure(e);
    }
    return e;
}

expr data_law_on(expr e, const double *size, int dim, const double *const *x, size_t rows,
                 int columns, rng *r, arena *a)
{
    int column[DATA_DIMS_MAX];
    expr by[DATA_DIMS_MAX];
    for (int j = 0; j < columns; j++)
        column[j] = j;
    rng_shuffle(r, column, columns);
    for (int j = 0; j < dim; j++) {
        double own = root_mean_square(x[column[j]], rows);
        by[j] = scaled_input(own > 0 ? size[j] / own : 1, (size_t)column[j], a);
        if (!by[j].node)
            return (expr){ 0 };
    }
    return expr_substitute(e, by, (size_t)dim, a);
}
