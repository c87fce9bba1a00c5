/* dictionary.c - see dictionary.h. */
#include "search/dictionary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/vec.h"
#include "search/build.h"

/* What an exponent of h halves costs: a factor is two nodes, a square one more, roots are rare. */
static const uint8_t exponent_cost[DICTIONARY_HALVES + 1] = { 0, 5, 2, 8, 3, 12, 5, 14, 6 };

enum { COST_MAX = 40, BINS = 8 };

/* ---- inputs ---- */

/* How much of y, and of the size of its deviation, the mean over bins of x explains. */
static double importance(const double *x, const double *y, size_t rows)
{
    double low = x[0], high = x[0], mean = 0, share = 0, dev = 0;
    for (size_t i = 0; i < rows; i++) {
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
        mean += y[i];
    }
    mean /= (double)rows;
    for (size_t i = 0; i < rows; i++)
        dev += fabs(y[i] - mean);
    dev /= (double)rows;
    if (!(high > low))
        return -1;
    for (int of = 0; of < 2; of++) {
        double sum[BINS] = { 0 }, n[BINS] = { 0 }, total = 0, own = 0;
        for (size_t i = 0; i < rows; i++) {
            size_t bin = (size_t)((x[i] - low) / (high - low) * BINS * 0.999999);
            double v = of ? fabs(y[i] - mean) - dev : y[i] - mean;
            sum[bin] += v;
            n[bin]++;
            total += v * v;
        }
        for (size_t k = 0; k < BINS; k++)
            own += n[k] > 0 ? sum[k] * sum[k] / n[k] : 0;
        share = fmax(share, total > 0 ? own / total : 0);
    }
    return share;
}

static void choose_inputs(dictionary *d)
{
    const search_view *v = d->v;
    size_t rows = v->rows < SEARCH_MANY ? v->rows : SEARCH_MANY;
    double score[SEARCH_INPUTS_MAX];
    size_t dim = v->dim < SEARCH_INPUTS_MAX ? v->dim : SEARCH_INPUTS_MAX;
    for (size_t k = 0; k < dim; k++)
        score[k] = importance(v->x[k], v->y, rows);
    for (d->n = 0; d->n < DICTIONARY_INPUTS; d->n++) {
        size_t best = 0;
        for (size_t k = 1; k < dim; k++)
            if (score[k] > score[best])
                best = k;
        if (dim == 0 || score[best] < 0)
            break;
        d->input[d->n] = (uint16_t)best;
        score[best] = -1;
    }
    /* In the order of the table, so that nothing else depends on the scores. */
    for (size_t i = 1; i < d->n; i++)
        for (size_t k = i; k > 0 && d->input[k] < d->input[k - 1]; k--) {
            uint16_t other = d->input[k];
            d->input[k] = d->input[k - 1];
            d->input[k - 1] = other;
        }
}

static int tabulate(dictionary *d, arena *a)
{
    size_t rows = d->rows, wide = 2 * DICTIONARY_HALVES + 1;
    for (size_t k = 0; k < d->n; k++) {
        const double *x = d->v->x[d->input[k]];
        double *to = d->power[k] = arena_array(a, wide * rows, sizeof *to);
        if (!to)
            return 0;
        int positive = 1, negative = 1;
        for (size_t i = 0; i < d->v->rows; i++) {
            positive &= x[i] > 0;
            negative &= x[i] < 0;
        }
        d->sign[k] = positive - negative;
        double *one = to + DICTIONARY_HALVES * rows;
        for (size_t i = 0; i < rows; i++) {
            one[i] = 1;
            one[rows + i] = sqrt(x[i]);
            one[2 * rows + i] = x[i];
        }
        for (size_t h = 3; h <= DICTIONARY_HALVES; h++)
            for (size_t i = 0; i < rows; i++)
                one[h * rows + i] = one[(h - 2) * rows + i] * x[i];
        for (size_t h = 1; h <= DICTIONARY_HALVES; h++)
            for (size_t i = 0; i < rows; i++)
                to[(DICTIONARY_HALVES - h) * rows + i] = 1 / one[h * rows + i];
    }
    return 1;
}

/* ---- monomials ---- */

typedef struct walk {
    const dictionary *d;
    unsigned mask;
    exponents which;
    size_t room, count;
    monomial *out;
} walk;

static int allowed(exponents which, int h)
{
    switch (which) {
    case EXPONENTS_WHOLE:
        return h % 2 == 0;
    case EXPONENTS_TWO:
        return h == 2 || h == 4;
    case EXPONENTS_ONE:
        return h == 2;
    default:
        return 1;
    }
}

/* All monomials of exactly `cost`; exponents of the inputs from k on are open. */
static void spell(walk *w, monomial *m, size_t k, size_t inputs, int cost)
{
    if (cost == 0) {
        if (w->count < w->room)
            w->out[w->count++] = *m;
        return;
    }
    if (k == w->d->n || inputs == 0 || w->count == w->room)
        return;
    if (w->mask >> k & 1)
        for (int h = 1; h <= DICTIONARY_HALVES; h++) {
            if (exponent_cost[h] > cost || !allowed(w->which, h) || (h % 2 && w->d->sign[k] <= 0))
                continue;
            for (int sign = 1; sign >= -1; sign -= 2) {
                m->p[k] = (int8_t)(sign * h);
                spell(w, m, k + 1, inputs - 1, cost - exponent_cost[h]);
            }
        }
    m->p[k] = 0;
    spell(w, m, k + 1, inputs, cost);
}

size_t search_dictionary_monomials(const dictionary *d, unsigned mask, size_t inputs,
                                   exponents which, monomial *out, size_t room)
{
    walk w = { .d = d, .mask = mask, .which = which, .room = room, .out = out };
    for (int cost = 2; cost <= COST_MAX && w.count < room; cost++) {
        monomial m = { .cost = (uint8_t)cost };
        spell(&w, &m, 0, inputs, cost);
    }
    return w.count;
}

void search_dictionary_times(const dictionary *d, const monomial *m, double *value, size_t rows)
{
    for (size_t k = 0; k < d->n; k++) {
        if (m->p[k] == 0)
            continue;
        const double *f = d->power[k] + (size_t)(DICTIONARY_HALVES + m->p[k]) * d->rows;
        for (size_t i = 0; i < rows; i++)
            value[i] *= f[i];
    }
}

expr search_dictionary_times_of(expr u, expr w, arena *a)
{
    if (!u.count || !w.count)
        return u.count ? u : w;
    return search_binary(EXPR_MUL, u, w, a);
}

expr search_dictionary_product(const dictionary *d, const monomial *m, arena *a)
{
    expr over = { NULL, 0 }, under = { NULL, 0 };
    for (size_t k = 0; k < d->n; k++) {
        if (m->p[k] == 0)
            continue;
        expr f = search_power(search_variable(d->input[k], a), abs(m->p[k]) / 2.0, a);
        if (m->p[k] > 0)
            over = search_dictionary_times_of(over, f, a);
        else
            under = search_dictionary_times_of(under, f, a);
    }
    if (!under.count)
        return over;
    if (!over.count)
        return search_unary(EXPR_INV, under, a);
    return search_binary(EXPR_DIV, over, under, a);
}

/* ---- parts ---- */

typedef struct maker {
    dictionary *d;
    const search *s;
    size_t room;
    arena *a;
    double *value;
    int no_memory;
} maker;

static unsigned inputs_of(const dictionary *d, expr e)
{
    unsigned mask = 0;
    for (size_t i = 0; i < e.count; i++)
        for (size_t k = 0; k < d->n && e.node[i].op == EXPR_VARIABLE; k++)
            if (d->input[k] == e.node[i].var)
                mask |= 1u << k;
    return mask;
}

/* Adds a part if it is finite on the rows, and not constant; else NULL. */
static part *add(maker *m, expr e, unsigned use)
{
    dictionary *d = m->d;
    if (d->parts == m->room)
        return NULL;
    if (!e.node) {
        m->no_memory = 1;
        return NULL;
    }
    size_t rows = d->rows < SEARCH_SOME ? d->rows : SEARCH_SOME;
    if (expr_eval(e, d->v->x, rows, m->value, m->a) != rows)
        return NULL;
    double low = m->value[0], high = low;
    for (size_t i = 1; i < rows; i++) {
        low = fmin(low, m->value[i]);
        high = fmax(high, m->value[i]);
    }
    if (!(high - low > 1e-9 * fmax(fabs(low), fabs(high))))
        return NULL;
    part *p = &d->part[d->parts++];
    *p = (part){ .e = e,
                 .inputs = inputs_of(d, e),
                 .use = (uint8_t)use,
                 .cost = (uint8_t)(e.count < 200 ? e.count : 200) };
    return p;
}

static expr one_and(expr e, int sign, arena *a)
{
    return search_binary(sign > 0 ? EXPR_ADD : EXPR_SUB, search_fixed(1, a), e, a);
}

/* Functions of an argument as terms; of a difference as factors as well. For a monomial the waves
 * with other periods are: the stage has those of period 1 itself. */
static void functions(maker *m, expr u, int difference, int rich)
{
    const search *s = m->s;
    arena *a = m->a;
    unsigned use = difference ? PART_FACTOR | PART_TERM : PART_TERM;
    static const double inner[] = { 1, 0.5, 2 };
    for (size_t k = 0; k < (rich ? 3 : 1); k++) {
        expr c = k == 0 ? u : search_binary(EXPR_MUL, search_number(inner[k], a), u, a);
        unsigned wave = k == 0 ? use : PART_FACTOR | PART_TERM;
        if (search_may(s, EXPR_SIN))
            add(m, search_unary(EXPR_SIN, c, a), wave);
        if (search_may(s, EXPR_COS))
            add(m, search_unary(EXPR_COS, c, a), wave);
    }
    if (search_may(s, EXPR_EXP)) {
        add(m, search_unary(EXPR_EXP, u, a), PART_TERM);
        add(m, search_unary(EXPR_EXP, search_unary(EXPR_NEG, u, a), a), PART_TERM);
    }
    if (search_may(s, EXPR_TANH))
        add(m, search_unary(EXPR_TANH, u, a), use);
    if (search_may(s, EXPR_LOG))
        add(m, search_unary(EXPR_LOG, u, a), use);
}

/* 1 + f*cos(u), 1 - f*sin(u). */
static void waves(maker *m, expr f, expr u)
{
    static const expr_op wave[] = { EXPR_COS, EXPR_SIN };
    for (size_t k = 0; k < 2 && search_may(m->s, wave[k]); k++) {
        expr e = search_dictionary_times_of(f, search_unary(wave[k], u, m->a), m->a);
        for (int sign = 1; sign >= -1; sign -= 2)
            add(m, one_and(e, sign, m->a), PART_FACTOR);
    }
}

static void make_parts(maker *m)
{
    dictionary *d = m->d;
    arena *a = m->a;
    unsigned all = (1u << d->n) - 1;
    size_t room = m->room;
    monomial *mono = arena_array(a, room, sizeof *mono);
    if (!mono) {
        m->no_memory = 1;
        return;
    }
    /* Inputs that change their sign are no part of logarithmic sums: they are factors here. */
    for (size_t k = 0; k < d->n; k++)
        if (d->sign[k] == 0)
            add(m, search_variable(d->input[k], a), PART_FACTOR);
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; k < d->n; k++) {
            if (k == i)
                continue;
            expr u = search_variable(d->input[i], a), w = search_variable(d->input[k], a);
            if (k > i && (d->sign[i] == 0 || d->sign[k] == 0)) { /* no multiple of 1 - r */
                add(m, search_binary(EXPR_SUB, u, w, a), PART_FACTOR);
                add(m, search_binary(EXPR_ADD, u, w, a), PART_FACTOR);
            }
            if (k > i) { /* as factors these are 1 - r; as terms they save two */
                add(m, search_binary(EXPR_SUB, u, w, a), PART_TERM);
                add(m, search_unary(EXPR_POW2, search_binary(EXPR_SUB, u, w, a), a), PART_TERM);
                add(m, search_unary(EXPR_POW2, search_binary(EXPR_ADD, u, w, a), a), PART_TERM);
                functions(m, search_binary(EXPR_SUB, u, w, a), 1, 0);
            }
        }
    size_t n = search_dictionary_monomials(d, all, 3, EXPONENTS_TWO, mono, room / 24);
    for (size_t k = 0; k < n; k++)
        functions(m, search_dictionary_product(d, &mono[k], a), 0, mono[k].cost <= 4);
    /* 1 + m*cos(x), 1 + m*cos(x - z) and the like. */
    n = search_dictionary_monomials(d, all, 2, EXPONENTS_ONE, mono, room / 8);
    for (size_t apart = 0; apart < d->n; apart++) /* all of one input first */
        for (size_t k = 0, l = apart; l < d->n; k++, l++)
            for (size_t i = 0; i <= n; i++) {
                expr x = search_variable(d->input[k], a);
                if (i < n && (mono[i].p[k] || mono[i].p[l] || (l > k && mono[i].cost > 2)))
                    continue;
                if (l > k)
                    x = search_binary(EXPR_SUB, x, search_variable(d->input[l], a), a);
                expr f = i < n ? search_dictionary_product(d, &mono[i], a) : (expr){ NULL, 0 };
                waves(m, f, x);
            }
}

int search_dictionary_make(dictionary *d, const search *s, const search_view *v, size_t rows,
                           size_t size, arena *a)
{
    *d = (dictionary){ .v = v, .rows = rows };
    choose_inputs(d);
    d->part = arena_array(a, size, sizeof *d->part);
    maker m = { .d = d, .s = s, .room = size, .a = a };
    m.value = arena_array(a, SEARCH_SOME, sizeof *m.value);
    if (!d->part || !m.value || !tabulate(d, a))
        return 0;
    if (d->n > 0)
        make_parts(&m);
    return !m.no_memory;
}
