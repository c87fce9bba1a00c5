/* dump.c - see dump.h. */
#include "eval/dump.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/npy.h"

struct eval_dump {
    model_space *space;
    FILE *symbols, *values, *index;
    char *path; /* without the ends */
    size_t rows;
    int failed;
};

/* A row, or NaN where that side was not asked for. */
static void dump_row(eval_dump *d, FILE *f, const float *row, size_t latent)
{
    static const float none = NAN;
    for (size_t i = 0; i < latent; i++)
        d->failed |= fwrite(row ? row + i : &none, sizeof none, 1, f) != 1;
}

static void dump_items(void *context, const model_item *item, size_t n, float *symbols,
                       float *values)
{
    eval_dump *d = context;
    size_t latent = d->space->latent;
    arena *a = d->space->tmp[0];
    for (size_t i = 0; i < n; i++) {
        dump_row(d, d->symbols, symbols ? symbols + i * latent : NULL, latent);
        dump_row(d, d->values, values ? values + i * latent : NULL, latent);
        arena_pos mark = arena_mark(a);
        expr e = item[i].words ? item[i].words->e : item[i].e;
        const char *formula = expr_print(e, SNIP_PREFIX, NULL, 0, a);
        d->failed |= !formula;
        fprintf(d->index, "{\"row\":%zu,\"node\":%lld%s%s,\"formula\":\"%s\"}\n", d->rows + i,
                item[i].node == MODEL_WHOLE ? -1LL : (long long)item[i].node,
                item[i].label ? "," : "", item[i].label ? item[i].label : "",
                formula ? formula : "");
        arena_reset(a, mark);
    }
    d->rows += n;
}

static FILE *open_part(const char *path, const char *end)
{
    char *name;
    FILE *f = NULL;
    if (asprintf(&name, "%s%s", path, end) >= 0) {
        f = fopen(name, "w");
        free(name);
    }
    return f;
}

snip_code eval_dump_open(eval_dump **out, model_space *s, const char *folder, const char *name,
                         snip_status *st)
{
    eval_dump *d = calloc(1, sizeof *d);
    *out = NULL;
    if (!d || asprintf(&d->path, "%s/%s", folder, name) < 0) {
        free(d);
        return status_nomem(st);
    }
    d->space = s;
    d->symbols = open_part(d->path, ".symbols.npy");
    d->values = open_part(d->path, ".values.npy");
    d->index = open_part(d->path, ".jsonl");
    if (!d->symbols || !d->values || !d->index) {
        d->failed = 1;
        return eval_dump_close(d, st);
    }
    d->failed = !npy_head(d->symbols, 0, s->latent) || !npy_head(d->values, 0, s->latent);
    s->seen = dump_items;
    s->seen_context = d;
    *out = d;
    return SNIP_OK;
}

snip_code eval_dump_close(eval_dump *d, snip_status *st)
{
    if (!d)
        return SNIP_OK;
    FILE *files[3] = { d->symbols, d->values, d->index };
    d->space->seen = NULL;
    for (int i = 0; i < 3; i++) {
        if (i < 2 && files[i]) {
            rewind(files[i]);
            d->failed |= !npy_head(files[i], d->rows, d->space->latent);
        }
        if (files[i])
            d->failed |= ferror(files[i]) | (fclose(files[i]) != 0);
    }
    snip_code code = SNIP_OK;
    if (d->failed)
        code = status_fail(st, SNIP_IO, 0, "%s.*: cannot write: %s", d->path, strerror(errno));
    free(d->path);
    free(d);
    return code;
}
