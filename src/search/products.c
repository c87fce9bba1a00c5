/* products.c - sums of few products, under transforms of the target.
 *
 * Most laws that people write are, after y -> g(y), a sum of few terms, each a product of powers
 * and perhaps one short function. Then they are found by linear algebra, in two ways:
 *
 *   one product   log|y| = c + sum p_j log|x_j| + sum q_k log|f_k| + sum a_m * m. Exponents p are
 *                 unknowns of least squares, so any product of powers is in reach at once, times
 *                 one to three of thousands of factors f (1 - x0^2/x1^2, sin(x0*x1), exp(m) - 1)
 *                 and exponentials of monomials m.
 *   a sum         (y/M)^q = sum c_k t_k with terms t of a dictionary. M is the product of powers of
 *                 those inputs that have no other part in y; a quadratic model of log|y| in the
 *                 logarithms of the inputs tells which.
 *
 * Rows are weighted by dy/dg, so that a residual of g(y) counts as what it is in y. What fits best
 * is measured in y itself, and the best by description length are offered. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/vec.h"
#include "search/bits.h"
#include "search/build.h"
#include "search/dictionary.h"
#include "search/sparse.h"

#define LOOSE     0.02 /* an exponent that is farther from a half may be none */
#define NODE_BITS 4.0  /* what a node of a formula costs, about */
#define STRONG    2.0  /* deviations of the noise from which on a logarithm of y means something */

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
    ROWS_FEW = SEARCH_SOME,
    ROWS_NOISY = 1024,
    NOISY_SUMS = 6, /* sums of a second pass */
    NOISY_COLUMNS = 2000,
    PRUNED = 16,
    EACH = 60,   /* sets of every number of terms that are measured in y */
    OFFERS = 24, /* of these, how many each task offers */
    SUM_COLUMNS = 1400,
    TIMES = 9,       /* columns of a short part: times 1 and the shortest monomials */
    DEEP_INPUTS = 4, /* with as many inputs or more there are deep sums */
    DEEP_ROWS = 128,
    PER_ROUND = 2, /* tasks of a round */
    STRONG_ROWS_MIN = 40
};

/* The target of one product: h(y) is the product. */
typedef enum inverse { AS_IS, SINE, COSINE, INVERSES } inverse;

/* One thing to try. */
typedef struct task {
    enum { PRODUCT, SUM, CURVE } kind;
    inverse h;     /* for one product */
    monomial m;    /* for a sum and for a curve: M */
    unsigned rest; /* inputs that are not in M; columns are made of these */
    double q;      /* for a sum: of (y/M)^q */
    int deep;      /* for a sum: monomials with exponents 1 and 2 alone, but many */
} task;

typedef struct work {
    search *s;
    const search_view *v;     /* rows to find formulas with */
    const search_view *whole; /* rows to measure them on */
    dictionary d;
    size_t few, many; /* rows for finding, rows for measuring */
    int noisy;        /* many rows for finding */
    const task *task;
    size_t tasks;
} work;

/* ---- measuring in y ---- */

typedef struct candidate {
    expr e;
    double bits;
    size_t order; /* of finding: ties are broken by it */
} candidate;

typedef struct shortlist {
    candidate *at;
    size_t count, room;
} shortlist;

/* Takes a formula of the view into the list if it is finite. */
static void consider(search_job *j, const work *w, shortlist *list, expr e)
{
    if (list->count == list->room || !e.node || e.count > 3 * SEARCH_SIZE_MAX)
        return;
    arena_pos mark = arena_mark(j->tmp);
    size_t rows = w->whole->rows < SEARCH_MANY ? w->whole->rows : SEARCH_MANY;
    const double *y = w->whole->y;
    double *f = arena_array(j->tmp, rows, sizeof *f), ff = 0, fy = 0, yy = 0, mean = 0, rest = 0;
    search_count(j, 1 + rows / SEARCH_SOME);
    if (f && expr_eval(e, w->whole->x, rows, f, j->tmp) == rows) {
        for (size_t i = 0; i < rows; i++) {
            ff += f[i] * f[i];
            fy += f[i] * y[i];
            mean += y[i];
        }
        mean /= (double)rows;
        double c = ff > 0 ? fy / ff : 0;
        for (size_t i = 0; i < rows; i++) {
            yy += (y[i] - mean) * (y[i] - mean);
            rest += (y[i] - c * f[i]) * (y[i] - c * f[i]);
        }
        double loss = yy > 0 ? rest / yy : INFINITY;
        if (isfinite(loss)) {
            list->at[list->count] = (candidate){ .e = e,
                                                 .bits = search_bits(e, loss, w->v->dim, rows),
                                                 .order = list->count };
            list->count++;
        }
    }
    arena_reset(j->tmp, mark);
}

static int by_bits(const void *a, const void *b)
{
    const candidate *p = a, *q = b;
    if (p->bits != q->bits)
        return p->bits < q->bits ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

static void offer_best(search_job *j, const work *w, shortlist *list)
{
    qsort(list->at, list->count, sizeof *list->at, by_bits);
    for (size_t k = 0; k < list->count && k < OFFERS && !search_job_over(j); k++)
        search_offer_hard(j, w->v, list->at[k].e, 1);
}

static int make_list(shortlist *list, size_t room, arena *a)
{
    *list = (shortlist){ .at = arena_array(a, room, sizeof *list->at), .room = room };
    return list->at != NULL;
}

/* ---- one product ---- */

/* Target and weights on the first `rows` rows. A row whose logarithm says nothing has weight 0.
 * Returns 0 if the function is none of y. */
static int log_target(const work *w, inverse h, size_t rows, double *t, double *weight)
{
    size_t outside = 0; /* noise may take some there */
    for (size_t i = 0; i < rows; i++) {
        double y = w->v->y[i], p = y, slope = 1;
        int inside = 1;
        if (h == SINE) {
            inside = fabs(y) < M_PI / 2;
            p = sin(y);
            slope = cos(y);
        } else if (h == COSINE) {
            inside = y > 0 && y < M_PI;
            p = cos(y);
            slope = sin(y);
        }
        int says = inside && fabs(p) > 1e-290 && fabs(slope) > 1e-6;
        t[i] = says ? log(fabs(p)) : 0;
        weight[i] = says ? fabs(p / slope) : 0; /* dy / dlog|h(y)| */
        outside += !inside;
    }
    return 20 * outside <= rows;
}

/* Functions of a monomial m whose logarithms are columns; a wave's argument may be halved. */
typedef enum function {
    ONE_MINUS,
    ONE_PLUS,
    EXP_MINUS_1,
    EXP_PLUS_1,
    SIN_OF,
    COS_OF,
    TANH_OF,
    LOG_OF,
    FUNCTIONS
} function;

/* A column of a logarithmic sum. */
typedef struct log_column {
    enum { LOG_PART, LOG_FUNCTION, EXPONENT } kind; /* log|part|, log|f(m)|, or part*m itself */
    int part;                                       /* -1: none */
    function f;
    monomial m;
} log_column;

static expr function_of(function f, expr m, arena *a)
{
    static const expr_op op[FUNCTIONS] = {
        [SIN_OF] = EXPR_SIN, [COS_OF] = EXPR_COS, [TANH_OF] = EXPR_TANH, [LOG_OF] = EXPR_LOG
    };
    expr one = search_fixed(1, a);
    switch (f) {
    case ONE_MINUS:
        return search_binary(EXPR_SUB, one, m, a);
    case ONE_PLUS:
        return search_binary(EXPR_ADD, one, m, a);
    case EXP_MINUS_1:
    case EXP_PLUS_1:
        return search_binary(f == EXP_PLUS_1 ? EXPR_ADD : EXPR_SUB, search_unary(EXPR_EXP, m, a),
                             one, a);
    default:
        return search_unary(op[f], m, a);
    }
}

static int function_may(const search *s, function f)
{
    switch (f) {
    case EXP_MINUS_1:
    case EXP_PLUS_1:
        return search_may(s, EXPR_EXP);
    case SIN_OF:
        return search_may(s, EXPR_SIN);
    case COS_OF:
        return search_may(s, EXPR_COS);
    case TANH_OF:
        return search_may(s, EXPR_TANH);
    case LOG_OF:
        return search_may(s, EXPR_LOG);
    default:
        return 1;
    }
}

static int log_values(const work *w, const log_column *c, size_t rows, double *out, arena *tmp)
{
    const expr_vec *vec = expr_vec_best();
    if (c->part >= 0) {
        if (expr_eval(w->d.part[c->part].e, w->v->x, rows, out, tmp) != rows)
            return 0;
    } else {
        for (size_t i = 0; i < rows; i++)
            out[i] = 1;
    }
    if (c->kind != LOG_PART)
        search_dictionary_times(&w->d, &c->m, out, rows);
    if (c->kind == EXPONENT)
        return 1;
    if (c->kind == LOG_FUNCTION)
        switch (c->f) {
        case ONE_MINUS:
        case ONE_PLUS:
            for (size_t i = 0; i < rows; i++)
                out[i] = 1 + (c->f == ONE_PLUS ? out[i] : -out[i]);
            break;
        case EXP_MINUS_1:
        case EXP_PLUS_1:
            vec->unary[EXPR_EXP](out, out, rows);
            for (size_t i = 0; i < rows; i++)
                out[i] += c->f == EXP_PLUS_1 ? 1 : -1;
            break;
        case SIN_OF:
            vec->unary[EXPR_SIN](out, out, rows);
            break;
        case COS_OF:
            vec->unary[EXPR_COS](out, out, rows);
            break;
        case TANH_OF:
            vec->unary[EXPR_TANH](out, out, rows);
            break;
        default:
            vec->unary[EXPR_LOG](out, out, rows);
        }
    for (size_t i = 0; i < rows; i++)
        out[i] = fabs(out[i]);
    vec->unary[EXPR_LOG](out, out, rows);
    return 1;
}

static void weigh(double *v, const double *weight, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        v[i] = weight[i] > 0 ? v[i] * weight[i] : 0;
}

/* The inputs' logarithms and 1, weighted. Returns how many. */
static size_t log_base(const work *w, const double *weight, size_t rows, double **base,
                       size_t *which, arena *a)
{
    size_t n = 0;
    for (size_t k = 0; k <= w->d.n; k++) {
        if (k < w->d.n && w->d.sign[k] == 0)
            continue;
        double *v = base[n] = arena_array(a, rows, sizeof *v);
        if (!v)
            return 0;
        for (size_t i = 0; i < rows; i++)
            v[i] = k < w->d.n ? log(fabs(w->v->x[w->d.input[k]][i])) : 1;
        weigh(v, weight, rows);
        which[n++] = k;
    }
    return n;
}

/* Exponents as people write them. */
static double halves(double p)
{
    return round(2 * p) / 2;
}

/* How fitted exponents are written: snapped to halves, to whole numbers, or free where they are far
 * from halves. */
typedef enum snapping { TO_HALVES, TO_WHOLE, TO_NONE } snapping;

/* A product of powers from fitted exponents. Returns 0 if they are out of range, or if snapping to
 * halves gives the same. */
static int powers_of(const work *w, const double *coef, const size_t *which, size_t n, snapping to,
                     monomial *m, expr *free, arena *a)
{
    int any = 0;
    *m = (monomial){ { 0 }, 0 };
    *free = (expr){ NULL, 0 };
    for (size_t k = 0; k < n; k++) {
        double p = halves(coef[k]);
        if (!(fabs(coef[k]) < 10))
            return 0;
        if (to == TO_WHOLE && p != round(coef[k])) {
            m->p[which[k]] = (int8_t)(2 * round(coef[k]));
            any = 1;
        } else if (to == TO_NONE && fabs(coef[k] - p) > LOOSE && w->d.sign[which[k]] > 0) {
            expr x = search_variable(w->d.input[which[k]], a);
            x = search_binary(EXPR_POW, x, search_number(coef[k], a), a);
            *free = search_dictionary_times_of(*free, x, a);
            any = 1;
        } else {
            m->p[which[k]] = (int8_t)(2 * p);
        }
    }
    return any || to == TO_HALVES;
}

/* A product as a formula: monomial, parts to powers in halves, exponentials. `spread` writes
 * 1 - r as (den - num)/den. */
static expr log_formula(const work *w, monomial m, expr loose, const log_column *const *c,
                        const double *q, size_t n, double constant, inverse h, int spread, arena *a)
{
    expr e = loose;
    for (size_t k = 0; k < n; k++) {
        expr f;
        if (q[k] == 0)
            continue;
        if (c[k]->kind != EXPONENT) {
            f = c[k]->kind == LOG_PART
                    ? w->d.part[c[k]->part].e
                    : function_of(c[k]->f, search_dictionary_product(&w->d, &c[k]->m, a), a);
            if (c[k]->kind == LOG_FUNCTION && c[k]->f <= ONE_PLUS && spread) {
                monomial over = { { 0 }, 0 }, under = over;
                for (size_t i = 0; i < w->d.n; i++) {
                    if (c[k]->m.p[i] > 0)
                        over.p[i] = c[k]->m.p[i];
                    else
                        under.p[i] = (int8_t)-c[k]->m.p[i];
                    int change = (int)round(q[k] * under.p[i]); /* q times halves */
                    if (fabs(q[k] * under.p[i] - change) > 1e-9)
                        return (expr){ NULL, 0 };
                    m.p[i] = (int8_t)(m.p[i] - change);
                }
                expr den = search_dictionary_product(&w->d, &under, a);
                if (!den.count)
                    return (expr){ NULL, 0 }; /* 1 + x0*x1: as it is */
                expr num = search_dictionary_product(&w->d, &over, a);
                f = search_binary(c[k]->f == ONE_PLUS ? EXPR_ADD : EXPR_SUB, den, num, a);
            }
            f = search_power(f, q[k], a);
        } else {
            expr arg = search_dictionary_product(&w->d, &c[k]->m, a);
            if (c[k]->part >= 0)
                arg = search_dictionary_times_of(w->d.part[c[k]->part].e, arg, a);
            arg = search_dictionary_times_of(search_number(q[k], a), arg, a);
            f = search_unary(EXPR_EXP, arg, a);
        }
        e = search_dictionary_times_of(e, f, a);
    }
    e = search_dictionary_times_of(search_dictionary_product(&w->d, &m, a), e, a);
    if (h == AS_IS || !e.count)
        return e;
    if (constant != 1)
        e = search_dictionary_times_of(search_number(constant, a), e, a);
    return search_unary(h == SINE ? EXPR_ARCSIN : EXPR_ARCCOS, e, a);
}

/* Lists the formulas of exponents p of the inputs and q of the columns. */
static void log_list(search_job *j, const work *w, const task *t, const double *p,
                     const size_t *which, size_t n, const log_column *const *c, const double *q,
                     size_t extra, shortlist *list)
{
    static const snapping to[] = { TO_HALVES, TO_HALVES, TO_NONE, TO_WHOLE };
    for (size_t form = 0; form < COUNT(to); form++) {
        monomial m;
        expr loose;
        if (!powers_of(w, p, which, n - 1, to[form], &m, &loose, j->a))
            continue;
        consider(j, w, list,
                 log_formula(w, m, loose, c, q, extra, exp(p[n - 1]), t->h, form == 1, j->a));
        if (t->h != AS_IS) /* a constant that is 1 but for noise may leave the domain */
            consider(j, w, list, log_formula(w, m, loose, c, q, extra, 1, t->h, form == 1, j->a));
    }
}

/* Solves for the exponents of one set of columns on many rows, the parts' first, and lists what
 * comes out. */
static void log_refine(search_job *j, const work *w, const task *t, const log_column *column,
                       const sparse_model *model, const double *target, const double *weight,
                       double *const *base, const size_t *which, size_t n, shortlist *list)
{
    arena *a = j->tmp;
    arena_pos mark = arena_mark(a);
    size_t rows = w->many, extra = model->count;
    const double *v[DICTIONARY_INPUTS + 1 + SPARSE_TERMS_MAX];
    double coef[DICTIONARY_INPUTS + 1 + SPARSE_TERMS_MAX], q[SPARSE_TERMS_MAX];
    const log_column *c[SPARSE_TERMS_MAX];
    double *goal = arena_copy(a, target, rows * sizeof *goal);
    if (!goal)
        return;
    memcpy(v, base, n * sizeof *v);
    for (size_t k = 0; k < extra; k++) {
        double *own = arena_array(a, rows, sizeof *own);
        c[k] = &column[model->term[k]];
        if (!own || !log_values(w, c[k], rows, own, a)) {
            arena_reset(a, mark);
            return;
        }
        weigh(own, weight, rows);
        v[n + k] = own;
    }
    static const double usual[] = { 0.5, -0.5, 1, -1, 2, -2 };
    double fitted[SPARSE_TERMS_MAX], rest = search_sparse_solve(coef, v, n + extra, goal, rows, a);
    memcpy(fitted, coef + n, extra * sizeof *fitted);
    /* Noise may leave the exponent of a single factor open: then all that are usual are tried. */
    size_t tries = extra == 1 && c[0]->kind != EXPONENT ? 1 + COUNT(usual) : 1;
    for (size_t k = 0; k < tries && rest < INFINITY; k++) {
        memcpy(goal, target, rows * sizeof *goal);
        for (size_t m = 0; m < extra; m++) {
            q[m] = c[m]->kind == EXPONENT ? fitted[m] : halves(fitted[m]);
            q[m] = k > 0 ? usual[k - 1] : q[m];
            for (size_t i = 0; i < rows; i++)
                goal[i] -= q[m] * v[n + m][i];
        }
        if (k > 0 && (q[0] == halves(fitted[0]) || fabs(q[0] - fitted[0]) > 1.5))
            continue;
        if (search_sparse_solve(coef, v, n, goal, rows, a) < INFINITY)
            log_list(j, w, t, coef, which, n, c, q, extra, list);
    }
    arena_reset(a, mark);
}

static double log_column_bits(const work *w, const log_column *c)
{
    double nodes = c->kind == LOG_PART ? w->d.part[c->part].cost : c->m.cost + 2;
    if (c->kind == EXPONENT) /* exp(number * ...) */
        nodes += 3 + (c->part >= 0 ? w->d.part[c->part].cost : 0);
    return NODE_BITS * nodes;
}

/* The columns of a task: parts, functions of monomials, exponents. 1 + 1/m is (1 + m)/m, so one of
 * each two will do. */
static size_t log_columns(const work *w, unsigned mask, log_column *out, size_t room, arena *a)
{
    const dictionary *d = &w->d;
    size_t n = 0, count;
    monomial *m = arena_array(a, room, sizeof *m);
    if (!m)
        return 0;
    for (size_t k = 0; k < d->parts && n < room * 3 / 8; k++)
        if (d->part[k].use & PART_FACTOR && !(d->part[k].inputs & ~mask))
            out[n++] = (log_column){ .kind = LOG_PART, .part = (int)k };
    count = search_dictionary_monomials(d, mask, d->n, EXPONENTS_ONE, m, room / 24);
    for (size_t k = 0; k < count; k++)
        for (function f = EXP_MINUS_1; f < FUNCTIONS; f++)
            if (function_may(w->s, f) && n < room * 5 / 8)
                out[n++] = (log_column){ .kind = LOG_FUNCTION, .part = -1, .f = f, .m = m[k] };
    count = search_dictionary_monomials(d, mask, d->n, EXPONENTS_WHOLE, m, room);
    for (size_t k = 0; k < count; k++) {
        size_t first = 0;
        while (m[k].p[first] == 0)
            first++;
        if (m[k].p[first] < 0)
            continue;
        double size = 1;
        search_dictionary_times(d, &m[k], &size, 1);
        for (size_t i = 0; i < d->n && size > 1; i++) /* 1 - m is positive, so it has roots */
            m[k].p[i] = (int8_t)-m[k].p[i];
        for (function f = ONE_MINUS; f <= ONE_PLUS && n < room * 13 / 16; f++)
            out[n++] = (log_column){ .kind = LOG_FUNCTION, .part = -1, .f = f, .m = m[k] };
    }
    if (!search_may(w->s, EXPR_EXP))
        return n;
    for (size_t k = 0; k < d->parts; k++) {
        const part *p = &d->part[k];
        if (!(p->use & PART_TERM) || p->e.node[0].op != EXPR_POW2 || p->inputs & ~mask)
            continue;
        for (size_t i = 0; i <= count && i <= 4 * d->n && n < room * 29 / 32; i++)
            out[n++] = (log_column){ .kind = EXPONENT,
                                     .part = (int)k,
                                     .m = i ? m[i - 1] : (monomial){ { 0 }, 0 } };
    }
    for (size_t k = 0; k < count && n < room; k++)
        out[n++] = (log_column){ .kind = EXPONENT, .part = -1, .m = m[k] };
    return n;
}

static void one_product(search_job *j, const work *w, const task *t)
{
    arena *a = j->tmp;
    size_t rows = w->few, room = w->v->depth ? 1024 : 2048;
    double *base[DICTIONARY_INPUTS + 1], *wide[DICTIONARY_INPUTS + 1];
    size_t which[DICTIONARY_INPUTS + 1];
    double *target = arena_array(a, w->many, sizeof *target);
    double *weight = arena_array(a, w->many, sizeof *weight);
    double *goal = arena_array(a, rows, sizeof *goal);
    double *value = arena_array(a, room * rows, sizeof *value);
    log_column *column = arena_array(a, room, sizeof *column);
    double *bits = arena_array(a, room, sizeof *bits);
    sparse_model *model = arena_array(a, 3 * EACH, sizeof *model);
    shortlist list;
    if (!target || !weight || !goal || !value || !column || !bits || !model ||
        !make_list(&list, 80 * EACH, a)) {
        j->no_memory = 1;
        return;
    }
    if (!log_target(w, t->h, w->many, target, weight))
        return;
    for (size_t i = 0; i < w->many; i++)
        target[i] *= weight[i];
    size_t n = log_base(w, weight, rows, base, which, a);
    if (!n || !log_base(w, weight, w->many, wide, which, a)) {
        j->no_memory = 1;
        return;
    }
    /* The power law alone. */
    log_refine(j, w, t, column, &(sparse_model){ .count = 0 }, target, weight, wide, which, n,
               &list);
    memcpy(goal, target, rows * sizeof *goal);
    for (size_t k = 0; k < n; k++) { /* what the base explains is gone from everything */
        for (int pass = 0; pass < 2; pass++)
            for (size_t m = 0; m < k; m++) {
                double p = 0;
                for (size_t i = 0; i < rows; i++)
                    p += base[m][i] * base[k][i];
                for (size_t i = 0; i < rows; i++)
                    base[k][i] -= p * base[m][i];
            }
        double length = 0;
        for (size_t i = 0; i < rows; i++)
            length += base[k][i] * base[k][i];
        length = length > 0 ? sqrt(length) : 1;
        for (size_t i = 0; i < rows; i++)
            base[k][i] /= length;
    }
    size_t columns = log_columns(w, t->rest, column, room, a), good = 0;
    for (size_t c = 0; c <= columns; c++) {
        double *v = c < columns ? value + good * rows : goal, whole = 0, left = 0;
        if (c < columns) {
            if (c % 64 == 0 && search_job_over(j))
                return;
            if (!log_values(w, &column[c], rows, v, a))
                continue;
            weigh(v, weight, rows);
        }
        for (size_t i = 0; i < rows; i++)
            whole += v[i] * v[i];
        for (int pass = 0; pass < 2; pass++)
            for (size_t m = 0; m < n; m++) {
                double p = 0;
                for (size_t i = 0; i < rows; i++)
                    p += base[m][i] * v[i];
                for (size_t i = 0; i < rows; i++)
                    v[i] -= p * base[m][i];
            }
        for (size_t i = 0; i < rows; i++)
            left += v[i] * v[i];
        if (c == columns && !(left > 1e-24 * whole))
            columns = good = 0; /* a power law: nothing is left to explain */
        if (c < columns && left > 1e-16 * whole && isfinite(left)) {
            column[good] = column[c];
            bits[good] = log_column_bits(w, &column[c]);
            good++;
        }
    }
    sparse s;
    if (good > 0 && search_sparse_begin(&s, value, bits, good, goal, rows, j, a)) {
        size_t found = search_sparse_search(&s, model, EACH, 3, j);
        for (size_t k = 0; k < found && !search_job_over(j); k++)
            log_refine(j, w, t, column, &model[k], target, weight, wide, which, n, &list);
    }
    offer_best(j, w, &list);
}

/* ---- a sum ---- */

/* A term: a monomial, times a part or not. */
typedef struct term {
    int part; /* -1: none */
    monomial m;
} term;

static size_t sum_terms(const work *w, const task *t, term *out, size_t room, arena *a)
{
    const dictionary *d = &w->d;
    size_t n = 0, parts = 0;
    monomial *m = arena_array(a, room, sizeof *m);
    if (!m)
        return 0;
    out[n++] = (term){ .part = -1 }; /* 1 */
    if (t->deep) {
        size_t count = search_dictionary_monomials(d, t->rest, d->n, EXPONENTS_TWO, m, room - 1);
        for (size_t k = 0; k < count; k++)
            out[n++] = (term){ .part = -1, .m = m[k] };
        return n;
    }
    for (size_t k = 0; k < d->parts; k++)
        parts += d->part[k].use & PART_TERM && !(d->part[k].inputs & ~t->rest);
    size_t count = search_dictionary_monomials(d, t->rest, d->n, EXPONENTS_ANY, m,
                                               parts ? room * 3 / 5 : room - 1);
    for (size_t k = 0; k < count; k++)
        out[n++] = (term){ .part = -1, .m = m[k] };
    /* The first parts, which are the shortest, with monomials before them; the others alone. */
    size_t rich = parts ? (room - n) / (2 * TIMES) : 0;
    for (size_t k = 0, seen = 0; k < d->parts; k++) {
        const part *p = &d->part[k];
        if (!(p->use & PART_TERM) || p->inputs & ~t->rest)
            continue;
        size_t each = seen++ < rich ? TIMES : 1;
        for (size_t i = 0; i < each && i <= count && n < room; i++)
            out[n++] = (term){ .part = (int)k, .m = i ? m[i - 1] : (monomial){ { 0 }, 0 } };
    }
    return n;
}

static expr term_formula(const work *w, const term *t, arena *a)
{
    expr m = search_dictionary_product(&w->d, &t->m, a);
    return t->part < 0 ? m : search_dictionary_times_of(m, w->d.part[t->part].e, a);
}

/* M * (common * sum of c_k t_k)^(1/q), where `common` is what all terms share. */
static expr sum_formula(const work *w, const task *t, const term *terms, const sparse_model *model,
                        arena *a)
{
    const dictionary *d = &w->d;
    monomial common = terms[model->term[0]].m, outer = t->m;
    for (size_t k = 1; k < model->count; k++)
        for (size_t i = 0; i < d->n; i++) {
            int p = common.p[i], r = terms[model->term[k]].m.p[i];
            common.p[i] = (int8_t)(p > 0 && r > 0   ? (p < r ? p : r)
                                   : p < 0 && r < 0 ? (p > r ? p : r)
                                                    : 0);
        }
    for (size_t i = 0; i < d->n; i++) {
        double p = common.p[i] / t->q;
        if (p != round(p)) {
            common.p[i] = 0; /* a fourth root stays inside */
            p = 0;
        }
        outer.p[i] = (int8_t)(outer.p[i] + p);
    }
    expr sum = { NULL, 0 };
    for (size_t k = 0; k < model->count; k++) {
        term one = terms[model->term[k]];
        for (size_t i = 0; i < d->n; i++)
            one.m.p[i] = (int8_t)(one.m.p[i] - common.p[i]);
        expr f = search_dictionary_times_of(search_number(model->coef[k], a),
                                            term_formula(w, &one, a), a);
        sum = k ? search_binary(EXPR_ADD, sum, f, a) : f;
    }
    return search_dictionary_times_of(search_dictionary_product(d, &outer, a),
                                      search_power(sum, 1 / t->q, a), a);
}

static void one_sum(search_job *j, const work *w, const task *t)
{
    arena *a = j->tmp;
    size_t rows = w->few, room = w->v->depth ? SUM_COLUMNS / 2 : SUM_COLUMNS;
    if (w->noisy)
        room = t->deep ? NOISY_COLUMNS : room / 2;
    else if (t->deep) { /* twice the columns on half of the rows cost twice the time */
        rows = rows < DEEP_ROWS ? rows : DEEP_ROWS;
        room *= 2;
    }
    double *target = arena_array(a, rows, sizeof *target);
    double *weight = arena_array(a, rows, sizeof *weight);
    double *part_value = arena_array(a, rows, sizeof *part_value);
    double *bits = arena_array(a, room, sizeof *bits);
    term *terms = arena_array(a, room, sizeof *terms);
    double *value = arena_array(a, room * rows, sizeof *value);
    sparse_model *model = arena_array(a, SPARSE_TERMS_MAX * EACH, sizeof *model);
    shortlist list;
    if (!target || !weight || !bits || !terms || !value || !model || !part_value ||
        !make_list(&list, SPARSE_TERMS_MAX * EACH, a)) {
        j->no_memory = 1;
        return;
    }
    for (size_t i = 0; i < rows; i++)
        weight[i] = 1;
    search_dictionary_times(&w->d, &t->m, weight, rows);
    for (size_t i = 0; i < rows; i++) {
        double y = w->v->y[i] / weight[i];
        if (!isfinite(y))
            return;
        if (t->q != 1 && (y == 0 || (t->q != -1 && y < 0)))
            weight[i] = target[i] = 0; /* it says nothing */
        else {
            target[i] = pow(y, t->q);
            weight[i] = fabs(weight[i] * y / (t->q * target[i])); /* dy / dt */
            if (t->q == 1)
                weight[i] = fabs(w->v->y[i] / y);
        }
        if (t->q == 1 && y == 0) {
            target[i] = 0;
            weight[i] = 1;
        }
        target[i] *= weight[i];
    }
    size_t n = sum_terms(w, t, terms, room, a);
    int last = -1;
    for (size_t k = 0; k < n; k++) {
        double *v = value + k * rows;
        bits[k] = NODE_BITS *
                  (terms[k].m.cost + 4 + (terms[k].part >= 0 ? w->d.part[terms[k].part].cost : 0));
        if (k % 64 == 0 && search_job_over(j))
            return;
        if (terms[k].part >= 0 && terms[k].part != last) {
            last = terms[k].part;
            expr_eval(w->d.part[last].e, w->v->x, rows, part_value, a);
        }
        for (size_t i = 0; i < rows; i++)
            v[i] = terms[k].part >= 0 ? part_value[i] * weight[i] : weight[i];
        search_dictionary_times(&w->d, &terms[k].m, v, rows);
    }
    sparse s;
    if (n > 0 && search_sparse_begin(&s, value, bits, n, target, rows, j, a)) {
        size_t found = search_sparse_search(&s, model, EACH, SPARSE_TERMS_MAX, j);
        for (size_t k = 0; k < found && !search_job_over(j); k++)
            consider(j, w, &list, sum_formula(w, t, terms, &model[k], a));
    }
    offer_best(j, w, &list);
}

/* ---- a function of one product ---- */

/* y/M = k(u), u a product of powers times a constant; each has a constant c of its own. */
typedef enum curve {
    ROOT_1,  /* c + u */
    ROOT_M1, /* 1/(c + u) */
    ROOT_2,  /* sqrt(c + u) */
    ROOT_M2, /* 1/sqrt(c + u) */
    GROWTH,  /* exp(c + u) */
    EXPM1,   /* c*(exp(u) - 1) */
    BOSE,    /* c/(exp(u) - 1) */
    FERMI,   /* c/(exp(u) + 1) */
    LOG1P,   /* c*log(1 + u) */
    TANH,    /* c*tanh(u) */
    CURVES
} curve;

static double curve_power(curve k)
{
    static const double power[] = { 1, -1, 2, -2 };
    return power[k];
}

/* u for a value t, and how y/M grows with u. */
static double curve_inverse(curve k, double t, double c, double *slope)
{
    double u;
    switch (k) {
    case ROOT_1:
    case ROOT_M1:
    case ROOT_2:
    case ROOT_M2:
        u = pow(t, curve_power(k));
        *slope = t / (curve_power(k) * u);
        if (k == ROOT_1)
            *slope = 1;
        return u - c;
    case GROWTH:
        *slope = t;
        return log(t) - c;
    case EXPM1:
        *slope = c + t;
        return log1p(t / c);
    case BOSE:
        *slope = t * t / c + t;
        return log1p(c / t);
    case FERMI:
        *slope = t - t * t / c;
        return log(c / t - 1);
    case LOG1P:
        *slope = c * exp(-t / c);
        return expm1(t / c);
    default:
        *slope = c * (1 - t / c * (t / c));
        return atanh(t / c);
    }
}

static expr curve_formula(curve k, expr u, double c, arena *a)
{
    expr number = search_number(c, a), one = search_fixed(1, a);
    switch (k) {
    case ROOT_1:
    case ROOT_M1:
    case ROOT_2:
    case ROOT_M2:
        return search_power(search_binary(EXPR_ADD, number, u, a), 1 / curve_power(k), a);
    case GROWTH: /* the factor exp(c) is fitted as a factor */
        return search_binary(EXPR_MUL, search_number(exp(c), a), search_unary(EXPR_EXP, u, a), a);
    case EXPM1:
        return search_binary(EXPR_MUL, number,
                             search_binary(EXPR_SUB, search_unary(EXPR_EXP, u, a), one, a), a);
    case BOSE:
        return search_binary(EXPR_DIV, number,
                             search_binary(EXPR_SUB, search_unary(EXPR_EXP, u, a), one, a), a);
    case FERMI:
        return search_binary(EXPR_DIV, number,
                             search_binary(EXPR_ADD, search_unary(EXPR_EXP, u, a), one, a), a);
    case LOG1P:
        return search_binary(EXPR_MUL, number,
                             search_unary(EXPR_LOG, search_binary(EXPR_ADD, one, u, a), a), a);
    default:
        return search_binary(EXPR_MUL, number, search_unary(EXPR_TANH, u, a), a);
    }
}

static int curve_may(const search *s, curve k)
{
    return k <= ROOT_M1   ? 1
           : k <= ROOT_M2 ? search_may(s, EXPR_SQRT)
           : k <= FERMI   ? search_may(s, EXPR_EXP)
           : k == LOG1P   ? search_may(s, EXPR_LOG)
                          : search_may(s, EXPR_TANH);
}

/* The fit of one curve with its constant given: log|u| on the inputs' logarithms. */
typedef struct curve_fit {
    const work *w;
    const double *outer; /* M */
    double *const *log_x;
    size_t n; /* logarithms and 1 */
    arena *tmp;
    double coef[DICTIONARY_INPUTS + 1];
    int sign; /* of u */
} curve_fit;

/* The mean square that is left of y, or +infinity: u has to have one sign in all rows but a few
 * that noise may have taken across. */
static double fit_curve(curve_fit *f, curve k, double c, size_t rows)
{
    arena_pos mark = arena_mark(f->tmp);
    double *t = arena_array(f->tmp, rows, sizeof *t),
           *weight = arena_array(f->tmp, rows, sizeof *t);
    double *column[DICTIONARY_INPUTS + 1], rest = INFINITY;
    size_t side[2] = { 0, 0 };
    int good = t && weight;
    for (size_t i = 0; i < rows && good; i++) {
        double slope, u = curve_inverse(k, f->w->v->y[i] / f->outer[i], c, &slope);
        t[i] = u;
        weight[i] = isfinite(u) && isfinite(slope) ? fabs(slope * u * f->outer[i]) : 0;
        side[u > 0] += weight[i] > 0;
    }
    f->sign = side[1] >= side[0] ? 1 : -1;
    if (good && side[f->sign > 0] >= rows - rows / 20) {
        for (size_t i = 0; i < rows; i++) {
            if (!(t[i] * f->sign > 0))
                weight[i] = 0;
            t[i] = weight[i] > 0 ? log(fabs(t[i])) * weight[i] : 0;
        }
        for (size_t m = 0; m < f->n && good; m++) {
            column[m] = arena_copy(f->tmp, f->log_x[m], rows * sizeof *t);
            good = column[m] != NULL;
            if (good)
                weigh(column[m], weight, rows);
        }
        if (good)
            rest =
                search_sparse_solve(f->coef, (const double *const *)column, f->n, t, rows, f->tmp) *
                (double)rows / (double)side[f->sign > 0];
    }
    arena_reset(f->tmp, mark);
    return rest;
}

static int by_number(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Constants to try first. Returns how many. */
static size_t curve_starts(curve k, const double *t, size_t rows, double *out, arena *tmp)
{
    enum { STEPS = 12 };
    arena_pos mark = arena_mark(tmp);
    double *sorted = arena_array(tmp, rows, sizeof *sorted);
    size_t n = 0, cut = rows / 40;
    if (!sorted)
        return 0;
    for (size_t i = 0; i < rows; i++)
        sorted[i] = k <= ROOT_M2 ? pow(t[i], curve_power(k)) : k == GROWTH ? log(t[i]) : fabs(t[i]);
    qsort(sorted, rows, sizeof *sorted, by_number);
    double low = sorted[cut], high = sorted[rows - 1 - cut], span = high - low;
    out[n++] = 1;
    out[n++] = -1;
    if (k <= GROWTH)
        out[n++] = 0;
    for (int step = 0; step < STEPS && isfinite(span); step++) {
        double far = pow(10, -2 + step * 0.3);
        if (k <= GROWTH) { /* c has to be on one side of all values */
            out[n++] = low - span * far;
            out[n++] = high + span * far;
        } else if (k == TANH || k == FERMI) {
            out[n++] = high * (1 + far);
        } else {
            out[n++] = sorted[rows / 2] * far;
            out[n++] = -sorted[rows / 2] * far;
        }
    }
    arena_reset(tmp, mark);
    return n;
}

/* One curve: the best constant by a scan and a search around its best place. */
static void one_curve(search_job *j, const work *w, const task *t, curve_fit *f, curve k,
                      const size_t *which, shortlist *list)
{
    enum { STARTS_MAX = 64, REFINE = 24 };
    arena *a = j->tmp;
    double start[STARTS_MAX], best = INFINITY, c = 0,
                              *value = arena_array(a, w->few, sizeof *value);
    if (!value)
        return;
    for (size_t i = 0; i < w->few; i++)
        value[i] = w->v->y[i] / f->outer[i];
    size_t n = curve_starts(k, value, w->few, start, a);
    for (size_t i = 0; i < n; i++) {
        double rest = fit_curve(f, k, start[i], w->few);
        if (rest < best * (1 - 1e-9)) {
            best = rest;
            c = start[i];
        }
    }
    search_count(j, n + REFINE);
    if (!(best < INFINITY))
        return;
    double clean = c, step = 0.25 * (c != 0 ? fabs(c) : 1);
    for (int i = 0; i < REFINE; i++) {
        double up = fit_curve(f, k, c + step, w->few), down = fit_curve(f, k, c - step, w->few);
        if (fmin(up, down) < best) {
            c += up < down ? step : -step;
            best = fmin(up, down);
        } else {
            step /= 3;
        }
    }
    for (int pass = 0; pass < 2; pass++) {
        double at = pass ? c : clean;
        if ((pass && c == clean) || !(fit_curve(f, k, at, w->many) < INFINITY))
            continue;
        for (snapping to = TO_HALVES; to <= TO_NONE; to++) {
            monomial m;
            expr u;
            if (!powers_of(w, f->coef, which, f->n - 1, to, &m, &u, a))
                continue;
            u = search_dictionary_times_of(search_dictionary_product(&w->d, &m, a), u, a);
            u = search_dictionary_times_of(search_number(f->sign * exp(f->coef[f->n - 1]), a), u,
                                           a);
            consider(j, w, list,
                     search_dictionary_times_of(search_dictionary_product(&w->d, &t->m, a),
                                                curve_formula(k, u, at, a), a));
        }
    }
}

static void curves(search_job *j, const work *w, const task *t)
{
    arena *a = j->tmp;
    double *log_x[DICTIONARY_INPUTS + 1], *outer = arena_array(a, w->many, sizeof *outer);
    double *ones = arena_array(a, w->many, sizeof *ones);
    size_t which[DICTIONARY_INPUTS + 1];
    shortlist list;
    if (!outer || !ones || !make_list(&list, 6 * CURVES, a)) {
        j->no_memory = 1;
        return;
    }
    for (size_t i = 0; i < w->many; i++)
        outer[i] = ones[i] = 1;
    search_dictionary_times(&w->d, &t->m, outer, w->many);
    curve_fit f = { .w = w, .outer = outer, .log_x = log_x, .tmp = a };
    f.n = log_base(w, ones, w->many, log_x, which, a);
    if (!f.n) {
        j->no_memory = 1;
        return;
    }
    for (curve k = 0; k < CURVES && !search_job_over(j); k++)
        if (curve_may(w->s, k))
            one_curve(j, w, t, &f, k, which, &list);
    offer_best(j, w, &list);
}

/* ---- which inputs are powers and nothing else ---- */

/* Residual of log|y| by a quadratic model in the logarithms of the inputs in `mask`, with the
 * others as given powers. The exponents at the middle of the table go to p. */
static double quadratic(const work *w, unsigned mask, const double *given, double *p, arena *a)
{
    arena_pos mark = arena_mark(a);
    const dictionary *d = &w->d;
    size_t rows = w->many, n = 0, places[DICTIONARY_INPUTS], count = 0;
    const double *column[1 + 2 * DICTIONARY_INPUTS + DICTIONARY_INPUTS * DICTIONARY_INPUTS];
    double coef[sizeof column / sizeof *column], left = INFINITY;
    double *log_x[DICTIONARY_INPUTS], *t = arena_array(a, rows, sizeof *t);
    double *one = arena_array(a, rows, sizeof *one);
    int good = t && one;
    for (size_t i = 0; i < rows && good; i++) {
        t[i] = log(fmax(fabs(w->v->y[i]), 1e-290));
        one[i] = 1;
    }
    column[n++] = one;
    for (size_t k = 0; k < d->n && good; k++) {
        double *v = arena_array(a, rows, sizeof *v), mean = 0;
        const double *x = w->v->x[d->input[k]];
        if (!v) {
            good = 0;
            break;
        }
        for (size_t i = 0; i < rows; i++) {
            v[i] = d->sign[k] ? log(fabs(x[i])) : x[i];
            mean += v[i] / (double)rows;
        }
        if (!(mask >> k & 1)) {
            for (size_t i = 0; i < rows; i++)
                t[i] -= given[k] * v[i];
            continue;
        }
        for (size_t i = 0; i < rows; i++)
            v[i] -= mean;
        log_x[count] = v;
        places[count++] = k;
        column[n++] = v;
    }
    for (size_t k = 0; k < count && good; k++)
        for (size_t m = 0; m <= k; m++) {
            double *v = arena_array(a, rows, sizeof *v);
            if (!v) {
                good = 0;
                break;
            }
            for (size_t i = 0; i < rows; i++)
                v[i] = log_x[k][i] * log_x[m][i];
            column[n++] = v;
        }
    if (good && n < rows)
        left = search_sparse_solve(coef, column, n, t, rows, a);
    for (size_t k = 0; k < count && p && left < INFINITY; k++)
        p[places[k]] = coef[1 + k];
    arena_reset(a, mark);
    return left;
}

/* Inputs in the order in which they can be taken out as powers, with these; cost[k] is by which
 * factor the residual grows when the first k + 1 are out. Returns how many. */
static size_t take_out(const work *w, size_t *order, double *given, double *cost, arena *a)
{
    const dictionary *d = &w->d;
    unsigned mask = (1u << d->n) - 1;
    double p[DICTIONARY_INPUTS] = { 0 }, full = quadratic(w, mask, given, p, a);
    size_t n = 0;
    while (n < d->n && full < INFINITY) {
        double best = INFINITY, best_power = 0;
        size_t which = d->n;
        for (size_t k = 0; k < d->n; k++) {
            if (!(mask >> k & 1) || d->sign[k] == 0 || fabs(p[k]) > DICTIONARY_HALVES / 2.0)
                continue;
            given[k] = halves(p[k]);
            double rest = quadratic(w, mask & ~(1u << k), given, NULL, a);
            if (rest < best) {
                best = rest;
                best_power = given[k];
                which = k;
            }
        }
        if (which == d->n)
            break;
        mask &= ~(1u << which);
        given[which] = best_power;
        order[n] = which;
        cost[n++] = best / full;
        quadratic(w, mask, given, p, a);
    }
    return n;
}

/* ---- the stage ---- */

enum { TASKS_MAX = 48 };

static size_t plan(const work *w, task *out, arena *a)
{
    static const double powers[] = { 1, -1, 2, -2 };
    const dictionary *d = &w->d;
    size_t n = 0, order[DICTIONARY_INPUTS] = { 0 }, out_of[3], sets = 0;
    double given[DICTIONARY_INPUTS] = { 0 }, cost[DICTIONARY_INPUTS];
    unsigned all = (1u << d->n) - 1;
    out[n++] = (task){ .h = AS_IS, .rest = all };
    size_t taken = take_out(w, order, given, cost, a), clear = 0;
    while (clear < taken && cost[clear] < 1.5)
        clear++;
    /* What the model says, one more, and none. */
    out_of[sets++] = clear;
    if (clear < taken)
        out_of[sets++] = clear + 1;
    if (clear > 0)
        out_of[sets++] = 0;
    for (size_t k = 0; k < sets; k++) {
        task t = { .kind = SUM, .rest = all };
        assert(out_of[k] <= taken);
        for (size_t i = 0; i < out_of[k]; i++) {
            t.m.p[order[i]] = (int8_t)(2 * given[order[i]]);
            t.rest &= ~(1u << order[i]);
        }
        if (!t.rest)
            continue;
        task curve = { .kind = CURVE, .m = t.m, .rest = t.rest };
        out[n++] = curve;
        if (t.rest != all)
            out[n++] = (task){ .kind = PRODUCT, .rest = t.rest };
        for (size_t q = 0; q < sizeof powers / sizeof *powers; q++) {
            t.q = powers[q];
            t.deep = 0;
            out[n++] = t;
            t.deep = 1;
            if (d->n - out_of[k] >= DEEP_INPUTS && k < 2)
                out[n++] = t;
        }
    }
    if (search_may(w->s, EXPR_ARCSIN))
        out[n++] = (task){ .h = SINE, .rest = all };
    if (search_may(w->s, EXPR_ARCCOS))
        out[n++] = (task){ .h = COSINE, .rest = all };
    assert(n <= TASKS_MAX);
    return n;
}

static void run(search_job *j, void *context)
{
    const work *w = context;
    const task *t = &w->task[j->index];
    if (t->kind == SUM)
        one_sum(j, w, t);
    else if (t->kind == CURVE)
        curves(j, w, t);
    else
        one_product(j, w, t);
}

/* The rows where y stands out of what the best formula so far leaves: the others' logarithms are
 * noise. Returns 0 when memory is out; out->rows is 0 if that are nearly all rows, or too few. */
static int strong_rows(search_view *out, const search *s, const search_view *v, arena *a)
{
    double mean = 0, variance = 0;
    size_t rows = v->rows, n = 0;
    *out = *v;
    for (size_t i = 0; i < rows; i++)
        mean += v->y[i] / (double)rows;
    for (size_t i = 0; i < rows; i++)
        variance += (v->y[i] - mean) * (v->y[i] - mean) / (double)rows;
    double least = STRONG * sqrt(variance * search_best_loss(s, s->max_size));
    size_t *row = arena_array(a, rows, sizeof *row);
    double **x = arena_array(a, v->dim, sizeof *x), *y = arena_array(a, rows, sizeof *y);
    if (!row || !x || !y)
        return 0;
    for (size_t i = 0; i < rows; i++)
        if (fabs(v->y[i]) > least) {
            row[n] = i;
            y[n++] = v->y[i];
        }
    out->rows = n >= STRONG_ROWS_MIN && 50 * n < 49 * rows ? n : 0;
    for (size_t k = 0; k < v->dim && out->rows; k++) {
        x[k] = arena_array(a, n, sizeof *x[k]);
        if (!x[k])
            return 0;
        for (size_t i = 0; i < n; i++)
            x[k][i] = v->x[k][row[i]];
    }
    out->x = (const double *const *)x;
    out->y = y;
    return 1;
}

/* ---- shorter neighbours ---- */

/* The formulas that are worth a look: the best by description length so far. */
static size_t best_kept(const search *s, const search_entry **out, size_t room)
{
    size_t count, n = 0;
    const search_entry *kept = search_kept(s, &count);
    for (size_t k = 0; k < count; k++) {
        size_t p = n < room ? n++ : room;
        for (; p > 0 && out[p - 1]->bits > kept[k].bits; p--)
            if (p < room)
                out[p] = out[p - 1];
        if (p < room)
            out[p] = &kept[k];
    }
    return n;
}

typedef struct pruning {
    const search_entry *of[PRUNED];
    search_view own; /* the user's inputs as they are */
} pruning;

/* Offers a formula with one thing less: a term of a sum, a factor, or an exponent that is nearly a
 * half or nothing. */
static void prune(search_job *j, void *context)
{
    const pruning *p = context;
    expr e = p->of[j->index]->e;
    arena *a = j->tmp;
    for (size_t i = 0; i < e.count && !search_job_over(j); i++) {
        int op = e.node[i].op;
        arena_pos mark = arena_mark(a);
        if (op == EXPR_ADD || op == EXPR_SUB || op == EXPR_MUL || op == EXPR_DIV) {
            for (int slot = 0; slot < 2; slot++) {
                expr one = expr_sub(e, expr_child(e, i, slot));
                if (op == EXPR_DIV && slot == 1)
                    one = search_unary(EXPR_INV, one, a);
                if (one.node)
                    search_offer_hard(j, &p->own, expr_splice(e, i, one, a), 1);
            }
        } else if (op == EXPR_POW) {
            const expr_node *n = &e.node[expr_child(e, i, 1)];
            expr base = expr_sub(e, expr_child(e, i, 0));
            double half = halves(n->value);
            if (n->op != EXPR_NUMBER || n->fixed || fabs(n->value - half) > 0.25)
                continue;
            expr one = half == 0 ? search_fixed(1, a) : search_power(base, half, a);
            if (one.node)
                search_offer_hard(j, &p->own, expr_splice(e, i, one, a), 1);
        }
        arena_reset(a, mark);
    }
}

static snip_code prune_best(search *s, snip_status *st)
{
    snip_code code = SNIP_OK;
    for (int turn = 0; turn < 2 && code == SNIP_OK && !search_over(s); turn++) {
        pruning p = { .own = { .dim = s->dim,
                               .rows = s->rows[0],
                               .x = (const double *const *)s->x,
                               .y = s->y } };
        size_t n = best_kept(s, p.of, PRUNED);
        code = search_round(s, n, UINT64_MAX, prune, &p, st);
    }
    return code;
}

/* All tasks on the rows of one view, or those alone that bend y, or plain sums on more rows. */
typedef enum which { ALL, BENT, SUMS } which;

/* Whether a task is one of a second pass. Sums are tried for the likeliest M alone: they come
 * first. */
static int belongs(const task *t, which part, int more_sums)
{
    if (t->kind == SUM)
        return more_sums && (t->q == 1) == (part == SUMS);
    return part == BENT && t->h == AS_IS;
}

static snip_code pass(search *s, const search_view *v, const search_view *whole, which part,
                      snip_status *st)
{
    work w = { .s = s, .v = v, .whole = whole };
    w.few = part == SUMS ? ROWS_NOISY : part == BENT ? 2 * ROWS_FEW : ROWS_FEW;
    w.few = v->rows < w.few ? v->rows : w.few;
    w.noisy = part == SUMS;
    w.many = v->rows < SEARCH_MANY ? v->rows : SEARCH_MANY;
    task *t = arena_array(s->a, TASKS_MAX, sizeof *t);
    if (!t || !search_dictionary_make(&w.d, s, v, w.many, v->depth ? 1000 : 2000, s->a))
        return status_nomem(st);
    snip_code code = SNIP_OK;
    size_t tasks = w.d.n ? plan(&w, t, s->a) : 0, n = 0, sums = 0;
    for (size_t k = 0; k < tasks; k++)
        if (part == ALL || belongs(&t[k], part, sums < NOISY_SUMS)) {
            sums += t[k].kind == SUM;
            t[n++] = t[k];
        }
    for (size_t k = 0; k < n && code == SNIP_OK && !search_over(s); k += PER_ROUND) {
        w.task = t + k;
        w.tasks = n - k < PER_ROUND ? n - k : PER_ROUND;
        code = search_round(s, w.tasks, UINT64_MAX, run, &w, st);
    }
    return code;
}

snip_code search_products(search *s, const search_view *v, snip_status *st)
{
    arena_pos mark = arena_mark(s->a);
    snip_code code = pass(s, v, v, ALL, st);
    if (code == SNIP_OK && !search_over(s) && v->depth == 0) {
        search_view strong;
        if (!strong_rows(&strong, s, v, s->a))
            code = status_nomem(st);
        else if (strong.rows > 0)
            code = pass(s, &strong, v, BENT, st);
    }
    if (code == SNIP_OK && !search_over(s) && v->depth == 0 && v->rows > ROWS_FEW)
        code = pass(s, v, v, SUMS, st);
    if (code == SNIP_OK && !search_over(s) && v->depth == 0)
        code = prune_best(s, st);
    arena_reset(s->a, mark);
    return code;
}
