/* main.c - the program `snip`: finds the command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "snip.h"

const cli_command cli_commands[] = {
    { "help", "tell about the program or one of its commands", "[COMMAND] [options]",
      "Without COMMAND it lists the commands. With --man it prints the manual page that `make "
      "install`\n"
      "installs as snip-COMMAND(1), or snip(1). With --complete it prints, for shells, the "
      "commands "
      "or\n"
      "the options of one: its name, kind, value, choices and help, with tabs between.\n",
      "snip help calc\n"
      "snip help --man calc | man -l -\n"
      "snip help --complete train\n",
      cli_help },
    { "gen", "draw expressions and points from the SNIP generator, or laws", "[options]",
      "Draws samples as SNIP does: an expression, input points, and its values there. Sample i of "
      "a\n"
      "stream under a seed is always the same, on any machine and with any number of threads.\n"
      "--laws draws short laws as people write and measure them instead: raw units, mostly "
      "positive\n"
      "ranges, 1 to 6 inputs. Shown is the law itself; its sample (--json) is what the model reads "
      "of it,\n"
      "in inputs of mean 0 and deviation 1: x_raw = mean + deviation * x.\n",
      "snip gen --count 5\n"
      "snip gen --laws --count 20\n"
      "snip gen --seed 7 --count 1000 --dims 10 --points 200 --json > samples.jsonl\n"
      "snip gen --stats --count 100000 --seed 1 --json\n"
      "snip gen --stats --laws --count 10000\n",
      cli_gen },
    { "calc", "evaluate a formula on the rows of a table", "FORMULA TABLE [options]",
      "Prints one value a row. FORMULA is infix (2.1*sin(x0) + x1^2, sympy and numpy spellings),\n"
      "prefix (add,2.1,x_0) or LaTeX; @FILE reads it from a file. Variables are the table's "
      "column\n"
      "names, or x0, x1, ... for its columns in order; a column called `target` (or --target) is "
      "not\n"
      "counted. TABLE is CSV, TSV or blank-separated, plain or .gz, with or without header; - is\n"
      "standard input. Outside its domain a formula gives NaN.\n",
      "snip calc 'x0^2 + sin(x1)' data.csv\n"
      "snip calc 'm*c**2' masses.tsv.gz --json\n"
      "printf '1 2\\n3 4\\n' | snip calc 'x0/x1' -\n",
      cli_calc },
    { "tokens", "show what the symbolic encoder reads of a formula", "FORMULA [options]",
      "Prints the formula's tokens with their ids in SNIP's vocabulary, the tree node that each\n"
      "belongs to, that node's span of tokens and its path from the root (1: first child, 2: "
      "second).\n",
      "snip tokens 'sin(x0 + 2.1*x1)'\n"
      "snip tokens --normal 'x0^4/x1'\n"
      "snip tokens --form '65.15/(0.0463*x0 + 2)'\n"
      "snip tokens add,1.5,mul,2.0,x_0 --json\n",
      cli_tokens },
    { "edits", "list controlled edits of a formula that change its behaviour",
      "FORMULA [options] | --pool [options]",
      "Lists the variants of a formula that the evaluation keeps: finite on the points, different\n"
      "from the original and from each other. `distance` is the root mean square change of the\n"
      "values in units of the original's standard deviation. Candidates are those of the paper's\n"
      "evaluation: swaps at one place of each operator, 64 draws of a substitution and of a "
      "rewriting,\n"
      "all rotations and exchanges. Points come from --table, else from the generator. With --pool "
      "it builds the paper's controlled-edit pool from held-out\n"
      "samples and prints its counts beside the paper's.\n",
      "snip edits 'sin(x0) - 0.5*x1' --family unary_swap\n"
      "snip edits 'a*b - c' --family all --table data.csv --json\n"
      "snip edits --pool --targets 128\n",
      cli_edits },
    { "corpora", "the formulas of Feynman, Classic and Strogatz",
      "[feynman|classic|strogatz|all] [options]",
      "Samples points for each formula and says whether the model can use it, and if not why. "
      "With\n"
      "--sample ID it prints that formula's points and values as a CSV table.\n",
      "snip corpora\n"
      "snip corpora classic --sampling published --json\n"
      "snip corpora feynman --sample I.6.2 --points 50 > gauss.csv\n",
      cli_corpora },
    { "train", "train a model", "--out DIR [options]",
      "Trains the two encoders on samples drawn as it goes, so data never repeat. Ctrl-C saves and "
      "stops\n"
      "(so do SIGTERM and SIGHUP; the exit status is then 3); --resume goes on with exactly the "
      "same run.\n"
      "The folder holds model.safetensors (the weights), state.safetensors (what --resume needs) "
      "and\n"
      "log.jsonl. --init starts a new run from the weights of a model file; the preset is then for "
      "the\n"
      "training alone.\n",
      "snip train --preset tiny --stage S5 --steps 2000 --out runs/tiny\n"
      "snip train --preset tiny --stage S5 --steps 2000 --out runs/tiny --resume\n"
      "snip train --preset small --set d=96 --set channels=3 --set heads=3 --out runs/d96\n"
      "snip train --init runs/tiny/model.safetensors --preset tiny --lr 1e-4 --out runs/tuned\n"
      "snip train --init models/default.safetensors --formulas field.txt --out runs/field\n",
      cli_train },
    { "evaluate", "measure how well a model's space fits formulas to data",
      "--model FILE [--model FILE ...] [options]",
      "Runs the paper's evaluation on held-out samples: retrieval among many pairs, geometry of "
      "the\n"
      "space, controlled edits of expressions and of subtrees, formulas of three published "
      "corpora, and\n"
      "four probes. The suite forms, which is ours, asks whether the space tells which form of a "
      "law\n"
      "suits a table before its constants are fitted. Prints a table and writes results.json and\n"
      "report.html, a page with all figures. With several models the first is compared with each "
      "of "
      "the\n"
      "others.\n",
      "snip evaluate --model runs/tiny/model.safetensors\n"
      "snip evaluate --model runs/tiny/model.safetensors --suite global --pairs 100000\n"
      "snip evaluate --model a.safetensors --model b.safetensors --out comparison\n"
      "snip evaluate --model runs/tiny/model.safetensors --suite edits --dump embeddings\n"
      "snip evaluate --model runs/tiny/model.safetensors --suite forms --problems 20\n",
      cli_evaluate },
    { "embed", "turn formulas or tables into vectors of the shared space",
      "(--formulas FILE | --table FILE ...) --out FILE.npy [options]",
      "Writes a matrix of floats that NumPy reads, a row of length 1 each, and prints a line for "
      "every\n"
      "row: row, file, line, name, node (-1: the whole), formula. Formulas are taken as functions "
      "of\n"
      "inputs of mean 0 and deviation 1, as in training; tables are standardised. The inner "
      "product of a\n"
      "formula's row and a table's row tells how well they agree. With --view form a table has two "
      "rows,\n"
      "of y and of -y, the larger product counts.\n",
      "snip embed --formulas formulas.txt -o formulas.npy\n"
      "echo 'sin(x0) + 2.5*x1' | snip embed --formulas - --subtrees -o parts.npy\n"
      "snip embed --table a.csv b.csv c.csv -o tables.npy\n"
      "snip embed --table a.csv --view form -o forms.npy\n",
      cli_embed },
    { "rank", "order candidate formulas for a table", "TABLE [FORMULAS] [options]",
      "Refits the constants of every candidate on three quarters of the rows, judges them by the "
      "rest,\n"
      "and orders the candidates by error and size together (--by loss, --by similarity: the "
      "agreement\n"
      "with the table in the shared space). The constants printed are then fitted to all rows; "
      "rows held\n"
      "out only judge. FORMULAS is a file with a formula a line, or a hall of fame as PySR writes "
      "it; -\n"
      "is standard input. Variables are the table's column names, or x0, x1, ... in order. `front` "
      "marks\n"
      "formulas than which nothing simpler is better on the rows held out. Whole exponents (x^2, "
      "x^3.0) are\n"
      "part of the form and not refitted; x^2.1 is. No constant is added: sqrt(x) keeps its "
      "scale,\n"
      "1.0*sqrt(x) is fitted. Tables of fewer than 100 rows are judged by cross-validation. "
      "Formulas\n"
      "with as many constants as rows, or more, come last by balance.\n",
      "snip rank data.csv formulas.txt\n"
      "snip rank data.csv --formula 'a*sin(b)' --formula 'a*b + 1.5'\n"
      "snip rank data.csv hall_of_fame.csv --format csv --out ranked.csv\n"
      "snip rank data.csv formulas.txt --format c --top 1 > best.c\n",
      cli_rank },
    { "fit", "find a formula for a table", "TABLE [options]",
      "Searches for formulas that explain the target column by the others, and prints a front: "
      "each "
      "formula\nhas a lower error than all simpler ones. > marks the one selected, by description "
      "length. "
      "Errors\nare those of the formula as printed; constants come from all rows, a quarter of the "
      "rows "
      "has no\npart in choosing them while the search lasts. Ctrl-C ends the search with the front "
      "so far.\n",
      "snip fit data.csv\n"
      "snip fit data.csv --target y --time 10 --json\n"
      "snip fit data.csv --operators +,-,*,/,sqrt --max-size 20 --out front.csv\n",
      cli_fit },
    { "fit-constants", "fit the parameters of a given law, with their errors",
      "TABLE FORMULA [options]",
      "Fits a law to all rows of a table by least squares. Names in FORMULA that are no columns "
      "are\n"
      "parameters; numbers written with a point (1.0, not 1) are fitted as well, as c1, c2, ... in "
      "order.\n"
      "Prints estimates with standard errors, intervals and correlations, and how well the law "
      "fits;\n"
      "--out writes residual and intervals of every row, --svg draws them. A parameter without "
      "--param\n"
      "starts at 1 and at a hundred other points. With --sigma the standard errors rest on the "
      "sigmas\n"
      "alone, and chi-square tells whether these go with the law. Bounds are kept by projected "
      "steps; a\n"
      "parameter that ends at one counts as fixed there. What the data cannot tell apart has no "
      "standard\n"
      "error, and a note says so.\n",
      "snip fit-constants data.csv 'A*(1 - exp(-b*x))' --param A=500,b=1e-4\n"
      "snip fit-constants data.csv 'A*exp(-b*t) + C' --fix C=0 --bounds b=0: --sigma dy\n"
      "snip fit-constants data.csv '2.5*x^1.5' --json\n"
      "snip fit-constants data.csv @law.txt --folds 10 --out rows.csv --svg fit.svg\n",
      cli_fit_constants },
    { "explain", "show which part of a formula the data disagree with", "TABLE FORMULA [options]",
      "Edits every part of the formula in turn (another operator, operands swapped or dropped, a "
      "function\n"
      "around it, another variable) and shows how much the agreement with the table in the shared "
      "space\n"
      "would gain: a tree with the gain of each part's best edit, then the best edits with their "
      "real\n"
      "errors before and after a refit. Constants printed come from all rows; rows held out "
      "only judge.\n",
      "snip explain data.csv 'a*cos(b) + 1.5'\n"
      "snip explain data.csv @formula.txt --svg formula.svg\n",
      cli_explain },
    { "index", "make and keep a library of formulas to search",
      "build -o LIBRARY [options] | add LIBRARY FORMULAS [options] | info LIBRARY [options]",
      "build draws formulas from the generator until the library has --count of them, no two with "
      "the\n"
      "same behaviour, each with its vector in the model's space. Ctrl-C stops it, and so may "
      "anything\n"
      "else: the same command goes on where it was. add puts your own formulas in, a line each "
      "(lines\n"
      "that begin with # are comments, `name<TAB>formula` gives a name, - is standard input); "
      "their\n"
      "variables are x0, x1, ..., inputs of mean 0 and deviation 1. info tells what a library "
      "holds. A\n"
      "library is two files, LIBRARY and LIBRARY.vectors; move them together.\n",
      "snip index build --count 1000000 -o lib.db\n"
      "snip index add lib.db mine.txt\n"
      "snip index info lib.db --check\n",
      cli_index },
    { "find", "name the law of a table, or find formulas for it in a library",
      "TABLE [--index LIBRARY] [options] | --formula F --index LIBRARY [options]",
      "Without --index, fits some 250 laws of the textbooks to the table, each with its inputs in "
      "every\n"
      "role, and lists the best with name and field, in the table's names and units. Laws are "
      "ordered by\n"
      "error and size together, so a line that explains the table as well comes first. No model "
      "is\n"
      "needed; one that reads forms adds similarities. Constants printed come from all rows; rows "
      "held out\n"
      "only judge.\n\n"
      "With --index, searches a library (snip index) for the formulas whose vectors are nearest to "
      "the\n"
      "table's, with all its inputs and with some of them left out. With --refit their constants "
      "are "
      "fitted\n"
      "to three quarters of the rows and they are ordered by error on the others and by size. "
      "With\n"
      "--formula it lists the formulas nearest to one, taken as a function of inputs of mean 0 "
      "and\n"
      "deviation 1; --format, --out and what concerns the table do not go with it.\n",
      "snip find data.csv --top 5\n"
      "snip find data.csv --index lib.db -k 20 --refit\n"
      "snip find data.csv --index lib.db --format csv --out found.csv\n"
      "snip find --formula 'sin(x0)/x0' --index lib.db\n",
      cli_find },
    { "info", "show what a model file is and where it comes from", "MODEL [options]",
      "Prints configuration, parameters by module, and provenance: stage, steps, seed, samples "
      "seen.\n",
      "snip info runs/tiny/model.safetensors\n"
      "snip info runs/tiny/model.safetensors --json\n",
      cli_info },
    { "pack", "store a model's weights at half the size", "MODEL --out FILE",
      "Writes the model with float16 numbers, for models that are no longer trained. Every command "
      "reads\n"
      "such files.\n",
      "snip pack runs/tiny/model.safetensors -o tiny.safetensors\n", cli_pack },
    { "bench", "measure the speed of a part on this machine",
      "[gen|eval|train|rank|find|embed|batch|candidates|explain|cure] [options]",
      "gen: accepted samples per second on one core, tokens included, by part. eval: nanoseconds\n"
      "per node and point, beside a plain loop over the C library's functions in the same run. "
      "train: a\n"
      "training step by part, beside this machine's rate on the same matrix products. rank: "
      "all\n"
      "pairs ranked in both directions, beside the products alone. find: the 20 nearest of many\n"
      "vectors, beside reading the same bytes. batch: writes a training batch, weights and their\n"
      "loss to a file, for other implementations of the step. candidates: where snip rank puts "
      "the\n"
      "true formulas of the corpora among their edits and among random ones. explain: how often "
      "snip\n"
      "explain finds a planted wrong node. cure: how often its list and its verdict undo a planted "
      "error,\n"
      "constants refitted.\n",
      "snip bench gen\n"
      "snip bench eval --json\n"
      "snip bench train --preset small --stage S5\n"
      "snip bench batch --preset tiny --stage S5 --batch-size 8 --out batch.safetensors\n",
      cli_bench },
    { NULL, NULL, NULL, NULL, NULL, NULL },
};

/* Whoever starts the program may have closed a standard stream. The next file would get its number,
 * and what is printed would land in it; so /dev/null takes the number, opened the other way round,
 * for the stream to fail when it is used. Returns 0 on failure. */
static int hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    /* A file that grows beyond the user's limit is then an error as any other: told, and nothing is
     * left of it. */
    signal(SIGXFSZ, SIG_IGN);
    /* Each thread's own heap would take 64 MB of a limited address space. */
    if (cli_address_space() < SIZE_MAX)
        mallopt(M_ARENA_MAX, 1);
    if (!hold_standard_streams())
        return CLI_FAILED;
    if (argc < 2) {
        cli_overview(stderr);
        return CLI_MISUSED;
    }
    const char *name = argv[1];
    int version = strcmp(name, "--version") == 0;
    if (version || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        if (version)
            printf("snip %s\n", snip_version());
        else
            cli_overview(stdout);
        return cli_finish(cli_command_named("help"));
    }
    const cli_command *c = cli_command_named(name);
    return c ? c->run(c, argc - 2, argv + 2) : CLI_MISUSED;
}
