/* test_search_space.c - formulas of a library as beginnings, and similarities of the answer. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/file.h"
#include "model/file.h"
#include "regress/rank.h"
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
        double similarity;
        const char *why = NULL;
        assert_int_equal(
            regress_similarities(&similarity, &why, &r.front[k].e, 1, &p, b->m, 1, b->a, &st),
            SNIP_OK);
        if (isnan(similarity))
            assert_true(isnan(r.front[k].similarity));
        else
            assert_true(fabs(similarity - r.front[k].similarity) < 1e-5);
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
        cmocka_unit_test(every_way_of_choosing_works),
        cmocka_unit_test(a_library_that_is_none_is_an_error),
        cmocka_unit_test(similarities_are_those_of_rank),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
