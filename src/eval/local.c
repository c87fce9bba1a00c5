/* local.c - controlled edits of whole expressions and of subtrees in context; see suites.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/streams.h"
#include "base/text.h"
#include "data/gen.h"
#include "eval/suites.h"

const char *const eval_direction_names[EVAL_DIRECTIONS] = { "f2y", "y2f" };

static const double variance_least = 1e-10;

/* Target i of the edit suites, in `a`. */
static snip_code draw_target(eval_target *out, uint64_t seed, size_t i, arena *a, snip_status *st)
{
    const data_gen gen = { .dims = DATA_DIMS_MAX, .points = DATA_POINTS };
    data_sample s;
    if (data_sample_draw(&s, &gen, seed, RNG_HELD_OUT, streams_index(STREAMS_TARGETS, i), a) !=
        SNIP_OK)
        return status_nomem(st);
    *out = (eval_target){ .e = s.e,
                          .x = s.x,
                          .view = s.x,
                          .dim = s.dim,
                          .rows = s.points,
                          .y = s.y,
                          .id = i,
                          .reading = { { .label = "held_out" } },
                          .readings = 1 };
    return SNIP_OK;
}

snip_code eval_targets(eval_target **out, const eval_how *how, arena *a, snip_status *st)
{
    eval_target *t = *out = arena_zero(a, how->targets * sizeof *t);
    snip_code code = t ? SNIP_OK : status_nomem(st);
    for (size_t i = 0; i < how->targets && code == SNIP_OK; i++)
        code = draw_target(&t[i], how->seed, i, a, st);
    return code;
}

static int varies(const double *y, size_t n)
{
    return numbers_variance(y, n) >= variance_least;
}

/* e, which is t's expression or an edit of it, as the symbolic encoder reads it. In `a`; node is
 * NULL when memory is out. */
static expr as_read(const eval_target *t, int reading, expr e, arena *a)
{
    const expr *inputs = t->reading[reading].inputs;
    return inputs ? expr_substitute(e, inputs, (size_t)t->dim, a) : e;
}

/* Where e's node `node` stands in as_read's. */
static size_t node_as_read(const expr *inputs, expr e, size_t node)
{
    size_t at = node;
    for (size_t i = 0; i < node && node != MODEL_WHOLE && inputs; i++)
        if (e.node[i].op == EXPR_VARIABLE)
            at += inputs[e.node[i].var].count - 1;
    return at;
}

/* The items of one target in each reading: each original is followed by its variants, family by
 * family. */
typedef struct pool {
    model_item *item[EVAL_READINGS_MAX];
    size_t count, room;
    struct part {
        size_t first;                   /* its original */
        size_t variants[DATA_FAMILIES]; /* how many of each follow */
    } part[EVAL_SUBTREES_MAX];
    size_t parts;
} pool;

/* Returns 0 when memory is out. */
static int pool_grow(pool *p, int readings, arena *a)
{
    size_t room = p->room ? 2 * p->room : 256;
    for (int r = 0; r < readings; r++) {
        model_item *more = arena_array(a, room, sizeof *more);
        if (!more)
            return 0;
        if (p->count)
            memcpy(more, p->item[r], p->count * sizeof *more);
        p->item[r] = more;
    }
    p->room = room;
    return 1;
}

/* A formula or a part of it that may join a pool, and its values. */
typedef struct newcomer {
    expr e;
    size_t node; /* MODEL_WHOLE, or the part */
    const double *y;
    int family; /* -1: the original */
} newcomer;

/* Adds one of target number `target` unless the model cannot read it: then *fits is 0. Without a
 * model, where s is NULL, there are no words. Returns 0 when memory is out. */
static int pool_add(pool *p, const model_space *s, const eval_target *t, size_t target,
                    const newcomer *n, int *fits, arena *a)
{
    const model_words *words[EVAL_READINGS_MAX] = { NULL };
    *fits = 1;
    for (int r = 0; r < t->readings && *fits; r++) {
        expr read = as_read(t, r, n->e, a);
        if (!read.node)
            return 0;
        snip_code code = s ? model_space_words(&words[r], s, read, MODEL_EXACT, a, NULL) : SNIP_OK;
        if (code == SNIP_NOMEM)
            return 0;
        *fits = code == SNIP_OK;
    }
    if (!*fits)
        return 1;
    if (p->count == p->room && !pool_grow(p, t->readings, a))
        return 0;
    for (int r = 0; r < t->readings; r++) {
        text label = { .a = a };
        text_add(&label, "\"pool\":\"%s\",\"target\":%zu,\"part\":%zu,\"family\":\"%s\"",
                 t->reading[r].label, target, p->parts,
                 n->family < 0 ? "original" : data_families[n->family].name);
        p->item[r][p->count] =
            (model_item){ .words = words[r],
                          .node = node_as_read(t->reading[r].inputs, n->e, n->node),
                          .x = t->view,
                          .dim = t->dim,
                          .rows = t->rows,
                          .y = n->y,
                          .label = text_end(&label) };
    }
    p->count++;
    return 1;
}

/* Adds the part of t at `node` (MODEL_WHOLE: all of it) and its variants. Parts without any stay
 * out. Returns 0 when memory is out. */
static int add_part(pool *p, const model_space *s, const eval_target *t, size_t target, size_t node,
                    size_t most, rng *r, arena *a)
{
    int whole = node == MODEL_WHOLE;
    expr e = whole ? t->e : expr_subtree(t->e, node);
    double *values = whole ? NULL : arena_array(a, t->rows, sizeof *values);
    if (!whole && (!values || expr_eval(e, t->x, t->rows, values, a) == (size_t)-1))
        return 0;
    const double *y = whole ? t->y : values;
    if (!data_values_fit(y, t->rows) || (whole && !varies(y, t->rows)))
        return 1;
    struct part *part = &p->part[p->parts];
    size_t before = p->count;
    int fits;
    *part = (struct part){ .first = p->count };
    if (!pool_add(p, s, t, target, &(newcomer){ t->e, node, y, -1 }, &fits, a))
        return 0;
    if (!fits)
        return 1;
    data_variant *v = arena_array(a, DATA_VARIANTS_MAX, sizeof *v);
    if (!v)
        return 0;
    for (int f = 0; f < DATA_FAMILIES; f++) {
        size_t n = data_edits_evaluation(v, e, (data_family)f, most, t->x, t->rows, y, r, a);
        if (n == (size_t)-1)
            return 0;
        for (size_t k = 0; k < n; k++) {
            expr whole_edited = whole ? v[k].e : expr_splice(t->e, node, v[k].e, a);
            if (!whole_edited.node)
                return 0;
            const newcomer edited = { whole_edited, node, v[k].y, f };
            if (!pool_add(p, s, t, target, &edited, &fits, a))
                return 0;
            part->variants[f] += (size_t)fits;
        }
    }
    if (p->count == before + 1)
        p->count = before; /* an original alone says nothing */
    else
        p->parts++;
    return 1;
}

static int fill_pool(pool *p, const model_space *s, const eval_target *t, size_t target,
                     int subtrees, const eval_how *how, arena *a)
{
    size_t most = subtrees && how->subtree_variants ? how->subtree_variants : DATA_VARIANTS_MAX;
    rng r;
    streams_rng(&r, how->seed, t->of_corpus ? STREAMS_CORPUS_EDITS : STREAMS_TARGET_EDITS,
                t->id * 2 + (uint64_t)(subtrees != 0));
    *p = (pool){ 0 };
    if (!subtrees)
        return add_part(p, s, t, target, MODEL_WHOLE, most, &r, a);
    int *nodes = arena_array(a, t->e.count, sizeof *nodes);
    if (!nodes)
        return 0;
    int n = (int)data_subtrees(t->e, nodes);
    if (n > EVAL_SUBTREES_MAX)
        rng_shuffle(&r, nodes, n);
    for (int k = 0; k < n && k < EVAL_SUBTREES_MAX; k++)
        if (!add_part(p, s, t, target, (size_t)nodes[k], most, &r, a))
            return 0;
    return 1;
}

/* Percentile ranks of one part; symbols and values are the rows of its original and variants. */
static void score_part(double pr[EVAL_DIRECTIONS][DATA_FAMILIES], const struct part *part,
                       const float *symbols, const float *values, size_t width)
{
    double own = model_dot(symbols, values, width), others[DATA_VARIANTS_MAX];
    size_t row = 1;
    for (int f = 0; f < DATA_FAMILIES; f++) {
        size_t n = part->variants[f];
        for (int d = 0; d < EVAL_DIRECTIONS; d++) {
            for (size_t k = 0; k < n; k++)
                others[k] = d == 0 ? model_dot(symbols, values + (row + k) * width, width)
                                   : model_dot(values, symbols + (row + k) * width, width);
            pr[d][f] = eval_percentile(own, others, n);
        }
        row += n;
    }
}

/* Scores a target in one reading, averaged over its parts. */
static void score_target(eval_scores *out, const pool *p, size_t target, const float *symbols,
                         const float *values, size_t width)
{
    double sum[EVAL_DIRECTIONS][DATA_FAMILIES] = { { 0 } }, variants[DATA_FAMILIES] = { 0 };
    size_t count[DATA_FAMILIES] = { 0 };
    for (size_t k = 0; k < p->parts; k++) {
        double pr[EVAL_DIRECTIONS][DATA_FAMILIES];
        size_t first = p->part[k].first, at = out->parts++;
        score_part(pr, &p->part[k], symbols + first * width, values + first * width, width);
        memcpy(out->symbols + at * width, symbols + first * width, width * sizeof *symbols);
        memcpy(out->values + at * width, values + first * width, width * sizeof *values);
        out->owner[at] = target;
        for (int f = 0; f < DATA_FAMILIES; f++) {
            if (p->part[k].variants[f] == 0)
                continue;
            for (int d = 0; d < EVAL_DIRECTIONS; d++)
                sum[d][f] += pr[d][f];
            variants[f] += (double)p->part[k].variants[f];
            count[f]++;
        }
    }
    for (int f = 0; f < DATA_FAMILIES; f++) {
        size_t at = (size_t)f * out->units + target;
        out->variants[at] = variants[f];
        for (int d = 0; d < EVAL_DIRECTIONS; d++)
            out->pr[d][at] = count[f] ? sum[d][f] / (double)count[f] : NAN;
    }
    out->usable += p->parts > 0;
}

/* Embeds a target's pool and scores it in all readings. The values are the same in all. */
static snip_code score_readings(eval_scores *out, model_space *s, const pool *p, size_t target,
                                int readings, arena *a, snip_status *st)
{
    float *symbols = arena_array(a, p->count * s->latent, sizeof *symbols);
    float *values = arena_array(a, p->count * s->latent, sizeof *values);
    snip_code code = symbols && values ? SNIP_OK : status_nomem(st);
    for (int r = 0; r < readings && code == SNIP_OK; r++) {
        code = r == 0 ? model_space_embed(s, p->item[r], p->count, symbols, values, st)
                      : model_space_reread(s, p->item[r], p->count, symbols, values, st);
        if (code == SNIP_OK)
            score_target(&out[r], p, target, symbols, values, s->latent);
    }
    return code;
}

/* Room for the scores of n targets. Returns 0 when memory is out. */
static int make_scores(eval_scores *out, size_t n, int subtrees, size_t latent, arena *a)
{
    size_t cells = DATA_FAMILIES * n, most = n * (subtrees ? EVAL_SUBTREES_MAX : 1);
    *out = (eval_scores){ .units = n };
    for (int d = 0; d < EVAL_DIRECTIONS; d++)
        out->pr[d] = arena_array(a, cells, sizeof **out->pr);
    out->variants = arena_zero(a, cells * sizeof *out->variants);
    out->symbols = arena_array(a, most * latent, sizeof *out->symbols);
    out->values = arena_array(a, most * latent, sizeof *out->values);
    out->owner = arena_array(a, most, sizeof *out->owner);
    if (!out->pr[0] || !out->pr[1] || !out->variants || !out->symbols || !out->values ||
        !out->owner)
        return 0;
    for (size_t k = 0; k < cells; k++)
        out->pr[0][k] = out->pr[1][k] = NAN;
    return 1;
}

snip_code eval_local(eval_scores *out, model_space *s, const eval_target *t, size_t n, int subtrees,
                     const eval_how *how, arena *a, snip_status *st)
{
    int readings = n ? t->readings : 1;
    arena *own = arena_new(0);
    snip_code code = own ? SNIP_OK : status_nomem(st);
    for (int r = 0; r < readings && code == SNIP_OK; r++)
        if (!make_scores(&out[r], n, subtrees, s->latent, a))
            code = status_nomem(st);
    progress bar;
    progress_start(&bar, subtrees ? "parents of subtrees" : "edited targets", n, how->show);
    for (size_t i = 0; i < n && code == SNIP_OK; i++) {
        arena_reset(own, 0);
        pool p;
        if (!fill_pool(&p, s, &t[i], i, subtrees, how, own)) {
            code = status_nomem(st);
            break;
        }
        if (p.parts == 0)
            continue;
        code = score_readings(out, s, &p, i, readings, own, st);
        progress_at(&bar, i + 1);
    }
    progress_end(&bar);
    arena_free(own);
    if (code == SNIP_OK && out->usable == 0)
        code = status_fail(st, SNIP_UNSUPPORTED, 0, "none of the %zu targets can be used", n);
    return code;
}

/* Results ------------------------------------------------------------------------------------- */

/* The mean over the families of which wanted[f] is set, in both directions. */
static json_t *mean_of(const eval_scores *s, const int wanted[DATA_FAMILIES], uint64_t seed)
{
    json_t *o = json_object();
    double *value = malloc((DATA_FAMILIES * s->units + 1) * sizeof *value);
    for (int d = 0; d < EVAL_DIRECTIONS && value; d++) {
        size_t n = 0;
        for (int f = 0; f < DATA_FAMILIES; f++)
            if (wanted[f])
                memcpy(value + n++ * s->units, s->pr[d] + (size_t)f * s->units,
                       s->units * sizeof *value);
        json_object_set_new(o, eval_direction_names[d],
                            eval_figure_json(eval_mean_of_families(value, n, s->units, seed)));
    }
    free(value);
    return o;
}

/* Mean and median of the numbers of variants, over targets that have any. */
static json_t *variants_json(const double *variants, size_t n, size_t *targets)
{
    double sum = 0, *kept = malloc((n + 1) * sizeof *kept), median = NAN;
    *targets = 0;
    for (size_t i = 0; i < n && kept; i++)
        if (variants[i] > 0) {
            kept[(*targets)++] = variants[i];
            sum += variants[i];
        }
    size_t k = *targets;
    if (k)
        median = numbers_median(kept, k);
    free(kept);
    return k ? json_pack("{s:f,s:f}", "mean", sum / (double)k, "median", median)
             : json_pack("{s:n,s:n}", "mean", "median");
}

json_t *eval_scores_json(const eval_scores *s, uint64_t seed)
{
    json_t *families = json_object(), *o = json_object();
    int seen[DATA_FAMILIES], held_out[DATA_FAMILIES], all[DATA_FAMILIES];
    for (int f = 0; f < DATA_FAMILIES; f++) {
        size_t targets;
        int alone[DATA_FAMILIES] = { 0 };
        alone[f] = 1;
        seen[f] = data_families[f].trained;
        held_out[f] = !seen[f];
        all[f] = 1;
        json_t *variants = variants_json(s->variants + (size_t)f * s->units, s->units, &targets);
        json_t *one = mean_of(s, alone, seed);
        for (int d = 0; d < EVAL_DIRECTIONS; d++)
            json_object_set_new(json_object_get(one, eval_direction_names[d]), "targets",
                                json_integer((json_int_t)targets));
        json_object_set_new(one, "variants", variants);
        json_object_set_new(families, data_families[f].name, one);
    }
    json_object_set_new(o, "targets", json_integer((json_int_t)s->usable));
    json_object_set_new(o, "families", families);
    json_object_set_new(o, "seen", mean_of(s, seen, seed));
    json_object_set_new(o, "held_out", mean_of(s, held_out, seed));
    json_object_set_new(o, "average", mean_of(s, all, seed));
    return o;
}

/* Variants of every target, as eval_scores has them, and whether it has any part with some. */
static int count_pool(double *variants, unsigned char *used, const eval_how *how)
{
    int failed = 0;
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < how->targets; i++) {
        arena *a = arena_new(0);
        eval_target t;
        pool p;
        if (a && draw_target(&t, how->seed, i, a, NULL) == SNIP_OK &&
            fill_pool(&p, NULL, &t, i, 0, how, a)) {
            used[i] = p.parts > 0;
            for (size_t f = 0; f < DATA_FAMILIES && used[i]; f++)
                variants[f * how->targets + i] = (double)p.part[0].variants[f];
        } else {
#pragma omp atomic write
            failed = 1;
        }
        arena_free(a);
    }
    return !failed;
}

json_t *eval_pool_json(const eval_how *how)
{
    double *variants = calloc(DATA_FAMILIES * how->targets, sizeof *variants);
    unsigned char *used = calloc(how->targets, 1);
    json_t *o = NULL, *families = json_object();
    if (variants && used && count_pool(variants, used, how)) {
        size_t all = 0;
        for (size_t i = 0; i < how->targets; i++)
            all += used[i];
        for (int f = 0; f < DATA_FAMILIES; f++) {
            size_t targets;
            json_t *one =
                variants_json(variants + (size_t)f * how->targets, how->targets, &targets);
            json_object_set_new(one, "targets", json_integer((json_int_t)targets));
            json_object_set_new(families, data_families[f].name, one);
        }
        o = json_pack("{s:I,s:I,s:O}", "targets", (json_int_t)how->targets, "used", (json_int_t)all,
                      "families", families);
    }
    json_decref(families);
    free(variants);
    free(used);
    return o;
}

/* Compares one suite; counts verdicts. */
static void compare_suite(json_t *settings, const char *suite, const eval_scores *a,
                          const eval_scores *b, uint64_t seed, int count[3])
{
    static const char *const verdicts[3] = { "better", "worse", "same" };
    if (!a || !b || a->units != b->units)
        return;
    for (int f = 0; f < DATA_FAMILIES; f++)
        for (int d = 0; d < EVAL_DIRECTIONS; d++) {
            const double *x = a->pr[d] + (size_t)f * a->units, *y = b->pr[d] + (size_t)f * b->units;
            eval_figure gap = eval_difference(x, y, 1, a->units, seed);
            if (!isfinite(gap.value))
                continue;
            int v = gap.lo > 0 ? 0 : gap.hi < 0 ? 1 : 2;
            count[v]++;
            json_t *o =
                json_pack("{s:s,s:s,s:s,s:s}", "suite", suite, "family", data_families[f].name,
                          "direction", eval_direction_names[d], "verdict", verdicts[v]);
            json_object_set_new(o, "a", json_real(eval_mean(x, a->units, seed).value));
            json_object_set_new(o, "b", json_real(eval_mean(y, b->units, seed).value));
            json_object_set_new(o, "difference", eval_figure_json(gap));
            json_array_append_new(settings, o);
        }
}

json_t *eval_compare(const eval_scores *a_edits, const eval_scores *b_edits,
                     const eval_scores *a_subtrees, const eval_scores *b_subtrees, uint64_t seed)
{
    json_t *settings = json_array();
    int count[3] = { 0 };
    compare_suite(settings, "edits", a_edits, b_edits, seed, count);
    compare_suite(settings, "subtrees", a_subtrees, b_subtrees, seed, count);
    return json_pack("{s:o,s:i,s:i,s:i}", "settings", settings, "better", count[0], "worse",
                     count[1], "same", count[2]);
}
