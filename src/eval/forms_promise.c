/* forms_promise.c - the promise of a model (model/promise.h) learns what a fit will say.
 *
 * A task is a table with candidates whose digits after a fit are known: other laws and edits of the
 * truth, or forms that a library has for it. With p the places of the digits among the task's
 * candidates (0 the worst, 1 the best), y = p, but y = p^8 among forms of a library, and q the
 * network's answers, both less their mean over the task, the loss is the mean of (q - y)^2. So it
 * learns the order of a table's candidates, and not how good they are altogether. Of a library's
 * forms only the few at the top are ever fitted: the power makes their order count, not that of the
 * rest. Every fifth law is left out. Its tasks tell how well a network does: by the digits of the
 * best of the first five in look-ups, by the Spearman correlation of answers and digits in the
 * others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/text.h"
#include "eval/forms.h"
#include "nn/nn.h"

enum {
    TASKS = 16, /* of an update */
    ROWS = TASKS * FORMS_CANDIDATES,
    TIMES = 30,   /* that each task is seen, about */
    LEFT_OUT = 5, /* every so many-th law */
    FIRST = 5,    /* forms of a look-up that are judged */
    HIDDEN = MODEL_PROMISE_HIDDEN
};
static const double RATE = 2e-3, DECAY = 0.3; /* the rate falls linearly to 0 */
static const double TOP = 8;                  /* power of places in look-ups */

/* One network in training. What its layers answer to an update's rows is kept for the way back. */
typedef struct learner {
    size_t latent, inputs, weights;
    model_promise_parts at;
    float *w, *gradient, *m, *v;
    float *x, *inner, *dinner, *hidden, *dhidden; /* of an update */
    double q[ROWS], y[ROWS];
    size_t first[TASKS + 1]; /* rows of its tasks */
} learner;

static void take_off_mean(double *v, size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += v[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        v[i] -= mean;
}

/* Returns 0 when memory is out. */
static int draw_tasks(learner *l, const forms_task *const *task, size_t n, rng *r)
{
    l->first[0] = 0;
    for (int k = 0; k < TASKS; k++) {
        const forms_task *t = task[rng_below(r, (uint32_t)n)];
        size_t at = l->first[k];
        for (size_t i = 0; i < t->n; i++)
            model_promise_read(l->x + (at + i) * l->inputs, &t->facts[i], l->latent);
        if (!numbers_mean_ranks(l->y + at, t->digits, t->n))
            return 0;
        for (size_t i = at; i < at + t->n; i++)
            l->y[i] = pow(l->y[i] / (double)t->n, t->looked_up ? TOP : 1);
        take_off_mean(l->y + at, t->n);
        l->first[k + 1] = at + t->n;
    }
    return 1;
}

/* y = max(0, x w' + b) for the rows of x. Returns 0 when memory is out. */
static int layer(float *y, const float *x, const float *w, const float *b, size_t rows, size_t in)
{
    int good = nn_linear_forward(y, x, w, b, rows, in, HIDDEN, NN_FLOAT32);
    for (size_t i = 0; i < rows * HIDDEN && good; i++)
        y[i] = fmaxf(0, y[i]);
    return good;
}

/* What reaches a layer's units that were 0 goes no further. */
static void stop_at_zeros(float *dy, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dy[i] = y[i] > 0 ? dy[i] : 0;
}

/* q of all rows, and what the layers answer. Returns 0 when memory is out. */
static int answer(learner *l)
{
    const size_t n = l->inputs, rows = l->first[TASKS];
    const float *w = l->w, *out = w + l->at.o;
    if (!layer(l->inner, l->x, w + l->at.W, w + l->at.b, rows, n) ||
        !layer(l->hidden, l->inner, w + l->at.V, w + l->at.c, rows, HIDDEN))
        return 0;
    for (size_t i = 0; i < rows; i++) {
        l->q[i] = 0;
        for (size_t k = 0; k < n; k++)
            l->q[i] += (double)(w[k] * l->x[i * n + k]);
        for (size_t h = 0; h < HIDDEN; h++)
            l->q[i] += (double)(out[h] * l->hidden[i * HIDDEN + h]);
    }
    return 1;
}

/* Sets q and the gradient of the loss. Returns 0 when memory is out. */
static int gradient(learner *l)
{
    const size_t n = l->inputs, rows = l->first[TASKS];
    const float *out = l->w + l->at.o;
    float *d = l->gradient, *dout = d + l->at.o;
    if (!answer(l))
        return 0;
    for (int k = 0; k < TASKS; k++) {
        size_t first = l->first[k], count = l->first[k + 1] - first;
        take_off_mean(l->q + first, count);
        for (size_t i = first; i < first + count; i++)
            l->q[i] = 2 * (l->q[i] - l->y[i]) / (double)rows;
        take_off_mean(l->q + first, count); /* the mean has a derivative, too */
    }
    memset(d, 0, l->weights * sizeof *d);
    for (size_t i = 0; i < rows; i++) {
        float g = (float)l->q[i];
        for (size_t k = 0; k < n; k++)
            d[k] += g * l->x[i * n + k];
        for (size_t h = 0; h < HIDDEN; h++) {
            dout[h] += g * l->hidden[i * HIDDEN + h];
            l->dhidden[i * HIDDEN + h] = g * out[h];
        }
    }
    stop_at_zeros(l->dhidden, l->hidden, rows * HIDDEN);
    if (!nn_linear_backward(l->dinner, d + l->at.V, d + l->at.c, l->dhidden, l->inner,
                            l->w + l->at.V, rows, HIDDEN, HIDDEN, NN_FLOAT32))
        return 0;
    stop_at_zeros(l->dinner, l->inner, rows * HIDDEN);
    return nn_linear_backward(NULL, d + l->at.W, d + l->at.b, l->dinner, l->x, l->w + l->at.W, rows,
                              n, HIDDEN, NN_FLOAT32);
}

/* Weights of variance 1 / inputs. */
static void start(float *w, size_t n, size_t inputs, rng *r)
{
    for (size_t i = 0; i < n; i++)
        w[i] = (float)((2 * rng_uniform(r) - 1) * sqrt(3 / (double)inputs));
}

static learner *learner_new(size_t latent, rng *r, arena *a)
{
    learner *l = arena_zero(a, sizeof *l);
    if (!l)
        return NULL;
    l->latent = latent;
    l->inputs = model_promise_inputs(latent);
    l->weights = model_promise_weights(latent, HIDDEN);
    l->at = model_promise_layout(l->inputs, HIDDEN);
    l->w = arena_zero(a, l->weights * sizeof *l->w);
    l->gradient = arena_zero(a, l->weights * sizeof *l->w);
    l->m = arena_zero(a, l->weights * sizeof *l->w);
    l->v = arena_zero(a, l->weights * sizeof *l->w);
    l->x = arena_array(a, ROWS * l->inputs, sizeof *l->x);
    float **of_layers[] = { &l->inner, &l->dinner, &l->hidden, &l->dhidden };
    for (size_t k = 0; k < sizeof of_layers / sizeof *of_layers; k++)
        if (!(*of_layers[k] = arena_array(a, ROWS * HIDDEN, sizeof(float))))
            return NULL;
    if (!l->w || !l->gradient || !l->m || !l->v || !l->x)
        return NULL;
    /* l, b and c begin as 0. */
    start(l->w + l->at.W, HIDDEN * l->inputs, l->inputs, r);
    start(l->w + l->at.V, HIDDEN * HIDDEN, HIDDEN, r);
    start(l->w + l->at.o, HIDDEN, HIDDEN, r);
    return l;
}

/* Trains one network; *w lives in `a`. */
static snip_code train(const float **w, const forms_task *const *task, size_t n, size_t latent,
                       const eval_how *options, arena *a, snip_status *st)
{
    const nn_adam how = { .beta1 = 0.9f, .beta2 = 0.99f, .eps = 1e-8f };
    rng r;
    forms_rng(&r, options, FORMS_DRAW_PROMISE, latent > 0);
    const size_t updates = (n * TIMES + TASKS - 1) / TASKS;
    learner *l = learner_new(latent, &r, a);
    progress bar;
    if (!l)
        return status_nomem(st);
    progress_start(&bar, latent ? "promise" : "without space", updates, options->show);
    for (uint64_t t = 1; t <= updates; t++) {
        double rate = RATE * (1 - (double)(t - 1) / (double)updates);
        if (!draw_tasks(l, task, n, &r) || !gradient(l))
            return status_nomem(st);
        for (size_t i = 0; i < l->weights; i++)
            l->w[i] *= (float)(1 - rate * DECAY);
        nn_adam_update(l->w, l->m, l->v, l->gradient, l->weights, &how, rate, t, 0, 1);
        progress_at(&bar, t);
    }
    progress_end(&bar);
    *w = l->w;
    return SNIP_OK;
}

/* The most digits among the FIRST candidates by these answers. */
static double best_of_first(const forms_task *t, const double *answer)
{
    double best = 0;
    for (size_t k = 0; k < t->n; k++) {
        size_t before = 0;
        for (size_t i = 0; i < t->n; i++)
            before += answer[i] > answer[k] || (answer[i] == answer[k] && i < k);
        if (before < FIRST)
            best = fmax(best, t->digits[k]);
    }
    return best;
}

/* How well a network's answers do on tasks. */
static forms_quality quality(const forms_task *const *task, size_t n, const model_promise *p,
                             double (*value)(const model_promise *p, const model_promise_facts *f))
{
    double rho = 0, digits = 0, answer[FORMS_CANDIDATES];
    size_t looked_up = 0;
    for (size_t i = 0; i < n; i++) {
        const forms_task *t = task[i];
        for (size_t k = 0; k < t->n; k++)
            answer[k] = value(p, &t->facts[k]);
        double r = t->looked_up ? 0 : numbers_spearman(answer, t->digits, t->n);
        rho += isnan(r) ? 0 : r;
        digits += t->looked_up ? best_of_first(t, answer) : 0;
        looked_up += t->looked_up != 0;
    }
    return (forms_quality){ .spearman = n > looked_up ? rho / (double)(n - looked_up) : NAN,
                            .digits = looked_up ? digits / (double)looked_up : NAN };
}

snip_code forms_promise_learn(forms_promise *out, const forms_task *task, size_t n, size_t laws,
                              size_t latent, const eval_how *how, arena *a, snip_status *st)
{
    const forms_task **seen = arena_array(a, n + 1, sizeof(*seen));
    const forms_task **rest = arena_array(a, n + 1, sizeof(*rest));
    *out = (forms_promise){ .p = { .latent = latent, .hidden = HIDDEN } };
    if (!seen || !rest)
        return status_nomem(st);
    for (size_t i = 0; i < n; i++)
        if (task[i].n && i % laws % LEFT_OUT == LEFT_OUT - 1)
            rest[out->left_out++] = &task[i];
        else if (task[i].n)
            seen[out->tasks++] = &task[i];
    snip_code code = train(&out->p.with, seen, out->tasks, latent, how, a, st);
    if (code == SNIP_OK)
        code = train(&out->p.without, seen, out->tasks, 0, how, a, st);
    if (code == SNIP_OK) {
        out->with = quality(rest, out->left_out, &out->p, model_promise_value);
        out->without = quality(rest, out->left_out, &out->p, model_promise_without_space);
    }
    return code;
}

snip_code forms_promise_train(forms_promise *out, size_t laws, forms_context *c, arena *a,
                              snip_status *st)
{
    forms_set validation;
    forms_task *edits, *task = NULL;
    snip_code code = forms_set_make(&validation, c, FORMS_DRAW_VALIDATION, laws, st);
    size_t n = code == SNIP_OK ? validation.count : 0;
    if (code == SNIP_OK)
        code = forms_tasks(&edits, &validation, 1, c, st);
    if (code == SNIP_OK && !(task = arena_zero(c->a, (2 * n + 1) * sizeof *task)))
        code = status_nomem(st);
    if (code == SNIP_OK) {
        memcpy(task, edits, n * sizeof *task);
        code = forms_library_tasks(task + n, &validation, c, st);
    }
    if (code == SNIP_OK)
        code = forms_promise_learn(out, task, 2 * n, n, c->s->latent, c->how, a, st);
    return code;
}

json_t *forms_promise_json(const forms_promise *p)
{
    json_t *o =
        json_pack("{s:I,s:I}", "tasks", (json_int_t)p->tasks, "left_out", (json_int_t)p->left_out);
    json_object_set_new(o, "spearman", text_json_real(p->with.spearman));
    json_object_set_new(o, "without", text_json_real(p->without.spearman));
    json_object_set_new(o, "digits", text_json_real(p->with.digits));
    json_object_set_new(o, "digits_without", text_json_real(p->without.digits));
    return o;
}
