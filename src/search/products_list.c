/* products_list.c - formulas of the stage `products` measured in y, and their exponents written. */
#include "search/products_int.h"

#include <math.h>
#include <stdlib.h>

#include "search/bits.h"
#include "search/build.h"

#define LOOSE 0.02 /* an exponent that is farther from a half may be none */

enum { OFFERS = 24 }; /* of a list */

void search_shortlist_consider(search_job *j, const products_work *w, products_list *list, expr e)
{
    if (list->count == list->room || !e.node || e.count > 3 * SEARCH_SIZE_MAX)
        return;
    arena_pos mark = arena_mark(j->tmp);
    size_t rows = w->whole->rows < SEARCH_MANY ? w->whole->rows : SEARCH_MANY;
    const double *y = w->whole->y;
    double *f = arena_array(j->tmp, rows, sizeof *f), ff = 0, fy = 0, yy = 0, mean = 0, rest = 0;
    search_count(j, 1 + rows / SEARCH_SOME);
    if (f && expr_eval(e, w->whole->x, rows, f, j->tmp) == rows) {
        for (size_t i = 0; i < rows; i++) {
            ff += f[i] * f[i];
            fy += f[i] * y[i];
            mean += y[i];
        }
        mean /= (double)rows;
        double c = ff > 0 ? fy / ff : 0;
        for (size_t i = 0; i < rows; i++) {
            yy += (y[i] - mean) * (y[i] - mean);
            rest += (y[i] - c * f[i]) * (y[i] - c * f[i]);
        }
        double loss = yy > 0 ? rest / yy : INFINITY;
        if (isfinite(loss)) {
            const search_scale of = { .dim = w->v->dim, .rows = rows, .telling = (double)rows };
            list->at[list->count] = (products_candidate){ .e = e,
                                                          .bits = search_bits(e, loss, &of),
                                                          .order = list->count };
            list->count++;
        }
    }
    arena_reset(j->tmp, mark);
}

static int by_bits(const void *a, const void *b)
{
    const products_candidate *p = a, *q = b;
    if (p->bits != q->bits)
        return p->bits < q->bits ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

void search_shortlist_offer(search_job *j, const products_work *w, products_list *list)
{
    qsort(list->at, list->count, sizeof *list->at, by_bits);
    for (size_t k = 0; k < list->count && k < OFFERS && !search_job_over(j); k++)
        search_offer_hard(j, w->v, list->at[k].e, 1);
}

int search_shortlist_make(products_list *list, size_t room, arena *a)
{
    *list = (products_list){ .at = arena_array(a, room, sizeof *list->at), .room = room };
    return list->at != NULL;
}

void search_products_weigh(double *v, const double *weight, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        v[i] = weight[i] > 0 ? v[i] * weight[i] : 0;
}

size_t search_products_logs(const products_work *w, const double *weight, size_t rows,
                            double **base, size_t *which, arena *a)
{
    size_t n = 0;
    for (size_t k = 0; k <= w->d.n; k++) {
        if (k < w->d.n && w->d.sign[k] == 0)
            continue;
        double *v = base[n] = arena_array(a, rows, sizeof *v);
        if (!v)
            return 0;
        for (size_t i = 0; i < rows; i++)
            v[i] = k < w->d.n ? log(fabs(w->v->x[w->d.input[k]][i])) : 1;
        search_products_weigh(v, weight, rows);
        which[n++] = k;
    }
    return n;
}

double search_products_halves(double p)
{
    return round(2 * p) / 2;
}

int search_products_powers(const products_work *w, const double *coef, const size_t *which,
                           size_t n, products_snapping to, monomial *m, expr *free, arena *a)
{
    int any = 0;
    *m = (monomial){ { 0 }, 0 };
    *free = (expr){ NULL, 0 };
    for (size_t k = 0; k < n; k++) {
        double p = search_products_halves(coef[k]);
        if (!(fabs(coef[k]) < 10))
            return 0;
        if (to == TO_WHOLE && p != round(coef[k])) {
            m->p[which[k]] = (int8_t)(2 * round(coef[k]));
            any = 1;
        } else if (to == TO_NONE && fabs(coef[k] - p) > LOOSE && w->d.sign[which[k]] > 0) {
            expr x = search_variable(w->d.input[which[k]], a);
            x = search_binary(EXPR_POW, x, search_number(coef[k], a), a);
            *free = search_dictionary_times_of(*free, x, a);
            any = 1;
        } else {
            m->p[which[k]] = (int8_t)(2 * p);
        }
    }
    return any || to == TO_HALVES;
}
