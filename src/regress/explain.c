/* explain.c - see explain.h. */
#include "regress/explain.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "regress/pairs.h"

/* What a node may become: the model's own operators. */
static const uint8_t unary[] = { EXPR_ABS,    EXPR_INV,  EXPR_SQRT, EXPR_LOG,    EXPR_EXP,
                                 EXPR_SIN,    EXPR_COS,  EXPR_TAN,  EXPR_ARCSIN, EXPR_ARCCOS,
                                 EXPR_ARCTAN, EXPR_POW2, EXPR_POW3 };
static const uint8_t binary[] = { EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV };
enum { UNARY = sizeof unary, BINARY = sizeof binary };
_Static_assert(sizeof unary == EXPR_UNARY_WORDS,
               "a node may become any of the model's unary operators");

/* Edits of one node at most, besides variables: exchanges, a swap, two drops, wraps, an exponent.
 */
enum { EACH = UNARY + BINARY + 1 + 2 + UNARY + 1 };

/* Node visits, edits times rows times nodes, that refits of all edits are made for. */
static const double WORK_MAX = 3e7;

typedef struct list {
    regress_edit *edit;
    size_t count;
    expr e;
    arena *a;
    int failed;
} list;

static void add(list *l, size_t node, regress_edit_kind kind, int to, expr e)
{
    if (!e.node)
        l->failed = 1;
    else
        l->edit[l->count++] = (regress_edit){ .node = node, .kind = kind, .to = to, .e = e };
}

/* A copy of the whole formula, to change a node of. */
static expr copy(list *l)
{
    return (expr){ arena_copy(l->a, l->e.node, l->e.count * sizeof *l->e.node), l->e.count };
}

static void exchange_operator(list *l, size_t i, const uint8_t *ops, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        expr e;
        if (ops[k] == l->e.node[i].op)
            continue;
        e = copy(l);
        if (e.node)
            e.node[i].op = ops[k];
        add(l, i, REGRESS_EXCHANGE, ops[k], e);
    }
}

static void exchange_variable(list *l, size_t i, size_t inputs)
{
    for (size_t v = 0; v < inputs; v++) {
        expr e;
        if (v == l->e.node[i].var)
            continue;
        e = copy(l);
        if (e.node)
            e.node[i].var = (uint16_t)v;
        add(l, i, REGRESS_EXCHANGE, (int)v, e);
    }
}

static void swap(list *l, size_t i)
{
    expr left = expr_subtree(l->e, expr_child(l->e, i, 0));
    expr right = expr_subtree(l->e, expr_child(l->e, i, 1));
    if (expr_same(left, right))
        return;
    expr e = copy(l);
    if (e.node) {
        memcpy(e.node + i + 1, right.node, right.count * sizeof *e.node);
        memcpy(e.node + i + 1 + right.count, left.node, left.count * sizeof *e.node);
    }
    add(l, i, REGRESS_SWAP, 0, e);
}

static void wrap(list *l, size_t i)
{
    expr inside = expr_subtree(l->e, i), outside = { NULL, inside.count + 1 };
    for (int k = 0; k < UNARY; k++) {
        outside.node = arena_zero(l->a, outside.count * sizeof *outside.node);
        if (outside.node) {
            outside.node[0].op = unary[k];
            memcpy(outside.node + 1, inside.node, inside.count * sizeof *inside.node);
            expr_measure(outside);
        }
        add(l, i, REGRESS_WRAP, unary[k],
            outside.node ? expr_splice(l->e, i, outside, l->a) : (expr){ 0 });
    }
}

/* What an exponent is if it is part of the form (expr_constants): a whole number, or a quotient of
 * such; else NaN. */
static double form_exponent(expr power, arena *tmp)
{
    double v;
    for (size_t k = 0; k < power.count; k++) {
        const expr_node *n = &power.node[k];
        int whole = power.count == 1 && n->value == floor(n->value);
        if (n->op == EXPR_VARIABLE || (n->op == EXPR_NUMBER && !n->fixed && !whole))
            return NAN;
    }
    return expr_eval(power, NULL, 1, &v, tmp) == 1 ? v : NAN;
}

/* The power that a node raises its first operand to; NaN if it raises none. */
static double power_of(expr e, size_t i, arena *tmp)
{
    switch (e.node[i].op) {
    case EXPR_VARIABLE:
        return 1;
    case EXPR_INV:
        return -1;
    case EXPR_SQRT:
        return .5;
    case EXPR_POW2:
        return 2;
    case EXPR_POW3:
        return 3;
    case EXPR_POW:
        return form_exponent(expr_subtree(e, expr_child(e, i, 1)), tmp);
    default:
        return NAN;
    }
}

/* u^2 becomes u^c, with c to be fitted. A whole c would be taken for a shape (expr_constants), so
 * it starts a little beside. */
static void free_exponent(list *l, size_t i)
{
    const double beside = 1e-6;
    double power = power_of(l->e, i, l->a);
    if (isnan(power))
        return;
    expr base = expr_subtree(l->e, l->e.node[i].op == EXPR_VARIABLE ? i : i + 1);
    expr e = { arena_zero(l->a, (base.count + 2) * sizeof *e.node), base.count + 2 };
    if (e.node) {
        e.node[0].op = EXPR_POW;
        memcpy(e.node + 1, base.node, base.count * sizeof *e.node);
        e.node[base.count + 1] =
            (expr_node){ .op = EXPR_NUMBER, .value = power * (1 + beside), .len = 1 };
        expr_measure(e);
    }
    add(l, i, REGRESS_FREE, 0, e.node ? expr_splice(l->e, i, e, l->a) : (expr){ 0 });
}

static void edit_node(list *l, size_t i, size_t inputs)
{
    const expr_node *n = &l->e.node[i];
    int arity = expr_ops[n->op].arity;
    if (n->op == EXPR_VARIABLE)
        exchange_variable(l, i, inputs);
    if (arity == 0 && n->op != EXPR_VARIABLE)
        return; /* constants are for the fit */
    if (arity == 1)
        exchange_operator(l, i, unary, UNARY);
    if (arity == 2) {
        exchange_operator(l, i, binary, BINARY);
        if (n->op == EXPR_SUB || n->op == EXPR_DIV || n->op == EXPR_POW)
            swap(l, i);
    }
    for (int k = 0; k < arity; k++) {
        expr kept = expr_subtree(l->e, expr_child(l->e, i, k));
        if (k == 0 || !expr_same(kept, expr_subtree(l->e, expr_child(l->e, i, 0))))
            add(l, i, REGRESS_DROP, k, expr_splice(l->e, i, kept, l->a));
    }
    wrap(l, i);
    free_exponent(l, i);
}

size_t regress_edits_list(regress_edit **out, expr e, size_t inputs, arena *a)
{
    list l = { .e = e, .a = a };
    l.edit = *out = arena_array(a, e.count * (EACH + inputs), sizeof *l.edit);
    for (size_t i = 0; i < e.count && l.edit && !l.failed; i++)
        edit_node(&l, i, inputs);
    return l.edit && !l.failed ? l.count : (size_t)-1;
}

static char *shortened(expr e, const expr_names *names, arena *a)
{
    enum { MOST = 40 };
    char *s = expr_print(e, SNIP_INFIX, names, 4, a);
    if (s && strlen(s) > MOST) {
        size_t end = MOST - 3;
        while (end && ((unsigned char)s[end] & 0xC0) == 0x80) /* not inside a letter of UTF-8 */
            end--;
        memcpy(s + end, "...", 4);
    }
    return s;
}

static const char *single_text(const regress_edit *edit, expr e, const expr_names *names, arena *a)
{
    const expr_node *n = &e.node[edit->node];
    text t = { .a = a };
    const char *here = shortened(expr_subtree(e, edit->node), names, a);
    expr_node leaf = { .op = EXPR_VARIABLE, .var = (uint16_t)edit->to, .len = 1 };
    const char *leaf_text;
    if (!here)
        return NULL;
    switch (edit->kind) {
    case REGRESS_EXCHANGE:
        if (n->op == EXPR_VARIABLE) {
            leaf_text = expr_print((expr){ &leaf, 1 }, SNIP_INFIX, names, 0, a);
            text_add(&t, "%s -> %s", here, leaf_text ? leaf_text : "");
        } else {
            text_add(&t, "%s -> %s at %s", expr_ops[n->op].name, expr_ops[edit->to].name, here);
        }
        break;
    case REGRESS_SWAP:
        text_add(&t, "operands swapped at %s", here);
        break;
    case REGRESS_DROP: {
        const char *kept =
            shortened(expr_subtree(e, expr_child(e, edit->node, edit->to)), names, a);
        text_add(&t, "%s -> %s", here, kept ? kept : "");
        break;
    }
    case REGRESS_WRAP:
        text_add(&t, "%s -> %s(%s)", here, expr_ops[edit->to].name, here);
        break;
    case REGRESS_FREE:
        text_add(&t, "exponent fitted at %s", here);
        break;
    case REGRESS_ADD:
        text_add(&t, "constant added to %s", here);
        break;
    }
    return text_end(&t);
}

const char *regress_edit_text(const regress_edit *edit, expr e, const expr_names *names, arena *a)
{
    e = edit->base.count ? edit->base : e;
    const char *first = single_text(edit, e, names, a);
    if (!edit->two || !first)
        return first;
    const regress_edit second = { .node = edit->second_node,
                                  .kind = edit->second_kind,
                                  .to = edit->second_to };
    text t = { .a = a };
    const char *other = single_text(&second, e, names, a);
    text_add(&t, "%s; %s", first, other ? other : "");
    return other ? text_end(&t) : NULL;
}

/* Whether the edit only lets something vary: its values are those of the formula until it is
 * fitted, and the cosine tells nothing about it. */
static int is_open(const regress_edit *edit)
{
    return edit->kind == REGRESS_FREE || edit->kind == REGRESS_ADD;
}

/* Whether values differ by more than rounding. */
static int differ(const double *a, const double *b, size_t n)
{
    double size = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        size = fmax(size, fabs(a[i]));
        most = fmax(most, fabs(a[i] - b[i]));
    }
    return most > 1e-12 * size;
}

/* Keeps the edits that have finite values in all rows of the fit, and others than e has. Returns 0
 * when memory is out. */
static int keep_real(regress_edit *edit, size_t *count, expr e, const regress_problem *p, arena *a)
{
    size_t kept = 0;
    arena_pos mark = arena_mark(a);
    const double *const *x = (const double *const *)p->x;
    double *y = arena_array(a, p->fit, sizeof *y), *before = arena_array(a, p->fit, sizeof *y);
    if (!y || !before || expr_eval(e, x, p->fit, before, a) == (size_t)-1)
        y = NULL;
    for (size_t i = 0; i < *count && y; i++) {
        size_t finite = expr_eval(edit[i].e, x, p->fit, y, a);
        if (finite == (size_t)-1)
            y = NULL;
        else if (finite == p->fit && (is_open(&edit[i]) || differ(y, before, p->fit)))
            edit[kept++] = edit[i];
    }
    arena_reset(a, mark);
    *count = kept;
    return y != NULL;
}

/* What an edit is sorted by: its gain. Those that have none come after all others but NaN. */
static double gain_key(const regress_edit *e)
{
    return isnan(e->gain) ? -INFINITY : is_open(e) ? -DBL_MAX : e->gain;
}

/* Best first. Where gains are equal the order of the list decides. */
static int by_gain(const void *left, const void *right)
{
    const regress_edit *a = left, *b = right;
    double x = gain_key(a), y = gain_key(b);
    if (x != y)
        return x > y ? -1 : 1;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return a->kind != b->kind ? (int)a->kind - (int)b->kind : a->to - b->to;
}

/* Cosines: of forms, or with the constants as given, where these are part of the question. */
static snip_code look(regress_nearness *out, const expr *e, size_t n, const regress_problem *p,
                      const model_opened *t, const regress_explain_how *how, arena *a,
                      snip_status *st)
{
    return how->refit ? regress_similarities(out, e, n, p, t, how->threads, a, st)
                      : regress_similarities_given(out, e, n, p, t, how->threads, a, st);
}

/* The formula's own cosine, before there are edits. */
static snip_code measure_whole(regress_explanation *x, const regress_problem *p,
                               const model_opened *t, const regress_explain_how *how, arena *a,
                               snip_status *st)
{
    regress_nearness near = { .similarity = NAN };
    snip_code code = look(&near, &x->e, 1, p, t, how, a, st);
    x->similarity = near.similarity;
    if (code != SNIP_OK || !isnan(x->similarity))
        return code;
    return status_fail(st, SNIP_UNSUPPORTED, 0, "the model cannot express the formula%s%s",
                       near.why ? ": " : "", near.why ? near.why : "");
}

/* Cosines of all edits; those without words are dropped. */
static snip_code measure(regress_explanation *x, const regress_problem *p, const model_opened *t,
                         const regress_explain_how *how, arena *a, snip_status *st)
{
    size_t n = x->edits;
    expr *e = arena_array(a, n, sizeof *e);
    regress_nearness *near = arena_array(a, n, sizeof *near);
    if (!e || !near)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++)
        e[i] = x->edit[i].e;
    snip_code code = look(near, e, n, p, t, how, a, st);
    if (code != SNIP_OK)
        return code;
    for (size_t i = 0; i < n; i++) {
        double similarity = near[i].similarity;
        if (is_open(&x->edit[i]) && !isnan(similarity))
            similarity = x->similarity; /* another spelling of the same values */
        x->edit[i].similarity = similarity;
        x->edit[i].gain = similarity - x->similarity;
    }
    qsort(x->edit, x->edits, sizeof *x->edit, by_gain);
    while (x->edits && isnan(x->edit[x->edits - 1].gain))
        x->edits--;
    return SNIP_OK;
}

/* The least error first; where errors are equal the larger gain. Edits of the same form tie in
 * both, but for the rounding of cosines of floats: then the one that changes the smaller part comes
 * first, 0.5*v^2 before (0.7*v)^2. A part stands behind the whole that it belongs to. */
static int by_judged(const void *left, const void *right)
{
    const regress_edit *a = left, *b = right;
    double x = rint(gain_key(a) * 1e5), y = rint(gain_key(b) * 1e5);
    if (a->judged != b->judged)
        return a->judged < b->judged ? -1 : 1;
    if (x != y)
        return x > y ? -1 : 1;
    if (a->node != b->node)
        return a->node > b->node ? -1 : 1;
    return by_gain(a, b);
}

static int by_error(const void *left, const void *right)
{
    return by_judged(*(const regress_edit *const *)left, *(const regress_edit *const *)right);
}

/* Sorts the edits refitted. Returns 0 when memory is out. */
static int sort_listed(regress_explanation *x, arena *a)
{
    arena_pos mark = arena_mark(a);
    const regress_edit **at = arena_array(a, x->listed + 1, sizeof *at);
    regress_edit *sorted = arena_array(a, x->listed + 1, sizeof *sorted);
    int good = at && sorted;
    for (size_t i = 0; i < x->listed && good; i++)
        at[i] = &x->edit[i];
    if (good)
        qsort(at, x->listed, sizeof *at, by_error);
    for (size_t i = 0; i < x->listed && good; i++)
        sorted[i] = *at[i];
    if (good && x->listed)
        memcpy(x->edit, sorted, x->listed * sizeof *sorted);
    arena_reset(a, mark);
    return good;
}

/* How many edits to refit. */
static size_t to_refit(const regress_explanation *x, const regress_problem *p,
                       const regress_explain_how *how)
{
    double visits = (double)x->edits * (double)p->fit * (double)x->e.count;
    if (how->list > 0 && how->all && visits <= WORK_MAX)
        return x->edits;
    return x->edits < how->list ? x->edits : how->list;
}

/* Takes over what a fit of an edit came to. That from the constants given comes second and has to
 * be better: fitted rows choose, those held out judge. */
static void take_fit(regress_edit *edit, const regress_candidate *c, int second,
                     const regress_problem *p)
{
    const double same = 1e-9;
    if (!second)
        edit->errors = c->given;
    else if (!(c->errors.loss[0] < edit->refitted.loss[0] * (1 - same)) &&
             !(isnan(edit->refitted.loss[0]) && !isnan(c->errors.loss[0])))
        return;
    edit->fitted = c->fitted;
    edit->trained = c->trained;
    edit->refitted = c->errors;
    edit->judged = regress_judged(&edit->refitted, p);
}

/* A fit begins at the constants of the unedited formula and, in a second candidate, at those given:
 * the data may have drawn the former far away from what the edit needs. */
snip_code regress_explain_refit(regress_explanation *x, const size_t *which, size_t count,
                                const regress_problem *p, const regress_explain_how *what, arena *a,
                                snip_status *st)
{
    regress_candidate *c = arena_zero(a, (2 * count + 1) * sizeof *c);
    size_t n = 0;
    if (!c)
        return status_nomem(st);
    for (size_t k = 0; k < count; k++) {
        const regress_edit *edit = &x->edit[which[k]];
        if (edit->tried)
            continue;
        c[n++] = (regress_candidate){ .e = edit->e, .place = 2 * which[k] };
        if (edit->given.count)
            c[n++] = (regress_candidate){ .e = edit->given, .place = 2 * which[k] + 1 };
    }
    const regress_rank_how how = { .refit = 1,
                                   .order = REGRESS_BY_LOSS,
                                   .starts = what->starts,
                                   .parts = 1, /* they are many, and the constants nearly right */
                                   .pace = REGRESS_FIT_QUICK,
                                   .threads = what->threads };
    snip_code code = regress_rank(c, n, p, NULL, &how, a, st);
    for (size_t second = 0; second < 2 && code == SNIP_OK; second++)
        for (size_t i = 0; i < n; i++)
            if (c[i].place % 2 == second) {
                take_fit(&x->edit[c[i].place / 2], &c[i], (int)second, p);
                x->edit[c[i].place / 2].tried = 1;
            }
    return code;
}

/* Whether formulas differ in their numbers only. */
static int same_structure(expr a, expr b)
{
    if (a.count != b.count)
        return 0;
    for (size_t i = 0; i < a.count; i++)
        if (a.node[i].op != b.node[i].op ||
            (a.node[i].op == EXPR_VARIABLE && a.node[i].var != b.node[i].var))
            return 0;
    return 1;
}

/* e with a constant added at node i: so small that the values are the same until it is fitted. */
static expr with_constant(expr e, size_t i, const regress_problem *p, arena *a)
{
    const double small = 1e-6;
    const expr_node *n = &e.node[i];
    double size = n->op == EXPR_VARIABLE ? p->deviation[n->var] : sqrt(p->variance[0]);
    expr part = expr_subtree(e, i), sum = { NULL, part.count + 2 };
    if (!(sum.node = arena_zero(a, sum.count * sizeof *sum.node)))
        return (expr){ 0 };
    sum.node[0].op = EXPR_ADD;
    memcpy(sum.node + 1, part.node, part.count * sizeof *part.node);
    sum.node[part.count + 1] = (expr_node){ .op = EXPR_NUMBER, .value = small * size, .len = 1 };
    expr_measure(sum);
    return expr_splice(e, i, sum, a);
}

/* Adds the edits of kind REGRESS_ADD to *edit, at the whole and at each input, where they add a
 * constant to the function, which a + b*x gives no room for, and are not the same there. A missing
 * zero point is the commonest fault of all in a laboratory. Returns 0 when memory is out. */
static int list_added(regress_edit **edit, size_t *count, expr e, expr given,
                      const regress_problem *p, arena *a)
{
    regress_edit *more = arena_array(a, *count + e.count, sizeof *more);
    expr *added = arena_array(a, e.count, sizeof *added), reduced;
    size_t before, after, n = 0;
    if (!more || !added || regress_canonical(&reduced, &before, e, a, NULL) != SNIP_OK)
        return 0;
    memcpy(more, *edit, *count * sizeof *more);
    *edit = more;
    for (size_t i = 0; i < e.count; i++) {
        if (i > 0 && e.node[i].op != EXPR_VARIABLE)
            continue;
        expr sum = with_constant(e, i, p, a);
        if (!sum.node || regress_canonical(&reduced, &after, sum, a, NULL) != SNIP_OK)
            return 0;
        int other = after > before;
        for (size_t k = 0; k < n; k++)
            other &= !same_structure(added[k], reduced);
        if (!other)
            continue;
        added[n++] = reduced;
        regress_edit *to = &more[(*count)++];
        *to = (regress_edit){ .node = i, .kind = REGRESS_ADD, .e = sum };
        if (given.count && !(to->given = with_constant(given, i, p, a)).node)
            return 0;
    }
    return 1;
}

/* Drops the freed exponents of what is raised to a power already: (x^c)^2 is x^c. */
static void drop_repeated(regress_edit *edit, size_t *count, expr e, arena *tmp)
{
    size_t kept = 0;
    for (size_t k = 0; k < *count; k++) {
        size_t i = edit[k].node; /* a first operand stands right behind its operator */
        if (edit[k].kind != REGRESS_FREE || i == 0 || e.node[i].op != EXPR_VARIABLE ||
            expr_ops[e.node[i - 1].op].arity == 0 || isnan(power_of(e, i - 1, tmp)))
            edit[kept++] = edit[k];
    }
    *count = kept;
}

/* All edits of x->e, and beside them those of the formula as given, if that is another. */
static int list_edits(regress_explanation *x, expr given, const regress_problem *p, arena *a)
{
    regress_edit *other;
    int another = same_structure(x->e, given) && !expr_same(x->e, given);
    x->edits = regress_edits_list(&x->edit, x->e, p->dim, a);
    if (x->edits == (size_t)-1)
        return 0;
    size_t n = another ? regress_edits_list(&other, given, p->dim, a) : 0;
    for (size_t i = 0; another && i < x->edits && n == x->edits; i++)
        if (same_structure(x->edit[i].e, other[i].e))
            x->edit[i].given = other[i].e;
    drop_repeated(x->edit, &x->edits, x->e, a);
    return n != (size_t)-1 &&
           list_added(&x->edit, &x->edits, x->e, another ? given : (expr){ 0 }, p, a);
}

/* Weighs the refitted edits against the formula, whose constants are fitted for that. */
static snip_code weigh(regress_explanation *x, const regress_candidate *fitted,
                       const regress_problem *p, const regress_explain_how *how, arena *a,
                       snip_status *st)
{
    enum { STARTS = 16 };
    regress_tried *tried = arena_array(a, x->listed + 1, sizeof *tried);
    if (x->listed == 0)
        return SNIP_OK;
    if (!tried)
        return status_nomem(st);
    for (size_t i = 0; i < x->listed; i++)
        tried[i] = (regress_tried){ .e = x->edit[i].fitted, .nested = is_open(&x->edit[i]) };
    snip_code code =
        regress_evidence_weigh(&x->evidence, fitted->fitted, tried, x->listed, 0, p,
                               how->starts > STARTS ? how->starts : STARTS, how->threads, a, st);
    if (code == SNIP_OK && x->evidence.best != (size_t)-1)
        x->verdict = &x->edit[x->evidence.best];
    return code;
}

/* Errors and cosines of the pairs, as single edits have them. */
static snip_code measure_pairs(regress_explanation *x, const regress_problem *p,
                               const model_opened *t, const regress_explain_how *what, arena *a,
                               snip_status *st)
{
    size_t n = x->pairs;
    regress_candidate *c = arena_zero(a, (n + 1) * sizeof *c);
    expr *e = arena_array(a, n + 1, sizeof *e);
    regress_nearness *near = arena_array(a, n + 1, sizeof *near);
    if (!c || !e || !near)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++) {
        c[i] = (regress_candidate){ .e = x->pair[i].e, .place = i };
        e[i] = x->pair[i].e;
    }
    const regress_rank_how how = { .refit = 1,
                                   .order = REGRESS_BY_LOSS,
                                   .starts = what->starts,
                                   .parts = 1,
                                   .threads = what->threads };
    snip_code code = regress_rank(c, n, p, NULL, &how, a, st);
    if (code == SNIP_OK)
        code = look(near, e, n, p, t, what, a, st);
    for (size_t i = 0; i < n && code == SNIP_OK; i++) {
        regress_edit *edit = &x->pair[c[i].place];
        edit->errors = c[i].given;
        edit->refitted = c[i].errors;
        edit->fitted = c[i].fitted;
        edit->trained = c[i].trained;
        edit->judged = regress_judged(&c[i].errors, p);
        edit->similarity = near[c[i].place].similarity;
        edit->gain = edit->similarity - x->similarity;
    }
    qsort(x->pair, n, sizeof *x->pair, by_judged);
    return code;
}

/* Two edits at once, against what single edits came to. */
static snip_code try_pairs(regress_explanation *x, expr given, const regress_candidate *whole,
                           const regress_problem *p, const model_opened *t,
                           const regress_explain_how *how, arena *a, snip_status *st)
{
    enum { FINALISTS = 16, STARTS = 4 };
    const double rest = 1e-12 * p->variance[0]; /* less is nothing to explain */
    const regress_evidence *v = &x->evidence;
    regress_evidence both;
    regress_tried tried[FINALISTS];
    if (v->best == (size_t)-1 || !how->all || v->cross[v->supported] <= rest)
        return SNIP_OK;
    /* What was given may have constants that the others can replace, but at places of their own:
     * a*cos(x)*b is one edit from a*cos(x) + b. */
    int same = same_structure(x->e, given);
    snip_code code =
        regress_pairs(&x->pair, &x->pairs, &x->pairs_tried, FINALISTS, same ? x->e : given,
                      same ? given : (expr){ 0 }, !same, p, how->threads, a, st);
    if (code != SNIP_OK || x->pairs == 0)
        return code;
    for (size_t i = 0; i < x->pairs && !same; i++)
        x->pair[i].base = given;
    if ((code = measure_pairs(x, p, t, how, a, st)) != SNIP_OK)
        return code;
    for (size_t i = 0; i < x->pairs; i++)
        tried[i] = (regress_tried){ .e = x->pair[i].fitted };
    code = regress_evidence_weigh(&both, v->supported ? v->fitted : whole->fitted, tried, x->pairs,
                                  x->pairs_tried + x->edits, p, STARTS, how->threads, a, st);
    if (code == SNIP_OK && both.best != (size_t)-1 && both.supported) {
        both.cross[0] = v->cross[0]; /* the formula's own, whatever the pair was held against */
        x->evidence = both;
        x->verdict = &x->pair[both.best];
    }
    return code;
}

/* The best edit of each node: where it stands, and its gain. */
static void note_best(regress_explanation *x)
{
    for (size_t i = 0; i < x->e.count; i++) {
        x->gain[i] = NAN;
        x->best[i] = (size_t)-1;
    }
    for (size_t k = 0; k < x->edits; k++) {
        size_t node = x->edit[k].node;
        if (is_open(&x->edit[k]))
            continue;
        if (x->best[node] == (size_t)-1 || by_gain(&x->edit[k], &x->edit[x->best[node]]) < 0) {
            x->gain[node] = x->edit[k].gain;
            x->best[node] = k;
        }
    }
}

snip_code regress_explain_begin(regress_explanation *out, expr e, const regress_problem *p,
                                const model_opened *t, const regress_explain_how *how, arena *a,
                                snip_status *st)
{
    regress_explanation x = { .whole = { .e = e } };
    regress_candidate *whole = &x.whole;
    const regress_rank_how first = { .refit = how->refit || how->list,
                                     .order = REGRESS_BY_LOSS,
                                     .starts = how->starts,
                                     .threads = 1 };
    x.evidence = (regress_evidence){ .best = (size_t)-1, .p = 1 };
    if (e.count > REGRESS_EXPLAIN_NODES_MAX)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "the formula has %zu nodes, at most %d can be explained", e.count,
                           REGRESS_EXPLAIN_NODES_MAX);
    snip_code code = regress_rank(whole, 1, p, NULL, &first, a, st);
    if (code != SNIP_OK)
        return code;
    e = x.given = whole->e; /* its roots fixed */
    x.shown = how->refit ? whole->fitted : e;
    /* Other rows may turn the sign of a term; then the answer's tree is explained. */
    x.e = how->refit && same_structure(whole->trained, whole->fitted) ? whole->trained : x.shown;
    x.errors = how->refit ? whole->errors : whole->given;
    if (isnan(x.errors.loss[0]))
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "the formula has no finite value in some row of the table");
    if ((code = measure_whole(&x, p, t, how, a, st)) != SNIP_OK)
        return code;
    int listed = list_edits(&x, e, p, a);
    x.gain = arena_array(a, x.e.count, sizeof *x.gain);
    x.best = arena_array(a, x.e.count, sizeof *x.best);
    if (!listed || !x.gain || !x.best || !keep_real(x.edit, &x.edits, x.e, p, a))
        return status_nomem(st);
    if ((code = measure(&x, p, t, how, a, st)) != SNIP_OK)
        return code;
    note_best(&x);
    x.wanted = to_refit(&x, p, how);
    *out = x;
    return SNIP_OK;
}

snip_code regress_explain_end(regress_explanation *x, const regress_problem *p,
                              const model_opened *t, const regress_explain_how *how, arena *a,
                              snip_status *st)
{
    x->listed = x->wanted;
    if (!sort_listed(x, a))
        return status_nomem(st);
    note_best(x);
    snip_code code = weigh(x, &x->whole, p, how, a, st);
    return code == SNIP_OK ? try_pairs(x, x->given, &x->whole, p, t, how, a, st) : code;
}

snip_code regress_explain(regress_explanation *out, expr e, const regress_problem *p,
                          const model_opened *t, const regress_explain_how *how, arena *a,
                          snip_status *st)
{
    snip_code code = regress_explain_begin(out, e, p, t, how, a, st);
    if (code != SNIP_OK)
        return code;
    size_t *which = arena_array(a, out->wanted + 1, sizeof *which);
    if (!which)
        return status_nomem(st);
    for (size_t k = 0; k < out->wanted; k++)
        which[k] = k;
    code = regress_explain_refit(out, which, out->wanted, p, how, a, st);
    return code == SNIP_OK ? regress_explain_end(out, p, t, how, a, st) : code;
}
