/* pack.c - see pack.h. */
#include "model/pack.h"

#include <assert.h>
#include <string.h>

#include "model/slopes.h"

int model_pack_new(model_pack *p, const model *m, size_t formulas, size_t tokens, size_t rows,
                   arena *a)
{
    int values = m->vocab->values, slopes = m->config.slopes, surface = m->config.surface;
    *p = (model_pack){
        .pads = m->config.pooling == MODEL_POOL_PADS,
        .offsets = arena_array(a, formulas + 1, sizeof *p->offsets),
        .formulas = formulas,
        .tokens = tokens,
        .rows = rows,
        .token = arena_array(a, tokens, sizeof *p->token),
        .value = values ? arena_array(a, tokens, sizeof *p->value) : NULL,
        .path = arena_array(a, tokens, sizeof *p->path),
        .slope = slopes ? arena_array(a, tokens * MODEL_SLOPE_FEATURES, sizeof *p->slope) : NULL,
        .profile =
            surface ? arena_array(a, tokens * MODEL_PROFILE_FEATURES, sizeof *p->profile) : NULL,
        .span = arena_array(a, rows, sizeof *p->span)
    };
    if (!p->offsets || !p->token || !p->path || !p->span || (values && !p->value) ||
        (slopes && !p->slope) || (surface && !p->profile))
        return 0;
    p->offsets[0] = 0;
    p->f = (model_formulas){ .offsets = p->offsets,
                             .token = p->token,
                             .value = p->value,
                             .slope = p->slope,
                             .profile = p->profile,
                             .span = p->span };
    return 1;
}

void model_pack_formula(model_pack *p, const model_words *w)
{
    size_t at = p->offsets[p->f.count], n = w->tokens.count;
    assert(p->f.count < p->formulas && at + n <= p->tokens);
    assert(p->f.count == 0 || !p->f.path == !w->path);
    memcpy(p->token + at, w->tokens.id, n * sizeof *p->token);
    if (p->value)
        memcpy(p->value + at, w->tokens.value, n * sizeof *p->value);
    if (p->slope)
        memcpy(p->slope + at * MODEL_SLOPE_FEATURES, w->slope,
               n * MODEL_SLOPE_FEATURES * sizeof *p->slope);
    if (p->profile)
        memcpy(p->profile + at * MODEL_PROFILE_FEATURES, w->profile,
               n * MODEL_PROFILE_FEATURES * sizeof *p->profile);
    if (w->path) {
        memcpy(p->path + at, w->path, n * sizeof *p->path);
        p->f.path = p->path;
    }
    p->offsets[++p->f.count] = at + n;
}

/* SNIP pads every formula to DATA_SEQUENCE_MAX tokens and pools over the pads as well: they count
 * as so many more zero vectors in the softmax of the pooling (nn_pool_forward). A part of a formula
 * is pooled over its own tokens only, as the paper's span(s) says (16). A part never has the <EOS>
 * that a formula begins with, so the first token tells them apart. */
void model_pack_row(model_pack *p, size_t first, size_t end)
{
    size_t at = p->offsets[p->f.count - 1], n = p->offsets[p->f.count] - at;
    assert(p->f.rows < p->rows && first < end && end <= n && (first > 0 || end == n));
    size_t pads = p->pads && first == 0 ? DATA_SEQUENCE_MAX - n : 0;
    p->span[p->f.rows++] = (nn_span){ at + first, at + end, pads };
}
