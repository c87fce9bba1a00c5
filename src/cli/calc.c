/* calc.c - `snip calc`: a formula's values on a table. */
#include <string.h>

#include "cli/cli.h"
#include "expr/expr.h"

static int command(const cli_command *self, int argc, char **argv)
{
    int json = 0, code;
    table_options how = { .hints = &cli_table_hints };
    const cli_option options[] = {
        CLI_OPTION(TEXT, "target", &how.target, "NAME", "column that is not an input"),
        CLI_TABLE_COLUMNS(&how),
        CLI_SWITCH("drop-nan", &how.drop_invalid,
                   "leave out rows with missing or non-finite cells"),
        CLI_SWITCH("json", &json,
                   "17 significant digits; NaN and Infinity as Python's json has them"),
    };
    if (!cli_parse_two(self, options, sizeof options / sizeof *options, argc, argv, "formula",
                       "table", &code))
        return code;

    arena *a = arena_new(0);
    snip_status st;
    table t;
    expr e;
    const char **names;
    const double **x;
    if (!a)
        return cli_fail(self, CLI_FAILED, "out of memory");
    code = CLI_FAILED;
    if (table_read(&t, argv[1], &how, a, &st) != SNIP_OK) {
        cli_fail_status(self, &st);
        goto done;
    }
    double *y = arena_array(a, t.rows, sizeof *y);
    if (!table_inputs(&t, &names, &x, a) || !y) {
        cli_fail(self, CLI_FAILED, "out of memory");
        goto done;
    }
    expr_names known = { names, t.inputs };
    if (!cli_formula(self, &e, argv[0], &known, a))
        goto done;
    cli_table_notes(self, &t, &how, a);
    if (expr_eval(e, x, t.rows, y, a) == (size_t)-1) {
        cli_fail(self, CLI_FAILED, "out of memory");
        goto done;
    }
    for (size_t i = 0; i < t.rows; i++) {
        char buf[32];
        if (json)
            puts(cli_full_number(buf, y[i]));
        else {
            expr_print_number(buf, y[i]);
            puts(buf);
        }
    }
    code = cli_finish(self);
done:
    arena_free(a);
    return code;
}

const cli_command cli_calc_command = {
    .name = "calc",
    .summary = "evaluate a formula on the rows of a table",
    .arguments = "FORMULA TABLE [options]",
    .about =
        "Prints one value a row. FORMULA is infix (2.1*sin(x0) + x1^2, sympy and numpy spellings), "
        "prefix (add,2.1,x_0) or LaTeX; @FILE reads it from a file. Variables are the table's "
        "column names, or x0, x1, ... for its columns in order; a column called `target` (or "
        "--target) is not counted. TABLE is CSV, TSV or blank-separated, plain or .gz, with or "
        "without header; - is standard input. Outside its domain a formula gives NaN.",
    .examples = "snip calc 'x0^2 + sin(x1)' data.csv\n"
                "snip calc 'm*c**2' masses.tsv.gz --json\n"
                "printf '1 2\\n"
                "3 4\\n"
                "' | snip calc 'x0/x1' -\n",
    .run = command,
};
