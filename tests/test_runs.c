/* test_runs.c - training runs: exact resumption, older files, full disks, and that it learns. */
#include "training.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/safetensors.h"
#include "model/file.h"

static char folder[64];

static void new_folder(void)
{
    strcpy(folder, "/tmp/snip-run-XXXXXX");
    assert_non_null(mkdtemp(folder));
    rmdir(folder); /* the trainer makes it */
}

static void remove_folder(void)
{
    static const char *const files[] = { "state.safetensors", "model.safetensors", "log.jsonl",
                                         "curves.html" };
    char path[128];
    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

static train_config short_run(uint64_t steps)
{
    train_config c;
    train_config_preset(&c, "tiny", NULL);
    c.schedule = TRAIN_CONSTANT;
    c.warmup = 4;
    c.batch = 6;
    c.phase[TRAIN_MAIN].points = 16;
    c.steps = steps;
    return c;
}

static snip_code train(const model_config *m, const train_config *c, int resume, uint64_t *done,
                       snip_status *st)
{
    const train_watch watch = {
        .log_seconds = 0, .save_seconds = 1e9, .memory = (size_t)1 << 30, .threads = 2
    };
    const train_start start = { .resume = resume };
    return train_run(m, c, folder, &start, &watch, done, st);
}

static char *read_all(const char *name, size_t *size, arena *a)
{
    char path[128], *bytes;
    snip_status st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (file_read(&bytes, size, path, a, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return bytes;
}

/* The weights at the end of a file; metadata differ by the seconds spent. `parts` are the weights
 * and all that goes with them. */
static void resume_and_compare(arena *a, train_config whole, size_t parts)
{
    model_config m = small_model();
    train_config part = whole;
    part.steps = 5;
    uint64_t done;
    snip_status st;
    size_t n, k, bytes;
    new_folder();
    assert_int_equal(train(&m, &whole, 0, &done, &st), SNIP_OK);
    assert_int_equal(done, 12);
    char *once = read_all("state.safetensors", &n, a), *log = read_all("log.jsonl", &bytes, a);
    remove_folder();
    assert_int_equal(train(&m, &part, 0, &done, &st), SNIP_OK);
    assert_int_equal(train(&m, &whole, 1, &done, &st), SNIP_OK);
    assert_int_equal(done, 12);
    char *twice = read_all("state.safetensors", &k, a), *log2 = read_all("log.jsonl", &bytes, a);
    model *shape;
    assert_int_equal(model_new(&shape, &m, a, NULL), SNIP_OK);
    size_t data = parts * shape->size * sizeof(float);
    assert_true(n > data && k > data);
    assert_memory_equal(once + n - data, twice + k - data, data);
    /* Losses too: the same numbers on the lines of the same steps. */
    for (int step = 1; step <= 12; step++) {
        size_t e1 = strcspn(log, "\n"), e2 = strcspn(log2, "\n");
        json_t *p = json_loadb(log, e1, 0, NULL), *q = json_loadb(log2, e2, 0, NULL);
        assert_int_equal(json_integer_value(json_object_get(p, "step")), step);
        assert_true(json_equal(json_object_get(p, "loss"), json_object_get(q, "loss")));
        assert_true(json_equal(json_object_get(p, "grad_norm"), json_object_get(q, "grad_norm")));
        json_decref(p);
        json_decref(q);
        log += e1 + 1;
        log2 += e2 + 1;
    }
    remove_folder();
}

static void resumed_runs_end_the_same(void **state)
{
    train_config c = short_run(12);
    resume_and_compare(*state, c, 3);
    c.optimizer = TRAIN_MUON;
    resume_and_compare(*state, c, 3);
    c.average = 0.9;
    resume_and_compare(*state, c, 4);
    c.constant_edits = c.laws = c.quantities = 0.5;
    c.last = 3; /* resumed after it began */
    c.last_batch = 9;
    c.last_lr = 1e-4;
    resume_and_compare(*state, c, 4);
}

/* The numbers of one tensor of a file in the run's folder. */
static const float *tensor_of(const char *file, const char *name, size_t *count, arena *a)
{
    char path[128];
    safetensors_file f;
    snip_status st;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (safetensors_read(&f, path, a, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    const safetensors_entry *e = safetensors_find(&f, name);
    json_decref(f.metadata);
    *count = e ? e->bytes / sizeof(float) : 0;
    return e ? e->data : NULL;
}

/* The learned factors on cosines stay below their bound, from the first update on. */
static void a_bound_holds_the_scales(void **state)
{
    static const char *const names[] = { "logit_scale_global", "logit_scale_local" };
    model_config m = small_model();
    m.similarity = MODEL_COSINE;
    for (int bound = 0; bound < 2; bound++) {
        train_config c = short_run(2);
        uint64_t done;
        snip_status st;
        c.scale_most = bound ? 3 : c.scale_most;
        new_folder();
        assert_int_equal(train(&m, &c, 0, &done, &st), SNIP_OK);
        for (int k = 0; k < 2; k++) {
            size_t n;
            const float *scale = tensor_of("model.safetensors", names[k], &n, *state);
            assert_true(n == 1 && (bound ? expf(*scale) < 3.00001f : expf(*scale) > 5));
        }
        remove_folder();
    }
}

/* Which weights are Muon's: all matrices within layers and nothing else. The others move as under
 * Adam, and only they have second moments. */
static void muon_has_the_matrices_of_the_layers(void **state)
{
    arena *a = *state;
    model_config c = small_model();
    model *m;
    assert_int_equal(model_new(&m, &c, a, NULL), SNIP_OK);
    size_t matrices = 0;
    for (size_t k = 0; k < m->tensors; k++) {
        const char *n = m->tensor[k].name;
        int weight =
            strstr(n, "_lin.weight") || strstr(n, "lin1.weight") || strstr(n, "lin2.weight");
        assert_int_equal(m->tensor[k].in_layer, weight);
        matrices += (size_t)weight;
    }
    assert_int_equal(matrices, 2 * 6 * c.layers);

    train_config adam = short_run(1), muon = adam;
    uint64_t done;
    snip_status st;
    muon.optimizer = TRAIN_MUON;
    adam.lr_start = muon.lr_start = adam.lr;
    muon.muon_lr = 0.01;
    const float *one[2], *v[2], *emb[2];
    size_t n, all, k;
    for (int i = 0; i < 2; i++) {
        new_folder();
        if (train(&c, i ? &muon : &adam, 0, &done, &st) != SNIP_OK)
            fail_msg("%s", st.msg);
        one[i] = tensor_of("state.safetensors", "encoder_f.ffns.1.lin1.weight", &n, a);
        v[i] = tensor_of("state.safetensors", "encoder_f.ffns.1.lin1.weight.adam_v", &k, a);
        emb[i] = tensor_of("state.safetensors", "encoder_f.embeddings.weight", &all, a);
        assert_true(one[i] && v[i] && emb[i] && n == k && n == (size_t)(c.ff * c.d));
        remove_folder();
    }
    assert_memory_equal(emb[0], emb[1], all * sizeof(float)); /* the same step by Adam */
    double moved = 0, seconds[2] = { 0 };
    model_start(m, muon.seed);
    const float *start = m->w + find_tensor(m, "encoder_f.ffns.1.lin1.weight")->offset;
    for (size_t i = 0; i < n; i++) {
        moved += pow((double)one[1][i] - (double)start[i], 2) / (double)n;
        for (int j = 0; j < 2; j++)
            seconds[j] += (double)v[j][i];
    }
    /* At most 1.21 of all of the directions: rms = lr * 0.2 * sqrt(64) * 1.21 * sqrt(32/(32*64)) */
    print_message("rms of the first update with rate 0.01: %.5f\n", sqrt(moved));
    assert_true(sqrt(moved) > 0.4 * 0.01 * 0.2 && sqrt(moved) < 1.21 * 0.01 * 0.2);
    assert_true(seconds[0] > 0 && seconds[1] == 0);
}

/* The average against its definition, step by step; the model file is the average, and the state
 * has both. */
static void the_model_is_the_average(void **state)
{
    arena *a = *state;
    model_config c = small_model();
    uint64_t done;
    snip_status st;
    model *m;
    assert_int_equal(model_new(&m, &c, a, NULL), SNIP_OK);
    train_config plain = short_run(1), averaged = short_run(30);
    model_start(m, plain.seed);
    const model_tensor *t = find_tensor(m, "encoder_y.attentions.0.k_lin.weight");
    size_t n = model_tensor_size(t), k;
    double *want = arena_array(a, n, sizeof *want);
    for (size_t i = 0; i < n; i++)
        want[i] = (double)m->w[t->offset + i];
    new_folder();
    for (int step = 1; step <= 30; step++) { /* resumed after every step */
        plain.steps = (uint64_t)step;
        assert_int_equal(train(&c, &plain, step > 1, &done, &st), SNIP_OK);
        const float *w = tensor_of("model.safetensors", t->name, &k, a);
        double kept = fmin(0.75, (1.0 + step) / (10.0 + step));
        for (size_t i = 0; i < n; i++)
            want[i] = kept * want[i] + (1 - kept) * (double)w[i];
    }
    const float *last = tensor_of("state.safetensors", t->name, &k, a);
    assert_null(tensor_of("state.safetensors", "theta.average", &k, a));
    remove_folder();
    averaged.average = 0.75;
    assert_int_equal(train(&c, &averaged, 0, &done, &st), SNIP_OK);
    const float *shown = tensor_of("model.safetensors", t->name, &k, a);
    assert_int_equal(k, n);
    char name[96];
    snprintf(name, sizeof name, "%s.average", t->name);
    const float *mean = tensor_of("state.safetensors", name, &k, a);
    assert_memory_equal(shown, mean, n * sizeof *mean);
    assert_memory_equal(tensor_of("state.safetensors", t->name, &k, a), last, n * sizeof *mean);
    assert_memory_not_equal(shown, last, n * sizeof *mean);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs((double)mean[i] - want[i]) < 1e-6);
    /* A run without average does not become one with it. */
    averaged.average = 0;
    assert_int_equal(train(&c, &averaged, 1, &done, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "average differs from the checkpoint"));
    remove_folder();
}

/* With given weights the average is slow from the first step on, and stays so when resumed. */
static void an_average_keeps_given_weights(void **state)
{
    arena *a = *state;
    model_config c = small_model();
    const train_watch watch = { .save_seconds = 1e9, .memory = (size_t)1 << 30, .threads = 2 };
    train_config how = short_run(3);
    uint64_t done;
    snip_status st;
    model *m;
    assert_int_equal(model_new(&m, &c, a, NULL), SNIP_OK);
    model_start(m, 8);
    const model_tensor *t = find_tensor(m, "encoder_y.attentions.0.k_lin.weight");
    size_t n = model_tensor_size(t), k;
    const float *w = m->w + t->offset;
    double *want = arena_array(a, n, sizeof *want);
    for (size_t i = 0; i < n; i++)
        want[i] = (double)w[i];
    how.average = 0.75;
    new_folder();
    for (int step = 1; step <= 3; step++) {
        const train_start start = { .resume = step > 1,
                                    .init = step > 1 ? NULL : m,
                                    .init_name = "given.safetensors" };
        how.steps = (uint64_t)step;
        assert_int_equal(train_run(&c, &how, folder, &start, &watch, &done, &st), SNIP_OK);
        const float *now = tensor_of("state.safetensors", t->name, &k, a);
        for (size_t i = 0; i < n; i++)
            want[i] = 0.75 * want[i] + 0.25 * (double)now[i];
    }
    const float *mean = tensor_of("model.safetensors", t->name, &k, a);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs((double)mean[i] - want[i]) < 1e-6);
    remove_folder();
}

/* The last warning of a run, and how many there were. */
typedef struct said {
    int count;
    char text[320];
} said;

static void keep_warning(void *context, const char *text)
{
    said *s = context;
    s->count++;
    snprintf(s->text, sizeof s->text, "%s", text);
}

/* A state file from before these settings were known goes on as it was; it does not become a run
 * of another optimizer on the way. */
static void older_states_resume(void **state)
{
    static const char *const newer[] = { "optimizer", "muon_lr", "average", "products" };
    arena *a = *state;
    model_config m = small_model();
    train_config whole = short_run(6), part = short_run(3);
    uint64_t done;
    snip_status st;
    size_t n, k;
    new_folder();
    assert_int_equal(train(&m, &whole, 0, &done, &st), SNIP_OK);
    char *once = read_all("state.safetensors", &n, a), path[128];
    remove_folder();
    assert_int_equal(train(&m, &part, 0, &done, &st), SNIP_OK);
    safetensors_file f;
    snprintf(path, sizeof path, "%s/state.safetensors", folder);
    assert_int_equal(safetensors_read(&f, path, a, &st), SNIP_OK);
    json_t *settings = json_loads(json_string_value(json_object_get(f.metadata, "train")), 0, NULL);
    for (size_t i = 0; i < COUNT(newer); i++)
        assert_int_equal(json_object_del(settings, newer[i]), 0);
    char *text = json_dumps(settings, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_object_set_new(f.metadata, "train", json_string(text));
    json_object_set_new(f.metadata, "version", json_string("0.0.7"));
    json_t *keys = json_loads(json_string_value(json_object_get(f.metadata, "config")), 0, NULL);
    assert_int_equal(json_object_del(keys, "hidden"), 0); /* a key of the model */
    char *config = json_dumps(keys, JSON_COMPACT);
    json_object_set_new(f.metadata, "config", json_string(config));
    free(config);
    json_decref(keys);
    assert_int_equal(safetensors_write(path, f.entry, f.count, f.metadata, &st), SNIP_OK);
    free(text);
    json_decref(settings);
    safetensors_close(&f);
    whole.optimizer = TRAIN_MUON;
    assert_int_equal(train(&m, &whole, 1, &done, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "optimizer differs from the checkpoint"));
    whole.optimizer = TRAIN_ADAM;
    whole.average = 0.9;
    assert_int_equal(train(&m, &whole, 1, &done, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "average differs from the checkpoint"));
    whole.average = 0;
    said told = { .count = 0 };
    const train_watch watch = { .warn = keep_warning,
                                .context = &told,
                                .save_seconds = 1e9,
                                .memory = (size_t)1 << 30,
                                .threads = 2 };
    for (int i = 0; i < 2; i++) /* the second time the state is of this version */
        if (train_run(&m, &whole, folder, &(train_start){ .resume = 1 }, &watch, &done, &st) !=
            SNIP_OK)
            fail_msg("%s", st.msg);
    assert_int_equal(told.count, 1);
    assert_non_null(
        strstr(told.text, "state.safetensors: was written by snip 0.0.7, this is " SNIP_VERSION));
    char *twice = read_all("state.safetensors", &k, a);
    model *shape;
    assert_int_equal(model_new(&shape, &m, a, NULL), SNIP_OK);
    size_t data = 3 * shape->size * sizeof(float);
    assert_memory_equal(once + n - data, twice + k - data, data);
    remove_folder();
}

/* A run of 8 steps on a machine with bf16 products or on one without; the last warning is kept. */
static snip_code train_on(int has_bf16, int products, int resume, uint64_t steps, said *told,
                          snip_status *st)
{
    const train_watch watch = { .warn = keep_warning,
                                .context = told,
                                .save_seconds = 1e9,
                                .memory = (size_t)1 << 30,
                                .threads = 2,
                                .processor = has_bf16 ? TRAIN_WITH_BF16 : TRAIN_WITHOUT_BF16 };
    const train_start start = { .resume = resume };
    model_config m = small_model();
    train_config c = short_run(steps);
    uint64_t done;
    c.products = products;
    return train_run(&m, &c, folder, &start, &watch, &done, st);
}

/* Which products were used is written down. A run that moves to a machine without them says so and
 * goes on; one that stays goes on bit for bit. */
static void runs_move_between_machines(void **state)
{
    arena *a = *state;
    snip_status st;
    said told = { .count = 0 };
    size_t n, k;
    const char *weights = "encoder_f.ffns.1.lin1.weight";
    new_folder();
    if (train_on(1, TRAIN_BF16, 0, 8, &told, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    const float *whole = tensor_of("state.safetensors", weights, &n, a);
    remove_folder();
    assert_int_equal(train_on(0, TRAIN_FLOAT32, 0, 8, &told, &st), SNIP_OK);
    const float *plain = tensor_of("state.safetensors", weights, &k, a);
    remove_folder();
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)whole[i] - (double)plain[i]));
    print_message("after 8 steps weights differ by at most %g\n", most);
    assert_true(most > 0 && most < 2e-2);

    assert_int_equal(train_on(1, TRAIN_AUTO, 0, 4, &told, &st), SNIP_OK);
    assert_int_equal(train_on(1, TRAIN_BF16, 1, 8, &told, &st), SNIP_OK);
    assert_memory_equal(whole, tensor_of("state.safetensors", weights, &k, a), n * sizeof *whole);
    assert_int_equal(told.count, 0);
    assert_int_equal(train_on(0, TRAIN_AUTO, 1, 9, &told, &st), SNIP_OK);
    assert_int_equal(told.count, 1);
    assert_non_null(strstr(told.text, "bf16 products so far, from here on with float32"));
    assert_int_equal(train_on(0, TRAIN_FLOAT32, 1, 10, &told, &st), SNIP_OK);
    assert_int_equal(told.count, 1); /* it is a run with float32 by now */
    assert_int_equal(train_on(1, TRAIN_AUTO, 1, 11, &told, &st), SNIP_OK);
    assert_non_null(strstr(told.text, "float32 products so far, from here on with bf16"));
    remove_folder();
}

/* The last line of the run's log; the caller releases it. */
static json_t *last_line(arena *a)
{
    size_t size;
    char *log = read_all("log.jsonl", &size, a), *last = log;
    for (char *s = log; *s; s++)
        if (s[0] == '\n' && s[1])
            last = s + 1;
    return json_loads(last, 0, NULL);
}

/* Weights from elsewhere are where a new run starts: the loss of its first step is theirs, on the
 * run's own samples, with moments of its own. */
static void a_run_may_start_with_given_weights(void **state)
{
    arena *a = *state, *draw[2] = { arena_new(0), arena_new(0) };
    model_config c = small_model();
    train_config how = short_run(1);
    const train_watch watch = { .save_seconds = 1e9, .memory = (size_t)1 << 30, .threads = 2 };
    model *m;
    uint64_t done;
    snip_status st;
    assert_int_equal(model_new(&m, &c, a, NULL), SNIP_OK);
    model_start(m, 77);
    const train_start start = { .init = m, .init_name = "other.safetensors", .init_samples = "12" };
    new_folder();
    how.phase[TRAIN_MAIN].stage = TRAIN_S2;
    how.average = 0.9;
    if (train_run(&c, &how, folder, &start, &watch, &done, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    json_t *line = last_line(a);
    double loss = json_number_value(json_object_get(line, "loss"));
    json_decref(line);

    const train_phase *phase = &how.phase[TRAIN_MAIN];
    const train_batch_how what = { .stage = TRAIN_S2,
                                   .size = how.batch,
                                   .subtrees = phase->subtrees,
                                   .edits = phase->edits,
                                   .points = phase->points,
                                   .seed = how.seed,
                                   .stream = RNG_TRAIN };
    const train_how objective = { .stage = TRAIN_S2,
                                  .cosine = 1,
                                  .tau_local = how.tau_local,
                                  .tau_global = how.tau_global,
                                  .scale_global = exp((double)m->w[m->scale_global]),
                                  .scale_local = exp((double)m->w[m->scale_local]),
                                  .lambda = how.lambda };
    train_batch b;
    train_terms terms;
    train_times times;
    train_step *s = train_step_new(m, 2, (size_t)1 << 30, NULL);
    float *grad = arena_array(a, m->size, sizeof *grad);
    assert_int_equal(train_batch_draw(&b, &what, 0, m, draw, 2, &st), SNIP_OK);
    assert_int_equal(train_step_gradient(s, m, &b, &objective, grad, &terms, &times, &st), SNIP_OK);
    train_step_free(s);
    arena_free(draw[0]);
    arena_free(draw[1]);
    print_message("loss %.9g, of the given weights %.9g\n", loss, terms.total);
    assert_true(fabs(loss - terms.total) < 1e-8 * terms.total);
    model_start(m, how.seed); /* the weights it would have had; far from these */
    size_t n;
    const float *table = tensor_of("model.safetensors", "encoder_f.embeddings.weight", &n, a);
    assert_memory_not_equal(table, m->w + m->symbolic.table, n * sizeof *table);

    /* It is told, and stays told when the run goes on. */
    how.steps = 2;
    for (int i = 0; i < 2; i++) {
        char path[128];
        safetensors_file f;
        snprintf(path, sizeof path, "%s/model.safetensors", folder);
        assert_int_equal(safetensors_read(&f, path, a, &st), SNIP_OK);
        assert_string_equal(json_string_value(json_object_get(f.metadata, "init")),
                            "other.safetensors");
        assert_string_equal(json_string_value(json_object_get(f.metadata, "init_samples")), "12");
        safetensors_close(&f);
        if (i == 0 && train(&c, &how, 1, &done, &st) != SNIP_OK)
            fail_msg("%s", st.msg);
    }
    remove_folder();
}

/* The held-out check of a run with an average is of the model in its file: a run that starts with
 * that model and does not move sees the same. */
static void the_check_is_of_the_average(void **state)
{
    arena *a = *state;
    model_config c = small_model();
    train_config how = short_run(60), still = short_run(1);
    const train_watch watch = { .save_seconds = 1e9, .memory = (size_t)1 << 30, .threads = 2 };
    uint64_t done;
    snip_status st;
    model *m[2];
    json_t *held[3];
    char path[128];
    how.phase[TRAIN_MAIN].stage = still.phase[TRAIN_MAIN].stage = TRAIN_S1;
    how.batch = 32;
    still.lr = 1e-12;
    still.lr_start = 0;
    for (int i = 0; i < 2; i++) {
        how.average = i ? 0 : 0.8;
        new_folder();
        assert_int_equal(train(&c, &how, 0, &done, &st), SNIP_OK);
        snprintf(path, sizeof path, "%s/model.safetensors", folder);
        assert_int_equal(model_load(&m[i], path, NULL, a, &st), SNIP_OK);
        json_t *line = last_line(a);
        held[i] = json_incref(json_object_get(line, "held_out"));
        json_decref(line);
        remove_folder();
    }
    const train_start start = { .init = m[0] };
    new_folder();
    assert_int_equal(train_run(&c, &still, folder, &start, &watch, &done, &st), SNIP_OK);
    json_t *line = last_line(a);
    held[2] = json_object_get(line, "held_out");
    assert_true(json_is_object(held[0]) && json_equal(held[0], held[2]));
    assert_false(json_equal(held[0], held[1])); /* which would be that of the last weights */
    json_decref(line);
    json_decref(held[0]);
    json_decref(held[1]);
    remove_folder();
}

/* The ends of phases may be chosen while they lie ahead; the result is that of having known them
 * from the start. */
static void phases_may_be_chosen_late(void **state)
{
    arena *a = *state;
    model_config m = kind_of_model(3);
    train_config whole = short_run(9), open = short_run(4);
    uint64_t done;
    snip_status st;
    size_t n, k;
    whole.schedule = open.schedule = TRAIN_CONSTANT;
    whole.phase[TRAIN_MAIN].stage = TRAIN_S5;
    whole.phase[TRAIN_MAIN].points = 0;
    whole.phase[TRAIN_FIRST] = (train_phase){ .stage = TRAIN_S2, .subtrees = 3 };
    memcpy(open.phase, whole.phase, sizeof open.phase);
    whole.first = 5;
    whole.decay = 7;
    whole.centre = 2;
    whole.last = 6;
    whole.last_batch = 10;
    whole.last_lr = whole.lr / 3;
    open.first = 1000000;
    new_folder();
    assert_int_equal(train(&m, &whole, 0, &done, &st), SNIP_OK);
    char *once = read_all("state.safetensors", &n, a), *log = read_all("log.jsonl", &k, a);
    remove_folder();
    /* The first phase has no loss of subtrees alone, the second has. */
    for (int step = 1; step <= 9; step++) {
        json_t *line = json_loadb(log, strcspn(log, "\n"), 0, NULL);
        double alone = json_number_value(json_object_get(line, "standalone"));
        assert_true(step <= 5 ? alone == 0 : alone > 0);
        assert_int_equal(json_integer_value(json_object_get(line, "samples")),
                         step <= 6 ? 6 * step : 36 + 10 * (step - 6));
        double rate = json_number_value(json_object_get(line, "lr"));
        if (step == 6 || step == 7)
            assert_true(fabs(rate - (step == 6 ? whole.lr : whole.last_lr)) < 1e-12);
        json_decref(line);
        log += strcspn(log, "\n") + 1;
    }
    assert_int_equal(train(&m, &open, 0, &done, &st), SNIP_OK);
    assert_int_equal(train(&m, &whole, 1, &done, &st), SNIP_OK);
    char *twice = read_all("state.safetensors", &k, a);
    model *shape;
    assert_int_equal(model_new(&shape, &m, a, NULL), SNIP_OK);
    size_t data = 3 * shape->size * sizeof(float);
    assert_memory_equal(once + n - data, twice + k - data, data);
    whole.centre = 1; /* in force by now */
    assert_int_equal(train(&m, &whole, 1, &done, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "centre differs from the checkpoint"));
    whole.centre = 2;
    whole.last_batch = 11;
    assert_int_equal(train(&m, &whole, 1, &done, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "last_batch differs from the checkpoint (10, now 11)"));
    whole.last_batch = 10;
    whole.first = 6; /* behind us, too */
    assert_int_equal(train(&m, &whole, 1, &done, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "first differs from the checkpoint"));
    remove_folder();
}

static void runs_are_not_mixed_up(void **state)
{
    (void)state;
    model_config m = small_model(), other = m;
    train_config c = short_run(2), d = c;
    uint64_t done;
    snip_status st;
    new_folder();
    assert_int_equal(train(&m, &c, 1, &done, &st), SNIP_IO);
    assert_non_null(strstr(st.msg, "no training run to resume"));
    assert_int_equal(train(&m, &c, 0, &done, &st), SNIP_OK);
    assert_int_equal(train(&m, &c, 0, &done, &st), SNIP_IO);
    assert_non_null(strstr(st.msg, "holds a training run already"));
    char path[128];
    snprintf(path, sizeof path, "%s/lock", folder);
    assert_int_not_equal(access(path, F_OK), 0); /* nothing is left of it */
    int lock = file_lock(path);
    assert_true(lock >= 0);
    assert_int_equal(train(&m, &c, 1, &done, &st), SNIP_IO);
    assert_non_null(strstr(st.msg, "another run is training in this folder"));
    file_unlock(lock, path);
    d.lr = 0.5;
    assert_int_equal(train(&m, &d, 1, &done, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "lr differs from the checkpoint"));
    other.ff = 128;
    assert_int_equal(train(&other, &c, 1, &done, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "another model configuration"));
    assert_int_equal(train(&m, &c, 1, &done, &st), SNIP_OK); /* nothing was overwritten */
    remove_folder();
    strcpy(folder, "/proc/snip");
    assert_int_equal(train(&m, &c, 0, &done, &st), SNIP_IO);
    assert_non_null(strstr(st.msg, "cannot make this folder"));
}

/* A disk that is full from step `full` to step `room`, played by a limit on the size of files. */
typedef struct disk {
    said said; /* first: it is the context of warnings, too */
    int step, full, room;
    rlim_t size, limit; /* while it is full, and else */
} disk;

static void limit_files(rlim_t bytes)
{
    struct rlimit l;
    getrlimit(RLIMIT_FSIZE, &l);
    l.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* A line comes after each step, before its checkpoint. */
static void fill_disk(void *context, const char *text)
{
    disk *d = context;
    (void)text;
    d->step++;
    if (d->step == d->full)
        limit_files(d->size);
    if (d->step == d->room)
        limit_files(d->limit);
}

static void a_full_disk_is_given_a_second_try(void **state)
{
    static const struct {
        int full, room;
        rlim_t size;
        snip_code code;
        uint64_t done;
        int warnings;
    } cases[] = {
        { 4, 6, 100000, SNIP_OK, 9,
          1 }, /* the checkpoint after step 4 fails, that after 6 does not */
        { 4, 99, 100000, SNIP_IO, 6, 1 }, /* both do */
        { 9, 99, 100000, SNIP_IO, 9, 0 }, /* the last one */
        { 4, 6, 1, SNIP_OK, 9, 2 },       /* there is no room for lines of the log, either */
    };
    model_config m = small_model();
    train_config c = short_run(9);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    void (*on_limit)(int) = signal(SIGXFSZ, SIG_IGN);
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        disk d = { .full = cases[i].full,
                   .room = cases[i].room,
                   .size = cases[i].size,
                   .limit = before.rlim_cur };
        const train_watch watch = { .line = fill_disk,
                                    .warn = keep_warning,
                                    .context = &d,
                                    .save_seconds = 1e9,
                                    .save_steps = 2,
                                    .check_pairs = 4,
                                    .memory = (size_t)1 << 30,
                                    .threads = 2 };
        uint64_t done;
        snip_status st = { .msg = "" };
        new_folder();
        snip_code code = train_run(&m, &c, folder, &(train_start){ 0 }, &watch, &done, &st);
        limit_files(before.rlim_cur);
        print_message("%d to %d: step %d, %d warnings (%s), %s\n", d.full, d.room, (int)done,
                      d.said.count, d.said.text, code == SNIP_OK ? "done" : st.msg);
        assert_int_equal(code, cases[i].code);
        assert_int_equal(done, cases[i].done);
        assert_int_equal(d.said.count, cases[i].warnings);
        assert_true(!d.said.count ||
                    strstr(d.said.text, d.said.count > 1 ? "log.jsonl: cannot write"
                                                         : "state.safetensors: cannot write"));
        assert_true(code == SNIP_OK || strstr(st.msg, "state.safetensors: cannot write"));
        if (code != SNIP_OK) /* the last good checkpoint is there */
            assert_int_equal(train(&m, &c, 1, &done, &st), SNIP_OK);
        remove_folder();
    }
    signal(SIGXFSZ, on_limit);
}

static void a_loss_that_is_not_finite_stops(void **state)
{
    (void)state;
    model_config m = small_model();
    train_config c = short_run(200);
    uint64_t done;
    snip_status st;
    m.similarity = MODEL_DOT;
    c.lr = c.lr_start = 10;
    c.clip = 0;
    c.tau_local = c.tau_global = 1e-4;
    new_folder();
    assert_int_equal(train(&m, &c, 0, &done, &st), SNIP_FORMAT);
    if (!strstr(st.msg, "not finite at step") || !strstr(st.msg, "state.safetensors"))
        fail_msg("%s", st.msg);
    remove_folder();
}

/* A tiny model trained for less than a minute finds formulas by their values and values by their
 * formulas: chance among 256 pairs is 1.8 % nDCG@10. */
static void a_tiny_model_learns(void **state)
{
    arena *a = *state;
    model_config m;
    train_config c;
    uint64_t done;
    snip_status st;
    model_config_preset(&m, "tiny", NULL);
    train_config_preset(&c, "tiny", NULL);
    c.phase[TRAIN_MAIN].stage = TRAIN_S1;
    c.steps = 800;
    c.phase[TRAIN_MAIN].points = 24;
    new_folder();
    if (train(&m, &c, 0, &done, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    json_t *line = last_line(a);
    json_t *ndcg = json_object_get(json_object_get(line, "held_out"), "ndcg10");
    double forth = json_number_value(json_array_get(ndcg, 0)),
           back = json_number_value(json_array_get(ndcg, 1));
    print_message("after %.0f s: nDCG@10 %.1f / %.1f %% of 256 held-out pairs\n",
                  json_number_value(json_object_get(line, "seconds")), 100 * forth, 100 * back);
    assert_true(forth > 0.2 && back > 0.2);
    json_decref(line);
    remove_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(resumed_runs_end_the_same),
        ARENA_TEST(a_bound_holds_the_scales),
        ARENA_TEST(muon_has_the_matrices_of_the_layers),
        ARENA_TEST(the_model_is_the_average),
        ARENA_TEST(an_average_keeps_given_weights),
        ARENA_TEST(older_states_resume),
        ARENA_TEST(runs_move_between_machines),
        ARENA_TEST(a_run_may_start_with_given_weights),
        ARENA_TEST(the_check_is_of_the_average),
        ARENA_TEST(phases_may_be_chosen_late),
        ARENA_TEST(runs_are_not_mixed_up),
        cmocka_unit_test(a_full_disk_is_given_a_second_try),
        cmocka_unit_test(a_loss_that_is_not_finite_stops),
        ARENA_TEST(a_tiny_model_learns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
