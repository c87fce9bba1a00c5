/* points.h - the input points of a sample. */
#ifndef DATA_POINTS_H
#define DATA_POINTS_H

#include "base/rng.h"
#include "base/arena.h"

/* Draws `n` points of `dim` coordinates into x, column j at x + j * stride: clusters turned at
 * random, grouped by cluster, each coordinate of mean 0 and population standard deviation 1.
 * Returns 0 when memory is out. */
typedef int data_points_function(rng *r, int dim, size_t n, double *x, size_t stride, int *clusters,
                                 int *uniform, arena *tmp);

data_points_function data_points_draw;

/* What it calls, by instruction set. */
data_points_function data_points_draw_generic, data_points_draw_avx2, data_points_draw_avx512;

#endif
