/* help.c - what the program tells about itself: the overview, `--help`, what a shell completes, and
 * `snip help`. All of it comes from the table of commands and from the list by which a command
 * parses its options; man.c shows the same as manual pages. */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "snip.h"

const cli_command cli_program = {
    NULL,
    "formulas and the numbers they produce, in one space",
    "COMMAND [arguments]",
    "A formula and the numbers it produces are two views of one function. snip puts both into one "
    "vector space, down to the formula's parts. It reads, evaluates and rewrites formulas, draws "
    "training data, trains the two encoders of that space and measures how well it serves.\n\n"
    "Tables and results go to standard output, progress and messages to standard error. Commands "
    "with --json print the same for programs.",
    "snip help calc\n"
    "snip calc 'x0^2 + sin(x1)' data.csv\n"
    "snip train --preset tiny --stage S5 --steps 2000 --out runs/tiny\n",
    NULL,
};

const cli_command *cli_command_named(const char *name)
{
    for (const cli_command *const *c = cli_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    fprintf(stderr, "snip: there is no command '%.40s'; see snip --help\n", name);
    return NULL;
}

void cli_overview(FILE *to)
{
    fprintf(to, "snip %s - %s\n\n", snip_version(), cli_program.summary);
    fprintf(to, "Usage: snip %s\n\nCommands:\n", cli_program.arguments);
    for (const cli_command *const *c = cli_commands; *c; c++)
        fprintf(to, "  %-13s %s\n", (*c)->name, (*c)->summary);
    fprintf(to, "\n`snip help COMMAND` or `snip COMMAND --help` shows options and examples.\n");
}

const char *cli_default(char *buf, const cli_option *o)
{
    switch (o->kind) {
    case CLI_COUNT:
        snprintf(buf, 32, "%llu", (unsigned long long)*(const uint64_t *)o->to);
        return buf;
    case CLI_CHOICE:
        return o->choices[*(const int *)o->to];
    case CLI_TEXT:
        return *(const char **)o->to;
    default:
        return NULL;
    }
}

/* Where lines end: at the terminal's edge, or at 100 columns if that is further or unknown. */
static size_t line_width(void)
{
    enum { MOST = 100, LEAST = 40 };
    struct winsize w;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col == 0)
        return MOST;
    return w.ws_col > MOST ? MOST : w.ws_col < LEAST ? LEAST : w.ws_col;
}

/* Characters of n bytes of UTF-8. */
static size_t characters(const char *s, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)s[i] & 0xC0) != 0x80;
    return count;
}

/* Words in lines that start `indent` columns from the left. The first stands behind what ends at
 * column *at, which becomes where the last one ends. An empty line between paragraphs stays one. */
static void put_wrapped(const char *s, size_t indent, size_t *at)
{
    size_t width = line_width();
    for (int fresh = *at == 0, first = 1;; fresh = first = 0) {
        size_t blanks = strspn(s, " \n"), n = strcspn(s + blanks, " \n");
        if (n == 0)
            return;
        const char *word = s + blanks;
        size_t wide = characters(word, n), gap = fresh ? 0 : *at < indent ? indent - *at : 1;
        int paragraph = !first && memmem(s, blanks, "\n\n", 2) != NULL;
        if (paragraph || (*at > indent && *at + gap + wide > width)) {
            fputs(paragraph ? "\n\n" : "\n", stdout);
            *at = 0, gap = indent;
        }
        printf("%*s%.*s", (int)gap, "", (int)n, word);
        *at += gap + wide;
        s = word + n;
    }
}

static void show_option(const cli_option *o)
{
    enum { INDENT = 27 };
    char left[64], buf[32], usual_text[256];
    char letter[] = { '-', o->short_name, ',', ' ', 0 };
    snprintf(left, sizeof left, "%s--%s%s%s", o->short_name ? letter : "", o->name,
             o->value ? " " : "", o->value ? o->value : "");
    size_t at = (size_t)printf("  %-24s", left);
    put_wrapped(o->help, INDENT, &at);
    const char *usual = cli_default(buf, o);
    if (usual) {
        snprintf(usual_text, sizeof usual_text, "[%s]", usual);
        put_wrapped(usual_text, INDENT, &at);
    }
    putchar('\n');
}

static void show_help(const cli_command *self, const cli_option *options, size_t count)
{
    size_t at = (size_t)printf("snip %s -", self->name);
    put_wrapped(self->summary, 5, &at);
    at = (size_t)printf("\n\nUsage: snip %s", self->name) - 2;
    put_wrapped(self->arguments, 7, &at);
    printf("\n\n");
    at = 0;
    put_wrapped(self->about, 0, &at);
    printf("\n\nOptions:\n");
    for (const cli_option *o = options; o < options + count; o++)
        show_option(o);
    printf("  %-24s %s\n\nExamples:\n", "--help", "show this");
    for (const char *s = self->examples; *s;) {
        size_t n = strcspn(s, "\n");
        printf("  %.*s\n", (int)n, s);
        s += n + (s[n] == '\n');
    }
}

/* The words of a usage line that starts with a choice of them, such as [gen|eval]. */
static void list_words(const char *arguments)
{
    size_t end = strcspn(arguments, "]");
    if (arguments[0] != '[' || !memchr(arguments, '|', end))
        return;
    for (size_t at = 1; at < end;) {
        size_t n = strcspn(arguments + at, "|]");
        printf("%.*s\tword\t-\t-\t-\n", (int)n, arguments + at);
        at += n + 1;
    }
}

/* A line each: word, kind, what it takes, its choices with blanks between, help. Tabs separate, and
 * a dash stands for nothing: a shell's `read` would skip an empty field. */
static void show_completion(const cli_command *self, const cli_option *options, size_t count)
{
    static const char *const kinds[] = {
        [CLI_FLAG] = "flag", [CLI_COUNT] = "count",   [CLI_TEXT] = "text",
        [CLI_LIST] = "list", [CLI_CHOICE] = "choice", [CLI_CHOICES] = "choices"
    };
    list_words(self->arguments);
    for (const cli_option *o = options; o < options + count; o++) {
        printf("--%s\t%s\t%s\t", o->name, kinds[o->kind], o->value ? o->value : "-");
        if (o->choices)
            for (int i = 0; o->choices[i]; i++)
                printf("%s%s", i ? " " : "", o->choices[i]);
        else
            putchar('-');
        printf("\t%s\n", o->help);
    }
    printf("--help\tflag\t-\t-\tshow help\n");
}

int cli_show(const cli_command *self, const cli_option *options, size_t count, const char *how)
{
    static const struct {
        const char *name;
        void (*show)(const cli_command *self, const cli_option *options, size_t count);
    } ways[] = { { "--help", show_help },
                 { "--man", cli_show_man },
                 { "--complete", show_completion } };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, how) == 0) {
            ways[i].show(self, options, count);
            return 1;
        }
    return 0;
}

/* The program's own options, which main looks for. */
static void show_program_man(void)
{
    int version = 0;
    const cli_option options[] = {
        CLI_SWITCH("version", &version, "show the version"),
    };
    cli_show_man(&cli_program, options, sizeof options / sizeof *options);
}

static void list_commands(void)
{
    for (const cli_command *const *c = cli_commands; *c; c++)
        printf("%s\t%s\n", (*c)->name, (*c)->summary);
}

static int command(const cli_command *self, int argc, char **argv)
{
    int man = 0, complete = 0, code;
    const cli_option options[] = {
        CLI_SWITCH("man", &man, "the manual page, as roff"),
        CLI_SWITCH("complete", &complete, "what a shell can complete, a line each"),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n > 1)
        return cli_fail(self, CLI_MISUSED, "takes one command");
    if (man && complete)
        return cli_fail(self, CLI_MISUSED, "--man and --complete exclude each other");
    char *how[] = { man ? "--man" : complete ? "--complete" : "--help", NULL };
    if (n == 0) {
        if (man)
            show_program_man();
        else if (complete)
            list_commands();
        else
            cli_overview(stdout);
        return cli_finish(self);
    }
    const cli_command *c = cli_command_named(argv[0]);
    if (!c)
        return CLI_MISUSED;
    if (c == self) { /* asked by way of itself, --man would ask for the program's page */
        cli_show(self, options, sizeof options / sizeof *options, how[0]);
        return cli_finish(self);
    }
    return c->run(c, 1, how);
}

const cli_command cli_help_command = {
    .name = "help",
    .summary = "show help on the program or on one command",
    .arguments = "[COMMAND] [options]",
    .about =
        "Without COMMAND it lists the commands. With --man it prints the manual page that `make "
        "install` installs as snip-COMMAND(1), or snip(1). With --complete it prints what "
        "shells need: the commands, or the options of one with name, kind, value, choices and "
        "help, separated by tabs.",
    .examples = "snip help calc\n"
                "snip help --man calc | man -l -\n"
                "snip help --complete train\n",
    .run = command,
};
