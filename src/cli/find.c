/* find.c - `snip find`: laws of the textbooks for a table, or formulas of a library for a table or
 * near to a formula. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "cli/ranking.h"
#include "library/find.h"
#include "library/textbook.h"

/* The nearest formulas to one. */
static int near_formula(const cli_command *self, const cli_task *task, library_file *ix,
                        const char *argument, size_t k, int json)
{
    expr e;
    model_words words;
    snip_status st;
    const expr_domain domain = { .assume_positive = 1 };
    size_t latent = (size_t)task->t->m->config.latent, found = 0;
    float *z = arena_array(task->a, latent, sizeof *z);
    library_hit *hit = arena_array(task->a, k, sizeof *hit);
    model_space *s = model_space_new(task->t->m, task->t->tree, task->cores);
    if (!z || !hit || !s) {
        model_space_free(s);
        return cli_fail(self, CLI_FAILED, "out of memory");
    }
    if (!cli_formula(self, &e, argument, NULL, task->a)) {
        model_space_free(s);
        return CLI_FAILED;
    }
    const model_words_how how = model_reads(task->t, MODEL_ENTRY, &domain);
    snip_code code = model_words_make(&words, e, &how, task->a, NULL, &st);
    const model_item item = { .words = &words, .node = MODEL_WHOLE };
    if (code == SNIP_OK)
        code = model_space_embed(s, &item, 1, z, NULL, &st);
    if (code == SNIP_OK)
        code = library_search(ix, z, k, task->t->m->config.dims, task->cores, hit, &found, &st);
    model_space_free(s);
    if (code == SNIP_OK && !json)
        printf("%4s %10s %10s %6s %6s  %s\n", "", "similarity", "id", "inputs", "nodes", "formula");
    for (size_t i = 0; i < found && code == SNIP_OK; i++) {
        library_row row;
        code = library_formula(&row, ix, hit[i].id, task->a, &st);
        if (code != SNIP_OK)
            break;
        double cosine = fmin(1, hit[i].score); /* stored vectors are of length 1 up to rounding */
        const char *text =
            expr_print(row.e, json ? SNIP_SYMPY : SNIP_INFIX, NULL, json ? 0 : 5, task->a);
        if (json)
            cli_print_json(self,
                           json_pack("{s:f,s:I,s:o,s:i,s:i,s:o,s:s}", "similarity", cosine, "id",
                                     (json_int_t)row.id, "name",
                                     row.name ? text_json(row.name) : json_null(), "dimension",
                                     row.dimension, "complexity", row.complexity, "equation",
                                     text_json(text ? text : ""), "prefix", row.formula));
        else
            printf("%4zu %10.5f %10llu %6d %6d  %s%s%s\n", i + 1, cosine,
                   (unsigned long long)row.id, row.dimension, row.complexity,
                   row.name ? row.name : "", row.name ? ": " : "", text ? text : "");
    }
    return code == SNIP_OK ? cli_finish(self) : cli_fail_status(self, &st);
}

/* What makes a similarity of laws: a model that reads forms, and as many inputs. Only one that was
 * asked for by name must be there. Returns 0 after printing what is wrong. */
static int open_forms(const cli_command *self, cli_task *task)
{
    snip_status st;
    const char *path = cli_model_path(task->model, task->a);
    if (!path)
        return 1;
    if (model_open(&task->t, path, &st) != SNIP_OK) {
        task->t = NULL;
        return task->model ? cli_fail(self, 0, "%s", st.msg) : 1;
    }
    if (!task->t->m->config.forms || task->p.dim > (size_t)task->t->m->config.dims) {
        model_close(task->t);
        task->t = NULL;
    }
    return 1;
}

static void show_progress(void *context, size_t done, size_t of)
{
    (void)of;
    progress_at(context, done);
}

/* The laws that come with the program, fitted to a table. */
static int name_law(const cli_command *self, cli_task *task, const cli_ranking *show,
                    const char *path, size_t k)
{
    snip_status st;
    library_textbook book;
    regress_candidate *c;
    size_t found;
    progress p;
    task->cores = cli_threads(task->threads);
    if (!(task->a = arena_new(0)))
        return cli_fail(self, CLI_FAILED, "out of memory");
    if (!cli_task_table(self, task, path) || !open_forms(self, task))
        return CLI_FAILED;
    if (library_textbook_builtin(&book, task->a, &st) != SNIP_OK)
        return cli_fail_status(self, &st);
    progress_start(&p, "laws", book.count, cli_progress(task->quiet));
    const library_textbook_how how = { .k = k,
                                       .starts = (int)show->starts,
                                       .threads = task->cores,
                                       .step = show_progress,
                                       .context = &p };
    snip_code code =
        library_textbook_find(&c, &found, &task->p, &book, task->t, &how, task->a, &st);
    progress_end(&p);
    if (code != SNIP_OK)
        return cli_fail_status(self, &st);
    return cli_ranking_print(self, show, c, found, task);
}

static int command(const cli_command *self, int argc, char **argv)
{
    int code, refit = 0;
    uint64_t k = 20;
    const char *library = NULL, *formula = NULL;
    cli_task task = { 0 };
    cli_ranking show = { .starts = 4 };
    const cli_option options[] = {
        CLI_OPTION(TEXT, "index", &library, "LIBRARY",
                   "a library made by snip index; default: the laws of the textbooks"),
        CLI_OPTION(COUNT, "count", &k, "K", "formulas to find", .short_name = 'k', .low = 1,
                   .high = 100000),
        CLI_SWITCH("refit", &refit, "fit constants, order by error and size"),
        CLI_OPTION(TEXT, "formula", &formula, "F", "look for formulas near to this one"),
        CLI_RANKING_OPTIONS(&show),
        CLI_TASK_TABLE(&task),
        CLI_TASK_MODEL(&task),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n != (formula ? 0 : 1))
        return cli_wants(self, "a table, or --formula and --index");
    if (formula && !library)
        return cli_fail(self, CLI_MISUSED, "--formula wants --index LIBRARY; see snip find --help");

    int other = show.format != CLI_RANKING_TABLE && show.format != CLI_RANKING_JSON;
    if (formula && (show.out || other || show.top || refit))
        return cli_fail(self, CLI_MISUSED,
                        "--formula prints K formulas as a table or, with --json, objects; it takes "
                        "no --format, --out, --top or --refit");
    if (show.out && !cli_can_write(self, show.out))
        return CLI_FAILED;

    if (!library) {
        code = name_law(self, &task, &show, argv[0], (size_t)k);
        cli_task_close(&task);
        return code;
    }
    snip_status st;
    library_file *ix = NULL;
    code = CLI_FAILED;
    int ready = formula ? cli_task_start(self, &task) : cli_task_open(self, &task, argv[0]);
    if (ready && library_open(&ix, library, task.t, &st) != SNIP_OK)
        ready = cli_fail(self, 0, "%s", st.msg);
    if (ready && formula) {
        code = near_formula(self, &task, ix, formula, (size_t)k, show.format == CLI_RANKING_JSON);
    } else if (ready) {
        refit |= task.t->m->config.forms; /* a form has no constants before they are fitted */
        const library_find_how how = { (size_t)k,
                                       { .refit = refit,
                                         .starts = (int)show.starts,
                                         .order =
                                             refit ? REGRESS_BY_BALANCE : REGRESS_BY_SIMILARITY,
                                         .threads = task.cores } };
        regress_candidate *c;
        size_t found;
        if (!refit)
            show.note = "errors with the library's own constants; --refit fits them to the table";
        if (library_find(&c, &found, &task.p, task.t, ix, &how, task.a, &st) != SNIP_OK)
            cli_fail_status(self, &st);
        else
            code = cli_ranking_print(self, &show, c, found, &task);
    }
    library_close(ix);
    cli_task_close(&task);
    return code;
}

const cli_command cli_find_command = {
    .name = "find",
    .summary = "name the law of a table, or find formulas for it in a library",
    .arguments = "TABLE [--index LIBRARY] [options] | --formula F --index LIBRARY [options]",
    .about =
        "Without --index, fits some 250 textbook laws to the table, with its inputs in every "
        "role, and lists the best with name and field, in the table's names and units. Laws are "
        "ordered by error and size together, so a straight line that explains the table equally "
        "well comes first. No model is needed; one that reads forms adds similarities. The "
        "constants printed are fitted to all rows; rows held out only judge.\n\n"
        "With --index, searches a library (snip index) for the formulas whose vectors are "
        "nearest to the table's, with all its inputs and with some of them left out. With "
        "--refit their constants are fitted to three quarters of the rows, and they are ordered "
        "by size and by their error on the rest. With --formula it lists the formulas nearest "
        "to that one, which is taken as a function of inputs of mean 0 and deviation 1; "
        "--format, --out and the options for tables do not apply then.",
    .examples = "snip find data.csv --top 5\n"
                "snip find data.csv --index lib.db -k 20 --refit\n"
                "snip find data.csv --index lib.db --format csv --out found.csv\n"
                "snip find --formula 'sin(x0)/x0' --index lib.db\n",
    .run = command,
};
