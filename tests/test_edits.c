/* test_edits.c - the six families, their filters, and training perturbations. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "data/edits.h"
#include "data/gen.h"
#include "data/tokens.h"

/* Whether some listed edit of `e` in the family gives `prefix`. */
static int gives(expr e, data_family family, const char *prefix, arena *a)
{
    data_edit *edits;
    size_t n = data_edits_list(&edits, e, family, a);
    for (size_t k = 0; k < n; k++) {
        expr v = data_edit_apply(e, &edits[k], a);
        expr check = { arena_copy(a, v.node, v.count * sizeof *v.node), v.count };
        assert_true(expr_measure(check));
        for (size_t i = 0; i < v.count; i++)
            assert_int_equal(v.node[i].len, check.node[i].len);
        if (strcmp(expr_print(v, SNIP_PREFIX, NULL, 0, a), prefix) == 0)
            return 1;
    }
    return 0;
}

static void each_family_edits_as_the_paper_says(void **state)
{
    static const struct {
        const char *from;
        data_family family;
        size_t count; /* of edits in all */
        const char *to[3];
    } cases[] = {
        { "sin(x0)", DATA_UNARY_SWAP, 2, { "cos,x_0", "tan,x_0" } },
        { "x0^2 + sqrt(x1)",
          DATA_UNARY_SWAP,
          4,
          { "add,pow3,x_0,sqrt,x_1", "add,pow2,x_0,pow3,x_1" } },
        { "exp(x0)*log(x1)", DATA_UNARY_SWAP, 2, { "mul,log,x_0,log,x_1", "mul,exp,x_0,exp,x_1" } },
        { "abs(x0) + 1/x1 + arctan(x0)", DATA_UNARY_SWAP, 0, { 0 } },
        { "x0*x1 + x0",
          DATA_VARIABLE_SUBSTITUTION,
          2,
          { "add,mul,x_1,x_1,x_1", "add,mul,x_0,x_0,x_0" } },
        { "sin(x0)*x0", DATA_VARIABLE_SUBSTITUTION, 0, { 0 } },
        { "x0 + x2", DATA_BINARY_SWAP, 3, { "sub,x_0,x_2", "mul,x_0,x_2", "div,x_0,x_2" } },
        { "x0 - x1 - x2", DATA_TREE_RESHAPING, 1, { "sub,x_0,sub,x_1,x_2" } },
        { "x0*(x1 + x2)", DATA_TREE_RESHAPING, 1, { "add,mul,x_0,x_1,x_2" } },
        { "sin(x0) + exp(x1)", DATA_TREE_RESHAPING, 0, { 0 } },
        { "x0 - x1/x2",
          DATA_OPERAND_REORDERING,
          2,
          { "sub,div,x_1,x_2,x_0", "sub,x_0,div,x_2,x_1" } },
        { "x0 + x1*x2", DATA_OPERAND_REORDERING, 0, { 0 } },
    };
    arena *a = *state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        expr e;
        data_edit *edits;
        assert_int_equal(expr_parse(&e, cases[i].from, NULL, a, NULL), SNIP_OK);
        assert_int_equal(data_edits_list(&edits, e, cases[i].family, a), cases[i].count);
        for (int k = 0; k < 3 && cases[i].to[k]; k++)
            if (!gives(e, cases[i].family, cases[i].to[k], a))
                fail_msg("%s does not become %s", cases[i].from, cases[i].to[k]);
        for (size_t k = 0; k < cases[i].count; k++)
            assert_non_null(data_edit_describe(e, &edits[k], NULL, a));
    }
}

/* Every variant that the reference made is one that we can make, with the same values. */
static void golden_variants_are_ours_too(void **state)
{
    arena *a = *state;
    json_t *list = golden_lines("model-common/variants.jsonl"), *o;
    golden_array x = golden_npy("model-s0/x.npy", a);
    golden_array parent_y = golden_npy("model-common/parent-y.npy", a);
    golden_array subtree_y = golden_npy("model-common/subtree-y.npy", a);
    size_t points = x.shape[1], i;
    expr original = { NULL, 0 };
    json_array_foreach (list, i, o) {
        const char *family = json_string_value(json_object_get(o, "family"));
        const char *subtree = json_string_value(json_object_get(o, "subtree_prefix"));
        const char *parent = json_string_value(json_object_get(o, "parent_prefix"));
        expr s, p;
        assert_int_equal(expr_parse(&s, subtree, NULL, a, NULL), SNIP_OK);
        assert_int_equal(expr_parse(&p, parent, NULL, a, NULL), SNIP_OK);
        if (json_integer_value(json_object_get(o, "k")) == 0) {
            original = s;
        } else {
            int found = 0;
            for (int f = 0; f < DATA_FAMILIES; f++)
                found |= strcmp(family, data_families[f].name) == 0 &&
                         gives(original, (data_family)f, subtree, a);
            assert_true(found);
        }
        size_t item = (size_t)json_integer_value(json_object_get(o, "item"));
        double column[3][512], y[512];
        const double *columns[3] = { column[0], column[1], column[2] };
        for (int j = 0; j < 3; j++)
            for (size_t k = 0; k < points; k++)
                column[j][k] = x.value[(item * points + k) * 3 + (size_t)j];
        const struct {
            expr e;
            const double *want;
        } sides[] = { { s, subtree_y.value + i * points }, { p, parent_y.value + i * points } };
        for (int side = 0; side < 2; side++) {
            assert_int_equal(expr_eval(sides[side].e, columns, points, y, a), points);
            for (size_t k = 0; k < points; k++)
                assert_true(fabs(y[k] - sides[side].want[k]) <= 1e-9 * fabs(sides[side].want[k]));
        }
    }
    json_decref(list);
}

static void behaviours_are_told_apart_as_float32(void **state)
{
    data_behaviours b = { .rows = 3, .a = *state };
    double y[3] = { 1, 2, 3 };
    assert_int_equal(data_behaviours_add(&b, y), 1);
    assert_int_equal(data_behaviours_add(&b, y), 0);
    y[2] += 1e-9; /* the same float */
    assert_int_equal(data_behaviours_add(&b, y), 0);
    y[2] += 1e-6; /* another one */
    assert_int_equal(data_behaviours_add(&b, y), 1);
    y[0] = 1e200; /* beyond float, but told apart from 1 */
    assert_int_equal(data_behaviours_add(&b, y), 1);
    for (int i = 0; i < 100; i++) {
        y[1] = i + 10;
        assert_int_equal(data_behaviours_add(&b, y), 1);
    }
    assert_int_equal(data_behaviours_add(&b, y), 0);
    assert_int_equal(b.count, 103);
}

static void evaluation_variants_pass_the_filters(void **state)
{
    arena *a = *state;
    const data_gen gen = { .dims = 10, .points = 200 };
    size_t total = 0;
    for (uint64_t i = 0; i < 40; i++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        data_variant kept[DATA_VARIANTS_MAX], again[DATA_VARIANTS_MAX];
        assert_int_equal(data_sample_draw(&s, &gen, 3, RNG_HELD_OUT, i, a), SNIP_OK);
        for (int f = 0; f < DATA_FAMILIES; f++) {
            rng r, q;
            rng_init(&r, 3, RNG_EDITS, i);
            rng_init(&q, 3, RNG_EDITS, i);
            size_t n = data_edits_evaluation(kept, s.e, (data_family)f, DATA_VARIANTS_MAX, s.x, 200,
                                             s.y, &r, a);
            size_t m = data_edits_evaluation(again, s.e, (data_family)f, DATA_VARIANTS_MAX, s.x,
                                             200, s.y, &q, a);
            assert_int_equal(n, m);
            data_behaviours seen = { .rows = 200, .a = a };
            assert_int_equal(data_behaviours_add(&seen, s.y), 1);
            for (size_t k = 0; k < n; k++) {
                double y[200];
                assert_true(expr_same(kept[k].e, again[k].e));
                assert_int_equal(expr_eval(kept[k].e, s.x, 200, y, a), 200);
                assert_memory_equal(y, kept[k].y, sizeof y);
                assert_true(data_values_fit(y, 200));
                assert_int_equal(data_behaviours_add(&seen, y), 1);
                assert_true(data_tokens_count(kept[k].e) <= DATA_SEQUENCE_MAX);
                assert_int_equal(kept[k].edit.family, f);
            }
            total += n;
        }
        arena_reset(a, mark);
    }
    assert_true(total > 40 * 60);
}

/* The pool of the paper's table: 128 held-out targets, mean retained variants per family. */
static void the_pool_is_near_the_paper_s(void **state)
{
    static const double paper[DATA_FAMILIES] = { 2.1, 26.5, 8.5, 10.7, 1.8, 57.6 };
    /* Reordering: every subtraction counts here, a third of them does not there (docs/design.md).
     */
    static const double nearness[DATA_FAMILIES] = { 0.4, 2.7, 0.4, 1.1, 0.7, 2.9 };
    arena *a = *state;
    const data_gen gen = { .dims = 10, .points = 200 };
    double sum[DATA_FAMILIES] = { 0 }, targets[DATA_FAMILIES] = { 0 };
    for (uint64_t i = 0; i < 128; i++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        data_variant kept[DATA_VARIANTS_MAX];
        assert_int_equal(data_sample_draw(&s, &gen, 0, RNG_HELD_OUT, i, a), SNIP_OK);
        for (int f = 0; f < DATA_FAMILIES; f++) {
            rng r;
            rng_init(&r, 0, RNG_EDITS, i * DATA_FAMILIES + (uint64_t)f);
            size_t n = data_edits_evaluation(kept, s.e, (data_family)f, DATA_VARIANTS_MAX, s.x, 200,
                                             s.y, &r, a);
            sum[f] += (double)n;
            targets[f] += n > 0;
        }
        arena_reset(a, mark);
    }
    for (int f = 0; f < DATA_FAMILIES; f++) {
        double mean = sum[f] / targets[f];
        print_message("%-22s mean %5.1f, paper %5.1f\n", data_families[f].name, mean, paper[f]);
        assert_true(fabs(mean - paper[f]) < nearness[f]);
    }
}

static const data_perturb_how two = { .subtrees = 1, .edits = 2 };

static void training_perturbations_keep_their_promises(void **state)
{
    arena *a = *state;
    const data_gen gen = { .dims = 10, .points = 200 };
    size_t kept = 0, by_family[DATA_FAMILIES] = { 0 };
    for (uint64_t i = 0; i < 500; i++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        data_perturbed p, q;
        size_t count;
        rng r, same;
        assert_int_equal(data_sample_draw(&s, &gen, 4, RNG_TRAIN, i, a), SNIP_OK);
        rng_init(&r, 4, RNG_EDITS, i);
        rng_init(&same, 4, RNG_EDITS, i);
        assert_int_equal(data_perturb(&p, &count, &two, s.e, s.x, 200, s.y, &r, a), SNIP_OK);
        assert_int_equal(data_perturb(&q, &count, &two, s.e, s.x, 200, s.y, &same, a), SNIP_OK);
        assert_int_equal(p.count, q.count);
        assert_true(p.node > 0 && s.e.node[p.node].len > 1);
        data_behaviours seen = { .rows = 200, .a = a };
        for (size_t k = 0; k < p.count; k++) {
            double y[200];
            assert_true(expr_same(p.v[k].parent, q.v[k].parent));
            assert_true(expr_same(expr_subtree(p.v[k].parent, p.node), p.v[k].subtree));
            assert_int_equal(expr_eval(p.v[k].subtree, s.x, 200, y, a), 200);
            assert_memory_equal(y, p.v[k].subtree_y, sizeof y);
            assert_int_equal(data_behaviours_add(&seen, y), 1);
            assert_int_equal(expr_eval(p.v[k].parent, s.x, 200, y, a), 200);
            assert_memory_equal(y, p.v[k].parent_y, sizeof y);
            assert_true(data_values_fit(y, 200));
            if (k > 0) {
                assert_true(gives(p.v[0].subtree, (data_family)p.v[k].family,
                                  expr_print(p.v[k].subtree, SNIP_PREFIX, NULL, 0, a), a));
                by_family[p.v[k].family]++;
                kept++;
            }
        }
        arena_reset(a, mark);
    }
    assert_true(kept > 500 && kept < 1000);
    for (int f = 0; f < DATA_FAMILIES; f++)
        assert_true(data_families[f].trained ? by_family[f] > 20 : by_family[f] == 0);
}

/* Whether two trees differ in the value of one number and in nothing else; *factor is by how much.
 */
static int differ_in_one_number(expr e, expr f, double *factor)
{
    int differences = 0;
    for (size_t i = 0; i < e.count && e.count == f.count; i++) {
        const expr_node *p = &e.node[i], *q = &f.node[i];
        if (p->op != q->op || p->len != q->len || (p->op == EXPR_VARIABLE && p->var != q->var))
            return 0;
        if (p->op == EXPR_NUMBER && p->value != q->value) {
            *factor = q->value / p->value;
            differences++;
        }
    }
    return differences == 1;
}

/* The share that was asked for changes a constant, where the subtree has one: its sign, or its size
 * by up to ten times. The held-out families stay untrained. */
static void constants_may_be_changed_in_training(void **state)
{
    arena *a = *state;
    const data_gen gen = { .dims = 10, .points = 200 };
    const data_perturb_how always = { .subtrees = 1, .edits = 2, .constants = 1 },
                           half = { .subtrees = 1, .edits = 2, .constants = 0.5 };
    size_t changed = 0, signs = 0, others = 0, with = 0, by_half[2] = { 0 };
    for (uint64_t i = 0; i < 500; i++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        data_perturbed p;
        size_t count;
        rng r;
        assert_int_equal(data_sample_draw(&s, &gen, 4, RNG_TRAIN, i, a), SNIP_OK);
        rng_init(&r, 4, RNG_EDITS, i);
        assert_int_equal(data_perturb(&p, &count, &always, s.e, s.x, 200, s.y, &r, a), SNIP_OK);
        size_t *node = arena_array(a, s.e.count, sizeof *node),
               constants = expr_constants(p.v[0].subtree, node);
        with += constants > 0;
        for (size_t k = 1; k < p.count; k++) {
            double factor = 0;
            assert_int_equal(p.v[k].family == DATA_CONSTANT_CHANGE, constants > 0);
            others += constants == 0;
            if (!constants)
                continue;
            assert_true(differ_in_one_number(p.v[0].subtree, p.v[k].subtree, &factor));
            assert_true(differ_in_one_number(p.v[0].parent, p.v[k].parent, &factor));
            double size = fabs(log10(fabs(factor)));
            assert_true(factor == -1 || (factor > 0 && size > 0.14 && size < 1.01));
            changed++;
            signs += factor == -1;
        }
        assert_int_equal(data_perturb(&p, &count, &half, s.e, s.x, 200, s.y, &r, a), SNIP_OK);
        for (size_t k = 1; k < p.count; k++) {
            assert_true(p.v[k].family == DATA_CONSTANT_CHANGE ||
                        data_families[p.v[k].family].trained);
            if (expr_constants(p.v[0].subtree, node))
                by_half[p.v[k].family == DATA_CONSTANT_CHANGE]++;
        }
        arena_reset(a, mark);
    }
    print_message("%zu of 500 subtrees have constants: %zu changed, %zu by their sign; %zu other "
                  "edits; with a share of a half %zu and %zu\n",
                  with, changed, signs, others, by_half[1], by_half[0]);
    assert_true(changed > 300 && signs > changed / 8 && signs < changed / 2 && others > 0);
    assert_true(by_half[1] > 100 && by_half[0] > 100);
}

static void a_leaf_has_no_subtree(void **state)
{
    expr e;
    double x[2] = { 1, 2 };
    const double *columns[] = { x };
    data_perturbed p;
    size_t count;
    rng r;
    rng_init(&r, 1, RNG_EDITS, 0);
    expr_parse(&e, "sin(x0)", NULL, *state, NULL);
    assert_int_equal(data_perturb(&p, &count, &two, e, columns, 2, x, &r, *state),
                     SNIP_UNSUPPORTED);
}

/* Every row is complete: a name of its own, edits that are applied and described. */
static void every_family_is_whole(void **state)
{
    arena *a = *state;
    int trained = 0;
    expr e;
    assert_int_equal(expr_parse(&e, "sin(x0 - x1)*x0 + exp(x1)/x0", NULL, a, NULL), SNIP_OK);
    for (int f = 0; f < DATA_FAMILIES; f++) {
        data_edit *edits, drawn;
        rng r;
        rng_init(&r, 3, RNG_EDITS, (uint64_t)f);
        size_t n = data_edits_list(&edits, e, (data_family)f, a);
        assert_true(data_families[f].listed ? n > 0 && n < 100 : n == 0);
        if (n == 0) {
            drawn = data_edit_rewriting(e, &r, a);
            edits = &drawn;
            n = 1;
        }
        for (size_t k = 0; k < n; k++) {
            expr edited = data_edit_apply(e, &edits[k], a);
            const char *what = data_edit_describe(e, &edits[k], NULL, a);
            assert_int_equal(edits[k].family, f);
            assert_true(edited.node && !expr_same(edited, e) && edited.node[0].len == edited.count);
            assert_true(what && *what);
        }
        for (int g = 0; g < f; g++)
            assert_string_not_equal(data_families[f].name, data_families[g].name);
        trained += data_families[f].trained;
    }
    assert_int_equal(trained, 3); /* the paper holds the other half out */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(each_family_edits_as_the_paper_says),
        ARENA_TEST(golden_variants_are_ours_too),
        ARENA_TEST(behaviours_are_told_apart_as_float32),
        ARENA_TEST(evaluation_variants_pass_the_filters),
        ARENA_TEST(the_pool_is_near_the_paper_s),
        ARENA_TEST(training_perturbations_keep_their_promises),
        ARENA_TEST(constants_may_be_changed_in_training),
        ARENA_TEST(a_leaf_has_no_subtree),
        ARENA_TEST(every_family_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
