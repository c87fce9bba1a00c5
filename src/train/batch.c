/* batch.c - see batch.h. */
#include "train/batch.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "expr/vec.h"

/* One sample with its subtrees and variants, before the batch is put together. Variants are counted
 * from 0 here. */
typedef struct drawn {
    size_t variants, formulas;
    train_variant *variant;
    train_formula *formula;
    train_table table;
    snip_code code;
} drawn;

/* What the drawing of a sample needs at hand. */
typedef struct context {
    const train_batch_how *how;
    const model *m;
    data_sample s;
    data_perturbed *subtree; /* [subtrees] */
    size_t subtrees;
    rng r;
    arena *a;
} context;

/* Whether variant k of subtree i has a row of view v. The original as a whole is one, whatever the
 * number of its subtrees. */
static int has_row(const context *c, train_view v, size_t i, size_t k)
{
    int whole = v == TRAIN_GS || v == TRAIN_GV;
    return train_reads(c->how->stage, v, (int)k) && !(whole && k == 0 && i > 0);
}

/* A new formula of the sample, with its tokens and paths and room for rows. */
static snip_code add_formula(drawn *d, train_formula **out, expr e, size_t rows, const context *c)
{
    train_formula *f = &d->formula[d->formulas++];
    *out = f;
    f->rows = 0;
    f->path = NULL;
    f->row = arena_array(c->a, rows, sizeof *f->row);
    if (!f->row)
        return SNIP_NOMEM;
    snip_code code = data_tokens_make(&f->tokens, e, c->m->vocab, c->a, NULL);
    if (code != SNIP_OK || c->how->stage < TRAIN_S1)
        return code;
    f->path = arena_array(c->a, f->tokens.count, sizeof *f->path);
    if (!f->path)
        return SNIP_NOMEM;
    model_paths(f->path, &f->tokens);
    return SNIP_OK;
}

static void add_row(train_formula *f, train_view view, size_t variant, size_t first, size_t end)
{
    f->row[f->rows++] = (train_row){ view, variant, first, end };
}

/* The rows that parent f gives: itself, and subtree i of it. */
static void add_parent_rows(train_formula *f, size_t i, size_t k, size_t variant, const context *c)
{
    if (has_row(c, TRAIN_GS, i, k))
        add_row(f, TRAIN_GS, variant, 0, f->tokens.count);
    if (has_row(c, TRAIN_C, i, k)) {
        size_t node = c->subtree[i].node;
        add_row(f, TRAIN_C, variant, (size_t)f->tokens.first[node], (size_t)f->tokens.end[node]);
    }
}

/* All formulas: the original, which serves all its subtrees, its edits, and subtrees alone. */
static snip_code make_formulas(drawn *d, const context *c)
{
    train_formula *original, *f;
    snip_code code = add_formula(d, &original, c->s.e, 1 + c->subtrees, c);
    for (size_t i = 0, variant = 0; i < c->subtrees && code == SNIP_OK; i++)
        for (size_t k = 0; k < c->subtree[i].count && code == SNIP_OK; k++, variant++) {
            f = original;
            if (k && (has_row(c, TRAIN_GS, i, k) || has_row(c, TRAIN_C, i, k)))
                code = add_formula(d, &f, c->subtree[i].v[k].parent, 2, c);
            if (code == SNIP_OK && (k == 0 || f != original))
                add_parent_rows(f, i, k, variant, c);
            if (code == SNIP_OK && has_row(c, TRAIN_O, i, k)) {
                code = add_formula(d, &f, c->subtree[i].v[k].subtree, 1, c);
                if (code == SNIP_OK)
                    add_row(f, TRAIN_O, variant, 0, f->tokens.count);
            }
        }
    return code;
}

/* The values of the sample's tables, with noise if asked. */
static const double *noisy(const double *y, size_t n, context *c)
{
    if (!(c->how->noise > 0))
        return y;
    double level = c->how->noise * pow(10, -2 * rng_uniform(&c->r));
    int clean = rng_uniform(&c->r) < 0.5;
    return data_noisy(y, n, clean ? 0 : level, &c->r, c->a);
}

/* A column at the chosen rows. */
static const double *column(const double *x, const int *chosen, size_t n, arena *a)
{
    double *out = arena_array(a, n, sizeof *out);
    for (size_t i = 0; i < n && out; i++)
        out[i] = x[chosen[i]];
    return out;
}

/* Tables that share X: group->count columns y[], given on all rows. `chosen` are the rows in the
 * order in which they are taken. */
static snip_code make_group(model_table_group *g, const double *const *y, const int *chosen,
                            size_t rows, const context *c)
{
    size_t dim = (size_t)c->s.dim;
    const double **x = arena_array(c->a, dim, sizeof *x);
    const double **v = arena_array(c->a, g->count, sizeof *v);
    size_t most = rows > g->points ? rows : g->points;
    if (!x || !v)
        return SNIP_NOMEM;
    for (size_t j = 0; j < dim; j++)
        if (!(x[j] = column(c->s.x[j], chosen, most, c->a)))
            return SNIP_NOMEM;
    for (size_t t = 0; t < g->count; t++)
        if (!(v[t] = column(y[t], chosen, most, c->a)))
            return SNIP_NOMEM;
    return model_group_fill(g, c->m, x, rows, v, c->a);
}

static snip_code make_tables(drawn *d, context *c)
{
    const train_batch_how *how = c->how;
    size_t all = c->s.points, rows = all, points = how->points < all ? how->points : all;
    int *chosen = arena_array(c->a, all, sizeof *chosen);
    const double **y = arena_array(c->a, 2 * d->variants, sizeof *y);
    train_row *row = arena_array(c->a, 2 * d->variants, sizeof *row);
    if (!chosen || !y || !row)
        return SNIP_NOMEM;
    for (size_t i = 0; i < all; i++)
        chosen[i] = (int)i;
    if (how->rows && how->rows < all && rng_uniform(&c->r) < 0.5)
        rows = how->rows + (size_t)rng_below(&c->r, (uint32_t)(all - how->rows + 1));
    if (points < all || rows < all)
        rng_shuffle(&c->r, chosen, (int)all);
    size_t count = 0;
    for (size_t i = 0, variant = 0; i < c->subtrees; i++)
        for (size_t k = 0; k < c->subtree[i].count; k++, variant++)
            for (int part = 0; part < 2; part++) {
                train_view view = part ? TRAIN_P : TRAIN_GV;
                if (!has_row(c, view, i, k))
                    continue;
                const double *values = part ? c->subtree[i].v[k].subtree_y
                                       : k  ? c->subtree[i].v[k].parent_y
                                            : c->s.y;
                if (!(y[count] = noisy(values, all, c)))
                    return SNIP_NOMEM;
                row[count++] = (train_row){ .view = view, .variant = variant };
            }
    d->table.row = row;
    d->table.group = (model_table_group){ .points = points, .dim = c->s.dim, .count = count };
    return make_group(&d->table.group, y, chosen, rows, c);
}

static snip_code draw_one(drawn *d, const train_batch_how *how, uint64_t index, const model *m,
                          arena *a)
{
    const data_gen gen = { .dims = m->vocab->dims, .points = DATA_POINTS };
    size_t most = how->subtrees ? how->subtrees : 1;
    context c = { .how = how, .m = m, .a = a, .subtrees = 1 };
    *d = (drawn){ 0 };
    c.subtree = arena_zero(a, most * sizeof *c.subtree);
    if (!c.subtree)
        return SNIP_NOMEM;
    snip_code code = data_sample_draw(&c.s, &gen, how->seed, how->stream, index, a);
    /* Choices about a sample come from the same stream, far behind what drew the sample. */
    rng_init(&c.r, how->seed, how->stream, index);
    c.r.block = 1u << 31;
    c.subtree[0].count = 1;
    if (code == SNIP_OK && how->zoom > 0 && rng_uniform(&c.r) < how->zoom)
        code = data_sample_zoom(&c.s, &c.r, a);
    if (code == SNIP_OK && how->stage >= TRAIN_S2)
        code = data_perturb(c.subtree, &c.subtrees, most, how->edits, c.s.e, c.s.x, c.s.points,
                            c.s.y, &c.r, a);
    if (code != SNIP_OK)
        return code;
    for (size_t i = 0; i < c.subtrees; i++)
        d->variants += c.subtree[i].count;
    d->variant = arena_array(a, d->variants, sizeof *d->variant);
    d->formula = arena_array(a, 1 + 2 * d->variants, sizeof *d->formula);
    if (!d->variant || !d->formula)
        return SNIP_NOMEM;
    for (size_t i = 0, n = 0; i < c.subtrees; i++)
        for (size_t k = 0; k < c.subtree[i].count; k++, n++) {
            d->variant[n] = (train_variant){ .item = (int)i, .k = (int)k };
            for (int v = 0; v < TRAIN_VIEWS; v++)
                d->variant[n].views |= has_row(&c, (train_view)v, i, k) << v;
        }
    code = make_formulas(d, &c);
    return code == SNIP_OK ? make_tables(d, &c) : code;
}

/* Puts the drawn samples together, in their order. */
static int collect(train_batch *out, const drawn *all, size_t size, const train_batch_how *how,
                   arena *a)
{
    size_t variants = 0, formulas = 0, subtrees = how->subtrees ? how->subtrees : 1;
    for (size_t i = 0; i < size; i++) {
        variants += all[i].variants;
        formulas += all[i].formulas;
    }
    *out = (train_batch){ .tables = size,
                          .variant = arena_array(a, variants, sizeof *out->variant),
                          .formula = arena_array(a, formulas, sizeof *out->formula),
                          .table = arena_array(a, size, sizeof *out->table) };
    if (!out->variant || !out->formula || !out->table)
        return 0;
    for (size_t i = 0; i < size; i++) {
        const drawn *d = &all[i];
        size_t sample = how->offset + i * (how->every ? how->every : 1);
        out->table[i] = d->table;
        for (size_t t = 0; t < d->table.group.count; t++)
            out->table[i].row[t].variant += out->variants;
        for (size_t f = 0; f < d->formulas; f++) {
            train_formula *to = &out->formula[out->formulas++];
            *to = d->formula[f];
            for (size_t r = 0; r < to->rows; r++)
                to->row[r].variant += out->variants;
        }
        for (size_t v = 0; v < d->variants; v++) {
            train_variant *to = &out->variant[out->variants++];
            *to = d->variant[v];
            to->item += (int)(sample * subtrees);
        }
    }
    return 1;
}

snip_code train_batch_draw(train_batch *out, const train_batch_how *how, uint64_t first,
                           const model *m, arena **a, int threads, snip_status *st)
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
            draw_one(&all[i], how, first + how->offset + i * every, m, a[omp_get_thread_num()]);
    for (size_t i = 0; i < size; i++)
        if (all[i].code != SNIP_OK)
            return all[i].code == SNIP_NOMEM
                       ? status_nomem(st)
                       : status_fail(st, all[i].code, 0, "sample %llu cannot be used for training",
                                     (unsigned long long)first + how->offset + i * every);
    return collect(out, all, size, how, a[0]) ? SNIP_OK : status_nomem(st);
}
