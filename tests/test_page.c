/* test_page.c - what pages and pictures are written with. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "page/svg.h"

static int setup(void **state)
{
    return (*state = arena_new(0)) == NULL;
}

static int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

static size_t count_of(const char *s, const char *part)
{
    size_t n = 0;
    for (; (s = strstr(s, part)); s += strlen(part))
        n++;
    return n;
}

/* Whatever a name holds, it neither ends an element nor an attribute, and the page stays UTF-8. */
static void text_is_escaped(void **state)
{
    static const struct {
        const char *given, *written;
    } cases[] = {
        { "a<b>&\"c'", "a&#60;b&#62;&#38;&#34;c&#39;" },
        { "naïve – x", "naïve – x" },
        { "bell\a, line\n", "bell?, line?" },
        { "Latin-1 \xe9", "Latin-1 ?" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text t = { .a = *state };
        page_escape(&t, cases[i].given);
        assert_string_equal(text_end(&t), cases[i].written);
    }
    text t = { .a = *state };
    page_element(&t, "<b>", NULL, "</b>");
    assert_string_equal(text_end(&t), "<b></b>");
}

static void numbers_read_as_people_write_them(void **state)
{
    (void)state;
    static const struct {
        double v;
        page_format f;
        const char *written;
    } cases[] = {
        { .731, PAGE_SHARE, ".73" },
        { -.731, PAGE_SHARE, "−.73" },
        { .8731, PAGE_PERCENT, "87.3 %" },
        { 1.184, PAGE_PLAIN, "1.18" },
        { 1234567, PAGE_COUNT, "1,234,567" },
        { 26.5, PAGE_COUNT, "26.5" },
        { .12, PAGE_SIGNED, "+.12" },
        { -.5, PAGE_MIRROR, "50 %" },
        { 1e-7, PAGE_NUMBER, "1e-07" },
        { 1e20, PAGE_NUMBER, "1e+20" },
        { NAN, PAGE_NUMBER, "–" },
        { INFINITY, PAGE_COUNT, "–" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[PAGE_DIGITS];
        assert_string_equal(page_number(out, cases[i].v, cases[i].f), cases[i].written);
    }
}

/* Marks at round values only, from the first to the last that the range holds. */
static void axes_have_round_marks(void **state)
{
    static const struct {
        double low, high;
        const char *first, *last;
    } cases[] = {
        { 0, 1, ">0<", ">1<" },
        { 0, .6, ">0<", ">0.6<" },
        { -3, 3, ">-3<", ">3<" },
        { .13, .87, ">0.2<", ">0.8<" },
        { 1e6, 5e6, ">1000000<", ">5000000<" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text t = { .a = *state };
        page_plot p = page_plot_new(&t, 50, 200);
        p.x0 = cases[i].low, p.x1 = cases[i].high;
        page_plot_grid_x(&p, PAGE_NUMBER, 1);
        const char *s = text_end(&t);
        assert_non_null(strstr(s, cases[i].first));
        assert_non_null(strstr(s, cases[i].last));
        assert_int_equal(count_of(s, "class=\"g\""), count_of(s, "<text "));
        assert_in_range(count_of(s, "<text "), 4, 9);
    }
}

/* A value outside stays at the edge, or goes as far as the field lets it. */
static void values_have_places(void **state)
{
    text t = { .a = *state };
    page_plot p = page_plot_new(&t, 50, 200);
    p.x0 = -1, p.x1 = 3, p.y0 = 0, p.y1 = 10;
    assert_true(fabs(page_plot_x(&p, -1) - (50)) < 1e-9);
    assert_true(fabs(page_plot_x(&p, 3) - (PAGE_WIDTH - PAGE_RIGHT)) < 1e-9);
    assert_true(fabs(page_plot_x(&p, 99) - (PAGE_WIDTH - PAGE_RIGHT)) < 1e-9);
    assert_true(fabs(page_plot_y(&p, 0) - (200 - PAGE_BOTTOM)) < 1e-9);
    assert_true(fabs(page_plot_y(&p, 10) - (PAGE_TOP)) < 1e-9);
    p.beyond = 2;
    double wide = PAGE_WIDTH - PAGE_RIGHT - 50;
    assert_true(fabs(page_plot_x(&p, 7) - (50 + 2 * wide)) < 1e-9);
    assert_true(fabs(page_plot_x(&p, 1e300) - (50 + 3 * wide)) < 1e-9);
}

/* A gap breaks a curve in two and a band, too; a line goes on behind it. */
static void gaps_break_curves(void **state)
{
    const double x[] = { 0, 1, 2, 3, 4 }, y[] = { 0, 1, NAN, 1, 0 }, half[] = { 1, 1, 1, 1, 1 };
    text curve = { .a = *state }, band = { .a = *state }, line = { .a = *state };
    page_plot p = page_plot_new(&curve, 50, 200);
    p.x1 = 4, p.y1 = 2;
    page_plot_curve(&p, x, y, 5, " class=\"c\"");
    assert_int_equal(count_of(text_end(&curve), "M"), 2);
    assert_int_equal(count_of(curve.s, "L"), 2);
    p.t = &band;
    page_plot_band(&p, x, y, half, 5, "");
    assert_int_equal(count_of(text_end(&band), "<path"), 2);
    p.t = &line;
    page_plot_line(&p, x, y, 5, 0);
    assert_int_equal(count_of(text_end(&line), ","), 4);
}

static void long_text_is_cut_between_characters(void **state)
{
    text t = { .a = *state };
    page_svg_text_cut(&t, 1, 2, "", "ééééé", 3);
    assert_string_equal(text_end(&t), "<text x=\"1.0\" y=\"2.0\">éé…<title>ééééé</title></text>\n");
    text whole = { .a = *state };
    page_svg_text_cut(&whole, 1, 2, "", "ééé", 3);
    assert_string_equal(text_end(&whole), "<text x=\"1.0\" y=\"2.0\">ééé</text>\n");
}

/* Memory that is out shows at the end, once, and not as half a page. */
static void memory_may_end(void **state)
{
    (void)state;
    arena *a = arena_new(4096);
    text t = { .a = a };
    for (int i = 0; i < 1000; i++)
        page_element(&t, "<p>", "some text that takes room", "</p>");
    assert_null(text_end(&t));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(text_is_escaped, setup, teardown),
        cmocka_unit_test(numbers_read_as_people_write_them),
        cmocka_unit_test_setup_teardown(axes_have_round_marks, setup, teardown),
        cmocka_unit_test_setup_teardown(values_have_places, setup, teardown),
        cmocka_unit_test_setup_teardown(gaps_break_curves, setup, teardown),
        cmocka_unit_test_setup_teardown(long_text_is_cut_between_characters, setup, teardown),
        cmocka_unit_test(memory_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
