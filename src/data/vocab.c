/* vocab.c - see vocab.h. */
#include "data/vocab.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const specials[DATA_SPECIALS] = {
    "<EOS>",     "<X>",         "</X>",         "<Y>",           "</Y>",
    "</POINTS>", "<INPUT_PAD>", "<OUTPUT_PAD>", "<PAD>",         "(",
    ")",         "SPECIAL",     "OOD_unary_op", "OOD_binary_op", "OOD_constant",
};

/* Symbols that are neither operators, integers nor variables. */
static const char *const other_symbols[] = { "CONSTANT", "FLOAT+", "FLOAT-", "INT+",
                                             "INT-",     "rand",   "|" };

enum { WORD = 16, FLOATS = 2 + 2 * DATA_EXPONENT_MAX + 1 + 10000, SYMBOLS_MAX = 64 };

typedef struct word_list {
    const char **word;
    int count, most;
    char *room; /* WORD bytes per word still to come */
} word_list;

__attribute__((format(printf, 2, 3))) static void add_word(word_list *l, const char *format, ...)
{
    va_list args;
    assert(l->count < l->most);
    va_start(args, format);
    vsnprintf(l->room, WORD, format, args);
    va_end(args);
    l->word[l->count++] = l->room;
    l->room += WORD;
}

static int by_code_point(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_from(word_list *l, int first)
{
    qsort(l->word + first, (size_t)(l->count - first), sizeof *l->word, by_code_point);
}

static int open_list(word_list *l, int most, arena *a)
{
    *l = (word_list){ .most = most,
                      .word = arena_array(a, (size_t)most, sizeof *l->word),
                      .room = arena_array(a, (size_t)most, WORD) };
    if (!l->word || !l->room)
        return 0;
    for (int i = 0; i < DATA_SPECIALS; i++)
        add_word(l, "%s", specials[i]);
    return 1;
}

/* The last id of a word in a list, as SNIP's dictionaries have it. */
static uint16_t last_id(const word_list *l, const char *word)
{
    for (int i = l->count; i-- > 0;)
        if (strcmp(l->word[i], word) == 0)
            return (uint16_t)i;
    abort(); /* every word looked up here has just been put in */
}

static void index_floats(data_vocab *v, const word_list *l)
{
    char word[WORD];
    v->sign[0] = last_id(l, "+");
    v->sign[1] = last_id(l, "-");
    v->mantissa = last_id(l, "N0000");
    for (int e = -DATA_EXPONENT_MAX; e <= DATA_EXPONENT_MAX; e++) {
        snprintf(word, sizeof word, "E%d", e);
        v->exponent[e + DATA_EXPONENT_MAX] = last_id(l, word);
    }
}

static void index_symbols(data_vocab *v, const word_list *l)
{
    char word[WORD];
    for (int op = EXPR_PI; op < EXPR_VOCABULARY_END; op++)
        v->op[op] = last_id(l, expr_ops[op].name);
    for (int i = -DATA_INTEGER_MAX; i <= DATA_INTEGER_MAX; i++) {
        snprintf(word, sizeof word, "%d", i);
        v->integer[i + DATA_INTEGER_MAX] = last_id(l, word);
    }
    for (int i = 0; i < v->dims; i++) {
        snprintf(word, sizeof word, "x_%d", i);
        v->variable[i] = last_id(l, word);
    }
}

const data_vocab *data_vocab_new(int dims, arena *a)
{
    data_vocab *v = arena_zero(a, sizeof *v);
    word_list f, s;
    if (!v || !open_list(&f, DATA_SPECIALS + FLOATS, a) ||
        !open_list(&s, 2 * DATA_SPECIALS + SYMBOLS_MAX + FLOATS, a))
        return NULL;
    add_word(&f, "+");
    add_word(&f, "-");
    for (int e = -DATA_EXPONENT_MAX; e <= DATA_EXPONENT_MAX; e++)
        add_word(&f, "E%d", e);
    for (int n = 0; n < 10000; n++)
        add_word(&f, "N%04d", n);
    sort_from(&f, DATA_SPECIALS);

    for (int op = EXPR_PI; op < EXPR_VOCABULARY_END; op++)
        add_word(&s, "%s", expr_ops[op].name);
    for (int i = -DATA_INTEGER_MAX; i <= DATA_INTEGER_MAX; i++)
        add_word(&s, "%d", i);
    for (int i = 0; i < dims; i++)
        add_word(&s, "x_%d", i);
    for (size_t i = 0; i < sizeof other_symbols / sizeof *other_symbols; i++)
        add_word(&s, "%s", other_symbols[i]);
    sort_from(&s, DATA_SPECIALS);

    v->dims = dims;
    v->shift = s.count;
    v->eos = v->shift + DATA_EOS;
    v->zero_row = v->shift + DATA_PAD;
    index_symbols(v, &s);
    index_floats(v, &f);
    memcpy(s.word + s.count, f.word, (size_t)f.count * sizeof *f.word);
    v->float_word = f.word;
    v->float_words = f.count;
    v->equation_word = s.word;
    v->equation_words = s.count + f.count;
    return v;
}

const data_vocab *data_vocab_new_values(int dims, arena *a)
{
    data_vocab *v = (data_vocab *)data_vocab_new(dims, a);
    if (!v)
        return NULL;
    const word_list symbols = { .word = v->equation_word, .count = v->shift };
    v->values = 1;
    v->equation_words = v->shift;
    v->eos = DATA_EOS;
    v->zero_row = DATA_PAD;
    v->shown = last_id(&symbols, "FLOAT+");
    v->hidden = last_id(&symbols, "CONSTANT");
    return v;
}

int data_vocab_float(const data_vocab *v, double value, uint16_t id[3])
{
    data_float f;
    if (!data_float_split(value, &f))
        return 0;
    id[0] = v->sign[f.negative];
    id[1] = (uint16_t)(v->mantissa + f.mantissa);
    id[2] = v->exponent[f.exponent + DATA_EXPONENT_MAX];
    return 1;
}
