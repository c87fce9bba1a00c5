/* answer_table.c - the API's requests about tables. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "serve/serve_int.h"

enum {
    PREVIEW = 8, /* rows of a table that are shown */
    BINS = 24    /* of a histogram */
};

extern const char data_embedded_pendulum[], data_embedded_misra1a[], data_embedded_kepler[],
    data_embedded_boyle[], data_embedded_puromycin[];

static const struct {
    const char *name, *text, *about;
} examples[] = {
    { "kepler.csv", data_embedded_kepler, "orbits of the planets: axis and period" },
    { "boyle.csv", data_embedded_boyle,
      "Boyle's measurements of 1662: volume and pressure of air" },
    { "puromycin.csv", data_embedded_puromycin, "rate of an enzyme reaction by concentration" },
    { "pendulum.csv", data_embedded_pendulum, "period of a pendulum, with noise" },
    { "misra1a.csv", data_embedded_misra1a, "NIST's Misra1a: volume adsorbed by pressure" },
};

json_t *serve_numbers(const double *v, size_t n)
{
    json_t *out = json_array();
    for (size_t i = 0; i < n; i += n / SERVE_POINTS + 1)
        json_array_append_new(out, text_json_real(v[i]));
    return out;
}

static json_t *column_json(const table *t, size_t j, const char *role)
{
    const double *v = t->column[j];
    double low = INFINITY, high = -INFINITY, sum = 0;
    json_int_t bin[BINS] = { 0 };
    for (size_t i = 0; i < t->rows; i++) {
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
        sum += v[i] / (double)t->rows;
    }
    for (size_t i = 0; i < t->rows && high > low; i++) {
        size_t k = (size_t)((v[i] - low) / (high - low) * BINS);
        bin[k < BINS ? k : BINS - 1]++;
    }
    json_t *bins = json_array();
    for (size_t k = 0; k < BINS; k++)
        json_array_append_new(bins, json_integer(bin[k]));
    return json_pack("{s:o,s:s,s:o,s:o,s:o,s:o,s:o}", "name", text_json(t->name[j]), "role", role,
                     "min", text_json_real(low), "max", text_json_real(high), "mean",
                     text_json_real(sum), "histogram", bins, "points", serve_numbers(v, t->rows));
}

static const char *role_of(const table *t, size_t j)
{
    if (j == t->target)
        return "target";
    for (size_t k = 0; k < t->inputs; k++)
        if (t->input[k] == j)
            return "input";
    return "unused";
}

/* What was read, and what was wrong with it. */
static json_t *table_json(const serve_table *x, arena *a)
{
    const table *t = &x->t;
    json_t *columns = json_array(), *notes = json_array(), *preview = json_array();
    for (size_t j = 0; j < t->columns; j++) {
        const char *role = x->error ? "unused" : role_of(t, j);
        json_array_append_new(
            columns, strcmp(role, "unused") == 0
                         ? json_pack("{s:o,s:s}", "name", text_json(t->name[j]), "role", role)
                         : column_json(t, j, role));
    }
    for (size_t i = 0; !x->error && i < t->rows && i < PREVIEW; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < t->columns; j++)
            json_array_append_new(row, text_json_real(t->column[j][i]));
        json_array_append_new(preview, row);
    }
    const char *note;
    for (size_t k = 0; !x->error && (note = table_note(t, &x->how, k, a)); k++)
        json_array_append_new(notes, text_json(note));
    for (size_t k = 0; !x->error && (note = regress_problem_note(&x->p, k, a)); k++)
        json_array_append_new(notes, text_json(note));
    return json_pack("{s:s,s:o,s:I,s:o,s:o,s:o,s:o}", "table", x->id, "name", text_json(x->name),
                     "rows", (json_int_t)(x->error ? 0 : t->rows), "columns", columns, "preview",
                     preview, "notes", notes, "error",
                     x->error ? text_json(x->error) : json_null());
}

static void reply_table(serve_call *c, serve_table *t, const snip_status *st)
{
    if (!t) {
        serve_refuse(c->q, st->code == SNIP_NOMEM ? 503 : 422, "%s", st->msg);
        return;
    }
    serve_reply(c->q, 200, table_json(t, c->a));
    serve_table_release(c->s, t);
}

/* POST /api/table with CSV, or {"example": name}, or {"table": id, "target": ..., "columns":
 * [...]}.
 */
void serve_post_table(serve_call *c)
{
    snip_status st = { .code = SNIP_NOMEM, .msg = "out of memory" };
    if (!c->body) {
        const char *name = serve_query(c->q, "name");
        if (c->q->size == 0) {
            serve_refuse(c->q, 422, "the file is empty");
            return;
        }
        reply_table(c,
                    serve_table_add(c->s, name && *name ? name : "table.csv", c->q->body,
                                    c->q->size, serve_query(c->q, "target"),
                                    serve_query(c->q, "columns"), &st),
                    &st);
        return;
    }
    const char *example = json_string_value(json_object_get(c->body, "example"));
    for (size_t k = 0; example && k < sizeof examples / sizeof *examples; k++)
        if (strcmp(example, examples[k].name) == 0) {
            reply_table(c,
                        serve_table_add(c->s, examples[k].name, examples[k].text,
                                        strlen(examples[k].text), NULL, NULL, &st),
                        &st);
            return;
        }
    if (example || !c->table) {
        serve_refuse(c->q, 404, example ? "there is no such example" : "there is no such table");
        return;
    }
    /* Names as a line of CSV, which is what the reader of tables takes. */
    json_t *list = json_object_get(c->body, "columns");
    const char *target = json_string_value(json_object_get(c->body, "target"));
    text line = { .a = c->a };
    for (size_t k = 0; json_is_array(list) && k < json_array_size(list); k++) {
        const char *name = json_string_value(json_array_get(list, k));
        text_add(&line, k ? ",\"" : "\"");
        for (; name && *name; name++)
            text_add(&line, *name == '"' ? "\"\"" : "%c", *name);
        text_add(&line, "\"");
    }
    const char *columns = json_is_array(list) ? text_end(&line) : NULL;
    reply_table(c, serve_table_choose(c->s, c->table, target, columns, &st), &st);
}

void serve_get_table(serve_call *c)
{
    serve_table *t = serve_table_find(c->s, c->id);
    if (!t) {
        serve_refuse(c->q, 404, "there is no such table any more; send it again");
        return;
    }
    serve_reply(c->q, 200, table_json(t, c->a));
    serve_table_release(c->s, t);
}

json_t *serve_examples_json(void)
{
    json_t *list = json_array();
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++)
        json_array_append_new(
            list, json_pack("{s:s,s:s}", "name", examples[k].name, "about", examples[k].about));
    return list;
}
