/* settings.h - numbers and choices of a struct, by name: from text, to JSON and back.
 *
 *     typedef struct shape { int width; double noise; } shape;
 *     static const settings_key keys[] = {
 *         { "width", SETTINGS_INT, offsetof(shape, width), .low = 1, .high = 512 },
 *         { "noise", SETTINGS_REAL, offsetof(shape, noise), .high = 10 },
 *     };
 *     static const settings known = { keys, sizeof keys / sizeof *keys };
 *
 *     shape s = { 0 };
 *     snip_status st;
 *     if (settings_set(&known, &s, "width", "96", &st) != SNIP_OK)
 *         puts(st.msg);              // width is a whole number from 1 to 512, not '0'
 *     json_t *o = settings_json(&known, &s);
 *
 * A key is one row; everything that knows keys walks over the table. */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include <jansson.h>
#include <stddef.h>

#include "base/status.h"

/* What lies at a key's offset. */
typedef enum settings_kind {
    SETTINGS_INT,    /* int */
    SETTINGS_SIZE,   /* size_t */
    SETTINGS_WHOLE,  /* uint64_t, up to 2^53: text and files hold numbers that a double holds */
    SETTINGS_REAL,   /* double */
    SETTINGS_CHOICE, /* int: the place in `choices` */
} settings_kind;

typedef struct settings_key {
    const char *name;
    settings_kind kind;
    size_t offset;
    double low, high;           /* of numbers */
    const char *const *choices; /* of a choice; NULL ends them */
    const char *help;           /* what it means; may be NULL */
    int later;                  /* came later: files without it are read all the same */
} settings_key;

typedef struct settings {
    const settings_key *key;
    size_t count;
} settings;

/* The key of that name, or NULL: there is none. */
const settings_key *settings_find(const settings *s, const char *name);

/* Sets a key from text. A name or a value that does not exist fails with SNIP_FORMAT. */
snip_code settings_set(const settings *s, void *to, const char *name, const char *value,
                       snip_status *st);

/* All keys as a JSON object. NULL when memory is out. */
json_t *settings_json(const settings *s, const void *from);

/* Sets the keys from such an object. Those that it lacks stay as they are if they came later, and
 * are an error else. Names that are not in the table are for the caller to judge: *known is how
 * many of the object's are (NULL: does not matter). */
snip_code settings_read(const settings *s, void *to, const json_t *o, size_t *known,
                        snip_status *st);

/* The first key of which two structs have different values, or NULL. */
const settings_key *settings_difference(const settings *s, const void *one, const void *other);

/* A key's value as text of at most `room` bytes. */
void settings_text(const settings_key *k, const void *from, char *out, size_t room);

#endif
