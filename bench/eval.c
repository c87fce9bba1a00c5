/* eval.c - nanoseconds per node and point, beside a plain scalar loop over the C library. */
#include "bench.h"

#include <math.h>

#include "base/clock.h"
#include "base/isa.h"
#include "data/gen.h"

enum { EXPRESSIONS = 500 };

/* The value of the tree at row i, the way one would write it first. tests/test_eval.c has a twin of
 * it: a reference is of use only if it shares nothing. */
static double scalar_value(expr e, size_t at, const double *const *x, size_t i)
{
    const expr_node *n = &e.node[at];
    if (n->op == EXPR_NUMBER)
        return n->value;
    if (n->op == EXPR_VARIABLE)
        return x[n->var][i];
    double a = scalar_value(e, at + 1, x, i);
    double b = expr_ops[n->op].arity == 2 ? scalar_value(e, expr_child(e, at, 1), x, i) : 0;
    switch (n->op) {
    case EXPR_ADD:
        return a + b;
    case EXPR_SUB:
        return a - b;
    case EXPR_MUL:
        return a * b;
    case EXPR_ABS:
        return fabs(a);
    case EXPR_INV:
        return a == 0 ? NAN : 1 / a;
    case EXPR_SQRT:
        return sqrt(a);
    case EXPR_LOG:
        return a > 0 ? log(a) : NAN;
    case EXPR_EXP:
        return exp(a);
    case EXPR_SIN:
        return sin(a);
    case EXPR_COS:
        return cos(a);
    case EXPR_TAN:
        return tan(a);
    case EXPR_ARCTAN:
        return atan(a);
    case EXPR_POW2:
        return a * a;
    default: /* POW3: the generator makes no others */
        return a * a * a;
    }
}

json_t *bench_eval(double seconds)
{
    arena *a = arena_new(0);
    data_sample *s = a ? arena_array(a, EXPRESSIONS, sizeof *s) : NULL;
    double *y = s ? arena_array(a, DATA_POINTS, sizeof *y) : NULL;
    const data_gen gen = { .dims = DATA_DIMS_MAX, .points = DATA_POINTS };
    long nodes = 0;
    for (int k = 0; k < EXPRESSIONS && y; k++) {
        if (data_sample_draw(&s[k], &gen, 1, RNG_BENCH, (uint64_t)k, a) != SNIP_OK)
            y = NULL;
        else
            nodes += (long)s[k].e.count;
    }
    if (!y) {
        arena_free(a);
        return NULL;
    }
    /* Interleaved, the best of each: noise only adds. */
    double ours = INFINITY, scalar = INFINITY, start = clock_now();
    double sink = 0;
    do {
        double t0 = clock_now();
        for (int k = 0; k < EXPRESSIONS; k++)
            expr_eval(s[k].e, s[k].x, s[k].points, y, a);
        double t1 = clock_now();
        for (int k = 0; k < EXPRESSIONS; k++)
            for (size_t i = 0; i < s[k].points; i++)
                sink += scalar_value(s[k].e, 0, s[k].x, i);
        double t2 = clock_now();
        ours = fmin(ours, t1 - t0);
        scalar = fmin(scalar, t2 - t1);
    } while (clock_now() - start < seconds);
    double work = (double)nodes * DATA_POINTS;
    json_t *o =
        json_pack("{s:s,s:s,s:i,s:f,s:f,s:f,s:b}", "bench", "eval", "isa", isa_name(isa_best()),
                  "expressions", EXPRESSIONS, "nanoseconds_per_node_and_point", 1e9 * ours / work,
                  "scalar_nanoseconds_per_node_and_point", 1e9 * scalar / work, "ratio_to_scalar",
                  scalar / ours, "finite", isfinite(sink));
    arena_free(a);
    return o;
}
