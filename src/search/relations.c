/* relations.c - polynomial relations between inputs and target.
 *
 * y = (a*b + c*d)/(a*c + b*d) and y = (b + sqrt(b^2 + 4*c))/2 are long as formulas and short as
 * relations: y*(a*c + b*d) - a*b - c*d = 0 and y^2 - b*y - c = 0. A relation of low degree is found
 * by linear algebra: take the monomials in inputs and target, the simplest first, as columns over
 * the rows; the first one with y that depends linearly on those before it is the relation, and the
 * coefficients are its own. Each column is orthogonalised against those before it (twice, so that
 * what is left of it is right to rounding); it depends on them if nothing is left.
 *
 * An input may take part by its sine and cosine, its exponential or its logarithm, and the target
 * by its transforms (target.h). A relation is solved for y where its degree in y is 1 or 2.
 *
 * Rounding is all the noise that this bears: data with errors have no relations, and the stage
 * costs a little time there. */
#include <math.h>
#include <string.h>

#include "expr/vec.h"
#include "search/build.h"
#include "search/solve.h"
#include "search/sparse.h"
#include "search/target.h"

enum {
    INPUTS_MAX = 9,
    VARIABLES_MAX = 2 * INPUTS_MAX + 1, /* waves are two; and y */
    ROWS_MAX = 700,
    ROWS_SPARE = 30,     /* rows more than columns: a relation of chance would have to hold there */
    COLUMNS_FIRST = 400, /* for inputs and target as they are */
    COLUMNS_OTHER = 140,
    COLUMNS_DERIVED = 150, /* of a smaller problem */
    DEGREE_MAX = 6,
    TERMS_MAX = 14, /* of a relation: longer ones are nobody's law */
    SETS_MAX = 128,
    PER_ROUND = 4
};

#define DEPENDENT     1e-10 /* what is left of a column that depends on others, of its length */
#define SAME          1e-6 /* coefficients that differ by less are the same: columns are much alike */
#define SHARE_ROOT    0.08 /* of the budget */
#define SHARE_DERIVED 0.03
#define WAVE_MAX      20.0 /* an input that is larger is no angle */
#define GROWTH_MAX    10.0 /* nor an exponent */

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* How an input takes part. */
typedef enum part { PLAIN, WAVES, COSINE, ROOT, GROWTH, LOGARITHM, PARTS } part;

typedef struct set {
    uint8_t part[INPUTS_MAX];
    size_t target;
    size_t columns;
} set;

typedef struct work {
    search *s;
    const search_view *v;
    target aim[TARGETS_MAX];
    size_t aims;
    const set *set;
} work;

/* A monomial in the variables of a set; the last one is the target. */
typedef struct power {
    uint8_t p[VARIABLES_MAX];
} power;

typedef struct term {
    double c;
    power m;
} term;

typedef struct polynomial {
    term at[TERMS_MAX * TERMS_MAX * 2];
    size_t count;
} polynomial;

/* The variables of a set, by value and as formulas. */
typedef struct variables {
    size_t count; /* y included, which is the last */
    size_t rows;
    const double *value[VARIABLES_MAX];
    expr e[VARIABLES_MAX];
} variables;

/* ---- variables ---- */

static int add_function(variables *u, expr_op op, const double *x, size_t place, arena *a)
{
    double *to = arena_array(a, u->rows, sizeof *to);
    u->e[u->count] = search_unary(op, search_variable(place, a), a);
    if (!to || !u->e[u->count].node)
        return 0;
    for (size_t i = 0; i < u->rows; i++)
        to[i] = x[i];
    expr_vec_best()->unary[op](to, to, u->rows);
    u->value[u->count++] = to;
    return 1;
}

/* The function of an input, by how it takes part; waves have the sine beside it. */
static const expr_op function[PARTS] = { [WAVES] = EXPR_COS,
                                         [COSINE] = EXPR_COS,
                                         [ROOT] = EXPR_SQRT,
                                         [GROWTH] = EXPR_EXP,
                                         [LOGARITHM] = EXPR_LOG };

static int make_variables(variables *u, const work *w, const set *s, arena *a)
{
    const search_view *v = w->v;
    int good = 1;
    *u = (variables){ .rows = v->rows < ROWS_MAX ? v->rows : ROWS_MAX };
    for (size_t k = 0; k < v->dim && good; k++) {
        if (s->part[k] == PLAIN) {
            u->e[u->count] = search_variable(k, a);
            u->value[u->count++] = v->x[k];
            continue;
        }
        if (s->part[k] == WAVES)
            good = add_function(u, EXPR_SIN, v->x[k], k, a);
        good = good && add_function(u, function[s->part[k]], v->x[k], k, a);
    }
    u->value[u->count++] = w->aim[s->target].view.y;
    return good;
}

static void value_of(double *out, const variables *u, const power *m)
{
    for (size_t i = 0; i < u->rows; i++)
        out[i] = 1;
    for (size_t k = 0; k < u->count; k++)
        for (int p = 0; p < m->p[k]; p++)
            for (size_t i = 0; i < u->rows; i++)
                out[i] *= u->value[k][i];
}

/* ---- polynomials as formulas ---- */

static expr monomial(const variables *u, const power *m, arena *a)
{
    expr e = { NULL, 0 };
    for (size_t k = 0; k + 1 < u->count; k++)
        if (m->p[k]) {
            expr f = search_power(u->e[k], m->p[k], a);
            e = e.count ? search_binary(EXPR_MUL, e, f, a) : f;
        }
    return e;
}

/* c times e, which is empty for 1. */
static expr times(double c, expr e, arena *a)
{
    if (!e.count)
        return search_number(c, a);
    if (c == 1)
        return e;
    return search_binary(EXPR_MUL, search_number(c, a), e, a);
}

/* What all terms share; it is taken out of them. */
static power common_power(polynomial *p)
{
    power m = { { 0 } };
    for (size_t k = 0; k < VARIABLES_MAX && p->count; k++) {
        m.p[k] = UINT8_MAX;
        for (size_t i = 0; i < p->count; i++)
            m.p[k] = p->at[i].m.p[k] < m.p[k] ? p->at[i].m.p[k] : m.p[k];
        for (size_t i = 0; i < p->count; i++)
            p->at[i].m.p[k] = (uint8_t)(p->at[i].m.p[k] - m.p[k]);
    }
    return m;
}

/* A sum, nested: the variable that most terms have is taken out of them, and so on. */
static expr nested(const variables *u, const polynomial *p, arena *a)
{
    size_t best = 0, most = 0;
    for (size_t k = 0; k + 1 < u->count; k++) {
        size_t n = 0;
        for (size_t i = 0; i < p->count; i++)
            n += p->at[i].m.p[k] > 0;
        if (n > most) {
            most = n;
            best = k;
        }
    }
    if (p->count == 1)
        return times(p->at[0].c, monomial(u, &p->at[0].m, a), a);
    if (most < 2) {
        size_t first = 0; /* a positive term begins, so that no minus has to */
        while (first + 1 < p->count && p->at[first].c < 0)
            first++;
        const term *t = &p->at[first];
        expr e = times(t->c, monomial(u, &t->m, a), a);
        for (size_t i = 0; i < p->count; i++) {
            t = &p->at[i];
            if (i != first)
                e = search_binary(t->c < 0 ? EXPR_SUB : EXPR_ADD, e,
                                  times(fabs(t->c), monomial(u, &t->m, a), a), a);
        }
        return e;
    }
    polynomial *part = arena_zero(a, 2 * sizeof *part);
    if (!part)
        return (expr){ NULL, 0 };
    for (size_t i = 0; i < p->count; i++) {
        polynomial *to = &part[p->at[i].m.p[best] > 0];
        to->at[to->count++] = p->at[i];
    }
    power m = common_power(&part[1]);
    expr inner = nested(u, &part[1], a), e = search_binary(EXPR_MUL, monomial(u, &m, a), inner, a);
    return part[0].count ? search_binary(EXPR_ADD, nested(u, &part[0], a), e, a) : e;
}

/* out += c * p * q, like terms together. */
static void add_product(polynomial *out, double c, const polynomial *p, const polynomial *q)
{
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < q->count; k++) {
            term t = { .c = c * p->at[i].c * q->at[k].c };
            for (size_t n = 0; n < VARIABLES_MAX; n++)
                t.m.p[n] = (uint8_t)(p->at[i].m.p[n] + q->at[k].m.p[n]);
            size_t at = 0;
            while (at < out->count && memcmp(&out->at[at].m, &t.m, sizeof t.m) != 0)
                at++;
            if (at == out->count)
                out->at[out->count++] = (term){ .m = t.m };
            out->at[at].c += t.c;
        }
}

static const polynomial unit = { .count = 1, .at[0].c = 1 };

static void drop_zeros(polynomial *p)
{
    double most = 0;
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        most = fmax(most, fabs(p->at[i].c));
    for (size_t i = 0; i < p->count; i++)
        if (fabs(p->at[i].c) > 1e-9 * most)
            p->at[n++] = p->at[i];
    p->count = n;
}

/* A monomial of the highest degree, ties by the first variables: of a product it is the product of
 * those of the factors. */
static const term *leading(const polynomial *p)
{
    const term *best = &p->at[0];
    for (size_t i = 1; i < p->count; i++)
        if (memcmp(&p->at[i].m, &best->m, sizeof best->m) > 0)
            best = &p->at[i];
    return best;
}

/* q with p = q*d, if there is one. */
static int divide(polynomial *q, const polynomial *p, const polynomial *d)
{
    polynomial rest = *p, one = { .count = 1 };
    const term *by = leading(d);
    for (q->count = 0; rest.count > 0; drop_zeros(&rest)) {
        const term *of = leading(&rest);
        term *t = &one.at[0];
        t->c = of->c / by->c;
        for (size_t k = 0; k < VARIABLES_MAX; k++) {
            if (of->m.p[k] < by->m.p[k])
                return 0;
            t->m.p[k] = (uint8_t)(of->m.p[k] - by->m.p[k]);
        }
        if (q->count == TERMS_MAX || rest.count + d->count > COUNT(rest.at))
            return 0;
        q->at[q->count++] = *t;
        double most = fabs(of->c);
        add_product(&rest, -1, &one, d);
        for (size_t i = 0; i < rest.count; i++) /* what cancels is rounding */
            if (fabs(rest.at[i].c) < SAME * most)
                rest.at[i].c = 0;
    }
    return 1;
}

/* q with p = q*q, if there is one: term by term, as by hand. */
static int square_root(polynomial *q, const polynomial *p)
{
    polynomial rest = *p, sum = { .count = 0 };
    double most = leading(p)->c;
    for (size_t i = 0; i < p->count; i++)
        most = fmax(most, fabs(p->at[i].c));
    for (q->count = 0; rest.count > 0; drop_zeros(&rest)) {
        const term *of = leading(&rest), *by = q->count ? &q->at[0] : NULL;
        term t = { .c = by ? of->c / (2 * by->c) : sqrt(of->c) };
        for (size_t k = 0; k < VARIABLES_MAX; k++) {
            int odd = by ? of->m.p[k] < by->m.p[k] : of->m.p[k] % 2;
            if (odd)
                return 0;
            t.m.p[k] = (uint8_t)(by ? of->m.p[k] - by->m.p[k] : of->m.p[k] / 2);
        }
        if (!isfinite(t.c) || q->count == TERMS_MAX)
            return 0;
        q->at[q->count++] = t;
        sum.count = 0;
        add_product(&sum, 1, q, q);
        rest = *p;
        add_product(&rest, -1, &sum, &unit);
        for (size_t i = 0; i < rest.count; i++)
            if (fabs(rest.at[i].c) < SAME * most)
                rest.at[i].c = 0;
    }
    return 1;
}

/* Takes squares of positive variables out of m, for a root: their roots go to `out`. */
static void take_squares(const variables *u, power *m, power *out)
{
    *out = (power){ { 0 } };
    for (size_t k = 0; k + 1 < u->count; k++) {
        int positive = 1;
        for (size_t i = 0; i < u->rows; i++)
            positive &= u->value[k][i] > 0;
        if (!positive)
            continue;
        out->p[k] = m->p[k] / 2;
        m->p[k] = (uint8_t)(m->p[k] - 2 * out->p[k]);
    }
}

/* top/bottom where either may be empty, for 1. */
static expr over_of(expr top, expr bottom, arena *a)
{
    if (!bottom.count)
        return top;
    return top.count ? search_binary(EXPR_DIV, top, bottom, a) : search_unary(EXPR_INV, bottom, a);
}

/* A sum as a factor, shorter where it is a square; under a root the root goes to *out. */
static expr factor(const variables *u, const polynomial *p, int root, expr *out, arena *a)
{
    polynomial *q = arena_alloc(a, sizeof *q);
    *out = (expr){ NULL, 0 };
    if (p->count == 1 && p->at[0].c == 1)
        return *out;
    if (!q || p->count < 3 || !square_root(q, p))
        return nested(u, p, a);
    expr e = nested(u, q, a);
    if (!root)
        return search_power(e, 2, a);
    *out = e;
    return (expr){ NULL, 0 };
}

static expr times_of(expr e, expr f, arena *a)
{
    if (!e.count || !f.count)
        return e.count ? e : f;
    return search_binary(EXPR_MUL, e, f, a);
}

/* Whether all coefficients are whole numbers. */
static int is_whole(const polynomial *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->at[i].c != round(p->at[i].c))
            return 0;
    return 1;
}

/* 1 or -1 if a polynomial has that sign in all rows, else 0. */
static int sign_of(const variables *u, const polynomial *p)
{
    int positive = 1, negative = 1;
    for (size_t r = 0; r < u->rows && (positive || negative); r++) {
        double sum = 0;
        for (size_t i = 0; i < p->count; i++) {
            double t = p->at[i].c;
            for (size_t k = 0; k < u->count; k++)
                for (int n = 0; n < p->at[i].m.p[k]; n++)
                    t *= u->value[k][r];
            sum += t;
        }
        positive &= sum > 0;
        negative &= sum < 0;
    }
    return positive - negative;
}

static void multiply(polynomial *p, double c)
{
    for (size_t i = 0; i < p->count; i++)
        p->at[i].c *= c;
}

/* over/under, both divided by what they share; or the root of it. Both are spoilt. */
static expr quotient(const variables *u, polynomial *over, polynomial *under, double sign, int root,
                     arena *a)
{
    power m = common_power(over), n = common_power(under), outer = { { 0 } }, below = outer;
    for (size_t k = 0; k < VARIABLES_MAX; k++) {
        uint8_t both = m.p[k] < n.p[k] ? m.p[k] : n.p[k];
        m.p[k] = (uint8_t)(m.p[k] - both);
        n.p[k] = (uint8_t)(n.p[k] - both);
    }
    if (root) {
        take_squares(u, &m, &outer);
        take_squares(u, &n, &below);
    }
    double c = fabs(under->at[0].c); /* 1, but for whole numbers; positive if it can be */
    if (under->count > 1 && is_whole(over) && is_whole(under))
        c = 1;
    int side = sign_of(u, under);
    c *= side ? side : under->at[0].c < 0 ? -1 : 1;
    multiply(under, 1 / c);
    multiply(over, sign / c);
    expr out, out_below, e = factor(u, over, root, &out, a);
    expr top = times_of(monomial(u, &m, a), e, a);
    e = factor(u, under, root, &out_below, a);
    expr bottom = times_of(monomial(u, &n, a), e, a);
    if (!root) {
        e = over_of(top, bottom, a);
        return e.count ? e : search_number(1, a);
    }
    if (bottom.count && side && sign_of(u, over) > 0) { /* each has a root of its own */
        out_below = times_of(out_below, search_unary(EXPR_SQRT, bottom, a), a);
        bottom.count = 0;
    }
    e = over_of(top, bottom, a);
    out = times_of(monomial(u, &outer, a), out, a);
    if (e.count)
        out = times_of(out, search_unary(EXPR_SQRT, e, a), a);
    out = over_of(out, times_of(monomial(u, &below, a), out_below, a), a);
    return out.count ? out : search_number(1, a);
}

/* Offers the solutions of A*y^2 + B*y + C = 0, all of them with terms:
 *     y = -B/(2A) -+ sqrt(D)/(2A),  D = B^2 - 4AC,
 * where A is divided out as far as it goes. */
static void offer_roots(search_job *j, const search_view *v, const variables *u, polynomial *of)
{
    arena *a = j->tmp;
    polynomial *work = arena_zero(a, 4 * sizeof *work), *disc = &work[0], *first = &work[1];
    polynomial one = unit;
    if (!work) {
        j->no_memory = 1;
        return;
    }
    add_product(disc, 1, &of[1], &of[1]);
    add_product(disc, -4, &of[2], &of[0]);
    drop_zeros(disc);
    if (!disc->count)
        return;
    polynomial *inner = &work[2], *under = &work[3];
    *under = of[2];
    expr b =
        divide(first, &of[1], &of[2]) ? nested(u, first, a) : quotient(u, &of[1], under, 1, 0, a);
    expr root;
    *under = of[2];
    if (!divide(inner, disc, &of[2])) {
        expr e = quotient(u, disc, &one, 1, 1, a);
        root = over_of(e, nested(u, &of[2], a), a);
    } else if (divide(disc, inner, &of[2])) {
        root = quotient(u, disc, &one, 1, 1, a);
    } else {
        root = quotient(u, inner, under, 1, 1, a);
    }
    for (int sign = 0; sign < 2; sign++) {
        expr e = search_binary(sign ? EXPR_ADD : EXPR_SUB, b, root, a);
        if (e.node) /* the factor -1/2 is fitted */
            search_offer_hard(j, v, e, 1);
    }
}

/* Solves a relation for y and offers what comes out. */
static void offer_solutions(search_job *j, const work *w, const set *s, const variables *u,
                            const term *relation, size_t count)
{
    arena *a = j->tmp;
    polynomial *of = arena_zero(a, 3 * sizeof *of); /* by the power of y */
    const search_view *v = &w->aim[s->target].view;
    if (!of) {
        j->no_memory = 1;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        term t = relation[i];
        polynomial *to = &of[t.m.p[u->count - 1]];
        t.m.p[u->count - 1] = 0;
        to->at[to->count++] = t;
    }
    expr e = { NULL, 0 };
    if (!of[0].count || (of[2].count && !search_may(w->s, EXPR_SQRT)))
        return;
    if (of[2].count && of[1].count)
        offer_roots(j, v, u, of);
    else if (of[2].count) /* a root's sign is fitted as a factor */
        e = quotient(u, &of[0], &of[2], -1, 1, a);
    else
        e = quotient(u, &of[0], &of[1], -1, 0, a);
    if (e.node)
        search_offer_hard(j, v, e, 1);
}

/* ---- finding ---- */

/* The columns so far, orthogonal and of length 1, and how the given ones are made of them. */
typedef struct basis {
    size_t rows, count, room;
    double *q; /* count columns */
    double *r; /* r[k*room + i]: column k as given, by q_i, i <= k */
    power *m;  /* of the columns as given */
} basis;

static double length_of(const double *v, size_t rows)
{
    return sqrt(search_dot(v, v, rows));
}

/* A number that is nearly simple as that. */
static double simple(double c)
{
    for (int q = 1; q <= 6; q++)
        if (fabs(c * q - round(c * q)) < 1e-6 * fabs(c * q) && fabs(c * q) < 1000)
            return round(c * q) / q;
    return c;
}

/* Multiplies a relation by what makes all its coefficients whole numbers, if one of them does. */
static void make_whole(term *t, size_t n)
{
    for (size_t by = 0; by < n; by++) {
        size_t whole = 0;
        for (size_t k = 0; k < n; k++) {
            double c = t[k].c / t[by].c;
            whole += fabs(c - round(c)) < 1e-6 * fabs(c);
        }
        if (whole < n)
            continue;
        double unit_of = t[by].c;
        for (size_t k = 0; k < n; k++)
            t[k].c = round(t[k].c / unit_of);
        return;
    }
}

/* v, the column of m, is a sum of columns of the basis with coordinates h: the relation, with few
 * terms. Returns how many, 0 if they are many or do not hold by themselves. */
static size_t few_terms(term *out, const basis *b, const variables *u, const power *m, double *h,
                        arena *a)
{
    const double *column[TERMS_MAX];
    size_t place[TERMS_MAX], n = 0;
    double coef[TERMS_MAX], *value = arena_array(a, u->rows, sizeof *value);
    if (!value)
        return 0;
    value_of(value, u, m);
    double whole = length_of(value, u->rows);
    for (size_t k = b->count; k-- > 0;) { /* h = R c */
        const double *r = b->r + k * b->room;
        double c = h[k] / r[k];
        for (size_t i = 0; i < k; i++)
            h[i] -= c * r[i];
        if (fabs(c) * length_of(r, k + 1) < 1e-7 * whole)
            continue;
        if (n + 1 == TERMS_MAX)
            return 0;
        double *own = arena_array(a, u->rows, sizeof *own);
        if (!own)
            return 0;
        value_of(own, u, &b->m[k]);
        column[n] = own;
        place[n++] = k;
    }
    double rest = search_sparse_solve(coef, column, n, value, u->rows, a);
    if (n == 0 || !(sqrt(rest * (double)u->rows) < 1e3 * DEPENDENT * whole))
        return 0;
    out[0] = (term){ .c = -1, .m = *m };
    for (size_t k = 0; k < n; k++)
        out[k + 1] = (term){ .c = simple(coef[k]), .m = b->m[place[k]] };
    make_whole(out, n + 1);
    return n + 1;
}

/* Takes the next monomial in. Returns 1 when it is found to depend on the others. */
static int take(search_job *j, basis *b, const variables *u, const power *m, double *h)
{
    double *v = b->q + b->count * b->rows;
    value_of(v, u, m);
    double whole = length_of(v, u->rows);
    if (!(whole > 0) || !isfinite(whole))
        return 0;
    memset(h, 0, b->count * sizeof *h);
    search_project(v, h, 1, b->q, b->count, b->rows);
    search_count(j, 1 + b->count / 16);
    double left = length_of(v, u->rows);
    if (left < DEPENDENT * whole)
        return 1;
    for (size_t i = 0; i < u->rows; i++)
        v[i] /= left;
    h[b->count] = left;
    memcpy(b->r + b->count * b->room, h, (b->count + 1) * sizeof *h);
    b->m[b->count++] = *m;
    return 0;
}

/* Whether a relation tells y: inputs may have one of their own, as sine and cosine do, and y times
 * that is one, too. */
static int tells_target(const variables *u, const term *relation, size_t n)
{
    int with = 0, without = 0;
    for (size_t k = 0; k < n; k++)
        if (relation[k].m.p[u->count - 1] > 0)
            with = 1;
        else
            without = 1;
    return with && without;
}

/* The next monomial of the same degree in the first n variables; 0 after the last one. */
static int next_power(power *m, size_t n)
{
    size_t k = 0;
    while (k < n && m->p[k] == 0)
        k++;
    if (k + 1 >= n)
        return 0;
    uint8_t p = m->p[k];
    m->p[k] = 0;
    m->p[0] = (uint8_t)(p - 1);
    m->p[k + 1]++;
    return 1;
}

static void relate(search_job *j, const work *w, const set *s)
{
    arena *a = j->tmp;
    variables u;
    if (!make_variables(&u, w, s, a)) {
        j->no_memory = 1;
        return;
    }
    size_t room = s->columns + ROWS_SPARE < u.rows ? s->columns : u.rows - ROWS_SPARE;
    basis b = { .rows = u.rows, .room = room };
    b.q = arena_array(a, room * u.rows, sizeof *b.q);
    b.r = arena_array(a, room * room, sizeof *b.r);
    b.m = arena_array(a, room, sizeof *b.m);
    double *h = arena_array(a, room, sizeof *h);
    if (!b.q || !b.r || !b.m || !h) {
        j->no_memory = 1;
        return;
    }
    term relation[TERMS_MAX];
    for (int degree = 0; degree <= DEGREE_MAX; degree++)
        for (int of_y = 0; of_y <= 2 && of_y <= degree; of_y++) {
            power m = { { 0 } };
            m.p[u.count - 1] = (uint8_t)of_y;
            m.p[0] = (uint8_t)(degree - of_y);
            do {
                if (b.count == room || search_job_over(j))
                    return;
                if (!take(j, &b, &u, &m, h))
                    continue;
                size_t n = few_terms(relation, &b, &u, &m, h, a);
                if (tells_target(&u, relation, n)) {
                    offer_solutions(j, w, s, &u, relation, n);
                    return;
                }
            } while (next_power(&m, u.count - 1));
        }
}

static void run(search_job *j, void *context)
{
    const work *w = context;
    relate(j, w, &w->set[j->index]);
}

/* ---- the stage ---- */

/* Whether an input may take part in this way. */
static int may_part(const work *w, size_t k, part p)
{
    double low = INFINITY, high = -INFINITY;
    if (!search_may(w->s, function[p]) || (p == WAVES && !search_may(w->s, EXPR_SIN)))
        return 0;
    for (size_t i = 0; i < w->v->rows; i++) {
        low = fmin(low, w->v->x[k][i]);
        high = fmax(high, w->v->x[k][i]);
    }
    if (p == LOGARITHM || p == ROOT)
        return low > 0;
    return fmax(fabs(low), fabs(high)) < (p == GROWTH ? GROWTH_MAX : WAVE_MAX);
}

/* What is tried with which transform of the target: everything as it is; one input that is not; two
 * cosines. */
static const struct {
    target_kind kind;
    int one, two;
} tries[] = {
    { TARGET_SAME, 1, 1 }, { TARGET_LOG, 1, 0 }, { TARGET_ROOT, 0, 1 },
    { TARGET_EXP, 0, 0 },  { TARGET_COS, 0, 0 }, { TARGET_SIN, 0, 0 },
};

/* The place of a transform among those that the table allows, or TARGETS_MAX. */
static size_t aim_at(const work *w, target_kind kind)
{
    for (size_t i = 0; i < w->aims; i++)
        if (w->aim[i].which == (size_t)kind)
            return i;
    return TARGETS_MAX;
}

static size_t plan(const work *w, set *out)
{
    size_t n = 0, dim = w->v->dim, aim[COUNT(tries)];
    for (size_t k = 0; k < COUNT(tries); k++) {
        aim[k] = aim_at(w, tries[k].kind);
        if (aim[k] < TARGETS_MAX)
            out[n++] = (set){ .target = aim[k],
                              .columns = w->v->depth ? COLUMNS_DERIVED
                                         : k         ? COLUMNS_OTHER
                                                     : COLUMNS_FIRST };
    }
    for (size_t k = 0; k < COUNT(tries); k++) {
        set next = { .target = aim[k], .columns = COLUMNS_OTHER };
        for (part p = WAVES; p < PARTS && tries[k].one && aim[k] < TARGETS_MAX; p++)
            for (size_t i = 0; i < dim && n < SETS_MAX; i++)
                if (may_part(w, i, p)) {
                    out[n] = next;
                    out[n++].part[i] = p;
                }
        for (size_t i = 0; i < dim && tries[k].two && aim[k] < TARGETS_MAX; i++)
            for (size_t l = 0; l < i && n < SETS_MAX; l++)
                if (may_part(w, i, COSINE) && may_part(w, l, COSINE)) {
                    out[n] = next;
                    out[n].part[i] = out[n].part[l] = COSINE;
                    n++;
                }
    }
    return n;
}

snip_code search_relations(search *s, const search_view *v, snip_status *st)
{
    if (v->dim > INPUTS_MAX || v->rows < 2 * ROWS_SPARE)
        return SNIP_OK;
    arena *a = arena_new(0);
    work *w = a ? arena_zero(a, sizeof *w) : NULL;
    set *sets = a ? arena_array(a, SETS_MAX, sizeof *sets) : NULL;
    snip_code code = SNIP_OK;
    if (w)
        *w = (work){ .s = s, .v = v };
    if (!w || !sets || !search_targets_make(w->aim, &w->aims, s, v, a))
        code = status_nomem(st);
    size_t n = code == SNIP_OK && w->aims ? plan(w, sets) : 0;
    double until = search_spent(s) + (v->depth ? SHARE_DERIVED : SHARE_ROOT);
    for (size_t k = 0; k < n && code == SNIP_OK && !search_over(s) && search_spent(s) < until;
         k += PER_ROUND) {
        w->set = sets + k;
        code = search_round(s, n - k < PER_ROUND ? n - k : PER_ROUND, UINT64_MAX, run, w, st);
    }
    arena_free(a);
    return code;
}
