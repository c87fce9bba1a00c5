/* formulas.c - see formulas.h. */
#include "regress/formulas.h"

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

enum { LINES_MAX = 10000000 }; /* of a file */

/* The next cell of a CSV line, unquoted in place; *s moves behind it. NULL if there is none or a
 * quote has no end. */
static char *next_cell(char **s)
{
    char *from = *s, *to = *s, *start = *s;
    if (!from)
        return NULL;
    if (*from == '"') {
        for (from++; *from && (*from != '"' || from[1] == '"'); *to++ = *from++)
            from += *from == '"';
        if (!*from)
            return NULL;
    } else {
        while (*from && *from != ',')
            *to++ = *from++;
    }
    from += strcspn(from, ",");
    *s = *from ? from + 1 : NULL;
    *to = 0;
    return start;
}

/* Which cell of a CSV head is called Equation, -1 if none. The line is spoilt. */
static int equation_column(char *line)
{
    if (!strchr(line, ','))
        return -1;
    const char *cell;
    for (int k = 0; (cell = next_cell(&line)); k++)
        if (strcasecmp(cell, "equation") == 0)
            return k;
    return -1;
}

static char *strip(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    size_t n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1]))
        s[--n] = 0;
    return s;
}

/* Whether the line is not blank and no comment; sets its text and name. The text is NULL where a
 * CSV file has no such cell. */
static int split(regress_formula *l, char *line, int column)
{
    l->name = NULL;
    line = strip(line);
    if (!*line || (*line == '#' && column < 0))
        return 0;
    if (column >= 0) {
        char *cell = NULL;
        for (int k = 0; k <= column; k++)
            cell = next_cell(&line);
        l->text = cell ? strip(cell) : NULL;
        return 1;
    }
    char *tab = strchr(line, '\t');
    if (tab) {
        *tab = 0;
        l->name = text_clean(strip(line));
        line = strip(tab + 1);
    }
    l->text = line;
    return 1;
}

/* The file's text and room for a formula a line. */
static snip_code read_all(char **all, regress_formula **out, const char *path, arena *a,
                          snip_status *st)
{
    size_t size, room = 1;
    snip_code code = file_read_text(all, &size, path, FILE_FORMULAS_MAX, a, st);
    for (size_t i = 0; code == SNIP_OK && i < size; i++) {
        if (!(*all)[i])
            return status_fail(st, SNIP_FORMAT, i, "%s: holds a zero byte, so it is not text",
                               path);
        room += (*all)[i] == '\n';
    }
    if (code != SNIP_OK)
        return code;
    if (room > LINES_MAX)
        return status_fail(st, SNIP_FORMAT, 0, "%s: has more than %d lines", path, LINES_MAX);
    *out = arena_array(a, room, sizeof **out);
    return *out ? SNIP_OK : status_nomem(st);
}

/* Parses a line's formula; *st says where and why it cannot be read. */
static snip_code parse(regress_formula *l, const char *path, const expr_names *names, arena *a,
                       snip_status *st)
{
    if (!l->text)
        return status_fail(
            st, SNIP_FORMAT, 0,
            "%s, line %zu: no cell in the column Equation, or a quote without its end", path,
            l->number);
    snip_status why;
    snip_code code = expr_parse(&l->e, l->text, names, a, &why);
    if (code == SNIP_OK)
        return SNIP_OK;
    return status_fail(st, code, why.pos, "%s, line %zu, byte %zu of the formula: %s", path,
                       l->number, why.pos, why.msg);
}

snip_code regress_formulas_read(regress_formula **out, size_t *count, const char *path,
                                const expr_names *names, regress_skipped *skipped, void *with,
                                arena *a, snip_status *st)
{
    char *all;
    size_t number = 0;
    int column = -1;
    *count = 0;
    snip_code code = read_all(&all, out, path, a, st);
    if (code != SNIP_OK)
        return code;
    for (char *line = all, *next; line; line = next) {
        regress_formula *l = &(*out)[*count];
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (++number == 1) {
            char *head = arena_text(a, line, strlen(line));
            column = head ? equation_column(strip(head)) : -1;
            if (column >= 0)
                continue;
        }
        l->number = number;
        if (!split(l, line, column))
            continue;
        snip_status why;
        code = parse(l, path, names, a, &why);
        if (code == SNIP_OK) {
            ++*count;
        } else if (skipped && code != SNIP_NOMEM) {
            skipped(with, why.msg);
        } else {
            if (st)
                *st = why;
            return code;
        }
    }
    return *count ? SNIP_OK : status_fail(st, SNIP_FORMAT, 0, "%s: holds no formula", path);
}
