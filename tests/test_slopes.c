/* test_slopes.c - derivatives by all parts of a formula, and the features made of them. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "data/gen.h"
#include "model/slopes.h"

enum { F = MODEL_SLOPE_FEATURES, POINTS = MODEL_SLOPE_POINTS, EACH = F / POINTS };

/* e with `by` added to the part at i. */
static expr raised(expr e, size_t i, double by, arena *a)
{
    expr part = expr_subtree(e, i),
         sum = { arena_array(a, part.count + 2, sizeof *sum.node), part.count + 2 };
    sum.node[0] = (expr_node){ .op = EXPR_ADD };
    sum.node[1] = (expr_node){ .op = EXPR_NUMBER, .value = by };
    memcpy(sum.node + 2, part.node, part.count * sizeof *part.node);
    assert_true(expr_measure(sum));
    return expr_splice(e, i, sum, a);
}

/* Values are those of the parts, derivatives those of central differences. */
static void sensitivities_are_differences(void **state)
{
    enum { FORMULAS = 300, ROWS = 5, DIMS = 10 };
    arena *a = *state;
    data_gen gen = { .dims = DIMS, .points = 20 };
    const double *x[DIMS];
    rng r;
    rng_init(&r, 3, RNG_BENCH, 0);
    for (int j = 0; j < DIMS; j++) {
        double *column = arena_array(a, ROWS, sizeof *column);
        rng_fill_uniform(&r, column, ROWS);
        x[j] = column;
    }
    size_t checked = 0, off = 0;
    for (uint64_t k = 0; k < FORMULAS; k++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        assert_int_equal(data_sample_draw(&s, &gen, 77, RNG_BENCH, k, a), SNIP_OK);
        double *v = arena_array(a, s.e.count * ROWS, sizeof *v), part[ROWS], up[ROWS], down[ROWS];
        double *g = arena_array(a, s.e.count * ROWS, sizeof *g);
        assert_true(expr_sensitivities(s.e, x, ROWS, v, g, a));
        for (size_t i = 0; i < s.e.count; i++) {
            expr_eval(expr_subtree(s.e, i), x, ROWS, part, a);
            assert_memory_equal(part, v + i * ROWS, sizeof part);
            for (int n = 0; n < ROWS; n++) {
                double h = 1e-6 * (1e-3 + fabs(part[n]));
                if (!isfinite(part[n]) || !isfinite(g[i * ROWS + (size_t)n]))
                    continue;
                expr_eval(raised(s.e, i, h, a), x, ROWS, up, a);
                expr_eval(raised(s.e, i, -h, a), x, ROWS, down, a);
                double want = (up[n] - down[n]) / (2 * h), got = g[i * ROWS + (size_t)n];
                /* Rounding of the whole, seen through the difference. */
                double error = 1e-3 * fabs(got) + 1e-14 * fabs(up[n]) / h;
                checked++;
                off += !(fabs(got - want) <= error);
            }
        }
        arena_reset(a, mark);
    }
    print_message("%zu derivatives, %zu differ from the difference\n", checked, off);
    assert_true(checked > 40000 && off * 500 < checked); /* poles and corners are near some */
}

/* The features of node i of a formula. */
static const float *features(const char *text, size_t i, int form, arena *a)
{
    expr e = parsed(text, NULL, a);
    float *out = arena_array(a, e.count * F, sizeof *out);
    assert_true(i < e.count && model_slopes(out, NULL, e, form, a));
    return out + i * F;
}

static void signs_and_sizes_are_told(void **state)
{
    arena *a = *state;
    /* sub 2 mul 3 sin x0: sin(x0) counts with a minus, and so does x0, whose sine rises. */
    const float *sine = features("2 - 3*sin(x0)", 4, 0, a),
                *x0 = features("2 - 3*sin(x0)", 5, 0, a);
    for (int p = 0; p < POINTS; p++) {
        assert_true(sine[p * EACH] == 1 && sine[p * EACH + 1] == -1);
        assert_true(x0[p * EACH + 1] == -1 && x0[p * EACH + 7] == -1);
        assert_float_equal(x0[p * EACH + 8], -1, 1e-6); /* the only input is the steepest */
    }
    /* What is exchanged changes its sign. */
    const float *first = features("x0 - 5.5*x1", 1, 0, a), *last = features("5.5*x1 - x0", 4, 0, a);
    for (int p = 0; p < POINTS; p++) {
        assert_true(first[p * EACH + 1] == 1 && last[p * EACH + 1] == -1);
        assert_float_equal(first[p * EACH + 3], -last[p * EACH + 3], 1e-6);
        assert_true(first[p * EACH + 3] > 0.4 && first[p * EACH + 3] < 0.6); /* 1 beside 5.5 */
    }
    /* An input that occurs twice: each has its own derivative, both have the sum. */
    const float *twice = features("x0 - 3*x0", 1, 0, a);
    assert_true(twice[1] == 1 && twice[7] == -1);
    /* No derivative, no features of it; another point may have them. x0 has its value. */
    const float *pole = features("1/x0", 1, 0, a);
    assert_true(pole[0] == 0 && pole[1] == 0 && pole[EACH] == 1 && pole[EACH + 1] == -1);
    assert_true(pole[9] == 0 && pole[10] == -2 && pole[EACH + 9] == 1 && pole[2 * EACH + 9] == -1);
    /* A part's value is its own, whatever is around it. */
    const float *alone = features("exp(x0) + 90", 1, 0, a),
                *inside = features("7 - 55*(exp(x0) + 90)", 5, 0, a);
    for (int p = 0; p < POINTS; p++)
        assert_memory_equal(alone + p * EACH + 9, inside + p * EACH + 9, 3 * sizeof(float));
    assert_true(alone[1] == 1 && inside[1] == -1);
}

/* In a form free constants are not read, fixed ones are. */
static void forms_hide_their_constants(void **state)
{
    arena *a = *state;
    size_t bytes = F * sizeof(float);
    assert_memory_equal(features("7.5*x0 - exp(-2.5*x1)", 1, 1, a),
                        features("-2*x0 - exp(33.5*x1)", 1, 1, a), bytes);
    assert_memory_not_equal(features("7.5*x0 - exp(-2.5*x1)", 1, 0, a),
                            features("-2*x0 - exp(33.5*x1)", 1, 0, a), bytes);
    expr e = parsed("x0*-2.5", NULL, a);
    float free[3 * F], fixed[3 * F];
    assert_true(e.count == 3 && model_slopes(free, NULL, e, 1, a));
    expr_set_fixed(e, 1);
    assert_true(model_slopes(fixed, NULL, e, 1, a));
    assert_true(free[F + 1] == 1 && fixed[F + 1] == -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(sensitivities_are_differences),
        ARENA_TEST(signs_and_sizes_are_told),
        ARENA_TEST(forms_hide_their_constants),
    };
    return cmocka_run_group_tests_name("slopes", tests, NULL, NULL);
}
