/* batch.c - see batch.h. */
#include "train/batch.h"

#include <omp.h>
#include <string.h>

/* One sample with its variants, before they are put together. */
typedef struct drawn {
    size_t count; /* variants */
    train_formula parent[1 + DATA_ATTEMPTS], alone[1 + DATA_ATTEMPTS];
    int has_parent[1 + DATA_ATTEMPTS], has_alone[1 + DATA_ATTEMPTS];
    train_table table;
    size_t table_variant[2 * (1 + DATA_ATTEMPTS)];
    int table_subtree[2 * (1 + DATA_ATTEMPTS)];
    snip_code code;
} drawn;

/* Tokens and paths of a formula. */
static snip_code make_formula(train_formula *f, expr e, const train_batch_how *how,
                              const data_vocab *v, arena *a)
{
    snip_code code = data_tokens_make(&f->tokens, e, v, a, NULL);
    if (code != SNIP_OK)
        return code;
    if (how->stage >= TRAIN_S1) {
        f->path = arena_array(a, f->tokens.count, sizeof *f->path);
        if (!f->path)
            return SNIP_NOMEM;
        model_paths(f->path, &f->tokens);
    }
    return SNIP_OK;
}

/* Float words of one column at the chosen points, `stride` apart. */
static int column_tokens(uint16_t *to, size_t stride, const data_vocab *v, const double *x,
                         const int *chosen, size_t points)
{
    int good = 1;
    for (size_t i = 0; i < points; i++)
        good &= data_vocab_float(v, x[chosen[i]], to + i * stride);
    return good;
}

static snip_code make_tables(drawn *d, const data_sample *s, const data_perturbed *p,
                             const train_batch_how *how, const data_vocab *v, rng *r, arena *a)
{
    size_t n = how->points, dim = (size_t)s->dim, most = 2 * d->count;
    int *chosen = arena_array(a, s->points, sizeof *chosen);
    uint16_t *x = arena_array(a, n * 3 * dim, sizeof *x),
             *y = arena_array(a, most * n * 3, sizeof *y);
    if (!chosen || !x || !y)
        return SNIP_NOMEM;
    for (size_t i = 0; i < s->points; i++)
        chosen[i] = (int)i;
    if (n < s->points)
        rng_shuffle(r, chosen, (int)s->points);
    int good = 1;
    for (size_t j = 0; j < dim; j++)
        good &= column_tokens(x + 3 * j, 3 * dim, v, s->x[j], chosen, n);
    size_t count = 0;
    for (size_t k = 0; k < d->count; k++)
        for (int subtree = 0; subtree < 2; subtree++) {
            if (!train_reads(how->stage, subtree ? TRAIN_P : TRAIN_GV, (int)k))
                continue;
            const double *values = subtree ? p->v[k].subtree_y : k ? p->v[k].parent_y : s->y;
            good &= column_tokens(y + count * n * 3, 3, v, values, chosen, n);
            d->table_variant[count] = k;
            d->table_subtree[count++] = subtree;
        }
    d->table.group =
        (model_table_group){ .points = n, .dim = s->dim, .x = x, .count = count, .y = y };
    return good ? SNIP_OK : SNIP_UNSUPPORTED;
}

static snip_code make_formulas(drawn *d, const data_sample *s, const data_perturbed *p,
                               const train_batch_how *how, const data_vocab *v, arena *a)
{
    for (size_t k = 0; k < d->count; k++) {
        train_formula *f = &d->parent[k];
        f->whole = train_reads(how->stage, TRAIN_GS, (int)k);
        f->part = train_reads(how->stage, TRAIN_C, (int)k);
        d->has_parent[k] = f->whole || f->part;
        d->has_alone[k] = train_reads(how->stage, TRAIN_O, (int)k);
        snip_code code = SNIP_OK;
        if (d->has_parent[k])
            code = make_formula(f, k ? p->v[k].parent : s->e, how, v, a);
        if (code == SNIP_OK && f->part) {
            f->first = (size_t)f->tokens.first[p->node];
            f->end = (size_t)f->tokens.end[p->node];
        }
        if (code == SNIP_OK && d->has_alone[k]) {
            d->alone[k].alone = d->alone[k].whole = 1;
            code = make_formula(&d->alone[k], p->v[k].subtree, how, v, a);
        }
        if (code != SNIP_OK)
            return code;
    }
    return SNIP_OK;
}

static snip_code draw_one(drawn *d, const train_batch_how *how, uint64_t index, const data_vocab *v,
                          arena *a)
{
    const data_gen gen = { .dims = v->dims, .points = DATA_POINTS };
    data_sample s;
    data_perturbed p = { .count = 1 };
    rng r;
    memset(d, 0, sizeof *d);
    snip_code code = data_sample_draw(&s, &gen, how->seed, how->stream, index, a);
    /* Choices about a sample come from the same stream, far behind what drew the sample. */
    rng_init(&r, how->seed, how->stream, index);
    r.block = 1u << 31;
    if (code == SNIP_OK && how->stage >= TRAIN_S2)
        code = data_perturb(&p, s.e, s.x, s.points, s.y, &r, a);
    d->count = p.count;
    if (code == SNIP_OK)
        code = make_formulas(d, &s, &p, how, v, a);
    if (code == SNIP_OK)
        code = make_tables(d, &s, &p, how, v, &r, a);
    return code;
}

/* Puts the drawn samples together, in their order. */
static int collect(train_batch *out, const drawn *all, size_t size, const train_batch_how *how,
                   arena *a)
{
    size_t most = size * (1 + DATA_ATTEMPTS);
    *out = (train_batch){ .tables = size,
                          .item = arena_array(a, most, sizeof *out->item),
                          .k = arena_array(a, most, sizeof *out->k),
                          .formula = arena_array(a, 2 * most, sizeof *out->formula),
                          .table = arena_array(a, size, sizeof *out->table) };
    if (!out->item || !out->k || !out->formula || !out->table)
        return 0;
    for (size_t i = 0; i < size; i++) {
        const drawn *d = &all[i];
        train_table *t = &out->table[i];
        size_t count = d->table.group.count;
        *t = d->table;
        t->variant = arena_array(a, count, sizeof *t->variant);
        t->is_subtree = arena_copy(a, d->table_subtree, count * sizeof *t->is_subtree);
        if (!t->variant || !t->is_subtree)
            return 0;
        for (size_t k = 0; k < count; k++)
            t->variant[k] = out->variants + d->table_variant[k];
        for (size_t k = 0; k < d->count; k++) {
            size_t variant = out->variants++;
            out->item[variant] = (int)(how->offset + i * (how->every ? how->every : 1));
            out->k[variant] = (int)k;
            for (int alone = 0; alone < 2; alone++)
                if (alone ? d->has_alone[k] : d->has_parent[k]) {
                    train_formula *f = &out->formula[out->formulas++];
                    *f = alone ? d->alone[k] : d->parent[k];
                    f->variant = variant;
                }
        }
    }
    return 1;
}

snip_code train_batch_draw(train_batch *out, const train_batch_how *how, uint64_t first,
                           const data_vocab *v, arena **a, int threads, snip_status *st)
{
    for (int t = 0; t < threads; t++)
        arena_reset(a[t], 0);
    size_t every = how->every ? how->every : 1,
           size = (how->size - how->offset + every - 1) / every;
    drawn *all = arena_array(a[0], size, sizeof *all);
    if (!all)
        return status_nomem(st);
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
    for (size_t i = 0; i < size; i++)
        all[i].code =
            draw_one(&all[i], how, first + how->offset + i * every, v, a[omp_get_thread_num()]);
    for (size_t i = 0; i < size; i++)
        if (all[i].code != SNIP_OK)
            return all[i].code == SNIP_NOMEM
                       ? status_nomem(st)
                       : status_fail(st, all[i].code, 0, "sample %llu cannot be used for training",
                                     (unsigned long long)(first + how->offset + i * every));
    return collect(out, all, size, how, a[0]) ? SNIP_OK : status_nomem(st);
}
