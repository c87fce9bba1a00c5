/* near.c - see near.h. */
#include "search/near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/build.h"

enum { LOOKUP_COST = 500 }; /* evaluations that an embedding of a table takes the time of */

snip_code search_near_open(search_near **out, search *s, snip_status *st)
{
    const model_opened *t = s->how->model;
    search_near *n = arena_zero(s->a, sizeof *n);
    *out = NULL;
    if (!n)
        return status_nomem(st);
    *n = (search_near){ .s = s, .forms = t->m->config.forms };
    n->vectors = model_space_new(t->m, t->tree, s->how->threads);
    snip_code code =
        n->vectors ? library_open(&n->library, s->how->library, t, st) : status_nomem(st);
    if (code == SNIP_OK)
        *out = n;
    else
        search_near_close(n);
    return code;
}

void search_near_close(search_near *n)
{
    if (!n)
        return;
    library_close(n->library);
    model_space_free(n->vectors);
}

/* A row of the library, and the vector that it was found with. */
typedef struct looked_up {
    library_hit hit;
    const float *table;
} looked_up;

/* Most similar first, then the library's order. */
static int by_similarity(const void *a, const void *b)
{
    const library_hit *p = &((const looked_up *)a)->hit, *q = &((const looked_up *)b)->hit;
    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    return p->id < q->id ? -1 : p->id > q->id;
}

double search_promise(const model_promise *w, const regress_nearness *near, double correlation,
                      expr e, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t *node = arena_array(tmp, e.count, sizeof *node);
    if (!node)
        return NAN;
    const model_promise_facts f = { .similarity = near->similarity,
                                    .correlation = correlation,
                                    .nodes = e.count,
                                    .constants = expr_constants(e, node),
                                    .form = near->form,
                                    .table = near->table };
    arena_reset(tmp, mark);
    return model_promise_value(w, &f);
}

snip_code search_near_find(search_near *n, const regress_problem *p, regress_inputs set,
                           near_form *out, size_t *count, arena *a, snip_status *st)
{
    const size_t latent = n->vectors->latent;
    float *z = arena_array(a, 2 * latent, sizeof *z); /* as it is, and turned */
    looked_up hit[2 * NEAR_FORMS];
    size_t hits = 0, order[NEAR_INPUTS], inputs = 0;
    regress_view from = n->forms ? REGRESS_FORM : REGRESS_EXACT;
    *count = 0;
    if (!z)
        return status_nomem(st);
    for (size_t k = 0; k < p->dim && inputs < NEAR_INPUTS; k++)
        if (set >> p->order[k] & 1)
            order[inputs++] = p->order[k];
    for (regress_view view = from; view <= (n->forms ? REGRESS_FORM_TURNED : REGRESS_EXACT);
         view++) {
        size_t found = 0;
        float *table = z + (view == REGRESS_FORM_TURNED ? latent : 0);
        library_hit these[NEAR_FORMS];
        n->s->evaluations += LOOKUP_COST;
        snip_code code = regress_problem_embed(p, set, view, n->vectors, table, st);
        if (code == SNIP_OK)
            code = library_search(n->library, table, NEAR_FORMS, (int)inputs, n->s->how->threads,
                                  these, &found, st);
        else if (code == SNIP_UNSUPPORTED)
            code = SNIP_OK;
        if (code != SNIP_OK)
            return code;
        for (size_t i = 0; i < found; i++)
            hit[hits++] = (looked_up){ these[i], table };
    }
    qsort(hit, hits, sizeof *hit, by_similarity);
    for (size_t i = 0; i < hits && *count < NEAR_FORMS; i++) {
        library_row row;
        float *form = arena_array(a, latent, sizeof *form);
        snip_code code =
            form ? library_formula(&row, n->library, hit[i].hit.id, a, st) : status_nomem(st);
        if (code != SNIP_OK)
            return code;
        if (expr_inputs(row.e) > inputs)
            continue;
        near_form *to = &out[(*count)++];
        library_vector(form, n->library, hit[i].hit.id);
        *to = (near_form){
            .row = row.e,
            .near = { .similarity = hit[i].hit.score, .form = form, .table = hit[i].table }
        };
        memcpy(to->order, order, inputs * sizeof *order);
    }
    return SNIP_OK;
}

/* Whether the part at i is an input, or a multiple of one. */
static int is_input(expr e, size_t i)
{
    if (e.node[i].op == EXPR_MUL && e.node[i + 1].op == EXPR_NUMBER)
        i += 2;
    return e.node[i].op == EXPR_VARIABLE;
}

/* Copies the part at i without what is added to single inputs. */
static size_t strip(expr_node *out, size_t n, expr e, size_t i)
{
    if (e.node[i].op == EXPR_ADD && e.node[i + 1].op == EXPR_NUMBER && is_input(e, i + 2))
        return strip(out, n, e, i + 2);
    out[n] = e.node[i];
    out[n++].fixed = 0;
    for (int k = 0; k < expr_ops[e.node[i].op].arity; k++)
        n = strip(out, n, e, expr_child(e, i, k));
    return n;
}

expr search_near_place(const near_form *f, int forms, const double *mean, const double *deviation,
                       arena *a)
{
    expr out = { arena_copy(a, f->row.node, f->row.count * sizeof *out.node), f->row.count };
    expr by[NEAR_INPUTS];
    if (!out.node)
        return out;
    if (forms)
        out.count = strip(out.node, 0, f->row, 0);
    expr_measure(out);
    size_t n = expr_inputs(out);
    for (size_t i = 0; i < n; i++) {
        size_t j = f->order[i];
        expr x = search_variable(j, a);
        if (!forms)
            x = search_binary(EXPR_SUB, x, search_number(mean[j], a), a);
        by[i] = search_binary(EXPR_DIV, x, search_number(deviation[j], a), a);
        if (!by[i].node)
            return (expr){ NULL, 0 };
    }
    return expr_substitute(out, by, n, a);
}
