/* nearest.c - see nearest.h.
 *
 * Scores are first computed in float, block by block, at the speed of memory. What could be among
 * the best within float's rounding is computed again in double, and only that decides. */
#include "library/nearest.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "base/half.h"
#include "nn/kernels.h"

enum { BLOCK = 256 }; /* rows: 64 KB at a width of 128, within the second-level cache */

/* The best so far, the worst of them at the root. */
typedef struct heap {
    library_hit *hit;
    size_t count, room;
} heap;

static int worse(const library_hit *a, const library_hit *b)
{
    return a->score != b->score ? a->score < b->score : a->id > b->id;
}

static void sink(heap *h, size_t at)
{
    library_hit moved = h->hit[at];
    for (size_t child; (child = 2 * at + 1) < h->count; at = child) {
        child += child + 1 < h->count && worse(&h->hit[child + 1], &h->hit[child]);
        if (!worse(&h->hit[child], &moved))
            break;
        h->hit[at] = h->hit[child];
    }
    h->hit[at] = moved;
}

static void rise(heap *h, size_t at)
{
    library_hit moved = h->hit[at];
    for (; at > 0 && worse(&moved, &h->hit[(at - 1) / 2]); at = (at - 1) / 2)
        h->hit[at] = h->hit[(at - 1) / 2];
    h->hit[at] = moved;
}

static void offer(heap *h, library_hit hit)
{
    if (h->count < h->room) {
        h->hit[h->count++] = hit;
        rise(h, h->count - 1);
    } else if (worse(&h->hit[0], &hit)) {
        h->hit[0] = hit;
        sink(h, 0);
    }
}

/* In double every product is exact; the order of the sum is fixed. */
static double score(const uint16_t *row, const float *query, size_t latent)
{
    double sum = 0;
    for (size_t i = 0; i < latent; i++)
        sum += (double)half_value(row[i]) * (double)query[i];
    return sum;
}

/* What one search has in common for all threads. */
typedef struct request {
    const library_matrix *rows;
    const float *query;
    int max_dimension;
    double slack; /* by how much a score in float may be too low */
} request;

static void search_block(heap *h, const request *q, size_t first, size_t n)
{
    const library_matrix *rows = q->rows;
    const uint16_t *half = rows->half + first * rows->latent;
    const uint8_t *dimension = rows->dimension ? rows->dimension + first : NULL;
    float rough[BLOCK];
    nn_kernels_best()->half_scores(rough, half, q->query, n, rows->latent);
    double least = h->count == h->room ? h->hit[0].score - q->slack : -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!((double)rough[i] >= least) || (dimension && dimension[i] > q->max_dimension))
            continue;
        library_hit hit = { first + i + 1, score(half + i * rows->latent, q->query, rows->latent) };
        offer(h, hit);
        if (h->count == h->room)
            least = h->hit[0].score - q->slack;
    }
}

static int best_first(const void *a, const void *b)
{
    return worse(a, b) ? 1 : worse(b, a) ? -1 : 0;
}

/* Puts the threads' best together. */
static size_t merge(library_hit *out, size_t k, const heap *part, int parts)
{
    heap all = { .hit = out, .room = k };
    for (int t = 0; t < parts; t++)
        for (size_t i = 0; i < part[t].count; i++)
            offer(&all, part[t].hit[i]);
    qsort(out, all.count, sizeof *out, best_first);
    return all.count;
}

static void search_all(heap *part, const request *q, int threads)
{
    size_t count = q->rows->count, blocks = (count + BLOCK - 1) / BLOCK;
#pragma omp parallel num_threads(threads)
    {
        heap *own = &part[omp_get_thread_num()];
#pragma omp for schedule(dynamic, 16)
        for (size_t b = 0; b < blocks; b++)
            search_block(own, q, b * BLOCK, count - b * BLOCK < BLOCK ? count - b * BLOCK : BLOCK);
    }
}

snip_code library_nearest(const library_matrix *rows, const float *query, size_t k,
                          int max_dimension, int threads, library_hit *out, size_t *found,
                          snip_status *st)
{
    double square = 0;
    assert(threads > 0);
    for (size_t i = 0; i < rows->latent; i++)
        square += (double)query[i] * (double)query[i];
    *found = 0;
    if (!isfinite(square))
        return status_fail(st, SNIP_FORMAT, 0, "the vector to search for is not finite");
    k = k < rows->count ? k : rows->count;
    if (k == 0)
        return SNIP_OK;
    heap *part = calloc((size_t)threads, sizeof *part);
    library_hit *hits = calloc((size_t)threads * k, sizeof *hits);
    if (part && hits) {
        /* A sum of n products is within n 2^-24 |a| |b| in any order; rows are hardly longer
         * than 1. */
        const request q = { rows, query, max_dimension,
                            (double)rows->latent * 0x1p-23 * sqrt(square) };
        for (int t = 0; t < threads; t++)
            part[t] = (heap){ .hit = hits + (size_t)t * k, .room = k };
        search_all(part, &q, threads);
        *found = merge(out, k, part, threads);
    }
    int good = part && hits;
    free(part);
    free(hits);
    return good ? SNIP_OK : status_nomem(st);
}
