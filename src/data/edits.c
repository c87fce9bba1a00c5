/* edits.c - see edits.h. */
#include "data/edits.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "base/text.h"
#include "data/gen.h"
#include "data/tokens.h"

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

/* Families -------------------------------------------------------------------------------------
 *
 * Each has up to five functions, which stand together here; the table below names them. A list has
 * room for three edits per node, or for all pairs of variables. */

static size_t list_group(data_edit *out, expr e, size_t i, const expr_op *group, data_family family)
{
    size_t n = 0;
    for (; *group; group++)
        if ((int)*group != e.node[i].op)
            out[n++] = (data_edit){ .family = family, .node = i, .to = (int)*group };
    return n;
}

static size_t list_unary_swaps(data_edit *out, expr e)
{
    size_t n = 0;
    for (size_t i = 0; i < e.count; i++)
        for (size_t g = 0; g < sizeof unary_groups / sizeof *unary_groups; g++)
            for (const expr_op *o = unary_groups[g]; *o; o++)
                if ((int)*o == e.node[i].op)
                    n += list_group(out + n, e, i, unary_groups[g], DATA_UNARY_SWAP);
    return n;
}

static size_t list_binary_swaps(data_edit *out, expr e)
{
    size_t n = 0;
    for (size_t i = 0; i < e.count; i++)
        for (const expr_op *o = binary_group; *o; o++)
            if ((int)*o == e.node[i].op)
                n += list_group(out + n, e, i, binary_group, DATA_BINARY_SWAP);
    return n;
}

static void apply_swap(expr *out, expr e, const data_edit *edit)
{
    append(out, e, 0);
    out->node[edit->node].op = (uint8_t)edit->to;
}

static int describe_swap(text *t, expr e, const data_edit *edit, const expr_names *names)
{
    (void)names;
    text_add(t, "%s -> %s at node %zu", expr_ops[e.node[edit->node].op].name,
             expr_ops[edit->to].name, edit->node);
    return 1;
}

/* One occurrence, drawn at random, of each operator type. */
static size_t draw_one_per_type(data_edit *edits, size_t n, expr e, size_t most, rng *r)
{
    size_t chosen[EXPR_OP_COUNT], seen[EXPR_OP_COUNT] = { 0 }, kept = 0;
    (void)most;
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

static void apply_substitution(expr *out, expr e, const data_edit *edit)
{
    append(out, e, 0);
    for (size_t k = 0; k < e.count; k++)
        if (e.node[k].op == EXPR_VARIABLE && e.node[k].var == edit->node)
            out->node[k].var = (uint16_t)edit->to;
}

static int describe_substitution(text *t, expr e, const data_edit *edit, const expr_names *names)
{
    (void)e;
    expr_node from = { .op = EXPR_VARIABLE, .var = (uint16_t)edit->node, .len = 1 };
    expr_node to = { .op = EXPR_VARIABLE, .var = (uint16_t)edit->to, .len = 1 };
    const char *old = expr_print((expr){ &from, 1 }, SNIP_INFIX, names, 0, t->a);
    const char *new = expr_print((expr){ &to, 1 }, SNIP_INFIX, names, 0, t->a);
    if (old && new)
        text_add(t, "%s -> %s", old, new);
    return old && new;
}

/* What `most` uniform draws with replacement meet, each once: the counts of the paper's pool are
 * those of 64 draws of a substitution, not of all pairs. */
static size_t draw_with_replacement(data_edit *edits, size_t n, expr e, size_t most, rng *r)
{
    size_t met = 0; /* edits[0..met) have been drawn */
    (void)e;
    for (size_t k = 0; n > 0 && k < most; k++) {
        size_t i = rng_below(r, (uint32_t)n);
        if (i < met)
            continue;
        data_edit t = edits[i];
        edits[i] = edits[met];
        edits[met++] = t;
    }
    return met;
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

/* Nodes before i as they are, and those behind its subtree; the subtree itself has been written in
 * between, in another order. */
static void append_before(expr *out, expr e, size_t i)
{
    memcpy(out->node, e.node, i * sizeof *e.node);
    out->count = i;
}

static void append_behind(expr *out, expr e, size_t i)
{
    size_t end = i + e.node[i].len;
    memcpy(out->node + end, e.node + end, (e.count - end) * sizeof *e.node);
    out->count = e.count;
    expr_measure(*out);
}

static void apply_rotation(expr *out, expr e, const data_edit *edit)
{
    append_before(out, e, edit->node);
    append_rotated(out, e, edit->node, edit->to);
    append_behind(out, e, edit->node);
}

static int describe_rotation(text *t, expr e, const data_edit *edit, const expr_names *names)
{
    (void)e, (void)names;
    text_add(t, "child %d of node %zu rotated up", edit->to + 1, edit->node);
    return 1;
}

static size_t list_reorderings(data_edit *out, expr e)
{
    size_t n = 0;
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_SUB || e.node[i].op == EXPR_DIV)
            out[n++] = (data_edit){ .family = DATA_OPERAND_REORDERING, .node = i };
    return n;
}

static void apply_reordering(expr *out, expr e, const data_edit *edit)
{
    size_t i = edit->node;
    append_before(out, e, i);
    append_op(out, &e.node[i]);
    append(out, e, expr_child(e, i, 1));
    append(out, e, expr_child(e, i, 0));
    append_behind(out, e, i);
}

static int describe_reordering(text *t, expr e, const data_edit *edit, const expr_names *names)
{
    (void)names;
    text_add(t, "operands of %s at node %zu exchanged", expr_ops[e.node[edit->node].op].name,
             edit->node);
    return 1;
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

static int describe_rewriting(text *t, expr e, const data_edit *edit, const expr_names *names)
{
    (void)e;
    const char *new = expr_print(edit->tree, SNIP_INFIX, names, 5, t->a);
    if (new)
        text_add(t, "node %zu -> %s", edit->node, new);
    return new != NULL;
}

/* A family is a row. One without a list draws its edits one by one. */
#define FAMILIES(ROW)                                                                              \
    ROW(DATA_UNARY_SWAP, "unary_swap", 1, list_unary_swaps, apply_swap, describe_swap,             \
        draw_one_per_type)                                                                         \
    ROW(DATA_VARIABLE_SUBSTITUTION, "variable_substitution", 1, list_substitutions,                \
        apply_substitution, describe_substitution, draw_with_replacement)                          \
    ROW(DATA_BINARY_SWAP, "binary_swap", 1, list_binary_swaps, apply_swap, describe_swap,          \
        draw_one_per_type)                                                                         \
    ROW(DATA_TREE_RESHAPING, "tree_reshaping", 0, list_rotations, apply_rotation,                  \
        describe_rotation, NULL)                                                                   \
    ROW(DATA_OPERAND_REORDERING, "operand_reordering", 0, list_reorderings, apply_reordering,      \
        describe_reordering, NULL)                                                                 \
    ROW(DATA_SUBTREE_REWRITING, "subtree_rewriting", 0, NULL, NULL, describe_rewriting, NULL)

typedef struct family {
    size_t (*list)(data_edit *out, expr e);                  /* all edits; returns how many */
    void (*apply)(expr *out, expr e, const data_edit *edit); /* into room for e's nodes */
    int (*describe)(text *t, expr e, const data_edit *edit, const expr_names *names);
    /* Which of the n listed ones the evaluation draws; returns how many. NULL: all. */
    size_t (*draw)(data_edit *edits, size_t n, expr e, size_t most, rng *r);
} family;

#define PUBLIC_ROW(id, name, trained, list, apply, describe, draw)                                 \
    [id] = { name, trained, (list) != NULL },
const data_family_row data_families[DATA_FAMILIES] = { FAMILIES(PUBLIC_ROW) };
#define ROW(id, name, trained, list, apply, describe, draw) [id] = { list, apply, describe, draw },
static const family families[DATA_FAMILIES] = { FAMILIES(ROW) };

size_t data_edits_list(data_edit **out, expr e, data_family which, arena *a)
{
    int v[EXPR_VARIABLES_MAX];
    size_t variables = (size_t)variables_of(e, v);
    size_t pairs = variables * variables, room = pairs > 3 * e.count ? pairs : 3 * e.count;
    *out = arena_array(a, room + 1, sizeof **out);
    if (!*out)
        return (size_t)-1;
    return families[which].list ? families[which].list(*out, e) : 0;
}

expr data_edit_apply(expr e, const data_edit *edit, arena *a)
{
    const family *f = &families[edit->family];
    if (!f->apply) /* the edit brings a tree of its own */
        return edit->tree.node ? expr_splice(e, edit->node, edit->tree, a) : edit->tree;
    expr out = { arena_array(a, e.count, sizeof *out.node), 0 };
    if (out.node)
        f->apply(&out, e, edit);
    return out;
}

const char *data_edit_describe(expr e, const data_edit *edit, const expr_names *names, arena *a)
{
    text t = { .a = a };
    return families[edit->family].describe(&t, e, edit, names) ? text_end(&t) : NULL;
}

/* Behaviour ------------------------------------------------------------------------------------ */

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

static void shuffle_edits(data_edit *edits, size_t n, rng *r)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = rng_below(r, (uint32_t)i);
        data_edit t = edits[i - 1];
        edits[i - 1] = edits[j];
        edits[j] = t;
    }
}

/* The candidates of a family, at most `most`. */
static size_t candidates(data_edit **out, expr e, data_family which, size_t most, rng *r, arena *a)
{
    const family *f = &families[which];
    if (!f->list) {
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
    size_t n = data_edits_list(out, e, which, a);
    if (n == (size_t)-1)
        return n;
    if (f->draw)
        n = f->draw(*out, n, e, most, r);
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
    data_edit *list[DATA_FAMILIES];
    size_t count[DATA_FAMILIES];
    int applicable[DATA_FAMILIES], n = 0;
    for (int f = 0; f < DATA_FAMILIES; f++) {
        if (!data_families[f].trained)
            continue;
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

expr data_constant_changed(expr e, const size_t *constant, size_t n, rng *r, arena *a)
{
    expr out = { arena_copy(a, e.node, e.count * sizeof *e.node), e.count };
    size_t at = constant[rng_below(r, (uint32_t)n)];
    double u = 0.15 + 0.85 * rng_uniform(r);
    uint32_t kind = rng_below(r, 4); /* the sign, or up to ten times more or less */
    double factor = kind == 0 ? -1 : pow(10, kind % 2 ? u : -u);
    if (out.node) {
        out.node[at].value *= factor;
        out.node[at].integer = 0;
    }
    return out;
}

/* s after a random training edit, and the edit's family: that of constants, or else any other.
 * Returns 1, 0 if none applies, -1 when memory is out. */
static int draw_edited(expr *out, int *family, expr s, double constants, rng *r, arena *a)
{
    if (constants > 0 && rng_uniform(r) < constants) {
        size_t *node = arena_array(a, s.count, sizeof *node),
               n = node ? expr_constants(s, node) : 0;
        *family = DATA_CONSTANT_CHANGE;
        if (n)
            *out = data_constant_changed(s, node, n, r, a);
        if (!node || (n && !out->node))
            return -1;
        if (n)
            return 1;
    }
    data_edit edit;
    int drawn = draw_training_edit(&edit, s, r, a);
    if (drawn <= 0)
        return drawn;
    *family = (int)edit.family;
    *out = data_edit_apply(s, &edit, a);
    return out->node ? 1 : -1;
}

/* Tries one edit and appends it to `out` if it passes. Returns 0 when memory is out. */
static int try_perturbation(data_perturbed *out, expr e, double constants, const double *const *x,
                            size_t rows, data_behaviours *seen, rng *r, arena *a)
{
    expr subtree;
    int family, drawn = draw_edited(&subtree, &family, out->v[0].subtree, constants, r, a);
    if (drawn <= 0)
        return drawn == 0;
    expr parent = expr_splice(e, out->node, subtree, a);
    if (!parent.node)
        return 0;
    if (family == DATA_CONSTANT_CHANGE && !fits_sequence(parent)) /* 2 is one word, 0.5 three */
        return 1;
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
        out->v[k].family = family;
    }
    return new >= 0;
}

snip_code data_perturb(data_perturbed *out, size_t *count, const data_perturb_how *how, expr e,
                       const double *const *x, size_t rows, const double *y, rng *r, arena *a)
{
    int *nodes = arena_array(a, e.count, sizeof *nodes);
    if (!nodes)
        return SNIP_NOMEM;
    int n = (int)data_subtrees(e, nodes);
    rng_shuffle(r, nodes, n);
    *count = 0;
    for (int k = 0; k < n && *count < how->subtrees; k++) {
        expr s = expr_subtree(e, (size_t)nodes[k]);
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
        for (int t = 0; t < how->edits; t++)
            if (!try_perturbation(p, e, how->constants, x, rows, &seen, r, a))
                return SNIP_NOMEM;
    }
    return *count ? SNIP_OK : SNIP_UNSUPPORTED;
}
