/* api_task.h - a table and a model for tests that are users' programs: snip.h alone. They run below
 * with_model.sh. */
#ifndef API_TASK_H
#define API_TASK_H

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

enum { ROWS = 40, PATH = 512 };
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* y = 3 sqrt(u) - 0.5 v, slightly off; a third column does not matter. */
static double u[ROWS], v[ROWS], w[ROWS], y[ROWS];
static const double *const columns[] = { u, v, w };
static const char *const names[] = { "u", "v", "w" };
static const snip_table table = { .inputs = 3, .rows = ROWS, .names = names, .x = columns, .y = y };

static snip_model *model;

static inline const char *in_folder(char path[PATH], const char *name)
{
    snprintf(path, PATH, "%s/%s", getenv("SNIP_TEST_FOLDER"), name);
    return path;
}

static inline int start(void **state)
{
    (void)state;
    char path[PATH];
    if (!getenv("SNIP_TEST_FOLDER") || !getenv("SNIP_PROGRAM")) {
        fprintf(stderr, "run this below tests/with_model.sh\n");
        return -1;
    }
    FILE *f = fopen(in_folder(path, "table.csv"), "w");
    if (!f)
        return -1;
    fprintf(f, "u,v,w,y\n");
    for (int i = 0; i < ROWS; i++) {
        u[i] = 0.1 + 0.2 * i;
        v[i] = (i * 7 % 11) - 4.3;
        w[i] = (i * 5 % 13) / 3.0;
        y[i] = 3 * sqrt(u[i]) - 0.5 * v[i] + 0.01 * (i % 3);
        fprintf(f, "%.17g,%.17g,%.17g,%.17g\n", u[i], v[i], w[i], y[i]);
    }
    if (fclose(f) != 0)
        return -1;
    return snip_model_open(&model, in_folder(path, "model.safetensors"), NULL);
}

static inline int finish(void **state)
{
    (void)state;
    snip_model_close(model);
    return 0;
}

static inline snip_expr *parsed(const char *text)
{
    snip_expr *e;
    snip_status st;
    int named = !strchr(text, 'x') || strstr(text, "exp"); /* names allow no others: x5 */
    if (snip_expr_parse(&e, text, named ? names : NULL, 3, &st) != SNIP_OK)
        fail_msg("%s: %s", text, st.msg);
    return e;
}

static inline void free_all(snip_expr *const *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        snip_expr_free(e[i]);
}

/* What failed must say that this is NULL. */
static inline void says_null(snip_code code, const snip_status *st, const char *what)
{
    char says[80];
    snprintf(says, sizeof says, "%s is NULL", what);
    assert_int_equal(code, SNIP_FORMAT);
    assert_int_equal(st->code, SNIP_FORMAT);
    assert_string_equal(st->msg, says);
}

static inline float *rows_of(size_t n)
{
    float *z = calloc(n + 1, snip_model_width(model) * sizeof *z);
    assert_non_null(z);
    return z;
}

#endif
