/* fuzz_rank.c - any bytes as a table and formulas for it: each is refused with a message, or ranked
 * and explained with finite figures.
 *
 * The first byte chooses options, a line of %% ends the table, then there is a formula a line. Few
 * rows and formulas, so that a run is quick. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "regress/explain.h"
#include "fuzz.h"

enum { ROWS = 24, FORMULAS = 4, NODES = 40, EXPLAINED = 6 };

static int in_range(double cosine)
{
    return cosine >= -1 - 1e-5 && cosine <= 1 + 1e-5;
}

static void check_ranking(const regress_candidate *c, size_t n, const regress_problem *p)
{
    double last = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double loss = regress_judged(&c[i].errors, p);
        check(c[i].complexity == c[i].fitted.count && expr_measure(c[i].fitted));
        check(isnan(c[i].similarity) ? c[i].why != NULL : in_range(c[i].similarity));
        check(!c[i].front || isfinite(loss));
        check(loss >= last); /* ordered by it */
        last = loss;
    }
}

static void explain(expr e, const regress_problem *p, arena *a)
{
    regress_explanation x;
    snip_status st = { 0 };
    const regress_explain_how how = { .refit = 1, .list = 2, .threads = 1 };
    snip_code code = regress_explain(&x, e, p, the_model(), &how, a, &st);
    check(code == SNIP_OK || st.msg[0]);
    for (size_t i = 0; code == SNIP_OK && i < x.edits; i++) {
        check(in_range(x.edit[i].similarity) && expr_measure(x.edit[i].e));
        /* Those that were refitted come first, by error; the others by gain, which a freed exponent
         * has none of. */
        check(i <= x.listed || x.edit[i].kind >= REGRESS_FREE ||
              x.edit[i].gain <= x.edit[i - 1].gain);
        check(i > 0 || regress_edit_text(&x.edit[i], x.e, &p->names, a) != NULL);
    }
}

static void rank(char *formulas, const regress_problem *p, int order, arena *a)
{
    regress_candidate c[FORMULAS] = { 0 };
    snip_status st = { 0 };
    size_t n = 0;
    for (char *line = formulas, *next; line && n < FORMULAS; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        c[n].place = n;
        if (expr_parse(&c[n].e, line, &p->names, a, &st) == SNIP_OK && c[n].e.count <= NODES)
            n++;
    }
    expr first = n ? c[0].e : (expr){ 0 };
    const regress_rank_how how = { .refit = 1, .starts = 1, .order = order, .threads = 1 };
    snip_code code = regress_rank(c, n, p, the_model(), &how, a, &st);
    check(code == SNIP_OK || st.msg[0]);
    if (code == SNIP_OK && order == REGRESS_BY_LOSS)
        check_ranking(c, n, p);
    for (size_t i = 0; code == SNIP_OK && i < n; i++)
        for (int f = SNIP_INFIX; f <= SNIP_C; f++)
            check(expr_print(c[i].fitted, (snip_format)f, &p->names, 0, a) != NULL);
    if (n && first.count <= EXPLAINED)
        explain(first, p, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const table_options how = { .drop_invalid = data[0] & 1, .need_target = 1 };
    int order = data[0] >> 1 & 3;
    arena *a = arena_new((size_t)256 << 20);
    char *text = arena_text(a, (const char *)data + 1, size - 1), *formulas = strstr(text, "%%\n");
    table t;
    snip_status st = { 0 };
    const char **names;
    const double **x;
    if (formulas) {
        *formulas = 0;
        formulas += 3;
        if (table_parse(&t, "t.csv", text, strlen(text), &how, a, &st) == SNIP_OK &&
            t.columns > 1 && t.columns <= 5) {
            table_inputs(&t, &names, &x, a);
            const regress_table task = { t.inputs, t.rows < ROWS ? t.rows : ROWS, names, x,
                                         t.column[t.target] };
            regress_problem p;
            if (regress_problem_make(&p, &task, 1, a, &st) == SNIP_OK)
                rank(formulas, &p, order % REGRESS_ORDERS, a);
            else
                check(st.msg[0]);
        }
    }
    arena_free(a);
    return 0;
}
