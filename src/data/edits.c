/* edits.c - see edits.h. */
#include "data/edits.h"

#include <string.h>
#include <xxhash.h>

#include "base/text.h"
#include "data/gen.h"
#include "data/tokens.h"

const char *const data_family_names[DATA_FAMILIES] = {
    "unary_swap",     "variable_substitution", "binary_swap",
    "tree_reshaping", "operand_reordering",    "subtree_rewriting",
};

/* The paper bounds the binary operators of a new subtree; at most one unary operator brings the
 * pool closest to the counts it reports. */
enum { REWRITE_BINARY_MAX = 2, REWRITE_UNARY_MAX = 1 };

/* Operators that swap with each other; 0 ends a group. */
static const expr_op unary_groups[][4] = {
    { EXPR_SIN, EXPR_COS, EXPR_TAN },
    { EXPR_POW2, EXPR_POW3, EXPR_SQRT },
    { EXPR_EXP, EXPR_LOG },
};
static const expr_op binary_group[] = { EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, 0 };

/* The group of an operator, or NULL if it does not swap. */
static const expr_op *group_of(data_family family, int op)
{
    if (family == DATA_BINARY_SWAP)
        return op >= EXPR_ADD && op <= EXPR_DIV ? binary_group : NULL;
    for (size_t g = 0; g < sizeof unary_groups / sizeof *unary_groups; g++)
        for (const expr_op *o = unary_groups[g]; *o; o++)
            if ((int)*o == op)
                return unary_groups[g];
    return NULL;
}

/* Which variables occur; returns how many, their indices in out. */
static int variables_of(expr e, int out[EXPR_VARIABLES_MAX])
{
    uint8_t seen[EXPR_VARIABLES_MAX];
    size_t inputs = expr_inputs(e);
    int n = 0;
    memset(seen, 0, inputs);
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_VARIABLE)
            seen[e.node[i].var] = 1;
    for (size_t v = 0; v < inputs; v++)
        if (seen[v])
            out[n++] = (int)v;
    return n;
}

static int is_binary(const expr_node *n)
{
    return expr_ops[n->op].arity == 2;
}

static size_t list_swaps(data_edit *out, expr e, data_family family)
{
    size_t n = 0;
    for (size_t i = 0; i < e.count; i++) {
        const expr_op *group = group_of(family, e.node[i].op);
        for (; group && *group; group++)
            if ((int)*group != e.node[i].op)
                out[n++] = (data_edit){ .family = family, .node = i, .to = (int)*group };
    }
    return n;
}

static size_t list_substitutions(data_edit *out, expr e)
{
    int v[EXPR_VARIABLES_MAX], count = variables_of(e, v);
    size_t n = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (i != j)
                out[n++] = (data_edit){ .family = DATA_VARIABLE_SUBSTITUTION,
                                        .node = (size_t)v[i],
                                        .to = v[j] };
    return n;
}

static size_t list_rotations(data_edit *out, expr e)
{
    size_t n = 0;
    for (size_t i = 0; i < e.count; i++)
        for (int slot = 0; is_binary(&e.node[i]) && slot < 2; slot++)
            if (is_binary(&e.node[expr_child(e, i, slot)]))
                out[n++] = (data_edit){ .family = DATA_TREE_RESHAPING, .node = i, .to = slot };
    return n;
}

static size_t list_reorderings(data_edit *out, expr e)
{
    size_t n = 0;
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_SUB || e.node[i].op == EXPR_DIV)
            out[n++] = (data_edit){ .family = DATA_OPERAND_REORDERING, .node = i };
    return n;
}

size_t data_edits_list(data_edit **out, expr e, data_family family, arena *a)
{
    int v[EXPR_VARIABLES_MAX];
    size_t variables = (size_t)variables_of(e, v);
    size_t room = family == DATA_VARIABLE_SUBSTITUTION ? variables * variables : 3 * e.count;
    *out = arena_array(a, room + 1, sizeof **out);
    if (!*out)
        return (size_t)-1;
    switch (family) {
    case DATA_UNARY_SWAP:
    case DATA_BINARY_SWAP:
        return list_swaps(*out, e, family);
    case DATA_VARIABLE_SUBSTITUTION:
        return list_substitutions(*out, e);
    case DATA_TREE_RESHAPING:
        return list_rotations(*out, e);
    case DATA_OPERAND_REORDERING:
        return list_reorderings(*out, e);
    default:
        return 0;
    }
}

data_edit data_edit_rewriting(expr e, rng *r, arena *a)
{
    int v[EXPR_VARIABLES_MAX], n = variables_of(e, v);
    if (n == 0) {
        v[0] = 0;
        n = 1;
    }
    data_edit edit = { .family = DATA_SUBTREE_REWRITING };
    edit.node = rng_below(r, (uint32_t)e.count);
    int binary = (int)rng_below(r, REWRITE_BINARY_MAX + 1);
    int unary = (int)rng_below(r, REWRITE_UNARY_MAX + 1);
    edit.tree = data_grow_small(r, binary, unary, v, n, a);
    return edit;
}

/* Copies the subtree at i to the end of out. */
static void append(expr *out, expr e, size_t i)
{
    memcpy(out->node + out->count, e.node + i, e.node[i].len * sizeof *e.node);
    out->count += e.node[i].len;
}

static void append_op(expr *out, const expr_node *n)
{
    out->node[out->count++] = *n;
}

/* op(op'(a,b),c) -> op'(a,op(b,c)) for slot 0, op(a,op'(b,c)) -> op'(op(a,b),c) for slot 1. */
static void append_rotated(expr *out, expr e, size_t i, int slot)
{
    size_t first = expr_child(e, i, 0), second = expr_child(e, i, 1);
    size_t inner = slot == 0 ? first : second;
    append_op(out, &e.node[inner]);
    if (slot == 0) {
        append(out, e, expr_child(e, inner, 0));
        append_op(out, &e.node[i]);
        append(out, e, expr_child(e, inner, 1));
        append(out, e, second);
    } else {
        append_op(out, &e.node[i]);
        append(out, e, first);
        append(out, e, expr_child(e, inner, 0));
        append(out, e, expr_child(e, inner, 1));
    }
}

expr data_edit_apply(expr e, const data_edit *edit, arena *a)
{
    if (edit->family == DATA_SUBTREE_REWRITING)
        return edit->tree.node ? expr_splice(e, edit->node, edit->tree, a) : edit->tree;
    expr out = { arena_array(a, e.count, sizeof *out.node), 0 };
    if (!out.node)
        return out;
    size_t i = edit->node;
    if (edit->family == DATA_TREE_RESHAPING || edit->family == DATA_OPERAND_REORDERING) {
        memcpy(out.node, e.node, i * sizeof *e.node);
        out.count = i;
        if (edit->family == DATA_TREE_RESHAPING) {
            append_rotated(&out, e, i, edit->to);
        } else {
            append_op(&out, &e.node[i]);
            append(&out, e, expr_child(e, i, 1));
            append(&out, e, expr_child(e, i, 0));
        }
        size_t end = i + e.node[i].len;
        memcpy(out.node + end, e.node + end, (e.count - end) * sizeof *e.node);
        out.count = e.count;
        expr_measure(out);
        return out;
    }
    memcpy(out.node, e.node, e.count * sizeof *e.node);
    out.count = e.count;
    if (edit->family == DATA_VARIABLE_SUBSTITUTION) {
        for (size_t k = 0; k < e.count; k++)
            if (e.node[k].op == EXPR_VARIABLE && e.node[k].var == i)
                out.node[k].var = (uint16_t)edit->to;
    } else {
        out.node[i].op = (uint8_t)edit->to;
    }
    return out;
}

const char *data_edit_describe(expr e, const data_edit *edit, const expr_names *names, arena *a)
{
    text t = { .a = a };
    expr_node from = { .op = EXPR_VARIABLE, .var = (uint16_t)edit->node, .len = 1 };
    expr_node to = { .op = EXPR_VARIABLE, .var = (uint16_t)edit->to, .len = 1 };
    const char *old = NULL, *new = NULL;
    switch (edit->family) {
    case DATA_UNARY_SWAP:
    case DATA_BINARY_SWAP:
        text_add(&t, "%s -> %s at node %zu", expr_ops[e.node[edit->node].op].name,
                 expr_ops[edit->to].name, edit->node);
        break;
    case DATA_VARIABLE_SUBSTITUTION:
        old = expr_print((expr){ &from, 1 }, SNIP_INFIX, names, 0, a);
        new = expr_print((expr){ &to, 1 }, SNIP_INFIX, names, 0, a);
        if (!old || !new)
            return NULL;
        text_add(&t, "%s -> %s", old, new);
        break;
    case DATA_TREE_RESHAPING:
        text_add(&t, "child %d of node %zu rotated up", edit->to + 1, edit->node);
        break;
    case DATA_OPERAND_REORDERING:
        text_add(&t, "operands of %s at node %zu exchanged", expr_ops[e.node[edit->node].op].name,
                 edit->node);
        break;
    default:
        new = expr_print(edit->tree, SNIP_INFIX, names, 5, a);
        if (!new)
            return NULL;
        text_add(&t, "node %zu -> %s", edit->node, new);
    }
    return text_end(&t);
}

int data_behaviours_add(data_behaviours *b, const double *y)
{
    float *v = arena_array(b->a, b->rows, sizeof *v);
    if (!v)
        return -1;
    for (size_t i = 0; i < b->rows; i++)
        v[i] = (float)y[i];
    size_t bytes = b->rows * sizeof *v;
    uint64_t hash = XXH3_64bits(v, bytes);
    for (size_t k = 0; k < b->count; k++)
        if (b->hash[k] == hash && memcmp(b->value[k], v, bytes) == 0)
            return 0;
    if (b->count == b->room) {
        size_t room = b->room ? 2 * b->room : 16;
        uint64_t *hashes = arena_array(b->a, room, sizeof *hashes);
        float **values = arena_array(b->a, room, sizeof *values);
        if (!hashes || !values)
            return -1;
        if (b->count) {
            memcpy(hashes, b->hash, b->count * sizeof *hashes);
            memcpy(values, b->value, b->count * sizeof *values);
        }
        b->hash = hashes;
        b->value = values;
        b->room = room;
    }
    b->hash[b->count] = hash;
    b->value[b->count++] = v;
    return 1;
}

/* Values of e on the points, in `a`; NULL when memory is out. */
static double *values_of(expr e, const double *const *x, size_t rows, arena *a)
{
    double *y = arena_array(a, rows, sizeof *y);
    return y && expr_eval(e, x, rows, y, a) != (size_t)-1 ? y : NULL;
}

/* Whether the formula can be written in the model's words at all. */
static int fits_sequence(expr e)
{
    return data_tokens_count(e) <= DATA_SEQUENCE_MAX;
}

/* For swaps: one occurrence, drawn at random, of each operator type. Returns the edits left. */
static size_t one_per_type(data_edit *edits, size_t n, expr e, rng *r)
{
    size_t chosen[EXPR_OP_COUNT], seen[EXPR_OP_COUNT] = { 0 }, kept = 0;
    for (size_t k = 0; k < n; k++) {
        if (k > 0 && edits[k].node == edits[k - 1].node)
            continue;
        int op = e.node[edits[k].node].op;
        if (rng_below(r, (uint32_t)++seen[op]) == 0)
            chosen[op] = edits[k].node;
    }
    for (size_t k = 0; k < n; k++)
        if (edits[k].node == chosen[e.node[edits[k].node].op])
            edits[kept++] = edits[k];
    return kept;
}

static void shuffle_edits(data_edit *edits, size_t n, rng *r)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = rng_below(r, (uint32_t)i);
        data_edit t = edits[i - 1];
        edits[i - 1] = edits[j];
        edits[j] = t;
    }
}

/* What `draws` uniform draws with replacement meet, each once: the counts of the paper's pool are
 * those of 64 draws of a substitution, not of all pairs. Returns the edits left. */
static size_t draw_some(data_edit *edits, size_t n, size_t draws, rng *r)
{
    size_t met = 0; /* edits[0..met) have been drawn */
    for (size_t k = 0; n > 0 && k < draws; k++) {
        size_t i = rng_below(r, (uint32_t)n);
        if (i < met)
            continue;
        data_edit t = edits[i];
        edits[i] = edits[met];
        edits[met++] = t;
    }
    return met;
}

/* The candidates of a family, at most `most`. */
static size_t candidates(data_edit **out, expr e, data_family family, size_t most, rng *r, arena *a)
{
    if (family == DATA_SUBTREE_REWRITING) {
        *out = arena_array(a, most, sizeof **out);
        if (!*out)
            return (size_t)-1;
        for (size_t k = 0; k < most; k++) {
            (*out)[k] = data_edit_rewriting(e, r, a);
            if (!(*out)[k].tree.node)
                return (size_t)-1;
        }
        return most;
    }
    size_t n = data_edits_list(out, e, family, a);
    if (n == (size_t)-1)
        return n;
    if (family == DATA_UNARY_SWAP || family == DATA_BINARY_SWAP)
        n = one_per_type(*out, n, e, r);
    else if (family == DATA_VARIABLE_SUBSTITUTION)
        n = draw_some(*out, n, most, r);
    if (n > most) {
        shuffle_edits(*out, n, r);
        n = most;
    }
    return n;
}

size_t data_edits_evaluation(data_variant *out, expr e, data_family family, size_t most,
                             const double *const *x, size_t rows, const double *y, rng *r, arena *a)
{
    data_edit *edits;
    size_t n = candidates(&edits, e, family, most, r, a), kept = 0;
    data_behaviours seen = { .rows = rows, .a = a };
    if (n == (size_t)-1 || data_behaviours_add(&seen, y) < 0)
        return (size_t)-1;
    for (size_t k = 0; k < n; k++) {
        arena_pos mark = arena_mark(a);
        data_variant v = { .edit = edits[k], .e = data_edit_apply(e, &edits[k], a) };
        if (!v.e.node || !(v.y = values_of(v.e, x, rows, a)))
            return (size_t)-1;
        int fits = fits_sequence(v.e) && data_values_fit(v.y, rows);
        int new = fits ? data_behaviours_add(&seen, v.y) : 0;
        if (new < 0)
            return (size_t)-1;
        if (new)
            out[kept++] = v;
        else
            arena_reset(a, mark);
    }
    return kept;
}

size_t data_subtrees(expr e, int *out)
{
    size_t n = 0;
    for (size_t i = 1; i < e.count; i++)
        if (e.node[i].len > 1)
            out[n++] = (int)i;
    return n;
}

/* One random training edit of s: family, then place, then replacement, each uniform. Returns 1, 0
 * if no family applies, -1 when memory is out. */
static int draw_training_edit(data_edit *out, expr s, rng *r, arena *a)
{
    data_edit *list[DATA_TRAINING_FAMILIES];
    size_t count[DATA_TRAINING_FAMILIES];
    int applicable[DATA_TRAINING_FAMILIES], n = 0;
    for (int f = 0; f < DATA_TRAINING_FAMILIES; f++) {
        count[f] = data_edits_list(&list[f], s, (data_family)f, a);
        if (count[f] == (size_t)-1)
            return -1;
        if (count[f] > 0)
            applicable[n++] = f;
    }
    if (n == 0)
        return 0;
    int f = applicable[rng_below(r, (uint32_t)n)];
    /* Edits of a place stand together: draw the place first, then one of its edits. */
    uint32_t places = 0;
    for (size_t k = 0; k < count[f]; k++)
        places += k == 0 || list[f][k].node != list[f][k - 1].node;
    uint32_t place = rng_below(r, places), at = 0;
    size_t first = 0;
    while (at < place) {
        first++;
        at += list[f][first].node != list[f][first - 1].node;
    }
    size_t end = first + 1;
    while (end < count[f] && list[f][end].node == list[f][first].node)
        end++;
    *out = list[f][first + rng_below(r, (uint32_t)(end - first))];
    return 1;
}

/* Tries one edit and appends it to `out` if it passes. Returns 0 when memory is out. */
static int try_perturbation(data_perturbed *out, expr e, const double *const *x, size_t rows,
                            data_behaviours *seen, rng *r, arena *a)
{
    expr s = out->v[0].subtree;
    data_edit edit;
    int drawn = draw_training_edit(&edit, s, r, a);
    if (drawn <= 0)
        return drawn == 0;
    expr subtree = data_edit_apply(s, &edit, a);
    expr parent = subtree.node ? expr_splice(e, out->node, subtree, a) : subtree;
    if (!parent.node)
        return 0;
    double *subtree_y = values_of(subtree, x, rows, a), *parent_y = values_of(parent, x, rows, a);
    if (!subtree_y || !parent_y)
        return 0;
    if (!data_values_fit(subtree_y, rows) || !data_values_fit(parent_y, rows))
        return 1;
    int new = data_behaviours_add(seen, subtree_y);
    if (new == 1) {
        size_t k = out->count++;
        out->v[k].subtree = subtree;
        out->v[k].parent = parent;
        out->v[k].subtree_y = subtree_y;
        out->v[k].parent_y = parent_y;
        out->v[k].family = (int)edit.family;
    }
    return new >= 0;
}

snip_code data_perturb(data_perturbed *out, size_t *count, size_t most, int attempts, expr e,
                       const double *const *x, size_t rows, const double *y, rng *r, arena *a)
{
    int *nodes = arena_array(a, e.count, sizeof *nodes);
    if (!nodes)
        return SNIP_NOMEM;
    int n = (int)data_subtrees(e, nodes);
    rng_shuffle(r, nodes, n);
    *count = 0;
    for (int k = 0; k < n && *count < most; k++) {
        expr s = expr_sub(e, (size_t)nodes[k]);
        double *s_y = values_of(s, x, rows, a);
        if (!s_y)
            return SNIP_NOMEM;
        if (!data_values_fit(s_y, rows))
            continue;
        data_perturbed *p = &out[(*count)++];
        *p = (data_perturbed){ .node = (size_t)nodes[k], .count = 1 };
        p->v[0].subtree = s;
        p->v[0].parent = e;
        p->v[0].subtree_y = s_y;
        p->v[0].parent_y = y;
        p->v[0].family = -1;
        data_behaviours seen = { .rows = rows, .a = a };
        if (data_behaviours_add(&seen, s_y) < 0)
            return SNIP_NOMEM;
        for (int t = 0; t < attempts; t++)
            if (!try_perturbation(p, e, x, rows, &seen, r, a))
                return SNIP_NOMEM;
    }
    return *count ? SNIP_OK : SNIP_UNSUPPORTED;
}
