/* test_directions.c - which way a formula goes with its parts, against its values. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "data/gen.h"
#include "expr/directions.h"

/* One letter a node in prefix order: up or down for the whole formula, u or d for a part of it,
 * with ' where its own parent goes down with it. */
static void known_directions(void **state)
{
    static const struct {
        const char *text, *want;
        int free;
    } cases[] = {
        { "x0 - x1", "U U D'", 0 },
        { "x1 - x0", "U U D'", 0 },
        { "2.5 - x0*-3.5", "U U D' U' u", 0 },
        { "3*(1 - (x0 - x1))", "U u U U D' D U'", 0 }, /* two subtractions: x1 goes up again */
        { "x0*x1", "U u u", 0 },
        { "x0*exp(x1)", "U U u u", 0 },
        { "(x0 - 3)^2", "U D' D U'", 0 }, /* left of its vertex */
        { "(x0 - 1)^2", "U u u d'", 0 },
        { "sin(x0)", "U u", 0 },
        { "sin(0.5*x0)", "U U u U", 0 },
        { "cos(x0 + 3.5)", "U u u u", 0 },
        { "cos(0.5*x0 - 1.5)", "U U U u U D'", 0 },
        { "1/(x0 + 5)", "U D' D D", 0 },
        { "1/x0", "U u", 0 },
        { "x0/(x1 + 1)", "U u u u u", 0 },
        { "2.5/(x1 + 5)", "U U D' D D", 0 },
        { "tan(0.5*x0)", "U U u U", 0 },
        { "tan(x0)", "U u", 0 },
        { "2.5*x0", "U u U", 0 },
        { "2.5*x0", "U u u", 1 },
    };
    arena *a = *state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        expr e = parsed(cases[i].text, NULL, a);
        uint8_t d[64];
        char got[256] = "";
        assert_true(e.count < COUNT(d) && expr_directions(d, e, cases[i].free, a));
        for (size_t k = 0; k < e.count; k++) {
            const char *letter = d[k] & EXPR_OF_THE_WHOLE ? d[k] & EXPR_FALLS ? "D" : "U"
                                 : d[k] & EXPR_FALLS      ? "d"
                                                          : "u";
            strcat(got, k ? " " : "");
            strcat(got, letter);
            strcat(got, d[k] & EXPR_PARENT_FALLS ? "'" : "");
        }
        print_message("%s: %s\n", cases[i].text, got);
        if (strcmp(got, cases[i].want) != 0)
            fail_msg("%s: %s, not %s", cases[i].text, got, cases[i].want);
    }
}

static const expr_node plus[1] = { { .op = EXPR_ADD } };

/* e with the part at i a little larger. */
static expr raised(expr e, size_t i, double by, arena *a)
{
    expr part = expr_subtree(e, i),
         sum = { arena_array(a, part.count + 2, sizeof *sum.node), part.count + 2 };
    sum.node[0] = plus[0];
    sum.node[1] = (expr_node){ .op = EXPR_NUMBER, .value = by };
    memcpy(sum.node + 2, part.node, part.count * sizeof *part.node);
    assert_true(expr_measure(sum));
    return expr_splice(e, i, sum, a);
}

/* Of generated formulas, wherever a direction of the whole is claimed the values go that way at
 * every point, and claims are not rare. */
static void values_go_as_they_are_told_to(void **state)
{
    enum { FORMULAS = 400, ROWS = 40, DIMS = 10 };
    arena *a = *state;
    data_gen gen = { .dims = DIMS, .points = 200 };
    const double *x[DIMS];
    rng r;
    rng_init(&r, 3, RNG_BENCH, 0);
    for (int j = 0; j < DIMS; j++) {
        double *column = arena_array(a, ROWS, sizeof *column);
        rng_fill_uniform(&r, column, ROWS);
        for (int i = 0; i < ROWS; i++)
            column[i] = 4 * column[i] - 2;
        x[j] = column;
    }
    size_t claims = 0, nodes = 0, checked = 0;
    for (uint64_t k = 0; k < FORMULAS; k++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        assert_int_equal(data_sample_draw(&s, &gen, 77, RNG_BENCH, k, a), SNIP_OK);
        uint8_t *d = arena_array(a, s.e.count, sizeof *d);
        double y[ROWS], z[ROWS];
        assert_true(expr_directions(d, s.e, 0, a));
        expr_eval(s.e, x, ROWS, y, a);
        for (size_t i = 1; i < s.e.count; i++) {
            nodes++;
            if (!(d[i] & EXPR_OF_THE_WHOLE))
                continue;
            claims++;
            expr_eval(raised(s.e, i, 1e-4, a), x, ROWS, z, a);
            for (int n = 0; n < ROWS; n++) {
                double change = d[i] & EXPR_FALLS ? y[n] - z[n] : z[n] - y[n];
                if (!isfinite(change))
                    continue;
                checked++;
                if (change < -1e-9 * (fabs(y[n]) + fabs(z[n])))
                    fail_msg("%s: node %zu goes the other way at row %d: %g, then %g",
                             expr_print(s.e, SNIP_INFIX, NULL, 0, a), i, n, y[n], z[n]);
            }
        }
        arena_reset(a, mark);
    }
    print_message("%zu of %zu nodes have a direction; %zu values\n", claims, nodes, checked);
    assert_true(claims > nodes / 5 && checked > 20 * claims);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(known_directions),
        ARENA_TEST(values_go_as_they_are_told_to),
    };
    return cmocka_run_group_tests_name("directions", tests, NULL, NULL);
}
