/* canonical_int.h - parts, cores and lists of terms; for the files canonical*.c only. */
#ifndef EXPR_CANONICAL_INT_H
#define EXPR_CANONICAL_INT_H

#include <math.h>

#include "expr/expr_int.h"

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
    uint64_t key;         /* where it stands in the table */
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

/* A product while it is being collected. */
typedef struct factors {
    list todo, base;
    list exponent; /* of e: all exponentials together */
    num factor, shift;
} factors;

/* ---- numbers ---- */

static const num num_zero = { 0, 0, 1, 0 }, num_one = { 1, 0, 1, 0 }, num_minus = { -1, 0, 1, 0 };

/* A number that may take the place of what it was computed from. */
static inline int num_usable(double v)
{
    return isfinite(v) && (v == 0 || fabs(v) > 1e-300);
}

static inline num num_make(double v, int is_free, int integer)
{
    return (num){ .v = v, .free = is_free != 0, .integer = integer != 0 };
}

static inline int num_is_one(num a)
{
    return a.v == 1 && !a.free;
}

static inline num num_fixed(double v)
{
    return num_make(v, 0, v == floor(v) && fabs(v) < 1e9);
}

/* Fixed numbers that were divided by each other come back to 1. */
static inline num num_times(num a, num b)
{
    double v = a.v * b.v;
    if (fabs(fabs(v) - 1) < 1e-15 && !a.free && !b.free)
        v = copysign(1, v);
    return num_make(v, a.free | b.free, a.integer & b.integer & (fabs(v) < 1e9));
}

/* Whether a * b may take the place of both; it is 0 only if one of them is. */
static inline int num_can_multiply(num a, num b)
{
    double v = a.v * b.v;
    return num_usable(v) && (v != 0 || a.v == 0 || b.v == 0);
}

static inline num num_plus(num a, num b)
{
    if (a.v == 0)
        return b;
    if (b.v == 0)
        return a;
    double v = a.v + b.v;
    return num_make(v, a.free | b.free, a.integer & b.integer & (fabs(v) < 1e9));
}

/* a^(halves/2) */
static inline num num_power_of(num a, int halves)
{
    double v = halves == 2    ? a.v
               : halves == 4  ? a.v * a.v
               : halves == 6  ? a.v * a.v * a.v
               : halves == -2 ? 1 / a.v
               : halves == 1  ? sqrt(a.v)
                              : pow(a.v, halves / 2.0);
    int integer = a.integer && (a.v == 1 || (halves > 0 && halves % 2 == 0 && fabs(v) < 1e9));
    return num_make(v, a.free, integer);
}

/* *a *= b if that is usable. */
static inline int num_merge(num *a, num b)
{
    if (!num_usable(b.v) || !num_can_multiply(*a, b))
        return 0;
    *a = num_times(*a, b);
    return 1;
}

static inline part canon_constant(num v)
{
    return (part){ .shift = v, .factor = num_zero, .core = CONSTANT, .power = 2 };
}

static inline part canon_bare(int core)
{
    return core < 0 ? canon_constant(num_zero) : (part){ num_zero, num_one, core, 2 };
}

static inline int canon_is(const canon *c, int core, expr_op op)
{
    return core >= 0 && c->at[core].op == op;
}

static inline const part *canon_parts_of(const canon *c, int core)
{
    return &c->item[c->at[core].first];
}

/* ---- canonical.c ---- */

/* Puts parts into the fixed order. */
void canon_sort(const canon *c, part *at, int n);

/* The place of the core with these parts. CONSTANT when memory is out. */
int canon_intern(canon *c, int op, uint16_t var, const part *at, int n);

/* Whether factor * sum is written, and added to others, term by term. A free factor of fixed terms
 * is one constant and stays one. */
int canon_spreads(const canon *c, const part *t);

/* Adds p * by to the terms and the shift; `more` terms must still find room afterwards. */
void canon_gather(canon *c, list *l, num *shift, part p, num by, int more);

/* The sum of the terms, each core at most once. A free shift of 0 means that there will be one. */
part canon_sum(canon *c, list *l, num shift);

/* An empty product with that factor, to which p^(halves/2) is added; then all of it taken
 * together. */
void canon_factors_init(factors *m, num factor);
void canon_factors_add(factors *m, part p, int halves);

part canon_product(canon *c, factors *m);

/* Takes the scale out of a base d + f*core and returns it: with its sign if `whole`, else without.
 * It is f, so that the core's coefficient is 1 or a sign, but d where that alone is fixed, unless
 * `outer`: then there is a free factor to take what is lost. A sign of a free number is written
 * even if it is +1, so that both signs have one structure. */
num canon_strip(canon *c, part *t, int whole, int outer);

/* p^(halves/2) */
part canon_power(canon *c, part p, int halves);

/* p * by */
part canon_scaled(canon *c, part p, num by);

/* p^n * q^m, powers in halves. */
part canon_product_of(canon *c, part p, int n, part q, int m);

/* p + sign * q */
part canon_sum_of(canon *c, part p, part q, num sign);

/* ---- canonical_functions.c ---- */

/* |p| */
part canon_absolute(canon *c, part p);

/* The node n, given the parts of its operands. */
part canon_part_of(canon *c, const expr_node *n, part p, part q);

/* ---- canonical_write.c ---- */

/* Writes `whole` as out->e, and the core of the first of parts[0..n), one per node of the given
 * formula, as out->core; and where the others stand in that. */
snip_code canon_write(expr_form *out, const canon *c, const part *whole, const part *parts,
                      size_t n, arena *a, snip_status *st);

#endif
