/* forms.c - does a form suit a table, whatever the constants and the unit of y?
 *
 *     cc forms.c $(pkg-config --cflags --libs snip) -o forms
 *     ./forms model.safetensors '2*x0*sqrt(x0)'        # a model that was trained with forms=yes
 */
#include <stdio.h>
#include <stdlib.h>

#include <snip.h>

/* Planets: half the long axis of the orbit in astronomical units, period in years. */
enum { ROWS = 8 };
static const double a[ROWS] = { 0.3871, 0.72333, 1, 1.5237, 5.2044, 9.5826, 19.218, 30.07 };
static const double years[ROWS] = { 0.24085, 0.6152, 1, 1.8808, 11.862, 29.457, 84.011, 164.79 };

/* The table is embedded both ways up, and the side that agrees more counts. z has room for three
 * vectors: one of the form, two of the table. */
static snip_code similarity(double *out, const snip_model *m, const snip_expr *e,
                            const snip_table *table, float *z, snip_status *st)
{
    size_t width = snip_model_width(m);
    float *form = z, *t = z + width;
    snip_code code = snip_embed_forms(m, &e, 1, 0, form, st);
    if (code == SNIP_OK)
        code = snip_embed_table_form(m, table, 0, t, st);
    double up = 0, down = 0;
    for (size_t i = 0; i < width && code == SNIP_OK; i++) {
        up += form[i] * t[i];
        down += form[i] * t[width + i];
    }
    *out = up > down ? up : down;
    return code;
}

int main(int argc, char **argv)
{
    const double *const columns[] = { a };
    double hours[ROWS], in_years = 0, in_hours = 0;
    snip_expr *e = NULL;
    snip_model *m = NULL;
    float *z = NULL;
    snip_status st;
    if (argc != 3) {
        fprintf(stderr, "usage: %s MODEL FORMULA\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < ROWS; i++)
        hours[i] = 8766 * years[i];
    snip_table table = { .inputs = 1, .rows = ROWS, .x = columns, .y = years };
    snip_code code = snip_model_open(&m, argv[1], &st);
    if (code == SNIP_OK)
        code = snip_expr_parse(&e, argv[2], NULL, 0, &st);
    if (code == SNIP_OK && !(z = malloc(3 * snip_model_width(m) * sizeof *z))) {
        st = (snip_status){ .msg = "out of memory" };
        code = SNIP_NOMEM;
    }
    if (code == SNIP_OK)
        code = similarity(&in_years, m, e, &table, z, &st);
    table.y = hours;
    if (code == SNIP_OK)
        code = similarity(&in_hours, m, e, &table, z, &st);
    if (code == SNIP_OK)
        printf("years %.4f, hours %.4f\n", in_years, in_hours);
    else
        fprintf(stderr, "%s\n", st.msg);
    free(z);
    snip_expr_free(e);
    snip_model_close(m);
    return code == SNIP_OK ? 0 : 1;
}
