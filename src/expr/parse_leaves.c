/* parse_leaves.c - names, numbers and nodes, for all notations; see parse_int.h. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "expr/parse_int.h"

int parse_fail(parser *p, size_t pos, const char *format, ...)
{
    if (!p->failed) {
        char msg[LIMITS_MESSAGE];
        va_list args;
        va_start(args, format);
        vsnprintf(msg, sizeof msg, format, args);
        va_end(args);
        p->failed = 1;
        status_set(p->st, SNIP_SYNTAX, pos, "%s", msg);
    }
    return -1;
}

int parse_nomem(parser *p)
{
    if (!p->failed) {
        p->failed = 1;
        status_nomem(p->st);
    }
    return -1;
}

int parse_node(parser *p, expr_node node, int kid1, int kid2)
{
    if (p->failed)
        return -1;
    if (p->pool.count >= EXPR_NODES_MAX)
        return parse_fail(p, p->pos, "formula has more than %d nodes", EXPR_NODES_MAX);
    int at = expr_pool_add(&p->pool, node, kid1, kid2);
    return at < 0 ? parse_nomem(p) : at;
}

int parse_op(parser *p, expr_op op, int kid1, int kid2)
{
    return parse_node(p, (expr_node){ .op = (uint8_t)op }, kid1, kid2);
}

size_t parse_sign(const char *s, char *plain)
{
    static const struct {
        const char *sign;
        char plain;
    } signs[] = {
        { "·", '*' }, { "⋅", '*' }, /* U+00B7 and U+22C5 look alike */
        { "×", '*' }, { "÷", '/' }, { "⁰", '0' }, { "¹", '1' }, { "²", '2' },
        { "³", '3' }, { "⁴", '4' }, { "⁵", '5' }, { "⁶", '6' }, { "⁷", '7' },
        { "⁸", '8' }, { "⁹", '9' }, { "⁻", '-' },
    };
    for (size_t i = 0; (unsigned char)*s >= 0x80 && i < sizeof signs / sizeof *signs; i++)
        if (strncmp(s, signs[i].sign, strlen(signs[i].sign)) == 0) {
            *plain = signs[i].plain;
            return strlen(signs[i].sign);
        }
    return 0;
}

int parse_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

int parse_name_part(char c)
{
    return parse_name_start(c) || isdigit((unsigned char)c) || c == '.';
}

/* The bytes of the longest column's name. */
static size_t longest_column(const parser *p)
{
    size_t most = 0;
    for (size_t i = 0; p->names && i < p->names->count; i++) {
        size_t length = strlen(p->names->name[i]);
        most = length > most ? length : most;
    }
    return most;
}

size_t parse_name_length(const parser *p, const char *s)
{
    const size_t letter = strlen(EXPR_PI_LETTER), longest = longest_column(p);
    const int pi = strncmp(s, EXPR_PI_LETTER, letter) == 0;
    size_t first = 0, column = 0;
    int stops = 0, more = 1;
    char sign;
    for (size_t i = 0; more && (!stops || i <= longest); i++) { /* a line may be all signs */
        more = parse_name_part(s[i]);
        if (more && !parse_sign(s + i, &sign) && !(pi && i == letter))
            continue;
        first = stops++ ? first : i;
        column = parse_find(p, s, i) >= 0 ? i : column;
    }
    return column ? column : first;
}

int parse_is_word(const char *s, size_t length)
{
    char sign;
    if (length == 0 || !parse_name_start(*s))
        return 0;
    for (size_t i = 0; i < length; i++)
        if (!parse_name_part(s[i]) || parse_sign(s + i, &sign))
            return 0;
    return 1;
}

int expr_variable_index(const char *text, size_t length)
{
    if (length < 2 || (text[0] != 'x' && text[0] != 'X'))
        return -1;
    size_t i = text[1] == '_' ? 2 : 1;
    if (i == length)
        return -1;
    int index = 0;
    for (; i < length; i++) {
        if (!isdigit((unsigned char)text[i]) || index > 100000)
            return -1;
        index = 10 * index + (text[i] - '0');
    }
    return index;
}

int parse_unknown(parser *p, size_t pos, const char *what, const char *text, size_t length)
{
    enum { LINE = 80, NAME = 60 };
    char list[2 * LINE + NAME] = "";
    size_t used = 0, count = p->names ? p->names->count : 0;
    for (size_t i = 0; i < count && used < sizeof list; i++) {
        if (i && used + strlen(p->names->name[i]) > LINE) {
            snprintf(list + used, sizeof list - used, ", ... (%zu in all)", count);
            break;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s",
                                 i           ? ", "
                                 : count > 1 ? "are "
                                             : "is ",
                                 LINE, p->names->name[i]);
    }
    return parse_fail(p, pos, "%s '%.*s'; there %s", what, length > NAME ? NAME : (int)length, text,
                      !p->names ? "are x0, x1, ..."
                      : count   ? list
                                : "are no inputs");
}

int parse_find(const parser *p, const char *text, size_t length)
{
    int counted = !p->met;
    for (size_t i = 0; p->names && i < p->names->count; i++) {
        const char *name = p->names->name[i];
        size_t n = strlen(name);
        if (n == length && memcmp(name, text, length) == 0)
            return (int)i;
        int index = expr_variable_index(name, n);
        counted &= index < 0 || (size_t)index == i;
    }
    return counted ? expr_variable_index(text, length) : -1;
}

int parse_met(parser *p, const char *text, size_t length, size_t pos)
{
    names_met *m = p->met;
    size_t i = 0;
    while (i < m->count && (strlen(m->name[i]) != length || memcmp(m->name[i], text, length) != 0))
        i++;
    if (i == EXPR_VARIABLES_MAX)
        return parse_fail(p, pos, "more than %d names", EXPR_VARIABLES_MAX);
    if (i == m->room) {
        size_t room = m->room ? 2 * m->room : 16;
        const char **more = arena_array(p->a, room, sizeof *more);
        if (!more)
            return parse_nomem(p);
        if (m->count)
            memcpy(more, m->name, m->count * sizeof *more);
        m->name = more;
        m->room = room;
    }
    if (i == m->count && !(m->name[m->count++] = arena_text(p->a, text, length)))
        return parse_nomem(p);
    return parse_node(p, (expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)i }, -1, -1);
}

int parse_variable(parser *p, int index, size_t pos)
{
    if (p->met && p->names->name)
        return parse_met(p, p->names->name[index], strlen(p->names->name[index]), pos);
    if (p->names && p->names->count == 0)
        return parse_fail(p, pos, "there are no inputs");
    if (p->names && p->names->count == 1 && index > 0)
        return parse_fail(p, pos, "variable x%d: there is only one input (x0)", index);
    if (p->names && (size_t)index >= p->names->count)
        return parse_fail(p, pos, "variable x%d: there are only %zu inputs (x0 to x%zu)", index,
                          p->names->count, p->names->count - 1);
    if (index >= EXPR_VARIABLES_MAX)
        return parse_fail(p, pos, "variable x%d: the largest index is %d", index,
                          EXPR_VARIABLES_MAX - 1);
    return parse_node(p, (expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)index }, -1, -1);
}

size_t parse_digits(const char *s, int *integer)
{
    size_t i = 0, digits = 0;
    *integer = 1;
    while (isdigit((unsigned char)s[i]))
        i++, digits++;
    if (s[i] == '.') {
        *integer = 0;
        i++;
        while (isdigit((unsigned char)s[i]))
            i++, digits++;
    }
    if (digits == 0)
        return 0;
    if (s[i] == 'e' || s[i] == 'E') {
        size_t j = i + 1;
        if (s[j] == '+' || s[j] == '-')
            j++;
        if (isdigit((unsigned char)s[j])) {
            *integer = 0;
            while (isdigit((unsigned char)s[j]))
                j++;
            i = j;
        }
    }
    if (digits > 15) /* beyond that a double no longer holds every integer */
        *integer = 0;
    return i;
}

int parse_value(parser *p, double value, int integer, size_t pos)
{
    if (!isfinite(value))
        return parse_fail(p, pos, "number too large for a double");
    return parse_node(p, (expr_node){ .op = EXPR_NUMBER, .integer = integer != 0, .value = value },
                      -1, -1);
}

size_t expr_module_length(const char *name, size_t length)
{
    static const char *const modules[] = { "np.", "numpy.", "math.", "sp.", "sympy.", "torch." };
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (length > strlen(modules[i]) && memcmp(name, modules[i], strlen(modules[i])) == 0)
            return strlen(modules[i]);
    return 0;
}
