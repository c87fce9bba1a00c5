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

/* e with the 13th digit of every part's values changed. */
static expr shaken(expr e, rng *r, arena *a)
{
    expr out = { arena_zero(a, 3 * e.count * sizeof *out.node), 0 };
    for (size_t i = 0; i < e.count; i++) {
        if (e.node[i].op != EXPR_NUMBER || e.node[i].value != floor(e.node[i].value)) {
            out.node[out.count++].op = EXPR_MUL;
            out.node[out.count++] =
                (expr_node){ .op = EXPR_NUMBER, .value = 1 + 2e-13 * (rng_uniform(r) - 0.5) };
        }
        out.node[out.count++] = e.node[i];
    }
    assert_true(expr_measure(out));
    return out;
}

typedef struct tally {
    size_t rows, shaky;
    double size; /* of numbers that values may be a difference of */
} tally;

/* How much the values y of e move when all 13th digits change; without end where one of its parts
 * overflows. */
static const double *slack_of(expr e, const double *const *x, size_t rows, const double *y,
                              arena *a)
{
    double *slack = arena_zero(a, rows * sizeof *slack), *v = arena_array(a, rows, sizeof *v);
    rng r;
    rng_init(&r, 1, RNG_BENCH, 0);
    for (int k = 0; k < 12; k++) {
        expr_eval(shaken(e, &r, a), x, rows, v, a);
        for (size_t i = 0; i < rows; i++)
            slack[i] = fmax(slack[i], isfinite(v[i]) ? fabs(v[i] - y[i]) : INFINITY);
    }
    for (size_t k = 0; k < e.count; k++) { /* 1/exp(1000) is no value to keep */
        expr_eval(expr_subtree(e, k), x, rows, v, a);
        for (size_t i = 0; i < rows; i++)
            if (!isfinite(v[i]) || (v[i] == 0 && expr_ops[e.node[k].op].arity > 0))
                slack[i] = INFINITY;
    }
    return slack;
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

/* Whether values z may stand for the values y of e: they agree to 1e-10 of themselves or
 * 1e-13 of the mean size, or as well as e agrees
 * with itself when all 13th digits change. */
static int agree(expr e, const double *const *x, size_t rows, const double *y, const double *z,
                 tally *t, arena *a)
{
    size_t off = 0;
    double size = 1e-3 * (size_of(y, rows) + t->size);
    for (size_t i = 0; i < rows; i++)
        off += isfinite(y[i]) && !(fabs(y[i] - z[i]) <= 1e-10 * (fabs(y[i]) + size));
    t->rows += rows;
    t->shaky += off;
    if (off == 0)
        return 1;
    const double *slack = slack_of(e, x, rows, y, a);
    for (size_t i = 0; i < rows; i++)
        if (isfinite(y[i]) && !(fabs(y[i] - z[i]) <= 1e-10 * (fabs(y[i]) + size) + 3 * slack[i]) &&
            slack[i] < 1e-3 * fabs(y[i])) /* beyond that it is chance, like tan(1e20) */
            return 0;
    return 1;
}

static void must_agree(expr e, expr other, const double *const *x, size_t rows, tally *t, arena *a)
{
    double y[ROWS], z[ROWS];
    expr_eval(e, x, rows, y, a);
    expr_eval(other, x, rows, z, a);
    if (!agree(e, x, rows, y, z, t, a)) {
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
static void check_form(expr e, const double *const *x, size_t rows, tally *t, arena *a)
{
    expr_form f = form_of(e, a), again;
    must_agree(e, f.e, x, rows, t, a);
    if (snip_only(e) && (!snip_only(f.e) || !snip_only(f.core)))
        fail_msg("%s has other operators than %s", text_of(f.e, a), text_of(e, a));
    double y[ROWS], z[ROWS], w[ROWS];
    if (expr_eval(e, x, rows, y, a) == 0)
        return; /* a division by 0 or the like: there is no function to speak of */
    again = form_of(f.e, a);
    int same_dialect = snip_only(e) == snip_only(f.e); /* the others are spelled in another way */
    if (again.hash != f.hash || (same_dialect && !same_structure(f.e, again.e)))
        fail_msg("%s\nbecomes\n%s\nbecomes\n%s", text_of(e, a), text_of(f.e, a),
                 text_of(again.e, a));
    if (f.core.count == 0)
        return;
    /* The core is its own core, and e = shift + factor * core. */
    again = form_of(f.core, a);
    int large = 0; /* constants that cannot be added up stay in the core */
    for (size_t i = 0; i < e.count; i++)
        large |= e.node[i].op == EXPR_NUMBER && fabs(e.node[i].value) > 1e300;
    if (!large && (again.hash != f.hash || again.shift != 0))
        fail_msg("core %s\nbecomes %g + %g * %s", text_of(f.core, a), again.shift, again.factor,
                 text_of(again.core, a));
    /* In another unit it has the same one. */
    expr unit = expr_affine(3, 1e4, 0, a);
    expr_set_fixed(unit, 0);
    again = form_of(expr_substitute(unit, &e, 1, a), a);
    if (!large && again.hash != f.hash)
        fail_msg("core %s of %s\nis %s in another unit", text_of(f.core, a), text_of(e, a),
                 text_of(again.core, a));
    expr affine = expr_affine(f.shift, f.factor, 0, a),
         whole = expr_substitute(affine, &f.core, 1, a);
    must_agree(e, whole, x, rows, t, a);
    /* Every part that has a place is an affine function of what stands there. */
    for (size_t i = 0; i < e.count; i++) {
        expr part = expr_subtree(e, i);
        expr_form own = form_of(part, a);
        if (own.factor != f.factor_of[i])
            fail_msg("factor %g of %s, %g on its own", f.factor_of[i], text_of(part, a),
                     own.factor);
        if (f.where[i] < 0)
            continue;
        assert_in_range(f.where[i], 0, f.core.count - 1);
        expr_eval(part, x, rows, y, a);
        expr_eval(expr_subtree(f.core, (size_t)f.where[i]), x, rows, z, a);
        int finite = 1;
        for (size_t k = 0; k < rows; k++) {
            finite &= isfinite(y[k]) && isfinite(z[k]);
            w[k] = y[k] - f.slope[i] * z[k];
        }
        if (!finite)
            continue;
        double shift = median(w, rows), scale = size_of(y, rows) + fabs(shift) + t->size, off = 0;
        for (size_t k = 0; k < rows; k++)
            off = fmax(off, fabs(shift + f.slope[i] * z[k] - y[k]));
        if (off <= 1e-9 * scale)
            continue;
        const double *slack = slack_of(part, x, rows, y, a);
        double most = 0;
        for (size_t k = 0; k < rows; k++)
            most = fmax(most, slack[k]);
        if (most < 1e-10 * scale)
            fail_msg("%s at %zu of %s is %g times %s", text_of(part, a), i, text_of(e, a),
                     f.slope[i], text_of(expr_subtree(f.core, (size_t)f.where[i]), a));
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
        check_form(s.e, s.x, ROWS, &t, a);
        arena_reset(a, mark);
    }
    assert_true(t.shaky * 200 < t.rows);
}

static void corpora_and_their_edits_keep_their_values(void **state)
{
    arena *a = *state;
    tally t = { 0 };
    size_t formulas = 0, edits = 0, normals = 0;
    for (int k = 0; k < DATA_CORPORA; k++) {
        data_corpus c;
        assert_int_equal(data_corpus_builtin(&c, data_corpus_names[k], a, NULL), SNIP_OK);
        for (size_t i = 0; i < c.count; i++) {
            arena_pos mark = arena_mark(a);
            const data_formula *f = &c.formula[i];
            const double **x;
            double *y;
            size_t rows;
            snip_status st = { 0 };
            if (data_formula_sample(&x, &y, &rows, &c, i,
                                    &(data_design){ DATA_SAMPLE_RANGE, ROWS, 1 }, a,
                                    &st) != SNIP_OK)
                fail_msg("%s: %s", f->id, st.msg);
            assert_int_equal(rows, ROWS);
            check_form(f->e, x, ROWS, &t, a);
            formulas++;
            expr normal;
            expr_domain domain = { f->low, f->high, f->names.count, 1 };
            if (expr_normal(&normal, f->e, &domain, a, NULL) == SNIP_OK) {
                check_form(normal, x, ROWS, &t, a);
                normals++;
            }
            for (int family = 0; family < DATA_FAMILIES; family++) {
                data_edit *list;
                size_t n = data_edits_list(&list, f->e, (data_family)family, a);
                for (size_t j = 0; j < n && j < 40; j++) {
                    check_form(data_edit_apply(f->e, &list[j], a), x, ROWS, &t, a);
                    edits++;
                }
            }
            arena_reset(a, mark);
        }
    }
    assert_true(formulas > 200 && normals > 200 && edits > 2000);
    assert_true(t.shaky * 200 < t.rows);
}

/* Edits, small parts of the range (fixed numbers among free ones), and numbers fixed at random. */
static void edited_and_zoomed_formulas_keep_their_values(void **state)
{
    enum { FORMULAS = 2000 };
    arena *a = *state;
    data_gen gen = { .dims = 10, .points = ROWS };
    tally t = { 0 };
    for (uint64_t i = 0; i < FORMULAS; i++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        rng r;
        rng_init(&r, 4, RNG_BENCH, i);
        assert_int_equal(data_sample_draw(&s, &gen, 5, RNG_BENCH, i, a), SNIP_OK);
        for (int family = 0; family < DATA_FAMILIES; family++) {
            data_edit *list;
            size_t n = data_edits_list(&list, s.e, (data_family)family, a);
            if (n == 0)
                continue;
            expr e = data_edit_apply(s.e, &list[rng_below(&r, (uint32_t)n)], a);
            check_form(e, s.x, ROWS, &t, a);
        }
        data_edit edit = data_edit_rewriting(s.e, &r, a);
        check_form(data_edit_apply(s.e, &edit, a), s.x, ROWS, &t, a);
        expr mixed = { arena_copy(a, s.e.node, s.e.count * sizeof *s.e.node), s.e.count };
        for (size_t k = 0; k < mixed.count; k++)
            mixed.node[k].fixed = rng_below(&r, 3) == 0 && mixed.node[k].op == EXPR_NUMBER;
        check_form(mixed, s.x, ROWS, &t, a);
        expr_set_fixed(mixed, 1);
        check_form(mixed, s.x, ROWS, &t, a);
        assert_int_equal(data_sample_zoom(&s, &r, a), SNIP_OK);
        check_form(s.e, s.x, ROWS, &t, a);
        arena_reset(a, mark);
    }
    assert_true(t.shaky * 200 < t.rows);
}

/* A tree of all operators that there are, with numbers of all kinds. */
static expr random_tree(rng *r, size_t most, arena *a)
{
    static const double numbers[] = { 1, -1, 2, 3, -2, 0.5, 1.5, 0, 2.75, -0.3, 10, 1e-3 };
    expr e = { arena_zero(a, 2 * most * sizeof *e.node), 0 };
    for (size_t open = 1; open > 0; open--) {
        expr_node *n = &e.node[e.count++];
        int full = e.count + open >= most;
        n->op =
            (uint8_t)(full || rng_below(r, 4) == 0 ? EXPR_VARIABLE : rng_below(r, EXPR_OP_COUNT));
        if (rng_below(r, 3) == 0 && !full) /* more of what gets joined */
            n->op = (uint8_t)(EXPR_ADD + rng_below(r, 5));
        if (n->op == EXPR_VARIABLE)
            n->var = (uint16_t)rng_below(r, 3);
        if (n->op == EXPR_NUMBER) {
            n->value = numbers[rng_below(r, COUNT(numbers))];
            n->integer = n->value == floor(n->value) && rng_below(r, 2);
            n->fixed = rng_below(r, 2);
        }
        open += (size_t)expr_ops[n->op].arity;
    }
    assert_true(expr_measure(e));
    return e;
}

static void trees_of_all_operators_keep_their_values(void **state)
{
    enum { TREES = 10000 };
    arena *a = *state;
    tally t = { .size = 1e-3 };
    for (uint64_t i = 0; i < TREES; i++) {
        arena_pos mark = arena_mark(a);
        double x[3][ROWS];
        const double *columns[3] = { x[0], x[1], x[2] };
        rng r;
        rng_init(&r, 9, RNG_BENCH, i);
        for (int k = 0; k < ROWS; k++)
            for (int j = 0; j < 3; j++)
                x[j][k] = 3 * rng_uniform(&r) - (j == 0 ? 0 : 1.5);
        check_form(random_tree(&r, 4 + rng_below(&r, 30), a), columns, ROWS, &t, a);
        arena_reset(a, mark);
    }
    assert_true(t.shaky * 50 < t.rows);
}

/* e with the operands of sums and products changed round at random. */
static expr shuffled(expr e, rng *r, arena *a)
{
    expr out = { arena_copy(a, e.node, e.count * sizeof *e.node), e.count };
    for (size_t i = 0; i < e.count; i++) {
        if ((out.node[i].op != EXPR_ADD && out.node[i].op != EXPR_MUL) || rng_below(r, 2))
            continue;
        size_t n = out.node[i + 1].len, m = out.node[i].len - 1 - n;
        expr_node *left = arena_copy(a, &out.node[i + 1], n * sizeof *left);
        memmove(&out.node[i + 1], &out.node[i + 1 + n], m * sizeof *left);
        memcpy(&out.node[i + 1 + m], left, n * sizeof *left);
    }
    return out;
}

static void order_and_free_constants_do_not_matter(void **state)
{
    enum { FORMULAS = 3000 };
    arena *a = *state;
    data_gen gen = { .dims = 10, .points = 2 };
    size_t turned = 0;
    for (uint64_t i = 0; i < FORMULAS; i++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        rng r;
        rng_init(&r, 6, RNG_BENCH, i);
        assert_int_equal(data_sample_draw(&s, &gen, 7, RNG_BENCH, i, a), SNIP_OK);
        expr_form f = form_of(s.e, a), g = form_of(shuffled(s.e, &r, a), a);
        if (f.hash != g.hash || !same_structure(f.core, g.core) || !same_structure(f.e, g.e))
            fail_msg("%s\nand\n%s", text_of(f.core, a), text_of(g.core, a));
        int signs = 1; /* sqrt(x) and sqrt(-x) are told apart */
        expr other = shuffled(s.e, &r, a);
        for (size_t k = 0; k < other.count; k++)
            signs &= other.node[k].op != EXPR_SQRT && other.node[k].op != EXPR_LOG;
        turned += (size_t)signs;
        for (size_t k = 0; k < other.count; k++)
            other.node[k].value *= (0.5 + rng_uniform(&r)) * (signs && rng_below(&r, 2) ? -1 : 1);
        g = form_of(other, a);
        if (f.hash != g.hash || !same_structure(f.core, g.core))
            fail_msg("%s\nand\n%s", text_of(f.core, a), text_of(g.core, a));
        arena_reset(a, mark);
    }
    assert_true(turned > FORMULAS / 3);
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
        { "sin(x0)", "sin(-x0)", "tan(-1)*sin(neg(x0))" },
        { "sin(x0 - x1)", "sin(x1 - x0)" },
        { "tanh(x0 - x1)", "-tanh(x1 - x0)" },
        { "sqrt(2 - 3*x2)*sqrt(2 - 3*x2)", "x2", "abs(x2)*abs(x2)/x2" },
        { "x1*(2 - 3*x0)", "x1*sqrt(2 - 3*x0)*sqrt(2 - 3*x0)" },
        { "sin(x1 + 2.5*x0)", "sin(x1 - 2.5*x0)", "sin(2.5*x0 - x1)" },
        { "max(x0, x1)", "2*max(x1, x0) + 1" },
        { "erf(x0 - x1)", "-3*erf(x1 - x0)" },
        { "x0*abs(x0)", "abs(2.5*x0)*x0" },
    };
    arena *a = *state;
    expr_form first[COUNT(families)];
    for (size_t i = 0; i < COUNT(families); i++) {
        first[i] = form_of(parsed(families[i][0], NULL, a), a);
        for (int k = 1; k < 8 && families[i][k]; k++) {
            expr_form f = form_of(parsed(families[i][k], NULL, a), a);
            if (f.hash != first[i].hash)
                fail_msg("%s is %s, %s is %s", families[i][0], text_of(first[i].core, a),
                         families[i][k], text_of(f.core, a));
        }
        for (size_t k = 0; k < i; k++)
            if (first[k].hash == first[i].hash)
                fail_msg("%s and %s have one form", families[k][0], families[i][0]);
    }
}

static void free_constants_are_as_few_as_possible(void **state)
{
    static const struct {
        const char *text;
        size_t n;
    } cases[] = {
        { "7363.9/(101.62 + exp(7.2394 - 0.067359*x0))", 3 },
        { "72.46/(1 + exp(2.5 - 0.3*x0))", 3 },
        { "65.15/(0.0463*x0)", 1 },
        { "2.5/(3 + 4*x0)", 2 },
        { "(2 + 3*x0)*(4 + 5*x1)", 3 },
        { "2.5/(3 + 4*x0 + 5*x1)^2", 3 },
        { "2*(3*x0 + 1) + 4*x1", 3 },
        { "exp(2 + 3*x0)*exp(4*x1)", 3 },
        { "2.5*(3*x0)^4.5", 2 },
        { "log(2*x0) + log(3*x1)", 1 },
        { "2*(x0 + x1)", 1 },
        { "2*(x0 + x1 + 3*x2)", 2 },
        { "sin(2*(x0 + x1))", 1 },
        { "sin(2*x0 + 3*x1)", 2 },
        { "x0^2 + x1^(-3)", 0 },
        { "pi*x0", 0 },
        { "2*pi*x0", 1 },
        { "abs(2 - 3*x0)", 2 },
        { "sqrt(2 - 3*x0)", 3 }, /* with the sign of x0 */
    };
    arena *a = *state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t node[64];
        expr_form f = form_of(parsed(cases[i].text, NULL, a), a);
        size_t n = expr_constants(f.e, node);
        if (n != cases[i].n)
            fail_msg("%s has %zu constants as %s", cases[i].text, n, text_of(f.e, a));
    }
}

static void forms_are_written_in_the_dialect_of_the_formula(void **state)
{
    static const struct {
        const char *text, *e, *core;
    } cases[] = {
        { "x1*2.5 + 0.5", "add,0.5,mul,2.5,x_1", "x_1" },
        { "1.5*x1 - 2.5*x0", "add,mul,-2.5,x_0,mul,1.5,x_1", "add,x_0,mul,-0.6,x_1" },
        { "x1 - x0", "add,mul,-1.0,x_0,x_1", "sub,x_0,x_1" },
        { "x0*inv(x1)*inv(x2)*x3", "mul,mul,x_0,x_3,inv,mul,x_1,x_2",
          "mul,mul,x_0,x_3,inv,mul,x_1,x_2" },
        { "pow2(x0)*pow3(x0)", "mul,x_0,pow2,pow2,x_0", "mul,x_0,pow2,pow2,x_0" },
        { "x0*sqrt(x0)*0.5", "mul,0.5,pow3,sqrt,x_0", "pow3,sqrt,x_0" },
        { "sin(0.5 - 1.5*x0)", "sin,add,0.5,mul,-1.5,x_0", "sin,add,0.5,mul,-1.5,x_0" },
        { "sin(-1.5*x0)", "mul,-1.0,sin,mul,1.5,x_0", "sin,mul,1.5,x_0" },
        { "sin(1.5*x1 - 2.5*x0)", "mul,-1.0,sin,add,mul,2.5,x_0,mul,-1.5,x_1", NULL },
        { "cos(-1.5*x0)", "cos,mul,1.5,x_0", NULL },
        { "inv(2.5)", "0.4", NULL },
        { "2.5/x0", "div,2.5,x_0", "inv,x_0" },
        { "5*(x0 - x1/x2)", "mul,5,sub,x_0,div,x_1,x_2", "sub,x_0,div,x_1,x_2" },
        { "3*x1^4 - x0/2 - 7", "sub,sub,mul,3.0,pow,x_1,4,mul,0.5,x_0,7", NULL },
        { "4*x1^1.5*x0^0.5", "mul,4,mul,pow,x_0,0.5,pow,x_1,1.5", NULL },
        { "x0/2 - 7", "sub,mul,0.5,x_0,7", "x_0" },
        { "-x0/x1", "neg,div,x_0,x_1", "div,x_0,x_1" },
        /* differences are turned, where that saves a sign */
        { "-(1/(1/x0 - 0.1))", "inv,sub,0.1,inv,x_0", "inv,sub,inv,x_0,0.1" },
        { "1/(0.1 - 1/x0)", "mul,-1.0,inv,add,-0.1,inv,x_0", "inv,add,-0.1,inv,x_0" },
        { "-(x0/(x0 - x1))", "div,x_0,sub,x_1,x_0", NULL },
        { "-(x0/(2.5 - x1)^3)", "div,x_0,pow3,sub,x_1,2.5", NULL },
        { "-(x0/(2.5 - x1)^2)", "neg,div,x_0,pow2,sub,x_1,2.5", NULL },
        { "-(x0 - x1)", "sub,x_1,x_0", NULL },
        { "-(-x0 - (x1 - x2))", "sub,add,x_0,x_1,x_2", NULL },
        { "log10(x0)", NULL, "log,x_0" },
    };
    arena *a = *state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        expr_form f = form_of(parsed(cases[i].text, NULL, a), a);
        const char *e = expr_print(f.e, SNIP_PREFIX, NULL, 0, a);
        const char *core = f.core.count ? expr_print(f.core, SNIP_PREFIX, NULL, 0, a) : "";
        if ((cases[i].e && strcmp(e, cases[i].e) != 0) ||
            (cases[i].core && strcmp(core, cases[i].core) != 0))
            fail_msg("%s is %s with core %s", cases[i].text, e, core);
    }
    expr_form f = form_of(parsed("2*3 - sqrt(4)", NULL, a), a);
    assert_int_equal(f.core.count, 0);
    assert_true(f.shift == 4 && f.factor == 0 && f.shift_free && f.where[0] == -1);
}

/* Fixed numbers belong to the structure. */
static void fixed_numbers_are_told_apart(void **state)
{
    arena *a = *state;
    expr two = parsed("sin(2.5*x0)", NULL, a), three = parsed("sin(3.5*x0)", NULL, a);
    assert_true(form_of(two, a).hash == form_of(three, a).hash);
    expr_set_fixed(two, 1);
    expr_set_fixed(three, 1);
    expr_form f = form_of(two, a);
    assert_true(f.hash != form_of(three, a).hash);
    assert_true(f.hash != form_of(parsed("sin(2.5*x0)", NULL, a), a).hash);
    two.node[2].value *= 1 + 1e-14;
    assert_true(f.hash == form_of(two, a).hash);
    two.node[2].value *= 1 + 1e-7;
    assert_true(f.hash != form_of(two, a).hash);
    /* x0 + (-1)*x1 with a number that no fit moves is x0 - x1. */
    expr minus = parsed("x0 + (-1)*x1", NULL, a);
    expr_set_fixed(minus, 1);
    assert_true(form_of(minus, a).hash == form_of(parsed("x0 - x1", NULL, a), a).hash);
    /* A fixed exponent of a half is a root, a free one is a constant. */
    expr root = parsed("x0^0.5", NULL, a);
    assert_true(form_of(root, a).hash != form_of(parsed("sqrt(x0)", NULL, a), a).hash);
    expr_set_fixed(root, 1);
    assert_true(form_of(root, a).hash == form_of(parsed("sqrt(x0)", NULL, a), a).hash);
    /* One free constant is not made two: 1/(1 + a*x) has one, k/(1 + a*x) is k/(a + x). */
    expr one = parsed("inv(1 + 2.5*x0)", NULL, a), scaled = parsed("3*inv(1 + 2.5*x0)", NULL, a);
    one.node[2].fixed = scaled.node[4].fixed = 1;
    size_t node[16];
    assert_int_equal(expr_constants(form_of(one, a).e, node), 1);
    assert_int_equal(expr_constants(form_of(scaled, a).e, node), 2);
    assert_true(form_of(scaled, a).hash == form_of(parsed("3/(1 + x0)", NULL, a), a).hash);
    /* The same of 3 + log(1 + a*x), and of a factor that comes later: (1 + a*x)*y*k. */
    expr log_one = parsed("3.5 + log(1 + 2.5*x0)", NULL, a),
         late = parsed("(1 + 2.5*x0)*x1*3.5", NULL, a);
    log_one.node[4].fixed = late.node[3].fixed = 1;
    assert_true(log_one.node[4].value == 1 && late.node[3].value == 1);
    assert_true(form_of(log_one, a).hash == form_of(parsed("log(1.5 - 2.5*x0)", NULL, a), a).hash);
    assert_true(form_of(late, a).hash == form_of(parsed("x1*(2 + 3*x0)", NULL, a), a).hash);
}

/* Units of the inputs leave the constants of a formula what they were. */
static void standardised_inputs_add_no_constants(void **state)
{
    static const char *const pairs[][2] = {
        { "1406/x0", "65.15/(0.0463*x0)" }, { "2*x0^2", "(3*x0)^2" },
        { "log(x0) + 2.5", "log(3*x0)" },   { "2*sqrt(x0)", "sqrt(3*x0)" },
        { "abs(x0)*3", "abs(-2*x0)" },      { "x0*x1*2", "3*x0*(4*x1)" },
    };
    arena *a = *state;
    expr by[2] = { expr_affine(12.5, 3.25, 0, a), expr_affine(-4.5, 0.75, 1, a) };
    for (size_t i = 0; i < COUNT(pairs); i++) {
        expr_form f[2];
        for (int k = 0; k < 2; k++)
            f[k] = form_of(expr_substitute(parsed(pairs[i][k], NULL, a), by, 2, a), a);
        size_t node[64];
        if (f[0].hash != f[1].hash || expr_constants(f[0].e, node) != 1 ||
            expr_constants(f[1].e, node) != 1)
            fail_msg("%s is %s, %s is %s", pairs[i][0], text_of(f[0].e, a), pairs[i][1],
                     text_of(f[1].e, a));
    }
}

/* k*(m + s*x)*sqrt(m + s*x): k*m/(k*s) may differ from m/s in the last bit, and is the same. */
static void rounding_makes_no_other_form(void **state)
{
    static const char *const formulas[] = { "%.17g*x0*sqrt(x0)", "x0*x0/(%.17g + x0*x0)",
                                            "%.17g*x0*x1/(x0 - x1)" };
    arena *a = *state;
    expr by[2] = { expr_affine(8.45, 10.3, 0, a), expr_affine(0.0517, 1.0 / 3, 1, a) };
    for (size_t i = 0; i < COUNT(formulas); i++) {
        uint64_t first = 0;
        for (int k = 0; k < 40; k++) {
            char text[64];
            snprintf(text, sizeof text, formulas[i], 1.5 + k * 10.0 / 3);
            expr_form f = form_of(expr_substitute(parsed(text, NULL, a), by, 2, a), a);
            first = k ? first : f.hash;
            if (f.hash != first)
                fail_msg("%s is %s", text, text_of(f.core, a));
        }
    }
}

static void flags_follow_the_numbers(void **state)
{
    static const struct {
        const char *text;
        size_t free;
    } normal[] = {
        { "sinh(x0)", 0 },         { "log10(x0)", 0 },     { "tanh(2.5*x0)", 1 },
        { "max(x0, 3)", 2 },       { "cbrt(x0)", 0 },      { "x0^2 + x0^0.5", 0 },
        { "pi*x0 + e", 0 },        { "2*pi*x0", 1 },       { "exp(x0)^2.7", 1 },
        { "x0/3 - 4", 2 },         { "2^3*x0", 1 },        { "arctanh(x0)", 0 },
        { "euler_gamma + x0", 0 }, { "sign(exp(x0))", 0 }, { "exp2(-x0)", 0 },
    };
    arena *a = *state;
    size_t node[64];
    for (size_t i = 0; i < COUNT(normal); i++) {
        expr n;
        assert_int_equal(expr_normal(&n, parsed(normal[i].text, NULL, a), NULL, a, NULL), SNIP_OK);
        if (expr_constants(n, node) != normal[i].free)
            fail_msg("%s: %zu", normal[i].text, expr_constants(n, node));
    }
    /* Where the affine function alone is, no number is free; where it meets one, the sum is. */
    expr by[1] = { expr_affine(2.5, 1.5, 0, a) }, out;
    assert_int_equal(expr_constants(by[0], node), 0);
    static const struct {
        const char *text;
        size_t free;
    } tidy[] = { { "sin(x0)", 0 }, { "sin(3*x0)", 2 }, { "sin(3 + x0)", 1 },      { "exp(-x0)", 0 },
                 { "x0/3", 2 },    { "x0*x0*3", 1 },   { "sin(x0 - x0) + x0", 0 } };
    for (size_t i = 0; i < COUNT(tidy); i++) {
        expr e = expr_substitute(parsed(tidy[i].text, NULL, a), by, 1, a);
        assert_int_equal(expr_tidy(&out, e, a, NULL), SNIP_OK);
        if (expr_constants(out, node) != tidy[i].free)
            fail_msg("%s: %zu", tidy[i].text, expr_constants(out, node));
    }
    expr_set_fixed(by[0], 0);
    assert_int_equal(expr_constants(by[0], node), 2);
    expr_set_fixed(by[0], 1);
    assert_int_equal(expr_constants(by[0], node), 0);
}

/* What over- or underflows is left alone. */
static void large_and_small_numbers_keep_their_values(void **state)
{
    static const char *const texts[] = {
        "1e300*x0*1e300*inv(1e300)",
        "1e-200*x0*1e-200",
        "(1e200*x0)^2*1e-300",
        "(1e-200*x0)^3 + x0",
        "exp(800 + x0) + x0",
        "exp(x0 - 800)*exp(790)",
        "exp(1000*x0 - 600)",
        "inv(1e-320*x0 + 1)",
        "inv(1e-200*x0 + 1e200)",
        "inv(0*x0 + 2)",
        "1/(x0 - x0) + x0",
        "log(-1)*x0 + x1",
        "sqrt(-2)*x0",
        "1e308 + (1e308 + x0)",
        "x0 - 1e308 - 1e308",
        "x0^1000000*x1",
        "(x0^(-700000))^2*x1",
        "1e-310*x0 + 2*x1",
        "log(1e-310*x0)",
        "0*log(x0) + x1",
        "x0^4000000 + 2",
        "(x0 + 1e-300*x1)^2",
        "x0 + 1e-20*x1 + 1e20*x0",
        "2.5^(x0*1000)",
        "0^x0 + x1",
        "(-2)^2.5 + x0",
        "1e200^2.5 + x0",
        "sqrt(-3*exp(x0)*x1)",
        "sqrt(exp(x0)) + abs(exp(x1)*x0)",
        "sqrt(-exp(x0)) + x1",
        "log(-2*exp(x0))",
        "floor(2*x0) + ceil(-x1) + sign(-3*x0) + cbrt(-8*x1 + 4)",
        "log1p(x0/10) - expm1(-x1) + arccosh(3 + x0) + cosh(-x0)",
        "min(x0, 2*x1) + min(3, 2) + max(x1, x0)",
        "atan2(x0, 2*x1) - atan2(2*x1, x0) + atan2(1, 2) + erf(-2*x0) + erf(1.5 - x1)",
    };
    arena *a = *state;
    double x[2][ROWS];
    const double *columns[2] = { x[0], x[1] };
    rng r;
    rng_init(&r, 8, RNG_BENCH, 0);
    tally t = { 0 };
    for (size_t i = 0; i < COUNT(texts); i++) {
        for (int k = 0; k < ROWS; k++) {
            x[0][k] = 0.5 + rng_uniform(&r);
            x[1][k] = 2 * rng_uniform(&r) - 1;
        }
        check_form(parsed(texts[i], NULL, a), columns, ROWS, &t, a);
    }
}

/* n nodes of op, one inside the other, around x0; a second operand is a number or a variable. */
static expr tower(const int *op, size_t ops, size_t n, arena *a)
{
    expr e = { arena_zero(a, (2 * n + 1) * sizeof *e.node), 0 };
    for (size_t i = 0; i < n; i++) {
        int o = op[i % ops];
        e.node[e.count++].op = (uint8_t)o;
        if (expr_ops[o].arity == 2) {
            expr_node leaf = { .op = i % 3 ? EXPR_VARIABLE : EXPR_NUMBER, .value = 1.5 };
            leaf.var = (uint16_t)(i % 4000);
            e.node[e.count++] = leaf;
        }
    }
    e.node[e.count++].op = EXPR_VARIABLE;
    assert_true(expr_measure(e));
    return e;
}

/* Nothing recurses on the depth of a formula, and nothing takes quadratic time or memory. */
static void towers_are_no_trouble(void **state)
{
    static const int ops[][3] = {
        { EXPR_SIN },           { EXPR_ADD },           { EXPR_MUL },
        { EXPR_SQRT },          { EXPR_EXP },           { EXPR_LOG },
        { EXPR_SUB },           { EXPR_ADD, EXPR_MUL }, { EXPR_INV, EXPR_ADD },
        { EXPR_POW2 },          { EXPR_ABS, EXPR_ADD }, { EXPR_LOG, EXPR_SQRT },
        { EXPR_POW, EXPR_ADD }, { EXPR_MAX, EXPR_SUB }, { EXPR_DIV, EXPR_ADD, EXPR_MUL },
        { EXPR_EXP, EXPR_MUL }, { EXPR_NEG },           { EXPR_SQRT, EXPR_MUL, EXPR_ADD },
    };
    arena *a = *state;
    for (size_t i = 0; i < COUNT(ops); i++)
        for (int fixed = 0; fixed < 2; fixed++) {
            arena_pos mark = arena_mark(a);
            size_t n = ops[i][2] ? 3 : ops[i][1] ? 2 : 1;
            expr e = tower(ops[i], n, 4990, a);
            for (size_t k = 0; k < e.count && fixed; k++)
                e.node[k].fixed = k % 2 == 0;
            expr_form f;
            arena_pos before = arena_mark(a);
            double start = clock_now();
            snip_code code = expr_canonical(&f, e, a, NULL);
            if (code != SNIP_OK && code != SNIP_UNSUPPORTED)
                fail_msg("tower %zu: code %d", i, code);
            if (arena_mark(a) - before > 100 << 20 || clock_now() - start > 5)
                fail_msg("tower %zu takes %zu bytes, %.1f s", i, arena_mark(a) - before,
                         clock_now() - start);
            arena_reset(a, mark);
        }
}

static void memory_limits_are_failures_not_crashes(void **state)
{
    (void)state;
    static const char text[] = "3*(x0 + x1 + 2.5*x2)/(1 + exp(2 - x0^2.5*x1)) - "
                               "sqrt(2 - 3*x0)*abs(x1*x2)*log(1 + 2*x0) + (x0 - x1/x2)^5";
    int failed = 0, done = 0;
    for (size_t limit = 64; limit < 100000; limit += 64) {
        arena *a = arena_new(limit), *b = arena_new(0);
        expr_form f;
        snip_status st = { 0 };
        snip_code code = expr_canonical(&f, parsed(text, NULL, b), a, &st);
        assert_true(code == SNIP_OK || code == SNIP_NOMEM);
        failed += code == SNIP_NOMEM;
        done += code == SNIP_OK;
        arena_free(a);
        arena_free(b);
    }
    assert_true(failed > 10 && done > 10);
}

/* Saturation curves as people write them: the same values, no more constants, the same core. */
static void curves_are_spelled_as_in_textbooks(void **state)
{
    static const struct {
        const char *e, *spelled;
    } cases[] = {
        { "5.284/(0.07293 + exp(-0.06736*x0))", "72.45/(1 + exp(2.618 - 0.06736*x0))" },
        { "5.284/(exp(-x0) + 0.07293)", "72.45/(exp(2.618 - x0) + 1)" },
        { "x1*2.5 + 3.5*x0/(2.5 + exp(1.5*x0))", "x1*2.5 + 1.4*x0/(1 + exp(-0.9163 + 1.5*x0))" },
        { "3.5/(2.5 + exp(0.7 + x0))", "1.4/(1 + exp(-0.2163 + x0))" },
        { "3.5/(2.5 + exp(2.5/(0.5 + exp(x0))))",
          "1.4/(1 + exp(-0.9163 + 5/(1 + exp(0.6931 + x0))))" },
        { "x0/(2.5 + exp(x0))", "x0/(2.5 + exp(x0))" }, /* it would take a constant more */
        { "3.5/(1 + exp(x0))", "3.5/(1 + exp(x0))" },
        { "3.5/(exp(x0) - 2.5)", "3.5/(exp(x0) - 2.5)" },
        { "3.5/(2.5 - exp(x0))", "3.5/(2.5 - exp(x0))" },
        { "3.5/(-2.5 + exp(x0))", "3.5/(-2.5 + exp(x0))" },
        { "1/(2.5 + exp(x0))", "1/(2.5 + exp(x0))" },
    };
    arena *a = *state;
    double x[40], one[40], other[40];
    for (int i = 0; i < 40; i++)
        x[i] = (i - 20) / 3.0;
    const double *const columns[] = { x, x };
    for (size_t k = 0; k < COUNT(cases); k++) {
        expr e = parsed(cases[k].e, NULL, a), spelled = expr_spell(e, a);
        size_t *node = arena_array(a, spelled.count, sizeof *node);
        assert_string_equal(expr_print(spelled, SNIP_INFIX, NULL, 4, a), cases[k].spelled);
        assert_true(expr_constants(spelled, node) <= expr_constants(e, node));
        expr_eval(e, columns, 40, one, a);
        expr_eval(spelled, columns, 40, other, a);
        for (int i = 0; i < 40; i++)
            assert_true(fabs(one[i] - other[i]) <= 1e-10 * fabs(one[i]));
        assert_true(form_of(e, a).hash == form_of(spelled, a).hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(spellings_have_one_form),
        ARENA_TEST(free_constants_are_as_few_as_possible),
        ARENA_TEST(curves_are_spelled_as_in_textbooks),
        ARENA_TEST(forms_are_written_in_the_dialect_of_the_formula),
        ARENA_TEST(fixed_numbers_are_told_apart),
        ARENA_TEST(standardised_inputs_add_no_constants),
        ARENA_TEST(rounding_makes_no_other_form),
        ARENA_TEST(flags_follow_the_numbers),
        ARENA_TEST(large_and_small_numbers_keep_their_values),
        ARENA_TEST(towers_are_no_trouble),
        ARENA_TEST(memory_limits_are_failures_not_crashes),
        ARENA_TEST(order_and_free_constants_do_not_matter),
        ARENA_TEST(generated_formulas_keep_their_values),
        ARENA_TEST(trees_of_all_operators_keep_their_values),
        ARENA_TEST(corpora_and_their_edits_keep_their_values),
        ARENA_TEST(edited_and_zoomed_formulas_keep_their_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
