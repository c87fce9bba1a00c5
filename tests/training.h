/* training.h - models that are small enough for many training steps. */
#ifndef TRAINING_H
#define TRAINING_H

#include "support.h"

#include "train/trainer.h"

/* A model small enough for many steps. */
static inline model_config small_model(void)
{
    model_config c;
    model_config_preset(&c, "tiny", NULL);
    c.d = 32;
    c.ff = 64;
    c.latent = 16;
    c.channels = 1;
    c.embed = 4;
    return c;
}

/* Models that differ in all that a configuration can choose; test_train.c names the kinds. */
static inline model_config kind_of_model(int kind)
{
    model_config c = small_model();
    if (kind == 0) {
        c.similarity = MODEL_DOT;
        c.pooling = MODEL_POOL_PADS;
        c.norm = MODEL_POST_NORM;
        c.point_positions = 1;
    }
    c.values = kind == 2 || kind == 4 ? MODEL_FEATURES : MODEL_TOKENS;
    c.statistics = kind >= 3;
    c.points = kind == 3 || kind >= 6 ? 0 : c.points;
    c.constants = kind >= 5 ? MODEL_CONSTANT_VALUE : MODEL_CONSTANT_TOKENS;
    c.slopes = kind >= 5;
    c.forms = kind >= 6;
    c.surface = kind == 7;
    c.hidden = 16;
    c.atoms = 5;
    return c;
}

#endif
