/* cure.c - how often `snip explain` cures a formula with one planted error: the formula's constants
 * are refitted, its edits are, and the list or the verdict has one that is the truth again. */
#include "bench.h"

#include <math.h>

#include "base/clock.h"
#include "base/rng.h"
#include "data/corpora.h"
#include "data/laws.h"
#include "regress/explain.h"

enum { SEED = 1, EACH = 50 }; /* formulas of the corpora, and drawn laws */

static const double TRUTH = 1 - 1e-9;  /* R2 of what is the truth */
static const double ROUGHLY = 0.2;     /* deviation of the logarithms of the given constants */
static const double PLAIN = 1 / 400.0; /* of y's variance: what an error must change */

typedef struct cured {
    size_t planted, first, among3, verdict, wrong; /* wrong: verdicts that are no cure */
} cured;

/* A normal deviate. */
static double normal(rng *r)
{
    return sqrt(-2 * log(1 - rng_uniform(r))) * cos(2 * M_PI * rng_uniform(r));
}

/* The share of y's variance explained in all rows, each counted once; NaN if it is not finite. */
static double explained(expr e, const regress_problem *p, arena *a)
{
    regress_errors errors;
    if (!regress_problem_errors(&errors, e, p, a))
        return NAN;
    double held = (double)(p->rows - p->train) / (double)p->rows;
    double loss = (1 - held) * errors.loss[0] + (held > 0 ? held * errors.loss[1] : 0);
    return 1 - loss / p->variance[0];
}

/* Whether a single edit of e gives the truth back. 0 also when memory is out. */
static int undone(expr e, expr truth, size_t dim, arena *a)
{
    regress_edit *edit;
    size_t n = regress_edits_list(&edit, e, dim, a);
    for (size_t i = 0; i < n && n != (size_t)-1; i++)
        if (expr_same(edit[i].e, truth))
            return 1;
    return 0;
}

/* A wrong version of the truth, one edit away in both directions, its constants roughly right.
 * Returns 0 if none can be told from the truth by the table. */
static int plant(expr *out, expr truth, const regress_problem *p, uint64_t index, arena *a)
{
    regress_edit *edit;
    size_t n = regress_edits_list(&edit, truth, p->dim, a);
    rng r;
    rng_init(&r, SEED, RNG_BENCH, index);
    while (n != (size_t)-1 && n > 0) {
        size_t k = rng_below(&r, (uint32_t)n);
        expr e = edit[k].e;
        double r2 = explained(e, p, a);
        if (edit[k].kind != REGRESS_FREE && r2 < 1 - PLAIN && undone(e, truth, p->dim, a)) {
            size_t *node = arena_array(a, e.count, sizeof *node);
            size_t constants = node ? expr_constants(e, node) : 0;
            for (size_t j = 0; j < constants; j++) {
                e.node[node[j]].value *= exp(ROUGHLY * normal(&r));
                e.node[node[j]].integer = 0;
            }
            *out = e;
            return 1;
        }
        edit[k] = edit[--n];
    }
    return 0;
}

/* Returns 0 when memory is out. */
static int judge(cured *sum, expr truth, const regress_problem *p, uint64_t index,
                 const model_opened *m, int threads)
{
    arena *a = arena_new(0);
    regress_explanation x = { .listed = 0 };
    expr wrong;
    const regress_explain_how how = { .refit = 1, .list = 40, .all = 1, .threads = threads };
    snip_code code = a ? SNIP_UNSUPPORTED : SNIP_NOMEM;
    if (a && plant(&wrong, truth, p, index, a))
        code = regress_explain(&x, wrong, p, m, &how, a, NULL);
    /* Where other constants make the error good, there is none. */
    if (code == SNIP_OK && !(explained(x.shown, p, a) > TRUTH)) {
        int good = x.evidence.supported && explained(x.evidence.fitted, p, a) > TRUTH;
        sum->planted++;
        sum->verdict += (size_t)good;
        sum->wrong += (size_t)(x.evidence.supported && !good);
        sum->first += x.listed > 0 && explained(x.edit[0].fitted, p, a) > TRUTH;
        for (size_t i = 0; i < 3 && i < x.listed; i++)
            if (explained(x.edit[i].fitted, p, a) > TRUTH) {
                sum->among3++;
                break;
            }
    }
    arena_free(a);
    return code != SNIP_NOMEM;
}

/* Formulas of the corpora. As many as give an error: what cannot be spoilt, or read, is passed
 * over. */
static int over_corpora(cured *sum, const model_opened *m, int threads, arena *a)
{
    data_corpus corpus[DATA_CORPORA];
    size_t n = 0;
    int good = 1;
    for (int k = 0; k < DATA_CORPORA && good; k++) {
        good = data_corpus_builtin(&corpus[k], data_corpus_names[k], a, NULL) == SNIP_OK;
        n += good ? corpus[k].count : 0;
    }
    for (size_t i = 0; i < n && good && sum->planted < EACH; i++) {
        arena_pos mark = arena_mark(a);
        size_t place = i * 37 % n, c = 0, rows; /* from all corpora */
        for (size_t left = place; left >= corpus[c].count; c++) {
            left -= corpus[c].count;
            place = left;
        }
        const data_formula *f = &corpus[c].formula[place];
        const double **x;
        double *y;
        expr words;
        regress_problem p;
        snip_code code =
            data_formula_sample(&x, &y, &rows, &corpus[c], place,
                                &(data_design){ DATA_SAMPLE_RANGE, DATA_POINTS, SEED }, a, NULL);
        if (code == SNIP_OK)
            code = data_formula_usable(&words, f, y, rows, m->m->vocab, a, NULL);
        const regress_table table = { f->names.count, rows, f->names.name, x, y };
        if (code == SNIP_OK)
            code = regress_problem_make(&p, &table, SEED, a, NULL);
        if (code == SNIP_OK)
            good = judge(sum, f->e, &p, i, m, threads);
        good &= code != SNIP_NOMEM;
        arena_reset(a, mark);
    }
    return good;
}

static int over_laws(cured *sum, const model_opened *m, int threads, arena *a)
{
    static const char *const names[] = { "x0", "x1", "x2", "x3", "x4", "x5" };
    const data_gen gen = { .dims = DATA_LAW_DIMS, .points = DATA_POINTS };
    int good = 1;
    for (uint64_t i = 0; i < 4 * EACH && good && sum->planted < EACH; i++) {
        arena_pos mark = arena_mark(a);
        data_sample s;
        data_law law;
        regress_problem p;
        good = data_law_draw(&s, &law, &gen, SEED, RNG_BENCH, i, a) == SNIP_OK;
        const regress_table table = { (size_t)law.dim, law.points, names, law.x, law.y };
        snip_code code = good ? regress_problem_make(&p, &table, SEED, a, NULL) : SNIP_NOMEM;
        if (code == SNIP_OK)
            good = judge(sum, law.e, &p, 1000 + i, m, threads);
        good &= code != SNIP_NOMEM;
        arena_reset(a, mark);
    }
    return good;
}

static json_t *figures(const cured *c)
{
    double n = c->planted ? (double)c->planted : 1;
    return json_pack("{s:I,s:f,s:f,s:f,s:f}", "planted", (json_int_t)c->planted, "cure_first",
                     (double)c->first / n, "cure_first_3", (double)c->among3 / n, "cure_verdict",
                     (double)c->verdict / n, "wrong_verdict", (double)c->wrong / n);
}

json_t *bench_cure(const char *model, int threads, snip_status *st)
{
    model_opened *m;
    cured corpora = { 0 }, laws = { 0 };
    json_t *o = NULL;
    if (model_open(&m, model, st) != SNIP_OK)
        return NULL;
    arena *a = arena_new(0);
    double start = clock_now();
    if (a && over_corpora(&corpora, m, threads, a) && over_laws(&laws, m, threads, a)) {
        const cured all = { corpora.planted + laws.planted, corpora.first + laws.first,
                            corpora.among3 + laws.among3, corpora.verdict + laws.verdict,
                            corpora.wrong + laws.wrong };
        o = json_pack("{s:s,s:s,s:f,s:o,s:o,s:o}", "bench", "cure", "model", m->hash, "seconds",
                      clock_now() - start, "corpora", figures(&corpora), "laws", figures(&laws),
                      "all", figures(&all));
    }
    arena_free(a);
    model_close(m);
    if (!o)
        status_nomem(st);
    return o;
}
