/* vocab.h - SNIP's two vocabularies, with its ids.
 *
 * Float words: 15 special words, then signs, exponents and mantissas in code-point order.
 * Equation words: the special words again, the symbols in code-point order, then the whole float
 * list, so that an equation id of a float word is its float id plus `shift`. */
#ifndef DATA_VOCAB_H
#define DATA_VOCAB_H

#include <stdint.h>

#include "base/arena.h"
#include "data/floats.h"
#include "data/gen.h"

/* The special words, at the head of both lists. */
typedef enum data_special {
    DATA_EOS = 0,
    DATA_INPUT_PAD = 6,
    DATA_PAD = 8,
    DATA_FORM = 11, /* SNIP's SPECIAL, which it never uses: the first word of a form */
    DATA_SPECIALS = 15
} data_special;

enum { DATA_INTEGER_MAX = 10 }; /* -10 .. 10 have words of their own */

typedef struct data_vocab {
    int dims;   /* largest input dimension: x_0 .. x_(dims-1) have words */
    int values; /* a constant is one word beside its value, not three float words */
    int float_words, equation_words;
    const char **float_word, **equation_word; /* by id */
    int shift;                                /* equation id minus float id */
    int eos;                                  /* of a formula: the last id of <EOS> */
    int zero_row;                             /* of a formula's <PAD>: its embedding is zero */
    uint16_t sign[2];                         /* float ids of + and - */
    uint16_t mantissa;                        /* of N0000; the others follow */
    uint16_t exponent[2 * DATA_EXPONENT_MAX + 1];
    uint16_t op[EXPR_OP_COUNT]; /* equation ids; 0 where there is none */
    uint16_t integer[2 * DATA_INTEGER_MAX + 1];
    uint16_t variable[DATA_DIMS_MAX];
    uint16_t shown,
        hidden; /* with `values`: a constant of known value, and one that may have any */
} data_vocab;

/* Makes the vocabularies in `a`. NULL when memory is out. */
const data_vocab *data_vocab_new(int dims, arena *a);

/* The same symbols without the float words: a constant is one word, and its value stands beside
 * it (data_tokens.value). Two of SNIP's words that no formula uses stand for constants. */
const data_vocab *data_vocab_new_values(int dims, arena *a);

/* The float ids of v: sign, mantissa, exponent. Returns 0 if v has none. */
int data_vocab_float(const data_vocab *v, double value, uint16_t id[3]);

#endif
