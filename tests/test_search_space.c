/* test_search_space.c - formulas of a library as beginnings, and similarities of the answer. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/file.h"
#include "model/file.h"
#include "regress/rank.h"
#include "search/graft.h"
#include "search/search.h"

enum { ROWS = 200, COLUMNS = 3, FORMULAS = 120 };

static const unsigned only_space = ~(1u << SEARCH_SPACE);

/* A folder with an untrained model that reads forms, and a library with a formula of our own. */
typedef struct bench {
    arena *a;
    char folder[64], library[96];
    model_opened *m;
    regress_table t;
} bench;

/* The law x2*exp(-x0/5)*cos(x1), columns about 20, 2 and 300. */
static void make_table(bench *b)
{
    static const char *const names[COLUMNS] = { "x0", "x1", "x2" };
    static const double low[] = { 10, 1, 200 }, high[] = { 30, 3, 400 };
    const double **x = arena_array(b->a, COLUMNS, sizeof *x);
    double *y = arena_array(b->a, ROWS, sizeof *y);
    rng r;
    rng_init(&r, 3, RNG_BENCH, 0);
    for (int j = 0; j < COLUMNS; j++) {
        double *column = arena_array(b->a, ROWS, sizeof *column);
        rng_fill_uniform(&r, column, ROWS);
        for (int i = 0; i < ROWS; i++)
            column[i] = low[j] + (high[j] - low[j]) * column[i];
        x[j] = column;
    }
    expr_eval(parsed("x2*exp(-x0/5)*cos(x1)", NULL, b->a), x, ROWS, y, b->a);
    b->t = (regress_table){ COLUMNS, ROWS, names, x, y };
}

static int setup(void **state)
{
    bench *b = calloc(1, sizeof *b);
    char path[96];
    library_built built;
    library_outcome outcome;
    strcpy(b->folder, "/tmp/test_space.XXXXXX");
    if (!mkdtemp(b->folder))
        return -1;
    b->a = arena_new(0);
    json_t *history = json_pack("{s:s}", "stage", "S5");
    snprintf(path, sizeof path, "%s/model.safetensors", b->folder);
    snprintf(b->library, sizeof b->library, "%s/library.db", b->folder);
    assert_int_equal(model_save(untrained_forms_model(4, b->a), path, history, NULL), SNIP_OK);
    json_decref(history);
    assert_int_equal(model_open(&b->m, path, NULL), SNIP_OK);
    const library_how how = { .count = FORMULAS, .seed = 3, .gen = { 4, 50 }, .threads = 1 };
    assert_int_equal(library_build(&built, b->library, b->m, &how, NULL), SNIP_OK);
    /* The law's form in other inputs, all of mean 0 and deviation 1, with other numbers. */
    const library_own_formula own = { .e = parsed("(2.0 + x0)*exp(-1.2*x1)*cos(3.5 + 0.6*x2)", NULL,
                                                  b->a) };
    assert_int_equal(library_add(&outcome, b->library, b->m, &own, 1, 1, NULL), SNIP_OK);
    assert_int_equal(outcome.fate, LIBRARY_ADDED);
    make_table(b);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    bench *b = *state;
    char command[96];
    model_close(b->m);
    snprintf(command, sizeof command, "rm -rf %s", b->folder);
    arena_free(b->a);
    free(b);
    return system(command);
}

static search_result searched(bench *b, const search_how *how)
{
    search_result r;
    snip_status st = { 0 };
    if (search_run(&r, &b->t, how, b->a, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return r;
}

/* However they are chosen, if all formulas are taken the one that is the law is among them. */
static void the_law_is_found_in_the_library(void **state)
{
    bench *b = *state;
    const search_how how = { .evaluations = 3000000,
                             .threads = 1,
                             .without = only_space,
                             .model = b->m,
                             .library = b->library,
                             .seeds = SEARCH_SEEDS_VALUES };
    search_result r = searched(b, &how);
    const search_formula *f = &r.front[r.selected];
    assert_int_equal(f->stage, SEARCH_SPACE);
    if (!(f->r2[1] > 1 - 1e-10))
        fail_msg("%s", expr_print(f->e, SNIP_INFIX, NULL, 5, b->a));
}

/* What is measured must not be in the library: the same search without the law's form. */
static void an_excepted_form_is_not_taken(void **state)
{
    bench *b = *state;
    expr law = parsed("3*x2*exp(-x0)*cos(x1)", NULL, b->a);
    const search_how how = { .evaluations = 3000000,
                             .threads = 1,
                             .without = only_space,
                             .model = b->m,
                             .library = b->library,
                             .seeds = SEARCH_SEEDS_VALUES,
                             .except = &law,
                             .excepts = 1 };
    search_result r = searched(b, &how);
    assert_true(r.front[r.count - 1].r2[1] < 1 - 1e-6);
}

/* Parts, prior and promise in evolution: the same answer with any number of threads. */
static void evolution_with_the_space_is_reproducible(void **state)
{
    bench *b = *state;
    search_result r[2];
    for (int k = 0; k < 2; k++) {
        const search_how how = { .evaluations = 400000,
                                 .threads = k + 1,
                                 .without = ~(1u << SEARCH_SPACE | 1u << SEARCH_EVOLVE),
                                 .max_size = 12,
                                 .model = b->m,
                                 .library = b->library };
        r[k] = searched(b, &how);
    }
    assert_int_equal(r[0].evaluations, r[1].evaluations);
    assert_int_equal(r[0].count, r[1].count);
    for (size_t k = 0; k < r[0].count; k++)
        assert_true(expr_same(r[0].front[k].e, r[1].front[k].e));
}

/* What the forms have is likelier, what they lack still comes. */
static void a_prior_weighs_choices(void **state)
{
    bench *b = *state;
    static const expr_op ops[] = { EXPR_SIN, EXPR_EXP, EXPR_LOG, EXPR_TANH };
    search_prior p = { { 0 }, { { 0 } } };
    size_t count[EXPR_OP_COUNT] = { 0 }, with[COLUMNS] = { 0 };
    expr x0 = parsed("x0", NULL, b->a);
    rng r;
    rng_init(&r, 5, RNG_BENCH, 0);
    search_prior_add(&p, parsed("exp(x0/x2)", NULL, b->a), 1);
    for (int k = 0; k < 4000; k++) {
        count[search_prior_op(&p, ops, COUNT(ops), &r)]++;
        with[search_prior_partner(&p, x0, COLUMNS, &r)]++;
    }
    assert_in_range(count[EXPR_EXP], 2300, 2700); /* 1/2 + 1/8 of all */
    assert_in_range(count[EXPR_SIN], 400, 600);
    assert_in_range(with[2], 2500, 2850); /* 1/2 + 1/6 */
    assert_in_range(with[1], 550, 780);
}

/* The wanted values at a place are a table, and what comes of it are formulas in its columns. */
static void grafts_are_formulas_of_the_columns(void **state)
{
    bench *b = *state;
    snip_status st = { 0 };
    const search_how how = { .threads = 1, .model = b->m, .library = b->library };
    regress_problem p;
    assert_int_equal(regress_problem_make(&p, &b->t, 1, b->a, &st), SNIP_OK);
    search s = { .how = &how,
                 .dim = COLUMNS,
                 .rows = { p.train, p.rows - p.train },
                 .x = p.x,
                 .y = p.y,
                 .problem = &p,
                 .operators = search_operators_default(),
                 .max_size = 30,
                 .a = b->a };
    s.root = (search_view){ .dim = COLUMNS, .rows = p.train, .x = p.x, .y = p.y };
    target aim[TARGETS_MAX];
    size_t aims, count = 0, made = 0;
    assert_int_equal(search_near_open(&s.near, &s, &st), SNIP_OK);
    assert_true(search_targets_make(aim, &aims, &s, &s.root, b->a));
    const graft_from from = { s.near, &s.root, &aim[0],
                              parsed("x2*exp(-x0/4)*sin(x1)", NULL, b->a) };
    for (uint64_t k = 0; k < 8; k++) {
        expr out[GRAFTS_MAX];
        rng r;
        rng_init(&r, k, RNG_BENCH, 0);
        assert_int_equal(search_graft(out, &count, &from, &r, b->a, &st), SNIP_OK);
        for (size_t i = 0; i < count; i++) {
            assert_true(expr_inputs(out[i]) <= COLUMNS);
            assert_false(expr_same(out[i], from.e));
        }
        made += count;
    }
    search_near_close(s.near);
    assert_true(made > 0);
    assert_true(s.evaluations > 0); /* it is counted */
}

static void every_way_of_choosing_works(void **state)
{
    bench *b = *state;
    for (int seeds = 0; seeds < SEARCH_SEEDS_COUNT; seeds++) {
        search_result r[2];
        for (int k = 0; k < 2; k++) {
            const search_how how = { .evaluations = 300000,
                                     .threads = k + 1,
                                     .without = only_space,
                                     .model = b->m,
                                     .library = b->library,
                                     .seeds = (search_seeds)seeds };
            r[k] = searched(b, &how);
        }
        assert_true(r[0].count > 1); /* better than the mean */
        assert_int_equal(r[0].front[r[0].count - 1].stage, SEARCH_SPACE);
        assert_int_equal(r[0].count, r[1].count); /* threads do not matter */
        for (size_t k = 0; k < r[0].count; k++)
            assert_true(expr_same(r[0].front[k].e, r[1].front[k].e));
    }
}

static void a_library_that_is_none_is_an_error(void **state)
{
    bench *b = *state;
    search_result r;
    snip_status st = { 0 };
    search_how how = { .evaluations = 100000,
                       .threads = 1,
                       .without = only_space,
                       .model = b->m,
                       .library = "/nowhere/library.db" };
    assert_int_not_equal(search_run(&r, &b->t, &how, b->a, &st), SNIP_OK);
    assert_non_null(strstr(st.msg, "/nowhere/library.db"));
    how.library = NULL; /* without one there is no such stage */
    assert_int_equal(search_run(&r, &b->t, &how, b->a, &st), SNIP_OK);
    assert_int_equal(r.count, 1);
}

static void similarities_are_those_of_rank(void **state)
{
    bench *b = *state;
    snip_status st = { 0 };
    regress_problem p;
    const search_how how = {
        .evaluations = 20000, .threads = 1, .without = ~(1u << SEARCH_CLOSED), .model = b->m
    };
    search_result r = searched(b, &how);
    assert_true(r.count > 1);
    assert_int_equal(regress_problem_make(&p, &b->t, how.seed, b->a, &st), SNIP_OK);
    for (size_t k = 0; k < r.count; k++) {
        regress_nearness near;
        assert_int_equal(regress_similarities(&near, &r.front[k].e, 1, &p, b->m, 1, b->a, &st),
                         SNIP_OK);
        if (isnan(near.similarity))
            assert_true(isnan(r.front[k].similarity));
        else
            assert_true(fabs(near.similarity - r.front[k].similarity) < 1e-5);
    }
    assert_false(isnan(r.front[r.count - 1].similarity));
    search_how without = how;
    without.model = NULL;
    r = searched(b, &without);
    assert_true(isnan(r.front[r.count - 1].similarity));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_is_found_in_the_library),
        cmocka_unit_test(an_excepted_form_is_not_taken),
        cmocka_unit_test(evolution_with_the_space_is_reproducible),
        cmocka_unit_test(a_prior_weighs_choices),
        cmocka_unit_test(grafts_are_formulas_of_the_columns),
        cmocka_unit_test(every_way_of_choosing_works),
        cmocka_unit_test(a_library_that_is_none_is_an_error),
        cmocka_unit_test(similarities_are_those_of_rank),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
