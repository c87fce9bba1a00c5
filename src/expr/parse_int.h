/* parse_int.h - what the readers of the notations share: the text, the nodes so far, the first
 * failure. A function that adds a node returns its place in the pool, or -1 after a failure. */
#ifndef EXPR_PARSE_INT_H
#define EXPR_PARSE_INT_H

#include "expr/expr_int.h"

/* The names met where every name may be a variable. */
typedef struct names_met {
    const char **name;
    size_t count, room;
} names_met;

typedef struct parser {
    const char *text;
    size_t pos;
    int nesting;
    const expr_names *names;
    names_met *met; /* NULL: only `names` are variables */
    expr_pool pool;
    arena *a;
    snip_status *st;
    int failed;
} parser;

/* The notations: p->text as a tree. LaTeX is read as infix. */
snip_code parse_infix(expr *out, parser *p);
snip_code parse_prefix(expr *out, parser *p);

/* Return -1. Of several failures the first is the one to report. */
__attribute__((format(printf, 3, 4))) int parse_fail(parser *p, size_t pos, const char *format,
                                                     ...);
int parse_nomem(parser *p);

/* `what` 'text' is none of ours: says so, and which names there are, as many as a line holds. */
int parse_unknown(parser *p, size_t pos, const char *what, const char *text, size_t length);

int parse_node(parser *p, expr_node node, int kid1, int kid2);
int parse_op(parser *p, expr_op op, int kid1, int kid2);
int parse_value(parser *p, double value, int integer, size_t pos);

/* The variable called text[0..length), or -1. A name of the table goes first; x0, x1, ... count its
 * columns unless it has other columns of such names, which would make them ambiguous. */
int parse_find(const parser *p, const char *text, size_t length);

/* A node for what parse_find found; and for the variable called text[0..length), numbered by the
 * order in which names are met. */
int parse_variable(parser *p, int index, size_t pos);
int parse_met(parser *p, const char *text, size_t length, size_t pos);

/* Length of the number at `s` (no sign), 0 if there is none. */
size_t parse_digits(const char *s, int *integer);

/* Length of the sign at `s` that Unicode has beside an ASCII one, and is no part of a name; 0 if
 * there is none. *plain is * or / for an operator, a digit or - for a raised one. */
size_t parse_sign(const char *s, char *plain);

int parse_name_start(char c);
int parse_name_part(char c);

/* Length of the name at `s`: as much as a column is called, else what ends before the first sign of
 * Unicode, or behind a π that begins it. */
size_t parse_name_length(const parser *p, const char *s);

int parse_is_word(const char *s, size_t length);

#endif
