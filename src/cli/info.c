/* info.c - `snip info`: what a model file is and where it comes from. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "model/file.h"

/* Parameters by module: the name up to the first point. */
typedef struct module_count {
    char name[64];
    size_t tensors, numbers;
} module_count;

static int count_modules(const model *m, module_count *out, int most)
{
    int n = 0;
    for (size_t k = 0; k < m->tensors; k++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(m->tensor[k].name, "."),
                 m->tensor[k].name);
        int i = 0;
        while (i < n && strcmp(out[i].name, name) != 0)
            i++;
        if (i == n) {
            if (n == most)
                continue;
            out[n] = (module_count){ .tensors = 0 };
            snprintf(out[n++].name, sizeof out->name, "%s", name);
        }
        out[i].tensors++;
        out[i].numbers += model_tensor_size(&m->tensor[k]);
    }
    return n;
}

static void print_config(const model_config *c)
{
    for (size_t i = 0; i < model_settings.count; i++) {
        const settings_key *k = &model_settings.key[i];
        char value[32];
        settings_text(k, c, value, sizeof value);
        printf("  %-16s %-8s %s\n", k->name, value, k->help);
    }
}

static json_t *info_json(const model *m, json_t *metadata, const module_count *modules, int n)
{
    json_t *counts = json_object(), *history = json_object();
    for (int i = 0; i < n; i++)
        json_object_set_new(counts, modules[i].name, json_integer((json_int_t)modules[i].numbers));
    for (void *at = json_object_iter(metadata); at; at = json_object_iter_next(metadata, at))
        if (strcmp(json_object_iter_key(at), "config") != 0)
            json_object_set(history, json_object_iter_key(at), json_object_iter_value(at));
    return json_pack("{s:o,s:I,s:o,s:o}", "config", model_config_json(&m->config), "parameters",
                     (json_int_t)m->size, "modules", counts, "provenance", history);
}

static int command(const cli_command *self, int argc, char **argv)
{
    int json = 0, code;
    const cli_option options[] = { CLI_SWITCH("json", &json, "one JSON object") };
    int n = cli_parse(self, options, sizeof options / sizeof *options, argc, argv, &code);
    if (n < 0)
        return code;
    if (n != 1)
        return cli_wants(self, "one model file");
    arena *a = arena_new(0);
    model *m;
    json_t *metadata = NULL;
    snip_status st;
    if (!a || model_load(&m, argv[0], &metadata, a, &st) != SNIP_OK) {
        code = a ? cli_fail_status(self, &st) : cli_fail(self, CLI_FAILED, "out of memory");
        arena_free(a);
        return code;
    }
    module_count modules[16];
    int count = count_modules(m, modules, 16);
    if (json) {
        code = cli_print_json(self, info_json(m, metadata, modules, count));
    } else {
        printf("configuration\n");
        print_config(&m->config);
        printf("\nparameters\n");
        for (int i = 0; i < count; i++)
            printf("  %-20s %4zu tensors %12zu\n", modules[i].name, modules[i].tensors,
                   modules[i].numbers);
        printf("  %-20s %4zu tensors %12zu\n\nprovenance\n", "total", m->tensors, m->size);
        for (void *at = json_object_iter(metadata); at; at = json_object_iter_next(metadata, at))
            if (strcmp(json_object_iter_key(at), "config") != 0)
                printf("  %-10s %s\n", text_shown(json_object_iter_key(at), a),
                       text_shown(json_string_value(json_object_iter_value(at)), a));
        code = cli_finish(self);
    }
    json_decref(metadata);
    arena_free(a);
    return code;
}

const cli_command cli_info_command = {
    .name = "info",
    .summary = "show what a model file is and where it comes from",
    .arguments = "MODEL [options]",
    .about = "Prints configuration, parameters by module, and provenance: stage, steps, seed, "
             "samples seen.",
    .examples = "snip info runs/tiny/model.safetensors\n"
                "snip info runs/tiny/model.safetensors --json\n",
    .run = command,
};
