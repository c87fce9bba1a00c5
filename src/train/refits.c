/* refits.c - see refits.h. */
#include "train/refits.h"

#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "base/streams.h"
#include "regress/explain.h"
#include "regress/line.h"

enum {
    RIVALS = 3,        /* other laws of a list, at most */
    RIVAL_POINTS = 32, /* their rows: only the inputs' sizes are looked at */
    ATTEMPTS = 40,     /* edits drawn for a list, at most */
    TWICE = 3,         /* one edit in so many is edited once more */
    FIT_ROWS = 64,     /* the others judge */
    NODES_MAX = 60,    /* of a core */
    STARTS = 4,
    EVALUATIONS = 40, /* of each start's descent: three fits in four are as good as thorough ones */
    LEAST = 3         /* forms of a list */
};

/* A list while it is drawn. */
typedef struct list {
    const train_refits_of *of;
    train_refit *out;
    size_t n;
    uint64_t hash[TRAIN_REFITS];
    const double *x[DATA_DIMS_MAX], *y; /* in random order */
    expr_node *room;                    /* for the cores, NODES_MAX each */
    rng *r;
    arena *a; /* scratch */
} list;

/* e, of raw inputs, as the core that the model reads: inputs standardised, SNIP's operators. Its
 * count is 0 where there is none. */
static snip_code core_of(expr_form *out, expr e, const list *l)
{
    const data_law *law = l->of->law;
    const expr_domain domain = { .assume_positive = 1 };
    expr by[DATA_DIMS_MAX], normal;
    *out = (expr_form){ .hash = 0 };
    for (int j = 0; j < law->dim; j++)
        if (!(by[j] = expr_affine(law->mean[j], law->deviation[j], (size_t)j, l->a)).node)
            return SNIP_NOMEM;
    expr standard = expr_substitute(e, by, (size_t)law->dim, l->a);
    if (!standard.node)
        return SNIP_NOMEM;
    snip_code code = expr_normal(&normal, standard, &domain, l->a, NULL);
    if (code == SNIP_OK && l->of->all_free)
        expr_set_fixed(normal, 0);
    if (code == SNIP_OK)
        code = expr_canonical(out, normal, l->a, NULL);
    if (code != SNIP_OK)
        out->core.count = 0;
    return code == SNIP_NOMEM ? code : SNIP_OK;
}

/* Fits the core on the first rows; its digits on the others. */
static snip_code fit(int *digits, expr core, const list *l)
{
    const double *x[DATA_DIMS_MAX];
    arena_pos mark = arena_mark(l->a);
    size_t rows = l->of->s->points, rest = rows - FIT_ROWS;
    const regress_fit_how how = {
        .starts = STARTS, .seed = l->of->seed, .pace = REGRESS_FIT_ROUGH, .evaluations = EVALUATIONS
    };
    expr fitted;
    snip_code code = regress_fit_line(&fitted, core, l->x, l->y, FIT_ROWS, &how, l->a, l->a);
    for (int j = 0; j < l->of->s->dim; j++)
        x[j] = l->x[j] + FIT_ROWS;
    double d = code == SNIP_OK ? regress_digits(fitted, x, l->y + FIT_ROWS, rest, l->a) : NAN;
    d *= TRAIN_REFITS_UNIT;
    *digits = isnan(d) ? 0 : (int)lrint(fmin(fmax(d, TRAIN_REFITS_LEAST), TRAIN_REFITS_MOST));
    arena_reset(l->a, mark);
    return isnan(d) ? SNIP_NOMEM : SNIP_OK;
}

/* Adds e's form if it is a new one that the model can read. */
static snip_code add(list *l, expr e)
{
    expr_form form;
    snip_code code = core_of(&form, e, l);
    if (code != SNIP_OK || form.core.count == 0 || form.core.count > NODES_MAX)
        return code;
    for (size_t i = 0; i < l->n; i++)
        if (l->hash[i] == form.hash)
            return SNIP_OK;
    train_refit *to = &l->out[l->n];
    to->core = (expr){ l->room + l->n * NODES_MAX, form.core.count };
    memcpy(to->core.node, form.core.node, form.core.count * sizeof *form.core.node);
    code = fit(&to->digits, form.core, l);
    l->hash[l->n] = form.hash;
    l->n += code == SNIP_OK;
    return code;
}

static snip_code add_rivals(list *l)
{
    const train_refits_of *of = l->of;
    const data_gen gen = { .dims = of->law->dim,
                           .points = RIVAL_POINTS,
                           .quantities = of->quantities };
    snip_code code = SNIP_OK;
    for (uint64_t k = 0; k < RIVALS && code == SNIP_OK; k++) {
        data_sample s;
        data_law law;
        code = data_law_draw(&s, &law, &gen, of->seed, streams_map[STREAMS_REFIT_RIVALS].stream,
                             streams_index(STREAMS_REFIT_RIVALS, RIVALS * of->index + k), l->a);
        const double *size =
            code == SNIP_OK ? data_law_sizes(law.x, law.dim, law.points, l->a) : NULL;
        expr e = size ? data_law_on(law.e, size, law.dim, of->law->x, of->law->points, of->law->dim,
                                    l->r, l->a)
                      : (expr){ 0 };
        code = e.node ? add(l, e) : SNIP_NOMEM;
    }
    return code;
}

/* One of n edits at random, none of a held-out family (data_families): operands are not swapped.
 * NULL where there is none. */
static const regress_edit *choose(const regress_edit *edit, size_t n, rng *r)
{
    for (int k = 0; k < ATTEMPTS && n > 0; k++) {
        const regress_edit *one = &edit[rng_below(r, (uint32_t)n)];
        if (one->kind != REGRESS_SWAP)
            return one;
    }
    return NULL;
}

static snip_code add_edits(list *l)
{
    size_t inputs = (size_t)l->of->law->dim, n, more;
    regress_edit *edit, *again;
    snip_code code = SNIP_OK;
    if ((n = regress_edits_list(&edit, l->of->law->e, inputs, l->a)) == (size_t)-1)
        return SNIP_NOMEM;
    for (int k = 0; k < ATTEMPTS && l->n < TRAIN_REFITS && code == SNIP_OK; k++) {
        const regress_edit *one = choose(edit, n, l->r);
        if (one && rng_below(l->r, TWICE) == 0) {
            if ((more = regress_edits_list(&again, one->e, inputs, l->a)) == (size_t)-1)
                return SNIP_NOMEM;
            one = choose(again, more, l->r);
        }
        if (one)
            code = add(l, one->e);
    }
    return code;
}

/* The table in random order. Returns 0 when memory is out. */
static int take_rows(list *l)
{
    const data_sample *s = l->of->s;
    int *order = arena_array(l->a, s->points, sizeof *order);
    if (!order)
        return 0;
    for (size_t i = 0; i < s->points; i++)
        order[i] = (int)i;
    rng_shuffle(l->r, order, (int)s->points);
    for (int j = 0; j < s->dim; j++)
        if (!(l->x[j] = numbers_at(s->x[j], order, s->points, l->a)))
            return 0;
    return (l->y = numbers_at(s->y, order, s->points, l->a)) != NULL;
}

snip_code train_refits_draw(train_refit *out, size_t *n, const train_refits_of *of, rng *r,
                            arena *a)
{
    list l = { .of = of, .out = out, .r = r, .a = a };
    *n = 0;
    if (of->s->points < 2 * FIT_ROWS)
        return SNIP_OK;
    if (!(l.room = arena_array(a, TRAIN_REFITS * NODES_MAX, sizeof *l.room)))
        return SNIP_NOMEM;
    arena_pos mark = arena_mark(a);
    snip_code code = take_rows(&l) ? add(&l, of->law->e) : SNIP_NOMEM;
    if (code == SNIP_OK && l.n)
        code = add_rivals(&l);
    if (code == SNIP_OK && l.n)
        code = add_edits(&l);
    arena_reset(a, mark);
    *n = l.n < LEAST ? 0 : l.n;
    return code;
}
