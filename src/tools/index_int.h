/* index_int.h - what reading and writing a library share. */
#ifndef TOOLS_INDEX_INT_H
#define TOOLS_INDEX_INT_H

#include <sqlite3.h>

#include "tools/index.h"

enum { TOOLS_INDEX_WAIT = 2000 }; /* milliseconds for another process's commit */

/* PATH.vectors, allocated; NULL when memory is out. */
char *tools_index_vectors(const char *path);

/* Makes the database of a library without formulas; it is there whole after this, or not at all. */
snip_code tools_index_create(const char *path, const tools_index_facts *f, snip_status *st);

/* Opens the database of an existing library. */
snip_code tools_index_db(sqlite3 **out, const char *path, snip_status *st);

/* Tells in one line why the last call on `db` failed. */
snip_code tools_index_db_fail(sqlite3 *db, const char *path, snip_status *st);

/* Runs statements without results. */
snip_code tools_index_db_run(sqlite3 *db, const char *path, const char *sql, snip_status *st);

/* Reads and checks what the library says of itself, within the transaction of the caller. `model`
 * is as in tools_index_open. */
snip_code tools_index_facts_read(tools_index_facts *out, sqlite3 *db, const char *path,
                                 const tools_model *model, snip_status *st);

#endif
