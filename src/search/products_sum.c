/* products_sum.c - y as a sum: (y/M)^q = sum c_k t_k with terms t of a dictionary. */
#include "search/products_int.h"

#include <math.h>

#include "search/build.h"

enum {
    NOISY_COLUMNS = 2000,
    SUM_COLUMNS = 1400,
    TIMES = 9, /* columns of a short part: times 1 and the shortest monomials */
    DEEP_ROWS = 128
};

/* A term: a monomial, times a part or not. */
typedef struct term {
    int part; /* -1: none */
    monomial m;
} term;

static size_t sum_terms(const products_work *w, const products_task *t, term *out, size_t room,
                        arena *a)
{
    const dictionary *d = &w->d;
    size_t n = 0, parts = 0;
    monomial *m = arena_array(a, room, sizeof *m);
    if (!m)
        return 0;
    out[n++] = (term){ .part = -1 }; /* 1 */
    if (t->deep) {
        size_t count = search_dictionary_monomials(d, t->rest, d->n, EXPONENTS_TWO, m, room - 1);
        for (size_t k = 0; k < count; k++)
            out[n++] = (term){ .part = -1, .m = m[k] };
        return n;
    }
    for (size_t k = 0; k < d->parts; k++)
        parts += d->part[k].use & PART_TERM && !(d->part[k].inputs & ~t->rest);
    size_t count = search_dictionary_monomials(d, t->rest, d->n, EXPONENTS_ANY, m,
                                               parts ? room * 3 / 5 : room - 1);
    for (size_t k = 0; k < count; k++)
        out[n++] = (term){ .part = -1, .m = m[k] };
    /* The first parts, which are the shortest, with monomials before them; the others alone. */
    size_t rich = parts ? (room - n) / (2 * TIMES) : 0;
    for (size_t k = 0, seen = 0; k < d->parts; k++) {
        const part *p = &d->part[k];
        if (!(p->use & PART_TERM) || p->inputs & ~t->rest)
            continue;
        size_t each = seen++ < rich ? TIMES : 1;
        for (size_t i = 0; i < each && i <= count && n < room; i++)
            out[n++] = (term){ .part = (int)k, .m = i ? m[i - 1] : (monomial){ { 0 }, 0 } };
    }
    return n;
}

static expr term_formula(const products_work *w, const term *t, arena *a)
{
    expr m = search_dictionary_product(&w->d, &t->m, a);
    return t->part < 0 ? m : search_dictionary_times_of(m, w->d.part[t->part].e, a);
}

/* M * (common * sum of c_k t_k)^(1/q), where `common` is what all terms share. */
static expr sum_formula(const products_work *w, const products_task *t, const term *terms,
                        const sparse_model *model, arena *a)
{
    const dictionary *d = &w->d;
    monomial common = terms[model->term[0]].m, outer = t->m;
    for (size_t k = 1; k < model->count; k++)
        for (size_t i = 0; i < d->n; i++) {
            int8_t p = common.p[i], r = terms[model->term[k]].m.p[i];
            common.p[i] = (int8_t)(p > 0 && r > 0   ? (p < r ? p : r)
                                   : p < 0 && r < 0 ? (p > r ? p : r)
                                                    : 0);
        }
    for (size_t i = 0; i < d->n; i++) {
        double p = common.p[i] / t->q;
        if (p != round(p)) {
            common.p[i] = 0; /* a fourth root stays inside */
            p = 0;
        }
        outer.p[i] = (int8_t)(outer.p[i] + p);
    }
    expr sum = { NULL, 0 };
    for (size_t k = 0; k < model->count; k++) {
        term one = terms[model->term[k]];
        for (size_t i = 0; i < d->n; i++)
            one.m.p[i] = (int8_t)(one.m.p[i] - common.p[i]);
        expr f = search_dictionary_times_of(search_number(model->coef[k], a),
                                            term_formula(w, &one, a), a);
        sum = k ? search_binary(EXPR_ADD, sum, f, a) : f;
    }
    return search_dictionary_times_of(search_dictionary_product(d, &outer, a),
                                      search_power(sum, 1 / t->q, a), a);
}

void search_products_sum(search_job *j, const products_work *w, const products_task *t)
{
    arena *a = j->tmp;
    size_t rows = w->few, room = w->v->depth ? SUM_COLUMNS / 2 : SUM_COLUMNS;
    if (w->noisy)
        room = t->deep ? NOISY_COLUMNS : room / 2;
    else if (t->deep) { /* twice the columns on half of the rows cost twice the time */
        rows = rows < DEEP_ROWS ? rows : DEEP_ROWS;
        room *= 2;
    }
    room = search_products_columns(w, room, rows);
    double *target = arena_array(a, rows, sizeof *target);
    double *weight = arena_array(a, rows, sizeof *weight);
    double *part_value = arena_array(a, rows, sizeof *part_value);
    double *bits = arena_array(a, room, sizeof *bits);
    term *terms = arena_array(a, room, sizeof *terms);
    double *value = arena_array(a, room * rows, sizeof *value);
    sparse_model *model = arena_array(a, SPARSE_TERMS_MAX * EACH, sizeof *model);
    products_list list;
    if (!target || !weight || !bits || !terms || !value || !model || !part_value ||
        !search_shortlist_make(&list, SPARSE_TERMS_MAX * EACH, a)) {
        j->no_memory = 1;
        return;
    }
    for (size_t i = 0; i < rows; i++)
        weight[i] = 1;
    search_dictionary_times(&w->d, &t->m, weight, rows);
    for (size_t i = 0; i < rows; i++) {
        double y = w->v->y[i] / weight[i];
        if (!isfinite(y))
            return;
        if (t->q != 1 && (y == 0 || (t->q != -1 && y < 0)))
            weight[i] = target[i] = 0; /* it says nothing */
        else {
            target[i] = pow(y, t->q);
            weight[i] = fabs(weight[i] * y / (t->q * target[i])); /* dy / dt */
            if (t->q == 1)
                weight[i] = fabs(w->v->y[i] / y);
        }
        if (t->q == 1 && y == 0) {
            target[i] = 0;
            weight[i] = 1;
        }
        target[i] *= weight[i];
    }
    size_t n = sum_terms(w, t, terms, room, a);
    int last = -1;
    for (size_t k = 0; k < n; k++) {
        double *v = value + k * rows;
        bits[k] = NODE_BITS *
                  (terms[k].m.cost + 4 + (terms[k].part >= 0 ? w->d.part[terms[k].part].cost : 0));
        if (k % 64 == 0 && search_job_over(j))
            return;
        if (terms[k].part >= 0 && terms[k].part != last) {
            last = terms[k].part;
            expr_eval(w->d.part[last].e, w->v->x, rows, part_value, a);
        }
        for (size_t i = 0; i < rows; i++)
            v[i] = terms[k].part >= 0 ? part_value[i] * weight[i] : weight[i];
        search_dictionary_times(&w->d, &terms[k].m, v, rows);
    }
    sparse s;
    if (n > 0 && search_sparse_begin(&s, value, bits, n, target, rows, j, a)) {
        size_t found = search_sparse_search(&s, model, EACH, SPARSE_TERMS_MAX, j);
        for (size_t k = 0; k < found && !search_job_over(j); k++)
            search_shortlist_consider(j, w, &list, sum_formula(w, t, terms, &model[k], a));
    }
    search_shortlist_offer(j, w, &list);
}
