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
 * that. The core of a whole form is always meant with a free factor, whatever is there: another
 * unit of y must not change it. A core is written down only in the end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/canonical_int.h"

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

/* Fixed numbers that differ by rounding are one: 3*m/(3*s) is m/s, and 3*(m + s*x)*sqrt(m + s*x) is
 * one base to the power of 3/2, whatever stands in the place of 3. Free ones that are not equal to
 * the bit are two constants. */
static int same_number(num a, num b)
{
    const double rounding = 1e-13;
    if (a.free != b.free)
        return 0;
    return bits(a.v) == bits(b.v) ||
           (!a.free && fabs(a.v - b.v) <= rounding * fmin(fabs(a.v), fabs(b.v)));
}

/* Equal for parts that are the same. Fixed numbers, which may differ by rounding, are left out. */
static uint64_t part_key(const part *t)
{
    uint64_t shift = t->shift.free ? bits(t->shift.v) : 3;
    uint64_t factor = t->factor.free ? bits(t->factor.v) : 7;
    return mix(mix(shift, factor), (uint64_t)(int64_t)t->core * 31 + (uint64_t)(int64_t)t->power);
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

void canon_sort(const canon *c, part *at, int n)
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

/* A copy of the `used` elements of an array in room for more. NULL when memory is out. */
static void *grown(const canon *c, const void *from, int used, int room, size_t size)
{
    void *more = arena_array(c->a, (size_t)room, size);
    return more ? memcpy(more, from, (size_t)used * size) : NULL;
}

/* Makes room for one more core and n more parts. */
static int reserve(canon *c, int n)
{
    if (c->count == c->room) {
        core *more = grown(c, c->at, c->count, 2 * c->room, sizeof *more);
        if (!more)
            return 0;
        c->at = more;
        c->room *= 2;
    }
    if (c->items + n > c->items_room) {
        int room = 2 * (c->items_room + n);
        part *more = grown(c, c->item, c->items, room, sizeof *more);
        if (!more)
            return 0;
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
            int *to = &more[c->at[i].key & (uint64_t)(slots - 1)];
            c->at[i].next = *to;
            *to = i;
        }
        c->slot = more;
        c->slots = slots;
    }
    return 1;
}

int canon_intern(canon *c, int op, uint16_t var, const part *at, int n)
{
    core k = { .op = (uint8_t)op,
               .var = var,
               .low = op == EXPR_VARIABLE ? var : UINT16_MAX,
               .count = n,
               .size = 1,
               .alias = -1 };
    k.form = mix((uint64_t)op + 101, var);
    k.exact = k.key = k.form;
    for (int i = 0; i < n; i++) {
        k.key = mix(k.key, part_key(&at[i]));
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
    for (int i = c->slot[k.key & (uint64_t)(c->slots - 1)]; i >= 0; i = c->at[i].next) {
        const core *other = &c->at[i];
        int same = other->key == k.key && other->op == op && other->var == var && other->count == n;
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
    int *slot = &c->slot[k.key & (uint64_t)(c->slots - 1)];
    k.next = *slot;
    *slot = c->count;
    c->at[c->count] = k;
    return c->count++;
}

/* The product of the two without any merging. */
static part unmerged(canon *c, part p, num by)
{
    part at[2] = { canon_constant(by), p };
    at[1].power = 2;
    return canon_bare(canon_intern(c, EXPR_MUL, 0, at, 2));
}

/* ---- sums ---- */

static void release(canon *c, part *t);

/* Adds a term, joined with one of the same core. */
static void push(canon *c, list *l, num factor, int core)
{
    for (int i = 0; i < l->n; i++) {
        double v = l->at[i].factor.v + factor.v;
        if (l->at[i].core != core || !num_usable(v))
            continue;
        if (v == 0)
            l->at[i] = l->at[--l->n];
        else
            l->at[i].factor = num_plus(l->at[i].factor, factor);
        return;
    }
    if (l->n < TERMS_MAX + SLACK)
        l->at[l->n++] = (part){ num_zero, factor, core, 2 };
    else
        c->failed = 1; /* callers keep room: see gather */
}

int canon_spreads(const canon *c, const part *t)
{
    if (!canon_is(c, t->core, EXPR_ADD))
        return 0;
    const core *k = &c->at[t->core];
    if (t->factor.free && k->fixed == k->count)
        return 0;
    for (int i = 0; i < k->count; i++)
        if (!num_can_multiply(t->factor, c->item[k->first + i].factor))
            return 0;
    return 1;
}

void canon_gather(canon *c, list *l, num *shift, part p, num by, int more)
{
    if (!num_can_multiply(p.shift, by) || (p.core >= 0 && !num_can_multiply(p.factor, by)))
        p = unmerged(c, p, by);
    else if (!num_is_one(by)) {
        p.shift = num_times(p.shift, by);
        p.factor = num_times(p.factor, by);
    }
    p.shift.tied = 0;
    if (p.shift.v != 0) {
        num s = num_plus(*shift, p.shift);
        if (num_usable(s.v)) {
            *shift = s.v == 0 ? num_zero : s;
        } else {
            part t = canon_constant(p.shift);
            push(c, l, num_one, canon_intern(c, EXPR_NUMBER, 0, &t, 1));
        }
    }
    if (p.core < 0)
        return;
    if (canon_spreads(c, &p) && l->n + c->at[p.core].count + more <= TERMS_MAX) {
        const part *at = canon_parts_of(c, p.core);
        for (int i = 0, n = c->at[p.core].count; i < n; i++)
            push(c, l, num_times(p.factor, at[i].factor), at[i].core);
    } else {
        push(c, l, p.factor, p.core);
    }
}

/* With a free shift, log(1 + a*x) can give up its 1: see strip. */
static void release_logs(canon *c, list *l, num *shift)
{
    for (int i = 0; i < l->n; i++) {
        if (!is_open_log(c, l->at[i].core))
            continue;
        part t = *canon_parts_of(c, l->at[i].core);
        num scale = canon_strip(c, &t, 0, 1), add = num_make(log(scale.v), 1, 0);
        if (!num_can_multiply(add, l->at[i].factor))
            continue;
        add = num_times(add, l->at[i].factor);
        if (!num_usable(shift->v + add.v))
            continue;
        int before = l->at[i].core, after = canon_intern(c, EXPR_LOG, 0, &t, 1);
        if (after < 0 || after == before)
            continue;
        c->at[before].alias = after;
        c->at[before].ratio = 1;
        *shift = num_make(shift->v + add.v, 1, 0);
        l->at[i].core = after;
    }
}

part canon_sum(canon *c, list *l, num shift)
{
    if (shift.free)
        release_logs(c, l, &shift);
    if (shift.v == 0 && l->n > 0)
        shift = num_zero;
    if (l->n == 0)
        return canon_constant(shift);
    if (l->n == 1)
        return (part){ shift, l->at[0].factor, l->at[0].core, 2 };
    canon_sort(c, l->at, l->n);
    int pivot = 0, good = 1;
    for (int i = l->n; i-- > 0;)
        if (!l->at[i].factor.free)
            pivot = i;
    num factor = l->at[pivot].factor, inverse = num_power_of(factor, -2);
    for (int i = 0; i < l->n; i++)
        good &= num_usable(l->at[i].factor.v / factor.v) && l->at[i].factor.v / factor.v != 0;
    if (num_is_one(factor) || !good || !num_usable(inverse.v)) {
        factor = num_one;
    } else {
        for (int i = 0; i < l->n; i++) {
            num *f = &l->at[i].factor;
            double v = f->v / factor.v;
            *f = i == pivot ? num_one
                            : num_make(v, f->free | factor.free,
                                       f->integer & factor.integer & (v == floor(v)));
        }
    }
    int k = canon_intern(c, EXPR_ADD, 0, l->at, l->n);
    return k < 0 ? canon_constant(num_zero) : (part){ shift, factor, k, 2 };
}

static part times_part(canon *c, part p, num by);

/* ---- products ---- */

void canon_factors_init(factors *m, num factor)
{
    m->todo.n = m->base.n = m->exponent.n = 0;
    m->factor = factor;
    m->shift = num_zero;
}

void canon_factors_add(factors *m, part p, int halves)
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
        num free_one = num_make(1, 1, 1);
        part made;
        const part *at = canon_parts_of(c, t->core);
        int n = k->count;
        if (k->op == EXPR_ADD) {
            /* The fixed terms stay together, with one free factor. */
            list all, group;
            all.n = group.n = 0;
            num none = num_zero;
            for (int i = 0; i < n; i++)
                if (!at[i].factor.free)
                    push(c, &group, at[i].factor, at[i].core);
            part g = canon_sum(c, &group, num_zero);
            g.factor.free = 1;
            release(c, &g);
            for (int i = 0; i < n; i++)
                if (at[i].factor.free)
                    push(c, &all, at[i].factor, at[i].core);
            canon_gather(c, &all, &none, g, num_one, 0);
            made = canon_sum(c, &all, num_zero);
        } else {
            factors m;
            canon_factors_init(&m, free_one);
            if (k->op == EXPR_ABS) {
                part inner = *at;
                num scale = canon_strip(c, &inner, 1, 1);
                scale.v = fabs(scale.v);
                if (num_merge(&m.factor, scale))
                    canon_factors_add(&m, canon_bare(canon_intern(c, EXPR_ABS, 0, &inner, 1)), 2);
                else
                    canon_factors_add(&m, *t, 2);
            } else if (k->op == EXPR_EXP) {
                canon_gather(c, &m.exponent, &m.shift, *at, num_one, 0);
            } else {
                for (int i = 0; i < n; i++)
                    canon_factors_add(&m, at[i], at[i].power);
            }
            made = canon_product(c, &m);
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
    num ratio = num_make(k->ratio, 1, 0);
    if (num_can_multiply(t->factor, ratio)) {
        t->factor = num_times(t->factor, ratio);
        t->core = k->alias;
    }
}

num canon_strip(canon *c, part *t, int whole, int outer)
{
    if (t->core < 0)
        return num_one;
    int plain = t->shift.v == 0;
    int tied = t->shift.tied;
    if (outer && (plain || (t->shift.free && !tied)))
        release(c, t);
    int by_shift = !plain && t->factor.free && !t->shift.free && !outer;
    num pivot = by_shift ? t->shift : t->factor, scale = pivot;
    if (!whole)
        scale.v = fabs(scale.v);
    if (num_is_one(scale))
        return num_one;
    double shift = t->shift.v / scale.v, factor = t->factor.v / scale.v;
    if (!num_usable(1 / scale.v) || !num_usable(shift) || (shift == 0) != plain ||
        !num_usable(factor) || factor == 0)
        return num_one;
    if (by_shift) {
        t->shift = num_make(shift, 0, 1);
        t->factor = num_make(factor, 1, 0);
        return scale;
    }
    const core *k = &c->at[t->core];
    int signs = !tied && (!plain || (k->op == EXPR_ADD && k->fixed < k->count));
    t->factor = whole ? num_one : num_make(factor, pivot.free && signs, 1);
    if (!plain)
        t->shift = (num){ .v = shift,
                          .free = !tied && (t->shift.free || scale.free),
                          .integer = t->shift.integer & scale.integer & (shift == floor(shift)) };
    return scale;
}

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
        int again =
            !num_is_one(t.factor) || canon_is(c, t.core, EXPR_MUL) || canon_is(c, t.core, EXPR_ABS);
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
    const part *at = canon_parts_of(c, t.core);
    int n = k->count;
    if (m->todo.n + m->base.n + n + 2 > TERMS_MAX)
        return 0;
    for (int i = 0; i < n; i++)
        if (abs(at[i].power) > HALVES_MAX / abs(t.power))
            return 0;
    if (t.power % 2 == 0) {
        if (!num_merge(&m->factor, num_power_of(t.factor, t.power)))
            return 0;
        for (int i = 0; i < n; i++)
            canon_factors_add(m, at[i], at[i].power * (t.power / 2));
        return 1;
    }
    /* Under a root only what is positive can leave the product. */
    list rest;
    rest.n = 0;
    for (int i = 0; i < n; i++)
        if (!canon_is(c, at[i].core, EXPR_EXP) || at[i].power != 2 || at[i].shift.v != 0 ||
            !num_is_one(at[i].factor))
            rest.at[rest.n++] = at[i];
    if (rest.n < n && m->exponent.n + TERMS_MAX / 2 < TERMS_MAX) {
        for (int i = 0; i < n; i++)
            if (canon_is(c, at[i].core, EXPR_EXP) && at[i].power == 2 && at[i].shift.v == 0 &&
                num_is_one(at[i].factor))
                canon_gather(c, &m->exponent, &m->shift, *canon_parts_of(c, at[i].core),
                             num_fixed(t.power / 2.0), 0);
        part left = canon_constant(t.factor);
        if (rest.n == 1 && rest.at[0].power == 2)
            left = times_part(c, rest.at[0], t.factor);
        else if (rest.n > 0)
            left = (part){ num_zero, t.factor, canon_intern(c, EXPR_MUL, 0, rest.at, rest.n), 2 };
        canon_factors_add(m, left, t.power);
        return 1;
    }
    if (n != 1 || at->power % 2 != 0 || t.factor.v < 0)
        return 0;
    num scale = num_power_of(t.factor, t.power);
    if (!num_merge(&m->factor, scale))
        return 0;
    int halves = at->power * t.power / 2;
    if (at->power % 4 == 0 && halves % 4 != 0) /* (b^2)^(1/2) = |b| */
        canon_factors_add(m, canon_absolute(c, *at), halves);
    else
        canon_factors_add(m, *at, halves);
    return 1;
}

/* Takes one factor in. */
static void take(canon *c, factors *m, part t, int outer)
{
    if (t.core < 0) {
        if (!num_merge(&m->factor, num_power_of(t.shift, t.power)))
            add_base(c, m, t);
        return;
    }
    int whole = t.power % 2 == 0;
    if (t.shift.v == 0) {
        const core *k = &c->at[t.core];
        if (k->op == EXPR_EXP && (whole || t.factor.v > 0) && m->exponent.n < TERMS_MAX / 2 &&
            num_merge(&m->factor, num_power_of(t.factor, t.power))) {
            canon_gather(c, &m->exponent, &m->shift, *canon_parts_of(c, t.core),
                         num_fixed(t.power / 2.0), 0);
            return;
        }
        if (k->op == EXPR_MUL && take_product(c, m, t))
            return;
        if (k->op == EXPR_ABS && t.power % 4 == 0 &&
            num_merge(&m->factor, num_power_of(t.factor, t.power))) {
            canon_factors_add(m, *canon_parts_of(c, t.core), t.power);
            return;
        }
    }
    part kept = t;
    num scale = canon_strip(c, &t, whole, outer);
    if (!num_merge(&m->factor, num_power_of(scale, t.power))) {
        add_base(c, m, kept);
        return;
    }
    int changed = t.core != kept.core && t.shift.v == 0;
    if (changed && (canon_is(c, t.core, EXPR_EXP) || canon_is(c, t.core, EXPR_MUL) ||
                    canon_is(c, t.core, EXPR_ABS)))
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
            if (t.factor.free || !canon_is(c, t.core, EXPR_LOG) || halves != floor(halves) ||
                fabs(halves) > 64 || m->todo.n + m->base.n >= TERMS_MAX - 2)
                continue;
            m->exponent.at[i] = m->exponent.at[--m->exponent.n];
            canon_factors_add(m, *canon_parts_of(c, t.core), (int)halves);
        }
    } while (m->todo.n > 0);
}

/* exp(shift) as a factor, where that is a number one can reckon with. */
static void take_shift(factors *m)
{
    num v = num_make(exp(m->shift.v), m->shift.free, 0);
    if (m->shift.v != 0 && fabs(m->shift.v) <= EXPONENT_MAX && num_merge(&m->factor, v))
        m->shift = num_zero;
}

part canon_product(canon *c, factors *m)
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
        part s = canon_sum(c, &m->exponent, hint);
        m->shift = s.shift;
        take_shift(m);
        s.shift = m->shift;
        if (s.core >= 0 || s.shift.v != 0) {
            s.power = 2;
            add_base(c, m, canon_bare(canon_intern(c, EXPR_EXP, 0, &s, 1)));
        }
    }
    if (m->base.n == 0 || m->factor.v == 0)
        return canon_constant(m->factor);
    part t = m->base.at[0];
    if (m->base.n == 1 && t.power == 2 && t.core >= 0 && num_can_multiply(t.shift, m->factor) &&
        num_can_multiply(t.factor, m->factor))
        return times_part(c, t, m->factor);
    canon_sort(c, m->base.at, m->base.n);
    int k = canon_intern(c, EXPR_MUL, 0, m->base.at, m->base.n);
    return k < 0 ? canon_constant(num_zero) : (part){ num_zero, m->factor, k, 2 };
}

/* p * by, which has been found usable. */
static part times_part(canon *c, part p, num by)
{
    int tied = p.shift.tied || (by.free && !p.shift.free && !p.factor.free);
    p.power = 2;
    p.shift = num_times(p.shift, by);
    if (p.core < 0)
        return p;
    if (p.shift.v == 0)
        p.shift = num_zero;
    p.factor = num_times(p.factor, by);
    int before = p.core;
    if (by.free)
        release(c, &p);
    p.shift.tied = p.shift.v != 0 && tied && p.core == before;
    return p;
}

part canon_power(canon *c, part p, int halves)
{
    factors m;
    canon_factors_init(&m, num_one);
    canon_factors_add(&m, p, halves);
    return canon_product(c, &m);
}

part canon_scaled(canon *c, part p, num by)
{
    if (by.v == 0)
        return canon_constant(by);
    if (!num_can_multiply(p.shift, by) || (p.core >= 0 && !num_can_multiply(p.factor, by)))
        return unmerged(c, p, by);
    return times_part(c, p, by);
}

part canon_product_of(canon *c, part p, int n, part q, int m)
{
    if (p.core < 0 && n == 2 && m == 2)
        return canon_scaled(c, q, p.shift);
    num v = q.core < 0 ? num_power_of(q.shift, m) : num_zero;
    if (q.core < 0 && n == 2 && num_usable(v.v) && v.v != 0)
        return canon_scaled(c, p, v);
    factors f;
    canon_factors_init(&f, num_one);
    canon_factors_add(&f, p, n);
    canon_factors_add(&f, q, m);
    return canon_product(c, &f);
}

part canon_sum_of(canon *c, part p, part q, num sign)
{
    list l;
    l.n = 0;
    num shift = num_zero;
    canon_gather(c, &l, &shift, p, num_one, 1);
    canon_gather(c, &l, &shift, q, sign, 0);
    return canon_sum(c, &l, shift);
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
        part none = canon_constant(num_zero);
        part p = arity > 0 ? parts[expr_child(e, i, 0)] : none;
        part q = arity > 1 ? parts[expr_child(e, i, 1)] : none;
        parts[i] = canon_part_of(&c, &e.node[i], p, q);
    }
    if (c.failed)
        return status_nomem(st);
    const part root = parts[0];
    for (size_t i = e.count; i-- > 0;) { /* the root comes last */
        part t = parts[i];
        t.factor.free = 1;
        release(&c, &t);
        out->factor_of[i] = t.core < 0 ? 0 : t.factor.v;
        if (i == 0)
            parts[0] = t;
    }
    if (c.failed)
        return status_nomem(st);
    out->shift = root.shift.v;
    out->shift_free = root.shift.free;
    out->factor = out->factor_of[0];
    out->factor_free = root.core >= 0 && root.factor.free;
    out->hash = root.core < 0 ? 0 : c.at[parts[0].core].form;
    return canon_write(out, &c, &root, parts, e.count, a, st);
}
