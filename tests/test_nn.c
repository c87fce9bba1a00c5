/* test_nn.c - every layer against finite differences of its own forward pass, and Adam against the
 * reference. Layers are run in float, so differences are taken over a step that float resolves and
 * compared with the tolerance it allows; a plain double twin would only repeat the formula. */
#include "support.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/half.h"
#include "base/rng.h"
#include "base/safetensors.h"
#include "nn/nn.h"

static void fill(float *x, size_t n, rng *r, double scale)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(scale * (2 * rng_uniform(r) - 1));
}

/* A layer as a function of one array: writes out(n_out) from in. */
typedef struct layer {
    void (*forward)(const struct layer *l, const float *in, float *out);
    size_t in, out;
    float *fixed[5];
    size_t size[4];
    const size_t *offsets;
    const nn_span *spans;
    const nn_path *paths;
    arena *a;
} layer;

/* The gradient of weight.out for one array against central differences. */
static void check_gradient(const char *name, const layer *l, float *in, const float *gradient,
                           const float *weight)
{
    float *up = arena_array(l->a, l->out, sizeof *up),
          *down = arena_array(l->a, l->out, sizeof *down);
    double worst = 0, largest = 0;
    for (size_t i = 0; i < l->in; i++) {
        float h = 1e-2f, kept = in[i];
        in[i] = kept + h;
        l->forward(l, in, up);
        in[i] = kept - h;
        l->forward(l, in, down);
        in[i] = kept;
        double slope = 0;
        for (size_t k = 0; k < l->out; k++)
            slope += (double)weight[k] * ((double)up[k] - (double)down[k]) / (2 * (double)h);
        worst = fmax(worst, fabs(slope - (double)gradient[i]));
        largest = fmax(largest, fabs(slope));
    }
    print_message("%-24s largest %.4f, worst difference %.6f\n", name, largest, worst);
    assert_true(largest > 1e-2);
    assert_true(worst < 3e-3 * largest + 1e-4);
}

static void linear(const layer *l, const float *in, float *out)
{
    assert_true(nn_linear_forward(out, in, l->fixed[0], l->fixed[1], 5, 7, 3, NN_FLOAT32));
}

static void linear_in_weight(const layer *l, const float *in, float *out)
{
    assert_true(nn_linear_forward(out, l->fixed[0], in, l->fixed[1], 5, 7, 3, NN_FLOAT32));
}

static void linear_has_its_gradient(void **state)
{
    arena *a = *state;
    rng r;
    rng_init(&r, 1, RNG_BENCH, 0);
    float x[35], w[21], b[3], up[15], dx[35] = { 0 }, dw[21] = { 0 }, db[3] = { 0 };
    fill(x, 35, &r, 1);
    fill(w, 21, &r, 1);
    fill(b, 3, &r, 1);
    fill(up, 15, &r, 1);
    assert_true(nn_linear_backward(dx, dw, db, up, x, w, 5, 7, 3, NN_FLOAT32));
    layer in_x = { .forward = linear, .in = 35, .out = 15, .fixed = { w, b }, .a = a };
    layer in_w = { .forward = linear_in_weight, .in = 21, .out = 15, .fixed = { x, b }, .a = a };
    check_gradient("linear, input", &in_x, x, dx, up);
    check_gradient("linear, weight", &in_w, w, dw, up);
    for (int k = 0; k < 3; k++) {
        float sum = 0;
        for (int i = 0; i < 5; i++)
            sum += up[3 * i + k];
        assert_true(fabsf(sum - db[k]) < 1e-5f);
    }
}

/* To the nearest of 8 bits, ties to even; what is no number stays none. */
static void bf16_rounds_to_nearest(void **state)
{
    (void)state;
    static const struct {
        float from, to;
    } cases[] = { { 0, 0 },
                  { 1, 1 },
                  { -2.5f, -2.5f },
                  { 1 + 0x1p-8f, 1 }, /* a tie */
                  { 1 + 3 * 0x1p-8f, 1 + 4 * 0x1p-8f },
                  { 1 + 0x1.1p-8f, 1 + 0x1p-7f },
                  { -1 - 0x0.fp-8f, -1 },
                  { 0x1.ffp10f, 0x1p11f },
                  { 0x1.fffffep127f, INFINITY },
                  { -INFINITY, -INFINITY },
                  { 0x1p-133f, 0x1p-133f } };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_true(nn_bf16_value(nn_bf16_of(cases[i].from)) == cases[i].to);
    assert_true(signbit(nn_bf16_value(nn_bf16_of(-0.0f))));
    uint32_t bits = 0x7fffffff; /* a NaN whose rounding would overflow into the sign */
    float nan;
    memcpy(&nan, &bits, sizeof nan);
    assert_true(isnan(nn_bf16_value(nn_bf16_of(nan))));
}

/* A product in one way of many. */
typedef struct product {
    nn_products kind;
    nn_shape s;
    enum { NOTHING, ITSELF, A_ROW, STARTS } from;
} product;

/* Against sums in double of the factors as they are read, rounded or not; nothing else changes. */
static void check_product(const product *p)
{
    enum { GAP = 3 }; /* what lies between rows */
    size_t m = p->s.m, n = p->s.n, k = p->s.k;
    nn_shape s = p->s;
    s.lda = (s.trans_a ? m : k) + GAP;
    s.ldb = (s.trans_b ? k : n) + GAP;
    s.ldc = n + GAP;
    size_t size_a = (s.trans_a ? k : m) * s.lda, size_b = (s.trans_b ? n : k) * s.ldb;
    float *a = malloc((size_a + size_b + n + 2 * m * s.ldc) * sizeof *a);
    float *b = a + size_a, *row = b + size_b, *c = row + n, *before = c + m * s.ldc;
    double moved = 0; /* by rounding */
    rng r;
    assert_non_null(a);
    rng_init(&r, 9, RNG_BENCH, (uint64_t)(s.trans_a + 2 * s.trans_b + 4 * (int)p->from));
    fill(a, size_a + size_b + n, &r, 1);
    fill(before, m * s.ldc, &r, 1);
    memcpy(c, before, m * s.ldc * sizeof *c);
    const float *from = p->from == ITSELF ? c : p->from == A_ROW ? row : NULL;
    assert_true(nn_multiply(p->kind, &s, a, b, from, c));
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            double exact = 0, rounded = 0;
            for (size_t l = 0; l < k; l++) {
                float u = a[s.trans_a ? l * s.lda + i : i * s.lda + l];
                float v = b[s.trans_b ? j * s.ldb + l : l * s.ldb + j];
                exact += (double)u * (double)v;
                rounded +=
                    (double)nn_bf16_value(nn_bf16_of(u)) * (double)nn_bf16_value(nn_bf16_of(v));
            }
            double want = p->kind == NN_FLOAT32 ? exact : rounded;
            want += p->from == ITSELF  ? (double)before[i * s.ldc + j]
                    : p->from == A_ROW ? (double)row[j]
                                       : 0;
            assert_true(fabs((double)c[i * s.ldc + j] - want) < 2e-6 * sqrt((double)k + 1));
            moved = fmax(moved, fabs(rounded - exact));
        }
        assert_memory_equal(c + i * s.ldc + n, before + i * s.ldc + n, GAP * sizeof *c);
    }
    assert_true(k == 0 || (moved > 1e-4 && moved < 0.1 * sqrt((double)k)));
    free(a);
}

static const struct {
    const char *name;
    nn_products kind;
} all_products[] = { { "float32", NN_FLOAT32 },
                     { "bf16 by float32 products of rounded numbers", NN_BF16_ROUNDED },
                     { "bf16 on the matrix unit", NN_BF16_AMX },
                     { "bf16 in vectors", NN_BF16_VECTORS } };

/* All ways to multiply, those of the processor where it has them; sizes below, at and beyond those
 * of the tiles that it works with, and sums that it takes in several stretches. */
static void products_are_of_the_rounded_factors(void **state)
{
    static const size_t sizes[][3] = { { 5, 7, 9 },    { 32, 32, 32 },  { 1, 33, 64 },
                                       { 16, 15, 31 }, { 70, 48, 101 }, { 129, 97, 33 },
                                       { 3, 4, 0 },    { 40, 70, 1100 } };
    (void)state;
    for (size_t k = 0; k < COUNT(all_products); k++) {
        const nn_products kind = all_products[k].kind;
        print_message("%s: %s\n", all_products[k].name,
                      nn_has_products(kind) ? "tested" : "the processor has none");
        for (size_t i = 0; i < COUNT(sizes) && nn_has_products(kind); i++)
            for (int way = 0; way < 4 * STARTS; way++)
                check_product(&(product){ .kind = kind,
                                          .s = { .trans_a = way & 1,
                                                 .trans_b = way >> 1 & 1,
                                                 .m = sizes[i][0],
                                                 .n = sizes[i][1],
                                                 .k = sizes[i][2] },
                                          .from = way >> 2 });
    }
}

static void norm(const layer *l, const float *in, float *out)
{
    float stats[8];
    nn_kernels_best()->norm(out, stats, in, l->fixed[0], l->fixed[1], 4, 10);
}

static void norm_in_gain(const layer *l, const float *in, float *out)
{
    float stats[8];
    nn_kernels_best()->norm(out, stats, l->fixed[0], in, l->fixed[1], 4, 10);
}

static void layer_norm_has_its_gradient(void **state)
{
    arena *a = *state;
    rng r;
    rng_init(&r, 2, RNG_BENCH, 0);
    float x[40], g[10], b[10], up[40], y[40], stats[8], dx[40], dg[10] = { 0 }, db[10] = { 0 };
    fill(x, 40, &r, 2);
    fill(g, 10, &r, 1);
    fill(b, 10, &r, 1);
    fill(up, 40, &r, 1);
    const nn_kernels *k = nn_kernels_best();
    k->norm(y, stats, x, g, b, 4, 10);
    k->norm_back(dx, dg, db, up, x, stats, g, 4, 10);
    layer in_x = { .forward = norm, .in = 40, .out = 40, .fixed = { g, b }, .a = a };
    layer in_g = { .forward = norm_in_gain, .in = 10, .out = 40, .fixed = { x, b }, .a = a };
    check_gradient("layer norm, input", &in_x, x, dx, up);
    check_gradient("layer norm, gain", &in_g, g, dg, up);
}

static nn_feed small_feed(const layer *l)
{
    return (nn_feed){ l->fixed[0], l->fixed[1], l->fixed[2], l->fixed[3], 4, 6 };
}

static void feed(const layer *l, const float *in, float *out)
{
    float hidden[3 * 6];
    nn_feed w = small_feed(l);
    assert_true(nn_feed_forward(out, hidden, in, &w, 3, NN_FLOAT32));
}

static void feed_in_first_weights(const layer *l, const float *in, float *out)
{
    float hidden[3 * 6];
    nn_feed w = small_feed(l);
    w.w1 = in;
    assert_true(nn_feed_forward(out, hidden, l->fixed[4], &w, 3, NN_FLOAT32));
}

static void feed_has_its_gradient(void **state)
{
    arena *a = *state;
    rng r;
    rng_init(&r, 8, RNG_BENCH, 0);
    float x[12], w1[24], b1[6], w2[24], b2[4], up[12], y[12], hidden[18], dx[12];
    float dw1[24] = { 0 }, db1[6] = { 0 }, dw2[24] = { 0 }, db2[4] = { 0 };
    fill(x, 12, &r, 1);
    fill(w1, 24, &r, 1);
    fill(b1, 6, &r, 1);
    fill(w2, 24, &r, 1);
    fill(b2, 4, &r, 1);
    fill(up, 12, &r, 1);
    const nn_feed w = { w1, b1, w2, b2, 4, 6 };
    const nn_feed_gradient g = { dw1, db1, dw2, db2 };
    assert_true(nn_feed_room(NN_FLOAT32, &w, 3) == COUNT(hidden));
    assert_true(nn_feed_forward(y, hidden, x, &w, 3, NN_FLOAT32));
    assert_true(nn_feed_backward(dx, &g, up, x, hidden, &w, 3, NN_FLOAT32, a));
    layer in_x = { .forward = feed, .in = 12, .out = 12, .fixed = { w1, b1, w2, b2, x }, .a = a };
    layer in_w = in_x;
    in_w.forward = feed_in_first_weights;
    in_w.in = 24;
    check_gradient("feed-forward, input", &in_x, x, dx, up);
    check_gradient("feed-forward, first weights", &in_w, w1, dw1, up);
}

/* The feed-forward half of n rows in tiles, against its steps one by one. */
static void check_feed(nn_products how, size_t n, arena *a)
{
    enum { D = 64, FF = 96 };
    rng r;
    rng_init(&r, 8, RNG_BENCH, n);
    const size_t weights = 2 * D * FF + FF + D;
    float *w = arena_array(a, weights, sizeof *w), *x = arena_array(a, 2 * n * D, sizeof *x);
    float *up = x + n * D, *out = arena_zero(a, 4 * n * D * sizeof *out), *steps = out + 2 * n * D;
    float *dw = arena_zero(a, 2 * weights * sizeof *dw), *steps_dw = dw + weights;
    float *hidden = arena_array(a, n * FF, sizeof *hidden);
    float *dh = arena_array(a, n * FF, sizeof *dh);
    fill(w, weights, &r, 0.3f);
    fill(x, 2 * n * D, &r, 1);
    const nn_feed f = { w, w + D * FF, w + D * FF + FF, w + 2 * D * FF + FF, D, FF };
    const nn_feed_gradient g = { dw, dw + D * FF, dw + D * FF + FF, dw + 2 * D * FF + FF };
    float *tiles = arena_array(a, nn_feed_room(how, &f, n), sizeof *tiles);
    assert_true(nn_feed_forward(out, tiles, x, &f, n, how));
    assert_true(nn_feed_backward(out + n * D, &g, up, x, tiles, &f, n, how, a));
    assert_true(nn_linear_forward(hidden, x, f.w1, f.b1, n, D, FF, how));
    nn_kernels_best()->relu(hidden, n * FF);
    assert_true(nn_linear_forward(steps, hidden, f.w2, f.b2, n, FF, D, how));
    assert_true(nn_linear_backward(dh, steps_dw + (g.w2 - dw), steps_dw + (g.b2 - dw), up, hidden,
                                   f.w2, n, FF, D, how));
    nn_kernels_best()->relu_back(dh, hidden, n * FF);
    assert_true(nn_linear_backward(steps + n * D, steps_dw, steps_dw + (g.b1 - dw), dh, x, f.w1, n,
                                   D, FF, how));
    assert_memory_equal(out, steps, 2 * n * D * sizeof *out);
    assert_memory_equal(dw, steps_dw, weights * sizeof *dw);
}

/* The way in tiles gives what the single steps give, to the bit; rows that fill blocks and
 * stretches, or do not. */
static void feed_in_tiles_is_its_steps(void **state)
{
    static const size_t rows[] = { 1, 32, 300 };
    if (nn_best_bf16() == NN_FLOAT32)
        skip();
    for (nn_products how = NN_BF16_AMX; how <= NN_BF16_VECTORS; how++)
        for (size_t i = 0; i < COUNT(rows) && nn_has_products(how); i++)
            check_feed(how, rows[i], *state);
}

static void attention(const layer *l, const float *in, float *out)
{
    nn_attention_forward(out, in, l->offsets, 2, 8, 2, l->a);
}

static void attention_has_its_gradient(void **state)
{
    arena *a = *state;
    rng r;
    rng_init(&r, 3, RNG_BENCH, 0);
    const size_t offsets[] = { 0, 3, 8 };
    float qkv[8 * 24], up[64], dqkv[8 * 24];
    fill(qkv, 8 * 24, &r, 1);
    fill(up, 64, &r, 1);
    assert_true(nn_attention_backward(dqkv, up, qkv, offsets, 2, 8, 2, a));
    layer l = { .forward = attention, .in = 8 * 24, .out = 64, .offsets = offsets, .a = a };
    check_gradient("attention", &l, qkv, dqkv, up);

    /* Sequences do not see each other. */
    float before[64], after[64];
    attention(&l, qkv, before);
    for (int i = 3 * 24; i < 8 * 24; i++)
        qkv[i] += 1;
    attention(&l, qkv, after);
    assert_memory_equal(before, after, 3 * 8 * sizeof(float));
}

static void pool(const layer *l, const float *in, float *out)
{
    float weight[64];
    nn_pool_forward(out, weight, in, l->fixed[0], 0.3f, l->spans, 3, 6);
}

static void pool_in_weight(const layer *l, const float *in, float *out)
{
    float weight[64];
    nn_pool_forward(out, weight, l->fixed[0], in, 0.3f, l->spans, 3, 6);
}

static void pooling_has_its_gradient(void **state)
{
    arena *a = *state;
    rng r;
    rng_init(&r, 4, RNG_BENCH, 0);
    const nn_span spans[] = { { 0, 4, 3 }, { 4, 9, 0 }, { 5, 7, 0 } }; /* pads, whole, a part */
    float x[54], w[6], up[18], pooled[18], weight[64], dx[54] = { 0 }, dw[6] = { 0 };
    fill(x, 54, &r, 1);
    fill(w, 6, &r, 1);
    fill(up, 18, &r, 1);
    nn_pool_forward(pooled, weight, x, w, 0.3f, spans, 3, 6);
    nn_pool_backward(dx, dw, up, weight, x, w, spans, 3, 6);
    layer in_x = { .forward = pool, .in = 54, .out = 18, .fixed = { w }, .spans = spans, .a = a };
    layer in_w = {
        .forward = pool_in_weight, .in = 6, .out = 18, .fixed = { x }, .spans = spans, .a = a
    };
    check_gradient("pooling, input", &in_x, x, dx, up);
    check_gradient("pooling, weight", &in_w, w, dw, up);
    /* Pads take their share: the weights of the first span add up to less than one. */
    float first = 0, second = 0;
    for (int i = 0; i < 4; i++)
        first += weight[i];
    for (int i = 4; i < 9; i++)
        second += weight[i];
    assert_true(first < 0.9f && fabsf(second - 1) < 1e-6f);
}

static void tree(const layer *l, const float *in, float *out)
{
    memset(out, 0, 5 * 24 * sizeof *out);
    nn_tree_forward(out, l->paths, in, 5, 3, 4);
}

static void tree_positions_have_their_gradient(void **state)
{
    const nn_path paths[] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 5, 3 }, { 11, 9 } };
    float theta[3] = { 0.5f, -0.3f, 1.1f }, up[120], dtheta[3] = { 0 };
    rng r;
    rng_init(&r, 5, RNG_BENCH, 0);
    fill(up, 120, &r, 1);
    nn_tree_backward(dtheta, up, paths, theta, 5, 3, 4);
    layer l = { .forward = tree, .in = 3, .out = 120, .paths = paths, .a = *state };
    check_gradient("tree positions", &l, theta, dtheta, up);
}

static const safetensors_entry *tensor(const safetensors_file *f, const char *part, int step,
                                       const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "%s%d.%s", part, step, name);
    const safetensors_entry *e = safetensors_find(f, key);
    if (!e)
        fail_msg("no %s", key);
    return e;
}

/* The optimizer alone, on two small tensors with given gradients. */
static void adam_updates_as_the_reference_does(void **state)
{
    arena *a = *state;
    const char *folder = getenv("SNIP_GOLDEN"), *tests = getenv("SNIP_TESTS");
    char path[1024];
    snprintf(path, sizeof path, "%s%s/model-s0/optimizer-toy-f32.safetensors",
             folder && *folder ? folder
             : tests           ? tests
                               : "tests",
             folder && *folder ? "" : "/golden");
    safetensors_file f;
    snip_status st;
    if (safetensors_read(&f, path, a, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    json_t *o = golden_json("model-s0/optimizer-toy.json"), *steps = json_object_get(o, "steps");
    float w[26], m[26] = { 0 }, v[26] = { 0 }, g[26];
    memcpy(w, tensor(&f, "w", 0, "a")->data, 20);
    memcpy(w + 5, tensor(&f, "w", 0, "b")->data, 84);
    const nn_adam how = { .beta1 = 0.9f,
                          .beta2 = 0.999f,
                          .eps = 1e-8f,
                          .clip = (float)json_number_value(json_object_get(o, "clip_grad_norm")) };
    assert_true(json_array_size(steps) >= 10);
    for (int t = 1; t <= (int)json_array_size(steps); t++) {
        json_t *s = json_array_get(steps, (size_t)t - 1);
        memcpy(g, tensor(&f, "g", t, "a")->data, 20);
        memcpy(g + 5, tensor(&f, "g", t, "b")->data, 84);
        double length = sqrt(nn_kernels_best()->square_sum(g, 26));
        assert_true(fabs(length - json_number_value(json_object_get(s, "grad_norm_before_clip"))) <
                    1e-5 * (1 + length));
        nn_adam_update(w, m, v, g, 26, &how, json_number_value(json_object_get(s, "lr")),
                       (uint64_t)t, length, 1);
        float want[26];
        memcpy(want, tensor(&f, "w", t, "a")->data, 20);
        memcpy(want + 5, tensor(&f, "w", t, "b")->data, 84);
        for (int i = 0; i < 26; i++)
            if (!(fabsf(w[i] - want[i]) < 1e-6f))
                fail_msg("step %d, number %d: %g, expected %g", t, i, (double)w[i],
                         (double)want[i]);
    }
    json_decref(o);
    safetensors_close(&f);
}

/* Muon ------------------------------------------------------------------------------------------
 */

/* The twin of nn_orthogonalise in double and plain loops, as it is defined for wide matrices: tall
 * ones are turned. */
static void orthogonalise_plainly(double *x, size_t rows, size_t cols, arena *a)
{
    size_t r = rows < cols ? rows : cols, c = rows < cols ? cols : rows;
    double *t = arena_array(a, r * c, sizeof *t), *next = arena_array(a, r * c, sizeof *t);
    double *gram = arena_array(a, r * r, sizeof *t), *poly = arena_array(a, r * r, sizeof *t);
    double norm = 0;
    for (size_t i = 0; i < rows * cols; i++)
        norm += x[i] * x[i];
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < c; j++)
            t[i * c + j] = (rows <= cols ? x[i * c + j] : x[j * r + i]) / (norm ? sqrt(norm) : 1);
    for (int step = 0; step < 5; step++) {
        for (size_t i = 0; i < r; i++)
            for (size_t j = 0; j < r; j++) {
                gram[i * r + j] = 0;
                for (size_t k = 0; k < c; k++)
                    gram[i * r + j] += t[i * c + k] * t[j * c + k];
            }
        for (size_t i = 0; i < r; i++)
            for (size_t j = 0; j < r; j++) {
                poly[i * r + j] = -4.7750 * gram[i * r + j];
                for (size_t k = 0; k < r; k++)
                    poly[i * r + j] += 2.0315 * gram[i * r + k] * gram[k * r + j];
            }
        for (size_t i = 0; i < r; i++)
            for (size_t j = 0; j < c; j++) {
                next[i * c + j] = 3.4445 * t[i * c + j];
                for (size_t k = 0; k < r; k++)
                    next[i * c + j] += poly[i * r + k] * t[k * c + j];
            }
        memcpy(t, next, r * c * sizeof *t);
    }
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < c; j++)
            x[rows <= cols ? i * c + j : j * r + i] = t[i * c + j];
}

/* The singular values of a matrix, by Jacobi's rotations of its columns. */
static size_t singular_values(double *s, const float *x, size_t rows, size_t cols, arena *a)
{
    size_t n = rows < cols ? rows : cols, m = rows < cols ? cols : rows;
    double *v = arena_array(a, m * n, sizeof *v); /* n columns of m, one after the other */
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++)
            v[j * m + i] = (double)(rows <= cols ? x[j * cols + i] : x[i * cols + j]);
    for (int sweep = 0; sweep < 30; sweep++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                double *u = v + p * m, *w = v + q * m, uu = 0, ww = 0, uw = 0;
                for (size_t i = 0; i < m; i++) {
                    uu += u[i] * u[i];
                    ww += w[i] * w[i];
                    uw += u[i] * w[i];
                }
                if (fabs(uw) <= 1e-15 * sqrt(uu * ww))
                    continue;
                double z = (ww - uu) / (2 * uw), t = (z < 0 ? -1 : 1) / (fabs(z) + sqrt(1 + z * z)),
                       cosine = 1 / sqrt(1 + t * t), sine = cosine * t;
                for (size_t i = 0; i < m; i++) {
                    double old = u[i];
                    u[i] = cosine * old - sine * w[i];
                    w[i] = sine * old + cosine * w[i];
                }
            }
    for (size_t j = 0; j < n; j++) {
        s[j] = 0;
        for (size_t i = 0; i < m; i++)
            s[j] += v[j * m + i] * v[j * m + i];
        s[j] = sqrt(s[j]);
    }
    return n;
}

/* Matrices of all shapes and of any size of numbers, random and of low rank, against the twin; and
 * what a direction's singular value becomes, which for most directions is near 1. */
static void muon_makes_matrices_orthogonal(void **state)
{
    static const struct {
        size_t rows, cols, rank;
        double scale;
        double near_one; /* at least this share of the directions */
    } cases[] = {
        { 32, 32, 32, 1, 0.95 },    { 24, 96, 24, 1, 1 },     { 96, 24, 24, 1, 1 },
        { 1, 40, 1, 1, 1 },         { 40, 1, 1, 1, 1 },       { 1, 1, 1, 1, 1 },
        { 33, 17, 17, 1e-30, 1 },   { 17, 33, 17, 1e15, 1 },  { 32, 48, 5, 1, 5.0 / 32 },
        { 48, 32, 1, 1, 1.0 / 32 }, { 12, 20, 12, 1e-40, 1 },
    };
    rng r;
    rng_init(&r, 8, RNG_BENCH, 0);
    for (size_t k = 0; k < COUNT(cases); k++) {
        arena *a = *state;
        size_t rows = cases[k].rows, cols = cases[k].cols, n = rows * cols, rank = cases[k].rank;
        float *x = arena_array(a, n, sizeof *x), *y = arena_array(a, n, sizeof *y);
        float *left = arena_array(a, rows * rank, sizeof *x);
        float *right = arena_array(a, rank * cols, sizeof *x);
        double *twin = arena_array(a, n, sizeof *twin), before[64], after[64], worst = 0, norm = 0;
        fill(left, rows * rank, &r, 1);
        fill(right, rank * cols, &r, 1);
        fill(x, n, &r, cases[k].scale);
        if (rank < rows && rank < cols)
            assert_true(nn_gemm(0, 0, rows, cols, rank, 1, left, rank, right, cols, 0, x, cols));
        memcpy(y, x, n * sizeof *y);
        for (size_t i = 0; i < n; i++)
            twin[i] = (double)x[i];
        orthogonalise_plainly(twin, rows, cols, a);
        assert_true(nn_orthogonalise(y, rows, cols,
                                     arena_array(a, nn_orthogonalise_room(rows, cols), sizeof *y)));
        for (size_t i = 0; i < n; i++)
            worst = fmax(worst, fabs((double)y[i] - twin[i]));
        size_t directions = singular_values(before, x, rows, cols, a), near_one = 0;
        assert_int_equal(singular_values(after, y, rows, cols, a), directions);
        for (size_t i = 0; i < directions; i++)
            norm += before[i] * before[i];
        double low = 9, high = 0;
        for (size_t i = 0; i < directions; i++) {
            near_one += after[i] >= 0.6 && after[i] <= 1.3;
            low = fmin(low, after[i]);
            high = fmax(high, after[i]);
        }
        print_message("%zu x %zu, rank %zu, numbers to %g: singular values %.3f to %.3f, %zu of "
                      "%zu near 1; %.1e from the twin\n",
                      rows, cols, rank, cases[k].scale, low, high, near_one, directions, worst);
        assert_true(worst < 2e-5);
        assert_true(high < 1.3);
        assert_true((double)near_one >= cases[k].near_one * (double)directions);
        /* All those that were large enough. */
        size_t large = 0;
        for (size_t i = 0; i < directions; i++)
            large += before[i] > 0.0015 * sqrt(norm);
        assert_true(large >= rank - 1 && near_one >= large);
    }
}

/* Each update against the formula, over several steps, with a bound on the gradient; a matrix
 * without gradient stays as it is; nothing else is touched, and threads make no difference. */
static void muon_updates_as_its_formula_says(void **state)
{
    enum { SIZE = 3000, STEPS = 3 };
    static const nn_matrix matrix[] = { { 10, 8, 24 },   { 202, 8, 8 },   { 300, 24, 8 },
                                        { 500, 5, 7 },   { 600, 16, 16 }, { 900, 8, 8 },
                                        { 1000, 30, 60 } };
    enum { EMPTY = 5 }; /* has no gradient */
    arena *a = *state;
    const double lr = 0.02, scale = 0.4;
    float *w[2], *m[2], *g = arena_zero(a, SIZE * sizeof *g);
    double *want = arena_array(a, SIZE, sizeof *want), *mean = arena_zero(a, SIZE * sizeof *mean);
    rng r;
    rng_init(&r, 9, RNG_BENCH, 0);
    w[0] = arena_array(a, SIZE, sizeof **w);
    fill(w[0], SIZE, &r, 1);
    w[1] = arena_copy(a, w[0], SIZE * sizeof **w);
    float *start = arena_copy(a, w[0], SIZE * sizeof **w);
    for (size_t i = 0; i < SIZE; i++)
        want[i] = (double)w[0][i];
    for (int t = 0; t < 2; t++)
        m[t] = arena_zero(a, SIZE * sizeof **m);
    for (int step = 0; step < STEPS; step++) {
        fill(g, SIZE, &r, 1);
        memset(g + matrix[EMPTY].offset, 0, 64 * sizeof *g);
        for (int t = 0; t < 2; t++)
            assert_true(nn_muon_update(nn_muon_new(matrix, COUNT(matrix), 1 + t, a), w[t], m[t], g,
                                       scale, lr));
        for (size_t k = 0; k < COUNT(matrix); k++) {
            size_t n = matrix[k].rows * matrix[k].cols, at = matrix[k].offset;
            double *u = arena_array(a, n, sizeof *u);
            double longer = fmax((double)matrix[k].rows, (double)matrix[k].cols);
            for (size_t i = 0; i < n; i++) {
                double grad = scale * (double)g[at + i];
                mean[at + i] = 0.95 * mean[at + i] + grad;
                u[i] = grad + 0.95 * mean[at + i];
            }
            orthogonalise_plainly(u, matrix[k].rows, matrix[k].cols, a);
            for (size_t i = 0; i < n; i++)
                want[at + i] -= lr * 0.2 * sqrt(longer) * u[i];
        }
    }
    for (size_t i = 0; i < SIZE; i++) {
        assert_true(fabs((double)w[0][i] - want[i]) < 3e-6);
        assert_true(fabs((double)m[0][i] - mean[i]) < 1e-5);
    }
    assert_memory_equal(w[0] + matrix[EMPTY].offset, start + matrix[EMPTY].offset,
                        64 * sizeof(float));
    assert_memory_equal(w[0] + 2800, start + 2800, 200 * sizeof(float));
    assert_memory_not_equal(w[0] + 1000, start + 1000, 1800 * sizeof(float));
    assert_memory_equal(w[0], w[1], SIZE * sizeof(float));
    assert_memory_equal(m[0], m[1], SIZE * sizeof(float));
}

static uintptr_t stack_here;                /* an address of this thread's stack */
static volatile sig_atomic_t ticks, astray; /* handlers that ran, and those not on the stack */

static void on_tick(int number)
{
    (void)number;
    char here;
    ptrdiff_t away = (ptrdiff_t)(stack_here - (uintptr_t)&here);
    ticks++;
    astray += away < 0 || away > 1 << 20;
}

/* See nn_quiet: without it some handlers run on oneDNN's work space and write over the heap. */
static void signals_never_run_on_a_work_space(void **state)
{
    enum { M = 200, N = 96, K = 384 };
    arena *r = *state;
    float *a = arena_array(r, M * K, sizeof *a), *b = arena_array(r, K * N, sizeof *b);
    float *c = arena_array(r, M * N, sizeof *c);
    rng g;
    rng_init(&g, 3, RNG_BENCH, 0);
    fill(a, M * K, &g, 1);
    fill(b, K * N, &g, 1);
    struct sigaction tick = { .sa_handler = on_tick }, before;
    struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { 0 };
    stack_here = (uintptr_t)&g + 4096;
    sigaction(SIGALRM, &tick, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    while (ticks < 2000 && !astray)
        for (int trans = 0; trans < 2; trans++)
            assert_true(nn_gemm(0, trans, M, N, K, 1, a, K, b, trans ? K : N, 0, c, N));
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    assert_int_equal(astray, 0);
}

/* Every instruction set, with widths that fill its registers and such that do not. */
static void half_scores_are_inner_products(void **state)
{
    enum { ROWS = 11, WIDTH = 130 };
    static const size_t widths[] = { 1, 7, 8, 16, 33, 64, 128, WIDTH };
    uint16_t row[ROWS * WIDTH];
    float q[WIDTH], s[ROWS + 1];
    rng r;
    (void)state;
    rng_init(&r, 5, RNG_BENCH, 0);
    fill(q, WIDTH, &r, 1);
    for (size_t i = 0; i < COUNT(row); i++)
        row[i] = half_of((float)(2 * rng_uniform(&r) - 1));
    for (int which = 0; which < ISA_COUNT; which++)
        for (size_t w = 0; w < COUNT(widths) && isa_has((isa)which); w++)
            for (size_t n = 0; n <= ROWS; n++) {
                size_t d = widths[w];
                s[n] = 77;
                nn_kernels_for((isa)which)->half_scores(s, row, q, n, d);
                for (size_t k = 0; k < n; k++) {
                    double sum = 0;
                    for (size_t i = 0; i < d; i++)
                        sum += (double)half_value(row[k * d + i]) * (double)q[i];
                    assert_true(fabs((double)s[k] - sum) < 1e-5);
                }
                assert_true(s[n] == 77);
            }
}

/* Plain sums beside every table of kernels: transposed or not, sizes that fill vectors and tiles or
 * do not. Elements are summed in one order, so the last bits are the same wherever a row stands. */
static void small_products_are_products(void **state)
{
    arena *a = *state;
    static const size_t sizes[][3] = { { 1, 1, 1 },    { 3, 5, 7 },    { 4, 16, 32 },
                                       { 23, 32, 23 }, { 40, 48, 32 }, { 7, 33, 200 },
                                       { 6, 8, 0 },    { 5, 24, 9 } };
    for (int which = 0; which < ISA_COUNT; which++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes && isa_has((isa)which); s++)
            for (int turned = 0; turned < 2; turned++) {
                size_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2], ldc = n + 3, ldb = n + 2;
                float *x = arena_array(a, (m + 1) * (k + 1), sizeof *x);
                float *b = arena_array(a, (k + 1) * ldb, sizeof *b);
                float *c = arena_zero(a, m * ldc * sizeof *c);
                for (size_t i = 0; i < (m + 1) * (k + 1); i++)
                    x[i] = sinf((float)(3 * i + s));
                for (size_t i = 0; i < (k + 1) * ldb; i++)
                    b[i] = cosf((float)(2 * i + s));
                size_t row = turned ? 1 : k + 1, column = turned ? m + 1 : 1;
                nn_kernels_for((isa)which)->small_product(c, ldc, x, row, column, b, ldb, m, n, k);
                for (size_t i = 0; i < m; i++)
                    for (size_t j = 0; j < ldc; j++) {
                        double want = 0;
                        for (size_t l = 0; l < k && j < n; l++)
                            want += (double)x[i * row + l * column] * (double)b[l * ldb + j];
                        assert_true(fabs(want - (double)c[i * ldc + j]) < 1e-4);
                    }
            }
}

/* The transpose, and zeros up to the end of its rows; nothing beyond is read or written. */
static void transposes_are_transposes(void **state)
{
    static const size_t sizes[][2] = { { 1, 1 }, { 5, 4 }, { 16, 16 }, { 17, 32 }, { 40, 21 } };
    for (int which = 0; which < ISA_COUNT; which++)
        for (size_t s = 0; s < COUNT(sizes) && isa_has((isa)which); s++) {
            size_t n = sizes[s][0], d = sizes[s][1], ld = d + 3;
            size_t to_ld = (n + NN_LANES - 1) / NN_LANES * NN_LANES;
            float *from =
                malloc(((n - 1) * ld + d) * sizeof *from); /* no more: for the sanitizer */
            float *to = malloc(d * to_ld * sizeof *to);
            assert_true(from && to);
            for (size_t i = 0; i < (n - 1) * ld + d; i++)
                from[i] = (float)(i + 1);
            nn_kernels_for((isa)which)->transpose(to, to_ld, from, ld, n, d);
            for (size_t i = 0; i < d; i++)
                for (size_t j = 0; j < to_ld; j++)
                    assert_true(to[i * to_ld + j] == (j < n ? from[j * ld + i] : 0));
            free(from);
            free(to);
        }
    (void)state;
}

/* exp(scale x) / sum, whatever stood beyond the columns, and its derivative. */
static void softmax_is_its_formula(void **state)
{
    enum { ROWS = 3, MOST = 48 };
    const double scale = 0.7;
    for (int which = 0; which < ISA_COUNT; which++)
        for (size_t d = 1; d <= MOST && isa_has((isa)which); d++) {
            size_t ld = (d + NN_LANES - 1) / NN_LANES * NN_LANES;
            float x[ROWS * MOST], p[ROWS * MOST], up[ROWS * MOST], dp[ROWS * MOST];
            for (size_t i = 0; i < ROWS * ld; i++) {
                p[i] = x[i] = 9 * sinf((float)(7 * i + d));
                dp[i] = up[i] = i % ld < d ? cosf((float)i) : 0;
            }
            nn_kernels_for((isa)which)->softmax(p, ld, (float)scale, ROWS, d);
            nn_kernels_for((isa)which)->softmax_back(dp, p, ld, (float)scale, ROWS);
            for (size_t r = 0; r < ROWS; r++) {
                double sum = 0, dot = 0;
                for (size_t i = r * ld; i < r * ld + d; i++)
                    sum += exp(scale * (double)x[i]);
                for (size_t i = r * ld; i < r * ld + d; i++)
                    dot += exp(scale * (double)x[i]) / sum * (double)up[i];
                for (size_t i = r * ld; i < (r + 1) * ld; i++) {
                    double want = i < r * ld + d ? exp(scale * (double)x[i]) / sum : 0;
                    assert_true(fabs((double)p[i] - want) < 1e-6);
                    want *= scale * ((double)up[i] - dot);
                    assert_true(fabs((double)dp[i] - want) < 1e-6);
                }
            }
        }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(linear_has_its_gradient),
        cmocka_unit_test(bf16_rounds_to_nearest),
        cmocka_unit_test(products_are_of_the_rounded_factors),
        ARENA_TEST(layer_norm_has_its_gradient),
        ARENA_TEST(feed_has_its_gradient),
        ARENA_TEST(feed_in_tiles_is_its_steps),
        ARENA_TEST(attention_has_its_gradient),
        ARENA_TEST(pooling_has_its_gradient),
        ARENA_TEST(tree_positions_have_their_gradient),
        ARENA_TEST(adam_updates_as_the_reference_does),
        /* Before all that starts threads, whose stacks are elsewhere. */
        ARENA_TEST(signals_never_run_on_a_work_space),
        ARENA_TEST(muon_makes_matrices_orthogonal),
        ARENA_TEST(muon_updates_as_its_formula_says),
        cmocka_unit_test(half_scores_are_inner_products),
        ARENA_TEST(small_products_are_products),
        cmocka_unit_test(transposes_are_transposes),
        cmocka_unit_test(softmax_is_its_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
