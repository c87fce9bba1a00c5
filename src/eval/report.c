/* report.c - see report.h. The parts of the page are in report_*.c. */
#include "eval/report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "eval/measures.h"
#include "eval/report_parts.h"

static const char *error_of(const eval_page *g, size_t m, const char *suite)
{
    return eval_json_string(eval_json_at(eval_model_at(g, m), "errors"), suite);
}

/* A suite is on the page if a model has results of it or failed at it; else nobody asked for it. */
static int was_run(const eval_page *g, const char *suite)
{
    int any = 0;
    for (size_t m = 0; m < json_array_size(g->models); m++)
        any |=
            json_is_object(eval_json_at(eval_model_suites(g, m), suite)) || *error_of(g, m, suite);
    return any;
}

/* Parts of the page that are no suites. */
static const struct {
    const char *name, *title, *what;
    int (*wanted)(const eval_page *g);
    void (*draw)(eval_page *g);
} others[] = {
    { "ladder", "From SNIP to SNIP++",
      "The measures against the stage: S0 is SNIP, S1 adds positions in the tree, S2 subtrees in "
      "their formula, S3 subtrees alone, S4 edited subtrees, S5 edited whole formulas. The line "
      "joins the first model of each stage.",
      eval_has_ladder, eval_ladder_part },
    { "comparisons", "Comparisons",
      "Two models on the same targets, with the interval of the difference: better or worse where "
      "the interval leaves out 0, else unclear. In the paper SNIP++ has the higher value in 11 of "
      "12 settings of whole formulas and is significantly better in all 12 of subtrees.",
      eval_has_comparisons, eval_comparisons_part },
};

static void heading(eval_page *g, const char *name, const char *title, const char *what)
{
    text_add(&g->t, "<h2 id='%s'>%s</h2>\n<p>%s</p>\n", name, title, what);
}

/* One sentence for every model that has no results where others have. */
static void absent(eval_page *g, const char *suite)
{
    for (size_t m = 0; m < json_array_size(g->models); m++) {
        if (*error_of(g, m, suite)) {
            eval_element(g, "<p class='e'>", eval_model_name(g, m), ": this suite failed: ");
            eval_element(g, "", error_of(g, m, suite), ".</p>\n");
        } else if (!json_is_object(eval_json_at(eval_model_suites(g, m), suite))) {
            eval_element(g, "<p class='e'>", eval_model_name(g, m),
                         ": this suite was not run.</p>\n");
        }
    }
}

static void head(eval_page *g)
{
    page_open(
        &g->t, "snip: evaluation",
        ":root{color-scheme:light}\n"
        "body{font:16px/1.5 system-ui,sans-serif;color:#222;background:#fff;max-width:1100px;"
        "margin:1.5em auto;padding:0 1em}\n"
        "h1,h2,h3{line-height:1.2}h2{margin-top:2.2em;border-bottom:1px solid #ccc}\n"
        "p{max-width:44em}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f4f4;"
        "padding:.6em}\n"
        "nav a{margin-right:1em;display:inline-block}.e{border-left:4px solid #d55e00;"
        "padding-left:.6em;overflow-wrap:anywhere}\n"
        ".scroll{overflow-x:auto;margin:1em 0}table{border-collapse:collapse;font-size:14px;"
        "font-variant-numeric:tabular-nums}\n"
        "td{white-space:nowrap}th,td{padding:.25em .7em;text-align:right;border-bottom:1px solid "
        "#e5e5e5;vertical-align:top}\n"
        "th{font-weight:600;max-width:18em;overflow-wrap:break-word}"
        "th:first-child{text-align:left;font-weight:400;min-width:9em;position:sticky;left:0;"
        "background:#fff}\n"
        ".h th:first-child{font-weight:600;padding-top:.8em}tr.s th,tr.s td{background:#f1f1f1}"
        ".p{color:#666}td small{display:block;color:#666;white-space:nowrap}\n"
        ".words td,.words th{text-align:left}.words code{white-space:nowrap}code{font-size:.93em}\n"
        ".panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr));"
        "gap:1em}\n"
        "figure{margin:0;min-width:0;max-width:500px;break-inside:avoid}"
        "figcaption{font-weight:600;font-size:14px;overflow-wrap:anywhere}\n"
        "figure svg{width:100%;height:auto;display:block;font-size:12px}svg text{fill:#333}\n"
        ".legend{font-size:14px}.legend span{margin-right:1.2em;display:inline-block;"
        "overflow-wrap:anywhere}.legend svg{width:14px;height:14px;margin-right:.4em;"
        "vertical-align:-2px}\n"
        ".g{stroke:#ddd;fill:none}.c{stroke:#555;stroke-dasharray:4 3}.i{stroke-width:1.6}"
        ".m{stroke-width:.8}.l{fill:none;stroke-width:1.6}\n"
        ".r{fill:none}rect.s{fill:#f1f1f1}.o{stroke-width:3.4;stroke-linecap:round;opacity:.55}"
        ".x{stroke-width:1;fill:none;opacity:.6}.k{fill:#fff;fill-opacity:.7;stroke-width:3}\n"
        "@media(max-width:500px){th:first-child{min-width:7em}th,td{padding:.25em .4em}}\n"
        "@media print{body{font-size:11px;max-width:none;margin:0}table{font-size:9px}"
        ".scroll{overflow:visible}nav{display:none}tr,figure,.legend{break-inside:avoid}"
        "figcaption,.legend{font-size:11px}figcaption{break-after:avoid}.legend,h2+p{break-after:"
        "avoid}"
        "h2,h3{break-after:avoid}.panels{grid-template-columns:1fr 1fr}th,td{padding:.15em .35em}\n"
        "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n");
    eval_put(g, "<h1>Evaluation</h1>\n");
}

static const char *duration(eval_page *g, double seconds)
{
    if (!isfinite(seconds) || seconds < 0)
        return "–";
    if (seconds < 120)
        return eval_say(g, "%.0f s", seconds);
    if (seconds < 7200)
        return eval_say(g, "%.0f min", seconds / 60);
    return eval_say(g, "%.1f h", seconds / 3600);
}

static void models_table(eval_page *g)
{
    eval_put(g,
             "<div class='scroll'><table><thead><tr><th>Model</th><th>Stage</th><th>Parameters</th>"
             "<th>Samples seen</th><th>Training</th><th>File</th></tr></thead><tbody>\n");
    for (size_t m = 0; m < json_array_size(g->models); m++) {
        const json_t *o = eval_model_at(g, m);
        eval_element(g, "<tr><th>", eval_model_name(g, m), "</th>");
        eval_element(g, "<td>", eval_json_string(o, "stage"), "</td>");
        eval_cell(g, eval_figure_read(o, "parameters"), PAGE_COUNT);
        eval_cell(g, eval_figure_read(o, "samples"), PAGE_COUNT);
        text_add(&g->t, "<td>%s</td>", duration(g, eval_json_number(o, "train_seconds")));
        eval_element(g, "<td><code>", eval_json_string(o, "path"), "</code></td></tr>\n");
    }
    eval_put(g, "</tbody></table></div>\n");
}

/* Main figures; a row stays out where no model has it. */
static void summary(eval_page *g)
{
    size_t n = 0, most = 0;
    int paper = 0;
    while (eval_measures[most].path)
        most++;
    eval_row *rows = arena_array(g->a, most, sizeof *rows);
    if (!rows) {
        g->t.failed = 1;
        return;
    }
    for (const eval_measure *m = eval_measures; m->path; m++) {
        int any = 0;
        for (size_t k = 0; k < g->n && m->summary; k++)
            any |= isfinite(eval_figure_at(g, g->shown[k], m->path).value);
        if (any) {
            rows[n] = eval_row_of(m->path);
            rows[n++].label = m->summary;
            paper |= eval_measure_printed(m->path) != NULL;
        }
    }
    eval_put(g, "<h2 id='summary'>Summary</h2>\n");
    if (n == 0) {
        eval_put(g, "<p>There are no results.</p>\n");
        return;
    }
    eval_put(g, "<p>Higher is better unless said otherwise; small numbers are 95 % intervals.");
    if (paper)
        eval_put(g, " The paper's two columns are for reference: its authors' own models, ranked "
                    "among 100,000 pairs.");
    eval_put(g, "</p>\n");
    eval_table(g, rows, n);
}

/* What the page is about, and who took part. */
static void opening(eval_page *g)
{
    const json_t *o = g->results;
    const char *started = eval_json_string(o, "started");
    head(g);
    eval_put(g, "<p>");
    text_add(&g->t, "%zu model%s", json_array_size(g->models),
             text_plural(json_array_size(g->models)));
    if (json_is_number(eval_json_at(o, "pairs")) && was_run(g, "global"))
        text_add(&g->t, ", %s held-out pairs",
                 eval_print(g, eval_json_number(o, "pairs"), PAGE_COUNT));
    if (json_is_number(eval_json_at(o, "seed")))
        text_add(&g->t, ", seed %.0f", json_number_value(eval_json_at(o, "seed")));
    if (strlen(started) == 20 && started[10] == 'T') /* 2026-11-16T01:00:00Z */
        started = eval_say(g, "%.10s, %.5s UTC", started, started + 11);
    eval_element(g, *started ? ", started on " : "", started, "");
    if (json_is_number(eval_json_at(o, "seconds")))
        text_add(&g->t, ", took %s", duration(g, eval_json_number(o, "seconds")));
    eval_element(g, *eval_json_string(o, "version") ? ", snip " : "",
                 eval_json_string(o, "version"), ".</p>\n");
    if (*eval_json_string(o, "command"))
        eval_element(g, "<pre>", eval_json_string(o, "command"), "</pre>\n");
    eval_page_show(g, "");
    models_table(g);
}

static void page_of(eval_page *g)
{
    opening(g);
    eval_put(g, "<nav>");
    for (int k = 0; k < EVAL_SUITES; k++)
        if (was_run(g, eval_suites[k].name))
            text_add(&g->t, "<a href='#%s'>%s</a>", eval_suites[k].name, eval_suites[k].title);
    for (size_t i = 0; i < COUNT(others); i++)
        if (others[i].wanted(g))
            text_add(&g->t, "<a href='#%s'>%s</a>", others[i].name, others[i].title);
    eval_put(g, "</nav>\n");
    summary(g);
    for (int k = 0; k < EVAL_SUITES; k++) {
        const eval_suite *s = &eval_suites[k];
        if (!was_run(g, s->name))
            continue;
        heading(g, s->name, s->title, s->what);
        absent(g, s->name);
        if (eval_page_show(g, s->name))
            s->draw(g);
    }
    for (size_t i = 0; i < COUNT(others); i++)
        if (others[i].wanted(g)) {
            heading(g, others[i].name, others[i].title, others[i].what);
            others[i].draw(g);
        }
    eval_put(
        g,
        "<script>addEventListener('beforeprint',()=>document.querySelectorAll('details').forEach("
        "d=>d.open=true))</script>\n");
    page_close(&g->t);
}

snip_code eval_report(const json_t *results, const char *path, snip_status *st)
{
    arena *a = arena_new(0);
    if (!a)
        return status_nomem(st);
    eval_page g = {
        .t = { .a = a }, .a = a, .results = results, .models = eval_json_at(results, "models")
    };
    g.shown = arena_array(a, json_array_size(g.models) + 1, sizeof *g.shown);
    if (g.shown)
        page_of(&g);
    const char *content = g.shown ? text_end(&g.t) : NULL;
    snip_code code = content ? SNIP_OK : status_nomem(st);
    if (content && !file_replace(path, content))
        code = status_fail(st, SNIP_IO, 0, "%s: cannot write: %s", path, strerror(errno));
    arena_free(a);
    return code;
}
