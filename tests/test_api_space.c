/* test_api_space.c - models and embeddings as a user's program has them, and tables that are
 * refused. */
#include "api_task.h"

static void assert_unit(const float *z)
{
    double sum = 0;
    for (size_t i = 0; i < snip_model_width(model); i++)
        sum += (double)z[i] * z[i];
    assert_true(fabs(sum - 1) < 1e-5);
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

static void a_formula_of_null_is_refused(void **state)
{
    (void)state;
    snip_status st;
    snip_expr *e, *out = (snip_expr *)&st;
    double value = 5, y = 0;
    const double *const x[] = { &value };
    says_null(snip_expr_parse(&out, NULL, NULL, 0, &st), &st, "the formula");
    assert_null(out);
    says_null(snip_expr_parse(NULL, "1", NULL, 0, &st), &st, "out");
    assert_int_equal(snip_expr_parse(&out, NULL, NULL, 0, NULL), SNIP_FORMAT);
    assert_int_equal(snip_expr_parse(&e, "2 + x0", NULL, 1, &st), SNIP_OK); /* names may be NULL */

    out = (snip_expr *)&st;
    says_null(snip_expr_bind(&out, NULL, names, 1, &st), &st, "the formula");
    assert_null(out);
    says_null(snip_expr_bind(&out, e, NULL, 1, &st), &st, "the list of names");
    says_null(snip_expr_bind(NULL, e, names, 1, &st), &st, "out");
    says_null(snip_expr_normal(&out, NULL, 0, &st), &st, "the formula");
    says_null(snip_expr_normal(NULL, e, 0, &st), &st, "out");

    says_null(snip_expr_eval(NULL, x, 1, 1, &y, NULL, &st), &st, "the formula");
    says_null(snip_expr_eval(e, NULL, 1, 1, &y, NULL, &st), &st, "x");
    says_null(snip_expr_eval(e, x, 1, 1, NULL, NULL, &st), &st, "y");
    assert_int_equal(snip_expr_eval(e, x, 1, 0, NULL, NULL, &st), SNIP_OK);
    assert_int_equal(snip_expr_eval(e, NULL, 0, 1, &y, NULL, &st), SNIP_FORMAT);
    assert_string_equal(st.msg, "the formula needs 1 column, there are 0");

    char text[8] = "old";
    assert_int_equal(snip_expr_print(NULL, SNIP_INFIX, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(snip_expr_print(e, SNIP_INFIX, NULL, 8), strlen("2 + x0"));
    assert_int_equal(snip_expr_nodes(NULL), 0);
    assert_int_equal(snip_expr_inputs(NULL), 0);
    snip_expr_free(e);
}

static void a_model_of_null_is_refused(void **state)
{
    (void)state;
    snip_status st;
    snip_expr *e = parsed("2*u");
    const snip_expr *const some[] = { e };
    float *z = rows_of(2);
    snip_model *m = (snip_model *)&st;
    says_null(snip_model_open(&m, NULL, &st), &st, "the path");
    assert_null(m);
    says_null(snip_model_open(NULL, "model.safetensors", &st), &st, "out");
    assert_int_equal(snip_model_width(NULL), 0);
    assert_int_equal(snip_model_inputs(NULL), 0);
    assert_int_equal(snip_model_forms(NULL), 0);
    assert_null(snip_model_hash(NULL));

    says_null(snip_embed_formulas(NULL, some, 1, 1, z, &st), &st, "the model");
    says_null(snip_embed_formulas(model, NULL, 1, 1, z, &st), &st, "the list of formulas");
    says_null(snip_embed_formulas(model, some, 1, 1, NULL, &st), &st, "out");
    assert_int_equal(snip_embed_formulas(model, NULL, 0, 1, NULL, &st), SNIP_OK);
    says_null(snip_embed_forms(NULL, some, 1, 1, z, &st), &st, "the model");
    says_null(snip_embed_parts(NULL, e, 1, z, &st), &st, "the model");
    says_null(snip_embed_parts(model, NULL, 1, z, &st), &st, "the formula");
    says_null(snip_embed_parts(model, e, 1, NULL, &st), &st, "out");
    says_null(snip_embed_table(NULL, &table, 1, z, &st), &st, "the model");
    says_null(snip_embed_table(model, NULL, 1, z, &st), &st, "the table");
    says_null(snip_embed_table_form(model, &table, 1, NULL, &st), &st, "out");
    snip_expr_free(e);
    free(z);
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
        cmocka_unit_test(a_formula_of_null_is_refused),
        cmocka_unit_test(a_model_of_null_is_refused),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
