/* print.c - tree to text. Brackets are written where reading back would otherwise give another
 * tree, and function forms (`div(1, x0)`) where an operator would be read as something shorter. C
 * is written for a compiler, so there only values count. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "expr/expr_int.h"

/* How tightly a printed form binds. */
typedef enum level { SUM = 1, PRODUCT, SIGN, POWER, ATOM } level;

typedef struct printer {
    text t;
    expr e;
    snip_format format;
    const expr_names *names;
    int digits;
} printer;

void expr_print_number(char *buf, double v)
{
    if (isnan(v)) { /* never -nan */
        strcpy(buf, "nan");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, 32, "%.*g", digits, v);
        if (strtod(buf, NULL) == v)
            break;
    }
    if (!strpbrk(buf, ".einf")) /* 8 -> 8.0, so that it stays a float */
        strcat(buf, ".0");
}

/* A literal of type double: 1/2 would be 0. */
static void c_number(double v, int digits, char buf[40])
{
    if (isnan(v)) {
        strcpy(buf, "NAN");
    } else if (isinf(v)) {
        strcpy(buf, v < 0 ? "-INFINITY" : "INFINITY");
    } else if (digits > 0) {
        snprintf(buf, 36, "%.*g", digits < 17 ? digits : 17, v);
        if (!strpbrk(buf, ".e"))
            strcat(buf, ".0");
    } else {
        expr_print_number(buf, v);
    }
}

/* Whether node i belongs to the exponent of some power. */
static int in_exponent(expr e, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (e.node[k].op == EXPR_POW && expr_child(e, k, 1) <= i && i < k + e.node[k].len)
            return 1;
    return 0;
}

/* A number in few digits. In an exponent 1.9966 must not become 2, which would be another form: it
 * gets the digits that tell them apart, or a point where even many do not. */
static void rounded_text(const printer *p, const expr_node *n, char buf[40])
{
    enum { MANY = 6 };
    int digits = p->digits;
    snprintf(buf, 40, "%.*g", digits, n->value);
    if (n->value == floor(n->value) || strpbrk(buf, ".einf") ||
        !in_exponent(p->e, (size_t)(n - p->e.node)))
        return;
    while (!strpbrk(buf, ".e") && digits < MANY)
        snprintf(buf, 40, "%.*g", ++digits, n->value);
    if (!strpbrk(buf, ".e"))
        strcat(buf, ".0");
}

static void number_text(const printer *p, const expr_node *n, char buf[40])
{
    if (p->format == SNIP_C)
        c_number(n->value, n->integer ? 0 : p->digits, buf);
    else if (n->integer)
        snprintf(buf, 40, "%.0f", n->value);
    else if (p->digits > 0)
        rounded_text(p, n, buf);
    else
        expr_print_number(buf, n->value);
}

static void put_number(printer *p, const expr_node *n)
{
    char buf[40];
    number_text(p, n, buf);
    char *e = strchr(buf, 'e');
    if (e && p->format == SNIP_LATEX)
        text_add(&p->t, "%.*s \\cdot 10^{%d}", (int)(e - buf), buf, atoi(e + 1));
    else
        text_add(&p->t, "%s", buf);
}

static char c_letter(char c)
{
    return isascii((unsigned char)c) && isalnum((unsigned char)c) ? c : '_';
}

/* A name with letters that C takes, and none that means something there: `speed [m/s]` as
 * speed__m_s_, `long` as long_. NULL when memory is out. */
static char *c_name(const char *name, arena *a)
{
    text t = { .a = a };
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        text_put(&t, "_", 1);
    for (const char *c = name; *c; c++)
        text_put(&t, &(char){ c_letter(*c) }, 1);
    const char *made = text_end(&t);
    if (made && expr_taken_in_c(made))
        text_put(&t, "_", 1);
    return text_end(&t);
}

/* How many columns have that c_name; -1 when memory is out. */
static int columns_called(const expr_names *names, const char *made, arena *a)
{
    int count = 0;
    for (size_t j = 0; j < names->count; j++) {
        const char *other = c_name(names->name[j], a);
        if (!other)
            return -1;
        count += strcmp(made, other) == 0;
    }
    return count;
}

/* Columns that would have the same name in C have their index behind it. */
static void put_c_name(printer *p, int index)
{
    text t = { .a = p->t.a };
    const char *made = c_name(p->names->name[index], t.a);
    int twins = made ? columns_called(p->names, made, t.a) : -1;
    if (twins > 1) {
        text_add(&t, "%s_%d", made, index);
        while ((made = text_end(&t)) && columns_called(p->names, made, t.a) > 0)
            text_put(&t, "_", 1);
    }
    if (!made || twins < 0)
        p->t.failed = 1;
    else
        text_add(&p->t, "%s", made);
}

/* Whether a column is called that. */
static int is_column(const printer *p, const char *name)
{
    for (size_t j = 0; p->names && j < p->names->count; j++)
        if (strcmp(p->names->name[j], name) == 0)
            return 1;
    return 0;
}

/* Whether a word of prefix text is read as this name as it stands: there operators go first. */
static int is_prefix_word(const char *name)
{
    size_t skip = expr_module_length(name, strlen(name));
    int op = expr_op_find(name + skip, strlen(name + skip));
    return expr_is_identifier(name) && (op < 0 || expr_ops[op].arity == 0);
}

static void put_variable(printer *p, int index)
{
    const char *name = p->names && (size_t)index < p->names->count ? p->names->name[index] : NULL;
    if (p->format == SNIP_PREFIX && !name) {
        text_add(&p->t, "x_%d", index);
    } else if (!name) {
        text_add(&p->t, p->format == SNIP_LATEX ? "x_{%d}" : "x%d", index);
    } else if (p->format == SNIP_C) {
        put_c_name(p, index);
    } else if (p->format == SNIP_LATEX) {
        text_add(&p->t, "\\mathrm{");
        for (const char *c = name; *c; c++) {
            const char *sign = expr_latex_sign(*c);
            if (strchr("_%&#${}", *c))
                text_put(&p->t, "\\", 1);
            text_put(&p->t, sign ? sign : c, sign ? strlen(sign) : 1);
        }
        text_add(&p->t, "}");
    } else if ((p->format == SNIP_SYMPY && expr_taken_in_sympy(name)) ||
               (p->format == SNIP_INFIX && strchr(name, '`'))) {
        text_add(&p->t, "Symbol('");
        for (const char *c = name; *c; c++) {
            if (*c == '\'' || *c == '\\')
                text_put(&p->t, "\\", 1);
            text_put(&p->t, c, 1);
        }
        text_add(&p->t, "')");
    } else if (p->format == SNIP_PREFIX && strchr(name, '`')) {
        text_add(&p->t, "x_%d", index);
    } else if (p->format == SNIP_PREFIX ? is_prefix_word(name) : expr_is_identifier(name)) {
        text_add(&p->t, "%s", name);
    } else {
        text_add(&p->t, "`%s`", name);
    }
}

/* pi, e or euler_gamma; in a spelling that is no column's name, since columns go first. */
static void put_constant(printer *p, expr_op op)
{
    static const char *const spellings[][4] = {
        { "pi", "M_PI", "PI", "np.pi" },
        { "e", "M_E", "np.e", "math.e" },
        { "euler_gamma", "EulerGamma", "np.euler_gamma", "sympy.EulerGamma" },
    };
    const char *const *way = spellings[op == EXPR_PI ? 0 : op == EXPR_E ? 1 : 2];
    if (p->format == SNIP_SYMPY) {
        int taken = is_column(p, expr_ops[op].sympy);
        text_add(&p->t, "%s",
                 !taken          ? expr_ops[op].sympy
                 : op == EXPR_E  ? "exp(1)"
                 : op == EXPR_PI ? "acos(-1)"
                                 : "0.5772156649015329");
    } else if (p->format == SNIP_LATEX) {
        int taken = op == EXPR_E && is_column(p, "e");
        text_add(&p->t, "%s", taken ? "\\exp\\left(1\\right)" : expr_ops[op].latex);
    } else {
        for (int k = 0; k < 3 && is_column(p, *way); k++)
            way++;
        text_add(&p->t, "%s", *way);
    }
}

static int is_integer(const expr_node *n, double value)
{
    return n->op == EXPR_NUMBER && n->integer && n->value == value;
}

/* Whether the operator form of node i would be read back as another operator. */
static int needs_function_form(const printer *p, size_t i)
{
    const expr_node *n = &p->e.node[i];
    if (p->format == SNIP_SYMPY || p->format == SNIP_C || expr_ops[n->op].arity == 0)
        return 0;
    const expr_node *first = n + 1;
    const expr_node *second;
    switch (n->op) {
    case EXPR_DIV: /* 1/x is inv */
        return is_integer(first, 1);
    case EXPR_NEG: /* -2 is a number */
        return first->op == EXPR_NUMBER;
    case EXPR_POW2:
    case EXPR_POW3: /* e^2 is exp; in LaTeX 8 \cdot 10^{2} is a number */
        return first->op == EXPR_E || (p->format == SNIP_LATEX && is_integer(first, 10));
    case EXPR_POW: /* the same, and x^2 is pow2 */
        second = &p->e.node[expr_child(p->e, i, 1)];
        return first->op == EXPR_E || is_integer(second, 2) || is_integer(second, 3) ||
               (p->format == SNIP_LATEX && is_integer(first, 10));
    default:
        return 0;
    }
}

/* Whether C writes the power at i as a product: x*x, but not sin(x)*sin(x). */
static int is_c_product(const printer *p, size_t i)
{
    const expr_node *n = &p->e.node[i];
    return (n->op == EXPR_POW2 || n->op == EXPR_POW3) && expr_ops[n[1].op].arity == 0;
}

static level level_of(const printer *p, size_t i)
{
    const expr_node *n = &p->e.node[i];
    if (p->format == SNIP_C && is_c_product(p, i))
        return PRODUCT;
    if (needs_function_form(p, i))
        return ATOM;
    int latex = p->format == SNIP_LATEX;
    switch (n->op) {
    case EXPR_NUMBER: {
        char buf[40];
        number_text(p, n, buf);
        if (latex && strchr(buf, 'e'))
            return PRODUCT;
        return signbit(n->value) ? SIGN : ATOM;
    }
    case EXPR_ADD:
    case EXPR_SUB:
        return SUM;
    case EXPR_MUL:
        return PRODUCT;
    case EXPR_DIV:
    case EXPR_INV:
        return latex ? POWER : PRODUCT;
    case EXPR_NEG:
        return SIGN;
    case EXPR_POW:
    case EXPR_POW2:
    case EXPR_POW3:
        return p->format == SNIP_C ? ATOM : POWER;
    case EXPR_EXP:
        return latex ? POWER : ATOM;
    case EXPR_LOG2: /* sympy has no such functions, so they are spelled out */
    case EXPR_LOG10:
        return p->format == SNIP_SYMPY ? PRODUCT : ATOM;
    case EXPR_EXPM1:
        return p->format == SNIP_SYMPY ? SUM : ATOM;
    case EXPR_EXP2:
        return p->format == SNIP_SYMPY ? POWER : ATOM;
    default:
        return ATOM;
    }
}

static void put(printer *p, size_t i);

/* The operand at i, in brackets unless it binds at least as tightly as `least`. */
static void put_operand(printer *p, size_t i, level least)
{
    int bracket = level_of(p, i) < least;
    int latex = p->format == SNIP_LATEX;
    if (bracket)
        text_add(&p->t, latex ? "\\left(" : "(");
    put(p, i);
    if (bracket)
        text_add(&p->t, latex ? "\\right)" : ")");
}

/* op(a) or op(a, b) */
static void put_call(printer *p, size_t i)
{
    const expr_op_info *op = &expr_ops[p->e.node[i].op];
    int latex = p->format == SNIP_LATEX;
    if (latex && op->latex[0])
        text_add(&p->t, "%s\\left(", op->latex);
    else if (latex)
        text_add(&p->t, "\\operatorname{%s}\\left(", op->name);
    else if (p->format == SNIP_C)
        text_add(&p->t, "%s(", op->c);
    else
        text_add(&p->t, "%s(", p->format == SNIP_SYMPY && op->sympy[0] ? op->sympy : op->name);
    put(p, i + 1);
    if (op->arity == 2) {
        text_add(&p->t, ", ");
        put(p, expr_child(p->e, i, 1));
    }
    text_add(&p->t, latex ? "\\right)" : ")");
}

/* a op b, of the operands' levels at least `left` and `right` */
static void put_binary(printer *p, size_t i, const char *op, level left, level right)
{
    put_operand(p, i + 1, left);
    text_add(&p->t, "%s", op);
    put_operand(p, expr_child(p->e, i, 1), right);
}

/* The operand at i between two pieces of text. */
static void put_between(printer *p, const char *before, size_t i, const char *after)
{
    text_add(&p->t, "%s", before);
    put(p, i);
    text_add(&p->t, "%s", after);
}

static void put_fraction(printer *p, size_t top, size_t bottom)
{
    text_add(&p->t, "\\frac{");
    if (top)
        put(p, top);
    else
        text_add(&p->t, "1");
    text_add(&p->t, "}{");
    put(p, bottom);
    text_add(&p->t, "}");
}

/* The text after a base: ^2, **2, ^{2}. */
static void put_integer_power(printer *p, size_t i, int n)
{
    put_operand(p, i + 1, ATOM);
    text_add(&p->t,
             p->format == SNIP_LATEX   ? "^{%d}"
             : p->format == SNIP_SYMPY ? "**%d"
                                       : "^%d",
             n);
}

/* What sympy has no function for: the operand goes where the row has an @. */
static void put_spelled_out(printer *p, size_t i)
{
    const char *way = expr_ops[p->e.node[i].op].spelled, *operand = strchr(way, '@');
    text_put(&p->t, way, (size_t)(operand - way));
    put(p, i + 1);
    text_add(&p->t, "%s", operand + 1);
}

/* The sign of the operand at i + 1. Comparisons write it twice, so signs inside each other, whose
 * text would double every time, take a form that has it once: tanh of something beyond all
 * numbers. */
static void put_c_sign(printer *p, size_t i)
{
    int nested = 0;
    for (size_t k = i + 1; k < i + p->e.node[i].len; k++)
        nested |= p->e.node[k].op == EXPR_SIGN;
    if (nested) {
        text_add(&p->t, "tanh(1e300*(1e300*");
        put_operand(p, i + 1, POWER);
        text_add(&p->t, "))");
        return;
    }
    put_between(p, "((", i + 1, " > 0) - (double)(");
    put_between(p, "", i + 1, " < 0))");
}

/* What C writes in a way of its own; returns 0 for the rest. */
static int put_c(printer *p, size_t i)
{
    const expr_node *n = &p->e.node[i];
    char buf[40];
    switch (n->op) {
    case EXPR_PI:
    case EXPR_E:
    case EXPR_GAMMA: /* as numbers: ISO C has no M_PI */
        expr_print_number(buf, n->op == EXPR_PI ? M_PI : n->op == EXPR_E ? M_E : EXPR_EULER_GAMMA);
        text_add(&p->t, "%s", buf);
        return 1;
    case EXPR_POW2:
    case EXPR_POW3:
        if (!is_c_product(p, i)) {
            text_add(&p->t, "pow(");
            put(p, i + 1);
            text_add(&p->t, n->op == EXPR_POW2 ? ", 2)" : ", 3)");
            return 1;
        }
        for (int k = n->op == EXPR_POW2 ? 2 : 3; k > 0; k--) {
            put_operand(p, i + 1, POWER);
            if (k > 1)
                text_add(&p->t, "*");
        }
        return 1;
    case EXPR_POW:
        put_call(p, i);
        return 1;
    case EXPR_INV:
        text_add(&p->t, "1.0/");
        put_operand(p, i + 1, POWER);
        return 1;
    case EXPR_SIGN:
        put_c_sign(p, i);
        return 1;
    default:
        return 0;
    }
}

/* What LaTeX writes in a way of its own; returns 0 for the rest. */
static int put_latex(printer *p, size_t i)
{
    switch (p->e.node[i].op) {
    case EXPR_MUL:
        put_binary(p, i, " \\cdot ", PRODUCT, POWER);
        return 1;
    case EXPR_DIV:
        put_fraction(p, i + 1, expr_child(p->e, i, 1));
        return 1;
    case EXPR_INV:
        put_fraction(p, 0, i + 1);
        return 1;
    case EXPR_POW:
        put_operand(p, i + 1, ATOM);
        put_between(p, "^{", expr_child(p->e, i, 1), "}");
        return 1;
    case EXPR_ABS:
        put_between(p, "\\left|", i + 1, "\\right|");
        return 1;
    case EXPR_SQRT:
        put_between(p, "\\sqrt{", i + 1, "}");
        return 1;
    case EXPR_EXP:
        if (is_column(p, "e"))
            return 0;
        put_between(p, "e^{", i + 1, "}");
        return 1;
    default:
        return 0;
    }
}

static void put(printer *p, size_t i)
{
    const expr_node *n = &p->e.node[i];
    if (p->format == SNIP_C && put_c(p, i))
        return;
    if (needs_function_form(p, i)) {
        put_call(p, i);
        return;
    }
    if (p->format == SNIP_LATEX && put_latex(p, i))
        return;
    switch (n->op) {
    case EXPR_NUMBER:
        put_number(p, n);
        break;
    case EXPR_VARIABLE:
        put_variable(p, n->var);
        break;
    case EXPR_PI:
    case EXPR_E:
    case EXPR_GAMMA:
        put_constant(p, (expr_op)n->op);
        break;
    case EXPR_ADD:
        put_binary(p, i, " + ", SUM, PRODUCT);
        break;
    case EXPR_SUB:
        put_binary(p, i, " - ", SUM, PRODUCT);
        break;
    case EXPR_MUL:
        put_binary(p, i, "*", PRODUCT, POWER);
        break;
    case EXPR_DIV:
        put_binary(p, i, "/", PRODUCT, POWER);
        break;
    case EXPR_INV:
        text_add(&p->t, "1/");
        put_operand(p, i + 1, POWER);
        break;
    case EXPR_NEG:
        text_add(&p->t, "-");
        put_operand(p, i + 1, POWER);
        break;
    case EXPR_POW2:
        put_integer_power(p, i, 2);
        break;
    case EXPR_POW3:
        put_integer_power(p, i, 3);
        break;
    case EXPR_POW:
        put_binary(p, i, p->format == SNIP_SYMPY ? "**" : "^", ATOM, ATOM);
        break;
    default:
        if (p->format == SNIP_SYMPY && expr_ops[n->op].spelled[0])
            put_spelled_out(p, i);
        else
            put_call(p, i);
    }
}

static void put_prefix(printer *p)
{
    for (size_t i = 0; i < p->e.count; i++) {
        const expr_node *n = &p->e.node[i];
        if (i)
            text_put(&p->t, ",", 1);
        if (n->op == EXPR_NUMBER)
            put_number(p, n);
        else if (n->op == EXPR_VARIABLE)
            put_variable(p, n->var);
        else if (n->op == EXPR_PI || n->op == EXPR_E || n->op == EXPR_GAMMA)
            put_constant(p, (expr_op)n->op);
        else
            text_add(&p->t, "%s", expr_ops[n->op].name);
    }
}

char *expr_print(expr e, snip_format format, const expr_names *names, int digits, arena *a)
{
    printer p = { .t = { .a = a }, .e = e, .format = format, .names = names, .digits = digits };
    if (format == SNIP_PREFIX)
        put_prefix(&p);
    else
        put(&p, 0);
    return text_end(&p.t);
}
