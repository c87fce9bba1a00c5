/* fuzz_fit.c - any bytes as a table, options and guesses for a search: they are refused with a
 * message, or answered by formulas whose errors are what they are said to be.
 *
 * The first byte chooses options, a line of %% ends the table, the next line is a list of operators
 * (empty: the usual ones), then there is a guess a line. Few rows and evaluations, so that a run is
 * quick. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "search/search.h"
#include "search/search_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 40, GUESSES = 3, EVALUATIONS = 400 };

static void check(int good)
{
    if (!good)
        abort();
}

/* The mean square error of a formula over all rows but those left out, from the text that a user
 * reads. */
static double loss_of_text(const search_formula *f, const search_result *r, const regress_table *t,
                           arena *a)
{
    const expr_names names = { t->names, t->dim };
    const char *text = expr_print(f->e, SNIP_INFIX, &names, 0, a);
    double *y = arena_array(a, t->rows, sizeof *y), sum = 0;
    expr e;
    snip_status st = { 0 };
    check(text && y && expr_parse(&e, text, &names, a, &st) == SNIP_OK);
    expr_eval(e, t->x, t->rows, y, a);
    for (size_t i = 0, k = 0; i < t->rows; i++) {
        if (k < r->far_count && r->far[k] == i) {
            k++;
            continue;
        }
        check(isfinite(y[i]));
        sum += (y[i] - t->y[i]) * (y[i] - t->y[i]) / (double)(t->rows - r->far_count);
    }
    return sum;
}

static void check_front(const search_result *r, const regress_table *t, arena *a)
{
    const expr_names names = { t->names, t->dim };
    check(r->count >= 1 && r->selected < r->count &&
          r->rows[0] + r->rows[1] + r->far_count == t->rows);
    for (size_t k = 0; k < r->count; k++) {
        const search_formula *f = &r->front[k];
        check(f->size == f->e.count && expr_measure(f->e) && expr_inputs(f->e) <= t->dim);
        check(k == 0 || f->size >= r->front[k - 1].size);
        double told = (f->loss[0] * (double)r->rows[0] + f->loss[1] * (double)r->rows[1]) /
                      (double)(t->rows - r->far_count);
        double mine = loss_of_text(f, r, t, a);
        check(!isfinite(told) || !isfinite(mine) ||
              fabs(told - mine) <= 1e-6 * fabs(mine) + 1e-300);
        for (int form = SNIP_INFIX; form <= SNIP_C; form++) {
            const char *text = expr_print(f->e, (snip_format)form, &names, 0, a);
            expr back;
            snip_status st = { 0 };
            check(text && (form == SNIP_C || expr_parse(&back, text, &names, a, &st) == SNIP_OK));
        }
    }
    json_t *json = search_result_json(r, &names, a);
    check(json != NULL);
    json_decref(json);
}

/* The first line of text, ended; *rest is what follows it. */
static char *first_line(char *text, char **rest)
{
    char *end = strchr(text, '\n');
    *rest = end ? end + 1 : text + strlen(text);
    if (end)
        *end = 0;
    return text;
}

static void fit(char *text, const regress_table *t, unsigned choice, arena *a)
{
    const expr_names names = { t->names, t->dim };
    expr guess[GUESSES];
    snip_status st = { 0 };
    search_how how = { .evaluations = EVALUATIONS,
                       .seed = choice,
                       .threads = 1,
                       .memory = search_memory_least(1),
                       .max_size = choice & 2 ? 9 : 0,
                       .per_size = 1 + (choice >> 2 & 1),
                       .guess = guess };
    char *operators = first_line(text, &text);
    if (*operators && search_operators_read(&how.operators, operators, &st) != SNIP_OK) {
        check(st.msg[0]);
        return;
    }
    while (*text && how.guesses < GUESSES)
        if (expr_parse(&guess[how.guesses], first_line(text, &text), &names, a, &st) == SNIP_OK &&
            guess[how.guesses].count <= SEARCH_SIZE_MAX)
            how.guesses++;
    search_result r;
    snip_code code = search_run(&r, t, &how, a, &st);
    if (code == SNIP_OK)
        check_front(&r, t, a);
    else
        check(st.msg[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const table_options how = { .drop_invalid = data[0] & 1, .need_target = 1 };
    arena *a = arena_new((size_t)256 << 20);
    char *text = arena_text(a, (const char *)data + 1, size - 1), *rest = strstr(text, "%%\n");
    table t;
    snip_status st = { 0 };
    const char **names;
    const double **x;
    if (rest) {
        *rest = 0;
        if (table_parse(&t, "t.csv", text, strlen(text), &how, a, &st) == SNIP_OK &&
            t.columns > 1 && t.columns <= 6 && table_inputs(&t, &names, &x, a)) {
            const regress_table task = { t.inputs, t.rows < ROWS ? t.rows : ROWS, names, x,
                                         t.column[t.target] };
            fit(rest + 3, &task, data[0], a);
        }
    }
    arena_free(a);
    return 0;
}
