/* candidates.c - how well `snip rank` tells a true formula from wrong ones: among its controlled
 * edits, and among formulas drawn at random for the same inputs. Constants are as given, so that
 * only the shared space decides. */
#include "bench.h"

#include <math.h>

#include "cases.h"
#include "data/edits.h"
#include "data/gen.h"
#include "regress/rank.h"

enum { EDITS = 16, RANDOM = 100, SEED = 1 };

/* The sums, for edits and for random formulas each. */
enum { FORMULAS, PERCENTILE, FIRST, OTHERS, SUMS };

/* The true formula's place among the others: the share that it beats, ties half. */
static void count(double *sum, const double *similarity, size_t n)
{
    double beaten = 0;
    size_t others = 0;
    for (size_t i = 1; i < n; i++)
        if (!isnan(similarity[i])) {
            beaten += similarity[0] > similarity[i] ? 1 : similarity[0] == similarity[i] ? .5 : 0;
            others++;
        }
    if (others == 0 || isnan(similarity[0]))
        return;
    sum[FORMULAS]++;
    sum[PERCENTILE] += beaten / (double)others;
    sum[FIRST] += beaten == (double)others;
    sum[OTHERS] += (double)others;
}

/* e and its edits that change what it computes. Returns 0 when memory is out. */
static size_t edited(expr *out, const bench_case *c, arena *a)
{
    const double *const *x = (const double *const *)c->p.x;
    double *y = arena_array(a, c->p.rows, sizeof *y);
    data_variant v[EDITS];
    rng r;
    size_t n = 0;
    out[n++] = c->e;
    if (!y || expr_eval(c->e, x, c->p.rows, y, a) == (size_t)-1)
        return 0;
    rng_init(&r, SEED, RNG_EDITS, 0);
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
static size_t drawn(expr *out, const bench_case *c, size_t index, arena *a)
{
    const data_gen gen = { .dims = (int)c->p.dim, .points = 16 };
    size_t n = 0;
    out[n++] = c->e;
    for (size_t k = 0; k < RANDOM; k++) {
        data_sample s;
        if (data_sample_draw(&s, &gen, SEED, RNG_BENCH, (index + 1) * RANDOM + k, a) != SNIP_OK ||
            regress_problem_restore(&out[n++], s.e, ~(regress_inputs)0, &c->p, a, NULL) != SNIP_OK)
            return 0;
    }
    return n;
}

static int judge(double *sum, const bench_case *c, size_t index, const model_opened *m, int threads)
{
    enum { MOST = 1 + DATA_FAMILIES * EDITS + RANDOM };
    arena *a = arena_new(0);
    int good = a != NULL;
    for (int kind = 0; kind < 2 && good; kind++) {
        expr e[MOST];
        double similarity[MOST];
        const char *why[MOST] = { NULL };
        size_t n = kind == 0 ? edited(e, c, a) : drawn(e, c, index, a);
        good = n > 0 &&
               regress_similarities(similarity, why, e, n, &c->p, m, threads, a, NULL) == SNIP_OK;
        if (good)
            count(sum + kind * SUMS, similarity, n);
    }
    arena_free(a);
    return good;
}

static json_t *figures(const double *sum)
{
    static const char *const kinds[2] = { "edits", "random" };
    json_t *o = json_object();
    for (int k = 0; k < 2; k++, sum += SUMS) {
        double n = sum[FORMULAS] > 0 ? sum[FORMULAS] : 1;
        json_object_set_new(o, kinds[k],
                            json_pack("{s:I,s:f,s:f,s:f}", "formulas", (json_int_t)sum[FORMULAS],
                                      "mean_percentile", sum[PERCENTILE] / n, "first",
                                      sum[FIRST] / n, "mean_others", sum[OTHERS] / n));
    }
    return o;
}

json_t *bench_candidates(const char *model, int threads, snip_status *st)
{
    const bench_measure b = { "candidates", 0, judge, figures };
    return bench_over_cases(&b, model, threads, st);
}
