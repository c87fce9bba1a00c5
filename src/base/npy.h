/* npy.h - matrices of floats as .npy files, which NumPy reads. */
#ifndef BASE_NPY_H
#define BASE_NPY_H

#include <stddef.h>
#include <stdio.h>

/* Writes the head of a file of rows x cols floats; they follow, row by row. It always has the same
 * length, so that it can be written again when the number of rows is known. Returns 0 on failure.
 */
int npy_head(FILE *f, size_t rows, size_t cols);

#endif
