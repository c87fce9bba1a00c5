/* man.c - manual pages: what --help shows, as roff for man(1). The build installs a page a command.
 */
#include <ctype.h>
#include <string.h>

#include "cli/cli.h"
#include "snip.h"

/* Text as it stands. A dot at the start of a line would be a request; the other characters are ones
 * that roff reads, or that it shows as typographic signs, so that a copied command would not run.
 */
static void put(const char *s, size_t n)
{
    static const char special[] = "\\-'`^~";
    static const char *const roff[] = { "\\(rs", "\\-", "\\(aq", "\\(ga", "\\(ha", "\\(ti" };
    if (n && s[0] == '.')
        fputs("\\&", stdout);
    for (size_t i = 0; i < n; i++) {
        const char *found = strchr(special, s[i]);
        if (found)
            fputs(roff[found - special], stdout);
        else
            putchar(s[i]);
    }
}

static void put_font(char font, const char *s, size_t n)
{
    printf("\\f%c", font);
    put(s, n);
    fputs("\\fR", stdout);
}

/* A full stop, but no dots that stand for what is left out. */
static int ends_sentence(const char *word, size_t n)
{
    return word[n - 1] == '.' && (n == 1 || word[n - 2] != '.');
}

/* Running text: roff fills the lines, so only words matter. A sentence ends its line, by which roff
 * knows it for one; an empty line starts a paragraph. */
static void put_text(const char *s)
{
    const char *between = "";
    for (;;) {
        size_t blanks = strspn(s, " \n");
        const char *word = s + blanks;
        size_t n = strcspn(word, " \n");
        if (n == 0)
            return;
        int paragraph = *between && memmem(s, blanks, "\n\n", 2);
        fputs(paragraph ? "\n.PP\n" : between, stdout);
        put(word, n);
        between = ends_sentence(word, n) ? "\n" : " ";
        s = word + n;
    }
}

/* snip-train as a page is called, snip train as it is typed. */
static void put_name(const cli_command *self, const char *between)
{
    printf("snip");
    if (self->name) {
        fputs(between, stdout);
        put(self->name, strlen(self->name));
    }
}

static void put_title(const cli_command *self)
{
    printf(".TH SNIP%s", self->name ? "\\-" : "");
    for (const char *s = self->name; s && *s; s++)
        put(&(char){ (char)toupper((unsigned char)*s) }, 1);
    /* The date stays empty: the same sources give the same page on any day. */
    printf(" 1 \"\" \"snip %s\" \"snip manual\"\n", snip_version());
    printf(".SH NAME\n");
    put_name(self, "\\-");
    printf(" \\- ");
    put_text(self->summary);
}

/* In a usage line capitals are what the user fills in, and options are typed as they are. */
static void put_arguments(const char *s)
{
    while (*s) {
        size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (n) {
            put_font('I', s, n);
        } else if (strncmp(s, "--", 2) == 0) {
            n = strcspn(s, " ]|=");
            put_font('B', s, n);
        } else {
            n = 1;
            put(s, n);
        }
        s += n;
    }
}

/* The choices, where the help has not named all of them. */
static void put_choices(const cli_option *o)
{
    int named = 1;
    for (int i = 0; o->choices[i]; i++)
        named &= strstr(o->help, o->choices[i]) != NULL;
    if (named)
        return;
    printf("\n.br\nOne of ");
    for (int i = 0; o->choices[i]; i++) {
        fputs(i == 0 ? "" : o->choices[i + 1] ? ", " : " or ", stdout);
        put(o->choices[i], strlen(o->choices[i]));
    }
    putchar('.');
}

static void put_option(const cli_option *o)
{
    char buf[32];
    const char *usual = cli_default(buf, o);
    printf(".TP\n");
    if (o->short_name)
        printf("\\fB\\-%c\\fR, ", o->short_name);
    printf("\\fB\\-\\-");
    put(o->name, strlen(o->name));
    printf("\\fR");
    if (o->value) {
        putchar(' ');
        put_font('I', o->value, strlen(o->value));
    }
    putchar('\n');
    put_text(o->help);
    if (usual) {
        printf(" [");
        put(usual, strlen(usual));
        putchar(']');
    }
    if (o->choices)
        put_choices(o);
    putchar('\n');
}

static void put_commands(void)
{
    printf(".SH COMMANDS\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf(".TP\n\\fB");
        put_name(*c, "\\-");
        printf("\\fR(1)\n");
        put_text((*c)->summary);
        putchar('\n');
    }
}

static void put_examples(const char *s)
{
    printf(".SH EXAMPLES\n.EX\n");
    while (*s) {
        size_t n = strcspn(s, "\n");
        put(s, n);
        putchar('\n');
        s += n + (s[n] == '\n');
    }
    printf(".EE\n");
}

/* All the other pages, the program's first. */
static void put_see_also(const cli_command *self)
{
    const char *between = "";
    printf(".SH SEE ALSO\n");
    if (self->name) {
        printf("\\fBsnip\\fR(1)");
        between = ",\n";
    }
    for (const cli_command *const *c = cli_commands; *c; c++) {
        if (*c == self)
            continue;
        printf("%s\\fB", between);
        put_name(*c, "\\-");
        printf("\\fR(1)");
        between = ",\n";
    }
    putchar('\n');
}

void cli_show_man(const cli_command *self, const cli_option *options, size_t count)
{
    put_title(self);
    printf("\n.SH SYNOPSIS\n\\fB");
    put_name(self, " ");
    printf("\\fR ");
    put_arguments(self->arguments);
    printf("\n.SH DESCRIPTION\n");
    put_text(self->about);
    printf("\n");
    if (!self->name)
        put_commands();
    printf(".SH OPTIONS\n");
    for (size_t i = 0; i < count; i++)
        put_option(&options[i]);
    printf(".TP\n\\fB\\-\\-help\\fR\nshow a short form of this page\n");
    put_examples(self->examples);
    printf(
        ".SH EXIT STATUS\n"
        ".TP\n\\fB0\\fR\nDone.\n"
        ".TP\n\\fB1\\fR\nFailed; one line on standard error says why.\n"
        ".TP\n\\fB2\\fR\nMisused: an unknown command or option, or a wrong value.\n"
        ".TP\n\\fB3\\fR\nsnip train: a signal stopped the run before its last step; it is saved, "
        "and \\-\\-resume goes on.\n");
    put_see_also(self);
}
