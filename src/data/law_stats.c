/* law_stats.c - what data_law_draw produces, in numbers; see laws.h. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/laws.h"
#include "data/tokens.h"

enum { BINS = DATA_SEQUENCE_MAX + 1 };

/* Integers only: a sum of tallies has no order. */
typedef struct tally {
    long laws, attempts, inputs, positive, linear;
    long dim[BINS], core[BINS], law_nodes[BINS], nodes[BINS], tokens[BINS], constants[BINS];
    long occurrences[EXPR_OP_COUNT], containing[EXPR_OP_COUNT];
} tally;

/* Counts are longs from end to end. */
static void add_tally(tally *to, const tally *from)
{
    long *t = (long *)to;
    const long *f = (const long *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *t; i++)
        t[i] += f[i];
}

static void into(long *histogram, size_t value)
{
    histogram[value < BINS ? value : BINS - 1]++;
}

static void count_law(tally *t, const data_sample *s, const data_law *law)
{
    int seen[EXPR_OP_COUNT] = { 0 };
    size_t constants = 0;
    t->laws++;
    t->attempts += law->attempts;
    t->linear += law->linear > DATA_NEARLY_LINEAR;
    into(t->dim, (size_t)law->dim);
    into(t->core, data_law_core(law->e));
    into(t->law_nodes, law->e.count);
    into(t->nodes, s->e.count);
    into(t->tokens, data_tokens_count(s->e) - 2);
    for (size_t i = 0; i < law->e.count; i++) {
        int op = law->e.node[i].op;
        t->occurrences[op]++;
        t->containing[op] += !seen[op];
        seen[op] = 1;
        constants += op == EXPR_NUMBER && !law->e.node[i].integer;
    }
    into(t->constants, constants);
    for (int j = 0; j < law->dim; j++) {
        double low = INFINITY;
        for (size_t i = 0; i < law->points; i++)
            low = fmin(low, law->x[j][i]);
        t->inputs++;
        t->positive += low > 0;
    }
}

static json_t *histogram_json(const long *histogram)
{
    json_t *o = json_object();
    for (int k = 0; k < BINS; k++) {
        char key[16];
        snprintf(key, sizeof key, "%d", k);
        if (histogram[k])
            json_object_set_new(o, key, json_integer(histogram[k]));
    }
    return o;
}

static json_t *operators_json(const long *count)
{
    json_t *o = json_object();
    for (int op = EXPR_PI; op < EXPR_OP_COUNT; op++)
        if (count[op])
            json_object_set_new(o, expr_ops[op].name, json_integer(count[op]));
    return o;
}

static json_t *tally_json(const tally *t, const data_gen *gen, uint64_t seed)
{
    return json_pack(
        "{s:{s:i,s:I,s:I,s:f},s:I,s:I,s:f,s:f,s:f,s:{s:o,s:o,s:o,s:o,s:o,s:o},s:o,s:o}", "setting",
        "max_input_dimension", gen->dims, "seed", (json_int_t)seed, "points_per_law",
        (json_int_t)gen->points, "quantities", gen->quantities, "accepted", (json_int_t)t->laws,
        "attempts", (json_int_t)t->attempts, "acceptance_rate",
        (double)t->laws / (double)t->attempts, "nearly_linear", (double)t->linear / (double)t->laws,
        "positive_inputs", (double)t->positive / (double)t->inputs, "histograms", "inputs",
        histogram_json(t->dim), "law_nodes_without_constants", histogram_json(t->core), "law_nodes",
        histogram_json(t->law_nodes), "free_constants", histogram_json(t->constants), "nodes",
        histogram_json(t->nodes), "tokens", histogram_json(t->tokens), "operator_counts",
        operators_json(t->occurrences), "laws_containing_operator", operators_json(t->containing));
}

snip_code data_law_stats(json_t **out, const data_gen *gen, uint64_t seed, rng_stream stream,
                         size_t count, progress *progress)
{
    /* The loop is that of data_gen_stats_gather; what a thread tallies is of another kind. */
    tally total = { 0 };
    int failed = 0;
    size_t done = 0;
    *out = NULL;
#pragma omp parallel
    {
        arena *own = arena_new(0);
        tally *t = calloc(1, sizeof *t);
        int good = own && t;
#pragma omp for schedule(dynamic, 64)
        for (size_t i = 0; i < count; i++) {
            data_sample s;
            data_law law;
            if (good) {
                good = data_law_draw(&s, &law, gen, seed, stream, i, own) == SNIP_OK;
                if (good)
                    count_law(t, &s, &law);
                arena_reset(own, 0);
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
                add_tally(&total, t);
            else
                failed = 1;
        }
        free(t);
        arena_free(own);
    }
    if (failed)
        return SNIP_NOMEM;
    *out = tally_json(&total, gen, seed);
    return *out ? SNIP_OK : SNIP_NOMEM;
}
