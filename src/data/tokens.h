/* tokens.h - what the two encoders read: a formula as words, points as float words. */
#ifndef DATA_TOKENS_H
#define DATA_TOKENS_H

#include "data/vocab.h"

enum { DATA_SEQUENCE_MAX = 200 }; /* positions of a formula, both <EOS> included */

/* A formula's tokens, <EOS> first and last. A number takes three, everything else one; in a
 * vocabulary of values a number takes one, too. */
typedef struct data_tokens {
    size_t count;
    uint16_t *id;  /* equation vocabulary */
    double *value; /* of the constants that are shown, NaN for all other tokens; NULL without
                      a vocabulary of values */
    int32_t *node; /* the node that a token belongs to, -1 for <EOS> */
    size_t nodes;
    int32_t *first, *end; /* the tokens [first, end) of a node's subtree */
    int32_t *parent;      /* of a node, -1 for the root */
    uint8_t *slot;        /* which child of its parent a node is: 1 or 2; 0 for the root */
} data_tokens;

/* Tokens of e, in `a`. Fails with SNIP_UNSUPPORTED for an operator or variable without a word, a
 * constant without float tokens, or more than DATA_SEQUENCE_MAX tokens. */
snip_code data_tokens_make(data_tokens *out, expr e, const data_vocab *v, arena *a,
                           snip_status *st);

/* Tokens of the core of a form (expr_canonical): constants that a refit may move are hidden, the
 * others shown. The first token is DATA_FORM. Needs a vocabulary of values. */
snip_code data_tokens_form(data_tokens *out, expr core, const data_vocab *v, arena *a,
                           snip_status *st);

/* How many tokens e has in SNIP's words, both <EOS> included. */
size_t data_tokens_count(expr e);

/* The child slots from the root to a node, in `path`, which has room for every node's depth.
 * Returns their number. */
size_t data_tokens_path(const data_tokens *t, size_t node, uint8_t *path);

#endif
