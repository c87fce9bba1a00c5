/* cases.c - see cases.h. */
#include "cases.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "data/corpora.h"
#include "data/gen.h"

enum { SEED = 1, INPUTS = 5 };

/* Adds formula e on its table unless it makes no task (a constant target, say). */
static int add(bench_case *c, size_t *n, expr e, const regress_table *table, arena *a)
{
    snip_status st;
    snip_code code = regress_problem_make(&c[*n].p, table, SEED, a, &st);
    c[*n].e = e;
    *n += code == SNIP_OK;
    return code != SNIP_NOMEM;
}

/* Whether the function of case n is among those before it. */
static int is_there(const bench_case *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(c[i].function, c[n].function) == 0)
            return 1;
    return 0;
}

static int add_corpus(bench_case *c, size_t *n, const data_corpus *k, const model_opened *t,
                      arena *a)
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
        snip_code code =
            data_formula_sample(k, i, DATA_SAMPLE_RANGE, DATA_POINTS, SEED, &x, &y, &rows, a, &st);
        if (code == SNIP_OK)
            code = data_formula_usable(&normal, f, y, rows, t->m->vocab, a, &st);
        if (code == SNIP_NOMEM)
            return 0;
        const regress_table table = { f->names.count, rows, f->names.name, x, y };
        c[*n].source = k->name;
        c[*n].id = f->id;
        if (code == SNIP_OK && !add(c, n, f->e, &table, a))
            return 0;
    }
    return 1;
}

static int add_generated(bench_case *c, size_t *n, size_t i, arena *a)
{
    static const char *const names[] = { "x0", "x1", "x2", "x3", "x4" };
    const data_gen gen = { .dims = INPUTS, .points = DATA_POINTS };
    data_sample s;
    char *id = arena_alloc(a, 24);
    if (!id || data_sample_draw(&s, &gen, SEED, RNG_BENCH, i, a) != SNIP_OK)
        return 0;
    snprintf(id, 24, "%zu", i);
    const regress_table table = { (size_t)s.dim, s.points, names, s.x, s.y };
    c[*n].source = "generated";
    c[*n].id = id;
    c[*n].function = NULL;
    return add(c, n, s.e, &table, a);
}

size_t bench_cases(bench_case **out, const model_opened *t, size_t generated, arena *a)
{
    data_corpus corpus[DATA_CORPORA];
    size_t room = generated, n = 0;
    for (int k = 0; k < DATA_CORPORA; k++) {
        if (data_corpus_builtin(&corpus[k], data_corpus_names[k], a, NULL) != SNIP_OK)
            return (size_t)-1;
        room += corpus[k].count;
    }
    bench_case *c = *out = arena_zero(a, (room + 1) * sizeof *c);
    int good = c != NULL;
    for (int k = 0; k < DATA_CORPORA && good; k++)
        good = add_corpus(c, &n, &corpus[k], t, a);
    for (size_t i = 0; i < generated && good; i++)
        good = add_generated(c, &n, i, a);
    return good ? n : (size_t)-1;
}

/* Figures of all sources into `by`. Returns 0 when memory is out. */
static int measure(json_t *by, const bench_measure *b, const bench_case *c, size_t n,
                   const model_opened *m, int threads)
{
    double all[BENCH_SUMS] = { 0 };
    for (size_t i = 0; i < n;) {
        double sum[BENCH_SUMS] = { 0 };
        const char *source = c[i].source;
        for (; i < n && c[i].source == source; i++)
            if (!b->judge(sum, &c[i], i, m, threads))
                return 0;
        json_object_set_new(by, source, b->figures(sum));
        for (int k = 0; k < BENCH_SUMS; k++)
            all[k] += sum[k];
    }
    json_object_set_new(by, "all", b->figures(all));
    return 1;
}

json_t *bench_over_cases(const bench_measure *b, const char *model, int threads, snip_status *st)
{
    model_opened *m;
    if (model_open(&m, model, st) != SNIP_OK)
        return NULL;
    arena *a = arena_new(0);
    bench_case *c = NULL;
    double start = clock_now();
    size_t n = a ? bench_cases(&c, m, b->generated, a) : (size_t)-1;
    json_t *by = json_object(), *o = NULL;
    if (n != (size_t)-1 && by && measure(by, b, c, n, m, threads))
        o = json_pack("{s:s,s:s,s:f,s:O}", "bench", b->name, "model", m->hash, "seconds",
                      clock_now() - start, "formulas", by);
    json_decref(by);
    arena_free(a);
    model_close(m);
    if (!o)
        status_nomem(st);
    return o;
}
