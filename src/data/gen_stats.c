/* gen_stats.c - see gen_stats.h.
 *
 * Counts are integers, so each thread keeps its own and their sum has no order. What needs order or
 * sorting is kept per sample and worked out at the end. */
#include "data/gen_stats.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "data/tokens.h"

enum {
    DIMS = DATA_DIMS_MAX + 1,
    BINARY = DATA_DIMS_MAX + DATA_BINARY_EXTRA + 1,
    CONSTANT_BINS = 60, /* log10|c| from -3 in steps of 0.1 */
    Y_BINS = 500,       /* log10|y| from -125 in steps of 0.5 */
    Y_FIRST = -250,
    X_BINS = 80, /* x from -8 to 8 */
    QUANTILES = 101
};

/* Why an attempt at values failed. */
enum { ONLY_EXCEPTION, TOO_LARGE, NAN_EVERYWHERE, NAN_SOMEWHERE, DETAILS };
static const char *const detail_names[DETAILS] = {
    "generation error/finite_everywhere_rejected_only_by_fp_exception",
    "generation error/inf_or_at_least_1e103",
    "generation error/nan_in_every_point",
    "generation error/nan_in_some_point",
};

/* All that is counted. Integers only: a sum of tallies has no order. */
typedef struct tally {
    long attempts[DIMS], accepted[DIMS], bad_dimension[DIMS], bad_values[DIMS], detail[DETAILS];
    long attempts_unary[DATA_UNARY_MAX + 1], attempts_binary[BINARY];
    long accepted_binary[DIMS][BINARY];
    long occurrences[EXPR_OP_COUNT], variable[DATA_DIMS_MAX], containing[EXPR_OP_COUNT];
    long root_second[EXPR_OP_COUNT];
    long constants, negative_constants, constant_bin[CONSTANT_BINS];
    long y_points, y_zeros, y_negative, y_bin[Y_BINS];
    long x_bin[2][X_BINS];
} tally;

/* What is kept of one sample. */
typedef struct record {
    int dim, unary_requested, unary, binary_drawn, binary, tokens, nodes, depth, constants;
    int clusters, uniform;
    double y_two[2], y_median, y_max; /* log10 of |y| */
    double kurtosis[DATA_DIMS_MAX], low[DATA_DIMS_MAX], high[DATA_DIMS_MAX];
    double mean[DATA_DIMS_MAX], deviation[DATA_DIMS_MAX];
    double correlation; /* mean of |r| over pairs of columns */
} record;

static int bin_of(double v, double width, int first, int bins)
{
    int k = (int)floor(v / width + 1e-9) - first;
    return k < 0 ? 0 : k >= bins ? bins - 1 : k;
}

static void count_failure(tally *t, const data_sample *s, arena *a)
{
    size_t n = s->points, finite = expr_eval(s->e, s->x, n, s->y, a), nans = 0;
    for (size_t i = 0; i < n; i++)
        nans += isnan(s->y[i]);
    t->detail[nans == n                                 ? NAN_EVERYWHERE
              : nans                                    ? NAN_SOMEWHERE
              : finite < n || !data_values_fit(s->y, n) ? TOO_LARGE
                                                        : ONLY_EXCEPTION]++;
}

static void count_expression(tally *t, record *rec, expr e)
{
    int seen[EXPR_OP_COUNT] = { 0 };
    rec->nodes = (int)e.count;
    rec->depth = expr_depth(e);
    rec->tokens = (int)data_tokens_count(e) - 2;
    for (size_t i = 0; i < e.count; i++) {
        const expr_node *n = &e.node[i];
        t->occurrences[n->op]++;
        seen[n->op] = 1;
        rec->unary += expr_ops[n->op].arity == 1;
        rec->binary += expr_ops[n->op].arity == 2;
        if (n->op == EXPR_VARIABLE)
            t->variable[n->var]++;
        if (n->op != EXPR_NUMBER)
            continue;
        rec->constants++;
        t->constants++;
        t->negative_constants += n->value < 0;
        t->constant_bin[bin_of(log10(fabs(n->value)), 0.1, -30, CONSTANT_BINS)]++;
    }
    for (int op = 0; op < EXPR_OP_COUNT; op++)
        t->containing[op] += seen[op];
    t->root_second[e.node[expr_child(e, 0, 1)].op]++;
}

static void count_values(tally *t, record *rec, const data_sample *s, double *scratch)
{
    size_t n = s->points;
    for (size_t i = 0; i < n; i++) {
        double y = s->y[i];
        t->y_zeros += y == 0;
        t->y_negative += y < 0;
        if (y != 0)
            t->y_bin[bin_of(log10(fabs(y)), 0.5, Y_FIRST, Y_BINS)]++;
        scratch[i] = fabs(y);
    }
    t->y_points += (long)n;
    rec->y_two[0] = log10(scratch[0]);
    rec->y_two[1] = log10(scratch[1]);
    rec->y_median = log10(numbers_median(scratch, n));
    rec->y_max = log10(scratch[n - 1]);
}

static void count_points(tally *t, record *rec, const data_sample *s)
{
    size_t n = s->points;
    for (int j = 0; j < s->dim; j++) {
        const double *x = s->x[j];
        double sum = 0, m2 = 0, m4 = 0;
        rec->low[j] = INFINITY;
        rec->high[j] = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            sum += x[i];
            rec->low[j] = fmin(rec->low[j], x[i]);
            rec->high[j] = fmax(rec->high[j], x[i]);
            int k = (int)floor((x[i] + 8) * X_BINS / 16);
            if (k >= 0 && k < X_BINS)
                t->x_bin[s->uniform][k]++;
        }
        double mean = sum / (double)n;
        for (size_t i = 0; i < n; i++) {
            double d = (x[i] - mean) * (x[i] - mean);
            m2 += d;
            m4 += d * d;
        }
        rec->mean[j] = mean;
        rec->deviation[j] = sqrt(m2 / (double)n);
        rec->kurtosis[j] = (double)n * m4 / (m2 * m2);
    }
    int pairs = 0;
    for (int j = 0; j < s->dim; j++)
        for (int k = 0; k < j; k++) {
            double dot = 0;
            for (size_t i = 0; i < n; i++)
                dot += s->x[j][i] * s->x[k][i];
            rec->correlation += fabs(dot / (double)n);
            pairs++;
        }
    if (pairs)
        rec->correlation /= pairs;
}

/* One sample into the tally and its record. Returns 0 when memory is out. */
static int gather_one(tally *t, record *rec, const data_gen *gen, uint64_t seed, rng_stream stream,
                      uint64_t index, arena *a)
{
    data_draft d;
    data_sample s;
    data_draft_init(&d, gen, seed, stream, index);
    for (;;) {
        data_outcome outcome = data_draft_try(&d, &s, a);
        if (outcome == DATA_NO_MEMORY)
            return 0;
        t->attempts[d.dim]++;
        t->attempts_unary[d.unary]++;
        t->attempts_binary[s.binary_drawn]++;
        if (outcome == DATA_ACCEPTED)
            break;
        if (outcome == DATA_BAD_DIMENSION) {
            t->bad_dimension[d.dim]++;
        } else {
            t->bad_values[d.dim]++;
            count_failure(t, &s, a);
        }
    }
    t->accepted[d.dim]++;
    t->accepted_binary[d.dim][s.binary_drawn]++;
    *rec = (record){ .dim = s.dim,
                     .unary_requested = s.unary_requested,
                     .binary_drawn = s.binary_drawn,
                     .clusters = s.clusters,
                     .uniform = s.uniform };
    double *scratch = arena_array(a, s.points, sizeof *scratch);
    if (!scratch)
        return 0;
    count_expression(t, rec, s.e);
    count_values(t, rec, &s, scratch);
    count_points(t, rec, &s);
    return 1;
}

static void add_tally(tally *to, const tally *from)
{
    long *a = (long *)to;
    const long *b = (const long *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *a; i++)
        a[i] += b[i];
}

/* JSON of the results ------------------------------------------------------------------------- */

/* {"first": counts[0], ...} of the counts that are not 0. */
static json_t *counts_json(const long *counts, int n, int first)
{
    json_t *o = json_object();
    for (int i = 0; i < n; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", first + i);
        if (counts[i])
            json_object_set_new(o, key, json_integer(counts[i]));
    }
    return o;
}

/* The same with lower edges (first + i) * width as keys. */
static json_t *bins_json(const long *counts, int n, int first, double width)
{
    json_t *o = json_object();
    for (int i = 0; i < n; i++) {
        char key[16];
        snprintf(key, sizeof key, "%.1f", (first + i) == 0 ? 0.0 : (first + i) * width);
        if (counts[i])
            json_object_set_new(o, key, json_integer(counts[i]));
    }
    return o;
}

/* A histogram of one number of the records. */
static json_t *histogram_json(const record *rec, size_t count, size_t offset)
{
    long counts[512] = { 0 };
    for (size_t i = 0; i < count; i++) {
        int v = *(const int *)((const char *)&rec[i] + offset);
        counts[v < 511 ? v : 511]++;
    }
    return counts_json(counts, 512, 0);
}
#define HISTOGRAM(field) histogram_json(rec, count, offsetof(record, field))

static json_t *quantiles_json(double *v, size_t n)
{
    json_t *list = json_array();
    numbers_sort(v, n);
    for (int k = 0; n && k < QUANTILES; k++)
        json_array_append_new(list, json_real(numbers_quantile(v, n, k / (QUANTILES - 1.0))));
    return list;
}

/* Whole numbers for the most part, whose sum is exact: so it is divided once, at the end. */
static void mean_json(json_t *o, const double *v, size_t n)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    double mean = n ? sum / (double)n : 0;
    for (size_t i = 0; i < n; i++)
        square += (v[i] - mean) * (v[i] - mean);
    json_object_set_new(o, "mean", json_real(mean));
    json_object_set_new(o, "std", json_real(n ? sqrt(square / (double)n) : 0));
}

static void attempts_json(json_t *o, const tally *t, int dims)
{
    long attempts = 0, accepted = 0, dimension = 0, values = 0, by_binary[BINARY] = { 0 };
    json_t *by_dim = json_object(), *pairs = json_object(), *details = json_object();
    for (int d = 1; d <= dims; d++) {
        char key[32];
        attempts += t->attempts[d];
        accepted += t->accepted[d];
        dimension += t->bad_dimension[d];
        values += t->bad_values[d];
        json_t *rejected = json_object();
        if (t->bad_dimension[d])
            json_object_set_new(rejected, "bad input dimension", json_integer(t->bad_dimension[d]));
        if (t->bad_values[d])
            json_object_set_new(rejected, "generation error", json_integer(t->bad_values[d]));
        snprintf(key, sizeof key, "%d", d);
        json_object_set_new(by_dim, key,
                            json_pack("{s:I,s:I,s:o}", "attempts", (json_int_t)t->attempts[d],
                                      "accepted", (json_int_t)t->accepted[d], "rejected",
                                      rejected));
        for (int b = 0; b < BINARY; b++) {
            by_binary[b] += t->accepted_binary[d][b];
            snprintf(key, sizeof key, "%d,%d", d, b);
            if (t->accepted_binary[d][b])
                json_object_set_new(pairs, key, json_integer(t->accepted_binary[d][b]));
        }
    }
    for (int k = 0; k < DETAILS; k++)
        json_object_set_new(details, detail_names[k], json_integer(t->detail[k]));
    json_object_set_new(o, "expressions", json_integer(accepted));
    json_object_set_new(o, "attempts", json_integer(attempts));
    json_object_set_new(o, "accepted", json_integer(accepted));
    json_object_set_new(o, "acceptance_rate", json_real((double)accepted / (double)attempts));
    json_object_set_new(o, "rejected_by_cause",
                        json_pack("{s:I,s:I}", "bad input dimension", (json_int_t)dimension,
                                  "generation error", (json_int_t)values));
    json_object_set_new(o, "rejected_by_cause_detail", details);
    json_object_set_new(o, "by_requested_dimension", by_dim);
    json_object_set_new(o, "attempts_by_requested_unary",
                        counts_json(t->attempts_unary, DATA_UNARY_MAX + 1, 0));
    json_object_set_new(o, "attempts_by_binary_drawn", counts_json(t->attempts_binary, BINARY, 0));
    json_object_set_new(o, "accepted_by_binary_drawn", counts_json(by_binary, BINARY, 0));
    json_object_set_new(o, "accepted_by_dimension_and_binary_drawn", pairs);
}

static void expressions_json(json_t *o, const tally *t, const record *rec, size_t count)
{
    json_t *h = json_object();
    json_object_set_new(h, "input_dimension", HISTOGRAM(dim));
    json_object_set_new(h, "unary_count", HISTOGRAM(unary));
    json_object_set_new(h, "unary_requested", HISTOGRAM(unary_requested));
    json_object_set_new(h, "binary_count", HISTOGRAM(binary));
    json_object_set_new(h, "binary_drawn", HISTOGRAM(binary_drawn));
    json_object_set_new(h, "token_length", HISTOGRAM(tokens));
    json_object_set_new(h, "node_count", HISTOGRAM(nodes));
    json_object_set_new(h, "tree_depth", HISTOGRAM(depth));
    json_object_set_new(h, "constant_count", HISTOGRAM(constants));
    json_object_set_new(h, "centroid_count", HISTOGRAM(clusters));
    long uniform = 0;
    for (size_t i = 0; i < count; i++)
        uniform += rec[i].uniform;
    json_object_set_new(h, "input_distribution_type",
                        json_pack("{s:I,s:I}", "gaussian", (json_int_t)((long)count - uniform),
                                  "uniform", (json_int_t)uniform));
    json_object_set_new(o, "histograms", h);

    json_t *occurrences = json_object(), *containing = json_object(), *second = json_object();
    for (int op = EXPR_PI; op < EXPR_OP_COUNT; op++) {
        if (t->occurrences[op])
            json_object_set_new(occurrences, expr_ops[op].name, json_integer(t->occurrences[op]));
        if (t->containing[op])
            json_object_set_new(containing, expr_ops[op].name, json_integer(t->containing[op]));
        if (t->root_second[op])
            json_object_set_new(second, expr_ops[op].name, json_integer(t->root_second[op]));
    }
    for (int v = 0; v < DATA_DIMS_MAX; v++) {
        char key[16];
        snprintf(key, sizeof key, "x_%d", v);
        if (t->variable[v])
            json_object_set_new(occurrences, key, json_integer(t->variable[v]));
    }
    json_object_set_new(o, "operator_and_variable_counts", occurrences);
    json_object_set_new(o, "expressions_containing_operator", containing);
    json_object_set_new(o, "second_child_of_root_kind", second);
    json_object_set_new(o, "constants",
                        json_pack("{s:I,s:{s:I,s:I},s:f,s:o}", "total", (json_int_t)t->constants,
                                  "sign", "+", (json_int_t)(t->constants - t->negative_constants),
                                  "-", (json_int_t)t->negative_constants, "log10_abs_bin_width",
                                  0.1, "log10_abs_counts",
                                  bins_json(t->constant_bin, CONSTANT_BINS, -30, 0.1)));
}

static void y_json(json_t *o, const tally *t, const record *rec, size_t count, double *scratch)
{
    json_t *y =
        json_pack("{s:I,s:I,s:{s:I,s:I},s:f,s:o}", "points", (json_int_t)t->y_points, "zeros",
                  (json_int_t)t->y_zeros, "sign", "neg", (json_int_t)t->y_negative, "pos",
                  (json_int_t)(t->y_points - t->y_negative - t->y_zeros), "log10_abs_bin_width",
                  0.5, "log10_abs_counts", bins_json(t->y_bin, Y_BINS, Y_FIRST, 0.5));
    for (size_t i = 0; i < count; i++) {
        scratch[2 * i] = rec[i].y_two[0];
        scratch[2 * i + 1] = rec[i].y_two[1];
    }
    json_object_set_new(y, "log10_abs_quantiles_two_points_per_expression",
                        quantiles_json(scratch, 2 * count));
    for (size_t i = 0; i < count; i++)
        scratch[i] = rec[i].y_median;
    json_object_set_new(y, "per_expression_log10_median_abs_quantiles",
                        quantiles_json(scratch, count));
    for (size_t i = 0; i < count; i++)
        scratch[i] = rec[i].y_max;
    json_object_set_new(y, "per_expression_log10_max_abs_quantiles",
                        quantiles_json(scratch, count));
    json_object_set_new(y, "quantile_levels", json_string("101 equally spaced from 0 to 1"));
    json_object_set_new(o, "y", y);
}

static const char *const kind_names[2] = { "gaussian", "uniform" };

/* Kurtosis of the columns of samples of a kind, of any number of clusters if that is 0. */
static json_t *kurtosis_json(const record *rec, size_t count, int uniform, int clusters,
                             double *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (rec[i].uniform == uniform && (!clusters || rec[i].clusters == clusters))
            for (int j = 0; j < rec[i].dim; j++)
                scratch[n++] = rec[i].kurtosis[j];
    json_t *o = json_pack("{s:I}", "columns", (json_int_t)n);
    mean_json(o, scratch, n);
    if (!clusters)
        json_object_set_new(o, "quantiles", quantiles_json(scratch, n));
    return o;
}

static void x_json(json_t *o, const tally *t, const record *rec, size_t count, int dims,
                   double *scratch)
{
    json_t *x = json_object(), *per = json_array();
    double worst_mean = 0, worst_deviation = 0;
    for (int j = 0; j < dims; j++) {
        double mean = 0, deviation = 0;
        size_t n = 0;
        for (size_t i = 0; i < count; i++)
            if (j < rec[i].dim) {
                n++;
                mean += rec[i].mean[j];
                deviation += rec[i].deviation[j];
                worst_mean = fmax(worst_mean, fabs(rec[i].mean[j]));
                worst_deviation = fmax(worst_deviation, fabs(rec[i].deviation[j] - 1));
            }
        if (n)
            json_array_append_new(per, json_pack("{s:i,s:I,s:f,s:f}", "dimension", j, "expressions",
                                                 (json_int_t)n, "mean_of_mean", mean / (double)n,
                                                 "mean_of_std", deviation / (double)n));
    }
    json_object_set_new(x, "max_abs_of_per_dimension_mean", json_real(worst_mean));
    json_object_set_new(x, "max_abs_of_per_dimension_std_minus_1", json_real(worst_deviation));
    json_object_set_new(x, "per_dimension", per);
    json_t *kurtosis = json_object(), *by_clusters = json_object(), *correlation = json_object();
    json_t *counts = json_object();
    for (int u = 0; u < 2; u++) {
        char key[32];
        json_object_set_new(kurtosis, kind_names[u], kurtosis_json(rec, count, u, 0, scratch));
        for (int c = 1; c <= DATA_CLUSTERS_MAX; c++) {
            snprintf(key, sizeof key, "%s,%d", kind_names[u], c);
            json_object_set_new(by_clusters, key, kurtosis_json(rec, count, u, c, scratch));
        }
        for (int d = 2; d <= dims; d++) {
            size_t n = 0;
            for (size_t i = 0; i < count; i++)
                if (rec[i].uniform == u && rec[i].dim == d)
                    scratch[n++] = rec[i].correlation;
            json_t *c = json_pack("{s:I}", "expressions", (json_int_t)n);
            mean_json(c, scratch, n);
            snprintf(key, sizeof key, "%s,%d", kind_names[u], d);
            json_object_set_new(correlation, key, c);
        }
        json_t *bins = json_array();
        for (int k = 0; k < X_BINS; k++)
            json_array_append_new(bins, json_integer(t->x_bin[u][k]));
        json_object_set_new(counts, kind_names[u], bins);
    }
    json_object_set_new(x, "kurtosis", kurtosis);
    json_object_set_new(x, "kurtosis_by_centroids", by_clusters);
    json_object_set_new(x, "mean_abs_correlation", correlation);
    json_object_set_new(
        x, "value_histogram",
        json_pack("{s:i,s:i,s:i,s:o}", "bins", X_BINS, "low", -8, "high", 8, "counts", counts));
    for (int side = 0; side < 2; side++) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++)
            for (int j = 0; j < rec[i].dim; j++)
                scratch[n++] = side ? rec[i].high[j] : rec[i].low[j];
        json_object_set_new(x, side ? "column_max_quantiles" : "column_min_quantiles",
                            quantiles_json(scratch, n));
    }
    json_object_set_new(o, "x", x);
}

static void fill_row(float row[DATA_GEN_STATS_ROW], const record *r)
{
    double kurtosis = 0;
    for (int j = 0; j < r->dim; j++)
        kurtosis += r->kurtosis[j] / r->dim;
    const double v[DATA_GEN_STATS_ROW] = {
        r->dim,     r->unary_requested, r->unary, r->binary_drawn, r->binary,
        r->tokens,  r->nodes,           r->depth, r->constants,    r->clusters,
        r->uniform, r->y_median,        r->y_max, kurtosis,
    };
    for (int k = 0; k < DATA_GEN_STATS_ROW; k++)
        row[k] = (float)v[k];
}

snip_code data_gen_stats_gather(data_gen_stats *out, const data_gen *gen, uint64_t seed,
                                rng_stream stream, size_t count, progress *progress, arena *a)
{
    tally *total = arena_zero(a, sizeof *total);
    record *rec = arena_array(a, count, sizeof *rec);
    double *scratch = arena_array(a, count * DATA_DIMS_MAX + 2, sizeof *scratch);
    out->rows = arena_array(a, count, sizeof *out->rows);
    if (!total || !rec || !scratch || !out->rows)
        return SNIP_NOMEM;
    int failed = 0;
    size_t done = 0;
#pragma omp parallel
    {
        arena *own = arena_new(0);
        tally *t = calloc(1, sizeof *t);
        int good = own && t;
#pragma omp for schedule(dynamic, 64)
        for (size_t i = 0; i < count; i++) {
            if (good) {
                arena_pos mark = arena_mark(own);
                good = gather_one(t, &rec[i], gen, seed, stream, i, own);
                arena_reset(own, mark);
            }
            size_t now;
#pragma omp atomic capture
            now = ++done;
            if (progress && omp_get_thread_num() == 0)
                progress_at(progress, now);
        }
#pragma omp critical
        {
            if (good)
                add_tally(total, t);
            else
                failed = 1;
        }
        free(t);
        arena_free(own);
    }
    if (failed)
        return SNIP_NOMEM;
    json_t *o = json_pack("{s:{s:i,s:I,s:I}}", "setting", "max_input_dimension", gen->dims, "seed",
                          (json_int_t)seed, "points_per_expression", (json_int_t)gen->points);
    attempts_json(o, total, gen->dims);
    expressions_json(o, total, rec, count);
    y_json(o, total, rec, count, scratch);
    x_json(o, total, rec, count, gen->dims, scratch);
    for (size_t i = 0; i < count; i++)
        fill_row(out->rows[i], &rec[i]);
    out->json = o;
    return SNIP_OK;
}
