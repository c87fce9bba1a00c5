/* cases.c - see cases.h. */
#include "eval/cases.h"

#include <math.h>
#include <string.h>

#include "base/streams.h"
#include "data/corpora.h"
#include "data/gen.h"

enum { INPUTS = 5 };

/* Adds formula e on its table unless it makes no task (a constant target, say). */
static int add(eval_case *c, size_t *n, expr e, const regress_table *table, uint64_t seed, arena *a)
{
    snip_status st;
    snip_code code = regress_problem_make(&c[*n].p, table, seed, a, &st);
    c[*n].e = e;
    *n += code == SNIP_OK;
    return code != SNIP_NOMEM;
}

/* Whether the function of case n is among those before it. */
static int is_there(const eval_case *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(c[i].function, c[n].function) == 0)
            return 1;
    return 0;
}

static int add_corpus(eval_case *c, size_t *n, const data_corpus *k, const data_vocab *vocab,
                      uint64_t seed, arena *a)
{
    for (size_t i = 0; i < k->count; i++) {
        const data_formula *f = &k->formula[i];
        const double **x;
        double *y;
        size_t rows;
        expr normal;
        snip_status st;
        c[*n].function = data_formula_function(f);
        if (is_there(c, *n))
            continue;
        snip_code code = data_formula_sample(
            &x, &y, &rows, k, i, &(data_design){ DATA_SAMPLE_RANGE, DATA_POINTS, seed }, a, &st);
        if (code == SNIP_OK)
            code = data_formula_usable(&normal, f, y, rows, vocab, a, &st);
        if (code == SNIP_NOMEM)
            return 0;
        const regress_table table = { f->names.count, rows, f->names.name, x, y };
        c[*n].source = k->name;
        if (code == SNIP_OK && !add(c, n, f->e, &table, seed, a))
            return 0;
    }
    return 1;
}

static int add_generated(eval_case *c, size_t *n, size_t i, uint64_t seed, arena *a)
{
    static const char *const names[] = { "x0", "x1", "x2", "x3", "x4" };
    const data_gen gen = { .dims = INPUTS, .points = DATA_POINTS };
    data_sample s;
    if (data_sample_draw(&s, &gen, seed, RNG_BENCH, streams_index(STREAMS_CASES, i), a) != SNIP_OK)
        return 0;
    const regress_table table = { (size_t)s.dim, s.points, names, s.x, s.y };
    c[*n].source = "generated";
    c[*n].function = NULL;
    return add(c, n, s.e, &table, seed, a);
}

/* All cases. Returns their number, or (size_t)-1 when memory is out. */
static size_t make_cases(eval_case **out, const data_vocab *vocab, size_t generated, uint64_t seed,
                         arena *a)
{
    data_corpus corpus[DATA_CORPORA];
    size_t room = generated, n = 0;
    for (int k = 0; k < DATA_CORPORA; k++) {
        if (data_corpus_builtin(&corpus[k], data_corpus_names[k], a, NULL) != SNIP_OK)
            return (size_t)-1;
        room += corpus[k].count;
    }
    eval_case *c = *out = arena_zero(a, (room + 1) * sizeof *c);
    int good = c != NULL;
    for (int k = 0; k < DATA_CORPORA && good; k++)
        good = add_corpus(c, &n, &corpus[k], vocab, seed, a);
    for (size_t i = 0; i < generated && good; i++)
        good = add_generated(c, &n, i, seed, a);
    return good ? n : (size_t)-1;
}

/* The object at `group` of o, made where there is none; o itself for NULL. */
static json_t *group_in(json_t *o, const char *group)
{
    if (group && !json_object_get(o, group))
        json_object_set_new(o, group, json_object());
    return group ? json_object_get(o, group) : o;
}

/* Figures of cases [from, to); value[v * all + case]. */
static json_t *figures(const eval_case_suite *suite, const double *value, size_t all, size_t from,
                       size_t to, uint64_t seed)
{
    json_t *o = json_object();
    for (size_t v = 0; v < suite->values; v++) {
        const double *x = value + v * all + from;
        json_t *in = group_in(o, suite->value[v].group);
        json_int_t known = 0;
        for (size_t i = 0; i < to - from; i++)
            known += !isnan(x[i]);
        if (!json_object_get(in, "formulas"))
            json_object_set_new(in, "formulas", json_integer(known));
        json_object_set_new(in, suite->value[v].name,
                            eval_figure_json(eval_mean(x, to - from, seed)));
    }
    return o;
}

/* The values of all cases, value[v * n + case], in `a`; NULL when memory is out. */
static double *judge_all(const eval_case_suite *suite, const eval_case *c, size_t n, model_space *s,
                         const eval_how *how, arena *a)
{
    const model_opened m = { .m = s->m, .tree = s->tree };
    double *value = arena_array(a, suite->values * n + 1, sizeof *value), one[EVAL_CASE_VALUES];
    progress bar;
    progress_start(&bar, suite->what, n, how->show);
    for (size_t i = 0; i < n && value; i++) {
        if (!suite->judge(one, &c[i], i, &m, how, s->threads)) {
            value = NULL;
            break;
        }
        for (size_t v = 0; v < suite->values; v++)
            value[v * n + i] = one[v];
        progress_at(&bar, i + 1);
    }
    progress_end(&bar);
    return value;
}

snip_code eval_over_cases(json_t **out, const eval_case_suite *suite, model_space *s,
                          const eval_how *how, snip_status *st)
{
    arena *a = arena_new(0);
    eval_case *c = NULL;
    size_t n = a ? make_cases(&c, s->m->vocab, suite->generated, how->seed, a) : (size_t)-1;
    const double *value = n != (size_t)-1 ? judge_all(suite, c, n, s, how, a) : NULL;
    *out = value ? json_object() : NULL;
    for (size_t i = 0, to; value && i < n; i = to) {
        for (to = i; to < n && c[to].source == c[i].source; to++)
            ;
        json_object_set_new(*out, c[i].source, figures(suite, value, n, i, to, how->seed));
    }
    if (value)
        json_object_set_new(*out, "all", figures(suite, value, n, 0, n, how->seed));
    arena_free(a);
    return *out ? SNIP_OK : status_nomem(st);
}
