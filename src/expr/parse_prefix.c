/* parse_prefix.c - prefix notation: a walk over its words; see parse_int.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "expr/parse_int.h"

/* One word of prefix text, s[0..length). Returns its node's place or -1. */
static int prefix_word(parser *p, const char *s, size_t length, size_t pos)
{
    if (length == 0)
        return parse_fail(p, pos, "empty word between commas");
    if (length > 2 && s[0] == '`' && s[length - 1] == '`') { /* a name that is no plain word */
        int named = parse_find(p, s + 1, length - 2);
        return named >= 0 ? parse_variable(p, named, pos)
                          : parse_unknown(p, pos, "unknown name", s + 1, length - 2);
    }
    int sign = s[0] == '-' || s[0] == '+', integer;
    size_t number = parse_digits(s + sign, &integer);
    if (number && number + (size_t)sign == length)
        return parse_value(p, strtod(s, NULL), integer, pos);
    size_t skip = expr_module_length(s, length);
    /* Operators go first: prefix is a notation for programs. */
    int op = expr_op_find(s + skip, length - skip);
    int variable = op >= 0 && expr_ops[op].arity > 0 ? -1 : parse_find(p, s, length);
    if (variable >= 0)
        return parse_variable(p, variable, pos);
    if (op < 0 && p->met && parse_is_word(s, length))
        return parse_met(p, s, length, pos);
    if (op < 0)
        return parse_unknown(p, pos, "unknown operator or name", s, length);
    return parse_op(p, (expr_op)op, -1, -1);
}

/* Bytes up to the comma that ends a word, which may stand in backquotes. */
static size_t prefix_length(const char *s)
{
    size_t blanks = strspn(s, " \t\n\r"), quoted = s[blanks] == '`' ? 1 : 0;
    const char *end = quoted ? strchr(s + blanks + 1, '`') : NULL;
    size_t from = end ? (size_t)(end - s) : 0;
    return from + strcspn(s + from, ",");
}

snip_code parse_prefix(expr *out, parser *p)
{
    size_t wanted = 1, pos = 0; /* operands still to come */
    for (;;) {
        const char *word = p->text + pos;
        size_t length = prefix_length(word);
        size_t start = 0, end = length;
        while (start < end && isspace((unsigned char)word[start]))
            start++;
        while (end > start && isspace((unsigned char)word[end - 1]))
            end--;
        if (wanted == 0) {
            parse_fail(p, pos + start, "the formula was complete before this word");
            break;
        }
        int at = prefix_word(p, word + start, end - start, pos + start);
        if (at < 0)
            break;
        wanted += (size_t)expr_ops[p->pool.at[at].node.op].arity - 1;
        pos += length;
        if (!p->text[pos]) {
            if (wanted > 0)
                parse_fail(p, pos, "the formula ends too early: %zu operand%s missing", wanted,
                           text_plural(wanted));
            break;
        }
        pos++;
    }
    if (p->failed)
        return p->st->code;
    out->node = arena_array(p->a, p->pool.count, sizeof *out->node);
    if (!out->node)
        return status_nomem(p->st);
    out->count = p->pool.count;
    for (size_t i = 0; i < out->count; i++)
        out->node[i] = p->pool.at[i].node;
    expr_measure(*out);
    return SNIP_OK;
}
