/* test_problem.c - a user's table as a task: formulas tidied, rewritten, put back. */
#include "task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/gen.h"
#include "model/file.h"
#include "regress/rank.h"

/* Tidying ------------------------------------------------------------------------------------- */

static expr tidy(expr e, arena *a)
{
    expr out;
    snip_status st = { 0 };
    if (expr_tidy(&out, e, a, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return out;
}

/* 0.3 + 2.5*x_j or the like in place of every x_j. */
static expr moved(expr e, int dim, rng *r, arena *a)
{
    expr by[DATA_DIMS_MAX];
    for (int j = 0; j < dim; j++) {
        char text[80];
        snprintf(text, sizeof text, "%.17g + %.17g*x%d", 4 * rng_uniform(r) - 2,
                 (rng_below(r, 2) ? 1 : -1) * (0.5 + rng_uniform(r)), j);
        by[j] = parsed(text, NULL, a);
    }
    expr out = expr_substitute(e, by, (size_t)dim, a);
    assert_non_null(out.node);
    return out;
}

static void tidying_keeps_the_function(void **state)
{
    (void)state;
    enum { SAMPLES = 500, POINTS = 40 };
    const data_gen gen = { .dims = 5, .points = POINTS };
    size_t compared = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        arena *a = arena_new(0);
        data_sample s;
        rng r;
        double before[POINTS], after[POINTS], shaken[POINTS], size = 0;
        double *x[DATA_DIMS_MAX];
        rng_init(&r, 9, RNG_BENCH, i);
        assert_int_equal(data_sample_draw(&s, &gen, 0, RNG_BENCH, i, a), SNIP_OK);
        expr e = moved(s.e, s.dim, &r, a), t = tidy(e, a);
        assert_true(expr_measure(t));
        assert_true(expr_same(tidy(t, a), t));
        expr_eval(e, s.x, POINTS, before, a);
        expr_eval(t, s.x, POINTS, after, a);
        for (int j = 0; j < s.dim; j++) {
            x[j] = arena_copy(a, s.x[j], POINTS * sizeof *x[j]);
            for (int k = 0; k < POINTS; k++)
                x[j][k] += 1e-14 * (1 + fabs(x[j][k]));
        }
        expr_eval(e, (const double *const *)x, POINTS, shaken, a);
        for (int k = 0; k < POINTS; k++)
            size = isfinite(before[k]) ? fmax(size, fabs(before[k])) : size;
        for (int k = 0; k < POINTS; k++) {
            if (!agree(before[k], shaken[k], 0.1 * size))
                continue; /* cos(exp(9*x0)) and the like: rounding decides */
            if (!agree(before[k], after[k], size))
                fail_msg("sample %zu: %.17g, was %.17g", i, after[k], before[k]);
            compared += (size_t)isfinite(before[k]);
        }
        arena_free(a);
    }
    assert_true(compared > SAMPLES * POINTS / 2);
}

static void tidying_gathers_constants(void **state)
{
    arena *a = *state;
    static const struct {
        const char *from, *to;
    } cases[] = {
        { "2*(3*x0 + 1)", "2.0 + 6.0*x0" },
        { "(x0 + 1) - (x1 + 3)", "-2.0 + (x0 - x1)" },
        { "-(2*x0)", "-2.0*x0" },
        { "x0/4 - 1", "-1.0 + 0.25*x0" },
        { "(2*x0)*(3*x1)", "6.0*(x0*x1)" },
        { "1 + 2*3", "7.0" },
        { "x0^2 + x0^3", "x0^2 + x0^3" }, /* exponents are shapes */
        { "x0^5", "x0^5" },
        { "x0^(-2)", "x0^(-2)" },
        { "2^x0", "2^x0" },
        { "0*log(x0)", "0.0*log(x0)" }, /* not finite where log is not */
        { "x0/0", "x0/0" },
        { "0*(0*x0)", "0.0*(0.0*x0)" },
        { "1e200*(1e200*x0)", "1e+200*(1e+200*x0)" }, /* no constant that is not finite */
        { "(x0 + 1e308) + 1e308", "1e+308 + x0 + 1e+308" },
        { "1e-200*(1e-200*x0)", "1e-200*(1e-200*x0)" },
        { "sin(2*x0 + 1) + pi", "sin(1.0 + 2.0*x0) + pi" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expr t = tidy(parsed(cases[i].from, NULL, a), a);
        assert_string_equal(expr_print(t, SNIP_INFIX, NULL, 0, a), cases[i].to);
        assert_true(expr_same(tidy(t, a), t));
    }
}

static void tidying_without_memory_fails(void **state)
{
    expr e = parsed("2*(3*x0 + 1) - sin(x1/4 + 2)*(x0 + 1)*(x1 - 2)", NULL, *state);
    snip_code code = SNIP_NOMEM;
    size_t failures = 0;
    for (size_t limit = 64; code != SNIP_OK; limit += 64, failures++) {
        arena *a = arena_new(limit);
        expr out = e;
        snip_status st = { 0 };
        code = expr_tidy(&out, e, a, &st);
        assert_true(code == SNIP_OK || (code == SNIP_NOMEM && !out.node && st.msg[0]));
        arena_free(a);
        assert_true(limit < 1 << 20);
    }
    assert_true(failures > 10);
}

/* The table as a task ------------------------------------------------------------------------- */

/* Both ways of a formula through the standardised inputs that it uses. */
static void rewriting_is_undone(void **state)
{
    arena *a = *state;
    static const struct {
        const char *text;
        regress_inputs inputs;
    } cases[] = {
        { "2.5*sin(a) + 1", 1 },          { "a*`speed [m/s]` - 3*x2/d", 15 },
        { "x2^2 + exp(a/3)", 5 },         { "log(`speed [m/s]`) + sqrt(d)", 10 },
        { "(a + x2)^3 - abs(x2)", 5 },    { "d^2", 8 },
        { "a^4 / `speed [m/s]`^1.5", 3 }, { "7.5", 15 }, /* without inputs: held against all */
    };
    regress_problem p = problem_of("a + `speed [m/s]` + x2 + d", ROWS, a);
    for (size_t i = 0; i < COUNT(cases); i++) {
        expr e = parsed(cases[i].text, &p.names, a), standard, back;
        double want[ROWS], got[ROWS], again[ROWS], size = 0;
        const double *chosen[COLUMNS];
        size_t dim = 0;
        regress_inputs inputs = regress_inputs_of(e, &p);
        assert_int_equal(inputs, cases[i].inputs);
        for (size_t k = 0; k < COLUMNS; k++)
            if (inputs >> p.order[k] & 1)
                chosen[dim++] = p.standard[p.order[k]];
        assert_int_equal(regress_problem_rewrite(&standard, e, inputs, &p, a, NULL), SNIP_OK);
        assert_true(expr_inputs(standard) <= dim);
        assert_int_equal(regress_problem_restore(&back, standard, inputs, &p, a, NULL), SNIP_OK);
        /* Means and deviations are fixed, but all numbers are there to be fitted in the end. */
        size_t *node = arena_array(a, standard.count, sizeof *node);
        if (strcmp(cases[i].text, "d^2") == 0)
            assert_int_equal(expr_constants(standard, node), 0);
        for (size_t k = 0; k < back.count; k++)
            assert_false(back.node[k].fixed);
        expr_eval(e, (const double *const *)p.x, ROWS, want, a);
        expr_eval(standard, chosen, ROWS, got, a);
        expr_eval(back, (const double *const *)p.x, ROWS, again, a);
        for (size_t k = 0; k < ROWS; k++)
            size = fmax(size, fabs(want[k]));
        for (size_t k = 0; k < ROWS; k++)
            if (!agree(want[k], got[k], size) || !agree(want[k], again[k], size))
                fail_msg("%s: %g, rewritten %g, back %g", cases[i].text, want[k], got[k], again[k]);
    }
}

static void a_constant_column_goes_to_zero(void **state)
{
    arena *a = *state;
    regress_table t = table_of("a + x2", ROWS, a);
    double *same = arena_array(a, ROWS, sizeof *same);
    const double *x[COLUMNS] = { t.x[0], same, t.x[2], t.x[3] };
    regress_problem p;
    for (int k = 0; k < 3; k++) {
        static const double value[3] = { 0.1, 0, -1e300 }; /* the sum of many 0.1 is rounded */
        for (size_t i = 0; i < ROWS; i++)
            same[i] = value[k];
        t.x = x;
        assert_int_equal(regress_problem_make(&p, &t, 1, a, NULL), SNIP_OK);
        assert_true(p.mean[1] == value[k] && p.deviation[1] == 1);
        for (size_t i = 0; i < ROWS; i++)
            assert_true(p.standard[1][i] == 0);
    }
}

static void inputs_of_any_size_are_standardised(void **state)
{
    arena *a = *state;
    static const double scales[] = { 1, 1e-300, 1e300, 3e-308, 4e307, 1e153, 1e-170 };
    for (size_t k = 0; k < COUNT(scales); k++) {
        regress_table t = table_of("a + x2", ROWS, a);
        double *v = arena_copy(a, t.x[2], ROWS * sizeof *v); /* -3 .. 4 */
        const double *x[COLUMNS] = { t.x[0], t.x[1], v, t.x[3] };
        double mean = 0, square = 0;
        regress_problem p;
        for (size_t i = 0; i < ROWS; i++)
            v[i] *= scales[k];
        t.x = x;
        assert_int_equal(regress_problem_make(&p, &t, 1, a, NULL), SNIP_OK);
        for (size_t i = 0; i < p.rows; i++)
            mean += p.standard[2][i] / (double)p.rows;
        for (size_t i = 0; i < p.rows; i++)
            square += (p.standard[2][i] - mean) * (p.standard[2][i] - mean) / (double)p.rows;
        if (!(fabs(mean) < 1e-12 && fabs(square - 1) < 1e-12))
            fail_msg("times %g: mean %g, variance %g", scales[k], mean, square);
        for (size_t i = 0; i < ROWS; i++)
            assert_true(p.standard[2][i] >= p.low[2] && p.standard[2][i] <= p.high[2]);
    }
}

/* What is standardised already stays as it is, and formulas of it, too. */
static void standardised_inputs_stay(void **state)
{
    arena *a = *state;
    regress_table t = table_of("a*x2", ROWS, a);
    regress_problem p;
    expr out;
    assert_int_equal(regress_problem_make(&p, &t, 1, a, NULL), SNIP_OK);
    const double *x[COLUMNS] = { p.standard[0], p.standard[1], p.standard[2], p.standard[3] };
    t.x = x;
    t.y = p.y;
    assert_int_equal(regress_problem_make(&p, &t, 2, a, NULL), SNIP_OK);
    for (size_t j = 0; j < COLUMNS; j++)
        assert_true(p.mean[j] == 0 && p.deviation[j] == 1);
    expr e = parsed("sin(a)*x2", &p.names, a);
    assert_int_equal(regress_problem_rewrite(&out, e, regress_inputs_of(e, &p), &p, a, NULL),
                     SNIP_OK);
    assert_int_equal(out.count, e.count);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void a_quarter_is_held_out(void **state)
{
    arena *a = *state;
    for (size_t rows = REGRESS_ROWS_MIN; rows < 30; rows++) {
        regress_table t = table_of("a + x2", rows, a);
        regress_problem p, again, other;
        double want[30], got[30];
        assert_int_equal(regress_problem_make(&p, &t, 1, a, NULL), SNIP_OK);
        assert_int_equal(regress_problem_make(&again, &t, 1, a, NULL), SNIP_OK);
        assert_int_equal(regress_problem_make(&other, &t, 2, a, NULL), SNIP_OK);
        assert_int_equal(p.rows - p.train, rows < REGRESS_HOLD_OUT_MIN ? 0 : rows / 4);
        assert_true(p.fit == p.train && isnan(p.variance[1]) == 0);
        assert_memory_equal(p.y, again.y, rows * sizeof *p.y);
        assert_memory_equal(p.x[2], again.x[2], rows * sizeof *p.y);
        assert_true(rows < 12 || memcmp(p.y, other.y, rows * sizeof *p.y) != 0);
        for (size_t i = 0; i < rows; i++)
            assert_true(p.y[i] == p.x[0][i] + p.x[2][i]); /* rows stay together */
        memcpy(want, t.y, rows * sizeof *want);
        memcpy(got, p.y, rows * sizeof *got);
        qsort(want, rows, sizeof *want, by_value);
        qsort(got, rows, sizeof *got, by_value);
        assert_memory_equal(want, got, rows * sizeof *got);
    }
}

static void a_whole_table_holds_nothing_out(void **state)
{
    arena *a = *state;
    regress_table t = table_of("a + x2", 40, a);
    regress_problem p, held;
    assert_int_equal(regress_problem_make(&held, &t, 1, a, NULL), SNIP_OK);
    assert_int_equal(regress_problem_whole(&p, &t, 1, a, NULL), SNIP_OK);
    assert_true(held.train == 30 && p.train == 40 && p.fit == 40 && p.rows == 40);
    assert_memory_equal(p.y, held.y, 40 * sizeof *p.y); /* the same order */
    double mean = 0;
    for (size_t i = 0; i < 40; i++)
        mean += p.standard[0][i] / 40;
    assert_true(fabs(mean) < 1e-12); /* standardised over all rows */
}

static void long_tables_are_fitted_on_some_rows(void **state)
{
    arena *a = *state;
    regress_problem p = problem_of("a + x2", 20000, a);
    assert_int_equal(p.train, 15000);
    assert_int_equal(p.fit, REGRESS_FIT_ROWS);
}

static void what_is_no_task_is_refused(void **state)
{
    arena *a = *state;
    static const struct {
        size_t rows;
        double factor, shift;
        const char *says;
    } cases[] = {
        { 0, 1, 0, "at least 4" },
        { 3, 1, 0, "the table has 3 rows; at least 4 are needed" },
        { ROWS, 0, 0.1, "the same in all rows: " }, /* the sum of many 0.1 is rounded */
        { ROWS, 0, 0, "the same in all rows: " },
        { ROWS, 1e300, 0, "take another unit" },
        { ROWS, 1e-300, 0, "take another unit" },
    };
    for (size_t k = 0; k < COUNT(cases); k++) {
        regress_table t = table_of("a + x2", ROWS, a);
        double *y = arena_copy(a, t.y, ROWS * sizeof *y);
        snip_status st = { 0 };
        regress_problem p;
        for (size_t i = 0; i < ROWS; i++)
            y[i] = y[i] * cases[k].factor + cases[k].shift;
        t.y = y;
        t.rows = cases[k].rows;
        assert_int_equal(regress_problem_make(&p, &t, 1, a, &st), SNIP_FORMAT);
        if (!strstr(st.msg, cases[k].says))
            fail_msg("says '%s', expected '%s'", st.msg, cases[k].says);
    }
    regress_table t = table_of("a", ROWS, a);
    regress_problem p;
    snip_status st = { 0 };
    t.dim = 0;
    assert_int_equal(regress_problem_make(&p, &t, 1, a, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "no inputs"));
    /* Only the rows held out differ. */
    t = table_of("a", ROWS, a);
    assert_int_equal(regress_problem_make(&p, &t, 1, a, &st), SNIP_OK);
    double *y = arena_copy(a, t.y, ROWS * sizeof *y);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < p.train; k++)
            if (t.y[i] == p.y[k])
                y[i] = 3.3;
    t.y = y;
    assert_int_equal(regress_problem_make(&p, &t, 1, a, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "that are not held out"));
}

/* One huge value is refused wherever it stands: whether its row is held out is chance. */
static void a_huge_target_is_refused_in_every_row(void **state)
{
    arena *a = *state;
    regress_table t = table_of("a + x2", 20, a);
    for (size_t i = 0; i < t.rows; i++) {
        double *y = arena_copy(a, t.y, t.rows * sizeof *y);
        regress_table huge = t;
        regress_problem p;
        snip_status st = { 0 };
        y[i] = i % 2 ? 1e200 : -1e151;
        huge.y = y;
        assert_int_equal(regress_problem_make(&p, &huge, i % 3, a, &st), SNIP_FORMAT);
        assert_non_null(strstr(st.msg, "too large"));
        y[i] = 1e149; /* and what is allowed has errors that are numbers */
        regress_errors e;
        assert_int_equal(regress_problem_make(&p, &huge, i % 3, a, &st), SNIP_OK);
        assert_true(regress_problem_errors(&e, parsed("x0", NULL, a), &p, a));
        assert_true(isfinite(e.loss[0]) && isfinite(e.loss[1]));
    }
}

static void a_task_without_memory_fails(void **state)
{
    regress_table t = table_of("a + x2", ROWS, *state);
    snip_code code = SNIP_NOMEM;
    size_t failures = 0;
    for (size_t limit = 64; code != SNIP_OK; limit += 256, failures++) {
        arena *a = arena_new(limit);
        regress_problem p;
        code = regress_problem_make(&p, &t, 1, a, NULL);
        assert_true(code == SNIP_OK || code == SNIP_NOMEM);
        arena_free(a);
        assert_true(limit < 1 << 20);
    }
    assert_true(failures > 10);
}

static void errors_are_mean_squares(void **state)
{
    arena *a = *state;
    regress_problem p = problem_of("a + x2", ROWS, a);
    regress_errors e;
    assert_true(regress_problem_errors(&e, parsed("a + x2 + 2", &p.names, a), &p, a));
    for (int part = 0; part < 2; part++) {
        assert_true(fabs(e.loss[part] - 4) < 1e-12);
        assert_true(fabs(e.r2[part] - (1 - 4 / p.variance[part])) < 1e-12);
    }
    assert_true(regress_problem_errors(&e, parsed("log(-a)", &p.names, a), &p, a));
    assert_true(isnan(e.loss[0]) && isnan(e.loss[1]) && isnan(e.r2[0]) && isnan(e.r2[1]));
    assert_true(regress_judged(&e, &p) == INFINITY);
    p = problem_of("a + x2", 8, a); /* nothing held out */
    assert_true(regress_problem_errors(&e, parsed("a + x2 + 2", &p.names, a), &p, a));
    assert_true(fabs(e.loss[0] - 4) < 1e-12 && isnan(e.loss[1]) && isnan(e.r2[1]));
    assert_true(regress_judged(&e, &p) == e.loss[0]);
}

/* A row of weight 2 counts as two rows, one of weight 0 as none. */
static void weights_count_rows(void **state)
{
    arena *a = *state;
    regress_table t = table_of("a + x2", ROWS, a);
    double *weight = arena_array(a, t.rows, sizeof *weight);
    double *y = arena_array(a, t.rows, sizeof *y);
    assert_true(weight && y);
    for (size_t i = 0; i < t.rows; i++) {
        y[i] = t.y[i] + (i % 3 == 1 ? 1 : i % 3 == 2 ? 1e6 : 0);
        weight[i] = i % 3 == 0 ? 3 : i % 3 == 1 ? 6 : 0;
    }
    t.y = y;
    regress_problem p;
    regress_errors e;
    assert_int_equal(regress_problem_weighted(&p, &t, weight, 1, a, NULL), SNIP_OK);
    assert_int_equal(p.rows, t.rows - t.rows / 3);
    assert_true(fabs(regress_weight(&p, 0, p.rows) - (double)p.rows) < 1e-9);
    assert_true(regress_problem_errors(&e, parsed("a + x2", &p.names, a), &p, a));
    for (int part = 0; part < 2; part++) {
        size_t from = part ? p.train : 0, to = part ? p.rows : p.train;
        double moved = 0, mean = 0, variance = 0, all = 0;
        for (size_t i = from; i < to; i++) { /* the rows that are off by 1 count twice */
            int times = p.weight[i] > 1 ? 2 : 1;
            all += times;
            mean += times * p.y[i];
            moved += times == 2 ? times : 0;
        }
        for (size_t i = from; i < to; i++) {
            double d = p.y[i] - mean / all;
            variance += (p.weight[i] > 1 ? 2 : 1) * d * d;
        }
        assert_true(fabs(e.loss[part] - moved / all) < 1e-9);
        assert_true(fabs(p.variance[part] - variance / all) < 1e-9);
    }
    snip_status st;
    weight[4] = -1;
    assert_int_equal(regress_problem_weighted(&p, &t, weight, 1, a, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "the weight of row 5 is -1"));
    memset(weight, 0, t.rows * sizeof *weight);
    weight[0] = 1;
    assert_int_equal(regress_problem_weighted(&p, &t, weight, 1, a, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "1 row of a weight above 0"));
}

/* The model ----------------------------------------------------------------------------------- */

/* Writes an untrained model and returns its hash once it is opened again. */
static void hash_of(char *out, uint64_t seed, const char *stage, arena *a)
{
    char path[] = "/tmp/snip_tools_XXXXXX";
    int f = mkstemp(path);
    model_opened *t;
    snip_status st = { 0 };
    json_t *history = json_pack("{s:s}", "stage", stage);
    assert_true(f >= 0);
    assert_int_equal(model_save(untrained_model(seed, a), path, history, &st), SNIP_OK);
    if (model_open(&t, path, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    assert_int_equal(t->tree, strcmp(stage, "S0") != 0);
    strcpy(out, t->hash);
    model_close(t);
    json_decref(history);
    unlink(path);
    close(f);
}

static void models_are_told_apart(void **state)
{
    char first[MODEL_HASH], again[MODEL_HASH], other[MODEL_HASH], flat[MODEL_HASH];
    hash_of(first, 4, "S5", *state);
    hash_of(again, 4, "S5", *state);
    hash_of(other, 5, "S5", *state);
    hash_of(flat, 4, "S0", *state);
    assert_int_equal(strlen(first), MODEL_HASH - 1);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
    assert_string_not_equal(first, flat);
    model_opened *t;
    snip_status st = { 0 };
    assert_int_equal(model_open(&t, "/no/such/file", &st), SNIP_IO);
    assert_null(t);
    assert_non_null(strstr(st.msg, "/no/such/file"));
}

static void tables_are_unit_vectors(void **state)
{
    arena *a = *state;
    model_opened *t = small_model(a);
    size_t latent = (size_t)t->m->config.latent;
    float *z = arena_array(a, 3 * latent, sizeof *z);
    for (size_t rows = 4; rows <= 1004; rows += 500) { /* fewer rows than the model takes, more */
        regress_problem p = problem_of("a*x2", rows, a);
        for (size_t k = 0; k < 3; k++) {
            model_space *s = model_space_new(t->m, t->tree, (int)k + 1);
            assert_int_equal(
                regress_problem_embed(&p, k == 2 ? 5 : 15, REGRESS_EXACT, s, z + k * latent, NULL),
                SNIP_OK);
            model_space_free(s);
        }
        assert_true(fabs(model_dot(z, z, latent) - 1) < 1e-6);
        assert_memory_equal(z, z + latent, latent * sizeof *z); /* 1 thread, 2 threads */
        assert_true(memcmp(z, z + 2 * latent, latent * sizeof *z) != 0);
    }
    regress_problem p = problem_of("a*x2", ROWS, a);
    snip_status st = { 0 };
    model_space *s = model_space_new(t->m, t->tree, 1);
    p.dim = 11;
    assert_int_equal(regress_problem_embed(&p, 2047, REGRESS_EXACT, s, z, &st), SNIP_UNSUPPORTED);
    model_space_free(s);
    assert_non_null(strstr(st.msg, "choose among them"));
}

/* What the model is shown does not depend on which rows are held out, nor on the order of equally
 * near neighbours. */
static void the_seed_does_not_move_vectors(void **state)
{
    arena *a = *state;
    model_opened *t = small_model(a);
    size_t latent = (size_t)t->m->config.latent;
    float *z = arena_array(a, 2 * latent, sizeof *z);
    regress_table table = table_of("a*x2 + d", 60, a);
    double *grid = arena_copy(a, table.x[2], 60 * sizeof *grid);
    const double *x[COLUMNS] = { table.x[0], table.x[1], grid, table.x[3] };
    for (int i = 0; i < 60; i++)
        grid[i] = floor(grid[i]);
    table.x = x;
    regress_inputs matter[2];
    for (uint64_t seed = 0; seed < 2; seed++) {
        regress_problem p;
        model_space *s = model_space_new(t->m, t->tree, 1);
        assert_int_equal(regress_problem_make(&p, &table, seed, a, NULL), SNIP_OK);
        matter[seed] = regress_inputs_that_matter(&p);
        assert_int_equal(regress_problem_embed(&p, 13, REGRESS_EXACT, s, z + seed * latent, NULL),
                         SNIP_OK);
        model_space_free(s);
        assert_true(regress_inputs_left_open(&p, 4) > 0);
    }
    assert_int_equal(matter[0], matter[1]);
    assert_true(model_dot(z, z + latent, latent) > 1 - 1e-5);
}

/* Log-uniform columns of a few decades pass, those of many are told of. */
static void uneven_columns_are_told(void **state)
{
    arena *a = *state;
    regress_table t = table_of("a*x2", ROWS, a);
    double *wide = arena_array(a, ROWS, sizeof *wide), *few = arena_array(a, ROWS, sizeof *few);
    const double *x[COLUMNS] = { wide, t.x[1], few, t.x[3] };
    for (size_t i = 0; i < ROWS; i++) {
        wide[i] = -pow(10, 6 * (double)i / ROWS);
        few[i] = pow(10, 2 * (double)i / ROWS);
    }
    t.x = x;
    regress_problem p;
    assert_int_equal(regress_problem_make(&p, &t, 1, a, NULL), SNIP_OK);
    assert_non_null(strstr(regress_problem_uneven(&p, 0, a), p.names.name[0]));
    assert_null(regress_problem_uneven(&p, 1, a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(tidying_keeps_the_function),
        ARENA_TEST(tidying_gathers_constants),
        ARENA_TEST(tidying_without_memory_fails),
        ARENA_TEST(rewriting_is_undone),
        ARENA_TEST(a_constant_column_goes_to_zero),
        ARENA_TEST(inputs_of_any_size_are_standardised),
        ARENA_TEST(standardised_inputs_stay),
        ARENA_TEST(a_quarter_is_held_out),
        ARENA_TEST(a_whole_table_holds_nothing_out),
        ARENA_TEST(long_tables_are_fitted_on_some_rows),
        ARENA_TEST(what_is_no_task_is_refused),
        ARENA_TEST(a_task_without_memory_fails),
        ARENA_TEST(a_huge_target_is_refused_in_every_row),
        ARENA_TEST(errors_are_mean_squares),
        ARENA_TEST(weights_count_rows),
        ARENA_TEST(models_are_told_apart),
        ARENA_TEST(tables_are_unit_vectors),
        ARENA_TEST(the_seed_does_not_move_vectors),
        ARENA_TEST(uneven_columns_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
