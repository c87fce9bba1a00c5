/* objective.c - see objective.h. */
#include "train/objective.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "nn/nn.h"

#define ROW(name, tree, originals, edits, everyone) { tree, originals, edits, everyone },
const train_stage_row train_stage_of[TRAIN_STAGES] = { TRAIN_STAGE_LIST(ROW) };
#define NAME(name, tree, originals, edits, everyone) #name,
const char *const train_stage_names[] = { TRAIN_STAGE_LIST(NAME) NULL };

int train_reads(train_stage stage, train_view v, int k)
{
    const train_stage_row *s = &train_stage_of[stage];
    return (k == 0 ? s->originals : s->edits) >> v & 1;
}

/* Rows taken out of a matrix, normalised if asked. */
typedef struct picked {
    size_t count;
    size_t first, end; /* those of our own variants */
    size_t *from;      /* rows of the matrix */
    float *row, *grad, *length;
} picked;

/* Which rows to pick, and which of them are ours. */
typedef struct choice {
    const train_variant *variant;
    size_t variants, own_first, own_end, latent;
    int cosine;
} choice;

static int pick(picked *out, float *const *matrices, train_view view, const choice *c, arena *a)
{
    const nn_kernels *kernel = nn_kernels_best();
    const float *matrix = matrices[view];
    size_t variants = c->variants, latent = c->latent;
    out->count = out->first = out->end = 0;
    out->from = arena_array(a, variants, sizeof *out->from);
    out->row = arena_array(a, variants * latent, sizeof *out->row);
    out->grad = arena_zero(a, variants * latent * sizeof *out->grad);
    out->length = arena_array(a, variants, sizeof *out->length);
    if (!out->from || !out->row || !out->grad || !out->length)
        return 0;
    for (size_t i = 0; i < variants; i++) {
        if (!(c->variant[i].views >> view & 1))
            continue;
        float *to = out->row + out->count * latent;
        memcpy(to, matrix + i * latent, latent * sizeof *to);
        out->length[out->count] = 1;
        if (c->cosine) {
            float length = (float)sqrt(kernel->square_sum(to, latent)) + 1e-12f;
            for (size_t j = 0; j < latent; j++)
                to[j] /= length;
            out->length[out->count] = length;
        }
        out->from[out->count++] = i;
        if (i < c->own_first)
            out->first = out->count;
        if (i < c->own_end)
            out->end = out->count;
    }
    return 1;
}

/* Adds the gradient of the picked rows to that of the matrix. */
static void put_back(float *grad, const picked *p, size_t latent, int cosine)
{
    const nn_kernels *kernel = nn_kernels_best();
    for (size_t i = p->first; i < p->end; i++) {
        float *g = p->grad + i * latent, *to = grad + p->from[i] * latent;
        const float *hat = p->row + i * latent;
        float along = cosine ? kernel->dot(g, hat, latent) : 0;
        for (size_t j = 0; j < latent; j++)
            to[j] += (g[j] - along * hat[j]) / p->length[i];
    }
}

/* What decides whether column j takes part in anchor i's softmax over values: all of them, or the
 * originals and the anchor's own perturbations (S2, S3). */
typedef struct contest {
    int everyone;
    int parts; /* rows are of subtrees, not of parents */
    const train_variant *variant;
} contest;

/* Whether two rows may be held against each other: the same view, and not the same form. */
static int comparable(const contest *c, size_t one, size_t other)
{
    const train_variant *v = &c->variant[one], *w = &c->variant[other];
    if (v == w || (!v->form && !w->form))
        return 1;
    return v->form == w->form && (c->parts ? v->part != w->part : v->whole != w->whole);
}

static int takes_part(const contest *c, size_t anchor_variant, size_t variant)
{
    const train_variant *v = c->variant;
    return comparable(c, anchor_variant, variant) &&
           (c->everyone || v[variant].k == 0 || v[variant].item == v[anchor_variant].item);
}

/* One pair of views: n symbols against m values, among which are the partners of the symbols. */
typedef struct duel {
    const picked *a, *b;
    const contest *who;
    size_t n, m;
    const size_t *partner; /* of symbol i among the values */
    const float *s;        /* (n,m): similarities */
    float *ds;             /* the gradient for them */
    double scale, each;    /* each: weight of an anchor's loss, a half over n */
} duel;

/* The loss of anchor i over the values that take part, -log softmax(scale s_i)[partner]; sets row i
 * of ds to its gradient, each * (softmax - 1 at the partner). */
static double over_values(const duel *d, size_t i)
{
    const float *row = d->s + i * d->m;
    float *to = d->ds + i * d->m;
    double top = -INFINITY, sum = 0;
    for (size_t j = 0; j < d->m; j++)
        if (takes_part(d->who, d->a->from[i], d->b->from[j]) && (double)row[j] > top)
            top = (double)row[j];
    for (size_t j = 0; j < d->m; j++) {
        int part = takes_part(d->who, d->a->from[i], d->b->from[j]);
        double e = part ? exp(d->scale * ((double)row[j] - top)) : 0;
        sum += e;
        to[j] = (float)e;
    }
    float factor = (float)(d->each / sum);
    for (size_t j = 0; j < d->m; j++)
        to[j] *= factor;
    to[d->partner[i]] -= (float)d->each;
    return log(sum) - d->scale * ((double)row[d->partner[i]] - top);
}

/* The same for the partner of i over all symbols, added to its column of ds. `e` has n numbers. */
static double over_symbols(const duel *d, size_t i, double *e)
{
    size_t j = d->partner[i];
    double top = -INFINITY, sum = 0;
    for (size_t r = 0; r < d->n; r++)
        if (comparable(d->who, d->a->from[i], d->a->from[r]))
            top = fmax(top, (double)d->s[r * d->m + j]);
    for (size_t r = 0; r < d->n; r++) {
        int part = comparable(d->who, d->a->from[i], d->a->from[r]);
        e[r] = part ? exp(d->scale * ((double)d->s[r * d->m + j] - top)) : 0;
        sum += e[r];
    }
    for (size_t r = 0; r < d->n; r++)
        d->ds[r * d->m + j] += (float)(d->each * e[r] / sum);
    d->ds[i * d->m + j] -= (float)d->each;
    return log(sum) - d->scale * ((double)d->s[i * d->m + j] - top);
}

/* Both directions for all anchors, whose losses are added up in their order, whoever did them. */
static void judge_anchors(const duel *d, double *loss, double *tmp, int threads, double *forth,
                          double *back)
{
#pragma omp parallel num_threads(threads)
    {
        double *e = tmp + (size_t)omp_get_thread_num() * d->n;
#pragma omp for schedule(static)
        for (size_t i = 0; i < d->n; i++)
            loss[i] = over_values(d, i);
#pragma omp for schedule(static)
        for (size_t i = 0; i < d->n; i++) /* columns are different ones: nobody is in the way */
            loss[d->n + i] = over_symbols(d, i, e);
    }
    for (size_t i = 0; i < d->n; i++) {
        *forth += loss[i];
        *back += loss[d->n + i];
    }
}

/* Adds weight times the gradients to a->grad and b->grad. Returns 0 when memory is out. */
static int contrast(double *both, double *sv, double *vs, double *dscale, picked *a, picked *b,
                    size_t latent, const contest *who, double scale, double weight, int threads,
                    arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t n = a->count, m = b->count;
    if (n == 0) /* a small batch of forms may have none */
        return 1;
    float *s = arena_array(tmp, n * m, sizeof *s), *ds = arena_array(tmp, n * m, sizeof *ds);
    size_t *partner = arena_array(tmp, n, sizeof *partner);
    double *loss = arena_array(tmp, ((size_t)threads + 2) * n, sizeof *loss);
    if (!s || !ds || !partner || !loss) {
        arena_reset(tmp, mark);
        return 0;
    }
    for (size_t i = 0, j = 0; i < n; i++) { /* both lists go up, and b has all of a's variants */
        while (b->from[j] != a->from[i])
            j++;
        partner[i] = j;
    }
    if (!nn_gemm(0, 1, n, m, latent, 1, a->row, latent, b->row, latent, 0, s, m)) {
        arena_reset(tmp, mark);
        return 0;
    }
    const duel d = { .a = a,
                     .b = b,
                     .who = who,
                     .n = n,
                     .m = m,
                     .partner = partner,
                     .s = s,
                     .ds = ds,
                     .scale = scale,
                     .each = weight * 0.5 / (double)n };
    double forth = 0, back = 0;
    judge_anchors(&d, loss, loss + 2 * n, threads, &forth, &back);
    for (size_t i = a->first * m; i < a->end * m; i++)
        *dscale += (double)ds[i] * (double)s[i];
    int good = nn_gemm(0, 0, a->end - a->first, latent, m, (float)scale, ds + a->first * m, m,
                       b->row, latent, 1, a->grad + a->first * latent, latent);
    good &= nn_gemm(1, 0, b->end - b->first, latent, n, (float)scale, ds + b->first, m, a->row,
                    latent, 1, b->grad + b->first * latent, latent);
    *sv = forth / (double)n;
    *vs = back / (double)n;
    *both = 0.5 * (*sv + *vs);
    arena_reset(tmp, mark);
    return good;
}

/* The distance of the two kinds' centroids; adds the gradient of weight times its square. */
static double gap(picked *a, picked *b, size_t latent, double weight)
{
    double square = 0;
    for (size_t j = 0; j < latent; j++) {
        double mean[2] = { 0 };
        for (size_t i = 0; i < a->count; i++)
            mean[0] += (double)a->row[i * latent + j] / (double)a->count;
        for (size_t i = 0; i < b->count; i++)
            mean[1] += (double)b->row[i * latent + j] / (double)b->count;
        double between = mean[0] - mean[1];
        square += between * between;
        for (size_t i = a->first; i < a->end; i++)
            a->grad[i * latent + j] += (float)(2 * weight * between / (double)a->count);
        for (size_t i = b->first; i < b->end; i++)
            b->grad[i * latent + j] -= (float)(2 * weight * between / (double)b->count);
    }
    return sqrt(square);
}

int train_objective(train_terms *out, float *const grad[TRAIN_VIEWS], float *const row[TRAIN_VIEWS],
                    const train_variant *variant, size_t variants, size_t own_first, size_t own_end,
                    size_t latent, const train_how *how, arena *tmp)
{
    *out = (train_terms){ 0 };
    arena_pos mark = arena_mark(tmp);
    int cosine = how->cosine, threads = how->threads > 0 ? how->threads : 1;
    double global = cosine ? how->scale_global : 1 / how->tau_global;
    double local = cosine ? how->scale_local : 1 / how->tau_local;
    contest everyone = { .everyone = 1, .variant = variant };
    contest some = { .everyone = train_stage_of[how->stage].everyone,
                     .parts = 1,
                     .variant = variant };
    const choice which = { .variant = variant,
                           .variants = variants,
                           .own_first = own_first,
                           .own_end = own_end,
                           .latent = latent,
                           .cosine = cosine };
    picked s, v;
    int good = pick(&s, row, TRAIN_GS, &which, tmp) && pick(&v, row, TRAIN_GV, &which, tmp) &&
               contrast(&out->global, &out->global_sv, &out->global_vs, &out->dscale_global, &s, &v,
                        latent, &everyone, global, 1, threads, tmp);
    if (good) {
        out->gap = gap(&s, &v, latent, how->centre);
        put_back(grad[TRAIN_GS], &s, latent, cosine);
        put_back(grad[TRAIN_GV], &v, latent, cosine);
    }
    if (good && train_uses(how->stage, TRAIN_C)) {
        good = pick(&v, row, TRAIN_P, &which, tmp) && pick(&s, row, TRAIN_C, &which, tmp) &&
               contrast(&out->context, &out->context_sv, &out->context_vs, &out->dscale_local, &s,
                        &v, latent, &some, local, how->lambda, threads, tmp);
        if (good)
            put_back(grad[TRAIN_C], &s, latent, cosine);
        if (good && train_uses(how->stage, TRAIN_O)) {
            good = pick(&s, row, TRAIN_O, &which, tmp) &&
                   contrast(&out->standalone, &out->standalone_sv, &out->standalone_vs,
                            &out->dscale_local, &s, &v, latent, &some, local, how->lambda, threads,
                            tmp);
            if (good)
                put_back(grad[TRAIN_O], &s, latent, cosine);
        }
        if (good)
            put_back(grad[TRAIN_P], &v, latent, cosine);
    }
    out->total = out->global + how->lambda * (out->context + out->standalone) +
                 how->centre * out->gap * out->gap;
    arena_reset(tmp, mark);
    return good;
}
