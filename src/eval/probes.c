/* probes.c - four small experiments on the space's meaning; see suites.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/streams.h"
#include "base/text.h"
#include "data/gen.h"
#include "data/points.h"
#include "eval/suites.h"

/* A formula from text, in the model's words. Fails only for want of memory or by our own mistake.
 */
static snip_code formula(expr *out, const char *words, const expr_names *names, arena *a,
                         snip_status *st)
{
    expr e;
    snip_code code = expr_parse(&e, words, names, a, st);
    return code == SNIP_OK ? expr_normal(out, e, NULL, a, st) : code;
}

/* A formula without values, in words; the label is for dumps. */
__attribute__((format(printf, 6, 7))) static snip_code symbol_item(model_item *out,
                                                                   const model_space *s, expr e,
                                                                   arena *a, snip_status *st,
                                                                   const char *format, ...)
{
    char label[128];
    va_list args;
    va_start(args, format);
    vsnprintf(label, sizeof label, format, args);
    va_end(args);
    *out = (model_item){ .node = MODEL_WHOLE, .label = arena_text(a, label, strlen(label)) };
    return out->label ? model_space_words(&out->words, s, e, MODEL_EXACT, a, st) : status_nomem(st);
}

/* sin(c x) as c moves away from 0.5. */
static snip_code variation(json_t **out, model_space *s, arena *a, snip_status *st)
{
    enum { COUNT = 46 };
    model_item item[COUNT];
    float *z = arena_array(a, COUNT * s->latent, sizeof *z);
    json_t *c = json_array(), *similarity = json_array();
    snip_code code = z ? SNIP_OK : status_nomem(st);
    for (int i = 0; i < COUNT && code == SNIP_OK; i++) {
        char words[32];
        snprintf(words, sizeof words, "sin(%.1f*x0)", 0.5 + 0.1 * i);
        expr e;
        code = formula(&e, words, NULL, a, st);
        if (code == SNIP_OK)
            code = symbol_item(&item[i], s, e, a, st, "\"probe\":\"variation\",\"c\":%.1f",
                               0.5 + 0.1 * i);
        json_array_append_new(c, json_real((5 + i) / 10.0));
    }
    if (code == SNIP_OK)
        code = model_space_embed(s, item, COUNT, z, NULL, st);
    for (int i = 0; i < COUNT && code == SNIP_OK; i++)
        json_array_append_new(similarity,
                              json_real(model_dot(z, z + (size_t)i * s->latent, s->latent)));
    *out = json_pack("{s:o,s:o}", "c", c, "similarity", similarity);
    return code;
}

/* Edit consequences --------------------------------------------------------------------------- */

/* e with the operands of the node at i exchanged. */
static expr exchange(expr e, size_t i, arena *a)
{
    size_t first = i + 1, n = e.node[first].len, second = first + n, m = e.node[second].len;
    expr out = { arena_copy(a, e.node, e.count * sizeof *e.node), e.count };
    if (out.node) {
        memcpy(out.node + first, e.node + second, m * sizeof *e.node);
        memcpy(out.node + first + m, e.node + first, n * sizeof *e.node);
    }
    return out;
}

/* A node whose operands may be exchanged without a change (sums and products of two different
 * parts that are not constants), drawn at random. Returns e.count if there is none. */
static size_t draw_commutative(expr e, rng *r)
{
    size_t chosen = e.count;
    uint32_t seen = 0;
    for (size_t i = 0; i < e.count; i++) {
        if (e.node[i].op != EXPR_ADD && e.node[i].op != EXPR_MUL)
            continue;
        expr x = expr_subtree(e, expr_child(e, i, 0)), y = expr_subtree(e, expr_child(e, i, 1));
        if (x.node->op == EXPR_NUMBER || y.node->op == EXPR_NUMBER || expr_same(x, y))
            continue;
        if (rng_below(r, ++seen) == 0)
            chosen = i;
    }
    return chosen;
}

static json_t *similarities(const double *v, size_t n)
{
    json_t *list = json_array();
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(v[i])) {
            json_array_append_new(list, json_real(v[i]));
            sum += v[i];
        }
    size_t count = json_array_size(list);
    return json_pack("{s:I,s:o,s:o}", "count", (json_int_t)count, "mean",
                     count ? json_real(sum / (double)count) : json_null(), "similarities", list);
}

static snip_code consequences(json_t **out, model_space *s, const eval_how *how, arena *a,
                              snip_status *st)
{
    eval_target *t;
    snip_code code = eval_targets(&t, how, a, st);
    size_t n = how->targets, count = 0;
    model_item *item = code == SNIP_OK ? arena_zero(a, 3 * n * sizeof *item) : NULL;
    float *z = arena_array(a, 3 * n * s->latent, sizeof *z);
    size_t(*row)[3] = arena_zero(a, n * sizeof *row); /* of the original and both edits; 0: none */
    double *same = arena_array(a, n, sizeof *same), *other = arena_array(a, n, sizeof *other);
    if (code == SNIP_OK && (!item || !z || !row || !same || !other))
        code = status_nomem(st);
    for (size_t i = 0; i < n && code == SNIP_OK; i++) {
        data_variant v[DATA_VARIANTS_MAX]; /* their behaviour is another: that is checked */
        rng r;
        streams_rng(&r, how->seed, STREAMS_COMMUTED, i);
        size_t node = draw_commutative(t[i].e, &r);
        size_t k = data_edits_evaluation(v, t[i].e, DATA_OPERAND_REORDERING, DATA_VARIANTS_MAX,
                                         t[i].x, t[i].rows, t[i].y, &r, a);
        same[i] = other[i] = NAN;
        if (k == (size_t)-1)
            return status_nomem(st);
        row[i][0] = count;
        code = symbol_item(&item[count++], s, t[i].e, a, st,
                           "\"probe\":\"consequences\",\"target\":%zu,\"edit\":\"none\"", i);
        for (int kind = 1; kind <= 2 && code == SNIP_OK; kind++) {
            if (kind == 1 ? node == t[i].e.count : k == 0)
                continue;
            expr e = kind == 1 ? exchange(t[i].e, node, a) : v[rng_below(&r, (uint32_t)k)].e;
            if (!e.node)
                return status_nomem(st);
            row[i][kind] = count;
            code = symbol_item(&item[count++], s, e, a, st,
                               "\"probe\":\"consequences\",\"target\":%zu,\"edit\":\"%s\"", i,
                               kind == 1 ? "preserving" : "changing");
        }
    }
    if (code == SNIP_OK)
        code = model_space_embed(s, item, count, z, NULL, st);
    for (size_t i = 0; i < n && code == SNIP_OK; i++) {
        const float *original = z + row[i][0] * s->latent;
        if (row[i][1])
            same[i] = model_dot(original, z + row[i][1] * s->latent, s->latent);
        if (row[i][2])
            other[i] = model_dot(original, z + row[i][2] * s->latent, s->latent);
    }
    if (code == SNIP_OK)
        *out = json_pack("{s:o,s:o,s:o}", "preserving", similarities(same, n), "changing",
                         similarities(other, n), "auc",
                         eval_figure_json(eval_auc(same, other, n, how->seed)));
    return code;
}

/* Equivalent rewritings ----------------------------------------------------------------------- */

static const struct {
    const char *name, *left, *right;
    int positive; /* whether a and b must be */
} identities[] = {
    { "distribution", "a*(b + c)", "a*b + a*c", 0 },
    { "square_of_sum", "(a + b)^2", "a^2 + 2*a*b + b^2", 0 },
    { "difference_of_squares", "a^2 - b^2", "(a + b)*(a - b)", 0 },
    { "double_angle", "sin(2*a) + b", "2*sin(a)*cos(a) + b", 0 },
    { "pythagoras", "cos(a)^2 + b", "1 - sin(a)^2 + b", 0 },
    { "exponential_of_sum", "exp(a + b) + c", "exp(a)*exp(b) + c", 0 },
    { "logarithm_of_product", "log(a*b) + c", "log(a) + log(b) + c", 1 },
};
enum { IDENTITIES = sizeof identities / sizeof *identities, CASES = 12, WRONG = 35, PROBE_DIM = 3 };

static const char *const any_parts[] = { "x0",        "2.5*x1",      "x0*x1", "sin(1.7*x1)",
                                         "0.8 + x2",  "cos(0.9*x2)", "x2",    "0.4*x0 - x2",
                                         "1.3*x1*x2", "0.7*x0 + x1" };
static const char *const positive_parts[] = { "exp(0.6*x0)",   "0.5 + x1^2",    "2.2 + sin(x2)",
                                              "1.5 + cos(x0)", "0.3 + abs(x1)", "1.2 + x2^2" };

/* Three different parts for a, b and c. */
static snip_code draw_parts(expr out[3], int positive, rng *r, arena *a, snip_status *st)
{
    const char *const *list = positive ? positive_parts : any_parts;
    int n = (int)(positive ? sizeof positive_parts / sizeof *positive_parts
                           : sizeof any_parts / sizeof *any_parts);
    int order[16];
    for (int i = 0; i < n; i++)
        order[i] = i;
    rng_shuffle(r, order, n);
    snip_code code = SNIP_OK;
    for (int i = 0; i < 3 && code == SNIP_OK; i++)
        code = expr_parse(&out[i], list[order[i]], NULL, a, st);
    return code;
}

/* Single small edits of e, at any place, that change its behaviour: up to WRONG of them, drawn at
 * random. Returns their number, or (size_t)-1 when memory is out. */
static size_t near_misses(expr out[WRONG], expr e, const double *const *x, rng *r, arena *a)
{
    data_edit *edits[DATA_FAMILIES];
    size_t of_family[DATA_FAMILIES], total = 0, n = 0;
    double *y = arena_array(a, DATA_POINTS, sizeof *y);
    data_behaviours seen = { .rows = DATA_POINTS, .a = a };
    for (int f = 0; f < DATA_FAMILIES; f++) { /* those that are not listed give none */
        of_family[f] = data_edits_list(&edits[f], e, (data_family)f, a);
        if (of_family[f] == (size_t)-1)
            return (size_t)-1;
        total += of_family[f];
    }
    int *order = arena_array(a, total + 1, sizeof *order);
    if (!y || !order || expr_eval(e, x, DATA_POINTS, y, a) == (size_t)-1 ||
        data_behaviours_add(&seen, y) < 0)
        return (size_t)-1;
    for (size_t i = 0; i < total; i++)
        order[i] = (int)i;
    rng_shuffle(r, order, (int)total);
    for (size_t i = 0; i < total && n < WRONG; i++) {
        size_t k = (size_t)order[i], f = 0;
        while (k >= of_family[f])
            k -= of_family[f++];
        expr edited = data_edit_apply(e, &edits[f][k], a);
        if (!edited.node || expr_eval(edited, x, DATA_POINTS, y, a) == (size_t)-1)
            return (size_t)-1;
        int is_new = data_values_fit(y, DATA_POINTS) ? data_behaviours_add(&seen, y) : 0;
        if (is_new < 0)
            return (size_t)-1;
        if (is_new)
            out[n++] = edited;
    }
    return n;
}

/* One case: the left side, then the right side, then wrong alternatives to it; their number is
 * returned in *count. */
static snip_code make_case(model_item *item, size_t *count, const model_space *s, int identity,
                           const double *const *x, rng *r, arena *a, snip_status *st)
{
    static const char *const letters[3] = { "a", "b", "c" };
    const expr_names names = { letters, 3 };
    const char *const sides[2] = { identities[identity].left, identities[identity].right };
    expr e[2], part[3];
    *count = 0;
    snip_code code = draw_parts(part, identities[identity].positive, r, a, st);
    if (code != SNIP_OK)
        return code;
    for (int k = 0; k < 2; k++) {
        expr pattern, whole;
        code = expr_parse(&pattern, sides[k], &names, a, st);
        if (code != SNIP_OK)
            return code;
        whole = expr_substitute(pattern, part, 3, a);
        if (!whole.node)
            return status_nomem(st);
        code = expr_normal(&e[k], whole, NULL, a, st);
        if (code != SNIP_OK)
            return code;
        code = symbol_item(&item[(*count)++], s, e[k], a, st,
                           "\"probe\":\"rewritings\",\"family\":\"%s\",\"role\":\"%s\"",
                           identities[identity].name, k ? "rewriting" : "formula");
        if (code != SNIP_OK)
            return code;
    }
    expr wrong[WRONG];
    size_t n = near_misses(wrong, e[1], x, r, a);
    if (n == (size_t)-1)
        return status_nomem(st);
    for (size_t i = 0; i < n && code == SNIP_OK; i++)
        code = symbol_item(&item[(*count)++], s, wrong[i], a, st,
                           "\"probe\":\"rewritings\",\"family\":\"%s\",\"role\":\"wrong\"",
                           identities[identity].name);
    return code;
}

static json_t *example(const char *family, const model_item *item, size_t count, arena *a)
{
    json_t *wrong = json_array();
    for (size_t i = 2; i < count && i < 6; i++) {
        const char *s = expr_print(item[i].words->e, SNIP_INFIX, NULL, 4, a);
        json_array_append_new(wrong, json_string(s ? s : ""));
    }
    const char *f = expr_print(item[0].words->e, SNIP_INFIX, NULL, 4, a);
    const char *g = expr_print(item[1].words->e, SNIP_INFIX, NULL, 4, a);
    return json_pack("{s:s,s:s,s:s,s:o}", "family", family, "formula", f ? f : "", "rewriting",
                     g ? g : "", "wrong", wrong);
}

static snip_code rewritings(json_t **out, model_space *s, const eval_how *how, arena *a,
                            snip_status *st)
{
    double pr[IDENTITIES * CASES];
    json_t *families = json_object(), *examples = json_array();
    snip_code code = SNIP_OK;
    model_item item[2 + WRONG];
    float *z = arena_array(a, (2 + WRONG) * s->latent, sizeof *z);
    double *values = arena_array(a, PROBE_DIM * DATA_POINTS, sizeof *values);
    if (!z || !values)
        code = status_nomem(st);
    for (int k = 0; k < IDENTITIES && code == SNIP_OK; k++) {
        double alternatives = 0;
        for (int c = 0; c < CASES && code == SNIP_OK; c++) {
            arena_pos mark = arena_mark(a);
            const double *x[PROBE_DIM];
            int clusters = 0, uniform = 0;
            size_t count = 0;
            rng r;
            streams_rng(&r, how->seed, STREAMS_IDENTITIES, (uint64_t)(k * CASES + c));
            for (int j = 0; j < PROBE_DIM; j++)
                x[j] = values + j * DATA_POINTS;
            if (!data_points_draw(&r, PROBE_DIM, DATA_POINTS, values, DATA_POINTS, &clusters,
                                  &uniform, a))
                code = status_nomem(st);
            if (code == SNIP_OK)
                code = make_case(item, &count, s, k, x, &r, a, st);
            if (code == SNIP_OK)
                code = model_space_embed(s, item, count, z, NULL, st);
            double similarity[WRONG];
            for (size_t i = 2; i < count && code == SNIP_OK; i++)
                similarity[i - 2] = model_dot(z, z + i * s->latent, s->latent);
            if (code == SNIP_OK) {
                pr[k * CASES + c] =
                    eval_percentile(model_dot(z, z + s->latent, s->latent), similarity, count - 2);
                alternatives += (double)(count - 2) / CASES;
                if (c == 0)
                    json_array_append_new(examples, example(identities[k].name, item, count, a));
            }
            arena_reset(a, mark);
        }
        char words[96];
        snprintf(words, sizeof words, "%s = %s", identities[k].left, identities[k].right);
        json_t *o = eval_figure_json(eval_mean(pr + k * CASES, CASES, how->seed));
        json_object_set_new(o, "identity", json_string(words));
        json_object_set_new(o, "cases", json_integer(CASES));
        json_object_set_new(o, "alternatives", json_real(alternatives));
        json_object_set_new(families, identities[k].name, o);
    }
    *out = json_pack("{s:o,s:o,s:o}", "families", families, "average",
                     eval_figure_json(eval_mean_of_families(pr, IDENTITIES, CASES, how->seed)),
                     "examples", examples);
    return code;
}

/* Taylor approximations ----------------------------------------------------------------------- */

enum { TERMS = 4, ORDERS = 3 };
/* Functions of u = x/2, which stays within their radius of convergence, and their first terms. */
static const struct {
    const char *name;
    double factor[TERMS];
    int power[TERMS];
} series[] = {
    { "exp(x0/2)", { 1, 1, 1 / 2.0, 1 / 6.0 }, { 0, 1, 2, 3 } },
    { "sin(x0/2)", { 1, -1 / 6.0, 1 / 120.0, -1 / 5040.0 }, { 1, 3, 5, 7 } },
    { "cos(x0/2)", { 1, -1 / 2.0, 1 / 24.0, -1 / 720.0 }, { 0, 2, 4, 6 } },
    { "tan(x0/2)", { 1, 1 / 3.0, 2 / 15.0, 17 / 315.0 }, { 1, 3, 5, 7 } },
    { "atan(x0/2)", { 1, -1 / 3.0, 1 / 5.0, -1 / 7.0 }, { 1, 3, 5, 7 } },
    { "log(1 + x0/2)", { 1, -1 / 2.0, 1 / 3.0, -1 / 4.0 }, { 1, 2, 3, 4 } },
    { "sqrt(1 + x0/2)", { 1, 1 / 2.0, -1 / 8.0, 1 / 16.0 }, { 0, 1, 2, 3 } },
    { "1/(1 - x0/2)", { 1, 1, 1, 1 }, { 0, 1, 2, 3 } },
    { "1/(1 + (x0/2)^2)", { 1, -1, 1, -1 }, { 0, 2, 4, 6 } },
};
enum { SERIES = sizeof series / sizeof *series };

/* The first `terms` terms as text in x0. */
static char *polynomial(int k, int terms, arena *a)
{
    text t = { .a = a };
    for (int i = 0; i < terms; i++) {
        int p = series[k].power[i];
        double c = series[k].factor[i] * pow(0.5, p);
        text_add(&t, "%s%.17g", i == 0 ? "" : c < 0 ? " - " : " + ", i == 0 ? c : fabs(c));
        if (p > 0)
            text_add(&t, p > 1 ? "*x0^%d" : "*x0", p);
    }
    return text_end(&t);
}

static snip_code taylor(json_t **out, model_space *s, const eval_how *how, arena *a,
                        snip_status *st)
{
    double x[DATA_POINTS], similarity[SERIES], unrelated[SERIES], y[SERIES][DATA_POINTS];
    const double *columns[1] = { x };
    model_item item[SERIES * ORDERS];
    float *symbols = arena_array(a, SERIES * ORDERS * s->latent, sizeof *symbols);
    float *values = arena_array(a, SERIES * ORDERS * s->latent, sizeof *values);
    json_t *functions = json_array();
    snip_code code = symbols && values ? SNIP_OK : status_nomem(st);
    /* Evenly spaced points of deviation 1. */
    for (int i = 0; i < DATA_POINTS; i++)
        x[i] = sqrt(12.0 / (DATA_POINTS * DATA_POINTS - 1.0)) * (i - (DATA_POINTS - 1) / 2.0);
    for (int k = 0; k < SERIES && code == SNIP_OK; k++) {
        expr f;
        code = expr_parse(&f, series[k].name, NULL, a, st);
        if (code == SNIP_OK && expr_eval(f, columns, DATA_POINTS, y[k], a) != DATA_POINTS)
            code = status_fail(st, SNIP_UNSUPPORTED, 0, "%s is not finite", series[k].name);
        for (int o = 0; o < ORDERS && code == SNIP_OK; o++) {
            const char *words = polynomial(k, o + 2, a);
            model_item *i = &item[k * ORDERS + o];
            *i = (model_item){ .node = MODEL_WHOLE,
                               .x = columns,
                               .dim = 1,
                               .rows = DATA_POINTS,
                               .y = y[k],
                               .label = "\"probe\":\"taylor\"" };
            expr e;
            code = words ? formula(&e, words, NULL, a, st) : status_nomem(st);
            if (code == SNIP_OK)
                code = model_space_words(&i->words, s, e, MODEL_EXACT, a, st);
        }
    }
    if (code == SNIP_OK)
        code = model_space_embed(s, item, SERIES * ORDERS, symbols, values, st);
    for (int k = 0; k < SERIES && code == SNIP_OK; k++) {
        json_t *by_order = json_object(), *words = json_object();
        similarity[k] = unrelated[k] = 0;
        for (int o = 0; o < SERIES * ORDERS; o++) /* the other functions' series, for comparison */
            if (o / ORDERS != k)
                unrelated[k] += model_dot(symbols + (size_t)o * s->latent,
                                          values + (size_t)(k * ORDERS) * s->latent, s->latent) /
                                ((SERIES - 1) * ORDERS);
        for (int o = 0; o < ORDERS; o++) {
            size_t at = (size_t)(k * ORDERS + o) * s->latent;
            double v = model_dot(symbols + at, values + at, s->latent);
            char name[12];
            const char *shown = expr_print(item[k * ORDERS + o].words->e, SNIP_INFIX, NULL, 4, a);
            snprintf(name, sizeof name, "%d", o + 2);
            json_object_set_new(by_order, name, json_real(v));
            json_object_set_new(words, name, json_string(shown ? shown : ""));
            similarity[k] += v / ORDERS;
        }
        json_array_append_new(functions, json_pack("{s:s,s:o,s:o}", "name", series[k].name,
                                                   "similarity", by_order, "series", words));
    }
    size_t count = code == SNIP_OK ? SERIES : 0;
    *out = json_pack("{s:o,s:o,s:o}", "functions", functions, "average",
                     eval_figure_json(eval_mean(similarity, count, how->seed)), "unrelated",
                     eval_figure_json(eval_mean(unrelated, count, how->seed)));
    return code;
}

snip_code eval_probes(json_t **out, model_space *s, const eval_how *how, snip_status *st)
{
    arena *a = arena_new(0);
    json_t *part[4] = { NULL };
    snip_code code = a ? variation(&part[0], s, a, st) : status_nomem(st);
    if (code == SNIP_OK)
        code = consequences(&part[1], s, how, a, st);
    if (code == SNIP_OK)
        code = rewritings(&part[2], s, how, a, st);
    if (code == SNIP_OK)
        code = taylor(&part[3], s, how, a, st);
    *out = NULL;
    if (code == SNIP_OK)
        *out = json_pack("{s:O,s:O,s:O,s:O}", "variation", part[0], "consequences", part[1],
                         "rewritings", part[2], "taylor", part[3]);
    for (int k = 0; k < 4; k++)
        json_decref(part[k]);
    arena_free(a);
    return code;
}
