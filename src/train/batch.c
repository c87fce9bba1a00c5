/* batch.c - see batch.h. */
#include "train/batch.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/numbers.h"
#include "data/laws.h"
#include "expr/vec.h"
#include "train/refits.h"

enum { REFIT_TABLES = 2 }; /* of a list: the table as it is, and upside down */
#define ALL_FREE 0.4       /* share of forms in which even what standardising brought in is free */

/* One sample with its subtrees and variants, before the batch is put together. Variants are counted
 * from 0 here, subtree by subtree. */
typedef struct drawn {
    size_t variants, formulas;
    train_variant *variant;
    train_formula *formula;
    train_table table;
    snip_code code;
} drawn;

/* A variant as forms: of its parent, and of its subtree alone. */
typedef struct variant_forms {
    expr_form whole, part;
} variant_forms;

/* What the drawing of a sample needs at hand. */
typedef struct context {
    const train_batch_how *how;
    const model *m;
    data_sample s;
    data_perturbed *subtree; /* [subtrees] */
    size_t subtrees;
    int whole_only;      /* there is no subtree to speak of */
    variant_forms *form; /* of all variants but a list's; NULL in the exact view */
    train_refit refit[TRAIN_REFITS];
    size_t refits;
    rng r;
    arena *a;
} context;

/* Whether variant k of subtree i has a row of view v by the stage. The original as a whole is one,
 * whatever the number of its subtrees. */
static int wants_row(const context *c, train_view v, size_t i, size_t k)
{
    int whole = v == TRAIN_GS || v == TRAIN_GV;
    return train_reads(c->how->stage, v, (int)k) && !(whole ? k == 0 && i > 0 : c->whole_only);
}

/* In the form view: whether variant k of subtree i, `n` in all, can have a row of view v. `first`
 * is its subtree's original. An edit that leaves the form as it is is no other form. */
static int has_form(const context *c, train_view v, size_t n, size_t first, size_t i)
{
    const variant_forms *f = &c->form[n], *original = &c->form[first];
    size_t node = c->subtree[i].node;
    if (v == TRAIN_GS || v == TRAIN_GV)
        return f->whole.core.count > 0 && (n == first || f->whole.hash != original->whole.hash);
    /* A bare input as a part says nothing. */
    return f->part.core.count > 1 && (n == first || f->part.hash != original->part.hash) &&
           (v != TRAIN_C ||
            (f->whole.where[node] >= 0 && f->whole.core.node[f->whole.where[node]].len > 1));
}

/* e with a * (1/b) for a / b, which edits may bring in and forms have no word for. Nodes before the
 * first division keep their places. node is NULL when memory is out. */
static expr without_division(expr e, arena *a)
{
    size_t divisions = 0;
    for (size_t i = 0; i < e.count; i++)
        divisions += e.node[i].op == EXPR_DIV;
    if (divisions == 0)
        return e;
    expr out = { arena_zero(a, (e.count + divisions) * sizeof *out.node), 0 };
    unsigned char *inverted = arena_zero(a, e.count);
    if (!out.node || !inverted)
        return (expr){ 0 };
    for (size_t i = 0; i < e.count; i++) {
        int divides = e.node[i].op == EXPR_DIV;
        if (divides)
            inverted[expr_child(e, i, 1)] = 1;
        if (inverted[i])
            out.node[out.count++].op = EXPR_INV;
        out.node[out.count] = e.node[i];
        if (divides)
            out.node[out.count].op = EXPR_MUL;
        out.count++;
    }
    expr_measure(out);
    return out;
}

static snip_code form_of(expr_form *out, expr e, arena *a)
{
    e = without_division(e, a);
    return e.node ? expr_canonical(out, e, a, NULL) : SNIP_NOMEM;
}

/* The forms of all variants. */
static snip_code make_forms(context *c, size_t variants)
{
    c->form = arena_array(c->a, variants, sizeof *c->form);
    snip_code code = c->form ? SNIP_OK : SNIP_NOMEM;
    for (size_t i = 0, n = 0; i < c->subtrees && code == SNIP_OK; i++)
        for (size_t k = 0; k < c->subtree[i].count && code == SNIP_OK; k++, n++) {
            expr parent = k ? c->subtree[i].v[k].parent : c->s.e;
            code = form_of(&c->form[n].whole, parent, c->a);
            c->form[n].part = (expr_form){ .hash = 0 };
            if (code == SNIP_OK && !c->whole_only)
                code = form_of(&c->form[n].part, c->subtree[i].v[k].subtree, c->a);
        }
    return code;
}

/* Which rows each variant has. Those of a list come last. */
static snip_code make_variants(drawn *d, context *c, int form)
{
    size_t variants = 0;
    for (size_t i = 0; i < c->subtrees; i++)
        variants += c->subtree[i].count;
    d->variants = variants + (c->refits ? c->refits + REFIT_TABLES : 0);
    d->variant = arena_zero(c->a, d->variants * sizeof *d->variant);
    d->formula = arena_array(c->a, 1 + 2 * d->variants, sizeof *d->formula);
    if (!d->variant || !d->formula)
        return SNIP_NOMEM;
    snip_code code = form ? make_forms(c, variants) : SNIP_OK;
    for (size_t n = variants; n < d->variants; n++) {
        int is_form = n < variants + c->refits;
        d->variant[n] = (train_variant){ .k = 1,
                                         .form = 1,
                                         .views = 1 << (is_form ? TRAIN_REFIT_S : TRAIN_REFIT_V),
                                         .digits = is_form ? c->refit[n - variants].digits : 0 };
    }
    for (size_t i = 0, n = 0, first = 0; i < c->subtrees && code == SNIP_OK; i++, first = n)
        for (size_t k = 0; k < c->subtree[i].count; k++, n++) {
            train_variant *v = &d->variant[n];
            *v = (train_variant){ .item = (int)i, .k = (int)k, .form = form };
            if (form) {
                v->whole = (int)(uint32_t)c->form[n].whole.hash;
                v->part = (int)(uint32_t)c->form[n].part.hash;
            }
            for (int view = 0; view < TRAIN_VIEWS; view++)
                v->views |= (wants_row(c, (train_view)view, i, k) &&
                             (!form || has_form(c, (train_view)view, n, first, i)))
                            << view;
        }
    return code;
}

static int has_row(const drawn *d, train_view v, size_t variant)
{
    return d->variant[variant].views >> v & 1;
}

/* A new formula of the sample, in words and with room for rows. */
static snip_code add_formula(drawn *d, train_formula **out, expr e, size_t rows, const context *c)
{
    train_formula *f = &d->formula[d->formulas++];
    const model_words_how how = { .m = c->m,
                                  .tree = train_stage_of[c->how->stage].tree,
                                  .reading = c->form ? MODEL_CORE : MODEL_EXACT };
    *out = f;
    f->rows = 0;
    f->row = arena_array(c->a, rows, sizeof *f->row);
    return f->row ? model_words_make(&f->words, e, &how, c->a, NULL, NULL) : SNIP_NOMEM;
}

static void add_row(train_formula *f, train_view view, size_t variant, size_t first, size_t end)
{
    f->row[f->rows++] = (train_row){ view, variant, first, end };
}

/* The rows that parent f gives: itself, and subtree i of it. */
static void add_parent_rows(train_formula *f, size_t i, size_t variant, const drawn *d,
                            const context *c)
{
    if (has_row(d, TRAIN_GS, variant))
        add_row(f, TRAIN_GS, variant, 0, f->words.tokens.count);
    if (has_row(d, TRAIN_C, variant)) {
        size_t node = c->subtree[i].node;
        if (c->form)
            node = (size_t)c->form[variant].whole.where[node];
        add_row(f, TRAIN_C, variant, (size_t)f->words.tokens.first[node],
                (size_t)f->words.tokens.end[node]);
    }
}

/* The forms of the list, as far as there are words for them. */
static snip_code make_refits(drawn *d, const context *c)
{
    size_t first = d->variants - c->refits - REFIT_TABLES;
    train_formula *f;
    snip_code code = SNIP_OK;
    for (size_t i = 0; i < c->refits && code == SNIP_OK; i++) {
        code = add_formula(d, &f, c->refit[i].core, 1, c);
        if (code == SNIP_OK) {
            add_row(f, TRAIN_REFIT_S, first + i, 0, f->words.tokens.count);
        } else if (code == SNIP_UNSUPPORTED) {
            d->formulas--;
            d->variant[first + i].views = 0;
            code = SNIP_OK;
        }
    }
    return code;
}

/* All formulas: the original, which serves all its subtrees, its edits, and subtrees alone. */
static snip_code make_formulas(drawn *d, const context *c)
{
    train_formula *original = NULL, *f;
    snip_code code = SNIP_OK;
    for (size_t i = 0, n = 0; i < c->subtrees && code == SNIP_OK; i++)
        for (size_t k = 0; k < c->subtree[i].count && code == SNIP_OK; k++, n++) {
            if (has_row(d, TRAIN_GS, n) || has_row(d, TRAIN_C, n)) {
                expr parent = k ? c->subtree[i].v[k].parent : c->s.e;
                f = k ? NULL : original;
                if (!f)
                    code = add_formula(d, &f, c->form ? c->form[n].whole.core : parent,
                                       k ? 2 : 1 + c->subtrees, c);
                if (code == SNIP_OK)
                    add_parent_rows(f, i, n, d, c);
                original = k ? original : f;
            }
            if (code == SNIP_OK && has_row(d, TRAIN_O, n)) {
                code = add_formula(
                    d, &f, c->form ? c->form[n].part.core : c->subtree[i].v[k].subtree, 1, c);
                if (code == SNIP_OK)
                    add_row(f, TRAIN_O, n, 0, f->words.tokens.count);
            }
        }
    return code == SNIP_OK && c->refits ? make_refits(d, c) : code;
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

static const double *negated(const double *y, size_t n, arena *a)
{
    double *out = arena_array(a, n, sizeof *out);
    for (size_t i = 0; i < n && out; i++)
        out[i] = -y[i];
    return out;
}

/* In the form view a table shows the core, not what a factor below 0 makes of it. */
static const double *oriented(const double *y, size_t n, size_t variant, int part, const context *c)
{
    if (!c->form || (part ? c->form[variant].part.factor : c->form[variant].whole.factor) > 0)
        return y;
    return negated(y, n, c->a);
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
        if (!(x[j] = numbers_at(c->s.x[j], chosen, most, c->a)))
            return SNIP_NOMEM;
    for (size_t t = 0; t < g->count; t++)
        if (!(v[t] = numbers_at(y[t], chosen, most, c->a)))
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
                if (!has_row(d, view, variant))
                    continue;
                const double *values = part ? c->subtree[i].v[k].subtree_y
                                       : k  ? c->subtree[i].v[k].parent_y
                                            : c->s.y;
                if (!(values = noisy(values, all, c)) ||
                    !(y[count] = oriented(values, all, variant, part, c)))
                    return SNIP_NOMEM;
                row[count++] = (train_row){ .view = view, .variant = variant };
            }
    const double *listed = c->refits ? noisy(c->s.y, all, c) : NULL;
    for (size_t k = 0; k < REFIT_TABLES && c->refits; k++) {
        if (!listed || !(y[count] = k ? negated(listed, all, c->a) : listed))
            return SNIP_NOMEM;
        row[count++] =
            (train_row){ .view = TRAIN_REFIT_V, .variant = d->variants - REFIT_TABLES + k };
    }
    d->table.row = row;
    d->table.group = (model_table_group){
        .points = points, .dim = c->s.dim, .form = c->form != NULL, .count = count
    };
    return make_group(&d->table.group, y, chosen, rows, c);
}

/* In the form view subtrees and edits are those of the canonical structure: where standardising
 * writes m + s*x for every input, most subtrees would be nothing but that. */
static snip_code take_form(context *c, int all_free)
{
    expr_form f;
    expr e = c->s.plain.node ? c->s.plain : c->s.e;
    if (all_free) /* a library's forms know nothing of a table's means and deviations */
        expr_set_fixed(e, 0);
    snip_code code = expr_canonical(&f, e, c->a, NULL);
    c->s.e = f.e;
    return code;
}

/* The list of a law that was drawn at `index`. */
static snip_code draw_refits(context *c, const data_law *law, uint64_t index, int all_free)
{
    const train_refits_of of = { .law = law,
                                 .s = &c->s,
                                 .all_free = all_free,
                                 .quantities = c->how->quantities,
                                 .seed = c->how->seed,
                                 .index = index };
    return train_refits_draw(c->refit, &c->refits, &of, &c->r, c->a);
}

/* Draws the sample, its subtrees and their edits, without tokens. *form is its view. */
static snip_code draw_sample(context *c, uint64_t index, size_t subtrees, int *form)
{
    const train_batch_how *how = c->how;
    const data_gen gen = { .dims = c->m->vocab->dims,
                           .points = DATA_POINTS,
                           .quantities = how->quantities };
    data_law raw;
    rng_init_part(&c->r, how->seed, how->stream, index, RNG_ABOUT);
    int own = how->own && rng_uniform(&c->r) < how->own_share;
    int law = own || (how->laws > 0 && rng_uniform(&c->r) < how->laws);
    snip_code code =
        own   ? data_own_law_draw(&c->s, how->own, &gen, how->seed, how->stream, index, c->a)
        : law ? data_law_draw(&c->s, &raw, &gen, how->seed, how->stream, index, c->a)
              : data_sample_draw(&c->s, &gen, how->seed, how->stream, index, c->a);
    if (code == SNIP_OK && !law && how->zoom > 0 && rng_uniform(&c->r) < how->zoom)
        code = data_sample_zoom(&c->s, &c->r, c->a);
    *form = how->forms > 0 && rng_uniform(&c->r) < how->forms;
    int all_free = *form && rng_uniform(&c->r) < ALL_FREE;
    if (*form && code == SNIP_OK)
        code = take_form(c, all_free);
    int list = *form && law && !own && how->refits;
    if (list && code == SNIP_OK)
        code = draw_refits(c, &raw, index, all_free);
    c->subtree[0].count = 1;
    if (code == SNIP_OK && train_uses(how->stage, TRAIN_P)) {
        /* Another constant is the same form: no negative there, and an edit lost. */
        const data_perturb_how edits = { .subtrees = subtrees,
                                         .edits = how->edits,
                                         .constants = *form ? 0 : how->constants };
        code = data_perturb(c->subtree, &c->subtrees, &edits, c->s.e, c->s.x, c->s.points, c->s.y,
                            &c->r, c->a);
        if ((law || *form) && code == SNIP_UNSUPPORTED) { /* as short as x0*x1 */
            c->subtree[0].count = c->subtrees = 1;
            c->whole_only = 1;
            code = SNIP_OK;
        }
    } else {
        c->whole_only = 1;
    }
    return code;
}

static snip_code draw_one(drawn *d, const train_batch_how *how, uint64_t index, const model *m,
                          arena *a)
{
    size_t most = how->subtrees ? how->subtrees : 1;
    context c = { .how = how, .m = m, .a = a, .subtrees = 1 };
    int form = 0;
    *d = (drawn){ 0 };
    c.subtree = arena_zero(a, most * sizeof *c.subtree);
    if (!c.subtree)
        return SNIP_NOMEM;
    snip_code code = draw_sample(&c, index, most, &form);
    if (code == SNIP_OK)
        code = make_variants(d, &c, form);
    if (code == SNIP_OK)
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
