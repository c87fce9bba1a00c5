/* pack.h - formulas one after the other in a chunk, as the encoder takes them.
 *
 *     model_pack p;
 *     model_pack_new(&p, m, formulas, tokens, rows, a);
 *     model_pack_formula(&p, &words);                  // the next sequence
 *     model_pack_row(&p, 0, words.tokens.count);       // a row: of the whole formula
 *     model_pack_row(&p, first, end);                  // another one: of a part
 *     model_formulas_embed(m, &p.f, z, tmp);           // z(rows, latent)
 *
 * Training and every other use of the encoder pack here, so they pad alike, too. */
#ifndef MODEL_PACK_H
#define MODEL_PACK_H

#include "model/encode.h"
#include "model/words.h"

typedef struct model_pack {
    model_formulas f; /* what has been packed so far */
    int pads;         /* whole formulas are pooled with SNIP's padding */
    /* f's arrays, with the room that they have. */
    size_t *offsets, formulas, tokens, rows;
    uint16_t *token;
    double *value;
    nn_path *path;
    float *slope, *profile;
    nn_span *span;
} model_pack;

/* An empty chunk with room, in `a`, for so many. Returns 0 when memory is out. */
int model_pack_new(model_pack *p, const model *m, size_t formulas, size_t tokens, size_t rows,
                   arena *a);

/* The next sequence. Either all formulas of a chunk have paths or none. */
void model_pack_formula(model_pack *p, const model_words *w);

/* A row of the last sequence's tokens [first, end): all of them, or those of a part, which is
 * without <EOS>. */
void model_pack_row(model_pack *p, size_t first, size_t end);

#endif
