/* pack.c - `snip pack`: a model's weights at half the size. */
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "model/file.h"

static int command(const cli_command *self, int argc, char **argv)
{
    int code;
    const char *out = NULL;
    const cli_option options[] = { CLI_OPTION(TEXT, "out", &out, "FILE", "the file to write",
                                              .short_name = 'o') };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n != 1 || !out)
        return cli_fail(self, CLI_MISUSED, "wants a model and --out FILE; see snip pack --help");
    arena *a = arena_new(0);
    model *m;
    json_t *metadata = NULL;
    snip_status st;
    if (!a)
        return cli_fail(self, CLI_FAILED, "out of memory");
    code = CLI_DONE;
    if (model_load(&m, argv[0], &metadata, a, &st) != SNIP_OK ||
        model_save_half(m, out, metadata, &st) != SNIP_OK)
        code = cli_fail_status(self, &st);
    struct stat before, after;
    if (code == CLI_DONE && stat(argv[0], &before) == 0 && stat(out, &after) == 0)
        printf("%s: %.1f MB, %s has %.1f\n", out, (double)after.st_size * 1e-6, argv[0],
               (double)before.st_size * 1e-6);
    json_decref(metadata);
    arena_free(a);
    return code == CLI_DONE ? cli_finish(self) : code;
}

const cli_command cli_pack_command = {
    .name = "pack",
    .summary = "store a model's weights at half the size",
    .arguments = "MODEL --out FILE",
    .about = "Writes the model with float16 numbers, for models that are no longer trained. Every "
             "command reads such files.",
    .examples = "snip pack runs/tiny/model.safetensors -o tiny.safetensors\n",
    .run = command,
};
