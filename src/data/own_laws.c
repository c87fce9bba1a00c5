/* own_laws.c - see own_laws.h. How a sample is made of a formula is in laws.c. */
#include "data/own_laws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/streams.h"
#include "data/laws_int.h"

/* name=low:high. Returns 0 if it is none; ends the name in place. */
static int read_range(char *word, const char **name, double *low, double *high)
{
    char *equals = strchr(word, '='), *end;
    if (!equals || equals == word)
        return 0;
    *equals = 0;
    *name = word;
    *low = strtod(equals + 1, &end);
    if (end == equals + 1 || *end != ':')
        return 0;
    char *from = end + 1;
    *high = strtod(from, &end);
    return end != from && *end == 0 && isfinite(*low) && isfinite(*high) && *low < *high;
}

/* One line: formula, tab, ranges. */
static snip_code read_line(data_own_law *out, char *line, size_t number, arena *a, snip_status *st)
{
    char *tab = strchr(line, '\t'), *state = NULL;
    const char *name[DATA_DIMS_MAX];
    snip_status why = { 0 };
    if (!tab)
        return status_fail(st, SNIP_FORMAT, 0,
                           "line %zu: wants a formula, a tab and ranges such as x=1:5", number);
    *tab = 0;
    out->dim = 0;
    for (char *w = strtok_r(tab + 1, " \t", &state); w; w = strtok_r(NULL, " \t", &state)) {
        if (out->dim == DATA_DIMS_MAX)
            return status_fail(st, SNIP_FORMAT, 0, "line %zu: more than %d inputs", number,
                               DATA_DIMS_MAX);
        if (!read_range(w, &name[out->dim], &out->low[out->dim], &out->high[out->dim]))
            return status_fail(
                st, SNIP_FORMAT, 0,
                "line %zu: '%.40s' is not a range such as x=1:5, the lower end first", number, w);
        out->dim++;
    }
    const expr_names names = { name, (size_t)out->dim };
    if (expr_parse(&out->e, line, &names, a, &why) != SNIP_OK)
        return status_fail(st, SNIP_FORMAT, 0, "line %zu: %.160s", number, why.msg);
    if (out->dim == 0 || expr_inputs(out->e) > (size_t)out->dim)
        return status_fail(st, SNIP_FORMAT, 0, "line %zu: an input has no range", number);
    return SNIP_OK;
}

snip_code data_own_laws_read(data_own_laws *out, char *text, arena *a, snip_status *st)
{
    const data_gen gen = { .dims = DATA_DIMS_MAX, .points = DATA_POINTS };
    size_t lines = 1, number = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    *out = (data_own_laws){ .law = arena_array(a, lines, sizeof *out->law),
                            .hash = XXH3_64bits(text, strlen(text)) >> 11 };
    if (!out->law)
        return status_nomem(st);
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        number++;
        line[strcspn(line, "\r")] = 0;
        if (line[strspn(line, " \t")] == 0 || line[0] == '#')
            continue;
        data_own_law *law = &out->law[out->count];
        snip_code code = read_line(law, line, number, a, st);
        if (code != SNIP_OK)
            return code;
        data_sample s;
        const data_own_laws one = { .count = 1, .law = law };
        arena_pos mark = arena_mark(a);
        code = data_own_law_draw(&s, &one, &gen, 0, streams_map[STREAMS_OWN_FORMULAS].stream,
                                 streams_index(STREAMS_OWN_FORMULAS, number), a);
        arena_reset(a, mark);
        if (code == SNIP_UNSUPPORTED)
            return status_fail(st, SNIP_FORMAT, 0,
                               "line %zu: no usable table: values are not finite or do not vary "
                               "over the ranges, or an input does not matter",
                               number);
        if (code != SNIP_OK)
            return status_nomem(st);
        out->count++;
    }
    return out->count ? SNIP_OK : status_fail(st, SNIP_FORMAT, 0, "holds no formula");
}

snip_code data_own_law_draw(data_sample *out, const data_own_laws *own, const data_gen *gen,
                            uint64_t seed, rng_stream stream, uint64_t index, arena *a)
{
    rng r;
    rng_init_part(&r, seed, stream, index, RNG_OWN);
    const data_own_law *law = &own->law[rng_below(&r, (uint32_t)own->count)];
    return law_of_formula(out, law->e, law->dim, law->low, law->high, gen->points, &r, a);
}
