/* test_results.c - files of formulas, and results as JSON and pictures. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regress/formulas.h"
#include "regress/results.h"

static int setup(void **state)
{
    return (*state = arena_new(0)) == NULL;
}

static int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

/* Writes a file of its own; the name is in `path`. */
static void write_file(char path[32], const char *content)
{
    strcpy(path, "/tmp/snip_results_XXXXXX");
    int f = mkstemp(path);
    assert_true(f >= 0);
    assert_int_equal(write(f, content, strlen(content)), (ssize_t)strlen(content));
    close(f);
}

static void remember(void *with, const char *message)
{
    snprintf(with, 240, "%s", message);
}

static void plain_files_have_names_and_comments(void **state)
{
    char path[32];
    regress_formula *f;
    size_t n;
    snip_status st;
    write_file(path, "# a comment\n\n  x0 + 1 \nfall\tx0^2\n");
    assert_int_equal(regress_formulas_read(&f, &n, path, NULL, NULL, NULL, *state, &st), SNIP_OK);
    remove(path);
    assert_int_equal(n, 2);
    assert_string_equal(f[0].text, "x0 + 1");
    assert_null(f[0].name);
    assert_int_equal(f[1].number, 4);
    assert_string_equal(f[1].name, "fall");
    assert_int_equal(f[1].e.count, 2);
}

static void halls_of_fame_are_read(void **state)
{
    char path[32];
    regress_formula *f;
    size_t n;
    snip_status st;
    write_file(path, "Complexity,Loss,Equation\n1,0.5,\"x0\"\n3,0.1,\"x0 * 2.5\"\n");
    assert_int_equal(regress_formulas_read(&f, &n, path, NULL, NULL, NULL, *state, &st), SNIP_OK);
    remove(path);
    assert_int_equal(n, 2);
    assert_string_equal(f[1].text, "x0 * 2.5");
    assert_int_equal(f[1].number, 3);
}

/* A bad line is an error that says where it is, or is told of and left out. */
static void bad_lines_are_told(void **state)
{
    char path[32], told[240] = "", want[64];
    regress_formula *f;
    size_t n;
    snip_status st;
    write_file(path, "x0\nsin(\nx1\n");
    assert_int_equal(regress_formulas_read(&f, &n, path, NULL, NULL, NULL, *state, &st),
                     SNIP_SYNTAX);
    snprintf(want, sizeof want, "%s, line 2, byte 4", path);
    assert_non_null(strstr(st.msg, want));
    assert_int_equal(st.pos, 4);
    assert_int_equal(regress_formulas_read(&f, &n, path, NULL, remember, told, *state, &st),
                     SNIP_OK);
    remove(path);
    assert_int_equal(n, 2);
    assert_non_null(strstr(told, want));
    write_file(path, "# nothing\n");
    assert_int_equal(regress_formulas_read(&f, &n, path, NULL, remember, told, *state, &st),
                     SNIP_FORMAT);
    remove(path);
}

/* A fitted line y = a*t + b, t in a column whose name would break markup. */
static regress_fitted fitted(arena *a)
{
    enum { ROWS = 8 };
    static double t[ROWS], y[ROWS];
    static const double *x[] = { t };
    static const char *const names[] = { "t<&>" };
    static regress_law law;
    static regress_estimate r;
    static regress_estimate_data d;
    snip_status st;
    for (int i = 0; i < ROWS; i++) {
        t[i] = i;
        y[i] = 2 * i + 1 + (i % 2 ? .1 : -.1);
    }
    const expr_names columns = { names, 1 };
    assert_int_equal(
        regress_law_parse(&law, "a*`t<&>` + b", &columns, NULL, REGRESS_NUMBERS_DECIMAL, a, &st),
        SNIP_OK);
    d = (regress_estimate_data){ .x = x, .y = y, .rows = ROWS };
    assert_int_equal(
        regress_estimate_law(&r, &law, &d, &(regress_estimate_how){ .level = .95 }, a, &st),
        SNIP_OK);
    return (regress_fitted){
        .given = "a*t + b", .target = "y", .law = &law, .d = &d, .r = &r, .level = .95, .a = a
    };
}

static void fits_have_json_and_a_picture(void **state)
{
    regress_fitted f = fitted(*state);
    json_t *o = regress_fitted_json(&f);
    assert_non_null(o);
    const json_t *p = json_object_get(o, "parameters");
    assert_int_equal(json_array_size(p), 2);
    double slope = json_real_value(json_object_get(json_array_get(p, 0), "estimate"));
    assert_true(fabs(slope - f.r->param[0].value) < 1e-12 && fabs(slope - 2) < .1);
    json_decref(o);
    text t = { .a = *state };
    regress_fitted_svg(&t, &f);
    const char *svg = text_end(&t);
    assert_non_null(svg);
    assert_true(strncmp(svg, "<svg xmlns", 10) == 0);
    assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
    assert_null(strstr(svg, "t<&>"));
    assert_non_null(strstr(svg, "t&#60;&#38;&#62;"));
}

/* Memory that is out shows as NULL, not as half a picture. */
static void pictures_may_run_out_of_memory(void **state)
{
    regress_fitted f = fitted(*state);
    arena *small = arena_new(2000);
    text t = { .a = small };
    regress_fitted_svg(&t, &f);
    assert_null(text_end(&t));
    arena_free(small);
}

static void candidates_have_json(void **state)
{
    expr e;
    snip_status st;
    const char *const name[] = { "v" };
    const expr_names names = { name, 1 };
    assert_int_equal(expr_parse(&e, "2.5*v", &names, *state, &st), SNIP_OK);
    const regress_candidate c = { .e = e,
                                  .fitted = e,
                                  .text = "2.5*v",
                                  .place = 3,
                                  .similarity = NAN,
                                  .why = "no words",
                                  .errors = { .loss = { .5, INFINITY }, .cross = NAN } };
    json_t *o = regress_candidate_json(&c, &names, *state);
    assert_string_equal(json_string_value(json_object_get(o, "equation")), "2.5*v");
    assert_int_equal(json_integer_value(json_object_get(o, "place")), 3);
    assert_true(json_is_null(json_object_get(o, "similarity"))); /* JSON has no NaN */
    assert_true(json_is_null(json_object_get(o, "loss_val")));
    assert_string_equal(json_string_value(json_object_get(o, "no_similarity")), "no words");
    json_decref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plain_files_have_names_and_comments, setup, teardown),
        cmocka_unit_test_setup_teardown(halls_of_fame_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_lines_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(fits_have_json_and_a_picture, setup, teardown),
        cmocka_unit_test_setup_teardown(pictures_may_run_out_of_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(candidates_have_json, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
