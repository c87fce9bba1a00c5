/* evaluate.c - see evaluate.h. */
#include "eval/evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "eval/dump.h"
#include "model/file.h"

/* The edit suites keep their scores. */
static snip_code run_local(json_t **out, eval_scores **keep, model_space *s, int subtrees,
                           const eval_how *how, arena *a, snip_status *st)
{
    eval_target *t;
    eval_scores *scores = arena_zero(a, sizeof *scores);
    snip_code code = scores ? eval_targets(&t, how, a, st) : status_nomem(st);
    if (code == SNIP_OK)
        code = eval_local(scores, s, t, how->targets, subtrees, how, a, st);
    *out = NULL;
    if (code != SNIP_OK)
        return code;
    *out = eval_scores_json(scores, how->seed);
    if (subtrees)
        json_object_set_new(*out, "subtrees", json_integer((json_int_t)scores->parts));
    *keep = scores;
    return SNIP_OK;
}

static snip_code run_suite(json_t **out, eval_result *r, model_space *s, const eval_suite *suite,
                           const eval_how *how, snip_status *st)
{
    if (suite->run)
        return suite->run(out, s, how, st);
    return run_local(out, suite->subtrees ? &r->subtrees : &r->edits, s, suite->subtrees, how, r->a,
                     st);
}

/* A model's name: its file's, or its folder's if the file is called model.safetensors. */
static json_t *name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    size_t length = strlen(file), end = strlen(".safetensors");
    if (length > end && strcmp(file + length - end, ".safetensors") == 0)
        length -= end;
    if (length == 5 && strncmp(file, "model", 5) == 0 && slash && slash > path) {
        const char *from = slash;
        while (from > path && from[-1] != '/')
            from--;
        file = from;
        length = (size_t)(slash - from);
    }
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)(length < 200 ? length : 200), file);
    return text_json(name);
}

static double number_in(const json_t *metadata, const char *key)
{
    const char *s = json_string_value(json_object_get(metadata, key));
    return s ? strtod(s, NULL) : 0;
}

/* What the model's own run and those before it add up to. */
static double all_runs(const json_t *metadata, const char *own, const char *before)
{
    return number_in(metadata, own) + number_in(metadata, before);
}

static void run_suites(eval_result *r, model_space *s, unsigned mask, const char *dump,
                       const eval_how *how)
{
    json_t *suites = json_object(), *errors = json_object();
    const char *name = json_string_value(json_object_get(r->o, "name"));
    for (int k = 0; k < EVAL_SUITES; k++) {
        const eval_suite *suite = &eval_suites[k];
        if (!(mask >> k & 1) || (ranks_me(how->ranks) != 0 && !suite->shared))
            continue;
        snip_status st = { 0 }, closing = { 0 };
        json_t *o = NULL;
        double start = clock_now();
        snip_code code = SNIP_OK;
        eval_dump *files = NULL;
        if (dump) {
            char file[128];
            snprintf(file, sizeof file, "%.80s.%s", name ? name : "model", suite->name);
            code = eval_dump_open(&files, s, dump, file, &st);
        }
        if (code == SNIP_OK)
            code = run_suite(&o, r, s, suite, how, &st);
        if (eval_dump_close(files, &closing) != SNIP_OK && code == SNIP_OK) {
            code = SNIP_IO;
            st = closing;
        }
        if (code == SNIP_OK) {
            json_object_set_new(o, "seconds", json_real(clock_now() - start));
            json_object_set(suites, suite->name, o);
        } else {
            json_object_set_new(errors, suite->name, text_json(st.msg));
            r->failed++;
        }
        json_decref(o);
    }
    json_object_set_new(r->o, "suites", suites);
    json_object_set_new(r->o, "errors", errors);
}

snip_code eval_open(eval_result *out, const char *path, snip_status *st)
{
    *out = (eval_result){ .a = arena_new(0) };
    if (!out->a)
        return status_nomem(st);
    snip_code code = model_open(&out->t, path, st);
    const model *m = code == SNIP_OK ? out->t->m : NULL;
    if (code == SNIP_OK && m->vocab->dims != DATA_DIMS_MAX)
        code = status_fail(st, SNIP_UNSUPPORTED, 0,
                           "%s: reads tables of up to %d inputs, the evaluation needs %d", path,
                           m->vocab->dims, DATA_DIMS_MAX);
    if (code == SNIP_OK) {
        const json_t *metadata = out->t->metadata;
        const char *stage = json_string_value(json_object_get(metadata, "stage"));
        out->o = json_pack(
            "{s:o,s:o,s:s,s:I,s:f,s:f,s:o}", "name", name_of(path), "path", text_json(path),
            "stage", stage ? stage : "S0", "parameters", (json_int_t)m->size, "samples",
            all_runs(metadata, "samples", "init_samples"), "train_seconds",
            all_runs(metadata, "seconds", "init_seconds"), "config", model_config_json(&m->config));
        if (!out->o)
            code = status_nomem(st);
    }
    if (code != SNIP_OK)
        eval_result_free(out);
    return code;
}

snip_code eval_run(eval_result *r, unsigned mask, const char *dump, int threads,
                   const eval_how *how, snip_status *st)
{
    model_space *s = model_space_new(r->t->m, r->t->tree, threads);
    eval_how own = *how;
    if (!s)
        return status_nomem(st);
    own.promise = &r->t->promise;
    run_suites(r, s, mask, dump, &own);
    model_space_free(s);
    return SNIP_OK;
}

void eval_result_free(eval_result *r)
{
    json_decref(r->o);
    model_close(r->t);
    arena_free(r->a);
    *r = (eval_result){ 0 };
}
