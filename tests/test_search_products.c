/* test_search_products.c - the stage `products`: sums of few products, and what they are made of.
 */
#include "support.h"

#include <math.h>
#include <string.h>

#include "search/dictionary.h"
#include "search/sparse.h"

enum { ROWS = 400 };

/* Only the stage itself, so that no other one can pass its tests. */
#define ALONE (~(1u << SEARCH_PRODUCTS))

typedef struct law {
    const char *text;
    double low, high; /* range of all inputs */
} law;

static double normal(rng *r)
{
    double u = 1 - rng_uniform(r);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * rng_uniform(r));
}

/* A table of a law over uniform inputs, with noise relative to the size of y. */
static regress_table table_of(const law *l, size_t dim, double noise, arena *a)
{
    rng r;
    rng_init(&r, 1, RNG_BENCH, 0);
    regress_table t = law_table(l->text, l->low, l->high, dim, ROWS, &r, a);
    double size = 0;
    for (size_t i = 0; i < ROWS; i++)
        size += t.y[i] * t.y[i] / ROWS;
    for (size_t i = 0; i < ROWS; i++)
        ((double *)t.y)[i] += noise * sqrt(size) * normal(&r);
    return t;
}

static search_result fit(const regress_table *t, int threads, arena *a)
{
    search_result r;
    snip_status st = { 0 };
    const search_how how = { .evaluations = 20000000, .threads = threads, .without = ALONE };
    if (search_run(&r, t, &how, a, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return r;
}

/* Laws ---------------------------------------------------------------------------------------- */

static void clean_laws_are_found(void **state)
{
    static const law laws[] = {
        { "x0*x1*(x2 - x3)/x4", 1, 5 },              /* a factor of changing sign */
        { "x0*x1/sqrt(1 - x1^2/(9*x2^2))", 1, 2 },   /* two terms under 1/y^2 */
        { "sqrt((x0 - x1)^2 + (x2 - x3)^2)", 1, 5 }, /* terms that are parts */
        { "x0*x1 + x2*x3 + x4*x5", 1, 5 },           /* three of many pairs */
        { "x0*exp(-x1*x2/(x3*x4))", 1, 3 },          /* an exponent of four inputs */
        { "x0*x1^3/(exp(x1*x2/x3) - 1)", 1, 2 },     /* a factor, and a power */
        { "x0*(x1 + x2*x3/(x4*x5^2))/x6", 1, 3 },    /* a deep monomial */
        { "x0*sin(x1*x2)^2", 0.2, 1 },               /* an even power of a wave */
        { "arcsin(x0/(4*x1))", 1, 3 },               /* an inverse function */
        { "2.3*x0 + 0.7*log(x1)", 1, 5 },            /* constants of no meaning */
        { "x0/(4 + x1*cos(x2 - x3))", 1, 3 },        /* a sum in a denominator */
    };
    for (size_t k = 0; k < COUNT(laws); k++) {
        regress_table t = table_of(&laws[k], 0, 0, *state);
        search_result r = fit(&t, 2, *state);
        const search_formula *f = &r.front[r.selected];
        if (!(f->r2[1] > 1 - 1e-10))
            fail_msg("%s: %s", laws[k].text, expr_print(f->e, SNIP_INFIX, NULL, 6, *state));
        assert_int_equal(f->stage, SEARCH_PRODUCTS);
    }
}

static void noise_does_not_hide_a_law(void **state)
{
    static const law laws[] = {
        { "x0*x1*sin(x2)", 1, 3 },
        { "x0/sqrt(1 - x1^2/(9*x2^2))", 1, 2 },
        { "x0*x1 + x2*x3", 1, 5 },
        { "sqrt((x0 - x1)^2 + (x2 - x3)^2)", 1, 5 },
    };
    for (size_t k = 0; k < COUNT(laws); k++) {
        regress_table noisy = table_of(&laws[k], 0, 0.05, *state);
        regress_table clean = table_of(&laws[k], 0, 0, *state);
        search_result r = fit(&noisy, 2, *state);
        double value[ROWS], rest = 0, whole = 0;
        const search_formula *f = &r.front[r.selected];
        assert_int_equal(expr_eval(f->e, clean.x, ROWS, value, *state), ROWS);
        for (size_t i = 0; i < ROWS; i++) {
            rest += (value[i] - clean.y[i]) * (value[i] - clean.y[i]);
            whole += clean.y[i] * clean.y[i];
        }
        if (!(rest < 2e-4 * whole)) /* less than a tenth of the noise */
            fail_msg("%s: %s", laws[k].text, expr_print(f->e, SNIP_INFIX, NULL, 6, *state));
    }
}

/* Inputs without a logarithm, without a part in y, or without a value of their own do no harm. */
static void odd_inputs_do_no_harm(void **state)
{
    const law l = { "x0*(x1 + 2*x2^2)", -2, 2 };
    regress_table t = table_of(&l, 7, 0, *state);
    for (size_t i = 0; i < ROWS; i++) {
        ((double *)t.x[3])[i] = 0;
        ((double *)t.x[4])[i] = 2.5;
        ((double *)t.x[5])[i] = i % 2 ? 1 : 0;
        ((double *)t.x[6])[i] = -1 - fabs(t.x[6][i]);
    }
    search_result r = fit(&t, 1, *state);
    assert_true(r.front[r.selected].r2[1] > 1 - 1e-10);
    assert_int_equal(expr_inputs(r.front[r.selected].e), 3);
}

static void threads_do_not_change_the_answer(void **state)
{
    const law l = { "x0*x1/(x2 + x3) + x1^2", 1, 4 };
    regress_table t = table_of(&l, 0, 0.02, *state);
    search_result one = fit(&t, 1, *state), three = fit(&t, 3, *state);
    assert_int_equal(one.count, three.count);
    assert_int_equal(one.evaluations, three.evaluations);
    for (size_t k = 0; k < one.count; k++)
        assert_true(expr_same(one.front[k].e, three.front[k].e));
}

/* Sparse sums --------------------------------------------------------------------------------- */

/* A job that is never over, and a search around it. */
static search_job idle_job(search *s, search_how *how, arena *a)
{
    *how = (search_how){ .evaluations = UINT64_MAX };
    *s = (search){ .how = how };
    return (search_job){ .s = s, .a = a, .tmp = a, .quota = UINT64_MAX };
}

static void sparse_finds_the_terms(void **state)
{
    enum { COLUMNS = 300, N = 64 };
    arena *a = *state;
    search s;
    search_how how;
    search_job j = idle_job(&s, &how, a);
    rng r;
    rng_init(&r, 2, RNG_BENCH, 0);
    static const size_t planted[] = { 7, 120, 121, 299 };
    static const double coef[] = { 2, -1, 0.5, 3 };
    for (size_t terms = 1; terms <= 4; terms++) {
        double *c = arena_array(a, COLUMNS * N, sizeof *c), t[N] = { 0 };
        for (size_t i = 0; i < COLUMNS * N; i++) /* alike, as monomials of positive inputs are */
            c[i] = 1 + rng_uniform(&r) + (i / N % 2 ? c[i - N] : 0);
        memset(c + 50 * N, 0, N * sizeof *c); /* a column without values is passed over */
        for (size_t k = 0; k < terms; k++)
            for (size_t i = 0; i < N; i++)
                t[i] += coef[k] * c[planted[k] * N + i];
        double bits[COLUMNS] = { 0 };
        sparse sp;
        sparse_model model[4 * 10];
        assert_true(search_sparse_begin(&sp, c, bits, COLUMNS, t, N, &j, a));
        assert_int_equal(sp.columns, COLUMNS - 1);
        size_t found = search_sparse_search(&sp, model, 10, terms, &j), at = found;
        for (size_t k = 0; k < found; k++)
            if (model[k].count == terms && model[k].rest < 1e-12)
                at = at == found ? k : at;
        assert_true(at < found);
        for (size_t k = 0; k < terms; k++) {
            assert_int_equal(model[at].term[k], planted[k]);
            assert_true(fabs(model[at].coef[k] - coef[k]) < 1e-6);
        }
    }
}

static void solving_passes_over_copies(void **state)
{
    double x[20], twice[20], z[20], y[20], coef[3];
    for (int i = 0; i < 20; i++) {
        x[i] = 1 + i;
        twice[i] = 2 * x[i];
        z[i] = i % 3;
        y[i] = 3 * x[i] - 2 * z[i];
    }
    assert_true(search_sparse_solve(coef, (const double *[]){ x, twice, z }, 3, y, 20, *state) <
                1e-20);
    assert_true(fabs(coef[0] - 3) < 1e-10 && coef[1] == 0 && fabs(coef[2] + 2) < 1e-10);
}

/* Monomials ----------------------------------------------------------------------------------- */

static void monomials_come_in_order(void **state)
{
    const law l = { "x0 + x1 + x2", 1, 2 };
    regress_table t = table_of(&l, 0, 0, *state);
    search_view v = { .dim = 3, .rows = ROWS, .x = t.x, .y = t.y };
    search s = { .operators = search_operators_default() };
    dictionary d;
    monomial m[500];
    assert_true(search_dictionary_make(&d, &s, &v, ROWS, 200, *state));
    assert_int_equal(d.n, 3);
    assert_int_equal(search_dictionary_monomials(&d, 7, 3, EXPONENTS_ONE, m, 500), 3 * 3 * 3 - 1);
    assert_int_equal(search_dictionary_monomials(&d, 5, 3, EXPONENTS_TWO, m, 500), 5 * 5 - 1);
    size_t n = search_dictionary_monomials(&d, 7, 2, EXPONENTS_ANY, m, 500);
    for (size_t k = 0; k < n; k++) {
        double value[ROWS], direct[ROWS];
        for (size_t i = 0; i < ROWS; i++)
            value[i] = 1;
        search_dictionary_times(&d, &m[k], value, ROWS);
        assert_true(k == 0 || m[k].cost >= m[k - 1].cost);
        expr e = search_dictionary_product(&d, &m[k], *state);
        assert_int_equal(expr_eval(e, t.x, ROWS, direct, *state), ROWS);
        for (size_t i = 0; i < ROWS; i++)
            assert_true(fabs(value[i] - direct[i]) <= 1e-12 * fabs(direct[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(clean_laws_are_found),    ARENA_TEST(noise_does_not_hide_a_law),
        ARENA_TEST(odd_inputs_do_no_harm),   ARENA_TEST(threads_do_not_change_the_answer),
        ARENA_TEST(sparse_finds_the_terms),  ARENA_TEST(solving_passes_over_copies),
        ARENA_TEST(monomials_come_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
