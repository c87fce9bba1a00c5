/* law.c - see law.h. */
#include "regress/law.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "regress/constants.h"

static size_t find(const expr_names *names, const char *name)
{
    size_t j = 0;
    while (names && j < names->count && strcmp(names->name[j], name) != 0)
        j++;
    return j;
}

static int is_in(const expr_names *names, const char *name)
{
    return names && find(names, name) < names->count;
}

/* Whether a column is called x0, x1, ... as in tables without names: there x7 is no parameter but a
 * column that is missing. */
static int has_counted(const expr_names *columns)
{
    for (size_t j = 0; columns && j < columns->count; j++)
        if (expr_variable_index(columns->name[j], strlen(columns->name[j])) >= 0)
            return 1;
    return 0;
}

/* Whether the number at node i is a parameter; `fitted` has room for a mark per node. */
static int mark_numbers(char *fitted, expr e, regress_numbers numbers, arena *a)
{
    memset(fitted, 0, e.count);
    if (numbers == REGRESS_NUMBERS_DECIMAL)
        for (size_t i = 0; i < e.count; i++)
            fitted[i] = e.node[i].op == EXPR_NUMBER && !e.node[i].integer;
    if (numbers != REGRESS_NUMBERS_ALL)
        return 1;
    size_t *node = arena_array(a, e.count, sizeof *node);
    size_t n = node ? expr_constants(e, node) : 0;
    for (size_t k = 0; k < n; k++)
        fitted[node[k]] = 1;
    return node != NULL;
}

/* The next of c1, c2, ... that is no name of the law or of a column. NULL when memory is out. */
static const char *next_name(size_t *number, const expr_names *met, const expr_names *columns,
                             arena *a)
{
    for (;;) {
        char name[32];
        snprintf(name, sizeof name, "c%zu", ++*number);
        if (!is_in(met, name) && !is_in(columns, name))
            return arena_text(a, name, strlen(name));
    }
}

/* Splits the names met into inputs and parameters: place[k] is the variable that name k becomes. */
static snip_code split(regress_law *law, size_t *place, const expr_names *met,
                       const expr_names *columns, const expr_names *given, snip_status *st)
{
    int counted = has_counted(columns);
    for (size_t k = 0; k < met->count; k++) {
        const char *name = met->name[k];
        size_t j = find(columns, name);
        if (columns && j < columns->count) {
            law->column[law->inputs] = j;
            place[k] = law->inputs++;
            continue;
        }
        if (counted && expr_variable_index(name, strlen(name)) >= 0 && !is_in(given, name))
            return status_fail(
                st, SNIP_FORMAT, 0,
                "there is no column '%.60s' (a parameter of that name needs a start)", name);
        law->param[law->params++] =
            (regress_parameter){ .name = name, .start = NAN, .low = -INFINITY, .high = INFINITY };
    }
    size_t next = law->inputs;
    for (size_t k = 0; k < met->count; k++)
        if (!is_in(columns, met->name[k]))
            place[k] = next++;
    return SNIP_OK;
}

static snip_code build(regress_law *law, expr e, const expr_names *met, const expr_names *columns,
                       const expr_names *given, regress_numbers numbers, arena *a, snip_status *st)
{
    size_t most = met->count + e.count, number = 0;
    size_t *place = arena_array(a, met->count + 1, sizeof *place);
    char *fitted = arena_alloc(a, e.count);
    law->column = arena_array(a, met->count + 1, sizeof *law->column);
    law->param = arena_array(a, most, sizeof *law->param);
    const char **names = arena_array(a, most, sizeof *names);
    if (!place || !fitted || !law->column || !law->param || !names ||
        !mark_numbers(fitted, e, numbers, a))
        return status_nomem(st);
    snip_code code = split(law, place, met, columns, given, st);
    if (code != SNIP_OK)
        return code;
    for (size_t i = 0; i < e.count; i++) {
        expr_node *n = &e.node[i];
        if (n->op == EXPR_VARIABLE)
            n->var = (uint16_t)place[n->var];
        if (!fitted[i])
            continue;
        const char *name = next_name(&number, met, columns, a);
        if (!name)
            return status_nomem(st);
        if (law->inputs + law->params >= EXPR_VARIABLES_MAX)
            return status_fail(st, SNIP_UNSUPPORTED, 0, "more than %d inputs and parameters",
                               EXPR_VARIABLES_MAX);
        law->param[law->params] = (regress_parameter){
            .name = name, .start = n->value, .low = -INFINITY, .high = INFINITY, .written = 1
        };
        *n = (expr_node){ .op = EXPR_VARIABLE, .len = 1 };
        n->var = (uint16_t)(law->inputs + law->params++);
    }
    law->e = e;
    for (size_t j = 0; j < law->inputs; j++)
        names[j] = columns->name[law->column[j]];
    for (size_t j = 0; j < law->params; j++)
        names[law->inputs + j] = law->param[j].name;
    law->names = (expr_names){ names, law->inputs + law->params };
    return SNIP_OK;
}

snip_code regress_law_parse(regress_law *out, const char *text, const expr_names *columns,
                            const expr_names *given, regress_numbers numbers, arena *a,
                            snip_status *st)
{
    expr e;
    expr_names met;
    *out = (regress_law){ 0 };
    snip_code code = expr_parse_open(&e, &met, text, columns, a, st);
    return code == SNIP_OK ? build(out, e, &met, columns, given, numbers, a, st) : code;
}

size_t regress_law_find(const regress_law *law, const char *name)
{
    size_t j = 0;
    while (j < law->params && strcmp(law->param[j].name, name) != 0)
        j++;
    return j;
}

/* v rounded to so many significant digits. */
static double rounded(double v, int digits)
{
    char buf[40];
    snprintf(buf, sizeof buf, "%.*g", digits, v);
    return strtod(buf, NULL);
}

/* Terms that begin with a negative parameter change their sign, to the last bit the same. */
static void turn_signs(expr out, const regress_law *law)
{
    for (size_t i = 0; i < out.count; i++) {
        expr_node *n = &out.node[i];
        size_t lead = regress_lead(out, i);
        if (lead < out.count && law->e.node[lead].op == EXPR_VARIABLE &&
            out.node[lead].op == EXPR_NUMBER && out.node[lead].value < 0) {
            out.node[lead].value = -out.node[lead].value;
            n->op = n->op == EXPR_ADD ? EXPR_SUB : EXPR_ADD;
        }
    }
}

/* A minus sign before a parameter becomes its value's: -b*x is -2*x or, for -2, 2*x. */
static expr fold_signs(expr out, const regress_law *law)
{
    size_t n = 0;
    for (size_t i = 0; i < out.count; i++) {
        size_t from = i;
        while (out.node[i].op == EXPR_NEG)
            i++;
        int parameter = out.node[i].op == EXPR_NUMBER && law->e.node[i].op == EXPR_VARIABLE;
        if (i > from && !parameter)
            i = from;
        out.node[n] = out.node[i];
        if ((i - from) % 2)
            out.node[n].value = -out.node[n].value;
        n++;
    }
    out.count = n;
    expr_measure(out);
    return out;
}

expr regress_law_with(const regress_law *law, const double *value, int digits, arena *a)
{
    expr out = { arena_copy(a, law->e.node, law->e.count * sizeof *law->e.node), law->e.count };
    for (size_t i = 0; i < out.count && out.node; i++) {
        if (out.node[i].op != EXPR_VARIABLE || out.node[i].var < law->inputs)
            continue;
        size_t j = out.node[i].var - law->inputs;
        double v = digits > 0 && !law->param[j].fixed ? rounded(value[j], digits) : value[j];
        out.node[i] = (expr_node){ .op = EXPR_NUMBER, .len = 1, .value = v };
    }
    if (!out.node)
        return out;
    turn_signs(out, law);
    return fold_signs(out, law);
}
