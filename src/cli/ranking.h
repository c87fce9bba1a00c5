/* ranking.h - ranked formulas for people, files and programs. */
#ifndef CLI_RANKING_H
#define CLI_RANKING_H

#include "cli/task.h"
#include "regress/rank.h"

typedef enum cli_ranking_format {
    CLI_RANKING_TABLE,
    CLI_RANKING_CSV, /* begins Complexity,Loss,Equation, as PySR's hall of fame */
    CLI_RANKING_JSON,
    CLI_RANKING_LATEX,
    CLI_RANKING_SYMPY, /* a formula a line */
    CLI_RANKING_C      /* a function each */
} cli_ranking_format;

extern const char *const cli_ranking_formats[];

typedef struct cli_ranking {
    uint64_t starts; /* of each refit */
    int format;
    uint64_t top;     /* how many to show; 0: all */
    const char *out;  /* a file, written whole or not at all; NULL: standard output */
    const char *note; /* a line below the table; may be NULL */
} cli_ranking;

#define CLI_RANKING_OPTIONS(show)                                                                  \
    CLI_OPTION(COUNT, "starts", &(show)->starts, "N", "starting points of each refit", .low = 1,   \
               .high = 1000),                                                                      \
        CLI_SWITCH("json", &(show)->format,                                                        \
                   "same as --format json; if both are given, the last one counts",                \
                   .low = CLI_RANKING_JSON),                                                       \
        CLI_OPTION(CHOICE, "format", &(show)->format, "F", "table, csv, json, latex, sympy or c",  \
                   .choices = cli_ranking_formats),                                                \
        CLI_OPTION(COUNT, "top", &(show)->top, "N", "show the first N; 0: all",                    \
                   .high = UINT32_MAX),                                                            \
        CLI_OPTION(TEXT, "out", &(show)->out, "FILE", "write to a file, whole or not at all",      \
                   .short_name = 'o')

/* Returns an exit code. */
int cli_ranking_print(const cli_command *self, const cli_ranking *how, const regress_candidate *c,
                      size_t n, const cli_task *task);

#endif
