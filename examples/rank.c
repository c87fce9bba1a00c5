/* rank.c - which formula is it? Five candidates for the periods of the planets, best first.
 *
 *     cc rank.c $(pkg-config --cflags --libs snip) -o rank
 *     ./rank default.safetensors
 */
#include <stdio.h>

#include <snip.h>

/* Planets and dwarf planets: half the long axis of the orbit in astronomical units, period in
 * years. From twelve rows on, some are held out: they judge, they are not fitted. */
enum { ROWS = 13, CANDIDATES = 5 };
static const double a[ROWS] = { 0.3871, 0.72333, 1,      1.5237, 2.7675, 5.2044, 9.5826,
                                19.218, 30.07,   39.482, 43.116, 45.43,  67.864 };
static const double period[ROWS] = { 0.24085, 0.6152, 1,      1.8808, 4.6036, 11.862, 29.457,
                                     84.011,  164.79, 247.94, 283.12, 306.21, 559.07 };

/* Constants need only be roughly right: they are refitted. */
static const char *const text[CANDIDATES] = { "2*a + 1", "0.1*a^2", "2*a*sqrt(a)", "5*log(a) + 1",
                                              "exp(0.1*a)" };

static void print(const snip_ranking *r)
{
    printf("%10s %10s %10s  %s\n", "similarity", "R2 train", "R2 held", "formula");
    for (size_t i = 0; i < snip_ranking_count(r); i++) {
        const snip_ranked *one = snip_ranking_at(r, i);
        char formula[200];
        snip_expr_print(one->formula, SNIP_INFIX, formula, sizeof formula);
        printf("%10.4f %10.5f %10.5f  %s\n", one->similarity, one->r2_train, one->r2_val, formula);
    }
}

int main(int argc, char **argv)
{
    const char *const names[] = { "a" };
    const double *const columns[] = { a };
    const snip_table table = {
        .inputs = 1, .rows = ROWS, .names = names, .x = columns, .y = period
    };
    snip_expr *candidate[CANDIDATES] = { NULL };
    snip_model *m = NULL;
    snip_ranking *r = NULL;
    snip_status st;
    if (argc != 2) {
        fprintf(stderr, "usage: %s MODEL\n", argv[0]);
        return 2;
    }
    snip_code code = snip_model_open(&m, argv[1], &st);
    for (int i = 0; i < CANDIDATES && code == SNIP_OK; i++)
        code = snip_expr_parse(&candidate[i], text[i], names, 1, &st);
    /* NULL in place of options: error and size decide. */
    if (code == SNIP_OK)
        code = snip_rank(&r, m, &table, (const snip_expr *const *)candidate, CANDIDATES, NULL, &st);
    if (code == SNIP_OK)
        print(r);
    else
        fprintf(stderr, "%s\n", st.msg);
    snip_ranking_free(r); /* every free takes NULL */
    for (int i = 0; i < CANDIDATES; i++)
        snip_expr_free(candidate[i]);
    snip_model_close(m);
    return code == SNIP_OK ? 0 : 1;
}
