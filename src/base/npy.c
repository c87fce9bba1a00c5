/* npy.c - see npy.h. */
#include "base/npy.h"

#include <string.h>

int npy_head(FILE *f, size_t rows, size_t cols)
{
    char head[128];
    memset(head, ' ', sizeof head);
    int n =
        snprintf(head, sizeof head,
                 "\x93NUMPY%c%c%c%c{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }",
                 1, 0, (int)sizeof head - 10, 0, rows, cols); /* version 1.0, length of the rest */
    head[n] = ' ';
    head[sizeof head - 1] = '\n';
    return fwrite(head, sizeof head, 1, f) == 1;
}
