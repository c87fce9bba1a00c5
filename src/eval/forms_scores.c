/* forms_scores.c - candidates refitted and scored: places, percentiles, correlations; see forms.h.
 */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/text.h"
#include "eval/forms.h"

enum {
    BATCH = 24, /* problems in memory at a time */
    STARTS = 3, /* of a fit */
    ENOUGH = 4  /* fewer candidates of a kind tell nothing */
};

const char *const forms_score_names[FORMS_SCORES] = { "similarity", "correlation", "size",
                                                      "constants",  "without",     "with" };
static const char *const set_names[] = { "laws", "corpora", "validation" };
static const char *const role_names[] = { "truth", "law", "edit" };

/* Tasks --------------------------------------------------------------------------------------- */

/* A problem in a condition while its batch lasts. */
typedef struct work {
    const forms_problem *p;
    int condition;
    forms_task *task;
    regress_problem table;
    forms_match *match; /* of its candidates */
    snip_code code;
} work;

static char *number_text(char buf[32], double v)
{
    if (isfinite(v))
        snprintf(buf, 32, "%.17g", v);
    else
        strcpy(buf, "null");
    return buf;
}

static const char *table_label(const work *w, arena *a)
{
    text t = { .a = a };
    text_add(&t, "\"part\":\"problems\",\"set\":\"%s\",\"problem\":%zu,\"condition\":\"%s\"",
             set_names[w->p->set], w->p->index, forms_conditions[w->condition].name);
    return text_end(&t);
}

/* What a dump tells of a candidate. */
static const char *candidate_label(const work *w, size_t i, arena *a)
{
    char correlation[32], digits[32];
    const forms_task *t = w->task;
    text label = { .a = a };
    text_add(&label,
             "%s,\"candidate\":%zu,\"role\":\"%s\",\"correlation\":%s,\"nodes\":%zu,"
             "\"constants\":%zu,\"digits\":%s",
             w->match[i].table_label, i, role_names[t->role[i]],
             number_text(correlation, t->score[FORMS_CORRELATION][i]), w->p->c[i].core.count,
             w->p->c[i].constants, number_text(digits, t->digits[i]));
    return text_end(&label);
}

/* Fits and judges all candidates; what is left is their similarity. */
static snip_code judge(work *w, const forms_context *c, arena *a, arena *tmp)
{
    const forms_problem *p = w->p;
    forms_task *t = w->task;
    snip_code code = forms_table(&w->table, p, w->condition, c->how, a);
    if (code != SNIP_OK)
        return code;
    const double *const *x = (const double *const *)w->table.x;
    regress_inputs matter = c->form ? regress_inputs_that_matter(&w->table) : 0;
    const char *label = c->s->seen ? table_label(w, a) : NULL;
    t->n = p->n;
    for (size_t i = 0; i < p->n && code == SNIP_OK; i++) {
        expr fitted;
        code = forms_fit(&fitted, p->c[i].core, p->set, &w->table, STARTS, a, tmp);
        if (code != SNIP_OK)
            break;
        t->role[i] = p->c[i].role;
        t->digits[i] = forms_digits(fitted, p, tmp);
        t->score[FORMS_CORRELATION][i] =
            forms_correlation(p->c[i].drawn, x, w->table.y, w->table.train, tmp);
        t->score[FORMS_SIZE][i] = -(double)p->c[i].core.count;
        t->score[FORMS_CONSTANTS][i] = (double)p->c[i].constants;
        if (isnan(t->digits[i]) || t->score[FORMS_CORRELATION][i] < 0)
            return SNIP_NOMEM;
        w->match[i] =
            (forms_match){ .p = &w->table, .matter = matter, .e = fitted, .table_label = label };
        w->match[i].label = label ? candidate_label(w, i, a) : NULL;
    }
    return code;
}

/* Problems [first, first + n) of the set. */
static snip_code run_batch(forms_task *task, const forms_set *set, size_t first, size_t n,
                           int conditions, forms_context *c, snip_status *st)
{
    size_t works = n * (size_t)conditions, matches = 0;
    forms_problem *p = arena_array(c->keep[0], n, sizeof *p);
    work *w = arena_zero(c->keep[0], works * sizeof *w);
    forms_match *match = arena_array(c->keep[0], works * FORMS_CANDIDATES, sizeof *match);
    int failed = !p || !w || !match;
    if (failed)
        return status_nomem(st);
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->s->threads)
    for (size_t i = 0; i < n; i++) {
        int t = omp_get_thread_num();
        if (forms_problem_draw(&p[i], set, first + i, c->how, c->keep[t], c->tmp[t]) != SNIP_OK)
#pragma omp atomic write
            failed = 1;
    }
    for (size_t k = 0; k < works && !failed; k++) {
        size_t i = k / (size_t)conditions;
        w[k] = (work){ .p = &p[i],
                       .condition = (int)(conditions > 1 ? k % (size_t)conditions
                                                         : (first + i) % FORMS_CONDITIONS),
                       .task = &task[k],
                       .match = match + matches };
        matches += p[i].n;
    }
    if (!failed) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->s->threads)
        for (size_t k = 0; k < works; k++) {
            int t = omp_get_thread_num();
            if (w[k].p->n && judge(&w[k], c, c->keep[t], c->tmp[t]) != SNIP_OK)
#pragma omp atomic write
                failed = 1;
        }
    }
    if (failed)
        return status_nomem(st);
    snip_code code = forms_compare(match, matches, c, st);
    for (size_t k = 0; k < works && code == SNIP_OK; k++)
        for (size_t i = 0; i < w[k].task->n; i++) {
            const forms_match *m = &w[k].match[i];
            const model_item unread = { .e = m->e, .node = MODEL_WHOLE, .label = m->label };
            if (isnan(m->similarity) && c->s->seen) /* the dump has all candidates */
                c->s->seen(c->s->seen_context, &unread, 1, NULL, NULL);
            w[k].task->score[FORMS_SIMILARITY][i] =
                isnan(m->similarity) ? -INFINITY : m->similarity;
            w[k].task->facts[i] = (model_promise_facts){
                .similarity = m->similarity,
                .correlation = w[k].task->score[FORMS_CORRELATION][i],
                .nodes = w[k].p->c[i].core.count,
                .constants = w[k].p->c[i].constants,
                .form = m->form,
                .table = m->table,
            };
        }
    return code;
}

snip_code forms_tasks(forms_task **out, const forms_set *set, int conditions, forms_context *c,
                      snip_status *st)
{
    snip_code code = SNIP_OK;
    progress bar;
    *out = arena_zero(c->a, (set->count + 1) * (size_t)conditions * sizeof **out);
    if (!*out)
        return status_nomem(st);
    progress_start(&bar, set_names[set->what], set->count, c->how->show);
    for (size_t first = 0; first < set->count && code == SNIP_OK; first += BATCH) {
        size_t n = set->count - first < BATCH ? set->count - first : BATCH;
        forms_batch(c);
        code = run_batch(*out + first * (size_t)conditions, set, first, n, conditions, c, st);
        progress_at(&bar, first + n);
    }
    progress_end(&bar);
    return code;
}

/* Figures ------------------------------------------------------------------------------------- */

/* How many of a role are above the truth, equal ones count half. *others is how many there are. */
static double above(const forms_task *t, const double *score, int role, size_t *others)
{
    double count = 0;
    *others = 0;
    for (size_t i = 1; i < t->n; i++)
        if (t->role[i] == role) {
            count += score[i] > score[0] ? 1 : score[i] == score[0] ? 0.5 : 0;
            ++*others;
        }
    return count;
}

static double place(const forms_task *t, int score)
{
    size_t others;
    return 1 + above(t, t->score[score], FORMS_LAW, &others);
}

static double percentile(const forms_task *t, int score)
{
    size_t others;
    double count = above(t, t->score[score], FORMS_EDIT, &others);
    return 1 - count / (double)others;
}

static double spearman(const forms_task *t, int score)
{
    return numbers_spearman(t->score[score], t->digits, t->n);
}

/* The mean over the sizes that enough candidates have; NaN where there is none. */
static double spearman_same_size(const forms_task *t, int score)
{
    double sum = 0;
    size_t counted = 0;
    for (size_t first = 0; first < t->n; first++) {
        double v[FORMS_CANDIDATES], digits[FORMS_CANDIDATES];
        size_t n = 0;
        for (size_t i = 0; i < t->n; i++)
            if (t->score[FORMS_SIZE][i] == t->score[FORMS_SIZE][first]) {
                if (i < first) { /* counted already */
                    n = 0;
                    break;
                }
                v[n] = t->score[score][i];
                digits[n++] = t->digits[i];
            }
        if (n >= ENOUGH) {
            sum += numbers_spearman(v, digits, n);
            counted++;
        }
    }
    return counted ? sum / (double)counted : NAN;
}

/* Among the candidates that have constants to fit; NaN if there are fewer than ENOUGH. For
 * candidates without constants the correlation before the fit is already that after it: a + b*core
 * does not change it. */
static double spearman_constants(const forms_task *t, int score)
{
    double v[FORMS_CANDIDATES], digits[FORMS_CANDIDATES];
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->facts[i].constants) {
            v[n] = t->score[score][i];
            digits[n++] = t->digits[i];
        }
    return n >= ENOUGH ? numbers_spearman(v, digits, n) : NAN;
}

static const struct {
    const char *name;
    double (*of)(const forms_task *t, int score);
} measures[] = { { "place", place },
                 { "percentile", percentile },
                 { "spearman", spearman },
                 { "spearman_same_size", spearman_same_size },
                 { "spearman_constants", spearman_constants } };

/* One condition: task[i * FORMS_CONDITIONS] for each problem i. */
static json_t *condition_json(const forms_task *t, size_t problems, double *value,
                              const eval_how *how)
{
    json_t *o = json_object();
    for (size_t m = 0; m < sizeof measures / sizeof *measures; m++) {
        json_t *of = json_object();
        for (int k = 0; k < FORMS_SCORES; k++) {
            double *v = value + (size_t)k * problems;
            for (size_t i = 0; i < problems; i++) {
                const forms_task *task = &t[i * FORMS_CONDITIONS];
                v[i] = task->n ? measures[m].of(task, k) : NAN;
            }
            json_object_set_new(of, forms_score_names[k],
                                eval_figure_json(eval_mean(v, problems, how->seed)));
        }
        json_object_set_new(of, "gain",
                            eval_figure_json(eval_difference(value + FORMS_WITH * problems,
                                                             value + FORMS_WITHOUT * problems, 1,
                                                             problems, how->seed)));
        json_object_set_new(o, measures[m].name, of);
    }
    return o;
}

json_t *forms_tasks_json(forms_task *t, size_t problems, const model_promise *w,
                         const eval_how *how)
{
    size_t usable = 0, candidates = 0, unread = 0;
    double *value = malloc((FORMS_SCORES * problems + 1) * sizeof *value);
    int good = value != NULL;
    for (size_t i = 0; i < problems * FORMS_CONDITIONS && good; i++) {
        usable += i % FORMS_CONDITIONS == 0 && t[i].n > 0;
        candidates += t[i].n;
        for (size_t k = 0; k < t[i].n; k++) {
            unread += isinf(t[i].score[FORMS_SIMILARITY][k]) != 0;
            t[i].score[FORMS_WITH][k] = model_promise_value(w, &t[i].facts[k]);
            t[i].score[FORMS_WITHOUT][k] = model_promise_without_space(w, &t[i].facts[k]);
        }
    }
    json_t *o = good ? json_pack("{s:I,s:I,s:I}", "problems", (json_int_t)usable, "candidates",
                                 (json_int_t)candidates, "unread", (json_int_t)unread)
                     : NULL;
    for (int k = 0; k < FORMS_CONDITIONS && o; k++)
        json_object_set_new(o, forms_conditions[k].name,
                            condition_json(t + k, problems, value, how));
    free(value);
    return o;
}
