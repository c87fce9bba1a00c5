/* fit.c - what is the law? The periods of the planets, and nothing else: Kepler's third comes out.
 *
 *     cc fit.c $(pkg-config --cflags --libs snip) -o fit
 *     ./fit 2
 */
#include <stdio.h>
#include <stdlib.h>

#include <snip.h>

/* Planets and dwarf planets: half the long axis of the orbit in astronomical units, period in
 * years. */
enum { ROWS = 13 };
static const double a[ROWS] = { 0.3871, 0.72333, 1,      1.5237, 2.7675, 5.2044, 9.5826,
                                19.218, 30.07,   39.482, 43.116, 45.43,  67.864 };
static const double period[ROWS] = { 0.24085, 0.6152, 1,      1.8808, 4.6036, 11.862, 29.457,
                                     84.011,  164.79, 247.94, 283.12, 306.21, 559.07 };

/* Where it is, whenever the front changes. Returning 1 would end the search. */
static int show(void *context, const snip_fit_progress *now)
{
    if (now->changed)
        fprintf(context, "%.1f s: %s\n", now->seconds, now->formula);
    return 0;
}

int main(int argc, char **argv)
{
    const char *const names[] = { "a" };
    const double *const columns[] = { a };
    const snip_table table = {
        .inputs = 1, .rows = ROWS, .names = names, .x = columns, .y = period
    };
    if (argc != 2) {
        fprintf(stderr, "usage: %s SECONDS\n", argv[0]);
        return 2;
    }
    const snip_fit_options how = { .seconds = atof(argv[1]), .progress = show, .context = stderr };
    snip_front *front = NULL;
    snip_status st;
    if (snip_fit(&front, &table, &how, &st) != SNIP_OK) {
        fprintf(stderr, "%s\n", st.msg);
        return 1;
    }
    for (size_t i = 0; i < snip_front_count(front); i++) {
        const snip_fitted *one = snip_front_at(front, i);
        char formula[200];
        snip_expr_print(one->formula, SNIP_INFIX, formula, sizeof formula);
        printf("%c %2zu %10.6f  %s\n", i == snip_front_selected(front) ? '>' : ' ', one->size,
               one->r2_val, formula);
    }
    snip_front_free(front);
    return 0;
}
