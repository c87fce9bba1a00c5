/* archive.h - what a search keeps: the best formulas of every size, and which forms were judged. */
#ifndef SEARCH_ARCHIVE_H
#define SEARCH_ARCHIVE_H

#include "search/search_int.h"

enum { ARCHIVE_PER_SIZE = 12 };

typedef struct search_archive search_archive;

/* NULL when memory is out. `memory` bounds the record of judged forms, in bytes, also while it
 * grows. */
search_archive *search_archive_new(size_t memory);
void search_archive_free(search_archive *a);

/* Whether a form was judged before, and its loss then. */
int search_archive_knows(const search_archive *a, uint64_t hash, double *loss);

/* Takes a judged formula: remembers its form and keeps a copy if it is among the best of its size.
 * Returns -1 when memory is out, 1 if the front changed, else 0. */
int search_archive_add(search_archive *a, const search_entry *e);

/* The least loss on training rows of the formulas of at most so many nodes; +infinity: none. */
double search_archive_best(const search_archive *a, size_t size);

/* See search_front and search_kept. */
const search_entry *search_archive_front(const search_archive *a, size_t *count);
const search_entry *search_archive_kept(const search_archive *a, size_t *count);

#endif
