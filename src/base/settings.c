/* settings.c - see settings.h. */
#include "base/settings.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A double holds every value of every kind exactly: whole numbers are below 2^53. */
static double get(const settings_key *k, const void *from)
{
    const void *at = (const char *)from + k->offset;
    switch (k->kind) {
    case SETTINGS_SIZE:
        return (double)*(const size_t *)at;
    case SETTINGS_WHOLE:
        return (double)*(const uint64_t *)at;
    case SETTINGS_REAL:
        return *(const double *)at;
    default:
        return *(const int *)at;
    }
}

static void put(const settings_key *k, void *to, double v)
{
    void *at = (char *)to + k->offset;
    switch (k->kind) {
    case SETTINGS_SIZE:
        *(size_t *)at = (size_t)v;
        break;
    case SETTINGS_WHOLE:
        *(uint64_t *)at = (uint64_t)v;
        break;
    case SETTINGS_REAL:
        *(double *)at = v;
        break;
    default:
        *(int *)at = (int)v;
    }
}

static snip_code set_choice(const settings_key *k, void *to, const char *value, snip_status *st)
{
    char list[80] = "";
    size_t at = 0;
    for (int i = 0; k->choices[i]; i++) {
        if (strcmp(k->choices[i], value) == 0) {
            put(k, to, i);
            return SNIP_OK;
        }
        const char *link = i == 0 ? "" : k->choices[i + 1] ? ", " : " or ";
        int n = snprintf(list + at, sizeof list - at, "%s%s", link, k->choices[i]);
        at = n < 0 || at + (size_t)n >= sizeof list ? sizeof list - 1 : at + (size_t)n;
    }
    return status_fail(st, SNIP_FORMAT, 0, "%s is %s, not '%.40s'", k->name, list, value);
}

/* Sets a number; `value` is how it was written. */
static snip_code set_number(const settings_key *k, void *to, double v, const char *value,
                            snip_status *st)
{
    int whole = k->kind != SETTINGS_REAL;
    if (!(v >= k->low && v <= k->high) || (whole && v != floor(v)))
        return status_fail(st, SNIP_FORMAT, 0, "%s is a%s number from %g to %g, not '%.40s'",
                           k->name, whole ? " whole" : "", k->low, k->high, value);
    put(k, to, v);
    return SNIP_OK;
}

static snip_code set_text(const settings_key *k, void *to, const char *value, snip_status *st)
{
    if (k->kind == SETTINGS_CHOICE)
        return set_choice(k, to, value, st);
    char *end;
    double v = strtod(value, &end);
    return set_number(k, to, end == value || *end ? (double)NAN : v, value, st);
}

const settings_key *settings_find(const settings *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->key[i].name, name) == 0)
            return &s->key[i];
    return NULL;
}

snip_code settings_set(const settings *s, void *to, const char *name, const char *value,
                       snip_status *st)
{
    const settings_key *k = settings_find(s, name);
    return k ? set_text(k, to, value, st)
             : status_fail(st, SNIP_FORMAT, 0, "there is no configuration key '%.40s'", name);
}

json_t *settings_json(const settings *s, const void *from)
{
    json_t *o = json_object();
    for (size_t i = 0; i < s->count; i++) {
        const settings_key *k = &s->key[i];
        double v = get(k, from);
        json_object_set_new(o, k->name,
                            k->kind == SETTINGS_CHOICE ? json_string(k->choices[(int)v])
                            : k->kind == SETTINGS_REAL ? json_real(v)
                                                       : json_integer((json_int_t)v));
    }
    return o;
}

snip_code settings_read(const settings *s, void *to, const json_t *o, size_t *known,
                        snip_status *st)
{
    size_t found = 0;
    for (size_t i = 0; i < s->count; i++) {
        const settings_key *k = &s->key[i];
        const json_t *v = json_object_get(o, k->name);
        char number[32];
        if (!v && k->later)
            continue;
        found++;
        snip_code code;
        if (json_is_string(v)) { /* also numbers: some files have them as text */
            code = set_text(k, to, json_string_value(v), st);
        } else if (json_is_number(v) && k->kind != SETTINGS_CHOICE) {
            snprintf(number, sizeof number, "%.17g", json_number_value(v));
            code = set_number(k, to, json_number_value(v), number, st);
        } else {
            code = status_fail(st, SNIP_FORMAT, 0, "the configuration has no usable '%s'", k->name);
        }
        if (code != SNIP_OK)
            return code;
    }
    if (known)
        *known = found;
    return SNIP_OK;
}

const settings_key *settings_difference(const settings *s, const void *one, const void *other)
{
    for (size_t i = 0; i < s->count; i++)
        if (get(&s->key[i], one) != get(&s->key[i], other))
            return &s->key[i];
    return NULL;
}

void settings_text(const settings_key *k, const void *from, char *out, size_t room)
{
    double v = get(k, from);
    if (k->kind == SETTINGS_CHOICE)
        snprintf(out, room, "%s", k->choices[(int)v]);
    else
        snprintf(out, room, k->kind == SETTINGS_REAL ? "%g" : "%.0f", v);
}
