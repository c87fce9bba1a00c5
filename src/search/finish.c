/* finish.c - simplify, snap, round, choose.
 *
 * The constants of a formula are fitted to all rows. Then, one at a time, each is replaced by a
 * clean number near to it, the others are fitted again, and the change stays if the description
 * length does not rise: a clean number is cheaper to write, and clean data object to a wrong one at
 * once. What is left is rounded to the digits that matter. */
#include "search/finish.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "expr/vec.h"
#include "regress/constants.h"
#include "regress/evidence.h"

enum { SNAPS_MAX = 6, SNAP_CONSTANTS_MAX = 12, DIGITS_MIN = 3, DIGITS_MAX = 17, FIT_STEPS = 60 };

/* What clean numbers and rounding may add to the loss, relatively and times the rows: two standard
 * errors, and a third of one. */
#define SNAP_COSTS     4.0
#define NOTHING        1e-6 /* a number that may be what rounding left of 0 */
#define ROUNDING_COSTS 0.1

#define SNAP_WITHIN        0.05  /* a clean number may be this far away, relatively */
#define EXACT              1e-20 /* a loss below is rounding: it may grow, but stays below */
#define NEARLY_EXACT       1e-9
#define FLAT               1e-13 /* a part that varies less, relatively, is a number */
#define OUTLIER_DEVIATIONS 6
#define GRACE              0.1 /* seconds for clean constants where no time is left */

/* A formula on its way. */
typedef struct draft {
    expr e;
    double loss[2];           /* 1 - r^2 on training rows and on those held out */
    double all;               /* on all rows */
    double bits;              /* on all rows */
    const search_entry *from; /* what it was in the archive */
} draft;

/* How long formulas may be improved. A formula as the archive has it is an answer, too. */
typedef struct patience {
    const search *s;
    double until;
    const volatile sig_atomic_t *cancel; /* NULL: the search itself was cancelled */
} patience;

static patience patience_of(const search *s)
{
    double now = search_now(s);
    int cancelled = s->how->cancel && *s->how->cancel;
    return cancelled ? (patience){ s, now + GRACE, NULL }
                     : (patience){ s, fmax(s->finish_by, now + GRACE), s->how->cancel };
}

static int late(const patience *p)
{
    return (p->cancel && *p->cancel) || (isfinite(p->until) && search_now(p->s) >= p->until);
}

static size_t all_rows(const search *s)
{
    return s->rows[0] + s->rows[1];
}

/* Fills losses and bits. Returns 0 if a value is not finite or memory is out. */
static int measure(draft *d, const search *s, arena *a)
{
    arena_pos mark = arena_mark(a);
    size_t rows = all_rows(s);
    double *value = arena_array(a, rows, sizeof *value), sum[2] = { 0, 0 };
    int good = value && expr_eval(d->e, (const double *const *)s->x, rows, value, a) == rows;
    for (size_t i = 0; good && i < rows; i++) {
        double r = value[i] - s->y[i];
        sum[i >= s->rows[0]] += search_weight(s, i) * r * r;
    }
    arena_reset(a, mark);
    if (!good)
        return 0;
    d->loss[0] = sum[0] / (search_weights(s, 0, s->rows[0]) * s->variance[0]);
    d->loss[1] =
        s->rows[1] ? sum[1] / (search_weights(s, s->rows[0], rows) * s->variance[1]) : d->loss[0];
    d->all = (sum[0] + sum[1]) / ((double)rows * s->variance[0]);
    d->bits = search_length(s, d->e, d->all, rows);
    return isfinite(d->all);
}

/* Fits the free constants to all rows, from where they are. */
static int refit(draft *d, const search *s, arena *a)
{
    regress_fit r;
    expr fitted;
    size_t *node = arena_array(a, d->e.count, sizeof *node);
    size_t *first = arena_array(a, d->e.count + 1, sizeof *first);
    if (!node || !first)
        return 0;
    const regress_fit_free all = {
        .node = node, .first = first, .count = expr_constants(d->e, node), .evaluations = FIT_STEPS
    };
    for (size_t k = 0; k <= all.count; k++)
        first[k] = k;
    if (all.count > 0) {
        if (regress_fit_values(&fitted, &r, d->e, &all, s->weight, (const double *const *)s->x,
                               s->y, all_rows(s), 1, s->how->seed, a, NULL) != SNIP_OK)
            return 0;
        d->e = fitted;
    }
    return measure(d, s, a);
}

/* Clean numbers near v, the nearest first; returns how many. Where the data are noisy only those
 * that are short to write down count: 1.5 is a choice that people make, 26/3 or 3*pi/2 is one only
 * if the data say so to many digits. */
static size_t clean_near(double v, int exact, double *out)
{
    static const double unit[] = { 1, M_PI, 1 / M_PI, M_SQRT2 };
    double far[SNAPS_MAX];
    size_t n = 0;
    if (v == 0)
        return 0;
    for (size_t k = 0; k < (exact ? sizeof unit / sizeof *unit : 1); k++)
        for (int q = 1; q <= (k == 0 ? 6 : 4); q++) {
            if (!exact && (q == 3 || q == 6))
                continue;
            double c = round(v / unit[k] * q) / q * unit[k], d = fabs(c - v) / fabs(v);
            int old = c == 0 || d > SNAP_WITHIN;
            for (size_t m = 0; m < n; m++)
                old |= fabs(out[m] - c) <= 1e-12 * fabs(c);
            if (old)
                continue;
            size_t at = n < SNAPS_MAX ? n++ : SNAPS_MAX; /* sorted; the farthest one falls out */
            while (at > 0 && far[at - 1] > d) {
                if (at < SNAPS_MAX) {
                    far[at] = far[at - 1];
                    out[at] = out[at - 1];
                }
                at--;
            }
            if (at < SNAPS_MAX) {
                far[at] = d;
                out[at] = c;
            }
        }
    double ten = pow(10, round(log10(fabs(v)))) * (v < 0 ? -1 : 1);
    if (n < SNAPS_MAX && fabs(v) >= 1e3 && fabs(ten - v) <= 1e-6 * fabs(v))
        out[n++] = ten;
    if (n < SNAPS_MAX && fabs(v) < NOTHING)
        out[n++] = 0;
    return n;
}

/* Sets number i of the formula to a clean value that no fit moves. */
static expr with_clean(expr e, size_t i, double c, arena *a)
{
    expr out = { arena_copy(a, e.node, e.count * sizeof *e.node), e.count };
    if (out.node) {
        out.node[i].value = c;
        out.node[i].fixed = 1;
        out.node[i].integer = c == floor(c) && fabs(c) < 1e6;
    }
    return out;
}

/* Replaces constants by clean ones as long as that does not cost a bit. */
static void snap(draft *d, const search *s, const patience *p, arena *a)
{
    for (int turn = 0; turn < SNAP_CONSTANTS_MAX; turn++) {
        size_t *node = arena_array(a, d->e.count, sizeof *node);
        size_t n = node ? expr_constants(d->e, node) : 0;
        draft best = *d;
        double most = d->all * (1 + SNAP_COSTS / (double)all_rows(s)) + EXACT;
        int found = 0;
        for (size_t k = 0; k < n && n <= SNAP_CONSTANTS_MAX; k++) {
            double clean[SNAPS_MAX];
            size_t cleans = clean_near(d->e.node[node[k]].value, d->all < NEARLY_EXACT, clean);
            for (size_t m = 0; m < cleans; m++) {
                if (late(p))
                    return;
                draft try = { .e = with_clean(d->e, node[k], clean[m], a) };
                if (!try.e.node || !refit(&try, s, a))
                    continue;
                if (try.all <= most && try.bits <= best.bits) {
                    best = try;
                    found = 1;
                }
            }
        }
        if (!found)
            return;
        *d = best;
    }
}

/* The canonical structure, with its clean numbers, as people write it. */
static void tidy(draft *d, const search *s, arena *a)
{
    expr_form form;
    draft try = *d;
    expr e = { arena_array(a, d->e.count + 2, sizeof *e.node), d->e.count + 2 };
    if (!e.node)
        return;
    e.node[0] = (expr_node){ .op = EXPR_DIV };
    memcpy(e.node + 1, d->e.node, d->e.count * sizeof *e.node);
    e.node[e.count - 1] = (expr_node){ .op = EXPR_NUMBER, .value = 1, .fixed = 1, .integer = 1 };
    expr_measure(e);
    if (expr_canonical(&form, e, a, NULL) != SNIP_OK)
        return;
    try.e = form.e;
    if (try.e.count <= d->e.count && measure(&try, s, a) && try.bits <= d->bits + 1e-9)
        *d = try;
}

/* What canonical structure leaves of clean numbers: whole numbers are marked as such, and a factor
 * 1 goes. */
static void drop_ones(draft *d, const search *s, arena *a)
{
    draft try = { .e = { arena_copy(a, d->e.node, d->e.count * sizeof *d->e.node), d->e.count } };
    for (size_t i = 0; i < d->e.count && try.e.node; i++) {
        expr_node *n = &try.e.node[i];
        if (n->op == EXPR_NUMBER && fabs(n->value) < 1e6 &&
            fabs(n->value - round(n->value)) <= FLAT * fabs(n->value)) {
            n->value = round(n->value);
            n->fixed = n->integer = 1;
        }
    }
    for (size_t i = 0; try.e.node && i < try.e.count; i++) {
        const expr_node *n = &try.e.node[i];
        for (int slot = n->op == EXPR_DIV; slot < 2 && (n->op == EXPR_MUL || n->op == EXPR_DIV);
             slot++) {
            const expr_node *one = &try.e.node[expr_child(try.e, i, slot)];
            if (one->op != EXPR_NUMBER || one->value != 1)
                continue;
            expr other = expr_subtree(try.e, expr_child(try.e, i, 1 - slot));
            try.e = expr_splice(try.e, i, other, a);
            i -= i > 0; /* what came up is looked at, too */
            break;
        }
    }
    if (try.e.node && measure(&try, s, a) && try.all <= d->all + EXACT)
        *d = try;
}

static double rounded(double v, int digits)
{
    char buf[40];
    snprintf(buf, sizeof buf, "%.*g", digits, v);
    return strtod(buf, NULL);
}

/* Rounds the free constants to the fewest digits with which the loss holds. */
static void round_off(draft *d, const search *s, arena *a)
{
    size_t *node = arena_array(a, d->e.count, sizeof *node);
    size_t n = node ? expr_constants(d->e, node) : 0;
    double most = d->all * (1 + ROUNDING_COSTS / (double)all_rows(s));
    most = d->all < EXACT ? EXACT : most;
    for (int digits = DIGITS_MIN; n > 0 && digits <= DIGITS_MAX; digits++) {
        draft try = { .e = { arena_copy(a, d->e.node, d->e.count * sizeof *d->e.node), d->e.count },
                      .from = d->from };
        if (!try.e.node)
            return;
        for (size_t k = 0; k < n; k++)
            try.e.node[node[k]].value = rounded(try.e.node[node[k]].value, digits);
        if (measure(&try, s, a) && try.all <= most) {
            *d = try;
            return;
        }
    }
}

/* Standard errors of the free constants: s^2 (J'J)^-1 with columns of J brought to length 1. NaN
 * where the data do not determine them. */
static double *errors_of(const draft *d, const search *s, size_t *count, arena *a, arena *tmp)
{
    size_t rows = all_rows(s);
    size_t *node = arena_array(tmp, d->e.count, sizeof *node);
    *count = 0;
    size_t n = node ? expr_constants(d->e, node) : 0;
    double *out = arena_array(a, n + 1, sizeof *out), *y = arena_array(tmp, rows, sizeof *y);
    double *jac = arena_array(tmp, n * rows + 1, sizeof *jac);
    double *m = arena_zero(tmp, 2 * (n + 1) * (n + 1) * sizeof *m);
    double *length = arena_array(tmp, n + 1, sizeof *length);
    if (!out || !y || !jac || !m || !length ||
        (n > 0 && !expr_gradient(d->e, (const double *const *)s->x, rows, node, n, y, jac, tmp)))
        return NULL;
    *count = n;
    for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t i = 0; i < rows; i++)
            sum += search_weight(s, i) * jac[j * rows + i] * jac[j * rows + i];
        length[j] = sqrt(sum);
    }
    /* Gauss-Jordan on [J'J | I]; n is small. */
    size_t w = 2 * n;
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < n; k++) {
            double sum = 0;
            for (size_t i = 0; i < rows; i++)
                sum += search_weight(s, i) * jac[j * rows + i] * jac[k * rows + i];
            m[j * w + k] = sum / (length[j] * length[k]);
        }
        m[j * w + n + j] = 1;
    }
    int regular = rows > n;
    for (size_t p = 0; p < n && regular; p++) {
        double pivot = m[p * w + p];
        regular = pivot > 1e-13;
        for (size_t k = 0; k < w && regular; k++)
            m[p * w + k] /= pivot;
        for (size_t j = 0; j < n && regular; j++) {
            double f = j == p ? 0 : m[j * w + p];
            for (size_t k = 0; k < w && f != 0; k++)
                m[j * w + k] -= f * m[p * w + k];
        }
    }
    double rss = d->all * (double)rows * s->variance[0];
    for (size_t j = 0; j < n; j++)
        out[j] = regular ? sqrt(rss / (double)(rows - n) * m[j * w + n + j]) / length[j] : NAN;
    return out;
}

/* Whether the part of e at i has inputs and yet the same value in the first `rows` rows; *value is
 * that. */
static int is_flat(expr e, size_t i, const search *s, size_t rows, double *value, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    expr part = expr_subtree(e, i);
    double *v = arena_array(tmp, rows, sizeof *v), low = INFINITY, high = -INFINITY;
    int good = v && part.count > 1 && expr_inputs(part) > 0 &&
               expr_eval(part, (const double *const *)s->x, rows, v, tmp) == rows;
    for (size_t r = 0; r < rows && good; r++) {
        low = fmin(low, v[r]);
        high = fmax(high, v[r]);
    }
    *value = 0.5 * (low + high);
    arena_reset(tmp, mark);
    return good && high - low <= FLAT * fabs(*value);
}

/* Replaces parts that do not vary, as tanh(1e5*x), by their value. */
static void flatten(draft *d, const search *s, arena *a)
{
    size_t rows = all_rows(s), few = rows < SEARCH_SOME ? rows : SEARCH_SOME;
    for (size_t i = 0; i < d->e.count; i++) {
        double value;
        if (!is_flat(d->e, i, s, few, &value, a) || !is_flat(d->e, i, s, rows, &value, a))
            continue;
        expr_node number = { .op = EXPR_NUMBER, .value = value, .len = 1 };
        draft try = { .e = expr_splice(d->e, i, (expr){ &number, 1 }, a) };
        if (try.e.node && measure(&try, s, a) && try.all <= d->all + EXACT)
            *d = try;
    }
}

/* As people write it, to the same values: 1/x and not a quotient of the number 1, which would print
 * as div(1, x); a - 2*b and not a + -2*b or a - -2*b, whichever sign a fit gave. */
static void spell(draft *d, const search *s, arena *a)
{
    draft try = { .e = { arena_copy(a, d->e.node, d->e.count * sizeof *d->e.node), d->e.count } };
    for (size_t i = 0; try.e.node && i < try.e.count; i++) {
        expr_node *n = try.e.node;
        if (n[i].op == EXPR_DIV && n[i + 1].op == EXPR_NUMBER && n[i + 1].value == 1) {
            expr over = expr_subtree(try.e, expr_child(try.e, i, 1));
            expr_node inverse[SEARCH_SIZE_MAX + 1] = { { .op = EXPR_INV } };
            memcpy(inverse + 1, over.node, over.count * sizeof *inverse);
            expr whole = { inverse, over.count + 1 };
            expr_measure(whole);
            try.e = expr_splice(try.e, i, whole, a);
        } else if (n[i].op == EXPR_ADD || n[i].op == EXPR_SUB) {
            size_t k = expr_child(try.e, i, 1);
            while (n[k].op == EXPR_MUL || n[k].op == EXPR_DIV)
                k++;
            if (n[k].op == EXPR_NUMBER && signbit(n[k].value)) {
                n[k].value = -n[k].value;
                n[i].op = n[i].op == EXPR_ADD ? EXPR_SUB : EXPR_ADD;
            }
        }
    }
    if (try.e.node && measure(&try, s, a) && try.all <= d->all)
        *d = try;
}

/* Fits the constants to all rows and makes them clean, as far as the time lasts. */
static void improve(draft *d, const search *s, const patience *p, arena *a)
{
    draft one = *d;
    if (!refit(&one, s, a))
        return;
    flatten(&one, s, a);
    snap(&one, s, p, a);
    tidy(&one, s, a);
    if (one.all < NEARLY_EXACT)
        drop_ones(&one, s, a);
    round_off(&one, s, a);
    spell(&one, s, a);
    one.from = d->from;
    *d = one;
}

/* ---- the front ---- */

static int by_bits(const void *a, const void *b)
{
    const draft *p = a, *q = b;
    if (p->bits != q->bits)
        return p->bits < q->bits ? -1 : 1;
    return (p->from > q->from) - (p->from < q->from);
}

static int by_size(const void *a, const void *b)
{
    const draft *p = a, *q = b;
    if (p->e.count != q->e.count)
        return p->e.count < q->e.count ? -1 : 1;
    if (p->all != q->all)
        return p->all < q->all ? -1 : 1;
    return (p->from > q->from) - (p->from < q->from);
}

/* Whether the rows held out agree that a formula is better than a simpler one. */
static int better(const draft *d, const draft *simpler)
{
    double floor = 1e-24;
    return fmax(d->loss[1], floor) < fmax(simpler->loss[1], floor) &&
           fmax(d->all, floor) < fmax(simpler->all, floor);
}

/* The share of the rows that the errors of the best fit come from. Where errors grow with y it is
 * small, and a longer formula that suits the largest rows by chance must not be selected. Half of
 * them may also be chance where errors are all of one size. */
static double telling(const draft *d, size_t n, const search *s, arena *tmp)
{
    const draft *best = d;
    for (size_t k = 1; k < n; k++)
        best = d[k].all < best->all ? &d[k] : best;
    if (n == 0 || best->all <= fmax(EXACT, s->rounding))
        return 1;
    double share = regress_rows_behind(best->e, s->problem, tmp) / (double)all_rows(s);
    return share < 0.5 ? share : 1;
}

static size_t outliers(const draft *d, const search *s, arena *tmp)
{
    size_t rows = all_rows(s), n = 0;
    double *value = arena_array(tmp, rows, sizeof *value);
    double deviation = sqrt(d->all * s->variance[0]);
    if (!value || expr_eval(d->e, (const double *const *)s->x, rows, value, tmp) != rows ||
        d->all < EXACT)
        return 0;
    for (size_t i = 0; i < rows; i++)
        n += sqrt(search_weight(s, i)) * fabs(value[i] - s->y[i]) > OUTLIER_DEVIATIONS * deviation;
    return n;
}

static int report(search_formula *out, const draft *d, const search_entry *from, const search *s,
                  arena *a, arena *tmp)
{
    *out = (search_formula){
        .size = d->e.count, .bits = d->bits, .similarity = NAN, .stage = from->stage
    };
    out->e = search_for_user(s, d->e, a);
    out->error = errors_of(d, s, &out->constants, a, tmp);
    for (int k = 0; k < 2; k++) {
        out->loss[k] = d->loss[k] * s->variance[k];
        out->r2[k] = 1 - d->loss[k];
    }
    return out->e.node && out->error;
}

snip_code search_finish(search_result *out, search *s, arena *a, snip_status *st)
{
    size_t n, count = 0, per_size = s->how->per_size ? s->how->per_size : 1;
    const search_entry *kept = search_kept(s, &n);
    const patience p = patience_of(s);
    draft *d = arena_zero(s->a, n * sizeof *d + 1);
    if (!d)
        return status_nomem(st);
    /* The best few of every size are finished; snapping may make them shorter. */
    for (size_t k = 0, of_size = 0; k < n; k++) {
        of_size = k > 0 && kept[k].size == kept[k - 1].size ? of_size + 1 : 0;
        if (of_size >= per_size + 1 ||
            kept[k].loss[0] > 1.5 * search_best_loss(s, kept[k].size) + 1e-24)
            continue;
        d[count] = (draft){ .e = kept[k].e, .from = &kept[k] };
        count += (size_t)measure(&d[count], s, s->a);
    }
    s->telling = telling(d, count, s, s->a);
    for (size_t k = 0; k < count; k++)
        d[k].bits = search_length(s, d[k].e, d[k].all, all_rows(s));
    /* What is likely to be selected comes first: the time may not last for all. */
    qsort(d, count, sizeof *d, by_bits);
    for (size_t k = 0; k < count; k++)
        if (!late(&p))
            improve(&d[k], s, &p, s->a);
        else
            round_off(&d[k], s, s->a); /* cheap, and nobody wants to read 17 digits */
    if (count == 0)
        return status_fail(st, SNIP_FORMAT, 0, "no formula is finite on all rows");
    qsort(d, count, sizeof *d, by_size);
    out->front = arena_zero(a, count * sizeof *out->front);
    if (!out->front)
        return status_nomem(st);
    out->count = 0;
    const draft *chosen = &d[0], *last = NULL; /* the first is always reported */
    for (size_t k = 0, of_size = 0; k < count; k++) {
        int same = last && d[k].e.count == last->e.count;
        of_size = same ? of_size + 1 : 0;
        if (last && !(same && of_size < per_size) && !better(&d[k], last))
            continue;
        if (last && same && of_size < per_size && expr_same(d[k].e, last->e))
            continue;
        if (!report(&out->front[out->count], &d[k], d[k].from, s, a, s->a))
            return status_nomem(st);
        if (k == 0 || d[k].bits < chosen->bits) {
            chosen = &d[k];
            out->selected = out->count;
        }
        if (!same)
            last = &d[k];
        out->count++;
    }
    out->outliers = outliers(chosen, s, s->a);
    out->telling = regress_errors_grow(chosen->e, s->problem, s->a);
    if (chosen->e.count == 1 && chosen->e.node[0].op == EXPR_NUMBER)
        out->note = "no formula beats the mean";
    return SNIP_OK;
}
