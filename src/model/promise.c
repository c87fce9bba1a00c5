/* promise.c - see promise.h. */
#include "model/promise.h"

#include <math.h>
#include <string.h>

enum { HIDDEN_MOST = 1024 }; /* units of a layer in a file */

/* Inputs are brought to a size of about 1, so that their weights learn at one rate. */
static const float SHARE_SCALE = 3, FORM_SCALE = 0.3f;

static const char *const tensor_names[MODEL_PROMISE_NETWORKS] = { "promise.with_space",
                                                                  "promise.without_space" };

size_t model_promise_inputs(size_t latent)
{
    return MODEL_PROMISE_PLAIN + (latent ? 1 + 2 * latent : 0);
}

size_t model_promise_weights(size_t latent, size_t hidden)
{
    return model_promise_layout(model_promise_inputs(latent), hidden).o + hidden;
}

model_promise_parts model_promise_layout(size_t inputs, size_t hidden)
{
    model_promise_parts p = { .W = inputs };
    p.b = p.W + hidden * inputs;
    p.V = p.b + hidden;
    p.c = p.V + hidden * hidden;
    p.o = p.c + hidden;
    return p;
}

void model_promise_read(float *to, const model_promise_facts *f, size_t latent)
{
    float r = (float)f->correlation, root = sqrtf((float)latent);
    const float plain[MODEL_PROMISE_PLAIN] = { SHARE_SCALE * r, logf((float)f->nodes),
                                               SHARE_SCALE * powf(r, 4), SHARE_SCALE * powf(r, 16),
                                               (float)f->constants };
    memset(to, 0, model_promise_inputs(latent) * sizeof *to);
    memcpy(to, plain, sizeof plain);
    if (!latent || !f->form)
        return;
    to += MODEL_PROMISE_PLAIN;
    *to++ = SHARE_SCALE * (float)f->similarity;
    for (size_t i = 0; i < latent; i++) {
        to[i] = root * f->form[i] * f->table[i];
        to[latent + i] = FORM_SCALE * root * f->form[i];
    }
}

int model_promise_known(const model_promise *p)
{
    return p->with != NULL;
}

/* In eight sums, added up in a fixed order: the compiler may use vectors, and every machine gets
 * the same bits. */
static float dot(const float *a, const float *b, size_t n)
{
    enum { LANES = 8 };
    float sum[LANES] = { 0 }, rest = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        rest += a[i] * b[i];
    for (size_t k = 0; k < LANES; k++)
        rest += sum[k];
    return rest;
}

static double network(const float *w, size_t hidden, const model_promise_facts *f, size_t latent)
{
    enum { LATENT_MOST = 8192 }; /* what a configuration may ask for */
    float x[MODEL_PROMISE_PLAIN + 1 + 2 * LATENT_MOST], inner[HIDDEN_MOST];
    size_t n = model_promise_inputs(latent);
    if (!w || latent > LATENT_MOST)
        return NAN;
    const model_promise_parts p = model_promise_layout(n, hidden);
    model_promise_read(x, f, latent);
    double sum = (double)dot(w, x, n);
    for (size_t h = 0; h < hidden; h++)
        inner[h] = fmaxf(0, w[p.b + h] + dot(w + p.W + h * n, x, n));
    for (size_t h = 0; h < hidden; h++)
        sum +=
            (double)(w[p.o + h] * fmaxf(0, w[p.c + h] + dot(w + p.V + h * hidden, inner, hidden)));
    return sum;
}

double model_promise_value(const model_promise *p, const model_promise_facts *f)
{
    return network(p->with, p->hidden, f, p->latent);
}

double model_promise_without_space(const model_promise *p, const model_promise_facts *f)
{
    return network(p->without, p->hidden, f, 0);
}

/* The hidden units of a network with that many weights; 0: no network has so many. */
static size_t hidden_of(size_t weights, size_t latent)
{
    for (size_t hidden = 1; hidden <= HIDDEN_MOST; hidden++)
        if (model_promise_weights(latent, hidden) == weights)
            return hidden;
    return 0;
}

/* The weights of a tensor of floats of the right number, all finite; *out is NULL where it is not
 * one. Returns 0 when memory is out. */
static int take(const float **out, const safetensors_entry *e, size_t n, arena *a)
{
    *out = NULL;
    if (!e || strcmp(e->dtype, "F32") != 0 || e->rank != 1 || e->shape[0] != n)
        return 1;
    float *w = arena_array(a, n, sizeof *w);
    if (!w)
        return 0;
    memcpy(w, e->data, n * sizeof *w);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(w[i]))
            return 1;
    *out = w;
    return 1;
}

int model_promise_take(model_promise *out, const safetensors_file *file, const char *hash,
                       size_t latent, arena *a)
{
    const char *text = json_string_value(json_object_get(file->metadata, "promise"));
    json_t *o = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const char *of = json_string_value(json_object_get(o, "model"));
    int same = of && strcmp(of, hash) == 0;
    json_decref(o);
    *out = (model_promise){ .latent = latent };
    const safetensors_entry *with = safetensors_find(file, tensor_names[0]);
    if (!same || !with || with->rank != 1)
        return 1;
    out->hidden = hidden_of(with->shape[0], latent);
    if (!out->hidden)
        return 1;
    if (!take(&out->with, with, model_promise_weights(latent, out->hidden), a) ||
        !take(&out->without, safetensors_find(file, tensor_names[1]),
              model_promise_weights(0, out->hidden), a))
        return 0;
    if (!out->with || !out->without) /* both or none */
        *out = (model_promise){ .latent = latent };
    return 1;
}

void model_promise_entries(safetensors_entry to[MODEL_PROMISE_NETWORKS], const model_promise *p)
{
    const float *data[MODEL_PROMISE_NETWORKS] = { p->with, p->without };
    for (int k = 0; k < MODEL_PROMISE_NETWORKS; k++) {
        size_t n = model_promise_weights(k == 0 ? p->latent : 0, p->hidden);
        to[k] = (safetensors_entry){ .name = tensor_names[k],
                                     .dtype = "F32",
                                     .rank = 1,
                                     .shape = { n },
                                     .data = data[k],
                                     .bytes = n * sizeof **data };
    }
}

int model_promise_owns(const char *tensor)
{
    for (int k = 0; k < MODEL_PROMISE_NETWORKS; k++)
        if (strcmp(tensor, tensor_names[k]) == 0)
            return 1;
    return 0;
}
