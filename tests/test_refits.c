/* test_refits.c - lists of refitted forms, and the loss that puts forms in their order. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "regress/line.h"
#include "train/objective.h"
#include "train/refits.h"

enum { LAWS = 60 };

static data_law draw(data_sample *s, uint64_t index, arena *a)
{
    const data_gen gen = { .dims = DATA_LAW_DIMS, .points = DATA_POINTS };
    data_law law;
    assert_int_equal(data_law_draw(s, &law, &gen, 5, RNG_BENCH, index, a), SNIP_OK);
    return law;
}

static size_t draw_list(train_refit *out, const data_law *law, const data_sample *s, uint64_t index,
                        arena *a)
{
    const train_refits_of of = {
        .law = law, .s = s, .all_free = index % 2 == 1, .seed = 5, .index = index
    };
    rng r;
    size_t n;
    rng_init(&r, 6, RNG_BENCH, index);
    assert_int_equal(train_refits_draw(out, &n, &of, &r, a), SNIP_OK);
    return n;
}

/* The law itself fits its table; most of the others reach what a thorough fit of all rows does, and
 * their digits are of all sizes. */
static void digits_are_those_of_a_fit(void **state)
{
    arena *a = *state;
    size_t lists = 0, forms = 0, own = 0, near = 0, poor = 0, good = 0;
    for (uint64_t i = 0; i < LAWS; i++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        data_law law = draw(&s, i, a);
        train_refit list[TRAIN_REFITS];
        size_t n = draw_list(list, &law, &s, i, a);
        lists += n > 0;
        own += n > 0 && list[0].digits >= 4 * TRAIN_REFITS_UNIT;
        for (size_t k = 0; k < n; k++) {
            double digits = (double)list[k].digits / TRAIN_REFITS_UNIT;
            const double *const *x = (const double *const *)s.x;
            expr fitted;
            assert_int_equal(regress_fit_line(&fitted, list[k].core, x, s.y, s.points,
                                              &(regress_fit_how){ .starts = 8, .seed = 1 }, a, a),
                             SNIP_OK);
            double thorough = regress_digits(fitted, x, s.y, s.points, a);
            assert_true(list[k].digits >= TRAIN_REFITS_LEAST &&
                        list[k].digits <= TRAIN_REFITS_MOST);
            forms++;
            near += fabs(fmin(thorough, 6) - digits) < 0.5;
            poor += digits < 1;
            good += digits > 2;
        }
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < k; j++)
                assert_false(expr_same(list[k].core, list[j].core));
        arena_reset(a, mark);
    }
    print_message(
        "%zu lists with %zu forms; the law fits in %zu; as a thorough fit: %zu; poor %zu, "
        "good %zu\n",
        lists, forms, own, near, poor, good);
    assert_true(lists > LAWS * 9 / 10 && forms > 9 * lists && own > lists * 9 / 10);
    assert_true(near > forms * 7 / 10 && poor > forms / 10 && good > forms / 10);
}

static void a_list_is_a_function_of_its_index(void **state)
{
    arena *a = *state;
    for (uint64_t i = 0; i < 6; i++) {
        train_refit list[2][TRAIN_REFITS];
        size_t n[2];
        for (int k = 0; k < 2; k++) {
            data_sample s;
            data_law law = draw(&s, i, a);
            n[k] = draw_list(list[k], &law, &s, i, a);
        }
        assert_true(n[0] > 0 && n[0] == n[1]);
        for (size_t k = 0; k < n[0]; k++)
            assert_true(expr_same(list[0][k].core, list[1][k].core) &&
                        list[0][k].digits == list[1][k].digits);
    }
}

/* Two lists of three forms in two dimensions, each with a table and the same upside down. In the
 * first the digits fall with the similarity, in the second they rise if `wrong`. If `mute`, there
 * are no words for the first one's forms. */
static train_terms ordered(int wrong, int mute, float *drow)
{
    enum { FORMS = 3, EACH = FORMS + 2, N = 2 * EACH, LATENT = 2 };
    static const double angle[FORMS] = { 0.2, 0.7, 1.2 };
    train_variant v[N];
    float row[TRAIN_VIEWS][N * LATENT] = { { 0 } }, grad[TRAIN_VIEWS][N * LATENT] = { { 0 } };
    float *rows[TRAIN_VIEWS], *grads[TRAIN_VIEWS];
    for (size_t i = 0; i < N; i++) {
        int list = i >= EACH, k = (int)(i % EACH), table = k >= FORMS;
        int view = table ? TRAIN_REFIT_V : TRAIN_REFIT_S;
        int place = list && wrong ? k : FORMS - 1 - k;
        v[i] = (train_variant){ .item = list, .k = 1, .views = 1 << view, .form = 1 };
        v[i].views = mute && !list && !table ? 0 : v[i].views;
        v[i].digits = table ? 0 : 1000 * place;
        double at = table ? 0 : angle[k], sign = k == FORMS + list ? 1 : -1;
        row[view][i * LATENT] = (float)((table ? sign : 1) * cos(at));
        row[view][i * LATENT + 1] = (float)sin(at);
    }
    for (int view = 0; view < TRAIN_VIEWS; view++) {
        rows[view] = row[view];
        grads[view] = grad[view];
    }
    const train_rows all = { v, N, 0, N, LATENT, rows, grads };
    const train_how how = {
        .stage = TRAIN_S5, .cosine = 1, .scale_global = 1, .scale_local = 1, .refits = 1
    };
    train_terms terms;
    arena *a = arena_new(0);
    assert_true(train_objective(&terms, &all, &how, a));
    memcpy(drow, grad[TRAIN_REFIT_S], sizeof grad[TRAIN_REFIT_S]);
    arena_free(a);
    return terms;
}

static void the_loss_asks_for_the_order_of_the_digits(void **state)
{
    (void)state;
    float right_grad[20], wrong_grad[20];
    double right = ordered(0, 0, right_grad).refits, wrong = ordered(1, 0, wrong_grad).refits;
    /* By hand: cosines .980, .765, .362 with sharpness 20. */
    double pair[3] = { cos(0.2) - cos(0.7), cos(0.2) - cos(1.2), cos(0.7) - cos(1.2) },
           sum[2] = { 0 };
    for (int k = 0; k < 3; k++) {
        sum[0] += log1p(exp(-20 * pair[k])) / 3;
        sum[1] += log1p(exp(20 * pair[k])) / 3;
    }
    assert_true(fabs(right - sum[0]) < 1e-5);
    assert_true(fabs(wrong - (sum[0] + sum[1]) / 2) < 1e-4);
    /* The second list's first form has the least digits there: it is to turn away from the table,
     * whichever side of it the table shows. */
    assert_true(wrong_grad[2 * 5 + 1] < -0.1f && fabsf(right_grad[2 * 5 + 1]) < 0.1f);
    /* A list without forms leaves the next one as it is. */
    assert_true(fabs(ordered(1, 1, wrong_grad).refits - sum[1]) < 1e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(digits_are_those_of_a_fit),
        ARENA_TEST(a_list_is_a_function_of_its_index),
        cmocka_unit_test(the_loss_asks_for_the_order_of_the_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
