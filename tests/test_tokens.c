/* test_tokens.c - vocabularies, float tokens, formula tokens, against the reference. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/tokens.h"

/* Every line of a golden file must be the word of that id. */
static void check_words(const char *file, const char *const *words, int count, arena *a)
{
    int n = 0;
    for (char *s = golden_text(file, a); *s; n++) {
        size_t length = strcspn(s, "\n");
        s[length] = 0;
        assert_true(n < count);
        assert_string_equal(words[n], s);
        s += length + 1;
    }
    assert_int_equal(n, count);
}

static void vocabularies_are_the_reference_s(void **state)
{
    arena *a = *state;
    const data_vocab *v = data_vocab_new(10, a), *small = data_vocab_new(3, a);
    check_words("vocab/float_words.txt", v->float_word, v->float_words, a);
    check_words("vocab/equation_words.txt", v->equation_word, v->equation_words, a);
    check_words("model-common/equation_words-3d.txt", small->equation_word, small->equation_words,
                a);
    json_t *counts = golden_json("vocab/counts.json"),
           *config = golden_json("model-common/config.json");
    assert_int_equal(v->eos, json_integer_value(json_object_get(counts, "equation_eos_id")));
    assert_int_equal(v->zero_row,
                     json_integer_value(json_object_get(counts, "equation_pad_id_in_word2id")));
    assert_int_equal(DATA_INPUT_PAD,
                     json_integer_value(json_object_get(counts, "float_input_pad_id")));
    assert_int_equal(DATA_PAD, json_integer_value(json_object_get(
                                   counts, "pad_id_written_into_symbolic_batches")));
    assert_int_equal(small->eos, json_integer_value(json_object_get(config, "equation_eos_id")));
    json_decref(counts);
    json_decref(config);
}

/* word2id: a word that is listed twice has its last id. */
static void ids_are_the_last_ones(void **state)
{
    arena *a = *state;
    const data_vocab *v = data_vocab_new(10, a);
    int seen = 0;
    for (char *s = golden_text("vocab/equation_word2id.tsv", a); *s; seen++) {
        size_t length = strcspn(s, "\n");
        s[length] = 0;
        char *tab = strchr(s, '\t');
        *tab = 0;
        int id = atoi(tab + 1);
        assert_string_equal(v->equation_word[id], s);
        int op = expr_op_find(s, strlen(s));
        if (op >= 0 && op < EXPR_VOCABULARY_END && strcmp(expr_ops[op].name, s) == 0)
            assert_int_equal(v->op[op], id);
        if (s[0] == 'x' && s[1] == '_')
            assert_int_equal(v->variable[atoi(s + 2)], id);
        if (s[0] == 'N')
            assert_int_equal(v->mantissa + atoi(s + 1) + v->shift, id);
        if (s[0] == 'E' && (s[1] == '-' || (s[1] >= '0' && s[1] <= '9')))
            assert_int_equal(v->exponent[atoi(s + 1) + DATA_EXPONENT_MAX] + v->shift, id);
        s = tab + 1 + strlen(tab + 1) + 1;
    }
    assert_int_equal(seen, v->equation_words - DATA_SPECIALS);
}

static void golden_floats_have_their_tokens(void **state)
{
    arena *a = *state;
    const data_vocab *v = data_vocab_new(10, a);
    char *s = strchr(golden_text("floats.tsv", a), '\n') + 1;
    int n = 0;
    while (*s) {
        char hex[64], sign[8], mantissa[8], exponent[8];
        int id[3], used;
        assert_int_equal(sscanf(s, "%*s %63s %7s %7s %7s %d %d %d%n", hex, sign, mantissa, exponent,
                                &id[0], &id[1], &id[2], &used),
                         7);
        uint16_t got[3];
        assert_true(data_vocab_float(v, strtod(hex, NULL), got));
        for (int k = 0; k < 3; k++)
            if (got[k] != id[k])
                fail_msg("%s: %s %s %s", hex, v->float_word[got[0]], v->float_word[got[1]],
                         v->float_word[got[2]]);
        assert_string_equal(v->float_word[got[0]], sign);
        assert_string_equal(v->float_word[got[1]], mantissa);
        assert_string_equal(v->float_word[got[2]], exponent);
        s += used;
        s += *s == '\n';
        n++;
    }
    assert_true(n > 1000);
    for (s = strchr(golden_text("floats-unrepresentable.tsv", a), '\n') + 1; *s;) {
        char hex[64];
        uint16_t got[3];
        assert_int_equal(sscanf(s, "%*s %63s", hex), 1);
        assert_false(data_vocab_float(v, strtod(hex, NULL), got));
        s += strcspn(s, "\n");
        s += *s == '\n';
    }
}

/* Against printf, on many more numbers: random bits, short decimals, ties. */
static void floats_round_as_printf_does(void **state)
{
    (void)state;
    rng r;
    rng_init(&r, 8, RNG_BENCH, 0);
    int seen = 0;
    for (int i = 0; i < 600000; i++) {
        double v;
        uint64_t bits = rng_u64(&r);
        switch (i % 4) {
        case 0: /* any double in range */
            bits = (bits & 0x800fffffffffffffu) | (uint64_t)(1023 - 330 + rng_below(&r, 680)) << 52;
            memcpy(&v, &bits, sizeof v);
            break;
        case 1: /* ties and near ties: few bits, five digits */
            v = (double)(10000 + rng_below(&r, 90000)) / (double)(1 << rng_below(&r, 12));
            break;
        case 2:
            v = (rng_below(&r, 9999) + 0.5) * pow(10, (int)rng_below(&r, 40) - 20);
            break;
        default: /* a power of ten and its neighbours */
            v = pow(10, (int)rng_below(&r, 203) - 98);
            v = bits & 1 ? nextafter(v, 0) : bits & 2 ? nextafter(v, INFINITY) : v;
        }
        data_float f;
        char text[64];
        snprintf(text, sizeof text, "%.3e", v);
        char *digits = text + (*text == '-');
        int exponent = atoi(strchr(text, 'e') + 1) - 3;
        int mantissa =
            (digits[0] - '0') * 1000 + atoi((char[]){ digits[2], digits[3], digits[4], 0 });
        int has = data_float_split(v, &f);
        assert_int_equal(has, exponent <= 100);
        if (!has)
            continue;
        if (exponent < -100)
            mantissa = exponent = 0;
        if (f.mantissa != mantissa || f.exponent != exponent || f.negative != (v < 0))
            fail_msg("%.17g: %d E%d, printf %s", v, f.mantissa, f.exponent, text);
        seen++;
    }
    assert_true(seen > 500000);
}

static void check_ids(const data_tokens *t, json_t *ids)
{
    assert_int_equal(t->count, json_array_size(ids) + 2);
    for (size_t k = 0; k + 2 < t->count; k++)
        assert_int_equal(t->id[k + 1], json_integer_value(json_array_get(ids, k)));
}

static void golden_expressions_have_their_ids(void **state)
{
    arena *a = *state;
    const data_vocab *v = data_vocab_new(10, a);
    json_t *list = golden_lines("expressions.jsonl"), *o;
    size_t i;
    json_array_foreach (list, i, o) {
        expr e;
        data_tokens t;
        assert_int_equal(
            expr_parse(&e, json_string_value(json_object_get(o, "prefix")), NULL, a, NULL),
            SNIP_OK);
        assert_int_equal(data_tokens_make(&t, e, v, a, NULL), SNIP_OK);
        assert_int_equal(t.count, data_tokens_count(e));
        assert_int_equal(t.id[0], v->eos);
        assert_int_equal(t.id[t.count - 1], v->eos);
        check_ids(&t, json_object_get(o, "ids"));
        json_t *words = json_object_get(o, "words");
        for (size_t k = 0; k + 2 < t.count; k++)
            assert_string_equal(v->equation_word[t.id[k + 1]],
                                json_string_value(json_array_get(words, k)));
    }
    json_decref(list);
}

/* Tokens of one sequence against a golden column of an array [positions][items]. */
static void check_column(const data_tokens *t, golden_array g, size_t item)
{
    for (size_t k = 0; k < g.shape[0]; k++)
        assert_int_equal(k < t->count ? t->id[k] : DATA_PAD, (int)g.value[k * g.shape[1] + item]);
}

/* Paths of the tokens (without <EOS>) against a golden list. */
static void check_paths(const data_tokens *t, json_t *paths, size_t first)
{
    for (size_t k = first; k < json_array_size(paths) - first; k++) {
        uint8_t path[DATA_SEQUENCE_MAX];
        json_t *want = json_array_get(paths, k);
        size_t n = data_tokens_path(t, (size_t)t->node[k + 1 - first], path);
        assert_int_equal(n, json_array_size(want));
        for (size_t i = 0; i < n; i++)
            assert_int_equal(path[i], json_integer_value(json_array_get(want, i)));
    }
}

/* The node at the end of a path from the root. */
static size_t follow(expr e, json_t *path)
{
    size_t at = 0, i;
    json_t *slot;
    json_array_foreach (path, i, slot)
        at = expr_child(e, at, (int)json_integer_value(slot) - 1);
    return at;
}

static void golden_variants_have_tokens_spans_and_paths(void **state)
{
    arena *a = *state;
    const data_vocab *v = data_vocab_new(3, a);
    json_t *list = golden_lines("model-common/variants.jsonl"), *o;
    golden_array parents = golden_npy("model-common/parent-tokens.npy", a);
    golden_array subtrees = golden_npy("model-common/subtree-tokens.npy", a);
    golden_array spans = golden_npy("model-common/spans.npy", a);
    size_t i;
    json_array_foreach (list, i, o) {
        expr parent, subtree;
        data_tokens tp, ts;
        expr_parse(&parent, json_string_value(json_object_get(o, "parent_prefix")), NULL, a, NULL);
        expr_parse(&subtree, json_string_value(json_object_get(o, "subtree_prefix")), NULL, a,
                   NULL);
        assert_int_equal(data_tokens_make(&tp, parent, v, a, NULL), SNIP_OK);
        assert_int_equal(data_tokens_make(&ts, subtree, v, a, NULL), SNIP_OK);
        check_column(&tp, parents, i);
        check_column(&ts, subtrees, i);
        check_paths(&tp, json_object_get(o, "parent_token_paths"), 0);
        check_paths(&ts, json_object_get(o, "subtree_token_paths"), 0);
        size_t node = follow(parent, json_object_get(o, "subtree_path"));
        assert_true(expr_same(expr_subtree(parent, node), subtree));
        assert_int_equal(tp.first[node], (int)spans.value[2 * i]);
        assert_int_equal(tp.end[node], (int)spans.value[2 * i + 1]);
    }
    json_decref(list);
}

static void the_paper_s_example_has_its_paths(void **state)
{
    arena *a = *state;
    const data_vocab *v = data_vocab_new(3, a);
    json_t *o = golden_json("model-common/tree-pe-example.json");
    expr e;
    data_tokens t;
    assert_int_equal(expr_parse(&e, "sin(x0 + 2.1*x1)", NULL, a, NULL), SNIP_OK);
    assert_int_equal(data_tokens_make(&t, e, v, a, NULL), SNIP_OK);
    json_t *ids = json_object_get(o, "ids");
    assert_int_equal(json_array_size(ids), t.count);
    for (size_t k = 0; k < t.count; k++)
        assert_int_equal(t.id[k], json_integer_value(json_array_get(ids, k)));
    check_paths(&t, json_object_get(o, "root_to_node_paths"), 1);
    json_decref(o);
}

static void golden_points_have_their_tokens(void **state)
{
    arena *a = *state;
    const data_vocab *v = data_vocab_new(3, a);
    golden_array x = golden_npy("model-s0/x.npy", a), y = golden_npy("model-s0/y.npy", a);
    golden_array want = golden_npy("model-s0/numeric-tokens.npy", a);
    json_t *list = golden_lines("model-s0/expressions.jsonl");
    size_t items = x.shape[0], points = x.shape[1], width = want.shape[2];
    assert_int_equal(width, 3 * (v->dims + 1));
    for (size_t b = 0; b < items; b++) {
        expr e;
        expr_parse(&e, json_string_value(json_object_get(json_array_get(list, b), "prefix")), NULL,
                   a, NULL);
        int dim = (int)expr_inputs(e);
        for (size_t i = 0; i < points; i++)
            for (int j = 0; j <= v->dims; j++) { /* x_0, x_1, ..., y; absent inputs are padding */
                uint16_t got[3] = { DATA_INPUT_PAD, DATA_INPUT_PAD, DATA_INPUT_PAD };
                size_t point = b * points + i;
                if (j < dim || j == v->dims)
                    assert_true(data_vocab_float(
                        v, j == v->dims ? y.value[point] : x.value[point * 3 + (size_t)j], got));
                for (size_t k = 0; k < 3; k++)
                    assert_int_equal(got[k],
                                     (int)want.value[(i * items + b) * width + 3 * (size_t)j + k]);
            }
    }
    json_decref(list);
}

static void what_has_no_token_is_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "tanh(x0)", "operator 'tanh'" },
        { "x10 + 1", "variable x10" },
        { "1e104*x0", "constant 1e+104" },
    };
    const data_vocab *v = data_vocab_new(10, *state);
    for (size_t i = 0; i < COUNT(cases); i++) {
        expr e;
        data_tokens t;
        snip_status st;
        expr_parse(&e, cases[i].text, NULL, *state, NULL);
        assert_int_equal(data_tokens_make(&t, e, v, *state, &st), SNIP_UNSUPPORTED);
        assert_non_null(strstr(st.msg, cases[i].message));
    }
    char longest[2000] = "x0";
    for (int i = 0; i < 100; i++)
        strcat(longest, "+x1");
    expr e;
    data_tokens t;
    snip_status st;
    expr_parse(&e, longest, NULL, *state, NULL);
    assert_int_equal(data_tokens_make(&t, e, v, *state, &st), SNIP_UNSUPPORTED);
    assert_non_null(strstr(st.msg, "203 tokens"));
}

static void integers_have_words_of_their_own(void **state)
{
    const data_vocab *v = data_vocab_new(10, *state);
    expr e;
    data_tokens t;
    expr_parse(&e, "add,-10,mul,10,mul,11,3.0", NULL, *state, NULL);
    assert_int_equal(data_tokens_make(&t, e, v, *state, NULL), SNIP_OK);
    static const char *const words[] = { "<EOS>", "add", "-10", "mul",   "10",  "mul",  "+",
                                         "N1100", "E-2", "+",   "N3000", "E-3", "<EOS>" };
    assert_int_equal(t.count, COUNT(words));
    for (size_t k = 0; k < t.count; k++)
        assert_string_equal(v->equation_word[t.id[k]], words[k]);
}

/* One token per constant, its value beside it; a form hides what a refit may move. */
static void constants_by_value_are_one_token(void **state)
{
    arena *a = *state;
    const data_vocab *v = data_vocab_new_values(10, a), *words = data_vocab_new(10, a);
    expr e;
    assert_int_equal(expr_parse(&e, "2.5 + -3e7*sin(x1)", NULL, a, NULL), SNIP_OK);
    data_tokens t, form;
    assert_true(v->values && v->equation_words < 100);
    assert_int_equal(data_tokens_make(&t, e, v, a, NULL), SNIP_OK);
    assert_int_equal(t.count, e.count + 2);
    e.node[1].fixed = 1;
    assert_int_equal(data_tokens_form(&form, e, v, a, NULL), SNIP_OK);
    assert_int_equal(form.count, t.count);
    for (size_t i = 0; i < t.count; i++) {
        const expr_node *n = t.node[i] < 0 ? NULL : &e.node[t.node[i]];
        int constant = n && n->op == EXPR_NUMBER, hidden = constant && !n->fixed;
        assert_true(t.id[i] < v->equation_words && form.id[i] < v->equation_words);
        assert_true(constant ? t.value[i] == n->value && t.id[i] == v->shown : isnan(t.value[i]));
        assert_true(hidden     ? isnan(form.value[i]) && form.id[i] == v->hidden
                    : constant ? form.value[i] == n->value && form.id[i] == v->shown
                               : form.id[i] == (i ? t.id[i] : DATA_FORM));
    }
    snip_status st;
    assert_int_equal(data_tokens_form(&form, e, words, a, &st), SNIP_UNSUPPORTED);
    assert_non_null(strstr(st.msg, "no form view"));
    e.node[1].value = INFINITY;
    assert_int_equal(data_tokens_make(&t, e, v, a, NULL), SNIP_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(vocabularies_are_the_reference_s),
        ARENA_TEST(ids_are_the_last_ones),
        ARENA_TEST(golden_floats_have_their_tokens),
        cmocka_unit_test(floats_round_as_printf_does),
        ARENA_TEST(golden_expressions_have_their_ids),
        ARENA_TEST(golden_variants_have_tokens_spans_and_paths),
        ARENA_TEST(the_paper_s_example_has_its_paths),
        ARENA_TEST(golden_points_have_their_tokens),
        ARENA_TEST(what_has_no_token_is_refused),
        ARENA_TEST(integers_have_words_of_their_own),
        ARENA_TEST(constants_by_value_are_one_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
