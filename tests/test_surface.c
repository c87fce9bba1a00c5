/* test_surface.c - the smooth surface through a table's rows, and the features made of it. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "model/summary.h"
#include "model/surface.h"

enum { ROWS = 120, DIM = 3, POINTS = MODEL_SLOPE_POINTS, ALL = MODEL_SURFACE_POINTS };

typedef struct rows {
    const double *x[DIM];
    double value[DIM][ROWS];
} rows;

/* Columns uniform between -1.7 and 1.7, whose deviation is 1. */
static void draw(rows *to)
{
    rng r;
    rng_init(&r, 5, RNG_BENCH, 0);
    for (int j = 0; j < DIM; j++) {
        to->x[j] = to->value[j];
        for (int i = 0; i < ROWS; i++)
            to->value[j][i] = 3.4 * rng_uniform(&r) - 1.7;
    }
}

static model_surface_samples sample(const rows *from, size_t n, const float *target, arena *a)
{
    model_surface_samples c;
    model_surface *s = model_surface_new(from->x, DIM, n, a);
    assert_non_null(s);
    assert_true(model_surface_sample(&c, s, target, a));
    return c;
}

static double smooth(const double *x)
{
    return 1 + 2 * x[0] - 0.7 * x[1] + sin(x[0]) * x[1];
}

static double smooth_slope(const double *x, int by)
{
    return by == 0 ? 2 + cos(x[0]) * x[1] : by == 1 ? -0.7 + sin(x[0]) : 0;
}

/* What a formula's values and derivatives are at the points, the surface has there, too. */
static void a_surface_follows_its_function(void **state)
{
    rows from;
    float target[ROWS];
    double at[DATA_DIMS_MAX][ALL];
    draw(&from);
    for (int i = 0; i < ROWS; i++)
        target[i] = (float)smooth((double[]){ from.x[0][i], from.x[1][i], from.x[2][i] });
    model_surface_samples c = sample(&from, ROWS, target, *state);
    model_surface_points(at);
    for (int p = 0; p < ALL; p++) {
        const double z[DIM] = { at[0][p], at[1][p], at[2][p] };
        double doubt = sqrt(c.doubt[p]);
        print_message("value %.3f (%.3f), doubt %.4f\n", c.value[p], smooth(z), doubt);
        assert_true(fabs(c.value[p] - smooth(z)) < 0.02 + 2 * doubt);
        for (int j = 0; j < DIM && p < POINTS; j++)
            assert_true(fabs(c.slope[j][p] - smooth_slope(z, j)) < 0.05 + 4 * doubt);
    }
}

/* The same from the equations of surface.c, in double precision and by Gauss. */
static void a_surface_solves_its_equations(void **state)
{
    enum { N = 40 };
    rows from;
    float target[N];
    double at[DATA_DIMS_MAX][ALL], m[N][N + 1], mean = 0;
    draw(&from);
    for (int i = 0; i < N; i++) {
        target[i] = (float)cos(5 * from.x[0][i]) * 3;
        mean += (double)target[i] / N;
    }
#define COVARIANCE(out, a, b)                                                                      \
    do {                                                                                           \
        double away = 0, product = 0;                                                              \
        for (int j = 0; j < DIM; j++) {                                                            \
            away += ((a) - (b)) * ((a) - (b));                                                     \
            product += (a) * (b);                                                                  \
        }                                                                                          \
        (out) = exp(-away / (2 * DIM)) + product / DIM;                                            \
    } while (0)
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++)
            COVARIANCE(m[i][k], from.x[j][i], from.x[j][k]);
        m[i][i] += 0.01;
        m[i][N] = (double)target[i] - mean;
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            double f = k == i ? 0 : m[k][i] / m[i][i];
            for (int l = 0; l <= N; l++)
                m[k][l] -= f * m[i][l];
        }
    model_surface_samples c = sample(&from, N, target, *state);
    model_surface_points(at);
    for (int p = 0; p < ALL; p++) {
        double want = mean, k;
        for (int i = 0; i < N; i++) {
            COVARIANCE(k, from.x[j][i], at[j][p]);
            want += k * m[i][N] / m[i][i];
        }
        assert_true(fabs(c.value[p] - want) < 2e-3);
    }
#undef COVARIANCE
}

static void far_from_the_rows_is_doubt(void **state)
{
    rows from;
    float target[ROWS];
    draw(&from);
    for (int i = 0; i < ROWS; i++) {
        target[i] = (float)from.x[0][i];
        from.value[2][i] -= 3; /* all points lie on one side of the rows */
    }
    model_surface_samples away = sample(&from, ROWS, target, *state);
    draw(&from);
    model_surface_samples among = sample(&from, ROWS, target, *state);
    for (int p = 0; p < ALL; p++)
        assert_true(among.doubt[p] > 0 && among.doubt[p] < 0.05 && away.doubt[p] > among.doubt[p]);
}

/* Rows in another order, rows that occur twice, columns that are equal, values beyond all bounds:
 * the surface hardly moves, and stays finite. */
static void a_surface_is_robust(void **state)
{
    rows from, turned;
    float target[ROWS], back[ROWS];
    draw(&from);
    draw(&turned);
    for (int i = 0; i < ROWS; i++)
        target[i] = (float)smooth((double[]){ from.x[0][i], from.x[1][i], from.x[2][i] });
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < DIM; j++)
            turned.value[j][i] = from.value[j][ROWS - 1 - i];
        back[i] = target[ROWS - 1 - i];
    }
    model_surface_samples a = sample(&from, ROWS, target, *state),
                          b = sample(&turned, ROWS, back, *state);
    for (int p = 0; p < ALL; p++)
        assert_true(fabs(a.value[p] - b.value[p]) < 1e-3);
    for (int i = 0; i < ROWS; i++) {
        from.value[0][i] = from.value[1][i] = from.value[2][i] = i % 4 ? 1 : 1e9;
        target[i] = i % 4 ? -1 : 300;
    }
    a = sample(&from, ROWS, target, *state);
    for (int p = 0; p < ALL; p++) {
        assert_true(isfinite(a.value[p]) && fabs(a.value[p]) <= 20 && isfinite(a.doubt[p]));
        for (int j = 0; j < DIM && p < POINTS; j++)
            assert_true(isfinite(a.slope[j][p]));
    }
    /* Of more rows than it takes it sees all levels of an input, even one that repeats as often. */
    enum { MANY = 1024, LEVELS = 4 };
    const double *x[DIM];
    double many[DIM][MANY] = { { 0 } };
    float plane[MANY];
    for (int i = 0; i < MANY; i++) {
        many[0][i] = (double)i / 300 - 1.7;
        many[1][i] = i % LEVELS - 1.5;
        plane[i] = (float)(many[0][i] + 2 * many[1][i]);
    }
    for (int j = 0; j < DIM; j++)
        x[j] = many[j];
    model_surface *s = model_surface_new(x, DIM, MANY, *state);
    assert_true(s && model_surface_sample(&a, s, plane, *state));
    assert_true(fabs(a.slope[0][0] - 1) < 0.1 && fabs(a.slope[1][0] - 2) < 0.1);
}

/* A profile has no unit and no zero, and holds each value in its place. */
static void profiles_have_no_unit(void **state)
{
    (void)state;
    enum { N = MODEL_PROFILE_POINTS };
    double v[N], w[N];
    float one[N], other[N];
    for (int p = 0; p < N; p++) {
        v[p] = p == 5 ? NAN : p == 9 ? 1e4 : sin(2.0 * p);
        w[p] = 1e7 - 3e4 * v[p];
    }
    model_profile(one, v);
    model_profile(other, w);
    assert_true(one[5] == 0 && one[9] > 3);
    for (int p = 0; p < N; p++) {
        assert_true(fabsf(one[p] + other[p]) < 1e-4F);
        for (int q = 0; q < N; q++)
            assert_true(p == 5 || q == 5 || (v[p] < v[q]) == (one[p] < one[q]));
    }
    for (int kind = 0; kind < 3; kind++) { /* no values but one, one but for rounding, none */
        for (int p = 0; p < N; p++)
            v[p] = kind == 1 ? 3 + p * 4e-16 : kind == 0 && p % 2 ? 3 : INFINITY;
        model_profile(one, v);
        for (int p = 0; p < N; p++)
            assert_true(one[p] == 0);
    }
}

/* The points of profiles: within the box, no two of an input alike, all quarters of any two inputs
 * visited. */
static void points_fill_the_box(void **state)
{
    (void)state;
    double at[DATA_DIMS_MAX][MODEL_PROFILE_POINTS];
    model_profile_points(at);
    for (int j = 0; j < DATA_DIMS_MAX; j++)
        for (int k = 0; k < j; k++) {
            int seen[4] = { 0 };
            for (int p = 0; p < MODEL_PROFILE_POINTS; p++) {
                assert_true(fabs(at[j][p]) <= 1.5);
                for (int q = 0; q < p; q++)
                    assert_true(at[j][p] != at[j][q]);
                seen[2 * (at[j][p] > 0) + (at[k][p] > 0)]++;
            }
            for (int quarter = 0; quarter < 4; quarter++)
                assert_true(seen[quarter] >= 3);
        }
}

/* A formula's profile is that of a table of its function. A part of a form with free constants has
 * its profiles with 1, 2 and -1/2 in their places instead; fixed ones stay. */
static void formulas_and_tables_have_one_profile(void **state)
{
    enum { N = MODEL_PROFILE_POINTS, F = MODEL_PROFILE_FEATURES, NODES = 6, X1 = 1 };
    double at[DATA_DIMS_MAX][N], v[N];
    float want[N], slope[NODES * MODEL_SLOPE_FEATURES], profile[NODES * F];
    const float nothing[N] = { 0 };
    expr e = parsed("x1*sin(0.3*x0)", NULL, *state), fixed = parsed("x1*sin(0.3*x0)", NULL, *state);
    expr_set_fixed(fixed, 1);
    static const double constant[] = { 0.3, 1, 2, -0.5 };
    model_profile_points(at);
    for (int kind = 0; kind < 3; kind++) { /* a formula, a form, a form with nothing free */
        const int is_free = kind == 1;
        assert_true(model_slopes(slope, profile, kind == 2 ? fixed : e, kind > 0, *state));
        for (int k = 0; k < 4; k++) {
            for (int p = 0; p < N; p++)
                v[p] = at[1][p] * sin(constant[k] * at[0][p]);
            model_profile(want, v);
            for (int p = 0; p < N; p++) {
                float expected = is_free == (k > 0) ? want[p] : 0;
                assert_true(fabsf(profile[k * N + p] - expected) < 1e-5F);
            }
        }
        for (int p = 0; p < N; p++)
            assert_true(profile[4 * N + p] == 1);
        model_profile(want, at[1]); /* of a part without constants */
        assert_memory_equal(profile + X1 * F, want, sizeof want);
        for (int k = 1; k < 4; k++)
            assert_memory_equal(profile + X1 * F + k * N, nothing, sizeof nothing);
    }
    e = parsed("log(x0)", NULL, *state);
    assert_true(model_slopes(slope, profile, e, 0, *state));
    for (int p = 0; p < N; p++)
        assert_true(profile[4 * N + p] == (at[0][p] > 0) && profile[F + 4 * N + p] == 1);
}

/* What a table's tokens say agrees with the formula that made the table: its profile, its values
 * and slopes in their own sizes. */
static void features_are_of_the_function(void **state)
{
    enum { N = MODEL_PROFILE_POINTS, EACH = 5 /* features of a point of slopes */ };
    rows from;
    double y[ROWS], at[DATA_DIMS_MAX][N], z[DATA_DIMS_MAX][POINTS], v[N];
    float want[N];
    draw(&from);
    for (int i = 0; i < ROWS; i++)
        y[i] = 0.5 + from.x[0][i] - 0.4 * from.x[1][i];
    model_summary s;
    assert_true(model_summary_new(&s, DIM, 4, 1, *state));
    model_columns *c = model_columns_new(from.x, DIM, ROWS, 1, *state);
    assert_true(c && model_summary_make(&s, c, y, 0, *state));
    model_profile_points(at);
    model_slope_points(z);
    for (int p = 0; p < N; p++)
        v[p] = 0.5 + at[0][p] - 0.4 * at[1][p];
    model_profile(want, v);
    for (int p = 0; p < N; p++)
        assert_true(fabsf(s.surface_y[p] - want[p]) < 0.02F);
    for (int p = 0; p < POINTS; p++) {
        assert_true(fabs((double)s.surface_y[N + EACH * p + 1] -
                         tanh(0.5 + z[0][p] - 0.4 * z[1][p])) < 0.02);
        for (int j = 0; j < 2; j++)
            assert_true(fabs((double)s.surface_input[j * MODEL_SURFACE_INPUT + 3 * p + 2] -
                             log10(j ? 0.4 : 1) / 4) < 0.02);
    }
}

/* Nothing jumps at 0, and what tells slopes apart does. */
static void features_are_steady(void **state)
{
    (void)state;
    float y[2][MODEL_SURFACE_Y], input[2][DIM * MODEL_SURFACE_INPUT];
    model_surface_samples c = { .value = { 0 } };
    for (int side = 0; side < 2; side++) {
        for (int p = 0; p < ALL; p++)
            c.value[p] = (side ? 1e-9 : -1e-9) + 0.3 * p;
        for (int p = 0; p < POINTS; p++)
            for (int j = 0; j < DIM; j++)
                c.slope[j][p] = j ? 1 : side ? 1e-9 : -1e-9;
        model_surface_features(y[side], input[side], &c, DIM, &(model_surface_scale){ 0, 2 });
    }
    for (int i = 0; i < MODEL_SURFACE_Y; i++)
        assert_true(fabsf(y[0][i] - y[1][i]) < 1e-6F);
    for (int i = 0; i < DIM * MODEL_SURFACE_INPUT; i++)
        assert_true(fabsf(input[0][i] - input[1][i]) < 1e-6F);
    assert_true(input[0][MODEL_SURFACE_INPUT] == 1); /* the steepest input */
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    rows from;
    draw(&from);
    float target[ROWS] = { 1 };
    model_surface_samples c;
    int made = 0;
    for (size_t limit = 1000; !made; limit += 4000) {
        arena *a = arena_new(limit);
        model_surface *s = a ? model_surface_new(from.x, DIM, ROWS, a) : NULL;
        made = s && model_surface_sample(&c, s, target, a);
        arena_free(a);
        assert_true(limit < 1 << 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(a_surface_follows_its_function),
        ARENA_TEST(a_surface_solves_its_equations),
        ARENA_TEST(far_from_the_rows_is_doubt),
        ARENA_TEST(a_surface_is_robust),
        ARENA_TEST(profiles_have_no_unit),
        ARENA_TEST(features_are_of_the_function),
        ARENA_TEST(points_fill_the_box),
        ARENA_TEST(formulas_and_tables_have_one_profile),
        ARENA_TEST(features_are_steady),
        ARENA_TEST(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests_name("surface", tests, NULL, NULL);
}
