/* candidates.c - how well `snip rank` tells a true formula from wrong ones: among its controlled
 * edits, and among formulas drawn at random for the same inputs. Constants are as given, so that
 * only the shared space decides. See suites.h. */
#include <math.h>

#include "base/streams.h"
#include "data/edits.h"
#include "data/gen.h"
#include "eval/cases.h"
#include "regress/rank.h"

enum { EDITS = 16, RANDOM = 100 };

/* The values of a case, among edits and among random formulas each. */
enum { PERCENTILE, FIRST, OTHERS, KINDS = 2, VALUES = 3 };

static const eval_case_value values[KINDS * VALUES] = {
    { "edits", "mean_percentile" },  { "edits", "first" },  { "edits", "mean_others" },
    { "random", "mean_percentile" }, { "random", "first" }, { "random", "mean_others" },
};

/* The true formula's place among the others: the share that it beats, ties half. */
static void place(double *out, const double *similarity, size_t n)
{
    double beaten = 0;
    size_t others = 0;
    for (size_t i = 1; i < n; i++)
        if (!isnan(similarity[i])) {
            beaten += similarity[0] > similarity[i] ? 1 : similarity[0] == similarity[i] ? .5 : 0;
            others++;
        }
    int known = others > 0 && !isnan(similarity[0]);
    out[PERCENTILE] = known ? beaten / (double)others : NAN;
    out[FIRST] = known ? beaten == (double)others : NAN;
    out[OTHERS] = known ? (double)others : NAN;
}

/* e and its edits that change what it computes. Returns 0 when memory is out. */
static size_t edited(expr *out, const eval_case *c, uint64_t seed, arena *a)
{
    const double *const *x = (const double *const *)c->p.x;
    double *y = arena_array(a, c->p.rows, sizeof *y);
    data_variant v[EDITS];
    rng r;
    size_t n = 0;
    out[n++] = c->e;
    if (!y || expr_eval(c->e, x, c->p.rows, y, a) == (size_t)-1)
        return 0;
    streams_rng(&r, seed, STREAMS_CANDIDATE_EDITS, 0);
    for (int family = 0; family < DATA_FAMILIES; family++) {
        size_t kept =
            data_edits_evaluation(v, c->e, (data_family)family, EDITS, x, c->p.rows, y, &r, a);
        if (kept == (size_t)-1)
            return 0;
        for (size_t k = 0; k < kept; k++)
            out[n++] = v[k].e;
    }
    return n;
}

/* e and random formulas in the same inputs, brought into their units. Returns 0 when memory is out.
 */
static size_t drawn(expr *out, const eval_case *c, uint64_t seed, size_t index, arena *a)
{
    const data_gen gen = { .dims = (int)c->p.dim, .points = 16 };
    size_t n = 0;
    out[n++] = c->e;
    for (size_t k = 0; k < RANDOM; k++) {
        data_sample s;
        if (data_sample_draw(&s, &gen, seed, RNG_BENCH,
                             streams_index(STREAMS_CANDIDATES, index * RANDOM + k), a) != SNIP_OK ||
            regress_problem_restore(&out[n++], s.e, ~(regress_inputs)0, &c->p, a, NULL) != SNIP_OK)
            return 0;
    }
    return n;
}

static int judge(double *out, const eval_case *c, size_t index, const model_opened *m,
                 const eval_how *how, int threads)
{
    enum { MOST = 1 + DATA_FAMILIES * EDITS + RANDOM };
    arena *a = arena_new(0);
    int good = a != NULL;
    for (int kind = 0; kind < KINDS && good; kind++) {
        expr e[MOST];
        double similarity[MOST];
        regress_nearness near[MOST];
        size_t n = kind == 0 ? edited(e, c, how->seed, a) : drawn(e, c, how->seed, index, a);
        good = n > 0 && regress_similarities(near, e, n, &c->p, m, threads, a, NULL) == SNIP_OK;
        for (size_t i = 0; i < n && good; i++)
            similarity[i] = near[i].similarity;
        if (good)
            place(out + kind * VALUES, similarity, n);
    }
    arena_free(a);
    return good;
}

snip_code eval_candidates(json_t **out, model_space *s, const eval_how *how, snip_status *st)
{
    const eval_case_suite suite = { "true formulas", 0, values, KINDS * VALUES, judge };
    return eval_over_cases(out, &suite, s, how, st);
}
