/* problem.c - see problem.h. */
#include "regress/problem.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "base/streams.h"
#include "base/text.h"
#include "data/gen.h"

enum { DRAWS = 4 }; /* of rows for the table's vector, where there are more than it takes */

/* An order of the rows, drawn: that of a problem, so that the rows held out are like the others, or
 * one of the draws from the rest. */
static int *order(size_t rows, uint64_t seed, streams_user user, uint64_t index, arena *a)
{
    int *at = arena_array(a, rows, sizeof *at);
    for (size_t i = 0; i < rows && at; i++)
        at[i] = (int)i;
    if (at) {
        rng r;
        streams_rng(&r, seed, user, index);
        rng_shuffle(&r, at, (int)rows);
    }
    return at;
}

/* Whether y's values are so far apart that squares of differences come near to the largest double.
 * It looks at all rows: whether a table is refused must not depend on which of them are held out.
 */
static int too_large(const double *y, size_t rows)
{
    const double most = 1e150;
    double low = y[0], high = y[0];
    for (size_t i = 1; i < rows; i++) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    return !(high - low <= most);
}

/* Sets what is known of input j. Returns 0 when memory is out. */
static int standardise(regress_problem *p, size_t j, arena *a)
{
    double *s = arena_array(a, p->rows, sizeof *s);
    if (!s)
        return 0;
    double deviation = numbers_safe_deviation(p->x[j], p->rows);
    /* A column that does not vary is moved to 0 and left there. */
    int varies = deviation >= DBL_MIN;
    double mean = varies ? numbers_safe_mean(p->x[j], p->rows) : p->x[j][0];
    /* A column that is standardised already is left as it is: formulas would get numbers like 1e-17
     * in them, which no formula of the training has. */
    const double rounding = 1e-12;
    p->mean[j] = varies && fabs(mean) <= rounding * deviation ? 0 : mean;
    p->deviation[j] = !varies || fabs(deviation - 1) <= rounding ? 1 : deviation;
    p->low[j] = INFINITY;
    p->high[j] = -INFINITY;
    for (size_t i = 0; i < p->rows; i++) {
        double d = p->x[j][i] - p->mean[j];
        s[i] = isfinite(d) ? d / p->deviation[j]
                           : p->x[j][i] / p->deviation[j] - p->mean[j] / p->deviation[j];
        p->low[j] = fmin(p->low[j], s[i]);
        p->high[j] = fmax(p->high[j], s[i]);
    }
    p->standard[j] = s;
    return 1;
}

/* Sets the order of the inputs: by the size of their correlation with y. */
static int sort_inputs(regress_problem *p, arena *a)
{
    p->order = arena_array(a, p->dim, sizeof *p->order);
    double *closeness = arena_array(a, p->dim, sizeof *closeness);
    double *y = arena_array(a, p->rows, sizeof *y);
    if (!p->order || !closeness || !y)
        return 0;
    model_standardise(y, p->y, p->rows);
    for (size_t j = 0; j < p->dim; j++) {
        double sum = 0;
        for (size_t i = 0; i < p->rows; i++)
            sum += p->standard[j][i] * y[i];
        closeness[j] = fabs(sum);
        size_t at = j; /* insertion: of equal ones the first stays first */
        while (at > 0 && closeness[p->order[at - 1]] < closeness[j]) {
            p->order[at] = p->order[at - 1];
            at--;
        }
        p->order[at] = j;
    }
    return 1;
}

static int copy_names(regress_problem *p, const regress_table *t, arena *a)
{
    const char **copy = arena_array(a, t->dim + 1, sizeof *copy);
    for (size_t j = 0; j < t->dim && copy; j++)
        if (!(copy[j] = arena_text(a, t->names[j], strlen(t->names[j]))))
            return 0;
    p->names = (expr_names){ copy, t->dim };
    return copy != NULL;
}

double regress_weight(const regress_problem *p, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to && p->weight; i++)
        sum += p->weight[i];
    return p->weight ? sum : (double)(to - from);
}

/* The variance of y in rows [from, to). */
static double variance_of_target(const regress_problem *p, size_t from, size_t to)
{
    double all = regress_weight(p, from, to), mean = 0, sum = 0;
    if (!p->weight)
        return numbers_safe_variance(p->y + from, to - from);
    for (size_t i = from; i < to; i++)
        mean += p->weight[i] * (p->y[i] / all);
    for (size_t i = from; i < to; i++)
        sum += p->weight[i] * (p->y[i] - mean) * ((p->y[i] - mean) / all);
    return sum;
}

/* `train` of the rows are for fitting. `weight` may be NULL. */
static snip_code make(regress_problem *out, const regress_table *t, const double *weight,
                      size_t train, uint64_t seed, arena *a, snip_status *st)
{
    if (t->rows < REGRESS_ROWS_MIN || t->rows > INT32_MAX)
        return status_fail(st, SNIP_FORMAT, 0, "the table has %zu row%s%s; at least %d are needed",
                           t->rows, text_plural(t->rows), weight ? " of a weight above 0" : "",
                           REGRESS_ROWS_MIN);
    if (t->dim == 0)
        return status_fail(st, SNIP_FORMAT, 0, "the table has a target but no inputs");
    if (too_large(t->y, t->rows))
        return status_fail(st, SNIP_FORMAT, 0,
                           "the target's squares are too large: take another unit");
    regress_problem p = { .dim = t->dim, .rows = t->rows, .train = train, .seed = seed };
    p.fit = p.train < REGRESS_FIT_ROWS ? p.train : REGRESS_FIT_ROWS;
    const int *at = order(t->rows, seed, STREAMS_ROWS_HELD_OUT, 0, a);
    p.x = arena_array(a, t->dim, sizeof *p.x);
    p.standard = arena_array(a, t->dim, sizeof *p.standard);
    double *numbers = arena_array(a, 4 * t->dim, sizeof *numbers);
    if (!at || !p.x || !p.standard || !numbers || !copy_names(&p, t, a) ||
        !(p.y = numbers_at(t->y, at, t->rows, a)) ||
        (weight && !(p.weight = numbers_at(weight, at, t->rows, a))))
        return status_nomem(st);
    p.mean = numbers;
    p.deviation = numbers + t->dim;
    p.low = numbers + 2 * t->dim;
    p.high = numbers + 3 * t->dim;
    for (size_t j = 0; j < t->dim; j++)
        if (!(p.x[j] = numbers_at(t->x[j], at, t->rows, a)) || !standardise(&p, j, a))
            return status_nomem(st);
    if (!sort_inputs(&p, a))
        return status_nomem(st);
    p.variance[0] = variance_of_target(&p, 0, p.train);
    p.variance[1] = variance_of_target(&p, p.train, p.rows);
    if (numbers_safe_deviation(p.y, p.train) == 0)
        return status_fail(
            st, SNIP_FORMAT, 0, "the target is the same in all rows%s: there is nothing to explain",
            numbers_safe_deviation(p.y, p.rows) == 0 ? "" : " that are not held out");
    if (p.variance[0] < DBL_MIN)
        return status_fail(st, SNIP_FORMAT, 0,
                           "the target's squares are too small: take another unit");
    *out = p;
    return SNIP_OK;
}

/* Of so many rows, those that are not held out. */
static size_t rows_to_train(size_t rows)
{
    return rows - (rows < REGRESS_HOLD_OUT_MIN ? 0 : rows / 4);
}

snip_code regress_problem_make(regress_problem *out, const regress_table *t, uint64_t seed,
                               arena *a, snip_status *st)
{
    return make(out, t, NULL, rows_to_train(t->rows), seed, a, st);
}

snip_code regress_problem_weighted(regress_problem *out, const regress_table *t,
                                   const double *weight, uint64_t seed, arena *a, snip_status *st)
{
    size_t kept = 0;
    double most = 0, sum = 0;
    int *at = arena_array(a, t->rows, sizeof *at);
    const double **x = arena_array(a, t->dim, sizeof *x);
    if (!at || !x)
        return status_nomem(st);
    for (size_t i = 0; i < t->rows; i++) {
        if (!isfinite(weight[i]) || weight[i] < 0)
            return status_fail(st, SNIP_FORMAT, i,
                               "the weight of row %zu is %g; it must be 0 or more", i + 1,
                               weight[i]);
        if (weight[i] > 0)
            at[kept++] = (int)i;
        most = fmax(most, weight[i]);
    }
    for (size_t i = 0; i < kept; i++)
        sum += weight[at[i]] / most;
    regress_table left = *t;
    double *scaled = numbers_at(weight, at, kept, a);
    for (size_t i = 0; i < kept && scaled; i++)
        scaled[i] = fmax(scaled[i] / most * ((double)kept / sum), DBL_MIN);
    left.rows = kept;
    left.x = x;
    left.y = numbers_at(t->y, at, kept, a);
    int good = scaled && left.y;
    for (size_t j = 0; j < t->dim && good; j++)
        good = (x[j] = numbers_at(t->x[j], at, kept, a)) != NULL;
    return good ? make(out, &left, scaled, rows_to_train(kept), seed, a, st) : status_nomem(st);
}

snip_code regress_problem_whole(regress_problem *out, const regress_table *t, uint64_t seed,
                                arena *a, snip_status *st)
{
    return make(out, t, NULL, t->rows, seed, a, st);
}

void regress_problem_keep_order(regress_problem *p)
{
    for (size_t j = 0; j < p->dim; j++)
        p->order[j] = j;
}

double regress_inputs_left_open(const regress_problem *p, regress_inputs set)
{
    enum { NEIGHBOURS = 500 };
    const double rounding = 1e-9; /* on a grid a row has several nearest ones, and all count */
    size_t n = p->rows < NEIGHBOURS ? p->rows : NEIGHBOURS;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double nearest = INFINITY, squares = 0, ties = 0;
        for (size_t k = 0; k < n; k++) {
            double far = 0, between = (p->y[i] - p->y[k]) * ((p->y[i] - p->y[k]) / p->variance[0]);
            for (size_t j = 0; j < p->dim; j++) {
                double d = set >> j & 1 ? p->standard[j][i] - p->standard[j][k] : 0;
                far += d * d;
            }
            if (k == i || far > nearest * (1 + rounding))
                continue;
            if (far < nearest * (1 - rounding))
                squares = ties = 0;
            nearest = fmin(far, nearest);
            squares += between;
            ties++;
        }
        sum += squares / ties;
    }
    return sum / (2 * (double)n);
}

regress_inputs regress_inputs_that_matter(const regress_problem *p)
{
    regress_inputs set = ((regress_inputs)1 << p->dim) - 1;
    double open = regress_inputs_left_open(p, set);
    for (size_t left = p->dim; left > 1; left--) {
        size_t least = p->dim;
        double best = INFINITY;
        for (size_t k = 0; k < p->dim; k++) { /* of equal ones the last in the order goes first */
            size_t j = p->order[k];
            if (!(set >> j & 1))
                continue;
            double without = regress_inputs_left_open(p, set & ~((regress_inputs)1 << j));
            if (without <= best) {
                best = without;
                least = j;
            }
        }
        if (least == p->dim || best > open)
            break;
        set &= ~((regress_inputs)1 << least);
        open = best;
    }
    return set;
}

regress_inputs regress_inputs_of(expr e, const regress_problem *p)
{
    regress_inputs used = 0;
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_VARIABLE)
            used |= (regress_inputs)1 << e.node[i].var;
    return used ? used : ((regress_inputs)1 << p->dim) - 1;
}

/* Draw k: `take` rows, the k-th of an order of its own. */
static int draw_rows(model_item *item, const regress_problem *p, regress_inputs inputs,
                     regress_view view, size_t take, int k, arena *a)
{
    const double **x = arena_array(a, p->dim, sizeof *x);
    const int *at = order(p->rows, p->seed, STREAMS_ROW_DRAWS, (uint64_t)k, a);
    if (!x || !at)
        return 0;
    int whole = take == p->rows, dim = 0;
    for (size_t i = 0; i < p->dim; i++) {
        size_t j = p->order[i];
        if (inputs >> j & 1 &&
            !(x[dim++] = whole ? p->standard[j] : numbers_at(p->standard[j], at, take, a)))
            return 0;
    }
    double *y = arena_array(a, take, sizeof *y);
    double unit = view == REGRESS_SCALED        ? numbers_safe_deviation(p->y, p->rows)
                  : view == REGRESS_FORM_TURNED ? -1
                                                : 1;
    for (size_t i = 0; i < take && y; i++)
        y[i] = p->y[whole ? i : (size_t)at[i]] / unit;
    *item = (model_item){ .x = x, .dim = dim, .rows = take, .y = y, .form = view >= REGRESS_FORM };
    return y != NULL;
}

snip_code regress_problem_embed(const regress_problem *p, regress_inputs inputs, regress_view view,
                                model_space *s, float *z, snip_status *st)
{
    const model_config *config = &s->m->config;
    size_t latent = s->latent;
    int dim = __builtin_popcount(inputs & (((regress_inputs)1 << p->dim) - 1));
    if (dim > config->dims)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "the table has %d inputs and the model reads %d; choose among them", dim,
                           config->dims);
    if (view >= REGRESS_FORM && !config->forms)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "the model was not trained to read forms");
    size_t take = p->rows < DATA_POINTS ? p->rows : DATA_POINTS;
    int draws = take < p->rows ? DRAWS : 1;
    arena *a = arena_new(0);
    float *rows = a ? arena_array(a, (size_t)draws * latent, sizeof *rows) : NULL;
    model_item item[DRAWS];
    int good = rows != NULL;
    for (int k = 0; k < draws && good; k++)
        good = draw_rows(&item[k], p, inputs, view, take, k, a);
    snip_code code =
        good ? model_space_embed(s, item, (size_t)draws, NULL, rows, st) : status_nomem(st);
    if (code == SNIP_UNSUPPORTED)
        status_set(st, code, 0, "the table holds a value that the model cannot express");
    if (code == SNIP_OK) {
        memset(z, 0, latent * sizeof *z);
        for (int k = 0; k < draws; k++)
            for (size_t i = 0; i < latent; i++)
                z[i] += rows[(size_t)k * latent + i];
        model_unit_rows(z, 1, latent);
    }
    arena_free(a);
    return code;
}

/* e with each input replaced by an affine function of it: of the standardised one, or back. The
 * standardised ones are those in `inputs`, numbered from 0. */
static expr replace_inputs(expr e, regress_inputs inputs, const regress_problem *p, int back,
                           arena *a)
{
    expr *by = arena_array(a, p->dim, sizeof *by);
    size_t k = 0; /* inputs met so far */
    for (size_t i = 0; i < p->dim && by; i++) {
        size_t j = p->order[i];
        if (!(inputs >> j & 1))
            continue;
        expr to = back ? expr_affine(-p->mean[j] / p->deviation[j], 1 / p->deviation[j], j, a)
                       : expr_affine(p->mean[j], p->deviation[j], k, a);
        by[back ? k : j] = to;
        k++;
        if (!to.node)
            by = NULL;
    }
    /* What e does not use is never looked at, but must not be empty. */
    for (size_t j = 0; j < p->dim && by && !back; j++)
        if (!(inputs >> j & 1))
            by[j] = expr_affine(0, 1, j, a);
    return by ? expr_substitute(e, by, back ? k : p->dim, a) : (expr){ 0 };
}

/* Whether a formula rewritten with positive bases taken for granted is finite where e is, but for a
 * few rows. A base of 0 is no offence: 0^b is 0 and exp(b*log(0)) is not, but just beside it is. */
static snip_code check_rewritten(expr read, expr e, regress_inputs inputs, const regress_problem *p,
                                 arena *a, snip_status *st)
{
    enum { ROWS = 1000, FEW = 20 };
    static const double beside[] = { 0, 1e-6, -1e-6 };
    arena_pos mark = arena_mark(a);
    size_t n = p->rows < ROWS ? p->rows : ROWS, lost = 0;
    double *y = arena_array(a, n, sizeof *y), *again = arena_array(a, n, sizeof *again);
    char *finite = arena_zero(a, n);
    double **x = arena_array(a, p->dim, sizeof *x);
    int good = y && again && finite && x &&
               expr_eval(e, (const double *const *)p->x, n, y, a) != (size_t)-1;
    for (size_t k = 0; good && k < sizeof beside / sizeof *beside; k++) {
        size_t dim = 0;
        for (size_t o = 0; good && o < p->dim; o++) {
            size_t j = p->order[o];
            if (!(inputs >> j & 1))
                continue;
            double *moved = arena_array(a, n, sizeof *moved);
            good = moved != NULL;
            for (size_t i = 0; good && i < n; i++) /* each on its own way: x0 - x1 must move, too */
                moved[i] = p->standard[j][i] + beside[k] * (double)(dim + 1);
            x[dim++] = moved;
        }
        good = good && expr_eval(read, (const double *const *)x, n, again, a) != (size_t)-1;
        for (size_t i = 0; good && i < n; i++)
            finite[i] |= isfinite(again[i]) != 0;
    }
    for (size_t i = 0; good && i < n; i++)
        lost += isfinite(y[i]) && !finite[i];
    arena_reset(a, mark);
    if (!good)
        return status_nomem(st);
    if (lost * FEW > n)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "no exact rewriting in the model's operators: the base of a power is "
                           "negative in some rows");
    return SNIP_OK;
}

/* `gathered`: with constants gathered before and after, as training expressions have them; else
 * free and fixed ones stay apart, for a form. */
static snip_code rewrite(expr *out, expr e, regress_inputs inputs, const regress_problem *p,
                         int gathered, arena *a, snip_status *st)
{
    expr replaced = replace_inputs(e, inputs, p, 0, a), tidy = replaced, normal;
    double *range = arena_array(a, 2 * p->dim, sizeof *range);
    if (!replaced.node || !range)
        return status_nomem(st);
    size_t dim = 0;
    for (size_t i = 0; i < p->dim; i++) {
        size_t j = p->order[i];
        if (inputs >> j & 1) {
            range[dim] = p->low[j];
            range[p->dim + dim++] = p->high[j];
        }
    }
    expr_domain domain = { range, range + p->dim, dim, 0 };
    snip_code code = gathered ? expr_tidy(&tidy, replaced, a, st) : SNIP_OK;
    /* Only where there is no exact form are bases taken for positive. */
    if (code == SNIP_OK)
        domain.assume_positive = expr_normal(&normal, tidy, &domain, a, NULL) != SNIP_OK;
    if (domain.assume_positive)
        code = expr_normal(&normal, tidy, &domain, a, st);
    *out = normal;
    if (code == SNIP_OK && gathered)
        code = expr_tidy(out, normal, a, st);
    return code == SNIP_OK && domain.assume_positive ? check_rewritten(*out, e, inputs, p, a, st)
                                                     : code;
}

snip_code regress_problem_rewrite(expr *out, expr e, regress_inputs inputs,
                                  const regress_problem *p, arena *a, snip_status *st)
{
    return rewrite(out, e, inputs, p, 1, a, st);
}

snip_code regress_problem_scaled(expr *out, expr e, regress_inputs inputs, const regress_problem *p,
                                 arena *a, snip_status *st)
{
    expr times = { arena_zero(a, 2 * sizeof *times.node + e.count * sizeof *times.node),
                   e.count + 2 };
    if (!times.node)
        return status_nomem(st);
    times.node[0].op = EXPR_MUL;
    times.node[1] = (expr_node){ .op = EXPR_NUMBER,
                                 .fixed = 1,
                                 .value = 1 / numbers_safe_deviation(p->y, p->rows) };
    memcpy(times.node + 2, e.node, e.count * sizeof *e.node);
    expr_measure(times);
    /* Other units make other spellings, 2*(a + b) and 2*a + 2*b: one is as good as the other. */
    expr_form form;
    snip_code code = expr_canonical(&form, times, a, st);
    if (code == SNIP_NOMEM)
        return code;
    return regress_problem_rewrite(out, code == SNIP_OK ? form.e : times, inputs, p, a, st);
}

snip_code regress_problem_form(expr_form *out, expr e, regress_inputs inputs,
                               const regress_problem *p, arena *a, snip_status *st)
{
    expr standard;
    snip_code code = rewrite(&standard, e, inputs, p, 0, a, st);
    return code == SNIP_OK ? expr_canonical(out, standard, a, st) : code;
}

snip_code regress_problem_restore(expr *out, expr e, regress_inputs inputs,
                                  const regress_problem *p, arena *a, snip_status *st)
{
    expr replaced = replace_inputs(e, inputs, p, 1, a);
    if (!replaced.node)
        return status_nomem(st);
    expr_set_fixed(replaced, 0); /* in the user's units every number is one to fit */
    return expr_tidy(out, replaced, a, st);
}

int regress_problem_errors(regress_errors *out, expr e, const regress_problem *p, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    double *y = arena_array(tmp, p->rows, sizeof *y);
    if (!y || expr_eval(e, (const double *const *)p->x, p->rows, y, tmp) == (size_t)-1) {
        arena_reset(tmp, mark);
        return 0;
    }
    const size_t from[3] = { 0, p->train, p->rows };
    out->cross = NAN;
    for (int part = 0; part < 2; part++) {
        double sum = 0;
        size_t n = from[part + 1] - from[part];
        double all = regress_weight(p, from[part], from[part + 1]);
        for (size_t i = from[part]; i < from[part + 1]; i++)
            sum += (y[i] - p->y[i]) * ((y[i] - p->y[i]) / all) * (p->weight ? p->weight[i] : 1);
        int known = n > 0 && isfinite(sum);
        out->loss[part] = known ? sum : NAN;
        out->r2[part] = known && p->variance[part] > 0 ? 1 - sum / p->variance[part] : NAN;
    }
    arena_reset(tmp, mark);
    return 1;
}

const char *regress_problem_note(const regress_problem *p, size_t k, arena *a)
{
    text note = { .a = a };
    for (size_t j = 0; j < p->dim; j++)
        if (p->low[j] == p->high[j] && k-- == 0) {
            text_add(&note, "%s is the same in all rows", p->names.name[j]);
            return text_end(&note);
        }
    if (p->fit < p->train && k == 0) {
        text_add(&note, "constants are fitted to %zu of the rows, all rows judge", p->fit);
        return text_end(&note);
    }
    return NULL;
}

const char *regress_problem_uneven(const regress_problem *p, size_t k, arena *a)
{
    /* In a column that is log-uniform over four decades the mean lies .53 deviations above the
     * least value, in an even one 1.7. Training tables have few of the former. */
    const double least = 0.55;
    text note = { .a = a };
    for (size_t j = 0; j < p->dim; j++)
        if (p->low[j] < p->high[j] && (p->low[j] > -least || p->high[j] < least) && k-- == 0) {
            text_add(&note,
                     "most values of %s lie near one end of its range: similarities say little, "
                     "and a column with its logarithm may help",
                     p->names.name[j]);
            return text_end(&note);
        }
    return NULL;
}
