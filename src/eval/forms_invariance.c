/* forms_invariance.c - what must not matter to a form: units, the columns' order, how a formula is
 * written; see forms.h.
 *
 * The truth and its table are changed together, so that they say the same as before. In the form
 * view the similarity stays; in the exact view it shows how much it depends on units. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/text.h"
#include "eval/forms.h"

enum { PROBLEMS = 50 };

enum {
    AS_IT_IS,
    Y_FACTOR,
    Y_OFFSET,
    X_LARGE,
    X_SMALL,
    COLUMNS,
    FRACTIONS,
    DISTRIBUTED,
    SQUARES,
    REORDERED,
    CHANGES
};
static const char *const names[CHANGES] = { "as_it_is", "y_factor", "y_offset",  "x_large",
                                            "x_small",  "columns",  "fractions", "distributed",
                                            "squares",  "reordered" };

/* Spellings ----------------------------------------------------------------------------------- */

/* A formula written down anew, node by node. */
typedef struct writer {
    expr from;
    expr_node *to;
    size_t n;
    int change, done; /* done: places that were changed */
} writer;

static int is(const writer *w, size_t i, int op)
{
    return w->from.node[i].op == op;
}

static int is_sum(const writer *w, size_t i)
{
    return is(w, i, EXPR_ADD) || is(w, i, EXPR_SUB);
}

static void put(writer *w, int op)
{
    w->to[w->n] = (expr_node){ .op = (uint8_t)op };
    w->n++;
}

/* The subtree at i as it is. */
static void put_part(writer *w, size_t i)
{
    size_t n = w->from.node[i].len;
    memcpy(w->to + w->n, w->from.node + i, n * sizeof *w->to);
    w->n += n;
}

/* The one place that a spelling changes, if it is here; returns whether it is. What it writes has
 * at most as many nodes more as the formula has. */
static int respell(writer *w, size_t i)
{
    const expr e = w->from;
    size_t left = i + 1, right = expr_ops[e.node[i].op].arity == 2 ? expr_child(e, i, 1) : i;
    if (w->change == FRACTIONS && is(w, i, EXPR_DIV) && is(w, right, EXPR_MUL)) {
        put(w, EXPR_DIV); /* k/(c*u) -> (k/c)/u */
        put(w, EXPR_DIV);
        put_part(w, left);
        put_part(w, right + 1);
        put_part(w, expr_child(e, right, 1));
    } else if (w->change == FRACTIONS && is(w, i, EXPR_DIV) && is(w, left, EXPR_DIV)) {
        put(w, EXPR_DIV); /* and back */
        put_part(w, left + 1);
        put(w, EXPR_MUL);
        put_part(w, expr_child(e, left, 1));
        put_part(w, right);
    } else if (w->change == DISTRIBUTED && is(w, i, EXPR_MUL) && is(w, left, EXPR_NUMBER) &&
               is_sum(w, right) &&
               (is(w, right + 1, EXPR_NUMBER) || is(w, expr_child(e, right, 1), EXPR_NUMBER))) {
        put(w, e.node[right].op); /* a*(b + u) -> a*b + a*u; else a would become two constants */
        put(w, EXPR_MUL);
        put_part(w, left);
        put_part(w, right + 1);
        put(w, EXPR_MUL);
        put_part(w, left);
        put_part(w, expr_child(e, right, 1));
    } else if (w->change == SQUARES &&
               (is(w, i, EXPR_POW2) ||
                (is(w, i, EXPR_POW) && is(w, right, EXPR_NUMBER) && e.node[right].value == 2))) {
        put(w, EXPR_MUL); /* u^2 -> u*u */
        put_part(w, left);
        put_part(w, left);
    } else {
        return 0;
    }
    w->done++;
    return 1;
}

static void write_from(writer *w, size_t i)
{
    int arity = expr_ops[w->from.node[i].op].arity;
    if (w->change != REORDERED && !w->done && respell(w, i))
        return;
    size_t left = i + 1, right = arity == 2 ? expr_child(w->from, i, 1) : 0;
    w->to[w->n++] = w->from.node[i];
    if (w->change == REORDERED && (is(w, i, EXPR_ADD) || is(w, i, EXPR_MUL))) {
        write_from(w, right); /* a + b -> b + a, everywhere */
        write_from(w, left);
        w->done++;
        return;
    }
    if (arity > 0)
        write_from(w, left);
    if (arity > 1)
        write_from(w, right);
}

/* e in another spelling, in `a`; e itself where there is nothing to change. node is NULL when
 * memory is out. */
static expr spelled(expr e, int change, arena *a)
{
    writer w = { .from = e, .change = change };
    w.to = arena_zero(a, (2 * e.count + 4) * sizeof *w.to);
    if (!w.to)
        return (expr){ 0 };
    write_from(&w, 0);
    expr out = { w.to, w.n };
    return w.done && expr_measure(out) ? out : e;
}

/* Units and columns --------------------------------------------------------------------------- */

/* Every x_j of e replaced: by factor * x_j, or by the columns counted from the other end. */
static expr in_units(expr e, int dim, double factor, int reverse, arena *a)
{
    expr by[DATA_DIMS_MAX];
    for (int j = 0; j < dim; j++) {
        by[j] = reverse ? (expr){ arena_zero(a, sizeof(expr_node)), 1 }
                        : expr_affine(0, factor, (size_t)j, a);
        if (!by[j].node)
            return (expr){ 0 };
        if (reverse)
            *by[j].node =
                (expr_node){ .op = EXPR_VARIABLE, .var = (uint16_t)(dim - 1 - j), .len = 1 };
    }
    return expr_substitute(e, by, (size_t)dim, a);
}

/* Problem p changed: its truth, and its columns in q. *e is p's own truth where the change does not
 * apply. Returns 0 when memory is out. */
static int change(expr *e, forms_problem *q, const forms_problem *p, int what, arena *a)
{
    double units = what == X_LARGE ? 1000 : what == X_SMALL ? 1.0 / 7 : 1, factor = 1, offset = 0;
    *q = *p;
    *e = p->truth;
    if (what >= FRACTIONS) {
        *e = spelled(p->truth, what, a);
        return e->node != NULL;
    }
    if (what == AS_IT_IS || (what == COLUMNS && p->dim == 1))
        return 1;
    if (what == Y_FACTOR)
        factor = 1e4;
    if (what == Y_OFFSET) { /* of y in units of its deviation: six digits are left of ten */
        factor = 1e-6 / numbers_deviation(p->y, FORMS_TABLE);
        offset = 3;
    }
    double *y = arena_array(a, FORMS_POINTS, sizeof *y);
    q->x = arena_array(a, (size_t)p->dim, sizeof *q->x);
    if (!y || !q->x)
        return 0;
    for (size_t i = 0; i < FORMS_POINTS; i++)
        y[i] = offset + factor * p->y[i];
    q->y = y;
    for (int j = 0; j < p->dim; j++) {
        double *x = arena_array(a, FORMS_POINTS, sizeof *x);
        if (!x)
            return 0;
        for (size_t i = 0; i < FORMS_POINTS; i++)
            x[i] = units * p->x[what == COLUMNS ? p->dim - 1 - j : j][i];
        q->x[j] = x;
    }
    if (what == Y_FACTOR || what == Y_OFFSET)
        *e = regress_line(p->truth, offset, factor, a);
    else
        *e = in_units(p->truth, p->dim, 1 / units, what == COLUMNS, a);
    return e->node != NULL;
}

/* The suite's part ---------------------------------------------------------------------------- */

static snip_code prepare(forms_match *m, regress_problem *table, const forms_set *set, size_t index,
                         const forms_context *c, arena *a, arena *tmp)
{
    forms_problem p, q;
    snip_code code = forms_problem_draw(&p, set, index, c->how, a, tmp);
    for (int k = 0; k < CHANGES && code == SNIP_OK; k++) {
        text label = { .a = a };
        m[k] = (forms_match){ .p = NULL };
        if (p.n == 0)
            continue;
        if (!change(&m[k].e, &q, &p, k, a))
            return SNIP_NOMEM;
        if (k && m[k].e.node == p.truth.node)
            continue;
        code = forms_table(&table[k], &q, 0, c->how, a);
        if (code != SNIP_OK)
            return code;
        m[k].p = &table[k];
        m[k].matter = c->form ? regress_inputs_that_matter(&table[k]) : 0;
        text_add(&label, "\"part\":\"%s\",\"problem\":%zu,\"change\":\"%s\"",
                 set->what == FORMS_DRAW_CORPORA ? "invariance_corpora" : "invariance", index,
                 names[k]);
        m[k].label = m[k].table_label = c->s->seen ? text_end(&label) : NULL;
    }
    return code;
}

static json_t *figures(const forms_match *m, const double *similarity, size_t n, double *change,
                       const eval_how *how)
{
    json_t *o = json_object();
    for (int k = 1; k < CHANGES; k++) {
        double largest = NAN;
        size_t counted = 0;
        for (size_t i = 0; i < n; i++) {
            size_t at = i * CHANGES;
            change[i] =
                m[at + (size_t)k].p ? fabs(similarity[at + (size_t)k] - similarity[at]) : NAN;
            largest = fmax(largest, change[i]);
            counted += !isnan(change[i]);
        }
        json_object_set_new(o, names[k],
                            json_pack("{s:I,s:o,s:o}", "problems", (json_int_t)counted, "mean",
                                      eval_figure_json(eval_mean(change, n, how->seed)), "largest",
                                      counted ? json_real(largest) : json_null()));
    }
    return o;
}

snip_code forms_invariance(json_t **out, const forms_set *set, forms_context *c, snip_status *st)
{
    /* Of laws there are more than the set counts. */
    size_t there = set->what == FORMS_DRAW_CORPORA ? set->count : 10 * set->count,
           n = there < PROBLEMS ? there : PROBLEMS, all = n * CHANGES, used = 0;
    forms_batch(c);
    arena *a = c->keep[0];
    regress_problem *table = arena_array(a, all + 1, sizeof *table);
    forms_match *m = arena_zero(a, (all + 1) * sizeof *m);
    forms_match *asked = arena_array(a, all + 1, sizeof *asked);
    double *similarity = arena_array(a, all + n + 1, sizeof *similarity);
    int failed = !table || !m || !asked || !similarity;
    if (failed)
        return status_nomem(st);
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->s->threads)
    for (size_t i = 0; i < n; i++) {
        int t = omp_get_thread_num();
        if (prepare(m + i * CHANGES, table + i * CHANGES, set, i, c, c->keep[t], c->tmp[t]) !=
            SNIP_OK)
#pragma omp atomic write
            failed = 1;
    }
    if (failed)
        return status_nomem(st);
    for (size_t i = 0; i < all; i++)
        if (m[i].p)
            asked[used++] = m[i];
    snip_code code = forms_compare(asked, used, c, st);
    for (size_t i = 0, k = 0; i < all && code == SNIP_OK; i++)
        similarity[i] = m[i].p ? asked[k++].similarity : NAN;
    if (code == SNIP_OK)
        *out = figures(m, similarity, n, similarity + all, c->how);
    return code;
}
