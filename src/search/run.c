/* run.c - a search from beginning to end: the order of the stages, when it is over, what is told on
 * the way. */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "regress/rank.h"
#include "search/archive.h"
#include "search/finish.h"
#include "search/near.h"
#include "search/outliers.h"
#include "search/prepare.h"

#define EXACT           1e-18     /* 1 - r^2 on fitted and held-out rows that ends a search */
#define EXACT_PATIENCE  0.03      /* of the budget: for a shorter one, where it is long */
#define NEARLY          1e-12     /* the same after a while without a shorter formula */
#define PATIENCE        (1.0 / 6) /* that while, and how long a noisy best must last: of the budget */
#define NEARLY_PATIENCE 0.05      /* the same for nearly exact formulas */
#define SERIES_PATIENCE 0.4       /* and for long ones of these: a series is as good for a while */
#define REPORT_EVERY    0.1       /* seconds */

#define SUSPECTING 0.4 /* of the budget, where rows may be outliers: without them */

enum { LONG_NODES = 5, LONG_EACH = 3 }; /* an exact formula of more nodes is a long one */

/* Memory, in MB. */
enum {
    MEMORY_USUAL = 1024,
    MEMORY_FIXED = 56, /* what stages take beside their large tables, the rows included */
    MEMORY_THREAD = 2, /* more for every thread after the second */
    MEMORY_TABLES = 8  /* the least for those tables */
};

enum { RECORD_PART = 8 }; /* one byte of so many is for the record of forms that were judged */

#define FINISHING      0.08 /* of the time, for clean constants */
#define FINISHING_MOST 2.0  /* seconds of it */

const char *const search_stage_names[SEARCH_STAGE_COUNT + 1] = {
#define X(constant, name) name,
    SEARCH_STAGES(X)
#undef X
};

const char *const search_seeds_names[SEARCH_SEEDS_COUNT + 1] = {
#define X(constant, name) name,
    SEARCH_SEEDS(X)
#undef X
};

const char *const search_use_names[SEARCH_USE_COUNT + 1] = {
#define X(constant, name) name,
    SEARCH_USES(X)
#undef X
};

/* What runs, in this order. A stage that is not the last one ends by itself. */
static const struct {
    search_stage stage;
    search_stage_run *run;
} plan[] = {
    { SEARCH_GUESS, search_guess },         { SEARCH_CLOSED, search_closed },
    { SEARCH_RELATIONS, search_relations }, { SEARCH_REDUCE, search_reduce_quickly },
    { SEARCH_PRODUCTS, search_products },   { SEARCH_TEXTBOOK, search_textbook },
    { SEARCH_ENUMERATE, search_enumerate }, { SEARCH_REDUCE, search_reduce },
    { SEARCH_SPACE, search_space },         { SEARCH_EVOLVE, search_evolve },
};

/* The formula that would be selected now, among the front. */
static size_t select_now(const search_entry *front, size_t count)
{
    size_t best = 0;
    for (size_t k = 1; k < count; k++)
        if (front[k].bits < front[best].bits)
            best = k;
    return best;
}

static void tell(search *s, const search_entry *front, size_t count, size_t selected)
{
    arena_pos mark = arena_mark(s->a);
    search_formula *now = arena_zero(s->a, count * sizeof *now + 1);
    for (size_t k = 0; k < count && now; k++)
        now[k] = (search_formula){ .e = search_for_user(s, front[k].e, s->a),
                                   .size = front[k].size,
                                   .constants = front[k].constants,
                                   .loss = { front[k].loss[0] * s->variance[0],
                                             front[k].loss[1] * s->variance[1] },
                                   .r2 = { 1 - front[k].loss[0], 1 - front[k].loss[1] },
                                   .bits = front[k].bits,
                                   .similarity = NAN,
                                   .stage = front[k].stage };
    for (size_t k = 0; k < count && now; k++)
        if (!now[k].e.node)
            now = NULL;
    if (now)
        s->how->report(s->how->context, &(search_progress){ .seconds = search_now(s) - s->begun,
                                                            .spent = search_spent(s),
                                                            .evaluations = s->evaluations,
                                                            .stage = s->stage,
                                                            .now = now,
                                                            .count = count,
                                                            .selected = selected,
                                                            .changed = s->changed });
    arena_reset(s->a, mark);
}

/* Whether a formula is as long as laws with so many inputs seldom are. */
static int is_long(expr e)
{
    size_t inputs = 0;
    for (size_t i = 0; i < e.count; i++) {
        size_t k = 0;
        while (k < i && !(e.node[k].op == EXPR_VARIABLE && e.node[k].var == e.node[i].var))
            k++;
        inputs += e.node[i].op == EXPR_VARIABLE && k == i;
    }
    return e.count > LONG_NODES + LONG_EACH * inputs;
}

void search_tell(search *s)
{
    size_t count;
    const search_entry *front = search_front(s, &count);
    size_t selected = select_now(front, count);
    const search_entry *best = &front[selected];
    double spent = search_spent(s), rest = fmax(best->loss[0], best->loss[1]);
    if (best->bits < s->best_bits - 1e-9) {
        s->best_bits = best->bits;
        s->best_since = spent;
    }
    double patience = rest < EXACT    ? (is_long(best->e) ? EXACT_PATIENCE : 0)
                      : rest < NEARLY ? (is_long(best->e) ? SERIES_PATIENCE : NEARLY_PATIENCE)
                                      : PATIENCE;
    if ((rest < NEARLY || s->last_stage) && spent - s->best_since >= patience)
        s->solved = 1;
    double now = clock_now();
    if (s->how->report && now - s->reported >= REPORT_EVERY) {
        tell(s, front, count, selected);
        s->reported = now;
        s->changed = 0;
    }
}

/* The mean, which every formula has to beat. */
static snip_code begin_with_mean(search *s, snip_status *st)
{
    double sum = 0;
    for (size_t i = 0; i < s->rows[0]; i++)
        sum += search_weight(s, i) * s->y[i];
    sum /= search_weights(s, 0, s->rows[0]);
    expr_node node = { .op = EXPR_NUMBER, .value = sum, .len = 1 };
    search_entry mean = {
        .e = { &node, 1 }, .size = 1, .constants = 1, .loss = { 1, 1 }, .stage = SEARCH_CLOSED
    };
    mean.bits = search_length(s, mean.e, 1, s->rows[0]);
    if (search_archive_add(s->archive, &mean) < 0)
        return status_nomem(st);
    s->best_bits = mean.bits;
    return SNIP_OK;
}

/* How near the formulas of the answer are to the table, by the model, as `snip rank` tells it.
 * Where the model cannot read the table or a formula, there is none. */
static snip_code fill_similarities(search_result *out, const search *s, arena *a, snip_status *st)
{
    const model_opened *t = s->how->model;
    regress_nearness *near = arena_array(s->a, out->count, sizeof *near);
    expr *e = arena_array(s->a, out->count, sizeof *e);
    if (!near || !e)
        return status_nomem(st);
    if (s->dim > (size_t)t->m->config.dims)
        return SNIP_OK;
    for (size_t k = 0; k < out->count; k++)
        e[k] = out->front[k].e;
    snip_code code =
        regress_similarities(near, e, out->count, s->problem, t, s->how->threads, a, st);
    for (size_t k = 0; k < out->count && code == SNIP_OK; k++)
        out->front[k].similarity = near[k].similarity;
    return code;
}

static int target_is_constant(const regress_table *t)
{
    size_t i = 1;
    while (i < t->rows && t->y[i] == t->y[0])
        i++;
    return t->rows >= SEARCH_ROWS_MIN && i == t->rows && isfinite(t->y[0]);
}

/* The answer where the target is the same number in all rows: that number. There is no variance to
 * have a share of, so r2 is NaN. */
static snip_code answer_constant(search_result *out, const regress_table *t, arena *a,
                                 snip_status *st)
{
    search_formula *f = arena_zero(a, sizeof *f);
    expr_node *node = arena_zero(a, sizeof *node);
    double *error = arena_zero(a, sizeof *error);
    if (!f || !node || !error)
        return status_nomem(st);
    *node = (expr_node){ .op = EXPR_NUMBER, .value = t->y[0], .len = 1, .fixed = 1 };
    *f = (search_formula){ .e = { node, 1 },
                           .size = 1,
                           .error = error,
                           .r2 = { NAN, NAN },
                           .similarity = NAN,
                           .stage = SEARCH_CLOSED };
    out->front = f;
    out->count = 1;
    out->rows[0] = t->rows;
    out->note = "the target is the same in all rows";
    return SNIP_OK;
}

size_t search_memory_least(int threads)
{
    size_t more = threads > 2 ? (size_t)threads - 2 : 0;
    return (MEMORY_FIXED + MEMORY_TABLES + MEMORY_THREAD * more) << 20;
}

/* Between stages: what one of them has freed would else stay beside what the next one takes. */
static void give_back(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* A search on all rows of the table. */
static snip_code run(search_result *out, const regress_table *t, const search_how *how, arena *a,
                     snip_status *st)
{
    search_how own = *how;
    search s = { .how = &own,
                 .operators = how->operators ? how->operators : search_operators_default(),
                 .max_size = how->max_size ? how->max_size : 30,
                 .finish_by = INFINITY };
    s.begun = search_now(&s);
    if (own.seconds > 0) {
        s.finish_by = s.begun + own.seconds;
        own.seconds -= fmin(FINISHING * own.seconds, FINISHING_MOST);
    }
    s.room = how->memory - search_memory_least(own.threads) + ((size_t)MEMORY_TABLES << 20);
    if (s.max_size > SEARCH_SIZE_MAX)
        s.max_size = SEARCH_SIZE_MAX;
    s.a = arena_new(0);
    s.archive = search_archive_new(s.room / RECORD_PART);
    s.room -= s.room / RECORD_PART;
    regress_table useful;
    snip_code code =
        s.a && s.archive ? search_leave_out(&s, &useful, t, &own, st) : status_nomem(st);
    if (code == SNIP_OK)
        code = search_prepare(&s, &useful, st);
    if (code == SNIP_OK && how->library && !(how->without >> SEARCH_SPACE & 1))
        code = search_space_open(&s, st);
    if (code == SNIP_OK)
        code = begin_with_mean(&s, st);
    for (size_t k = 0; k < sizeof plan / sizeof *plan && code == SNIP_OK && !search_over(&s); k++) {
        if (how->without >> plan[k].stage & 1)
            continue;
        s.stage = plan[k].stage;
        s.last_stage = k + 1 == sizeof plan / sizeof *plan;
        if (s.last_stage) /* it has its own time to find a better one */
            s.best_since = search_spent(&s);
        code = plan[k].run(&s, &s.root, st);
        give_back();
    }
    if (code == SNIP_OK)
        code = search_finish(out, &s, a, st);
    if (code == SNIP_OK && how->model)
        code = fill_similarities(out, &s, a, st);
    if (code == SNIP_OK && s.note && !out->note)
        out->note = arena_text(a, s.note, strlen(s.note));
    out->seconds = search_now(&s) - s.begun;
    out->evaluations = s.evaluations;
    out->rows[0] = s.rows[0];
    out->rows[1] = s.rows[1];
    out->cancelled = how->cancel && *how->cancel;
    search_near_close(s.near);
    search_archive_free(s.archive);
    arena_free(s.a);
    return code;
}

/* ---- with and without rows that lie far off ---- */

/* A search without n rows of the table. */
static snip_code run_without(search_result *out, const regress_table *t, const size_t *row,
                             size_t n, const search_how *how, arena *a, snip_status *st)
{
    search_how own = *how;
    regress_table part;
    size_t *kept = arena_array(a, t->rows, sizeof *kept), count = 0;
    if (!kept)
        return status_nomem(st);
    for (size_t i = 0, k = 0; i < t->rows; i++)
        if (k < n && row[k] == i)
            k++;
        else
            kept[count++] = i;
    if (!search_take_rows(&part, &own.weight, t, kept, count, a))
        return status_nomem(st);
    return run(out, &part, &own, a, st);
}

/* The sentence about n rows, before the note that is there. */
static snip_code tell_far(search_result *out, arena *a, snip_status *st)
{
    enum { SHOWN = 10, ROOM = 400 };
    char text[ROOM];
    int at = snprintf(text, sizeof text, "%zu %s", out->far_count,
                      out->far_count == 1 ? "row lies far off and is left out: row"
                                          : "rows lie far off and are left out: rows");
    for (size_t k = 0; k < out->far_count && k < SHOWN; k++)
        at +=
            snprintf(text + at, sizeof text - (size_t)at, "%s %zu", k ? "," : "", out->far[k] + 1);
    if (out->far_count > SHOWN)
        at += snprintf(text + at, sizeof text - (size_t)at, ", ...");
    if (out->note)
        at += snprintf(text + at, sizeof text - (size_t)at, "; %s", out->note);
    out->note = arena_text(a, text, (size_t)at);
    return out->note ? SNIP_OK : status_nomem(st);
}

/* Two searches that are one to those who wait. */
typedef struct half {
    const search_how *how; /* of the whole */
    double seconds;        /* before this half */
    uint64_t evaluations;
    double begin, share; /* of the whole budget: what was spent before, what this half has */
} half;

static void report_half(void *context, const search_progress *now)
{
    const half *h = context;
    search_progress whole = *now;
    whole.seconds += h->seconds;
    whole.evaluations += h->evaluations;
    whole.spent = h->begin + h->share * now->spent;
    h->how->report(h->how->context, &whole);
}

/* Where rows are suspected: first without them. What they were is known then, and the rest of the
 * budget is for a search with those that are no outliers. */
static snip_code run_suspecting(search_result *out, const regress_table *t, size_t *row, size_t n,
                                const search_how *how, arena *a, snip_status *st)
{
    size_t far = 0;
    search_how own = *how;
    half h = { .how = how, .share = SUSPECTING };
    own.report = how->report ? report_half : NULL;
    own.context = &h;
    own.seconds *= SUSPECTING;
    own.evaluations = (uint64_t)ceil(SUSPECTING * (double)how->evaluations);
    snip_code code = run_without(out, t, row, n, &own, a, st);
    if (code == SNIP_OK) /* a user who ends the search here gets what there is, without them */
        far =
            out->cancelled ? n : search_outliers_confirm(row, n, t, out->front[out->selected].e, a);
    if (code == SNIP_OK && far < n) {
        const search_result first = *out;
        if (how->seconds > 0)
            own.seconds = fmax(how->seconds - first.seconds, SUSPECTING * how->seconds);
        if (how->evaluations > 0) /* it may have made a few more than it should */
            own.evaluations = (uint64_t)ceil((1 - SUSPECTING) * (double)how->evaluations);
        /* Evaluations are shared out beforehand; of time, the second has what the first left. */
        h.begin = how->evaluations > 0 ? SUSPECTING : first.seconds / (first.seconds + own.seconds);
        h.share = 1 - h.begin;
        h.seconds = first.seconds;
        h.evaluations = first.evaluations;
        *out = (search_result){ .seed = how->seed };
        code = run_without(out, t, row, far, &own, a, st);
        out->seconds += first.seconds;
        out->evaluations += first.evaluations;
    }
    out->far = row;
    out->far_count = far;
    return code;
}

static int by_place(const void *a, const void *b)
{
    size_t p = *(const size_t *)a, q = *(const size_t *)b;
    return (p > q) - (p < q);
}

snip_code search_run(search_result *out, const regress_table *t, const search_how *how, arena *a,
                     snip_status *st)
{
    search_how own = *how;
    own.threads = how->threads > 0 ? how->threads : 1;
    own.memory = how->memory ? how->memory : (size_t)MEMORY_USUAL << 20;
    if (own.seconds <= 0 && own.evaluations == 0)
        own.seconds = 60;
    size_t least = search_memory_least(own.threads);
    if (own.memory < least)
        return status_fail(st, SNIP_FORMAT, 0, "%zu MB of memory are too little, the least are %zu",
                           own.memory >> 20, least >> 20);
    *out = (search_result){ .seed = how->seed };
    regress_table weighed, part;
    const size_t *place = NULL;
    snip_code code = search_leave_out_rows(&weighed, &place, t, &own, a, st);
    if (code != SNIP_OK || target_is_constant(&weighed))
        return code == SNIP_OK ? answer_constant(out, &weighed, a, st) : code;
    code = search_sample_rows(&part, &place, &weighed, &own, a, st);
    if (code != SNIP_OK)
        return code;
    size_t *row = arena_array(a, part.rows + 1, sizeof *row);
    if (!row)
        return status_nomem(st);
    size_t suspects = search_outliers_suspect(row, &part, a);
    code = suspects ? run_suspecting(out, &part, row, suspects, &own, a, st)
                    : run(out, &part, &own, a, st);
    for (size_t k = 0; k < out->far_count && place; k++)
        out->far[k] = place[out->far[k]];
    if (out->far_count)
        qsort(out->far, out->far_count, sizeof *out->far, by_place);
    return code == SNIP_OK && out->far_count ? tell_far(out, a, st) : code;
}
