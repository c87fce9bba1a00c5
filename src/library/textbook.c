/* textbook.c - see textbook.h. */
#include "library/textbook.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "library/period.h"
#include "regress/constants.h"
#include "regress/evidence.h"

extern const char data_embedded_laws[];

enum {
    FIELDS = 3,
    POOL = 4,          /* inputs that play roles, of a table with more */
    STARTS = 4,        /* of each fit */
    TRY_ROWS = 50,     /* that choose which input plays which role, and the start, */
    TRY_STEPS = 30,    /* in short descents */
    SCREEN_ROWS = 200, /* that choose the laws worth a fit on all rows */
    SPARE = 60,        /* laws that get one beyond those asked for, */
    SPARE_LARGE = 10,  /* and of large tables, where the screening is sure and the fit is slow */
    WAYS_MAX = 24      /* orders of four roles among four inputs */
};

static const char *const role_names[LIBRARY_ROLES_MAX] = { "x", "y", "z", "w" };

static snip_code read_law(library_textbook_law *law, const char *name, size_t line, char *s,
                          arena *a, snip_status *st)
{
    const expr_names roles = { role_names, LIBRARY_ROLES_MAX };
    char *field[FIELDS];
    for (int k = 0; k < FIELDS; k++) {
        field[k] = s;
        char *tab = s ? strchr(s, '\t') : NULL;
        if (!s || !*s || tab == s || (k < FIELDS - 1) != (tab != NULL))
            return status_fail(st, SNIP_FORMAT, 0, "%s: line %zu is not name, field and formula",
                               name, line);
        if (tab)
            *tab++ = 0;
        s = tab;
    }
    snip_status why;
    *law = (library_textbook_law){ .name = field[0], .field = field[1], .text = field[2] };
    snip_code code = expr_parse(&law->e, law->text, &roles, a, &why);
    if (code != SNIP_OK)
        return status_fail(st, code, 0, "%s: line %zu, byte %zu of the formula: %.120s", name, line,
                           why.pos, why.msg);
    law->roles = expr_inputs(law->e);
    for (size_t i = 0; i < law->e.count; i++)
        law->e.node[i].fixed = law->e.node[i].integer;
    if (law->roles > LIBRARY_ROLES_MAX)
        return status_fail(st, SNIP_FORMAT, 0, "%s: line %zu: more inputs than x, y, z and w", name,
                           line);
    return SNIP_OK;
}

snip_code library_textbook_parse(library_textbook *out, const char *name, const char *text,
                                 arena *a, snip_status *st)
{
    size_t lines = 1, line = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    *out = (library_textbook){ arena_array(a, lines, sizeof *out->law), 0 };
    if (!out->law)
        return status_nomem(st);
    while (*text) {
        size_t length = strcspn(text, "\n");
        line++;
        if (length > 0 && *text != '#') {
            char *copy = arena_text(a, text, length);
            if (!copy)
                return status_nomem(st);
            snip_code code = read_law(&out->law[out->count], name, line, copy, a, st);
            if (code != SNIP_OK)
                return code;
            out->count++;
        }
        text += length + (text[length] == '\n');
    }
    return out->count ? SNIP_OK : status_fail(st, SNIP_FORMAT, 0, "%s: no laws", name);
}

snip_code library_textbook_builtin(library_textbook *out, arena *a, snip_status *st)
{
    return library_textbook_parse(out, "laws.tsv", data_embedded_laws, a, st);
}

/* The value of a part without variables, as exponents are; NaN for any other. */
static double constant_of(expr e, size_t i)
{
    const expr_node *n = &e.node[i];
    double a, b;
    switch (n->op) {
    case EXPR_NUMBER:
        return n->value;
    case EXPR_NEG:
        return -constant_of(e, i + 1);
    case EXPR_INV:
        return 1 / constant_of(e, i + 1);
    case EXPR_DIV:
        a = constant_of(e, i + 1);
        b = constant_of(e, expr_child(e, i, 1));
        return a / b;
    default:
        return NAN;
    }
}

/* Multiplies the part at i by `by` through its free numbers. Returns 0 if they cannot do that; with
 * `dry` nothing is changed. */
static int absorb(expr e, size_t i, double by, int dry)
{
    expr_node *n = &e.node[i];
    size_t second = expr_ops[n->op].arity == 2 ? expr_child(e, i, 1) : 0;
    double power;
    switch (n->op) {
    case EXPR_NUMBER:
        if (n->fixed || !(fabs(n->value * by) <= DBL_MAX) || (n->value != 0 && n->value * by == 0))
            return 0;
        if (!dry)
            n->value *= by;
        return 1;
    case EXPR_NEG:
        return absorb(e, i + 1, by, dry);
    case EXPR_INV:
        return absorb(e, i + 1, 1 / by, dry);
    case EXPR_SQRT:
        return absorb(e, i + 1, by * by, dry);
    case EXPR_POW2:
        return absorb(e, i + 1, sqrt(by), dry);
    case EXPR_POW3:
        return absorb(e, i + 1, cbrt(by), dry);
    case EXPR_POW:
        power = constant_of(e, second);
        return isfinite(power) && power != 0 && absorb(e, i + 1, pow(by, 1 / power), dry);
    case EXPR_MUL:
        return absorb(e, i + 1, by, dry) || absorb(e, second, by, dry);
    case EXPR_DIV:
        return absorb(e, i + 1, by, dry) || absorb(e, second, 1 / by, dry);
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MIN:
    case EXPR_MAX: /* both or none */
        return absorb(e, i + 1, by, 1) && absorb(e, second, by, 1) &&
               (dry || (absorb(e, i + 1, by, 0) && absorb(e, second, by, 0)));
    default:
        return 0;
    }
}

static int near_one(double s)
{
    return fabs(s - 1) < 1e-12;
}

/* 0 has every unit. */
static int is_zero(expr e, size_t i)
{
    return e.node[i].op == EXPR_NUMBER && e.node[i].value == 0;
}

/* Makes the part at i one whose values, times what is returned, are those of the old part at
 * x/unit. NaN if that cannot be: terms must agree, and functions want their argument itself. */
static double carry(expr e, size_t i, const double *unit)
{
    const expr_node *n = &e.node[i];
    int arity = expr_ops[n->op].arity;
    size_t second = arity == 2 ? expr_child(e, i, 1) : 0;
    if (n->op == EXPR_VARIABLE)
        return 1 / unit[n->var];
    if (arity == 0)
        return 1;
    double a = carry(e, i + 1, unit), b = arity == 2 ? carry(e, second, unit) : 1, power;
    if (!(a > 0 && a <= DBL_MAX && b > 0 && b <= DBL_MAX))
        return NAN;
    switch (n->op) {
    case EXPR_NEG:
    case EXPR_ABS:
        return a;
    case EXPR_INV:
        return 1 / a;
    case EXPR_SQRT:
        return sqrt(a);
    case EXPR_CBRT:
        return cbrt(a);
    case EXPR_POW2:
        return a * a;
    case EXPR_POW3:
        return a * a * a;
    case EXPR_MUL:
        return a * b;
    case EXPR_DIV:
        return a / b;
    case EXPR_POW:
        power = constant_of(e, second);
        return isfinite(power) ? pow(a, power) : NAN;
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MIN:
    case EXPR_MAX:
        if (near_one(b / a) || is_zero(e, second) || absorb(e, second, b / a, 0))
            return a;
        return is_zero(e, i + 1) || absorb(e, i + 1, a / b, 0) ? b : NAN;
    default:
        if (arity != 1)
            return NAN;
        return near_one(a) || absorb(e, i + 1, a, 0) ? 1 : NAN;
    }
}

int library_law_carry(expr e, const double *unit, double target)
{
    double s = carry(e, 0, unit) * target;
    return s > 0 && s <= DBL_MAX && (near_one(s) || absorb(e, 0, s, 0));
}

/* The table in units of its own size. */
typedef struct view {
    const regress_problem *p;
    size_t rows; /* of the screening */
    const double **x;
    double *y;
    double *unit, target;
    double *mean, *spread, *range, *peak; /* of the scaled inputs; peak: where y is largest */
    double *halves; /* half periods of y over the range of each input that plays roles */
    size_t input[POOL], inputs; /* that play roles, those that matter first */
} view;

/* The mean size, which no sign cancels. */
static double size_of(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += fabs(v[i]) / (double)n;
    return sum >= DBL_MIN && sum <= DBL_MAX ? sum : 1;
}

static double *divided(const double *v, size_t n, double by, arena *a)
{
    double *out = arena_array(a, n, sizeof *out);
    for (size_t i = 0; i < n && out; i++)
        out[i] = v[i] / by;
    return out;
}

static void choose_inputs(view *v)
{
    const regress_problem *p = v->p;
    regress_inputs matter = p->dim > POOL - 1 ? regress_inputs_that_matter(p) : ~(regress_inputs)0;
    for (int first = 1; first >= 0; first--)
        for (size_t k = 0; k < p->dim && v->inputs < POOL; k++)
            if ((matter >> p->order[k] & 1) == (unsigned)first)
                v->input[v->inputs++] = p->order[k];
}

static int look(view *v, const regress_problem *p, arena *a)
{
    *v = (view){ .p = p, .rows = p->fit < SCREEN_ROWS ? p->fit : SCREEN_ROWS };
    v->x = arena_array(a, p->dim, sizeof *v->x);
    v->unit = arena_array(a, 6 * p->dim, sizeof *v->unit);
    v->target = size_of(p->y, p->train);
    v->y = divided(p->y, v->rows, v->target, a);
    if (!v->x || !v->unit || !v->y)
        return 0;
    v->mean = v->unit + p->dim;
    v->spread = v->mean + p->dim;
    v->range = v->spread + p->dim;
    v->peak = v->range + p->dim;
    v->halves = v->peak + p->dim;
    size_t top = 0;
    for (size_t i = 1; i < v->rows; i++)
        if (v->y[i] > v->y[top])
            top = i;
    for (size_t j = 0; j < p->dim; j++) {
        double u = v->unit[j] = size_of(p->x[j], p->train);
        if (!(v->x[j] = divided(p->x[j], v->rows, u, a)))
            return 0;
        v->mean[j] = p->mean[j] / u;
        v->spread[j] = p->deviation[j] / u;
        v->range[j] = (p->high[j] - p->low[j]) * v->spread[j];
        v->peak[j] = v->x[j][top];
    }
    choose_inputs(v);
    for (size_t k = 0; k < v->inputs; k++)
        v->halves[v->input[k]] = library_half_periods(v->x[v->input[k]], v->y, v->rows);
    return 1;
}

/* Which input plays which role: one of the orders of `roles` of n inputs. Returns how many. */
static size_t list_ways(size_t way[][LIBRARY_ROLES_MAX], size_t roles, const view *v)
{
    size_t count = 0, at[LIBRARY_ROLES_MAX] = { 0 }, total = 1;
    for (size_t k = 0; k < roles; k++)
        total *= v->inputs;
    for (size_t c = 0; c < total; c++) {
        size_t rest = c, seen = 0;
        int twice = 0;
        for (size_t k = 0; k < roles; k++, rest /= v->inputs) {
            at[k] = rest % v->inputs;
            twice |= (int)(seen >> at[k] & 1);
            seen |= (size_t)1 << at[k];
        }
        for (size_t k = 0; k < roles && !twice; k++)
            way[count][k] = v->input[at[k]];
        count += !twice;
    }
    return count;
}

static int is_free(expr e, size_t i)
{
    return e.node[i].op == EXPR_NUMBER && !e.node[i].fixed;
}

static size_t constants_of(expr e)
{
    size_t n = 0;
    for (size_t i = 0; i < e.count; i++)
        n += (size_t)is_free(e, i);
    return n;
}

/* x - c with a free c at node i. */
static int is_place(expr e, size_t i)
{
    return e.node[i].op == EXPR_SUB && e.node[i + 1].op == EXPR_VARIABLE && is_free(e, i + 2);
}

/* Places of peaks and steps are looked for in the table: at y's maximum or in the middle, a part of
 * the inputs' spread wide. Returns whether e has such. */
static int set_places(expr e, const view *v, const size_t *way, int at_peak)
{
    int any = 0;
    for (size_t i = 0; i < e.count; i++) {
        if (expr_ops[e.node[i].op].arity != 2)
            continue;
        size_t second = expr_child(e, i, 1);
        if (is_place(e, i)) {
            size_t j = way[e.node[i + 1].var];
            e.node[i + 2].value = at_peak ? v->peak[j] : v->mean[j];
            any = 1;
        } else if (e.node[i].op == EXPR_DIV && is_free(e, second)) {
            size_t inner = i + 1 + (e.node[i + 1].op == EXPR_NEG);
            if (is_place(e, inner))
                e.node[second].value = 0.5 * v->spread[way[e.node[inner + 1].var]];
        }
    }
    return any;
}

/* Sets what multiplies an input inside of a sine to so many half periods over the table, 0: to as
 * many as y has over that input. Returns whether there is such a number. */
static int set_frequency(expr e, const view *v, const size_t *way, double halves)
{
    int any = 0;
    for (size_t i = 0; i < e.count; i++) {
        if (e.node[i].op != EXPR_SIN && e.node[i].op != EXPR_COS)
            continue;
        for (size_t k = i + 1; k < i + e.node[i].len && !any; k++)
            if (e.node[k].op == EXPR_MUL && is_free(e, k + 1) &&
                e.node[k + 2].op == EXPR_VARIABLE) {
                size_t j = way[e.node[k + 2].var];
                e.node[k + 1].value = M_PI * (halves > 0 ? halves : v->halves[j]) / v->range[j];
                any = 1;
            }
    }
    return any;
}

/* The best fit of a law so far. */
typedef struct best {
    expr e; /* in the scaled inputs */
    size_t way[LIBRARY_ROLES_MAX];
    double loss;
} best;

/* Fits e, a law with starting values, in short, and keeps it if it is better. */
static snip_code attempt(best *b, expr e, const double *const *x, const double *y, const view *v,
                         const size_t *way, arena *keep, snip_status *st)
{
    arena_pos mark = arena_mark(keep);
    regress_fit fit;
    expr fitted;
    size_t *node = arena_array(keep, e.count, sizeof *node);
    size_t *first = arena_array(keep, e.count + 1, sizeof *first);
    if (!node || !first)
        return status_nomem(st);
    const regress_fit_free all = {
        .node = node, .first = first, .count = expr_constants(e, node), .evaluations = TRY_STEPS
    };
    for (size_t j = 0; j <= all.count; j++)
        first[j] = j;
    snip_code code =
        regress_fit_values(&fitted, &fit, e, &all, NULL, x, y,
                           v->rows < TRY_ROWS ? v->rows : TRY_ROWS, 2, v->p->seed, keep, st);
    /* A way must be better by more than rounding: the first one of equal ones stays. */
    if (code == SNIP_OK && fit.loss < b->loss * (1 - 1e-9)) {
        b->loss = fit.loss;
        memcpy(b->e.node, fitted.node, e.count * sizeof *e.node);
        memcpy(b->way, way, sizeof b->way);
    }
    arena_reset(keep, mark);
    return code;
}

/* The columns of a law's roles. */
static void cast(const double **x, const double **y, size_t roles, const view *v, const size_t *way,
                 int scaled)
{
    for (size_t k = 0; k < roles; k++)
        x[k] = scaled ? v->x[way[k]] : v->p->x[way[k]];
    *y = scaled ? v->y : v->p->y;
}

/* Fits a law with its roles played in one way, from its own starting values and from some that the
 * table suggests. */
static snip_code try_way(best *b, const library_textbook_law *law, const view *v, const size_t *way,
                         int scaled, arena *keep, snip_status *st)
{
    static const double halves[] = { 0, 1, 2, 3, 4, 6, 8, 11, 15 };
    const double *x[LIBRARY_ROLES_MAX] = { 0 }, *y;
    arena_pos mark = arena_mark(keep);
    expr e = { arena_copy(keep, law->e.node, law->e.count * sizeof *law->e.node), law->e.count };
    if (!e.node)
        return status_nomem(st);
    cast(x, &y, law->roles, v, way, scaled);
    snip_code code = attempt(b, e, x, y, v, way, keep, st);
    for (int peak = 0; peak < 2 && scaled && code == SNIP_OK; peak++)
        if (set_places(e, v, way, peak))
            code = attempt(b, e, x, y, v, way, keep, st);
    for (size_t k = 0; k < sizeof halves / sizeof *halves && scaled && code == SNIP_OK; k++)
        if (set_frequency(e, v, way, halves[k]))
            code = attempt(b, e, x, y, v, way, keep, st);
    arena_reset(keep, mark);
    return code;
}

/* a + -2*b is a - 2*b. The short descents leave such signs, and where the long one changes nothing,
 * so does it. */
static void join_signs(expr e)
{
    for (size_t i = 0; i < e.count; i++) {
        if (e.node[i].op != EXPR_ADD && e.node[i].op != EXPR_SUB)
            continue;
        size_t lead = expr_child(e, i, 1);
        while (e.node[lead].op == EXPR_MUL || e.node[lead].op == EXPR_DIV)
            lead++;
        if (is_free(e, lead) && e.node[lead].value < 0) {
            e.node[lead].value = -e.node[lead].value;
            e.node[i].op = e.node[i].op == EXPR_ADD ? EXPR_SUB : EXPR_ADD;
        }
    }
}

/* A law that was fitted, in the user's inputs and units. */
static snip_code settle(regress_candidate *c, const library_textbook_law *law, const best *b,
                        const view *v, int scaled, arena *keep, snip_status *st)
{
    double unit[LIBRARY_ROLES_MAX];
    expr e = { arena_copy(keep, b->e.node, b->e.count * sizeof *b->e.node), b->e.count };
    if (!e.node)
        return status_nomem(st);
    for (size_t k = 0; k < law->roles; k++)
        unit[k] = v->unit[b->way[k]];
    if (scaled && !library_law_carry(e, unit, v->target))
        return SNIP_OK; /* its numbers would leave the range of doubles */
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_VARIABLE)
            e.node[i].var = (uint16_t)b->way[e.node[i].var];
    join_signs(e);
    c->e = e;
    c->text = law->text;
    c->name = law->name;
    c->field = law->field;
    return SNIP_OK;
}

/* Whether other units only change the law's numbers. If not, the user's own are taken. */
static int has_units(const library_textbook_law *law, arena *tmp)
{
    static const double some[LIBRARY_ROLES_MAX] = { 1.3, 0.8, 1.7, 0.6 };
    arena_pos mark = arena_mark(tmp);
    expr e = { arena_copy(tmp, law->e.node, law->e.count * sizeof *law->e.node), law->e.count };
    int has = e.node && library_law_carry(e, some, 1.9);
    arena_reset(tmp, mark);
    return has;
}

/* One law, fitted in its best way; c->name stays NULL where it has no finite values. *loss is that
 * of the screening, in units of y's variance. */
static snip_code fit_law(regress_candidate *c, double *loss, const library_textbook_law *law,
                         const view *v, int starts, arena *keep, snip_status *st)
{
    size_t way[WAYS_MAX][LIBRARY_ROLES_MAX] = { 0 };
    size_t ways = list_ways(way, law->roles, v);
    int scaled = has_units(law, keep);
    size_t size = law->e.count * sizeof *law->e.node;
    best b = { .e = { arena_copy(keep, law->e.node, size), law->e.count }, .loss = INFINITY };
    snip_code code = b.e.node ? SNIP_OK : status_nomem(st);
    for (size_t k = 0; k < ways && code == SNIP_OK; k++)
        code = try_way(&b, law, v, way[k], scaled, keep, st);
    if (code != SNIP_OK || !isfinite(b.loss))
        return code;
    const double *x[LIBRARY_ROLES_MAX] = { 0 }, *y;
    regress_fit fit;
    cast(x, &y, law->roles, v, b.way, scaled);
    code = regress_fit_constants(&b.e, &fit, b.e, x, y, v->rows, starts, v->p->seed, keep, st);
    if (code != SNIP_OK || !isfinite(fit.loss))
        return code;
    *loss = fit.loss * (scaled ? v->target * v->target : 1) / v->p->variance[0];
    return settle(c, law, &b, v, scaled, keep, st);
}

/* All laws that the table has inputs for, in parallel, each by one thread. Trees are copied into
 * `a`. */
static snip_code fit_all(regress_candidate *c, double *loss, const library_textbook *book,
                         const view *v, const library_textbook_how *how, arena *a, snip_status *st)
{
    size_t done = 0;
    snip_status failed = { 0 };
#pragma omp parallel for schedule(dynamic, 1) num_threads(how->threads > 0 ? how->threads : 1)
    for (size_t i = 0; i < book->count; i++) {
        const library_textbook_law *law = &book->law[i];
        snip_status own = { 0 };
        arena *keep = arena_new(0);
        snip_code code = keep ? SNIP_OK : status_nomem(&own);
        loss[i] = INFINITY;
        c[i].place = i + 1;
        if (code == SNIP_OK && law->roles <= v->p->dim)
            code = fit_law(&c[i], &loss[i], law, v, how->starts ? how->starts : STARTS, keep, &own);
#pragma omp critical(library_textbook_done)
        {
            if (code == SNIP_OK && c[i].name &&
                !(c[i].e.node = arena_copy(a, c[i].e.node, c[i].e.count * sizeof(expr_node))))
                code = status_nomem(&own);
            if (code != SNIP_OK)
                failed = own;
            done++;
            if (how->step)
                how->step(how->context, done, book->count);
        }
        arena_free(keep);
    }
    if (failed.code != SNIP_OK && st)
        *st = failed;
    return failed.code;
}

typedef struct screened {
    double key;
    regress_candidate c;
} screened;

/* Whether node i is a fraction of the law, like 3/2. */
static int is_fraction(expr e, size_t i)
{
    return e.node[i].op == EXPR_DIV && e.node[i].len == 3 && e.node[i + 1].op == EXPR_NUMBER &&
           e.node[i + 2].op == EXPR_NUMBER;
}

/* Nodes, where every operator but +, - and * counts twice: over a narrow range 1/x, sqrt(x) and
 * exp(x) are lines, and then a line is what they are called. A fraction is one number. */
static size_t size_of_law(expr e)
{
    size_t n = 0;
    for (size_t i = 0; i < e.count; i++) {
        n += 1 + (expr_ops[e.node[i].op].arity > 0 && e.node[i].op != EXPR_ADD &&
                  e.node[i].op != EXPR_SUB && e.node[i].op != EXPR_MUL);
        if (is_fraction(e, i))
            n--, i += 2;
    }
    return n;
}

/* Error and size together: the logarithm of the error, times the rows that it weighs, with every
 * node charged half of what BIC charges a parameter, and every constant once more. Nodes alone
 * would judge the spelling: x/c is as many as c*x, but 1/(1 + x/c) more than c/(c + x). */
static double balance(double loss, double least, double weight, size_t rows, expr e)
{
    return weight * log(fmax(loss, fmax(least, 1e-30))) +
           (0.5 * (double)size_of_law(e) + (double)constants_of(e)) * log((double)rows);
}

/* The error of a judged law over all rows, in units of y's variance: cross-validated where that is
 * known, else fitted rows count per degree of freedom. A quarter of a small table says too little
 * by itself to tell similar laws apart. */
static double pooled(const regress_candidate *c, const regress_problem *p)
{
    double n = (double)p->train, held = (double)(p->rows - p->train), k = (double)c->constants;
    if (regress_saturated(c) || n <= k || !isfinite(regress_judged(&c->errors, p)))
        return INFINITY;
    if (!isnan(c->errors.cross))
        return c->errors.cross / p->variance[0];
    double sum = c->errors.loss[0] * n * (n / (n - k));
    if (held > 0)
        sum += c->errors.loss[1] * held;
    return sum / (n + held) / p->variance[0];
}

static int by_key(const void *left, const void *right)
{
    const screened *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->c.place < b->c.place ? -1 : a->c.place > b->c.place;
}

static int by_constants(const void *left, const void *right)
{
    const screened *a = left, *b = right;
    if (a->c.constants != b->c.constants)
        return a->c.constants < b->c.constants ? -1 : 1;
    return a->c.place < b->c.place ? -1 : a->c.place > b->c.place;
}

/* A balance that differs by less than 2 is no evidence (as BIC is usually read). Of the laws that
 * are as good as the first, those with fewer constants come first, then those listed first: the
 * list goes from the usual to the rare. */
static void settle_ties(screened *s, size_t n)
{
    const double no_evidence = 2;
    size_t tied = 0;
    while (tied < n && s[tied].key - s[0].key < no_evidence)
        tied++;
    qsort(s, tied, sizeof *s, by_constants);
}

snip_code library_textbook_find(regress_candidate **out, size_t *found, const regress_problem *p,
                                const library_textbook *book, const model_opened *t,
                                const library_textbook_how *how, arena *a, snip_status *st)
{
    view v;
    *found = 0;
    if (p->dim > LIBRARY_LAW_INPUTS)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "the table has %zu inputs, laws are tried with up to %d; choose among "
                           "them",
                           p->dim, LIBRARY_LAW_INPUTS);
    regress_candidate *c = *out = arena_zero(a, book->count * sizeof *c);
    double *loss = arena_array(a, book->count, sizeof *loss);
    screened *s = arena_array(a, book->count, sizeof *s);
    if (!c || !loss || !s || !look(&v, p, a))
        return status_nomem(st);
    snip_code code = fit_all(c, loss, book, &v, how, a, st);
    if (code != SNIP_OK)
        return code;
    size_t n = 0, most = how->k + (p->fit > SCREEN_ROWS ? SPARE_LARGE : SPARE);
    const double least = numbers_rounding(p->y, p->weight, p->rows) / p->variance[0];
    for (size_t i = 0; i < book->count; i++)
        if (c[i].name)
            s[n++] = (screened){ balance(loss[i], least, (double)v.rows, v.rows, c[i].e), c[i] };
    qsort(s, n, sizeof *s, by_key);
    n = n < most ? n : most;
    for (size_t i = 0; i < n; i++)
        c[i] = s[i].c;
    if (t && (!t->m->config.forms || p->dim > (size_t)t->m->config.dims))
        t = NULL;
    const regress_rank_how rank = {
        .refit = 1, .starts = 1, .order = REGRESS_BY_BALANCE, .threads = how->threads
    };
    code = regress_rank(c, n, p, t, &rank, a, st);
    if (code != SNIP_OK)
        return code;
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (pooled(&c[i], p) < pooled(&c[best], p))
            best = i;
    /* Errors as small as rounding come from all rows alike. */
    double weight = n && pooled(&c[best], p) > least ? regress_rows_behind(c[best].trained, p, a)
                                                     : (double)p->rows;
    for (size_t i = 0; i < n; i++)
        s[i] = (screened){ balance(pooled(&c[i], p), least, weight, p->rows, c[i].fitted), c[i] };
    qsort(s, n, sizeof *s, by_key);
    settle_ties(s, n);
    for (size_t i = 0; i < n; i++) {
        c[i] = s[i].c;
        if (!(c[i].fitted = expr_spell(c[i].fitted, a)).node)
            return status_nomem(st);
    }
    *found = n < how->k ? n : how->k;
    return SNIP_OK;
}
