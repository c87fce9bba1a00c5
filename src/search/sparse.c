/* sparse.c - see sparse.h.
 *
 * With columns and target of length 1, G the inner products of the columns and b those with the
 * target, a set A explains b_A' G_AA^-1 b_A of the target. For a pair that is
 *     (b_i^2 + b_j^2 - 2 g_ij b_i b_j) / (1 - g_ij^2),
 * a few operations, so all pairs are tried. One column more is, by the Cholesky factor L of G_AA
 * and w_k = L^-1 g_Ak, (b_k - w_k' L^-1 b_A)^2 / (1 - w_k' w_k).
 *
 * A set that leaves a share r of the target and costs c bits has a description length of
 * n/2 log2(r) + c over n rows; r * 4^(c/n), a weight per column, is in the same order. */
#include "search/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "search/gram.h"
#include "search/solve.h"

#define ROUNDING 1e-15
#define DEPENDENT                                                                                  \
    1e-9 /* a column that the others explain but for this adds nothing but rounding                \
          */

enum {
    BLOCK = 32,    /* columns whose products are taken at once: they stay in the cache */
    PARTNERS = 3,  /* pairs that a column may keep: near copies of the best pair are many */
    BEAM = 24,     /* sets that are extended */
    BRANCHES = 3,  /* ways in which each is */
    SWAPS_MAX = 12 /* exchanges until a set is taken as it is */
};

static gram_block *best_block(void)
{
    static gram_block *const blocks[ISA_COUNT] = ISA_VARIANTS(gram_block);
    return blocks[isa_best()];
}

/* All inner products, by blocks. */
static int products(sparse *s, const double *c, size_t rows, search_job *j)
{
    size_t n = s->columns;
    gram_block *block = best_block();
    for (size_t i0 = 0; i0 < n; i0 += BLOCK) {
        size_t i1 = i0 + BLOCK < n ? i0 + BLOCK : n;
        if (search_job_over(j))
            return 0;
        for (size_t k0 = i0; k0 < n; k0 += BLOCK) {
            size_t k1 = k0 + BLOCK < n ? k0 + BLOCK : n;
            for (size_t i = i0; i < i1; i += GRAM_LEFT)
                for (size_t k = k0; k < k1; k += GRAM_RIGHT) {
                    if (i + GRAM_LEFT <= i1 && k + GRAM_RIGHT <= k1) {
                        block(s->g + i * n + k, n, c + i * rows, c + k * rows, rows);
                        continue;
                    }
                    for (size_t p = i; p < i1 && p < i + GRAM_LEFT; p++)
                        for (size_t q = k; q < k1 && q < k + GRAM_RIGHT; q++)
                            s->g[p * n + q] = search_dot(c + p * rows, c + q * rows, rows);
                }
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            s->g[i * n + k] = s->g[k * n + i];
    return 1;
}

int search_sparse_begin(sparse *s, double *column, const double *bits, size_t n,
                        const double *target, size_t rows, search_job *j, arena *a)
{
    *s = (sparse){ .target = sqrt(search_dot(target, target, rows)) };
    s->at = arena_array(a, n + 1, sizeof *s->at);
    s->length = arena_array(a, n + 1, sizeof *s->length);
    s->weight = arena_array(a, n + 1, sizeof *s->weight);
    if (!s->at || !s->length || !s->weight || !(s->target > 0) || !isfinite(s->target))
        return 0;
    for (size_t k = 0; k < n; k++) {
        double *from = column + k * rows, *to = column + s->columns * rows;
        double length = sqrt(search_dot(from, from, rows));
        if (!(length > 0) || !isfinite(length))
            continue;
        for (size_t i = 0; i < rows; i++)
            to[i] = from[i] / length;
        s->at[s->columns] = (uint16_t)k;
        s->weight[s->columns] = exp2(2 * bits[k] / (double)rows);
        s->length[s->columns++] = length;
    }
    n = s->columns;
    s->g = arena_array(a, n * n + 1, sizeof *s->g);
    s->b = arena_array(a, n + 1, sizeof *s->b);
    if (!s->g || !s->b)
        return 0;
    for (size_t k = 0; k < n; k++)
        s->b[k] = search_dot(column + k * rows, target, rows) / s->target;
    search_count(j, n);
    return n > 0 && products(s, column, rows, j);
}

/* ---- sets ---- */

/* A set under way. */
typedef struct set {
    size_t count;
    uint16_t at[SPARSE_TERMS_MAX]; /* ascending */
    double rest;                   /* the share of the target that it leaves */
    double score;                  /* the same by the weights */
} set;

static int by_score(const void *a, const void *b)
{
    const set *p = a, *q = b;
    if (p->score != q->score)
        return p->score < q->score ? -1 : 1;
    if (p->count != q->count)
        return p->count < q->count ? -1 : 1;
    return memcmp(p->at, q->at, p->count * sizeof *p->at);
}

/* Sorts, drops doubles, keeps the first `most`. */
static size_t best_of(set *list, size_t count, size_t most)
{
    size_t n = 0;
    qsort(list, count, sizeof *list, by_score);
    for (size_t k = 0; k < count && n < most; k++) {
        int old = 0;
        for (size_t m = 0; m < n && !old; m++)
            old = list[m].count == list[k].count &&
                  !memcmp(list[m].at, list[k].at, list[k].count * sizeof *list[k].at);
        if (!old)
            list[n++] = list[k];
    }
    return n;
}

static set with(const set *of, size_t k, double rest, double score)
{
    set out = { .count = of->count + 1, .rest = rest, .score = score };
    size_t p = 0;
    while (p < of->count && of->at[p] < k)
        p++;
    memcpy(out.at, of->at, p * sizeof *out.at);
    out.at[p] = (uint16_t)k;
    memcpy(out.at + p + 1, of->at + p, (of->count - p) * sizeof *out.at);
    return out;
}

static set without(const set *of, size_t place)
{
    set out = { .count = of->count - 1 };
    memcpy(out.at, of->at, place * sizeof *out.at);
    memcpy(out.at + place, of->at + place + 1, (out.count - place) * sizeof *out.at);
    return out;
}

/* Cholesky of G_AA in l, L^-1 b_A in z. Returns 0 if the columns depend on each other. */
static int factor(const sparse *s, const set *a, double l[][SPARSE_TERMS_MAX], double *z)
{
    for (size_t p = 0; p < a->count; p++) {
        for (size_t q = 0; q <= p; q++) {
            double sum = s->g[a->at[p] * s->columns + a->at[q]];
            for (size_t m = 0; m < q; m++)
                sum -= l[p][m] * l[q][m];
            if (q == p && !(sum > DEPENDENT))
                return 0;
            l[p][q] = q == p ? sqrt(sum) : sum / l[q][q];
        }
        double sum = s->b[a->at[p]];
        for (size_t m = 0; m < p; m++)
            sum -= l[p][m] * z[m];
        z[p] = sum / l[p][p];
    }
    return 1;
}

/* What is left, where differences are rounding. */
static double left_of(double v)
{
    return v > ROUNDING ? v : ROUNDING;
}

/* The best columns to add to a set: `branches` of them as sets in `out`. Returns how many. */
static size_t extend(const sparse *s, const set *a, set *out, size_t branches, double *work)
{
    double l[SPARSE_TERMS_MAX][SPARSE_TERMS_MAX], z[SPARSE_TERMS_MAX], left = 1;
    double heavy = 1;
    size_t n = s->columns, found = 0;
    if (!factor(s, a, l, z))
        return 0;
    double *rest = work, *w = work + n, *beta = work + (1 + SPARSE_TERMS_MAX) * n;
    for (size_t k = 0; k < n; k++) {
        rest[k] = 1;
        beta[k] = s->b[k];
    }
    for (size_t p = 0; p < a->count; p++) {
        double *wp = w + p * n;
        memcpy(wp, s->g + a->at[p] * n, n * sizeof *wp);
        for (size_t m = 0; m < p; m++) {
            const double *wm = w + m * n;
            for (size_t k = 0; k < n; k++)
                wp[k] -= l[p][m] * wm[k];
        }
        for (size_t k = 0; k < n; k++) {
            wp[k] /= l[p][p];
            rest[k] -= wp[k] * wp[k];
            beta[k] -= wp[k] * z[p];
        }
        left -= z[p] * z[p];
        heavy *= s->weight[a->at[p]];
    }
    for (size_t k = 0; k < n; k++) {
        int good = rest[k] > DEPENDENT;
        rest[k] = good ? left_of(left - beta[k] * beta[k] / rest[k]) : 1;
        beta[k] = good ? rest[k] * s->weight[k] * heavy : INFINITY;
    }
    while (found < branches) {
        size_t best = 0;
        for (size_t k = 1; k < n; k++)
            if (beta[k] < beta[best])
                best = k;
        if (!(beta[best] < INFINITY))
            break;
        out[found++] = with(a, best, rest[best], beta[best]);
        beta[best] = INFINITY;
    }
    return found;
}

/* Exchanges one column at a time for the best one in its place until that gains nothing. */
static void improve(const sparse *s, set *a, double *work)
{
    size_t idle = 0;
    for (size_t turn = 0; turn < SWAPS_MAX * a->count && idle < a->count; turn++) {
        set less = without(a, turn % a->count), better;
        idle++;
        if (extend(s, &less, &better, 1, work) && better.score < a->score * (1 - 1e-9)) {
            *a = better;
            idle = 0;
        }
    }
}

/* The best partners of every column. */
static size_t pairs(const sparse *s, set *out, search_job *j)
{
    size_t n = s->columns, count = 0;
    for (size_t i = 0; i + 1 < n && !(i % 64 == 0 && search_job_over(j)); i++) {
        const double *g = s->g + i * n, *b = s->b;
        double bi = b[i], own = s->weight[i], least = INFINITY;
        set best[PARTNERS] = { { 0 } };
        size_t found = 0;
        for (size_t k = i + 1; k < n; k++) {
            double det = 1 - g[k] * g[k];
            double left = det - (bi * bi + b[k] * b[k] - 2 * g[k] * bi * b[k]);
            if (!(left * own * s->weight[k] < least * det) || !(det > DEPENDENT))
                continue;
            left = left_of(left / det);
            size_t p = found < PARTNERS ? found++ : PARTNERS - 1;
            double score = left * own * s->weight[k];
            for (; p > 0 && best[p - 1].score > score; p--)
                best[p] = best[p - 1];
            best[p] = (set){ 2, { (uint16_t)i, (uint16_t)k }, left, score };
            if (found == PARTNERS)
                least = best[PARTNERS - 1].score;
        }
        memcpy(out + count, best, found * sizeof *best);
        count += found;
    }
    return count;
}

/* Sets as models, with coefficients. */
static size_t deliver(const sparse *s, const set *list, size_t count, sparse_model *out)
{
    size_t n = 0;
    for (size_t k = 0; k < count; k++) {
        const set *a = &list[k];
        double l[SPARSE_TERMS_MAX][SPARSE_TERMS_MAX], z[SPARSE_TERMS_MAX];
        if (!factor(s, a, l, z))
            continue;
        sparse_model *m = &out[n++];
        *m = (sparse_model){ .count = a->count, .rest = a->rest };
        for (size_t p = a->count; p-- > 0;) {
            double sum = z[p];
            for (size_t q = p + 1; q < a->count; q++)
                sum -= l[q][p] * m->coef[q];
            m->coef[p] = sum / l[p][p];
        }
        for (size_t p = 0; p < a->count; p++) {
            m->term[p] = s->at[a->at[p]];
            m->coef[p] *= s->target / s->length[a->at[p]];
        }
    }
    return n;
}

size_t search_sparse_search(const sparse *s, sparse_model *out, size_t each, size_t most,
                            search_job *j)
{
    arena *tmp = j->tmp;
    arena_pos mark = arena_mark(tmp);
    size_t n = s->columns, count = 0, found = 0;
    double *work = arena_array(tmp, (SPARSE_TERMS_MAX + 2) * n, sizeof *work);
    set *list = arena_array(tmp, PARTNERS * n + 2 * BEAM * BRANCHES, sizeof *list);
    set *beam = arena_array(tmp, 2 * BEAM, sizeof *beam);
    if (!work || !list || !beam) {
        j->no_memory = 1;
        return 0;
    }
    for (size_t k = 0; k < n; k++) {
        double left = left_of(1 - s->b[k] * s->b[k]);
        list[count++] = (set){ 1, { (uint16_t)k }, left, left * s->weight[k] };
    }
    count = best_of(list, count, each > BEAM ? each : BEAM);
    found += deliver(s, list, count < each ? count : each, out);
    if (most >= 2) {
        count = pairs(s, list, j);
        count = best_of(list, count, each > 2 * BEAM ? each : 2 * BEAM);
        found += deliver(s, list, count < each ? count : each, out + found);
    }
    search_count(j, n);
    for (size_t terms = 3; terms <= most && count > 0 && !search_job_over(j); terms++) {
        size_t width = count < 2 * BEAM ? count : 2 * BEAM;
        memcpy(beam, list, width * sizeof *beam);
        count = 0;
        for (size_t k = 0; k < width && !search_job_over(j); k++) {
            size_t from = count;
            count += extend(s, &beam[k], list + count, terms == 3 ? BRANCHES : 1, work);
            for (size_t p = from; p < count; p++)
                improve(s, &list[p], work);
        }
        count = best_of(list, count, each > BEAM ? each : BEAM);
        found += deliver(s, list, count < each ? count : each, out + found);
        search_count(j, n);
    }
    arena_reset(tmp, mark);
    return found;
}

double search_sparse_solve(double *coef, const double *const *column, size_t n,
                           const double *target, size_t rows, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    double *q = arena_array(tmp, n * rows + 1, sizeof *q);
    double *r = arena_zero(tmp, (n * n + 1) * sizeof *r);
    double *rest = arena_copy(tmp, target, rows * sizeof *rest), left = INFINITY;
    if (!q || !r || !rest)
        return left;
    for (size_t k = 0; k < n; k++) {
        double *v = q + k * rows;
        memcpy(v, column[k], rows * sizeof *v);
        double whole = sqrt(search_dot(v, v, rows));
        search_project(v, r + k, n, q, k, rows);
        double length = sqrt(search_dot(v, v, rows));
        int good = length > 1e-10 * whole && isfinite(length);
        r[k * n + k] = good ? length : 0;
        for (size_t i = 0; i < rows; i++)
            v[i] = good ? v[i] / length : 0;
        coef[k] = search_dot(v, rest, rows);
        for (size_t i = 0; i < rows; i++)
            rest[i] -= coef[k] * v[i];
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t m = k + 1; m < n; m++)
            coef[k] -= r[k * n + m] * coef[m];
        coef[k] = r[k * n + k] > 0 ? coef[k] / r[k * n + k] : 0;
    }
    left = search_dot(rest, rest, rows) / (double)rows;
    arena_reset(tmp, mark);
    return isfinite(left) ? left : INFINITY;
}
