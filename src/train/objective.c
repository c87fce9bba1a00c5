/* objective.c - see objective.h. Numbers in brackets are the paper's equations.
 *
 * With M pairs (a_m, b_m) and similarities s_mn = a_m.b_n, the loss of one direction is (20)
 *
 *     I(A -> B) = -1/M sum_m log( exp(scale s_mm) / sum_n exp(scale s_mn) ),    scale = 1/tau
 *
 * and C(A, B) = (I(A -> B) + I(B -> A)) / 2 (1, 21). The objective of the last stage is
 * C(G^S, G^V) + C(C, P) + C(O, P) (22-24, 44); earlier stages leave rows out (25-43). We weigh the
 * last two terms by lambda (the paper: 1), may take cosines with a learned scale in place of inner
 * products, and may add the gap between the centroids of G^S and G^V, and the order of refitted
 * forms. */
#include "train/objective.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "nn/nn.h"
#include "train/refits.h"

/* Forms count as better from a tenth of a digit on; a difference of 0.1 between their cosines then
 * means odds of e^2. */
enum { REFITS_MARGIN = TRAIN_REFITS_UNIT / 10 };
static const double REFITS_SHARP = 20;

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

/* Picks the rows of a view. Returns 0 when memory is out. */
static int pick(picked *out, const train_rows *c, train_view view, int cosine, arena *a)
{
    const nn_kernels *kernel = nn_kernels_best();
    const float *matrix = c->row[view];
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
        if (cosine) {
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

/* Adds the gradient of the picked rows to that of the matrix. Of a row z = |z| u with the gradient
 * g for u it is (g - (g.u) u) / |z|: along u nothing changes u. */
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
 * originals and the anchor's own perturbations, as the normaliser of S2 and S3 has it (28). */
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
    double scale, exact;   /* the factor on similarities; in the exact view */
    double each;           /* weight of an anchor's loss, a half over n */
} duel;

/* The factor on the similarities of symbol i, all of which are in its view. */
static double scale_of(const duel *d, size_t i)
{
    return d->who->variant[d->a->from[i]].form ? d->scale : d->exact;
}

/* The loss of anchor i over the values that take part, -log softmax(scale s_i)[partner], a term of
 * (20) or (29); sets row i of ds to its gradient but for the scale, each * (softmax - 1 at the
 * partner). The largest similarity is taken off before exp: no sum overflows, none is 0. */
static double over_values(const duel *d, size_t i)
{
    const float *row = d->s + i * d->m;
    float *to = d->ds + i * d->m;
    double top = -INFINITY, sum = 0, scale = scale_of(d, i);
    for (size_t j = 0; j < d->m; j++)
        if (takes_part(d->who, d->a->from[i], d->b->from[j]) && (double)row[j] > top)
            top = (double)row[j];
    for (size_t j = 0; j < d->m; j++) {
        int part = takes_part(d->who, d->a->from[i], d->b->from[j]);
        double e = part ? exp(scale * ((double)row[j] - top)) : 0;
        sum += e;
        to[j] = (float)e;
    }
    float factor = (float)(d->each / sum);
    for (size_t j = 0; j < d->m; j++)
        to[j] *= factor;
    to[d->partner[i]] -= (float)d->each;
    return log(sum) - scale * ((double)row[d->partner[i]] - top);
}

/* The same for the partner of i over all symbols, (30) where edits have none, added to its column
 * of ds. `e` has n numbers. */
static double over_symbols(const duel *d, size_t i, double *e)
{
    size_t j = d->partner[i];
    double top = -INFINITY, sum = 0, scale = scale_of(d, i);
    for (size_t r = 0; r < d->n; r++)
        if (comparable(d->who, d->a->from[i], d->a->from[r]))
            top = fmax(top, (double)d->s[r * d->m + j]);
    for (size_t r = 0; r < d->n; r++) {
        int part = comparable(d->who, d->a->from[i], d->a->from[r]);
        e[r] = part ? exp(scale * ((double)d->s[r * d->m + j] - top)) : 0;
        sum += e[r];
    }
    for (size_t r = 0; r < d->n; r++)
        d->ds[r * d->m + j] += (float)(d->each * e[r] / sum);
    d->ds[i * d->m + j] -= (float)d->each;
    return log(sum) - scale * ((double)d->s[i * d->m + j] - top);
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

/* How one pair of views is compared. */
typedef struct terms_of {
    const contest *who;
    double scale, exact; /* factors on similarities: the learned one, that of the exact view */
    double weight;       /* of the term in the objective */
    size_t latent;
    int threads;
} terms_of;

/* C(A, B) in out[0], its directions in out[1] and out[2]. Adds weight times the gradients to
 * a->grad and b->grad,
 *
 *     dA = scale ds B,    dB = scale ds' A,    dscale = sum ds s,
 *
 * for our own rows only. Rows of the exact view may have a smaller factor, which is not learned.
 * Returns 0 when memory is out. */
static int contrast(double out[3], double *dscale, picked *a, picked *b, const terms_of *how,
                    arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t n = a->count, m = b->count, latent = how->latent, threads = (size_t)how->threads;
    if (n == 0) /* a small batch of forms may have none */
        return 1;
    float *s = arena_array(tmp, n * m, sizeof *s), *ds = arena_array(tmp, n * m, sizeof *ds);
    size_t *partner = arena_array(tmp, n, sizeof *partner);
    double *loss = arena_array(tmp, (threads + 2) * n, sizeof *loss);
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
                     .who = how->who,
                     .n = n,
                     .m = m,
                     .partner = partner,
                     .s = s,
                     .ds = ds,
                     .scale = how->scale,
                     .exact = how->exact,
                     .each = how->weight * 0.5 / (double)n };
    double forth = 0, back = 0;
    judge_anchors(&d, loss, loss + 2 * n, how->threads, &forth, &back);
    for (size_t i = 0; i < n; i++) {
        int learned = scale_of(&d, i) == d.scale, own = i >= a->first && i < a->end;
        for (size_t j = i * m; j < (i + 1) * m; j++) {
            if (!learned)
                ds[j] *= (float)(d.exact / d.scale);
            else if (own)
                *dscale += (double)ds[j] * (double)s[j];
        }
    }
    int good = nn_gemm(0, 0, a->end - a->first, latent, m, (float)how->scale, ds + a->first * m, m,
                       b->row, latent, 1, a->grad + a->first * latent, latent);
    good &= nn_gemm(1, 0, b->end - b->first, latent, n, (float)how->scale, ds + b->first, m, a->row,
                    latent, 1, b->grad + b->first * latent, latent);
    out[1] = forth / (double)n;
    out[2] = back / (double)n;
    out[0] = 0.5 * (out[1] + out[2]);
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

/* A list of forms and its tables, one as it is and one upside down: places among the picked. */
typedef struct refit_list {
    size_t form, forms, table, tables;
} refit_list;

/* Moves *at on to the next list: the forms of an item and its tables. Tables without forms, for
 * which there were no words, are passed over. Returns 0 at the end. */
static int next_list(refit_list *at, const picked *q, const picked *t, const train_variant *v)
{
    at->form += at->forms;
    at->table += at->tables;
    at->forms = at->tables = 0;
    if (at->form == q->count)
        return 0;
    int item = v[q->from[at->form]].item;
    while (at->table < t->count && v[t->from[at->table]].item != item)
        at->table++;
    while (at->form + at->forms < q->count && v[q->from[at->form + at->forms]].item == item)
        at->forms++;
    while (at->table + at->tables < t->count && v[t->from[at->table + at->tables]].item == item)
        at->tables++;
    return 1;
}

/* The loss of a list and its gradient, times `weight`: with s_i the similarity of form i to the
 * nearer of its tables, since nobody who uses the space knows which way up the form is,
 *
 *     mean over pairs where i has more digits than j of log(1 + exp(-sharp (s_i - s_j))).  */
static double order(const refit_list *l, picked *q, picked *t, const train_variant *v,
                    size_t latent, double weight)
{
    const nn_kernels *kernel = nn_kernels_best();
    double s[TRAIN_REFITS], ds[TRAIN_REFITS] = { 0 }, loss = 0;
    size_t nearer[TRAIN_REFITS] = { 0 }, pairs = 0;
    for (size_t i = 0; i < l->forms; i++) {
        s[i] = -INFINITY;
        for (size_t k = l->table; k < l->table + l->tables; k++) {
            double is =
                (double)kernel->dot(q->row + (l->form + i) * latent, t->row + k * latent, latent);
            nearer[i] = is > s[i] ? k : nearer[i];
            s[i] = fmax(s[i], is);
        }
    }
    for (size_t i = 0; i < l->forms; i++)
        for (size_t j = 0; j < l->forms; j++) {
            int more = v[q->from[l->form + i]].digits - v[q->from[l->form + j]].digits;
            if (more < REFITS_MARGIN)
                continue;
            double ahead = REFITS_SHARP * (s[i] - s[j]),
                   e = exp(-fabs(ahead)); /* never overflows */
            double slope = REFITS_SHARP * (ahead < 0 ? 1 : e) / (1 + e);
            loss += fmax(-ahead, 0) + log1p(e);
            ds[i] -= slope;
            ds[j] += slope;
            pairs++;
        }
    if (pairs == 0)
        return 0;
    for (size_t i = 0; i < l->forms; i++) {
        float g = (float)(weight * ds[i] / (double)pairs);
        for (size_t k = 0; k < latent; k++) {
            q->grad[(l->form + i) * latent + k] += g * t->row[nearer[i] * latent + k];
            t->grad[nearer[i] * latent + k] += g * q->row[(l->form + i) * latent + k];
        }
    }
    return loss / (double)pairs;
}

/* The mean loss of all lists. Returns 0 when memory is out. */
static int order_refits(double *out, const train_rows *r, const train_how *how, arena *tmp)
{
    picked q, t;
    refit_list at = { 0 };
    size_t lists = 0;
    int cosine = how->cosine;
    *out = 0;
    if (how->refits == 0)
        return 1;
    if (!pick(&q, r, TRAIN_REFIT_S, cosine, tmp) || !pick(&t, r, TRAIN_REFIT_V, cosine, tmp))
        return 0;
    while (next_list(&at, &q, &t, r->variant))
        lists++;
    at = (refit_list){ 0 };
    while (next_list(&at, &q, &t, r->variant))
        *out +=
            order(&at, &q, &t, r->variant, r->latent, how->refits / (double)lists) / (double)lists;
    put_back(r->grad[TRAIN_REFIT_S], &q, r->latent, cosine);
    put_back(r->grad[TRAIN_REFIT_V], &t, r->latent, cosine);
    return 1;
}

int train_objective(train_terms *out, const train_rows *r, const train_how *how, arena *tmp)
{
    *out = (train_terms){ 0 };
    arena_pos mark = arena_mark(tmp);
    int cosine = how->cosine, threads = how->threads > 0 ? how->threads : 1;
    size_t latent = r->latent;
    const contest everyone = { .everyone = 1, .variant = r->variant };
    const contest some = { .everyone = train_stage_of[how->stage].everyone,
                           .parts = 1,
                           .variant = r->variant };
    const double wholes = cosine ? how->scale_global : 1 / how->tau_global;
    const double parts = cosine ? how->scale_local : 1 / how->tau_local;
    const double most = cosine && how->scale_exact > 0 ? how->scale_exact : INFINITY;
    const terms_of global = { &everyone, wholes, fmin(wholes, most), 1, latent, threads };
    const terms_of local = { &some, parts, fmin(parts, most), how->lambda, latent, threads };
    double whole[3] = { 0 }, context[3] = { 0 }, alone[3] = { 0 };
    picked s, v;
    int good = pick(&s, r, TRAIN_GS, cosine, tmp) && pick(&v, r, TRAIN_GV, cosine, tmp) &&
               contrast(whole, &out->dscale_global, &s, &v, &global, tmp);
    if (good) {
        out->gap = gap(&s, &v, latent, how->centre);
        put_back(r->grad[TRAIN_GS], &s, latent, cosine);
        put_back(r->grad[TRAIN_GV], &v, latent, cosine);
    }
    if (good && train_uses(how->stage, TRAIN_C)) {
        good = pick(&v, r, TRAIN_P, cosine, tmp) && pick(&s, r, TRAIN_C, cosine, tmp) &&
               contrast(context, &out->dscale_local, &s, &v, &local, tmp);
        if (good)
            put_back(r->grad[TRAIN_C], &s, latent, cosine);
        if (good && train_uses(how->stage, TRAIN_O)) {
            good = pick(&s, r, TRAIN_O, cosine, tmp) &&
                   contrast(alone, &out->dscale_local, &s, &v, &local, tmp);
            if (good)
                put_back(r->grad[TRAIN_O], &s, latent, cosine);
        }
        if (good)
            put_back(r->grad[TRAIN_P], &v, latent, cosine);
    }
    good = good && order_refits(&out->refits, r, how, tmp);
    out->global = whole[0], out->global_sv = whole[1], out->global_vs = whole[2];
    out->context = context[0], out->context_sv = context[1], out->context_vs = context[2];
    out->standalone = alone[0], out->standalone_sv = alone[1], out->standalone_vs = alone[2];
    out->total = out->global + how->lambda * (out->context + out->standalone) +
                 how->centre * out->gap * out->gap + how->refits * out->refits;
    arena_reset(tmp, mark);
    return good;
}
