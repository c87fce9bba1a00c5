/* products_curve.c - y as a function of one product: y/M = k(u), u a product of powers. */
#include "search/products_int.h"

#include <math.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "search/build.h"

/* y/M = k(u), u a product of powers times a constant; each has a constant c of its own. */
typedef enum curve {
    ROOT_1,  /* c + u */
    ROOT_M1, /* 1/(c + u) */
    ROOT_2,  /* sqrt(c + u) */
    ROOT_M2, /* 1/sqrt(c + u) */
    GROWTH,  /* exp(c + u) */
    EXPM1,   /* c*(exp(u) - 1) */
    BOSE,    /* c/(exp(u) - 1) */
    FERMI,   /* c/(exp(u) + 1) */
    LOG1P,   /* c*log(1 + u) */
    TANH,    /* c*tanh(u) */
    CURVES
} curve;

static double curve_power(curve k)
{
    static const double power[] = { 1, -1, 2, -2 };
    return power[k];
}

/* u for a value t, and how y/M grows with u. */
static double curve_inverse(curve k, double t, double c, double *slope)
{
    double u;
    switch (k) {
    case ROOT_1:
    case ROOT_M1:
    case ROOT_2:
    case ROOT_M2:
        u = pow(t, curve_power(k));
        *slope = t / (curve_power(k) * u);
        if (k == ROOT_1)
            *slope = 1;
        return u - c;
    case GROWTH:
        *slope = t;
        return log(t) - c;
    case EXPM1:
        *slope = c + t;
        return log1p(t / c);
    case BOSE:
        *slope = t * t / c + t;
        return log1p(c / t);
    case FERMI:
        *slope = t - t * t / c;
        return log(c / t - 1);
    case LOG1P:
        *slope = c * exp(-t / c);
        return expm1(t / c);
    default:
        *slope = c * (1 - t / c * (t / c));
        return atanh(t / c);
    }
}

static expr curve_formula(curve k, expr u, double c, arena *a)
{
    expr number = search_number(c, a), one = search_fixed(1, a);
    switch (k) {
    case ROOT_1:
    case ROOT_M1:
    case ROOT_2:
    case ROOT_M2:
        return search_power(search_binary(EXPR_ADD, number, u, a), 1 / curve_power(k), a);
    case GROWTH: /* the factor exp(c) is fitted as a factor */
        return search_binary(EXPR_MUL, search_number(exp(c), a), search_unary(EXPR_EXP, u, a), a);
    case EXPM1:
        return search_binary(EXPR_MUL, number,
                             search_binary(EXPR_SUB, search_unary(EXPR_EXP, u, a), one, a), a);
    case BOSE:
        return search_binary(EXPR_DIV, number,
                             search_binary(EXPR_SUB, search_unary(EXPR_EXP, u, a), one, a), a);
    case FERMI:
        return search_binary(EXPR_DIV, number,
                             search_binary(EXPR_ADD, search_unary(EXPR_EXP, u, a), one, a), a);
    case LOG1P:
        return search_binary(EXPR_MUL, number,
                             search_unary(EXPR_LOG, search_binary(EXPR_ADD, one, u, a), a), a);
    default:
        return search_binary(EXPR_MUL, number, search_unary(EXPR_TANH, u, a), a);
    }
}

static int curve_may(const search *s, curve k)
{
    return k <= ROOT_M1   ? 1
           : k <= ROOT_M2 ? search_may(s, EXPR_SQRT)
           : k <= FERMI   ? search_may(s, EXPR_EXP)
           : k == LOG1P   ? search_may(s, EXPR_LOG)
                          : search_may(s, EXPR_TANH);
}

/* The fit of one curve with its constant given: log|u| on the inputs' logarithms. */
typedef struct curve_fit {
    const products_work *w;
    const double *outer; /* M */
    double *const *log_x;
    size_t n; /* logarithms and 1 */
    arena *tmp;
    double coef[DICTIONARY_INPUTS + 1];
    int sign; /* of u */
} curve_fit;

/* The mean square that is left of y, or +infinity: u has to have one sign in all rows but a few
 * that noise may have taken across. */
static double fit_curve(curve_fit *f, curve k, double c, size_t rows)
{
    arena_pos mark = arena_mark(f->tmp);
    double *t = arena_array(f->tmp, rows, sizeof *t),
           *weight = arena_array(f->tmp, rows, sizeof *t);
    double *column[DICTIONARY_INPUTS + 1], rest = INFINITY;
    size_t side[2] = { 0, 0 };
    int good = t && weight;
    for (size_t i = 0; i < rows && good; i++) {
        double slope, u = curve_inverse(k, f->w->v->y[i] / f->outer[i], c, &slope);
        t[i] = u;
        weight[i] = isfinite(u) && isfinite(slope) ? fabs(slope * u * f->outer[i]) : 0;
        side[u > 0] += weight[i] > 0;
    }
    f->sign = side[1] >= side[0] ? 1 : -1;
    if (good && side[f->sign > 0] >= rows - rows / 20) {
        for (size_t i = 0; i < rows; i++) {
            if (!(t[i] * f->sign > 0))
                weight[i] = 0;
            t[i] = weight[i] > 0 ? log(fabs(t[i])) * weight[i] : 0;
        }
        for (size_t m = 0; m < f->n && good; m++) {
            column[m] = arena_copy(f->tmp, f->log_x[m], rows * sizeof *t);
            good = column[m] != NULL;
            if (good)
                search_products_weigh(column[m], weight, rows);
        }
        if (good)
            rest =
                search_sparse_solve(f->coef, (const double *const *)column, f->n, t, rows, f->tmp) *
                (double)rows / (double)side[f->sign > 0];
    }
    arena_reset(f->tmp, mark);
    return rest;
}

/* Constants to try first. Returns how many. */
static size_t curve_starts(curve k, const double *t, size_t rows, double *out, arena *tmp)
{
    enum { STEPS = 12 };
    arena_pos mark = arena_mark(tmp);
    double *sorted = arena_array(tmp, rows, sizeof *sorted);
    size_t n = 0, cut = rows / 40;
    if (!sorted)
        return 0;
    for (size_t i = 0; i < rows; i++)
        sorted[i] = k <= ROOT_M2 ? pow(t[i], curve_power(k)) : k == GROWTH ? log(t[i]) : fabs(t[i]);
    numbers_sort(sorted, rows);
    double low = sorted[cut], high = sorted[rows - 1 - cut], span = high - low;
    out[n++] = 1;
    out[n++] = -1;
    if (k <= GROWTH)
        out[n++] = 0;
    for (int step = 0; step < STEPS && isfinite(span); step++) {
        double far = pow(10, -2 + step * 0.3);
        if (k <= GROWTH) { /* c has to be on one side of all values */
            out[n++] = low - span * far;
            out[n++] = high + span * far;
        } else if (k == TANH || k == FERMI) {
            out[n++] = high * (1 + far);
        } else {
            out[n++] = sorted[rows / 2] * far;
            out[n++] = -sorted[rows / 2] * far;
        }
    }
    arena_reset(tmp, mark);
    return n;
}

/* One curve: the best constant by a scan and a search around its best place. */
static void one_curve(search_job *j, const products_work *w, const products_task *t, curve_fit *f,
                      curve k, const size_t *which, products_list *list)
{
    enum { STARTS_MAX = 64, REFINE = 24 };
    arena *a = j->tmp;
    double start[STARTS_MAX], best = INFINITY, c = 0,
                              *value = arena_array(a, w->few, sizeof *value);
    if (!value)
        return;
    for (size_t i = 0; i < w->few; i++)
        value[i] = w->v->y[i] / f->outer[i];
    size_t n = curve_starts(k, value, w->few, start, a);
    for (size_t i = 0; i < n; i++) {
        double rest = fit_curve(f, k, start[i], w->few);
        if (rest < best * (1 - 1e-9)) {
            best = rest;
            c = start[i];
        }
    }
    search_count(j, n + REFINE);
    if (!(best < INFINITY))
        return;
    double clean = c, step = 0.25 * (c != 0 ? fabs(c) : 1);
    for (int i = 0; i < REFINE; i++) {
        double up = fit_curve(f, k, c + step, w->few), down = fit_curve(f, k, c - step, w->few);
        if (fmin(up, down) < best) {
            c += up < down ? step : -step;
            best = fmin(up, down);
        } else {
            step /= 3;
        }
    }
    for (int pass = 0; pass < 2; pass++) {
        double at = pass ? c : clean;
        if ((pass && c == clean) || !(fit_curve(f, k, at, w->many) < INFINITY))
            continue;
        for (products_snapping to = TO_HALVES; to <= TO_NONE; to++) {
            monomial m;
            expr u;
            if (!search_products_powers(w, f->coef, which, f->n - 1, to, &m, &u, a))
                continue;
            u = search_dictionary_times_of(search_dictionary_product(&w->d, &m, a), u, a);
            u = search_dictionary_times_of(search_number(f->sign * exp(f->coef[f->n - 1]), a), u,
                                           a);
            search_shortlist_consider(
                j, w, list,
                search_dictionary_times_of(search_dictionary_product(&w->d, &t->m, a),
                                           curve_formula(k, u, at, a), a));
        }
    }
}

void search_products_curves(search_job *j, const products_work *w, const products_task *t)
{
    arena *a = j->tmp;
    double *log_x[DICTIONARY_INPUTS + 1], *outer = arena_array(a, w->many, sizeof *outer);
    double *ones = arena_array(a, w->many, sizeof *ones);
    size_t which[DICTIONARY_INPUTS + 1];
    products_list list;
    if (!outer || !ones || !search_shortlist_make(&list, 6 * CURVES, a)) {
        j->no_memory = 1;
        return;
    }
    for (size_t i = 0; i < w->many; i++)
        outer[i] = ones[i] = 1;
    search_dictionary_times(&w->d, &t->m, outer, w->many);
    curve_fit f = { .w = w, .outer = outer, .log_x = log_x, .tmp = a };
    f.n = search_products_logs(w, ones, w->many, log_x, which, a);
    if (!f.n) {
        j->no_memory = 1;
        return;
    }
    for (curve k = 0; k < CURVES && !search_job_over(j); k++)
        if (curve_may(w->s, k))
            one_curve(j, w, t, &f, k, which, &list);
    search_shortlist_offer(j, w, &list);
}
