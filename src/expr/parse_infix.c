/* parse_infix.c - infix and LaTeX, by recursive descent; see parse_int.h.
 *
 *     sum     := product (('+'|'-') product)*
 *     product := factor (('*'|'/') factor)*
 *     factor  := unary | number unary, side by side: 2x, 2(x + 1)
 *     unary   := ('-'|'+') unary | power
 *     power   := primary (('^'|'**') unary | raised)?
 *     primary := number | name | function '(' sum (',' sum)* ')' | '(' sum ')' | LaTeX forms
 *                | function ('^' number | raised) '(' sum ')': sin^2(x) is sin(x)^2
 *     raised  := a whole number in raised digits: x², 10⁻³
 *
 * Three readings make printed formulas short and still exact: a^2 and a^3 are pow2 and pow3, 1/a is
 * inv(a), e^a is exp(a). The operators behind them (pow, div) have function forms. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "expr/parse_int.h"

/* The number at `at` if it is an integer literal, else NAN. */
static double integer_at(const parser *p, int at)
{
    const expr_node *n = at < 0 ? NULL : &p->pool.at[at].node;
    return n && n->op == EXPR_NUMBER && n->integer ? n->value : NAN;
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

/* Takes what Unicode has beside an operator of ASCII. */
static int take_sign(parser *p, char operator)
{
    skip_space(p);
    char plain;
    size_t n = parse_sign(p->text + p->pos, &plain);
    if (!n || plain != operator)
        return 0;
    p->pos += n;
    return 1;
}

/* Length of the raised digit or minus at `s`, which *plain becomes; 0 if there is none. */
static size_t raised_sign(const char *s, char *plain)
{
    size_t n = parse_sign(s, plain);
    return n && *plain != '*' && *plain != '/' ? n : 0;
}

/* The number of x² or x⁻¹, as a node; -1 with p->failed unset where there is none. */
static int parse_raised(parser *p)
{
    skip_space(p);
    size_t pos = p->pos, n, length = 0;
    char digits[24] = "", plain;
    while (length + 1 < sizeof digits && (n = raised_sign(p->text + p->pos, &plain))) {
        digits[length++] = plain;
        p->pos += n;
    }
    if (!length)
        return -1;
    int minus = *digits == '-', integer;
    if (!parse_digits(digits + minus, &integer) || !integer || strchr(digits + minus, '-'))
        return parse_fail(p, pos, "a raised power is a whole number of at most 15 digits");
    return parse_value(p, strtod(digits, NULL), 1, pos);
}

/* Takes an operator written as a word between its operands, as SNIP prints infix: `a add b`. */
static int take_word(parser *p, const char *word)
{
    skip_space(p);
    size_t n = strlen(word);
    if (strncmp(p->text + p->pos, word, n) != 0 || parse_name_part(p->text[p->pos + n]))
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
        return parse_fail(p, p->pos, "'%s' missing for the bracket opened at byte %zu", closing,
                          opened);
    return parse_fail(p, p->pos, "expected an operator or '%s'", closing);
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
        return parse_fail(p, p->pos, "expected '{'");
    return parse_inside(p, "}", opened);
}

static int finish_power(parser *p, int base, int exponent)
{
    if (base < 0 || exponent < 0)
        return -1;
    if (p->pool.at[base].node.op == EXPR_E)
        return parse_op(p, EXPR_EXP, exponent, -1);
    double n = integer_at(p, exponent);
    if (n == 2 || n == 3)
        return parse_op(p, n == 2 ? EXPR_POW2 : EXPR_POW3, base, -1);
    return parse_op(p, EXPR_POW, base, exponent);
}

static int finish_quotient(parser *p, int top, int bottom)
{
    if (integer_at(p, top) == 1)
        return parse_op(p, EXPR_INV, bottom, -1);
    return parse_op(p, EXPR_DIV, top, bottom);
}

/* sympy's name for what cbrt is to us. */
static int is_real_root(const char *name, size_t length)
{
    return length == 9 && memcmp(name, "real_root", 9) == 0;
}

static int two_meanings(parser *p, size_t pos, const char *name, size_t length)
{
    return parse_fail(p, pos,
                      "%.*s^-1 has two meanings: write the inverse function's name, or 1/%.*s",
                      (int)length, name, (int)length, name);
}

/* The whole number of sin^2(x), as a node; -1 with p->failed unset where there is none. */
static int parse_function_power(parser *p, const char *name, size_t length)
{
    size_t pos = p->pos;
    int raised = parse_raised(p);
    if (raised >= 0)
        return p->pool.at[raised].node.value < 0 ? two_meanings(p, pos, name, length) : raised;
    if (p->failed || (!take(p, "**") && !take(p, "^")))
        return -1;
    skip_space(p);
    pos = p->pos;
    int brace = take(p, "{"), integer;
    if (p->text[p->pos] == '-')
        return two_meanings(p, pos, name, length);
    size_t digits = parse_digits(p->text + p->pos, &integer);
    if (!digits || !integer)
        return parse_fail(p, pos, "a power between '%.*s' and its argument is a whole number",
                          (int)length, name);
    double value = strtod(p->text + p->pos, NULL);
    p->pos += digits;
    if (brace && !take(p, "}"))
        return parse_fail(p, p->pos, "'}' missing after the power");
    return parse_value(p, value, 1, pos);
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
        return parse_fail(p, p->pos, "function '%.*s' needs '(' and its argument", (int)length,
                          name);
    int kid[2] = { -1, -1 }, count = 0, arity = expr_ops[op].arity;
    do {
        int argument = parse_sum(p);
        if (argument < 0)
            return -1;
        if (count >= 2 && (op == EXPR_MIN || op == EXPR_MAX)) { /* of any number, from the left */
            kid[0] = parse_op(p, (expr_op)op, kid[0], kid[1]);
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
            return parse_fail(p, pos, "only the cube root real_root(x, 3) is supported");
        kid[1] = -1;
        count = 1;
    }
    if (count != arity)
        return parse_fail(p, pos, "function '%.*s' takes %d argument%s, not %d", (int)length, name,
                          arity, text_plural((uint64_t)arity), count);
    int result = parse_op(p, (expr_op)op, kid[0], kid[1]);
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
    return inside < 0 ? -1 : parse_op(p, EXPR_INV, inside, -1);
}

/* A variable, constant or function, by its name text[0..length) at `pos`. */
static int parse_named(parser *p, const char *name, size_t length, size_t pos)
{
    skip_space(p);
    char next = p->text[p->pos], sign;
    int call = next == '(' || strncmp(p->text + p->pos, "\\left", 5) == 0;
    int raised = next == '^' || strncmp(p->text + p->pos, "**", 2) == 0 ||
                 raised_sign(p->text + p->pos, &sign); /* sec^2(x), or sec^2 */
    int variable = parse_find(p, name, length);
    if (variable >= 0 && !call)
        return parse_variable(p, variable, pos);

    size_t skip = expr_module_length(name, length);
    int op = expr_op_find(name + skip, length - skip);
    if (is_real_root(name + skip, length - skip))
        op = EXPR_CBRT;
    if (op >= 0 && expr_ops[op].arity == 0)
        return parse_op(p, (expr_op)op, -1, -1);
    if (op >= 0)
        return parse_call(p, op, name + skip, length - skip, pos);
    int under = reciprocal_of(name + skip, length - skip);
    if (under >= 0 && (call || (raised && !p->met)))
        return parse_reciprocal(p, under, name + skip, length - skip, pos);
    if (call)
        return parse_fail(p, pos, "unknown function '%.*s'", length > 60 ? 60 : (int)length, name);
    if (p->met)
        return parse_met(p, name, length, pos);
    return parse_unknown(p, pos, "unknown name", name, length);
}

/* A decimal number; in LaTeX it may go on with `\cdot 10^{n}`. */
static int parse_number(parser *p)
{
    size_t start = p->pos;
    int integer;
    size_t length = parse_digits(p->text + start, &integer);
    double value = strtod(p->text + start, NULL);
    p->pos += length;
    const char *next = p->text + p->pos; /* strtod would read 0x10 as 16 */
    if (length == 1 && next[-1] == '0' && (*next == 'x' || *next == 'X') &&
        isxdigit((unsigned char)next[1]))
        return parse_fail(p, start, "hexadecimal numbers are not read");
    size_t before = p->pos;
    if (take(p, "\\cdot") && take(p, "10^{")) {
        char *end;
        long power = strtol(p->text + p->pos, &end, 10);
        if (end != p->text + p->pos && *end == '}' && power > -1000 && power < 1000) {
            char *copy = arena_alloc(p->a, length + 16);
            if (!copy)
                return parse_nomem(p);
            memcpy(copy, p->text + start, length);
            snprintf(copy + length, 16, "e%ld", power);
            p->pos = (size_t)(end + 1 - p->text);
            return parse_value(p, strtod(copy, NULL), 0, start);
        }
    }
    p->pos = before;
    return parse_value(p, value, integer, start);
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
        return parse_fail(p, pos, "quoted name without its closing '%c'", closing);
    char *name = arena_alloc(p->a, end + 1);
    if (!name)
        return parse_nomem(p);
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
    int variable = parse_find(p, name, length);
    if (variable < 0)
        return parse_unknown(p, pos, "unknown name", name, length);
    return parse_variable(p, variable, pos);
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
        return inside < 0 ? -1 : parse_op(p, EXPR_ABS, inside, -1);
    }
    if (take(p, "\\mathrm{"))
        return parse_quoted(p, '}', pos);
    if (take(p, "\\operatorname{")) {
        const char *name = p->text + p->pos;
        size_t length = strcspn(name, "}");
        if (!name[length])
            return parse_fail(p, pos, "'}' missing after \\operatorname");
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
            return parse_op(p, (expr_op)op, -1, -1);
        return parse_call(p, op, latex, strlen(latex), pos);
    }
    return parse_fail(p, pos, "unknown LaTeX command");
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
    if (parse_digits(s, &integer))
        return parse_number(p);
    if (*s == '`') {
        p->pos++;
        return parse_quoted(p, '`', pos);
    }
    if (take(p, "Symbol('")) {
        int variable = parse_quoted(p, '\'', pos);
        if (variable >= 0 && !take(p, ")"))
            return parse_fail(p, p->pos, "')' missing after Symbol('...'");
        return variable;
    }
    if (parse_name_start(*s)) {
        size_t length = parse_name_length(p, s);
        char sign;
        if (length == 0)
            return parse_fail(p, pos, "unexpected '%.*s'", (int)parse_sign(s, &sign), s);
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
        return parse_fail(p, pos, pos == 0 ? "the formula is empty" : "the formula ends too early");
    if (isprint((unsigned char)*s))
        return parse_fail(p, pos, "unexpected '%c'", *s);
    return parse_fail(p, pos, "unexpected byte 0x%02x", (unsigned char)*s);
}

static int parse_unary(parser *p);

/* What may stand behind the base of a power. */
static int parse_power(parser *p, int base)
{
    int exponent = parse_raised(p);
    if (exponent < 0 && !p->failed) {
        if (!take(p, "**") && !take(p, "^"))
            return base;
        exponent = parse_unary(p);
    }
    return finish_power(p, base, exponent);
}

static int parse_unary(parser *p)
{
    if (p->nesting == EXPR_NESTING_MAX)
        return parse_fail(p, p->pos, "nested more than %d deep", EXPR_NESTING_MAX);
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
            parse_digits(p->text + operand, &integer))
            p->pool.at[result].node.value = -p->pool.at[result].node.value;
        else if (result >= 0)
            result = parse_op(p, EXPR_NEG, result, -1);
    } else if (p->text[p->pos] == '+') {
        p->pos++;
        result = parse_unary(p);
    } else {
        result = parse_primary(p);
        if (result >= 0)
            result = parse_power(p, result);
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
    char sign;
    if (parse_sign(s, &sign))
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(s, words[i], 3) == 0 && !parse_name_part(s[3]))
            return 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strncmp(s, commands[i], strlen(commands[i])) == 0)
            return 0;
    return parse_name_start(*s) || *s == '(' || *s == '{' || *s == '`' || *s == '\\';
}

/* A factor of a product; `divisor` for what stands behind a slash. */
static int parse_factor(parser *p, int divisor)
{
    int left = parse_unary(p);
    if (left < 0 || p->pool.at[left].node.op != EXPR_NUMBER || !follows_number(p))
        return left;
    if (divisor)
        return parse_fail(p, p->pos, "a number and what it multiplies need brackets behind '/'");
    int right = parse_unary(p);
    return right < 0 ? -1 : parse_op(p, EXPR_MUL, left, right);
}

static int parse_product(parser *p)
{
    int left = parse_factor(p, 0);
    while (left >= 0) {
        if (take(p, "*") || take_sign(p, '*') || take(p, "\\cdot") || take(p, "\\times") ||
            take_word(p, "mul")) {
            int right = parse_factor(p, 0);
            left = right < 0 ? -1 : parse_op(p, EXPR_MUL, left, right);
        } else if (take(p, "/") || take_sign(p, '/') || take_word(p, "div")) {
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
        left = right < 0 ? -1 : parse_op(p, plus ? EXPR_ADD : EXPR_SUB, left, right);
    }
    return left;
}

snip_code parse_infix(expr *out, parser *p)
{
    int root = parse_sum(p);
    skip_space(p);
    if (root >= 0 && p->text[p->pos]) {
        char c = p->text[p->pos];
        root = c == ')' || c == '}' ? parse_fail(p, p->pos, "'%c' closes nothing", c)
                                    : parse_fail(p, p->pos, "expected an operator");
    }
    if (root < 0)
        return p->st->code;
    return expr_pool_flatten(out, &p->pool, root, p->a, p->st);
}
