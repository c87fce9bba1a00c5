/* main.c - the program `snip`: finds the command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "snip.h"

#define CLI_COMMAND(name) &cli_##name##_command,
const cli_command *const cli_commands[] = {
#include "cli/commands.h"
    NULL,
};
#undef CLI_COMMAND

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
