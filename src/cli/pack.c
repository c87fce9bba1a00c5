/* pack.c - `snip pack`: a model's weights at half the size, with the networks of its promise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/half.h"
#include "cli/cli.h"
#include "eval/evaluate.h"
#include "model/file.h"

enum { SEED = 99 };    /* of the validation laws: no result is measured with it */
#define QUANTITIES 0.5 /* their share with all quantities as inputs: tables have both kinds */

/* Opens the model as it will be in the packed file. The promise learns from rounded weights, so
 * they go through a file: beside `path`, which is left alone until the promise is there. */
static snip_code open_packed(model_opened **out, const model_opened *t, const char *path,
                             snip_status *st)
{
    char *beside;
    *out = NULL;
    if (asprintf(&beside, "%s.part", path) < 0)
        return status_nomem(st);
    snip_code code = model_save_half(t->m, beside, t->metadata, NULL, st);
    if (code == SNIP_OK) {
        code = model_open(out, beside, st);
        unlink(beside); /* it is in memory; so a run that is stopped leaves nothing */
    }
    free(beside);
    return code;
}

/* Writes the packed model `path` with a promise that is trained for it. */
static snip_code pack_with_promise(const char *path, const model_opened *t, size_t laws,
                                   int threads, snip_status *st)
{
    const eval_how how = { .seed = SEED, .quantities = QUANTITIES, .show = cli_progress(0) };
    model_opened *packed;
    json_t *about = NULL;
    model_promise promise;
    snip_code code = open_packed(&packed, t, path, st);
    if (code == SNIP_OK)
        code = eval_promise(&promise, &about, packed, laws, threads, &how, packed->a, st);
    char *text = about ? json_dumps(about, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
    if (code == SNIP_OK && !text)
        code = status_nomem(st);
    if (code == SNIP_OK) {
        json_object_set_new(t->metadata, "promise", json_string(text));
        printf("%s: promise %s\n", path, text);
        code = model_save_half(t->m, path, t->metadata, &promise, st);
    }
    free(text);
    json_decref(about);
    model_close(packed);
    return code;
}

/* Whether rounding to float16 leaves all weights as they are. */
static int is_rounded(const model *m)
{
    for (size_t i = 0; i < m->size; i++)
        if (half_value(half_of(m->w[i])) != m->w[i])
            return 0;
    return 1;
}

/* Writes the packed model `path` with the promise that it has, if that is for these weights:
 * rounded ones are another model. */
static snip_code pack(const cli_command *self, const char *path, const model_opened *t,
                      const char *from, snip_status *st)
{
    int same = is_rounded(t->m), keep = same && model_promise_known(&t->promise);
    if (!keep && json_object_del(t->metadata, "promise") == 0)
        fprintf(stderr, "snip %s: %s: its promise is left out: %s; --promise trains one\n",
                self->name, from,
                same ? "it is another version's or another model's"
                     : "it is not for the packed weights");
    return model_save_half(t->m, path, t->metadata, keep ? &t->promise : NULL, st);
}

static int command(const cli_command *self, int argc, char **argv)
{
    int code;
    const char *out = NULL;
    uint64_t laws = 0, threads = 0;
    const cli_option options[] = {
        CLI_OPTION(TEXT, "out", &out, "FILE", "the file to write", .short_name = 'o'),
        CLI_OPTION(
            COUNT, "promise", &laws, "N",
            "train the promise that snip rank shows, on N generated laws; 0: the model's own",
            .high = 100000),
        CLI_OPTION(COUNT, "threads", &threads, "T", "0: all cores", .high = LIMITS_THREADS),
    };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n != 1 || !out)
        return cli_wants(self, "a model and --out FILE");
    model_opened *t;
    snip_status st;
    if (model_open(&t, argv[0], &st) != SNIP_OK)
        return cli_fail_status(self, &st);
    if (laws && !t->m->config.forms)
        code = cli_fail(self, CLI_FAILED, "%s: was not trained to read forms, so it has no promise",
                        argv[0]);
    else if (laws && !cli_can_write(self, out))
        code = CLI_FAILED;
    else if ((laws ? pack_with_promise(out, t, laws, cli_threads(threads), &st)
                   : pack(self, out, t, argv[0], &st)) != SNIP_OK)
        code = cli_fail_status(self, &st);
    else
        code = CLI_DONE;
    struct stat before, after;
    if (code == CLI_DONE && stat(argv[0], &before) == 0 && stat(out, &after) == 0)
        printf("%s: %.1f MB, %s has %.1f\n", out, (double)after.st_size * 1e-6, argv[0],
               (double)before.st_size * 1e-6);
    model_close(t);
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
        "then shows its answer as `promise`. A law takes about 0.12 seconds of a core; FILE is "
        "written at the end. Without --promise, the promise that the model has is kept if its "
        "weights are float16 numbers already. Else it is left out, and a line says so.",
    .examples = "snip pack runs/tiny/model.safetensors -o tiny.safetensors\n"
                "snip pack runs/forms/model.safetensors -o forms.safetensors --promise 4000\n",
    .run = command,
};
