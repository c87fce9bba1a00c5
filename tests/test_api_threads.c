/* test_api_threads.c - one model, two threads at once. Every call is told to use one core, so that
 * no team of OpenMP's is made and a thread sanitizer sees all there is to see: `make test-tsan`.
 * Runs below with_model.sh. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "snip.h"

enum { ROWS = 30, FORMULAS = 20, ROUNDS = 3 };

static double x0[ROWS], x1[ROWS], y[ROWS];
static const double *const columns[] = { x0, x1 };
static const snip_table table = { .inputs = 2, .rows = ROWS, .x = columns, .y = y };
static snip_model *model;
static snip_expr *formula[FORMULAS];

/* What one thread makes of all it is given. */
typedef struct result {
    float *z;                         /* formulas, the parts of the first, the table */
    double judged[ROUNDS * FORMULAS]; /* similarities and losses of a ranking */
    double similarity, gain;          /* of an explanation */
    char text[200];                   /* its first edit */
    snip_code code;
} result;

static void *work(void *argument)
{
    result *r = argument;
    size_t width = snip_model_width(model);
    const snip_expr *const *e = (const snip_expr *const *)formula;
    const snip_rank_options one = { .threads = 1, .starts = 1 };
    for (int round = 0; round < ROUNDS && r->code == SNIP_OK; round++) {
        snip_ranking *ranking = NULL;
        snip_explanation *x = NULL;
        r->code = snip_embed_formulas(model, e, FORMULAS, 1, r->z, NULL);
        if (r->code == SNIP_OK)
            r->code = snip_embed_parts(model, e[0], 1, r->z + FORMULAS * width, NULL);
        if (r->code == SNIP_OK)
            r->code = snip_embed_table(model, &table, 1,
                                       r->z + (FORMULAS + snip_expr_nodes(e[0])) * width, NULL);
        if (r->code == SNIP_OK)
            r->code = snip_rank(&ranking, model, &table, e, FORMULAS, &one, NULL);
        for (size_t i = 0; i < FORMULAS && ranking; i++) {
            const snip_ranked *at = snip_ranking_at(ranking, i);
            r->judged[3 * i] = at->similarity;
            r->judged[3 * i + 1] = at->loss_val;
            r->judged[3 * i + 2] = (double)at->place;
        }
        if (r->code == SNIP_OK)
            r->code = snip_explain(&x, model, &table, e[1], 2, &one, NULL);
        if (x && snip_explanation_count(x)) {
            r->similarity = snip_explanation_similarity(x);
            r->gain = snip_explanation_at(x, 0)->gain;
            snprintf(r->text, sizeof r->text, "%s", snip_explanation_at(x, 0)->text);
        }
        snip_explanation_free(x);
        snip_ranking_free(ranking);
    }
    return NULL;
}

static void two_threads_share_a_model(void **state)
{
    (void)state;
    result r[3] = { 0 };
    size_t rows = FORMULAS + snip_expr_nodes(formula[0]) + 1, width = snip_model_width(model);
    for (int i = 0; i < 3; i++)
        assert_non_null(r[i].z = calloc(rows * width, sizeof(float)));
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, &r[i]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    work(&r[2]); /* the same alone */
    assert_int_equal(r[2].code, SNIP_OK);
    assert_true(r[2].text[0] != 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(r[i].code, SNIP_OK);
        assert_memory_equal(r[i].z, r[2].z, rows * width * sizeof(float));
        assert_memory_equal(r[i].judged, r[2].judged, sizeof r[i].judged);
        assert_memory_equal(&r[i].similarity, &r[2].similarity, sizeof(double));
        assert_memory_equal(&r[i].gain, &r[2].gain, sizeof(double));
        assert_string_equal(r[i].text, r[2].text);
    }
    for (int i = 0; i < 3; i++)
        free(r[i].z);
}

static int start(void **state)
{
    (void)state;
    char path[512], text[64];
    snprintf(path, sizeof path, "%s/model.safetensors",
             getenv("SNIP_TEST_FOLDER") ? getenv("SNIP_TEST_FOLDER") : ".");
    for (int i = 0; i < ROWS; i++) {
        x0[i] = 0.1 + 0.3 * i;
        x1[i] = (i * 7 % 11) - 4.3;
        y[i] = 2 * sqrt(x0[i]) + x1[i];
    }
    int bad = snip_model_open(&model, path, NULL) != SNIP_OK;
    for (int i = 0; i < FORMULAS; i++) {
        snprintf(text, sizeof text, "%d.5*x0 + sin(x1 + %d)", i, i % 4);
        bad |= snip_expr_parse(&formula[i], text, NULL, 0, NULL) != SNIP_OK;
    }
    return bad ? -1 : 0;
}

static int finish(void **state)
{
    (void)state;
    for (int i = 0; i < FORMULAS; i++)
        snip_expr_free(formula[i]);
    snip_model_close(model);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(two_threads_share_a_model) };
    return cmocka_run_group_tests(tests, start, finish);
}
