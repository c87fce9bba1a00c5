/* corpora.c - see corpora.h. */
#include "data/corpora.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/streams.h"
#include "data/tokens.h"

/* The files as scripts/embed.py puts them into the program. */
#define EMBEDDED(name, label) extern const char data_embedded_##name[];
DATA_CORPUS_LIST(EMBEDDED)

#define NAME(name, label) #name,
const char *const data_corpus_names[DATA_CORPORA] = { DATA_CORPUS_LIST(NAME) };

enum { FIELDS = 6, GRID_MAX = 1 << 20 };

const char *data_formula_function(const data_formula *f)
{
    return strcmp(f->same_as, "-") == 0 ? f->id : f->same_as;
}

snip_code data_corpus_builtin(data_corpus *out, const char *name, arena *a, snip_status *st)
{
#define TEXT(name, label) data_embedded_##name,
#define ALSO(name, label) ", " #name
    const char *const texts[DATA_CORPORA] = { DATA_CORPUS_LIST(TEXT) };
    const char *names = DATA_CORPUS_LIST(ALSO);
    for (int i = 0; i < DATA_CORPORA; i++)
        if (strcmp(name, data_corpus_names[i]) == 0)
            return data_corpus_parse(out, name, texts[i], a, st);
    return status_fail(st, SNIP_FORMAT, 0, "there is no corpus '%.40s' (%s)", name,
                       names + strlen(", "));
}

/* A finite number at *s, which is moved behind it. */
static int read_number(const char **s, double *out)
{
    char *end;
    *out = strtod(*s, &end);
    if (end == *s || !isfinite(*out))
        return 0;
    *s = end;
    return 1;
}

/* `name=low:high name=low:high ...` */
static int read_variables(data_formula *f, const char *s, arena *a)
{
    size_t room = 1;
    for (const char *c = s; *c; c++)
        room += *c == '=';
    const char **names = arena_array(a, room, sizeof *names);
    f->low = arena_array(a, room, sizeof *f->low);
    f->high = arena_array(a, room, sizeof *f->high);
    if (!names || !f->low || !f->high)
        return 0;
    size_t n = 0;
    while (*s) {
        size_t length = strcspn(s, "= ");
        if (length == 0 || s[length] != '=')
            return 0;
        if (!(names[n] = arena_text(a, s, length)))
            return 0;
        s += length + 1;
        if (!read_number(&s, &f->low[n]) || *s != ':')
            return 0;
        s++;
        if (!read_number(&s, &f->high[n]) || f->high[n] < f->low[n] ||
            !isfinite(f->high[n] - f->low[n]))
            return 0;
        for (size_t k = 0; k < n; k++)
            if (strcmp(names[k], names[n]) == 0)
                return 0;
        n++;
        while (*s == ' ')
            s++;
    }
    f->names = (expr_names){ names, n };
    return n > 0;
}

/* One line into f. */
static snip_code read_line(data_formula *f, const char *name, size_t line, char *s, arena *a,
                           snip_status *st)
{
    char *field[FIELDS];
    for (int k = 0; k < FIELDS; k++) {
        field[k] = s;
        char *tab = s ? strchr(s, '\t') : NULL;
        if (!s || (k < FIELDS - 1) != (tab != NULL))
            return status_fail(st, SNIP_FORMAT, 0,
                               "%s: line %zu does not have %d tab-separated fields", name, line,
                               FIELDS);
        if (tab)
            *tab++ = 0;
        s = tab;
    }
    *f = (data_formula){ .id = field[0],
                         .group = field[1],
                         .text = field[2],
                         .sampling = field[4],
                         .same_as = field[5] };
    if (!read_variables(f, field[3], a))
        return status_fail(st, SNIP_FORMAT, 0,
                           "%s: line %zu: variables are not `name=low:high ...`", name, line);
    snip_status why;
    snip_code code = expr_parse(&f->e, f->text, &f->names, a, &why);
    if (code != SNIP_OK)
        return status_fail(st, code, 0, "%s: line %zu, byte %zu of the formula: %.120s", name, line,
                           why.pos, why.msg);
    return SNIP_OK;
}

static int find(const data_corpus *c, const char *id)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->formula[i].id, id) == 0)
            return 1;
    return 0;
}

snip_code data_corpus_parse(data_corpus *out, const char *name, const char *text, arena *a,
                            snip_status *st)
{
    size_t lines = 1;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    *out = (data_corpus){ .name = name, .formula = arena_array(a, lines, sizeof *out->formula) };
    if (!out->formula)
        return status_nomem(st);
    size_t line = 0;
    for (const char *s = text; *s; line++) {
        size_t length = strcspn(s, "\n");
        size_t used = length > 0 && s[length - 1] == '\r' ? length - 1 : length;
        if (used > 0 && *s != '#') {
            char *copy = arena_text(a, s, used);
            if (!copy)
                return status_nomem(st);
            data_formula *f = &out->formula[out->count];
            snip_code code = read_line(f, name, line + 1, copy, a, st);
            if (code != SNIP_OK)
                return code;
            if (find(out, f->id))
                return status_fail(st, SNIP_FORMAT, 0, "%s: line %zu: there is a '%.60s' already",
                                   name, line + 1, f->id);
            if (strcmp(f->same_as, "-") != 0 && !find(out, f->same_as))
                return status_fail(st, SNIP_FORMAT, 0,
                                   "%s: line %zu: there is no '%.60s' before it to be the same as",
                                   name, line + 1, f->same_as);
            out->count++;
        }
        s += length + (s[length] == '\n');
    }
    if (out->count == 0)
        return status_fail(st, SNIP_FORMAT, 0, "%s: no formulas", name);
    return SNIP_OK;
}

snip_code data_corpus_read(data_corpus *out, const char *path, arena *a, snip_status *st)
{
    char *text;
    size_t size;
    snip_code code = file_read_text(&text, &size, path, FILE_FORMULAS_MAX, a, st);
    return code == SNIP_OK ? data_corpus_parse(out, path, text, a, st) : code;
}

/* The design of one variable: U, E or N with its three numbers. */
typedef struct axis {
    char kind;
    double low, high, step; /* step or count */
} axis;

/* Reads `K[low,high,c]`. */
static int read_axis(const char **s, axis *out)
{
    out->kind = **s;
    if (!strchr("UEN", **s) || !**s || (*s)[1] != '[')
        return 0;
    *s += 2;
    double *to[] = { &out->low, &out->high, &out->step };
    for (int k = 0; k < 3; k++) {
        if (!read_number(s, to[k]) || **s != (k < 2 ? ',' : ']'))
            return 0;
        ++*s;
    }
    double count = out->kind == 'E' ? (out->high - out->low) / out->step : out->step;
    return out->step > 0 && out->high >= out->low && count < GRID_MAX &&
           (out->kind == 'E' || out->step == floor(out->step));
}

/* Axes of all variables from `U[..]` (for all) or `name:U[..] name:U[..]`. */
static int read_axes(const data_formula *f, axis *axes)
{
    const char *s = f->sampling;
    if (!strchr(s, ':')) {
        if (!read_axis(&s, &axes[0]) || *s)
            return 0;
        for (size_t j = 1; j < f->names.count; j++)
            axes[j] = axes[0];
        return 1;
    }
    size_t found = 0;
    for (size_t j = 0; j < f->names.count; j++)
        axes[j].kind = 0;
    while (*s) {
        size_t length = strcspn(s, ":"), j = 0;
        while (j < f->names.count &&
               (strlen(f->names.name[j]) != length || memcmp(f->names.name[j], s, length) != 0))
            j++;
        s += length;
        if (j == f->names.count || axes[j].kind || *s++ != ':' || !read_axis(&s, &axes[j]))
            return 0;
        found++;
        while (*s == ' ')
            s++;
    }
    return found == f->names.count;
}

static size_t grid_size(const axis *g)
{
    if (g->kind == 'N')
        return (size_t)g->step;
    return (size_t)floor((g->high - g->low) / g->step + 1e-9) + 1;
}

static double grid_value(const axis *g, size_t i)
{
    if (g->kind == 'N')
        return g->step > 1 ? g->low + (g->high - g->low) * (double)i / (g->step - 1) : g->low;
    return g->low + g->step * (double)i;
}

/* Room for `rows` points. NULL when memory is out. */
static double **make_columns(size_t columns, size_t rows, arena *a)
{
    double **x = arena_array(a, columns, sizeof *x);
    for (size_t j = 0; x && j < columns; j++)
        if (!(x[j] = arena_array(a, rows, sizeof **x)))
            return NULL;
    return x;
}

static snip_code sample_range(const data_formula *f, size_t rows, rng *r, double ***x, arena *a,
                              snip_status *st)
{
    *x = make_columns(f->names.count, rows, a);
    if (!*x)
        return status_nomem(st);
    for (size_t j = 0; j < f->names.count; j++)
        for (size_t i = 0; i < rows; i++)
            (*x)[j][i] = f->low[j] + (f->high[j] - f->low[j]) * rng_uniform(r);
    return SNIP_OK;
}

static snip_code sample_axes(const data_formula *f, const axis *axes, rng *r, double ***x,
                             size_t *rows, arena *a, snip_status *st)
{
    size_t n = 1, columns = f->names.count;
    int random = axes[0].kind == 'U';
    for (size_t j = 1; j < columns; j++)
        if ((axes[j].kind == 'U') != random || (random && axes[j].step != axes[0].step))
            return status_fail(st, SNIP_FORMAT, 0,
                               "%s: a design is a grid of all variables, or the same number of "
                               "random points (U) for all",
                               f->id);
    if (random)
        n = (size_t)axes[0].step;
    else
        for (size_t j = 0; j < columns && n <= GRID_MAX; j++)
            n *= grid_size(&axes[j]);
    if (n == 0 || n > GRID_MAX)
        return status_fail(st, SNIP_FORMAT, 0, "%s: a design of too many points", f->id);
    *rows = n;
    if (!(*x = make_columns(columns, n, a)))
        return status_nomem(st);
    for (size_t i = 0; i < n; i++) {
        size_t rest = i;
        for (size_t j = 0; j < columns; j++) {
            const axis *g = &axes[j];
            if (random) {
                (*x)[j][i] = g->low + (g->high - g->low) * rng_uniform(r);
            } else {
                (*x)[j][i] = grid_value(g, rest % grid_size(g));
                rest /= grid_size(g);
            }
        }
    }
    return SNIP_OK;
}

/* The time derivative of a state of two coordinates. Returns 0 when memory is out. */
static int derivative(const data_formula *f[2], const double s[2], double d[2], arena *a)
{
    const double *x[2] = { &s[0], &s[1] };
    return expr_eval(f[0]->e, x, 1, &d[0], a) != (size_t)-1 &&
           expr_eval(f[1]->e, x, 1, &d[1], a) != (size_t)-1;
}

/* One Runge-Kutta step of fourth order. */
static int runge_kutta(const data_formula *f[2], double s[2], double h, arena *a)
{
    double k[4][2], t[2];
    for (int stage = 0; stage < 4; stage++) {
        static const double ahead[4] = { 0, 0.5, 0.5, 1 };
        for (int j = 0; j < 2; j++)
            t[j] = stage ? s[j] + h * ahead[stage] * k[stage - 1][j] : s[j];
        if (!derivative(f, t, k[stage], a))
            return 0;
    }
    for (int j = 0; j < 2; j++)
        s[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    return 1;
}

/* Trajectories of the system that a formula belongs to: `ODE[step,n,(x,y)(x,y)...]`. */
static snip_code sample_trajectories(const data_corpus *c, const data_formula *f, double ***x,
                                     size_t *rows, arena *a, snip_status *st)
{
    enum { SUBSTEPS = 50 };
    const data_formula *system[2] = { NULL, NULL };
    for (size_t i = 0, n = 0; i < c->count && n < 2; i++)
        if (strcmp(c->formula[i].group, f->group) == 0)
            system[n++] = &c->formula[i];
    const char *s = f->sampling + 4;
    double step, count, starts = 0;
    int good = system[1] && f->names.count == 2 && system[0]->names.count == 2 &&
               system[1]->names.count == 2 && read_number(&s, &step) && *s++ == ',' &&
               read_number(&s, &count) && *s++ == ',' && step > 0 && count >= 1 && count < 100000;
    for (const char *p = s; good && *p; p++)
        starts += *p == '(';
    if (!good || starts == 0 || starts > 1000)
        return status_fail(st, SNIP_FORMAT, 0, "%s: cannot read the sampling '%.60s'", f->id,
                           f->sampling);
    if (!(*x = make_columns(2, (size_t)(starts * count), a)))
        return status_nomem(st);
    *rows = 0;
    while (*s == '(') {
        double state[2];
        s++;
        if (!read_number(&s, &state[0]) || *s++ != ',' || !read_number(&s, &state[1]) ||
            *s++ != ')')
            return status_fail(st, SNIP_FORMAT, 0, "%s: cannot read a start of its trajectories",
                               f->id);
        for (size_t i = 0; i < (size_t)count; i++) {
            (*x)[0][*rows] = state[0];
            (*x)[1][(*rows)++] = state[1];
            for (int k = 0; k < SUBSTEPS; k++)
                if (!runge_kutta(system, state, step / SUBSTEPS, a))
                    return status_nomem(st);
        }
    }
    return SNIP_OK;
}

/* Keeps `most` of the rows, chosen at random, in their order. */
static size_t thin(double **x, size_t columns, size_t rows, size_t most, rng *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows; i++)
        if (rng_below(r, (uint32_t)(rows - i)) < most - kept) {
            for (size_t j = 0; j < columns; j++)
                x[j][kept] = x[j][i];
            kept++;
        }
    return kept;
}

snip_code data_formula_sample(const double ***x, double **y, size_t *rows, const data_corpus *c,
                              size_t index, const data_design *how, arena *a, snip_status *st)
{
    const size_t points = how->points;
    const data_formula *f = &c->formula[index];
    rng r;
    streams_rng(&r, how->seed, STREAMS_CORPUS_POINTS, index);
    double **columns = NULL;
    snip_code code;
    *rows = points;
    if (how->sampling == DATA_SAMPLE_RANGE || strcmp(f->sampling, "range") == 0) {
        code = sample_range(f, points, &r, &columns, a, st);
    } else if (strncmp(f->sampling, "ODE[", 4) == 0) {
        code = sample_trajectories(c, f, &columns, rows, a, st);
    } else {
        axis *axes = arena_array(a, f->names.count, sizeof *axes);
        if (!axes)
            return status_nomem(st);
        if (!read_axes(f, axes))
            return status_fail(st, SNIP_FORMAT, 0, "%s: cannot read the sampling '%.60s'", f->id,
                               f->sampling);
        code = sample_axes(f, axes, &r, &columns, rows, a, st);
    }
    if (code != SNIP_OK)
        return code;
    if (*rows > points)
        *rows = thin(columns, f->names.count, *rows, points, &r);
    *x = (const double **)columns;
    *y = arena_array(a, *rows, sizeof **y);
    if (!*y || expr_eval(f->e, *x, *rows, *y, a) == (size_t)-1)
        return status_nomem(st);
    return SNIP_OK;
}

snip_code data_formula_usable(expr *normal, const data_formula *f, const double *y, size_t rows,
                              const data_vocab *v, arena *a, snip_status *st)
{
    *normal = (expr){ NULL, 0 };
    if (f->names.count > (size_t)v->dims)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "%zu inputs, the model has %d", f->names.count,
                           v->dims);
    size_t bad = 0, large = 0;
    for (size_t i = 0; i < rows; i++) {
        bad += !isfinite(y[i]);
        large += isfinite(y[i]) && !(fabs(y[i]) < DATA_VALUE_MAX);
    }
    if (bad)
        return status_fail(st, SNIP_UNSUPPORTED, 0, "not finite at %zu of %zu points", bad, rows);
    if (large)
        return status_fail(st, SNIP_UNSUPPORTED, 0,
                           "too large for float tokens at %zu of %zu points", large, rows);
    expr_domain domain = { .low = f->low, .high = f->high, .count = f->names.count };
    snip_code code = expr_normal(normal, f->e, &domain, a, st);
    data_tokens tokens; /* whether there are any: SNIP's vocabulary decides, not a model's words */
    if (code == SNIP_OK)
        code = data_tokens_make(&tokens, *normal, v, a, st);
    if (code != SNIP_OK)
        normal->node = NULL;
    return code;
}
