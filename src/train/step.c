/* step.c - see step.h.
 *
 * A step goes through its work three times:
 *     embed_all     every chunk forward: its rows z: the paper's (16, 17), and those of lists
 *     judge         the objective of all rows and its gradient dz for each (objective.c)
 *     gradient_all  every chunk backward, from its dz to the parameters
 *
 * The loss couples all rows, so no chunk can go backward before all have gone forward. Between the
 * two a chunk either keeps its activations (layers' inputs, attention's queries, ...; see
 * model_pass) or forgets them and is run forward again just before it goes backward. Forward is a
 * pure function of chunk and parameters: z is the same the second time, to the bit, and so is the
 * gradient. Recomputing costs a third more and makes the memory that of one chunk per thread. */
#include "train/step.h"

#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "model/pack.h"

/* Tokens of a chunk. Sequences are whole, so the last one may bring it beyond. The activations of
 * about a thousand tokens stay near the core; small batches are cut finer, to keep all cores busy,
 * but below 256 tokens matrix products are too thin. */
enum { CHUNK_MOST = 1024, CHUNK_LEAST = 256, CHUNKS_PER_THREAD = 6 };

/* A few sequences that go through an encoder together. `row` says where each embedded row belongs.
 */
typedef struct chunk {
    int numeric;
    model_formulas formulas;
    model_tables tables;
    size_t tokens, rows;
    train_row *row;
    double cost;      /* floating-point operations */
    int thread;       /* who does it */
    model_pass *pass; /* if kept */
    float *z, *dz;
    double embed_seconds;
} chunk;

struct train_step {
    int threads;
    ranks *ranks;
    size_t memory, size;
    arena *plan;  /* chunks and rows of the current step */
    arena **keep; /* per thread: activations of this step */
    arena **tmp;  /* per thread: what a chunk needs while it runs */
    float **grad; /* per thread, beyond the first */
};

void train_step_free(train_step *s)
{
    if (!s)
        return;
    for (int t = 0; t < s->threads; t++) {
        if (s->keep)
            arena_free(s->keep[t]);
        if (s->tmp)
            arena_free(s->tmp[t]);
        if (s->grad)
            free(s->grad[t]);
    }
    arena_free(s->plan);
    free(s->keep);
    free(s->tmp);
    free(s->grad);
    free(s);
}

train_step *train_step_new(const model *m, int threads, size_t memory, ranks *r)
{
    train_step *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->threads = threads;
    s->ranks = r;
    s->memory = memory;
    s->size = m->size;
    s->plan = arena_new(0);
    s->keep = calloc((size_t)threads, sizeof *s->keep);
    s->tmp = calloc((size_t)threads, sizeof *s->tmp);
    s->grad = calloc((size_t)threads, sizeof *s->grad);
    int good = s->plan && s->keep && s->tmp && s->grad;
    for (int t = 0; good && t < threads; t++) {
        s->keep[t] = arena_new(0);
        s->tmp[t] = arena_new(0);
        if (t > 0)
            s->grad[t] = malloc(m->size * sizeof **s->grad);
        good = s->keep[t] && s->tmp[t] && (t == 0 || s->grad[t]);
    }
    if (!good) {
        train_step_free(s);
        return NULL;
    }
    return s;
}

/* The chunk of formulas [from, to). Returns 0 when memory is out. */
static int make_formula_chunk(chunk *c, const train_formula *f, size_t from, size_t to,
                              const model *m, arena *a)
{
    model_pack p;
    size_t rows = 0;
    for (size_t i = from; i < to; i++)
        rows += f[i].rows;
    c->rows = 0;
    c->row = arena_array(a, rows, sizeof *c->row);
    if (!c->row || !model_pack_new(&p, m, to - from, c->tokens, rows, a))
        return 0;
    for (size_t i = from; i < to; i++) {
        model_pack_formula(&p, &f[i].words);
        for (size_t r = 0; r < f[i].rows; r++) {
            model_pack_row(&p, f[i].row[r].first, f[i].row[r].end);
            c->row[c->rows++] = f[i].row[r];
        }
    }
    c->formulas = p.f;
    return 1;
}

static int make_table_chunk(chunk *c, const train_table *t, size_t from, size_t to, arena *a)
{
    model_table_group *group = arena_array(a, to - from, sizeof *group);
    size_t rows = 0;
    for (size_t i = from; i < to; i++)
        rows += t[i].group.count;
    c->row = arena_array(a, rows, sizeof *c->row);
    if (!group || !c->row)
        return 0;
    c->numeric = 1;
    c->rows = 0;
    for (size_t i = from; i < to; i++) {
        group[i - from] = t[i].group;
        for (size_t k = 0; k < t[i].group.count; k++)
            c->row[c->rows++] = t[i].row[k];
    }
    c->tables = (model_tables){ .groups = to - from, .group = group };
    return 1;
}

/* Tokens that a sample's tables give. */
static size_t group_tokens(const model_table_group *g)
{
    size_t sum = 0;
    for (size_t v = 0; v < g->count; v++)
        sum += model_table_tokens(g, v);
    return sum;
}

/* Cuts the batch into chunks, tables first: sequence after sequence in the batch's order until a
 * chunk has `most` tokens. Where the cuts are depends on the number of threads, and sums of
 * gradients with it; that is why a run is the same only with as many threads. Returns their number,
 * or 0 when memory is out. */
static size_t make_chunks(chunk **out, const train_batch *b, const model *m, int threads, arena *a)
{
    size_t total = 0, most;
    for (size_t i = 0; i < b->tables; i++)
        total += group_tokens(&b->table[i].group);
    for (size_t i = 0; i < b->formulas; i++)
        total += b->formula[i].words.tokens.count;
    most = total / ((size_t)threads * CHUNKS_PER_THREAD);
    most = most > CHUNK_MOST ? CHUNK_MOST : most < CHUNK_LEAST ? CHUNK_LEAST : most;
    chunk *c = arena_zero(a, (b->formulas + b->tables) * sizeof *c);
    size_t n = 0;
    if (!c)
        return 0;
    *out = c;
    for (size_t from = 0, to; from < b->tables; from = to, n++) {
        for (to = from; to < b->tables && (to == from || c[n].tokens < most); to++)
            c[n].tokens += group_tokens(&b->table[to].group);
        if (!make_table_chunk(&c[n], b->table, from, to, a))
            return 0;
    }
    for (size_t from = 0, to; from < b->formulas; from = to, n++) {
        for (to = from; to < b->formulas && (to == from || c[n].tokens < most); to++)
            c[n].tokens += b->formula[to].words.tokens.count;
        if (!make_formula_chunk(&c[n], b->formula, from, to, m, a))
            return 0;
    }
    return n;
}

/* Floating-point operations of the matrix products for one chunk of n tokens:
 *
 *     3 (layers (n (8 d^2 + 4 d ff) + 4 d sum length^2) + 2 rows d latent + embedder)
 *
 * A layer's four square maps and its two feed-forward ones take two operations per weight and
 * token, attention two products per sequence; backward costs twice what forward does. */
static double chunk_flops(const chunk *c, const model *m)
{
    const model_config *f = &m->config;
    double d = f->d, n = (double)c->tokens, each = f->layers * (8 * d * d + 4 * d * (double)f->ff),
           sum;
    double squares = 0; /* of the sequences' lengths */
    if (c->numeric) {
        model_point_shape p = model_point_shape_of(f);
        double value = (double)p.value, hidden = (double)p.hidden;
        sum = n * each;
        for (size_t g = 0; g < c->tables.groups; g++) {
            const model_table_group *q = &c->tables.group[g];
            double points = (double)q->points;
            sum += 2 * points * hidden * ((double)q->count * (value + d) + q->dim * value);
            for (size_t v = 0; v < q->count; v++) {
                double length = (double)model_table_tokens(q, v);
                squares += length * length;
                if (f->statistics)
                    sum += 2.0 * f->hidden *
                           (MODEL_SUMMARY_Y + q->dim * MODEL_SUMMARY_INPUT +
                            q->summary[v].atoms * MODEL_SUMMARY_ATOM + (length - points) * d);
            }
        }
    } else {
        for (size_t s = 0; s < c->formulas.count; s++) {
            double length = (double)(c->formulas.offsets[s + 1] - c->formulas.offsets[s]);
            squares += length * length;
        }
        sum = n * each;
    }
    sum += f->layers * 4 * d * squares;
    return 3 * (sum + 2.0 * (double)c->rows * d * f->latent);
}

static int by_cost(const void *a, const void *b)
{
    const chunk *x = *(const chunk *const *)a, *y = *(const chunk *const *)b;
    if (x->cost != y->cost)
        return x->cost > y->cost ? -1 : 1;
    return (x > y) - (x < y);
}

/* The largest first, each chunk goes to the thread with the least to do so far: balanced, and the
 * same every time. Returns 0 when memory is out. */
static int share_out(chunk *c, size_t n, int threads, const model *m, arena *a)
{
    double load[LIMITS_THREADS] = { 0 };
    assert(threads <= LIMITS_THREADS);
    chunk **order = arena_array(a, n, sizeof *order);
    if (!order)
        return 0;
    for (size_t i = 0; i < n; i++) {
        c[i].cost = chunk_flops(&c[i], m);
        order[i] = &c[i];
    }
    qsort(order, n, sizeof *order, by_cost);
    for (size_t i = 0; i < n; i++) {
        int least = 0;
        for (int t = 1; t < threads; t++)
            if (load[t] < load[least])
                least = t;
        order[i]->thread = least;
        load[least] += order[i]->cost;
    }
    return 1;
}

static int run_forward(chunk *c, const model *m, arena *a)
{
    c->pass = c->numeric ? model_tables_forward(m, &c->tables, c->z, a)
                         : model_formulas_forward(m, &c->formulas, c->z, a);
    c->embed_seconds = c->pass ? model_pass_embed_seconds(c->pass) : 0;
    return c->pass != NULL;
}

static int run_backward(chunk *c, const model *m, float *grad, arena *tmp)
{
    return c->numeric ? model_tables_backward(m, &c->tables, c->pass, c->dz, grad, tmp)
                      : model_formulas_backward(m, &c->formulas, c->pass, c->dz, grad, tmp);
}

/* Forward runs all chunks; backward all of them or those of one encoder. */
enum { FORWARD, NUMERIC, SYMBOLIC, BOTH };

/* The chunks of a thread. With `keep` a chunk's pass stays in s->keep from the forward run to the
 * backward one; else it is made in s->tmp, used and forgotten, and the backward run makes it anew.
 * Returns 0 when memory is out. */
static int run_thread(train_step *s, const model *m, chunk *c, size_t n, int thread, int keep,
                      int backward, float *grad)
{
    int good = 1;
    for (size_t i = 0; i < n && good; i++) {
        if (c[i].thread != thread || (backward == NUMERIC && !c[i].numeric) ||
            (backward == SYMBOLIC && c[i].numeric))
            continue;
        arena *a = keep ? s->keep[thread] : s->tmp[thread];
        arena_pos mark = arena_mark(s->tmp[thread]);
        if (!backward || !keep)
            good = run_forward(&c[i], m, a);
        if (good && backward)
            good = run_backward(&c[i], m, grad, s->tmp[thread]);
        arena_reset(s->tmp[thread], mark);
    }
    return good;
}

/* One step's work: the chunks, and the rows of all views with their gradients. */
typedef struct work {
    chunk *c;
    size_t n, bytes;
    float *row[TRAIN_VIEWS], *drow[TRAIN_VIEWS];
} work;

static int plan_work(work *w, train_step *s, const model *m, const train_batch *b,
                     train_times *times)
{
    size_t latent = (size_t)m->config.latent;
    arena_reset(s->plan, 0);
    *w = (work){ 0 };
    w->n = make_chunks(&w->c, b, m, s->threads, s->plan);
    if (w->n == 0)
        return 0;
    for (int v = 0; v < TRAIN_VIEWS; v++) {
        w->row[v] = arena_zero(s->plan, b->variants * latent * sizeof **w->row);
        w->drow[v] = arena_zero(s->plan, b->variants * latent * sizeof **w->drow);
        if (!w->row[v] || !w->drow[v])
            return 0;
    }
    *times = (train_times){ 0 };
    for (size_t i = 0; i < w->n; i++) {
        chunk *c = &w->c[i];
        c->z = arena_array(s->plan, c->rows * latent, sizeof *c->z);
        c->dz = arena_array(s->plan, c->rows * latent, sizeof *c->dz);
        if (!c->z || !c->dz)
            return 0;
        w->bytes += model_pass_bytes(m, c->tokens, c->numeric);
        times->tokens += c->tokens;
    }
    if (!share_out(w->c, w->n, s->threads, m, s->plan))
        return 0;
    for (size_t i = 0; i < w->n; i++)
        times->flops += w->c[i].cost;
    for (int t = 0; t < s->threads; t++) {
        arena_reset(s->keep[t], 0);
        arena_reset(s->tmp[t], 0);
    }
    return 1;
}

/* Runs all chunks forward and puts their rows in place. Returns 0 when memory is out. */
static int embed_all(work *w, train_step *s, const model *m, int keep)
{
    size_t latent = (size_t)m->config.latent;
    int failed = 0;
    /* Shares, not threads, are counted: OpenMP may give fewer threads than asked for. */
#pragma omp parallel for num_threads(s->threads) schedule(static, 1)
    for (int t = 0; t < s->threads; t++)
        if (!run_thread(s, m, w->c, w->n, t, keep, FORWARD, NULL))
#pragma omp atomic write
            failed = 1;
    for (size_t i = 0; i < w->n; i++)
        for (size_t r = 0; r < w->c[i].rows; r++)
            memcpy(w->row[w->c[i].row[r].view] + w->c[i].row[r].variant * latent,
                   w->c[i].z + r * latent, latent * sizeof *w->c[i].z);
    return !failed;
}

/* Runs chunks backward; the threads' gradients of the parameters [from, to) that they touch are
 * added up in the threads' order. */
static int encoder_gradient(work *w, train_step *s, const model *m, int keep, int which,
                            float *grad, size_t from, size_t to)
{
    int failed = 0;
#pragma omp parallel for num_threads(s->threads) schedule(static, 1)
    for (int t = 0; t < s->threads; t++) {
        float *own = t ? s->grad[t] : grad;
        memset(own + from, 0, (to - from) * sizeof *own);
        if (!run_thread(s, m, w->c, w->n, t, keep, which, own))
#pragma omp atomic write
            failed = 1;
    }
#pragma omp parallel for num_threads(s->threads) schedule(static, 1)
    for (int t = 0; t < s->threads; t++) {
        size_t first = from + (to - from) * (size_t)t / (size_t)s->threads;
        size_t end = from + (to - from) * ((size_t)t + 1) / (size_t)s->threads;
        for (int other = 1; other < s->threads; other++)
            nn_kernels_best()->add(grad + first, s->grad[other] + first, end - first);
    }
    return !failed;
}

/* The whole gradient. With several ranks the numeric encoder's parameters, which come first in the
 * array, are done first: their sum travels while the symbolic encoder is at work. */
static int gradient_all(work *w, train_step *s, const model *m, int keep, float *grad)
{
    size_t latent = (size_t)m->config.latent, border = m->symbolic.table;
    for (size_t i = 0; i < w->n; i++)
        for (size_t r = 0; r < w->c[i].rows; r++)
            memcpy(w->c[i].dz + r * latent,
                   w->drow[w->c[i].row[r].view] + w->c[i].row[r].variant * latent,
                   latent * sizeof *w->c[i].dz);
    if (ranks_count(s->ranks) == 1)
        return encoder_gradient(w, s, m, keep, BOTH, grad, 0, s->size);
    if (!encoder_gradient(w, s, m, keep, NUMERIC, grad, 0, border))
        return 0;
    ranks_sum_begin(s->ranks, grad, border);
    return encoder_gradient(w, s, m, keep, SYMBOLIC, grad, border, s->size);
}

/* The objective on the rows of all ranks; gradients of our own rows go to w->drow. Returns 0 when
 * memory is out. */
static int judge(work *w, train_step *s, const train_batch *b, const train_how *how, size_t latent,
                 train_terms *terms)
{
    int count = ranks_count(s->ranks), me = ranks_me(s->ranks);
    if (count == 1)
        return train_objective(terms,
                               &(train_rows){ .variant = b->variant,
                                              .variants = b->variants,
                                              .own_end = b->variants,
                                              .latent = latent,
                                              .row = w->row,
                                              .grad = w->drow },
                               how, s->plan);
    size_t *sizes = arena_array(s->plan, (size_t)count, sizeof *sizes), total = 0, first = 0;
    if (!sizes)
        return 0;
    ranks_share_size(s->ranks, b->variants, sizes);
    for (int r = 0; r < count; r++) {
        first += r < me ? sizes[r] : 0;
        total += sizes[r];
    }
    train_variant *variant = arena_array(s->plan, total, sizeof *variant);
    float *row[TRAIN_VIEWS], *drow[TRAIN_VIEWS];
    int good = variant != NULL;
    for (int v = 0; v < TRAIN_VIEWS && good; v++) {
        row[v] = arena_array(s->plan, total * latent, sizeof **row);
        drow[v] = arena_zero(s->plan, total * latent * sizeof **drow);
        good = row[v] && drow[v];
    }
    if (!good)
        return 0;
    ranks_gather_ints(s->ranks, &b->variant->item, &variant->item, sizes,
                      sizeof *variant / sizeof variant->item);
    for (int v = 0; v < TRAIN_VIEWS; v++)
        ranks_gather_floats(s->ranks, w->row[v], row[v], sizes, latent);
    const train_rows all = { variant, total, first, first + b->variants, latent, row, drow };
    if (!train_objective(terms, &all, how, s->plan))
        return 0;
    for (int v = 0; v < TRAIN_VIEWS; v++)
        memcpy(w->drow[v], drow[v] + first * latent, b->variants * latent * sizeof **drow);
    return 1;
}

snip_code train_step_gradient(train_step *s, const model *m, const train_batch *b,
                              const train_how *how, float *grad, train_terms *terms,
                              train_times *times, snip_status *st)
{
    double start = clock_now();
    work w;
    if (!nn_room(s->threads) || !plan_work(&w, s, m, b, times))
        return status_nomem(st);
    int keep = times->kept = w.bytes <= s->memory;
    if (!embed_all(&w, s, m, keep))
        return status_nomem(st);
    double embedded = clock_now();
    for (size_t i = 0; i < w.n; i++)
        times->embed += w.c[i].embed_seconds / s->threads;
    times->encode = embedded - start - times->embed;
    if (!judge(&w, s, b, how, (size_t)m->config.latent, terms))
        return status_nomem(st);
    double judged = clock_now();
    times->objective = judged - embedded;
    if (!gradient_all(&w, s, m, keep, grad))
        return status_nomem(st);
    if (how->cosine) { /* d/d(log scale) = scale * d/d(scale) */
        grad[m->scale_global] += (float)(terms->dscale_global * how->scale_global);
        grad[m->scale_local] += (float)(terms->dscale_local * how->scale_local);
    }
    ranks_sum_begin(s->ranks, grad + m->symbolic.table, m->size - m->symbolic.table);
    ranks_wait(s->ranks);
    times->backward = clock_now() - judged;
    return SNIP_OK;
}

snip_code train_step_embed(train_step *s, const model *m, const train_batch *b,
                           float *row[TRAIN_VIEWS], snip_status *st)
{
    work w;
    train_times unused;
    if (!plan_work(&w, s, m, b, &unused) || !embed_all(&w, s, m, 0))
        return status_nomem(st);
    memcpy(row, w.row, sizeof w.row);
    return SNIP_OK;
}
