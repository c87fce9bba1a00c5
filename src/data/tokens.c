/* tokens.c - see tokens.h. */
#include "data/tokens.h"

#include <math.h>

#include "base/text.h"

/* An integer with a word of its own. */
static int has_integer_word(const expr_node *n)
{
    return n->integer && fabs(n->value) <= DATA_INTEGER_MAX;
}

/* `v` may be NULL: SNIP's words. */
static size_t node_tokens(const expr_node *n, const data_vocab *v)
{
    return n->op == EXPR_NUMBER && !(v && v->values) && !has_integer_word(n) ? 3 : 1;
}

static size_t count_tokens(expr e, const data_vocab *v)
{
    size_t count = 2;
    for (size_t i = 0; i < e.count; i++)
        count += node_tokens(&e.node[i], v);
    return count;
}

size_t data_tokens_count(expr e)
{
    return count_tokens(e, NULL);
}

/* The ids of one node; numbers here are float words. */
static snip_code node_ids(uint16_t *id, const expr_node *n, const data_vocab *v, snip_status *st)
{
    if (n->op == EXPR_VARIABLE) {
        if (n->var >= v->dims)
            return status_fail(st, SNIP_UNSUPPORTED, 0, "variable x%d: the model has %d input%s",
                               n->var, v->dims, text_plural((uint64_t)v->dims));
        id[0] = v->variable[n->var];
    } else if (n->op == EXPR_NUMBER && has_integer_word(n)) {
        id[0] = v->integer[(int)n->value + DATA_INTEGER_MAX];
    } else if (n->op == EXPR_NUMBER) {
        if (!data_vocab_float(v, n->value, id))
            return status_fail(st, SNIP_UNSUPPORTED, 0,
                               "constant %g is too large for the model's number tokens", n->value);
        for (int k = 0; k < 3; k++)
            id[k] = (uint16_t)(id[k] + v->shift);
    } else if (n->op < EXPR_VOCABULARY_END) {
        id[0] = v->op[n->op];
    } else {
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "operator '%s' is not in the model's vocabulary", expr_ops[n->op].name);
    }
    return SNIP_OK;
}

/* A number in a vocabulary of values. */
static snip_code constant(uint16_t *id, double *value, const expr_node *n, const data_vocab *v,
                          int hide, snip_status *st)
{
    if (!isfinite(n->value))
        return status_fail(st, SNIP_UNSUPPORTED, 0, "a constant of the formula is not finite");
    *id = hide ? v->hidden : v->shown;
    *value = hide ? NAN : n->value;
    return SNIP_OK;
}

static snip_code make(data_tokens *out, expr e, const data_vocab *v, int form, arena *a,
                      snip_status *st)
{
    size_t count = count_tokens(e, v), nodes = e.count;
    if (count > DATA_SEQUENCE_MAX)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "formula has %zu tokens, the model reads at most %d", count,
                           DATA_SEQUENCE_MAX);
    *out = (data_tokens){ .count = count, .nodes = nodes };
    out->id = arena_array(a, count, sizeof *out->id);
    out->node = arena_array(a, count, sizeof *out->node);
    out->first = arena_array(a, nodes + 1, sizeof *out->first);
    out->end = arena_array(a, nodes, sizeof *out->end);
    out->parent = arena_array(a, nodes, sizeof *out->parent);
    out->slot = arena_array(a, nodes, sizeof *out->slot);
    out->value = v->values ? arena_array(a, count, sizeof *out->value) : NULL;
    if (!out->id || !out->node || !out->first || !out->end || !out->parent || !out->slot ||
        (v->values && !out->value))
        return status_nomem(st);
    for (size_t t = 0; t < count && out->value; t++)
        out->value[t] = NAN;

    size_t at = 0;
    out->id[at] = (uint16_t)(form ? DATA_FORM : v->eos);
    out->node[at++] = -1;
    out->parent[0] = -1;
    out->slot[0] = 0;
    for (size_t i = 0; i < nodes; i++) {
        const expr_node *n = &e.node[i];
        snip_code code = v->values && n->op == EXPR_NUMBER
                             ? constant(out->id + at, out->value + at, n, v, form && !n->fixed, st)
                             : node_ids(out->id + at, n, v, st);
        if (code != SNIP_OK)
            return code;
        out->first[i] = (int32_t)at;
        for (size_t k = node_tokens(n, v); k-- > 0;)
            out->node[at++] = (int32_t)i;
        for (int slot = 0; slot < expr_ops[e.node[i].op].arity; slot++) {
            size_t child = expr_child(e, i, slot);
            out->parent[child] = (int32_t)i;
            out->slot[child] = (uint8_t)(slot + 1);
        }
    }
    out->first[nodes] = (int32_t)at;
    out->id[at] = (uint16_t)v->eos;
    out->node[at] = -1;
    for (size_t i = 0; i < nodes; i++)
        out->end[i] = out->first[i + e.node[i].len];
    return SNIP_OK;
}

snip_code data_tokens_make(data_tokens *out, expr e, const data_vocab *v, arena *a, snip_status *st)
{
    return make(out, e, v, 0, a, st);
}

snip_code data_tokens_form(data_tokens *out, expr core, const data_vocab *v, arena *a,
                           snip_status *st)
{
    if (!v->values)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "the model has no form view: it reads constants as tokens");
    return make(out, core, v, 1, a, st);
}

size_t data_tokens_path(const data_tokens *t, size_t node, uint8_t *path)
{
    size_t depth = 0;
    for (int32_t i = (int32_t)node; t->parent[i] >= 0; i = t->parent[i])
        path[depth++] = t->slot[i];
    for (size_t i = 0; i < depth / 2; i++) {
        uint8_t s = path[i];
        path[i] = path[depth - 1 - i];
        path[depth - 1 - i] = s;
    }
    return depth;
}
