/* test_safetensors.c - model files: whole ones come back, every broken one is refused. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/safetensors.h"
#include "model/file.h"

/* A file of this header and `bytes` zero bytes of data. */
static snip_code parse(const char *header, size_t bytes, arena *a, snip_status *st)
{
    size_t n = strlen(header);
    char *file = arena_zero(a, 8 + n + bytes);
    safetensors_file f;
    for (int i = 0; i < 8; i++)
        file[i] = (char)(n >> 8 * i);
    memcpy(file + 8, header, n);
    snip_code code = safetensors_parse(&f, "m", file, 8 + n + bytes, a, st);
    if (code == SNIP_OK)
        safetensors_close(&f);
    return code;
}

#define T(name, dtype, shape, begin, end)                                                          \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end   \
    "]}"

static const struct {
    const char *header;
    size_t bytes;
    const char *message; /* NULL: it is fine */
} cases[] = {
    { "{}", 0, NULL },
    { "{" T("a", "F32", "[2]", "0", "8") "}", 8, NULL },
    { "{" T("b", "F32", "[1]", "8", "12") "," T("a", "F32", "[2]", "0", "8") "}   ", 12, NULL },
    { "{\"__metadata__\":{\"k\":\"v\"}," T("a", "U8", "[]", "0", "1") "}", 1, NULL },
    { "{" T("a", "F32", "[0,3]", "0", "0") "}", 0, NULL },
    { "[]", 0, "not a JSON object" },
    { "{", 0, "not a JSON object" },
    { "{\"a\":1}", 0, "not described by" },
    { "{" T("a", "F32", "[2]", "0", "8") "," T("a", "F32", "[2]", "8", "16") "}", 16,
      "not a JSON object" },
    { "{\"__metadata__\":{\"k\":1}}", 0, "something else than strings" },
    { "{\"__metadata__\":[]}", 0, "not an object" },
    { "{" T("a", "F31", "[2]", "0", "8") "}", 8, "unknown dtype" },
    { "{" T("a", "F32", "[-2]", "0", "8") "}", 8, "no usable shape" },
    { "{" T("a", "F32", "[2.5]", "0", "10") "}", 10, "no usable shape" },
    { "{" T("a", "F32", "[1,1,1,1,1,1,1,1,1]", "0", "4") "}", 4, "no usable shape" },
    { "{" T("a", "F32", "[4611686018427387904,4]", "0", "8") "}", 8, "no usable shape" },
    { "{" T("a", "F32", "[3]", "0", "8") "}", 8, "does not fit its bytes" },
    { "{" T("a", "F32", "[2]", "0", "8") "}", 4, "outside of the file" },
    { "{" T("a", "F32", "[2]", "8", "0") "}", 8, "outside of the file" },
    { "{" T("a", "F32", "[2]", "4", "12") "}", 12, "follows a hole" },
    { "{" T("a", "F32", "[2]", "0", "8") "," T("b", "F32", "[2]", "4", "12") "}", 12, "overlaps" },
    { "{" T("a", "F32", "[2]", "0", "8") "}", 12, "4 bytes behind the last" },
};

static void broken_headers_are_refused(void **state)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        snip_status st = { 0 };
        snip_code code = parse(cases[i].header, cases[i].bytes, *state, &st);
        if (cases[i].message ? code != SNIP_FORMAT || !strstr(st.msg, cases[i].message)
                             : code != SNIP_OK)
            fail_msg("%s: %s", cases[i].header, st.msg);
    }
    snip_status st;
    safetensors_file f;
    const char huge[8] = { 0, 0, 0, 0, 1, 0, 0, 0 }; /* a header of 4 GB */
    assert_int_equal(safetensors_parse(&f, "m", huge, 8, *state, &st), SNIP_FORMAT);
    assert_int_equal(safetensors_parse(&f, "m", huge, 3, *state, &st), SNIP_FORMAT);
}

/* A small model's file, in a temporary folder whose name is kept in `folder`. */
static char folder[64], path[128];

static model *save_model(arena *a)
{
    model_config c;
    model *m;
    model_config_preset(&c, "tiny", NULL);
    c.d = c.ff = c.latent = 16;
    c.heads = 2;
    c.channels = 1;
    c.levels = 8;
    c.dims = 2;
    c.embed = 2;
    c.layers = 1;
    assert_int_equal(model_new(&m, &c, a, NULL), SNIP_OK);
    model_start(m, 3);
    strcpy(folder, "/tmp/snip-model-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.safetensors", folder);
    json_t *history = json_pack("{s:s}", "stage", "S5");
    snip_status st;
    if (model_save(m, path, history, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    json_decref(history);
    return m;
}

static void clean(void)
{
    unlink(path);
    rmdir(folder);
}

static void models_come_back_as_they_were(void **state)
{
    model *m = save_model(*state), *back;
    json_t *metadata;
    snip_status st;
    if (model_load(&back, path, &metadata, *state, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    assert_int_equal(back->size, m->size);
    assert_memory_equal(back->w, m->w, m->size * sizeof *m->w);
    assert_memory_equal(&back->config, &m->config, sizeof m->config);
    assert_string_equal(json_string_value(json_object_get(metadata, "stage")), "S5");
    json_decref(metadata);
    clean();
}

/* Cut anywhere, or with one byte of its header changed: refused or (if the change is harmless)
 * read. */
static void damaged_models_never_crash(void **state)
{
    (void)state;
    arena *a = arena_new(0);
    save_model(a);
    FILE *f = fopen(path, "rb");
    char *bytes = malloc(8 << 20);
    size_t n = fread(bytes, 1, 8 << 20, f), refused = 0;
    fclose(f);
    rng r;
    rng_init(&r, 1, RNG_BENCH, 0);
    for (int i = 0; i < 120; i++) {
        size_t cut = i % 2 ? n : rng_below(&r, (uint32_t)n), at = rng_below(&r, 12000);
        char kept = bytes[at];
        if (i % 2)
            bytes[at] = (char)rng_u64(&r);
        f = fopen(path, "wb");
        assert_int_equal(fwrite(bytes, 1, cut, f), cut);
        fclose(f);
        bytes[at] = i % 2 ? kept : bytes[at];
        model *m;
        snip_status st = { 0 };
        arena *b = arena_new(0);
        snip_code code = model_load(&m, path, NULL, b, &st);
        assert_true(code == SNIP_OK || st.msg[0]);
        if (cut < n)
            assert_int_not_equal(code, SNIP_OK);
        refused += code != SNIP_OK;
        arena_free(b);
    }
    assert_true(refused > 60);
    free(bytes);
    clean();
    arena_free(a);
}

static void numbers_must_be_finite_and_shapes_right(void **state)
{
    model *m = save_model(*state), *back;
    snip_status st;
    m->w[m->theta] = NAN;
    assert_int_equal(model_save(m, path, NULL, NULL), SNIP_OK);
    assert_int_equal(model_load(&back, path, NULL, *state, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "'theta' holds a number that is not finite"));
    m->w[m->theta] = 0;
    m->tensor[0].rows--; /* a file that says so */
    m->tensor[0].cols++;
    size_t cols = m->tensor[0].cols;
    assert_int_equal(model_save(m, path, NULL, NULL), SNIP_OK);
    assert_int_equal(model_load(&back, path, NULL, *state, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "is not F32 or F16 of shape"));
    m->tensor[0].rows++;
    m->tensor[0].cols = cols - 1;
    strcpy(m->tensor[1].name, "stranger");
    assert_int_equal(model_save(m, path, NULL, NULL), SNIP_OK);
    assert_int_equal(model_load(&back, path, NULL, *state, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "is missing"));
    clean();
}

static void halves_are_read_as_written(void **state)
{
    model *m = save_model(*state), *back;
    assert_int_equal(model_save_half(m, path, NULL, NULL, NULL), SNIP_OK);
    assert_int_equal(model_load(&back, path, NULL, *state, NULL), SNIP_OK);
    double worst = 0;
    for (size_t i = 0; i < m->size; i++) /* eleven bits, and a step of 2^-24 near 0 */
        worst = fmax(worst,
                     fabs((double)m->w[i] - (double)back->w[i]) - fabs((double)m->w[i]) * 0x1p-11);
    assert_true(worst <= 0x1p-25);
    assert_int_equal(model_save_half(back, path, NULL, NULL, NULL), SNIP_OK);
    model *again;
    assert_int_equal(model_load(&again, path, NULL, *state, NULL), SNIP_OK);
    assert_memory_equal(again->w, back->w, m->size * sizeof *m->w);
    clean();
}

static void unwritable_places_are_said(void **state)
{
    model *m = save_model(*state);
    clean();
    snip_status st;
    assert_int_equal(model_save(m, path, NULL, &st), SNIP_IO);
    assert_non_null(strstr(st.msg, "cannot write"));
}

/* The paper's model has the reference's tensors and four scalars more. */
static void the_paper_s_tensors_are_the_reference_s(void **state)
{
    arena *a = *state;
    model_config c;
    model *m;
    model_config_preset(&c, "paper", NULL);
    assert_int_equal(model_new(&m, &c, a, NULL), SNIP_OK);
    size_t listed = 0, numbers = 0;
    char *s = strchr(golden_text("vocab/params-paper.tsv", a), '\n') + 1;
    while (*s) {
        char module[32], name[64], shape[32], full[112];
        unsigned long size;
        size_t n = strcspn(s, "\n");
        if (sscanf(s, "%31s %63s %31s %lu", module, name, shape, &size) == 4 &&
            strcmp(name, "TOTAL") != 0 && strncmp(s, "all", 3) != 0) {
            snprintf(full, sizeof full, "%s.%s", module, name);
            const model_tensor *t = find_tensor(m, full);
            if (!t)
                fail_msg("no %s", full);
            char ours[48];
            if (t->cols)
                snprintf(ours, sizeof ours, "%zux%zu", t->rows, t->cols);
            else
                snprintf(ours, sizeof ours, "%zu", t->rows);
            assert_string_equal(ours, shape);
            assert_int_equal(model_tensor_size(t), size);
            listed++;
            numbers += size;
        }
        s += n + (s[n] == '\n');
    }
    assert_int_equal(numbers, 67154114);
    assert_int_equal(m->tensors, listed + 1);
    assert_int_equal(m->size, numbers + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(broken_headers_are_refused),
        ARENA_TEST(models_come_back_as_they_were),
        cmocka_unit_test(damaged_models_never_crash),
        ARENA_TEST(numbers_must_be_finite_and_shapes_right),
        ARENA_TEST(halves_are_read_as_written),
        ARENA_TEST(unwritable_places_are_said),
        ARENA_TEST(the_paper_s_tensors_are_the_reference_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
