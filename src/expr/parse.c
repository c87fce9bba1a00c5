/* parse.c - text to tree: which notation a text is in; see expr.h. The notations have a file each,
 * parse_infix.c and parse_prefix.c. */
#include <string.h>

#include "expr/parse_int.h"

#define MINUS_SIGN "\xE2\x88\x92" /* U+2212, which is no part of a name */

int expr_is_identifier(const char *name)
{
    return parse_is_word(name, strlen(name)) && !strstr(name, MINUS_SIGN);
}

/* Prefix text has commas outside of all brackets; infix text has none there. */
static int is_prefix(const char *text)
{
    int depth = 0;
    char quote = 0; /* that will end what is quoted */
    for (const char *c = text; *c; c++) {
        if (!quote && strncmp(c, "\\mathrm{", 8) == 0) {
            quote = '}'; /* a name in LaTeX */
            c += 7;
        } else if (*c == '\\' && c[1] && quote != '`')
            c++; /* what follows is no sign of ours */
        else if (quote ? *c == quote : *c == '`' || *c == '\'')
            quote = quote ? 0 : *c;
        else if (quote)
            continue;
        else if (*c == '(' || *c == '{')
            depth++;
        else if (*c == ')' || *c == '}')
            depth--;
        else if (*c == ',' && depth <= 0)
            return 1;
    }
    return 0;
}

/* The text with a hyphen for every minus sign of Unicode that is not in a quoted name. NULL when
 * memory is out. */
static const char *plain_minus(const char *text, arena *a)
{
    const size_t length = strlen(MINUS_SIGN);
    if (!strstr(text, MINUS_SIGN))
        return text;
    char *out = arena_text(a, text, strlen(text)), *to = out, quote = 0;
    for (const char *c = text; out && *c;) {
        size_t n = 1;
        if (!quote && strncmp(c, MINUS_SIGN, length) == 0) {
            *to++ = '-';
            c += length;
            continue;
        }
        if (!quote && strncmp(c, "\\mathrm{", 8) == 0) {
            quote = '}';
            n = 8;
        } else if (*c == '\\' && c[1] && quote != '`') {
            n = 2;
        } else if (quote ? *c == quote : *c == '`' || *c == '\'') {
            quote = quote ? 0 : *c;
        }
        memcpy(to, c, n);
        to += n;
        c += n;
    }
    if (out)
        *to = 0;
    return out;
}

/* Where in `text` the byte `pos` of plain_minus(text) comes from. */
static size_t place_in(const char *text, const char *plain, size_t pos)
{
    size_t at = 0;
    for (size_t i = 0; i < pos; i++)
        at += plain[i] == '-' && text[at] != '-' ? strlen(MINUS_SIGN) : 1;
    return at;
}

static snip_code parse_text(expr *out, parser *p, const char *text)
{
    *out = (expr){ NULL, 0 };
    if (!(p->text = plain_minus(text, p->a)))
        return status_nomem(p->st);
    snip_code code = is_prefix(p->text) ? parse_prefix(out, p) : parse_infix(out, p);
    if (code == SNIP_SYNTAX)
        p->st->pos = place_in(text, p->text, p->st->pos);
    return code;
}

snip_code expr_parse(expr *out, const char *text, const expr_names *names, arena *a,
                     snip_status *st)
{
    snip_status own = { .code = SNIP_OK }; /* the code is needed even if the caller does not ask */
    parser p = { .names = names, .pool = { .a = a }, .a = a, .st = st ? st : &own };
    return parse_text(out, &p, text);
}

snip_code expr_parse_open(expr *out, expr_names *met, const char *text, const expr_names *known,
                          arena *a, snip_status *st)
{
    static const expr_names none = { NULL, 0 };
    snip_status own = { .code = SNIP_OK };
    names_met m = { 0 };
    parser p = { .names = known ? known : &none, .met = &m };
    p.pool.a = p.a = a;
    p.st = st ? st : &own;
    snip_code code = parse_text(out, &p, text);
    *met = (expr_names){ m.name, m.count };
    return code;
}
