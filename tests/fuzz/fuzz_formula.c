/* fuzz_formula.c - any bytes as a formula: it is refused at a byte of the text, or it can be
 * printed, read back to the same tree, rewritten, tokenised and evaluated. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/tokens.h"
#include "expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
    if (!good)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "v", "m_1", "speed [m/s]", "x3" };
    const expr_names known = { names, 4 };
    arena *a = arena_new((size_t)64 << 20);
    char *text = arena_text(a, (const char *)data, size);
    expr e, back, normal;
    snip_status st = { 0 };
    if (expr_parse(&e, text, &known, a, &st) != SNIP_OK)
        check(st.code != SNIP_SYNTAX || st.pos <= strlen(text));
    else if ((text = expr_print(e, SNIP_INFIX, &known, 0, a)) != NULL)
        check(expr_parse(&back, text, &known, a, &st) != SNIP_OK
                  ? strstr(st.msg, "nested") != NULL || st.code == SNIP_NOMEM
                  : expr_same(e, back));
    text = arena_text(a, (const char *)data, size);
    if (expr_parse(&e, text, NULL, a, &st) != SNIP_OK) {
        check(e.node == NULL && st.pos <= strlen(text) && st.msg[0]);
    } else {
        static const snip_format formats[] = { SNIP_INFIX, SNIP_PREFIX, SNIP_LATEX };
        for (int f = 0; f < 3; f++) {
            const char *printed = expr_print(e, formats[f], NULL, 0, a);
            if (!printed)
                continue;
            /* Brackets that printing adds may pass the limit of nesting; nothing else may fail. */
            snip_code code = expr_parse(&back, printed, NULL, a, &st);
            check(code == SNIP_NOMEM ||
                  (code == SNIP_OK ? expr_same(e, back) : strstr(st.msg, "nested") != NULL));
        }
        expr_print(e, SNIP_SYMPY, NULL, 0, a);
        expr_print(e, SNIP_C, NULL, 0, a);
        check(expr_sympy_size(e) > 0);
        size_t inputs = expr_inputs(e);
        const double row[2] = { 0.5, -1.5 };
        const double **x = arena_array(a, inputs + 1, sizeof *x);
        double y[2];
        for (size_t j = 0; x && j < inputs; j++)
            x[j] = row;
        if (x)
            expr_eval(e, x, 2, y, a);
        if (expr_normal(&normal, e, NULL, a, &st) == SNIP_OK) {
            static arena *kept; /* made once: it would take most of the time */
            static const data_vocab *v;
            if (!kept)
                v = data_vocab_new(10, kept = arena_new(0));
            data_tokens t;
            data_tokens_make(&t, normal, v, a, &st);
        }
    }
    arena_free(a);
    return 0;
}
