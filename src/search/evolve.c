/* evolve.c - variation and selection, for the rest of the time.
 *
 * Islands of formulas evolve apart, each for one transform of y: sqrt(u), exp(u) and 1/u are found
 * as u. A formula stands for all its outer coefficients (head.h), so what varies is structure and
 * the numbers inside. A child replaces the oldest formula of its island; sizes that are frequent
 * count as worse, so that short and long ones live side by side. Nothing is evaluated twice, but
 * formulas with numbers a few times, from other ones. After a round, what is new and best of its
 * size on a few rows is looked at on more of them, and the best of that is offered to the archive:
 * a fit on all rows costs as much as a thousand children. An island without progress begins anew,
 * with another transform. */
#include <math.h>
#include <string.h>

#include "base/streams.h"

#include "search/target.h"
#include "search/build.h"
#include "search/graft.h"

enum {
    ISLANDS = 8,
    POPULATION = 96,
    ROUND = 1500, /* evaluations of an island between two looks at the clock, offers aside */
    OFFERS = 2,   /* of an island in a round, at most */
    TOURNAMENT = 6,
    FIT_STEPS = 12, /* of a fit on few rows */
    SEEN_SLOTS = 1 << 14,
    VISITS_MAX = 4, /* of a form with numbers */
    PATIENCE = 60,  /* rounds without progress before an island begins anew */
    STAGNANT = 8,   /* and before it gets formulas from the space */
    KEPT_SEEDS = 24 /* formulas of the archive that a new island gets, at most */
};

#define CROWDING   20.0 /* what a size's share of the island counts in the logarithm of a loss */
#define LENGTH     0.02 /* the same for a node */
#define GAIN_LEAST -0.2 /* in the logarithm of a loss, against the archive: worth an offer */
#define SPREAD_MAX 30.0 /* of a column that is taken as it is, and its reciprocal */
#define LOSS_LEAST 1e-28

#define GRAFT_SHARE 0.03 /* of the budget: what is left of the space's tenth */

typedef struct creature {
    expr e; /* in room of its own */
    double loss;
    double offered; /* of the best of a size: the loss below which it is worth a look again */
} creature;

/* A form that was evaluated: a slot remembers the last one only. */
typedef struct seen {
    uint64_t hash;
    uint32_t visits;
} seen;

typedef struct island {
    const target *t;
    creature at[POPULATION]; /* the oldest is at `next` */
    size_t count, next;
    creature best[HEAD_NODES_MAX + 1]; /* of each size; count 0: none */
    size_t of_size[HEAD_NODES_MAX + 1];
    seen *seen;
    int idle;               /* rounds without progress */
    int grafted;            /* since the last progress */
    expr graft[GRAFTS_MAX]; /* formulas from the space that it gets in this round */
    size_t grafts;
} island;

typedef struct world {
    search *s;
    const search_view *v;
    target aim[TARGETS_MAX];
    size_t aims;
    pool pool;
    pool_ops ops;
    const expr *seed; /* the archive's formulas in the columns of the view, as of this round */
    size_t seeds;
    size_t room; /* nodes of a creature, at most */
    island island[ISLANDS];
    arena *a;
} world;

/* ---- islands ---- */

static double score(const island *is, const creature *c)
{
    return log(c->loss + LOSS_LEAST) + LENGTH * (double)c->e.count +
           CROWDING * (double)is->of_size[c->e.count] / (double)is->count;
}

static const creature *tournament(const island *is, rng *random)
{
    const creature *best = NULL;
    double least = INFINITY;
    for (int k = 0; k < TOURNAMENT; k++) {
        const creature *c = &is->at[rng_below(random, (uint32_t)is->count)];
        double now = score(is, c);
        if (!best || now < least) {
            best = c;
            least = now;
        }
    }
    return best;
}

static void copy_into(creature *to, expr e, double loss)
{
    memcpy(to->e.node, e.node, e.count * sizeof *e.node);
    to->e.count = e.count;
    to->loss = loss;
}

/* Some formula of the island's front: better than all shorter ones. */
static const creature *elite(const island *is, rng *random)
{
    const creature *front[HEAD_NODES_MAX + 1] = { 0 };
    double least = INFINITY;
    uint32_t n = 0;
    for (size_t size = 1; size <= HEAD_NODES_MAX; size++)
        if (is->best[size].e.count && is->best[size].loss < least) {
            least = is->best[size].loss;
            front[n++] = &is->best[size];
        }
    return n ? front[rng_below(random, n)] : NULL;
}

/* Takes a child in. */
static void take(island *is, expr e, double loss)
{
    creature *to = &is->at[is->next];
    if (is->count == POPULATION)
        is->of_size[to->e.count]--;
    else
        is->count++;
    copy_into(to, e, loss);
    is->of_size[e.count]++;
    is->next = (is->next + 1) % POPULATION;
    creature *best = &is->best[e.count];
    if (best->e.count && best->loss <= loss)
        return;
    if (!best->e.count || loss < 0.99 * best->loss)
        is->idle = is->grafted = 0;
    copy_into(best, e, loss);
}

static void clear(island *is)
{
    is->count = is->next = 0;
    is->idle = is->grafted = 0;
    memset(is->of_size, 0, sizeof is->of_size);
    memset(is->seen, 0, SEEN_SLOTS * sizeof *is->seen);
    for (size_t k = 0; k <= HEAD_NODES_MAX; k++) {
        is->best[k].e.count = 0;
        is->best[k].offered = INFINITY;
    }
}

/* ---- one child ---- */

/* What a job works with. */
typedef struct worker {
    search_job *j;
    const world *w;
    island *is;
    head_values *v;
    vary vary;
} worker;

/* More rows, in y itself: 1 - r^2 on SEARCH_SOME of them. */
static double look_closer(worker *k, expr written)
{
    const target *t = k->is->t;
    const search_view *v = k->w->v;
    size_t rows = v->rows < SEARCH_SOME ? v->rows : SEARCH_SOME;
    arena *a = k->j->tmp;
    double *value = arena_array(a, rows, sizeof *value), mean = 0, rest = 0, all = 0;
    search_count(k->j, 1);
    if (!value || !written.node || expr_eval(written, v->x, rows, value, a) != rows)
        return INFINITY;
    const double *column[1] = { value };
    if (t->back.node && expr_eval(t->back, column, rows, value, a) != rows)
        return INFINITY;
    for (size_t i = 0; i < rows; i++)
        mean += v->y[i] / (double)rows;
    for (size_t i = 0; i < rows; i++) {
        double d = t->sign * value[i] - v->y[i];
        rest += d * d;
        all += (v->y[i] - mean) * (v->y[i] - mean);
    }
    return rest / all;
}

/* Evaluates a stripped formula, and fits its numbers where that seems worth it. Returns 0 if it has
 * no value. */
static int evaluate(worker *k, head *h, expr e, double parent)
{
    const head_rows *r = &k->is->t->rows;
    search_count(k->j, 1);
    search_head_evaluate(k->v, e, r);
    if (!search_head_solve(h, e, k->v, r))
        return 0;
    if (!search_head_has_numbers(e) || (h->loss > 4 * parent && rng_below(&k->j->random, 8)))
        return 1;
    search_count(k->j,
                 (uint64_t)search_head_fit(e, h, r, FIT_STEPS, k->j->random.index_lo, k->j->tmp));
    search_head_evaluate(k->v, e, r);
    return search_head_solve(h, e, k->v, r);
}

/* Functions inside functions inside functions are nobody's law. */
static int too_deep(expr e)
{
    uint8_t depth[HEAD_NODES_MAX];
    for (size_t i = e.count; i-- > 0;) {
        int op = e.node[i].op, arity = expr_ops[op].arity;
        depth[i] = arity > 0 ? depth[i + 1] : 0;
        if (arity == 2 && depth[expr_child(e, i, 1)] > depth[i])
            depth[i] = depth[expr_child(e, i, 1)];
        if (arity == 1 && op != EXPR_INV && op != EXPR_NEG && op != EXPR_POW2 && op != EXPR_POW3 &&
            op != EXPR_SQRT && op != EXPR_ABS)
            depth[i]++;
        if (depth[i] > 2)
            return 1;
    }
    return 0;
}

/* Brings a formula to the island: evaluated unless it was, and taken in. */
static void bring(worker *k, expr child, double parent)
{
    island *is = k->is;
    search_job *j = k->j;
    head h;
    search_count(j, 1);
    expr e = child.node ? search_head_strip(child, j->tmp) : child;
    if (!e.node || e.count > k->w->room || too_deep(e))
        return;
    uint64_t hash = search_head_hash(e);
    seen *slot = &is->seen[hash >> 8 & (SEEN_SLOTS - 1)];
    if (slot->hash != hash)
        *slot = (seen){ .hash = hash };
    else if (slot->visits >= (search_head_has_numbers(e) ? VISITS_MAX : 1))
        return;
    slot->visits++;
    if (!evaluate(k, &h, e, parent))
        return;
    expr shorter = search_head_without_nothing(e, k->v, &is->t->rows, j->tmp);
    if (shorter.count < e.count) {
        e = shorter;
        search_head_evaluate(k->v, e, &is->t->rows);
        if (!search_head_solve(&h, e, k->v, &is->t->rows))
            return;
    }
    take(is, e, h.loss);
}

/* What is new and best of its size in the island is raced against the archive on more rows; the
 * few that win by most are offered. */
static void offer_best(worker *k)
{
    island *is = k->is;
    search_job *j = k->j;
    double least = INFINITY, gain[OFFERS] = { 0 };
    expr good[OFFERS] = { { NULL, 0 } };
    for (size_t size = 1; size <= k->w->room && !search_job_over(j); size++) {
        creature *c = &is->best[size];
        head h;
        if (c->e.count == 0 || !(c->loss < least))
            continue;
        least = c->loss;
        if (!(c->loss < c->offered))
            continue;
        c->offered = 0.999 * c->loss;
        search_count(j, 1);
        search_head_evaluate(k->v, c->e, &is->t->rows);
        if (!search_head_solve(&h, c->e, k->v, &is->t->rows))
            continue;
        double closer = look_closer(k, search_head_write(&h, c->e, 0, j->tmp));
        double now = log(search_best_loss(j->s, size + 4) + LOSS_LEAST) - log(closer + LOSS_LEAST);
        expr e = search_head_write(&h, c->e, is->t->back.node == NULL, j->tmp);
        if (!(now > GAIN_LEAST) || !e.node)
            continue;
        size_t place = OFFERS; /* sorted by gain */
        while (place > 0 && (!good[place - 1].node || gain[place - 1] < now))
            place--;
        if (place == OFFERS)
            continue;
        memmove(good + place + 1, good + place, (OFFERS - 1 - place) * sizeof *good);
        memmove(gain + place + 1, gain + place, (OFFERS - 1 - place) * sizeof *gain);
        good[place] = e;
        gain[place] = now;
    }
    for (size_t i = 0; i < OFFERS && good[i].node && !search_job_over(j); i++)
        search_offer_hard(j, &is->t->view, good[i], 1);
}

static expr parent_of(worker *k, double *loss)
{
    rng *random = &k->j->random;
    const island *is = k->is;
    uint32_t choice = rng_below(random, 16);
    *loss = INFINITY;
    if (choice == 0 && k->w->seeds && !is->t->back.node) {
        expr e = k->w->seed[rng_below(random, (uint32_t)k->w->seeds)];
        e = search_head_strip(e, k->j->tmp);
        if (e.node && e.count <= k->w->room)
            return e;
    }
    const creature *c = NULL;
    if (choice <= 3)
        c = elite(is, random);
    if (!c)
        c = tournament(is, random);
    *loss = c->loss;
    return c->e;
}

static void step(worker *k)
{
    double loss;
    vary *q = &k->vary;
    expr e = parent_of(k, &loss), child;
    uint32_t choice = rng_below(&k->j->random, 16);
    if (choice < 8) {
        child = search_vary_blind(q, e);
        if (child.node && rng_below(&k->j->random, 4) == 0)
            child = search_vary_blind(q, child);
    } else if (choice < 12) {
        double other;
        child = search_vary_cross(q, e, parent_of(k, &other));
    } else {
        vary_parent p = { .e = e, .v = k->v };
        search_count(k->j, 1);
        search_head_evaluate(k->v, e, q->rows);
        if (!search_head_solve(&p.h, e, k->v, q->rows))
            return;
        child = choice < 15 ? search_vary_wanted(q, &p) : search_vary_residual(q, &p);
        search_count(k->j, q->evaluations);
        q->evaluations = 0;
    }
    bring(k, child, loss);
}

/* A new population: parts, and for y itself now and then what the archive has. */
static void populate(worker *k)
{
    island *is = k->is;
    const world *w = k->w;
    rng *random = &k->j->random;
    /* At first every transform has its turn; later y itself is as likely as all others. */
    size_t t = k->j->index > 0 ? k->j->index - 1 : 0;
    if (is->t && k->j->index > 0)
        t = rng_below(random, 2) ? 0 : rng_below(random, (uint32_t)w->aims);
    t = t < w->aims ? t : 0;
    is->t = &w->aim[t];
    k->vary.rows = &is->t->rows;
    clear(is);
    size_t seeds =
        t == 0 && w->seeds && (k->j->index == 0 || rng_below(random, 2)) ? KEPT_SEEDS : 0;
    for (size_t n = 0; n < 4 * POPULATION && is->count < POPULATION && !search_job_over(k->j);
         n++) {
        arena_pos mark = arena_mark(k->j->tmp);
        expr e = n < seeds ? w->seed[rng_below(random, (uint32_t)w->seeds)]
                           : search_vary_fresh(&k->vary);
        bring(k, e, INFINITY);
        arena_reset(k->j->tmp, mark);
    }
}

static void run(search_job *j, void *context)
{
    world *w = context;
    island *is = &w->island[j->index];
    worker k = { .j = j, .w = w, .is = is, .v = arena_alloc(j->tmp, sizeof *k.v) };
    if (!k.v) {
        j->no_memory = 1;
        return;
    }
    k.vary = (vary){ .rows = is->t ? &is->t->rows : NULL,
                     .pool = &w->pool,
                     .ops = &w->ops,
                     .prior = w->s->prior,
                     .random = &j->random,
                     .a = j->tmp };
    is->idle++;
    if (!is->t || is->count == 0 || is->idle > PATIENCE)
        populate(&k);
    for (size_t i = 0; i < is->grafts && !search_job_over(j); i++)
        bring(&k, is->graft[i], INFINITY);
    while (is->count > 0 && j->evaluations < ROUND && !search_job_over(j)) {
        arena_pos mark = arena_mark(j->tmp);
        step(&k);
        arena_reset(j->tmp, mark);
    }
    offer_best(&k);
}

/* ---- the stage ---- */

/* The view with columns of moderate spread: sin(0.004*x) is near to no sin(x). Returns 0 when
 * memory is out. */
static int rescale(search_view *out, const search *s, const search_view *v, arena *a)
{
    const double **x = arena_array(a, v->dim, sizeof *x);
    expr *by = arena_array(a, v->dim, sizeof *by);
    if (!x || !by)
        return 0;
    for (size_t j = 0; j < v->dim; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < v->rows; i++)
            mean += v->x[j][i] / (double)v->rows;
        for (size_t i = 0; i < v->rows; i++)
            square += (v->x[j][i] - mean) * (v->x[j][i] - mean) / (double)v->rows;
        double spread = sqrt(square), unit = pow(10, -round(log10(spread)));
        int usual = !(spread > 0) || (spread < SPREAD_MAX && spread > 1 / SPREAD_MAX);
        double *to = usual ? NULL : arena_array(a, v->rows, sizeof *to);
        x[j] = usual ? v->x[j] : to;
        by[j] = search_variable(j, a);
        if (!usual)
            by[j] = search_binary(EXPR_MUL, search_number(unit, a), by[j], a);
        if (!x[j] || !by[j].node)
            return 0;
        for (size_t i = 0; i < v->rows && !usual; i++)
            to[i] = unit * v->x[j][i];
    }
    expr value = search_variable(v->dim, a);
    const search_view scaled = {
        .dim = v->dim, .rows = v->rows, .x = x, .y = v->y, .outer = value, .by = by
    };
    return value.node && search_view_derive(out, s, v, &scaled, a);
}

/* The user's input j over column j of the view. */
static double unit_of(const world *w, size_t j)
{
    for (size_t i = 0; i < w->v->rows; i++)
        if (w->v->x[j][i] != 0)
            return w->s->x[j][i] / w->v->x[j][i];
    return 1;
}

/* The archive's formulas in the columns of the view, in `a`. */
static snip_code take_seeds(world *w, arena *a, snip_status *st)
{
    size_t n;
    const search_entry *kept = search_kept(w->s, &n);
    expr *seed = arena_array(a, n + 1, sizeof *seed);
    expr *by = arena_array(a, w->s->dim + 1, sizeof *by);
    if (!seed || !by)
        return status_nomem(st);
    w->seed = seed;
    w->seeds = 0;
    for (size_t j = 0; j < w->s->dim; j++) {
        double unit = unit_of(w, j);
        by[j] = search_variable(j, a);
        if (unit != 1)
            by[j] = search_binary(EXPR_MUL, search_number(unit, a), by[j], a);
        if (!by[j].node)
            return status_nomem(st);
    }
    for (size_t k = 0; k < n; k++) {
        expr e = expr_substitute(kept[k].e, by, w->s->dim, a);
        if (!e.node)
            return status_nomem(st);
        if (e.count > 1)
            seed[w->seeds++] = e;
    }
    return SNIP_OK;
}

/* The island that has been without progress for longest gets formulas from the space, in `a`. */
static snip_code take_grafts(world *w, arena *a, snip_status *st)
{
    search *s = w->s;
    island *is = NULL;
    rng random;
    for (size_t i = 0; i < ISLANDS; i++) {
        island *one = &w->island[i];
        one->grafts = 0;
        if (one->t && one->count && !one->grafted && one->idle >= STAGNANT &&
            (!is || one->idle > is->idle))
            is = one;
    }
    if (!s->near || !is || s->how->unused >> SEARCH_USE_PARTS & 1 || s->near->spent >= GRAFT_SHARE)
        return SNIP_OK;
    streams_rng(&random, s->how->seed, STREAMS_SEARCH_JOBS, s->rounds << 16 | 0xffff);
    const creature *best = elite(is, &random);
    is->grafted = 1;
    if (!best)
        return SNIP_OK;
    const graft_from from = { s->near, w->v, is->t, best->e };
    return search_graft(is->graft, &is->grafts, &from, &random, a, st);
}

static int make_world(world *w)
{
    w->ops = search_pool_ops_of(w->s);
    w->room = w->s->max_size < HEAD_NODES_MAX ? w->s->max_size : HEAD_NODES_MAX;
    if (!search_targets_make(w->aim, &w->aims, w->s, w->v, w->a))
        return 0;
    if (w->aims == 0 || !search_pool_make(&w->pool, w->s, &w->aim[0].rows, w->a))
        return w->aims == 0;
    for (size_t i = 0; i < ISLANDS; i++) {
        island *is = &w->island[i];
        if (!(is->seen = arena_zero(w->a, SEEN_SLOTS * sizeof *is->seen)))
            return 0;
        for (size_t k = 0; k < POPULATION + HEAD_NODES_MAX + 1; k++) {
            creature *c = k < POPULATION ? &is->at[k] : &is->best[k - POPULATION];
            if (!(c->e.node = arena_array(w->a, w->room, sizeof *c->e.node)))
                return 0;
        }
    }
    return 1;
}

snip_code search_evolve(search *s, const search_view *v, snip_status *st)
{
    arena *a = arena_new(0);
    world *w = a ? arena_zero(a, sizeof *w) : NULL;
    snip_code code = SNIP_OK;
    search_view own;
    if (w)
        *w = (world){ .s = s, .v = &own, .a = a };
    if (!w || !rescale(&own, s, v, a) || !make_world(w))
        code = status_nomem(st);
    while (code == SNIP_OK && w->pool.count > 0 && !search_over(s)) {
        arena_pos mark = arena_mark(a);
        code = take_seeds(w, a, st);
        if (code == SNIP_OK)
            code = take_grafts(w, a, st);
        if (code == SNIP_OK)
            code = search_round(s, ISLANDS, UINT64_MAX, run, w, st);
        arena_reset(a, mark);
    }
    arena_free(a);
    return code;
}
