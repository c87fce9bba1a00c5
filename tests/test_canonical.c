/* test_canonical.c - one structure per function: equal forms, equal values, and where parts are. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "data/corpora.h"
#include "data/edits.h"
#include "data/gen.h"

enum { ROWS = 32 };

static expr parsed(const char *text, arena *a)
{
    expr e;
    snip_status st = { 0 };
    if (expr_parse(&e, text, NULL, a, &st) != SNIP_OK)
        fail_msg("%s: %s", text, st.msg);
    return e;
}

static const char *text_of(expr e, arena *a)
{
    return e.count ? expr_print(e, SNIP_PREFIX, NULL, 6, a) : "(none)";
}

static expr_form form_of(expr e, arena *a)
{
    expr_form f;
    snip_status st = { 0 };
    if (expr_canonical(&f, e, a, &st) != SNIP_OK)
        fail_msg("%s: %s", text_of(e, a), st.msg);
    return f;
}

/* e with its numbers and the columns changed by a few units of the 13th digit. */
static void shake(expr e, double *const *x, size_t columns, size_t rows, rng *r)
{
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op == EXPR_NUMBER && e.node[i].value != floor(e.node[i].value))
            e.node[i].value *= 1 + 2e-13 * (rng_uniform(r) - 0.5);
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++)
            x[j][i] *= 1 + 2e-13 * (rng_uniform(r) - 0.5);
}

typedef struct tally {
    size_t rows, shaky;
} tally;

/* How much the values y of e move when its 13th digits change. */
static const double *slack_of(expr e, const double *const *x, size_t columns, size_t rows,
                              const double *y, arena *a)
{
    double *slack = arena_zero(a, rows * sizeof *slack), *v = arena_array(a, rows, sizeof *v);
    rng r;
    rng_init(&r, 1, RNG_BENCH, 0);
    for (int k = 0; k < 12; k++) {
        expr s = { arena_copy(a, e.node, e.count * sizeof *e.node), e.count };
        double **moved = arena_array(a, columns + 1, sizeof *moved);
        for (size_t j = 0; j < columns; j++)
            moved[j] = arena_copy(a, x[j], rows * sizeof **moved);
        shake(s, moved, columns, rows, &r);
        expr_eval(s, (const double *const *)moved, rows, v, a);
        for (size_t i = 0; i < rows; i++)
            slack[i] = fmax(slack[i], isfinite(v[i]) ? fabs(v[i] - y[i]) : INFINITY);
    }
    return slack;
}

/* Whether values z may stand for the values y of e: they agree to 1e-10, or as well as e agrees
 * with itself when its 13th digits change. */
static int agree(expr e, const double *const *x, size_t columns, size_t rows, const double *y,
                 const double *z, tally *t, arena *a)
{
    size_t off = 0;
    for (size_t i = 0; i < rows; i++)
        off += isfinite(y[i]) && !(fabs(y[i] - z[i]) <= 1e-10 * fabs(y[i]));
    t->rows += rows;
    t->shaky += off;
    if (off == 0)
        return 1;
    const double *slack = slack_of(e, x, columns, rows, y, a);
    for (size_t i = 0; i < rows; i++)
        if (isfinite(y[i]) && !(fabs(y[i] - z[i]) <= 1e-10 * fabs(y[i]) + 3 * slack[i]))
            return 0;
    return 1;
}

/* The mean size of the finite values. */
static double size_of(const double *y, size_t n)
{
    double sum = 0;
    size_t finite = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(y[i])) {
            sum += fabs(y[i]);
            finite++;
        }
    return finite ? sum / (double)finite : 0;
}

static void must_agree(expr e, expr other, const double *const *x, size_t columns, size_t rows,
                       tally *t, arena *a)
{
    double y[ROWS], z[ROWS];
    expr_eval(e, x, rows, y, a);
    expr_eval(other, x, rows, z, a);
    if (!agree(e, x, columns, rows, y, z, t, a)) {
        for (size_t i = 0; i < rows; i++)
            printf("%.17g %.17g\n", y[i], z[i]);
        fail_msg("%s\nis not\n%s", expr_print(e, SNIP_PREFIX, NULL, 0, a),
                 expr_print(other, SNIP_PREFIX, NULL, 0, a));
    }
}

static int snip_only(expr e)
{
    for (size_t i = 0; i < e.count; i++)
        if (e.node[i].op >= EXPR_VOCABULARY_END || e.node[i].op == EXPR_DIV ||
            e.node[i].op == EXPR_POW)
            return 0;
    return 1;
}

/* The same operators and variables, and numbers that are free in both or fixed in both. */
static int same_structure(expr p, expr q)
{
    if (p.count != q.count)
        return 0;
    for (size_t i = 0; i < p.count; i++) {
        const expr_node *m = &p.node[i], *n = &q.node[i];
        if (m->op != n->op || (m->op == EXPR_VARIABLE && m->var != n->var) ||
            (m->op == EXPR_NUMBER &&
             (m->fixed != n->fixed ||
              (m->fixed && fabs(m->value - n->value) > 1e-8 * fabs(m->value)))))
            return 0;
    }
    return 1;
}

static int by_value(const void *p, const void *q)
{
    double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

static double median(const double *v, size_t n)
{
    double copy[ROWS];
    memcpy(copy, v, n * sizeof *v);
    qsort(copy, n, sizeof *copy, by_value);
    return copy[n / 2];
}

/* What holds for every formula. */
static void check_form(expr e, const double *const *x, size_t columns, size_t rows, tally *t,
                       arena *a)
{
    expr_form f = form_of(e, a), again;
    must_agree(e, f.e, x, columns, rows, t, a);
    if (snip_only(e) && (!snip_only(f.e) || !snip_only(f.core)))
        fail_msg("%s has other operators than %s", text_of(f.e, a), text_of(e, a));
    again = form_of(f.e, a);
    if (again.hash != f.hash || !same_structure(f.e, again.e))
        fail_msg("%s\nbecomes\n%s\nbecomes\n%s", text_of(e, a), text_of(f.e, a),
                 text_of(again.e, a));
    if (f.core.count == 0)
        return;
    /* The core is its own core, and e = shift + factor * core. */
    again = form_of(f.core, a);
    if (again.hash != f.hash || again.shift != 0)
        fail_msg("core %s\nbecomes %g + %g * %s", text_of(f.core, a), again.shift, again.factor,
                 text_of(again.core, a));
    expr affine = expr_affine(f.shift, f.factor, 0, a),
         whole = expr_substitute(affine, &f.core, 1, a);
    must_agree(e, whole, x, columns, rows, t, a);
    /* Every part that has a place is an affine function of what stands there. */
    double y[ROWS], z[ROWS], w[ROWS];
    for (size_t i = 0; i < e.count; i++) {
        expr part = expr_sub(e, i);
        expr_form own = form_of(part, a);
        if (own.factor != f.factor_of[i])
            fail_msg("factor %g of %s, %g on its own", f.factor_of[i], text_of(part, a),
                     own.factor);
        if (f.where[i] < 0)
            continue;
        assert_in_range(f.where[i], 0, f.core.count - 1);
        expr_eval(part, x, rows, y, a);
        expr_eval(expr_sub(f.core, (size_t)f.where[i]), x, rows, z, a);
        int finite = 1;
        for (size_t k = 0; k < rows; k++) {
            finite &= isfinite(y[k]) && isfinite(z[k]);
            w[k] = y[k] - f.slope[i] * z[k];
        }
        if (!finite)
            continue;
        double shift = median(w, rows), scale = size_of(y, rows) + fabs(shift), off = 0;
        for (size_t k = 0; k < rows; k++)
            off = fmax(off, fabs(shift + f.slope[i] * z[k] - y[k]));
        if (off <= 1e-9 * scale)
            continue;
        const double *slack = slack_of(part, x, columns, rows, y, a);
        double most = 0;
        for (size_t k = 0; k < rows; k++)
            most = fmax(most, slack[k]);
        if (most < 1e-10 * scale)
            fail_msg("%s at %zu of %s is %g times %s", text_of(part, a), i, text_of(e, a),
                     f.slope[i], text_of(expr_sub(f.core, (size_t)f.where[i]), a));
    }
}

static void generated_formulas_keep_their_values(void **state)
{
    enum { FORMULAS = 20000 };
    arena *a = *state;
    data_gen gen = { .dims = 10, .points = ROWS };
    tally t = { 0 };
    for (uint64_t i = 0; i < FORMULAS; i++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        assert_int_equal(data_sample_draw(&s, &gen, 3, RNG_BENCH, i, a), SNIP_OK);
        check_form(s.e, s.x, (size_t)s.dim, ROWS, &t, a);
        arena_reset(a, mark);
    }
    assert_true(t.shaky * 200 < t.rows);
}

/* Spellings of one function, up to its constants. */
static void spellings_have_one_form(void **state)
{
    static const char *const families[][8] = {
        { "1406/x0", "65.15/(0.0463*x0)", "2.5*inv(x0)", "inv(3.5*x0)", "1/(2*x0)*3" },
        { "7363.9/(101.62 + exp(7.2394 - 0.067359*x0))", "72.46/(1 + exp(2.5 - 0.3*x0))",
          "2.5/(3 + 4*exp(0.1*x0))", "inv(3 + 4*exp(0.5 + 2.5*x0))" },
        { "2*(3*x0 + 1)", "6*x0 + 2", "x0/3 - 1.5", "x0", "-x0", "1 - (x0 - 3)" },
        { "x0*x1", "x1*x0", "2*x0*3*x1", "x1/(1/x0)", "-(x0*x1)" },
        { "(3*x0)^2", "2.5*x0^2", "x0*x0", "x0^3/x0", "1/(1/x0)^2", "pow2(neg(x0))", "x0^2.0" },
        { "sqrt(3*x0)", "2.5*sqrt(x0)", "sqrt(x0)", "x0/sqrt(x0)", "sqrt(x0)^3/x0",
          "1/sqrt(1/x0)" },
        { "log(3*x0) + 2.5", "log(x0)", "log2(x0)", "3 - log10(4*x0)", "log(x0*x0*x0)",
          "log(sqrt(2*x0))" },
        { "exp(2.5 + x0)", "exp(x0)", "exp(x0 + 1)/7", "sqrt(exp(x0 + x0))*exp(x1 - x1)" },
        { "2.5*x0 + 3.5*x1", "3.5*x1 + 2.5*x0", "2*(x0 - 2.5*x1) + 7", "4.5*x0 - (2.5*x1 + x0)" },
        { "x0/x1*x2", "x2*x0/x1", "x0*x2*inv(x1)", "inv(x1/(x0*x2))" },
        { "2.5/(3 + 4*x0)", "2.5/(3 + x0)", "2.5/(3 - 4*x0)", "1/(3 + 4*x0)", "1.5*inv(-2 + -7*x0)",
          "2.5/(2*(3 + 4*x0))" },
        { "2.5*sqrt(3 + 4*x0)", "2.5*sqrt(3 - 4*x0)", "sqrt(3.5 - 4.5*x0)" },
        { "log(3 + 4*x0)", "2.5*log(3.5 - 4.5*x0)", "1 + log(2*(3 + 4*x0))" },
        { "abs(3 - 4*x0)", "2.5*abs(4 + x0)", "sqrt((2 - 3*x0)^2)" },
        { "sin(-2*x0)", "3*sin(2.5*x0)", "2 - sin(-2*x0)/3" },
        { "cos(2*x0 - 3*x1)", "cos(3*x1 - 2*x0)", "cos(-2*x0 - 3*x1)" },
        { "x0 - x1", "x0 + neg(x1)", "-(x1 - x0)", "3*(x0 - x1)" },
        { "exp(x0)*exp(2.5*x1)", "exp(x0 + 2.5*x1)", "exp(2.5*x1)/exp(-x0)" },
        { "exp(2.5*log(x0))", "x0^2.5", "3*(4*x0)^2.5", "(x0*exp(1.5))^3.5" },
        { "x0^2.5*x1^1.3", "3*x1^0.3*x0^0.2", "exp(1.5*log(x0) - 2.5*log(3*x1))" },
        { "2.5^x0", "exp(2.5*x0)", "3*2^(x0 + 1)" },
        { "(x0 + x1)*x2", "3*x2*(x0 + x1)", "x2*(x1 + x0)" },
        { "2*(x0 + 3*x1 - 4)^2", "(x0 + 2*x1 + 3)*(2*x0 + 4*x1 + 6)" },
        { "2*x0 + 3*(x1 + x2)", "5*(x1 + x2 + 2*x0)" },
        { "max(x0, x1)", "2*max(x1, x0) + 1" },
        { "x0*abs(x0)", "abs(2.5*x0)*x0" },
    };
    arena *a = *state;
    expr_form first[COUNT(families)];
    for (size_t i = 0; i < COUNT(families); i++) {
        first[i] = form_of(parsed(families[i][0], a), a);
        for (int k = 1; k < 8 && families[i][k]; k++) {
            expr_form f = form_of(parsed(families[i][k], a), a);
            if (f.hash != first[i].hash)
                fail_msg("%s is %s, %s is %s", families[i][0], text_of(first[i].core, a),
                         families[i][k], text_of(f.core, a));
        }
        for (size_t k = 0; k < i; k++)
            if (first[k].hash == first[i].hash)
                fail_msg("%s and %s have one form", families[k][0], families[i][0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(spellings_have_one_form),
        ARENA_TEST(generated_formulas_keep_their_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
