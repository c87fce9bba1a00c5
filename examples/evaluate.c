/* evaluate.c - reads a formula of x0 from the command line and prints its values from -1 to 1.
 *
 *     cc evaluate.c $(pkg-config --cflags --libs snip) -o evaluate
 *     ./evaluate 'sin(3*x0)/x0'
 */
#include <stdio.h>

#include <snip.h>

int main(int argc, char **argv)
{
    enum { ROWS = 9 };
    double x[ROWS], y[ROWS];
    const double *columns[] = { x };
    snip_status st;
    snip_expr *e;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FORMULA\n", argv[0]);
        return 2;
    }
    if (snip_expr_parse(&e, argv[1], NULL, 0, &st) != SNIP_OK) {
        fprintf(stderr, "byte %zu: %s\n", st.pos, st.msg);
        return 1;
    }
    for (int i = 0; i < ROWS; i++)
        x[i] = -1 + 2.0 * i / (ROWS - 1);
    size_t finite;
    snip_code code = snip_expr_eval(e, columns, 1, ROWS, y, &finite, &st);
    if (code == SNIP_OK) {
        for (int i = 0; i < ROWS; i++)
            printf("%6.3f  %g\n", x[i], y[i]);
        printf("%zu of %d finite\n", finite, ROWS);
    } else {
        fprintf(stderr, "%s\n", st.msg);
    }
    snip_expr_free(e);
    return code == SNIP_OK ? 0 : 1;
}
