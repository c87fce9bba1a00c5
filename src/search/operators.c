/* operators.c - which operators a search may use. */
#include <string.h>

#include "base/status.h"
#include "search/search.h"

uint64_t search_operators_default(void)
{
    static const expr_op used[] = { EXPR_ADD,    EXPR_SUB,    EXPR_MUL,  EXPR_DIV, EXPR_POW,
                                    EXPR_SQRT,   EXPR_EXP,    EXPR_LOG,  EXPR_SIN, EXPR_COS,
                                    EXPR_ARCSIN, EXPR_ARCCOS, EXPR_TANH, EXPR_TAN, EXPR_ARCTAN };
    uint64_t set = 0;
    for (size_t k = 0; k < sizeof used / sizeof *used; k++)
        set |= UINT64_C(1) << used[k];
    return set;
}

snip_code search_operators_read(uint64_t *out, const char *text, snip_status *st)
{
    static const struct {
        char sign;
        expr_op op;
    } signs[] = { { '+', EXPR_ADD },
                  { '-', EXPR_SUB },
                  { '*', EXPR_MUL },
                  { '/', EXPR_DIV },
                  { '^', EXPR_POW } };
    uint64_t set = 0;
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, ",");
        int op = n ? expr_op_find(at, n) : -1;
        for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
            if (n == 1 && *at == signs[k].sign)
                op = (int)signs[k].op;
        if (op < 0 || expr_ops[op].arity == 0)
            return status_fail(st, SNIP_FORMAT, (size_t)(at - text), "there is no operator '%.*s'",
                               n > 40 ? 40 : (int)n, at);
        set |= UINT64_C(1) << op;
        at += n + (at[n] == ',');
    }
    if (set == 0)
        return status_fail(st, SNIP_FORMAT, 0, "no operator is left");
    *out = set;
    return SNIP_OK;
}
