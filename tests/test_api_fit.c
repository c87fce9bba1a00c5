/* test_api_fit.c - the search for formulas as a user's program has it: snip.h alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "snip.h"

enum { ROWS = 200, TEXT = 400 };
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* y = 3 u sqrt(v); a third column does not matter. z is noisy and no product. */
static double u[ROWS], v[ROWS], w[ROWS], y[ROWS], z[ROWS];
static const double *const columns[] = { u, v, w };
static const char *const names[] = { "u", "v", "w" };
static const snip_table clean = { .inputs = 3, .rows = ROWS, .names = names, .x = columns, .y = y };
static const snip_table noisy = { .inputs = 3, .rows = ROWS, .names = names, .x = columns, .y = z };

static int start(void **state)
{
    (void)state;
    uint32_t r = 1;
    for (int i = 0; i < ROWS; i++) {
        double *const to[] = { &u[i], &v[i], &w[i], &z[i] };
        for (size_t k = 0; k < COUNT(to); k++) {
            r = r * 1664525u + 1013904223u;
            *to[k] = 1 + 3.0 * (r >> 8) / (1 << 24);
        }
        y[i] = 3 * u[i] * sqrt(v[i]);
        z[i] = 0.1 * z[i] + sin(2 * u[i]) / (v[i] + exp(-w[i]));
    }
    return 0;
}

static const char *text_of(const snip_fitted *f, char text[TEXT])
{
    assert_true(snip_expr_print(f->formula, SNIP_INFIX, text, TEXT) < TEXT);
    return text;
}

static void a_law_is_found(void **state)
{
    (void)state;
    snip_front *f;
    snip_status st;
    char text[TEXT];
    const snip_fit_options how = { .seconds = 20, .threads = 1 };
    assert_int_equal(snip_fit(&f, &clean, &how, &st), SNIP_OK);
    const snip_fitted *best = snip_front_at(f, snip_front_selected(f));
    assert_string_equal(text_of(best, text), "3*u*sqrt(v)");
    assert_true(best->r2_val > 1 - 1e-12 && best->r2_train > 1 - 1e-12);
    assert_int_equal(best->size, snip_expr_nodes(best->formula));
    assert_int_equal(best->constants, 0); /* 3 is clean */
    assert_true(isnan(best->similarity));
    assert_true(strlen(best->stage) > 0);
    assert_null(snip_front_at(f, snip_front_count(f)));
    for (size_t i = 1; i < snip_front_count(f); i++)
        assert_true(snip_front_at(f, i)->size > snip_front_at(f, i - 1)->size);
    const snip_front_about *about = snip_front_of(f);
    assert_int_equal(about->rows_train + about->rows_val, ROWS);
    assert_true(about->seconds > 0 && about->seconds < 20 && about->evaluations > 0);
    assert_false(about->cancelled);
    snip_front_free(f);
}

/* Losses are those of the formula as it prints, and free constants have errors. */
static void errors_can_be_recomputed(void **state)
{
    (void)state;
    snip_front *f;
    const snip_fit_options how = { .evaluations = 3000, .threads = 1 };
    assert_int_equal(snip_fit(&f, &noisy, &how, NULL), SNIP_OK);
    const snip_front_about *about = snip_front_of(f);
    size_t constants = 0;
    for (size_t i = 0; i < snip_front_count(f); i++) {
        const snip_fitted *one = snip_front_at(f, i);
        double p[ROWS], sum = 0;
        char text[TEXT];
        snip_expr *e;
        assert_int_equal(snip_expr_parse(&e, text_of(one, text), names, 3, NULL), SNIP_OK);
        assert_int_equal(snip_expr_eval(e, columns, 3, ROWS, p, NULL, NULL), SNIP_OK);
        snip_expr_free(e);
        for (int k = 0; k < ROWS; k++)
            sum += (p[k] - z[k]) * (p[k] - z[k]);
        double told =
            one->loss_train * (double)about->rows_train + one->loss_val * (double)about->rows_val;
        assert_true(fabs(told - sum) <= 1e-9 * sum);
        for (size_t k = 0; k < one->constants; k++) {
            assert_true(isfinite(one->constant[k]) && !(one->error[k] < 0));
            constants += one->error[k] > 0;
        }
    }
    assert_true(constants > 0);
    snip_front_free(f);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    snip_front *f[2];
    char text[2][TEXT];
    for (int k = 0; k < 2; k++) {
        const snip_fit_options how = { .evaluations = 20000, .threads = 1 + k, .per_size = 2 };
        assert_int_equal(snip_fit(&f[k], &noisy, &how, NULL), SNIP_OK);
    }
    assert_int_equal(snip_front_count(f[0]), snip_front_count(f[1]));
    assert_int_equal(snip_front_selected(f[0]), snip_front_selected(f[1]));
    assert_int_equal(snip_front_of(f[0])->evaluations, snip_front_of(f[1])->evaluations);
    for (size_t i = 0; i < snip_front_count(f[0]); i++) {
        const snip_fitted *a = snip_front_at(f[0], i), *b = snip_front_at(f[1], i);
        assert_string_equal(text_of(a, text[0]), text_of(b, text[1]));
        assert_memory_equal(&a->loss_val, &b->loss_val, sizeof a->loss_val);
        assert_memory_equal(&a->bits, &b->bits, sizeof a->bits);
    }
    snip_front_free(f[0]);
    snip_front_free(f[1]);
}

static int stop_at_once(void *context, const snip_fit_progress *now)
{
    int *calls = context;
    assert_true(now->spent >= 0 && now->spent <= 1 && now->seconds >= 0 && *now->stage);
    assert_true(now->size > 0 && *now->formula);
    ++*calls;
    return 1;
}

static void progress_can_end_it(void **state)
{
    (void)state;
    int calls = 0;
    snip_front *f;
    const snip_fit_options how = {
        .seconds = 1000, .threads = 1, .progress = stop_at_once, .context = &calls
    };
    assert_int_equal(snip_fit(&f, &noisy, &how, NULL), SNIP_OK);
    assert_true(calls >= 1 && calls <= 3);
    assert_true(snip_front_of(f)->cancelled && snip_front_of(f)->seconds < 60);
    assert_true(snip_front_count(f) >= 1);
    snip_front_free(f);
}

/* Guesses are read in the table's inputs and used; operators hold. */
static void options_are_heard(void **state)
{
    (void)state;
    snip_front *f;
    char text[TEXT];
    const snip_fit_options how = { .evaluations = 2000, .operators = "+,*", .max_size = 7 };
    assert_int_equal(snip_fit(&f, &noisy, &how, NULL), SNIP_OK);
    for (size_t i = 0; i < snip_front_count(f); i++) {
        text_of(snip_front_at(f, i), text);
        assert_null(strpbrk(text, "/("));
        assert_true(snip_front_at(f, i)->size <= 7);
    }
    snip_front_free(f);
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    static const char *const twice[] = { "u", "v", "u" }, *const missing[] = { "u", NULL, "w" };
    static const double *const hole[] = { u, NULL, w };
    double holed[ROWS];
    memcpy(holed, y, sizeof holed);
    holed[17] = INFINITY;
    snip_table t[9];
    for (size_t k = 0; k < COUNT(t); k++)
        t[k] = clean;
    t[0].names = twice;
    t[1].names = missing;
    t[2].x = hole;
    t[3].x = NULL;
    t[4].y = NULL;
    t[5].y = holed;
    t[6].rows = 2;
    t[7].inputs = 0;
    t[8].rows = 0;
    static const char *const says[] = { "both 'u'",   "NULL",      "column 1",
                                        "no columns", "no target", "row 17",
                                        "2 rows",     "no inputs", "0 rows" };
    snip_front *f = NULL;
    snip_status st;
    for (size_t k = 0; k < COUNT(t); k++) {
        assert_int_equal(snip_fit(&f, &t[k], NULL, &st), SNIP_FORMAT);
        assert_null(f);
        assert_int_equal(st.code, SNIP_FORMAT);
        if (!strstr(st.msg, says[k]))
            fail_msg("case %zu says: %s", k, st.msg);
    }
    assert_int_equal(snip_fit(&f, NULL, NULL, NULL), SNIP_FORMAT);
    assert_int_equal(snip_fit(&f, NULL, NULL, &st), SNIP_FORMAT);
    assert_string_equal(st.msg, "the table is NULL");
    assert_int_equal(snip_fit(NULL, &clean, NULL, &st), SNIP_FORMAT);
    assert_string_equal(st.msg, "out is NULL");

    snip_expr *wide;
    assert_int_equal(snip_expr_parse(&wide, "x0 + x7", NULL, 0, NULL), SNIP_OK);
    const snip_expr *const guess[] = { wide }, *const none[] = { NULL };
    const snip_fit_options how[] = { { .operators = "+,foo" },
                                     { .operators = "" },
                                     { .seconds = NAN },
                                     { .seconds = -1 },
                                     { .guesses = guess, .guess_count = 1 },
                                     { .guesses = none, .guess_count = 1 },
                                     { .guess_count = 1 } };
    for (size_t k = 0; k < COUNT(how); k++) {
        assert_int_equal(snip_fit(&f, &clean, &how[k], &st), SNIP_FORMAT);
        assert_null(f);
        assert_true(st.msg[0]);
    }
    assert_int_equal(snip_fit(&f, &clean, &how[0], &st), SNIP_FORMAT);
    assert_int_equal(st.pos, 2); /* the byte of foo */
    snip_expr_free(wide);
    snip_front_free(NULL);
    assert_int_equal(snip_front_count(NULL), 0);
    assert_int_equal(snip_front_selected(NULL), 0);
    assert_null(snip_front_at(NULL, 0));
    assert_null(snip_front_of(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_law_is_found),        cmocka_unit_test(errors_can_be_recomputed),
        cmocka_unit_test(threads_do_not_matter), cmocka_unit_test(progress_can_end_it),
        cmocka_unit_test(options_are_heard),     cmocka_unit_test(wrong_calls_are_refused),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
