/* tokens.c - `snip tokens`: what the symbolic encoder reads. */
#include <string.h>

#include "cli/cli.h"
#include "data/tokens.h"

/* "1.2.2", or "-" for the root; buf holds 2 bytes per step. */
static const char *path_text(const data_tokens *t, size_t node, uint8_t *path, char *buf)
{
    size_t n = data_tokens_path(t, node, path), at = 0;
    if (n == 0)
        return "-";
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf[at++] = '.';
        buf[at++] = (char)('0' + path[i]);
    }
    buf[at] = 0;
    return buf;
}

static void print_table(const data_tokens *t, const data_vocab *v, const char *prefix)
{
    uint8_t path[DATA_SEQUENCE_MAX];
    char buf[2 * DATA_SEQUENCE_MAX];
    printf("%s\n\n%8s  %-12s %6s %6s %10s  %s\n", prefix, "position", "token", "id", "node", "span",
           "path");
    for (size_t i = 0; i < t->count; i++) {
        printf("%8zu  %-12s %6d", i, v->equation_word[t->id[i]], t->id[i]);
        if (t->node[i] >= 0) {
            size_t node = (size_t)t->node[i];
            char span[32];
            snprintf(span, sizeof span, "%d..%d", t->first[node], t->end[node] - 1);
            printf(" %6zu %10s  %s", node, span, path_text(t, node, path, buf));
        }
        printf("\n");
    }
}

static json_t *tokens_json(const data_tokens *t, const data_vocab *v, expr e, const char *prefix,
                           const char *infix)
{
    json_t *words = json_array(), *ids = json_array(), *owners = json_array(),
           *nodes = json_array();
    for (size_t i = 0; i < t->count; i++) {
        json_array_append_new(words, json_string(v->equation_word[t->id[i]]));
        json_array_append_new(ids, json_integer(t->id[i]));
        json_array_append_new(owners, t->node[i] < 0 ? json_null() : json_integer(t->node[i]));
    }
    for (size_t i = 0; i < t->nodes; i++) {
        uint8_t path[DATA_SEQUENCE_MAX];
        json_t *steps = json_array();
        size_t depth = data_tokens_path(t, i, path);
        for (size_t k = 0; k < depth; k++)
            json_array_append_new(steps, json_integer(path[k]));
        const char *kind = e.node[i].op == EXPR_NUMBER     ? "number"
                           : e.node[i].op == EXPR_VARIABLE ? "variable"
                                                           : expr_ops[e.node[i].op].name;
        json_array_append_new(nodes, json_pack("{s:s,s:[i,i],s:o}", "kind", kind, "span",
                                               t->first[i], t->end[i], "path", steps));
    }
    return json_pack("{s:s,s:s,s:o,s:o,s:o,s:o}", "prefix", prefix, "infix", infix, "tokens", words,
                     "ids", ids, "node", owners, "nodes", nodes);
}

static int command(const cli_command *self, int argc, char **argv)
{
    int json = 0, normal = 0, positive = 0, form = 0, code;
    uint64_t dims = DATA_DIMS_MAX;
    const cli_option options[] = {
        CLI_SWITCH("normal", &normal, "first rewrite the formula in the model's operators"),
        CLI_SWITCH("assume-positive", &positive,
                   "with --normal or --form: bases of powers are positive"),
        CLI_SWITCH("form", &form,
                   "the form: canonical structure, one token per constant, free ones hidden"),
        CLI_OPTION(COUNT, "dims", &dims, "N", "input dimension of the vocabulary", .low = 1,
                   .high = DATA_DIMS_MAX),
        CLI_SWITCH("json", &json, "one JSON object; spans are [first, one past the last]"),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n != 1)
        return cli_wants(self, "one formula");
    if (positive && !normal && !form)
        return cli_fail(self, CLI_MISUSED, "--assume-positive is for --normal and --form");

    arena *a = arena_new(0);
    const data_vocab *v = !a     ? NULL
                          : form ? data_vocab_new_values((int)dims, a)
                                 : data_vocab_new((int)dims, a);
    if (!v)
        return cli_fail(self, CLI_FAILED, "out of memory");
    snip_status st;
    expr e;
    data_tokens t;
    code = CLI_FAILED;
    if (!cli_formula(self, &e, argv[0], NULL, a))
        goto done;
    expr_domain domain = { .assume_positive = positive };
    if ((normal || form) && expr_normal(&e, e, &domain, a, &st) != SNIP_OK) {
        cli_fail_status(self, &st);
        goto done;
    }
    expr_form as_form;
    if (form && expr_canonical(&as_form, e, a, &st) != SNIP_OK) {
        cli_fail_status(self, &st);
        goto done;
    }
    if (form && as_form.core.count == 0) {
        cli_fail(self, CLI_FAILED, "a constant has no form");
        goto done;
    }
    e = form ? as_form.core : e;
    if ((form ? data_tokens_form(&t, e, v, a, &st) : data_tokens_make(&t, e, v, a, &st)) !=
        SNIP_OK) {
        int foreign = 0; /* an operator without a word may have a rewriting */
        for (size_t i = 0; i < e.count; i++)
            foreign |= e.node[i].op >= EXPR_VOCABULARY_END;
        cli_fail(self, CLI_FAILED, "%s%s", st.msg,
                 foreign && !normal ? " (--normal rewrites what it can)" : "");
        goto done;
    }
    const char *prefix = expr_print(e, SNIP_PREFIX, NULL, 0, a);
    const char *infix = expr_print(e, SNIP_INFIX, NULL, 0, a);
    if (!prefix || !infix) {
        cli_fail(self, CLI_FAILED, "out of memory");
    } else if (json) {
        code = cli_print_json(self, tokens_json(&t, v, e, prefix, infix));
    } else {
        print_table(&t, v, prefix);
        code = cli_finish(self);
    }
done:
    arena_free(a);
    return code;
}

const cli_command cli_tokens_command = {
    .name = "tokens",
    .summary = "show what the symbolic encoder reads of a formula",
    .arguments = "FORMULA [options]",
    .about = "Prints the formula's tokens with their ids in SNIP's vocabulary, the tree node that "
             "each belongs to, that node's span of tokens and its path from the root (1: first "
             "child, 2: second).",
    .examples = "snip tokens 'sin(x0 + 2.1*x1)'\n"
                "snip tokens --normal 'x0^4/x1'\n"
                "snip tokens --form '65.15/(0.0463*x0 + 2)'\n"
                "snip tokens add,1.5,mul,2.0,x_0 --json\n",
    .run = command,
};
