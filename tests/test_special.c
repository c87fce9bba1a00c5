/* test_special.c - distributions against values computed with 60 digits by mpmath. */
#include "support.h"

#include <math.h>

#include "base/special.h"

static void near(double got, double want, const char *what, double a, double b)
{
    if (!(fabs(got - want) <= 1e-10 * fabs(want)))
        fail_msg("%s(%g, %g) is %.17g, not %.17g", what, a, b, got, want);
}

static void student_t(void **state)
{
    (void)state;
    static const struct {
        double level, freedom, t;
    } quantiles[] = {
        { 0.5, 1, 1.0 },
        { 0.95, 1, 12.706204736174693 },
        { 0.999, 1, 636.61924876871905 },
        { 0.5, 2, 0.81649658092772603 },
        { 0.95, 2, 4.3026527297494618 },
        { 0.999, 2, 31.599054576443607 },
        { 0.5, 4, 0.74069708411268263 },
        { 0.95, 4, 2.7764451051977935 },
        { 0.999, 4, 8.6103015813792731 },
        { 0.5, 12, 0.69548286551179258 },
        { 0.95, 12, 2.1788128296672284 },
        { 0.999, 12, 4.3177912836061843 },
        { 0.5, 30, 0.68275569332129255 },
        { 0.95, 30, 2.0422724563012379 },
        { 0.999, 30, 3.6459586350420215 },
        { 0.5, 250, 0.67547236139743924 },
        { 0.95, 250, 1.9694983934211532 },
        { 0.999, 250, 3.3298672056731189 },
        { 0.5, 12345, 0.67450962393971614 },
        { 0.95, 12345, 1.9601561676005669 },
        { 0.999, 12345, 3.291315054529828 },
        { 0.5, 1000000, 0.67448999553108738 },
        { 0.95, 1000000, 1.9599663568141067 },
        { 0.999, 1000000, 3.2905364612486909 },
        { 0.5, INFINITY, 0.67448975019608174 },
        { 0.95, INFINITY, 1.9599639845400539 },
        { 0.999, INFINITY, 3.2905267314918945 },
    };
    for (size_t i = 0; i < COUNT(quantiles); i++) {
        double level = quantiles[i].level, freedom = quantiles[i].freedom;
        near(special_t_quantile(level, freedom), quantiles[i].t, "t_quantile", level, freedom);
        near(special_t_beyond(quantiles[i].t, freedom), 1 - level, "t_beyond", quantiles[i].t,
             freedom);
    }
    static const struct {
        double t, freedom, beyond;
    } tails[] = {
        { 1e-5, 3, 0.99999264894806121 },      { 1, 1, 0.5 },
        { 2.5, 7, 0.040992218585752897 },      { 40, 7, 1.590217998485037e-9 },
        { 1000, 12, 6.7355096706918788e-31 },  { 7, 200, 3.7894286500889388e-11 },
        { 30, 1000, 1.5374687444043482e-141 },
    };
    for (size_t i = 0; i < COUNT(tails); i++)
        near(special_t_beyond(tails[i].t, tails[i].freedom), tails[i].beyond, "t_beyond",
             tails[i].t, tails[i].freedom);
    assert_true(special_t_beyond(0, 5) == 1 && special_t_beyond(INFINITY, 5) == 0);
    assert_true(special_t_beyond(-2, 5) == special_t_beyond(2, 5));
    assert_true(isnan(special_t_quantile(0, 5)) && isnan(special_t_quantile(1, 5)));
    assert_true(isnan(special_t_quantile(.95, 0)));
}

static void chi_square(void **state)
{
    (void)state;
    static const struct {
        double x, freedom, above;
    } cases[] = {
        { 0.01, 1, 0.92034432544594204 },          { 3.5, 1, 0.061368829139402173 },
        { 18.25, 10, 0.050890105467803531 },       { 2, 10, 0.99634015317265629 },
        { 200, 10, 1.6139305336977305e-37 },       { 120, 125, 0.6095795831228436 },
        { 990, 1000, 0.5829461463551487 },         { 1100, 1000, 0.014614408126295194 },
        { 1000300, 1000000, 0.41582642135158381 },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        near(special_chi_square_above(cases[i].x, cases[i].freedom), cases[i].above,
             "chi_square_above", cases[i].x, cases[i].freedom);
    assert_true(special_chi_square_above(0, 3) == 1 && special_chi_square_above(INFINITY, 3) == 0);
    assert_true(isnan(special_chi_square_above(1, 0)) && isnan(special_gamma_above(2, -1)));
}

static void incomplete_beta(void **state)
{
    (void)state;
    static const struct {
        double x, a, b, below;
    } cases[] = {
        { 0.25, 0.5, 0.5, 0.33333333333333333 }, { 0.125, 3, 8, 0.11950215324759483 },
        { 0.75, 120, 45, 0.73893510204741906 },  { 0.5, 2.5, 150, 1.0 },
        { 0.875, 0.25, 6, 0.99999970583629824 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        near(special_beta(cases[i].x, cases[i].a, cases[i].b), cases[i].below, "beta", cases[i].a,
             cases[i].b);
        double other = special_beta(1 - cases[i].x, cases[i].b, cases[i].a);
        assert_true(fabs(other + cases[i].below - 1) < 1e-12);
    }
    assert_true(special_beta(0, 2, 3) == 0 && special_beta(1, 2, 3) == 1);
    assert_true(isnan(special_beta(-1, 2, 3)) && isnan(special_beta(2, 2, 3)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_t),
        cmocka_unit_test(chi_square),
        cmocka_unit_test(incomplete_beta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
