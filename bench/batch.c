/* batch.c - one training batch as a file, with the weights and what a step makes of them.
 *
 * Another implementation of the step reads it (bench/torch): it starts from the same numbers and
 * has to arrive at the same loss. Arrays of the batch are named `batch.*`, weights by their names.
 * Formulas are padded as SNIP pads them, and absent inputs are filled. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/file.h"
#include "rig.h"

enum { ARRAYS_MAX = 32 };

/* The arrays of the batch, collected for the file. */
typedef struct arrays {
    safetensors_entry entry[ARRAYS_MAX];
    size_t count;
    int failed;
    arena *a;
} arrays;

/* Adds an array of shape (n, m, l), where a trailing 0 means fewer dimensions. It has I32 numbers,
 * or I64 if `wide`, all zero. */
static void *add(arrays *to, const char *name, int wide, size_t n, size_t m, size_t l)
{
    size_t bytes = n * (m ? m : 1) * (l ? l : 1) * (wide ? 8 : 4);
    void *data = arena_zero(to->a, bytes + 8);
    if (!data || to->count == ARRAYS_MAX) {
        to->failed = 1;
        return NULL;
    }
    to->entry[to->count++] = (safetensors_entry){ .name = name,
                                                  .dtype = wide ? "I64" : "I32",
                                                  .rank = (size_t)1 + (m != 0) + (l != 0),
                                                  .shape = { n, m, l },
                                                  .data = data,
                                                  .bytes = bytes };
    return data;
}

static void add_formulas(arrays *to, const train_batch *b)
{
    enum { WIDTH = DATA_SEQUENCE_MAX };
    size_t n = b->formulas;
    int32_t *token = add(to, "batch.token", 0, n, WIDTH, 0);
    int32_t *length = add(to, "batch.length", 0, n, 0, 0);
    int32_t *variant = add(to, "batch.variant", 0, n, 0, 0);
    int32_t *alone = add(to, "batch.alone", 0, n, 0, 0);
    int32_t *whole = add(to, "batch.whole", 0, n, 0, 0);
    int32_t *part = add(to, "batch.part", 0, n, 0, 0);
    int32_t *first = add(to, "batch.first", 0, n, 0, 0);
    int32_t *end = add(to, "batch.end", 0, n, 0, 0);
    int32_t *depth = add(to, "batch.depth", 0, n, WIDTH, 0);
    int64_t *slots = add(to, "batch.slots", 1, n, WIDTH, 0);
    for (size_t i = 0; i < n && !to->failed; i++) {
        const train_formula *f = &b->formula[i];
        length[i] = (int32_t)f->words.tokens.count;
        for (size_t r = 0; r < f->rows; r++) { /* one subtree per sample: all of one variant */
            const train_row *row = &f->row[r];
            variant[i] = (int32_t)row->variant;
            alone[i] |= row->view == TRAIN_O;
            whole[i] |= row->view != TRAIN_C;
            if (row->view == TRAIN_C) {
                part[i] = 1;
                first[i] = (int32_t)row->first;
                end[i] = (int32_t)row->end;
            }
        }
        for (size_t t = 0; t < WIDTH; t++)
            token[i * WIDTH + t] = t < f->words.tokens.count ? f->words.tokens.id[t] : DATA_PAD;
        for (size_t t = 0; f->words.path && t < f->words.tokens.count; t++) {
            depth[i * WIDTH + t] = (int32_t)f->words.path[t].depth;
            slots[i * WIDTH + t] = (int64_t)f->words.path[t].slots;
        }
    }
}

static void add_tables(arrays *to, const train_batch *b, size_t dims)
{
    size_t points = b->table[0].group.points, all = 0, at = 0, width = 3 * dims;
    for (size_t i = 0; i < b->tables; i++)
        all += b->table[i].group.count;
    int32_t *x = add(to, "batch.x", 0, b->tables, points, width);
    int32_t *y = add(to, "batch.y", 0, all, points, 3);
    int32_t *sample = add(to, "batch.y_sample", 0, all, 0, 0);
    int32_t *variant = add(to, "batch.y_variant", 0, all, 0, 0);
    int32_t *subtree = add(to, "batch.y_subtree", 0, all, 0, 0);
    for (size_t i = 0; i < b->tables && !to->failed; i++) {
        const train_table *t = &b->table[i];
        size_t present = 3 * (size_t)t->group.dim, numbers = t->group.count * points * 3;
        for (size_t p = 0; p < points; p++)
            for (size_t j = 0; j < width; j++)
                x[(i * points + p) * width + j] =
                    j < present ? t->group.x[p * present + j] : DATA_INPUT_PAD;
        for (size_t j = 0; j < numbers; j++)
            y[at * points * 3 + j] = t->group.y[j];
        for (size_t j = 0; j < t->group.count; j++, at++) {
            sample[at] = (int32_t)i;
            variant[at] = (int32_t)t->row[j].variant;
            subtree[at] = t->row[j].view == TRAIN_P;
        }
    }
}

static void add_variants(arrays *to, const train_batch *b)
{
    int32_t *item = add(to, "batch.item", 0, b->variants, 0, 0);
    int32_t *k = add(to, "batch.k", 0, b->variants, 0, 0);
    for (size_t i = 0; i < b->variants && !to->failed; i++) {
        item[i] = b->variant[i].item;
        k[i] = b->variant[i].k;
    }
}

/* The file's metadata: configurations as JSON, and what the step here gave. */
static json_t *describe(const model_config *mc, const train_config *tc, const char *preset,
                        const char *stage, const train_terms *terms, double norm)
{
    const struct {
        const char *name;
        double value;
    } figures[] = { { "loss", terms->total },
                    { "global", terms->global },
                    { "context", terms->context },
                    { "standalone", terms->standalone },
                    { "gradient_norm", norm } };
    json_t *config = model_config_json(mc), *training = train_config_json(tc);
    char *one = json_dumps(config, JSON_COMPACT), *two = json_dumps(training, JSON_COMPACT);
    json_t *o = one && two ? json_pack("{s:s,s:s,s:s,s:s}", "preset", preset, "stage", stage,
                                       "config", one, "training", two)
                           : NULL;
    for (size_t i = 0; o && i < sizeof figures / sizeof *figures; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.9g", figures[i].value);
        json_object_set_new(o, figures[i].name, json_string(text));
    }
    free(one);
    free(two);
    json_decref(config);
    json_decref(training);
    return o;
}

/* Batch and weights to the file. Returns the figures to print. */
static json_t *write_batch(const model *m, const train_batch *b, const json_t *metadata,
                           double loss, double norm, const char *path, arena *a, snip_status *st)
{
    arrays to = { .a = a };
    add_variants(&to, b);
    add_formulas(&to, b);
    add_tables(&to, b, (size_t)m->config.dims);
    safetensors_entry *weights = model_entries(m, m->w, "", a);
    safetensors_entry *all = arena_array(a, to.count + m->tensors, sizeof *all);
    if (to.failed || !weights || !all || !metadata) {
        status_nomem(st);
        return NULL;
    }
    memcpy(all, to.entry, to.count * sizeof *all);
    memcpy(all + to.count, weights, m->tensors * sizeof *all);
    if (safetensors_write(path, all, to.count + m->tensors, metadata, st) != SNIP_OK)
        return NULL;
    const char *preset = json_string_value(json_object_get(metadata, "preset"));
    const char *stage = json_string_value(json_object_get(metadata, "stage"));
    return json_pack("{s:s,s:o,s:s,s:s,s:I,s:I,s:I,s:f,s:f}", "bench", "batch", "file",
                     text_json(path), "preset", preset, "stage", stage, "samples",
                     (json_int_t)b->tables, "variants", (json_int_t)b->variants, "formulas",
                     (json_int_t)b->formulas, "loss", loss, "gradient_norm", norm);
}

json_t *bench_batch(const char *preset, const char *stage, size_t batch, int threads,
                    const char *path, snip_status *st)
{
    bench_rig r;
    json_t *figures = NULL, *metadata = NULL;
    train_step *s = NULL;
    float *grad = NULL;
    if (bench_rig_make(&r, preset, stage, batch, threads, st) == SNIP_OK) {
        status_nomem(st); /* unless something else is wrong */
        grad = arena_zero(r.a, r.m->size * sizeof *grad);
        s = grad ? train_step_new(r.m, threads, (size_t)2 << 30, NULL) : NULL;
    }
    int cosine = r.mc.similarity == MODEL_COSINE;
    const train_how how = { .stage = r.what.stage,
                            .cosine = cosine,
                            .tau_global = r.tc.tau_global,
                            .tau_local = r.tc.tau_local,
                            .scale_global =
                                s && cosine ? exp((double)r.m->w[r.m->scale_global]) : 1,
                            .scale_local = s && cosine ? exp((double)r.m->w[r.m->scale_local]) : 1,
                            .lambda = r.tc.lambda };
    train_batch b;
    train_terms terms;
    train_times times;
    /* The second batch: the first one that bench_train measures. */
    if (s && bench_rig_draw(&b, &r, r.tc.batch, st) == SNIP_OK &&
        train_step_gradient(s, r.m, &b, &how, grad, &terms, &times, st) == SNIP_OK) {
        double norm = nn_length(grad, r.m->size, threads);
        metadata = describe(&r.mc, &r.tc, preset, stage, &terms, norm);
        figures = write_batch(r.m, &b, metadata, terms.total, norm, path, r.a, st);
    }
    json_decref(metadata);
    train_step_free(s);
    bench_rig_free(&r);
    return figures;
}
