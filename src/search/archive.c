/* archive.c - see archive.h.
 *
 * Formulas are kept by size, ARCHIVE_PER_SIZE of each, so that a better long formula never drives
 * out a short one. The record of forms is a hash table that stops growing at its memory limit: then
 * the oldest knowledge stays, and some forms are judged twice. */
#include "search/archive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct record {
    uint64_t hash; /* 0: empty */
    double loss;
} record;

struct search_archive {
    search_entry at[(SEARCH_SIZE_MAX + 1) * ARCHIVE_PER_SIZE]; /* by size, best first */
    size_t count[SEARCH_SIZE_MAX + 1];
    search_entry kept[(SEARCH_SIZE_MAX + 1) * ARCHIVE_PER_SIZE]; /* the same without gaps */
    size_t kept_count;
    search_entry front[SEARCH_SIZE_MAX + 1];
    size_t front_count;
    record *known;
    size_t slots, used, slots_max;
};

search_archive *search_archive_new(size_t memory)
{
    search_archive *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->slots = 1 << 12;
    a->slots_max = a->slots;
    while (a->slots_max * 3 * sizeof *a->known <= memory) /* it grows by copying */
        a->slots_max *= 2;
    a->known = calloc(a->slots, sizeof *a->known);
    if (!a->known) {
        free(a);
        return NULL;
    }
    return a;
}

void search_archive_free(search_archive *a)
{
    if (!a)
        return;
    for (size_t k = 0; k < a->kept_count; k++)
        free(a->kept[k].e.node);
    free(a->known);
    free(a);
}

/* The slot where a hash is, or where it would go. */
static record *slot(record *known, size_t slots, uint64_t hash)
{
    size_t i = (size_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (slots - 1);
    while (known[i].hash && known[i].hash != hash)
        i = (i + 1) & (slots - 1);
    return &known[i];
}

int search_archive_knows(const search_archive *a, uint64_t hash, double *loss)
{
    const record *r = slot(a->known, a->slots, hash | 1);
    if (!r->hash)
        return 0;
    *loss = r->loss;
    return 1;
}

static void remember(search_archive *a, uint64_t hash, double loss)
{
    if (2 * a->used >= a->slots && a->slots < a->slots_max) {
        record *more = calloc(2 * a->slots, sizeof *more);
        for (size_t i = 0; i < a->slots && more; i++)
            if (a->known[i].hash)
                *slot(more, 2 * a->slots, a->known[i].hash) = a->known[i];
        if (more) {
            free(a->known);
            a->known = more;
            a->slots *= 2;
        }
    }
    if (2 * a->used >= a->slots) /* nothing more can be had */
        return;
    record *r = slot(a->known, a->slots, hash | 1);
    a->used += !r->hash;
    if (!r->hash || loss < r->loss)
        *r = (record){ hash | 1, loss };
}

/* The lists without gaps, after a change. */
static void list(search_archive *a)
{
    double best = INFINITY;
    a->kept_count = a->front_count = 0;
    for (size_t size = 0; size <= SEARCH_SIZE_MAX; size++) {
        const search_entry *of = &a->at[size * ARCHIVE_PER_SIZE];
        for (size_t k = 0; k < a->count[size]; k++)
            a->kept[a->kept_count++] = of[k];
        if (a->count[size] > 0 && of[0].loss[0] < best) {
            best = of[0].loss[0];
            a->front[a->front_count++] = of[0];
        }
    }
}

int search_archive_add(search_archive *a, const search_entry *e)
{
    remember(a, e->hash, e->loss[0]);
    if (!(e->loss[0] < INFINITY) || e->size > SEARCH_SIZE_MAX)
        return 0;
    search_entry *of = &a->at[e->size * ARCHIVE_PER_SIZE];
    size_t *n = &a->count[e->size], same = 0, place = 0;
    while (same < *n && of[same].hash != e->hash)
        same++;
    if (same < *n && of[same].loss[0] <= e->loss[0])
        return 0;
    while (place < *n && of[place].loss[0] <= e->loss[0])
        place++;
    if (place == ARCHIVE_PER_SIZE)
        return 0;
    search_entry copy = *e;
    copy.e.node = malloc(e->e.count * sizeof *e->e.node);
    if (!copy.e.node)
        return -1;
    memcpy(copy.e.node, e->e.node, e->e.count * sizeof *e->e.node);
    double before = search_archive_best(a, e->size);
    size_t out = same < *n ? same : *n; /* the one that goes, or the end */
    if (same < *n || *n == ARCHIVE_PER_SIZE) {
        out = same < *n ? same : *n - 1;
        free(of[out].e.node);
    } else {
        ++*n;
    }
    memmove(of + place + 1, of + place, (out - place) * sizeof *of);
    of[place] = copy;
    list(a);
    return e->loss[0] < before;
}

double search_archive_best(const search_archive *a, size_t size)
{
    double best = INFINITY;
    for (size_t k = 0; k < a->front_count && a->front[k].size <= size; k++)
        best = a->front[k].loss[0];
    return best;
}

const search_entry *search_archive_front(const search_archive *a, size_t *count)
{
    *count = a->front_count;
    return a->front;
}

const search_entry *search_archive_kept(const search_archive *a, size_t *count)
{
    *count = a->kept_count;
    return a->kept;
}
