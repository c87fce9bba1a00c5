/* find.c - see find.h. */
#include "library/find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVERY_SET = 4,
    SETS_MAX = 2 * DATA_DIMS_MAX + 1,
    PERMUTED = 3, /* inputs of a set that is looked up in every order */
    ORDERS_MAX = 6,
    LOOKUPS_MAX = 2 * ORDERS_MAX * SETS_MAX
};
#define SLACK 0.05 /* of y's variance */

/* A formula met for one of the sets of inputs, in one of their orders. */
typedef struct match {
    library_hit hit;
    regress_inputs inputs;
    const regress_problem *p; /* the problem with that order */
} match;

/* Sets that may matter, in out, which has room for SETS_MAX; all inputs come first. */
static size_t list_sets(regress_inputs *out, size_t dim)
{
    regress_inputs all = ((regress_inputs)1 << dim) - 1;
    size_t n = 0;
    if (dim <= EVERY_SET) {
        for (regress_inputs s = all; s; s--)
            out[n++] = s;
        return n;
    }
    out[n++] = all;
    for (size_t j = 0; j < dim; j++)
        out[n++] = all & ~((regress_inputs)1 << j);
    for (size_t j = 0; j < dim; j++)
        out[n++] = (regress_inputs)1 << j;
    return n;
}

/* The sets to look up: all inputs, and those that leave hardly more open than the best. */
static size_t choose_sets(regress_inputs *out, const regress_problem *p)
{
    size_t n = list_sets(out, p->dim), kept = 1;
    double open[SETS_MAX], least = INFINITY;
    for (size_t s = 0; s < n; s++)
        least = fmin(least, open[s] = regress_inputs_left_open(p, out[s]));
    for (size_t s = 1; s < n; s++)
        if (open[s] <= least + SLACK)
            out[kept++] = out[s];
    return kept;
}

static int set_size(regress_inputs s)
{
    return __builtin_popcount(s);
}

/* Nearest first, then the library's order, then the set's. */
static int by_similarity(const void *left, const void *right)
{
    const match *a = left, *b = right;
    if (a->hit.score != b->hit.score)
        return a->hit.score > b->hit.score ? -1 : 1;
    if (a->hit.id != b->hit.id)
        return a->hit.id < b->hit.id ? -1 : 1;
    return a->inputs < b->inputs ? -1 : a->inputs > b->inputs;
}

static size_t place_of(const size_t *place, size_t input)
{
    return place ? place[input] : input;
}

int library_next_order(size_t *order, const size_t *place, size_t n)
{
    size_t i = n > 0 ? n - 1 : 0, j = i;
    while (i > 0 && place_of(place, order[i - 1]) > place_of(place, order[i]))
        i--; /* from i on they descend */
    if (i == 0)
        return 0;
    while (j > i && place_of(place, order[j]) < place_of(place, order[i - 1]))
        j--; /* to the last one above that at i - 1; the one at i is above it */
    size_t t = order[i - 1];
    order[i - 1] = order[j];
    order[j] = t;
    for (j = n - 1; i < j; i++, j--) {
        t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    return 1;
}

/* The problem with its inputs in the orders that a set is looked up in, in out[0..ORDERS_MAX). A
 * form of a library has its inputs in one order; the table's inputs may play these roles in any. */
static size_t list_orders(const regress_problem **out, const regress_problem *p, regress_inputs set,
                          int forms, arena *a)
{
    size_t order[DATA_DIMS_MAX * 4], place[DATA_DIMS_MAX * 4], n = 0, orders = 0, rest = 0;
    if (!forms || set_size(set) > PERMUTED || p->dim > DATA_DIMS_MAX * 4) {
        out[0] = p;
        return 1;
    }
    for (size_t k = 0; k < p->dim; k++) { /* those of the set first */
        place[p->order[k]] = k;
        if (set >> p->order[k] & 1)
            order[n++] = p->order[k];
    }
    rest = n;
    for (size_t k = 0; k < p->dim; k++)
        if (!(set >> p->order[k] & 1))
            order[rest++] = p->order[k];
    do {
        regress_problem *q = arena_copy(a, p, sizeof *p);
        if (!q || !(q->order = arena_copy(a, order, p->dim * sizeof *order)))
            return 0;
        out[orders++] = q;
    } while (library_next_order(order, place, n));
    return orders;
}

/* Where to look, and room for one answer. */
typedef struct search {
    model_space *space;
    library_file *ix;
    size_t k;
    float *z;         /* the question */
    library_hit *hit; /* of k */
} search;

/* The library's rows for one set in one order, added to m. */
static snip_code look_up(match *m, size_t *n, const search *s, const regress_problem *p,
                         regress_inputs set, regress_view view, snip_status *st)
{
    size_t found = 0;
    snip_code code = regress_problem_embed(p, set, view, s->space, s->z, st);
    if (code == SNIP_OK)
        code =
            library_search(s->ix, s->z, s->k, set_size(set), s->space->threads, s->hit, &found, st);
    for (size_t i = 0; i < found && code == SNIP_OK; i++)
        m[(*n)++] = (match){ s->hit[i], set, p };
    return code;
}

/* The matches of all sets, best first, k of each, in m, which has room for LOOKUPS_MAX * k. */
static snip_code collect(match *m, size_t *count, const regress_problem *p, model_space *space,
                         library_file *ix, size_t k, arena *a, snip_status *st)
{
    regress_inputs set[SETS_MAX] = { 0 };
    const search look = { space, ix, k, arena_array(a, space->latent, sizeof *look.z),
                          arena_array(a, k, sizeof *look.hit) };
    int forms = space->m->config.forms;
    size_t sets = choose_sets(set, p);
    snip_code code = SNIP_OK;
    *count = 0;
    if (!look.z || !look.hit)
        return status_nomem(st);
    for (size_t s = 0; s < sets && code == SNIP_OK; s++) {
        const regress_problem *ordered[ORDERS_MAX];
        size_t orders = list_orders(ordered, p, set[s], forms, a);
        if (orders == 0)
            return status_nomem(st);
        for (size_t o = 0; o < orders; o++)
            for (regress_view v = forms ? REGRESS_FORM : REGRESS_EXACT;
                 v <= (forms ? REGRESS_FORM_TURNED : REGRESS_EXACT) && code == SNIP_OK; v++)
                code = look_up(m, count, &look, ordered[o], set[s], v, st);
    }
    qsort(m, *count, sizeof *m, by_similarity);
    return code;
}

/* a + b*e, both to be fitted, with no constant too many. */
static snip_code scaled(expr *out, expr e, arena *a, snip_status *st)
{
    expr wide = { arena_zero(a, (e.count + 4) * sizeof *wide.node), e.count + 4 };
    expr_form form;
    if (!wide.node)
        return status_nomem(st);
    wide.node[0].op = EXPR_ADD;
    wide.node[1] = (expr_node){ .op = EXPR_NUMBER, .value = 1 };
    wide.node[2].op = EXPR_MUL;
    wide.node[3] = (expr_node){ .op = EXPR_NUMBER, .value = 1.5 };
    memcpy(wide.node + 4, e.node, e.count * sizeof *e.node);
    expr_measure(wide);
    snip_code code = expr_canonical(&form, wide, a, st);
    *out = form.e;
    return code;
}

snip_code library_candidate(expr *out, expr e, regress_inputs inputs, const regress_problem *p,
                            int form, arena *a, snip_status *st)
{
    snip_code code = regress_problem_restore(out, e, inputs, p, a, st);
    return code == SNIP_OK && form ? scaled(out, *out, a, st) : code;
}

/* The match as a formula in the user's inputs. */
static snip_code restore(regress_candidate *c, const match *m, library_file *ix, arena *a,
                         snip_status *st)
{
    library_row row;
    snip_code code = library_formula(&row, ix, m->hit.id, a, st);
    if (code == SNIP_OK)
        code = library_candidate(&c->e, row.e, m->inputs, m->p, library_about(ix)->forms, a, st);
    if (code == SNIP_OK) {
        c->text = row.formula;
        c->place = (size_t)m->hit.id;
    }
    return code;
}

/* Whether c[n] is among those before it: a formula that uses some inputs only is met in several
 * sets. */
static int is_listed(const regress_candidate *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c[i].place == c[n].place && expr_same(c[i].e, c[n].e))
            return 1;
    return 0;
}

snip_code library_find(regress_candidate **out, size_t *found, const regress_problem *p,
                       const model_opened *t, library_file *ix, const library_find_how *how,
                       arena *a, snip_status *st)
{
    size_t k = how->k, count = library_about(ix)->count;
    *found = 0;
    k = k < count ? k : count;
    match *m = arena_array(a, (size_t)LOOKUPS_MAX * k + 1, sizeof *m);
    regress_candidate *c = *out = arena_zero(a, (k + 1) * sizeof *c);
    size_t matches = 0, n = 0;
    if (!m || !c)
        return status_nomem(st);
    model_space *space = model_space_new(t->m, t->tree, how->rank.threads);
    snip_code code = space ? collect(m, &matches, p, space, ix, k, a, st) : status_nomem(st);
    model_space_free(space);
    for (size_t i = 0; i < matches && n < k && code == SNIP_OK; i++) {
        code = restore(&c[n], &m[i], ix, a, st);
        n += code == SNIP_OK && !is_listed(c, n);
    }
    if (code == SNIP_OK)
        code = regress_rank(c, n, p, t, &how->rank, a, st);
    if (code == SNIP_OK)
        *found = n;
    return code;
}
