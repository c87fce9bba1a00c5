/* parts.c - see parts.h. */
#include "search/parts.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/streams.h"
#include "search/build.h"

#define CELL     (1.0 / 4096) /* of the hash table */
#define SAME     4e-6         /* keys of equal parts differ by less: values are kept as floats */
#define EQUAL    1e-5         /* the same for what was computed in two ways */
#define LARGE    1e12
#define SMALL    1e-12
#define CONSTANT 1e-9 /* the variance of a constant, relative to its square */

const double search_parts_factor[PARTS_FACTORS] = { 1, 0.5, 2, M_PI };

int search_parts_make(parts *p, size_t rows, size_t max, arena *a)
{
    rng r;
    *p = (parts){ .rows = rows, .vec = expr_vec_best() };
    for (p->max = max; p->max >= 64; p->max /= 2) {
        arena_pos mark = arena_mark(a);
        for (p->slots = 256; p->slots < 2 * p->max;)
            p->slots *= 2;
        p->at = arena_array(a, p->max, sizeof *p->at);
        p->value = arena_array(a, p->max, rows * sizeof *p->value);
        p->slot = arena_zero(a, p->slots * sizeof *p->slot);
        p->project = arena_array(a, PARTS_KEYS, rows * sizeof *p->project);
        if (p->at && p->value && p->slot && p->project)
            break;
        arena_reset(a, mark);
    }
    if (p->max < 64)
        return 0;
    /* Directions without a mean: most functions are near to a constant, and differ in the rest. */
    streams_rng(&r, 0, STREAMS_SEARCH_PARTS, 0);
    for (size_t k = 0; k < PARTS_KEYS; k++) {
        double *d = p->project + k * rows, mean = 0, size = 0;
        for (size_t i = 0; i < rows; i++) {
            d[i] = rng_uniform(&r) + rng_uniform(&r) - 1;
            mean += d[i] / (double)rows;
        }
        for (size_t i = 0; i < rows; i++) {
            d[i] -= mean;
            size += d[i] * d[i];
        }
        for (size_t i = 0; i < rows; i++)
            d[i] /= sqrt(size);
    }
    return 1;
}

int search_parts_measure(part *q, const parts *p, const double *value)
{
    enum { SUMS = 4 };
    size_t n = p->rows, whole = n - n % SUMS;
    double sum[SUMS] = { 0 }, square[SUMS] = { 0 }, key[PARTS_KEYS][SUMS] = { { 0 } };
    const double *d = p->project;
    for (size_t row = 0; row < whole; row += SUMS)
        for (size_t l = 0; l < SUMS; l++) {
            size_t i = row + l;
            double v = value[i];
            sum[l] += v;
            square[l] += v * v;
            for (size_t k = 0; k < PARTS_KEYS; k++)
                key[k][l] += v * d[k * n + i];
        }
    for (size_t i = whole; i < n; i++) {
        sum[0] += value[i];
        square[0] += value[i] * value[i];
        for (size_t k = 0; k < PARTS_KEYS; k++)
            key[k][0] += value[i] * d[k * n + i];
    }
    double mean = (sum[0] + sum[1] + sum[2] + sum[3]) / (double)n;
    double mean_square = (square[0] + square[1] + square[2] + square[3]) / (double)n;
    if (!(mean_square < LARGE * LARGE && mean_square > SMALL * SMALL) ||
        mean_square - mean * mean < CONSTANT * mean_square)
        return 0;
    double length = sqrt(mean_square * (double)n);
    for (size_t k = 0; k < PARTS_KEYS; k++)
        q->key[k] = (float)((key[k][0] + key[k][1] + key[k][2] + key[k][3]) / length);
    /* One of v and -v: by the mean if there is one, else by the first direction. */
    if (fabs(mean) > 0.05 * sqrt(mean_square) ? mean < 0 : q->key[0] < 0) {
        for (size_t k = 0; k < PARTS_KEYS; k++)
            q->key[k] = -q->key[k];
        length = -length;
    }
    q->length = (float)length;
    return 1;
}

static uint64_t cell_hash(const int *cell)
{
    uint64_t h = 0;
    for (size_t k = 0; k < PARTS_CELL; k++) {
        h = (h ^ (uint64_t)(uint32_t)cell[k]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

/* The cells that a point within the tolerance of the key may be in; returns how many, up to 8. */
static size_t cells_around(uint64_t *hash, const float *key, double tolerance, double width)
{
    int low[PARTS_CELL], high[PARTS_CELL], cell[PARTS_CELL];
    size_t n = 0;
    for (size_t k = 0; k < PARTS_CELL; k++) {
        low[k] = (int)floor((key[k] - tolerance) / width);
        high[k] = (int)floor((key[k] + tolerance) / width);
    }
    for (cell[0] = low[0]; cell[0] <= high[0]; cell[0]++)
        for (cell[1] = low[1]; cell[1] <= high[1]; cell[1]++)
            for (cell[2] = low[2]; cell[2] <= high[2]; cell[2]++)
                hash[n++] = cell_hash(cell);
    return n;
}

static int keys_within(const float *p, const float *q, double tolerance)
{
    for (size_t k = 0; k < PARTS_KEYS; k++)
        if (!(fabsf(p[k] - q[k]) <= tolerance))
            return 0;
    return 1;
}

ptrdiff_t search_parts_find(const parts *p, const part *q)
{
    uint64_t hash[8];
    size_t n = cells_around(hash, q->key, SAME, CELL);
    for (size_t k = 0; k < n; k++)
        for (size_t i = (size_t)(hash[k] >> 20) & (p->slots - 1); p->slot[i];
             i = (i + 1) & (p->slots - 1))
            if (keys_within(p->at[p->slot[i] - 1].key, q->key, SAME))
                return (ptrdiff_t)p->slot[i] - 1;
    return -1;
}

int search_parts_add(parts *p, const part *q, const float *value)
{
    if (p->count == p->max || search_parts_find(p, q) >= 0)
        return 0;
    uint64_t hash[8];
    cells_around(hash, q->key, 0, CELL);
    size_t i = (size_t)(hash[0] >> 20) & (p->slots - 1);
    while (p->slot[i])
        i = (i + 1) & (p->slots - 1);
    p->slot[i] = (uint32_t)p->count + 1;
    p->at[p->count] = *q;
    memcpy(p->value + p->count * p->rows, value, p->rows * sizeof *value);
    p->count++;
    return 1;
}

void search_parts_load(double *to, const parts *p, size_t i)
{
    const float *from = p->value + i * p->rows;
    for (size_t r = 0; r < p->rows; r++)
        to[r] = from[r];
}

void search_parts_apply(double *to, const parts *p, const part *q, const double *a, const double *b)
{
    if (p->vec->binary[q->op]) {
        p->vec->binary[q->op](to, a, b, p->rows);
        return;
    }
    if (q->factor) {
        for (size_t i = 0; i < p->rows; i++)
            to[i] = a[i] * search_parts_factor[q->factor];
        a = to;
    }
    p->vec->unary[q->op](to, a, p->rows);
}

/* ---- formulas ---- */

static void put(expr *e, expr_node node, size_t room)
{
    if (e->count < room)
        e->node[e->count] = node;
    e->count++;
}

static void put_number(expr *e, double v, int free, size_t room)
{
    int whole = v == floor(v) && !free;
    put(e,
        (expr_node){
            .op = EXPR_NUMBER, .value = v, .fixed = !free, .integer = (uint8_t)(whole & 1) },
        room);
}

static int is_function(int op)
{
    return op != EXPR_POW2 && op != EXPR_POW3 && op != EXPR_INV && op != EXPR_SQRT &&
           op != EXPR_ABS && op != EXPR_LOG && op != EXPR_NEG;
}

static void write_part(expr *e, const parts *p, const part *q, const size_t *column, int open,
                       size_t room)
{
    if (e->count > room)
        return;
    if (q->op == EXPR_NUMBER) {
        put_number(e, 1, open, room);
        return;
    }
    if (q->op == EXPR_VARIABLE) {
        put(e, (expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)(column ? column[q->a] : q->a) },
            room);
        return;
    }
    const part *a = &p->at[q->a], *b = &p->at[q->b];
    int two = expr_ops[q->op].arity == 2;
    put(e, (expr_node){ .op = q->op }, room);
    if (!two && (q->factor || (open && is_function(q->op)))) {
        put(e, (expr_node){ .op = EXPR_MUL }, room);
        put_number(e, search_parts_factor[q->factor], open, room);
    }
    write_part(e, p, a, column, open, room);
    if (!two)
        return;
    if (open && (q->op == EXPR_ADD || q->op == EXPR_SUB) && b->op != EXPR_NUMBER &&
        a->op != EXPR_NUMBER) {
        put(e, (expr_node){ .op = EXPR_MUL }, room);
        put_number(e, 1, 1, room);
    }
    write_part(e, p, b, column, open, room);
}

expr search_parts_formula(const parts *p, const part *q, const size_t *column, int open, arena *a)
{
    size_t room = SEARCH_SIZE_MAX;
    expr e = { arena_array(a, room, sizeof *e.node), 0 };
    if (!e.node)
        return e;
    write_part(&e, p, q, column, open, room);
    if (e.count > room || !expr_measure(e))
        e.node = NULL;
    return e;
}

/* ---- near ones ---- */

int search_parts_index_make(parts_index *out, const parts *p, double tolerance, arena *a)
{
    *out = (parts_index){ .p = p, .tolerance = tolerance, .width = fmax(4 * tolerance, CELL) };
    for (out->buckets = 1024; out->buckets < p->count;)
        out->buckets *= 2;
    out->start = arena_zero(a, (out->buckets + 1) * sizeof *out->start);
    out->place = arena_array(a, p->count, sizeof *out->place);
    uint32_t *bucket = arena_array(a, p->count, sizeof *bucket);
    out->key = arena_array(a, p->count, sizeof *out->key);
    if (!out->start || !out->place || !out->key || !bucket)
        return 0;
    for (size_t i = 0; i < p->count; i++) {
        uint64_t hash[8];
        cells_around(hash, p->at[i].key, 0, out->width);
        bucket[i] = (uint32_t)((hash[0] >> 20) & (out->buckets - 1));
        out->start[bucket[i] + 1]++;
    }
    for (size_t k = 0; k < out->buckets; k++)
        out->start[k + 1] += out->start[k];
    for (size_t i = 0; i < p->count; i++) {
        size_t at = out->start[bucket[i]]++;
        out->place[at] = (uint32_t)i;
        memcpy(out->key[at], p->at[i].key, sizeof *out->key);
    }
    memmove(out->start + 1, out->start, out->buckets * sizeof *out->start);
    out->start[0] = 0;
    return 1;
}

size_t search_parts_near(uint32_t *out, size_t max, const parts_index *x, const part *q)
{
    uint64_t hash[8];
    size_t n = cells_around(hash, q->key, x->tolerance, x->width), found = 0, equal = 0;
    for (size_t k = 0; k < n; k++) {
        size_t at = (size_t)(hash[k] >> 20) & (x->buckets - 1);
        for (size_t i = x->start[at]; i < x->start[at + 1]; i++) {
            if (!keys_within(x->key[i], q->key, found < max ? x->tolerance : EQUAL))
                continue;
            if (found < max)
                out[found++] = x->place[i];
            else if (equal < max) /* rather than one that is only near */
                out[equal++] = x->place[i];
        }
    }
    return found;
}
