/* file_int.h - what reading and writing a library share. */
#ifndef LIBRARY_FILE_INT_H
#define LIBRARY_FILE_INT_H

#include <sqlite3.h>

#include "library/file.h"

enum { LIBRARY_WAIT = 2000 }; /* milliseconds for another process's commit */

/* PATH.vectors, allocated; NULL when memory is out. */
char *library_vectors(const char *path);

/* Makes the database of a library without formulas; it is there whole after this, or not at all. */
snip_code library_create(const char *path, const library_facts *f, snip_status *st);

/* Opens the database of an existing library. */
snip_code library_db(sqlite3 **out, const char *path, snip_status *st);

/* Tells in one line why the last call on `db` failed. */
snip_code library_db_fail(sqlite3 *db, const char *path, snip_status *st);

/* Runs statements without results. */
snip_code library_db_run(sqlite3 *db, const char *path, const char *sql, snip_status *st);

/* Reads and checks what the library says of itself, within the transaction of the caller. `model`
 * is as in library_open. */
snip_code library_facts_read(library_facts *out, sqlite3 *db, const char *path,
                             const model_opened *model, snip_status *st);

#endif
