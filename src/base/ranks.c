/* ranks.c - see ranks.h. */
#include "base/ranks.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { PENDING_MAX = 64 };

struct ranks {
    int count, me;
    int *counts, *places; /* for gathering */
    MPI_Request pending[PENDING_MAX];
    int n_pending;
};

/* mpirun tells its children so; nothing else sets these. */
static int under_mpirun(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK") || getenv("PMI_RANK");
}

ranks *ranks_start(void)
{
    if (!under_mpirun())
        return NULL;
    int level, count;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return NULL;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    ranks *r = calloc(1, sizeof *r);
    int *room = calloc(2 * (size_t)count, sizeof *room);
    if (!r || !room) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort(); /* which does not come back, but is not known to */
    }
    r->count = count;
    r->counts = room;
    r->places = room + count;
    MPI_Comm_rank(MPI_COMM_WORLD, &r->me);
    return r;
}

void ranks_stop(ranks *r)
{
    if (!r)
        return;
    MPI_Finalize();
    free(r->counts);
    free(r);
}

void ranks_abort(ranks *r, int code)
{
    if (r && r->count > 1)
        MPI_Abort(MPI_COMM_WORLD, code);
}

int ranks_count(const ranks *r)
{
    return r ? r->count : 1;
}

int ranks_me(const ranks *r)
{
    return r ? r->me : 0;
}

void ranks_share_size(ranks *r, size_t mine, size_t *sizes)
{
    unsigned long long value = mine, *all = (unsigned long long *)sizes;
    _Static_assert(sizeof *all == sizeof *sizes, "sizes travel as unsigned long long");
    if (r)
        MPI_Allgather(&value, 1, MPI_UNSIGNED_LONG_LONG, all, 1, MPI_UNSIGNED_LONG_LONG,
                      MPI_COMM_WORLD);
    else
        sizes[0] = mine;
}

/* Gathers rows of `width` numbers of a type. MPI counts in ints: rows, here, not numbers. */
static void gather(ranks *r, const void *mine, void *all, const size_t *sizes, size_t width,
                   MPI_Datatype type)
{
    MPI_Datatype row;
    int place = 0;
    for (int k = 0; k < r->count; k++) {
        r->counts[k] = (int)sizes[k];
        r->places[k] = place;
        place += r->counts[k];
    }
    MPI_Type_contiguous((int)width, type, &row);
    MPI_Type_commit(&row);
    MPI_Allgatherv(mine, r->counts[r->me], row, all, r->counts, r->places, row, MPI_COMM_WORLD);
    MPI_Type_free(&row);
}

void ranks_gather_floats(ranks *r, const float *mine, float *all, const size_t *sizes, size_t width)
{
    if (r)
        gather(r, mine, all, sizes, width, MPI_FLOAT);
    else
        memcpy(all, mine, sizes[0] * width * sizeof *all);
}

void ranks_gather_ints(ranks *r, const int *mine, int *all, const size_t *sizes, size_t width)
{
    if (r)
        gather(r, mine, all, sizes, width, MPI_INT);
    else
        memcpy(all, mine, sizes[0] * width * sizeof *all);
}

void ranks_sum_begin(ranks *r, float *x, size_t n)
{
    const size_t most = (size_t)1 << 28;
    for (size_t from = 0; r && from < n; from += most) {
        size_t now = n - from < most ? n - from : most;
        if (r->n_pending == PENDING_MAX)
            ranks_wait(r);
        MPI_Iallreduce(MPI_IN_PLACE, x + from, (int)now, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                       &r->pending[r->n_pending++]);
    }
}

void ranks_wait(ranks *r)
{
    if (r && r->n_pending) {
        MPI_Waitall(r->n_pending, r->pending, MPI_STATUSES_IGNORE);
        r->n_pending = 0;
    }
}

int ranks_max(ranks *r, int mine)
{
    int all = mine;
    if (r)
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

int ranks_first(ranks *r, int mine)
{
    if (r)
        MPI_Bcast(&mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return mine;
}
