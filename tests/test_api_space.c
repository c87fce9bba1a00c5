/* test_api_space.c - models, embeddings, ranking, libraries and explanations as a user's program
 * has them: snip.h alone, beside what the command prints. Runs below with_model.sh. */
#include <jansson.h>
#include <locale.h>
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

static const char *in_folder(char path[PATH], const char *name)
{
    snprintf(path, PATH, "%s/%s", getenv("SNIP_TEST_FOLDER"), name);
    return path;
}

static int start(void **state)
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

static int finish(void **state)
{
    (void)state;
    snip_model_close(model);
    return 0;
}

static snip_expr *parsed(const char *text)
{
    snip_expr *e;
    snip_status st;
    int named = !strchr(text, 'x') || strstr(text, "exp"); /* names allow no others: x5 */
    if (snip_expr_parse(&e, text, named ? names : NULL, 3, &st) != SNIP_OK)
        fail_msg("%s: %s", text, st.msg);
    return e;
}

static const char *const candidates[] = {
    "2*sqrt(u) + 0.1*v", "u - v", "3*log(u) + 1", "exp(0.1*u) - 0.4*v",
    "floor(u)",          "2.5",   "log(v)",       "u*v*w + 1.234",
    "2/(u + 0.5)^4",
};
enum { CANDIDATES = COUNT(candidates) };

static void parse_all(snip_expr *e[CANDIDATES])
{
    for (size_t i = 0; i < CANDIDATES; i++)
        e[i] = parsed(candidates[i]);
}

static void free_all(snip_expr *const *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        snip_expr_free(e[i]);
}

static snip_ranking *ranked(snip_expr *const *e, size_t n, const snip_rank_options *options)
{
    snip_ranking *r;
    snip_status st;
    if (snip_rank(&r, model, &table, (const snip_expr *const *)e, n, options, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return r;
}

static void assert_unit(const float *z)
{
    double sum = 0;
    for (size_t i = 0; i < snip_model_width(model); i++)
        sum += (double)z[i] * z[i];
    assert_true(fabs(sum - 1) < 1e-5);
}

static float *rows_of(size_t n)
{
    float *z = calloc(n + 1, snip_model_width(model) * sizeof *z);
    assert_non_null(z);
    return z;
}

static void a_model_is_opened_or_refused(void **state)
{
    (void)state;
    char path[PATH];
    snip_status st = { .code = SNIP_IO };
    snip_model *m = (snip_model *)&st, *other;
    assert_int_equal(snip_model_open(&m, in_folder(path, "missing"), &st), SNIP_IO);
    assert_null(m);
    assert_int_equal(st.code, SNIP_IO);
    assert_non_null(strstr(st.msg, "No such file"));
    assert_int_equal(snip_model_open(&m, in_folder(path, "table.csv"), &st), SNIP_FORMAT);
    assert_null(m);
    assert_int_equal(snip_model_open(&m, getenv("SNIP_TEST_FOLDER"), NULL), SNIP_IO);
    assert_int_equal(snip_model_open(&m, in_folder(path, "model.safetensors"), &st), SNIP_OK);
    assert_int_equal(st.code, SNIP_OK);
    assert_int_equal(snip_model_inputs(m), 5);
    assert_true(snip_model_width(m) > 0);
    assert_int_equal(strlen(snip_model_hash(m)), 32);
    assert_string_equal(snip_model_hash(m), snip_model_hash(model));
    assert_int_equal(snip_model_open(&other, in_folder(path, "narrow.safetensors"), NULL), SNIP_OK);
    assert_int_equal(snip_model_inputs(other), 2);
    assert_string_not_equal(snip_model_hash(m), snip_model_hash(other));
    snip_model_close(other);
    snip_model_close(m);
    snip_model_close(NULL);
}

static void formulas_become_vectors(void **state)
{
    (void)state;
    size_t width = snip_model_width(model);
    snip_expr *e[3] = { parsed("sin(u) + v/w"), parsed("cosh(u)*2.5"), parsed("sin(u) + v/w") };
    const snip_expr *const *all = (const snip_expr *const *)e;
    snip_status st;
    float *z = rows_of(3), *alone = rows_of(1);
    assert_int_equal(snip_embed_formulas(model, all, 3, 1, z, &st), SNIP_OK);
    for (int i = 0; i < 3; i++)
        assert_unit(z + (size_t)i * width);
    /* Where a row stands in a product matters to rounding errors at most. */
    for (size_t j = 0; j < width; j++)
        assert_float_equal(z[j], z[2 * width + j], 1e-5f);
    assert_memory_not_equal(z, z + width, width * sizeof *z);
    /* Who else is embedded matters to rounding errors at most. */
    assert_int_equal(snip_embed_formulas(model, all + 1, 1, 1, alone, NULL), SNIP_OK);
    for (size_t i = 0; i < width; i++)
        assert_true(fabsf(alone[i] - z[width + i]) < 1e-5f);
    /* None at all is no mistake, and touches nothing. */
    alone[0] = 7;
    assert_int_equal(snip_embed_formulas(model, all, 0, 0, alone, &st), SNIP_OK);
    assert_int_equal(snip_embed_formulas(model, NULL, 0, 0, NULL, &st), SNIP_OK);
    assert_true(alone[0] == 7);
    free_all(e, 3);
    free(alone);
    free(z);
}

static void formulas_without_words_are_named(void **state)
{
    (void)state;
    static const char *const texts[] = { "floor(u)", "x5 + 1", "1e150*u" };
    static const char *const says[] = { "floor", "x5", "1e+150" };
    char sum[2048] = "u"; /* more tokens than the model reads */
    for (int i = 0; i < 200; i++)
        strcat(sum, "+sin(u)");
    float *z = rows_of(3);
    snip_expr *good = parsed("u + v"), *long_one = parsed(sum);
    for (size_t i = 0; i < COUNT(texts); i++) {
        snip_expr *bad = parsed(texts[i]);
        const snip_expr *e[] = { good, good, bad };
        snip_status st;
        assert_int_equal(snip_embed_formulas(model, e, 3, 1, z, &st), SNIP_UNSUPPORTED);
        assert_int_equal(st.code, SNIP_UNSUPPORTED);
        assert_int_equal(st.pos, 2);
        assert_non_null(strstr(st.msg, says[i]));
        assert_int_equal(snip_embed_formulas(model, e, 3, 1, z, NULL), SNIP_UNSUPPORTED);
        assert_int_equal(snip_embed_formulas(model, e, 2, 1, z, &st), SNIP_OK);
        snip_expr_free(bad);
    }
    const snip_expr *e[] = { good, long_one };
    snip_status st;
    assert_int_equal(snip_embed_formulas(model, e, 2, 1, z, &st), SNIP_UNSUPPORTED);
    assert_int_equal(st.pos, 1);
    snip_expr_free(long_one);
    snip_expr_free(good);
    free(z);
}

static void parts_are_seen_in_context(void **state)
{
    (void)state;
    size_t width = snip_model_width(model);
    snip_expr *given = parsed("2.5*sin(u) + sin(u)/v"), *e, *min = parsed("min(u, v)");
    snip_status st;
    assert_int_equal(snip_expr_normal(&e, given, 1, &st), SNIP_OK);
    size_t n = snip_expr_nodes(e);
    float *z = rows_of(n), *again = rows_of(n), *whole = rows_of(1);
    assert_int_equal(snip_embed_parts(model, e, 1, z, &st), SNIP_OK);
    for (size_t i = 0; i < n; i++)
        assert_unit(z + i * width);
    for (int threads = 0; threads < 4; threads++) {
        assert_int_equal(snip_embed_parts(model, e, threads, again, NULL), SNIP_OK);
        assert_memory_equal(z, again, n * width * sizeof *z);
    }
    /* The two sin(u) stand at different places, so they are different parts. */
    char text[100];
    snip_expr_print(e, SNIP_PREFIX, text, sizeof text);
    assert_string_equal(text, "add,mul,2.5,sin,u,mul,sin,u,inv,v");
    assert_memory_not_equal(z + 3 * width, z + 6 * width, width * sizeof *z);
    /* Row 0 is the formula's own tokens; the whole formula's vector is pooled over the marks at its
     * two ends as well. They are two views of one formula, and not the same numbers. */
    assert_int_equal(snip_embed_formulas(model, (const snip_expr *const[]){ e }, 1, 1, whole, &st),
                     SNIP_OK);
    assert_memory_not_equal(z, whole, width * sizeof *z);
    /* What is not in normal form may have no words. */
    assert_int_equal(snip_embed_parts(model, min, 1, z, &st), SNIP_UNSUPPORTED);
    assert_non_null(strstr(st.msg, "min"));
    assert_int_equal(snip_embed_parts(model, min, 1, z, NULL), SNIP_UNSUPPORTED);
    free_all((snip_expr *[]){ given, e, min }, 3);
    free(whole);
    free(again);
    free(z);
}

static void a_table_becomes_a_vector(void **state)
{
    (void)state;
    size_t width = snip_model_width(model);
    float *z = rows_of(1), *other = rows_of(1);
    snip_status st;
    assert_int_equal(snip_embed_table(model, &table, 1, z, &st), SNIP_OK);
    assert_unit(z);
    snip_table t = table;
    t.names = NULL;
    for (int threads = 0; threads < 4; threads++) {
        assert_int_equal(snip_embed_table(model, &t, threads, other, NULL), SNIP_OK);
        assert_memory_equal(z, other, width * sizeof *z);
    }
    /* Units do not matter: inputs are standardised. */
    double scaled[ROWS], dot = 0;
    for (int i = 0; i < ROWS; i++)
        scaled[i] = 1000 * u[i] + 77;
    const double *const moved[] = { scaled, v, w };
    t.x = moved;
    assert_int_equal(snip_embed_table(model, &t, 1, other, &st), SNIP_OK);
    for (size_t i = 0; i < width; i++)
        dot += (double)z[i] * other[i];
    assert_true(dot > 0.999);
    free(other);
    free(z);
}

static double cosine(const float *a, const float *b, size_t width)
{
    double dot = 0;
    for (size_t i = 0; i < width; i++)
        dot += (double)a[i] * b[i];
    return dot;
}

static snip_model *model_of_forms(void)
{
    char path[PATH];
    snip_model *m;
    snip_status st;
    if (snip_model_open(&m, in_folder(path, "forms.safetensors"), &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return m;
}

/* A form's similarity with a table: that of the side on which they agree more. */
static double form_similarity(const snip_model *m, const float *form, const snip_table *t)
{
    size_t width = snip_model_width(m);
    float *z = calloc(2 * width, sizeof *z);
    assert_non_null(z);
    assert_int_equal(snip_embed_table_form(m, t, 1, z, NULL), SNIP_OK);
    double up = cosine(form, z, width), down = cosine(form, z + width, width);
    free(z);
    return fmax(up, down);
}

static void forms_become_vectors(void **state)
{
    (void)state;
    snip_model *m = model_of_forms();
    assert_int_equal(snip_model_forms(m), 1);
    assert_int_equal(snip_model_forms(model), 0);
    size_t width = snip_model_width(m);
    snip_expr *e[4] = { parsed("2.5*sin(u) + 1"), parsed("-7*sin(u)"), parsed("cos(3*u)"),
                        parsed("2.5") };
    const snip_expr *const *all = (const snip_expr *const *)e;
    snip_status st;
    float *z = calloc(4 * width, sizeof *z), *again = calloc(3 * width, sizeof *z);
    assert_non_null(z);
    assert_non_null(again);
    assert_int_equal(snip_embed_forms(m, all, 3, 1, z, &st), SNIP_OK);
    assert_int_equal(st.code, SNIP_OK);
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(cosine(z + i * width, z + i * width, width) - 1) < 1e-5);
    /* Constants do not count, the function does. */
    assert_true(fabs(cosine(z, z + width, width) - 1) < 1e-5);
    assert_true(cosine(z, z + 2 * width, width) < 1 - 1e-6);
    for (int threads = 0; threads < 4; threads++) {
        assert_int_equal(snip_embed_forms(m, all, 3, threads, again, NULL), SNIP_OK);
        assert_memory_equal(z, again, 3 * width * sizeof *z);
    }
    /* In the other view of the same model they do. */
    assert_int_equal(snip_embed_formulas(m, all, 3, 1, again, &st), SNIP_OK);
    assert_true(cosine(again, again + width, width) < 1 - 1e-5);

    assert_int_equal(snip_embed_forms(m, NULL, 0, 0, NULL, &st), SNIP_OK);
    assert_int_equal(snip_embed_forms(m, all, 4, 1, z, &st), SNIP_UNSUPPORTED);
    assert_int_equal(st.pos, 3);
    assert_non_null(strstr(st.msg, "a constant has no form"));
    assert_int_equal(snip_embed_forms(m, all, 4, 1, z, NULL), SNIP_UNSUPPORTED);
    assert_int_equal(snip_embed_forms(model, all, 3, 1, z, &st), SNIP_UNSUPPORTED);
    assert_non_null(strstr(st.msg, "not trained to read forms"));
    free_all(e, 4);
    free(again);
    free(z);
    snip_model_close(m);
}

static void a_table_becomes_a_vector_each_way_up(void **state)
{
    (void)state;
    snip_model *m = model_of_forms();
    size_t width = snip_model_width(m);
    snip_expr *e = parsed("2*sqrt(u) + 0.1*v");
    snip_status st;
    double other[ROWS];
    float *z = calloc(2 * width, sizeof *z), *turned = calloc(2 * width, sizeof *z);
    assert_non_null(z);
    assert_non_null(turned);
    snip_table t = table;
    t.y = other;
    assert_int_equal(snip_embed_table_form(m, &table, 1, z, &st), SNIP_OK);
    for (size_t i = 0; i < 2; i++)
        assert_true(fabs(cosine(z + i * width, z + i * width, width) - 1) < 1e-5);
    assert_true(cosine(z, z + width, width) < 1 - 1e-6);
    for (int threads = 0; threads < 4; threads++) {
        assert_int_equal(snip_embed_table_form(m, &table, threads, turned, NULL), SNIP_OK);
        assert_memory_equal(z, turned, 2 * width * sizeof *z);
    }
    /* The second is that of -y. */
    for (int i = 0; i < ROWS; i++)
        other[i] = -y[i];
    assert_int_equal(snip_embed_table_form(m, &t, 1, turned, &st), SNIP_OK);
    assert_true(fabs(cosine(z, turned + width, width) - 1) < 1e-5);
    assert_true(fabs(cosine(z + width, turned, width) - 1) < 1e-5);
    /* The unit of y does not count, nor its sign. */
    static const double unit[] = { 1e4, -1e-3 };
    assert_int_equal(snip_embed_forms(m, (const snip_expr *const[]){ e }, 1, 1, turned, &st),
                     SNIP_OK);
    for (size_t k = 0; k < COUNT(unit); k++) {
        for (int i = 0; i < ROWS; i++)
            other[i] = unit[k] * y[i];
        assert_true(fabs(form_similarity(m, turned, &t) - form_similarity(m, turned, &table)) <
                    1e-4);
    }
    other[7] = NAN;
    assert_int_equal(snip_embed_table_form(m, &t, 1, z, &st), SNIP_FORMAT);
    assert_int_equal(st.pos, 7);
    assert_int_equal(snip_embed_table_form(model, &table, 1, z, &st), SNIP_UNSUPPORTED);
    assert_non_null(strstr(st.msg, "not trained to read forms"));
    assert_int_equal(snip_embed_table_form(model, &table, 1, z, NULL), SNIP_UNSUPPORTED);
    snip_expr_free(e);
    free(turned);
    free(z);
    snip_model_close(m);
}

/* What every function that takes a table refuses. */
static void refuses(const snip_table *t, const snip_model *m, snip_code code, size_t pos,
                    const char *says)
{
    snip_status st;
    snip_ranking *r = (snip_ranking *)&st;
    snip_explanation *x = (snip_explanation *)&st;
    snip_index *ix;
    char path[PATH];
    float *z = rows_of(1);
    snip_expr *e = parsed("2.5 + x0");
    const snip_expr *one[] = { e };
    assert_int_equal(snip_embed_table(m, t, 1, z, &st), code);
    assert_int_equal(st.code, code);
    assert_int_equal(st.pos, pos);
    if (!strstr(st.msg, says))
        fail_msg("'%s' does not say '%s'", st.msg, says);
    assert_int_equal(snip_embed_table(m, t, 1, z, NULL), code);
    assert_int_equal(snip_rank(&r, m, t, one, 1, NULL, &st), code);
    assert_null(r);
    assert_int_equal(st.pos, pos);
    assert_int_equal(snip_rank(&r, m, t, one, 1, NULL, NULL), code);
    if (t->inputs) { /* else the formula is refused first */
        assert_int_equal(snip_explain(&x, m, t, e, 1, NULL, &st), code);
        assert_null(x);
        assert_int_equal(st.pos, pos);
        assert_int_equal(snip_explain(&x, m, t, e, 1, NULL, NULL), code);
    }
    if (m == model) {
        assert_int_equal(snip_index_open(&ix, in_folder(path, "library.db"), m, &st), SNIP_OK);
        assert_int_equal(snip_find(&r, m, ix, t, 3, NULL, &st), code);
        assert_null(r);
        assert_int_equal(snip_find(&r, m, ix, t, 3, NULL, NULL), code);
        snip_index_close(ix);
    }
    snip_expr_free(e);
    free(z);
}

static void bad_tables_are_refused(void **state)
{
    (void)state;
    double holes[ROWS], same[ROWS];
    for (int i = 0; i < ROWS; i++) {
        holes[i] = i == 7 ? NAN : i;
        same[i] = 3;
    }
    const double *const wide[] = { u, v, w, u, v, w }, *const bad[] = { u, holes, w };
    snip_table t = table;
    t.x = bad;
    refuses(&t, model, SNIP_FORMAT, 7, "row 7 holds a value that is not finite");
    t = table;
    t.y = holes;
    refuses(&t, model, SNIP_FORMAT, 7, "not finite");
    holes[7] = -INFINITY;
    refuses(&t, model, SNIP_FORMAT, 7, "not finite");
    t.y = same;
    refuses(&t, model, SNIP_FORMAT, 0, "nothing to explain");
    t = table;
    t.rows = 3;
    refuses(&t, model, SNIP_FORMAT, 0, "3 rows");
    t.rows = 0;
    refuses(&t, model, SNIP_FORMAT, 0, "0 rows");
    static const char *const twice[] = { "u", "v", "u" }, *const missing[] = { "u", NULL, "w" },
                             *const empty[] = { "u", "v", "" };
    const double *const hole[] = { u, v, NULL };
    t = table;
    t.names = twice;
    refuses(&t, model, SNIP_FORMAT, 2, "names 0 and 2 are both 'u'");
    t.names = missing;
    refuses(&t, model, SNIP_FORMAT, 1, "name 1 is NULL");
    t.names = empty;
    refuses(&t, model, SNIP_FORMAT, 2, "name 2 is empty");
    t = table;
    t.x = hole;
    refuses(&t, model, SNIP_FORMAT, 2, "column 2 is NULL");
    t = (snip_table){ .inputs = 6, .rows = ROWS, .x = wide, .y = y };
    refuses(&t, model, SNIP_UNSUPPORTED, 0, "6 inputs, the model reads 1 to 5");
    t.inputs = 0;
    refuses(&t, model, SNIP_UNSUPPORTED, 0, "0 inputs");
    snip_model *narrow;
    char path[PATH];
    assert_int_equal(snip_model_open(&narrow, in_folder(path, "narrow.safetensors"), NULL),
                     SNIP_OK);
    refuses(&table, narrow, SNIP_UNSUPPORTED, 0, "3 inputs, the model reads 1 to 2");
    snip_model_close(narrow);
}

/* What `snip ARGUMENTS` prints, as JSON. */
static json_t *command(const char *arguments)
{
    char line[4 * PATH];
    const char *folder = getenv("SNIP_TEST_FOLDER");
    snprintf(line, sizeof line, "cd '%s' && '%s' %s --json %s -q", folder, getenv("SNIP_PROGRAM"),
             arguments, strncmp(arguments, "fit-constants", 13) ? "--model model.safetensors" : "");
    FILE *f = popen(line, "r");
    assert_non_null(f);
    json_error_t error;
    json_t *o = json_loadf(f, 0, &error);
    if (pclose(f) != 0 || !o)
        fail_msg("%s: %s", line, error.text);
    return o;
}

static void same_number(const json_t *o, const char *key, double got)
{
    const json_t *want = json_object_get(o, key);
    assert_non_null(want);
    if (json_is_null(want) ? !isnan(got) : json_number_value(want) != got)
        fail_msg("%s is %.17g, the command says %.17g", key, got, json_number_value(want));
}

static void same_formula(const json_t *o, const char *key, const snip_expr *e)
{
    char text[1000];
    assert_true(snip_expr_print(e, SNIP_SYMPY, text, sizeof text) < sizeof text);
    assert_string_equal(json_string_value(json_object_get(o, key)), text);
}

/* The ranking is what the command printed. It counts candidates from 1 (`first`); what was found
 * has its id in both. */
static void same_ranking(const json_t *o, const snip_ranking *r, int first)
{
    const json_t *list = json_object_get(o, "candidates");
    assert_int_equal(json_array_size(list), snip_ranking_count(r));
    for (size_t i = 0; i < snip_ranking_count(r); i++) {
        const json_t *c = json_array_get(list, i);
        const snip_ranked *one = snip_ranking_at(r, i);
        same_formula(c, "equation", one->formula);
        same_number(c, "place", (double)one->place + first);
        same_number(c, "similarity", one->similarity);
        same_number(c, "loss_train", one->loss_train);
        same_number(c, "loss_val", one->loss_val);
        same_number(c, "loss_cross", one->loss_cross);
        same_number(c, "r2_train", one->r2_train);
        same_number(c, "r2_val", one->r2_val);
        same_number(c, "complexity", (double)one->complexity);
        same_number(c, "model_size", (double)one->model_size);
        same_number(c, "score", one->score);
        assert_int_equal(json_is_true(json_object_get(c, "pareto")), one->pareto);
    }
    assert_null(snip_ranking_at(r, snip_ranking_count(r)));
    assert_string_equal(json_string_value(json_object_get(o, "model")), snip_model_hash(model));
}

/* Rows of weight 0 have no part in a ranking, and only a ranking takes weights. */
static void weights_are_for_rankings(void **state)
{
    (void)state;
    double *weight = calloc(table.rows, sizeof *weight);
    assert_non_null(weight);
    const snip_rank_options options = { .weight = weight };
    snip_expr *e = parsed(candidates[0]);
    snip_ranking *r;
    snip_explanation *x;
    snip_status st;
    for (size_t i = 0; i < table.rows / 2; i++)
        weight[i] = 0.1;
    snip_table half = table;
    half.rows = table.rows / 2;
    snip_ranking *of_half;
    const snip_expr *const list[] = { e };
    assert_int_equal(snip_rank(&r, model, &table, list, 1, &options, &st), SNIP_OK);
    assert_int_equal(snip_rank(&of_half, model, &half, list, 1, NULL, &st), SNIP_OK);
    const snip_ranked *one = snip_ranking_at(r, 0), *two = snip_ranking_at(of_half, 0);
    assert_true(fabs(one->r2_train - two->r2_train) < 1e-9);
    assert_true(fabs(one->r2_val - two->r2_val) < 1e-9);
    snip_ranking_free(r);
    snip_ranking_free(of_half);
    assert_int_equal(snip_explain(&x, model, &table, e, 3, &options, &st), SNIP_UNSUPPORTED);
    assert_string_equal(st.msg, "only a ranking knows weights");
    assert_null(x);
    snip_expr_free(e);
    free(weight);
}

static void rankings_are_the_commands(void **state)
{
    (void)state;
    static const struct {
        const char *arguments;
        snip_rank_options options;
    } cases[] = {
        { "rank table.csv formulas", { 0 } },
        { "rank table.csv formulas --by loss --starts 1", { .order = SNIP_BY_LOSS, .starts = 1 } },
        { "rank table.csv formulas --by balance", { .order = SNIP_BY_BALANCE, .threads = 2 } },
        { "rank table.csv formulas --by similarity", { .order = SNIP_BY_SIMILARITY } },
        { "rank table.csv formulas --as-given", { .keep_constants = 1 } },
    };
    char path[PATH];
    FILE *f = fopen(in_folder(path, "formulas"), "w");
    assert_non_null(f);
    for (size_t i = 0; i < CANDIDATES; i++)
        fprintf(f, "%s\n", candidates[i]);
    assert_int_equal(fclose(f), 0);
    snip_expr *e[CANDIDATES];
    parse_all(e);
    for (size_t i = 0; i < COUNT(cases); i++) {
        json_t *o = command(cases[i].arguments);
        snip_ranking *r = ranked(e, CANDIDATES, &cases[i].options);
        same_ranking(o, r, 1);
        snip_ranking_free(r);
        if (i == 0) { /* no options are the usual ones */
            r = ranked(e, CANDIDATES, NULL);
            same_ranking(o, r, 1);
            snip_ranking_free(r);
        }
        json_decref(o);
    }
    free_all(e, CANDIDATES);
}

static void rankings_of_few_and_bad(void **state)
{
    (void)state;
    snip_status st;
    snip_ranking *r = ranked(NULL, 0, NULL);
    assert_int_equal(snip_ranking_count(r), 0);
    assert_null(snip_ranking_at(r, 0));
    snip_ranking_free(r);
    snip_ranking_free(NULL);

    snip_expr *e[] = { parsed("u + 1"), parsed("x3 + x0"), parsed("floor(u)"), parsed("log(v)") };
    const snip_expr *const *all = (const snip_expr *const *)e;
    assert_int_equal(snip_rank(&r, model, &table, all, 4, NULL, &st), SNIP_FORMAT);
    assert_null(r);
    assert_int_equal(st.pos, 1);
    assert_non_null(strstr(st.msg, "formula 1 needs 4 inputs, the table has 3"));
    assert_int_equal(snip_rank(&r, model, &table, all, 4, NULL, NULL), SNIP_FORMAT);
    const snip_expr *some[] = { e[0], NULL };
    float *z = rows_of(2);
    assert_int_equal(snip_rank(&r, model, &table, some, 2, NULL, &st), SNIP_FORMAT);
    assert_null(r);
    assert_int_equal(st.pos, 1);
    assert_string_equal(st.msg, "formula 1 is NULL");
    assert_int_equal(snip_embed_formulas(model, some, 2, 1, z, &st), SNIP_FORMAT);
    assert_int_equal(st.pos, 1);
    assert_int_equal(snip_embed_formulas(model, some, 2, 1, z, NULL), SNIP_FORMAT);
    free(z);
    /* No words: errors, but no similarity. Not finite: none of both. */
    assert_int_equal(snip_rank(&r, model, &table, all + 2, 2, NULL, &st), SNIP_OK);
    assert_int_equal(snip_ranking_at(r, 0)->place, 0);
    assert_true(isnan(snip_ranking_at(r, 0)->similarity) &&
                isfinite(snip_ranking_at(r, 0)->r2_val));
    assert_non_null(strstr(snip_ranking_at(r, 0)->no_similarity, "floor"));
    assert_non_null(strstr(snip_ranking_at(r, 1)->no_similarity, "no finite value"));
    assert_true(isnan(snip_ranking_at(r, 1)->similarity) && isnan(snip_ranking_at(r, 1)->r2_train));
    snip_ranking_free(r);
    free_all(e, 4);
}

static void same_rankings(const snip_ranking *a, const snip_ranking *b)
{
    assert_int_equal(snip_ranking_count(a), snip_ranking_count(b));
    for (size_t i = 0; i < snip_ranking_count(a); i++) {
        snip_ranked x = *snip_ranking_at(a, i), z = *snip_ranking_at(b, i);
        char left[1000], right[1000];
        snip_expr_print(x.formula, SNIP_PREFIX, left, sizeof left);
        snip_expr_print(z.formula, SNIP_PREFIX, right, sizeof right);
        assert_string_equal(left, right);
        assert_memory_equal(&x.similarity, &z.similarity, sizeof(double));
        assert_memory_equal(&x.loss_train, &z.loss_train, 4 * sizeof(double));
        assert_memory_equal(&x.score, &z.score, sizeof(double));
        assert_int_equal(x.place, z.place);
    }
}

static snip_index *library(void)
{
    snip_index *ix;
    snip_status st;
    char path[PATH];
    if (snip_index_open(&ix, in_folder(path, "library.db"), model, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return ix;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    enum { MANY = 70 };
    size_t width = snip_model_width(model);
    snip_expr *e[CANDIDATES], *many[MANY];
    snip_ranking *first = NULL, *found = NULL;
    snip_index *ix = library();
    float *z = rows_of(MANY), *other = rows_of(MANY);
    parse_all(e);
    for (int i = 0; i < MANY; i++) {
        char text[64];
        snprintf(text, sizeof text, "sin(%d.%d*u) + v^%d", i, i % 7, 2 + i % 4);
        many[i] = parsed(text);
    }
    for (int threads = 1; threads <= 3; threads++) {
        const snip_rank_options options = { .threads = threads };
        snip_status st;
        snip_ranking *r = ranked(e, CANDIDATES, &options), *near;
        assert_int_equal(snip_embed_formulas(model, (const snip_expr *const *)many, MANY, threads,
                                             threads == 1 ? z : other, &st),
                         SNIP_OK);
        assert_int_equal(snip_find(&near, model, ix, &table, 8, &options, &st), SNIP_OK);
        if (threads == 1) {
            first = r;
            found = near;
            continue;
        }
        assert_memory_equal(z, other, MANY * width * sizeof *z);
        same_rankings(first, r);
        same_rankings(found, near);
        snip_ranking_free(r);
        snip_ranking_free(near);
    }
    snip_ranking_free(first);
    snip_ranking_free(found);
    snip_index_close(ix);
    free_all(e, CANDIDATES);
    free_all(many, MANY);
    free(other);
    free(z);
}

static void a_library_is_searched(void **state)
{
    (void)state;
    snip_index *ix = library();
    snip_ranking *r;
    snip_status st;
    assert_int_equal(snip_index_count(ix), 500);
    const snip_rank_options given = { .keep_constants = 1, .order = SNIP_BY_SIMILARITY },
                            refit = { .order = SNIP_BY_BALANCE };
    json_t *o = command("find table.csv --index library.db -k 12");
    assert_int_equal(snip_find(&r, model, ix, &table, 12, &given, &st), SNIP_OK);
    assert_int_equal(snip_ranking_count(r), 12);
    same_ranking(o, r, 0);
    snip_ranking_free(r);
    json_decref(o);
    o = command("find table.csv --index library.db -k 12 --refit");
    assert_int_equal(snip_find(&r, model, ix, &table, 12, &refit, &st), SNIP_OK);
    same_ranking(o, r, 0);
    snip_ranking_free(r);
    json_decref(o);

    assert_int_equal(snip_find(&r, model, ix, &table, 0, NULL, &st), SNIP_OK);
    assert_int_equal(snip_ranking_count(r), 0);
    snip_ranking_free(r);
    assert_int_equal(snip_find(&r, model, ix, &table, (size_t)-1, &given, &st), SNIP_OK);
    assert_true(snip_ranking_count(r) > 0 && snip_ranking_count(r) <= 500);
    snip_ranking_free(r);
    snip_index_close(ix);
    snip_index_close(NULL);
}

static void a_library_belongs_to_its_model(void **state)
{
    (void)state;
    char path[PATH];
    snip_model *narrow;
    snip_index *ix = (snip_index *)&path;
    snip_ranking *r = (snip_ranking *)&path;
    snip_status st;
    snip_table t = table;
    t.inputs = 2;
    assert_int_equal(snip_model_open(&narrow, in_folder(path, "narrow.safetensors"), NULL),
                     SNIP_OK);
    assert_int_equal(snip_index_open(&ix, in_folder(path, "library.db"), narrow, &st), SNIP_FORMAT);
    assert_null(ix);
    assert_non_null(strstr(st.msg, "model"));
    assert_int_equal(snip_index_open(&ix, in_folder(path, "none.db"), model, &st), SNIP_IO);
    assert_int_equal(snip_index_open(&ix, in_folder(path, "table.csv"), model, NULL), SNIP_FORMAT);
    /* Its vectors may have another length: not even looked at. */
    ix = library();
    assert_int_equal(snip_find(&r, narrow, ix, &t, 3, NULL, &st), SNIP_FORMAT);
    assert_null(r);
    assert_non_null(strstr(st.msg, "another model"));
    snip_index_close(ix);
    snip_model_close(narrow);
}

/* A fitted law is the one that the command prints, to the last bit. */
static void estimates_are_the_commands(void **state)
{
    (void)state;
    static const snip_parameter some[] = { { "A", 2, 0, 0, 0 }, { "n", 0.4, 0.1, 0.9, 0 } };
    static const snip_parameter fixed[] = { { "A", 3, 0, 0, 1 }, { "B", NAN, -1, INFINITY, 0 } };
    static double sigma[ROWS];
    for (int i = 0; i < ROWS; i++)
        sigma[i] = 0.01;
    static const struct {
        const char *arguments, *formula;
        snip_estimate_options options;
    } cases[] = {
        { "fit-constants table.csv 'A*u^n - 0.4*v' --param A=2,n=0.4 --bounds n=0.1:0.9",
          "A*u^n - 0.4*v",
          { .param = some, .params = 2 } },
        { "fit-constants table.csv 'A*sqrt(u) + B*v' --fix A=3 --bounds B=-1: --level 0.9",
          "A*sqrt(u) + B*v",
          { .param = fixed, .params = 2, .level = 0.9 } },
        { "fit-constants table.csv '2*sqrt(u) + 1*v + C' --numbers all",
          "2*sqrt(u) + 1*v + C",
          { .numbers = SNIP_NUMBERS_ALL } },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        json_t *o = command(cases[i].arguments);
        const json_t *list = json_object_get(o, "parameters");
        snip_estimate *x;
        snip_status st;
        if (snip_estimate_law(&x, &table, cases[i].formula, &cases[i].options, &st) != SNIP_OK)
            fail_msg("%s", st.msg);
        const snip_quality *q = snip_estimate_quality(x);
        size_t n = snip_estimate_count(x);
        assert_int_equal(n, json_array_size(list));
        for (size_t k = 0; k < n; k++) {
            const json_t *want = json_array_get(list, k);
            const snip_estimated *one = snip_estimate_at(x, k);
            assert_string_equal(one->name, json_string_value(json_object_get(want, "name")));
            assert_string_equal(one->state, json_string_value(json_object_get(want, "state")));
            same_number(want, "estimate", one->value);
            same_number(want, "std_error", one->error);
            same_number(want, "low", one->low);
            same_number(want, "high", one->high);
            for (size_t j = 0; j < n; j++) {
                const json_t *row = json_array_get(json_object_get(o, "correlations"), k);
                const json_t *cell = json_array_get(row, j);
                double got = snip_estimate_correlation(x, k, j);
                assert_true(json_is_null(cell) ? isnan(got) : json_number_value(cell) == got);
            }
        }
        same_formula(o, "equation", snip_estimate_formula(x));
        same_number(o, "rows", (double)q->rows);
        same_number(o, "degrees_of_freedom", (double)q->freedom);
        same_number(o, "rss", q->rss);
        same_number(o, "deviation", q->deviation);
        same_number(o, "r2", q->r2);
        same_number(o, "aic", q->aic);
        same_number(o, "bic", q->bic);
        assert_null(snip_estimate_at(x, n));
        assert_true(isnan(snip_estimate_correlation(x, n, 0)));
        snip_estimate_free(x);
        json_decref(o);
    }
    snip_estimate_free(NULL);

    static const snip_parameter unknown[] = { { "Z", 1, 0, 0, 0 } },
                                outside[] = { { "A", 5, 0, 1, 0 } },
                                no_value[] = { { "A", NAN, 0, 0, 1 } };
    static const struct {
        const char *formula, *says;
        snip_code code;
        snip_estimate_options options;
    } wrong[] = {
        { "A*u +", "", SNIP_SYNTAX, { 0 } },
        { "A*u", "no parameter 'Z'", SNIP_FORMAT, { .param = unknown, .params = 1 } },
        { "A*u", "outside its bounds", SNIP_FORMAT, { .param = outside, .params = 1 } },
        { "A*u", "has no value", SNIP_FORMAT, { .param = no_value, .params = 1 } },
        { "A*u", "not both", SNIP_FORMAT, { .weight = sigma, .sigma = sigma } },
        { "A*u", "between 0 and 1", SNIP_FORMAT, { .level = 2 } },
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        snip_estimate *x = (snip_estimate *)&table;
        snip_status st;
        assert_int_equal(snip_estimate_law(&x, &table, wrong[i].formula, &wrong[i].options, &st),
                         wrong[i].code);
        assert_null(x);
        assert_non_null(strstr(st.msg, wrong[i].says));
    }
}

static void explanations_are_the_commands(void **state)
{
    (void)state;
    json_t *o = command("explain table.csv '2*u + 0.1*v' --top 6");
    snip_expr *e = parsed("2*u + 0.1*v");
    const json_t *nodes = json_object_get(o, "nodes"), *edits = json_object_get(o, "edits");
    for (int threads = 0; threads <= 3; threads++) {
        snip_explanation *x;
        snip_status st;
        const snip_rank_options options = { .threads = threads };
        assert_int_equal(snip_explain(&x, model, &table, e, 6, threads ? &options : NULL, &st),
                         SNIP_OK);
        same_formula(o, "equation", snip_explanation_formula(x));
        same_number(o, "similarity", snip_explanation_similarity(x));
        size_t n = snip_expr_nodes(snip_explanation_formula(x));
        assert_int_equal(json_array_size(nodes), n);
        for (size_t i = 0; i < n; i++)
            same_number(json_array_get(nodes, i), "gain", snip_explanation_gain(x, i));
        assert_true(isnan(snip_explanation_gain(x, n)));
        assert_true(isnan(snip_explanation_gain(x, 2))); /* the constant of 2*u */
        assert_int_equal(snip_explanation_count(x), 6);
        for (size_t i = 0; i < 6; i++) {
            const json_t *want = json_array_get(edits, i);
            const snip_edit *edit = snip_explanation_at(x, i);
            same_number(want, "node", (double)edit->node);
            same_number(want, "gain", edit->gain);
            same_formula(want, "refitted_equation", edit->formula);
            assert_string_equal(json_string_value(json_object_get(want, "edit")), edit->text);
            same_number(json_object_get(want, "errors"), "r2_train", edit->r2_train);
            same_number(json_object_get(want, "errors"), "r2_val", edit->r2_val);
            const json_t *after = json_object_get(want, "refitted_errors");
            same_number(after, "r2_train", edit->refitted_r2_train);
            same_number(after, "r2_val", edit->refitted_r2_val);
        }
        assert_null(snip_explanation_at(x, 6));
        snip_explanation_free(x);
    }
    snip_explanation_free(NULL);
    snip_expr_free(e);
    json_decref(o);
}

static void explanations_of_few_and_bad(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        snip_code code;
        const char *says;
    } cases[] = {
        { "x3 + 1", SNIP_FORMAT, "needs 4 inputs" },
        { "log(v)", SNIP_UNSUPPORTED, "no finite value" },
        { "floor(u)", SNIP_UNSUPPORTED, "floor" },
    };
    snip_explanation *x;
    snip_status st;
    snip_expr *e = parsed("2*u");
    const snip_rank_options given = { .keep_constants = 1 };
    assert_int_equal(snip_explain(&x, model, &table, e, 0, &given, &st), SNIP_OK);
    assert_int_equal(snip_explanation_count(x), 0);
    char text[32];
    snip_expr_print(snip_explanation_formula(x), SNIP_INFIX, text, sizeof text);
    assert_string_equal(text, "2*u");
    assert_false(isnan(snip_explanation_gain(x, 0)));
    snip_explanation_free(x);
    snip_expr_free(e);
    for (size_t i = 0; i < COUNT(cases); i++) {
        e = parsed(cases[i].text);
        x = (snip_explanation *)&st;
        assert_int_equal(snip_explain(&x, model, &table, e, 3, NULL, &st), cases[i].code);
        assert_null(x);
        if (!strstr(st.msg, cases[i].says))
            fail_msg("'%s' does not say '%s'", st.msg, cases[i].says);
        assert_int_equal(snip_explain(&x, model, &table, e, 3, NULL, NULL), cases[i].code);
        snip_expr_free(e);
    }
    /* A constant has nothing to edit. */
    e = parsed("2.5");
    assert_int_equal(snip_explain(&x, model, &table, e, 3, NULL, &st), SNIP_OK);
    assert_int_equal(snip_explanation_count(x), 0);
    assert_true(isnan(snip_explanation_gain(x, 0)));
    snip_explanation_free(x);
    snip_expr_free(e);
}

/* The caller's locale may have a decimal comma, or a sign of two bytes; nothing may change. The
 * constant of the formula is a tie that decimal digits decide. */
static void locales_do_not_matter(void **state)
{
    (void)state;
    static const char *const locales[] = { "C", "de_DE.UTF-8", "ps_AF.UTF-8" };
    char path[PATH], first[200] = "";
    float *z = rows_of(1), *other = rows_of(1);
    snip_ranking *want = NULL, *want_found = NULL;
    int met = 0;
    setenv("LOCPATH", in_folder(path, "locale"), 1);
    for (size_t i = 0; i < COUNT(locales); i++) {
        if (!setlocale(LC_ALL, locales[i]))
            continue;
        met++;
        snip_status st;
        snip_model *m;
        assert_int_equal(snip_model_open(&m, in_folder(path, "model.safetensors"), &st), SNIP_OK);
        snip_expr *e = parsed("1.0005*sqrt(u) + 0.5*v");
        const snip_expr *one[] = { e };
        assert_int_equal(snip_embed_formulas(m, one, 1, 1, i ? other : z, &st), SNIP_OK);
        snip_index *ix = library();
        snip_ranking *r = ranked(&e, 1, NULL), *found;
        snip_explanation *x;
        assert_int_equal(snip_find(&found, m, ix, &table, 5, NULL, &st), SNIP_OK);
        assert_int_equal(snip_explain(&x, m, &table, e, 3, NULL, &st), SNIP_OK);
        if (i) {
            assert_memory_equal(z, other, snip_model_width(m) * sizeof *z);
            same_rankings(want, r);
            same_rankings(want_found, found);
            assert_string_equal(snip_explanation_at(x, 0)->text, first);
            snip_ranking_free(r);
            snip_ranking_free(found);
        } else {
            want = r;
            want_found = found;
            snprintf(first, sizeof first, "%s", snip_explanation_at(x, 0)->text);
        }
        snip_explanation_free(x);
        snip_index_close(ix);
        snip_expr_free(e);
        snip_model_close(m);
    }
    setlocale(LC_ALL, "C");
    snip_ranking_free(want);
    snip_ranking_free(want_found);
    free(other);
    free(z);
    if (met < 3)
        skip(); /* these locales could not be made here */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_opened_or_refused),
        cmocka_unit_test(formulas_become_vectors),
        cmocka_unit_test(formulas_without_words_are_named),
        cmocka_unit_test(parts_are_seen_in_context),
        cmocka_unit_test(a_table_becomes_a_vector),
        cmocka_unit_test(forms_become_vectors),
        cmocka_unit_test(a_table_becomes_a_vector_each_way_up),
        cmocka_unit_test(bad_tables_are_refused),
        cmocka_unit_test(weights_are_for_rankings),
        cmocka_unit_test(rankings_are_the_commands),
        cmocka_unit_test(rankings_of_few_and_bad),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_library_is_searched),
        cmocka_unit_test(a_library_belongs_to_its_model),
        cmocka_unit_test(estimates_are_the_commands),
        cmocka_unit_test(explanations_are_the_commands),
        cmocka_unit_test(explanations_of_few_and_bad),
        cmocka_unit_test(locales_do_not_matter),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
