/* cli.h - what the commands share: options, messages, exit codes.
 *
 * A command lists its options once; parsing, `--help`, manual pages and what shells complete all
 * come from that list. The list points at the command's own variables, so the function that holds
 * both may be long. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <jansson.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/table.h"
#include "base/text.h"
#include "expr/expr.h"

/* Exit codes. */
enum {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_MISUSED = 2,
    CLI_STOPPED = 3 /* a signal ended a training run before its last step; all is saved */
};

typedef enum cli_kind {
    CLI_FLAG,   /* int *to becomes 1, or `low` where that is given */
    CLI_COUNT,  /* uint64_t *to, within [low, high] */
    CLI_TEXT,   /* const char **to */
    CLI_LIST,   /* cli_list *to: may be given many times */
    CLI_CHOICE, /* int *to becomes the place in `choices`, which ends with NULL */
    CLI_CHOICES /* unsigned *to: bit i for choice i; may be given many times */
} cli_kind;

/* The values of an option that may be given many times. */
enum { CLI_LIST_MAX = 64 };
typedef struct cli_list {
    const char *value[CLI_LIST_MAX];
    size_t count;
} cli_list;

typedef struct cli_option {
    const char *name; /* without the dashes */
    cli_kind kind;
    void *to;          /* holds the default before parsing */
    const char *value; /* what it takes, as shown by --help; NULL for flags */
    const char *help;
    uint64_t low, high;
    const char *const *choices;
    char short_name; /* of -o, where there is one */
    int *given;      /* becomes 1 where the option is given, or NULL */
} cli_option;

/* A row of a command's list. What follows the help text is of kind and command: .low, .high,
 * .choices, .short_name, .given. */
#define CLI_OPTION(kind_, name_, to_, value_, help_, ...)                                          \
    {                                                                                              \
        .name = name_, .kind = CLI_##kind_, .to = to_, .value = value_, .help = help_, __VA_ARGS__ \
    }
#define CLI_SWITCH(name_, to_, help_, ...)                                                         \
    {                                                                                              \
        .name = name_, .kind = CLI_FLAG, .to = to_, .help = help_, __VA_ARGS__                     \
    }

typedef struct cli_command {
    const char *name;
    const char *summary;   /* one line */
    const char *arguments; /* as in the usage line */
    const char *about;     /* paragraphs before the options, wrapped where they are shown */
    const char *examples;  /* a line each, shown indented */
    int (*run)(const struct cli_command *self, int argc, char **argv);
} cli_command;

/* The commands, each in its file, and all of them, ending with NULL. */
#define CLI_COMMAND(name) extern const cli_command cli_##name##_command;
#include "cli/commands.h"
#undef CLI_COMMAND
extern const cli_command *const cli_commands[];

/* The program itself, described as a command: its name is NULL, and it is not run. */
extern const cli_command cli_program;

/* The command of that name. If there is none, says so on standard error and returns NULL. */
const cli_command *cli_command_named(const char *name);

/* Prints the program's usage and a line a command. */
void cli_overview(FILE *to);

/* Takes the options out of argv[0..argc) and leaves the other arguments at its front; returns their
 * number, or -1 when the command is over: *exit_code says how (help was shown, or misuse). */
int cli_parse(const cli_command *self, const cli_option *options, size_t count, int argc,
              char **argv, int *exit_code);

/* Prints what `how` asks for about a command: --help, --man (a page as roff) or --complete (what a
 * shell can complete). Returns 0, and prints nothing, if it asks for none of them. */
int cli_show(const cli_command *self, const cli_option *options, size_t count, const char *how);

/* The same for commands of two arguments, `first` and `second` by name, which are then argv[0] and
 * argv[1], not both of them standard input; and for commands of none. Return 0 when the command is
 * over. */
int cli_parse_two(const cli_command *self, const cli_option *options, size_t count, int argc,
                  char **argv, const char *first, const char *second, int *exit_code);
int cli_parse_none(const cli_command *self, const cli_option *options, size_t count, int argc,
                   char **argv, int *exit_code);

/* Prints the manual page of a command or of the program. */
void cli_show_man(const cli_command *self, const cli_option *options, size_t count);

/* The value that an option has when it is not given, NULL if none. buf holds 32 bytes. */
const char *cli_default(char *buf, const cli_option *o);

/* Prints `snip COMMAND: message` on standard error and returns the exit code. */
__attribute__((format(printf, 3, 4))) int cli_fail(const cli_command *self, int exit_code,
                                                   const char *format, ...);

/* Prints `snip COMMAND: wants what; see snip COMMAND --help` and returns CLI_MISUSED. */
__attribute__((format(printf, 2, 3))) int cli_wants(const cli_command *self, const char *what, ...);

/* The same for an argument to a command that takes none. */
int cli_takes_none(const cli_command *self, const char *argument);

/* Whether not both of two arguments are `-`, standard input. If they are, prints so; `which` names
 * them. */
int cli_one_input(const cli_command *self, char **argv, const char *which);

/* Prints a failed status and returns CLI_FAILED. */
int cli_fail_status(const cli_command *self, const snip_status *st);

/* The text of a formula argument: the argument itself, the file behind an @, or standard input for
 * "-". Trailing white space is dropped. */
snip_code cli_formula_text(const char **out, const char *argument, arena *a, snip_status *st);

/* Prints why the text of a formula could not be read, and where. Returns CLI_FAILED. */
int cli_fail_formula(const cli_command *self, const char *text, const snip_status *st);

/* Parses a formula argument. Prints what is wrong and where, and returns 0, on failure. */
int cli_formula(const cli_command *self, expr *out, const char *argument, const expr_names *names,
                arena *a);

/* Prints a JSON value on one line of standard output and releases it. Returns an exit code. */
int cli_print_json(const cli_command *self, json_t *value);

/* Flushes standard output; CLI_FAILED with a message if something could not be written. */
int cli_finish(const cli_command *self);

/* Whether a file can be written, asked before the work begins that makes its content. Prints why
 * not and returns 0. */
int cli_can_write(const cli_command *self, const char *path);

/* The memory that this process may address (ulimit -v), in bytes; SIZE_MAX: no limit. */
size_t cli_address_space(void);

/* How many threads to use when `asked` are wanted: all cores for 0, but no more than
 * LIMITS_THREADS, and one where memory is short. */
int cli_threads(uint64_t asked);

/* From now on Ctrl-C, SIGTERM and SIGHUP set what this points to, so that work can stop in good
 * order; a second one ends the program at once. */
const volatile sig_atomic_t *cli_stop_on_signals(void);

/* One line on standard error that says how far long work is; NULL, nobody to tell, with `quiet` or
 * where standard error is no terminal. */
const progress_show *cli_progress(int quiet);

/* For commands that show it. */
#define CLI_QUIET(flag) CLI_SWITCH("quiet", (flag), "no progress line", .short_name = 'q')

/* The choice of columns and the limit, for commands that read a table of inputs. */
#define CLI_TABLE_COLUMNS(options)                                                                 \
    CLI_OPTION(TEXT, "columns", &(options)->columns, "A,B,...",                                    \
               "the inputs to use, other columns may hold text; default: all others"),             \
        CLI_OPTION(COUNT, "max-table", &(options)->megabytes, "MB",                                \
                   "refuse a table that takes more memory; 0: the default, 1024", .high = 1 << 24)

/* What the options for tables are called, for messages of table_read. */
extern const table_hints cli_table_hints;

/* Says on standard error what reading a table in this way left out or made up. */
void cli_table_notes(const cli_command *self, const table *t, const table_options *how, arena *a);

/* The model to use: `asked`, else $SNIP_MODEL, else the one that came with the program, installed
 * or in its source tree. In `a`; NULL if there is none. */
const char *cli_model_path(const char *asked, arena *a);

/* The spelling of v with all its digits: %.17g, NaN, Infinity, -Infinity. buf holds 32 bytes. */
const char *cli_full_number(char *buf, double v);

/* The same as a cell of CSV: empty where there is no number. */
const char *cli_cell(char *buf, double v);

/* A cell of CSV in quotes. */
void cli_put_quoted(FILE *f, const char *s);

/* A size such as 500M, 1G or 2e9 in bytes; 0 if it is none. */
size_t cli_bytes(const char *s);

#endif
