/* test_base.c - arena, status, text, random numbers, instruction sets. */
#include "support.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/half.h"
#include "base/isa.h"
#include "base/limits.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "base/philox.h"
#include "base/rng.h"
#include "base/settings.h"
#include "base/status.h"
#include "base/streams.h"
#include "base/text.h"

static void arena_gives_back_what_it_gave(void **state)
{
    arena *a = *state;
    char *first = arena_text(a, "kept", 4);
    arena_pos mark = arena_mark(a);
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < 40; k++) { /* over many blocks */
            size_t n = (size_t)1 << (k % 20);
            unsigned char *p = arena_alloc(a, n);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 64, 0);
            memset(p, 0xEE, n);
        }
        arena_reset(a, mark);
        assert_int_equal(arena_mark(a), mark);
    }
    assert_string_equal(first, "kept");
}

static void arena_respects_its_limit(void **state)
{
    (void)state;
    arena *a = arena_new(4000); /* with room for the gaps between pieces under a sanitizer */
    assert_non_null(arena_alloc(a, 2000));
    assert_null(arena_alloc(a, 2400));
    assert_non_null(arena_alloc(a, 1500));
    assert_null(arena_alloc(a, SIZE_MAX));
    assert_null(arena_array(a, SIZE_MAX / 2, 8));
    arena_free(a);
}

static void status_is_one_line(void **state)
{
    (void)state;
    snip_status st;
    assert_int_equal(status_fail(&st, SNIP_IO, 7, "a\nb\tc%s", "\x7f"), SNIP_IO);
    assert_string_equal(st.msg, "a?b?c?");
    assert_int_equal(st.pos, 7);
    assert_int_equal(status_fail(NULL, SNIP_NOMEM, 0, "x"), SNIP_NOMEM);
}

static void text_grows_and_fails_whole(void **state)
{
    text t = { .a = *state };
    for (int i = 0; i < 1000; i++)
        text_add(&t, "%d,", i % 10);
    assert_int_equal(strlen(text_end(&t)), 2000);
    arena *small = arena_new(256);
    text u = { .a = small };
    for (int i = 0; i < 1000; i++)
        text_add(&u, "%d,", i);
    assert_null(text_end(&u));
    arena_free(small);
}

/* Known answers of the generator's authors (Random123, philox4x32 with 10 rounds). */
static void philox_gives_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } cases[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { ~0u, ~0u, ~0u, ~0u },
          { ~0u, ~0u },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };
    philox_fill *const fills[ISA_COUNT] = {
        philox_fill_generic,
#ifdef SNIP_X86
        philox_fill_avx2,
        philox_fill_avx512,
#endif
    };
    int tried = 0;
    for (int which = 0; which < ISA_COUNT; which++) {
        if (!fills[which] || !isa_has((isa)which))
            continue;
        tried++;
        for (size_t i = 0; i < COUNT(cases); i++) {
            uint64_t out[2];
            const uint32_t *c = cases[i].counter, *w = cases[i].answer;
            fills[which](out, 1, c[0], c[1], c[2], c[3], cases[i].key[0], cases[i].key[1]);
            assert_int_equal(out[0], (uint64_t)w[1] << 32 | w[0]);
            assert_int_equal(out[1], (uint64_t)w[3] << 32 | w[2]);
        }
        /* Many blocks at once are the same blocks. */
        uint64_t many[2 * 77], one[2];
        fills[which](many, 77, 5, 1, 2, 3, 4, 5);
        for (uint32_t k = 0; k < 77; k++) {
            fills[ISA_GENERIC](one, 1, 5 + k, 1, 2, 3, 4, 5);
            assert_memory_equal(one, many + 2 * k, sizeof one);
        }
    }
    assert_true(tried >= 1);
}

static void streams_differ_and_repeat(void **state)
{
    (void)state;
    rng a, b;
    rng_init(&a, 7, RNG_TRAIN, 3);
    rng_init(&b, 7, RNG_TRAIN, 3);
    for (int i = 0; i < 100; i++)
        assert_int_equal(rng_u64(&a), rng_u64(&b));
    rng_init(&a, 7, RNG_TRAIN, 3);
    rng_init(&b, 7, RNG_HELD_OUT, 3);
    assert_int_not_equal(rng_u64(&a), rng_u64(&b));
    rng_init(&b, 7, RNG_TRAIN, (uint64_t)3 << 32);
    assert_int_not_equal(rng_u64(&a), rng_u64(&b));
    rng_init(&b, (uint64_t)7 << 32, RNG_TRAIN, 3);
    assert_int_not_equal(rng_u64(&a), rng_u64(&b));
}

static void draws_are_uniform(void **state)
{
    (void)state;
    enum { N = 70000 };
    rng r;
    rng_init(&r, 1, RNG_BENCH, 0);
    double counts[7] = { 0 }, expected[7], values[1000], even[1000];
    for (int i = 0; i < N; i++)
        counts[rng_below(&r, 7)]++;
    for (int i = 0; i < 7; i++)
        expected[i] = 1e9; /* as good as exact */
    assert_true(chi_square_test(counts, expected, 7) > 0.001);
    rng_fill_uniform(&r, values, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_true(values[i] >= 0 && values[i] < 1);
        even[i] = (i + 0.5) / 1000;
    }
    assert_true(kolmogorov_test(values, 1000, even, 1000) > 0.001);
    int order[5] = { 0, 1, 2, 3, 4 }, seen = 0;
    rng_shuffle(&r, order, 5);
    for (int i = 0; i < 5; i++)
        seen |= 1 << order[i];
    assert_int_equal(seen, 31);
}

/* The p-values that the golden tests rely on, at points known from tables. */
static void statistics_are_right(void **state)
{
    (void)state;
    assert_true(fabs(chi_square_p(3.841, 1) - 0.05) < 1e-4);
    assert_true(fabs(chi_square_p(18.307, 10) - 0.05) < 1e-4);
    assert_true(fabs(chi_square_p(135.807, 100) - 0.01) < 2e-4);
    assert_true(fabs(kolmogorov_p(1.358 / sqrt(5000), 10000, 10000) - 0.05) < 2e-3);
    double a[] = { 500, 500 }, b[] = { 600, 400 };
    assert_true(chi_square_test(a, b, 2) < 0.001);
}

static const struct {
    float f;
    uint16_t half;
} halves[] = {
    { 0, 0 },
    { -0.0f, 0x8000 },
    { 1, 0x3c00 },
    { -2, 0xc000 },
    { 1 + 0x1p-11f, 0x3c00 },     /* a tie goes to the even one: down ... */
    { 1 + 3 * 0x1p-11f, 0x3c02 }, /* ... and up */
    { 1 + 0x1p-11f + 0x1p-23f, 0x3c01 } /* just above a tie */,
    { 65504, 0x7bff },
    { 65519.996f, 0x7bff },
    { 65520, 0x7c00 },
    { -1e30f, 0xfc00 },
    { 0x1p-14f, 0x0400 },
    { 0x1p-14f - 0x1p-26f, 0x0400 }, /* rounds up to the least normal one */
    { 0x1p-24f, 0x0001 },
    { 0x1p-25f, 0 },
    { 0x1.8p-25f, 1 },
    { 1e-40f, 0 },
    { INFINITY, 0x7c00 },
};

/* Few numbers and many, in every order, with equal ones among them. */
static void numbers_come_in_order(void **state)
{
    (void)state;
    enum { MOST = 200 };
    double v[MOST];
    rng r;
    rng_init(&r, 3, RNG_BENCH, 0);
    for (size_t n = 0; n <= MOST; n += n < 70 ? 1 : 26) {
        double sum = 0, sorted_sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += v[i] = n % 3 == 0   ? (double)(n - i)
                          : n % 3 == 1 ? floor(8 * rng_uniform(&r)) - 4
                                       : ldexp(rng_uniform(&r), -20);
        numbers_sort(v, n);
        for (size_t i = 0; i < n; i++) {
            sorted_sum += v[i];
            assert_true(i == 0 || v[i - 1] <= v[i]);
        }
        assert_true(fabs(sum - sorted_sum) <= 1e-12 * (1 + fabs(sum)));
    }
}

static void equal_numbers_share_their_rank(void **state)
{
    (void)state;
    const double v[6] = { 3, -INFINITY, 7, 3, 3, -INFINITY }, want[6] = { 4, 1.5, 6, 4, 4, 1.5 };
    double rank[6];
    assert_true(numbers_mean_ranks(rank, v, 6));
    for (int i = 0; i < 6; i++)
        assert_true(rank[i] == want[i]);
}

static void spearman_of_known_orders(void **state)
{
    (void)state;
    const double a[5] = { 1, 2, 3, 4, 5 }, b[5] = { 1, 10, 100, 1e3, 1e99 };
    const double c[5] = { 5, 6, 7, 8, 7 }, same[5] = { 2, 2, 2, 2, 2 };
    assert_true(fabs(numbers_spearman(a, b, 5) - 1) < 1e-15);
    /* Ranks of c: 1, 2, 3.5, 5, 3.5. */
    assert_true(fabs(numbers_spearman(a, c, 5) - 8 / sqrt(10 * 9.5)) < 1e-12);
    assert_true(numbers_spearman(a, same, 5) == 0);
    assert_true(isnan(numbers_spearman(a, b, 1)));
}

static void halves_round_to_nearest_even(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(halves); i++)
        assert_int_equal(half_of(halves[i].f), halves[i].half);
    for (uint32_t h = 0; h < 1 << 16; h++) { /* every half keeps its bits */
        float f = half_value((uint16_t)h);
        assert_int_equal(half_of(f), (h & 0x7fff) > 0x7c00 ? h | 0x200 : h);
        assert_int_equal(isnan(f) != 0, (h & 0x7fff) > 0x7c00);
    }
#ifdef __FLT16_MANT_DIG__
    rng r;
    rng_init(&r, 1, RNG_BENCH, 0);
    for (int i = 0; i < 1000000; i++) {
        uint32_t bits = (uint32_t)rng_u64(&r);
        float f;
        memcpy(&f, &bits, sizeof f);
        _Float16 want = (_Float16)f;
        uint16_t half;
        memcpy(&half, &want, sizeof half);
        if (!isnan(f))
            assert_int_equal(half_of(f), half);
    }
#endif
}

/* Whether the file at `path` holds exactly `want`; NULL: there is none. */
static int holds(const char *path, const char *want)
{
    char text[64];
    FILE *f = fopen(path, "r");
    if (!f)
        return !want;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return want && strcmp(text, want) == 0;
}

static void files_are_written_whole_or_not_at_all(void **state)
{
    (void)state;
    char folder[] = "/tmp/snip_base_XXXXXX", path[64], fresh[64];
    file_out o;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(fresh, sizeof fresh, "%s/out.tmp", folder);
    for (int keep = 0; keep < 2; keep++) {
        assert_true(file_out_open(&o, path));
        fputs("new", o.f);
        assert_true(holds(path, NULL)); /* not before it is complete */
        assert_int_equal(file_out_close(&o, keep), keep);
        assert_true(holds(path, keep ? "new" : NULL) && holds(fresh, NULL));
    }
    assert_true(file_out_open(&o, path));
    fputs("newer", o.f);
    assert_int_equal(file_out_close(&o, 0), 0);
    assert_true(holds(path, "new") && holds(fresh, NULL)); /* the old one is as it was */
    assert_false(file_out_open(&o, folder));
    assert_int_equal(errno, EISDIR);
    assert_false(file_out_open(&o, "/no/such/folder/file"));
    assert_int_equal(errno, ENOENT);
    if (access("/dev/full", W_OK) == 0) { /* what is no plain file stays, even if writing fails */
        remove(path);
        assert_int_equal(symlink("/dev/full", path), 0);
        assert_true(file_out_open(&o, path));
        fputs("lost", o.f);
        assert_false(file_out_close(&o, 1));
        assert_int_equal(errno, ENOSPC);
        assert_int_equal(access(path, W_OK), 0);
        remove(path);
    }
    char link[64], text[64];
    snprintf(link, sizeof link, "%s/link", folder);
    assert_int_equal(symlink(path, link), 0);
    assert_true(file_out_open(&o, link));
    fputs("linked", o.f);
    assert_true(file_out_close(&o, 1));
    assert_true(holds(path, "linked"));
    assert_true(readlink(link, text, sizeof text) > 0); /* a link still */
    remove(link);
    remove(path);
    assert_int_equal(remove(folder), 0); /* nothing else was left */
}

/* Ranges of indexes do not meet, nor run out of their stream. */
static void users_of_random_numbers_do_not_meet(void **state)
{
    (void)state;
    for (int i = 0; i < STREAMS_USERS; i++) {
        const streams_range *a = &streams_map[i];
        assert_true(a->count > 0 && a->first + (a->count - 1) >= a->first);
        for (int j = 0; j < i; j++) {
            const streams_range *b = &streams_map[j];
            if (a->stream == b->stream && a->part == b->part &&
                a->first <= b->first + (b->count - 1) && b->first <= a->first + (a->count - 1))
                fail_msg("%s and %s draw the same numbers", a->name, b->name);
        }
    }
}

/* Neighbouring seeds, indexes, parts and streams: 64 bits of each that are all different. */
static void neighbours_draw_other_numbers(void **state)
{
    (void)state;
    enum { STREAMS = 3 };
    uint64_t seen[3 * 3 * 4 * STREAMS];
    size_t n = 0;
    for (uint64_t seed = 0; seed < 3; seed++)
        for (uint64_t index = 0; index < 3; index++)
            for (int part = RNG_FIRST; part <= RNG_OWN; part++)
                for (int stream = 0; stream < STREAMS; stream++) {
                    rng r;
                    rng_init_part(&r, seed, (rng_stream)stream, index, (rng_part)part);
                    seen[n] = rng_u64(&r);
                    for (size_t k = 0; k < n; k++)
                        assert_true(seen[k] != seen[n]);
                    n++;
                }
    assert_int_equal(n, COUNT(seen));
}

static void columns_are_summed_up(void **state)
{
    double v[] = { 4, 1, 3, 2 }, huge[] = { 1.5e308, 1.5e308, 1.5e308 };
    const int row[] = { 2, 0, 2 };
    assert_true(numbers_mean(v, 4) == 2.5 && numbers_variance(v, 4) == 1.25);
    double falls[4], same[4] = { 1, 1, 1, 1 }, bad[4] = { 1, INFINITY, 2, 3 };
    for (int i = 0; i < 4; i++)
        falls[i] = 7 - 2 * v[i];
    assert_true(fabs(numbers_correlation(v, falls, 4) + 1) < 1e-15);
    assert_true(numbers_correlation(v, same, 4) == 0 && numbers_correlation(bad, v, 4) == 0);
    assert_true(isfinite(numbers_mean(huge, 3)));
    double mean, variance;
    numbers_moments(v, 4, &mean, &variance);
    assert_true(mean == 2.5 && variance == 1.25 && numbers_deviation(v, 4) == sqrt(1.25));
    /* As a user's columns may be: all the same, nearly the largest, far below 1. */
    const double tenth[] = { 0.1, 0.1, 0.1 }, wide[] = { -1e308, 1e308 }, tiny[] = { 0, 4e-200 };
    assert_true(numbers_safe_mean(tenth, 3) == 0.1 && numbers_safe_variance(tenth, 3) == 0);
    assert_true(numbers_safe_deviation(wide, 2) == 1e308 && numbers_safe_mean(wide, 2) == 0);
    assert_true(numbers_safe_deviation(tiny, 2) == 2e-200);
    assert_true(numbers_safe_mean(v, 4) == 2.5 && numbers_safe_variance(v, 4) == 1.25);
    const double *at = numbers_at(v, row, 3, *state);
    assert_true(at[0] == 3 && at[1] == 4 && at[2] == 3);
    double kept[3];
    size_t which[3], count = 0;
    static const double seen[] = { 2, 5, 2, 1, 7, 2 };
    for (size_t i = 0; i < COUNT(seen); i++)
        numbers_keep(kept, which, &count, 3, seen[i], i);
    assert_true(count == 3 && kept[0] == 7 && kept[1] == 5 && kept[2] == 2);
    assert_true(which[0] == 4 && which[1] == 1 && which[2] == 0);
    assert_true(numbers_median(v, 4) == 2.5 && v[0] == 1 && v[3] == 4);
    assert_true(numbers_quantile(v, 4, 0) == 1 && numbers_quantile(v, 4, 1) == 4);
    assert_true(numbers_quantile(v, 4, 0.25) == 1.75 && numbers_quantile(v, 1, 0.7) == 1);
}

static void limits_hold(void **state)
{
    (void)state;
    snip_status st;
    assert_int_equal(LIMITS_MESSAGE, sizeof st.msg);
    assert_int_equal(limits_threads(3, 8), 3);
    assert_int_equal(limits_threads(0, 8), 8);
    assert_int_equal(limits_threads(0, 1000), LIMITS_THREADS);
    assert_int_equal(limits_threads(1000, 8), LIMITS_THREADS);
}

/* One value of each kind, and a key that came later. */
typedef struct some {
    int count, choice;
    size_t size;
    uint64_t whole;
    double real, later;
} some;

static const char *const colours[] = { "red", "green", "blue", NULL };
static const settings_key some_keys[] = {
    { "count", SETTINGS_INT, offsetof(some, count), -5, 5, NULL, "how many", 0 },
    { "choice", SETTINGS_CHOICE, offsetof(some, choice), 0, 0, colours, NULL, 0 },
    { "size", SETTINGS_SIZE, offsetof(some, size), 0, 1e6, NULL, NULL, 0 },
    { "whole", SETTINGS_WHOLE, offsetof(some, whole), 0, 9e15, NULL, NULL, 0 },
    { "real", SETTINGS_REAL, offsetof(some, real), 0, 1, NULL, NULL, 0 },
    { "later", SETTINGS_REAL, offsetof(some, later), 0, 1, NULL, NULL, 1 },
};
static const settings known = { some_keys, COUNT(some_keys) };

static void settings_are_read_by_name(void **state)
{
    (void)state;
    static const char *const good[][2] = { { "count", "-5" },   { "choice", "blue" },
                                           { "size", "1e3" },   { "whole", "9000000000000000" },
                                           { "real", "0.125" }, { "later", "1" } };
    static const char *const bad[][3] = {
        { "count", "6", "count is a whole number from -5 to 5, not '6'" },
        { "count", "1.5", "whole" },
        { "count", "", "whole" },
        { "count", "3x", "whole" },
        { "real", "nan", "real is a number from 0 to 1, not 'nan'" },
        { "size", "-1", "size" },
        { "choice", "3", "choice is red, green or blue, not '3'" },
        { "other", "1", "there is no configuration key 'other'" },
    };
    some s = { 0 }, t = { .later = 0.5 };
    snip_status st;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(settings_set(&known, &s, good[i][0], good[i][1], &st), SNIP_OK);
    const some want = { -5, 2, 1000, 9000000000000000, 0.125, 1 }, before = s;
    assert_memory_equal(&s, &want, sizeof s);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(settings_set(&known, &s, bad[i][0], bad[i][1], &st), SNIP_FORMAT);
        assert_non_null(strstr(st.msg, bad[i][2]));
        assert_memory_equal(&s, &before, sizeof s);
    }
    assert_null(settings_find(&known, "other"));
    assert_string_equal(settings_find(&known, "count")->help, "how many");
    char shown[32];
    for (size_t i = 0; i < COUNT(good); i++) {
        static const char *const text[] = {
            "-5", "blue", "1000", "9000000000000000", "0.125", "1"
        };
        settings_text(&some_keys[i], &s, shown, sizeof shown);
        assert_string_equal(shown, text[i]);
    }

    /* To JSON and back; what came later may be missing, the rest may not. */
    json_t *o = settings_json(&known, &s);
    size_t found;
    assert_int_equal(settings_read(&known, &t, o, &found, &st), SNIP_OK);
    assert_true(found == COUNT(some_keys) && !settings_difference(&known, &s, &t));
    t.real = 0.25;
    t.later = 0.5;
    assert_string_equal(settings_difference(&known, &s, &t)->name, "real");
    json_object_del(o, "later");
    json_object_set_new(o, "unknown", json_true());
    assert_int_equal(settings_read(&known, &t, o, &found, &st), SNIP_OK);
    assert_true(found == COUNT(some_keys) - 1 && t.later == 0.5 && t.real == 0.125);
    json_object_set_new(o, "real", json_integer(7));
    assert_int_equal(settings_read(&known, &t, o, NULL, &st), SNIP_FORMAT);
    json_object_del(o, "real");
    assert_int_equal(settings_read(&known, &t, o, NULL, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "no usable 'real'"));
    json_decref(o);
}

/* What was told of some work, and whether its end was. */
typedef struct told {
    size_t times, done, total;
    int ended;
} told;

static void hear(void *context, const char *what, size_t done, size_t total, double seconds)
{
    told *t = context;
    assert_string_equal(what, "pebbles");
    assert_true(seconds > 0);
    *t = (told){ t->times + 1, done, total, 0 };
}

static void hear_end(void *context)
{
    ((told *)context)->ended = 1;
}

static void progress_is_told_to_who_asked(void **state)
{
    (void)state;
    told t = { 0 };
    const progress_show show = { .at = hear, .end = hear_end, .context = &t };
    progress p;
    progress_start(&p, "pebbles", 30, &show);
    p.started = p.told -= 1; /* as if a second had passed */
    progress_at(&p, 0);
    assert_int_equal(t.times, 0); /* nothing is done: no rate to tell */
    progress_at(&p, 10);
    assert_true(t.times == 1 && t.done == 10 && t.total == 30 && !t.ended);
    p.told += 1000; /* just told */
    progress_at(&p, 20);
    assert_int_equal(t.times, 1);
    progress_end(&p);
    assert_true(t.ended);

    progress_start(&p, "pebbles", 30, NULL); /* nobody asked */
    p.told -= 1;
    progress_at(&p, 10);
    progress_end(&p);
    assert_int_equal(t.times, 1);
}

static void rounding_is_seen_by_digits(void **state)
{
    const double v[] = { 1.5, 2.25, 30 }, weight[] = { 1, 1, 0 };
    (void)state;
    assert_true(fabs(numbers_rounding(v, NULL, 3) / ((1e-4 + 1e-4 + 1e-2) / 36) - 1) < 1e-9);
    assert_true(fabs(numbers_rounding(v, weight, 3) / (1e-4 / 12) - 1) < 1e-9);
    const double all[] = { 1.0 / 3, 0 };
    assert_true(numbers_rounding(all, NULL, 2) < 1e-28);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(arena_gives_back_what_it_gave),
        cmocka_unit_test(arena_respects_its_limit),
        cmocka_unit_test(status_is_one_line),
        ARENA_TEST(text_grows_and_fails_whole),
        cmocka_unit_test(philox_gives_known_answers),
        cmocka_unit_test(streams_differ_and_repeat),
        cmocka_unit_test(draws_are_uniform),
        cmocka_unit_test(users_of_random_numbers_do_not_meet),
        cmocka_unit_test(neighbours_draw_other_numbers),
        cmocka_unit_test(statistics_are_right),
        cmocka_unit_test(numbers_come_in_order),
        cmocka_unit_test(rounding_is_seen_by_digits),
        cmocka_unit_test(equal_numbers_share_their_rank),
        cmocka_unit_test(spearman_of_known_orders),
        cmocka_unit_test(halves_round_to_nearest_even),
        cmocka_unit_test(files_are_written_whole_or_not_at_all),
        cmocka_unit_test(settings_are_read_by_name),
        cmocka_unit_test(progress_is_told_to_who_asked),
        ARENA_TEST(columns_are_summed_up),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
