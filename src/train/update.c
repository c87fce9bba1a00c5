/* update.c - see update.h. */
#include "train/update.h"

#include <math.h>

struct train_update {
    const train_config *c;
    int threads;
    nn_muon *muon;     /* NULL: Adam for all */
    nn_matrix *matrix; /* Muon's, in the order of their places */
    size_t matrices;
};

train_update *train_update_new(const model *m, const train_config *c, int threads, arena *a)
{
    train_update *u = arena_zero(a, sizeof *u);
    if (!u)
        return NULL;
    u->c = c;
    u->threads = threads;
    if (c->optimizer != TRAIN_MUON)
        return u;
    u->matrix = arena_array(a, m->tensors, sizeof *u->matrix);
    for (size_t k = 0; k < m->tensors && u->matrix; k++) {
        const model_tensor *t = &m->tensor[k];
        if (t->in_layer)
            u->matrix[u->matrices++] =
                (nn_matrix){ .offset = t->offset, .rows = t->rows, .cols = t->cols };
    }
    u->muon = u->matrix ? nn_muon_new(u->matrix, u->matrices, threads, a) : NULL;
    return u->muon ? u : NULL;
}

double train_update_apply(const train_update *u, model *m, float *moment1, float *moment2,
                          const float *grad, double norm, uint64_t t)
{
    const train_config *c = u->c;
    const nn_adam how = { .beta1 = (float)c->beta1,
                          .beta2 = (float)c->beta2,
                          .eps = (float)c->eps,
                          .clip = (float)c->clip };
    double rate = train_rate(c, t);
    /* Adam has what lies between Muon's matrices. */
    for (size_t k = 0, at = 0; k <= u->matrices; k++) {
        const nn_matrix *next = k < u->matrices ? &u->matrix[k] : NULL;
        size_t end = next ? next->offset : m->size;
        if (end > at)
            nn_adam_update(m->w + at, moment1 + at, moment2 + at, grad + at, end - at, &how, rate,
                           t, norm, u->threads);
        at = next ? end + next->rows * next->cols : end;
    }
    if (u->muon && !nn_muon_update(u->muon, m->w, moment1, grad, nn_clip_scale(c->clip, norm),
                                   c->muon_lr * rate / c->lr))
        return NAN;
    if (m->config.similarity == MODEL_COSINE) {
        float most = (float)log(c->scale_most);
        float *g = &m->w[m->scale_global], *l = &m->w[m->scale_local];
        *g = fminf(*g, most);
        *l = fminf(*l, most);
    }
    return rate;
}
