/* test_search_reduce.c - the stages `relations` and `reduce`: polynomials in inputs and target, and
 * smaller problems in a large one. */
#include "support.h"

#include <math.h>

#include "search/search.h"

enum { ROWS = 500 };

/* Only the stage itself, so that no other one can pass its tests. */
#define RELATIONS_ALONE (~(1u << SEARCH_RELATIONS))
#define REDUCE_ALONE    (~(1u << SEARCH_REDUCE))

typedef struct law {
    const char *text;
    double low, high; /* range of all inputs */
} law;

static regress_table table_of(const law *l, double noise, arena *a)
{
    rng r;
    rng_init(&r, 3, RNG_BENCH, 0);
    regress_table t = law_table(l->text, l->low, l->high, 0, ROWS, &r, a);
    for (size_t i = 0; i < ROWS; i++)
        ((double *)t.y)[i] *= 1 + noise * (2 * rng_uniform(&r) - 1);
    return t;
}

static search_result fit(const regress_table *t, unsigned without, int threads, arena *a)
{
    search_result r;
    snip_status st = { 0 };
    const search_how how = { .evaluations = 5000000, .threads = threads, .without = without };
    if (search_run(&r, t, &how, a, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return r;
}

static void laws_are_found(const law *laws, size_t n, unsigned without, search_stage by, arena *a)
{
    for (size_t k = 0; k < n; k++) {
        regress_table t = table_of(&laws[k], 0, a);
        search_result r = fit(&t, without, 2, a);
        const search_formula *f = &r.front[r.selected];
        if (!(f->r2[0] > 1 - 1e-12 && f->r2[1] > 1 - 1e-12))
            fail_msg("%s: %s", laws[k].text, expr_print(f->e, SNIP_INFIX, NULL, 6, a));
        assert_int_equal(f->stage, by);
    }
}

static void relations_are_found(void **state)
{
    static const law laws[] = {
        { "(x0*x1 + x2*x3)/(x0*x2 + x1*x3 + x0*x4)", 1, 5 },  /* a rational function */
        { "(x0 + x1)/2 + sqrt((x0 - x1)^2/4 + x2^2)", 1, 5 }, /* a root of a quadratic */
        { "sqrt(2*x0*x1/(x2*(x0 + x1)))", 1, 5 },             /* a root of a quotient */
        { "arccos((x0^2 + x1^2 - x2^2)/(2*x0*x1))", 3, 4 },   /* under an inverse function */
        { "x0*sin(x1)/(1 + x2*cos(x1))", 0.2, 0.9 },          /* a wave, twice */
        { "x0 + x1*log(x2)/x3", 1, 5 },                       /* a logarithm */
        { "exp(x0*x1/(x1 + x2))", 0.5, 2 },                   /* log y is rational */
        { "sqrt(x0)/(x1 + sqrt(x0)*x2)", 1, 5 },              /* a root inside */
    };
    laws_are_found(laws, COUNT(laws), RELATIONS_ALONE, SEARCH_RELATIONS, *state);
}

static void smaller_problems_are_found(void **state)
{
    static const law laws[] = {
        { "x0*sqrt(x1/x2)*(sqrt(2*x3/(x2 + x3)) - 1)", 1, 3 },  /* factors, then a scaled pair */
        { "x0*tanh(x1*x2^2)/x1", 0.5, 1.2 },                    /* a power in a pair */
        { "x0 + x1*exp(-x2*x3)", 0.5, 2 },                      /* a term */
        { "x0*cos(sqrt(x1^2 + x2^2))", 0.5, 1.5 },              /* squares that add up */
        { "exp(-x2/(1/x0 + 1/x1))", 1, 2 },                     /* reciprocals that do */
        { "x0*cos(x1)*(x2^2 - x3*(x0 - 1)/(x0 + 2))", 0.5, 6 }, /* a wave over a whole turn */
        { "x0*log(x1)*exp(-x2*x3)", 0.5, 2 },                   /* a logarithm that changes sign */
    };
    laws_are_found(laws, COUNT(laws), REDUCE_ALONE, SEARCH_REDUCE, *state);
}

/* What is not exact is no relation: the stage has nothing to say, and says nothing. */
static void noise_has_no_relations(void **state)
{
    const law l = { "(x0*x1 + x2*x3)/(x0*x2 + x1*x3)", 1, 5 };
    regress_table t = table_of(&l, 0.01, *state);
    search_result r = fit(&t, RELATIONS_ALONE, 1, *state);
    assert_int_equal(r.count, 1);
    assert_int_equal(r.front[0].size, 1);
}

/* Sine and cosine have a relation of their own, and so have inputs that are functions of others. */
static void relations_of_inputs_are_none_of_the_target(void **state)
{
    const law l = { "tanh(x0*x1) + x2", 0.5, 2 };
    regress_table t = table_of(&l, 0, *state);
    for (size_t i = 0; i < ROWS; i++)
        ((double *)t.x[2])[i] = t.x[0][i] * t.x[1][i];
    search_result r = fit(&t, RELATIONS_ALONE, 1, *state);
    assert_int_equal(r.count, 1);
}

static void threads_do_not_change_the_answer(void **state)
{
    const law l = { "x0*sqrt(x1/x2)*(sqrt(2*x3/(x2 + x3)) - 1) + x4", 1, 3 };
    regress_table t = table_of(&l, 0.001, *state);
    unsigned without = RELATIONS_ALONE & REDUCE_ALONE;
    search_result one = fit(&t, without, 1, *state), three = fit(&t, without, 3, *state);
    assert_int_equal(one.count, three.count);
    assert_int_equal(one.evaluations, three.evaluations);
    for (size_t k = 0; k < one.count; k++)
        assert_true(expr_same(one.front[k].e, three.front[k].e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(relations_are_found),
        ARENA_TEST(smaller_problems_are_found),
        ARENA_TEST(noise_has_no_relations),
        ARENA_TEST(relations_of_inputs_are_none_of_the_target),
        ARENA_TEST(threads_do_not_change_the_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
