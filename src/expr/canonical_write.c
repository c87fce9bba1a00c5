/* canonical_write.c - the parts of a canonical formula written down as a tree. */
#include <stdlib.h>
#include <string.h>

#include "expr/canonical_int.h"

typedef struct writer {
    const canon *c;
    expr_pool pool;
    char *need; /* of each core: PLAIN, PARTS */
    int *plain; /* its place in the pool */
    int *held;  /* where it stands with a factor or a shift */
    double *by; /* that factor */
    int noting; /* the core is being written: held is set */
    int failed;
} writer;

enum { PLAIN = 1, PARTS = 2 }; /* the core itself is written, or only what it is made of */

static int put(writer *w, int op, int kid1, int kid2)
{
    int at = w->failed ? -1 : expr_pool_add(&w->pool, (expr_node){ .op = (uint8_t)op }, kid1, kid2);
    w->failed |= at < 0;
    return at;
}

static int put_number(writer *w, num v)
{
    expr_node n = {
        .op = EXPR_NUMBER, .integer = v.integer && w->c->integers, .fixed = !v.free, .value = v.v
    };
    int at = w->failed ? -1 : expr_pool_add(&w->pool, n, -1, -1);
    w->failed |= at < 0;
    return at;
}

static num negated(num v)
{
    return num_times(v, num_minus);
}

static void note(writer *w, int core, int at, double by)
{
    if (w->noting && w->held[core] < 0) {
        w->held[core] = at;
        w->by[core] = by;
    }
}

/* Whether factor * core is written without the core itself: 2*x/y, not 2*(x/y). */
static int takes_factor(const canon *c, num factor, int core)
{
    return c->user && (factor.free || fabs(factor.v) != 1) && c->at[core].op == EXPR_MUL;
}

/* Marks what the term needs of its core. */
static void mark_term(writer *w, num factor, int core)
{
    w->need[core] |= takes_factor(w->c, factor, core) ? PARTS : PLAIN;
}

static int becomes_power(const canon *c, num factor, int core)
{
    return c->user && c->at[core].op == EXPR_LOG && factor.v != floor(factor.v);
}

/* Whether factor * sum is written term by term: 2*x + 3*y, but 0.5*(x + y). */
static int is_spread(const canon *c, const part *t)
{
    if (!canon_spreads(c, t))
        return 0;
    const part *at = canon_parts_of(c, t->core);
    int units = !t->factor.free && fabs(t->factor.v) != 1;
    for (int i = 0; i < c->at[t->core].count && units; i++)
        units = !at[i].factor.free && fabs(at[i].factor.v) == 1;
    return !units;
}

/* Marks what is needed to write the part, as an exponent of e or not. */
static void mark_part(writer *w, const part *t, int exponent)
{
    const canon *c = w->c;
    int sum = is_spread(c, t), n = sum ? c->at[t->core].count : 1;
    const part only = { num_zero, num_one, t->core, 2 },
               *term = sum ? canon_parts_of(c, t->core) : &only;
    for (int i = 0; i < n && t->core >= 0; i++) {
        num f = num_times(t->factor, term[i].factor);
        if (exponent && t->shift.v == 0 && becomes_power(c, f, term[i].core))
            w->need[term[i].core] |= PARTS;
        else
            mark_term(w, f, term[i].core);
    }
}

/* Marks what the marked cores up to `root` are made of. */
static void mark(writer *w, int root)
{
    const canon *c = w->c;
    for (int i = root; i >= 0; i--) {
        const core *k = &c->at[i];
        for (int j = 0; w->need[i] && j < k->count; j++) {
            const part *t = &c->item[k->first + j];
            if (k->op == EXPR_ADD)
                mark_term(w, t->factor, t->core);
            else
                mark_part(w, t, k->op == EXPR_EXP);
        }
    }
}

static int product_nodes(writer *w, int core, num factor);

static int term_nodes(writer *w, num factor, int core)
{
    if (num_is_one(factor))
        return w->plain[core];
    if (takes_factor(w->c, factor, core)) {
        int at = product_nodes(w, core, factor);
        note(w, core, at, factor.v);
        return at;
    }
    if (w->c->user && factor.v == -1 && !factor.free)
        return put(w, EXPR_NEG, w->plain[core], -1);
    return put(w, EXPR_MUL, put_number(w, factor), w->plain[core]);
}

/* One more term of a sum that stands at `at`, or the first one if that is -1. */
static int add_term(writer *w, int at, num factor, int core)
{
    if (at < 0)
        return term_nodes(w, factor, core);
    int minus_sign = w->c->user ? factor.v < 0 : factor.v == -1 && !factor.free;
    if (minus_sign)
        return put(w, EXPR_SUB, at, term_nodes(w, negated(factor), core));
    return put(w, EXPR_ADD, at, term_nodes(w, factor, core));
}

/* shift + factor * core. */
static int part_nodes(writer *w, const part *t)
{
    const canon *c = w->c;
    if (t->core < 0)
        return put_number(w, t->shift);
    int whole = !is_spread(c, t), n = whole ? 1 : c->at[t->core].count, at = -1;
    const part *term = whole ? NULL : canon_parts_of(c, t->core);
    /* Users begin with what is positive: 2*y - x - 1. */
    int lead = 0, last = 0;
    for (int i = n; c->user && t->shift.v <= 0 && i-- > 0;)
        if ((whole ? t->factor.v : t->factor.v * term[i].factor.v) > 0) {
            lead = i;
            last = t->shift.v != 0;
        }
    if (c->user && t->shift.v != 0 && !last)
        at = put_number(w, t->shift);
    for (int i = 0; i < n; i++) {
        int k = i == 0 ? lead : i <= lead ? i - 1 : i;
        at = whole ? add_term(w, at, t->factor, t->core)
                   : add_term(w, at, num_times(t->factor, term[k].factor), term[k].core);
    }
    if (!whole)
        note(w, t->core, at, t->factor.v);
    if (!c->user && t->shift.v != 0)
        at = put(w, EXPR_ADD, put_number(w, t->shift), at);
    if (last)
        at = put(w, EXPR_SUB, at, put_number(w, negated(t->shift)));
    return at;
}

/* at^n by squares, cubes and products. */
static int integer_power(writer *w, int at, int n)
{
    if (n == 1)
        return at;
    if (n % 2 == 0)
        return put(w, EXPR_POW2, integer_power(w, at, n / 2), -1);
    if (n % 3 == 0)
        return put(w, EXPR_POW3, integer_power(w, at, n / 3), -1);
    return put(w, EXPR_MUL, at, integer_power(w, at, n - 1));
}

static int raised(writer *w, int at, int halves)
{
    if (halves == 1)
        return put(w, EXPR_SQRT, at, -1);
    if (!w->c->user)
        return halves % 2 ? integer_power(w, put(w, EXPR_SQRT, at, -1), halves)
                          : integer_power(w, at, halves / 2);
    switch (halves) {
    case 2:
        return at;
    case 4:
        return put(w, EXPR_POW2, at, -1);
    case 6:
        return put(w, EXPR_POW3, at, -1);
    default:
        return put(w, EXPR_POW, at, put_number(w, num_fixed(halves / 2.0)));
    }
}

static int times_nodes(writer *w, int a, int b)
{
    return a < 0 ? b : put(w, EXPR_MUL, a, b);
}

static int product_nodes(writer *w, int core, num factor)
{
    int above = -1, below = -1, user = w->c->user;
    const part *at = canon_parts_of(w->c, core);
    if (user && !num_is_one(factor))
        above = put_number(w, factor);
    for (int i = 0, n = w->c->at[core].count; i < n && !w->failed; i++) {
        int p = raised(w, part_nodes(w, &at[i]), abs(at[i].power));
        if (at[i].power > 0)
            above = times_nodes(w, above, p);
        else
            below = times_nodes(w, below, p);
    }
    if (below >= 0 && user && above >= 0)
        above = put(w, EXPR_DIV, above, below);
    else if (below >= 0)
        above = times_nodes(w, above, put(w, EXPR_INV, below, -1));
    return user || num_is_one(factor) ? above : put(w, EXPR_MUL, put_number(w, factor), above);
}

/* exp(a*x + b*log(y)) as y^b * exp(a*x). */
static int exponential_nodes(writer *w, const part *t)
{
    const canon *c = w->c;
    int sum = t->core >= 0 && is_spread(c, t), n = sum ? c->at[t->core].count : 1, powers = -1;
    int rest = -1, found = 0;
    part only = { num_zero, num_one, t->core, 2 };
    const part *term = sum ? canon_parts_of(c, t->core) : &only;
    for (int i = 0; i < n && t->core >= 0 && t->shift.v == 0; i++)
        found |= becomes_power(c, num_times(t->factor, term[i].factor), term[i].core);
    for (int i = 0; i < n && found; i++) {
        num f = num_times(t->factor, term[i].factor);
        if (becomes_power(c, f, term[i].core)) {
            int base = part_nodes(w, canon_parts_of(c, term[i].core));
            powers = times_nodes(w, powers, put(w, EXPR_POW, base, put_number(w, f)));
        } else {
            rest = add_term(w, rest, f, term[i].core);
        }
    }
    if (powers < 0)
        return put(w, EXPR_EXP, part_nodes(w, t), -1);
    return rest < 0 ? powers : put(w, EXPR_MUL, powers, put(w, EXPR_EXP, rest, -1));
}

static int core_nodes(writer *w, int i)
{
    const core *k = &w->c->at[i];
    const part *at = &w->c->item[k->first];
    part self = canon_bare(i);
    switch (k->op) {
    case EXPR_VARIABLE: {
        int p = put(w, EXPR_VARIABLE, -1, -1);
        if (p >= 0)
            w->pool.at[p].node.var = k->var;
        return p;
    }
    case EXPR_NUMBER:
        return put_number(w, at->shift);
    case EXPR_ADD:
        return part_nodes(w, &self);
    case EXPR_MUL:
        return product_nodes(w, i, num_one);
    case EXPR_EXP:
        return exponential_nodes(w, at);
    default: {
        int first = part_nodes(w, &at[0]);
        return put(w, k->op, first, k->count > 1 ? part_nodes(w, &at[1]) : -1);
    }
    }
}

/* The tree below `root`; place[i] is where the pool's node i comes first. */
static snip_code flatten(expr *out, const expr_pool *p, int root, int32_t *place, arena *a,
                         snip_status *st)
{
    snip_code code = expr_pool_flatten(out, p, root, a, st);
    int *stack = code == SNIP_OK ? arena_array(a, out->count + 2, sizeof *stack) : NULL;
    if (code != SNIP_OK || !stack)
        return code != SNIP_OK ? code : status_nomem(st);
    size_t top = 0;
    int32_t at = 0;
    stack[top++] = root;
    while (top > 0) {
        int i = stack[--top];
        if (place[i] < 0)
            place[i] = at;
        at++;
        for (int k = expr_ops[p->at[i].node.op].arity; k-- > 0;)
            stack[top++] = p->at[i].kid[k];
    }
    return SNIP_OK;
}

/* Finds each given part in the core's tree. */
static void locate(expr_form *out, const writer *w, const part *parts, size_t n,
                   const int32_t *place)
{
    for (size_t i = 0; i < n; i++) {
        double slope = parts[i].core < 0 ? 0 : parts[i].factor.v;
        out->where[i] = -1;
        out->slope[i] = 0;
        for (int k = parts[i].core; k >= 0; k = w->c->at[k].alias) {
            int plain = w->plain[k], held = w->held[k];
            if (plain >= 0 && place[plain] >= 0) {
                out->where[i] = place[plain];
                out->slope[i] = slope;
                break;
            }
            if (held >= 0 && place[held] >= 0) {
                out->where[i] = place[held];
                out->slope[i] = slope / w->by[k];
                break;
            }
            slope *= w->c->at[k].ratio;
        }
    }
}

/* The difference that turns the sign of the product at i when its operands change places, or
 * e.count. */
static size_t difference_in(expr e, size_t i)
{
    switch (e.node[i].op) {
    case EXPR_SUB:
        return i;
    case EXPR_INV:
    case EXPR_POW3:
        return difference_in(e, i + 1);
    case EXPR_MUL:
    case EXPR_DIV: {
        size_t first = difference_in(e, i + 1);
        return first < e.count ? first : difference_in(e, expr_child(e, i, 1));
    }
    default:
        return e.count;
    }
}

/* -(a/(b - c)) as a/(c - b): the same to the bit, and a node less. Changes e. Returns 0 when memory
 * is out. */
static int turn_differences(expr *e, arena *a)
{
    for (size_t i = 0; i < e->count; i++) {
        size_t at = e->node[i].op == EXPR_NEG ? difference_in(*e, i + 1) : e->count;
        if (at == e->count)
            continue;
        expr left = expr_subtree(*e, at + 1), right = expr_subtree(*e, expr_child(*e, at, 1));
        expr_node *node = arena_copy(a, left.node, left.count * sizeof *node);
        if (!node)
            return 0;
        memmove(left.node, right.node, right.count * sizeof *node);
        memcpy(left.node + right.count, node, left.count * sizeof *node);
        memmove(e->node + i, e->node + i + 1, (--e->count - i) * sizeof *node);
        expr_measure(*e);
    }
    return 1;
}

snip_code canon_write(expr_form *out, const canon *c, const part *whole, const part *parts,
                      size_t n, arena *a, snip_status *st)
{
    const int core = parts[0].core;
    size_t cores = (size_t)c->count + 1;
    writer w = { .c = c, .pool = { .a = a }, .noting = 1 };
    w.need = arena_zero(a, cores);
    w.plain = arena_array(a, cores, sizeof *w.plain);
    w.held = arena_array(a, cores, sizeof *w.held);
    w.by = arena_array(a, cores, sizeof *w.by);
    if (!w.need || !w.plain || !w.held || !w.by)
        return status_nomem(st);
    memset(w.plain, -1, cores * sizeof *w.plain);
    memset(w.held, -1, cores * sizeof *w.held);
    /* First the core, then what e needs besides. */
    for (int pass = 0; pass < 2 && core >= 0; pass++) {
        int top = pass == 0 ? core : whole->core;
        w.noting = pass == 0;
        if (pass == 0)
            w.need[core] = PLAIN;
        else
            mark_part(&w, whole, 0);
        mark(&w, top);
        for (int i = 0; i <= top && !w.failed; i++)
            if (w.need[i] & PLAIN && w.plain[i] < 0)
                w.plain[i] = core_nodes(&w, i);
    }
    int root = part_nodes(&w, whole);
    int32_t *place = w.failed ? NULL : arena_array(a, w.pool.count, sizeof *place);
    if (!place)
        return status_nomem(st);
    memset(place, -1, w.pool.count * sizeof *place);
    snip_code code = SNIP_OK;
    if (core >= 0)
        code = flatten(&out->core, &w.pool, w.plain[core], place, a, st);
    if (code == SNIP_OK) {
        locate(out, &w, parts, n, place);
        code = expr_pool_flatten(&out->e, &w.pool, root, a, st);
    }
    if (code == SNIP_OK && c->user && !turn_differences(&out->e, a))
        code = status_nomem(st);
    return code;
}
