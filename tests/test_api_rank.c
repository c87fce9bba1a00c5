/* test_api_rank.c - ranking, libraries, estimates and explanations as a user's program has them,
 * beside what the command prints. */
#include "api_task.h"

#include <jansson.h>
#include <locale.h>

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

static snip_ranking *ranked(snip_expr *const *e, size_t n, const snip_rank_options *options)
{
    snip_ranking *r;
    snip_status st;
    if (snip_rank(&r, model, &table, (const snip_expr *const *)e, n, options, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return r;
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

static void null_is_refused(void **state)
{
    (void)state;
    char path[PATH];
    snip_status st;
    snip_expr *e = parsed("2*u");
    const snip_expr *const some[] = { e };
    snip_ranking *r = (snip_ranking *)&st;
    says_null(snip_rank(&r, NULL, &table, some, 1, NULL, &st), &st, "the model");
    assert_null(r);
    says_null(snip_rank(&r, model, NULL, some, 1, NULL, &st), &st, "the table");
    says_null(snip_rank(&r, model, &table, NULL, 1, NULL, &st), &st, "the list of formulas");
    says_null(snip_rank(NULL, model, &table, some, 1, NULL, &st), &st, "out");
    assert_int_equal(snip_ranking_count(NULL), 0);
    assert_null(snip_ranking_at(NULL, 0));

    snip_index *ix = (snip_index *)&st;
    says_null(snip_index_open(&ix, NULL, model, &st), &st, "the path");
    assert_null(ix);
    says_null(snip_index_open(&ix, in_folder(path, "library.db"), NULL, &st), &st, "the model");
    says_null(snip_index_open(NULL, path, model, &st), &st, "out");
    assert_int_equal(snip_index_count(NULL), 0);
    ix = library();
    says_null(snip_find(&r, NULL, ix, &table, 1, NULL, &st), &st, "the model");
    says_null(snip_find(&r, model, NULL, &table, 1, NULL, &st), &st, "the library");
    says_null(snip_find(&r, model, ix, NULL, 1, NULL, &st), &st, "the table");
    says_null(snip_find(NULL, model, ix, &table, 1, NULL, &st), &st, "out");
    snip_index_close(ix);

    snip_explanation *x = (snip_explanation *)&st;
    says_null(snip_explain(&x, NULL, &table, e, 1, NULL, &st), &st, "the model");
    assert_null(x);
    says_null(snip_explain(&x, model, NULL, e, 1, NULL, &st), &st, "the table");
    says_null(snip_explain(&x, model, &table, NULL, 1, NULL, &st), &st, "the formula");
    says_null(snip_explain(NULL, model, &table, e, 1, NULL, &st), &st, "out");
    assert_null(snip_explanation_formula(NULL));
    assert_true(isnan(snip_explanation_similarity(NULL)));
    assert_true(isnan(snip_explanation_gain(NULL, 0)));
    assert_int_equal(snip_explanation_count(NULL), 0);
    assert_null(snip_explanation_at(NULL, 0));

    snip_estimate *law = (snip_estimate *)&st;
    const snip_estimate_options nameless = { .params = 1 };
    snip_table t = table;
    says_null(snip_estimate_law(&law, NULL, "A*u", NULL, &st), &st, "the table");
    assert_null(law);
    says_null(snip_estimate_law(&law, &table, NULL, NULL, &st), &st, "the formula");
    says_null(snip_estimate_law(&law, &table, "A*u", &nameless, &st), &st,
              "the list of parameters");
    says_null(snip_estimate_law(NULL, &table, "A*u", NULL, &st), &st, "out");
    t.y = NULL;
    assert_int_equal(snip_estimate_law(&law, &t, "A*u", NULL, &st), SNIP_FORMAT);
    assert_string_equal(st.msg, "the table has no target");
    t = table;
    t.x = NULL;
    assert_int_equal(snip_estimate_law(&law, &t, "A*u", NULL, &st), SNIP_FORMAT);
    assert_string_equal(st.msg, "the table has no columns");
    assert_int_equal(snip_estimate_count(NULL), 0);
    assert_null(snip_estimate_at(NULL, 0));
    assert_true(isnan(snip_estimate_correlation(NULL, 0, 0)));
    assert_null(snip_estimate_quality(NULL));
    assert_null(snip_estimate_formula(NULL));
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
        cmocka_unit_test(weights_are_for_rankings),
        cmocka_unit_test(rankings_are_the_commands),
        cmocka_unit_test(rankings_of_few_and_bad),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_library_is_searched),
        cmocka_unit_test(a_library_belongs_to_its_model),
        cmocka_unit_test(estimates_are_the_commands),
        cmocka_unit_test(explanations_are_the_commands),
        cmocka_unit_test(explanations_of_few_and_bad),
        cmocka_unit_test(null_is_refused),
        cmocka_unit_test(locales_do_not_matter),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
