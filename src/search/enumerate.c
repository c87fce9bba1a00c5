/* enumerate.c - all small formulas that behave differently, and all products, ratios and sums of
 * two of them.
 *
 * Parts (parts.h) are made in the order of their weight, each operator over all parts so far; what
 * behaves like a part that is there already is dropped. Each new one is held against y and against
 * transforms of y (target.h). Then the two ends meet: if g(y) = f*h, then g(y)/f looks like some
 * part h, which the index of the parts finds at once. So n parts decide on n^2 formulas. On clean
 * data a meeting is exact; on noisy data many are near, and the best of them are tried.
 *
 * A round makes a fixed number of parts in a fixed number of jobs; new parts enter after the round,
 * in the order of the jobs. */
#include <math.h>
#include <string.h>

#include "search/build.h"
#include "search/parts.h"
#include "search/target.h"
#include "search/values.h"

enum {
    JOBS = 8,
    BLOCK = 2000, /* pairs of a job in a round, at most */
    BLOCK_MIN = 100,
    MEET_BLOCK = 1500, /* parts of a job in a round of meetings */
    PAIR_OPS = 5,      /* of two parts: sum, difference, product, two ratios */
    BEST = 48,         /* formulas kept of each target, between offers */
    OFFER_EACH = 3,    /* of them, offered of each target */
    OFFER_ALL = 24,    /* and of all targets together */
    OFFER_OPEN = 6,    /* and with free numbers inside */
    OFFER_BLOCK = 3,   /* formulas of a job that offers */
    MEETINGS = 64,     /* near parts that are looked at */
    COLUMNS_MAX = 10,  /* of a view with more, those that go with y most closely */
    PARTS_ROOT = 1000000,
    PARTS_DERIVED = 60000,
    FIRST_MEETING = 1000, /* parts at which the ends meet for the first time */
    NEARLY_MAX = 60000,   /* parts up to which near meetings are as quick as exact ones */
    MEETING_GROWTH = 4,   /* and again whenever there are so many times more */
    LEVEL_MAX = 16
};

#define SHARE_ROOT    0.18 /* of the budget */
#define SHARE_DERIVED 0.03
#define LARGE_TERM    30.0  /* a term of a sum may be so many times as large as the target */
#define PERFECT       1e-10 /* 1 - r^2 on a few rows that is offered at once */
#define HOPELESS      0.7   /* and that is not offered at all */

/* How near a part must be to meet: on clean data, and where y has noise of up to about 2 %. */
#define MEET_EXACTLY 1e-5
#define MEET_NEARLY  3e-3

/* The operators of one operand, in the order in which they are tried. */
static const struct {
    expr_op op;
    uint8_t weight;
    uint8_t factors; /* places in search_parts_factor that are tried */
    uint8_t flags;
} unary[] = {
    { EXPR_POW2, 1, 1, 0 },
    { EXPR_INV, 2, 1, 0 },
    { EXPR_SQRT, 2, 1, PART_ROOT },
    { EXPR_EXP, 2, 3, PART_FUNCTION },
    { EXPR_LOG, 2, 1, PART_FUNCTION },
    { EXPR_SIN, 2, 4, PART_FUNCTION },
    { EXPR_COS, 2, 4, PART_FUNCTION },
    { EXPR_TANH, 3, 3, PART_FUNCTION },
    { EXPR_POW3, 2, 1, 0 },
    { EXPR_TAN, 3, 1, PART_FUNCTION },
    { EXPR_ARCTAN, 3, 1, PART_FUNCTION },
    { EXPR_ARCSIN, 3, 1, PART_FUNCTION },
    { EXPR_ARCCOS, 3, 1, PART_FUNCTION },
    { EXPR_ABS, 2, 1, PART_ROOT },
    { EXPR_SINH, 2, 1, PART_FUNCTION },
    { EXPR_COSH, 2, 1, PART_FUNCTION },
    { EXPR_ERF, 2, 1, PART_FUNCTION },
    { EXPR_CBRT, 2, 1, PART_ROOT },
    { EXPR_LOG1P, 2, 1, PART_FUNCTION },
    { EXPR_EXPM1, 2, 1, PART_FUNCTION },
};

/* A formula that goes with a target: a part, or f + c*h of two. */
typedef struct hit {
    part q;
    double c; /* not 0: q.a + c * q.b, or - q.a + c * q.b where q.op is EXPR_SUB */
    double loss;
    target_kind target;
    int offered;
} hit;

/* The best of a target, best first. */
typedef struct best_list {
    hit at[BEST];
    size_t count;
} best_list;

/* One kind of new part: an operator of one operand, or all of two, over ranges of parts. */
typedef struct segment {
    uint8_t op, factor, flags; /* op EXPR_ADD: all operators of two */
    size_t a, a_count, b, b_count;
} segment;

enum { SEGMENTS_MAX = 128 };

/* A new part of a job. */
typedef struct made {
    part q;
    float loss[TARGET_KINDS];
    float value[SEARCH_FEW];
} made;

typedef struct work {
    search *s;
    const search_view *v;
    arena *a;
    double until; /* share of the budget at which the stage ends */
    parts p;
    size_t column[COLUMNS_MAX], columns;
    int repeats; /* columns that a part may have more than once */
    /* Targets: values on the few rows, centred and of length 1; and samples for a closer look. */
    int has[TARGET_KINDS];
    double raw[TARGET_KINDS][SEARCH_FEW];
    double unit[TARGET_KINDS][SEARCH_FEW];
    double length[TARGET_KINDS]; /* of the raw values */
    search_view view[TARGET_KINDS];
    search_sample *some[TARGET_KINDS];
    /* The level that is being made. */
    segment segment[SEGMENTS_MAX];
    size_t segments, candidates, next;
    size_t start[LEVEL_MAX + 2]; /* of the parts of each weight */
    size_t weight;
    size_t pairs; /* of a job in a round */
    made *made[JOBS];
    size_t made_count[JOBS];
    best_list best[TARGET_KINDS];
    /* Meetings. */
    parts_index index;
    target_kind target;
    size_t met;        /* parts that were looked at */
    size_t met_before; /* parts whose products were met to this tolerance before */
    best_list meeting[JOBS];
    /* Offers. */
    hit *offer;
    size_t offers, open;
} work;

/* ---- what is best ---- */

static void best_add(best_list *l, const hit *h)
{
    size_t at = l->count;
    if (at == BEST && !(h->loss < l->at[BEST - 1].loss))
        return;
    while (at > 0 && l->at[at - 1].loss > h->loss)
        at--;
    /* The same loss to many digits is the same function, or one as good. */
    if ((at > 0 && h->loss - l->at[at - 1].loss <= 1e-7 * h->loss) ||
        (at < l->count && l->at[at].loss - h->loss <= 1e-7 * h->loss &&
         l->at[at].q.weight <= h->q.weight))
        return;
    size_t end = l->count < BEST ? l->count++ : BEST - 1;
    memmove(l->at + at + 1, l->at + at, (end - at) * sizeof *l->at);
    l->at[at] = *h;
}

static int by_loss(const void *a, const void *b)
{
    const hit *p = a, *q = b;
    return (p->loss > q->loss) - (p->loss < q->loss);
}

/* ---- offers ---- */

static expr formula_of(const work *w, const hit *h, int open, arena *a)
{
    if (h->c == 0)
        return search_parts_formula(&w->p, &h->q, w->column, open, a);
    expr f = search_parts_formula(&w->p, &w->p.at[h->q.a], w->column, open, a);
    expr g = search_parts_formula(&w->p, &w->p.at[h->q.b], w->column, open, a);
    g = search_binary(EXPR_MUL, search_number(h->c, a), g, a);
    if (h->q.op == EXPR_SUB)
        return search_binary(EXPR_SUB, g, f, a);
    return search_binary(EXPR_ADD, f, g, a);
}

static void offer(search_job *j, void *context)
{
    work *w = context;
    for (size_t k = j->index * OFFER_BLOCK; k < (j->index + 1) * OFFER_BLOCK && k < w->offers;
         k++) {
        if (search_job_over(j))
            return;
        const hit *h = &w->offer[k];
        const search_view *v = &w->view[h->target];
        expr e = formula_of(w, h, 0, j->a);
        double loss = e.node ? search_offer(j, v, e) : INFINITY;
        if (k < w->open && loss > PERFECT) {
            e = formula_of(w, h, 1, j->a);
            if (e.node)
                search_offer_hard(j, v, e, 3);
        }
    }
}

/* Looks at the hits on more rows and offers the best. */
static snip_code offer_best(work *w, hit *h, size_t n, snip_status *st)
{
    search *s = w->s;
    arena_pos mark = arena_mark(w->a);
    size_t each[TARGET_KINDS] = { 0 }, kept = 0;
    hit *out = arena_array(w->a, n + 1, sizeof *out);
    arena *tmp = arena_new(0);
    if (!out || !tmp) {
        arena_free(tmp);
        return status_nomem(st);
    }
    for (size_t k = 0; k < n; k++) {
        arena_pos t = arena_mark(tmp);
        expr e = formula_of(w, &h[k], 0, tmp);
        h[k].loss = e.node ? search_sample_loss(w->some[h[k].target], e) : INFINITY;
        arena_reset(tmp, t);
    }
    arena_free(tmp);
    qsort(h, n, sizeof *h, by_loss);
    for (size_t k = 0; k < n; k++)
        if (h[k].loss < HOPELESS && (kept < OFFER_ALL || each[h[k].target] < OFFER_EACH)) {
            out[kept++] = h[k];
            each[h[k].target]++;
        }
    w->offer = out;
    w->offers = kept;
    w->open = kept < OFFER_OPEN ? kept : OFFER_OPEN;
    snip_code code = SNIP_OK;
    if (kept > 0)
        code = search_round(s, (kept + OFFER_BLOCK - 1) / OFFER_BLOCK, UINT64_MAX, offer, w, st);
    arena_reset(w->a, mark);
    return code;
}

/* Offers what was found since the last time: all of it, or only what is perfect. */
static snip_code offer_lists(work *w, int perfect, snip_status *st)
{
    hit all[TARGET_KINDS * BEST];
    size_t n = 0;
    for (size_t g = 0; g < TARGET_KINDS; g++) {
        best_list *l = &w->best[g];
        for (size_t k = 0; k < l->count; k++)
            if (!l->at[k].offered && (!perfect || l->at[k].loss < PERFECT)) {
                l->at[k].offered = 1;
                all[n++] = l->at[k];
            }
        if (!perfect)
            l->count = 0;
    }
    return n ? offer_best(w, all, n, st) : SNIP_OK;
}

/* ---- new parts ---- */

/* Measures a candidate and keeps it if it is new. */
static void take(work *w, size_t job, part *q, const double *value)
{
    const parts *p = &w->p;
    if (!search_parts_measure(q, p, value))
        return;
    int full = p->count == p->max;
    if (search_parts_find(p, q) >= 0)
        return;
    made *m = &w->made[job][w->made_count[job]];
    m->q = *q;
    double mean = 0, square = 0;
    for (size_t i = 0; i < p->rows; i++) {
        mean += value[i];
        square += value[i] * value[i];
    }
    mean /= (double)p->rows;
    double size = square - (double)p->rows * mean * mean;
    int any = 0;
    for (size_t g = 0; g < TARGET_KINDS; g++) {
        m->loss[g] = 1;
        if (!w->has[g])
            continue;
        double with = 0;
        for (size_t i = 0; i < p->rows; i++)
            with += value[i] * w->unit[g][i];
        m->loss[g] = (float)fmax(0, 1 - with * with / size);
        const best_list *l = &w->best[g];
        any |= l->count < BEST || m->loss[g] < l->at[BEST - 1].loss;
    }
    if (full && !any)
        return;
    for (size_t i = 0; i < p->rows; i++)
        m->value[i] = (float)value[i];
    w->made_count[job]++;
}

/* Whether an operator of a part says something that others do not say, and that people say. */
static int makes_sense(const segment *g, const part *of)
{
    int sum = of->op == EXPR_ADD || of->op == EXPR_SUB, variable = of->op == EXPR_VARIABLE;
    int product = of->op == EXPR_MUL || of->op == EXPR_DIV;
    if (of->flags & PART_CONSTANT || (g->flags & of->flags & PART_FUNCTION))
        return 0;
    if (g->factor && !variable && !product && !(of->op == EXPR_SUB) && of->op != EXPR_POW2)
        return 0;
    switch (g->op) {
    case EXPR_SQRT: /* the root of a product is a product of roots */
    case EXPR_INV:
        return variable || sum || (of->flags & PART_FUNCTION && !product && of->op != EXPR_INV);
    case EXPR_POW2:
    case EXPR_POW3:
        return of->op != EXPR_SQRT && of->op != EXPR_POW2 && of->op != EXPR_POW3 &&
               (!product || of->weight <= 3);
    case EXPR_EXP: /* exp(1 + u) is a factor times exp(u) */
    case EXPR_SIN:
    case EXPR_COS:
    case EXPR_TAN:
    case EXPR_TANH:
        return !(of->flags & PART_SHIFTED);
    default:
        return 1;
    }
}

static void make_unary(work *w, size_t job, const segment *g, size_t i, double *a, double *out)
{
    const part *of = &w->p.at[g->a + i];
    if (!makes_sense(g, of))
        return;
    part q = { .a = (uint32_t)(g->a + i),
               .b = 0,
               .op = g->op,
               .factor = g->factor,
               .weight = (uint8_t)w->weight,
               .used = of->used,
               .twice = of->twice,
               .flags = (uint8_t)((of->flags & ~PART_SHIFTED) | g->flags) };
    search_parts_load(a, &w->p, q.a);
    search_parts_apply(out, &w->p, &q, a, NULL);
    take(w, job, &q, out);
}

static void make_binary(work *w, size_t job, size_t ia, size_t ib, const double *a, double *b,
                        double *out)
{
    static const struct {
        expr_op op;
        int turned;
    } ops[PAIR_OPS] = {
        { EXPR_MUL, 0 }, { EXPR_DIV, 0 }, { EXPR_DIV, 1 }, { EXPR_ADD, 0 }, { EXPR_SUB, 0 }
    };
    const search *s = w->s;
    const part *pa = &w->p.at[ia], *pb = &w->p.at[ib];
    int constant = (pa->flags | pb->flags) & PART_CONSTANT;
    if (constant && ((pa->flags & pb->flags & PART_CONSTANT) || (pb->flags & PART_SHIFTED)))
        return;
    /* Columns that appear again and again in one part are rare in formulas of many columns. */
    uint16_t twice = pa->twice | pb->twice | (pa->used & pb->used);
    if ((pa->twice & pb->used) | (pa->used & pb->twice) ? w->columns > 2
                                                        : __builtin_popcount(twice) > w->repeats)
        return;
    search_parts_load(b, &w->p, ib);
    for (size_t k = constant ? 3 : 0; k < PAIR_OPS; k++) {
        if (!search_may(s, ops[k].op) || (ia == ib && ops[k].op != EXPR_MUL))
            continue;
        part q = { .a = (uint32_t)(ops[k].turned ? ib : ia),
                   .b = (uint32_t)(ops[k].turned ? ia : ib),
                   .op = (uint8_t)ops[k].op,
                   .weight = (uint8_t)w->weight,
                   .used = pa->used | pb->used,
                   .twice = twice,
                   .flags = (pa->flags | pb->flags) & PART_FUNCTION };
        q.flags |= constant ? PART_SHIFTED : 0;
        search_parts_apply(out, &w->p, &q, ops[k].turned ? b : a, ops[k].turned ? a : b);
        take(w, job, &q, out);
    }
}

static void make(search_job *j, void *context)
{
    work *w = context;
    double a[SEARCH_FEW], b[SEARCH_FEW], out[SEARCH_FEW];
    size_t first = w->next + j->index * w->pairs, last = first + w->pairs, loaded = SIZE_MAX;
    last = last < w->candidates ? last : w->candidates;
    size_t k = 0, before = 0;
    for (size_t i = first; i < last; i++) {
        if (i % 64 == 0 && search_job_over(j))
            return;
        const segment *g;
        for (;; k++) {
            g = &w->segment[k];
            size_t of = g->a_count * g->b_count;
            if (i < before + of)
                break;
            before += of;
        }
        if (g->op != EXPR_ADD) {
            search_count(j, 1);
            make_unary(w, j->index, g, i - before, a, out);
            loaded = SIZE_MAX;
            continue;
        }
        size_t ia = g->a + (i - before) / g->b_count, ib = g->b + (i - before) % g->b_count;
        if (g->a == g->b && ib < ia)
            continue;
        search_count(j, PAIR_OPS);
        if (loaded != ia)
            search_parts_load(a, &w->p, ia);
        loaded = ia;
        make_binary(w, j->index, ia, ib, a, b, out);
    }
}

/* New parts of a round into the table, in the order of the jobs. */
static void merge(work *w)
{
    for (size_t k = 0; k < JOBS; k++) {
        for (size_t i = 0; i < w->made_count[k]; i++) {
            const made *m = &w->made[k][i];
            if (w->p.count < w->p.max && !search_parts_add(&w->p, &m->q, m->value))
                continue;
            for (size_t g = 0; g < TARGET_KINDS; g++)
                if (w->has[g] && m->loss[g] < HOPELESS)
                    best_add(&w->best[g],
                             &(hit){ .q = m->q, .loss = m->loss[g], .target = (target_kind)g });
        }
        w->made_count[k] = 0;
    }
}

static void add_segment(work *w, segment g)
{
    if (g.a_count == 0 || g.b_count == 0 || w->segments == SEGMENTS_MAX)
        return;
    w->segment[w->segments++] = g;
    w->candidates += g.a_count * g.b_count;
}

static int may_unary(const search *s, expr_op op)
{
    switch (op) {
    case EXPR_POW2:
    case EXPR_POW3:
        return search_may(s, EXPR_MUL) || search_may(s, EXPR_POW);
    case EXPR_INV:
        return search_may(s, EXPR_DIV);
    default:
        return search_may(s, op);
    }
}

/* What a level is made of. */
static void plan_level(work *w, size_t weight)
{
    const size_t *start = w->start;
    w->weight = weight;
    w->segments = w->candidates = w->next = 0;
    for (size_t k = 0; k < sizeof unary / sizeof *unary; k++)
        for (uint8_t f = 0; f < unary[k].factors; f++) {
            size_t cost = unary[k].weight + (f > 0 ? 1u : 0u);
            if (!may_unary(w->s, unary[k].op) || cost >= weight)
                continue;
            size_t of = weight - cost;
            add_segment(w, (segment){ .op = (uint8_t)unary[k].op,
                                      .factor = f,
                                      .flags = unary[k].flags,
                                      .a = start[of],
                                      .a_count = start[of + 1] - start[of],
                                      .b_count = 1 });
        }
    for (size_t wa = 1; 2 * wa + 1 <= weight; wa++) {
        size_t wb = weight - 1 - wa;
        add_segment(w, (segment){ .op = EXPR_ADD,
                                  .a = start[wa],
                                  .a_count = start[wa + 1] - start[wa],
                                  .b = start[wb],
                                  .b_count = start[wb + 1] - start[wb] });
    }
}

static int stage_over(const work *w)
{
    return search_over(w->s) || search_spent(w->s) >= w->until;
}

/* All parts of a weight. */
static snip_code make_level(work *w, size_t weight, double until, snip_status *st)
{
    snip_code code = SNIP_OK;
    plan_level(w, weight);
    while (w->next < w->candidates && code == SNIP_OK && !search_over(w->s) &&
           search_spent(w->s) < until) {
        size_t left = w->candidates - w->next, jobs = (left + w->pairs - 1) / w->pairs;
        jobs = jobs < JOBS ? jobs : JOBS;
        code = search_round(w->s, jobs, UINT64_MAX, make, w, st);
        w->next += jobs * w->pairs;
        merge(w);
        if (code == SNIP_OK)
            code = offer_lists(w, 1, st);
    }
    w->start[weight + 1] = w->p.count;
    if (code == SNIP_OK && !search_over(w->s))
        code = offer_lists(w, 0, st);
    return code;
}

/* ---- meetings ---- */

/* The ways in which a target may be made of a known part f and one h that is looked up. */
typedef enum way { PRODUCT, RATIO, TURNED_RATIO, SUM, DIFFERENCE, WAYS } way;

/* What h has to look like. */
static void wanted(double *t, way how, const double *y, const double *f, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        switch (how) {
        case PRODUCT: /* y = f*h */
            t[i] = y[i] / f[i];
            break;
        case RATIO: /* y = f/h */
            t[i] = f[i] / y[i];
            break;
        case TURNED_RATIO: /* y = h/f */
            t[i] = y[i] * f[i];
            break;
        case SUM: /* y = f + c*h */
            t[i] = y[i] - f[i];
            break;
        default: /* y = c*h - f */
            t[i] = y[i] + f[i];
        }
}

/* What the formula of f and h leaves of the target; c is the factor of h in a sum. */
static double met_loss(const work *w, target_kind g, way how, const double *f, const float *h,
                       double c)
{
    double u[SEARCH_FEW];
    for (size_t i = 0; i < w->p.rows; i++)
        switch (how) {
        case PRODUCT:
            u[i] = f[i] * (double)h[i];
            break;
        case RATIO:
            u[i] = f[i] / (double)h[i];
            break;
        case TURNED_RATIO:
            u[i] = (double)h[i] / f[i];
            break;
        case SUM:
            u[i] = f[i] + c * (double)h[i];
            break;
        default:
            u[i] = c * (double)h[i] - f[i];
        }
    return w->p.vec->unexplained(u, w->unit[g], w->p.rows);
}

static void meet_one(work *w, best_list *out, size_t f, const double *value, target_kind g, way how)
{
    const parts *p = &w->p;
    double t[SEARCH_FEW];
    uint32_t near[MEETINGS];
    part q = { .op = 0 };
    /* Beside a large term the target itself is lost. */
    if (how >= SUM && fabsf(p->at[f].length) > LARGE_TERM * w->length[g])
        return;
    wanted(t, how, w->raw[g], value, p->rows);
    if (!search_parts_measure(&q, p, t))
        return;
    size_t n = search_parts_near(near, MEETINGS, &w->index, &q);
    for (size_t k = 0; k < n; k++) {
        size_t h = near[k];
        const float *v = p->value + h * p->rows;
        /* Keys that agree make the ratio of the lengths the factor. */
        double c = (double)q.length / (double)p->at[h].length, loss;
        if (how >= SUM && fabsf(p->at[h].length) * fabs(c) > LARGE_TERM * w->length[g])
            continue;
        loss = met_loss(w, g, how, value, v, c);
        if (!(loss < HOPELESS) || (out->count == BEST && loss >= out->at[BEST - 1].loss))
            continue;
        hit found = { .loss = loss, .target = g };
        found.q.weight = (uint8_t)(p->at[f].weight + p->at[h].weight + 1);
        found.q.a = (uint32_t)(how == TURNED_RATIO ? h : f);
        found.q.b = (uint32_t)(how == TURNED_RATIO ? f : h);
        found.q.op = how == PRODUCT        ? EXPR_MUL
                     : how <= TURNED_RATIO ? EXPR_DIV
                     : how == SUM          ? EXPR_ADD
                                           : EXPR_SUB;
        if (how >= SUM)
            found.c = c;
        best_add(out, &found);
    }
}

static void meet(search_job *j, void *context)
{
    work *w = context;
    const parts *p = &w->p;
    double value[SEARCH_FEW];
    size_t first = w->met + j->index * MEET_BLOCK, last = first + MEET_BLOCK;
    last = last < p->count ? last : p->count;
    w->meeting[j->index].count = 0;
    /* 1/y = f*h is y = (1/f)/h, and exp(y) = f*h a sum of logarithms. */
    target_kind g = w->target;
    int products = g != TARGET_INVERSE && g != TARGET_INVERSE_SQUARE && g != TARGET_EXP;
    for (size_t f = first; f < last; f++) {
        if (f % 16 == 0 && search_job_over(j))
            return;
        search_parts_load(value, p, f);
        /* Of a product with a part that is not new, the other one is: it finds the first. */
        for (int how = products && f >= w->met_before ? 0 : SUM; how < WAYS; how++) {
            search_count(j, 1);
            meet_one(w, &w->meeting[j->index], f, value, g, (way)how);
        }
    }
}

/* All pairs of parts against all targets, to a tolerance. */
static snip_code meet_all(work *w, double tolerance, double until, snip_status *st)
{
    /* Those first that people need most often. */
    static const target_kind order[] = { TARGET_SAME, TARGET_SQUARE, TARGET_INVERSE,
                                         TARGET_LOG,  TARGET_EXP,    TARGET_INVERSE_SQUARE };
    arena_pos mark = arena_mark(w->a);
    snip_code code = SNIP_OK;
    if (!search_parts_index_make(&w->index, &w->p, tolerance, w->a))
        return status_nomem(st);
    for (size_t k = 0; k < sizeof order / sizeof *order && code == SNIP_OK; k++) {
        w->target = order[k];
        if (!w->has[w->target])
            continue;
        for (w->met = 1; w->met < w->p.count && code == SNIP_OK && !search_over(w->s) &&
                         search_spent(w->s) < until;
             w->met += JOBS * MEET_BLOCK) {
            size_t left = w->p.count - w->met, jobs = (left + MEET_BLOCK - 1) / MEET_BLOCK;
            jobs = jobs < JOBS ? jobs : JOBS;
            code = search_round(w->s, jobs, UINT64_MAX, meet, w, st);
            for (size_t j = 0; j < jobs; j++)
                for (size_t i = 0; i < w->meeting[j].count; i++)
                    best_add(&w->best[w->target], &w->meeting[j].at[i]);
            if (code == SNIP_OK)
                code = offer_lists(w, 1, st);
        }
        if (code == SNIP_OK && !search_over(w->s))
            code = offer_lists(w, 0, st);
    }
    arena_reset(w->a, mark);
    return code;
}

/* ---- the stage ---- */

/* r^2 of a column with the target, the better one of the column and its logarithm. */
static double goes_with(const double *x, const search_sample *p)
{
    double v[SEARCH_SOME];
    double loss = p->vec->unexplained(x, p->y, p->rows);
    for (size_t i = 0; i < p->rows; i++)
        v[i] = log(fabs(x[i]) + 1e-300);
    return fmin(loss, p->vec->unexplained(v, p->y, p->rows));
}

/* The columns that are used: all, or those that the front uses and that go with y. */
static void choose_columns(work *w)
{
    const search_view *v = w->v;
    double loss[SEARCH_INPUTS_MAX];
    int taken[SEARCH_INPUTS_MAX] = { 0 };
    size_t dim = v->dim < SEARCH_INPUTS_MAX ? v->dim : SEARCH_INPUTS_MAX, count;
    const search_entry *front = search_front(w->s, &count);
    for (size_t j = 0; j < dim; j++) {
        loss[j] = goes_with(v->x[j], w->some[TARGET_SAME]);
        if (v->depth > 0)
            continue;
        for (size_t k = 0; k < count; k++) /* a formula of the front vouches for its inputs */
            if (expr_uses(front[k].e, j))
                loss[j] = fmin(loss[j], front[k].loss[0]);
    }
    for (w->columns = 0; w->columns < dim && w->columns < COLUMNS_MAX; w->columns++) {
        size_t best = SIZE_MAX;
        for (size_t j = 0; j < dim; j++)
            if (!taken[j] && (best == SIZE_MAX || loss[j] < loss[best]))
                best = j;
        taken[best] = 1;
        w->column[w->columns] = best;
    }
}

static int prepare_targets(work *w)
{
    target t[TARGETS_MAX];
    size_t count, rows = w->p.rows;
    if (!search_targets_make(t, &count, w->s, w->v, w->a))
        return 0;
    for (size_t k = 0; k < count; k++) {
        size_t g = t[k].which;
        const double *y = t[k].view.y;
        double mean = 0, size = 0;
        w->view[g] = t[k].view;
        w->some[g] = arena_array(w->a, 1, sizeof *w->some[g]);
        if (!w->some[g])
            return 0;
        if (!search_sample_make(w->some[g], w->v->x, y, w->v->rows))
            continue;
        for (size_t i = 0; i < rows; i++) {
            w->raw[g][i] = y[i];
            mean += y[i] / (double)rows;
            w->length[g] += y[i] * y[i];
        }
        w->length[g] = sqrt(w->length[g]);
        for (size_t i = 0; i < rows; i++)
            size += (y[i] - mean) * (y[i] - mean);
        for (size_t i = 0; i < rows; i++)
            w->unit[g][i] = (y[i] - mean) / sqrt(size);
        w->has[g] = size > 0;
    }
    return 1;
}

/* The number 1 and the columns. */
static void first_parts(work *w)
{
    double value[SEARCH_FEW];
    float kept[SEARCH_FEW];
    part one = { .op = EXPR_NUMBER, .weight = 1, .flags = PART_CONSTANT | PART_SHIFTED };
    one.length = (float)sqrt((double)w->p.rows);
    for (size_t i = 0; i < w->p.rows; i++)
        kept[i] = 1;
    w->start[0] = w->start[1] = 0;
    search_parts_add(&w->p, &one, kept);
    for (size_t k = 0; k < w->columns; k++) {
        part q = {
            .op = EXPR_VARIABLE, .a = (uint32_t)k, .weight = 1, .used = (uint16_t)(1u << k)
        };
        for (size_t i = 0; i < w->p.rows; i++) {
            value[i] = w->v->x[w->column[k]][i];
            kept[i] = (float)value[i];
        }
        if (search_parts_measure(&q, &w->p, value))
            search_parts_add(&w->p, &q, kept);
    }
    w->start[2] = w->p.count;
}

static snip_code enumerate(work *w, snip_status *st)
{
    double begun = search_spent(w->s);
    double half = begun + 0.5 * (w->until - begun);
    snip_code code = SNIP_OK;
    size_t meet_at = FIRST_MEETING, met = 0, nearly = 0;
    for (size_t weight = 2; weight <= LEVEL_MAX && code == SNIP_OK && !stage_over(w); weight++) {
        int last = w->p.count == w->p.max; /* nothing is kept any more */
        code = make_level(w, weight, half, st);
        if (code == SNIP_OK && w->p.count >= meet_at && !stage_over(w)) {
            w->met_before = met;
            met = w->p.count;
            meet_at = MEETING_GROWTH * met;
            nearly = met <= NEARLY_MAX ? met : nearly;
            code = meet_all(w, nearly == met ? MEET_NEARLY : MEET_EXACTLY, w->until, st);
        }
        if (last || search_spent(w->s) >= half)
            break;
    }
    if (code == SNIP_OK && met < w->p.count && !stage_over(w)) {
        w->met_before = met;
        code = meet_all(w, MEET_EXACTLY, w->until, st);
    }
    if (code == SNIP_OK && nearly < w->p.count && !stage_over(w)) {
        w->met_before = nearly;
        code = meet_all(w, MEET_NEARLY, w->until, st);
    }
    return code;
}

/* What the new parts of a round take at most. */
static size_t made_bytes(const work *w)
{
    return JOBS * w->pairs * PAIR_OPS * sizeof *w->made[0];
}

snip_code search_enumerate(search *s, const search_view *v, snip_status *st)
{
    arena *a = arena_new(0);
    work *w = a ? arena_zero(a, sizeof *w) : NULL;
    if (!w) {
        arena_free(a);
        return status_nomem(st);
    }
    size_t rows = v->rows < SEARCH_FEW ? v->rows : SEARCH_FEW;
    size_t most = v->depth == 0 ? PARTS_ROOT : PARTS_DERIVED;
    size_t each = sizeof(part) + rows * sizeof(float) + 4 * sizeof(uint32_t) + 40;
    w->pairs = BLOCK;
    while (w->pairs > BLOCK_MIN && made_bytes(w) > s->room / 4)
        w->pairs /= 2;
    size_t max = (s->room - made_bytes(w)) / each;
    max = max < most ? max : most;
    w->s = s;
    w->v = v;
    w->a = a;
    w->until = fmin(1, search_spent(s) + (v->depth == 0 ? SHARE_ROOT : SHARE_DERIVED));
    int good = search_parts_make(&w->p, rows, max, a) && prepare_targets(w);
    for (size_t k = 0; k < JOBS && good; k++)
        good = (w->made[k] = arena_array(a, w->pairs * PAIR_OPS, sizeof *w->made[k])) != NULL;
    snip_code code = SNIP_OK;
    if (!good) {
        code = status_nomem(st);
    } else if (w->has[TARGET_SAME]) {
        choose_columns(w);
        w->repeats = w->columns <= 3 ? (int)w->columns : 1;
        first_parts(w);
        code = enumerate(w, st);
    }
    arena_free(a);
    return code;
}
