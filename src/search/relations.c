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

#include "search/build.h"
#include "search/sparse.h"
#include "search/target.h"

enum {
    INPUTS_MAX = 9,
    VARIABLES_MAX = 2 * INPUTS_MAX + 1, /* waves are two; and y */
    ROWS_MAX = 700,
    ROWS_SPARE = 30, /* rows more than columns: a relation of chance would have to hold there */
    COLUMNS_FIRST = 400, /* for inputs and target as they are */
    COLUMNS_OTHER = 140,
    COLUMNS_DERIVED = 150, /* of a smaller problem */
    DEGREE_MAX = 6,
    TERMS_MAX = 14, /* of a relation: longer ones are nobody's law */
    SETS_MAX = 128,
    PER_ROUND = 4
};

#define DEPENDENT     1e-10 /* what is left of a column that depends on others, of its length */
#define SHARE_ROOT    0.12  /* of the budget */
#define SHARE_DERIVED 0.02
#define WAVE_MAX      20.0 /* an input that is larger is no angle */
#define GROWTH_MAX    10.0 /* nor an exponent */

/* How an input takes part. */
typedef enum part { PLAIN, WAVES, COSINE, GROWTH, LOGARITHM, PARTS } part;

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
        to[i] = op == EXPR_SIN ? sin(x[i]) : op == EXPR_COS ? cos(x[i])
                             : op == EXPR_EXP ? exp(x[i])
                                              : log(x[i]);
    u->value[u->count++] = to;
    return 1;
}

static int make_variables(variables *u, const work *w, const set *s, arena *a)
{
    const search_view *v = w->v;
    int good = 1;
    *u = (variables){ .rows = v->rows < ROWS_MAX ? v->rows : ROWS_MAX };
    for (size_t k = 0; k < v->dim && good; k++) {
        if (s->part[k] == WAVES)
            good = add_function(u, EXPR_SIN, v->x[k], k, a);
        if (s->part[k] == WAVES || s->part[k] == COSINE) {
            good = good && add_function(u, EXPR_COS, v->x[k], k, a);
        } else if (s->part[k] != PLAIN) {
            good = add_function(u, s->part[k] == GROWTH ? EXPR_EXP : EXPR_LOG, v->x[k], k, a);
        } else {
            u->e[u->count] = search_variable(k, a);
            u->value[u->count++] = v->x[k];
        }
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
            while (at < out->count && memcmp(&out->at[at].m, &t.m, sizeof t.m))
                at++;
            if (at == out->count)
                out->at[out->count++] = (term){ .m = t.m };
            out->at[at].c += t.c;
        }
}

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

/* over/under, both divided by what they share. */
static expr quotient(const variables *u, polynomial *over, polynomial *under, double sign, arena *a)
{
    power m = common_power(over), n = common_power(under);
    for (size_t k = 0; k < VARIABLES_MAX; k++) {
        uint8_t both = m.p[k] < n.p[k] ? m.p[k] : n.p[k];
        m.p[k] = (uint8_t)(m.p[k] - both);
        n.p[k] = (uint8_t)(n.p[k] - both);
    }
    double c = under->at[0].c;
    for (size_t i = 0; i < under->count; i++)
        under->at[i].c /= c;
    for (size_t i = 0; i < over->count; i++)
        over->at[i].c *= sign / c;
    expr top = monomial(u, &m, a), bottom = monomial(u, &n, a);
    if (over->count > 1 || over->at[0].c != 1 || !top.count) {
        expr e = nested(u, over, a);
        top = top.count ? search_binary(EXPR_MUL, top, e, a) : e;
    }
    if (under->count > 1) {
        expr e = nested(u, under, a);
        bottom = bottom.count ? search_binary(EXPR_MUL, bottom, e, a) : e;
    }
    return bottom.count ? search_binary(EXPR_DIV, top, bottom, a) : top;
}

/* Solves A*y^2 + B*y + C = 0 for y and offers what comes out. */
static void offer_solutions(search_job *j, const work *w, const set *s, const variables *u,
                            const term *relation, size_t count)
{
    arena *a = j->tmp;
    polynomial *of = arena_zero(a, 4 * sizeof *of), *disc = &of[3];
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
    if (!of[2].count && of[1].count && of[0].count) {
        search_offer_hard(j, v, quotient(u, &of[0], &of[1], -1, a), 1);
    } else if (of[2].count && !of[1].count && of[0].count && search_may(w->s, EXPR_SQRT)) {
        expr e = search_unary(EXPR_SQRT, quotient(u, &of[0], &of[2], -1, a), a);
        if (e.node)
            search_offer_hard(j, v, e, 1); /* the sign is fitted as a factor */
    } else if (of[2].count && of[1].count && search_may(w->s, EXPR_SQRT)) {
        add_product(disc, 1, &of[1], &of[1]);
        add_product(disc, -4, &of[2], &of[0]);
        drop_zeros(disc);
        if (!disc->count)
            return;
        expr root = search_unary(EXPR_SQRT, nested(u, disc, a), a), b = nested(u, &of[1], a);
        expr under = nested(u, &of[2], a);
        for (int sign = 0; sign < 2; sign++) {
            expr top = search_binary(sign ? EXPR_ADD : EXPR_SUB, b, root, a);
            if (top.node && under.node)
                search_offer_hard(j, v, search_binary(EXPR_DIV, top, under, a), 1);
        }
    }
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
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

/* Takes what the basis explains out of v; its coordinates go to h. */
static void project(const basis *b, double *v, double *h)
{
    memset(h, 0, b->count * sizeof *h);
    for (int turn = 0; turn < 2; turn++)
        for (size_t k = 0; k < b->count; k++) {
            const double *q = b->q + k * b->rows;
            double sum[4] = { 0, 0, 0, 0 };
            size_t i = 0;
            for (; i + 4 <= b->rows; i += 4)
                for (size_t n = 0; n < 4; n++)
                    sum[n] += q[i + n] * v[i + n];
            for (; i < b->rows; i++)
                sum[0] += q[i] * v[i];
            double p = sum[0] + sum[1] + (sum[2] + sum[3]);
            h[k] += p;
            for (i = 0; i < b->rows; i++)
                v[i] -= p * q[i];
        }
}

/* A number that is nearly simple as that. */
static double simple(double c)
{
    for (int q = 1; q <= 6; q++)
        if (fabs(c * q - round(c * q)) < 1e-6 * fabs(c * q) && fabs(c * q) < 1000)
            return round(c * q) / q;
    return c;
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
    return n + 1;
}

/* Takes the next monomial in. Returns 1 when it is found to depend on the others, y being in it. */
static int take(search_job *j, basis *b, const variables *u, const power *m, double *h)
{
    double *v = b->q + b->count * b->rows;
    value_of(v, u, m);
    double whole = length_of(v, u->rows);
    if (!(whole > 0) || !isfinite(whole))
        return 0;
    project(b, v, h);
    search_count(j, 1 + b->count / 16);
    double left = length_of(v, u->rows);
    if (left < DEPENDENT * whole)
        return m->p[u->count - 1] > 0;
    for (size_t i = 0; i < u->rows; i++)
        v[i] /= left;
    h[b->count] = left;
    memcpy(b->r + b->count * b->room, h, (b->count + 1) * sizeof *h);
    b->m[b->count++] = *m;
    return 0;
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
                if (n)
                    offer_solutions(j, w, s, &u, relation, n);
                return;
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
    static const expr_op op[PARTS] = { [WAVES] = EXPR_SIN, [COSINE] = EXPR_COS,
                                       [GROWTH] = EXPR_EXP, [LOGARITHM] = EXPR_LOG };
    double low = INFINITY, high = -INFINITY;
    if (p == PLAIN || !search_may(w->s, op[p]) || (p == WAVES && !search_may(w->s, EXPR_COS)))
        return p == PLAIN;
    for (size_t i = 0; i < w->v->rows; i++) {
        low = fmin(low, w->v->x[k][i]);
        high = fmax(high, w->v->x[k][i]);
    }
    if (p == LOGARITHM)
        return low > 0;
    return fmax(fabs(low), fabs(high)) < (p == GROWTH ? GROWTH_MAX : WAVE_MAX);
}

/* Everything as it is under each target; then one input that is not; then two cosines. */
static size_t plan(const work *w, set *out)
{
    static const target_kind kinds[] = { TARGET_SAME, TARGET_LOG, TARGET_EXP, TARGET_COS,
                                         TARGET_SIN };
    size_t n = 0, dim = w->v->dim, aim[TARGETS_MAX], aims = 0;
    int first = w->v->depth == 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < w->aims; i++)
            if (w->aim[i].which == kinds[k] && (first || k < 2))
                aim[aims++] = i;
    for (size_t k = 0; k < aims; k++)
        out[n++] = (set){ .target = aim[k],
                          .columns = !first ? COLUMNS_DERIVED : k ? COLUMNS_OTHER : COLUMNS_FIRST };
    for (size_t k = 0; k < aims && k < 2; k++)
        for (part p = WAVES; p < PARTS; p++)
            for (size_t i = 0; i < dim && n < SETS_MAX; i++)
                if (may_part(w, i, p)) {
                    out[n] = (set){ .target = aim[k], .columns = COLUMNS_OTHER };
                    out[n++].part[i] = p;
                }
    for (size_t i = 0; i < dim; i++)
        for (size_t k = 0; k < i && n < SETS_MAX; k++)
            if (may_part(w, i, COSINE) && may_part(w, k, COSINE)) {
                out[n] = (set){ .target = aim[0], .columns = COLUMNS_OTHER };
                out[n].part[i] = out[n].part[k] = COSINE;
                n++;
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
