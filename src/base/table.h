/* table.h - tables of numbers from CSV, TSV or whitespace-separated files, plain or gzipped.
 *
 *     table t;
 *     if (table_read(&t, "data.csv.gz", NULL, a, &st) != SNIP_OK)
 *         return fprintf(stderr, "%s\n", st.msg), 1;
 *     // t.column[j][i] is row i of column j, called t.name[j]
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

/* What a caller calls the settings below, for messages that say how to go on: "--columns". NULL:
 * nothing is said. */
typedef struct table_hints {
    const char *columns, *target, *drop_invalid, *megabytes;
} table_hints;

typedef struct table_options {
    const char *target;  /* name of the target column; NULL: "target" if there is one */
    const char *columns; /* names of the inputs, as a line of CSV; NULL: all others */
    const char *weights; /* name of the column of the rows' weights; NULL: there is none */
    int need_target;     /* without such a name the last column is the target */
    int drop_invalid;    /* leave out rows with missing, NaN or infinite cells, else refuse */
    uint64_t megabytes;  /* the text and its numbers take at most so much memory; 0: 1024 */
    int names_only;      /* look at the header, and read no rows */
    const size_t *take;  /* the columns that are inputs, `takes` of them, in place of `columns` */
    size_t takes;
    const table_hints *hints; /* NULL: none */
} table_options;

typedef struct table {
    size_t rows, columns;
    int header;            /* whether the file named its columns */
    const char **name;     /* x0, x1, ... without a header */
    double **column;       /* NaN where it is neither of these: such columns may hold anything */
    size_t target;         /* the target column, or TABLE_NO_TARGET */
    size_t weights;        /* the column of weights, or TABLE_NO_TARGET */
    size_t inputs, *input; /* the columns that are inputs, in the order of `columns` */
    size_t dropped;        /* rows left out */
    char *nameless;        /* per column: without a name in the header, so called column_1, ... */
} table;

#define TABLE_NO_TARGET ((size_t)-1)

/* Reads the file at `path`, or standard input for "-". `options` may be NULL. A header is a first
 * line without numbers; lines before it that begin with # are comments, but for a header as NumPy
 * writes it (`# a,b` before numbers). Names that are not UTF-8 are taken for Windows-1252; control
 * characters in them are read as ?. Where
 * semicolons separate the cells, 0,5 is 0.5. Everything lives in `a`. Messages name file, line and
 * column. */
snip_code table_read(table *out, const char *path, const table_options *options, arena *a,
                     snip_status *st);

/* The file's text, for table_parse, within the memory that `options` allow. */
snip_code table_text(char **out, size_t *size, const char *path, const table_options *options,
                     arena *a, snip_status *st);

/* The same from memory; text[size] must be 0. `path` is only for messages and for its ending. */
snip_code table_parse(table *out, const char *path, const char *text, size_t size,
                      const table_options *options, arena *a, snip_status *st);

/* The inputs as arrays of names and columns in `a`. Returns 0 when memory is out. */
int table_inputs(const table *t, const char ***names, const double ***columns, arena *a);

/* The k-th thing that reading the table in this way left out or made up, as a sentence in `a`; NULL
 * after the last. */
const char *table_note(const table *t, const table_options *options, size_t k, arena *a);

#endif
