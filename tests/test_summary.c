/* test_summary.c - statistics of tables: known answers on planted ones. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "model/summary.h"

enum { ROWS = 200, DIM = 3 };

static double x[DIM][ROWS];

/* Standard normal columns. */
static const double *const *columns(void)
{
    static const double *all[DIM];
    rng r;
    rng_init(&r, 11, RNG_BENCH, 0);
    for (int j = 0; j < DIM; j++) {
        all[j] = x[j];
        for (int i = 0; i < ROWS; i++) {
            double u = 1 - rng_uniform(&r), v = rng_uniform(&r);
            x[j][i] = sqrt(-2 * log(u)) * cos(2 * M_PI * v);
        }
    }
    return all;
}

static model_summary summary_of(const double *y, int most, arena *a)
{
    model_summary s;
    model_columns *c = model_columns_new(columns(), DIM, ROWS, 0, a);
    assert_non_null(c);
    assert_true(model_summary_new(&s, DIM, most, 0, a));
    assert_true(model_summary_make(&s, c, y, 0, a));
    return s;
}

/* Parts of an atom's features. */
static int shape_of(const float *atom)
{
    for (int k = 0; k < MODEL_SHAPES_COUNT; k++)
        if (atom[MODEL_VALUE_FEATURES + 4 + k] == 1)
            return k;
    return -1;
}

static int power_of(const float *atom, int input)
{
    return (int)atom[MODEL_VALUE_FEATURES + 4 + MODEL_SHAPES_COUNT + input];
}

static void features_tell_numbers_apart(void **state)
{
    (void)state;
    float a[MODEL_VALUE_FEATURES], b[MODEL_VALUE_FEATURES];
    model_value_features(a, 2);
    model_value_features(b, -2);
    assert_true(a[0] == -b[0] && a[6] == 1 && b[6] == -1 && a[7] == b[7]);
    model_value_features(b, 20); /* the same digits in another decade */
    for (int i = 9; i < MODEL_VALUE_FEATURES; i++)
        assert_true(fabsf(a[i] - b[i]) < 1e-5f);
    assert_true(fabsf(b[7] - a[7] - 0.25f) < 1e-6f);
    model_value_features(a, 0);
    assert_true(a[0] == 0 && a[6] == 0);
    const double extremes[] = { 1e103, -1e103, 1e-300, 5e-324, 0 };
    for (size_t k = 0; k < sizeof extremes / sizeof *extremes; k++) {
        model_value_features(a, extremes[k]);
        for (int i = 0; i < MODEL_VALUE_FEATURES; i++)
            assert_true(isfinite(a[i]) && fabsf(a[i]) <= 8);
    }
}

static void the_fit_finds_planted_terms(void **state)
{
    arena *a = *state;
    double y[ROWS];
    columns();
    for (int i = 0; i < ROWS; i++)
        y[i] = 4 + 3 * x[0][i] * x[1][i] - 0.5 * sin(2 * x[2][i]);
    model_summary s = summary_of(y, 12, a);
    assert_int_equal(s.atoms, 2); /* nothing is left after these */
    const float *product = s.atom, *wave = s.atom + MODEL_SUMMARY_ATOM;
    assert_int_equal(shape_of(product), MODEL_X);
    assert_true(power_of(product, 0) == 1 && power_of(product, 1) == 1 &&
                power_of(product, 2) == 0);
    assert_int_equal(shape_of(wave), MODEL_SIN2);
    assert_true(power_of(wave, 2) == 1 && power_of(wave, 0) == 0);
    float want[MODEL_VALUE_FEATURES];
    model_value_features(want, 3);
    for (int i = 0; i < MODEL_VALUE_FEATURES; i++)
        assert_true(fabsf(product[i] - want[i]) < 2e-3f);
    model_value_features(want, -0.5);
    for (int i = 0; i < MODEL_VALUE_FEATURES; i++)
        assert_true(fabsf(wave[i] - want[i]) < 2e-3f);
    model_value_features(want, 4); /* the intercept is the last of y's values */
    for (int i = 0; i < MODEL_VALUE_FEATURES; i++)
        assert_true(fabsf(s.y[10 * MODEL_VALUE_FEATURES + i] - want[i]) < 2e-3f);
}

static void inputs_show_what_they_do(void **state)
{
    arena *a = *state;
    double y[ROWS];
    columns();
    for (int i = 0; i < ROWS; i++)
        y[i] = -2 * x[1][i];
    model_summary s = summary_of(y, 4, a);
    for (int j = 0; j < DIM; j++) {
        const float *in = s.input + j * MODEL_SUMMARY_INPUT;
        /* The correlation of x itself with y near its median comes first. */
        assert_true(j == 1 ? in[0] < -0.999f : fabsf(in[0]) < 0.3f);
        float want[MODEL_VALUE_FEATURES];
        model_value_features(want, -2);
        const float *slope = in + MODEL_SHAPES_COUNT * MODEL_TARGETS + 2 * MODEL_BINS;
        assert_true(j != 1 || fabsf(slope[0] - want[0]) < 1e-2f);
        for (int d = 0; d < DATA_DIMS_MAX; d++) /* which input it is */
            assert_true(slope[MODEL_VALUE_FEATURES + d] == (d == j));
    }
}

static void odd_tables_give_finite_numbers(void **state)
{
    arena *a = *state;
    double y[ROWS];
    columns();
    for (int kind = 0; kind < 6; kind++) {
        for (int i = 0; i < ROWS; i++)
            switch (kind) {
            case 0:
                y[i] = 0;
                break;
            case 1:
                y[i] = 7.25;
                break;
            case 2: /* most values are the same */
                y[i] = i % 5 ? 1 : x[0][i];
                break;
            case 3:
                y[i] = pow(10, 100 * tanh(x[0][i]));
                break;
            case 4:
                y[i] = 1e-300 * x[0][i];
                break;
            default:
                y[i] = i ? x[0][i] : 1e103;
            }
        model_summary s = summary_of(y, 12, a);
        for (int i = 0; i < MODEL_SUMMARY_Y; i++)
            assert_true(isfinite(s.y[i]) && fabsf(s.y[i]) < 100);
        for (int i = 0; i < DIM * MODEL_SUMMARY_INPUT; i++)
            assert_true(isfinite(s.input[i]) && fabsf(s.input[i]) < 100);
        for (int i = 0; i < s.atoms * MODEL_SUMMARY_ATOM; i++)
            assert_true(isfinite(s.atom[i]) && fabsf(s.atom[i]) < 100);
        assert_true(kind > 1 || s.atoms == 0); /* a constant needs no terms */
    }
}

/* A form's table in any unit and with any offset reads the same; turned upside down it does not. */
static void forms_have_no_unit(void **state)
{
    static const double factor[] = { 1, 1e4, 3e-7, 1e200, 1e-200, 7 },
                        offset[] = { 0, 0, 0, 0, 0, 273.15 };
    const double *const *all = columns();
    model_columns *c = model_columns_new(all, DIM, ROWS, 0, *state);
    model_summary s[7];
    double y[ROWS], standard[ROWS];
    for (int k = 0; k < 7; k++) {
        for (int i = 0; i < ROWS; i++) {
            double v = exp(x[0][i]) + x[1][i] * x[2][i];
            y[i] = k < 6 ? factor[k] * v + offset[k] : -v;
        }
        model_standardise(standard, y, ROWS);
        assert_true(model_summary_new(&s[k], DIM, 8, 0, *state));
        assert_true(model_summary_make(&s[k], c, standard, 1, *state));
        double apart = 0;
        for (int i = 0; i < MODEL_SUMMARY_Y; i++)
            apart = fmax(apart, fabs((double)s[k].y[i] - (double)s[0].y[i]));
        for (int i = 0; i < DIM * MODEL_SUMMARY_INPUT; i++)
            apart = fmax(apart, fabs((double)s[k].input[i] - (double)s[0].input[i]));
        assert_int_equal(s[k].atoms, s[0].atoms);
        for (int i = 0; i < s[0].atoms * MODEL_SUMMARY_ATOM; i++)
            apart = fmax(apart, fabs((double)s[k].atom[i] - (double)s[0].atom[i]));
        print_message("table %d: features differ by %.2g\n", k, apart);
        assert_true(k < 6 ? apart < 1e-3 : apart > 0.5);
    }
    memset(y, 0, sizeof y); /* what does not vary is 0 */
    model_standardise(standard, y, ROWS);
    assert_true(standard[0] == 0 && standard[ROWS - 1] == 0);
}

/* Constants of a formula: every one of these pairs is told apart. */
static void constant_features_tell_numbers_apart(void **state)
{
    (void)state;
    static const double pairs[][2] = { { 2, 2.05 },   { 1, -1 },       { 0, 1e-9 },
                                       { 1e5, 1e6 },  { 0.5, 5 },      { 3.14, 3.1 },
                                       { 1e-3, 1e3 }, { 1e80, 1e-80 }, { 0, 1 } };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        float f[2][MODEL_CONSTANT_FEATURES];
        double apart = 0;
        for (int side = 0; side < 2; side++)
            model_constant_features(f[side], pairs[k][side]);
        for (int i = 0; i < MODEL_CONSTANT_FEATURES; i++) {
            assert_true(isfinite(f[0][i]) && fabsf(f[0][i]) <= 8);
            apart += fabs((double)f[0][i] - (double)f[1][i]);
        }
        assert_true(apart > 0.2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_tell_numbers_apart),
        ARENA_TEST(the_fit_finds_planted_terms),
        ARENA_TEST(inputs_show_what_they_do),
        ARENA_TEST(odd_tables_give_finite_numbers),
        ARENA_TEST(forms_have_no_unit),
        cmocka_unit_test(constant_features_tell_numbers_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
