/* canonical.c - one structure per function, up to its free constants.
 *
 * From the last node of the given formula to the first, every part becomes shift + factor * core.
 * Cores are variables, sums, products of powers, and functions; each is kept once, with its terms
 * in a fixed order, so equal cores have equal places. What is normalised is always a choice of the
 * number that becomes 1:
 *
 *   f1*c1 + f2*c2 + ...     f1 comes out as a factor; where some of the f are fixed, the first of
 *                           these, because dividing by a free number would make it free, too
 *   (d + f*c)^p             f comes out as f^p, under a root as |f|^p
 *   log(d + f*c)            |f| comes out as log|f|
 *
 * A core that has a free factor can do without one more of its fixed numbers: k*(a*x + y) is the
 * same family as k1*x + k2*y, and k/(1 + a*x) the same as k/(a + x). `release` rewrites a core for
 * that. A core is written down only in the end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr_int.h"
#include "expr/vec.h"

enum {
    CONSTANT = -1,        /* no core: the part is its shift */
    TERMS_MAX = 64,       /* of a sum or product; longer ones stay nested */
    SLACK = 8,            /* room for what is left over then */
    HALVES_MAX = 1 << 20, /* the largest power, in halves */
    RELEASES_MAX = 16     /* inside each other */
};

#define EXPONENT_MAX 300.0 /* exp(s) comes out of exp(s + u) for |s| up to this */

typedef struct num {
    double v;
    uint8_t free, integer;
    uint8_t tied; /* a shift that is free by its factor's constant only: k*m + k*s*u, m/s fixed */
} num;

/* shift + factor * core, to the power of power/2 where it is a factor of a product. */
typedef struct part {
    num shift, factor;
    int core, power;
} part;

typedef struct core {
    uint8_t op; /* ADD: terms factor * core; MUL: powers of parts; else a function of its parts */
    uint8_t released;  /* nothing in it would be different with a free factor */
    uint16_t var, low; /* of a variable; the lowest variable in it */
    int first, count;  /* its parts */
    int fixed;         /* parts of a sum with a fixed factor */
    int size;          /* cores in it */
    int next;          /* in the same slot of the table */
    int alias;         /* the released core: this one is ratio * alias; or -1 */
    double ratio;
    double order;         /* of cores that differ in free constants only */
    uint64_t form, exact; /* hashes: free constants hidden, and of everything */
} core;

typedef struct canon {
    arena *a;
    core *at;
    part *item;
    int *slot;
    int count, room, items, items_room, slots;
    int releases;
    int failed;   /* memory is out */
    int user;     /* written as users do, else with SNIP's operators only */
    int integers; /* the given formula has integers */
} canon;

/* Terms or factors while they are being collected. */
typedef struct list {
    int n;
    part at[TERMS_MAX + SLACK];
} list;

static const num zero = { 0, 0, 1, 0 }, one = { 1, 0, 1, 0 }, minus = { -1, 0, 1, 0 };

/* ---- numbers ---- */

/* A number that may take the place of what it was computed from. */
static int usable(double v)
{
    return isfinite(v) && (v == 0 || fabs(v) > 1e-300);
}

static num make(double v, int is_free, int integer)
{
    return (num){ .v = v, .free = is_free != 0, .integer = integer != 0 };
}

static int is_one(num a)
{
    return a.v == 1 && !a.free;
}

static num fixed(double v)
{
    return make(v, 0, v == floor(v) && fabs(v) < 1e9);
}

/* Fixed numbers that were divided by each other come back to 1. */
static num times(num a, num b)
{
    double v = a.v * b.v;
    if (fabs(fabs(v) - 1) < 1e-15 && !a.free && !b.free)
        v = copysign(1, v);
    return make(v, a.free | b.free, a.integer & b.integer & (fabs(v) < 1e9));
}

/* Whether a * b may take the place of both; it is 0 only if one of them is. */
static int can_multiply(num a, num b)
{
    double v = a.v * b.v;
    return usable(v) && (v != 0 || a.v == 0 || b.v == 0);
}

static num plus(num a, num b)
{
    if (a.v == 0)
        return b;
    if (b.v == 0)
        return a;
    double v = a.v + b.v;
    return make(v, a.free | b.free, a.integer & b.integer & (fabs(v) < 1e9));
}

/* a^(halves/2) */
static num power_of(num a, int halves)
{
    double v = halves == 2    ? a.v
               : halves == 4  ? a.v * a.v
               : halves == 6  ? a.v * a.v * a.v
               : halves == -2 ? 1 / a.v
               : halves == 1  ? sqrt(a.v)
                              : pow(a.v, halves / 2.0);
    int integer = a.integer && (a.v == 1 || (halves > 0 && halves % 2 == 0 && fabs(v) < 1e9));
    return make(v, a.free, integer);
}

/* *a *= b if that is usable. */
static int merge(num *a, num b)
{
    if (!usable(b.v) || !can_multiply(*a, b))
        return 0;
    *a = times(*a, b);
    return 1;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 29);
}

/* Free numbers are all the same, fixed ones are told apart by their first 30 bits. */
static uint64_t number_form(num a)
{
    if (a.free || !isfinite(a.v))
        return a.free ? 1 : 0;
    int exponent;
    int64_t digits = llrint(frexp(a.v, &exponent) * (1 << 30));
    if (digits == 1 << 30 || digits == -(1 << 30)) {
        digits /= 2;
        exponent++;
    }
    return mix((uint64_t)digits, (uint64_t)(int64_t)exponent) | 2;
}

static uint64_t bits(double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

/* ---- cores ---- */

static uint64_t part_form(const canon *c, const part *t)
{
    uint64_t h = mix(number_form(t->shift), number_form(t->factor) + 17);
    return mix(h, (t->core < 0 ? 5 : c->at[t->core].form) + (uint64_t)(int64_t)t->power);
}

static uint64_t part_exact(const canon *c, const part *t)
{
    uint64_t h = mix(bits(t->shift.v) + t->shift.free, bits(t->factor.v) + t->factor.free);
    return mix(h, (t->core < 0 ? 5 : c->at[t->core].exact) + (uint64_t)(int64_t)t->power);
}

static int same_number(num a, num b)
{
    return bits(a.v) == bits(b.v) && a.free == b.free;
}

static int same_part(const part *a, const part *b)
{
    return a->core == b->core && same_number(a->shift, b->shift) &&
           same_number(a->factor, b->factor);
}

/* Variables first, then what is smaller; sums are last. */
static int rank_of(const core *k)
{
    return k->op == EXPR_VARIABLE ? 0 : k->op == EXPR_MUL ? 1 : k->op == EXPR_ADD ? 3 : 2;
}

/* The order of terms: by structure, with free constants hidden; then fixed before free; the
 * constants' values only where all else is the same. */
static int compare(const canon *c, const part *a, const part *b)
{
    if (a->core < 0 || b->core < 0) {
        if (a->core != b->core)
            return a->core < b->core ? -1 : 1;
    } else if (a->core != b->core) {
        const core *p = &c->at[a->core], *q = &c->at[b->core];
        int d = rank_of(p) - rank_of(q);
        d = d ? d : p->size - q->size;
        d = d ? d : (int)p->low - (int)q->low;
        d = d ? d : (int)p->op - (int)q->op;
        if (d)
            return d;
        if (p->form != q->form)
            return p->form < q->form ? -1 : 1;
    }
    if (a->factor.free != b->factor.free)
        return a->factor.free ? 1 : -1;
    uint64_t m = part_form(c, a), n = part_form(c, b);
    if (m != n)
        return m < n ? -1 : 1;
    if (a->core >= 0 && c->at[a->core].order != c->at[b->core].order)
        return c->at[a->core].order < c->at[b->core].order ? -1 : 1;
    if (a->factor.v != b->factor.v)
        return a->factor.v < b->factor.v ? -1 : 1;
    m = part_exact(c, a);
    n = part_exact(c, b);
    return m < n ? -1 : m > n;
}

static void sort(const canon *c, part *at, int n)
{
    for (int i = 1; i < n; i++) {
        part t = at[i];
        int k = i;
        for (; k > 0 && compare(c, &t, &at[k - 1]) < 0; k--)
            at[k] = at[k - 1];
        at[k] = t;
    }
}

/* Whether `strip` leaves the part as it is when there is a free factor. */
static int base_released(const canon *c, const part *t)
{
    if (t->core < 0)
        return 1;
    if (t->shift.v == 0)
        return c->at[t->core].released;
    if (t->factor.free)
        return t->shift.free;
    return t->shift.free ? c->at[t->core].released : 1;
}

static int is_open_log(const canon *c, int core)
{
    return c->at[core].op == EXPR_LOG && !base_released(c, &c->item[c->at[core].first]);
}

static int is_released(const canon *c, const core *k)
{
    const part *t = &c->item[k->first];
    switch (k->op) {
    case EXPR_ADD:
        if (k->fixed == k->count || k->fixed == 0)
            return 1;
        return k->fixed == 1 && !t->factor.free && c->at[t->core].released;
    case EXPR_MUL:
        for (int i = 0; i < k->count; i++)
            if (!base_released(c, &t[i]))
                return 0;
        return 1;
    case EXPR_ABS:
        return base_released(c, t);
    case EXPR_EXP: /* k*exp(b*log(1 + a*x)) */
        if (t->core < 0)
            return 1;
        if (c->at[t->core].op == EXPR_ADD) {
            const core *sum = &c->at[t->core];
            for (int i = 0; i < sum->count; i++)
                if (is_open_log(c, c->item[sum->first + i].core))
                    return 0;
            return 1;
        }
        return !is_open_log(c, t->core);
    default:
        return 1;
    }
}

/* Makes room for one more core and n more parts. */
static int reserve(canon *c, int n)
{
    if (c->count == c->room) {
        int room = 2 * c->room;
        core *more = arena_array(c->a, (size_t)room, sizeof *more);
        if (!more)
            return 0;
        memcpy(more, c->at, (size_t)c->count * sizeof *more);
        c->at = more;
        c->room = room;
    }
    if (c->items + n > c->items_room) {
        int room = 2 * (c->items_room + n);
        part *more = arena_array(c->a, (size_t)room, sizeof *more);
        if (!more)
            return 0;
        memcpy(more, c->item, (size_t)c->items * sizeof *more);
        c->item = more;
        c->items_room = room;
    }
    if (c->count >= c->slots) {
        int slots = 4 * c->slots;
        int *more = arena_array(c->a, (size_t)slots, sizeof *more);
        if (!more)
            return 0;
        for (int i = 0; i < slots; i++)
            more[i] = -1;
        for (int i = 0; i < c->count; i++) {
            int *to = &more[c->at[i].exact & (uint64_t)(slots - 1)];
            c->at[i].next = *to;
            *to = i;
        }
        c->slot = more;
        c->slots = slots;
    }
    return 1;
}

/* The place of the core with these parts. CONSTANT when memory is out. */
static int intern(canon *c, int op, uint16_t var, const part *at, int n)
{
    core k = { .op = (uint8_t)op,
               .var = var,
               .low = op == EXPR_VARIABLE ? var : UINT16_MAX,
               .count = n,
               .size = 1,
               .alias = -1 };
    k.form = mix((uint64_t)op + 101, var);
    k.exact = k.form;
    for (int i = 0; i < n; i++) {
        k.form = mix(k.form, part_form(c, &at[i]));
        k.exact = mix(k.exact, part_exact(c, &at[i]));
        k.fixed += !at[i].factor.free;
        double inside = 0;
        if (at[i].core >= 0) {
            const core *kid = &c->at[at[i].core];
            k.size += kid->size;
            k.low = kid->low < k.low ? kid->low : k.low;
            inside = kid->order;
        }
        k.order += (i + 1.5) * (at[i].factor.v + 1.1 * at[i].shift.v + 0.9 * inside);
    }
    if (!isfinite(k.order))
        k.order = 0;
    k.size = k.size < 1 << 20 ? k.size : 1 << 20;
    for (int i = c->slot[k.exact & (uint64_t)(c->slots - 1)]; i >= 0; i = c->at[i].next) {
        const core *other = &c->at[i];
        int same =
            other->exact == k.exact && other->op == op && other->var == var && other->count == n;
        for (int j = 0; same && j < n; j++)
            same = same_part(&c->item[other->first + j], &at[j]) &&
                   c->item[other->first + j].power == at[j].power;
        if (same)
            return i;
    }
    if (!reserve(c, n)) {
        c->failed = 1;
        return CONSTANT;
    }
    k.first = c->items;
    if (n)
        memcpy(c->item + c->items, at, (size_t)n * sizeof *at);
    c->items += n;
    k.released = (uint8_t)is_released(c, &k);
    int *slot = &c->slot[k.exact & (uint64_t)(c->slots - 1)];
    k.next = *slot;
    *slot = c->count;
    c->at[c->count] = k;
    return c->count++;
}

static part constant(num v)
{
    return (part){ .shift = v, .factor = zero, .core = CONSTANT, .power = 2 };
}

static part bare(int core)
{
    return core < 0 ? constant(zero) : (part){ zero, one, core, 2 };
}

static int is(const canon *c, int core, expr_op op)
{
    return core >= 0 && c->at[core].op == op;
}

static const part *parts_of(const canon *c, int core)
{
    return &c->item[c->at[core].first];
}

/* The product of the two without any merging. */
static part unmerged(canon *c, part p, num by)
{
    part at[2] = { constant(by), p };
    at[1].power = 2;
    return bare(intern(c, EXPR_MUL, 0, at, 2));
}

/* ---- sums ---- */

static void release(canon *c, part *t);

/* Adds a term, joined with one of the same core. */
static void push(canon *c, list *l, num factor, int core)
{
    for (int i = 0; i < l->n; i++) {
        double v = l->at[i].factor.v + factor.v;
        if (l->at[i].core != core || !usable(v))
            continue;
        if (v == 0)
            l->at[i] = l->at[--l->n];
        else
            l->at[i].factor = plus(l->at[i].factor, factor);
        return;
    }
    if (l->n < TERMS_MAX + SLACK)
        l->at[l->n++] = (part){ zero, factor, core, 2 };
    else
        c->failed = 1; /* callers keep room: see gather */
}

/* Whether factor * sum is written, and added to others, term by term. A free factor of fixed terms
 * is one constant and stays one. */
static int spreads(const canon *c, const part *t)
{
    if (!is(c, t->core, EXPR_ADD))
        return 0;
    const core *k = &c->at[t->core];
    if (t->factor.free && k->fixed == k->count)
        return 0;
    for (int i = 0; i < k->count; i++)
        if (!can_multiply(t->factor, c->item[k->first + i].factor))
            return 0;
    return 1;
}

/* Adds p * by to the terms and the shift; `more` terms must still find room afterwards. */
static void gather(canon *c, list *l, num *shift, part p, num by, int more)
{
    if (!can_multiply(p.shift, by) || (p.core >= 0 && !can_multiply(p.factor, by)))
        p = unmerged(c, p, by);
    else if (!is_one(by)) {
        p.shift = times(p.shift, by);
        p.factor = times(p.factor, by);
    }
    p.shift.tied = 0;
    if (p.shift.v != 0) {
        num s = plus(*shift, p.shift);
        if (usable(s.v)) {
            *shift = s.v == 0 ? zero : s;
        } else {
            part t = constant(p.shift);
            push(c, l, one, intern(c, EXPR_NUMBER, 0, &t, 1));
        }
    }
    if (p.core < 0)
        return;
    if (spreads(c, &p) && l->n + c->at[p.core].count + more <= TERMS_MAX) {
        const part *at = parts_of(c, p.core);
        for (int i = 0, n = c->at[p.core].count; i < n; i++)
            push(c, l, times(p.factor, at[i].factor), at[i].core);
    } else {
        push(c, l, p.factor, p.core);
    }
}

static num strip(canon *c, part *t, int whole, int outer);

/* With a free shift, log(1 + a*x) can give up its 1: see strip. */
static void release_logs(canon *c, list *l, num *shift)
{
    for (int i = 0; i < l->n; i++) {
        if (!is_open_log(c, l->at[i].core))
            continue;
        part t = *parts_of(c, l->at[i].core);
        num scale = strip(c, &t, 0, 1), add = make(log(scale.v), 1, 0);
        if (!can_multiply(add, l->at[i].factor))
            continue;
        add = times(add, l->at[i].factor);
        if (!usable(shift->v + add.v))
            continue;
        int before = l->at[i].core, after = intern(c, EXPR_LOG, 0, &t, 1);
        if (after < 0 || after == before)
            continue;
        c->at[before].alias = after;
        c->at[before].ratio = 1;
        *shift = make(shift->v + add.v, 1, 0);
        l->at[i].core = after;
    }
}

/* The sum of the terms, each core at most once. A free shift of 0 means that there will be one. */
static part sum(canon *c, list *l, num shift)
{
    if (shift.free)
        release_logs(c, l, &shift);
    if (shift.v == 0 && l->n > 0)
        shift = zero;
    if (l->n == 0)
        return constant(shift);
    if (l->n == 1)
        return (part){ shift, l->at[0].factor, l->at[0].core, 2 };
    sort(c, l->at, l->n);
    int pivot = 0, good = 1;
    for (int i = l->n; i-- > 0;)
        if (!l->at[i].factor.free)
            pivot = i;
    num factor = l->at[pivot].factor, inverse = power_of(factor, -2);
    for (int i = 0; i < l->n; i++)
        good &= usable(l->at[i].factor.v / factor.v) && l->at[i].factor.v / factor.v != 0;
    if (is_one(factor) || !good || !usable(inverse.v)) {
        factor = one;
    } else {
        for (int i = 0; i < l->n; i++) {
            num *f = &l->at[i].factor;
            double v = f->v / factor.v;
            *f = i == pivot ? one
                            : make(v, f->free | factor.free,
                                   f->integer & factor.integer & (v == floor(v)));
        }
    }
    int k = intern(c, EXPR_ADD, 0, l->at, l->n);
    return k < 0 ? constant(zero) : (part){ shift, factor, k, 2 };
}

/* ---- products ---- */

typedef struct factors {
    list todo, base;
    list exponent; /* of e: all exponentials together */
    num factor, shift;
} factors;

static part product(canon *c, factors *m);
static part times_part(canon *c, part p, num by);

static void factors_init(factors *m, num factor)
{
    m->todo.n = m->base.n = m->exponent.n = 0;
    m->factor = factor;
    m->shift = zero;
}

static void factors_add(factors *m, part p, int halves)
{
    p.power = halves;
    m->todo.at[m->todo.n++] = p;
}

/* Rewrites the core of t, which has or will have a free factor; see the top of the file. */
static void release(canon *c, part *t)
{
    if (t->core < 0 || c->at[t->core].released)
        return;
    core *k = &c->at[t->core];
    if (k->alias < 0) {
        if (c->releases >= RELEASES_MAX)
            return;
        c->releases++;
        num free_one = make(1, 1, 1);
        part made;
        const part *at = parts_of(c, t->core);
        int n = k->count;
        if (k->op == EXPR_ADD) {
            /* The fixed terms stay together, with one free factor. */
            list all, group;
            all.n = group.n = 0;
            num none = zero;
            for (int i = 0; i < n; i++)
                if (!at[i].factor.free)
                    push(c, &group, at[i].factor, at[i].core);
            part g = sum(c, &group, zero);
            g.factor.free = 1;
            release(c, &g);
            for (int i = 0; i < n; i++)
                if (at[i].factor.free)
                    push(c, &all, at[i].factor, at[i].core);
            gather(c, &all, &none, g, one, 0);
            made = sum(c, &all, zero);
        } else {
            factors m;
            factors_init(&m, free_one);
            if (k->op == EXPR_ABS) {
                part inner = *at;
                num scale = strip(c, &inner, 1, 1);
                scale.v = fabs(scale.v);
                if (merge(&m.factor, scale))
                    factors_add(&m, bare(intern(c, EXPR_ABS, 0, &inner, 1)), 2);
                else
                    factors_add(&m, *t, 2);
            } else if (k->op == EXPR_EXP) {
                gather(c, &m.exponent, &m.shift, *at, one, 0);
            } else {
                for (int i = 0; i < n; i++)
                    factors_add(&m, at[i], at[i].power);
            }
            made = product(c, &m);
        }
        c->releases--;
        k = &c->at[t->core];
        if (made.core < 0 || made.core == t->core || made.shift.v != 0) {
            k->released = 1; /* there is no such form */
            return;
        }
        k->alias = made.core;
        k->ratio = made.factor.v;
    }
    num ratio = make(k->ratio, 1, 0);
    if (can_multiply(t->factor, ratio)) {
        t->factor = times(t->factor, ratio);
        t->core = k->alias;
    }
}

/* Takes the scale out of a base d + f*core and returns it: with its sign if `whole`, else without.
 * It is f, so that the core's coefficient is 1 or a sign, but d where that alone is fixed, unless
 * `outer`: then there is a free factor to take what is lost. A sign of a free number is written
 * even if it is +1, so that both signs have one structure. */
static num strip(canon *c, part *t, int whole, int outer)
{
    if (t->core < 0)
        return one;
    int plain = t->shift.v == 0;
    int tied = t->shift.tied;
    if (outer && (plain || (t->shift.free && !tied)))
        release(c, t);
    int by_shift = !plain && t->factor.free && !t->shift.free && !outer;
    num pivot = by_shift ? t->shift : t->factor, scale = pivot;
    if (!whole)
        scale.v = fabs(scale.v);
    if (is_one(scale))
        return one;
    double shift = t->shift.v / scale.v, factor = t->factor.v / scale.v;
    if (!usable(1 / scale.v) || !usable(shift) || (shift == 0) != plain || !usable(factor) ||
        factor == 0)
        return one;
    if (by_shift) {
        t->shift = make(shift, 0, 1);
        t->factor = make(factor, 1, 0);
        return scale;
    }
    const core *k = &c->at[t->core];
    int signs = !tied && (!plain || (k->op == EXPR_ADD && k->fixed < k->count));
    t->factor = whole ? one : make(factor, pivot.free && signs, 1);
    if (!plain)
        t->shift = (num){ .v = shift,
                          .free = !tied && (t->shift.free || scale.free),
                          .integer = t->shift.integer & scale.integer & (shift == floor(shift)) };
    return scale;
}

static part absolute(canon *c, part p);

/* Adds a base, joined with an equal one. Joined powers may be of another kind: then once more. */
static void add_base(canon *c, factors *m, part t)
{
    for (int i = 0; i < m->base.n; i++) {
        part *b = &m->base.at[i];
        if (t.core < 0 || !same_part(b, &t) || abs(b->power + t.power) > HALVES_MAX)
            continue;
        t.power += b->power;
        *b = m->base.at[--m->base.n];
        if (t.power == 0)
            return;
        int again = !is_one(t.factor) || is(c, t.core, EXPR_MUL) || is(c, t.core, EXPR_ABS);
        if (t.power % 2 == 0 && again && m->todo.n < TERMS_MAX)
            m->todo.at[m->todo.n++] = t;
        else
            m->base.at[m->base.n++] = t;
        return;
    }
    if (m->base.n < TERMS_MAX + SLACK)
        m->base.at[m->base.n++] = t;
    else
        c->failed = 1; /* callers keep room: see take_product */
}

/* A product to a power, factor by factor where that is exact. Returns 0 where it is not. */
static int take_product(canon *c, factors *m, part t)
{
    const core *k = &c->at[t.core];
    const part *at = parts_of(c, t.core);
    int n = k->count;
    if (m->todo.n + m->base.n + n + 2 > TERMS_MAX)
        return 0;
    for (int i = 0; i < n; i++)
        if (abs(at[i].power) > HALVES_MAX / abs(t.power))
            return 0;
    if (t.power % 2 == 0) {
        if (!merge(&m->factor, power_of(t.factor, t.power)))
            return 0;
        for (int i = 0; i < n; i++)
            factors_add(m, at[i], at[i].power * (t.power / 2));
        return 1;
    }
    /* Under a root only what is positive can leave the product. */
    list rest;
    rest.n = 0;
    for (int i = 0; i < n; i++)
        if (!is(c, at[i].core, EXPR_EXP) || at[i].power != 2 || at[i].shift.v != 0 ||
            !is_one(at[i].factor))
            rest.at[rest.n++] = at[i];
    if (rest.n < n && m->exponent.n + TERMS_MAX / 2 < TERMS_MAX) {
        for (int i = 0; i < n; i++)
            if (is(c, at[i].core, EXPR_EXP) && at[i].power == 2 && at[i].shift.v == 0 &&
                is_one(at[i].factor))
                gather(c, &m->exponent, &m->shift, *parts_of(c, at[i].core), fixed(t.power / 2.0),
                       0);
        part left = constant(t.factor);
        if (rest.n == 1 && rest.at[0].power == 2)
            left = times_part(c, rest.at[0], t.factor);
        else if (rest.n > 0)
            left = (part){ zero, t.factor, intern(c, EXPR_MUL, 0, rest.at, rest.n), 2 };
        factors_add(m, left, t.power);
        return 1;
    }
    if (n != 1 || at->power % 2 != 0 || t.factor.v < 0)
        return 0;
    num scale = power_of(t.factor, t.power);
    if (!merge(&m->factor, scale))
        return 0;
    int halves = at->power * t.power / 2;
    if (at->power % 4 == 0 && halves % 4 != 0) /* (b^2)^(1/2) = |b| */
        factors_add(m, absolute(c, *at), halves);
    else
        factors_add(m, *at, halves);
    return 1;
}

/* Takes one factor in. */
static void take(canon *c, factors *m, part t, int outer)
{
    if (t.core < 0) {
        if (!merge(&m->factor, power_of(t.shift, t.power)))
            add_base(c, m, t);
        return;
    }
    int whole = t.power % 2 == 0;
    if (t.shift.v == 0) {
        const core *k = &c->at[t.core];
        if (k->op == EXPR_EXP && (whole || t.factor.v > 0) && m->exponent.n < TERMS_MAX / 2 &&
            merge(&m->factor, power_of(t.factor, t.power))) {
            gather(c, &m->exponent, &m->shift, *parts_of(c, t.core), fixed(t.power / 2.0), 0);
            return;
        }
        if (k->op == EXPR_MUL && take_product(c, m, t))
            return;
        if (k->op == EXPR_ABS && t.power % 4 == 0 &&
            merge(&m->factor, power_of(t.factor, t.power))) {
            factors_add(m, *parts_of(c, t.core), t.power);
            return;
        }
    }
    part kept = t;
    num scale = strip(c, &t, whole, outer);
    if (!merge(&m->factor, power_of(scale, t.power))) {
        add_base(c, m, kept);
        return;
    }
    int changed = t.core != kept.core && t.shift.v == 0;
    if (changed && (is(c, t.core, EXPR_EXP) || is(c, t.core, EXPR_MUL) || is(c, t.core, EXPR_ABS)))
        take(c, m, t, outer);
    else
        add_base(c, m, t);
}

/* Takes in all that is left to do. exp(2*log(u)) is u^2. */
static void take_all(canon *c, factors *m, int outer)
{
    do {
        while (m->todo.n > 0) {
            part t = m->todo.at[--m->todo.n];
            take(c, m, t, outer);
        }
        for (int i = m->exponent.n; i-- > 0;) {
            part t = m->exponent.at[i];
            double halves = 2 * t.factor.v;
            if (t.factor.free || !is(c, t.core, EXPR_LOG) || halves != floor(halves) ||
                fabs(halves) > 64 || m->todo.n + m->base.n >= TERMS_MAX - 2)
                continue;
            m->exponent.at[i] = m->exponent.at[--m->exponent.n];
            factors_add(m, *parts_of(c, t.core), (int)halves);
        }
    } while (m->todo.n > 0);
}

/* exp(shift) as a factor, where that is a number one can reckon with. */
static void take_shift(factors *m)
{
    num v = make(exp(m->shift.v), m->shift.free, 0);
    if (m->shift.v != 0 && fabs(m->shift.v) <= EXPONENT_MAX && merge(&m->factor, v))
        m->shift = zero;
}

static part product(canon *c, factors *m)
{
    take_all(c, m, 0);
    take_shift(m);
    if (m->factor.free) {
        for (int i = m->base.n; i-- > 0;)
            if (!base_released(c, &m->base.at[i])) {
                m->todo.at[m->todo.n++] = m->base.at[i];
                m->base.at[i] = m->base.at[--m->base.n];
            }
        take_all(c, m, 1);
        take_shift(m);
    }
    if (m->exponent.n > 0 || m->shift.v != 0) {
        num hint = m->shift;
        if (hint.v == 0 && m->factor.free)
            hint.free = 1;
        part s = sum(c, &m->exponent, hint);
        m->shift = s.shift;
        take_shift(m);
        s.shift = m->shift;
        if (s.core >= 0 || s.shift.v != 0) {
            s.power = 2;
            add_base(c, m, bare(intern(c, EXPR_EXP, 0, &s, 1)));
        }
    }
    if (m->base.n == 0 || m->factor.v == 0)
        return constant(m->factor);
    part t = m->base.at[0];
    if (m->base.n == 1 && t.power == 2 && t.core >= 0 && can_multiply(t.shift, m->factor) &&
        can_multiply(t.factor, m->factor))
        return times_part(c, t, m->factor);
    sort(c, m->base.at, m->base.n);
    int k = intern(c, EXPR_MUL, 0, m->base.at, m->base.n);
    return k < 0 ? constant(zero) : (part){ zero, m->factor, k, 2 };
}

/* p * by, which has been found usable. */
static part times_part(canon *c, part p, num by)
{
    int tied = p.shift.tied || (by.free && !p.shift.free && !p.factor.free);
    p.power = 2;
    p.shift = times(p.shift, by);
    if (p.core < 0)
        return p;
    if (p.shift.v == 0)
        p.shift = zero;
    p.factor = times(p.factor, by);
    int before = p.core;
    if (by.free)
        release(c, &p);
    p.shift.tied = p.shift.v != 0 && tied && p.core == before;
    return p;
}

/* p^(halves/2) */
static part power(canon *c, part p, int halves)
{
    factors m;
    factors_init(&m, one);
    factors_add(&m, p, halves);
    return product(c, &m);
}

static part scaled(canon *c, part p, num by)
{
    if (by.v == 0)
        return constant(by);
    if (!can_multiply(p.shift, by) || (p.core >= 0 && !can_multiply(p.factor, by)))
        return unmerged(c, p, by);
    return times_part(c, p, by);
}

/* p^n * q^m, powers in halves. */
static part product_of(canon *c, part p, int n, part q, int m)
{
    if (p.core < 0 && n == 2 && m == 2)
        return scaled(c, q, p.shift);
    num v = q.core < 0 ? power_of(q.shift, m) : zero;
    if (q.core < 0 && n == 2 && usable(v.v) && v.v != 0)
        return scaled(c, p, v);
    factors f;
    factors_init(&f, one);
    factors_add(&f, p, n);
    factors_add(&f, q, m);
    return product(c, &f);
}

static part sum_of(canon *c, part p, part q, num sign)
{
    list l;
    l.n = 0;
    num shift = zero;
    gather(c, &l, &shift, p, one, 1);
    gather(c, &l, &shift, q, sign, 0);
    return sum(c, &l, shift);
}

/* ---- functions ---- */

static int is_positive(const canon *c, const part *t)
{
    return t->power % 4 == 0 || t->power % 2 != 0 ||
           (t->shift.v == 0 && t->factor.v > 0 &&
            (is(c, t->core, EXPR_EXP) || is(c, t->core, EXPR_ABS)));
}

static part absolute(canon *c, part p)
{
    if (p.core < 0)
        return constant(make(fabs(p.shift.v), p.shift.free, p.shift.integer));
    factors m;
    factors_init(&m, one);
    num size = make(fabs(p.factor.v), p.factor.free, p.factor.integer);
    if (p.shift.v == 0 && (is(c, p.core, EXPR_ABS) || is(c, p.core, EXPR_EXP)))
        return (part){ zero, size, p.core, 2 };
    if (p.shift.v == 0 && is(c, p.core, EXPR_MUL)) {
        const part *at = parts_of(c, p.core);
        list rest;
        rest.n = 0;
        for (int i = 0, n = c->at[p.core].count; i < n; i++)
            if (is_positive(c, &at[i]))
                factors_add(&m, at[i], at[i].power);
            else
                rest.at[rest.n++] = at[i];
        if (rest.n == 0)
            return (part){ zero, size, p.core, 2 };
        part inner = rest.at[0];
        int halves = 2;
        if (rest.n == 1) {
            halves = inner.power;
            inner.power = 2;
        } else {
            inner = bare(intern(c, EXPR_MUL, 0, rest.at, rest.n));
        }
        if (merge(&m.factor, size)) {
            factors_add(&m, bare(intern(c, EXPR_ABS, 0, &inner, 1)), halves);
            return product(c, &m);
        }
        factors_init(&m, one);
    }
    num scale = strip(c, &p, 1, 0);
    p.power = 2;
    scale.v = fabs(scale.v);
    return scaled(c, bare(intern(c, EXPR_ABS, 0, &p, 1)), scale);
}

static part function(canon *c, int op, part p);

static part logarithm(canon *c, part p)
{
    num factor = one, shift = zero;
    list terms;
    terms.n = 0;
    /* log(k*u^p) is log(k) + p*log(u), but for even p, where u may be negative. */
    while (p.core >= 0 && p.shift.v == 0 && p.factor.v > 0) {
        num add = make(log(p.factor.v), p.factor.free, 0);
        if (is(c, p.core, EXPR_EXP)) {
            gather(c, &terms, &shift, constant(add), factor, 0);
            gather(c, &terms, &shift, *parts_of(c, p.core), factor, 1);
            return sum(c, &terms, shift);
        }
        if (!is(c, p.core, EXPR_MUL))
            break;
        const part *at = parts_of(c, p.core);
        int n = c->at[p.core].count, e = -1;
        for (int i = 0; i < n; i++)
            if (is(c, at[i].core, EXPR_EXP) && at[i].power == 2 && at[i].shift.v == 0 &&
                is_one(at[i].factor))
                e = i;
        if (e >= 0 && n > 1 && terms.n == 0) {
            list rest;
            rest.n = 0;
            for (int i = 0; i < n; i++)
                if (i != e)
                    rest.at[rest.n++] = at[i];
            gather(c, &terms, &shift, *parts_of(c, at[e].core), factor, 2);
            num f = p.factor;
            p = rest.at[0];
            if (rest.n > 1 || p.power != 2)
                p = bare(intern(c, EXPR_MUL, 0, rest.at, rest.n));
            p = scaled(c, p, f);
            continue;
        }
        int halves = at->power;
        if (n > 1 || halves == 4 || at->core < 0)
            break;
        gather(c, &terms, &shift, constant(add), factor, 2);
        p = *at;
        p.power = 2;
        if (halves % 4 == 0) {
            factor = times(factor, fixed(halves / 4.0));
            p.power = 4;
            p = bare(intern(c, EXPR_MUL, 0, &p, 1));
            break;
        }
        factor = times(factor, fixed(halves / 2.0));
    }
    part made;
    if (p.core < 0) {
        made = function(c, EXPR_LOG, p);
    } else {
        num scale = strip(c, &p, 0, 0), add = make(log(scale.v), scale.free, 0);
        p.power = 2;
        gather(c, &terms, &shift, constant(add), factor, 1);
        made = bare(intern(c, EXPR_LOG, 0, &p, 1));
    }
    gather(c, &terms, &shift, made, factor, 0);
    return sum(c, &terms, shift);
}

static part exponential(canon *c, part p)
{
    factors m;
    factors_init(&m, one);
    gather(c, &m.exponent, &m.shift, p, one, 0);
    return product(c, &m);
}

static int is_odd(int op)
{
    switch (op) {
    case EXPR_SIN:
    case EXPR_TAN:
    case EXPR_ARCSIN:
    case EXPR_ARCTAN:
    case EXPR_SINH:
    case EXPR_TANH:
    case EXPR_ARCSINH:
    case EXPR_ARCTANH:
        return 1;
    default:
        return 0;
    }
}

/* The function op of p, for what has no rule of its own as well. */
static part function(canon *c, int op, part p)
{
    if (p.core < 0) {
        double v;
        expr_vec_best()->unary[op](&v, &p.shift.v, 1);
        int vanished = v == 0 && p.shift.v != 0 && (op == EXPR_EXP || op == EXPR_EXP2);
        if (usable(v) && !vanished)
            return constant(make(v, p.shift.free, p.shift.integer && v == floor(v)));
        p.power = 2;
        return bare(intern(c, op, 0, &p, 1));
    }
    num sign = one;
    p.power = 2;
    /* The factor has the sign of the first fixed term: that of a free one must not show. */
    if (p.shift.v == 0 && p.factor.v < 0 && (is_odd(op) || op == EXPR_COS || op == EXPR_COSH)) {
        p.factor = times(p.factor, minus);
        sign = is_odd(op) ? minus : one;
    }
    if (op == EXPR_CBRT || op == EXPR_SIGN) {
        num scale = strip(c, &p, op == EXPR_CBRT || p.shift.v == 0, 0);
        double v = op == EXPR_CBRT ? cbrt(scale.v) : copysign(1, scale.v);
        sign = make(v, op == EXPR_CBRT && scale.free, op == EXPR_SIGN);
    }
    return scaled(c, bare(intern(c, op, 0, &p, 1)), sign);
}

static part general_power(canon *c, part p, part q)
{
    double n = q.shift.v;
    if (q.core < 0 && n == floor(n) && fabs(n) < HALVES_MAX / 2)
        return n == 0 ? constant(one) : power(c, p, (int)(2 * n));
    if (q.core < 0 && !q.shift.free && 2 * n == floor(2 * n) && fabs(n) < HALVES_MAX / 2)
        return power(c, p, (int)(2 * n));
    if (p.core < 0 && q.core < 0) {
        double v = pow(p.shift.v, n);
        if (usable(v) && (v != 0 || p.shift.v == 0))
            return constant(make(v, p.shift.free | q.shift.free, 0));
    } else if (p.core < 0 && p.shift.v > 0) { /* 2^u = exp(log(2)*u) */
        return exponential(c, scaled(c, q, make(log(p.shift.v), p.shift.free, 0)));
    } else if (q.core < 0 && n != floor(n)) { /* written as u^n again: exponential_nodes */
        return exponential(c, scaled(c, logarithm(c, p), q.shift));
    }
    part at[2] = { p, q };
    at[0].power = at[1].power = 2;
    return bare(intern(c, EXPR_POW, 0, at, 2));
}

static part extreme(canon *c, int op, part p, part q)
{
    if (p.core < 0 && q.core < 0) {
        double v;
        expr_vec_best()->binary[op](&v, &p.shift.v, &q.shift.v, 1);
        return constant(make(v, p.shift.free | q.shift.free, p.shift.integer & q.shift.integer));
    }
    part at[2] = { p, q };
    at[0].power = at[1].power = 2;
    sort(c, at, 2);
    return bare(intern(c, op, 0, at, 2));
}

/* The node n, given the parts of its operands. */
static part part_of(canon *c, const expr_node *n, part p, part q)
{
    switch (n->op) {
    case EXPR_NUMBER:
    case EXPR_PI:
    case EXPR_E:
    case EXPR_GAMMA: {
        num v = make(expr_leaf_value(n), n->op == EXPR_NUMBER && !n->fixed, n->integer);
        part t = constant(v);
        return usable(v.v) ? t : bare(intern(c, EXPR_NUMBER, 0, &t, 1));
    }
    case EXPR_VARIABLE:
        return bare(intern(c, EXPR_VARIABLE, n->var, NULL, 0));
    case EXPR_ADD:
        return sum_of(c, p, q, one);
    case EXPR_SUB:
        return sum_of(c, p, q, minus);
    case EXPR_NEG:
        return scaled(c, p, minus);
    case EXPR_MUL:
        return product_of(c, p, 2, q, 2);
    case EXPR_DIV:
        return product_of(c, p, 2, q, -2);
    case EXPR_POW:
        return general_power(c, p, q);
    case EXPR_INV:
        return power(c, p, -2);
    case EXPR_SQRT:
        return power(c, p, 1);
    case EXPR_POW2:
        return power(c, p, 4);
    case EXPR_POW3:
        return power(c, p, 6);
    case EXPR_ABS:
        return absolute(c, p);
    case EXPR_LOG:
        return logarithm(c, p);
    case EXPR_LOG2:
        return scaled(c, logarithm(c, p), fixed(1 / M_LN2));
    case EXPR_LOG10:
        return scaled(c, logarithm(c, p), fixed(1 / M_LN10));
    case EXPR_EXP:
        return exponential(c, p);
    case EXPR_EXP2:
        return exponential(c, scaled(c, p, fixed(M_LN2)));
    case EXPR_MIN:
    case EXPR_MAX:
        return extreme(c, n->op, p, q);
    default:
        return function(c, n->op, p);
    }
}

/* ---- writing ---- */

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
    return times(v, minus);
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
    if (!spreads(c, t))
        return 0;
    const part *at = parts_of(c, t->core);
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
    const part only = { zero, one, t->core, 2 }, *term = sum ? parts_of(c, t->core) : &only;
    for (int i = 0; i < n && t->core >= 0; i++) {
        num f = times(t->factor, term[i].factor);
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
    if (is_one(factor))
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
    const part *term = whole ? NULL : parts_of(c, t->core);
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
                   : add_term(w, at, times(t->factor, term[k].factor), term[k].core);
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
        return put(w, EXPR_POW, at, put_number(w, fixed(halves / 2.0)));
    }
}

static int times_nodes(writer *w, int a, int b)
{
    return a < 0 ? b : put(w, EXPR_MUL, a, b);
}

static int product_nodes(writer *w, int core, num factor)
{
    int above = -1, below = -1, user = w->c->user;
    const part *at = parts_of(w->c, core);
    if (user && !is_one(factor))
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
    return user || is_one(factor) ? above : put(w, EXPR_MUL, put_number(w, factor), above);
}

/* exp(a*x + b*log(y)) as y^b * exp(a*x). */
static int exponential_nodes(writer *w, const part *t)
{
    const canon *c = w->c;
    int sum = t->core >= 0 && is_spread(c, t), n = sum ? c->at[t->core].count : 1, powers = -1;
    int rest = -1, found = 0;
    part only = { zero, one, t->core, 2 };
    const part *term = sum ? parts_of(c, t->core) : &only;
    for (int i = 0; i < n && t->core >= 0 && t->shift.v == 0; i++)
        found |= becomes_power(c, times(t->factor, term[i].factor), term[i].core);
    for (int i = 0; i < n && found; i++) {
        num f = times(t->factor, term[i].factor);
        if (becomes_power(c, f, term[i].core)) {
            int base = part_nodes(w, parts_of(c, term[i].core));
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
    part self = bare(i);
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
        return product_nodes(w, i, one);
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
        out->factor_of[i] = slope;
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

static snip_code write_form(expr_form *out, const canon *c, const part *parts, size_t n, arena *a,
                            snip_status *st)
{
    const part *root = &parts[0];
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
    for (int pass = 0; pass < 2 && root->core >= 0; pass++) {
        w.noting = pass == 0;
        if (pass == 0)
            w.need[root->core] = PLAIN;
        else
            mark_part(&w, root, 0);
        mark(&w, root->core);
        for (int i = 0; i <= root->core && !w.failed; i++)
            if (w.need[i] & PLAIN && w.plain[i] < 0)
                w.plain[i] = core_nodes(&w, i);
    }
    int whole = part_nodes(&w, root);
    int32_t *place = w.failed ? NULL : arena_array(a, w.pool.count, sizeof *place);
    if (!place)
        return status_nomem(st);
    memset(place, -1, w.pool.count * sizeof *place);
    snip_code code = SNIP_OK;
    if (root->core >= 0)
        code = flatten(&out->core, &w.pool, w.plain[root->core], place, a, st);
    if (code == SNIP_OK) {
        locate(out, &w, parts, n, place);
        code = expr_pool_flatten(&out->e, &w.pool, whole, a, st);
    }
    return code;
}

snip_code expr_canonical(expr_form *out, expr e, arena *a, snip_status *st)
{
    *out = (expr_form){ 0 };
    canon c = {
        .a = a, .room = (int)e.count + 16, .items_room = 2 * (int)e.count + 32, .slots = 64
    };
    c.at = arena_array(a, (size_t)c.room, sizeof *c.at);
    c.item = arena_array(a, (size_t)c.items_room, sizeof *c.item);
    c.slot = arena_array(a, (size_t)c.slots, sizeof *c.slot);
    part *parts = arena_array(a, e.count, sizeof *parts);
    out->where = arena_array(a, e.count, sizeof *out->where);
    out->factor_of = arena_array(a, e.count, sizeof *out->factor_of);
    out->slope = arena_array(a, e.count, sizeof *out->slope);
    if (!c.at || !c.item || !c.slot || !parts || !out->where || !out->factor_of || !out->slope)
        return status_nomem(st);
    for (int i = 0; i < c.slots; i++)
        c.slot[i] = -1;
    for (size_t i = 0; i < e.count; i++) {
        int op = e.node[i].op;
        c.user |= op >= EXPR_VOCABULARY_END || op == EXPR_DIV || op == EXPR_POW;
        c.integers |= op == EXPR_NUMBER && e.node[i].integer;
    }
    for (size_t i = e.count; i-- > 0 && !c.failed;) { /* operands come after their operator */
        int arity = expr_ops[e.node[i].op].arity;
        part none = constant(zero);
        part p = arity > 0 ? parts[expr_child(e, i, 0)] : none;
        part q = arity > 1 ? parts[expr_child(e, i, 1)] : none;
        parts[i] = part_of(&c, &e.node[i], p, q);
    }
    if (c.failed)
        return status_nomem(st);
    const part *root = &parts[0];
    out->shift = root->shift.v;
    out->shift_free = root->shift.free;
    out->factor = root->core < 0 ? 0 : root->factor.v;
    out->factor_free = root->core >= 0 && root->factor.free;
    out->hash = root->core < 0 ? 0 : c.at[root->core].form;
    return write_form(out, &c, parts, e.count, a, st);
}
