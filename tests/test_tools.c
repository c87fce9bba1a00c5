/* test_tools.c - a user's table as a task: formulas tidied, rewritten, ranked and explained. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/gen.h"
#include "model/file.h"
#include "tools/explain.h"
#include "tools/fit.h"

enum { ROWS = 60, COLUMNS = 4 };

static const char *const names[COLUMNS] = { "a", "speed [m/s]", "x2", "d" };

static expr parse(const char *text, const expr_names *known, arena *a)
{
    expr e;
    snip_status st = { 0 };
    if (expr_parse(&e, text, known, a, &st) != SNIP_OK)
        fail_msg("%s: %s", text, st.msg);
    return e;
}

static int same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Whether two values agree to 1e-9 of the size given, or are both not finite. */
static int agree(double a, double b, double size)
{
    return isfinite(a) && isfinite(b) ? fabs(a - b) <= 1e-9 * size : isfinite(a) == isfinite(b);
}

/* Inputs of different size and place, none of mean 0 or deviation 1; the values of `truth`. */
static tools_table table_of(const char *truth, size_t rows, arena *a)
{
    static const double low[COLUMNS] = { 1, 20, -3, 0.001 }, high[COLUMNS] = { 5, 90, 4, 0.009 };
    const double **x = arena_array(a, COLUMNS, sizeof *x);
    double *y = arena_array(a, rows, sizeof *y);
    rng r;
    rng_init(&r, 5, RNG_BENCH, 0);
    for (int j = 0; j < COLUMNS; j++) {
        double *v = arena_array(a, rows, sizeof *v);
        rng_fill_uniform(&r, v, rows);
        for (size_t i = 0; i < rows; i++)
            v[i] = low[j] + (high[j] - low[j]) * v[i];
        x[j] = v;
    }
    const expr_names known = { names, COLUMNS };
    assert_int_equal(expr_eval(parse(truth, &known, a), x, rows, y, a), rows);
    return (tools_table){ COLUMNS, rows, names, x, y };
}

static tools_problem problem_of(const char *truth, size_t rows, arena *a)
{
    tools_table t = table_of(truth, rows, a);
    tools_problem p;
    snip_status st = { 0 };
    if (tools_problem_make(&p, &t, 1, a, &st) != SNIP_OK)
        fail_msg("%s: %s", truth, st.msg);
    return p;
}

/* A small model as the tools use it; it lives in `a`, so it is not closed. */
static tools_model *small_model(arena *a)
{
    tools_model *t = arena_zero(a, sizeof *t);
    t->m = untrained_model(4, a);
    t->tree = 1;
    return t;
}

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
        by[j] = parse(text, NULL, a);
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
        expr t = tidy(parse(cases[i].from, NULL, a), a);
        assert_string_equal(expr_print(t, SNIP_INFIX, NULL, 0, a), cases[i].to);
        assert_true(expr_same(tidy(t, a), t));
    }
}

static void tidying_without_memory_fails(void **state)
{
    expr e = parse("2*(3*x0 + 1) - sin(x1/4 + 2)*(x0 + 1)*(x1 - 2)", NULL, *state);
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
        tools_inputs inputs;
    } cases[] = {
        { "2.5*sin(a) + 1", 1 },          { "a*`speed [m/s]` - 3*x2/d", 15 },
        { "x2^2 + exp(a/3)", 5 },         { "log(`speed [m/s]`) + sqrt(d)", 10 },
        { "(a + x2)^3 - abs(x2)", 5 },    { "d^2", 8 },
        { "a^4 / `speed [m/s]`^1.5", 3 }, { "7.5", 15 }, /* without inputs: held against all */
    };
    tools_problem p = problem_of("a + `speed [m/s]` + x2 + d", ROWS, a);
    for (size_t i = 0; i < COUNT(cases); i++) {
        expr e = parse(cases[i].text, &p.names, a), standard, back;
        double want[ROWS], got[ROWS], again[ROWS], size = 0;
        const double *chosen[COLUMNS];
        size_t dim = 0;
        tools_inputs inputs = tools_inputs_of(e, &p);
        assert_int_equal(inputs, cases[i].inputs);
        for (size_t j = 0; j < COLUMNS; j++)
            if (inputs >> j & 1)
                chosen[dim++] = p.standard[j];
        assert_int_equal(tools_problem_rewrite(&standard, e, inputs, &p, a, NULL), SNIP_OK);
        assert_true(expr_inputs(standard) <= dim);
        assert_int_equal(tools_problem_restore(&back, standard, inputs, &p, a, NULL), SNIP_OK);
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
    tools_table t = table_of("a + x2", ROWS, a);
    double *same = arena_array(a, ROWS, sizeof *same);
    const double *x[COLUMNS] = { t.x[0], same, t.x[2], t.x[3] };
    tools_problem p;
    for (int k = 0; k < 3; k++) {
        static const double value[3] = { 0.1, 0, -1e300 }; /* the sum of many 0.1 is rounded */
        for (size_t i = 0; i < ROWS; i++)
            same[i] = value[k];
        t.x = x;
        assert_int_equal(tools_problem_make(&p, &t, 1, a, NULL), SNIP_OK);
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
        tools_table t = table_of("a + x2", ROWS, a);
        double *v = arena_copy(a, t.x[2], ROWS * sizeof *v); /* -3 .. 4 */
        const double *x[COLUMNS] = { t.x[0], t.x[1], v, t.x[3] };
        double mean = 0, square = 0;
        tools_problem p;
        for (size_t i = 0; i < ROWS; i++)
            v[i] *= scales[k];
        t.x = x;
        assert_int_equal(tools_problem_make(&p, &t, 1, a, NULL), SNIP_OK);
        for (size_t i = 0; i < p.train; i++)
            mean += p.standard[2][i] / (double)p.train;
        for (size_t i = 0; i < p.train; i++)
            square += (p.standard[2][i] - mean) * (p.standard[2][i] - mean) / (double)p.train;
        if (!(fabs(mean) < 1e-12 && fabs(square - 1) < 1e-12))
            fail_msg("times %g: mean %g, variance %g", scales[k], mean, square);
        for (size_t i = 0; i < ROWS; i++)
            assert_true(p.standard[2][i] >= p.low[2] && p.standard[2][i] <= p.high[2]);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void a_quarter_is_held_out(void **state)
{
    arena *a = *state;
    for (size_t rows = TOOLS_ROWS_MIN; rows < 30; rows++) {
        tools_table t = table_of("a + x2", rows, a);
        tools_problem p, again, other;
        double want[30], got[30];
        assert_int_equal(tools_problem_make(&p, &t, 1, a, NULL), SNIP_OK);
        assert_int_equal(tools_problem_make(&again, &t, 1, a, NULL), SNIP_OK);
        assert_int_equal(tools_problem_make(&other, &t, 2, a, NULL), SNIP_OK);
        assert_int_equal(p.rows - p.train, rows < TOOLS_HOLD_OUT_MIN ? 0 : rows / 4);
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

static void long_tables_are_fitted_on_some_rows(void **state)
{
    arena *a = *state;
    tools_problem p = problem_of("a + x2", 20000, a);
    assert_int_equal(p.train, 15000);
    assert_int_equal(p.fit, TOOLS_FIT_ROWS);
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
        tools_table t = table_of("a + x2", ROWS, a);
        double *y = arena_copy(a, t.y, ROWS * sizeof *y);
        snip_status st = { 0 };
        tools_problem p;
        for (size_t i = 0; i < ROWS; i++)
            y[i] = y[i] * cases[k].factor + cases[k].shift;
        t.y = y;
        t.rows = cases[k].rows;
        assert_int_equal(tools_problem_make(&p, &t, 1, a, &st), SNIP_FORMAT);
        if (!strstr(st.msg, cases[k].says))
            fail_msg("says '%s', expected '%s'", st.msg, cases[k].says);
    }
    tools_table t = table_of("a", ROWS, a);
    tools_problem p;
    snip_status st = { 0 };
    t.dim = 0;
    assert_int_equal(tools_problem_make(&p, &t, 1, a, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "no inputs"));
    /* Only the rows held out differ. */
    t = table_of("a", ROWS, a);
    assert_int_equal(tools_problem_make(&p, &t, 1, a, &st), SNIP_OK);
    double *y = arena_copy(a, t.y, ROWS * sizeof *y);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < p.train; k++)
            if (t.y[i] == p.y[k])
                y[i] = 3.3;
    t.y = y;
    assert_int_equal(tools_problem_make(&p, &t, 1, a, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "that are not held out"));
}

static void a_task_without_memory_fails(void **state)
{
    tools_table t = table_of("a + x2", ROWS, *state);
    snip_code code = SNIP_NOMEM;
    size_t failures = 0;
    for (size_t limit = 64; code != SNIP_OK; limit += 256, failures++) {
        arena *a = arena_new(limit);
        tools_problem p;
        code = tools_problem_make(&p, &t, 1, a, NULL);
        assert_true(code == SNIP_OK || code == SNIP_NOMEM);
        arena_free(a);
        assert_true(limit < 1 << 20);
    }
    assert_true(failures > 10);
}

static void errors_are_mean_squares(void **state)
{
    arena *a = *state;
    tools_problem p = problem_of("a + x2", ROWS, a);
    tools_errors e;
    assert_true(tools_problem_errors(&e, parse("a + x2 + 2", &p.names, a), &p, a));
    for (int part = 0; part < 2; part++) {
        assert_true(fabs(e.loss[part] - 4) < 1e-12);
        assert_true(fabs(e.r2[part] - (1 - 4 / p.variance[part])) < 1e-12);
    }
    assert_true(tools_problem_errors(&e, parse("log(-a)", &p.names, a), &p, a));
    assert_true(isnan(e.loss[0]) && isnan(e.loss[1]) && isnan(e.r2[0]) && isnan(e.r2[1]));
    assert_true(tools_judged(&e, &p) == INFINITY);
    p = problem_of("a + x2", 8, a); /* nothing held out */
    assert_true(tools_problem_errors(&e, parse("a + x2 + 2", &p.names, a), &p, a));
    assert_true(fabs(e.loss[0] - 4) < 1e-12 && isnan(e.loss[1]) && isnan(e.r2[1]));
    assert_true(tools_judged(&e, &p) == e.loss[0]);
}

/* The model ----------------------------------------------------------------------------------- */

/* Writes an untrained model and returns its hash once it is opened again. */
static void hash_of(char *out, uint64_t seed, const char *stage, arena *a)
{
    char path[] = "/tmp/snip_tools_XXXXXX";
    int f = mkstemp(path);
    tools_model *t;
    snip_status st = { 0 };
    json_t *history = json_pack("{s:s}", "stage", stage);
    assert_true(f >= 0);
    assert_int_equal(model_save(untrained_model(seed, a), path, history, &st), SNIP_OK);
    if (tools_model_open(&t, path, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    assert_int_equal(t->tree, strcmp(stage, "S0") != 0);
    strcpy(out, t->hash);
    tools_model_close(t);
    json_decref(history);
    unlink(path);
    close(f);
}

static void models_are_told_apart(void **state)
{
    char first[TOOLS_HASH], again[TOOLS_HASH], other[TOOLS_HASH], flat[TOOLS_HASH];
    hash_of(first, 4, "S5", *state);
    hash_of(again, 4, "S5", *state);
    hash_of(other, 5, "S5", *state);
    hash_of(flat, 4, "S0", *state);
    assert_int_equal(strlen(first), TOOLS_HASH - 1);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
    assert_string_not_equal(first, flat);
    tools_model *t;
    snip_status st = { 0 };
    assert_int_equal(tools_model_open(&t, "/no/such/file", &st), SNIP_IO);
    assert_null(t);
    assert_non_null(strstr(st.msg, "/no/such/file"));
}

static void tables_are_unit_vectors(void **state)
{
    arena *a = *state;
    tools_model *t = small_model(a);
    size_t latent = (size_t)t->m->config.latent;
    float *z = arena_array(a, 3 * latent, sizeof *z);
    for (size_t rows = 4; rows <= 1004; rows += 500) { /* fewer rows than the model takes, more */
        tools_problem p = problem_of("a*x2", rows, a);
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(
                tools_problem_embed(&p, k == 2 ? 5 : 15, t, (int)k + 1, z + k * latent, NULL),
                SNIP_OK);
        assert_true(fabs(model_dot(z, z, latent) - 1) < 1e-6);
        assert_memory_equal(z, z + latent, latent * sizeof *z); /* 1 thread, 2 threads */
        assert_true(memcmp(z, z + 2 * latent, latent * sizeof *z) != 0);
    }
    tools_problem p = problem_of("a*x2", ROWS, a);
    snip_status st = { 0 };
    p.dim = 11;
    assert_int_equal(tools_problem_embed(&p, 15, t, 1, z, &st), SNIP_UNSUPPORTED);
    assert_non_null(strstr(st.msg, "--columns"));
}

/* Ranking ------------------------------------------------------------------------------------- */

static const char *const candidates[] = {
    "1.5*sin(2*a) + x2",
    "a",
    "x2",
    "1*x2 + 1",
    "1*a + 1*x2 + 1",
    "1*sin(1.8*a) + 1",
    "log(-a)", /* not finite */
    "2*x2 + 1*sin(1.9*a) + 0*d",
    "3.5",
    "exp(800*a)", /* not finite, unless refitted */
    "x2^2",
    "x2 + x2",
    "a/d",
    "tanh(x2)",
    "floor(x2)", /* no words in the model */
    "x2 - 1 + 1",
    "sqrt(x2)", /* not finite in some rows */
    "2.5*x2 + 1*sin(2.1*a) + 0.5",
    "x2",
};

static tools_candidate *ranked(const tools_problem *p, const tools_model *t,
                               const tools_rank_how *how, arena *a)
{
    tools_candidate *c = arena_zero(a, COUNT(candidates) * sizeof *c);
    snip_status st = { 0 };
    for (size_t i = 0; i < COUNT(candidates); i++) {
        c[i].e = parse(candidates[i], &p->names, a);
        c[i].text = candidates[i];
        c[i].place = i;
    }
    if (tools_rank(c, COUNT(candidates), p, t, how, a, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return c;
}

static tools_problem ranked_problem(arena *a)
{
    return problem_of("2.5*x2 + 3*sin(2*a) + 0.5", ROWS, a);
}

static void the_truth_wins_with_wrong_constants(void **state)
{
    arena *a = *state;
    tools_problem p = ranked_problem(a);
    tools_candidate *c =
        ranked(&p, small_model(a), &(tools_rank_how){ .refit = 1, .order = TOOLS_BY_LOSS }, a);
    assert_string_equal(c[0].text, "2.5*x2 + 1*sin(2.1*a) + 0.5");
    assert_int_equal(c[0].constants, 4);
    assert_true(c[0].errors.loss[1] < 1e-20 && c[0].given.loss[1] > 0.1 && c[0].front);
    assert_true(fabs(c[0].errors.r2[1] - 1) < 1e-12);
    expr fitted = c[0].fitted; /* 2.5*x2 + 3*sin(2*a) + 0.5 */
    size_t node[32], n = expr_constants(fitted, node);
    static const double want[] = { 2.5, 3, 2, 0.5 };
    assert_int_equal(n, COUNT(want));
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(fitted.node[node[i]].value - want[i]) < 1e-9);
    c = ranked(&p, NULL, &(tools_rank_how){ .refit = 0, .order = TOOLS_BY_LOSS }, a);
    for (size_t i = 0; i < COUNT(candidates); i++)
        assert_true(expr_same(c[i].fitted, parse(c[i].text, &p.names, a)));
}

/* Nothing is at once no worse and no larger; of twins the first counts. */
static int on_front(const tools_candidate *c, size_t i, const tools_problem *p)
{
    double loss = tools_judged(&c[i].errors, p);
    if (!isfinite(loss))
        return 0;
    for (size_t k = 0; k < COUNT(candidates); k++) {
        double other = tools_judged(&c[k].errors, p);
        int twin = other == loss && c[k].complexity == c[i].complexity;
        if (k != i && other <= loss && c[k].complexity <= c[i].complexity &&
            (!twin || c[k].place < c[i].place))
            return 0;
    }
    return 1;
}

/* log(loss) per node since the next simpler one of the front. */
static double score_of(const tools_candidate *c, size_t i, const tools_problem *p)
{
    const tools_candidate *before = NULL;
    for (size_t k = 0; k < COUNT(candidates); k++)
        if (c[k].front && c[k].complexity < c[i].complexity &&
            (!before || c[k].complexity > before->complexity))
            before = &c[k];
    return before ? log(tools_judged(&before->errors, p) / tools_judged(&c[i].errors, p)) /
                        (double)(c[i].complexity - before->complexity)
                  : 0;
}

static void the_front_is_that_of_brute_force(void **state)
{
    arena *a = *state;
    for (int k = 0; k < 2 * TOOLS_ORDERS; k++) {
        tools_problem p = k % 2 ? ranked_problem(a) : problem_of("x2 + x2", 11, a);
        size_t front = 0;
        tools_candidate *c =
            ranked(&p, small_model(a),
                   &(tools_rank_how){ .refit = k % 2, .order = k / 2, .threads = 2 }, a);
        for (size_t i = 0; i < COUNT(candidates); i++) {
            assert_int_equal(c[i].front, on_front(c, i, &p));
            front += (size_t)c[i].front;
            if (c[i].front)
                assert_true(fabs(c[i].score - score_of(c, i, &p)) <= 1e-12 * fabs(c[i].score));
            else
                assert_true(isnan(c[i].score));
        }
        assert_true(front >= 2);
    }
}

/* What each order sorts by; smaller is better. */
static double key_of(const tools_candidate *c, int order, const tools_problem *p)
{
    double loss = tools_judged(&c->errors, p);
    if (order == TOOLS_BY_SIMILARITY)
        return isnan(c->similarity) ? 2 : -c->similarity;
    return order == TOOLS_BY_LOSS ? loss
                                  : (double)p->train * log(loss / p->variance[0]) +
                                        (double)c->complexity * log((double)p->train);
}

static void every_order_is_kept(void **state)
{
    arena *a = *state;
    tools_problem p = ranked_problem(a);
    const tools_model *t = small_model(a);
    for (int order = 0; order < TOOLS_ORDERS; order++) {
        assert_non_null(tools_order_names[order]);
        tools_candidate *c =
            ranked(&p, t, &(tools_rank_how){ .refit = 1, .order = order, .threads = 2 }, a);
        size_t seen = 0;
        for (size_t i = 0; i < COUNT(candidates); i++) {
            const tools_candidate *last = i ? &c[i - 1] : NULL;
            double now = key_of(&c[i], order, &p), loss = tools_judged(&c[i].errors, &p);
            seen |= (size_t)1 << c[i].place;
            assert_true(!last || key_of(last, order, &p) <= now);
            if (last && key_of(last, order, &p) == now) /* then loss, size, place decide */
                assert_true(tools_judged(&last->errors, &p) < loss ||
                            (tools_judged(&last->errors, &p) == loss &&
                             (last->complexity < c[i].complexity ||
                              (last->complexity == c[i].complexity && last->place < c[i].place))));
            /* What is not finite comes after everything that is. */
            assert_true(!last || isfinite(tools_judged(&last->errors, &p)) || !isfinite(loss));
            assert_true(isnan(c[i].similarity) == (c[i].why != NULL));
            assert_true(isfinite(loss) || (!c[i].front && isnan(c[i].similarity)));
        }
        assert_int_equal(seen, ((size_t)1 << COUNT(candidates)) - 1);
        assert_true(isinf(tools_judged(&c[COUNT(candidates) - 1].errors, &p)));
    }
    /* Without a model there are no similarities to order by. */
    tools_candidate *c = ranked(&p, NULL, &(tools_rank_how){ .refit = 1 }, a);
    for (size_t i = 0; i < COUNT(candidates); i++) {
        assert_true(isnan(c[i].similarity));
        assert_true(i == 0 || tools_judged(&c[i - 1].errors, &p) <= tools_judged(&c[i].errors, &p));
    }
}

static void threads_change_nothing(void **state)
{
    arena *a = *state;
    const tools_model *t = small_model(a);
    for (size_t rows = ROWS; rows <= 1000; rows += 940) {
        tools_problem p = problem_of("2.5*x2 + 3*sin(2*a) + 0.5", rows, a);
        tools_candidate *one = ranked(&p, t, &(tools_rank_how){ .refit = 1, .threads = 1 }, a);
        for (int threads = 0; threads <= 3; threads++) { /* 0: as good as 1 */
            tools_candidate *c =
                ranked(&p, t, &(tools_rank_how){ .refit = 1, .threads = threads }, a);
            for (size_t i = 0; i < COUNT(candidates); i++) {
                assert_int_equal(one[i].place, c[i].place);
                assert_true(same_bits(one[i].similarity, c[i].similarity));
                assert_true(same_bits(one[i].score, c[i].score) && one[i].front == c[i].front);
                assert_true(expr_same(one[i].fitted, c[i].fitted));
                assert_memory_equal(&one[i].errors, &c[i].errors, sizeof c[i].errors);
                assert_memory_equal(&one[i].given, &c[i].given, sizeof c[i].given);
            }
        }
    }
}

/* Cosines step by step: the words of each formula, and the table of its own inputs. */
static void similarities_are_cosines_with_the_own_inputs(void **state)
{
    arena *a = *state;
    tools_problem p = ranked_problem(a);
    const tools_model *t = small_model(a);
    static const char *const formulas[] = { "sin(a)", "x2^2", "a*x2", "7.5", "a + d", "x2" };
    enum { N = COUNT(formulas) };
    size_t latent = (size_t)t->m->config.latent;
    float *f = arena_array(a, latent, sizeof *f), *z = arena_array(a, latent, sizeof *z);
    expr e[N];
    double got[N];
    const char *why[N] = { NULL };
    for (size_t i = 0; i < N; i++)
        e[i] = parse(formulas[i], &p.names, a);
    assert_int_equal(tools_similarities(got, why, e, N, &p, t, 2, a, NULL), SNIP_OK);
    model_space *s = model_space_new(t->m, t->tree, 1);
    for (size_t i = 0; i < N; i++) {
        tools_inputs inputs = tools_inputs_of(e[i], &p);
        model_item item = { .node = MODEL_WHOLE };
        assert_int_equal(tools_problem_rewrite(&item.e, e[i], inputs, &p, a, NULL), SNIP_OK);
        assert_int_equal(model_space_embed(s, &item, 1, f, NULL, NULL), SNIP_OK);
        assert_int_equal(tools_problem_embed(&p, inputs, t, 1, z, NULL), SNIP_OK);
        assert_true(fabs(got[i] - model_dot(f, z, latent)) < 1e-5 && !why[i]);
    }
    model_space_free(s);
}

static void small_and_large_lists_are_ranked(void **state)
{
    arena *a = *state;
    tools_problem p = ranked_problem(a);
    const tools_model *t = small_model(a);
    const tools_rank_how how = { .refit = 1, .order = TOOLS_BY_LOSS, .threads = 2 };
    assert_int_equal(tools_rank(NULL, 0, &p, t, &how, a, NULL), SNIP_OK);
    tools_candidate one = { .e = parse("3.5", &p.names, a) };
    assert_int_equal(tools_rank(&one, 1, &p, t, &how, a, NULL), SNIP_OK);
    assert_true(one.front && one.score == 0 && one.complexity == 1 && one.constants == 1);
    assert_true(!isnan(one.similarity) && fabs(one.errors.r2[0]) < 1e-9); /* the mean */

    enum { MANY = 2500 }; /* more than one batch */
    tools_candidate *c = arena_zero(a, MANY * sizeof *c);
    for (size_t i = 0; i < MANY; i++) {
        c[i].e = parse(i % 2 ? "a + x2" : "x2", &p.names, a);
        c[i].place = i;
    }
    assert_int_equal(tools_rank(c, MANY, &p, t, &how, a, NULL), SNIP_OK);
    for (size_t i = 1; i < MANY; i++) {
        assert_true(c[i].place > c[i - 1].place || i == MANY / 2);
        assert_true(i == MANY / 2 || fabs(c[i].similarity - c[i - 1].similarity) < 1e-5);
    }
}

/* A sum of n + 1 terms. */
static expr long_sum(const char *first, const char *term, size_t n, const expr_names *known,
                     arena *a)
{
    char *text = arena_alloc(a, strlen(first) + n * (strlen(term) + 1) + 1), *end = text;
    end += sprintf(end, "%s", first);
    for (size_t i = 0; i < n; i++)
        end += sprintf(end, "+%s", term);
    return parse(text, known, a);
}

static void what_the_model_cannot_read_has_errors_still(void **state)
{
    arena *a = *state;
    tools_problem p = ranked_problem(a);
    tools_candidate c[] = {
        { .e = long_sum("a", "a*x2", 100, &p.names, a) },
        { .e = long_sum("a", "sin(a + 1.5)", 600, &p.names, a), .place = 1 }, /* not fitted */
        { .e = parse("floor(x2)", &p.names, a), .place = 2 },
    };
    assert_int_equal(tools_rank(c, COUNT(c), &p, small_model(a),
                                &(tools_rank_how){ .refit = 1, .starts = 1 }, a, NULL),
                     SNIP_OK);
    for (size_t i = 0; i < COUNT(c); i++) {
        static const char *const says[] = { "reads at most 200", "reads at most 200", "'floor'" };
        const char *want = says[c[i].place];
        assert_true(isnan(c[i].similarity) && isfinite(c[i].errors.loss[0]));
        if (!strstr(c[i].why, want))
            fail_msg("says '%s', expected '%s'", c[i].why, want);
        if (c[i].place == 1)
            assert_int_equal(c[i].constants, 0);
    }
}

/* Many constants on many rows are fitted on some of the rows. */
static void many_constants_are_fitted_all_the_same(void **state)
{
    arena *a = *state;
    tools_problem p = problem_of("a + 2", 20000, a);
    tools_candidate c = { .e = long_sum("1.5*a", "0.5", 120, &p.names, a) };
    assert_true(121 * p.fit > TOOLS_FIT_JACOBIAN_MAX);
    assert_int_equal(
        tools_rank(&c, 1, &p, NULL, &(tools_rank_how){ .refit = 1, .starts = 1 }, a, NULL),
        SNIP_OK);
    assert_int_equal(c.constants, 121);
    assert_true(c.errors.loss[1] < 1e-6 * c.given.loss[1]);
}

/* Explaining ---------------------------------------------------------------------------------- */

/* The place of e among n edits, from `first` on. */
static size_t find_edit(const tools_edit *edit, size_t n, expr e)
{
    for (size_t i = 0; i < n; i++)
        if (expr_same(edit[i].e, e))
            return i;
    return (size_t)-1;
}

static void edits_are_single_and_undone(void **state)
{
    arena *a = *state;
    static const char *const formulas[] = {
        "2.5*sin(a) - x2/d",   "a - a",      "a/a", "pow(a, 1.5)", "-a",
        "tanh(a) + floor(x2)", "min(a, x2)", "x2",  "3.5",         "sqrt(abs(a - x2)^3)",
        "1/(a + a^2)",         "pi*a",
    };
    const expr_names known = { names, COLUMNS };
    for (size_t k = 0; k < COUNT(formulas); k++) {
        expr e = parse(formulas[k], &known, a);
        tools_edit *edit, *back;
        size_t n = tools_edits_list(&edit, e, COLUMNS, a);
        assert_true(n != (size_t)-1 && (n > 0 || k == 8));
        for (size_t i = 0; i < n; i++) {
            expr got = edit[i].e;
            size_t lengths = 0;
            for (size_t j = 0; j < got.count; j++)
                lengths += got.node[j].len;
            assert_true(expr_measure(got)); /* one tree, */
            for (size_t j = 0; j < got.count; j++)
                lengths -= got.node[j].len;
            assert_true(lengths == 0); /* whose lengths were right, */
            assert_false(expr_same(got, e));
            assert_true(edit[i].node < e.count);
            for (size_t j = 0; j < i; j++) /* and no edit twice at one node */
                assert_true(edit[j].node != edit[i].node || !expr_same(edit[j].e, got));
            size_t m = tools_edits_list(&back, got, COLUMNS, a);
            int foreign = edit[i].kind == TOOLS_EXCHANGE && /* an operator that nothing becomes */
                          (e.node[edit[i].node].op >= EXPR_VOCABULARY_END ||
                           e.node[edit[i].node].op == EXPR_POW);
            int order = edit[i].kind == TOOLS_SWAP || edit[i].kind == TOOLS_EXCHANGE;
            if ((order || edit[i].kind == TOOLS_WRAP) && !foreign)
                assert_true(find_edit(back, m, e) != (size_t)-1);
            assert_non_null(tools_edit_text(&edit[i], e, &known, a));
        }
    }
}

static void edits_without_memory_fail(void **state)
{
    expr e = parse("2.5*sin(x0) - x1/x0", NULL, *state);
    size_t n = (size_t)-1, failures = 0;
    for (size_t limit = 64; n == (size_t)-1; limit += 1024, failures++) {
        arena *a = arena_new(limit);
        tools_edit *edit;
        n = tools_edits_list(&edit, e, 2, a);
        arena_free(a);
        assert_true(limit < 1 << 24);
    }
    assert_true(failures > 10);
}

static void edits_are_told_in_words(void **state)
{
    arena *a = *state;
    static const char *const long_names[] = { "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc",
                                              "b" };
    const expr_names known = { long_names, 2 };
    static const struct {
        const char *formula;
        tools_edit edit;
        const char *says;
    } cases[] = {
        { "sin(x1)", { .kind = TOOLS_EXCHANGE, .to = EXPR_COS }, "sin -> cos at sin(b)" },
        { "sin(x1)",
          { .node = 1, .kind = TOOLS_EXCHANGE, .to = 0 },
          "b -> \xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc" },
        { "x1/2", { .kind = TOOLS_SWAP }, "operands swapped at b/2" },
        { "x1/2", { .kind = TOOLS_DROP, .to = 1 }, "b/2 -> 2" },
        { "x1/2", { .node = 1, .kind = TOOLS_WRAP, .to = EXPR_EXP }, "b -> exp(b)" },
        /* Cut in front of a letter, not within it. */
        { "x0*x0*x0*x0*x0",
          { .kind = TOOLS_SWAP },
          "operands swapped at \xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc*"
          "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc*\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3"
          "\xb6..." },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *text =
            tools_edit_text(&cases[i].edit, parse(cases[i].formula, NULL, a), &known, a);
        assert_string_equal(text, cases[i].says);
    }
}

static void check_explanation(const tools_explanation *x, const tools_problem *p, arena *a)
{
    for (size_t i = 0; i < x->edits; i++) {
        const tools_edit *e = &x->edit[i];
        assert_true(same_bits(e->gain, e->similarity - x->similarity));
        assert_true(i == 0 || e->gain <= x->edit[i - 1].gain);
        if (i >= x->listed)
            continue;
        tools_errors errors;
        assert_true(tools_problem_errors(&errors, e->e, p, a));
        assert_memory_equal(&errors, &e->errors, sizeof errors);
        assert_true(tools_problem_errors(&errors, e->fitted, p, a));
        assert_memory_equal(&errors, &e->refitted, sizeof errors);
        assert_true(e->refitted.loss[0] <= e->errors.loss[0] * (1 + 1e-9) + 1e-20);
    }
    for (size_t i = 0; i < x->e.count; i++) {
        double most = NAN;
        for (size_t k = 0; k < x->edits; k++)
            if (x->edit[k].node == i)
                most = isnan(most) ? x->edit[k].gain : fmax(most, x->edit[k].gain);
        assert_true(same_bits(most, x->gain[i]) || (isnan(most) && isnan(x->gain[i])));
        assert_int_equal(x->best[i] == (size_t)-1, isnan(most));
        if (!isnan(most))
            assert_true(x->edit[x->best[i]].node == i && x->edit[x->best[i]].gain == most);
    }
}

static void gains_are_those_of_the_best_edits(void **state)
{
    arena *a = *state;
    tools_problem p = ranked_problem(a);
    const tools_model *t = small_model(a);
    static const char *const formulas[] = { "x2 + 1.5*cos(2*a)", "log(a) - x2", "x2", "3.5",
                                            "a - a + x2*`speed [m/s]`" };
    for (size_t k = 0; k < COUNT(formulas); k++) {
        expr e = parse(formulas[k], &p.names, a);
        tools_explanation x, y;
        const tools_explain_how how = { .refit = (int)k % 2, .list = 5, .threads = 1 };
        const tools_explain_how more = { .refit = (int)k % 2, .list = 5, .threads = 3 };
        assert_int_equal(tools_explain(&x, e, &p, t, &how, a, NULL), SNIP_OK);
        assert_int_equal(x.listed, k == 3 ? 0 : 5); /* a constant has no edits */
        check_explanation(&x, &p, a);
        assert_int_equal(tools_explain(&y, e, &p, t, &more, a, NULL), SNIP_OK);
        assert_int_equal(x.edits, y.edits);
        for (size_t i = 0; i < x.edits; i++)
            assert_true(same_bits(x.edit[i].gain, y.edit[i].gain) &&
                        expr_same(x.edit[i].e, y.edit[i].e));
    }
}

static void formulas_that_cannot_be_explained_are_refused(void **state)
{
    arena *a = *state;
    tools_problem p = ranked_problem(a);
    const tools_model *t = small_model(a);
    const struct {
        expr e;
        const char *says;
    } cases[] = {
        { parse("floor(x2)", &p.names, a), "'floor'" },
        { parse("log(x2)", &p.names, a), "no finite value in some row" },
        { long_sum("a", "x2", 149, &p.names, a), "reads at most 200" }, /* 299 nodes */
        { long_sum("a", "x2", 250, &p.names, a), "501 nodes, at most 500" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tools_explanation x;
        snip_status st = { 0 };
        const tools_explain_how how = { .list = 1, .threads = 1 };
        assert_int_equal(tools_explain(&x, cases[i].e, &p, t, &how, a, &st), SNIP_UNSUPPORTED);
        if (!strstr(st.msg, cases[i].says))
            fail_msg("says '%s', expected '%s'", st.msg, cases[i].says);
    }
    /* 301 nodes that are few words, as their constants join. */
    tools_explanation x;
    expr e = long_sum("a", "0.5", 150, &p.names, a);
    const tools_explain_how how = { .list = 0, .threads = 1 };
    assert_int_equal(tools_explain(&x, e, &p, t, &how, a, NULL), SNIP_OK);
    assert_true(x.e.count == 301 && x.edits > 2000 && x.listed == 0);
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
        ARENA_TEST(a_quarter_is_held_out),
        ARENA_TEST(long_tables_are_fitted_on_some_rows),
        ARENA_TEST(what_is_no_task_is_refused),
        ARENA_TEST(a_task_without_memory_fails),
        ARENA_TEST(errors_are_mean_squares),
        ARENA_TEST(models_are_told_apart),
        ARENA_TEST(tables_are_unit_vectors),
        ARENA_TEST(the_truth_wins_with_wrong_constants),
        ARENA_TEST(the_front_is_that_of_brute_force),
        ARENA_TEST(every_order_is_kept),
        ARENA_TEST(threads_change_nothing),
        ARENA_TEST(similarities_are_cosines_with_the_own_inputs),
        ARENA_TEST(small_and_large_lists_are_ranked),
        ARENA_TEST(what_the_model_cannot_read_has_errors_still),
        ARENA_TEST(many_constants_are_fitted_all_the_same),
        ARENA_TEST(edits_are_single_and_undone),
        ARENA_TEST(edits_without_memory_fail),
        ARENA_TEST(edits_are_told_in_words),
        ARENA_TEST(gains_are_those_of_the_best_edits),
        ARENA_TEST(formulas_that_cannot_be_explained_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
