/* pack.c - `snip pack`: a model's weights at half the size, with the networks of its promise. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "eval/evaluate.h"
#include "model/file.h"

enum { SEED = 99 };    /* of the validation laws: no result is measured with it */
#define QUANTITIES 0.5 /* their share with all quantities as inputs: tables have both kinds */

/* Trains the promise of the packed model `path` and writes the file again with it. */
static snip_code add_promise(const char *path, const model *m, json_t *metadata, size_t laws,
                             int threads, snip_status *st)
{
    const eval_how how = { .seed = SEED, .quantities = QUANTITIES, .show = cli_progress(0) };
    model_opened *t;
    json_t *about = NULL;
    model_promise promise;
    snip_code code = model_open(&t, path, st);
    if (code == SNIP_OK)
        code = eval_promise(&promise, &about, t, laws, threads, &how, t->a, st);
    char *text = about ? json_dumps(about, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
    if (code == SNIP_OK && !text)
        code = status_nomem(st);
    if (code == SNIP_OK) {
        json_object_set_new(metadata, "promise", json_string(text));
        printf("%s: promise %s\n", path, text);
        code = model_save_half(m, path, metadata, &promise, st);
    }
    free(text);
    json_decref(about);
    model_close(t);
    return code;
}

static int command(const cli_command *self, int argc, char **argv)
{
    int code;
    const char *out = NULL;
    uint64_t laws = 0, threads = 0;
    const cli_option options[] = {
        CLI_OPTION(TEXT, "out", &out, "FILE", "the file to write", .short_name = 'o'),
        CLI_OPTION(COUNT, "promise", &laws, "N",
                   "train the promise that snip rank shows, on N generated laws; 0: none",
                   .high = 100000),
        CLI_OPTION(COUNT, "threads", &threads, "T", "0: all cores", .high = LIMITS_THREADS),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n != 1 || !out)
        return cli_wants(self, "a model and --out FILE");
    arena *a = arena_new(0);
    model *m;
    json_t *metadata = NULL;
    snip_status st;
    if (!a)
        return cli_fail(self, CLI_FAILED, "out of memory");
    code = CLI_DONE;
    int loaded = model_load(&m, argv[0], &metadata, a, &st) == SNIP_OK;
    if (loaded) /* of the weights as they were: rounded ones are another model */
        json_object_del(metadata, "promise");
    if (!loaded)
        code = cli_fail_status(self, &st);
    else if (laws && !m->config.forms)
        code = cli_fail(self, CLI_FAILED, "%s: was not trained to read forms, so it has no promise",
                        argv[0]);
    else if (model_save_half(m, out, metadata, NULL, &st) != SNIP_OK ||
             (laws && add_promise(out, m, metadata, laws, cli_threads(threads), &st) != SNIP_OK))
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
    .arguments = "MODEL --out FILE [options]",
    .about =
        "Writes the model with float16 numbers, for models that are no longer trained. Every "
        "command reads such files. --promise N is for models that read forms: a small "
        "network learns, from N generated laws with their rivals, to tell before any fit which "
        "formulas will suit a table. It goes into the file, for this model only, and snip rank "
        "then shows its answer as `promise`. A law takes about 0.15 seconds of a core.",
    .examples = "snip pack runs/tiny/model.safetensors -o tiny.safetensors\n"
                "snip pack runs/forms/model.safetensors -o forms.safetensors --promise 4000\n",
    .run = command,
};
