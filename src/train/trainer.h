/* trainer.h - training runs that can be left alone: progress, log, checkpoints, exact resumption.
 *
 * A run lives in a folder:
 *     state.safetensors   weights, their moments and average, step: what --resume reads
 *     model.safetensors   the weights (or their average) with their configuration, for all else
 *     log.jsonl           a line every few steps
 *     curves.html         the same as curves
 *     lock                while a run is going on
 * Files are replaced whole, never written in place. */
#ifndef TRAIN_TRAINER_H
#define TRAIN_TRAINER_H

#include <jansson.h>
#include <signal.h>

#include "model/model.h"
#include "train/step.h"

typedef enum train_schedule {
    TRAIN_ISQRT,
    TRAIN_LINEAR,   /* down to 0 at the last step */
    TRAIN_CONSTANT, /* for ever, or from step `decay` on linearly down to 0 at the last */
} train_schedule;

typedef enum train_optimizer { TRAIN_ADAM, TRAIN_MUON } train_optimizer;

/* What is asked of the layers' products; auto: bf16 where the processor has it. */
typedef enum train_products { TRAIN_FLOAT32, TRAIN_BF16, TRAIN_AUTO } train_products;

/* What a step learns from, as far as it differs between the phases of a run. */
typedef struct train_phase {
    int stage;       /* train_stage */
    size_t points;   /* points per table, no more than the model's */
    size_t subtrees; /* subtrees per sample */
    int edits;       /* edits tried of each */
    double zoom;     /* share of samples that are seen in a small part of their inputs' range */
} train_phase;

/* A run begins with the first phase, whose keys are called first_stage, ..., and goes over to the
 * main one, which has the plain names, after train_config.first steps. */
enum { TRAIN_FIRST, TRAIN_MAIN, TRAIN_PHASES };

/* How a model is trained. Numbers that change the result; all are in the files' metadata. */
typedef struct train_config {
    train_phase phase[TRAIN_PHASES];
    uint64_t first; /* steps of the first phase */
    uint64_t steps, seed;
    size_t batch;      /* samples per step */
    uint64_t last;     /* the step from which on the next two are in force; 0: never */
    size_t last_batch; /* samples per step, 0: as before */
    double last_lr;    /* what stands for lr then, 0: as before; the schedule goes on */
    size_t rows;       /* statistics of half of the samples are of so many rows or more; 0: all */
    double noise; /* most noise on y, relative to its deviation; half of the tables are clean */
    double laws;  /* share of samples that are short laws in place of SNIP's expressions */
    double quantities;        /* share of these whose constants are inputs, too */
    const data_own_laws *own; /* a user's formulas among the samples; NULL: none */
    uint64_t formulas;        /* their hash, 0 for none: other formulas are another run */
    double formulas_share;    /* share of samples that are of them */
    double constant_edits; /* share of the edits that change a constant, in the exact view only */
    double forms_share;    /* share of samples in the form view; the model has forms = yes */
    double refits;         /* weight of the order of refitted forms (refits.h); 0: no lists */
    int schedule;          /* train_schedule */
    double lr, lr_start;   /* peak, and that of the first step */
    uint64_t warmup;       /* steps from lr_start to lr */
    uint64_t decay;        /* schedule constant: the step from which on lr falls; 0: never */
    double clip;           /* bound on the gradient's norm, 0: none */
    double beta1, beta2, eps;
    int optimizer;  /* train_optimizer: Adam for all, or Muon for the matrices of the layers */
    double muon_lr; /* peak of their learning rate; it rises and falls as lr does */
    int products;   /* train_products; how, not what: a run may change it and go on */
    double average; /* the model is a moving average of the weights that forgets this slowly; 0: it
                       is the weights of the last step */
    double tau_global, tau_local; /* temperatures of inner products */
    double scale_most;            /* most that the learned factors on cosines may become */
    double scale_exact;           /* most that they count in the exact view; 0: as in forms */
    double lambda;                /* weight of the local terms */
    double centre;                /* from step `decay` on: weight of the square of the gap between
                                     the centroids of formulas and tables */
} train_config;

/* The settings that go with a preset: the paper's, or those that suit small models. */
snip_code train_config_preset(train_config *out, const char *name, snip_status *st);

/* Its keys: what `--set` and the files' metadata know it by. */
extern const settings train_settings;

/* Sets a key from text; unknown keys fail with SNIP_FORMAT. */
snip_code train_config_set(train_config *c, const char *key, const char *value, snip_status *st);

snip_code train_config_check(const train_config *c, const model_config *m, snip_status *st);
json_t *train_config_json(const train_config *c);

/* Half of the steps, where there are no more of them than the warm-up takes. */
void train_shorten_warmup(train_config *c);

/* The learning rate of update t = 1, 2, ... */
double train_rate(const train_config *c, uint64_t t);

/* Samples of the step after `made` ones, and of all these. */
size_t train_batch_size(const train_config *c, uint64_t made);
uint64_t train_samples(const train_config *c, uint64_t made);

/* How the batch after `made` steps is drawn, and what its loss is made of. */
train_batch_how train_batch_of(const train_config *c, uint64_t made, rng_stream stream);
train_how train_how_of(const train_config *c, const model *m, uint64_t made, int threads);

/* What is used where so much was asked for; `has` are the bf16 products of this machine, or
 * NN_FLOAT32. Asking for what is not there fails with a sentence that says so. */
snip_code train_choose_products(nn_products *out, int asked, nn_products has, snip_status *st);

/* The processor as it is; or as one that has bf16 products, but slowly; or as one that has none. */
typedef enum train_processor {
    TRAIN_AS_IT_IS,
    TRAIN_WITH_BF16,
    TRAIN_WITHOUT_BF16
} train_processor;

/* What the caller wants to be told, and when to stop. */
typedef struct train_watch {
    void (*line)(void *context, const char *text); /* progress, a line without end */
    void (*warn)(void *context, const char *text); /* what should be seen in any case */
    void *context;
    const volatile sig_atomic_t *stop; /* set from outside: save and return */
    double log_seconds, save_seconds;  /* how often */
    uint64_t save_steps;               /* and at multiples of this step, 0: never */
    size_t check_pairs;                /* of the quick held-out check, 0: 256 */
    size_t memory;                     /* bytes for kept activations */
    int threads;
    train_processor processor; /* for tests: which one to act as */
    ranks *ranks;              /* of a run under mpirun, else NULL */
} train_watch;

/* What a run begins with; all zero: a new one, its weights drawn by the seed. */
typedef struct train_start {
    int resume;        /* go on with the folder's run */
    int overwrite;     /* a new run may take the place of one that the folder holds */
    int any_warmup;    /* c->warmup was not asked for: a run that goes on keeps its own */
    const model *init; /* weights of a new run, in a model of m's configuration, or of one without
                          slopes; or NULL */
    const char *taken, *taken_model; /* what a message adds where the folder holds a run, or only a
                                        model; NULL: nothing */
    /* What the metadata say of them, samples and seconds of all runs so far; NULL: nothing. */
    const char *init_name, *init_samples, *init_seconds;
} train_start;

/* The settings that a model was trained with, by its file's metadata; `path` is for messages. */
snip_code train_settings_of(train_config *out, const json_t *metadata, const char *path,
                            snip_status *st);

/* The settings of the run that folder `out` holds. c->own, the user's formulas, is left to the
 * caller: the state has their hash alone. */
snip_code train_run_settings(model_config *m, train_config *c, const char *out, snip_status *st);

/* Trains in folder `out` until c->steps are done or *stop is set. With start->resume it goes on
 * from the folder's state, which must have been made with the same settings (more steps are fine
 * while the schedule does not depend on them); without, the folder must hold neither a run nor a
 * model, unless start->overwrite is set. One run at a time: a second one in the folder fails. *done
 * is the last step made. A checkpoint that cannot be written is a warning and tried again when the
 * next is due; a second one in a row, or the last, is an error. */
snip_code train_run(const model_config *m, const train_config *c, const char *out,
                    const train_start *start, const train_watch *watch, uint64_t *done,
                    snip_status *st);

#endif
