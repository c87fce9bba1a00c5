/* head.c - see head.h. */
#include "search/head.h"

#include <math.h>
#include <string.h>

#include "expr/vec.h"
#include "regress/constants.h"
#include "search/build.h"

#define CLEAN    1e-6  /* a coefficient's distance from a clean multiple, relatively */
#define NOTHING  1e-10 /* a number beside what it is added to */
#define NO_SHARE 1e-9  /* of a term that makes no difference */
#define COLINEAR 1e-10 /* what the others leave of a term's square before it counts as nothing */

head_rows search_head_rows_of(const search_view *v)
{
    head_rows r = { v->dim, v->rows < SEARCH_FEW ? v->rows : SEARCH_FEW, v->x, v->y, 0, 0 };
    for (size_t i = 0; i < r.rows; i++)
        r.mean += r.y[i] / (double)r.rows;
    for (size_t i = 0; i < r.rows; i++)
        r.variance += (r.y[i] - r.mean) * (r.y[i] - r.mean) / (double)r.rows;
    return r;
}

static int is_number(expr e, size_t i)
{
    int op = e.node[i].op;
    return op == EXPR_NUMBER || op == EXPR_PI || op == EXPR_E || op == EXPR_GAMMA;
}

/* ---- structure ---- */

/* Finds where the terms of the part at i begin. Returns 0 if there are too many. */
static int find_terms(expr e, size_t i, size_t *at, size_t *count, size_t most)
{
    int op = e.node[i].op;
    if (is_number(e, i))
        return 1;
    if (op == EXPR_NEG)
        return find_terms(e, i + 1, at, count, most);
    if (op == EXPR_ADD || op == EXPR_SUB)
        return find_terms(e, i + 1, at, count, most) &&
               find_terms(e, expr_child(e, i, 1), at, count, most);
    if (op == EXPR_MUL && is_number(e, i + 1))
        return find_terms(e, i + 2, at, count, most);
    if ((op == EXPR_MUL || op == EXPR_DIV) && is_number(e, expr_child(e, i, 1)))
        return find_terms(e, i + 1, at, count, most);
    if (*count == most)
        return 0;
    at[(*count)++] = i;
    return 1;
}

expr search_head_strip(expr e, arena *a)
{
    size_t at[HEAD_TERMS_MAX], n = 0, nodes = 0;
    uint64_t hash[HEAD_TERMS_MAX];
    const expr none = { NULL, 0 };
    if (!find_terms(e, 0, at, &n, HEAD_TERMS_MAX))
        return none;
    size_t kept = 0;
    for (size_t k = 0; k < n; k++) {
        size_t m = 0;
        hash[kept] = search_head_hash(expr_subtree(e, at[k]));
        while (m < kept && hash[m] != hash[kept])
            m++;
        if (m < kept && !search_head_has_numbers(expr_subtree(e, at[k])))
            continue; /* twice the same */
        at[kept++] = at[k];
        nodes += e.node[at[k]].len;
    }
    if (kept == 0 || nodes + kept - 1 > HEAD_NODES_MAX)
        return none;
    expr out = { arena_array(a, nodes + kept - 1, sizeof *out.node), 0 };
    for (size_t k = 0; k < kept && out.node; k++) {
        if (k + 1 < kept)
            out.node[out.count++] = (expr_node){ .op = EXPR_ADD };
        memcpy(out.node + out.count, e.node + at[k], e.node[at[k]].len * sizeof *out.node);
        out.count += e.node[at[k]].len;
    }
    if (out.node)
        expr_measure(out);
    return out;
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 31;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
    h *= UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 32;
}

static uint64_t hash_at(expr e, size_t i)
{
    const expr_node *n = &e.node[i];
    uint64_t own = mix(n->op + 1);
    switch (expr_ops[n->op].arity) {
    case 0:
        if (n->op == EXPR_VARIABLE)
            return mix(own + n->var);
        if (n->op == EXPR_NUMBER && n->fixed)
            return mix(own + 1 + (uint64_t)(int64_t)llround(n->value * 720));
        return own;
    case 1:
        return mix(own ^ hash_at(e, i + 1) * 3);
    default: {
        uint64_t p = hash_at(e, i + 1), q = hash_at(e, expr_child(e, i, 1));
        int commutes = n->op == EXPR_ADD || n->op == EXPR_MUL;
        return commutes ? mix(own ^ (mix(p) + mix(q))) : mix(own ^ (p * 3 + mix(q)));
    }
    }
}

uint64_t search_head_hash(expr e)
{
    return hash_at(e, 0) | 1;
}

int search_head_has_numbers(expr e)
{
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_NUMBER && !e.node[i].fixed)
            return 1;
    return 0;
}

/* ---- values ---- */

void search_head_evaluate(head_values *out, expr e, const head_rows *r)
{
    const expr_vec *ops = expr_vec_best();
    for (size_t i = e.count; i-- > 0;) {
        const expr_node *n = &e.node[i];
        double *y = out->own[i];
        out->at[i] = y;
        switch (expr_ops[n->op].arity) {
        case 0:
            if (n->op == EXPR_VARIABLE) {
                out->at[i] = r->x[n->var];
                break;
            }
            for (size_t k = 0; k < r->rows; k++)
                y[k] = n->op == EXPR_PI      ? M_PI
                       : n->op == EXPR_E     ? M_E
                       : n->op == EXPR_GAMMA ? EXPR_EULER_GAMMA
                                             : n->value;
            break;
        case 1:
            ops->unary[n->op](y, out->at[i + 1], r->rows);
            break;
        default:
            ops->binary[n->op](y, out->at[i + 1], out->at[i + 1 + e.node[i + 1].len], r->rows);
        }
    }
}

/* Where the terms of a stripped formula begin: t1 + (t2 + (t3 ...)). */
static size_t stripped_terms(expr e, size_t *at)
{
    size_t n = 0, i = 0;
    while (e.node[i].op == EXPR_ADD && n + 1 < HEAD_TERMS_MAX) {
        at[n++] = i + 1;
        i = expr_child(e, i, 1);
    }
    at[n++] = i;
    return n;
}

int search_head_solve(head *h, expr e, const head_values *v, const head_rows *r)
{
    double t[HEAD_TERMS_MAX][SEARCH_FEW], mean[HEAD_TERMS_MAX], m[HEAD_TERMS_MAX][HEAD_TERMS_MAX];
    double b[HEAD_TERMS_MAX], length[HEAD_TERMS_MAX], rows = (double)r->rows;
    size_t n = h->terms = stripped_terms(e, h->at);
    if (n + 2 > r->rows || !(r->variance > 0))
        return 0;
    for (size_t k = 0; k < n; k++) { /* centred and of length 1 */
        const double *from = v->at[h->at[k]];
        double sum = 0, square = 0, size = 0;
        for (size_t i = 0; i < r->rows; i++) {
            sum += from[i];
            size += from[i] * from[i];
        }
        mean[k] = sum / rows;
        for (size_t i = 0; i < r->rows; i++) {
            t[k][i] = from[i] - mean[k];
            square += t[k][i] * t[k][i];
        }
        if (!isfinite(size) || !(square > COLINEAR * COLINEAR * size) || square < 1e-290)
            return 0;
        length[k] = sqrt(square);
        b[k] = 0;
        for (size_t i = 0; i < r->rows; i++) {
            t[k][i] /= length[k];
            b[k] += t[k][i] * (r->y[i] - r->mean);
        }
        for (size_t l = 0; l <= k; l++) {
            double dot = 0;
            for (size_t i = 0; i < r->rows; i++)
                dot += t[k][i] * t[l][i];
            m[k][l] = dot;
        }
    }
    for (size_t k = 0; k < n; k++) { /* Cholesky */
        for (size_t l = 0; l < k; l++) {
            for (size_t p = 0; p < l; p++)
                m[k][l] -= m[k][p] * m[l][p];
            m[k][l] /= m[l][l];
        }
        for (size_t p = 0; p < k; p++)
            m[k][k] -= m[k][p] * m[k][p];
        if (!(m[k][k] > COLINEAR))
            return 0;
        m[k][k] = sqrt(m[k][k]);
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t p = 0; p < k; p++)
            b[k] -= m[k][p] * b[p];
        b[k] /= m[k][k];
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t p = k + 1; p < n; p++)
            b[k] -= m[p][k] * b[p];
        b[k] /= m[k][k];
    }
    double rest = 0;
    for (size_t i = 0; i < r->rows; i++) {
        double d = r->y[i] - r->mean;
        for (size_t k = 0; k < n; k++)
            d -= b[k] * t[k][i];
        rest += d * d;
    }
    h->shift = r->mean;
    for (size_t k = 0; k < n; k++) {
        h->factor[k] = b[k] / length[k];
        h->share[k] = fabs(b[k]) / sqrt(rows * r->variance);
        h->shift -= h->factor[k] * mean[k];
    }
    h->loss = rest / rows / r->variance;
    return isfinite(h->loss) && isfinite(h->shift);
}

/* Whether a number at i is nothing beside the values of the part at `beside`. */
static int is_nothing(expr e, size_t i, size_t beside, const head_values *v, const head_rows *r)
{
    double least = INFINITY;
    if (e.node[i].op != EXPR_NUMBER || is_number(e, beside))
        return 0;
    for (size_t k = 0; k < r->rows; k++)
        least = fmin(least, fabs(v->at[beside][k]));
    return fabs(e.node[i].value) <= NOTHING * least;
}

expr search_head_without_nothing(expr e, const head_values *v, const head_rows *r, arena *a)
{
    expr out = e;
    /* From the end, so that what is before i in `out` is as in e. */
    for (size_t i = e.count; i-- > 0;) {
        if (e.node[i].op != EXPR_ADD && e.node[i].op != EXPR_SUB)
            continue;
        size_t left = i + 1, right = expr_child(e, i, 1);
        int first = e.node[i].op == EXPR_ADD && is_nothing(e, left, right, v, r);
        if (!first && !is_nothing(e, right, left, v, r))
            continue;
        out = expr_splice(out, i, expr_subtree(out, first ? expr_child(out, i, 1) : i + 1), a);
        if (!out.node)
            return e;
    }
    return out;
}

/* ---- with numbers ---- */

/* The number v as it is written: clean and fixed where it is nearly so, else free. */
static expr coefficient(double v, arena *a)
{
    double half = round(2 * v) / 2;
    if (half != 0 && fabs(half) <= 16 && fabs(v - half) <= CLEAN * fabs(v))
        return search_fixed(half, a);
    return search_number(v, a);
}

expr search_head_write(const head *h, expr e, int plain, arena *a)
{
    size_t lead = 0;
    while (lead + 1 < h->terms && h->share[lead] < NO_SHARE)
        lead++;
    double first = h->factor[lead] != 0 ? h->factor[lead] : 1;
    expr sum = expr_subtree(e, h->at[lead]);
    for (size_t k = lead + 1; k < h->terms; k++) {
        if (h->share[k] < NO_SHARE)
            continue;
        expr c = coefficient(h->factor[k] / first, a), t = expr_subtree(e, h->at[k]);
        int one = c.node && c.node->fixed && fabs(c.node->value) == 1;
        if (one)
            sum = search_binary(c.node->value > 0 ? EXPR_ADD : EXPR_SUB, sum, t, a);
        else
            sum = search_binary(EXPR_ADD, sum, search_binary(EXPR_MUL, c, t, a), a);
    }
    if (plain)
        return sum;
    /* first * (shift/first + sum): the ratio is the clean one of the two ways to write it */
    sum = search_binary(EXPR_ADD, coefficient(h->shift / first, a), sum, a);
    return search_binary(EXPR_MUL, search_number(first, a), sum, a);
}

int search_head_fit(expr e, const head *h, const head_rows *r, int evaluations, uint64_t seed,
                    arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t room = e.count + 4 * h->terms + 2, place[HEAD_TERMS_MAX];
    expr whole = { arena_array(tmp, room, sizeof *whole.node), 0 }, fitted;
    size_t *node = arena_array(tmp, room, sizeof *node);
    size_t *first = arena_array(tmp, room + 1, sizeof *first);
    regress_fit result = { .evaluations = 0 };
    if (!whole.node || !node || !first)
        return 0;
    whole.node[whole.count++] = (expr_node){ .op = EXPR_ADD };
    whole.node[whole.count++] = (expr_node){ .op = EXPR_NUMBER, .value = h->shift };
    for (size_t k = 0; k < h->terms; k++) {
        size_t len = e.node[h->at[k]].len;
        if (k + 1 < h->terms)
            whole.node[whole.count++] = (expr_node){ .op = EXPR_ADD };
        whole.node[whole.count++] = (expr_node){ .op = EXPR_MUL };
        whole.node[whole.count++] = (expr_node){ .op = EXPR_NUMBER, .value = h->factor[k] };
        place[k] = whole.count;
        memcpy(whole.node + whole.count, e.node + h->at[k], len * sizeof *e.node);
        whole.count += len;
    }
    expr_measure(whole);
    const regress_fit_free all = { .node = node,
                                   .first = first,
                                   .count = expr_constants(whole, node),
                                   .evaluations = evaluations };
    for (size_t k = 0; k <= all.count; k++)
        first[k] = k;
    if (all.count < r->rows && regress_fit_values(&fitted, &result, whole, &all, NULL, r->x, r->y,
                                                  r->rows, 1, seed, tmp, NULL) == SNIP_OK)
        for (size_t k = 0; k < h->terms; k++)
            memcpy(e.node + h->at[k], fitted.node + place[k],
                   e.node[h->at[k]].len * sizeof *e.node);
    arena_reset(tmp, mark);
    return result.evaluations;
}
