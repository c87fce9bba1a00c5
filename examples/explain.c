/* explain.c - which part of a formula is wrong? The energy of a falling stone, with a slip in it.
 *
 *     cc explain.c $(pkg-config --cflags --libs snip) -o explain
 *     ./explain default.safetensors
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <snip.h>

enum { SPEEDS = 8, HEIGHTS = 5, ROWS = SPEEDS * HEIGHTS, EDITS = 40, LISTED = 5 };

static void print(const snip_explanation *x)
{
    char text[400];
    const snip_expr *e = snip_explanation_formula(x);
    snip_expr_print(e, SNIP_INFIX, text, sizeof text);
    printf("%s agrees with the table by %.4f\n\n", text, snip_explanation_similarity(x));

    /* Nodes count in prefix order, and that is how SNIP_PREFIX writes them: a word each. */
    snip_expr_print(e, SNIP_PREFIX, text, sizeof text);
    char *word = strtok(text, ",");
    for (size_t node = 0; word; node++, word = strtok(NULL, ",")) {
        double gain = snip_explanation_gain(x, node);
        if (isnan(gain)) /* a constant: there is nothing to edit */
            printf("node %2zu %8s  %s\n", node, "", word);
        else
            printf("node %2zu %+8.4f  %s\n", node, gain, word);
    }

    printf("\n%8s %10s  %s\n", "gain", "R2 refit", "edit");
    for (size_t i = 0; i < snip_explanation_count(x); i++) {
        const snip_edit *edit = snip_explanation_at(x, i);
        if (i < LISTED)
            printf("%+8.4f %10.5f  %s\n", edit->gain, edit->refitted_r2_val, edit->text);
    }
    const snip_edit *best = snip_explanation_at(x, 0); /* the least error comes first */
    if (best) {
        snip_expr_print(best->formula, SNIP_INFIX, text, sizeof text);
        printf("\nbest after a refit: %s\n%s\n", best->text, text);
    }
}

int main(int argc, char **argv)
{
    double v[ROWS], h[ROWS], energy[ROWS]; /* a kilogram's, in joules */
    const char *const names[] = { "v", "h" };
    const double *const columns[] = { v, h };
    const snip_table table = {
        .inputs = 2, .rows = ROWS, .names = names, .x = columns, .y = energy
    };
    snip_model *m = NULL;
    snip_expr *e = NULL;
    snip_explanation *x = NULL;
    snip_status st;
    if (argc != 2) {
        fprintf(stderr, "usage: %s MODEL\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < ROWS; i++) {
        v[i] = 0.5 * (1 + i % SPEEDS);
        h[i] = 1 + 2 * (i / SPEEDS);
        energy[i] = 0.5 * v[i] * v[i] + 9.81 * h[i];
    }
    snip_code code = snip_model_open(&m, argv[1], &st);
    if (code == SNIP_OK) /* the square is missing */
        code = snip_expr_parse(&e, "0.5*v + 9.81*h", names, 2, &st);
    if (code == SNIP_OK)
        code = snip_explain(&x, m, &table, e, EDITS, NULL, &st);
    if (code == SNIP_OK)
        print(x);
    else
        fprintf(stderr, "%s\n", st.msg);
    snip_explanation_free(x);
    snip_expr_free(e);
    snip_model_close(m);
    return code == SNIP_OK ? 0 : 1;
}
