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
    { .name = "starts",                                                                            \
      .kind = CLI_COUNT,                                                                           \
      .to = &(show)->starts,                                                                       \
      .value = "N",                                                                                \
      .help = "starting points of each refit",                                                     \
      .low = 1,                                                                                    \
      .high = 1000 },                                                                              \
        { .name = "json",                                                                          \
          .kind = CLI_FLAG,                                                                        \
          .to = &(show)->format,                                                                   \
          .low = CLI_RANKING_JSON,                                                                 \
          .help = "the same as --format json; the last of both counts" },                          \
        { .name = "format",                                                                        \
          .kind = CLI_CHOICE,                                                                      \
          .to = &(show)->format,                                                                   \
          .value = "F",                                                                            \
          .help = "table, csv, json, latex, sympy or c",                                           \
          .choices = cli_ranking_formats },                                                        \
        { .name = "top",                                                                           \
          .kind = CLI_COUNT,                                                                       \
          .to = &(show)->top,                                                                      \
          .value = "N",                                                                            \
          .help = "show the first N; 0: all",                                                      \
          .high = UINT32_MAX },                                                                    \
    {                                                                                              \
        .name = "out", .short_name = 'o', .kind = CLI_TEXT, .to = &(show)->out, .value = "FILE",   \
        .help = "write to a file, whole or not at all"                                             \
    }

/* Returns an exit code. */
int cli_ranking_print(const cli_command *self, const cli_ranking *how, const regress_candidate *c,
                      size_t n, const cli_task *task);

#endif
