/* table.c - see table.h. */
#include "base/table.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

enum { TABLE_MEGABYTES = 1024 }; /* unless options say otherwise */

typedef struct cell {
    const char *s;
    size_t length;
} cell;

typedef struct reader {
    const char *path, *at, *end;
    size_t line;    /* of `at`, from 1 */
    char delimiter; /* ' ' stands for runs of blanks */
    cell *cells;
    size_t count, room; /* cells of the current line */
    arena *a;
    snip_status *st;
} reader;

static int blank(char c)
{
    return c == ' ' || c == '\t';
}

static cell trim(cell c)
{
    while (c.length && blank(*c.s))
        c.s++, c.length--;
    while (c.length && (blank(c.s[c.length - 1]) || c.s[c.length - 1] == '\r'))
        c.length--;
    return c;
}

static int add_cell(reader *r, cell c)
{
    if (r->count == r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        cell *more = arena_array(r->a, room, sizeof *more);
        if (!more)
            return 0;
        if (r->count)
            memcpy(more, r->cells, r->count * sizeof *more);
        r->cells = more;
        r->room = room;
    }
    r->cells[r->count++] = c;
    return 1;
}

/* A cell between quotes: "" inside stands for one quote. Leaves *s after the closing one. */
static snip_code quoted_cell(reader *r, const char **s, const char *end, cell *out)
{
    const char *p = *s + 1;
    text t = { .a = r->a };
    while (p < end && (*p != '"' || (p + 1 < end && p[1] == '"'))) {
        p += *p == '"';
        text_put(&t, p++, 1);
    }
    if (p >= end)
        return status_fail(r->st, SNIP_FORMAT, 0, "%s: line %zu: %s", r->path, r->line,
                           r->at < r->end && memchr(r->at, '"', (size_t)(r->end - r->at))
                               ? "a quoted cell goes on in the next line; a row must be one line"
                               : "quote without its end");
    *s = p + 1;
    const char *unquoted = text_end(&t);
    if (!unquoted)
        return status_nomem(r->st);
    *out = (cell){ unquoted, t.length };
    return SNIP_OK;
}

/* Splits [s, end), one line, into cells. */
static snip_code split(reader *r, const char *s, const char *end)
{
    r->count = 0;
    for (;;) {
        while (s < end && blank(*s) && *s != r->delimiter)
            s++;
        if (r->delimiter == ' ') {
            while (s < end && blank(*s))
                s++;
            if (s == end)
                return SNIP_OK;
        }
        cell c = { s, 0 };
        if (s < end && *s == '"') {
            snip_code code = quoted_cell(r, &s, end, &c);
            if (code != SNIP_OK)
                return code;
        } else {
            while (s < end && *s != r->delimiter && !(r->delimiter == ' ' && *s == '\t'))
                s++;
            c.length = (size_t)(s - c.s);
        }
        while (s < end && *s != r->delimiter && blank(*s))
            s++;
        if (s < end && *s != r->delimiter && r->delimiter != ' ')
            return status_fail(r->st, SNIP_FORMAT, 0, "%s: line %zu: text after a closing quote",
                               r->path, r->line);
        if (!add_cell(r, trim(c)))
            return status_nomem(r->st);
        if (r->delimiter != ' ') {
            if (s == end)
                return SNIP_OK;
            s++; /* the delimiter; an empty cell may follow it */
        }
    }
}

/* The next line that is not empty, without its end. Returns 0 after the last. */
static int next_line(reader *r, const char **start, const char **end)
{
    while (r->at < r->end) {
        const char *s = r->at, *e = memchr(s, '\n', (size_t)(r->end - s));
        r->line++;
        r->at = e ? e + 1 : r->end;
        if (!e)
            e = r->end;
        while (e > s && (e[-1] == '\r' || blank(e[-1])))
            /* a blank may be the last, empty cell of a tab-separated line */
            if (e[-1] == '\t' && r->delimiter == '\t')
                break;
            else
                e--;
        const char *first = s;
        while (first < e && blank(*first))
            first++;
        if (first < e) {
            *start = s;
            *end = e;
            return 1;
        }
    }
    return 0;
}

/* How often c stands in [s, end) outside of quotes. */
static size_t count_of(char c, const char *s, const char *end)
{
    size_t n = 0;
    for (int quoted = 0; s < end; s++) {
        quoted ^= *s == '"';
        n += !quoted && *s == c;
    }
    return n;
}

/* What separates the cells: something that stands as often in the first line, [s, end), as in the
 * next one; failing that, anything in the first. */
static char guess_delimiter(const reader *r, const char *s, const char *end)
{
    size_t n = strlen(r->path);
    if (n > 3 && strcmp(r->path + n - 3, ".gz") == 0)
        n -= 3;
    int tsv = n > 4 && strncmp(r->path + n - 4, ".tsv", 4) == 0;
    reader ahead = *r;
    const char *s2 = s, *end2 = end;
    next_line(&ahead, &s2, &end2);
    for (const char *c = tsv ? "\t;," : ";,\t"; *c; c++) {
        size_t here = count_of(*c, s, end);
        if (here && here == count_of(*c, s2, end2))
            return *c;
    }
    for (const char *c = tsv ? "\t,;" : ",\t;"; *c; c++)
        if (count_of(*c, s, end))
            return *c;
    return ' ';
}

typedef enum cell_kind { CELL_NUMBER, CELL_INVALID, CELL_TEXT } cell_kind;

/* What a cell holds: a finite number, something that stands for none, or other text. */
static cell_kind cell_value(const reader *r, cell c, double *value)
{
    static const char *const missing[] = { "",     "NA",   "N/A",  "#N/A", "na",
                                           "null", "NULL", "None", "?",    "-" };
    *value = NAN;
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (strlen(missing[i]) == c.length && memcmp(missing[i], c.s, c.length) == 0)
            return CELL_INVALID;
    char copy[512], *end;
    if (c.length >= sizeof copy)
        return CELL_TEXT;
    memcpy(copy, c.s, c.length);
    copy[c.length] = 0;
    if (strpbrk(copy, "xX")) /* strtod reads hexadecimal; a table does not mean it */
        return CELL_TEXT;
    char *comma = r->delimiter == ';' ? strchr(copy, ',') : NULL;
    if (comma && !strpbrk(copy, "."))
        *comma = '.';
    *value = strtod(copy, &end);
    if (*end || end == copy)
        return CELL_TEXT;
    return isfinite(*value) ? CELL_NUMBER : CELL_INVALID;
}

/* Whether the first line is a header: no cell is a number, though some may be empty. A line that
 * mixes both is more likely data with a typing error, so it is refused. */
static snip_code find_header(reader *r, int *header)
{
    size_t numbers = 0;
    const cell *word = NULL;
    for (size_t i = 0; i < r->count; i++) {
        double v;
        cell_kind kind = cell_value(r, r->cells[i], &v);
        numbers += kind == CELL_NUMBER;
        if (kind == CELL_TEXT && !word)
            word = &r->cells[i];
    }
    *header = word != NULL;
    if (word && numbers)
        return status_fail(r->st, SNIP_FORMAT, 0,
                           "%s: line %zu mixes names and numbers: '%.*s' is not a number", r->path,
                           r->line, word->length > 40 ? 40 : (int)word->length, word->s);
    return SNIP_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names from the cells of a header, or x0, x1, ... */
static snip_code take_names(reader *r, table *out)
{
    out->columns = r->count;
    out->name = arena_array(r->a, r->count, sizeof *out->name);
    out->nameless = arena_zero(r->a, r->count);
    if (!out->name || !out->nameless)
        return status_nomem(r->st);
    for (size_t j = 0; j < r->count; j++) {
        text t = { .a = r->a };
        out->nameless[j] = out->header && r->cells[j].length == 0;
        if (!out->header)
            text_add(&t, "x%zu", j);
        else if (out->nameless[j])
            text_add(&t, "column_%zu", j + 1);
        else
            text_put(&t, r->cells[j].s, r->cells[j].length);
        const char *name = text_end(&t);
        if (name && (name = text_utf8(name, r->a)))
            name = text_shown(name, r->a);
        out->name[j] = name && *name ? name : NULL;
        if (!out->name[j])
            return status_nomem(r->st);
    }
    if (!out->header)
        return SNIP_OK;
    const char **sorted = arena_copy(r->a, out->name, r->count * sizeof *sorted);
    if (!sorted)
        return status_nomem(r->st);
    qsort(sorted, r->count, sizeof *sorted, by_name);
    for (size_t j = 0; j + 1 < r->count; j++)
        if (strcmp(sorted[j], sorted[j + 1]) == 0)
            return status_fail(r->st, SNIP_FORMAT, 0, "%s: two columns are called '%.60s'", r->path,
                               sorted[j]);
    return SNIP_OK;
}

static const table_hints *hints_of(const table_options *options)
{
    static const table_hints none = { 0 };
    return options->hints ? options->hints : &none;
}

/* What to do about it, in brackets; or nothing where the caller has no such option. */
static const char *advice(arena *a, const char *option, const char *does)
{
    text t = { .a = a };
    if (option)
        text_add(&t, " (%s%s)", option, does);
    const char *made = text_end(&t);
    return made ? made : "";
}

/* Appends the numbers of the current line to the columns that are used. */
static snip_code take_row(reader *r, table *out, const char *used, const table_options *options)
{
    if (r->count == out->columns + 1 && r->cells[r->count - 1].length == 0)
        r->count--; /* a delimiter at the end of the line */
    if (r->count != out->columns)
        return status_fail(r->st, SNIP_FORMAT, 0, "%s: line %zu has %zu value%s, expected %zu",
                           r->path, r->line, r->count, text_plural(r->count), out->columns);
    for (size_t j = 0; j < r->count; j++) {
        cell c = r->cells[j];
        int shown = c.length > 40 ? 40 : (int)c.length;
        if (!used[j])
            continue;
        switch (cell_value(r, c, &out->column[j][out->rows])) {
        case CELL_TEXT:
            return status_fail(
                r->st, SNIP_FORMAT, 0, "%s: line %zu, column '%.40s': '%.*s' is not a number%s",
                r->path, r->line, out->name[j], shown, c.s,
                options->need_target && !options->columns
                    ? advice(r->a, hints_of(options)->columns, " names the inputs to use")
                    : "");
        case CELL_INVALID:
            if (options->drop_invalid) {
                out->dropped++;
                return SNIP_OK;
            }
            return status_fail(
                r->st, SNIP_FORMAT, 0, "%s: line %zu, column '%.40s': %s'%.*s'%s", r->path, r->line,
                out->name[j], c.length ? "not a finite number: " : "empty cell ", shown, c.s,
                advice(r->a, hints_of(options)->drop_invalid, " leaves such rows out"));
        case CELL_NUMBER:
            break;
        }
    }
    out->rows++;
    return SNIP_OK;
}

static size_t column_called(const table *t, cell name)
{
    for (size_t j = 0; j < t->columns; j++)
        if (strlen(t->name[j]) == name.length && memcmp(t->name[j], name.s, name.length) == 0)
            return j;
    return TABLE_NO_TARGET;
}

static snip_code find_target(const reader *r, table *out, const table_options *options)
{
    const char *name = options->target ? options->target : "target";
    out->target = column_called(out, (cell){ name, strlen(name) });
    if (options->target && out->target == TABLE_NO_TARGET)
        return status_fail(r->st, SNIP_FORMAT, 0, "%s: there is no column '%.60s'", r->path, name);
    if (options->need_target && out->target == TABLE_NO_TARGET) {
        out->target = out->columns - 1;
        if (out->target == out->weights && out->columns > 1)
            out->target--;
    }
    if (options->weights && out->target == out->weights)
        return status_fail(r->st, SNIP_FORMAT, 0, "%s: '%.60s' cannot be the target and its weight",
                           r->path, options->weights);
    return SNIP_OK;
}

static snip_code find_weights(const reader *r, table *out, const table_options *options)
{
    const char *name = options->weights;
    if (!name)
        return SNIP_OK;
    out->weights = column_called(out, (cell){ name, strlen(name) });
    return out->weights != TABLE_NO_TARGET
               ? SNIP_OK
               : status_fail(r->st, SNIP_FORMAT, 0, "%s: there is no column '%.60s' of weights",
                             r->path, name);
}

/* The inputs, and which columns are used at all. */
static snip_code find_inputs(const reader *r, table *out, char *used, const table_options *options)
{
    out->input = arena_array(r->a, out->columns, sizeof *out->input);
    if (!out->input)
        return status_nomem(r->st);
    for (size_t i = 0; i < options->takes && options->take; i++) {
        out->input[out->inputs++] = options->take[i];
        used[options->take[i]] = 1;
    }
    if (options->take && out->target != TABLE_NO_TARGET)
        used[out->target] = 1;
    if (options->take)
        return SNIP_OK;
    if (!options->columns) {
        for (size_t j = 0; j < out->columns; j++)
            if (j != out->target && j != out->weights)
                out->input[out->inputs++] = j;
        memset(used, 1, out->columns);
        return SNIP_OK;
    }
    const char *option = hints_of(options)->columns;
    reader list = {
        .path = option ? option : "the inputs", .line = 1, .delimiter = ',', .a = r->a, .st = r->st
    };
    snip_code code = split(&list, options->columns, options->columns + strlen(options->columns));
    if (code != SNIP_OK)
        return code;
    for (size_t i = 0; i < list.count; i++) {
        cell c = list.cells[i];
        size_t j = column_called(out, c);
        int shown = c.length > 40 ? 40 : (int)c.length;
        if (j == TABLE_NO_TARGET)
            return status_fail(r->st, SNIP_FORMAT, 0, "%s: there is no input called '%.*s'",
                               r->path, shown, c.s);
        if (j == out->target)
            return status_fail(r->st, SNIP_FORMAT, 0, "%s: '%.*s' is the target, not an input%s",
                               r->path, shown, c.s,
                               advice(r->a, hints_of(options)->target, " names another"));
        if (j == out->weights)
            return status_fail(r->st, SNIP_FORMAT, 0,
                               "%s: '%.*s' is the rows' weight, not an input", r->path, shown, c.s);
        if (used[j])
            return status_fail(r->st, SNIP_FORMAT, 0, "%s: '%.*s' is named twice", list.path, shown,
                               c.s);
        used[j] = 1;
        out->input[out->inputs++] = j;
    }
    if (out->target != TABLE_NO_TARGET)
        used[out->target] = 1;
    if (out->weights != TABLE_NO_TARGET)
        used[out->weights] = 1;
    return SNIP_OK;
}

/* The rows that may still come: no more than lines, and a row has a byte for each cell. */
static size_t rows_ahead(const reader *r, size_t width)
{
    size_t lines = 2, most = (size_t)(r->end - r->at) / width + 2; /* the line at hand is one */
    for (const char *s = r->at; s < r->end && (s = memchr(s, '\n', (size_t)(r->end - s))); s++)
        lines++;
    return lines < most ? lines : most;
}

/* Makes columns with room for all rows; those that are not used share one. */
static snip_code make_columns(reader *r, table *out, const char *used, const table_options *options,
                              size_t text)
{
    size_t room = rows_ahead(r, out->columns), count = 0;
    for (size_t j = 0; j < out->columns; j++)
        count += used[j] != 0;
    int unused = count < out->columns;
    double need =
        ((double)room * (double)(count + (size_t)unused) * sizeof(double) + (double)text) /
        (1 << 20);
    uint64_t most = options->megabytes ? options->megabytes : TABLE_MEGABYTES;
    if (need > (double)most)
        return status_fail(r->st, SNIP_FORMAT, 0,
                           "%s: the table takes %.0f MB of memory, more than %llu%s", r->path,
                           ceil(need), (unsigned long long)most,
                           advice(r->a, hints_of(options)->megabytes, ""));
    out->column = arena_array(r->a, out->columns, sizeof *out->column);
    double *nothing = unused ? arena_array(r->a, room, sizeof *nothing) : NULL;
    if (!out->column || (unused && !nothing))
        return status_nomem(r->st);
    for (size_t i = 0; i < room && unused; i++)
        nothing[i] = NAN;
    for (size_t j = 0; j < out->columns; j++)
        if (!(out->column[j] = used[j] ? arena_array(r->a, room, sizeof(double)) : nothing))
            return status_nomem(r->st);
    return SNIP_OK;
}

/* All rows after the first line, into columns. The first line is in r->cells. */
static snip_code take_rows(reader *r, table *out, const char *used, const table_options *options,
                           size_t text)
{
    const char *s, *e;
    snip_code code = make_columns(r, out, used, options, text);
    if (code == SNIP_OK && !out->header)
        code = take_row(r, out, used, options);
    while (code == SNIP_OK && next_line(r, &s, &e)) {
        arena_pos mark = arena_mark(r->a);
        const cell *cells = r->cells;
        code = split(r, s, e);
        if (code == SNIP_OK)
            code = take_row(r, out, used, options);
        if (r->cells == cells) /* what quoted cells took is given back */
            arena_reset(r->a, mark);
    }
    if (code == SNIP_OK && out->rows == 0)
        code = status_fail(r->st, SNIP_FORMAT, 0, "%s: the table has no rows%s", r->path,
                           out->dropped ? " without missing cells" : "");
    return code;
}

/* Whether all cells of the line at hand are numbers, or stand for none. */
static int all_numbers(const reader *r)
{
    double v;
    for (size_t i = 0; i < r->count; i++)
        if (cell_value(r, r->cells[i], &v) == CELL_TEXT)
            return 0;
    return 1;
}

/* Whether the next line ends with an empty cell, as the one at hand does. */
static int next_ends_empty(const reader *r)
{
    reader ahead = *r;
    const char *s, *e;
    ahead.cells = NULL;
    ahead.count = ahead.room = 0;
    ahead.st = NULL;
    return next_line(&ahead, &s, &e) && split(&ahead, s, e) == SNIP_OK && ahead.count == r->count &&
           ahead.cells[ahead.count - 1].length == 0;
}

/* Whether the line at hand has names only. */
static int all_names(const reader *r)
{
    double v;
    int words = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (cell_value(r, r->cells[i], &v) == CELL_NUMBER)
            return 0;
        words |= cell_value(r, r->cells[i], &v) == CELL_TEXT;
    }
    return words;
}

/* Whether the last of the lines with a # from `r` on, rows of numbers left out, has a name for each
 * of `columns` columns; they are in r->cells then. */
static int commented_header(reader *r, size_t columns)
{
    const char *s, *e;
    reader ahead = *r, last = { 0 };
    ahead.st = NULL;
    while (next_line(&ahead, &s, &e) && *s == '#') {
        ahead.cells = NULL; /* those of the last line are kept */
        ahead.count = ahead.room = 0;
        if (split(&ahead, s + 1, e) == SNIP_OK && !all_numbers(&ahead))
            last = ahead;
    }
    if (last.count != columns || !all_names(&last))
        return 0;
    r->cells = last.cells;
    r->count = last.count;
    r->room = last.room;
    return 1;
}

/* Splits the first line; what separates cells is known from here on. Lines that begin with # are
 * left out, but for one before numbers that has a name for each column. A delimiter at the end of
 * the first two lines makes no column. */
static snip_code first_line(reader *r)
{
    const char *s, *e;
    reader start = *r, numbers;
    do {
        numbers = *r;
        if (!next_line(r, &s, &e))
            return status_fail(r->st, SNIP_FORMAT, 0, "%s: the table is empty", r->path);
    } while (*s == '#');
    r->delimiter = guess_delimiter(r, s, e);
    snip_code code = split(r, s, e);
    if (code != SNIP_OK)
        return code;
    start.delimiter = numbers.delimiter = r->delimiter;
    if (all_numbers(r) && commented_header(&start, r->count)) {
        numbers.cells = start.cells;
        numbers.count = start.count;
        numbers.room = start.room;
        *r = numbers; /* which come next */
    }
    if (r->count > 1 && r->cells[r->count - 1].length == 0 && next_ends_empty(r))
        r->count--;
    return SNIP_OK;
}

snip_code table_parse(table *out, const char *path, const char *text, size_t size,
                      const table_options *options, arena *a, snip_status *st)
{
    *out = (table){ .target = TABLE_NO_TARGET, .weights = TABLE_NO_TARGET };
    reader r = { .path = path, .at = text, .end = text + size, .a = a, .st = st };
    const char *why = text_unreadable(text, size);
    if (why)
        return status_fail(st, SNIP_FORMAT, 0, "%s: %s", path, why);
    if (memchr(text, 0, size))
        return status_fail(st, SNIP_FORMAT, 0, "%s: holds a zero byte, so it is not a text table",
                           path);
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) /* a byte order mark */
        r.at += 3;
    static const table_options usual = { 0 };
    if (!options)
        options = &usual;
    snip_code code = first_line(&r);
    if (code == SNIP_OK)
        code = find_header(&r, &out->header);
    if (code == SNIP_OK)
        code = take_names(&r, out);
    char *used = code == SNIP_OK ? arena_zero(a, out->columns) : NULL;
    if (code == SNIP_OK && !used)
        code = status_nomem(st);
    if (code == SNIP_OK)
        code = find_weights(&r, out, options);
    if (code == SNIP_OK)
        code = find_target(&r, out, options);
    if (code == SNIP_OK)
        code = find_inputs(&r, out, used, options);
    if (code == SNIP_OK && !options->names_only)
        code = take_rows(&r, out, used, options, size);
    return code;
}

snip_code table_text(char **out, size_t *size, const char *path, const table_options *options,
                     arena *a, snip_status *st)
{
    uint64_t most = options && options->megabytes ? options->megabytes : TABLE_MEGABYTES;
    return file_read_most(out, size, path, (size_t)most << 20,
                          options ? hints_of(options)->megabytes : NULL, a, st);
}

snip_code table_read(table *out, const char *path, const table_options *options, arena *a,
                     snip_status *st)
{
    char *text;
    size_t size;
    snip_code code = table_text(&text, &size, path, options, a, st);
    if (code != SNIP_OK)
        return code;
    return table_parse(out, path, text, size, options, a, st);
}

int table_inputs(const table *t, const char ***names, const double ***columns, arena *a)
{
    *names = arena_array(a, t->inputs + 1, sizeof **names);
    *columns = arena_array(a, t->inputs + 1, sizeof **columns);
    if (!*names || !*columns)
        return 0;
    for (size_t i = 0; i < t->inputs; i++) {
        (*names)[i] = t->name[t->input[i]];
        (*columns)[i] = t->column[t->input[i]];
    }
    return 1;
}

const char *table_note(const table *t, const table_options *options, size_t k, arena *a)
{
    text note = { .a = a };
    if (t->dropped && k-- == 0) {
        text_add(&note, "%zu row%s with missing or non-finite cells left out", t->dropped,
                 text_plural(t->dropped));
        return text_end(&note);
    }
    for (size_t i = 0; i < t->inputs && !options->columns; i++)
        if (t->nameless[t->input[i]] && k-- == 0) {
            const char *option = hints_of(options)->columns;
            text_add(&note, "a column without a name is used as the input %s",
                     t->name[t->input[i]]);
            if (option)
                text_add(&note, " (%s names the inputs to use)", option);
            return text_end(&note);
        }
    return NULL;
}
