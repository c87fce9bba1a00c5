/* pool.c - see pool.h. */
#include "search/pool.h"

#include <math.h>
#include <string.h>

#include "expr/vec.h"
#include "search/build.h"

enum { KNOWN_SLOTS = 4 * POOL_MAX, CLOSER = 24, BEST = 4 };

pool_ops search_pool_ops_of(const search *s)
{
    pool_ops o = { .unaries = 0 };
    int mul = search_may(s, EXPR_MUL), div = search_may(s, EXPR_DIV);
    for (int op = 0; op < EXPR_OP_COUNT; op++) {
        int may = search_may(s, (expr_op)op);
        if (op == EXPR_POW2 || op == EXPR_POW3)
            may |= mul;
        if (op == EXPR_INV)
            may |= div;
        if (!may || op == EXPR_NEG)
            continue;
        if (expr_ops[op].arity == 1)
            o.unary[o.unaries++] = (expr_op)op;
        else if (expr_ops[op].arity == 2)
            o.binary[o.binaries++] = (expr_op)op;
    }
    return o;
}

/* The first rows of v, centred and of length 1, or all 0 where they are all alike. */
static void sketch(float *out, const double *v, size_t rows)
{
    double mean = 0, square = 0;
    rows = rows < POOL_SKETCH ? rows : POOL_SKETCH;
    for (size_t i = 0; i < rows; i++)
        mean += v[i] / (double)rows;
    for (size_t i = 0; i < rows; i++)
        square += (v[i] - mean) * (v[i] - mean);
    double factor = square > 0 && isfinite(square) ? 1 / sqrt(square) : 0;
    for (size_t i = 0; i < POOL_SKETCH; i++)
        out[i] = i < rows ? (float)((v[i] - mean) * factor) : 0;
}

int search_pool_add(pool *p, expr e)
{
    const head_rows *r = p->rows;
    if (p->count == POOL_MAX || !e.node || e.count > POOL_NODES)
        return 0;
    arena_pos mark = arena_mark(p->a);
    double *v = arena_array(p->a, SEARCH_FEW, sizeof *v), sum = 0, square = 0;
    if (!v || expr_eval(e, r->x, r->rows, v, p->a) != r->rows)
        goto no;
    pool_part *to = &p->at[p->count];
    for (size_t i = 0; i < r->rows; i++)
        sum += v[i];
    to->mean = sum / (double)r->rows;
    for (size_t i = 0; i < r->rows; i++)
        square += (v[i] - to->mean) * (v[i] - to->mean);
    to->length = sqrt(square);
    if (!isfinite(square) || !(to->length > 1e-9 * fabs(to->mean)) || to->length < 1e-140)
        goto no;
    /* What behaves alike up to shift and factor is one part: the first that came. */
    double sign = v[0] < to->mean ? -1 : 1;
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < r->rows; i++) {
        double unit = (float)((v[i] - to->mean) / to->length);
        hash = (hash ^ (uint64_t)(int64_t)lrint(sign * unit * 1e5)) * 1099511628211u;
        hash ^= hash >> 29;
    }
    size_t slot = hash % KNOWN_SLOTS;
    while (p->known[slot] && p->known[slot] != (hash | 1))
        slot = (slot + 1) % KNOWN_SLOTS;
    if (p->known[slot])
        goto no;
    expr_node *node = arena_copy(p->a, e.node, e.count * sizeof *node);
    if (!node)
        goto no;
    p->known[slot] = hash | 1;
    to->e = (expr){ node, e.count };
    to->value = v;
    sketch(p->sketch[p->count], v, r->rows);
    p->count++;
    return 1;
no:
    arena_reset(p->a, mark);
    return 0;
}

/* Unary operators of the parts in [from, to). */
static void add_functions(pool *p, const pool_ops *o, size_t from, size_t to, size_t most,
                          arena *tmp)
{
    for (size_t k = from; k < to && p->count < most; k++)
        for (size_t i = 0; i < o->unaries; i++) {
            arena_pos mark = arena_mark(tmp);
            search_pool_add(p, search_unary(o->unary[i], p->at[k].e, tmp));
            if (o->unary[i] == EXPR_EXP)
                search_pool_add(
                    p, search_unary(EXPR_EXP, search_unary(EXPR_NEG, p->at[k].e, tmp), tmp));
            arena_reset(tmp, mark);
        }
}

/* Pairs of parts i < j with i < n and j in [from, to). */
static void add_pairs(pool *p, const pool_ops *o, size_t n, size_t from, size_t to, size_t most,
                      arena *tmp)
{
    for (size_t j = from; j < to; j++)
        for (size_t i = 0; i < n && i < j; i++)
            for (size_t k = 0; k < o->binaries && p->count < most; k++) {
                expr_op op = o->binary[k];
                if (op == EXPR_POW)
                    continue;
                arena_pos mark = arena_mark(tmp);
                search_pool_add(p, search_binary(op, p->at[i].e, p->at[j].e, tmp));
                if (op != EXPR_ADD && op != EXPR_MUL && op != EXPR_SUB)
                    search_pool_add(p, search_binary(op, p->at[j].e, p->at[i].e, tmp));
                arena_reset(tmp, mark);
            }
}

/* See `powers`. Returns 0 when memory is out. */
static int make_powers(pool *p)
{
    const head_rows *r = p->rows;
    p->log = arena_array(p->a, POOL_POWERS, sizeof *p->log);
    if (!p->log)
        return 0;
    for (size_t j = 0; j < r->dim && p->powers < POOL_POWERS; j++) {
        double *to = p->log[p->powers], mean = 0;
        size_t i = 0;
        for (; i < r->rows && r->x[j][i] != 0; i++)
            mean += (to[i] = log(fabs(r->x[j][i]))) / (double)r->rows;
        if (i < r->rows)
            continue;
        for (i = 0; i < r->rows; i++)
            to[i] -= mean;
        p->power_of[p->powers++] = j;
    }
    for (size_t k = 0; k < p->powers; k++)
        for (size_t l = 0; l <= k; l++) {
            double sum = 0, all = 0;
            for (size_t i = 0; i < r->rows; i++) {
                sum += p->log[k][i] * p->log[l][i];
                all += p->log[k][i] * p->log[k][i];
            }
            for (size_t m = 0; m < l; m++)
                sum -= p->factor[k][m] * p->factor[l][m];
            if (k == l)
                p->factor[k][k] = sum > 1e-9 * all ? sqrt(sum) : 0;
            else
                p->factor[k][l] = p->factor[l][l] > 0 ? sum / p->factor[l][l] : 0;
        }
    return 1;
}

/* Exponents of the columns for log|wanted|, in halves. Returns how many are not 0. */
static size_t exponents(double *e, const pool *p, const double *wanted)
{
    size_t n = p->powers, used = 0;
    double y[SEARCH_FEW], mean = 0;
    for (size_t i = 0; i < p->rows->rows; i++) {
        if (!(fabs(wanted[i]) > 0))
            return 0;
        mean += (y[i] = log(fabs(wanted[i]))) / (double)p->rows->rows;
    }
    for (size_t k = 0; k < n; k++) {
        e[k] = 0;
        for (size_t i = 0; i < p->rows->rows; i++)
            e[k] += p->log[k][i] * (y[i] - mean);
        for (size_t m = 0; m < k; m++)
            e[k] -= p->factor[k][m] * e[m];
        e[k] = p->factor[k][k] > 0 ? e[k] / p->factor[k][k] : 0;
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t m = k + 1; m < n; m++)
            e[k] -= p->factor[m][k] * e[m];
        e[k] = p->factor[k][k] > 0 ? e[k] / p->factor[k][k] : 0;
    }
    for (size_t k = 0; k < n; k++) {
        e[k] = round(2 * e[k]) / 2;
        if (fabs(e[k]) > 6)
            return 0;
        used += e[k] != 0;
    }
    return used;
}

expr search_pool_power(const pool *p, const double *wanted, double *b, double *rest, arena *a)
{
    const head_rows *r = p->rows;
    const expr none = { NULL, 0 };
    double e[POOL_POWERS], value[SEARCH_FEW], vv = 0, vw = 0, left = 0, all = 0, mean = 0;
    if (exponents(e, p, wanted) < 2)
        return none;
    for (size_t i = 0; i < r->rows; i++) {
        value[i] = 1;
        for (size_t k = 0; k < p->powers; k++)
            if (e[k] != 0)
                value[i] *= pow(r->x[p->power_of[k]][i], e[k]);
        vv += value[i] * value[i];
        vw += value[i] * wanted[i];
        mean += wanted[i] / (double)r->rows;
    }
    *b = vw / vv;
    for (size_t i = 0; i < r->rows; i++) {
        left += (wanted[i] - *b * value[i]) * (wanted[i] - *b * value[i]);
        all += (wanted[i] - mean) * (wanted[i] - mean);
    }
    *rest = left / all;
    if (!(*rest < 1) || *b == 0)
        return none;
    expr over = none, under = none;
    for (size_t k = 0; k < p->powers; k++) {
        if (e[k] == 0)
            continue;
        expr *to = e[k] > 0 ? &over : &under;
        expr one = search_power(search_variable(p->power_of[k], a), fabs(e[k]), a);
        *to = to->node ? search_binary(EXPR_MUL, *to, one, a) : one;
    }
    if (!under.node)
        return over;
    return over.node ? search_binary(EXPR_DIV, over, under, a) : search_unary(EXPR_INV, under, a);
}

int search_pool_make(pool *p, const search *s, const head_rows *r, arena *a)
{
    pool_ops all = search_pool_ops_of(s), simple = { .unaries = 0 };
    *p = (pool){ .at = arena_array(a, POOL_MAX, sizeof *p->at),
                 .sketch = arena_array(a, POOL_MAX, sizeof *p->sketch),
                 .known = arena_zero(a, KNOWN_SLOTS * sizeof *p->known),
                 .rows = r,
                 .a = a };
    arena *tmp = arena_new(0);
    if (!make_powers(p) || !p->at || !p->sketch || !p->known || !tmp) {
        arena_free(tmp);
        return 0;
    }
    for (size_t j = 0; j < r->dim; j++)
        search_pool_add(p, search_variable(j, tmp));
    size_t columns = p->count;
    for (size_t k = 0; k < all.unaries; k++) { /* squares, roots and the like make good pairs */
        expr_op op = all.unary[k];
        if (op == EXPR_POW2 || op == EXPR_SQRT || op == EXPR_INV)
            simple.unary[simple.unaries++] = op;
    }
    add_functions(p, &simple, 0, columns, POOL_MAX / 8, tmp);
    size_t powers = p->count;
    add_functions(p, &all, 0, columns, POOL_MAX / 4, tmp);
    size_t curves = p->count;
    add_pairs(p, &all, powers, 0, powers, POOL_MAX / 2, tmp);
    size_t pairs = p->count;
    add_pairs(p, &all, columns, powers, curves, POOL_MAX * 5 / 8, tmp);
    add_functions(p, &all, curves, pairs, POOL_MAX * 7 / 8, tmp);
    add_pairs(p, &all, columns, curves, pairs, POOL_MAX * 15 / 16, tmp);
    arena_free(tmp);
    return 1;
}

/* Puts k into a list of the best, sorted by score; returns its new length. */
static size_t enlist(size_t *at, float *best, size_t n, size_t most, size_t k, float score)
{
    if (n == most && !(score > best[most - 1]))
        return n;
    size_t place = n < most ? n++ : most - 1;
    for (; place > 0 && best[place - 1] < score; place--) {
        best[place] = best[place - 1];
        at[place] = at[place - 1];
    }
    best[place] = score;
    at[place] = k;
    return n;
}

const pool_part *search_pool_match(const pool *p, const double *wanted, rng *random, double *a,
                                   double *b, double *rest)
{
    const head_rows *r = p->rows;
    float first[POOL_SKETCH], rough[CLOSER], best[BEST];
    size_t near[CLOSER], at[BEST], nears = 0, n = 0;
    double mean = 0, square = 0;
    for (size_t i = 0; i < r->rows; i++)
        mean += wanted[i] / (double)r->rows;
    for (size_t i = 0; i < r->rows; i++)
        square += (wanted[i] - mean) * (wanted[i] - mean);
    double length = sqrt(square);
    if (!isfinite(square) || !(length > 1e-10 * fabs(mean)) || length < 1e-140)
        return NULL;
    sketch(first, wanted, r->rows);
    for (size_t k = 0; k < p->count; k++) { /* a first look by few rows */
        const float *u = p->sketch[k];
        float lane[4] = { 0 };
        for (size_t i = 0; i < POOL_SKETCH; i += 4)
            for (size_t l = 0; l < 4; l++)
                lane[l] += u[i + l] * first[i + l];
        float score = fabsf((lane[0] + lane[2]) + (lane[1] + lane[3]));
        if (nears < CLOSER || score > rough[CLOSER - 1])
            nears = enlist(near, rough, nears, CLOSER, k, score);
    }
    for (size_t k = 0; k < nears; k++) {
        const pool_part *one = &p->at[near[k]];
        double dot = 0;
        for (size_t i = 0; i < r->rows; i++)
            dot += (one->value[i] - one->mean) * (wanted[i] - mean);
        /* A longer part has to be a little better: it is the shorter one with something added. */
        double score = fabs(dot) / (one->length * length) - 1e-4 * (double)one->e.count;
        n = enlist(at, best, n, BEST, near[k], (float)score);
    }
    if (n == 0)
        return NULL;
    /* An excellent match is taken; otherwise one of the best few, the better the likelier. */
    size_t choice = 0;
    while (best[0] < 0.998f && choice + 1 < n && rng_below(random, 2))
        choice++;
    const pool_part *found = &p->at[at[choice]];
    double dot = 0;
    for (size_t i = 0; i < r->rows; i++)
        dot += (found->value[i] - found->mean) * (wanted[i] - mean);
    *b = dot / (found->length * found->length);
    *a = mean - *b * found->mean;
    dot /= found->length * length;
    *rest = fmax(0, 1 - dot * dot);
    return found;
}
