/* parse.c - text to tree: infix by recursive descent, prefix by a walk over its words.
 *
 *     sum     := product (('+'|'-') product)*
 *     product := factor (('*'|'/') factor)*
 *     factor  := unary | number unary, side by side: 2x, 2(x + 1)
 *     unary   := ('-'|'+') unary | power
 *     power   := primary (('^'|'**') unary)?
 *     primary := number | name | function '(' sum (',' sum)* ')' | '(' sum ')' | LaTeX forms
 *                | function '^' number '(' sum ')': sin^2(x) is sin(x)^2
 *
 * Three readings make printed formulas short and still exact: a^2 and a^3 are pow2 and pow3, 1/a is
 * inv(a), e^a is exp(a). The operators behind them (pow, div) have function forms. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "expr/expr_int.h"

/* The names met where every name may be a variable. */
typedef struct names_met {
    const char **name;
    size_t count, room;
} names_met;

typedef struct parser {
    const char *text;
    size_t pos;
    int nesting;
    const expr_names *names;
    names_met *met; /* NULL: only `names` are variables */
    expr_pool pool;
    arena *a;
    snip_status *st;
    int failed;
} parser;

__attribute__((format(printf, 3, 4))) static int fail_at(parser *p, size_t pos, const char *format,
                                                         ...)
{
    if (!p->failed) { /* the first failure is the one to report */
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

static int fail_nomem(parser *p)
{
    if (!p->failed) {
        p->failed = 1;
        status_nomem(p->st);
    }
    return -1;
}

static int add_node(parser *p, expr_node node, int kid1, int kid2)
{
    if (p->failed)
        return -1;
    if (p->pool.count >= EXPR_NODES_MAX)
        return fail_at(p, p->pos, "formula has more than %d nodes", EXPR_NODES_MAX);
    int at = expr_pool_add(&p->pool, node, kid1, kid2);
    return at < 0 ? fail_nomem(p) : at;
}

static int add_op(parser *p, expr_op op, int kid1, int kid2)
{
    return add_node(p, (expr_node){ .op = (uint8_t)op }, kid1, kid2);
}

/* The number at `at` if it is an integer literal, else NAN. */
static double integer_at(const parser *p, int at)
{
    const expr_node *n = at < 0 ? NULL : &p->pool.at[at].node;
    return n && n->op == EXPR_NUMBER && n->integer ? n->value : NAN;
}

static int name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static int name_part(char c)
{
    return name_start(c) || isdigit((unsigned char)c) || c == '.';
}

static int is_word(const char *s, size_t length)
{
    if (length == 0 || !name_start(*s))
        return 0;
    for (size_t i = 1; i < length; i++)
        if (!name_part(s[i]))
            return 0;
    return 1;
}

#define MINUS_SIGN "\xE2\x88\x92" /* U+2212, which is no part of a name */

int expr_is_identifier(const char *name)
{
    return is_word(name, strlen(name)) && !strstr(name, MINUS_SIGN);
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

/* `what` 'text' is none of ours: says so, and which names there are, as many as a line holds. */
static int fail_name(parser *p, size_t pos, const char *what, const char *text, size_t length)
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
    return fail_at(p, pos, "%s '%.*s'; there %s", what, length > NAME ? NAME : (int)length, text,
                   !p->names ? "are x0, x1, ..."
                   : count   ? list
                             : "are no inputs");
}

/* The variable called text[0..length), or -1. A name of the table goes first; x0, x1, ... count its
 * columns unless it has other columns of such names, which would make them ambiguous. */
static int find_variable(const parser *p, const char *text, size_t length)
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

/* The variable called text[0..length), numbered by the order in which names are met. */
static int add_met(parser *p, const char *text, size_t length, size_t pos)
{
    names_met *m = p->met;
    size_t i = 0;
    while (i < m->count && (strlen(m->name[i]) != length || memcmp(m->name[i], text, length) != 0))
        i++;
    if (i == EXPR_VARIABLES_MAX)
        return fail_at(p, pos, "more than %d names", EXPR_VARIABLES_MAX);
    if (i == m->room) {
        size_t room = m->room ? 2 * m->room : 16;
        const char **more = arena_array(p->a, room, sizeof *more);
        if (!more)
            return fail_nomem(p);
        if (m->count)
            memcpy(more, m->name, m->count * sizeof *more);
        m->name = more;
        m->room = room;
    }
    if (i == m->count && !(m->name[m->count++] = arena_text(p->a, text, length)))
        return fail_nomem(p);
    return add_node(p, (expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)i }, -1, -1);
}

static int add_variable(parser *p, int index, size_t pos)
{
    if (p->met && p->names->name)
        return add_met(p, p->names->name[index], strlen(p->names->name[index]), pos);
    if (p->names && p->names->count == 0)
        return fail_at(p, pos, "there are no inputs");
    if (p->names && (size_t)index >= p->names->count)
        return fail_at(p, pos, "variable x%d: there are only %zu inputs (x0 to x%zu)", index,
                       p->names->count, p->names->count - 1);
    if (index >= EXPR_VARIABLES_MAX)
        return fail_at(p, pos, "variable x%d: the largest index is %d", index,
                       EXPR_VARIABLES_MAX - 1);
    return add_node(p, (expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)index }, -1, -1);
}

/* Length of the number at `s` (no sign), 0 if there is none. */
static size_t number_length(const char *s, int *integer)
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

static int add_number(parser *p, double value, int integer, size_t pos)
{
    if (!isfinite(value))
        return fail_at(p, pos, "number too large for a double");
    return add_node(p, (expr_node){ .op = EXPR_NUMBER, .integer = integer != 0, .value = value },
                    -1, -1);
}

static void skip_space(parser *p)
{
    for (;;) {
        const char *s = p->text + p->pos;
        if (isspace((unsigned char)*s))
            p->pos++;
        else if (s[0] == '\\' && (s[1] == ',' || s[1] == ';' || s[1] == '!' || s[1] == ' '))
            p->pos += 2;
        else
            return;
    }
}

/* Takes `word` if it is next. A LaTeX command must end there. */
static int take(parser *p, const char *word)
{
    skip_space(p);
    size_t n = strlen(word);
    if (strncmp(p->text + p->pos, word, n) != 0)
        return 0;
    if (word[0] == '\\' && isalpha((unsigned char)word[n - 1]) &&
        isalpha((unsigned char)p->text[p->pos + n]))
        return 0;
    p->pos += n;
    return 1;
}

/* Takes an operator written as a word between its operands, as SNIP prints infix: `a add b`. */
static int take_word(parser *p, const char *word)
{
    skip_space(p);
    size_t n = strlen(word);
    if (strncmp(p->text + p->pos, word, n) != 0 || name_part(p->text[p->pos + n]))
        return 0;
    p->pos += n;
    return 1;
}

/* Takes an opening bracket and returns the closing one that it needs, or NULL. */
static const char *open_bracket(parser *p)
{
    if (take(p, "\\left(") || take(p, "\\left ("))
        return "\\right)";
    return take(p, "(") ? ")" : take(p, "{") ? "}" : NULL;
}

static int close_bracket(parser *p, const char *closing, size_t opened)
{
    if (take(p, closing))
        return 0;
    skip_space(p);
    if (p->text[p->pos] == 0)
        return fail_at(p, p->pos, "'%s' missing for the bracket opened at byte %zu", closing,
                       opened);
    return fail_at(p, p->pos, "expected an operator or '%s'", closing);
}

static int parse_sum(parser *p);

/* `( sum )` after its opening bracket has been taken. */
static int parse_inside(parser *p, const char *closing, size_t opened)
{
    int inside = parse_sum(p);
    if (inside < 0 || close_bracket(p, closing, opened) < 0)
        return -1;
    return inside;
}

/* A `{ sum }` group of LaTeX. */
static int parse_group(parser *p)
{
    size_t opened = p->pos;
    if (!take(p, "{"))
        return fail_at(p, p->pos, "expected '{'");
    return parse_inside(p, "}", opened);
}

static int finish_power(parser *p, int base, int exponent)
{
    if (base < 0 || exponent < 0)
        return -1;
    if (p->pool.at[base].node.op == EXPR_E)
        return add_op(p, EXPR_EXP, exponent, -1);
    double n = integer_at(p, exponent);
    if (n == 2 || n == 3)
        return add_op(p, n == 2 ? EXPR_POW2 : EXPR_POW3, base, -1);
    return add_op(p, EXPR_POW, base, exponent);
}

static int finish_quotient(parser *p, int top, int bottom)
{
    if (integer_at(p, top) == 1)
        return add_op(p, EXPR_INV, bottom, -1);
    return add_op(p, EXPR_DIV, top, bottom);
}

/* sympy's name for what cbrt is to us. */
static int is_real_root(const char *name, size_t length)
{
    return length == 9 && memcmp(name, "real_root", 9) == 0;
}

/* The whole number of sin^2(x), as a node; -1 with p->failed unset where there is none. */
static int parse_function_power(parser *p, const char *name, size_t length)
{
    if (!take(p, "**") && !take(p, "^"))
        return -1;
    skip_space(p);
    size_t pos = p->pos;
    int brace = take(p, "{"), integer;
    size_t digits = number_length(p->text + p->pos, &integer);
    if (p->text[p->pos] == '-')
        return fail_at(p, pos,
                       "%.*s^-1 has two meanings: write the inverse function's name, or 1/%.*s",
                       (int)length, name, (int)length, name);
    if (!digits || !integer)
        return fail_at(p, pos, "a power between '%.*s' and its argument is a whole number",
                       (int)length, name);
    double value = strtod(p->text + p->pos, NULL);
    p->pos += digits;
    if (brace && !take(p, "}"))
        return fail_at(p, p->pos, "'}' missing after the power");
    return add_number(p, value, 1, pos);
}

/* The arguments of `op`, from the opening bracket on, or from a power before it. */
static int parse_call(parser *p, int op, const char *name, size_t length, size_t pos)
{
    int power = expr_ops[op].arity == 1 ? parse_function_power(p, name, length) : -1;
    if (p->failed)
        return -1;
    skip_space(p);
    size_t opened = p->pos;
    const char *closing = open_bracket(p);
    if (!closing)
        return fail_at(p, p->pos, "function '%.*s' needs '(' and its argument", (int)length, name);
    int kid[2] = { -1, -1 }, count = 0, arity = expr_ops[op].arity;
    do {
        int argument = parse_sum(p);
        if (argument < 0)
            return -1;
        if (count >= 2 && (op == EXPR_MIN || op == EXPR_MAX)) { /* of any number, from the left */
            kid[0] = add_op(p, (expr_op)op, kid[0], kid[1]);
            kid[1] = argument;
            continue;
        }
        if (count < 2)
            kid[count] = argument;
        count++;
    } while (take(p, ","));
    if (close_bracket(p, closing, opened) < 0)
        return -1;
    if (is_real_root(name, length)) {
        if (count != 2 || integer_at(p, kid[1]) != 3)
            return fail_at(p, pos, "only the cube root real_root(x, 3) is supported");
        kid[1] = -1;
        count = 1;
    }
    if (count != arity)
        return fail_at(p, pos, "function '%.*s' takes %d argument%s, not %d", (int)length, name,
                       arity, arity == 1 ? "" : "s", count);
    int result = add_op(p, (expr_op)op, kid[0], kid[1]);
    return power < 0 ? result : finish_power(p, result, power);
}

/* The function that 1/name is, for the three that have no operator of their own; else -1. */
static int reciprocal_of(const char *name, size_t length)
{
    static const struct {
        const char *name;
        expr_op op;
    } known[] = { { "sec", EXPR_COS }, { "csc", EXPR_SIN }, { "cot", EXPR_TAN } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (length == 3 && memcmp(name, known[i].name, 3) == 0)
            return (int)known[i].op;
    return -1;
}

/* sec^2(x) and the like: 1/cos(x)^2. */
static int parse_reciprocal(parser *p, int op, const char *name, size_t length, size_t pos)
{
    int inside = parse_call(p, op, name, length, pos);
    return inside < 0 ? -1 : add_op(p, EXPR_INV, inside, -1);
}

size_t expr_module_length(const char *name, size_t length)
{
    static const char *const modules[] = { "np.", "numpy.", "math.", "sp.", "sympy.", "torch." };
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (length > strlen(modules[i]) && memcmp(name, modules[i], strlen(modules[i])) == 0)
            return strlen(modules[i]);
    return 0;
}

/* A variable, constant or function, by its name text[0..length) at `pos`. */
static int parse_named(parser *p, const char *name, size_t length, size_t pos)
{
    skip_space(p);
    char next = p->text[p->pos];
    int call = next == '(' || strncmp(p->text + p->pos, "\\left", 5) == 0;
    int raised = next == '^' || strncmp(p->text + p->pos, "**", 2) == 0; /* sec^2(x), or sec^2 */
    int variable = find_variable(p, name, length);
    if (variable >= 0 && !call)
        return add_variable(p, variable, pos);

    size_t skip = expr_module_length(name, length);
    int op = expr_op_find(name + skip, length - skip);
    if (is_real_root(name + skip, length - skip))
        op = EXPR_CBRT;
    if (op >= 0 && expr_ops[op].arity == 0)
        return add_op(p, (expr_op)op, -1, -1);
    if (op >= 0)
        return parse_call(p, op, name + skip, length - skip, pos);
    int under = reciprocal_of(name + skip, length - skip);
    if (under >= 0 && (call || (raised && !p->met)))
        return parse_reciprocal(p, under, name + skip, length - skip, pos);
    if (call)
        return fail_at(p, pos, "unknown function '%.*s'", length > 60 ? 60 : (int)length, name);
    if (p->met)
        return add_met(p, name, length, pos);
    return fail_name(p, pos, "unknown name", name, length);
}

/* A decimal number; in LaTeX it may go on with `\cdot 10^{n}`. */
static int parse_number(parser *p)
{
    size_t start = p->pos;
    int integer;
    size_t length = number_length(p->text + start, &integer);
    double value = strtod(p->text + start, NULL);
    p->pos += length;
    const char *next = p->text + p->pos; /* strtod would read 0x10 as 16 */
    if (length == 1 && next[-1] == '0' && (*next == 'x' || *next == 'X') &&
        isxdigit((unsigned char)next[1]))
        return fail_at(p, start, "hexadecimal numbers are not read");
    size_t before = p->pos;
    if (take(p, "\\cdot") && take(p, "10^{")) {
        char *end;
        long power = strtol(p->text + p->pos, &end, 10);
        if (end != p->text + p->pos && *end == '}' && power > -1000 && power < 1000) {
            char *copy = arena_alloc(p->a, length + 16);
            if (!copy)
                return fail_nomem(p);
            memcpy(copy, p->text + start, length);
            snprintf(copy + length, 16, "e%ld", power);
            p->pos = (size_t)(end + 1 - p->text);
            return add_number(p, strtod(copy, NULL), 0, start);
        }
    }
    p->pos = before;
    return add_number(p, value, integer, start);
}

/* Whether s begins with a character's spelling in LaTeX; its length, with the character in *c. */
static size_t latex_sign(const char *s, char *c)
{
    for (const char *sign = "\\^~"; *sign; sign++) {
        const char *spelling = expr_latex_sign(*sign);
        if (strncmp(s, spelling, strlen(spelling)) == 0) {
            *c = *sign;
            return strlen(spelling);
        }
    }
    return 0;
}

/* A name up to its closing character: a backquote, the brace of LaTeX where \_ stands for _ and
 * \wedge for ^, or the quote of sympy where \' stands for one. */
static int parse_quoted(parser *p, char closing, size_t pos)
{
    const char *s = p->text + p->pos;
    size_t end = 0, length = 0;
    while (s[end] && s[end] != closing)
        end += s[end] == '\\' && closing != '`' && s[end + 1] ? 2 : 1;
    if (!s[end])
        return fail_at(p, pos, "quoted name without its closing '%c'", closing);
    char *name = arena_alloc(p->a, end + 1);
    if (!name)
        return fail_nomem(p);
    for (size_t i = 0; i < end; i++) {
        size_t sign = closing == '}' ? latex_sign(s + i, &name[length]) : 0;
        if (sign) {
            length++;
            i += sign - 1;
            continue;
        }
        i += s[i] == '\\' && closing != '`';
        name[length++] = s[i];
    }
    p->pos += end + 1;
    int variable = find_variable(p, name, length);
    if (variable < 0)
        return fail_name(p, pos, "unknown name", name, length);
    return add_variable(p, variable, pos);
}

/* What LaTeX writes with a backslash. */
static int parse_command(parser *p)
{
    size_t pos = p->pos;
    if (take(p, "\\frac")) {
        int top = parse_group(p);
        int bottom = top < 0 ? -1 : parse_group(p);
        return bottom < 0 ? -1 : finish_quotient(p, top, bottom);
    }
    if (take(p, "\\left|")) {
        int inside = parse_inside(p, "\\right|", pos);
        return inside < 0 ? -1 : add_op(p, EXPR_ABS, inside, -1);
    }
    if (take(p, "\\mathrm{"))
        return parse_quoted(p, '}', pos);
    if (take(p, "\\operatorname{")) {
        const char *name = p->text + p->pos;
        size_t length = strcspn(name, "}");
        if (!name[length])
            return fail_at(p, pos, "'}' missing after \\operatorname");
        p->pos += length + 1;
        return parse_named(p, name, length, pos);
    }
    static const char *const reciprocals[] = { "\\sec", "\\csc", "\\cot" };
    for (size_t i = 0; i < sizeof reciprocals / sizeof *reciprocals; i++)
        if (take(p, reciprocals[i]))
            return parse_reciprocal(p, reciprocal_of(reciprocals[i] + 1, 3), reciprocals[i], 4,
                                    pos);
    for (int op = EXPR_PI; op < EXPR_OP_COUNT; op++) {
        const char *latex = expr_ops[op].latex;
        if (latex[0] != '\\' || !take(p, latex))
            continue;
        if (expr_ops[op].arity == 0)
            return add_op(p, (expr_op)op, -1, -1);
        return parse_call(p, op, latex, strlen(latex), pos);
    }
    return fail_at(p, pos, "unknown LaTeX command");
}

static int parse_primary(parser *p)
{
    skip_space(p);
    size_t pos = p->pos;
    const char *s = p->text + pos;
    if (*s == '\\' && strncmp(s, "\\left(", 6) != 0)
        return parse_command(p);
    const char *closing = open_bracket(p);
    if (closing)
        return parse_inside(p, closing, pos);
    int integer;
    if (number_length(s, &integer))
        return parse_number(p);
    if (*s == '`') {
        p->pos++;
        return parse_quoted(p, '`', pos);
    }
    if (take(p, "Symbol('")) {
        int variable = parse_quoted(p, '\'', pos);
        if (variable >= 0 && !take(p, ")"))
            return fail_at(p, p->pos, "')' missing after Symbol('...'");
        return variable;
    }
    if (name_start(*s)) {
        size_t length = 1;
        while (name_part(s[length]))
            length++;
        /* x_{12}, as LaTeX writes an index */
        if (length == 2 && s[1] == '_' && s[2] == '{') {
            size_t digits = strspn(s + 3, "0123456789");
            if (digits > 0 && digits < 6 && s[3 + digits] == '}') {
                p->pos += digits + 4;
                char name[8] = { s[0] };
                memcpy(name + 1, s + 3, digits);
                return parse_named(p, name, digits + 1, pos);
            }
        }
        p->pos += length;
        return parse_named(p, s, length, pos);
    }
    if (*s == 0)
        return fail_at(p, pos, pos == 0 ? "the formula is empty" : "the formula ends too early");
    if (isprint((unsigned char)*s))
        return fail_at(p, pos, "unexpected '%c'", *s);
    return fail_at(p, pos, "unexpected byte 0x%02x", (unsigned char)*s);
}

static int parse_unary(parser *p)
{
    if (p->nesting == EXPR_NESTING_MAX)
        return fail_at(p, p->pos, "nested more than %d deep", EXPR_NESTING_MAX);
    p->nesting++;
    int result;
    skip_space(p);
    if (p->text[p->pos] == '-') {
        p->pos++;
        skip_space(p);
        size_t operand = p->pos;
        int integer;
        result = parse_unary(p);
        /* A minus before a number is the number's sign: -2 but not -(2) nor -2^2. */
        if (result >= 0 && p->pool.at[result].node.op == EXPR_NUMBER &&
            number_length(p->text + operand, &integer))
            p->pool.at[result].node.value = -p->pool.at[result].node.value;
        else if (result >= 0)
            result = add_op(p, EXPR_NEG, result, -1);
    } else if (p->text[p->pos] == '+') {
        p->pos++;
        result = parse_unary(p);
    } else {
        result = parse_primary(p);
        if (result >= 0 && (take(p, "**") || take(p, "^")))
            result = finish_power(p, result, parse_unary(p));
    }
    p->nesting--;
    return result;
}

/* Whether what stands next can follow a number to be multiplied by it: a name, a bracket, a LaTeX
 * command, but no operator. */
static int follows_number(parser *p)
{
    static const char *const words[] = { "add", "sub", "mul", "div" };
    static const char *const commands[] = { "\\cdot", "\\times", "\\right" };
    skip_space(p);
    const char *s = p->text + p->pos;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(s, words[i], 3) == 0 && !name_part(s[3]))
            return 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strncmp(s, commands[i], strlen(commands[i])) == 0)
            return 0;
    return name_start(*s) || *s == '(' || *s == '{' || *s == '`' || *s == '\\';
}

/* A factor of a product; `divisor` for what stands behind a slash. */
static int parse_factor(parser *p, int divisor)
{
    int left = parse_unary(p);
    if (left < 0 || p->pool.at[left].node.op != EXPR_NUMBER || !follows_number(p))
        return left;
    if (divisor)
        return fail_at(p, p->pos, "a number and what it multiplies need brackets behind '/'");
    int right = parse_unary(p);
    return right < 0 ? -1 : add_op(p, EXPR_MUL, left, right);
}

static int parse_product(parser *p)
{
    int left = parse_factor(p, 0);
    while (left >= 0) {
        if (take(p, "*") || take(p, "\\cdot") || take(p, "\\times") || take_word(p, "mul")) {
            int right = parse_factor(p, 0);
            left = right < 0 ? -1 : add_op(p, EXPR_MUL, left, right);
        } else if (take(p, "/") || take_word(p, "div")) {
            int right = parse_factor(p, 1);
            left = right < 0 ? -1 : finish_quotient(p, left, right);
        } else {
            break;
        }
    }
    return left;
}

static int parse_sum(parser *p)
{
    int left = parse_product(p);
    while (left >= 0) {
        int plus = take(p, "+") || take_word(p, "add");
        if (!plus && !take(p, "-") && !take_word(p, "sub"))
            break;
        int right = parse_product(p);
        left = right < 0 ? -1 : add_op(p, plus ? EXPR_ADD : EXPR_SUB, left, right);
    }
    return left;
}

static snip_code parse_infix(expr *out, parser *p)
{
    int root = parse_sum(p);
    skip_space(p);
    if (root >= 0 && p->text[p->pos]) {
        char c = p->text[p->pos];
        root = c == ')' || c == '}' ? fail_at(p, p->pos, "'%c' closes nothing", c)
                                    : fail_at(p, p->pos, "expected an operator");
    }
    if (root < 0)
        return p->st->code;
    return expr_pool_flatten(out, &p->pool, root, p->a, p->st);
}

/* One word of prefix text, s[0..length). Returns its node's place or -1. */
static int prefix_word(parser *p, const char *s, size_t length, size_t pos)
{
    if (length == 0)
        return fail_at(p, pos, "empty word between commas");
    if (length > 2 && s[0] == '`' && s[length - 1] == '`') { /* a name that is no plain word */
        int named = find_variable(p, s + 1, length - 2);
        return named >= 0 ? add_variable(p, named, pos)
                          : fail_name(p, pos, "unknown name", s + 1, length - 2);
    }
    int sign = s[0] == '-' || s[0] == '+', integer;
    size_t number = number_length(s + sign, &integer);
    if (number && number + (size_t)sign == length)
        return add_number(p, strtod(s, NULL), integer, pos);
    size_t skip = expr_module_length(s, length);
    /* Operators go first: prefix is a notation for programs. */
    int op = expr_op_find(s + skip, length - skip);
    int variable = op >= 0 && expr_ops[op].arity > 0 ? -1 : find_variable(p, s, length);
    if (variable >= 0)
        return add_variable(p, variable, pos);
    if (op < 0 && p->met && is_word(s, length))
        return add_met(p, s, length, pos);
    if (op < 0)
        return fail_name(p, pos, "unknown operator or name", s, length);
    return add_op(p, (expr_op)op, -1, -1);
}

/* Bytes up to the comma that ends a word, which may stand in backquotes. */
static size_t prefix_length(const char *s)
{
    size_t blanks = strspn(s, " \t\n\r"), quoted = s[blanks] == '`' ? 1 : 0;
    const char *end = quoted ? strchr(s + blanks + 1, '`') : NULL;
    size_t from = end ? (size_t)(end - s) : 0;
    return from + strcspn(s + from, ",");
}

static snip_code parse_prefix(expr *out, parser *p)
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
            fail_at(p, pos + start, "the formula was complete before this word");
            break;
        }
        int at = prefix_word(p, word + start, end - start, pos + start);
        if (at < 0)
            break;
        wanted += (size_t)expr_ops[p->pool.at[at].node.op].arity - 1;
        pos += length;
        if (!p->text[pos]) {
            if (wanted > 0)
                fail_at(p, pos, "the formula ends too early: %zu operand%s missing", wanted,
                        wanted == 1 ? "" : "s");
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
