/* rows.h - tables as rows for the numeric encoder: statistics first, then points. */
#ifndef MODEL_ROWS_H
#define MODEL_ROWS_H

#include "model/encode.h"

/* What the forward half keeps for the backward one. */
typedef struct model_rows_kept {
    float *point_hidden;                        /* (points of all tables, hidden) */
    float *summary_hidden[MODEL_SUMMARY_KINDS]; /* (tokens of the kind, hidden) */
} model_rows_kept;

/* Sets the rows of all tables in sum(n,d); table s has rows offsets[s] .. offsets[s + 1]. Returns 0
 * when memory is out. */
int model_rows_forward(const model *m, const model_tables *t, const size_t *offsets, float *sum,
                       model_rows_kept *keep, arena *a);

/* Adds the gradient of the embedder's parameters, given that of its rows. */
int model_rows_backward(const model *m, const model_tables *t, const size_t *offsets,
                        const model_rows_kept *keep, const float *dsum, float *grad, arena *tmp);

/* The profiles of the surfaces of all tables: (tables, MODEL_PROFILE_POINTS). NULL when memory is
 * out. */
float *model_rows_profiles(const model_tables *t, size_t tables, arena *a);

#endif
