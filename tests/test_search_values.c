/* test_search_values.c - the inner loop of a search gives what the evaluator gives. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/isa.h"
#include "data/gen.h"
#include "search/values.h"

/* 1 - r^2 in long double, from the definition. */
static double twin(const double *v, const double *y, size_t n)
{
    long double mv = 0, my = 0, vv = 0, vy = 0, rest = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        mv += v[i];
        my += y[i];
    }
    mv /= n;
    my /= n;
    for (size_t i = 0; i < n; i++) {
        vv += (v[i] - mv) * (v[i] - mv);
        vy += (v[i] - mv) * (y[i] - my);
        yy += (y[i] - my) * (y[i] - my);
    }
    for (size_t i = 0; i < n; i++) {
        long double d = y[i] - my - vy / vv * (v[i] - mv);
        rest += d * d;
    }
    return (double)(rest / yy);
}

static void values_are_those_of_expr_eval(void **state)
{
    arena *a = *state;
    const data_gen gen = { .dims = 5, .points = DATA_POINTS };
    static const size_t some[] = { 64, 8, 63, 65, 200, 100 };
    size_t judged = 0;
    for (uint64_t k = 0; k < 300; k++) {
        arena_pos mark = arena_mark(a);
        data_sample s, other;
        search_sample p;
        assert_int_equal(data_sample_draw(&s, &gen, 7, RNG_BENCH, k, a), SNIP_OK);
        assert_int_equal(data_sample_draw(&other, &gen, 7, RNG_BENCH, k + 1000, a), SNIP_OK);
        size_t rows = some[k % COUNT(some)];
        rows = rows < s.points ? rows : s.points;
        if (!search_sample_make(&p, s.x, other.y, rows) || s.e.count > SEARCH_SIZE_MAX)
            continue;
        double own[SEARCH_SOME], theirs[SEARCH_SOME];
        assert_true(search_sample_values(own, &p, s.e));
        size_t finite = expr_eval(s.e, s.x, rows, theirs, a);
        assert_memory_equal(own, theirs, rows * sizeof *own);
        double loss = search_sample_loss(&p, s.e);
        if (finite < rows) {
            assert_true(isinf(loss));
        } else {
            double want = twin(theirs, other.y, rows);
            assert_true(fabs(loss - want) <= 1e-9 || !isfinite(want));
            judged++;
        }
        arena_reset(a, mark);
    }
    assert_true(judged > 200);
}

/* What a line explains but for 1e-12 of the deviation leaves 1e-24, not the rounding of 1 - 1. */
static void small_losses_keep_their_digits(void **state)
{
    arena *a = *state;
    enum { N = 100 };
    double x[N], y[N];
    const double *column[] = { x };
    search_sample p;
    expr e;
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i / N;
        y[i] = 3 - 2 * x[i] + (i % 2 ? 1e-9 : -1e-9);
    }
    assert_int_equal(expr_parse(&e, "x0", NULL, a, NULL), SNIP_OK);
    assert_true(search_sample_make(&p, column, y, N));
    double loss = search_sample_loss(&p, e), want = twin(x, y, N);
    assert_true(want > 1e-19 && want < 1e-17);
    assert_true(fabs(loss - want) < 1e-3 * want);
}

static void what_cannot_be_judged(void **state)
{
    arena *a = *state;
    enum { N = 70 };
    double x[N], y[N];
    const double *column[] = { x };
    search_sample p;
    static const struct {
        const char *text;
        double loss;
    } cases[] = { { "log(x0 - 0.5)", INFINITY },
                  { "1/x0", INFINITY },
                  { "x0 - x0 + 2", 1 },
                  { "exp(exp(exp(7*x0)))", INFINITY },
                  { "pi", 1 } };
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i / N;
        y[i] = x[i] * x[i];
    }
    assert_true(search_sample_make(&p, column, y, N));
    for (size_t k = 0; k < COUNT(cases); k++) {
        expr e;
        assert_int_equal(expr_parse(&e, cases[k].text, NULL, a, NULL), SNIP_OK);
        assert_true(search_sample_loss(&p, e) == cases[k].loss);
    }
    /* A left-leaning sum has as many operands waiting as there can be; one node more is too long.
     */
    for (size_t n = SEARCH_SIZE_MAX - 1; n <= SEARCH_SIZE_MAX + 1; n += 2) {
        expr e = { arena_zero(a, n * sizeof *e.node), n };
        for (size_t i = 0; i < n; i++)
            e.node[i] = (expr_node){ .op = i < n / 2 ? EXPR_ADD : EXPR_VARIABLE };
        assert_true(expr_measure(e));
        double loss = search_sample_loss(&p, e);
        assert_true(n <= SEARCH_SIZE_MAX ? loss < 0.2 : isinf(loss));
    }
    for (size_t i = 0; i < N; i++)
        y[i] = 4;
    assert_false(search_sample_make(&p, column, y, N));
    y[3] = NAN;
    assert_false(search_sample_make(&p, column, y, N));
}

static void every_instruction_set_gives_the_same_bits(void **state)
{
    (void)state;
    double v[SEARCH_SOME], y[SEARCH_SOME];
    rng r;
    rng_init(&r, 3, RNG_BENCH, 0);
    for (size_t n = 1; n <= SEARCH_SOME; n += 5) {
        for (size_t i = 0; i < n; i++) {
            v[i] = rng_uniform(&r);
            y[i] = rng_uniform(&r) - 0.5;
        }
        double want = expr_vec_for(ISA_GENERIC)->unexplained(v, y, n);
        for (int k = 0; k < ISA_COUNT; k++)
            if (isa_has((isa)k)) {
                double got = expr_vec_for((isa)k)->unexplained(v, y, n);
                assert_memory_equal(&got, &want, sizeof got);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(values_are_those_of_expr_eval),
        ARENA_TEST(small_losses_keep_their_digits),
        ARENA_TEST(what_cannot_be_judged),
        ARENA_TEST(every_instruction_set_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
