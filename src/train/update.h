/* update.h - one update of all parameters from their gradient, as a run's settings want it. */
#ifndef TRAIN_UPDATE_H
#define TRAIN_UPDATE_H

#include "train/trainer.h"

typedef struct train_update train_update;

/* For models of m's layout, in `a`; NULL when memory is out. `c` must live as long. */
train_update *train_update_new(const model *m, const train_config *c, int threads, arena *a);

/* Update t = 1, 2, ... of m->w. moment1 and moment2 are Adam's; where Muon acts, moment1 is its
 * momentum and moment2 is left alone. `norm` is the gradient's length. Returns the learning rate,
 * or NaN when memory is out: then w is of no use. */
double train_update_apply(const train_update *u, model *m, float *moment1, float *moment2,
                          const float *grad, double norm, uint64_t t);

#endif
