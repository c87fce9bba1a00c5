/* products_log.c - y as one product: log|y| is a sum of logarithms.
 *
 *     log|y| = c + sum p_j log|x_j| + sum q_k log|f_k| + sum a_m * m
 *
 * Exponents p, q and a are unknowns of least squares; up to three factors f and exponents m come
 * out of thousands by sparse regression. */
#include "search/products_int.h"

#include <math.h>
#include <string.h>

#include "expr/vec.h"
#include "search/build.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Target and weights on the first `rows` rows. A row whose logarithm says nothing has weight 0.
 * Returns 0 if the function is none of y. */
static int log_target(const products_work *w, products_inverse h, size_t rows, double *t,
                      double *weight)
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

static int log_values(const products_work *w, const log_column *c, size_t rows, double *out,
                      arena *tmp)
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

/* A product: constant, monomial, other powers, columns to the powers q. */
typedef struct log_product {
    double constant;
    monomial m;
    expr loose;
    const log_column *const *c;
    const double *q;
    size_t count;
} log_product;

/* A product as a formula: monomial, parts to powers in halves, exponentials. `spread` writes
 * 1 - r as (den - num)/den. */
static expr log_formula(const products_work *w, const log_product *p, products_inverse h,
                        int spread, arena *a)
{
    const log_column *const *c = p->c;
    const double *q = p->q;
    monomial m = p->m;
    expr e = p->loose;
    for (size_t k = 0; k < p->count; k++) {
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
    if (p->constant != 1)
        e = search_dictionary_times_of(search_number(p->constant, a), e, a);
    return search_unary(h == SINE ? EXPR_ARCSIN : EXPR_ARCCOS, e, a);
}

/* A task under way. */
typedef struct log_work {
    search_job *j;
    const products_work *w;
    const products_task *t;
    log_column *column;
    double *target, *weight; /* on many rows; the target is weighted */
    double *base[DICTIONARY_INPUTS + 1], *wide[DICTIONARY_INPUTS + 1]; /* on few and on many rows */
    size_t which[DICTIONARY_INPUTS + 1], n; /* the inputs in them, and how many, 1 included */
    products_list list;
} log_work;

/* Lists the formulas of exponents p of the inputs, beside the columns of `of`. */
static void log_list(log_work *l, const double *p, log_product of)
{
    static const products_snapping to[] = { TO_HALVES, TO_HALVES, TO_NONE, TO_WHOLE };
    arena *a = l->j->a;
    for (size_t form = 0; form < COUNT(to); form++) {
        if (!search_products_powers(l->w, p, l->which, l->n - 1, to[form], &of.m, &of.loose, a))
            continue;
        of.constant = exp(p[l->n - 1]);
        search_shortlist_consider(l->j, l->w, &l->list,
                                  log_formula(l->w, &of, l->t->h, form == 1, a));
        if (l->t->h == AS_IS)
            continue;
        of.constant = 1; /* one that is 1 but for noise may leave the domain */
        search_shortlist_consider(l->j, l->w, &l->list,
                                  log_formula(l->w, &of, l->t->h, form == 1, a));
    }
}

/* Solves for the exponents of one set of columns on many rows, the parts' first, and lists what
 * comes out. */
static void log_refine(log_work *l, const sparse_model *model)
{
    const products_work *w = l->w;
    arena *a = l->j->tmp;
    size_t n = l->n;
    arena_pos mark = arena_mark(a);
    size_t rows = w->many, extra = model->count;
    const double *v[DICTIONARY_INPUTS + 1 + SPARSE_TERMS_MAX];
    double coef[DICTIONARY_INPUTS + 1 + SPARSE_TERMS_MAX], q[SPARSE_TERMS_MAX];
    const log_column *c[SPARSE_TERMS_MAX];
    double *goal = arena_copy(a, l->target, rows * sizeof *goal);
    if (!goal)
        return;
    memcpy(v, l->wide, n * sizeof *v);
    for (size_t k = 0; k < extra; k++) {
        double *own = arena_array(a, rows, sizeof *own);
        c[k] = &l->column[model->term[k]];
        if (!own || !log_values(w, c[k], rows, own, a)) {
            arena_reset(a, mark);
            return;
        }
        search_products_weigh(own, l->weight, rows);
        v[n + k] = own;
    }
    static const double usual[] = { 0.5, -0.5, 1, -1, 2, -2 };
    double fitted[SPARSE_TERMS_MAX], rest = search_sparse_solve(coef, v, n + extra, goal, rows, a);
    memcpy(fitted, coef + n, extra * sizeof *fitted);
    /* Noise may leave the exponent of a single factor open: then all that are usual are tried. */
    size_t tries = extra == 1 && c[0]->kind != EXPONENT ? 1 + COUNT(usual) : 1;
    for (size_t k = 0; k < tries && rest < INFINITY; k++) {
        memcpy(goal, l->target, rows * sizeof *goal);
        for (size_t m = 0; m < extra; m++) {
            q[m] = c[m]->kind == EXPONENT ? fitted[m] : search_products_halves(fitted[m]);
            q[m] = k > 0 ? usual[k - 1] : q[m];
            for (size_t i = 0; i < rows; i++)
                goal[i] -= q[m] * v[n + m][i];
        }
        if (k > 0 && (q[0] == search_products_halves(fitted[0]) || fabs(q[0] - fitted[0]) > 1.5))
            continue;
        if (search_sparse_solve(coef, v, n, goal, rows, a) < INFINITY)
            log_list(l, coef, (log_product){ .c = c, .q = q, .count = extra });
    }
    arena_reset(a, mark);
}

static double log_column_bits(const products_work *w, const log_column *c)
{
    double nodes = c->kind == LOG_PART ? w->d.part[c->part].cost : c->m.cost + 2;
    if (c->kind == EXPONENT) /* exp(number * ...) */
        nodes += 3 + (c->part >= 0 ? w->d.part[c->part].cost : 0);
    return NODE_BITS * nodes;
}

/* The columns of a task: parts, functions of monomials, exponents. 1 + 1/m is (1 + m)/m, so one of
 * each two will do. */
static size_t log_columns(const products_work *w, unsigned mask, log_column *out, size_t room,
                          arena *a)
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

/* Takes what the first n base columns explain out of v. */
static void take_base(double *v, double *const *base, size_t n, size_t rows)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t m = 0; m < n; m++) {
            double p = 0;
            for (size_t i = 0; i < rows; i++)
                p += base[m][i] * v[i];
            for (size_t i = 0; i < rows; i++)
                v[i] -= p * base[m][i];
        }
}

static double square(const double *v, size_t rows)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += v[i] * v[i];
    return sum;
}

/* Fills the columns' values on few rows, without what powers of the inputs explain, one after the
 * other; columns that these explain are dropped. Returns how many are left, 0 as well where the
 * job is over. */
static size_t log_residuals(log_work *l, double *value, double *bits, size_t columns)
{
    size_t rows = l->w->few, good = 0;
    for (size_t c = 0; c < columns; c++) {
        double *v = value + good * rows;
        if (c % 64 == 0 && search_job_over(l->j))
            return 0;
        if (!log_values(l->w, &l->column[c], rows, v, l->j->tmp))
            continue;
        search_products_weigh(v, l->weight, rows);
        double whole = square(v, rows);
        take_base(v, l->base, l->n, rows);
        double left = square(v, rows);
        if (left > 1e-16 * whole && isfinite(left)) {
            l->column[good] = l->column[c];
            bits[good++] = log_column_bits(l->w, &l->column[c]);
        }
    }
    return good;
}

void search_products_product(search_job *j, const products_work *w, const products_task *t)
{
    arena *a = j->tmp;
    size_t rows = w->few, room = search_products_columns(w, w->v->depth ? 1024 : 2048, rows);
    log_work l = { .j = j, .w = w, .t = t };
    l.target = arena_array(a, w->many, sizeof *l.target);
    l.weight = arena_array(a, w->many, sizeof *l.weight);
    l.column = arena_array(a, room, sizeof *l.column);
    double *goal = arena_array(a, rows, sizeof *goal);
    double *value = arena_array(a, room * rows, sizeof *value);
    double *bits = arena_array(a, room, sizeof *bits);
    sparse_model *model = arena_array(a, 3 * EACH, sizeof *model);
    if (!l.target || !l.weight || !l.column || !goal || !value || !bits || !model ||
        !search_shortlist_make(&l.list, 80 * EACH, a)) {
        j->no_memory = 1;
        return;
    }
    if (!log_target(w, t->h, w->many, l.target, l.weight))
        return;
    for (size_t i = 0; i < w->many; i++)
        l.target[i] *= l.weight[i];
    l.n = search_products_logs(w, l.weight, rows, l.base, l.which, a);
    if (!l.n || !search_products_logs(w, l.weight, w->many, l.wide, l.which, a)) {
        j->no_memory = 1;
        return;
    }
    log_refine(&l, &(sparse_model){ .count = 0 }); /* the power law alone */
    memcpy(goal, l.target, rows * sizeof *goal);
    for (size_t k = 0; k < l.n; k++) { /* what the base explains is gone from everything */
        take_base(l.base[k], l.base, k, rows);
        double length = sqrt(square(l.base[k], rows));
        for (size_t i = 0; i < rows && length > 0; i++)
            l.base[k][i] /= length;
    }
    double whole = square(goal, rows);
    take_base(goal, l.base, l.n, rows);
    size_t good = 0;
    if (square(goal, rows) > 1e-24 * whole) /* else a power law: nothing is left to explain */
        good = log_residuals(&l, value, bits, log_columns(w, t->rest, l.column, room, a));
    sparse s;
    if (good > 0 && search_sparse_begin(&s, value, bits, good, goal, rows, j, a)) {
        size_t found = search_sparse_search(&s, model, EACH, 3, j);
        for (size_t k = 0; k < found && !search_job_over(j); k++)
            log_refine(&l, &model[k]);
    }
    search_shortlist_offer(j, w, &l.list);
}
