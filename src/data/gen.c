/* gen.c - expressions of the SNIP generator.
 *
 * A tree is grown in three passes over prefix arrays: binary shape with leaves; unary operators on
 * some edges; constants. */
#include "data/gen.h"

#include <math.h>
#include <string.h>

#include "base/isa.h"
#include "data/points.h"

enum {
    BINARY_MAX = DATA_DIMS_MAX + DATA_BINARY_EXTRA,
    SHAPE_MAX = 2 * BINARY_MAX + 1,                  /* binary operators and leaves */
    TREE_MAX = 5 * (SHAPE_MAX + DATA_UNARY_MAX) + 8, /* at most 4 nodes of constants each */
    UNARY_SIZE_LIMIT = 6                             /* subtrees smaller than this may get one */
};

/* A tree while it grows. */
typedef struct draft_tree {
    expr_node node[TREE_MAX];
    size_t count;
} draft_tree;

static const struct {
    expr_op op;
    double weight;
} unaries[] = {
    { EXPR_ABS, 1 },      { EXPR_INV, 3 },  { EXPR_SQRT, 5 }, { EXPR_LOG, 1 },
    { EXPR_EXP, 1 },      { EXPR_SIN, 1 },  { EXPR_COS, 1 },  { EXPR_TAN, 0.2 },
    { EXPR_ARCTAN, 0.2 }, { EXPR_POW2, 3 }, { EXPR_POW3, 1 },
};
enum { UNARIES = sizeof unaries / sizeof *unaries };

static expr_op draw_unary(rng *r)
{
    double total = 0;
    for (int i = 0; i < UNARIES; i++)
        total += unaries[i].weight;
    double u = rng_uniform(r) * total;
    for (int i = 0; i < UNARIES - 1; i++) {
        u -= unaries[i].weight;
        if (u < 0)
            return unaries[i].op;
    }
    return unaries[UNARIES - 1].op;
}

/* A binary tree of `binary` operators, uniform over all shapes, leaves still without variable.
 *
 * SNIP fills "empty nodes" with probabilities that make all shapes equally likely. The cycle lemma
 * gives the same distribution at once: of the rotations of a random word of n operators and n+1
 * leaves exactly one is the prefix word of a tree. */
static void draw_shape(rng *r, int binary, draft_tree *t)
{
    int size = 2 * binary + 1, word[SHAPE_MAX];
    for (int i = 0; i < size; i++)
        word[i] = i < binary;
    rng_shuffle(r, word, size);
    /* Count operators up and leaves down: the word starts after the first lowest point. */
    int height = 0, lowest = 0, start = 0;
    for (int i = 0; i < size; i++) {
        height += word[i] ? 1 : -1;
        if (height < lowest) {
            lowest = height;
            start = (i + 1) % size;
        }
    }
    static const expr_op ops[] = { EXPR_ADD, EXPR_SUB, EXPR_MUL };
    for (int i = 0; i < size; i++) {
        int op = word[(start + i) % size];
        t->node[i] = (expr_node){ .op = op ? (uint8_t)ops[rng_below(r, 3)] : EXPR_VARIABLE };
    }
    t->count = (size_t)size;
    expr_measure((expr){ t->node, t->count });
}

/* Places of the leaves, in random order. Returns how many. */
static int leaves_shuffled(rng *r, const draft_tree *t, int *places)
{
    int n = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->node[i].op == EXPR_VARIABLE)
            places[n++] = (int)i;
    rng_shuffle(r, places, n);
    return n;
}

/* Unary operators above `most` randomly chosen nodes among those whose subtree is small. SNIP puts
 * one on every such edge and deletes all but `most`: the same, drawn less often. */
static void insert_unaries(rng *r, draft_tree *t, int most)
{
    int eligible[SHAPE_MAX], n = 0;
    for (size_t i = 1; i < t->count; i++) /* nothing goes above the root */
        if (t->node[i].len < UNARY_SIZE_LIMIT)
            eligible[n++] = (int)i;
    rng_shuffle(r, eligible, n);
    uint8_t above[SHAPE_MAX] = { 0 };
    for (int k = 0; k < n && k < most; k++)
        above[eligible[k]] = (uint8_t)draw_unary(r);
    draft_tree old = { .count = t->count };
    memcpy(old.node, t->node, t->count * sizeof *t->node);
    t->count = 0;
    for (size_t i = 0; i < old.count; i++) {
        if (above[i])
            t->node[t->count++] = (expr_node){ .op = above[i] };
        t->node[t->count++] = old.node[i];
    }
    expr_measure((expr){ t->node, t->count });
}

/* +-m * 10^e, m in 1..999, e in -3..-1 */
static expr_node draw_constant(rng *r)
{
    static const double powers[] = { 1e-3, 1e-2, 1e-1 };
    double m = 1 + rng_below(r, 999), v = m * powers[rng_below(r, 3)];
    return (expr_node){ .op = EXPR_NUMBER, .value = rng_below(r, 2) ? v : -v };
}

static int is_sum(const expr_node *n)
{
    return n->op == EXPR_ADD || n->op == EXPR_SUB;
}

static void put_op(draft_tree *t, expr_op op)
{
    t->node[t->count++] = (expr_node){ .op = (uint8_t)op };
}

static void put_constant(draft_tree *t, rng *r)
{
    t->node[t->count++] = draw_constant(r);
}

/* Every operand of add or sub that is no sum itself is multiplied by a constant, the operand of a
 * unary operator that is no sum becomes a + b*operand. Constants come first. If that did nothing
 * the whole is multiplied by one; last, a constant is added. */
static void insert_constants(rng *r, draft_tree *t)
{
    draft_tree old = { .count = t->count };
    memcpy(old.node, t->node, t->count * sizeof *t->node);
    uint8_t scale[SHAPE_MAX + DATA_UNARY_MAX] = { 0 }, shift[SHAPE_MAX + DATA_UNARY_MAX] = { 0 };
    expr e = { old.node, old.count };
    int changed = 0;
    for (size_t i = 0; i < old.count; i++) {
        int arity = expr_ops[old.node[i].op].arity;
        for (int slot = 0; slot < arity; slot++) {
            size_t child = expr_child(e, i, slot);
            if (is_sum(&old.node[child]) || (arity == 2 && !is_sum(&old.node[i])))
                continue;
            scale[child] = 1;
            shift[child] = arity == 1;
            changed = 1;
        }
    }
    t->count = 0;
    put_op(t, EXPR_ADD);
    put_constant(t, r);
    if (!changed)
        scale[0] = 1;
    for (size_t i = 0; i < old.count; i++) {
        if (shift[i]) {
            put_op(t, EXPR_ADD);
            put_constant(t, r);
        }
        if (scale[i]) {
            put_op(t, EXPR_MUL);
            put_constant(t, r);
        }
        t->node[t->count++] = old.node[i];
    }
    expr_measure((expr){ t->node, t->count });
}

static expr finish(rng *r, draft_tree *t, int unary, arena *a)
{
    insert_unaries(r, t, unary);
    insert_constants(r, t);
    return (expr){ arena_copy(a, t->node, t->count * sizeof *t->node), t->count };
}

/* The first leaves visited get x_0, x_1, ..., any further one a uniform variable. */
static expr grow(rng *r, int binary, int unary, int dim, arena *a)
{
    draft_tree t;
    int places[SHAPE_MAX];
    draw_shape(r, binary, &t);
    int n = leaves_shuffled(r, &t, places);
    for (int k = 0; k < n; k++)
        t.node[places[k]].var = (uint16_t)(k < dim ? k : (int)rng_below(r, (uint32_t)dim));
    return finish(r, &t, unary, a);
}

expr data_grow_small(rng *r, int binary, int unary, const int *variables, int n, arena *a)
{
    draft_tree t;
    draw_shape(r, binary, &t);
    for (size_t i = 0; i < t.count; i++)
        if (t.node[i].op == EXPR_VARIABLE)
            t.node[i].var = (uint16_t)variables[rng_below(r, (uint32_t)n)];
    return finish(r, &t, unary, a);
}

void data_draft_init(data_draft *d, const data_gen *gen, uint64_t seed, rng_stream stream,
                     uint64_t index)
{
    d->gen = *gen;
    rng_init(&d->r, seed, stream, index);
    d->unary = (int)rng_below(&d->r, DATA_UNARY_MAX + 1);
    d->dim = 1 + (int)rng_below(&d->r, (uint32_t)gen->dims);
}

int data_points_draw(rng *r, int dim, size_t n, double *x, size_t stride, int *clusters,
                     int *uniform, arena *tmp)
{
    static data_points_function *const draws[ISA_COUNT] = ISA_VARIANTS(data_points_draw);
    return draws[isa_best()](r, dim, n, x, stride, clusters, uniform, tmp);
}

int data_values_fit(const double *y, size_t n)
{
    int good = 1;
    for (size_t i = 0; i < n; i++)
        good &= fabs(y[i]) < DATA_VALUE_MAX;
    return good;
}

data_outcome data_draft_try(data_draft *d, data_sample *out, arena *a)
{
    size_t n = d->gen.points;
    *out = (data_sample){ .dim = d->dim, .points = n, .unary_requested = d->unary };
    out->binary_drawn = (int)rng_below(&d->r, (uint32_t)(d->dim + DATA_BINARY_EXTRA + 1));
    if (out->binary_drawn + 1 < d->dim) /* not enough leaves to hold every variable */
        return DATA_BAD_DIMENSION;
    size_t stride = (n + 7) / 8 * 8;
    double *values = arena_array(a, ((size_t)d->dim + 1) * stride, sizeof *values);
    out->x = arena_array(a, (size_t)d->dim, sizeof *out->x);
    out->e = grow(&d->r, out->binary_drawn, d->unary, d->dim, a);
    if (!values || !out->x || !out->e.node ||
        !data_points_draw(&d->r, d->dim, n, values, stride, &out->clusters, &out->uniform, a))
        return DATA_NO_MEMORY;
    for (int j = 0; j < d->dim; j++)
        out->x[j] = values + (size_t)j * stride;
    out->y = values + (size_t)d->dim * stride;
    int good = expr_eval_strict(out->e, out->x, n, out->y, a);
    if (good < 0)
        return DATA_NO_MEMORY;
    return good && data_values_fit(out->y, n) ? DATA_ACCEPTED : DATA_BAD_VALUES;
}

snip_code data_sample_draw(data_sample *out, const data_gen *gen, uint64_t seed, rng_stream stream,
                           uint64_t index, arena *a)
{
    data_draft d;
    data_draft_init(&d, gen, seed, stream, index);
    arena_pos mark = arena_mark(a);
    for (;;) {
        data_outcome outcome = data_draft_try(&d, out, a);
        if (outcome == DATA_ACCEPTED)
            return SNIP_OK;
        arena_reset(a, mark);
        if (outcome == DATA_NO_MEMORY)
            return SNIP_NOMEM;
    }
}
