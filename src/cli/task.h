/* task.h - what the commands that judge formulas by a table share: the model, the table, the
 * formulas. */
#ifndef CLI_TASK_H
#define CLI_TASK_H

#include "cli/cli.h"
#include "regress/formulas.h"
#include "regress/problem.h"

typedef struct cli_task {
    /* Set by options. */
    const char *model;
    table_options table;
    uint64_t seed, threads;
    int quiet;
    /* Set by cli_task_open. */
    arena *a;
    model_opened *t;
    const char *path;     /* of the table */
    regress_table data;   /* as it was read */
    const double *weight; /* of its rows; NULL: none */
    regress_problem p;
    int cores;
} cli_task;

/* The options' entries of a command's list. */
#define CLI_TASK_MODEL(task)                                                                       \
    CLI_OPTION(TEXT, "model", &(task)->model, "FILE",                                              \
               "the model; default: $SNIP_MODEL, else the one that comes with the program"),       \
        CLI_OPTION(COUNT, "threads", &(task)->threads, "T", "cores; 0: all",                       \
                   .high = LIMITS_THREADS),                                                        \
        CLI_SWITCH("quiet", &(task)->quiet, "no notes on standard error", .short_name = 'q')
#define CLI_TASK_TABLE(task)                                                                       \
    CLI_OPTION(TEXT, "target", &(task)->table.target, "NAME",                                      \
               "the column to explain; default: `target`, else the last one"),                     \
        CLI_TABLE_COLUMNS(&(task)->table),                                                         \
        CLI_SWITCH("drop-nan", &(task)->table.drop_invalid,                                        \
                   "leave out rows with missing or non-finite cells"),                             \
        CLI_OPTION(COUNT, "seed", &(task)->seed, "K",                                              \
                   "seed of all random choices: rows held out, starting points",                   \
                   .high = UINT64_MAX)

/* Opens the model and prepares memory. Prints what is wrong and returns 0 on failure. */
int cli_task_start(const cli_command *self, cli_task *task);

/* Reads the table at `path` into task->data. Notes on standard error tell what was left out. */
int cli_task_read(const cli_command *self, cli_task *task, const char *path);

/* Makes task->p of task->data, which must have no more inputs than the model reads. */
int cli_task_problem(const cli_command *self, cli_task *task);

/* Both. */
int cli_task_table(const cli_command *self, cli_task *task, const char *path);

/* The names in which formulas are read before task->p is made. */
expr_names cli_task_names(const cli_task *task);

/* Leaves inputs that none of n formulas uses out of task->data, if it has more than the model
 * reads, and renumbers the formulas' variables. A note tells which are taken. */
int cli_task_narrow(const cli_command *self, cli_task *task, const expr *e, size_t n);

/* Whether the model, if there is one, reads as many inputs as task->data has. */
int cli_task_fits(const cli_task *task);

/* cli_task_start and cli_task_table. */
int cli_task_open(const cli_command *self, cli_task *task, const char *path);
void cli_task_close(cli_task *task);

/* Says that the errors of an answer on `rows` rows come from a few of them (regress_errors_grow),
 * if they do, and what helps. */
void cli_task_note_errors(const cli_command *self, const cli_task *task, size_t telling,
                          size_t rows);

/* Reads a file of formulas (regress/formulas.h). `skip` leaves out lines that cannot be read, with
 * a note each unless `quiet`; else the first is an error. Returns their number, or (size_t)-1 after
 * printing what is wrong. */
size_t cli_lines(const cli_command *self, regress_formula **out, const char *path,
                 const expr_names *names, int skip, int quiet, arena *a);

/* R^2 and the like for people: five digits, or - for NaN. buf holds 32 bytes. */
const char *cli_short_number(char *buf, double v);

#endif
