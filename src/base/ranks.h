/* ranks.h - the processes of one run, by MPI. The only door to it: mpi.h is seen by ranks.c alone.
 *
 *     ranks *r = ranks_start();          // NULL unless started by mpirun
 *     ranks_sum_begin(r, grad, n);       // when it has ended, every rank has the sum
 *     ranks_wait(r);
 *     ranks_stop(r);
 *
 * A NULL handle is a single process: every call is then a plain copy or nothing. Without mpirun MPI
 * is never initialised. All ranks must make the same calls in the same order. */
#ifndef BASE_RANKS_H
#define BASE_RANKS_H

#include <stddef.h>

typedef struct ranks ranks;

/* Joins the run that this process was started in, or returns NULL if it is alone. */
ranks *ranks_start(void);
void ranks_stop(ranks *r);

/* Ends all processes of the run at once, when one of them cannot go on. */
void ranks_abort(ranks *r, int code);

int ranks_count(const ranks *r);
int ranks_me(const ranks *r);

/* sizes[k] becomes the value that rank k gave. */
void ranks_share_size(ranks *r, size_t mine, size_t *sizes);

/* Puts the rows of all ranks together, in the order of the ranks: mine has sizes[me] rows of
 * `width` numbers, all has the sum of them. */
void ranks_gather_floats(ranks *r, const float *mine, float *all, const size_t *sizes,
                         size_t width);
void ranks_gather_ints(ranks *r, const int *mine, int *all, const size_t *sizes, size_t width);

/* Starts adding up x[0..n) over all ranks, in place; x must be left alone until ranks_wait. */
void ranks_sum_begin(ranks *r, float *x, size_t n);
void ranks_wait(ranks *r);

/* The largest of what the ranks gave. */
int ranks_max(ranks *r, int mine);

/* What rank 0 gave. */
int ranks_first(ranks *r, int mine);

#endif
